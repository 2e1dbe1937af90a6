// SPDX-License-Identifier: LGPL-2.1-or-later
/* Vectors of strings. Every element of a struct strings is allocated on its own. */
#include "base/strings.h"

bool strings_add_bytes(struct strings *s, const char *text, size_t n)
{
	char *copy = strndup(text, n), **slot = copy ? vec_push(s) : NULL;

	if (!slot) {
		free(copy);
		return false;
	}
	*slot = copy;
	return true;
}

void strings_free(struct strings *s)
{
	vec_each (text, s)
		free(*text);
	vec_free(s);
}

bool string_refs_add(struct string_refs *s, const char *text)
{
	const char *const end = NULL;

	if (!vec_add(s, &text) || !vec_add(s, &end))
		return false;
	s->n--;
	return true;
}
