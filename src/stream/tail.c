// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads from a few pages before the end of every lane and keeps the last records emitted; when
 * there were too few, starts again further back. Each attempt reads eight times as much as the one
 * before, so the whole costs little more than the last one.
 */
#include "stream/tail.h"

#include <errno.h>

#include "base/error.h"
#include "base/vec.h"
#include "stream/worker.h"

#define FIRST_PAGES 4
#define TRIM_SIZE   (8u << 20) /* text kept beyond what is needed before it is thrown away */

/* Where the emitted records begin in the worker's output. */
struct starts {
	size_t *at;
	size_t n, cap;
};

/* Drops all but the last n records from the text. */
static void trim(struct worker *w, struct starts *s, uint64_t n)
{
	size_t drop, cut;

	if (s->n <= n)
		return;
	drop = s->n - (size_t)n;
	cut = s->at[drop];
	memmove(w->out.data, w->out.data + cut, w->out.len - cut);
	w->out.len -= cut;
	for (size_t i = drop; i < s->n; i++)
		s->at[i - drop] = s->at[i] - cut;
	s->n -= drop;
}

/* The earliest time at which the last `pages` of any lane begin. */
static bool start_time(struct merge *m, uint64_t pages, uint64_t *since)
{
	bool whole = true;

	*since = UINT64_MAX;
	for (uint32_t i = 0; i < m->nr; i++) {
		struct lane *l = &m->lanes[i];
		uint64_t last = l->nr_pages, ts;

		/* The number of pages may be an estimate: find the last one that exists. */
		while (last > 0 && !lane_page_time(l, last - 1, &ts))
			last--;
		if (last > pages) {
			whole = false;
			if (!lane_page_time(l, last - pages, &ts))
				ts = 0;
		} else {
			continue;
		}
		if (ts < *since)
			*since = ts;
	}
	return whole;
}

static int attempt(const struct report *rep, uint64_t n, uint64_t pages, bool *enough)
{
	struct starts starts = {0};
	struct worker w;
	const struct spur_record *r;
	uint64_t since = 0;
	bool whole;
	int rc = worker_init(&w, rep);

	if (rc < 0)
		goto out;
	whole = start_time(&w.merge, pages, &since);
	if (whole || (rep->select.has_since && rep->select.since > since))
		since = rep->select.has_since ? rep->select.since : 0;
	for (uint32_t i = 0; i < w.merge.nr; i++)
		lane_seek_time(&w.merge.lanes[i], since, w.merge.lanes[i].nr_pages / 2);
	merge_start(&w.merge);
	while (rc == 0 && (r = merge_next(&w.merge)) != NULL) {
		size_t before = w.out.len, *start;
		uint64_t emitted = w.emitted;

		if (r->ts < since)
			continue;
		if (rep->select.has_until && r->ts > rep->select.until)
			break;
		worker_record(&w, r);
		if (w.emitted == emitted)
			continue;
		start = vec_push(&starts);
		if (!start)
			rc = -ENOMEM;
		else
			*start = before;
		if (w.out.len > TRIM_SIZE && starts.n > 2 * n)
			trim(&w, &starts, n);
		if (rep->stop && *rep->stop)
			rc = -EINTR;
	}
	*enough =
		starts.n >= n || whole || since == (rep->select.has_since ? rep->select.since : 0);
	if (rc == 0 && *enough) {
		trim(&w, &starts, n);
		if (w.out.len)
			rc = rep->write(rep->arg, w.out.data, w.out.len);
	}
out:
	vec_free(&starts);
	worker_done(&w);
	return rc;
}

int report_tail(const struct report *rep, uint64_t n, struct spur_error *err)
{
	bool enough = false;
	int rc = 0;

	for (uint64_t pages = FIRST_PAGES; rc == 0 && !enough; pages *= 8)
		rc = attempt(rep, n, pages, &enough);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
