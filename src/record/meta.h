/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trace of the live kernel has to say about itself: formats, symbols, options.
 * Gathered when a recording begins; what is only known at its end is gathered again then.
 */
#ifndef RECORD_META_H
#define RECORD_META_H

#include "base/arena.h"
#include "dat/write.h"
#include "record/setup.h"

struct maps;

struct meta_options {
	bool all_formats; /* of events that are not recorded, too */
	bool date;	  /* map times to wall time */
	bool has_ts_offset;
	int64_t ts_offset;
	const char *const *hooks; /* of --profile, up to a NULL; or NULL */
	bool tsc2nsec;
	const struct maps *maps; /* of processes, taskinfo.h; or NULL */
};

/* Which of the kernel's symbols a file has. */
enum meta_symbols { META_NONE, META_FUNCTIONS, META_ALL };

struct meta {
	const struct tracefs *fs;
	const struct setup *setup;
	struct undo *undo;
	struct meta_options opt;
	struct arena arena;
	struct arena last;  /* of what meta_end() finds, the last time it was called */
	struct arena *into; /* the one that is being filled */
	struct buf symbols;
	enum meta_symbols which, least; /* that it has, and that it cannot do without */
	struct dat_contents contents;
	uint32_t *cpus; /* that the kernel has buffers of */
	uint32_t nr_cpus;
	struct {
		struct dat_out_option *at;
		size_t n, cap;
	} options;
	size_t nr_lasting; /* options that were there at the beginning */
};

/*
 * Everything that can be known before the first event. setup has been applied; what is changed
 * for a moment to find out is in the undo log.
 */
int meta_begin(struct meta *m, const struct tracefs *fs, const struct setup *setup,
	       struct undo *undo, const struct meta_options *opt, struct spur_error *err);

/*
 * For files that get too long: has the contents do without some of the symbols. False when they
 * have none, or need those that are left.
 */
bool meta_can_shrink(const struct meta *m);
bool meta_shrink(struct meta *m);

/* Statistics and maps, when no more events come. Names of tasks are added by taskinfo_put(). */
int meta_end(struct meta *m, struct spur_error *err);
void meta_free(struct meta *m);

/* The time of the oldest event that no file has yet, as the ring buffer has it; or UINT64_MAX. */
uint64_t meta_oldest(const struct meta *m);

/* How many events the kernel dropped or overwrote in all buffers. */
int meta_lost(const struct meta *m, uint64_t *lost);

/* ---- for the other files of src/record ---- */

/* Adds an option whose data are copied. */
int meta_option(struct meta *m, uint16_t id, const void *data, size_t size, struct spur_error *err);

/* Adds the options of the end: statistics, maps of processes. */
int meta_last_options(struct meta *m, struct spur_error *err);

/* A number of a CPU's statistics, after that word; false when there is none. */
bool meta_stat(const struct tracefs *fs, const char *instance, uint32_t cpu, const char *word,
	       uint64_t *value);

#endif
