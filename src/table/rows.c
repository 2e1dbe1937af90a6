// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The rows of one table, pulled: records are read until there is a row. Rows that came with one
 * record wait in a queue, which holds all rows only for tables that make theirs at the end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/feed.h"
#include "base/error.h"

struct rows {
	struct feed *feed;
	size_t size; /* of a row */
	unsigned char *queue;
	size_t cap, n, next; /* in rows */
	int rc;
};

static void keep(void *rows, const void *row)
{
	struct rows *r = rows;

	if (r->n == r->cap) {
		const size_t cap = r->cap ? r->cap * 2 : 16;
		unsigned char *more = reallocarray(r->queue, cap, r->size);

		if (!more) {
			r->rc = -ENOMEM;
			return;
		}
		r->queue = more;
		r->cap = cap;
	}
	memcpy(r->queue + r->n++ * r->size, row, r->size);
}

struct rows *rows_open(struct spur_trace *t, const struct table *table,
		       const struct walk_options *opt, struct spur_error *err)
{
	struct rows *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	r->size = table->row_size;
	r->feed = feed_new(t, opt, err);
	if (!r->feed || feed_add(r->feed, table, keep, r, err) < 0) {
		rows_close(r);
		return NULL;
	}
	return r;
}

const void *rows_next(struct rows *r)
{
	if (r->next == r->n) {
		r->next = r->n = 0;
		while (r->n == 0 && feed_step(r->feed))
			;
	}
	return r->next < r->n && r->rc == 0 ? r->queue + r->next++ * r->size : NULL;
}

int rows_error(const struct rows *r, struct spur_error *err)
{
	return r->rc < 0 ? error_set(err, r->rc, "out of memory") : feed_error(r->feed, err);
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	feed_free(r->feed);
	free(r->queue);
	free(r);
}
