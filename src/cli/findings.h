/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: findings of a trace on the terminal or as JSON. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

struct spur_trace;

struct findings_shown {
	const char *names; /* "NAME,NAME"; "": all */
	int64_t rows;	   /* of each */
	bool json, colour;
};

/* Looks for them and prints them. Returns the exit status. */
int findings_show(struct spur_trace *t, const struct findings_shown *o);

#endif
