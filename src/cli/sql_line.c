// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lines from the terminal: by readline, with a history and completion, or plainly where the program
 * was built without it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "table/table.h"
#include "base/file.h"
#include "base/vec.h"
#include "cli/sql.h"

#ifdef HAVE_READLINE
#include <readline/history.h>
#include <readline/readline.h>

#define HISTORY_LINES 1000
#define LOOK_EVERY    100 /* ms */

struct sql_line {
	struct sql *sql;
	struct buf history;
	struct {
		char **at;
		size_t n, cap;
	} found; /* completions of the word that is being completed */
	const char *word;
	size_t len, next;
	bool named; /* the line names a table */
	int tty;    /* where characters come from, without waiting if possible */
};

/* readline's functions take no argument: this is the one that is being read from. */
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
	char **slot;

	if (strncasecmp(name, l->word, l->len) != 0)
		return;
	vec_each (have, &l->found)
		if (strcmp(*have, name) == 0)
			return;
	slot = vec_push(&l->found);
	if (slot)
		*slot = strdup(name);
}

static void offer_prefixed(struct sql_line *l, char sign,
			   void (*each)(void (*fn)(void *, const char *), void *arg))
{
	l->word++;
	l->len--;
	each(offer, l);
	vec_each (name, &l->found) {
		char *with = malloc(strlen(*name ? *name : "") + 2);

		if (with && *name) {
			with[0] = sign;
			memcpy(with + 1, *name, strlen(*name) + 1);
			free(*name);
			*name = with;
		} else {
			free(with);
		}
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

static void find(struct sql_line *l)
{
	if (*l->word == '.') {
		offer_prefixed(l, '.', sql_dot_names);
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
		vec_each (name, &l->found)
			free(*name);
		vec_free(&l->found);
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

/* A hyphen parts words of SQL, but not of the names of saved queries. */
static char *word_breaks(void)
{
	static char blanks[] = " \t\n";

	return rl_line_buffer[strspn(rl_line_buffer, " ")] == '@' ? blanks : NULL;
}

/*
 * A Ctrl-C throws the line away, with characters that have come already. Whoever waited for these
 * would have missed it.
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

struct sql_line *sql_line_open(struct sql *s)
{
	struct sql_line *l = calloc(1, sizeof(*l));

	if (!l) {
		cli_error("out of memory");
		return NULL;
	}
	l->sql = s;
	/* Not waiting is about this way to the terminal, not about what others have of it. */
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

char *sql_line_read(struct sql_line *l, const char *prompt, bool *stopped)
{
	char *line = readline(prompt);

	*stopped = cli_stop != 0;
	if (*stopped) {
		/* The end that next_char() made of the line may still have to come. */
		rl_clear_pending_input();
		printf("\n");
	}
	if (!line && !*stopped)
		printf("\n");
	return line || !*stopped ? line : strdup("");
}

void sql_line_keep(struct sql_line *l, const char *statement)
{
	char *copy = strdup(statement);

	/* What came in several lines is kept as one. */
	for (char *c = copy; c && *c; c++)
		if (*c == '\n')
			*c = ' ';
	for (size_t n = copy ? strlen(copy) : 0; n && copy[n - 1] == ' '; n--)
		copy[n - 1] = '\0';
	if (copy && *copy)
		add_history(copy);
	free(copy);
}

void sql_line_close(struct sql_line *l)
{
	stifle_history(HISTORY_LINES);
	if (l->history.len) {
		file_make_parents(l->history.data, 0700);
		write_history(l->history.data);
		chmod(l->history.data, 0600);
	}
	vec_each (name, &l->found)
		free(*name);
	vec_free(&l->found);
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

struct sql_line *sql_line_open(struct sql *s)
{
	struct sql_line *l = calloc(1, sizeof(*l));

	if (!l)
		cli_error("out of memory");
	return l;
}

char *sql_line_read(struct sql_line *l, const char *prompt, bool *stopped)
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

void sql_line_keep(struct sql_line *l, const char *statement)
{
}

void sql_line_close(struct sql_line *l)
{
	free(l->line);
	free(l);
}

#endif
