/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel offers for tracing to this user: a table of capabilities, each with a function
 * that checks it. An answer says what there is, or why it is missing and what to do about it.
 *
 * The checks change no settings. Some need an instance, which is made for the first of them and
 * removed by caps_free().
 */
#ifndef TRACEFS_CAPS_H
#define TRACEFS_CAPS_H

#include "tracefs/tracefs.h"

enum cap_state {
	CAP_NO,
	CAP_PARTLY, /* there, but with a restriction */
	CAP_YES,
};

struct cap_answer {
	enum cap_state state;
	char what[256];	  /* what was found, or why not */
	char advice[256]; /* what to do about it; "" when there is nothing to do */
};

struct caps; /* the state that checks share */

struct cap {
	const char *group;
	const char *name; /* one word, for scripts: "kprobes" */
	const char *title;
	void (*probe)(struct caps *c, const struct cap *cap, struct cap_answer *a);
	const char *file;   /* the file that general checks look for */
	const char *config; /* what a kernel needs to be built with */
	bool essential;	    /* recording is impossible without it */
	bool elsewhere;	    /* does not belong to tracefs */
};

/* All of them, by group; the last one has no name. */
extern const struct cap caps_table[];

/* The capability of that name, or NULL. */
const struct cap *cap_find(const char *name);

/* fs is NULL if there is no tracefs, or it is not mounted; then why_not has the message. */
int caps_new(const struct tracefs *fs, const struct spur_error *why_not, struct caps **out,
	     struct spur_error *err);
void caps_free(struct caps *c);

void cap_probe(struct caps *c, const struct cap *cap, struct cap_answer *a);

/*
 * 0 if the kernel has the capability of that name, else -ENOTSUP with the reason and the advice.
 * For callers for which something has failed.
 */
int cap_require(const struct tracefs *fs, const char *name, struct spur_error *err);

#endif
