// SPDX-License-Identifier: LGPL-2.1-or-later
/* Every text is one block of the arena: its length, then its bytes and a NUL. */
#include "base/intern.h"

#include <string.h>

struct kept {
	size_t len;
	char text[];
};

void intern_init(struct intern *in, size_t limit)
{
	*in = (struct intern){.seed = hash_seed_new()};
	arena_init(&in->arena, limit);
}

void intern_free(struct intern *in)
{
	map_free(&in->texts);
	arena_free(&in->arena);
}

static const char *keep(struct intern *in, uint64_t hash, const char *text, size_t len)
{
	struct kept *k = arena_alloc(&in->arena, sizeof(*k) + len + 1);

	if (!k)
		return NULL;
	k->len = len;
	memcpy(k->text, text, len);
	k->text[len] = '\0';
	return map_set(&in->texts, hash, k) ? k->text : NULL;
}

const char *intern_text(struct intern *in, const char *text, size_t len)
{
	uint64_t hash = hash_bytes(&in->seed, text, len);
	const struct kept *k;

	for (; (k = map_get(&in->texts, hash)) != NULL; hash++)
		if (k->len == len && memcmp(k->text, text, len) == 0)
			return k->text;
	return keep(in, hash, text, len);
}
