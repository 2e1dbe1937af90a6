/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The order of numbers and texts: negative, 0 or positive, as qsort() and bsearch() want it. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stddef.h>

/* Of two int64_t, of two uint32_t. */
int order_i64(const void *a, const void *b);
int order_u32(const void *a, const void *b);

/* Of two texts by their bytes; a prefix of the other text comes first. */
int order_texts(const char *a, size_t a_len, const char *b, size_t b_len);

#endif
