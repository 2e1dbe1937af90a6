// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables: CSV (RFC 4180, with a line of names first), and plain columns separated by tabs, which is
 * what --fields gives without --csv or --json.
 */
#include <string.h>

#include "base/array.h"
#include "base/json.h"
#include "report/columns.h"

static const struct emit_column usual[] = {
	{EMIT_TS, "ts"},	 {EMIT_CPU, "cpu"},	{EMIT_PID, "pid"},   {EMIT_COMM, "comm"},
	{EMIT_SYSTEM, "system"}, {EMIT_EVENT, "event"}, {EMIT_INFO, "info"},
};

static const struct emit_column *columns_of(const struct emit_options *opt, size_t *n)
{
	if (opt->columns) {
		*n = opt->columns->n;
		return opt->columns->at;
	}
	*n = ARRAY_SIZE(usual);
	return usual;
}

static void csv_begin(const struct emit_options *opt, struct buf *out)
{
	size_t n;
	const struct emit_column *cols = columns_of(opt, &n);

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(out, ',');
		buf_csv_cell(out, cols[i].name, strlen(cols[i].name));
	}
	buf_putc(out, '\n');
}

static void put_row(struct emitter *em, const struct spur_record *r, struct event *e,
		    enum value_style style, char separator, struct buf *out)
{
	size_t n;
	const struct emit_column *cols = columns_of(em->opt, &n);

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(out, separator);
		if (!column_value(em, &cols[i], r, e, style, out) && style == VALUE_PLAIN)
			buf_putc(out, '-');
	}
	buf_putc(out, '\n');
	if (e)
		event_learn(&em->now->printer, e, r);
}

static void csv_record(struct emitter *em, const struct spur_record *r, struct event *e,
		       struct buf *out)
{
	put_row(em, r, e, VALUE_CSV, ',', out);
}

static void table_record(struct emitter *em, const struct spur_record *r, struct event *e,
			 struct buf *out)
{
	put_row(em, r, e, VALUE_PLAIN, '\t', out);
}

const struct emit_ops emit_csv = {
	.name = "csv",
	.begin = csv_begin,
	.record = csv_record,
};

const struct emit_ops emit_table = {
	.name = "table",
	.record = table_record,
};
