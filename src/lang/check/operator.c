// SPDX-License-Identifier: GPL-2.0-or-later
/* The checker's rules for operators, including casts, and their results for constants. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lang/check/check.h"

/* ---- constants ---- */

static int64_t divide(bool is_signed, bool rest, int64_t a, int64_t b)
{
	if (b == 0)
		return rest ? a : 0;
	if (!is_signed)
		return (int64_t)(rest ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b);
	/* INT64_MIN / -1 would overflow. */
	if (b == -1)
		return rest ? 0 : (int64_t)(0 - (uint64_t)a);
	return rest ? a % b : a / b;
}

static bool less(bool is_signed, int64_t a, int64_t b)
{
	return is_signed ? a < b : (uint64_t)a < (uint64_t)b;
}

bool fold_operate(int op, bool is_signed, int64_t a, int64_t b, int64_t *result)
{
	const uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case '+': *result = (int64_t)(x + y); break;
	case '-': *result = (int64_t)(x - y); break;
	case '*': *result = (int64_t)(x * y); break;
	case '/': *result = divide(is_signed, false, a, b); break;
	case '%': *result = divide(is_signed, true, a, b); break;
	case '&': *result = a & b; break;
	case '|': *result = a | b; break;
	case '^': *result = a ^ b; break;
	case NODE_OP_SHL: *result = (int64_t)(x << (y & 63)); break;
	case NODE_OP_SHR: *result = is_signed ? a >> (y & 63) : (int64_t)(x >> (y & 63)); break;
	case NODE_OP_EQ: *result = a == b; break;
	case NODE_OP_NE: *result = a != b; break;
	case '<': *result = less(is_signed, a, b); break;
	case '>': *result = less(is_signed, b, a); break;
	case NODE_OP_LE: *result = !less(is_signed, b, a); break;
	case NODE_OP_GE: *result = !less(is_signed, a, b); break;
	case NODE_OP_AND: *result = a && b; break;
	case NODE_OP_OR: *result = a || b; break;
	default: return false;
	}
	return true;
}

static bool known(const struct node *n)
{
	return n->is_const && n->vtype.kind != V_STRING;
}

bool fold_is_literal(const struct node *n)
{
	if (!known(n) || n->vtype.kind != V_INT)
		return false;
	switch (n->kind) {
	case N_INT:
	case N_PARAM:
	case N_NPARAMS:
	case N_SIZEOF:
	case N_OFFSETOF: return true;
	case N_NAME: return !n->builtin && !n->vtype.c.kind;
	case N_UNARY: return fold_is_literal(n->a);
	case N_BINARY: return fold_is_literal(n->a) && fold_is_literal(n->b);
	default: return false;
	}
}

/* The result of literals is a literal. */
static void settle_literal(struct node *n)
{
	if (fold_is_literal(n))
		n->vtype = vtype_literal(n->num, n->vtype.is_signed);
}

void fold_unary(struct node *n)
{
	if (!known(n->a))
		return;
	n->is_const = n->op == '-' || n->op == '!' || n->op == '~' || n->op == '+';
	n->num = n->op == '-'	? (int64_t)(0 - (uint64_t)n->a->num)
		 : n->op == '!' ? !n->a->num
		 : n->op == '~' ? ~n->a->num
				: n->a->num;
	settle_literal(n);
}

static bool is_signed_number(const struct node *n)
{
	return n->vtype.kind == V_BOOL || n->vtype.is_signed;
}

static bool has_cast(const struct node *n)
{
	return n && (n->kind == N_CAST || has_cast(n->a) || has_cast(n->b));
}

bool fold_is_untyped(const struct node *n)
{
	return known(n) && !has_cast(n);
}

/* A number that has the same value signed and unsigned, unless the script has given it a type. */
static bool is_any(const struct node *n)
{
	return n->vtype.kind == V_BOOL || (n->vtype.kind == V_INT && n->vtype.as_unsigned) ||
	       (n->num >= 0 && fold_is_untyped(n));
}

static bool is_shift(int op)
{
	return op == NODE_OP_SHL || op == NODE_OP_SHR;
}

bool fold_both_signed(int op, const struct node *a, const struct node *b)
{
	const bool signed_a = is_signed_number(a), signed_b = is_signed_number(b);
	const bool any_a = is_any(a), any_b = is_any(b);

	if (any_a != any_b)
		return any_a ? signed_b : signed_a;
	/* The number of bits says nothing about the sign of what is shifted. */
	if (signed_a != signed_b && is_shift(op))
		return (signed_a ? b : a)->vtype.size < 8;
	return signed_a || signed_b;
}

void fold_binary(struct node *n)
{
	if (known(n->a) && known(n->b))
		n->is_const = fold_operate(n->op, fold_both_signed(n->op, n->a, n->b), n->a->num,
					   n->b->num, &n->num);
	settle_literal(n);
}

void fold_cast(struct node *n)
{
	const unsigned int bits = n->vtype.size * 8;

	if (!known(n->a) || !bits)
		return;
	n->is_const = true;
	n->num = n->a->num;
	if (bits < 64)
		n->num = n->vtype.is_signed
				 ? (int64_t)((uint64_t)n->num << (64 - bits)) >> (64 - bits)
				 : (int64_t)((uint64_t)n->num << (64 - bits) >> (64 - bits));
}

void fold_param(struct node *n, const char *text, bool given)
{
	char *end;

	n->is_const = true;
	n->num = (int64_t)strtoull(text, &end, 0);
	n->text = text;
	n->len = strlen(text);
	if (*text ? !*end : !given)
		n->vtype = vtype_literal(n->num, *text == '-');
	else
		n->vtype = vtype_string((uint32_t)n->len + 1);
}

/* ---- rules ---- */

/* Whether it is used as a number, although it may be shown otherwise. */
static bool counts(const struct node *n)
{
	return (vtype_is_number(&n->vtype) && n->vtype.kind != V_POINTER) ||
	       vtype_is_summed(&n->vtype);
}

static bool is_signed(const struct node *n)
{
	return (n->vtype.kind == V_INT || vtype_is_summed(&n->vtype)) && n->vtype.is_signed;
}

/* A pointer to a stored value of the script: numbers become types of C, others stay as they are. */
static bool point_at(struct checker *c, struct node *n, const struct vtype *t)
{
	n->vtype = (struct vtype){.kind = V_POINTER, .size = 8, .c = t->c, .space = t->space};
	if (t->kind == V_INT && !t->c.kind)
		n->vtype.c =
			(struct type){.kind = TYPE_INTEGER, .size = 8, .is_signed = t->is_signed};
	if (t->kind != V_INT && t->kind != V_STRUCT && t->kind != V_ARRAY) {
		n->vtype.c = (struct type){0};
		n->vtype.to = vtype_copy(c, t);
		if (!n->vtype.to)
			return check_no_memory(c);
		n->vtype.space = SPACE_OWN;
	}
	/* The program reads its own memory as if it were the kernel's. */
	if (n->vtype.space == SPACE_OWN)
		n->vtype.space = SPACE_KERNEL;
	return true;
}

/* A number that has an address gets 8 bytes: the pointer does not know other sizes. */
static void make_whole(struct checker *c, struct vtype *t)
{
	if (t->kind != V_INT || t->size == 8)
		return;
	t->size = 8;
	c->changed = true;
}

/* &@x and &@x[key]: the address of the value; 0 if there is none. */
static bool check_map_address(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->map->value;

	if (t->kind == V_NONE)
		return true;
	if (vtype_is_aggregation(t))
		return check_fail(c, n, "an aggregation has no address: each CPU has a part of it");
	if (n->a->map->kind == MAP_PERCPU_HASH || n->a->map->kind == MAP_PERCPU_LRU_HASH ||
	    n->a->map->kind == MAP_PERCPU_ARRAY)
		return check_fail(c, n, "each CPU has its own values of @%s", n->a->name);
	if (c->opt->offline)
		return check_fail(c, n, "the address of a map cannot be had from a recording");
	/* An address in spur's own executor would mean nothing to other programs. */
	c->at->reads_kernel = true;
	make_whole(c, &n->a->map->value);
	return point_at(c, n, t);
}

static bool check_address(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;

	if (n->a->kind == N_MAP)
		return check_map_address(c, n);
	if (n->a->kind == N_VAR) {
		if (n->a->var) {
			n->a->var->addressed = true;
			if (!n->a->var->declared)
				make_whole(c, &n->a->var->type);
		}
		return point_at(c, n, t);
	}
	if (n->a->kind != N_FIELD && n->a->kind != N_ARROW)
		return check_fail(c, n, "only variables, maps and fields have an address");
	n->vtype = (struct vtype){.kind = V_POINTER, .size = 8, .c = t->c, .space = t->space};
	return true;
}

static bool check_dereference(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;

	if (t->kind == V_POINTER && t->to)
		n->vtype = *t->to;
	else if (t->kind == V_POINTER)
		n->vtype = vtype_of_c(&t->c, t->space);
	else if (t->kind == V_INT)
		n->vtype = vtype_int(8, false);
	else
		return check_fail(c, n, "only a pointer can be dereferenced");
	if (n->vtype.kind == V_NONE)
		return check_fail(c, n, "what the pointer points at is not known");
	c->at->reads_kernel |= t->space != SPACE_CTX;
	return true;
}

bool check_unary(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;

	if (!check_expr(c, n->a))
		return false;
	if (t->kind == V_NONE)
		return true;
	if (n->op == '*')
		return check_dereference(c, n);
	if (n->op == '&')
		return check_address(c, n);
	if (!counts(n->a) && !(n->op == '!' && t->kind == V_POINTER))
		return check_fail(c, n, "the operator '%c' needs a number", n->op);
	if (n->op == '!')
		n->vtype = vtype_fixed(V_BOOL);
	else
		node_set_int(n, n->op == '-' || is_signed(n->a));
	fold_unary(n);
	return true;
}

bool op_is_comparison(int op)
{
	return op == '<' || op == '>' || op == NODE_OP_LE || op == NODE_OP_GE || op == NODE_OP_EQ ||
	       op == NODE_OP_NE;
}

static bool is_logical(int op)
{
	return op == NODE_OP_AND || op == NODE_OP_OR;
}

static bool has_truth(const struct node *n)
{
	return vtype_is_number(&n->vtype) || vtype_is_summed(&n->vtype);
}

/* Pointers: difference, comparison, and steps of the size of their target. */
static bool check_pointers(struct checker *c, struct node *n)
{
	const struct vtype *a = &n->a->vtype, *b = &n->b->vtype;

	if (op_is_comparison(n->op)) {
		n->vtype = vtype_fixed(V_BOOL);
		return true;
	}
	if (n->op != '+' && n->op != '-') {
		node_set_int(n, false);
		return true;
	}
	if (a->kind == V_POINTER && b->kind == V_POINTER) {
		if (n->op == '+')
			return check_fail(c, n, "two pointers cannot be added");
		node_set_int(n, true);
		return true;
	}
	if (b->kind == V_POINTER && n->op == '-')
		return check_fail(c, n, "a pointer cannot be subtracted from a number");
	n->vtype = a->kind == V_POINTER ? *a : *b;
	return true;
}

/* Names of probes are numbers of strings: a string to compare becomes a number, too. */
static void number_name(struct checker *c, const struct node *name, struct node *text)
{
	if (name->vtype.kind != V_PROBE || text->kind != N_STRING)
		return;
	text->num = check_string_number(c, text->text);
	text->vtype = name->vtype;
}

/* Strings, arrays, tuples and the like can only be equal or not. */
static bool check_equality(struct checker *c, struct node *n)
{
	const struct vtype *a = &n->a->vtype, *b = &n->b->vtype;
	struct vtype as = *a;

	number_name(c, n->a, n->b);
	number_name(c, n->b, n->a);
	if ((n->op != NODE_OP_EQ && n->op != NODE_OP_NE) || vtype_is_aggregation(a) ||
	    vtype_is_aggregation(b))
		return check_fail(c, n, "the operator needs numbers");
	if (a->kind != b->kind)
		return check_fail(c, n, "values of different types cannot be compared");
	if (a->kind != V_STRING && a->kind != V_BUFFER && a->kind != V_TUPLE &&
	    a->kind != V_RECORD && a->size != b->size)
		return check_fail(c, n, "values of different sizes cannot be compared");
	if (a->kind == V_ARRAY && !type_same(&a->c, &b->c))
		return check_fail(c, n, "arrays of different types cannot be compared");
	if ((a->kind == V_TUPLE || a->kind == V_RECORD) && vtype_widen(c, &as, b) < 0)
		return check_fail(c, n, "values of different types cannot be compared");
	n->vtype = vtype_fixed(V_BOOL);
	return true;
}

bool check_divisor(struct checker *c, struct node *n)
{
	struct action *a;

	if (n->op != '/' && n->op != '%')
		return true;
	if (n->b->is_const)
		return n->b->num || check_fail(c, n, "division by zero");
	a = check_action(c, n, ACT_WARNF, NULL);
	if (!a)
		return false;
	a->format = "Divide or modulo by 0 detected. This can lead to unexpected results. 1 is "
		    "being used as the result.";
	return true;
}

/* $1 + 2, if $1 is a text, is the text from its third letter on, as in C. */
static bool is_rest_of_param(const struct node *n)
{
	return n->op == '+' && n->a->kind == N_PARAM && n->a->vtype.kind == V_STRING &&
	       n->b->is_const && node_is_int(n->b) && n->b->num >= 0 &&
	       (uint64_t)n->b->num <= n->a->len;
}

struct vtype check_result(const struct node *n)
{
	struct vtype t = vtype_int(8, n->op == '-' || fold_both_signed(n->op, n->a, n->b));

	if (n->op != '-' && n->a->vtype.as_unsigned && n->b->vtype.as_unsigned)
		t.as_unsigned = 8;
	return t;
}

void check_signs(struct checker *c, const struct node *n)
{
	const struct vtype both = vtype_int(8, fold_both_signed(n->op, n->a, n->b));

	if (n->op == NODE_OP_EQ || n->op == NODE_OP_NE || is_shift(n->op))
		return;
	check_cut(c, n->a, &both);
	check_cut(c, n->b, &both);
}

bool check_binary(struct checker *c, struct node *n)
{
	if (!check_expr(c, n->a) || !check_expr(c, n->b))
		return false;
	if (n->a->vtype.kind == V_NONE || n->b->vtype.kind == V_NONE) {
		if (op_is_comparison(n->op) || is_logical(n->op))
			n->vtype = vtype_fixed(V_BOOL);
		else if (c->guess && (counts(n->a) || counts(n->b)))
			node_set_int(n, n->op == '-' || is_signed(n->a) || is_signed(n->b));
		return true;
	}
	if (is_logical(n->op)) {
		if (!has_truth(n->a) || !has_truth(n->b))
			return check_fail(c, n, "the operator needs numbers");
		n->vtype = vtype_fixed(V_BOOL);
		fold_binary(n);
		return true;
	}
	if (n->a->vtype.kind == V_POINTER || n->b->vtype.kind == V_POINTER) {
		if (vtype_is_number(&n->a->vtype) && vtype_is_number(&n->b->vtype))
			return check_pointers(c, n);
	}
	if (is_rest_of_param(n)) {
		n->text = n->a->text + n->b->num;
		n->len = n->a->len - (size_t)n->b->num;
		n->vtype = vtype_string((uint32_t)n->len + 1);
		n->is_const = true;
		return true;
	}
	if (!counts(n->a) || !counts(n->b))
		return check_equality(c, n);
	if (op_is_comparison(n->op))
		n->vtype = vtype_fixed(V_BOOL);
	else
		n->vtype = check_result(n);
	check_signs(c, n);
	if (!check_divisor(c, n))
		return false;
	fold_binary(n);
	return true;
}

static bool is_same_stack(const struct vtype *a, const struct vtype *b)
{
	return (a->kind != V_KSTACK && a->kind != V_USTACK) || vtype_same(a, b);
}

/* The common type of the two values of a ternary. */
static bool join_types(struct checker *c, struct node *n, const struct node *a,
		       const struct node *b)
{
	if (a->vtype.kind == V_NONE || b->vtype.kind == V_NONE) {
		if (c->last)
			return check_fail(c, n, "only one of the two has a value");
		n->vtype = a->vtype.kind == V_NONE ? b->vtype : a->vtype;
		return true;
	}
	if (counts(a) && counts(b) &&
	    (a->vtype.kind != b->vtype.kind || a->vtype.kind == V_INT || a->vtype.kind == V_BOOL)) {
		node_set_int(n, fold_both_signed(0, a, b));
		if (a->vtype.kind == V_INT && b->vtype.kind == V_INT)
			n->vtype = vtype_join(&a->vtype, &b->vtype);
		if ((a->vtype.c.kind || a->vtype.kind == V_BOOL) &&
		    vtype_same(&a->vtype, &b->vtype))
			n->vtype = a->vtype;
		check_cut(c, a, &n->vtype);
		check_cut(c, b, &n->vtype);
		return true;
	}
	n->vtype = a->vtype;
	if (vtype_widen(c, &n->vtype, &b->vtype) < 0 || !is_same_stack(&a->vtype, &b->vtype))
		return check_fail(c, n, "the two values have different types");
	return true;
}

bool check_ternary(struct checker *c, struct node *n)
{
	if (!check_expr(c, n->a) || (n->b && !check_expr(c, n->b)) || !check_expr(c, n->c))
		return false;
	if (n->a->vtype.kind != V_NONE ? !has_truth(n->a) : c->last)
		return check_fail(c, n->a, "the condition must be a number");
	/* Statements such as exit() have no value and are allowed here. */
	if (c->last && n->b && n->b->vtype.kind == V_NONE && n->c->vtype.kind == V_NONE)
		return true;
	return join_types(c, n, n->b ? n->b : n->a, n->c);
}

bool check_grown(struct checker *c, struct node *n, const struct vtype *t)
{
	bool fine;

	if (n->vtype.kind != V_INT)
		return true;
	if (n->kind == N_MAP)
		return check_map_value(c, n, t, n->at);
	if (n->var->declared)
		return true;
	fine = check_widen(c, &n->var->type, t);
	n->vtype = n->var->type;
	return fine;
}

bool check_counted(struct checker *c, struct node *n)
{
	struct vtype *t = n->kind == N_MAP ? &n->map->value : NULL;

	if (n->kind == N_VAR && n->var)
		t = &n->var->type;
	if (!t)
		return check_fail(c, n, "only variables and maps can be assigned");
	if (t->kind == V_BOOL) {
		*t = vtype_int(8, true);
		c->changed = true;
	}
	n->vtype = *t;
	if (t->kind != V_INT && t->kind != V_POINTER)
		return check_fail(c, n, "only numbers can be counted up or down");
	return true;
}

bool check_step(struct checker *c, struct node *n)
{
	struct vtype counted;
	bool fine = check_expr(c, n->a);

	if (n->a->kind != N_VAR && n->a->kind != N_MAP)
		return check_fail(c, n, "only variables and maps can be counted up or down");
	if (n->a->kind == N_MAP && fine) {
		struct vtype number = vtype_int(8, true);

		number.as_unsigned = n->op == '+' ? 8 : 0;
		/* The first ++ creates the map. */
		if (n->a->map->value.kind == V_NONE)
			fine = check_map_value(c, n->a, &number, n->at);
		n->a->vtype = n->a->map->value;
	}
	if (!fine || n->a->vtype.kind == V_NONE)
		return fine;
	if (!check_counted(c, n->a))
		return false;
	counted = vtype_int(8, n->a->vtype.is_signed || n->op == '-');
	counted.as_unsigned = n->op == '+' && n->a->vtype.as_unsigned ? 8 : 0;
	fine = check_grown(c, n->a, &counted);
	n->vtype = n->a->vtype;
	return fine;
}

/* (uint8[])x has as many elements as fit. */
static bool array_of_value(struct checker *c, struct node *n)
{
	const uint32_t size = n->a->vtype.size;
	struct type elem;

	if (n->type->count)
		return true;
	if (!type_target(&n->vtype.c, &elem) || !elem.size || size % elem.size)
		return check_fail(c, n, "the value does not divide into such elements");
	if (!type_array_of(&elem, size / elem.size, c->arena, &n->vtype.c))
		return check_no_memory(c);
	n->vtype.size = size;
	return true;
}

bool check_cast(struct checker *c, struct node *n)
{
	struct vtype to;

	if (!check_expr(c, n->a) || !check_type_name(c, n->type, &to))
		return false;
	if (n->a->vtype.kind == V_NONE)
		return true;
	/* It points into the same space as its operand, or as the probe. */
	if (to.kind == V_POINTER && to.space == SPACE_OWN)
		to.space = check_space_of(c, &n->a->vtype);
	n->vtype = to;
	if (vtype_is_number(&to) &&
	    (vtype_is_number(&n->a->vtype) || vtype_is_summed(&n->a->vtype))) {
		fold_cast(n);
		return true;
	}
	if (to.kind == V_STRING && (n->a->vtype.kind == V_STRING || n->a->vtype.kind == V_BUFFER ||
				    n->a->vtype.kind == V_ARRAY))
		return true;
	if (to.kind == V_ARRAY && (vtype_is_number(&n->a->vtype) || n->a->vtype.kind == V_ARRAY ||
				   (n->a->vtype.kind == V_STRING && n->a->vtype.size)))
		return array_of_value(c, n);
	if (to.kind == V_BUFFER && n->a->vtype.kind == V_STRING)
		return true;
	if (vtype_is_number(&to) && n->a->vtype.kind == V_ARRAY && n->a->vtype.size <= 8)
		return true;
	if (to.kind == V_BOOL && n->a->vtype.kind == V_STRING)
		return true;
	if (to.kind == V_TUPLE && n->a->vtype.kind == V_TUPLE &&
	    to.nr_elems == n->a->vtype.nr_elems)
		return true;
	if (to.kind == V_STRUCT && vtype_is_number(&n->a->vtype)) {
		/* (struct x)address of older scripts is the struct at that address. */
		n->vtype.space = check_space(c);
		return true;
	}
	return check_fail(c, n, "this cannot be cast");
}
