// SPDX-License-Identifier: GPL-2.0-or-later
/* The part of the page about single distributions, and their worst cases. */
#include <string.h>

#include "draw/diff_html_parts.h"
#include "base/vec.h"
#include "base/xml.h"

#define CELL  64
#define DRAWN 6	 /* changed distributions that are drawn though nobody asked for them */
#define RAN   12 /* tasks and interrupts that are named */

/* ---- distributions ---- */

static void put_stats_row(const struct diff_page *p, unsigned int side, struct dist *d,
			  struct buf *out)
{
	static const double qs[] = {0.5, 0.9, 0.99, 0.999};

	buf_printf(out, "<tr><td class=\"%s\">%s</td><td class=\"r\">%llu</td>", diff_letters[side],
		   diff_letters[side], (unsigned long long)d->n);
	diff_html_cell(p, DIFF_TIME, d->n, (double)d->min, out);
	diff_html_cell(p, DIFF_TIME, d->n, d->mean, out);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++)
		diff_html_cell(p, DIFF_TIME, d->n && !d->failed, (double)dist_quantile(d, qs[i]),
			       out);
	diff_html_cell(p, DIFF_TIME, d->n, (double)d->max, out);
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
			diff_html_cell(p, DIFF_TIME, true, st->value[DIFF_B] - st->value[DIFF_A],
				       out);
			continue;
		}
		buf_printf(out, "<td class=\"r\">%s … %s</td>",
			   diff_shown(low, sizeof(low), DIFF_TIME, diff_html_ticks(p), st->low),
			   diff_shown(high, sizeof(high), DIFF_TIME, diff_html_ticks(p), st->high));
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
		   diff_shown(at, sizeof(at), DIFF_TIME, diff_html_ticks(p), (double)m->ks.at),
		   100 * m->ks.distance);
	diff_html_text(out, diff_probability(chance, sizeof(chance), m->corrected));
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
	struct diff_chart c = {.dist = {dist[DIFF_A], dist[DIFF_B]}, .ticks = diff_html_ticks(p)};

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
	static const char *const layers[] = {"", "interrupt ", "softirq "};
	char text[CELL];

	buf_puts(out, "<p>On its CPU meanwhile: ");
	if (!c->ran.n)
		buf_puts(out, "not known");
	for (size_t i = 0; i < c->ran.n && i < RAN; i++) {
		const struct diff_ran *r = &c->ran.at[i];

		buf_puts(out, i ? ", " : "");
		buf_puts(out, layers[r->layer]);
		diff_html_text(out, r->name);
		if (r->layer == DIFF_SLICE && r->pid)
			buf_printf(out, "-%lld", (long long)r->pid);
		buf_printf(out, " %s",
			   diff_shown(text, sizeof(text), DIFF_TIME, diff_html_ticks(p),
				      (double)r->time));
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
	struct buf words;

	if (!c->why)
		return;
	buf_init(&words, WHY_WORDS);
	why_text(c->why, 0, &words);
	put_lines("why", buf_str(&words), out);
	buf_free(&words);
}

static void put_case(const struct diff_page *p, unsigned int side, const struct diff_case *c,
		     struct buf *out)
{
	char text[CELL];

	buf_printf(out, "<div class=\"case\"><p><span class=\"%s\">%s</span> <b>%s</b> at ",
		   diff_letters[side], diff_letters[side],
		   diff_shown(text, sizeof(text), DIFF_TIME, diff_html_ticks(p), (double)c->value));
	if (diff_html_ticks(p))
		buf_u64(out, c->from);
	else
		buf_printf(out, "%llu.%06llu s", (unsigned long long)(c->from / 1000000000),
			   (unsigned long long)(c->from % 1000000000 / 1000));
	if (c->comm) {
		buf_puts(out, ", ");
		diff_html_text(out, c->comm);
		if (c->pid != ROW_NULL)
			buf_printf(out, "-%lld", (long long)c->pid);
	}
	if (c->cpu != ROW_NULL)
		buf_printf(out, ", CPU %lld", (long long)c->cpu);
	buf_puts(out, "</p>\n");
	put_ran(p, c, out);
	if (c->stretches.n) {
		buf_puts(out, "<div class=\"scroll\">");
		diff_timeline(c, p->diff->opt.around, diff_html_ticks(p), out);
		buf_puts(out, "</div>\n");
	}
	put_why(c, out);
	put_lines("events", c->text, out);
	buf_puts(out, "</div>\n");
}

void diff_html_focus(const struct diff_page *p, struct diff_focus *f, struct buf *out)
{
	struct dist *dist[DIFF_SIDES];
	bool any = false;

	buf_puts(out, "<h2>");
	diff_html_name(f->family, f->key, out);
	buf_puts(out, "</h2>\n<p class=\"soft\">");
	diff_html_text(out, f->family->about ? f->family->about : "");
	buf_puts(out, "</p>\n");
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
	for (size_t i = 0; i < d->focus.n; i++) {
		const struct diff_focus *f = d->focus.at[i];

		if (f->family == m->family &&
		    (f->key == m->key || (f->key && m->key && strcmp(f->key, m->key) == 0)))
			return true;
	}
	return false;
}

/* The distributions that changed most. */
void diff_html_others(const struct diff_page *p, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < p->diff->measures.n && n < DRAWN; i++) {
		const struct diff_measure *m = &p->diff->measures.at[i];

		if (m->outcome != DIFF_CHANGED || !m->dist[DIFF_A] || is_focus(p->diff, m))
			continue;
		buf_puts(out, "<h2>");
		diff_html_name(m->family, m->key, out);
		buf_puts(out, "</h2>\n");
		put_dists(p, m->family, m->key, m->dist, out);
		n++;
	}
}
