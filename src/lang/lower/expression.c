// SPDX-License-Identifier: GPL-2.0-or-later
/* Expressions, except for those of maps, members and builtins. */
#include <string.h>

#include "lang/check/check.h"
#include "lang/lower/lower.h"

void set_number(struct value *v, ir_reg reg)
{
	v->reg = reg;
	v->mem = (struct mem){0, 0};
}

void set_memory(struct value *v, struct mem m)
{
	v->reg = 0;
	v->mem = m;
}

void value_at(struct lower *l, struct value *v, struct mem m)
{
	if (vtype_is_number(&v->type))
		set_number(v, mem_load_as(l, m, &v->type));
	else
		set_memory(v, m);
}

/* ---- numbers ---- */

ir_reg lower_number(struct lower *l, struct node *n)
{
	struct value v = {0};

	lower_expr(l, n, &v);
	return v.reg ? v.reg : ir_const(l->f, 0);
}

static enum ir_op operation(int op, bool is_signed)
{
	switch (op) {
	case '+': return IR_ADD;
	case '-': return IR_SUB;
	case '*': return IR_MUL;
	case '/': return is_signed ? IR_SDIV : IR_UDIV;
	case '%': return is_signed ? IR_SMOD : IR_UMOD;
	case '&': return IR_AND;
	case '|': return IR_OR;
	case '^': return IR_XOR;
	case NODE_OP_SHL: return IR_SHL;
	default: return is_signed ? IR_SAR : IR_SHR;
	}
}

static enum ir_cond condition(int op, bool is_signed)
{
	switch (op) {
	case NODE_OP_EQ: return IR_EQ;
	case NODE_OP_NE: return IR_NE;
	case '<': return is_signed ? IR_SLT : IR_ULT;
	case '>': return is_signed ? IR_SGT : IR_UGT;
	case NODE_OP_LE: return is_signed ? IR_SLE : IR_ULE;
	default: return is_signed ? IR_SGE : IR_UGE;
	}
}

ir_reg lower_not(struct lower *l, enum ir_cond cond, ir_reg a, int64_t b)
{
	const ir_label holds = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, cond, a, b, holds);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, holds);
	return r;
}

ir_reg lower_limited(struct lower *l, ir_reg r, int64_t most)
{
	const ir_label fits = ir_new_label(l->f);
	const ir_reg limited = ir_new(l->f);

	ir_set(l->f, limited, r);
	ir_branch_const(l->f, IR_ULE, limited, most, fits);
	ir_set_const(l->f, limited, most);
	ir_place(l->f, fits);
	return limited;
}

void lower_first(struct lower *l, struct node *n, struct value *v)
{
	set_number(v, lower_number(l, n->list));
}

/* A division by 0 gives 1, with a warning. */
static ir_reg divided(struct lower *l, struct node *n, enum ir_op op, ir_reg a, ir_reg b)
{
	const ir_label zero = ir_new_label(l->f), end = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set_const(l->f, r, 1);
	ir_branch_const(l->f, IR_EQ, b, 0, zero);
	ir_set(l->f, r, ir_binary(l->f, op, a, b));
	ir_jump(l->f, end);
	ir_place(l->f, zero);
	lower_action(l, n->action, NULL);
	ir_place(l->f, end);
	return r;
}

ir_reg lower_operate(struct lower *l, struct node *n, bool is_signed, ir_reg a, ir_reg b)
{
	const enum ir_op op = operation(n->op, is_signed);

	if ((n->op == '/' || n->op == '%') && n->action)
		return divided(l, n, op, a, b);
	return ir_binary(l->f, op, a, b);
}

/* The size of a pointer's target; 1 for numbers. */
static int64_t step_of(const struct node *n)
{
	return n->vtype.kind == V_POINTER && n->vtype.c.size ? (int64_t)n->vtype.c.size : 1;
}

static ir_reg scaled(struct lower *l, struct node *n, int64_t by)
{
	const ir_reg r = lower_number(l, n);

	return by == 1 ? r : ir_binary_const(l->f, IR_MUL, r, by);
}

static ir_reg arithmetic(struct lower *l, struct node *n)
{
	const enum ir_op op = operation(n->op, fold_both_signed(n->op, n->a, n->b));
	const bool steps = n->op == '+' || n->op == '-';
	const bool difference = n->a->vtype.kind == V_POINTER && n->b->vtype.kind == V_POINTER;
	const ir_reg a = scaled(l, n->a, steps && !difference ? step_of(n->b) : 1);
	const int64_t by = steps && !difference ? step_of(n->a) : 1;
	ir_reg r;

	if (n->b->is_const && n->b->vtype.kind != V_STRING)
		r = ir_binary_const(l->f, op, a, (int64_t)((uint64_t)n->b->num * (uint64_t)by));
	else
		r = lower_operate(l, n, fold_both_signed(n->op, n->a, n->b), a,
				  scaled(l, n->b, by));
	if (difference && step_of(n->a) != 1)
		r = ir_binary_const(l->f, IR_SDIV, r, step_of(n->a));
	return r;
}

/* ---- conditions ---- */

static enum ir_cond opposite(enum ir_cond c)
{
	static const enum ir_cond other[] = {
		[IR_EQ] = IR_NE,   [IR_NE] = IR_EQ,   [IR_ULT] = IR_UGE, [IR_ULE] = IR_UGT,
		[IR_UGT] = IR_ULE, [IR_UGE] = IR_ULT, [IR_SLT] = IR_SGE, [IR_SLE] = IR_SGT,
		[IR_SGT] = IR_SLE, [IR_SGE] = IR_SLT,
	};

	return other[c];
}

static void unless_compared(struct lower *l, struct node *n, ir_label label)
{
	const enum ir_cond c = opposite(condition(n->op, fold_both_signed(n->op, n->a, n->b)));
	const ir_reg a = lower_number(l, n->a);

	if (n->b->is_const)
		ir_branch_const(l->f, c, a, n->b->num, label);
	else
		ir_branch(l->f, c, a, lower_number(l, n->b), label);
}

/* Aggregations are read as their current value. */
static bool reads_number(const struct node *n)
{
	return vtype_is_number(&n->vtype) || vtype_is_aggregation(&n->vtype);
}

static bool compares_numbers(const struct node *n)
{
	return n->kind == N_BINARY && op_is_comparison(n->op) && reads_number(n->a) &&
	       reads_number(n->b);
}

void lower_unless(struct lower *l, struct node *n, ir_label label)
{
	ir_label holds;

	if (n->is_const && n->vtype.kind != V_STRING) {
		if (!n->num)
			ir_jump(l->f, label);
	} else if (compares_numbers(n)) {
		unless_compared(l, n, label);
	} else if (n->kind == N_BINARY && n->op == NODE_OP_AND) {
		lower_unless(l, n->a, label);
		lower_unless(l, n->b, label);
	} else if (n->kind == N_BINARY && n->op == NODE_OP_OR) {
		ir_label other = ir_new_label(l->f);

		holds = ir_new_label(l->f);
		lower_unless(l, n->a, other);
		ir_jump(l->f, holds);
		ir_place(l->f, other);
		lower_unless(l, n->b, label);
		ir_place(l->f, holds);
	} else if (n->kind == N_UNARY && n->op == '!') {
		holds = ir_new_label(l->f);
		lower_unless(l, n->a, holds);
		ir_jump(l->f, label);
		ir_place(l->f, holds);
	} else {
		ir_branch_const(l->f, IR_EQ, lower_number(l, n), 0, label);
	}
}

ir_reg lower_truth(struct lower *l, struct node *n)
{
	const ir_label no = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set_const(l->f, r, 0);
	lower_unless(l, n, no);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, no);
	return r;
}

static ir_reg equality(struct lower *l, struct node *n)
{
	struct value a = {0}, b = {0};
	ir_reg r;

	lower_expr(l, n->a, &a);
	lower_expr(l, n->b, &b);
	r = lower_equal(l, &a, &b);
	return n->op == NODE_OP_EQ ? r : ir_binary_const(l->f, IR_XOR, r, 1);
}

/* ---- nodes ---- */

static void lower_constant(struct lower *l, struct node *n, struct value *v)
{
	if (n->vtype.kind == V_STRING) {
		const struct mem m = mem_result(l, v, n->vtype.size);

		mem_text(l, m, n->text, n->len, n->vtype.size);
		set_memory(v, m);
	} else {
		set_number(v, ir_const(l->f, n->num));
	}
}

static void lower_name(struct lower *l, struct node *n, struct value *v)
{
	if (n->builtin && n->builtin->lower)
		n->builtin->lower(l, n, v);
	else
		set_number(v, ir_const(l->f, 0));
}

static void lower_var(struct lower *l, struct node *n, struct value *v)
{
	var_read(l, n->var, v);
}

static void lower_address(struct lower *l, struct node *n, struct value *v)
{
	struct value at = {0};

	if (n->a->kind == N_MAP)
		set_number(v, map_address(l, n->a));
	else if (n->a->kind == N_VAR)
		set_number(v, mem_address(l, var_mem(l, n->a->var)));
	else {
		member_place(l, n->a, &at);
		set_number(v, mem_address(l, at.mem));
	}
}

/* Reads the target of a pointer to a value of the script: a number, or a copy. */
static void read_target(struct lower *l, struct value *v, ir_reg at)
{
	place_value(l, v, (struct mem){at, 0});
	value_own(l, v);
	v->type.space = v->type.kind == V_POINTER ? v->type.space : SPACE_OWN;
}

static void lower_unary(struct lower *l, struct node *n, struct value *v)
{
	ir_reg a;

	if (n->op == '&') {
		lower_address(l, n, v);
		return;
	}
	if (n->op == '!') {
		set_number(v, lower_truth(l, n));
		return;
	}
	a = lower_number(l, n->a);
	if (n->op == '*' && n->a->vtype.to) {
		v->type = n->vtype;
		v->type.space = n->a->vtype.space;
		read_target(l, v, a);
	} else if (n->op == '*') {
		v->type = n->vtype;
		v->type.space = n->a->vtype.kind == V_INT ? check_space(l->c) : n->a->vtype.space;
		place_value(l, v, (struct mem){a, 0});
		/* The space of a pointer is that of its target, not where it was read. */
		if (vtype_is_number(&n->vtype))
			v->type = n->vtype;
	} else if (n->op == '-') {
		set_number(v, ir_unary(l->f, IR_NEG, a, 8));
	} else if (n->op == '~') {
		set_number(v, ir_binary_const(l->f, IR_XOR, a, -1));
	} else {
		set_number(v, a);
	}
}

static void lower_binary(struct lower *l, struct node *n, struct value *v)
{
	if (compares_numbers(n) || n->op == NODE_OP_AND || n->op == NODE_OP_OR)
		set_number(v, lower_truth(l, n));
	else if (op_is_comparison(n->op))
		set_number(v, equality(l, n));
	else
		set_number(v, arithmetic(l, n));
}

/* One of the two values of a ternary: a number in r, others in m. */
static void lower_choice(struct lower *l, struct node *n, const struct vtype *as, ir_reg r,
			 struct mem m)
{
	struct value v = {0};

	if (vtype_is_number(as))
		ir_set(l->f, r, lower_number(l, n));
	else if (as->kind == V_NONE)
		lower_expr(l, n, &v);
	else
		lower_into(l, n, as, m, &v);
}

static void lower_ternary(struct lower *l, struct node *n, struct value *v)
{
	const ir_label other = ir_new_label(l->f), end = ir_new_label(l->f);
	const bool number = vtype_is_number(&n->vtype);
	const ir_reg r = ir_new(l->f);
	struct mem m = {0, 0};

	if (!number && n->vtype.kind != V_NONE)
		m = mem_result(l, v, n->vtype.size);
	ir_set_const(l->f, r, 0);
	if (!n->b) {
		ir_set(l->f, r, lower_number(l, n->a));
		ir_branch_const(l->f, IR_EQ, r, 0, other);
	} else {
		lower_unless(l, n->a, other);
		lower_choice(l, n->b, &n->vtype, r, m);
	}
	ir_jump(l->f, end);
	ir_place(l->f, other);
	lower_choice(l, n->c, &n->vtype, r, m);
	ir_place(l->f, end);
	if (number)
		set_number(v, r);
	else
		set_memory(v, m);
}

static void lower_step(struct lower *l, struct node *n, struct value *v)
{
	const int64_t by = (n->op == '+' ? 1 : -1) * step_of(n->a);
	struct value before = {0}, after = {0};

	if (n->a->kind == N_MAP) {
		map_step(l, n->a, ir_const(l->f, by), &before, &after);
	} else {
		var_read(l, n->a->var, &before);
		set_number(&after, ir_binary_const(l->f, IR_ADD, before.reg, by));
		var_set(l, n->a->var, &after);
	}
	set_number(v, n->prefix ? after.reg : before.reg);
}

static ir_reg narrowed(struct lower *l, ir_reg r, const struct vtype *to)
{
	if (to->kind == V_BOOL)
		return lower_not(l, IR_EQ, r, 0);
	if (to->kind != V_INT || to->size >= 8)
		return r;
	return ir_unary(l->f, to->is_signed ? IR_SEXT : IR_ZEXT, r, to->size);
}

static void lower_cast(struct lower *l, struct node *n, struct value *v)
{
	struct value a = {0};
	const struct vtype *from = &n->a->vtype;
	struct mem m;

	if (vtype_is_number(&n->vtype) && reads_number(n->a)) {
		set_number(v, narrowed(l, lower_number(l, n->a), &n->vtype));
	} else if (n->vtype.kind == V_STRUCT) {
		set_memory(v, (struct mem){lower_number(l, n->a), 0});
	} else {
		m = mem_result(l, v, n->vtype.size < 8 ? 8 : n->vtype.size);
		lower_expr(l, n->a, &a);
		if (a.reg) {
			mem_zero(l, m, n->vtype.size < 8 ? 8 : n->vtype.size);
			mem_store(l, m, 8, a.reg);
			set_memory(v, m);
		} else if (n->vtype.kind == V_BOOL && from->kind == V_STRING) {
			/* A string is true if it is not empty. */
			value_own(l, &a);
			set_number(v, narrowed(l, mem_load(l, a.mem, 1, false), &n->vtype));
		} else if (vtype_is_number(&n->vtype)) {
			value_own(l, &a);
			set_number(v, mem_load(l, a.mem, largest_word(from->size),
					       n->vtype.is_signed));
		} else {
			value_store(l, &a, &n->vtype, m);
			set_memory(v, m);
		}
	}
}

static void lower_tuple(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, n->vtype.size);
	const struct velem *elem = n->vtype.elems;

	mem_zero(l, m, n->vtype.size);
	for (struct node *e = n->list; e; e = e->next, elem++) {
		struct value part = {0};

		lower_into(l, e->kind == N_ITEM ? e->a : e, elem->type, mem_at(m, elem->offset),
			   &part);
	}
	set_memory(v, m);
}

static void lower_block(struct lower *l, struct node *n, struct value *v)
{
	struct node *end = n->list;

	/* The value must outlive the statements, so their memory is not freed. */
	for (; end && end->next; end = end->next)
		lower_statement(l, end);
	if (end && end->kind == N_EXPR)
		lower_expr(l, end->a, v);
	else if (end)
		lower_statement(l, end);
}

static void (*const rules[N_KINDS])(struct lower *l, struct node *n, struct value *v) = {
	[N_INT] = lower_constant,    [N_BOOL] = lower_constant,	   [N_STRING] = lower_constant,
	[N_NAME] = lower_name,	     [N_VAR] = lower_var,	   [N_MAP] = map_read,
	[N_PARAM] = lower_constant,  [N_NPARAMS] = lower_constant, [N_CALL] = lower_name,
	[N_UNARY] = lower_unary,     [N_STEP] = lower_step,	   [N_BINARY] = lower_binary,
	[N_TERNARY] = lower_ternary, [N_CAST] = lower_cast,	   [N_FIELD] = lower_member,
	[N_ARROW] = lower_member,    [N_INDEX] = lower_index,	   [N_TUPLE] = lower_tuple,
	[N_RECORD] = lower_tuple,    [N_SIZEOF] = lower_constant,  [N_OFFSETOF] = lower_constant,
	[N_BLOCK] = lower_block,     [N_FUNC] = lower_function,
};

void lower_expr(struct lower *l, struct node *n, struct value *v)
{
	const struct span outer = l->at;

	v->type = n->vtype;
	l->at = n->at;
	if (n->is_const)
		lower_constant(l, n, v);
	else if (rules[n->kind])
		rules[n->kind](l, n, v);
	l->at = outer;
}
