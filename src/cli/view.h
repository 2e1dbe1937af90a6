/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: what `spur view` consists of. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <sys/types.h>

#include "cli/cli.h"

struct view_options {
	const char *bind, *cache, *web;
	int64_t port, threads;
	bool no_open, no_cache, record, verbose, force;
	bool usual_port; /* the one of these files, if it is free */
	/* Pictures in place of serving. */
	const char *svg, *png, *html;
	const char *since, *until, *rows, *size_limit;
	int64_t width, height;
	bool dark, processes;
};

/* Whom a process that was started by root becomes when it does not need to be root. */
struct view_user {
	uid_t uid;
	gid_t gid;
	bool caller; /* it is who called sudo, or is not root at all */
};

/* ---- view_browser.c ---- */

struct view_browser {
	pid_t pid; /* 0: there is none */
	int go;
};

/*
 * Forks what will start the browser, as that user, once it is told what to open on the address of
 * --bind (or NULL). In the folder, which is the user's, it makes a page for that. Nothing happens
 * where there is no display, or no user but root.
 */
void view_browser_prepare(struct view_browser *b, const struct view_user *user, const char *bind,
			  const char *folder);
void view_browser_open(struct view_browser *b, uint16_t port, const char *link);
/* After this its page is gone, and so is what it was forked for. */
void view_browser_end(struct view_browser *b);

/* ---- view_serve.c ---- */

int view_serve(const struct view_options *o, const char *const *paths, size_t nr);

/* ---- view_draw.c ---- */

/* Writes the pictures that are asked for. */
int view_draw(const struct view_options *o, const char *const *paths, size_t nr);

#endif
