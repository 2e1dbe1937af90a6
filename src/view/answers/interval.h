/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An interval of a row, and what belongs to it. Times are those of the file's index.
 */
#ifndef VIEW_ANSWERS_INTERVAL_H
#define VIEW_ANSWERS_INTERVAL_H

#include "view/answers/answers.h"
#include "view/api/api.h"

/* Of VIEW_STATE's values: the state, and the row of who ended it, -1: not known. */
#define STATE_OF(value) ((enum view_state)((value)&15))
#define ENDER_OF(value) ((int64_t)((value) >> 4) - 1)

/* "sleeping" and the like. */
const char *interval_state(uint32_t value);

/* A row of a file, with what is needed to ask for its intervals. */
struct interval_row {
	struct view *view;
	struct view_index *index;
	uint32_t file;
	uint32_t row; /* of the index */
	struct view_row info;
	int64_t running, state; /* tracks, -1: none */
};

bool interval_row(struct view *v, uint32_t file, uint32_t row, struct interval_row *out);
int64_t interval_track(const struct view_row *r, enum view_track_kind kind, uint32_t depth);

/* The interval of a track that covers a time; the last one that ends at a time. -1 is no track. */
bool interval_at(const struct interval_row *r, int64_t track, uint64_t ts,
		 struct view_interval *out);
bool interval_before(const struct interval_row *r, int64_t track, uint64_t ts,
		     struct view_interval *out);

/* Whether a state is one that somebody else ends. */
bool interval_is_sleep(const struct view_interval *i);

/* "comm-pid", or "CPU 3". */
void interval_name(const struct interval_row *r, struct buf *out);

/* A time of the index on the trace's time line, and relative to the view's origin. */
uint64_t interval_absolute(const struct interval_row *r, uint64_t ts);
int64_t interval_relative(const struct interval_row *r, uint64_t ts);

/* Who woke a task. */
struct interval_waker {
	uint64_t ts;
	int64_t row;  /* of the view, -1: not known */
	int64_t task; /* of the index, -1 */
	uint32_t cpu;
	bool has_record; /* cpu and in_interrupt are known */
	bool in_interrupt;
};

/* Who ended a sleep; false: that is not known. */
bool interval_waker(const struct interval_row *r, const struct view_interval *sleep,
		    const volatile int *stop, struct interval_waker *out);

/*
 * Who made a task wait for a CPU, when it is not known what it did before: a task may be woken
 * before it is seen for the first time. False: nobody, or that is not known.
 */
bool interval_first_waker(const struct interval_row *r, const struct view_interval *wait,
			  const volatile int *stop, struct interval_waker *out);

/* What interrupt or softirq runs on a CPU at a time: its name, or NULL. */
const char *interval_interrupt(const struct interval_row *r, uint32_t cpu, uint64_t ts);

/* Appends the steps back from a moment of a task, as JSON. */
void interval_chain(struct interval_row *from, uint64_t ts, const volatile int *stop,
		    struct buf *out);

/* ---- an interval that is asked about ---- */

struct slice {
	struct view *view;
	const struct api_request *q;
	struct buf *out;
	struct interval_row row;
	uint32_t number; /* of the row in the view */
	uint32_t track;
	enum view_track_kind kind;
	struct view_interval at;
	struct interval_row task; /* whose it is, if it is one's */
	bool has_task;
	size_t details;
};

/* The CPU that a run of a task was on, -1: not known. */
static inline int64_t slice_cpu(const struct view_interval *run)
{
	return run->value == UINT32_MAX ? -1 : (int64_t)run->value;
}

/* Append members of the answer, each with a comma in front: what there is to know about it, … */
void slice_details(struct slice *s);
/* … who ended the sleep before it, and whom it woke. */
void slice_waker(struct slice *s);
void slice_woken(struct slice *s);

#endif
