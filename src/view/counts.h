/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What counting keeps; private to counts*.c. */
#ifndef VIEW_COUNTS_H
#define VIEW_COUNTS_H

#include "view/index_parts.h"

#define NO_TASK	      UINT32_MAX /* the idle task */
#define PLACE_BUCKETS 256

struct count_lane {
	struct lane lane;
	struct ticks *ticks;
	struct track *track, *lost;
	uint32_t row;
	/* Records that have been read; those before `at` have been taken, `take` will be next. */
	struct tick *recs;
	uint32_t n, cap, at, take;
	bool ended;
	/* Of the last one that was read. */
	bool any, has_pid;
	uint64_t time; /* in the index */
	uint64_t raw;  /* in the trace */
	int pid;
	uint32_t task;
	uint64_t next_page; /* where the next place to begin reading is noted */
	struct tick block[SEQ_ITEMS];
	uint32_t in_block;
};

struct count_task {
	uint32_t number, row;
	struct track *track;
	uint32_t n, at; /* of the records that are being taken */
};

struct counts {
	struct view_index *x;
	struct maker *maker;
	struct count_lane *lanes;
	uint32_t nr_lanes;
	struct {
		struct count_task **at;
		size_t n, cap;
	} tasks;
	struct keyed by_pid; /* struct count_task * */
	uint32_t *by_id;     /* numbers of types + 1, by the id of the event; 0: not known yet */
	uint32_t nr_ids;
	struct count_task **touched;
	uint32_t nr_touched;
	struct tick *sorted, *spare;
	size_t most;	/* records that can be read at once */
	uint64_t cut;	/* all records before it have been taken */
	uint64_t noted; /* records before the last place */
};

#endif
