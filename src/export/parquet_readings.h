/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the Parquet writer's event types: what is read where, and records in a batch. */
#ifndef EXPORT_PARQUET_READINGS_H
#define EXPORT_PARQUET_READINGS_H

#include "base/vec.h"
#include "export/parquet_events.h"

#define PQ_COPY_STEP 16 /* bytes of a record that are copied at a time */
#define NAME_SIZE    16 /* bytes of a task's name in the kernel's records */
#define NAMES	     64 /* such texts that are remembered; a power of two */

enum source {
	FROM_TIME,
	FROM_CPU,
	FROM_PID,
	FROM_NUMBER, /* at a fixed place */
	FROM_NAME,   /* NAME_SIZE characters at a fixed place */
	FROM_KEY,    /* a text that follows from the number `key` reads */
	AT_ONCE,     /* those behind are read when the record comes: */
	FROM_BYTES,  /* a text that follows from the field's bytes */
	FROM_CELL,   /* whatever it is */
	FROM_NONE,   /* the column is constant */
};

/* Arrays that have been seen, and the cells they became. */
struct arrays {
	uint32_t epoch;
	struct pq_texts raw;
	struct {
		uint32_t *at;
		size_t n, cap;
	} cells;
};

/* The same of names, their bytes behind the end included. */
struct names {
	uint32_t epoch;
	struct {
		uint64_t word[NAME_SIZE / 8];
		uint32_t cell; /* 0: nothing is here */
	} at[NAMES];
};

struct reading {
	enum source from, key; /* key: FROM_PID or FROM_NUMBER */
	uint32_t column;
	uint32_t offset, end; /* in the record */
	uint8_t size;
	bool negative;
	const struct cell *cell;
	struct names *names;
	struct arrays *arrays;
};

/* Records whose columns wait to be taken. */
struct batch {
	uint32_t n, most; /* there are, and may be */
	uint32_t copied;  /* bytes of each, in `data` */
	uint64_t cut;	  /* a bit for every record that has fewer bytes than that */
	uint64_t ts[PQ_BATCH], cpu[PQ_BATCH], pid[PQ_BATCH];
	uint32_t size[PQ_BATCH], buffer[PQ_BATCH];
	uint8_t *data;
};

struct pq_events {
	struct pq_table *table;
	struct event *event;
	struct reader *reader;
	bool big_endian;
	struct cells cells;
	struct {
		struct reading *at;
		size_t n, cap;
	} readings;
	struct {
		const struct reading **at;
		size_t n, cap;
	} at_once;
	struct batch batch;
};

/* Takes the columns of all records that wait: `arg` is a struct pq_events. parquet_batch.c */
void pq_events_complete(void *arg);

#endif
