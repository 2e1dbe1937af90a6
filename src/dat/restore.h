/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Restoring what a crash has left: files that are cut off, and pages without a file.
 *
 * trace-cmd collects the pages of each CPU in a file of its own, OUTPUT.cpu3 (of an instance:
 * OUTPUT.NAME.cpu3), and makes a trace.dat of them when the recording ends. If it is killed,
 * these files are left.
 */
#ifndef DAT_RESTORE_H
#define DAT_RESTORE_H

#include "base/arena.h"
#include "dat/copy.h"

struct dat_contents;
struct dat_out_options;

/* ---- a file --------------------------------------------------------------------------- */

enum dat_restored {
	DAT_RESTORED_NOTHING,  /* it is complete */
	DAT_RESTORED_FINISHED, /* spur's own: it was finished where it lies */
	DAT_RESTORED_WRITTEN,  /* it was written again without what is missing */
};

struct dat_restore {
	const char *output; /* NULL: in place */
	struct dat_job job;
	enum dat_restored done; /* result */
	int damage;		/* result: what was wrong, negative errno; 0 if nothing was */
	char damage_text[300];	/* result: in words */
};

/*
 * Finishes a file, or writes one with all that can be read. In place only when nothing is lost by
 * that: a file that is not merely cut off is refused without an output.
 */
int dat_restore_file(const char *path, struct dat_restore *r, struct spur_error *err);

/* Whether a file begins as a trace.dat does. */
bool dat_restore_is_trace(const char *path);

/* ---- pages without a file ------------------------------------------------------------- */

struct dat_leftover {
	const char *path;
	const char *instance; /* "" for the top buffer */
	uint32_t cpu;
	uint64_t pages, bad; /* results: that were written, that were none */
};

/* Whether a file has a name like that of a CPU's pages: "trace.dat.cpu0". */
bool dat_leftover_is_called(const char *path);

/*
 * What the names of leftovers say about them, sorted by instance and CPU. Names that say nothing
 * are taken as CPU 0, 1, … in the given order. Two files for one CPU are an error.
 */
int dat_leftovers_sort(struct dat_leftover *files, size_t n, struct arena *a,
		       struct spur_error *err);

/* Writes a file with these data; the buffers of the contents are replaced by theirs. */
int dat_restore_pages(const char *path, const struct dat_out_options *opt,
		      const struct dat_contents *contents, struct dat_leftover *files, size_t n,
		      const struct dat_job *job, struct spur_error *err);

#endif
