/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of a CPU as ticks, which are read from the trace when they are needed.
 *
 * The time of a record is that of the one before it if its own is earlier: a CPU's times never run
 * backwards here. Every few pages, a place is noted at which reading may begin.
 *
 * Private to src/view.
 */
#ifndef VIEW_INDEX_TICKS_H
#define VIEW_INDEX_TICKS_H

#include <pthread.h>

#include "base/vec.h"
#include "scan/lane.h"
#include "view/index/index.h"

#define TICKS_PAGES 2 /* between two places where reading may begin */

/*
 * Event types. They are numbered in the order of their first records. So numbers are small, because
 * few of the described types have records. The last number means "not described".
 */
struct event_types {
	uint32_t nr;	  /* that the trace describes */
	uint32_t *number; /* by the index in the registry; 0: none, it has not turned up */
	uint32_t *events; /* the index, by the number less 1 */
	uint32_t *class;  /* a bit for the class, by the index */
	uint32_t *masks;  /* the same by the number less 1, … */
	uint64_t *counts; /* … and how many records there are */
	uint32_t n;	  /* numbers that have been given */
};

int types_init(struct event_types *t, const struct events *ev);
void types_free(struct event_types *t);

/* The index of the type with a number, UINT32_MAX: not described. */
static inline uint32_t types_event(const struct event_types *t, uint64_t number)
{
	const uint32_t event =
		number < __atomic_load_n(&t->n, __ATOMIC_ACQUIRE) ? t->events[number] : t->nr;

	return event < t->nr ? event : UINT32_MAX;
}

static inline uint32_t types_mask(const struct event_types *t, uint32_t event)
{
	return t->class[event < t->nr ? event : t->nr];
}

/* How many records there are of a type, by its index; the caller keeps the counting thread out. */
static inline uint64_t types_count(const struct event_types *t, uint32_t event)
{
	const uint32_t number =
		event <= t->nr ? __atomic_load_n(&t->number[event], __ATOMIC_RELAXED) : 0;

	return number ? t->counts[number - 1] : 0;
}

/* The number of a type by its index, less 1; given by one thread. */
static inline uint32_t types_number(struct event_types *t, uint32_t event)
{
	if (__builtin_expect(!t->number[event], 0)) {
		t->events[t->n] = event;
		t->masks[t->n] = t->class[event];
		__atomic_store_n(&t->number[event], t->n + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&t->n, t->n + 1, __ATOMIC_RELEASE);
	}
	return t->number[event] - 1;
}

/* All records of the lane before the page have times up to this one. */
struct ticks_place {
	uint64_t page;
	uint64_t before;
};

struct ticks {
	const struct trace_buffer *buffer;
	const struct dat_cpu *cpu;
	uint64_t origin;
	vec_of(struct ticks_place) places; /* guarded by the builder of the track */
	pthread_mutex_t lock;		   /* guards the readers that are not in use */
	struct ticks_reader *idle;
};

struct ticks_reader {
	struct lane lane;
	struct ticks *ticks;
	uint64_t time; /* of the record before */
	struct ticks_reader *next;
};

struct ticks *ticks_new(const struct trace_buffer *b, const struct dat_cpu *cpu);
void ticks_free(struct ticks *t);

/* NULL without memory. */
struct ticks_reader *ticks_open(struct ticks *t);
void ticks_close(struct ticks *t, struct ticks_reader *r);

/* The next one will be the first at or after a time, or one not far before it. */
void ticks_seek(struct ticks_reader *r, uint64_t ts);
/* Its value is the index of its type, UINT32_MAX: not described. */
bool ticks_next(struct ticks_reader *r, struct view_interval *out);

/* Whether there is much to read between two times. */
bool ticks_far(const struct ticks *t, uint64_t since, uint64_t until);

/* A time from which on reading gives at least one tick before this one, or 0. */
uint64_t ticks_before(const struct ticks *t, uint64_t ts);

/* The time of a record in an index. */
static inline uint64_t ticks_time(uint64_t ts, uint64_t origin, uint64_t before)
{
	const uint64_t rel = ts > origin ? ts - origin : 0;

	if (rel < before)
		return before;
	return rel < 1ull << 62 ? rel : 1ull << 62;
}

#endif
