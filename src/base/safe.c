// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text that is safe on a terminal. The bytes 0x80 to 0x9f are harmless as later bytes of a UTF-8
 * character. On their own they are commands, and so are the characters U+0080 to U+009F.
 */
#include "base/safe.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/* How many bytes follow the first byte of a character; 0 if it cannot be a first byte. */
static unsigned int followers(unsigned char c)
{
	if (c >= 0xf0 && c <= 0xf4)
		return 3;
	if (c >= 0xe0 && c <= 0xef)
		return 2;
	return c >= 0xc2 && c <= 0xdf;
}

/* The length of the character at p if it is harmless, else 0. */
static size_t harmless(const unsigned char *p, size_t left)
{
	unsigned int more;

	if (*p < 0x80)
		return (*p >= 0x20 && *p != 0x7f) || *p == '\n' || *p == '\t';
	more = followers(*p);
	if (!more || more >= left || (*p == 0xc2 && p[1] < 0xa0))
		return 0;
	for (unsigned int i = 1; i <= more; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return more + 1;
}

/* The length of the command at p if it is one of the colours that spur uses, else 0. */
static size_t colour(const char *p, size_t left)
{
	static const char *const known[] = {"\033[0m",	"\033[1m",  "\033[31m",
					    "\033[32m", "\033[33m", "\033[36m"};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		size_t len = strlen(known[i]);

		if (len <= left && memcmp(p, known[i], len) == 0)
			return len;
	}
	return 0;
}

static void put(struct buf *b, const char *s, size_t n, bool coloured)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t done = 0, i = 0;

	while (i < n) {
		size_t len = harmless(p + i, n - i);

		if (!len && coloured)
			len = colour(s + i, n - i);
		if (len) {
			i += len;
			continue;
		}
		buf_put(b, s + done, i - done);
		buf_putc(b, '?');
		done = ++i;
	}
	buf_put(b, s + done, n - done);
}

void buf_put_safe(struct buf *b, const char *s, size_t n)
{
	put(b, s, n, false);
}

void buf_put_shown(struct buf *b, const char *s, size_t n)
{
	put(b, s, n, true);
}

void buf_clean(struct buf *b, size_t from)
{
	unsigned char *p = (unsigned char *)b->data;
	size_t len;

	for (size_t i = from; i < b->len; i += len ? len : 1) {
		len = harmless(p + i, b->len - i);
		if (!len)
			p[i] = '?';
	}
}
