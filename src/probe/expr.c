// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/expr.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "probe/fetch.h"
#include "symbols/names.h"

static const char blanks[] = " \t\n\r\v\f";

/* ---- words ----------------------------------------------------------------------------- */

static size_t count_words(const char *s)
{
	size_t n = 0;

	while (*(s += strspn(s, blanks))) {
		n++;
		s += strcspn(s, blanks);
	}
	return n;
}

static int split(const char *text, struct arena *arena, char **place, struct expr *e,
		 struct spur_error *err)
{
	size_t n = count_words(text), at = 0;
	char **words;

	if (strlen(text) > EXPR_MAX)
		return error_set(err, -EINVAL, "it is longer than %d bytes", EXPR_MAX);
	if (!n)
		return error_set(err, -EINVAL, "it is empty");
	if (strchr(text, '#'))
		return error_set(err, -EINVAL, "the kernel takes what follows a '#' for a comment");
	words = arena_array(arena, n + 1, sizeof(*words));
	while (words && *(text += strspn(text, blanks))) {
		size_t len = strcspn(text, blanks);

		words[at] = arena_strndup(arena, text, len);
		if (!words[at++])
			return error_sys(err, -ENOMEM, "probe");
		text += len;
	}
	if (!words)
		return error_sys(err, -ENOMEM, "probe");
	*place = words[0];
	e->args = words + 1;
	e->n = n - 1;
	return 0;
}

/* The words from "if" on are a filter, as one text. */
static int split_filter(struct arena *arena, struct expr *e, struct spur_error *err)
{
	size_t len = 0;
	char *text;

	for (size_t i = 0; i < e->n; i++) {
		if (strcmp(e->args[i], "if"))
			continue;
		for (size_t j = i + 1; j < e->n; j++)
			len += strlen(e->args[j]) + 1;
		if (!len)
			return error_set(err, -EINVAL, "the condition behind 'if' is missing");
		text = arena_alloc(arena, len + 1);
		if (!text)
			return error_sys(err, -ENOMEM, "probe");
		e->filter = text;
		for (size_t j = i + 1; j < e->n; j++) {
			size_t n = strlen(e->args[j]);

			memcpy(text, e->args[j], n);
			text[n] = j + 1 < e->n ? ' ' : '\0';
			text += n + 1;
		}
		e->n = i;
		return 0;
	}
	return 0;
}

/* ---- group and name -------------------------------------------------------------------- */

static int check_name(const char *what, const char *name, struct spur_error *err)
{
	size_t len = strlen(name);

	if (!len || identifier_len(name) != len)
		return error_set(err, -EINVAL,
				 "the %s '%s' must consist of letters, digits and '_'", what, name);
	if (len > NAME_MAX_EVENT)
		return error_set(err, -EINVAL, "the %s '%.20s…' is longer than %d letters", what,
				 name, NAME_MAX_EVENT);
	if (!strcmp(name, "enable") || !strcmp(name, "filter"))
		return error_set(err, -EINVAL, "no event can be called '%s'", name);
	return 0;
}

/* Whether s to its end is what may stand before the '=': [GROUP/][NAME]. */
static bool is_head(const char *s, const char *end)
{
	size_t len = identifier_len(s);

	if (s + len == end)
		return len;
	if (s[len] != '/' || !len)
		return false;
	s += len + 1;
	return s + identifier_len(s) == end;
}

static int split_head(char *place, bool slashes, struct expr *e, struct spur_error *err)
{
	char *eq = strchr(place, '='), *slash = strchr(place, '/');
	bool head = eq && is_head(place, eq);
	int ret = 0;

	if (eq && !head && !slashes)
		return error_set(err, -EINVAL, "'%.*s' is no name: GROUP/NAME=… is meant",
				 (int)(eq - place), place);
	if (slash && (head ? slash < eq : !slashes)) {
		*slash = '\0';
		e->group = place;
		place = slash + 1;
		ret = check_name("group", e->group, err);
	}
	if (head && !ret) {
		*eq = '\0';
		if (*place) {
			e->name = place;
			ret = check_name("name", e->name, err);
		}
		place = eq + 1;
	}
	if (!ret && !*place)
		return error_set(err, -EINVAL, "what to probe is missing");
	e->place = place;
	return ret;
}

int expr_parse(enum probe_kind kind, const char *text, struct arena *arena, struct expr *e,
	       struct spur_error *err)
{
	bool slashes = kind == PROBE_UPROBE || kind == PROBE_URETPROBE || kind == PROBE_USDT;
	char *place = NULL;
	int ret;

	*e = (struct expr){0};
	ret = split(text, arena, &place, e, err);
	if (!ret)
		ret = split_head(place, slashes, e, err);
	if (!ret && kind == PROBE_EPROBE)
		ret = split_filter(arena, e, err);
	return ret;
}

/* ---- parts of a place ------------------------------------------------------------------ */

int expr_offset(char *symbol, uint64_t *offset, struct spur_error *err)
{
	char *plus = strrchr(symbol, '+'), *end;

	*offset = 0;
	if (!plus)
		return 0;
	errno = 0;
	*offset = strtoull(plus + 1, &end, 0);
	if (errno || *end || plus[1] < '0' || plus[1] > '9' || *offset > INT32_MAX)
		return error_set(err, -EINVAL, "'%s' is no offset", plus + 1);
	*plus = '\0';
	return *symbol ? 0 : error_set(err, -EINVAL, "a symbol is missing before '+'");
}
