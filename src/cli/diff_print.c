// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `spur diff` on standard output: as text, as JSON and as CSV. JSON and CSV have times in
 * nanoseconds, or in ticks of the clock.
 */
#include <math.h>
#include <stdio.h>

#include "base/array.h"
#include "base/grid.h"
#include "base/json.h"
#include "base/safe.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/diff.h"

#define NAME_BYTES 4096
#define CELL	   64

static const char *const side_names[DIFF_SIDES] = {"A", "B"};

static bool is_ticks(const struct diff_work *s)
{
	return s->diff.side[DIFF_A].ticks || s->diff.side[DIFF_B].ticks;
}

/* Text of the trace between colours; it may contain escape sequences itself. */
static void put_words(const struct diff_work *s, const char *text, struct buf *to)
{
	const size_t start = to->len;

	buf_puts(to, text);
	if (s->o->use_colour)
		buf_clean(to, start);
}

static void head(const struct diff_work *s, const char *text, struct buf *to)
{
	buf_puts(to, s->o->use_colour ? "\n\033[1m" : "\n");
	put_words(s, text, to);
	buf_puts(to, s->o->use_colour ? "\033[0m\n" : "\n");
}

static void put_grid(const struct diff_work *s, const struct grid *g, struct buf *to)
{
	grid_put(g, GRID_TEXT, s->o->use_colour, to);
}

static void name_cell(struct grid *g, const struct diff_family *f, const char *key)
{
	scoped_buf name = buf_new(NAME_BYTES);

	diff_put_name(f, key, &name);
	grid_text(g, buf_str(&name));
}

static void value_cell(struct grid *g, const struct diff_work *s, enum diff_unit unit, bool there,
		       double value)
{
	char text[CELL];

	grid_text(g, there ? diff_shown(text, sizeof(text), unit, is_ticks(s), value) : "-");
}

static void put_files(const struct diff_work *s, struct buf *to)
{
	static const struct grid_column columns[] = {
		{"", "side", false},	    {"FILE", "file", false},	{"TIME", "time", true},
		{"CPUS", "cpus", true},	    {"EVENTS", "events", true}, {"LOST", "lost", true},
		{"KERNEL", "kernel", false}};
	scoped_grid g = grid_of(columns, ARRAY_SIZE(columns));

	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		const struct diff_side *side = &s->diff.side[i];
		char text[CELL];

		if (!side->trace)
			continue;
		grid_text(&g, side_names[i]);
		grid_text(&g, s->path[i]);
		grid_text(&g, side->ticks ? "-" : amount_time(side->last - side->first).text);
		grid_number(&g, side->cpus);
		grid_number(&g, (int64_t)side->events);
		snprintf(text, sizeof(text), "%llu%s", (unsigned long long)side->lost,
			 side->gaps && !side->lost ? " or more" : "");
		grid_text(&g, side->gaps && !side->lost ? "some" : text);
		grid_text(&g, side->trace->dat->uname ? side->trace->dat->uname : "-");
	}
	put_grid(s, &g, to);
}

/* ---- warnings ---- */

enum warning { WARN_LOST, WARN_FULL, WARN_CLOCK, WARN_FORGOTTEN, WARN_MISSING, NR_WARNINGS };

/* The warning of a kind about a side; false: there is none. */
static bool warning_of(const struct diff_work *s, enum warning kind, unsigned int number,
		       char *text, size_t cap)
{
	const struct diff_side *all = s->diff.side, *side = &all[number];
	const char *name = side_names[number];
	const uint64_t forgotten = side->pairs ? pairs_forgotten(side->pairs) : 0;
	char words[DAT_MISSING_WORDS];

	*text = '\0';
	if (kind == WARN_LOST && side->gaps)
		snprintf(text, cap,
			 "events were lost in %s (%llu place%s): rates are too low, and what is "
			 "longest may be missing",
			 name, (unsigned long long)side->gaps, side->gaps == 1 ? "" : "s");
	if (kind == WARN_FULL && side->full)
		snprintf(text, cap,
			 "%s has more tasks, functions or events than can be kept: some are left "
			 "out",
			 name);
	if (kind == WARN_CLOCK && number == DIFF_A && side->trace &&
	    side->ticks != all[DIFF_B].ticks)
		snprintf(text, cap,
			 "the clock of one counts nanoseconds, that of the other does not: times "
			 "cannot be compared");
	if (kind == WARN_FORGOTTEN && forgotten)
		snprintf(text, cap,
			 "%s: %llu pairs of events were forgotten, too many waited at a time", name,
			 (unsigned long long)forgotten);
	if (kind == WARN_MISSING && side->trace && dat_missing_words(side->trace->dat, words))
		snprintf(text, cap, "%s: %s", name, words);
	return *text;
}

bool diff_warning(const void *shown, unsigned int number, char *text, size_t cap)
{
	const struct diff_work *s = shown;
	for (int kind = 0; kind < NR_WARNINGS; kind++)
		for (unsigned int side = 0; side < DIFF_SIDES; side++)
			if (warning_of(s, (enum warning)kind, side, text, cap) && number-- == 0)
				return true;
	return false;
}

static void put_warnings(const struct diff_work *s, struct buf *to)
{
	char text[DIFF_WARNING];

	for (unsigned int i = 0; diff_warning(s, i, text, sizeof(text)); i++) {
		buf_puts(to, "warning: ");
		put_words(s, text, to);
		buf_putc(to, '\n');
	}
}

static void put_verdicts(const struct diff_work *s, struct buf *to)
{
	static const struct grid_column columns[] = {{"REQUIREMENT", "requirement", false},
						     {"A", "a", true},
						     {"B", "b", true},
						     {"VERDICT", "verdict", false},
						     {"", "note", false}};
	size_t failed = 0;
	scoped_grid g = grid_of(columns, ARRAY_SIZE(columns));

	if (!s->requirements.n)
		return;
	buf_putc(to, '\n');
	for (size_t i = 0; i < s->requirements.n; i++) {
		const struct diff_verdict *v = &s->verdicts[i];
		char text[CELL];

		grid_text(&g, s->requirements.at[i].text);
		for (unsigned int k = 0; k < DIFF_SIDES; k++)
			grid_text(&g, v->known[k] ? diff_verdict_shown(text, sizeof(text), &s->diff,
								       v, v->value[k])
						  : "-");
		grid_text(&g, v->holds ? "PASS" : "FAIL");
		grid_text(&g, v->note);
		failed += !v->holds;
	}
	put_grid(s, &g, to);
	if (failed)
		buf_printf(to, "%zu of %zu requirements not met\n", failed, s->requirements.n);
	else
		buf_printf(to, "%s\n",
			   s->requirements.n == 1 ? "the requirement is met"
						  : "all requirements are met");
}

/* ---- what changed ---- */

static void put_range(struct grid *g, const struct diff_stat *st)
{
	const double a = st->value[DIFF_A];
	char low[CELL], high[CELL], text[2 * CELL + 8];

	if (!st->has_range || a <= 0) {
		grid_text(g, "-");
		return;
	}
	snprintf(text, sizeof(text), "%s … %s", diff_change(low, sizeof(low), a, a + st->low),
		 diff_change(high, sizeof(high), a, a + st->high));
	grid_text(g, text);
}

static void put_measure(const struct diff_work *s, const struct diff_measure *m, struct grid *g)
{
	const struct diff_stat *st = &m->stats[m->telling];
	char text[CELL];

	name_cell(g, m->family, m->key);
	grid_text(g, st->name);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		value_cell(g, s, m->family->unit, m->count[i], st->value[i]);
	grid_text(g, diff_change(text, sizeof(text), st->value[DIFF_A], st->value[DIFF_B]));
	put_range(g, st);
	snprintf(text, sizeof(text), "%.3f", m->ks.distance);
	grid_text(g, m->dist[DIFF_A] && m->outcome < DIFF_FEW ? text : "");
	grid_text(g, m->outcome < DIFF_FEW ? diff_probability(text, sizeof(text), m->corrected)
					   : "few");
}

static size_t count_outcome(const struct diff *d, enum diff_outcome outcome)
{
	size_t n = 0;

	vec_each (m, &d->measures)
		n += m->outcome == outcome;
	return n;
}

static void put_changes(const struct diff_work *s, struct buf *to)
{
	static const struct grid_column columns[] = {{"MEASURE", "measure", false},
						     {"", "stat", false},
						     {"A", "a", true},
						     {"B", "b", true},
						     {"CHANGE", "change", true},
						     {"95 %", "range", true},
						     {"KS", "ks", true},
						     {"CHANCE", "p", true}};
	const struct diff *d = &s->diff;
	const size_t changed = count_outcome(d, DIFF_CHANGED);
	size_t rows = 0, most = s->o->rows && !s->o->all ? (size_t)s->o->rows : d->measures.n;
	scoped_grid g = grid_of(columns, ARRAY_SIZE(columns));

	if (!changed && !s->o->all) {
		buf_printf(to, "\nno clear change in %zu measures\n", d->tested);
		return;
	}
	head(s, "What changed most", to);
	for (size_t i = 0; i < d->measures.n && rows < most; i++) {
		const struct diff_measure *m = &d->measures.at[i];

		if (m->outcome != DIFF_CHANGED && (!s->o->all || m->outcome == DIFF_ONLY))
			continue;
		put_measure(s, m, &g);
		rows++;
	}
	put_grid(s, &g, to);
	if (rows < changed)
		buf_printf(to, "… and %zu more (-n)\n", changed - rows);
	if (!s->o->all)
		buf_printf(to, "%zu measures without a clear change (--all)\n",
			   d->tested - changed + count_outcome(d, DIFF_FEW));
}

static void put_only(const struct diff_work *s, unsigned int side, struct buf *to)
{
	static const struct grid_column columns[] = {{"MEASURE", "measure", false},
						     {"COUNT", "count", true},
						     {"P50", "p50", true},
						     {"MAX", "max", true}};
	const struct diff *d = &s->diff;
	size_t n = 0, most = s->o->rows && !s->o->all ? (size_t)s->o->rows : d->measures.n;
	scoped_grid g = grid_of(columns, ARRAY_SIZE(columns));

	vec_each (m, &d->measures) {
		const bool is_dist = m->dist[side] != NULL;

		/* One line for a task, of all the measures it has. */
		if (m->outcome != DIFF_ONLY || !m->count[side] ||
		    (!is_dist && m->family != &diff_amounts[0] && m->family != &diff_amounts[1]))
			continue;
		if (n++ >= most)
			continue;
		name_cell(&g, m->family, m->key);
		grid_number(&g, (int64_t)m->count[side]);
		value_cell(&g, s, m->family->unit, true, m->stats[0].value[side]);
		value_cell(&g, s, m->family->unit, is_dist,
			   m->stats[is_dist ? DIFF_MAX : 0].value[side]);
	}
	if (n) {
		head(s, side == DIFF_A ? "Only in A" : "Only in B", to);
		put_grid(s, &g, to);
	}
	if (n > most)
		buf_printf(to, "… and %zu more (-n)\n", n - most);
}

/* ---- a closer look ---- */

static void put_side_stats(const struct diff_work *s, unsigned int side, struct dist *d,
			   struct grid *g)
{
	static const double qs[] = {0.5, 0.9, 0.99, 0.999};

	grid_text(g, side_names[side]);
	grid_number(g, (int64_t)d->n);
	value_cell(g, s, DIFF_TIME, d->n, (double)d->min);
	value_cell(g, s, DIFF_TIME, d->n, d->mean);
	for (size_t i = 0; i < ARRAY_SIZE(qs); i++)
		value_cell(g, s, DIFF_TIME, d->n && !d->failed, (double)dist_quantile(d, qs[i]));
	value_cell(g, s, DIFF_TIME, d->n, (double)d->max);
}

static void put_differences(const struct diff_work *s, const struct diff_measure *m, struct grid *g)
{
	char low[CELL], high[CELL], text[2 * CELL + 8];

	grid_text(g, "B-A");
	grid_empty(g);
	grid_empty(g);
	grid_empty(g);
	for (unsigned int i = 0; i < m->nr_stats; i++) {
		const struct diff_stat *st = &m->stats[i];

		/* p99.9 is shown, but not compared. */
		if (i == DIFF_MAX)
			grid_empty(g);
		if (!st->has_range) {
			value_cell(g, s, DIFF_TIME, true, st->value[DIFF_B] - st->value[DIFF_A]);
			continue;
		}
		diff_shown(low, sizeof(low), DIFF_TIME, is_ticks(s), st->low);
		diff_shown(high, sizeof(high), DIFF_TIME, is_ticks(s), st->high);
		snprintf(text, sizeof(text), "%s … %s", low, high);
		grid_text(g, text);
	}
}

static void put_stats(const struct diff_work *s, struct diff_focus *f, struct buf *to)
{
	static const struct grid_column columns[] = {
		{"", "side", false},  {"COUNT", "count", true}, {"MIN", "min", true},
		{"AVG", "avg", true}, {"P50", "p50", true},	{"P90", "p90", true},
		{"P99", "p99", true}, {"P99.9", "p99.9", true}, {"MAX", "max", true}};
	const struct diff_measure *m = diff_measure_find(&s->diff, f->family, f->key);
	scoped_grid g = grid_of(columns, ARRAY_SIZE(columns));

	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (f->ready[i])
			put_side_stats(s, i, &f->latency[i].all.dist, &g);
	if (m && m->outcome < DIFF_FEW)
		put_differences(s, m, &g);
	put_grid(s, &g, to);
	if (m && m->outcome < DIFF_FEW) {
		char p[CELL], at[CELL];

		buf_printf(to, "%s: the distributions differ by %.3f at %s, chance %s\n",
			   m->outcome == DIFF_CHANGED ? "changed" : "no clear change",
			   m->ks.distance,
			   diff_shown(at, sizeof(at), DIFF_TIME, is_ticks(s), (double)m->ks.at),
			   diff_probability(p, sizeof(p), m->corrected));
	}
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		if (f->ready[i] && f->latency[i].open_rows + f->latency[i].unknown_rows)
			buf_printf(to, "%s: %llu more were not seen from beginning to end\n",
				   side_names[i],
				   (unsigned long long)(f->latency[i].open_rows +
							f->latency[i].unknown_rows));
}

static void put_ran(const struct diff_work *s, const struct diff_case *c, struct buf *to)
{
	static const char *const layers[] = {
		[DIFF_SLICE] = "", [DIFF_IRQ] = "irq ", [DIFF_SOFTIRQ] = "softirq "};
	const size_t most = 6;
	char time[CELL];

	buf_printf(to, "     on its CPU%s meanwhile:", diff_moved(c) ? "s" : "");
	if (!c->ran.n)
		buf_puts(to, " not known");
	for (size_t i = 0; i < c->ran.n && i < most; i++) {
		const struct diff_ran *r = &c->ran.at[i];

		buf_printf(to, "%s %s", i ? "," : "", layers[r->layer]);
		put_words(s, r->name, to);
		if (r->layer == DIFF_SLICE && r->pid > 0)
			buf_printf(to, "-%lld", (long long)r->pid);
		buf_printf(to, " %s",
			   diff_shown(time, sizeof(time), DIFF_TIME, is_ticks(s), (double)r->time));
	}
	if (c->ran.n > most)
		buf_printf(to, ", %zu more", c->ran.n - most);
	buf_putc(to, '\n');
}

static void put_why(const struct diff_work *s, const struct diff_case *c, struct buf *to)
{
	scoped_buf words = buf_new(WHY_WORDS);

	if (!c->why)
		return;
	why_text(c->why, 5, &words);
	put_words(s, buf_str(&words), to);
}

static void put_case(const struct diff_work *s, const struct diff_case *c, struct buf *to)
{
	char text[CELL];

	buf_printf(to, "  %s at ",
		   diff_shown(text, sizeof(text), DIFF_TIME, is_ticks(s), (double)c->value));
	if (is_ticks(s))
		buf_u64(to, c->from);
	else
		buf_printf(to, "%llu.%09llu", (unsigned long long)(c->from / 1000000000),
			   (unsigned long long)(c->from % 1000000000));
	if (c->comm) {
		buf_puts(to, ", ");
		put_words(s, c->comm, to);
		if (c->pid != ROW_NULL)
			buf_printf(to, "-%lld", (long long)c->pid);
	}
	if (c->cpu != ROW_NULL)
		buf_printf(to, ", CPU %lld", (long long)c->cpu);
	buf_putc(to, '\n');
	put_ran(s, c, to);
	put_why(s, c, to);
	if (c->text && *c->text) {
		put_words(s, c->text, to);
		buf_putc(to, '\n');
	}
}

static void put_focus(const struct diff_work *s, struct diff_focus *f, struct buf *to)
{
	scoped_buf name = buf_new(NAME_BYTES);

	diff_put_name(f->family, f->key, &name);
	head(s, buf_str(&name), to);
	if (!f->ready[DIFF_A] && !f->ready[DIFF_B]) {
		buf_printf(to, "the events for it are not there: 'spur record %s' records them\n",
			   f->family->kind->record ? f->family->kind->record : "-e EVENT");
		return;
	}
	put_stats(s, f, to);
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		if (!f->cases[i].n)
			continue;
		buf_printf(to, "worst of %s:\n", side_names[i]);
		vec_each (c, &f->cases[i])
			put_case(s, c, to);
	}
}

void diff_put_text(const struct diff_work *s, struct buf *to)
{
	put_files(s, to);
	put_warnings(s, to);
	put_verdicts(s, to);
	if (s->path[DIFF_A]) {
		put_changes(s, to);
		put_only(s, DIFF_A, to);
		put_only(s, DIFF_B, to);
	}
	vec_each (f, &s->diff.focus)
		if (diff_focus_shown(*f))
			put_focus(s, *f, to);
}

/* ---- JSON ---- */

static const char *const sides[DIFF_SIDES] = {"a", "b"};
static const char *const outcomes[] = {"changed", "same", "few", "only"};
static const char *const unit_names[] = {"ns", "per_second", "part"};

static void put_json_double(struct json_writer *w, double v)
{
	if (isfinite(v))
		json_put_printf(w, "%.9g", v);
	else
		json_put_raw(w, "null");
}

static void put_json_name(struct json_writer *w, const struct diff_family *family, const char *key)
{
	scoped_buf name = buf_new(NAME_BYTES);

	diff_put_name(family, key, &name);
	json_put_bytes(json_key(w, "measure"), name.data, name.len);
}

static void put_json_files(const struct diff_work *s, struct json_writer *w)
{
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		const struct diff_side *d = &s->diff.side[i];

		if (i)
			json_newline(w);
		json_key(w, sides[i]);
		if (!d->trace) {
			json_put_raw(w, "null");
			continue;
		}
		json_object(w);
		json_put_text(json_key(w, "file"), s->path[i]);
		json_put_text(json_key(w, "kernel"), d->trace->dat->uname);
		json_put_text(json_key(w, "unit"), d->ticks ? "ticks" : "ns");
		json_put_u64(json_key(w, "time"), d->last - d->first);
		json_put_u64(json_key(w, "cpus"), d->cpus);
		json_put_u64(json_key(w, "events"), d->events);
		json_put_u64(json_key(w, "lost"), d->lost);
		json_put_u64(json_key(w, "gaps"), d->gaps);
		json_end_object(w);
	}
}

static void put_json_warnings(const struct diff_work *s, struct json_writer *w)
{
	char text[DIFF_WARNING];

	json_newline(w);
	json_array(json_key(w, "warnings"));
	for (unsigned int i = 0; diff_warning(s, i, text, sizeof(text)); i++)
		json_put_text(w, text);
	json_end_array(w);
}

static void put_json_verdicts(const struct diff_work *s, struct json_writer *w)
{
	json_newline(w);
	json_array(json_key(w, "requirements"));
	for (size_t i = 0; i < s->requirements.n; i++) {
		const struct diff_verdict *v = &s->verdicts[i];

		json_newline(w);
		json_object(w);
		json_put_text(json_key(w, "requirement"), s->requirements.at[i].text);
		for (unsigned int k = 0; k < DIFF_SIDES; k++)
			put_json_double(json_key(w, sides[k]), v->known[k] ? v->value[k] : NAN);
		put_json_double(json_key(w, "limit"), v->limit);
		json_put_bool(json_key(w, "holds"), v->holds);
		json_put_text(json_key(w, "note"), *v->note ? v->note : NULL);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_json_side(struct json_writer *w, const struct diff_measure *m, unsigned int side)
{
	json_key(w, sides[side]);
	if (!m->count[side]) {
		json_put_raw(w, "null");
		return;
	}
	json_object(w);
	json_put_u64(json_key(w, "count"), m->count[side]);
	if (m->dist[side]) {
		json_put_i64(json_key(w, "min"), m->dist[side]->min);
		put_json_double(json_key(w, "avg"), m->dist[side]->mean);
	}
	for (unsigned int i = 0; i < m->nr_stats; i++)
		put_json_double(json_key(w, m->dist[side] ? m->stats[i].name : "value"),
				m->stats[i].value[side]);
	json_end_object(w);
}

static void put_json_ranges(struct json_writer *w, const struct diff_measure *m)
{
	json_object(json_key(w, "difference"));
	for (unsigned int i = 0; i < m->nr_stats; i++) {
		const struct diff_stat *st = &m->stats[i];

		if (!st->has_range)
			continue;
		json_object(json_key(w, *st->name ? st->name : "value"));
		put_json_double(json_key(w, "low"), st->low);
		put_json_double(json_key(w, "high"), st->high);
		json_put_bool(json_key(w, "clear"), st->clear);
		json_end_object(w);
	}
	json_end_object(w);
}

static void put_json_measure(struct json_writer *w, const struct diff_measure *m)
{
	json_object(w);
	put_json_name(w, m->family, m->key);
	json_put_text(json_key(w, "family"), m->family->name);
	json_put_text(json_key(w, "key"), m->key);
	json_put_text(json_key(w, "unit"), unit_names[m->family->unit]);
	json_put_text(json_key(w, "outcome"), outcomes[m->outcome]);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		put_json_side(w, m, i);
	if (m->outcome < DIFF_FEW) {
		put_json_ranges(w, m);
		if (m->dist[DIFF_A]) {
			put_json_double(json_key(w, "ks"), m->ks.distance);
			json_put_i64(json_key(w, "ks_at"), m->ks.at);
		}
		put_json_double(json_key(w, "p"), m->probability);
		put_json_double(json_key(w, "p_corrected"), m->corrected);
		put_json_double(json_key(w, "score"), m->score);
	}
	json_end_object(w);
}

static void put_json_ran(struct json_writer *w, const struct diff_case *c)
{
	static const char *const layers[] = {"task", "irq", "softirq"};

	json_array(json_key(w, "meanwhile"));
	vec_each (r, &c->ran) {
		json_object(w);
		json_put_text(json_key(w, "kind"), layers[r->layer]);
		json_put_text(json_key(w, "name"), r->name);
		json_put_i64_or_null(json_key(w, r->layer == DIFF_SLICE ? "pid" : "number"), r->pid,
				     ROW_NULL);
		json_put_u64(json_key(w, "time"), r->time);
		json_end_object(w);
	}
	json_end_array(w);
}

static void put_json_case(struct json_writer *w, const struct diff_case *c, unsigned int side)
{
	json_object(w);
	json_put_text(json_key(w, "trace"), sides[side]);
	json_put_i64(json_key(w, "value"), c->value);
	json_put_u64(json_key(w, "ts"), c->from);
	json_put_i64_or_null(json_key(w, "cpu"), c->cpu, ROW_NULL);
	json_put_i64_or_null(json_key(w, "pid"), c->pid, ROW_NULL);
	json_put_text(json_key(w, "comm"), c->comm);
	put_json_ran(w, c);
	if (c->why) {
		json_separate(json_key(w, "why"));
		why_json(c->why, w->out);
	}
	if (c->text)
		json_put_text(json_key(w, "events"), c->text);
	json_end_object(w);
}

static void put_json_worst(const struct diff_work *s, struct json_writer *w)
{
	json_newline(w);
	json_array(json_key(w, "worst"));
	vec_each (f, &s->diff.focus) {
		json_newline(w);
		json_object(w);
		put_json_name(w, (*f)->family, (*f)->key);
		json_array(json_key(w, "cases"));
		for (unsigned int i = 0; i < DIFF_SIDES; i++)
			vec_each (c, &(*f)->cases[i]) {
				if (w->comma)
					json_newline(w);
				put_json_case(w, c, i);
			}
		json_end_array(w);
		json_end_object(w);
	}
	json_end_array(w);
}

void diff_put_json(const struct diff_work *s, struct buf *to)
{
	struct json_writer w = {to, .spaced = true};

	json_object(&w);
	put_json_files(s, &w);
	put_json_warnings(s, &w);
	put_json_verdicts(s, &w);
	json_newline(&w);
	json_array(json_key(&w, "measures"));
	vec_each (m, &s->diff.measures) {
		json_newline(&w);
		put_json_measure(&w, m);
	}
	json_end_array(&w);
	put_json_worst(s, &w);
	json_end_object(&w);
	buf_putc(to, '\n');
}

/* ---- CSV ---- */

static void put_csv_double(struct buf *to, bool there, double v)
{
	buf_putc(to, ',');
	if (there && isfinite(v))
		buf_printf(to, "%.9g", v);
}

static void put_csv_measure(struct buf *to, const struct diff_measure *m)
{
	const bool tested = m->outcome < DIFF_FEW, is_dist = m->nr_stats == DIFF_STATS;
	const struct diff_stat *st = &m->stats[m->telling];
	scoped_buf name = buf_new(NAME_BYTES);

	diff_put_name(m->family, m->key, &name);
	buf_csv_cell(to, name.data, name.len);
	buf_printf(to, ",%s,%s", unit_names[m->family->unit], outcomes[m->outcome]);
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		buf_printf(to, ",%llu", (unsigned long long)m->count[i]);
		put_csv_double(to, m->count[i] && !is_dist, m->stats[0].value[i]);
		for (unsigned int k = 0; k < DIFF_STATS; k++)
			put_csv_double(to, m->count[i] && is_dist, m->stats[k].value[i]);
	}
	buf_printf(to, ",%s", is_dist ? st->name : "value");
	put_csv_double(to, tested && st->has_range, st->low);
	put_csv_double(to, tested && st->has_range, st->high);
	put_csv_double(to, tested && is_dist, m->ks.distance);
	put_csv_double(to, tested, m->corrected);
	put_csv_double(to, tested, m->score);
	buf_putc(to, '\n');
}

void diff_put_csv(const struct diff_work *s, struct buf *to)
{
	buf_puts(to, "measure,unit,outcome");
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		for (unsigned int k = 0; k < DIFF_STATS + 2; k++)
			buf_printf(to, ",%s_%s", sides[i],
				   k == 0   ? "count"
				   : k == 1 ? "value"
					    : diff_quantiles[k - 2].name);
	buf_puts(to, ",stat,low,high,ks,p,score\n");
	vec_each (m, &s->diff.measures)
		put_csv_measure(to, m);
}
