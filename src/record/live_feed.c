// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/live_feed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"

#define PAGES_BEHIND 64 /* that are kept */
#define FILE_CAP     64

/* Gives back the pages before that number. */
static void drop_before(struct live_feed *f, uint64_t number)
{
	while (f->number < number && f->first < f->pages.n) {
		free(f->pages.at[f->first++]);
		f->number++;
	}
	if (f->first < f->pages.n / 2 || !f->first)
		return;
	memmove(f->pages.at, f->pages.at + f->first,
		(f->pages.n - f->first) * sizeof(*f->pages.at));
	f->pages.n -= f->first;
	f->first = 0;
}

static int get_page(struct dat_feed *feed, uint64_t number, struct dat_page *page)
{
	struct live_feed *f = (struct live_feed *)feed;

	/* A lane that only looks ahead may pass pages without records and come back. */
	if (number > PAGES_BEHIND)
		drop_before(f, number - PAGES_BEHIND);
	if (number < f->number || number - f->number >= f->pages.n - f->first)
		return 0;
	*page = (struct dat_page){
		.data = f->pages.at[f->first + (number - f->number)],
		.size = f->layout->page_size,
		.offset = number * f->layout->page_size,
	};
	return 1;
}

int live_feed_open(struct live_feed *f, const struct tracefs *fs, const char *instance,
		   uint32_t cpu, const struct ring_layout *layout, struct spur_error *err)
{
	char file[FILE_CAP];

	*f = (struct live_feed){.feed.get = get_page, .layout = layout};
	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	f->fd = tracefs_open(fs, instance, file, O_RDONLY | O_NONBLOCK, err);
	return f->fd < 0 ? f->fd : 0;
}

void live_feed_close(struct live_feed *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
	drop_before(f, UINT64_MAX);
	vec_free(&f->pages);
}

/* Remembers the time of a page's last record. */
static void note_time(struct live_feed *f, const uint8_t *page)
{
	struct ring_page p;
	struct ring_event e;

	if (ring_page_open(&p, f->layout, page, f->layout->page_size) < 0)
		return;
	while (ring_page_next(&p, &e)) {
		f->last = e.ts;
		f->any = true;
	}
}

/* The next page into memory of that size: 1, 0 when there is none, or a negative errno. */
static int read_page(const struct live_feed *f, uint8_t *page, size_t size)
{
	ssize_t n;

	do
		n = read(f->fd, page, size);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == EAGAIN ? 0 : -errno;
	memset(page + n, 0, size - (size_t)n);
	return n > 0;
}

int64_t live_feed_read(struct live_feed *f, size_t most)
{
	const size_t size = f->layout->page_size;
	int64_t n = 0;

	while ((size_t)n < most) {
		uint8_t *page = malloc(size), **slot;
		int rc = page ? read_page(f, page, size) : -ENOMEM;

		slot = rc > 0 ? vec_push(&f->pages) : NULL;
		if (!slot) {
			free(page);
			return rc < 0 ? rc : rc > 0 ? -ENOMEM : n;
		}
		*slot = page;
		note_time(f, page);
		n++;
	}
	return n;
}
