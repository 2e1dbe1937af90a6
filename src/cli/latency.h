/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: `spur latency`, its options and what it shows. */
#ifndef CLI_LATENCY_H
#define CLI_LATENCY_H

#include "cli/range.h"
#include "scan/trace.h"
#include "stats/latency.h"
#include "stats/why.h"

struct latency_command {
	struct range_options range; /* first: options that other commands have too */
	const char *from, *to, *match, *period;
	const char *by, *sort;
	bool first, no_hist, each, ns, json, csv, script;
	int64_t top, worst;
	bool explain; /* why the worst ones waited */
	uint64_t around, linear, live, interval;
	bool is_live;
};

/* What is shown, and of what. */
struct latency_shown {
	const struct latency_command *o;
	struct latency *latency;
	const char *name, *about; /* "wakeup", "from … until …" */
	struct spur_trace *trace; /* NULL: it is live */
	enum latency_order order;
	uint64_t forgotten; /* pairs that did not fit */
	bool ticks;	    /* the clock counts something else than nanoseconds */
	bool stopped;	    /* Ctrl-C: it is not all */
};

/* Appends everything; lines around the worst ones are read for it. 0 or a negative errno. */
int latency_put_text(const struct latency_shown *s, struct buf *to, struct spur_error *err);
int latency_put_json(const struct latency_shown *s, struct buf *to, struct spur_error *err);
void latency_put_csv(const struct latency_shown *s, struct buf *to);

/* The lines of the report from so long before a worst one began until so long after it ended. */
int latency_put_around(const struct latency_shown *s, const struct latency_worst *w, struct buf *to,
		       struct spur_error *err);

#endif
