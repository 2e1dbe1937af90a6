/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of a table from a few records of made-up event types, for formats that no kernel at hand
 * writes. A case says what machine it is, what happens, and what columns of the rows must be.
 */
#ifndef TESTS_TABLE_FIXTURE_H
#define TESTS_TABLE_FIXTURE_H

#include "table/table.h"
#include "event_fixture.h"

#define TABLE_EVENTS 4
#define TABLE_STEPS  6

struct table_case {
	const char *name;
	const struct table *table;
	const char *machine;
	struct {
		const char *system, *name, *fields, *print;
	} events[TABLE_EVENTS];
	struct {
		uint64_t ts;
		const char *event, *data;
	} steps[TABLE_STEPS];
	const char *columns;	/* words */
	const char *rows;	/* a line each */
	unsigned int long_size; /* 0: 8 */
	bool big_endian;
};

struct table_rows {
	const struct table_case *c;
	struct buf text;
};

static inline void table_put(const struct column *c, const void *row, struct buf *out)
{
	const char *text = row_is_text(c) ? row_text(c, row) : NULL;

	if (text)
		buf_puts(out, text);
	else if (row_is_text(c) || row_number(c, row) == ROW_NULL)
		buf_putc(out, '-');
	else
		buf_i64(out, row_number(c, row));
}

static inline void table_take(void *rows, const void *row)
{
	struct table_rows *to = rows;
	const struct table *t = to->c->table;

	for (const char *word = to->c->columns; *word; word += strspn(word, " ")) {
		const size_t n = strcspn(word, " ");
		uint32_t i = 0;

		while (i < t->nr_columns &&
		       (strncmp(t->columns[i].name, word, n) != 0 || t->columns[i].name[n] != '\0'))
			i++;
		assert(i < t->nr_columns);
		table_put(&t->columns[i], row, &to->text);
		word += n;
		buf_putc(&to->text, *word ? ' ' : '\n');
	}
}

/* Fills to->text with the rows of a case. */
static inline void table_run(const struct table_case *c, struct table_rows *to)
{
	struct events *ev = fixture_events(c->big_endian, c->long_size ? c->long_size : 8);
	struct dat dat = {.uname = c->machine ? c->machine : "", .path = "made up"};
	const struct dat_buffer data = {.name = ""};
	struct spur_trace trace = {.dat = &dat, .events = ev};
	const struct trace_buffer buffer = {.trace = &trace, .data = &data};
	int failed = 0;
	const struct table_source source = {.table = c->table,
					    .trace = &trace,
					    .buffer = &buffer,
					    .row = table_take,
					    .arg = to,
					    .failed = &failed};
	uint64_t last = 0;
	void *analysis;
	struct buf b;

	to->c = c;
	buf_init(&to->text, 1 << 16);
	buf_init(&b, 1 << 16);
	for (int i = 0; i < TABLE_EVENTS && c->events[i].name; i++)
		fixture_add(ev, c->events[i].system, c->events[i].name, 100 + i,
			    c->events[i].fields, c->events[i].print ? c->events[i].print : "\"\"");
	events_seal(ev);
	analysis = table_begin(c->table, &source);
	assert(analysis);
	for (int i = 0; i < TABLE_STEPS && c->steps[i].event; i++) {
		struct event *e = NULL;
		struct spur_record r;

		for (size_t k = 0; k < ev->nr; k++)
			if (strcmp(ev->list[k]->name, c->steps[i].event) == 0)
				e = ev->list[k];
		assert(e);
		event_ready(e);
		r = fixture_record(&b, e->id, c->steps[i].data, c->big_endian);
		r.ts = last = c->steps[i].ts;
		c->table->record(analysis, e, &r);
	}
	c->table->end(analysis, last);
	table_free(c->table, analysis);
	assert(!failed);
	buf_free(&b);
	events_free(ev);
}

#endif
