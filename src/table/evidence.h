/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Private to src/table: how a walk knows who runs on which CPU, and when it has to say so. */
#ifndef TABLE_EVIDENCE_H
#define TABLE_EVIDENCE_H

#include "base/map.h"
#include "table/walk.h"

#define MAX_EVIDENCE 4 /* with one record, for each buffer */

/* What is known of a lane whose buffer shares its clock with others. */
struct walk_sight {
	uint32_t next;	/* lane of the same CPU in another buffer of the same clock: a ring */
	bool any;	/* the lane has had a record, … */
	uint64_t own;	/* … the last one then */
	uint64_t proof; /* when any record proved who runs, 0: none has, … */
	bool switched;	/* … the last one being a switch of the lane's own … */
	int32_t left;	/* … away from this task */
};

#define WALK_RECENT 64

/* Who runs on which CPU at the time of the record that was returned last. */
struct walk_runners {
	struct lane_watch watch;    /* what all have in common */
	struct lane_watch *watches; /* by buffer */
	struct lane_runner *on;	    /* by lane */
	bool *begun;		    /* by lane: a record of the range has been returned */
	bool *switches;		    /* by buffer: some were recorded */
	uint64_t *lost_from;	    /* by buffer: when the last loss on any CPU began */
	uint64_t *first;	    /* by buffer: time of its first record, UINT64_MAX: none */
	struct walk_sight *sight;   /* by lane; NULL: buffers share no clock */
	uint64_t start;		    /* time of the first record of all; UINT64_MAX: there is none */
	struct map lanes;	    /* by buffer and pid: the lane it ran on last, plus one */
	struct {
		uint64_t key;
		uintptr_t lane;
	} recent[WALK_RECENT]; /* entries of `lanes`: the last one of each pid modulo the size */
	/* sched_stat_runtime and its fields; NULL: there is none. */
	const struct event *accounting;
	uint32_t accounted_offset, runtime_offset;
};

void walk_free_evidence(struct walk *w);
/* Before the first record of a lane. */
void walk_watch_lane(struct walk *w, struct lane *l);
/* Moves all lanes to their first record of the range, knowing who runs then. */
void walk_start_in_range(struct walk *w);
/* The lane's record, which changes who runs, is the one that will be returned. */
void walk_note_evidence(struct walk *w, struct lane *l);

#endif
