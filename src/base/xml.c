// SPDX-License-Identifier: LGPL-2.1-or-later
/* Escaping text for XML and HTML. */
#include "base/xml.h"

#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* U+FFFE and U+FFFF; U+202A to U+202E and U+2066 to U+2069; the control characters of UTF-8. */
static bool unwanted(const unsigned char *p)
{
	if (p[0] == 0xef && p[1] == 0xbf)
		return p[2] >= 0xbe;
	if (p[0] == 0xe2 && p[1] == 0x80)
		return p[2] >= 0xaa && p[2] <= 0xae;
	if (p[0] == 0xe2 && p[1] == 0x81)
		return p[2] >= 0xa6 && p[2] <= 0xa9;
	return p[0] == 0xc2 && p[1] < 0xa0;
}

static const char *of_ascii(unsigned char c)
{
	switch (c) {
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '&': return "&amp;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	case '\n':
	case '\t': return " ";
	default: return c < 0x20 || c == 0x7f ? REPLACEMENT : NULL;
	}
}

/* The replacement of the character at p, NULL if it stays; and the character's length. */
static const char *instead(const unsigned char *p, size_t left, size_t *len)
{
	*len = 1;
	if (*p < 0x80)
		return of_ascii(*p);
	*len = utf8_len(p, left);
	if (*len && !unwanted(p))
		return NULL;
	*len += !*len;
	return REPLACEMENT;
}

size_t buf_put_xml_chars(struct buf *b, const char *s, size_t n, size_t chars)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t done = 0, i = 0, len;

	for (; i < n && chars; chars--, i += len) {
		const char *other = instead(p + i, n - i, &len);

		if (!other)
			continue;
		buf_put(b, s + done, i - done);
		buf_puts(b, other);
		done = i + len;
	}
	buf_put(b, s + done, i - done);
	return i;
}

void buf_put_xml(struct buf *b, const char *s, size_t n)
{
	buf_put_xml_chars(b, s, n, n);
}

size_t xml_chars(const char *s, size_t n)
{
	size_t chars = 0, len;

	for (size_t i = 0; i < n; i += len, chars++)
		instead((const unsigned char *)s + i, n - i, &len);
	return chars;
}
