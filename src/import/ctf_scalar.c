// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbers and texts in CTF's metadata: what stands in the braces behind integer and the like. */
#include <string.h>

#include "import/ctf_parts.h"

struct ctf_type *ctf_new_type(struct ctf_parser *p, enum ctf_kind kind)
{
	struct ctf_type *t = arena_alloc(p->m->arena, sizeof(*t));

	if (!t) {
		ctf_parse_fail(p, "there is too much of it");
		return NULL;
	}
	t->kind = kind;
	t->align = kind == CTF_STRING ? 8 : 1;
	return t;
}

bool ctf_expect(struct ctf_parser *p, const char *mark, const char *why)
{
	return ctf_lexer_take(&p->lex, mark) || ctf_parse_fail(p, why);
}

static bool is_one_of(const struct ctf_lexer *l, const char *const *names)
{
	for (; *names; names++)
		if (ctf_lexer_named(l, *names))
			return true;
	return false;
}

static void set_attribute(struct ctf_parser *p, struct ctf_type *t, const char *name, size_t len,
			  bool is_float)
{
	static const char *const little[] = {"le", NULL};
	static const char *const big[] = {"be", "network", NULL};
	static const char *const yes[] = {"true", "TRUE", NULL};
	static const char *const text[] = {"UTF8", "ASCII", "utf8", "ascii", NULL};
	static const char *const hex[] = {"hexadecimal", "hex", "x", "X", "p", NULL};
	const struct ctf_lexer *l = &p->lex;
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
static bool parse_attributes(struct ctf_parser *p, struct ctf_type *t, bool is_float)
{
	struct ctf_lexer *l = &p->lex;

	while (!ctf_lexer_take(l, "}")) {
		const char *name = l->text;
		const size_t len = l->len;

		if (l->word != CTF_NAME)
			return ctf_parse_fail(p, "an attribute is missing");
		ctf_lexer_next(l);
		if (!ctf_expect(p, "=", "a = is missing"))
			return false;
		set_attribute(p, t, name, len, is_float);
		/* Some values are paths. */
		while (l->word != CTF_END && !ctf_lexer_is(l, ";") && !ctf_lexer_is(l, "}"))
			ctf_lexer_next(l);
		ctf_lexer_take(l, ";");
	}
	return true;
}

struct ctf_type *ctf_parse_number(struct ctf_parser *p, bool is_float)
{
	struct ctf_type *t = ctf_new_type(p, is_float ? CTF_FLOAT : CTF_INTEGER);

	if (!t)
		return NULL;
	t->align = 0;
	if (!ctf_expect(p, "{", "a { is missing") || !parse_attributes(p, t, is_float))
		return NULL;
	/* Whole bytes begin where bytes do unless something else is said. */
	if (!t->align)
		t->align = t->size % 8 ? 1 : 8;
	if (!t->size || t->size > 64 || (is_float && t->size != 32 && t->size != 64)) {
		ctf_parse_fail(p, "a number of this size is not supported");
		return NULL;
	}
	return t;
}

struct ctf_type *ctf_parse_string(struct ctf_parser *p)
{
	struct ctf_type *t = ctf_new_type(p, CTF_STRING);

	if (t && ctf_lexer_take(&p->lex, "{") && !parse_attributes(p, t, false))
		return NULL;
	return t;
}
