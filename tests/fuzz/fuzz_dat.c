// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: a whole trace.dat file. Opens it and reads every page of every CPU. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dat/dat.h"

/* A file of the size libFuzzer tries has far less, unless it is a bomb: this is enough of one. */
#define MAX_PAGES 1000
#define MAX_TEXT  (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_page(const struct dat_buffer *b, const struct dat_page *page)
{
	struct ring_page ring;
	struct ring_event event;

	if (ring_page_open(&ring, &b->layout, page->data, page->size) < 0)
		return;
	while (ring_page_next(&ring, &event))
		;
}

static void read_cpu(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu)
{
	struct dat_pages *pages;
	struct dat_page page;
	uint64_t n = 0, bytes;
	int rc;

	if (dat_pages_open(d, b, cpu, &pages) < 0)
		return;
	/* Pages that cannot be read are stepped over, as readers do. */
	for (; n < MAX_PAGES && (rc = dat_pages_get(pages, n, &page)) != 0; n++)
		if (rc > 0)
			read_page(b, &page);
	/* Backwards, to make it seek. */
	for (uint64_t i = n; i > 0; i -= i / 4 + 1)
		if (dat_pages_get(pages, i - 1, &page) > 0)
			read_page(b, &page);
	dat_pages_bytes(pages, &bytes);
	dat_pages_close(pages);
}

static void read_buffer(struct dat *d, const struct dat_buffer *b)
{
	char text[1000];
	uint64_t pos = 0;
	int64_t n;

	for (uint32_t i = 0; i < b->nr_cpus; i++)
		read_cpu(d, b, &b->cpus[i]);
	while (b->text && pos < MAX_TEXT && (n = dat_text_read(d, b, pos, text, sizeof(text))) > 0)
		pos += (uint64_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct dat_options options = {.metadata_limit = 64u << 20};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct spur_error err = {0};
	struct dat *d;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (dat_open_fd(fd, "fuzz", &options, &d, &err) < 0)
		return 0;
	for (size_t i = 0; i < d->nr_buffers; i++)
		read_buffer(d, &d->buffers[i]);
	dat_close(d);
	return 0;
}
