// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables on a ClickHouse server: reading the existing ones, and making missing tables and columns.
 *
 * Numbers are always of 64 bits, so that a column has one type even if the size of a field differs
 * between kernels; a column that a kernel does not have is NULL in its rows. In a cluster a table
 * NAME_local holds a shard's rows, and NAME those of all.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "export/clickhouse/private.h"

const char ch_date[] = "Date", ch_string[] = "String", ch_id[] = "FixedString(32)";
const char ch_u8[] = "UInt8", ch_u32[] = "UInt32", ch_u64[] = "UInt64", ch_i32[] = "Int32";
const char ch_number[] = "Nullable(Int64)", ch_text[] = "Nullable(String)";

#define LOCAL "_local"

static int no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory");
}

/* ---- columns ---- */

static const struct {
	const char *name, *type;
} first_columns[] = {
	{"date", ch_date},
	{"host", ch_string},
	{"trace_id", ch_id},
	{CH_BLOCK_COLUMN, ch_u32},
};

#define NR_FIRST ARRAY_SIZE(first_columns)

static int push_column(struct ch_columns *c, const char *prefix, const char *name, const char *type)
{
	struct ch_column *new = vec_push(c);

	if (!new)
		return -ENOMEM;
	new->type = type;
	if (asprintf(&new->name, "%s%s", prefix, name) < 0) {
		new->name = NULL;
		return -ENOMEM;
	}
	return 0;
}

int ch_columns_begin(struct ch_columns *c)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < NR_FIRST; i++)
		rc = push_column(c, "", first_columns[i].name, first_columns[i].type);
	return rc;
}

int ch_columns_add(struct ch_columns *c, const char *name, const char *type)
{
	for (size_t i = 0; i < NR_FIRST; i++)
		if (strcmp(first_columns[i].name, name) == 0)
			return push_column(c, "args_", name, type);
	return push_column(c, "", name, type);
}

void ch_columns_free(struct ch_columns *c)
{
	vec_each (column, c)
		free(column->name);
	vec_free(c);
}

const char *ch_type_find(const char *text)
{
	static const char *const types[] = {ch_date, ch_string, ch_id,	   ch_u8,   ch_u32,
					    ch_u64,  ch_i32,	ch_number, ch_text, NULL};
	static const char low[] = "LowCardinality(";
	size_t len = strlen(text);

	if (strncmp(text, low, sizeof(low) - 1) == 0 && text[len - 1] == ')') {
		text += sizeof(low) - 1;
		len -= sizeof(low);
	}
	for (const char *const *t = types; *t; t++)
		if (strlen(*t) == len && memcmp(*t, text, len) == 0)
			return *t;
	return NULL;
}

/* ---- what is there ---- */

static int make_database(struct ch_server *s, struct spur_error *err)
{
	uint64_t there;
	int rc;

	buf_reset(&s->sql);
	buf_puts(&s->sql, "SELECT count() FROM system.databases WHERE name = ");
	ch_put_string(&s->sql, s->to->database);
	rc = ch_ask_number(s, &there, err);
	if (rc < 0 || there)
		return rc;
	buf_reset(&s->sql);
	buf_puts(&s->sql, "CREATE DATABASE IF NOT EXISTS ");
	ch_put_name(&s->sql, s->to->database);
	return ch_ask(s, err);
}

int ch_schema_load(struct ch_server *s, struct spur_error *err)
{
	int rc = s->known ? 0 : make_database(s, err);

	return rc < 0 ? rc : ch_tables_load(s, err);
}

/* ---- making ---- */

static int local_name(const struct ch_server *s, const char *table, char **out)
{
	return asprintf(out, "%s%s", table, s->to->cluster ? LOCAL : "") < 0 ? -ENOMEM : 0;
}

static void put_place(const struct ch_server *s, const char *table, const char *suffix,
		      struct buf *to)
{
	char *name = NULL;

	ch_put_name(to, s->to->database);
	buf_putc(to, '.');
	if (asprintf(&name, "%s%s", table, suffix) < 0) {
		to->full = true;
		return;
	}
	ch_put_name(to, name);
	free(name);
}

void ch_put_table(const struct ch_server *s, const char *table, struct buf *to)
{
	put_place(s, table, s->to->cluster ? LOCAL : "", to);
}

static void put_engine(struct ch_server *s, const char *table, bool distributed)
{
	char *name = NULL;

	if (!distributed) {
		buf_puts(&s->sql, " ENGINE = MergeTree PARTITION BY date ORDER BY (host, ts)");
		return;
	}
	buf_puts(&s->sql, " ENGINE = Distributed(");
	ch_put_string(&s->sql, s->to->cluster);
	buf_puts(&s->sql, ", ");
	ch_put_string(&s->sql, s->to->database);
	buf_puts(&s->sql, ", ");
	if (local_name(s, table, &name) < 0)
		s->sql.full = true;
	else
		ch_put_string(&s->sql, name);
	free(name);
	buf_puts(&s->sql, ", cityHash64(host))");
}

static int create(struct ch_server *s, const char *table, const struct ch_columns *columns,
		  bool distributed, struct spur_error *err)
{
	buf_reset(&s->sql);
	buf_puts(&s->sql, "CREATE TABLE IF NOT EXISTS ");
	put_place(s, table, s->to->cluster && !distributed ? LOCAL : "", &s->sql);
	vec_each (c, columns) {
		buf_puts(&s->sql, c == columns->at ? " (" : ", ");
		ch_put_name(&s->sql, c->name);
		buf_putc(&s->sql, ' ');
		buf_puts(&s->sql, c->type);
	}
	buf_putc(&s->sql, ')');
	put_engine(s, table, distributed);
	return ch_ask(s, err);
}

/* False: there is nothing to add. */
static int missing(struct ch_server *s, const char *place, const struct ch_table_info *t,
		   const struct ch_columns *columns, bool *any, struct spur_error *err)
{
	*any = false;
	if (!ch_column_find(t, CH_BLOCK_COLUMN))
		return error_set(err, -EREMOTEIO,
				 "%s:%s: the table %s is there already, and is not one of spur's",
				 s->host, s->port, place);
	vec_each (c, columns) {
		const struct ch_info_column *there = ch_column_find(t, c->name);

		if (there && ch_type_find(there->type) != c->type)
			return error_set(err, -EREMOTEIO,
					 "%s:%s: the column %.60s of %.60s is %.60s there, and %s "
					 "in this trace",
					 s->host, s->port, c->name, place, there->type, c->type);
		if (there)
			continue;
		buf_puts(&s->sql, *any ? ", ADD COLUMN " : " ADD COLUMN ");
		ch_put_name(&s->sql, c->name);
		buf_putc(&s->sql, ' ');
		buf_puts(&s->sql, c->type);
		*any = true;
	}
	return 0;
}

static int know_all(struct ch_server *s, const char *place, const struct ch_columns *columns,
		    struct spur_error *err)
{
	vec_each (c, columns) {
		const struct ch_table_info *t = ch_table_find(s, place);

		if ((!t || !ch_column_find(t, c->name)) &&
		    ch_column_know(s, place, c->name, c->type) < 0)
			return no_memory(err);
	}
	return 0;
}

/* Whether the server refuses because another export has added the same column meanwhile. */
static bool was_there(unsigned int code)
{
	return code == 15 || code == 44;
}

static int alter(struct ch_server *s, const char *place, const struct ch_columns *columns,
		 struct spur_error *err)
{
	const struct ch_table_info *t = ch_table_find(s, place);
	bool any;
	int rc;

	buf_reset(&s->sql);
	buf_puts(&s->sql, "ALTER TABLE ");
	put_place(s, place, "", &s->sql);
	rc = missing(s, place, t, columns, &any, err);
	return rc < 0 || !any ? rc : ch_ask(s, err);
}

/* 1 if it was made now. */
static int ensure_one(struct ch_server *s, const char *table, const struct ch_columns *columns,
		      bool distributed, struct spur_error *err)
{
	struct spur_error why = {0};
	bool is_new = false;
	char *place = NULL;
	int rc = 0;

	if (distributed ? !(place = strdup(table)) : local_name(s, table, &place) < 0)
		return no_memory(err);
	is_new = !ch_table_find(s, place);
	if (is_new)
		rc = create(s, table, columns, distributed, &why);
	else
		rc = alter(s, place, columns, &why);
	if (rc == -EREMOTEIO && was_there(s->code)) {
		why = (struct spur_error){0};
		ch_tables_forget(s);
		rc = ch_schema_load(s, &why);
		if (rc == 0 && ch_table_find(s, place))
			rc = alter(s, place, columns, &why);
	}
	if (rc == 0)
		rc = know_all(s, place, columns, &why);
	ch_pass_on(rc, &why, err);
	free(place);
	return rc < 0 ? rc : is_new;
}

int ch_schema_ensure(struct ch_server *s, const char *table, const struct ch_columns *columns,
		     struct spur_error *err)
{
	int rc = ch_schema_load(s, err), is_new;

	if (rc == 0)
		rc = ensure_one(s, table, columns, false, err);
	is_new = rc;
	if (rc >= 0 && s->to->cluster)
		rc = ensure_one(s, table, columns, true, err);
	return rc < 0 ? rc : is_new;
}

/* ---- shards that missed something ---- */

/* False if there are columns of unknown types: then the table is not ours. */
static bool read_columns(const struct ch_table_info *t, struct ch_columns *out)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *type = ch_type_find(t->at[i].type);

		if (!type || push_column(out, "", t->at[i].name, type) < 0)
			return false;
	}
	return ch_column_find(t, CH_BLOCK_COLUMN);
}

int ch_schema_level(struct ch_server *to, const struct ch_server *from, struct spur_error *err)
{
	int rc = ch_schema_load(to, err);

	for (size_t i = 0; rc == 0 && i < from->tables.n; i++) {
		const struct ch_table_info *t = &from->tables.at[i];
		struct ch_columns columns = {0};
		char *local = NULL;

		if (local_name(from, t->name, &local) < 0)
			return no_memory(err);
		if (ch_table_find(from, local) && read_columns(t, &columns))
			rc = ch_schema_ensure(to, t->name, &columns, err);
		rc = rc < 0 ? rc : 0;
		ch_columns_free(&columns);
		free(local);
	}
	return rc;
}
