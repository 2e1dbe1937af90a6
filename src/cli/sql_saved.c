// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Saved queries: those of queries/, which the build puts into the program, and the user's own files
 * NAME.sql, which come first.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/suggest.h"
#include "cli/sql.h"

bool sql_home(const char *variable, const char *below_home, const char *file, struct buf *path)
{
	const char *top = getenv(variable), *home = getenv("HOME");

	buf_reset(path);
	if (top && *top == '/')
		buf_printf(path, "%s/spur/%s", top, file);
	else if (home && *home == '/')
		buf_printf(path, "%s/%s/spur/%s", home, below_home, file);
	buf_str(path);
	return path->len && !path->full;
}

static bool good_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-")];
}

static bool own_path(const char *name, struct buf *path)
{
	char file[300];

	snprintf(file, sizeof(file), "queries/%.250s%s", name, *name ? ".sql" : "");
	return sql_home("XDG_CONFIG_HOME", ".config", file, path);
}

/* Calls fn for the names of the user's own. */
static void own_names(void (*fn)(void *arg, const char *name), void *arg)
{
	struct buf path;
	struct dirent **list = NULL;
	int n = 0;

	buf_init(&path, 4096);
	if (own_path("", &path))
		n = scandir(path.data, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char *end = strrchr(list[i]->d_name, '.');

		if (end && strcmp(end, ".sql") == 0) {
			*end = '\0';
			if (good_name(list[i]->d_name))
				fn(arg, list[i]->d_name);
		}
		free(list[i]);
	}
	free(list);
	buf_free(&path);
}

void sql_saved_names(void (*fn)(void *arg, const char *name), void *arg)
{
	own_names(fn, arg);
	for (const struct saved_query *q = saved_queries; q->name; q++)
		fn(arg, q->name);
}

struct finding {
	struct suggest near;
	char best[256];
};

static void try_name(void *arg, const char *name)
{
	struct finding *f = arg;

	suggest_try(&f->near, name);
	if (f->near.best == name) {
		snprintf(f->best, sizeof(f->best), "%s", name);
		f->near.best = f->best;
	}
}

int sql_saved(const char *name, struct buf *text)
{
	struct finding f = {.near = suggest_for(name, strlen(name))};
	struct spur_error err = {0};
	struct buf path;
	bool own;
	int rc = 0;

	buf_init(&path, 4096);
	own = good_name(name) && own_path(name, &path) && access(path.data, F_OK) == 0;
	if (own)
		rc = file_read(path.data, text, &err);
	buf_free(&path);
	if (own)
		return rc < 0 ? cli_fail(&err) : SPUR_OK;
	for (const struct saved_query *q = saved_queries; q->name; q++) {
		if (strcmp(q->name, name) == 0) {
			buf_puts(text, q->text);
			buf_str(text);
			return SPUR_OK;
		}
	}
	sql_saved_names(try_name, &f);
	if (suggest_best(&f.near))
		cli_error("there is no saved query '%s'; did you mean '@%s'?", name, f.best);
	else
		cli_error("there is no saved query '%s'; 'spur sql --list' shows them", name);
	return SPUR_USAGE;
}

/* ---- the list ---- */

/* The first comment's text; of "NAME: text", what follows the name. */
static void put_summary(const char *name, const char *text)
{
	const size_t len = strlen(name);

	if (strncmp(text, "--", 2) != 0)
		text = "";
	text += strspn(text, "- ");
	if (strncmp(text, name, len) == 0 && text[len] == ':')
		text += len + 1;
	text += strspn(text, " ");
	cli_printf("%-20s %.*s\n", name, (int)strcspn(text, "\n"), text);
}

static void show_own(void *arg, const char *name)
{
	struct buf text;

	buf_init(&text, 1u << 20);
	if (sql_saved(name, &text) == SPUR_OK)
		put_summary(name, buf_str(&text));
	buf_free(&text);
}

void sql_list_saved(const struct sql *s)
{
	own_names(show_own, NULL);
	for (const struct saved_query *q = saved_queries; q->name; q++)
		cli_printf("%-20s %s\n", q->name, q->summary);
}
