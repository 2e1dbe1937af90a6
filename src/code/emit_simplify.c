// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The copied code made smaller: what is never reached goes, jumps to jumps go to where those go,
 * copies and constants go to where they are used, offsets into accesses to memory, and what nobody
 * uses goes.
 *
 * A register of the IR that is written once never changes between that and its uses (it is written
 * before it is read, on every path), so that it can be replaced by what was written.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/emit_parts.h"

static int find_labels(struct work *w)
{
	const size_t nr = (size_t)w->nr_labels + 1;

	free(w->label_at);
	w->label_at = malloc(nr * sizeof(*w->label_at));
	if (!w->label_at)
		return -ENOMEM;
	memset(w->label_at, 0xff, nr * sizeof(*w->label_at));
	for (size_t n = 0; n < w->code.n; n++)
		if (w->code.at[n].op == IR_LABEL)
			w->label_at[w->code.at[n].imm] = (uint32_t)n;
	vec_each (i, &w->code) {
		if (i->label && w->label_at[i->label] == UINT32_MAX) {
			w->at = i->at;
			return error_set(w->err, -EINVAL,
					 "internal error: the compiled script jumps to nowhere");
		}
	}
	return 0;
}

/* ---- control flow ---- */

/* The first instruction at or behind n that is no label. */
static size_t behind_labels(const struct work *w, size_t n)
{
	while (n < w->code.n && w->code.at[n].op == IR_LABEL)
		n++;
	return n;
}

static void thread_jumps(struct work *w)
{
	vec_each (i, &w->code) {
		for (int rounds = 0; i->label && rounds < 16; rounds++) {
			const size_t to = behind_labels(w, w->label_at[i->label]);

			if (to >= w->code.n || w->code.at[to].op != IR_JUMP || &w->code.at[to] == i)
				break;
			i->label = w->code.at[to].label;
		}
	}
}

static void reach(const struct work *w, bool *reached, uint32_t *todo, size_t nr)
{
	while (nr) {
		for (size_t n = todo[--nr]; n < w->code.n && !reached[n]; n++) {
			const struct ir_insn *i = &w->code.at[n];

			reached[n] = true;
			if (i->label && !reached[w->label_at[i->label]])
				todo[nr++] = w->label_at[i->label];
			if (i->op == IR_JUMP || i->op == IR_RETURN)
				break;
		}
	}
}

/* Leaves out what is marked; labels move along. */
static void compress(struct work *w, const bool *keep)
{
	size_t to = 0;

	for (size_t n = 0; n < w->code.n; n++)
		if (keep[n])
			w->code.at[to++] = w->code.at[n];
	w->code.n = to;
}

static int drop_unreached(struct work *w)
{
	bool *reached = calloc(w->code.n + 1, sizeof(*reached));
	uint32_t *todo = calloc(w->code.n + 1, sizeof(*todo));
	int rc = -ENOMEM;

	if (reached && todo) {
		reach(w, reached, todo, 1);
		compress(w, reached);
		rc = find_labels(w);
	}
	free(reached);
	free(todo);
	return rc;
}

static bool goes_on_at(const struct work *w, size_t n, ir_label l)
{
	for (; n < w->code.n && w->code.at[n].op == IR_LABEL; n++)
		if (w->code.at[n].imm == l)
			return true;
	return false;
}

static const int8_t inverse[IR_CONDS] = {
	[IR_EQ] = IR_NE,   [IR_NE] = IR_EQ,   [IR_ULT] = IR_UGE, [IR_ULE] = IR_UGT,
	[IR_UGT] = IR_ULE, [IR_UGE] = IR_ULT, [IR_SLT] = IR_SGE, [IR_SLE] = IR_SGT,
	[IR_SGT] = IR_SLE, [IR_SGE] = IR_SLT, [IR_SET] = -1,
};

/*
 * "if a goto L; goto M; L:" is "if !a goto M; L:", and a jump to the next instruction is nothing.
 */
static int drop_jumps(struct work *w)
{
	bool *keep = malloc(w->code.n + 1);
	int rc;

	if (!keep)
		return -ENOMEM;
	memset(keep, true, w->code.n + 1);
	for (size_t n = 0; n < w->code.n; n++) {
		struct ir_insn *i = &w->code.at[n], *next = i + 1;

		if (i->op == IR_BRANCH && n + 1 < w->code.n && next->op == IR_JUMP &&
		    inverse[i->cond] >= 0 && goes_on_at(w, n + 2, i->label)) {
			i->cond = (enum ir_cond)inverse[i->cond];
			i->label = next->label;
			keep[n + 1] = false;
		}
		if (keep[n] && i->label && goes_on_at(w, n + 1, i->label))
			keep[n] = false;
	}
	compress(w, keep);
	free(keep);
	rc = find_labels(w);
	return rc ? rc : drop_unreached(w);
}

/* ---- values ---- */

struct defs {
	uint32_t *nr;  /* how often each register is written */
	uint32_t *at;  /* and where, the last time */
	ir_reg *alias; /* what it is a copy of, itself when it is none */
};

static bool once(const struct defs *d, ir_reg r)
{
	return d->nr[r] == 1;
}

static void resolve(struct work *w, ir_reg *r, bool late, void *arg)
{
	*r = ((const struct defs *)arg)->alias[*r];
}

static const enum vreg_kind made_anew[IR_OPS] = {
	[IR_CONST] = VREG_CONST, [IR_FRAME] = VREG_FRAME,	  [IR_MAP] = VREG_MAP,
	[IR_FUNC] = VREG_FUNC,	 [IR_MAP_VALUE] = VREG_MAP_VALUE,
};

/* The register that an argument arrives in, which is written when the function begins. */
static ir_reg argument(struct work *w, struct defs *d, const struct ir_insn *i)
{
	ir_reg *arg = &w->args[i->imm];

	if (!*arg) {
		*arg = once(d, i->d) ? i->d : ++w->nr_regs;
		w->regs[*arg].kind = VREG_VALUE;
		d->nr[*arg] = 1;
		d->at[*arg] = UINT32_MAX;
		d->alias[*arg] = *arg;
	}
	return *arg;
}

/* Constants as second operands go into the instruction. */
static void fold_operand(struct work *w, struct ir_insn *i)
{
	int64_t *imm = i->op == IR_STORE || i->op == IR_BRANCH ? &i->value : &i->imm;
	const struct vreg *b = &w->regs[i->b];

	if (work_is_binary(i->op) && work_is_commutative(i->op) && i->b &&
	    w->regs[i->a].kind == VREG_CONST && b->kind != VREG_CONST) {
		const ir_reg a = i->a;

		i->a = i->b;
		i->b = a;
		b = &w->regs[a];
	}
	if (!i->b || b->kind != VREG_CONST || !fits_s32(b->imm))
		return;
	if (i->op == IR_STORE || i->op == IR_BRANCH) {
		*imm = b->imm;
		i->b = 0;
	} else if (work_is_binary(i->op)) {
		if ((i->op >= IR_UDIV && i->op <= IR_SMOD) && !b->imm)
			return; /* the verifier refuses it as an immediate operand */
		*imm = i->op >= IR_SHL && i->op <= IR_SAR ? b->imm & 63 : b->imm;
		i->b = 0;
	}
}

/* What d is when it is a sum of something that is made anew and a number. */
static bool fold_sum(struct work *w, const struct ir_insn *i)
{
	const struct vreg *a = &w->regs[i->a];
	struct vreg *d = &w->regs[i->d];
	int64_t by = i->op == IR_SUB ? -(uint64_t)i->imm : (uint64_t)i->imm;

	if ((i->op != IR_ADD && i->op != IR_SUB) || i->b)
		return false;
	if (a->kind == VREG_CONST ||
	    (a->kind == VREG_FRAME && a->imm + by >= 0 && a->imm + by <= (int64_t)w->ir->frame)) {
		*d = (struct vreg){.kind = a->kind,
				   .imm = (int64_t)((uint64_t)a->imm + (uint64_t)by)};
		return true;
	}
	if (a->kind == VREG_MAP_VALUE && a->value + by >= 0 && fits_s32(a->value + by)) {
		*d = (struct vreg){.kind = a->kind, .imm = a->imm, .value = a->value + by};
		return true;
	}
	return false;
}

/* An offset that was added to an address goes into the access. */
static void fold_address(struct work *w, const struct defs *d, struct ir_insn *i)
{
	for (int rounds = 0; rounds < 8; rounds++) {
		const struct ir_insn *sum;
		int64_t offset;

		if (!once(d, i->a) || d->at[i->a] == UINT32_MAX || w->regs[i->a].kind != VREG_VALUE)
			return;
		sum = &w->code.at[d->at[i->a]];
		if (sum->op != IR_ADD || sum->b || !once(d, sum->a))
			return;
		if (__builtin_add_overflow(i->imm, sum->imm, &offset) || !fits_s16(offset))
			return;
		i->imm = offset;
		i->a = sum->a;
	}
}

static bool holds(enum ir_cond cond, uint64_t a, uint64_t b)
{
	const int64_t x = (int64_t)a, y = (int64_t)b;

	switch (cond) {
	case IR_EQ: return a == b;
	case IR_NE: return a != b;
	case IR_ULT: return a < b;
	case IR_ULE: return a <= b;
	case IR_UGT: return a > b;
	case IR_UGE: return a >= b;
	case IR_SLT: return x < y;
	case IR_SLE: return x <= y;
	case IR_SGT: return x > y;
	case IR_SGE: return x >= y;
	default: return (a & b) != 0;
	}
}

/* A branch that is always or never taken. What never is becomes nothing. */
static void fold_branch(const struct work *w, struct ir_insn *i)
{
	if (i->op != IR_BRANCH || i->b || w->regs[i->a].kind != VREG_CONST)
		return;
	if (holds(i->cond, (uint64_t)w->regs[i->a].imm, (uint64_t)i->value))
		*i = (struct ir_insn){.op = IR_JUMP, .label = i->label, .at = i->at};
	else
		*i = (struct ir_insn){.op = IR_CONST, .at = i->at};
}

/* Whether widening what was loaded changes nothing: loads fill up with zeros. */
static bool is_wide_enough(const struct work *w, const struct defs *d, const struct ir_insn *i)
{
	const struct ir_insn *from;

	if ((i->op != IR_ZEXT && i->op != IR_SEXT) || !once(d, i->a) || d->at[i->a] == UINT32_MAX)
		return false;
	from = &w->code.at[d->at[i->a]];
	if (from->op != IR_LOAD || from->d != i->a)
		return false;
	return from->size < i->size || (i->op == IR_ZEXT && from->size == i->size);
}

static void propagate(struct work *w, struct defs *d)
{
	for (size_t n = 0; n < w->code.n; n++) {
		struct ir_insn *i = &w->code.at[n];
		struct vreg *v = i->d ? &w->regs[i->d] : NULL;

		work_uses(w, i, resolve, d);
		fold_operand(w, i);
		fold_branch(w, i);
		if (is_wide_enough(w, d, i))
			i->op = IR_MOVE;
		if (i->op == IR_LOAD || i->op == IR_STORE || i->op == IR_ADD_ATOMIC)
			fold_address(w, d, i);
		if (!v)
			continue;
		if (i->op == IR_ARG) {
			const ir_reg arg = argument(w, d, i);

			d->alias[i->d] = once(d, i->d) ? arg : i->d;
			*i = (struct ir_insn){.op = IR_MOVE, .d = i->d, .a = arg, .at = i->at};
			v = &w->regs[i->d];
		} else if (once(d, i->d) && made_anew[i->op]) {
			*v = (struct vreg){
				.kind = made_anew[i->op], .imm = i->imm, .value = i->value};
			continue;
		} else if (once(d, i->d) && fold_sum(w, i)) {
			continue;
		} else if (once(d, i->d) && i->op == IR_MOVE && once(d, i->a)) {
			d->alias[i->d] = i->a;
		}
		v->kind = VREG_VALUE;
	}
}

static void count_use(struct work *w, ir_reg *r, bool late, void *arg)
{
	((uint32_t *)arg)[*r]++;
}

static void drop_use(struct work *w, ir_reg *r, bool late, void *arg)
{
	((uint32_t *)arg)[*r]--;
}

/* What has no effect but a result that nobody reads. Of calls only the result goes. */
static int drop_unused(struct work *w)
{
	uint32_t *uses = calloc((size_t)w->nr_regs + 1, sizeof(*uses));
	bool *keep = malloc(w->code.n + 1);
	int rc = -ENOMEM;

	if (!uses || !keep)
		goto out;
	vec_each (i, &w->code)
		work_uses(w, i, count_use, uses);
	for (size_t n = w->code.n; n-- > 0;) {
		struct ir_insn *i = &w->code.at[n];
		const enum vreg_kind kind = i->d ? w->regs[i->d].kind : VREG_UNUSED;

		keep[n] = i->d || i->op != IR_CONST;
		if (!i->d)
			continue;
		if (i->op == IR_CALL) {
			i->d = uses[i->d] ? i->d : 0;
		} else if (!uses[i->d] || (kind != VREG_VALUE && kind != VREG_MAP_VALUE) ||
			   (i->op == IR_MOVE && i->a == i->d)) {
			keep[n] = false;
			work_uses(w, i, drop_use, uses);
		}
	}
	compress(w, keep);
	for (unsigned int n = 0; n < IR_MAX_ARGS; n++)
		if (w->args[n] && !uses[w->args[n]])
			w->args[n] = 0;
	rc = find_labels(w);
out:
	free(uses);
	free(keep);
	return rc;
}

static int simplify_flow(struct work *w)
{
	int rc = find_labels(w);

	if (rc)
		return rc;
	thread_jumps(w);
	rc = drop_unreached(w);
	return rc ? rc : drop_jumps(w);
}

static int simplify_values(struct work *w)
{
	/* Arguments may need registers of their own. */
	const size_t nr = (size_t)w->nr_regs + 1 + IR_MAX_ARGS;
	struct defs d = {
		.nr = calloc(nr, sizeof(*d.nr)),
		.at = calloc(nr, sizeof(*d.at)),
		.alias = calloc(nr, sizeof(*d.alias)),
	};
	int rc = -ENOMEM;

	w->regs = calloc(nr, sizeof(*w->regs));
	if (!d.nr || !d.at || !d.alias || !w->regs)
		goto out;
	for (size_t n = 0; n < nr; n++)
		d.alias[n] = (ir_reg)n;
	for (size_t n = 0; n < w->code.n; n++) {
		const ir_reg r = w->code.at[n].d;

		if (r) {
			d.nr[r]++;
			d.at[r] = (uint32_t)n;
		}
	}
	propagate(w, &d);
	rc = simplify_flow(w);
	if (!rc)
		rc = drop_unused(w);
out:
	free(d.nr);
	free(d.at);
	free(d.alias);
	return rc;
}

int work_simplify(struct work *w)
{
	const int rc = simplify_flow(w);

	return rc ? rc : simplify_values(w);
}
