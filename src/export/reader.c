// SPDX-License-Identifier: GPL-2.0-or-later
/* Feeds an export with records and rows of a trace, through the job's filters. */
#include "export/reader.h"

#include "table/feed.h"
#include "base/error.h"

#define STACKS_LIMIT (16u << 20)

struct reading {
	const struct export_job *job;
	const struct export_reader *pass;
};

/* Analyses may need records from before the range; the export is not about these. */
static bool in_range(const struct reading *rd, const struct spur_record *r)
{
	const struct walk_options *w = &rd->job->walk;

	return r->ts >= w->since && (!w->until || r->ts <= w->until);
}

static void take_record(void *arg, struct event *e, const struct spur_record *r)
{
	const struct reading *rd = arg;

	if (in_range(rd, r))
		rd->pass->record(rd->pass->arg, e, r);
}

static void take_records(void *arg, const struct table_record *all, uint32_t n)
{
	const struct reading *rd = arg;

	for (uint32_t i = 0; i < n; i++)
		if (in_range(rd, &all[i].record))
			rd->pass->records(rd->pass->arg, &all[i], 1);
}

/* Without a range they need not be looked at one by one. */
static void watch_batches(struct reading *rd, struct feed *f)
{
	const struct walk_options *w = &rd->job->walk;

	if (w->since || w->until)
		feed_watch_batches(f, take_records, rd);
	else
		feed_watch_batches(f, rd->pass->records, rd->pass->arg);
}

static bool wanted(void *arg, struct event *e, const struct spur_record *r)
{
	struct export_filter *f = arg;
	struct select_stack none = {0}, *st;

	st = slots_get(&f->stacks, (uint64_t)r->buffer << 32 | r->cpu);
	return select_record(f->job->select, st ? st : &none, f->trace, &f->printer, e, r);
}

int export_filter_init(const struct export_job *job, const struct spur_trace *t,
		       struct export_filter *f, struct walk_options *opt, struct spur_error *err)
{
	int rc;

	*f = (struct export_filter){.job = job, .trace = t};
	*opt = job->walk;
	if (!job->select || !select_refuses(job->select, t))
		return 0;
	rc = event_printer_init(&f->printer, t->events);
	if (rc < 0)
		return error_set(err, rc, "out of memory");
	slots_init(&f->stacks, sizeof(struct select_stack), STACKS_LIMIT);
	f->has_printer = true;
	opt->take = wanted;
	opt->take_arg = f;
	return 0;
}

void export_filter_done(struct export_filter *f)
{
	if (f->has_printer) {
		event_printer_done(&f->printer);
		slots_free(&f->stacks);
	}
	f->has_printer = false;
}

static void add_takers(struct reading *rd, struct feed *f)
{
	const struct export_reader *p = rd->pass;

	if (p->records)
		feed_in_batches(f);
	for (size_t i = 0; i < p->nr_tables; i++)
		feed_add(f, p->tables[i].table, p->tables[i].row,
			 p->tables[i].arg ? p->tables[i].arg : p->arg);
	if (p->rows_apart)
		feed_rows_apart(f);
	if (p->record)
		feed_watch(f, "*:*", take_record, rd);
	if (p->records)
		watch_batches(rd, f);
}

int export_reader_run(const struct export_job *job, const struct export_reader *p,
		      struct spur_error *err)
{
	struct reading rd = {.job = job, .pass = p};
	struct export_filter filter;
	struct walk_options opt;
	struct feed *f;
	int rc = export_filter_init(job, p->trace, &filter, &opt, err);

	if (rc < 0)
		return rc;
	opt.brief |= p->brief;
	opt.nameless |= p->nameless;
	f = feed_new(p->trace, &opt);
	add_takers(&rd, f);
	rc = feed_run_until(f, p->failed, err);
	if (rc == 0 && p->end)
		p->end(p->arg);
	feed_free(f);
	export_filter_done(&filter);
	return rc;
}
