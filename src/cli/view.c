// SPDX-License-Identifier: GPL-2.0-or-later
/* `spur view`: a picture of traces in a browser, or in a file. */
#include <errno.h>

#include "base/array.h"
#include "cli/view.h"

#define AT(field)  offsetof(struct view_options, field)
#define NOT_GIVEN  INT64_MIN
#define NOT_SERVED "does not go with --svg, --png or --html: nothing is served"

static const struct opt opts[] = {
	{0, "port", OPT_NUMBER, "N", "serve on this port, 0 for a free one", AT(port)},
	{0, "bind", OPT_STRING, "ADDRESS", "serve on this address (127.0.0.1)", AT(bind)},
	{0, "no-open", OPT_FLAG, NULL, "do not open a browser", AT(no_open)},
	{0, "record", OPT_FLAG, NULL, "the page can record this machine; needs root", AT(record)},
	{0, "no-record", OPT_CLEAR, NULL, "the page cannot record (the default)", AT(record)},
	{0, "cache", OPT_STRING, "DIR", "store indexes of files here (~/.cache/spur)", AT(cache),
	 .values = "FILE"},
	{0, "no-cache", OPT_FLAG, NULL, "store no indexes", AT(no_cache)},
	{0, "threads", OPT_NUMBER, "N", "number of threads (one per CPU)", AT(threads)},
	{0, "web", OPT_STRING, "DIR", "serve the page from this folder, for working on it", AT(web),
	 .values = "FILE"},
	{.kind = OPT_GROUP, .help = "Pictures, without a browser"},
	{0, "svg", OPT_STRING, "OUT", "write a picture as SVG, '-' to standard output", AT(svg),
	 .values = "FILE"},
	{0, "png", OPT_STRING, "OUT", "write a picture as PNG", AT(png), .values = "FILE"},
	{0, "html", OPT_STRING, "OUT", "write a page that needs nothing else", AT(html),
	 .values = "FILE"},
	{0, "force", OPT_FLAG, NULL, "write even if that replaces a recording", AT(force)},
	{0, "since", OPT_STRING, "TIME", "from this trace time on: seconds, or with ns, us, ms, s",
	 AT(since)},
	{0, "until", OPT_STRING, "TIME", "up to this trace time", AT(until)},
	{0, "rows", OPT_STRING, "LIST", "these rows, as in cpu0-3,1234,postgres*", AT(rows)},
	{0, "processes", OPT_FLAG, NULL, "group tasks by process", AT(processes)},
	{0, "width", OPT_NUMBER, "N", "width in pixels (1600)", AT(width)},
	{0, "height", OPT_NUMBER, "N", "height in pixels (what the rows need)", AT(height)},
	{0, "dark", OPT_FLAG, NULL, "light on dark", AT(dark)},
	{0, "size-limit", OPT_STRING, "SIZE", "bytes of a page, with k, M or G (5M)",
	 AT(size_limit)},
	{.kind = OPT_GROUP, .help = "General"},
	{'v', "verbose", OPT_FLAG, NULL, "say what is done for safety, and what failed",
	 AT(verbose)},
};

#ifndef HAVE_MICROHTTPD

int view_serve(const struct view_options *o, const char *const *paths, size_t nr)
{
	cli_error("this program was built without libmicrohttpd, which 'spur view' needs");
	return SPUR_ENVIRONMENT;
}

#endif

/* An option that does not fit what is done is an error, not ignored; false after a message. */
static bool ways_fit(const struct view_options *o)
{
	const bool picture = o->svg || o->png, file = picture || o->html;
	const struct {
		const char *option;
		bool given, fits;
		const char *why;
	} rules[] = {
		{"--port", o->port != NOT_GIVEN, !file, NOT_SERVED},
		{"--bind", o->bind, !file, NOT_SERVED},
		{"--web", o->web, !file, NOT_SERVED},
		{"--no-open", o->no_open, !file, NOT_SERVED},
		{"--record", o->record, !file, NOT_SERVED},
		{"--verbose", o->verbose, !file, NOT_SERVED},
		{"--force", o->force, file, "goes with --svg, --png or --html"},
		{"--since", o->since, file, "goes with --svg, --png or --html"},
		{"--until", o->until, file, "goes with --svg, --png or --html"},
		{"--processes", o->processes, file, "goes with --svg, --png or --html"},
		{"--rows", o->rows, picture, "goes with --svg or --png"},
		{"--width", o->width, picture, "goes with --svg or --png"},
		{"--height", o->height, picture, "goes with --svg or --png"},
		{"--dark", o->dark, picture, "goes with --svg or --png"},
		{"--size-limit", o->size_limit, o->html, "goes with --html"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		if (!rules[i].given || rules[i].fits)
			continue;
		cli_error("%s %s", rules[i].option, rules[i].why);
		return false;
	}
	return true;
}

/* "--svg mine.dat" may be meant as a picture of mine.dat. */
static int spare_recordings(const struct view_options *o)
{
	const struct {
		const char *path, *hint;
	} outputs[] = {
		{o->svg, CLI_FORCE("--svg")},
		{o->png, CLI_FORCE("--png")},
		{o->html, CLI_FORCE("--html")},
	};
	int status = SPUR_OK;

	for (size_t i = 0; !o->force && status == SPUR_OK && i < 3; i++)
		if (outputs[i].path)
			status = cli_spare(outputs[i].path, outputs[i].hint);
	return status;
}

static int run(int argc, char **argv)
{
	static const char *const usual[] = {"trace.dat"};
	struct view_options o = {.port = NOT_GIVEN};
	int others = opts_parse(&command_view, &o, argc, argv);
	int status;

	if (others < 0)
		return others == -ECANCELED ? SPUR_OK : SPUR_USAGE;
	if (!ways_fit(&o))
		return SPUR_USAGE;
	status = spare_recordings(&o);
	if (status != SPUR_OK)
		return status;
	if (o.port == NOT_GIVEN) {
		o.port = 0;
		o.usual_port = true;
	}
	if (o.port < 0 || o.port > 65535) {
		cli_error("--port: between 1 and 65535, or 0 for a free one");
		return SPUR_USAGE;
	}
	if (o.threads && !cli_threads(&o.threads))
		return SPUR_USAGE;
	return (o.svg || o.png || o.html ? view_draw : view_serve)(
		&o, others ? (const char *const *)argv : usual, others ? (size_t)others : 1);
}

const struct command command_view = {
	.name = "view",
	.summary = "show traces in a browser, or draw them",
	.usage = "[OPTION...] [FILE...]",
	.opts = opts,
	.nr_opts = ARRAY_SIZE(opts),
	.run = run,
};
