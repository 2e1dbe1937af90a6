/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/import: what the files of the perf.data import share. The format is perf's own:
 *
 *	u64   "PERFILE2", by whose order of bytes one knows that of the file
 *	u64   size of this head: 104, or 16 in the form for pipes, which has records only
 *	u64   size of an attribute with the place of its ids
 *	      places (u64 offset, u64 size) of the attributes, the records, and event types
 *	      256 bits: which features follow the records, each with a place
 *
 * A record is u32 type, u16 misc, u16 size, and what the type says.
 */
#ifndef IMPORT_PERF_PERF_H
#define IMPORT_PERF_PERF_H

#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "import/import.h"
#include "import/sources.h"

/* What kind of counter an attribute is about. */
enum { PERF_HARDWARE = 0, PERF_SOFTWARE = 1, PERF_TRACEPOINT = 2 };

/* Which parts a sample has, in the order of perf_sample_read(). */
enum {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDR = 1 << 3,
	SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9,
	SAMPLE_RAW = 1 << 10,
	SAMPLE_IDENTIFIER = 1 << 16,
};

struct perf_attr {
	uint32_t type;
	uint64_t config, sample_type, read_format, flags;
	int32_t clock;		    /* its id, when flags say that it was chosen */
	const char *name;	    /* NULL: not known */
	struct import_type type_of; /* of samples that are no tracepoint's */
	struct import_field fields[3];
};

#define ATTR_SAMPLE_ID_ALL (1ull << 18)
#define ATTR_USE_CLOCK	   (1ull << 25)

struct perf_map {
	uint64_t start, end;
	const char *path;
};

struct perf_process {
	int pid, parent;
	vec_of(struct perf_map) maps;
};

struct perf {
	struct import *im;
	const struct source_input *in;
	bool big_endian;
	vec_of(struct perf_attr *) attrs;
	struct map by_id; /* a sample's id: its attribute */

	const char *host, *release, *machine;
	bool has_clock_data;
	uint64_t wall_ns, clock_ns;

	/* Functions of the kernel: where this symbol lay, if that is known. */
	const char *reloc_symbol;
	uint64_t reloc_address;
	bool kernel_stacks;

	struct map processes; /* by pid */
	vec_of(struct perf_process *) all;
	size_t nr_maps;

	struct import_type fork, leave, rename;
	bool has_fork, has_exit, has_rename; /* they are tracepoints of the file's own */
	bool no_cpus;
	uint64_t fallback_ts;	    /* of samples without a time */
	struct perf_unpack *unpack; /* compressed records; NULL: there were none */
	int depth;		    /* of compressed records in compressed records */
};

/* ---- the file ------------------------------------------------------------------------- */

/* A feature by its number. */
void perf_feature(struct perf *p, uint32_t number, struct cursor c);

/* The tracing data: formats of tracepoints. */
void perf_tracing_data(struct perf *p, struct cursor c);

/* ---- records -------------------------------------------------------------------------- */

struct perf_record {
	uint32_t type;
	uint16_t misc;
	struct cursor body;
};

void perf_record(struct perf *p, const struct perf_record *r);

struct perf_sample {
	uint64_t ip, time, addr, id, period;
	uint32_t pid, tid, cpu;
	struct cursor chain; /* of addresses */
	const uint8_t *raw;
	uint32_t raw_size;
	bool has_time, has_cpu, has_chain;
};

/* A sample's parts; false when it is cut. */
bool perf_sample_read(struct perf *p, struct cursor c, struct perf_sample *s,
		      struct perf_attr **attr);

/* What follows other records: when and where they are from. */
void perf_sample_id(const struct perf *p, struct cursor c, struct perf_sample *s);

/* Makes records of a sample. */
void perf_sample_put(struct perf *p, const struct perf_sample *s, struct perf_attr *attr,
		     uint16_t misc);

/* ---- tasks ---------------------------------------------------------------------------- */

void perf_comm(struct perf *p, const struct perf_record *r);
void perf_fork(struct perf *p, const struct perf_record *r, bool leaves);
void perf_mmap(struct perf *p, const struct perf_record *r, bool second);

/* What is known of the machine and of processes goes to the import. */
void perf_put_machine(struct perf *p);
void perf_put_maps(struct perf *p);
void perf_put_symbols(struct perf *p);
void perf_tasks_free(struct perf *p);

#endif
