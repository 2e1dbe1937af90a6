// SPDX-License-Identifier: GPL-2.0-or-later
/* Operators, each as ClickHouse has to be told it for SQLite's result. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_parts.h"

bool sx_may_be_null(const struct expr *l, const struct expr *r)
{
	return l->nullable || r->nullable;
}

struct expr sx_operator_here(struct compiler *c, const char *op, struct expr l, struct expr r)
{
	sx_to_local(c, &l);
	sx_to_local(c, &r);
	return sx_here(c, sx_text(c, "(%s %s %s)", l.local, op, r.local),
		       sx_text(c, "'%s' of this", op));
}

/* A division that does not mind zeros: SQLite's is NULL then, a server's an error. */
static struct expr divide(struct compiler *c, const char *function, struct expr l, struct expr r)
{
	const char *zero;

	if (r.constant)
		return r.number ? sx_make(c, STORE_INTEGER, l.nullable,
					  sx_text(c, "%s(toInt64(%s), toInt64(%s))", function,
						  l.remote, r.remote))
				: sx_null();
	zero = sx_text(c, "(ifNull(%s, 0) = 0)", r.remote);
	return sx_make(c, STORE_INTEGER, true,
		       sx_text(c, "if(%s, NULL, %s(toInt64(%s), if(%s, toInt64(1), toInt64(%s))))",
			       zero, function, l.remote, zero, r.remote));
}

static struct expr arithmetic(struct compiler *c, const char *op, struct expr l, struct expr r)
{
	const bool real = l.kind == STORE_REAL || r.kind == STORE_REAL;

	if (l.kind == STORE_NULL || r.kind == STORE_NULL)
		return sx_null();
	if (!sx_is_number(&l) || !sx_is_number(&r)) {
		if (c->here)
			return sx_operator_here(c, op, l, r);
		sx_only_shown(c, sx_text(c, "'%s' of a text", op));
		return sx_nothing;
	}
	/* A product that is too large is a real number here, and a wrong one there. */
	if (*op == '*' && !real && c->here && !c->distinct)
		return sx_operator_here(c, op, l, r);
	if (*op == '/' && !real)
		return divide(c, "intDiv", l, r);
	if (*op == '%' && !real)
		return divide(c, "modulo", l, r);
	if (*op == '%')
		return sx_operator_here(c, op, l, r);
	if (*op == '/')
		return sx_make(c, STORE_REAL, true,
			       sx_text(c, "(%s / nullIf(%s, 0))", l.remote, r.remote));
	return sx_make(c, real ? STORE_REAL : STORE_INTEGER, sx_may_be_null(&l, &r),
		       sx_text(c, "(%s %s %s)", l.remote, op, r.remote));
}

static struct expr bits(struct compiler *c, const char *op, struct expr l, struct expr r)
{
	static const struct {
		const char *op, *function;
	} functions[] = {
		{"&", "bitAnd"}, {"|", "bitOr"}, {"<<", "bitShiftLeft"}, {">>", "bitShiftRight"}};

	if (!sx_is_number(&l) || !sx_is_number(&r))
		return sx_operator_here(c, op, l, r);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].op, op) == 0)
			return sx_make(c, STORE_INTEGER, sx_may_be_null(&l, &r),
				       sx_text(c, "%s(toInt64(%s), toInt64(%s))",
					       functions[i].function, l.remote, r.remote));
	return sx_nothing;
}

/* A day that every server reads as one. */
static bool is_date(const char *text, size_t len)
{
	static const char form[] = "dddd-dd-dd";
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	int parts[3] = {0}, part = 0;

	if (len != sizeof(form) - 1)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != '-')
			return false;
		if (form[i] == 'd')
			parts[part] = parts[part] * 10 + text[i] - '0';
		else
			part++;
	}
	return parts[0] > 1970 && parts[0] < 2100 && parts[1] >= 1 && parts[1] <= 12 &&
	       parts[2] >= 1 && parts[2] <= days[parts[1] - 1];
}

/* What a text stands for beside a number: the number in it. False: there is none. */
static bool text_to_number(struct compiler *c, struct expr *e)
{
	struct expr n;

	if (!e->constant || e->kind != STORE_TEXT || !e->text)
		return false;
	n = sx_constant(c, sx_text(c,
				   "case when cast(%s as numeric) = %s then cast(%s as numeric) "
				   "end",
				   e->local, e->local, e->local));
	if (n.kind == STORE_NULL)
		return false;
	*e = n;
	return true;
}

/* Both sides become things that can be compared. False: they cannot. */
bool sx_level(struct compiler *c, struct expr *l, struct expr *r)
{
	struct expr *date = l->kind == STORE_DATE ? l : r, *other = date == l ? r : l;

	if (l->kind == STORE_NULL || r->kind == STORE_NULL || l->kind == r->kind)
		return true;
	if (sx_is_number(l) && sx_is_number(r))
		return true;
	if (date->kind == STORE_DATE && (other->kind == STORE_TEXT || other->constant)) {
		if (other->kind == STORE_TEXT && !other->text && other->constant)
			return false;
		if (other->kind != STORE_TEXT) {
			other->remote = sx_quote_remote(c, other->text, other->len);
			other->kind = STORE_TEXT;
		}
		if (!other->constant || !other->text || !is_date(other->text, other->len)) {
			date->remote = sx_as_text(c, date, "text");
			date->kind = STORE_TEXT;
		}
		return true;
	}
	/* A column of texts makes a text of a number, one of numbers a number of a text. */
	for (int i = 0; i < 2; i++) {
		struct expr *constant = i ? l : r, *column = i ? r : l;

		if (constant->constant && column->kind == STORE_TEXT && sx_is_number(constant)) {
			constant->remote = sx_quote_remote(c, constant->text, constant->len);
			constant->kind = STORE_TEXT;
			return true;
		}
		if (sx_is_number(column) && text_to_number(c, constant))
			return true;
	}
	return false;
}

/* Whether a constant is more than any value of the other side: blobs, and texts above numbers. */
static bool is_above(struct compiler *c, const struct expr *e, const struct expr *other)
{
	struct expr copy = *e;

	if (!e->constant || e->kind != STORE_TEXT || other->kind == STORE_NULL)
		return false;
	return !e->text || (sx_is_number(other) && !text_to_number(c, &copy));
}

static struct expr compare_kinds(struct compiler *c, const char *op, const struct expr *l,
				 const struct expr *r)
{
	const bool right = is_above(c, r, l), differs = strcmp(op, "<>") == 0 || *op == '!';
	const char *value = differs || (right ? *op == '<' : *op == '>') ? "1" : "0";
	const struct expr *e = right ? l : r;

	if (!e->nullable)
		return sx_make(c, STORE_BOOL, false, sx_text(c, "toUInt8(%s)", value));
	return sx_make(c, STORE_BOOL, true,
		       sx_text(c, "if(isNull(%s), NULL, %s)", e->remote, value));
}

struct expr sx_compare(struct compiler *c, const char *op, struct expr l, struct expr r)
{
	if (c->rc < 0)
		return sx_nothing;
	if (l.constant && r.constant)
		return sx_constant(c, sx_text(c, "(%s %s %s)", l.local, op, r.local));
	if (!l.remote || !r.remote)
		return sx_operator_here(c, op, l, r);
	if (l.kind == STORE_NULL || r.kind == STORE_NULL)
		return sx_null();
	if (is_above(c, &l, &r) || is_above(c, &r, &l))
		return compare_kinds(c, op, &l, &r);
	if (!sx_level(c, &l, &r))
		return sx_operator_here(c, op, l, r);
	/* By values: those of a fixed length would be padded, or refused. */
	if (l.fixed != r.fixed && !l.constant && !r.constant) {
		l.remote = sx_as_text(c, &l, op);
		r.remote = sx_as_text(c, &r, op);
	}
	return sx_make(
		c, STORE_BOOL, sx_may_be_null(&l, &r),
		sx_text(c, "(%s %s %s)", l.remote, strcmp(op, "==") == 0 ? "=" : op, r.remote));
}

struct expr sx_logic(struct compiler *c, const char *op, struct expr l, struct expr r)
{
	const char *left, *right;

	if (!l.remote || !r.remote)
		return sx_operator_here(c, op, l, r);
	left = sx_condition(c, &l);
	right = sx_condition(c, &r);
	/* The AND of old servers does not know that nothing and false is false; their OR does. */
	if (strcmp(op, "AND") == 0 && sx_may_be_null(&l, &r))
		return sx_make(c, STORE_BOOL, true,
			       sx_text(c, "(NOT ((NOT %s) OR (NOT %s)))", left, right));
	return sx_make(c, STORE_BOOL, sx_may_be_null(&l, &r),
		       sx_text(c, "(%s %s %s)", left, op, right));
}

struct expr sx_concatenate(struct compiler *c, struct expr l, struct expr r)
{
	if (l.kind == STORE_NULL || r.kind == STORE_NULL)
		return sx_null();
	if ((l.kind == STORE_REAL && !l.constant) || (r.kind == STORE_REAL && !r.constant))
		return sx_operator_here(c, "||", l, r);
	return sx_make(
		c, STORE_TEXT, sx_may_be_null(&l, &r),
		sx_text(c, "concat(%s, %s)", sx_as_text(c, &l, "'||'"), sx_as_text(c, &r, "'||'")));
}

static const struct binary operators[] = {
	{"=", PREC_EQUAL, sx_compare},	  {"==", PREC_EQUAL, sx_compare},
	{"<>", PREC_EQUAL, sx_compare},	  {"!=", PREC_EQUAL, sx_compare},
	{"<", PREC_LESS, sx_compare},	  {"<=", PREC_LESS, sx_compare},
	{">", PREC_LESS, sx_compare},	  {">=", PREC_LESS, sx_compare},
	{"&", PREC_BITS, bits},		  {"|", PREC_BITS, bits},
	{"<<", PREC_BITS, bits},	  {">>", PREC_BITS, bits},
	{"+", PREC_ADD, arithmetic},	  {"-", PREC_ADD, arithmetic},
	{"*", PREC_MULTIPLY, arithmetic}, {"/", PREC_MULTIPLY, arithmetic},
	{"%", PREC_MULTIPLY, arithmetic},
};

struct expr sx_apply(struct compiler *c, const struct binary *op, struct expr l, struct expr r)
{
	if (c->rc < 0)
		return sx_nothing;
	if (l.constant && r.constant)
		return sx_constant(c, sx_text(c, "(%s %s %s)", l.local, op->sign, r.local));
	if (!l.remote || !r.remote)
		return sx_operator_here(c, op->sign, l, r);
	return op->make(c, op->sign, l, r);
}

/* ---- patterns ---- */

/* Case does not matter to LIKE, and a backslash is a letter like others. */
static const char *like_pattern(struct compiler *c, const struct expr *e)
{
	const char *out;
	struct buf b;

	buf_init(&b, 1u << 20);
	for (size_t i = 0; i < e->len; i++) {
		const char ch = e->text[i];

		if (ch == '\\')
			buf_putc(&b, '\\');
		buf_putc(&b, ch >= 'A' && ch <= 'Z' ? (char)(ch | 32) : ch);
	}
	out = sx_quote_remote(c, b.data, b.len);
	buf_free(&b);
	return out;
}

/* GLOB as a regular expression. */
static const char *glob_pattern(struct compiler *c, const struct expr *e)
{
	const char *out;
	struct buf b;

	buf_init(&b, 1u << 20);
	buf_puts(&b, "^(?s)");
	for (size_t i = 0; i < e->len; i++) {
		const char ch = e->text[i];
		const char *close;
		size_t first; /* where its closing bracket may be */

		first = i + 2 + (i + 1 < e->len && e->text[i + 1] == '^');
		if (ch == '*') {
			buf_puts(&b, ".*");
		} else if (ch == '?') {
			buf_putc(&b, '.');
		} else if (ch == '[' && first < e->len &&
			   (close = memchr(e->text + first, ']', e->len - first))) {
			const size_t to = (size_t)(close - e->text);

			buf_putc(&b, '[');
			for (i++; i < to; i++) {
				if (strchr("\\[]&~", e->text[i]))
					buf_putc(&b, '\\');
				buf_putc(&b, e->text[i]);
			}
			buf_putc(&b, ']');
		} else {
			if (ch && strchr("\\.+()|{}^$[]", ch))
				buf_putc(&b, '\\');
			buf_putc(&b, ch);
		}
	}
	buf_putc(&b, '$');
	out = sx_quote_remote(c, b.data, b.len);
	buf_free(&b);
	return out;
}

struct expr sx_match(struct compiler *c, const char *op, struct expr l, struct expr r)
{
	const char *text;

	if (l.constant && r.constant)
		return sx_constant(c, sx_text(c, "(%s %s %s)", l.local, op, r.local));
	if (!l.remote || !r.constant || !r.text || (l.kind == STORE_REAL))
		return sx_operator_here(c, op, l, r);
	if (r.kind == STORE_NULL)
		return sx_null();
	text = sx_as_text(c, &l, op);
	return sx_make(c, STORE_BOOL, l.nullable,
		       strcmp(op, "like") == 0
			       ? sx_text(c, "like(lower(%s), %s)", text, like_pattern(c, &r))
			       : sx_text(c, "match(%s, %s)", text, glob_pattern(c, &r)));
}

const struct binary *sx_binary(const struct compiler *c)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (sx_at_sign(c, 0, operators[i].sign))
			return &operators[i];
	return NULL;
}
