/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing trace.dat files, versions 6 and 7.
 *
 * A file being written is complete at every moment: all that is known beforehand stands in it
 * before the first page of trace data, and a list of options says where each CPU's data will be.
 * Version 7:
 *
 *	header, whose last 8 bytes say where the options are
 *	sections: header info, formats, symbols, printk formats, names, strings
 *	preliminary options: no end of the data is known yet, DAT_OPT_REGIONS says so
 *	room for what is known at the end only (names, options)
 *	trace data, a region per CPU of each buffer
 *	what did not fit before them
 *
 * dat_out_finish() writes what is known at the end and then changes the offset in the header: that
 * single write makes the file a finished one. The room is there so that this works on a full disk
 * too. Version 6 has its options in front of the data; there they get room to spare (a VERSION
 * option with NULs after it, names with newlines after them), and what does not fit is left out.
 *
 * Regions. With `sparse`, each CPU's region begins so far after the one before that they never
 * meet; any number of threads fill them at the same time, one thread per region. When the file is
 * finished the holes between them are collapsed, or what is after them is moved piece by piece
 * where the file system cannot do that. Without `sparse`, the regions are filled one after the
 * other, in the order of the contents, and there are no holes. Where a file cannot have holes (FAT,
 * a limit on the size of files) `sparse` means that the data wait in nameless files beside it until
 * it is finished.
 *
 * The file is locked (fcntl) as long as the process that created it lives and has it open.
 */
#ifndef DAT_WRITE_H
#define DAT_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

struct dat;

/* Bytes that the caller owns. */
struct dat_span {
	const void *data;
	size_t size;
};

struct dat_out_system {
	const char *name;
	const struct dat_span *formats;
	size_t nr;
};

struct dat_out_option {
	uint16_t id; /* of enum dat_option_id, none that describes the file's layout */
	struct dat_span data;
};

struct dat_out_buffer {
	const char *name;     /* "" for the top one, which comes first */
	const char *clock;    /* selected one: "local" */
	uint32_t page_size;   /* of its sub-buffers */
	const uint32_t *cpus; /* their numbers, increasing */
	uint32_t nr_cpus;
	struct dat_span
		text; /* a latency trace: ASCII instead of pages; only in the first buffer */
	bool is_text;
};

/* All that a file says besides the trace data. Everything in it is the caller's. */
struct dat_contents {
	bool big_endian;
	unsigned int long_size;
	uint32_t page_size;
	uint32_t nr_cpus; /* of the machine */
	struct dat_span header_page, header_event;
	const struct dat_span *ftrace; /* formats of ftrace's own events */
	size_t nr_ftrace;
	const struct dat_out_system *systems;
	size_t nr_systems;
	struct dat_span kallsyms, printk, cmdlines;
	const struct dat_out_option *options;
	size_t nr_options;
	const struct dat_out_buffer *buffers;
	size_t nr_buffers;
};

struct dat_out_options {
	unsigned int version;	 /* 6 or 7; 0: 7 */
	const char *compression; /* "none", "zlib", "zstd", "any" (the best there is); NULL: none */
	bool sparse;
	size_t cmdlines_room; /* bytes for names at the end; 0: as many as now, and some */
	size_t options_room;  /* bytes for more options; 0: some. None without holes */
	bool roomy; /* creating fails unless data get at least half of the space there is */
};

struct dat_out;

/*
 * Replaces the content of a file by all of `c`; cmdlines and options may change later. Takes over
 * the descriptor, which is open for reading and writing.
 */
int dat_out_create_fd(int fd, const char *name, const struct dat_out_options *opt,
		      const struct dat_contents *c, struct dat_out **out, struct spur_error *err);

/* The same; on failure the descriptor stays the caller's, who may try again with less. */
int dat_out_try_fd(int fd, const char *name, const struct dat_out_options *opt,
		   const struct dat_contents *c, struct dat_out **out, struct spur_error *err);

/*
 * Appends whole pages to the data of a CPU (its place in the buffer's list, not its number),
 * compressed if the file is. 0 or a negative errno: -ENOSPC, -EFBIG when the region is full, …
 * In all cases, earlier data stay valid.
 *
 * With `sparse` the pages are in the file when this returns; ten at a time compress best. Without,
 * pages to be compressed wait until there are ten.
 */
int dat_out_pages(struct dat_out *o, size_t buffer, uint32_t cpu, const void *pages, size_t n);

/*
 * For callers that write to the file themselves (splice): where the next page of that CPU goes and
 * how many bytes still fit; and reporting how many were written there. Only files with
 * holes that are not compressed have such places; in others the room is always 0, and
 * dat_out_pages() must be used.
 */
int dat_out_fd(const struct dat_out *o);
uint64_t dat_out_place(const struct dat_out *o, size_t buffer, uint32_t cpu, uint64_t *room);
void dat_out_advance(struct dat_out *o, size_t buffer, uint32_t cpu, uint64_t bytes);

/*
 * Writes the names of tasks and DAT_OPT_TASKS as they are now into the unfinished file, for the
 * case that its writer dies: as much of them as there is room for, in version 6 only names. The
 * data may be written at the same time. -ENOSPC: there is no room.
 */
int dat_out_update(struct dat_out *o, const struct dat_contents *c);

/*
 * Copies what has been appended to `from` since the last call into `to`, a file with holes that was
 * created with the same contents and compression. Others may go on appending to `from`, but not
 * during the `last` call. The number of bytes, or a negative errno.
 */
int64_t dat_out_follow(struct dat_out *to, const struct dat_out *from, bool last);

/*
 * No more pages come: puts those that wait in nameless files into the file, so that reading it
 * finds all of them. dat_out_finish() does the same for those who need not read it.
 */
int dat_out_gather(struct dat_out *o);

/*
 * Whether the file still has what was written to it: false if another process has emptied it or has
 * written other data over it. Pages may be appended at the same time.
 */
bool dat_out_is_whole(const struct dat_out *o);

/* Where the last of its data end, while there are holes between them. */
uint64_t dat_out_end(const struct dat_out *o);

/*
 * Has dat_out_finish() call this while it moves data, which happens where holes cannot be
 * collapsed: bytes moved so far, and of how many.
 */
void dat_out_watch(struct dat_out *o, void (*progress)(void *arg, uint64_t done, uint64_t total),
		   void *arg);

/*
 * Writes what is known now (the formats, buffers and CPUs are those of the creation) and makes the
 * file a finished one. On failure it remains an unfinished, readable file. Frees o either way.
 */
int dat_out_finish(struct dat_out *o, const struct dat_contents *c, struct spur_error *err);

/* Leaves the file as it is, unfinished. */
void dat_out_abandon(struct dat_out *o);

/* The contents of an open file, to be written again; freed with the arena of the file. */
int dat_contents_of(struct dat *d, struct dat_contents *c, struct spur_error *err);

/* ---- unfinished files ----------------------------------------------------------------- */

/*
 * Continues a file that its writer left unfinished. d is that file as it was left, c its
 * contents, which live in d. 1: the file is finished, nothing is open; -EBUSY when another process
 * is writing it. dat_out_finish() or dat_out_abandon() come next, then dat_close().
 */
int dat_out_reopen(const char *path, struct dat_out **out, struct dat **d, struct dat_contents *c,
		   struct spur_error *err);

/* The numbers of a buffer's CPUs that have a place in the file. */
const uint32_t *dat_out_cpus(const struct dat_out *o, size_t buffer, uint32_t *nr);

/* Whether pages may still be appended: its writer had not begun to finish it. */
bool dat_out_is_open(const struct dat_out *o);

/*
 * Finishes a file in place that has all of its data but was left unfinished. 0 also when the
 * file is finished already; -EBUSY when another process is writing it.
 */
int dat_finish_file(const char *path, struct spur_error *err);

#endif
