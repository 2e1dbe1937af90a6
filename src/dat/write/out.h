/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/dat: what the files that write trace.dat files share.
 *
 *	out.c       the interface, and a second file that takes the place of one being written
 *	encode.c    tables, options and trace data as bytes
 *	v6.c, v7.c  where they stand in a file, and how it becomes a finished one
 *	regions.c   places for the trace data, DAT_OPT_REGIONS, file systems without holes
 *	pack.c      removing the holes
 *	reopen.c    finishing what another process began
 *
 * A struct dat_out has a copy of what it needs of the contents' buffers; tables, names and options
 * are given anew when the file is finished.
 */
#ifndef DAT_WRITE_OUT_H
#define DAT_WRITE_OUT_H

#include <stdatomic.h>

#include "base/buf.h"
#include "dat/unfinished.h"
#include "dat/write.h"

/* Space for what a recording may learn until its end, in addition to what was requested. */
#define OUT_SPARE_NAMES	   (16u << 10)
#define OUT_SPARE_OPTIONS  4096
#define OUT_SPARE_EACH_CPU 256 /* statistics */

/* The trace data of a CPU; its other data are at the same index of dat_out.table. */
struct out_region {
	_Atomic uint64_t size; /* bytes so far, as they are stored */
	uint32_t page_size;
	uint64_t started; /* of these, how many the kernel has been told to write out */

	/* Compressed data: pages that wait for others, and the chunk made of them. */
	void *encoder;
	uint8_t *waiting, *chunk;
	size_t nr_waiting;
	uint32_t nr_chunks;

	int spill; /* the file its data wait in, -1 for none */
};

struct out_buffer {
	char *name, *clock;
	uint32_t page_size;
	uint32_t *cpus;
	uint32_t nr_cpus;
	bool is_text;
	uint32_t first;	  /* its first region */
	uint64_t section; /* version 7: of its section's header; 6: of its "flyrecord" */
};

struct out_format;

struct dat_out {
	int fd;
	int ballast; /* a file that takes some space of the disk, or -1 */
	char *name;
	const struct out_format *format;
	unsigned int version;
	bool big_endian;
	unsigned int long_size;
	uint32_t page_size;
	uint32_t nr_cpus;
	const struct dat_codec *codec; /* NULL for none */
	bool sparse;
	bool spilling;
	_Atomic uint64_t spilled; /* bytes, of all regions */
	size_t cmdlines_room, options_room;
	bool updated;	       /* version 7: the reserve has names and tasks in it */
	unsigned int left_out; /* version 7: the option for which there is no room; 0: none */

	struct out_buffer *buffers;
	size_t nr_buffers;
	struct dat_regions table;
	struct out_region *regions;
	uint32_t nr_begun; /* without holes: regions that have a place */
	uint64_t front;	   /* where what stands in front of the data ends */

	uint64_t where[DAT_NR_IDS]; /* version 7: offsets of sections by id */
	uint64_t pointer;	    /* version 7: of the offset of the options */
	uint64_t options;   /* version 7: of the preliminary options' section; 6: of the options */
	uint64_t cmdlines;  /* version 6: of the names' text */
	uint64_t top_table; /* version 6: of the first "flyrecord" */
	void (*progress)(void *arg, uint64_t done, uint64_t total); /* or NULL */
	void *progress_arg;
	uint64_t moved, to_move;
	struct buf names; /* version 6: memory for all there is room for; 7: as they are stored */
};

/* What differs between the versions. */
struct out_format {
	unsigned int version;
	uint32_t lead; /* bytes in front of a buffer's data that go with them */

	/* Writes everything up to the trace data, and places these. */
	int (*create)(struct dat_out *o, const struct dat_contents *c, struct spur_error *err);

	/* Writes what has to stand in front of a buffer's data at that offset. */
	int (*begin_buffer)(struct dat_out *o, struct out_buffer *b, uint64_t offset);

	/* Writes names, and who the tasks are, as far as there is room; see dat_out_update(). */
	int (*update)(struct dat_out *o, const struct dat_contents *c);

	/* The data are in their final places: writes the rest and makes the file a finished one. */
	int (*finish)(struct dat_out *o, const struct dat_contents *c, struct spur_error *err);
};

extern const struct out_format out_v6, out_v7;

/* ---- out.c ---------------------------------------------------------------------------- */

/* All n bytes, or a negative errno. */
int out_write(const struct dat_out *o, const void *data, size_t n, uint64_t offset);
int out_write_number(const struct dat_out *o, uint64_t v, unsigned int size, uint64_t offset);

/*
 * Appends bytes to a region as they are to be stored. When not all can be written, a multiple of
 * `unit` counts as written.
 */
int out_append(struct dat_out *o, uint32_t i, const void *data, size_t n, size_t unit);

void out_free(struct dat_out *o);

/* Everything after the last page: pack.c, then the format's finish. Frees o. */
int out_finish(struct dat_out *o, const struct dat_contents *c, struct spur_error *err);

/* ---- encode.c ------------------------------------------------------------------------- */

void out_put(const struct dat_out *o, struct buf *b, uint64_t v, unsigned int size);
void out_store(const struct dat_out *o, void *at, uint64_t v, unsigned int size);
void out_put_string(struct buf *b, const char *s);

/* The tables in the order of version 6; the last one is the names of tasks. */
struct out_table {
	unsigned int id;  /* of its section in version 7 */
	const char *name; /* in the strings of version 7 */
	void (*put)(const struct dat_out *o, struct buf *b, const struct dat_contents *c);
};

extern const struct out_table out_tables[DAT_NR_TABLES];

/* The first fields of a file, up to the page size. */
void out_put_head(const struct dat_out *o, struct buf *b, uint32_t page_size);

void out_put_option(const struct dat_out *o, struct buf *b, unsigned int id, const void *data,
		    size_t size);

/* Those of the contents that are the caller's business; `but` is left out. */
void out_put_options(const struct dat_out *o, struct buf *b, const struct dat_contents *c,
		     unsigned int but);

/* How many bytes options may take at the end when they take so many now. */
size_t out_options_room(const struct dat_out *o, size_t now);

/* ---- regions.c ------------------------------------------------------------------------ */

/* The payload of DAT_OPT_REGIONS: how long it is, and the bytes of it when it stands at offset. */
size_t out_regions_size(const struct dat_out *o);
void out_put_regions(struct dat_out *o, struct buf *b, uint64_t offset);

/* Writes the table again, all but the stage; then the stage alone. */
int out_write_regions(const struct dat_out *o);
int out_write_stage(struct dat_out *o, enum dat_stage stage);

/* Gives each region its place after `end`, where the metadata end. */
int out_place_regions(struct dat_out *o, uint64_t end, struct spur_error *err);

/* Fails if the metadata need more space than they leave for the data. */
int out_check_room(const struct dat_out *o, struct spur_error *err);

/*
 * Reserves some space of the disk for the end, once everything in front of the data is written; and
 * gives it back.
 */
void out_place_ballast(struct dat_out *o);
void out_drop_ballast(struct dat_out *o);

/* Without holes: places everything up to region i and closes what is before it. */
int out_begin_region(struct dat_out *o, uint32_t i);

uint32_t out_region_index(const struct dat_out *o, size_t buffer, uint32_t cpu);

static inline uint64_t out_align(uint64_t v, uint64_t unit)
{
	return (v + unit - 1) & ~(unit - 1);
}

/* Where the trace data end. */
uint64_t out_data_end(const struct dat_out *o);

/* ---- pack.c --------------------------------------------------------------------------- */

/* Moves the regions together. 0, or a negative errno when the table cannot be written. */
int out_pack(struct dat_out *o);

/* Copies inside the file, or from another one; they must not overlap. */
int out_copy(const struct dat_out *o, int from, uint64_t at, uint64_t n, uint64_t to);

/* Compressing. */

/* A block of metadata: u32 stored size, u32 full size, data. */
int out_put_compressed(const struct dat_out *o, struct buf *b, const void *data, size_t n);

/* Text in chunks, their number in front. */
int out_put_text_chunks(const struct dat_out *o, struct buf *b, const void *data, size_t n);

int out_compress_pages(struct dat_out *o, uint32_t i, const void *pages, size_t n);

/* Writes the pages that wait. */
int out_flush_region(struct dat_out *o, uint32_t i);

/* Where a file cannot have holes. */

/*
 * How many of n bytes may be appended to a region, a multiple of `unit`, and takes these off what
 * is left. 0 if that is all of them, or why it is not.
 */
int out_spill_claim(struct dat_out *o, uint32_t i, size_t *n, size_t unit);

/* Puts the data one after the other into the file, those that are not there yet. */
int out_spill_finish(struct dat_out *o);

#endif
