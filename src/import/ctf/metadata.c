// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * CTF's metadata: types, and blocks that describe the trace, its clock and environment, streams and
 * events.
 *
 *	event {
 *		name = "sched_switch";
 *		id = 5;
 *		stream_id = 0;
 *		fields := struct { … };
 *	};
 */
#include "import/ctf/ctf.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"

/* ---- words ---------------------------------------------------------------------------- */

enum word_kind { CTF_END, CTF_NAME, CTF_NUMBER, CTF_TEXT, CTF_MARK };

struct lexer {
	const char *at, *end;
	uint32_t line;
	enum word_kind word; /* the current one */
	const char *text;
	size_t len;
	int64_t number;
	char mark[4]; /* ":=", "...", "{" and so on */
	bool bad;
};

struct parser {
	struct ctf_metadata *m;
	struct lexer lex;
	const char *why; /* what is wrong; NULL: nothing */
};

static bool parse_fail(struct parser *p, const char *why)
{
	if (!p->why)
		p->why = why;
	return false;
}

/* What a function returns that has found a mistake. */
static void *none(bool ok)
{
	return NULL;
}

static bool starts(const struct lexer *l, const char *text)
{
	const size_t len = strlen(text);

	return (size_t)(l->end - l->at) >= len && memcmp(l->at, text, len) == 0;
}

static void step(struct lexer *l)
{
	if (*l->at++ == '\n')
		l->line++;
}

static void skip_to(struct lexer *l, const char *mark)
{
	while (l->at < l->end && !starts(l, mark))
		step(l);
	l->at += starts(l, mark) ? strlen(mark) : 0;
}

static void skip_blanks(struct lexer *l)
{
	while (l->at < l->end) {
		if (isspace((unsigned char)*l->at)) {
			step(l);
		} else if (starts(l, "/*")) {
			l->at += 2;
			skip_to(l, "*/");
		} else if (starts(l, "//")) {
			while (l->at < l->end && *l->at != '\n')
				l->at++;
		} else {
			break;
		}
	}
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static void take_number(struct lexer *l)
{
	char digits[32];
	const char *start = l->at;
	size_t n;

	while (l->at < l->end && is_letter(*l->at))
		l->at++;
	n = (size_t)(l->at - start);
	if (n >= sizeof(digits)) {
		l->bad = true;
		n = sizeof(digits) - 1;
	}
	memcpy(digits, start, n);
	digits[n] = '\0';
	l->word = CTF_NUMBER;
	l->number = (int64_t)strtoull(digits, NULL, 0);
}

static void take_text_word(struct lexer *l)
{
	l->word = CTF_TEXT;
	l->text = ++l->at;
	while (l->at < l->end && *l->at != '"') {
		if (*l->at == '\\' && l->at + 1 < l->end)
			step(l);
		step(l);
	}
	l->len = (size_t)(l->at - l->text);
	if (l->at < l->end)
		l->at++;
	else
		l->bad = true;
}

static void lexer_next(struct lexer *l)
{
	static const char *const marks[] = {"...", ":=", "->", NULL};

	skip_blanks(l);
	l->mark[0] = '\0';
	l->len = 0;
	l->word = CTF_END;
	if (l->at >= l->end)
		return;
	if (isdigit((unsigned char)*l->at)) {
		take_number(l);
	} else if (is_letter(*l->at)) {
		l->word = CTF_NAME;
		l->text = l->at;
		while (l->at < l->end && is_letter(*l->at))
			l->at++;
		l->len = (size_t)(l->at - l->text);
	} else if (*l->at == '"') {
		take_text_word(l);
	} else {
		size_t len = 1;

		for (size_t i = 0; marks[i]; i++)
			if (starts(l, marks[i]))
				len = strlen(marks[i]);
		l->word = CTF_MARK;
		memcpy(l->mark, l->at, len);
		l->mark[len] = '\0';
		l->at += len;
	}
}

static bool lexer_is(const struct lexer *l, const char *mark)
{
	return l->word == CTF_MARK && strcmp(l->mark, mark) == 0;
}

static bool lexer_named(const struct lexer *l, const char *name)
{
	return l->word == CTF_NAME && l->len == strlen(name) && memcmp(l->text, name, l->len) == 0;
}

static bool lexer_take(struct lexer *l, const char *mark)
{
	if (!lexer_is(l, mark))
		return false;
	lexer_next(l);
	return true;
}

/* ---- types ---- */

/*
 * Types:
 *
 *	integer { size = 32; align = 8; signed = false; … }
 *	floating_point { … }
 *	string { encoding = UTF8; }
 *	enum NAME : TYPE { a, b = 5, c = 7 ... 9 }
 *	struct NAME { FIELDS } align(8)
 *	variant NAME <tag> { FIELDS }
 *
 * and names that "typealias TYPE := NAME;" has given them. Names are global here, as all known
 * writers use them.
 */

/* ---- numbers and strings: what stands in the braces ------------------------------------ */

static struct ctf_type *new_type(struct parser *p, enum ctf_kind kind)
{
	struct ctf_type *t = arena_alloc(p->m->arena, sizeof(*t));

	if (!t)
		return none(parse_fail(p, "there is too much of it"));
	t->kind = kind;
	t->align = kind == CTF_STRING ? 8 : 1;
	return t;
}

static bool expect(struct parser *p, const char *mark, const char *why)
{
	return lexer_take(&p->lex, mark) || parse_fail(p, why);
}

static bool is_one_of(const struct lexer *l, const char *const *names)
{
	for (; *names; names++)
		if (lexer_named(l, *names))
			return true;
	return false;
}

static void set_attribute(struct parser *p, struct ctf_type *t, const char *name, size_t len,
			  bool is_float)
{
	static const char *const little[] = {"le", NULL};
	static const char *const big[] = {"be", "network", NULL};
	static const char *const yes[] = {"true", "TRUE", NULL};
	static const char *const text[] = {"UTF8", "ASCII", "utf8", "ascii", NULL};
	static const char *const hex[] = {"hexadecimal", "hex", "x", "X", "p", NULL};
	const struct lexer *l = &p->lex;
	const uint32_t number = l->word == CTF_NUMBER && l->number >= 0 && l->number < 1 << 20
					? (uint32_t)l->number
					: 0;

#define IS(word) (len == strlen(word) && memcmp(name, word, len) == 0)
	if (IS("size") && !is_float)
		t->size = number;
	else if (IS("exp_dig") || IS("mant_dig"))
		t->size += number;
	else if (IS("align"))
		t->align = number ? number : 1;
	else if (IS("signed"))
		t->is_signed = is_one_of(l, yes) || number == 1;
	else if (IS("byte_order"))
		t->order = is_one_of(l, little) ? CTF_LITTLE
			   : is_one_of(l, big)	? CTF_BIG
						: CTF_NATIVE;
	else if (IS("encoding"))
		t->is_text = is_one_of(l, text);
	else if (IS("base"))
		t->base = number ? (uint8_t)number : is_one_of(l, hex) ? 16 : 10;
	else if (IS("map"))
		t->is_time = l->word == CTF_NAME;
#undef IS
}

/* "{ name = value; … }" */
static bool parse_attributes(struct parser *p, struct ctf_type *t, bool is_float)
{
	struct lexer *l = &p->lex;

	while (!lexer_take(l, "}")) {
		const char *name = l->text;
		const size_t len = l->len;

		if (l->word != CTF_NAME)
			return parse_fail(p, "an attribute is missing");
		lexer_next(l);
		if (!expect(p, "=", "a = is missing"))
			return false;
		set_attribute(p, t, name, len, is_float);
		/* Some values are paths. */
		while (l->word != CTF_END && !lexer_is(l, ";") && !lexer_is(l, "}"))
			lexer_next(l);
		lexer_take(l, ";");
	}
	return true;
}

static struct ctf_type *parse_number(struct parser *p, bool is_float)
{
	struct ctf_type *t = new_type(p, is_float ? CTF_FLOAT : CTF_INTEGER);

	if (!t)
		return NULL;
	t->align = 0;
	if (!expect(p, "{", "a { is missing") || !parse_attributes(p, t, is_float))
		return NULL;
	/* Whole bytes begin where bytes do unless something else is said. */
	if (!t->align)
		t->align = t->size % 8 ? 1 : 8;
	if (!t->size || t->size > 64 || (is_float && t->size != 32 && t->size != 64))
		return none(parse_fail(p, "a number of this size is not supported"));
	return t;
}

/* Reads the attributes in braces that follow the keyword. NULL: they are wrong. */
static struct ctf_type *parse_string(struct parser *p)
{
	struct ctf_type *t = new_type(p, CTF_STRING);

	if (t && lexer_take(&p->lex, "{") && !parse_attributes(p, t, false))
		return NULL;
	return t;
}

/* ---- compound types ------------------------------------------------------------------- */

#define MAX_TYPE_NAME 256

/* A type; in a declaration *name gets the name after it, in others it is NULL. */
static struct ctf_type *parse_type(struct parser *p, int depth, const char **name);

/* "typealias TYPE := NAME;" and definitions of structs; true when it was one. */
static bool parse_definition(struct parser *p, int depth);

static const char *keep_word(struct parser *p)
{
	return import_name(p->m->im, p->lex.text, p->lex.len);
}

/* Readers take one underscore away from a field's name. */
static const char *field_name(struct parser *p)
{
	const bool underscore = p->lex.len > 1 && *p->lex.text == '_';

	return import_name(p->m->im, p->lex.text + underscore, p->lex.len - underscore);
}

/* ---- names of types ------------------------------------------------------------------- */

static void set_named(struct parser *p, const char *name, struct ctf_type *t)
{
	if (name && t && !map_set(&p->m->names, (uintptr_t)name, t))
		parse_fail(p, "out of memory");
}

static const char *tagged_name(struct parser *p, const char *kind)
{
	char text[MAX_TYPE_NAME];
	const int n = snprintf(text, sizeof(text), "%s %.*s", kind, (int)p->lex.len, p->lex.text);

	return n > 0 && (size_t)n < sizeof(text) ? import_name(p->m->im, text, (size_t)n) : NULL;
}

/* ---- enumerations --------------------------------------------------------------------- */

struct labels {
	struct ctf_label *at;
	size_t n, cap;
};

static bool take_signed(struct parser *p, int64_t *v)
{
	const bool negative = lexer_take(&p->lex, "-");

	if (p->lex.word != CTF_NUMBER)
		return parse_fail(p, "a number is missing");
	*v = negative ? (int64_t)(0 - (uint64_t)p->lex.number) : p->lex.number;
	lexer_next(&p->lex);
	return true;
}

static bool parse_label(struct parser *p, struct labels *labels)
{
	struct lexer *l = &p->lex;
	struct ctf_label *label = vec_push(labels);

	if (!label || (l->word != CTF_NAME && l->word != CTF_TEXT))
		return parse_fail(p, "a label is missing");
	label->name = l->word == CTF_NAME ? field_name(p) : keep_word(p);
	label->first = labels->n > 1 ? (int64_t)((uint64_t)label[-1].last + 1) : 0;
	label->last = label->first;
	lexer_next(l);
	if (lexer_take(l, "=")) {
		if (!take_signed(p, &label->first))
			return false;
		label->last = label->first;
		if (lexer_take(l, "...") && !take_signed(p, &label->last))
			return false;
	}
	lexer_take(l, ",");
	return true;
}

static bool parse_labels(struct parser *p, struct ctf_type *t)
{
	struct labels labels = {0};
	bool ok = true;

	while (ok && !lexer_take(&p->lex, "}"))
		ok = parse_label(p, &labels);
	t->labels = arena_copy(p->m->arena, labels.at, labels.n, sizeof(*t->labels));
	t->nr_labels = t->labels ? (uint32_t)labels.n : 0;
	vec_free(&labels);
	return ok && (t->labels || parse_fail(p, "there is too much of it"));
}

/* A struct, variant or enum that was defined before and is only named here. */
static struct ctf_type *known_tagged(struct parser *p, const char *name)
{
	struct ctf_type *t = name ? map_get(&p->m->names, (uintptr_t)name) : NULL;

	if (!t)
		parse_fail(p, "a type that is named here is not known");
	return t;
}

static struct ctf_type *parse_enum(struct parser *p, int depth)
{
	const char *name = NULL;
	struct ctf_type *t, *of = NULL;

	if (p->lex.word == CTF_NAME) {
		name = tagged_name(p, "enum");
		lexer_next(&p->lex);
	}
	if (lexer_take(&p->lex, ":")) {
		of = parse_type(p, depth + 1, NULL);
		if (!of)
			return NULL;
	}
	if (!lexer_take(&p->lex, "{"))
		return known_tagged(p, name);
	if (!of)
		of = map_get(&p->m->names, (uintptr_t)import_name(p->m->im, "int", 3));
	t = new_type(p, CTF_ENUM);
	if (!t || !parse_labels(p, t))
		return NULL;
	if (!of || of->kind != CTF_INTEGER)
		return none(parse_fail(p, "an enum whose numbers are of no type"));
	t->of = of;
	t->align = of->align;
	set_named(p, name, t);
	return t;
}

/* ---- structs and variants ------------------------------------------------------------- */

struct members {
	struct ctf_member *at;
	size_t n, cap;
};

/* The last word of "stream.event.header.id"; NULL: there is no path. */
static const char *take_path(struct parser *p)
{
	const char *last = NULL;

	for (; p->lex.word == CTF_NAME || lexer_is(&p->lex, "."); lexer_next(&p->lex))
		if (p->lex.word == CTF_NAME)
			last = field_name(p);
	return last;
}

/* "[5]" or "[path]" after a name; of several the last one is the innermost. */
static struct ctf_type *parse_brackets(struct parser *p, struct ctf_type *of, int depth)
{
	struct lexer *l = &p->lex;
	struct ctf_type *t;
	uint64_t length = 0;
	const char *refers = NULL;

	if (depth > CTF_MAX_DEPTH)
		return none(parse_fail(p, "types are nested too deeply"));
	if (!lexer_take(l, "["))
		return of;
	if (l->word == CTF_NUMBER)
		length = (uint64_t)l->number;
	else
		refers = take_path(p);
	if (l->word == CTF_NUMBER)
		lexer_next(l);
	if (!expect(p, "]", "a ] is missing"))
		return NULL;
	of = parse_brackets(p, of, depth + 1);
	t = of ? new_type(p, refers ? CTF_SEQUENCE : CTF_ARRAY) : NULL;
	if (!t)
		return NULL;
	t->of = of;
	t->align = of->align;
	t->length = length;
	t->refers = refers;
	return t;
}

/* "TYPE name[…], other;" */
static bool parse_member(struct parser *p, struct members *list, int depth)
{
	const char *name = NULL;
	struct ctf_type *t;

	if (parse_definition(p, depth))
		return !p->why;
	t = parse_type(p, depth + 1, &name);
	if (!t)
		return false;
	for (;;) {
		struct ctf_type *whole;
		struct ctf_member *m;

		if (!name) {
			if (p->lex.word != CTF_NAME)
				return parse_fail(p, "a field has no name");
			name = field_name(p);
			lexer_next(&p->lex);
		}
		whole = parse_brackets(p, t, depth);
		m = whole ? vec_push(list) : NULL;
		if (!m)
			return parse_fail(p, "out of memory");
		*m = (struct ctf_member){.name = name, .type = whole};
		name = NULL;
		if (!lexer_take(&p->lex, ","))
			return expect(p, ";", "a ; is missing after a field");
	}
}

static bool parse_members(struct parser *p, struct ctf_type *t, int depth)
{
	struct members list = {0};
	bool ok = true;

	while (ok && !lexer_take(&p->lex, "}"))
		ok = parse_member(p, &list, depth);
	t->members = arena_copy(p->m->arena, list.at, list.n, sizeof(*t->members));
	t->nr_members = t->members ? (uint32_t)list.n : 0;
	for (uint32_t i = 0; t->kind == CTF_STRUCT && i < t->nr_members; i++)
		if (t->members[i].type->align > t->align)
			t->align = t->members[i].type->align;
	vec_free(&list);
	return ok && (t->members || parse_fail(p, "there is too much of it"));
}

static bool parse_align(struct parser *p, struct ctf_type *t)
{
	if (!lexer_named(&p->lex, "align"))
		return true;
	lexer_next(&p->lex);
	if (!expect(p, "(", "a ( is missing"))
		return false;
	if (p->lex.word != CTF_NUMBER || p->lex.number < 1 || p->lex.number > 4096)
		return parse_fail(p, "an alignment that makes no sense");
	if ((uint32_t)p->lex.number > t->align)
		t->align = (uint32_t)p->lex.number;
	lexer_next(&p->lex);
	return expect(p, ")", "a ) is missing");
}

/* "<path>" */
static const char *parse_tag(struct parser *p)
{
	const char *tag;

	if (!lexer_take(&p->lex, "<"))
		return NULL;
	tag = take_path(p);
	expect(p, ">", "a > is missing");
	return tag;
}

static struct ctf_type *parse_compound(struct parser *p, int depth, enum ctf_kind kind)
{
	const char *name = NULL, *tag;
	struct ctf_type *t;

	if (p->lex.word == CTF_NAME && !lexer_named(&p->lex, "align")) {
		name = tagged_name(p, kind == CTF_STRUCT ? "struct" : "variant");
		lexer_next(&p->lex);
	}
	tag = kind == CTF_VARIANT ? parse_tag(p) : NULL;
	if (!lexer_take(&p->lex, "{")) {
		const struct ctf_type *known = known_tagged(p, name);

		t = known ? new_type(p, kind) : NULL;
		if (!t)
			return NULL;
		*t = *known;
		if (tag)
			t->refers = tag;
		return t;
	}
	t = new_type(p, kind);
	if (!t || !parse_members(p, t, depth) || (kind == CTF_STRUCT && !parse_align(p, t)))
		return NULL;
	t->refers = tag;
	set_named(p, name, t);
	return t;
}

/* ---- all of them ---------------------------------------------------------------------- */

/* Words with a blank between them, up to something else; how long all but the last one are. */
static size_t take_words(struct parser *p, char text[MAX_TYPE_NAME], size_t *len, const char **last)
{
	size_t before = 0;

	*len = 0;
	while (p->lex.word == CTF_NAME && *len + p->lex.len + 1 < MAX_TYPE_NAME) {
		before = *len;
		if (*len)
			text[(*len)++] = ' ';
		memcpy(text + *len, p->lex.text, p->lex.len);
		*len += p->lex.len;
		if (last)
			*last = field_name(p);
		lexer_next(&p->lex);
	}
	return before;
}

/* A type by its name; in a declaration the last word is the name of what is declared. */
static struct ctf_type *parse_alias(struct parser *p, const char **name)
{
	char text[MAX_TYPE_NAME];
	size_t len, before = take_words(p, text, &len, name);
	struct ctf_type *t;

	if (name)
		len = before;
	t = len ? map_get(&p->m->names, (uintptr_t)import_name(p->m->im, text, len)) : NULL;
	if (!t)
		parse_fail(p, "a type that is not known");
	return t;
}

static struct ctf_type *parse_type(struct parser *p, int depth, const char **name)
{
	static const struct {
		const char *word;
		enum ctf_kind kind;
	} kinds[] = {{"integer", CTF_INTEGER}, {"floating_point", CTF_FLOAT},
		     {"string", CTF_STRING},   {"enum", CTF_ENUM},
		     {"struct", CTF_STRUCT},   {"variant", CTF_VARIANT}};

	if (depth > CTF_MAX_DEPTH)
		return none(parse_fail(p, "types are nested too deeply"));
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!lexer_named(&p->lex, kinds[i].word))
			continue;
		lexer_next(&p->lex);
		switch (kinds[i].kind) {
		case CTF_INTEGER: return parse_number(p, false);
		case CTF_FLOAT: return parse_number(p, true);
		case CTF_STRING: return parse_string(p);
		case CTF_ENUM: return parse_enum(p, depth);
		default: return parse_compound(p, depth, kinds[i].kind);
		}
	}
	return parse_alias(p, name);
}

/* The name after ":=", which may be several words. */
static const char *alias_name(struct parser *p)
{
	char text[MAX_TYPE_NAME];
	size_t len;

	take_words(p, text, &len, NULL);
	return len ? import_name(p->m->im, text, len) : NULL;
}

static bool parse_definition(struct parser *p, int depth)
{
	const bool typedefs = lexer_named(&p->lex, "typedef");
	struct ctf_type *t;
	const char *name = NULL;

	if (!typedefs && !lexer_named(&p->lex, "typealias"))
		return false;
	lexer_next(&p->lex);
	t = parse_type(p, depth + 1, typedefs ? &name : NULL);
	if (!t)
		return true;
	if (typedefs) {
		if (!name)
			name = alias_name(p);
	} else if (expect(p, ":=", "a := is missing")) {
		name = alias_name(p);
	}
	set_named(p, name, t);
	expect(p, ";", "a ; is missing after a type");
	return true;
}

/* ---- blocks ---- */

#define MAX_EVENTS  60000
#define MAX_STREAMS 4096
#define MAX_PATH    128

/* An entry of a block: a path, and a value or a type. */
struct entry {
	char path[MAX_PATH];
	struct ctf_type *type; /* or NULL: a value */
	const char *text;      /* of the value, when it is one; */
	int64_t number;	       /* or else this */
};

/* What a block is being read into. */
struct block {
	struct ctf_event *event;
	struct ctf_stream *stream;
};

static void set_trace(struct parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "byte_order") == 0 && e->text)
		p->m->big_endian = strcmp(e->text, "be") == 0 || strcmp(e->text, "network") == 0;
	else if (strcmp(e->path, "packet.header") == 0)
		p->m->packet_header = e->type;
}

static void set_clock(struct parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "freq") == 0 && e->number > 0)
		p->m->freq = (uint64_t)e->number;
	else if (strcmp(e->path, "offset_s") == 0)
		p->m->offset_s = e->number;
	else if (strcmp(e->path, "offset") == 0)
		p->m->offset = e->number;
}

static void set_env(struct parser *p, struct block *b, const struct entry *e)
{
	struct ctf_variable *v = e->text ? vec_push(&p->m->env) : NULL;

	if (v)
		*v = (struct ctf_variable){import_name(p->m->im, e->path, strlen(e->path)),
					   e->text};
}

static void set_stream(struct parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "id") == 0)
		b->stream->id = (uint64_t)e->number;
	else if (strcmp(e->path, "packet.context") == 0)
		b->stream->packet_context = e->type;
	else if (strcmp(e->path, "event.header") == 0)
		b->stream->event_header = e->type;
	else if (strcmp(e->path, "event.context") == 0)
		b->stream->event_context = e->type;
}

static void set_event(struct parser *p, struct block *b, const struct entry *e)
{
	if (strcmp(e->path, "name") == 0 && e->text)
		b->event->name = e->text;
	else if (strcmp(e->path, "id") == 0)
		b->event->id = (uint64_t)e->number;
	else if (strcmp(e->path, "stream_id") == 0)
		b->event->stream = (uint64_t)e->number;
	else if (strcmp(e->path, "context") == 0)
		b->event->context = e->type;
	else if (strcmp(e->path, "fields") == 0)
		b->event->fields = e->type;
}

static void set_nothing(struct parser *p, struct block *b, const struct entry *e)
{
}

static const struct block_kind {
	const char *name;
	void (*set)(struct parser *p, struct block *b, const struct entry *e);
} kinds[] = {
	{"trace", set_trace},	{"clock", set_clock}, {"env", set_env},
	{"stream", set_stream}, {"event", set_event}, {"callsite", set_nothing},
};

/* ---- reading -------------------------------------------------------------------------- */

static bool parse_path(struct parser *p, struct entry *e)
{
	struct lexer *l = &p->lex;
	size_t len = 0;

	if (l->word != CTF_NAME)
		return parse_fail(p, "a name is missing");
	while (l->word == CTF_NAME || lexer_is(l, ".")) {
		const bool dot = l->word != CTF_NAME;

		if (len + (dot ? 1 : l->len) >= sizeof(e->path))
			return parse_fail(p, "a name is too long");
		memcpy(e->path + len, dot ? "." : l->text, dot ? 1 : l->len);
		len += dot ? 1 : l->len;
		lexer_next(l);
	}
	e->path[len] = '\0';
	return true;
}

static bool parse_value(struct parser *p, struct entry *e)
{
	struct lexer *l = &p->lex;
	const bool negative = lexer_take(l, "-");

	if (l->word == CTF_NUMBER)
		e->number = negative ? (int64_t)(0 - (uint64_t)l->number) : l->number;
	else if (l->word == CTF_NAME || l->word == CTF_TEXT)
		e->text = import_name(p->m->im, l->text, l->len);
	else
		return parse_fail(p, "a value is missing");
	while (l->word != CTF_END && !lexer_is(l, ";") && !lexer_is(l, "}"))
		lexer_next(l);
	return true;
}

static bool parse_entry(struct parser *p, struct entry *e)
{
	*e = (struct entry){0};
	if (!parse_path(p, e))
		return false;
	if (lexer_take(&p->lex, ":=")) {
		e->type = parse_type(p, 0, NULL);
		if (!e->type)
			return false;
	} else if (!lexer_take(&p->lex, "=")) {
		return parse_fail(p, "a = is missing");
	} else if (!parse_value(p, e)) {
		return false;
	}
	return lexer_take(&p->lex, ";") || parse_fail(p, "a ; is missing");
}

static bool is_defined_here(const struct lexer *l)
{
	return lexer_named(l, "struct") || lexer_named(l, "variant") || lexer_named(l, "enum");
}

static bool parse_entries(struct parser *p, const struct block_kind *kind, struct block *b)
{
	while (!lexer_take(&p->lex, "}")) {
		struct entry e;

		if (parse_definition(p, 0)) {
			if (p->why)
				return false;
			continue;
		}
		if (is_defined_here(&p->lex)) {
			if (!parse_type(p, 0, NULL) || !lexer_take(&p->lex, ";"))
				return parse_fail(p, "a ; is missing");
			continue;
		}
		if (!parse_entry(p, &e))
			return false;
		kind->set(p, b, &e);
	}
	lexer_take(&p->lex, ";");
	return true;
}

static bool begin_block(struct parser *p, const struct block_kind *kind, struct block *b)
{
	if (kind->set == set_stream) {
		b->stream = p->m->streams.n < MAX_STREAMS ? vec_push(&p->m->streams) : NULL;
		if (!b->stream)
			return parse_fail(p, "there are too many streams");
		b->stream->buffer = "";
	}
	if (kind->set == set_event) {
		b->event = arena_alloc(p->m->arena, sizeof(*b->event));
		if (!b->event || p->m->events.n >= MAX_EVENTS || !vec_add(&p->m->events, &b->event))
			return parse_fail(p, "there are too many events");
		b->event->name = "";
	}
	return true;
}

static bool parse_block(struct parser *p)
{
	struct block b = {0};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!lexer_named(&p->lex, kinds[i].name))
			continue;
		lexer_next(&p->lex);
		if (!lexer_take(&p->lex, "{"))
			return parse_fail(p, "a { is missing");
		return begin_block(p, &kinds[i], &b) && parse_entries(p, &kinds[i], &b);
	}
	if (is_defined_here(&p->lex))
		return parse_type(p, 0, NULL) &&
		       (lexer_take(&p->lex, ";") || parse_fail(p, "a ; is missing"));
	return parse_fail(p, "a word that is not known");
}

/* ---- looking things up ---------------------------------------------------------------- */

static uint64_t event_key(uint64_t stream, uint64_t id)
{
	return stream << 40 ^ id;
}

static void index_events(struct ctf_metadata *m)
{
	vec_each (it, &m->events)
		if (!map_set(&m->by_id, event_key((*it)->stream, (*it)->id), *it))
			import_fail(m->im, -ENOMEM);
}

struct ctf_event *ctf_event_of(const struct ctf_metadata *m, uint64_t stream, uint64_t id)
{
	struct ctf_event *e = map_get(&m->by_id, event_key(stream, id));

	return e && e->id == id && e->stream == stream ? e : NULL;
}

struct ctf_stream *ctf_stream_of(struct ctf_metadata *m, uint64_t id)
{
	vec_each (s, &m->streams)
		if (s->id == id)
			return s;
	return NULL;
}

const char *ctf_variable(const struct ctf_metadata *m, const char *name)
{
	vec_each (v, &m->env)
		if (v->name && v->value && strcmp(v->name, name) == 0)
			return v->value;
	return "";
}

void ctf_metadata_free(struct ctf_metadata *m)
{
	vec_free(&m->events);
	vec_free(&m->streams);
	vec_free(&m->env);
	map_free(&m->names);
	map_free(&m->by_id);
	map_free(&m->calls);
	buf_free(&m->text);
	free(m->numbers);
}

int ctf_metadata_read(struct ctf_metadata *m, const char *text, size_t len, struct spur_error *err)
{
	struct parser p = {.m = m, .lex = {.at = text, .end = text + len, .line = 1}};

	lexer_next(&p.lex);
	while (p.lex.word != CTF_END && !p.why && !p.lex.bad)
		if (!parse_definition(&p, 0) && !lexer_take(&p.lex, ";"))
			parse_block(&p);
	if (m->im->rc < 0)
		return m->im->rc;
	if (p.why || p.lex.bad)
		return error_set(err, -EBADMSG, "metadata, line %u: %s", p.lex.line,
				 p.why ? p.why : "a text without an end");
	index_events(m);
	return m->im->rc;
}
