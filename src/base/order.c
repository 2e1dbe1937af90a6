// SPDX-License-Identifier: LGPL-2.1-or-later
/* The order of numbers and texts. */
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
