/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words of an expression: [GROUP/][NAME=]PLACE [ARG…].
 *
 * What PLACE means is for each kind of probe to say. In a PLACE that may have slashes (a program's
 * path) a group is only told from it by the '=' behind: "GROUP/NAME=PLACE" or "GROUP/=PLACE".
 */
#ifndef PROBE_EXPR_H
#define PROBE_EXPR_H

#include <spur/error.h>

#include "probe/probe.h"

#define EXPR_MAX 4000 /* bytes: the kernel takes no longer line */

struct expr {
	const char *group; /* NULL: not said */
	const char *name;  /* NULL: not said */
	const char *place;
	char **args;
	size_t n;
	const char *filter; /* of an event probe: what follows the word "if"; or NULL */
};

int expr_parse(enum probe_kind kind, const char *text, struct arena *arena, struct expr *e,
	       struct spur_error *err);

/* Splits "SYMBOL+OFFSET" at the sign; offset is 0 without one. The symbol is cut off in place. */
int expr_offset(char *symbol, uint64_t *offset, struct spur_error *err);

#endif
