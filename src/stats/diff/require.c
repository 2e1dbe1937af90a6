// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Requirements of a comparison: parsing them, and judging what has been read.
 *
 * A requirement about something that the trace does not have fails.
 */
#include "stats/diff_require.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/suggest.h"

#define LOST	     "lost" /* the only measure that is no family */
#define NUMBER_CHARS 32

/* ---- parsing ---- */

static const struct {
	const char *text;
	enum diff_operator op;
} operators[] = {
	{"<=", DIFF_AT_MOST}, {">=", DIFF_AT_LEAST}, {"==", DIFF_EQUAL},
	{"<", DIFF_LESS},     {">", DIFF_MORE},
};

static const struct {
	const char *name;
	enum diff_stat_kind kind;
	double q;
} stats[] = {
	{"min", DIFF_STAT_MIN, 0},	     {"max", DIFF_STAT_MAX, 0},
	{"avg", DIFF_STAT_AVERAGE, 0},	     {"mean", DIFF_STAT_AVERAGE, 0},
	{"median", DIFF_STAT_QUANTILE, 0.5}, {"stddev", DIFF_STAT_STDDEV, 0},
	{"count", DIFF_STAT_COUNT, 0},
};

static const struct {
	const char *name;
	double factor;
} units[] = {
	{"ns", 1}, {"us", 1e3}, {"\302\265s", 1e3}, {"\316\274s", 1e3}, {"ms", 1e6}, {"s", 1e9},
};

static void skip_spaces(const char **p)
{
	*p += strspn(*p, " \t");
}

static int wrong(struct spur_error *err, const char *text, const char *why)
{
	return error_set(err, -EINVAL,
			 "'%s': %s; a requirement is like 'wakeup.max < 200us' or 'rate[EVENT] < "
			 "1000'",
			 text, why);
}

/* Digits with a dot or without; nothing else strtod() knows. */
static bool take_number(const char **p, double *value)
{
	char digits[NUMBER_CHARS + 1];
	const size_t len = strspn(*p, "0123456789.");
	char *end;

	if (!len || len > NUMBER_CHARS)
		return false;
	memcpy(digits, *p, len);
	digits[len] = '\0';
	*value = strtod(digits, &end);
	*p += len;
	return !*end && end != digits;
}

static bool is_word(const char *p, size_t len, const char *word)
{
	return strlen(word) == len && strncasecmp(p, word, len) == 0;
}

static bool take_stat(const char **p, struct diff_required_stat *s)
{
	const char *start = *p;
	size_t len = 0;

	while (isalnum((unsigned char)start[len]) ||
	       (start[len] == '.' && len && isdigit((unsigned char)start[len + 1])))
		len++;
	*p += len;
	for (size_t i = 0; i < ARRAY_SIZE(stats); i++)
		if (is_word(start, len, stats[i].name)) {
			*s = (struct diff_required_stat){stats[i].kind, stats[i].q};
			return true;
		}
	if (*start != 'p')
		return false;
	start++;
	s->kind = DIFF_STAT_QUANTILE;
	if (!take_number(&start, &s->q) || start != *p)
		return false;
	s->q /= 100;
	return s->q > 0 && s->q <= 1;
}

/* The bracket that ends the key: names may have brackets themselves, operators come after it. */
static const char *end_of_key(const char *open)
{
	const char *end = NULL, *stop = open + strcspn(open, "<>=");

	/* A key may contain an operator, if its bracket is closed after it. */
	while (!end && *open) {
		for (const char *p = open; p < stop; p++)
			if (*p == ']')
				end = p;
		if (end || !*stop)
			break;
		stop += 1 + strcspn(stop + 1, "<>=");
	}
	return end;
}

static int parse_measure(struct diff_requirement *r, const char **p, struct spur_error *err)
{
	const char *end;

	r->family = *p;
	r->family_len = strcspn(*p, "[.<>= \t");
	if (!r->family_len)
		return wrong(err, r->text, "it begins with no measure");
	*p += r->family_len;
	if (**p == '[') {
		end = end_of_key(*p);
		if (!end || end == *p + 1)
			return wrong(err, r->text, "what is between [ and ] is missing");
		r->key = *p + 1;
		r->key_len = (size_t)(end - r->key);
		*p = end + 1;
	}
	if (**p != '.')
		return 0;
	++*p;
	if (!take_stat(p, &r->stat))
		return wrong(
			err, r->text,
			"after the dot must be min, avg, p50 (or another), max, stddev or count");
	if (**p != '-')
		return 0;
	++*p;
	return take_stat(p, &r->less) ? 0
				      : wrong(err, r->text, "what is to be subtracted is unclear");
}

static int parse_limit(struct diff_requirement *r, const char *p, struct spur_error *err)
{
	const bool plain = r->stat.kind == DIFF_STAT_NONE || r->stat.kind == DIFF_STAT_COUNT;
	const bool part = is_word(r->family, r->family_len, "running") ||
			  is_word(r->family, r->family_len, "runnable") ||
			  is_word(r->family, r->family_len, "unknown");

	if (!take_number(&p, &r->limit))
		return wrong(err, r->text, "the number is missing");
	skip_spaces(&p);
	if (*p == '%') {
		p++;
		skip_spaces(&p);
		r->limit /= 100;
		r->relative = !part || *p;
		if (!*p || is_word(p, strlen(p), "of A"))
			return 0;
		return wrong(err, r->text, "'%' is followed by 'of A' or nothing");
	}
	if (plain) {
		if (is_word(p, strlen(p), "/s"))
			return 0;
		return *p ? wrong(err, r->text, "it is a number without a unit") : 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (strcmp(p, units[i].name) == 0) {
			r->limit *= units[i].factor;
			return 0;
		}
	return wrong(err, r->text, "the time needs a unit: ns, us, ms or s");
}

int diff_requirement_parse(struct diff_requirement *r, const char *text, struct spur_error *err)
{
	const char *p = text;
	size_t i = 0;
	int rc;

	*r = (struct diff_requirement){.text = text};
	skip_spaces(&p);
	rc = parse_measure(r, &p, err);
	if (rc < 0)
		return rc;
	skip_spaces(&p);
	while (i < ARRAY_SIZE(operators) &&
	       strncmp(p, operators[i].text, strlen(operators[i].text)) != 0)
		i++;
	if (i == ARRAY_SIZE(operators))
		return wrong(err, text, "<, <=, >, >= or == is missing");
	r->op = operators[i].op;
	p += strlen(operators[i].text);
	skip_spaces(&p);
	return parse_limit(r, p, err);
}

int diff_requirement_check(const struct diff *d, const struct diff_requirement *r,
			   struct spur_error *err)
{
	struct suggest near = suggest_for(r->family, r->family_len);
	const struct diff_family *f = diff_family_find(d, r->family, r->family_len);

	if (is_word(r->family, r->family_len, LOST))
		return r->key || r->stat.kind ? wrong(err, r->text, "'lost' is just a number") : 0;
	if (f && !f->kind && r->stat.kind)
		return wrong(err, r->text, "this measure is one number, without .p99 and the like");
	if (f && f->kind && !r->stat.kind)
		return wrong(err, r->text, "which number of it, as in .max or .p99?");
	if (f && r->key && !f->key)
		return wrong(err, r->text, "this measure has nothing in brackets");
	if (f)
		return 0;
	for (unsigned int i = 0; i < d->nr_dists; i++)
		if (d->dists[i].name)
			suggest_try(&near, d->dists[i].name);
	for (unsigned int i = 0; i < DIFF_AMOUNTS; i++)
		suggest_try(&near, diff_amounts[i].name);
	suggest_try(&near, LOST);
	if (is_word(r->family, r->family_len, "period") ||
	    is_word(r->family, r->family_len, "latency"))
		return error_set(err, -EINVAL, "'%s': define '%.*s' by %s", r->text,
				 (int)r->family_len, r->family,
				 *r->family == 'p' ? "--period" : "--from and --to");
	return error_set(err, -EINVAL, "'%s': there is no measure '%.*s'%s", r->text,
			 (int)r->family_len, r->family, suggest_hint(&near));
}

/* ---- judging ---- */

/* The value that a requirement is about, on one side. */
struct subject {
	struct dist merged, *dist;
	double amount;
	bool there;
};

static bool key_matches(const struct pattern *p, const char *wanted, const char *key)
{
	if (!wanted || !key)
		return !wanted && !key;
	return p->kind != PATTERN_NONE ? pattern_match(p, key, strlen(key))
				       : strcmp(wanted, key) == 0;
}

static bool is_rate(const struct diff_family *f)
{
	return strcmp(f->name, "rate") == 0;
}

static bool describes(const struct events *ev, const char *event, const struct pattern *p)
{
	for (size_t i = 0; i < ev->nr; i++)
		if (key_matches(p, event, ev->list[i]->name))
			return true;
	return false;
}

/*
 * Whether an absence is certain: for an event if the trace describes it, for a task if the trace
 * has other data of it.
 */
static bool would_be_seen(const struct diff *d, unsigned int side, const struct diff_family *f,
			  const char *key, const struct pattern *p)
{
	if (f->kind || !d->side[side].events)
		return false;
	if (is_rate(f))
		return !key || describes(d->side[side].trace->events, key, p);
	for (size_t i = 0; i < d->measures.n; i++) {
		const struct diff_measure *m = &d->measures.at[i];

		if (!m->family->kind && !is_rate(m->family) && m->count[side] &&
		    (!key || key_matches(p, key, m->key)))
			return true;
	}
	return false;
}

static void find_subject(const struct diff *d, unsigned int side, const struct diff_family *f,
			 const char *key, const struct pattern *p, struct subject *s)
{
	for (size_t i = 0; i < d->measures.n; i++) {
		const struct diff_measure *m = &d->measures.at[i];

		if (m->family != f || !m->count[side] || !key_matches(p, key, m->key))
			continue;
		s->there = true;
		s->amount += m->stats[0].value[side];
		if (!m->dist[side])
			continue;
		if (p->kind == PATTERN_NONE)
			s->dist = m->dist[side];
		else
			dist_merge(&s->merged, m->dist[side]);
	}
	if (s->merged.n)
		s->dist = &s->merged;
	s->there |= would_be_seen(d, side, f, key, p);
}

static double stat_of(struct dist *d, const struct diff_required_stat *s)
{
	switch (s->kind) {
	case DIFF_STAT_MIN: return (double)d->min;
	case DIFF_STAT_AVERAGE: return d->mean;
	case DIFF_STAT_QUANTILE: return d->failed ? NAN : (double)dist_quantile(d, s->q);
	case DIFF_STAT_MAX: return (double)d->max;
	case DIFF_STAT_STDDEV: return dist_stddev(d);
	case DIFF_STAT_COUNT: return (double)d->n;
	case DIFF_STAT_NONE: break;
	}
	return 0;
}

static bool holds(enum diff_operator op, double value, double limit)
{
	switch (op) {
	case DIFF_LESS: return value < limit;
	case DIFF_AT_MOST: return value <= limit;
	case DIFF_MORE: return value > limit;
	case DIFF_AT_LEAST: return value >= limit;
	case DIFF_EQUAL: return value == limit;
	}
	return false;
}

/* Whether another recording of the same may well give another verdict. */
static void note_doubt(const struct diff_requirement *r, struct dist *d, struct diff_verdict *v)
{
	int64_t low, high;

	if (r->stat.kind != DIFF_STAT_QUANTILE || r->less.kind || r->stat.q >= 1 || d->failed)
		return;
	dist_quantile_range(d, r->stat.q, &low, &high);
	if (!diff_enough(d->n, r->stat.q))
		snprintf(v->note, sizeof(v->note), "only %llu values", (unsigned long long)d->n);
	else if (holds(r->op, (double)low, v->limit) != holds(r->op, (double)high, v->limit))
		snprintf(v->note, sizeof(v->note), "close: the limit is within the 95 %% interval");
}

static void fail_because(struct diff_verdict *v, const char *why)
{
	v->holds = false;
	snprintf(v->note, sizeof(v->note), "%s", why);
}

static void judge_lost(const struct diff *d, const struct diff_requirement *r,
		       struct diff_verdict *v)
{
	v->number = true;
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		v->known[i] = d->side[i].trace;
		/* If the number is unknown, it is at least one. */
		v->value[i] = (double)(d->side[i].lost + (d->side[i].lost ? 0 : d->side[i].gaps));
	}
	v->holds = holds(r->op, v->value[DIFF_B], v->limit);
}

static void judge_value(const struct diff *d, const struct diff_requirement *r,
			struct subject s[DIFF_SIDES], struct diff_verdict *v)
{
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		v->known[i] = s[i].there && d->side[i].trace;
		if (!v->known[i])
			continue;
		v->value[i] = s[i].dist
				      ? stat_of(s[i].dist, &r->stat) - stat_of(s[i].dist, &r->less)
				      : s[i].amount;
		v->known[i] = !isnan(v->value[i]);
	}
	if (r->relative)
		v->limit = r->limit * v->value[DIFF_A];
	v->holds = holds(r->op, v->value[DIFF_B], v->limit);
	if (!v->known[DIFF_B])
		fail_because(v, "there is nothing to measure");
	else if (r->relative && !v->known[DIFF_A])
		fail_because(v, "there is nothing to compare with");
	else if (s[DIFF_B].dist)
		note_doubt(r, s[DIFF_B].dist, v);
}

int diff_judge(const struct diff *d, const struct diff_requirement *r, struct diff_verdict *v,
	       struct spur_error *err)
{
	const struct diff_family *f = diff_family_find(d, r->family, r->family_len);
	char *key = r->key ? strndup(r->key, r->key_len) : NULL;
	struct subject s[DIFF_SIDES] = {0};
	struct pattern p = {0};
	int rc = 0;

	*v = (struct diff_verdict){.limit = r->limit};
	if (!f) {
		free(key);
		judge_lost(d, r, v);
		return 0;
	}
	if (r->key && !key)
		return error_set(err, -ENOMEM, "out of memory");
	if (key && diff_key_is_pattern(key))
		rc = pattern_glob(&p, key, strlen(key), err);
	v->unit = f->unit;
	v->number = r->stat.kind == DIFF_STAT_COUNT;
	for (unsigned int i = 0; rc == 0 && i < DIFF_SIDES; i++)
		find_subject(d, i, f, key, &p, &s[i]);
	if (rc == 0)
		judge_value(d, r, s, v);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		dist_free(&s[i].merged);
	pattern_free(&p);
	free(key);
	return rc;
}

const char *diff_verdict_shown(char *text, size_t cap, const struct diff *d,
			       const struct diff_verdict *v, double value)
{
	if (!v->number)
		return diff_shown(text, cap, v->unit, d->side[DIFF_B].ticks, value);
	snprintf(text, cap, "%.0f", value);
	return text;
}
