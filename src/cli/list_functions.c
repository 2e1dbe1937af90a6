// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Functions in `spur list`: the lines of available_filter_functions, "NAME" or "NAME [MODULE]".
 *
 * A pattern is a regular expression of regcomp(3) for the whole line, case ignored.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/pattern.h"
#include "base/vec.h"
#include "cli/list.h"
#include "tracefs/caps.h"
#include "symbols/btf_set.h"

#define FUNCTION_LIMIT (256u << 20)
#define LINE_LIMIT     (64u << 10)
#define NAME_CAP       512

struct function_list {
	const struct list_options *o;
	struct btf_set types;
	struct buf line;
};

/* One line; a function that nobody describes is named only. */
static void put_function(struct function_list *l, const char *text, size_t len)
{
	char name[NAME_CAP], module[NAME_CAP] = "";
	const struct btf *types = NULL;

	buf_reset(&l->line);
	if (l->o->prototypes && len < NAME_CAP) {
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
		sscanf(name + strcspn(name, " "), " [%511[^]]", module);
		name[strcspn(name, " ")] = '\0';
		types = btf_set_of(&l->types, module);
	}
	if (!types || !btf_prototype(types, name, &l->line))
		buf_put(&l->line, text, len);
	else if (*module)
		buf_printf(&l->line, " [%s]", module);
	buf_putc(&l->line, '\n');
	cli_put(l->line.data, l->line.len);
}

static int put_matching(struct function_list *l, const char *text, const char *pattern)
{
	struct spur_error err = {0};
	struct pattern p = {.kind = PATTERN_ALL};
	bool any = false;

	if (pattern && pattern_regex(&p, pattern, strlen(pattern), &err) < 0) {
		cli_error("'%s' is not a regular expression: %s", pattern, err.text);
		return SPUR_USAGE;
	}
	for (const char *at = text; *at && !cli_stop;) {
		size_t len = strcspn(at, "\n");

		if (pattern_match(&p, at, len)) {
			any = true;
			put_function(l, at, len);
		}
		at += len + (at[len] == '\n');
	}
	if (pattern)
		pattern_free(&p);
	if (pattern && !any) {
		cli_error("no function matches '%s'", pattern);
		return SPUR_USAGE;
	}
	return SPUR_OK;
}

static int put_functions(const struct list_options *o, const char *text)
{
	struct function_list l = {.o = o};
	struct spur_error err = {0};
	int status = SPUR_OK;

	if (o->prototypes && btf_set_open(&l.types, NULL, &err) < 0)
		return cli_fail(&err);
	buf_init(&l.line, LINE_LIMIT);
	if (!o->function_patterns.n)
		status = put_matching(&l, text, NULL);
	vec_each (pattern, &o->function_patterns) {
		int one = put_matching(&l, text, *pattern);

		status = status ? status : one;
	}
	buf_free(&l.line);
	btf_set_close(&l.types);
	return status;
}

int list_functions(const struct tracefs *fs, const struct list_options *o)
{
	struct spur_error err = {0}, why = {0};
	struct buf text;
	int status;

	buf_init(&text, FUNCTION_LIMIT);
	if (tracefs_read(fs, NULL, "available_filter_functions", &text, &err) < 0)
		/* Whether there is a function tracer at all says more than which file failed. */
		status = cli_fail(cap_require(fs, "function", &why) < 0 ? &why : &err);
	else
		status = put_functions(o, text.data);
	buf_free(&text);
	return status;
}
