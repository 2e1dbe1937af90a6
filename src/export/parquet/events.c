// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event types as Parquet tables: the columns that SQL shows, each with a plan of how to read its
 * value from a record.
 *
 * Records are copied into a batch, as much of them as columns at fixed places need. The batch is
 * then read column by column. Texts that follow from one number (the task's name, the function at
 * an address, names of flags) are looked up by that number, arrays by their bytes: they are only
 * made when there is something new. Whatever needs more of a record is read at once.
 */
#include "export/parquet/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "event/names.h"

#define ARRAY_MAX  256	      /* bytes of an array that is worth remembering */
#define ARRAYS_MAX (1u << 20) /* bytes of those that are remembered at a time */
#define COPY_MAX   512	      /* bytes of a record in a batch: columns beyond are read at once */
#define COPY_STEP  16	      /* bytes of a record that are copied at a time */
#define NAME_SIZE  16	      /* bytes of a task's name in the kernel's records */
#define NAMES	   64	      /* such texts that are remembered; a power of two */

enum value_source {
	FROM_TIME,
	FROM_CPU,
	FROM_PID,
	FROM_NUMBER, /* at a fixed place */
	FROM_NAME,   /* NAME_SIZE characters at a fixed place */
	FROM_KEY,    /* a text that follows from the number `key` reads */
	AT_ONCE,     /* those after this are read when the record comes: */
	FROM_BYTES,  /* a text that follows from the field's bytes */
	FROM_CELL,   /* whatever it is */
	FROM_NONE,   /* the column is constant */
};

/* Arrays that have been seen, and the cells they became. */
struct array_memo {
	uint32_t epoch;
	struct pq_texts raw;
	vec_of(uint32_t) cells;
};

/* The same of names, with the bytes after their end. */
struct name_memo {
	uint32_t epoch;
	struct {
		uint64_t word[NAME_SIZE / 8];
		uint32_t cell; /* 0: nothing is here */
	} at[NAMES];
};

struct column_plan {
	enum value_source from, key; /* key: FROM_PID or FROM_NUMBER */
	uint32_t column;
	uint32_t offset, end; /* in the record */
	uint8_t size;
	bool negative;
	const struct cell *cell;
	struct name_memo *names;
	struct array_memo *arrays;
};

/* Records whose columns wait to be taken. */
struct record_batch {
	uint32_t n, most; /* there are, and may be */
	uint32_t copied;  /* bytes of each, in `data` */
	uint64_t cut;	  /* a bit for every record that has fewer bytes than that */
	uint64_t ts[PQ_BATCH], cpu[PQ_BATCH], pid[PQ_BATCH];
	uint32_t size[PQ_BATCH], buffer[PQ_BATCH];
	uint8_t *data;
};

struct pq_events {
	struct pq_table *table;
	struct event *event;
	struct reader *reader;
	bool big_endian;
	struct cells cells;
	vec_of(struct column_plan) plans;
	vec_of(const struct column_plan *) at_once;
	struct record_batch batch;
	struct task_places told;
};

/* ---- what is read at once ------------------------------------------------------------- */

static uint32_t text_cell(struct pq_events *ev, const struct column_plan *plan, struct pq_column *c,
			  const struct spur_record *r)
{
	struct cell_value v;

	reader_get(ev->reader, plan->cell, ev->event, r, &v);
	return v.type == VALUE_TEXT ? pq_text_cell(ev->table, c, v.text, v.len) : 0;
}

static void put_cell(struct pq_events *ev, const struct column_plan *plan, struct pq_column *c,
		     uint32_t row, const struct spur_record *r)
{
	struct cell_value v;

	if (c->type == PQ_TEXT) {
		pq_set_cell(ev->table, c, row, text_cell(ev, plan, c, r));
		return;
	}
	reader_get(ev->reader, plan->cell, ev->event, r, &v);
	if (v.type == VALUE_NUMBER)
		pq_set_number(ev->table, c, row, (uint64_t)v.number);
	else
		pq_set_null(ev->table, c, row);
}

static void put_by_bytes(struct pq_events *ev, const struct column_plan *plan, struct pq_column *c,
			 uint32_t row, const struct spur_record *r)
{
	struct array_memo *a = plan->arrays;
	uint32_t raw;
	size_t size;
	const uint8_t *bytes = field_bytes(ev->reader->trace->events, plan->cell->field, r, &size);

	if (!bytes || size > ARRAY_MAX) {
		put_cell(ev, plan, c, row, r);
		return;
	}
	if (a->epoch != c->epoch || a->raw.bytes.len > ARRAYS_MAX) {
		pq_texts_reset(&a->raw);
		a->cells.n = 0;
		a->epoch = c->epoch;
	}
	raw = pq_texts_raw(&a->raw, bytes, size);
	if (raw == PQ_NO_ID || raw >= a->cells.n) {
		const uint32_t cell = text_cell(ev, plan, c, r);

		pq_set_cell(ev->table, c, row, cell);
		if (raw == PQ_NO_ID || !vec_add(&a->cells, &cell))
			a->epoch = c->epoch - 1;
		return;
	}
	pq_set_cell(ev->table, c, row, a->cells.at[raw]);
}

static void put_at_once(struct pq_events *ev, const struct spur_record *r)
{
	const uint32_t row = ev->table->rows + ev->batch.n;

	vec_each (it, &ev->at_once) {
		const struct column_plan *plan = *it;
		struct pq_column *c = &ev->table->columns[plan->column];

		if (plan->from == FROM_BYTES)
			put_by_bytes(ev, plan, c, row, r);
		else
			put_cell(ev, plan, c, row, r);
	}
}

/* ---- batches, a column at a time ------------------------------------------------------ */

/* The i-th record, as much of it as there is. */
static struct spur_record record_at(const struct record_batch *b, uint32_t i)
{
	const uint32_t size = b->size[i] < b->copied ? b->size[i] : b->copied;

	return (struct spur_record){.ts = b->ts[i],
				    .data = b->data + (size_t)i * b->copied,
				    .size = size,
				    .room = size,
				    .cpu = (uint32_t)b->cpu[i],
				    .buffer = b->buffer[i]};
}

/* A bit for every record in which the column's field does not lie. */
static uint64_t without(const struct record_batch *b, const struct column_plan *plan)
{
	uint64_t bits = 0;

	for (uint64_t cut = b->cut; cut; cut &= cut - 1) {
		const uint32_t i = (uint32_t)__builtin_ctzll(cut);

		bits |= (uint64_t)(b->size[i] < plan->end) << i;
	}
	return bits;
}

/* The numbers of a field, of a size that the compiler knows. */
static inline void load(const struct record_batch *b, const struct column_plan *plan, uint32_t size,
			bool big_endian, uint64_t *v)
{
	const uint8_t *at = b->data + plan->offset;
	const uint32_t above = 64 - 8 * size, n = b->n, step = b->copied;

	for (uint32_t i = 0; i < n; i++, at += step)
		v[i] = load_uint(at, size, big_endian);
	for (uint32_t i = 0; plan->negative && i < n; i++)
		v[i] = (uint64_t)((int64_t)(v[i] << above) >> above);
}

static void load_numbers(const struct pq_events *ev, const struct column_plan *plan, uint64_t *v)
{
	const struct record_batch *b = &ev->batch;

	if (ev->big_endian) {
		load(b, plan, plan->size, true, v);
		return;
	}
	switch (plan->size) {
	case 1: load(b, plan, 1, false, v); break;
	case 2: load(b, plan, 2, false, v); break;
	case 4: load(b, plan, 4, false, v); break;
	default: load(b, plan, 8, false, v); break;
	}
}

/*
 * A key for each name of a task: its pid, or, if the file says which name it has then, the number
 * of that entry above all pids.
 */
#define TOLD_KEY (1ull << 32)

static const uint64_t *name_keys(struct pq_events *ev, uint64_t *keys)
{
	const struct spur_trace *t = ev->reader->trace;
	const struct record_batch *b = &ev->batch;

	if (!t->dat->nr_tasks)
		return b->pid;
	for (uint32_t i = 0; i < b->n; i++) {
		const struct dat_task *told =
			trace_task_named(t, &ev->told, (int)b->pid[i], b->ts[i]);

		keys[i] = told ? TOLD_KEY + (uint64_t)(told - t->dat->tasks) : b->pid[i];
	}
	return keys;
}

struct keyed {
	struct pq_events *ev;
	const struct column_plan *plan;
};

static uint32_t keyed_cell(void *arg, struct pq_column *c, uint64_t key, uint32_t i)
{
	const struct keyed *k = arg;
	const struct spur_trace *t = k->ev->reader->trace;
	const struct spur_record r = record_at(&k->ev->batch, i);
	const char *name;
	size_t len;

	if (k->plan->key != FROM_PID)
		return text_cell(k->ev, k->plan, c, &r);
	/* What of the record has been copied need not have the pid in it. */
	if (key - TOLD_KEY < t->dat->nr_tasks) {
		name = t->dat->tasks[key - TOLD_KEY].name;
		len = strlen(name);
	} else {
		name = comms_find(t->events->comms, (int)key, &len);
	}
	return pq_text_cell(k->ev->table, c, name, len);
}

/* If a record is too short for the field, the key says nothing about its value. */
static void put_by_key(struct pq_events *ev, const struct column_plan *plan, struct pq_column *c)
{
	const struct keyed k = {ev, plan};
	const struct pq_source from = {.cell = keyed_cell, .arg = (void *)&k};
	const struct record_batch *b = &ev->batch;
	uint64_t keys[PQ_BATCH], cut = 0;

	if (plan->key == FROM_NUMBER) {
		load_numbers(ev, plan, keys);
		cut = without(b, plan);
	}
	for (uint32_t i = 0; cut && i < b->n; i++) {
		const struct spur_record r = record_at(b, i);

		pq_set_cell(ev->table, c, ev->table->rows + i, text_cell(ev, plan, c, &r));
	}
	if (!cut)
		pq_put_keys(ev->table, c, ev->table->rows,
			    plan->key == FROM_PID ? name_keys(ev, keys) : keys, b->n, &from);
}

static inline uint32_t name_slot(const uint64_t *word)
{
	const uint64_t mixed = (word[0] ^ word[1] * 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> 58) & (NAMES - 1);
}

static void put_names(struct pq_events *ev, const struct column_plan *plan, struct pq_column *c)
{
	const struct record_batch *b = &ev->batch;
	const uint8_t *at = b->data + plan->offset;
	const uint64_t cut = without(b, plan);
	struct name_memo *names = plan->names;
	uint32_t cells[PQ_BATCH] = {0};

	if (names->epoch != c->epoch)
		*names = (struct name_memo){.epoch = c->epoch};
	for (uint32_t i = 0; i < b->n; i++, at += b->copied) {
		uint64_t word[NAME_SIZE / 8];
		uint32_t slot;

		memcpy(word, at, sizeof(word));
		slot = name_slot(word);
		if (names->at[slot].word[0] != word[0] || names->at[slot].word[1] != word[1] ||
		    !names->at[slot].cell || cut >> i & 1) {
			const struct spur_record r = record_at(b, i);

			names->at[slot].cell = text_cell(ev, plan, c, &r);
			memcpy(names->at[slot].word, word, sizeof(word));
		}
		cells[i] = names->at[slot].cell;
		c->has_nulls |= !cells[i];
		if (cut >> i & 1)
			names->at[slot].cell = 0;
	}
	pq_put_cells(ev->table, c, ev->table->rows, cells);
}

static void put_numbers(struct pq_events *ev, const struct column_plan *plan, struct pq_column *c)
{
	uint64_t v[PQ_BATCH];

	load_numbers(ev, plan, v);
	pq_put_numbers(ev->table, c, ev->table->rows, v, ev->batch.n, without(&ev->batch, plan));
}

/* Puts the columns of all records that wait. */
static void put_batch(void *arg)
{
	struct pq_events *ev = arg;
	struct record_batch *b = &ev->batch;
	const uint32_t n = b->n, row = ev->table->rows;

	if (!n)
		return;
	vec_each (plan, &ev->plans) {
		struct pq_column *c = &ev->table->columns[plan->column];

		switch (plan->from) {
		case FROM_TIME: pq_put_numbers(ev->table, c, row, b->ts, n, 0); break;
		case FROM_CPU: pq_put_numbers(ev->table, c, row, b->cpu, n, 0); break;
		case FROM_PID: pq_put_numbers(ev->table, c, row, b->pid, n, 0); break;
		case FROM_NUMBER: put_numbers(ev, plan, c); break;
		case FROM_NAME: put_names(ev, plan, c); break;
		case FROM_KEY: put_by_key(ev, plan, c); break;
		default: break;
		}
	}
	b->n = 0;
	b->cut = 0;
	pq_rows_end(ev->table, n);
}

static inline void copy_record(struct record_batch *b, uint32_t n, const struct spur_record *r)
{
	const uint32_t size = b->copied;
	const uint8_t *restrict from = r->data;
	uint8_t *restrict to = b->data + (size_t)n * size;

	/* What is copied too much is still in the page, and lies where the next one goes. */
	if (__builtin_expect(r->size >= size && r->room >= size + COPY_STEP, 1)) {
		for (uint32_t i = 0; i < size; i += COPY_STEP)
			memcpy(to + i, from + i, COPY_STEP);
		return;
	}
	if (r->size >= size) {
		memcpy(to, from, size);
		return;
	}
	b->cut |= 1ull << n;
	memcpy(to, from, r->size);
	memset(to + r->size, 0, size - r->size);
}

void pq_events_take(struct pq_events *ev, const struct spur_record *r)
{
	struct record_batch *b = &ev->batch;
	const uint32_t n = b->n;

	if (!n) {
		b->most = pq_batch(ev->table);
		if (!b->most)
			return;
	}
	b->ts[n] = r->ts;
	b->cpu[n] = r->cpu;
	b->pid[n] = (uint64_t)(int64_t)events_record_pid(ev->reader->trace->events, r);
	b->size[n] = r->size;
	b->buffer[n] = r->buffer;
	copy_record(b, n, r);
	if (ev->at_once.n)
		put_at_once(ev, r);
	b->n = n + 1;
	if (n + 1 == b->most)
		put_batch(ev);
}

/* ---- columns -------------------------------------------------------------------------- */

static const char *const reserved[] = {"table", "date", "host", "trace_id", NULL};

/* Fields that are called as what a store adds get another name, as those of SQL do. */
static bool add_column(struct pq_events *ev, const struct cell *c, struct column_plan *plan,
		       enum pq_type type)
{
	const bool always = c->kind == CELL_TS || c->kind == CELL_CPU || c->kind == CELL_PID;
	char name[320];
	size_t i = 0;

	while (reserved[i] && strcasecmp(reserved[i], c->name) != 0)
		i++;
	snprintf(name, sizeof(name), "%s%s", reserved[i] ? "args_" : "", c->name);
	plan->column = pq_table_add(ev->table, name, type, !always);
	return plan->column != PQ_NO_ID;
}

static void set_place(struct column_plan *plan, const struct event_field *f)
{
	plan->offset = f->offset;
	plan->size = (uint8_t)f->size;
	plan->negative = f->flags & FIELD_SIGNED;
	/* A hostile format may put it anywhere: no record is long enough then. */
	if (__builtin_add_overflow(f->offset, f->size, &plan->end))
		plan->end = UINT32_MAX;
}

/* Numbers that a signed type holds get one: arithmetic on unsigned ones surprises. */
static enum pq_type number_type(const struct event_field *f)
{
	if (f->size == 8)
		return f->flags & FIELD_SIGNED ? PQ_INT64 : PQ_UINT64;
	return f->size == 4 && !(f->flags & FIELD_SIGNED) ? PQ_INT64 : PQ_INT32;
}

static void plan_key(struct column_plan *plan, enum value_source key)
{
	plan->from = FROM_KEY;
	plan->key = key;
}

static bool plan_name(struct column_plan *plan)
{
	plan->from = FROM_NAME;
	plan->names = calloc(1, sizeof(*plan->names));
	return plan->names;
}

static bool plan_array(struct pq_events *ev, struct column_plan *plan)
{
	plan->from = FROM_BYTES;
	plan->arrays = calloc(1, sizeof(*plan->arrays));
	if (plan->arrays)
		pq_texts_init(&plan->arrays->raw, &ev->table->work->seed);
	return plan->arrays;
}

static bool plan_cell(struct pq_events *ev, const struct cell *c, struct column_plan *plan)
{
	const struct event_field *f = c->field;

	plan->cell = c;
	switch (c->kind) {
	case CELL_TS: plan->from = FROM_TIME; return add_column(ev, c, plan, PQ_TIME);
	case CELL_CPU: plan->from = FROM_CPU; return add_column(ev, c, plan, PQ_INT32);
	case CELL_PID: plan->from = FROM_PID; return add_column(ev, c, plan, PQ_INT32);
	case CELL_NUMBER:
		plan->from = FROM_NUMBER;
		set_place(plan, f);
		return add_column(ev, c, plan, number_type(f));
	case CELL_STRING:
		plan->from = FROM_CELL;
		set_place(plan, f);
		if (!(f->flags & FIELD_DYNAMIC) && f->size == NAME_SIZE && !plan_name(plan))
			return false;
		break;
	case CELL_COMM: plan_key(plan, FROM_PID); break;
	case CELL_SYMBOL:
	case CELL_NAMED:
		set_place(plan, f);
		plan->from = FROM_CELL;
		if (c->kind == CELL_NAMED && !naming_alone(&c->names, f))
			break;
		plan_key(plan, FROM_NUMBER);
		break;
	case CELL_ARRAY:
		if (!plan_array(ev, plan))
			return false;
		break;
	default: plan->from = FROM_CELL;
	}
	return add_column(ev, c, plan, PQ_TEXT);
}

/* In most traces all rows have the same buffer. */
static bool plan_buffer(struct pq_events *ev, const struct cell *c, struct column_plan *plan)
{
	const struct spur_trace *t = ev->reader->trace;

	if (t->nr_buffers > 1)
		return plan_cell(ev, c, plan);
	plan->from = FROM_NONE;
	return pq_table_add_constant(ev->table, c->name, t->buffers[0].data->name) != PQ_NO_ID;
}

/* Fields far from the start of a record are not copied. */
static void place_in_batch(struct pq_events *ev, struct column_plan *plan)
{
	if (plan->from > AT_ONCE || !plan->end)
		return;
	if (plan->end > COPY_MAX)
		plan->from = FROM_CELL;
	else if (plan->end > ev->batch.copied)
		ev->batch.copied = plan->end;
}

static bool plan_all(struct pq_events *ev)
{
	vec_each (c, &ev->cells) {
		struct column_plan *plan = vec_push(&ev->plans);

		if (!plan ||
		    !(c->kind == CELL_BUFFER ? plan_buffer(ev, c, plan) : plan_cell(ev, c, plan)))
			return false;
		if (plan->from == FROM_NONE)
			ev->plans.n--;
		else
			place_in_batch(ev, plan);
	}
	vec_each (plan, &ev->plans) {
		const struct column_plan *const at_once = plan;

		if (plan->from > AT_ONCE && !vec_add(&ev->at_once, &at_once))
			return false;
	}
	ev->batch.data = calloc(1, (size_t)PQ_BATCH * ev->batch.copied + COPY_STEP);
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
	t->complete = put_batch;
	t->complete_arg = ev;
	return ev;
}

void pq_events_free(struct pq_events *ev)
{
	if (!ev)
		return;
	vec_each (plan, &ev->plans) {
		free(plan->names);
		if (plan->arrays) {
			pq_texts_free(&plan->arrays->raw);
			vec_free(&plan->arrays->cells);
		}
		free(plan->arrays);
	}
	vec_free(&ev->plans);
	vec_free(&ev->at_once);
	free(ev->batch.data);
	cells_free(&ev->cells);
	free(ev);
}
