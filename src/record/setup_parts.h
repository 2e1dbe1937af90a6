/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/record: the parts of setup.c. */
#ifndef RECORD_SETUP_PARTS_H
#define RECORD_SETUP_PARTS_H

#include "record/setup.h"

struct maker {
	const struct request *r;
	const struct tracefs *fs;
	const struct setup_options *opt;
	struct setup *s;
	struct tracefs_events events; /* that the kernel has */
	const char *group;	      /* for probes, when the usual one is taken */
	struct probe_lines probes;    /* of all expressions, so that no name is used twice */
	struct spur_error *err;
};

/* Each adds its steps for one buffer and returns 0 or a negative errno after error_set(). */
int setup_functions(struct maker *m, const struct request_buffer *b, const char *instance);
int setup_events(struct maker *m, const struct request_buffer *b, const char *instance, bool own);
int setup_tasks(struct maker *m, const char *instance, bool functions);

/* One step; -ENOMEM after error_set(). */
int setup_step(struct maker *m, enum plan_kind kind, const char *instance, const char *file,
	       const char *text);
int setup_number(struct maker *m, const char *instance, const char *file, uint64_t value);
int setup_no_memory(struct maker *m);

/*
 * Options are files. "noX" turns X off unless there is an option that is really called so. -EINVAL
 * when there is no such option.
 */
#define OPTION_CAP 128
int setup_option_file(const struct tracefs *fs, const char *option, char *file, size_t cap,
		      bool *on, struct spur_error *err);

/* A text in the plan's memory; NULL without any. */
const char *setup_text(struct maker *m, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
