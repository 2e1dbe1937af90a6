// SPDX-License-Identifier: GPL-2.0-or-later
/* The cells of a page's rows, in their order and without those that are missing. */
#include <string.h>

#include "export/parquet_parts.h"

/* ---- cells that are numbers of a dictionary ---- */

/*
 * In the order, one kind of cell at a time. Where all are there, and in order, they are used where
 * they lie. What loops use is in variables of their own: a byte that is written might else be part
 * of anything.
 */
#define GATHER(type)                                                                               \
	static const type *gather_##type(struct pq_work *w, const type *cells,                     \
					 const struct pq_page_rows *p)                             \
	{                                                                                          \
		const uint32_t *restrict order = p->order;                                         \
		const uint32_t from = p->from, nr = p->nr;                                         \
		type *restrict to = w->cells;                                                      \
                                                                                                   \
		if (!order)                                                                        \
			return cells + from;                                                       \
		_Pragma("GCC unroll 8") for (uint32_t i = 0; i < nr; i++) to[i] =                  \
			cells[order[from + i]];                                                    \
		return w->cells;                                                                   \
	}                                                                                          \
                                                                                                   \
	/* In place if need be: what is written has been read. */                                  \
	static uint32_t drop_missing_##type(struct pq_work *w, const type *cells, uint32_t nr)     \
	{                                                                                          \
		uint64_t *present = w->present;                                                    \
		type *to = w->cells;                                                               \
		uint32_t n = 0;                                                                    \
                                                                                                   \
		for (uint32_t i = 0; i < nr; i += 64) {                                            \
			const uint32_t left = nr - i < 64 ? nr - i : 64;                           \
			uint64_t there = 0;                                                        \
			type any = 0;                                                              \
                                                                                                   \
			for (uint32_t k = 0; left == 64 && k < 64; k++)                            \
				any |= cells[i + k];                                               \
			if (left == 64 && !any) {                                                  \
				present[i / 64] = 0;                                               \
				continue;                                                          \
			}                                                                          \
			for (uint32_t k = 0; k < left; k++) {                                      \
				const type cell = cells[i + k];                                    \
                                                                                                   \
				there |= (uint64_t)(cell != 0) << k;                               \
				to[n] = cell;                                                      \
				n += cell != 0;                                                    \
			}                                                                          \
			present[i / 64] = there;                                                   \
		}                                                                                  \
		return n;                                                                          \
	}                                                                                          \
                                                                                                   \
	static void take_##type(struct pq_work *w, const struct pq_column *c,                      \
				struct pq_page_rows *p)                                            \
	{                                                                                          \
		p->cells = gather_##type(w, c->cells, p);                                          \
		if (!c->has_nulls)                                                                 \
			return;                                                                    \
		p->n = drop_missing_##type(w, p->cells, p->nr);                                    \
		p->missing = p->n < p->nr;                                                         \
		p->cells = w->cells;                                                               \
	}

GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)

/* ---- numbers ---- */

static inline bool is_missing(const struct pq_column *c, uint32_t row)
{
	return c->missing[row / 64] >> row % 64 & 1;
}

static void take_numbers(struct pq_work *w, const struct pq_column *c, struct pq_page_rows *p)
{
	const uint64_t *numbers = c->cells;

	if (!p->order && !c->has_nulls) {
		p->cells = numbers + p->from;
		return;
	}
	p->cells = w->values;
	if (!c->has_nulls) {
		const uint32_t *order = p->order + p->from;
		const uint32_t nr = p->nr;
		uint64_t *values = w->values;

		for (uint32_t i = 0; i < nr; i++)
			values[i] = numbers[order[i]];
		return;
	}
	p->n = 0;
	memset(w->present, 0, (p->nr + 63) / 64 * sizeof(*w->present));
	for (uint32_t i = 0; i < p->nr; i++) {
		const uint32_t row = p->order ? p->order[p->from + i] : p->from + i;

		if (is_missing(c, row))
			continue;
		w->present[i / 64] |= 1ull << i % 64;
		w->values[p->n++] = numbers[row];
	}
	p->missing = p->n < p->nr;
}

/* One value in all rows, or none at all, needs no looking. */
static bool take_uniform(struct pq_work *w, const struct pq_column *c, struct pq_page_rows *p)
{
	const uint32_t values = c->type == PQ_TEXT ? c->texts.n : c->dict.n;

	if (c->width != 1 || values > 1 || (values && c->has_nulls))
		return false;
	p->cells = w->cells;
	if (values) {
		memset(w->cells, 1, p->nr);
	} else {
		memset(w->present, 0, (p->nr + 63) / 64 * sizeof(*w->present));
		p->n = 0;
		p->missing = true;
	}
	return true;
}

void pq_gather(struct pq_work *w, const struct pq_column *c, struct pq_page_rows *p)
{
	p->n = p->nr;
	p->missing = false;
	if (take_uniform(w, c, p))
		return;
	switch (c->width) {
	case 1: take_uint8_t(w, c, p); break;
	case 2: take_uint16_t(w, c, p); break;
	case 4: take_uint32_t(w, c, p); break;
	default: take_numbers(w, c, p); break;
	}
}
