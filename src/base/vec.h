/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A growable array: a struct with the members {T *at; size_t n, cap;}, all zero when empty.
 *
 *	vec_of(struct item) items = {0};
 *	struct item *it = vec_push(&items);	zeroed, or NULL without memory
 *	vec_add(&items, &item);			a copy; false without memory
 *	vec_free(&items);
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* The type of a vector that needs no name of its own. */
#define vec_of(type)                                                                               \
	struct {                                                                                   \
		type *at;                                                                          \
		size_t n, cap;                                                                     \
	}

/* Makes room for one more element and returns its zeroed memory, or NULL. */
void *vec_push_(void **at, size_t *n, size_t *cap, size_t size);

#define vec_push(v)                                                                                \
	((__typeof__((v)->at))vec_push_((void **)&(v)->at, &(v)->n, &(v)->cap, sizeof(*(v)->at)))

/* Appends a copy of the element at `item`, which must not be in this vector. */
bool vec_add_(void **at, size_t *n, size_t *cap, const void *item, size_t size);

#define vec_add(v, ...)                                                                            \
	vec_add_((void **)&(v)->at, &(v)->n, &(v)->cap, 1 ? (__VA_ARGS__) : (v)->at,               \
		 sizeof(*(v)->at))

#define vec_free(v) (free((v)->at), (v)->at = NULL, (v)->n = (v)->cap = 0)

/* An empty vector may have no memory: adding 0 to NULL is undefined, so this checks `it` first. */
#define vec_each(it, v) for (__typeof__(&*(v)->at) it = (v)->at; it && it < (v)->at + (v)->n; it++)

#endif
