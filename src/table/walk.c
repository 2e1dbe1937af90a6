// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Walking a trace: records of the wanted types from all lanes, merged by time.
 *
 * Every loss is reported with the record after it, also when that record is not wanted and
 * `borders` is set.
 */
#include "table/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pattern.h"
#include "dat/dat.h"
#include "table/evidence.h"

#define PROGRESS_EVERY 65536 /* records between two calls of progress() */

bool walk_asks_cpu(const struct walk_options *o, int64_t cpu)
{
	return scan_asks_cpu(&(struct scan_options){.cpus = o->cpus, .nr_cpus = o->nr_cpus}, cpu);
}

int walk_open(struct walk *w, struct spur_trace *t, const struct walk_options *opt,
	      struct spur_error *err)
{
	const struct scan_options reading = {.cpus = opt->cpus,
					     .nr_cpus = opt->nr_cpus,
					     .stop = opt->stop,
					     .progress = opt->progress,
					     .progress_arg = opt->progress_arg};
	int rc;

	*w = (struct walk){.trace = t, .opt = *opt};
	scan_init(&w->scan, &reading);
	rc = scan_add_trace(&w->scan, t);
	if (rc == 0)
		rc = lane_filter_init(&w->filter, t->events);
	return rc < 0 ? error_sys(err, rc, "%s", t->dat->path) : 0;
}

void walk_close(struct walk *w)
{
	scan_free(&w->scan);
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
	for (uint32_t i = 0; i < w->scan.nr; i++) {
		struct lane *l = &w->scan.lanes[i];

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
		scan_start(&w->scan);
	w->started = true;
}

/* After a stop, lanes end at their next page. */
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

/*
 * Notes whether records are missing where a lane has just continued or ended; the lane may be NULL.
 */
static void note_missing(struct walk *w, const struct lane *l)
{
	w->losing = l && l->gap ? l : NULL;
	w->cut = l && l->ended && is_cut(w, l) ? l : NULL;
	w->missing = w->losing || w->cut;
	if (w->losing && w->runners)
		w->runners->lost_from[l->buffer->index] = l->gap_from;
}

const struct spur_record *walk_next(struct walk *w)
{
	const struct lane *before, *l;

	if (__builtin_expect(!w->started, 0))
		start(w);
	do {
		before = w->scan.current;
		l = scan_step(&w->scan);
		if (++w->records % PROGRESS_EVERY == 0)
			scan_progress(&w->scan);
	} while (l && l->rec.ts < w->opt.since);
	if (__builtin_expect(w->missing || (before && (before->gap || before->ended)), 0))
		note_missing(w, before);
	if (!l || (w->opt.until && l->rec.ts > w->opt.until))
		return stop(w);
	w->nr_evidence = 0;
	if (l->changes)
		walk_note_evidence(w, &w->scan.lanes[l->index]);
	w->lost = l->gap;
	return &l->rec;
}
