/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a trace for an export: records in order of time, and rows of tables as they become
 * complete, as the job selects them.
 *
 * Private to src/export.
 */
#ifndef EXPORT_READER_H
#define EXPORT_READER_H

#include "table/analysis.h"
#include "table/table.h"
#include "export/export.h"

struct export_table {
	const struct table *table;
	/* Must copy what it needs later. */
	void (*row)(void *arg, const void *row);
	void *arg; /* NULL: the pass's */
};

struct export_reader {
	struct spur_trace *trace;
	const struct export_table *tables; /* tables that the trace cannot fill are ignored */
	size_t nr_tables;
	/* Every record of a type the trace describes, before rows that end with it; or NULL. */
	void (*record)(void *arg, struct event *e, const struct spur_record *r);
	/* Instead: several at a time, and rows as feed_in_batches() says; or NULL. */
	void (*records)(void *arg, const struct table_record *all, uint32_t n);
	/* Called at the end, before the memory that rows point to is freed; or NULL. */
	void (*end)(void *arg);
	void *arg;
	const int *failed; /* reading ends when this becomes negative, and returns it; or NULL */
	bool rows_apart;   /* as feed_rows_apart() says */
	bool brief;	   /* as walk_options.brief */
	bool nameless;	   /* as walk_options.nameless */
};

/*
 * The job's range, CPUs and filters, for an export that reads the trace in another way; what it
 * holds must stay until export_filter_done().
 */
struct export_filter {
	const struct export_job *job;
	const struct spur_trace *trace;
	struct event_printer printer; /* filters ask it for names of tasks */
	struct slots stacks;	      /* of each CPU of each buffer, see struct select_stack */
	bool has_printer;
};

int export_filter_init(const struct export_job *job, const struct spur_trace *t,
		       struct export_filter *f, struct walk_options *opt, struct spur_error *err);
void export_filter_done(struct export_filter *f);

/* 0, -EINTR after a stop, or another negative errno. */
int export_reader_run(const struct export_job *job, const struct export_reader *p,
		      struct spur_error *err);

#endif
