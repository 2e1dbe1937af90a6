// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intervals are added some at a time, at the level on which a bin gets about LEVELS_MIN of them;
 * lower levels are skipped. Bins of lower levels that overlap such a stretch are incomplete
 * (clean[]) and not stored.
 */
#include "view/index/levels.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

/* ---- shares ---- */

void shares_free(struct shares *s)
{
	free(s->at);
	*s = (struct shares){0};
}

static inline uint32_t share_hash(uint32_t value)
{
	return value * 0x9e3779b1u >> 7;
}

static inline struct share *find_share(struct share *at, uint32_t cap, uint32_t value)
{
	uint32_t i = share_hash(value);

	while (at[i & (cap - 1)].ns && at[i & (cap - 1)].value != value)
		i++;
	return &at[i & (cap - 1)];
}

static bool grow(struct shares *s)
{
	const uint32_t cap = s->cap ? s->cap * 2 : 4;
	struct share *more = calloc(cap, sizeof(*more));

	if (!more)
		return false;
	for (uint32_t i = 0; i < s->cap; i++)
		if (s->at[i].ns)
			*find_share(more, cap, s->at[i].value) = s->at[i];
	free(s->at);
	s->at = more;
	s->cap = cap;
	return true;
}

bool shares_add(struct shares *s, uint32_t value, uint64_t ns)
{
	struct share *to;

	if (!ns)
		return true;
	if (__builtin_expect(s->n * 2 >= s->cap, 0) && !grow(s))
		return false;
	to = find_share(s->at, s->cap, value);
	s->n += !to->ns;
	to->value = value;
	to->ns += ns;
	return true;
}

static void shares_clear(struct shares *s)
{
	if (s->n)
		memset(s->at, 0, s->cap * sizeof(*s->at));
	s->n = 0;
}

static inline bool takes_more(const struct share *a, const struct share *than)
{
	return a->ns > than->ns || (a->ns == than->ns && a->value < than->value);
}

uint32_t shares_top(const struct shares *s)
{
	struct share top = {0};

	for (uint32_t i = 0; s->n && i < s->cap; i++)
		if (s->at[i].ns && takes_more(&s->at[i], &top))
			top = s->at[i];
	return top.value;
}

/* ---- the bins of a tile ---- */

void binning_close_bin(struct binning *b)
{
	const struct view_bin bin = {.bin = (uint32_t)(b->bin - b->first),
				     .n = b->n,
				     .busy = b->busy,
				     .top = shares_top(&b->shares),
				     .mask = b->mask};

	b->failed |= b->open && !vec_add(&b->out->bins, &bin);
	shares_clear(&b->shares);
	b->open = false;
}

void binning_finish(struct binning *b)
{
	binning_close_bin(b);
	shares_free(&b->shares);
}

/* ---- making ---- */

struct levels *levels_new(bool ticks)
{
	struct levels *l = calloc(1, sizeof(*l));

	if (l) {
		l->low = LEVELS;
		l->ticks = ticks;
	}
	return l;
}

void levels_free(struct levels *l)
{
	for (uint32_t i = 0; l && i < LEVELS; i++) {
		if (!l->at[i])
			continue;
		sequence_free(&l->at[i]->stored);
		free(l->at[i]->tail);
		shares_free(&l->at[i]->shares);
		free(l->at[i]);
	}
	free(l);
}

static bool make_room(struct level *v)
{
	const size_t cap = v->tail_cap ? (size_t)v->tail_cap * 2 : 64;
	uint8_t *more;

	if (v->tail_cap - v->tail_len >= SEQUENCE_ITEM_MOST)
		return true;
	more = realloc(v->tail, cap < SEQUENCE_MOST ? cap : SEQUENCE_MOST);
	if (!more)
		return false;
	v->tail = more;
	v->tail_cap = (uint16_t)(cap < SEQUENCE_MOST ? cap : SEQUENCE_MOST);
	return true;
}

static bool end_block(struct level *v, struct store *store)
{
	const bool good = !v->items ||
			  sequence_add(&v->stored, store, v->first, v->tail, v->tail_len, v->items);

	v->items = v->tail_len = 0;
	return good;
}

static bool store_bin(struct level *v, struct store *store, bool ticks, uint32_t top)
{
	uint8_t *to;

	if (!make_room(v))
		return false;
	if (!v->items)
		v->first = v->last = v->bin;
	to = varint_put(v->tail + v->tail_len, v->bin - v->last);
	to = varint_put(to, v->n);
	if (ticks) {
		to = varint_put(to, v->mask);
	} else {
		to = varint_put(to, v->busy);
		to = varint_put(to, top);
	}
	v->tail_len = (uint16_t)(to - v->tail);
	v->last = v->bin;
	return ++v->items < SEQUENCE_ITEMS || end_block(v, store);
}

static struct level *get_level(struct levels *l, uint32_t k)
{
	if (__builtin_expect(!l->at[k], 0))
		l->at[k] = calloc(1, sizeof(*l->at[k]));
	l->failed |= !l->at[k];
	return l->at[k];
}

static inline void open_bin(struct levels *l, struct level *v, uint32_t k, uint64_t bin)
{
	v->open = true;
	v->bin = bin;
	v->busy = 0;
	v->n = v->mask = 0;
	if (k < l->low)
		l->low = k;
}

/* Adds a bin to the one above it, and empties it; returns its top. */
static uint32_t pour(struct levels *l, struct level *v, struct level *up)
{
	struct shares *s = &v->shares;
	struct share top = {0};

	for (uint32_t i = 0; s->n && i < s->cap; i++) {
		if (!s->at[i].ns)
			continue;
		if (takes_more(&s->at[i], &top))
			top = s->at[i];
		if (up && !shares_add(&up->shares, s->at[i].value, s->at[i].ns))
			l->failed = true;
	}
	shares_clear(s);
	return top.value;
}

/*
 * Closes the bin of a level below which none is open. The one above it may be an earlier one: it is
 * closed first, and so on; no deeper than there are levels.
 */
static void close_bin(struct levels *l, struct store *store, uint32_t k)
{
	struct level *v = l->at[k], *up = NULL;
	uint32_t top;

	v->open = false;
	if (k + 1 < LEVELS) {
		up = get_level(l, k + 1);
		if (!up)
			return;
		if (up->open && up->bin != v->bin >> 1)
			close_bin(l, store, k + 1);
		if (!up->open)
			open_bin(l, up, k + 1, v->bin >> 1);
		up->n += v->n;
		up->busy += v->busy;
		up->mask |= v->mask;
	}
	top = pour(l, v, up);
	if (v->n >= LEVELS_MIN && v->bin << k >= l->clean[k] && (v->bin + 1) << k <= l->now &&
	    !store_bin(v, store, l->ticks, top))
		l->failed = true;
}

/* Closes the bins, of all levels up to this one, that end before this time. */
static void close_levels(struct levels *l, struct store *store, uint32_t k)
{
	for (uint32_t i = l->low; i <= k; i++)
		if (l->at[i] && l->at[i]->open)
			close_bin(l, store, i);
	if (l->low <= k)
		l->low = k + 1;
}

/* The bin of a level that holds a time; NULL without memory. */
static inline struct level *bin_at(struct levels *l, struct store *store, uint32_t k, uint64_t ts)
{
	struct level *v = get_level(l, k);

	if (__builtin_expect(!v, 0))
		return NULL;
	if (v->open && v->bin == ts >> k)
		return v;
	l->now = ts;
	if (v->open)
		close_levels(l, store, k);
	open_bin(l, v, k, ts >> k);
	return v;
}

static inline void add(struct levels *l, struct level *v, uint32_t value, uint64_t ns)
{
	if (!v)
		return;
	v->busy += ns;
	/* This runs most often of all. Most values are in the bin already. */
	if (__builtin_expect(v->shares.n, 1)) {
		struct share *s = &v->shares.at[share_hash(value) & (v->shares.cap - 1)];

		if (__builtin_expect(s->value == value && s->ns, 1)) {
			s->ns += ns;
			return;
		}
	}
	l->failed |= !shares_add(&v->shares, value, ns);
}

/* Adds the rest of an interval after its first bin: whole bins, as large as possible. */
static void take_rest(struct levels *l, struct store *store, uint32_t k, uint64_t ts, uint64_t end,
		      uint32_t value)
{
	while (end - ts >= 1ull << k) {
		const uint32_t aligned = (uint32_t)__builtin_ctzll(ts);
		const uint32_t fits = 63 - (uint32_t)__builtin_clzll(end - ts);
		const uint32_t whole = aligned < fits ? aligned : fits;

		l->now = ts;
		close_levels(l, store, whole);
		add(l, bin_at(l, store, whole + 1, ts), value, 1ull << whole);
		ts += 1ull << whole;
	}
	if (ts < end)
		add(l, bin_at(l, store, k, ts), value, end - ts);
}

static inline void take(struct levels *l, struct store *store, uint32_t k,
			const struct view_interval *i)
{
	const uint64_t end = i->start + i->dur, border = ((i->start >> k) + 1) << k;
	struct level *v = bin_at(l, store, k, i->start);

	if (!v)
		return;
	v->n++;
	if (__builtin_expect(end <= border, 1)) {
		add(l, v, i->value, i->dur);
	} else {
		add(l, v, i->value, border - i->start);
		take_rest(l, store, k, border, end, i->value);
	}
}

/* Chooses and prepares the level for so many intervals in a stretch of time. */
static uint32_t begin_taking(struct levels *l, struct store *store, uint64_t start, uint64_t end,
			     size_t n)
{
	uint32_t k = 0;

	/* Each bin has LEVELS_MIN intervals, up to twice as many. */
	while (k < LEVELS - 2 && (end - start) >> k > n / LEVELS_MIN)
		k++;
	l->now = start;
	if (k)
		close_levels(l, store, k - 1);
	for (uint32_t i = 0; i < k; i++)
		l->clean[i] = end;
	return k;
}

void levels_take(struct levels *l, struct store *store, const struct view_interval *at, size_t n)
{
	uint32_t k;

	if (!n)
		return;
	k = begin_taking(l, store, at->start, at[n - 1].start + at[n - 1].dur, n);
	for (size_t i = 0; i < n; i++)
		take(l, store, k, &at[i]);
}

void levels_take_ticks(struct levels *l, struct store *store, const struct tick *at, size_t n,
		       const uint32_t *masks)
{
	uint32_t k;

	if (!n)
		return;
	k = begin_taking(l, store, at->ts, at[n - 1].ts + 1, n);
	for (size_t i = 0; i < n;) {
		const uint64_t border = ((at[i].ts >> k) + 1) << k;
		struct level *v = bin_at(l, store, k, at[i].ts);
		const size_t first = i;
		uint32_t mask = 0;

		if (!v)
			return;
		for (; i < n && at[i].ts < border; i++)
			mask |= masks[at[i].type];
		v->n += (uint32_t)(i - first);
		v->mask |= mask;
	}
}

static uint32_t highest_open(const struct levels *l)
{
	uint32_t k = LEVELS - 1;

	while (k && !(l->at[k] && l->at[k]->open))
		k--;
	return k;
}

void levels_finish(struct levels *l, struct store *store)
{
	l->now = UINT64_MAX;
	for (uint32_t k = l->low; k < LEVELS; k++) {
		const bool last = k >= highest_open(l);

		if (!l->at[k] || !l->at[k]->open)
			continue;
		close_bin(l, store, k);
		l->top = k;
		if (last && l->at[k]->bin == 0)
			break;
	}
	for (uint32_t k = 0; k < LEVELS; k++) {
		if (!l->at[k])
			continue;
		l->failed |= !end_block(l->at[k], store);
		shares_free(&l->at[k]->shares);
		free(l->at[k]->tail);
		l->at[k]->tail = NULL;
		l->at[k]->tail_cap = 0;
	}
}

/* ---- what is stored ---- */

static bool load(struct level_reader *r)
{
	const struct level *v = r->level;
	size_t len;

	if (r->block < v->stored.n) {
		len = sequence_load(&v->stored, r->store, r->block, r->bytes);
		r->items = sequence_items(&v->stored, r->block);
		r->at = v->stored.blocks[r->block].start;
		r->pos = r->bytes;
	} else if (r->block == v->stored.n && v->items) {
		len = v->tail_len;
		r->items = v->items;
		r->at = v->first;
		r->pos = v->tail;
	} else {
		return false;
	}
	r->end = r->pos + len;
	r->block++;
	return len > 0 && r->items > 0 && r->at <= r->most;
}

void level_read(struct level_reader *r, const struct levels *l, struct store *store, uint32_t level,
		uint64_t bin)
{
	r->level = l && level < LEVELS ? l->at[level] : NULL;
	r->store = store;
	r->items = 0;
	if (!r->level)
		return;
	r->ticks = l->ticks;
	r->most = MOST_TIME >> level;
	r->block = sequence_find(&r->level->stored, 0, bin + 1);
}

bool level_next(struct level_reader *r, struct stored_bin *out)
{
	uint64_t gap, n, busy = 0, top = 0;

	if (!r->level || (!r->items && !load(r))) {
		r->level = NULL;
		return false;
	}
	r->pos = varint_get(r->pos, r->end, &gap);
	r->pos = varint_get(r->pos, r->end, &n);
	if (!r->ticks)
		r->pos = varint_get(r->pos, r->end, &busy);
	r->pos = varint_get(r->pos, r->end, &top);
	/* Only a damaged file has this. The rest cannot be read. */
	if (!r->pos || gap > r->most - r->at) {
		r->level = NULL;
		return false;
	}
	r->items--;
	r->at += gap;
	*out = (struct stored_bin){.bin = r->at,
				   .busy = busy,
				   .n = (uint32_t)n,
				   .top = r->ticks ? 0 : (uint32_t)top,
				   .mask = r->ticks ? (uint32_t)top : 0};
	return true;
}
