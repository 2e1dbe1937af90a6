// SPDX-License-Identifier: GPL-2.0-or-later
/* Which part of a trace a command is about: CPUs, tasks, times. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/range.h"

#define MAX_CPU 65535

void cpu_list_free(struct cpu_list *list)
{
	free(list->bits);
	*list = (struct cpu_list){0};
}

static bool set_cpu(struct cpu_list *list, unsigned long cpu)
{
	if (cpu >= list->nr) {
		uint32_t nr = (uint32_t)(cpu / 64 + 1) * 64;
		uint64_t *bits = realloc(list->bits, nr / 8);

		if (!bits)
			return false;
		memset((char *)bits + list->nr / 8, 0, (nr - list->nr) / 8);
		list->bits = bits;
		list->nr = nr;
	}
	list->bits[cpu / 64] |= 1ull << (cpu % 64);
	return true;
}

int cpu_list_add(struct cpu_list *list, const struct opt *opt, const char *arg)
{
	const char *p = arg;

	do {
		unsigned long first, last;
		char *end;

		while (isspace((unsigned char)*p))
			p++;
		if (!isdigit((unsigned char)*p))
			return opt_error(opt, "'%s' is no list of CPUs", arg);
		first = last = strtoul(p, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return opt_error(opt, "'%s' is no list of CPUs", arg);
			last = strtoul(end + 1, &end, 10);
		}
		if (first > last || last > MAX_CPU)
			return opt_error(opt, "'%s' is no list of CPUs", arg);
		for (; first <= last; first++)
			if (!set_cpu(list, first))
				return -ENOMEM;
		if (*end == ',' || *end == ':')
			end++;
		p = end;
	} while (*p);
	return 0;
}

int globs_add(struct globs *g, const struct opt *opt, const char *arg)
{
	struct pattern *slot = vec_push(g);
	struct spur_error err = {0};

	if (!slot)
		return -ENOMEM;
	if (pattern_glob(slot, arg, strlen(arg), &err) < 0)
		return opt_error(opt, "%s", err.text);
	return 0;
}

void globs_free(struct globs *g)
{
	vec_each (p, g)
		pattern_free(p);
	vec_free(g);
}

bool globs_match(const struct globs *g, const char *name)
{
	vec_each (p, g)
		if (pattern_match(p, name, strlen(name)))
			return true;
	return false;
}

static int take_cpus(void *options, const struct opt *opt, const char *arg)
{
	return cpu_list_add(&((struct range_options *)options)->cpus, opt, arg);
}

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

static int take_pids(void *options, const struct opt *opt, const char *arg)
{
	struct range_options *r = options;
	int64_t first, last;

	for (const char *p = arg; *p || p == arg;)
		if (!next_pids(&p, &first, &last))
			return opt_error(opt, "'%s' is no list of pids", arg);
	return string_refs_add(&r->pids, arg) ? 0 : -ENOMEM;
}

static int take_comm(void *options, const struct opt *opt, const char *arg)
{
	return globs_add(&((struct range_options *)options)->comms, opt, arg);
}

#define AT(field) offsetof(struct range_options, field)

const struct opt range_opts[RANGE_OPTS] = {
	{'i', NULL, OPT_STRING, "FILE", "the file (trace.dat)", AT(input), .values = "FILE"},
	{0, "cpu", OPT_CALL, "LIST", "only these CPUs, as in 0,2-4", .call = take_cpus},
	{0, "pid", OPT_CALL, "LIST", "only tasks of these numbers, as in 100,200-210",
	 .call = take_pids},
	{0, "task", OPT_CALL, "NAME", "only tasks of this name; * and ? are wildcards",
	 .call = take_comm},
	{0, "since", OPT_STRING, "TIME", "from this trace time on: seconds, or with ns, us, ms, s",
	 AT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", AT(until)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
};

void range_free(struct range_options *r)
{
	cpu_list_free(&r->cpus);
	vec_free(&r->pids);
	globs_free(&r->comms);
}

int range_walk(struct range_options *r, struct walk_options *w, struct spur_error *err)
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
	if (r->since && !parse_time(r->since, &w->since))
		return error_set(err, -EINVAL, "--since: '%s' is not a time", r->since);
	if (r->until && !parse_time(r->until, &w->until))
		return error_set(err, -EINVAL, "--until: '%s' is not a time", r->until);
	if (w->until && w->until < w->since)
		return error_set(err, -EINVAL, "--until %s is before --since %s", r->until,
				 r->since);
	return 0;
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

bool range_task(const struct range_options *r, int64_t pid, const char *comm)
{
	if (!r->pids.n && !r->comms.n)
		return true;
	return has_pid(r, pid) || (comm && globs_match(&r->comms, comm));
}
