// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows, their tracks and names. Rows and names are only added. Pointers to them stay valid: lists
 * that grow are copied within the arena.
 */
#include <stdlib.h>
#include <string.h>

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
	map_free(&l->tasks);
	map_free(&l->cpus);
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
	struct row *r = arena_alloc(&l->arena, sizeof(*r)), **slot;

	slot = r && l->rows.n < MOST_ROWS ? vec_push(&l->rows) : NULL;
	if (!slot)
		return UINT32_MAX;
	*slot = r;
	r->about = (struct view_row){.kind = kind,
				     .buffer = buffer,
				     .number = number,
				     .tgid = group_of(l, kind, number),
				     .first = UINT64_MAX};
	return (uint32_t)l->rows.n - 1;
}

static uint32_t get_row(struct row_list *l, struct map *by, enum view_row_kind kind,
			uint32_t buffer, int64_t number)
{
	const uint64_t hash = hash_of(l, buffer, number);
	uintptr_t row;

	pthread_mutex_lock(&l->lock);
	row = (uintptr_t)map_get(by, hash);
	if (!row) {
		row = (uintptr_t)add_row(l, kind, buffer, number) + 1;
		if (row <= UINT32_MAX && !map_set(by, hash, (void *)row))
			row = (uintptr_t)UINT32_MAX + 1;
	}
	pthread_mutex_unlock(&l->lock);
	return (uint32_t)(row - 1);
}

static int64_t find_row(struct row_list *l, const struct map *by, uint32_t buffer, int64_t number)
{
	uintptr_t row;

	pthread_mutex_lock(&l->lock);
	row = (uintptr_t)map_get(by, hash_of(l, buffer, number));
	pthread_mutex_unlock(&l->lock);
	return (int64_t)row - 1;
}

uint32_t row_of_cpu(struct row_list *l, uint32_t buffer, uint32_t cpu)
{
	return get_row(l, &l->cpus, VIEW_CPU_ROW, buffer, cpu);
}

uint32_t row_of_task(struct row_list *l, uint32_t buffer, int64_t pid)
{
	return get_row(l, &l->tasks, VIEW_TASK_ROW, buffer, pid);
}

uint32_t row_of_counter(struct row_list *l, uint32_t buffer)
{
	uint32_t row;

	pthread_mutex_lock(&l->lock);
	row = add_row(l, VIEW_COUNTER_ROW, buffer, 0);
	pthread_mutex_unlock(&l->lock);
	return row;
}

int64_t row_find_cpu(struct row_list *l, uint32_t buffer, uint32_t cpu)
{
	return find_row(l, &l->cpus, buffer, cpu);
}

int64_t row_find_task(struct row_list *l, uint32_t buffer, int64_t pid)
{
	return find_row(l, &l->tasks, buffer, pid);
}

struct row *row_get(struct row_list *l, uint32_t row)
{
	struct row *r;

	pthread_mutex_lock(&l->lock);
	r = row < l->rows.n ? l->rows.at[row] : NULL;
	pthread_mutex_unlock(&l->lock);
	return r;
}

/* ---- processes ---- */

bool row_group(struct row_list *l, uint32_t pid, uint32_t group)
{
	bool kept;

	pthread_mutex_lock(&l->lock);
	kept = map_set(&l->groups, hash_of(l, 0, pid), (void *)(uintptr_t)group);
	pthread_mutex_unlock(&l->lock);
	return kept;
}

void row_groups_apply(struct row_list *l)
{
	pthread_mutex_lock(&l->lock);
	for (size_t i = 0; i < l->rows.n; i++) {
		struct view_row *r = &l->rows.at[i]->about;

		r->tgid = group_of(l, r->kind, r->number);
	}
	pthread_mutex_unlock(&l->lock);
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

	pthread_mutex_lock(&l->lock);
	kept = name ? intern_text(&l->texts, name, strlen(name)) : NULL;
	r = row < l->rows.n ? &l->rows.at[row]->about : NULL;
	if (r && kept && r->name != kept) {
		if (r->name)
			keep_older(l, r, kept);
		r->name = kept;
	}
	pthread_mutex_unlock(&l->lock);
}

uint32_t name_number(struct row_list *l, const char *name)
{
	uintptr_t number = 0;
	const char *text, **slot;

	if (!name)
		return VIEW_NO_NAME;
	pthread_mutex_lock(&l->lock);
	text = intern_text(&l->texts, name, strlen(name));
	if (text)
		number = (uintptr_t)map_get(&l->numbers, (uintptr_t)text);
	if (text && !number && (slot = vec_push(&l->names)) != NULL) {
		*slot = text;
		number = l->names.n;
		if (!map_set(&l->numbers, (uintptr_t)text, (void *)number))
			number = 0;
	}
	pthread_mutex_unlock(&l->lock);
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

bool row_add_track(struct row_list *l, struct track *t)
{
	struct row *r;
	bool good;

	pthread_mutex_lock(&l->lock);
	r = l->rows.at[t->row];
	good = r->about.nr_tracks < r->cap || more_tracks(l, r);
	if (good) {
		/* The new element is written before the count, because others read it. */
		((struct view_track *)r->about.tracks)[r->about.nr_tracks] = t->about;
		r->tracks[r->about.nr_tracks++] = t;
	}
	pthread_mutex_unlock(&l->lock);
	return good;
}
