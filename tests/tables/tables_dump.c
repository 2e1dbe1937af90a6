// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the rows of a table as they come, a line each, columns separated by tabs:
 *
 *	tables_dump FILE TABLE [SINCE [UNTIL]]
 *
 * What is not known is "-"; the first line has the names of the columns. Or
 *
 *	tables_dump -n FILE TABLE…	counts the rows of tables that are made together
 *	tables_dump -r FILE		compares, of all tables, the rows of many ranges of time
 *					read alone with those picked from all rows
 *
 * It ends with 1 when something failed; rows that came before are printed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/feed.h"
#include "base/buf.h"
#include "base/vec.h"

#define MAX_TABLES 16
#define NR_RANGES  30

static void put_value(const struct column *c, const void *row, struct buf *out)
{
	const char *text = row_is_text(c) ? row_text(c, row) : NULL;

	if (text)
		buf_puts(out, text);
	else if (c->type == COLUMN_TIME)
		buf_u64(out, (uint64_t)row_number(c, row));
	else if (row_is_text(c) || row_number(c, row) == ROW_NULL)
		buf_putc(out, '-');
	else
		buf_i64(out, row_number(c, row));
	buf_putc(out, '\t');
}

static int dump(struct spur_trace *t, const struct table *table, const struct walk_options *opt,
		struct spur_error *err)
{
	struct rows *rows = rows_open(t, table, opt, err);
	const void *row;
	struct buf line;
	int rc;

	if (!rows)
		return -1;
	buf_init(&line, 1u << 20);
	for (uint32_t i = 0; i < table->nr_columns; i++)
		printf("%s%s", i ? "\t" : "", table->columns[i].name);
	putchar('\n');
	while ((row = rows_next(rows)) != NULL) {
		buf_reset(&line);
		for (uint32_t i = 0; i < table->nr_columns; i++)
			put_value(&table->columns[i], row, &line);
		printf("%.*s\n", (int)line.len - 1, line.data);
	}
	buf_free(&line);
	rc = rows_error(rows, err);
	rows_close(rows);
	return rc;
}

static void count_row(void *count, const void *row)
{
	++*(uint64_t *)count;
}

static int count(struct spur_trace *t, char *const *names, int n, struct spur_error *err)
{
	const struct walk_options all = {0};
	struct feed *f = feed_new(t, &all);
	uint64_t counts[MAX_TABLES] = {0};
	int rc;

	for (int i = 0; i < n; i++)
		feed_add(f, table_find(names[i]), count_row, &counts[i]);
	rc = feed_run(f, err);
	for (int i = 0; rc == 0 && i < n; i++)
		printf("%s\t%" PRIu64 "\n", names[i], counts[i]);
	feed_free(f);
	return rc;
}

/* ---- ranges ---- */

struct line {
	uint64_t ts;
	char *text;
};

struct lines {
	struct line *at;
	size_t n, cap;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct line *)a)->text, ((const struct line *)b)->text);
}

static void free_lines(struct lines *l)
{
	vec_each (line, l)
		free(line->text);
	vec_free(l);
}

/* The rows of a range, sorted by their text. */
static bool read_lines(struct spur_trace *t, const struct table *table, uint64_t since,
		       uint64_t until, struct lines *l)
{
	const struct walk_options opt = {.since = since, .until = until};
	struct spur_error err = {0};
	struct rows *rows = rows_open(t, table, &opt, &err);
	const void *row;

	while (rows && (row = rows_next(rows)) != NULL) {
		struct line *line = vec_push(l);
		struct buf text;

		buf_init(&text, 1u << 20);
		for (uint32_t i = 0; i < table->nr_columns; i++)
			put_value(&table->columns[i], row, &text);
		*line = (struct line){(uint64_t)row_number(&table->columns[0], row),
				      strndup(text.data, text.len)};
		buf_free(&text);
	}
	if (!rows || rows_error(rows, &err) < 0)
		printf("%s: %s\n", table->name, err.text);
	rows_close(rows);
	if (l->n)
		qsort(l->at, l->n, sizeof(*l->at), by_text);
	return err.code == 0;
}

static bool same_range(struct spur_trace *t, const struct table *table, const struct lines *all,
		       uint64_t since, uint64_t until)
{
	struct lines some = {0};
	bool same = read_lines(t, table, since, until, &some);
	size_t k = 0;

	for (size_t i = 0; same && i < all->n; i++) {
		const struct line *want = &all->at[i];

		if (want->ts < since || (until && want->ts > until))
			continue;
		same = k < some.n && strcmp(some.at[k].text, want->text) == 0;
		if (!same)
			printf("%s from %" PRIu64 " to %" PRIu64 ": %s\n         instead of %s\n",
			       table->name, since, until, k < some.n ? some.at[k].text : "nothing",
			       want->text);
		k++;
	}
	if (same && k < some.n)
		printf("%s from %" PRIu64 " to %" PRIu64 ": %s\n         is too much\n",
		       table->name, since, until, some.at[k].text);
	same = same && k == some.n;
	free_lines(&some);
	return same;
}

static bool same_ranges(struct spur_trace *t, const struct table *table)
{
	struct lines all = {0};
	bool same = read_lines(t, table, 0, 0, &all);
	const size_t step = all.n / NR_RANGES + 1;

	/* Sorted by text, one row is as good as any other; its time is where things happen. */
	for (size_t i = 0; same && i < all.n; i += step) {
		const uint64_t a = all.at[i].ts, b = all.at[(i * 7 + 3) % all.n].ts;
		const uint64_t since = a < b ? a : b, until = a < b ? b : a;

		same = same_range(t, table, &all, since, until) &&
		       same_range(t, table, &all, since + 1, 0) &&
		       same_range(t, table, &all, 0, since) &&
		       same_range(t, table, &all, since, since + 1);
	}
	free_lines(&all);
	return same;
}

static int check_ranges(struct spur_trace *t)
{
	bool same = true;

	for (const struct table *const *table = tables; *table; table++)
		same &= same_ranges(t, *table);
	return same ? 0 : -1;
}

static bool known(char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (!table_find(names[i])) {
			fprintf(stderr, "tables_dump: no table %s\n", names[i]);
			return false;
		}
	return true;
}

int main(int argc, char **argv)
{
	const char mode = argc > 1 && argv[1][0] == '-' ? argv[1][1] : 0;
	char **args = argv + 1 + (mode != 0);
	const int n = argc - 1 - (mode != 0);
	const struct trace_options opt = {0};
	struct walk_options range = {0};
	struct spur_error err = {0};
	struct spur_trace *t;
	int rc;

	if (n < (mode == 'r' ? 1 : 2) || n > (mode == 'n' ? MAX_TABLES : 4)) {
		fprintf(stderr, "usage: tables_dump FILE TABLE [SINCE [UNTIL]]\n");
		return 1;
	}
	if (!known(args + 1, mode == 'n' ? n - 1 : !mode))
		return 1;
	rc = trace_open(args[0], &opt, &t, &err);
	if (rc == 0) {
		range.since = n > 2 ? strtoull(args[2], NULL, 0) : 0;
		range.until = n > 3 ? strtoull(args[3], NULL, 0) : 0;
		if (mode == 'r')
			rc = check_ranges(t);
		else if (mode == 'n')
			rc = count(t, args + 1, n - 1, &err);
		else
			rc = dump(t, table_find(args[1]), &range, &err);
		trace_close(t);
	}
	if (err.code)
		fprintf(stderr, "tables_dump: %s\n", err.text);
	return rc < 0;
}
