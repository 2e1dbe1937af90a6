// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types as scripts write them, and how to decide whether "(x) y" is a cast.
 *
 * A name that is known to be a type is one wherever a type may stand. An unknown name in brackets
 * is a type if the text could not continue otherwise: "(pid_x) 1" is a cast, "(x) - 1" is not.
 */
#include <stdio.h>

#include "base/array.h"
#include "lang/parse/parser.h"

/* Names of types of the language and of C; names that end in _t are types, too. */
static const char *const known_types[] = {
	"bool",	  "int8",   "int16",	 "int32",  "int64",  "uint8",  "uint16",
	"uint32", "uint64", "string",	 "buffer", "inet",   "void",   "char",
	"short",  "int",    "long",	 "float",  "double", "signed", "unsigned",
	"u8",	  "u16",    "u32",	 "u64",	   "s8",     "s16",    "s32",
	"s64",	  "__u8",   "__u16",	 "__u32",  "__u64",  "__s8",   "__s16",
	"__s32",  "__s64",  "__le16",	 "__le32", "__le64", "__be16", "__be32",
	"__be64", "_Bool",  "timestamp", "kstack", "ustack", "const",  "volatile",
};

/* A type of C may consist of several of these words. */
static const char *const c_words[] = {
	"char", "short", "int", "long", "float", "double", "signed", "unsigned",
};

static const char *const qualifiers[] = {"const", "volatile"};

static bool in_list(const struct token *t, const char *const *list, size_t n)
{
	for (size_t i = 0; t->kind == T_WORD && i < n; i++)
		if (!strcmp(t->text, list[i]))
			return true;
	return false;
}

#define IN_LIST(t, list) in_list(t, list, ARRAY_SIZE(list))

static bool is_tag(const struct token *t)
{
	return t->kind == T_WORD &&
	       (t->word == W_STRUCT || t->word == W_UNION || t->word == W_ENUM);
}

/* Whether a name begins a type, whatever follows. kstack and ustack are types and values. */
static bool is_known_type(const struct parser *p, const struct token *t)
{
	const char *own;

	if (t->kind != T_WORD)
		return false;
	if (is_tag(t) || t->word == W_TYPEOF)
		return true;
	if (t->word != W_NONE || !strcmp(t->text, "kstack") || !strcmp(t->text, "ustack"))
		return false;
	own = map_get(&p->types, map_hash(t->text, t->len));
	if (own && !strcmp(own, t->text))
		return true;
	return IN_LIST(t, known_types) || (t->len > 2 && !strcmp(t->text + t->len - 2, "_t"));
}

/* ---- reading ---- */

/* Reads a word of the name. */
static void read_word(struct parser *p, struct type_name *t)
{
	const char *word = parse_next(p).text;
	const size_t have = t->name ? strlen(t->name) + 1 : 0, more = word ? strlen(word) : 0;
	char *name = parse_alloc(p, have + more + 1);

	if (!name || !more)
		return;
	if (have)
		snprintf(name, have + 1, "%s ", t->name);
	memcpy(name + have, word, more);
	t->name = name;
}

static void skip_qualifiers(struct parser *p)
{
	while (IN_LIST(parse_tok(p), qualifiers))
		parse_next(p);
}

static void read_typeof(struct parser *p, struct type_name *t)
{
	parse_next(p);
	parse_expect(p, '(', "'(' after typeof");
	if (parse_is_type(p))
		*t = *parse_type(p);
	else
		t->of = parse_expr(p);
	parse_expect(p, ')', "')' at the end of typeof");
}

/* (type, type) */
static void read_tuple(struct parser *p, struct type_name *t)
{
	struct type_name **end = &t->elems;

	parse_next(p);
	t->name = "";
	while (!parse_at(p, ')')) {
		*end = parse_type(p);
		end = &(*end)->next;
		if (!parse_accept(p, ','))
			break;
	}
	parse_expect(p, ')', "')' at the end of the type");
}

static void read_base(struct parser *p, struct type_name *t)
{
	const struct token *tok = parse_tok(p);

	if (tok->kind == '(') {
		read_tuple(p, t);
	} else if (tok->kind != T_WORD || (tok->word != W_NONE && !is_known_type(p, tok))) {
		parse_unexpected(p, "a type");
	} else if (tok->word == W_TYPEOF) {
		read_typeof(p, t);
	} else if (is_tag(tok)) {
		read_word(p, t);
		if (!parse_at(p, T_WORD))
			parse_unexpected(p, "a name");
		read_word(p, t);
	} else if (!IN_LIST(tok, c_words)) {
		read_word(p, t);
	} else {
		for (unsigned int i = 0; i < 4 && IN_LIST(parse_tok(p), c_words); i++)
			read_word(p, t);
	}
}

static void read_array(struct parser *p, struct type_name *t)
{
	const struct span from = parse_next(p).at;

	if (t->is_array)
		parse_fail(p, from, "arrays of arrays are not supported here");
	t->is_array = true;
	if (!parse_at(p, ']'))
		t->count = parse_expr(p);
	parse_expect(p, ']', "']'");
}

static void read_suffixes(struct parser *p, struct type_name *t)
{
	for (;;) {
		skip_qualifiers(p);
		if (parse_at(p, '[')) {
			read_array(p, t);
		} else if (parse_at(p, '*')) {
			const struct span at = parse_next(p).at;

			if ((t->is_array ? ++t->outer : ++t->pointers) > 8)
				parse_fail(p, at, "too many '*'");
		} else {
			return;
		}
	}
}

struct type_name *parse_type(struct parser *p)
{
	struct type_name *t = parse_alloc(p, sizeof(*t));
	struct span from;

	/* Without memory the type is not used. */
	if (!t) {
		p->spare_type = (struct type_name){0};
		t = &p->spare_type;
	}
	p->nesting++;
	parse_enter(p);
	skip_qualifiers(p);
	from = parse_tok(p)->at;
	read_base(p, t);
	read_suffixes(p, t);
	t->at = source_join(p->source, from, p->last);
	p->depth--;
	p->nesting--;
	return t;
}

/* ---- types or values ---- */

/* Skips '*' and one [N] from token i on; returns the number of the next token. */
static unsigned int skip_suffixes(struct parser *p, unsigned int i, bool *stars, bool *array)
{
	*stars = *array = false;
	while (i < PARSE_AHEAD - 6 && parse_peek(p, i)->kind == '*') {
		*stars = true;
		i++;
	}
	if (parse_peek(p, i)->kind == '[') {
		const int kind = parse_peek(p, i + 1)->kind;
		const unsigned int n = kind == T_INT || kind == T_WORD;

		if (parse_peek(p, i + 1 + n)->kind == ']') {
			*array = true;
			i += 2 + n;
		}
	}
	return i;
}

bool parse_is_type(struct parser *p)
{
	const struct token *t = parse_tok(p);
	bool stars, array;
	unsigned int end;

	/* name() is a call, even if a type has that name. */
	if (is_known_type(p, t))
		return t->word != W_NONE || parse_peek(p, 1)->kind != '(';
	if (t->kind != T_WORD || t->word != W_NONE)
		return false;
	end = skip_suffixes(p, 1, &stars, &array);
	return stars && (parse_peek(p, end)->kind == ')' || parse_peek(p, end)->kind == ',');
}

/* Whether an expression can begin with the token; `sure`: it cannot continue one. */
static bool begins_operand(const struct token *t, bool sure)
{
	switch (t->kind) {
	case T_WORD:
	case T_VAR:
	case T_MAP:
	case T_PARAM:
	case T_NPARAMS:
	case T_INT:
	case T_STRING:
	case '(':
	case '!':
	case '~': return true;
	case '-':
	case '*':
	case '&':
	case T_INC:
	case T_DEC: return !sure;
	default: return false;
	}
}

bool parse_is_cast(struct parser *p)
{
	const struct token *t = parse_tok(p);
	bool stars, array, known = is_known_type(p, t);
	unsigned int end;

	if (t->kind != T_WORD || (t->word != W_NONE && !known))
		return false;
	if (known && parse_peek(p, 1)->kind != ')')
		return parse_peek(p, 1)->kind == '*' || parse_peek(p, 1)->kind == '[' ||
		       parse_peek(p, 1)->kind == T_WORD || t->word == W_TYPEOF;
	end = skip_suffixes(p, 1, &stars, &array);
	if (parse_peek(p, end)->kind != ')')
		return false;
	return begins_operand(parse_peek(p, end + 1), !known && !stars);
}
