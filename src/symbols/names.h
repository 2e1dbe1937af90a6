/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names: those that the kernel accepts, those derived from names of programs, and the few that are
 * nearest to a name that was not found.
 */
#ifndef SYMBOLS_NAMES_H
#define SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_MAX_EVENT 63 /* letters of an event's or a group's name */

/* The length of the identifier at s, 0 when there is none. */
size_t identifier_len(const char *s);

/* Whether the whole text is an identifier. */
bool is_identifier(const char *s, size_t len);

/*
 * Makes an event's name, of at most NAME_MAX_EVENT letters, from a symbol: characters that are not
 * allowed become '_'.
 */
void event_name(const char *symbol, char to[NAME_MAX_EVENT + 1]);

/*
 * The qualified name in a mangled one of C++ (or Rust): "_ZN3app4User4sizeEv" is app::User::size.
 * Parameters are left out. False when it is not mangled or too complicated: templates, operators.
 */
bool cxx_name(const char *mangled, size_t len, char *to, size_t cap);

/*
 * The few names nearest to one that was not found: base/suggest.h for lists too long to keep.
 *
 *	struct nearest n = nearest_to(word, len);
 *	for each known name: nearest_try(&n, name, len);
 *	error_set(err, -ENOENT, "there is no '%s'%s", word, nearest_words(&n));
 */

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
