// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Call graphs: made from durations if there are any, else from stacks or entries; and their text.
 *
 * The widths of columns are those of gprof, so that programs that read gprof's output can read
 * this.
 */
#include "stats/callgraph.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/order.h"
#include "base/safe.h"
#include "base/vec.h"
#include "event/names.h"
#include "table/feed.h"
#include "table/stacks.h"

#define MEMORY	    (64u << 20)
#define NAME_BYTES  (32u << 20)
#define MAX_DEPTH   1024 /* of a stack; only the innermost frames are used */
#define PAGE_WIDTH  80
#define INDEX_WIDTH 7 /* of "[12] " in the index, right-aligned */

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

/* Each name is stored once, so comparing addresses is enough. */
static struct cg_function *function(struct callgraph *g, const char *name, size_t len)
{
	const char *kept = intern_text(&g->names, name, len);
	struct cg_function *f = kept ? map_get(&g->by_name, (uintptr_t)kept) : NULL;

	if (f)
		return f;
	f = kept ? arena_alloc(&g->arena, sizeof(*f)) : NULL;
	if (!f || !map_set(&g->by_name, (uintptr_t)kept, f)) {
		g->full = true;
		return NULL;
	}
	f->name = kept;
	f->index = (uint32_t)g->functions.n;
	if (vec_add(&g->functions, &f))
		return f;
	map_remove(&g->by_name, (uintptr_t)kept);
	g->full = true;
	return NULL;
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

/* Finds or makes the arc between two functions and counts a call; NULL without memory. */
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

/* The kernel's duration may be shorter than the difference of the events' times. */
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

static int compare_arcs(const void *x, const void *y)
{
	const struct cg_arc *a = x, *b = y;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->to != b->to)
		return strcmp(a->to->name, b->to->name);
	return strcmp(a->from->name, b->from->name);
}

void callgraph_sort(struct callgraph *g, enum cg_order order)
{
	if (g->functions.n)
		qsort_r(g->functions.at, g->functions.n, sizeof(*g->functions.at), by_order,
			&order);
	for (size_t i = 0; i < g->functions.n; i++) {
		struct cg_function *f = g->functions.at[i];

		f->index = (uint32_t)i;
		f->callees =
			order_list(f->callees, offsetof(struct cg_arc, next_callee), compare_arcs);
		f->callers =
			order_list(f->callers, offsetof(struct cg_arc, next_caller), compare_arcs);
	}
}

const struct cg_arc *callgraph_longest(const struct cg_function *f)
{
	const struct cg_arc *best = f->callees;

	for (const struct cg_arc *a = best; a; a = a->next_callee)
		if (compare_arcs(a, best) < 0)
			best = a;
	return best;
}

/* ---- from a trace ---- */

struct reading {
	const struct callgraph_reader *r;
	struct events *events;
	const struct event_field *ip, *parent;
	uint64_t taken;
};

/* The graph for what a task does on a CPU, or NULL. */
static struct callgraph *graph_of(struct reading *rd, int64_t pid, const char *comm, int64_t cpu)
{
	const struct callgraph_reader *r = rd->r;
	struct callgraph *g = NULL;

	if (walk_asks_cpu(&r->walk, cpu) && (!r->wanted || r->wanted(r->arg, pid, comm)))
		g = r->graph(r->arg, pid, comm, cpu);
	rd->taken += g != NULL;
	return g;
}

static void take_call(void *arg, const void *row)
{
	struct reading *rd = arg;
	const struct call_row *c = row;
	struct callgraph *g = graph_of(rd, c->pid, c->comm, c->cpu);

	if (g)
		callgraph_call(g, c, rd->r->on_cpu);
}

static void take_sample(void *arg, const void *row)
{
	const struct sample_row *s = row;
	struct callgraph *g = graph_of(arg, s->pid, s->comm, s->cpu);

	if (g && s->stack)
		callgraph_stack(g, s->stack, 1);
}

static const char *symbol(const struct events *ev, uint64_t addr, char *to, size_t cap)
{
	const struct symbol *s = symbols_find(ev->symbols, addr);

	snprintf(to, cap, "0x%llx", (unsigned long long)addr);
	return s ? s->name : to;
}

static void take_entry(void *arg, struct event *e, const struct spur_record *r)
{
	struct reading *rd = arg;
	const int pid = events_record_pid(rd->events, r);
	char name[32], caller[32];
	uint64_t ip, parent;
	struct callgraph *g;
	size_t len;

	if (!rd->ip || !rd->parent || !field_number(rd->events, rd->ip, r, &ip) ||
	    !field_number(rd->events, rd->parent, r, &parent))
		return;
	g = graph_of(rd, pid, comms_find(rd->events->comms, pid, &len), r->cpu);
	if (g)
		callgraph_entry(g, symbol(rd->events, ip, name, sizeof(name)),
				symbol(rd->events, parent, caller, sizeof(caller)));
}

/* ---- one walk for each kind of source ---- */

static void add_entries(struct feed *f, struct reading *rd)
{
	struct event *e = events_find(rd->events, "ftrace", "function");

	if (!e)
		return;
	rd->ip = event_field_find(e, "ip");
	rd->parent = event_field_find(e, "parent_ip");
	feed_watch(f, "ftrace:function", take_entry, rd);
}

static int read_source(struct reading *rd, enum callgraph_source source, struct spur_error *err)
{
	struct walk_options all = rd->r->walk;
	struct feed *f;
	int rc;

	/*
	 * A call belongs to the CPU on which it began, but may end on another, so all CPUs are
	 * read.
	 */
	all.cpus = NULL;
	f = feed_new(rd->r->trace, &all);
	if (source == CG_FROM_CALLS)
		feed_add(f, &calls_table, take_call, rd);
	else if (source == CG_FROM_ENTRIES)
		add_entries(f, rd);
	else
		feed_add(f, &samples_table, take_sample, rd);
	rc = feed_run(f, err);
	feed_free(f);
	return rc;
}

int callgraph_read(const struct callgraph_reader *r, struct spur_error *err)
{
	struct reading rd = {.r = r, .events = r->trace->events};
	int rc = 0;

	for (enum callgraph_source s = CG_FROM_CALLS; rc == 0 && s <= CG_FROM_SAMPLES; s++)
		if (r->source == s || (r->source == CG_FROM_ANY && !rd.taken))
			rc = read_source(&rd, s, err);
	return rc;
}

/* ---- units ---- */

struct unit {
	double ns;	  /* that it has */
	const char *name; /* as wide as gprof's "seconds" */
	const char *each; /* of a call */
	double each_ns;
};

/*
 * The unit depends on the total, so that all lines can be compared, and the total fits into its
 * column.
 */
static const struct unit *unit_of(const struct callgraph *g)
{
	static const struct unit units[] = {
		{1, "nsecs  ", "ns/call", 1},
		{1e3, "usecs  ", "us/call", 1e3},
		{1e6, "msecs  ", "us/call", 1e3},
		{1e9, "seconds", "ms/call", 1e6},
	};
	static const struct unit samples = {1, "samples", "  /call", 1};
	size_t u = 0;

	if (g->sampled)
		return &samples;
	while (u < 3 && (double)g->total / units[u].ns >= 1e4)
		u++;
	return &units[u];
}

static double percent(const struct callgraph *g, int64_t part)
{
	return g->total ? 100.0 * (double)part / (double)g->total : 0;
}

/* ---- the flat profile ---- */

static void put_flat_line(const struct callgraph *g, const struct unit *u,
			  const struct cg_function *f, double so_far, struct buf *out)
{
	const double calls = (double)(f->calls - f->open);

	buf_printf(out, "%6.2f %10.2f %8.2f ", percent(g, f->self), so_far / u->ns,
		   (double)f->self / u->ns);
	if (calls > 0)
		buf_printf(out, "%8llu %8.2f %8.2f", (unsigned long long)f->calls,
			   (double)f->self / calls / u->each_ns,
			   (double)f->total / calls / u->each_ns);
	else if (f->calls)
		buf_printf(out, "%8llu %8s %8s", (unsigned long long)f->calls, "", "");
	else
		buf_printf(out, "%8s %8s %8s", "", "", "");
	buf_puts(out, "  ");
	buf_put_safe(out, f->name, strlen(f->name));
	buf_putc(out, '\n');
}

void callgraph_put_flat(struct callgraph *g, struct buf *out)
{
	const struct unit *u = unit_of(g);
	double so_far = 0;

	callgraph_sort(g, CG_SELF);
	buf_puts(out, "Flat profile:\n\n");
	buf_puts(out, "  %   cumulative   self              self     total           \n");
	buf_printf(out, " time   %s   %s    calls  %s  %s  name    \n", u->name, u->name, u->each,
		   u->each);
	for (size_t i = 0; i < g->functions.n; i++) {
		const struct cg_function *f = g->functions.at[i];

		/* Callers that were not traced themselves only have a name. */
		if (!f->calls && !f->self && !f->total)
			continue;
		so_far += (double)f->self;
		put_flat_line(g, u, f, so_far, out);
	}
}

/* ---- blocks ---- */

static void put_name(const struct cg_function *f, struct buf *out)
{
	buf_put_safe(out, f->name, strlen(f->name));
	buf_printf(out, " [%u]\n", f->index + 1);
}

/* A line of a caller or a callee of a block's function. */
static void put_relative(const struct unit *u, const struct cg_arc *a,
			 const struct cg_function *shown, struct buf *out)
{
	if (a->from == a->to) {
		buf_printf(out, "%6s %5s %7s %7s %7llu %7s     ", "", "", "", "",
			   (unsigned long long)a->calls, "");
		put_name(shown, out);
		return;
	}
	buf_printf(out, "%6s %5s %7.2f %7.2f ", "", "", (double)a->self / u->ns,
		   (double)(a->total - a->self) / u->ns);
	if (a->calls)
		buf_printf(out, "%7llu/%-7llu     ", (unsigned long long)a->calls,
			   (unsigned long long)(a->to->calls - a->to->recursive));
	else
		buf_printf(out, "%7s %7s     ", "", "");
	put_name(shown, out);
}

static void put_primary(const struct callgraph *g, const struct unit *u,
			const struct cg_function *f, struct buf *out)
{
	char index[16];

	snprintf(index, sizeof(index), "[%u]", f->index + 1);
	buf_printf(out, "%-6s %5.1f %7.2f %7.2f", index, percent(g, f->total),
		   (double)f->self / u->ns,
		   (double)(f->total > f->self ? f->total - f->self : 0) / u->ns);
	if (!f->calls)
		buf_printf(out, " %7s %7s ", "", "");
	else if (f->recursive)
		buf_printf(out, " %7llu+%-7llu ", (unsigned long long)(f->calls - f->recursive),
			   (unsigned long long)f->recursive);
	else
		buf_printf(out, " %7llu %7s ", (unsigned long long)f->calls, "");
	put_name(f, out);
}

static struct cg_arc *reversed(struct cg_arc *callers)
{
	struct cg_arc *head = NULL;

	while (callers) {
		struct cg_arc *next = callers->next_caller;

		callers->next_caller = head;
		head = callers;
		callers = next;
	}
	return head;
}

static void put_block(const struct callgraph *g, const struct unit *u, struct cg_function *f,
		      struct buf *out)
{
	const struct cg_arc *a, *itself = f->callees;

	while (itself && itself->to != f)
		itself = itself->next_callee;
	if (!f->callers)
		buf_printf(out, "%6s %5s %7s %7s %7s %7s     <spontaneous>\n", "", "", "", "", "",
			   "");
	/*
	 * In gprof the most important ones are next to the function, and the function itself is
	 * last.
	 */
	if (itself)
		put_relative(u, itself, f, out);
	f->callers = reversed(f->callers);
	for (a = f->callers; a; a = a->next_caller)
		if (a != itself)
			put_relative(u, a, a->from, out);
	f->callers = reversed(f->callers);
	put_primary(g, u, f, out);
	for (a = f->callees; a; a = a->next_callee)
		if (a != itself)
			put_relative(u, a, a->to, out);
	if (itself)
		put_relative(u, itself, f, out);
	buf_puts(out, "-----------------------------------------------\n");
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(struct cg_function *const *)a)->name,
		      (*(struct cg_function *const *)b)->name);
}

/* The index of functions, from top to bottom, in as many columns as fit. */
static void put_index(const struct callgraph *g, struct buf *out)
{
	struct cg_function **sorted = calloc(g->functions.n + 1, sizeof(struct cg_function *));
	size_t width = 0, columns, lines;

	if (!sorted)
		return;
	for (size_t i = 0; i < g->functions.n; i++) {
		sorted[i] = g->functions.at[i];
		width = strlen(sorted[i]->name) > width ? strlen(sorted[i]->name) : width;
	}
	qsort(sorted, g->functions.n, sizeof(struct cg_function *), by_name);
	columns = width + INDEX_WIDTH + 1 < PAGE_WIDTH ? PAGE_WIDTH / (width + INDEX_WIDTH + 1) : 1;
	lines = (g->functions.n + columns - 1) / columns;
	buf_puts(out, "\nIndex by function name\n\n");
	for (size_t i = 0; i < lines; i++)
		for (size_t k = i; k < g->functions.n; k += lines) {
			const bool last = k + lines >= g->functions.n;
			char index[16];

			snprintf(index, sizeof(index), "[%u]", sorted[k]->index + 1);
			buf_printf(out, "%*s ", INDEX_WIDTH - 1, index);
			buf_put_safe(out, sorted[k]->name, strlen(sorted[k]->name));
			buf_printf(out, "%*s",
				   last ? 0 : (int)(width + 1 - strlen(sorted[k]->name)), "");
			buf_puts(out, last ? "\n" : "");
		}
	free(sorted);
}

void callgraph_put_blocks(struct callgraph *g, struct buf *out)
{
	const struct unit *u = unit_of(g);

	callgraph_sort(g, CG_TOTAL);
	buf_puts(out, "\t\t\tCall graph\n\n\n");
	if (g->sampled)
		buf_printf(out, "times are samples, %lld in all\n\n", (long long)g->total);
	else if (g->timed)
		buf_printf(out, "times are measured, in %.5s; %.2f in all\n\n", u->name,
			   (double)g->total / u->ns);
	else
		buf_puts(out, "only entries were recorded: there are no times\n\n");
	buf_puts(out, "index % time    self  children    called     name\n");
	for (size_t i = 0; i < g->functions.n; i++)
		put_block(g, u, g->functions.at[i], out);
	put_index(g, out);
}

/* ---- graphviz ---- */

static void put_dot_name(const char *name, struct buf *out)
{
	buf_putc(out, '"');
	for (; *name; name++) {
		if (*name == '"' || *name == '\\')
			buf_putc(out, '\\');
		buf_putc(out, (unsigned char)*name < ' ' || *name == 0x7f ? '?' : *name);
	}
	buf_putc(out, '"');
}

/* From pale blue to red by the share of the total, as in gprof2dot. */
static void put_colour(double share, struct buf *out)
{
	const double hue = (1 - share) * 0.62;

	buf_printf(out, "\"%.3f %.3f %.3f\"", hue, 0.25 + 0.6 * share, 0.97);
}

static void put_dot_node(const struct callgraph *g, const struct cg_function *f, struct buf *out)
{
	const double share = percent(g, g->timed || g->sampled ? f->total : 0) / 100;

	buf_printf(out, "\tn%u [label=", f->index);
	put_dot_name(f->name, out);
	/* The label goes on inside the quotes. */
	out->len--;
	if (g->timed || g->sampled)
		buf_printf(out, "\\n%.2f%%\\n(%.2f%%)", 100 * share, percent(g, f->self));
	if (f->calls)
		buf_printf(out, "\\n%llu×", (unsigned long long)f->calls);
	buf_puts(out, "\", fillcolor=");
	put_colour(share > 1 ? 1 : share, out);
	buf_puts(out, "];\n");
}

static void put_dot_arc(const struct callgraph *g, const struct cg_arc *a, struct buf *out)
{
	const double share = percent(g, a->total) / 100;

	buf_printf(out, "\tn%u -> n%u [label=\"", a->from->index, a->to->index);
	if (g->timed || g->sampled)
		buf_printf(out, "%.2f%%%s", 100 * share, a->calls ? "\\n" : "");
	if (a->calls)
		buf_printf(out, "%llu×", (unsigned long long)a->calls);
	buf_printf(out, "\", penwidth=%.2f];\n", 1 + 3 * (share > 1 ? 1 : share));
}

/* Without times all functions are equally important. */
static bool is_large(const struct callgraph *g, int64_t total, double limit)
{
	return (!g->timed && !g->sampled) || percent(g, total) >= limit;
}

void callgraph_put_dot(struct callgraph *g, const struct callgraph_limits *limits, struct buf *out)
{
	callgraph_sort(g, CG_TOTAL);
	buf_puts(out, "digraph calls {\n"
		      "\tnode [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n"
		      "\tedge [fontname=\"sans-serif\", fontsize=9];\n");
	for (size_t i = 0; i < g->functions.n; i++)
		if (is_large(g, g->functions.at[i]->total, limits->function))
			put_dot_node(g, g->functions.at[i], out);
	for (size_t i = 0; i < g->functions.n; i++)
		for (const struct cg_arc *a = g->functions.at[i]->callees; a; a = a->next_callee)
			if (is_large(g, a->total, limits->arc) &&
			    is_large(g, a->from->total, limits->function) &&
			    is_large(g, a->to->total, limits->function))
				put_dot_arc(g, a, out);
	buf_puts(out, "}\n");
}
