/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/probe: one expression on its way to lines. Each kind of probe is a function that
 * finds the places and calls request_line() for each of them.
 */
#ifndef PROBE_RESOLVE_H
#define PROBE_RESOLVE_H

#include "probe/fetch.h"
#include "probe/probe.h"

/*
 * The words of an expression: [GROUP/][NAME=]PLACE [ARG…].
 *
 * The kind of probe decides what PLACE is. A PLACE may have slashes (a program's path); then a
 * GROUP is only recognized by the '=' after it: "GROUP/NAME=PLACE" or "GROUP/=PLACE".
 */
#define EXPR_MAX 4000 /* bytes: the kernel does not accept longer lines */

struct probe_expr {
	const char *group; /* NULL: not given */
	const char *name;  /* NULL: not given */
	const char *place;
	char **args;
	size_t n;
	const char *filter; /* of an event probe: the text after "if"; or NULL */
};

/* Splits "SYMBOL+OFFSET" at the sign; offset is 0 without one. The symbol is cut off in place. */
int expr_offset(char *symbol, uint64_t *offset, struct spur_error *err);

#define PROBE_MAX_PLACES 1000 /* of one expression */

struct probe_form;

struct probe_request {
	enum probe_kind kind;
	const struct probe_form *type;
	const struct probe_options *opt; /* never NULL */
	const char *machine;		 /* of the kernel, never NULL */
	struct probe_expr expr;
	struct arena scratch; /* freed when all lines are there */
	struct arena *arena;  /* the caller's, for what stays */
	struct probe_lines *lines;
	struct spur_error *err;
};

struct probe_form {
	const char *name;
	const char *file;
	char letter;
	bool is_return;
	int (*resolve)(struct probe_request *r);
};

int resolve_kernel(struct probe_request *r);
int resolve_user(struct probe_request *r);
int resolve_usdt(struct probe_request *r);
int resolve_event(struct probe_request *r);

/*
 * Adds the line for one place. The event is named after `symbol` if the user has given no name;
 * note may be NULL.
 */
int request_line(struct probe_request *r, const char *symbol, const char *place,
		 const struct fetch_scope *scope, const char *note);

#endif
