// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur tui`: a picture of traces in a terminal. */
#include <errno.h>

#include "base/array.h"
#include "cli/tui.h"

#define AT(field) offsetof(struct tui_command, field)

static int take_cpus(void *options, const struct opt *opt, const char *arg)
{
	return cpu_list_add(&((struct tui_command *)options)->cpus, opt, arg);
}

static const struct opt opts[] = {
	{'F', "filter", OPT_STRING, "FILTER", "list only these events, as in spur report",
	 AT(filter)},
	{0, "cpu", OPT_CALL, "LIST", "only these CPUs, as in 0,2-4", .call = take_cpus},
	{0, "since", OPT_STRING, "TIME",
	 "begin with this trace time: seconds, or with ns, us, ms, s", AT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", AT(until)},
	{0, "color", OPT_STRING, "WHEN", "auto, always or never", AT(colour),
	 .values = "auto always never"},
	{0, "ascii", OPT_FLAG, NULL, "draw with ASCII characters only", AT(ascii)},
	{0, "cache", OPT_STRING, "DIR", "store indexes of files here (~/.cache/spur)", AT(cache),
	 .values = "FILE"},
	{0, "no-cache", OPT_FLAG, NULL, "store no indexes", AT(no_cache)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
};

#ifndef HAVE_NCURSES

int tui_run(const struct tui_command *o, const char *const *paths, size_t nr)
{
	cli_error("this program was built without ncurses, which 'spur tui' needs");
	return SPUR_ENVIRONMENT;
}

#endif

static int run(int argc, char **argv)
{
	static const char *const usual[] = {"trace.dat"};
	struct tui_command o = {.colour = "auto"};
	int others = opts_parse(&command_tui, &o, argc, argv);
	int status;

	if (others < 0)
		status = others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	else if (o.threads && !cli_threads(&o.threads))
		status = SPUR_USAGE;
	else
		status = tui_run(&o, others ? (const char *const *)argv : usual,
				 others ? (size_t)others : 1);
	cpu_list_free(&o.cpus);
	return status;
}

const struct command command_tui = {
	.name = "tui",
	.summary = "show traces in a terminal",
	.usage = "[OPTION...] [FILE...]",
	.opts = opts,
	.nr_opts = ARRAY_SIZE(opts),
	.run = run,
};
