/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the analyses of scheduling share: the events' fields, names of tasks, tasks by pid, and
 * CPUs. For rows alone use sched.h.
 */
#ifndef TABLE_SCHED_EVENTS_H
#define TABLE_SCHED_EVENTS_H

#include <string.h>

#include "base/intern.h"
#include "base/list.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/names.h"
#include "table/sched.h"

#define NO_TIME UINT64_MAX

/* ---- events ---- */

enum sched_kind {
	ON_OTHER, /* none of them */
	ON_SWITCH,
	ON_WAKING,
	ON_WAKEUP,
	ON_WAKEUP_NEW,
	ON_MIGRATE,
	ON_FORK,
	ON_EXEC,
	ON_EXIT,
	ON_FREE,
	ON_RENAME,
	ON_BLOCKED,
	NR_KINDS,
};

/* Fields, by kind of event. The first ones of each are pids; an event without them is ignored. */
enum { PREV_PID, NEXT_PID, PREV_STATE, PREV_PRIO, NEXT_PRIO };
enum { WAKE_PID, WAKE_PRIO, WAKE_CPU, WAKE_SUCCESS };
enum { MIGRATE_PID, MIGRATE_CPU };
enum { FORK_PARENT, FORK_CHILD };
enum { TASK_PID };
enum { BLOCKED_PID, BLOCKED_CALLER, BLOCKED_IO };
enum { PREV_COMM, NEXT_COMM };
enum { TASK_COMM };

#define SCHED_NUMBERS 5
#define SCHED_TEXTS   2

struct sched_number {
	uint32_t offset;
	uint32_t size; /* 0: there is no such field */
};

struct sched_type {
	uint32_t size; /* that a record must have for its numbers; shorter records are ignored */
	struct sched_number num[SCHED_NUMBERS];
	const struct event_field *text[SCHED_TEXTS]; /* or NULL */
};

/* The size of a name in the kernel; unused bytes are zero. */
#define COMM_SIZE   16
#define RECENT_BITS 6

struct comm {
	uint64_t word[COMM_SIZE / 8];
};

/* A name with its text, which is looked up only if the bytes differ from the last ones. */
struct name {
	struct comm comm;
	const char *text; /* NULL: not known */
};

/* The file says that from then on a pid belongs to another task than since `before`. */
struct reuse {
	int32_t pid;
	uint64_t ts, before;
};

struct sched_events {
	const struct spur_trace *trace;
	struct events *events;
	uint8_t *kinds; /* enum sched_kind by the event's index */
	size_t nr;
	struct sched_type types[NR_KINDS];
	bool bound[NR_KINDS]; /* whether there is such an event with the fields it needs */
	struct task_states states;
	const char *state_texts[NR_TASK_STATES + 1]
			       [2]; /* by bit + 1, 0 for no bit; preempted or not */
	struct intern names;
	struct name recent
		[1
		 << RECENT_BITS]; /* the last ones that were looked up, by a hash of their bytes */
	int *failed;		  /* set if there is no memory */
	vec_of(struct reuse) reused; /* by pid, then by time */
};

int sched_events_init(struct sched_events *s, const struct table_source *src);
void sched_events_free(struct sched_events *s);

static inline enum sched_kind sched_kind_of(const struct sched_events *s, const struct event *e,
					    const struct spur_record *r)
{
	const enum sched_kind kind =
		e->index < s->nr ? (enum sched_kind)s->kinds[e->index] : ON_OTHER;

	return r->size >= s->types[kind].size ? kind : ON_OTHER;
}

static inline bool sched_has(const struct sched_type *t, unsigned int number)
{
	return t->num[number].size != 0;
}

/* A field, with its sign; 0 when there is none. */
static inline int64_t sched_number(const struct sched_events *s, const struct sched_type *t,
				   unsigned int number, const struct spur_record *r)
{
	const struct sched_number *n = &t->num[number];

	return record_int(s->events, r, n->offset, n->size);
}

static inline int32_t sched_pid(const struct sched_events *s, const struct sched_type *t,
				unsigned int number, const struct spur_record *r)
{
	return (int32_t)sched_number(s, t, number, r);
}

/* A number for a row: ROW_NULL when the event has no such field. */
static inline int64_t sched_value(const struct sched_events *s, const struct sched_type *t,
				  unsigned int number, const struct spur_record *r)
{
	return sched_has(t, number) ? sched_number(s, t, number, r) : ROW_NULL;
}

static inline bool name_is(const struct name *name, const struct comm *c)
{
	return name->text && c->word[0] == name->comm.word[0] && c->word[1] == name->comm.word[1];
}

/* The cache entry of a name. */
static inline struct name *recent_name(struct sched_events *s, const struct comm *c)
{
	const uint64_t hash = (c->word[0] ^ c->word[1] << 1) * 0x9e3779b97f4a7c15u;

	return &s->recent[hash >> (64 - RECENT_BITS)];
}

/* Sets a task's name from a text field. Does nothing if there is no such field. */
void sched_name_slow(struct sched_events *s, const struct event_field *f,
		     const struct spur_record *r, struct name *name);

static inline void sched_name(struct sched_events *s, const struct sched_type *t, unsigned int text,
			      const struct spur_record *r, struct name *name)
{
	const struct event_field *f = t->text[text];
	const struct name *recent;
	struct comm c;

	/* Nearly always it is the name that the task had before, or that another task has. */
	if (f && f->size == COMM_SIZE && f->offset <= r->size && r->size - f->offset >= COMM_SIZE) {
		memcpy(&c, r->data + f->offset, sizeof(c));
		if (name_is(name, &c))
			return;
		recent = recent_name(s, &c);
		if (name_is(recent, &c)) {
			*name = *recent;
			return;
		}
	}
	sched_name_slow(s, f, r, name);
}

/*
 * The task's name by the file: the one at that time if the file says it, else the one at the end of
 * the recording. Does nothing if the file does not name the task.
 */
void sched_name_listed(struct sched_events *s, int32_t pid, uint64_t ts, struct name *name);

/*
 * When, by the file, the pid of a task that is seen at `ts` belongs to another task: NO_TIME if it
 * does not say so. `born`: the task began to live then; the file may have a slightly later time.
 */
uint64_t sched_reused_at(const struct sched_events *s, int32_t pid, uint64_t ts, bool born);

/* The idle task's name; if no event had it, the one that the kernel always gives it. */
const char *sched_name_idle(struct sched_events *s, uint32_t cpu, struct name *name);

/* The name of a program that a task executes now. */
void sched_name_exec(struct sched_events *s, const struct spur_record *r, struct name *name);

/* The state of the task that sched_switch takes off a CPU: "S", "D|K", "R+"; NULL: not known. */
const char *sched_state_text(struct sched_events *s, const struct spur_record *r);

/* What the task that sched_switch takes off a CPU does from then on. */
enum run_state sched_left_in(const struct sched_events *s, const struct spur_record *r);

/* Whether it was preempted; states.preempted says whether the kernel records that. */
bool sched_was_preempted(const struct sched_events *s, const struct spur_record *r);

/* Whether the record was written in an interrupt, which has nothing to do with the task. */
bool sched_in_interrupt(const struct sched_events *s, const struct spur_record *r);

/* ---- tasks by pid ---- */

/*
 * The tasks of an analysis, in structs of the analysis's own type. The memory of a removed task is
 * used again. The number of tasks is limited.
 */
struct task_set {
	struct map by_key;
	uint64_t odd; /* a key is a pid times this: a file cannot choose its slot */
	struct arena arena;
	size_t task_size;
	void *unused;
	/* The task that was found last: most events are of the same task as the previous event. */
	void *last;
	int32_t last_pid;
};

#define MAX_TASKS (1u << 18)

void task_set_init(struct task_set *s, size_t task_size);
void task_set_free(struct task_set *s);

static inline void *task_set_find(struct task_set *s, int32_t pid)
{
	void *task;

	if (s->last && s->last_pid == pid)
		return s->last;
	task = map_get(&s->by_key, (uint32_t)pid * s->odd);
	if (task) {
		s->last = task;
		s->last_pid = pid;
	}
	return task;
}

/* A zeroed task for a pid that has none; NULL, and *failed set, if there are too many. */
void *task_set_add(struct task_set *s, int32_t pid, int *failed);
void task_set_remove(struct task_set *s, int32_t pid);

/* ---- CPUs ---- */

/* How many CPUs records of the buffer and their fields can name; larger numbers are wrong. */
uint32_t sched_nr_cpus(const struct trace_buffer *b);

/*
 * Whether all switches from and to a task were recorded: there was no filter, it was not hidden,
 * and if only some tasks were recorded, it is one of them. No task has pid -1.
 */
bool sched_all_switches_slow(const struct table_source *src, int32_t pid);

static inline bool sched_all_switches(const struct table_source *src, int32_t pid)
{
	const struct dat *d = src->trace->dat;

	/* Nearly always only the recorder's own tasks are hidden, and nothing else is missing. */
	if (!d->followed.is && !d->filters.nr && !(d->hidden.bits & dat_pid_bit(pid)))
		return true;
	return sched_all_switches_slow(src, pid);
}

/* Whether there may be tasks of which that is not true. */
bool sched_some_missing(const struct table_source *src);

#endif
