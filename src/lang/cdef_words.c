// SPDX-License-Identifier: GPL-2.0-or-later
/* The parser's steps from word to word, what it says when one is wrong, and attributes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/cdef_parts.h"

/* ---- words ------------------------------------------------------------------------------ */

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

bool cparse_take(struct cparser *p, int op)
{
	if (!cparse_is(p, op))
		return false;
	cparse_next(p);
	return true;
}

bool cparse_take_word(struct cparser *p, const char *word)
{
	if (!cparse_is_word(p, word))
		return false;
	cparse_next(p);
	return true;
}

bool cparse_expect(struct cparser *p, int op, const char *where)
{
	if (cparse_take(p, op))
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

/* ---- attributes and qualifiers ---------------------------------------------------------- */

/* Between the inner parentheses of __attribute__((…)). */
static bool attribute_list(struct cparser *p, struct cattributes *attr)
{
	while (!cparse_is(p, ')') && p->tok.kind != CT_END) {
		bool packed = cparse_is_word(p, "packed") || cparse_is_word(p, "__packed__");
		bool aligned = cparse_is_word(p, "aligned") || cparse_is_word(p, "__aligned__");
		struct span at = p->tok.at;
		int64_t n = 16; /* the most that the machine needs anywhere */

		cparse_next(p);
		if (aligned && cparse_take(p, '(')) {
			if (!cparse_expr(p, &n) || !cparse_expect(p, ')', "behind the alignment"))
				return false;
		} else if (cparse_is(p, '(') && !cparse_skip_brackets(p)) {
			return false;
		}
		if (aligned && (n <= 0 || n > 4096 || n & (n - 1)))
			return cparse_fail(p, at, "an alignment is a power of two, at most 4096");
		attr->packed |= packed;
		if (aligned && (uint64_t)n > attr->aligned)
			attr->aligned = (uint64_t)n;
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
		} else if (cparse_take_word(p, "__packed")) {
			attr->packed = true;
		} else if (cparse_take_word(p, "__attribute__") ||
			   cparse_take_word(p, "__attribute")) {
			if (!cparse_expect(p, '(', "behind __attribute__") ||
			    !cparse_expect(p, '(', "behind __attribute__") ||
			    !attribute_list(p, attr) ||
			    !cparse_expect(p, ')', "behind the attributes") ||
			    !cparse_expect(p, ')', "behind the attributes"))
				return false;
		} else {
			return true;
		}
	}
}
