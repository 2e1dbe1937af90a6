// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Statements and blocks. After a wrong statement a block continues at the next ';' or at its own
 * end.
 */
#include "lang/parse/parser.h"

/* Skips to after the next ';', or to the '}' that ends the block. */
static void skip_statement(struct parser *p)
{
	unsigned int open = 0;

	while (!parse_at(p, T_END) && !(parse_at(p, '}') && !open)) {
		const int kind = parse_next(p).kind;

		open += kind == '{';
		/* A statement probably follows the block. */
		if ((kind == ';' && !open) || (kind == '}' && !--open))
			return;
	}
}

/* Reads the ';' of a statement, which may be missing at the end of a block. */
static bool end_statement(struct parser *p)
{
	const int kind = parse_tok(p)->kind;

	/* At the end of the script the missing '}' is reported instead. */
	if (parse_accept(p, ';') || kind == '}' || kind == T_END)
		return true;
	parse_unexpected(p, "';'");
	/* Reported already; this is the next statement. */
	return kind == T_WORD || kind == T_VAR || kind == T_MAP;
}

static struct node *parse_let(struct parser *p)
{
	const struct span from = parse_next(p).at;
	struct node *n, *var;
	struct token name = *parse_tok(p);

	if (!parse_expect(p, T_VAR, "a variable after 'let': let $name"))
		return NULL;
	var = parse_node(p, N_VAR, name.at);
	n = parse_node(p, N_LET, from);
	if (!var || !n)
		return NULL;
	var->name = n->name = name.text;
	n->a = var;
	if (parse_accept(p, ':')) {
		n->type = parse_type(p);
		if (!n->type)
			return NULL;
	}
	if (parse_at(p, T_ASSIGN) && !parse_tok(p)->op) {
		parse_next(p);
		n->b = parse_expr(p);
		if (!n->b)
			return NULL;
	}
	n->at = source_join(p->source, from, p->last);
	return end_statement(p) ? parse_finish(p, n) : NULL;
}

static struct node *parse_if(struct parser *p, bool value)
{
	const struct span from = parse_next(p).at;
	struct node *n, *cond;

	if (!parse_enter(p))
		return NULL;
	cond = parse_unary(p);
	n = cond ? parse_node(p, N_IF, from) : NULL;
	if (!n || !parse_block(p, &n->b, value))
		return NULL;
	n->a = cond;
	if (parse_at_word(p, W_ELSE)) {
		parse_next(p);
		if (parse_at_word(p, W_IF)) {
			n->c = parse_if(p, value);
			if (!n->c)
				return NULL;
		} else if (!parse_block(p, &n->c, value)) {
			return NULL;
		}
	}
	p->depth--;
	return parse_finish(p, n);
}

static struct node *parse_loop(struct parser *p, enum node_kind kind)
{
	const struct span from = parse_next(p).at;
	struct node *n, *cond = parse_unary(p);

	n = cond ? parse_node(p, kind, from) : NULL;
	if (!n || !parse_block(p, &n->b, false))
		return NULL;
	n->a = cond;
	return parse_finish(p, n);
}

/* The range of a for: a map, or FROM..TO. Only in brackets it may be any expression. */
static struct node *parse_for_what(struct parser *p, bool brackets)
{
	const struct span from = parse_tok(p)->at;
	struct node *first = brackets ? parse_expr(p) : parse_unary(p), *n;

	if (!first)
		return NULL;
	if (!parse_accept(p, T_RANGE)) {
		if (first->kind == N_MAP || first->kind == N_NAME)
			return first;
		lex_error(&p->lex, first->at, "expected a map or a range after ':'");
		source_hint(p->source, "for ($kv : @map) or for ($i : 0..10)");
		return NULL;
	}
	n = parse_node(p, N_RANGE, from);
	if (!n)
		return NULL;
	n->a = first;
	n->b = brackets ? parse_expr(p) : parse_unary(p);
	if (!n->b)
		return NULL;
	return parse_close(p, n, from);
}

static struct node *parse_for(struct parser *p)
{
	const struct span from = parse_next(p).at;
	const bool brackets = parse_accept(p, '(');
	const struct token name = *parse_tok(p);
	struct node *n, *var;

	if (!parse_expect(p, T_VAR, "a variable after 'for': for ($x : ...)"))
		return NULL;
	var = parse_node(p, N_VAR, name.at);
	if (!var || !parse_expect(p, ':', "':' after the variable of a for"))
		return NULL;
	var->name = name.text;
	n = parse_node(p, N_FOR, from);
	if (!n)
		return NULL;
	n->a = var;
	n->c = parse_for_what(p, brackets);
	if (!n->c || (brackets && !parse_expect(p, ')', "')' after what a for goes over")))
		return NULL;
	n->at = source_join(p->source, from, p->last);
	return parse_block(p, &n->b, false) ? parse_finish(p, n) : NULL;
}

static struct node *parse_jump(struct parser *p, enum node_kind kind)
{
	const struct span from = parse_next(p).at;
	struct node *n, *value = NULL;

	if (kind == N_RETURN && !parse_at(p, ';') && !parse_at(p, '}')) {
		value = parse_expr(p);
		if (!value)
			return NULL;
	}
	n = parse_join(p, kind, from, 0, value, NULL);
	return n && end_statement(p) ? n : NULL;
}

static bool can_assign(struct parser *p, const struct node *to)
{
	if (to->kind == N_VAR || to->kind == N_MAP)
		return true;
	if (to->kind == N_FIELD || to->kind == N_ARROW || to->kind == N_INDEX) {
		lex_error(&p->lex, to->at, "a part of a value cannot be assigned");
		source_hint(p->source, "variables ($x) and maps (@x, @x[key]) can be, as a whole");
	} else {
		lex_error(&p->lex, to->at, "only variables ($x) and maps (@x) can be assigned");
	}
	return false;
}

static struct node *parse_assignment(struct parser *p, struct node *to, struct span from)
{
	const int op = parse_next(p).op;
	struct node *n, *value;

	if (!can_assign(p, to))
		return NULL;
	value = parse_expr(p);
	n = value ? parse_join(p, N_ASSIGN, from, op, to, value) : NULL;
	return n && end_statement(p) ? n : NULL;
}

static struct node *parse_discard(struct parser *p)
{
	const struct span from = parse_next(p).at;
	struct node *n, *value;

	parse_next(p);
	value = parse_expr(p);
	n = value ? parse_join(p, N_DISCARD, from, 0, value, NULL) : NULL;
	return n && end_statement(p) ? n : NULL;
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

	if (!e)
		return NULL;
	if (parse_at(p, T_ASSIGN))
		return parse_assignment(p, e, first.at);
	n = parse_join(p, N_EXPR, first.at, 0, e, NULL);
	if (!n)
		return NULL;
	n->is_value = value && parse_at(p, '}');
	return first.kind == '{' || end_statement(p) ? n : NULL;
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
	if (!n)
		return NULL;
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
	yes = no ? block_node(p, n->b, n->at) : NULL;
	t = yes ? parse_node(p, N_TERNARY, n->at) : NULL;
	if (!t)
		return NULL;
	t->at = n->at;
	t->a = n->a;
	t->b = yes;
	t->c = no;
	return parse_finish(p, t);
}

/* An `if` at the end of a block becomes the value of the block, if it has one. */
static void value_of_last(struct parser *p, struct node **last)
{
	struct node *t, *e;

	if (!*last || (*last)->kind != N_IF)
		return;
	t = if_to_value(p, *last);
	e = t ? parse_node(p, N_EXPR, t->at) : NULL;
	if (!e)
		return;
	e->at = t->at;
	e->a = t;
	e->is_value = true;
	*last = parse_finish(p, e);
}

static void read_statements(struct parser *p, struct node **list, bool value)
{
	struct node **end = list, **last = list;
	bool ended = false; /* by a ';', so that the last statement is not a value */

	while (!parse_at(p, '}') && !parse_at(p, T_END)) {
		const unsigned int depth = p->depth;

		if (parse_accept(p, ';')) {
			ended = true;
			continue;
		}
		ended = false;
		if (parse_at_word(p, W_IMPORT)) {
			parse_import(p);
			continue;
		}
		*end = parse_statement(p, value);
		p->depth = depth;
		if (*end) {
			last = end;
			end = &(*end)->next;
		} else {
			p->nesting = 0;
			skip_statement(p);
		}
	}
	if (value && !ended)
		value_of_last(p, last);
}

bool parse_block(struct parser *p, struct node **list, bool value)
{
	const struct token open = *parse_tok(p);
	const bool in_predicate = p->in_predicate;
	const unsigned int nesting = p->nesting;

	if (!parse_expect(p, '{', "'{'") || !parse_enter(p))
		return false;
	p->in_predicate = false;
	read_statements(p, list, value);
	p->in_predicate = in_predicate;
	p->nesting = nesting;
	p->depth--;
	if (parse_accept(p, '}'))
		return true;
	if (!p->lex.stop) {
		const char *name;
		uint32_t line, column;

		parse_unexpected(p, "'}'");
		source_place(p->source, open.at.from, &name, &line, &column);
		source_hint(p->source, "the block begins in line %u", line);
	}
	return false;
}

struct node *parse_block_value(struct parser *p)
{
	const struct span from = parse_tok(p)->at;
	struct node *list = NULL;

	if (!parse_block(p, &list, true))
		return NULL;
	return block_node(p, list, source_join(p->source, from, p->last));
}

struct node *parse_if_value(struct parser *p)
{
	struct node *n = parse_if(p, true), *t;

	if (!n)
		return NULL;
	t = if_to_value(p, n);
	if (!t && !p->lex.stop)
		lex_error(&p->lex, n->at, "an 'if' whose value is used needs one in each branch");
	return t;
}
