/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Arrays: the number of their elements, and binary search. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Sets i, a variable of an unsigned type, to the first index of [from, to) for which `before` is
 * false, or to `to` if it is true for all of them. `before` is an expression of i that is true up
 * to some index and false from there on:
 *
 *	size_t i;
 *
 *	binary_search(i, 0, tasks->n, tasks->at[i].pid < pid);
 *	return i < tasks->n && tasks->at[i].pid == pid ? &tasks->at[i] : NULL;
 */
#define binary_search(i, from, to, before)                                                         \
	do {                                                                                       \
		__typeof__(i) search_low = (from), search_high = (to);                             \
                                                                                                   \
		while (search_low < search_high) {                                                 \
			(i) = search_low + (search_high - search_low) / 2;                         \
			if (before)                                                                \
				search_low = (i) + 1;                                              \
			else                                                                       \
				search_high = (i);                                                 \
		}                                                                                  \
		(i) = search_low;                                                                  \
	} while (0)

#endif
