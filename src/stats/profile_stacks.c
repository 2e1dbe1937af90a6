// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tree of an entry's callers: stacks that begin with the same functions share a branch.
 *
 * Stacks are sorted by their frames, so that those which share their first n frames are neighbours:
 * a branch is a range of the sorted stacks and a frame number, and nothing needs to be linked. A
 * branch that does not fork is printed as a list, so nesting is only as deep as there are forks.
 */
#include <stdlib.h>

#include "stats/profile_parts.h"
#include "event/names.h"

#define INDENT	  5
#define MAX_FORKS 60 /* real stacks have fewer frames; `open` below has a bit for each */

/* How the traced machine stores a caller. */
struct frames {
	bool big_endian;
	unsigned int size;
	uint64_t stop; /* all bits set: the stack has no further frame */
};

struct printer {
	struct frames frames;
	struct symbols *symbols;
	struct buf *out;
	uint64_t open; /* columns in which a line goes down to a later branch */
};

/* The sorted stacks [first, first + n) share the frames up to `frame`, which is `caller`. */
struct branch {
	const struct stack_use **first;
	size_t n;
	size_t frame;
	uint64_t caller;
	struct figures f;
	int percent;
};

struct branches {
	struct branch *at;
	size_t n, cap;
};

/* The stack's frame of that number; false when it has none. */
static bool frame_at(const struct frames *fr, const struct stack *s, size_t number,
		     uint64_t *caller)
{
	if (number >= s->size / fr->size)
		return false;
	*caller = load_uint(s->data + number * fr->size, fr->size, fr->big_endian);
	return *caller != fr->stop;
}

/* The order of trace-cmd, which compares halves of addresses, the lower one first. */
static int compare_callers(uint64_t a, uint64_t b)
{
	uint64_t x = a << 32 | a >> 32, y = b << 32 | b >> 32;

	return x < y ? -1 : x > y;
}

static int compare_stacks(const void *a, const void *b, void *frames)
{
	const struct stack_use *const *x = a, *const *y = b;
	uint64_t from_x, from_y;

	for (size_t i = 0;; i++) {
		bool more_x = frame_at(frames, (*x)->stack, i, &from_x);
		bool more_y = frame_at(frames, (*y)->stack, i, &from_y);

		if (!more_x || !more_y)
			return more_x - more_y;
		if (from_x != from_y)
			return compare_callers(from_x, from_y);
	}
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	if (x->f.total != y->f.total)
		return x->f.total < y->f.total ? 1 : -1;
	if (x->f.count != y->f.count)
		return x->f.count < y->f.count ? 1 : -1;
	return compare_callers(x->caller, y->caller);
}

static int percent(uint64_t part, uint64_t whole)
{
	return whole ? (int)((part * 100 + whole / 2) / whole) : 0;
}

/* The branches into which a range of stacks falls apart at a frame, the costliest first. */
static void split(const struct frames *fr, const struct stack_use **stacks, size_t n, size_t frame,
		  struct branches *out)
{
	uint64_t total = 0, count = 0, caller;
	struct branch *b = NULL;

	out->n = 0;
	for (size_t i = 0; i < n; i++) {
		if (!frame_at(fr, stacks[i]->stack, frame, &caller)) {
			b = NULL;
			continue;
		}
		if (!b || b->caller != caller) {
			b = vec_push(out);
			if (!b)
				return;
			*b = (struct branch){.first = &stacks[i], .frame = frame, .caller = caller};
		}
		figures_merge(&b->f, &stacks[i]->f);
		b->n++;
		total += stacks[i]->f.total;
		count += stacks[i]->f.count;
	}
	if (out->n > 1)
		qsort(out->at, out->n, sizeof(*out->at), compare_branches);
	for (size_t i = 0; i < out->n; i++)
		out->at[i].percent = total ? percent(out->at[i].f.total, total)
					   : percent(out->at[i].f.count, count);
}

static void put_column(struct buf *out, char c)
{
	buf_fill(out, ' ', INDENT - 1);
	buf_putc(out, c);
	buf_putc(out, ' ');
}

static void put_indent(const struct printer *p, unsigned int level)
{
	for (unsigned int i = 0; i <= level; i++)
		put_column(p->out, p->open >> i & 1 ? '|' : ' ');
}

static void put_function(const struct printer *p, uint64_t caller)
{
	const struct symbol *sym = symbols_find(p->symbols, caller);

	if (sym) {
		buf_put(p->out, sym->name, sym->len);
		buf_puts(p->out, " (0x");
		buf_hex(p->out, caller);
		buf_puts(p->out, ")\n");
	} else {
		buf_puts(p->out, "0x");
		buf_hex(p->out, caller);
		buf_putc(p->out, '\n');
	}
}

static void put_figures(struct buf *out, const struct branch *b)
{
	buf_printf(out, "  %d%% (%lld)", b->percent, (long long)b->f.count);
	if (b->f.total) {
		buf_printf(out, " time:%lld max:%lld(ts:", (long long)b->f.total,
			   (long long)b->f.max);
		put_time(out, b->f.ts_max);
		buf_printf(out, ") min:%lld(ts:", (long long)b->f.min);
		put_time(out, b->f.ts_min);
		buf_printf(out, ") avg:%lld", (long long)(b->f.total / b->f.count));
	}
	buf_putc(out, '\n');
}

static void put_branches(struct printer *p, const struct branches *all, unsigned int level);

/* One branch: its function, figures, and callers up to the next fork, which comes below it. */
static void put_branch(struct printer *p, const struct branch *b, unsigned int level, bool last)
{
	struct branches below = {0};
	char line = last ? ' ' : '|';

	put_indent(p, level);
	put_column(p->out, '+');
	if (last)
		p->open &= ~(2ull << level);
	put_function(p, b->caller);
	put_indent(p, level);
	put_column(p->out, line);
	put_figures(p->out, b);

	split(&p->frames, b->first, b->n, b->frame + 1, &below);
	while (below.n == 1) {
		const struct branch only = below.at[0];

		put_indent(p, level);
		put_column(p->out, line);
		buf_puts(p->out, "   ");
		put_function(p, only.caller);
		split(&p->frames, only.first, only.n, only.frame + 1, &below);
	}
	if (below.n && level < MAX_FORKS)
		put_branches(p, &below, level + 1);
	vec_free(&below);
	put_indent(p, level + 1);
	buf_putc(p->out, '\n');
}

static void put_branches(struct printer *p, const struct branches *all, unsigned int level)
{
	p->open |= 2ull << level;
	put_indent(p, level + 1);
	buf_putc(p->out, '\n');
	for (size_t i = 0; i < all->n && !buf_full(p->out); i++)
		put_branch(p, &all->at[i], level, i + 1 == all->n);
	p->open &= ~(2ull << level);
	put_indent(p, level);
	buf_putc(p->out, '\n');
}

void put_stacks(const struct entry *e, struct buf *out)
{
	const struct events *ev = e->watch->event->events;
	const struct stack_use **sorted;
	struct branches roots = {0};
	struct printer p = {
		.frames = {ev->big_endian, ev->long_size, UINT64_MAX},
		.symbols = ev->symbols,
		.out = out,
	};
	size_t n = 0;

	if (!e->nr_stacks)
		return;
	p.frames.size = ev->long_size == 4 ? 4 : 8;
	if (p.frames.size == 4)
		p.frames.stop = UINT32_MAX;
	sorted = malloc(e->nr_stacks * sizeof(*sorted));
	if (!sorted)
		return;
	for (const struct stack_use *u = e->stacks; u; u = u->next)
		sorted[n++] = u;
	qsort_r(sorted, n, sizeof(*sorted), compare_stacks, &p.frames);
	split(&p.frames, sorted, n, 0, &roots);
	if (roots.n)
		put_branches(&p, &roots, 0);
	vec_free(&roots);
	free(sorted);
}
