/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: what `spur tui` consists of. */
#ifndef CLI_TUI_H
#define CLI_TUI_H

#include "cli/cli.h"
#include "cli/cpus.h"

struct tui;

struct tui_command {
	const char *filter, *since, *until, *colour, *cache;
	struct cpu_list cpus;
	int64_t threads;
	bool no_cache, ascii;
};

/* ---- tui_run.c ---- */

int tui_run(const struct tui_command *o, const char *const *paths, size_t nr);

/* ---- tui_screen.c: the terminal ---- */

struct terminal;

/*
 * Finds out what the terminal can do and leaves it alone. NULL after a message. `colour` is false
 * when none is wanted, or the terminal has none.
 */
struct terminal *terminal_open(bool *colour);
/* Takes the screen, and gives it back as it was; may be called again. */
void terminal_begin(struct terminal *term);
void terminal_end(struct terminal *term);
void terminal_close(struct terminal *term);

void terminal_show(struct terminal *term, const struct tui *t);
/*
 * Waits for so long (-1: for ever), then gives all that was typed to the viewer. 1: something was,
 * 0: nothing, -EPIPE: it is over, -EIO: there is no terminal any more.
 */
int terminal_read(struct terminal *term, struct tui *t, int ms);
/* The size has changed, or is not known yet. 0 or -ENOMEM. */
int terminal_resize(struct terminal *term, struct tui *t);

#endif
