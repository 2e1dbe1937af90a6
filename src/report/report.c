// SPDX-License-Identifier: GPL-2.0-or-later
/* Running a report on one thread, and the choice between one and several (parallel.c). */
#include "report/report.h"

#include <errno.h>

#include "base/error.h"
#include "report/parallel.h"
#include "report/worker.h"
#include "scan/slices.h"

static int run_alone(const struct report *rep)
{
	const struct selection *sel = &rep->select;
	struct worker w;
	const struct spur_record *r;
	int rc = worker_init(&w, rep);

	if (rc < 0)
		goto out;
	w.scan.opt.since = sel->has_since ? sel->since : 0;
	w.scan.opt.has_until = sel->has_until;
	w.scan.opt.until = sel->until;
	w.scan.opt.progress = rep->progress;
	w.scan.opt.progress_arg = rep->progress_arg;
	while (rc == 0 && (r = scan_next(&w.scan)) != NULL && !scan_stopped(&w.scan)) {
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
	int rc = report_begin(rep);

	if (rc == 0)
		rc = one_thread_only(rep) ? run_alone(rep) : crew_run(rep, rep->threads);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
