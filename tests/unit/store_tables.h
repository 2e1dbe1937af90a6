/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two tables (t and u) and a view (v) of a store, for the translation of SQL. */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "query/store_parts.h"

static const struct store_column store_columns_of_t[] = {
	{"host", "host", STORE_TEXT},
	{"date", "date", STORE_DATE},
	{"ts", "ts", STORE_INTEGER},
	{"dur", "dur", STORE_INTEGER, .nullable = true},
	{"comm", "comm", STORE_TEXT, .nullable = true},
	{"load", "load", STORE_REAL, .nullable = true},
	{"text", "text", STORE_TEXT, .missing = true},
	{"spur_block", "spur_block", STORE_INTEGER, .hidden = true},
};

static inline void store_put(const struct store_table *t, struct buf *to, const char *where,
			     bool *took_where)
{
	buf_puts(to, t->arg);
}

static inline int store_find_of(void *arg, const char *name, struct arena *arena,
				struct store_table *out)
{
	if (strcasecmp(name, "t") != 0 && strcasecmp(name, "u") != 0)
		return -ENOENT;
	*out = (struct store_table){.columns = arena_alloc(arena, sizeof(store_columns_of_t)),
				    .n = sizeof(store_columns_of_t) / sizeof(store_columns_of_t[0]),
				    .put = store_put,
				    .arg = "db.t"};
	if (!out->columns)
		return -ENOMEM;
	memcpy(out->columns, store_columns_of_t, sizeof(store_columns_of_t));
	return 0;
}

static inline void store_names_of(void *arg, void (*fn)(void *fn_arg, const char *name),
				  void *fn_arg)
{
	fn(fn_arg, "t");
}

static inline const char *store_view_of(void *arg, const char *name)
{
	return strcasecmp(name, "v") == 0 ? "select host, max(dur) m from t group by host" : NULL;
}

static const struct store_schema store_tables_schema = {
	.find = store_find_of, .names = store_names_of, .view = store_view_of};

#endif
