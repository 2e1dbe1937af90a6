/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of an answer: TabSeparatedWithNamesAndTypes, the one format with types that servers of all
 * ages know. A line of names, one of types, then rows. Every byte is a stranger's.
 */
#ifndef STORE_CLICKHOUSE_TSV_H
#define STORE_CLICKHOUSE_TSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#define TSV_COLUMNS 4096

enum tsv_kind { TSV_TEXT, TSV_INTEGER, TSV_REAL };

struct tsv_value {
	enum tsv_kind kind; /* a number that does not fit is text */
	bool null;
	int64_t number;
	double real;
	const char *text; /* TSV_TEXT; in the line that was taken, any bytes */
	size_t len;
};

struct tsv {
	size_t lines; /* that have been taken: two are the head */
	struct {
		char **at;
		size_t n, cap;
	} names;
	struct {
		enum tsv_kind *at;
		size_t n, cap;
	} kinds;
	struct {
		struct tsv_value *at;
		size_t n, cap;
	} values; /* of the last row, as many as there are columns */
};

void tsv_free(struct tsv *t);

/*
 * Takes a line without its end, which is changed. 1: t->values is a row, 0: it was of the head.
 * -EBADMSG: this is no line of such a table; -ENOMEM.
 */
int tsv_take(struct tsv *t, char *line, size_t len);

/* What values of a type are; Nullable(...) and LowCardinality(...) do not matter. */
enum tsv_kind tsv_kind_of(const char *type, size_t len);

#endif
