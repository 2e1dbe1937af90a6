// SPDX-License-Identifier: LGPL-2.1-or-later
/* The growable buffer's slow paths: growing, formatting, numbers. */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cursor.h"
#include "base/nanoseconds.h"
#include "base/num.h"

/* `data` of a buffer that has no memory yet: it is never NULL. */
static char nothing[1];

struct buf buf_new(size_t limit)
{
	return (struct buf){.data = nothing, .limit = limit};
}

void buf_init(struct buf *b, size_t limit)
{
	*b = buf_new(limit);
}

void buf_free(struct buf *b)
{
	if (b->cap)
		free(b->data);
	buf_init(b, b->limit);
}

bool buf_grow(struct buf *b, size_t n)
{
	size_t want, cap = b->cap ? b->cap : 256;
	char *data;

	if (__builtin_add_overflow(b->len, n, &want) || want > b->limit) {
		b->full = true;
		return false;
	}
	while (cap < want)
		cap *= 2;
	if (cap > b->limit)
		cap = b->limit;
	data = realloc(b->cap ? b->data : NULL, cap);
	if (!data) {
		b->full = true;
		return false;
	}
	b->data = data;
	b->cap = cap;
	return true;
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(b->data + b->len, b->cap - b->len, fmt, ap);
	if (n > 0 && (size_t)n >= b->cap - b->len) {
		if (!buf_grow(b, (size_t)n + 1))
			n = -1;
		else
			vsnprintf(b->data + b->len, b->cap - b->len, fmt, again);
	}
	if (n > 0)
		b->len += (size_t)n;
	va_end(again);
}

void buf_put_front(struct buf *b, const char *s)
{
	const size_t n = strlen(s);

	if (buf_room(b, n)) {
		memmove(b->data + n, b->data, b->len);
		memcpy(b->data, s, n);
		b->len += n;
	}
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

const char *buf_str(struct buf *b)
{
	if (!buf_room(b, 1))
		return "";
	b->data[b->len] = '\0';
	return b->data;
}

void buf_u64(struct buf *b, uint64_t v)
{
	if (buf_room(b, NUM_MAX_DEC))
		b->len += num_dec(b->data + b->len, v);
}

void buf_i64(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_putc(b, '-');
	buf_u64(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

void buf_hex(struct buf *b, uint64_t v)
{
	if (buf_room(b, NUM_MAX_HEX))
		b->len += num_hex(b->data + b->len, v);
}

void buf_uint(struct buf *b, uint64_t v, unsigned int size, bool big_endian)
{
	if (!buf_room(b, size))
		return;
	store_uint(b->data + b->len, v, size, big_endian);
	b->len += size;
}

void buf_u64_pad(struct buf *b, uint64_t v, unsigned int width, char pad)
{
	char digits[NUM_MAX_DEC];
	size_t n = num_dec(digits, v);

	if (n < width)
		buf_fill(b, pad, width - n);
	buf_put(b, digits, n);
}

void buf_put_right(struct buf *b, const char *s, size_t n, size_t width)
{
	if (n < width)
		buf_fill(b, ' ', width - n);
	buf_put(b, s, n);
}

void buf_put_left(struct buf *b, const char *s, size_t n, size_t width)
{
	buf_put(b, s, n);
	if (n < width)
		buf_fill(b, ' ', width - n);
}

void buf_span(struct buf *b, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} units[] = {{NS_PER_S, "s"}, {NS_PER_MS, "ms"}, {NS_PER_US, "us"}};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		const uint64_t last = units[i].ns / 1000; /* the value of the last digit */
		const uint64_t digits = ns / last + (ns % last * 2 >= last);

		if (digits < 1000)
			continue;
		buf_printf(b, "%llu.%03llu %s", (unsigned long long)(digits / 1000),
			   (unsigned long long)(digits % 1000), units[i].name);
		return;
	}
	buf_printf(b, "%llu ns", (unsigned long long)ns);
}
