/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is left when a recorder was killed: its file gets what is still in the kernel's buffers, is
 * marked as cut (dat/dat.h) and finished.
 *
 * A recorder notes beforehand all that this needs to know (undo_note()), as lines of text:
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
 * Every event that leaves a ring buffer is counted by the kernel ("read events"). What a file does
 * not have of these was lost with the recorder's memory; so it is known exactly what is missing.
 * The first page that is saved is marked with it, as the kernel marks pages after a loss.
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
	uint64_t *base; /* one a stream; owned */
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
	char *text;	    /* what the strings point into; owned */
};

void rescue_note_put(const struct rescue_note *n, struct buf *to);

/* Makes a path absolute; false when it is too long. */
bool rescue_path(const char *path, char *absolute, size_t cap);

/* What became of it. */
struct rescue_result {
	char path[RESCUE_PATH_CAP]; /* "": there was nothing to be saved */
	uint64_t events;	    /* saved from the buffers */
	struct spur_error err;	    /* code 0: all went well */
};

struct rescue;

/*
 * Stops the buffers and moves what they hold to the file: before the settings go back. NULL when
 * there is nothing to do, or no memory.
 */
struct rescue *rescue_begin(const struct tracefs *fs, const char *note);

/* Finishes the file, and frees. res may be NULL. */
void rescue_end(struct rescue *r, struct rescue_result *res);

/* Whether something was to be saved and could not be. */
bool rescue_failed(const struct rescue *r);

/* The two for a guardian: see struct undo_options. */
void *rescue_before(const struct tracefs *fs, const char *note);
void rescue_after(void *rescue);

/*
 * Counting events of a CPU: those that a file has, and those that the kernel gave or still has.
 * What is missing in a file that was cut is the difference.
 */
struct tally {
	uint64_t events, last; /* last: the time of the last one, 0: there is none */
};

/* Adds what a file has of a CPU. */
int tally_file(struct tally *t, struct dat *d, size_t buffer, uint32_t cpu);

/* What the kernel says of a CPU's buffer: events that were read, and events it still has. */
bool tally_kernel(const struct tracefs *fs, const char *instance, uint32_t cpu, uint64_t *taken,
		  uint64_t *left);

#endif
