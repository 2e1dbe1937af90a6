/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of CPUs on the command line: "0,2-4". */
#ifndef CLI_CPUS_H
#define CLI_CPUS_H

#include "cli/opts.h"

struct cpu_list {
	uint64_t *bits; /* NULL: none was given */
	uint32_t nr;	/* bits there are; CPUs beyond are not in the list */
};

/*
 * Adds a list to one, separated by commas or colons, ranges upwards; 0 or as an OPT_CALL returns.
 */
int cpu_list_add(struct cpu_list *list, const struct opt *opt, const char *arg);
void cpu_list_free(struct cpu_list *list);

#endif
