/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event types as tables: the columns that records of a type have, and reading their values. SQL and
 * the exporters show the same ones.
 */
#ifndef TABLE_CELLS_H
#define TABLE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/event.h"
#include "scan/trace.h"

enum cell_kind {
	CELL_TS,
	CELL_CPU,
	CELL_PID,
	CELL_COMM,
	CELL_BUFFER,
	CELL_SYSTEM,
	CELL_EVENT,
	CELL_REPORT, /* the text that a report shows */
	CELL_NUMBER, /* fields: the number, … */
	CELL_STRING,
	CELL_ARRAY,
	CELL_NAMED,  /* … as the print format's flags or symbols, … */
	CELL_SYMBOL, /* … as the function at that address */
};

struct cell {
	char *name; /* unique among the table's, whatever the case of its letters */
	enum cell_kind kind;
	const struct event_field *field;
	struct naming names; /* CELL_NAMED: what prints it */
	const char *about;
};

struct cells {
	struct cell *at;
	size_t n, cap;
};

/* The columns of an event's table, NULL: of that of all records. -ENOMEM. */
int cells_make(struct cells *cells, struct event *e);
void cells_free(struct cells *cells);
bool cell_is_text(const struct cell *c);

struct cell_value {
	enum value_type { VALUE_NULL, VALUE_NUMBER, VALUE_TEXT } type;
	bool stays; /* the text lives as long as the trace */
	int64_t number;
	const char *text;
	size_t len;
};

/* What reads values. A text that does not stay is valid until the next value is read. */
struct reader {
	const struct spur_trace *trace;
	struct task_places told;
	struct event_printer printer;
	bool has_printer;
	struct buf text;
};

void reader_init(struct reader *rd, const struct spur_trace *t);
void reader_done(struct reader *rd);
void reader_get(struct reader *rd, const struct cell *c, struct event *e,
		const struct spur_record *r, struct cell_value *v);

#endif
