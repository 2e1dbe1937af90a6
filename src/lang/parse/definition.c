// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Definitions in C: those between the probes of a script, and those of headers. The parser only
 * finds their ends and the names of types; lang/cdef parses the text.
 */
#include "lang/cdef/cdef.h"
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
static bool add_type(struct parser *p, const char *text, struct span at)
{
	char *name = arena_strndup(p->lex.arena, text + at.from, at.to - at.from);

	if (name && map_set(&p->types, map_hash(name, strlen(name)), name))
		return true;
	lex_no_memory(&p->lex);
	return false;
}

/* Reads up to the ';' of a typedef; of others up to the '}' and the ';' or attributes after it. */
static bool read_c(struct parser *p, bool is_typedef, struct buf *text)
{
	unsigned int open = 0;
	bool had_block = false;
	struct span name = {0, 0};

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
			return !is_typedef || !name.to || add_type(p, p->source->text.data, name);
		} else if (t.kind == T_WORD) {
			name = t.at;
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

/*
 * Remembers the names of typedefs in a text, because casts to them look like expressions. The name
 * is the last word outside of brackets, or that of "(*name)".
 */
static void read_typedefs(struct parser *p, const struct buf *text)
{
	struct clexer lex = {.text = text->data, .end = (uint32_t)text->len};
	unsigned int depth = 0; /* open brackets of any kind */
	bool is_typedef = false, is_final = false;
	struct span name = {0, 0};

	for (struct ctoken t = clex_next(&lex); t.kind != CT_END; t = clex_next(&lex)) {
		const char *word = text->data + t.at.from;
		const size_t len = t.at.to - t.at.from;
		const bool pointer = depth == 1 && t.at.from > 1 && !memcmp(word - 2, "(*", 2);

		if (t.kind == CT_NAME && !depth && len == 7 && !memcmp(word, "typedef", 7)) {
			is_typedef = true;
			is_final = false;
			name.to = 0;
		} else if (t.kind == CT_NAME && is_typedef && !is_final && (!depth || pointer) &&
			   !(len > 6 && !memcmp(word, "__attr", 6))) {
			name = t.at;
			is_final = pointer;
		} else if (t.kind == CT_MARK && (t.op == '(' || t.op == '[' || t.op == '{')) {
			depth++;
		} else if (t.kind == CT_MARK && (t.op == ')' || t.op == ']' || t.op == '}')) {
			depth -= depth > 0;
		} else if (t.kind == CT_MARK && (t.op == ';' || t.op == ',') && !depth) {
			if (is_typedef && name.to && !add_type(p, text->data, name))
				return;
			name.to = 0;
			is_final = false;
			is_typedef &= t.op == ',';
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
