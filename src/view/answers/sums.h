/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a range of time adds up to, by name, task and event; its distributions; its calls as a tree.
 */
#ifndef VIEW_ANSWERS_SUMS_H
#define VIEW_ANSWERS_SUMS_H

#include "view/api/api.h"
#include "view/answers/answers.h"

/* A range of a view, relative to its origin, and rows in it. */
struct sum_range {
	struct view *view;
	uint64_t since, until; /* until is the first time behind */
	const struct api_rows *rows;
	bool all_rows;
	const volatile int *stop;
};

/* What happened under a name: it is counted where it is seen, and cut at the ends of the range. */
struct named_sum {
	int64_t name; /* of the view, -1: of none */
	uint64_t count;
	uint64_t total; /* without what is within the same again */
	uint64_t self;
	uint64_t max;
};

struct named_sums {
	struct view *view;
	uint32_t file; /* of the row that is read */
	struct {
		struct named_sum *at;
		size_t n, cap;
	} sums;
	uint32_t *places; /* by the view's number of the name: its place + 1, 0: none */
	size_t nr_places;
	bool failed;
};

void named_sums_free(struct named_sums *s);
/* Adds what a row has of a kind. */
int named_sums_add(struct named_sums *s, const struct sum_range *range, uint32_t row,
		   enum view_track_kind kind);
/* Largest total first. */
void named_sums_sort(struct named_sums *s);

/* How a task or a CPU spent the range. */
struct row_sum {
	uint64_t running;
	uint64_t state[VIEW_UNKNOWN + 1];
	uint64_t switches; /* to it, in the range */
};

int row_sum(const struct sum_range *range, uint32_t row, struct row_sum *out);

/* How many records of each type there are; counts has room for view_events(). */
int sum_events(const struct sum_range *range, uint64_t *counts);

/* Answers "hist" (hist.c). */
int hist_answer(struct view *v, const struct api_request *q, struct api_answer *a,
		struct spur_error *err);

/* ---- calls as a tree ---- */

struct flame_choice {
	bool calls, stacks; /* what may be taken; calls come first */
	bool by_task;	    /* each task has a frame of its own */
};

/* Appends {"name", "value", "self", "unit", "from", "children": […]} as JSON. */
int sum_flame(const struct sum_range *range, const struct flame_choice *choice, struct buf *out,
	      struct spur_error *err);

#endif
