// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps in spur's own memory: of recordings, and of scripts that the kernel has no part in. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/umap.h"
#include "script/run.h"

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
