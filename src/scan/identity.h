/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The identity of a trace in a store of many: the machine that recorded it, and a number computed
 * from its content. The number does not depend on the file's path, name or compression.
 */
#ifndef SCAN_IDENTITY_H
#define SCAN_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "scan/trace.h"

#define IDENTITY_NAME 128

struct identity {
	char host[IDENTITY_NAME];   /* the machine's name; "unknown" */
	char kernel[IDENTITY_NAME]; /* its release, "" when it is not known */
	char trace_id[33];	    /* hexadecimal */
	const char *clock;	    /* of the top buffer; lives as long as the trace */
	bool has_wall;		    /* times are nanoseconds since 1970 */
	uint64_t date; /* seconds since 1970: when the trace begins, or else the file's time */
	uint64_t first, last; /* of records, about: those of the CPUs' first and last pages */
};

/* The n-th word (from 0) of a text like uname's; it is not terminated. */
const char *identity_word(const char *text, int n, size_t *len);

/* -ENOMEM, or the negative errno of reading. */
int identity_make(struct identity *id, struct spur_trace *t, struct spur_error *err);

#endif
