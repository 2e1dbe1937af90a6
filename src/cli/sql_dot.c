// SPDX-License-Identifier: GPL-2.0-or-later
/* Commands of the shell that are no SQL: ".tables" and its like. */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cli/sql.h"

/* Output of these goes where rows go. */
static void put(struct sql *s, const struct buf *text)
{
	sql_write(s, text->data, text->len);
}

/* ---- .tables ---- */

struct listing {
	struct sql *sql;
	const char *pattern; /* NULL: all */
	struct buf text;
	bool schema; /* names need one */
};

static void list_table(void *arg, const struct query_table_info *t)
{
	struct listing *l = arg;
	char name[300];

	if (l->pattern && fnmatch(l->pattern, t->name, 0) != 0)
		return;
	snprintf(name, sizeof(name), "%s%s%s", l->schema ? t->schema : "", l->schema ? "." : "",
		 t->name);
	if (t->system)
		buf_printf(&l->text, "%-32s %12llu  %s\n", name, (unsigned long long)t->rows,
			   t->system);
	else if (t->rows)
		buf_printf(&l->text, "%-32s %12llu  %s\n", name, (unsigned long long)t->rows,
			   t->about);
	else
		buf_printf(&l->text, "%-32s %12s  %s\n", name, "", t->about ? t->about : "");
}

static int dot_tables(struct sql *s, const char *arg)
{
	struct listing l = {.sql = s, .pattern = *arg ? arg : NULL};
	struct spur_error err = {0};
	size_t shown = 0;
	int rc = 0;

	for (size_t i = 0; i < query_nr_files(s->session); i++)
		shown += query_file_name(s->session, i) != NULL;
	buf_init(&l.text, 64u << 20);
	l.schema = shown > 1;
	for (size_t i = 0; rc == 0 && i < query_nr_files(s->session); i++)
		if (query_file_name(s->session, i))
			rc = query_tables(s->session, i, list_table, &l, &err);
	put(s, &l.text);
	buf_free(&l.text);
	return cli_result(rc, "counting events", &err);
}

/* ---- .schema ---- */

static void list_column(void *arg, const struct query_column_info *c)
{
	buf_printf(arg, "  %-24s %-8s %s\n", c->name, c->type, c->about ? c->about : "");
}

static int dot_schema(struct sql *s, const char *arg)
{
	struct spur_error err = {0};
	struct buf text;
	int rc;

	if (!*arg) {
		cli_error(".schema: of which table? .tables lists them");
		return SPUR_USAGE;
	}
	buf_init(&text, 4u << 20);
	rc = query_columns(s->session, arg, list_column, &text, &err);
	if (rc == 0)
		put(s, &text);
	buf_free(&text);
	return rc < 0 ? cli_fail(&err) : SPUR_OK;
}

/* ---- settings ---- */

static int dot_mode(struct sql *s, const char *arg)
{
	for (int i = 0; i < NR_SQL_MODES; i++) {
		if (strcmp(sql_modes[i], arg) == 0) {
			s->mode = (enum sql_mode)i;
			return SPUR_OK;
		}
	}
	cli_error(".mode: table, csv, json, markdown or tabs, not '%s'", arg);
	return SPUR_USAGE;
}

static int on_or_off(const char *name, const char *arg, bool *value)
{
	if (strcmp(arg, "on") == 0 || strcmp(arg, "off") == 0) {
		*value = arg[1] == 'n';
		return SPUR_OK;
	}
	cli_error(".%s: on or off, not '%s'", name, arg);
	return SPUR_USAGE;
}

static int dot_timer(struct sql *s, const char *arg)
{
	return on_or_off("timer", arg, &s->timer);
}

static int dot_header(struct sql *s, const char *arg)
{
	bool on = !s->no_header;
	int status = on_or_off("header", arg, &on);

	s->no_header = !on;
	return status;
}

static int dot_output(struct sql *s, const char *arg)
{
	int fd = STDOUT_FILENO;

	if (*arg) {
		const int status = cli_spare(arg, "write to a file of another name");

		if (status != SPUR_OK)
			return status;
		fd = open(arg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd < 0) {
			cli_error("%s: %s", arg, strerror(errno));
			return SPUR_ENVIRONMENT;
		}
	}
	if (s->out_fd != STDOUT_FILENO)
		close(s->out_fd);
	s->out_fd = fd;
	s->shown = false;
	return SPUR_OK;
}

static int dot_read(struct sql *s, const char *arg)
{
	if (!*arg) {
		cli_error(".read: which file?");
		return SPUR_USAGE;
	}
	return sql_run_file(s, arg);
}

static int dot_queries(struct sql *s, const char *arg)
{
	sql_list_saved(s);
	fflush(stdout);
	return SPUR_OK;
}

static int dot_quit(struct sql *s, const char *arg)
{
	s->quit = true;
	return SPUR_OK;
}

/* ---- the table of them ---- */

static int dot_help(struct sql *s, const char *arg);

static const struct {
	const char *name, *argument, *about;
	int (*run)(struct sql *s, const char *arg);
} commands_of_dot[] = {
	{"tables", "[PATTERN]", "tables: derived ones, then events that occur, with their number",
	 dot_tables},
	{"schema", "TABLE", "its columns", dot_schema},
	{"queries", "", "saved queries; @NAME runs one", dot_queries},
	{"mode", "MODE", "how rows are shown: table, csv, json, markdown, tabs", dot_mode},
	{"header", "on|off", "names of columns", dot_header},
	{"output", "[FILE]", "write to a file; without one, to the terminal again", dot_output},
	{"timer", "on|off", "how long statements take", dot_timer},
	{"read", "FILE", "run the statements of a file", dot_read},
	{"help", "", "this list, and functions", dot_help},
	{"quit", "", "leave (as Ctrl-D does)", dot_quit},
	{"exit", "", "the same", dot_quit},
};

#define NR_DOTS (sizeof(commands_of_dot) / sizeof(commands_of_dot[0]))

static int dot_help(struct sql *s, const char *arg)
{
	struct buf text;

	buf_init(&text, 1u << 16);
	for (size_t i = 0; i < NR_DOTS; i++)
		buf_printf(&text, ".%-8s %-10s %s\n", commands_of_dot[i].name,
			   commands_of_dot[i].argument, commands_of_dot[i].about);
	buf_puts(&text, "\nFunctions beside SQLite's own:\n");
	for (const struct query_function_info *f = query_functions; f->name; f++) {
		char call[64];

		snprintf(call, sizeof(call), "%s(%s)", f->name, f->arguments);
		buf_printf(&text, "%-24s %s\n", call, f->about);
	}
	put(s, &text);
	buf_free(&text);
	return SPUR_OK;
}

void sql_dot_names(void (*fn)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < NR_DOTS; i++)
		fn(arg, commands_of_dot[i].name);
}

static int unknown(const char *word, size_t len)
{
	struct suggest s = suggest_for(word, len);

	for (size_t i = 0; i < NR_DOTS; i++)
		suggest_try(&s, commands_of_dot[i].name);
	if (suggest_best(&s))
		cli_error("there is no command '.%.*s'; did you mean '.%s'?", (int)len, word,
			  suggest_best(&s));
	else
		cli_error("there is no command '.%.*s'; .help lists them", (int)len, word);
	return SPUR_USAGE;
}

int sql_dot(struct sql *s, const char *line)
{
	const char *word = line + 1, *arg;
	const size_t len = strcspn(word, " \t\r\n;");
	char *copy;
	int status;

	arg = word + len + strspn(word + len, " \t");
	copy = strdup(arg);
	if (!copy)
		return SPUR_ENVIRONMENT;
	for (size_t n = strlen(copy); n && strchr(" \t\r\n;", copy[n - 1]); n--)
		copy[n - 1] = '\0';
	status = -1;
	for (size_t i = 0; i < NR_DOTS && status < 0; i++)
		if (strlen(commands_of_dot[i].name) == len &&
		    strncmp(commands_of_dot[i].name, word, len) == 0)
			status = commands_of_dot[i].run(s, copy);
	free(copy);
	return status < 0 ? unknown(word, len) : status;
}
