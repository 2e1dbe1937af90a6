// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event types as Parquet tables: the columns that SQL shows, each with a reader that knows where in
 * the record its value lies.
 *
 * A number at a fixed place is copied. Texts that are a function of one number (the task's name,
 * the function at an address, names of flags) are looked up by that number, arrays by their bytes:
 * they are only made when there is something new.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "export/parquet_events.h"

#define ARRAY_MAX  256	      /* bytes of an array that is worth remembering */
#define ARRAYS_MAX (1u << 20) /* bytes of those that are remembered at a time */

enum source {
	FROM_TIME,
	FROM_CPU,
	FROM_PID,
	FROM_NUMBER, /* at a fixed place */
	FROM_CHARS,  /* characters at a fixed place */
	FROM_KEY,    /* a text that follows from the number `key` reads */
	FROM_BYTES,  /* a text that follows from the field's bytes */
	FROM_CELL,   /* whatever it is */
	FROM_NONE,   /* the column is constant */
};

/* Arrays that have been seen, and what they became. */
struct arrays {
	uint32_t epoch;
	struct pq_texts raw;
	struct {
		uint32_t *at;
		size_t n, cap;
	} ids;
};

struct reading {
	enum source from, key; /* key: FROM_PID or FROM_NUMBER */
	uint32_t column;
	uint32_t offset, end; /* in the record */
	uint8_t size;
	bool negative;
	const struct cell *cell;
	struct pq_memo *memo;
	struct arrays *arrays;
};

struct pq_events {
	struct pq_table *table;
	struct event *event;
	struct reader *reader;
	bool big_endian;
	struct cells cells;
	struct {
		struct reading *at;
		size_t n, cap;
	} readings;
};

/* ---- what to read where ---- */

static const char *const reserved[] = {"table", "date", "host", "trace_id", NULL};

/* Fields that are called as what a store adds get another name, as those of SQL do. */
static bool add_column(struct pq_events *ev, const struct cell *c, struct reading *rd,
		       enum pq_type type)
{
	const bool always = c->kind == CELL_TS || c->kind == CELL_CPU || c->kind == CELL_PID;
	char name[320];
	size_t i = 0;

	while (reserved[i] && strcasecmp(reserved[i], c->name) != 0)
		i++;
	snprintf(name, sizeof(name), "%s%s", reserved[i] ? "args_" : "", c->name);
	rd->column = pq_table_add(ev->table, name, type, !always);
	return rd->column != PQ_NO_ID;
}

static void set_place(struct reading *rd, const struct event_field *f)
{
	rd->offset = f->offset;
	rd->size = (uint8_t)f->size;
	rd->negative = f->flags & FIELD_SIGNED;
	/* A hostile format may put it anywhere: no record is long enough then. */
	if (__builtin_add_overflow(f->offset, f->size, &rd->end))
		rd->end = UINT32_MAX;
}

/* Numbers that a signed type holds get one: arithmetic on unsigned ones surprises. */
static enum pq_type number_type(const struct event_field *f)
{
	if (f->size == 8)
		return f->flags & FIELD_SIGNED ? PQ_INT64 : PQ_UINT64;
	return f->size == 4 && !(f->flags & FIELD_SIGNED) ? PQ_INT64 : PQ_INT32;
}

static bool plan_key(struct reading *rd, enum source key)
{
	rd->from = FROM_KEY;
	rd->key = key;
	rd->memo = calloc(1, sizeof(*rd->memo));
	return rd->memo;
}

static bool plan_array(struct pq_events *ev, struct reading *rd)
{
	rd->from = FROM_BYTES;
	rd->arrays = calloc(1, sizeof(*rd->arrays));
	if (rd->arrays)
		pq_texts_init(&rd->arrays->raw, &ev->table->work->seed);
	return rd->arrays;
}

static bool plan_cell(struct pq_events *ev, const struct cell *c, struct reading *rd)
{
	const struct event_field *f = c->field;

	rd->cell = c;
	switch (c->kind) {
	case CELL_TS: rd->from = FROM_TIME; return add_column(ev, c, rd, PQ_TIME);
	case CELL_CPU: rd->from = FROM_CPU; return add_column(ev, c, rd, PQ_INT32);
	case CELL_PID: rd->from = FROM_PID; return add_column(ev, c, rd, PQ_INT32);
	case CELL_NUMBER:
		rd->from = FROM_NUMBER;
		set_place(rd, f);
		return add_column(ev, c, rd, number_type(f));
	case CELL_STRING:
		rd->from = f->flags & FIELD_DYNAMIC || !f->size ? FROM_CELL : FROM_CHARS;
		set_place(rd, f);
		break;
	case CELL_COMM:
		if (!plan_key(rd, FROM_PID))
			return false;
		break;
	case CELL_SYMBOL:
	case CELL_NAMED:
		set_place(rd, f);
		rd->from = FROM_CELL;
		if (c->kind == CELL_NAMED && !naming_alone(&c->names, f))
			break;
		if (!plan_key(rd, FROM_NUMBER))
			return false;
		break;
	case CELL_ARRAY:
		if (!plan_array(ev, rd))
			return false;
		break;
	default: rd->from = FROM_CELL;
	}
	return add_column(ev, c, rd, PQ_TEXT);
}

/* The buffer is the same in all rows of most traces. */
static bool plan_buffer(struct pq_events *ev, const struct cell *c, struct reading *rd)
{
	const struct spur_trace *t = ev->reader->trace;

	if (t->nr_buffers > 1)
		return plan_cell(ev, c, rd);
	rd->from = FROM_NONE;
	return pq_table_add_constant(ev->table, c->name, t->buffers[0].data->name) != PQ_NO_ID;
}

static bool plan_all(struct pq_events *ev)
{
	vec_each (c, &ev->cells) {
		struct reading *rd = vec_push(&ev->readings);

		if (!rd ||
		    !(c->kind == CELL_BUFFER ? plan_buffer(ev, c, rd) : plan_cell(ev, c, rd)))
			return false;
		if (rd->from == FROM_NONE)
			ev->readings.n--;
	}
	return true;
}

struct pq_events *pq_events_new(struct pq_table *t, struct reader *reader, struct event *e,
				const char *trace_id)
{
	struct pq_events *ev = calloc(1, sizeof(*ev));

	if (!ev)
		return NULL;
	t->system = e->system;
	ev->table = t;
	ev->event = e;
	ev->reader = reader;
	ev->big_endian = reader->trace->events->big_endian;
	if (cells_make(&ev->cells, e) < 0 || !plan_all(ev) ||
	    pq_table_add_constant(t, "trace_id", trace_id) == PQ_NO_ID) {
		pq_events_free(ev);
		return NULL;
	}
	return ev;
}

void pq_events_free(struct pq_events *ev)
{
	if (!ev)
		return;
	vec_each (rd, &ev->readings) {
		free(rd->memo);
		if (rd->arrays) {
			pq_texts_free(&rd->arrays->raw);
			vec_free(&rd->arrays->ids);
		}
		free(rd->arrays);
	}
	vec_free(&ev->readings);
	cells_free(&ev->cells);
	free(ev);
}

/* ---- reading ---- */

static inline uint64_t number_at(const struct pq_events *ev, const struct reading *rd,
				 const struct spur_record *r)
{
	const uint64_t v = load_uint(r->data + rd->offset, rd->size, ev->big_endian);
	const uint32_t above = 64 - 8 * (uint32_t)rd->size;

	return rd->negative ? (uint64_t)((int64_t)(v << above) >> above) : v;
}

static uint32_t take_cell(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
			  uint32_t row, const struct spur_record *r)
{
	struct value v;

	reader_get(ev->reader, rd->cell, ev->event, r, &v);
	if (v.type == VALUE_TEXT)
		return pq_set_text(ev->table, c, row, v.text, v.len);
	pq_set_null(ev->table, c, row);
	return PQ_NO_ID;
}

/* What has no text is not kept: it is asked for again. */
static void take_by_key(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
			uint32_t row, const struct spur_record *r, uint64_t pid)
{
	uint64_t key = pid;
	uint32_t slot, id;

	if (rd->key == FROM_NUMBER) {
		if (rd->end > r->size) {
			take_cell(ev, rd, c, row, r);
			return;
		}
		key = number_at(ev, rd, r);
	}
	slot = pq_memo_slot(rd->memo, c, key);
	if (rd->memo->at[slot].id && rd->memo->at[slot].key == key) {
		c->ids[row] = rd->memo->at[slot].id - 1;
		return;
	}
	id = take_cell(ev, rd, c, row, r);
	rd->memo->at[slot].key = key;
	rd->memo->at[slot].id = id + 1;
}

static void take_by_bytes(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
			  uint32_t row, const struct spur_record *r)
{
	struct arrays *a = rd->arrays;
	uint32_t raw, id, *slot;
	size_t size;
	const uint8_t *bytes = field_bytes(ev->reader->trace->events, rd->cell->field, r, &size);

	if (!bytes || size > ARRAY_MAX) {
		take_cell(ev, rd, c, row, r);
		return;
	}
	if (a->epoch != c->epoch || a->raw.bytes.len > ARRAYS_MAX) {
		pq_texts_reset(&a->raw);
		a->ids.n = 0;
		a->epoch = c->epoch;
	}
	raw = pq_texts_raw(&a->raw, bytes, size);
	if (raw != PQ_NO_ID && raw < a->ids.n) {
		c->ids[row] = a->ids.at[raw];
		return;
	}
	id = take_cell(ev, rd, c, row, r);
	slot = raw != PQ_NO_ID ? vec_push(&a->ids) : NULL;
	if (slot)
		*slot = id;
	else
		a->epoch = c->epoch - 1;
}

static inline void take_number(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
			       uint32_t row, const struct spur_record *r)
{
	if (__builtin_expect(rd->end <= r->size, 1))
		pq_set_number(c, row, number_at(ev, rd, r));
	else
		pq_set_null(ev->table, c, row);
}

static inline void take_chars(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
			      uint32_t row, const struct spur_record *r)
{
	const char *text = (const char *)r->data + rd->offset;

	if (__builtin_expect(rd->end <= r->size, 1))
		pq_set_text(ev->table, c, row, text, strnlen(text, rd->end - rd->offset));
	else
		take_cell(ev, rd, c, row, r);
}

void pq_events_take(struct pq_events *ev, const struct spur_record *r)
{
	const uint64_t pid = (uint64_t)(int64_t)events_record_pid(ev->reader->trace->events, r);
	const uint32_t row = pq_row(ev->table);

	if (row == PQ_NO_ID)
		return;
	vec_each (rd, &ev->readings) {
		struct pq_column *c = &ev->table->columns[rd->column];

		switch (rd->from) {
		case FROM_TIME: pq_set_number(c, row, r->ts); break;
		case FROM_CPU: pq_set_number(c, row, r->cpu); break;
		case FROM_PID: pq_set_number(c, row, pid); break;
		case FROM_NUMBER: take_number(ev, rd, c, row, r); break;
		case FROM_CHARS: take_chars(ev, rd, c, row, r); break;
		case FROM_KEY: take_by_key(ev, rd, c, row, r, pid); break;
		case FROM_BYTES: take_by_bytes(ev, rd, c, row, r); break;
		case FROM_CELL: take_cell(ev, rd, c, row, r); break;
		case FROM_NONE: break;
		}
	}
	pq_row_end(ev->table);
}
