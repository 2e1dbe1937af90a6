// SPDX-License-Identifier: GPL-2.0-or-later
/* The nodes of trees of calls: memory, lists, and what rows of `calls` make of them. */
#include <stdlib.h>
#include <string.h>

#include "stats/calltree_parts.h"

#define MAX_LEVEL 1000 /* a depth beyond this is the file's lie */

/* ---- memory ---- */

static struct node *new_node(struct calltree *ct)
{
	struct node *n = ct->free;

	if (!n && ct->used == ct->max_nodes) {
		/* When nearly all are open, printing would give back next to nothing, each time. */
		if (ct->nr_open > ct->max_nodes - ct->max_nodes / 8)
			return NULL;
		tree_make_room(ct);
		n = ct->free;
	}
	if (n)
		ct->free = n->next;
	else if (ct->used < ct->max_nodes)
		n = &ct->nodes[ct->used++];
	if (n)
		*n = (struct node){.dur = ROW_NULL, .retval = ROW_NULL, .depth = ROW_NULL};
	return n;
}

static void give_back(struct calltree *ct, struct node *n)
{
	if (n->text)
		ct->text -= strlen(n->text);
	free(n->text);
	ct->nr_open -= n->open;
	*n = (struct node){.next = ct->free};
	ct->free = n;
}

void tree_release(struct calltree *ct, struct node *top)
{
	struct node *n = top;

	top->next = NULL;
	for (;;) {
		struct node *parent = n->parent, *next = n->next;

		if (n->inner.first) {
			struct node *inner = n->inner.first;

			n->inner.first = NULL;
			n = inner;
			continue;
		}
		give_back(ct, n);
		if (n == top)
			return;
		n = next ? next : parent;
	}
}

void tree_clear(struct calltree *ct, struct tree_task *t)
{
	while (t->roots.first) {
		struct node *n = t->roots.first;

		tree_unlink(t, n);
		tree_release(ct, n);
	}
	t->inmost = t->off = NULL;
	t->irq_shown = false;
}

void tree_make_room(struct calltree *ct)
{
	for (size_t i = ct->first; i < ct->tasks.n && i < ct->cut; i++)
		tree_put(ct, ct->tasks.at[i]);
}

/* ---- lists ---- */

static struct node_list *siblings(struct tree_task *t, const struct node *n)
{
	return n->parent ? &n->parent->inner : &t->roots;
}

static void link_last(struct tree_task *t, struct node *n, struct node *parent)
{
	struct node_list *list;

	n->parent = parent;
	list = siblings(t, n);
	n->prev = list->last;
	n->next = NULL;
	*(list->last ? &list->last->next : &list->first) = n;
	list->last = n;
}

void tree_unlink(struct tree_task *t, struct node *n)
{
	struct node_list *list = siblings(t, n);

	*(n->prev ? &n->prev->next : &list->first) = n->next;
	*(n->next ? &n->next->prev : &list->last) = n->prev;
	n->prev = n->next = NULL;
}

struct node *tree_append(struct calltree *ct, struct tree_task *t, enum node_kind kind)
{
	struct node *n = new_node(ct);

	if (!n) {
		ct->result->incomplete |= kind == NODE_CALL;
		return NULL;
	}
	n->kind = kind;
	n->ts = n->end = ct->record.ts;
	n->cpu = n->end_cpu = ct->record.cpu;
	n->in_irq = ct->flags & 0x08;
	n->step = t->inmost ? 1 : 0;
	link_last(t, n, t->inmost);
	return n;
}

/* ---- calls ---- */

static bool in_entry(const struct calltree *ct, uint64_t addr)
{
	return addr >= ct->irq_from && addr < ct->irq_to;
}

static uint32_t level_of(int64_t depth)
{
	return depth < 0 ? 0 : depth > MAX_LEVEL ? MAX_LEVEL : (uint32_t)depth;
}

/* Levels that something of this depth is below a call of that one. */
static uint32_t step_below(int64_t depth, int64_t around)
{
	int64_t step;

	if (depth == ROW_NULL || around == ROW_NULL || __builtin_sub_overflow(depth, around, &step))
		return 1;
	return step < 1 ? 1 : level_of(step);
}

bool tree_left_out(const struct calltree *ct)
{
	const struct selection *s = ct->opt->events;

	return s && ((s->no_irqs && (ct->flags & 0x08)) || (s->no_softirqs && (ct->flags & 0x10)));
}

static void describe(const struct calltree *ct, struct node *n, const struct call_row *c)
{
	n->ts = c->ts;
	n->id = c->id;
	n->depth = c->depth;
	n->name = c->func ? c->func : "?";
	n->in_irq |= in_entry(ct, (uint64_t)c->addr);
}

void tree_begin(struct calltree *ct, struct tree_task *t, const struct call_row *c)
{
	const bool filtered = ct->opt->nr_functions;
	const uint32_t level = t->inmost ? t->inmost->level + 1 : filtered ? 0 : level_of(c->depth);
	struct node *n;

	if (ct->opt->depth && level >= ct->opt->depth)
		return;
	n = tree_append(ct, t, NODE_CALL);
	if (!n)
		return;
	describe(ct, n, c);
	n->level = level;
	n->step = t->inmost ? 1 : level;
	n->open = true;
	ct->nr_open++;
	t->inmost = n;
}

/* Counts a call that is too short instead of showing it, together with those just before it. */
static void hide(struct calltree *ct, struct tree_task *t, struct node *n)
{
	struct node *before = n->prev;

	if (before && before->kind == NODE_HIDDEN) {
		before->id++;
		before->dur = ns_add(before->dur, n->dur);
		before->end = n->end;
		before->depth = n->depth < before->depth ? n->depth : before->depth;
		tree_unlink(t, n);
		tree_release(ct, n);
		return;
	}
	while (n->inner.first) {
		struct node *inner = n->inner.first;

		tree_unlink(t, inner);
		tree_release(ct, inner);
	}
	n->kind = NODE_HIDDEN;
	n->id = 1;
}

static bool too_short(const struct calltree *ct, const struct node *n)
{
	return !n->missing && !n->begun && n->dur < ct->opt->min;
}

static void finish(const struct calltree *ct, struct node *n, const struct call_row *c)
{
	n->missing = c->open;
	n->dur = c->open ? ROW_NULL : c->dur;
	n->retval = c->retval;
	n->caller = c->parent_id == ROW_NULL ? c->parent : NULL;
	if (!c->open) {
		n->end = ct->record.ts;
		n->end_cpu = ct->record.cpu;
	} else {
		n->end = c->ts + (c->dur > 0 ? (uint64_t)c->dur : 0);
	}
}

void tree_end(struct calltree *ct, struct tree_task *t, const struct call_row *c)
{
	struct node *n = t->inmost;
	bool inmost, shown = true;

	/* Calls of probes and of the tracer need not be nested in each other. */
	while (n && (!n->open || n->id != c->id))
		n = n->parent;
	if (!n)
		return;
	finish(ct, n, c);
	n->open = false;
	ct->nr_open--;
	inmost = n == t->inmost;
	while (t->inmost && !t->inmost->open)
		t->inmost = t->inmost->parent;
	if (inmost && too_short(ct, n)) {
		hide(ct, t, n);
		shown = false;
	}
	if (!t->inmost && shown)
		tree_put(ct, t);
}

/* ---- calls that are known by their ends ---- */

/* Whether what has come before is inside the call. */
static bool is_inside(const struct node *n, const struct call_row *c)
{
	if (n->kind != NODE_CALL && n->kind != NODE_HIDDEN)
		return n->ts >= c->ts;
	/* When it began is told by the kernel's own clock: not to compare with. */
	return !n->open && n->end > c->ts && n->depth != ROW_NULL && n->depth > c->depth;
}

static void take_in(struct tree_task *t, struct node *n, const struct call_row *c)
{
	struct node *from = n;

	if (c->depth == ROW_NULL)
		return;
	while (from->prev && is_inside(from->prev, c))
		from = from->prev;
	while (from != n) {
		struct node *next = from->next;

		tree_unlink(t, from);
		link_last(t, from, n);
		from->step = step_below(from->depth, c->depth);
		from = next;
	}
}

void tree_only_end(struct calltree *ct, struct tree_task *t, const struct call_row *c)
{
	const bool outmost = !t->inmost && (c->depth == ROW_NULL || c->depth <= 0);
	struct node *n = tree_append(ct, t, NODE_CALL);

	if (!n)
		return;
	describe(ct, n, c);
	finish(ct, n, c);
	n->only_end = true;
	n->step = t->inmost ? step_below(c->depth, t->inmost->depth) : level_of(c->depth);
	take_in(t, n, c);
	if (too_short(ct, n) && !t->inmost && !tree_function(ct, n->name)) {
		tree_unlink(t, n);
		tree_release(ct, n);
	} else if (too_short(ct, n)) {
		hide(ct, t, n);
	} else if (outmost) {
		tree_put(ct, t);
	}
}
