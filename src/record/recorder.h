/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moving trace data from the kernel's ring buffers into a file.
 *
 * Every CPU of every buffer is a stream. Threads wait until the kernel says that a stream has
 * enough to be worth it (buffer_percent), then move whole pages; what remains is moved when the
 * recording ends. How pages are moved is a table of two functions, one per way.
 *
 * A thread owns its streams. The file they write to may be exchanged between two moves (rotation).
 */
#ifndef RECORD_RECORDER_H
#define RECORD_RECORDER_H

#include <sys/types.h>

#include "dat/write.h"
#include "tracefs/tracefs.h"

struct recorder;
struct stream;

/* A way to move pages. */
struct mover {
	const char *name;
	int (*open)(struct stream *s);
	void (*close)(struct stream *s);
	/*
	 * Moves whole pages, and with `rest` also those that are not full, up to about a megabyte.
	 * Bytes moved, 0 when there is nothing, negative errno.
	 */
	int64_t (*move)(struct stream *s, struct dat_out *out, bool rest);
};

/*
 * splice() moves pages without copying them to memory of ours; read() is for what cannot be
 * spliced.
 */
extern const struct mover mover_splice, mover_read;

struct recorder_source {
	const char *instance; /* NULL: nothing is read, the file has an empty buffer */
	uint32_t page_size;
};

struct recorder_options {
	const struct mover *mover; /* NULL: what suits the file */
	bool compressed;       /* the file is: pages pass through memory and a thread of its own */
	const char *data_file; /* "trace_pipe_raw", or "snapshot_raw" */
	unsigned int threads;  /* 0: one per CPU */
	unsigned int interval_us; /* the longest time between two looks; 0: 1 s */
	int priority;		  /* SCHED_FIFO, 0: normal */
	bool busy;		  /* do not wait for the kernel but look again and again */
	/* Bytes in a file, of one CPU or of all, that recorder_full() tells; 0: none. */
	uint64_t enough, enough_all;
};

int recorder_new(const struct tracefs *fs, const struct recorder_source *sources, size_t nr,
		 const uint32_t *cpus, uint32_t nr_cpus, const struct recorder_options *opt,
		 struct recorder **out, struct spur_error *err);

/* Starts the threads, which write to that file from now on. */
int recorder_start(struct recorder *r, struct dat_out *out, struct spur_error *err);

/*
 * Has all threads go on with another file; returns when none uses the old one any more. between()
 * is called when all that was taken from the kernel is in the old file.
 */
void recorder_switch(struct recorder *r, struct dat_out *out, void (*between)(void *arg),
		     void *arg);

/*
 * The same with a file that replaces the old one: no recorder writes while `copy` brings it up to
 * date. Returns what copy returns; when that is negative the old file stays.
 */
int64_t recorder_replace(struct recorder *r, struct dat_out *out,
			 int64_t (*copy)(struct dat_out *to, const struct dat_out *from,
					 bool last));

/* A descriptor that becomes readable when a stream fails. */
int recorder_event(const struct recorder *r);

/*
 * A descriptor that is readable when a CPU has `enough` in the file, until the file is exchanged.
 */
int recorder_full(const struct recorder *r);

/* Moves the rest of all streams and ends the threads. */
int recorder_drain(struct recorder *r, struct spur_error *err);

/* Bytes moved so far, and about how many events these are. */
uint64_t recorder_bytes(const struct recorder *r);
uint64_t recorder_events(const struct recorder *r);

/* How many of them the busiest CPU has in the file that is being written. */
uint64_t recorder_largest(const struct recorder *r);

void recorder_free(struct recorder *r);

#endif
