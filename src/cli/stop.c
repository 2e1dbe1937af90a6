// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur stop`, `spur restart`, `spur clear`: one thing done to some buffers. */
#include <errno.h>

#include "base/array.h"
#include "base/vec.h"
#include "cli/live.h"
#include "tracefs/state.h"

struct drive_options {
	struct picks picks;
};

struct action {
	const struct command *command;
	int (*act)(const struct tracefs *fs, const char *instance, struct spur_error *err);
	bool all_has_top; /* -a means the top buffer as well */
};

#define PICKS offsetof(struct drive_options, picks)

static const struct opt switch_opts[] = {
	{'B', NULL, OPT_CALL, "NAME", "this instance; may be given several times", PICKS,
	 live_take_buffer},
	{'a', NULL, OPT_CALL, NULL, "all instances, but not the top buffer", PICKS, live_take_all},
	{'t', NULL, OPT_CALL, NULL, "the top buffer too, with -B or -a", PICKS, live_take_top},
};

static const struct opt clear_opts[] = {
	{'B', NULL, OPT_CALL, "NAME", "this instance; may be given several times", PICKS,
	 live_take_buffer},
	{'a', "all", OPT_CALL, NULL, "all instances and the top buffer", PICKS, live_take_all},
	{'t', NULL, OPT_CALL, NULL, "the top buffer too, with -B", PICKS, live_take_top},
};

static int act_on(const struct action *action, const struct tracefs *fs, struct picks *picks)
{
	struct targets targets;
	int status;
	bool all = false;

	vec_each (p, picks)
		all |= p->kind == PICK_ALL;
	if (all && action->all_has_top) {
		struct pick *top = vec_push(picks);

		if (!top) {
			cli_error("out of memory");
			return SPUR_ENVIRONMENT;
		}
		top->kind = PICK_TOP;
	}
	status = live_targets(fs, picks, &targets);
	if (status != SPUR_OK)
		return status;
	vec_each (t, &targets) {
		struct spur_error err = {0};

		if (action->act(fs, t->instance, &err) < 0)
			status = cli_fail(&err);
	}
	live_targets_free(&targets);
	return status;
}

static int drive(const struct action *action, int argc, char **argv)
{
	struct drive_options o = {0};
	int others = opts_parse(action->command, &o, argc, argv), status = SPUR_USAGE;
	struct tracefs fs;

	if (others == -ECANCELED) {
		status = SPUR_OK;
	} else if (others > 0) {
		cli_error("%s takes no arguments; an instance is named with -B",
			  action->command->name);
	} else if (others == 0) {
		status = live_open(&fs);
		if (status == SPUR_OK)
			status = act_on(action, &fs, &o.picks);
	}
	vec_free(&o.picks);
	return status;
}

static int stop(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	return tracefs_write(fs, instance, "tracing_on", TRACEFS_REPLACE, "0", err);
}

static int restart(const struct tracefs *fs, const char *instance, struct spur_error *err)
{
	return tracefs_write(fs, instance, "tracing_on", TRACEFS_REPLACE, "1", err);
}

static int run_stop(int argc, char **argv)
{
	return drive(&(struct action){&command_stop, stop}, argc, argv);
}

static int run_restart(int argc, char **argv)
{
	return drive(&(struct action){&command_restart, restart}, argc, argv);
}

static int run_clear(int argc, char **argv)
{
	return drive(&(struct action){&command_clear, reset_trace, true}, argc, argv);
}

const struct command command_stop = {
	.name = "stop",
	.summary = "stop recording into the kernel's buffers",
	.usage = "[-B NAME]... [-a] [-t]",
	.opts = switch_opts,
	.nr_opts = ARRAY_SIZE(switch_opts),
	.run = run_stop,
};

const struct command command_restart = {
	.name = "restart",
	.summary = "record into the kernel's buffers again",
	.usage = "[-B NAME]... [-a] [-t]",
	.opts = switch_opts,
	.nr_opts = ARRAY_SIZE(switch_opts),
	.run = run_restart,
};

const struct command command_clear = {
	.name = "clear",
	.summary = "empty the kernel's buffers",
	.usage = "[-B NAME]... [-a] [-t]",
	.opts = clear_opts,
	.nr_opts = ARRAY_SIZE(clear_opts),
	.run = run_clear,
};
