// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/pass.h"

#include <errno.h>

#include "analyze/feed.h"
#include "base/error.h"

struct reading {
	const struct export_job *job;
	const struct pass *pass;
	struct event_printer printer; /* filters ask it for names of tasks */
	bool has_printer;
};

/* Analyses may need records from before the range; the export is not about these. */
static void take_record(void *arg, struct event *e, const struct spur_record *r)
{
	const struct reading *rd = arg;
	const struct walk_options *w = &rd->job->walk;

	if (r->ts >= w->since && (!w->until || r->ts <= w->until))
		rd->pass->record(rd->pass->arg, e, r);
}

static bool wanted(void *arg, struct event *e, const struct spur_record *r)
{
	struct reading *rd = arg;

	return select_record(rd->job->select, NULL, rd->pass->trace, &rd->printer, e, r);
}

static int set_filter(struct reading *rd, struct feed *f, struct spur_error *err)
{
	int rc;

	if (!rd->job->select || !select_filters_of(rd->job->select, rd->pass->trace))
		return 0;
	rc = event_printer_init(&rd->printer, rd->pass->trace->events);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	rd->has_printer = true;
	feed_filter(f, wanted, rd);
	return 0;
}

static int add_takers(struct reading *rd, struct feed *f, struct spur_error *err)
{
	const struct pass *p = rd->pass;
	int rc = set_filter(rd, f, err);

	for (size_t i = 0; rc == 0 && i < p->nr_tables; i++)
		rc = feed_add(f, p->tables[i].table, p->tables[i].row, p->arg, err);
	if (rc == 0 && p->record)
		rc = feed_watch(f, "*:*", take_record, rd, err);
	return rc;
}

int pass_run(const struct export_job *job, const struct pass *p, struct spur_error *err)
{
	struct reading rd = {.job = job, .pass = p};
	struct walk_options opt = job->walk;
	struct feed *f;
	int rc;

	opt.brief |= p->brief;
	f = feed_new(p->trace, &opt, err);
	if (!f)
		return err->code;
	rc = add_takers(&rd, f, err);
	if (rc == 0) {
		while ((!p->failed || *p->failed >= 0) && feed_step(f))
			;
		rc = feed_error(f, err);
	}
	if (p->failed && *p->failed < 0 && rc == 0)
		rc = *p->failed;
	feed_free(f);
	if (rd.has_printer)
		event_printer_done(&rd.printer);
	return rc;
}
