// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cells: the values of a column until the row group is written.
 *
 * A column begins with cells of one byte, numbers of its dictionary, and gets wider ones when the
 * dictionary has grown. A column of numbers with too many values changes to storing the values. A
 * memo finds repeated keys; most often all keys of a batch equal the last one.
 *
 * Loops over a batch process all PQ_BATCH places if that does no harm, because the compiler uses
 * vector instructions for loops of a known length.
 */
#include "export/parquet/table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

#define DICT_NUMBERS 32640	 /* values of a column of numbers with a dictionary, at most */
#define GROUP_TEXT   (16u << 20) /* bytes of a column's texts: a group with more ends */
#define RAW_CELL     UINT32_MAX	 /* the number does not fit into the dictionary */

/* ---- widths --------------------------------------------------------------------------- */

static uint64_t cell_at(const void *cells, uint32_t width, uint32_t row)
{
	switch (width) {
	case 1: return ((const uint8_t *)cells)[row];
	case 2: return ((const uint16_t *)cells)[row];
	case 4: return ((const uint32_t *)cells)[row];
	default: return ((const uint64_t *)cells)[row];
	}
}

static void store(void *cells, uint32_t width, uint32_t row, uint64_t cell)
{
	switch (width) {
	case 1: ((uint8_t *)cells)[row] = (uint8_t)cell; break;
	case 2: ((uint16_t *)cells)[row] = (uint16_t)cell; break;
	case 4: ((uint32_t *)cells)[row] = (uint32_t)cell; break;
	default: ((uint64_t *)cells)[row] = cell; break;
	}
}

/* Includes rows of the current batch, because some of them may have been set. */
static uint32_t rows_so_far(const struct pq_table *t)
{
	return t->cap - t->rows < PQ_BATCH ? t->cap : t->rows + PQ_BATCH;
}

/* NULL: there is no memory, which is noted. */
static void *new_array(struct pq_table *t, size_t n, size_t size)
{
	void *array = calloc(n, size);

	if (!array)
		pq_fail(t->work);
	return array;
}

static bool widen(struct pq_table *t, struct pq_column *c, uint32_t width)
{
	void *cells = new_array(t, t->cap, width);

	if (!cells)
		return false;
	for (uint32_t i = 0; i < rows_so_far(t); i++)
		store(cells, width, i, cell_at(c->cells, c->width, i));
	free(c->cells);
	c->cells = cells;
	c->width = width;
	return true;
}

static bool mark_missing(struct pq_table *t, struct pq_column *c, uint32_t row)
{
	if (!c->missing)
		c->missing = new_array(t, t->cap / 64, sizeof(*c->missing));
	if (!c->missing)
		return false;
	c->missing[row / 64] |= 1ull << row % 64;
	c->has_nulls = true;
	return true;
}

/* From now on the column, of which so many rows are set, keeps its numbers themselves. */
static bool give_up_dict(struct pq_table *t, struct pq_column *c, uint32_t rows)
{
	uint64_t *numbers = new_array(t, t->cap, sizeof(*numbers));

	if (!numbers)
		return false;
	for (uint32_t i = 0; i < rows; i++) {
		const uint64_t cell = cell_at(c->cells, c->width, i);

		if (cell)
			numbers[i] = c->dict.at[cell - 1];
		else if (!mark_missing(t, c, i))
			break;
	}
	free(c->cells);
	c->cells = numbers;
	c->width = sizeof(*numbers);
	c->prefers_direct = true;
	return t->work->rc == 0;
}

/* ---- one row -------------------------------------------------------------------------- */

void pq_set_cell(struct pq_table *t, struct pq_column *c, uint32_t row, uint32_t cell)
{
	if (__builtin_expect((uint64_t)cell >> 8 * c->width, 0) && !widen(t, c, cell >> 16 ? 4 : 2))
		return;
	c->has_nulls |= !cell;
	store(c->cells, c->width, row, cell);
}

void pq_set_null(struct pq_table *t, struct pq_column *c, uint32_t row)
{
	c->has_nulls = true;
	if (c->width == sizeof(uint64_t))
		mark_missing(t, c, row);
	else
		store(c->cells, c->width, row, 0);
}

/* 0: there is no memory. */
static uint32_t number_cell(struct pq_table *t, struct pq_column *c, uint64_t v)
{
	const uint32_t id = pq_number_id(&c->dict, v);

	if (id == PQ_NO_ID)
		pq_fail(t->work);
	return id >= DICT_NUMBERS ? RAW_CELL : id + 1;
}

void pq_set_number(struct pq_table *t, struct pq_column *c, uint32_t row, uint64_t v)
{
	if (c->width != sizeof(v)) {
		const uint32_t cell = number_cell(t, c, v);

		if (cell != RAW_CELL) {
			pq_set_cell(t, c, row, cell);
			return;
		}
		if (!give_up_dict(t, c, row))
			return;
	}
	((uint64_t *)c->cells)[row] = v;
}

uint32_t pq_text_cell(struct pq_table *t, struct pq_column *c, const char *text, size_t len)
{
	const uint32_t id = pq_texts_id(&c->texts, text, len);

	if (id == PQ_NO_ID)
		pq_fail(t->work);
	if (c->texts.bytes.len > GROUP_TEXT)
		t->full = 0;
	return id + 1;
}

/* ---- batches -------------------------------------------------------------------------- */

static inline void narrow_1(uint8_t *restrict to, const uint32_t *restrict cells)
{
	for (uint32_t i = 0; i < PQ_BATCH; i++)
		to[i] = (uint8_t)cells[i];
}

static inline void narrow_2(uint16_t *restrict to, const uint32_t *restrict cells)
{
	for (uint32_t i = 0; i < PQ_BATCH; i++)
		to[i] = (uint16_t)cells[i];
}

void pq_put_cells(struct pq_table *t, struct pq_column *c, uint32_t row, const uint32_t *cells)
{
	uint32_t all = 0;

	for (uint32_t i = 0; i < PQ_BATCH; i++)
		all |= cells[i];
	if (__builtin_expect((uint64_t)all >> 8 * c->width, 0) && !widen(t, c, all >> 16 ? 4 : 2))
		return;
	if (c->width == 1)
		narrow_1((uint8_t *)c->cells + row, cells);
	else if (c->width == 2)
		narrow_2((uint16_t *)c->cells + row, cells);
	else
		memcpy((uint32_t *)c->cells + row, cells, PQ_BATCH * sizeof(*cells));
}

/* Whether all keys equal the last one. */
static bool nothing_new(const struct pq_column *c, const uint64_t *keys, uint32_t n)
{
	if (!c->last_known || keys[0] != c->last_key)
		return false;
	/* If all are equal, the array equals itself shifted by one. */
	return memcmp(keys, keys + 1, (n - 1) * sizeof(*keys)) == 0;
}

static void repeat_last(struct pq_column *c, uint32_t row, uint32_t n)
{
	if (c->width == 1)
		memset((uint8_t *)c->cells + row, (int)c->last, n);
	else
		for (uint32_t i = 0; i < n; i++)
			store(c->cells, c->width, row + i, c->last);
}

static inline uint32_t memo_slot(uint64_t key)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ull) >> 56);
}

/* A place is free if its key belongs to another place: 0, or another key at the place of 0. */
void pq_memo_clear(struct pq_memo *m)
{
	memset(m, 0, sizeof(*m));
	m->at[memo_slot(0)].key = 1;
}

/* A table with few rows has no memo. */
static struct pq_memo *memo_of(struct pq_column *c, uint32_t n)
{
	if (!c->memo && n == PQ_BATCH) {
		c->memo = malloc(sizeof(*c->memo));
		if (c->memo)
			pq_memo_clear(c->memo);
	}
	return c->memo;
}

/* Keys without a cell are not stored. */
static inline void remember(struct pq_memo *m, uint64_t key, uint32_t cell)
{
	const uint32_t slot = memo_slot(key);

	if (!cell)
		return;
	m->at[slot].key = key;
	m->at[slot].cell = cell;
}

static void put_raw(struct pq_table *t, struct pq_column *c, uint32_t row, const uint64_t *v,
		    uint32_t n, uint64_t missing)
{
	memcpy((uint64_t *)c->cells + row, v, n * sizeof(*v));
	for (; missing; missing &= missing - 1)
		mark_missing(t, c, row + (uint32_t)__builtin_ctzll(missing));
}

/* Looks numbers up; false: they do not fit into the dictionary. */
static bool find_numbers(struct pq_table *t, struct pq_column *c, const uint64_t *v, uint32_t n,
			 uint64_t missing, uint32_t *cells)
{
	for (uint32_t i = 0; i < n; i++) {
		if (missing >> i & 1)
			continue;
		cells[i] = number_cell(t, c, v[i]);
		if (cells[i] == RAW_CELL)
			return false;
	}
	return true;
}

/* The same with a memo, when none is missing. */
static bool recall_numbers(struct pq_table *t, struct pq_column *c, struct pq_memo *memo,
			   const uint64_t *v, uint32_t n, uint32_t *cells)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t slot = memo_slot(v[i]);

		cells[i] = memo->at[slot].cell;
		if (__builtin_expect(memo->at[slot].key == v[i], 1))
			continue;
		cells[i] = number_cell(t, c, v[i]);
		if (cells[i] == RAW_CELL)
			return false;
		remember(memo, v[i], cells[i]);
	}
	return true;
}

/* The same in a large dictionary, of which a memo would hold little. */
static bool find_near(struct pq_table *t, struct pq_column *c, const uint64_t *v, uint32_t n,
		      uint64_t missing, uint32_t *cells)
{
	for (uint32_t i = 0; i < n; i++) {
		if (missing >> i & 1)
			continue;
		cells[i] = pq_number_near(&c->dict, v[i]);
		if (!cells[i])
			cells[i] = number_cell(t, c, v[i]);
		if (cells[i] == RAW_CELL)
			return false;
	}
	return true;
}

static bool find(struct pq_table *t, struct pq_column *c, const uint64_t *v, uint32_t n,
		 uint64_t missing, uint32_t *cells)
{
	struct pq_memo *memo;

	if (c->dict.near && c->dict.n)
		return find_near(t, c, v, n, missing, cells);
	memo = missing ? NULL : memo_of(c, n);
	return memo ? recall_numbers(t, c, memo, v, n, cells)
		    : find_numbers(t, c, v, n, missing, cells);
}

void pq_put_numbers(struct pq_table *t, struct pq_column *c, uint32_t row, const uint64_t *v,
		    uint32_t n, uint64_t missing)
{
	uint32_t cells[PQ_BATCH] = {0};

	if (c->width == sizeof(*v)) {
		put_raw(t, c, row, v, n, missing);
		return;
	}
	if (!missing && nothing_new(c, v, n)) {
		repeat_last(c, row, n);
		return;
	}
	c->has_nulls |= missing != 0;
	if (!find(t, c, v, n, missing, cells)) {
		if (give_up_dict(t, c, row))
			put_raw(t, c, row, v, n, missing);
		return;
	}
	pq_put_cells(t, c, row, cells);
	c->last_key = v[n - 1];
	c->last = cells[n - 1];
	c->last_known = c->last != 0;
}

void pq_put_keys(struct pq_table *t, struct pq_column *c, uint32_t row, const uint64_t *keys,
		 uint32_t n, const struct pq_source *from)
{
	struct pq_memo *memo;
	uint32_t cells[PQ_BATCH] = {0};

	if (nothing_new(c, keys, n)) {
		repeat_last(c, row, n);
		return;
	}
	memo = memo_of(c, n);
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t slot = memo_slot(keys[i]);

		if (memo && memo->at[slot].key == keys[i]) {
			cells[i] = memo->at[slot].cell;
			continue;
		}
		if (!keys[i] && from->zero_is_none) {
			c->has_nulls = true;
			continue;
		}
		cells[i] = from->cell(from->arg, c, keys[i], i);
		c->has_nulls |= !cells[i];
		if (memo)
			remember(memo, keys[i], cells[i]);
	}
	pq_put_cells(t, c, row, cells);
	c->last_key = keys[n - 1];
	c->last = cells[n - 1];
	c->last_known = c->last || (!c->last_key && from->zero_is_none);
}
