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
	int64_t lost; /* before that record: pages without records report losses, too */
};

/*
 * The event types of which a lane skips the records. For most records, checking this is the only
 * cost of a filter.
 */
struct lane_filter {
	uint64_t *wanted; /* a bit per event id below nr_ids; ids beyond are wanted */
	uint32_t nr_ids;
	uint32_t type_offset, type_size;
	bool big_endian;
	bool usual; /* records begin with struct usual_head */
};

/* Makes a filter that at first wants no event of the registry. */
int lane_filter_init(struct lane_filter *f, const struct events *ev);
void lane_filter_want(struct lane_filter *f, const struct event *e);
void lane_filter_free(struct lane_filter *f);

/*
 * What a record says about who runs: the task that wrote it ran on its CPU at that moment, and
 * after a sched_switch the next task does. A lane with a watch compares this with what the records
 * before it said, also for records that it skips. In a complete trace they agree, at the cost of
 * one comparison a record.
 */
struct lane_watch {
	uint32_t type_offset, type_size;
	uint32_t pid_offset; /* common_pid, which has 4 bytes, as the other pids */
	bool big_endian;
	bool usual; /* records begin with struct usual_head */
	bool has_flags;
	uint32_t flags_offset; /* common_flags, a byte */
	uint64_t switch_id;    /* of sched_switch, or LANE_NO_ID; the next three belong to it */
	uint32_t prev_offset, next_offset;
	uint32_t switch_size;	/* the smallest size that includes both */
	uint64_t accounting_id; /* of sched_stat_runtime, or LANE_NO_ID */
	/*
	 * Whether all switches of a task were recorded. Called only for tasks whose bit
	 * (dat_pid_bit()) is set in `unsure`; of all others the switches were recorded.
	 */
	bool (*follows)(void *arg, int32_t pid);
	void *follows_arg;
	uint64_t unsure;
	/*
	 * Any switch may be missing: a switch says who ran at its time; other records say nothing.
	 */
	bool filtered;
	/* Other lanes have records of the same CPU: every record is shown and `changes`. */
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

/*
 * The records of a page that a lane must look at. Between two of them it can skip all records: the
 * filter does not want them, and the task is that of the record before. See lane_find_breaks().
 */
struct lane_break {
	uint64_t ts;  /* the page's time before this record */
	uint32_t pos; /* of its header */
};

struct lane_break_list {
	struct lane_break *at;
	size_t n, cap;
};

/* The breaks of a lane's page; n is 0 if they are not known. */
struct lane_breaks {
	const struct lane_filter *filter; /* valid as long as the lane has this filter */
	const struct lane_break *at;
	uint32_t n, next;
};

struct ahead_lane;

#define LANE_PAGES     8 /* a lane with a watch skips the records of at most so many pages */
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
	bool borders; /* the last record before a loss and the first after it are shown anyway */
	bool border;  /* rec was filtered out; of the previous record only the time is valid */
	const volatile int *stop; /* the lane ends when it becomes non-zero; may be NULL */
	uint64_t until;		  /* pages that begin after this time are not read; 0: all are */
	/*
	 * Called before a page, and with it the records that the lane has shown, is freed; may be
	 * NULL.
	 */
	void (*leaving)(void *arg);
	void *leaving_arg;
	const struct trace_buffer *buffer;
	const struct dat_cpu *cpu;
	struct dat_pages *pages;
	struct ahead_lane *ahead;  /* reads pages for it; NULL: it reads them itself */
	struct lane_breaks breaks; /* of the open page */
	uint64_t page_index;	   /* of the page that is open */
	uint64_t page_offset;
	uint32_t page_bytes;
	uint64_t nr_pages; /* an upper bound */
	struct ring_page page;
	uint64_t rec_page;  /* the page that rec is on */
	uint32_t rec_pos;   /* where its header starts in it */
	bool open;	    /* a page is open */
	bool ended;	    /* there is no further record */
	bool fresh;	    /* no record of the open page has been returned yet */
	bool passed;	    /* the filter has skipped records just before rec, … */
	uint64_t passed_ts; /* … the last of them at this time of the page's */
	bool gap; /* records were lost between rec and the record before it (maybe skipped) */
	uint64_t gap_from; /* since the time of the record shown before it, 0: there was none; … */
	uint64_t gap_end;  /* … until that of the first record after the last such loss */
	uint32_t index;	   /* order among lanes with equal times */
	int64_t pending;   /* lost at the end so far, as the last pages report it */

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
	uint32_t pages_passed; /* pages that ended between that record and rec */
};

int lane_open(struct lane *l, const struct trace_buffer *b, const struct dat_cpu *cpu);
void lane_close(struct lane *l);

bool lane_next(struct lane *l);

/* What a lane skips now, as a copy that other threads use while the lane moves. */
struct lane_skips {
	const struct lane_filter *filter; /* NULL: nothing */
	const struct ring_layout *layout;
	uint64_t switch_id; /* LANE_NO_ID: switches are not watched */
};
struct lane_skips lane_skips(const struct lane *l);

/*
 * Appends the breaks of a page, which include its first record and its end. Returns how many
 * records the page has, or 0 if it was not searched.
 */
uint32_t lane_find_breaks(const struct lane_skips *skips, const struct dat_page *page,
			  struct lane_break_list *breaks);

/*
 * For a CPU that is still being written: continues after the end, if there are more records now.
 * Returns whether the lane stands on a record.
 */
bool lane_resume(struct lane *l);

/* The time of the last record, wanted or not, of a lane that has ended; 0: not known. */
uint64_t lane_end(const struct lane *l);

/*
 * From `ts` on it is unknown who runs on the CPU: the first record at or after it is `other`. If
 * the lane has skipped that record, it goes back to it.
 */
void lane_doubt_runner(struct lane *l, uint64_t ts);

/* Forgets who runs, because the lane will be moved. */
void lane_forget_runner(struct lane *l);

/* The time of the last record before rec that proves who runs; 0: there is none. */
static inline uint64_t lane_proof(const struct lane *l)
{
	return l->before == LANE_NO_PROOF ? 0
					  : trace_time(&l->buffer->time, l->before, l->cpu->cpu);
}

/* Shows only what the filter wants, beginning with the current record. */
void lane_set_filter(struct lane *l, const struct lane_filter *filter);

/* The same, but the current record is shown anyway, as a border. */
void lane_filter_from(struct lane *l, const struct lane_filter *filter);

/* The lane's position: another lane of the same CPU can continue there. */
struct lane_pos lane_tell(const struct lane *l);

/* Makes the record at that position, or the first one after it, the next one. */
void lane_seek(struct lane *l, struct lane_pos pos);

/*
 * Moves to the last page that starts before `ts`. So every record at or after `ts` follows, unless
 * the lane's times run backwards. `hint` is a page near which the search starts.
 */
void lane_seek_time(struct lane *l, uint64_t ts, uint64_t hint);
/*
 * The same, to the page with the last record before `ts`: its time shows since when events were
 * lost.
 */
void lane_seek_before(struct lane *l, uint64_t ts, uint64_t hint);

/* The time at which a page begins; false if there is no such page, or it is empty. */
bool lane_page_time(struct lane *l, uint64_t page, uint64_t *ts);

#endif
