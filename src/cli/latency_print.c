// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur latency` on standard output: as text (tables, histograms, the worst ones), as JSON and as
 * CSV. JSON and CSV have all values in nanoseconds, or in ticks of the clock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "base/num.h"
#include "base/strings.h"
#include "cli/cli.h"
#include "cli/latency.h"
#include "cli/onefile.h"
#include "report/report.h"

#define LABEL_MIN   12
#define LABEL_MAX   40
#define NUMBER	    11
#define AROUND_TEXT (64u << 20)
#define WHY_INDENT  4

static const struct {
	const char *name;
	double q;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}};

static void put_number(const struct latency_shown *s, double ns, struct buf *to)
{
	char text[40];

	if (s->o->ns || s->ticks)
		snprintf(text, sizeof(text), "%.0f", ns);
	else
		num_span(text, sizeof(text), ns);
	buf_put_right(to, text, strlen(text), NUMBER);
}

/* How many groups are shown of all. */
static size_t nr_shown(const struct latency_shown *s)
{
	const size_t n = s->latency->groups.n;

	return s->o->top && (uint64_t)s->o->top < n ? (size_t)s->o->top : n;
}

/* ---- the table ---- */

static void put_cell(struct buf *to, const char *text)
{
	buf_put_right(to, text, strlen(text), NUMBER);
}

static void put_head(const char *first, size_t width, struct buf *to)
{
	buf_put_left(to, first, strlen(first), width);
	buf_put_right(to, "count", 5, 10);
	put_cell(to, "min");
	put_cell(to, "avg");
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		put_cell(to, quantiles[i].name);
	put_cell(to, "max");
	buf_putc(to, '\n');
}

static void put_line(const struct latency_shown *s, const char *label, size_t len, size_t width,
		     struct dist *d, struct buf *to)
{
	char count[32];

	snprintf(count, sizeof(count), "%llu", (unsigned long long)d->n);
	buf_put_left(to, label, len < width ? len : width - 1, width);
	buf_put_right(to, count, strlen(count), 10);
	if (!d->n) {
		buf_putc(to, '\n');
		return;
	}
	put_number(s, (double)d->min, to);
	put_number(s, d->mean, to);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		if (d->failed)
			put_cell(to, "-");
		else
			put_number(s, (double)dist_quantile(d, quantiles[i].q), to);
	}
	put_number(s, (double)d->max, to);
	buf_putc(to, '\n');
}

/* The columns as the user wrote them; live, the names of the columns. */
static void put_by(const struct latency *l, struct buf *to)
{
	for (const char *c = l->opt.by ? l->opt.by : ""; *c; c++)
		buf_putc(to, *c == ',' ? ' ' : *c);
	for (unsigned int i = 0; !l->opt.by && i < l->nr_by; i++)
		buf_printf(to, "%s%s", i ? " " : "", l->by[i]->name);
}

static size_t label_width(const struct latency_shown *s)
{
	size_t width = LABEL_MIN;
	scoped_buf label = buf_new(1u << 16);

	put_by(s->latency, &label);
	for (size_t i = 0; i <= nr_shown(s); i++) {
		if (label.len + 1 > width)
			width = label.len + 1 < LABEL_MAX ? label.len + 1 : LABEL_MAX;
		buf_reset(&label);
		if (i < nr_shown(s))
			latency_label(s->latency, s->latency->groups.at[i], &label);
	}
	return width;
}

static void put_table(const struct latency_shown *s, struct buf *to)
{
	const size_t width = label_width(s), n = nr_shown(s);
	struct latency *l = s->latency;
	scoped_buf label = buf_new(1u << 16);

	put_by(l, &label);
	put_head(buf_str(&label), width, to);
	for (size_t i = 0; i < n; i++) {
		buf_reset(&label);
		latency_label(l, l->groups.at[i], &label);
		put_line(s, label.data, label.len, width, &l->groups.at[i]->dist, to);
	}
	if (n < l->groups.n)
		buf_printf(to, "(%zu more; --top 0 shows all)\n", l->groups.n - n);
	if (l->groups.n != 1)
		put_line(s, "all", 3, width, &l->all.dist, to);
}

/* ---- histograms ---- */

static void put_bars(const struct latency_shown *s, struct latency_group *g, struct buf *to)
{
	struct bars powers = {0};

	buf_puts(to, s->ticks ? "ticks:\n" : "ns:\n");
	if (s->o->linear) {
		bars_print(&g->bars, s->ticks || s->o->ns ? BARS_NUMBERS : BARS_TIMES, "", to);
		return;
	}
	if (bars_log2(&powers, &g->dist))
		bars_print(&powers, BARS_POWERS, "", to);
	bars_free(&powers);
}

static void put_histograms(const struct latency_shown *s, struct buf *to)
{
	struct latency *l = s->latency;

	if (s->o->no_hist || !l->all.dist.n)
		return;
	if (!s->o->each || !l->nr_by) {
		buf_putc(to, '\n');
		put_bars(s, &l->all, to);
		return;
	}
	for (size_t i = 0; i < nr_shown(s); i++) {
		buf_putc(to, '\n');
		latency_label(l, l->groups.at[i], to);
		buf_puts(to, ", ");
		put_bars(s, l->groups.at[i], to);
	}
}

/* ---- the worst ---- */

/* Where the worst one began and, on the trace's time line, ended. */
static void span_of(const struct latency *l, const struct latency_worst *w, uint64_t *from,
		    uint64_t *to)
{
	*from = (uint64_t)row_number(&l->opt.table->columns[0], w->row);
	*to = *from;
	/* A softirq's latency is what was before it ran. */
	if (strcmp(l->opt.kind->name, "softirq") == 0)
		*from -= (uint64_t)w->value < *from ? (uint64_t)w->value : *from;
	else
		*to += (uint64_t)w->value;
}

static int add_line(void *arg, const char *data, size_t len)
{
	buf_put(arg, data, len);
	return 0;
}

int latency_put_around(const struct latency_shown *s, const struct latency_worst *w, struct buf *to,
		       struct spur_error *err)
{
	struct emit_source *sources = calloc(s->trace->nr_buffers + 1, sizeof(*sources));
	struct report rep = {.traces = &s->trace,
			     .nr_traces = 1,
			     .sources = sources,
			     .emit = &emit_text,
			     .threads = 1,
			     .stop = s->stopped ? NULL : &cli_stop,
			     .write = add_line,
			     .arg = to};
	uint64_t from, end;
	int rc;

	if (!sources)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->trace->nr_buffers; i++) {
		const struct trace_buffer *b = &s->trace->buffers[i];
		const int len = (int)strlen(b->data->name);

		if (b->data->text)
			continue;
		sources[rep.nr_sources++] =
			(struct emit_source){.buffer = b, .label = b->data->name};
		if (len > rep.options.label_width)
			rep.options.label_width = len;
	}
	rep.options.labelled = rep.nr_sources > 1;
	span_of(s->latency, w, &from, &end);
	rep.select.has_since = rep.select.has_until = true;
	rep.select.since = from > s->o->around ? from - s->o->around : 0;
	if (__builtin_add_overflow(end, s->o->around, &rep.select.until))
		rep.select.until = UINT64_MAX;
	rc = report_run(&rep, err);
	free(sources);
	return rc == -EINTR ? 0 : rc;
}

/* ---- why ---- */

/* Whether the text says why a worst one waited. */
static bool is_explained(const struct latency_shown *s)
{
	const struct latency_kind *k = s->latency->opt.kind;

	return s->trace && s->o->explain && (k->waits || k->contains);
}

/*
 * Explains a worst one. A system call may have no reason to show: then `none` says why not, else it
 * is NULL. why_free() is due in any case.
 */
static int make_why(const struct latency_shown *s, const struct latency_worst *w, struct why *why,
		    const char **none, struct spur_error *err)
{
	const struct latency_kind *k = s->latency->opt.kind;
	const struct table *t = s->latency->opt.table;
	uint64_t from, end;
	struct why_options opt = {.pid = row_number(latency_column(k, t, "pid", 3), w->row),
				  .moment = (uint64_t)row_number(&t->columns[0], w->row),
				  .buffer = row_text(latency_column(k, t, "buffer", 6), w->row),
				  .stop = s->stopped ? NULL : &cli_stop};
	int rc;

	*none = NULL;
	span_of(s->latency, w, &from, &end);
	if (k->contains)
		opt.until = end;
	rc = why_make(why, s->trace, &opt, err);
	if (rc < 0 || why->found || !opt.until)
		return rc;
	/* There is no wait during the call. Was it running then, or is that not known? */
	why_free(why);
	opt.until = 0;
	opt.moment = from + (end - from) / 2;
	rc = why_make(why, s->trace, &opt, err);
	*none = why->running ? "it did not wait"
		: why->exists
			? "whether it waited is not known"
			: "whether it waited is not known: sched_switch was not recorded with it";
	return rc;
}

static int put_why(const struct latency_shown *s, const struct latency_worst *w, struct buf *to,
		   struct spur_error *err)
{
	const char *none;
	struct why why;
	int rc = make_why(s, w, &why, &none, err);

	if (rc == 0 && none)
		buf_printf(to, "%*s%s\n", WHY_INDENT, "", none);
	else if (rc == 0)
		why_text(&why, WHY_INDENT, to);
	why_free(&why);
	return rc == -EINTR ? 0 : rc;
}

static bool add_cell(struct strings *c, const struct column *col, const void *row)
{
	char number[32] = "-";
	const char *text = number;

	if (!row)
		text = col->name;
	else if (row_is_text(col))
		text = row_text(col, row) ? row_text(col, row) : "-";
	else if (row_number(col, row) != ROW_NULL)
		snprintf(number, sizeof(number), "%lld", (long long)row_number(col, row));
	return strings_add(c, text);
}

/* Names of columns, then the rows' values, each as wide as the widest of its column. */
static bool make_cells(const struct latency *l, struct strings *c, size_t *columns)
{
	*columns = 0;
	for (const char *const *name = l->opt.kind->shown; *name; name++) {
		const struct column *col =
			latency_column(l->opt.kind, l->opt.table, *name, strlen(*name));

		if (!col)
			continue;
		for (size_t i = 0; i <= l->worst.n; i++)
			if (!add_cell(c, col, i ? l->worst.at[i - 1].row : NULL))
				return false;
		++*columns;
	}
	return true;
}

static void put_worst_line(const struct latency_shown *s, const struct strings *c, size_t columns,
			   size_t row, struct buf *to)
{
	const struct latency *l = s->latency;
	const size_t rows = l->worst.n + 1;
	char time[40] = "time";
	uint64_t from, end;

	if (row) {
		const struct latency_worst *w = &l->worst.at[row - 1];

		span_of(l, w, &from, &end);
		put_number(s, (double)w->value, to);
		snprintf(time, sizeof(time), s->ticks ? "%llu" : "%llu.%09llu",
			 (unsigned long long)(s->ticks ? from : from / 1000000000),
			 (unsigned long long)(from % 1000000000));
	} else {
		put_cell(to, "latency");
	}
	buf_put_right(to, time, strlen(time), 22);
	for (size_t k = 0; k < columns; k++) {
		size_t width = 0;

		for (size_t i = 0; i < rows; i++)
			if (strlen(c->at[k * rows + i]) > width)
				width = strlen(c->at[k * rows + i]);
		buf_puts(to, "  ");
		buf_put_left(to, c->at[k * rows + row], strlen(c->at[k * rows + row]),
			     k + 1 < columns ? width : 0);
	}
	buf_putc(to, '\n');
}

static int put_worst(const struct latency_shown *s, struct buf *to, struct spur_error *err)
{
	const struct latency *l = s->latency;
	struct strings c = {0};
	size_t columns;
	int rc = 0;

	if (!l->worst.n)
		return 0;
	buf_puts(to, "\nworst:\n");
	if (!make_cells(l, &c, &columns))
		rc = -ENOMEM;
	for (size_t i = 0; rc == 0 && i <= l->worst.n; i++) {
		put_worst_line(s, &c, columns, i, to);
		if (i && is_explained(s))
			rc = put_why(s, &l->worst.at[i - 1], to, err);
		if (!i || !s->o->around || rc < 0)
			continue;
		rc = latency_put_around(s, &l->worst.at[i - 1], to, err);
		buf_putc(to, '\n');
	}
	strings_free(&c);
	return rc;
}

/* ---- all of it ---- */

static void put_notes(const struct latency_shown *s, struct buf *to)
{
	const struct latency *l = s->latency;

	if (l->open_rows && s->trace)
		buf_printf(to, "%llu more %s seen from beginning to end\n",
			   (unsigned long long)l->open_rows,
			   l->open_rows == 1 ? "was not" : "were not");
	else if (l->open_rows)
		buf_printf(to, "%llu more had not ended\n", (unsigned long long)l->open_rows);
	if (l->unknown_rows)
		buf_printf(to, "%llu more may have ended earlier: events were lost meanwhile\n",
			   (unsigned long long)l->unknown_rows);
	if (s->forgotten)
		buf_printf(to, "%llu more were forgotten: too many waited at a time\n",
			   (unsigned long long)s->forgotten);
	if (!s->trace)
		buf_puts(to, "p50 to p99.9 are ends of buckets, up to 3.2 % too high\n");
	if (s->stopped)
		buf_puts(to, ONEFILE_STOPPED);
}

int latency_put_text(const struct latency_shown *s, struct buf *to, struct spur_error *err)
{
	int rc;

	buf_printf(to, "%s: %s%s\n", s->name, s->about,
		   s->ticks   ? "; in ticks of the trace's clock"
		   : s->o->ns ? "; in ns"
			      : "");
	put_table(s, to);
	put_histograms(s, to);
	rc = put_worst(s, to, err);
	put_notes(s, to);
	return rc;
}

/* ---- JSON ---- */

static void put_json_dist(struct dist *d, struct json_writer *w)
{
	json_put_u64(json_key(w, "count"), d->n);
	if (!d->n)
		return;
	json_put_i64(json_key(w, "min"), d->min);
	json_put_printf(json_key(w, "avg"), "%.1f", d->mean);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles) && !d->failed; i++)
		json_put_i64(json_key(w, quantiles[i].name), dist_quantile(d, quantiles[i].q));
	json_put_i64(json_key(w, "max"), d->max);
}

static void put_json_bars(const struct latency_shown *s, struct latency_group *g,
			  struct json_writer *w)
{
	struct bars powers = {0};

	if (s->o->no_hist)
		return;
	json_separate(json_key(w, "histogram"));
	if (s->o->linear)
		bars_json(&g->bars, w->out);
	else if (bars_log2(&powers, &g->dist))
		bars_json(&powers, w->out);
	bars_free(&powers);
}

static void put_json_groups(const struct latency_shown *s, struct json_writer *w)
{
	struct latency *l = s->latency;

	json_array(json_key(w, "groups"));
	for (size_t i = 0; i < nr_shown(s); i++) {
		struct latency_group *g = l->groups.at[i];

		json_newline(w);
		json_object(w);
		for (unsigned int k = 0; k < l->nr_by && !g->rest; k++) {
			json_key_bytes(w, l->by[k]->name, strlen(l->by[k]->name));
			if (g->keys[k].text)
				json_put_text(w, g->keys[k].text);
			else
				json_put_i64_or_null(w, g->keys[k].number, ROW_NULL);
		}
		if (g->rest)
			json_put_bool(json_key(w, "rest"), true);
		put_json_dist(&g->dist, w);
		if (s->o->each)
			put_json_bars(s, g, w);
		json_end_object(w);
	}
	json_end_array(w);
}

static int put_json_around(const struct latency_shown *s, const struct latency_worst *worst,
			   struct json_writer *w, struct spur_error *err)
{
	scoped_buf lines = buf_new(AROUND_TEXT);
	int rc = latency_put_around(s, worst, &lines, err);

	json_array(json_key(w, "around"));
	for (size_t at = 0; rc == 0 && at < lines.len;) {
		const char *end = memchr(lines.data + at, '\n', lines.len - at);
		const size_t len = end ? (size_t)(end - lines.data) - at : lines.len - at;

		json_put_bytes(w, lines.data + at, len);
		at += len + 1;
	}
	json_end_array(w);
	return rc;
}

static int put_json_why(const struct latency_shown *s, const struct latency_worst *worst,
			struct json_writer *w, struct spur_error *err)
{
	const char *none;
	struct why why;
	int rc = make_why(s, worst, &why, &none, err);

	if (rc == 0 && none) {
		json_put_text(json_key(w, "no_why"), none);
	} else if (rc == 0) {
		json_separate(json_key(w, "why"));
		why_json(&why, w->out);
	}
	why_free(&why);
	return rc;
}

static int put_json_worst(const struct latency_shown *s, struct json_writer *w,
			  struct spur_error *err)
{
	const struct latency *l = s->latency;
	const struct table *t = l->opt.table;
	int rc = 0;

	json_array(json_key(w, "worst"));
	for (size_t i = 0; rc == 0 && i < l->worst.n; i++) {
		const struct latency_worst *worst = &l->worst.at[i];

		json_newline(w);
		json_object(w);
		json_put_i64(json_key(w, "value"), worst->value);
		for (uint32_t k = 0; k < t->nr_columns; k++) {
			json_key_bytes(w, t->columns[k].name, strlen(t->columns[k].name));
			if (row_is_text(&t->columns[k]))
				json_put_text(w, row_text(&t->columns[k], worst->row));
			else
				json_put_i64_or_null(w, row_number(&t->columns[k], worst->row),
						     ROW_NULL);
		}
		if (is_explained(s))
			rc = put_json_why(s, worst, w, err);
		if (s->o->around && rc == 0)
			rc = put_json_around(s, worst, w, err);
		json_end_object(w);
	}
	json_end_array(w);
	return rc;
}

int latency_put_json(const struct latency_shown *s, struct buf *to, struct spur_error *err)
{
	struct json_writer w = {to, .spaced = true};
	struct latency *l = s->latency;
	int rc = 0;

	json_object(&w);
	json_put_text(json_key(&w, "kind"), s->name);
	json_put_text(json_key(&w, "about"), s->about);
	json_put_text(json_key(&w, "unit"), s->ticks ? "ticks" : "ns");
	/* Those of the kernel are ends of its buckets. */
	if (!s->trace)
		json_put_raw(json_key(&w, "quantiles_up_to"), "1.032");
	put_json_dist(&l->all.dist, &w);
	json_put_u64(json_key(&w, "open"), l->open_rows);
	json_put_u64(json_key(&w, "unknown"), l->unknown_rows + s->forgotten);
	json_put_bool(json_key(&w, "complete"), !s->stopped);
	if (l->all.dist.n)
		put_json_bars(s, &l->all, &w);
	if (l->nr_by)
		put_json_groups(s, &w);
	if (s->trace)
		rc = put_json_worst(s, &w, err);
	json_end_object(&w);
	buf_putc(to, '\n');
	return rc;
}

/* ---- CSV ---- */

static void put_csv_dist(struct dist *d, struct buf *to)
{
	buf_printf(to, "%llu,%lld,%.1f,", (unsigned long long)d->n, (long long)d->min, d->mean);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		if (!d->failed)
			buf_i64(to, dist_quantile(d, quantiles[i].q));
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
	for (size_t i = 0; i < nr_shown(s); i++) {
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
