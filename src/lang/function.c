// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls of the script's own functions. A call is a copy of the function's body (macro.c) whose
 * parameters are variables that are declared in front of it; what it returns is one more variable.
 * A return assigns that variable and goes to the end of the copy.
 */
#include <string.h>

#include "lang/lower.h"

/* ---- checking ---- */

static int wrong_type(struct checker *c, const struct node *n, const struct vtype *has,
		      const struct vtype *given)
{
	struct buf a, b;
	int rc;

	buf_init(&a, 1024);
	buf_init(&b, 1024);
	vtype_name(has, &a);
	vtype_name(given, &b);
	rc = check_fail(c, n, "function '%s' returns '%s', not '%s'", c->function->name,
			buf_str(&a), buf_str(&b));
	buf_free(&a);
	buf_free(&b);
	return rc;
}

int check_returned(struct checker *c, struct node *n)
{
	const struct node *result = c->function->b;
	struct vtype t, stored;
	int rc;

	if (!n->a)
		return result ? check_fail(c, n, "function '%s' must return a value",
					   c->function->name)
			      : 0;
	if (!result)
		return check_fail(c, n->a, "function '%s' returns nothing", c->function->name);
	rc = check_expr(c, n->a);
	if (rc < 0)
		return rc;
	if (n->a->vtype.kind == V_NONE)
		return c->last ? check_fail(c, n->a, "this has no value") : 0;
	t = result->a->var->type;
	stored = vtype_stored(&n->a->vtype);
	if (t.kind == stored.kind && (t.kind == V_STRING || t.kind == V_INT))
		return 0;
	if (vtype_is_aggregation(&stored) || vtype_widen(c, &t, &stored) < 0)
		return wrong_type(c, n->a, &t, &stored);
	return 0;
}

int check_function(struct checker *c, struct node *n)
{
	const struct node *outer = c->function;
	const unsigned int outside = c->loops_outside;
	struct var *before = c->sight;
	/* Values that are passed are the caller's: a return in one of them is, too. */
	int rc = check_statements(c, n->list);

	if (rc == 0)
		rc = check_statements(c, n->b);
	c->function = n;
	c->loops_outside = c->loops;
	if (rc == 0)
		rc = check_statements(c, n->a->list);
	if (rc == 0 && n->b && !check_leaves(n->a))
		rc = check_fail(c, n, "function '%s' can end without a return", n->name);
	c->function = outer;
	c->loops_outside = outside;
	c->sight = before;
	if (rc == 0 && n->b)
		n->vtype = n->b->a->var->type;
	return rc;
}

/* ---- lowering ---- */

void lower_function(struct lower *l, struct node *n, struct value *v)
{
	struct lower_call call = {.outer = l->call, .n = n, .f = l->f, .end = ir_new_label(l->f)};

	lower_statements(l, n->list);
	lower_statements(l, n->b);
	l->call = &call;
	lower_statements(l, n->a->list);
	l->call = call.outer;
	ir_place(l->f, call.end);
	if (n->b)
		var_read(l, n->b->a->var, v);
}

void lower_returned(struct lower *l, struct node *n)
{
	const struct lower_call *call = l->call;

	if (n->a)
		var_write(l, call->n->b->a->var, n->a);
	if (call->f == l->f) {
		ir_jump(l->f, call->end);
		return;
	}
	/* In a loop, which is a function of the kernel's own: that has to end first. */
	ir_store_const(l->f, l->in.vars, l->return_at, 8, RETURN_FUNCTION);
	ir_jump(l->f, l->in.end);
}

void lower_leave_function(struct lower *l, ir_reg returned)
{
	const ir_label stays = ir_new_label(l->f);

	ir_branch_const(l->f, IR_EQ, returned, 0, stays);
	ir_branch_const(l->f, IR_EQ, returned, RETURN_PROGRAM, l->in.end);
	ir_store_const(l->f, lower_frame_address(l), l->return_at, 8, 0);
	ir_jump(l->f, l->call->end);
	ir_place(l->f, stays);
}
