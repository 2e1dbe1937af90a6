/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a viewer needs before it looks at a byte of the files, and gives up then: open files,
 * folders to write to, and who it becomes. The functions return exit statuses, after a message.
 */
#ifndef CLI_VIEW_ROOM_H
#define CLI_VIEW_ROOM_H

#include "cli/view.h"
#include "view/view.h"

#define VIEW_ROOM_PATH 4096

struct view_room {
	const char *const *paths;
	size_t nr;
	int fds[VIEW_MOST_FILES]; /* or negative errnos */
	struct view_user user;
	char cache[VIEW_ROOM_PATH];   /* "": none */
	char scratch[VIEW_ROOM_PATH]; /* the same; gone at the end */
};

/* Opens the files: one is enough. Whom root becomes, and the folder of kept indexes. */
int view_room_open(struct view_room *r, const char *const *paths, size_t nr, const char *cache,
		   bool no_cache);
/* A folder of our own, for what does not fit into memory. */
int view_room_scratch(struct view_room *r);

struct view_room_options {
	const char *readable; /* one more folder; NULL: none */
	bool terminal;	      /* as of confine() */
	bool verbose;	      /* says what was done */
};

/* Gives up what is not needed any more. Before there are threads. */
int view_room_confine(const struct view_room *r, const struct view_room_options *o);
/* The view of all files; those that are no traces are in it, with their errors. */
int view_room_view(struct view_room *r, uint32_t threads, struct view **out);
/* Says which files are no traces. The status of the first one when that is all of them. */
int view_room_unreadable(const struct view *v);
/*
 * Says what is wrong with files that were shown all the same, and which are no traces unless that
 * has been said before. The status of the first one.
 */
int view_room_damage(const struct view *v, bool said);
/* Behind view_close(). */
void view_room_close(struct view_room *r);

#endif
