// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The maps of a script, as the rest of it sees them: in spur's own memory (of recordings, and of
 * scripts that the kernel has no part in), and in the kernel.
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/umap.h"
#include "script/run.h"
#include "script/run_live.h"

static struct umap *map_of(struct script *s, const struct map_def *m)
{
	return (struct umap *)s->maps[m->number];
}

/* A map without keys has a row once it was assigned. */
static int user_rows(struct script *s, const struct map_def *m, struct map_rows *rows,
		     struct spur_error *err)
{
	const void *key;
	void *value;
	uint64_t at = 0;

	while (umap_next(map_of(s, m), &at, &key, &value)) {
		const uint8_t *v = value;
		struct map_row *row;
		uint64_t set;

		if (m->flagged) {
			memcpy(&set, v, 8);
			if (!set)
				continue;
			v += 8;
		}
		row = vec_push(rows);
		if (!row)
			return error_set(err, -ENOMEM, "out of memory");
		*row = (struct map_row){key, v};
	}
	return 0;
}

static int user_clear(struct script *s, const struct map_def *m)
{
	umap_clear(map_of(s, m));
	return 0;
}

/* The entries stay; of a map without keys it stays assigned. */
static int user_zero(struct script *s, const struct map_def *m)
{
	uint64_t set = 0, *first = m->flagged ? umap_lookup(map_of(s, m), &(uint32_t){0}) : NULL;

	if (first)
		set = *first;
	umap_zero(map_of(s, m));
	if (first)
		*first = set;
	return 0;
}

static size_t user_stack(struct script *s, const struct vtype *t, int64_t id, uint64_t *frames,
			 size_t max)
{
	for (size_t i = 0; i < s->unit.maps.n; i++)
		if (s->unit.maps.at[i]->kind == MAP_STACK_TRACE &&
		    s->unit.maps.at[i]->value_size == t->depth * 8)
			return umap_stack((struct umap *)s->maps[i], id, frames, max);
	return 0;
}

const struct run_ops run_user_ops = {
	.rows = user_rows,
	.clear = user_clear,
	.zero = user_zero,
	.stack = user_stack,
};

/* ---- maps of the kernel ---- */

struct reading {
	struct script *s;
	const struct map_def *m;
	struct map_rows *rows;
	struct spur_error *err;
};

/*
 * Joins the values of all CPUs, in memory of the script; rows contain offsets until all are there.
 */
static int take_row(void *arg, const void *key, const uint8_t *values, size_t nr, size_t stride)
{
	struct reading *r = arg;
	const struct map_def *m = r->m;
	struct buf *mem = &r->s->rows_memory;
	const size_t skip = m->flagged ? 8 : 0, at = mem->len;
	struct map_row *row;
	bool set = !m->flagged;
	size_t i = 0;

	for (; !set && i < nr; i++) {
		uint64_t flag;

		memcpy(&flag, values + i * stride, 8);
		set |= flag != 0;
	}
	if (!set)
		return 0;
	row = vec_push(r->rows);
	if (!row)
		return error_set(r->err, -ENOMEM, "out of memory");
	buf_put(mem, key, m->key_size);
	buf_fill(mem, 0, (8 - mem->len % 8) % 8);
	*row = (struct map_row){(const uint8_t *)at, (const uint8_t *)mem->len};
	buf_put(mem, values + skip, m->value_size - skip);
	for (i = 1; i < nr && !mem->full; i++)
		agg_join(&m->value, mem->data + (size_t)row->value, values + i * stride + skip);
	buf_fill(mem, 0, (8 - mem->len % 8) % 8);
	return mem->full ? error_set(r->err, -ENOMEM, "out of memory") : 0;
}

static int kernel_rows(struct script *s, const struct map_def *m, struct map_rows *rows,
		       struct spur_error *err)
{
	struct reading r = {s, m, rows, err};
	int rc;

	buf_reset(&s->rows_memory);
	rc = kmap_read(&s->live->maps.at[m->number], take_row, &r, err);
	for (size_t i = 0; i < rows->n && rc == 0; i++) {
		rows->at[i].key = (const uint8_t *)s->rows_memory.data + (size_t)rows->at[i].key;
		rows->at[i].value =
			(const uint8_t *)s->rows_memory.data + (size_t)rows->at[i].value;
	}
	return rc;
}

static int kernel_clear(struct script *s, const struct map_def *m)
{
	return kmap_clear(&s->live->maps.at[m->number], NULL);
}

static int kernel_zero(struct script *s, const struct map_def *m)
{
	return kmap_zero(&s->live->maps.at[m->number], NULL);
}

static size_t kernel_stack(struct script *s, const struct vtype *t, int64_t id, uint64_t *frames,
			   size_t max)
{
	const struct map_def like = unit_stack_map(t, t->param[0]	 ? STACKS_UNWOUND
						      : id >= STACK_MADE ? STACKS_MORE
									 : STACKS_OF_KERNEL);
	const int map = unit_find_map(&s->unit, &like);

	return map < 0 ? 0
		       : kmap_stack(&s->live->maps.at[map], id,
				    unit_has_build_ids(t) ? KMAP_BUILD_ID_WORDS : 1, frames, max);
}

static void kernel_unwatch(struct script *s, uint64_t address)
{
	attach_unwatch(&s->live->attached, address);
}

const struct run_ops run_kernel_ops = {
	.rows = kernel_rows,
	.clear = kernel_clear,
	.zero = kernel_zero,
	.stack = kernel_stack,
	.unwatch = kernel_unwatch,
};
