// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What analyses share: numbers of records, memory by key, where a trace begins, names of tasks.
 *
 * Events that rename tasks are read in advance, in order of time. So a name does not depend on
 * where reading starts.
 */
#include "table/analysis.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/walk.h"
#include "base/array.h"
#include "base/vec.h"
#include "event/names.h"

#define COMM_BYTES  16 /* of a name in the kernel, with its NUL */
#define NAMES_LIMIT (16u << 20)
#define MAX_RENAMES (1u << 20)

struct number number_find(struct event *e, const char *const *names)
{
	for (; *names; names++) {
		const struct event_field *f = event_field_find(e, *names);

		if (f && !(f->flags & (FIELD_ARRAY | FIELD_DYNAMIC | FIELD_STRING)) &&
		    (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8))
			return (struct number){f->offset, (uint8_t)f->size,
					       f->flags & FIELD_SIGNED};
	}
	return (struct number){0};
}

const char *record_text(const struct events *ev, const struct event_field *f,
			const struct spur_record *r, size_t *len)
{
	const char *text = f ? (const char *)field_bytes(ev, f, r, len) : NULL;

	if (text)
		*len = strnlen(text, *len);
	return text;
}

/* ---- where a trace begins ---- */

uint64_t cpu_start(const struct trace_buffer *b, const struct dat_cpu *cpu)
{
	uint64_t ts = UINT64_MAX;
	struct lane l;

	if ((cpu->size || cpu->feed) && lane_open(&l, b, cpu) == 0) {
		if (!lane_page_time(&l, 0, &ts))
			ts = UINT64_MAX;
		lane_close(&l);
	}
	return ts;
}

uint64_t buffer_start(const struct trace_buffer *b)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; !b->data->text && i < b->data->nr_cpus; i++) {
		const uint64_t ts = cpu_start(b, &b->data->cpus[i]);

		first = ts < first ? ts : first;
	}
	return first;
}

/* ---- names of tasks ---- */

struct renaming {
	uint64_t ts;
	const char *name;
};

struct renamed {
	const char *before;	       /* its name before the first renaming */
	vec_of(struct renaming) times; /* by increasing time */
	struct renamed *next;
};

struct comm_times {
	const struct spur_trace *trace;
	const struct comms *comms;
	struct slots tasks; /* struct renamed by pid */
	struct renamed *all;
	size_t nr; /* of renamings */
	struct intern names;
	/* The last name that was found in the trace's list, or NULL. */
	int last_pid;
	const char *last;
	struct task_places told;
};

/* The fields of task_rename. */
struct rename_fields {
	struct number pid;
	const struct event_field *before, *after;
};

static void note(struct comm_times *c, const struct events *ev, const struct rename_fields *f,
		 const struct spur_record *r)
{
	const int pid =
		number_in(&f->pid, r) ? (int)number_get(ev, &f->pid, r) : events_record_pid(ev, r);
	size_t before_len = 0, after_len = 0;
	const char *before = record_text(ev, f->before, r, &before_len);
	const char *after = record_text(ev, f->after, r, &after_len);
	struct renamed *task = after ? slots_get(&c->tasks, (uint32_t)pid) : NULL;
	struct renaming *to = task && c->nr < MAX_RENAMES ? vec_push(&task->times) : NULL;

	if (!to)
		return;
	c->nr++;
	if (task->times.n == 1) {
		task->before = before ? intern_text(&c->names, before, before_len) : NULL;
		task->next = c->all;
		c->all = task;
	}
	*to = (struct renaming){r->ts, intern_text(&c->names, after, after_len)};
}

static void read_renames(struct comm_times *c, struct spur_trace *t, struct event *e,
			 const volatile int *stop)
{
	const struct rename_fields f = {.pid = number_of(e, "pid"),
					.before = event_field_find(e, "oldcomm"),
					.after = event_field_find(e, "newcomm")};
	const struct walk_options all = {.stop = stop};
	const struct spur_record *r;
	struct walk w;

	if (walk_open(&w, t, &all, NULL) == 0) {
		walk_want(&w, e);
		while ((r = walk_next(&w)) != NULL)
			if (events_of_record(t->events, r) == e)
				note(c, t->events, &f, r);
	}
	walk_close(&w);
}

const char *comm_given(const struct events *ev, struct event *e, const struct spur_record *r,
		       int64_t *pid, size_t *len)
{
	const struct event_field *f = event_field_find(e, "newcomm");
	const struct number task = number_of(e, "pid");
	const char *text = record_text(ev, f ? f : event_field_find(e, "filename"), r, len), *base;

	if (!text || !*len || !number_in(&task, r))
		return NULL;
	*pid = number_get(ev, &task, r);
	if (f)
		return text;
	/* The kernel uses the last part of the path, cut to the size of a name. */
	base = memrchr(text, '/', *len);
	base = base ? base + 1 : text;
	*len -= (size_t)(base - text);
	*len = *len < COMM_BYTES ? *len : COMM_BYTES - 1;
	return base;
}

struct comm_times *comm_times_new(struct spur_trace *t, const volatile int *stop)
{
	struct comm_times *c = calloc(1, sizeof(*c));
	struct event *e = events_find(t->events, "task", "task_rename");

	if (!c)
		return NULL;
	c->trace = t;
	c->comms = t->events->comms;
	intern_init(&c->names, NAMES_LIMIT);
	slots_init(&c->tasks, sizeof(struct renamed), NAMES_LIMIT);
	if (e && t->dat && event_ready(e) != EVENT_BROKEN)
		read_renames(c, t, e, stop);
	return c;
}

int comm_times_for(const struct table_source *src, struct comm_times **c)
{
	*c = NULL;
	if (src->brief || src->nameless)
		return 0;
	*c = comm_times_new(src->trace, src->stop);
	return *c ? 0 : -ENOMEM;
}

void comm_times_free(struct comm_times *c)
{
	if (!c)
		return;
	for (struct renamed *task = c->all; task; task = task->next)
		vec_free(&task->times);
	slots_free(&c->tasks);
	intern_free(&c->names);
	free(c);
}

/* How many times a task was renamed up to a time. */
static size_t renamed_until(const struct renamed *task, uint64_t ts)
{
	size_t n;

	binary_search(n, 0, task->times.n, task->times.at[n].ts <= ts);
	return n;
}

static const char *listed(struct comm_times *c, int pid)
{
	size_t len;

	if (!c->last || c->last_pid != pid) {
		c->last = pid == 0 || comms_known(c->comms, pid) ? comms_find(c->comms, pid, &len)
								 : NULL;
		c->last_pid = pid;
	}
	return c->last;
}

/* The name by the latest of both: the recorded events, and what the file says about tasks. */
static const char *renamed_at(const struct comm_times *c, const struct renamed *task,
			      const struct dat_task *told, uint64_t ts)
{
	const size_t n = renamed_until(task, ts);

	if (told && (!n || task->times.at[n - 1].ts < trace_task_time(c->trace, told)))
		return told->name;
	return n ? task->times.at[n - 1].name : task->before;
}

const char *comm_at(struct comm_times *c, int pid, uint64_t ts)
{
	const struct renamed *task = c && c->all ? slots_find(&c->tasks, (uint32_t)pid) : NULL;
	const struct dat_task *told = c ? trace_task_named(c->trace, &c->told, pid, ts) : NULL;

	if (!c)
		return NULL;
	if (task)
		return renamed_at(c, task, told, ts);
	return told ? told->name : listed(c, pid);
}
