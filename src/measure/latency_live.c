// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From the maps of a script to distributions: each map is read as it is printed, and with the last
 * one of them everything is there.
 */
#include "measure/latency_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "measure/latency_live_parts.h"
#include "base/error.h"
#include "base/vec.h"
#include "script/script.h"

#define SCRIPT_LIMIT (1u << 20)
#define LABEL_LIMIT  4096

struct reader {
	const struct latency_live *o;
	struct live_columns by;
	struct column columns[LATENCY_KEYS];
	struct latency now;
};

/* ---- keys ---- */

static const struct vtype *key_type(const struct map_def *m, unsigned int i, uint32_t *offset)
{
	*offset = 0;
	if (m->key.kind != V_TUPLE)
		return i == 0 ? &m->key : NULL;
	if (i >= m->key.nr_elems)
		return NULL;
	*offset = m->key.elems[i].offset;
	return m->key.elems[i].type;
}

static void put_shown(struct buf *to, enum live_shown how, int64_t number)
{
	static const char *const softirqs[] = {"HI",	   "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					       "IRQ_POLL", "TASKLET", "SCHED",	"HRTIMER", "RCU"};

	if (how == SHOWN_SOFTIRQ && number >= 0 &&
	    number < (int64_t)(sizeof(softirqs) / sizeof(softirqs[0])))
		buf_puts(to, softirqs[number]);
	else if (how == SHOWN_DEVICE)
		buf_printf(to, "%lld,%lld", (long long)(number >> 20),
			   (long long)(number & 0xfffff));
	else
		buf_i64(to, number);
}

static int read_key(struct reader *r, struct output *o, const struct vtype *t, const uint8_t *v,
		    enum live_shown how, struct latency_key *key)
{
	struct buf *usual = o->to, text;

	if (t->kind == V_INT && how == SHOWN_AS_IS) {
		key->number = live_number(t, v);
		return 0;
	}
	buf_init(&text, LABEL_LIMIT);
	if (how == SHOWN_AS_IS) {
		o->to = &text;
		output_value(o, t, v);
		o->to = usual;
	} else {
		put_shown(&text, how, live_number(t, v));
	}
	key->number = ROW_NULL;
	key->text = strdup(buf_str(&text));
	buf_free(&text);
	return key->text ? 0 : -ENOMEM;
}

static int read_keys(struct reader *r, struct output *o, const struct map_def *m,
		     const struct map_row *row, struct latency_group *g)
{
	int rc = 0;

	for (unsigned int i = 0; i < r->by.n && rc == 0; i++) {
		uint32_t offset;
		const struct vtype *t = key_type(m, i, &offset);

		if (!t || offset + t->size > m->key_size)
			return -EINVAL;
		rc = read_key(r, o, t, row->key + offset, r->by.at[i].shown, &g->keys[i]);
	}
	return rc;
}

static bool same_keys(const struct reader *r, const struct latency_group *a,
		      const struct latency_group *b)
{
	for (unsigned int i = 0; i < r->by.n; i++) {
		const struct latency_key *x = &a->keys[i], *y = &b->keys[i];

		if (x->number != y->number || !x->text != !y->text ||
		    (x->text && strcmp(x->text, y->text) != 0))
			return false;
	}
	return true;
}

static void free_keys(struct latency_group *g)
{
	for (unsigned int i = 0; i < LATENCY_KEYS; i++)
		free((char *)g->keys[i].text);
}

/* The group of a row: that of the same row in the maps before, or a new one. */
static int group_of(struct reader *r, struct output *o, const struct map_def *m,
		    const struct map_row *row, bool add, struct latency_group **out)
{
	struct latency_group *g = calloc(1, sizeof(*g)), **slot = NULL;
	int rc = g ? read_keys(r, o, m, row, g) : -ENOMEM;

	*out = NULL;
	for (size_t i = 0; rc == 0 && i < r->now.groups.n && !*out; i++)
		if (same_keys(r, r->now.groups.at[i], g))
			*out = r->now.groups.at[i];
	if (rc == 0 && !*out && add) {
		slot = vec_push(&r->now.groups);
		rc = slot ? 0 : -ENOMEM;
	}
	if (slot) {
		*out = *slot = g;
		return 0;
	}
	if (g)
		free_keys(g);
	free(g);
	return rc;
}

/* ---- maps ---- */

static uint64_t word(const uint8_t *v, size_t i)
{
	uint64_t n;

	memcpy(&n, v + i * sizeof(n), sizeof(n));
	return n;
}

static void take_hist(struct latency_group *g, const uint8_t *value)
{
	for (uint32_t i = 0; i < agg_hist_buckets(LIVE_BITS); i++) {
		const uint64_t count = word(value, i);
		int64_t from, to;

		if (!count)
			continue;
		agg_hist_range(i, LIVE_BITS, &from, &to);
		dist_add_many(&g->dist, i ? to - 1 : 0, count);
	}
}

static void take_stats(struct latency_group *g, const uint8_t *value)
{
	const uint64_t count = word(value, 0);

	g->dist.sum = (double)(int64_t)word(value, 1);
	g->dist.mean = count ? g->dist.sum / (double)count : 0;
}

static void take_min(struct latency_group *g, const uint8_t *value)
{
	if (word(value, 1))
		g->dist.min = (int64_t)word(value, 0);
}

static void take_max(struct latency_group *g, const uint8_t *value)
{
	if (word(value, 1))
		g->dist.max = (int64_t)word(value, 0);
}

/* No bucket's end is beyond the extremes. */
static void tighten(struct dist *d)
{
	for (size_t i = 0; d->values && i < d->n; i++) {
		if (d->values[i] > d->max)
			d->values[i] = d->max;
		if (d->values[i] < d->min)
			d->values[i] = d->min;
	}
}

static void sum_up(struct latency *l)
{
	struct dist *all = &l->all.dist;

	for (size_t i = 0; i < l->groups.n; i++) {
		struct dist *d = &l->groups.at[i]->dist;
		const double sum = all->sum + d->sum;

		if (!d->n)
			continue;
		tighten(d);
		dist_merge(all, d);
		/* Of bucket ends these are not those of the values. */
		all->min = d->min < all->min ? d->min : all->min;
		all->sum = sum;
		all->mean = sum / (double)all->n;
	}
}

static void forget(struct reader *r)
{
	latency_free(&r->now);
	r->now = (struct latency){.nr_by = r->by.n};
	for (unsigned int i = 0; i < r->by.n; i++)
		r->now.by[i] = &r->columns[i];
	r->now.opt.kind = r->o->kind;
}

static int show(struct reader *r, size_t waiting)
{
	struct spur_error err = {0};
	int rc;

	sum_up(&r->now);
	r->now.open_rows = waiting;
	rc = latency_finish(&r->now, r->o->order, &err);
	/* The one group of all has no name. */
	if (rc == 0 && !r->by.n) {
		for (size_t i = 0; i < r->now.groups.n; i++) {
			dist_free(&r->now.groups.at[i]->dist);
			free(r->now.groups.at[i]);
		}
		vec_free(&r->now.groups);
	}
	if (rc == 0)
		r->o->show(r->o->arg, &r->now);
	forget(r);
	return rc;
}

static int on_map(void *arg, struct output *o, const struct map_def *m, const struct map_rows *rows)
{
	static const struct {
		const char *map;
		enum vkind kind;
		void (*take)(struct latency_group *g, const uint8_t *value);
	} takers[] = {
		{LIVE_HIST, V_HIST, take_hist},
		{LIVE_STATS, V_STATS, take_stats},
		{LIVE_MIN, V_MIN, take_min},
		{LIVE_MAX, V_MAX, take_max},
	};
	struct reader *r = arg;
	size_t k = 0;
	int rc = 0;

	if (strcmp(m->name, LIVE_SINCE) == 0)
		return show(r, rows->n);
	while (k < sizeof(takers) / sizeof(takers[0]) && strcmp(takers[k].map, m->name) != 0)
		k++;
	if (k == sizeof(takers) / sizeof(takers[0]) || m->value.kind != takers[k].kind)
		return 0;
	for (size_t i = 0; i < rows->n && rc == 0; i++) {
		struct latency_group *g;

		rc = group_of(r, o, m, &rows->at[i], k == 0, &g);
		if (rc == 0 && g)
			takers[k].take(g, rows->at[i].value);
	}
	return rc;
}

/* ---- running ---- */

/* The script prints nothing else. */
static int on_write(void *arg, const char *data, size_t len, bool errors)
{
	return 0;
}

static void on_note(void *arg, const char *text)
{
	const struct reader *r = arg;

	if (r->o->note)
		r->o->note(r->o->arg, text);
}

int latency_live(const struct latency_live *o, struct spur_error *err)
{
	struct reader r = {.o = o};
	struct script_options opt = {.stop_fd = o->stop_fd,
				     .map = on_map,
				     .write = on_write,
				     .note = on_note,
				     .arg = &r};
	struct buf text;
	int rc;

	buf_init(&text, SCRIPT_LIMIT);
	rc = latency_live_write(o, &text, &r.by, err);
	for (unsigned int i = 0; i < r.by.n; i++)
		r.columns[i] = (struct column){.name = r.by.at[i].name, .type = COLUMN_TEXT};
	forget(&r);
	if (rc == 0)
		rc = live_script_run(&opt, &text, err);
	latency_free(&r.now);
	buf_free(&text);
	return rc;
}
