// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur report --graph`: function calls as an indented tree. */
#include "cli/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stats/calltree.h"
#include "base/error.h"
#include "base/vec.h"
#include "cli/progress.h"

/* ---- options ---- */

int report_take_graph(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;

	o->graph = true;
	if (arg && strcmp(arg, "task") != 0 && strcmp(arg, "time") != 0)
		return opt_error(opt, "'%s' is no order: task or time", arg);
	o->graph_by_time = arg && strcmp(arg, "time") == 0;
	return 0;
}

int report_take_graph_min(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	uint64_t ns;

	if (!parse_time(arg, &ns) || ns > INT64_MAX)
		return opt_error(opt, "'%s' is not a time", arg);
	o->graph_min = (int64_t)ns;
	return 0;
}

int report_take_graph_depth(void *options, const struct opt *opt, const char *arg)
{
	struct report_options *o = options;
	int64_t n;

	if (!parse_number(arg, &n) || n < 1 || n > UINT32_MAX)
		return opt_error(opt, "'%s' is not a number of levels", arg);
	o->graph_depth = (uint32_t)n;
	return 0;
}

int report_take_graph_function(void *options, const struct opt *opt, const char *arg)
{
	return globs_add(&((struct report_options *)options)->graph_functions, opt, arg);
}

/* ---- tasks ---- */

/* Whether a word is one of those in lists with commas. */
static bool is_listed(const struct name_list *lists, const char *word, size_t len)
{
	for (size_t i = 0; i < lists->n; i++) {
		for (const char *p = lists->at[i]; *p;) {
			const size_t n = strcspn(p, ",");

			if (n == len && memcmp(p, word, len) == 0)
				return true;
			p += n + (p[n] == ',');
		}
	}
	return false;
}

static bool is_wanted(void *arg, int64_t pid, const char *comm)
{
	const struct report_options *o = arg;
	struct buf text;
	bool listed;

	if (!o->pids.n && !o->comms.n)
		return true;
	if (comm && is_listed(&o->comms, comm, strlen(comm)))
		return true;
	buf_init(&text, 32);
	buf_i64(&text, pid);
	listed = is_listed(&o->pids, text.data, text.len);
	buf_free(&text);
	return listed;
}

static int check_pids(const struct report_options *o, struct spur_error *err)
{
	for (size_t i = 0; i < o->pids.n; i++)
		if (strspn(o->pids.at[i], "0123456789,") != strlen(o->pids.at[i]))
			return error_set(err, -EINVAL, "--pid: '%s' is no list of numbers",
					 o->pids.at[i]);
	return 0;
}

/* ---- running ---- */

/* What strangers wrote has no control characters any more: it stays on its line. */
static int write_out(void *arg, const char *data, size_t len)
{
	return cli_write_coloured(data, len);
}

static int set_range(const struct report_options *o, struct walk_options *w, struct spur_error *err)
{
	if (o->since && !parse_time(o->since, &w->since))
		return error_set(err, -EINVAL, "--since: '%s' is not a time", o->since);
	if (o->until && !parse_time(o->until, &w->until))
		return error_set(err, -EINVAL, "--until: '%s' is not a time", o->until);
	/* Up to time 0 is not the same as to the end. */
	if (o->until && !w->until)
		w->until = 1;
	return 0;
}

/* Filters are about the events between calls: which tasks are shown is decided by is_wanted(). */
static int make_filters(const struct report_options *o, struct selection *sel,
			struct spur_error *err)
{
	struct report_options others = *o;

	others.pids.n = others.comms.n = 0;
	*sel = (struct selection){.no_irqs = o->no_irqs,
				  .no_softirqs = o->no_softirqs,
				  .stacks = SELECT_STACKS_FOLLOW};
	return report_make_filters(&others, sel, err);
}

static int say_what_is_missing(const struct report_options *o, const struct calltree_result *r)
{
	const struct dat *d = o->inputs.at[0].trace->dat;
	const bool asked = o->pids.n || o->comms.n || o->graph_functions.n || o->since ||
			   o->until || o->cpus.bits || o->no_irqs || o->no_softirqs;

	if (r->incomplete)
		cli_error("more calls were open at a time than can be kept: some are missing");
	if (r->any || d->damage.code)
		return SPUR_OK;
	if (asked && !o->quiet)
		cli_error("%s: none of its function calls is what was asked for", d->path);
	else if (!o->quiet)
		cli_error("%s: there are no function calls in it; 'spur record -p function_graph' "
			  "records them",
			  d->path);
	return SPUR_INCOMPLETE;
}

int report_graph(struct report_options *o)
{
	struct progress progress;
	struct selection sel = {0};
	struct calltree_options opt = {
		.walk = {.cpus = o->cpus.bits,
			 .nr_cpus = o->cpus.nr,
			 .stop = &cli_stop,
			 .progress = o->progress ? progress_show : NULL,
			 .progress_arg = &progress},
		.order = o->graph_by_time ? CALLTREE_BY_TIME : CALLTREE_BY_TASK,
		.wanted = is_wanted,
		.wanted_arg = o,
		.functions = o->graph_functions.at,
		.nr_functions = o->graph_functions.n,
		.min = o->graph_min,
		.depth = o->graph_depth,
		.events = &sel,
		.emit = &o->emit,
		.write = write_out,
	};
	struct calltree_result result = {0};
	struct spur_error err = {0};
	int rc = check_pids(o, &err);

	if (o->align_ts)
		report_align(o);
	if (rc == 0)
		rc = set_range(o, &opt.walk, &err);
	if (rc == 0)
		rc = make_filters(o, &sel, &err);
	if (rc == 0) {
		progress_begin(&progress);
		rc = calltree_run(o->inputs.at[0].trace, &opt, &result, &err);
		progress_end(&progress);
	}
	report_free_filters(&sel);
	return rc == 0 ? say_what_is_missing(o, &result)
		       : cli_result(rc, "writing the tree of calls", &err);
}
