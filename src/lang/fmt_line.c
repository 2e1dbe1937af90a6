// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One line of a script: where blanks stand between its pieces, and where it is cut when it is too
 * long: behind a comma, a colon, && or ||, as far outside of brackets as can be. What follows then
 * begins below the bracket that is open.
 */
#include "base/vec.h"
#include "lang/fmt_parts.h"

enum { WIDTH = 100, TAB = 8, DEEPEST = 60 };

static const char *const keywords[] = {"if", "else", "while", "for", "return", "comptime", "let"};
static const char *const unary[] = {"-", "*", "&", "+", "++", "--"};
static const char *const numbers[] = {"int8",	"int16",  "int32",  "int64",  "uint8",	 "uint16",
				      "uint32", "uint64", "string", "buffer", "bool",	 "struct",
				      "union",	"enum",	  "typeof", "char",   "int",	 "long",
				      "short",	"void",	  "inet",   "const",  "unsigned"};

#define IN(piece, kind, list) is_in(piece, kind, list, sizeof(list) / sizeof(*(list)))

static bool is_in(const struct piece *p, enum piece_kind kind, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (piece_is(p, kind, list[i]))
			return true;
	return false;
}

static bool ends_value(enum role r)
{
	return r == ROLE_OPERAND || r == ROLE_WORD || r == ROLE_STAR;
}

/* The next piece that is no comment, counted from `i`. */
static const struct piece *code_from(const struct fmt *f, size_t i)
{
	while (i + 1 < f->pieces.n && f->pieces.at[i].kind == P_COMMENT)
		i++;
	return &f->pieces.at[i < f->pieces.n ? i : f->pieces.n - 1];
}

/* ---- what it is ---- */

/* Whether all between two brackets can be a type; `sure`: and can be nothing else. */
static bool is_type(const struct fmt *f, size_t from, size_t to, bool *sure)
{
	const struct piece *p = f->pieces.at;

	*sure = IN(&p[from], P_WORD, numbers);
	if (p[from].kind != P_WORD || from == to)
		return false;
	if (piece_is_word(&p[from], "typeof"))
		return true;
	for (size_t i = from; i < to; i++) {
		if (p[i].kind == P_OP && !piece_is_op(&p[i], "*") && !piece_is_op(&p[i], "[") &&
		    !piece_is_op(&p[i], "]"))
			return false;
		if (p[i].kind != P_OP && p[i].kind != P_WORD && p[i].kind != P_VALUE)
			return false;
	}
	*sure |= piece_is_op(&p[to - 1], "*");
	return true;
}

/* Whether a ')' ends a cast: what stands in front of it is a type, and a value follows. */
static bool ends_cast(const struct fmt *f, const struct bracket *b)
{
	const struct piece *next = code_from(f, f->next + 1);
	bool sure;

	if (b->is_call || !is_type(f, b->piece + 1, f->next, &sure))
		return false;
	if (next->kind == P_VALUE || piece_is_op(next, "(") || piece_is_op(next, "!") ||
	    piece_is_op(next, "~"))
		return true;
	if (next->kind == P_WORD)
		return !IN(next, P_WORD, keywords);
	return sure && IN(next, P_OP, unary);
}

/* A star behind a type: nothing that could be multiplied follows. */
static bool is_type_star(const struct fmt *f)
{
	static const char *const behind[] = {")", ",", "]", "=", ";", "["};
	size_t i = f->next;

	while (piece_is_op(&f->pieces.at[i], "*"))
		i++;
	return IN(code_from(f, i), P_OP, behind);
}

/* (name=value, …) */
static bool is_record_item(const struct fmt *f)
{
	const struct bracket *b = f->brackets.n ? &f->brackets.at[f->brackets.n - 1] : NULL;
	const struct piece *p = &f->pieces.at[f->next];

	return b && !b->is_call && piece_is_op(&f->pieces.at[b->piece], "(") && f->next > 1 &&
	       p[-1].kind == P_WORD && (piece_is_op(&p[-2], "(") || piece_is_op(&p[-2], ","));
}

/* ---- blanks ---- */

static void open_bracket(struct fmt *f, bool is_call)
{
	struct bracket *b = vec_push(&f->brackets);

	if (b)
		*b = (struct bracket){f->next, is_call, 0};
	else
		f->failed = true;
}

/* Whether a blank stands before an operator, and what it is to what follows. */
static bool take_operator(struct fmt *f, enum role *role)
{
	const struct piece *p = fmt_peek(f, 0);
	const bool value = ends_value(f->role);

	*role = ROLE_BINARY;
	if (piece_is_op(p, "(") || piece_is_op(p, "[")) {
		const bool call = *p->text == '(' ? f->role == ROLE_WORD : value;

		open_bracket(f, call);
		*role = ROLE_TIGHT;
		return !call;
	}
	if (piece_is_op(p, ")") || piece_is_op(p, "]")) {
		const struct bracket *b = f->brackets.n ? &f->brackets.at[--f->brackets.n] : NULL;

		*role = b && *p->text == ')' && ends_cast(f, b) ? ROLE_TIGHT : ROLE_OPERAND;
		return false;
	}
	if (piece_is_op(p, ".") || piece_is_op(p, "->") || piece_is_op(p, "..")) {
		*role = ROLE_TIGHT;
		return false;
	}
	if (piece_is_op(p, ",") || piece_is_op(p, ";"))
		return false;
	if (piece_is_op(p, "!") && f->role == ROLE_WORD && piece_is_op(fmt_peek(f, 1), "(")) {
		*role = ROLE_WORD;
		return false;
	}
	if ((piece_is_op(p, "++") || piece_is_op(p, "--")) && value) {
		*role = ROLE_OPERAND;
		return false;
	}
	if (piece_is_op(p, "*") && value && is_type_star(f)) {
		const bool first = f->role != ROLE_STAR;

		*role = ROLE_STAR;
		return first;
	}
	if (piece_is_op(p, "!") || piece_is_op(p, "~") || (IN(p, P_OP, unary) && !value))
		*role = ROLE_TIGHT;
	if (piece_is_op(p, ":") &&
	    ((f->in_let && !f->brackets.n) || piece_is_op(&f->pieces.at[f->next - 1], "?")))
		return false;
	if (piece_is_op(p, "=") && is_record_item(f)) {
		*role = ROLE_TIGHT;
		return false;
	}
	return true;
}

static enum role role_of_word(const struct piece *p)
{
	return p->kind == P_WORD ? (IN(p, P_WORD, keywords) ? ROLE_KEYWORD : ROLE_WORD)
				 : ROLE_OPERAND;
}

void line_puts(struct fmt *f, const char *text, bool blank)
{
	if (f->line.len && blank)
		buf_putc(&f->line, ' ');
	buf_puts(&f->line, text);
}

/* Where the line could be cut: instead of the blank that is about to be added. */
static void can_break(struct fmt *f, size_t depth)
{
	struct line_break *b = vec_push(&f->breaks);

	if (!b) {
		f->failed = true;
		return;
	}
	*b = (struct line_break){f->line.len, (unsigned int)depth, SIZE_MAX};
	if (depth)
		b->align = f->brackets.at[depth - 1].column;
}

static bool breaks_behind(const struct fmt *f, const struct piece *p)
{
	return piece_is_op(p, ",") || piece_is_op(p, "&&") || piece_is_op(p, "||") ||
	       (piece_is_op(p, ":") && !f->in_let);
}

void line_add(struct fmt *f)
{
	const struct piece *p = fmt_peek(f, 0);
	const size_t depth = f->brackets.n;
	enum role role = ROLE_OPERAND;
	bool blank = true;

	if (p->kind == P_COMMENT) {
		line_puts(f, "", true);
		buf_put(&f->line, p->text, p->len);
		f->after_comment = true;
		f->next++;
		return;
	}
	if (p->kind == P_OP)
		blank = take_operator(f, &role);
	else
		role = role_of_word(p);
	if (f->role == ROLE_TIGHT && !f->after_comment)
		blank = false;
	if (f->line.len && blank) {
		if (f->breakable)
			can_break(f, depth);
		buf_putc(&f->line, ' ');
	}
	buf_put(&f->line, p->text, p->len);
	if (f->brackets.n > depth)
		f->brackets.at[f->brackets.n - 1].column = f->line.len;
	f->role = role;
	f->breakable = breaks_behind(f, p);
	f->after_comment = false;
	f->next++;
}

/* ---- the end of a line ---- */

static void put_indent(struct fmt *f, size_t column)
{
	buf_fill(f->to, '\t', column / TAB);
	buf_fill(f->to, ' ', column % TAB);
}

/* The break to take: the outermost that fits, and of those the last; NULL: there is none. */
static const struct line_break *choose(const struct fmt *f, size_t from, size_t column)
{
	const struct line_break *best = NULL;

	vec_each (b, &f->breaks) {
		if (b->at <= from)
			continue;
		/* When not even the first fits it is taken all the same. */
		if (column + (b->at - from) > WIDTH)
			return best ? best : b;
		if (!best || b->depth <= best->depth)
			best = b;
	}
	return best;
}

/* Where the part of the line behind a break begins. */
static size_t next_column(const struct fmt *f, const struct line_break *b, const size_t *columns)
{
	const size_t usual = ((size_t)f->indent + 2) * TAB;

	if (b->align == SIZE_MAX)
		return f->indent ? usual : f->hang;
	return columns[b->align] > DEEPEST ? usual : columns[b->align];
}

static void put_parts(struct fmt *f, size_t column, size_t *columns)
{
	size_t from = 0;

	for (;;) {
		const struct line_break *b = NULL;
		size_t to = f->line.len;

		if (column + (f->line.len - from) > WIDTH)
			b = choose(f, from, column);
		if (b)
			to = b->at;
		put_indent(f, column);
		buf_put(f->to, f->line.data + from, to - from);
		buf_putc(f->to, '\n');
		for (size_t i = from; i <= to; i++)
			columns[i] = column + i - from;
		if (!b)
			return;
		from = to + 1;
		column = next_column(f, b, columns);
	}
}

void line_end(struct fmt *f)
{
	const size_t column = ((size_t)f->indent + (f->continued ? 1 : 0)) * TAB;
	size_t *columns = calloc(f->line.len + 1, sizeof(*columns));

	if (columns && f->line.len)
		put_parts(f, column, columns);
	f->failed |= !columns;
	free(columns);
	buf_reset(&f->line);
	f->breaks.n = 0;
	f->breakable = false;
	f->after_comment = false;
	/* Brackets of an earlier line say nothing about where this one begins. */
	vec_each (b, &f->brackets)
		b->column = 0;
}
