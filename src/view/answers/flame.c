// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The calls of a range as a tree, from the calls in the index, or from stacks that were recorded
 * with events when there are none. What is too small to be seen is left out: a frame's value is
 * then more than its own and its children's.
 */
#include "view/answers/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stats/flame.h"
#include "base/error.h"
#include "base/json.h"
#include "view/answers/interval.h"

#define MAX_NODES  200000
#define MOST_SHOWN 30000
#define SMALLEST   4000 /* a frame is shown that has this part of all */
#define MAX_CPUS   65536

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

	for (size_t i = 0; rc == 0 && i < range->rows->n; i++) {
		struct calls c = {.flame = flame, .base = flame->root};
		const struct view_nested n = {
			.enter = enter, .leave = leave, .arg = &c, .stop = range->stop};
		struct view_place place;
		struct view_row info;

		if (*range->stop)
			return -EINTR;
		if (!view_row(range->view, range->rows->at[i], &place, &info) ||
		    interval_track(&info, VIEW_CALL, 0) < 0)
			continue;
		c.index = place.file->index;
		if (choice->by_task && info.name)
			c.base = flame_child(flame, c.base, info.name, strlen(info.name));
		rc = view_nested(range->view, range->rows->at[i], VIEW_CALL, range->since,
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
	for (size_t i = 0; i < c->range->rows->n; i++) {
		struct view_place place;
		struct view_row info;

		if (!view_row(c->range->view, c->range->rows->at[i], &place, &info) ||
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

/* CPUs among the rows mean all that happened there; otherwise it is the tasks that are meant. */
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

	if (!range->all_rows && c->nr_cpus) {
		w.walk.cpus = c->cpus;
		w.walk.nr_cpus = c->nr_cpus;
	} else if (!range->all_rows && c->tasks.n) {
		w.task = task_wanted;
		w.task_arg = c;
	} else if (!range->all_rows) {
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

/* ---- the tree as JSON ---- */

static void put_node(const struct flame_node *n, struct buf *b)
{
	const char *name = flame_name(n);

	buf_puts(b, "{\"name\":");
	buf_json_string(b, name, strlen(name));
	buf_printf(b, ",\"value\":%llu,\"self\":%llu", (unsigned long long)n->total[0],
		   (unsigned long long)n->self[0]);
}

static const struct flame_node *first_shown(const struct flame_node *n, uint64_t least)
{
	while (n && (n->total[0] < least || !n->total[0]))
		n = n->sibling;
	return n;
}

/*
 * Depth first, without recursion: a tree may be as deep as a stack. The root's list of children is
 * left open.
 */
static void put_tree(const struct flame *f, struct buf *b)
{
	const struct flame_node *n = f->root;
	const uint64_t least = n->total[0] / SMALLEST;
	size_t shown = 0;

	put_node(n, b);
	while (n) {
		const struct flame_node *child =
			shown < MOST_SHOWN ? first_shown(n->child, least) : NULL;

		buf_puts(b, ",\"children\":[");
		if (child) {
			n = child;
			put_node(n, b);
			shown++;
			continue;
		}
		if (!n->parent)
			return;
		buf_puts(b, "]}");
		/* Up until there is one beside. */
		while (n) {
			const struct flame_node *next = n->parent && shown < MOST_SHOWN
								? first_shown(n->sibling, least)
								: NULL;

			if (next) {
				n = next;
				buf_putc(b, ',');
				put_node(n, b);
				shown++;
				break;
			}
			n = n->parent;
			if (n && n->parent)
				buf_puts(b, "]}");
			else if (n)
				return;
		}
	}
}

int sum_flame(const struct sum_range *range, const struct flame_choice *choice, struct buf *out,
	      struct spur_error *err)
{
	struct flame f;
	uint64_t frames = 0;
	int rc = flame_init(&f, MAX_NODES, err);

	if (rc < 0)
		return rc;
	if (choice->calls)
		rc = take_calls(range, choice, &f, &frames);
	if (rc == 0 && !frames && choice->stacks)
		rc = take_stacks(range, choice, &f, err);
	if (rc == 0)
		rc = flame_finish(&f, err);
	if (rc == 0) {
		put_tree(&f, out);
		buf_printf(out, "],\"unit\":\"%s\",\"from\":\"%s\"}", frames ? "ns" : "samples",
			   frames ? "calls" : "stacks");
	}
	flame_free(&f);
	return rc == 0 && *range->stop ? -EINTR : rc;
}
