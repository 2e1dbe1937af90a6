// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON and CSV: a line for every record, those of several traces merged by time. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "export/export.h"
#include "report/report.h"

struct sources {
	struct emit_source *at;
	size_t n, cap;
};

/* With several files, a top buffer has the name of its file; other buffers have their own names. */
static int collect(const struct export_job *job, struct sources *s, struct spur_error *err)
{
	for (size_t i = 0; i < job->nr_traces; i++) {
		const struct spur_trace *t = job->traces[i];

		for (uint32_t k = 0; k < t->nr_buffers; k++) {
			const struct trace_buffer *b = &t->buffers[k];
			struct emit_source src = {.buffer = b, .label = b->data->name};

			if (!*src.label && job->nr_traces > 1)
				src.label = file_name_of(t->dat->path);
			if (!b->data->text && !vec_add(s, &src))
				return error_set(err, -ENOMEM, "out of memory");
		}
	}
	return 0;
}

static int take(void *arg, const char *data, size_t len)
{
	struct export_stream *out = arg;

	buf_put(&out->buf, data, len);
	export_stream_flush_full(out);
	return out->rc;
}

static int run(const struct export_job *job, const struct emit_ops *emit, struct spur_error *err)
{
	struct report rep = {
		.traces = job->traces,
		.nr_traces = job->nr_traces,
		.emit = emit,
		.select = job->select ? *job->select : (struct selection){0},
		.threads = 1,
		.stop = job->walk.stop,
		.write = take,
		.arg = job->out,
		.progress = job->walk.progress,
		.progress_arg = job->walk.progress_arg,
	};
	struct sources sources = {0};
	int rc = collect(job, &sources, err);

	rep.sources = sources.at;
	rep.nr_sources = sources.n;
	rep.options.labelled = sources.n > 1;
	rep.select.cpus = job->walk.cpus;
	rep.select.nr_cpus = job->walk.nr_cpus;
	rep.select.has_since = job->walk.since;
	rep.select.since = job->walk.since;
	rep.select.has_until = job->walk.until;
	rep.select.until = job->walk.until;
	if (rc == 0)
		rc = report_run(&rep, err);
	vec_free(&sources);
	return rc;
}

static int run_json(const struct export_job *job, struct spur_error *err)
{
	return run(job, &emit_json, err);
}

static int run_csv(const struct export_job *job, struct spur_error *err)
{
	return run(job, &emit_csv, err);
}

const struct export_format export_json = {
	.name = "json",
	.about = "a JSON object in a line for every event",
	.suffix = ".jsonl",
	.kind = EXPORT_STREAM,
	.run = run_json,
};

const struct export_format export_csv = {
	.name = "csv",
	.about = "comma-separated values, a line for every event",
	.suffix = ".csv",
	.kind = EXPORT_STREAM,
	.run = run_csv,
};
