// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls of a range as a tree, from the calls in the index, or from stacks that were recorded
 * with events when there are none.
 */
#include "view/answers/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/flame.h"
#include "base/error.h"
#include "view/answers/interval.h"

#define MAX_NODES 200000
#define MAX_CPUS  65536

/* ---- calls ---- */

struct calls {
	struct flame *flame;
	struct flame_node *base;
	struct view_index *index;
	uint64_t frames;
};

static void enter(void *arg, struct nested_frame *f)
{
	struct calls *c = arg;
	const char *name = view_index_name(c->index, f->name);

	f->data = flame_child(c->flame, f->parent ? f->parent->data : c->base, name ? name : "?",
			      name ? strlen(name) : 1);
}

static void leave(void *arg, struct nested_frame *f)
{
	struct calls *c = arg;
	const uint64_t dur = f->end - f->start;

	c->frames++;
	flame_add(c->flame, 0, f->data, dur > f->inner ? dur - f->inner : 0);
}

static int take_calls(const struct sum_range *range, const struct flame_choice *choice,
		      struct flame *flame, uint64_t *frames)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < range->nr_rows; i++) {
		struct calls c = {.flame = flame, .base = flame->root};
		const struct view_nested n = {
			.enter = enter, .leave = leave, .arg = &c, .stop = range->stop};
		struct view_place place;
		struct view_row info;

		if (*range->stop)
			return -EINTR;
		if (!view_row(range->view, sum_range_row(range, i), &place, &info) ||
		    view_row_track(&info, VIEW_CALL, 0) < 0)
			continue;
		c.index = place.file->index;
		if (choice->by_task && info.name)
			c.base = flame_child(flame, c.base, info.name, strlen(info.name));
		rc = view_nested(range->view, sum_range_row(range, i), VIEW_CALL, range->since,
				 range->until, &n);
		*frames += c.frames;
	}
	return rc;
}

/* ---- stacks ---- */

struct chosen {
	const struct sum_range *range;
	uint32_t file;
	uint64_t *cpus;
	uint32_t nr_cpus;
	struct map tasks; /* by pid */
};

static int choose_rows(struct chosen *c)
{
	c->cpus = calloc(MAX_CPUS / 64, sizeof(*c->cpus));
	if (!c->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < c->range->nr_rows; i++) {
		struct view_place place;
		struct view_row info;

		if (!view_row(c->range->view, sum_range_row(c->range, i), &place, &info) ||
		    place.file_number != c->file)
			continue;
		if (info.kind == VIEW_CPU_ROW && info.number < MAX_CPUS) {
			c->cpus[info.number / 64] |= 1ull << (info.number % 64);
			c->nr_cpus = (uint32_t)info.number + 1 > c->nr_cpus
					     ? (uint32_t)info.number + 1
					     : c->nr_cpus;
		} else if (info.kind == VIEW_TASK_ROW &&
			   !map_set(&c->tasks, (uint32_t)info.number, c)) {
			return -ENOMEM;
		}
	}
	return 0;
}

static bool task_wanted(const void *arg, int64_t pid, const char *comm)
{
	return map_get(&((const struct chosen *)arg)->tasks, (uint32_t)pid) != NULL;
}

/* If there are CPUs among the rows, everything on these CPUs counts; otherwise the tasks do. */
static int take_file(const struct sum_range *range, const struct flame_choice *choice,
		     struct chosen *c, struct flame *flame, struct spur_error *err)
{
	const uint64_t origin = view_origin(range->view);
	struct flame_wanted w = {.from = FLAME_SAMPLES,
				 .by_task = choice->by_task,
				 .walk = {.since = origin + range->since,
					  .until = origin + range->until - 1,
					  .stop = range->stop}};
	enum flame_from from;

	if (range->rows && c->nr_cpus) {
		w.walk.cpus = c->cpus;
		w.walk.nr_cpus = c->nr_cpus;
	} else if (range->rows && c->tasks.n) {
		w.task = task_wanted;
		w.task_arg = c;
	} else if (range->rows) {
		return 0;
	}
	return flame_read(flame, 0, view_file(range->view, c->file)->trace, &w, &from, err);
}

static int take_stacks(const struct sum_range *range, const struct flame_choice *choice,
		       struct flame *flame, struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < view_nr_files(range->view); i++) {
		struct chosen c = {.range = range, .file = (uint32_t)i};

		if (!view_has_stacks(view_file(range->view, i)) || range->until <= range->since)
			continue;
		rc = choose_rows(&c);
		if (rc == 0)
			rc = take_file(range, choice, &c, flame, err);
		free(c.cpus);
		map_free(&c.tasks);
	}
	return rc;
}

int sum_flame(const struct sum_range *range, const struct flame_choice *choice, struct flame *out,
	      bool *calls, struct spur_error *err)
{
	uint64_t frames = 0;
	int rc = flame_init(out, MAX_NODES, err);

	if (rc < 0)
		return rc;
	if (choice->calls)
		rc = take_calls(range, choice, out, &frames);
	*calls = frames;
	if (rc == 0 && !frames && choice->stacks)
		rc = take_stacks(range, choice, out, err);
	if (rc == 0)
		flame_finish(out);
	if (rc == 0 && *range->stop)
		rc = -EINTR;
	if (rc < 0)
		flame_free(out);
	return rc;
}
