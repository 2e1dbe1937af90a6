/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing a trace.dat file for spur, trace-cmd and KernelShark.
 *
 *	static const struct spur_field_spec fields[] = {
 *		{"id", SPUR_FIELD_UNSIGNED, 4},
 *		{"path", SPUR_FIELD_TEXT, 0},
 *	};
 *	struct spur_writer *w;
 *	int request;
 *
 *	if (spur_writer_open("trace.dat", &w, &err) < 0)
 *		…err.text says why
 *	request = spur_writer_event(w, "server", "request", fields, 2);
 *	spur_writer_begin(w, request, ts, cpu, pid);
 *	spur_writer_number(w, 0, 17);
 *	spur_writer_text(w, 1, "/index.html");
 *	spur_writer_end(w);
 *	if (spur_writer_finish(w, &err) < 0)
 *		…err.text says why, and there is no file
 *
 * Records may come in any order of time. The writer stores its first error, so it is enough to
 * check the result of spur_writer_finish(). A writer belongs to one thread.
 */
#ifndef SPUR_WRITER_H
#define SPUR_WRITER_H

#include <stdint.h>

#include <spur/error.h>
#include <spur/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spur_writer;

/* A field of an event type that a program defines. */
struct spur_field_spec {
	const char *name;	   /* letters, digits and underscores */
	enum spur_field_type type; /* all but SPUR_FIELD_ARRAY */
	/*
	 * Bytes of a number: 1, 2, 4 or 8; signed ones are stored with at least 4. Of a text 0.
	 */
	unsigned int size;
};

/*
 * Starts a file. It appears under its path when it is complete, and replaces an existing one. On
 * failure *writer is NULL.
 */
SPUR_API int spur_writer_open(const char *path, struct spur_writer **writer,
			      struct spur_error *err);

/*
 * Defines an event type, whose text shows "name=value" for each field. The number of the type, for
 * spur_writer_begin(), or a negative errno.
 */
SPUR_API int spur_writer_event(struct spur_writer *writer, const char *system, const char *name,
			       const struct spur_field_spec *fields, unsigned int nr);

/* Sets the name of a task. If a pid gets several names, the last one is used. */
SPUR_API int spur_writer_comm(struct spur_writer *writer, int pid, const char *name);

/*
 * Begins a record of an event type: its time (nanoseconds), its CPU, and the task that wrote it.
 * Fields that are not set are 0 or empty.
 */
SPUR_API int spur_writer_begin(struct spur_writer *writer, int event, uint64_t ts, uint32_t cpu,
			       int pid);

/* Sets a number of the record that was begun; fields count from 0. */
SPUR_API int spur_writer_number(struct spur_writer *writer, unsigned int field, uint64_t value);

/* Sets a text of the record that was begun. */
SPUR_API int spur_writer_text(struct spur_writer *writer, unsigned int field, const char *text);

/* Ends the record. */
SPUR_API int spur_writer_end(struct spur_writer *writer);

/* Notes that events of a CPU were lost before this time: how many, or -1 if that is unknown. */
SPUR_API int spur_writer_lost(struct spur_writer *writer, uint32_t cpu, uint64_t ts, int64_t lost);

/*
 * Copies a record of another trace with all data about it: its event type, the name of its task,
 * its buffer, the losses before it, and the trace's names of functions. -EINVAL if the traces come
 * from machines with different byte orders or sizes of a long. The trace must stay open until the
 * writer is finished.
 */
SPUR_API int spur_writer_copy(struct spur_writer *writer, const struct spur_trace *trace,
			      const struct spur_record *record);

/* Writes the file and frees the writer. On failure no file appears, and an old one stays. */
SPUR_API int spur_writer_finish(struct spur_writer *writer, struct spur_error *err);

/* Frees the writer without a file. NULL is fine. */
SPUR_API void spur_writer_discard(struct spur_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
