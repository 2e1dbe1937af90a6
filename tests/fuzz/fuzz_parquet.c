// SPDX-License-Identifier: GPL-2.0-or-later
/* libFuzzer: a Parquet file: its footer, what that says of values, and all columns. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/parquet/parquet.h"

#define FUZZ_ROWS    100000 /* that are read of a file, which may say that it has any number */
#define FUZZ_COLUMNS 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every value is touched: what is not there would be noticed. */
static uint64_t touch(const struct parquet_column *c, const struct parquet_values *v, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t row = 0; row < n; row++) {
		const uint32_t i = v->ids ? v->ids[row] : row;

		if (v->missing && v->missing[row])
			continue;
		if (c->kind != PARQUET_TEXT)
			sum += (uint64_t)v->numbers[i];
		for (uint32_t k = 0; c->kind == PARQUET_TEXT && k < v->texts[i].len && k < 64; k++)
			sum += (uint8_t)v->texts[i].at[k];
	}
	return sum;
}

static uint64_t bounds(const struct parquet *p, uint32_t group)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < parquet_nr_columns(p); i++) {
		struct parquet_bounds b;

		parquet_bounds(p, group, i, &b);
		sum += (uint64_t)b.min + (uint64_t)b.max;
		for (uint32_t k = 0; k < b.least.len; k++)
			sum += (uint8_t)b.least.at[k];
		for (uint32_t k = 0; k < b.most.len; k++)
			sum += (uint8_t)b.most.at[k];
	}
	return sum;
}

/* A column by itself and beside the one before, so that what is wrong with one ends only that. */
static uint64_t read_column(struct parquet *p, uint32_t column)
{
	const uint32_t list[] = {column, column ? column - 1 : 0};
	struct parquet_rows *r = parquet_rows_new(p, list, 1 + column % 2);
	uint64_t sum = 0, rows = 0;

	if (!r)
		abort();
	for (uint32_t g = 0; g < parquet_nr_groups(p) && rows < FUZZ_ROWS; g++) {
		struct spur_error err = {0};
		/* Runs of millions are slow, and no different from those of thousands. */
		const bool large = parquet_group_rows(p, g) > FUZZ_ROWS;
		int n, rc = large ? -1 : parquet_rows_group(r, g, &err);

		while (rc == 0 && rows < FUZZ_ROWS && (n = parquet_rows_next(r, &err)) > 0) {
			/* Some pages are passed over. */
			for (uint32_t i = 0; rc == 0 && rows % 7 < 5 && i < 1 + column % 2; i++) {
				struct parquet_values v;

				rc = parquet_rows_get(r, i, &v, &err);
				if (rc == 0)
					sum += touch(parquet_column(p, list[i]), &v, (uint32_t)n);
			}
			rows += (uint32_t)n;
		}
	}
	parquet_rows_free(r);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct spur_error err = {0};
	struct parquet *p;
	volatile uint64_t sum = 0;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (parquet_open(fd, &p, &err) < 0)
		return 0;
	for (uint32_t g = 0; g < parquet_nr_groups(p) && g < FUZZ_COLUMNS; g++)
		sum += bounds(p, g);
	for (uint32_t i = 0; i < parquet_nr_columns(p) && i < FUZZ_COLUMNS; i++)
		sum += read_column(p, i);
	parquet_close(p);
	(void)sum;
	return 0;
}
