// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the rows of a Parquet file that pass the tests, or counts of equal rows.
 *
 * A column of the fleet's table is a column of the file, or the same value in all of its rows, or
 * missing. The statistics of a row group decide whether it is read at all. Then columns with tests
 * are decoded first, and the others only if a row has passed.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/error.h"
#include "base/vec.h"
#include "query/fleet/columns.h"
#include "query/fleet/private.h"
#include "query/fleet/tally.h"

#define S_PER_DAY 86400

/* Where the values of a column of the fleet come from. */
struct fleet_source {
	enum { FROM_FILE, FROM_TEXT, FROM_NOTHING } from;
	size_t lane;
	const struct parquet_column *column;
	bool date; /* days become texts */
	const char *text;
};

/* A test of a column of the file, and its results for the values of a dictionary. */
struct tested {
	const struct limit *limit;
	struct fleet_source source;
	uint64_t dict;
	uint8_t *passes;
	size_t cap;
};

struct asked {
	struct fleet_asking *a;
	struct parquet *file;
	struct fleet_source *wanted; /* as many as the question has columns */
	vec_of(struct tested) tests;
	vec_of(uint32_t) lanes; /* columns of the file */
	struct parquet_rows *rows;
	struct parquet_values *values; /* by lane, of the batch */
	struct tally *tally;
	uint32_t *chosen; /* rows of the batch that have passed */
	uint64_t row;	  /* number of the batch's first one */
	struct buf room;
	bool of_all; /* the table is that of all events, the file one event's */
	bool never;  /* a test has shown that no row passes */
};

/* ---- testing values ---- */

/* "YYYY-MM-DD" of a number of days, in DATE_TEXT bytes. */
static void put_date(int64_t days, char *to)
{
	time_t at;
	struct tm tm;

	if (__builtin_mul_overflow(days, (int64_t)S_PER_DAY, &at) || !gmtime_r(&at, &tm) ||
	    !strftime(to, DATE_TEXT, "%Y-%m-%d", &tm))
		to[0] = '\0';
}

static bool passes(const struct tested *t, const struct parquet_values *v, uint32_t i,
		   struct buf *room)
{
	char date[DATE_TEXT];

	if (t->source.column->kind == PARQUET_TEXT)
		return limit_has_text(t->limit, v->texts[i].at, v->texts[i].len, room);
	if (t->source.column->kind == PARQUET_REAL)
		return limit_has_real(t->limit, parquet_real(v->numbers[i]));
	if (!t->source.date)
		return limit_has_number(t->limit, v->numbers[i]);
	put_date(v->numbers[i], date);
	return limit_has_text(t->limit, date, strlen(date), room);
}

/* Tests the values of a dictionary. */
static int test_dict(struct tested *t, const struct parquet_values *v, struct buf *room)
{
	if (t->passes && t->dict == v->dict)
		return 0;
	if (!t->passes || t->cap < v->dict_size) {
		uint8_t *more = realloc(t->passes, (size_t)v->dict_size + 1);

		if (!more)
			return -ENOMEM;
		t->passes = more;
		t->cap = v->dict_size;
	}
	t->dict = v->dict;
	for (uint32_t i = 0; i < v->dict_size; i++)
		t->passes[i] = passes(t, v, i, room);
	return 0;
}

/* The fast case: numbers in a range. */
static uint32_t keep_range(const int64_t *v, uint32_t *rows, uint32_t n, const struct limit *l)
{
	const int64_t low = l->low, high = l->high;
	const bool outside = l->outside;
	uint32_t kept = 0;

	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = rows[k];

		rows[kept] = i;
		kept += (v[i] >= low && v[i] <= high) != outside;
	}
	return kept;
}

/* Removes the rows that do not pass; returns how many are left, or -ENOMEM. */
static int keep_passing(struct tested *t, const struct parquet_values *v, uint32_t *rows,
			uint32_t n, struct buf *room)
{
	const bool null = limit_has_missing(t->limit);
	uint32_t kept = 0;

	if (v->ids && test_dict(t, v, room) < 0)
		return -ENOMEM;
	if (!v->ids && !v->missing && t->source.column->kind == PARQUET_NUMBER && !t->source.date &&
	    t->limit->is_range)
		return (int)keep_range(v->numbers, rows, n, t->limit);
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = rows[k];

		rows[kept] = i;
		kept += v->missing && v->missing[i] ? null
			: v->ids		    ? t->passes[v->ids[i]]
						    : passes(t, v, i, room);
	}
	return (int)kept;
}

/* ---- columns ---- */

static int lane_of(struct asked *x, uint32_t column, size_t *lane)
{
	uint32_t *slot;

	for (*lane = 0; *lane < x->lanes.n; ++*lane)
		if (x->lanes.at[*lane] == column)
			return 0;
	slot = vec_push(&x->lanes);
	if (!slot)
		return -ENOMEM;
	*slot = column;
	return 0;
}

static bool is_named(const struct asked *x, int column, const char *name)
{
	return strcasecmp(x->a->q->table->columns.at[column].name, name) == 0;
}

/* The value of all rows of the file; NULL if the rows differ. */
static const char *same_for_all(const struct asked *x, int column)
{
	const char *system = x->a->file->about->system;

	if (column < NR_FLEET_COLUMNS)
		return file_value(x->a->file, (enum fleet_column)column);
	if (x->a->q->table->kind == FLEET_TRACES && is_named(x, column, "path"))
		return x->a->file->path;
	if (x->of_all && is_named(x, column, "event"))
		return fleet_event_name(x->a->file->table);
	return x->of_all && is_named(x, column, "system") && *system ? system : NULL;
}

/* Whether no file has the column, even if it has a field of the same name. */
static bool is_nowhere(const struct asked *x, int column)
{
	return x->of_all && (is_named(x, column, "system") || is_named(x, column, "text"));
}

static int find_source(struct asked *x, int column, struct fleet_source *s)
{
	int number;

	*s = (struct fleet_source){.from = FROM_TEXT, .text = same_for_all(x, column)};
	if (s->text)
		return 0;
	number = is_nowhere(x, column)
			 ? -1
			 : fleet_parquet_column(x->file, &x->a->q->table->columns.at[column]);
	s->from = number < 0 ? FROM_NOTHING : FROM_FILE;
	if (number < 0)
		return 0;
	s->column = parquet_column(x->file, (uint32_t)number);
	s->date = column == FLEET_DATE && s->column->is_date;
	return lane_of(x, (uint32_t)number, &s->lane);
}

static int add_test(struct asked *x, const struct limit *l)
{
	struct fleet_source s;
	int rc = find_source(x, l->column, &s);

	if (rc < 0)
		return rc;
	if (s.from == FROM_TEXT)
		x->never |= !limit_has_text(l, s.text, strlen(s.text), &x->room);
	else if (s.from == FROM_NOTHING)
		x->never |= !limit_has_missing(l);
	if (s.from != FROM_FILE)
		return 0;
	return vec_add(&x->tests, &((struct tested){.limit = l, .source = s})) ? 0 : -ENOMEM;
}

static int find_sources(struct asked *x)
{
	const struct fleet_question *q = x->a->q;
	int rc = 0;

	x->wanted = calloc(q->nr + 1, sizeof(*x->wanted));
	if (!x->wanted)
		return -ENOMEM;
	/* Limits come first, so that the pages of their columns do. */
	for (size_t i = 0; rc == 0 && i < q->limits->n; i++)
		rc = add_test(x, &q->limits->at[i]);
	/* Duplicates in other files matter only for files that may have several traces. */
	for (size_t i = 0; rc == 0 && !*x->a->file->id && i < q->excluded.n; i++)
		if (strcasecmp(q->excluded.at[i].table, x->a->file->table) == 0)
			rc = add_test(x, &q->excluded.at[i]);
	for (size_t i = 0; rc == 0 && i < q->nr; i++)
		rc = find_source(x, q->columns[i], &x->wanted[i]);
	return rc;
}

/* ---- tests ---- */

/* Whether a row of the group may pass, by the statistics of the columns. */
static bool may_pass(struct asked *x, uint32_t group)
{
	vec_each (t, &x->tests) {
		struct parquet_bounds b;
		bool may = true;

		parquet_bounds(x->file, group, x->lanes.at[t->source.lane], &b);
		if (t->source.date || (!b.none_missing && limit_has_missing(t->limit)))
			continue;
		if (b.all_missing)
			may = false;
		else if (b.known && t->source.column->kind == PARQUET_NUMBER)
			may = limit_may_have_numbers(t->limit, b.min, b.max);
		else if (b.known)
			may = limit_may_have_texts(t->limit, b.least.at, b.least.len, b.most.at,
						   b.most.len);
		if (!may)
			return false;
	}
	return true;
}

/* A file with the id of a trace in its name must only have rows of this trace. */
static int check_id(const struct asked *x, uint32_t group, struct spur_error *err)
{
	const char *id = x->a->file->id;
	const int column = *id ? parquet_find(x->file, "trace_id") : -1;
	const struct parquet_text name = {id, (uint32_t)strlen(id)};
	struct parquet_bounds b = {0};

	if (column >= 0 && parquet_column(x->file, (uint32_t)column)->kind == PARQUET_TEXT)
		parquet_bounds(x->file, group, (uint32_t)column, &b);
	if (!b.known ||
	    (b.least.len == name.len && b.most.len == name.len &&
	     memcmp(b.least.at, id, name.len) == 0 && memcmp(b.most.at, id, name.len) == 0))
		return 0;
	return error_set(err, -EBADMSG, "it has rows of another trace than its name says");
}

/* ---- rows ---- */

static void put_number(struct row_out *out, const struct fleet_source *s, int64_t v)
{
	char date[DATE_TEXT];

	if (!s->date) {
		row_put_number(out, v);
		return;
	}
	put_date(v, date);
	row_put_text(out, date, strlen(date));
}

static void put_value(struct asked *x, const struct fleet_source *s, uint32_t row)
{
	struct row_out *out = x->a->out;
	const struct parquet_values *v = &x->values[s->lane];
	uint32_t i;

	if (s->from == FROM_TEXT) {
		row_put_text(out, s->text, strlen(s->text));
		return;
	}
	if (s->from == FROM_NOTHING || (v->missing && v->missing[row])) {
		row_put_null(out);
		return;
	}
	i = v->ids ? v->ids[row] : row;
	if (s->column->kind == PARQUET_TEXT)
		row_put_text(out, v->texts[i].at, v->texts[i].len);
	else if (s->column->kind == PARQUET_REAL)
		row_put_real(out, parquet_real(v->numbers[i]));
	else
		put_number(out, s, v->numbers[i]);
}

static int put_rows(struct asked *x, uint32_t n)
{
	int rc = 0;

	for (uint32_t k = 0; rc == 0 && k < n; k++) {
		row_put_head(x->a->out, (int64_t)(x->row + x->chosen[k]));
		for (size_t i = 0; i < x->a->q->nr; i++)
			put_value(x, &x->wanted[i], x->chosen[k]);
		rc = row_end(x->a->out);
	}
	return rc;
}

/* ---- counts ---- */

static int put_counts(struct asked *x)
{
	struct row_out *out = x->a->out;
	int rc = 0;

	for (size_t g = 0; rc == 0 && g < tally_size(x->tally); g++) {
		size_t column = 0;

		if (!tally_count(x->tally, g))
			continue;
		row_put_head(out, (int64_t)tally_count(x->tally, g));
		for (size_t i = 0; i < x->a->q->nr; i++) {
			const struct fleet_source *s = &x->wanted[i];
			struct fleet_value v = {.type = SQLITE_NULL};

			if (s->from == FROM_FILE)
				v = tally_value(x->tally, g, column++);
			if (s->from == FROM_TEXT)
				row_put_text(out, s->text, strlen(s->text));
			else if (v.type == SQLITE_TEXT)
				row_put_text(out, v.text, v.len);
			else if (v.type == SQLITE_INTEGER)
				put_number(out, s, v.number);
			else if (v.type == SQLITE_FLOAT)
				row_put_real(out, v.real);
			else
				row_put_null(out);
		}
		rc = row_end(out);
	}
	return rc;
}

static int count_rows(struct asked *x, uint32_t n)
{
	int rc = tally_begin(x->tally, n);

	for (size_t i = 0; rc == 0 && i < x->a->q->nr; i++) {
		const struct fleet_source *s = &x->wanted[i];

		if (s->from == FROM_FILE)
			rc = tally_column(x->tally, s->column, &x->values[s->lane], x->chosen, n);
	}
	if (rc == 0)
		rc = tally_end(x->tally, n);
	if (rc < 0 || !tally_is_large(x->tally))
		return rc;
	rc = put_counts(x);
	return rc < 0 ? rc : tally_reset(x->tally);
}

/* ---- groups and batches ---- */

static int ask_batch(struct asked *x, uint32_t n, struct spur_error *err)
{
	int kept = (int)n, rc = 0;

	for (uint32_t i = 0; i < n; i++)
		x->chosen[i] = i;
	vec_each (t, &x->tests) {
		if (kept <= 0 || rc < 0)
			break;
		rc = parquet_rows_get(x->rows, t->source.lane, &x->values[t->source.lane], err);
		if (rc == 0)
			kept = keep_passing(t, &x->values[t->source.lane], x->chosen,
					    (uint32_t)kept, &x->room);
	}
	if (rc < 0 || kept <= 0)
		return rc < 0 ? rc : kept;
	for (size_t i = 0; i < x->a->q->nr; i++) {
		const struct fleet_source *s = &x->wanted[i];

		if (s->from == FROM_FILE)
			rc = parquet_rows_get(x->rows, s->lane, &x->values[s->lane], err);
		if (rc < 0)
			return rc;
	}
	return x->a->q->counted ? count_rows(x, (uint32_t)kept) : put_rows(x, (uint32_t)kept);
}

static int ask_group(struct asked *x, uint32_t group, struct spur_error *err)
{
	int rc, n = 0;

	/* Only the number of rows is needed. */
	if (x->a->q->counted && !x->lanes.n)
		return tally_end(x->tally, parquet_group_rows(x->file, group));
	rc = parquet_rows_group(x->rows, group, err);
	while (rc == 0 && (n = parquet_rows_next(x->rows, err)) > 0) {
		if (*x->a->stop)
			return -EINTR;
		rc = ask_batch(x, (uint32_t)n, err);
		x->row += (uint32_t)n;
	}
	return rc < 0 ? rc : n;
}

static int begin(struct asked *x)
{
	size_t columns = 0;

	for (size_t i = 0; i < x->a->q->nr; i++)
		columns += x->wanted[i].from == FROM_FILE;
	x->values = calloc(x->lanes.n + 1, sizeof(*x->values));
	x->chosen = calloc(PARQUET_BATCH, sizeof(*x->chosen));
	x->rows = parquet_rows_new(x->file, x->lanes.at, x->lanes.n);
	if (x->a->q->counted)
		x->tally = tally_new(columns);
	return x->values && x->chosen && x->rows && (x->tally || !x->a->q->counted) ? 0 : -ENOMEM;
}

static int ask(struct asked *x, struct spur_error *err)
{
	uint64_t row = 0;
	int rc = find_sources(x);

	x->a->groups = parquet_nr_groups(x->file);
	if (rc < 0 || x->never)
		return rc;
	rc = begin(x);
	for (uint32_t i = 0; rc == 0 && i < parquet_nr_groups(x->file); i++) {
		x->row = row;
		row += parquet_group_rows(x->file, i);
		if (!may_pass(x, i))
			continue;
		x->a->groups_read++;
		rc = check_id(x, i, err);
		if (rc == 0)
			rc = ask_group(x, i, err);
	}
	/* Rows counted before a damage are returned. */
	if (x->tally && (rc == 0 || rc == -EBADMSG)) {
		const int put = put_counts(x);

		rc = rc < 0 ? rc : put;
	}
	return rc;
}

int fleet_ask_parquet(struct fleet_asking *a, struct parquet *p, struct spur_error *err)
{
	struct asked x = {.a = a, .file = p};
	int rc;

	/* The file may show what its name does not: that the event is another system's. */
	if (fleet_match(a->file, a->q->table) != FLEET_ROWS)
		return 0;
	x.of_all =
		a->q->table->kind == FLEET_EVENTS && strcasecmp(a->q->table->name, "events") == 0;
	buf_init(&x.room, QUERY_VALUE_BYTES);
	rc = ask(&x, err);
	buf_free(&x.room);
	vec_each (t, &x.tests)
		free(t->passes);
	vec_free(&x.tests);
	vec_free(&x.lanes);
	parquet_rows_free(x.rows);
	tally_free(x.tally);
	free(x.wanted);
	free(x.values);
	free(x.chosen);
	return rc;
}
