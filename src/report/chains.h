/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call chains by which the function tracer's lines are indented, where one slice ends and the
 * next begins. They depend on all function events before; following these without printing them is
 * many times faster than printing, so a thread first does that for its slice, passes the chains to
 * the next slice, and then prints.
 *
 * Private to src/report.
 */
#ifndef REPORT_CHAINS_H
#define REPORT_CHAINS_H

#include "report/worker.h"

struct chains {
	struct event_printer *of; /* per trace; only their stacks are used */
	size_t nr;
};

int chains_init(struct chains *c, const struct report *rep);
void chains_free(struct chains *c);

/* Copy chains: from one to another, from a worker's printers, and to them. False without memory. */
bool chains_copy(struct chains *to, const struct chains *from);
bool chains_take(struct chains *to, const struct worker *w);
bool chains_give(const struct chains *from, struct worker *w);

/* Whether a worker has printed anything that depends on them. */
bool chains_used(const struct worker *w);

/*
 * Follows all function events from where the worker's lanes stand to the time `end` (or to the very
 * end), and puts the lanes back.
 */
void chains_follow(struct chains *c, struct worker *w, uint64_t end, bool to_end);

#endif
