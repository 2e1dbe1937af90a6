/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One expression on its way to lines. Each kind of probe is a function that finds the places and
 * calls request_line() for each of them.
 */
#ifndef PROBE_RESOLVE_H
#define PROBE_RESOLVE_H

#include "probe/expr.h"
#include "probe/fetch.h"
#include "probe/probe.h"

#define PROBE_MAX_PLACES 1000 /* of one expression */

struct probe_type;

struct request {
	enum probe_kind kind;
	const struct probe_type *type;
	const struct probe_options *opt; /* never NULL */
	const char *machine;		 /* of the kernel, never NULL */
	struct expr expr;
	struct arena scratch; /* freed when all lines are there */
	struct arena *arena;  /* the caller's, for what stays */
	struct probe_lines *lines;
	struct spur_error *err;
};

struct probe_type {
	const char *name;
	const char *file;
	char letter;
	bool is_return;
	int (*resolve)(struct request *r);
};

int resolve_kernel(struct request *r);
int resolve_user(struct request *r);
int resolve_usdt(struct request *r);
int resolve_event(struct request *r);

/*
 * Adds the line for one place. symbol is what the event is called after when the user has given no
 * name; note may be NULL.
 */
int request_line(struct request *r, const char *symbol, const char *place,
		 const struct fetch_scope *scope, const char *note);

#endif
