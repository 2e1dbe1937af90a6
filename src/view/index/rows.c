// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows, their tracks and names. Rows and names are only added. Pointers to them stay valid: lists
 * that grow are copied within the arena.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/mutex.h"
#include "base/vec.h"
#include "view/index/internal.h"

#define NAMES_LIMIT (64u << 20)
#define MOST_OLDER  8 /* names of a task that are stored */

/* ---- rows ---- */

void row_list_init(struct row_list *l)
{
	*l = (struct row_list){.seed = hash_seed_new()};
	pthread_mutex_init(&l->lock, NULL);
	arena_init(&l->arena, ROWS_LIMIT);
	intern_init(&l->texts, NAMES_LIMIT);
}

void row_list_free(struct row_list *l)
{
	vec_free(&l->rows);
	vec_free(&l->names);
	for (size_t i = 0; i < ARRAY_SIZE(l->by); i++)
		map_free(&l->by[i]);
	map_free(&l->groups);
	map_free(&l->numbers);
	intern_free(&l->texts);
	arena_free(&l->arena);
	pthread_mutex_destroy(&l->lock);
}

static uint64_t hash_of(const struct row_list *l, uint32_t buffer, int64_t number)
{
	return hash_add(&l->seed, 0, key_of(buffer, number));
}

/* The process of a task; -1: unknown. */
static int64_t group_of(const struct row_list *l, enum view_row_kind kind, int64_t number)
{
	const uintptr_t group =
		kind == VIEW_TASK_ROW ? (uintptr_t)map_get(&l->groups, hash_of(l, 0, number)) : 0;

	return group ? (int64_t)group : -1;
}

static uint32_t add_row(struct row_list *l, enum view_row_kind kind, uint32_t buffer,
			int64_t number)
{
	struct row *r = arena_alloc(&l->arena, sizeof(*r));

	if (!r || l->rows.n >= MOST_ROWS || !vec_add(&l->rows, &r))
		return UINT32_MAX;
	r->about = (struct view_row){.kind = kind,
				     .buffer = buffer,
				     .number = number,
				     .tgid = group_of(l, kind, number),
				     .first = UINT64_MAX};
	return (uint32_t)l->rows.n - 1;
}

uint32_t row_of(struct row_list *l, enum view_row_kind kind, uint32_t buffer, int64_t number)
{
	const uint64_t hash = hash_of(l, buffer, number);
	uintptr_t row;

	mutex_hold(&l->lock);
	row = (uintptr_t)map_get(&l->by[kind], hash);
	if (!row) {
		row = (uintptr_t)add_row(l, kind, buffer, number) + 1;
		if (row <= UINT32_MAX && !map_set(&l->by[kind], hash, (void *)row))
			row = (uintptr_t)UINT32_MAX + 1;
	}
	return (uint32_t)(row - 1);
}

int64_t row_find(struct row_list *l, enum view_row_kind kind, uint32_t buffer, int64_t number)
{
	mutex_hold(&l->lock);
	return (int64_t)(uintptr_t)map_get(&l->by[kind], hash_of(l, buffer, number)) - 1;
}

struct row *row_get(struct row_list *l, uint32_t row)
{
	mutex_hold(&l->lock);
	return row < l->rows.n ? l->rows.at[row] : NULL;
}

/* ---- processes ---- */

bool row_group(struct row_list *l, uint32_t pid, uint32_t group)
{
	mutex_hold(&l->lock);
	return map_set(&l->groups, hash_of(l, 0, pid), (void *)(uintptr_t)group);
}

void row_groups_apply(struct row_list *l)
{
	mutex_hold(&l->lock);
	vec_each (r, &l->rows)
		(*r)->about.tgid = group_of(l, (*r)->about.kind, (*r)->about.number);
}

/* ---- names ---- */

/* Stores the earlier names, without duplicates. */
static void keep_older(struct row_list *l, struct view_row *r, const char *now)
{
	const char **older = arena_array(&l->arena, MOST_OLDER, sizeof(*older));
	uint32_t n = 0;

	if (!older)
		return;
	older[n++] = r->name;
	for (uint32_t i = 0; i < r->nr_older && n < MOST_OLDER; i++)
		if (r->older[i] != now)
			older[n++] = r->older[i];
	r->older = older;
	r->nr_older = n;
}

void row_rename(struct row_list *l, uint32_t row, const char *name)
{
	struct view_row *r;
	const char *kept;

	mutex_hold(&l->lock);
	kept = name ? intern_text(&l->texts, name, strlen(name)) : NULL;
	r = row < l->rows.n ? &l->rows.at[row]->about : NULL;
	if (r && kept && r->name != kept) {
		if (r->name)
			keep_older(l, r, kept);
		r->name = kept;
	}
}

uint32_t name_number(struct row_list *l, const char *name)
{
	uintptr_t number = 0;
	const char *text;

	if (!name)
		return VIEW_NO_NAME;
	mutex_hold(&l->lock);
	text = intern_text(&l->texts, name, strlen(name));
	if (text)
		number = (uintptr_t)map_get(&l->numbers, (uintptr_t)text);
	if (text && !number && vec_add(&l->names, &text)) {
		number = l->names.n;
		if (!map_set(&l->numbers, (uintptr_t)text, (void *)number))
			number = 0;
	}
	return number ? (uint32_t)number - 1 : VIEW_NO_NAME;
}

/* ---- tracks ---- */

static bool more_tracks(struct row_list *l, struct row *r)
{
	const uint32_t cap = r->cap ? r->cap * 2 : 4, n = r->about.nr_tracks;
	struct view_track *about = arena_array(&l->arena, cap, sizeof(*about));
	struct track **tracks = arena_array(&l->arena, cap, sizeof(*tracks));

	if (!about || !tracks)
		return false;
	if (n) {
		memcpy(about, r->about.tracks, n * sizeof(*about));
		memcpy(tracks, r->tracks, n * sizeof(*tracks));
	}
	r->about.tracks = about;
	r->tracks = tracks;
	r->cap = cap;
	return true;
}

struct track *row_new_track(struct row_list *l, struct builder *m, uint32_t row,
			    enum view_track_kind kind, uint32_t depth)
{
	struct track *t = track_new(m, row, kind, depth);
	struct row *r;

	if (!t)
		return NULL;
	mutex_hold(&l->lock);
	r = l->rows.at[row];
	if (r->about.nr_tracks == r->cap && !more_tracks(l, r))
		return NULL;
	/* The new element is written before the count, because others read it. */
	((struct view_track *)r->about.tracks)[r->about.nr_tracks] = t->about;
	r->tracks[r->about.nr_tracks++] = t;
	return t;
}
