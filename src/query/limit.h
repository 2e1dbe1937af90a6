/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a scan's rows: comparisons of a column with a value, or with several.
 *
 * Values are tested by SQLite's rules but without it: a number is less than a text; missing values
 * only pass `is null`; a column of numbers converts texts that look like numbers, and a column of
 * texts converts numbers. Threads do not change limits.
 *
 * Private to src/query.
 */
#ifndef QUERY_LIMIT_H
#define QUERY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/strings.h"
#include "base/vec.h"

/* What a value is compared with. */
struct limit_operand {
	bool is_null;
	bool is_number;
	double real;	  /* the number; other types are greater than all numbers */
	bool is_blob;	  /* greater than all texts; otherwise the text is: */
	const char *text; /* terminated */
	size_t len;
};

struct limit {
	int column;
	unsigned char op; /* SQLITE_INDEX_CONSTRAINT_…, but never ISNULL or ISNOTNULL */
	bool list;	  /* equal to one of several, or, with `none`, to none of them */
	bool none;
	const char *table; /* with `none`: for files of this table */
	/* Neither a list nor a pattern: the integers of a range pass, or (outside) all others. */
	bool is_range;
	int64_t low, high;
	bool outside;
	vec_of(sqlite3_value *) values; /* as SQL has them */
	vec_of(struct limit_operand) operands;
	vec_of(int64_t) numbers; /* of a list, sorted; then its operands are sorted as texts */
};

struct limit_list {
	struct limit *at;
	size_t n, cap;
};

/*
 * Adds a comparison with a value, or with all that sqlite3_vtab_in_first() finds in it. SQLITE_OK,
 * SQLITE_NOMEM, or SQLITE_TOOBIG for a pattern that is too long. If only integers will be tested,
 * the values are not stored.
 */
int limit_add(struct limit_list *all, int column, unsigned char op, bool list, sqlite3_value *v);
int limit_add_of_integers(struct limit_list *all, unsigned char op, bool list, sqlite3_value *v);
/* Adds one that none of these texts passes, with `none`. SQLITE_OK, SQLITE_NOMEM. */
int limit_exclude(struct limit_list *all, int column, const char *table,
		  const struct string_refs *texts);
void limit_list_free(struct limit_list *all);

/* The SQL of an operator; NULL if it is not supported. */
const char *limit_operator(unsigned char op);

bool limit_has_real(const struct limit *l, double v);
/* `room` is for a copy that is terminated. */
bool limit_has_text(const struct limit *l, const char *text, size_t len, struct buf *room);
bool limit_has_missing(const struct limit *l);
/* For limit_has_number(). */
bool limit_has_other(const struct limit *l, int64_t v);

static inline bool limit_has_number(const struct limit *l, int64_t v)
{
	return l->is_range ? (v >= l->low && v <= l->high) != l->outside : limit_has_other(l, v);
}

/* Whether some value between the two may pass. */
bool limit_may_have_numbers(const struct limit *l, int64_t min, int64_t max);
bool limit_may_have_texts(const struct limit *l, const char *least, size_t least_len,
			  const char *most, size_t most_len);

#endif
