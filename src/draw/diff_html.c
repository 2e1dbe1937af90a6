// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A comparison as a page: requirements, changes, the distributions that changed most and their
 * worst cases.
 */
#include "draw/diff_html.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "base/xml.h"
#include "draw/svg.h"

#define DRAWN	   6	/* changed distributions that are drawn without being asked for */
#define RAN	   12	/* tasks and interrupts that are named */
#define ROWS	   40	/* rows of changes that are visible at first; the rest is folded */
#define MAX_ROWS   2000 /* of a table */
#define NAME_BYTES 4096
#define CELL	   64

extern const char diff_css[];

static const char *const letters[DIFF_SIDES] = {"A", "B"};

/* Whether times are ticks of a clock. */
static bool in_ticks(const struct diff_page *p)
{
	return p->diff->side[DIFF_A].ticks || p->diff->side[DIFF_B].ticks;
}

static void put_name(const char *before, const struct diff_family *f, const char *key,
		     const char *after, struct buf *out)
{
	scoped_buf name = buf_new(NAME_BYTES);

	diff_put_name(f, key, &name);
	buf_puts(out, before);
	buf_put_xml(out, name.data, name.len);
	buf_puts(out, after);
}

static void put_text(const char *before, const char *text, const char *after, struct buf *out)
{
	buf_puts(out, before);
	buf_puts_xml(out, text);
	buf_puts(out, after);
}

/* A cell of a table, empty when there is no value. */
static void put_cell(const struct diff_page *p, enum diff_unit unit, bool there, double value,
		     struct buf *out)
{
	char text[CELL];

	buf_printf(out, "<td class=\"r\">%s</td>",
		   there ? diff_shown(text, sizeof(text), unit, in_ticks(p), value) : "");
}

/* ---- distributions ---- */

static void put_stats_row(const struct diff_page *p, unsigned int side, struct dist *d,
			  struct buf *out)
{
	static const double qs[] = {0.5, 0.9, 0.99, 0.999};

	buf_printf(out, "<tr><td class=\"%s\">%s</td><td class=\"r\">%llu</td>", letters[side],
		   letters[side], (unsigned long long)d->n);
	put_cell(p, DIFF_TIME, d->n, (double)d->min, out);
	put_cell(p, DIFF_TIME, d->n, d->mean, out);
	for (size_t i = 0; i < ARRAY_SIZE(qs); i++)
		put_cell(p, DIFF_TIME, d->n && !d->failed, (double)dist_quantile(d, qs[i]), out);
	put_cell(p, DIFF_TIME, d->n, (double)d->max, out);
	buf_puts(out, "</tr>\n");
}

static void put_difference_row(const struct diff_page *p, const struct diff_measure *m,
			       struct buf *out)
{
	buf_puts(out, "<tr class=\"soft\"><td>B-A</td><td></td><td></td><td></td>");
	for (unsigned int i = 0; i < m->nr_stats; i++) {
		const struct diff_stat *st = &m->stats[i];
		char low[CELL], high[CELL];

		if (i == DIFF_MAX)
			buf_puts(out, "<td></td>");
		if (!st->has_range) {
			put_cell(p, DIFF_TIME, true, st->value[DIFF_B] - st->value[DIFF_A], out);
			continue;
		}
		buf_printf(out, "<td class=\"r\">%s … %s</td>",
			   diff_shown(low, sizeof(low), DIFF_TIME, in_ticks(p), st->low),
			   diff_shown(high, sizeof(high), DIFF_TIME, in_ticks(p), st->high));
	}
	buf_puts(out, "</tr>\n");
}

static void put_conclusion(const struct diff_page *p, const struct diff_measure *m, struct buf *out)
{
	char at[CELL], chance[CELL];

	if (!m || m->outcome >= DIFF_FEW)
		return;
	buf_printf(out,
		   "<p>%s: the distributions differ most at %s, by %.1f %% of the values; chance ",
		   m->outcome == DIFF_CHANGED ? "Changed" : "No clear change",
		   diff_shown(at, sizeof(at), DIFF_TIME, in_ticks(p), (double)m->ks.at),
		   100 * m->ks.distance);
	buf_puts_xml(out, diff_probability(chance, sizeof(chance), m->corrected));
	buf_puts(out, ".</p>\n");
}

/* Limits of requirements on single numbers of this distribution. */
static void find_limits(const struct diff_page *p, const struct diff_family *f, const char *key,
			struct diff_chart *c)
{
	for (size_t i = 0; i < p->nr_requirements && c->nr_limits < DIFF_LIMITS; i++) {
		const struct diff_requirement *r = &p->requirements[i];
		const bool same_key = key ? r->key && strlen(key) == r->key_len &&
						      memcmp(r->key, key, r->key_len) == 0
					  : !r->key;

		if (diff_family_find(p->diff, r->family, r->family_len) == f && same_key &&
		    !r->less.kind && r->stat.kind != DIFF_STAT_COUNT &&
		    r->stat.kind != DIFF_STAT_STDDEV && p->verdicts[i].limit > 0)
			c->limits[c->nr_limits++] = p->verdicts[i].limit;
	}
}

static void put_dists(const struct diff_page *p, const struct diff_family *f, const char *key,
		      struct dist *const dist[DIFF_SIDES], struct buf *out)
{
	const struct diff_measure *m = diff_measure_find(p->diff, f, key);
	struct diff_chart c = {.dist = {dist[DIFF_A], dist[DIFF_B]}, .ticks = in_ticks(p)};

	buf_puts(out, "<div class=\"wide\"><table><tr><th></th><th class=\"r\">count</th>"
		      "<th class=\"r\">min</th><th class=\"r\">avg</th><th class=\"r\">p50</th>"
		      "<th class=\"r\">p90</th><th class=\"r\">p99</th><th class=\"r\">p99.9</th>"
		      "<th class=\"r\">max</th></tr>\n");
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (dist[i])
			put_stats_row(p, i, dist[i], out);
	if (m && m->outcome < DIFF_FEW)
		put_difference_row(p, m, out);
	buf_puts(out, "</table></div>\n");
	put_conclusion(p, m, out);
	find_limits(p, f, key, &c);
	buf_puts(out, "<div class=\"charts\"><figure>");
	diff_chart_cumulative(&c, out);
	buf_puts(out, "<figcaption>How many take at most that long</figcaption></figure><figure>");
	diff_chart_histogram(&c, out);
	buf_puts(out, "<figcaption>Histogram, the parts in steps of ten: rare ones can be seen"
		      "</figcaption></figure></div>\n");
}

/* ---- worst cases ---- */

static void put_ran(const struct diff_page *p, const struct diff_case *c, struct buf *out)
{
	char text[CELL];

	buf_printf(out, "<p>On its CPU%s meanwhile: ", diff_moved(c) ? "s" : "");
	if (!c->ran.n)
		buf_puts(out, "not known");
	for (size_t i = 0; i < c->ran.n && i < RAN; i++) {
		const struct diff_ran *r = &c->ran.at[i];

		buf_puts(out, i ? ", " : "");
		diff_put_who(r->layer, r->name, r->pid, out);
		buf_printf(out, " %s",
			   diff_shown(text, sizeof(text), DIFF_TIME, in_ticks(p), (double)r->time));
	}
	buf_puts(out, "</p>\n");
}

static void put_lines(const char *summary, const char *text, struct buf *out)
{
	if (!text || !*text)
		return;
	buf_printf(out, "<details><summary>%s</summary><pre>", summary);
	/* Line by line: a line's end would become a space. */
	for (const char *at = text; *at;) {
		const size_t len = strcspn(at, "\n");

		buf_put_xml(out, at, len);
		buf_putc(out, '\n');
		at += len + (at[len] == '\n');
	}
	buf_puts(out, "</pre></details>\n");
}

static void put_why(const struct diff_case *c, struct buf *out)
{
	scoped_buf words = buf_new(WHY_WORDS);

	if (!c->why)
		return;
	why_text(c->why, 0, &words);
	put_lines("why", buf_str(&words), out);
}

static void put_case(const struct diff_page *p, unsigned int side, const struct diff_case *c,
		     struct buf *out)
{
	char text[CELL];

	buf_printf(out, "<div class=\"case\"><p><span class=\"%s\">%s</span> <b>%s</b> at ",
		   letters[side], letters[side],
		   diff_shown(text, sizeof(text), DIFF_TIME, in_ticks(p), (double)c->value));
	if (in_ticks(p))
		buf_u64(out, c->from);
	else
		buf_printf(out, "%llu.%06llu s", (unsigned long long)(c->from / 1000000000),
			   (unsigned long long)(c->from % 1000000000 / 1000));
	if (c->comm) {
		buf_puts(out, ", ");
		buf_puts_xml(out, c->comm);
		if (c->pid != ROW_NULL)
			buf_printf(out, "-%lld", (long long)c->pid);
	}
	if (c->cpu != ROW_NULL)
		buf_printf(out, ", CPU %lld", (long long)c->cpu);
	buf_puts(out, "</p>\n");
	put_ran(p, c, out);
	if (c->stretches.n) {
		buf_puts(out, "<div class=\"scroll\">");
		diff_timeline(c, p->diff->opt.around, in_ticks(p), out);
		buf_puts(out, "</div>\n");
	}
	put_why(c, out);
	put_lines("events", c->text, out);
	buf_puts(out, "</div>\n");
}

static void put_focus(const struct diff_page *p, struct diff_focus *f, struct buf *out)
{
	struct dist *dist[DIFF_SIDES];
	bool any = false;

	put_name("<h2>", f->family, f->key, "</h2>\n", out);
	put_text("<p class=\"soft\">", f->family->about ? f->family->about : "", "</p>\n", out);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		dist[i] = f->ready[i] ? &f->latency[i].all.dist : NULL;
	if ((!dist[DIFF_A] || !dist[DIFF_A]->n) && (!dist[DIFF_B] || !dist[DIFF_B]->n)) {
		buf_puts(out, "<p>There is none in these traces.</p>\n");
		return;
	}
	put_dists(p, f->family, f->key, dist, out);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		any |= f->cases[i].n > 0;
	if (any)
		buf_puts(out,
			 "<h3>The worst</h3>\n<p class=\"key soft\"><i class=\"k-own\"></i>the task"
			 "<i class=\"k-task\"></i>other tasks<i class=\"k-irq\"></i>interrupts"
			 "<i class=\"k-soft\"></i>softirqs</p>\n");
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		vec_each (c, &f->cases[i])
			put_case(p, i, c, out);
}

static bool is_focus(const struct diff *d, const struct diff_measure *m)
{
	vec_each (f, &d->focus)
		if ((*f)->family == m->family &&
		    ((*f)->key == m->key ||
		     ((*f)->key && m->key && strcmp((*f)->key, m->key) == 0)))
			return true;
	return false;
}

/* The distributions that changed most. */
static void put_others(const struct diff_page *p, struct buf *out)
{
	size_t n = 0;

	vec_each (m, &p->diff->measures) {
		if (m->outcome != DIFF_CHANGED || !m->dist[DIFF_A] || is_focus(p->diff, m))
			continue;
		if (n++ == DRAWN)
			return;
		put_name("<h2>", m->family, m->key, "</h2>\n", out);
		put_dists(p, m->family, m->key, m->dist, out);
	}
}

/* ---- the head ---- */

/* If both files have the same name, the title has their folders. */
static void put_title(const struct diff_page *p, struct buf *out)
{
	const char *a = p->path[DIFF_A], *b = p->path[DIFF_B];
	const bool same = a && strcmp(file_name_of(a), file_name_of(b)) == 0;

	if (a) {
		buf_puts_xml(out, same ? a : file_name_of(a));
		buf_puts(out, " and ");
	}
	buf_puts_xml(out, same ? b : file_name_of(b));
}

static void put_head(const struct diff_page *p, struct buf *out)
{
	buf_puts(out,
		 "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\"><head>"
		 "<meta charset=\"utf-8\"/>\n"
		 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		 "style-src 'unsafe-inline'\"/>\n"
		 "<meta name=\"viewport\" content=\"width=device-width, "
		 "initial-scale=1\"/>\n<title>");
	put_title(p, out);
	buf_puts(out, "</title>\n<style>\n");
	buf_puts(out, diff_css);
	buf_puts(out, "</style></head>\n<body>\n<h1>");
	put_title(p, out);
	buf_puts(out, "</h1>\n");
}

static void put_files(const struct diff_page *p, struct buf *out)
{
	buf_puts(out,
		 "<div class=\"wide\"><table><tr><th></th><th>file</th><th class=\"r\">seconds</th>"
		 "<th class=\"r\">CPUs</th><th class=\"r\">events</th><th class=\"r\">lost</th>"
		 "<th>kernel</th></tr>\n");
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		const struct diff_side *s = &p->diff->side[i];

		if (!s->trace)
			continue;
		buf_printf(out, "<tr><td class=\"%s\">%s</td>", letters[i], letters[i]);
		put_text("<td>", p->path[i], "</td>", out);
		buf_printf(out,
			   "<td class=\"r\">%.3f</td><td class=\"r\">%u</td><td class=\"r\">%llu"
			   "</td><td class=\"r\">%llu%s</td>",
			   diff_duration(s) / 1e9, s->cpus, (unsigned long long)s->events,
			   (unsigned long long)s->lost, s->gaps && !s->lost ? "?" : "");
		put_text("<td>", s->trace->dat->uname ? s->trace->dat->uname : "", "</td></tr>\n",
			 out);
	}
	buf_puts(out, "</table></div>\n");
}

static void put_warnings(const struct diff_page *p, struct buf *out)
{
	char text[500];

	for (unsigned int i = 0; p->warning && p->warning(p->warning_arg, i, text, sizeof(text));
	     i++) {
		put_text("<p class=\"warning\">", text, "</p>\n", out);
	}
}

static void put_verdict(const struct diff_page *p, size_t i, struct buf *out)
{
	const struct diff_verdict *v = &p->verdicts[i];
	char text[CELL];

	put_text("<tr><td class=\"name\">", p->requirements[i].text, "</td>", out);
	for (unsigned int k = 0; k < DIFF_SIDES; k++)
		if (p->diff->side[k].trace)
			buf_printf(out, "<td class=\"r\">%s</td>",
				   v->known[k] ? diff_verdict_shown(text, sizeof(text), p->diff, v,
								    v->value[k])
					       : "");
	buf_printf(out, "<td><span class=\"%s\">%s</span></td>", v->holds ? "pass" : "fail",
		   v->holds ? "PASS" : "FAIL");
	put_text("<td class=\"soft\">", v->note, "</td></tr>\n", out);
}

static void put_verdicts(const struct diff_page *p, struct buf *out)
{
	size_t failed = 0;

	if (!p->nr_requirements)
		return;
	for (size_t i = 0; i < p->nr_requirements; i++)
		failed += !p->verdicts[i].holds;
	buf_puts(out, "<h2>Requirements</h2>\n<p>");
	if (failed)
		buf_printf(out, "Not met: %zu of %zu.", failed, p->nr_requirements);
	else
		buf_puts(out, "All of them are met.");
	buf_puts(out, "</p>\n<div class=\"wide\"><table><tr><th>B has to meet</th>");
	for (unsigned int k = 0; k < DIFF_SIDES; k++)
		if (p->diff->side[k].trace)
			buf_printf(out, "<th class=\"r\">%s</th>", letters[k]);
	buf_puts(out, "<th>verdict</th><th></th></tr>\n");
	for (size_t i = 0; i < p->nr_requirements; i++)
		put_verdict(p, i, out);
	buf_puts(out, "</table></div>\n");
}

/* ---- what changed ---- */

static void put_range(const struct diff_stat *st, struct buf *out)
{
	const double a = st->value[DIFF_A];
	char low[CELL], high[CELL];

	buf_puts(out, "<td class=\"r soft\">");
	if (st->has_range && a > 0)
		buf_printf(out, "%s … %s", diff_change(low, sizeof(low), a, a + st->low),
			   diff_change(high, sizeof(high), a, a + st->high));
	buf_puts(out, "</td>");
}

static void put_change(const struct diff_page *p, const struct diff_measure *m, struct buf *out)
{
	const struct diff_stat *st = &m->stats[m->telling];
	const bool more = st->value[DIFF_B] > st->value[DIFF_A];
	char text[CELL];

	put_name("<tr><td class=\"name\">", m->family, m->key, "</td>", out);
	buf_printf(out, "<td>%s</td>", st->name);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		put_cell(p, m->family->unit, m->count[i], st->value[i], out);
	/* More time is worse; more events are neither better nor worse. */
	buf_printf(out, "<td class=\"r%s\">%s</td>",
		   m->outcome != DIFF_CHANGED || !st->clear || m->family->unit != DIFF_TIME ? ""
		   : more ? " more"
			  : " less",
		   diff_change(text, sizeof(text), st->value[DIFF_A], st->value[DIFF_B]));
	put_range(st, out);
	buf_puts(out, "<td class=\"r\">");
	if (m->dist[DIFF_A] && m->outcome < DIFF_FEW)
		buf_printf(out, "%.3f", m->ks.distance);
	buf_puts(out, "</td><td class=\"r\">");
	if (m->outcome < DIFF_FEW)
		buf_puts_xml(out, diff_probability(text, sizeof(text), m->corrected));
	else
		buf_puts(out, "few");
	buf_puts(out, "</td></tr>\n");
}

static void put_changes_table(const struct diff_page *p, size_t from, size_t to, struct buf *out)
{
	buf_puts(out,
		 "<div class=\"wide\"><table><tr><th>measure</th><th></th><th class=\"r\">A</th>"
		 "<th class=\"r\">B</th><th class=\"r\">change</th><th class=\"r\">95 %</th>"
		 "<th class=\"r\">KS</th><th class=\"r\">chance</th></tr>\n");
	for (size_t i = from; i < to; i++)
		put_change(p, &p->diff->measures.at[i], out);
	buf_puts(out, "</table></div>\n");
}

/* The index of the first measure with this outcome, by which measures are sorted. */
static size_t first_of(const struct diff *d, enum diff_outcome outcome)
{
	size_t i = 0;

	while (i < d->measures.n && d->measures.at[i].outcome < outcome)
		i++;
	return i;
}

static void put_rest(const struct diff_page *p, size_t from, size_t to, const char *what,
		     struct buf *out)
{
	if (from >= to)
		return;
	buf_printf(out, "<details><summary>%zu %s</summary>\n", to - from, what);
	put_changes_table(p, from, to - from > MAX_ROWS ? from + MAX_ROWS : to, out);
	buf_puts(out, "</details>\n");
}

static void put_changes(const struct diff_page *p, struct buf *out)
{
	const size_t same = first_of(p->diff, DIFF_SAME), only = first_of(p->diff, DIFF_ONLY);
	const size_t shown = same < ROWS ? same : ROWS;

	if (!p->diff->side[DIFF_A].trace)
		return;
	buf_puts(out, "<h2>What changed most</h2>\n");
	if (!shown)
		buf_printf(out, "<p>No clear change in %zu measures.</p>\n", p->diff->tested);
	else
		put_changes_table(p, 0, shown, out);
	put_rest(p, shown, same, "more that changed", out);
	put_rest(p, same, only, "without a clear change", out);
}

static void put_only(const struct diff_page *p, unsigned int side, struct buf *out)
{
	size_t n = 0;

	for (size_t i = first_of(p->diff, DIFF_ONLY); i < p->diff->measures.n; i++) {
		const struct diff_measure *m = &p->diff->measures.at[i];

		if (!m->count[side] || n++ >= MAX_ROWS)
			continue;
		if (n == 1)
			buf_printf(
				out,
				"<details><summary>Only in %s</summary><div class=\"wide\"><table>"
				"<tr><th>measure</th><th class=\"r\">count</th><th "
				"class=\"r\">value "
				"or p50</th><th class=\"r\">max</th></tr>\n",
				letters[side]);
		put_name("<tr><td class=\"name\">", m->family, m->key, "</td>", out);
		buf_printf(out, "<td class=\"r\">%llu</td>", (unsigned long long)m->count[side]);
		put_cell(p, m->family->unit, true, m->stats[0].value[side], out);
		put_cell(p, m->family->unit, m->nr_stats > 1, m->stats[m->nr_stats - 1].value[side],
			 out);
		buf_puts(out, "</tr>\n");
	}
	if (n)
		buf_puts(out, "</table></div></details>\n");
}

/* ---- flame graphs ---- */

static int read_flame(const struct diff_page *p, struct flame *f, enum flame_from *from,
		      unsigned int *sides, struct spur_error *err)
{
	const struct flame_wanted w = {
		.task = p->task, .task_arg = p->task_arg, .walk = p->diff->opt.walk};
	int rc = 0;

	*sides = 0;
	for (unsigned int i = 0; rc == 0 && i < DIFF_SIDES; i++) {
		enum flame_from taken;

		if (!p->diff->side[i].trace)
			continue;
		rc = flame_read(f, *sides, p->diff->side[i].trace, &w, &taken, err);
		if (rc < 0 || !f->stacks[*sides] || (*sides && taken != *from))
			return rc;
		*from = taken;
		++*sides;
	}
	return rc;
}

static int put_flame(const struct diff_page *p, struct buf *out, struct spur_error *err)
{
	struct flame_look look = {.min_width = -1};
	enum flame_from from = FLAME_ANY;
	unsigned int sides;
	struct flame f;
	int rc = flame_init(&f, 0, err);

	if (rc < 0)
		return rc;
	rc = read_flame(p, &f, &from, &sides, err);
	if (rc == 0 && sides && (sides == DIFF_SIDES || !p->diff->side[DIFF_A].trace))
		flame_finish(&f);
	else
		sides = 0;
	look.both = sides == DIFF_SIDES;
	look.unit = from != FLAME_CALLS ? FLAME_UNIT_SAMPLES
		    : in_ticks(p)	? FLAME_UNIT_PLAIN
					: FLAME_UNIT_NS;
	look.title = look.both ? "B, coloured by the change since A" : NULL;
	if (rc == 0 && sides) {
		buf_puts(out, "<h2>Where the time goes</h2>\n");
		flame_svg(&f, &look, out);
		buf_puts(out,
			 "<p class=\"soft\">'spur flame --diff' makes this picture with zoom and "
			 "search.</p>\n");
	}
	flame_free(&f);
	return rc;
}

/* ---- all of it ---- */

static void put_method(struct buf *out)
{
	buf_puts(
		out,
		"<h2>How to read this</h2>\n"
		"<p>KS is the largest distance between two cumulative distributions (Kolmogorov "
		"and "
		"Smirnov), 0 to 1. Chance is the probability that two recordings of the same "
		"differ "
		"as much, corrected for the number of measures; what is below 0.05 is called a "
		"change. "
		"The interval holds the true change with 95 % confidence. The list is sorted by "
		"the "
		"end of it that is nearest to no change. Values that follow each other closely are "
		"rarely independent, which makes chances look smaller than they are: look at the "
		"size of "
		"a change, and record more than once.</p>\n");
}

int diff_html(const struct diff_page *p, struct buf *out, struct spur_error *err)
{
	int rc;

	put_head(p, out);
	put_files(p, out);
	put_warnings(p, out);
	put_verdicts(p, out);
	put_changes(p, out);
	if (p->diff->side[DIFF_A].trace) {
		put_only(p, DIFF_A, out);
		put_only(p, DIFF_B, out);
	}
	vec_each (f, &p->diff->focus)
		if (diff_focus_shown(*f))
			put_focus(p, *f, out);
	put_others(p, out);
	rc = put_flame(p, out, err);
	if (p->diff->side[DIFF_A].trace)
		put_method(out);
	buf_puts(out, "</body></html>\n");
	return rc;
}
