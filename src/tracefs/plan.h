/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to be written to which file of tracefs, in order: decided first, done or shown
 * afterwards.
 */
#ifndef TRACEFS_PLAN_H
#define TRACEFS_PLAN_H

#include "base/arena.h"
#include "tracefs/undo.h"

enum plan_kind {
	PLAN_INSTANCE, /* make the instance */
	PLAN_WRITE,    /* write a setting */
	PLAN_APPEND,   /* add to a setting */
	PLAN_LINE,     /* write a line that `back` takes back */
	PLAN_ONCE,     /* write what has no old value: empty a buffer */
};

struct plan_step {
	enum plan_kind kind;
	const char *instance; /* "" for the top one */
	const char *file;
	const char *text;
	const char *back;
	bool optional; /* it does not matter when the kernel has no such file */
	/* Nor when it refuses this, unless it refuses all steps with the number; 0: it does. */
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
struct plan_step *plan_add(struct plan *p, enum plan_kind kind, const char *instance,
			   const char *file, const char *text);

/* The same for PLAN_LINE. */
struct plan_step *plan_add_line(struct plan *p, const char *instance, const char *file,
				const char *text, const char *back);

/* Does it, for a while with an undo log, for good without one (u NULL). */
int plan_apply(const struct plan *p, const struct tracefs *fs, struct undo *u,
	       struct spur_error *err);

/* As commands of a shell. */
void plan_show(const struct plan *p, const struct tracefs *fs, struct buf *to);

#endif
