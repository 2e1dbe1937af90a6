/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers to digits, into memory the caller has made room for. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
#include <stdint.h>

#define NUM_MAX_DEC 20 /* digits of UINT64_MAX */
#define NUM_MAX_HEX 16

/* Write without a terminator and return how many characters they wrote. */
size_t num_dec(char *out, uint64_t v);
size_t num_hex(char *out, uint64_t v);

/* Exactly `digits` decimal digits, zero-padded; higher digits of v are dropped. */
void num_dec_fixed(char *out, uint64_t v, unsigned int digits);

#endif
