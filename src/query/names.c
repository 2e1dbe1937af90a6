// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names in statements: which tables a statement needs, and suggestions if SQLite does not find a
 * name.
 *
 * A statement is only split into words, not parsed: a word that could be a table becomes one, even
 * if it is the name of something else. That does no harm.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "query/fleet/private.h"
#include "tracefs/tracefs.h"

#define WORD_MAX 256

/* ---- words ---- */

struct word {
	char text[WORD_MAX];
	bool is_name;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Reads a quoted text, in which quotes are doubled. Returns its end. */
static const char *quoted(const char *at, char end, struct word *w)
{
	size_t n = 0;

	for (at++; *at; at++) {
		if (*at == end && (end == ']' || at[1] != end))
			break;
		if (*at == end)
			at++;
		if (n < WORD_MAX - 1)
			w->text[n++] = *at;
	}
	w->text[n] = '\0';
	return *at ? at + 1 : at;
}

/* Reads the word at a place before the end of the text, and returns its end. */
static const char *next_word(const char *at, struct word *w)
{
	const char *start = at, *end;

	w->is_name = false;
	if (at[0] == '-' && at[1] == '-')
		return at + strcspn(at, "\n");
	if (at[0] == '/' && at[1] == '*') {
		end = strstr(at + 2, "*/");
		return end ? end + 2 : at + strlen(at);
	}
	if (*at == '\'')
		return quoted(at, '\'', w);
	if (*at == '"' || *at == '`' || *at == '[') {
		w->is_name = true;
		return quoted(at, *at == '[' ? ']' : *at, w);
	}
	/* Parameters and numbers are no names. */
	if (strchr(":@$#?", *at) || isdigit((unsigned char)*at)) {
		for (at++; is_word(*at) || *at == '.'; at++)
			;
		return at;
	}
	if (!is_word(*at))
		return at + 1;
	while (is_word(*at))
		at++;
	if (at - start < WORD_MAX) {
		memcpy(w->text, start, (size_t)(at - start));
		w->text[at - start] = '\0';
		w->is_name = true;
	}
	return at;
}

size_t names_statement(const char *sql)
{
	const char *at = sql;
	struct word w;

	while (*at && *at != ';')
		at = next_word(at, &w);
	return (size_t)(at - sql) + (*at == ';');
}

void query_words(const char *sql, void (*fn)(void *arg, const char *word), void *arg)
{
	struct word w;

	while (*sql) {
		sql = next_word(sql, &w);
		if (w.is_name)
			fn(arg, w.text);
	}
}

/* ---- tables ---- */

struct event *names_event(const struct query_file *f, const char *name, bool *ambiguous)
{
	const struct events *ev = f->trace->events;
	const char *colon = strchr(name, ':');
	struct event *found = NULL;

	*ambiguous = false;
	for (size_t i = 0; i < ev->nr; i++) {
		struct event *e = ev->list[i];

		if (strcasecmp(e->name, colon ? colon + 1 : name) != 0)
			continue;
		if (colon && (strncasecmp(e->system, name, (size_t)(colon - name)) != 0 ||
			      e->system[colon - name]))
			continue;
		/* Records use the later one of two formats. */
		if (found && strcmp(found->system, e->system) != 0)
			*ambiguous = true;
		found = e;
	}
	return found;
}

static int derived_number(const char *name)
{
	for (int i = 0; tables[i]; i++)
		if (strcasecmp(tables[i]->name, name) == 0)
			return i;
	return -1;
}

static size_t file_number(const struct query_file *f)
{
	size_t n = 0;

	while (f->query->files.at[n] != f)
		n++;
	return n;
}

static int create(struct query_file *f, const char *name, const char *module, long number,
		  struct spur_error *err)
{
	if (!strings_add(&f->made, name))
		return error_set(err, -ENOMEM, "out of memory");
	if (query_run(f->query,
		      sqlite3_mprintf("create virtual table \"%w\".\"%w\" using %s(%lld, %ld)",
				      f->name, name, module, (long long)file_number(f), number),
		      err) == 0)
		return 0;
	free(f->made.at[--f->made.n]);
	error_prefix(err, "the table '%s' cannot be made", name);
	return -EINVAL;
}

/* Makes one table; 0 if it exists now, 1 if there is none of that name. */
static int make_table(struct query_file *f, const char *name, struct spur_error *err)
{
	const int derived = derived_number(name);
	struct event *e;
	bool ambiguous;

	vec_each (made, &f->made)
		if (strcasecmp(*made, name) == 0)
			return 0;
	if (derived >= 0)
		return create(f, name, "spur_derived", derived, err);
	if (strcasecmp(name, "events") == 0)
		return create(f, name, "spur_event", -1, err);
	e = names_event(f, name, &ambiguous);
	return e && !ambiguous ? create(f, name, "spur_event", (long)e->index, err) : 1;
}

struct making {
	struct query *query;
	struct spur_error *err;
	int rc;
};

static void make_word(void *arg, const char *word)
{
	struct making *m = arg;

	for (size_t i = 0; m->rc >= 0 && i < m->query->files.n; i++)
		m->rc = make_table(m->query->files.at[i], word, m->err);
}

int names_make_tables(struct query *q, const char *sql, struct spur_error *err)
{
	struct making m = {q, err, 0};

	if (q->fleet)
		return fleet_make_tables(q, sql, err);
	query_words(sql, make_word, &m);
	return m.rc < 0 ? m.rc : 0;
}

/* ---- what was meant ---- */

/* Splits "SCHEMA.NAME"; NULL if there is no such schema. */
static const struct query_file *split_name(const struct query *q, const char **name)
{
	const char *dot = strchr(*name, '.');

	for (size_t i = 0; dot && i < q->files.n; i++) {
		const struct query_file *f = q->files.at[i];

		if (strlen(f->name) == (size_t)(dot - *name) &&
		    strncasecmp(f->name, *name, (size_t)(dot - *name)) == 0) {
			*name = dot + 1;
			return f;
		}
	}
	return NULL;
}

static void try_name(void *near, const char *name)
{
	suggest_try(near, name);
}

static const char *nearest_table(struct query *q, const struct query_file *only, const char *name,
				 struct suggest *s)
{
	*s = suggest_for(name, strlen(name));
	for (int i = 0; tables[i]; i++)
		suggest_try(s, tables[i]->name);
	suggest_try(s, "events");
	if (q->fleet)
		fleet_names(q, try_name, s);
	for (size_t i = 0; i < q->files.n; i++) {
		const struct events *ev = q->files.at[i]->trace->events;

		if (only && q->files.at[i] != only)
			continue;
		for (size_t k = 0; k < ev->nr; k++)
			suggest_try(s, ev->list[k]->name);
	}
	return suggest_best(s);
}

/* Names all systems that have the event. */
static bool put_systems(const struct query *q, const char *name, struct buf *out)
{
	bool ambiguous = false;

	for (size_t i = 0; i < q->files.n && !ambiguous; i++) {
		const struct events *ev = q->files.at[i]->trace->events;
		const char *between = "";

		if (!names_event(q->files.at[i], name, &ambiguous) || !ambiguous)
			continue;
		buf_printf(out, "several systems have an event '%s': ask for ", name);
		for (size_t k = 0; k < ev->nr; k++) {
			if (strcasecmp(ev->list[k]->name, name) != 0)
				continue;
			buf_printf(out, "%s\"%s:%s\"", between, ev->list[k]->system,
				   ev->list[k]->name);
			between = " or ";
		}
	}
	return ambiguous;
}

/* An event of the running kernel that the file does not describe. */
static bool put_live(const char *name, struct buf *out)
{
	struct tracefs_events list = {0};
	struct spur_error err = {0};
	struct tracefs fs;
	bool found = false;

	if (tracefs_look(&fs, &err) < 0 || tracefs_events_load(&fs, NULL, &list, &err) < 0)
		return false;
	for (size_t i = 0; i < list.n && !found; i++) {
		found = strcmp(list.at[i].name, name) == 0;
		if (found)
			buf_printf(out,
				   "this trace does not have the event '%s', which the running "
				   "kernel knows: record it with -e %s:%s",
				   name, list.at[i].system, name);
	}
	tracefs_events_free(&list);
	return found;
}

static void put_unknown_table(struct query *q, const char *name, struct buf *out)
{
	const struct query_file *only = split_name(q, &name);
	struct suggest s;
	const char *best;

	if (put_systems(q, name, out))
		return;
	best = nearest_table(q, only, name, &s);
	if (best && strcmp(best, name) == 0) {
		buf_printf(out, "'%s' is a text: the name of a table has double quotes, or none",
			   name);
		return;
	}
	if (!best && put_live(name, out))
		return;
	buf_printf(out, "there is no table or event '%s'%s%s", name, only ? " in " : "",
		   only ? only->name : "");
	if (best)
		buf_printf(out, "; did you mean '%s'?", best);
}

/* Tries the columns of all tables that the statement names. */
struct trying {
	struct query *query;
	struct suggest near;
	char best[WORD_MAX];
	size_t distance;
};

static void try_columns(void *arg, const char *word)
{
	struct trying *t = arg;
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(t->query->db, "select name from pragma_table_info(?1)", -1, &s,
			       NULL) != SQLITE_OK)
		return;
	sqlite3_bind_text(s, 1, word, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(s, 0);

		/* A column of exactly this name belongs to a table that is not in scope. */
		if (name && strcasecmp(name, t->near.word) == 0)
			continue;
		suggest_try(&t->near, name ? name : "");
		if (name && t->near.best == name && suggest_best(&t->near))
			snprintf(t->best, sizeof(t->best), "%s", name);
		/* The name is only valid until the next row. */
		t->near.best = t->near.best ? t->best : NULL;
	}
	sqlite3_finalize(s);
}

static void put_unknown_column(struct query *q, const char *name, const char *sql, struct buf *out)
{
	const char *dot = strrchr(name, '.'), *word = dot ? dot + 1 : name;
	struct trying t = {.query = q, .near = suggest_for(word, strlen(word))};
	bool ambiguous = false;

	q->internal = true;
	query_words(sql, try_columns, &t);
	q->internal = false;
	buf_printf(out, "there is no column '%s'", name);
	if (t.best[0])
		buf_printf(out, "; did you mean '%s'?", t.best);
	else if (!dot && q->files.n && names_event(q->files.at[0], word, &ambiguous))
		buf_puts(out, ": that is a table, which belongs after \"from\"");
	else if (strchr(sql, '"'))
		buf_puts(out, "; a text stands in single quotes");
	if (strcmp(word, "common_pid") == 0)
		buf_puts(out, " (common_pid is called pid)");
}

static void put_unknown_function(const char *name, struct buf *out)
{
	static const char *const known[] = {
		"count",  "sum",    "avg",   "min",   "max",	  "total", "group_concat", "printf",
		"substr", "length", "lower", "upper", "coalesce", "round", "abs",	   NULL};
	struct suggest s = suggest_for(name, strlen(name));

	for (const struct query_function_info *f = query_functions; f->name; f++)
		suggest_try(&s, f->name);
	for (const char *const *k = known; *k; k++)
		suggest_try(&s, *k);
	buf_printf(out, "there is no function '%s'", name);
	if (suggest_best(&s))
		buf_printf(out, "; did you mean '%s'?", suggest_best(&s));
}

/* Appends the position in the text at which SQLite stopped. */
static void put_position(const struct query *q, const char *sql, struct buf *out)
{
	const int offset = sqlite3_error_offset(q->db);
	int line = 1, column = 1;

	if (offset < 0 || (size_t)offset > strlen(sql))
		return;
	for (int i = 0; i < offset; i++) {
		column = sql[i] == '\n' ? 1 : column + 1;
		line += sql[i] == '\n';
	}
	if (strchr(sql, '\n'))
		buf_printf(out, " (line %d, column %d)", line, column);
	else
		buf_printf(out, " (column %d)", column);
}

/* The text after a prefix, or NULL. */
const char *names_after(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0 ? text + strlen(start) : NULL;
}

int names_explain(struct query *q, const char *sql, const char *message, struct spur_error *err)
{
	struct buf where, text;
	char *copy = strdup(message);
	const char *name;
	int code;

	buf_init(&where, 256);
	buf_init(&text, 4096);
	/* To be called before other statements overwrite the position. */
	put_position(q, sql, &where);
	message = copy ? copy : "out of memory";
	if ((name = names_after(message, "no such table: ")))
		put_unknown_table(q, name, &text);
	else if ((name = names_after(message, "no such column: ")))
		put_unknown_column(q, name, sql, &text);
	else if ((name = names_after(message, "no such function: ")))
		put_unknown_function(name, &text);
	else
		buf_puts(&text, message);
	code = error_set(err, -EINVAL, "%s%s", buf_str(&text), buf_str(&where));
	buf_free(&where);
	buf_free(&text);
	free(copy);
	return code;
}
