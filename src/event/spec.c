// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading and applying printf() conversions.
 *
 * spec_read() takes what libtraceevent takes, letter by letter in any order, because that decides
 * how far a conversion reaches. What is not in C's order is marked SPEC_ODD and handed to the C
 * library as it stands: only the library knows what it makes of it.
 */
#include "event/spec.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"

/* The longest run of digits is an octal number's, plus its leading 0. */
#define MAX_DIGITS 24

/* c comes first because it is left out for old libraries. */
static const char conversions[] = "cdiuxXosp";
static const uint8_t conv_of[] = {CONV_CHAR,	  CONV_SIGNED, CONV_SIGNED, CONV_UNSIGNED, CONV_HEX,
				  CONV_HEX_UPPER, CONV_OCTAL,  CONV_STRING, CONV_POINTER};

/* How many letters after the p of a pointer conversion belong to it. */
static size_t ip_letters(const char *p)
{
	size_t n = 2;

	switch (p[1]) {
	case '6': return p[2] == 'c' ? 3 : 2;
	case '4': return p[2] && strchr("hnlb", p[2]) ? 3 : 2;
	case 'S': break;
	default: return 1;
	}
	while (p[n] && strchr("pfs", p[n]))
		n++;
	if (p[n] && strchr("hnlb", p[n]))
		n++;
	return p[n] == 'c' ? n + 1 : n;
}

static size_t pointer_letters(const char *p)
{
	static const struct {
		const char *first, *second;
	} known[] = {{"FSfs", ""}, {"Mm", "RF"}, {"U", "LlBb"}, {"h", "CDN"}};

	if (!*p)
		return 0;
	if (*p == 'I' || *p == 'i')
		return ip_letters(p);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strchr(known[i].first, *p))
			return p[1] && strchr(known[i].second, p[1]) ? 2 : 1;
	return 0;
}

static uint32_t read_number(const char **p)
{
	uint32_t n = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++)
		n = n >= SPEC_MAX_WIDTH ? SPEC_MAX_WIDTH : n * 10 + (uint32_t)(**p - '0');
	return n > SPEC_MAX_WIDTH ? SPEC_MAX_WIDTH : n;
}

/* Takes the conversion apart in C's order; odd when something is left over. */
static void read_parts(struct spec *s)
{
	static const char flag_letters[] = "-0#+";
	const char *p = s->text + 1, *flag;

	for (; *p && (flag = strchr(flag_letters, *p)); p++)
		s->flags |= (uint8_t)(1 << (flag - flag_letters));
	if (*p == '*') {
		s->flags |= SPEC_STAR_WIDTH;
		p++;
	} else {
		s->width = read_number(&p);
	}
	if (*p == '.') {
		p++;
		s->flags |= SPEC_PRECISION;
		if (*p == '*') {
			s->flags |= SPEC_STAR_PRECISION;
			p++;
		} else {
			s->precision = read_number(&p);
		}
	}
	while (*p && strchr("hlLzZ", *p))
		p++;
	if (!*p || !strchr(conversions, *p))
		s->flags |= SPEC_ODD;
}

static uint8_t value_bits(int length)
{
	switch (length) {
	case -2: return 8;
	case -1: return 16;
	case 0: return 32;
	default: return 64;
	}
}

static enum spec_result finish(const char *format, size_t letter, struct spec *s, size_t *used)
{
	size_t len = letter + 1;

	s->conv = conv_of[strchr(conversions, format[letter]) - conversions];
	s->pointer = (uint8_t)len;
	if (s->conv == CONV_POINTER)
		len += pointer_letters(format + len);
	*used = len;
	if (len > SPEC_MAX_TEXT - (s->conv < CONV_STRING))
		return SPEC_TOO_LONG;
	memcpy(s->text, format, len);
	s->bits = value_bits(s->length);
	read_parts(s);
	return SPEC_CONVERSION;
}

enum spec_result spec_read(const char *format, bool old, struct spec *s, size_t *used,
			   size_t *letter)
{
	size_t i;
	int length = 0;

	*s = (struct spec){0};
	for (i = 1; format[i]; i++) {
		*letter = i;
		if (strchr(conversions + old, format[i])) {
			s->length = (int8_t)(length < -3 ? -3 : length > 3 ? 3 : length);
			return finish(format, i, s, used);
		}
		switch (format[i]) {
		case 'h': length--; break;
		case 'l': length++; break;
		case 'L': length = 2; break;
		case 'z':
		case 'Z': length = 1; break;
		case '*': s->stars += s->stars < 2; break;
		default:
			if (strchr("#.0123456789-", format[i]) || (format[i] == '+' && !old))
				break;
			s->text[0] = format[i];
			*used = i + 1;
			return SPEC_UNKNOWN;
		}
	}
	*used = *letter = i;
	return SPEC_CUT;
}

char spec_unescape(char letter)
{
	switch (letter) {
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	default: return letter;
	}
}

bool spec_is_plain(const struct spec *s)
{
	return !s->flags && !s->width && !s->stars;
}

static uint32_t clamp(int star)
{
	return star > SPEC_MAX_WIDTH ? SPEC_MAX_WIDTH : (uint32_t)star;
}

static uint32_t width_of(const struct spec *s, int star)
{
	if (s->flags & SPEC_STAR_WIDTH)
		return star < 0 ? 0 : clamp(star);
	return s->width;
}

/* False: there is none. */
static bool precision_of(const struct spec *s, int star, uint32_t *precision)
{
	if (!(s->flags & SPEC_PRECISION))
		return false;
	if (!(s->flags & SPEC_STAR_PRECISION))
		*precision = s->precision;
	else if (star >= 0)
		*precision = clamp(star);
	else
		return false;
	return true;
}

static size_t octal(char *out, uint64_t v)
{
	size_t n = 1;

	for (uint64_t rest = v >> 3; rest; rest >>= 3)
		n++;
	for (size_t i = n; i-- > 0; v >>= 3)
		out[i] = (char)('0' + (v & 7));
	return n;
}

static size_t upper_hex(char *out, uint64_t v)
{
	size_t n = num_hex(out, v);

	for (size_t i = 0; i < n; i++)
		if (out[i] >= 'a')
			out[i] -= 'a' - 'A';
	return n;
}

static size_t digits_of(char *out, uint8_t conv, uint64_t v)
{
	switch (conv) {
	case CONV_HEX: return num_hex(out, v);
	case CONV_HEX_UPPER: return upper_hex(out, v);
	case CONV_OCTAL: return octal(out, v);
	default: return num_dec(out, v);
	}
}

/* What stands before the digits: a sign, 0x, or octal's 0 when the precision does not give it. */
static const char *prefix_of(const struct spec *s, bool negative, uint64_t v, bool zero_filled)
{
	if (s->conv == CONV_SIGNED)
		return negative ? "-" : s->flags & SPEC_PLUS ? "+" : "";
	if (!(s->flags & SPEC_ALTERNATE))
		return "";
	switch (s->conv) {
	case CONV_HEX: return v ? "0x" : "";
	case CONV_HEX_UPPER: return v ? "0X" : "";
	case CONV_OCTAL: return zero_filled ? "" : "0";
	default: return "";
	}
}

static void put_padded(struct buf *out, bool left, uint32_t width, const char *text, size_t len)
{
	if (left)
		buf_put_left(out, text, len, width);
	else
		buf_put_right(out, text, len, width);
}

static void odd_number(struct buf *out, const struct spec *s, int star, uint64_t value)
{
	char text[512];
	const char *digits = s->text;
	uint32_t biggest = 0;
	int n;

	/* The library would pad to any width before it drops what does not fit. */
	while (*(digits += strcspn(digits, "0123456789"))) {
		uint32_t number = read_number(&digits);

		biggest = number > biggest ? number : biggest;
	}
	if (biggest > sizeof(text) || star > (int)sizeof(text))
		return;
	if (s->stars)
		n = snprintf(text, sizeof(text), s->text, star, value);
	else
		n = snprintf(text, sizeof(text), s->text, value);
	if (n > 0)
		buf_put(out, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

/* What the conversion's type makes of a value, without its sign. */
static uint64_t magnitude(const struct spec *s, uint64_t value, bool *negative)
{
	const unsigned int shift = 64u - s->bits;
	int64_t v;

	*negative = false;
	if (s->conv != CONV_SIGNED)
		return value << shift >> shift;
	v = (int64_t)(value << shift) >> shift;
	*negative = v < 0;
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* A number: "   " or -0x 00 123 "   " */
static void put_number(struct buf *out, const struct spec *s, int star, uint64_t value)
{
	const uint32_t width = width_of(s, star);
	char digits[MAX_DIGITS];
	uint32_t precision = 1, zeros = 0, spaces = 0;
	size_t len = 0, prefix_len, total;
	const char *prefix;
	bool negative, exact = precision_of(s, star, &precision);

	value = magnitude(s, value, &negative);
	if (value || precision)
		len = digits_of(digits, s->conv, value);
	if (precision > len)
		zeros = precision - (uint32_t)len;
	prefix = prefix_of(s, negative, value, zeros || (len && digits[0] == '0'));
	prefix_len = strlen(prefix);

	total = prefix_len + zeros + len;
	if (width > total && s->flags & SPEC_ZERO && !(s->flags & SPEC_LEFT) && !exact)
		zeros += width - (uint32_t)total;
	else if (width > total)
		spaces = width - (uint32_t)total;
	if (!(s->flags & SPEC_LEFT))
		buf_fill(out, ' ', spaces);
	buf_put(out, prefix, prefix_len);
	buf_fill(out, '0', zeros);
	buf_put(out, digits, len);
	if (s->flags & SPEC_LEFT)
		buf_fill(out, ' ', spaces);
}

void spec_number(struct buf *out, const struct spec *s, int star, uint64_t value)
{
	const char c = (char)value;

	if (s->flags & SPEC_ODD)
		odd_number(out, s, star, value);
	else if (s->conv == CONV_CHAR)
		put_padded(out, s->flags & SPEC_LEFT, width_of(s, star), &c, 1);
	else
		put_number(out, s, star, value);
}

void spec_string(struct buf *out, const struct spec *s, int star, const char *text, size_t len)
{
	uint32_t precision;

	if (precision_of(s, star, &precision) && precision < len)
		len = precision;
	put_padded(out, s->flags & SPEC_LEFT, width_of(s, star), text, len);
}

void spec_hex_byte(struct buf *out, uint8_t v, bool upper)
{
	const char *digit = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	buf_put(out, (char[]){digit[v >> 4], digit[v & 15]}, 2);
}

void spec_address(struct buf *out, uint64_t value)
{
	if (!value) {
		buf_put(out, "(nil)", 5);
		return;
	}
	buf_put(out, "0x", 2);
	buf_hex(out, value);
}
