// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copying a file that is being written into another one that will take its place.
 *
 * Regions only grow, so what has been appended can be copied while more is. The new file is an
 * unfinished file with fewer data at every moment.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "dat/write_parts.h"

#define WINDOW ((size_t)1 << 20)

/* Appends what region i of the new file lacks; the number of bytes, or a negative errno. */
static int64_t follow_region(struct dat_out *to, const struct dat_out *from, uint32_t i,
			     uint8_t *window)
{
	const struct out_region *r = &from->regions[i];
	const bool spill = r->spill >= 0;
	const uint64_t begin = spill ? 0 : from->table.each[i].offset, all = r->size;
	const size_t unit = from->codec ? 1 : r->page_size;
	uint64_t at = to->regions[i].size, first = at;

	while (at < all) {
		const size_t n = all - at < WINDOW ? (size_t)(all - at) : WINDOW;
		const int64_t got =
			file_read_at(spill ? r->spill : from->fd, window, n, begin + at);
		int rc = got < 0 ? (int)got : (size_t)got < n ? -EIO : 0;

		if (!rc)
			rc = out_append(to, i, window, n, unit);
		if (rc)
			return rc;
		at += n;
	}
	return (int64_t)(at - first);
}

/* The number of chunks in front of them was copied when it was a smaller one. */
static int end_region(struct dat_out *to, const struct dat_out *from, uint32_t i)
{
	struct out_region *r = &to->regions[i];

	r->nr_chunks = from->regions[i].nr_chunks;
	if (!to->codec || !r->size || r->spill >= 0)
		return 0;
	return out_write_number(to, r->nr_chunks, 4, to->table.each[i].offset);
}

int64_t dat_out_follow(struct dat_out *to, const struct dat_out *from, bool last)
{
	uint8_t *window = malloc(WINDOW);
	int64_t sum = window ? 0 : -ENOMEM;

	if (to->table.nr != from->table.nr || to->codec != from->codec || !to->sparse)
		sum = -EINVAL;
	for (uint32_t i = 0; i < to->table.nr && sum >= 0; i++) {
		int64_t n = follow_region(to, from, i, window);

		if (n >= 0 && last) {
			const int rc = end_region(to, from, i);

			n = rc ? rc : n;
		}
		sum = n < 0 ? n : sum + n;
	}
	free(window);
	return sum;
}
