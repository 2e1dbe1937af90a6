/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exports: traces in the formats of other tools.
 *
 * A format is an entry of a table: a name, and a function that reads the traces of a job (mostly
 * with reader.h) and writes the output. No format stores a whole trace in memory.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>

#include <spur/error.h>

#include "base/buf.h"
#include "scan/select.h"
#include "table/walk.h"

/*
 * The output of formats of the kind EXPORT_STREAM: a buffer that is written to a descriptor when it
 * is large.
 *
 * A format appends to `buf` and calls export_stream_flush_full() now and then, as after a record.
 * The first error is stored in `rc`; nothing is written after it.
 */
#define EXPORT_STREAM_PIECE (256u << 10) /* is written at a time, about */

struct export_stream {
	struct buf buf;
	int fd;
	bool terminal; /* control characters in texts of the trace are replaced */
	int rc;	       /* the first error, a negative errno */
};

/* The caller frees `buf`. */
void export_stream_init(struct export_stream *o, int fd);

/* Writes the buffer. */
void export_stream_flush(struct export_stream *o);

/* Writes the buffer when there is enough in it. */
static inline void export_stream_flush_full(struct export_stream *o)
{
	if (o->buf.len >= EXPORT_STREAM_PIECE)
		export_stream_flush(o);
}

/* A choice that only some formats have: NAME=VALUE. */
struct export_setting {
	const char *name;
	const char *value;
};

struct export_setting_info {
	const char *name;
	const char *about;
};

struct export_job {
	struct spur_trace *const *traces;
	size_t nr_traces;
	struct walk_options walk; /* range of time, CPUs, stop, progress */
	/*
	 * Selects records, as if the others had not been recorded. Its CPUs and range of time are
	 * ignored, because `walk` has them. NULL: all.
	 */
	const struct selection *select;
	const struct export_setting *settings;
	size_t nr_settings;

	/* The output: a file or a folder, or the address of a server. */
	const char *target;
	/* EXPORT_STREAM: the bytes go here instead. */
	struct export_stream *out;

	/* Something the user should know, in one line; may be NULL. */
	void (*note)(void *arg, const char *text);
	void *note_arg;
};

enum export_kind {
	EXPORT_STREAM, /* one file, written from start to end; may be standard output */
	EXPORT_FILE,   /* one file, which the format opens itself */
	EXPORT_FOLDER, /* files in a folder */
	EXPORT_SERVER, /* a server */
};

struct export_format {
	const char *name;
	const char *about;  /* one line */
	const char *suffix; /* of the output's name if that is made of the trace's; or NULL */
	enum export_kind kind;
	const struct export_setting_info *settings; /* up to one without a name; or NULL */
	const char *alone; /* a setting with which no trace is needed; or NULL */
	int (*run)(const struct export_job *job, struct spur_error *err);
};

/* Up to a NULL. */
extern const struct export_format *const export_formats[];

/*
 * Finds a format by name, or by the beginning of an address ("clickhouse://…"); NULL with a
 * message.
 */
const struct export_format *export_find(const char *name, struct spur_error *err);

/* Runs a job. 0, -EINTR after a stop, or another negative errno. An incomplete file is removed. */
int export_run(const struct export_format *f, struct export_job *job, struct spur_error *err);

/* ---- for formats ---------------------------------------------------------------------- */

/* The value of a setting; NULL: it was not given. */
const char *export_setting(const struct export_job *job, const char *name);

/* The name of a profile: the first trace's file name without folders. */
const char *export_title(const struct export_job *job);

/*
 * Returns -ENODATA with a message: the first trace has no stacks and no calls, or none that were
 * selected.
 */
int export_no_stacks(const struct export_job *job, struct spur_error *err);

void export_note(const struct export_job *job, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* All formats; one that is added here is added to the table in formats.c, too. */
extern const struct export_format export_json, export_csv;
extern const struct export_format export_ctf;
extern const struct export_format export_folded, export_speedscope, export_pprof;
extern const struct export_format export_dot, export_callgrind, export_sqlite;
extern const struct export_format export_perfetto, export_chrome;
extern const struct export_format export_parquet;
extern const struct export_format export_clickhouse;

#endif
