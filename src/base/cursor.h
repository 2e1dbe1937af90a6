/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading untrusted bytes: all of spur's parsers use this.
 *
 * A cursor walks over [base, end) and never outside. A read that does not fit returns zero (or
 * NULL), sets `failed` and leaves the position where it was; every later read fails too. A parser
 * may therefore read a whole structure and ask cursor_failed() once at its end.
 */
#ifndef BASE_CURSOR_H
#define BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const uint8_t *base;
	const uint8_t *pos;
	const uint8_t *end;
	uint64_t origin; /* offset of base in the file, for messages */
	bool big_endian;
	bool failed;
};

static inline struct cursor cursor_over(const void *data, size_t size, bool big_endian)
{
	const uint8_t *p = data;

	return (struct cursor){.base = p, .pos = p, .end = p + size, .big_endian = big_endian};
}

static inline size_t cursor_left(const struct cursor *c)
{
	return c->failed ? 0 : (size_t)(c->end - c->pos);
}

static inline bool cursor_failed(const struct cursor *c)
{
	return c->failed;
}

/* The cursor's position, as an offset in the file. */
static inline uint64_t cursor_offset(const struct cursor *c)
{
	return c->origin + (uint64_t)(c->pos - c->base);
}

/* The next n bytes, or NULL. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t n)
{
	const uint8_t *p = c->pos;

	if (c->failed || n > (uint64_t)(c->end - c->pos)) {
		c->failed = true;
		return NULL;
	}
	c->pos += n;
	return p;
}

static inline void cursor_skip(struct cursor *c, uint64_t n)
{
	cursor_bytes(c, n);
}

/* An unsigned integer of 1, 2, 4 or 8 bytes at p, which the caller has checked. */
static inline uint64_t load_uint(const uint8_t *p, unsigned int size, bool big_endian)
{
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;
	const bool swap = big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);

	switch (size) {
	case 1: return *p;
	case 2: memcpy(&v16, p, 2); return swap ? __builtin_bswap16(v16) : v16;
	case 4: memcpy(&v32, p, 4); return swap ? __builtin_bswap32(v32) : v32;
	case 8: memcpy(&v64, p, 8); return swap ? __builtin_bswap64(v64) : v64;
	default: return 0;
	}
}

/* Writes the lowest `size` bytes of v to p. */
static inline void store_uint(void *p, uint64_t v, unsigned int size, bool big_endian)
{
	uint8_t *bytes = p;

	for (unsigned int i = 0; i < size; i++)
		bytes[i] = (uint8_t)(v >> 8 * (big_endian ? size - 1 - i : i));
}

static inline uint64_t cursor_uint(struct cursor *c, unsigned int size)
{
	const uint8_t *p = cursor_bytes(c, size);

	return p ? load_uint(p, size, c->big_endian) : 0;
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	return (uint8_t)cursor_uint(c, 1);
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	return (uint16_t)cursor_uint(c, 2);
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	return (uint32_t)cursor_uint(c, 4);
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	return cursor_uint(c, 8);
}

/* A NUL-terminated string, or NULL when there is no NUL before the end. */
static inline const char *cursor_string(struct cursor *c)
{
	const uint8_t *nul = c->failed ? NULL : memchr(c->pos, 0, (size_t)(c->end - c->pos));
	const char *s = (const char *)c->pos;

	if (!nul) {
		c->failed = true;
		return NULL;
	}
	c->pos = nul + 1;
	return s;
}

/* A cursor over the next n bytes, which this one skips. If there are fewer, both have failed. */
static inline struct cursor cursor_sub(struct cursor *c, uint64_t n)
{
	uint64_t origin = cursor_offset(c);
	const uint8_t *p = cursor_bytes(c, n);
	struct cursor sub = cursor_over(p ? p : c->base, p ? (size_t)n : 0, c->big_endian);

	sub.origin = origin;
	sub.failed = !p;
	return sub;
}

#endif
