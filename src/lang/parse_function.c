// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions of the script: fn name($a : type, …) : type { … }. A call is replaced as the use of a
 * macro is (macro.c); how it is checked and compiled is in function.c.
 */
#include "lang/check.h"
#include "lang/parser.h"

static bool is_void(const struct type_name *t)
{
	return t->name && !t->pointers && !t->is_array && strcmp(t->name, "void") == 0;
}

/* $name : type */
static bool parse_param(struct parser *p, struct macro_def *m)
{
	struct macro_param *param = &m->params[m->nr_params];
	const struct token t = *parse_tok(p);

	if (m->nr_params == MACRO_MAX_PARAMS) {
		lex_error(&p->lex, t.at, "a function has at most %d parameters", MACRO_MAX_PARAMS);
		return false;
	}
	if (!parse_expect(p, T_VAR, "a parameter: $name : type"))
		return false;
	for (unsigned int i = 0; i < m->nr_params; i++)
		if (strcmp(m->params[i].name, t.text) == 0) {
			lex_error(&p->lex, t.at, "there is a parameter $%s already", t.text);
			return false;
		}
	if (!parse_expect(p, ':', "':' and the type of the parameter"))
		return false;
	param->kind = N_VAR;
	param->name = t.text;
	param->type = parse_type(p);
	if (!param->type)
		return false;
	if (is_void(param->type)) {
		lex_error(&p->lex, param->type->at, "a parameter cannot be void");
		return false;
	}
	m->nr_params++;
	return true;
}

static bool parse_head(struct parser *p, struct macro_def *m)
{
	if (!parse_expect(p, '(', "'(' after the function's name"))
		return false;
	while (!parse_at(p, ')')) {
		if (!parse_param(p, m))
			return false;
		if (!parse_accept(p, ','))
			break;
	}
	if (!parse_expect(p, ')', "',' or ')' after a parameter"))
		return false;
	if (!parse_accept(p, ':'))
		return true;
	m->returns = parse_type(p);
	if (!m->returns)
		return false;
	if (is_void(m->returns))
		m->returns = NULL;
	return true;
}

void parse_function(struct parser *p)
{
	struct macro_def *m = macro_begin(p, "a name after 'fn'");
	bool good;

	if (!m)
		return;
	m->is_function = true;
	good = parse_head(p, m);
	while (!good && !parse_at(p, '{') && !parse_at(p, '}') && !parse_at(p, T_END))
		parse_next(p);
	if (!parse_block(p, &m->body, false) || !good || !*m->name)
		return;
	macro_add(p, m);
	if (builtin_find(m->name, false) || builtin_find(m->name, true))
		source_warning(p->source, m->at, "function '%s' replaces the builtin of this name",
			       m->name);
}
