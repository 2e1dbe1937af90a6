/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/cli: `spur report`, its options, and the traces it has opened. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/strings.h"
#include "cli/cli.h"
#include "cli/range.h"
#include "report/columns.h"
#include "report/report.h"
#include "scan/trace.h"

struct report_filter {
	const char *text;
	bool unwanted;
};

/* One -i, with the options that follow it and belong to it. */
struct report_input {
	const char *path;
	int64_t ts_offset;
	uint64_t ts_hz;
	vec_of(struct report_filter) filters;
	struct spur_trace *trace;
};

struct report_options {
	vec_of(struct report_input) inputs;
	struct report_input early; /* options given before the first input */
	bool several;		   /* more than one -i */
	bool negate;		   /* a -v has been seen */

	/* What to show instead of records. */
	bool show_endian, show_page_size, show_functions, show_printk, show_events;
	bool print_formats, check_events, show_cpus, show_first, show_last;
	bool show_stat, show_uname, show_version, test_filters;
	const char *print_format;

	/* How to show records. */
	struct emit_options emit;
	bool json, csv;
	const char *fields;
	bool wakeup, profile, ts_check;
	struct string_refs raw_events, plain_events, plugin_options, hooks;
	bool no_user_plugins, by_comm, global;

	/* Which records. */
	struct cpu_list cpus;
	bool no_irqs, no_softirqs;
	struct string_refs pids, comms;
	const char *since, *until;
	int64_t head, tail;

	/* Time. */
	bool no_date, raw_ts, align_ts;
	uint64_t ts_hz; /* of inputs that have none of their own */

	/* The tree of calls. */
	bool graph, graph_by_time;
	int64_t graph_min;
	uint32_t graph_depth;
	struct globs graph_functions;

	const char *kallsyms;
	const char *colour;
	const char *compat;
	bool no_pager, progress, quiet;
	int64_t threads;
};

/* Opens all inputs. The exit status, after a message when it is not 0. */
int report_open_inputs(struct report_options *o);

/* Of a struct report_options: closes and frees the inputs, and what options have allocated. */
void report_free(void *options);

/* Adds an input of that path; options given before the first one belong to it. 0 or -ENOMEM. */
int report_add_input(struct report_options *o, const char *path);

/* Marks the events that -r and -n name. The exit status, after a message when it is not 0. */
int report_mark_events(const struct report_options *o, const struct report_input *in);

/* --align-ts: the earliest record of the inputs' top buffers is time 0. */
void report_align(struct report_options *o);

/* What lines of an input begin with when there are several. */
const char *report_label(const struct report_input *in);

struct report_sources {
	struct emit_source *at;
	size_t n, cap;
};

/*
 * The top buffers of all inputs first, then their instances, which is the order of equal times.
 * Says in the options whether and how wide lines are labelled. False without memory.
 */
bool report_collect_sources(struct report_options *o, struct report_sources *s);

/* The outputs that are not records. True when one was asked for; *status is then the result. */
bool report_show(struct report_options *o, struct report_input *in, int *status);

/* --cpus, --first-event, --last-event for one input. */
void report_show_cpus(const struct report_options *o, const struct report_input *in);

/* --stat, --uname, --version after the line "cpus=". */
void report_show_facts(const struct report_options *o, const struct report_input *in);

/* The lines that come before all others: one for every hook, the user's and the files'. */
int report_show_hooks(const struct report_options *o, struct spur_error *err);

/* --profile: what is shown instead of records. */
int report_profile(const struct report_options *o, const struct report *rep,
		   struct spur_error *err);

/* The next part of "a,b,c", which is not empty; moves *at past it. False when there is none. */
bool report_next_part(const char **at, const char **part, size_t *len);

/* --since and --until, as the traces count time. -EINVAL with words. */
int report_times(const struct report_options *o, uint64_t *since, uint64_t *until,
		 struct spur_error *err);

/* --cpu, --since and --until for a walk, which Ctrl-C ends. -EINVAL with words. */
int report_walk(const struct report_options *o, struct walk_options *w, struct spur_error *err);

/* Filters of all inputs, from -F, -v, --pid and --comm. */
int report_make_filters(struct report_options *o, struct selection *sel, struct spur_error *err);
void report_free_filters(struct selection *sel);

/* --graph: what is shown instead of records. The exit status. */
int report_graph(struct report_options *o);

/* ---- options.c: options of plugins, as libtraceevent and trace-cmd call them ---- */

struct plugin_option {
	const char *plugin, *name, *help;
	size_t offset; /* in struct event_options */
	bool normally; /* the default */
	bool turned;   /* the field is inverted */
};

/* The last one has no plugin. */
extern const struct plugin_option plugin_options[];

/* Prints them, and those of users' plugins, as trace-cmd does. */
void plugin_options_print(void);

#endif
