// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The condition of an #if: numbers, operators of C and defined(NAME). Names that are left when all
 * definitions have been replaced are 0.
 */
#include "lang/pp.h"

#include "lang/lex.h"

enum { MAX_NESTING = 64 };

struct reader {
	const char *p, *end;
	unsigned int depth;
	bool odd;
};

static const struct {
	const char *text;
	int precedence, op;
} operators[] = {
	{"||", 1, OP_OR}, {"&&", 2, OP_AND}, {"==", 6, OP_EQ},	{"!=", 6, OP_NE}, {"<=", 7, OP_LE},
	{">=", 7, OP_GE}, {"<<", 8, OP_SHL}, {">>", 8, OP_SHR}, {"|", 3, '|'},	  {"^", 4, '^'},
	{"&", 5, '&'},	  {"<", 7, '<'},     {">", 7, '>'},	{"+", 9, '+'},	  {"-", 9, '-'},
	{"*", 10, '*'},	  {"/", 10, '/'},    {"%", 10, '%'},
};

static uint64_t read_binary(struct reader *r, int least);

/* Also the end of a line that goes on in the next one. */
static void pass_blanks(struct reader *r)
{
	while (r->p < r->end && (*r->p == ' ' || (*r->p >= '\t' && *r->p <= '\r') ||
				 (*r->p == '\\' && r->end - r->p > 1 && r->p[1] == '\n')))
		r->p++;
}

static uint64_t read_digits(struct reader *r)
{
	uint64_t v = 0;
	unsigned int base = 10;

	if (*r->p == '0' && r->end - r->p > 1) {
		base = (r->p[1] | 0x20) == 'x' ? 16 : 8;
		r->p += base == 16 ? 2 : 1;
	}
	for (; r->p < r->end && lex_is_name(*r->p); r->p++) {
		const char c = *r->p | 0x20;
		const unsigned int d = (unsigned int)(c >= 'a' ? c - 'a' + 10 : c - '0');

		if (d < base)
			v = v * base + d;
		else if (c != 'u' && c != 'l' && *r->p != '_')
			r->odd = true;
	}
	return v;
}

static uint64_t read_unary(struct reader *r)
{
	uint64_t v = 0;
	char c;

	pass_blanks(r);
	if (r->odd || r->p == r->end || r->depth >= MAX_NESTING) {
		r->odd = true;
		return 0;
	}
	c = *r->p;
	if (lex_is_digit(c))
		return read_digits(r);
	if (lex_is_name_start(c)) {
		while (r->p < r->end && lex_is_name(*r->p))
			r->p++;
		return 0;
	}
	r->p++;
	r->depth++;
	if (c == '(') {
		v = read_binary(r, 1);
		pass_blanks(r);
		if (r->p == r->end || *r->p++ != ')')
			r->odd = true;
	} else if (c == '!') {
		v = !read_unary(r);
	} else if (c == '-') {
		v = -read_unary(r);
	} else if (c == '~') {
		v = ~read_unary(r);
	} else if (c == '+') {
		v = read_unary(r);
	} else {
		r->odd = true;
	}
	r->depth--;
	return v;
}

static uint64_t apply(int op, uint64_t a, uint64_t b)
{
	const int64_t x = (int64_t)a, y = (int64_t)b;

	switch (op) {
	case OP_OR: return a || b;
	case OP_AND: return a && b;
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_LE: return x <= y;
	case OP_GE: return x >= y;
	case '<': return x < y;
	case '>': return x > y;
	case OP_SHL: return a << (b & 63);
	case OP_SHR: return a >> (b & 63);
	case '|': return a | b;
	case '^': return a ^ b;
	case '&': return a & b;
	case '+': return a + b;
	case '-': return a - b;
	case '*': return a * b;
	case '/': return b ? a / b : 0;
	default: return b ? a % b : 0;
	}
}

static uint64_t read_binary(struct reader *r, int least)
{
	const size_t nr = sizeof(operators) / sizeof(*operators);
	uint64_t v = read_unary(r);

	for (;;) {
		size_t i, len = 0;

		pass_blanks(r);
		for (i = 0; i < nr; i++) {
			len = strlen(operators[i].text);
			if ((size_t)(r->end - r->p) >= len && !memcmp(r->p, operators[i].text, len))
				break;
		}
		if (i == nr || operators[i].precedence < least || r->odd)
			return v;
		r->p += len;
		v = apply(operators[i].op, v, read_binary(r, operators[i].precedence + 1));
	}
}

/* Passes "defined NAME" or "defined(NAME)" behind its first word; false when it is neither. */
static bool read_defined(struct lexer *l, struct reader *r, struct buf *out)
{
	const char *name;
	bool paren;

	pass_blanks(r);
	paren = r->p < r->end && *r->p == '(';
	if (paren)
		r->p++;
	pass_blanks(r);
	name = r->p;
	while (r->p < r->end && lex_is_name(*r->p))
		r->p++;
	buf_puts(out, pp_lookup(&l->pp, name, (size_t)(r->p - name)) ? " 1 " : " 0 ");
	if (name == r->p)
		return false;
	pass_blanks(r);
	return !paren || (r->p < r->end && *r->p++ == ')');
}

bool pp_condition(struct lexer *l, struct span at, const char *text, size_t len)
{
	struct reader r = {.p = text, .end = text + len};
	struct buf plain, full;
	uint64_t v = 0;
	bool ok;

	buf_init(&plain, PP_MAX_EXPANSION);
	buf_init(&full, PP_MAX_EXPANSION);
	while (r.p < r.end) {
		const char *from = r.p;

		while (r.p < r.end && lex_is_name(*r.p))
			r.p++;
		if (r.p - from == 7 && !memcmp(from, "defined", 7))
			r.odd |= !read_defined(l, &r, &plain);
		else
			buf_put(&plain, from, (size_t)(r.p - from) + (r.p == from));
		r.p += r.p == from;
	}
	ok = pp_expand_text(l, at, plain.data, plain.len, &full);
	r = (struct reader){.p = full.data, .end = full.data + full.len, .odd = r.odd};
	if (ok) {
		v = read_binary(&r, 1);
		pass_blanks(&r);
	}
	if (ok && (r.odd || r.p != r.end)) {
		lex_error(l, at, "this condition cannot be understood");
		v = 0;
	}
	buf_free(&plain);
	buf_free(&full);
	return v != 0;
}
