// SPDX-License-Identifier: LGPL-2.1-or-later
/* Strings of JSON and cells of CSV, from any bytes. */
#include "base/json.h"

#include <string.h>

#include "base/utf8.h"

/* ---- eight bytes at a time ---- */

#define ONES  0x0101010101010101ull
#define HIGHS (ONES << 7)

/* Not 0 if a byte of the word is c. */
static inline uint64_t has(uint64_t word, unsigned char c)
{
	const uint64_t x = word ^ (ONES * c);

	return (x - ONES) & ~x & HIGHS;
}

static inline bool is_odd_in_json(uint64_t word)
{
	const uint64_t controls = (word - ONES * 0x20) & ~word;

	return ((word | controls) & HIGHS) | has(word, '"') | has(word, '\\');
}

static inline bool is_odd_in_csv(uint64_t word)
{
	return (word & HIGHS) | has(word, ',') | has(word, '"') | has(word, '\n') | has(word, '\r');
}

/* Whether a text has no byte that is odd. Most texts have none; then they are copied at once. */
static inline bool is_plain(const char *s, size_t n, bool is_odd(uint64_t word))
{
	uint64_t word = ONES * ' ';
	size_t i = 0;

	for (; n - i >= sizeof(word); i += sizeof(word)) {
		memcpy(&word, s + i, sizeof(word));
		if (is_odd(word))
			return false;
	}
	if (i == n)
		return true;
	if (i)
		memcpy(&word, s + n - sizeof(word), sizeof(word));
	else
		for (; i < n; i++)
			word = word << 8 | (unsigned char)s[i];
	return !is_odd(word);
}

/* ---- strings and cells ---- */

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
	size_t plain = 0, i = is_plain(s, n, is_odd_in_json) ? n : 0;

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

	if (is_plain(s, n, is_odd_in_csv)) {
		buf_put(b, s, n);
		return;
	}
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

/* ---- keys ---- */

/* Like memcpy(); for few bytes the call would take longer than the copy. */
static inline void copy_word(char *to, const char *from, size_t n)
{
	if (n > 16 || n < 4) {
		memcpy(to, from, n);
	} else if (n >= 8) {
		memcpy(to, from, 8);
		memcpy(to + n - 8, from + n - 8, 8);
	} else {
		memcpy(to, from, 4);
		memcpy(to + n - 4, from + n - 4, 4);
	}
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
		copy_word(to, key, n);
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
