// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A Parquet file: "PAR1", pages, footer, the footer's length in four bytes, "PAR1".
 *
 * The end of the file is read when it is opened, which is all of it when it is small.
 */
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "store/parquet/parts.h"

#define TAIL	     (64u << 10)
#define MAX_FOOTER   (64u << 20)
#define FOOTER_WORDS (256u << 20) /* memory for a parsed footer */
#define END_SIZE     (4 + PARQUET_MAGIC_SIZE)

/* ---- bytes ---- */

bool pq_room(struct pq_budget *b, struct pq_room *r, uint64_t size)
{
	size_t want;

	if (size <= r->cap && r->at)
		return true;
	/* Later pages may be a bit larger: some more avoids further allocations. */
	if (__builtin_add_overflow(size, size / 4, &want) || want > b->left + r->cap)
		return false;
	pq_room_free(r);
	b->left += r->cap;
	r->cap = 0;
	r->at = malloc(want + PARQUET_PAD);
	if (!r->at)
		return false;
	r->cap = want;
	b->left -= want;
	return true;
}

void pq_room_free(struct pq_room *r)
{
	free(r->at);
	r->at = NULL;
}

const uint8_t *parquet_bytes(struct parquet *p, struct pq_budget *b, struct pq_room *r, uint64_t at,
			     uint64_t size)
{
	if (at > p->size || size > p->size - at)
		return NULL;
	if (at >= p->tail_at)
		return p->tail + (at - p->tail_at);
	if (!pq_room(b, r, size) || file_read_at(p->fd, r->at, size, at) != (int64_t)size)
		return NULL;
	memset((char *)r->at + size, 0, PARQUET_PAD);
	return r->at;
}

/* ---- opening ---- */

static int read_tail(struct parquet *p, uint64_t size, struct spur_error *err)
{
	int64_t got;

	free(p->tail);
	p->tail = calloc(1, size + PARQUET_PAD);
	if (!p->tail)
		return error_set(err, -ENOMEM, "out of memory");
	p->tail_at = p->size - size;
	got = file_read_at(p->fd, p->tail, size, p->tail_at);
	if (got < 0)
		return error_sys(err, (int)got, "reading the end of the file");
	return (uint64_t)got == size ? 0 : error_set(err, -EBADMSG, "the file has become shorter");
}

/* Where the footer is; its length. */
static int find_footer(struct parquet *p, uint32_t *len, struct spur_error *err)
{
	const uint64_t least = PARQUET_MAGIC_SIZE + END_SIZE;
	const uint8_t *end;
	int rc = read_tail(p, p->size < TAIL ? p->size : TAIL, err);

	if (rc < 0)
		return rc;
	end = p->tail + (p->size - p->tail_at);
	if (p->size >= least && memcmp(end - 4, "PARE", 4) == 0)
		return error_set(err, -EBADMSG, "the footer is encrypted, which is not read");
	if (p->size < least || memcmp(end - 4, PARQUET_MAGIC, PARQUET_MAGIC_SIZE) != 0)
		return error_set(err, -EBADMSG,
				 "the end is missing: this is no complete Parquet file");
	*len = (uint32_t)load_uint(end - END_SIZE, 4, false);
	if (*len > p->size - least || *len > MAX_FOOTER)
		return error_set(err, -EBADMSG,
				 "the footer cannot be %u bytes long in a file of %llu", *len,
				 (unsigned long long)p->size);
	p->data_end = p->size - END_SIZE - *len;
	if (p->data_end < p->tail_at)
		rc = read_tail(p, p->size - p->data_end, err);
	return rc;
}

static int open_file(struct parquet *p, struct spur_error *err)
{
	struct stat st;
	struct cursor c;
	uint32_t len = 0;
	int rc;

	if (fstat(p->fd, &st) < 0)
		return error_sys(err, -errno, "looking at the file");
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "this is no file");
	p->size = (uint64_t)st.st_size;
	rc = find_footer(p, &len, err);
	if (rc < 0)
		return rc;
	c = cursor_over(p->tail + (p->data_end - p->tail_at), len, false);
	c.origin = p->data_end;
	return footer_read(p, c, err);
}

int parquet_open(int fd, struct parquet **out, struct spur_error *err)
{
	struct parquet *p = calloc(1, sizeof(*p));
	int rc;

	if (!p) {
		close(fd);
		return error_set(err, -ENOMEM, "out of memory");
	}
	p->fd = fd;
	arena_init(&p->arena, FOOTER_WORDS);
	rc = open_file(p, err);
	if (rc < 0)
		parquet_close(p);
	else
		*out = p;
	return rc;
}

void parquet_close(struct parquet *p)
{
	if (!p)
		return;
	close(p->fd);
	arena_free(&p->arena);
	free(p->tail);
	free(p);
}

/* ---- what there is ---- */

uint32_t parquet_nr_columns(const struct parquet *p)
{
	return p->nr_columns;
}

const struct parquet_column *parquet_column(const struct parquet *p, uint32_t column)
{
	return &p->columns[column];
}

int parquet_find(const struct parquet *p, const char *name)
{
	for (uint32_t i = 0; i < p->nr_columns; i++)
		if (strcasecmp(p->columns[i].name, name) == 0)
			return (int)i;
	return -1;
}

uint64_t parquet_nr_rows(const struct parquet *p)
{
	return p->rows;
}

uint32_t parquet_nr_groups(const struct parquet *p)
{
	return p->nr_groups;
}

uint64_t parquet_group_rows(const struct parquet *p, uint32_t group)
{
	return p->groups[group].rows;
}

const char *parquet_about(const struct parquet *p, const char *key)
{
	for (uint32_t i = 0; i < p->nr_pairs; i++)
		if (strcmp(p->pairs[i].key, key) == 0)
			return p->pairs[i].value;
	return NULL;
}

/* ---- limits of values ---- */

/* A number as statistics have it; false when they do not, or it is no number here. */
static bool bound(const struct parquet_column *c, const uint8_t *at, uint32_t len, int64_t *to)
{
	const uint32_t size = c->stored == PQ_STORED_BOOLEAN ? 1
			      : c->stored == PQ_STORED_INT32 ? 4
							     : 8;
	uint64_t v;

	if (!at || len != size)
		return false;
	v = load_uint(at, size, false);
	if (size == 4 && !c->is_unsigned)
		v = (uint64_t)(int64_t)(int32_t)v;
	*to = (int64_t)v;
	return !__builtin_mul_overflow(*to, (int64_t)c->scale, to);
}

void parquet_bounds(const struct parquet *p, uint32_t group, uint32_t column,
		    struct parquet_bounds *b)
{
	const struct parquet_column *c = &p->columns[column];
	const struct pq_chunk *k = &p->groups[group].chunks[c->leaf];

	*b = (struct parquet_bounds){
		.none_missing = !c->optional || k->nulls == 0,
		.all_missing =
			c->optional && k->nulls != UINT64_MAX && k->nulls >= p->groups[group].rows,
	};
	if (c->refused || c->kind == PARQUET_REAL || !k->min || !k->max)
		return;
	if (c->kind == PARQUET_TEXT) {
		b->least = (struct parquet_text){(const char *)k->min, k->min_len};
		b->most = (struct parquet_text){(const char *)k->max, k->max_len};
		b->known = true;
		return;
	}
	/* If only the maximum has the highest bit, it is no range of signed numbers. */
	b->known = bound(c, k->min, k->min_len, &b->min) && bound(c, k->max, k->max_len, &b->max) &&
		   b->min <= b->max;
}
