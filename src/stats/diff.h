/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Comparing two recordings of the same job.
 *
 *	struct diff d;
 *	diff_init(&d, &opt);
 *	diff_read(&d, DIFF_A, trace_a, &err);	left out when there is only one
 *	diff_read(&d, DIFF_B, trace_b, &err);
 *	diff_finish(&d, &err);
 *
 * What is compared is a measure: "wakeup", "syscall[read]", "rate[sched_switch]". Some are
 * distributions of times, others amounts per second or parts of the time. Measures of the two
 * traces belong together when they have the same name: tasks by name, as their numbers differ.
 *
 * Two distributions are compared by the test of Kolmogorov and Smirnov, two amounts by how much
 * they vary within each trace. A hundred measures would give five false alarms at 5 %, thus
 * probabilities are corrected for their number (Holm). The size of a change is shown as intervals
 * that hold the true one with 95 % confidence.
 */
#ifndef STATS_DIFF_H
#define STATS_DIFF_H

#include "stats/latency.h"
#include "table/pairs.h"
#include "table/walk.h"
#include "stats/why.h"
#include "base/intern.h"
#include "base/pattern.h"
#include "base/vec.h"

enum diff_which { DIFF_A, DIFF_B, DIFF_SIDES };

enum diff_unit {
	DIFF_TIME, /* distributions: nanoseconds */
	DIFF_RATE, /* amounts: per second */
	DIFF_PART, /* amounts: part of the time; that of tasks together may be more than 1 */
};

/* Measures of one kind. */
struct diff_family {
	const char *name;
	const char *key; /* what is in brackets: "task"; NULL: there are no brackets */
	const char *about;
	enum diff_unit unit;
	const struct latency_kind *kind; /* of distributions */
	const char *by;			 /* of distributions: the column with the key */
};

#define DIFF_DISTS   10 /* families of distributions, the last one being pairs of events */
#define DIFF_PAIRS   (DIFF_DISTS - 1)
#define DIFF_AMOUNTS 7
extern const struct diff_family diff_amounts[DIFF_AMOUNTS];

/*
 * An amount over the time of a trace: sums over stretches of equal length. There are at most
 * DIFF_STRETCHES; if the time is longer, each two become one.
 */
#define DIFF_STRETCHES 64

struct diff_series {
	uint64_t width; /* of a stretch, ns; 0: nothing has been added */
	double at[DIFF_STRETCHES];
};

/* Adds an amount at a time since the start; or one per nanosecond in a range of time. */
void diff_series_add(struct diff_series *s, uint64_t time, double amount);
void diff_series_spread(struct diff_series *s, uint64_t from, uint64_t to);

/*
 * The standard error of the amount per nanosecond, from the variance of the stretches of a trace of
 * that length; 0 if there are too few.
 */
double diff_series_error(struct diff_series *s, uint64_t duration);

/* An amount over time, of one trace. */
struct diff_amount {
	const struct diff_family *family;
	const char *key; /* interned; NULL: all together */
	uint64_t count;
	double total; /* the count, or nanoseconds */
	struct diff_series series;
};

/* ---- worst cases ---- */

/* A stretch of time of a CPU. */
struct diff_stretch {
	uint64_t from, to;
	int64_t cpu;
	int64_t pid;
	const char *name; /* interned */
	enum diff_layer { DIFF_SLICE, DIFF_IRQ, DIFF_SOFTIRQ } layer;
};

/*
 * A task or interrupt that had the CPU meanwhile, and for how long. The time of interrupts is
 * included in that of the interrupted task.
 */
struct diff_ran {
	const char *name;
	int64_t pid;
	enum diff_layer layer;
	uint64_t time;
};

/* One of the worst cases, with what happened around it. */
struct diff_case {
	const struct latency_worst *worst;
	uint64_t from, to;
	int64_t value;
	int64_t cpu; /* ROW_NULL: not known */
	int64_t pid;
	const char *comm; /* NULL: not known */
	bool has_task; /* the case is about this task, which is not just the writer of an event */
	vec_of(struct diff_stretch) stretches; /* from before it until after it, of all CPUs */
	vec_of(struct diff_ran) ran;	       /* on its CPU, longest first; the shares of why */
	bool more;			       /* some stretches are left out */
	/* Why a task waited for a CPU; owned; NULL: the case is something else. */
	struct why *why;
	char *text; /* the events around it, if the caller has set this; owned */
};

/* Whether its task waited for several CPUs. */
static inline bool diff_moved(const struct diff_case *c)
{
	return c->why && c->why->pieces.n > 1;
}

/* The columns of a row with its task and its CPU. */
struct diff_whose {
	struct diff *diff;
	const struct column *pid, *comm, *cpu;
};

/* A distribution of which the worst cases are read. */
struct diff_focus {
	const struct diff_family *family;
	const char *key;	/* interned; NULL: all */
	bool usual;		/* a default: it is not shown if it has no values */
	struct pattern pattern; /* what the key is, when it has wildcards */
	const struct column *by;
	struct diff_whose whose;
	struct latency latency[DIFF_SIDES];
	bool ready[DIFF_SIDES];
	vec_of(struct diff_case) cases[DIFF_SIDES];
};

/* ---- one trace ---- */

struct diff_side {
	struct spur_trace *trace; /* NULL: there is none */
	uint64_t first, last;	  /* times of the counted records */
	uint64_t events;
	uint64_t lost, gaps; /* lost events, if known; and places of losses */
	uint32_t cpus;	     /* that have records */
	double unknown;	     /* time of CPUs of which it is unknown who had them, ns */
	bool ticks;	     /* the clock does not count nanoseconds */
	bool full;	     /* too many tasks, functions, …: the rest is left out */
	struct latency latency[DIFF_DISTS];
	bool has[DIFF_DISTS];
	struct pairs *pairs; /* owned; NULL: none are asked for */
	vec_of(struct diff_amount *) amounts;
	struct map index; /* of these, by the hash of family and key */
};

static inline double diff_duration(const struct diff_side *s)
{
	return s->last > s->first ? (double)(s->last - s->first) : 0;
}

/* ---- both ---- */

/* A number of both traces and its change. */
struct diff_stat {
	const char *name; /* "p50", …; "" of amounts */
	double value[DIFF_SIDES];
	bool has_range;	  /* there are enough values for the following */
	double low, high; /* of B less A */
	bool clear;	  /* both are on one side of 0 */
};

#define DIFF_STATS 4 /* p50, p90, p99, max */
#define DIFF_MAX   3

enum diff_outcome {
	DIFF_CHANGED,
	DIFF_SAME, /* or the difference may be chance */
	DIFF_FEW,  /* too few values to tell */
	DIFF_ONLY, /* in one of them */
};

struct diff_measure {
	const struct diff_family *family;
	const char *key;
	struct dist *dist[DIFF_SIDES];		/* of distributions; NULL: not there */
	struct diff_amount *amount[DIFF_SIDES]; /* of amounts; NULL: not there */
	uint64_t count[DIFF_SIDES];
	struct diff_stat stats[DIFF_STATS];
	unsigned int nr_stats;
	unsigned int telling; /* the most interesting of these */
	enum diff_outcome outcome;
	struct dist_ks ks;  /* of distributions */
	double probability; /* that it is chance */
	double corrected;   /* for the number of measures */
	double score;	    /* powers of two by which it has changed at least */
	bool unfollowed;    /* it is of a task that the traces do not follow; see dat.h */
};

struct diff_options {
	struct walk_options walk;
	/* Selects rows and records; NULL: all. Unknown values are ROW_NULL and NULL. */
	bool (*wanted)(void *arg, int64_t cpu, int64_t pid, const char *comm);
	void *arg;
	const struct pairs_options *pairs; /* NULL: none */
	const char *pairs_name;		   /* of the measure that they are */
	const char *pairs_about;	   /* "from … to …" */
	size_t worst;			   /* cases of each focus and trace */
	uint64_t around;		   /* time before and after these */
};

struct diff {
	struct diff_options opt;
	struct diff_family dists[DIFF_DISTS];
	unsigned int nr_dists;
	struct diff_side side[DIFF_SIDES];
	vec_of(struct diff_focus *) focus;
	vec_of(struct diff_measure)
		measures; /* what changed most first; of each outcome, the unfollowed ones last */
	size_t tested;
	struct intern names;
	struct hash_seed seed;
};

void diff_init(struct diff *d, const struct diff_options *opt);
void diff_free(struct diff *d);

/* A family by its name; NULL. */
const struct diff_family *diff_family_find(const struct diff *d, const char *name, size_t len);

/*
 * To be called before the first trace is read: the worst cases of a distribution will be read; a
 * key of NULL means the whole family. Families of amounts, and duplicates, are ignored. 0 or
 * -ENOMEM.
 */
int diff_focus_add(struct diff *d, const struct diff_family *f, const char *key, size_t len,
		   struct spur_error *err);

/* 0, -EINTR after a stop (with what there was until then), another negative errno. */
int diff_read(struct diff *d, enum diff_which which, struct spur_trace *t, struct spur_error *err);

/* Whether it has values, or the user has selected it. */
bool diff_focus_shown(const struct diff_focus *f);

/* Compares, and sorts what changed most first. */
int diff_finish(struct diff *d, struct spur_error *err);

/* NULL: there is none. key NULL: all of the family. */
struct diff_measure *diff_measure_find(const struct diff *d, const struct diff_family *f,
				       const char *key);

/* "syscall[read]" */
void diff_put_name(const struct diff_family *f, const char *key, struct buf *to);

/* What a quantile is called and which one it is. */
struct diff_quantile {
	const char *name;
	double q;
};
extern const struct diff_quantile diff_quantiles[DIFF_STATS];

/* Whether so many values are enough for both ends of a quantile's interval. */
bool diff_enough(uint64_t n, double q);

/* The interval of B less A, from the intervals of both. */
void diff_range(const double value[DIFF_SIDES], const double low[DIFF_SIDES],
		const double high[DIFF_SIDES], double *from, double *to);

/* Corrects probabilities for their number, in place (Holm). False without memory. */
bool diff_correct(double *p, size_t n);

/* ---- for people ---- */

/* "12.3 us", "1.50 k/s", "12.3 %"; ticks: of a clock that does not count nanoseconds. */
const char *diff_shown(char *text, size_t cap, enum diff_unit unit, bool ticks, double value);
/* "+12 %", "x 3.4", "-" when there is nothing to divide by. */
const char *diff_change(char *text, size_t cap, double from, double to);
const char *diff_probability(char *text, size_t cap, double p);

/* ---- among the files of stats/diff ---- */

uint64_t diff_hash(const struct diff *d, const struct diff_family *f, const char *key);

/* The unknown time that may belong to an amount of time in addition, ns. */
double diff_unknown(const struct diff *d, const struct diff_side *s, const struct diff_amount *a);

/* Whether it has wildcards. */
bool diff_key_is_pattern(const char *key);

void diff_cases_free(struct diff_focus *f);

#endif
