// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What an expression is: a text for the server, one for SQLite, or both. Constants are worked out
 * here, by SQLite itself.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/vec.h"
#include "query/store_parts.h"

const struct expr sx_nothing = {.remote = "NULL", .local = "NULL"};

/* ---- making them ---- */

struct expr sx_make(struct compiler *c, enum store_kind kind, bool nullable, const char *remote)
{
	return (struct expr){.remote = remote, .kind = kind, .nullable = nullable};
}

struct expr sx_null(void)
{
	return (struct expr){.remote = "NULL",
			     .local = "NULL",
			     .kind = STORE_NULL,
			     .nullable = true,
			     .constant = true,
			     .text = ""};
}

static void take_real(struct compiler *c, struct expr *e, double value)
{
	char text[40];

	if (!isfinite(value)) {
		sx_fail(c, "a number of the statement is too large");
		return;
	}
	snprintf(text, sizeof(text), "%.17g", value);
	e->kind = STORE_REAL;
	e->real = value;
	e->local = sx_text(c, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
	e->remote = sx_text(c, value < 0 ? "(%s)" : "%s", e->local);
}

static void take_blob(struct compiler *c, struct expr *e, const unsigned char *data, size_t len)
{
	struct buf hex;

	buf_init(&hex, 1u << 20);
	for (size_t i = 0; i < len; i++)
		buf_printf(&hex, "%02x", data[i]);
	if (buf_full(&hex))
		sx_fail(c, "a value of the statement is too long");
	e->kind = STORE_TEXT;
	e->text = NULL;
	e->local = sx_text(c, "x'%s'", buf_str(&hex));
	e->remote = sx_text(c, "unhex('%s')", buf_str(&hex));
	buf_free(&hex);
}

static struct expr take_value(struct compiler *c, sqlite3_stmt *s)
{
	struct expr e = sx_null();
	const int type = sqlite3_column_type(s, 0);
	const char *text;

	if (type == SQLITE_NULL)
		return e;
	e.nullable = false;
	if (type == SQLITE_BLOB) {
		take_blob(c, &e, sqlite3_column_blob(s, 0), (size_t)sqlite3_column_bytes(s, 0));
		return e;
	}
	e.number = sqlite3_column_int64(s, 0);
	text = (const char *)sqlite3_column_text(s, 0);
	e.len = (size_t)sqlite3_column_bytes(s, 0);
	e.text = arena_strndup(&c->arena, text ? text : "", e.len);
	if (!e.text) {
		sx_no_memory(c);
		return sx_nothing;
	}
	if (type == SQLITE_INTEGER) {
		e.kind = STORE_INTEGER;
		e.local = sx_text(c, e.number < 0 ? "(%s)" : "%s", e.text);
		e.remote = e.local;
	} else if (type == SQLITE_FLOAT) {
		take_real(c, &e, sqlite3_column_double(s, 0));
	} else {
		e.kind = STORE_TEXT;
		e.local = sx_quote_local(c, e.text, e.len);
		e.remote = sx_quote_remote(c, e.text, e.len);
	}
	return e;
}

struct expr sx_constant(struct compiler *c, const char *local)
{
	const char *sql = sx_text(c, "select %s", local);
	struct expr e = sx_nothing;
	sqlite3_stmt *s = NULL;

	if (c->rc < 0)
		return e;
	if (sqlite3_prepare_v2(c->db, sql, -1, &s, NULL) != SQLITE_OK || !s ||
	    sqlite3_step(s) != SQLITE_ROW)
		sx_fail(c, "%s", sqlite3_errmsg(c->db));
	else
		e = take_value(c, s);
	sqlite3_finalize(s);
	return e;
}

void sx_to_local(struct compiler *c, struct expr *e)
{
	const char **slot;

	if (e->local || c->rc < 0)
		return;
	for (size_t i = 0; i < c->outputs.n; i++) {
		if (strcmp(c->outputs.at[i], e->remote) == 0) {
			e->local = sx_text(c, "?%zu", i + 1);
			return;
		}
	}
	slot = vec_push(&c->outputs);
	if (!slot) {
		sx_no_memory(c);
		return;
	}
	*slot = e->remote;
	e->local = sx_text(c, "?%zu", c->outputs.n);
}

struct expr sx_here(struct compiler *c, const char *local, const char *what)
{
	if (!c->here)
		sx_only_shown(c, what);
	return (struct expr){.local = local, .kind = STORE_TEXT, .nullable = true};
}

bool sx_is_number(const struct expr *e)
{
	return e->kind == STORE_BOOL || e->kind == STORE_INTEGER || e->kind == STORE_REAL;
}

const char *sx_as_text(struct compiler *c, const struct expr *e, const char *what)
{
	if (e->kind == STORE_NULL)
		return "NULL";
	if (e->constant && e->text)
		return sx_quote_remote(c, e->text, e->len);
	if (e->kind == STORE_TEXT)
		return e->fixed ? sx_text(c, "toString(%s)", e->remote) : e->remote;
	if (e->kind == STORE_REAL) {
		sx_only_shown(c, sx_text(c, "%s of a real number", what));
		return "";
	}
	return sx_text(c, "toString(%s)", e->remote);
}

const char *sx_condition(struct compiler *c, const struct expr *e)
{
	if (e->constant && e->kind == STORE_NULL)
		return "CAST(NULL AS Nullable(UInt8))";
	if (e->constant && sx_is_number(e))
		return e->number || (e->kind == STORE_REAL && e->real != 0) ? "1" : "0";
	if (e->kind == STORE_BOOL)
		return e->remote;
	if (sx_is_number(e))
		return sx_text(c, "(%s != 0)", e->remote);
	sx_cannot(c, "a text as a condition");
	return "0";
}

enum store_kind sx_common(const struct expr *list, size_t n)
{
	bool seen[STORE_DATE + 1] = {0};
	bool numbers, texts;

	for (size_t i = 0; i < n; i++)
		seen[list[i].kind] = true;
	numbers = seen[STORE_BOOL] || seen[STORE_INTEGER] || seen[STORE_REAL];
	texts = seen[STORE_TEXT];
	if (texts || (seen[STORE_DATE] && numbers))
		return STORE_TEXT;
	if (seen[STORE_DATE])
		return STORE_DATE;
	if (seen[STORE_REAL])
		return STORE_REAL;
	if (seen[STORE_INTEGER])
		return STORE_INTEGER;
	return seen[STORE_BOOL] ? STORE_BOOL : STORE_NULL;
}

const char *sx_as(struct compiler *c, const struct expr *e, enum store_kind kind, const char *what)
{
	if (kind == STORE_TEXT)
		return sx_as_text(c, e, what);
	/* A server finds no type for numbers with a sign and without, nor for whole and real. */
	if (e->kind == STORE_NULL || kind == STORE_DATE || kind == STORE_BOOL)
		return e->remote;
	return sx_text(c, kind == STORE_REAL ? "toFloat64(%s)" : "toInt64(%s)", e->remote);
}
