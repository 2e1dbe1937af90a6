// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur export`: traces in the formats of other tools. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/report.h"
#include "export/export.h"
#include "import/sources.h"

#define DEFAULT_FILE "trace.dat"

struct export_options {
	struct report_options report; /* files, filters, CPUs, range of time: as in spur report */
	const char *to, *output;
	bool list, force;
	vec_of(struct report_filter) filters;
	vec_of(struct export_setting) settings;
	char *made_name; /* of the output, when none was given */
	struct progress progress;
};

static int take_input(void *options, const struct opt *opt, const char *arg)
{
	return report_add_input(&((struct export_options *)options)->report, arg);
}

static int take_filter(void *options, const struct opt *opt, const char *arg)
{
	struct export_options *o = options;
	const struct report_filter f = {arg, o->report.negate};

	return vec_add(&o->filters, &f) ? 0 : -ENOMEM;
}

/* Cuts the argument in two; nothing else uses it. */
static int take_setting(void *options, const struct opt *opt, const char *arg)
{
	struct export_options *o = options;
	char *equals = strchr(arg, '=');

	if (!equals || equals == arg)
		return opt_error(opt, "NAME=VALUE, not '%s'", arg);
	*equals = '\0';
	return vec_add(&o->settings, (&(struct export_setting){arg, equals + 1})) ? 0 : -ENOMEM;
}

#define AT(field)     offsetof(struct export_options, field)
#define REPORT(field) offsetof(struct export_options, report.field)

static const struct opt opts[] = {
	{'t', "to", OPT_STRING, "FORMAT", "the format, or the address of a server", AT(to),
	 .values = "json csv ctf folded speedscope pprof dot callgrind sqlite perfetto chrome "
		   "parquet clickhouse"},
	{'o', NULL, OPT_FILE, "OUT", "the file or folder to write, \"-\" is standard output",
	 AT(output)},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{'i', NULL, OPT_CALL, "FILE", "a file to export (trace.dat); may be repeated",
	 .call = take_input, .values = "FILE"},
	{'O', "set", OPT_VEC, "NAME=VALUE", "a setting of the format; see --list", AT(settings),
	 take_setting},
	{0, "list", OPT_FLAG, NULL, "list the formats and their settings", AT(list)},
	{'q', "quiet", OPT_FLAG, NULL, "no progress and no remarks", REPORT(quiet)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", REPORT(threads)},

	{.kind = OPT_GROUP, .help = "Which events"},
	{0, "since", OPT_STRING, "TIME", "from this trace time on: seconds, or with ns, us, ms, s",
	 REPORT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", REPORT(until)},
	{0, "cpu", OPT_CPUS, "LIST", "only these CPUs, as in 0,2-4", REPORT(cpus)},
	{0, "pid", OPT_LIST, "LIST", "only events of or about these tasks", REPORT(pids)},
	{0, "comm", OPT_LIST, "LIST", "only events of or about tasks of these names",
	 REPORT(comms)},
	{'F', NULL, OPT_VEC, "FILTER", "only events that pass the filter, as in spur report",
	 AT(filters), take_filter},
	{'v', NULL, OPT_FLAG, NULL, "the filters after it say what to leave out", REPORT(negate)},
	{'I', NULL, OPT_FLAG, NULL, "leave out events in hard interrupts", REPORT(no_irqs)},
	{'S', NULL, OPT_FLAG, NULL, "leave out events in soft interrupts", REPORT(no_softirqs)},
};

static void list_formats(void)
{
	for (size_t i = 0; export_formats[i]; i++) {
		const struct export_format *f = export_formats[i];

		printf("%-12s %s\n", f->name, f->about);
		for (const struct export_setting_info *s = f->settings; s && s->name; s++)
			printf("  %s=…%*s%s\n", s->name, (int)(12 - strlen(s->name)), "", s->about);
	}
}

static void note(void *arg, const char *text)
{
	if (!((const struct export_options *)arg)->report.quiet)
		cli_error("%s", text);
}

/* Filters are about all files. */
static int share_filters(struct export_options *o)
{
	vec_each (in, &o->report.inputs) {
		vec_each (f, &o->filters)
			if (!vec_add(&in->filters, f))
				return -ENOMEM;
	}
	return 0;
}

/* The output replaces the old file when it is complete, and a recording would be lost. */
static int spare_inputs(const struct export_options *o, const char *target, struct spur_error *err)
{
	vec_each (in, &o->report.inputs) {
		if (strcmp(target, "-") == 0)
			continue;
		if (file_is_same(in->path, target))
			return error_set(err, -EINVAL,
					 "%s is the input: name another output with -o", target);
		if (file_is_inside(target, in->path))
			return error_set(err, -EINVAL,
					 "%s is in the input: name another output with -o", target);
	}
	return 0;
}

static int choose_target(struct export_options *o, const struct export_format *f,
			 struct export_job *job, struct spur_error *err)
{
	if (f->kind == EXPORT_SERVER && o->output)
		return error_set(err, -EINVAL, "-o: %s is a server", o->to);
	job->target = f->kind == EXPORT_SERVER ? o->to : o->output;
	if (job->target)
		return 0;
	if (f->kind == EXPORT_STREAM && !isatty(STDOUT_FILENO)) {
		job->target = "-";
		return 0;
	}
	o->made_name = file_other_ending(o->report.inputs.at[0].path, f->suffix);
	job->target = o->made_name;
	return job->target ? 0 : error_set(err, -ENOMEM, "out of memory");
}

static int prepare(struct export_options *o, struct export_job *job, struct selection *sel,
		   struct spur_error *err)
{
	const struct report_options *r = &o->report;
	int rc;

	if (r->threads < 0 || r->threads > MAX_THREADS)
		return error_set(err, -EINVAL, "--threads: between 1 and %d", MAX_THREADS);
	if (report_walk(r, &job->walk, err) < 0)
		return -EINVAL;
	job->walk.threads = cli_scan_threads(r->threads);
	if (!r->quiet && isatty(STDERR_FILENO)) {
		job->walk.progress = progress_show;
		job->walk.progress_arg = &o->progress;
	}
	progress_begin(&o->progress);
	rc = share_filters(o) < 0 ? error_set(err, -ENOMEM, "out of memory")
				  : report_make_filters(&o->report, sel, err);
	/* As spur report does: a stack belongs to its event. */
	sel->stacks = SELECT_STACKS_FOLLOW;
	sel->no_irqs = r->no_irqs;
	sel->no_softirqs = r->no_softirqs;
	job->select = sel;
	job->settings = o->settings.at;
	job->nr_settings = o->settings.n;
	job->note = note;
	job->note_arg = o;
	return rc;
}

static int run_job(struct export_options *o, const struct export_format *f)
{
	struct spur_trace **traces = calloc(o->report.inputs.n + 1, sizeof(*traces));
	struct export_job job = {.traces = traces, .nr_traces = o->report.inputs.n};
	struct selection sel = {0};
	struct spur_error err = {0};
	int rc = traces ? 0 : error_set(&err, -ENOMEM, "out of memory");

	for (size_t i = 0; rc == 0 && i < job.nr_traces; i++)
		traces[i] = o->report.inputs.at[i].trace;
	if (rc == 0)
		rc = prepare(o, &job, &sel, &err);
	if (rc == 0)
		rc = choose_target(o, f, &job, &err);
	if (rc == 0)
		rc = spare_inputs(o, job.target, &err);
	if (rc == 0 && o->made_name && !o->force)
		rc = source_spare(o->made_name, SOURCE_FORCE, &err);
	if (rc == 0) {
		cli_catch_signals();
		rc = export_run(f, &job, &err);
		progress_end(&o->progress);
	}
	if (rc == 0 && o->made_name)
		note(o, o->made_name);
	report_free_filters(&sel);
	free(traces);
	return cli_result(rc, "exporting", &err);
}

static int check_damage(const struct export_options *o)
{
	vec_each (in, &o->report.inputs)
		if (in->trace && in->trace->dat->damage.code)
			return cli_damage(in->trace->dat);
	return SPUR_OK;
}

/* Whether there is something to do without a trace. */
static bool works_alone(const struct export_options *o, const struct export_format *f)
{
	vec_each (s, &o->settings)
		if (f->alone && strcmp(s->name, f->alone) == 0)
			return true;
	return false;
}

static int run(void *options, int others, char **argv)
{
	struct export_options *o = options;
	struct spur_error err = {0};
	const struct export_format *f;
	int status;

	if (o->list) {
		list_formats();
		return SPUR_OK;
	}
	if (!o->to)
		return cli_wrong("which format? --to FORMAT; --list names them");
	f = export_find(o->to, &err);
	if (!f)
		return cli_fail(&err);
	for (int i = 0; i < others; i++)
		if (report_add_input(&o->report, argv[i]) < 0)
			return SPUR_ENVIRONMENT;
	if (!o->report.inputs.n && !works_alone(o, f) &&
	    report_add_input(&o->report, DEFAULT_FILE) < 0)
		return SPUR_ENVIRONMENT;
	status = report_open_inputs(&o->report);
	if (status == SPUR_OK)
		status = run_job(o, f);
	return status == SPUR_OK ? check_damage(o) : status;
}

static void release(void *options)
{
	struct export_options *o = options;

	report_free(&o->report);
	free(o->made_name);
}

const struct command command_export = {
	.name = "export",
	.summary = "write traces in the formats of other tools",
	.usage = "--to FORMAT [-o OUT] [OPTION...] [FILE...]",
	COMMAND_OPTS(opts, struct export_options),
	.defaults = &(const struct export_options){.report.emit.compat = COMPAT_34},
	.run = run,
	.release = release,
};
