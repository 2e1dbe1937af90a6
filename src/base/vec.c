// SPDX-License-Identifier: LGPL-2.1-or-later
/* Growing a vector: its size doubles. */
#include "base/vec.h"

#include <string.h>

void *vec_push_(void **at, size_t *n, size_t *cap, size_t size)
{
	void *slot;

	if (*n == *cap) {
		size_t bigger = *cap ? *cap * 2 : 8, bytes;
		void *p;

		if (__builtin_mul_overflow(bigger, size, &bytes))
			return NULL;
		p = realloc(*at, bytes);
		if (!p)
			return NULL;
		*at = p;
		*cap = bigger;
	}
	slot = (char *)*at + (*n)++ * size;
	memset(slot, 0, size);
	return slot;
}

bool vec_add_(void **at, size_t *n, size_t *cap, const void *item, size_t size)
{
	void *slot = vec_push_(at, n, cap, size);

	if (slot)
		memcpy(slot, item, size);
	return slot;
}
