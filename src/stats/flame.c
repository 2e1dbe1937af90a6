// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of frames of a flame graph, and folded text as its input and output.
 *
 * Children are a list; from INDEXED on there is also a map by the address of the name, which is
 * enough because each name is stored once. Nodes lie in chunks and are used again after a merge, so
 * that memory ends at the limit however many calls a trace has. Nothing here is recursive: a walk
 * goes back by the parents.
 */
#include "stats/flame.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/order.h"
#include "table/table.h"

#define MAX_NODES   (400u << 10)
#define NAME_BYTES  (64u << 20)
#define NAME_LEN    1024 /* of a frame; what is longer is cut */
#define STACK_BYTES (1u << 20)
#define INDEXED	    9
#define CHUNK_NODES 256
#define LINE_BYTES  (1u << 20) /* of a line; what is longer is no stack */

struct flame_chunk {
	struct flame_chunk *next;
	struct flame_node nodes[CHUNK_NODES];
};

/* ---- nodes ---- */

static bool more_nodes(struct flame *f)
{
	struct flame_chunk *c = calloc(1, sizeof(*c));

	if (!c)
		return false;
	c->next = f->chunks;
	f->chunks = c;
	for (size_t i = 0; i < CHUNK_NODES; i++) {
		c->nodes[i].sibling = f->unused;
		f->unused = &c->nodes[i];
	}
	return true;
}

static struct flame_node *node_new(struct flame *f, size_t max)
{
	struct flame_node *n;

	if (f->nr >= max || (!f->unused && !more_nodes(f)))
		return NULL;
	n = f->unused;
	f->unused = n->sibling;
	*n = (struct flame_node){0};
	f->nr++;
	return n;
}

static void node_free(struct flame *f, struct flame_node *n)
{
	map_free(&n->index);
	*n = (struct flame_node){.sibling = f->unused};
	f->unused = n;
	f->nr--;
}

static struct flame_node *find(const struct flame_node *parent, const char *name)
{
	struct flame_node *n = parent->child;

	if (parent->nr_children >= INDEXED)
		return map_get(&parent->index, (uintptr_t)name);
	while (n && n->name != name)
		n = n->sibling;
	return n;
}

/* Adds all children to the index, if there are enough of them. */
static bool index_children(struct flame_node *parent)
{
	if (parent->nr_children == INDEXED)
		for (struct flame_node *n = parent->child; n; n = n->sibling)
			if (!map_set(&parent->index, (uintptr_t)n->name, n))
				return false;
	return parent->nr_children <= INDEXED ||
	       map_set(&parent->index, (uintptr_t)parent->child->name, parent->child);
}

/* Makes n, which has a name, a child; false (and unchanged) without memory. */
static bool link_child(struct flame_node *parent, struct flame_node *n)
{
	n->parent = parent;
	n->sibling = parent->child;
	parent->child = n;
	parent->nr_children++;
	if (index_children(parent))
		return true;
	parent->child = n->sibling;
	parent->nr_children--;
	return false;
}

static struct flame_node *add_child(struct flame *f, struct flame_node *parent, const char *name,
				    size_t max)
{
	struct flame_node *n = node_new(f, max);

	if (!n)
		return NULL;
	n->name = name;
	if (link_child(parent, n))
		return n;
	node_free(f, n);
	return NULL;
}

static struct flame_node *other_child(struct flame *f, struct flame_node *parent)
{
	struct flame_node *n;

	if (parent->name == f->other)
		return parent;
	n = find(parent, f->other);
	/* Each other node may have such a child, so there are at most twice as many nodes. */
	if (!n)
		n = add_child(f, parent, f->other, 2 * f->max);
	return n ? n : parent;
}

static struct flame_node *named_child(struct flame *f, struct flame_node *parent, const char *name)
{
	struct flame_node *n = name ? find(parent, name) : NULL;

	if (!n && name)
		n = add_child(f, parent, name, f->max);
	return n ? n : other_child(f, parent);
}

struct flame_node *flame_child(struct flame *f, struct flame_node *parent, const char *name,
			       size_t len)
{
	return named_child(f, parent,
			   intern_text(&f->names, name, len < NAME_LEN ? len : NAME_LEN));
}

/* ---- the tree ---- */

int flame_init(struct flame *f, size_t max_nodes, struct spur_error *err)
{
	memset(f, 0, sizeof(*f));
	f->max = max_nodes ? max_nodes : MAX_NODES;
	intern_init(&f->names, NAME_BYTES);
	buf_init(&f->last.text, STACK_BYTES);
	f->other = intern_text(&f->names, "(other)", 7);
	f->root = node_new(f, 1);
	if (f->root && f->other)
		return 0;
	flame_free(f);
	return error_set(err, -ENOMEM, "out of memory");
}

void flame_free(struct flame *f)
{
	while (f->chunks) {
		struct flame_chunk *c = f->chunks;

		f->chunks = c->next;
		for (size_t i = 0; i < CHUNK_NODES; i++)
			map_free(&c->nodes[i].index);
		free(c);
	}
	intern_free(&f->names);
	buf_free(&f->last.text);
	f->root = f->unused = NULL;
}

const char *flame_name(const struct flame_node *n)
{
	return n->name ? n->name : "all";
}

void flame_add(struct flame *f, unsigned int side, struct flame_node *n, uint64_t value)
{
	n->self[side] = u64_add(n->self[side], value);
	f->stacks[side]++;
	if (n->name == f->other)
		f->crowded[side] = u64_add(f->crowded[side], value);
}

/* How many frames of the last stack are the first ones of this one too. */
static size_t frames_in_common(const struct flame_last *l, const struct flame_node *base,
			       const char *stack, size_t len)
{
	size_t same = 0, depth = 0;

	if (l->base != base)
		return 0;
	while (same < len && same < l->text.len && stack[same] == l->text.data[same])
		same++;
	while (depth < l->depth && l->path[depth].end <= same &&
	       (l->path[depth].end == len || stack[l->path[depth].end] == ';'))
		depth++;
	return depth;
}

struct flame_node *flame_stack(struct flame *f, struct flame_node *base, const char *stack,
			       size_t len)
{
	struct flame_last *l = &f->last;
	struct flame_node *n = base;
	size_t at = 0;

	l->depth = frames_in_common(l, base, stack, len);
	if (l->depth) {
		n = l->path[l->depth - 1].node;
		at = l->path[l->depth - 1].end + 1;
	}
	while (at < len) {
		const char *sep = memchr(stack + at, ';', len - at);
		const size_t end = sep ? (size_t)(sep - stack) : len;

		if (l->depth == FLAME_DEPTH) {
			/* The stored path does not match the text any more. */
			l->base = NULL;
			return other_child(f, n);
		}
		if (end > at)
			n = flame_child(f, n, stack + at, end - at);
		l->path[l->depth].node = n;
		l->path[l->depth++].end = end;
		at = end + 1;
	}
	l->base = base;
	buf_reset(&l->text);
	buf_put(&l->text, stack, len);
	/* A stack that does not fit cannot be compared with the next one. */
	if (buf_full(&l->text))
		l->base = NULL;
	return n;
}

/* ---- calls whose callers come later ---- */

struct flame_node *flame_detached(struct flame *f)
{
	return node_new(f, f->max);
}

static void add_values(struct flame_node *to, const struct flame_node *n)
{
	for (unsigned int i = 0; i < FLAME_SIDES; i++)
		to->self[i] = u64_add(to->self[i], n->self[i]);
}

/*
 * Subtrees that `to` does not have are moved as they are. For others, the two nodes are queued in a
 * list (linked by sibling, with the target as parent).
 */
void flame_merge(struct flame *f, struct flame_node *from, struct flame_node *to)
{
	struct flame_node *todo = from;

	from->parent = to;
	from->sibling = NULL;
	while (todo) {
		struct flame_node *n = todo, *into = n->parent, *next;

		todo = n->sibling;
		add_values(into, n);
		for (struct flame_node *c = n->child; c; c = next) {
			struct flame_node *same =
				into->name == f->other ? into : find(into, c->name);

			next = c->sibling;
			if (!same && link_child(into, c))
				continue;
			c->parent = same ? same : into;
			c->sibling = todo;
			todo = c;
		}
		node_free(f, n);
	}
}

void flame_attach(struct flame *f, struct flame_node *parent, const char *name, size_t len,
		  struct flame_node *detached)
{
	const char *kept = intern_text(&f->names, name, len < NAME_LEN ? len : NAME_LEN);
	struct flame_node *there = kept ? find(parent, kept) : other_child(f, parent);

	if (there == NULL) {
		detached->name = kept;
		if (link_child(parent, detached))
			return;
		there = parent;
	}
	flame_merge(f, detached, there);
}

/* ---- walks ---- */

struct flame_node *flame_next_beside(const struct flame_node *n)
{
	while (n && !n->sibling)
		n = n->parent;
	return n ? n->sibling : NULL;
}

struct flame_node *flame_next(const struct flame_node *n)
{
	return n->child ? n->child : flame_next_beside(n);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct flame_node *)a)->name, ((const struct flame_node *)b)->name);
}

static int by_total(const void *a, const void *b)
{
	const struct flame_node *x = a, *y = b;

	if (x->total[0] != y->total[0])
		return x->total[0] < y->total[0] ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void sort(struct flame *f, int (*compare)(const void *a, const void *b))
{
	for (struct flame_node *n = f->root; n; n = flame_next(n))
		n->child = order_list(n->child, offsetof(struct flame_node, sibling), compare);
}

static struct flame_node *innermost(struct flame_node *n)
{
	while (n->child)
		n = n->child;
	return n;
}

static void compute_totals(struct flame *f)
{
	for (struct flame_node *n = f->root; n; n = flame_next(n))
		memcpy(n->total, n->self, sizeof(n->total));
	/* Callees before their callers. */
	for (struct flame_node *n = innermost(f->root); n->parent;
	     n = n->sibling ? innermost(n->sibling) : n->parent)
		for (unsigned int i = 0; i < FLAME_SIDES; i++)
			n->parent->total[i] = u64_add(n->parent->total[i], n->total[i]);
}

void flame_finish(struct flame *f)
{
	sort(f, by_name);
	compute_totals(f);
}

void flame_sort_by_total(struct flame *f)
{
	sort(f, by_total);
}

static bool has_self(const struct flame_node *n)
{
	for (unsigned int i = 0; i < FLAME_SIDES; i++)
		if (n->self[i])
			return true;
	return false;
}

void flame_reverse(const struct flame *from, struct flame *to)
{
	for (const struct flame_node *n = from->root; n; n = flame_next(n)) {
		struct flame_node *at = to->root;
		size_t depth = 0;

		if (!has_self(n))
			continue;
		for (const struct flame_node *up = n; up->name; up = up->parent)
			at = depth++ < FLAME_DEPTH ? flame_child(to, at, up->name, strlen(up->name))
						   : other_child(to, at);
		for (unsigned int i = 0; i < FLAME_SIDES; i++)
			if (n->self[i])
				flame_add(to, i, at, n->self[i]);
	}
	memcpy(to->stacks, from->stacks, sizeof(to->stacks));
}

/* ---- folded text ---- */

/*
 * As stackcollapse programs write and flamegraph programs read it: a line per stack, its functions
 * from the outermost to the innermost between semicolons, a space, a number. Empty lines and those
 * that begin with '#' are skipped. Fractions are rounded.
 */

void flame_folded_begin(struct flame_folded *r, struct flame *f, unsigned int side)
{
	*r = (struct flame_folded){.flame = f, .side = side};
	buf_init(&r->rest, LINE_BYTES);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Parses a whole text as a number, rounded; false if it is no number or too large. */
static bool parse_value(const char *s, size_t len, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	for (; i < len && is_digit(s[i]); i++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(s[i] - '0'), value))
			return false;
	if (!i || i == len)
		return i != 0;
	if (s[i++] != '.')
		return false;
	if (i < len && s[i] >= '5' && s[i] <= '9' && *value < UINT64_MAX)
		++*value;
	while (i < len && is_digit(s[i]))
		i++;
	return i == len;
}

static bool take_stack(struct flame_folded *r, const char *line, size_t len)
{
	size_t number = len;
	uint64_t value;

	while (number && line[number - 1] != ' ' && line[number - 1] != '\t')
		number--;
	if (number < 2 || !parse_value(line + number, len - number, &value))
		return false;
	while (number && (line[number - 1] == ' ' || line[number - 1] == '\t'))
		number--;
	if (!number)
		return false;
	flame_add(r->flame, r->side, flame_stack(r->flame, r->flame->root, line, number), value);
	return true;
}

static void take_line(struct flame_folded *r, const char *line, size_t len)
{
	r->lines++;
	while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
		len--;
	if (!len || *line == '#' || take_stack(r, line, len))
		return;
	if (!r->bad++)
		r->first_bad = r->lines;
}

/* Handles a line that began in earlier parts of the text. */
static void take_rest(struct flame_folded *r)
{
	take_line(r, r->rest.data, buf_full(&r->rest) ? 0 : r->rest.len);
	if (buf_full(&r->rest) && !r->bad++)
		r->first_bad = r->lines;
	buf_reset(&r->rest);
}

void flame_folded_take(struct flame_folded *r, const char *text, size_t len)
{
	while (len) {
		const char *end = memchr(text, '\n', len);
		const size_t n = end ? (size_t)(end - text) : len;

		if (!end || r->rest.len || buf_full(&r->rest))
			buf_put(&r->rest, text, n);
		else
			take_line(r, text, n);
		if (end && (r->rest.len || buf_full(&r->rest)))
			take_rest(r);
		text += n + (end != NULL);
		len -= n + (end != NULL);
	}
}

void flame_folded_end(struct flame_folded *r)
{
	if (r->rest.len || buf_full(&r->rest))
		take_rest(r);
	buf_free(&r->rest);
}

/* A name must not look like two frames, or two lines. */
static void put_name(struct buf *out, const char *name)
{
	const size_t start = out->len;

	buf_puts(out, name);
	for (size_t i = start; i < out->len; i++) {
		if (out->data[i] == ';')
			out->data[i] = ':';
		else if ((unsigned char)out->data[i] < ' ')
			out->data[i] = '?';
	}
}

/* The functions from the outermost to n; of a stack that is too deep the outer ones. */
static void put_stack(struct buf *out, const struct flame_node *n)
{
	const struct flame_node *path[FLAME_DEPTH];
	size_t depth = 0;

	for (const struct flame_node *up = n; up->name; up = up->parent)
		path[depth++ % FLAME_DEPTH] = up;
	if (!depth)
		buf_puts(out, flame_name(n));
	for (size_t left = depth < FLAME_DEPTH ? depth : FLAME_DEPTH; left; left--) {
		put_name(out, path[--depth % FLAME_DEPTH]->name);
		if (left > 1)
			buf_putc(out, ';');
	}
}

void flame_folded_put(const struct flame *f, bool both, struct buf *out)
{
	for (const struct flame_node *n = f->root; n; n = flame_next(n)) {
		if (!n->self[0] && !(both && n->self[1]))
			continue;
		put_stack(out, n);
		buf_putc(out, ' ');
		buf_u64(out, n->self[0]);
		if (both) {
			buf_putc(out, ' ');
			buf_u64(out, n->self[1]);
		}
		buf_putc(out, '\n');
	}
}
