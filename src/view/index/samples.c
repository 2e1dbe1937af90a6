// SPDX-License-Identifier: GPL-2.0-or-later
/* The first picture: some pages of each CPU are read, and fill bins until all have been read. */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/index/internal.h"

#define ALL_PAGES     4096 /* that are looked at */
#define MOST_OF_A_CPU 192

/* ---- looking at pages ---- */

/* The number of pages: the upper bound may be far too large. */
static uint64_t count_pages(struct lane *l)
{
	struct dat_page page;

	if (l->nr_pages && dat_pages_get(l->pages, l->nr_pages - 1, &page) != 1)
		l->nr_pages = dat_pages_estimate(l->pages);
	return l->nr_pages;
}

struct looking {
	struct view_index *x;
	const struct event *change;
	const struct event_field *next;
};

/* The task that runs after a record: the one it switches to, or the one that wrote it. */
static int runs_after(const struct looking *k, const struct spur_record *r)
{
	const struct events *ev = k->x->trace->events;
	uint64_t pid;

	if (k->next && events_of_record(ev, r) == k->change && field_number(ev, k->next, r, &pid))
		return (int)pid;
	return events_record_pid(ev, r);
}

/* Looks at a page; false when there is nothing on it. */
static bool look(const struct looking *k, struct lane *l, uint64_t page, struct sample *out,
		 uint64_t *last)
{
	const struct events *ev = k->x->trace->events;
	struct shares shares = {0};
	uint64_t begin, busy = 0;

	lane_seek(l, (struct lane_pos){.page = page});
	if (!lane_next(l))
		return false;
	begin = *last = index_time(k->x, l->rec.ts);
	*out = (struct sample){.ts = begin};
	page = l->page_index;
	for (bool more = true; more;) {
		const struct event *e = events_of_record(ev, &l->rec);
		const int pid = runs_after(k, &l->rec);
		const uint64_t ts = *last;

		out->mask |= types_mask(&k->x->types, e ? e->index : UINT32_MAX);
		out->records++;
		more = lane_next(l) && l->page_index == page;
		if (more)
			*last = index_time(k->x, l->rec.ts);
		if (pid > 0 && *last > ts) {
			busy += *last - ts;
			shares_add(&shares, (uint32_t)pid, *last - ts);
		}
	}
	if (busy)
		out->task =
			row_of(&k->x->rows, VIEW_TASK_ROW, l->buffer->index, shares_top(&shares));
	out->busy = *last > begin ? (double)busy / (double)(*last - begin) : 0;
	shares_free(&shares);
	return true;
}

static int look_at_cpu(const struct looking *k, const struct cpu_ticks *t, struct samples *s)
{
	struct view_index *x = k->x;
	const uint64_t most = ALL_PAGES / x->ticks.n;
	const uint64_t wanted = most > MOST_OF_A_CPU ? MOST_OF_A_CPU : most < 8 ? 8 : most;
	uint64_t pages, step, last = 0;
	struct lane l;

	if (lane_open(&l, t->ticks->buffer, t->ticks->cpu) < 0)
		return 0;
	pages = count_pages(&l);
	step = pages / wanted + 1;
	for (uint64_t page = 0; page < pages && !index_stopped(x); page += step) {
		struct sample one;

		if (!look(k, &l, page, &one, &last))
			continue;
		one.records *= step;
		if (s->n && one.ts <= s->at[s->n - 1].ts)
			continue;
		if (!vec_add(s, &one))
			break;
	}
	lane_close(&l);
	index_reach(x, last);
	return vec_add(s, &(struct sample){.ts = last}) ? 0 : -ENOMEM;
}

void samples_take(struct view_index *x)
{
	struct samples *all = calloc(x->ticks.n + 1, sizeof(*all));
	struct event *change = events_find(x->trace->events, "sched", "sched_switch");
	struct looking k = {.x = x, .change = change};
	int rc = all ? 0 : -ENOMEM;

	if (change && event_ready(change) != EVENT_BROKEN)
		k.next = event_field_find(change, "next_pid");

	for (size_t i = 0; rc == 0 && i < x->ticks.n; i++)
		rc = look_at_cpu(&k, &x->ticks.at[i], &all[i]);
	if (rc < 0)
		index_fail(x, rc);
	__atomic_store_n(&x->samples, all, __ATOMIC_RELEASE);
}

/* ---- filling ---- */

static struct view_bin *bin_of(struct view_tile *out, uint32_t bin)
{
	struct view_bin *b = out->bins.n ? &out->bins.at[out->bins.n - 1] : NULL;

	if (b && b->bin >= bin)
		return b;
	b = vec_push(&out->bins);
	if (b)
		b->bin = bin;
	return b;
}

/* What of a sample lies in a bin. */
static void add_share(struct view_bin *b, enum view_track_kind kind, const struct sample *s,
		      uint64_t ns, uint64_t of)
{
	if (kind == VIEW_EVENTS) {
		b->n += (uint32_t)((double)s->records * (double)ns / (double)of);
		b->mask |= s->mask;
		return;
	}
	b->n += !b->n;
	/* The task of the last sample is used. */
	b->top = s->task;
	b->busy += (uint64_t)((double)ns * s->busy);
}

int samples_fill(const struct samples *s, enum view_track_kind kind, uint64_t from, uint32_t level,
		 uint64_t tile, struct view_tile *out)
{
	const uint64_t first = tile << VIEW_TILE_SHIFT, since = first << level;
	const uint64_t until = (first + VIEW_TILE_BINS) << level;

	for (size_t i = 0; i + 1 < s->n; i++) {
		const uint64_t begin = s->at[i].ts, end = s->at[i + 1].ts;
		uint64_t ts = begin > from ? begin : from;

		ts = ts > since ? ts : since;
		if (kind == VIEW_RUNNING && s->at[i].busy <= 0)
			continue;
		while (ts < end && ts < until) {
			const uint64_t border = ((ts >> level) + 1) << level;
			const uint64_t to = border < end ? border : end;
			struct view_bin *b = bin_of(out, (uint32_t)((ts >> level) - first));

			if (!b)
				return -ENOMEM;
			add_share(b, kind, &s->at[i], to - ts, end - begin);
			ts = to;
		}
	}
	return 0;
}
