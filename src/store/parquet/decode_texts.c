// SPDX-License-Identifier: GPL-2.0-or-later
/* The encodings of texts. They are left where they are but for those that share beginnings. */
#include "store/parquet/parts.h"

bool decode_texts(struct cursor *c, uint32_t n, struct parquet_text *out)
{
	for (uint32_t i = 0; i < n; i++) {
		const uint32_t len = cursor_u32(c);
		const uint8_t *at = cursor_bytes(c, len);

		if (!at)
			return false;
		out[i] = (struct parquet_text){(const char *)at, len};
	}
	return true;
}

bool decode_long_texts(struct cursor *c, uint32_t n, int64_t *lengths, struct parquet_text *out)
{
	if (!decode_deltas(c, n, lengths))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *at;

		if (lengths[i] < 0 || lengths[i] > UINT32_MAX)
			return false;
		at = cursor_bytes(c, (uint64_t)lengths[i]);
		if (!at)
			return false;
		out[i] = (struct parquet_text){(const char *)at, (uint32_t)lengths[i]};
	}
	return true;
}

/* The room that all of them take; false when a text takes more of the one before than that has. */
static bool add_sizes(const int64_t *prefixes, const struct parquet_text *rest, uint32_t n,
		      uint64_t *sum)
{
	uint64_t before = 0;

	*sum = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (prefixes[i] < 0 || (uint64_t)prefixes[i] > before)
			return false;
		before = (uint64_t)prefixes[i] + rest[i].len;
		if (before > UINT32_MAX)
			return false;
		*sum += before;
	}
	return true;
}

bool decode_prefixed(struct cursor *c, uint32_t n, int64_t *lengths, struct pq_budget *b,
		     struct pq_room *heap, struct parquet_text *out)
{
	const char *before = "";
	uint64_t sum;
	char *to;

	if (!decode_deltas(c, n, lengths) || !decode_long_texts(c, n, lengths + n, out) ||
	    !add_sizes(lengths, out, n, &sum) || !pq_room(b, heap, sum))
		return false;
	to = heap->at;
	for (uint32_t i = 0; i < n; i++) {
		const size_t prefix = (size_t)lengths[i];

		memcpy(to, before, prefix);
		memcpy(to + prefix, out[i].at, out[i].len);
		out[i] = (struct parquet_text){to, (uint32_t)prefix + out[i].len};
		before = to;
		to += out[i].len;
	}
	return true;
}
