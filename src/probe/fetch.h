/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/probe: the arguments that a probe fetches, in the kernel's syntax.
 *
 *	ARG     [NAME=]FETCH[:TYPE] | *
 *	FETCH   +OFFSET(FETCH) | -OFFSET(FETCH)     memory; +uOFFSET: of the process
 *	        %REGISTER | $VARIABLE | @ADDRESS | @SYMBOL[+OFFSET] | \NUMBER | \"TEXT"
 *	        PARAMETER { ->MEMBER | .MEMBER | [NUMBER] }
 *
 * The first two lines are the kernel's own syntax. The third is translated, and adds its type.
 */
#ifndef PROBE_FETCH_H
#define PROBE_FETCH_H

#include <spur/error.h>

#include "symbols/abi.h"
#include "symbols/types.h"

/* Limits of the kernel. */
#define FETCH_MAX	63 /* letters of one argument without its name */
#define FETCH_MAX_NAME	31
#define FETCH_MAX_ARGS	128
#define FETCH_MAX_ARRAY 64

/* The names that are known at the place of the probe. */
struct fetch_scope {
	const char *what;	   /* the function or probe, for messages */
	const struct abi *abi;	   /* NULL: not known */
	const struct proto *proto; /* NULL: nothing is known about its parameters */
	const char *unknown;	   /* …because of this */
	bool kernel;		   /* registers, memory and symbols are the kernel's */
	bool entry;		   /* at a function's first instruction: $argN are in place */
	bool is_return;
	bool fields; /* $NAME is an event's field */

	/*
	 * The place of a variable of the probed file, as for PLACE_FILE; NULL: the kernel finds it.
	 */
	int (*symbol)(void *arg, const char *name, int64_t *offset, uint64_t *size,
		      struct spur_error *err);
	void *arg;
	struct arena *arena;
};

/*
 * Appends " ARG" for each argument; without arguments, for all known parameters. `notes` lists
 * parameters that had to be skipped. -EINVAL if an argument is wrong.
 */
int fetch_args(const struct fetch_scope *scope, char *const *args, size_t n, struct buf *out,
	       struct buf *notes, struct spur_error *err);

#endif
