/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains of calls and how often they came: `trace-cmd hist` and `spur calls --chains`. */
#ifndef CLI_CHAINS_H
#define CLI_CHAINS_H

#include <stdbool.h>

struct spur_trace;

/* Prints them; buffer: only that one, NULL: all. Returns the exit status. */
int chains_show(struct spur_trace *t, const char *buffer, bool all_tasks);

#endif
