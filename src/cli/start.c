// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Driving the kernel without recording: `spur start` and `spur set` make settings that stay when
 * the program has ended; `spur stop`, `spur restart` and `spur clear` act on buffers.
 */
#include <signal.h>

#include "base/vec.h"
#include "cli/live.h"
#include "cli/tracing_opts.h"
#include "record/setup.h"
#include "tracefs/state.h"

/* ---- settings that stay ---- */

struct start_command {
	struct tracing_options tracing;
	struct start_options start;
	bool dry_run, quiet, to_stderr;
};

#define AT(field) offsetof(struct start_command, field)

static const struct opt start_opts[] = {
	{0, "dry-run", OPT_FLAG, NULL, "only show what would be written to which file",
	 AT(dry_run)},
	{0, "user", OPT_STRING, "USER", "run the command as this user", AT(start.user)},
	{0, "fork", OPT_FLAG, NULL, "do not wait for the command to end", AT(start.leave)},
	{'q', "quiet", OPT_FLAG, NULL, "no notes", AT(quiet)},
	{0, "stderr", OPT_FLAG, NULL, "does nothing; accepted because trace-cmd has it",
	 AT(to_stderr)},
	{0, "verbose", OPT_IGNORED, "[LEVEL]", "the same"},
};

static int check(struct start_command *o, int others, char **argv)
{
	int status = tracing_check(&o->tracing);

	if (status == SPUR_OK && !o->start.additional)
		status = tracing_anything(&o->tracing);
	if (status != SPUR_OK)
		return status;
	o->start.command = others ? argv : NULL;
	o->start.remove = &o->tracing.removed;
	o->start.note = o->quiet ? NULL : tracing_note;
	return tracing_command(&o->tracing, o->start.user, others, argv);
}

static int show(const struct tracefs *fs, const struct start_command *o)
{
	struct spur_error err = {0};
	scoped_buf text = buf_new(64u << 20);
	int rc = start_show(fs, &o->tracing.request, &o->start, &text, &err);

	if (rc == 0)
		rc = cli_write(text.data, text.len);
	return cli_result(rc, "--dry-run", &err);
}

static int run_start(void *options, int others, char **argv)
{
	struct start_command *o = options;
	struct spur_error err = {0};
	struct tracefs fs;
	int status = check(o, others, argv);

	if (status == SPUR_OK)
		status = live_open(&fs);
	if (status != SPUR_OK)
		return status;
	signal(SIGPIPE, SIG_IGN);
	if (o->dry_run)
		return show(&fs, o);
	return start_run(&fs, &o->tracing.request, &o->start, &err) < 0 ? cli_fail(&err) : SPUR_OK;
}

const struct command command_start = {
	.name = "start",
	.summary = "record into the kernel's buffers, without a file",
	.usage = "[OPTION...] [COMMAND [ARGUMENT...]]",
	COMMAND_OPTS(start_opts, struct start_command),
	.run = run_start,
	.release = tracing_free,
	COMMAND_SHARED(tracing_opts),
	.takes_command = true,
};

const struct command command_set = {
	.name = "set",
	.summary = "change settings of the tracer",
	.usage = "[OPTION...] [COMMAND [ARGUMENT...]]",
	COMMAND_OPTS(start_opts, struct start_command),
	.defaults = &(const struct start_command){.start = {.additional = true},
						  .tracing = {.removes = true}},
	.run = run_start,
	.release = tracing_free,
	COMMAND_SHARED(tracing_opts),
	.takes_command = true,
};

/* ---- one thing done to some buffers; the options are a struct picks ---- */

static const struct opt switch_opts[] = {
	LIVE_BUFFER_OPTIONS(0),
};

static const struct opt clear_opts[] = {
	{'B', NULL, OPT_VEC, "NAME", "this instance; may be given several times", 0,
	 live_take_buffer},
	{'a', "all", OPT_VEC, NULL, "all instances and the top buffer", 0, live_take_buffer},
	{'t', NULL, OPT_VEC, NULL, "the top buffer too, with -B", 0, live_take_buffer},
};

/* Writes to tracing_on or, without a text, empties the buffers. */
static int act_on(const struct picks *picks, const char *on)
{
	struct targets targets;
	struct tracefs fs;
	int status = live_targets(&fs, picks, &targets);

	if (status != SPUR_OK)
		return status;
	vec_each (t, &targets) {
		struct spur_error err = {0};
		int rc = on ? tracefs_write(&fs, t->instance, "tracing_on", TRACEFS_REPLACE, on,
					    &err)
			    : reset_trace(&fs, t->instance, &err);

		if (rc < 0)
			status = cli_fail(&err);
	}
	live_targets_free(&targets);
	return status;
}

static int run_stop(void *options, int others, char **argv)
{
	return act_on(options, "0");
}

static int run_restart(void *options, int others, char **argv)
{
	return act_on(options, "1");
}

/* Unlike elsewhere, -a means the top buffer as well. */
static int run_clear(void *options, int others, char **argv)
{
	struct picks *picks = options;
	bool all = false;

	vec_each (p, picks)
		all |= p->kind == PICK_ALL;
	if (all && !vec_add(picks, &(struct pick){.kind = PICK_TOP}))
		return cli_refused("out of memory");
	return act_on(picks, NULL);
}

const struct command command_stop = {
	.name = "stop",
	.summary = "stop recording into the kernel's buffers",
	.usage = "[-B NAME]... [-a] [-t]",
	COMMAND_OPTS(switch_opts, struct picks),
	.run = run_stop,
	.takes_nothing = LIVE_TAKES_NOTHING,
};

const struct command command_restart = {
	.name = "restart",
	.summary = "record into the kernel's buffers again",
	.usage = "[-B NAME]... [-a] [-t]",
	COMMAND_OPTS(switch_opts, struct picks),
	.run = run_restart,
	.takes_nothing = LIVE_TAKES_NOTHING,
};

const struct command command_clear = {
	.name = "clear",
	.summary = "empty the kernel's buffers",
	.usage = "[-B NAME]... [-a] [-t]",
	COMMAND_OPTS(clear_opts, struct picks),
	.run = run_clear,
	.takes_nothing = LIVE_TAKES_NOTHING,
};
