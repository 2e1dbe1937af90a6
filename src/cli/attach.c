// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur attach`: the trace of a guest and that of its host become one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/cli.h"
#include "scan/vcpus.h"

struct attach_options {
	int64_t cpus;
	vec_of(struct dat_time_sample) shifts;
	const char *name;
	bool progress;
};

#define AT(field) offsetof(struct attach_options, field)

/* One number of "OFFSET,SCALE,FRACTION,TIME"; what is empty or missing is `otherwise`. */
static bool take_number(const char **text, uint64_t otherwise, uint64_t *value)
{
	size_t len = strcspn(*text, ",");
	char number[32], *end = number;

	*value = otherwise;
	if (len >= sizeof(number))
		return false;
	memcpy(number, *text, len);
	number[len] = 0;
	*text += len + ((*text)[len] == ',');
	if (!len)
		return true;
	errno = 0;
	*value = *number == '-' ? (uint64_t)strtoll(number, &end, 0) : strtoull(number, &end, 0);
	return !errno && end != number && !*end && !strchr(" \t+", *number);
}

static int take_shift(void *options, const struct opt *opt, const char *arg)
{
	struct attach_options *o = options;
	struct dat_time_sample *s = vec_push(&o->shifts);
	const char *text = arg;
	uint64_t offset;

	if (!s)
		return opt_error(opt, "out of memory");
	if (!*arg || *arg == ',' || !take_number(&text, 0, &offset) ||
	    !take_number(&text, 1, &s->scaling) || !take_number(&text, 0, &s->fraction) ||
	    !take_number(&text, 0, &s->time) || *text || s->fraction > 63)
		return opt_error(opt, "'%s' is not OFFSET[,SCALE[,FRACTION[,TIME]]]", arg);
	s->offset = (int64_t)offset;
	return 0;
}

static const struct opt opts[] = {
	{'c', NULL, OPT_NUMBER, "N", "the number of the guest's CPUs", AT(cpus)},
	{'s', NULL, OPT_VEC, "SHIFT",
	 "OFFSET[,SCALE[,FRACTION[,TIME]]] turns guest times into host times; once per CPU, the "
	 "last one holds for the rest",
	 AT(shifts), take_shift},
	{0, "name", OPT_STRING, "NAME", "the name of the guest", AT(name)},
	{0, "progress", OPT_FLAG, NULL, "show progress on standard error", AT(progress)},
};

/* ---- tasks ---- */

struct tasks {
	vec_of(int32_t) pids;
	struct vcpus mapped;
};

static bool add_task(struct tasks *t, const char *word)
{
	const char *equals = strchr(word, '=');
	int64_t cpu = 0, pid;
	struct dat_vcpu vcpu;
	char number[32];

	if (equals && (size_t)(equals - word) >= sizeof(number))
		return false;
	if (equals) {
		memcpy(number, word, (size_t)(equals - word));
		number[equals - word] = 0;
		if (!parse_number(number, &cpu) || cpu < 0 || cpu > UINT16_MAX)
			return false;
	}
	if (!parse_number(equals ? equals + 1 : word, &pid) || pid <= 0 || pid > INT32_MAX)
		return false;
	vcpu = (struct dat_vcpu){(uint32_t)cpu, (int32_t)pid};
	return equals ? vec_add(&t->mapped, &vcpu) : vec_add(&t->pids, &vcpu.pid);
}

/* Whether a CPU was given two tasks, after a message. */
static bool has_twice(const struct vcpus *mapped)
{
	for (size_t i = 0; i < mapped->n; i++)
		for (size_t k = 0; k < i; k++)
			if (mapped->at[i].cpu == mapped->at[k].cpu) {
				cli_error("CPU %u is given twice: %d and %d", mapped->at[i].cpu,
					  mapped->at[k].pid, mapped->at[i].pid);
				return true;
			}
	return false;
}

/* Each argument is a pid, CPU=PID, or several of them with commas between. */
static bool take_tasks(struct tasks *t, int n, char **argv)
{
	for (int i = 0; i < n; i++) {
		char *rest = argv[i], *word;

		while ((word = strsep(&rest, ",")))
			if (*word && !add_task(t, word))
				return cli_complain("'%s' is neither a pid nor CPU=PID", word);
	}
	if (t->mapped.n && t->pids.n)
		return cli_complain("either pids or CPU=PID, not both");
	return !has_twice(&t->mapped);
}

static int attach(const struct attach_options *o, struct spur_trace *host, struct dat *guest,
		  struct tasks *tasks)
{
	struct progress progress;
	struct dat_attach a = {
		.host = host->dat,
		.guest = guest,
		.shifts = o->shifts.at,
		.nr_shifts = (uint32_t)o->shifts.n,
		.nr_cpus = (uint32_t)o->cpus,
		.name = o->name ? o->name : "",
		.job = progress_job(&progress, o->progress),
	};
	struct spur_error err = {0};
	int rc = 0;

	cli_catch_signals();
	if (!tasks->mapped.n)
		rc = vcpus_find(host, tasks->pids.at, tasks->pids.n, (size_t)o->cpus, &cli_stop,
				&tasks->mapped, &err);
	a.vcpus = tasks->mapped.at;
	a.nr_vcpus = (uint32_t)tasks->mapped.n;
	if (rc == 0)
		rc = dat_attach(&a, &err);
	progress_end(&progress);
	return cli_result(rc, "attaching", &err);
}

static int attach_files(const struct attach_options *o, char **argv, struct tasks *tasks)
{
	struct spur_error err = {0};
	struct spur_trace *host;
	struct dat *guest;
	int status;

	if (trace_open(argv[0], NULL, &host, &err) < 0)
		return cli_fail(&err);
	if (dat_open(argv[1], NULL, &guest, &err) < 0) {
		trace_close(host);
		return cli_fail(&err);
	}
	status = attach(o, host, guest, tasks);
	dat_close(guest);
	trace_close(host);
	return status;
}

static int run(void *options, int others, char **argv)
{
	const struct attach_options *o = options;
	struct tasks tasks = {0};
	int status = SPUR_USAGE;

	if (others < 2)
		return cli_wrong("attach needs the file of the host and that of the guest");
	if (!o->shifts.n)
		return cli_wrong("-s is missing: what to add to the guest's times (0 if nothing)");
	if (o->cpus < 0 || o->cpus > UINT16_MAX)
		return cli_wrong("-c: between 1 and %d", UINT16_MAX);
	if (take_tasks(&tasks, others - 2, argv + 2))
		status = attach_files(o, argv, &tasks);
	vec_free(&tasks.pids);
	vec_free(&tasks.mapped);
	return status;
}

const struct command command_attach = {
	.name = "attach",
	.summary = "put a guest's trace on the time line of its host's trace",
	.usage = "[options] -s SHIFT HOST GUEST [PID...]",
	COMMAND_OPTS(opts, struct attach_options),
	.run = run,
};
