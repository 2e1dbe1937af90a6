// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Expressions: values (literals, names, maps, calls, brackets), what follows a value, and operators
 * with the precedence that C gives them.
 */
#include <stdio.h>

#include "base/array.h"
#include "lang/parse/parser.h"

/* ---- values ---- */

static struct node *no_value(struct parser *p)
{
	parse_unexpected(p, "an expression");
	return parse_node(p, N_INT, p->last);
}

static struct node *type_node(struct parser *p)
{
	const struct span from = parse_tok(p)->at;
	struct node *n = parse_node(p, N_TYPEOF, from);

	n->type = parse_type(p);
	return parse_close(p, n, from);
}

/* Reads a list up to and including `close`. */
static struct node *parse_list(struct parser *p, int close, const char *what)
{
	struct node *list = NULL, **end = &list;

	p->nesting++;
	if (!parse_at(p, close)) {
		do {
			/* A few functions have types as arguments: container_of(p, struct x, y). */
			const struct token *t = parse_tok(p);
			const bool tag =
				t->kind == T_WORD &&
				(t->word == W_STRUCT || t->word == W_UNION || t->word == W_TYPEOF);

			*end = tag ? type_node(p) : parse_expr(p);
			end = &(*end)->next;
		} while (parse_accept(p, ','));
	}
	p->nesting--;
	parse_expect(p, close, what);
	return list;
}

static struct node *parse_map(struct parser *p)
{
	const struct token t = parse_next(p);
	struct node *n = parse_node(p, N_MAP, t.at);
	const struct macro_def *m = p->macro;
	unsigned int i;

	n->name = t.text;
	for (i = 0; m && i < m->nr_params; i++)
		if (m->params[i].kind == N_MAP && !strcmp(m->params[i].name, t.text))
			break;
	if (m && i == m->nr_params) {
		parse_fail(p, t.at, "@%s is not a parameter of this macro", t.text);
		source_hint(p->source,
			    "a macro can use the maps that are passed to it: macro %s(@%s)",
			    m->name, *t.text ? t.text : "map");
	}
	if (!parse_accept(p, '['))
		return n;
	n->has_keys = true;
	n->list = parse_list(p, ']', "',' or ']' after the key of a map");
	if (!n->list)
		parse_fail(p, p->last, "expected a key between '[' and ']'");
	return parse_close(p, n, t.at);
}

static struct node *parse_call(struct parser *p, const struct token *name)
{
	struct node *n = parse_node(p, N_CALL, name->at);

	parse_next(p);
	n->name = name->text;
	n->list = parse_list(p, ')', "',' or ')' after an argument");
	return parse_close(p, n, name->at);
}

static struct node *parse_typeinfo(struct parser *p, const struct token *word)
{
	struct node *n = parse_node(p, N_CALL, word->at);

	parse_expect(p, '(', "'(' after typeinfo");
	n->name = word->text;
	p->nesting++;
	n->list = parse_is_type(p) ? type_node(p) : parse_expr(p);
	p->nesting--;
	parse_expect(p, ')', "')'");
	return parse_close(p, n, word->at);
}

/* The path of a field: a.b[1].c */
static const char *parse_field_path(struct parser *p)
{
	const char *path;
	struct buf b;

	buf_init(&b, 4096);
	do {
		const struct token t = *parse_tok(p);

		if (!parse_expect(p, T_WORD, "the name of a field"))
			break;
		buf_printf(&b, "%s%s", b.len ? "." : "", t.text);
		while (parse_accept(p, '[')) {
			const struct token index = *parse_tok(p);

			parse_expect(p, T_INT, "a number");
			parse_expect(p, ']', "']'");
			buf_printf(&b, "[%llu]", (unsigned long long)index.num);
		}
	} while (parse_accept(p, '.'));
	path = arena_strndup(p->lex.arena, b.data, b.len);
	if (!path)
		lex_no_memory(&p->lex);
	buf_free(&b);
	return path;
}

/* sizeof(x) and offsetof(x, field). */
static struct node *parse_sizeof(struct parser *p, const struct token *word)
{
	const bool offset = word->word == W_OFFSETOF;
	struct node *n = parse_node(p, offset ? N_OFFSETOF : N_SIZEOF, word->at);

	parse_expect(p, '(', offset ? "'(' after offsetof" : "'(' after sizeof");
	p->nesting++;
	if (parse_is_type(p))
		n->type = parse_type(p);
	else
		n->a = parse_expr(p);
	p->nesting--;
	if (offset) {
		parse_expect(p, ',', "',' and the name of a field");
		n->name = parse_field_path(p);
	}
	parse_expect(p, ')', offset ? "')' after offsetof(...)" : "')' after sizeof(...)");
	return parse_close(p, n, word->at);
}

/* Constants are always computed by the compiler, so this changes nothing. */
static struct node *parse_comptime(struct parser *p)
{
	struct node *n;

	parse_enter(p);
	n = parse_unary(p);
	p->depth--;
	return n;
}

static struct node *parse_word(struct parser *p)
{
	const struct token t = *parse_tok(p);
	struct node *n;

	if (t.word == W_IF)
		return parse_if_value(p);
	if (t.word == W_CONFIG || t.word == W_NONE || t.word == W_FN || t.word == W_MACRO) {
		parse_next(p);
		/* name!(…) is a macro. */
		if (parse_at(p, '!') && parse_peek(p, 1)->kind == '(')
			parse_next(p);
		if (parse_at(p, '('))
			return parse_call(p, &t);
		n = parse_node(p, N_NAME, t.at);
		n->name = t.text;
		return n;
	}
	switch (t.word) {
	case W_SIZEOF:
	case W_OFFSETOF: parse_next(p); return parse_sizeof(p, &t);
	case W_TYPEINFO: parse_next(p); return parse_typeinfo(p, &t);
	case W_COMPTIME: parse_next(p); return parse_comptime(p);
	case W_TRUE:
	case W_FALSE:
		parse_next(p);
		n = parse_node(p, N_BOOL, t.at);
		n->num = t.word == W_TRUE;
		return n;
	default: return no_value(p);
	}
}

/* ---- values in brackets ---- */

/* (name = value, …) */
static struct node *parse_record(struct parser *p, struct span from)
{
	struct node *n = parse_node(p, N_RECORD, from), **end = &n->list;

	do {
		const struct token name = *parse_tok(p);
		struct node *item;

		if (n->list && parse_at(p, ')'))
			break;
		item = parse_node(p, N_ITEM, name.at);
		item->name = name.text;
		parse_expect(p, T_WORD, "a name");
		parse_expect(p, T_ASSIGN, "'=' after the name");
		item->a = parse_expr(p);
		*end = parse_close(p, item, name.at);
		end = &item->next;
	} while (parse_accept(p, ','));
	parse_expect(p, ')', "',' or ')'");
	return parse_close(p, n, from);
}

static struct node *parse_cast(struct parser *p, struct span from)
{
	struct node *n = parse_node(p, N_CAST, from);

	n->type = parse_type(p);
	parse_expect(p, ')', "')' after the type");
	n->a = parse_unary(p);
	return parse_close(p, n, from);
}

static struct node *parse_tuple(struct parser *p, struct node *first, struct span from)
{
	struct node *n = parse_node(p, N_TUPLE, from), **end = first ? &first->next : &n->list;

	n->list = first;
	while (!parse_at(p, ')')) {
		*end = parse_expr(p);
		end = &(*end)->next;
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, ')', "',' or ')'");
	return parse_close(p, n, from);
}

static struct node *parse_in_brackets(struct parser *p, struct span from)
{
	struct node *first;

	if (parse_at(p, ')'))
		return parse_tuple(p, NULL, from);
	if (parse_at(p, T_WORD) && parse_peek(p, 1)->kind == T_ASSIGN && !parse_peek(p, 1)->op)
		return parse_record(p, from);
	if (parse_is_cast(p))
		return parse_cast(p, from);
	first = parse_expr(p);
	if (parse_accept(p, ','))
		return parse_tuple(p, first, from);
	parse_expect(p, ')', "')'");
	first->at = source_join(p->source, from, p->last);
	return first;
}

static struct node *parse_bracket(struct parser *p)
{
	const struct span from = parse_next(p).at;
	struct node *n;

	parse_enter(p);
	p->nesting++;
	n = parse_in_brackets(p, from);
	p->nesting--;
	p->depth--;
	return n;
}

static struct node *parse_leaf(struct parser *p, enum node_kind kind)
{
	const struct token t = parse_next(p);
	struct node *n = parse_node(p, kind, t.at);

	n->num = t.num;
	n->is_unsigned = t.is_unsigned;
	if (kind == N_STRING) {
		n->text = t.text;
		n->len = t.len;
	} else {
		n->name = t.text;
	}
	return n;
}

struct node *parse_primary(struct parser *p)
{
	switch (parse_tok(p)->kind) {
	case T_INT: return parse_leaf(p, N_INT);
	case T_STRING: return parse_leaf(p, N_STRING);
	case T_VAR: return parse_leaf(p, N_VAR);
	case T_PARAM: return parse_leaf(p, N_PARAM);
	case T_NPARAMS: return parse_leaf(p, N_NPARAMS);
	case T_MAP: return parse_map(p);
	case T_WORD: return parse_word(p);
	case '(': return parse_bracket(p);
	case '{': return parse_block_value(p);
	default: return no_value(p);
	}
}

/* ---- operators ---- */

static const struct {
	int op, precedence;
} operators[] = {
	{NODE_OP_OR, 1}, {NODE_OP_AND, 2}, {'|', 3},	     {'^', 4}, {'&', 5},
	{NODE_OP_EQ, 6}, {NODE_OP_NE, 6},  {'<', 7},	     {'>', 7}, {NODE_OP_LE, 7},
	{NODE_OP_GE, 7}, {NODE_OP_SHL, 8}, {NODE_OP_SHR, 8}, {'+', 9}, {'-', 9},
	{'*', 10},	 {'/', 10},	   {'%', 10},
};

static struct node *parse_binary(struct parser *p, int least);

int op_precedence(int op)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].op == op)
			return operators[i].precedence;
	return 0;
}

static int precedence_of(struct parser *p)
{
	const int kind = parse_tok(p)->kind;

	if (kind == '/' && p->in_predicate && !p->nesting &&
	    (parse_peek(p, 1)->kind == '{' || parse_peek(p, 1)->kind == T_END))
		return 0;
	return op_precedence(kind);
}

struct node *parse_expr(struct parser *p)
{
	struct node *n, *cond;
	struct span from;

	parse_enter(p);
	from = parse_tok(p)->at;
	n = cond = parse_binary(p, 1);
	if (parse_accept(p, '?')) {
		n = parse_node(p, N_TERNARY, from);
		n->a = cond;
		if (!parse_at(p, ':'))
			n->b = parse_expr(p);
		parse_expect(p, ':', "':' and the other value of '?'");
		n->c = parse_expr(p);
		parse_close(p, n, from);
	}
	p->depth--;
	return n;
}

static struct node *parse_binary(struct parser *p, int least)
{
	const struct span from = parse_tok(p)->at;
	struct node *left = parse_unary(p);
	int precedence;

	while ((precedence = precedence_of(p)) >= least) {
		const int op = parse_next(p).kind;
		struct node *right = parse_binary(p, precedence + 1);

		left = parse_join(p, N_BINARY, from, op, left, right);
	}
	return left;
}

static void check_step(struct parser *p, const struct node *n, struct span at)
{
	if (n->kind != N_VAR && n->kind != N_MAP)
		parse_fail(p, at, "'++' and '--' are for variables ($x) and maps (@x)");
}

static struct node *parse_postfix(struct parser *p);

/* The operand of a prefix operator. */
static struct node *parse_operand(struct parser *p, const struct token *op)
{
	const bool step = op->kind == T_INC || op->kind == T_DEC;
	struct node *n, *a;

	parse_enter(p);
	a = parse_unary(p);
	p->depth--;
	if (step)
		check_step(p, a, op->at);
	n = parse_join(p, step ? N_STEP : N_UNARY, op->at, step ? op->op : op->kind, a, NULL);
	n->prefix = true;
	return n;
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

/* ---- postfix operators ---- */

static struct node *parse_field(struct parser *p, struct node *of, struct span from)
{
	const bool arrow = parse_next(p).kind == T_ARROW;
	const struct token t = *parse_tok(p);
	struct node *n;

	if (t.kind != T_WORD && (t.kind != T_INT || arrow))
		parse_unexpected(p, arrow ? "the name of a field after '->'"
					  : "the name of a field, or a number, after '.'");
	parse_next(p);
	n = parse_join(p, arrow ? N_ARROW : N_FIELD, from, 0, of, NULL);
	n->name = t.kind == T_WORD ? t.text : NULL;
	n->num = t.num;
	return n;
}

static struct node *parse_index(struct parser *p, struct node *of, struct span from)
{
	struct node *index;

	parse_next(p);
	p->nesting++;
	index = parse_expr(p);
	p->nesting--;
	parse_expect(p, ']', "']' after the index");
	return parse_join(p, N_INDEX, from, 0, of, index);
}

static struct node *parse_postfix_step(struct parser *p, struct node *a, struct span from)
{
	const struct token t = parse_next(p);

	check_step(p, a, t.at);
	return parse_join(p, N_STEP, from, t.op, a, NULL);
}

static struct node *parse_postfix(struct parser *p)
{
	const struct span from = parse_tok(p)->at;
	struct node *n = parse_primary(p);

	for (;;) {
		switch (parse_tok(p)->kind) {
		case '.':
		case T_ARROW: n = parse_field(p, n, from); break;
		case '[': n = parse_index(p, n, from); break;
		case T_INC:
		case T_DEC: n = parse_postfix_step(p, n, from); break;
		default: return n;
		}
	}
}
