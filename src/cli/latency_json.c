// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur latency` for programs: JSON and CSV, all values in nanoseconds or the clock's ticks. */
#include <string.h>

#include "base/json.h"
#include "cli/latency.h"

#define AROUND_TEXT (64u << 20)

static void put_name(struct buf *to, const char *name)
{
	buf_json_string(to, name, strlen(name));
	buf_puts(to, ": ");
}

static void put_dist(struct dist *d, struct buf *to)
{
	buf_printf(to, "\"count\": %llu", (unsigned long long)d->n);
	if (!d->n)
		return;
	buf_printf(to, ", \"min\": %lld, \"avg\": %.1f", (long long)d->min, d->mean);
	for (int i = 0; i < LATENCY_QUANTILES && !d->failed; i++) {
		buf_puts(to, ", ");
		put_name(to, latency_quantiles[i].name);
		buf_i64(to, dist_quantile(d, latency_quantiles[i].q));
	}
	buf_printf(to, ", \"max\": %lld", (long long)d->max);
}

static void put_bars(const struct latency_shown *s, struct latency_group *g, struct buf *to)
{
	struct bars powers = {0};

	if (s->o->no_hist)
		return;
	buf_puts(to, ", \"histogram\": ");
	if (s->o->linear)
		bars_json(&g->bars, to);
	else if (bars_log2(&powers, &g->dist))
		bars_json(&powers, to);
	bars_free(&powers);
}

static void put_text(struct buf *to, const char *text)
{
	if (text)
		buf_json_string(to, text, strlen(text));
	else
		buf_puts(to, "null");
}

static void put_value(struct buf *to, int64_t number)
{
	if (number == ROW_NULL)
		buf_puts(to, "null");
	else
		buf_i64(to, number);
}

static void put_groups(const struct latency_shown *s, struct buf *to)
{
	struct latency *l = s->latency;

	buf_puts(to, ", \"groups\": [");
	for (size_t i = 0; i < latency_nr_shown(s); i++) {
		struct latency_group *g = l->groups.at[i];

		buf_puts(to, i ? ",\n{" : "\n{");
		for (unsigned int k = 0; k < l->nr_by && !g->rest; k++) {
			put_name(to, l->by[k]->name);
			if (g->keys[k].text || g->keys[k].number == ROW_NULL)
				put_text(to, g->keys[k].text);
			else
				buf_i64(to, g->keys[k].number);
			buf_puts(to, ", ");
		}
		if (g->rest)
			buf_puts(to, "\"rest\": true, ");
		put_dist(&g->dist, to);
		if (s->o->each)
			put_bars(s, g, to);
		buf_putc(to, '}');
	}
	buf_putc(to, ']');
}

static int put_around(const struct latency_shown *s, const struct latency_worst *w, struct buf *to,
		      struct spur_error *err)
{
	struct buf lines;
	int rc;

	buf_init(&lines, AROUND_TEXT);
	rc = latency_lines_around(s, w, &lines, err);
	buf_puts(to, ", \"around\": [");
	for (size_t at = 0; rc == 0 && at < lines.len;) {
		const char *end = memchr(lines.data + at, '\n', lines.len - at);
		const size_t len = end ? (size_t)(end - lines.data) - at : lines.len - at;

		if (at)
			buf_puts(to, ", ");
		buf_json_string(to, lines.data + at, len);
		at += len + 1;
	}
	buf_putc(to, ']');
	buf_free(&lines);
	return rc;
}

static int put_why(const struct latency_shown *s, const struct latency_worst *w, struct buf *to,
		   struct spur_error *err)
{
	struct why why;
	int rc = latency_why(s, w, &why, err);

	if (rc == 0) {
		buf_puts(to, ", \"why\": ");
		why_json(&why, to);
	}
	why_free(&why);
	return rc;
}

static int put_worst(const struct latency_shown *s, struct buf *to, struct spur_error *err)
{
	const struct latency *l = s->latency;
	const struct table *t = l->opt.table;
	int rc = 0;

	buf_puts(to, ", \"worst\": [");
	for (size_t i = 0; rc == 0 && i < l->worst.n; i++) {
		const struct latency_worst *w = &l->worst.at[i];

		buf_puts(to, i ? ",\n{" : "\n{");
		buf_printf(to, "\"value\": %lld", (long long)w->value);
		for (uint32_t k = 0; k < t->nr_columns; k++) {
			buf_puts(to, ", ");
			put_name(to, t->columns[k].name);
			if (row_is_text(&t->columns[k]))
				put_text(to, row_text(&t->columns[k], w->row));
			else
				put_value(to, row_number(&t->columns[k], w->row));
		}
		if (latency_explains(s))
			rc = put_why(s, w, to, err);
		if (s->o->around && rc == 0)
			rc = put_around(s, w, to, err);
		buf_putc(to, '}');
	}
	buf_putc(to, ']');
	return rc;
}

int latency_put_json(const struct latency_shown *s, struct buf *to, struct spur_error *err)
{
	struct latency *l = s->latency;
	int rc = 0;

	buf_puts(to, "{\"kind\": ");
	put_text(to, s->name);
	buf_puts(to, ", \"about\": ");
	put_text(to, s->about);
	buf_printf(to, ", \"unit\": \"%s\", ", s->ticks ? "ticks" : "ns");
	/* Those of the kernel are ends of its buckets. */
	if (!s->trace)
		buf_puts(to, "\"quantiles_up_to\": 1.032, ");
	put_dist(&l->all.dist, to);
	buf_printf(to, ", \"open\": %llu, \"unknown\": %llu, \"complete\": %s",
		   (unsigned long long)l->open_rows,
		   (unsigned long long)(l->unknown_rows + s->forgotten),
		   s->stopped ? "false" : "true");
	if (l->all.dist.n)
		put_bars(s, &l->all, to);
	if (l->nr_by)
		put_groups(s, to);
	if (s->trace)
		rc = put_worst(s, to, err);
	buf_puts(to, "}\n");
	return rc;
}

/* ---- CSV ---- */

static void put_csv_dist(struct dist *d, struct buf *to)
{
	buf_printf(to, "%llu,%lld,%.1f,", (unsigned long long)d->n, (long long)d->min, d->mean);
	for (int i = 0; i < LATENCY_QUANTILES; i++) {
		if (!d->failed)
			buf_i64(to, dist_quantile(d, latency_quantiles[i].q));
		buf_putc(to, ',');
	}
	buf_printf(to, "%lld\n", (long long)d->max);
}

void latency_put_csv(const struct latency_shown *s, struct buf *to)
{
	struct latency *l = s->latency;

	for (unsigned int k = 0; k < l->nr_by; k++)
		buf_printf(to, "%s,", l->by[k]->name);
	buf_puts(to, "count,min,avg,p50,p90,p99,p99.9,max\n");
	if (!l->nr_by && l->all.dist.n)
		put_csv_dist(&l->all.dist, to);
	for (size_t i = 0; i < latency_nr_shown(s); i++) {
		struct latency_group *g = l->groups.at[i];

		for (unsigned int k = 0; k < l->nr_by; k++) {
			if (g->keys[k].text)
				buf_csv_cell(to, g->keys[k].text, strlen(g->keys[k].text));
			else if (!g->rest && g->keys[k].number != ROW_NULL)
				buf_i64(to, g->keys[k].number);
			buf_putc(to, ',');
		}
		put_csv_dist(&g->dist, to);
	}
}
