/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/export: what the user has set for an export to Parquet. */
#ifndef EXPORT_PARQUET_CHOICES_H
#define EXPORT_PARQUET_CHOICES_H

#include "base/pattern.h"
#include "export/export.h"

struct pq_choices {
	const char *host, *date; /* NULL: those of the trace */
	int64_t level, group_rows, memory;
	struct {
		struct pq_chosen {
			struct pattern names;
			const char *text;
			size_t len;
			bool met; /* some table has such a name */
		} * at;
		size_t n, cap;
	} tables; /* none: all */
};

/* To be freed in any case. */
int pq_choose(struct pq_choices *c, const struct export_job *job, struct spur_error *err);
void pq_choices_free(struct pq_choices *c);

/* Whether a table is wanted; choices as a pointer to anything, for callbacks. */
bool pq_is_chosen(void *choices, const char *table);

/* Tells the user which names no table has had. */
void pq_choices_tell(const struct pq_choices *c, const struct export_job *job);

#endif
