/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * "Did you mean …?": the candidate nearest to a word that was not found.
 *
 *	struct suggest s = suggest_for(word, len);
 *	for each known name: suggest_try(&s, name);
 *	error_set(err, -EINVAL, "there is no '%s'%s", word, suggest_hint(&s));
 *
 * The distance counts inserted, dropped, replaced and swapped neighbouring letters; case does not
 * count as a difference unless two candidates differ in nothing else.
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

struct suggest {
	const char *word;
	size_t len;
	const char *best;
	size_t distance; /* of best; more than any real one while there is none */
	char hint[96];
};

struct suggest suggest_for(const char *word, size_t len);
void suggest_try(struct suggest *s, const char *candidate);

/* The nearest candidate, or NULL when none is near enough to be what was meant. */
const char *suggest_best(const struct suggest *s);

/* "; did you mean 'BEST'?", or "". Valid as long as *s. */
const char *suggest_hint(struct suggest *s);

/* The same; the other text when no candidate is near enough. */
const char *suggest_hint_or(struct suggest *s, const char *otherwise);

/*
 * The number of edits between two words; the largest possible number for words of more than 64
 * letters.
 */
size_t edit_distance(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
