// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checker's rules for expressions: every node gets a type, constants get their value. Those
 * for operators are in check_op.c.
 */
#include <errno.h>
#include <string.h>

#include "lang/check.h"
#include "lang/constants.h"
#include "lang/fold.h"

void node_set_int(struct node *n, bool is_signed)
{
	n->vtype = vtype_int(8, is_signed);
}

bool node_is_int(const struct node *n)
{
	return n->vtype.kind == V_INT || n->vtype.kind == V_BOOL;
}

/* ---- leaves ---- */

static int check_int(struct checker *c, struct node *n)
{
	n->vtype = vtype_literal(n->num, !n->is_unsigned);
	n->is_const = true;
	return 0;
}

static int check_bool(struct checker *c, struct node *n)
{
	n->vtype = (struct vtype){.kind = V_BOOL, .size = 1};
	n->is_const = true;
	return 0;
}

static int check_string(struct checker *c, struct node *n)
{
	if (n->len >= UINT32_MAX / 2)
		return check_fail(c, n, "the string is too long");
	n->vtype = vtype_string((uint32_t)n->len + 1);
	n->is_const = true;
	return 0;
}

/* A builtin variable, an enumerator, or a constant of a header. */
static int check_name(struct checker *c, struct node *n)
{
	const char *nearest;
	bool has_sign;
	struct type in;

	n->builtin = builtin_find(n->name, true);
	if (n->builtin)
		return check_permitted(c, n) < 0 ? -EINVAL : n->builtin->check(c, n);
	if (env_enumerator(c->env, n->name, &n->num, &in)) {
		node_set_int(n, in.is_signed);
		n->vtype.c = in;
		n->is_const = true;
		return 0;
	}
	if (constant_find(n->name, &n->num, &has_sign)) {
		n->vtype = vtype_literal(n->num, has_sign);
		n->is_const = true;
		return 0;
	}
	/* A function without arguments may be called without brackets. */
	n->builtin = builtin_find(n->name, false);
	if (n->builtin && !n->builtin->min && !(n->builtin->flags & BUILTIN_AGGREGATE))
		return check_permitted(c, n) < 0   ? -EINVAL
		       : n->builtin->check != NULL ? n->builtin->check(c, n)
						   : 0;
	if (n->builtin)
		return check_fail(c, n, "%s is a function: %s(...)", n->name, n->name);
	check_fail(c, n, "unknown identifier: '%s'", n->name);
	nearest = builtin_nearest(n->name);
	if (nearest)
		source_hint(c->source, "did you mean '%s'?", nearest);
	if (c->source->absent)
		source_hint(c->source,
			    "<%s> is not installed: the names of numbers in it are not known",
			    c->source->absent);
	return -EINVAL;
}

/*
 * Scripts of older versions use variables behind the block that they were assigned in; where one
 * does, all variables of the program are known to all of it from the next round on.
 */
static bool make_flat(struct checker *c, const char *name)
{
	if (c->at->flat)
		return false;
	c->at->flat = true;
	c->at->flat = check_find_var(c, name) != NULL;
	c->changed |= c->at->flat;
	return c->at->flat;
}

static int check_var(struct checker *c, struct node *n)
{
	struct var *v = check_find_var(c, n->name);

	if (!v && make_flat(c, n->name))
		return 0;
	n->var = v;
	if (!v || (c->last && v->type.kind == V_NONE))
		return check_fail(c, n, "undefined or undeclared variable: $%.*s",
				  VAR_NAME(n->name));
	n->vtype = v->type;
	return 0;
}

/* $1: a number when it looks like one, 0 when it was not given. */
static int check_param(struct checker *c, struct node *n)
{
	const char *text = n->num == 0 ? c->opt->script : "";
	bool given = (uint64_t)n->num <= c->opt->nr_params && n->num > 0;

	/* In a round before this one: the number is that of its value now. */
	if (n->is_const)
		return 0;
	if (given)
		text = c->opt->params[n->num - 1];
	return fold_param(n, text ? text : "", given);
}

static int check_nparams(struct checker *c, struct node *n)
{
	n->num = (int64_t)c->opt->nr_params;
	n->vtype = vtype_literal(n->num, false);
	n->is_const = true;
	return 0;
}

/* ---- made of several ---- */

static int check_tuple(struct checker *c, struct node *n)
{
	const unsigned int count = node_count(n->list);
	const struct vtype **types = arena_array(c->arena, count + 1, sizeof(*types));
	const char **names = arena_array(c->arena, count + 1, sizeof(*names));
	unsigned int i = 0;
	struct vtype t;

	if (!types || !names)
		return -ENOMEM;
	for (struct node *e = n->list; e; e = e->next, i++) {
		struct node *v = e->kind == N_ITEM ? e->a : e;
		int rc = check_expr(c, v);

		if (rc < 0)
			return rc;
		if (v->vtype.kind == V_NONE)
			return c->last ? check_fail(c, v, "this has no value") : 0;
		if (vtype_is_aggregation(&v->vtype) &&
		    (!vtype_is_summed(&v->vtype) || v->kind == N_CALL))
			return check_fail(c, v, "an aggregation cannot be part of a tuple");
		t = vtype_is_summed(&v->vtype) ? vtype_int(8, v->vtype.is_signed) : v->vtype;
		names[i] = e->kind == N_ITEM ? e->name : NULL;
		types[i] = vtype_keep(c, &t);
	}
	if (!vtype_tuple(&n->vtype, types, n->kind == N_RECORD ? names : NULL, count, c->arena))
		return -ENOMEM;
	return 0;
}

static int check_sizeof(struct checker *c, struct node *n)
{
	struct vtype t = {0};
	int rc = n->type ? check_type_name(c, n->type, &t) : check_expr(c, n->a);

	if (rc < 0)
		return rc;
	if (!n->type)
		t = n->a->vtype;
	if (t.kind == V_NONE)
		return c->last ? check_fail(c, n, "its size is not known") : 0;
	n->num = t.size;
	n->vtype = vtype_literal(n->num, false);
	n->is_const = true;
	return 0;
}

/* A block as an expression: its value is the last one's. */
static int check_block(struct checker *c, struct node *n)
{
	struct var *before = c->sight;
	const struct node *end = n->list;
	int rc = check_statements(c, n->list);

	c->sight = before;
	while (end && end->next)
		end = end->next;
	if (rc == 0 && end && end->kind == N_EXPR && end->is_value)
		n->vtype = end->a->vtype;
	return rc;
}

static int check_nothing(struct checker *c, struct node *n)
{
	return check_fail(c, n, "this is not a value");
}

static int (*const rules[N_KINDS])(struct checker *c, struct node *n) = {
	[N_INT] = check_int,	     [N_BOOL] = check_bool,	  [N_STRING] = check_string,
	[N_NAME] = check_name,	     [N_VAR] = check_var,	  [N_MAP] = check_map,
	[N_PARAM] = check_param,     [N_NPARAMS] = check_nparams, [N_CALL] = check_call,
	[N_UNARY] = check_unary,     [N_STEP] = check_step,	  [N_BINARY] = check_binary,
	[N_TERNARY] = check_ternary, [N_CAST] = check_cast,	  [N_FIELD] = check_field,
	[N_ARROW] = check_field,     [N_INDEX] = check_index,	  [N_TUPLE] = check_tuple,
	[N_RECORD] = check_tuple,    [N_SIZEOF] = check_sizeof,	  [N_OFFSETOF] = check_offsetof,
	[N_BLOCK] = check_block,     [N_FUNC] = check_function,
};

int check_expr(struct checker *c, struct node *n)
{
	return (rules[n->kind] ? rules[n->kind] : check_nothing)(c, n);
}
