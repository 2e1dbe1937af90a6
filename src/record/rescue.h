/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saving the recording of a killed recorder: the rest of the kernel's buffers is written to its
 * file, which is marked as cut (dat/dat.h) and finished.
 *
 * A recorder notes in advance what this needs (undo_note()), as lines of text:
 *
 *	temp PATH          the file that has no name of its own yet
 *	file DEV INO PATH  the file being written
 *	base N…            events each stream had given when that began; none: it has not begun
 *	was DEV INO PATH   the file before it
 *	wasbase N…         the same of that; none: nothing is written to it any more
 *	stream INSTANCE    for each buffer of the file, "nostream" where there is none
 *	data FILE          of a CPU that is read
 *	flight VERSION COMPRESSION PATH
 *	                   the file that is to be made of what the buffers hold
 *	tracer NAME        whose result is a text
 *
 * In a PATH, "\n" is the end of a line and "\\" a backslash.
 *
 * The kernel counts every event that is read from a ring buffer ("read events"). Those of them that
 * are not in the file were lost with the recorder's memory. So the number of missing events is
 * known exactly. It is put into the first saved page, as the kernel marks pages after a loss.
 */
#ifndef RECORD_RESCUE_H
#define RECORD_RESCUE_H

#include "dat/write.h"
#include "dat/dat.h"
#include "tracefs/tracefs.h"

#define RESCUE_PATH_CAP 4096

/* A file that a recorder writes. */
struct rescue_file {
	char path[RESCUE_PATH_CAP]; /* absolute; "": there is none */
	uint64_t dev, ino;
	uint64_t *base; /* one for each stream; owned */
	size_t nr_base; /* 0: none */
};

struct rescue_note {
	char temp[RESCUE_PATH_CAP];
	struct rescue_file file, was;
	struct {
		const char **at; /* instances, NULL for none */
		size_t n, cap;
	} streams;
	const char *data;   /* "trace_pipe_raw", or "snapshot_raw" */
	const char *flight; /* or NULL */
	unsigned int version;
	const char *compression;
	const char *tracer; /* or NULL */
	char *text;	    /* memory of the strings; owned */
};

void rescue_note_put(const struct rescue_note *n, struct buf *to);

/* Makes a path absolute; false when it is too long. */
bool rescue_path(const char *path, char *absolute, size_t cap);

/* The result. */
struct rescue_result {
	char path[RESCUE_PATH_CAP]; /* "": there was nothing to save */
	uint64_t events;	    /* saved from the buffers */
	struct spur_error err;	    /* code 0: all went well */
};

struct rescue;

/*
 * Stops the buffers and moves their data to the file; to be called before the settings are
 * restored. NULL if there is nothing to do, or no memory. The recorder may have died long ago, so a
 * file that is to be made does not replace another one: it gets the next free name (NAME.saved, …).
 */
struct rescue *rescue_begin(const struct tracefs *fs, const char *note);

/* Finishes the file, and frees. res may be NULL. */
void rescue_end(struct rescue *r, struct rescue_result *res);

/*
 * Whether saving has failed and may succeed later. What did not fit into a file that was made for
 * it is lost: else each attempt would make another file.
 */
bool rescue_failed(const struct rescue *r);

/*
 * The callbacks for a guardian: see struct undo_options. It acts when the recorder dies, so it
 * replaces what the recorder would have replaced.
 */
void *rescue_before(const struct tracefs *fs, const char *note);
void rescue_after(void *rescue);

/*
 * Counts of a CPU's events: in a file, and in the kernel (read, and still there). The difference is
 * missing in a file that was cut.
 */
struct tally {
	uint64_t events, last; /* last: the time of the last one, 0: there is none */
};

/* Adds the events of a CPU that a file has. */
int tally_file(struct tally *t, struct dat *d, size_t buffer, uint32_t cpu);

/* The kernel's counts of a CPU's buffer: events that were read, and events that it still has. */
bool tally_kernel(const struct tracefs *fs, const char *instance, uint32_t cpu, uint64_t *taken,
		  uint64_t *left);

#endif
