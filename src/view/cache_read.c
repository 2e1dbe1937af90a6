// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An index from bytes that anybody may have written. What it says about times and values may be
 * wrong then, but nothing outside of it is touched: numbers of rows, tracks and types are checked
 * here, places in the store when they are read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "view/cache.h"

static bool get_types(struct view_index *x, struct cursor *c)
{
	struct types *t = &x->types;
	uint32_t n;

	if (cursor_u32(c) != t->nr)
		return false;
	n = cursor_u32(c);
	for (uint32_t i = 0; i < n && !cursor_failed(c); i++) {
		const uint32_t event = cursor_u32(c);
		const uint64_t count = cursor_u64(c);

		if (event > t->nr || t->number[event])
			return false;
		t->counts[types_number(t, event)] = count;
	}
	return !cursor_failed(c);
}

static bool get_places(struct view_index *x, struct cursor *c)
{
	for (uint32_t n = cursor_u32(c); n > 0 && !cursor_failed(c); n--) {
		struct place *p = vec_push(&x->places);

		if (!p)
			return false;
		p->ts = cursor_u64(c);
		p->n = cursor_u64(c);
		if (p->ts > MOST_TIME || p->n > x->records)
			return false;
	}
	if (cursor_u32(c) != x->ticks.n)
		return false;
	for (size_t i = 0; i < x->ticks.n; i++) {
		struct ticks *t = x->ticks.at[i].ticks;

		for (uint32_t n = cursor_u32(c); n > 0 && !cursor_failed(c); n--) {
			struct ticks_place *p = vec_push(&t->places);

			if (!p)
				return false;
			p->page = cursor_u64(c);
			p->before = cursor_u64(c);
			if (p->before > MOST_TIME)
				return false;
		}
	}
	return !cursor_failed(c);
}

static bool get_names(struct view_index *x, struct cursor *c)
{
	const uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n; i++) {
		const char *name = cursor_string(c);

		/* Equal ones would get one number. */
		if (!name || name_number(&x->rows, name) != i)
			return false;
	}
	return !cursor_failed(c);
}

/* The number a row of this kind gets; those of CPUs are there already. */
static uint32_t make_row(struct view_index *x, uint8_t kind, uint32_t buffer, int64_t number)
{
	switch (kind) {
	/* Those without records were added after the others. */
	case VIEW_CPU_ROW:
		return number >= 0 && number <= INT32_MAX
			       ? row_of_cpu(&x->rows, buffer, (uint32_t)number)
			       : UINT32_MAX;
	case VIEW_TASK_ROW: return row_of_task(&x->rows, buffer, number);
	case VIEW_COUNTER_ROW: return row_of_counter(&x->rows, buffer);
	default: return UINT32_MAX;
	}
}

static bool get_row(struct view_index *x, uint32_t expected, struct cursor *c)
{
	const uint8_t kind = cursor_u8(c);
	const uint32_t buffer = cursor_u32(c);
	const int64_t number = (int64_t)cursor_u64(c);
	struct view_row *r;

	if (cursor_failed(c) || buffer >= x->trace->nr_buffers ||
	    make_row(x, kind, buffer, number) != expected)
		return false;
	r = &row_get(&x->rows, expected)->about;
	r->tgid = (int64_t)cursor_u64(c);
	r->events = cursor_u64(c);
	r->first = cursor_u64(c);
	r->last = cursor_u64(c);
	for (uint8_t names = cursor_u8(c); names > 0; names--) {
		const char *name = cursor_string(c);

		if (!name)
			return false;
		row_rename(&x->rows, expected, name);
	}
	return !cursor_failed(c);
}

static bool get_seq(struct seq *s, struct cursor *c)
{
	const uint32_t n = cursor_u32(c);

	s->last = cursor_u32(c);
	if (s->last > SEQ_ITEMS || n > cursor_left(c) / 16)
		return false;
	s->blocks = calloc(n + 1, sizeof(*s->blocks));
	if (!s->blocks)
		return false;
	for (s->n = 0; s->n < n; s->n++) {
		s->blocks[s->n].start = cursor_u64(c);
		s->blocks[s->n].at = cursor_u64(c);
	}
	s->cap = n + 1;
	return !cursor_failed(c);
}

static bool get_levels(struct levels *l, struct cursor *c)
{
	uint8_t k;

	l->top = cursor_u8(c);
	while ((k = cursor_u8(c)) < LEVELS && !cursor_failed(c)) {
		if (l->at[k])
			return false;
		l->at[k] = calloc(1, sizeof(*l->at[k]));
		if (!l->at[k] || !get_seq(&l->at[k]->stored, c))
			return false;
	}
	return !cursor_failed(c) && l->top < LEVELS;
}

/* The track of a row, a new one or that of a CPU's records, which is there already. */
static struct track *make_track(struct view_index *x, uint32_t row, uint8_t kind, uint32_t depth,
				uint32_t ticks)
{
	struct track *t;

	if (ticks) {
		if (ticks > x->ticks.n || x->ticks.at[ticks - 1].track->row != row ||
		    kind != VIEW_EVENTS)
			return NULL;
		t = x->ticks.at[ticks - 1].track;
		levels_free(t->levels);
		t->levels = NULL;
		return t;
	}
	if (kind > VIEW_COUNTER)
		return NULL;
	t = track_new(&x->makers[MADE_OF_RECORDS], row, (enum view_track_kind)kind, depth);
	if (t && kind == VIEW_EVENTS)
		t->types = &x->types;
	return t && row_add_track(&x->rows, t) ? t : NULL;
}

static bool get_track(struct view_index *x, uint32_t row, struct cursor *c)
{
	const uint8_t kind = cursor_u8(c);
	const uint32_t depth = cursor_u32(c), ticks = cursor_u32(c);
	struct track *t;

	if (cursor_failed(c))
		return false;
	t = make_track(x, row, kind, depth, ticks);
	if (!t || t->n || t->seq.blocks)
		return false;
	t->n = cursor_u64(c);
	t->busy = cursor_u64(c);
	if (!get_seq(&t->seq, c))
		return false;
	if (!cursor_u8(c))
		return !cursor_failed(c) && !ticks;
	t->levels = levels_new(kind == VIEW_EVENTS);
	return t->levels && get_levels(t->levels, c);
}

bool cache_get_tables(struct view_index *x, struct cursor *c)
{
	uint32_t rows;
	bool good;

	if (cursor_u64(c) != x->origin)
		return false;
	x->duration = cursor_u64(c);
	x->records = cursor_u64(c);
	good = x->duration <= MOST_TIME && get_types(x, c) && get_places(x, c) && get_names(x, c);
	rows = cursor_u32(c);
	for (uint32_t i = 0; good && i < rows; i++)
		good = get_row(x, i, c);
	for (uint32_t i = 0; good && i < rows; i++)
		for (uint32_t n = cursor_u32(c); good && n > 0; n--)
			good = get_track(x, i, c);
	return good && rows == view_index_rows(x) && !cursor_failed(c) && !cursor_left(c);
}

static bool check_seq(struct view_index *x, const struct seq *s)
{
	uint8_t bytes[SEQ_ROOM];

	for (uint32_t i = 0; i < s->n; i++)
		if (!seq_load(s, &x->store, i, bytes))
			return false;
	return true;
}

static bool check_track(struct view_index *x, const struct track *t)
{
	bool good = check_seq(x, &t->seq);

	for (uint32_t k = 0; good && t->levels && k < LEVELS; k++)
		good = !t->levels->at[k] || check_seq(x, &t->levels->at[k]->stored);
	return good;
}

bool cache_check_store(struct view_index *x)
{
	bool good = true;

	for (size_t i = 0; good && i < x->rows.rows.n; i++) {
		const struct row *r = x->rows.rows.at[i];

		for (uint32_t k = 0; good && k < r->about.nr_tracks; k++)
			good = check_track(x, r->tracks[k]);
	}
	return good;
}
