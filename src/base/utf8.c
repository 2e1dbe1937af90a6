// SPDX-License-Identifier: LGPL-2.1-or-later
/* Recognizing valid UTF-8, and replacing bytes that are not. */
#include "base/utf8.h"

uint32_t utf8_decode(const unsigned char *p, size_t left, size_t *len)
{
	uint32_t code;
	size_t n;

	*len = 0;
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
	if ((n == 3 && code < 0x800) || (n == 4 && code < 0x10000) || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	*len = n;
	return code;
}

size_t utf8_len(const unsigned char *p, size_t left)
{
	size_t len;

	utf8_decode(p, left, &len);
	return len;
}

size_t utf8_encode(uint32_t c, char *out)
{
	const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char heads[] = {0, 0, 0xc0, 0xe0, 0xf0};

	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		out[i] = (char)(0x80 | (c & 0x3f));
	out[0] = (char)(heads[n] | c);
	return n;
}

bool utf8_is_ascii(const char *text, size_t len)
{
	unsigned char seen = 0;

	for (size_t i = 0; i < len; i++)
		seen |= (unsigned char)text[i];
	return seen < 0x80;
}

bool utf8_is_valid(const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0, n; i < len; i += n) {
		n = p[i] < 0x80 ? 1 : utf8_len(p + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

void buf_utf8(struct buf *b, const char *text, size_t len)
{
	const unsigned char *p = (const unsigned char *)text;
	char bytes[UTF8_MOST];

	if (utf8_is_ascii(text, len)) {
		buf_put(b, text, len);
		return;
	}
	for (size_t i = 0; i < len;) {
		const size_t n = p[i] < 0x80 ? 1 : utf8_len(p + i, len - i);

		if (n) {
			buf_put(b, text + i, n);
		} else {
			buf_put(b, bytes, utf8_encode(p[i], bytes));
		}
		i += n ? n : 1;
	}
}
