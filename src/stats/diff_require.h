/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requirements: what has to hold of a trace, as in
 *
 *	wakeup.max < 200us			wakeup[loop].p99 <= 1ms
 *	period.max-min < 50us			syscall[re*].p50 < 2us
 *	rate[sched_switch] < 1000		running[loop] <= 30%
 *	wakeup.p99 < 110% of A			lost == 0
 */
#ifndef STATS_DIFF_REQUIRE_H
#define STATS_DIFF_REQUIRE_H

#include "stats/diff.h"

enum diff_operator { DIFF_LESS, DIFF_AT_MOST, DIFF_MORE, DIFF_AT_LEAST, DIFF_EQUAL };

enum diff_stat_kind {
	DIFF_STAT_NONE, /* the amount itself */
	DIFF_STAT_MIN,
	DIFF_STAT_AVERAGE,
	DIFF_STAT_QUANTILE,
	DIFF_STAT_MAX,
	DIFF_STAT_STDDEV,
	DIFF_STAT_COUNT,
};

struct diff_required_stat {
	enum diff_stat_kind kind;
	double q;
};

struct diff_requirement {
	const char *text; /* as it was written, which must stay */
	/* The family's name and the key within the text; key_len is of no meaning without a key. */
	const char *family, *key;
	size_t family_len, key_len;
	struct diff_required_stat stat, less; /* `less` is subtracted, unless it is none */
	enum diff_operator op;
	double limit; /* ns, per second, a part; with `relative` times that of A */
	bool relative;
};

/* -EINVAL with words: what is wrong, and where. */
int diff_requirement_parse(struct diff_requirement *r, const char *text, struct spur_error *err);

/* Whether the family is there and has what is required of it; the nearest name otherwise. */
int diff_requirement_check(const struct diff *d, const struct diff_requirement *r,
			   struct spur_error *err);

/* A verdict and why. */
struct diff_verdict {
	bool holds;
	bool known[DIFF_SIDES]; /* whether there is a value */
	double value[DIFF_SIDES];
	double limit; /* what it was compared with */
	enum diff_unit unit;
	bool number; /* the values are plain numbers: counts */
	char note[120];
};

/* After diff_finish(). A value that is not there fails. -ENOMEM. */
int diff_judge(const struct diff *d, const struct diff_requirement *r, struct diff_verdict *v,
	       struct spur_error *err);

/* A verdict's value for people. */
const char *diff_verdict_shown(char *text, size_t cap, const struct diff *d,
			       const struct diff_verdict *v, double value);

#endif
