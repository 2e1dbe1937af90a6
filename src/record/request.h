/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a user wants to trace, before anything is looked up in the kernel.
 *
 * A request lists buffers. The first one is the main one, which the file calls ""; where it is in
 * the kernel (a private instance or the top-level buffer) is decided by setup.c. The others are
 * instances with the names the user gave them.
 *
 * All strings are the caller's and live as long as the request.
 *
 * Private to src/record.
 */
#ifndef RECORD_REQUEST_H
#define RECORD_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/strings.h"
#include "probe/probe.h"

enum request_event_kind {
	WANT_EVENTS, /* `text` says which: "sched", "sched_switch", "syscall:openat", globs */
	WANT_PROBE,  /* `text` is an expression of probe/probe.h */
	WANT_SYNTH,  /* `text` is a line for synthetic_events */
};

struct request_event {
	enum request_event_kind kind;
	enum probe_kind probe;
	const char *text;
	const char *filter; /* or NULL */
	struct string_refs triggers;
	bool exclude;  /* not to be recorded, whatever other entries say; triggers are still set */
	bool may_lack; /* no error if there are none */
};

struct request_buffer {
	const char *name; /* "" for the main one */
	struct {
		struct request_event *at;
		size_t n, cap;
	} events;
	size_t last;		      /* index of the first event that the last option has added */
	const char *tracer;	      /* NULL: none */
	const char *clock;	      /* NULL: as it is */
	const char *cpumask;	      /* hexadecimal, or NULL: all */
	struct string_refs functions; /* -l: globs, or regular expressions with ^ or $ */
	struct string_refs graph;     /* -g */
	struct string_refs hidden;    /* -n */
	struct string_refs options;   /* "stacktrace", "nograph-time" */
	uint64_t size_kb;	      /* per CPU; 0: as it is */
	uint64_t page_kb;	      /* of sub-buffers; 0: as it is */
};

struct request {
	struct {
		struct request_buffer *at;
		size_t n, cap;
	} buffers; /* never empty */

	/* Which tasks are traced. */
	struct {
		pid_t *at;
		size_t n, cap;
	} pids;
	bool only_command;  /* -F */
	bool children;	    /* -c: of those above, too */
	bool with_recorder; /* --no-filter: do not hide the recorder itself */

	/* For tracers. */
	const char *module;	    /* functions of this module only */
	uint64_t max_graph_depth;   /* 0: no limit */
	uint64_t thresh_us;	    /* tracing_thresh; 0: none */
	bool function_stacks;	    /* --func-stack */
	bool no_functions;	    /* -d */
	bool no_functions_anywhere; /* -D */
	uint64_t cmdlines;	    /* saved_cmdlines_size; 0: as it is */

	bool top_level;	     /* the main buffer is the top-level one in any case */
	bool ignore_missing; /* -i: events that do not exist */
	const char *command; /* that will be run, or NULL; probes are searched in it */
};

/* The buffer that options refer to: the last one. NULL without memory. */
struct request_buffer *request_buffer(struct request *r);

/* Starts another buffer. */
struct request_buffer *request_add_buffer(struct request *r, const char *name);

/* Adds events to the last buffer. */
struct request_event *request_add_event(struct request *r, enum request_event_kind kind,
					const char *text);

/*
 * Adds the events and settings of a preset ("sched", "irq", …) to the last buffer. -ENOENT when
 * there is none of that name; the list of names, separated by blanks, is request_presets().
 */
int request_add_preset(struct request *r, const char *name);
const char *request_presets(void);

/*
 * Adds the events that `report --profile` needs. With `graph` also the function_graph tracer, one
 * level deep, if the buffer has no tracer yet. 0 or -ENOMEM.
 */
int request_add_profile(struct request *r, bool graph);

void request_free(struct request *r);

#endif
