/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers of seven bits a byte, the lowest first; all bytes but the last have their high bit set.
 * Small numbers have few bytes.
 */
#ifndef BASE_VARINT_H
#define BASE_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define VARINT_MOST 10 /* bytes of a number */

/* Small numbers of both signs become small ones without. */
static inline uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

/* Writes a number; `to` must have VARINT_MOST bytes. Returns the end of the number. */
static inline uint8_t *varint_put(uint8_t *to, uint64_t v)
{
	while (v >= 0x80) {
		*to++ = (uint8_t)v | 0x80;
		v >>= 7;
	}
	*to++ = (uint8_t)v;
	return to;
}

/* Reads one of any length. Use varint_get(). */
static inline const uint8_t *varint_get_long(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t sum = 0;

	for (unsigned int shift = 0; p < end && shift < 64; shift += 7) {
		const uint8_t byte = *p++;

		sum |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*v = sum;
			return p;
		}
	}
	*v = 0;
	return NULL;
}

/*
 * Reads the number at p; returns its end, or NULL if it does not end before `end`. If p is NULL,
 * the number is 0 and NULL is returned: a caller that reads several numbers checks once, after the
 * last.
 */
static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	if (__builtin_expect(!p, 0)) {
		*v = 0;
		return NULL;
	}
	if (__builtin_expect(end - p < 2, 0))
		return varint_get_long(p, end, v);
	if (p[0] < 0x80) {
		*v = p[0];
		return p + 1;
	}
	if (p[1] < 0x80) {
		*v = (p[0] & 0x7fu) | (uint64_t)p[1] << 7;
		return p + 2;
	}
	return varint_get_long(p, end, v);
}

#endif
