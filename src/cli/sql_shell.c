// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interactive shell of `spur sql`: statements and dot commands from the terminal, until the
 * user leaves. Lines are read by readline, with a history and completion, or plainly where the
 * program was built without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "cli/sql.h"
#include "table/table.h"

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
	scoped_buf text = buf_new(4u << 20);
	int rc;

	if (!*arg)
		return cli_wrong(".schema: of which table? .tables lists them");
	rc = query_columns(s->session, arg, list_column, &text, &err);
	if (rc == 0)
		put(s, &text);
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
	return cli_wrong(".mode: table, csv, json, markdown or tabs, not '%s'", arg);
}

static int set_switch(struct sql *s, const char *name, const char *arg, size_t setting)
{
	if (strcmp(arg, "on") == 0 || strcmp(arg, "off") == 0) {
		*(bool *)((char *)s + setting) = arg[1] == 'n';
		return SPUR_OK;
	}
	return cli_wrong(".%s: on or off, not '%s'", name, arg);
}

static int dot_output(struct sql *s, const char *arg)
{
	int fd = STDOUT_FILENO;

	if (*arg) {
		const int status = cli_spare(arg, "write to a file of another name");

		if (status != SPUR_OK)
			return status;
		fd = open(arg, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		if (fd < 0)
			return cli_refused("%s: %s", arg, strerror(errno));
	}
	if (s->out_fd != STDOUT_FILENO)
		close(s->out_fd);
	s->out_fd = fd;
	s->shown = false;
	return SPUR_OK;
}

static int dot_read(struct sql *s, const char *arg)
{
	if (!*arg)
		return cli_wrong(".read: which file?");
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
	size_t setting; /* without run(): a bool of the struct sql */
} commands_of_dot[] = {
	{"tables", "[PATTERN]", "tables: derived ones, then events that occur, with their number",
	 dot_tables},
	{"schema", "TABLE", "its columns", dot_schema},
	{"queries", "", "saved queries; @NAME runs one", dot_queries},
	{"mode", "MODE", "how rows are shown: table, csv, json, markdown, tabs", dot_mode},
	{"header", "on|off", "names of columns", NULL, offsetof(struct sql, header)},
	{"output", "[FILE]", "write to a file; without one, to the terminal again", dot_output},
	{"timer", "on|off", "how long statements take", NULL, offsetof(struct sql, timer)},
	{"read", "FILE", "run the statements of a file", dot_read},
	{"help", "", "this list, and functions", dot_help},
	{"quit", "", "leave (as Ctrl-D does)", dot_quit},
	{"exit", "", "the same", dot_quit},
};

static int dot_help(struct sql *s, const char *arg)
{
	scoped_buf text = buf_new(1u << 16);

	for (size_t i = 0; i < ARRAY_SIZE(commands_of_dot); i++)
		buf_printf(&text, ".%-8s %-10s %s\n", commands_of_dot[i].name,
			   commands_of_dot[i].argument, commands_of_dot[i].about);
	buf_puts(&text, "\nFunctions beside SQLite's own:\n");
	for (const struct query_function_info *f = query_functions; f->name; f++) {
		char call[64];

		snprintf(call, sizeof(call), "%s(%s)", f->name, f->arguments);
		buf_printf(&text, "%-24s %s\n", call, f->about);
	}
	put(s, &text);
	return SPUR_OK;
}

static int unknown(const char *word, size_t len)
{
	struct suggest s = suggest_for(word, len);

	for (size_t i = 0; i < ARRAY_SIZE(commands_of_dot); i++)
		suggest_try(&s, commands_of_dot[i].name);
	if (suggest_best(&s))
		return cli_wrong("there is no command '.%.*s'; did you mean '.%s'?", (int)len, word,
				 suggest_best(&s));
	return cli_wrong("there is no command '.%.*s'; .help lists them", (int)len, word);
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
	for (size_t i = 0; i < ARRAY_SIZE(commands_of_dot) && status < 0; i++)
		if (strlen(commands_of_dot[i].name) == len &&
		    strncmp(commands_of_dot[i].name, word, len) == 0)
			status = commands_of_dot[i].run
					 ? commands_of_dot[i].run(s, copy)
					 : set_switch(s, commands_of_dot[i].name, copy,
						      commands_of_dot[i].setting);
	free(copy);
	return status < 0 ? unknown(word, len) : status;
}

#ifdef HAVE_READLINE
#include <readline/history.h>
#include <readline/readline.h>

#define HISTORY_LINES 1000
#define LOOK_EVERY    100 /* ms */

struct sql_line {
	struct sql *sql;
	struct buf history;
	struct strings found; /* completions of the word that is being completed */
	const char *word;
	size_t len, next;
	bool named; /* the line names a table */
	int tty;    /* where characters come from, without waiting if possible */
};

/* Global, because readline's callbacks have no argument. */
static struct sql_line *reading;

static const char *const keywords[] = {
	"and",	  "as",		  "asc",       "between",   "by",     "case",	      "collate",
	"create", "cross",	  "desc",      "distinct",  "drop",   "else",	      "end",
	"except", "exists",	  "explain",   "from",	    "glob",   "group",	      "having",
	"in",	  "inner",	  "intersect", "is",	    "join",   "left",	      "like",
	"limit",  "materialized", "not",       "null",	    "offset", "on",	      "or",
	"order",  "outer",	  "over",      "partition", "select", "table",	      "temp",
	"then",	  "union",	  "using",     "values",    "view",   "when",	      "where",
	"window", "with",	  "avg",       "coalesce",  "count",  "group_concat", "max",
	"min",	  "printf",	  "round",     "substr",    "sum",    "total",	      NULL};

static void offer(void *arg, const char *name)
{
	struct sql_line *l = arg;

	if (strncasecmp(name, l->word, l->len) != 0)
		return;
	vec_each (have, &l->found)
		if (strcmp(*have, name) == 0)
			return;
	strings_add(&l->found, name);
}

static void offer_prefixed(struct sql_line *l, char sign,
			   void (*each)(void (*fn)(void *, const char *), void *arg))
{
	l->word++;
	l->len--;
	each(offer, l);
	vec_each (name, &l->found) {
		char *with;

		if (asprintf(&with, "%c%s", sign, *name) < 0)
			continue;
		free(*name);
		*name = with;
	}
}

static void offer_column(void *arg, const struct query_column_info *c)
{
	offer(arg, c->name);
}

/* Columns of the tables that the line names. */
static void offer_columns_of(void *arg, const char *word)
{
	struct sql_line *l = arg;
	struct spur_error err = {0};

	if (query_columns(l->sql->session, word, offer_column, l, &err) == 0)
		l->named = true;
}

static void each_dot_name(void (*fn)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands_of_dot); i++)
		fn(arg, commands_of_dot[i].name);
}

static void find(struct sql_line *l)
{
	if (*l->word == '.') {
		offer_prefixed(l, '.', each_dot_name);
		return;
	}
	if (*l->word == '@') {
		offer_prefixed(l, '@', sql_saved_names);
		return;
	}
	for (const char *const *k = keywords; *k; k++)
		offer(l, *k);
	for (const struct query_function_info *f = query_functions; f->name; f++)
		offer(l, f->name);
	for (size_t i = 0; i < query_nr_files(l->sql->session); i++)
		query_names(l->sql->session, i, offer, l);
	l->named = false;
	query_words(rl_line_buffer, offer_columns_of, l);
	/* Columns come before their table; those of all events would be too many. */
	if (l->named)
		return;
	for (size_t i = 0; tables[i]; i++)
		offer_columns_of(l, tables[i]->name);
}

static char *next_completion(const char *text, int again)
{
	struct sql_line *l = reading;

	if (!again) {
		strings_free(&l->found);
		l->word = text;
		l->len = strlen(text);
		l->next = 0;
		find(l);
	}
	while (l->next < l->found.n) {
		char *name = l->found.at[l->next];

		l->found.at[l->next++] = NULL;
		if (name)
			return name;
	}
	return NULL;
}

static char **complete(const char *text, int start, int end)
{
	/* File names only where a dot command takes one. */
	const char *line = rl_line_buffer + strspn(rl_line_buffer, " ");

	if (strncmp(line, ".read ", 6) == 0 || strncmp(line, ".output ", 8) == 0)
		return NULL;
	rl_attempted_completion_over = 1;
	return rl_completion_matches(text, next_completion);
}

/* A hyphen separates words of SQL, but is part of the names of saved queries. */
static char *word_breaks(void)
{
	static char blanks[] = " \t\n";

	return rl_line_buffer[strspn(rl_line_buffer, " ")] == '@' ? blanks : NULL;
}

/*
 * A Ctrl-C discards the line, with the characters that have arrived. A blocking read would miss it.
 */
static int next_char(FILE *in)
{
	struct pollfd tty = {.fd = reading->tty, .events = POLLIN};
	unsigned char c;
	ssize_t n = -1;

	do {
		rl_check_signals();
		if (cli_stop) {
			rl_done = 1;
			return '\n';
		}
		errno = EAGAIN;
		if (poll(&tty, 1, LOOK_EVERY) > 0)
			n = read(tty.fd, &c, 1);
	} while (n < 0 && (errno == EAGAIN || errno == EINTR));
	return n == 1 ? c : EOF;
}

static struct sql_line *sql_line_open(struct sql *s)
{
	struct sql_line *l = calloc(1, sizeof(*l));

	if (!l) {
		cli_error("out of memory");
		return NULL;
	}
	l->sql = s;
	/*
	 * O_NONBLOCK is set on a new open file, so that other users of the terminal are not
	 * affected.
	 */
	l->tty = open("/proc/self/fd/0", O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (l->tty < 0)
		l->tty = dup(STDIN_FILENO);
	buf_init(&l->history, 4096);
	reading = l;
	rl_readline_name = "spur";
	rl_attempted_completion_function = complete;
	rl_completer_word_break_characters = " \t\n\"'`()=<>,;+-*/%|&";
	rl_completion_word_break_hook = word_breaks;
	rl_getc_function = next_char;
	using_history();
	if (file_of_user("XDG_STATE_HOME", ".local/state", "sql_history", &l->history))
		read_history(l->history.data);
	return l;
}

/* A line from the terminal, allocated; NULL at its end. *stopped: there was a Ctrl-C. */
static char *sql_line_read(struct sql_line *l, const char *prompt, bool *stopped)
{
	char *line = readline(prompt);

	*stopped = cli_stop != 0;
	if (*stopped) {
		/* The end of line that next_char() returned may not have been read yet. */
		rl_clear_pending_input();
		printf("\n");
	}
	if (!line && !*stopped)
		printf("\n");
	return line || !*stopped ? line : strdup("");
}

static void sql_line_remember(struct sql_line *l, const char *statement)
{
	char *copy = strdup(statement);

	/* A statement of several lines is stored as one. */
	for (char *c = copy; c && *c; c++)
		if (*c == '\n')
			*c = ' ';
	for (size_t n = copy ? strlen(copy) : 0; n && copy[n - 1] == ' '; n--)
		copy[n - 1] = '\0';
	if (copy && *copy)
		add_history(copy);
	free(copy);
}

static void sql_line_close(struct sql_line *l)
{
	stifle_history(HISTORY_LINES);
	if (l->history.len) {
		file_make_parents(l->history.data, 0700);
		write_history(l->history.data);
		chmod(l->history.data, 0600);
	}
	strings_free(&l->found);
	buf_free(&l->history);
	close(l->tty);
	reading = NULL;
	free(l);
}

#else

struct sql_line {
	char *line;
	size_t cap;
};

static struct sql_line *sql_line_open(struct sql *s)
{
	struct sql_line *l = calloc(1, sizeof(*l));

	if (!l)
		cli_error("out of memory");
	return l;
}

static char *sql_line_read(struct sql_line *l, const char *prompt, bool *stopped)
{
	ssize_t n;

	fputs(prompt, stdout);
	fflush(stdout);
	n = getline(&l->line, &l->cap, stdin);
	*stopped = cli_stop != 0;
	if (n < 0) {
		printf("\n");
		clearerr(stdin);
		return *stopped ? strdup("") : NULL;
	}
	return strndup(l->line, strcspn(l->line, "\n"));
}

static void sql_line_remember(struct sql_line *l, const char *statement)
{
}

static void sql_line_close(struct sql_line *l)
{
	free(l->line);
	free(l);
}

#endif

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

/* A line that is complete by itself: a dot command, a saved query. True when it was one. */
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
	scoped_buf statement = buf_new(STATEMENT_MAX);
	bool stopped = false;
	char *line;

	if (!l)
		return SPUR_ENVIRONMENT;
	s->interactive = true;
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
				sql_line_remember(l, first ? line : buf_str(&statement));
			if (done)
				buf_reset(&statement);
		}
		free(line);
		s->shown = false;
		rearm();
	}
	sql_line_close(l);
	return SPUR_OK;
}
