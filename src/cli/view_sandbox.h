/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a viewer needs before it looks at a byte of the files, and gives up then: open files,
 * folders to write to, and who it becomes. The functions return exit statuses, after a message.
 */
#ifndef CLI_VIEW_SANDBOX_H
#define CLI_VIEW_SANDBOX_H

#include "cli/view.h"
#include "view/view.h"

#define VIEW_SANDBOX_PATH 4096

struct view_sandbox {
	const char *const *paths;
	size_t nr;
	int fds[VIEW_MOST_FILES]; /* or negative errnos */
	struct view_user user;
	char cache[VIEW_SANDBOX_PATH];	 /* "": none */
	char scratch[VIEW_SANDBOX_PATH]; /* the same; gone at the end */
};

/* Opens the files: one is enough. Chooses the user that root becomes, and the folder of indexes. */
int view_sandbox_open(struct view_sandbox *r, const char *const *paths, size_t nr,
		      const char *cache, bool no_cache);
/* A folder of our own, for what does not fit into memory. */
int view_sandbox_scratch(struct view_sandbox *r);

struct view_sandbox_options {
	const char *readable; /* one more folder; NULL: none */
	bool terminal;	      /* as of confine() */
	bool verbose;	      /* says what was done */
};

/* Gives up what is not needed any more. Before there are threads. */
int view_sandbox_confine(const struct view_sandbox *r, const struct view_sandbox_options *o);
/* The view of all files; those that are no traces are in it, with their errors. */
int view_sandbox_view(struct view_sandbox *r, uint32_t threads, struct view **out);
/* Says which files are no traces. The status of the first one when that is all of them. */
int view_sandbox_unreadable(const struct view *v);
/*
 * Says what is wrong with files that were shown all the same, and which are no traces unless that
 * has been said before. The status of the first one.
 */
int view_sandbox_damage(const struct view *v, bool said);
/* After view_close(). */
void view_sandbox_close(struct view_sandbox *r);

#endif
