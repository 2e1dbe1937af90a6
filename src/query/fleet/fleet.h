/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL over a folder of traces, or of Parquet files as they are exported, or of both: the tables of
 * a query session have the rows of all files, and the columns `host`, `date` and `trace_id` beside
 * their own.
 *
 * If possible, files that a statement does not need are not opened: folders "host=NAME" and
 * "date=YYYY-MM-DD" show what they contain. Otherwise a file's head and the first and last pages of
 * its CPUs are read, once in a session. The path of a Parquet file also shows which table it has,
 * and row groups outside of limits are skipped.
 */
#ifndef QUERY_FLEET_FLEET_H
#define QUERY_FLEET_FLEET_H

#include "query/query.h"

struct fleet_options {
	const char *path;     /* a folder, or one file */
	unsigned int threads; /* that read files, 1 at least */
};

/* Makes a session without traces one over the folder. */
int query_add_fleet(struct query *q, const struct fleet_options *opt, struct spur_error *err);

struct fleet_counts {
	uint64_t files;		      /* in the folder, of any type */
	uint64_t read;		      /* by the last statement */
	uint64_t groups, groups_read; /* the same: row groups of Parquet in these files */
	bool incomplete; /* since the session began something could not be read, and was reported */
};
struct fleet_counts query_fleet_counts(const struct query *q);

#endif
