/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From a request to a plan: which files of tracefs are written, and in which order. Afterwards
 * everything is ready but off; one write to tracing_on of each buffer turns it on.
 */
#ifndef RECORD_SETUP_H
#define RECORD_SETUP_H

#include "record/request.h"
#include "tracefs/plan.h"

struct setup_buffer {
	const char *name;     /* in the file */
	const char *instance; /* in tracefs, "" for the top level; NULL: it has none */
	bool made;	      /* by the plan */
};

/* An event whose format is needed to read the trace. */
struct setup_event {
	const char *system, *name;
};

struct setup {
	struct plan plan;
	struct setup_buffer *buffers;
	size_t nr_buffers;
	struct {
		struct setup_event *at;
		size_t n, cap;
	} events;
	struct {
		const char **at;
		size_t n, cap;
	} notes; /* for the user: what was left out of probes */
};

struct setup_options {
	const char *main; /* where the main buffer is: an instance to be made, or "" */
	bool main_exists; /* it has been made already */
	pid_t command;	  /* of the command to be run, 0: not known yet */
	bool force;	  /* use the top-level buffer even if others use it */
	bool for_good;	  /* nothing is private or restored, and what was on is turned off … */
	bool additional;  /* … unless this is set: only the requested settings are written */
};

/* Everything in the setup lives in its plan's arena. setup_free() also after an error. */
int setup_make(const struct request *r, const struct tracefs *fs, const struct setup_options *opt,
	       struct setup *s, struct spur_error *err);
void setup_free(struct setup *s);

/* Whether the request's main buffer is used at all. */
bool setup_wants_main(const struct request *r);

/*
 * Whether a setup must use the top-level buffer instead of a private instance (which exists),
 * because only the former has the tracer or a file. `why` is its name.
 */
bool setup_needs_top(const struct setup *s, const struct request *r, const struct tracefs *fs,
		     const char *instance, const char **why);

/*
 * Options are files. "noX" turns X off, unless there is an option with the name "noX". -EINVAL if
 * there is no such option.
 */
#define SETUP_OPTION_CAP 128
int setup_option_file(const struct tracefs *fs, const char *option, char *file, size_t cap,
		      bool *on, struct spur_error *err);

/* ---- settings that stay: `spur start` and `spur set`; all of them are made, or none ---- */

struct start_options {
	bool additional; /* only the requested settings; nothing is emptied or turned on or off */
	const struct string_refs *remove; /* instances to be removed first, or NULL */
	char *const *command;		  /* run once all is set, up to a NULL; or NULL */
	const char *user;		  /* who runs it, NULL: the same */
	bool leave;			  /* do not wait for its end */
	/* Called, with a NULL for arg, with what was left out; or NULL. */
	void (*note)(void *arg, const char *text);
};

int start_run(const struct tracefs *fs, const struct request *r, const struct start_options *opt,
	      struct spur_error *err);

/* What start_run() would write, as commands of a shell. */
int start_show(const struct tracefs *fs, const struct request *r, const struct start_options *opt,
	       struct buf *to, struct spur_error *err);

#endif
