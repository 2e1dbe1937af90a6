/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading a trace: open a file, walk its events in time order, ask for names, fields and text.
 *
 *	struct spur_error err = {0};
 *	struct spur_trace *t;
 *	struct spur_cursor *c;
 *	const struct spur_record *r;
 *
 *	if (spur_trace_open("trace.dat", &t, &err) < 0 || spur_cursor_open(t, &c, &err) < 0)
 *		…err.text says why
 *	while ((r = spur_cursor_next(c)) != NULL)
 *		…
 *	spur_cursor_close(c);
 *	spur_trace_close(t);
 *
 * A trace may be shared by threads, each with cursors of its own; a cursor belongs to one thread.
 */
#ifndef SPUR_TRACE_H
#define SPUR_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include <spur/error.h>
#include <spur/record.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spur_trace;
struct spur_cursor;
struct spur_event;
struct spur_field;

/*
 * Opens a trace.dat file of version 6 or 7, of whatever machine. A damaged or cut-off file opens as
 * far as it can be read: see spur_trace_damage(). On failure *trace is NULL.
 */
SPUR_API int spur_trace_open(const char *path, struct spur_trace **trace, struct spur_error *err);

/* Frees the trace; its cursors must have been closed. NULL is fine. */
SPUR_API void spur_trace_close(struct spur_trace *trace);

/*
 * What has been found wrong with the file so far: 0 and nothing in err, or -ENODATA (cut off) or
 * -EBADMSG (damaged) and words. Ask again after walking it.
 */
SPUR_API int spur_trace_damage(const struct spur_trace *trace, struct spur_error *err);

/* The machine it was recorded on, as uname(1) would put it; "" when the file does not say. */
SPUR_API const char *spur_trace_uname(const struct spur_trace *trace);

/* How many buffers (instances) there are. */
SPUR_API uint32_t spur_trace_buffers(const struct spur_trace *trace);

/* The name of a buffer, as spur_record.buffer numbers them; the top one's is "". */
SPUR_API const char *spur_trace_buffer_name(const struct spur_trace *trace, uint32_t buffer);

/*
 * Starts walking all buffers and CPUs of the trace, merged by time; latency traces are stored as
 * text and have no records. On failure *cursor is NULL.
 */
SPUR_API int spur_cursor_open(struct spur_trace *trace, struct spur_cursor **cursor,
			      struct spur_error *err);

/* Closes the cursor. NULL is fine. */
SPUR_API void spur_cursor_close(struct spur_cursor *cursor);

/* The next record, or NULL at the end. It is valid until the next call. */
SPUR_API const struct spur_record *spur_cursor_next(struct spur_cursor *cursor);

/* Goes to a time: the next record will be the first one at or after it. */
SPUR_API void spur_cursor_seek(struct spur_cursor *cursor, uint64_t ts);

/* The record's event type, or NULL when the trace does not describe it. */
SPUR_API struct spur_event *spur_record_event(const struct spur_trace *trace,
					      const struct spur_record *record);

/* The pid of the task the record was written by. */
SPUR_API int spur_record_pid(const struct spur_trace *trace, const struct spur_record *record);

/*
 * The task's name: "<idle>" for pid 0, "<...>" when it is not known. Names that the trace does not
 * list are learned from the texts of events that have been asked for.
 */
SPUR_API const char *spur_record_comm(struct spur_cursor *cursor, const struct spur_record *record);

/*
 * The text of the record the cursor has returned last, as a report shows it, without a newline at
 * its end. It is kept by the cursor and valid until the next call. A function that calls no other
 * one is shown with its return: the record of the return is then taken as well, and the cursor does
 * not come to it again.
 */
SPUR_API const char *spur_record_text(struct spur_cursor *cursor, const struct spur_record *record);

/* An event type by name, or NULL; system may be NULL for the first one of any system. */
SPUR_API struct spur_event *spur_event_find(const struct spur_trace *trace, const char *system,
					    const char *name);

/* The two parts of an event type's name: sched and sched_switch. */
SPUR_API const char *spur_event_system(const struct spur_event *event);
SPUR_API const char *spur_event_name(const struct spur_event *event);

/* A field of an event type by its name; NULL when there is none. */
SPUR_API const struct spur_field *spur_event_field(struct spur_event *event, const char *name);

/* A field by its number from 0, the common ones first; NULL when there is none. */
SPUR_API const struct spur_field *spur_event_field_at(struct spur_event *event,
						      unsigned int number);

/* The field's name as the event's format has it. */
SPUR_API const char *spur_field_name(const struct spur_field *field);

/* Reads a field as a number (sign-extended when it is signed). 0, or -EINVAL when it is none. */
SPUR_API int spur_field_number(const struct spur_trace *trace, const struct spur_field *field,
			       const struct spur_record *record, uint64_t *value);

/* Where the field's bytes lie in the record (strings, arrays); NULL when they are not there. */
SPUR_API const void *spur_field_bytes(const struct spur_trace *trace,
				      const struct spur_field *field,
				      const struct spur_record *record, size_t *size);

#ifdef __cplusplus
}
#endif
#endif
