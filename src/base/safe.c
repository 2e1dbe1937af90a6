// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a terminal may be sent. In UTF-8 the bytes 0x80 to 0x9f are harmless after the byte that
 * starts a longer character and commands on their own, as are the characters of these numbers.
 */
#include "base/safe.h"

#include <stdbool.h>
#include <string.h>

#include "base/array.h"

/* How many bytes follow one that starts a character; 0 for one that starts none. */
static unsigned int followers(unsigned char c)
{
	if (c >= 0xf0 && c <= 0xf4)
		return 3;
	if (c >= 0xe0 && c <= 0xef)
		return 2;
	return c >= 0xc2 && c <= 0xdf;
}

/* Bytes of the harmless character at p, 0 when it is none. */
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

/* Bytes of the command at p when it is one of those that spur colours its text with, else 0. */
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
