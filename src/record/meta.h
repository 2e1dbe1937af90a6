/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The metadata of a trace of the live kernel: formats, symbols, options. They are collected when a
 * recording begins; some are only known at its end and collected then.
 *
 * Private to src/record.
 */
#ifndef RECORD_META_H
#define RECORD_META_H

#include "base/arena.h"
#include "dat/write.h"
#include "record/setup.h"

struct maps;

struct meta_options {
	bool all_formats; /* also those of events that are not recorded */
	bool date;	  /* map times to wall time */
	bool has_ts_offset;
	int64_t ts_offset;
	const char *const *hooks; /* of --profile, up to a NULL; or NULL */
	bool tsc2nsec;
	const struct maps *maps; /* of processes, taskinfo.h; or NULL */
};

/* The kernel's symbols that a file has. */
enum meta_symbols { META_NONE, META_FUNCTIONS, META_ALL };

struct meta {
	const struct tracefs *fs;
	const struct setup *setup;
	struct undo *undo;
	struct meta_options opt;
	struct arena arena;
	struct arena last;  /* memory for the results of the last meta_end() */
	struct arena *into; /* the one that is being filled */
	struct buf symbols;
	enum meta_symbols which, least; /* the symbols that it has, and the least that it needs */
	struct dat_contents contents;
	uint32_t *cpus; /* CPUs that the kernel has buffers of */
	uint32_t nr_cpus;
	struct {
		struct dat_out_option *at;
		size_t n, cap;
	} options;
	size_t nr_lasting; /* options of the beginning */
};

/*
 * Collects everything that is known before the first event. The setup has been applied. Settings
 * that this changes for a moment are in the undo log.
 */
int meta_begin(struct meta *m, const struct tracefs *fs, const struct setup *setup,
	       struct undo *undo, const struct meta_options *opt, struct spur_error *err);

/*
 * For files that would be too long: leaves out some of the symbols. False if there are none, or if
 * the rest is needed.
 */
bool meta_can_shrink(const struct meta *m);
bool meta_shrink(struct meta *m);

/* Collects statistics and maps, when no more events come. taskinfo_put() adds names of tasks. */
int meta_end(struct meta *m, struct spur_error *err);
void meta_free(struct meta *m);

/* The ring buffer's time of the oldest event that is in no file yet, or UINT64_MAX. */
uint64_t meta_oldest(const struct meta *m);

/* How many events the kernel dropped or overwrote in all buffers. */
int meta_lost(const struct meta *m, uint64_t *lost);

/* ---- for the other files of src/record ---- */

/* Adds an option whose data are copied. */
int meta_option(struct meta *m, uint16_t id, const void *data, size_t size, struct spur_error *err);

/* Adds the options of the end: statistics, maps of processes. */
int meta_last_options(struct meta *m, struct spur_error *err);

/*
 * Puts the tasks whose events are recorded, as the kernel has them now, in the form of the file's
 * option. False if all tasks are.
 */
bool meta_followed(const struct meta *m, struct buf *text);

/* The number after a word in a CPU's statistics; false if there is none. */
bool meta_stat(const struct tracefs *fs, const char *instance, uint32_t cpu, const char *word,
	       uint64_t *value);

#endif
