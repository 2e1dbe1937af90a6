// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Numbers of records over all files, and of rows.
 *
 * Each index numbers its own records. The number over all files of a record is how many records all
 * of them have before its time; the record of a number is found by halving the time between.
 */
#include <errno.h>

#include "base/error.h"
#include "view/ask.h"

#define NEAR 2048 /* records that may be read to get to one */

static int not_yet(int rc, struct spur_error *err)
{
	if (rc == -EAGAIN)
		return error_set(err, rc, "this part of the trace is not indexed yet");
	return error_set(err, rc, "the index does not answer");
}

static const struct view_file *file_with_records(const struct view *v, size_t i)
{
	const struct view_file *f = view_file(v, i);

	return f && f->trace && f->index && view_index_origin(f->index) != UINT64_MAX ? f : NULL;
}

uint64_t ask_total(struct view *v)
{
	uint64_t total = 0;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = file_with_records(v, i);

		total += f ? view_index_records(f->index) : 0;
	}
	return total;
}

int ask_ordinal(struct view *v, uint64_t ts, uint64_t *n, struct spur_error *err)
{
	*n = 0;
	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = file_with_records(v, i);
		uint64_t origin, before;
		int rc;

		if (!f)
			continue;
		origin = view_index_origin(f->index);
		if (ts <= origin)
			continue;
		rc = view_index_ordinal(f->index, ts - origin, &before);
		if (rc < 0)
			return not_yet(rc, err);
		*n += before;
	}
	return 0;
}

/* The only file that has records, NULL: there are several, or none. */
static const struct view_file *only_file(const struct view *v)
{
	const struct view_file *only = NULL;

	for (size_t i = 0; i < view_nr_files(v); i++) {
		const struct view_file *f = file_with_records(v, i);

		if (f && only)
			return NULL;
		only = f ? f : only;
	}
	return only;
}

/* Halves [low, high) until few records are left between `low` and the one that is sought. */
static int halve(struct view *v, uint64_t n, uint64_t *first, uint64_t *ts, struct spur_error *err)
{
	uint64_t low = view_origin(v), high = low + view_duration(v) + 1, before = 0;

	while (n - before > NEAR && high - low > 1) {
		const uint64_t middle = low + (high - low) / 2;
		uint64_t at;
		int rc = ask_ordinal(v, middle, &at, err);

		if (rc < 0)
			return rc;
		if (at > n) {
			high = middle;
		} else {
			low = middle;
			before = at;
		}
	}
	*first = before;
	*ts = low;
	return 0;
}

int ask_seek(struct view *v, uint64_t n, uint64_t *first, uint64_t *ts, struct spur_error *err)
{
	const struct view_file *f = only_file(v);
	int rc;

	*first = 0;
	*ts = view_origin(v);
	/* The beginning can be read without an index. */
	if (n <= NEAR)
		return 0;
	if (!f)
		return halve(v, n, first, ts, err);
	rc = view_index_seek(f->index, n, first, ts);
	if (rc < 0)
		return not_yet(rc, err);
	*ts += view_index_origin(f->index);
	return 0;
}

int64_t ask_task_row(struct view *v, uint32_t file, uint32_t buffer, int64_t pid)
{
	const struct view_file *f = file_with_records(v, file);
	const int64_t row = f ? view_index_find_task(f->index, buffer, pid) : -1;

	return row < 0 ? -1 : view_row_number(v, file, (uint32_t)row);
}

int64_t ask_cpu_row(struct view *v, uint32_t file, uint32_t buffer, uint32_t cpu)
{
	const struct view_file *f = file_with_records(v, file);
	const uint32_t rows = f ? view_index_rows(f->index) : 0;
	struct view_row r;

	for (uint32_t i = 0; i < rows; i++)
		if (view_index_row(f->index, i, &r) && r.kind == VIEW_CPU_ROW &&
		    r.buffer == buffer && r.number == cpu)
			return view_row_number(v, file, i);
	return -1;
}
