/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A scan: all readers of records use it. It merges the lanes of some buffers by time and returns
 * the records of a range of time.
 *
 * The next record is always the earliest of those the lanes stand on; of equally early ones, that
 * of the lane added first. A lane whose times run backwards therefore keeps its own order.
 *
 *	scan_init(), scan_add_trace() or scan_add_buffer(), scan_next() until it returns NULL,
 *	scan_free(), also after a failure.
 */
#ifndef SCAN_SCAN_H
#define SCAN_SCAN_H

#include "base/buf.h"
#include "scan/lane.h"

struct scan_options {
	uint64_t since; /* earlier records are skipped; 0: none are */
	bool has_until;
	uint64_t until;			  /* the scan ends before the first record that is later */
	const uint64_t *cpus;		  /* a bit per CPU that is read; NULL: all CPUs */
	uint32_t nr_cpus;		  /* bits in it */
	const struct lane_filter *filter; /* of all lanes; NULL: every record is wanted */
	const volatile int *stop;	  /* the scan ends when it becomes non-zero; may be NULL */

	/* Called now and then with how much has been read; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

/* A lane that stands on a record, and the record's time. */
struct scan_entry {
	uint64_t ts;
	uint32_t lane;
};

struct scan {
	struct scan_options opt;
	struct lane *lanes;
	uint32_t nr, cap;
	struct scan_entry *heap; /* earliest first */
	uint32_t nr_heap;
	bool started;
	uint64_t read; /* records so far */
	struct lane
		*current; /* whose record was returned last; moved and sorted at the next call */
	bool left;	  /* its lane had to move on; the record is copied here: */
	struct spur_record record;
	struct buf saved; /* its bytes */
};

/* `opt` is copied; NULL: every record of every CPU. */
void scan_init(struct scan *s, const struct scan_options *opt);
void scan_free(struct scan *s);

/* Adds a lane for every wanted CPU of the buffer that has data; of all buffers of a trace. */
int scan_add_buffer(struct scan *s, const struct trace_buffer *b);
int scan_add_trace(struct scan *s, const struct spur_trace *t);

/* Whether a CPU is to be read. An unknown one (negative) is read only if all are. */
bool scan_asks_cpu(const struct scan_options *o, int64_t cpu);

/*
 * The next record of the range, or NULL at its end or after a stop. It stays valid until the next
 * call. The first call starts the scan.
 */
const struct spur_record *scan_next(struct scan *s);

/* Whether the caller has stopped the scan. */
static inline bool scan_stopped(const struct scan *s)
{
	return s->opt.stop && __atomic_load_n(s->opt.stop, __ATOMIC_RELAXED);
}

/* Which buffer the record returned last comes from. */
static inline const struct trace_buffer *scan_buffer(const struct scan *s)
{
	return s->current->buffer;
}

/* The next record of the same buffer, without moving to it. That of scan_next() stays valid. */
const struct spur_record *scan_peek(struct scan *s);

/* Lets a printer look ahead in this way, and skip the next record. */
void scan_look_ahead(struct scan *s, struct event_printer *p);

/* Calls the caller's progress(). */
void scan_progress(const struct scan *s);

/* ---- for readers that move the lanes themselves ---- */

/* Moves every lane to the page before its first record at or after a time. */
void scan_seek(struct scan *s, uint64_t ts);

/* Moves every lane to its next record: its first one, unless lane_seek() has moved it. */
void scan_start(struct scan *s);

/* Sorts the lanes again after the caller has moved them; each stands on a record or has ended. */
void scan_restart(struct scan *s);

/* Restores the order after a lane other than the current one has gone back to an earlier record. */
void scan_went_back(struct scan *s, uint32_t lane);

/* The lane whose record comes next, or NULL at the end. */
const struct lane *scan_first(struct scan *s);

/*
 * Moves on and returns the lane with the next record, or NULL at the end; the range is ignored. The
 * lane stands on the record until the next call; scan_peek() must not be called.
 */
const struct lane *scan_step(struct scan *s);

#endif
