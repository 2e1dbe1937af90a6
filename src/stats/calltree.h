/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tree of calls as text, in the manner of the kernel's own `trace` file of function_graph:
 *
 *	worker-100
 *	    1.000001 |   0)       1.250 us |  vfs_read() {
 *	    1.000001 |   0)       0.200 us |    rw_verify_area();
 *	    1.000002 |   0)       1.250 us |  }
 *
 * with every call of the table `calls` once, and between the calls other events of the task and the
 * times when it was scheduled out. A call's duration is also shown at its begin, so everything
 * inside an outermost call is stored until the call has ended. If that needs too much memory, it is
 * printed earlier, and the duration is only shown at the end.
 */
#ifndef STATS_CALLTREE_H
#define STATS_CALLTREE_H

#include "table/walk.h"
#include "base/pattern.h"
#include "report/emit.h"
#include "scan/select.h"

enum calltree_order {
	/*
	 * One task after the other, by the time of their first calls. Later tasks that do not fit
	 * into memory are read again when it is their turn.
	 */
	CALLTREE_BY_TASK,
	/* Outermost calls in the order of their ends, with a line for the task when it changes. */
	CALLTREE_BY_TIME,
};

struct calltree_options {
	struct walk_options walk; /* its time range is about when calls began */
	enum calltree_order order;
	/* Whether a task is shown; NULL: all are. comm may be NULL. */
	bool (*wanted)(void *arg, int64_t pid, const char *comm);
	void *wanted_arg;
	/* Only calls of functions that one of these matches, with what is inside of them. */
	const struct pattern *functions;
	size_t nr_functions;
	int64_t min;	/* shorter calls are only counted, in ns */
	uint32_t depth; /* so many levels of calls; 0: all */
	/* Which other events are shown; calls in interrupts are selected by it, too. */
	const struct selection *events;
	const struct emit_options *emit; /* how times and events are shown */

	int (*write)(void *arg, const char *data, size_t len);
	void *write_arg;

	/* How many calls and events, and bytes of text, are stored; 0: the default. */
	size_t max_nodes, max_text;
};

struct calltree_result {
	bool any;	 /* there were calls */
	bool incomplete; /* some calls are missing, because too many were open at a time */
};

/* 0, -EINTR after a stop, the negative errno of write(), -E2BIG, -ENOMEM. */
int calltree_run(struct spur_trace *t, const struct calltree_options *opt,
		 struct calltree_result *result, struct spur_error *err);

#endif
