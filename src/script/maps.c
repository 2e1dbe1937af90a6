// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole maps: sorted, and printed as text or as one JSON object.
 *
 * Numbers are sorted by value, histograms by their total, averages by the average, time series by
 * when they were last written, and everything else by key. Where bpftrace leaves the order to
 * chance (equal values), keys decide, so that the same script prints the same text again.
 */
#include "script/show.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/safe.h"

struct sorted {
	struct map_row row;
	uint64_t by;
};

struct order {
	const struct vtype *key;
	size_t key_len;
	bool is_signed; /* what `by` is */
};

/* ---- order ------------------------------------------------------------------------------ */

static int compare_numbers(uint64_t a, uint64_t b, bool is_signed)
{
	if (a == b)
		return 0;
	return (is_signed ? (int64_t)a < (int64_t)b : a < b) ? -1 : 1;
}

static int compare_keys(const struct vtype *t, const uint8_t *a, const uint8_t *b, size_t len)
{
	uint64_t x, y;

	if (t->kind == V_TUPLE || t->kind == V_RECORD) {
		for (uint32_t i = 0; i < t->nr_elems; i++) {
			size_t at = t->elems[i].offset < len ? t->elems[i].offset : len;
			int c = compare_keys(t->elems[i].type, a + at, b + at, len - at);

			if (c)
				return c;
		}
		return 0;
	}
	if (t->kind == V_INT || t->kind == V_BOOL || t->kind == V_POINTER) {
		value_number(t, a, len, &x);
		value_number(t, b, len, &y);
		return compare_numbers(x, y, t->kind == V_INT && t->is_signed);
	}
	return memcmp(a, b, t->size < len ? t->size : len);
}

static int compare_rows(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct sorted *x = a, *y = b;
	int c = compare_numbers(x->by, y->by, o->is_signed);

	if (c || !x->row.key || !y->row.key)
		return c;
	return compare_keys(o->key, x->row.key, y->row.key, o->key_len);
}

/* What a row is sorted by before its key is. */
static uint64_t sort_value(const struct vtype *t, const uint8_t *v, size_t len)
{
	uint64_t n = 0;

	switch (t->kind) {
	case V_STATS: return (uint64_t)agg_average(t, v, len);
	case V_TSERIES: return agg_last_epoch(t, v, len);
	case V_HIST:
	case V_LHIST:
		for (size_t i = 0; i < len / 8; i++)
			n += bucket_at(v, len, i);
		return n;
	case V_INT:
	case V_COUNT:
	case V_SUM:
	case V_AVG:
	case V_MIN:
	case V_MAX: value_number(t, v, len, &n); return n;
	default: return 0;
	}
}

static size_t value_len(const struct map_def *m)
{
	size_t flag = m->flagged ? 8 : 0;

	return m->value_size > flag ? m->value_size - flag : 0;
}

static void sort_rows(const struct map_def *m, struct map_rows *rows)
{
	struct order order = {
		.key = &m->key,
		.key_len = m->key_size,
		.is_signed = m->value.is_signed && m->value.kind != V_COUNT,
	};
	struct sorted *all;

	if (rows->n < 2)
		return;
	all = calloc(rows->n, sizeof(*all));
	if (!all)
		return; /* unsorted is better than not at all */
	for (size_t i = 0; i < rows->n; i++)
		all[i] = (struct sorted){
			.row = rows->at[i],
			.by = sort_value(&m->value, rows->at[i].value, value_len(m)),
		};
	qsort_r(all, rows->n, sizeof(*all), compare_rows, &order);
	for (size_t i = 0; i < rows->n; i++)
		rows->at[i] = all[i].row;
	free(all);
}

/* ---- printing --------------------------------------------------------------------------- */

static bool is_keyed(const struct map_def *m)
{
	return m->key.kind != V_NONE;
}

static bool is_chart(const struct vtype *t)
{
	return t->kind == V_HIST || t->kind == V_LHIST || t->kind == V_TSERIES;
}

static bool is_average(const struct vtype *t)
{
	return t->kind == V_AVG || t->kind == V_STATS;
}

static bool is_stack(const struct vtype *t)
{
	return t->kind == V_KSTACK || t->kind == V_USTACK;
}

static void put_key(const struct show *s, const struct map_def *m, const uint8_t *key)
{
	struct show in = *s;

	in.key = true;
	in.json = false;
	in.div = 1;
	in.to = &s->o->state->key;
	buf_reset(in.to);
	show_value(&in, &m->key, key, m->key_size);
	if (s->json)
		buf_json_string(s->to, in.to->data, in.to->len);
	else
		buf_put(s->to, in.to->data, in.to->len);
}

static void put_row_value(const struct show *s, const struct map_def *m, const struct map_row *row,
			  uint64_t last_epoch)
{
	if (m->value.kind == V_TSERIES)
		show_tseries(s, &m->value, row->value, value_len(m), last_epoch);
	else
		show_value(s, &m->value, row->value, value_len(m));
}

static void text_row(const struct show *s, const struct map_def *m, const struct map_row *row,
		     uint64_t last_epoch)
{
	buf_putc(s->to, '@');
	buf_puts(s->to, m->name);
	if (is_keyed(m)) {
		buf_putc(s->to, '[');
		put_key(s, m, row->key);
		buf_putc(s->to, ']');
	}
	buf_putc(s->to, ':');
	if (!is_chart(&m->value) || s->o->style == OUTPUT_0_17)
		buf_putc(s->to, ' ');
	if (is_chart(&m->value))
		buf_putc(s->to, '\n');
	put_row_value(s, m, row, last_epoch);
}

static void text_map(const struct show *s, const struct map_def *m, const struct map_row *rows,
		     size_t n, uint64_t last_epoch)
{
	const bool old = s->o->style == OUTPUT_0_17;

	for (size_t i = 0; i < n; i++) {
		text_row(s, m, &rows[i], last_epoch);
		/* A stack ends with a newline of its own. */
		if (!old || (i + 1 < n && !is_stack(&m->value)))
			buf_putc(s->to, '\n');
	}
	if (old)
		buf_puts(s->to, is_average(&m->value) ? "\n\n" : "\n");
}

static const char *json_type(const struct vtype *t)
{
	switch (t->kind) {
	case V_HIST:
	case V_LHIST: return "hist";
	case V_TSERIES: return "tseries";
	case V_AVG:
	case V_STATS: return "stats";
	default: return "map";
	}
}

static void json_map(const struct show *s, const struct map_def *m, const struct map_row *rows,
		     size_t n, uint64_t last_epoch)
{
	struct buf *name = &s->o->state->key;

	if (!n)
		return;
	buf_reset(name);
	buf_putc(name, '@');
	buf_puts(name, m->name);
	buf_printf(s->to, "{\"type\": \"%s\", \"data\": {", json_type(&m->value));
	buf_json_string(s->to, name->data, name->len);
	buf_puts(s->to, is_keyed(m) ? ": {" : ": ");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_puts(s->to, ", ");
		if (is_keyed(m)) {
			put_key(s, m, rows[i].key);
			buf_puts(s->to, ": ");
		}
		put_row_value(s, m, &rows[i], last_epoch);
	}
	buf_puts(s->to, is_keyed(m) ? "}}}\n" : "}}\n");
}

void output_map(struct output *o, const struct map_def *m, struct map_rows *rows, int64_t top,
		int64_t div)
{
	struct show s = {.o = o, .to = o->to, .json = o->json, .div = div ? div : 1};
	struct map_row *first;
	uint64_t last_epoch = 0;
	size_t skip = 0;
	const size_t start = o->to->len;

	sort_rows(m, rows);
	/* Both make no sense for stats, and bpftrace ignores them there. */
	if (top > 0 && (uint64_t)top < rows->n && m->value.kind != V_STATS)
		skip = rows->n - (size_t)top;
	/* Time series that are printed together end together. */
	if (m->value.kind == V_TSERIES && rows->n)
		last_epoch = agg_last_epoch(&m->value, rows->at[rows->n - 1].value, value_len(m));
	/* Without rows there is no memory to count from. */
	first = skip ? rows->at + skip : rows->at;
	if (o->json)
		json_map(&s, m, first, rows->n - skip, last_epoch);
	else
		text_map(&s, m, first, rows->n - skip, last_epoch);
	if (o->clean)
		buf_clean(o->to, start);
}
