/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Cutting a trace into pieces that are traces themselves.
 *
 * A piece is a run of records in the order of time, or a run on each CPU. It has all that the
 * trace says about itself, and its version and compressor.
 */
#ifndef SCAN_SPLIT_H
#define SCAN_SPLIT_H

#include "dat/copy.h"
#include "scan/trace.h"

enum split_unit { SPLIT_ALL, SPLIT_TIME, SPLIT_EVENTS, SPLIT_PAGES };

/* A buffer that the pieces have. */
struct split_buffer {
	const char *name; /* in the trace; "" is the top one */
	const char *as;	  /* in the pieces */
};

/* A piece that has been written, as reported to the caller. */
struct split_piece {
	const char *path;
	uint64_t events;
	uint64_t first, last; /* times; 0 when there are no events */
};

struct split {
	struct spur_trace *trace;
	const char *output; /* the file; its name's beginning when there are several */
	bool has_start, has_end;
	uint64_t start, end;  /* on the trace's time line, both inclusive */
	enum split_unit unit; /* the unit in which a piece's size is given… */
	uint64_t amount;      /* …and its limit; times are in units of the clock */
	bool repeat;	      /* pieces until the end: OUTPUT.0001, OUTPUT.0002, … */
	bool spare;	      /* a recording that has a piece's name is not overwritten: -EEXIST */
	bool per_cpu;	      /* the limit is for each CPU; always so for pages */
	bool one_cpu;
	uint32_t cpu;			    /* with one_cpu: only this one */
	const struct split_buffer *buffers; /* in the order of the pieces' buffers */
	size_t nr_buffers;		    /* 0: all */
	void (*wrote)(void *arg, const struct split_piece *piece); /* or NULL */
	void *wrote_arg;
	struct dat_job job;
};

/*
 * Writes the pieces. Each gets its name when it is complete. If one fails, those before it stay. A
 * range without events is an error (-EINVAL).
 */
int split_run(const struct split *s, struct spur_error *err);

#endif
