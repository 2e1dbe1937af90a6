/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What analyses share: numbers of records, states by task or CPU, losses, and the names of tasks at
 * a time.
 */
#ifndef TABLE_ANALYSIS_H
#define TABLE_ANALYSIS_H

#include "table/table.h"
#include "base/slots.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"

/* ---- numbers ---- */

/* Where a number lies in the records of an event; size 0: nowhere. */
struct number {
	uint32_t offset;
	uint8_t size;
	bool is_signed;
};

/* The first of these fields (up to a NULL) that is a number. */
struct number number_find(struct event *e, const char *const *names);

static inline struct number number_of(struct event *e, const char *name)
{
	return number_find(e, (const char *const[]){name, NULL});
}

static inline bool number_in(const struct number *n, const struct spur_record *r)
{
	return n->size && n->offset <= r->size && n->size <= r->size - n->offset;
}

/* 0 if the record is too short for it. */
static inline int64_t number_get(const struct events *ev, const struct number *n,
				 const struct spur_record *r)
{
	return n->is_signed ? record_int(ev, r, n->offset, n->size)
			    : (int64_t)record_uint(ev, r, n->offset, n->size);
}

/* A text field's bytes up to its NUL; NULL when there are none. */
const char *record_text(const struct events *ev, const struct event_field *f,
			const struct spur_record *r, size_t *len);

/* ---- keys ---- */

/* A key for every task. The idle tasks all have pid 0, so their keys contain the CPU. */
static inline uint64_t task_key(int pid, uint32_t cpu)
{
	return pid ? (uint64_t)(uint32_t)pid : 1ull << 32 | cpu;
}

/* ---- where a trace begins ---- */

/* The time of the first record of a CPU, UINT64_MAX if it has none; and of all CPUs. */
uint64_t cpu_start(const struct trace_buffer *b, const struct dat_cpu *cpu);
uint64_t buffer_start(const struct trace_buffer *b);

/* ---- losses ---- */

/*
 * Losses of a buffer's CPUs, as passed to a table's losing(). What happens during a loss is
 * uncertain, also for tasks on other CPUs: a task may have been on the CPU that lost events in the
 * meantime.
 */
struct losses {
	uint64_t until; /* the last one's end so far */
	uint32_t n;
};

/* In so short a time (ns) a task cannot have moved to another CPU, slept and come back. */
#define SHORT_STAY 3000

static inline void losses_add(struct losses *l, uint64_t to)
{
	l->until = to > l->until ? to : l->until;
	l->n++;
}

/* Whether there was a loss since a time at which the number of losses was n. */
static inline bool losses_since(const struct losses *l, uint64_t ts, uint32_t n)
{
	return l->n != n || ts < l->until;
}

/* ---- names of tasks ---- */

/*
 * The name of a task at a time. If task_rename was not recorded and the file does not describe its
 * tasks, it is the name at the trace's end. The events are read in advance, so that a name does not
 * depend on where reading starts.
 */
struct comm_times;

/* NULL without memory. Reading ends when *stop becomes non-zero; it may be NULL. */
struct comm_times *comm_times_new(struct spur_trace *t, const volatile int *stop);
void comm_times_free(struct comm_times *c);

/* The same for an analysis; *c is NULL when its names are not read. */
int comm_times_for(const struct table_source *src, struct comm_times **c);

/*
 * The name that a record of task_rename or sched_process_exec gives to a task, *len bytes of the
 * record, or NULL.
 */
const char *comm_given(const struct events *ev, struct event *e, const struct spur_record *r,
		       int64_t *pid, size_t *len);

/* Valid as long as the trace and `c`. NULL if the trace does not name the task, or `c` is NULL. */
const char *comm_at(struct comm_times *c, int pid, uint64_t ts);

#endif
