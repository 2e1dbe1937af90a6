/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A growable byte buffer with a limit.
 *
 * Invariants: data is never NULL after buf_new(), len <= cap, cap <= limit. Appending beyond the
 * limit, or without memory, sets `full` and drops what does not fit. So printers append without
 * checking, and their caller checks buf_full() once.
 *
 * The put functions are inline because printing an event consists of calls of them.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf {
	char *data;
	size_t len;
	size_t cap;
	size_t limit;
	bool full;
};

struct buf buf_new(size_t limit);
void buf_init(struct buf *b, size_t limit);
void buf_free(struct buf *b);

/* A local buffer, freed where its scope ends: `scoped_buf text = buf_new(LIMIT);` */
#define scoped_buf struct buf __attribute__((cleanup(buf_free)))

/* Makes room for n more bytes; false (and full) when that is not possible. */
bool buf_grow(struct buf *b, size_t n);

static inline bool buf_room(struct buf *b, size_t n)
{
	return __builtin_expect(b->cap - b->len >= n, 1) || buf_grow(b, n);
}

static inline void buf_reset(struct buf *b)
{
	b->len = 0;
	b->full = false;
}

static inline bool buf_full(const struct buf *b)
{
	return b->full;
}

static inline void buf_put(struct buf *b, const void *p, size_t n)
{
	if (buf_room(b, n)) {
		memcpy(b->data + b->len, p, n);
		b->len += n;
	}
}

static inline void buf_putc(struct buf *b, char c)
{
	if (buf_room(b, 1))
		b->data[b->len++] = c;
}

static inline void buf_puts(struct buf *b, const char *s)
{
	buf_put(b, s, strlen(s));
}

static inline void buf_fill(struct buf *b, char c, size_t n)
{
	if (buf_room(b, n)) {
		memset(b->data + b->len, c, n);
		b->len += n;
	}
}

/* Inserts a text at the beginning. */
void buf_put_front(struct buf *b, const char *s);

void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);

/* Terminates the content without counting the NUL, and returns it. */
const char *buf_str(struct buf *b);

/* Numbers. Decimal of an unsigned and a signed value; lower-case hexadecimal without prefix. */
void buf_u64(struct buf *b, uint64_t v);
void buf_i64(struct buf *b, int64_t v);
void buf_hex(struct buf *b, uint64_t v);

/* The lowest `size` (at most 8) bytes of a number. */
void buf_uint(struct buf *b, uint64_t v, unsigned int size, bool big_endian);

/* A duration in nanoseconds: "12.345 ms". From 1 us on it has three digits after the dot. */
void buf_span(struct buf *b, uint64_t ns);

/* Decimal, padded on the left with `pad` to at least `width`. */
void buf_u64_pad(struct buf *b, uint64_t v, unsigned int width, char pad);

/* n bytes of s, padded with spaces on the left (right-aligned) or right to at least `width`. */
void buf_put_right(struct buf *b, const char *s, size_t n, size_t width);
void buf_put_left(struct buf *b, const char *s, size_t n, size_t width);

#endif
