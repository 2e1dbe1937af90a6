/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQL over a folder of traces, or of Parquet files as they are exported, or of both: the tables of
 * a query session have the rows of all files, and the columns `host`, `date` and `trace_id` beside
 * their own.
 *
 * Which files a statement needs is found out before they are opened, as far as that is possible:
 * folders "host=NAME" and "date=YYYY-MM-DD" tell it without opening, otherwise a file's head and
 * the first and last pages of its CPUs are read, once in a session. Of a Parquet file the path also
 * says whose table it has, and row groups outside of limits are passed over.
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
	uint64_t files;		      /* that lie in the folder, whatever they are */
	uint64_t read;		      /* by the last statement */
	uint64_t groups, groups_read; /* the same: row groups of Parquet in these files */
	bool incomplete; /* since the session began something could not be read, and was told */
};
struct fleet_counts query_fleet_counts(const struct query *q);

#endif
