// SPDX-License-Identifier: GPL-2.0-or-later
/* Tracks: adding intervals to them, reading them again, and the tiles made of them. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/index/ticks.h"
#include "view/index/tracks.h"

/* ---- adding and reading intervals ---- */

/* What the two lowest bits of an interval's first number say; the rest of it is the value. */
#define HAS_FLAGS 1
#define HAS_GAP	  2

/* Reads the intervals of a track. */
struct track_reader {
	const struct track *track;
	struct store *store;
	struct ticks_reader *ticks;
	uint32_t block; /* the next one to read */
	uint32_t items; /* left in the one that is read */
	bool in_tail;	/* `block` is the incomplete one */
	uint64_t end;	/* of the interval before */
	uint32_t type;	/* number of the type of the tick before */
	const uint8_t *pos, *last;
	uint8_t bytes[SEQUENCE_BYTES];
};

static bool track_next(struct track_reader *r, struct view_interval *out);

/* ---- builders ---- */

void builder_init(struct builder *m)
{
	pthread_mutexattr_t again;

	*m = (struct builder){0};
	/* Recursive, because a callback that gets intervals may read others. */
	pthread_mutexattr_init(&again);
	pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m->lock, &again);
	pthread_mutexattr_destroy(&again);
}

void builder_free(struct builder *m)
{
	for (size_t i = 0; i < m->tracks.n; i++) {
		sequence_free(&m->tracks.at[i]->seq);
		free(m->tracks.at[i]->tail.intervals);
		levels_free(m->tracks.at[i]->levels);
		free(m->tracks.at[i]);
	}
	vec_free(&m->tracks);
	pthread_mutex_destroy(&m->lock);
}

void builder_begin(struct builder *m)
{
	/*
	 * A mutex is not fair: without this the builder would lock it again before a waiting
	 * reader.
	 */
	for (int i = 0; i < 100 && __atomic_load_n(&m->waiting, __ATOMIC_RELAXED); i++)
		sched_yield();
	pthread_mutex_lock(&m->lock);
}

void builder_end(struct builder *m)
{
	pthread_mutex_unlock(&m->lock);
}

bool builder_enter(struct builder *m)
{
	if (__atomic_load_n(&m->done, __ATOMIC_ACQUIRE))
		return false;
	__atomic_add_fetch(&m->waiting, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&m->lock);
	__atomic_sub_fetch(&m->waiting, 1, __ATOMIC_RELAXED);
	return true;
}

void builder_leave(struct builder *m, bool entered)
{
	if (entered)
		pthread_mutex_unlock(&m->lock);
}

/* ---- adding ---- */

struct track *track_new(struct builder *m, uint32_t row, enum view_track_kind kind, uint32_t depth)
{
	struct track *t = calloc(1, sizeof(*t));

	if (!t || !vec_add(&m->tracks, &t)) {
		free(t);
		return NULL;
	}
	t->builder = m;
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

/* Stores the incomplete block. */
static bool store_tail(struct track *t, struct store *store)
{
	uint8_t bytes[SEQUENCE_MOST], *end;
	uint64_t start;

	if (t->types) {
		start = t->tail.ticks->ts;
		end = code_ticks(t->tail.ticks, t->items, bytes);
	} else {
		start = t->tail.intervals->start;
		end = code_intervals(t->tail.intervals, t->items, bytes);
	}
	return sequence_add(&t->seq, store, start, bytes, (size_t)(end - bytes), t->items);
}

static bool take_tail(struct track *t, struct store *store)
{
	if (t->types)
		levels_take_ticks(t->levels, store, t->tail.ticks, t->items, t->types->masks);
	else
		levels_take(t->levels, store, t->tail.intervals, t->items);
	return !t->levels->failed;
}

/* Makes levels, and adds the intervals that were too few for them so far. */
static bool begin_levels(struct track *t, struct store *store)
{
	struct track_reader r = {.track = t, .store = store};
	struct view_interval at[SEQUENCE_ITEMS];
	struct tick ticks[SEQUENCE_ITEMS];
	uint32_t n;

	t->levels = levels_new(t->types != NULL);
	while (t->levels && !t->levels->failed && r.block < t->seq.n) {
		for (n = 0; n < SEQUENCE_ITEMS && track_next(&r, &at[n]); n++)
			if (t->types)
				ticks[n] = (struct tick){.ts = at[n].start, .type = r.type};
		if (t->types)
			levels_take_ticks(t->levels, store, ticks, n, t->types->masks);
		else
			levels_take(t->levels, store, at, n);
	}
	return t->levels && !t->levels->failed;
}

/* Ends a block that is full, or the last one. */
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
	return t->items < SEQUENCE_ITEMS || close_block(t, store);
}

bool track_add_ticks(struct track *t, struct store *store, const struct tick *at, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (t->items == t->cap && !more_room(t))
			return false;
		t->tail.ticks[t->items++] = at[i];
		t->n++;
		if (t->items == SEQUENCE_ITEMS && !close_block(t, store))
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

bool builder_finish(struct builder *m, struct store *store)
{
	bool good = true;

	builder_begin(m);
	for (size_t i = 0; i < m->tracks.n; i++)
		good &= finish(m->tracks.at[i], store);
	m->until = UINT64_MAX;
	__atomic_store_n(&m->done, 1, __ATOMIC_RELEASE);
	builder_end(m);
	return good;
}

/* ---- reading ---- */

/* The caller has entered the builder. 0 or -ENOMEM. */
static int track_open(struct track_reader *r, const struct track *t, struct store *store)
{
	r->track = t;
	r->store = store;
	r->block = r->items = 0;
	r->in_tail = false;
	r->ticks = t->ticks ? ticks_open(t->ticks) : NULL;
	return t->ticks && !r->ticks ? -ENOMEM : 0;
}

static void track_close(struct track_reader *r)
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
	len = sequence_load(&t->seq, r->store, r->block, r->bytes);
	r->pos = r->bytes;
	r->last = r->bytes + len;
	r->items = sequence_items(&t->seq, r->block);
	r->end = t->seq.blocks[r->block].start;
	r->block++;
	return len > 0 && r->items > 0 && r->end <= MOST_TIME;
}

/* The next one will be the one that covers a time, or one not far before it. */
static void track_seek(struct track_reader *r, uint64_t ts)
{
	/* Reading on is cheaper than starting a block again. */
	const bool ahead = r->items && !r->in_tail && r->end < ts;
	uint32_t block;

	if (r->ticks) {
		ticks_seek(r->ticks, ts);
		return;
	}
	block = sequence_find(&r->track->seq, ahead ? r->block - 1 : 0, ts);
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

/* Only a damaged file has this. The rest cannot be read. */
static bool give_up(struct track_reader *r)
{
	r->items = 0;
	r->block = UINT32_MAX;
	return false;
}

static bool track_next(struct track_reader *r, struct view_interval *out)
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

/* ---- tiles ---- */

/*
 * A tile is the intervals when they are few, and bins otherwise. Bins come from the track's levels
 * where they are stored, and are computed from the intervals in between. While a track is being
 * built there are stretches with many intervals and no bins on their level yet: bins of finer
 * levels are used until then.
 */

#define MANY_BLOCKS 160 /* too many to be read if bins of another level can be used */

struct tiler {
	const struct track *track;
	struct store *store;
	struct track_reader reader;
	struct view_tile *out;
	uint32_t level;
	uint64_t first; /* bin of the tile */
	bool whole;	/* nothing is being made */
	uint64_t limit; /* what is later is not to be read */
	int rc;
	struct binning bins;
};

static uint64_t end_of(const struct view_interval *i)
{
	return i->start + i->dur;
}

static bool overlaps(const struct view_interval *i, uint64_t since)
{
	return i->start >= since || end_of(i) > since;
}

/* ---- bins ---- */

/* Adds the part of an interval in a stretch of time. */
static void add_interval(struct tiler *t, const struct view_interval *i, uint64_t since,
			 uint64_t until)
{
	if (i->start >= since)
		binning_add_starts(&t->bins, i->start, 1,
				   t->track->types ? types_mask(t->track->types, i->value) : 0);
	binning_add_interval(&t->bins, i, since, until);
}

static void add_stored(struct tiler *t, const struct stored_bin *b, uint32_t level)
{
	binning_add_starts(&t->bins, b->bin << level, b->n, b->mask);
	if (!t->track->types)
		binning_add_time(&t->bins, b->top, b->busy);
}

static void read_intervals(struct tiler *t, uint64_t since, uint64_t until)
{
	struct view_interval i;

	until = until < t->limit ? until : t->limit;
	if (since >= until)
		return;
	track_seek(&t->reader, since);
	while (!t->bins.failed && track_next(&t->reader, &i) && i.start < until)
		if (overlaps(&i, since))
			add_interval(t, &i, since, until);
}

/* Whether a stretch without stored bins is too long to be read. */
static bool is_long(const struct tiler *t, uint64_t since, uint64_t until)
{
	const struct sequence *s = &t->track->seq;

	if (t->track->ticks)
		return ticks_far(t->track->ticks, since, until);
	return sequence_find(s, 0, until) - sequence_find(s, 0, since) > MANY_BLOCKS;
}

/*
 * Everything of a stretch of time that begins and ends with a bin of the tile, by what is stored on
 * this level. Goes down one level at a time.
 */
static void read_stretch(struct tiler *t, uint32_t level, uint64_t since, uint64_t until)
{
	struct level_reader *stored = malloc(sizeof(*stored));
	struct stored_bin b;

	if (!stored) {
		t->rc = -ENOMEM;
		return;
	}
	level_read(stored, t->track->levels, t->store, level, since >> level);
	while (t->rc == 0 && !t->bins.failed && since < until) {
		bool more;

		while ((more = level_next(stored, &b)) && b.bin << level < since)
			;
		more = more && b.bin << level < until;
		if (since < (more ? b.bin << level : until)) {
			const uint64_t to = more ? b.bin << level : until;

			if (!t->whole && level && is_long(t, since, to))
				read_stretch(t, level - 1, since, to);
			else
				read_intervals(t, since, to);
		}
		if (!more)
			break;
		add_stored(t, &b, level);
		since = (b.bin + 1) << level;
	}
	free(stored);
}

static void make_bins(struct tiler *t)
{
	const struct levels *l = t->track->levels;
	const uint64_t since = t->first << t->level, last = (t->first + VIEW_TILE_BINS);

	t->out->has_bins = true;
	t->out->intervals.n = 0;
	t->bins = (struct binning){.out = t->out, .level = t->level, .first = t->first};
	/* Above the top level everything is in one bin, the same as on that level. */
	if (l && t->whole && t->level > l->top) {
		if (since == 0)
			read_stretch(t, l->top, 0, 1ull << l->top);
	} else {
		read_stretch(t, t->level, since, last << t->level);
	}
	binning_finish(&t->bins);
	if (t->bins.failed)
		t->rc = -ENOMEM;
}

/* ---- intervals ---- */

/* False: there are too many of them. */
static bool list_intervals(struct tiler *t)
{
	const uint64_t since = t->first << t->level;
	uint64_t until = (t->first + VIEW_TILE_BINS) << t->level;
	struct view_interval i;

	until = until < t->limit ? until : t->limit;
	if (since >= until)
		return true;
	track_seek(&t->reader, since);
	while (track_next(&t->reader, &i) && i.start < until) {
		if (!overlaps(&i, since))
			continue;
		if (t->out->intervals.n == VIEW_MOST_INTERVALS)
			return false;
		if (!vec_add(&t->out->intervals, &i)) {
			t->rc = -ENOMEM;
			return true;
		}
	}
	return true;
}

int track_tile(const struct track *track, struct store *store, uint32_t level, uint64_t tile,
	       bool bins, struct view_tile *out)
{
	struct tiler *t;
	int rc;

	out->intervals.n = out->bins.n = 0;
	out->has_bins = false;
	/* Nothing is later than MOST_TIME, and the end of a tile must be a number. */
	if (level > VIEW_MOST_LEVEL || tile > MOST_TIME >> level >> VIEW_TILE_SHIFT) {
		out->complete = true;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->track = track;
	t->store = store;
	t->out = out;
	t->level = level;
	t->first = tile << VIEW_TILE_SHIFT;
	t->whole = __atomic_load_n(&track->builder->done, __ATOMIC_ACQUIRE);
	out->complete = t->whole || (tile + 1) << VIEW_TILE_SHIFT << level <= track->builder->until;
	/* Records that have not been counted yet are many. */
	t->limit = track->ticks && !t->whole ? track->builder->until : UINT64_MAX;
	t->rc = track_open(&t->reader, track, store);
	if (t->rc == 0 && (bins || !list_intervals(t)))
		make_bins(t);
	track_close(&t->reader);
	rc = t->rc;
	free(t);
	return rc;
}

/* ---- single intervals ---- */

/* The last one that begins at or before a time, looked for from `from` on. */
static bool last_before(struct track_reader *r, uint64_t from, uint64_t ts,
			struct view_interval *out, struct view_interval *after, bool *more)
{
	bool found = false;
	struct view_interval i;

	track_seek(r, from);
	while ((*more = track_next(r, &i)) && i.start <= ts) {
		*out = i;
		found = true;
	}
	if (*more)
		*after = i;
	return found;
}

/* A time before which the one before `ts` may be found; false: there is nothing before. */
static bool step_back(const struct track *t, uint64_t *from)
{
	const uint64_t before = t->ticks ? ticks_before(t->ticks, *from) : 0;

	if (!*from)
		return false;
	/* Data from a file may be in any order. */
	*from = before < *from ? before : 0;
	return true;
}

bool track_at(const struct track *t, struct store *store, uint64_t ts, int dir,
	      struct view_interval *out)
{
	struct track_reader *r = malloc(sizeof(*r));
	struct view_interval after;
	bool found = false, more = false;
	uint64_t from = ts;

	if (r && track_open(r, t, store) == 0) {
		do
			found = last_before(r, from, ts, out, &after, &more);
		while (!found && dir < 0 && step_back(t, &from));
		if (dir > 0 && (!found || (end_of(out) <= ts && out->start != ts))) {
			found = more;
			*out = more ? after : *out;
		}
		track_close(r);
	}
	free(r);
	return found;
}

int track_each(const struct track *t, struct store *store, uint64_t since, uint64_t until,
	       bool (*take)(void *arg, const struct view_interval *i), void *arg)
{
	struct track_reader *r = malloc(sizeof(*r));
	struct view_interval i;
	int rc = r ? track_open(r, t, store) : -ENOMEM;

	if (rc == 0) {
		track_seek(r, since);
		while (track_next(r, &i) && i.start < until)
			if (overlaps(&i, since) && !take(arg, &i))
				break;
		track_close(r);
	}
	free(r);
	return rc;
}
