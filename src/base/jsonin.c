// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reading JSON text. The depth of nesting is limited, which also limits the recursion. */
#include "base/jsonin.h"

#include <string.h>

#include "base/num.h"
#include "base/utf8.h"

/* Text that is being read; `at` never passes `end`. */
struct reading {
	const char *at, *end;
};

static void skip_blanks(struct reading *r)
{
	while (r->at < r->end &&
	       (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
		r->at++;
}

static bool take(struct reading *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* The value of four hexadecimal digits; negative if there are none. */
static int32_t take_hex(struct reading *r)
{
	int32_t value = 0;

	for (int i = 0; i < 4; i++) {
		int digit = r->at < r->end ? num_hex_digit(*r->at) : -1;

		if (digit < 0)
			return -1;
		value = value << 4 | digit;
		r->at++;
	}
	return value;
}

/*
 * The character that an escape sequence stands for, from after its backslash; negative if it is
 * invalid.
 */
static int32_t take_escape(struct reading *r)
{
	static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
	const char *known;
	int32_t c, low;

	if (r->at == r->end)
		return -1;
	if (*r->at != 'u') {
		known = *r->at ? strchr(names, *r->at++) : NULL;
		return known ? values[known - names] : -1;
	}
	r->at++;
	c = take_hex(r);
	if (c < 0xd800 || c > 0xdfff)
		return c;
	/* Half of a surrogate pair is no character. */
	if (c > 0xdbff || !take(r, '\\') || !take(r, 'u'))
		return -1;
	low = take_hex(r);
	return low < 0xdc00 || low > 0xdfff ? -1 : 0x10000 + (c - 0xd800) * 0x400 + (low - 0xdc00);
}

/* Reads a string, beginning with its quote; appends its characters to `out` unless that is NULL. */
static bool take_string(struct reading *r, struct buf *out, bool *zero)
{
	char bytes[UTF8_MOST];

	if (!take(r, '"'))
		return false;
	while (r->at < r->end && *r->at != '"') {
		const unsigned char c = (unsigned char)*r->at;
		size_t len = 1;
		int32_t wide;

		if (c < 0x20)
			return false;
		if (c == '\\') {
			r->at++;
			wide = take_escape(r);
			if (wide < 0)
				return false;
			*zero |= !wide;
			if (out)
				buf_put(out, bytes, utf8_encode((uint32_t)wide, bytes));
			continue;
		}
		if (c >= 0x80)
			len = utf8_len((const unsigned char *)r->at, (size_t)(r->end - r->at));
		if (!len)
			return false;
		if (out)
			buf_put(out, r->at, len);
		r->at += len;
	}
	return take(r, '"');
}

static bool take_digits(struct reading *r)
{
	const char *from = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return r->at > from;
}

static bool take_number(struct reading *r)
{
	take(r, '-');
	if (!take(r, '0') && !take_digits(r))
		return false;
	if (take(r, '.') && !take_digits(r))
		return false;
	if (r->at < r->end && (*r->at == 'e' || *r->at == 'E')) {
		r->at++;
		if (r->at < r->end && (*r->at == '+' || *r->at == '-'))
			r->at++;
		return take_digits(r);
	}
	return true;
}

static bool take_word(struct reading *r, const char *word)
{
	const size_t len = strlen(word);

	if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0)
		return false;
	r->at += len;
	return true;
}

static bool take_value(struct reading *r, int depth, struct json_value *out);

/* The content of an array or object: values, or names and values. */
static bool take_list(struct reading *r, int depth, bool object)
{
	const char closing = object ? '}' : ']';
	struct json_value each;
	bool zero = false;

	r->at++;
	skip_blanks(r);
	if (take(r, closing))
		return true;
	do {
		skip_blanks(r);
		if (object) {
			if (!take_string(r, NULL, &zero))
				return false;
			skip_blanks(r);
			if (!take(r, ':'))
				return false;
		}
		if (!take_value(r, depth + 1, &each))
			return false;
		skip_blanks(r);
	} while (take(r, ','));
	return take(r, closing);
}

static bool take_value(struct reading *r, int depth, struct json_value *out)
{
	bool good, zero = false;

	skip_blanks(r);
	if (r->at == r->end || depth > JSON_MAX_DEPTH)
		return false;
	out->at = r->at;
	switch (*r->at) {
	case '{':
	case '[':
		out->kind = *r->at == '{' ? JSON_OBJECT : JSON_ARRAY;
		good = take_list(r, depth, *r->at == '{');
		break;
	case '"':
		out->kind = JSON_STRING;
		good = take_string(r, NULL, &zero);
		break;
	case 't':
	case 'f':
		out->kind = JSON_BOOL;
		good = take_word(r, *r->at == 't' ? "true" : "false");
		break;
	case 'n':
		out->kind = JSON_NULL;
		good = take_word(r, "null");
		break;
	default: out->kind = JSON_NUMBER; good = take_number(r);
	}
	out->len = (size_t)(r->at - out->at);
	return good;
}

bool json_parse(const char *text, size_t len, struct json_value *out)
{
	struct reading r = {text, text + len};

	if (!take_value(&r, 0, out))
		return false;
	skip_blanks(&r);
	return r.at == r.end;
}

static bool is_named(const struct json_value *name, const char *wanted)
{
	struct buf text;
	bool same;

	buf_init(&text, 256);
	same = json_text(name, &text) && strcmp(buf_str(&text), wanted) == 0 && !buf_full(&text);
	buf_free(&text);
	return same;
}

/* The next value of an array or object that has been checked; for an object also its name. */
static bool next_in(const struct json_value *list, size_t *pos, struct json_value *name,
		    struct json_value *out)
{
	struct reading r = {list->at + (*pos ? *pos : 1), list->at + list->len - 1};

	skip_blanks(&r);
	if (*pos && !take(&r, ','))
		return false;
	skip_blanks(&r);
	if (list->kind == JSON_OBJECT) {
		if (!take_value(&r, 0, name))
			return false;
		skip_blanks(&r);
		take(&r, ':');
	}
	if (!take_value(&r, 0, out))
		return false;
	*pos = (size_t)(r.at - list->at);
	return true;
}

bool json_member(const struct json_value *object, const char *name, struct json_value *out)
{
	struct json_value key;
	size_t pos = 0;

	if (object->kind != JSON_OBJECT)
		return false;
	while (next_in(object, &pos, &key, out))
		if (is_named(&key, name))
			return true;
	return false;
}

bool json_next(const struct json_value *array, size_t *pos, struct json_value *out)
{
	struct json_value none;

	return array->kind == JSON_ARRAY && next_in(array, pos, &none, out);
}

bool json_text(const struct json_value *v, struct buf *out)
{
	struct reading r = {v->at, v->at + v->len};
	bool zero = false;

	return v->kind == JSON_STRING && take_string(&r, out, &zero) && !zero;
}

bool json_u64(const struct json_value *v, uint64_t *out)
{
	uint64_t n = 0;

	if (v->kind != JSON_NUMBER)
		return false;
	for (size_t i = 0; i < v->len; i++)
		if (v->at[i] < '0' || v->at[i] > '9' || __builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(v->at[i] - '0'), &n))
			return false;
	*out = n;
	return true;
}
