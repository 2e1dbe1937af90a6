// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Calls from pairs of probes, at the entry of a function and at its return: of the kernel (kprobes,
 * fprobes) and of programs (uprobes). An event with the field __probe_ip is an entry, one with
 * __probe_func a return; their names do not matter. A return ends the innermost open call of its
 * function. A call that was open at a loss stays open, because a later return may be that of
 * another call.
 */
#include "table/calls_frames.h"

#include <stdlib.h>
#include <string.h>

#include "table/walk.h"
#include "base/file.h"
#include "event/names.h"

#define FUNCTIONS_LIMIT (8u << 20)
#define NAMES_LIMIT	(1u << 20)
#define MAX_PROLOGUE	8 /* a probe at a function's entry may be so many bytes after its start */

struct kind {
	struct number addr; /* of the function */
	struct number retval;
	bool is_return;
};

/* A function by the address it begins at. */
struct probed {
	const char *event; /* of its entry */
	bool entered, returned;
};

struct probes {
	struct kind **kinds; /* by the event's index; NULL: no probe */
	struct arena arena;
	struct slots functions; /* struct probed */
	bool any;
};

static bool mentions(const struct event *e, const char *field)
{
	return e->format && memmem(e->format, e->format_len, field, strlen(field));
}

bool probes_want(const struct event *e)
{
	return mentions(e, " __probe_ip;") || mentions(e, " __probe_func;");
}

/* The start of the function that has a probe at this address of its entry. */
static uint64_t key_of(struct calls *a, uint64_t addr)
{
	const struct called_function *f = calls_function(a, addr);

	return f->known && addr - f->start <= MAX_PROLOGUE ? f->start : addr;
}

static uint64_t address(const struct calls *a, const struct kind *k, const struct spur_record *r)
{
	return (uint64_t)number_get(a->events, &k->addr, r);
}

/* ---- which functions have both ---- */

/*
 * This is read in advance: an entry without a probe at the return would make a call that stays open
 * around others.
 */

static bool bind(struct probes *p, struct event *e, bool *entries, bool *returns)
{
	static const char *const retvals[] = {"ret", "retval", NULL};
	const struct event_field *func = event_field_find(e, "__probe_func");
	struct kind *k;

	if (event_ready(e) == EVENT_BROKEN)
		return true;
	k = arena_alloc(&p->arena, sizeof(*k));
	if (!k)
		return false;
	k->is_return = func != NULL;
	k->addr = number_of(e, func ? "__probe_func" : "__probe_ip");
	if (func)
		k->retval = number_find(e, retvals);
	if (k->addr.size)
		p->kinds[e->index] = k;
	*(func ? returns : entries) |= k->addr.size != 0;
	return true;
}

static void note(struct calls *a, struct probes *p, const struct event *e,
		 const struct spur_record *r)
{
	const struct kind *k = p->kinds[e->index];
	struct probed *f;

	if (!number_in(&k->addr, r))
		return;
	f = slots_get(&p->functions, key_of(a, address(a, k, r)));
	if (f && k->is_return) {
		f->returned = true;
	} else if (f) {
		f->entered = true;
		f->event = f->event ? f->event : e->name;
	}
}

static void read_functions(struct calls *a, struct probes *p)
{
	const struct walk_options all = {.stop = a->src->stop};
	const struct spur_record *r;
	struct event *e;
	struct walk w;

	if (walk_open(&w, a->src->trace, &all, NULL) == 0) {
		for (size_t i = 0; i < a->events->nr; i++)
			if (p->kinds[i])
				walk_want(&w, a->events->list[i]);
		while ((r = walk_next(&w)) != NULL) {
			e = events_of_record(a->events, r);
			if (e && p->kinds[e->index])
				note(a, p, e, r);
		}
	}
	walk_close(&w);
}

struct probes *probes_new(struct calls *a)
{
	struct probes *p = calloc(1, sizeof(*p));
	bool entries = false, returns = false;

	if (!p)
		return NULL;
	arena_init(&p->arena, NAMES_LIMIT);
	slots_init(&p->functions, sizeof(struct probed), FUNCTIONS_LIMIT);
	p->kinds = calloc(a->events->nr + 1, sizeof(struct kind *));
	for (size_t i = 0; p->kinds && i < a->events->nr; i++)
		if (probes_want(a->events->list[i]) &&
		    !bind(p, a->events->list[i], &entries, &returns))
			break;
	if (!p->kinds) {
		probes_free(p);
		return NULL;
	}
	p->any = entries && returns;
	if (p->any)
		read_functions(a, p);
	return p;
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	slots_free(&p->functions);
	arena_free(&p->arena);
	free(p->kinds);
	free(p);
}

/* ---- calls ---- */

/* The name of a program's function: its place in the file, or else the name of its probe. */
static const char *name_of(struct calls *a, const struct probed *p, int pid, uint64_t addr)
{
	const struct called_function *f = calls_function(a, addr);
	uint64_t start = 0;
	const char *path, *name;
	struct buf text;

	if (symbols_find(a->events->symbols, addr))
		return f->name;
	path = a->events->map_of ? a->events->map_of(a->events->map_arg, pid, addr, &start) : NULL;
	if (!path)
		return p->event;
	buf_init(&text, 512);
	buf_puts(&text, file_name_of(path));
	buf_puts(&text, "+0x");
	buf_hex(&text, addr - start);
	name = intern_text(&a->names, text.data, text.len);
	buf_free(&text);
	return name;
}

static void enter(struct calls *a, struct calling_task *t, const struct probed *p, uint64_t key,
		  const struct spur_record *r)
{
	calls_begin_frame(a, t, &t->probes, r, key, name_of(a, p, t->pid, key), t->probes.n);
}

static void leave(struct calls *a, struct calling_task *t, const struct probed *p, uint64_t key,
		  const struct kind *k, const struct spur_record *r)
{
	const struct call_end end = {
		.ts = r->ts,
		.dur = ROW_NULL,
		.retval =
			number_in(&k->retval, r) ? number_get(a->events, &k->retval, r) : ROW_NULL,
	};
	struct frame_nest *n = &t->probes;
	uint32_t i = n->n;

	while (i && n->at[i - 1].addr != key)
		i--;
	if (i) {
		while (n->n > i)
			calls_leave_open(a, t, n, r->ts);
		calls_end_frame(a, t, n, &end);
	} else if (t->probed != a->losses.n + 1) {
		/*
		 * The task's first record since the trace began, or since a loss: the call was open
		 * then.
		 */
		const uint64_t border = a->lost_since ? a->lost_since : a->start;
		struct call_row row = {.ts = border,
				       .dur = ns_span(border, r->ts),
				       .func = name_of(a, p, t->pid, key),
				       .addr = (int64_t)key,
				       .depth = ROW_NULL,
				       .retval = end.retval,
				       .open = ROW_OPEN_START};

		calls_only_end(a, t, n, &row);
	}
}

void probes_record(struct calls *a, struct event *e, const struct spur_record *r)
{
	const struct kind *k = a->probes->kinds[e->index];
	const struct probed *p;
	struct calling_task *t;
	uint64_t key;

	if (!a->probes->any || !k || !number_in(&k->addr, r))
		return;
	key = key_of(a, address(a, k, r));
	p = slots_find(&a->probes->functions, key);
	if (!p || !p->entered || !p->returned)
		return;
	t = calls_task(a, events_record_pid(a->events, r), r);
	if (!t)
		return;
	while (t->probes.n && nest_top(&t->probes)->gen != t->doubts)
		calls_leave_open(a, t, &t->probes, r->ts);
	if (k->is_return) {
		leave(a, t, p, key, k, r);
	} else {
		enter(a, t, p, key, r);
		t->probed = a->losses.n + 1;
	}
}
