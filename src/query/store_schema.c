// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a store has: the tables of exports, and `events`, which is the rows of all tables of events
 * put together.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "base/error.h"
#include "base/suggest.h"
#include "base/vec.h"
#include "query/store_session.h"

#define LOCAL	   "_local"
#define TRACES	   "traces"
#define EVENTS	   "events"
#define BLOCK	   "spur_block"
#define TEXT_LIMIT (4u << 20)

/* Those of every table come first, in this order. */
static const char *const first_columns[] = {"host", "date", "trace_id"};
#define NR_FIRST (sizeof(first_columns) / sizeof(first_columns[0]))

/* What `traces` says of files, and is not exported. */
static const char *const of_files[] = {"uname", "events",	"lost",	       "gaps",
				       "cpus",	"buffers",	"damage",      "path",
				       "bytes", "file_version", "compression", "recorder"};
#define NR_OF_FILES (sizeof(of_files) / sizeof(of_files[0]))

enum store_kind store_kind_of(const char *type, bool *nullable)
{
	static const char nullables[] = "Nullable(";

	*nullable = strncmp(type, nullables, sizeof(nullables) - 1) == 0 ||
		    strstr(type, "(Nullable(") != NULL;
	if (strcmp(type, "Date") == 0 || strcmp(type, "Nullable(Date)") == 0)
		return STORE_DATE;
	switch (tsv_kind_of(type, strlen(type))) {
	case TSV_INTEGER: return STORE_INTEGER;
	case TSV_REAL: return STORE_REAL;
	default: return STORE_TEXT;
	}
}

/* ---- tables ---- */

/* In a cluster the rows of a shard are in NAME_local, and NAME is what is asked. */
bool store_is_local(const struct store *s, const char *name)
{
	const size_t len = strlen(name), tail = strlen(LOCAL);
	char base[256];

	if (len <= tail || len >= sizeof(base) || strcmp(name + len - tail, LOCAL) != 0)
		return false;
	memcpy(base, name, len - tail);
	base[len - tail] = '\0';
	return ch_table_find(&s->server, base) != NULL;
}

bool store_is_event(const struct store *s, const struct ch_table_info *t)
{
	static const char *const all[] = {BLOCK, "host", "date", "trace_id", "ts",
					  "cpu", "pid",	 "comm", "buffer",   NULL};

	if (table_find(t->name) || strcmp(t->name, TRACES) == 0 ||
	    strcmp(t->name, STORE_TYPES) == 0 || store_is_local(s, t->name))
		return false;
	for (const char *const *name = all; *name; name++)
		if (!ch_column_find(t, *name))
			return false;
	return true;
}

const struct ch_table_info *store_find_table(const struct store *s, const char *name)
{
	const struct ch_table_info *t = ch_table_find(&s->server, name);

	for (size_t i = 0; !t && i < s->server.tables.n; i++)
		if (strcasecmp(s->server.tables.at[i].name, name) == 0)
			t = &s->server.tables.at[i];
	return t;
}

void store_put_place(const struct store *s, const char *table, struct buf *to)
{
	ch_put_name(to, s->at.database);
	buf_putc(to, '.');
	ch_put_name(to, table);
}

/* ---- systems of events ---- */

const char *store_system_of(const struct store *s, const char *table)
{
	const char *colon = strchr(table, ':');

	vec_each (t, &s->types)
		if (strcmp(t->table, table) == 0)
			return t->system;
	return colon ? NULL : "";
}

static int read_types(struct store *s, struct spur_error *err)
{
	char *at = s->server.answer.body.data, *line;

	while ((line = ch_line(&at))) {
		const char *table = ch_field(&line), *system = ch_field(&line);
		struct store_type *t;

		if (!system || line)
			return ch_nonsense(&s->server, err);
		t = vec_push(&s->types);
		if (!t)
			return error_set(err, -ENOMEM, "out of memory");
		t->table = strdup(table);
		t->system = strdup(system);
		if (!t->table || !t->system)
			return error_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int load_types(struct store *s, struct spur_error *err)
{
	struct ch_server *sv = &s->server;
	int rc;

	if (!ch_table_find(sv, STORE_TYPES))
		return 0;
	buf_reset(&sv->sql);
	buf_puts(&sv->sql, "SELECT `table`, min(system) FROM ");
	store_put_place(s, STORE_TYPES, &sv->sql);
	buf_puts(&sv->sql, " GROUP BY `table` FORMAT TabSeparated");
	rc = ch_ask(sv, err);
	return rc < 0 ? rc : read_types(s, err);
}

int store_schema_load(struct store *s, struct spur_error *err)
{
	int rc = ch_tables_load(&s->server, err);

	if (rc == 0 && !s->server.tables.n)
		return error_set(err, -ENOENT, "%s:%s: there is no table in the database '%s'",
				 s->server.host, s->server.port, s->at.database);
	return rc < 0 ? rc : load_types(s, err);
}

/* ---- for the compiler ---- */

struct place {
	const struct store *store;
	const char *table;
};

static void put_table(const struct store_table *t, struct buf *to, const char *where,
		      bool *took_where)
{
	const struct place *p = t->arg;

	store_put_place(p->store, p->table, to);
}

static bool is_first(const char *name)
{
	for (size_t i = 0; i < NR_FIRST; i++)
		if (strcmp(first_columns[i], name) == 0)
			return true;
	return false;
}

static void add_column(struct store_table *out, const struct ch_info_column *c, bool hidden)
{
	struct store_column *to = &out->columns[out->n++];

	*to = (struct store_column){.name = c->name, .ref = c->name, .hidden = hidden};
	to->kind = store_kind_of(c->type, &to->nullable);
	to->fixed = strstr(c->type, "FixedString") != NULL;
}

static int known_table(struct store *s, const struct ch_table_info *t, struct arena *arena,
		       struct store_table *out)
{
	struct place *p = arena_alloc(arena, sizeof(*p));

	*out = (struct store_table){
		.columns = arena_array(arena, t->n + NR_OF_FILES, sizeof(*out->columns)),
		.put = put_table,
		.arg = p};
	if (!p || !out->columns)
		return -ENOMEM;
	*p = (struct place){s, t->name};
	for (size_t i = 0; i < NR_FIRST; i++) {
		const struct ch_info_column *c = ch_column_find(t, first_columns[i]);

		if (c)
			add_column(out, c, false);
	}
	for (size_t i = 0; i < t->n; i++)
		if (!is_first(t->at[i].name))
			add_column(out, &t->at[i],
				   strcmp(t->at[i].name, BLOCK) == 0 ||
					   strcmp(t->at[i].name, "plan") == 0);
	/* Its column cannot be NULL. */
	for (size_t i = 0; strcmp(t->name, TRACES) == 0 && i < out->n; i++)
		out->columns[i].unsaid = strcmp(out->columns[i].name, "clock") == 0;
	for (size_t i = 0; strcmp(t->name, TRACES) == 0 && i < NR_OF_FILES; i++)
		if (!ch_column_find(t, of_files[i]))
			out->columns[out->n++] = (struct store_column){
				.name = of_files[i], .ref = of_files[i], .missing = true};
	return 0;
}

static const struct store_column events_columns[] = {
	{"host", "host", STORE_TEXT},
	{"date", "date", STORE_DATE},
	{"trace_id", "trace_id", STORE_TEXT, .fixed = true},
	{"ts", "ts", STORE_INTEGER},
	{"cpu", "cpu", STORE_INTEGER},
	{"pid", "pid", STORE_INTEGER},
	{"comm", "comm", STORE_TEXT},
	{"system", "system", STORE_TEXT, .nullable = true},
	{"event", "event", STORE_TEXT},
	{"text", "text", STORE_TEXT, .missing = true},
	{"buffer", "buffer", STORE_TEXT},
};
#define NR_EVENTS (sizeof(events_columns) / sizeof(events_columns[0]))

static const char *event_name(const char *table)
{
	const char *colon = strchr(table, ':');

	return colon ? colon + 1 : table;
}

static void put_event(const struct store *s, const struct store_table *t, const char *table,
		      const char *where, struct buf *to)
{
	const char *system = store_system_of(s, table);
	bool any = false;

	buf_puts(to, "SELECT ");
	for (size_t i = 0; i < t->n; i++) {
		const char *name = t->columns[i].name;

		if (!t->columns[i].used)
			continue;
		buf_puts(to, any ? ", " : "");
		any = true;
		/* Constants are not the same column for old servers unless they are made one. */
		if (strcmp(name, "event") == 0) {
			buf_puts(to, "materialize(");
			ch_put_string(to, event_name(table));
			buf_putc(to, ')');
		} else if (strcmp(name, "system") == 0) {
			buf_puts(to, "materialize(CAST(");
			if (system && *system)
				ch_put_string(to, system);
			else
				buf_puts(to, "NULL");
			buf_puts(to, " AS Nullable(String)))");
		} else {
			ch_put_name(to, name);
		}
		buf_puts(to, " AS ");
		ch_put_name(to, name);
	}
	buf_puts(to, any ? " FROM " : "ts FROM ");
	store_put_place(s, table, to);
	if (*where)
		buf_printf(to, " WHERE %s", where);
}

static void put_events(const struct store_table *t, struct buf *to, const char *where,
		       bool *took_where)
{
	const struct store *s = t->arg;
	bool any = false;

	buf_putc(to, '(');
	for (size_t i = 0; i < s->server.tables.n; i++) {
		const struct ch_table_info *table = &s->server.tables.at[i];

		if (!store_is_event(s, table))
			continue;
		buf_puts(to, any ? " UNION ALL " : "");
		put_event(s, t, table->name, where, to);
		any = true;
	}
	buf_putc(to, ')');
	*took_where = true;
}

bool store_has_events(const struct store *s)
{
	for (size_t i = 0; i < s->server.tables.n; i++)
		if (store_is_event(s, &s->server.tables.at[i]))
			return true;
	return false;
}

static int events_table(struct store *s, struct arena *arena, struct store_table *out)
{
	*out = (struct store_table){.columns = arena_array(arena, NR_EVENTS, sizeof(*out->columns)),
				    .n = NR_EVENTS,
				    .put = put_events,
				    .arg = s};
	if (!out->columns)
		return -ENOMEM;
	memcpy(out->columns, events_columns, sizeof(events_columns));
	return 0;
}

/* ---- tables that nothing has been exported to ---- */

static void put_nothing(const struct store_table *t, struct buf *to, const char *where,
			bool *took_where)
{
	buf_puts(to, "(SELECT 1 AS one");
	for (size_t i = 0; i < t->n; i++) {
		if (!t->columns[i].used)
			continue;
		buf_printf(to, ", materialize(CAST(NULL AS Nullable(%s))) AS ",
			   t->columns[i].kind == STORE_TEXT ? "String" : "Int64");
		ch_put_name(to, t->columns[i].name);
	}
	buf_puts(to, " WHERE 0)");
}

static int empty_table(const struct table *t, struct arena *arena, struct store_table *out)
{
	*out = (struct store_table){
		.columns = arena_array(arena, t->nr_columns + NR_FIRST, sizeof(*out->columns)),
		.put = put_nothing};
	if (!out->columns)
		return -ENOMEM;
	for (size_t i = 0; i < NR_FIRST; i++)
		out->columns[out->n++] = (struct store_column){.name = first_columns[i],
							       .ref = first_columns[i],
							       .kind = STORE_TEXT,
							       .nullable = true};
	for (uint32_t i = 0; i < t->nr_columns; i++)
		out->columns[out->n++] = (struct store_column){
			.name = t->columns[i].name,
			.ref = t->columns[i].name,
			.kind = row_is_text(&t->columns[i]) ? STORE_TEXT : STORE_INTEGER,
			.nullable = true,
		};
	return 0;
}

static const struct table *derived_table(const char *name)
{
	for (int i = 0; tables[i]; i++)
		if (strcasecmp(tables[i]->name, name) == 0)
			return tables[i];
	return NULL;
}

int store_find(void *arg, const char *name, struct arena *arena, struct store_table *out)
{
	struct store *s = arg;
	const struct ch_table_info *t = store_find_table(s, name);

	if (t)
		return known_table(s, t, arena, out);
	if (strcasecmp(name, EVENTS) == 0 && store_has_events(s))
		return events_table(s, arena, out);
	return derived_table(name) ? empty_table(derived_table(name), arena, out) : -ENOENT;
}

static const char *view(void *arg, const char *name)
{
	const struct store *s = arg;

	vec_each (v, &s->views)
		if (strcasecmp(v->name, name) == 0)
			return v->text;
	return NULL;
}

void store_names(struct store *s, void (*fn)(void *arg, const char *name), void *arg)
{
	for (size_t i = 0; i < s->server.tables.n; i++)
		if (!store_is_local(s, s->server.tables.at[i].name))
			fn(arg, s->server.tables.at[i].name);
	if (store_has_events(s))
		fn(arg, EVENTS);
	vec_each (v, &s->views)
		fn(arg, v->name);
}

static void names(void *arg, void (*fn)(void *fn_arg, const char *name), void *fn_arg)
{
	store_names(arg, fn, fn_arg);
}

struct store_schema store_schema_of(struct store *s)
{
	return (struct store_schema){.find = store_find, .names = names, .view = view, .arg = s};
}
