/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Vectors of strings, which are vectors of vec.h as well: {0} is an empty one.
 *
 * struct strings owns copies of its strings. struct string_refs points at strings that it does not
 * own and that must outlive it; vec_free() frees it.
 */
#ifndef BASE_STRINGS_H
#define BASE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/vec.h"

struct strings {
	char **at;
	size_t n, cap;
};

struct string_refs {
	const char **at;
	size_t n, cap;
};

/* Appends a copy of n bytes, or of a whole string. False without memory. */
bool strings_add_bytes(struct strings *s, const char *text, size_t n);

static inline bool strings_add(struct strings *s, const char *text)
{
	return strings_add_bytes(s, text, strlen(text));
}

void strings_free(struct strings *s);

/* Appends a pointer. A NULL, which does not count, follows the last one. False without memory. */
bool string_refs_add(struct string_refs *s, const char *text);

#endif
