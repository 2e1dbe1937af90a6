/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Questions to the running kernel: what latency.h and fieldhist.h compute from a trace, as scripts
 * (script/script.h) whose aggregations happen in the kernel. Here is what both need to write such a
 * script: the events of the kernel, and expressions over their fields.
 */
#ifndef MEASURE_LIVE_H
#define MEASURE_LIVE_H

#include "table/selector.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "tracefs/tracefs.h"

struct script_options;

/* The events that a question is about, with their formats. */
struct live_events {
	struct tracefs fs;
	struct tracefs_events all;
	struct events *events;
	vec_of(struct buf) texts; /* the formats' texts */
	size_t added;
};

/* live_events_close() is due in any case. */
int live_events_open(struct live_events *le, struct spur_error *err);
void live_events_close(struct live_events *le);

/* As selector_parse(), of the kernel's events. */
int live_choice(struct live_events *le, const struct selector_text *text, struct event_selector *c,
		struct spur_error *err);

/* Appends what a field (or pid, comm, cpu of whoever runs) is called in a script. */
int live_put_field(struct buf *to, struct event *e, const char *name, size_t len,
		   struct spur_error *err);

/*
 * Appends a filter's expression as one of a script. -EINVAL for what scripts cannot do: regular
 * expressions, globs, names of functions.
 */
int live_put_filter(struct buf *to, struct event *e, const char *filter, size_t len,
		    struct spur_error *err);

/* Whom the answer is about. */
struct live_who {
	const char *const *pids; /* lists "100,200-210" */
	size_t nr_pids;
	const struct pattern *comms;
	size_t nr_comms;
	const uint64_t *cpus; /* a bit each; NULL: all */
	uint32_t nr_cpus;
};

/* Appends a condition over these expressions of a script; "1" when everybody is meant. */
int live_put_who(struct buf *to, const struct live_who *who, const char *pid, const char *comm,
		 const char *cpu, struct spur_error *err);

struct vtype;

/* A number in a map, of up to 8 bytes. */
int64_t live_number(const struct vtype *t, const uint8_t *v);

/* Appends the probe of a timer. */
void live_put_interval(struct buf *to, uint64_t ns);

/*
 * Compiles and runs a script that was written here, and whose maps are read by opt->map(). What is
 * wrong with it is put into err, the rest is as of script_run().
 */
int live_script_run(struct script_options *opt, const struct buf *text, struct spur_error *err);

#endif
