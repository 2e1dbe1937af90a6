/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A lane: the records of one CPU in one buffer, in the order they were written.
 *
 * A lane that has been opened stands before its first record; after lane_next() returned true,
 * `rec` is the record it stands on, valid until the lane moves again.
 */
#ifndef SCAN_LANE_H
#define SCAN_LANE_H

#include "scan/trace.h"

/* A place in a lane: before the record that starts at `pos` of page `page`. */
struct lane_pos {
	uint64_t page;
	uint32_t pos;
	int64_t lost; /* before that record: pages without records, too, tell of losses */
};

/*
 * Records that a lane skips: those of event types that are not wanted. For most of a trace this is
 * all that a filter costs.
 */
struct lane_filter {
	uint64_t *wanted; /* a bit per event id below nr_ids; ids beyond are wanted */
	uint32_t nr_ids;
	uint32_t type_offset, type_size;
	bool big_endian;
	bool usual; /* records begin with struct usual_head */
};

/* A filter that wants no event the registry knows, before it is told. */
int lane_filter_init(struct lane_filter *f, const struct events *ev);
void lane_filter_want(struct lane_filter *f, const struct event *e);
void lane_filter_free(struct lane_filter *f);

/*
 * What a record says about who runs: the task that wrote it ran on its CPU at that moment, and
 * after a sched_switch the next task does. A lane with a watch compares this with what the records
 * before it said, also while it passes over records. In a complete trace they agree, and it costs a
 * comparison a record.
 */
struct lane_watch {
	uint32_t type_offset, type_size;
	uint32_t pid_offset; /* common_pid, 4 bytes as the others */
	bool big_endian;
	bool usual; /* records begin with struct usual_head */
	bool has_flags;
	uint32_t flags_offset; /* common_flags, a byte */
	uint64_t switch_id;    /* of sched_switch, LANE_NO_ID: none; the next three are its */
	uint32_t prev_offset, next_offset;
	uint32_t switch_size;	/* the least that has both */
	uint64_t accounting_id; /* of sched_stat_runtime, LANE_NO_ID: none */
	/*
	 * Whether all switches of a task were recorded. It is asked for tasks whose number has its
	 * bit in `unsure`, see dat_pid_bit(); of others they were.
	 */
	bool (*follows)(void *arg, int32_t pid);
	void *follows_arg;
	uint64_t unsure;
	/* Any switch may be missing: one says who ran then, other records say nothing. */
	bool filtered;
	/* Other lanes tell of the same CPU: every record is shown, and `changes`. */
	bool shared;
};

static inline bool lane_follows(const struct lane_watch *w, int32_t pid)
{
	return !(w->unsure & dat_pid_bit(pid)) || w->follows(w->follows_arg, pid);
}

/*
 * Whether the task that was just switched away from wrote a record before it had left the CPU: the
 * kernel writes such records with interrupts off and outside of any.
 */
bool lane_rest_of_switch(const struct lane_watch *w, uint64_t type, const uint8_t *data,
			 uint32_t size);

#define LANE_PAGES     8 /* a lane with a watch passes over the records of at most so many pages */
#define LANE_NO_ID     UINT64_MAX
#define LANE_NO_PROOF  UINT64_MAX
#define LANE_UNSETTLED INT64_MIN

/* Who runs on a lane's CPU. */
struct lane_runner {
	bool known;
	int32_t pid;
};

struct lane {
	struct spur_record rec;
	const struct lane_filter *filter; /* NULL: every record is wanted */
	bool borders; /* the last record before a loss and the first behind it are shown anyway */
	bool border;  /* rec is such a one that is not wanted; of the one before, only the time */
	const volatile int *stop; /* the lane ends when it becomes non-zero; may be NULL */
	uint64_t until;		  /* pages that begin after this time are not read; 0: all are */
	/* Is called before records that the lane has shown go with their page; may be NULL. */
	void (*leaving)(void *arg);
	void *leaving_arg;
	const struct trace_buffer *buffer;
	const struct dat_cpu *cpu;
	struct dat_pages *pages;
	uint64_t page_index; /* of the page that is open */
	uint64_t page_offset;
	uint32_t page_bytes;
	uint64_t nr_pages; /* an upper bound */
	struct ring_page page;
	uint64_t rec_page;  /* the page that rec is on */
	uint32_t rec_pos;   /* where its header starts in it */
	bool open;	    /* a page is open */
	bool ended;	    /* there is no further record */
	bool fresh;	    /* no record of the open page has been returned yet */
	bool passed;	    /* the filter has passed over records just before rec, … */
	uint64_t passed_ts; /* … the last of them at this time of the page's */
	bool gap;	    /* records were lost since the one before rec, passed over or not */
	uint64_t gap_from; /* when: the time of the record shown before it, 0: there was none; … */
	uint64_t gap_end;  /* … and that of the first record behind the last such loss */
	uint32_t index;	   /* order among lanes with equal times */
	int64_t pending;   /* lost before what may still come: pages at the end told of it */

	/* Only with a watch. */
	const struct lane_watch *watch;
	bool wrote;   /* rec says who wrote it: */
	int32_t pid;  /* this task, … */
	bool other;   /* … which is not the one that ran after the record before rec */
	bool changes; /* rec is `other`, or announced, or another task runs after it */
	struct lane_runner runner; /* after rec */
	int64_t settled;	   /* its pid once it has written something itself */
	bool switched;		   /* the last proof was a switch, … */
	int32_t left;		   /* … away from this task */
	bool announce;	/* the next record that says who wrote it `changes`, whoever that is */
	uint64_t proof; /* the page's time of the last record that proves who runs, up to rec … */
	uint64_t before;       /* … and before it, or LANE_NO_PROOF */
	struct lane_pos shown; /* the record shown before rec, if some were passed over since */
	uint32_t pages_passed; /* that ended between that one and rec */
};

int lane_open(struct lane *l, const struct trace_buffer *b, const struct dat_cpu *cpu);
void lane_close(struct lane *l);

bool lane_next(struct lane *l);

/*
 * For a lane that is still being written: goes on when it has ended and there is more by now.
 * Whether it stands on a record.
 */
bool lane_resume(struct lane *l);

/* When a lane that has ended had its last record, wanted or not; 0: that is not known. */
uint64_t lane_end(const struct lane *l);

/*
 * Who runs on the CPU is not known from `ts` on: the first record at or after it is `other`. The
 * lane goes back to it if it has passed over it.
 */
void lane_doubt_runner(struct lane *l, uint64_t ts);

/* Nothing is known of who runs: the lane will be moved. */
void lane_forget_runner(struct lane *l);

/* The time of the last record before rec that proves who runs; 0: there is none. */
static inline uint64_t lane_proof(const struct lane *l)
{
	return l->before == LANE_NO_PROOF ? 0
					  : trace_time(&l->buffer->time, l->before, l->cpu->cpu);
}

/* From now on only what the filter wants, beginning with the record the lane stands on. */
void lane_set_filter(struct lane *l, const struct lane_filter *filter);

/* The same, but the record it stands on is shown anyway, as a border. */
void lane_filter_from(struct lane *l, const struct lane_filter *filter);

/* Where the lane stands, so that another lane of the same CPU can go on with the same record. */
struct lane_pos lane_tell(const struct lane *l);

/* Makes the record at that place (or the first one behind it) the next one. */
void lane_seek(struct lane *l, struct lane_pos pos);

/*
 * Moves to the last page that starts before `ts`, so that what follows contains every record at or
 * after it, unless the lane's times run backwards. `hint` is a page near which the answer is
 * expected.
 */
void lane_seek_time(struct lane *l, uint64_t ts, uint64_t hint);
/* The same, to where the last record before `ts` is: it tells since when events were lost. */
void lane_seek_before(struct lane *l, uint64_t ts, uint64_t hint);

/* The time at which a page begins; false when there is no such page or nothing on it. */
bool lane_page_time(struct lane *l, uint64_t page, uint64_t *ts);

#endif
