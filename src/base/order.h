/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The order of numbers and texts: negative, 0 or positive, as qsort() and bsearch() want it; and
 * sorting vectors and lists.
 */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stddef.h>
#include <stdlib.h>

/* Of two int64_t, of two uint32_t. */
int order_i64(const void *a, const void *b);
int order_u32(const void *a, const void *b);

/* Of two texts by their bytes; a prefix of the other text comes first. */
int order_texts(const char *a, size_t a_len, const char *b, size_t b_len);

/* Sorts a vector as qsort() does, which refuses the memory of an empty one. */
#define order_vec(v, compare) ((v)->n ? qsort((v)->at, (v)->n, sizeof(*(v)->at), compare) : (void)0)

/*
 * Sorts a singly linked list and returns its first element; `link` is the offset of the pointer to
 * the next one. Equal elements keep their order.
 */
void *order_list(void *list, size_t link, int (*compare)(const void *a, const void *b));

#endif
