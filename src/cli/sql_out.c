// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rows as text. The first rows are held back, and columns are as wide as these need; later rows may
 * stand out. All other forms are written row by row.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/vec.h"
#include "cli/sql.h"

#define HELD_ROWS  1000
#define HELD_BYTES (1u << 20)
#define OUT_BYTES  (64u << 10) /* that are worth a write */
#define OUT_LIMIT  (128u << 20)

const char *const sql_modes[NR_SQL_MODES] = {
	[SQL_TABLE] = "table",	     [SQL_CSV] = "csv",	  [SQL_JSON] = "json",
	[SQL_MARKDOWN] = "markdown", [SQL_TABS] = "tabs",
};

struct held_cell {
	size_t at, len; /* in the text */
	bool number;
};

struct printing {
	struct sql *sql;
	struct query_stmt *stmt;
	size_t nr; /* columns */
	uint64_t rows;
	struct buf out;

	/* Of a table. */
	struct buf text;
	vec_of(struct held_cell) cells;
	size_t *widths;
	bool *words; /* columns with anything else than numbers in them */
	bool measured;
};

int sql_write(struct sql *s, const char *data, size_t len)
{
	progress_end(&s->progress);
	return s->out_fd == STDOUT_FILENO ? cli_write(data, len)
					  : file_write_fd(s->out_fd, data, len);
}

static int flush(struct printing *p, size_t least)
{
	int rc;

	if (p->out.len < least)
		return 0;
	rc = p->out.full ? -ENOMEM : sql_write(p->sql, p->out.data, p->out.len);
	buf_reset(&p->out);
	return rc;
}

/* ---- tables ---- */

/* How many places a text takes: bytes that continue a character take none. */
static size_t width_of(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

/* The line of that number of a text; false when it has fewer. */
static bool line_of(const char **text, size_t *len, size_t number)
{
	const char *at = *text, *end = at + *len;

	for (; number; number--) {
		at = memchr(at, '\n', (size_t)(end - at));
		if (!at)
			return false;
		at++;
	}
	*text = at;
	at = memchr(at, '\n', (size_t)(end - at));
	*len = (size_t)((at ? at : end) - *text);
	return true;
}

static void hold_text(struct printing *p, const char *text, size_t len, bool number)
{
	const struct held_cell c = {p->text.len, len, number};

	if (vec_add(&p->cells, &c))
		buf_put(&p->text, text, len);
	else
		p->text.full = true;
}

static void measure(struct printing *p)
{
	for (size_t i = 0; i < p->cells.n; i++) {
		const struct held_cell *c = &p->cells.at[i];
		const size_t column = i % p->nr;

		for (size_t k = 0;; k++) {
			const char *text = p->text.data + c->at;
			size_t len = c->len, width;

			if (!line_of(&text, &len, k))
				break;
			width = width_of(text, len);
			if (width > p->widths[column])
				p->widths[column] = width;
		}
		/* The first row is the names. */
		if (i >= p->nr)
			p->words[column] |= !c->number && c->len;
	}
	p->measured = true;
}

static void put_cell(struct printing *p, const char *text, size_t len, size_t column)
{
	const size_t width = width_of(text, len);
	const size_t pad = width < p->widths[column] ? p->widths[column] - width : 0;

	if (column)
		buf_puts(&p->out, "  ");
	if (!p->words[column])
		buf_fill(&p->out, ' ', pad);
	buf_put(&p->out, text, len);
	if (p->words[column] && column < p->nr - 1)
		buf_fill(&p->out, ' ', pad);
}

static void put_table_row(struct printing *p, const struct held_cell *row)
{
	bool more = true;

	for (size_t line = 0; more; line++) {
		const size_t start = p->out.len;

		more = false;
		for (size_t i = 0; i < p->nr; i++) {
			const char *text = p->text.data + row[i].at, *next = text;
			size_t len = row[i].len, next_len = len;

			if (!line_of(&text, &len, line))
				len = 0;
			more |= line_of(&next, &next_len, line + 1);
			put_cell(p, text, len, i);
		}
		while (p->out.len > start && p->out.data[p->out.len - 1] == ' ')
			p->out.len--;
		buf_putc(&p->out, '\n');
	}
}

static int put_held(struct printing *p)
{
	int rc = 0;

	if (p->text.full)
		return -ENOMEM;
	if (!p->measured)
		measure(p);
	for (size_t i = 0; rc == 0 && i + p->nr <= p->cells.n; i += p->nr) {
		if (p->rows == 0 && i == 0 && !p->sql->header)
			continue;
		put_table_row(p, &p->cells.at[i]);
		if (p->rows == 0 && i == 0)
			for (size_t k = 0; k < p->nr; k++) {
				buf_puts(&p->out, k ? "  " : "");
				buf_fill(&p->out, '-', p->widths[k]);
			}
		if (p->rows == 0 && i == 0)
			buf_putc(&p->out, '\n');
		rc = flush(p, OUT_BYTES);
	}
	p->rows += p->cells.n / p->nr;
	p->cells.n = 0;
	buf_reset(&p->text);
	return rc;
}

static void table_begin(struct printing *p)
{
	p->widths = calloc(p->nr, sizeof(*p->widths));
	p->words = calloc(p->nr, sizeof(*p->words));
	if (!p->widths || !p->words)
		p->text.full = true;
	for (size_t i = 0; i < p->nr; i++) {
		const char *name = query_column_name(p->stmt, i);

		hold_text(p, name, strlen(name), false);
	}
}

static int table_row(struct printing *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		const enum query_type type = query_type(p->stmt, i);
		size_t len;
		const char *text = query_text(p->stmt, i, &len);

		hold_text(p, text, len, type == QUERY_INTEGER || type == QUERY_REAL);
	}
	if (p->measured || p->text.full || p->cells.n / p->nr > HELD_ROWS ||
	    p->text.len > HELD_BYTES)
		return put_held(p);
	return 0;
}

/* ---- JSON ---- */

static void json_begin(struct printing *p)
{
	buf_putc(&p->out, '[');
}

static void put_json(struct buf *out, const struct query_stmt *s, size_t column)
{
	const enum query_type type = query_type(s, column);
	size_t len;
	const char *text = query_text(s, column, &len);

	if (type == QUERY_NULL || (type == QUERY_REAL && strpbrk(text, "IiNn")))
		buf_puts(out, "null");
	else if (type == QUERY_INTEGER || type == QUERY_REAL)
		buf_put(out, text, len);
	else
		buf_json_string(out, text, len);
}

static int json_row(struct printing *p)
{
	buf_puts(&p->out, p->rows++ ? ",\n {" : "\n {");
	for (size_t i = 0; i < p->nr; i++) {
		const char *name = query_column_name(p->stmt, i);

		buf_puts(&p->out, i ? "," : "");
		buf_json_string(&p->out, name, strlen(name));
		buf_putc(&p->out, ':');
		put_json(&p->out, p->stmt, i);
	}
	buf_putc(&p->out, '}');
	return 0;
}

static int json_end(struct printing *p)
{
	buf_puts(&p->out, p->rows ? "\n]\n" : "]\n");
	return 0;
}

/* ---- a line a row: CSV, Markdown, tabs ---- */

/* Characters that would end a cell of a table in Markdown. */
static void put_markdown(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n') {
			buf_puts(out, "<br>");
			continue;
		}
		if (strchr("|\\<", text[i]) && text[i])
			buf_putc(out, '\\');
		buf_putc(out, text[i]);
	}
}

static void put_tabbed(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_putc(out, strchr("\t\n\r", text[i]) && text[i] ? ' ' : text[i]);
}

static const struct line_form {
	const char *front, *between, *end;
	void (*put)(struct buf *out, const char *text, size_t len);
} line_forms[NR_SQL_MODES] = {
	[SQL_CSV] = {"", ",", "\n", buf_csv_cell},
	[SQL_MARKDOWN] = {"| ", " | ", " |\n", put_markdown},
	[SQL_TABS] = {"", "\t", "\n", put_tabbed},
};

/* A line of the names of the columns, or of the row's values. */
static void put_line(struct printing *p, bool names)
{
	const struct line_form *form = &line_forms[p->sql->mode];

	buf_puts(&p->out, form->front);
	for (size_t i = 0; i < p->nr; i++) {
		const char *text = names ? query_column_name(p->stmt, i) : NULL;
		size_t len = names ? strlen(text) : 0;

		if (!names)
			text = query_text(p->stmt, i, &len);
		buf_puts(&p->out, i ? form->between : "");
		form->put(&p->out, text, len);
	}
	buf_puts(&p->out, form->end);
}

static void lines_begin(struct printing *p)
{
	if (p->sql->header)
		put_line(p, true);
}

/* A table in Markdown has a header in any case. */
static void markdown_begin(struct printing *p)
{
	put_line(p, true);
	buf_putc(&p->out, '|');
	for (size_t i = 0; i < p->nr; i++)
		buf_puts(&p->out, " --- |");
	buf_putc(&p->out, '\n');
}

static int line_row(struct printing *p)
{
	put_line(p, false);
	return 0;
}

static const struct form {
	void (*begin)(struct printing *p);
	int (*row)(struct printing *p);
	int (*end)(struct printing *p);
} forms[NR_SQL_MODES] = {
	[SQL_TABLE] = {table_begin, table_row, put_held},
	[SQL_CSV] = {lines_begin, line_row, NULL},
	[SQL_JSON] = {json_begin, json_row, json_end},
	[SQL_MARKDOWN] = {markdown_begin, line_row, NULL},
	[SQL_TABS] = {lines_begin, line_row, NULL},
};

/* ---- a result ---- */

static int show_rows(struct printing *p, uint64_t *rows, struct spur_error *err)
{
	const struct form *form = &forms[p->sql->mode];
	int rc, written = 0;

	/* Errors show up at the first row, before anything is written. */
	rc = query_step(p->stmt, err);
	if (rc < 0)
		return rc;
	if (p->sql->shown && p->sql->mode == SQL_TABLE)
		buf_putc(&p->out, '\n');
	p->sql->shown = true;
	form->begin(p);
	for (; rc == 1 && written == 0; ++*rows) {
		written = form->row(p);
		if (written == 0)
			written = flush(p, OUT_BYTES);
		if (written == 0)
			rc = query_step(p->stmt, err);
	}
	if (written == 0 && form->end)
		written = form->end(p);
	if (written == 0)
		written = flush(p, 0);
	return rc < 0 ? rc : written;
}

int sql_show(struct sql *s, struct query_stmt *stmt, uint64_t *rows, struct spur_error *err)
{
	struct printing p = {.sql = s, .stmt = stmt, .nr = query_nr_columns(stmt)};
	int rc;

	*rows = 0;
	/* A statement that has no rows, such as "create temp view". */
	if (!p.nr) {
		rc = query_step(stmt, err);
		return rc < 0 ? rc : 0;
	}
	buf_init(&p.out, OUT_LIMIT);
	buf_init(&p.text, OUT_LIMIT);
	rc = show_rows(&p, rows, err);
	buf_free(&p.out);
	buf_free(&p.text);
	vec_free(&p.cells);
	free(p.widths);
	free(p.words);
	return rc;
}
