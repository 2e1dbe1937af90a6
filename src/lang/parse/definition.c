// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Definitions in C: those between the probes of a script, and those of headers. The parser only
 * finds their ends and the names of types; lang/cdef parses the text.
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
	if (map_set(&p->types, map_hash(name, strlen(name)), (void *)name))
		return true;
	lex_no_memory(&p->lex);
	return false;
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

/* ---- headers ---- */

struct typedef_reader {
	struct parser *p;
	const char *start, *at, *end;
	const char *name; /* the word that may be the name of the typedef; NULL: not yet */
	size_t len;
	unsigned int depth; /* open brackets of any kind */
	bool is_typedef;
	bool is_final; /* the name is that of "(*name)" */
};

static void add_name(struct typedef_reader *r)
{
	const char *copy = arena_strndup(r->p->lex.arena, r->name, r->len);

	if (copy)
		add_type(r->p, copy);
	else
		lex_no_memory(&r->p->lex);
	r->name = NULL;
	r->is_final = false;
}

/* After "typedef" the last word outside of brackets is its name, or that of "(*name)". */
static void read_word(struct typedef_reader *r, const char *word, size_t len)
{
	const bool is_pointer = r->depth == 1 && word - r->start > 1 && !memcmp(word - 2, "(*", 2);

	if (!r->depth && len == 7 && !memcmp(word, "typedef", 7)) {
		r->is_typedef = true;
		r->is_final = false;
		r->name = NULL;
	} else if (r->is_typedef && !r->is_final && (!r->depth || is_pointer) &&
		   !(len > 6 && !memcmp(word, "__attr", 6))) {
		r->name = word;
		r->len = len;
		r->is_final = is_pointer;
	}
}

static void read_mark(struct typedef_reader *r, char c)
{
	if (c == '(' || c == '[' || c == '{') {
		r->depth++;
	} else if (c == ')' || c == ']' || c == '}') {
		r->depth -= r->depth > 0;
	} else if ((c == ';' || c == ',') && !r->depth) {
		if (r->is_typedef && r->name)
			add_name(r);
		r->is_typedef &= c == ',';
	}
}

/* Remembers the names of typedefs in a text, because casts to them look like expressions. */
static void read_typedefs(struct parser *p, const struct buf *text)
{
	struct typedef_reader r = {
		.p = p, .start = text->data, .at = text->data, .end = text->data + text->len};

	while (r.at < r.end && !p->lex.stop) {
		const uint32_t left = (uint32_t)(r.end - r.at), pass = lex_skip(r.at, 0, left);
		const char *from = r.at;

		if (*r.at == '#') {
			r.at = memchr(r.at, '\n', left);
			if (!r.at)
				return;
		} else if (pass) {
			r.at += pass;
		} else if (lex_is_name(*r.at)) {
			while (r.at < r.end && lex_is_name(*r.at))
				r.at++;
			if (lex_is_name_start(*from))
				read_word(&r, from, (size_t)(r.at - from));
		} else {
			read_mark(&r, *r.at++);
		}
	}
}

static void add_text(struct parser *p, const char *name, struct span by, enum c_origin origin,
		     const struct buf *text)
{
	const char *from = text->data, *end = text->data + text->len;
	struct c_text *c;

	while (from < end && lex_is_blank(*from))
		from++;
	while (end > from && lex_is_blank(end[-1]))
		end--;
	if (from == end)
		return;
	c = parse_alloc(p, sizeof(*c));
	if (!c)
		return;
	read_typedefs(p, text);
	if (!source_add(p->source, name, from, (size_t)(end - from), by)) {
		lex_no_memory(&p->lex);
		return;
	}
	c->at.to = (uint32_t)p->source->text.len - 1;
	c->at.from = c->at.to - (uint32_t)(end - from);
	c->origin = origin;
	*p->c_end = c;
	p->c_end = &c->next;
}

void parse_system_headers(struct parser *p)
{
	struct buf *text = pp_header_text(&p->lex);

	if (!text)
		return;
	add_text(p, "headers", (struct span){0, 0}, C_OF_SYSTEM, text);
	buf_reset(text);
}

void parse_header(struct parser *p)
{
	unsigned int first = p->lex.nr_in;
	const struct source_part *part;
	struct buf text;

	/* It may have begun with a header of its own. */
	while (first > 1 && p->lex.in[first - 2].is_c)
		first--;
	part = source_part_of(p->source, p->lex.in[first - 1].pos);
	buf_init(&text, SOURCE_LIMIT);
	if (part) {
		const char *name = part->name;
		const struct span by = part->by;

		pp_copy_c(&p->lex, first, &text);
		parse_system_headers(p);
		add_text(p, name, by, C_OF_FILE, &text);
	}
	buf_free(&text);
}
