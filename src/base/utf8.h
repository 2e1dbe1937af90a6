/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* UTF-8: finding, reading and writing characters; whether bytes are a valid text. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Length of the valid UTF-8 sequence of two bytes or more at p, 0 when there is none: overlong
 * forms, surrogates and what lies beyond Unicode are not UTF-8.
 */
size_t utf8_len(const unsigned char *p, size_t left);

#define UTF8_MOST 4 /* bytes of a character */

/* The character of that sequence, whose length is *len, 0 when there is none. */
uint32_t utf8_decode(const unsigned char *p, size_t left, size_t *len);

/* Writes a character, at most UTF8_MOST bytes; returns how many. */
size_t utf8_encode(uint32_t c, char *out);

bool utf8_is_ascii(const char *text, size_t len);
bool utf8_is_valid(const char *text, size_t len);

/* Appends a text; bytes that are no UTF-8 become the characters of the same number. */
void buf_utf8(struct buf *b, const char *text, size_t len);

#endif
