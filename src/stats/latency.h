/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latencies: the durations in one column of a table, as distributions by group, and the worst ones.
 *
 * Rows that are open (their beginning or end is not in the trace) are counted and otherwise left
 * out, as are those whose value is not known: a distribution holds only what was seen from
 * beginning to end.
 *
 * Memory is bounded: if there are too many groups, one group has the rest; if distributions become
 * too large, those that grow next lose their quantiles (dist.failed).
 */
#ifndef STATS_LATENCY_H
#define STATS_LATENCY_H

#include "stats/bars.h"
#include "stats/dist.h"
#include "table/table.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"
#include "dat/dat.h"

#define LATENCY_KEYS 4 /* columns to group by, at most */

/* A kind of latency that has a name. */
struct latency_kind {
	const char *name;
	const char *about;		 /* "from … until …" */
	const char *table;		 /* made from which table, … */
	const char *value;		 /* … in which column */
	bool (*wanted)(const void *row); /* of the table's rows; NULL: all */
	const char *by;			 /* column to group by unless told otherwise; NULL: none */
	const char *cpu;		 /* column that is meant by "cpu" */
	const char *const *shown;	 /* columns that tell about a worst one, up to a NULL */
	const char *record;		 /* the options of `spur record` that record it */
	bool waits;    /* it is the time of a task without a CPU: stats/why.h explains it, … */
	bool contains; /* … or it may contain such times, of which the longest is explained */
};

/* Up to one without a name. */
extern const struct latency_kind latency_kinds[];
/* What rows of table/pairs.h are; it is not among the others. */
extern const struct latency_kind latency_of_pairs;
/* NULL, and the nearest name in err. */
const struct latency_kind *latency_kind_find(const char *name, struct spur_error *err);

/* A column by its name, "cpu" for the kind's own, or NULL. */
const struct column *latency_column(const struct latency_kind *k, const struct table *t,
				    const char *name, size_t len);

/* ---- groups ---- */

struct latency_key {
	const char *text; /* owned; NULL: a number, or not known */
	int64_t number;	  /* ROW_NULL: not known */
};

struct latency_group {
	struct latency_key keys[LATENCY_KEYS];
	struct dist dist;
	struct bars bars; /* only of linear histograms */
	bool rest;	  /* of all groups for which there was no place */
};

/* One of the worst: a copy of its row, whose texts it owns. */
struct latency_worst {
	int64_t value;
	void *row;
};

struct latency_options {
	const struct latency_kind *kind;
	const struct table *table;
	const char *by; /* columns with commas between; "task": comm and pid; NULL: all together */
	size_t worst;	/* how many are kept */
	int64_t linear; /* step of histograms in ns; 0: powers of two */
	size_t memory;	/* bytes of distributions of groups; 0: the usual */
	/* Groups of the tasks that this file follows come first; NULL: the order is all. */
	const struct dat *dat;
	/* Which rows count, besides; may be NULL. */
	bool (*wanted)(void *arg, const void *row);
	void *arg;
};

struct latency {
	struct latency_options opt;
	const struct column *value, *open;
	const struct column *by[LATENCY_KEYS];
	unsigned int nr_by;
	struct latency_group all;
	vec_of(struct latency_group *) groups;
	vec_of(struct latency_worst) worst; /* a heap, the least bad on top; sorted at the end */
	uint64_t seen;			    /* rows of the kind, whether they count or not */
	uint64_t open_rows, unknown_rows;
	struct latency_index *index;
	size_t used; /* bytes of distributions */
	int rc;	     /* -ENOMEM */
};

/* -EINVAL when a column is not there, with the nearest name. latency_free() is due in any case. */
int latency_init(struct latency *l, const struct latency_options *opt, struct spur_error *err);
void latency_free(struct latency *l);

/* For feed_add(): takes a row of the table. */
void latency_row(void *latency, const void *row);

/* What groups are sorted by: the largest first, names by alphabet. */
enum latency_order {
	LATENCY_BY_MAX,
	LATENCY_BY_COUNT,
	LATENCY_BY_AVG,
	LATENCY_BY_P99,
	LATENCY_BY_TOTAL,
	LATENCY_BY_NAME
};

/* After the last row: sorts groups and worst ones. l->rc, with words. */
int latency_finish(struct latency *l, enum latency_order order, struct spur_error *err);

/* Appends what a group is called: "bash-123", "3", "8,0"; values joined by spaces. */
void latency_label(const struct latency *l, const struct latency_group *g, struct buf *to);

#endif
