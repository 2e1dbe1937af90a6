// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The formatter. It reads the pieces of a script once and writes each of them exactly once, in
 * order, except for semicolons that are not needed.
 *
 * A comment after something on its line stays there; other comments have lines of their own.
 * Several empty lines become one.
 */
#include "lang/parse.h"

#include <errno.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "lang/parse/pieces.h"

/* What the last piece of a line was: it decides about the blank before the next one. */
enum role {
	ROLE_START,
	ROLE_OPERAND, /* a value, or its end: an operator follows */
	ROLE_WORD,    /* the same, and a '(' makes it a call */
	ROLE_STAR,    /* of a type */
	ROLE_KEYWORD,
	ROLE_BINARY, /* blanks on both sides */
	ROLE_TIGHT,  /* no blank after it: opening brackets, unary operators, casts, '.' */
};

struct bracket {
	size_t piece;
	bool is_call;
	size_t column; /* offset in the line, after it */
};

struct line_break {
	size_t at; /* offset of a blank that can become a line end */
	unsigned int depth;
	size_t align; /* the next line begins below this offset; SIZE_MAX: none */
};

struct formatter {
	struct pieces pieces;
	size_t next; /* piece */
	struct buf *to;
	unsigned int indent;
	bool failed; /* no memory, or nested too deeply */

	/* The current line. */
	struct buf line;
	enum role role;
	size_t hang; /* column at which a line outside of blocks continues */
	bool in_let, breakable, after_comment, continued;
	struct {
		struct bracket *at;
		size_t n, cap;
	} brackets;
	struct {
		struct line_break *at;
		size_t n, cap;
	} breaks;
};

static const struct script_piece *peek_ahead(const struct formatter *f, size_t ahead)
{
	const size_t i = f->next + ahead;

	return &f->pieces.at[i < f->pieces.n ? i : f->pieces.n - 1];
}

/* ---- one line ---- */

/*
 * Blanks between the pieces, and where a long line is broken: after a comma, a colon, && or ||, as
 * far outside of brackets as possible. The next line then begins below the open bracket.
 */

enum { WIDTH = 100, TAB = 8, DEEPEST = 60 };

static const char *const keywords[] = {"if", "else", "while", "for", "return", "comptime", "let"};
static const char *const unary[] = {"-", "*", "&", "+", "++", "--"};
static const char *const numbers[] = {"int8",	"int16",  "int32",  "int64",  "uint8",	 "uint16",
				      "uint32", "uint64", "string", "buffer", "bool",	 "struct",
				      "union",	"enum",	  "typeof", "char",   "int",	 "long",
				      "short",	"void",	  "inet",   "const",  "unsigned"};

#define IN(piece, kind, list) is_in(piece, kind, list, ARRAY_SIZE(list))

static bool is_in(const struct script_piece *p, enum piece_kind kind, const char *const *list,
		  size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (script_piece_is(p, kind, list[i]))
			return true;
	return false;
}

static bool ends_value(enum role r)
{
	return r == ROLE_OPERAND || r == ROLE_WORD || r == ROLE_STAR;
}

/* The next piece that is not a comment, from `i` on. */
static const struct script_piece *code_from(const struct formatter *f, size_t i)
{
	while (i + 1 < f->pieces.n && f->pieces.at[i].kind == P_COMMENT)
		i++;
	return &f->pieces.at[i < f->pieces.n ? i : f->pieces.n - 1];
}

/* ---- types, casts, records ---- */

/* Whether the pieces between two brackets can be a type; `sure`: they can be nothing else. */
static bool is_type(const struct formatter *f, size_t from, size_t to, bool *sure)
{
	const struct script_piece *p = f->pieces.at;

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

/* Whether a ')' ends a cast: a type is before it, and a value follows. */
static bool ends_cast(const struct formatter *f, const struct bracket *b)
{
	const struct script_piece *next = code_from(f, f->next + 1);
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

/* A star after a type: no factor of a multiplication follows. */
static bool is_type_star(const struct formatter *f)
{
	static const char *const following[] = {")", ",", "]", "=", ";", "["};
	size_t i = f->next;

	while (piece_is_op(&f->pieces.at[i], "*"))
		i++;
	return IN(code_from(f, i), P_OP, following);
}

/* (name=value, …) */
static bool is_record_item(const struct formatter *f)
{
	const struct bracket *b = f->brackets.n ? &f->brackets.at[f->brackets.n - 1] : NULL;
	const struct script_piece *p = &f->pieces.at[f->next];

	return b && !b->is_call && piece_is_op(&f->pieces.at[b->piece], "(") && f->next > 1 &&
	       p[-1].kind == P_WORD && (piece_is_op(&p[-2], "(") || piece_is_op(&p[-2], ","));
}

/* ---- blanks ---- */

static void open_bracket(struct formatter *f, bool is_call)
{
	struct bracket *b = vec_push(&f->brackets);

	if (b)
		*b = (struct bracket){f->next, is_call, 0};
	else
		f->failed = true;
}

/* Whether an operator needs a blank before it; sets its role. */
static bool classify_operator(struct formatter *f, enum role *role)
{
	const struct script_piece *p = peek_ahead(f, 0);
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
	if (piece_is_op(p, "!") && f->role == ROLE_WORD && piece_is_op(peek_ahead(f, 1), "(")) {
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

static enum role role_of_word(const struct script_piece *p)
{
	return p->kind == P_WORD ? (IN(p, P_WORD, keywords) ? ROLE_KEYWORD : ROLE_WORD)
				 : ROLE_OPERAND;
}

static void line_puts(struct formatter *f, const char *text, bool blank)
{
	if (f->line.len && blank)
		buf_putc(&f->line, ' ');
	buf_puts(&f->line, text);
}

/* The line can be broken here, instead of the blank that is about to be added. */
static void can_break(struct formatter *f, size_t depth)
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

static bool breaks_after(const struct formatter *f, const struct script_piece *p)
{
	return piece_is_op(p, ",") || piece_is_op(p, "&&") || piece_is_op(p, "||") ||
	       (piece_is_op(p, ":") && !f->in_let);
}

static void line_add(struct formatter *f)
{
	const struct script_piece *p = peek_ahead(f, 0);
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
		blank = classify_operator(f, &role);
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
	f->breakable = breaks_after(f, p);
	f->after_comment = false;
	f->next++;
}

/* ---- the end of a line ---- */

static void put_indent(struct formatter *f, size_t column)
{
	buf_fill(f->to, '\t', column / TAB);
	buf_fill(f->to, ' ', column % TAB);
}

/* Chooses the outermost break that fits, the last one of these; NULL: there is none. */
static const struct line_break *choose(const struct formatter *f, size_t from, size_t column)
{
	const struct line_break *best = NULL;

	vec_each (b, &f->breaks) {
		if (b->at <= from)
			continue;
		/* If not even the first one fits, it is used all the same. */
		if (column + (b->at - from) > WIDTH)
			return best ? best : b;
		if (!best || b->depth <= best->depth)
			best = b;
	}
	return best;
}

/* The column where the line continues after a break. */
static size_t next_column(const struct formatter *f, const struct line_break *b,
			  const size_t *columns)
{
	const size_t usual = ((size_t)f->indent + 2) * TAB;

	if (b->align == SIZE_MAX)
		return f->indent ? usual : f->hang;
	return columns[b->align] > DEEPEST ? usual : columns[b->align];
}

static void put_parts(struct formatter *f, size_t column, size_t *columns)
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

static void line_end(struct formatter *f)
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
	/* The next line is not aligned with brackets of this one. */
	vec_each (b, &f->brackets)
		b->column = 0;
}

/* ---- blocks and statements ---- */

enum { LINE_LIMIT = 1 << 20, MAX_DEPTH = 250 };

static void format_block(struct formatter *f, bool value);

static const struct script_piece *peek(const struct formatter *f)
{
	return peek_ahead(f, 0);
}

static void empty_line(struct formatter *f)
{
	if (f->to->len > 1 &&
	    !(f->to->data[f->to->len - 1] == '\n' && f->to->data[f->to->len - 2] == '\n'))
		buf_putc(f->to, '\n');
}

/* ---- comments ---- */

/* A comment of several lines: lines that begin with a star are indented by one column. */
static void put_comment(struct formatter *f, const struct script_piece *p)
{
	const char *at = p->text, *const end = p->text + p->len;
	bool stars = true;

	for (const char *c = memchr(at, '\n', (size_t)(end - at)); c && stars;
	     c = memchr(c, '\n', (size_t)(end - c))) {
		c++;
		while (c < end && (*c == ' ' || *c == '\t'))
			c++;
		stars = c < end && *c == '*';
	}
	for (bool first = true; at < end; first = false) {
		const char *to = memchr(at, '\n', (size_t)(end - at));
		const char *stop = to ? to : end;

		while (!first && stars && (*at == ' ' || *at == '\t'))
			at++;
		if (first || stars)
			buf_fill(f->to, '\t', f->indent);
		if (!first && stars)
			buf_putc(f->to, ' ');
		while (stop > at && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r'))
			stop--;
		buf_put(f->to, at, (size_t)(stop - at));
		buf_putc(f->to, '\n');
		at = to ? to + 1 : end;
	}
}

/* A comment or directive on lines of its own. */
static void format_comment(struct formatter *f)
{
	const struct script_piece *p = peek(f);

	if (f->line.len)
		line_end(f);
	if (p->lines > 1)
		empty_line(f);
	if (p->kind == P_COMMENT) {
		put_comment(f, p);
	} else {
		buf_put(f->to, p->text, p->len);
		buf_putc(f->to, '\n');
	}
	f->next++;
}

/* Adds comments to the current line and ends it. */
static void end_with_comments(struct formatter *f)
{
	while (peek(f)->kind == P_COMMENT && !peek(f)->lines)
		line_add(f);
	line_end(f);
}

/* Whether a line end follows the comment, as it must after //. */
static bool ends_line(const struct formatter *f)
{
	return memcmp(peek(f)->text, "//", 2) == 0 || peek_ahead(f, 1)->lines;
}

/* Writes a comment or directive and ends the line; `own`: it has a line of its own. */
static void put_aside(struct formatter *f, bool own)
{
	if (own) {
		format_comment(f);
		return;
	}
	line_add(f);
	line_end(f);
}

/* A comment in the middle of a statement: the rest continues on the next line. */
static void format_inside(struct formatter *f)
{
	const struct script_piece *p = peek(f);
	const bool own = p->lines || p->kind == P_DIRECTIVE;

	if (!own && !ends_line(f)) {
		line_add(f);
		return;
	}
	put_aside(f, own);
	f->continued = true;
}

/* ---- expressions ---- */

/* A block that only contains its value stays on the line. */
static bool is_short(const struct formatter *f)
{
	for (size_t i = 1;; i++) {
		const struct script_piece *p = peek_ahead(f, i);

		if (piece_is_op(p, "}"))
			return i > 1;
		if (p->kind == P_END || p->kind == P_COMMENT || p->kind == P_DIRECTIVE ||
		    piece_is_op(p, "{") || piece_is_op(p, ";"))
			return false;
	}
}

static void format_value_block(struct formatter *f)
{
	const bool tight = f->role == ROLE_TIGHT;

	if (is_short(f)) {
		line_puts(f, "{", !tight);
		f->next++;
		f->role = ROLE_BINARY;
		while (!piece_is_op(peek(f), "}"))
			line_add(f);
		line_puts(f, "}", true);
		f->next++;
	} else {
		line_puts(f, "{", !tight);
		format_block(f, true);
		line_puts(f, "}", false);
	}
	f->role = ROLE_OPERAND;
}

/* Formats up to one of these characters outside of brackets, or the end of the block. */
static void format_until(struct formatter *f, const char *ends)
{
	const size_t depth = f->brackets.n;

	while (!f->failed) {
		const struct script_piece *p = peek(f);

		if (p->kind == P_END || p->kind == P_EDGE)
			return;
		if (p->kind == P_COMMENT || p->kind == P_DIRECTIVE) {
			format_inside(f);
			continue;
		}
		if (p->kind == P_OP && p->len == 1 && f->brackets.n <= depth &&
		    strchr(ends, *p->text))
			return;
		if (piece_is_op(p, "}"))
			return;
		if (piece_is_op(p, "{"))
			format_value_block(f);
		else
			line_add(f);
	}
}

/* ---- statements ---- */

static void begin_statement(struct formatter *f)
{
	f->role = ROLE_START;
	f->continued = false;
	f->hang = 0;
	f->brackets.n = 0;
	f->in_let = piece_is_word(peek(f), "let");
}

static bool is_block_word(const struct script_piece *p)
{
	return piece_is_word(p, "if") || piece_is_word(p, "for") || piece_is_word(p, "while") ||
	       piece_is_word(p, "unroll");
}

/* The '{' of an if, a for, …, its block, and the '}', which stays on the current line. */
static void format_body(struct formatter *f, bool value)
{
	format_until(f, "{");
	if (!piece_is_op(peek(f), "{"))
		return;
	line_puts(f, "{", true);
	format_block(f, value);
	line_puts(f, "}", false);
	f->role = ROLE_BINARY;
}

static void format_with_body(struct formatter *f, bool value)
{
	const bool is_if = piece_is_word(peek(f), "if");

	begin_statement(f);
	line_add(f);
	format_body(f, value && is_if);
	while (is_if && !f->failed) {
		size_t i = 0;

		while (peek_ahead(f, i)->kind == P_COMMENT)
			i++;
		if (!piece_is_word(peek_ahead(f, i), "else"))
			break;
		for (; i; i--)
			put_aside(f, peek(f)->lines);
		f->continued = false;
		line_add(f);
		if (piece_is_word(peek(f), "if"))
			line_add(f);
		format_body(f, value);
	}
	/* In a block with a value it means that this is not the value. */
	if (value && piece_is_op(peek(f), ";"))
		line_add(f);
	end_with_comments(f);
}

static void format_statement(struct formatter *f, bool value)
{
	const struct script_piece *first = peek(f);

	if (is_block_word(first)) {
		format_with_body(f, value);
		return;
	}
	begin_statement(f);
	if (piece_is_op(first, "{")) {
		format_value_block(f);
		if (value && piece_is_op(peek(f), ";"))
			line_add(f);
		end_with_comments(f);
		return;
	}
	format_until(f, ";");
	if (piece_is_op(peek(f), ";"))
		line_add(f);
	else if (!value)
		line_puts(f, ";", false);
	end_with_comments(f);
}

/* From after the '{', which is on the line, to after the '}', which is not yet. */
static void format_block(struct formatter *f, bool value)
{
	const struct formatter outer = *f;
	bool first = true;

	f->next++;
	if (f->indent > MAX_DEPTH) {
		f->failed = true;
		return;
	}
	/* A block that is a value may be inside brackets. */
	f->brackets.at = NULL;
	f->brackets.n = f->brackets.cap = 0;
	end_with_comments(f);
	f->indent++;
	f->continued = false;
	while (!f->failed && !piece_is_op(peek(f), "}") && peek(f)->kind != P_END) {
		if (peek(f)->lines > 1 && !first)
			empty_line(f);
		first = false;
		if (peek(f)->kind == P_COMMENT || peek(f)->kind == P_DIRECTIVE)
			format_comment(f);
		else if (piece_is_op(peek(f), ";"))
			f->next++;
		else
			format_statement(f, value);
	}
	vec_free(&f->brackets);
	f->brackets.at = outer.brackets.at;
	f->brackets.n = outer.brackets.n;
	f->brackets.cap = outer.brackets.cap;
	f->indent = outer.indent;
	f->continued = outer.continued;
	f->in_let = outer.in_let;
	if (piece_is_op(peek(f), "}"))
		f->next++;
}

/* ---- the script ---- */

/*
 * The block of a probe, a macro, a function or the settings. own_line: the '{' has a line of its
 * own.
 */
static void format_outer(struct formatter *f, bool value, bool own_line)
{
	if (f->line.len && own_line)
		line_end(f);
	line_puts(f, "{", true);
	format_block(f, value);
	line_puts(f, "}", false);
	end_with_comments(f);
}

static void format_predicate(struct formatter *f)
{
	if (f->line.len)
		line_end(f);
	line_puts(f, "/", false);
	f->next++;
	f->role = ROLE_TIGHT;
	f->hang = 1;
	format_until(f, "");
	if (peek(f)->kind == P_EDGE) {
		line_puts(f, "/", false);
		f->next++;
	}
	end_with_comments(f);
}

static void format_probe(struct formatter *f)
{
	begin_statement(f);
	while (!f->failed) {
		const struct script_piece *p = peek(f);

		if (p->kind == P_EDGE) {
			format_predicate(f);
		} else if (p->kind == P_COMMENT || p->kind == P_DIRECTIVE) {
			format_inside(f);
			f->continued = false;
		} else if (piece_is_op(p, "{")) {
			format_outer(f, false, true);
			return;
		} else if (p->kind == P_POINT || piece_is_op(p, ",") || piece_is_op(p, "=")) {
			/* name=probe */
			if (piece_is_op(p, "=")) {
				line_puts(f, "=", false);
				f->next++;
				f->role = ROLE_TIGHT;
			} else {
				line_add(f);
			}
		} else {
			f->failed = true;
		}
	}
}

/* Writes the ';' of an item that may have none. */
static void end_item(struct formatter *f)
{
	if (piece_is_op(peek(f), ";"))
		f->next++;
	line_puts(f, ";", false);
	end_with_comments(f);
}

static void format_line(struct formatter *f)
{
	begin_statement(f);
	format_until(f, ";");
	end_item(f);
}

/* let @x = hash(10), which needs no semicolon. */
static void format_declaration(struct formatter *f)
{
	begin_statement(f);
	while (!f->failed && peek(f)->kind != P_END) {
		const bool last = piece_is_op(peek(f), ")") && f->brackets.n == 1;

		if (peek(f)->kind == P_COMMENT)
			format_inside(f);
		else
			line_add(f);
		if (last)
			break;
	}
	end_item(f);
}

static void format_c(struct formatter *f)
{
	const struct script_piece *p = peek(f);

	buf_put(&f->line, p->text, p->len);
	f->next++;
	end_with_comments(f);
}

enum item { ITEM_NONE, ITEM_COMMENT, ITEM_LINE, ITEM_BLOCK };

static enum item item_of(const struct script_piece *p)
{
	if (p->kind == P_COMMENT || p->kind == P_DIRECTIVE || piece_is_op(p, ";"))
		return ITEM_COMMENT;
	return p->kind == P_C || piece_is_word(p, "import") || piece_is_word(p, "let") ? ITEM_LINE
										       : ITEM_BLOCK;
}

static void format_line_item(struct formatter *f)
{
	if (peek(f)->kind == P_C)
		format_c(f);
	else if (piece_is_word(peek(f), "import"))
		format_line(f);
	else
		format_declaration(f);
}

static void format_block_item(struct formatter *f)
{
	const bool macro = piece_is_word(peek(f), "macro");
	const bool function = piece_is_word(peek(f), "fn");

	if (!macro && !function && !piece_is_word(peek(f), "config")) {
		format_probe(f);
		return;
	}
	begin_statement(f);
	format_until(f, "{");
	format_outer(f, macro, macro || function);
}

/* An item at the outermost level. Empty lines surround items with a block. */
static enum item format_item(struct formatter *f, enum item before)
{
	const enum item item = item_of(peek(f));

	if (piece_is_op(peek(f), ";")) {
		f->next++;
		return before;
	}
	if (before == ITEM_BLOCK || (before == ITEM_LINE && item == ITEM_BLOCK) ||
	    peek(f)->lines > 1)
		empty_line(f);
	if (item == ITEM_COMMENT)
		format_comment(f);
	else if (item == ITEM_LINE)
		format_line_item(f);
	else
		format_block_item(f);
	return item;
}

int format_script(const char *text, size_t len, struct buf *to, struct spur_error *err)
{
	struct formatter f = {.to = to};
	enum item item = ITEM_NONE;
	int rc = len < UINT32_MAX ? pieces_scan(text, len, &f.pieces) : -EINVAL;

	buf_init(&f.line, LINE_LIMIT);
	while (rc == 0 && !f.failed && peek(&f)->kind != P_END)
		item = format_item(&f, item);
	if (rc == 0 && (f.failed || f.line.full || to->full))
		rc = -EINVAL;
	buf_free(&f.line);
	vec_free(&f.pieces);
	vec_free(&f.brackets);
	vec_free(&f.breaks);
	return rc == 0 ? 0 : error_set(err, rc, "the script cannot be laid out");
}
