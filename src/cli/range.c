// SPDX-License-Identifier: GPL-2.0-or-later
/* Which part of a trace a command is about: CPUs, tasks, times. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/range.h"
#include "measure/live.h"

/* Reads one number or range of a list and moves *p past it; false when there is none. */
static bool next_pids(const char **p, int64_t *first, int64_t *last)
{
	char *end;

	*first = *last = strtoll(*p, &end, 10);
	if (end == *p)
		return false;
	if (*end == '-') {
		const char *from = end + 1;

		*last = strtoll(from, &end, 10);
		if (end == from)
			return false;
	}
	if (*end && *end != ',')
		return false;
	*p = *end ? end + 1 : end;
	return *first <= *last;
}

static int check_pids(void *options, const struct opt *opt, const char *arg)
{
	int64_t first, last;

	for (const char *p = arg; *p || p == arg;)
		if (!next_pids(&p, &first, &last))
			return opt_error(opt, "'%s' is no list of pids", arg);
	return 0;
}

#define AT(field) offsetof(struct range_options, field)

const struct opt range_opts[RANGE_OPTS] = {
	{'i', NULL, OPT_FILE, "FILE", "the file (trace.dat)", AT(input)},
	{0, "cpu", OPT_CPUS, "LIST", "only these CPUs, as in 0,2-4", AT(cpus)},
	{0, "pid", OPT_LIST, "LIST", "only tasks of these numbers, as in 100,200-210", AT(pids),
	 check_pids},
	{0, "task", OPT_GLOBS, "NAME", "only tasks of this name; * and ? are wildcards", AT(comms)},
	{0, "since", OPT_STRING, "TIME", "from this trace time on: seconds, or with ns, us, ms, s",
	 AT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", AT(until)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
};

int range_walk_any(struct range_options *r, struct walk_options *w, struct spur_error *err)
{
	*w = (struct walk_options){.cpus = r->cpus.bits,
				   .nr_cpus = r->cpus.nr,
				   .stop = &cli_stop,
				   .threads = cli_scan_threads(r->threads),
				   .progress = isatty(STDERR_FILENO) ? progress_show : NULL,
				   .progress_arg = &r->progress};
	progress_begin(&r->progress);
	if (r->threads < 0 || r->threads > MAX_THREADS)
		return error_set(err, -EINVAL, "--threads: between 1 and %d", MAX_THREADS);
	return 0;
}

int range_times(const struct range_options *r, const struct spur_trace *t, struct walk_options *w,
		struct spur_error *err)
{
	const bool ticks = t && trace_counts_ticks(t);

	if (parse_range(r->since, r->until, ticks, &w->since, &w->until, err) < 0)
		return -EINVAL;
	if (w->until && w->until < w->since)
		return error_set(err, -EINVAL, "--until %s is before --since %s", r->until,
				 r->since);
	return 0;
}

int range_walk(struct range_options *r, const struct spur_trace *t, struct walk_options *w,
	       struct spur_error *err)
{
	const int rc = range_walk_any(r, w, err);

	return rc == 0 ? range_times(r, t, w, err) : rc;
}

bool range_is_part(const struct range_options *r)
{
	return r->since || r->until || r->cpus.bits || r->pids.n || r->comms.n;
}

static bool has_pid(const struct range_options *r, int64_t pid)
{
	for (size_t i = 0; i < r->pids.n; i++) {
		int64_t first, last;

		for (const char *p = r->pids.at[i]; *p && next_pids(&p, &first, &last);)
			if (pid >= first && pid <= last)
				return true;
	}
	return false;
}

bool range_task(const void *range, int64_t pid, const char *comm)
{
	const struct range_options *r = range;

	if (!r->pids.n && !r->comms.n)
		return true;
	return has_pid(r, pid) || (comm && globs_match(&r->comms, comm));
}

struct live_who range_who(const struct range_options *r)
{
	return (struct live_who){.pids = r->pids.at,
				 .nr_pids = r->pids.n,
				 .comms = r->comms.at,
				 .nr_comms = r->comms.n,
				 .cpus = r->cpus.bits,
				 .nr_cpus = r->cpus.nr};
}
