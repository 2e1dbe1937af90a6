// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Scheduling: who runs next, who was woken.
 *
 *	sched_switch:   bash:1234 [120] S ==> swapper/0:0 [120]
 *	sched_wakeup:   bash:1234 [120] CPU:000
 *
 * These events also tell the names of tasks that the trace has no name for.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/handlers/handlers.h"
#include "event/names.h"

/* ---- the letters of task states ---- */

/*
 * The print format of sched_switch has the letters of its kernel, and whether there is a "+":
 *
 *	… __print_flags(REC->prev_state & (…), "|", { 0x0001, "S" }, { 0x0002, "D" }, …) : "R",
 *	REC->prev_state & (…) ? "+" : "", …
 *
 * The bit of the "+" is always the one above the last letter's.
 */
static const char standard_letters[] = "SDTtXZPI";

static const char *skip_space(const char *p)
{
	return p + strspn(p, " \t\n");
}

/* Reads `{ VALUE, "X" }` at p; returns what follows, or NULL. */
static const char *parse_state(const char *p, struct task_states *s)
{
	uint64_t mask;
	char *end;

	p = skip_space(p);
	if (*p != '{')
		return NULL;
	mask = strtoull(p + 1, &end, 0);
	p = skip_space(end);
	if (*p != ',')
		return NULL;
	p = skip_space(p + 1);
	if (*p != '"' || !p[1] || p[1] == '"')
		return NULL;
	if (mask && !(mask >> NR_TASK_STATES)) {
		s->letters[__builtin_ctzll(mask)] = p[1];
		s->bits |= 1u << __builtin_ctzll(mask);
	}
	p = strchr(p + 1, '"');
	p = p ? skip_space(p + 1) : NULL;
	return p && *p == '}' ? p + 1 : NULL;
}

static void read_letters(struct task_states *s, const char *print_fmt)
{
	static const char call[] = "__print_flags(";
	const char *p = print_fmt;

	/* The first few calls are enough; a hostile format may have any number. */
	for (int i = 0; i < 8 && p && !s->bits && (p = strstr(p, call)); i++, p++) {
		const char *table = strchr(p, '{'), *field = strstr(p, "REC->prev_state");

		if (!table || !field || field > table)
			continue;
		while (table && *table) {
			table = parse_state(table, s);
			table = table ? skip_space(table) : NULL;
			table = table && *table == ',' ? table + 1 : NULL;
		}
	}
}

void task_states_read(struct task_states *s, const char *print_fmt)
{
	bool standard;

	*s = (struct task_states){0};
	read_letters(s, print_fmt);
	standard = !s->bits;
	for (size_t i = 0; standard && standard_letters[i]; i++) {
		s->letters[i] = standard_letters[i];
		s->bits |= 1u << i;
	}
	if ((standard || (print_fmt && strstr(print_fmt, "\"+\""))) &&
	    !(s->bits >> (NR_TASK_STATES - 1)))
		s->preempted = 2u << (31 - __builtin_clz(s->bits));
}

/* ---- the events ---- */

#define COMM_SIZE 16

/* More than the longest text of the usual layout: names, states, four numbers and words. */
#define MAX_USUAL (2 * COMM_SIZE + 2 * NR_TASK_STATES + 4 * NUM_MAX_DEC + 32)

enum { PREV_PID, PREV_PRIO, PREV_STATE, NEXT_PID, NEXT_PRIO, NR_SWITCH };

static const char *const switch_names[NR_SWITCH] = {
	[PREV_PID] = "prev_pid", [PREV_PRIO] = "prev_prio", [PREV_STATE] = "prev_state",
	[NEXT_PID] = "next_pid", [NEXT_PRIO] = "next_prio",
};

struct sched_switch {
	struct bound_field num[NR_SWITCH];
	const struct event_field *prev_comm, *next_comm; /* NULL: there is none */
	/* The least size of a record of the usual layout; UINT32_MAX when it is another. */
	uint32_t usual_size;
	struct task_states states;
};

/* Writes at most 2 * NR_TASK_STATES characters and returns what comes after them. */
static inline char *put_state(const struct sched_switch *d, char *w, uint64_t state)
{
	uint32_t bits = (uint32_t)state & d->states.bits;

	if (!bits) {
		*w++ = 'R';
		return w;
	}
	for (;;) {
		*w++ = d->states.letters[__builtin_ctz(bits)];
		bits &= bits - 1;
		if (!bits)
			return w;
		*w++ = '|';
	}
}

static void print_state(const struct sched_switch *d, uint64_t state, struct buf *out)
{
	if (buf_room(out, 2 * NR_TASK_STATES))
		out->len = (size_t)(put_state(d, out->data + out->len, state) - out->data);
}

/* ---- tasks ---- */

/* Remembers the name of a task. */
static inline void learn(struct event_printer *p, uint64_t pid, const char *comm, size_t len)
{
	if (!p->learned)
		p->learned = overlay_new(p->events->comms);
	if (p->learned)
		overlay_learn(p->learned, (int)pid, comm, len);
}

/* Remembers the name that a record has in a field. */
static void learn_field(struct event_printer *p, const struct event_field *f,
			const struct bound_field *number, const struct spur_record *r)
{
	const char *comm;
	uint64_t pid;
	size_t len;

	if (!f || !bound_get(p->events, number, r, &pid))
		return;
	if (p->learned && overlay_known(p->learned, (int)pid))
		return;
	comm = handler_text(p->events, f, r, &len);
	learn(p, pid, comm, len);
}

/* Appends "comm:", and remembers the name. */
static void print_comm(struct event_printer *p, const struct event_field *f,
		       const struct spur_record *r, uint64_t pid, struct buf *out)
{
	size_t len;
	const char *comm;

	if (!f)
		return;
	comm = handler_text(p->events, f, r, &len);
	buf_put(out, comm, len);
	buf_putc(out, ':');
	learn(p, pid, comm, len);
}

/* "comm:" of a field of COMM_SIZE bytes that lies inside the record, as print_comm(). */
static inline char *put_usual_comm(struct event_printer *p, char *w, const uint8_t *comm,
				   uint64_t pid)
{
	size_t len = strnlen((const char *)comm, COMM_SIZE);

	/* A copy of fixed size is two instructions; what is too much is written over. */
	memcpy(w, comm, COMM_SIZE);
	learn(p, pid, w, len);
	w[len] = ':';
	return w + len + 1;
}

static inline char *put_int(char *w, int32_t v)
{
	if (v < 0)
		*w++ = '-';
	return w + num_dec(w, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* ---- sched_switch ---- */

static bool is_usual_comm(const struct event_field *f)
{
	return f && f->size == COMM_SIZE && !(f->flags & (FIELD_DYNAMIC | FIELD_RELATIVE));
}

static uint32_t end_of(uint32_t end, uint32_t offset, uint32_t size)
{
	/* An offset that wraps around is no usual one. */
	if (offset > UINT32_MAX - size)
		return UINT32_MAX;
	return offset + size > end ? offset + size : end;
}

static uint32_t usual_size(const struct sched_switch *d)
{
	uint32_t end = 0;

	if (!is_usual_comm(d->prev_comm) || !is_usual_comm(d->next_comm))
		return UINT32_MAX;
	end = end_of(end, d->prev_comm->offset, COMM_SIZE);
	end = end_of(end, d->next_comm->offset, COMM_SIZE);
	for (size_t i = 0; i < NR_SWITCH; i++) {
		if (!d->num[i].size || (i != PREV_STATE && d->num[i].size != 4))
			return UINT32_MAX;
		end = end_of(end, d->num[i].offset, d->num[i].size);
	}
	return end;
}

static void *switch_bind(struct events *ev, struct event *e)
{
	struct sched_switch *d = arena_alloc(&ev->arena, sizeof(*d));

	if (!d)
		return NULL;
	for (size_t i = 0; i < NR_SWITCH; i++)
		d->num[i] = handler_bind_field(e, switch_names[i]);
	d->prev_comm = event_field_named(e, "prev_comm");
	d->next_comm = event_field_named(e, "next_comm");
	d->usual_size = usual_size(d);
	task_states_read(&d->states, e->print_fmt);
	return d;
}

/*
 * The same text as below, for the usual layout and a complete record: written into memory
 * that was reserved once. This is the most frequent event of all.
 */
static void print_usual_switch(struct event_printer *p, const struct sched_switch *d,
			       const struct spur_record *r, struct buf *out)
{
	const bool big = p->events->big_endian;
	char *w = out->data + out->len;
	uint64_t pid;

	pid = load_uint(r->data + d->num[PREV_PID].offset, 4, big);
	w = put_usual_comm(p, w, r->data + d->prev_comm->offset, pid);
	w += num_dec(w, pid);
	*w++ = ' ';
	*w++ = '[';
	w = put_int(w, (int32_t)load_uint(r->data + d->num[PREV_PRIO].offset, 4, big));
	*w++ = ']';
	*w++ = ' ';
	w = put_state(d, w,
		      load_uint(r->data + d->num[PREV_STATE].offset, d->num[PREV_STATE].size, big));
	memcpy(w, " ==> ", 5);
	w += 5;
	pid = load_uint(r->data + d->num[NEXT_PID].offset, 4, big);
	w = put_usual_comm(p, w, r->data + d->next_comm->offset, pid);
	w += num_dec(w, pid);
	*w++ = ' ';
	*w++ = '[';
	w = put_int(w, (int32_t)load_uint(r->data + d->num[NEXT_PRIO].offset, 4, big));
	*w++ = ']';
	out->len = (size_t)(w - out->data);
}

static bool switch_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			 struct buf *out)
{
	const struct sched_switch *d = e->handler_data;
	const struct events *ev = p->events;
	uint64_t val;

	if (__builtin_expect(r->size >= d->usual_size && buf_room(out, MAX_USUAL), 1)) {
		print_usual_switch(p, d, r, out);
		return true;
	}
	if (!bound_need(ev, &d->num[PREV_PID], r, &val, out))
		return handler_spoil(p, e, r, out);
	print_comm(p, d->prev_comm, r, val, out);
	buf_u64(out, val);
	buf_putc(out, ' ');
	if (bound_need(ev, &d->num[PREV_PRIO], r, &val, out)) {
		buf_putc(out, '[');
		buf_i64(out, (int32_t)val);
		buf_put(out, "] ", 2);
	}
	if (bound_get(ev, &d->num[PREV_STATE], r, &val))
		print_state(d, val, out);
	buf_put(out, " ==> ", 5);

	if (!bound_need(ev, &d->num[NEXT_PID], r, &val, out))
		return handler_spoil(p, e, r, out);
	print_comm(p, d->next_comm, r, val, out);
	buf_u64(out, val);
	if (bound_need(ev, &d->num[NEXT_PRIO], r, &val, out)) {
		buf_put(out, " [", 2);
		buf_i64(out, (int32_t)val);
		buf_putc(out, ']');
	}
	return true;
}

static void switch_learn(struct event_printer *p, const struct event *e,
			 const struct spur_record *r)
{
	const struct sched_switch *d = e->handler_data;

	learn_field(p, d->prev_comm, &d->num[PREV_PID], r);
	learn_field(p, d->next_comm, &d->num[NEXT_PID], r);
}

/* ---- sched_wakeup, sched_wakeup_new ---- */

enum { PID, PRIO, SUCCESS, TARGET_CPU, COMM, NR_WAKEUP };

static const char *const wakeup_names[NR_WAKEUP] = {
	[PID] = "pid",	 [PRIO] = "prio", [SUCCESS] = "success", [TARGET_CPU] = "target_cpu",
	[COMM] = "comm",
};

static bool wakeup_print(struct event_printer *p, struct event *e, const struct spur_record *r,
			 struct buf *out)
{
	const struct bound_field *f = e->handler_data;
	const struct events *ev = p->events;
	uint64_t val;

	if (!bound_need(ev, &f[PID], r, &val, out))
		return handler_spoil(p, e, r, out);
	print_comm(p, f[COMM].field, r, val, out);
	buf_i64(out, (int64_t)val);
	if (bound_need(ev, &f[PRIO], r, &val, out)) {
		buf_put(out, " [", 2);
		buf_i64(out, (int64_t)val);
		buf_putc(out, ']');
	}
	if (bound_get(ev, &f[SUCCESS], r, &val)) {
		buf_puts(out, " success=");
		buf_i64(out, (int64_t)val);
	}
	if (bound_get(ev, &f[TARGET_CPU], r, &val)) {
		buf_put(out, " CPU:", 5);
		buf_u64_pad(out, val, 3, '0');
	}
	return true;
}

static void wakeup_learn(struct event_printer *p, const struct event *e,
			 const struct spur_record *r)
{
	const struct bound_field *f = e->handler_data;

	learn_field(p, f[COMM].field, &f[PID], r);
}

#define WAKEUP(event)                                                                              \
	{                                                                                          \
		.system = "sched", .name = (event), .fields = wakeup_names,                        \
		.nr_fields = NR_WAKEUP, .print = wakeup_print, .learn = wakeup_learn               \
	}

const struct event_handler sched_handlers[] = {
	{.system = "sched",
	 .name = "sched_switch",
	 .bind = switch_bind,
	 .print = switch_print,
	 .learn = switch_learn},
	WAKEUP("sched_wakeup"),
	WAKEUP("sched_wakeup_new"),
	{.name = NULL},
};
