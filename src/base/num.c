// SPDX-License-Identifier: LGPL-2.1-or-later
/* Digits two at a time from tables: the inner loop of every report line. */
#include "base/num.h"

#include <math.h>
#include <stdio.h>

const char num_pairs[201] = "0001020304050607080910111213141516171819202122232425262728293031"
			    "3233343536373839404142434445464748495051525354555657585960616263"
			    "6465666768697071727374757677787980818283848586878889909192939495"
			    "96979899";

const char num_hex_pairs[513] = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
				"202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
				"404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f"
				"606162636465666768696a6b6c6d6e6f707172737475767778797a7b7c7d7e7f"
				"808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"
				"a0a1a2a3a4a5a6a7a8a9aaabacadaeafb0b1b2b3b4b5b6b7b8b9babbbcbdbebf"
				"c0c1c2c3c4c5c6c7c8c9cacbcccdcecfd0d1d2d3d4d5d6d7d8d9dadbdcdddedf"
				"e0e1e2e3e4e5e6e7e8e9eaebecedeeeff0f1f2f3f4f5f6f7f8f9fafbfcfdfeff";

/*
 * Between two neighbouring powers of two there is at most one power of ten, so one comparison
 * decides.
 */
static unsigned int dec_len(uint64_t v)
{
	static const uint64_t powers[] = {
		0,
		10,
		100,
		1000,
		10000,
		100000,
		1000000,
		10000000,
		100000000,
		1000000000,
		10000000000,
		100000000000,
		1000000000000,
		10000000000000,
		100000000000000,
		1000000000000000,
		10000000000000000,
		100000000000000000,
		1000000000000000000,
		10000000000000000000u,
	};
	const unsigned int bits = 64 - (unsigned int)__builtin_clzll(v | 1);
	const unsigned int guess = bits * 1233 >> 12;

	return guess + (v >= powers[guess]);
}

size_t num_dec_long(char *out, uint64_t v)
{
	const unsigned int len = dec_len(v);

	num_dec_fixed(out, v, len);
	return len;
}

const char *num_span(char *text, size_t cap, double ns)
{
	static const char *const units[] = {"us", "ms", "s"};
	unsigned int unit = 0;
	double v = ns / 1000;

	if (fabs(ns) < 1000) {
		snprintf(text, cap, "%.0f ns", ns);
		return text;
	}
	/* A value that would be rounded up to one more digit has one digit less after the dot. */
	for (; fabs(v) >= 999.95 && unit < 2; unit++)
		v /= 1000;
	snprintf(text, cap, "%.*f %s",
		 fabs(v) < 9.9995   ? 3
		 : fabs(v) < 99.995 ? 2
		 : fabs(v) < 999.95 ? 1
				    : 0,
		 v, units[unit]);
	return text;
}
