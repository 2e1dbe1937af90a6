// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Constant expressions: lengths of arrays, widths of bit fields, values of enumerators. Everything
 * is a number of 64 bits; what overflows wraps around.
 */
#include <string.h>

#include "lang/cdef_parts.h"

static const struct {
	int op;
	unsigned int binds; /* the more the closer */
} binaries[] = {
	{OP_OR, 1},  {OP_AND, 2}, {'|', 3}, {'^', 4},	{'&', 5},   {OP_EQ, 6},
	{OP_NE, 6},  {'<', 7},	  {'>', 7}, {OP_LE, 7}, {OP_GE, 7}, {OP_SHL, 8},
	{OP_SHR, 8}, {'+', 9},	  {'-', 9}, {'*', 10},	{'/', 10},  {'%', 10},
};

static unsigned int binds(const struct cparser *p)
{
	if (p->tok.kind != CT_MARK)
		return 0;
	for (size_t i = 0; i < sizeof(binaries) / sizeof(binaries[0]); i++)
		if (binaries[i].op == p->tok.op)
			return binaries[i].binds;
	return 0;
}

static bool divide(struct cparser *p, struct span at, int op, int64_t a, int64_t b, int64_t *v)
{
	if (!b)
		return cparse_fail(p, at, "division by zero");
	/* The lowest number has no positive counterpart. */
	if (b == -1)
		*v = op == '/' ? (int64_t) - (uint64_t)a : 0;
	else
		*v = op == '/' ? a / b : a % b;
	return true;
}

static bool apply(struct cparser *p, struct span at, int op, int64_t a, int64_t b, int64_t *v)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	switch (op) {
	case OP_OR: *v = a || b; break;
	case OP_AND: *v = a && b; break;
	case '|': *v = a | b; break;
	case '^': *v = a ^ b; break;
	case '&': *v = a & b; break;
	case OP_EQ: *v = a == b; break;
	case OP_NE: *v = a != b; break;
	case '<': *v = a < b; break;
	case '>': *v = a > b; break;
	case OP_LE: *v = a <= b; break;
	case OP_GE: *v = a >= b; break;
	case OP_SHL: *v = (int64_t)(x << (y & 63)); break;
	case OP_SHR: *v = a >> (y & 63); break;
	case '+': *v = (int64_t)(x + y); break;
	case '-': *v = (int64_t)(x - y); break;
	case '*': *v = (int64_t)(x * y); break;
	default: return divide(p, at, op, a, b, v);
	}
	return true;
}

static bool name_value(struct cparser *p, int64_t *value)
{
	const char *name = cparse_text(p);
	struct type in;

	if (!name)
		return cparse_fail(p, p->tok.at, "out of memory");
	if (!cdefs_enumerator(p->d, name, value, &in) &&
	    !(p->d->env && p->d->env->ops->enumerator &&
	      p->d->env->ops->enumerator(p->d->env, name, value, &in)))
		return cparse_fail(p, p->tok.at, "'%s' is not known", name);
	cparse_next(p);
	return true;
}

static bool size_value(struct cparser *p, int64_t *value)
{
	struct span at;
	struct type t;
	uint32_t node;

	cparse_next(p);
	at = p->tok.at;
	if (!cparse_expect(p, '(', "behind sizeof") || !cparse_type(p, &node))
		return false;
	t = cdef_view(p->d, node);
	*value = (int64_t)type_size(&t);
	if (!*value && t.kind != TYPE_ARRAY && !p->d->nodes.at[node].defined)
		return cparse_fail(p, at, "nothing is known about the size of this type");
	return cparse_expect(p, ')', "behind the type");
}

static bool unary(struct cparser *p, int64_t *value);

/* An expression in parentheses, or a cast, which changes nothing that matters here. */
static bool parenthesis(struct cparser *p, int64_t *value)
{
	uint32_t node;

	cparse_next(p);
	if (cparse_at_type(p))
		return cparse_type(p, &node) && cparse_expect(p, ')', "behind the type") &&
		       unary(p, value);
	return cparse_expr(p, value) && cparse_expect(p, ')', "behind the expression");
}

static bool primary(struct cparser *p, int64_t *value)
{
	if (p->tok.kind == CT_NUMBER) {
		*value = p->tok.value;
		cparse_next(p);
		return true;
	}
	if (cparse_is_word(p, "sizeof"))
		return size_value(p, value);
	if (p->tok.kind == CT_NAME)
		return name_value(p, value);
	if (cparse_is(p, '('))
		return parenthesis(p, value);
	return cparse_fail(p, p->tok.at, "a constant is missing here");
}

static bool unary(struct cparser *p, int64_t *value)
{
	int op = p->tok.kind == CT_MARK ? p->tok.op : 0;
	bool ok;

	if (op != '-' && op != '+' && op != '~' && op != '!' && op != '(')
		return primary(p, value);
	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, p->tok.at, "the expression is too deep");
	if (op == '(') {
		ok = primary(p, value);
	} else {
		cparse_next(p);
		ok = unary(p, value);
		if (op == '-')
			*value = (int64_t) - (uint64_t)*value;
		else if (op == '~')
			*value = ~*value;
		else if (op == '!')
			*value = !*value;
	}
	p->depth--;
	return ok;
}

static bool binary(struct cparser *p, unsigned int least, int64_t *value)
{
	unsigned int close;

	*value = 0;
	if (!unary(p, value))
		return false;
	while ((close = binds(p)) >= least && close) {
		struct ctoken op = p->tok;
		int64_t right;

		cparse_next(p);
		if (!binary(p, close + 1, &right) || !apply(p, op.at, op.op, *value, right, value))
			return false;
	}
	return true;
}

bool cparse_expr(struct cparser *p, int64_t *value)
{
	int64_t yes, no;
	bool ok;

	if (!binary(p, 1, value))
		return false;
	if (!cparse_take(p, '?'))
		return true;
	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, p->tok.at, "the expression is too deep");
	ok = cparse_expr(p, &yes) && cparse_expect(p, ':', "behind '?'") && cparse_expr(p, &no);
	p->depth--;
	if (ok)
		*value = *value ? yes : no;
	return ok;
}
