// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur snapshot` and `spur stack`: two small parts of ftrace with a file or two each. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/safe.h"
#include "cli/live.h"

#define PATH_CAP     512
#define STACK_SWITCH "/proc/sys/kernel/stack_tracer_enabled"
#define STACK_LIMIT  (1u << 20)

/* ---- snapshot ---- */

struct snapshot_options {
	bool take, reset, free;
	const char *cpu, *instance;
};

#define AT(field) offsetof(struct snapshot_options, field)

static const struct opt snapshot_opts[] = {
	{'s', NULL, OPT_FLAG, NULL, "take a snapshot", AT(take)},
	{'r', NULL, OPT_FLAG, NULL, "empty the snapshot", AT(reset)},
	{'f', NULL, OPT_FLAG, NULL, "give its memory back", AT(free)},
	{'c', NULL, OPT_STRING, "CPU", "only the snapshot of this CPU", AT(cpu)},
	{'B', NULL, OPT_STRING, "NAME", "the snapshot of this instance", AT(instance)},
};

static int write_snapshot(const struct tracefs *fs, const struct snapshot_options *o,
			  const char *file)
{
	/* In this order, because what is emptied can then be freed, or filled again. */
	const struct {
		bool wanted;
		const char *text;
	} steps[] = {{o->reset, "2"}, {o->free, "0"}, {o->take, "1"}};

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct spur_error err = {0};

		if (steps[i].wanted &&
		    tracefs_write(fs, o->instance, file, TRACEFS_REPLACE, steps[i].text, &err) < 0)
			return cli_fail(&err);
	}
	return SPUR_OK;
}

static int snapshot(const struct snapshot_options *o)
{
	char file[PATH_CAP] = "snapshot";
	struct tracefs fs;
	int64_t cpu;
	int status = live_open(&fs);

	if (status != SPUR_OK)
		return status;
	if (!live_has_instance(&fs, o->instance))
		return SPUR_ENVIRONMENT;
	if (!tracefs_has(&fs, o->instance, file)) {
		cli_error("this kernel has no snapshots (CONFIG_TRACER_SNAPSHOT)");
		return SPUR_ENVIRONMENT;
	}
	if (o->cpu) {
		if (!parse_number(o->cpu, &cpu) || cpu < 0) {
			cli_error("-c: '%s' is not a CPU", o->cpu);
			return SPUR_USAGE;
		}
		snprintf(file, sizeof(file), "per_cpu/cpu%lld/snapshot", (long long)cpu);
	}
	if (o->take || o->reset || o->free)
		return write_snapshot(&fs, o, file);
	cli_catch_signals();
	return live_copy(&fs, o->instance, file);
}

static int run_snapshot(int argc, char **argv)
{
	struct snapshot_options o = {0};
	int others = opts_parse(&command_snapshot, &o, argc, argv);

	if (others < 0)
		return others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	if (others > 0) {
		cli_error("snapshot takes no arguments; an instance is named with -B");
		return SPUR_USAGE;
	}
	if (o.take && o.free) {
		cli_error("-s or -f, not both");
		return SPUR_USAGE;
	}
	return snapshot(&o);
}

const struct command command_snapshot = {
	.name = "snapshot",
	.summary = "take, show, empty or free the kernel's snapshot",
	.usage = "[-s] [-r] [-f] [-c CPU] [-B NAME]",
	.opts = snapshot_opts,
	.nr_opts = ARRAY_SIZE(snapshot_opts),
	.run = run_snapshot,
};

/* ---- stack ---- */

struct stack_options {
	bool start, stop, reset;
};

static const struct opt stack_opts[] = {
	{0, "start", OPT_FLAG, NULL, "start looking for the deepest stack",
	 offsetof(struct stack_options, start)},
	{0, "stop", OPT_FLAG, NULL, "stop looking", offsetof(struct stack_options, stop)},
	{0, "reset", OPT_FLAG, NULL, "forget the deepest stack",
	 offsetof(struct stack_options, reset)},
	{0, "verbose", OPT_CALL, "[LEVEL]", "does nothing; accepted because trace-cmd has it",
	 .call = opt_ignore},
};

/* Everything but the comments, which tell how to switch it on by hand. */
static int show_stack(const struct tracefs *fs)
{
	struct spur_error err = {0};
	struct buf text, shown;
	int64_t on = 0;
	int rc = tracefs_read_number(fs, NULL, STACK_SWITCH, &on, &err);

	if (rc < 0)
		return cli_fail(&err);
	buf_init(&text, STACK_LIMIT);
	buf_init(&shown, 2 * STACK_LIMIT);
	buf_puts(&shown, on ? "(stack tracer running)\n" : "(stack tracer not running)\n");
	rc = tracefs_read(fs, NULL, "stack_trace", &text, &err);
	for (const char *at = text.data; rc == 0 && *at;) {
		size_t len = strcspn(at, "\n");

		len += at[len] == '\n';
		if (*at != '#')
			buf_put_safe(&shown, at, len);
		at += len;
	}
	if (rc == 0)
		rc = cli_write(shown.data, shown.len);
	buf_free(&text);
	buf_free(&shown);
	return cli_result(rc, "standard output", &err);
}

static int stack(const struct stack_options *o)
{
	struct spur_error err = {0};
	struct tracefs fs;
	int status = live_open(&fs), rc = 0;

	if (status != SPUR_OK)
		return status;
	if (!tracefs_has(&fs, NULL, STACK_SWITCH)) {
		cli_error("this kernel has no stack tracer (CONFIG_STACK_TRACER)");
		return SPUR_ENVIRONMENT;
	}
	if (o->reset)
		rc = tracefs_write(&fs, NULL, "stack_max_size", TRACEFS_REPLACE, "0", &err);
	if (rc == 0 && (o->start || o->stop))
		rc = tracefs_write(&fs, NULL, STACK_SWITCH, TRACEFS_REPLACE, o->start ? "1" : "0",
				   &err);
	if (rc < 0)
		return cli_fail(&err);
	return o->start || o->stop || o->reset ? SPUR_OK : show_stack(&fs);
}

static int run_stack(int argc, char **argv)
{
	struct stack_options o = {0};
	int others = opts_parse(&command_stack, &o, argc, argv);

	if (others < 0)
		return others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	if (others > 0) {
		cli_error("stack takes no arguments");
		return SPUR_USAGE;
	}
	if (o.start && o.stop) {
		cli_error("--start or --stop, not both");
		return SPUR_USAGE;
	}
	return stack(&o);
}

const struct command command_stack = {
	.name = "stack",
	.summary = "find the deepest kernel stack",
	.usage = "[--start | --stop | --reset]",
	.opts = stack_opts,
	.nr_opts = ARRAY_SIZE(stack_opts),
	.run = run_stack,
};
