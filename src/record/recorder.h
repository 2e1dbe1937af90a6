/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moving trace data from the kernel's ring buffers into a file.
 *
 * Every CPU of every buffer is a stream. Threads wait until the kernel reports enough data
 * (buffer_percent), then move whole pages. The rest is moved when the recording ends. A way of
 * moving pages (struct mover) is a table of functions.
 *
 * A thread owns its streams. The file that they write to may change between two moves (rotation).
 *
 * Private to src/record.
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
	 * Moves up to about a megabyte of whole pages; with `rest` also pages that are not full.
	 * Returns the bytes moved, 0 if there are none, or a negative errno.
	 */
	int64_t (*move)(struct stream *s, struct dat_out *out, bool rest);
};

/*
 * splice() moves pages without copying them to our memory; read() is for files that cannot be
 * spliced.
 */
extern const struct mover mover_splice, mover_read;

struct recorder_source {
	const char *instance; /* NULL: nothing is read, the file has an empty buffer */
	uint32_t page_size;
};

struct recorder_options {
	const struct mover *mover; /* NULL: the one that suits the file */
	bool compressed;       /* the file is: pages pass through memory and a thread of its own */
	const char *data_file; /* "trace_pipe_raw", or "snapshot_raw" */
	unsigned int threads;  /* 0: one per CPU */
	unsigned int interval_us; /* the longest time between two checks; 0: 1 s */
	int priority;		  /* SCHED_FIFO, 0: normal */
	bool busy;		  /* poll all the time instead of waiting for the kernel */
	/*
	 * Bytes of one CPU, and of all, in a file at which recorder_full() becomes readable; 0:
	 * never.
	 */
	uint64_t enough, enough_all;
};

int recorder_new(const struct tracefs *fs, const struct recorder_source *sources, size_t nr,
		 const uint32_t *cpus, uint32_t nr_cpus, const struct recorder_options *opt,
		 struct recorder **out, struct spur_error *err);

/* Starts the threads, which write to that file from now on. */
int recorder_start(struct recorder *r, struct dat_out *out, struct spur_error *err);

/*
 * Makes all threads continue with another file; returns when none uses the old one any more.
 * between() is called when all data that were read from the kernel are in the old file.
 */
void recorder_switch(struct recorder *r, struct dat_out *out, void (*between)(void *arg),
		     void *arg);

/*
 * The same with a file that replaces the old one: no thread writes while copy() copies the rest.
 * Returns the result of copy(); if that is negative, the old file stays.
 */
int64_t recorder_replace(struct recorder *r, struct dat_out *out,
			 int64_t (*copy)(struct dat_out *to, const struct dat_out *from,
					 bool last));

/* A descriptor that becomes readable when a stream fails. */
int recorder_event(const struct recorder *r);

/*
 * A descriptor that is readable when the file has `enough` bytes of a CPU or `enough_all` in total,
 * until the file changes.
 */
int recorder_full(const struct recorder *r);

/* Moves the rest of all streams and ends the threads. */
int recorder_drain(struct recorder *r, struct spur_error *err);

/* Bytes moved so far, and about how many events these are. */
uint64_t recorder_bytes(const struct recorder *r);
uint64_t recorder_events(const struct recorder *r);

/* How many bytes of the busiest CPU are in the current file. */
uint64_t recorder_largest(const struct recorder *r);

void recorder_free(struct recorder *r);

#endif
