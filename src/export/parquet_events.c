// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event types as Parquet tables: the columns that SQL shows, each with a reading that knows where
 * in the record its value lies. How records are taken is in parquet_batch.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "export/parquet_readings.h"

#define COPY_MAX 512 /* bytes of a record in a batch: columns behind are taken at once */

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

static void plan_key(struct reading *rd, enum source key)
{
	rd->from = FROM_KEY;
	rd->key = key;
}

static bool plan_name(struct reading *rd)
{
	rd->from = FROM_NAME;
	rd->names = calloc(1, sizeof(*rd->names));
	return rd->names;
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
		rd->from = FROM_CELL;
		set_place(rd, f);
		if (!(f->flags & FIELD_DYNAMIC) && f->size == NAME_SIZE && !plan_name(rd))
			return false;
		break;
	case CELL_COMM: plan_key(rd, FROM_PID); break;
	case CELL_SYMBOL:
	case CELL_NAMED:
		set_place(rd, f);
		rd->from = FROM_CELL;
		if (c->kind == CELL_NAMED && !naming_alone(&c->names, f))
			break;
		plan_key(rd, FROM_NUMBER);
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

/* What is far behind in a record is not copied. */
static void place_in_batch(struct pq_events *ev, struct reading *rd)
{
	if (rd->from > AT_ONCE || !rd->end)
		return;
	if (rd->end > COPY_MAX)
		rd->from = FROM_CELL;
	else if (rd->end > ev->batch.copied)
		ev->batch.copied = rd->end;
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
		else
			place_in_batch(ev, rd);
	}
	vec_each (rd, &ev->readings) {
		const struct reading **slot = rd->from > AT_ONCE ? vec_push(&ev->at_once) : NULL;

		if (rd->from > AT_ONCE && !slot)
			return false;
		if (slot)
			*slot = rd;
	}
	ev->batch.data = calloc(1, (size_t)PQ_BATCH * ev->batch.copied + PQ_COPY_STEP);
	return ev->batch.data;
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
	t->complete = pq_events_complete;
	t->complete_arg = ev;
	return ev;
}

void pq_events_free(struct pq_events *ev)
{
	if (!ev)
		return;
	vec_each (rd, &ev->readings) {
		free(rd->names);
		if (rd->arrays) {
			pq_texts_free(&rd->arrays->raw);
			vec_free(&rd->arrays->cells);
		}
		free(rd->arrays);
	}
	vec_free(&ev->readings);
	vec_free(&ev->at_once);
	free(ev->batch.data);
	cells_free(&ev->cells);
	free(ev);
}
