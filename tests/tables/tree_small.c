// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints the tree of calls as `spur report -t --graph` does, but with little memory:
 *
 *	tree_small FILE task|time NODES BYTES
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/calltree.h"

static int print(void *arg, const char *data, size_t len)
{
	return fwrite(data, 1, len, stdout) == len ? 0 : -1;
}

int main(int argc, char **argv)
{
	const struct emit_options emit = {.nanosec = true};
	const struct trace_options how = {0};
	struct calltree_options opt = {.emit = &emit, .write = print};
	struct calltree_result result;
	struct spur_error err = {0};
	struct spur_trace *t;
	int rc;

	if (argc != 5)
		return 1;
	opt.order = strcmp(argv[2], "time") == 0 ? CALLTREE_BY_TIME : CALLTREE_BY_TASK;
	opt.max_nodes = strtoul(argv[3], NULL, 10);
	opt.max_text = strtoul(argv[4], NULL, 10);
	rc = trace_open(argv[1], &how, &t, &err);
	if (rc == 0) {
		rc = calltree_run(t, &opt, &result, &err);
		trace_close(t);
	}
	if (rc < 0 || result.incomplete)
		fprintf(stderr, "%s\n", rc < 0 ? err.text : "incomplete");
	return rc < 0;
}
