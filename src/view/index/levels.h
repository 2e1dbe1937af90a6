/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The levels of a track: for each level, the bins of 2^level nanoseconds in which many intervals
 * start. Bins with few intervals are computed from these on request, which takes a bounded time. So
 * levels that would save nothing take no memory.
 *
 * Intervals come in the order of time. A finished bin is added to the one above it, with the time
 * of every value. So the value with the most time is exact on every level.
 *
 * Private to src/view.
 */
#ifndef VIEW_INDEX_LEVELS_H
#define VIEW_INDEX_LEVELS_H

#include "view/index/index.h"
#include "view/index/store.h"

#define LEVELS	   63
#define LEVELS_MIN 32		/* intervals that start in a bin that is stored, at least */
#define MOST_TIME  (1ull << 62) /* nothing in an index is later */

/* How much of a bin each value takes. */
struct share {
	uint64_t ns; /* 0: the slot is free */
	uint32_t value;
};

struct shares {
	struct share *at;
	uint32_t cap; /* a power of two, or 0 */
	uint32_t n;
};

void shares_free(struct shares *s);
/* False without memory. */
bool shares_add(struct shares *s, uint32_t value, uint64_t ns);
/* The value that takes most, the smallest of several; 0: there is none. */
uint32_t shares_top(const struct shares *s);

/* ---- the bins of a tile ---- */

/* Intervals come in the order of time; bins without any are left out. */
struct binning {
	struct view_tile *out;
	uint32_t level;
	uint64_t first; /* bin of the tile, from the start of time */
	/* The bin in the making. */
	bool open;
	uint64_t bin;
	uint64_t busy;
	uint32_t n, mask;
	struct shares shares;
	bool failed; /* without memory */
};

/* Adds the bin in the making to the tile. */
void binning_close_bin(struct binning *b);
/* The same of the last one, and frees what is not needed any more. */
void binning_finish(struct binning *b);

static inline void binning_open_bin(struct binning *b, uint64_t bin)
{
	if (b->open && b->bin == bin)
		return;
	binning_close_bin(b);
	b->open = true;
	b->bin = bin;
	b->busy = 0;
	b->n = b->mask = 0;
}

static inline void binning_add_time(struct binning *b, uint32_t value, uint64_t ns)
{
	b->busy += ns;
	if (!shares_add(&b->shares, value, ns))
		b->failed = true;
}

static inline void binning_add_starts(struct binning *b, uint64_t ts, uint32_t n, uint32_t mask)
{
	binning_open_bin(b, ts >> b->level);
	b->n += n;
	b->mask |= mask;
}

/* Adds the time that an interval has in a range. */
static inline void binning_add_interval(struct binning *b, const struct view_interval *i,
					uint64_t since, uint64_t until)
{
	uint64_t ts = i->start > since ? i->start : since;
	const uint64_t end = i->start + i->dur < until ? i->start + i->dur : until;

	while (ts < end) {
		const uint64_t bin = ts >> b->level, border = (bin + 1) << b->level;
		const uint64_t to = end < border ? end : border;

		binning_open_bin(b, bin);
		binning_add_time(b, i->value, to - ts);
		ts = to;
	}
}

/* ---- levels ---- */

struct level {
	struct sequence stored;
	/* The block of stored bins in the making, coded. */
	uint8_t *tail;
	uint16_t tail_len, tail_cap;
	uint16_t items;
	uint64_t first, last; /* bins in it */
	/* The bin in the making. */
	bool open;
	uint64_t bin;
	uint64_t busy;
	uint32_t n;
	uint32_t mask;
	struct shares shares;
};

/* A record of a type. */
struct tick {
	uint64_t ts;
	uint32_t type; /* its number */
	uint32_t task; /* of no meaning here */
};

struct levels {
	struct level *at[LEVELS]; /* NULL: nothing has come to it */
	uint64_t clean[LEVELS];	  /* bins that begin before this time are not whole */
	uint64_t now;		  /* all that comes begins at or after it */
	uint32_t low;		  /* levels below have no bin in the making */
	uint32_t top;		  /* set by levels_finish(): all is in the first bin of this one */
	bool ticks;		  /* of records: nothing takes time, bins have masks */
	bool failed;		  /* memory has run out */
};

struct levels *levels_new(bool ticks);
void levels_free(struct levels *l);

/* Takes intervals in their order, none overlapping. A whole block of them is best. */
void levels_take(struct levels *l, struct store *store, const struct view_interval *at, size_t n);

/* The same of ticks; the masks are by their types' numbers. */
void levels_take_ticks(struct levels *l, struct store *store, const struct tick *at, size_t n,
		       const uint32_t *masks);

/* To be called after the last interval. */
void levels_finish(struct levels *l, struct store *store);

/* ---- what is stored ---- */

struct level_reader {
	const struct level *level;
	struct store *store;
	bool ticks;
	uint32_t block; /* the next one to read */
	uint32_t items; /* left in the one that is read */
	uint64_t at;	/* bin before */
	uint64_t most;	/* no bin has a greater number */
	const uint8_t *pos, *end;
	uint8_t bytes[SEQUENCE_BYTES];
};

/* One bin, by its number from the start of time. */
struct stored_bin {
	uint64_t bin;
	uint64_t busy;
	uint32_t n, top, mask;
};

/* From this bin on; there may be no such level. */
void level_read(struct level_reader *r, const struct levels *l, struct store *store, uint32_t level,
		uint64_t bin);
bool level_next(struct level_reader *r, struct stored_bin *out);

#endif
