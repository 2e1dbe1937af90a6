// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A record in a run:
 *
 *	u64   time
 *	i64   lost
 *	u32   size
 *	u32   0
 *	      so many bytes, up to a multiple of 8
 *
 * A run that never left memory is read from there: most imports need no file.
 */
#include "import/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"

#define HEAD	   24
#define WINDOWS	   (16u << 20) /* bytes of all windows of a reader */
#define MIN_WINDOW (16u << 10)
#define MAX_WINDOW (1u << 20)
#define MAX_RECORD (1u << 20)

struct head {
	uint64_t ts;
	int64_t lost;
	uint32_t size, none;
};

_Static_assert(sizeof(struct head) == HEAD, "as it is stored");

int spool_file(void)
{
	const int fd = file_nameless(file_temp());
	const char *other = fd < 0 ? secure_getenv("SQLITE_TMPDIR") : NULL;

	return other ? file_nameless(other) : fd;
}

void spool_init(struct spool *s)
{
	*s = (struct spool){.fd = -1};
	buf_init(&s->data, SPOOL_RUN + 2 * MAX_RECORD);
	buf_init(&s->sorted, SPOOL_RUN + 2 * MAX_RECORD);
}

void spool_free(struct spool *s)
{
	if (s->fd >= 0)
		close(s->fd);
	buf_free(&s->data);
	buf_free(&s->sorted);
	vec_free(&s->items);
	vec_free(&s->parts);
	s->fd = -1;
}

static size_t stored_size(uint32_t size)
{
	return HEAD + (((size_t)size + 7) & ~(size_t)7);
}

static int by_key(const void *a, const void *b)
{
	const struct spool_item *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Puts the run in order, in s->sorted, and says which parts it has. */
static int sort_run(struct spool *s)
{
	struct spool_part *part = NULL;

	if (s->items.n)
		qsort(s->items.at, s->items.n, sizeof(*s->items.at), by_key);
	buf_reset(&s->sorted);
	vec_each (it, &s->items) {
		struct head h;

		memcpy(&h, s->data.data + it->at, HEAD);
		if (!part || part->key != it->key) {
			part = vec_push(&s->parts);
			if (!part)
				return -ENOMEM;
			*part = (struct spool_part){.key = it->key,
						    .offset = s->written + s->sorted.len,
						    .run = s->runs};
		}
		buf_put(&s->sorted, s->data.data + it->at, stored_size(h.size));
		part->size += stored_size(h.size);
	}
	s->items.n = 0;
	buf_reset(&s->data);
	s->runs++;
	return buf_full(&s->sorted) ? -ENOMEM : 0;
}

static int write_run(struct spool *s)
{
	int rc = sort_run(s);

	if (rc == 0 && s->fd < 0) {
		s->fd = spool_file();
		rc = s->fd < 0 ? s->fd : 0;
	}
	if (rc == 0)
		rc = file_write_fd(s->fd, s->sorted.data, s->sorted.len);
	s->written += s->sorted.len;
	buf_reset(&s->sorted);
	return rc;
}

int spool_add(struct spool *s, uint64_t key, const struct spool_record *r)
{
	const struct head h = {.ts = r->ts, .lost = r->lost, .size = r->size};
	struct spool_item *it;

	if (r->size > MAX_RECORD)
		return -EMSGSIZE;
	if (s->data.len >= SPOOL_RUN) {
		int rc = write_run(s);

		if (rc < 0)
			return rc;
	}
	it = vec_push(&s->items);
	if (!it)
		return -ENOMEM;
	*it = (struct spool_item){key, r->ts, s->data.len};
	buf_put(&s->data, &h, HEAD);
	if (r->size)
		buf_put(&s->data, r->data, r->size);
	buf_fill(&s->data, 0, stored_size(r->size) - HEAD - r->size);
	return buf_full(&s->data) ? -ENOMEM : 0;
}

static int by_part(const void *a, const void *b)
{
	const struct spool_part *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->run > y->run) - (x->run < y->run);
}

int spool_seal(struct spool *s)
{
	/* Without a file the run stays where it is. */
	int rc = s->fd >= 0 ? write_run(s) : sort_run(s);

	if (rc == 0 && s->parts.n)
		qsort(s->parts.at, s->parts.n, sizeof(*s->parts.at), by_part);
	return rc;
}

/* ---- reading -------------------------------------------------------------------------- */

/* Moves what is left of the window to its start and reads what follows. */
static int refill(struct spool_source *src)
{
	const size_t left = src->len - src->pos;
	size_t want = src->cap - left;
	int64_t got;

	if (src->part.size < want)
		want = (size_t)src->part.size;
	memmove(src->window, src->window + src->pos, left);
	if (src->spool->fd < 0) {
		memcpy(src->window + left, src->spool->sorted.data + src->part.offset, want);
		got = (int64_t)want;
	} else {
		got = file_read_at(src->spool->fd, src->window + left, want, src->part.offset);
	}
	if (got < 0)
		return (int)got;
	if ((size_t)got < want)
		return -EIO;
	src->part.offset += want;
	src->part.size -= want;
	src->pos = 0;
	src->len = left + want;
	return 0;
}

static int grow(struct spool_source *src, size_t cap)
{
	uint8_t *window = realloc(src->window, cap);

	if (!window)
		return -ENOMEM;
	src->window = window;
	src->cap = cap;
	return 0;
}

/* 1: the next record is in now, 0: the end. */
static int step(struct spool_source *src)
{
	struct head h;
	int rc = 0;

	if (src->len - src->pos < HEAD)
		rc = refill(src);
	if (rc < 0 || src->len - src->pos < HEAD)
		return rc;
	memcpy(&h, src->window + src->pos, HEAD);
	if (stored_size(h.size) > src->cap)
		rc = grow(src, stored_size(h.size));
	if (rc == 0 && src->len - src->pos < stored_size(h.size))
		rc = refill(src);
	if (rc < 0)
		return rc;
	if (src->len - src->pos < stored_size(h.size))
		return -EIO;
	src->now = (struct spool_record){h.ts, h.lost, h.size, src->window + src->pos + HEAD};
	src->pos += stored_size(h.size);
	return 1;
}

/* Of records with the same time, that of the earlier run comes first. */
static bool earlier(const struct spool_reader *r, uint32_t a, uint32_t b)
{
	const uint64_t x = r->sources[a].now.ts, y = r->sources[b].now.ts;

	return x != y ? x < y : a < b;
}

static void sift_down(struct spool_reader *r, size_t at)
{
	for (;;) {
		size_t least = at;

		for (size_t child = 2 * at + 1; child < r->nr_heap && child <= 2 * at + 2; child++)
			if (earlier(r, r->heap[child], r->heap[least]))
				least = child;
		if (least == at)
			return;
		const uint32_t swap = r->heap[at];

		r->heap[at] = r->heap[least];
		r->heap[least] = swap;
		at = least;
	}
}

int spool_read(const struct spool *s, size_t first, size_t nr, struct spool_reader *r)
{
	size_t cap = nr ? WINDOWS / nr : MIN_WINDOW;

	cap = cap < MIN_WINDOW ? MIN_WINDOW : cap > MAX_WINDOW ? MAX_WINDOW : cap;
	*r = (struct spool_reader){.nr = nr};
	r->sources = calloc(nr + 1, sizeof(*r->sources));
	r->heap = calloc(nr + 1, sizeof(*r->heap));
	if (!r->sources || !r->heap)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct spool_source *src = &r->sources[i];
		int rc;

		src->spool = s;
		src->part = s->parts.at[first + i];
		rc = grow(src, cap);
		if (rc == 0)
			rc = step(src);
		if (rc < 0)
			return rc;
		if (rc > 0)
			r->heap[r->nr_heap++] = (uint32_t)i;
	}
	for (size_t i = r->nr_heap / 2; i-- > 0;)
		sift_down(r, i);
	return 0;
}

int spool_next(struct spool_reader *r, struct spool_record *to)
{
	if (r->started && r->nr_heap) {
		const int rc = step(&r->sources[r->heap[0]]);

		if (rc < 0)
			return rc;
		if (rc == 0)
			r->heap[0] = r->heap[--r->nr_heap];
		sift_down(r, 0);
	}
	r->started = true;
	if (!r->nr_heap)
		return 0;
	*to = r->sources[r->heap[0]].now;
	return 1;
}

void spool_read_end(struct spool_reader *r)
{
	for (size_t i = 0; r->sources && i < r->nr; i++)
		free(r->sources[i].window);
	free(r->sources);
	free(r->heap);
	*r = (struct spool_reader){0};
}
