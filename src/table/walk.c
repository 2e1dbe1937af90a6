// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walking a trace: records of the wanted types from all lanes, merged by time.
 *
 * Lanes of CPUs that are not wanted are closed before they have read anything. Every loss is
 * reported with the record after it, also when that record is not wanted and `borders` is set.
 */
#include "table/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pattern.h"
#include "dat/cut.h"

#define PROGRESS_EVERY 65536 /* records between two looks at how far the walk is */

bool walk_asks_cpu(const struct walk_options *o, int64_t cpu)
{
	return !o->cpus || (cpu >= 0 && cpu < o->nr_cpus && o->cpus[cpu / 64] >> (cpu % 64) & 1);
}

/* Lanes of CPUs that are not wanted are closed again, before they have read anything. */
static int add_lanes(struct walk *w)
{
	struct merge *m = &w->merge;
	uint32_t kept = 0;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < w->trace->nr_buffers; i++)
		if (!w->trace->buffers[i].data->text)
			rc = merge_add_buffer(m, &w->trace->buffers[i]);
	for (uint32_t i = 0; i < m->nr; i++) {
		if (!walk_asks_cpu(&w->opt, m->lanes[i].cpu->cpu)) {
			lane_close(&m->lanes[i]);
			continue;
		}
		m->lanes[kept] = m->lanes[i];
		m->lanes[kept].index = kept;
		kept++;
	}
	m->nr = kept;
	return rc;
}

int walk_open(struct walk *w, struct spur_trace *t, const struct walk_options *opt,
	      struct spur_error *err)
{
	int rc;

	*w = (struct walk){.trace = t, .opt = *opt};
	merge_init(&w->merge);
	rc = add_lanes(w);
	if (rc == 0)
		rc = lane_filter_init(&w->filter, t->events);
	return rc < 0 ? error_sys(err, rc, "%s", t->dat->path) : 0;
}

void walk_close(struct walk *w)
{
	merge_free(&w->merge);
	lane_filter_free(&w->filter);
	walk_free_evidence(w);
}

void walk_want(struct walk *w, const struct event *e)
{
	lane_filter_want(&w->filter, e);
}

void walk_want_all(struct walk *w)
{
	w->all = true;
}

bool event_named(const struct event *e, const char *pattern)
{
	const char *colon = strchr(pattern, ':');

	return colon &&
	       glob_matches_once(pattern, (size_t)(colon - pattern), e->system,
				 strlen(e->system)) &&
	       glob_matches_once(colon + 1, strlen(colon + 1), e->name, strlen(e->name));
}

static void start(struct walk *w)
{
	for (uint32_t i = 0; i < w->merge.nr; i++) {
		struct lane *l = &w->merge.lanes[i];

		l->filter = w->all ? NULL : &w->filter;
		l->borders = w->borders;
		l->stop = w->opt.stop;
		l->until = w->opt.last_page;
		if (w->runners)
			walk_watch_lane(w, l);
		else if (w->opt.since)
			lane_seek_before(l, w->opt.since, l->nr_pages / 2);
	}
	if (w->runners && w->opt.since)
		walk_start_in_range(w);
	else
		merge_start(&w->merge);
	w->started = true;
}

static void tell_progress(const struct walk *w)
{
	uint64_t done = 0, total = 0;

	for (uint32_t i = 0; i < w->merge.nr; i++) {
		const struct lane *l = &w->merge.lanes[i];

		done += l->ended ? l->nr_pages : l->page_index;
		total += l->nr_pages;
	}
	w->opt.progress(w->opt.progress_arg, done, total);
}

/* Reading that is stopped ends with the pages at hand: lanes look at it with each page. */
static const struct spur_record *stop(struct walk *w)
{
	w->stopped = w->opt.stop && __atomic_load_n(w->opt.stop, __ATOMIC_RELAXED);
	return NULL;
}

/* Whether records of a lane that has ended are missing. */
static bool is_cut(const struct walk *w, const struct lane *l)
{
	return dat_cut_lacks_end(w->trace->dat, l->buffer->data, l->cpu->cpu);
}

const struct spur_record *walk_next(struct walk *w)
{
	const struct lane *before, *l;

	if (__builtin_expect(!w->started, 0))
		start(w);
	do {
		before = w->merge.current;
		l = merge_step(&w->merge);
		if (++w->records % PROGRESS_EVERY == 0 && w->opt.progress)
			tell_progress(w);
	} while (l && l->rec.ts < w->opt.since);
	w->losing = before && before->gap ? before : NULL;
	w->cut = before && before->ended && is_cut(w, before) ? before : NULL;
	if (w->losing && w->runners)
		w->runners->lost_from[before->buffer->index] = before->gap_from;
	if (!l || (w->opt.until && l->rec.ts > w->opt.until))
		return stop(w);
	w->nr_evidence = 0;
	if (l->changes)
		walk_note_evidence(w, &w->merge.lanes[l->index]);
	w->lost = l->gap;
	return &l->rec;
}
