// SPDX-License-Identifier: GPL-2.0-or-later
/* Digits two at a time from a table: the inner loop of every report line. */
#include "base/num.h"

#include <string.h>

static const char pairs[201] = "00010203040506070809101112131415161718192021222324"
			       "25262728293031323334353637383940414243444546474849"
			       "50515253545556575859606162636465666768697071727374"
			       "75767778798081828384858687888990919293949596979899";

static unsigned int dec_len(uint64_t v)
{
	unsigned int n = 1;

	for (;;) {
		if (v < 10)
			return n;
		if (v < 100)
			return n + 1;
		if (v < 1000)
			return n + 2;
		if (v < 10000)
			return n + 3;
		v /= 10000;
		n += 4;
	}
}

size_t num_dec(char *out, uint64_t v)
{
	unsigned int len = dec_len(v);

	num_dec_fixed(out, v, len);
	return len;
}

void num_dec_fixed(char *out, uint64_t v, unsigned int digits)
{
	while (digits >= 2) {
		digits -= 2;
		memcpy(out + digits, pairs + 2 * (v % 100), 2);
		v /= 100;
	}
	if (digits)
		out[0] = (char)('0' + v % 10);
}

size_t num_hex(char *out, uint64_t v)
{
	static const char digit[] = "0123456789abcdef";
	unsigned int len = v ? (67 - (unsigned int)__builtin_clzll(v)) / 4 : 1;

	for (unsigned int i = len; i-- > 0; v >>= 4)
		out[i] = digit[v & 15];
	return len;
}
