// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares an index with what brute force finds, at random places:
 *
 *	view_check FILE SEED N
 *
 * asks N tiles (and single intervals, and numbers of records) of indexes made by one thread, by
 * several with next to no memory, and read again after they were kept. Prints what differs, and
 * ends with 1 then.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "brute.h"

struct check {
	struct spur_trace *trace;
	struct view_index *index;
	const struct brute *brute;
	const char *how;
	uint64_t random;
	uint64_t asked;
	int wrong;
};

static uint64_t any(struct check *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

/* A place of a question, for messages. */
struct question {
	uint32_t row, track, level;
	uint64_t tile;
	const struct brute_track *want;
};

static const char *const kinds[] = {"running", "state", "irq",	  "softirq", "syscall",
				    "call",    "lost",	"events", "counter"};

static const char *const rows[] = {"CPU", "task", "counter"};

static void complain(struct check *c, const struct question *q, const char *what, uint64_t got,
		     uint64_t want)
{
	if (c->wrong++ < 20)
		printf("%s: row %u (%s %" PRId64 ", buffer %u), %s %u, level %u, tile %" PRIu64
		       ": %s: %" PRIu64 " instead of %" PRIu64 "\n",
		       c->how, q->row, rows[q->want->row], q->want->number, q->want->buffer,
		       kinds[q->want->about.kind], q->want->about.depth, q->level, q->tile, what,
		       got, want);
}

static bool same(struct check *c, const struct question *q, const char *what, uint64_t got,
		 uint64_t want)
{
	if (got != want)
		complain(c, q, what, got, want);
	return got == want;
}

/* ---- tiles ---- */

static void check_bins(struct check *c, const struct question *q, const struct view_tile *t)
{
	static struct view_bin want[VIEW_TILE_BINS];
	size_t k = 0;
	bool good = true;

	brute_bins(q->want, q->level, q->tile, want);
	for (uint32_t i = 0; good && i < VIEW_TILE_BINS; i++) {
		const struct view_bin empty = {.bin = i};
		const bool there = k < t->bins.n && t->bins.at[k].bin == i;
		const struct view_bin *got = there ? &t->bins.at[k++] : &empty;

		good = same(c, q, "n", got->n, want[i].n) &&
		       same(c, q, "busy", got->busy, want[i].busy) &&
		       same(c, q, "top", got->top, want[i].top) &&
		       same(c, q, "mask", got->mask, want[i].mask);
		if (good && there && !got->n && !got->busy)
			complain(c, q, "an empty bin", i, 0);
	}
	if (good)
		same(c, q, "bins", k, t->bins.n);
}

static bool overlaps(const struct view_interval *i, uint64_t since, uint64_t until)
{
	return i->start < until && (i->start >= since || i->start + i->dur > since);
}

static size_t count_overlaps(const struct question *q, uint64_t since, uint64_t until)
{
	size_t n = 0;

	for (size_t i = 0; i < q->want->list.n; i++)
		n += overlaps(&q->want->list.at[i], since, until);
	return n;
}

static bool same_interval(struct check *c, const struct question *q,
			  const struct view_interval *got, const struct view_interval *want)
{
	return same(c, q, "start", got->start, want->start) &&
	       same(c, q, "duration", got->dur, want->dur) &&
	       same(c, q, "value", got->value, want->value) &&
	       same(c, q, "flags", got->flags,
		    q->want->about.kind == VIEW_EVENTS ? 0 : want->flags);
}

static void check_intervals(struct check *c, const struct question *q, const struct view_tile *t,
			    uint64_t since, uint64_t until)
{
	size_t k = 0;

	for (size_t i = 0; i < q->want->list.n && k < t->intervals.n; i++)
		if (overlaps(&q->want->list.at[i], since, until) &&
		    !same_interval(c, q, &t->intervals.at[k++], &q->want->list.at[i]))
			return;
}

static void check_tile(struct check *c, const struct question *q)
{
	static struct view_tile t;
	const uint64_t since = q->tile * VIEW_TILE_BINS << q->level;
	const uint64_t until = (q->tile + 1) * VIEW_TILE_BINS << q->level;
	const size_t n = count_overlaps(q, since, until);

	same(c, q, "rc",
	     (uint64_t)view_index_tile(c->index, q->row, q->track, q->level, q->tile, &t), 0);
	same(c, q, "complete", t.complete, true);
	if (!same(c, q, "has bins", t.has_bins, n > VIEW_MOST_INTERVALS))
		return;
	if (t.has_bins)
		check_bins(c, q, &t);
	else if (same(c, q, "intervals", t.intervals.n, n))
		check_intervals(c, q, &t, since, until);
	if (c->asked == 0)
		view_tile_free(&t);
}

/* ---- single intervals ---- */

static void check_interval(struct check *c, const struct question *q, uint64_t ts, int dir)
{
	const struct view_interval *want = NULL, *last = NULL;
	struct view_interval got;
	bool found;

	for (size_t i = 0; i < q->want->list.n && !want; i++) {
		const struct view_interval *one = &q->want->list.at[i];

		if (one->start > ts)
			want = one;
		else
			last = one;
	}
	/* The last one that begins by then; onwards, only if it covers the time. */
	if (dir < 0 || (last && (last->start + last->dur > ts || last->start == ts)))
		want = last;
	found = view_index_interval(c->index, q->row, q->track, ts, dir, &got);
	if (same(c, q, dir < 0 ? "one before" : "one after", found, want != NULL) && found)
		same_interval(c, q, &got, want);
}

struct each {
	struct check *c;
	const struct question *q;
	uint64_t since, until;
	size_t at, n;
};

static bool take(void *each, const struct view_interval *i)
{
	struct each *e = each;

	while (e->at < e->q->want->list.n &&
	       !overlaps(&e->q->want->list.at[e->at], e->since, e->until))
		e->at++;
	e->n++;
	return e->at < e->q->want->list.n &&
	       same_interval(e->c, e->q, i, &e->q->want->list.at[e->at++]);
}

static void check_each(struct check *c, const struct question *q, uint64_t since, uint64_t until)
{
	struct each e = {.c = c, .q = q, .since = since, .until = until};

	view_index_each(c->index, q->row, q->track, since, until, take, &e);
	same(c, q, "each", e.n, count_overlaps(q, since, until));
}

/* ---- records ---- */

static uint64_t before(const struct brute *b, uint64_t ts)
{
	size_t low = 0, high = b->records.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (b->records.at[middle] < ts)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void check_numbers(struct check *c)
{
	const struct brute *b = c->brute;
	const uint64_t ts = any(c) % (b->last + 2);
	uint64_t n = any(c) % b->records.n, first = 0, at = 0, got = 0;

	if (view_index_ordinal(c->index, ts, &got) < 0 || got != before(b, ts))
		c->wrong++, printf("%s: %" PRIu64 " records before %" PRIu64 ", not %" PRIu64 "\n",
				   c->how, before(b, ts), ts, got);
	if (view_index_seek(c->index, n, &first, &at) < 0 || first > n || first != before(b, at))
		c->wrong++, printf("%s: record %" PRIu64 ": number %" PRIu64 " at %" PRIu64 "\n",
				   c->how, n, first, at);
}

static void check_totals(struct check *c)
{
	const struct brute *b = c->brute;

	if (view_index_records(c->index) != b->records.n ||
	    view_index_duration(c->index) != b->last)
		c->wrong++, printf("%s: %" PRIu64 " records, %" PRIu64 " ns\n", c->how,
				   view_index_records(c->index), view_index_duration(c->index));
	for (uint32_t i = 0; i <= b->trace->events->nr; i++)
		if (view_index_count(c->index, i) != b->counts[i])
			c->wrong++, printf("%s: %" PRIu64 " of event %u\n", c->how,
					   view_index_count(c->index, i), i);
}

/* ---- rows ---- */

static void check_row(struct check *c, uint32_t number, const struct view_row *row, size_t *found)
{
	const struct view_track events = {.kind = VIEW_EVENTS};
	const struct brute_track *ticks = brute_find(c->brute, row, &events);
	const uint64_t n = ticks ? ticks->list.n : 0;

	if (row->events != n || (n && (row->first != ticks->list.at[0].start ||
				       row->last != ticks->list.at[n - 1].start)))
		c->wrong++,
			printf("%s: row %u has %" PRIu64 " records\n", c->how, number, row->events);
	for (uint32_t i = 0; i < row->nr_tracks; i++) {
		if (brute_find(c->brute, row, &row->tracks[i]))
			++*found;
		else if (row->tracks[i].kind != VIEW_EVENTS)
			c->wrong++, printf("%s: row %u has a track %s\n", c->how, number,
					   kinds[row->tracks[i].kind]);
	}
}

/* Every track that must be there is. */
static void check_rows(struct check *c)
{
	size_t found = 0, want = 0;
	struct view_row row;

	for (uint32_t i = 0; view_index_row(c->index, i, &row); i++)
		check_row(c, i, &row, &found);
	for (size_t i = 0; i < c->brute->tracks.n; i++)
		want += c->brute->tracks.at[i]->list.n &&
			c->brute->tracks.at[i]->about.depth != UINT32_MAX;
	if (found != want)
		c->wrong++, printf("%s: %zu tracks of %zu\n", c->how, found, want);
}

static bool ask(struct check *c, struct question *q)
{
	struct view_row row;

	q->row = (uint32_t)(any(c) % view_index_rows(c->index));
	assert(view_index_row(c->index, q->row, &row));
	if (!row.nr_tracks)
		return false;
	q->track = (uint32_t)(any(c) % row.nr_tracks);
	q->want = brute_find(c->brute, &row, &row.tracks[q->track]);
	return q->want != NULL;
}

static void check_all(struct check *c, uint64_t n)
{
	const uint64_t last = c->brute->last;
	uint32_t top = 1;
	struct question q;

	check_totals(c);
	check_rows(c);
	while (last >> top)
		top++;
	for (c->asked = 0; c->asked < n && c->wrong < 20; c->asked++) {
		const uint64_t ts = any(c) % (last + 2), width = last >> any(c) % top;

		check_numbers(c);
		if (!ask(c, &q))
			continue;
		q.level = (uint32_t)(any(c) % (top + 2));
		q.tile = ts >> q.level >> VIEW_TILE_SHIFT;
		check_tile(c, &q);
		check_interval(c, &q, ts, any(c) & 1 ? 1 : -1);
		if (q.want->list.n)
			check_interval(c, &q, q.want->list.at[any(c) % q.want->list.n].start,
				       any(c) & 1 ? 1 : -1);
		check_each(c, &q, ts, ts + width + 1);
	}
}

/* ---- indexes ---- */

/* Asks while it is being made: answers may be anything but out of order. */
static void disturb(struct view_index *x)
{
	static struct view_tile t;
	struct view_interval one;
	struct view_row row;
	uint64_t n, ts;
	uint32_t top = 0;

	while (view_index_duration(x) >> top >= VIEW_TILE_BINS)
		top++;
	for (uint32_t i = 0; view_index_row(x, i, &row); i++)
		for (uint32_t k = 0; k < row.nr_tracks; k++) {
			assert(view_index_tile(x, i, k, top, 0, &t) == 0);
			for (size_t b = 0; b < t.bins.n; b++)
				assert(t.bins.at[b].bin < VIEW_TILE_BINS &&
				       (!b || t.bins.at[b].bin > t.bins.at[b - 1].bin));
			view_index_interval(x, i, k, view_index_duration(x) / 2, 1, &one);
		}
	for (uint32_t i = 0; i < view_index_names(x); i++)
		assert(view_index_name(x, i));
	view_index_count(x, 0);
	if (view_index_seek(x, view_index_records(x) / 2, &n, &ts) == 0)
		view_index_ordinal(x, ts, &n);
}

static struct view_index *build(struct spur_trace *t, const char *path,
				const struct view_index_options *opt)
{
	struct spur_error err = {0};
	struct view_index *x = view_index_open(path, t, opt, &err);

	while (x && view_index_progress(x) < 1) {
		disturb(x);
		view_index_wait(x, view_index_generation(x), 5);
	}
	if (!x || view_index_error(x, &err) < 0) {
		printf("%s\n", err.text);
		exit(1);
	}
	return x;
}

static int check_one(struct spur_trace *t, const char *path, const struct view_index_options *opt,
		     const char *how, uint64_t seed, uint64_t n)
{
	struct view_index *x = build(t, path, opt);
	struct check c = {.trace = t, .index = x, .how = how, .random = seed * 2 + 1};
	struct brute b = {0};

	if (view_index_origin(x) != UINT64_MAX) {
		brute_make(&b, t, x);
		c.brute = &b;
		check_all(&c, n);
		brute_free(&b);
	}
	view_index_close(x);
	return c.wrong;
}

static void remove_folder(const char *folder)
{
	char path[4096];
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d && (e = readdir(d)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		unlink(path);
	}
	if (d)
		closedir(d);
	rmdir(folder);
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/view-check-XXXXXX";
	const struct view_index_options one = {.threads = 1};
	const struct view_index_options kept = {.threads = 2, .cache = folder};
	const struct view_index_options many = {.threads = 4, .memory = 1, .cache = folder};
	const struct trace_options plain = {0};
	struct spur_error err = {0};
	struct spur_trace *t;
	uint64_t seed, n;
	int wrong;

	if (argc != 4) {
		fprintf(stderr, "usage: view_check FILE SEED N\n");
		return 1;
	}
	seed = strtoull(argv[2], NULL, 0);
	n = strtoull(argv[3], NULL, 0);
	if (trace_open(argv[1], &plain, &t, &err) < 0) {
		fprintf(stderr, "view_check: %s\n", err.text);
		return 1;
	}
	assert(mkdtemp(folder));
	wrong = check_one(t, argv[1], &one, "one thread", seed, n);
	wrong += check_one(t, argv[1], &many, "four threads", seed + 1, n);
	/* The one before has been kept. */
	wrong += check_one(t, argv[1], &kept, "kept", seed + 2, n);
	remove_folder(folder);
	trace_close(t);
	return wrong != 0;
}
