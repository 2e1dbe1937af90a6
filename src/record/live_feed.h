/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/record: pages of one CPU as they come from the kernel, kept until they have been
 * looked at. Pages that are not full yet are taken as well; what the kernel adds to one later comes
 * as another page.
 */
#ifndef RECORD_LIVE_FEED_H
#define RECORD_LIVE_FEED_H

#include "dat/dat.h"
#include "tracefs/tracefs.h"

struct live_feed {
	struct dat_feed feed; /* first */
	int fd;
	const struct ring_layout *layout;
	struct {
		uint8_t **at;
		size_t n, cap;
	} pages; /* those before `first` are gone */
	size_t first;
	uint64_t number; /* of the page at `first` */
	uint64_t last;	 /* the ring buffer's time of the last record, when there was one */
	bool any;
};

/* live_feed_close() also after a failure. */
int live_feed_open(struct live_feed *f, const struct tracefs *fs, const char *instance,
		   uint32_t cpu, const struct ring_layout *layout, struct spur_error *err);
void live_feed_close(struct live_feed *f);

/* Reads at most so many pages: how many there were, or a negative errno. */
int64_t live_feed_read(struct live_feed *f, size_t most);

#endif
