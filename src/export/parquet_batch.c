// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records of an event type, which become rows of its table.
 *
 * Records are copied into a batch, as much of them as columns at fixed places need, and the batch
 * is then taken column by column. Texts that are a function of one number (the task's name, the
 * function at an address, names of flags) are looked up by that number, arrays by their bytes: they
 * are only made when there is something new. Whatever needs more of a record is taken at once.
 */
#include <string.h>

#include "event/names.h"
#include "export/parquet_readings.h"

#define ARRAY_MAX  256	      /* bytes of an array that is worth remembering */
#define ARRAYS_MAX (1u << 20) /* bytes of those that are remembered at a time */

/* ---- what is taken at once ---- */

static uint32_t text_cell(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
			  const struct spur_record *r)
{
	struct value v;

	reader_get(ev->reader, rd->cell, ev->event, r, &v);
	return v.type == VALUE_TEXT ? pq_text_cell(ev->table, c, v.text, v.len) : 0;
}

static void take_cell(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
		      uint32_t row, const struct spur_record *r)
{
	struct value v;

	if (c->type == PQ_TEXT) {
		pq_set_cell(ev->table, c, row, text_cell(ev, rd, c, r));
		return;
	}
	reader_get(ev->reader, rd->cell, ev->event, r, &v);
	if (v.type == VALUE_NUMBER)
		pq_set_number(ev->table, c, row, (uint64_t)v.number);
	else
		pq_set_null(ev->table, c, row);
}

static void take_by_bytes(struct pq_events *ev, const struct reading *rd, struct pq_column *c,
			  uint32_t row, const struct spur_record *r)
{
	struct arrays *a = rd->arrays;
	uint32_t raw, *slot;
	size_t size;
	const uint8_t *bytes = field_bytes(ev->reader->trace->events, rd->cell->field, r, &size);

	if (!bytes || size > ARRAY_MAX) {
		take_cell(ev, rd, c, row, r);
		return;
	}
	if (a->epoch != c->epoch || a->raw.bytes.len > ARRAYS_MAX) {
		pq_texts_reset(&a->raw);
		a->cells.n = 0;
		a->epoch = c->epoch;
	}
	raw = pq_texts_raw(&a->raw, bytes, size);
	if (raw == PQ_NO_ID || raw >= a->cells.n) {
		const uint32_t cell = text_cell(ev, rd, c, r);

		pq_set_cell(ev->table, c, row, cell);
		slot = raw != PQ_NO_ID ? vec_push(&a->cells) : NULL;
		if (slot)
			*slot = cell;
		else
			a->epoch = c->epoch - 1;
		return;
	}
	pq_set_cell(ev->table, c, row, a->cells.at[raw]);
}

static void take_at_once(struct pq_events *ev, const struct spur_record *r)
{
	const uint32_t row = ev->table->rows + ev->batch.n;

	vec_each (it, &ev->at_once) {
		const struct reading *rd = *it;
		struct pq_column *c = &ev->table->columns[rd->column];

		if (rd->from == FROM_BYTES)
			take_by_bytes(ev, rd, c, row, r);
		else
			take_cell(ev, rd, c, row, r);
	}
}

/* ---- batches, a column at a time ---- */

/* The i-th record, as much of it as there is. */
static struct spur_record record_at(const struct batch *b, uint32_t i)
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
static uint64_t without(const struct batch *b, const struct reading *rd)
{
	uint64_t bits = 0;

	for (uint64_t cut = b->cut; cut; cut &= cut - 1) {
		const uint32_t i = (uint32_t)__builtin_ctzll(cut);

		bits |= (uint64_t)(b->size[i] < rd->end) << i;
	}
	return bits;
}

/* The numbers of a field, of a size that the compiler knows. */
static inline void load(const struct batch *b, const struct reading *rd, uint32_t size,
			bool big_endian, uint64_t *v)
{
	const uint8_t *at = b->data + rd->offset;
	const uint32_t above = 64 - 8 * size, n = b->n, step = b->copied;

	for (uint32_t i = 0; i < n; i++, at += step)
		v[i] = load_uint(at, size, big_endian);
	for (uint32_t i = 0; rd->negative && i < n; i++)
		v[i] = (uint64_t)((int64_t)(v[i] << above) >> above);
}

static void load_numbers(const struct pq_events *ev, const struct reading *rd, uint64_t *v)
{
	const struct batch *b = &ev->batch;

	if (ev->big_endian) {
		load(b, rd, rd->size, true, v);
		return;
	}
	switch (rd->size) {
	case 1: load(b, rd, 1, false, v); break;
	case 2: load(b, rd, 2, false, v); break;
	case 4: load(b, rd, 4, false, v); break;
	default: load(b, rd, 8, false, v); break;
	}
}

struct keyed {
	struct pq_events *ev;
	const struct reading *rd;
};

static uint32_t keyed_cell(void *arg, struct pq_column *c, uint64_t key, uint32_t i)
{
	const struct keyed *k = arg;
	const struct spur_record r = record_at(&k->ev->batch, i);
	const char *name;
	size_t len;

	if (k->rd->key != FROM_PID)
		return text_cell(k->ev, k->rd, c, &r);
	/* What of the record has been copied need not have the pid in it. */
	name = comms_find(k->ev->reader->trace->events->comms, (int)key, &len);
	return pq_text_cell(k->ev->table, c, name, len);
}

/* Of a record that is too short for the field it may be something else than the key says. */
static void take_by_key(struct pq_events *ev, const struct reading *rd, struct pq_column *c)
{
	const struct keyed k = {ev, rd};
	const struct pq_source from = {.cell = keyed_cell, .arg = (void *)&k};
	const struct batch *b = &ev->batch;
	uint64_t keys[PQ_BATCH], cut = 0;

	if (rd->key == FROM_NUMBER) {
		load_numbers(ev, rd, keys);
		cut = without(b, rd);
	}
	for (uint32_t i = 0; cut && i < b->n; i++) {
		const struct spur_record r = record_at(b, i);

		pq_set_cell(ev->table, c, ev->table->rows + i, text_cell(ev, rd, c, &r));
	}
	if (!cut)
		pq_put_keys(ev->table, c, ev->table->rows, rd->key == FROM_PID ? b->pid : keys,
			    b->n, &from);
}

static inline uint32_t name_slot(const uint64_t *word)
{
	const uint64_t mixed = (word[0] ^ word[1] * 0xd6e8feb86659fd93ull) * 0x9e3779b97f4a7c15ull;

	return (uint32_t)(mixed >> 58) & (NAMES - 1);
}

static void take_names(struct pq_events *ev, const struct reading *rd, struct pq_column *c)
{
	const struct batch *b = &ev->batch;
	const uint8_t *at = b->data + rd->offset;
	const uint64_t cut = without(b, rd);
	struct names *names = rd->names;
	uint32_t cells[PQ_BATCH] = {0};

	if (names->epoch != c->epoch)
		*names = (struct names){.epoch = c->epoch};
	for (uint32_t i = 0; i < b->n; i++, at += b->copied) {
		uint64_t word[NAME_SIZE / 8];
		uint32_t slot;

		memcpy(word, at, sizeof(word));
		slot = name_slot(word);
		if (names->at[slot].word[0] != word[0] || names->at[slot].word[1] != word[1] ||
		    !names->at[slot].cell || cut >> i & 1) {
			const struct spur_record r = record_at(b, i);

			names->at[slot].cell = text_cell(ev, rd, c, &r);
			memcpy(names->at[slot].word, word, sizeof(word));
		}
		cells[i] = names->at[slot].cell;
		c->has_nulls |= !cells[i];
		if (cut >> i & 1)
			names->at[slot].cell = 0;
	}
	pq_put_cells(ev->table, c, ev->table->rows, cells);
}

static void take_numbers(struct pq_events *ev, const struct reading *rd, struct pq_column *c)
{
	uint64_t v[PQ_BATCH];

	load_numbers(ev, rd, v);
	pq_put_numbers(ev->table, c, ev->table->rows, v, ev->batch.n, without(&ev->batch, rd));
}

void pq_events_complete(void *arg)
{
	struct pq_events *ev = arg;
	struct batch *b = &ev->batch;
	const uint32_t n = b->n, row = ev->table->rows;

	if (!n)
		return;
	vec_each (rd, &ev->readings) {
		struct pq_column *c = &ev->table->columns[rd->column];

		switch (rd->from) {
		case FROM_TIME: pq_put_numbers(ev->table, c, row, b->ts, n, 0); break;
		case FROM_CPU: pq_put_numbers(ev->table, c, row, b->cpu, n, 0); break;
		case FROM_PID: pq_put_numbers(ev->table, c, row, b->pid, n, 0); break;
		case FROM_NUMBER: take_numbers(ev, rd, c); break;
		case FROM_NAME: take_names(ev, rd, c); break;
		case FROM_KEY: take_by_key(ev, rd, c); break;
		default: break;
		}
	}
	b->n = 0;
	b->cut = 0;
	pq_rows_end(ev->table, n);
}

static inline void copy_record(struct batch *b, uint32_t n, const struct spur_record *r)
{
	const uint32_t size = b->copied;
	const uint8_t *restrict from = r->data;
	uint8_t *restrict to = b->data + (size_t)n * size;

	/* What is copied too much is still in the page, and lies where the next one goes. */
	if (__builtin_expect(r->size >= size && r->room >= size + PQ_COPY_STEP, 1)) {
		for (uint32_t i = 0; i < size; i += PQ_COPY_STEP)
			memcpy(to + i, from + i, PQ_COPY_STEP);
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
	struct batch *b = &ev->batch;
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
		take_at_once(ev, r);
	b->n = n + 1;
	if (n + 1 == b->most)
		pq_events_complete(ev);
}
