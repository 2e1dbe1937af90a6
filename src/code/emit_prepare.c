// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Before registers are allocated: checks the IR (a mistake of a compiler is an error, not a crash),
 * copies it, makes it smaller and brings it into the form that the rest of emit*.c expects. Then
 * every instruction can be reached, and no jump goes to where the code goes on anyway. Divisions
 * with a sign are gone where the kernel has none. An immediate operand fits 32 bits, and is none
 * that the verifier refuses.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/emit.h"

/* ---- making the code smaller ---- */

/*
 * Makes the copied code smaller: removes code that is never reached, shortens jumps to jumps, moves
 * copies and constants to their uses and offsets into memory accesses, and removes results that are
 * not used.
 *
 * A register of the IR that is written once never changes between the write and its uses (it is
 * written before it is read, on every path), so it can be replaced by the value that was written.
 */

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

/* The first instruction at or after n that is no label. */
static size_t after_labels(const struct work *w, size_t n)
{
	while (n < w->code.n && w->code.at[n].op == IR_LABEL)
		n++;
	return n;
}

static void thread_jumps(struct work *w)
{
	vec_each (i, &w->code) {
		for (int rounds = 0; i->label && rounds < 16; rounds++) {
			const size_t to = after_labels(w, w->label_at[i->label]);

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

/* The register of an argument, which is written when the function begins. */
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

/* Folds d if it is the sum of a recomputed value and a number. */
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

/* Moves an offset that was added to an address into the access. */
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

/* Folds a branch that is always or never taken; one that is never taken is removed. */
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

/* Removes instructions whose result is never read; of calls only the result is removed. */
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

static int work_simplify(struct work *w)
{
	const int rc = simplify_flow(w);

	return rc ? rc : simplify_values(w);
}

/* ---- checking and copying ---- */

enum { MAX_CODE = 1 << 20 };

bool work_is_binary(enum ir_op op)
{
	return op >= IR_ADD && op <= IR_SAR;
}

bool work_is_commutative(enum ir_op op)
{
	return op == IR_ADD || op == IR_MUL || op == IR_AND || op == IR_OR || op == IR_XOR;
}

void work_uses(struct work *w, struct ir_insn *i, work_use_fn each, void *arg)
{
	for (unsigned int n = 0; n < i->nr_args; n++)
		each(w, &i->args[n], false, arg);
	if (i->a)
		each(w, &i->a, false, arg);
	if (i->b)
		each(w, &i->b, i->d && !work_is_commutative(i->op), arg);
}

/* ---- checking ---- */

struct need {
	bool d, a, memory;
};

static const struct need needs[IR_OPS] = {
	[IR_CONST] = {.d = true},
	[IR_MOVE] = {.d = true, .a = true},
	[IR_ADD... IR_SWAP] = {.d = true, .a = true},
	[IR_LOAD] = {.d = true, .a = true, .memory = true},
	[IR_STORE] = {.a = true, .memory = true},
	[IR_ADD_ATOMIC] = {.a = true, .memory = true},
	[IR_ARG... IR_FUNC] = {.d = true},
	[IR_BRANCH] = {.a = true},
	[IR_RETURN] = {.a = true},
};

static bool sized(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static const char *wrong_target(const struct work *w, const struct ir_insn *i)
{
	switch (i->op) {
	case IR_LABEL:
		return i->imm < 1 || i->imm > w->ir->nr_labels ? "a label that does not exist"
							       : NULL;
	case IR_JUMP:
	case IR_BRANCH:
		if (i->op == IR_BRANCH && i->cond >= IR_CONDS)
			return "a condition that does not exist";
		return !i->label || i->label > w->ir->nr_labels ? "a jump to nowhere" : NULL;
	case IR_ARG:
		return i->imm < 0 || i->imm >= w->ir->nr_args ? "an argument that does not exist"
							      : NULL;
	case IR_FRAME:
		return i->imm < 0 || i->imm > w->ir->frame ? "memory outside of the frame" : NULL;
	case IR_MAP:
	case IR_MAP_VALUE:
		if (i->op == IR_MAP_VALUE && (i->value < 0 || !fits_s32(i->value)))
			return "a place outside of a map";
		return i->imm < 0 || !fits_s32(i->imm) ? "a map that does not exist" : NULL;
	case IR_FUNC:
		return i->imm < 1 || (uint64_t)i->imm >= w->prog->funcs.n
			       ? "a function that does not exist"
			       : NULL;
	case IR_CALL:
		return i->nr_args > IR_MAX_ARGS || i->imm < 0 || !fits_s32(i->imm)
			       ? "a strange call"
			       : NULL;
	case IR_SEXT:
	case IR_ZEXT:
	case IR_SWAP: return !sized(i->size) ? "a strange size" : NULL;
	case IR_ADD_ATOMIC: return (i->size != 4 && i->size != 8) ? "a strange size" : NULL;
	default: return NULL;
	}
}

static void check_reg(struct work *w, ir_reg *r, bool late, void *arg)
{
	if (!*r || *r > w->ir->nr_regs)
		*(bool *)arg = false;
}

static int check(struct work *w, struct ir_insn *i)
{
	const struct need *n = i->op < IR_OPS ? &needs[i->op] : NULL;
	const char *why = NULL;
	bool fine = true;

	if (!n)
		why = "an instruction that does not exist";
	else if ((n->d && !i->d) || (n->a && !i->a))
		why = "an instruction without an operand";
	else if (n->memory && (!sized(i->size) || !fits_s32(i->imm)))
		why = "a strange access to memory";
	else
		why = wrong_target(w, i);
	if (!why) {
		work_uses(w, i, check_reg, &fine);
		if (!fine || i->d > w->ir->nr_regs)
			why = "a register that does not exist";
	}
	if (!why)
		return 0;
	w->at = i->at;
	return error_set(w->err, -EINVAL, "internal error: the compiled script has %s", why);
}

/* ---- copying and expanding ---- */

static int put(struct work *w, const struct ir_insn *like, struct ir_insn what)
{
	struct ir_insn *i = vec_push(&w->code);

	if (!i)
		return -ENOMEM;
	*i = what;
	i->at = like->at;
	return 0;
}

/* d = a op b (imm when b is 0); d 0: a new one. 0 without memory. */
static ir_reg put_alu(struct work *w, const struct ir_insn *like, enum ir_op op, ir_reg d, ir_reg a,
		      ir_reg b, int64_t imm)
{
	if (!d)
		d = ++w->nr_regs;
	return put(w, like, (struct ir_insn){.op = op, .d = d, .a = a, .b = b, .imm = imm}) ? 0 : d;
}

/* (v ^ sign) - sign: its negative when sign is -1, itself when it is 0. */
static ir_reg put_negated(struct work *w, const struct ir_insn *like, ir_reg d, ir_reg v,
			  ir_reg sign)
{
	const ir_reg t = put_alu(w, like, IR_XOR, 0, v, sign, 0);

	return put_alu(w, like, IR_SUB, d, t, sign, 0);
}

/*
 * Division with a sign by one without. There are no branches in it: each would double what the
 * verifier has to follow. x / 0 stays 0, x % 0 stays x, and INT64_MIN / -1 is INT64_MIN.
 */
static int expand_division(struct work *w, const struct ir_insn *i)
{
	const bool is_div = i->op == IR_SDIV;
	const ir_reg sign = put_alu(w, i, IR_SAR, 0, i->a, 0, 63);
	ir_reg a = put_negated(w, i, 0, i->a, sign), b = 0, q, out_sign = sign;
	int64_t imm = i->imm;

	if (i->b) {
		const ir_reg b_sign = put_alu(w, i, IR_SAR, 0, i->b, 0, 63);

		b = put_negated(w, i, 0, i->b, b_sign);
		if (is_div)
			out_sign = put_alu(w, i, IR_XOR, 0, sign, b_sign, 0);
	} else if (imm < 0) {
		imm = (int64_t)(-(uint64_t)imm);
		if (is_div)
			out_sign = put_alu(w, i, IR_XOR, 0, sign, 0, -1);
	}
	if (!b && !fits_s32(imm)) {
		b = ++w->nr_regs;
		if (put(w, i, (struct ir_insn){.op = IR_CONST, .d = b, .imm = imm}))
			return -ENOMEM;
	}
	q = put_alu(w, i, is_div ? IR_UDIV : IR_UMOD, 0, a, b, imm);
	return put_negated(w, i, i->d, q, out_sign) ? 0 : -ENOMEM;
}

/*
 * Divisors that are only known when the program runs are never left to the instruction: kernels
 * that have it, but not the repair of 2024, fault on INT64_MIN / -1.
 */
static bool may_divide(struct work *w, const struct ir_insn *i)
{
	return !i->b && i->imm != -1 && i->imm != 0 && fits_s32(i->imm) &&
	       bpf_has(w->features, FEATURE_SDIV);
}

/* Immediate operands that the verifier refuses, or that do not fit. */
static int copy_binary(struct work *w, struct ir_insn i)
{
	const bool is_mod = i.op == IR_UMOD || i.op == IR_SMOD;

	if ((i.op == IR_SDIV || i.op == IR_SMOD) && !may_divide(w, &i) && (i.b || i.imm))
		return expand_division(w, &i);
	if (!i.b && !i.imm && is_mod)
		i = (struct ir_insn){.op = IR_MOVE, .d = i.d, .a = i.a, .at = i.at};
	else if (!i.b && !i.imm && (i.op == IR_UDIV || i.op == IR_SDIV))
		i = (struct ir_insn){.op = IR_CONST, .d = i.d, .at = i.at};
	else if (!i.b && i.op >= IR_SHL && i.op <= IR_SAR)
		i.imm &= 63;
	return put(w, &i, i);
}

/* A number that does not fit into the instruction gets a register. */
static int own_register(struct work *w, struct ir_insn *i)
{
	const bool in_value = i->op == IR_STORE || i->op == IR_BRANCH || i->op == IR_ADD_ATOMIC;
	const int64_t v = in_value ? i->value : i->imm;

	if (i->b || (!work_is_binary(i->op) && !in_value))
		return 0;
	if (fits_s32(v) && i->op != IR_ADD_ATOMIC)
		return 0;
	i->b = ++w->nr_regs;
	return put(w, i, (struct ir_insn){.op = IR_CONST, .d = i->b, .imm = v});
}

/*
 * Before 6.4 these helpers return an int, whose upper half is undefined; callers expect a number of
 * 64 bits. The extension is removed again if the result is not used.
 */
static int copy_call(struct work *w, struct ir_insn i)
{
	const bool is_int = i.imm == BPF_FUNC_map_update_elem ||
			    i.imm == BPF_FUNC_map_delete_elem ||
			    i.imm == BPF_FUNC_for_each_map_elem;
	const ir_reg d = i.d;
	int rc;

	if (!is_int || !d)
		return put(w, &i, i);
	i.d = ++w->nr_regs;
	rc = put(w, &i, i);
	return rc ? rc : put(w, &i, (struct ir_insn){.op = IR_SEXT, .d = d, .a = i.d, .size = 4});
}

/*
 * bpf_loop() is skipped for 0 rounds. A kernel that knows that there are no rounds (6.18 does)
 * never checks the function, removes it as dead code, and then fails because it is missing.
 */
static int copy_loop(struct work *w, struct ir_insn i)
{
	const ir_label end = ++w->nr_labels;
	int rc = i.d ? put(w, &i, (struct ir_insn){.op = IR_CONST, .d = i.d}) : 0;

	if (!rc)
		rc = put(w, &i,
			 (struct ir_insn){
				 .op = IR_BRANCH, .cond = IR_EQ, .a = i.args[0], .label = end});
	if (!rc)
		rc = put(w, &i, i);
	return rc ? rc : put(w, &i, (struct ir_insn){.op = IR_LABEL, .imm = end});
}

/* Instructions have 16 bits for an offset; larger ones are added first. */
static int copy_access(struct work *w, struct ir_insn i)
{
	if (!fits_s16(i.imm)) {
		i.a = put_alu(w, &i, IR_ADD, 0, i.a, 0, i.imm);
		i.imm = 0;
	}
	return i.a ? put(w, &i, i) : -ENOMEM;
}

static int copy_one(struct work *w, struct ir_insn i)
{
	if (needs[i.op].memory)
		return copy_access(w, i);
	if (work_is_binary(i.op))
		return copy_binary(w, i);
	if (i.op == IR_CALL && i.imm == BPF_FUNC_loop && i.nr_args)
		return copy_loop(w, i);
	if (i.op == IR_CALL)
		return copy_call(w, i);
	return put(w, &i, i);
}

/*
 * By register: 0, or 1 + the index of the only instruction that writes it, if that is a constant.
 */
static uint32_t *find_constants(const struct ir_func *f)
{
	uint32_t *at = calloc((size_t)f->nr_regs + 1, sizeof(*at));

	for (size_t n = 0; at && n < f->code.n; n++) {
		const struct ir_insn *i = &f->code.at[n];

		if (i->d && i->d <= f->nr_regs)
			at[i->d] = !at[i->d] && i->op == IR_CONST ? (uint32_t)n + 1 : UINT32_MAX;
	}
	return at;
}

/* Division by a constant is worth knowing before it is expanded. */
static void take_divisor(const struct work *w, const uint32_t *constants, struct ir_insn *i)
{
	const uint32_t at = i->b ? constants[i->b] : 0;

	if ((i->op != IR_SDIV && i->op != IR_SMOD) || !at || at == UINT32_MAX)
		return;
	i->imm = w->ir->code.at[at - 1].imm;
	i->b = 0;
}

static int copy(struct work *w)
{
	uint32_t *constants = find_constants(w->ir);
	int rc = constants ? 0 : -ENOMEM;

	for (size_t n = 0; n < w->ir->code.n && !rc; n++) {
		struct ir_insn i = w->ir->code.at[n];

		rc = check(w, &i);
		if (!rc)
			take_divisor(w, constants, &i);
		/* Stores of less than 8 bytes use the low bytes. */
		if (!rc && i.op == IR_STORE && !i.b && i.size <= 4)
			i.value = (int32_t)i.value;
		if (!rc && (i.op != IR_SDIV && i.op != IR_SMOD))
			rc = own_register(w, &i);
		if (!rc)
			rc = copy_one(w, i);
	}
	free(constants);
	return rc;
}

static int finish(struct work *w)
{
	const struct ir_insn *last = w->code.n ? &w->code.at[w->code.n - 1] : NULL;
	const struct ir_insn like = {.at = w->ir->at};
	int rc;

	if (last && (last->op == IR_RETURN || last->op == IR_JUMP))
		return 0;
	rc = put(w, &like, (struct ir_insn){.op = IR_CONST, .d = ++w->nr_regs});
	return rc ? rc : put(w, &like, (struct ir_insn){.op = IR_RETURN, .a = w->nr_regs});
}

int work_prepare(struct work *w)
{
	int rc;

	w->nr_regs = w->ir->nr_regs;
	w->nr_labels = w->ir->nr_labels;
	if (w->ir->failed)
		return -ENOMEM;
	if (w->ir->nr_args > IR_MAX_ARGS)
		return error_set(w->err, -EINVAL, "internal error: a function with %u arguments",
				 w->ir->nr_args);
	if (w->ir->code.n > MAX_CODE || w->ir->nr_regs > MAX_CODE || w->ir->nr_labels > MAX_CODE)
		return error_set(w->err, -E2BIG, "the script is too long");
	rc = copy(w);
	if (!rc)
		rc = finish(w);
	if (!rc)
		rc = work_simplify(w);
	return rc;
}
