// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * libFuzzer: the text of a query of sqlhist, over events that are always the same. The first byte
 * chooses options.
 */
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "../unit/sql_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What goes to the kernel is one line, and what takes it back is known. */
static void check_plan(const struct plan *p)
{
	if (!p->n)
		abort();
	vec_each (s, p)
		if (s->kind != PLAN_LINE || !*s->text || strchr(s->text, '\n') || !*s->back)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const save[] = {"next_comm", "call_site"};
	static struct sql_schema schema;
	struct spur_error err = {0};
	struct sql_mistake mistake;
	struct plan plan;
	struct buf out;
	char *query;
	uint8_t bits;

	if (!schema.arg)
		schema = sql_events_schema();
	if (!size)
		return 0;
	bits = data[0];
	query = malloc(size);
	if (!query)
		abort();
	memcpy(query, data + 1, size - 1);
	query[size - 1] = '\0';
	const struct sql_options opt = {
		.name = "x",
		.instance = bits & 1 ? "mine" : NULL,
		.when = bits >> 1 & 3 ? (bits >> 1 & 3) - 1 : SQL_ALWAYS,
		.column = "lat",
		.trace = bits >> 3 & 1,
		.snapshot = bits >> 4 & 1,
		.save = save,
		.nr_save = bits >> 5 & 1,
	};

	plan_init(&plan);
	buf_init(&out, 1 << 20);
	if (sql_plan(query, &opt, bits >> 7 ? NULL : &schema, &plan, &mistake, &err) == 0) {
		check_plan(&plan);
	} else {
		if (!err.code || !*err.text || mistake.offset > strlen(query))
			abort();
		sql_point(&out, query, &mistake);
	}
	buf_free(&out);
	plan_free(&plan);
	free(query);
	return 0;
}
