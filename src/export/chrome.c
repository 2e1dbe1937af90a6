// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chrome's trace event format: one JSON object, {"traceEvents": […]}, with an object for every
 * slice ("X"), moment ("i"), value of a counter ("C") and arrow ("s", "f"). Times are microseconds
 * with three decimals, so that nothing is lost.
 *
 * Slices are written when their rows are complete, not in the order of their starts; readers of the
 * format sort. Names are untrusted bytes; as JSON strings they are always valid.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "event/names.h"
#include "export/export.h"
#include "export/reader.h"
#include "scan/identity.h"
#include "table/analysis.h"
#include "table/calls.h"
#include "table/cells.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/spans.h"
#include "table/stacks.h"

#define KINDS_LIMIT  (64u << 20)
#define PLACES_LIMIT (64u << 20)
#define NAMES_LIMIT  (64u << 20)
#define NAME_LIMIT   65536
#define PIDS	     (1u << 22) /* more than a machine has; each trace gets so many */
#define CPU_PLACES   0x80000000u
#define RESPECTS     8
#define EXACT	     (1ll << 53) /* JavaScript's numbers are exact up to this */

/*
 * Places are pairs of a "process" and a "thread". CPUs, interrupts and softirqs are processes with
 * a thread for each CPU; a task is a process with a thread for each kind of slices.
 */
enum cpu_place { PLACE_CPUS, PLACE_INTERRUPTS, PLACE_SOFTIRQS, NR_CPU_PLACES };
enum respect { TASK_STATES = 1, TASK_SYSCALLS, TASK_CALLS, TASK_EVENTS };

/* What is known about an event type. */
struct kind {
	bool ready;
	bool is_slice; /* rows represent it */
	bool is_counter;
	struct number value, cpu; /* of a counter */
	struct cells cells;
};

struct chrome {
	const struct export_job *job;
	struct spur_trace *trace;
	struct export_stream *out;
	uint32_t index;		  /* of the trace */
	uint32_t places;	  /* numbers of places of the previous traces */
	uint64_t start;		  /* written times are relative to this one */
	struct json_writer *json; /* of all traces */
	uint64_t *flows;
	int failed;
	struct reader reader;
	struct arena arena;
	struct kind **kinds;
	struct slots named; /* places whose name has been written */
	struct slots lanes; /* struct call_lane */
	struct intern texts;
	vec_of(struct call_lane *) all_lanes;
};

/* ---- JSON ----------------------------------------------------------------------------- */

/* Microseconds. */
static void put_time(struct json_writer *w, int64_t ns)
{
	const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	json_separate(w);
	if (ns < 0)
		buf_putc(w->out, '-');
	buf_u64(w->out, size / NS_PER_US);
	buf_putc(w->out, '.');
	buf_u64_pad(w->out, size % NS_PER_US, 3, '0');
}

/* Numbers that JavaScript cannot represent become texts. */
static void put_whole(struct json_writer *w, int64_t v, bool is_signed)
{
	if (v >= -EXACT && v <= EXACT && (is_signed || v >= 0))
		json_put_i64(w, v);
	else if (is_signed)
		json_put_printf(w, "\"%" PRId64 "\"", v);
	else
		json_put_printf(w, "\"0x%" PRIx64 "\"", (uint64_t)v);
}

/* Begins an event with the members that all events have; further members and the end follow. */
static void begin_event(struct chrome *c, const char *name, char phase, uint64_t ts, uint64_t pid,
			uint64_t tid)
{
	struct json_writer *w = c->json;

	json_newline(w);
	json_object(w);
	json_put_bytes(json_key(w, "ph"), &phase, 1);
	json_put_text(json_key(w, "name"), name);
	put_time(json_key(w, "ts"), (int64_t)(ts - c->start));
	json_put_u64(json_key(w, "pid"), pid);
	json_put_u64(json_key(w, "tid"), tid);
}

static void end_event(struct chrome *c)
{
	json_end_object(c->json);
	export_stream_flush_full(c->out);
	if (c->out->rc < 0)
		c->failed = c->out->rc;
}

/* ---- places --------------------------------------------------------------------------- */

/* Begins an event that is about a process or a thread, up to its arguments. */
static void begin_metadata(struct chrome *c, const char *what, uint64_t pid, uint64_t tid)
{
	struct json_writer *w = c->json;

	json_newline(w);
	json_object(w);
	json_put_text(json_key(w, "ph"), "M");
	json_put_text(json_key(w, "name"), what);
	json_put_u64(json_key(w, "pid"), pid);
	json_put_u64(json_key(w, "tid"), tid);
	json_object(json_key(w, "args"));
}

static void end_metadata(struct chrome *c)
{
	json_end_object(c->json);
	json_end_object(c->json);
}

static void put_name(struct chrome *c, const char *what, uint64_t pid, uint64_t tid,
		     const char *name)
{
	begin_metadata(c, what, pid, tid);
	json_put_text(json_key(c->json, "name"), name);
	end_metadata(c);
}

static void put_sort_index(struct chrome *c, uint64_t pid, uint32_t index)
{
	begin_metadata(c, "process_sort_index", pid, 0);
	json_put_u64(json_key(c->json, "sort_index"), index);
	end_metadata(c);
}

/* True the first time for each key. Keys beyond the limit have no names. */
static bool is_new(struct chrome *c, uint64_t key)
{
	bool *known = slots_find(&c->named, key);

	if (known)
		return false;
	known = slots_get(&c->named, key);
	if (known)
		*known = true;
	return known;
}

/* With several traces, names contain that of the trace. */
static void name_process(struct chrome *c, uint64_t pid, const char *name, const char *buffer)
{
	scoped_buf text = buf_new(NAME_LIMIT);

	buf_puts(&text, name);
	if (*buffer)
		buf_printf(&text, ", %s", buffer);
	if (c->job->nr_traces > 1)
		buf_printf(&text, " (%s)", file_name_of(c->trace->dat->path));
	put_name(c, "process_name", pid, 0, buf_str(&text));
}

static uint32_t buffer_index(const struct chrome *c, const char *buffer)
{
	uint32_t i = 0;

	while (i + 1 < c->trace->nr_buffers && strcmp(c->trace->buffers[i].data->name, buffer) != 0)
		i++;
	return i;
}

/*
 * Chooses the process and thread, separately for each buffer; writes their names before their first
 * event.
 */
static uint64_t place_of(struct chrome *c, enum cpu_place place, const char *buffer, uint32_t cpu)
{
	static const char *const names[NR_CPU_PLACES] = {"CPUs", "Interrupts", "Softirqs"};
	const uint64_t number = c->places + buffer_index(c, buffer);
	const uint64_t pid = CPU_PLACES + number * RESPECTS + place;
	char text[32];

	if (is_new(c, pid << 20)) {
		name_process(c, pid, names[place], buffer);
		put_sort_index(c, pid, (uint32_t)place);
	}
	if (is_new(c, pid << 20 | ((cpu + 1) & 0xfffff))) {
		snprintf(text, sizeof(text), "CPU %u", cpu);
		put_name(c, "thread_name", pid, cpu, text);
	}
	return pid;
}

static void name_task(struct chrome *c, uint64_t process, int64_t pid, const char *comm)
{
	char text[96];
	size_t len;

	if (!comm)
		comm = comms_find(c->trace->events->comms, (int)pid, &len);
	snprintf(text, sizeof(text), "%s %" PRId64, pid ? comm : "idle", pid);
	name_process(c, process, text, "");
	put_sort_index(c, process, NR_CPU_PLACES);
}

/* The idle tasks all have pid 0, so they have a thread for each CPU. */
static uint64_t task_of(struct chrome *c, int64_t pid, const char *comm, enum respect respect,
			const char *buffer, int64_t cpu, uint64_t *tid)
{
	static const char *const names[RESPECTS] = {[TASK_STATES] = "state",
						    [TASK_SYSCALLS] = "system calls",
						    [TASK_CALLS] = "functions",
						    [TASK_EVENTS] = "events"};
	const uint64_t process = (uint64_t)c->index * PIDS + (uint32_t)pid;
	const uint64_t turn = pid == 0 && cpu >= 0 ? (uint64_t)cpu + 1 : 0;
	char text[128];

	*tid = (turn * c->trace->nr_buffers + buffer_index(c, buffer)) * RESPECTS + respect;
	if (is_new(c, process << 20))
		name_task(c, process, pid, comm);
	if (is_new(c, process << 20 | (*tid & 0xfffff))) {
		int len = snprintf(text, sizeof(text), "%s", names[respect]);

		if (turn)
			len += snprintf(text + len, sizeof(text) - (size_t)len, " on CPU %" PRId64,
					cpu);
		if (*buffer)
			snprintf(text + len, sizeof(text) - (size_t)len, ", %.48s", buffer);
		put_name(c, "thread_name", process, *tid, text);
	}
	return process;
}

/* ---- members of slices ---------------------------------------------------------------- */

static void slice(struct chrome *c, const char *name, uint64_t ts, int64_t dur, uint64_t pid,
		  uint64_t tid, const char *category)
{
	begin_event(c, name, 'X', ts, pid, tid);
	put_time(json_key(c->json, "dur"), dur > 0 ? dur : 0);
	json_put_text(json_key(c->json, "cat"), category);
	json_object(json_key(c->json, "args"));
}

/* A moment in a thread. */
static void moment(struct chrome *c, const char *name, uint64_t ts, uint64_t pid, uint64_t tid,
		   const char *category)
{
	begin_event(c, name, 'i', ts, pid, tid);
	json_put_text(json_key(c->json, "s"), "t");
	json_put_text(json_key(c->json, "cat"), category);
	json_object(json_key(c->json, "args"));
}

static void arg_number(struct chrome *c, const char *name, int64_t v)
{
	if (v != ROW_NULL)
		put_whole(json_key(c->json, name), v, true);
}

static void arg_text(struct chrome *c, const char *name, const char *text)
{
	if (text && *text)
		json_put_text(json_key(c->json, name), text);
}

static void finish(struct chrome *c, enum row_open open, const char *buffer)
{
	arg_text(c, "open", row_open_names[open]);
	arg_text(c, "buffer", buffer);
	json_end_object(c->json);
	end_event(c);
}

/* ---- calls ---------------------------------------------------------------------------- */

/*
 * Slices are nested. A row has the kernel's own times, so a call and the next one may overlap by
 * the time that recording takes. A reader that sorts slices by time would nest the next call in the
 * first. So a call that has ended waits until the next one in its thread begins, and is cut there;
 * a cut call has its own times as arguments. Each thread stores its open calls, and the nested
 * calls that have ended last.
 */

#define MOST_OPEN 4096 /* open calls of a thread */

struct open_call {
	int64_t id;
	uint64_t ts; /* as it will be written */
};

struct ended_call {
	struct call_row row;
	uint64_t ts, end;
};

struct call_lane {
	uint64_t pid, tid;
	vec_of(struct open_call) open;
	vec_of(struct ended_call) ended;
};

static void put_call(struct chrome *c, const struct call_lane *l, const struct ended_call *e)
{
	const struct call_row *r = &e->row;
	const int64_t dur = (int64_t)(e->end - e->ts);

	slice(c, r->func ? r->func : "?", e->ts, dur, l->pid, l->tid, "call");
	json_put_i64(json_key(c->json, "id"), r->id);
	if (e->ts != r->ts)
		put_time(json_key(c->json, "ts_us"), (int64_t)(r->ts - c->start));
	if (r->dur > 0 && dur != r->dur)
		put_time(json_key(c->json, "dur_us"), r->dur);
	arg_number(c, "depth", r->depth);
	arg_number(c, "self", r->self);
	arg_number(c, "retval", r->retval);
	arg_number(c, "cpu", r->cpu);
	finish(c, r->open, r->buffer);
}

/* NULL beyond the limit. */
static struct call_lane *lane_of(struct chrome *c, uint64_t pid, uint64_t tid)
{
	struct call_lane *l = slots_get(&c->lanes, pid << 20 ^ tid);

	if (!l || l->tid)
		return l;
	if (!vec_add(&c->all_lanes, &l)) {
		c->failed = -ENOMEM;
		return NULL;
	}
	l->pid = pid;
	l->tid = tid;
	return l;
}

/* Writes the calls that have ended, because another one begins at that time. */
static void write_ended(struct chrome *c, struct call_lane *l, uint64_t until)
{
	vec_each (e, &l->ended) {
		e->end = e->end < until ? e->end : until;
		e->end = e->end > e->ts ? e->end : e->ts;
		put_call(c, l, e);
	}
	l->ended.n = 0;
}

static void begins(struct chrome *c, struct call_lane *l, const struct call_row *row)
{
	const uint64_t floor = l->open.n ? l->open.at[l->open.n - 1].ts : 0;

	write_ended(c, l, row->ts);
	if (l->open.n < MOST_OPEN)
		vec_add(&l->open, &(struct open_call){row->id, row->ts > floor ? row->ts : floor});
}

/* Returns the begin of the call that ends now, and removes it and its callees. */
static uint64_t began(struct call_lane *l, const struct call_row *row)
{
	size_t i = l->open.n;

	while (i && l->open.at[i - 1].id != row->id)
		i--;
	if (!i)
		return row->ts;
	l->open.n = i - 1;
	return l->open.at[i - 1].ts;
}

static void ends(struct chrome *c, struct call_lane *l, const struct call_row *row)
{
	const uint64_t ts = began(l, row);
	const uint64_t dur = row->dur > 0 ? (uint64_t)row->dur : 0;
	uint64_t end = row->ts + dur > ts ? row->ts + dur : ts;
	struct ended_call *e;

	/* A call of which only the end is known begins after the previous ones. */
	if (row->phase == CALL_ONLY_END && l->ended.n && l->ended.at[0].ts < ts)
		write_ended(c, l, ts);
	vec_each (inner, &l->ended)
		end = inner->ts > end ? inner->ts : end;
	vec_each (inner, &l->ended)
		inner->end = inner->end < end ? inner->end : end;
	if (l->ended.n >= MOST_OPEN)
		write_ended(c, l, end);
	e = vec_push(&l->ended);
	if (!e) {
		c->failed = -ENOMEM;
		return;
	}
	*e = (struct ended_call){*row, ts, end};
	/* The row's name is freed after reading. */
	if (row->func)
		e->row.func = intern_text(&c->texts, row->func, strlen(row->func));
}

/* Without memory for its thread, a call is written with its own times. */
static void put_alone(struct chrome *c, uint64_t pid, uint64_t tid, const struct call_row *row)
{
	const struct call_lane lane = {.pid = pid, .tid = tid};
	const uint64_t dur = row->dur > 0 ? (uint64_t)row->dur : 0;

	if (row->phase != CALL_BEGINS)
		put_call(c, &lane, &(struct ended_call){*row, row->ts, row->ts + dur});
}

static void take_call(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct call_row *r = row;
	uint64_t tid, pid = task_of(c, r->pid, r->comm, TASK_CALLS, r->buffer, r->cpu, &tid);
	struct call_lane *l = lane_of(c, pid, tid);

	if (!l)
		put_alone(c, pid, tid, r);
	else if (r->phase == CALL_BEGINS)
		begins(c, l, r);
	else
		ends(c, l, r);
}

static void calls_end(struct chrome *c)
{
	for (size_t i = 0; i < c->all_lanes.n; i++)
		write_ended(c, c->all_lanes.at[i], UINT64_MAX);
}

static void calls_free(struct chrome *c)
{
	for (size_t i = 0; i < c->all_lanes.n; i++) {
		vec_free(&c->all_lanes.at[i]->open);
		vec_free(&c->all_lanes.at[i]->ended);
	}
	vec_free(&c->all_lanes);
	slots_free(&c->lanes);
}

/* ---- other rows ----------------------------------------------------------------------- */

static void take_slice(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct slice_row *s = row;
	char name[96];

	/* The idle task is a gap. */
	if (!s->pid)
		return;
	if (s->pid == ROW_NULL)
		snprintf(name, sizeof(name), "unknown");
	else
		snprintf(name, sizeof(name), "%s %" PRId64, s->comm ? s->comm : "", s->pid);
	slice(c, name, s->ts, s->dur, place_of(c, PLACE_CPUS, s->buffer, (uint32_t)s->cpu),
	      (uint64_t)s->cpu, "sched");
	arg_number(c, "pid", s->pid);
	arg_text(c, "comm", s->comm);
	arg_number(c, "prio", s->prio);
	arg_text(c, "end_state", s->end_state);
	finish(c, s->open, s->buffer);
}

static void take_state(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct state_row *s = row;
	uint64_t tid, pid;

	if (!s->pid)
		return;
	pid = task_of(c, s->pid, s->comm, TASK_STATES, s->buffer, -1, &tid);
	slice(c, run_state_names[s->state], s->ts, s->dur, pid, tid, "state");
	arg_text(c, "reason", s->reason);
	arg_number(c, "cpu", s->cpu);
	arg_number(c, "waker", s->waker);
	finish(c, s->open, s->buffer);
}

static void take_irq(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct irq_row *i = row;
	char name[32];

	snprintf(name, sizeof(name), "irq %" PRId64, i->irq);
	slice(c, i->name ? i->name : name, i->ts, i->dur,
	      place_of(c, PLACE_INTERRUPTS, i->buffer, (uint32_t)i->cpu), (uint64_t)i->cpu, "irq");
	arg_number(c, "irq", i->irq);
	arg_number(c, "handled", i->handled);
	arg_number(c, "pid", i->pid);
	finish(c, i->open, i->buffer);
}

static void take_softirq(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct softirq_row *s = row;

	slice(c, s->name ? s->name : "softirq", s->ts, s->dur,
	      place_of(c, PLACE_SOFTIRQS, s->buffer, (uint32_t)s->cpu), (uint64_t)s->cpu,
	      "softirq");
	arg_number(c, "vec", s->vec);
	arg_number(c, "latency", s->latency);
	arg_number(c, "pid", s->pid);
	finish(c, s->open, s->buffer);
}

static void take_syscall(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct syscall_row *s = row;
	char name[32];
	uint64_t tid, pid = task_of(c, s->pid, s->comm, TASK_SYSCALLS, s->buffer, s->cpu, &tid);

	snprintf(name, sizeof(name), "system call %" PRId64, s->nr);
	slice(c, s->name ? s->name : name, s->ts, s->dur, pid, tid, "syscall");
	arg_number(c, "nr", s->nr);
	arg_text(c, "args", s->args);
	arg_number(c, "ret", s->ret);
	arg_text(c, "error", s->error);
	arg_number(c, "cpu", s->cpu);
	finish(c, s->open, s->buffer);
}

/* An arrow from the waker to the run of the woken task. */
static void take_wakeup(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct wakeup_row *w = row;
	uint64_t pid, tid;

	if (w->latency == ROW_NULL || w->latency < 0 || !w->pid || !w->waker_pid)
		return;
	++*c->flows;
	pid = task_of(c, w->waker_pid, w->waker_comm, TASK_STATES, w->buffer, -1, &tid);
	begin_event(c, "wakeup", 's', w->ts, pid, tid);
	json_put_text(json_key(c->json, "cat"), "wakeup");
	json_put_u64(json_key(c->json, "id"), *c->flows);
	end_event(c);
	pid = task_of(c, w->pid, w->comm, TASK_STATES, w->buffer, -1, &tid);
	begin_event(c, "wakeup", 'f', w->ts + (uint64_t)w->latency, pid, tid);
	json_put_text(json_key(c->json, "cat"), "wakeup");
	json_put_text(json_key(c->json, "bp"), "e");
	json_put_u64(json_key(c->json, "id"), *c->flows);
	end_event(c);
}

static void take_sample(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct sample_row *s = row;
	uint64_t tid, pid = task_of(c, s->pid, s->comm, TASK_EVENTS, s->buffer, s->cpu, &tid);

	moment(c, "stack", s->ts, pid, tid, "stack");
	arg_number(c, "cpu", s->cpu);
	arg_text(c, "event", s->event);
	arg_text(c, "stack", s->stack);
	finish(c, ROW_WHOLE, s->buffer);
}

static void take_loss(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct lost_row *l = row;

	moment(c, "lost events", l->ts, place_of(c, PLACE_CPUS, l->buffer, (uint32_t)l->cpu),
	       (uint64_t)l->cpu, "lost");
	arg_number(c, "events", l->events);
	finish(c, ROW_WHOLE, l->buffer);
}

static const struct export_table row_tables[] = {
	{&slices_table, take_slice},	 {&states_table, take_state},
	{&irqs_table, take_irq},	 {&softirqs_table, take_softirq},
	{&syscalls_table, take_syscall}, {&calls_both_table, take_call},
	{&wakeups_table, take_wakeup},	 {&samples_table, take_sample},
	{&lost_table, take_loss},
};

/* ---- records -------------------------------------------------------------------------- */

/* "system:name" of events that rows represent; either part may end with a star. */
static const char *const sliced[] = {
	"sched:sched_switch",  "irq:irq_handler_entry", "irq:irq_handler_exit",
	"irq:softirq_entry",   "irq:softirq_exit",	"raw_syscalls:sys_*",
	"syscalls:sys_*",      "ftrace:funcgraph_*",	"ftrace:fgraph_retaddr_entry",
	"ftrace:kernel_stack", "ftrace:user_stack",
};

static bool is_sliced(const struct event *e)
{
	char name[256];

	snprintf(name, sizeof(name), "%s:%s", e->system, e->name);
	for (size_t i = 0; i < ARRAY_SIZE(sliced); i++) {
		const size_t len = strlen(sliced[i]);

		if (sliced[i][len - 1] == '*' ? strncmp(name, sliced[i], len - 1) == 0
					      : strcmp(name, sliced[i]) == 0)
			return true;
	}
	return false;
}

static void bind_counter(struct kind *k, struct event *e)
{
	if (strcmp(e->system, "power") != 0 ||
	    (strcmp(e->name, "cpu_frequency") != 0 && strcmp(e->name, "cpu_idle") != 0))
		return;
	k->value = number_of(e, "state");
	k->cpu = number_of(e, "cpu_id");
	k->is_counter = k->value.size && k->cpu.size;
}

static struct kind *kind_of(struct chrome *c, struct event *e)
{
	struct kind *k = c->kinds[e->index];

	if (k && k->ready)
		return k;
	k = k ? k : arena_alloc(&c->arena, sizeof(*k));
	c->kinds[e->index] = k;
	if (!k || cells_make(&k->cells, e) < 0) {
		c->failed = -ENOMEM;
		return NULL;
	}
	k->is_slice = is_sliced(e);
	bind_counter(k, e);
	k->ready = true;
	return k;
}

static void put_value(struct json_writer *w, const struct cell *cell, const struct cell_value *v)
{
	/* The name of a field may be anything. */
	json_key_bytes(w, cell->name, strlen(cell->name));
	if (v->type == VALUE_TEXT)
		json_put_bytes(w, v->text, v->len);
	else
		put_whole(w, v->number,
			  cell->kind != CELL_NUMBER || cell->field->flags & FIELD_SIGNED);
}

static void put_args(struct chrome *c, const struct kind *k, struct event *e,
		     const struct spur_record *r)
{
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	struct json_writer *w = c->json;

	json_put_u64(json_key(w, "cpu"), r->cpu);
	vec_each (cell, &k->cells) {
		struct cell_value v;

		if (!cell->field)
			continue;
		reader_get(&c->reader, cell, e, r, &v);
		if (v.type != VALUE_NULL)
			put_value(w, cell, &v);
	}
	arg_text(c, "buffer", buffer);
	json_end_object(w);
}

static void put_moment(struct chrome *c, const struct kind *k, struct event *e,
		       const struct spur_record *r)
{
	const int pid = events_record_pid(c->trace->events, r);
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	uint64_t tid, process = task_of(c, pid, NULL, TASK_EVENTS, buffer, r->cpu, &tid);

	moment(c, e->name, r->ts, process, tid, e->system);
	put_args(c, k, e, r);
	end_event(c);
}

/* A counter is identified by its name and process. */
static void put_counter(struct chrome *c, const struct kind *k, struct event *e,
			const struct spur_record *r)
{
	const struct events *ev = c->trace->events;
	const uint32_t cpu = (uint32_t)number_get(ev, &k->cpu, r);
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	char name[64];

	snprintf(name, sizeof(name), "%s of CPU %u", e->name, cpu);
	begin_event(c, name, 'C', r->ts, place_of(c, PLACE_CPUS, buffer, r->cpu), r->cpu);
	json_object(json_key(c->json, "args"));
	/* 2^32 - 1 means "no state": the end of cpu_idle. */
	json_put_i64(json_key(c->json, "state"), (int32_t)number_get(ev, &k->value, r));
	json_end_object(c->json);
	end_event(c);
}

static void take_record(void *arg, struct event *e, const struct spur_record *r)
{
	struct chrome *c = arg;
	const struct kind *k = kind_of(c, e);

	if (!k || k->is_slice)
		return;
	if (k->is_counter && number_in(&k->value, r) && number_in(&k->cpu, r))
		put_counter(c, k, e, r);
	else
		put_moment(c, k, e, r);
}

/* ---- traces --------------------------------------------------------------------------- */

static int begin(struct chrome *c, struct spur_error *err)
{
	reader_init(&c->reader, c->trace);
	arena_init(&c->arena, KINDS_LIMIT);
	slots_init(&c->named, sizeof(bool), PLACES_LIMIT);
	slots_init(&c->lanes, sizeof(struct call_lane), PLACES_LIMIT);
	intern_init(&c->texts, NAMES_LIMIT);
	c->kinds = calloc(c->trace->events->nr + 1, sizeof(struct kind *));
	return c->kinds ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static void end(struct chrome *c)
{
	for (size_t i = 0; c->kinds && i < c->trace->events->nr; i++)
		if (c->kinds[i])
			cells_free(&c->kinds[i]->cells);
	free(c->kinds);
	calls_free(c);
	intern_free(&c->texts);
	slots_free(&c->named);
	arena_free(&c->arena);
	reader_done(&c->reader);
}

static int write_trace(struct chrome *c, struct spur_error *err)
{
	const struct export_reader pass = {.trace = c->trace,
					   .tables = row_tables,
					   .nr_tables = ARRAY_SIZE(row_tables),
					   .record = take_record,
					   .arg = c,
					   .failed = &c->failed};
	int rc = begin(c, err);

	if (rc == 0)
		rc = export_reader_run(c->job, &pass, err);
	if (rc == 0)
		calls_end(c);
	if (rc == -ENOMEM && !err->code)
		error_set(err, rc, "out of memory");
	end(c);
	return rc;
}

/* Describes the traces, in the same order. */
static void put_traces(const struct export_job *job, struct json_writer *w,
		       const struct identity *ids, uint64_t start)
{
	json_put_text(json_key(w, "displayTimeUnit"), "ns");
	json_object(json_key(w, "otherData"));
	json_put_printf(json_key(w, "start_ns"), "\"%" PRIu64 "\"", start);
	json_array(json_key(w, "traces"));
	for (size_t i = 0; i < job->nr_traces; i++) {
		json_object(w);
		json_put_text(json_key(w, "host"), ids[i].host);
		json_put_text(json_key(w, "kernel"), ids[i].kernel);
		json_put_text(json_key(w, "clock"), ids[i].clock);
		json_put_bool(json_key(w, "wall"), ids[i].has_wall);
		json_end_object(w);
	}
	json_end_array(w);
	json_end_object(w);
}

/* Nanoseconds since 1970 do not fit into JavaScript's numbers. */
static int look_at_traces(const struct export_job *job, struct identity *ids, uint64_t *start,
			  struct spur_error *err)
{
	uint64_t first = UINT64_MAX;
	bool wall = false;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++) {
		rc = identity_make(&ids[i], job->traces[i], err);
		wall |= rc == 0 && ids[i].has_wall;
		first = rc == 0 && ids[i].first < first ? ids[i].first : first;
	}
	*start = wall ? first : 0;
	return rc;
}

static int write_all(const struct export_job *job, struct identity *ids, struct spur_error *err)
{
	uint64_t flows = 0, start = 0;
	uint32_t places = 0;
	struct json_writer w = {&job->out->buf};
	int rc = look_at_traces(job, ids, &start, err);

	json_object(&w);
	json_array(json_key(&w, "traceEvents"));
	for (size_t i = 0; rc == 0 && i < job->nr_traces; i++) {
		struct chrome c = {.job = job,
				   .trace = job->traces[i],
				   .out = job->out,
				   .index = (uint32_t)i,
				   .places = places,
				   .start = start,
				   .json = &w,
				   .flows = &flows};

		rc = write_trace(&c, err);
		places += c.trace->nr_buffers;
	}
	buf_putc(w.out, '\n');
	json_end_array(&w);
	json_newline(&w);
	if (rc == 0)
		put_traces(job, &w, ids, start);
	json_end_object(&w);
	buf_putc(w.out, '\n');
	return rc;
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct identity *ids = calloc(job->nr_traces + 1, sizeof(*ids));
	int rc = ids ? write_all(job, ids, err) : error_set(err, -ENOMEM, "out of memory");

	free(ids);
	return rc;
}

const struct export_format export_chrome = {
	.name = "chrome",
	.about = "JSON for chrome://tracing and what else reads trace events",
	.suffix = ".json",
	.kind = EXPORT_STREAM,
	.run = run,
};
