// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Function calls as stacks. Rows come when calls end, thus callees before their callers: what a
 * call has called waits as a tree of its own until the call itself comes, and becomes part of its
 * caller's then. There are never more of these than calls that have not ended.
 *
 * All calls are read whatever was asked for: the callers of one that is wanted need not be. They
 * count nothing and are left out where nothing below them counts.
 */
#include <errno.h>

#include "table/calls.h"
#include "stats/flame_rows.h"
#include "base/error.h"

struct call_tree {
	struct flame *flame;
	unsigned int side;
	const struct flame_wanted *wanted;
	struct map waiting; /* by call: what it has called */
};

static uint64_t value_of(const struct call_tree *t, const struct call_row *r)
{
	const struct flame_wanted *w = t->wanted;
	int64_t self = r->self;

	if (!flame_wants_time(w, r->ts) || !flame_wants(w, r->cpu, r->pid, r->comm, r->buffer))
		return 0;
	if (w->weight == FLAME_COUNT)
		return 1;
	if (w->weight == FLAME_ON_CPU && self > 0 && r->self_off_cpu > 0)
		self -= r->self_off_cpu;
	return self > 0 ? (uint64_t)self : 0;
}

/* Where a call belongs: below its caller, which may still have to come. */
static struct flame_node *place_of(struct call_tree *t, const struct call_row *r)
{
	const uint64_t key = (uint64_t)r->parent_id;
	struct flame_node *n;

	if (r->parent_id == ROW_NULL)
		return flame_base(t->flame, t->wanted, r->cpu, r->pid, r->comm);
	n = map_get(&t->waiting, key);
	if (n)
		return n;
	n = flame_detached(t->flame);
	if (n && map_set(&t->waiting, key, n))
		return n;
	/* Too much: without a place of its own it is one of the outermost. */
	return t->flame->root;
}

static void take_call(void *arg, const void *row)
{
	struct call_tree *t = arg;
	const struct call_row *r = row;
	struct flame_node *called = map_remove(&t->waiting, (uint64_t)r->id);
	const char *func = r->func ? r->func : "[unknown]";
	struct flame_node *place = place_of(t, r);
	const uint64_t value = value_of(t, r);

	if (called) {
		if (value)
			flame_add(t->flame, t->side, called, value);
		flame_attach(t->flame, place, func, strlen(func), called);
	} else if (value) {
		flame_add(t->flame, t->side, flame_child(t->flame, place, func, strlen(func)),
			  value);
	}
}

/* Calls whose callers never came, as those before a loss of events. */
static void place_rest(struct call_tree *t)
{
	for (size_t i = 0; i < t->waiting.cap; i++)
		if (t->waiting.slots[i].value)
			flame_merge(t->flame, t->waiting.slots[i].value, t->flame->root);
}

int flame_read_calls(struct flame *f, unsigned int side, struct spur_trace *t,
		     const struct flame_wanted *w, struct spur_error *err)
{
	struct call_tree tree = {.flame = f, .side = side, .wanted = w};
	const struct walk_options everything = {.stop = w->walk.stop,
						.take = w->walk.take,
						.take_arg = w->walk.take_arg,
						.progress = w->walk.progress,
						.progress_arg = w->walk.progress_arg};
	struct feed *feed = feed_new(t, &everything, err);
	int rc;

	if (!feed)
		return err->code;
	rc = feed_add(feed, &calls_table, take_call, &tree, err);
	if (rc == 0)
		rc = feed_run(feed, err);
	place_rest(&tree);
	map_free(&tree.waiting);
	feed_free(feed);
	return rc;
}
