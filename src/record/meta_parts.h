/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/record: the parts of meta.c. */
#ifndef RECORD_META_PARTS_H
#define RECORD_META_PARTS_H

#include "dat/tracing.h"
#include "record/meta.h"

int meta_no_memory(struct spur_error *err);

/* A file of tracefs (or of the machine) in the arena, terminated. */
int meta_read(struct meta *m, const char *instance, const char *file, struct dat_span *to,
	      struct spur_error *err);

/* Formats of ftrace's own events, and of those that are recorded. */
int meta_formats(struct meta *m, struct spur_error *err);

/* The kernel's symbols, as far as anything in the trace may refer to them. */
int meta_symbols(struct meta *m, struct spur_error *err);

/* Adds an option whose data are copied. */
int meta_option(struct meta *m, uint16_t id, const void *data, size_t size, struct spur_error *err);

/* Options of the beginning: clock, machine, program, identity … */
int meta_first_options(struct meta *m, struct spur_error *err);

/* … and of the end: statistics, maps of processes. */
int meta_last_options(struct meta *m, struct spur_error *err);

/* A number of a CPU's statistics, after that word; false when there is none. */
bool meta_stat(const struct tracefs *fs, const char *instance, uint32_t cpu, const char *word,
	       uint64_t *value);

/* Nanoseconds between the clock of the trace and the time of day. */
int meta_date(struct meta *m, struct spur_error *err);

/* What turns ticks of the TSC into nanoseconds. */
int meta_tsc(struct meta *m, struct spur_error *err);

#endif
