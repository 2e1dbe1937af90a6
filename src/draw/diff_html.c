// SPDX-License-Identifier: GPL-2.0-or-later
#include "draw/diff_html_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "draw/flame_svg.h"
#include "base/error.h"
#include "base/vec.h"
#include "base/xml.h"

#define ROWS	   40	/* of changes that are there to see at once */
#define MAX_ROWS   2000 /* of a table */
#define NAME_BYTES 4096
#define CELL	   64

extern const char diff_css[];

const char *const diff_letters[DIFF_SIDES] = {"A", "B"};

bool diff_html_ticks(const struct diff_page *p)
{
	return p->diff->side[DIFF_A].ticks || p->diff->side[DIFF_B].ticks;
}

void diff_html_text(struct buf *out, const char *text)
{
	buf_put_xml(out, text, strlen(text));
}

void diff_html_name(const struct diff_family *f, const char *key, struct buf *out)
{
	struct buf name;

	buf_init(&name, NAME_BYTES);
	diff_put_name(f, key, &name);
	buf_put_xml(out, name.data, name.len);
	buf_free(&name);
}

void diff_html_cell(const struct diff_page *p, enum diff_unit unit, bool there, double value,
		    struct buf *out)
{
	char text[CELL];

	buf_printf(out, "<td class=\"r\">%s</td>",
		   there ? diff_shown(text, sizeof(text), unit, diff_html_ticks(p), value) : "");
}

/* ---- the head ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* Where the files are is of interest when they are called the same. */
static void put_title(const struct diff_page *p, struct buf *out)
{
	const char *a = p->path[DIFF_A], *b = p->path[DIFF_B];
	const bool same = a && strcmp(base_name(a), base_name(b)) == 0;

	if (a) {
		diff_html_text(out, same ? a : base_name(a));
		buf_puts(out, " and ");
	}
	diff_html_text(out, same ? b : base_name(b));
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
		buf_printf(out, "<tr><td class=\"%s\">%s</td><td>", diff_letters[i],
			   diff_letters[i]);
		diff_html_text(out, p->path[i]);
		buf_printf(
			out,
			"</td><td class=\"r\">%.3f</td><td class=\"r\">%u</td><td class=\"r\">%llu"
			"</td><td class=\"r\">%llu%s</td><td>",
			diff_duration(s) / 1e9, s->cpus, (unsigned long long)s->events,
			(unsigned long long)s->lost, s->gaps && !s->lost ? "?" : "");
		diff_html_text(out, s->trace->dat->uname ? s->trace->dat->uname : "");
		buf_puts(out, "</td></tr>\n");
	}
	buf_puts(out, "</table></div>\n");
}

static void put_warnings(const struct diff_page *p, struct buf *out)
{
	char text[300];

	for (unsigned int i = 0; p->warning && p->warning(p->warning_arg, i, text, sizeof(text));
	     i++) {
		buf_puts(out, "<p class=\"warning\">");
		diff_html_text(out, text);
		buf_puts(out, "</p>\n");
	}
}

static void put_verdict(const struct diff_page *p, size_t i, struct buf *out)
{
	const struct diff_verdict *v = &p->verdicts[i];
	char text[CELL];

	buf_puts(out, "<tr><td class=\"name\">");
	diff_html_text(out, p->requirements[i].text);
	buf_puts(out, "</td>");
	for (unsigned int k = 0; k < DIFF_SIDES; k++)
		if (p->diff->side[k].trace)
			buf_printf(out, "<td class=\"r\">%s</td>",
				   v->known[k] ? diff_verdict_shown(text, sizeof(text), p->diff, v,
								    v->value[k])
					       : "");
	buf_printf(out, "<td><span class=\"%s\">%s</span></td><td class=\"soft\">",
		   v->holds ? "pass" : "fail", v->holds ? "PASS" : "FAIL");
	diff_html_text(out, v->note);
	buf_puts(out, "</td></tr>\n");
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
			buf_printf(out, "<th class=\"r\">%s</th>", diff_letters[k]);
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

	buf_puts(out, "<tr><td class=\"name\">");
	diff_html_name(m->family, m->key, out);
	buf_printf(out, "</td><td>%s</td>", st->name);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		diff_html_cell(p, m->family->unit, m->count[i], st->value[i], out);
	/* More of a time is worse; more events are just more. */
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
		diff_html_text(out, diff_probability(text, sizeof(text), m->corrected));
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

/* Measures are sorted by outcome: where one begins. */
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
				diff_letters[side]);
		buf_puts(out, "<tr><td class=\"name\">");
		diff_html_name(m->family, m->key, out);
		buf_printf(out, "</td><td class=\"r\">%llu</td>",
			   (unsigned long long)m->count[side]);
		diff_html_cell(p, m->family->unit, true, m->stats[0].value[side], out);
		diff_html_cell(p, m->family->unit, m->nr_stats > 1,
			       m->stats[m->nr_stats - 1].value[side], out);
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
		rc = flame_finish(&f, err);
	else
		sides = 0;
	look.both = sides == DIFF_SIDES;
	look.unit = from != FLAME_CALLS	 ? FLAME_UNIT_SAMPLES
		    : diff_html_ticks(p) ? FLAME_UNIT_PLAIN
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
			diff_html_focus(p, *f, out);
	diff_html_others(p, out);
	rc = put_flame(p, out, err);
	if (p->diff->side[DIFF_A].trace)
		put_method(out);
	buf_puts(out, "</body></html>\n");
	return rc;
}
