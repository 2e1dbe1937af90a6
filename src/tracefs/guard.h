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
	BACK_FORGET, /* on the wire only: the change noted last was not made */
	BACK_NOTE,   /* nothing: `text` is for the guardian */
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

struct guard {
	pid_t pid;
	int fd; /* to the guardian */
};

int guard_start(struct guard *g, const struct tracefs *fs, const struct undo_options *opt,
		struct spur_error *err);

/* Tells the guardian about a change that is about to be made. */
int guard_tell(struct guard *g, const struct back *b, struct spur_error *err);

/* Tells it that all has been taken back, and waits for its end. */
void guard_end(struct guard *g);

#endif
