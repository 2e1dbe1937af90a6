/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sorting records by CPU and time, however many there are.
 *
 * Records gather in memory until there are SPOOL_RUN bytes; then they are sorted and written to a
 * nameless file as a run. In the end the runs of each CPU are merged. Records of one CPU and time
 * keep the order in which they came.
 *
 * Private to src/import.
 */
#ifndef IMPORT_SPOOL_H
#define IMPORT_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

#define SPOOL_RUN (32u << 20)

/* Whose record it is: the buffer above, the CPU below. */
static inline uint64_t spool_key(uint32_t buffer, uint32_t cpu)
{
	return (uint64_t)buffer << 32 | cpu;
}

struct spool_item {
	uint64_t key, ts;
	size_t at; /* in the memory of the run; increases, so it is the order of coming, too */
};

/* The records of one key in a run. */
struct spool_part {
	uint64_t key, offset, size;
	uint32_t run;
};

struct spool {
	struct buf data; /* of the run that is being gathered */
	vec_of(struct spool_item) items;
	vec_of(struct spool_part) parts;
	int fd; /* of the file with runs; -1: none yet */
	uint64_t written;
	uint32_t runs;
	struct buf sorted; /* a run on its way to the file */
};

struct spool_record {
	uint64_t ts;
	int64_t lost; /* before it: 0, a count, or -1 for some; a loss alone has size 0 */
	uint32_t size;
	const uint8_t *data;
};

/*
 * A nameless file: in $TMPDIR, or where a process that may not write there has a folder of its own,
 * which it names in $SQLITE_TMPDIR. A negative errno: none.
 */
int spool_file(void);

void spool_init(struct spool *s);
void spool_free(struct spool *s);

/* 0 or a negative errno. */
int spool_add(struct spool *s, uint64_t key, const struct spool_record *r);

/* No more will come. Afterwards the parts are sorted by key. */
int spool_seal(struct spool *s);

/* ---- reading what was gathered -------------------------------------------------------- */

struct spool_source {
	const struct spool *spool;
	struct spool_part part; /* what is left of it */
	uint8_t *window;
	size_t cap, len, pos; /* of the window */
	struct spool_record now;
};

struct spool_reader {
	struct spool_source *sources;
	uint32_t *heap; /* those that have a record, the earliest first */
	size_t nr, nr_heap;
	bool started;
};

/* The records of a key, whose parts are those of that number and the next ones. */
int spool_read(const struct spool *s, size_t first, size_t nr, struct spool_reader *r);

/* 1: a record, valid until the next call; 0: there is none; or a negative errno. */
int spool_next(struct spool_reader *r, struct spool_record *to);
void spool_read_end(struct spool_reader *r);

#endif
