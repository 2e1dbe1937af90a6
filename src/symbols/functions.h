/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions and variables of a program by what a user calls them. */
#ifndef SYMBOLS_FUNCTIONS_H
#define SYMBOLS_FUNCTIONS_H

#include "symbols/elf.h"

struct function {
	const char *name;   /* for the event: the qualified one where C++ mangled it */
	const char *symbol; /* as the file has it */
	uint64_t addr, size;
	uint64_t offset; /* in the file */
	bool indirect;
};

struct functions {
	struct function *at;
	size_t n, cap;
};

/*
 * Finds functions, by increasing address, each once even if it has several names. Accepted are a
 * symbol ("malloc"), one with its version ("memcpy@GLIBC_2.2.5"; the newest is the default), the
 * qualified name of a function in C++ ("app::User::size", all that are overloaded) and patterns
 * over either. Strings are in the arena, the list is freed with vec_free(). -ENOENT with the
 * nearest names; file is for messages.
 */
int functions_find(const struct binary *b, const char *file, const char *wanted, size_t most,
		   struct arena *arena, struct functions *found, struct spur_error *err);

/* The address and size of a variable; -ENOENT. */
int variable_find(const struct binary *b, const char *file, const char *name, uint64_t *addr,
		  uint64_t *size, struct spur_error *err);

#endif
