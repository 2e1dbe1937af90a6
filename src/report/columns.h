/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Columns: what `--fields` selects of a record, and typed values for JSON and CSV.
 */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include "report/emit.h"

enum emit_column_kind {
	EMIT_TS,
	EMIT_TIME,
	EMIT_CPU,
	EMIT_PID,
	EMIT_COMM,
	EMIT_SYSTEM,
	EMIT_EVENT,
	EMIT_BUFFER,
	EMIT_LOST,
	EMIT_INFO,
	EMIT_FIELD, /* a field of the event */
};

struct emit_column {
	enum emit_column_kind kind;
	char *name;
};

struct emit_columns {
	struct emit_column *at;
	size_t n, cap;
};

/* Splits "ts,comm,next_pid". -EINVAL for an empty name. */
int columns_parse(struct emit_columns *cols, const char *text, struct spur_error *err);
void columns_free(struct emit_columns *cols);

/* How a value is written. */
enum value_style { VALUE_JSON, VALUE_CSV, VALUE_PLAIN };

/* Appends a column's value; false (and nothing appended) when the record does not have it. */
bool column_value(struct emitter *em, const struct emit_column *col, const struct spur_record *r,
		  struct event *e, enum value_style style, struct buf *out);

/* Appends a field's value with its type: number, text, or a list of numbers. */
void field_value(struct emitter *em, const struct event_field *f, const struct spur_record *r,
		 enum value_style style, struct buf *out);

#endif
