/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Interned strings: equal texts have the same pointer, which is valid until the table is freed. For
 * names that occur in many events.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"

struct intern {
	struct arena arena;
	struct map texts; /* by hash, or for a collision by the next free number */
	struct hash_seed seed;
};

/* Stores at most `limit` bytes. */
void intern_init(struct intern *in, size_t limit);
void intern_free(struct intern *in);

/* The stored copy of a text, NUL-terminated; NULL without memory or beyond the limit. */
const char *intern_text(struct intern *in, const char *text, size_t len);

#endif
