/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>

/*
 * Length of the valid UTF-8 sequence of two bytes or more at p, 0 when there is none: overlong
 * forms, surrogates and what lies beyond Unicode are not UTF-8.
 */
size_t utf8_len(const unsigned char *p, size_t left);

#endif
