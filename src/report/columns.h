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

#endif
