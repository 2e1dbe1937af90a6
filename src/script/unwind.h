/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User space's part of dw_ustack(): fills the tables of lang/unwind.h, in advance with files that
 * will probably be needed, and then with those that programs in the kernel request.
 *
 * Private to src/script.
 */
#ifndef SCRIPT_UNWIND_H
#define SCRIPT_UNWIND_H

#include <sys/types.h>

#include "code/kmap.h"
#include "lang/unwind.h"

struct unwinder;

/* The maps must outlive it. */
int unwind_open(struct kmaps *maps, const struct unit *unit, struct unwinder **out,
		struct spur_error *err);
void unwind_close(struct unwinder *u);

/*
 * Adds a program and the libraries it will load, or with a command what that would load; files that
 * cannot be read are skipped.
 */
void unwind_program(struct unwinder *u, const char *path, const char *command);

/* All that a process has mapped now. */
void unwind_process(struct unwinder *u, pid_t pid);

/* Handles the request of a program in the kernel. */
void unwind_note(struct unwinder *u, const void *note, size_t len);

/* Whether some files did not fit the tables. */
bool unwind_is_full(const struct unwinder *u);

#endif
