// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Near is what a slip of the fingers makes of a name, what the compiler has made of it ("copy" has
 * become "copy.isra.0"), and, further away, what contains it.
 */
#include "symbols/nearest.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"

struct nearest nearest_to(const char *word, size_t len)
{
	return (struct nearest){.word = word, .len = len};
}

/* How far away a name is; NEAREST_NAME and more: too far. */
static size_t score_of(const struct nearest *n, const char *name, size_t len)
{
	size_t allowed = n->len < 3 ? 1 : (n->len + 1) / 3;
	size_t more = len > n->len ? len - n->len : n->len - len;

	if (!n->len || len >= NEAREST_NAME || n->len >= NEAREST_NAME)
		return NEAREST_NAME;
	if (more && len > n->len && !memcmp(name, n->word, n->len) && name[n->len] == '.')
		return 0;
	if (more <= allowed) {
		size_t distance = edit_distance(n->word, n->len, name, len);

		if (distance <= allowed)
			return distance;
	}
	if (n->len >= 3 && memmem(name, len, n->word, n->len))
		return allowed + 1 + more / 2;
	return NEAREST_NAME;
}

void nearest_try(struct nearest *n, const char *name, size_t len)
{
	size_t score = score_of(n, name, len), at;

	if (score >= NEAREST_NAME)
		return;
	for (size_t i = 0; i < n->n; i++)
		if (strlen(n->best[i].name) == len && !memcmp(n->best[i].name, name, len))
			return;
	for (at = n->n; at > 0 && n->best[at - 1].score > score; at--)
		;
	if (at == NEAREST_MAX)
		return;
	if (n->n < NEAREST_MAX)
		n->n++;
	memmove(&n->best[at + 1], &n->best[at], (n->n - 1 - at) * sizeof(n->best[0]));
	n->best[at].score = score;
	memcpy(n->best[at].name, name, len);
	n->best[at].name[len] = '\0';
}

const char *nearest_words(struct nearest *n)
{
	size_t used = 0;

	n->words[0] = '\0';
	for (size_t i = 0; i < n->n; i++) {
		const char *before = !i ? " (did you mean " : i + 1 == n->n ? " or " : ", ";

		used += (size_t)snprintf(n->words + used, sizeof(n->words) - used, "%s'%s'", before,
					 n->best[i].name);
	}
	if (n->n)
		snprintf(n->words + used, sizeof(n->words) - used, "?)");
	return n->words;
}
