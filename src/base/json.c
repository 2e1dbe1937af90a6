// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json.h"

#include <stdint.h>

/* Length of the valid UTF-8 sequence at p, 0 when there is none. */
static size_t utf8_len(const unsigned char *p, size_t left)
{
	uint32_t code;
	size_t n;

	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if ((p[0] & 0xf0) == 0xe0)
		n = 3;
	else if (p[0] >= 0xf0 && p[0] <= 0xf4)
		n = 4;
	else
		return 0;
	if (n > left)
		return 0;
	code = p[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (p[i] & 0x3f);
	}
	/* Overlong forms, surrogates and what lies beyond Unicode are not UTF-8. */
	if ((n == 3 && code < 0x800) || (n == 4 && code < 0x10000) || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return n;
}

static void put_escape(struct buf *b, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char shorts[] = "b\bf\fn\nr\rt\t\"\"\\\\";
	char text[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

	for (const char *s = shorts; *s; s += 2) {
		if ((unsigned char)s[1] == c) {
			buf_put(b, (char[]){'\\', s[0]}, 2);
			return;
		}
	}
	buf_put(b, text, sizeof(text));
}

void buf_json_string(struct buf *b, const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t plain = 0, i = 0;

	buf_putc(b, '"');
	while (i < n) {
		size_t len = 1;

		if (p[i] >= 0x80)
			len = utf8_len(p + i, n - i);
		else if (p[i] < 0x20 || p[i] == '"' || p[i] == '\\')
			len = 0;
		if (len) {
			i += len;
			continue;
		}
		buf_put(b, s + plain, i - plain);
		put_escape(b, p[i]);
		plain = ++i;
	}
	buf_put(b, s + plain, n - plain);
	buf_putc(b, '"');
}

void buf_csv_cell(struct buf *b, const char *s, size_t n)
{
	bool quote = false;

	for (size_t i = 0; i < n && !quote; i++)
		quote = s[i] == ',' || s[i] == '"' || s[i] == '\n' || s[i] == '\r';
	if (!quote) {
		buf_put(b, s, n);
		return;
	}
	buf_putc(b, '"');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"')
			buf_putc(b, '"');
		buf_putc(b, s[i]);
	}
	buf_putc(b, '"');
}
