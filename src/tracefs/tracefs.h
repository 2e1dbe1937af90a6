/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live kernel's tracefs: finding it, reading and writing its files.
 *
 * `instance` is the directory to use: NULL or "" for the top one, or an instance. Names of files
 * are relative to it ("events/sched/enable"); a name that begins with a slash is a file of the
 * machine ("/proc/sys/kernel/ftrace_enabled"). The only state is the path of the mount.
 *
 * For temporary changes use undo.h, which uses these functions.
 */
#ifndef TRACEFS_TRACEFS_H
#define TRACEFS_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/buf.h"

struct tracefs {
	char path[256]; /* "/sys/kernel/tracing", without a slash at the end */
};

/*
 * Finds tracefs, and mounts it if necessary. -EACCES/-EPERM without the privilege, -ENODEV if the
 * kernel does not have it; err says what to do.
 */
int tracefs_find(struct tracefs *fs, struct spur_error *err);

/* The same without mounting it: -ENOENT when it is not mounted. */
int tracefs_look(struct tracefs *fs, struct spur_error *err);

/* Whether a directory is a mounted tracefs of this machine, and not a copy of one. */
bool tracefs_is_live(const char *path);

/* The path of a file; false (-ENAMETOOLONG is meant) when it does not fit. */
bool tracefs_path(const struct tracefs *fs, const char *instance, const char *file, char *path,
		  size_t cap);

bool tracefs_has(const struct tracefs *fs, const char *instance, const char *file);

/* Opens a file (O_CLOEXEC is added); negative errno, with words. */
int tracefs_open(const struct tracefs *fs, const char *instance, const char *file, int flags,
		 struct spur_error *err);

/* Appends the whole file to a buffer, which is terminated. */
int tracefs_read(const struct tracefs *fs, const char *instance, const char *file, struct buf *to,
		 struct spur_error *err);

/* The first line of a short file, without its newline, cut to cap. */
int tracefs_read_line(const struct tracefs *fs, const char *instance, const char *file, char *line,
		      size_t cap, struct spur_error *err);

/* A file with one number (decimal, or 0x…) in it; text after the number does not matter. */
int tracefs_read_number(const struct tracefs *fs, const char *instance, const char *file,
			int64_t *value, struct spur_error *err);

/*
 * The selected word of a choice: the one in brackets, as in "[local] global counter", or the only
 * one.
 */
int tracefs_read_choice(const struct tracefs *fs, const char *instance, const char *file,
			char *word, size_t cap, struct spur_error *err);

enum tracefs_how {
	TRACEFS_REPLACE, /* the text replaces the content: O_TRUNC */
	TRACEFS_APPEND,	 /* the text is appended: O_APPEND */
};

/*
 * Writes a text, all of it in one write() per line where it has several lines. The error has the
 * kernel's message from error_log, if there is one for this write.
 */
int tracefs_write(const struct tracefs *fs, const char *instance, const char *file,
		  enum tracefs_how how, const char *text, struct spur_error *err);

/* Calls entry() for every name in a directory, sorted, "." and ".." left out; stops when not 0. */
int tracefs_each(const struct tracefs *fs, const char *instance, const char *dir,
		 int (*entry)(void *arg, const char *name), void *arg, struct spur_error *err);

int tracefs_make_instance(const struct tracefs *fs, const char *name, struct spur_error *err);
int tracefs_remove_instance(const struct tracefs *fs, const char *name, struct spur_error *err);

/* ---- events ---------------------------------------------------------------------------- */

struct tracefs_event {
	const char *system, *name; /* in the list's memory */
};

struct tracefs_events {
	struct tracefs_event *at;
	size_t n, cap;
	char *names; /* owned: what the strings point into */
};

/* All events, by system and name: what available_events says. */
int tracefs_events_load(const struct tracefs *fs, const char *instance, struct tracefs_events *list,
			struct spur_error *err);
void tracefs_events_free(struct tracefs_events *list);

/*
 * Whether an event matches a user's words: "all", "sched", "sched:", "sched:sched_switch",
 * "sched/sched_switch", "sched_switch", and globs in either part. A word without a separator is a
 * system or an event of any system. "syscall:openat" is both sys_enter_openat and sys_exit_openat.
 */
bool tracefs_event_matches(const struct tracefs_event *e, const char *wanted);

/* Whether a word is in a file of words separated by blanks or newlines (available_tracers, …). */
bool tracefs_lists(const struct tracefs *fs, const char *instance, const char *file,
		   const char *word);

#endif
