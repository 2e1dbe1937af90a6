/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What to write to which file of tracefs, in order: a plan is made first, then executed or shown.
 */
#ifndef TRACEFS_PLAN_H
#define TRACEFS_PLAN_H

#include "base/arena.h"
#include "tracefs/undo.h"

enum plan_step_kind {
	PLAN_INSTANCE, /* make the instance */
	PLAN_WRITE,    /* write a setting */
	PLAN_APPEND,   /* add to a setting */
	PLAN_LINE,     /* write a line that the line `back` undoes */
	PLAN_ONCE,     /* write something that has no old value, such as emptying a buffer */
};

struct plan_step {
	enum plan_step_kind kind;
	const char *instance; /* "" for the top one */
	const char *file;
	const char *text;
	const char *back;
	bool optional; /* no error if the kernel has no such file */
	/*
	 * If not 0: no error if the kernel refuses this, unless it refuses all steps with this
	 * number.
	 */
	size_t one_of;
};

struct plan {
	struct arena arena; /* everything the steps point at */
	struct plan_step *at;
	size_t n, cap;
};

void plan_init(struct plan *p);
void plan_free(struct plan *p);

/* Strings are copied. Returns the step, to mark it as optional, or NULL without memory. */
struct plan_step *plan_add(struct plan *p, enum plan_step_kind kind, const char *instance,
			   const char *file, const char *text);

/* The same for PLAN_LINE. */
struct plan_step *plan_add_line(struct plan *p, const char *instance, const char *file,
				const char *text, const char *back);

/* Executes it: with an undo log for a while, without one (u NULL) for good. */
int plan_apply(const struct plan *p, const struct tracefs *fs, struct undo *u,
	       struct spur_error *err);

/* Appends it as commands of a shell. */
void plan_show(const struct plan *p, const struct tracefs *fs, struct buf *to);

#endif
