/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/tracefs: the undo log as a file, for those that have to take back what a process
 * changed that is gone: its guardian, or a later spur.
 *
 * It is in /run/spur, which is root's alone, and called TAG-N after its owner (owner.h). Where
 * there can be no such file, it is one without a name that only the guardian has.
 *
 *	0       text: "spur-undo 1", boot ID, owner, path of tracefs; a line each
 *	4088    u32: which of the two notes holds, 0 for none
 *	4096    the first note: u32 its length, then its text
 *	68 K    the second one
 *	132 K   entries: u32 kind, u32 sizes of instance, file and text, then these without a NUL
 *
 * An entry is there before its change is made; one that is not whole belongs to a change that was
 * not made.
 *
 * The file is locked (flock) as long as the owner or its guardian lives, which share the lock. That
 * holds in all namespaces. Who can lock it is the only one who may take back what is in it.
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

void backs_free(struct backs *b);

/* Drops the change that was added last. */
void backs_forget(struct backs *b);

/*
 * As backs_run(), for a process that ended some time ago. A setting that was changed since then
 * stays, and left() is called with it.
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

/* All that has not been taken back. The note is owned by the caller, "" for none. */
int journal_read(int fd, struct backs *backs, char **note);

/* Everything has been taken back: removes it. */
void journal_end(struct journal *j);

/* Who it belongs to, and where its tracefs is. */
struct journal_head {
	struct owner owner;
	char tag[OWNER_TAG_CAP];
	char boot[64];
	char fs[256];
};

bool journal_head(int fd, struct journal_head *h);

/* Whether a log of the process of that number is locked: it lives, or its guardian does. */
bool journal_is_used(pid_t pid);

/* Opens the folder of all of them; -ENOENT without one, -EPERM when it is not root's alone. */
int journal_folder(bool make);

#endif
