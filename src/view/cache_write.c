// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables of a finished index as bytes. cache_read.c reads them in the same order. */
#include <string.h>

#include "view/cache.h"

static void put_u8(struct buf *to, uint8_t v)
{
	buf_putc(to, (char)v);
}

static void put_u32(struct buf *to, uint32_t v)
{
	const uint8_t bytes[] = {(uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
				 (uint8_t)(v >> 24)};

	buf_put(to, bytes, sizeof(bytes));
}

static void put_u64(struct buf *to, uint64_t v)
{
	put_u32(to, (uint32_t)v);
	put_u32(to, (uint32_t)(v >> 32));
}

static void put_text(struct buf *to, const char *text)
{
	buf_put(to, text, strlen(text) + 1);
}

static void put_types(const struct types *t, struct buf *to)
{
	put_u32(to, t->nr);
	put_u32(to, t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		put_u32(to, t->events[i]);
		put_u64(to, t->counts[i]);
	}
}

static void put_places(const struct view_index *x, struct buf *to)
{
	put_u32(to, (uint32_t)x->places.n);
	for (size_t i = 0; i < x->places.n; i++) {
		put_u64(to, x->places.at[i].ts);
		put_u64(to, x->places.at[i].n);
	}
	put_u32(to, (uint32_t)x->ticks.n);
	for (size_t i = 0; i < x->ticks.n; i++) {
		const struct ticks *t = x->ticks.at[i].ticks;

		put_u32(to, (uint32_t)t->places.n);
		for (size_t k = 0; k < t->places.n; k++) {
			put_u64(to, t->places.at[k].page);
			put_u64(to, t->places.at[k].before);
		}
	}
}

static void put_row(const struct row *r, struct buf *to)
{
	const struct view_row *a = &r->about;

	put_u8(to, (uint8_t)a->kind);
	put_u32(to, a->buffer);
	put_u64(to, (uint64_t)a->number);
	put_u64(to, (uint64_t)a->tgid);
	put_u64(to, a->events);
	put_u64(to, a->first);
	put_u64(to, a->last);
	/* The last name comes last, as when they were learned. */
	put_u8(to, (uint8_t)(a->name ? a->nr_older + 1 : 0));
	for (uint32_t i = a->nr_older; a->name && i-- > 0;)
		put_text(to, a->older[i]);
	if (a->name)
		put_text(to, a->name);
}

static void put_seq(const struct seq *s, struct buf *to)
{
	put_u32(to, s->n);
	put_u32(to, s->last);
	for (uint32_t i = 0; i < s->n; i++) {
		put_u64(to, s->blocks[i].start);
		put_u64(to, s->blocks[i].at);
	}
}

static void put_levels(const struct levels *l, struct buf *to)
{
	put_u8(to, (uint8_t)l->top);
	for (uint32_t k = 0; k < LEVELS; k++) {
		if (!l->at[k] || !l->at[k]->stored.n)
			continue;
		put_u8(to, (uint8_t)k);
		put_seq(&l->at[k]->stored, to);
	}
	put_u8(to, LEVELS);
}

/* Whose ticks the track has, + 1; 0: they are stored. */
static uint32_t ticks_number(const struct view_index *x, const struct track *t)
{
	uint32_t i = 0;

	if (!t->ticks)
		return 0;
	while (x->ticks.at[i].ticks != t->ticks)
		i++;
	return i + 1;
}

static void put_track(const struct view_index *x, const struct track *t, struct buf *to)
{
	put_u8(to, (uint8_t)t->about.kind);
	put_u32(to, t->about.depth);
	put_u32(to, ticks_number(x, t));
	put_u64(to, t->n);
	put_u64(to, t->busy);
	put_seq(&t->seq, to);
	put_u8(to, t->levels != NULL);
	if (t->levels)
		put_levels(t->levels, to);
}

bool cache_put_tables(struct view_index *x, struct buf *to)
{
	const struct row_list *l = &x->rows;

	put_u64(to, x->origin);
	put_u64(to, x->duration);
	put_u64(to, x->records);
	put_types(&x->types, to);
	put_places(x, to);
	put_u32(to, (uint32_t)l->names.n);
	for (size_t i = 0; i < l->names.n; i++)
		put_text(to, l->names.at[i]);
	put_u32(to, (uint32_t)l->rows.n);
	for (size_t i = 0; i < l->rows.n; i++)
		put_row(l->rows.at[i], to);
	for (size_t i = 0; i < l->rows.n; i++) {
		const struct row *r = l->rows.at[i];

		put_u32(to, r->about.nr_tracks);
		for (uint32_t k = 0; k < r->about.nr_tracks; k++)
			put_track(x, r->tracks[k], to);
	}
	return !buf_full(to);
}
