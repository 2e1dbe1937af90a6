// SPDX-License-Identifier: GPL-2.0-or-later
#include "lang/fold.h"

#include <stdlib.h>
#include <string.h>

static int64_t divide(bool is_signed, bool rest, int64_t a, int64_t b)
{
	if (b == 0)
		return rest ? a : 0;
	if (!is_signed)
		return (int64_t)(rest ? (uint64_t)a % (uint64_t)b : (uint64_t)a / (uint64_t)b);
	/* The one quotient that does not fit. */
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
	case OP_SHL: *result = (int64_t)(x << (y & 63)); break;
	case OP_SHR: *result = is_signed ? a >> (y & 63) : (int64_t)(x >> (y & 63)); break;
	case OP_EQ: *result = a == b; break;
	case OP_NE: *result = a != b; break;
	case '<': *result = less(is_signed, a, b); break;
	case '>': *result = less(is_signed, b, a); break;
	case OP_LE: *result = !less(is_signed, b, a); break;
	case OP_GE: *result = !less(is_signed, a, b); break;
	case OP_AND: *result = a && b; break;
	case OP_OR: *result = a || b; break;
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

/* What literals come to is one. */
static void settle_literal(struct node *n)
{
	if (fold_is_literal(n))
		n->vtype = vtype_literal(n->num, n->vtype.is_signed);
}

int fold_unary(struct node *n)
{
	if (!known(n->a))
		return 0;
	n->is_const = n->op == '-' || n->op == '!' || n->op == '~' || n->op == '+';
	n->num = n->op == '-'	? (int64_t)(0 - (uint64_t)n->a->num)
		 : n->op == '!' ? !n->a->num
		 : n->op == '~' ? ~n->a->num
				: n->a->num;
	settle_literal(n);
	return 0;
}

static bool is_signed_number(const struct node *n)
{
	return n->vtype.kind == V_BOOL || n->vtype.is_signed;
}

/* A number that is the same with and without a sign. */
static bool is_any(const struct node *n)
{
	return (known(n) && n->num >= 0) || (n->vtype.kind == V_INT && n->vtype.as_unsigned);
}

bool fold_both_signed(const struct node *a, const struct node *b)
{
	const bool signed_a = is_signed_number(a), signed_b = is_signed_number(b);
	const bool any_a = is_any(a), any_b = is_any(b);

	if (any_a != any_b)
		return any_a ? signed_b : signed_a;
	if (any_a)
		return signed_a || signed_b;
	if (signed_a != signed_b)
		return (signed_a ? b : a)->vtype.size < 8;
	return signed_a;
}

int fold_binary(struct node *n)
{
	if (known(n->a) && known(n->b))
		n->is_const = fold_operate(n->op, fold_both_signed(n->a, n->b), n->a->num,
					   n->b->num, &n->num);
	settle_literal(n);
	return 0;
}

int fold_cast(struct node *n)
{
	const unsigned int bits = n->vtype.size * 8;

	if (!known(n->a) || !bits)
		return 0;
	n->is_const = true;
	n->num = n->a->num;
	if (bits < 64)
		n->num = n->vtype.is_signed
				 ? (int64_t)((uint64_t)n->num << (64 - bits)) >> (64 - bits)
				 : (int64_t)((uint64_t)n->num << (64 - bits) >> (64 - bits));
	return 0;
}

int fold_param(struct node *n, const char *text, bool given)
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
	return 0;
}
