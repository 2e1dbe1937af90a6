// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/tracks.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/ticks.h"

/* What the two lowest bits of an interval's first number say; the rest of it is the value. */
#define HAS_FLAGS 1
#define HAS_GAP	  2

/* ---- makers ---- */

void maker_init(struct maker *m)
{
	pthread_mutexattr_t again;

	*m = (struct maker){0};
	/* Whoever is shown intervals one after the other may ask about others meanwhile. */
	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m->lock, &again);
	pthread_mutexattr_destroy(&again);
}

void maker_free(struct maker *m)
{
	for (size_t i = 0; i < m->tracks.n; i++) {
		seq_free(&m->tracks.at[i]->seq);
		free(m->tracks.at[i]->tail.intervals);
		levels_free(m->tracks.at[i]->levels);
		free(m->tracks.at[i]);
	}
	vec_free(&m->tracks);
	pthread_mutex_destroy(&m->lock);
}

void maker_begin(struct maker *m)
{
	/* A mutex is nobody's turn: without this, who makes would take it again and again. */
	for (int i = 0; i < 100 && __atomic_load_n(&m->waiting, __ATOMIC_RELAXED); i++)
		sched_yield();
	pthread_mutex_lock(&m->lock);
}

void maker_end(struct maker *m)
{
	pthread_mutex_unlock(&m->lock);
}

bool maker_enter(struct maker *m)
{
	if (__atomic_load_n(&m->done, __ATOMIC_ACQUIRE))
		return false;
	__atomic_add_fetch(&m->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&m->lock);
	__atomic_sub_fetch(&m->waiting, 1, __ATOMIC_RELAXED);
	return true;
}

void maker_leave(struct maker *m, bool entered)
{
	if (entered)
		pthread_mutex_unlock(&m->lock);
}

/* ---- adding ---- */

struct track *track_new(struct maker *m, uint32_t row, enum view_track_kind kind, uint32_t depth)
{
	struct track *t = calloc(1, sizeof(*t)), **slot = t ? vec_push(&m->tracks) : NULL;

	if (!slot) {
		free(t);
		return NULL;
	}
	*slot = t;
	t->maker = m;
	t->row = row;
	t->about = (struct view_track){kind, depth};
	return t;
}

static uint8_t *code_intervals(const struct view_interval *at, uint32_t n, uint8_t *to)
{
	uint64_t end = at->start;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t gap = at[i].start - end;

		to = varint_put(to, (uint64_t)at[i].value << 2 | (gap ? HAS_GAP : 0) |
					    (at[i].flags ? HAS_FLAGS : 0));
		to = varint_put(to, at[i].dur);
		if (gap)
			to = varint_put(to, gap);
		if (at[i].flags)
			to = varint_put(to, at[i].flags);
		end = at[i].start + at[i].dur;
	}
	return to;
}

static uint8_t *code_ticks(const struct tick *at, uint32_t n, uint8_t *to)
{
	uint64_t ts = at->ts;

	for (uint32_t i = 0; i < n; i++) {
		to = varint_put(to, at[i].ts - ts);
		to = varint_put(to, at[i].type);
		ts = at[i].ts;
	}
	return to;
}

/* Stores the block in the making. */
static bool store_tail(struct track *t, struct store *store)
{
	uint8_t bytes[SEQ_MOST], *end;
	uint64_t start;

	if (t->types) {
		start = t->tail.ticks->ts;
		end = code_ticks(t->tail.ticks, t->items, bytes);
	} else {
		start = t->tail.intervals->start;
		end = code_intervals(t->tail.intervals, t->items, bytes);
	}
	return seq_add(&t->seq, store, start, bytes, (size_t)(end - bytes), t->items);
}

static bool take_tail(struct track *t, struct store *store)
{
	if (t->types)
		levels_take_ticks(t->levels, store, t->tail.ticks, t->items, t->types->masks);
	else
		levels_take(t->levels, store, t->tail.intervals, t->items);
	return !t->levels->failed;
}

/* What was too few for levels so far goes into them. */
static bool begin_levels(struct track *t, struct store *store)
{
	struct track_reader r = {.track = t, .store = store};
	struct view_interval at[SEQ_ITEMS];
	struct tick ticks[SEQ_ITEMS];
	uint32_t n;

	t->levels = levels_new(t->types != NULL);
	while (t->levels && !t->levels->failed && r.block < t->seq.n) {
		for (n = 0; n < SEQ_ITEMS && track_next(&r, &at[n]); n++)
			if (t->types)
				ticks[n] = (struct tick){.ts = at[n].start, .type = r.type};
		if (t->types)
			levels_take_ticks(t->levels, store, ticks, n, t->types->masks);
		else
			levels_take(t->levels, store, at, n);
	}
	return t->levels && !t->levels->failed;
}

/* The block in the making is full, or the last one. */
static bool close_block(struct track *t, struct store *store)
{
	bool good = true;

	if (!t->levels && t->n > TRACK_PLAIN)
		good = begin_levels(t, store);
	if (good && t->levels)
		good = take_tail(t, store);
	good = good && store_tail(t, store);
	t->items = 0;
	return good;
}

static bool more_room(struct track *t)
{
	const uint32_t cap = t->cap ? t->cap * 2 : 8;
	const size_t size = t->types ? sizeof(*t->tail.ticks) : sizeof(*t->tail.intervals);
	void *more = reallocarray(t->tail.intervals, cap, size);

	if (!more)
		return false;
	t->tail.intervals = more;
	t->cap = cap;
	return true;
}

static void cut(const struct track *t, struct view_interval *i)
{
	uint64_t end;

	if (__builtin_add_overflow(i->start, i->dur, &end) || end > MOST_TIME)
		end = MOST_TIME;
	i->start = i->start > MOST_TIME ? MOST_TIME : i->start;
	i->start = i->start < t->end ? t->end : i->start;
	i->dur = end > i->start ? end - i->start : 0;
}

bool track_add(struct track *t, struct store *store, struct view_interval i)
{
	if (t->items == t->cap && !more_room(t))
		return false;
	cut(t, &i);
	t->tail.intervals[t->items++] = i;
	t->end = i.start + i.dur;
	__atomic_store_n(&t->busy, t->busy + i.dur, __ATOMIC_RELAXED);
	t->n++;
	return t->items < SEQ_ITEMS || close_block(t, store);
}

bool track_add_ticks(struct track *t, struct store *store, const struct tick *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (t->items == t->cap && !more_room(t))
			return false;
		t->tail.ticks[t->items++] = at[i];
		t->n++;
		if (t->items == SEQ_ITEMS && !close_block(t, store))
			return false;
	}
	return true;
}

static bool finish(struct track *t, struct store *store)
{
	bool good = !t->items || close_block(t, store);

	if (t->levels) {
		levels_finish(t->levels, store);
		good &= !t->levels->failed;
	}
	free(t->tail.intervals);
	t->tail.intervals = NULL;
	t->cap = 0;
	return good;
}

bool maker_finish(struct maker *m, struct store *store)
{
	bool good = true;

	maker_begin(m);
	for (size_t i = 0; i < m->tracks.n; i++)
		good &= finish(m->tracks.at[i], store);
	m->until = UINT64_MAX;
	__atomic_store_n(&m->done, 1, __ATOMIC_RELEASE);
	maker_end(m);
	return good;
}

/* ---- reading ---- */

int track_open(struct track_reader *r, const struct track *t, struct store *store)
{
	r->track = t;
	r->store = store;
	r->block = r->items = 0;
	r->in_tail = false;
	r->ticks = t->ticks ? ticks_open(t->ticks) : NULL;
	return t->ticks && !r->ticks ? -ENOMEM : 0;
}

void track_close(struct track_reader *r)
{
	if (r->ticks)
		ticks_close(r->track->ticks, r->ticks);
}

static bool load(struct track_reader *r)
{
	const struct track *t = r->track;
	size_t len;

	r->in_tail = r->block == t->seq.n;
	if (r->in_tail) {
		r->items = t->items;
		r->block++;
		return r->items > 0;
	}
	if (r->block > t->seq.n)
		return false;
	len = seq_load(&t->seq, r->store, r->block, r->bytes);
	r->pos = r->bytes;
	r->last = r->bytes + len;
	r->items = seq_items(&t->seq, r->block);
	r->end = t->seq.blocks[r->block].start;
	r->block++;
	return len > 0 && r->items > 0 && r->end <= MOST_TIME;
}

void track_seek(struct track_reader *r, uint64_t ts)
{
	/* Going on is cheaper than beginning a block again. */
	const bool ahead = r->items && !r->in_tail && r->end < ts;
	uint32_t block;

	if (r->ticks) {
		ticks_seek(r->ticks, ts);
		return;
	}
	block = seq_find(&r->track->seq, ahead ? r->block - 1 : 0, ts);
	if (ahead && block + 1 == r->block)
		return;
	r->block = block;
	r->items = 0;
}

static bool next_in_tail(struct track_reader *r, struct view_interval *out)
{
	const struct track *t = r->track;
	const uint32_t at = t->items - r->items--;

	if (t->types)
		*out = (struct view_interval){
			.start = t->tail.ticks[at].ts,
			.value = types_event(t->types, t->tail.ticks[at].type)};
	else
		*out = t->tail.intervals[at];
	return true;
}

/* Only a damaged file says something else. Nothing behind it can be told. */
static bool give_up(struct track_reader *r)
{
	r->items = 0;
	r->block = UINT32_MAX;
	return false;
}

bool track_next(struct track_reader *r, struct view_interval *out)
{
	uint64_t gap = 0, dur = 0, value, flags = 0;

	if (r->ticks)
		return ticks_next(r->ticks, out);
	if (!r->items && !load(r))
		return give_up(r);
	if (__builtin_expect(r->in_tail, 0))
		return next_in_tail(r, out);
	if (r->track->types) {
		r->pos = varint_get(r->pos, r->last, &gap);
		r->pos = varint_get(r->pos, r->last, &value);
		r->type = (uint32_t)value;
		value = types_event(r->track->types, value);
	} else {
		r->pos = varint_get(r->pos, r->last, &value);
		r->pos = varint_get(r->pos, r->last, &dur);
		if (value & HAS_GAP)
			r->pos = varint_get(r->pos, r->last, &gap);
		if (value & HAS_FLAGS)
			r->pos = varint_get(r->pos, r->last, &flags);
		value >>= 2;
	}
	if (!r->pos || gap > MOST_TIME - r->end || dur > MOST_TIME - r->end - gap)
		return give_up(r);
	r->items--;
	*out = (struct view_interval){.start = r->end + gap,
				      .dur = dur,
				      .value = (uint32_t)value,
				      .flags = (uint32_t)flags};
	r->end = out->start + dur;
	return true;
}
