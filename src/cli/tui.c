// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur tui`: a picture of traces in a terminal. */
#include "cli/tui.h"

#define AT(field) offsetof(struct tui_command, field)

static const struct opt opts[] = {
	{'F', "filter", OPT_STRING, "FILTER", "list only these events, as in spur report",
	 AT(filter)},
	{0, "cpu", OPT_CPUS, "LIST", "only these CPUs, as in 0,2-4", AT(cpus)},
	{0, "since", OPT_STRING, "TIME",
	 "begin with this trace time: seconds, or with ns, us, ms, s", AT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", AT(until)},
	CLI_COLOUR_OPTION(AT(colour)),
	{0, "ascii", OPT_FLAG, NULL, "draw with ASCII characters only", AT(ascii)},
	{0, "cache", OPT_FILE, "DIR", "store indexes of files here (~/.cache/spur)", AT(cache)},
	{0, "no-cache", OPT_FLAG, NULL, "store no indexes", AT(no_cache)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
};

#ifndef HAVE_NCURSES

int tui_run(const struct tui_command *o, const char *const *paths, size_t nr)
{
	return cli_refused("this program was built without ncurses, which 'spur tui' needs");
}

#endif

static int run(void *options, int others, char **argv)
{
	static const char *const usual[] = {"trace.dat"};
	struct tui_command *o = options;

	if (o->threads && !cli_threads(&o->threads))
		return SPUR_USAGE;
	return tui_run(o, others ? (const char *const *)argv : usual, others ? (size_t)others : 1);
}

const struct command command_tui = {
	.name = "tui",
	.summary = "show traces in a terminal",
	.usage = "[OPTION...] [FILE...]",
	COMMAND_OPTS(opts, struct tui_command),
	.defaults = &(const struct tui_command){.colour = "auto"},
	.run = run,
};
