/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few names nearest to one that was not found: base/suggest.h for lists too long to keep.
 *
 *	struct nearest n = nearest_to(word, len);
 *	for each known name: nearest_try(&n, name, len);
 *	error_set(err, -ENOENT, "there is no '%s'%s", word, nearest_words(&n));
 */
#ifndef SYMBOLS_NEAREST_H
#define SYMBOLS_NEAREST_H

#include <stddef.h>

#define NEAREST_MAX  3
#define NEAREST_NAME 64

struct nearest {
	const char *word;
	size_t len;
	struct {
		char name[NEAREST_NAME];
		size_t score; /* the smaller the nearer */
	} best[NEAREST_MAX];
	size_t n;
	char words[NEAREST_MAX * (NEAREST_NAME + 4) + 32];
};

struct nearest nearest_to(const char *word, size_t len);

/* The name is copied, and may be tried several times. */
void nearest_try(struct nearest *n, const char *name, size_t len);

/* " (did you mean 'a', 'b' or 'c'?)", or "". */
const char *nearest_words(struct nearest *n);

#endif
