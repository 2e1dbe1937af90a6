/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User space's part of dw_ustack(): fills the tables of lang/unwind.h, in advance with what is
 * likely to be met, and then with what programs in the kernel say they have met.
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

/* The kernel knows the file by that key; NULL: as we do. Which rows it has is put to *to. */
bool unwind_file(struct unwinder *u, const char *path, const struct unwind_file_key *key,
		 struct unwind_file *to);

/* A program and the libraries it will load: what cannot be read is left out. */
void unwind_program(struct unwinder *u, const char *path);

/* The same of a command that is going to be run. */
void unwind_command(struct unwinder *u, const char *command);

/* All that a process has mapped now. */
void unwind_process(struct unwinder *u, pid_t pid);

/* What a program in the kernel has sent. */
void unwind_note(struct unwinder *u, const void *note, size_t len);

/* Whether there were files that the tables had no room for. */
bool unwind_is_full(const struct unwinder *u);

/* A page of a process is in these rows. */
void unwind_page(struct unwinder *u, const struct unwind_page_key *key,
		 const struct unwind_page *page);

#endif
