// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Definitions in C between the probes of a script. The parser only finds their ends and the names
 * of types; lang/cdef parses the text.
 */
#include "lang/parse/parser.h"

/* Adds the text of a definition as a new part, if something in it was replaced or left out. */
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

/* Reads up to the ';' of a typedef; of others up to the '}' and the ';' or attributes after it. */
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

void parse_definition(struct parser *p, bool is_typedef)
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
		/* A directive begins a line. */
		directives =
			memmem(p->source->text.data + c->at.from, c->at.to - c->at.from, "#", 1);
		if ((!directives && parts == p->source->parts.n) || rewrite_c(p, &text, &c->at)) {
			*p->c_end = c;
			p->c_end = &c->next;
		}
	}
	buf_free(&text);
}
