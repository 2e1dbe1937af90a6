// SPDX-License-Identifier: GPL-2.0-or-later
/* The words of definitions in C, the parser's steps from word to word, and constant expressions. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "lang/cdef/cdef.h"
#include "lang/check/check.h"
#include "lang/parse/lexer.h"

/* ---- words ---- */

/* Comments, and lines that begin with '#', are skipped. */

static char at(const struct clexer *l, uint32_t ahead)
{
	return ahead < l->end - l->pos ? l->text[l->pos + ahead] : '\0';
}

static void skip_line(struct clexer *l)
{
	if (at(l, 0) == '#')
		l->mark = l->pos + 1;
	while (l->pos < l->end && at(l, 0) != '\n')
		l->pos += at(l, 0) == '\\' && l->end - l->pos > 1 ? 2 : 1;
}

static void skip_blanks(struct clexer *l)
{
	while (l->pos < l->end) {
		if (isspace((unsigned char)at(l, 0)))
			l->pos++;
		else if (at(l, 0) == '/' && at(l, 1) == '*')
			l->pos = lex_skip(l->text, l->pos, l->end);
		else if (at(l, 0) == '#' || (at(l, 0) == '/' && at(l, 1) == '/'))
			skip_line(l);
		else if (at(l, 0) == '\\' && at(l, 1) == '\n')
			l->pos += 2;
		else
			return;
	}
}

static bool read_number(struct clexer *l, int64_t *value)
{
	unsigned int base = 10, digit;
	uint64_t v = 0;
	bool fits = true;

	if (at(l, 0) == '0' && (at(l, 1) | 0x20) == 'x') {
		base = 16;
		l->pos += 2;
	} else if (at(l, 0) == '0' && (at(l, 1) | 0x20) == 'b') {
		base = 2;
		l->pos += 2;
	} else if (at(l, 0) == '0') {
		base = 8;
	}
	/* As in scripts, digits may be grouped: 1_000. */
	for (; at(l, 0) == '_' || (digit = (unsigned int)num_hex_digit(at(l, 0))) < base; l->pos++)
		if (at(l, 0) != '_' && (__builtin_mul_overflow(v, (uint64_t)base, &v) ||
					__builtin_add_overflow(v, (uint64_t)digit, &v)))
			fits = false;
	while (strchr("uUlL", at(l, 0)) && at(l, 0))
		l->pos++;
	*value = (int64_t)v;
	return fits && !isalnum((unsigned char)at(l, 0)) && at(l, 0) != '_' && at(l, 0) != '.';
}

/* Reads a quoted text; *value is the number of a character. */
static bool read_quoted(struct clexer *l, char quote, int64_t *value)
{
	static const char letters[] = "n\nt\tr\ra\ab\bf\fv\v0\0";

	l->pos++;
	while (l->pos < l->end && at(l, 0) != quote && at(l, 0) != '\n') {
		*value = (signed char)at(l, 0);
		if (at(l, 0) == '\\' && l->end - l->pos > 1) {
			l->pos++;
			*value = at(l, 0);
			for (size_t i = 0; i + 1 < sizeof(letters) - 1; i += 2)
				if (letters[i] == at(l, 0))
					*value = letters[i + 1];
		}
		l->pos++;
	}
	if (at(l, 0) != quote)
		return false;
	l->pos++;
	return true;
}

static int read_mark(struct clexer *l)
{
	struct token t;
	const uint32_t len = lex_operator(l->text + l->pos, l->end - l->pos, &t);

	const int op = len == 3 ? t.op : t.kind;

	/* Definitions have no others: "++" is two marks, "<<=" is "<<" and "=". */
	if (len < 2 || op < NODE_OP_SHL || op > NODE_OP_OR)
		return (unsigned char)l->text[l->pos++];
	l->pos += 2;
	return op;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

struct ctoken clex_next(struct clexer *l)
{
	struct ctoken t = {0};

	skip_blanks(l);
	t.at.from = l->pos;
	if (l->pos >= l->end) {
		t.kind = CT_END;
	} else if (isdigit((unsigned char)at(l, 0))) {
		t.kind = read_number(l, &t.value) ? CT_NUMBER : CT_BAD;
	} else if (is_name(at(l, 0))) {
		t.kind = CT_NAME;
		while (l->pos < l->end && is_name(at(l, 0)))
			l->pos++;
	} else if (at(l, 0) == '\'') {
		t.kind = read_quoted(l, '\'', &t.value) ? CT_NUMBER : CT_BAD;
	} else if (at(l, 0) == '"') {
		t.kind = read_quoted(l, '"', &t.value) ? CT_STRING : CT_BAD;
	} else {
		t.kind = CT_MARK;
		t.op = read_mark(l);
	}
	t.at.to = l->pos;
	return t;
}

/* ---- steps and errors ---- */

void cparse_next(struct cparser *p)
{
	p->tok = clex_next(&p->lex);
}

bool cparse_is(const struct cparser *p, int op)
{
	return p->tok.kind == CT_MARK && p->tok.op == op;
}

bool cparse_is_word(const struct cparser *p, const char *word)
{
	return p->tok.kind == CT_NAME && cparse_len(p) == strlen(word) &&
	       !memcmp(cparse_at(p), word, cparse_len(p));
}

bool cparse_accept(struct cparser *p, int op)
{
	if (!cparse_is(p, op))
		return false;
	cparse_next(p);
	return true;
}

bool cparse_accept_word(struct cparser *p, const char *word)
{
	if (!cparse_is_word(p, word))
		return false;
	cparse_next(p);
	return true;
}

bool cparse_expect(struct cparser *p, int op, const char *where)
{
	if (cparse_accept(p, op))
		return true;
	return cparse_fail(p, p->tok.at, "a '%c' is missing %s", op, where);
}

const char *cparse_text(struct cparser *p)
{
	return arena_strndup(&p->d->arena, cparse_at(p), cparse_len(p));
}

bool cparse_fail(struct cparser *p, struct span at, const char *fmt, ...)
{
	char text[300];
	va_list ap;

	if (p->failed)
		return false;
	p->failed = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->in_header)
		memcpy(p->why, text, sizeof(p->why));
	else
		source_error(p->source, at, "%s", text);
	return false;
}

bool cparse_no_memory(struct cparser *p)
{
	return cparse_fail(p, p->tok.at, "the definitions are too large");
}

bool cparse_skip_brackets(struct cparser *p)
{
	unsigned int depth = 0;

	do {
		if (p->tok.kind == CT_END)
			return cparse_fail(p, p->tok.at, "a bracket is not closed");
		if (cparse_is(p, '(') || cparse_is(p, '{') || cparse_is(p, '['))
			depth++;
		if (cparse_is(p, ')') || cparse_is(p, '}') || cparse_is(p, ']'))
			depth--;
		cparse_next(p);
	} while (depth);
	return true;
}

bool cparse_is_one_of(const struct cparser *p, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (cparse_is_word(p, words[i]))
			return true;
	return false;
}

/* ---- attributes and qualifiers ---- */

/* "aligned(8)", or without a number. */
static bool alignment(struct cparser *p, struct cattributes *attr)
{
	struct span at = p->tok.at;
	int64_t n = 16; /* the largest alignment that the machine uses */

	cparse_next(p);
	if (cparse_accept(p, '(') &&
	    (!cparse_expr(p, &n) || !cparse_expect(p, ')', "after the alignment")))
		return false;
	if (n <= 0 || n > 4096 || n & (n - 1))
		return cparse_fail(p, at, "an alignment is a power of two, at most 4096");
	if ((uint64_t)n > attr->aligned)
		attr->aligned = (uint64_t)n;
	return true;
}

/* The text between the inner parentheses of __attribute__((…)). */
static bool attribute_list(struct cparser *p, struct cattributes *attr)
{
	static const char *const other_sizes[] = {"mode", "__mode__", "vector_size",
						  "__vector_size__"};

	while (!cparse_is(p, ')') && p->tok.kind != CT_END) {
		if (IS_ONE_OF(p, other_sizes))
			return cparse_fail(p, p->tok.at, "types of this kind are not known");
		if (cparse_is_word(p, "aligned") || cparse_is_word(p, "__aligned__")) {
			if (!alignment(p, attr))
				return false;
			continue;
		}
		attr->packed |= cparse_is_word(p, "packed") || cparse_is_word(p, "__packed__");
		cparse_next(p);
		if (cparse_is(p, '(') && !cparse_skip_brackets(p))
			return false;
	}
	return true;
}

bool cparse_qualifiers(struct cparser *p, struct cattributes *attr)
{
	static const char *const words[] = {
		"const",	 "volatile",	 "restrict", "__restrict", "__restrict__",
		"__extension__", "__user",	 "__rcu",    "__percpu",   "__iomem",
		"__const",	 "__volatile__", "register"};

	for (;;) {
		if (IS_ONE_OF(p, words)) {
			cparse_next(p);
		} else if (cparse_accept_word(p, "__packed")) {
			attr->packed = true;
		} else if (cparse_is_word(p, "__aligned")) {
			if (!alignment(p, attr))
				return false;
		} else if (cparse_accept_word(p, "__attribute__") ||
			   cparse_accept_word(p, "__attribute")) {
			if (!cparse_expect(p, '(', "after __attribute__") ||
			    !cparse_expect(p, '(', "after __attribute__") ||
			    !attribute_list(p, attr) ||
			    !cparse_expect(p, ')', "after the attributes") ||
			    !cparse_expect(p, ')', "after the attributes"))
				return false;
		} else {
			return true;
		}
	}
}

/* "(1)", "()", "(push)", "(push, 1)", "(pop)" */
void cparse_pragma_pack(struct cparser *p)
{
	int64_t n = (int64_t)p->pack[p->nr_packs];
	bool ok = true;

	cparse_next(p);
	cparse_accept(p, '(');
	if (cparse_is(p, ')'))
		n = 0;
	if (cparse_accept_word(p, "push")) {
		ok = p->nr_packs < CDEF_MAX_PACKS - 1;
		p->nr_packs += ok;
		cparse_accept(p, ',');
	} else if (cparse_accept_word(p, "pop")) {
		p->nr_packs -= p->nr_packs > 0;
		n = (int64_t)p->pack[p->nr_packs];
	}
	if (p->tok.kind == CT_NUMBER)
		n = p->tok.value;
	ok &= n >= 0 && n <= 4096 && !(n & (n - 1));
	p->pack[p->nr_packs] = ok ? (uint64_t)n : 0;
	while (p->tok.kind != CT_END && !cparse_accept(p, ';'))
		cparse_next(p);
}

/* ---- constant expressions ---- */

/*
 * Conditions of #if, lengths of arrays, widths of bit fields, values of enumerators. Everything is
 * a number of 64 bits; overflow wraps around.
 */

static bool apply(struct cparser *p, struct span at, int op, int64_t a, int64_t b, int64_t *v)
{
	if (!b && (op == '/' || op == '%') && !p->in_condition)
		return cparse_fail(p, at, "division by zero");
	return fold_operate(op, true, a, b, v);
}

static bool name_value(struct cparser *p, int64_t *value)
{
	const char *name = cparse_text(p);
	struct type in;

	if (!name)
		return cparse_fail(p, p->tok.at, "out of memory");
	if (!cdefs_enumerator(p->d, name, value, &in) &&
	    !(p->d->env && p->d->env->ops->enumerator &&
	      p->d->env->ops->enumerator(p->d->env, name, value, &in)))
		return cparse_fail(p, p->tok.at, "'%s' is not known", name);
	cparse_next(p);
	return true;
}

static bool size_value(struct cparser *p, int64_t *value)
{
	const bool is_align = !cparse_is_word(p, "sizeof");
	struct span at;
	struct type t;
	uint32_t node;

	cparse_next(p);
	at = p->tok.at;
	if (!cparse_expect(p, '(', "after sizeof") || !cparse_type(p, &node))
		return false;
	t = cdef_view(p->d, node);
	*value = (int64_t)(is_align ? type_align(&t) : type_size(&t));
	if (!*value && t.kind != TYPE_ARRAY && !p->d->nodes.at[node].defined)
		return cparse_fail(p, at, "nothing is known about the size of this type");
	return cparse_expect(p, ')', "after the type");
}

static bool unary(struct cparser *p, int64_t *value);

/* The value in an integer of that type. */
static int64_t cast(const struct type *t, int64_t value)
{
	const unsigned int unused = t->size && t->size < 8 ? 64 - (unsigned int)t->size * 8 : 0;
	const uint64_t high = (uint64_t)value << unused;

	if (t->kind != TYPE_INTEGER)
		return value;
	return t->is_signed ? (int64_t)high >> unused : (int64_t)(high >> unused);
}

/* An expression in parentheses, or a cast. */
static bool parenthesis(struct cparser *p, int64_t *value)
{
	struct type t;
	uint32_t node;

	cparse_next(p);
	if (!p->in_condition && cparse_at_type(p)) {
		if (!cparse_type(p, &node) || !cparse_expect(p, ')', "after the type") ||
		    !unary(p, value))
			return false;
		t = cdef_view(p->d, node);
		*value = cast(&t, *value);
		return true;
	}
	return cparse_expr(p, value) && cparse_expect(p, ')', "after the expression");
}

static bool primary(struct cparser *p, int64_t *value)
{
	if (p->tok.kind == CT_NUMBER || (p->tok.kind == CT_NAME && p->in_condition)) {
		*value = p->tok.value;
		cparse_next(p);
		return true;
	}
	if (cparse_is_word(p, "sizeof") || cparse_is_word(p, "__alignof__") ||
	    cparse_is_word(p, "_Alignof"))
		return size_value(p, value);
	if (p->tok.kind == CT_NAME)
		return name_value(p, value);
	if (cparse_is(p, '('))
		return parenthesis(p, value);
	return cparse_fail(p, p->tok.at, "a constant is missing here");
}

static bool unary(struct cparser *p, int64_t *value)
{
	int op = p->tok.kind == CT_MARK ? p->tok.op : 0;
	bool ok;

	if (op != '-' && op != '+' && op != '~' && op != '!' && op != '(')
		return primary(p, value);
	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, p->tok.at, "the expression is too deep");
	if (op == '(') {
		ok = primary(p, value);
	} else {
		cparse_next(p);
		ok = unary(p, value);
		if (op == '-')
			*value = (int64_t) - (uint64_t)*value;
		else if (op == '~')
			*value = ~*value;
		else if (op == '!')
			*value = !*value;
	}
	p->depth--;
	return ok;
}

static bool binary(struct cparser *p, int least, int64_t *value)
{
	*value = 0;
	if (!unary(p, value))
		return false;
	while (p->tok.kind == CT_MARK && op_precedence(p->tok.op) >= least) {
		struct ctoken op = p->tok;
		int64_t right;

		cparse_next(p);
		if (!binary(p, op_precedence(op.op) + 1, &right) ||
		    !apply(p, op.at, op.op, *value, right, value))
			return false;
	}
	return true;
}

bool cparse_expr(struct cparser *p, int64_t *value)
{
	int64_t yes, no;
	bool ok;

	if (!binary(p, 1, value))
		return false;
	if (!cparse_accept(p, '?'))
		return true;
	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, p->tok.at, "the expression is too deep");
	ok = cparse_expr(p, &yes) && cparse_expect(p, ':', "after '?'") && cparse_expr(p, &no);
	p->depth--;
	if (ok)
		*value = *value ? yes : no;
	return ok;
}

bool cparse_condition(const char *text, size_t len, bool *holds)
{
	struct cparser p = {.lex = {.text = text, .end = (uint32_t)len},
			    .in_header = true,
			    .in_condition = true};
	int64_t value;

	/* In declarations these two mean something. */
	if (memchr(text, '#', len) || memchr(text, '$', len))
		return false;
	cparse_next(&p);
	if (!cparse_expr(&p, &value) || p.tok.kind != CT_END)
		return false;
	*holds = value != 0;
	return true;
}
