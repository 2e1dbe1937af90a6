// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Asking a trace of a fleet. The question becomes SQL over a session of the file, which applies
 * limits and counts. The row of `traces` is made here; its columns are those of the exported table.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "query/fleet/columns.h"
#include "query/fleet/private.h"
#include "scan/summary.h"

/* ---- the row of `traces` ---- */

enum fact {
	FACT_TS,
	FACT_LAST,
	FACT_KERNEL,
	FACT_UNAME,
	FACT_CLOCK,
	FACT_WALL,
	FACT_EVENTS,
	FACT_LOST,
	FACT_GAPS,
	FACT_CPUS,
	FACT_BUFFERS,
	FACT_DAMAGE,
	FACT_FILE,
	FACT_PATH,
	FACT_BYTES,
	FACT_FILE_VERSION,
	FACT_COMPRESSION,
	FACT_RECORDER,
	NR_FACTS,
};

static const struct {
	const char *name, *type, *about;
} facts[NR_FACTS] = {
	[FACT_TS] = {"ts", "INTEGER", "time of the first record"},
	[FACT_LAST] = {"last", "INTEGER", "time of the last record"},
	[FACT_KERNEL] = {"kernel", "TEXT", "its release"},
	[FACT_UNAME] = {"uname", "TEXT", "the machine"},
	[FACT_CLOCK] = {"clock", "TEXT", "of the top buffer"},
	[FACT_WALL] = {"wall", "INTEGER", "1: times are nanoseconds since 1970"},
	[FACT_EVENTS] = {"events", "INTEGER", "records, for which all of the file is read"},
	[FACT_LOST] = {"lost", "INTEGER", "records that are known to be lost"},
	[FACT_GAPS] = {"gaps", "INTEGER", "places where an unknown number is"},
	[FACT_CPUS] = {"cpus", "INTEGER", "of the machine"},
	[FACT_BUFFERS] = {"buffers", "INTEGER", "of the trace"},
	[FACT_DAMAGE] = {"damage", "TEXT", "what is wrong with the file"},
	[FACT_FILE] = {"file", "TEXT", "its name"},
	[FACT_PATH] = {"path", "TEXT", "where it is"},
	[FACT_BYTES] = {"bytes", "INTEGER", "its size"},
	[FACT_FILE_VERSION] = {"file_version", "INTEGER", "of trace.dat"},
	[FACT_COMPRESSION] = {"compression", "TEXT", "none, zlib or zstd"},
	[FACT_RECORDER] = {"recorder", "TEXT", "the program that wrote it"},
};

int fleet_trace_columns(struct fleet_columns *c)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < NR_FACTS; i++)
		rc = fleet_columns_add_own(c, facts[i].name, facts[i].type, facts[i].about, false);
	return rc;
}

/* Facts for which the whole file has to be read. */
static bool is_counted(enum fact fact)
{
	return fact == FACT_EVENTS || fact == FACT_LOST || fact == FACT_GAPS;
}

static void put_text(struct row_out *out, const char *value)
{
	if (value && *value)
		row_put_text(out, value, strlen(value));
	else
		row_put_null(out);
}

/* `sum` is made only if the row has a fact that is counted. */
static void put_fact(struct row_out *out, enum fact fact, const struct fleet_file *file,
		     const struct spur_trace *t, const struct summary *sum)
{
	const struct fleet_about *about = file->about;
	const struct dat *dat = t->dat;
	const bool empty = about->first > about->last;

	switch (fact) {
	case FACT_TS: row_put_number(out, (int64_t)(empty ? about->id.first : about->first)); break;
	case FACT_LAST:
		if (empty)
			row_put_null(out);
		else
			row_put_number(out, (int64_t)about->last);
		break;
	case FACT_KERNEL: put_text(out, about->id.kernel); break;
	case FACT_UNAME: put_text(out, dat->uname); break;
	case FACT_CLOCK: put_text(out, about->clock); break;
	case FACT_WALL: row_put_number(out, about->id.has_wall); break;
	case FACT_EVENTS: row_put_number(out, (int64_t)sum->events); break;
	case FACT_LOST: row_put_number(out, (int64_t)sum->lost); break;
	case FACT_GAPS: row_put_number(out, (int64_t)sum->gaps); break;
	case FACT_CPUS: row_put_number(out, dat->nr_cpus); break;
	case FACT_BUFFERS: row_put_number(out, t->nr_buffers); break;
	case FACT_DAMAGE: put_text(out, dat->damage.code ? dat->damage.text : NULL); break;
	case FACT_FILE: put_text(out, file_name_of(file->path)); break;
	case FACT_PATH: put_text(out, file->path); break;
	case FACT_BYTES: row_put_number(out, (int64_t)dat->file_size); break;
	case FACT_FILE_VERSION: row_put_number(out, dat->version); break;
	case FACT_COMPRESSION: put_text(out, dat->compression); break;
	case FACT_RECORDER: put_text(out, dat->trace_version); break;
	case NR_FACTS: break;
	}
}

static int trace_row(const struct fleet_file *file, struct spur_trace *t,
		     const struct fleet_question *q, const volatile int *stop, struct row_out *r)
{
	struct summary sum = {0};
	bool counts = false;
	int rc = 0;

	for (size_t i = 0; i < q->nr; i++)
		counts |= q->columns[i] >= NR_FLEET_COLUMNS &&
			  is_counted((enum fact)(q->columns[i] - NR_FLEET_COLUMNS));
	if (counts)
		rc = summary_make(t, 1, stop, &sum);
	for (size_t i = 0; rc == 0 && i < q->nr; i++) {
		if (q->columns[i] < NR_FLEET_COLUMNS)
			put_text(r, file_value(file, (enum fleet_column)q->columns[i]));
		else
			put_fact(r, (enum fact)(q->columns[i] - NR_FLEET_COLUMNS), file, t, &sum);
	}
	summary_free(&sum);
	return rc;
}

/* ---- limits ---- */

/* Appends a mark for a column, which the file's column will replace. */
static void put_mark(struct buf *sql, int column)
{
	buf_printf(sql, "\1%d\1", column);
}

static void put_blob(struct buf *sql, const char *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	buf_puts(sql, "x'");
	for (size_t i = 0; i < len; i++) {
		buf_putc(sql, digits[(unsigned char)data[i] >> 4]);
		buf_putc(sql, digits[data[i] & 15]);
	}
	buf_putc(sql, '\'');
}

/* Appends a value as SQL; none of its bytes can end a text or be read as the mark of a column. */
static void put_value(struct buf *sql, sqlite3_value *v)
{
	const char *data;

	switch (sqlite3_value_type(v)) {
	case SQLITE_INTEGER: buf_i64(sql, sqlite3_value_int64(v)); break;
	case SQLITE_FLOAT: {
		char *text = sqlite3_mprintf("%!.17g", sqlite3_value_double(v));

		/* Infinity has no other form. */
		buf_puts(sql, !text		    ? "null"
			      : strstr(text, "Inf") ? (*text == '-' ? "-9e999" : "9e999")
						    : text);
		sqlite3_free(text);
		break;
	}
	case SQLITE_TEXT:
		data = (const char *)sqlite3_value_text(v);
		buf_puts(sql, "cast(");
		put_blob(sql, data, (size_t)sqlite3_value_bytes(v));
		buf_puts(sql, " as text)");
		break;
	case SQLITE_BLOB:
		data = sqlite3_value_blob(v);
		put_blob(sql, data, (size_t)sqlite3_value_bytes(v));
		break;
	default: buf_puts(sql, "null");
	}
}

void fleet_put_limits(struct buf *sql, const struct limit_list *l)
{
	const char *between = " where ";

	vec_each (limit, l) {
		if (limit->column < NR_FLEET_COLUMNS)
			continue;
		buf_puts(sql, between);
		between = " and ";
		put_mark(sql, limit->column);
		buf_printf(sql, " %s ", limit->list ? "in (" : limit_operator(limit->op));
		for (size_t i = 0; i < limit->values.n; i++) {
			buf_puts(sql, i ? ", " : "");
			put_value(sql, limit->values.at[i]);
		}
		buf_puts(sql, limit->list ? ")" : "");
	}
}

/* ---- the question ---- */

/* Which of the table's columns the file has. */
struct having {
	const struct fleet_table *table;
	bool *has;
};

static void find_column(void *arg, const struct query_column_info *c)
{
	struct having *h = arg;

	for (size_t i = 0; i < h->table->columns.n; i++)
		if (h->table->columns.at[i].own &&
		    strcasecmp(h->table->columns.at[i].own, c->name) == 0)
			h->has[i] = true;
}

static void put_own(struct buf *sql, const struct having *h, int column)
{
	if (h->has[column])
		put_identifier(sql, h->table->columns.at[column].own);
	else
		buf_puts(sql, "null");
}

/* Copies SQL and fills in the columns. Texts of the user in it have no \1: see put_value(). */
static void put_where(struct buf *sql, const struct having *h, const struct buf *where)
{
	const char *at = where->data, *end = where->data + where->len;

	while (at < end) {
		const char *mark = memchr(at, '\1', (size_t)(end - at));
		char *rest;

		buf_put(sql, at, (size_t)((mark ? mark : end) - at));
		if (!mark)
			break;
		put_own(sql, h, (int)strtol(mark + 1, &rest, 10));
		at = rest + 1;
	}
}

static void put_columns(struct buf *sql, const struct having *h, const struct fleet_question *q)
{
	for (size_t i = 0; i < q->nr; i++) {
		buf_puts(sql, ", ");
		put_own(sql, h, q->columns[i]);
	}
}

static void put_question(struct buf *sql, const struct having *h, const struct fleet_question *q)
{
	const char *between = " group by ";

	buf_puts(sql, q->counted ? "select count(*)" : "select rowid");
	put_columns(sql, h, q);
	buf_puts(sql, " from ");
	put_identifier(sql, q->table->name);
	put_where(sql, h, &q->where);
	for (size_t i = 0; q->counted && i < q->nr; i++) {
		if (!h->has[q->columns[i]])
			continue;
		buf_puts(sql, between);
		put_own(sql, h, q->columns[i]);
		between = ", ";
	}
}

static void put_result(struct fleet_asking *a, const struct query_stmt *s, size_t i)
{
	const int column = a->q->columns[i];
	const char *text =
		column < NR_FLEET_COLUMNS ? file_value(a->file, (enum fleet_column)column) : NULL;
	const enum query_type type = query_type(s, i + 1);
	size_t len = text ? strlen(text) : 0;

	if (!text && type != QUERY_NULL && type != QUERY_INTEGER)
		text = query_text(s, i + 1, &len);
	if (text)
		row_put_text(a->out, text, len);
	else if (type == QUERY_INTEGER)
		row_put_number(a->out, query_int64(s, i + 1));
	else
		row_put_null(a->out);
}

static int put_row(struct fleet_asking *a, const struct query_stmt *s)
{
	const int64_t head = query_int64(s, 0);

	/* A count without groups is a row even if it is 0. */
	if (a->q->counted && !head)
		return 0;
	row_put_head(a->out, head);
	for (size_t i = 0; i < a->q->nr; i++)
		put_result(a, s, i);
	return row_end(a->out);
}

static int ask_session(struct fleet_asking *a, struct query *session, struct spur_error *err)
{
	const struct fleet_question *q = a->q;
	struct having h = {q->table, calloc(q->table->columns.n + 1, sizeof(*h.has))};
	struct query_stmt *stmt = NULL;
	struct spur_error none = {0};
	struct buf sql;
	size_t used;
	int rc = h.has ? 0 : -ENOMEM;

	buf_init(&sql, 64u << 20);
	/* A file without the table has no rows of it. */
	if (rc == 0 && query_columns(session, q->table->name, find_column, &h, &none) == 0) {
		put_question(&sql, &h, q);
		rc = sql.full ? -ENOMEM : query_prepare(session, buf_str(&sql), &stmt, &used, err);
		while (rc == 0 && stmt && (rc = query_step(stmt, err)) == 1)
			rc = put_row(a, stmt);
		query_stmt_free(stmt);
	}
	buf_free(&sql);
	free(h.has);
	return rc;
}

int fleet_ask_trace(struct fleet_asking *a, struct spur_trace *t, struct spur_error *err)
{
	const struct query_options opt = {.stop = a->stop};
	struct query *session = NULL;
	int rc;

	if (a->q->table->kind == FLEET_TRACES) {
		row_put_head(a->out, 0);
		rc = trace_row(a->file, t, a->q, a->stop, a->out);
		if (rc == 0)
			rc = row_end(a->out);
	} else {
		rc = query_open(&opt, &session, err);
		if (rc == 0)
			rc = query_add(session, t, NULL, err);
		if (rc == 0)
			rc = ask_session(a, session, err);
		query_close(session);
	}
	if (rc == 0 && t->dat->damage.code && t->dat->damage.offset == DAT_NOWHERE)
		error_set(err, t->dat->damage.code, "%s", t->dat->damage.text);
	else if (rc == 0 && t->dat->damage.code)
		error_set(err, t->dat->damage.code, "%s (at offset %llu)", t->dat->damage.text,
			  (unsigned long long)t->dat->damage.offset);
	return rc;
}
