// SPDX-License-Identifier: LGPL-2.1-or-later
/* Strings of JSON and cells of CSV, from any bytes. */
#include "base/json.h"

#include <string.h>

#include "base/utf8.h"

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
		buf_utf8(b, s, n);
		return;
	}
	buf_putc(b, '"');
	for (const char *end = s + n, *next; s < end; s = next) {
		next = memchr(s, '"', (size_t)(end - s));
		next = next ? next + 1 : end;
		buf_utf8(b, s, (size_t)(next - s));
		if (next[-1] == '"')
			buf_putc(b, '"');
	}
	buf_putc(b, '"');
}

/* Most of an export is keys: one check of the buffer's space for a whole key. */
struct json_writer *json_key_word(struct json_writer *w, const char *key, size_t n)
{
	const size_t space = w->spaced, before = w->comma ? 1 + space : 0;
	struct buf *b = w->out;
	char *to;

	if (buf_room(b, before + n + strlen("\"\":") + space)) {
		to = b->data + b->len;
		memcpy(to, ", ", 2);
		to += before;
		*to++ = '"';
		memcpy(to, key, n);
		to += n;
		memcpy(to, "\":", 2);
		to += 2;
		if (space)
			*to++ = ' ';
		b->len = (size_t)(to - b->data);
	}
	w->comma = false;
	return w;
}

void json_put_printf(struct json_writer *w, const char *fmt, ...)
{
	va_list ap;

	json_separate(w);
	va_start(ap, fmt);
	buf_vprintf(w->out, fmt, ap);
	va_end(ap);
}
