// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: one page of the ring buffer.
 *
 * The input's first byte chooses byte order and the size of a long, the rest is the page.
 */
#include <stdlib.h>

#include "ring/ring.h"

#define PAGE_SIZE 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk_records(struct ring_page page)
{
	struct ring_event event;
	uint32_t sum = 0;

	while (ring_page_next(&page, &event))
		for (uint32_t i = 0; i < event.size; i++)
			sum += event.data[i];
	/* Using the sum keeps the reads, and with them the sanitizer's look at each byte. */
	if (sum == UINT32_MAX)
		abort();
}

static void walk_raw(const struct ring_page *page)
{
	struct ring_raw raw;
	uint32_t pos = page->pos;

	while (ring_page_raw(page, pos, &raw)) {
		if (raw.next <= pos)
			abort(); /* it would go on for ever */
		pos = raw.next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ring_layout layout;
	struct ring_page page;

	if (size < 1 || size > PAGE_SIZE + 1)
		return 0;
	layout = ring_layout_default(data[0] & 1, data[0] & 2 ? 4 : 8, PAGE_SIZE);
	if (ring_page_open(&page, &layout, data + 1, size - 1) < 0)
		return 0;
	walk_records(page);
	walk_raw(&page);
	return 0;
}
