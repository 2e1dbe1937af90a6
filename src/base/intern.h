/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts that are kept once: equal texts are one pointer, which lives until the table is freed.
 * For names that come again and again in a stream of events.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"

struct intern {
	struct arena arena;
	struct map texts; /* by hash; of unequal texts with one hash the later uses the next one */
	struct hash_seed seed;
};

/* No more than `limit` bytes are kept. */
void intern_init(struct intern *in, size_t limit);
void intern_free(struct intern *in);

/* The text of that many bytes, terminated; NULL without memory or beyond the limit. */
const char *intern_text(struct intern *in, const char *text, size_t len);

#endif
