/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings: what is worth a look in a trace. A finding is a query: a file of findings/, which the
 * build puts into the program, or a user's file in ~/.config/spur/findings. spur-info(1) describes
 * the columns of such a query.
 */
#ifndef QUERY_FINDINGS_H
#define QUERY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/vec.h"
#include "query/saved.h"
#include "scan/trace.h"

#define FINDING_NONE INT64_MIN /* a number that a row does not have */

enum finding_unit {
	FINDING_NS, /* ticks, if the trace's clock does not count nanoseconds */
	FINDING_COUNT,
	FINDING_BYTES,
	NR_FINDING_UNITS,
};

/* A row of a finding. */
struct finding_row {
	int64_t value; /* FINDING_NONE: not known */
	enum finding_unit unit;
	int64_t ts;   /* when; FINDING_NONE: it is about the whole trace */
	int64_t dur;  /* duration, if that is not the value */
	int64_t cpu;  /* where */
	int64_t pid;  /* the task, … */
	char *comm;   /* … and its name; NULL: none */
	char *buffer; /* that it was recorded in; NULL or "": the top one */
	char *text;   /* a description */
};

struct finding {
	char *name;			 /* of its file */
	char *about;			 /* from its first line, or "" */
	vec_of(struct finding_row) rows; /* in the order of the query: the most severe first */
	/*
	 * If not NULL: the query has no result, because the trace has no events of these types; and
	 * the options of `spur record` that record them.
	 */
	char *needs, *record;
	struct spur_error err; /* if its code is not 0, the query is wrong, and there are no rows */
};

/* In the order of the shipped ones, then the user's others by name. */
struct findings {
	struct finding *at;
	size_t n, cap;
};

struct findings_options {
	const char *names;	  /* "NAME,NAME": only these; NULL: all */
	uint64_t rows;		  /* of each finding, at most */
	const volatile int *stop; /* ends early when it becomes non-zero; may be NULL */
	/* Called now and then with how much has been read for a finding; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/*
 * Runs the queries. If one fails, its finding has the error, and the others still run. -EINVAL if
 * there is no finding of a given name; -EINTR after a stop; -ENOMEM. Call findings_free() in any
 * case.
 */
int findings_make(struct spur_trace *t, const struct findings_options *opt, struct findings *out,
		  struct spur_error *err);
void findings_free(struct findings *f);

/* Those of findings/, up to one without a name, in their order. Written by tools/embed. */
extern const struct saved_query shipped_findings[];

#endif
