// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records as events of a bundle.
 *
 * The compact form of a switch leaves out the task that was switched from, that of a wakeup the
 * task that did it: Perfetto takes both from the previous switch. So it is used only where that is
 * right: not for a CPU's first switch, nor after a loss, nor when the task's name or priority has
 * changed in between. Nor is it used for one of several events of one time: see bundle_expand().
 */
#include "export/perfetto/perfetto.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "base/array.h"
#include "table/spans.h"

/* ---- markers -------------------------------------------------------------------------- */

/*
 * What Perfetto draws, as Android's programs write them:
 *
 *	B|PID|NAME		E  E|PID		I|PID|NAME
 *	S|PID|NAME|COOKIE	F|PID|NAME|COOKIE	C|PID|NAME|VALUE
 *	N|PID|TRACK|NAME	G|PID|TRACK|NAME|COOKIE	H|PID|TRACK[|NAME]|COOKIE
 *
 * More fields may follow, except after H.
 */

#define MOST_DIGITS 18 /* fit into 64 bits, whatever they are */
#define PID_DIGITS  9

enum field { MARK_ANY = 1, MARK_TEXT, MARK_NUMBER, MARK_END };

static const struct {
	char phase;
	enum field fields[3]; /* after the PID */
} marks[] = {
	{'B', {MARK_ANY}},
	{'I', {MARK_TEXT}},
	{'S', {MARK_TEXT, MARK_NUMBER}},
	{'F', {MARK_TEXT, MARK_NUMBER}},
	{'C', {MARK_TEXT, MARK_NUMBER}},
	{'N', {MARK_TEXT, MARK_TEXT}},
	{'G', {MARK_TEXT, MARK_TEXT, MARK_NUMBER}},
	{'H', {MARK_TEXT, MARK_NUMBER, MARK_END}},
	{'H', {MARK_TEXT, MARK_ANY, MARK_NUMBER}},
};

struct rest {
	const char *at, *end; /* at is NULL when there is no field left */
};

static size_t next_mark_field(struct rest *r, const char **field)
{
	const char *bar = memchr(r->at, '|', (size_t)(r->end - r->at));
	const char *end = bar ? bar : r->end;

	*field = r->at;
	r->at = bar ? bar + 1 : NULL;
	return (size_t)(end - *field);
}

static bool is_mark_number(const char *text, size_t len, size_t most)
{
	if (most == MOST_DIGITS && len && *text == '-') {
		text++;
		len--;
	}
	for (size_t i = 0; i < len; i++)
		if (!isdigit((unsigned char)text[i]))
			return false;
	return len && len <= most;
}

static bool has_fields(struct rest r, const enum field *fields)
{
	const char *field;
	size_t len;

	for (int i = 0; i < 3 && fields[i]; i++) {
		if (fields[i] == MARK_END || !r.at)
			return fields[i] == MARK_END && !r.at;
		len = next_mark_field(&r, &field);
		if ((fields[i] == MARK_NUMBER && !is_mark_number(field, len, MOST_DIGITS)) ||
		    (fields[i] == MARK_TEXT && !len))
			return false;
	}
	return true;
}

/*
 * Whether Perfetto reads a marker as the begin or end of a slice, an instant or a counter. It takes
 * every text for one of these, and counts others as errors of the trace.
 */
static bool is_mark(const char *text, size_t len)
{
	struct rest r = {text, text + len};
	const char *field;
	char phase;

	while (r.end > text && (r.end[-1] == '\n' || !r.end[-1]))
		r.end--;
	len = next_mark_field(&r, &field);
	if (len != 1)
		return false;
	phase = *field;
	if (!r.at)
		return phase == 'E';
	len = next_mark_field(&r, &field);
	if (!is_mark_number(field, len, PID_DIGITS))
		return false;
	if (phase == 'E')
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (marks[i].phase == phase && r.at && has_fields(r, marks[i].fields))
			return true;
	return false;
}

/* ---- records -------------------------------------------------------------------------- */

/* FtraceEventBundle, FtraceEvent, GenericFtraceEvent and its Field */
enum { BUNDLE_EVENT = 2 };
enum { EVENT_TIME = 1, EVENT_PID = 2 };
enum { GENERIC_FIELD = 2 };
enum { FIELD_TEXT = 3, FIELD_INT = 4, FIELD_UINT = 5 };

/* A record on its way. */
struct writing {
	struct perfetto *p;
	struct stream *stream;
	struct bundle *bundle;
	const struct event_kind *kind;
	struct event *event;
	const struct spur_record *r;
	const struct events *events;
	uint64_t ts;
	int pid;
};

/* ---- messages ------------------------------------------------------------------------- */

static inline size_t begin_event(const struct writing *w, uint32_t number, size_t *inner)
{
	struct buf *b = &w->bundle->events;
	const size_t start = proto_begin(b, BUNDLE_EVENT);

	proto_number(b, EVENT_TIME, w->ts);
	proto_number(b, EVENT_PID, (uint32_t)w->pid);
	*inner = proto_begin(b, number);
	return start;
}

static inline void end_event(const struct writing *w, size_t start, size_t inner)
{
	proto_end(&w->bundle->events, inner);
	proto_end(&w->bundle->events, start);
}

static void put_array(const struct writing *w, const struct typed_op *op)
{
	struct number n = op->number;

	for (unsigned int i = 0; i < op->count && number_in(&n, w->r); i++) {
		proto_number(&w->bundle->events, op->field,
			     (uint64_t)number_get(w->events, &n, w->r));
		n.offset += n.size;
	}
}

static void put_op(const struct writing *w, const struct typed_op *op)
{
	struct buf *b = &w->bundle->events;
	const char *text;
	uint64_t number;
	size_t len;

	if (op->kind == KIND_TEXT) {
		text = record_text(w->events, op->text, w->r, &len);
		if (text)
			proto_text(b, op->field, text, len);
		return;
	}
	if (op->kind == KIND_ARRAY) {
		put_array(w, op);
		return;
	}
	if (!number_in(&op->number, w->r))
		return;
	number = (uint64_t)number_get(w->events, &op->number, w->r);
	if (op->kind == KIND_SYMBOL)
		number = stream_symbol(w->p, w->stream, number);
	proto_number(b, op->field, number);
}

static void put_typed(const struct writing *w, uint32_t number)
{
	size_t inner, start = begin_event(w, number, &inner);

	for (uint32_t i = 0; i < w->kind->nr_ops; i++)
		put_op(w, &w->kind->ops[i]);
	end_event(w, start, inner);
}

/* ---- generic events ------------------------------------------------------------------- */

static void put_number_field(const struct writing *w, const struct generic_op *op)
{
	struct buf *b = &w->bundle->events;
	size_t start;

	if (!number_in(&op->number, w->r))
		return;
	start = proto_begin(b, GENERIC_FIELD);
	buf_put(b, op->prefix, op->prefix_len);
	proto_number(b, op->number.is_signed ? FIELD_INT : FIELD_UINT,
		     (uint64_t)number_get(w->events, &op->number, w->r));
	proto_end(b, start);
}

static void put_text_field(const struct writing *w, const struct generic_op *op)
{
	struct buf *b = &w->bundle->events;
	struct cell_value v;
	size_t start;

	reader_get(&w->p->reader, op->cell, w->event, w->r, &v);
	if (v.type != VALUE_TEXT)
		return;
	start = proto_begin(b, GENERIC_FIELD);
	buf_put(b, op->prefix, op->prefix_len);
	proto_text(b, FIELD_TEXT, v.text, v.len);
	proto_end(b, start);
}

static void put_named_text(struct buf *b, const char *name, const char *text, size_t len)
{
	const size_t start = proto_begin(b, GENERIC_FIELD);

	proto_text(b, 1, name, strlen(name));
	proto_text(b, FIELD_TEXT, text, len);
	proto_end(b, start);
}

/* Which buffer, when it is not the top one. */
static void put_buffer_field(const struct writing *w)
{
	put_named_text(&w->bundle->events, w->kind->buffer_field, w->stream->name,
		       strlen(w->stream->name));
}

static void put_generic(const struct writing *w)
{
	struct buf *b = &w->bundle->events;
	size_t inner, start = begin_event(w, FTRACE_GENERIC, &inner);

	buf_put(b, w->kind->head, w->kind->head_len);
	for (uint32_t i = 0; i < w->kind->nr_fields; i++) {
		if (w->kind->fields[i].cell->kind == CELL_NUMBER)
			put_number_field(w, &w->kind->fields[i]);
		else
			put_text_field(w, &w->kind->fields[i]);
	}
	if (*w->stream->name)
		put_buffer_field(w);
	end_event(w, start, inner);
}

/* ---- markers -------------------------------------------------------------------------- */

/* The text of a marker. That of trace_printk() is made by its print format, which the trace has. */
static const char *mark_text(const struct writing *w, size_t *len)
{
	static const struct cell report = {.kind = CELL_REPORT};
	const struct typed_op *last = &w->kind->ops[w->kind->nr_ops - 1];
	struct cell_value v;

	*len = 0;
	if (!w->kind->by_text)
		return record_text(w->events, last->text, w->r, len);
	reader_get(&w->p->reader, &report, w->event, w->r, &v);
	if (v.type != VALUE_TEXT)
		return NULL;
	*len = v.len;
	return v.text;
}

/* What is not for Perfetto is a generic event of the same name and with the same fields. */
static void put_print(const struct writing *w)
{
	static const char name[] = "print", ip_name[] = "ip", text_name[] = "buf";
	struct buf *b = &w->bundle->events;
	size_t inner, start, field, len;
	const char *text = mark_text(w, &len);
	const bool mark = text && is_mark(text, len);
	const struct number *at = &w->kind->ops[0].number;
	const uint64_t ip = at->size ? (uint64_t)number_get(w->events, at, w->r) : 0;

	start = begin_event(w, mark ? FTRACE_PRINT : FTRACE_GENERIC, &inner);
	if (mark) {
		proto_number(b, 1, ip);
		proto_text(b, 2, text, len);
	} else {
		proto_text(b, 1, name, strlen(name));
		field = proto_begin(b, GENERIC_FIELD);
		proto_text(b, 1, ip_name, strlen(ip_name));
		proto_number(b, FIELD_UINT, ip);
		proto_end(b, field);
		if (text)
			put_named_text(b, text_name, text, len);
		if (*w->stream->name)
			put_buffer_field(w);
	}
	end_event(w, start, inner);
}

/* ---- scheduling ----------------------------------------------------------------------- */

/* A task's name; false when it is longer than the kernel's are, or not there. */
static bool get_comm(const struct writing *w, const struct event_field *f, union comm16 *comm)
{
	size_t len;
	const char *text = record_text(w->events, f, w->r, &len);

	*comm = (union comm16){{0}};
	if (!text || len > sizeof(comm->text))
		return false;
	memcpy(comm->text, text, len);
	return true;
}

static int32_t get(const struct writing *w, const struct number *n)
{
	return (int32_t)number_get(w->events, n, w->r);
}

static bool runs_known(const struct writing *w)
{
	return w->bundle->known && w->ts > w->bundle->latest;
}

/* Whether the task that Perfetto assumes as the previous one is the right one. */
static bool prev_is_known(const struct writing *w)
{
	const struct bundle *b = w->bundle;
	union comm16 prev;

	return runs_known(w) && get(w, &w->kind->prev_pid) == b->pid &&
	       get(w, &w->kind->prev_prio) == b->prio && get_comm(w, w->kind->prev_comm, &prev) &&
	       prev.word[0] == b->comm.word[0] && prev.word[1] == b->comm.word[1];
}

static void put_switch(const struct writing *w)
{
	const struct event_kind *k = w->kind;
	struct bundle *b = w->bundle;
	const int32_t pid = get(w, &k->next_pid), prio = get(w, &k->next_prio);
	union comm16 comm;
	const bool fits = get_comm(w, k->next_comm, &comm);

	if (fits && w->pid == get(w, &k->prev_pid) && number_in(&k->prev_state, w->r) &&
	    number_in(&k->next_prio, w->r) && prev_is_known(w))
		bundle_switch(b, w->ts, number_get(w->events, &k->prev_state, w->r), pid, prio,
			      &comm);
	else
		put_typed(w, FTRACE_SCHED_SWITCH);
	b->known = fits;
	b->pid = pid;
	b->prio = prio;
	b->comm = comm;
}

static void put_waking(const struct writing *w)
{
	const struct event_kind *k = w->kind;
	const struct bundle *b = w->bundle;
	union comm16 comm;

	if (runs_known(w) && w->pid == b->pid && !k->has_success &&
	    number_in(&k->next_prio, w->r) && number_in(&k->target_cpu, w->r) &&
	    get_comm(w, k->next_comm, &comm))
		bundle_waking(w->bundle, w->ts, get(w, &k->next_pid), get(w, &k->target_cpu),
			      get(w, &k->next_prio), &comm, events_record_flags(w->events, w->r));
	else
		put_typed(w, FTRACE_SCHED_WAKING);
}

/* ---- records -------------------------------------------------------------------------- */

static void put_own(const struct writing *w)
{
	struct perfetto *p = w->p;

	switch (w->kind->number) {
	case FTRACE_SCHED_SWITCH: put_switch(w); break;
	case FTRACE_SCHED_WAKING: put_waking(w); break;
	case FTRACE_SCHED_WAKEUP:
		put_typed(w, FTRACE_SCHED_WAKEUP);
		/* Perfetto uses sched_waking; without that event a task would never wait. */
		if (!p->has_waking)
			put_waking(w);
		break;
	case FTRACE_PRINT: put_print(w); break;
	default: put_typed(w, w->kind->number);
	}
}

/* Calls in imported texts have a name but no number that Perfetto could know. */
static bool has_message(const struct writing *w)
{
	return w->kind->number &&
	       (!w->kind->named_call || number_get(w->events, &w->kind->ops[0].number, w->r) >= 0);
}

static void put_record(struct writing *w, bool drawn)
{
	if (w->ts <= w->bundle->last.ts)
		bundle_expand(w->bundle);
	w->bundle->last.is_set = false;
	if (drawn)
		put_own(w);
	else
		put_generic(w);
	w->bundle->latest = w->ts > w->bundle->latest ? w->ts : w->bundle->latest;
	w->bundle->open = true;
}

/* ---- system calls of which both kinds of events were recorded ---------------------------- */

/*
 * As in the table syscalls, the second of the two entries describes a call, and the first of the
 * two exits ends it. So an entry is held until the next record of its CPU.
 */

/* Writes the entry that is held, if there is one. */
static void put_held(const struct writing *w, bool drawn)
{
	struct last_call *c = &w->bundle->call;
	struct writing held;

	if (__builtin_expect(!c->held, 1))
		return;
	c->held = false;
	held = *w;
	held.kind = c->kind;
	held.event = c->event;
	held.r = &c->r;
	held.ts = perfetto_time(w->p, c->r.ts);
	held.pid = c->pid;
	put_record(&held, drawn);
}

static bool is_second(const struct last_call *c, const struct writing *w, int64_t nr)
{
	return c->is_set && !w->r->lost && c->kind->number == w->kind->number &&
	       c->kind->named_call != w->kind->named_call && c->pid == w->pid && c->nr == nr &&
	       w->r->ts >= c->r.ts && w->r->ts - c->r.ts <= SAME_CALL;
}

static void put_call(struct writing *w)
{
	struct last_call *c = &w->bundle->call;
	const bool enters = w->kind->number == FTRACE_SYS_ENTER;
	const int64_t nr = number_get(w->events, &w->kind->ops[0].number, w->r);
	const bool held = c->held;

	if (is_second(c, w, nr)) {
		put_held(w, false);
		put_record(w, enters && held);
		c->is_set = false;
		return;
	}
	put_held(w, true);
	c->is_set = true;
	c->kind = w->kind;
	c->event = w->event;
	c->pid = w->pid;
	c->nr = nr;
	c->r = *w->r;
	c->held = enters && w->r->size <= sizeof(c->data);
	if (!c->held) {
		put_record(w, true);
		return;
	}
	memcpy(c->data, w->r->data, w->r->size);
	c->r.data = c->data;
	c->r.room = c->r.size;
	c->r.lost = 0;
}

void perfetto_records_end(struct perfetto *p)
{
	for (uint32_t i = 0; i < p->trace->nr_buffers; i++)
		for (uint32_t cpu = 0; cpu < PERFETTO_CPUS; cpu++) {
			struct writing w = {.p = p,
					    .stream = &p->streams[i],
					    .events = p->trace->events,
					    .bundle = p->streams[i].bundles[cpu]};

			if (w.bundle)
				put_held(&w, true);
		}
}

/* ---- each record ------------------------------------------------------------------------ */

void perfetto_record(void *arg, struct event *e, const struct spur_record *r)
{
	struct perfetto *p = arg;
	struct event_kind *k = perfetto_kind(p, e);
	struct writing w = {.p = p,
			    .stream = &p->streams[r->buffer],
			    .kind = k,
			    .event = e,
			    .r = r,
			    .events = p->trace->events,
			    .ts = perfetto_time(p, r->ts)};
	bool drawn;

	w.bundle = k ? bundle_of(p, w.stream, r->cpu) : NULL;
	if (!w.bundle)
		return;
	if (__builtin_expect(r->lost != 0, 0)) {
		put_held(&w, true);
		w.bundle->call.is_set = false;
		bundle_lost(p, w.stream, w.bundle);
	}
	if (k->tells_task)
		perfetto_tasks_record(p, k, r);
	if (k->is_stack)
		return;
	w.pid = events_record_pid(w.events, r);
	drawn = has_message(&w) && perfetto_owns(p, k, r->buffer);
	if (drawn && k->group == SYSCALLS && p->calls_from == CALLS_BOTH) {
		put_call(&w);
	} else {
		put_held(&w, true);
		put_record(&w, drawn);
	}
	bundle_turn(p, w.stream, w.bundle, w.ts);
	export_stream_flush_full(p->out);
	if (p->out->rc < 0)
		p->failed = p->out->rc;
}
