// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The columns of a fleet's tables: those of all files that a statement may read, by their names. An
 * event type may have other fields on another kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "table/table.h"
#include "base/vec.h"
#include "query/fleet/columns.h"

static const struct {
	const char *name, *about;
} first_columns[NR_FLEET_COLUMNS] = {
	[FLEET_HOST] = {"host", "the machine's name"},
	[FLEET_DATE] = {"date", "the day (UTC) on which the trace begins"},
	[FLEET_TRACE_ID] = {"trace_id", "identifies the trace"},
};

void fleet_columns_free(struct fleet_columns *c)
{
	vec_each (cell, c) {
		free(cell->name);
		free(cell->own);
		free(cell->about);
	}
	vec_free(c);
}

struct fleet_cell *fleet_columns_find(const struct fleet_columns *c, const char *name)
{
	vec_each (cell, c)
		if (strcasecmp(cell->name, name) == 0)
			return cell;
	return NULL;
}

int fleet_columns_add_own(struct fleet_columns *c, const char *name, const char *type,
			  const char *about, bool coarse)
{
	struct fleet_cell *cell = vec_push(c);

	if (!cell)
		return -ENOMEM;
	*cell = (struct fleet_cell){
		.name = strdup(name), .type = type, .about = strdup(about), .coarse = coarse};
	return cell->name && cell->about ? 0 : -ENOMEM;
}

int fleet_columns_begin(struct fleet_columns *c)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < NR_FLEET_COLUMNS; i++)
		rc = fleet_columns_add_own(c, first_columns[i].name, "TEXT", first_columns[i].about,
					   true);
	return rc;
}

struct fleet_cell *fleet_columns_add(struct fleet_columns *c, const char *own, const char *about)
{
	struct fleet_cell *cell = vec_push(c);
	bool first = false;

	for (int i = 0; i < NR_FLEET_COLUMNS; i++)
		first |= strcasecmp(first_columns[i].name, own) == 0;
	if (!cell)
		return NULL;
	cell->type = "INTEGER";
	cell->own = strdup(own);
	cell->about = strdup(about ? about : "");
	/* As in stores of exported traces. */
	if (asprintf(&cell->name, "%s%s", first ? "args_" : "", own) < 0)
		cell->name = NULL;
	return cell->name && cell->own && cell->about ? cell : NULL;
}

int fleet_columns_of_event(struct fleet_columns *c, struct event *e, bool common)
{
	struct cells cells = {0};
	int rc = cells_make(&cells, e);

	vec_each (from, &cells) {
		struct fleet_cell *cell;

		if (rc < 0 || (common && from->kind > CELL_BUFFER))
			continue;
		cell = fleet_columns_add(c, from->name, from->about);
		if (!cell) {
			rc = -ENOMEM;
			continue;
		}
		cell->type = cell_is_text(from) ? "TEXT" : "INTEGER";
		cell->time = from->kind == CELL_TS;
		cell->coarse = from->kind != CELL_TS && from->kind != CELL_REPORT;
	}
	cells_free(&cells);
	return rc;
}

int fleet_columns_of_table(struct fleet_columns *c, const struct table *t)
{
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct column *from = &t->columns[i];
		struct fleet_cell *cell = fleet_columns_add(c, from->name, from->about);

		if (!cell)
			return -ENOMEM;
		cell->type = row_is_text(from) ? "TEXT" : "INTEGER";
		cell->time = i == 0 && from->type == COLUMN_TIME;
		cell->coarse = row_is_text(from) || from->type == COLUMN_NUMBER;
	}
	return 0;
}

/* A store adds these columns to every table; fields of these names are called args_NAME there. */
static const char *const stored[] = {"table", "date", "host", "trace_id", NULL};

static bool is_stored(const char *name)
{
	for (size_t i = 0; stored[i]; i++)
		if (strcasecmp(stored[i], name) == 0)
			return true;
	return false;
}

int fleet_columns_of_parquet(struct fleet_columns *c, const struct parquet *p)
{
	static const char *const types[] = {
		[PARQUET_NUMBER] = "INTEGER", [PARQUET_REAL] = "REAL", [PARQUET_TEXT] = "TEXT"};

	for (uint32_t i = 0; i < parquet_nr_columns(p); i++) {
		const struct parquet_column *from = parquet_column(p, i);
		const bool args =
			strncasecmp(from->name, "args_", 5) == 0 && is_stored(from->name + 5);
		struct fleet_cell *cell;

		if (is_stored(from->name))
			continue;
		cell = fleet_columns_add(c, from->name + (args ? 5 : 0), NULL);
		if (!cell)
			return -ENOMEM;
		cell->type = from->refused ? "" : types[from->kind];
		cell->time = strcasecmp(from->name, "ts") == 0;
		cell->coarse = !cell->time;
	}
	return 0;
}

int fleet_parquet_column(const struct parquet *p, const struct fleet_cell *cell)
{
	char name[320];

	if (!cell->own)
		return parquet_find(p, cell->name);
	snprintf(name, sizeof(name), "%s%s", is_stored(cell->own) ? "args_" : "", cell->own);
	return parquet_find(p, name);
}

bool fleet_columns_equal(const struct fleet_columns *a, const struct fleet_columns *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (strcmp(a->at[i].name, b->at[i].name) != 0 ||
		    strcmp(a->at[i].type, b->at[i].type) != 0)
			return false;
	return true;
}

int fleet_columns_merge(struct fleet_columns *to, const struct fleet_columns *from, bool *grown)
{
	vec_each (cell, from) {
		struct fleet_cell *here = fleet_columns_find(to, cell->name);

		if (!here) {
			here = fleet_columns_add(to, cell->own, cell->about);
			if (!here)
				return -ENOMEM;
			here->type = cell->type;
			here->coarse = cell->coarse;
			here->time = cell->time;
			*grown = true;
		}
		if (strcmp(here->type, cell->type) != 0) {
			*grown |= *here->type != '\0';
			here->type = "";
		}
		here->coarse &= cell->coarse;
	}
	return 0;
}

int fleet_declare(sqlite3 *db, const struct fleet_table *t)
{
	struct buf sql;
	int rc;

	buf_init(&sql, 4u << 20);
	buf_puts(&sql, "create table t(");
	for (size_t i = 0; i < t->columns.n; i++) {
		buf_puts(&sql, i ? ", " : "");
		put_identifier(&sql, t->columns.at[i].name);
		buf_printf(&sql, " %s", t->columns.at[i].type);
	}
	buf_putc(&sql, ')');
	rc = sql.full ? SQLITE_NOMEM : sqlite3_declare_vtab(db, buf_str(&sql));
	buf_free(&sql);
	return rc;
}
