/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Private to src/dat: what its files share while a trace.dat is being opened.
 *
 * Opening collects into a struct dat_load; when all has been read, the lists move into the arena of
 * the struct dat and never change again. Whoever finds something wrong notes it as damage and goes
 * on with what is left; a function here fails only for want of memory.
 *
 * Blobs point into the memory a section was loaded into. They get the NUL that follows them at the
 * very end (finish_load() in open.c), over bytes that nobody reads any more.
 */
#ifndef DAT_LOAD_H
#define DAT_LOAD_H

#include <errno.h>

#include "base/cursor.h"
#include "dat/codec.h"
#include "dat/dat.h"

/* Section and option ids this program knows are below this. */
#define DAT_NR_IDS 32

/* Sanity, not format: no machine has more CPUs, no recording more buffers or sections. */
#define DAT_MAX_CPUS	 65536u
#define DAT_MAX_ALL_CPUS 262144u
#define DAT_MAX_BUFFERS	 4096u
#define DAT_MAX_SECTIONS 8192u
#define DAT_MAX_FORMATS	 131072u /* an event's id has 16 bits */
#define DAT_MAX_SYSTEMS	 65536u
#define DAT_MAX_OPTIONS	 262144u

struct dat_load {
	struct dat *d;
	struct {
		struct dat_option *at;
		size_t n, cap;
	} options;
	struct {
		struct dat_section *at;
		size_t n, cap;
	} sections;
	struct {
		struct dat_format *at;
		size_t n, cap;
	} formats;
	struct {
		struct dat_system *at;
		size_t n, cap;
	} systems;
	struct {
		struct dat_buffer *at;
		size_t n, cap;
	} buffers;
	struct {
		struct dat_time_shift *at;
		size_t n, cap;
	} shifts;
	struct {
		struct dat_guest *at;
		size_t n, cap;
	} guests;
	struct {
		struct dat_process *at;
		size_t n, cap;
	} processes;
	struct {
		struct dat_task *at;
		size_t n, cap;
	} tasks;
	uint64_t where[DAT_NR_IDS]; /* version 7: offsets of sections by id, from the options */
	uint64_t section;	    /* the one whose options are being read */
	uint64_t stored;    /* where what is being parsed lies compressed; 0 if it does not */
	uint64_t wanted;    /* the offset at which a parser ran out of bytes wanted to end */
	uint32_t cpu_count; /* CPUCOUNT; 0 when there was none */
	size_t nr_all_cpus; /* in all buffers so far */
	uint64_t walked;    /* where walking from section to section came to its end */
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

/* Each returns false when the bytes end too early; what was complete up to there is kept. */
bool dat_parse_headers(struct dat_load *l, struct cursor *c);
bool dat_parse_ftrace(struct dat_load *l, struct cursor *c);
bool dat_parse_events(struct dat_load *l, struct cursor *c);
bool dat_parse_kallsyms(struct dat_load *l, struct cursor *c);
bool dat_parse_printk(struct dat_load *l, struct cursor *c);
bool dat_parse_cmdlines(struct dat_load *l, struct cursor *c);

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

/* Each decodes an option; false when its data are not what they should be. */
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
