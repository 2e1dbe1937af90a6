// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page with its data:
 *
 *	{"trace": …, "rows": …, "names": …, "since": T, "until": T, "processes": false,
 *	 "events": ["packed answer to events?at=…", …],
 *	 "details": ["packed answer to events?at=…&details=1", …],
 *	 "whys": ["packed [[row, start, words], …]", …],
 *	 "tiles": [[level, tile, "packed tiles"], …]}
 *
 * The first three are the answers of the server as they are; packed is base64 of zlib. Only
 * the longest waits have a reason; null stands where the trace does not tell. Tiles begin
 * with one that has everything in it, followed by its halves, and so on: coarse ones first, until
 * the page is full. A tile of which a track's intervals are known exactly says all about that
 * track; its halves do not repeat them.
 */
#include "view/api/api.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "view/answers/interval.h"

#define COARSER	     3	  /* levels before the one whose tile has all of the trace in it */
#define EVENTS_PAGE  1000 /* records that are asked for at once */
#define EVENTS_SHARE 4	  /* they may have this part of the room, their details another */
#define WAITS_MOST   100  /* of a kind: more would take long to explain */
#define WAITS_PAGE   25	  /* that are packed together */
#define WAITS_SHARE  8
#define WORDS_LINES  40		  /* of a wait */
#define TILES_LIMIT  (128u << 20) /* bytes of a tile before it is packed */
#define END_SIZE     16		  /* what closes the data */

/* A tile that is wanted, with those tracks of which its parent did not say all. */
struct wanted {
	uint32_t level;
	uint64_t tile;
	vec_of(uint64_t) tracks; /* row << 16 | track, in order */
};

struct saver {
	struct view *view;
	const struct saved_options *o;
	struct buf *out;
	struct spur_error *err;
	vec_of(struct wanted) queue;
	bool full;
};

/* ---- answers ---- */

static int check_stop(const struct saver *s)
{
	return *s->o->stop ? error_set(s->err, -EINTR, "interrupted") : 0;
}

static int ask(struct saver *s, const char *path, const char *query, struct api_answer *a)
{
	const struct api_request q = {.path = path, .query = query, .stop = s->o->stop};

	*a = (struct api_answer){0};
	api_answer(s->view, &q, a);
	if (check_stop(s) < 0)
		return -EINTR;
	if (buf_full(&a->body))
		return error_set(s->err, -ENOMEM, "out of memory");
	if (a->status >= 400)
		return error_set(s->err, -EIO, "%s: %.200s", path, buf_str(&a->body));
	return 0;
}

static size_t room(const struct saver *s)
{
	const size_t used = s->out->len + saved_behind_size + END_SIZE;

	return used < s->o->most ? s->o->most - used : 0;
}

/* JSON in a page: what ends a script cannot be in it. */
static void put_json(struct buf *out, const struct buf *json)
{
	for (size_t i = 0; i < json->len; i++) {
		if (json->data[i] == '<')
			buf_puts(out, "\\u003c");
		else
			buf_putc(out, json->data[i]);
	}
}

static int put_answer(struct saver *s, const char *name, const char *path)
{
	struct api_answer a;
	int rc = ask(s, path, "", &a);

	if (rc == 0) {
		buf_printf(s->out, "%s\"%s\":", s->out->len == saved_before_size + 1 ? "" : ",\n",
			   name);
		put_json(s->out, &a.body);
	}
	buf_free(&a.body);
	return rc;
}

static void put_base64(struct buf *b, const unsigned char *p, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < n; i += 3) {
		const uint32_t v = (uint32_t)p[i] << 16 |
				   (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) |
				   (i + 2 < n ? p[i + 2] : 0);

		buf_putc(b, digits[v >> 18]);
		buf_putc(b, digits[v >> 12 & 63]);
		buf_putc(b, i + 1 < n ? digits[v >> 6 & 63] : '=');
		buf_putc(b, i + 2 < n ? digits[v & 63] : '=');
	}
}

/* Appends `before`, the packed bytes and `after`, or notes that these are more than `most`. */
static int put_packed(struct saver *s, const char *before, const struct buf *bytes,
		      const char *after, size_t most, bool *full)
{
	uLongf size = compressBound(bytes->len);
	unsigned char *packed = malloc(size);
	int rc = 0;

	if (!packed || compress2(packed, &size, (const Bytef *)bytes->data, bytes->len,
				 Z_BEST_COMPRESSION) != Z_OK) {
		rc = error_set(s->err, -ENOMEM, "out of memory");
	} else if (size / 3 * 4 + 64 > most) {
		*full = true;
	} else {
		buf_puts(s->out, s->out->data[s->out->len - 1] == '[' ? "" : ",\n");
		buf_puts(s->out, before);
		put_base64(s->out, packed, size);
		buf_puts(s->out, after);
	}
	free(packed);
	return rc;
}

/* ---- events ---- */

/* Appends records from that one on, or what else is known of them; *last: no more fit. */
static int put_some_events(struct saver *s, uint64_t at, bool details, size_t most, bool *last)
{
	struct api_answer a;
	char query[64];
	int rc;

	snprintf(query, sizeof(query), "at=%llu&n=%d&details=%d", (unsigned long long)at,
		 EVENTS_PAGE, details);
	rc = ask(s, "events", query, &a);
	*last = rc < 0;
	if (rc == 0)
		rc = put_packed(s, "\"", &a.body, "\"", most, last);
	buf_free(&a.body);
	return rc;
}

/* Records from `at` up to `end`, as many as fit into their share of the room; where that ended. */
static int put_pages(struct saver *s, const char *name, bool details, size_t share, uint64_t at,
		     uint64_t *end)
{
	const size_t most = s->out->len + share;
	bool last = false;
	int rc = 0;

	buf_printf(s->out, ",\n\"%s\":[", name);
	while (rc == 0 && !last && at < *end && s->out->len < most) {
		rc = put_some_events(s, at, details, most - s->out->len, &last);
		at += last ? 0 : EVENTS_PAGE;
	}
	buf_putc(s->out, ']');
	*end = at;
	return rc;
}

static int put_events(struct saver *s)
{
	const size_t share = room(s) / EVENTS_SHARE;
	uint64_t at, end = view_record_count(s->view);
	int rc = view_record_ordinal(s->view, view_absolute(s->view, s->o->since), &at, s->err);

	if (rc == 0)
		rc = put_pages(s, "events", false, share, at, &end);
	/* Of those that are in it. */
	if (rc == 0)
		rc = put_pages(s, "details", true, share, at, &end);
	return rc;
}

/* ---- why tasks waited ---- */

/* Kinds of waits, of which the longest are wanted: for a CPU, blocked, asleep. */
#define NR_KINDS 3

struct wait {
	uint32_t row;
	uint64_t start, dur;
};

struct waits {
	struct {
		struct wait *at;
		size_t n, cap;
	} kinds[NR_KINDS];
	uint32_t row; /* the one that is read, and its time against that of the page */
	uint64_t shift;
	int rc;
};

static int longest_first(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->dur != y->dur)
		return x->dur > y->dur ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* Leaves the longest of a kind. */
static void shorten(struct waits *w, size_t kind)
{
	if (w->kinds[kind].n)
		qsort(w->kinds[kind].at, w->kinds[kind].n, sizeof(struct wait), longest_first);
	if (w->kinds[kind].n > WAITS_MOST)
		w->kinds[kind].n = WAITS_MOST;
}

static bool take_wait(void *waits, const struct view_interval *i)
{
	static const int8_t kind_of[] = {
		[VIEW_RUNNABLE] = 0, [VIEW_PREEMPTED] = 0, [VIEW_BLOCKED] = 1,	[VIEW_SLEEPING] = 2,
		[VIEW_STOPPED] = 2,  [VIEW_DEAD] = -1,	   [VIEW_UNKNOWN] = -1,
	};
	const enum view_state state = view_state_of(i->value);
	const int kind = state < ARRAY_SIZE(kind_of) ? kind_of[state] : -1;
	struct waits *w = waits;

	/* If a wait has not ended in the trace, its reason is unknown. */
	if (kind < 0 || i->flags & (VIEW_OPEN_START | VIEW_OPEN_END))
		return true;
	if (!vec_add(&w->kinds[kind], &(struct wait){w->row, i->start + w->shift, i->dur})) {
		w->rc = -ENOMEM;
		return false;
	}
	if (w->kinds[kind].n >= 2 * WAITS_MOST)
		shorten(w, (size_t)kind);
	return true;
}

/* All waits of tasks in the range. */
static int find_waits(struct saver *s, struct waits *w)
{
	const uint32_t rows = view_rows(s->view);

	for (w->row = 0; w->row < rows && w->rc == 0; w->row++) {
		struct view_place place;
		struct view_row r;

		if (check_stop(s) < 0)
			return -EINTR;
		if (!view_row(s->view, w->row, &place, &r) || r.kind != VIEW_TASK_ROW ||
		    s->o->until <= place.shift)
			continue;
		w->shift = place.shift;
		for (uint32_t k = 0; k < r.nr_tracks; k++)
			if (r.tracks[k].kind == VIEW_STATE)
				view_index_each(
					place.file->index, place.row, k,
					s->o->since > place.shift ? s->o->since - place.shift : 0,
					s->o->until - place.shift, take_wait, w);
	}
	for (size_t i = 0; i < NR_KINDS; i++)
		shorten(w, i);
	return w->rc;
}

/*
 * To explain a wait, what was recorded meanwhile is read. Of each kind the longest is explained,
 * and as many others as last as long as the range together: that much is read a few times only.
 */
static void spare_time(struct waits *w, size_t kind, uint64_t range)
{
	size_t n = 0;

	for (size_t i = 0; i < w->kinds[kind].n; i++) {
		const struct wait one = w->kinds[kind].at[i];

		if (n && one.dur > range)
			continue;
		range -= one.dur < range ? one.dur : range;
		w->kinds[kind].at[n++] = one;
	}
	w->kinds[kind].n = n;
}

/* Only the first lines: a page is for an overview, and many tasks may have had a CPU meanwhile. */
static void put_words(const struct why *why, struct buf *to)
{
	scoped_buf words = buf_new(WHY_WORDS);
	scoped_buf text = buf_new(WHY_WORDS);
	size_t len = 0;

	why_text(why, 0, &words);
	buf_utf8(&text, words.data, words.len);
	for (int line = 0; line < WORDS_LINES && len < text.len; line++)
		len += strcspn(buf_str(&text) + len, "\n") + 1;
	if (len < text.len) {
		text.len = len;
		buf_puts(&text, "  …");
	}
	buf_json_string(to, text.data, text.len);
}

static int put_why(struct saver *s, const struct wait *w, struct buf *to)
{
	struct interval_row task;
	struct why why = {0};
	uint64_t ts = w->start;

	buf_printf(to, "%s[%u,%llu,", to->len > 1 ? "," : "", w->row, (unsigned long long)w->start);
	if (interval_task(s->view, w->row, &ts, &task, NULL) == 0 &&
	    view_why(&task, ts, s->o->stop, &why, NULL) == 0)
		put_words(&why, to);
	else
		buf_puts(to, "null");
	buf_putc(to, ']');
	why_free(&why);
	return check_stop(s);
}

/* Why some of them were; *full: that does not fit. */
static int put_some_whys(struct saver *s, const struct wait *at, size_t n, size_t most, bool *full)
{
	scoped_buf some = buf_new(1u << 30);
	int rc = 0;

	buf_putc(&some, '[');
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = put_why(s, &at[i], &some);
	buf_putc(&some, ']');
	if (rc == 0)
		rc = put_packed(s, "\"", &some, "\"", most, full);
	return rc;
}

/* Why those of a kind were, as many as fit. */
static int put_kind(struct saver *s, const struct wait *at, size_t n, size_t share)
{
	const size_t most = s->out->len + share;
	bool full = false;
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0 && !full && s->out->len < most; i += WAITS_PAGE)
		rc = put_some_whys(s, at + i, n - i < WAITS_PAGE ? n - i : WAITS_PAGE,
				   most - s->out->len, &full);
	return rc;
}

static int put_whys(struct saver *s)
{
	const size_t share = room(s) / WAITS_SHARE / NR_KINDS;
	struct waits w = {0};
	int rc = find_waits(s, &w);

	buf_puts(s->out, ",\n\"whys\":[");
	for (size_t k = 0; k < NR_KINDS && rc == 0; k++) {
		spare_time(&w, k, s->o->until - s->o->since);
		rc = put_kind(s, w.kinds[k].at, w.kinds[k].n, share);
	}
	buf_putc(s->out, ']');
	for (size_t k = 0; k < NR_KINDS; k++)
		vec_free(&w.kinds[k]);
	return rc;
}

/* ---- tiles ---- */

static int want_track(struct wanted *w, uint64_t key)
{
	return vec_add(&w->tracks, &key) ? 0 : -ENOMEM;
}

/* The tracks of all rows. */
static int want_all(struct saver *s, struct wanted *w)
{
	const uint32_t rows = view_rows(s->view);
	int rc = 0;

	for (uint32_t i = 0; i < rows; i++) {
		struct view_row r;

		if (!view_row(s->view, i, NULL, &r))
			continue;
		for (uint32_t k = 0; rc == 0 && k < r.nr_tracks && k <= UINT16_MAX; k++)
			rc = want_track(w, (uint64_t)i << 16 | k);
	}
	return rc;
}

/* Appends the wanted tracks of a tile; of those that are bins its halves are wanted, too. */
static int read_tile(struct saver *s, const struct wanted *w, struct buf *to, struct wanted *half)
{
	struct view_tile t = {0};
	uint32_t chunks = 0;
	int rc = 0;

	api_begin_tiles(to, view_generation(s->view));
	for (size_t i = 0; rc == 0 && i < w->tracks.n; i++) {
		const uint64_t key = w->tracks.at[i];
		const uint32_t row = (uint32_t)(key >> 16), track = key & UINT16_MAX;

		rc = check_stop(s);
		if (rc == 0)
			rc = view_tile(s->view, row, track, w->level, w->tile, &t);
		if (rc < 0 || !api_put_tile(to, row, track, &t))
			continue;
		chunks++;
		if (t.has_bins)
			rc = want_track(half, key);
	}
	view_tile_free(&t);
	api_end_tiles(to, chunks);
	return rc == 0 && buf_full(to) ? -ENOMEM : rc;
}

static int put_tile(struct saver *s, const struct wanted *w, const struct buf *tiles)
{
	char before[64];

	snprintf(before, sizeof(before), "[%u,%llu,\"", w->level, (unsigned long long)w->tile);
	return put_packed(s, before, tiles, "\"]", room(s), &s->full);
}

/* A half of a tile, when any of it is in the range. */
static int want_half(struct saver *s, const struct wanted *half, uint64_t tile)
{
	const uint32_t shift = half->level + VIEW_TILE_SHIFT;
	struct wanted *w;
	int rc = 0;

	if (tile > (s->o->until - 1) >> shift || tile < s->o->since >> shift)
		return 0;
	w = vec_push(&s->queue);
	if (!w)
		return -ENOMEM;
	w->level = half->level;
	w->tile = tile;
	vec_each (track, &half->tracks)
		rc = rc < 0 ? rc : want_track(w, *track);
	return rc;
}

/* `halves`: those of its tracks that are bins are saved as well. */
static int save_tile(struct saver *s, const struct wanted *w, bool halves)
{
	struct wanted half = {.level = w->level - 1};
	scoped_buf tiles = buf_new(TILES_LIMIT);
	int rc;

	rc = read_tile(s, w, &tiles, &half);
	if (rc == 0 && tiles.len > API_TILES_HEAD)
		rc = put_tile(s, w, &tiles);
	if (rc == 0 && w->level > 0 && halves && half.tracks.n) {
		rc = want_half(s, &half, 2 * w->tile);
		if (rc == 0)
			rc = want_half(s, &half, 2 * w->tile + 1);
	}
	vec_free(&half.tracks);
	return rc;
}

static int put_tiles(struct saver *s)
{
	struct wanted top = {0};
	uint32_t level = 0;
	int rc = want_all(s, &top);

	while ((uint64_t)VIEW_TILE_BINS << level <= view_duration(s->view) &&
	       level < VIEW_MOST_LEVEL - VIEW_TILE_SHIFT - COARSER)
		level++;
	buf_puts(s->out, ",\n\"tiles\":[");
	for (top.level = level + COARSER; rc == 0 && top.level > level; top.level--)
		rc = save_tile(s, &top, false);
	if (rc == 0)
		rc = save_tile(s, &top, true);
	for (size_t i = 0; i < s->queue.n && rc == 0 && !s->full; i++) {
		const struct wanted w = s->queue.at[i];

		rc = save_tile(s, &w, true);
	}
	buf_putc(s->out, ']');
	vec_free(&top.tracks);
	return rc;
}

/* ---- the page ---- */

static int put_data(struct saver *s)
{
	int rc = put_answer(s, "trace", "trace");

	if (rc == 0)
		rc = put_answer(s, "rows", "rows");
	if (rc == 0)
		rc = put_answer(s, "names", "names");
	buf_printf(s->out, ",\n\"since\":%llu,\"until\":%llu,\"processes\":%s",
		   (unsigned long long)s->o->since, (unsigned long long)s->o->until,
		   s->o->processes ? "true" : "false");
	if (rc == 0 && !room(s))
		return error_set(s->err, -EFBIG, "a page of this trace has at least %zu bytes",
				 s->out->len + saved_behind_size + END_SIZE);
	if (rc == 0)
		rc = put_events(s);
	if (rc == 0)
		rc = put_whys(s);
	if (rc == 0)
		rc = put_tiles(s);
	return rc;
}

int saved_page(struct view *v, const struct saved_options *o, struct buf *out,
	       struct spur_error *err)
{
	struct saver s = {.view = v, .o = o, .out = out, .err = err};
	int rc;

	buf_put(out, saved_before, saved_before_size);
	buf_putc(out, '{');
	rc = put_data(&s);
	buf_putc(out, '}');
	buf_put(out, saved_behind, saved_behind_size);
	for (size_t i = 0; i < s.queue.n; i++)
		vec_free(&s.queue.at[i].tracks);
	vec_free(&s.queue);
	if (rc == -ENOMEM || (rc == 0 && buf_full(out)))
		return error_set(err, -ENOMEM, "out of memory");
	return rc;
}
