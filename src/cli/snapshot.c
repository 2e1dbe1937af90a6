// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur snapshot` and `spur stack`: two small parts of ftrace with a file or two each. */
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

static int run_snapshot(void *options, int others, char **argv)
{
	const struct snapshot_options *o = options;
	char file[PATH_CAP] = "snapshot";
	struct tracefs fs;
	int64_t cpu;
	int status;

	if (o->take && o->free)
		return cli_wrong("-s or -f, not both");
	status = live_open(&fs);
	if (status != SPUR_OK)
		return status;
	if (!live_has_instance(&fs, o->instance))
		return SPUR_ENVIRONMENT;
	if (!tracefs_has(&fs, o->instance, file))
		return cli_refused("this kernel has no snapshots (CONFIG_TRACER_SNAPSHOT)");
	if (o->cpu) {
		if (!parse_number(o->cpu, &cpu) || cpu < 0)
			return cli_wrong("-c: '%s' is not a CPU", o->cpu);
		snprintf(file, sizeof(file), "per_cpu/cpu%lld/snapshot", (long long)cpu);
	}
	if (o->take || o->reset || o->free)
		return write_snapshot(&fs, o, file);
	cli_catch_signals();
	return live_copy(&fs, o->instance, file);
}

const struct command command_snapshot = {
	.name = "snapshot",
	.summary = "take, show, empty or free the kernel's snapshot",
	.usage = "[-s] [-r] [-f] [-c CPU] [-B NAME]",
	COMMAND_OPTS(snapshot_opts, struct snapshot_options),
	.run = run_snapshot,
	.takes_nothing = LIVE_TAKES_NOTHING,
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
	{0, "verbose", OPT_IGNORED, "[LEVEL]", "does nothing; accepted because trace-cmd has it"},
};

/* Everything but the comments, which tell how to switch it on by hand. */
static int show_stack(const struct tracefs *fs)
{
	struct spur_error err = {0};
	scoped_buf shown = buf_new(2 * STACK_LIMIT);
	scoped_buf text = buf_new(STACK_LIMIT);
	int64_t on = 0;
	int rc = tracefs_read_number(fs, NULL, STACK_SWITCH, &on, &err);

	if (rc < 0)
		return cli_fail(&err);
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
	return cli_result(rc, "standard output", &err);
}

static int run_stack(void *options, int others, char **argv)
{
	const struct stack_options *o = options;
	struct spur_error err = {0};
	struct tracefs fs;
	int status, rc = 0;

	if (o->start && o->stop)
		return cli_wrong("--start or --stop, not both");
	status = live_open(&fs);
	if (status != SPUR_OK)
		return status;
	if (!tracefs_has(&fs, NULL, STACK_SWITCH))
		return cli_refused("this kernel has no stack tracer (CONFIG_STACK_TRACER)");
	if (o->reset)
		rc = tracefs_write(&fs, NULL, "stack_max_size", TRACEFS_REPLACE, "0", &err);
	if (rc == 0 && (o->start || o->stop))
		rc = tracefs_write(&fs, NULL, STACK_SWITCH, TRACEFS_REPLACE, o->start ? "1" : "0",
				   &err);
	if (rc < 0)
		return cli_fail(&err);
	return o->start || o->stop || o->reset ? SPUR_OK : show_stack(&fs);
}

const struct command command_stack = {
	.name = "stack",
	.summary = "find the deepest kernel stack",
	.usage = "[--start | --stop | --reset]",
	COMMAND_OPTS(stack_opts, struct stack_options),
	.run = run_stack,
	.takes_nothing = "",
};
