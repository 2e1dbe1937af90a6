// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Text patterns. Compiling chooses the cheapest way to match. pattern.h describes the syntax.
 *
 * Invariant: a pattern of any kind but PATTERN_NONE and PATTERN_ALL owns `text`; one of kind
 * PATTERN_REGEX also owns `regex`.
 */
#include "base/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/*
 * About how many states of the regular expression engine a pattern may need: its length times its
 * repetitions.
 */
#define MAX_COST 100000

static unsigned char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : (unsigned char)c;
}

static int keep(struct pattern *p, enum pattern_kind kind, const char *text, size_t len)
{
	p->text = malloc(len + 1);
	if (!p->text)
		return -ENOMEM;
	memcpy(p->text, text, len);
	p->text[len] = '\0';
	p->len = len;
	p->kind = kind;
	return 0;
}

/* ---- regular expressions --------------------------------------------------------------- */

/*
 * Whether all characters stand for themselves in a regular expression, whatever their neighbours
 * are.
 */
static bool plain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c < ' ' || c > '~' || strchr(".[]*^$\\", c))
			return false;
	}
	return true;
}

/* Recognizes "word", "^word", "word$", "^word$", also with ".*" at an end. */
static bool simple_regex(struct pattern *p, const char *re, size_t len, int *ret)
{
	static const enum pattern_kind kinds[2][2] = {
		{PATTERN_MIDDLE, PATTERN_END},
		{PATTERN_FRONT, PATTERN_EXACT},
	};
	bool front = len && re[0] == '^';
	bool end;

	re += front, len -= front;
	end = len && re[len - 1] == '$';
	len -= end;
	if (len >= 2 && !memcmp(re, ".*", 2)) {
		re += 2, len -= 2;
		front = false;
	}
	/* A plain text has no backslash, so the dot and '$' have their special meaning. */
	if (len >= 2 && !memcmp(re + len - 2, ".*", 2)) {
		len -= 2;
		end = false;
	}
	if (!plain(re, len))
		return false;
	if (!len && !(front && end)) {
		p->kind = PATTERN_ALL;
		*ret = 0;
		return true;
	}
	*ret = keep(p, kinds[front][end], re, len);
	return true;
}

/* The upper number of a repetition "\{M,N\}" that starts at s. */
static size_t repetition(const char *s, const char *end)
{
	size_t most = 1, n = 0;

	for (; s < end && *s != '\\'; s++) {
		if (*s == ',')
			n = 0;
		else if (*s >= '0' && *s <= '9' && n <= MAX_COST)
			n = n * 10 + (size_t)(*s - '0');
		if (n > most)
			most = n;
	}
	return most;
}

static int check_regex(const char *re, size_t len, struct spur_error *err)
{
	const char *end = re + len;
	size_t cost = len ? len : 1;

	for (const char *s = re; s + 1 < end; s++) {
		if (*s != '\\')
			continue;
		s++;
		if (*s >= '1' && *s <= '9')
			return error_set(err, -EINVAL, "back-references are not supported");
		if (*s == '{')
			cost *= repetition(s + 1, end);
		if (cost > MAX_COST)
			return error_set(err, -EINVAL, "it repeats too often");
	}
	return 0;
}

int pattern_regex(struct pattern *p, const char *re, size_t len, struct spur_error *err)
{
	int ret, code;
	char why[120];

	*p = (struct pattern){.fold = true};
	if (len > PATTERN_MAX)
		return error_set(err, -EINVAL, "it is longer than %d bytes", PATTERN_MAX);
	if (memchr(re, 0, len))
		return error_set(err, -EINVAL, "it contains a zero byte");
	if (simple_regex(p, re, len, &ret))
		return ret ? error_sys(err, ret, "regular expression") : 0;
	ret = check_regex(re, len, err);
	if (ret)
		return ret;
	ret = keep(p, PATTERN_NONE, re, len);
	if (ret)
		return error_sys(err, ret, "regular expression");
	code = regcomp(&p->regex, p->text, REG_ICASE | REG_NOSUB);
	if (code) {
		regerror(code, &p->regex, why, sizeof(why));
		pattern_free(p);
		return error_set(err, code == REG_ESPACE ? -ENOMEM : -EINVAL, "%s", why);
	}
	p->kind = PATTERN_REGEX;
	return 0;
}

/* ---- globs ----------------------------------------------------------------------------- */

int pattern_glob(struct pattern *p, const char *glob, size_t len, struct spur_error *err)
{
	static const enum pattern_kind kinds[2][2] = {
		{PATTERN_EXACT, PATTERN_FRONT},
		{PATTERN_END, PATTERN_MIDDLE},
	};
	bool front, end;
	enum pattern_kind kind;
	int ret;

	*p = (struct pattern){0};
	if (len > PATTERN_MAX)
		return error_set(err, -EINVAL, "it is longer than %d bytes", PATTERN_MAX);
	p->negate = len && glob[0] == '!';
	glob += p->negate, len -= p->negate;
	front = len && glob[0] == '*';
	end = len > 1 && glob[len - 1] == '*';
	if (front && len == 1) {
		p->kind = PATTERN_ALL;
		return 0;
	}
	kind = kinds[front][end];
	for (size_t i = front; i < len - end; i++)
		if (strchr("*?[\\", glob[i]))
			kind = PATTERN_GLOB;
	if (kind == PATTERN_GLOB)
		front = end = false;
	ret = keep(p, kind, glob + front, len - front - end);
	return ret ? error_sys(err, ret, "glob") : 0;
}

/* The end of the class that starts after '[' at c, or NULL when it has none. */
static const char *class_end(const char *c, const char *end)
{
	if (c < end && *c == '!')
		c++;
	/* A ']' that comes first is a member. */
	if (c < end)
		c++;
	while (c < end && *c != ']')
		c++;
	return c < end ? c : NULL;
}

static bool class_has(const char *c, const char *end, unsigned char x)
{
	bool inverted = *c == '!', found = false;

	c += inverted;
	while (c < end) {
		unsigned char low = (unsigned char)*c++, high = low;

		if (end - c >= 2 && *c == '-') {
			high = (unsigned char)c[1];
			c += 2;
		}
		found |= low <= x && x <= high;
	}
	return found != inverted;
}

/* Whether the glob's element at *g matches the character x; advances *g. */
static bool element_matches(const char **g, const char *end, unsigned char x)
{
	const char *p = (*g)++, *close;

	switch (*p) {
	case '?': return true;
	case '[':
		close = class_end(p + 1, end);
		if (!close)
			break;
		*g = close + 1;
		return class_has(p + 1, close, x);
	case '\\':
		if (*g < end)
			p = (*g)++;
		break;
	default: break;
	}
	return (unsigned char)*p == x;
}

/*
 * Only the last '*' is tried again: whatever an earlier '*' could match more, the last one can
 * match too. So the work is at most the product of the lengths.
 */
static bool glob_matches(const char *g, size_t g_len, const char *s, size_t s_len)
{
	const char *g_end = g + g_len, *s_end = s + s_len;
	const char *star = NULL, *star_s = NULL;

	while (s < s_end) {
		if (g < g_end && *g == '*') {
			star = ++g;
			star_s = s;
		} else if (g < g_end && element_matches(&g, g_end, (unsigned char)*s)) {
			s++;
		} else if (star) {
			g = star;
			s = ++star_s;
		} else {
			return false;
		}
	}
	while (g < g_end && *g == '*')
		g++;
	return g == g_end;
}

bool is_glob(const char *s)
{
	return strpbrk(s, "*?[") != NULL;
}

bool glob_matches_once(const char *glob, size_t glob_len, const char *s, size_t len)
{
	const bool negate = glob_len && glob[0] == '!';

	return glob_len <= PATTERN_MAX &&
	       glob_matches(glob + negate, glob_len - negate, s, len) != negate;
}

/* ---- matching -------------------------------------------------------------------------- */

static bool equal(const struct pattern *p, const char *s)
{
	if (!p->fold)
		return !memcmp(p->text, s, p->len);
	for (size_t i = 0; i < p->len; i++)
		if (lower(p->text[i]) != lower(s[i]))
			return false;
	return true;
}

static bool occurs(const struct pattern *p, const char *s, size_t len)
{
	if (!p->fold)
		return memmem(s, len, p->text, p->len);
	for (; len >= p->len; s++, len--)
		if (equal(p, s))
			return true;
	return false;
}

/* regexec() needs a NUL-terminated text; a copy costs little, because it allocates memory, too. */
static bool regex_matches(const struct pattern *p, const char *s, size_t len)
{
	char small[256], *copy = len < sizeof(small) ? small : malloc(len + 1);
	bool found;

	if (!copy)
		return false;
	memcpy(copy, s, len);
	copy[len] = '\0';
	found = !regexec(&p->regex, copy, 0, NULL, 0);
	if (copy != small)
		free(copy);
	return found;
}

static bool matches(const struct pattern *p, const char *s, size_t len)
{
	switch (p->kind) {
	case PATTERN_NONE: return false;
	case PATTERN_ALL: return true;
	case PATTERN_EXACT: return len == p->len && equal(p, s);
	case PATTERN_FRONT: return len >= p->len && equal(p, s);
	case PATTERN_END: return len >= p->len && equal(p, s + len - p->len);
	case PATTERN_MIDDLE: return occurs(p, s, len);
	case PATTERN_GLOB: return glob_matches(p->text, p->len, s, len);
	case PATTERN_REGEX: return regex_matches(p, s, len);
	}
	return false;
}

bool pattern_match(const struct pattern *p, const char *s, size_t len)
{
	return matches(p, s, len) != p->negate;
}

void pattern_free(struct pattern *p)
{
	if (p->kind == PATTERN_REGEX)
		regfree(&p->regex);
	free(p->text);
	*p = (struct pattern){0};
}
