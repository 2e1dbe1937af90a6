// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gives each register of the IR a register of eBPF or a place on the stack: finds out first from
 * where to where each is needed, then allocates.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/emit.h"

/* ---- lives ---- */

/*
 * Live ranges of the IR's registers: the usual data flow over basic blocks, and from it a sorted
 * list of ranges for each register.
 *
 * Sets have a bit only for registers that are used in more than one block; there are few of them.
 */

struct block {
	uint32_t from, to;    /* instructions */
	uint64_t *in, *out;   /* sets of registers that are live there */
	int32_t next, branch; /* blocks, -1: none */
};

struct flow {
	struct {
		struct block *at;
		size_t n, cap;
	} blocks;
	uint32_t *block_of; /* by instruction */
	uint32_t *global;   /* by register: its bit + 1, 0: it is used in one block only */
	ir_reg *reg_of;	    /* by bit */
	uint32_t nr_global;
	size_t words; /* of a set */
	uint64_t *sets;
};

static bool ends_block(const struct ir_insn *i)
{
	return i->label || i->op == IR_RETURN;
}

static int find_blocks(struct work *w, struct flow *f)
{
	struct block *b = NULL;

	f->block_of = calloc(w->code.n + 1, sizeof(*f->block_of));
	if (!f->block_of)
		return -ENOMEM;
	for (uint32_t n = 0; n < w->code.n; n++) {
		const struct ir_insn *i = &w->code.at[n];

		if (!b || ends_block(i - 1) || i->op == IR_LABEL) {
			b = vec_push(&f->blocks);
			if (!b)
				return -ENOMEM;
			b->from = n;
		}
		b->to = n + 1;
		f->block_of[n] = (uint32_t)(f->blocks.n - 1);
	}
	for (size_t n = 0; n < f->blocks.n; n++) {
		const struct ir_insn *last = &w->code.at[f->blocks.at[n].to - 1];

		b = &f->blocks.at[n];
		b->next = last->op == IR_JUMP || last->op == IR_RETURN ? -1 : (int32_t)n + 1;
		b->branch = last->label ? (int32_t)f->block_of[w->label_at[last->label]] : -1;
		if (b->next >= (int32_t)f->blocks.n)
			b->next = -1;
	}
	return 0;
}

/* ---- which registers need a bit ---- */

struct seen {
	struct flow *f;
	uint32_t *block; /* by register: where it was seen, + 1; UINT32_MAX: in several */
	uint32_t now;
};

static void note(struct seen *s, ir_reg r)
{
	if (!s->block[r])
		s->block[r] = s->now + 1;
	else if (s->block[r] != s->now + 1)
		s->block[r] = UINT32_MAX;
}

static void note_use(struct work *w, ir_reg *r, bool late, void *arg)
{
	if (w->regs[*r].kind == VREG_VALUE || w->regs[*r].kind == VREG_MAP_VALUE)
		note(arg, *r);
}

static int find_global(struct work *w, struct flow *f)
{
	const size_t nr = (size_t)w->nr_regs + 1;
	struct seen s = {.f = f, .block = calloc(nr, sizeof(*s.block))};

	f->global = calloc(nr, sizeof(*f->global));
	f->reg_of = calloc(nr, sizeof(*f->reg_of));
	if (!s.block || !f->global || !f->reg_of) {
		free(s.block);
		return -ENOMEM;
	}
	for (unsigned int n = 0; n < IR_MAX_ARGS; n++)
		if (w->args[n])
			s.block[w->args[n]] = UINT32_MAX;
	for (size_t n = 0; n < w->code.n; n++) {
		s.now = f->block_of[n];
		work_uses(w, &w->code.at[n], note_use, &s);
		if (w->code.at[n].d)
			note(&s, w->code.at[n].d);
	}
	for (ir_reg r = 1; r <= w->nr_regs; r++)
		if (s.block[r] == UINT32_MAX) {
			f->reg_of[f->nr_global] = r;
			f->global[r] = ++f->nr_global;
		}
	free(s.block);
	return 0;
}

/* ---- data flow ---- */

struct gen {
	struct flow *f;
	uint64_t *live;
};

static bool bit_get(const uint64_t *set, uint32_t bit)
{
	return set[bit / 64] >> bit % 64 & 1;
}

static void add_live(struct work *w, ir_reg *r, bool late, void *arg)
{
	const struct gen *g = arg;
	const uint32_t bit = g->f->global[*r];

	if (bit)
		g->live[(bit - 1) / 64] |= 1ull << (bit - 1) % 64;
}

/* in = uses + (out - definitions), from the last instruction to the first. */
static void transfer(struct work *w, struct flow *f, const struct block *b, uint64_t *live)
{
	struct gen g = {.f = f, .live = live};

	memcpy(live, b->out, f->words * sizeof(*live));
	for (uint32_t n = b->to; n-- > b->from;) {
		struct ir_insn *i = &w->code.at[n];
		const uint32_t bit = i->d ? f->global[i->d] : 0;

		if (bit)
			live[(bit - 1) / 64] &= ~(1ull << (bit - 1) % 64);
		work_uses(w, i, add_live, &g);
	}
}

static bool join(const struct flow *f, struct block *b, int32_t from)
{
	bool changed = false;

	if (from < 0)
		return false;
	for (size_t n = 0; n < f->words; n++) {
		const uint64_t both = b->out[n] | f->blocks.at[from].in[n];

		changed |= both != b->out[n];
		b->out[n] = both;
	}
	return changed;
}

static int solve(struct work *w, struct flow *f)
{
	uint64_t *live;
	bool changed = true;
	size_t nr;

	f->words = f->nr_global / 64 + 1;
	if (__builtin_mul_overflow(f->words * 2, f->blocks.n, &nr) || nr > (64u << 20))
		return error_set(w->err, -E2BIG, "the script is too long");
	f->sets = calloc(nr + f->words, sizeof(*f->sets));
	if (!f->sets)
		return -ENOMEM;
	live = f->sets + nr;
	for (size_t n = 0; n < f->blocks.n; n++) {
		f->blocks.at[n].in = f->sets + 2 * n * f->words;
		f->blocks.at[n].out = f->blocks.at[n].in + f->words;
		transfer(w, f, &f->blocks.at[n], f->blocks.at[n].in);
	}
	while (changed) {
		changed = false;
		for (size_t n = f->blocks.n; n-- > 0;) {
			struct block *b = &f->blocks.at[n];
			bool more = join(f, b, b->next);

			more |= join(f, b, b->branch);
			if (!more)
				continue;
			transfer(w, f, b, live);
			changed |= memcmp(live, b->in, f->words * sizeof(*live)) != 0;
			memcpy(b->in, live, f->words * sizeof(*live));
		}
	}
	return 0;
}

/* ---- ranges, from the end to the beginning ---- */

struct build {
	uint32_t from; /* of the block */
	uint32_t position;
	uint64_t cost;
	bool failed;
};

static struct range *first_range(struct vreg *v)
{
	return v->ranges.n ? &v->ranges.at[v->ranges.n - 1] : NULL;
}

static void add_range(struct build *b, struct vreg *v, uint32_t from, uint32_t to)
{
	struct range *r = first_range(v);

	/* Ranges that meet where a call or the like writes the register stay apart. */
	if (r && r->from <= to && (r->from < to || to % 2 == 0)) {
		r->from = from < r->from ? from : r->from;
		r->to = to > r->to ? to : r->to;
		return;
	}
	r = vec_push(&v->ranges);
	if (r)
		*r = (struct range){from, to};
	else
		b->failed = true;
}

static void use(struct work *w, ir_reg *r, bool late, void *arg)
{
	struct build *b = arg;
	struct vreg *v = &w->regs[*r];

	if (v->kind != VREG_VALUE && v->kind != VREG_MAP_VALUE)
		return;
	add_range(b, v, b->from, b->position + (late ? 2 : 1));
	v->cost += b->cost;
}

static void define(struct build *b, struct vreg *v)
{
	const uint32_t at = b->position + 1;
	struct range *r = first_range(v);

	if (r && r->from <= at && r->to > at)
		r->from = at;
	else
		add_range(b, v, at, at + 1);
	v->cost += v->kind == VREG_MAP_VALUE ? 0 : b->cost;
}

static int build_ranges(struct work *w, struct flow *f)
{
	static const uint64_t costs[] = {4, 32, 256, 2048};
	struct build b = {0};

	for (size_t n = f->blocks.n; n-- > 0;) {
		const struct block *bl = &f->blocks.at[n];

		b.from = POSITION(bl->from);
		for (uint32_t bit = 0; bit < f->nr_global; bit++)
			if (bit_get(bl->out, bit))
				add_range(&b, &w->regs[f->reg_of[bit]], b.from, POSITION(bl->to));
		for (uint32_t i = bl->to; i-- > bl->from;) {
			struct ir_insn *insn = &w->code.at[i];

			b.position = POSITION(i);
			b.cost = costs[w->depth[i] < 3 ? w->depth[i] : 3];
			if (insn->d)
				define(&b, &w->regs[insn->d]);
			work_uses(w, insn, use, &b);
		}
	}
	b.position = 0;
	for (unsigned int n = 0; n < IR_MAX_ARGS; n++)
		if (w->args[n]) {
			b.from = 1;
			add_range(&b, &w->regs[w->args[n]], 1, 2);
		}
	return b.failed ? -ENOMEM : 0;
}

/*
 * Sorts the ranges, and reports registers that are read before they are written, as the verifier
 * would.
 */
static int finish(struct work *w, struct flow *f)
{
	for (ir_reg r = 1; r <= w->nr_regs; r++) {
		struct vreg *v = &w->regs[r];

		for (size_t n = 0; n < v->ranges.n / 2; n++) {
			const struct range t = v->ranges.at[n];

			v->ranges.at[n] = v->ranges.at[v->ranges.n - 1 - n];
			v->ranges.at[v->ranges.n - 1 - n] = t;
		}
		/*
		 * It is live at the beginning of the function or of its only block: it was not
		 * written.
		 */
		if (v->ranges.n && (v->ranges.at[0].from == POSITION(0) ||
				    (!f->global[r] && v->ranges.at[0].from % 2 == 0))) {
			w->at = w->code.at[0].at;
			return error_set(w->err, -EINVAL,
					 "internal error: the compiled script reads what it has "
					 "not written");
		}
	}
	return 0;
}

/* How many loops each instruction is in: jumps back say so. */
static int find_depth(struct work *w)
{
	w->depth = calloc(w->code.n + 1, sizeof(*w->depth));
	if (!w->depth)
		return -ENOMEM;
	for (uint32_t n = 0; n < w->code.n; n++) {
		const ir_label l = w->code.at[n].label;

		if (l && w->label_at[l] <= n) {
			w->depth[w->label_at[l]]++;
			w->depth[n + 1]--;
		}
	}
	for (size_t n = 1; n <= w->code.n; n++)
		w->depth[n] += w->depth[n - 1];
	return 0;
}

int work_live(struct work *w)
{
	struct flow f = {0};
	int rc = find_depth(w);

	if (!rc)
		rc = find_blocks(w, &f);
	if (!rc)
		rc = find_global(w, &f);
	if (!rc)
		rc = solve(w, &f);
	if (!rc)
		rc = build_ranges(w, &f);
	if (!rc)
		rc = finish(w, &f);
	vec_free(&f.blocks);
	free(f.block_of);
	free(f.global);
	free(f.reg_of);
	free(f.sets);
	return rc;
}

/* ---- allocation ---- */

/*
 * Linear scan: registers of the IR are visited in the order in which they become live, and each
 * gets a register of eBPF that is free for its whole life. A value that is live across a call needs
 * one of r6 to r9. If none is free, the cheapest one is moved to the stack, for its whole life.
 *
 * Hints avoid moves: the result of a call prefers r0, its arguments r1 to r5, the result of an
 * operation the register of its first operand, and a copy that of the original.
 */

enum { CALLER_SAVED = 0x3f, CALLEE_SAVED = 0x3c0 };

struct scan {
	struct work *w;
	ir_reg *order;
	size_t nr;
	struct {
		ir_reg *at;
		size_t n, cap;
	} in[NR_REGS]; /* those that have each register */
	uint16_t allowed;
};

/* ---- what happens to a register ---- */

static void hint(struct vreg *v, int reg)
{
	if (v->nr_hints < MAX_HINTS)
		v->hints[v->nr_hints++] = (int8_t)reg;
}

static void befriend(struct work *w, ir_reg a, ir_reg b)
{
	struct vreg *va = &w->regs[a], *vb = &w->regs[b];

	if (va->nr_friends < MAX_HINTS)
		va->friends[va->nr_friends++] = b;
	if (vb->nr_friends < MAX_HINTS)
		vb->friends[vb->nr_friends++] = a;
}

static void find_hints(struct work *w)
{
	for (unsigned int n = 0; n < IR_MAX_ARGS; n++)
		if (w->args[n])
			hint(&w->regs[w->args[n]], (int)n + 1);
	vec_each (i, &w->code) {
		if (i->op == IR_CALL) {
			for (unsigned int n = 0; n < i->nr_args; n++)
				hint(&w->regs[i->args[n]], (int)n + 1);
			if (i->d)
				hint(&w->regs[i->d], 0);
		} else if (i->op == IR_RETURN) {
			hint(&w->regs[i->a], 0);
		} else if (i->d && i->a && i->op != IR_LOAD) {
			befriend(w, i->d, i->a);
			if (i->b && work_is_commutative(i->op))
				befriend(w, i->d, i->b);
		}
	}
}

/* Finds registers that are live across a call. */
static int find_crossings(struct work *w)
{
	/* How many calls there are in front of each instruction. */
	uint32_t *calls = malloc((w->code.n + 1) * sizeof(*calls)), nr = 0;

	if (!calls)
		return -ENOMEM;
	for (size_t n = 0; n <= w->code.n; n++) {
		calls[n] = nr;
		nr += n < w->code.n && w->code.at[n].op == IR_CALL;
	}
	for (ir_reg r = 1; r <= w->nr_regs; r++) {
		struct vreg *v = &w->regs[r];

		v->crosses_call = false;
		vec_each (x, &v->ranges) {
			/* A call at i destroys at POSITION(i) + 1, which lies in (from, to). */
			const uint32_t from = x->from / 2, to = (x->to - 2) / 2;
			const uint32_t last = to < w->code.n ? to : (uint32_t)w->code.n;
			const uint32_t first = x->from % 2 ? from : from - 1;

			if (x->to > 2 && first < last && calls[last] != calls[first])
				v->crosses_call = true;
		}
	}
	free(calls);
	return 0;
}

static bool overlap(const struct vreg *a, const struct vreg *b)
{
	size_t i = 0, j = 0;

	while (i < a->ranges.n && j < b->ranges.n) {
		const struct range *x = &a->ranges.at[i], *y = &b->ranges.at[j];

		if (x->to <= y->from)
			i++;
		else if (y->to <= x->from)
			j++;
		else
			return true;
	}
	return false;
}

static int by_beginning(const void *a, const void *b, void *arg)
{
	const struct work *w = arg;
	const ir_reg x = *(const ir_reg *)a, y = *(const ir_reg *)b;
	const uint32_t from_x = w->regs[x].ranges.at[0].from, from_y = w->regs[y].ranges.at[0].from;

	if (from_x != from_y)
		return from_x < from_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* ---- the scan ---- */

static uint32_t end_of(const struct vreg *v)
{
	return v->ranges.at[v->ranges.n - 1].to;
}

/*
 * Whether v overlaps with one of the owners of a place; removes owners that are not live any more.
 */
static bool meets(const struct work *w, const struct vreg *v, ir_reg *others, size_t *nr)
{
	bool met = false;
	size_t kept = 0;

	for (size_t n = 0; n < *nr; n++) {
		const struct vreg *other = &w->regs[others[n]];

		if (end_of(other) <= v->ranges.at[0].from)
			continue;
		others[kept++] = others[n];
		met = met || overlap(v, other);
	}
	*nr = kept;
	return met;
}

/* Registers that are free for the whole life of v. */
static uint16_t free_for(struct scan *s, const struct vreg *v)
{
	uint16_t free_regs = s->allowed & (v->crosses_call ? CALLEE_SAVED : 0x3ff);

	for (int reg = 0; reg < NR_REGS; reg++)
		if (meets(s->w, v, s->in[reg].at, &s->in[reg].n))
			free_regs &= (uint16_t) ~(1u << reg);
	return free_regs;
}

static int choose(const struct scan *s, const struct vreg *v, uint16_t free_regs)
{
	/* Caller-saved registers first, and of these the argument registers last. */
	static const int8_t order[NR_REGS] = {0, 5, 4, 3, 2, 1, 6, 7, 8, 9};

	for (unsigned int n = 0; n < v->nr_friends; n++) {
		const int reg = s->w->regs[v->friends[n]].reg;

		if (reg != REG_NONE && free_regs & 1 << reg)
			return reg;
	}
	for (unsigned int n = 0; n < v->nr_hints; n++)
		if (free_regs & 1 << v->hints[n])
			return v->hints[n];
	/* The preference of a related register that comes later. */
	for (unsigned int n = 0; n < v->nr_friends; n++) {
		const struct vreg *f = &s->w->regs[v->friends[n]];

		if (f->nr_hints && !f->crosses_call && free_regs & 1 << f->hints[0])
			return f->hints[0];
	}
	for (int n = 0; n < NR_REGS; n++)
		if (free_regs & 1 << order[n])
			return order[n];
	return REG_NONE;
}

static int give(struct scan *s, ir_reg r, int reg)
{
	ir_reg *slot = vec_push(&s->in[reg]);

	if (!slot)
		return -ENOMEM;
	*slot = r;
	s->w->regs[r].reg = reg;
	return 0;
}

/* A value that is used directly after it is written needs a register even if it is on the stack. */
static uint64_t cost_of(const struct vreg *v)
{
	const bool is_short = v->ranges.n == 1 && v->ranges.at[0].to - v->ranges.at[0].from <= 2;

	return is_short ? UINT32_MAX : v->cost;
}

/* No register is free: moves the cheapest to the stack, this one or those that block a register. */
static int make_room(struct scan *s, ir_reg r)
{
	struct vreg *v = &s->w->regs[r];
	const uint16_t possible = s->allowed & (v->crosses_call ? CALLEE_SAVED : 0x3ff);
	uint64_t least = cost_of(v);
	int best = REG_NONE;
	size_t kept = 0;

	for (int reg = 0; reg < NR_REGS; reg++) {
		uint64_t cost = 0;

		if (!(possible & 1 << reg))
			continue;
		for (size_t n = 0; n < s->in[reg].n; n++)
			if (overlap(v, &s->w->regs[s->in[reg].at[n]]))
				cost += cost_of(&s->w->regs[s->in[reg].at[n]]);
		if (cost < least) {
			least = cost;
			best = reg;
		}
	}
	if (best == REG_NONE)
		return 0;
	for (size_t n = 0; n < s->in[best].n; n++) {
		struct vreg *other = &s->w->regs[s->in[best].at[n]];

		if (overlap(v, other))
			other->reg = REG_NONE;
		else
			s->in[best].at[kept++] = s->in[best].at[n];
	}
	s->in[best].n = kept;
	return give(s, r, best);
}

static int scan(struct scan *s)
{
	int rc = 0;

	for (size_t n = 0; n < s->nr && !rc; n++) {
		const ir_reg r = s->order[n];
		const struct vreg *v = &s->w->regs[r];
		const int reg = choose(s, v, free_for(s, v));

		rc = reg == REG_NONE ? make_room(s, r) : give(s, r, reg);
	}
	return rc;
}

/* ---- afterwards ---- */

enum { MAX_SLOTS = BPF_STACK_LIMIT / 8 };

/*
 * Values on the stack share slots: each gets the first slot that is free for its whole life. Slots
 * beyond the size of the stack are only counted.
 */
static int give_slots(struct scan *s)
{
	struct slot {
		ir_reg *at;
		size_t n, cap;
	} in[MAX_SLOTS] = {0};
	struct work *w = s->w;
	int rc = 0;

	w->nr_slots = 0;
	for (size_t n = 0; n < s->nr && !rc; n++) {
		struct vreg *v = &w->regs[s->order[n]];
		uint32_t slot = 0;
		ir_reg *place;

		v->slot = 0;
		if (v->kind != VREG_VALUE || v->reg != REG_NONE)
			continue;
		while (slot < MAX_SLOTS && meets(w, v, in[slot].at, &in[slot].n))
			slot++;
		v->slot = slot + 1;
		if (v->slot > w->nr_slots)
			w->nr_slots = v->slot;
		if (slot == MAX_SLOTS)
			continue;
		place = vec_push(&in[slot]);
		if (place)
			*place = s->order[n];
		else
			rc = -ENOMEM;
	}
	for (int slot = 0; slot < MAX_SLOTS; slot++)
		vec_free(&in[slot]);
	return rc;
}

static int mark_busy(struct work *w)
{
	if (!w->busy)
		w->busy = malloc((w->code.n + 1) * sizeof(*w->busy));
	if (!w->busy)
		return -ENOMEM;
	memset(w->busy, 0, (w->code.n + 1) * sizeof(*w->busy));
	for (ir_reg r = 1; r <= w->nr_regs; r++) {
		const struct vreg *v = &w->regs[r];

		if (v->reg == REG_NONE)
			continue;
		vec_each (x, &v->ranges)
			for (uint32_t n = x->from < 2 ? 0 : x->from / 2 - 1;
			     POSITION(n) < x->to && n < w->code.n; n++)
				w->busy[n] |= (uint16_t)(1u << v->reg);
	}
	return 0;
}

int work_allocate(struct work *w, uint16_t reserved)
{
	struct scan s = {
		.w = w,
		.order = malloc(((size_t)w->nr_regs + 1) * sizeof(*s.order)),
		.allowed = (uint16_t)(0x3ff & ~reserved),
	};
	int rc = -ENOMEM;

	if (!s.order)
		goto out;
	for (ir_reg r = 1; r <= w->nr_regs; r++) {
		w->regs[r].reg = REG_NONE;
		w->regs[r].nr_hints = w->regs[r].nr_friends = 0;
		if (w->regs[r].ranges.n)
			s.order[s.nr++] = r;
	}
	find_hints(w);
	rc = find_crossings(w);
	if (rc)
		goto out;
	qsort_r(s.order, s.nr, sizeof(*s.order), by_beginning, w);
	rc = scan(&s);
	if (!rc)
		rc = mark_busy(w);
	if (!rc)
		rc = give_slots(&s);
out:
	for (int reg = 0; reg < NR_REGS; reg++)
		vec_free(&s.in[reg]);
	free(s.order);
	return rc;
}
