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
#include "base/vec.h"
#include "query/fleet/private.h"
#include "scan/summary.h"

/* ---- the row of `traces` ---- */

struct fact {
	const struct fleet_file *file;
	struct spur_trace *trace;
	const struct summary *sum; /* of columns that count */
	struct row_out *out;
};

static void put_text(const struct fact *f, const char *value)
{
	if (value && *value)
		row_put_text(f->out, value, strlen(value));
	else
		row_put_null(f->out);
}

static void put_number(const struct fact *f, uint64_t value)
{
	row_put_number(f->out, (int64_t)value);
}

static bool empty(const struct fact *f)
{
	return f->file->about->first > f->file->about->last;
}

static void put_ts(const struct fact *f)
{
	put_number(f, empty(f) ? f->file->about->id.first : f->file->about->first);
}

static void put_last(const struct fact *f)
{
	if (empty(f))
		row_put_null(f->out);
	else
		put_number(f, f->file->about->last);
}

static void put_kernel(const struct fact *f)
{
	put_text(f, f->file->about->id.kernel);
}

static void put_uname(const struct fact *f)
{
	put_text(f, f->trace->dat->uname);
}

static void put_clock(const struct fact *f)
{
	put_text(f, f->file->about->clock);
}

static void put_wall(const struct fact *f)
{
	put_number(f, f->file->about->id.has_wall);
}

static void put_events(const struct fact *f)
{
	put_number(f, f->sum->events);
}

static void put_lost(const struct fact *f)
{
	put_number(f, f->sum->lost);
}

static void put_gaps(const struct fact *f)
{
	put_number(f, f->sum->gaps);
}

static void put_cpus(const struct fact *f)
{
	put_number(f, f->trace->dat->nr_cpus);
}

static void put_buffers(const struct fact *f)
{
	put_number(f, f->trace->nr_buffers);
}

static void put_damage(const struct fact *f)
{
	put_text(f, f->trace->dat->damage.code ? f->trace->dat->damage.text : NULL);
}

static void put_file(const struct fact *f)
{
	const char *slash = strrchr(f->file->path, '/');

	put_text(f, slash ? slash + 1 : f->file->path);
}

static void put_path(const struct fact *f)
{
	put_text(f, f->file->path);
}

static void put_bytes(const struct fact *f)
{
	put_number(f, f->trace->dat->file_size);
}

static void put_version(const struct fact *f)
{
	put_number(f, f->trace->dat->version);
}

static void put_compression(const struct fact *f)
{
	put_text(f, f->trace->dat->compression);
}

static void put_recorder(const struct fact *f)
{
	put_text(f, f->trace->dat->trace_version);
}

static const struct {
	const char *name, *type, *about;
	void (*put)(const struct fact *f);
	bool counts;
} facts[] = {
	{"ts", "INTEGER", "time of the first record", put_ts},
	{"last", "INTEGER", "time of the last record", put_last},
	{"kernel", "TEXT", "its release", put_kernel},
	{"uname", "TEXT", "the machine", put_uname},
	{"clock", "TEXT", "of the top buffer", put_clock},
	{"wall", "INTEGER", "1: times are nanoseconds since 1970", put_wall},
	{"events", "INTEGER", "records, for which all of the file is read", put_events, true},
	{"lost", "INTEGER", "records that are known to be lost", put_lost, true},
	{"gaps", "INTEGER", "places where an unknown number is", put_gaps, true},
	{"cpus", "INTEGER", "of the machine", put_cpus},
	{"buffers", "INTEGER", "of the trace", put_buffers},
	{"damage", "TEXT", "what is wrong with the file", put_damage},
	{"file", "TEXT", "its name", put_file},
	{"path", "TEXT", "where it is", put_path},
	{"bytes", "INTEGER", "its size", put_bytes},
	{"file_version", "INTEGER", "of trace.dat", put_version},
	{"compression", "TEXT", "none, zlib or zstd", put_compression},
	{"recorder", "TEXT", "the program that wrote it", put_recorder},
};

#define NR_FACTS (sizeof(facts) / sizeof(facts[0]))

int fleet_trace_columns(struct fleet_columns *c)
{
	for (size_t i = 0; i < NR_FACTS; i++) {
		struct fleet_cell *cell = vec_push(c);

		if (!cell)
			return -ENOMEM;
		*cell = (struct fleet_cell){.name = strdup(facts[i].name),
					    .type = facts[i].type,
					    .about = strdup(facts[i].about)};
		if (!cell->name || !cell->about)
			return -ENOMEM;
	}
	return 0;
}

static int trace_row(const struct fleet_file *file, struct spur_trace *t,
		     const struct fleet_question *q, const volatile int *stop, struct row_out *r)
{
	struct summary sum = {0};
	const struct fact f = {file, t, &sum, r};
	bool counts = false;
	int rc = 0;

	for (size_t i = 0; i < q->nr; i++)
		counts |= q->columns[i] >= NR_FLEET_COLUMNS &&
			  facts[q->columns[i] - NR_FLEET_COLUMNS].counts;
	if (counts)
		rc = summary_make(t, 1, stop, &sum);
	for (size_t i = 0; rc == 0 && i < q->nr; i++) {
		if (q->columns[i] < NR_FLEET_COLUMNS)
			put_text(&f, file_value(file, (enum fleet_column)q->columns[i]));
		else
			facts[q->columns[i] - NR_FLEET_COLUMNS].put(&f);
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

void fleet_put_limits(struct buf *sql, const struct fleet_limits *l)
{
	const char *between = " where ";

	vec_each (limit, l) {
		if (limit->column < NR_FLEET_COLUMNS)
			continue;
		buf_puts(sql, between);
		between = " and ";
		put_mark(sql, limit->column);
		buf_printf(sql, " %s ", limit->list ? "in (" : fleet_operator(limit->op));
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
