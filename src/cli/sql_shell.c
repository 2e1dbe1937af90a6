// SPDX-License-Identifier: GPL-2.0-or-later
/* The interactive shell: statements from the terminal, until the user leaves. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sql.h"

#define STATEMENT_MAX (1u << 20)

/* A Ctrl-C ends a statement and not the shell. */
static void rearm(void)
{
	if (cli_stop)
		cli_catch_signals();
	cli_stop = 0;
}

static bool blank(const char *text)
{
	return !text[strspn(text, " \t\r\n")];
}

/* A line that stands for itself: a dot command, a saved query. True when it was one. */
static bool run_line(struct sql *s, const char *line)
{
	char *name;

	line += strspn(line, " \t");
	if (*line == '.') {
		sql_dot(s, line);
		return true;
	}
	if (*line != '@')
		return false;
	name = strndup(line + 1, strcspn(line + 1, " \t\r\n;"));
	if (name)
		sql_run_saved(s, name);
	free(name);
	return true;
}

/* One line more; true when the statement is complete or there is none. */
static bool take_line(struct sql *s, struct buf *statement, const char *line)
{
	if (!statement->len && (blank(line) || run_line(s, line)))
		return true;
	buf_puts(statement, line);
	buf_putc(statement, '\n');
	if (statement->full) {
		cli_error("a statement of more than %u bytes", STATEMENT_MAX);
		return true;
	}
	if (!query_complete(s->session, buf_str(statement)))
		return false;
	sql_run_text(s, statement->data, NULL);
	return true;
}

int sql_shell(struct sql *s)
{
	struct sql_line *l = sql_line_open(s);
	struct buf statement;
	bool stopped = false;
	char *line;

	if (!l)
		return SPUR_ENVIRONMENT;
	s->interactive = true;
	buf_init(&statement, STATEMENT_MAX);
	printf("spur sql; .help shows what there is, .quit or Ctrl-D ends it\n");
	while (!s->quit) {
		line = sql_line_read(l, statement.len ? "   -> " : "spur> ", &stopped);
		if (!line)
			break;
		if (stopped) {
			buf_reset(&statement);
		} else {
			const bool first = !statement.len;
			const bool done = take_line(s, &statement, line);

			if (done && !blank(line))
				sql_line_keep(l, first ? line : buf_str(&statement));
			if (done)
				buf_reset(&statement);
		}
		free(line);
		s->shown = false;
		rearm();
	}
	buf_free(&statement);
	sql_line_close(l);
	return SPUR_OK;
}
