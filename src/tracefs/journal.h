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

#include "tracefs/guard.h"
#include "tracefs/owner.h"

#define JOURNAL_FOLDER "/run/spur"

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
