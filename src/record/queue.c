// SPDX-License-Identifier: GPL-2.0-or-later
/* The queue between the threads that read pages and the one that compresses and writes them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/stream_parts.h"

#define QUEUE_BLOCKS 4 /* on their way at most: some megabytes */

struct block {
	struct dat_out *out;
	struct stream *stream;
	char *pages;
	size_t n;
};

struct queue {
	pthread_t thread;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t changed;
	struct block blocks[QUEUE_BLOCKS];
	size_t first, n;
	bool busy; /* the thread is writing a block that it has taken out */
	bool ending;
	int error;
};

static void *compress(void *arg)
{
	struct queue *q = arg;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		struct block b;
		int rc;

		while (!q->n && !q->ending)
			pthread_cond_wait(&q->changed, &q->lock);
		if (!q->n)
			break;
		b = q->blocks[q->first];
		q->first = (q->first + 1) % QUEUE_BLOCKS;
		q->n--;
		q->busy = true;
		pthread_cond_broadcast(&q->changed);
		pthread_mutex_unlock(&q->lock);
		rc = dat_out_pages(b.out, b.stream->buffer, b.stream->cpu, b.pages,
				   b.n / b.stream->page_size);
		free(b.pages);
		pthread_mutex_lock(&q->lock);
		q->busy = false;
		if (rc < 0 && !q->error)
			q->error = rc;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

struct queue *queue_new(void)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	if (pthread_create(&q->thread, NULL, compress, q) != 0) {
		free(q);
		return NULL;
	}
	pthread_setname_np(q->thread, "spur-compress");
	return q;
}

int queue_put(struct queue *q, struct dat_out *out, struct stream *s, const void *pages, size_t n)
{
	struct block b = {out, s, malloc(n), n};
	int rc;

	if (!b.pages)
		return -ENOMEM;
	memcpy(b.pages, pages, n);
	pthread_mutex_lock(&q->lock);
	while (q->n == QUEUE_BLOCKS && !q->error)
		pthread_cond_wait(&q->changed, &q->lock);
	rc = q->error;
	if (rc == 0) {
		q->blocks[(q->first + q->n++) % QUEUE_BLOCKS] = b;
		pthread_cond_broadcast(&q->changed);
	}
	pthread_mutex_unlock(&q->lock);
	if (rc < 0)
		free(b.pages);
	return rc;
}

int queue_wait(struct queue *q)
{
	int rc;

	pthread_mutex_lock(&q->lock);
	while (q->n || q->busy)
		pthread_cond_wait(&q->changed, &q->lock);
	rc = q->error;
	pthread_mutex_unlock(&q->lock);
	return rc;
}

int queue_free(struct queue *q)
{
	int rc;

	pthread_mutex_lock(&q->lock);
	q->ending = true;
	pthread_cond_broadcast(&q->changed);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	rc = q->error;
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q);
	return rc;
}
