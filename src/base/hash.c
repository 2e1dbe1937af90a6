// SPDX-License-Identifier: LGPL-2.1-or-later
/* Seeds, and hashing of bytes, eight at a time. */
#include "base/hash.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

struct hash_seed hash_seed_new(void)
{
	struct hash_seed s;
	struct timespec now = {0};

	if (getrandom(&s, sizeof(s), GRND_NONBLOCK) == (ssize_t)sizeof(s))
		return s;
	/*
	 * getrandom() may have no randomness early in a boot. Then the time and our load address
	 * are the seed.
	 */
	clock_gettime(CLOCK_MONOTONIC, &now);
	s.a = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15ull ^ (uintptr_t)&s;
	s.b = (uint64_t)now.tv_sec ^ (uintptr_t)&hash_seed_new * 0xbf58476d1ce4e5b9ull;
	return s;
}

/* The result is the same on all machines: words are read as little-endian. */
uint64_t hash_bytes(const struct hash_seed *s, const void *data, size_t size)
{
	const char *p = data;
	uint64_t hash = hash_add(s, 0, size), word;

	for (; size >= sizeof(word); size -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		hash = hash_add(s, hash, le64toh(word));
	}
	word = 0;
	memcpy(&word, p, size);
	return hash_add(s, hash, le64toh(word));
}
