/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/tracefs: what undo.c and guard.c share. */
#ifndef TRACEFS_GUARD_H
#define TRACEFS_GUARD_H

#include "tracefs/undo.h"

enum back_kind {
	BACK_WRITE,  /* write the text to the file, replacing what it says */
	BACK_LINE,   /* write the text to the file as one more line */
	BACK_REMOVE, /* remove the instance */
	BACK_EXPAND, /* see to it that the top-level buffer has this size if it is used at all */
	BACK_FORGET, /* in the journal only: the change noted last was not made */
	BACK_MADE,   /* nothing: what the file says since the change noted before it */
};

/* How one change is taken back. */
struct back {
	enum back_kind kind;
	char *instance, *file, *text; /* owned, never NULL */
};

struct backs {
	struct back *at;
	size_t n, cap;
};

int backs_add(struct backs *b, enum back_kind kind, const char *instance, const char *file,
	      const char *text);

/*
 * Takes everything back: removes instances, then the last change first. The first error is told.
 * Empties the list.
 */
int backs_run(struct backs *b, const struct tracefs *fs, struct spur_error *err);
void backs_free(struct backs *b);

/* Drops the change that was added last. */
void backs_forget(struct backs *b);

/*
 * The same for a process that ended some time ago. A setting that was changed since then stays, and
 * left() is called with it.
 */
int backs_run_late(struct backs *b, const struct tracefs *fs,
		   void (*left)(void *arg, const char *instance, const char *file), void *arg,
		   struct spur_error *err);

struct guard {
	pid_t pid;
	int fd; /* to the guardian; -1: there is none */
};

struct journal;

int guard_start(struct guard *g, const struct tracefs *fs, const struct undo_options *opt,
		const struct journal *j, struct spur_error *err);

/* Tells it that all has been taken back, and waits for its end. */
void guard_end(struct guard *g);

/* Waits for one that has died. */
void guard_bury(struct guard *g);

#endif
