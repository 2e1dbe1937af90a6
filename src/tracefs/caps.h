/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this kernel offers for tracing, and to whom: a table of capabilities, each with a function
 * that finds out. An answer says what there is, or why there is not and what to do about it.
 *
 * Finding out changes nothing. Some answers need an instance, which is made when the first one is
 * asked for and removed by caps_free().
 */
#ifndef TRACEFS_CAPS_H
#define TRACEFS_CAPS_H

#include "tracefs/tracefs.h"

enum cap_state {
	CAP_NO,
	CAP_PARTLY, /* there, with a restriction or something to know about it */
	CAP_YES,
};

struct cap_answer {
	enum cap_state state;
	char what[256];	  /* what was found, or why not */
	char advice[256]; /* what to do about it; "" when there is nothing to do */
};

struct caps; /* what probing shares */

struct cap {
	const char *group;
	const char *name; /* one word, for scripts: "kprobes" */
	const char *title;
	void (*probe)(struct caps *c, const struct cap *cap, struct cap_answer *a);
	const char *file;   /* what the general probes look for */
	const char *config; /* what a kernel needs to be built with */
	bool essential;	    /* nothing can be recorded without it */
	bool elsewhere;	    /* has nothing to do with tracefs */
};

/* All of them, by group; the last one has no name. */
extern const struct cap caps_table[];

/* The capability of that name, or NULL. */
const struct cap *cap_find(const char *name);

/* fs is NULL when there is no tracefs, or none that is mounted; why_not then says so. */
int caps_new(const struct tracefs *fs, const struct spur_error *why_not, struct caps **out,
	     struct spur_error *err);
void caps_free(struct caps *c);

void cap_probe(struct caps *c, const struct cap *cap, struct cap_answer *a);

/*
 * 0 when the kernel has the capability of that name, else -ENOTSUP with the reason and the advice:
 * for those who need it and were refused.
 */
int cap_require(const struct tracefs *fs, const char *name, struct spur_error *err);

#endif
