// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements and blocks. After a wrong statement a block continues at the next ';' or at its own
 * end.
 */
#include "lang/parse/parser.h"

/* After an error: skips to after the next ';', or to the '}' that ends the block. */
static void skip_statement(struct parser *p)
{
	unsigned int open = 0;

	p->wrong = false;
	while (!parse_at(p, T_END) && !(parse_at(p, '}') && !open)) {
		const int kind = parse_next(p).kind;

		open += kind == '{';
		/* A statement probably follows the block. */
		if ((kind == ';' && !open) || (kind == '}' && !--open))
			return;
	}
}

/* Reads the ';' of a statement, which may be missing at the end of a block. */
static void end_statement(struct parser *p)
{
	const int kind = parse_tok(p)->kind;

	/* At the end of the script the missing '}' is reported instead. */
	if (parse_accept(p, ';') || kind == '}' || kind == T_END)
		return;
	parse_unexpected(p, "';'");
	/* Reported already; this is the next statement. */
	p->wrong = kind != T_WORD && kind != T_VAR && kind != T_MAP;
}

/* Reads the name of a new variable. */
static struct node *parse_variable(struct parser *p, const char *expected)
{
	const struct token name = *parse_tok(p);
	struct node *n;

	parse_expect(p, T_VAR, expected);
	n = parse_node(p, N_VAR, name.at);
	n->name = name.text;
	return n;
}

static struct node *parse_let(struct parser *p)
{
	const struct span from = parse_next(p).at;
	struct node *n = parse_node(p, N_LET, from);

	n->a = parse_variable(p, "a variable after 'let': let $name");
	n->name = n->a->name;
	if (parse_accept(p, ':'))
		n->type = parse_type(p);
	if (parse_at(p, T_ASSIGN) && !parse_tok(p)->op) {
		parse_next(p);
		n->b = parse_expr(p);
	}
	parse_close(p, n, from);
	end_statement(p);
	return n;
}

static struct node *parse_if(struct parser *p, bool value)
{
	const struct span from = parse_next(p).at;
	struct node *n, *cond;

	parse_enter(p);
	cond = parse_unary(p);
	n = parse_node(p, N_IF, from);
	n->a = cond;
	n->b = parse_block(p, value);
	if (parse_at_word(p, W_ELSE)) {
		parse_next(p);
		n->c = parse_at_word(p, W_IF) ? parse_if(p, value) : parse_block(p, value);
	}
	p->depth--;
	return parse_finish(p, n);
}

static struct node *parse_loop(struct parser *p, enum node_kind kind)
{
	const struct span from = parse_next(p).at;
	struct node *cond = parse_unary(p), *n = parse_node(p, kind, from);

	n->a = cond;
	n->b = parse_block(p, false);
	return parse_finish(p, n);
}

/* The range of a for: a map, or FROM..TO. Only in brackets it may be any expression. */
static struct node *parse_for_what(struct parser *p, bool brackets)
{
	const struct span from = parse_tok(p)->at;
	struct node *first = brackets ? parse_expr(p) : parse_unary(p), *last;

	if (parse_accept(p, T_RANGE)) {
		last = brackets ? parse_expr(p) : parse_unary(p);
		return parse_join(p, N_RANGE, from, 0, first, last);
	}
	if (!p->wrong && first->kind != N_MAP && first->kind != N_NAME) {
		parse_fail(p, first->at, "expected a map or a range after ':'");
		source_hint(p->source, "for ($kv : @map) or for ($i : 0..10)");
	}
	return first;
}

static struct node *parse_for(struct parser *p)
{
	const struct span from = parse_next(p).at;
	const bool brackets = parse_accept(p, '(');
	struct node *n, *var = parse_variable(p, "a variable after 'for': for ($x : ...)");

	parse_expect(p, ':', "':' after the variable of a for");
	n = parse_node(p, N_FOR, from);
	n->a = var;
	n->c = parse_for_what(p, brackets);
	if (brackets)
		parse_expect(p, ')', "')' after what a for goes over");
	n->at = source_join(p->source, from, p->last);
	n->b = parse_block(p, false);
	return parse_finish(p, n);
}

static struct node *parse_jump(struct parser *p, enum node_kind kind)
{
	const struct span from = parse_next(p).at;
	const bool ends = kind != N_RETURN || parse_at(p, ';') || parse_at(p, '}');
	struct node *value = ends ? NULL : parse_expr(p);
	struct node *n = parse_join(p, kind, from, 0, value, NULL);

	end_statement(p);
	return n;
}

static void check_assigned(struct parser *p, const struct node *to)
{
	if (to->kind == N_VAR || to->kind == N_MAP)
		return;
	if (to->kind == N_FIELD || to->kind == N_ARROW || to->kind == N_INDEX) {
		parse_fail(p, to->at, "a part of a value cannot be assigned");
		source_hint(p->source, "variables ($x) and maps (@x, @x[key]) can be, as a whole");
	} else {
		parse_fail(p, to->at, "only variables ($x) and maps (@x) can be assigned");
	}
}

static struct node *parse_assignment(struct parser *p, struct node *to, struct span from)
{
	const int op = parse_next(p).op;
	struct node *n, *value;

	check_assigned(p, to);
	value = parse_expr(p);
	n = parse_join(p, N_ASSIGN, from, op, to, value);
	end_statement(p);
	return n;
}

static struct node *parse_discard(struct parser *p)
{
	const struct span from = parse_next(p).at;
	struct node *n, *value;

	parse_next(p);
	value = parse_expr(p);
	n = parse_join(p, N_DISCARD, from, 0, value, NULL);
	end_statement(p);
	return n;
}

static bool at_discard(struct parser *p)
{
	const struct token *t = parse_tok(p);

	return t->kind == T_WORD && t->len == 1 && *t->text == '_' &&
	       parse_peek(p, 1)->kind == T_ASSIGN && !parse_peek(p, 1)->op;
}

/* An expression, or an assignment that begins with it. */
static struct node *parse_simple(struct parser *p, bool value)
{
	const struct token first = *parse_tok(p);
	/* After a block a new statement begins, even with '*' or '('. */
	struct node *n, *e = first.kind == '{' ? parse_block_value(p) : parse_expr(p);

	if (parse_at(p, T_ASSIGN))
		return parse_assignment(p, e, first.at);
	n = parse_join(p, N_EXPR, first.at, 0, e, NULL);
	n->is_value = value && parse_at(p, '}');
	if (first.kind != '{')
		end_statement(p);
	return n;
}

static struct node *parse_statement(struct parser *p, bool value)
{
	if (at_discard(p))
		return parse_discard(p);
	switch (parse_tok(p)->kind == T_WORD ? parse_tok(p)->word : W_NONE) {
	case W_LET: return parse_let(p);
	case W_IF: return parse_if(p, value);
	case W_WHILE: return parse_loop(p, N_WHILE);
	case W_UNROLL: return parse_loop(p, N_UNROLL);
	case W_FOR: return parse_for(p);
	case W_BREAK: return parse_jump(p, N_BREAK);
	case W_CONTINUE: return parse_jump(p, N_CONTINUE);
	case W_RETURN: return parse_jump(p, N_RETURN);
	default: return parse_simple(p, value);
	}
}

/* ---- blocks ---- */

/* A block as a value; a block that only contains its value is that value. */
static struct node *block_node(struct parser *p, struct node *list, struct span at)
{
	struct node *n;

	if (list && list->is_value)
		return list->a;
	n = parse_node(p, N_BLOCK, at);
	n->at = at;
	n->list = list;
	return parse_finish(p, n);
}

/* An `if` whose branches all have a value, as an expression; NULL if one has none. */
static struct node *if_to_value(struct parser *p, struct node *n)
{
	struct node *yes = node_last(n->b), *no = node_last(n->c), *t;

	if (!yes || !no || !yes->is_value)
		return NULL;
	if (no->kind == N_IF && no == n->c)
		no = if_to_value(p, no);
	else
		no = no->is_value ? block_node(p, n->c, n->at) : NULL;
	if (!no)
		return NULL;
	t = parse_node(p, N_TERNARY, n->at);
	t->at = n->at;
	t->a = n->a;
	t->b = block_node(p, n->b, n->at);
	t->c = no;
	return parse_finish(p, t);
}

/* An `if` at the end of a block becomes the value of the block, if it has one. */
static void value_of_last(struct parser *p, struct node **last)
{
	struct node *t = *last && (*last)->kind == N_IF ? if_to_value(p, *last) : NULL, *e;

	if (!t)
		return;
	e = parse_node(p, N_EXPR, t->at);
	e->at = t->at;
	e->a = t;
	e->is_value = true;
	*last = parse_finish(p, e);
}

static struct node *read_statements(struct parser *p, bool value)
{
	struct node *list = NULL, **end = &list, **last = &list;
	bool ended = false; /* by a ';', so that the last statement is not a value */

	while (!parse_at(p, '}') && !parse_at(p, T_END)) {
		if (parse_accept(p, ';')) {
			ended = true;
			continue;
		}
		ended = false;
		if (parse_at_word(p, W_IMPORT)) {
			parse_import(p);
			p->wrong = false;
			continue;
		}
		*end = parse_statement(p, value);
		if (p->wrong) {
			*end = NULL;
			skip_statement(p);
		} else {
			last = end;
			end = &(*end)->next;
		}
	}
	if (value && !ended)
		value_of_last(p, last);
	return list;
}

struct node *parse_block(struct parser *p, bool value)
{
	const struct token open = *parse_tok(p);
	const bool in_predicate = p->in_predicate;
	const unsigned int nesting = p->nesting;
	struct node *list;

	parse_expect(p, '{', "'{'");
	parse_enter(p);
	p->in_predicate = false;
	list = read_statements(p, value);
	p->in_predicate = in_predicate;
	p->nesting = nesting;
	p->depth--;
	if (p->wrong || parse_accept(p, '}'))
		return list;
	if (!p->lex.stop) {
		const char *name;
		uint32_t line, column;

		parse_unexpected(p, "'}'");
		source_place(p->source, open.at.from, &name, &line, &column);
		source_hint(p->source, "the block begins in line %u", line);
	}
	p->wrong = true;
	return list;
}

struct node *parse_block_value(struct parser *p)
{
	const struct span from = parse_tok(p)->at;
	struct node *list = parse_block(p, true);

	return block_node(p, list, source_join(p->source, from, p->last));
}

struct node *parse_if_value(struct parser *p)
{
	struct node *n = parse_if(p, true), *t = if_to_value(p, n);

	if (!t && !p->lex.stop)
		parse_fail(p, n->at, "an 'if' whose value is used needs one in each branch");
	return t ? t : n;
}
