/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers to digits, in memory of the caller; and digits to numbers where strtol() is not enough.
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NUM_MAX_DEC 20 /* digits of UINT64_MAX */
#define NUM_MAX_HEX 16

extern const char num_pairs[201];     /* "00" to "99" */
extern const char num_hex_pairs[513]; /* "00" to "ff" */

/* Exactly `digits` decimal digits, zero-padded; higher digits of v are dropped. */
static inline void num_dec_fixed(char *out, uint64_t v, unsigned int digits)
{
	while (digits >= 2) {
		digits -= 2;
		memcpy(out + digits, num_pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (digits)
		out[0] = (char)('0' + v % 10);
}

size_t num_dec_long(char *out, uint64_t v);

/* Write without a terminator and return how many characters they wrote. */
static inline size_t num_dec(char *out, uint64_t v)
{
	if (v < 10) {
		out[0] = (char)('0' + v);
		return 1;
	}
	if (v < 100) {
		memcpy(out, num_pairs + 2 * v, 2);
		return 2;
	}
	return num_dec_long(out, v);
}

static inline size_t num_hex(char *out, uint64_t v)
{
	const unsigned int len = (67 - (unsigned int)__builtin_clzll(v | 1)) / 4;
	unsigned int at = len;

	while (at >= 2) {
		at -= 2;
		memcpy(out + at, num_hex_pairs + 2 * (v & 0xff), 2);
		v >>= 8;
	}
	if (at)
		out[0] = num_hex_pairs[2 * v + 1];
	return len;
}

/* A duration in nanoseconds: "12.35 ms". From 1 us on it has four digits. Returns `text`. */
const char *num_span(char *text, size_t cap, double ns);

/* The value of a hexadecimal digit, or -1. */
static inline int num_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The base for strtol(): 16 for "0x…", else 10, because people who write 010 mean ten. */
static inline int num_base(const char *text)
{
	text += strspn(text, " \t");
	text += *text == '-' || *text == '+';
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

#endif
