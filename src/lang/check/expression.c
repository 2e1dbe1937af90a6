// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checker's rules for expressions: every node gets a type, constants get their value. The rules
 * for operators are in operator.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lang/check/check.h"
#include "lang/parse/preprocess.h"

/* ---- parts of values: fields, elements of tuples and arrays, arguments by name ---- */

static bool no_member(struct checker *c, const struct node *n, const struct type *t)
{
	struct buf text;

	buf_init(&text, 4096);
	type_name(t, &text);
	check_fail(c, n, "%s has no field named '%s'", text.len ? buf_str(&text) : "the struct",
		   n->name);
	buf_reset(&text);
	type_near_members(t, n->name, &text);
	if (text.len)
		source_hint(c->source, "its fields include: %s", buf_str(&text));
	buf_free(&text);
	return false;
}

static bool check_element(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;

	if (n->name) {
		for (uint32_t i = 0; i < t->nr_elems; i++)
			if (t->elems[i].name && strcmp(t->elems[i].name, n->name) == 0) {
				n->num = i;
				n->vtype = *t->elems[i].type;
				return true;
			}
		return check_fail(c, n, "the record has no element named '%s'", n->name);
	}
	if (n->num < 0 || n->num >= t->nr_elems)
		return check_fail(c, n, "the tuple has %u elements, there is no %lld", t->nr_elems,
				  (long long)n->num);
	n->vtype = *t->elems[n->num].type;
	return true;
}

/* The parameters of a function: args.NAME. */
static bool check_parameter(struct checker *c, struct node *n)
{
	const struct proto *p = &c->at->proto;
	struct buf names;

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->at[i].name, n->name) == 0) {
			n->num = (int64_t)i;
			n->vtype = vtype_of_c(&p->at[i].type, check_space(c));
			/* A struct that is passed by value is copied. */
			if (n->vtype.kind == V_STRUCT)
				n->vtype.space = SPACE_OWN;
			return true;
		}
	if (strcmp(n->name, "retval") == 0) {
		n->num = -1;
		n->vtype = vtype_of_c(&p->ret, check_space(c));
		return true;
	}
	buf_init(&names, 1024);
	for (size_t i = 0; i < p->n; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", p->at[i].name);
	check_fail(c, n, "the function has no parameter named '%s'", n->name);
	if (names.len)
		source_hint(c->source, "it has: %s", buf_str(&names));
	buf_free(&names);
	return false;
}

static bool is_args(const struct node *n)
{
	return n->kind == N_NAME && strcmp(n->name, "args") == 0;
}

/* Pointers in arguments of system calls are those of the process. */
static enum vspace space_of_arguments(const struct checker *c)
{
	const struct probe_target *t = program_target(c->at);

	return t && t->system && !strcmp(t->system, "syscalls") ? SPACE_USER : check_space(c);
}

bool check_field(struct checker *c, struct node *n)
{
	struct vtype t;
	struct member m;

	if (!check_expr(c, n->a))
		return false;
	t = n->a->vtype;
	if (n->name && is_args(n->a) && c->at->has_proto)
		return check_parameter(c, n);
	if (t.kind == V_NONE)
		return true;
	if (t.kind == V_TUPLE || t.kind == V_RECORD)
		return check_element(c, n);
	if (!n->name)
		return check_fail(c, n, "only tuples have numbered elements");
	if (t.kind != V_STRUCT && t.kind != V_POINTER)
		return check_fail(c, n, "only structs have fields");
	/* A struct that was only named may be defined elsewhere. */
	if (t.c.kind == TYPE_STRUCT && !t.c.size && env_complete(c->env, &t.c))
		n->a->vtype.c = t.c;
	if (t.c.kind != TYPE_STRUCT)
		return check_fail(c, n, "only structs have fields");
	if (!type_member(&t.c, n->name, strlen(n->name), &m))
		return no_member(c, n, &t.c);
	n->vtype = vtype_of_c(&m.type, t.space == SPACE_CTX ? space_of_arguments(c) : t.space);
	if (n->vtype.kind == V_STRUCT || n->vtype.kind == V_ARRAY || n->vtype.kind == V_STRING)
		n->vtype.space = t.space;
	if (n->vtype.kind == V_POINTER && m.type.user)
		n->vtype.space = SPACE_USER;
	/* Bit fields are unsigned, as in bpftrace: scripts expect 1 from an int:1. */
	if (n->vtype.kind == V_INT && m.bits)
		n->vtype.is_signed = false;
	if (env_dynamic(&m) || m.type.kind == TYPE_TEXT)
		n->vtype = vtype_dynamic(c, &m);
	if (n->vtype.kind == V_NONE)
		return check_fail(c, n, "the type of '%s' is not known", n->name);
	if (t.space == SPACE_KERNEL)
		c->at->reads_kernel = true;
	return true;
}

/* Adds the message for an index that is too large at run time. */
static bool warn_of_bounds(struct checker *c, struct node *n, uint64_t count)
{
	char text[128];
	struct action *a;

	if (n->b->is_const || !count)
		return true;
	a = check_action(c, n, ACT_WARNF, NULL);
	snprintf(text, sizeof(text),
		 "Array access out of bounds: the array has %llu elements. 0 is being used as the "
		 "result.",
		 (unsigned long long)count);
	if (a)
		a->format = arena_strdup(&c->unit->arena, text);
	return a && (a->format || check_no_memory(c));
}

bool check_index(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;
	struct type elem;

	if (!check_expr(c, n->a) || !check_expr(c, n->b))
		return false;
	if (t->kind == V_NONE || n->b->vtype.kind == V_NONE)
		return true;
	if (!node_is_int(n->b))
		return check_fail(c, n->b, "an index is a number");
	if (t->kind == V_TUPLE) {
		if (!n->b->is_const)
			return check_fail(c, n->b, "the index of a tuple must be a constant");
		/* $t[1] is $t.1. */
		n->kind = N_FIELD;
		n->num = n->b->num;
		n->b = NULL;
		return check_element(c, n);
	}
	if (t->kind == V_STRING) {
		n->vtype = vtype_int(1, true);
		if (n->b->is_const && t->size && (uint64_t)n->b->num >= t->size)
			return check_fail(c, n,
					  "the index %lld is out of bounds for array of size %u",
					  (long long)n->b->num, t->size);
	} else if (t->kind == V_POINTER) {
		n->vtype = vtype_of_c(&t->c, t->space);
	} else if (t->kind == V_ARRAY && type_target(&t->c, &elem)) {
		n->vtype = vtype_of_c(&elem, t->space);
		if (n->b->is_const && t->c.count && (uint64_t)n->b->num >= t->c.count)
			return check_fail(c, n,
					  "the index %lld is out of bounds for array of size %llu",
					  (long long)n->b->num, (unsigned long long)t->c.count);
	} else {
		return check_fail(c, n, "only arrays and pointers can be indexed");
	}
	if (n->vtype.kind == V_NONE)
		return check_fail(c, n, "the type of the elements is not known");
	if (t->space == SPACE_KERNEL)
		c->at->reads_kernel = true;
	return t->kind == V_POINTER ||
	       warn_of_bounds(c, n, t->kind == V_STRING ? t->size : t->c.count);
}

/* ---- expressions ---- */

void node_set_int(struct node *n, bool is_signed)
{
	n->vtype = vtype_int(8, is_signed);
}

bool node_is_int(const struct node *n)
{
	return n->vtype.kind == V_INT || n->vtype.kind == V_BOOL;
}

/* ---- leaves ---- */

static bool check_int(struct checker *c, struct node *n)
{
	n->vtype = vtype_literal(n->num, !n->is_unsigned);
	n->is_const = true;
	return true;
}

static bool check_bool(struct checker *c, struct node *n)
{
	n->vtype = vtype_fixed(V_BOOL);
	n->is_const = true;
	return true;
}

static bool check_string(struct checker *c, struct node *n)
{
	if (n->len >= UINT32_MAX / 2)
		return check_fail(c, n, "the string is too long");
	n->vtype = vtype_string((uint32_t)n->len + 1);
	n->is_const = true;
	return true;
}

/* A builtin variable, an enumerator, or a constant of a header. */
static bool check_name(struct checker *c, struct node *n)
{
	const char *nearest;
	bool has_sign;
	struct type in;

	n->builtin = builtin_find(n->name, true);
	if (n->builtin)
		return check_permitted(c, n) && n->builtin->check(c, n);
	if (env_enumerator(c->env, n->name, &n->num, &in)) {
		node_set_int(n, in.is_signed);
		n->vtype.c = in;
		n->is_const = true;
		return true;
	}
	if (constant_find(n->name, &n->num, &has_sign)) {
		n->vtype = vtype_literal(n->num, has_sign);
		n->is_const = true;
		return true;
	}
	/* A function without arguments may be called without brackets. */
	n->builtin = builtin_find(n->name, false);
	if (n->builtin && !n->builtin->min && !(n->builtin->flags & BUILTIN_AGGREGATE))
		return check_permitted(c, n) && (!n->builtin->check || n->builtin->check(c, n));
	if (n->builtin)
		return check_fail(c, n, "%s is a function: %s(...)", n->name, n->name);
	check_fail(c, n, "unknown identifier: '%s'", n->name);
	nearest = builtin_nearest(n->name);
	if (nearest)
		source_hint(c->source, "did you mean '%s'?", nearest);
	check_hint_headers(c, n->name);
	return false;
}

/*
 * Scripts for older versions use variables after the block that assigns them. If one does, all
 * variables of the program are visible everywhere from the next round on.
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

static bool check_var(struct checker *c, struct node *n)
{
	struct var *v = check_find_var(c, n->name);

	if (!v && make_flat(c, n->name))
		return true;
	n->var = v;
	if (!v || (c->last && v->type.kind == V_NONE))
		return check_fail(c, n, "undefined or undeclared variable: $%.*s",
				  VAR_NAME(n->name));
	n->vtype = v->type;
	return true;
}

/* $1: a number if it looks like one, 0 if it was not given. */
static bool check_param(struct checker *c, struct node *n)
{
	const char *text = n->num == 0 ? c->opt->script : "";
	bool given = (uint64_t)n->num <= c->opt->nr_params && n->num > 0;

	/* An earlier round has replaced the number of the parameter by its value. */
	if (n->is_const)
		return true;
	if (given)
		text = c->opt->params[n->num - 1];
	fold_param(n, text ? text : "", given);
	return true;
}

static bool check_nparams(struct checker *c, struct node *n)
{
	n->num = (int64_t)c->opt->nr_params;
	n->vtype = vtype_literal(n->num, false);
	n->is_const = true;
	return true;
}

/* ---- tuples, records, blocks ---- */

static bool check_tuple(struct checker *c, struct node *n)
{
	const unsigned int count = node_count(n->list);
	struct vtype *types = arena_array(c->arena, count + 1, sizeof(*types));
	const char **names = arena_array(c->arena, count + 1, sizeof(*names));
	unsigned int i = 0;

	if (!types || !names)
		return check_no_memory(c);
	for (struct node *e = n->list; e; e = e->next, i++) {
		struct node *v = e->kind == N_ITEM ? e->a : e;

		if (!check_expr(c, v))
			return false;
		if (v->vtype.kind == V_NONE)
			return check_unknown(c, v);
		if (vtype_is_aggregation(&v->vtype) &&
		    (!vtype_is_summed(&v->vtype) || v->kind == N_CALL))
			return check_fail(c, v, "an aggregation cannot be part of a tuple");
		names[i] = e->kind == N_ITEM ? e->name : NULL;
		types[i] = vtype_is_summed(&v->vtype) ? vtype_int(8, v->vtype.is_signed) : v->vtype;
	}
	return vtype_tuple(&n->vtype, types, n->kind == N_RECORD ? names : NULL, count, c->arena) ||
	       check_no_memory(c);
}

static bool check_sizeof(struct checker *c, struct node *n)
{
	struct vtype t = {0};

	if (!check_operand_type(c, n, &t))
		return false;
	if (t.kind == V_NONE)
		return !c->last || check_fail(c, n, "its size is not known");
	n->num = t.size;
	n->vtype = vtype_literal(n->num, false);
	n->is_const = true;
	return true;
}

/* A block as an expression has the value of its last expression. */
static bool check_block(struct checker *c, struct node *n)
{
	struct var *before = c->visible;
	const struct node *end = node_last(n->list);
	const bool fine = check_statements(c, n->list);

	c->visible = before;
	if (fine && end && end->kind == N_EXPR && end->is_value)
		n->vtype = end->a->vtype;
	return fine;
}

static bool check_nothing(struct checker *c, struct node *n)
{
	return check_fail(c, n, "this is not a value");
}

static bool (*const rules[N_KINDS])(struct checker *c, struct node *n) = {
	[N_INT] = check_int,	     [N_BOOL] = check_bool,	  [N_STRING] = check_string,
	[N_NAME] = check_name,	     [N_VAR] = check_var,	  [N_MAP] = check_map,
	[N_PARAM] = check_param,     [N_NPARAMS] = check_nparams, [N_CALL] = check_call,
	[N_UNARY] = check_unary,     [N_STEP] = check_step,	  [N_BINARY] = check_binary,
	[N_TERNARY] = check_ternary, [N_CAST] = check_cast,	  [N_FIELD] = check_field,
	[N_ARROW] = check_field,     [N_INDEX] = check_index,	  [N_TUPLE] = check_tuple,
	[N_RECORD] = check_tuple,    [N_SIZEOF] = check_sizeof,	  [N_OFFSETOF] = check_offsetof,
	[N_BLOCK] = check_block,     [N_FUNC] = check_function,
};

bool check_expr(struct checker *c, struct node *n)
{
	return (rules[n->kind] ? rules[n->kind] : check_nothing)(c, n);
}
