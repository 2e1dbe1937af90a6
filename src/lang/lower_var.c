// SPDX-License-Identifier: GPL-2.0-or-later
/* Variables: numbers in registers where there are no loops, everything else in memory. */
#include "lang/lower.h"

/* Structs that are not ours stay where they are: the variable holds their address. */
static bool is_reference(const struct var *v)
{
	return (v->type.kind == V_STRUCT || v->type.kind == V_ARRAY) && v->type.space != SPACE_OWN;
}

static uint32_t size_of(const struct var *v)
{
	return is_reference(v) ? 8 : (v->type.size + 7) & ~7u;
}

static bool in_register(const struct lower *l, const struct var *v)
{
	return vtype_is_number(&v->type) && !l->prog->loops && !v->addressed;
}

/*
 * Verifiers before Linux 6.7 look at a loop's body as if it ran once. What a variable on the stack
 * holds before it, they take for what it always holds there, and remove the branches that are then
 * never taken. They know nothing about what the scratch area holds.
 */
static bool must_be_unknown(const struct lower *l, const struct var *v)
{
	return l->prog->loops && l->prog->runs == RUNS_IN_KERNEL && v->type.space != SPACE_CTX;
}

/* Where a variable lives is decided when it is first met, and for the whole program. */
static void place(struct lower *l, struct var *v)
{
	const uint32_t size = size_of(v);

	if (v->placed)
		return;
	v->placed = true;
	if (in_register(l, v)) {
		v->offset = ir_new(l->f);
		return;
	}
	v->in_scratch =
		size > 32 || l->frame_vars + size > LOWER_FRAME / 2 || must_be_unknown(l, v);
	/* Variables are never given back: they lie below what statements use. */
	v->offset = v->in_scratch ? l->scratch_vars : l->frame_vars;
	if (v->in_scratch)
		l->scratch_vars += size;
	else
		l->frame_vars += size;
}

void var_place_all(struct lower *l)
{
	for (struct var *v = l->prog->vars; v; v = v->next)
		place(l, v);
	if (l->scratch_vars) {
		lower_scratch(l);
		if (l->scratch_vars > lower_scratch_limit(l->unit))
			l->scratch_missing = true;
		else if (l->scratch_most < l->scratch_vars)
			l->scratch_most = l->scratch_vars;
	}
	l->frame_used = l->frame_vars;
	l->scratch_used = l->scratch_vars;
	if (l->f->frame < l->frame_vars)
		l->f->frame = l->frame_vars;
	/* A register or place that some path does not write must not hold what was there before. */
	for (struct var *v = l->prog->vars; v; v = v->next) {
		if (in_register(l, v))
			ir_set_const(l->f, v->offset, 0);
		else
			mem_zero(l, var_mem(l, v), size_of(v));
	}
}

struct mem var_mem(struct lower *l, struct var *v)
{
	if (v->in_scratch)
		return (struct mem){lower_scratch(l), v->offset};
	if (l->in.is_callback)
		return (struct mem){l->in.vars, v->offset};
	return (struct mem){ir_frame(l->f, v->offset), 0};
}

void var_read(struct lower *l, struct var *var, struct value *v)
{
	v->type = var->type;
	if (in_register(l, var)) {
		/* A copy: the variable may change before the value is used. */
		const ir_reg copy = ir_new(l->f);

		ir_set(l->f, copy, var->offset);
		set_number(v, copy);
	} else if (vtype_is_number(&var->type)) {
		set_number(v, mem_load(l, var_mem(l, var), 8, false));
	} else if (is_reference(var)) {
		v->mem = (struct mem){mem_load(l, var_mem(l, var), 8, false), 0};
	} else {
		set_memory(v, var_mem(l, var));
	}
}

/* Of one that was declared as a small number the rest is cut off. */
static ir_reg cut_off(struct lower *l, const struct var *var, ir_reg r)
{
	if (!var->declared || var->type.kind != V_INT || var->type.size >= 8)
		return r;
	return ir_unary(l->f, var->type.is_signed ? IR_SEXT : IR_ZEXT, r, var->type.size);
}

void var_set(struct lower *l, struct var *var, const struct value *v)
{
	if (in_register(l, var))
		ir_set(l->f, var->offset, cut_off(l, var, v->reg));
	else if (vtype_is_number(&var->type))
		mem_store(l, var_mem(l, var), 8, cut_off(l, var, v->reg));
	else if (is_reference(var))
		mem_store(l, var_mem(l, var), 8, mem_address(l, v->mem));
	else
		value_store(l, v, &var->type, var_mem(l, var));
}

void var_write(struct lower *l, struct var *var, struct node *n)
{
	struct value v = {0};

	if (!vtype_is_number(&var->type) && var->type.kind == V_STRING &&
	    n->vtype.kind == V_STRING && n->kind != N_VAR) {
		lower_into(l, n, &var->type, var_mem(l, var), &v);
		return;
	}
	lower_expr(l, n, &v);
	var_set(l, var, &v);
}
