// SPDX-License-Identifier: GPL-2.0-or-later
/* Saved queries: the user's own, and those of queries/, which the build puts into the program. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/sql.h"

static const struct saved_kind kind = {"queries", saved_queries};

void sql_saved_names(void (*fn)(void *arg, const char *name), void *arg)
{
	saved_own(&kind, fn, arg);
	for (const struct saved_query *q = saved_queries; q->name; q++)
		fn(arg, q->name);
}

struct nearest {
	struct suggest near;
	char best[256];
};

static void try_name(void *arg, const char *name)
{
	struct nearest *n = arg;

	suggest_try(&n->near, name);
	if (n->near.best == name) {
		snprintf(n->best, sizeof(n->best), "%s", name);
		n->near.best = n->best;
	}
}

int sql_saved(const char *name, struct buf *text)
{
	struct nearest n = {.near = suggest_for(name, strlen(name))};
	struct spur_error err = {0};
	const int rc = saved_read(&kind, name, text, &err);

	if (rc == 0)
		return SPUR_OK;
	if (err.code)
		return cli_fail(&err);
	sql_saved_names(try_name, &n);
	if (suggest_best(&n.near))
		cli_error("there is no saved query '%s'; did you mean '@%s'?", name, n.best);
	else
		cli_error("there is no saved query '%s'; 'spur sql --list' shows them", name);
	return SPUR_USAGE;
}

/* ---- the list ---- */

static void show_own(void *arg, const char *name)
{
	const char *summary;
	struct buf text;
	size_t len;

	buf_init(&text, SAVED_LIMIT);
	if (sql_saved(name, &text) == SPUR_OK) {
		summary = saved_summary(name, buf_str(&text), &len);
		cli_printf("%-20s %.*s\n", name, (int)len, summary);
	}
	buf_free(&text);
}

void sql_list_saved(const struct sql *s)
{
	saved_own(&kind, show_own, NULL);
	for (const struct saved_query *q = saved_queries; q->name; q++)
		cli_printf("%-20s %s\n", q->name, q->summary);
}
