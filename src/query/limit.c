// SPDX-License-Identifier: GPL-2.0-or-later
/* Limits of a scan as tests of values, by the rules that SQLite compares by. */
#include "query/limit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/order.h"

#define INT64_RANGE 9223372036854775808.0 /* the first number above all integers */

#define MAX_PATTERN 50000

static const struct {
	unsigned char op;
	const char *sql;
} operators[] = {
	{SQLITE_INDEX_CONSTRAINT_EQ, "="},	{SQLITE_INDEX_CONSTRAINT_GT, ">"},
	{SQLITE_INDEX_CONSTRAINT_GE, ">="},	{SQLITE_INDEX_CONSTRAINT_LT, "<"},
	{SQLITE_INDEX_CONSTRAINT_LE, "<="},	{SQLITE_INDEX_CONSTRAINT_NE, "<>"},
	{SQLITE_INDEX_CONSTRAINT_LIKE, "like"}, {SQLITE_INDEX_CONSTRAINT_GLOB, "glob"},
	{SQLITE_INDEX_CONSTRAINT_IS, "is"},	{SQLITE_INDEX_CONSTRAINT_ISNOT, "is not"},
};

const char *limit_operator(unsigned char op)
{
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (operators[i].op == op)
			return operators[i].sql;
	return NULL;
}

static bool is_pattern(const struct limit *l)
{
	return l->op == SQLITE_INDEX_CONSTRAINT_LIKE || l->op == SQLITE_INDEX_CONSTRAINT_GLOB;
}

/* ---- making ---- */

/*
 * Where a value lies between integers: those up to `le` are not greater than it, those from `ge` on
 * not less; if there are any.
 */
struct place {
	bool has_le, has_ge;
	int64_t le, ge;
};

static struct place place_of_real(double v)
{
	struct place p = {.has_le = v >= -INT64_RANGE, .has_ge = v < INT64_RANGE};

	p.le = v >= INT64_RANGE ? INT64_MAX : p.has_le ? (int64_t)floor(v) : 0;
	p.ge = v < -INT64_RANGE ? INT64_MIN : p.has_ge ? (int64_t)ceil(v) : 0;
	return p;
}

static bool is_one_integer(const struct place *p)
{
	return p->has_le && p->has_ge && p->le == p->ge;
}

static void set_range(struct limit *l, const struct limit_operand *o, const struct place *p)
{
	bool any = true;

	l->low = INT64_MIN;
	l->high = INT64_MAX;
	if (o->is_null) {
		/* No value passes, or every value that is not missing does. */
		any = l->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	} else if (l->op == SQLITE_INDEX_CONSTRAINT_GT && p->has_le) {
		any = p->le < INT64_MAX;
		l->low = any ? p->le + 1 : 0;
	} else if (l->op == SQLITE_INDEX_CONSTRAINT_LT && p->has_ge) {
		any = p->ge > INT64_MIN;
		l->high = any ? p->ge - 1 : 0;
	} else if (l->op == SQLITE_INDEX_CONSTRAINT_GE) {
		any = p->has_ge;
		l->low = p->ge;
	} else if (l->op == SQLITE_INDEX_CONSTRAINT_LE) {
		any = p->has_le;
		l->high = p->le;
	} else if (l->op != SQLITE_INDEX_CONSTRAINT_GT && l->op != SQLITE_INDEX_CONSTRAINT_LT) {
		l->outside = l->op == SQLITE_INDEX_CONSTRAINT_NE ||
			     l->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
		/* Not every number is equal to an integer. */
		any = is_one_integer(p);
		l->low = l->high = p->le;
	}
	if (!any) {
		l->low = 1;
		l->high = 0;
	}
}

static int take_text(struct limit_operand *o, sqlite3_value *v)
{
	const unsigned char *text = sqlite3_value_text(v);
	char *copy;

	if (!text)
		return SQLITE_NOMEM;
	o->len = (size_t)sqlite3_value_bytes(v);
	copy = malloc(o->len + 1);
	if (!copy)
		return SQLITE_NOMEM;
	memcpy(copy, text, o->len + 1);
	o->text = copy;
	return SQLITE_OK;
}

/* Changes the value, as reading it in another type does. */
static void take_number(struct limit_operand *o, sqlite3_value *v, struct place *p)
{
	int type = sqlite3_value_type(v);

	/* What is no number is greater than all of them. */
	*p = (struct place){.has_le = true, .le = INT64_MAX};
	o->is_null = type == SQLITE_NULL;
	o->is_blob = type == SQLITE_BLOB;
	if (type == SQLITE_TEXT)
		type = sqlite3_value_numeric_type(v);
	o->is_number = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
	o->real = o->is_number ? sqlite3_value_double(v) : 0;
	if (type == SQLITE_INTEGER)
		*p = (struct place){true, true, sqlite3_value_int64(v), sqlite3_value_int64(v)};
	else if (type == SQLITE_FLOAT)
		*p = place_of_real(o->real);
}

static int add_integer(struct limit *l, sqlite3_value *v)
{
	struct limit_operand *o = vec_push(&l->operands);
	struct place p;

	if (!o)
		return SQLITE_NOMEM;
	take_number(o, v, &p);
	if (!l->list)
		set_range(l, o, &p);
	else if (!o->is_null && is_one_integer(&p) && !vec_add(&l->numbers, &p.le))
		return SQLITE_NOMEM;
	return SQLITE_OK;
}

/* The same, and stores the value as SQL has it and as text: LIKE converts any value to text. */
static int add_value(struct limit *l, sqlite3_value *v)
{
	sqlite3_value *kept = sqlite3_value_dup(v), *copy;
	int rc;

	if (!kept || !vec_add(&l->values, &kept)) {
		sqlite3_value_free(kept);
		return SQLITE_NOMEM;
	}
	copy = sqlite3_value_dup(v);
	rc = copy ? add_integer(l, copy) : SQLITE_NOMEM;
	sqlite3_value_free(copy);
	if (rc != SQLITE_OK || sqlite3_value_type(v) == SQLITE_NULL)
		return rc;
	copy = sqlite3_value_dup(v);
	rc = copy ? take_text(&l->operands.at[l->operands.n - 1], copy) : SQLITE_NOMEM;
	sqlite3_value_free(copy);
	return rc;
}

/* NULL and blobs, which no text is equal to, come last. */
static int by_text(const void *a, const void *b)
{
	const struct limit_operand *x = a, *y = b;
	const int other = (x->is_null || x->is_blob) - (y->is_null || y->is_blob);

	if (other || x->is_null || x->is_blob)
		return other;
	return order_texts(x->text, x->len, y->text, y->len);
}

/* Sorts what a list has for binary searches. */
static void sort_list(struct limit *l)
{
	size_t texts = 0;

	vec_each (o, &l->operands)
		texts += !o->is_null && !o->is_blob;
	order_vec(&l->numbers, order_i64);
	order_vec(&l->operands, by_text);
	for (size_t i = texts; i < l->operands.n; i++)
		free((char *)l->operands.at[i].text);
	l->operands.n = texts;
}

static int add(struct limit_list *all, int column, unsigned char op, bool list, sqlite3_value *v,
	       int (*take)(struct limit *l, sqlite3_value *v))
{
	struct limit *l = vec_push(all);
	sqlite3_value *each;
	int rc;

	if (!l)
		return SQLITE_NOMEM;
	l->column = column;
	l->op = op == SQLITE_INDEX_CONSTRAINT_ISNULL	  ? SQLITE_INDEX_CONSTRAINT_IS
		: op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL ? SQLITE_INDEX_CONSTRAINT_ISNOT
							  : op;
	l->list = list;
	l->is_range = !list && !is_pattern(l);
	if (!list) {
		rc = take(l, v);
		/* The same limit as in SQLite: matching recurses for each star of the pattern. */
		return rc == SQLITE_OK && is_pattern(l) && l->operands.at->len > MAX_PATTERN
			       ? SQLITE_TOOBIG
			       : rc;
	}
	for (rc = sqlite3_vtab_in_first(v, &each); rc == SQLITE_OK && each;
	     rc = rc == SQLITE_OK ? sqlite3_vtab_in_next(v, &each) : rc)
		rc = take(l, each);
	sort_list(l);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int limit_add(struct limit_list *all, int column, unsigned char op, bool list, sqlite3_value *v)
{
	return add(all, column, op, list, v, add_value);
}

int limit_add_of_integers(struct limit_list *all, unsigned char op, bool list, sqlite3_value *v)
{
	return add(all, 0, op, list, v, add_integer);
}

int limit_exclude(struct limit_list *all, int column, const char *table,
		  const struct string_refs *texts)
{
	struct limit *l = vec_push(all);

	if (!l)
		return SQLITE_NOMEM;
	*l = (struct limit){.column = column,
			    .op = SQLITE_INDEX_CONSTRAINT_EQ,
			    .list = true,
			    .none = true,
			    .table = table};
	vec_each (text, texts) {
		struct limit_operand *o = vec_push(&l->operands);

		if (o)
			o->text = strdup(*text);
		if (!o || !o->text)
			return SQLITE_NOMEM;
		o->len = strlen(*text);
	}
	sort_list(l);
	return SQLITE_OK;
}

void limit_list_free(struct limit_list *all)
{
	vec_each (l, all) {
		vec_each (value, &l->values)
			sqlite3_value_free(*value);
		vec_each (o, &l->operands)
			free((char *)o->text);
		vec_free(&l->values);
		vec_free(&l->operands);
		vec_free(&l->numbers);
	}
	vec_free(all);
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

static bool matches(const struct limit *l, const char *text)
{
	const struct limit_operand *o = l->operands.at;

	if (o->is_null)
		return false;
	return l->op == SQLITE_INDEX_CONSTRAINT_LIKE ? sqlite3_strlike(o->text, text, 0) == 0
						     : sqlite3_strglob(o->text, text) == 0;
}

bool limit_has_missing(const struct limit *l)
{
	if (l->list)
		return l->none;
	return (l->op == SQLITE_INDEX_CONSTRAINT_IS && l->operands.at->is_null) ||
	       (l->op == SQLITE_INDEX_CONSTRAINT_ISNOT && !l->operands.at->is_null);
}

bool limit_has_other(const struct limit *l, int64_t v)
{
	char text[24];

	if (l->list)
		return (l->numbers.n && bsearch(&v, l->numbers.at, l->numbers.n, sizeof(v),
						order_i64) != NULL) != l->none;
	snprintf(text, sizeof(text), "%" PRId64, v);
	return matches(l, text);
}

static bool has_one_real(const struct limit *l, const struct limit_operand *o, double v)
{
	if (o->is_null)
		return l->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	return in_order(l->op, o->is_number ? (v > o->real) - (v < o->real) : -1);
}

bool limit_has_real(const struct limit *l, double v)
{
	bool found = false;

	/* As in SQLite: NaN is NULL. */
	if (isnan(v))
		return limit_has_missing(l);
	if (is_pattern(l)) {
		char text[40];

		sqlite3_snprintf(sizeof(text), text, "%!.15g", v);
		return matches(l, text);
	}
	vec_each (o, &l->operands)
		found |= has_one_real(l, o, v);
	return found != l->none;
}

bool limit_has_text(const struct limit *l, const char *text, size_t len, struct buf *room)
{
	const struct limit_operand *o = l->operands.at, key = {.text = text, .len = len};

	if (l->list)
		return (l->operands.n &&
			bsearch(&key, o, l->operands.n, sizeof(*o), by_text) != NULL) != l->none;
	if (is_pattern(l)) {
		buf_reset(room);
		buf_put(room, text, len);
		return matches(l, buf_str(room));
	}
	if (o->is_null)
		return l->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	return in_order(l->op, o->is_blob ? -1 : order_texts(text, len, o->text, o->len));
}

/* ---- ranges of values ---- */

bool limit_may_have_numbers(const struct limit *l, int64_t min, int64_t max)
{
	size_t i;

	if (l->is_range)
		return l->outside ? min < l->low || max > l->high
				  : l->low <= l->high && min <= l->high && max >= l->low;
	if (!l->list)
		return true;
	binary_search(i, 0, l->numbers.n, l->numbers.at[i] < min);
	return l->none || (i < l->numbers.n && l->numbers.at[i] <= max);
}

static bool between(const struct limit_operand *o, const char *least, size_t least_len,
		    const char *most, size_t most_len)
{
	return order_texts(o->text, o->len, least, least_len) >= 0 &&
	       order_texts(o->text, o->len, most, most_len) <= 0;
}

bool limit_may_have_texts(const struct limit *l, const char *least, size_t least_len,
			  const char *most, size_t most_len)
{
	const struct limit_operand *o = l->operands.at;
	bool found = l->none;

	if (l->list) {
		vec_each (each, &l->operands)
			found |= between(each, least, least_len, most, most_len);
		return found;
	}
	if (o->is_null)
		return l->op == SQLITE_INDEX_CONSTRAINT_ISNOT;
	if (is_pattern(l) || o->is_blob)
		return true;
	switch (l->op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
	case SQLITE_INDEX_CONSTRAINT_IS: return between(o, least, least_len, most, most_len);
	case SQLITE_INDEX_CONSTRAINT_LT:
	case SQLITE_INDEX_CONSTRAINT_LE:
		return in_order(l->op, order_texts(least, least_len, o->text, o->len));
	case SQLITE_INDEX_CONSTRAINT_GT:
	case SQLITE_INDEX_CONSTRAINT_GE:
		return in_order(l->op, order_texts(most, most_len, o->text, o->len));
	default: return true;
	}
}
