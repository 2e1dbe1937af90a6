// SPDX-License-Identifier: GPL-2.0-or-later
/* Operators, with the precedence that C gives to them, and what stands behind a value. */
#include "lang/parser.h"

static const struct {
	int kind, precedence;
} binary_operators[] = {
	{OP_OR, 1},  {OP_AND, 2}, {'|', 3}, {'^', 4},	{'&', 5},   {OP_EQ, 6},
	{OP_NE, 6},  {'<', 7},	  {'>', 7}, {OP_LE, 7}, {OP_GE, 7}, {OP_SHL, 8},
	{OP_SHR, 8}, {'+', 9},	  {'-', 9}, {'*', 10},	{'/', 10},  {'%', 10},
};

static struct node *parse_binary(struct parser *p, int least);

/* ---- operators ---- */

static int precedence_of(struct parser *p)
{
	const int kind = parse_tok(p)->kind;

	if (kind == '/' && p->in_predicate && !p->nesting &&
	    (parse_peek(p, 1)->kind == '{' || parse_peek(p, 1)->kind == T_END))
		return 0;
	for (size_t i = 0; i < sizeof(binary_operators) / sizeof(*binary_operators); i++)
		if (binary_operators[i].kind == kind)
			return binary_operators[i].precedence;
	return 0;
}

struct node *parse_expr(struct parser *p)
{
	struct node *n, *cond;
	struct span from;

	if (!parse_enter(p))
		return NULL;
	from = parse_tok(p)->at;
	cond = parse_binary(p, 1);
	if (!cond || !parse_accept(p, '?')) {
		p->depth--;
		return cond;
	}
	n = parse_node(p, N_TERNARY, from);
	if (!n)
		return NULL;
	n->a = cond;
	if (!parse_at(p, ':')) {
		n->b = parse_expr(p);
		if (!n->b)
			return NULL;
	}
	if (!parse_expect(p, ':', "':' and the other value of '?'"))
		return NULL;
	n->c = parse_expr(p);
	if (!n->c)
		return NULL;
	n->at = source_join(p->source, from, p->last);
	p->depth--;
	return parse_finish(p, n);
}

static struct node *parse_binary(struct parser *p, int least)
{
	const struct span from = parse_tok(p)->at;
	struct node *left = parse_unary(p);

	while (left) {
		const int precedence = precedence_of(p);
		struct node *n, *right;
		int op;

		if (!precedence || precedence < least)
			return left;
		op = parse_next(p).kind;
		right = parse_binary(p, precedence + 1);
		n = right ? parse_node(p, N_BINARY, from) : NULL;
		if (!n)
			return NULL;
		n->op = op;
		n->a = left;
		n->b = right;
		left = parse_finish(p, n);
	}
	return NULL;
}

static bool can_step(struct parser *p, const struct node *n, struct span at)
{
	if (n->kind == N_VAR || n->kind == N_MAP)
		return true;
	lex_error(&p->lex, at, "'++' and '--' are for variables ($x) and maps (@x)");
	return false;
}

static struct node *parse_postfix(struct parser *p);

/* What stands behind an operator that stands in front. */
static struct node *parse_operand(struct parser *p, const struct token *op)
{
	const bool step = op->kind == T_INC || op->kind == T_DEC;
	struct node *n, *a;

	if (!parse_enter(p))
		return NULL;
	a = parse_unary(p);
	p->depth--;
	if (!a || (step && !can_step(p, a, op->at)))
		return NULL;
	n = parse_node(p, step ? N_STEP : N_UNARY, op->at);
	if (!n)
		return NULL;
	n->op = step ? op->op : op->kind;
	n->prefix = true;
	n->a = a;
	return parse_finish(p, n);
}

struct node *parse_unary(struct parser *p)
{
	const struct token t = *parse_tok(p);

	switch (t.kind) {
	case '-':
	case '!':
	case '~':
	case '*':
	case '&':
	case T_INC:
	case T_DEC: parse_next(p); return parse_operand(p, &t);
	default: return parse_postfix(p);
	}
}

/* ---- what stands behind a value ---- */

static struct node *parse_field(struct parser *p, struct node *of, struct span from)
{
	const bool arrow = parse_next(p).kind == T_ARROW;
	const struct token t = *parse_tok(p);
	struct node *n;

	if (t.kind != T_WORD && (t.kind != T_INT || arrow)) {
		parse_unexpected(p, arrow ? "the name of a field after '->'"
					  : "the name of a field, or a number, after '.'");
		return NULL;
	}
	parse_next(p);
	n = parse_node(p, arrow ? N_ARROW : N_FIELD, from);
	if (!n)
		return NULL;
	n->a = of;
	n->name = t.kind == T_WORD ? t.text : NULL;
	n->num = t.num;
	return parse_finish(p, n);
}

static struct node *parse_index(struct parser *p, struct node *of, struct span from)
{
	struct node *n, *index;

	parse_next(p);
	p->nesting++;
	index = parse_expr(p);
	p->nesting--;
	if (!index || !parse_expect(p, ']', "']' after the index"))
		return NULL;
	n = parse_node(p, N_INDEX, from);
	if (!n)
		return NULL;
	n->a = of;
	n->b = index;
	return parse_finish(p, n);
}

static struct node *parse_step_behind(struct parser *p, struct node *a, struct span from)
{
	const struct token t = parse_next(p);
	struct node *n = can_step(p, a, t.at) ? parse_node(p, N_STEP, from) : NULL;

	if (!n)
		return NULL;
	n->op = t.op;
	n->a = a;
	return parse_finish(p, n);
}

static struct node *parse_postfix(struct parser *p)
{
	const struct span from = parse_tok(p)->at;
	struct node *n = parse_primary(p);

	while (n) {
		switch (parse_tok(p)->kind) {
		case '.':
		case T_ARROW: n = parse_field(p, n, from); break;
		case '[': n = parse_index(p, n, from); break;
		case T_INC:
		case T_DEC: n = parse_step_behind(p, n, from); break;
		default: return n;
		}
	}
	return NULL;
}
