/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Temporary changes of the kernel's settings.
 *
 * An undo log notes, before each change, how to undo it; undo_all() does so in reverse order. A
 * guarded log is also a file (journal.h), and has a guardian: a separate process that undoes the
 * changes if this process ends without having done so. A guardian that dies is started again. If
 * both die, a later spur finds the file: leftovers.h.
 */
#ifndef TRACEFS_UNDO_H
#define TRACEFS_UNDO_H

#include <sys/types.h>

#include "tracefs/tracefs.h"

struct undo;

struct undo_options {
	bool guarded;
	/*
	 * Called by the guardian before and after it undoes the changes of a dead process; either
	 * may be NULL. The note is the last one, "" for none. The result of before() is passed to
	 * after().
	 */
	void *(*before)(const struct tracefs *fs, const char *note);
	void (*after)(void *arg);
};

/* With a guardian it forks, so there must be no threads yet. */
int undo_new(const struct tracefs *fs, const struct undo_options *opt, struct undo **out,
	     struct spur_error *err);

/* Undoes all changes and ends the guardian. Continues after an error, and returns the first one. */
int undo_all(struct undo *u, struct spur_error *err);

/* Keeps all settings as they are now; ends the guardian. Returns 0. */
int undo_keep(struct undo *u);

/* undo_all() if that has not been called, then frees it. */
void undo_free(struct undo *u);

/* Writes a setting whose old value is read first and written back later. */
int undo_write(struct undo *u, const char *instance, const char *file, enum tracefs_how how,
	       const char *text, struct spur_error *err);

/* Writes a line that another line undoes: triggers ("!TRIGGER"), probes ("-:GROUP/NAME"). */
int undo_line(struct undo *u, const char *instance, const char *file, const char *text,
	      const char *back, struct spur_error *err);

int undo_make_instance(struct undo *u, const char *name, struct spur_error *err);

/* A descriptor that becomes readable when the guardian has died, -1 without one. */
int undo_guard_event(const struct undo *u);

/* Starts another one in its place. Threads may be running. */
int undo_guard_again(struct undo *u, struct spur_error *err);

/* Sets the note that the guardian passes to before(); it replaces the previous one. */
int undo_note(struct undo *u, const char *note, struct spur_error *err);

#endif
