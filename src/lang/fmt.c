// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The formatter: blocks and statements. The pieces of a script are gone through once; every piece
 * is written exactly once, in order, but for semicolons that nobody needs.
 *
 * A comment that stands behind something on its line stays there, another one has lines of its own.
 * Of several empty lines one stays.
 */
#include "lang/fmt.h"

#include <errno.h>

#include "base/error.h"
#include "base/vec.h"
#include "lang/fmt_parts.h"

enum { LINE_LIMIT = 1 << 20, MAX_DEPTH = 250 };

static void format_block(struct fmt *f, bool value);

static const struct piece *peek(const struct fmt *f)
{
	return fmt_peek(f, 0);
}

static void empty_line(struct fmt *f)
{
	if (f->to->len > 1 &&
	    !(f->to->data[f->to->len - 1] == '\n' && f->to->data[f->to->len - 2] == '\n'))
		buf_putc(f->to, '\n');
}

/* ---- comments ---- */

/* A comment of several lines: those that begin with a star begin one column further in. */
static void put_comment(struct fmt *f, const struct piece *p)
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

/* A comment or directive that has lines of its own. */
static void format_beside(struct fmt *f)
{
	const struct piece *p = peek(f);

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

/* Comments on the line that was just made, which ends then. */
static void end_with_comments(struct fmt *f)
{
	while (peek(f)->kind == P_COMMENT && !peek(f)->lines)
		line_add(f);
	line_end(f);
}

/* Whether the comment is followed by a line end, as one of // has to be. */
static bool ends_line(const struct fmt *f)
{
	return memcmp(peek(f)->text, "//", 2) == 0 || fmt_peek(f, 1)->lines;
}

/* In the middle of a statement: what follows goes on in the next line. */
static void format_inside(struct fmt *f)
{
	const struct piece *p = peek(f);
	const bool own = p->lines || p->kind == P_DIRECTIVE;

	if (!own && !ends_line(f)) {
		line_add(f);
		return;
	}
	if (own) {
		format_beside(f);
	} else {
		line_add(f);
		line_end(f);
	}
	f->continued = true;
}

/* ---- expressions ---- */

/* A block that is a value and holds nothing but one: it stays on the line. */
static bool is_short(const struct fmt *f)
{
	for (size_t i = 1;; i++) {
		const struct piece *p = fmt_peek(f, i);

		if (piece_is_op(p, "}"))
			return i > 1;
		if (p->kind == P_END || p->kind == P_COMMENT || p->kind == P_DIRECTIVE ||
		    piece_is_op(p, "{") || piece_is_op(p, ";"))
			return false;
	}
}

static void format_value_block(struct fmt *f)
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

/* Up to one of these characters outside of brackets, or the end of the block. */
static void format_until(struct fmt *f, const char *ends)
{
	const size_t depth = f->brackets.n;

	while (!f->failed) {
		const struct piece *p = peek(f);

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

static void begin_statement(struct fmt *f)
{
	f->role = ROLE_START;
	f->continued = false;
	f->hang = 0;
	f->brackets.n = 0;
	f->in_let = piece_is_word(peek(f), "let");
}

static bool is_block_word(const struct piece *p)
{
	return piece_is_word(p, "if") || piece_is_word(p, "for") || piece_is_word(p, "while") ||
	       piece_is_word(p, "unroll");
}

/* The '{' of an if, a for, …, its block, and the '}', which stays on the line. */
static void format_body(struct fmt *f, bool value)
{
	format_until(f, "{");
	if (!piece_is_op(peek(f), "{"))
		return;
	line_puts(f, "{", true);
	format_block(f, value);
	line_puts(f, "}", false);
	f->role = ROLE_BINARY;
}

static void format_with_body(struct fmt *f, bool value)
{
	const bool is_if = piece_is_word(peek(f), "if");

	begin_statement(f);
	line_add(f);
	format_body(f, value && is_if);
	while (is_if && !f->failed) {
		size_t i = 0;

		while (fmt_peek(f, i)->kind == P_COMMENT)
			i++;
		if (!piece_is_word(fmt_peek(f, i), "else"))
			break;
		for (; i; i--) {
			if (peek(f)->lines) {
				format_beside(f);
			} else {
				line_add(f);
				line_end(f);
			}
		}
		f->continued = false;
		line_add(f);
		if (piece_is_word(peek(f), "if"))
			line_add(f);
		format_body(f, value);
	}
	/* In a block that has a value it says that this is not it. */
	if (value && piece_is_op(peek(f), ";"))
		line_add(f);
	end_with_comments(f);
}

static void format_statement(struct fmt *f, bool value)
{
	const struct piece *first = peek(f);

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

/* Behind the '{' that is on the line, up to behind the '}', which is not. */
static void format_block(struct fmt *f, bool value)
{
	const struct fmt outer = *f;
	bool first = true;

	f->next++;
	if (f->indent > MAX_DEPTH) {
		f->failed = true;
		return;
	}
	/* Brackets may be open around a block that is a value. */
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
			format_beside(f);
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
 * Block of a probe, a macro, a function or the settings: the '{' of those that run has its own
 * line.
 */
static void format_outer(struct fmt *f, bool value, bool own_line)
{
	if (f->line.len && own_line)
		line_end(f);
	line_puts(f, "{", true);
	format_block(f, value);
	line_puts(f, "}", false);
	end_with_comments(f);
}

static void format_predicate(struct fmt *f)
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

static void format_probe(struct fmt *f)
{
	begin_statement(f);
	while (!f->failed) {
		const struct piece *p = peek(f);

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

static void format_line(struct fmt *f)
{
	begin_statement(f);
	format_until(f, ";");
	if (piece_is_op(peek(f), ";"))
		f->next++;
	line_puts(f, ";", false);
	end_with_comments(f);
}

/* let @x = hash(10), which needs no semicolon. */
static void format_declaration(struct fmt *f)
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
	if (piece_is_op(peek(f), ";"))
		f->next++;
	line_puts(f, ";", false);
	end_with_comments(f);
}

static void format_c(struct fmt *f)
{
	const struct piece *p = peek(f);

	buf_put(&f->line, p->text, p->len);
	f->next++;
	end_with_comments(f);
}

enum item { ITEM_NONE, ITEM_BESIDE, ITEM_LINE, ITEM_BLOCK };

static enum item item_of(const struct piece *p)
{
	if (p->kind == P_COMMENT || p->kind == P_DIRECTIVE || piece_is_op(p, ";"))
		return ITEM_BESIDE;
	return p->kind == P_C || piece_is_word(p, "import") || piece_is_word(p, "let") ? ITEM_LINE
										       : ITEM_BLOCK;
}

static void format_line_item(struct fmt *f)
{
	if (peek(f)->kind == P_C)
		format_c(f);
	else if (piece_is_word(peek(f), "import"))
		format_line(f);
	else
		format_declaration(f);
}

static void format_block_item(struct fmt *f)
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

/* An item at the outermost level. What has a block stands apart from others. */
static enum item format_item(struct fmt *f, enum item before)
{
	const enum item item = item_of(peek(f));

	if (piece_is_op(peek(f), ";")) {
		f->next++;
		return before;
	}
	if (before == ITEM_BLOCK || (before == ITEM_LINE && item == ITEM_BLOCK) ||
	    peek(f)->lines > 1)
		empty_line(f);
	if (item == ITEM_BESIDE)
		format_beside(f);
	else if (item == ITEM_LINE)
		format_line_item(f);
	else
		format_block_item(f);
	return item;
}

int fmt_script(const char *text, size_t len, struct buf *to, struct spur_error *err)
{
	struct fmt f = {.to = to};
	enum item item = ITEM_NONE;
	int rc = len < UINT32_MAX ? fmt_scan(text, len, &f.pieces) : -EINVAL;

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
