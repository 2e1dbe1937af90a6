/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Limits of a scan as values of Parquet are tested by them, without SQLite and by its rules: a
 * number is less than a text, what is missing passes `is null` only, a column of numbers makes
 * numbers of texts that look like one, and a column of texts makes texts of numbers.
 *
 * Tests are made before threads begin, and are not changed by them.
 */
#ifndef QUERY_FLEET_PARQUET_TESTS_H
#define QUERY_FLEET_PARQUET_TESTS_H

#include "query/fleet/private.h"

/* What a value is compared with. */
struct fleet_operand {
	bool is_null;
	/* Integers up to `le` are at most it, those from `ge` on at least; if there are any. */
	bool has_le, has_ge;
	int64_t le, ge;
	bool is_number;
	double real;	  /* the number; what is none is above all */
	bool is_blob;	  /* is above all texts; others are this one: */
	const char *text; /* terminated */
	size_t len;
};

struct fleet_test {
	int column;
	unsigned char op; /* SQLITE_INDEX_CONSTRAINT_… */
	bool list;	  /* one of several, or if `none` none of them */
	bool none;
	const char *table; /* if `none`: it is about files of this table */
	struct {
		struct fleet_operand *at;
		size_t n, cap;
	} operands;
	/* Of a list: those that are integers, sorted. Operands are sorted as texts. */
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

/* Integers pass that are in the range, or if `outside` that are not. False: it is not that easy. */
bool test_range(const struct fleet_test *t, int64_t *low, int64_t *high, bool *outside);

#endif
