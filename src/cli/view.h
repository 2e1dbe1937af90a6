/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: what `spur view` consists of. */
#ifndef CLI_VIEW_H
#define CLI_VIEW_H

#include <sys/types.h>

#include "cli/cli.h"
#include "view/view.h"

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

/* The user that a process of root becomes when it does not need to be root. */
struct view_user {
	uid_t uid;
	gid_t gid;
	bool caller; /* the user who called sudo, or who is not root at all */
};

/*
 * ---- view.c ----
 *
 * What a viewer needs before it reads a byte of the files, and what it gives up then: open files,
 * folders to write to, the user that it becomes. Functions return exit statuses, after a message.
 */

#define VIEW_SETUP_PATH 4096

struct view_setup {
	const char *const *paths;
	size_t nr;
	int fds[VIEW_MOST_FILES]; /* or negative errnos */
	struct view_user user;
	char cache[VIEW_SETUP_PATH];   /* "": none */
	char scratch[VIEW_SETUP_PATH]; /* the same; removed at the end */
};

/* Opens the files: one is enough. Chooses the user that root becomes, and the folder of indexes. */
int view_setup_open(struct view_setup *r, const char *const *paths, size_t nr, const char *cache,
		    bool no_cache);
/* Makes a folder of our own, for what does not fit into memory. */
int view_setup_scratch(struct view_setup *r);

struct view_setup_options {
	const char *readable; /* one more folder; NULL: none */
	bool terminal;	      /* as of confine() */
	bool verbose;	      /* says what was done */
};

/* Gives up what is not needed any more. Before there are threads. */
int view_setup_confine(const struct view_setup *r, const struct view_setup_options *o);
/* The view of all files; those that are no traces are in it, with their errors. */
int view_setup_view(struct view_setup *r, uint32_t threads, struct view **out);
/* Says which files are no traces. SPUR_OK if one is a trace, else the status of the first file. */
int view_setup_unreadable(const struct view *v);
/*
 * Says what is wrong with the files that were shown and, unless that was said before, which are no
 * traces. The status of the first such file.
 */
int view_setup_damage(const struct view *v, bool said);
/* After view_close(). */
void view_setup_close(struct view_setup *r);

/* ---- what it does ---- */

int view_serve(const struct view_options *o, const char *const *paths, size_t nr);

/* Writes the pictures that are asked for. */
int view_draw(const struct view_options *o, const char *const *paths, size_t nr);

#endif
