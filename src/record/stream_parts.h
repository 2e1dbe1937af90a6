/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/record: a stream, and the queue behind which pages are compressed. */
#ifndef RECORD_STREAM_PARTS_H
#define RECORD_STREAM_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "record/recorder.h"

#define MOVE_BYTES (1u << 20) /* moved at once, at most */

/* One CPU of one buffer. Used by one thread, but for the atomic members. */
struct stream {
	size_t buffer; /* in the file */
	uint32_t cpu;  /* its place in the buffer's list */
	uint32_t page_size;
	int fd;
	const struct mover *mover;
	int pipe[2];	     /* splice: pages on their way */
	char *pages;	     /* read: the same */
	struct queue *queue; /* of a compressed file, or NULL */
	atomic_ullong bytes;
	unsigned long long before; /* of bytes: those in earlier files; of who exchanges files */
	atomic_ullong sampled_bytes, sampled_events; /* of pages that were looked into */
	atomic_int error;			     /* negative errno: it has stopped */
};

/* The first pages of a stream are counted exactly, of the others one in a megabyte. */
#define SAMPLE_ALL 64

/* Counts the events of a page that has been moved. */
void stream_sample(struct stream *s, const void *page);

/* How many of n pages that are being moved are to be counted. */
static inline size_t stream_sample_size(const struct stream *s, size_t n)
{
	unsigned long long counted = atomic_load(&s->sampled_bytes) / s->page_size;
	size_t wanted = counted < SAMPLE_ALL ? SAMPLE_ALL - (size_t)counted : 1;

	return n < wanted ? n : wanted;
}

/* Pages on their way to the thread that compresses them. */
struct queue;

struct queue *queue_new(void);

/* Ends the thread after the last block, and frees. The first error of writing, or 0. */
int queue_free(struct queue *q);

/* Hands over pages, which are copied; waits while too many are on their way. */
int queue_put(struct queue *q, struct dat_out *out, struct stream *s, const void *pages, size_t n);

/* Waits until all that was put is written. */
int queue_wait(struct queue *q);

#endif
