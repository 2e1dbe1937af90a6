// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file itself: one row, from the analysis of its first buffer, which counts the events of all.
 * Nobody has to see them for that, or in order: the table wants none.
 */
#include <errno.h>
#include <stdlib.h>

#include "table/overview.h"
#include "scan/lane.h"

struct files {
	const struct table_source *src;
};

struct sums {
	uint64_t first, last;
	int64_t events, lost;
};

static void *files_begin(const struct table_source *src)
{
	struct files *a = calloc(1, sizeof(*a));

	if (a)
		a->src = src;
	return a;
}

static void files_record(void *analysis, struct event *e, const struct spur_record *r)
{
}

static void count_record(struct sums *sums, const struct spur_record *r)
{
	if (!sums->events++)
		sums->first = sums->last = r->ts;
	sums->first = r->ts < sums->first ? r->ts : sums->first;
	sums->last = r->ts > sums->last ? r->ts : sums->last;
	if (r->lost > 0 && __builtin_add_overflow(sums->lost, r->lost, &sums->lost))
		sums->lost = INT64_MAX;
}

static int count_cpu(const struct trace_buffer *b, const struct dat_cpu *cpu, struct sums *sums)
{
	struct lane l;
	int rc = lane_open(&l, b, cpu);

	/* What cannot be read has been noted as damage. */
	if (rc < 0)
		return rc == -EBADMSG ? 0 : rc;
	while (lane_next(&l))
		count_record(sums, &l.rec);
	lane_close(&l);
	return 0;
}

static int count_trace(const struct spur_trace *t, struct sums *sums)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct dat_buffer *b = t->buffers[i].data;

		for (uint32_t k = 0; rc == 0 && !b->text && k < b->nr_cpus; k++)
			if (b->cpus[k].size)
				rc = count_cpu(&t->buffers[i], &b->cpus[k], sums);
	}
	return rc;
}

static const char *text_or_null(const char *text)
{
	return text && *text ? text : NULL;
}

static void files_end(void *analysis, uint64_t ts)
{
	struct files *a = analysis;
	const struct dat *d = a->src->trace->dat;
	struct sums sums = {0};
	struct file_row row;

	if (a->src->buffer->index != 0)
		return;
	if (count_trace(a->src->trace, &sums) < 0) {
		*a->src->failed = -ENOMEM;
		return;
	}
	row = (struct file_row){.ts = sums.first,
				.dur = (int64_t)(sums.last - sums.first),
				.name = d->path,
				.host = text_or_null(d->uname),
				.version = d->version,
				.bytes = (int64_t)d->file_size,
				.cpus = d->nr_cpus,
				.events = sums.events,
				.lost = sums.lost,
				.clock = text_or_null(d->clock),
				.compression = text_or_null(d->compression)};
	a->src->row(a->src->arg, &row);
}

static const char *const no_events[] = {NULL};

static const struct column files_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct file_row, ts), "of the first event"},
	{"dur", COLUMN_DURATION, offsetof(struct file_row, dur), "until the last one"},
	{"name", COLUMN_TEXT, offsetof(struct file_row, name), "of the file"},
	{"host", COLUMN_TEXT, offsetof(struct file_row, host), "the machine, as uname shows it"},
	{"version", COLUMN_NUMBER, offsetof(struct file_row, version), "of the format"},
	{"bytes", COLUMN_NUMBER, offsetof(struct file_row, bytes), "of the file"},
	{"cpus", COLUMN_NUMBER, offsetof(struct file_row, cpus), "of the machine"},
	{"events", COLUMN_NUMBER, offsetof(struct file_row, events), "of all CPUs and buffers"},
	{"lost", COLUMN_NUMBER, offsetof(struct file_row, lost),
	 "events that are known to have been lost"},
	{"clock", COLUMN_TEXT, offsetof(struct file_row, clock), "that the times are of"},
	{"compression", COLUMN_TEXT, offsetof(struct file_row, compression), "of the file"},
};

const struct table files_table = {
	.name = "files",
	.about = "the trace file",
	.columns = files_columns,
	.nr_columns = sizeof(files_columns) / sizeof(files_columns[0]),
	.row_size = sizeof(struct file_row),
	.events = no_events,
	.begin = files_begin,
	.record = files_record,
	.end = files_end,
	.free = free,
};
