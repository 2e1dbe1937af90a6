// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts the records that are selected from a few pages before the end of every lane on; when there
 * are too few, starts again further back. Each attempt reads eight times as much as the previous
 * one, so all attempts together cost little more than the last one. Then the records are read again
 * and written. So no records need to be stored.
 */
#include "report/tail.h"

#include <errno.h>

#include "base/error.h"
#include "report/worker.h"

#define FIRST_PAGES 4

/*
 * The earliest time at which the last `pages` of any lane begin; 0 if no lane has more pages, so
 * that everything has to be read.
 */
static uint64_t start_time(struct scan *s, uint64_t pages)
{
	uint64_t since = UINT64_MAX;

	for (uint32_t i = 0; i < s->nr; i++) {
		struct lane *l = &s->lanes[i];
		uint64_t last = l->nr_pages, ts;

		/* The number of pages may be an estimate: find the last page with records. */
		while (last > 0 && !lane_page_time(l, last - 1, &ts))
			last--;
		if (last <= pages)
			continue;
		if (!lane_page_time(l, last - pages, &ts))
			ts = 0;
		if (ts < since)
			since = ts;
	}
	return since == UINT64_MAX ? 0 : since;
}

/*
 * Reads the records from a time on. The first `skip` selected ones are not written, and watch() is
 * not called for them. *count becomes the number of selected records.
 */
static int pass(const struct report *rep, uint64_t since, uint64_t skip, uint64_t *count)
{
	struct report silent = *rep;
	struct worker w;
	const struct spur_record *r;
	int rc;

	silent.watch = NULL;
	rc = worker_init(&w, &silent);
	if (rc < 0)
		goto out;
	w.scan.opt.since = since;
	w.scan.opt.has_until = rep->select.has_until;
	w.scan.opt.until = rep->select.until;
	while (rc == 0 && (r = scan_next(&w.scan)) != NULL && !scan_stopped(&w.scan)) {
		bool writes = w.emitted >= skip;

		if (writes)
			w.rep = rep;
		worker_record(&w, r);
		if (!writes)
			buf_reset(&w.out);
		else if (w.out.len >= WORKER_FLUSH)
			rc = worker_flush(&w);
	}
	if (rc == 0)
		rc = worker_flush(&w);
	if (rc == 0 && scan_stopped(&w.scan))
		rc = -EINTR;
	*count = w.emitted;
out:
	worker_done(&w);
	return rc;
}

/* Finds a time from which on there are at least n selected records, and how many there are. */
static int find_start(const struct report *rep, uint64_t n, uint64_t *since, uint64_t *count)
{
	const uint64_t first = rep->select.has_since ? rep->select.since : 0;
	struct scan scouts;
	int rc;

	scan_init(&scouts, NULL);
	rc = worker_add_lanes(rep, &scouts);
	*count = 0;
	for (uint64_t pages = FIRST_PAGES; rc == 0; pages *= 8) {
		*since = start_time(&scouts, pages);
		if (*since < first)
			*since = first;
		rc = pass(rep, *since, UINT64_MAX, count);
		if (*count >= n || *since == first)
			break;
	}
	scan_free(&scouts);
	return rc;
}

int report_tail(const struct report *rep, uint64_t n, struct spur_error *err)
{
	uint64_t since, count;
	int rc = report_begin(rep);

	if (rc == 0)
		rc = find_start(rep, n, &since, &count);
	if (rc == 0)
		rc = pass(rep, since, count > n ? count - n : 0, &count);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
