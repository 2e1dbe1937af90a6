// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of a scan as tests of values, by the rules that SQLite compares by. */
#include "query/fleet/parquet_tests.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/order.h"
#include "base/vec.h"

#define INT64_RANGE 9223372036854775808.0 /* the first number above all integers */

#define MAX_PATTERN 50000

static bool is_pattern(const struct fleet_test *t)
{
	return t->op == SQLITE_INDEX_CONSTRAINT_LIKE || t->op == SQLITE_INDEX_CONSTRAINT_GLOB;
}

/* ---- making ---- */

/* Where a real number lies between integers. */
static void place_real(struct fleet_operand *o, double v)
{
	o->is_number = true;
	o->real = v;
	o->has_le = v >= -INT64_RANGE;
	o->has_ge = v < INT64_RANGE;
	o->le = v >= INT64_RANGE ? INT64_MAX : o->has_le ? (int64_t)floor(v) : 0;
	o->ge = v < -INT64_RANGE ? INT64_MIN : o->has_ge ? (int64_t)ceil(v) : 0;
}

static void place_integer(struct fleet_operand *o, int64_t v)
{
	o->is_number = o->has_le = o->has_ge = true;
	o->le = o->ge = v;
	o->real = (double)v;
}

static int take_text(struct fleet_operand *o, sqlite3_value *v)
{
	const unsigned char *text = sqlite3_value_text(v);
	char *copy;

	if (!text)
		return -ENOMEM;
	o->len = (size_t)sqlite3_value_bytes(v);
	copy = malloc(o->len + 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, o->len + 1);
	o->text = copy;
	return 0;
}

/* Works on a copy, because reading a value in another type changes it. */
static int take_operand(struct fleet_operand *o, sqlite3_value *v)
{
	int type = sqlite3_value_type(v), rc;

	o->is_null = type == SQLITE_NULL;
	o->is_blob = type == SQLITE_BLOB;
	if (o->is_null)
		return 0;
	/* For texts and patterns; LIKE converts any value to text. */
	rc = take_text(o, v);
	if (rc < 0)
		return rc;
	if (type == SQLITE_TEXT)
		type = sqlite3_value_numeric_type(v);
	if (type == SQLITE_INTEGER) {
		place_integer(o, sqlite3_value_int64(v));
	} else if (type == SQLITE_FLOAT) {
		place_real(o, sqlite3_value_double(v));
	} else {
		o->has_le = true;
		o->le = INT64_MAX;
	}
	return 0;
}

/* NULL and blobs, which no text is equal to, come last. */
static int by_text(const void *a, const void *b)
{
	const struct fleet_operand *x = a, *y = b;
	const int other = (x->is_null || x->is_blob) - (y->is_null || y->is_blob);

	if (other || x->is_null || x->is_blob)
		return other;
	return order_texts(x->text, x->len, y->text, y->len);
}

static int sort_list(struct fleet_test *t)
{
	size_t texts = 0;

	vec_each (o, &t->operands) {
		int64_t *slot;

		texts += !o->is_null && !o->is_blob;
		if (o->is_null || !o->has_le || !o->has_ge || o->le != o->ge)
			continue;
		slot = vec_push(&t->numbers);
		if (!slot)
			return -ENOMEM;
		*slot = o->le;
	}
	if (t->numbers.n)
		qsort(t->numbers.at, t->numbers.n, sizeof(*t->numbers.at), order_i64);
	if (t->operands.n)
		qsort(t->operands.at, t->operands.n, sizeof(*t->operands.at), by_text);
	for (size_t i = texts; i < t->operands.n; i++)
		free((char *)t->operands.at[i].text);
	t->operands.n = texts;
	return 0;
}

static int make_test(struct fleet_test *t, const struct fleet_limit *l)
{
	int rc = 0;

	t->column = l->column;
	t->op = l->op == SQLITE_INDEX_CONSTRAINT_ISNULL	     ? SQLITE_INDEX_CONSTRAINT_IS
		: l->op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL ? SQLITE_INDEX_CONSTRAINT_ISNOT
							     : l->op;
	t->list = l->list;
	vec_each (value, &l->values) {
		struct fleet_operand *o = vec_push(&t->operands);
		sqlite3_value *copy = o ? sqlite3_value_dup(*value) : NULL;

		if (rc == 0)
			rc = copy ? take_operand(o, copy) : -ENOMEM;
		sqlite3_value_free(copy);
	}
	/* The same limit as in SQLite: matching recurses for each star of the pattern. */
	if (rc == 0 && is_pattern(t) && t->operands.at->len > MAX_PATTERN)
		return -E2BIG;
	return rc == 0 && t->list ? sort_list(t) : rc;
}

/* Excludes, from files with several traces, the traces that have a file of their own. */
static int exclude(struct fleet *f, const struct file_list *list, const char *table,
		   struct fleet_tests *out)
{
	struct fleet_test *t = vec_push(out);

	if (!t)
		return -ENOMEM;
	*t = (struct fleet_test){.column = FLEET_TRACE_ID,
				 .op = SQLITE_INDEX_CONSTRAINT_EQ,
				 .list = true,
				 .none = true,
				 .table = table};
	for (size_t i = 0; i < list->n; i++) {
		const struct fleet_file *file = &f->files.at[list->at[i]];
		const char *id = file_value(file, FLEET_TRACE_ID);
		struct fleet_operand *o;

		if (!id || (file->parquet && strcasecmp(file->table, table) != 0))
			continue;
		o = vec_push(&t->operands);
		if (o)
			o->text = strdup(id);
		if (!o || !o->text)
			return -ENOMEM;
		o->len = strlen(id);
	}
	return sort_list(t);
}

int fleet_tests_make(struct fleet *f, const struct fleet_limits *l, const struct file_list *list,
		     struct fleet_tests *out)
{
	int rc = 0;

	vec_each (limit, l) {
		struct fleet_test *t = vec_push(out);

		if (rc == 0)
			rc = t ? make_test(t, limit) : -ENOMEM;
	}
	for (size_t i = 0; rc == 0 && i < list->n; i++) {
		const struct fleet_file *file = &f->files.at[list->at[i]];
		bool known = !file->parquet || *file->id;

		vec_each (t, out)
			known |= t->none && !known && strcasecmp(t->table, file->table) == 0;
		if (!known)
			rc = exclude(f, list, file->table, out);
	}
	return rc;
}

void fleet_tests_free(struct fleet_tests *tests)
{
	vec_each (t, tests) {
		vec_each (o, &t->operands)
			free((char *)o->text);
		vec_free(&t->operands);
		vec_free(&t->numbers);
	}
	vec_free(tests);
}

/* ---- testing ---- */

/* Whether the operator is about the order of two values that compare like that. */
static bool in_order(unsigned char op, int order)
{
	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
	case SQLITE_INDEX_CONSTRAINT_IS: return order == 0;
	case SQLITE_INDEX_CONSTRAINT_NE:
	case SQLITE_INDEX_CONSTRAINT_ISNOT: return order != 0;
	case SQLITE_INDEX_CONSTRAINT_LT: return order < 0;
	case SQLITE_INDEX_CONSTRAINT_LE: return order <= 0;
	case SQLITE_INDEX_CONSTRAINT_GT: return order > 0;
	case SQLITE_INDEX_CONSTRAINT_GE: return order >= 0;
	default: return false;
	}
}

static bool matches(const struct fleet_test *t, const char *text)
{
	const struct fleet_operand *o = t->operands.at;

	if (o->is_null)
		return false;
	return t->op == SQLITE_INDEX_CONSTRAINT_LIKE ? sqlite3_strlike(o->text, text, 0) == 0
						     : sqlite3_strglob(o->text, text) == 0;
}

bool test_missing(const struct fleet_test *t)
{
	if (t->list)
		return t->none;
	return (t->op == SQLITE_INDEX_CONSTRAINT_IS && t->operands.at->is_null) ||
	       (t->op == SQLITE_INDEX_CONSTRAINT_ISNOT && !t->operands.at->is_null);
}

bool test_range(const struct fleet_test *t, int64_t *low, int64_t *high, bool *outside)
{
	const struct fleet_operand *o = t->operands.at;

	if (t->list || is_pattern(t))
		return false;
	*low = INT64_MIN;
	*high = INT64_MAX;
	*outside = false;
	if (o->is_null) {
		/* No value passes, or every value that is not missing does. */
		*outside = t->op != SQLITE_INDEX_CONSTRAINT_ISNOT;
		return true;
	}
	switch (t->op) {
	/* If no integer is on one side, all of them are on the other. */
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		*high = o->has_le ? o->le : INT64_MAX;
		*outside = (t->op == SQLITE_INDEX_CONSTRAINT_GT) == o->has_le;
		return true;
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		*low = o->has_ge ? o->ge : INT64_MIN;
		*outside = (t->op == SQLITE_INDEX_CONSTRAINT_LT) == o->has_ge;
		return true;
	default: break;
	}
	*outside = t->op == SQLITE_INDEX_CONSTRAINT_NE || t->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	/* Not every number is equal to an integer. */
	if (o->has_le && o->has_ge && o->ge <= o->le) {
		*low = o->ge;
		*high = o->le;
	} else {
		*outside = !*outside;
	}
	return true;
}

static bool has_number(const struct fleet_test *t, int64_t v)
{
	return t->numbers.n &&
	       bsearch(&v, t->numbers.at, t->numbers.n, sizeof(v), order_i64) != NULL;
}

bool test_number(const struct fleet_test *t, int64_t v)
{
	int64_t low, high;
	bool outside;
	char text[24];

	if (t->list)
		return has_number(t, v) != t->none;
	if (test_range(t, &low, &high, &outside))
		return (v >= low && v <= high) != outside;
	snprintf(text, sizeof(text), "%" PRId64, v);
	return matches(t, text);
}

static bool test_one_real(const struct fleet_test *t, const struct fleet_operand *o, double v)
{
	if (o->is_null)
		return t->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	return in_order(t->op, o->is_number ? (v > o->real) - (v < o->real) : -1);
}

bool test_real(const struct fleet_test *t, double v)
{
	bool found = false;

	/* As in SQLite: NaN is NULL. */
	if (isnan(v))
		return test_missing(t);
	if (is_pattern(t)) {
		char text[40];

		sqlite3_snprintf(sizeof(text), text, "%!.15g", v);
		return matches(t, text);
	}
	vec_each (o, &t->operands)
		found |= test_one_real(t, o, v);
	return found != t->none;
}

static bool has_text(const struct fleet_test *t, const char *text, size_t len)
{
	const struct fleet_operand key = {.text = text, .len = len};

	return t->operands.n && bsearch(&key, t->operands.at, t->operands.n,
					sizeof(*t->operands.at), by_text) != NULL;
}

bool test_text(const struct fleet_test *t, const char *text, size_t len, struct buf *room)
{
	const struct fleet_operand *o = t->operands.at;

	if (t->list)
		return has_text(t, text, len) != t->none;
	if (is_pattern(t)) {
		buf_reset(room);
		buf_put(room, text, len);
		return matches(t, buf_str(room));
	}
	if (o->is_null)
		return t->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	return in_order(t->op, o->is_blob ? -1 : order_texts(text, len, o->text, o->len));
}

/* ---- ranges of values ---- */

bool test_numbers(const struct fleet_test *t, int64_t min, int64_t max)
{
	int64_t low, high;
	bool outside;

	if (t->list) {
		size_t i;

		binary_search(i, 0, t->numbers.n, t->numbers.at[i] < min);
		return t->none || (i < t->numbers.n && t->numbers.at[i] <= max);
	}
	if (!test_range(t, &low, &high, &outside))
		return true;
	return outside ? min < low || max > high : min <= high && max >= low;
}

static bool between(const struct fleet_operand *o, const struct parquet_text *least,
		    const struct parquet_text *most)
{
	return order_texts(o->text, o->len, least->at, least->len) >= 0 &&
	       order_texts(o->text, o->len, most->at, most->len) <= 0;
}

bool test_texts(const struct fleet_test *t, const struct parquet_text *least,
		const struct parquet_text *most)
{
	const struct fleet_operand *o = t->operands.at;
	bool found = t->none;

	if (t->list) {
		vec_each (each, &t->operands)
			found |= between(each, least, most);
		return found;
	}
	if (o->is_null)
		return t->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	if (is_pattern(t) || o->is_blob)
		return true;
	switch (t->op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
	case SQLITE_INDEX_CONSTRAINT_IS: return between(o, least, most);
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return in_order(t->op, order_texts(least->at, least->len, o->text, o->len));
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return in_order(t->op, order_texts(most->at, most->len, o->text, o->len));
	default: return true;
	}
}
