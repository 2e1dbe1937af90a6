// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cuts a script into pieces as it is written: nothing is replaced, nothing is left out. Attach
 * points, predicates and definitions in C end where the parser says they do.
 */
#include "lang/parse/pieces.h"

#include <errno.h>

#include "base/vec.h"
#include "lang/parse/parser.h"

struct scan {
	const char *text;
	uint32_t pos, end;
	struct pieces *to;
	unsigned int lines;
	int rc;
};

static void push(struct scan *s, enum piece_kind kind, uint32_t to)
{
	struct script_piece *p = vec_push(s->to);

	if (!p) {
		s->rc = -ENOMEM;
		return;
	}
	*p = (struct script_piece){kind, s->text + s->pos, to - s->pos, s->lines};
	s->lines = 0;
	s->pos = to;
}

static bool at_line_start(const struct scan *s)
{
	uint32_t i = s->pos;

	while (i && lex_is_blank(s->text[i - 1]) && s->text[i - 1] != '\n')
		i--;
	return !i || s->text[i - 1] == '\n';
}

static void skip_blanks(struct scan *s)
{
	for (; s->pos < s->end && lex_is_blank(s->text[s->pos]); s->pos++)
		s->lines += s->text[s->pos] == '\n';
}

static uint32_t line_end_of(const struct scan *s, uint32_t at)
{
	while (at < s->end && s->text[at] != '\n')
		at += 1 + (s->text[at] == '\\' && at + 1 < s->end);
	return at < s->end ? at : s->end;
}

/* Comments and lines of the preprocessor; false: it is neither. */
static bool scan_comment(struct scan *s)
{
	const char c = s->text[s->pos];
	uint32_t to;

	if (c == '#' && at_line_start(s)) {
		to = line_end_of(s, s->pos);
		while (to > s->pos && lex_is_blank(s->text[to - 1]))
			to--;
		push(s, P_DIRECTIVE, to);
		return true;
	}
	if (c != '/' || s->end - s->pos < 2 ||
	    (s->text[s->pos + 1] != '/' && s->text[s->pos + 1] != '*'))
		return false;
	to = lex_skip(s->text, s->pos, s->end);
	while (s->text[s->pos + 1] == '/' && lex_is_blank(s->text[to - 1]))
		to--;
	push(s, P_COMMENT, to);
	return true;
}

static uint32_t name_end(const struct scan *s, uint32_t at)
{
	while (at < s->end && lex_is_name(s->text[at]))
		at++;
	return at;
}

static void scan_operator(struct scan *s)
{
	struct token t;
	const uint32_t len = lex_operator(s->text + s->pos, s->end - s->pos, &t);

	push(s, P_OP, s->pos + (len ? len : 1));
}

/* One piece of ordinary code; the position is neither at a blank nor at the end. */
static void scan_token(struct scan *s)
{
	const char c = s->text[s->pos];

	if (scan_comment(s))
		return;
	if (c == '"' || c == '\'') {
		const uint32_t to = lex_skip(s->text, s->pos, s->end);

		push(s, P_VALUE, to > s->pos ? to : s->pos + 1);
	} else if (c == '$' || c == '@') {
		uint32_t to = name_end(s, s->pos + 1);

		to += to == s->pos + 1 && c == '$' && to < s->end && s->text[to] == '#';
		push(s, P_VALUE, to);
	} else if (lex_is_name(c)) {
		push(s, lex_is_digit(c) ? P_VALUE : P_WORD, name_end(s, s->pos));
	} else {
		scan_operator(s);
	}
}

static bool more(struct scan *s)
{
	skip_blanks(s);
	return s->pos < s->end && s->rc == 0;
}

static const struct script_piece *last(const struct scan *s)
{
	return &s->to->at[s->to->n - 1];
}

/* Scans to the bracket that closes the first one, or to a character outside of brackets. */
static void scan_until(struct scan *s, char open, char close, char end)
{
	unsigned int depth = 0;

	while (more(s)) {
		scan_token(s);
		if (s->rc < 0 || last(s)->kind != P_OP || last(s)->len != 1)
			continue;
		if (*last(s)->text == open)
			depth++;
		if ((*last(s)->text == close && (!depth || !--depth)) ||
		    (end && !depth && *last(s)->text == end))
			return;
	}
	if (s->rc == 0)
		s->rc = -EINVAL;
}

/* ---- predicates ---- */

/* Whether a '/' ends the predicate: a '{' follows, perhaps after comments. */
static bool ends_predicate(const struct scan *s)
{
	uint32_t i = s->pos + 1;

	while (i < s->end) {
		const uint32_t to = lex_skip(s->text, i, s->end);

		if (lex_is_blank(s->text[i]))
			i++;
		else if (s->text[i] == '/' && to > i)
			i = to;
		else
			break;
	}
	return i == s->end || s->text[i] == '{';
}

static void scan_predicate(struct scan *s)
{
	unsigned int depth = 0;

	push(s, P_EDGE, s->pos + 1);
	while (more(s)) {
		const char c = s->text[s->pos];

		if (c == '/' && !depth && ends_predicate(s)) {
			push(s, P_EDGE, s->pos + 1);
			return;
		}
		depth += c == '(' || c == '[' || c == '{';
		depth -= depth && (c == ')' || c == ']' || c == '}');
		scan_token(s);
	}
	if (s->rc == 0)
		s->rc = -EINVAL;
}

/* ---- attach points ---- */

/* Skips blanks around a colon, as in "kprobe : f"; `at` itself if they end the attach point. */
static uint32_t around_colon(const struct scan *s, uint32_t at)
{
	const bool after_colon = at > s->pos && s->text[at - 1] == ':';
	uint32_t to = at;

	while (to < s->end && lex_is_blank(s->text[to]))
		to++;
	return to < s->end && (s->text[to] == ':' || after_colon) ? to : at;
}

static void scan_point(struct scan *s)
{
	uint32_t at = s->pos, first = 0;

	while (at < s->end) {
		const char c = s->text[at];
		uint32_t to = at + 1;

		if (lex_is_blank(c)) {
			to = around_colon(s, at);
			if (to == at)
				break;
		} else if (strchr("{,;}", c) || (c == '=' && !first) ||
			   (c == '/' &&
			    !(first && parse_has_paths(s->text + s->pos, first - s->pos)))) {
			break;
		} else if (c == '"') {
			to = lex_skip(s->text, at, s->end);
		} else if (c == '\\' && to < s->end) {
			to++;
		} else if (c == ':' && !first) {
			first = at;
			while (first > s->pos && lex_is_blank(s->text[first - 1]))
				first--;
		}
		at = to;
	}
	if (at == s->pos)
		s->rc = -EINVAL;
	else
		push(s, P_POINT, at);
}

/* ---- definitions in C ---- */

static void scan_c(struct scan *s, bool is_typedef)
{
	unsigned int depth = 0;
	bool had_block = false;
	uint32_t at = s->pos;

	while (at < s->end) {
		const uint32_t to = lex_skip(s->text, at, s->end);
		const char c = s->text[at];

		if (to > at) {
			at = to;
			continue;
		}
		at++;
		depth += c == '{' || c == '(';
		had_block |= c == '{';
		if (c == '}' || c == ')') {
			depth -= depth > 0;
			if (!depth && !is_typedef && had_block) {
				uint32_t i = at;

				while (i < s->end && lex_is_blank(s->text[i]))
					i++;
				if (i == s->end || (s->text[i] != ';' && s->text[i] != '_'))
					break;
			}
		}
		if (c == ';' && !depth)
			break;
	}
	push(s, P_C, at);
}

/* ---- the whole script ---- */

static void scan_item(struct scan *s)
{
	const uint32_t to = name_end(s, s->pos);
	const enum word w = lex_word(s->text + s->pos, to - s->pos);

	if (scan_comment(s))
		return;
	switch (w) {
	case W_CONFIG:
	case W_FN:
	case W_MACRO: scan_until(s, '{', '}', 0); return;
	case W_IMPORT: scan_until(s, 0, ';', ';'); return;
	case W_LET: scan_until(s, '(', ')', ';'); return;
	case W_STRUCT:
	case W_UNION:
	case W_ENUM:
	case W_TYPEDEF: scan_c(s, w == W_TYPEDEF); return;
	default: break;
	}
	switch (s->text[s->pos]) {
	case '/': scan_predicate(s); break;
	case '{': scan_until(s, '{', '}', 0); break;
	case ',':
	case '=':
	case ';': scan_operator(s); break;
	default: scan_point(s);
	}
}

int pieces_scan(const char *text, size_t len, struct pieces *to)
{
	struct scan s = {.text = text, .end = (uint32_t)len, .to = to};

	while (more(&s))
		scan_item(&s);
	s.pos = s.end;
	if (s.rc == 0)
		push(&s, P_END, s.end);
	return s.rc;
}
