// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spur under the name trace-cmd: the commands that differ from spur's of the same name, and `hist`,
 * which shows chains of calls.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/onefile.h"
#include "stats/chains.h"

struct hist_options {
	const char *input;
	const char *buffer;
	bool all_tasks;
};

#define AT(field) offsetof(struct hist_options, field)

static const struct opt opts[] = {
	{'i', NULL, OPT_FILE, "FILE", "the file (trace.dat)", AT(input)},
	{'P', NULL, OPT_FLAG, NULL, "all tasks together", AT(all_tasks)},
	{'B', "buffer", OPT_STRING, "NAME", "only this buffer (instance), or \"top\"", AT(buffer)},
};

static int show_buffer(struct call_chains *c, const struct trace_buffer *b, struct spur_error *err)
{
	scoped_buf out = buf_new(ONEFILE_TEXT);
	int rc = call_chains_run(c, b, &cli_stop, err);

	if (rc == 0 && call_chains_seen(c)) {
		call_chains_print(c, &out);
		rc = cli_write(out.data, out.len);
	}
	if (rc == 0 && (call_chains_dropped(c) || buf_full(&out)))
		cli_error("the histogram is incomplete: it would take too much memory");
	return rc;
}

/* As trace-cmd: all buffers but the top one, and that one when there is no other. */
static int show_buffers(struct call_chains *c, const struct spur_trace *t, struct spur_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->nr_buffers && rc == 0; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		if (t->nr_buffers > 1 && b == onefile_top(t))
			continue;
		if (!onefile_has_records(b))
			return -EINVAL;
		rc = show_buffer(c, b, err);
	}
	return rc;
}

int cli_show_chains(struct spur_trace *t, const char *buffer, bool all_tasks)
{
	const struct call_chains_options opt = {.all_tasks = all_tasks};
	const struct trace_buffer *only = buffer ? onefile_buffer(t, buffer) : NULL;
	struct spur_error err = {0};
	struct call_chains *c;
	int rc;

	if (buffer && (!only || !onefile_has_records(only)))
		return SPUR_USAGE;
	c = call_chains_new(t, &opt, &err);
	if (!c)
		return cli_fail(&err);
	rc = only ? show_buffer(c, only, &err) : show_buffers(c, t, &err);
	/* For a damaged file, the message about the damage is enough. */
	if (rc == 0 && !call_chains_seen(c) && !t->dat->damage.code)
		cli_error("%s: there are no events in it", t->dat->path);
	call_chains_free(c);
	return rc == -EINVAL ? SPUR_USAGE : cli_result(rc, "following calls", &err);
}

static int run_hist(void *options, int others, char **argv)
{
	const struct hist_options *o = options;
	int status;
	struct spur_trace *t = onefile_open(&chains_command, o->input, others, argv, &status);

	return t ? onefile_close(t, cli_show_chains(t, o->buffer, o->all_tasks)) : status;
}

const struct command chains_command = {
	.name = "hist",
	.summary = "show chains of calls and how often they came",
	.usage = "[options] [FILE]",
	COMMAND_OPTS(opts, struct hist_options),
	.run = run_hist,
};

/* ---- the other commands ---- */

static int run_forced(const struct command *cmd, int argc, char **argv)
{
	char force[] = "--force";
	char **more = calloc((size_t)argc + 2, sizeof(*more));
	int status;

	if (!more)
		return cli_refused("out of memory");
	more[0] = argv[0];
	more[1] = force;
	for (int i = 1; i < argc; i++)
		more[i + 1] = argv[i];
	status = command_run(cmd, argc + 1, more);
	free(more);
	return status;
}

int cli_as_trace_cmd(int argc, char **argv)
{
	const struct command *cmd;

	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		cli_usage(stdout);
		return argc < 2 ? SPUR_USAGE : SPUR_OK;
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("\ntrace-cmd version 3.4.0 (spur %s)\n\n", SPUR_VERSION);
		return SPUR_OK;
	}
	/* trace-cmd replaces what has the name of its output. */
	if (strcmp(argv[1], "extract") == 0 || strcmp(argv[1], "split") == 0)
		return run_forced(cli_command(argv[1]), argc - 1, argv + 1);
	/* spur has a different command of this name. */
	if (strcmp(argv[1], "hist") == 0)
		return command_run(&chains_command, argc - 1, argv + 1);
	cmd = cli_command(argv[1]);
	if (!cmd)
		return cli_wrong("trace-cmd's command '%s' is not part of this version", argv[1]);
	return command_run(cmd, argc - 1, argv + 1);
}
