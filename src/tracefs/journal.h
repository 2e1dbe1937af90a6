/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/tracefs: the undo log as a file, for the processes that undo the changes of a dead
 * process: its guardian, or a later spur.
 *
 * It is in /run/spur, which only root can use, and its name is TAG-N, for its owner's tag
 * (owner.h). If such a file cannot be made, it is a file without a name that only the guardian has.
 * It gets its name when it is locked; where files need a name from the start, that is ".TAG".
 *
 *	0       text: "spur-undo 1", boot ID, owner, path of tracefs; a line each
 *	4088    u32: which of the two notes is valid, 0 for none
 *	4096    the first note: u32 its length, then its text
 *	68 K    the second one
 *	132 K   entries: u32 kind, u32 sizes of instance, file and text, then these without a NUL
 *
 * An entry is written before its change is made. An incomplete entry belongs to a change that was
 * not made.
 *
 * The file is locked (flock) as long as the owner or its guardian lives; they share the lock. This
 * works in all namespaces. Only a process that gets the lock may undo the changes.
 */
#ifndef TRACEFS_JOURNAL_H
#define TRACEFS_JOURNAL_H

#include "tracefs/owner.h"
#include "tracefs/undo.h"

#define JOURNAL_FOLDER "/run/spur"

enum back_kind {
	BACK_WRITE,  /* write the text to the file, replacing what it says */
	BACK_LINE,   /* write the text to the file as one more line */
	BACK_REMOVE, /* remove the instance */
	BACK_EXPAND, /* expand the top-level buffer to this size if it was used at all */
	BACK_FORGET, /* in the journal only: the last noted change was not made */
	BACK_MADE,   /* no change: the file's content after the previous change */
};

/* How to undo one change. */
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

void backs_free(struct backs *b);

/* Drops the change that was added last. */
void backs_forget(struct backs *b);

/*
 * Like backs_run(), for a process that ended some time ago. A setting that was changed since then
 * stays, and is reported to left().
 */
int backs_run_late(struct backs *b, const struct tracefs *fs,
		   void (*left)(void *arg, const char *instance, const char *file), void *arg,
		   struct spur_error *err);

struct journal {
	int fd;
	char path[96]; /* "": it has no name */
	uint32_t slot; /* of the last note */
};

/* 0, or a negative errno. */
int journal_create(struct journal *j, const struct tracefs *fs, struct spur_error *err);
int journal_add(struct journal *j, const struct back *b, struct spur_error *err);
int journal_note(struct journal *j, const char *note, struct spur_error *err);

/* Reads the changes that have not been undone. The caller owns the note, which is "" for none. */
int journal_read(int fd, struct backs *backs, char **note);

/* Removes the file, after everything has been undone. */
void journal_end(struct journal *j);

/* The owner, and the path of its tracefs. */
struct journal_head {
	struct owner owner;
	char tag[OWNER_TAG_CAP];
	char boot[64];
	char fs[256];
};

bool journal_head(int fd, struct journal_head *h);

/* Whether a log of the process with that pid is locked: the process or its guardian lives. */
bool journal_is_used(pid_t pid);

/*
 * Whether there may be a log of it: there is one, here or in the /run of another mount namespace,
 * or this user cannot see the logs, or a guardian has one.
 */
bool journal_exists(const struct owner *o);

/* A guardian's name, and its descriptor of the log. */
#define JOURNAL_GUARD "spur-guard"
#define JOURNAL_FD    4

/* Opens the folder of all logs; -ENOENT if there is none, -EPERM if others than root can use it. */
int journal_folder(bool make);

#endif
