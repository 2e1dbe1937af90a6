// SPDX-License-Identifier: GPL-2.0-or-later
/* Which functions are traced: the kernel takes names and globs, regular expressions are ours. */
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/setup_parts.h"

#define LIST_LIMIT (32u << 20)

static bool is_regex(const char *name)
{
	size_t len = strlen(name);

	return len && (name[0] == '^' || name[len - 1] == '$');
}

/* Adds the functions a regular expression matches, a line each. */
static int add_matching(struct maker *m, const char *re, const char *suffix, struct buf *lines)
{
	struct buf all;
	regex_t compiled;
	size_t before = lines->len;
	int rc;

	if (regcomp(&compiled, re, REG_NOSUB) != 0)
		return error_set(m->err, -EINVAL, "'%s' is no regular expression", re);
	buf_init(&all, LIST_LIMIT);
	rc = tracefs_read(m->fs, "", "available_filter_functions", &all, m->err);
	for (char *at = all.data, *next; rc == 0 && *at; at = next) {
		size_t len = strcspn(at, " \t\n"); /* a module's name may follow */

		next = at + strcspn(at, "\n");
		if (*next)
			next++;
		at[len] = '\0';
		if (regexec(&compiled, at, 0, NULL, 0) == 0)
			buf_printf(lines, "%s%s\n", at, suffix);
	}
	if (rc == 0 && lines->len == before)
		rc = error_set(m->err, -ENOENT, "no function of this kernel matches '%s'", re);
	buf_free(&all);
	regfree(&compiled);
	return rc;
}

/* One list of functions for one file; `suffix` is what limits them to a module. */
static int set_list(struct maker *m, const char *instance, const char *file,
		    const struct request_names *names, const char *suffix)
{
	struct buf lines;
	int rc = 0;

	if (!names->n)
		return 0;
	buf_init(&lines, LIST_LIMIT);
	vec_each (name, names) {
		if (rc < 0)
			break;
		if (is_regex(*name))
			rc = add_matching(m, *name, suffix, &lines);
		else
			buf_printf(&lines, "%s%s\n", *name, strstr(*name, ":mod:") ? "" : suffix);
	}
	if (rc == 0)
		rc = buf_full(&lines) ? setup_no_memory(m)
				      : setup_step(m, PLAN_WRITE, instance, file, buf_str(&lines));
	buf_free(&lines);
	return rc;
}

int setup_functions(struct maker *m, const struct request_buffer *b, const char *instance)
{
	const char *everything[] = {""}, *suffix = "";
	struct request_names all = {.at = everything, .n = 1};
	const struct request_names *functions = &b->functions;
	int rc;

	if (m->r->module) {
		suffix = setup_text(m, ":mod:%s", m->r->module);
		if (!suffix)
			return setup_no_memory(m);
		/* A module without functions is all of its functions. */
		if (!functions->n && !b->hidden.n && b->tracer)
			functions = &all;
	}
	rc = set_list(m, instance, "set_ftrace_filter", functions, suffix);
	if (rc == 0)
		rc = set_list(m, instance, "set_ftrace_notrace", &b->hidden, suffix);
	if (rc == 0)
		rc = set_list(m, instance, "set_graph_function", &b->graph, "");
	return rc;
}
