// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows of a trace as blocks of RowBinary.
 *
 * Which rows are in which block depends only on the rows and their order: a block ends when it has
 * enough rows or bytes. If all open blocks together are too large, the largest one ends.
 */
#include "export/clickhouse/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/varint.h"
#include "base/vec.h"

#define SECONDS	   86400
#define ROW_LIMIT  (16u << 20) /* bytes of one row, at most: records are smaller */
#define HEAD_LIMIT 1024

static void fail(struct ch_rows *r, int rc, const char *why)
{
	if (r->rc == 0)
		r->rc = error_set(&r->err, rc, "%s", why);
}

/* ---- values ---- */

static inline void put_le(struct buf *to, uint64_t v, size_t bytes)
{
	uint8_t le[8];

	for (size_t i = 0; i < 8; i++)
		le[i] = (uint8_t)(v >> (8 * i));
	buf_put(to, le, bytes);
}

static inline void put_text(struct buf *to, const char *text, size_t len)
{
	if (buf_room(to, len + VARINT_MOST)) {
		char *at = (char *)varint_put((uint8_t *)to->data + to->len, len);

		memcpy(at, text, len);
		to->len = (size_t)(at - to->data) + len;
	}
}

static inline void put_null(struct buf *to)
{
	buf_putc(to, 1);
}

static inline void put_number(struct buf *to, int64_t v)
{
	uint8_t le[9] = {0};

	for (size_t i = 0; i < 8; i++)
		le[i + 1] = (uint8_t)((uint64_t)v >> (8 * i));
	buf_put(to, le, sizeof(le));
}

/* ---- blocks ---- */

static void ship(struct ch_rows *r, struct ch_table *t)
{
	struct ch_block b = r->like;
	struct spur_error err = {0};
	int rc;

	if (!t->rows || r->rc < 0)
		return;
	if (buf_full(&t->data)) {
		fail(r, -ENOMEM, "out of memory");
		return;
	}
	b.table = t->name;
	b.columns = &t->columns;
	b.number = t->next++;
	b.rows = t->rows;
	b.data = t->data;
	r->bytes -= t->data.len;
	t->rows = 0;
	buf_init(&t->data, CH_BLOCK_BYTES + ROW_LIMIT);
	rc = ch_courier_give(r->courier, &b, &err);
	if (rc < 0) {
		r->rc = rc;
		r->err = err;
	}
}

static void ship_largest(struct ch_rows *r)
{
	struct ch_table *most = NULL;

	vec_each (t, &r->tables)
		if (!most || (*t)->data.len > most->data.len)
			most = *t;
	if (most)
		ship(r, most);
}

static inline void begin_row(struct ch_rows *r, struct ch_table *t)
{
	buf_put(&t->data, r->head.data, r->head.len);
	put_le(&t->data, t->next, 4);
}

static inline void end_row(struct ch_rows *r, struct ch_table *t, size_t before)
{
	t->rows++;
	r->bytes += t->data.len - before;
	if (__builtin_expect(t->rows >= CH_BLOCK_ROWS || t->data.len >= CH_BLOCK_BYTES ||
				     buf_full(&t->data),
			     0))
		ship(r, t);
	else if (__builtin_expect(r->bytes >= CH_ALL_BYTES, 0))
		ship_largest(r);
}

/* ---- tables ---- */

static void free_table(struct ch_table *t)
{
	free(t->name);
	ch_columns_free(&t->columns);
	cells_free(&t->cells);
	if (t->data.data)
		buf_free(&t->data);
	free(t);
}

static struct ch_table *new_table(struct ch_rows *r, const void *source, char *name)
{
	struct ch_table *t = calloc(1, sizeof(*t));

	if (!t || !name || !vec_add(&r->tables, &t)) {
		free(t);
		free(name);
		fail(r, -ENOMEM, "out of memory");
		return NULL;
	}
	t->name = name;
	buf_init(&t->data, CH_BLOCK_BYTES + ROW_LIMIT);
	if (ch_columns_begin(&t->columns) < 0 ||
	    (source && !map_set(&r->by_source, (uintptr_t)source, t))) {
		fail(r, -ENOMEM, "out of memory");
		return NULL;
	}
	return t;
}

/* The event's name, with its system if another event has the same name, as in SQL. */
static char *event_table_name(const struct ch_rows *r, const struct event *e)
{
	const struct events *ev = r->trace->events;
	bool taken = table_find(e->name) || strcmp(e->name, CH_TRACES) == 0 ||
		     strcmp(e->name, CH_TYPES) == 0;
	char *name = NULL;

	for (size_t i = 0; !taken && i < ev->nr; i++)
		taken = ev->list[i] != e && strcmp(ev->list[i]->name, e->name) == 0 &&
			strcmp(ev->list[i]->system, e->system) != 0;
	if (!taken)
		return strdup(e->name);
	return asprintf(&name, "%s:%s", e->system, e->name) < 0 ? NULL : name;
}

static const char *cell_type(const struct cell *c)
{
	switch (c->kind) {
	case CELL_TS: return ch_u64;
	case CELL_CPU:
	case CELL_PID: return ch_i32;
	case CELL_COMM:
	case CELL_BUFFER: return ch_string;
	default: return cell_is_text(c) ? ch_text : ch_number;
	}
}

/* Notes the system of a table's events, because tables are only named after the event. */
static void note_type(struct ch_rows *r, const struct event *e, const char *table)
{
	static const char *const columns[] = {"system", "event", "table"};
	const char *texts[] = {e->system, e->name, table};
	struct ch_table *t = map_get(&r->by_source, (uintptr_t)columns);
	size_t before;

	if (!t) {
		t = new_table(r, columns, strdup(CH_TYPES));
		if (t && ch_columns_add(&t->columns, "ts", ch_u64) < 0)
			fail(r, -ENOMEM, "out of memory");
		for (size_t i = 0; t && i < 3; i++)
			if (ch_columns_add(&t->columns, columns[i], ch_string) < 0)
				fail(r, -ENOMEM, "out of memory");
	}
	if (!t || r->rc < 0)
		return;
	before = t->data.len;
	begin_row(r, t);
	put_le(&t->data, r->first, 8);
	for (size_t i = 0; i < 3; i++)
		put_text(&t->data, texts[i], strlen(texts[i]));
	end_row(r, t, before);
}

static struct ch_table *event_table(struct ch_rows *r, struct event *e)
{
	struct ch_table *t = map_get(&r->by_source, (uintptr_t)e);
	int rc;

	if (t)
		return t;
	t = new_table(r, e, event_table_name(r, e));
	rc = t ? cells_make(&t->cells, e) : 0;
	for (size_t i = 0; t && rc == 0 && i < t->cells.n; i++)
		rc = ch_columns_add(&t->columns, t->cells.at[i].name, cell_type(&t->cells.at[i]));
	if (rc < 0) {
		fail(r, rc, "out of memory");
		return NULL;
	}
	if (t)
		note_type(r, e, t->name);
	return t;
}

static struct ch_table *rows_table(struct ch_rows *r, const struct table *table)
{
	struct ch_table *t = map_get(&r->by_source, (uintptr_t)table);
	int rc = 0;

	if (t)
		return t;
	t = new_table(r, table, strdup(table->name));
	for (uint32_t i = 0; t && rc == 0 && i < table->nr_columns; i++) {
		const struct column *c = &table->columns[i];

		rc = ch_columns_add(&t->columns, c->name,
				    c->type == COLUMN_TIME ? ch_u64
				    : row_is_text(c)	   ? ch_text
							   : ch_number);
	}
	if (rc < 0) {
		fail(r, rc, "out of memory");
		return NULL;
	}
	if (t)
		t->table = table;
	return t;
}

/* ---- rows ---- */

static inline void put_value(struct buf *to, const struct cell *c, const struct cell_value *v)
{
	const bool text = cell_is_text(c);

	switch (c->kind) {
	case CELL_TS: put_le(to, (uint64_t)v->number, 8); return;
	case CELL_CPU:
	case CELL_PID: put_le(to, (uint64_t)v->number, 4); return;
	case CELL_COMM:
	case CELL_BUFFER: put_text(to, v->text, v->len); return;
	default: break;
	}
	if (v->type == VALUE_NULL) {
		put_null(to);
	} else if (text) {
		buf_putc(to, 0);
		put_text(to, v->text, v->len);
	} else {
		put_number(to, v->number);
	}
}

void ch_rows_record(void *rows, struct event *e, const struct spur_record *rec)
{
	struct ch_rows *r = rows;
	struct ch_table *t = event_table(r, e);
	size_t before;

	if (!t || r->rc < 0)
		return;
	before = t->data.len;
	begin_row(r, t);
	for (size_t i = 0; i < t->cells.n; i++) {
		struct cell_value v;

		reader_get(&r->reader, &t->cells.at[i], e, rec, &v);
		put_value(&t->data, &t->cells.at[i], &v);
	}
	end_row(r, t, before);
}

void ch_rows_row(struct ch_rows *r, const struct table *table, const void *row)
{
	struct ch_table *t = rows_table(r, table);
	size_t before;

	if (!t || r->rc < 0)
		return;
	before = t->data.len;
	begin_row(r, t);
	for (uint32_t i = 0; i < table->nr_columns; i++) {
		const struct column *c = &table->columns[i];

		if (row_is_text(c)) {
			const char *text = row_text(c, row);

			buf_putc(&t->data, text == NULL);
			if (text)
				put_text(&t->data, text, strlen(text));
		} else if (c->type == COLUMN_TIME) {
			put_le(&t->data, (uint64_t)row_number(c, row), 8);
		} else if (row_number(c, row) == ROW_NULL) {
			put_null(&t->data);
		} else {
			put_number(&t->data, row_number(c, row));
		}
	}
	end_row(r, t, before);
}

/* ---- the trace itself ---- */

int ch_rows_trace(struct ch_rows *r, const struct identity *id, const char *plan)
{
	static const struct {
		const char *name, *type;
	} columns[] = {
		{"ts", ch_u64},		  {"last", ch_u64},	 {"wall", ch_u8},
		{"kernel", ch_string},	  {"clock", ch_string},	 {"file", ch_string},
		{"plan", ch_string},	  {"uname", ch_text},	 {"damage", ch_text},
		{"compression", ch_text}, {"recorder", ch_text}, {"cpus", ch_number},
		{"buffers", ch_number},	  {"bytes", ch_number},	 {"file_version", ch_number}};
	struct ch_table *t = new_table(r, NULL, strdup(CH_TRACES));
	const struct dat *dat = r->trace->dat;
	const char *texts[] = {id->kernel, id->clock ? id->clock : "", file_name_of(dat->path),
			       plan};
	const char *nullable[] = {dat->uname, dat->damage.code ? dat->damage.text : NULL,
				  dat->compression, dat->trace_version};
	const uint64_t numbers[] = {dat->nr_cpus, r->trace->nr_buffers, dat->file_size,
				    (uint64_t)dat->version};

	for (size_t i = 0; t && i < ARRAY_SIZE(columns); i++)
		if (ch_columns_add(&t->columns, columns[i].name, columns[i].type) < 0)
			fail(r, -ENOMEM, "out of memory");
	if (!t || r->rc < 0)
		return r->rc;
	begin_row(r, t);
	put_le(&t->data, id->first, 8);
	put_le(&t->data, id->last, 8);
	put_le(&t->data, id->has_wall, 1);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		put_text(&t->data, texts[i], strlen(texts[i]));
	for (size_t i = 0; i < ARRAY_SIZE(nullable); i++) {
		const bool there = nullable[i] && *nullable[i];

		buf_putc(&t->data, !there);
		if (there)
			put_text(&t->data, nullable[i], strlen(nullable[i]));
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		put_number(&t->data, (int64_t)numbers[i]);
	t->rows = 1;
	r->bytes += t->data.len;
	r->like.plan = plan;
	ship(r, t);
	r->like.plan = NULL;
	return r->rc;
}

/* ---- from the start to the end ---- */

int ch_rows_init(struct ch_rows *r, struct spur_trace *t, const struct identity *id,
		 const char *machine, struct ch_courier *courier, struct spur_error *err)
{
	const uint64_t days = id->date / SECONDS;

	*r = (struct ch_rows){.trace = t, .courier = courier, .first = id->first};
	reader_init(&r->reader, t);
	buf_init(&r->head, HEAD_LIMIT);
	r->like.has_wall = id->has_wall;
	r->like.date = days < UINT16_MAX ? (uint16_t)days : UINT16_MAX;
	machine = machine ? machine : id->host;
	memcpy(r->like.host, machine, strnlen(machine, sizeof(r->like.host) - 1));
	memcpy(r->like.trace_id, id->trace_id, sizeof(r->like.trace_id));
	put_le(&r->head, r->like.date, 2);
	put_text(&r->head, r->like.host, strlen(r->like.host));
	buf_put(&r->head, id->trace_id, 32);
	return buf_full(&r->head) ? error_set(err, -ENOMEM, "out of memory") : 0;
}

void ch_rows_end(struct ch_rows *r)
{
	vec_each (t, &r->tables)
		ship(r, *t);
}

void ch_rows_free(struct ch_rows *r)
{
	vec_each (t, &r->tables)
		free_table(*t);
	vec_free(&r->tables);
	map_free(&r->by_source);
	buf_free(&r->head);
	reader_done(&r->reader);
}
