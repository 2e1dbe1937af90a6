// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From expressions to lines: parses the words, and does what is the same for all kinds of probes.
 * The table at the end has the function that finds the places of each kind.
 */
#include "probe/probe.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "base/vec.h"
#include "probe/resolve.h"
#include "probe/fetch.h"
#include "symbols/names.h"

static const char blanks[] = " \t\n\r\v\f";

/* ---- words ---- */

static size_t count_words(const char *s)
{
	size_t n = 0;

	while (*(s += strspn(s, blanks))) {
		n++;
		s += strcspn(s, blanks);
	}
	return n;
}

static int split(const char *text, struct arena *arena, char **place, struct probe_expr *e,
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
static int split_filter(struct arena *arena, struct probe_expr *e, struct spur_error *err)
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

/* ---- group and name ---- */

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

/* Whether the text is the part before the '=': [GROUP/][NAME]. */
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

static int split_head(char *place, bool slashes, struct probe_expr *e, struct spur_error *err)
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

static int expr_parse(enum probe_kind kind, const char *text, struct arena *arena,
		      struct probe_expr *e, struct spur_error *err)
{
	bool slashes = kind == PROBE_UPROBE || kind == PROBE_URETPROBE || kind == PROBE_USDT;
	char *place = NULL;
	int ret;

	*e = (struct probe_expr){0};
	ret = split(text, arena, &place, e, err);
	if (!ret)
		ret = split_head(place, slashes, e, err);
	if (!ret && kind == PROBE_EPROBE)
		ret = split_filter(arena, e, err);
	return ret;
}

/* ---- parts of a place ---- */

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

/* ---- lines ---- */

#define DEFAULT_GROUP  "spur"
#define SCRATCH_MEMORY (256u << 20)
#define MAX_LINE       4000 /* of the 4096 bytes that the kernel reads at once */
#define MAX_NOTES      2000

static const struct probe_form types[] = {
	[PROBE_KPROBE] = {"kprobe", "kprobe_events", 'p', false, resolve_kernel},
	[PROBE_KRETPROBE] = {"kretprobe", "kprobe_events", 'r', true, resolve_kernel},
	[PROBE_UPROBE] = {"uprobe", "uprobe_events", 'p', false, resolve_user},
	[PROBE_URETPROBE] = {"uretprobe", "uprobe_events", 'r', true, resolve_user},
	[PROBE_USDT] = {"usdt", "uprobe_events", 'p', false, resolve_usdt},
	[PROBE_EPROBE] = {"eprobe", "dynamic_events", 'e', false, resolve_event},
};

/* ---- lines ---- */

static bool is_taken(const struct probe_lines *lines, const char *group, const char *event)
{
	vec_each (line, lines)
		if (!strcmp(line->group, group) && !strcmp(line->event, event))
			return true;
	return false;
}

/* The event's name: the user's or the symbol's, with a number when another line has it. */
static char *choose_name(struct probe_request *r, const char *group, const char *symbol)
{
	char base[NAME_MAX_EVENT + 1], name[NAME_MAX_EVENT + 16];
	unsigned int number = 0;

	if (r->expr.name)
		snprintf(base, sizeof(base), "%s", r->expr.name);
	else
		event_name(symbol, base);
	snprintf(name, sizeof(name), "%s", base);
	if (!r->expr.name && r->type->is_return) {
		/* So that a probe on the same function can have the plain name. */
		snprintf(base, sizeof(base), "%.*s__return", NAME_MAX_EVENT - 8, name);
		snprintf(name, sizeof(name), "%s", base);
	}
	while (is_taken(r->lines, group, name)) {
		char suffix[12];
		int len = snprintf(suffix, sizeof(suffix), "_%u", ++number);

		snprintf(name, sizeof(name), "%.*s%s", NAME_MAX_EVENT - len, base, suffix);
	}
	return arena_strdup(r->arena, name);
}

static int add_line(struct probe_request *r, const char *symbol, const char *place,
		    const char *args, const char *note)
{
	const char *group = r->expr.group ? r->expr.group : r->opt->group;
	struct probe_line line = {.file = r->type->file};
	struct probe_line *slot;
	char text[MAX_LINE + 1];
	int len;

	line.group = arena_strdup(r->arena, group ? group : DEFAULT_GROUP);
	line.event = line.group ? choose_name(r, line.group, symbol) : NULL;
	if (!line.event)
		return error_sys(r->err, -ENOMEM, "probe");
	len = snprintf(text, sizeof(text), "-:%s/%s", line.group, line.event);
	line.back = arena_strndup(r->arena, text, (size_t)len);
	len = snprintf(text, sizeof(text), "%c:%s/%s %s%s%s%s", r->type->letter, line.group,
		       line.event, place, args, r->expr.filter ? " if " : "",
		       r->expr.filter ? r->expr.filter : "");
	if (len > MAX_LINE)
		return error_set(r->err, -EINVAL,
				 "it becomes longer than the %d bytes the kernel takes", MAX_LINE);
	line.text = arena_strndup(r->arena, text, (size_t)len);
	line.note = note && note[0] ? arena_strdup(r->arena, note) : NULL;
	slot = vec_push(r->lines);
	if (!slot || !line.back || !line.text || (note && note[0] && !line.note))
		return error_sys(r->err, -ENOMEM, "probe");
	*slot = line;
	return 0;
}

int request_line(struct probe_request *r, const char *symbol, const char *place,
		 const struct fetch_scope *scope, const char *note)
{
	struct buf args, notes;
	int ret;

	buf_init(&args, MAX_LINE);
	buf_init(&notes, MAX_NOTES);
	if (note)
		buf_puts(&notes, note);
	ret = fetch_args(scope, r->expr.args, r->expr.n, &args, &notes, r->err);
	if (!ret && buf_full(&args))
		ret = error_set(r->err, -EINVAL,
				"its arguments become longer than the %d bytes the kernel takes",
				MAX_LINE);
	if (!ret)
		ret = add_line(r, symbol, place, buf_str(&args), buf_str(&notes));
	buf_free(&args);
	buf_free(&notes);
	return ret;
}

/* ---- expressions ---- */

static int resolve(struct probe_request *r, const char *expression)
{
	const struct probe_options *opt = r->opt;
	struct utsname uts;
	int ret;

	if (opt->group && !is_identifier(opt->group, strlen(opt->group)))
		return error_set(r->err, -EINVAL, "'%s' is no name of a group", opt->group);
	r->machine = opt->machine;
	if (!r->machine) {
		if (uname(&uts))
			return error_sys(r->err, -errno, "uname");
		r->machine = arena_strdup(&r->scratch, uts.machine);
	}
	if (!r->machine)
		return error_sys(r->err, -ENOMEM, "probe");
	ret = expr_parse(r->kind, expression, &r->scratch, &r->expr, r->err);
	return ret ? ret : r->type->resolve(r);
}

int probe_resolve(enum probe_kind kind, const char *expression, const struct probe_options *opt,
		  struct arena *arena, struct probe_lines *lines, struct spur_error *err)
{
	static const struct probe_options defaults = {0};
	struct spur_error why = {0};
	struct probe_request r = {
		.kind = kind,
		.type = &types[kind],
		.opt = opt ? opt : &defaults,
		.arena = arena,
		.lines = lines,
		.err = &why,
	};
	size_t before = lines->n;
	int ret;

	arena_init(&r.scratch, SCRATCH_MEMORY);
	ret = resolve(&r, expression);
	arena_free(&r.scratch);
	if (!ret)
		return 0;
	lines->n = before;
	return error_set(err, ret, "%s '%.150s': %s", r.type->name, expression, why.text);
}
