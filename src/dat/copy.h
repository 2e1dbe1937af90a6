/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Copying an open file into one that is being written, which all file commands do: unchanged, as
 * another version, with another compressor, or without damaged parts.
 */
#ifndef DAT_COPY_H
#define DAT_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "base/newfile.h"
#include "dat/dat.h"

struct dat;
struct dat_buffer;
struct dat_contents;
struct dat_cpu;
struct dat_out;

/* For long work: reporting its progress and stopping it. All members may be zero. */
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

/* Removes the page that was requested last. */
void dat_sink_unpage(struct dat_sink *s);

/* Writes what is left, and frees the memory; also after a failure `rc`, which it passes on. */
int dat_sink_close(struct dat_sink *s, int rc);

/*
 * What an open file contains, in a form that can be written: of a damaged one, errors are corrected
 * (CPUs that are listed twice, impossible page sizes, buffers of the same name). Buffers keep their
 * order.
 */
int dat_copy_contents(struct dat *from, struct dat_contents *c, struct spur_error *err);

/*
 * Adds to these contents of an open file, if its recorder was killed before it finished the file,
 * that the recording is cut: until when it has the events of each CPU; how many are missing is
 * unknown. 0 also if there is nothing to add.
 */
int dat_copy_cut(struct dat *from, struct dat_contents *c, struct spur_error *err);

enum dat_copy_how {
	DAT_COPY_EXACT, /* every page as it is; only a page whose end is missing is repaired */
	DAT_COPY_MEND,	/* what is not a page is left out, and so are incomplete records */
};

/*
 * Copies all trace data of an open file. `to` is being written with the contents of `from`, as
 * dat_copy_contents() gave them. Pages that cannot be read are left out and noted as damage of it.
 */
int dat_copy_data(struct dat *from, const struct dat_contents *c, struct dat_out *to,
		  enum dat_copy_how how, const struct dat_job *job, struct spur_error *err);

/* ---- whole files ---------------------------------------------------------------------- */

struct dat_convert {
	unsigned int version;	 /* 6 or 7; 0: that of the input */
	const char *compression; /* "none", "zlib", "zstd", "any"; NULL: that of the input */
	enum dat_copy_how how;
	/*
	 * Called with the contents before they are written, to change them; what it adds lives as
	 * long as the input, in its arena. May be NULL.
	 */
	int (*edit)(void *arg, struct dat *from, struct dat_contents *c, struct spur_error *err);
	void *edit_arg;
	bool replace_cut_off; /* an input that is cut off may be replaced by its readable part */
	struct dat_job job;
};

/*
 * Writes all that an open file says and contains into another one, which may be the same: it gets
 * its name when it is complete. What cannot be read is missing in it and noted as damage of the
 * input; such an input is not replaced.
 */
int dat_convert(struct dat *from, const char *path, const struct dat_convert *opt,
		struct spur_error *err);

/* The same up to the name, which newfile_keep() then gives it; newfile_drop() gives it up. */
int dat_convert_beside(struct dat *from, const char *path, const struct dat_convert *opt,
		       struct newfile *file, struct spur_error *err);

/* Whether a path leads to the open file itself. */
bool dat_is_file(const struct dat *d, const char *path);

/*
 * ---- attach.c: guests ----
 *
 * Connects the traces of a guest and its host afterwards, as if they had been recorded together.
 *
 * The host's file gets an option GUEST: which of its tasks ran which CPU of the guest. The guest's
 * gets TIME_SHIFT, how its times become the host's, and TSC2NSEC when the host has it. Both refer
 * to the other by its TRACEID, which is made up where there is none.
 */

/* A CPU of the guest and the host's task that ran it. */
struct dat_vcpu {
	uint32_t cpu;
	int32_t pid;
};

struct dat_attach {
	struct dat *host, *guest;
	const struct dat_vcpu *vcpus;
	uint32_t nr_vcpus;
	/* The correction of each of the guest's CPUs; the last one holds for those that follow. */
	const struct dat_time_sample *shifts;
	uint32_t nr_shifts; /* at least 1 */
	uint32_t nr_cpus;   /* of the guest; 0: as many as its file says */
	const char *name;   /* of the guest; "" for none */
	struct dat_job job;
};

/*
 * Writes both files again and replaces what they said about each other before. Neither is replaced
 * unless both could be written. The opened files remain the old ones.
 */
int dat_attach(const struct dat_attach *a, struct spur_error *err);

#endif
