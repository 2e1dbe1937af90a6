/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trace data from an open file into one that is being written: what all file commands do. */
#ifndef DAT_COPY_H
#define DAT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

struct dat;
struct dat_buffer;
struct dat_contents;
struct dat_cpu;
struct dat_out;

/* How long work is watched and ended. All of it may be zero. */
struct dat_job {
	const volatile int *stop; /* -EINTR when it becomes non-zero */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *arg;
};

/* Pages on their way to one CPU of a file: written many at a time. */
struct dat_sink {
	struct dat_out *out;
	size_t buffer;
	uint32_t cpu; /* its place in the buffer's list */
	uint32_t page_size;
	uint8_t *pages;
	size_t len, cap;
};

int dat_sink_open(struct dat_sink *s, struct dat_out *out, size_t buffer, uint32_t cpu,
		  uint32_t page_size);

/* The memory for the next page, which counts as written; NULL and *rc when that failed. */
uint8_t *dat_sink_page(struct dat_sink *s, int *rc);

/* Takes the page back that was asked for last. */
void dat_sink_unpage(struct dat_sink *s);

/* Writes what is left, and frees the memory; also after a failure `rc`, which it passes on. */
int dat_sink_close(struct dat_sink *s, int rc);

/*
 * What an open file contains, fit to be written: of a damaged one, what could not be is changed
 * (CPUs that are listed twice, impossible page sizes, buffers of the same name). Buffers keep their
 * order.
 */
int dat_copy_contents(struct dat *from, struct dat_contents *c, struct spur_error *err);

enum dat_copy_how {
	DAT_COPY_EXACT, /* every page as it is; only one whose end is missing is mended */
	DAT_COPY_MEND,	/* what is no page is left out, half records too */
};

/*
 * Copies all trace data of an open file. `to` is being written with the contents of `from`, as
 * dat_copy_contents() gave them. Pages that cannot be read are left out and noted as damage of it.
 */
int dat_copy_data(struct dat *from, const struct dat_contents *c, struct dat_out *to,
		  enum dat_copy_how how, const struct dat_job *job, struct spur_error *err);

#endif
