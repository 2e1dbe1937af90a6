// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur diff` for programs: times in nanoseconds, or the clock's ticks. */
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "base/vec.h"
#include "cli/diff.h"

#define NAME_BYTES 4096

static const char *const sides[DIFF_SIDES] = {"a", "b"};
static const char *const outcomes[] = {"changed", "same", "few", "only"};
static const char *const unit_names[] = {"ns", "per_second", "part"};

static void put_text(struct buf *to, const char *text)
{
	if (text)
		buf_json_string(to, text, strlen(text));
	else
		buf_puts(to, "null");
}

static void put_double(struct buf *to, double v)
{
	if (isfinite(v))
		buf_printf(to, "%.9g", v);
	else
		buf_puts(to, "null");
}

static void put_key(struct buf *to, const char *name)
{
	buf_printf(to, ", \"%s\": ", name);
}

static void put_files(const struct diff_shown *s, struct buf *to)
{
	for (unsigned int i = 0; i < DIFF_SIDES; i++) {
		const struct diff_side *d = &s->diff->side[i];

		buf_printf(to, "%s\"%s\": ", i ? ",\n" : "", sides[i]);
		if (!d->trace) {
			buf_puts(to, "null");
			continue;
		}
		buf_puts(to, "{\"file\": ");
		put_text(to, s->path[i]);
		put_key(to, "kernel");
		put_text(to, d->trace->dat->uname);
		buf_printf(to,
			   ", \"unit\": \"%s\", \"time\": %llu, \"cpus\": %u, \"events\": %llu, "
			   "\"lost\": %llu, \"gaps\": %llu}",
			   d->ticks ? "ticks" : "ns", (unsigned long long)(d->last - d->first),
			   d->cpus, (unsigned long long)d->events, (unsigned long long)d->lost,
			   (unsigned long long)d->gaps);
	}
}

static void put_warnings(const struct diff_shown *s, struct buf *to)
{
	char text[300];

	buf_puts(to, ",\n\"warnings\": [");
	for (unsigned int i = 0; diff_warning(s, i, text, sizeof(text)); i++) {
		if (i)
			buf_puts(to, ", ");
		put_text(to, text);
	}
	buf_putc(to, ']');
}

static void put_verdicts(const struct diff_shown *s, struct buf *to)
{
	buf_puts(to, ",\n\"requirements\": [");
	for (size_t i = 0; i < s->nr_requirements; i++) {
		const struct diff_verdict *v = &s->verdicts[i];

		buf_puts(to, i ? ",\n{\"requirement\": " : "\n{\"requirement\": ");
		put_text(to, s->requirements[i].text);
		for (unsigned int k = 0; k < DIFF_SIDES; k++) {
			put_key(to, sides[k]);
			put_double(to, v->known[k] ? v->value[k] : NAN);
		}
		put_key(to, "limit");
		put_double(to, v->limit);
		buf_printf(to, ", \"holds\": %s", v->holds ? "true" : "false");
		put_key(to, "note");
		put_text(to, *v->note ? v->note : NULL);
		buf_putc(to, '}');
	}
	buf_putc(to, ']');
}

static void put_side(struct buf *to, const struct diff_measure *m, unsigned int side)
{
	put_key(to, sides[side]);
	if (!m->count[side]) {
		buf_puts(to, "null");
		return;
	}
	buf_printf(to, "{\"count\": %llu", (unsigned long long)m->count[side]);
	if (m->dist[side]) {
		put_key(to, "min");
		buf_i64(to, m->dist[side]->min);
		put_key(to, "avg");
		put_double(to, m->dist[side]->mean);
	}
	for (unsigned int i = 0; i < m->nr_stats; i++) {
		put_key(to, m->dist[side] ? m->stats[i].name : "value");
		put_double(to, m->stats[i].value[side]);
	}
	buf_putc(to, '}');
}

static void put_ranges(struct buf *to, const struct diff_measure *m)
{
	bool any = false;

	buf_puts(to, ", \"difference\": {");
	for (unsigned int i = 0; i < m->nr_stats; i++) {
		const struct diff_stat *st = &m->stats[i];

		if (!st->has_range)
			continue;
		buf_printf(to, "%s\"%s\": {\"low\": ", any ? ", " : "",
			   *st->name ? st->name : "value");
		put_double(to, st->low);
		put_key(to, "high");
		put_double(to, st->high);
		buf_printf(to, ", \"clear\": %s}", st->clear ? "true" : "false");
		any = true;
	}
	buf_putc(to, '}');
}

static void put_measure(struct buf *to, const struct diff_measure *m)
{
	struct buf name;

	buf_init(&name, NAME_BYTES);
	diff_put_name(m->family, m->key, &name);
	buf_puts(to, "{\"measure\": ");
	buf_json_string(to, name.data, name.len);
	buf_free(&name);
	put_key(to, "family");
	put_text(to, m->family->name);
	put_key(to, "key");
	put_text(to, m->key);
	buf_printf(to, ", \"unit\": \"%s\", \"outcome\": \"%s\"", unit_names[m->family->unit],
		   outcomes[m->outcome]);
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		put_side(to, m, i);
	if (m->outcome < DIFF_FEW) {
		put_ranges(to, m);
		if (m->dist[DIFF_A]) {
			put_key(to, "ks");
			put_double(to, m->ks.distance);
			put_key(to, "ks_at");
			buf_i64(to, m->ks.at);
		}
		put_key(to, "p");
		put_double(to, m->probability);
		put_key(to, "p_corrected");
		put_double(to, m->corrected);
		put_key(to, "score");
		put_double(to, m->score);
	}
	buf_putc(to, '}');
}

static void put_ran(struct buf *to, const struct diff_case *c)
{
	static const char *const layers[] = {"task", "irq", "softirq"};

	buf_puts(to, ", \"meanwhile\": [");
	for (size_t i = 0; i < c->ran.n; i++) {
		const struct diff_ran *r = &c->ran.at[i];

		buf_printf(to, "%s{\"kind\": \"%s\", \"name\": ", i ? ", " : "", layers[r->layer]);
		put_text(to, r->name);
		buf_printf(to, ", \"%s\": %lld, \"time\": %llu}",
			   r->layer == DIFF_SLICE ? "pid" : "number", (long long)r->pid,
			   (unsigned long long)r->time);
	}
	buf_putc(to, ']');
}

static void put_number(struct buf *to, const char *name, int64_t v)
{
	put_key(to, name);
	if (v == ROW_NULL)
		buf_puts(to, "null");
	else
		buf_i64(to, v);
}

static void put_case(struct buf *to, const struct diff_case *c, unsigned int side)
{
	buf_printf(to, "{\"trace\": \"%s\", \"value\": %lld, \"ts\": %llu", sides[side],
		   (long long)c->value, (unsigned long long)c->from);
	put_number(to, "cpu", c->cpu);
	put_number(to, "pid", c->pid);
	put_key(to, "comm");
	put_text(to, c->comm);
	put_ran(to, c);
	if (c->why) {
		put_key(to, "why");
		why_json(c->why, to);
	}
	if (c->text) {
		put_key(to, "events");
		put_text(to, c->text);
	}
	buf_putc(to, '}');
}

static void put_worst(const struct diff_shown *s, struct buf *to)
{
	bool any = false;

	buf_puts(to, ",\n\"worst\": [");
	vec_each (f, &s->diff->focus) {
		struct buf name;
		bool first = true;

		buf_init(&name, NAME_BYTES);
		diff_put_name((*f)->family, (*f)->key, &name);
		buf_puts(to, any ? ",\n{\"measure\": " : "\n{\"measure\": ");
		buf_json_string(to, name.data, name.len);
		buf_free(&name);
		buf_puts(to, ", \"cases\": [");
		for (unsigned int i = 0; i < DIFF_SIDES; i++)
			vec_each (c, &(*f)->cases[i]) {
				if (!first)
					buf_puts(to, ",\n");
				first = false;
				put_case(to, c, i);
			}
		buf_puts(to, "]}");
		any = true;
	}
	buf_putc(to, ']');
}

void diff_put_json(const struct diff_shown *s, struct buf *to)
{
	bool any = false;

	buf_putc(to, '{');
	put_files(s, to);
	put_warnings(s, to);
	put_verdicts(s, to);
	buf_puts(to, ",\n\"measures\": [");
	vec_each (m, &s->diff->measures) {
		buf_puts(to, any ? ",\n" : "\n");
		any = true;
		put_measure(to, m);
	}
	buf_putc(to, ']');
	put_worst(s, to);
	buf_puts(to, "}\n");
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
	struct buf name;

	buf_init(&name, NAME_BYTES);
	diff_put_name(m->family, m->key, &name);
	buf_csv_cell(to, name.data, name.len);
	buf_free(&name);
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

void diff_put_csv(const struct diff_shown *s, struct buf *to)
{
	buf_puts(to, "measure,unit,outcome");
	for (unsigned int i = 0; i < DIFF_SIDES; i++)
		for (unsigned int k = 0; k < DIFF_STATS + 2; k++)
			buf_printf(to, ",%s_%s", sides[i],
				   k == 0   ? "count"
				   : k == 1 ? "value"
					    : diff_quantiles[k - 2].name);
	buf_puts(to, ",stat,low,high,ks,p,score\n");
	vec_each (m, &s->diff->measures)
		put_csv_measure(to, m);
}
