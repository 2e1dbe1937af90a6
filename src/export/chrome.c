// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chrome's trace event format: one JSON object, {"traceEvents": […]}, with an object for every
 * slice ("X"), moment ("i"), value of a counter ("C") and arrow ("s", "f"). Times are microseconds
 * with three decimals, so that nothing is lost.
 *
 * Slices are written when their rows are complete, not in the order of their starts; readers of the
 * format sort. Names are untrusted bytes; as JSON strings they are always valid.
 */
#include "export/chrome.h"

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
#include "export/reader.h"
#include "scan/identity.h"
#include "export/export.h"

#define KINDS_LIMIT  (64u << 20)
#define PLACES_LIMIT (64u << 20)
#define NAMES_LIMIT  (64u << 20)
#define NAME_LIMIT   65536
#define PIDS	     (1u << 22) /* more than a machine has; each trace gets so many */
#define CPU_PLACES   0x80000000u
#define RESPECTS     8
#define EXACT	     (1ll << 53) /* JavaScript's numbers are exact up to this */

/* ---- JSON ----------------------------------------------------------------------------- */

void chrome_time(struct json_writer *w, int64_t ns)
{
	const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	json_separate(w);
	if (ns < 0)
		buf_putc(w->out, '-');
	buf_u64(w->out, size / NS_PER_US);
	buf_putc(w->out, '.');
	buf_u64_pad(w->out, size % NS_PER_US, 3, '0');
}

void chrome_number(struct json_writer *w, int64_t v, bool is_signed)
{
	if (v >= -EXACT && v <= EXACT && (is_signed || v >= 0))
		json_put_i64(w, v);
	else if (is_signed)
		json_put_printf(w, "\"%" PRId64 "\"", v);
	else
		json_put_printf(w, "\"0x%" PRIx64 "\"", (uint64_t)v);
}

void chrome_begin(struct chrome *c, const char *name, size_t len, char phase, uint64_t ts,
		  uint64_t pid, uint64_t tid)
{
	struct json_writer *w = c->json;

	json_newline(w);
	json_object(w);
	json_put_bytes(json_key(w, "ph"), &phase, 1);
	json_put_bytes(json_key(w, "name"), name, len);
	chrome_time(json_key(w, "ts"), (int64_t)(ts - c->start));
	json_put_u64(json_key(w, "pid"), pid);
	json_put_u64(json_key(w, "tid"), tid);
}

void chrome_end(struct chrome *c)
{
	json_end_object(c->json);
	export_stream_flush_full(c->out);
	if (c->out->rc < 0)
		c->failed = c->out->rc;
}

void chrome_duration(struct chrome *c, int64_t dur)
{
	chrome_time(json_key(c->json, "dur"), dur > 0 ? dur : 0);
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
	struct buf text;

	buf_init(&text, NAME_LIMIT);
	buf_puts(&text, name);
	if (*buffer)
		buf_printf(&text, ", %s", buffer);
	if (c->job->nr_traces > 1)
		buf_printf(&text, " (%s)", file_name_of(c->trace->dat->path));
	put_name(c, "process_name", pid, 0, buf_str(&text));
	buf_free(&text);
}

static uint32_t buffer_index(const struct chrome *c, const char *buffer)
{
	uint32_t i = 0;

	while (i + 1 < c->trace->nr_buffers && strcmp(c->trace->buffers[i].data->name, buffer) != 0)
		i++;
	return i;
}

uint64_t chrome_place(struct chrome *c, enum cpu_place place, const char *buffer, uint32_t cpu)
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
uint64_t chrome_task(struct chrome *c, int64_t pid, const char *comm, enum respect respect,
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

static void bind_counter(struct chrome_kind *k, struct event *e)
{
	if (strcmp(e->system, "power") != 0 ||
	    (strcmp(e->name, "cpu_frequency") != 0 && strcmp(e->name, "cpu_idle") != 0))
		return;
	k->value = number_of(e, "state");
	k->cpu = number_of(e, "cpu_id");
	k->is_counter = k->value.size && k->cpu.size;
}

static struct chrome_kind *kind_of(struct chrome *c, struct event *e)
{
	struct chrome_kind *k = c->kinds[e->index];

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
	json_separate(w);
	buf_json_string(w->out, cell->name, strlen(cell->name));
	buf_putc(w->out, ':');
	w->comma = false;
	if (v->type == VALUE_TEXT)
		json_put_bytes(w, v->text, v->len);
	else
		chrome_number(w, v->number,
			      cell->kind != CELL_NUMBER || cell->field->flags & FIELD_SIGNED);
}

static void put_args(struct chrome *c, const struct chrome_kind *k, struct event *e,
		     const struct spur_record *r)
{
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	struct json_writer *w = c->json;

	json_object(json_key(w, "args"));
	json_put_u64(json_key(w, "cpu"), r->cpu);
	vec_each (cell, &k->cells) {
		struct cell_value v;

		if (!cell->field)
			continue;
		reader_get(&c->reader, cell, e, r, &v);
		if (v.type != VALUE_NULL)
			put_value(w, cell, &v);
	}
	if (*buffer)
		json_put_text(json_key(w, "buffer"), buffer);
	json_end_object(w);
}

static void put_moment(struct chrome *c, const struct chrome_kind *k, struct event *e,
		       const struct spur_record *r)
{
	const int pid = events_record_pid(c->trace->events, r);
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	uint64_t tid, process = chrome_task(c, pid, NULL, TASK_EVENTS, buffer, r->cpu, &tid);

	chrome_begin(c, e->name, strlen(e->name), 'i', r->ts, process, tid);
	json_put_text(json_key(c->json, "s"), "t");
	json_put_text(json_key(c->json, "cat"), e->system);
	put_args(c, k, e, r);
	chrome_end(c);
}

/* A counter is identified by its name and process. */
static void put_counter(struct chrome *c, const struct chrome_kind *k, struct event *e,
			const struct spur_record *r)
{
	const struct events *ev = c->trace->events;
	const uint32_t cpu = (uint32_t)number_get(ev, &k->cpu, r);
	const char *buffer = c->trace->buffers[r->buffer].data->name;
	char name[64];

	snprintf(name, sizeof(name), "%s of CPU %u", e->name, cpu);
	chrome_begin(c, name, strlen(name), 'C', r->ts, chrome_place(c, PLACE_CPUS, buffer, r->cpu),
		     r->cpu);
	json_object(json_key(c->json, "args"));
	/* 2^32 - 1 means "no state": the end of cpu_idle. */
	json_put_i64(json_key(c->json, "state"), (int32_t)number_get(ev, &k->value, r));
	json_end_object(c->json);
	chrome_end(c);
}

static void take_record(void *arg, struct event *e, const struct spur_record *r)
{
	struct chrome *c = arg;
	const struct chrome_kind *k = kind_of(c, e);

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
	slots_init(&c->lanes, chrome_lane_size, PLACES_LIMIT);
	intern_init(&c->texts, NAMES_LIMIT);
	c->kinds = calloc(c->trace->events->nr + 1, sizeof(struct chrome_kind *));
	return c->kinds ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static void end(struct chrome *c)
{
	for (size_t i = 0; c->kinds && i < c->trace->events->nr; i++)
		if (c->kinds[i])
			cells_free(&c->kinds[i]->cells);
	free(c->kinds);
	chrome_calls_free(c);
	intern_free(&c->texts);
	slots_free(&c->named);
	arena_free(&c->arena);
	reader_done(&c->reader);
}

static int write_trace(struct chrome *c, struct spur_error *err)
{
	const struct export_reader pass = {.trace = c->trace,
					   .tables = chrome_tables,
					   .nr_tables = chrome_nr_tables,
					   .record = take_record,
					   .arg = c,
					   .failed = &c->failed};
	int rc = begin(c, err);

	if (rc == 0)
		rc = export_reader_run(c->job, &pass, err);
	if (rc == 0)
		chrome_calls_end(c);
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
