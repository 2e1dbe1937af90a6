// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Running a report on one thread, the choice between one and several (parallel.c), and the last
 * records of a report.
 */
#include "report/report.h"

#include <errno.h>

#include "base/error.h"
#include "report/worker.h"
#include "scan/slices.h"

static const struct spur_record *next_record(struct worker *w)
{
	const struct spur_record *r = scan_next(&w->scan);

	return r && !scan_stopped(&w->scan) ? r : NULL;
}

/*
 * Reads the records from a time on, in this thread. The first `skip` selected ones are not written,
 * and watch() is not called for them. *count becomes the number of selected records.
 */
static int run_alone(const struct report *rep, uint64_t since, uint64_t skip, uint64_t *count)
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
	w.scan.opt.progress = rep->progress;
	w.scan.opt.progress_arg = rep->progress_arg;
	for (r = next_record(&w); r && w.emitted < skip; r = next_record(&w)) {
		worker_record(&w, r);
		buf_reset(&w.out);
	}
	w.rep = rep;
	for (; r && rc == 0; r = next_record(&w)) {
		worker_record(&w, r);
		if (rep->head && w.emitted >= rep->head)
			break;
		if (w.out.len >= WORKER_FLUSH)
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

/*
 * Whether the data are too few for a second thread, or lines depend on each other with these
 * options.
 */
static bool one_thread_only(const struct report *rep)
{
	const struct emit_options *o = &rep->options;
	uint64_t bytes = 0;

	if (rep->threads < 2 || rep->head || rep->watch || o->ts_diff || o->debug ||
	    rep->select.stacks == SELECT_STACKS_LOOSE)
		return true;
	for (size_t i = 0; i < rep->nr_sources; i++)
		for (uint32_t k = 0; k < rep->sources[i].buffer->data->nr_cpus; k++)
			bytes += rep->sources[i].buffer->data->cpus[k].size;
	return !rep->slice_bytes && bytes < SLICE_BYTES / 8;
}

static uint64_t first_time(const struct report *rep)
{
	return rep->select.has_since ? rep->select.since : 0;
}

int report_begin(const struct report *rep)
{
	struct buf head;
	int rc;

	if (!rep->emit->begin)
		return 0;
	buf_init(&head, WORKER_FLUSH);
	rep->emit->begin(&rep->options, &head);
	rc = rep->write(rep->arg, head.data, head.len);
	buf_free(&head);
	return rc;
}

int report_run(const struct report *rep, struct spur_error *err)
{
	uint64_t count;
	int rc = report_begin(rep);

	if (rc == 0 && one_thread_only(rep))
		rc = run_alone(rep, first_time(rep), 0, &count);
	else if (rc == 0)
		rc = crew_run(rep, rep->threads);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}

/* ---- the last records ---- */

/*
 * Counts the records that are selected from a few pages before the end of every lane on; when there
 * are too few, starts again further back. Each attempt reads eight times as much as the previous
 * one, so all attempts together cost little more than the last one. Then the records are read again
 * and written. So no records need to be stored.
 */

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

/* Finds a time from which on there are at least n selected records, and how many there are. */
static int find_start(const struct report *rep, uint64_t n, uint64_t *since, uint64_t *count)
{
	const uint64_t first = first_time(rep);
	struct scan scouts;
	int rc;

	scan_init(&scouts, NULL);
	rc = worker_add_lanes(rep, &scouts);
	*count = 0;
	for (uint64_t pages = FIRST_PAGES; rc == 0; pages *= 8) {
		*since = start_time(&scouts, pages);
		if (*since < first)
			*since = first;
		rc = run_alone(rep, *since, UINT64_MAX, count);
		if (*count >= n || *since == first)
			break;
	}
	scan_free(&scouts);
	return rc;
}

int report_tail(const struct report *rep, uint64_t n, struct spur_error *err)
{
	struct report once = *rep;
	uint64_t since, count;
	int rc = report_begin(rep);

	once.head = 0;
	once.progress = NULL;
	if (rc == 0)
		rc = find_start(&once, n, &since, &count);
	if (rc == 0)
		rc = run_alone(&once, since, count > n ? count - n : 0, &count);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
