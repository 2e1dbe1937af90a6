/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sources: what can be opened as a trace besides trace.dat. Each is an entry of a table: how it is
 * recognised, and a function that adds all that is in it to an import.
 */
#ifndef IMPORT_SOURCES_H
#define IMPORT_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>

#include "dat/copy.h"
#include "dat/write.h"

struct dat;
struct import;

#define SOURCE_HEAD 4096

/* What is looked at: a file, or a folder. */
struct source_input {
	const char *path; /* for messages */
	int fd;
	bool folder;
	uint64_t size;
	const uint8_t *head; /* the file's first bytes */
	size_t head_size;
};

struct import_source {
	const char *name;
	const char *about;
	bool (*recognise)(const struct source_input *in);
	int (*read)(const struct source_input *in, struct import *im, struct spur_error *err);
};

/* Up to a NULL. */
extern const struct import_source *const sources[];

/* Which source an open file or folder is of; NULL: none, or it is a trace.dat. */
const struct import_source *source_of(int fd);

/*
 * -EEXIST with words when a file that is to be written is a recording. To be called unless the user
 * has said with -o or --force that it may be replaced; `how` ends the message.
 */
int source_spare(const char *path, const char *how, struct spur_error *err);

#define SOURCE_FORCE "to replace it, name it with -o or add --force"

/* By name; NULL with words. */
const struct import_source *source_find(const char *name, struct spur_error *err);

struct source_job {
	const char *path;		    /* of what is read, for messages */
	const struct import_source *source; /* NULL: the one that recognises it */
	struct dat_out_options out;
	struct dat_job job;
};

/* What came of it. */
struct source_result {
	uint64_t events, lost, cut;
	char remark[200]; /* what the user should know, or "" */
	int damage;	  /* -EBADMSG or -ENODATA: the remark says what is wrong with the input */
};

/* Reads the open file (or folder) `from`, and writes a trace.dat to `to`, which it takes over. */
int source_convert(const struct source_job *job, int from, int to, const char *name,
		   struct source_result *result, struct spur_error *err);

/*
 * Opens a file as a trace.dat: itself, or what a source becomes, which then is a nameless file. It
 * takes over the descriptor.
 */
int source_open_fd(int fd, const char *name, struct dat **out, struct spur_error *err);
int source_open(const char *path, struct dat **out, struct spur_error *err);

extern const struct import_source source_ctf, source_perf, source_text;

#endif
