// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: a kept index. Two bytes are the length of its tables, then come these, then what it
 * stores. What can be read of it is asked about everything. (Sums are not checked: they keep
 * accidents out, not strangers.)
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/view_fixture.h"
#include "view/index/cache.h"

#define MOST_SHOWN 2000 /* intervals of a track */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool take(void *shown, const struct view_interval *i)
{
	return ++*(int *)shown < MOST_SHOWN;
}

static void ask_track(struct view_index *x, uint32_t row, uint32_t track, struct view_tile *tile)
{
	const uint64_t times[] = {0, 1000, UINT64_MAX};
	struct view_interval i;
	int shown = 0;

	for (uint32_t level = 0; level <= VIEW_MOST_LEVEL; level += 3)
		for (uint64_t t = 0; t < 3; t++)
			if (view_index_tile(x, row, track, level, t == 2 ? 1ull << level : t, tile))
				abort();
	for (size_t k = 0; k < 3; k++) {
		view_index_interval(x, row, track, times[k], 1, &i);
		view_index_interval(x, row, track, times[k], -1, &i);
	}
	view_index_each(x, row, track, 0, UINT64_MAX, take, &shown);
}

static void ask_all(struct view_index *x)
{
	struct view_tile tile = {0};
	uint64_t first, ts, n;
	struct view_row row;

	for (uint32_t i = 0; view_index_row(x, i, &row); i++)
		for (uint32_t k = 0; k < row.nr_tracks; k++)
			ask_track(x, i, k, &tile);
	for (uint32_t i = 0; i < view_index_names(x); i++)
		if (!view_index_name(x, i))
			abort();
	for (uint32_t i = 0; i < 4; i++)
		view_index_count(x, i);
	view_index_seek(x, 10, &first, &ts);
	view_index_ordinal(x, 2000, &n);
	view_tile_free(&tile);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct view_fixture f;
	const struct view_index_options opt = {.threads = 1};
	struct view_index *x;
	struct cursor c;
	size_t tables_len;
	int fd;

	if (!f.trace.events)
		view_fixture_make(&f);
	if (size < 2)
		return 0;
	tables_len = data[0] | (size_t)data[1] << 8;
	data += 2;
	size -= 2;
	tables_len = tables_len < size ? tables_len : size;
	x = index_new(&f.trace, &opt, NULL);
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (!x || fd < 0 ||
	    write(fd, data + tables_len, size - tables_len) != (ssize_t)(size - tables_len))
		abort();
	c = cursor_over(data, tables_len, false);
	if (cache_get_tables(x, &c)) {
		store_free(&x->store);
		store_over(&x->store, fd, 0, size - tables_len);
		for (unsigned int i = 0; i < NR_BUILDERS; i++)
			x->builders[i].done = 1;
		ask_all(x);
	} else {
		close(fd);
	}
	view_index_close(x);
	return 0;
}
