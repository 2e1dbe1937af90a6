/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums over a range of time, by name, task and event; its distributions; its calls as a tree.
 */
#ifndef VIEW_ANSWERS_SUMS_H
#define VIEW_ANSWERS_SUMS_H

#include "base/vec.h"
#include "stats/dist.h"
#include "stats/flame.h"
#include "view/answers/interval.h"

/* A range of a view, relative to its origin, and rows in it. */
struct sum_range {
	struct view *view;
	uint64_t since, until; /* until is not in it */
	const uint32_t *rows;  /* NULL: all */
	size_t nr_rows;
	const volatile int *stop;
};

/* All rows that the view has now. */
struct sum_range sum_range_all(struct view *v, uint64_t since, uint64_t until,
			       const volatile int *stop);

static inline uint32_t sum_range_row(const struct sum_range *r, size_t i)
{
	return r->rows ? r->rows[i] : (uint32_t)i;
}

/* Intervals of one name: the parts of them within the range. */
struct named_sum {
	int64_t name; /* of the view, -1: of none */
	uint64_t count;
	uint64_t total; /* without nested intervals of the same name */
	uint64_t self;
	uint64_t max;
};

struct named_sums {
	struct view *view;
	uint32_t file; /* of the row that is read */
	vec_of(struct named_sum) sums;
	struct map places; /* by the view's number of the name: its place + 1 */
	bool failed;
};

/* How a task or a CPU spent the range. */
struct row_sum {
	uint32_t row; /* of the view */
	uint64_t running;
	uint64_t state[VIEW_UNKNOWN + 1];
	uint64_t switches; /* to it, in the range */
};

struct row_sums {
	struct row_sum *at;
	size_t n, cap;
};

enum sum_names { SUM_FUNCTIONS, SUM_SYSCALLS, SUM_IRQS, SUM_SOFTIRQS, NR_SUM_NAMES };

/* All sums of a range. */
struct range_sums {
	struct row_sums tasks, cpus; /* those that did anything */
	uint64_t *events;	     /* records by type, as many as view_events() */
	uint32_t nr_events;
	struct named_sums names[NR_SUM_NAMES]; /* each with the largest total first */
};

/* 0, -EINTR after a stop, -ENOMEM. range_sums_free() is due in any case. */
int range_sums_read(const struct sum_range *range, struct range_sums *out);
void range_sums_free(struct range_sums *s);

/* ---- distributions ---- */

#define HIST_SUB_BUCKETS 4 /* of a power of two */
#define HIST_BUCKETS	 (64 * HIST_SUB_BUCKETS)

struct hist_options {
	struct interval_row row;
	uint64_t since, until; /* of the index */
	bool latency;	       /* how long tasks wait for a CPU; else how long intervals last */
	uint32_t track;	       /* whose intervals */
	uint64_t value;	       /* only intervals of this value, with the view's numbers, … */
	bool has_value;	       /* … if there is one */
	const volatile int *stop;
};

struct hist {
	struct dist dist;
	uint64_t buckets[HIST_BUCKETS];
};

/* The least value of a bucket. */
uint64_t hist_bucket_start(unsigned int bucket);

/* 0, -EINTR after a stop, -ENOMEM. The caller frees `dist` in any case. */
int hist_read(const struct hist_options *o, struct hist *out);

/* ---- calls as a tree ---- */

struct flame_choice {
	bool calls, stacks; /* which of them may be used; calls are preferred */
	bool by_task;	    /* each task has a frame of its own */
};

/*
 * The tree of calls, or of stacks when there are none; *calls says which. flame_free() is due when
 * this has succeeded.
 */
int sum_flame(const struct sum_range *range, const struct flame_choice *choice, struct flame *out,
	      bool *calls, struct spur_error *err);

#endif
