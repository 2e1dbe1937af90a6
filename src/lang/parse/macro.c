// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Macros and functions of the script. They are replaced in the tree after the whole script has been
 * read, so that they can be used before they are defined. Each call of a function is a copy, too:
 * the verifiers of all kernels accept that.
 *
 * A use becomes a copy of the body. Parameters are replaced by the arguments, and the macro's own
 * variables get unique names. The places of the copy are in a part of the source of their own that
 * knows the use: errors are shown at the use. Errors in a function are shown in the function.
 */
#include <stdio.h>

#include "lang/check/check.h"
#include "lang/parse/parser.h"

enum {
	MAX_NODES = 100000, /* of all expansions together */
	MAX_WALK = 2000,    /* depth of nesting, through macros that use other macros */
};

struct expansion {
	struct parser *p;
	const struct macro_def *macro; /* NULL: an argument, which is copied as it is */
	struct node *args[MACRO_MAX_PARAMS];
	unsigned int number;
	uint32_t part; /* the beginning of the copy of the body's text */
};

/* An error (p->wrong) ends everything. */
struct walk {
	struct parser *p;
	unsigned int depth, uses, nodes;
};

/* ---- definitions ---- */

static struct macro_def *find(const struct parser *p, const char *name)
{
	for (struct macro_def *m = p->macros; m; m = m->next)
		if (!strcmp(m->name, name))
			return m;
	return NULL;
}

/* Whether a node is a use: a call, or the name of a macro without parameters. */
static bool is_use(const struct parser *p, const struct node *n)
{
	const struct macro_def *m;

	if (n->kind != N_CALL && n->kind != N_NAME)
		return false;
	m = find(p, n->name);
	while (m && n->kind == N_NAME && (m->nr_params || strcmp(m->name, n->name) != 0))
		m = m->next;
	return m;
}

static void parse_params(struct parser *p, struct macro_def *m)
{
	/* A macro without parameters may have no brackets. */
	if (parse_at(p, '{'))
		return;
	parse_expect(p, '(', "'(' after the macro's name");
	while (!parse_at(p, ')')) {
		const struct token t = *parse_tok(p);
		if (m->nr_params == MACRO_MAX_PARAMS)
			parse_fail(p, t.at, "a macro has at most %d parameters", MACRO_MAX_PARAMS);
		else if (t.kind != T_VAR && t.kind != T_MAP && t.kind != T_WORD)
			parse_unexpected(p, "a parameter: $variable, @map, or a name");
		if (p->wrong)
			return;
		parse_next(p);
		m->params[m->nr_params++] = (struct macro_param){
			.kind = t.kind == T_VAR	  ? N_VAR
				: t.kind == T_MAP ? N_MAP
						  : N_NAME,
			.name = t.text,
		};
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, ')', "',' or ')' after a parameter");
}

static bool same_params(const struct macro_def *a, const struct macro_def *b)
{
	if (a->nr_params != b->nr_params)
		return false;
	for (unsigned int i = 0; i < a->nr_params; i++)
		if (a->params[i].kind != b->params[i].kind)
			return false;
	return true;
}

static const char *kind_of(const struct macro_def *m)
{
	return m->is_function ? "function" : "macro";
}

void macro_add(struct parser *p, struct macro_def *m)
{
	struct macro_def **end = &p->macros;
	unsigned int n = 0;

	for (; *end; end = &(*end)->next, n++) {
		const struct macro_def *e = *end;

		if (!strcmp(e->name, m->name) &&
		    (e->is_function || m->is_function || same_params(e, m))) {
			lex_error(&p->lex, m->at, "there is a %s '%s' already", kind_of(e),
				  m->name);
			return;
		}
	}
	if (n >= PARSE_MAX_NAMES)
		lex_error(&p->lex, m->at, "there are more than %d macros and functions",
			  PARSE_MAX_NAMES);
	else
		*end = m;
}

struct macro_def *macro_begin(struct parser *p, const char *expected)
{
	struct macro_def *m = parse_alloc(p, sizeof(*m));
	struct token name;

	parse_next(p);
	name = *parse_tok(p);
	if (!m)
		return NULL;
	if (name.kind == T_WORD && name.word != W_NONE) {
		lex_error(&p->lex, name.at, "'%s' is a word of the language, not a name",
			  name.text);
		parse_next(p);
	} else if (!parse_expect(p, T_WORD, expected)) {
		name.text = "";
		p->wrong = false;
	}
	m->name = name.text;
	m->at = name.at;
	return m;
}

void parse_macro(struct parser *p)
{
	struct macro_def *m = macro_begin(p, "a name after 'macro'");
	struct span from;

	if (!m)
		return;
	parse_params(p, m);
	if (p->wrong)
		parse_skip_to_body(p);
	from = parse_tok(p)->at;
	p->macro = m;
	m->body = parse_block(p, true);
	p->macro = NULL;
	if (p->wrong)
		return;
	m->body_at = source_join(p->source, from, p->last);
	macro_add(p, m);
}

/* ---- copies ---- */

static struct node *copy(struct walk *w, const struct expansion *x, const struct node *n);

static struct node *copy_list(struct walk *w, const struct expansion *x, const struct node *list)
{
	struct node *first = NULL, **end = &first;

	for (; list && !w->p->wrong; list = list->next) {
		*end = copy(w, x, list);
		end = &(*end)->next;
	}
	return first;
}

static struct type_name *copy_type(struct walk *w, const struct expansion *x,
				   const struct type_name *t)
{
	struct type_name *c = parse_alloc(w->p, sizeof(*c));

	if (!c)
		return NULL;
	*c = *t;
	if (t->count)
		c->count = copy(w, x, t->count);
	if (t->of)
		c->of = copy(w, x, t->of);
	for (struct type_name **e = &c->elems; *e; e = &(*e)->next) {
		*e = copy_type(w, x, *e);
		if (!*e)
			break;
	}
	return c;
}

/* The place in the copy of the body's text; text of the preprocessor stays where it is. */
static struct span move_place(const struct expansion *x, struct span at)
{
	const struct span *body = &x->macro->body_at;

	if (at.from < body->from || at.to > body->to)
		return (struct span){x->part, x->part + 1};
	return (struct span){x->part + at.from - body->from, x->part + at.to - body->from};
}

static int param_of(const struct expansion *x, const struct node *n)
{
	for (unsigned int i = 0; !x->macro->is_function && i < x->macro->nr_params; i++)
		if (x->macro->params[i].kind == n->kind &&
		    !strcmp(x->macro->params[i].name, n->name))
			return (int)i;
	return -1;
}

/* The unique name of a variable of the body in this copy. */
static const char *own_name(const struct expansion *x, const char *name)
{
	char text[128];
	const char *own;

	snprintf(text, sizeof(text), "%.100s~%u", name, x->number);
	own = arena_strdup(x->p->lex.arena, text);
	if (!own)
		lex_no_memory(&x->p->lex);
	x->p->wrong |= !own;
	return own;
}

/* Copies variables and names of the body; parameters become the arguments. */
static void copy_name(struct walk *w, const struct expansion *x, const struct node *n,
		      struct node *c)
{
	const int param = param_of(x, n);

	if (n->kind == N_NAME && param >= 0) {
		const struct expansion argument = {.p = x->p};

		*c = *copy(w, &argument, x->args[param]);
		c->next = NULL;
	} else if (param >= 0) {
		c->name = x->args[param]->name;
	} else if (n->kind == N_VAR) {
		c->name = own_name(x, n->name);
	}
}

static struct node *copy(struct walk *w, const struct expansion *x, const struct node *n)
{
	struct node *c = parse_node(w->p, n->kind, n->at);

	if (w->nodes++ >= MAX_NODES)
		parse_fail(w->p, n->at, "the macros of this script become too much");
	if (w->p->wrong)
		return c;
	*c = *n;
	c->next = NULL;
	if (x->macro && !x->macro->is_function)
		c->at = move_place(x, n->at);
	/* Parts of statements are lists. */
	c->a = copy_list(w, x, n->a);
	c->b = copy_list(w, x, n->b);
	c->c = copy_list(w, x, n->c);
	c->list = copy_list(w, x, n->list);
	if (n->type)
		c->type = copy_type(w, x, n->type);
	if (x->macro && (n->kind == N_VAR || n->kind == N_MAP || n->kind == N_NAME))
		copy_name(w, x, n, c);
	if (n->kind == N_LET && c->a)
		c->name = c->a->name;
	return parse_finish(w->p, c);
}

/* ---- uses ---- */

static bool takes(const struct macro_param *param, const struct node *arg)
{
	return param->kind == N_NAME || param->type || (param->kind == arg->kind && !arg->has_keys);
}

static void report_wrong_args(struct walk *w, const struct node *n, const struct macro_def *m,
			      unsigned int given)
{
	const struct node *arg = n->list;

	if (given != m->nr_params) {
		lex_error(&w->p->lex, n->at, "%s '%s' takes %u argument%s, not %u", kind_of(m),
			  m->name, m->nr_params, m->nr_params == 1 ? "" : "s", given);
		return;
	}
	for (unsigned int i = 0; i < given; i++, arg = arg->next)
		if (!takes(&m->params[i], arg))
			lex_error(&w->p->lex, arg->at,
				  "macro '%s' needs a %s as argument %u, its %s%s", m->name,
				  m->params[i].kind == N_VAR ? "variable" : "map", i + 1,
				  m->params[i].kind == N_VAR ? "$" : "@", m->params[i].name);
}

/*
 * The macro of that name that accepts these arguments. If none does, reports why: of one with as
 * many parameters, if there is one.
 */
static struct macro_def *choose(struct walk *w, struct node *n, struct expansion *x)
{
	struct macro_def *nearest = NULL;
	unsigned int given = 0;

	for (struct node *a = n->list; a; a = a->next, given++)
		if (given < MACRO_MAX_PARAMS)
			x->args[given] = a;
	for (struct macro_def *m = find(w->p, n->name); m; m = m->next) {
		unsigned int i = 0;

		if (strcmp(m->name, n->name) != 0)
			continue;
		if (!nearest || nearest->nr_params != given)
			nearest = m;
		while (given == m->nr_params && i < given && takes(&m->params[i], x->args[i]))
			i++;
		if (given == m->nr_params && i == given)
			return m;
	}
	report_wrong_args(w, n, nearest, given);
	w->p->wrong = true;
	return NULL;
}

static void add_text(struct walk *w, struct expansion *x, const struct node *n)
{
	struct source *const s = w->p->source;
	const struct span body = x->macro->body_at;
	const size_t len = body.to - body.from;
	struct buf text;
	bool good;

	/* The text of the source may move while it grows. */
	buf_init(&text, SOURCE_LIMIT);
	buf_put(&text, s->text.data + body.from, len);
	good = !buf_full(&text) &&
	       source_add_expansion(s, x->macro->name, x->macro->at, text.data, len, n->at);
	buf_free(&text);
	x->part = (uint32_t)(s->text.len - len - 1);
	if (!good)
		lex_no_memory(&w->p->lex);
	w->p->wrong |= !good;
}

static struct node *walk(struct walk *w, struct node *n);
static void walk_list(struct walk *w, struct node **list);

/* let $name : type = value; */
static struct node *make_let(struct walk *w, const struct expansion *x, const char *name,
			     struct type_name *type, struct node *value)
{
	const struct span at = value ? value->at : x->macro->at;
	struct node *let = parse_node(w->p, N_LET, at), *var = parse_node(w->p, N_VAR, at);

	var->name = let->name = own_name(x, name);
	var->at = let->at = at;
	let->type = type;
	let->a = var;
	let->b = value;
	if (value)
		value->next = NULL;
	return parse_finish(w->p, let);
}

/* Makes the call of a function from the copy of its body. */
static struct node *make_call(struct walk *w, struct expansion *x, struct node *body)
{
	const struct macro_def *m = x->macro;
	struct node *call = parse_node(w->p, N_FUNC, body->at), **end = &call->list;

	call->at = body->at;
	body->at = m->at;
	call->name = m->name;
	call->a = body;
	for (unsigned int i = 0; i < m->nr_params && !w->p->wrong; i++) {
		*end = make_let(w, x, m->params[i].name, m->params[i].type, x->args[i]);
		end = &(*end)->next;
	}
	if (m->returns)
		call->b = make_let(w, x, "return", m->returns, NULL);
	return parse_finish(w->p, call);
}

/* Replaces a use by the body: a block, or its only expression. */
static struct node *replace(struct walk *w, struct node *n)
{
	struct expansion x = {.p = w->p, .number = ++w->uses};
	struct macro_def *m = choose(w, n, &x);
	struct node *c;

	if (m && m->active)
		parse_fail(w->p, n->at, "%s '%s' %s itself", kind_of(m), m->name,
			   m->is_function ? "calls" : "uses");
	if (w->p->wrong)
		return n;
	x.macro = m;
	if (!m->is_function)
		add_text(w, &x, n);
	c = parse_node(w->p, N_BLOCK, n->at);
	c->at = n->at;
	c->list = copy_list(w, &x, m->body);
	m->active = m->used = true;
	walk_list(w, &c->list);
	m->active = false;
	parse_finish(w->p, c);
	if (m->is_function)
		c = make_call(w, &x, c);
	else if (c->list && c->list->is_value)
		c = c->list->a;
	c->next = n->next;
	return c;
}

static void walk_list(struct walk *w, struct node **list)
{
	for (; *list && !w->p->wrong; list = &(*list)->next)
		*list = walk(w, *list);
}

static void walk_type(struct walk *w, struct type_name *t)
{
	if (t->count)
		t->count = walk(w, t->count);
	if (t->of)
		t->of = walk(w, t->of);
	for (struct type_name *e = t->elems; e; e = e->next)
		walk_type(w, e);
}

static struct node *walk(struct walk *w, struct node *n)
{
	if (++w->depth > MAX_WALK)
		parse_fail(w->p, n->at, "macros are nested too deeply");
	if (w->p->wrong)
		return n;
	walk_list(w, &n->a);
	walk_list(w, &n->b);
	walk_list(w, &n->c);
	walk_list(w, &n->list);
	if (n->type)
		walk_type(w, n->type);
	if (!w->p->wrong && is_use(w->p, n))
		n = replace(w, n);
	else
		parse_finish(w->p, n);
	w->depth--;
	return n;
}

/* A call without arguments of a function that nothing calls, for the checker. */
static struct node *call_unused(struct walk *w, struct macro_def *m)
{
	struct expansion x = {.p = w->p, .macro = m, .number = ++w->uses};
	struct node *body = parse_node(w->p, N_BLOCK, m->at);
	struct node *call = parse_node(w->p, N_EXPR, m->at);

	body->at = call->at = m->at;
	body->list = copy_list(w, &x, m->body);
	m->active = true;
	walk_list(w, &body->list);
	m->active = false;
	parse_finish(w->p, body);
	call->a = make_call(w, &x, body);
	return parse_finish(w->p, call);
}

static void look_at_unused(struct walk *w)
{
	struct node **end = &w->p->ast->unused;

	for (struct macro_def *m = w->p->macros; m && !w->p->wrong; m = m->next)
		if (m->is_function && !m->used) {
			*end = call_unused(w, m);
			end = &(*end)->next;
		}
}

void macro_expand(struct parser *p)
{
	struct walk w = {.p = p};

	if (!p->macros)
		return;
	for (struct probe_def *d = p->ast->probes; d && !p->wrong; d = d->next) {
		walk_list(&w, &d->predicate);
		walk_list(&w, &d->body);
	}
	look_at_unused(&w);
}

/* ---- functions: fn name($a : type, …) : type { … } ---- */

static bool is_void(const struct type_name *t)
{
	return t->name && !t->pointers && !t->is_array && strcmp(t->name, "void") == 0;
}

/* $name : type */
static void parse_param(struct parser *p, struct macro_def *m)
{
	const struct token t = *parse_tok(p);
	struct macro_param param = {.kind = N_VAR, .name = t.text};

	if (m->nr_params == MACRO_MAX_PARAMS)
		parse_fail(p, t.at, "a function has at most %d parameters", MACRO_MAX_PARAMS);
	parse_expect(p, T_VAR, "a parameter: $name : type");
	for (unsigned int i = 0; i < m->nr_params && !p->wrong; i++)
		if (strcmp(m->params[i].name, t.text) == 0)
			parse_fail(p, t.at, "there is a parameter $%s already", t.text);
	parse_expect(p, ':', "':' and the type of the parameter");
	param.type = parse_type(p);
	if (is_void(param.type))
		parse_fail(p, param.type->at, "a parameter cannot be void");
	if (!p->wrong)
		m->params[m->nr_params++] = param;
}

static void parse_head(struct parser *p, struct macro_def *m)
{
	parse_expect(p, '(', "'(' after the function's name");
	while (!parse_at(p, ')')) {
		parse_param(p, m);
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, ')', "',' or ')' after a parameter");
	if (!parse_accept(p, ':'))
		return;
	m->returns = parse_type(p);
	if (is_void(m->returns))
		m->returns = NULL;
}

void parse_function(struct parser *p)
{
	struct macro_def *m = macro_begin(p, "a name after 'fn'");
	bool good;

	if (!m)
		return;
	m->is_function = true;
	parse_head(p, m);
	good = !p->wrong;
	if (!good)
		parse_skip_to_body(p);
	m->body = parse_block(p, false);
	if (p->wrong || !good || !*m->name)
		return;
	macro_add(p, m);
	if (builtin_find(m->name, false) || builtin_find(m->name, true))
		source_warning(p->source, m->at, "function '%s' replaces the builtin of this name",
			       m->name);
}
