// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: rows that a ClickHouse server answers. Every line of the input is taken; what comes
 * out lies within it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/clickhouse/select.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_row(const struct tsv *t, const char *line, size_t len)
{
	if (t->lines < 2 || !t->values.n || t->values.n != t->kinds.n || t->values.n > TSV_COLUMNS)
		abort();
	for (size_t i = 0; i < t->values.n; i++) {
		const struct tsv_value *v = &t->values.at[i];

		if (v->null || v->kind != TSV_TEXT)
			continue;
		if (v->text < line || v->text > line + len ||
		    v->len > (size_t)(line + len - v->text))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tsv t = {0};
	size_t at = 0;

	while (at < size) {
		const uint8_t *end = memchr(data + at, '\n', size - at);
		const size_t len = end ? (size_t)(end - data) - at : size - at;
		/* A copy of its own: what is read behind it is found. */
		char *line = malloc(len ? len : 1);
		int rc;

		if (!line)
			abort();
		memcpy(line, data + at, len);
		rc = tsv_take(&t, line, len);
		if (rc == 1)
			check_row(&t, line, len);
		else if (rc != 0 && rc != -EBADMSG && rc != -ENOMEM)
			abort();
		free(line);
		if (rc < 0)
			break;
		at += len + 1;
	}
	tsv_free(&t);
	return 0;
}
