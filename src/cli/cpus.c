// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CPU 65535

void cpu_list_free(struct cpu_list *list)
{
	free(list->bits);
	*list = (struct cpu_list){0};
}

static bool set_cpu(struct cpu_list *list, unsigned long cpu)
{
	if (cpu >= list->nr) {
		uint32_t nr = (uint32_t)(cpu / 64 + 1) * 64;
		uint64_t *bits = realloc(list->bits, nr / 8);

		if (!bits)
			return false;
		memset((char *)bits + list->nr / 8, 0, (nr - list->nr) / 8);
		list->bits = bits;
		list->nr = nr;
	}
	list->bits[cpu / 64] |= 1ull << (cpu % 64);
	return true;
}

int cpu_list_add(struct cpu_list *list, const struct opt *opt, const char *arg)
{
	const char *p = arg;

	do {
		unsigned long first, last;
		char *end;

		while (isspace((unsigned char)*p))
			p++;
		if (!isdigit((unsigned char)*p))
			return opt_error(opt, "'%s' is no list of CPUs", arg);
		first = last = strtoul(p, &end, 10);
		if (*end == '-') {
			if (!isdigit((unsigned char)end[1]))
				return opt_error(opt, "'%s' is no list of CPUs", arg);
			last = strtoul(end + 1, &end, 10);
		}
		if (first > last || last > MAX_CPU)
			return opt_error(opt, "'%s' is no list of CPUs", arg);
		for (; first <= last; first++)
			if (!set_cpu(list, first))
				return -ENOMEM;
		if (*end == ',' || *end == ':')
			end++;
		p = end;
	} while (*p);
	return 0;
}
