// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of a fleet's traces: a row for each file, its columns those of the exported one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "query/fleet/private.h"
#include "scan/summary.h"

struct fact {
	const struct fleet_file *file;
	struct spur_trace *trace;
	const struct summary *sum; /* of columns that count */
	struct row_out *out;
};

static void text(const struct fact *f, const char *value)
{
	if (value && *value)
		row_put_text(f->out, value, strlen(value));
	else
		row_put_null(f->out);
}

static void number(const struct fact *f, uint64_t value)
{
	row_put_number(f->out, (int64_t)value);
}

static bool empty(const struct fact *f)
{
	return f->file->about->first > f->file->about->last;
}

static void put_ts(const struct fact *f)
{
	number(f, empty(f) ? f->file->about->id.first : f->file->about->first);
}

static void put_last(const struct fact *f)
{
	if (empty(f))
		row_put_null(f->out);
	else
		number(f, f->file->about->last);
}

static void put_kernel(const struct fact *f)
{
	text(f, f->file->about->id.kernel);
}

static void put_uname(const struct fact *f)
{
	text(f, f->trace->dat->uname);
}

static void put_clock(const struct fact *f)
{
	text(f, f->file->about->clock);
}

static void put_wall(const struct fact *f)
{
	number(f, f->file->about->id.has_wall);
}

static void put_events(const struct fact *f)
{
	number(f, f->sum->events);
}

static void put_lost(const struct fact *f)
{
	number(f, f->sum->lost);
}

static void put_gaps(const struct fact *f)
{
	number(f, f->sum->gaps);
}

static void put_cpus(const struct fact *f)
{
	number(f, f->trace->dat->nr_cpus);
}

static void put_buffers(const struct fact *f)
{
	number(f, f->trace->nr_buffers);
}

static void put_damage(const struct fact *f)
{
	text(f, f->trace->dat->damage.code ? f->trace->dat->damage.text : NULL);
}

static void put_file(const struct fact *f)
{
	const char *slash = strrchr(f->file->path, '/');

	text(f, slash ? slash + 1 : f->file->path);
}

static void put_path(const struct fact *f)
{
	text(f, f->file->path);
}

static void put_bytes(const struct fact *f)
{
	number(f, f->trace->dat->file_size);
}

static void put_version(const struct fact *f)
{
	number(f, f->trace->dat->version);
}

static void put_compression(const struct fact *f)
{
	text(f, f->trace->dat->compression);
}

static void put_recorder(const struct fact *f)
{
	text(f, f->trace->dat->trace_version);
}

static const struct {
	const char *name, *type, *about;
	void (*put)(const struct fact *f);
	bool counts;
} facts[] = {
	{"ts", "INTEGER", "time of the first record", put_ts},
	{"last", "INTEGER", "time of the last record", put_last},
	{"kernel", "TEXT", "its release", put_kernel},
	{"uname", "TEXT", "the machine", put_uname},
	{"clock", "TEXT", "of the top buffer", put_clock},
	{"wall", "INTEGER", "1: times are nanoseconds since 1970", put_wall},
	{"events", "INTEGER", "records, for which all of the file is read", put_events, true},
	{"lost", "INTEGER", "records that are known to be lost", put_lost, true},
	{"gaps", "INTEGER", "places where an unknown number is", put_gaps, true},
	{"cpus", "INTEGER", "of the machine", put_cpus},
	{"buffers", "INTEGER", "of the trace", put_buffers},
	{"damage", "TEXT", "what is wrong with the file", put_damage},
	{"file", "TEXT", "its name", put_file},
	{"path", "TEXT", "where it lies", put_path},
	{"bytes", "INTEGER", "its size", put_bytes},
	{"file_version", "INTEGER", "of trace.dat", put_version},
	{"compression", "TEXT", "none, zlib or zstd", put_compression},
	{"recorder", "TEXT", "the program that wrote it", put_recorder},
};

#define NR_FACTS (sizeof(facts) / sizeof(facts[0]))

int fleet_trace_columns(struct fleet_columns *c)
{
	for (size_t i = 0; i < NR_FACTS; i++) {
		struct fleet_cell *cell = vec_push(c);

		if (!cell)
			return -ENOMEM;
		*cell = (struct fleet_cell){.name = strdup(facts[i].name),
					    .type = facts[i].type,
					    .about = strdup(facts[i].about)};
		if (!cell->name || !cell->about)
			return -ENOMEM;
	}
	return 0;
}

int fleet_trace_row(const struct fleet_file *file, struct spur_trace *t,
		    const struct fleet_question *q, const volatile int *stop, struct row_out *r)
{
	struct summary sum = {0};
	const struct fact f = {file, t, &sum, r};
	bool counts = false;
	int rc = 0;

	for (size_t i = 0; i < q->nr; i++)
		counts |= q->columns[i] >= NR_FLEET_COLUMNS &&
			  facts[q->columns[i] - NR_FLEET_COLUMNS].counts;
	if (counts)
		rc = summary_make(t, 1, stop, &sum);
	for (size_t i = 0; rc == 0 && i < q->nr; i++) {
		if (q->columns[i] < NR_FLEET_COLUMNS)
			text(&f, file_value(file, (enum fleet_column)q->columns[i]));
		else
			facts[q->columns[i] - NR_FLEET_COLUMNS].put(&f);
	}
	summary_free(&sum);
	return rc;
}
