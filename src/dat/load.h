/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/dat: what its files share while a trace.dat is being opened.
 *
 * Opening collects into a struct dat_load; when all has been read, the lists move into the arena of
 * the struct dat and never change again. A function that finds an error notes it as damage and
 * continues with the rest; functions here fail only if there is no memory.
 *
 * Blobs point into the memory a section was loaded into. They get the NUL that follows them at the
 * very end (finish_load() in open.c), over bytes that nobody reads any more.
 */
#ifndef DAT_LOAD_H
#define DAT_LOAD_H

#include <errno.h>

#include "base/cursor.h"
#include "base/vec.h"
#include "dat/codec.h"
#include "dat/dat.h"

/* Section and option ids this program knows are below this. */
#define DAT_NR_IDS 32

/* Limits of plausibility, not of the format: no machine or recording has more of these. */
#define DAT_MAX_CPUS	 65536u
#define DAT_MAX_ALL_CPUS 262144u
#define DAT_MAX_BUFFERS	 4096u
#define DAT_MAX_SECTIONS 8192u
#define DAT_MAX_FORMATS	 131072u /* an event's id has 16 bits */
#define DAT_MAX_SYSTEMS	 65536u
#define DAT_MAX_OPTIONS	 262144u

struct dat_load {
	struct dat *d;
	vec_of(struct dat_option) options;
	vec_of(struct dat_section) sections;
	vec_of(struct dat_format) formats;
	vec_of(struct dat_system) systems;
	vec_of(struct dat_buffer) buffers;
	vec_of(struct dat_time_shift) shifts;
	vec_of(struct dat_guest) guests;
	vec_of(struct dat_process) processes;
	vec_of(struct dat_task) tasks;
	uint64_t where[DAT_NR_IDS]; /* version 7: offsets of sections by id, from the options */
	uint64_t section;	    /* the one whose options are being read */
	uint64_t stored;    /* where what is being parsed lies compressed; 0 if it does not */
	uint64_t wanted;    /* the end of what a parser needed when its bytes ran out */
	uint32_t cpu_count; /* CPUCOUNT; 0 when there was none */
	size_t nr_all_cpus; /* in all buffers so far */
	uint64_t walked;    /* where walking from section to section ended */
};

/* ---- open.c --------------------------------------------------------------------------- */

/* Reads up to n bytes, fewer only at the end of the file; negative errno. */
int64_t dat_read(const struct dat *d, void *to, size_t n, uint64_t offset);

/* A copy of a string that ends at its first NUL or after n bytes; "" without memory. */
const char *dat_text(struct dat *d, const void *text, size_t n);

/* A new buffer at the end of the list, or NULL. */
struct dat_buffer *dat_buffer_add(struct dat_load *l, const char *name, uint64_t offset);

/* Memory for n CPUs of a buffer; false when there cannot be so many. */
bool dat_buffer_cpus(struct dat_load *l, struct dat_buffer *b, uint64_t n);

/* ---- metadata.c ----------------------------------------------------------------------- */

/* The tables of a file, in the order of version 6. */
#define DAT_NR_TABLES 6

struct dat_table {
	unsigned int id;  /* of its section in version 7 */
	const char *name; /* for messages */
	/* False when the bytes end too early; what was complete up to there is kept. */
	bool (*parse)(struct dat_load *l, struct cursor *c);
};

extern const struct dat_table dat_tables[DAT_NR_TABLES];

/* The next n bytes; false when they are not all there, and l->wanted then says what was missing. */
bool dat_take_blob(struct dat_load *l, struct cursor *c, uint64_t n, struct dat_blob *blob);

/*
 * Reads options up to their end. False when that does not come; else next is the offset of the next
 * options (version 7) or 0.
 */
bool dat_parse_options(struct dat_load *l, struct cursor *c, uint64_t *next);

/* Whether an option describes the layout of a file. Such options are not copied. */
bool dat_is_layout(unsigned int id);

/* Decodes the options collected so far. */
void dat_decode_options(struct dat_load *l);

/* The name in brackets of "local [global] counter …"; "" without one. */
const char *dat_clock_selected(struct dat *d, const char *clocks, size_t n);

/* ---- options.c ------------------------------------------------------------ */

/* Each decodes an option; false if its data are invalid. */
bool dat_decode_maps(struct dat_load *l, const struct dat_option *o, struct cursor *c);
bool dat_decode_tasks(struct dat_load *l, const struct dat_option *o, struct cursor *c);
bool dat_decode_followed(struct dat_load *l, const struct dat_option *o, struct cursor *c);
bool dat_decode_filters(struct dat_load *l, const struct dat_option *o, struct cursor *c);
bool dat_decode_hidden(struct dat_load *l, const struct dat_option *o, struct cursor *c);
bool dat_decode_cut(struct dat_load *l, const struct dat_option *o, struct cursor *c);

/* Sorts the tasks, once all of them have been decoded. */
void dat_sort_tasks(struct dat_load *l);

/* Adds the children of the tasks that were followed, once all tasks are known. */
void dat_find_followed(struct dat_load *l);

/* Notes what CUT says as damage, once everything else is known. */
void dat_note_cut(struct dat *d);

/* ---- pages.c -------------------------------------------------------------------------- */

#define DAT_CHUNK_PAGES 10 /* of a chunk that is full, as trace-cmd makes them */

/* An empty index of one CPU's compressed data. */
struct dat_chunks *dat_chunks_new(struct dat *d);
void dat_chunks_free(struct dat_chunks *c);

/* ---- v6.c, v7.c, unfinished.c --------------------------------------------------------- */

int dat_load_v6(struct dat_load *l, uint64_t start);
int dat_load_v7(struct dat_load *l, uint64_t start);

/* Finds trace data that no option describes. */
void dat_recover_buffers(struct dat_load *l);

#endif
