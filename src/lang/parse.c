// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The top of a script: probes, and what stands between them. The parser goes by characters here,
 * because what begins an item may be an attach point, and by tokens within an item.
 */
#include "lang/parser.h"

#include <errno.h>
#include <stdio.h>

/* ---- tokens ---- */

const struct token *parse_peek(struct parser *p, unsigned int ahead)
{
	while (p->nr_ahead <= ahead) {
		const unsigned int at = (p->first + p->nr_ahead++) % PARSE_AHEAD;

		lex_next(&p->lex, &p->ahead[at]);
	}
	return &p->ahead[(p->first + ahead) % PARSE_AHEAD];
}

struct token parse_next(struct parser *p)
{
	const struct token t = *parse_peek(p, 0);

	if (t.kind == T_END)
		return t;
	p->last = t.at;
	p->first = (p->first + 1) % PARSE_AHEAD;
	p->nr_ahead--;
	return t;
}

bool parse_accept(struct parser *p, int kind)
{
	if (!parse_at(p, kind))
		return false;
	parse_next(p);
	return true;
}

void parse_unexpected(struct parser *p, const char *expected)
{
	const struct token *t = parse_tok(p);
	const char *const text = p->source->text.data + t->at.from;
	const uint32_t len = t->at.to - t->at.from;

	if (p->lex.stop || t->kind == T_BAD)
		return;
	if (t->kind == T_END) {
		if (!p->told_end)
			lex_error(&p->lex, t->at, "expected %s, but the script ends here",
				  expected);
		p->told_end = true;
	} else if (len > 40) {
		lex_error(&p->lex, t->at, "expected %s, not '%.36s...'", expected, text);
	} else {
		lex_error(&p->lex, t->at, "expected %s, not '%.*s'", expected, (int)len, text);
	}
}

bool parse_expect(struct parser *p, int kind, const char *what)
{
	if (parse_accept(p, kind))
		return true;
	parse_unexpected(p, what);
	return false;
}

bool parse_enter(struct parser *p)
{
	if (p->depth >= PARSE_MAX_DEPTH) {
		lex_error(&p->lex, parse_tok(p)->at, "this is nested too deeply");
		p->lex.stop = true;
		return false;
	}
	p->depth++;
	return true;
}

/* ---- nodes ---- */

void *parse_alloc(struct parser *p, size_t size)
{
	void *m = arena_alloc(p->lex.arena, size);

	if (!m)
		lex_no_memory(&p->lex);
	return m;
}

struct node *parse_node(struct parser *p, enum node_kind kind, struct span from)
{
	struct node *n = parse_alloc(p, sizeof(*n));

	if (!n)
		return NULL;
	n->kind = kind;
	n->height = 1;
	n->at = source_join(p->source, from, p->last);
	return n;
}

static uint32_t higher(uint32_t height, const struct node *child)
{
	return child && child->height >= height ? child->height + 1 : height;
}

static uint32_t higher_of_type(uint32_t height, const struct type_name *t)
{
	height = higher(higher(height, t->count), t->of);
	for (const struct type_name *e = t->elems; e; e = e->next)
		height = higher_of_type(height, e);
	return height;
}

struct node *parse_finish(struct parser *p, struct node *n)
{
	uint32_t height = 1;

	height = higher(height, n->a);
	height = higher(height, n->b);
	height = higher(height, n->c);
	/* Bodies of statements are lists, too. */
	for (const struct node *s = n->kind > N_EXPR ? n->b : NULL; s; s = s->next)
		height = higher(height, s);
	for (const struct node *s = n->kind > N_EXPR ? n->c : NULL; s; s = s->next)
		height = higher(height, s);
	for (const struct node *s = n->list; s; s = s->next)
		height = higher(height, s);
	if (n->type)
		height = higher_of_type(height, n->type);
	if (height > AST_MAX_HEIGHT) {
		lex_error(&p->lex, n->at, "this is nested too deeply");
		return NULL;
	}
	n->height = height;
	return n;
}

/* ---- items ---- */

/* Goes behind the next block, or to the end: after something that is no item at all. */
static void skip_item(struct parser *p)
{
	unsigned int open = 0;

	while (!parse_at(p, T_END)) {
		const int kind = parse_next(p).kind;

		if (kind == '{')
			open++;
		else if (kind == '}' && (!open || !--open))
			return;
	}
}

/* Behind the ';' or '}' that ends an item in which something was wrong. */
static void skip_to_semicolon(struct parser *p)
{
	unsigned int open = 0;

	while (!parse_at(p, T_END)) {
		const int kind = parse_next(p).kind;

		open += kind == '{';
		if ((kind == ';' && !open) || (kind == '}' && (!open || !--open)))
			return;
	}
}

static bool parse_config_item(struct parser *p)
{
	struct config_item *c = parse_alloc(p, sizeof(*c));
	struct token name = *parse_tok(p), value;

	if (!c || !parse_expect(p, T_WORD, "the name of a setting") ||
	    !parse_expect(p, T_ASSIGN, "'='"))
		return false;
	value = *parse_tok(p);
	if (value.kind != T_WORD && value.kind != T_INT && value.kind != T_STRING) {
		parse_unexpected(p, "a word, a number or a string");
		return false;
	}
	parse_next(p);
	c->name = name.text;
	c->at = name.at;
	c->text = value.text;
	if (value.kind == T_INT) {
		char digits[24];

		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value.num);
		c->text = arena_strdup(p->lex.arena, digits);
	}
	if (!c->text) {
		lex_no_memory(&p->lex);
		return false;
	}
	*p->config_end = c;
	p->config_end = &c->next;
	return true;
}

/* config = { name = value; … } */
static void parse_config(struct parser *p)
{
	parse_next(p);
	if (!parse_expect(p, T_ASSIGN, "'=' after config") ||
	    !parse_expect(p, '{', "'{' after 'config ='")) {
		skip_item(p);
		return;
	}
	while (!parse_at(p, '}') && !parse_at(p, T_END)) {
		if (!parse_config_item(p) ||
		    (!parse_at(p, '}') && !parse_expect(p, ';', "';' after the setting"))) {
			skip_item(p);
			return;
		}
	}
	if (parse_expect(p, '}', "'}' at the end of the settings") && lex_char(&p->lex) == ';')
		parse_next(p);
}

/* let @name = type(entries); */
static bool parse_map_decl(struct parser *p)
{
	const struct span from = parse_next(p).at;
	struct map_decl *m = parse_alloc(p, sizeof(*m));
	struct token name = *parse_tok(p), type, entries;

	if (!m ||
	    !parse_expect(p, T_MAP, "a map after 'let' outside of probes: let @name = hash(100)"))
		return false;
	if (!parse_expect(p, T_ASSIGN, "'=' and the type of the map"))
		return false;
	type = *parse_tok(p);
	if (!parse_expect(p, T_WORD, "the type of the map: hash, lruhash, percpuhash, …") ||
	    !parse_expect(p, '(', "'(' and the number of entries"))
		return false;
	entries = *parse_tok(p);
	if (!parse_expect(p, T_INT, "the number of entries") || !parse_expect(p, ')', "')'"))
		return false;
	m->at = source_join(p->source, from, p->last);
	m->name = name.text;
	m->type = type.text;
	m->entries = entries.num;
	*p->maps_end = m;
	p->maps_end = &m->next;
	if (lex_char(&p->lex) == ';')
		parse_next(p);
	return true;
}

/* ---- definitions in C ---- */

/* The text of a definition in which something was replaced or left out, as a part of its own. */
static bool rewrite_c(struct parser *p, struct buf *text, struct span *at)
{
	if (!source_add_expansion(p->source, "this definition", (struct span){0, 0}, text->data,
				  text->len, *at)) {
		lex_no_memory(&p->lex);
		return false;
	}
	at->to = (uint32_t)p->source->text.len - 1;
	at->from = at->to - (uint32_t)text->len;
	return true;
}

/* Remembers that a name is a type. */
static bool add_type(struct parser *p, const char *name)
{
	struct own_type *t;

	if (p->nr_types++ >= PARSE_MAX_NAMES)
		return true;
	t = parse_alloc(p, sizeof(*t));
	if (!t)
		return false;
	*t = (struct own_type){p->types, name};
	p->types = t;
	return true;
}

/* Up to the ';' of a typedef; of the others up to the '}', and a ';' or attributes behind it. */
static bool read_c(struct parser *p, bool is_typedef, struct buf *text)
{
	unsigned int open = 0;
	bool had_block = false;
	const char *name = NULL;

	for (;;) {
		const struct token t = parse_next(p);

		if (t.kind == T_END) {
			parse_unexpected(p, open ? "'}' at the end of the definition" : "';'");
			return false;
		}
		if (text->len)
			buf_putc(text, ' ');
		buf_put(text, p->source->text.data + t.at.from, t.at.to - t.at.from);
		if (t.kind == '{' || t.kind == '(') {
			open++;
			had_block |= t.kind == '{';
		} else if ((t.kind == '}' || t.kind == ')') && open) {
			open--;
			if (open || is_typedef || !had_block)
				continue;
			if (lex_char(&p->lex) != ';' && lex_char(&p->lex) != '_')
				return true;
		} else if (t.kind == ';' && !open) {
			return !is_typedef || !name || add_type(p, name);
		} else if (t.kind == T_WORD) {
			name = t.text;
		}
	}
}

static void parse_c(struct parser *p, bool is_typedef)
{
	const size_t parts = p->source->parts.n;
	const struct span from = parse_tok(p)->at;
	struct c_text *c = parse_alloc(p, sizeof(*c));
	struct buf text;
	bool directives;

	if (!c)
		return;
	buf_init(&text, SOURCE_LIMIT);
	if (read_c(p, is_typedef, &text)) {
		c->at = source_join(p->source, from, p->last);
		/* A directive may be anywhere, but then it begins a line. */
		directives =
			memmem(p->source->text.data + c->at.from, c->at.to - c->at.from, "#", 1);
		if ((!directives && parts == p->source->parts.n) || rewrite_c(p, &text, &c->at)) {
			*p->c_end = c;
			p->c_end = &c->next;
		}
	}
	buf_free(&text);
}

/* ---- the script ---- */

/* Reads the next file that waits for the input on top; any, when that is not asked for. */
static bool start_import(struct parser *p, bool any)
{
	for (struct import **i = &p->imports; *i; i = &(*i)->next) {
		struct import *const found = *i;

		if (found->depth == p->lex.nr_in || any) {
			*i = found->next;
			return lex_push(&p->lex, found->text, false, found->by);
		}
	}
	return false;
}

static void parse_item(struct parser *p)
{
	const enum word w = lex_peek_word(&p->lex);

	p->depth = 0;
	switch (w) {
	case W_CONFIG: parse_config(p); break;
	case W_MACRO: parse_macro(p); break;
	case W_IMPORT: parse_import(p); break;
	case W_STRUCT:
	case W_UNION:
	case W_ENUM:
	case W_TYPEDEF: parse_c(p, w == W_TYPEDEF); break;
	case W_LET:
		if (!parse_map_decl(p))
			skip_to_semicolon(p);
		break;
	case W_FN: parse_function(p); break;
	default: parse_probe(p);
	}
}

/* Characters are looked at next: tokens that have been are given back. */
static void give_back(struct parser *p)
{
	const struct token *t = &p->ahead[p->first];
	struct lex_input *in;

	if (p->nr_ahead && t->kind != T_END && p->lex.nr_in) {
		in = lex_top(&p->lex);
		if (!in->expansion && t->at.from <= in->pos)
			in->pos = t->at.from;
	}
	p->nr_ahead = 0;
}

static void parse_script(struct parser *p)
{
	while (!p->lex.stop) {
		int c;

		give_back(p);
		if (start_import(p, false))
			continue;
		c = lex_char(&p->lex);
		/* That may have been the end of a file, and another one waits for its place. */
		if (start_import(p, false))
			continue;
		if (c < 0) {
			if (!start_import(p, true))
				return;
		} else if (c == ';') {
			parse_next(p);
		} else {
			parse_item(p);
		}
	}
}

/*
 * Files of the command line are read before the script, the first one first. What is not there is a
 * header of the kernel, as in angle brackets.
 */
static void push_files(struct lexer *l)
{
	const char *const *files = l->opt ? l->opt->include_files : NULL;
	struct span text;
	size_t n = 0;

	while (files && files[n])
		n++;
	while (n-- && !l->stop)
		if (pp_add_file(l, files[n], (struct span){0, 0}, &text) > 0)
			lex_push(l, text, false, (struct span){0, 0});
}

int parse_bpftrace(struct source *source, const struct parse_options *opt, struct script_ast *ast)
{
	struct parser p = {.source = source, .ast = ast};
	const unsigned int errors = source->errors;

	*ast = (struct script_ast){.source = source, .arena = source->arena};
	p.probes_end = &ast->probes;
	p.maps_end = &ast->maps;
	p.config_end = &ast->config;
	p.c_end = &ast->c;
	lex_init(&p.lex, source, opt);
	if (source->parts.n) {
		const struct source_part *last = &source->parts.at[source->parts.n - 1];

		lex_push(&p.lex, (struct span){last->from, source_part_end(source, last)}, false,
			 (struct span){0, 0});
		push_files(&p.lex);
	}
	parse_script(&p);
	if (!p.lex.stop && source->errors == errors && !ast->probes)
		lex_error(&p.lex, (struct span){0, 0}, "there is no probe in this script");
	if (source->errors == errors)
		macro_expand(&p);
	lex_free(&p.lex);
	return source->errors == errors ? 0 : -EINVAL;
}
