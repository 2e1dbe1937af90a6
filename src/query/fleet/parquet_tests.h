/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Testing values of Parquet against the limits of a scan, by SQLite's rules but without it: a
 * number is less than a text; missing values only pass `is null`; a column of numbers converts
 * texts that look like numbers, and a column of texts converts numbers.
 *
 * Tests are made before threads begin, and are not changed by them.
 *
 * Private to src/query.
 */
#ifndef QUERY_FLEET_PARQUET_TESTS_H
#define QUERY_FLEET_PARQUET_TESTS_H

#include "query/fleet/private.h"

/* What a value is compared with. */
struct fleet_operand {
	bool is_null;
	/*
	 * Integers up to `le` are not greater than the operand, those from `ge` on not less; if
	 * there are any.
	 */
	bool has_le, has_ge;
	int64_t le, ge;
	bool is_number;
	double real;	  /* the number; other types are greater than all numbers */
	bool is_blob;	  /* greater than all texts; otherwise the text is: */
	const char *text; /* terminated */
	size_t len;
};

struct fleet_test {
	int column;
	unsigned char op; /* SQLITE_INDEX_CONSTRAINT_… */
	bool list;	  /* equal to one of several, or, with `none`, to none of them */
	bool none;
	const char *table; /* with `none`: for files of this table */
	struct {
		struct fleet_operand *at;
		size_t n, cap;
	} operands;
	/* For a list: its integers, sorted. The operands themselves are sorted as texts. */
	struct {
		int64_t *at;
		size_t n, cap;
	} numbers;
};

bool test_number(const struct fleet_test *t, int64_t v);
bool test_real(const struct fleet_test *t, double v);
/* `room` is for a copy that is terminated. */
bool test_text(const struct fleet_test *t, const char *text, size_t len, struct buf *room);
bool test_missing(const struct fleet_test *t);

/* Whether some value between the two may pass. */
bool test_numbers(const struct fleet_test *t, int64_t min, int64_t max);
bool test_texts(const struct fleet_test *t, const struct parquet_text *least,
		const struct parquet_text *most);

/*
 * Expresses the test as a range: integers in it (or, if *outside, not in it) pass. False if that is
 * impossible.
 */
bool test_range(const struct fleet_test *t, int64_t *low, int64_t *high, bool *outside);

#endif
