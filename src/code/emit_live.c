// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From where to where each register of the IR holds something that will still be read: the usual
 * data flow over basic blocks, and from it a list of ranges for each register, in order.
 *
 * Sets have a bit only for registers that are used in more than one block; there are few of them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/emit_parts.h"

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
 * The ranges in order; and whether what is read has been written, which the verifier would find
 * anyway.
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
		/* Only what comes from another block may be there when a block begins. */
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
	return rc == -ENOMEM ? error_set(w->err, rc, "not enough memory to compile the script")
			     : rc;
}
