// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The viewer for terminals from begin to end: files and terminal are opened, then what is not
 * needed any more is given up (view_sandbox.h), and only then a byte of the files is looked at.
 *
 * Messages are printed while the terminal is the user's, before and after. Whatever ends it, the
 * terminal is given back as it was.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/tui.h"
#include "cli/view_sandbox.h"
#include "dat/dat.h"
#include "tui/tui.h"

#define BUSY_MS 100 /* between looks while something goes on */
#define IDLE_MS 500 /* a signal may come just before it waits */

struct running {
	const struct tui_command *o;
	struct view_sandbox sandbox;
	struct terminal *term;
	struct view *view;
	struct tui *tui;
	bool colour, ascii;
};

/* ---- signals ---- */

static void on_signal(int sig)
{
	cli_stop = sig;
}

/* Other than elsewhere a second one ends nothing: it would leave the terminal as it is. */
static void catch_signals(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct sigaction sa = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/* ---- what the terminal shows ---- */

static bool names_utf8(const char *variable)
{
	const char *value = getenv(variable);

	return value && (strcasestr(value, "utf-8") || strcasestr(value, "utf8"));
}

/*
 * Characters only: numbers are those of the report. Where the user's language is not installed, as
 * on a board that is reached by ssh, its characters may be known all the same.
 */
static bool shows_utf8(void)
{
	if (!setlocale(LC_CTYPE, "") &&
	    (names_utf8("LC_ALL") || names_utf8("LC_CTYPE") || names_utf8("LANG")))
		setlocale(LC_CTYPE, "C.UTF-8");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static int open_terminal(struct running *r)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		cli_error("'spur tui' needs a terminal; 'spur report' prints, 'spur view --svg' "
			  "draws");
		return SPUR_ENVIRONMENT;
	}
	if (!cli_colour(r->o->colour, &r->colour))
		return SPUR_USAGE;
	r->ascii = !shows_utf8() || r->o->ascii;
	r->term = terminal_open(&r->colour);
	return r->term ? SPUR_OK : SPUR_ENVIRONMENT;
}

/* ---- which part ---- */

static int read_time(const char *option, const char *text, uint64_t *ts)
{
	if (!text || parse_time(text, ts))
		return SPUR_OK;
	cli_error("%s: '%s' is not a time", option, text);
	return SPUR_USAGE;
}

static int read_range(const struct tui_command *o, uint64_t *since, uint64_t *until)
{
	int status = read_time("--since", o->since, since);

	if (status == SPUR_OK)
		status = read_time("--until", o->until, until);
	if (status == SPUR_OK && o->since && o->until && *until <= *since) {
		cli_error("--until %s is not after --since %s", o->until, o->since);
		status = SPUR_USAGE;
	}
	return status;
}

/* Until it is known whether there is such a time in the files. */
static void wait_for_time(struct view *v, uint64_t ts)
{
	while (view_progress(v) < 1 && view_origin(v) + view_duration(v) < ts && !cli_stop)
		view_wait(v, view_generation(v), BUSY_MS, &cli_stop);
}

static int make_tui(struct running *r, uint64_t since, uint64_t until)
{
	struct tui_options opt = {
		.ascii = r->ascii,
		.mono = !r->colour,
		.filter = r->o->filter,
		.cpus = r->o->cpus.bits,
		.nr_cpus = r->o->cpus.nr,
		.stop = &cli_stop,
	};
	struct spur_error err = {0};

	if (r->o->since || r->o->until) {
		const uint64_t origin = view_origin(r->view);
		uint64_t end;

		wait_for_time(r->view, r->o->until ? until : since);
		end = view_duration(r->view) + 1;
		opt.since = r->o->since && since > origin ? since - origin : 0;
		opt.until = r->o->until ? (until > origin ? until - origin : 0) : end;
		if (opt.since >= end || opt.until <= opt.since) {
			cli_error("there are no events between --since and --until");
			return SPUR_INCOMPLETE;
		}
	}
	r->tui = tui_new(r->view, &opt, &err);
	if (!r->tui && r->o->filter && err.code == -EINVAL)
		error_prefix(&err, "-F");
	return r->tui ? SPUR_OK : cli_fail(&err);
}

/* ---- the loop ---- */

static int loop(struct running *r)
{
	int rc = terminal_resize(r->term, r->tui);

	while (rc >= 0 && !cli_stop) {
		tui_news(r->tui);
		tui_draw(r->tui);
		terminal_show(r->term, r->tui);
		do {
			rc = terminal_read(r->term, r->tui, tui_waits(r->tui) ? BUSY_MS : IDLE_MS);
		} while (!rc && !cli_stop && !tui_news(r->tui));
	}
	return rc;
}

static int look(struct running *r)
{
	struct spur_error err = {0};
	int rc;

	terminal_begin(r->term);
	rc = loop(r);
	terminal_end(r->term);
	if (rc == -ENOMEM)
		return cli_fail((error_set(&err, rc, "out of memory"), &err));
	return cli_stop ? 128 + cli_stop : SPUR_OK;
}

/* ---- the command ---- */

static bool has_trace(const struct view *v)
{
	for (size_t i = 0; i < view_nr_files(v); i++)
		if (view_file(v, i)->trace)
			return true;
	return false;
}

static int show(struct running *r)
{
	const struct view_sandbox_options sandbox = {.terminal = true};
	uint64_t since = 0, until = 0;
	int status = read_range(r->o, &since, &until);

	if (status == SPUR_OK)
		status = view_sandbox_scratch(&r->sandbox);
	if (status == SPUR_OK)
		status = view_sandbox_confine(&r->sandbox, &sandbox);
	if (status == SPUR_OK)
		status = view_sandbox_view(&r->sandbox, (uint32_t)r->o->threads, &r->view);
	if (status == SPUR_OK && !has_trace(r->view))
		status = view_sandbox_unreadable(r->view);
	if (status == SPUR_OK)
		status = make_tui(r, since, until);
	if (status != SPUR_OK)
		return status;
	for (size_t i = 0; i < view_nr_files(r->view); i++)
		if (!view_file(r->view, i)->trace)
			tui_say(r->tui, "%s", view_file(r->view, i)->error.text);
	status = look(r);
	return status ? status : view_sandbox_damage(r->view, false);
}

int tui_run(const struct tui_command *o, const char *const *paths, size_t nr)
{
	struct running *r = calloc(1, sizeof(*r));
	int status;

	if (!r) {
		cli_error("out of memory");
		return SPUR_ENVIRONMENT;
	}
	r->o = o;
	status = view_sandbox_open(&r->sandbox, paths, nr, o->cache, o->no_cache);
	if (status == SPUR_OK)
		status = open_terminal(r);
	catch_signals();
	if (status == SPUR_OK)
		status = show(r);
	tui_free(r->tui);
	view_close(r->view);
	terminal_close(r->term);
	view_sandbox_close(&r->sandbox);
	free(r);
	return status;
}
