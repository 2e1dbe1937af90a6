// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of numbers and texts, and a merge sort of lists. */
#include "base/order.h"

#include <stdint.h>
#include <string.h>

int order_i64(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

int order_u32(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

int order_texts(const char *a, size_t a_len, const char *b, size_t b_len)
{
	const size_t len = a_len < b_len ? a_len : b_len;
	const int order = len ? memcmp(a, b, len) : 0;

	return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* ---- lists ---- */

static void *next_of(const void *element, size_t link)
{
	void *next;

	memcpy(&next, (const char *)element + link, sizeof(next));
	return next;
}

static void set_next(void *element, size_t link, void *next)
{
	memcpy((char *)element + link, &next, sizeof(next));
}

/* Cuts a list in two and returns the second half. */
static void *cut(void *list, size_t link)
{
	void *half = list, *end = next_of(list, link), *second;

	while (end && (end = next_of(end, link)) != NULL) {
		half = next_of(half, link);
		end = next_of(end, link);
	}
	second = next_of(half, link);
	set_next(half, link, NULL);
	return second;
}

/* Halves have half the length, so the recursion is not deep. */
void *order_list(void *list, size_t link, int (*compare)(const void *a, const void *b))
{
	void *second, *first = NULL, *last = NULL;

	if (!list || !next_of(list, link))
		return list;
	second = order_list(cut(list, link), link, compare);
	list = order_list(list, link, compare);
	while (list && second) {
		void **from = compare(list, second) <= 0 ? &list : &second, *taken = *from;

		*from = next_of(taken, link);
		if (last)
			set_next(last, link, taken);
		first = first ? first : taken;
		last = taken;
	}
	set_next(last, link, list ? list : second);
	return first;
}
