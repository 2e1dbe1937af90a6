// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparing the measures of two traces, and formatting numbers of a comparison. */
#include "stats/diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/num.h"
#include "base/order.h"
#include "base/vec.h"
#include "event/names.h"

#define FIRST_WIDTH 1000
#define ENOUGH	    8	 /* so many stretches are needed for a variance */
#define FEW	    8	 /* values of a distribution, fewer are not compared */
#define UNLIKELY    0.05 /* a smaller probability, corrected, means a change */
#define CONFIDENCE  1.96 /* standard errors of 95 % */

/* ---- how an amount is spread over time ---- */

static void halve(struct diff_series *s)
{
	for (unsigned int i = 0; i < DIFF_STRETCHES / 2; i++)
		s->at[i] = s->at[2 * i] + s->at[2 * i + 1];
	memset(s->at + DIFF_STRETCHES / 2, 0, sizeof(s->at) / 2);
	s->width *= 2;
}

static void reach(struct diff_series *s, uint64_t time)
{
	if (!s->width)
		s->width = FIRST_WIDTH;
	while (time / s->width >= DIFF_STRETCHES)
		halve(s);
}

void diff_series_add(struct diff_series *s, uint64_t time, double amount)
{
	reach(s, time);
	s->at[time / s->width] += amount;
}

void diff_series_spread(struct diff_series *s, uint64_t from, uint64_t to)
{
	reach(s, to);
	while (from < to) {
		const uint64_t i = from / s->width, left = s->width - from % s->width;
		const uint64_t until = left < to - from ? from + left : to;

		s->at[i] += (double)(until - from);
		from = until;
	}
}

double diff_series_error(struct diff_series *s, uint64_t duration)
{
	double mean = 0, squares = 0;
	uint64_t n;

	reach(s, duration);
	/* The last stretch is not complete. */
	n = duration / s->width;
	if (n < ENOUGH)
		return 0;
	for (uint64_t i = 0; i < n; i++)
		mean += s->at[i] / (double)n;
	for (uint64_t i = 0; i < n; i++)
		squares += (s->at[i] - mean) * (s->at[i] - mean);
	return sqrt(squares / (double)(n - 1) / (double)n) / (double)s->width;
}

/* ---- comparing ---- */

const struct diff_quantile diff_quantiles[DIFF_STATS] = {
	{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"max", 1}};

static void free_side(struct diff_side *s)
{
	for (unsigned int i = 0; i < DIFF_DISTS; i++)
		if (s->has[i])
			latency_free(&s->latency[i]);
	vec_each (a, &s->amounts)
		free(*a);
	vec_free(&s->amounts);
	map_free(&s->index);
}

void diff_free(struct diff *d)
{
	vec_each (f, &d->focus) {
		diff_cases_free(*f);
		for (unsigned int i = 0; i < DIFF_SIDES; i++)
			if ((*f)->ready[i])
				latency_free(&(*f)->latency[i]);
		pattern_free(&(*f)->pattern);
		free(*f);
	}
	vec_free(&d->focus);
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		free_side(&d->side[i]);
		pairs_free(d->side[i].pairs);
	}
	vec_free(&d->measures);
	intern_free(&d->names);
}

bool diff_key_is_pattern(const char *key)
{
	return strpbrk(key, "*?") != NULL;
}

static bool has_focus(const struct diff *d, const struct diff_family *f, const char *key)
{
	for (size_t i = 0; i < d->focus.n; i++) {
		const struct diff_focus *other = d->focus.at[i];

		if (other->family == f && other->key == key)
			return true;
	}
	return false;
}

int diff_focus_add(struct diff *d, const struct diff_family *f, const char *key, size_t len,
		   struct spur_error *err)
{
	const char *name = key ? intern_text(&d->names, key, len) : NULL;
	struct diff_focus *focus;
	int rc;

	if (!f->kind)
		return 0;
	if (key && !name)
		return error_set(err, -ENOMEM, "out of memory");
	/* Equal names are one pointer. */
	if (has_focus(d, f, name))
		return 0;
	focus = calloc(1, sizeof(*focus));
	if (!focus || !vec_add(&d->focus, &focus)) {
		free(focus);
		return error_set(err, -ENOMEM, "out of memory");
	}
	focus->family = f;
	focus->key = name;
	focus->whose.diff = d;
	if (!name || !diff_key_is_pattern(name))
		return 0;
	rc = pattern_glob(&focus->pattern, name, strlen(name), err);
	return rc < 0 ? error_prefix(err, "%s", name) : 0;
}

bool diff_focus_shown(const struct diff_focus *f)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		n += f->ready[i] ? f->latency[i].all.dist.n : 0;
	return n || !f->usual;
}

/* ---- statistics ---- */

bool diff_enough(uint64_t n, double q)
{
	const double count = (double)n, spread = CONFIDENCE * sqrt(count * q * (1 - q));

	return floor(q * count - spread) >= 1 && ceil(q * count + spread) + 1 <= count;
}

/* The distances of the ends add up like independent errors. */
void diff_range(const double value[DIFF_SIDES], const double low[DIFF_SIDES],
		const double high[DIFF_SIDES], double *from, double *to)
{
	const double d = value[DIFF_B] - value[DIFF_A];

	*from = d - hypot(value[DIFF_B] - low[DIFF_B], high[DIFF_A] - value[DIFF_A]);
	*to = d + hypot(high[DIFF_B] - value[DIFF_B], value[DIFF_A] - low[DIFF_A]);
}

struct ranked {
	double p;
	size_t index;
};

static int by_p(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->p > y->p) - (x->p < y->p);
}

bool diff_correct(double *p, size_t n)
{
	struct ranked *list = calloc(n + 1, sizeof(*list));
	double most = 0;

	if (!list)
		return false;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct ranked){p[i], i};
	qsort(list, n, sizeof(*list), by_p);
	for (size_t i = 0; i < n; i++) {
		/* A probability cannot become less than that of a more extreme measure. */
		most = fmax(most, fmin(1, list[i].p * (double)(n - i)));
		p[list[i].index] = most;
	}
	free(list);
	return true;
}

/* The smallest likely change, in powers of two: the end of the interval that is nearest to 0. */
static double score_of(const struct diff_stat *s, double least)
{
	const double a = fmax(s->value[DIFF_A], least);
	const double change = s->low > 0 ? s->low : s->high < 0 ? s->high : 0;

	if (!s->clear)
		return 0;
	return fabs(log2(fmax(a + change, least) / a));
}

static void set_clear(struct diff_stat *s)
{
	s->clear = s->has_range && (s->low > 0 || s->high < 0);
}

static void compare_dists(struct diff_measure *m)
{
	struct dist *const *d = m->dist;

	m->ks = dist_compare(d[DIFF_A], d[DIFF_B]);
	m->probability = m->ks.probability;
	for (unsigned int i = 0; i < m->nr_stats; i++) {
		struct diff_stat *s = &m->stats[i];
		const double q = diff_quantiles[i].q;
		double low[DIFF_SIDES], high[DIFF_SIDES];

		if (i == DIFF_MAX || !diff_enough(d[DIFF_A]->n, q) || !diff_enough(d[DIFF_B]->n, q))
			continue;
		for (unsigned int k = 0; k < DIFF_SIDES; k++) {
			int64_t from, to;

			dist_quantile_range(d[k], q, &from, &to);
			low[k] = (double)from;
			high[k] = (double)to;
		}
		s->has_range = true;
		diff_range(s->value, low, high, &s->low, &s->high);
		set_clear(s);
	}
}

/* The amount's value: per second, or part of the time; and its standard error. */
static double amount_value(const struct diff_side *s, const struct diff_amount *a, double *error)
{
	const double time = diff_duration(s);
	const double unit = a->family->unit == DIFF_RATE ? 1e9 : 1;
	double e;

	*error = 0;
	if (time <= 0)
		return 0;
	/* The error of independent events; bursts have a larger one. */
	e = diff_series_error((struct diff_series *)&a->series, s->last - s->first);
	if (a->family->unit == DIFF_RATE)
		e = fmax(e, sqrt(fmax(a->total, 1)) / time);
	*error = e * unit;
	return a->total / time * unit;
}

/* Time that is unknown may belong to an amount, so the true value may be so much larger. */
static double amount_more(const struct diff *d, const struct diff_side *s,
			  const struct diff_amount *a)
{
	const double time = diff_duration(s);

	return time > 0 ? diff_unknown(d, s, a) / time : 0;
}

static void compare_amounts(const struct diff *d, struct diff_measure *m)
{
	struct diff_stat *s = &m->stats[0];
	double error[DIFF_SIDES], more[DIFF_SIDES], both, change, sure;

	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		s->value[i] = amount_value(&d->side[i], m->amount[i], &error[i]);
		more[i] = amount_more(d, &d->side[i], m->amount[i]);
	}
	both = hypot(error[DIFF_A], error[DIFF_B]);
	change = s->value[DIFF_B] - s->value[DIFF_A];
	m->probability = 1;
	if (both <= 0)
		return;
	s->has_range = true;
	s->low = change - more[DIFF_A] - CONFIDENCE * both;
	s->high = change + more[DIFF_B] + CONFIDENCE * both;
	set_clear(s);
	sure = fmax(0, change > 0 ? change - more[DIFF_A] : -change - more[DIFF_B]);
	m->probability = erfc(sure / both / sqrt(2));
}

/* ---- measures ---- */

struct joining {
	struct diff *d;
	struct map index;
	bool failed;
};

static bool is_measure(const struct diff_measure *m, const struct diff_family *f, const char *key)
{
	return m->family == f && (m->key == key || (m->key && key && strcmp(m->key, key) == 0));
}

/* The measure of that name; indices are from 1, as the array moves. */
static struct diff_measure *measure(struct joining *j, const struct diff_family *f, const char *key)
{
	uint64_t hash = diff_hash(j->d, f, key);
	struct diff_measure *m;
	uintptr_t at;

	for (; (at = (uintptr_t)map_get(&j->index, hash)) != 0; hash++)
		if (is_measure(&j->d->measures.at[at - 1], f, key))
			return &j->d->measures.at[at - 1];
	m = vec_push(&j->d->measures);
	if (!m || !map_set(&j->index, hash, (void *)j->d->measures.n)) {
		j->failed = true;
		return NULL;
	}
	m->family = f;
	m->key = key;
	m->probability = m->corrected = 1;
	return m;
}

static void join_dist(struct joining *j, unsigned int side, const struct diff_family *f,
		      const char *key, struct dist *dist)
{
	struct diff_measure *m = dist->n ? measure(j, f, key) : NULL;

	if (!m)
		return;
	m->dist[side] = dist;
	m->count[side] = dist->n;
	m->nr_stats = DIFF_STATS;
	for (unsigned int i = 0; i < DIFF_STATS; i++) {
		m->stats[i].name = diff_quantiles[i].name;
		m->stats[i].value[side] =
			i == DIFF_MAX  ? (double)dist->max
			: dist->failed ? NAN
				       : (double)dist_quantile(dist, diff_quantiles[i].q);
	}
}

static void join_side(struct joining *j, unsigned int side)
{
	struct diff_side *s = &j->d->side[side];

	for (unsigned int i = 0; i < DIFF_DISTS; i++) {
		if (!s->has[i])
			continue;
		join_dist(j, side, &j->d->dists[i], NULL, &s->latency[i].all.dist);
		for (size_t k = 0; k < s->latency[i].groups.n; k++) {
			struct latency_group *g = s->latency[i].groups.at[k];

			s->full |= g->rest || g->dist.failed;
			if (!g->rest && g->keys[0].text)
				join_dist(j, side, &j->d->dists[i], g->keys[0].text, &g->dist);
		}
	}
	for (size_t i = 0; i < s->amounts.n; i++) {
		struct diff_amount *a = s->amounts.at[i];
		struct diff_measure *m = measure(j, a->family, a->key);
		double error;

		if (!m)
			continue;
		m->amount[side] = a;
		m->count[side] = a->count;
		m->nr_stats = 1;
		m->stats[0].name = "";
		m->stats[0].value[side] = amount_value(s, a, &error);
	}
}

static bool both_there(const struct diff_measure *m)
{
	return m->count[DIFF_A] && m->count[DIFF_B];
}

static void compare(const struct diff *d, struct diff_measure *m)
{
	m->outcome = DIFF_ONLY;
	if (!both_there(m))
		return;
	if (m->amount[DIFF_A]) {
		compare_amounts(d, m);
	} else if (m->dist[DIFF_A]->failed || m->dist[DIFF_B]->failed || m->count[DIFF_A] < FEW ||
		   m->count[DIFF_B] < FEW) {
		m->outcome = DIFF_FEW;
		return;
	} else {
		compare_dists(m);
	}
	m->outcome = DIFF_SAME;
}

static bool correct_all(struct diff *d)
{
	double *p = calloc(d->measures.n + 1, sizeof(*p));
	bool fine;

	if (!p)
		return false;
	vec_each (m, &d->measures)
		if (m->outcome == DIFF_SAME)
			p[d->tested++] = m->probability;
	fine = diff_correct(p, d->tested);
	d->tested = 0;
	vec_each (m, &d->measures)
		if (m->outcome == DIFF_SAME)
			m->corrected = p[d->tested++];
	free(p);
	return fine;
}

/* The resolution of a measure: 1 ns, one event in the trace, 0.01 % of the time. */
static double least_of(const struct diff *d, const struct diff_measure *m)
{
	const double time = diff_duration(&d->side[DIFF_A]);

	if (m->family->unit == DIFF_RATE)
		return time > 0 ? 1e9 / time : 1;
	return m->family->unit == DIFF_PART ? 1e-4 : 1;
}

static void judge(const struct diff *d, struct diff_measure *m)
{
	for (unsigned int i = 0; i < m->nr_stats; i++) {
		const double score = score_of(&m->stats[i], least_of(d, m));

		if (score <= m->score)
			continue;
		m->score = score;
		m->telling = i;
	}
	if (m->outcome == DIFF_SAME && m->corrected < UNLIKELY)
		m->outcome = DIFF_CHANGED;
}

/* ---- tasks that were followed ---- */

/* Names by their interned pointers. */
struct followed {
	struct diff *d;
	struct map names;
	bool any; /* a trace has the events of some tasks only */
};

static bool add_name(struct followed *f, const char *name)
{
	const char *text = name ? intern_text(&f->d->names, name, strlen(name)) : NULL;

	return !name || (text && map_set(&f->names, (uint64_t)(uintptr_t)text, (void *)text));
}

/* Adds all names of a task in the trace. */
static bool add_names(struct followed *f, const struct spur_trace *t, int32_t pid)
{
	const struct comms *comms = t->events->comms;
	const struct dat_task *task;
	size_t n = 0, len;
	bool fine = true;

	task = dat_task_find(t->dat, pid, &n);
	for (size_t i = 0; fine && task && i < n; i++)
		fine = add_name(f, task[i].name);
	return fine && (!comms_known(comms, pid) || add_name(f, comms_find(comms, pid, &len)));
}

/* Marks measures of tasks that were not recorded, by name. */
static bool mark_unfollowed(struct diff *d)
{
	struct followed f = {.d = d};
	bool fine = true;

	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		const struct spur_trace *t = d->side[i].trace;

		f.any |= t && t->dat->followed.is;
		for (size_t k = 0; fine && t && k < t->dat->followed.nr; k++)
			fine = add_names(&f, t, t->dat->followed.pids[k]);
	}
	vec_each (m, &d->measures) {
		const char *key =
			f.any && m->key && strcmp(m->family->key, "task") == 0 ? m->key : NULL;
		const char *name = key ? intern_text(&d->names, key, strlen(key)) : NULL;

		m->unfollowed = key && !map_get(&f.names, (uint64_t)(uintptr_t)name);
	}
	map_free(&f.names);
	return fine;
}

/* ---- order ---- */

static double amount_shown(const struct diff_measure *m)
{
	return (double)(m->count[DIFF_A] > m->count[DIFF_B] ? m->count[DIFF_A] : m->count[DIFF_B]);
}

static int compare_names(const struct diff_measure *x, const struct diff_measure *y)
{
	const int order = strcmp(x->family->name, y->family->name);

	return order ? order : strcmp(x->key ? x->key : "", y->key ? y->key : "");
}

static int by_change(const void *a, const void *b)
{
	const struct diff_measure *x = a, *y = b;
	const double first[] = {x->score, x->ks.distance, amount_shown(x)};
	const double second[] = {y->score, y->ks.distance, amount_shown(y)};

	if (x->outcome != y->outcome)
		return (int)x->outcome - (int)y->outcome;
	if (x->unfollowed != y->unfollowed)
		return x->unfollowed ? 1 : -1;
	for (size_t i = 0; i < 3; i++)
		if (first[i] != second[i])
			return first[i] < second[i] ? 1 : -1;
	return compare_names(x, y);
}

int diff_finish(struct diff *d, struct spur_error *err)
{
	struct joining j = {.d = d};

	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (d->side[i].trace)
			join_side(&j, i);
	map_free(&j.index);
	if (j.failed)
		return error_set(err, -ENOMEM, "out of memory");
	vec_each (m, &d->measures)
		compare(d, m);
	if (!correct_all(d))
		return error_set(err, -ENOMEM, "out of memory");
	vec_each (m, &d->measures)
		judge(d, m);
	if (!mark_unfollowed(d))
		return error_set(err, -ENOMEM, "out of memory");
	order_vec(&d->measures, by_change);
	return 0;
}

struct diff_measure *diff_measure_find(const struct diff *d, const struct diff_family *f,
				       const char *key)
{
	vec_each (m, &d->measures)
		if (is_measure(m, f, key))
			return m;
	return NULL;
}

/* ---- numbers for people ---- */

const char *diff_shown(char *text, size_t cap, enum diff_unit unit, bool ticks, double value)
{
	if (isnan(value))
		snprintf(text, cap, "-");
	else if (unit == DIFF_PART)
		snprintf(text, cap, "%.*f %%", fabs(value) < 0.1 ? 2 : 1, 100 * value);
	else if (unit == DIFF_RATE && fabs(value) < 1)
		snprintf(text, cap, "%.3g /s", value);
	else if (unit == DIFF_RATE)
		snprintf(text, cap, "%.*f /s", fabs(value) < 100 ? 1 : 0, value);
	else if (ticks)
		snprintf(text, cap, "%.0f", value);
	else
		num_span(text, cap, value);
	return text;
}

const char *diff_change(char *text, size_t cap, double from, double to)
{
	/* A ratio is not negative, even if an interval is below 0. */
	const double ratio = from > 0 ? fmax(0, to / from) : 0;

	if (isnan(from) || isnan(to) || from <= 0)
		snprintf(text, cap, "-");
	else if (ratio >= 3)
		snprintf(text, cap, "x %.*f", ratio < 10 ? 1 : 0, ratio);
	else
		snprintf(text, cap, "%+.*f %%", fabs(ratio - 1) < 0.1 ? 1 : 0, 100 * (ratio - 1));
	return text;
}

const char *diff_probability(char *text, size_t cap, double p)
{
	if (p < 1e-9)
		snprintf(text, cap, "<1e-9");
	else
		snprintf(text, cap, p < 0.001 ? "%.0e" : "%.3f", p);
	return text;
}

void diff_put_name(const struct diff_family *f, const char *key, struct buf *to)
{
	buf_puts(to, f->name);
	if (!key)
		return;
	buf_putc(to, '[');
	buf_puts(to, key);
	buf_putc(to, ']');
}
