// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/callgraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define MEMORY	   (64u << 20)
#define NAME_BYTES (32u << 20)
#define MAX_DEPTH  1024 /* of a stack; the innermost are taken */

const char *const cg_orders[NR_CG_ORDERS] = {
	[CG_TOTAL] = "total", [CG_SELF] = "self", [CG_CALLS] = "calls", [CG_AVERAGE] = "average",
	[CG_MIN] = "min",     [CG_MAX] = "max",	  [CG_NAME] = "name",
};

void callgraph_init(struct callgraph *g)
{
	*g = (struct callgraph){0};
	arena_init(&g->arena, MEMORY);
	intern_init(&g->names, NAME_BYTES);
}

void callgraph_free(struct callgraph *g)
{
	vec_free(&g->functions);
	map_free(&g->by_name);
	map_free(&g->arcs);
	arena_free(&g->arena);
	intern_free(&g->names);
}

/* Names are kept once, so that their addresses tell them apart. */
static struct cg_function *function(struct callgraph *g, const char *name, size_t len)
{
	const char *kept = intern_text(&g->names, name, len);
	struct cg_function *f = kept ? map_get(&g->by_name, (uintptr_t)kept) : NULL, **slot;

	if (f)
		return f;
	f = kept ? arena_alloc(&g->arena, sizeof(*f)) : NULL;
	if (!f || !map_set(&g->by_name, (uintptr_t)kept, f)) {
		g->full = true;
		return NULL;
	}
	f->name = kept;
	slot = vec_push(&g->functions);
	if (!slot) {
		map_remove(&g->by_name, (uintptr_t)kept);
		g->full = true;
		return NULL;
	}
	f->index = (uint32_t)g->functions.n - 1;
	*slot = f;
	return f;
}

static struct cg_arc *arc(struct callgraph *g, struct cg_function *from, struct cg_function *to)
{
	uint64_t key = (uintptr_t)from ^ map_mix((uintptr_t)to);
	struct cg_arc *a;

	for (; (a = map_get(&g->arcs, key)) != NULL; key++)
		if (a->from == from && a->to == to)
			return a;
	a = arena_alloc(&g->arena, sizeof(*a));
	if (!a || !map_set(&g->arcs, key, a)) {
		g->full = true;
		return NULL;
	}
	*a = (struct cg_arc){
		.from = from, .to = to, .next_callee = from->callees, .next_caller = to->callers};
	from->callees = to->callers = a;
	return a;
}

/* The arc between two functions, counting a call; NULL without one. */
static struct cg_arc *count_arc(struct callgraph *g, struct cg_function *f, const char *caller)
{
	struct cg_function *from = caller ? function(g, caller, strlen(caller)) : NULL;
	struct cg_arc *a = from ? arc(g, from, f) : NULL;

	if (!a)
		return NULL;
	a->calls++;
	f->recursive += from == f;
	return a;
}

static void note_duration(struct cg_function *f, int64_t dur)
{
	const bool first = f->calls == f->open;

	f->min = first || dur < f->min ? dur : f->min;
	f->max = first || dur > f->max ? dur : f->max;
}

/* What the kernel measured may be less than what the events' times say. */
static int64_t without(int64_t dur, int64_t off)
{
	return dur > off ? dur - off : 0;
}

void callgraph_call(struct callgraph *g, const struct call_row *c, bool on_cpu)
{
	struct cg_function *f = c->func ? function(g, c->func, strlen(c->func)) : NULL;
	struct cg_arc *a = f ? count_arc(g, f, c->parent) : NULL;
	const bool off = c->off_cpu != ROW_NULL;
	int64_t dur = c->dur, self = c->self;

	g->timed = true;
	if (!f)
		return;
	if (c->open || dur == ROW_NULL) {
		f->calls++;
		f->open++;
		return;
	}
	g->has_off |= off;
	self = self == ROW_NULL ? 0 : self;
	if (on_cpu && off) {
		dur = without(dur, c->off_cpu);
		self = without(self, c->self_off_cpu == ROW_NULL ? 0 : c->self_off_cpu);
	}
	note_duration(f, dur);
	f->calls++;
	f->total = ns_add(f->total, c->recursive ? 0 : dur);
	f->self = ns_add(f->self, self);
	f->off_cpu = ns_add(f->off_cpu, off && !c->recursive ? c->off_cpu : 0);
	g->total = ns_add(g->total, self);
	if (a) {
		a->total = ns_add(a->total, dur);
		a->self = ns_add(a->self, self);
	}
}

void callgraph_entry(struct callgraph *g, const char *name, const char *caller)
{
	struct cg_function *f = function(g, name, strlen(name));

	if (!f)
		return;
	f->calls++;
	count_arc(g, f, caller);
}

/* ---- stacks ---- */

static size_t split_stack(struct callgraph *g, const char *stack, struct cg_function **frames)
{
	size_t n = 0;

	while (*stack) {
		const size_t len = strcspn(stack, ";");

		if (n == MAX_DEPTH)
			memmove(frames, frames + 1, --n * sizeof(*frames));
		if (len)
			frames[n] = function(g, stack, len);
		n += len && frames[n];
		stack += len + (stack[len] == ';');
	}
	return n;
}

static bool is_among(struct cg_function *const *frames, size_t n, const struct cg_function *f)
{
	for (size_t i = 0; i < n; i++)
		if (frames[i] == f)
			return true;
	return false;
}

static bool arc_is_among(struct cg_function *const *frames, size_t n, const struct cg_arc *a)
{
	for (size_t i = 1; i < n; i++)
		if (frames[i - 1] == a->from && frames[i] == a->to)
			return true;
	return false;
}

void callgraph_stack(struct callgraph *g, const char *stack, int64_t weight)
{
	struct cg_function *frames[MAX_DEPTH];
	const size_t n = split_stack(g, stack, frames);

	g->sampled = true;
	for (size_t i = 0; i < n; i++) {
		struct cg_arc *a = i ? arc(g, frames[i - 1], frames[i]) : NULL;
		const int64_t self = i + 1 == n ? weight : 0;

		frames[i]->self = ns_add(frames[i]->self, self);
		if (!is_among(frames, i, frames[i]))
			frames[i]->total = ns_add(frames[i]->total, weight);
		if (a) {
			a->self = ns_add(a->self, self);
			a->total = ns_add(a->total, arc_is_among(frames, i, a) ? 0 : weight);
		}
	}
	g->total = ns_add(g->total, n ? weight : 0);
}

/* ---- order ---- */

static int64_t known_calls(const struct cg_function *f)
{
	return (int64_t)(f->calls - f->open);
}

static int64_t value(const struct cg_function *f, enum cg_order order)
{
	switch (order) {
	case CG_TOTAL: return f->total;
	case CG_SELF: return f->self;
	case CG_CALLS: return (int64_t)f->calls;
	case CG_AVERAGE: return known_calls(f) ? f->total / known_calls(f) : 0;
	case CG_MIN: return f->min;
	case CG_MAX: return f->max;
	default: return 0;
	}
}

static int by_order(const void *a, const void *b, void *order)
{
	const struct cg_function *x = *(struct cg_function *const *)a,
				 *y = *(struct cg_function *const *)b;
	const int64_t u = value(x, *(enum cg_order *)order), v = value(y, *(enum cg_order *)order);

	if (u != v)
		return u < v ? 1 : -1;
	if (x->calls != y->calls && *(enum cg_order *)order != CG_NAME)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

static bool arc_before(const struct cg_arc *a, const struct cg_arc *b)
{
	if (a->total != b->total)
		return a->total > b->total;
	if (a->calls != b->calls)
		return a->calls > b->calls;
	if (a->to != b->to)
		return strcmp(a->to->name, b->to->name) < 0;
	return strcmp(a->from->name, b->from->name) < 0;
}

/* Merges sorted lists that get longer and longer; `link` is the offset of the arcs' next. */
static struct cg_arc *sort_arcs(struct cg_arc *list, size_t link)
{
#define NEXT(a) (*(struct cg_arc **)(void *)((char *)(a) + link))
	struct cg_arc *half = list, *end = list, *head = NULL, **tail = &head, *right;

	if (!list || !NEXT(list))
		return list;
	while (NEXT(end) && NEXT(NEXT(end))) {
		half = NEXT(half);
		end = NEXT(NEXT(end));
	}
	right = sort_arcs(NEXT(half), link);
	NEXT(half) = NULL;
	list = sort_arcs(list, link);
	while (list && right) {
		struct cg_arc **from = arc_before(right, list) ? &right : &list;

		*tail = *from;
		*from = NEXT(*from);
		tail = &NEXT(*tail);
	}
	*tail = list ? list : right;
	return head;
#undef NEXT
}

void callgraph_sort(struct callgraph *g, enum cg_order order)
{
	if (g->functions.n)
		qsort_r(g->functions.at, g->functions.n, sizeof(*g->functions.at), by_order,
			&order);
	for (size_t i = 0; i < g->functions.n; i++) {
		struct cg_function *f = g->functions.at[i];

		f->index = (uint32_t)i;
		f->callees = sort_arcs(f->callees, offsetof(struct cg_arc, next_callee));
		f->callers = sort_arcs(f->callers, offsetof(struct cg_arc, next_caller));
	}
}

const struct cg_arc *callgraph_longest(const struct cg_function *f)
{
	const struct cg_arc *best = f->callees;

	for (const struct cg_arc *a = best; a; a = a->next_callee)
		if (arc_before(a, best))
			best = a;
	return best;
}
