// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Making the tables that a statement names, without opening files that it does not need.
 *
 * A statement is first prepared over tables with guessed columns: those that every event type has,
 * and those that the statement names. SQLite then passes the limits of each scan, which show which
 * files may be needed (see note_needed() in table.c). The events of these files give the tables'
 * real columns. If this fails, all files are needed.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "base/error.h"
#include "base/order.h"
#include "base/vec.h"
#include "query/fleet/columns.h"

#define MAX_TRIES 200

/* ---- tables ---- */

struct fleet_table *fleet_table_find(const struct fleet *f, const char *name)
{
	vec_each (t, &f->tables)
		if (strcasecmp((*t)->name, name) == 0)
			return *t;
	return NULL;
}

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

static int first_guess(struct fleet_table *t)
{
	const struct table *derived = NULL;
	int rc = fleet_columns_begin(&t->columns);

	for (int i = 0; tables[i]; i++)
		if (strcasecmp(tables[i]->name, t->name) == 0)
			derived = tables[i];
	t->fixed = t->exists = true;
	t->kind = derived ? FLEET_DERIVED : FLEET_EVENTS;
	if (rc == 0 && derived)
		return fleet_columns_of_table(&t->columns, derived);
	if (rc == 0 && strcasecmp(t->name, "events") == 0)
		return fleet_columns_of_event(&t->columns, NULL, false);
	if (rc == 0 && strcasecmp(t->name, "traces") == 0) {
		t->kind = FLEET_TRACES;
		return fleet_trace_columns(&t->columns);
	}
	t->fixed = t->exists = false;
	t->guessed = true;
	return rc == 0 ? fleet_columns_of_event(&t->columns, NULL, true) : rc;
}

void fleet_table_free(struct fleet_table *t)
{
	fleet_columns_free(&t->columns);
	free(t->covered);
	free(t->needed);
	free(t->name);
	free(t);
}

static struct fleet_table *add_table(struct fleet *f, const char *name)
{
	struct fleet_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->name = strdup(name);
	t->covered = calloc(BIT_WORDS(f->files.n) + 1, sizeof(*t->covered));
	t->needed = calloc(BIT_WORDS(f->files.n) + 1, sizeof(*t->needed));
	if (t->name && t->covered && t->needed && first_guess(t) == 0 && vec_add(&f->tables, &t))
		return t;
	fleet_table_free(t);
	return NULL;
}

static int unmake(struct fleet *f, struct fleet_table *t, struct spur_error *err)
{
	if (!t->made)
		return 0;
	t->made = false;
	return query_run(f->query, sqlite3_mprintf("drop table main.\"%w\"", t->name), err);
}

static int make(struct fleet *f, struct fleet_table *t, struct spur_error *err)
{
	size_t number = 0;
	int rc = unmake(f, t, err);

	while (f->tables.at[number] != t)
		number++;
	if (rc == 0)
		rc = query_run(f->query,
			       sqlite3_mprintf("create virtual table main.\"%w\" using "
					       "spur_fleet(%lld)",
					       t->name, (long long)number),
			       err);
	t->made = rc == 0;
	return rc < 0 ? error_prefix(err, "the table '%s' cannot be made", t->name) : 0;
}

/* ---- probing a statement ---- */

static const char *without_schema(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* Makes a table of which only the name is known. 1 if one was made. */
static int guess_table(struct fleet *f, const char *name, struct spur_error *err)
{
	const char *table = names_after(name, "main.") ? name + 5 : name;
	struct fleet_table *t = fleet_table_find(f, table);

	if ((t && t->made) || !*table)
		return 0;
	if (!t)
		t = add_table(f, table);
	if (!t)
		return no_memory(err);
	return make(f, t, err) < 0 ? -EINVAL : 1;
}

/* Adds a column to all guessed tables, or only to one of them. 1 if one was added. */
static int guess_column(struct fleet *f, const char *name, bool only_one, struct spur_error *err)
{
	int done = 0, rc = 0;

	vec_each (at, &f->tables) {
		struct fleet_table *t = *at;
		struct fleet_cell *cell;

		if (!t->guessed || !t->made || rc < 0)
			continue;
		cell = fleet_columns_find(&t->columns, name);
		if (only_one && cell && done++) {
			/* The column gets a name that no statement uses. */
			free(cell->name);
			cell->name = strdup(" ");
			rc = cell->name ? make(f, t, err) : no_memory(err);
		} else if (!only_one && !cell) {
			done = 1;
			rc = fleet_columns_add(&t->columns, name, NULL) ? make(f, t, err)
									: no_memory(err);
		}
	}
	return rc < 0 ? rc : only_one ? done > 1 : done;
}

static void need_all(struct fleet *f)
{
	vec_each (t, &f->tables)
		for (size_t i = 0; (*t)->guessed && i < f->files.n; i++)
			bit_set((*t)->needed, i);
}

/* Prepares the statement until nothing is missing. */
static int probe(struct fleet *f, const char *sql, struct spur_error *err)
{
	struct query *q = f->query;
	int rc = SQLITE_ERROR;

	for (int i = 0; i < MAX_TRIES; i++) {
		sqlite3_stmt *s = NULL;
		char *message;
		const char *name;
		int done = 0;

		f->probing = true;
		rc = sqlite3_prepare_v2(q->db, sql, -1, &s, NULL);
		f->probing = false;
		sqlite3_finalize(s);
		if (rc == SQLITE_OK)
			return 0;
		message = strdup(sqlite3_errmsg(q->db));
		if (!message)
			return no_memory(err);
		if ((name = names_after(message, "no such table: ")))
			done = guess_table(f, name, err);
		else if ((name = names_after(message, "no such column: ")))
			done = guess_column(f, without_schema(name), false, err);
		else if ((name = names_after(message, "ambiguous column name: ")))
			done = guess_column(f, without_schema(name), true, err);
		free(message);
		if (done < 0)
			return done;
		if (!done)
			break;
	}
	/* An error, or too complex for guessing. Errors are reported when the columns are known. */
	need_all(f);
	return 0;
}

/* ---- columns of files ---- */

/* Different sets of columns that files have, each with the first file that has it. */
struct variant {
	struct fleet_table *table;
	size_t file;
	struct fleet_columns columns;
};

struct learning {
	struct fleet *fleet;
	vec_of(struct variant) variants;
	bool no_memory;
};

static void add_variant(struct learning *l, struct fleet_table *t, size_t file,
			struct fleet_columns *c)
{
	struct variant *v = NULL;

	vec_each (other, &l->variants)
		if (other->table == t && fleet_columns_equal(&other->columns, c))
			v = other;
	if (v) {
		v->file = file < v->file ? file : v->file;
		fleet_columns_free(c);
		return;
	}
	if (!vec_add(&l->variants, &((struct variant){t, file, *c}))) {
		fleet_columns_free(c);
		l->no_memory = true;
	}
}

/* The columns of a file; *exists: whether the file has the table at all. */
static int columns_of(const struct fleet_table *t, const struct fleet_file *file,
		      const struct fleet_input *in, struct fleet_columns *c, bool *exists,
		      bool *ambiguous)
{
	const struct query_file f = {.trace = in->trace};
	struct event *e;

	if (in->parquet) {
		const enum fleet_match match = fleet_match(file, t);

		*exists = match == FLEET_ROWS;
		*ambiguous = match == FLEET_SEVERAL;
		return *exists ? fleet_columns_of_parquet(c, in->parquet) : 0;
	}
	e = names_event(&f, t->name, ambiguous);
	*exists = e && !*ambiguous;
	return *exists ? fleet_columns_of_event(c, e, false) : 0;
}

static void learn(void *arg, size_t file, struct fleet_input *in)
{
	struct learning *l = arg;

	for (size_t i = 0; i < l->fleet->tables.n; i++) {
		struct fleet_table *t = l->fleet->tables.at[i];
		struct fleet_columns c = {0};
		bool exists, ambiguous;
		int rc;

		if (t->fixed || !bit_get(t->needed, file))
			continue;
		rc = columns_of(t, &l->fleet->files.at[file], in, &c, &exists, &ambiguous);
		pthread_mutex_lock(&l->fleet->lock);
		t->ambiguous |= ambiguous;
		l->no_memory |= rc < 0;
		if (exists && rc == 0) {
			t->exists = true;
			add_variant(l, t, file, &c);
		}
		pthread_mutex_unlock(&l->fleet->lock);
		if (rc < 0)
			fleet_columns_free(&c);
	}
}

static int by_file(const void *a, const void *b)
{
	const struct variant *x = a, *y = b;

	return (x->file > y->file) - (x->file < y->file);
}

/* Adds the found columns to the tables, in the order of files. */
static int take_variants(struct learning *l, struct spur_error *err)
{
	int rc = l->no_memory ? no_memory(err) : 0;

	order_vec(&l->variants, by_file);
	vec_each (v, &l->variants) {
		struct fleet_table *t = v->table;
		bool grown = false;

		if (rc == 0 && t->guessed) {
			fleet_columns_free(&t->columns);
			t->guessed = false;
			rc = fleet_columns_begin(&t->columns);
			grown = true;
		}
		if (rc == 0 && fleet_columns_merge(&t->columns, &v->columns, &grown) < 0)
			rc = no_memory(err);
		if (rc == 0 && grown)
			rc = make(l->fleet, t, err);
		fleet_columns_free(&v->columns);
	}
	vec_free(&l->variants);
	return rc;
}

static int visit(struct fleet *f, const struct file_list *list, struct spur_error *err)
{
	struct learning l = {.fleet = f};
	int rc = list->n ? fleet_visit(f, list, learn, &l) : 0, taken;

	taken = take_variants(&l, err);
	if (rc == -EINTR)
		return error_set(err, rc, "stopped");
	return rc < 0 ? no_memory(err) : taken;
}

/* Opens the files whose columns are needed and not known yet. */
static int learn_needed(struct fleet *f, struct spur_error *err)
{
	struct file_list list = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->files.n; i++) {
		bool wanted = false;

		vec_each (t, &f->tables)
			wanted |= !(*t)->fixed && bit_get((*t)->needed, i) &&
				  !bit_get((*t)->covered, i) &&
				  fleet_match(&f->files.at[i], *t) != FLEET_NO_ROWS;
		if (wanted && !vec_add(&list, &(uint32_t){(uint32_t)i}))
			rc = no_memory(err);
	}
	if (rc == 0)
		rc = visit(f, &list, err);
	vec_each (t, &f->tables)
		for (size_t i = 0; i < BIT_WORDS(f->files.n); i++)
			(*t)->covered[i] |= (*t)->needed[i];
	vec_free(&list);
	return rc;
}

/*
 * If none of the needed files has a table, other files may have it. Then it exists, but is empty.
 */
static int look_elsewhere(struct fleet *f, struct fleet_table *t, struct spur_error *err)
{
	const size_t at_once = f->threads * 4;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < f->files.n && !t->exists;) {
		struct file_list list = {0};

		for (; rc == 0 && i < f->files.n && list.n < at_once; i++) {
			if (bit_get(t->covered, i) ||
			    fleet_match(&f->files.at[i], t) == FLEET_NO_ROWS)
				continue;
			bit_set(t->needed, i);
			bit_set(t->covered, i);
			if (!vec_add(&list, &(uint32_t){(uint32_t)i}))
				rc = no_memory(err);
		}
		if (rc == 0)
			rc = visit(f, &list, err);
		vec_free(&list);
	}
	return rc;
}

/* Removes a guess that turned out to be no table. */
static int remove_table(struct fleet *f, struct fleet_table *t, struct spur_error *err)
{
	const bool ambiguous = t->ambiguous;
	char name[128];
	int rc = unmake(f, t, err);

	/* Only unreadable files may have it. */
	vec_each (file, &f->files)
		if (file->parquet && file->state == FLEET_BAD && fleet_match(file, t) == FLEET_ROWS)
			fleet_tell(f, file, file->about->why);
	snprintf(name, sizeof(name), "%s", t->name);
	/* Numbers of tables must not change: it stays in the list with an unusable name. */
	t->guessed = t->ambiguous = false;
	t->fixed = true;
	t->name[0] = '\0';
	if (rc == 0 && ambiguous)
		return error_set(err, -EINVAL,
				 "several systems have an event '%s': ask for \"SYSTEM:%s\"", name,
				 name);
	return rc;
}

int fleet_make_tables(struct query *q, const char *sql, struct spur_error *err)
{
	struct fleet *f = q->fleet;
	int rc;

	f->read = f->groups = f->groups_read = 0;
	vec_each (t, &f->tables)
		memset((*t)->needed, 0, BIT_WORDS(f->files.n) * sizeof(*(*t)->needed));
	rc = probe(f, sql, err);
	if (rc == 0)
		rc = learn_needed(f, err);
	for (size_t i = 0; rc == 0 && i < f->tables.n; i++) {
		struct fleet_table *t = f->tables.at[i];

		if (t->fixed || (t->exists && !t->guessed))
			continue;
		if (!t->ambiguous)
			rc = look_elsewhere(f, t, err);
		if (rc == 0 && !t->exists)
			rc = remove_table(f, t, err);
	}
	return rc;
}
