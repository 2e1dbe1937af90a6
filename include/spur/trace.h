/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading a trace: open a file, read its records in order of time, and get names, fields and text.
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
 *	if (spur_trace_damage(t, &err) < 0)
 *		…err.text says what could not be read
 *	spur_trace_close(t);
 *
 * Several threads may use a trace, each with its own cursors. A cursor belongs to one thread.
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

/* ---- traces ---- */

/*
 * Opens a trace.dat file of version 6 or 7 of any machine, or a trace of another tool (perf.data, a
 * CTF folder, the kernel's text). Of a damaged or cut-off file, everything that can be read is
 * there: see spur_trace_damage(). On failure *trace is NULL.
 */
SPUR_API int spur_trace_open(const char *path, struct spur_trace **trace, struct spur_error *err);

/*
 * Opens `nr` files that belong together, such as those of a host and its guests, the host first.
 * spur_cursor_open_all() reads them as one. On failure all entries of `traces` are NULL.
 */
SPUR_API int spur_traces_open(const char *const *paths, size_t nr, struct spur_trace **traces,
			      struct spur_error *err);

/* Frees the trace. Close its cursors and rows first. NULL is fine. */
SPUR_API void spur_trace_close(struct spur_trace *trace);

/* Frees all traces of spur_traces_open() and sets the entries to NULL. */
SPUR_API void spur_traces_close(struct spur_trace **traces, size_t nr);

/*
 * Whether the file was found incomplete or damaged so far: 0, or -ENODATA (cut off) or -EBADMSG
 * (damaged) with a message in err. Call it again after reading the records.
 */
SPUR_API int spur_trace_damage(const struct spur_trace *trace, struct spur_error *err);

/* The path the trace was opened with. */
SPUR_API const char *spur_trace_path(const struct spur_trace *trace);

/* The machine that recorded it, in the form of uname(1); "" if the file does not say. */
SPUR_API const char *spur_trace_uname(const struct spur_trace *trace);

/* How many buffers (instances) there are. */
SPUR_API uint32_t spur_trace_buffers(const struct spur_trace *trace);

/* The name of a buffer, as spur_record.buffer numbers them; the top one's is "". */
SPUR_API const char *spur_trace_buffer_name(const struct spur_trace *trace, uint32_t buffer);

/* How many event types the trace describes; most of them have no records. */
SPUR_API size_t spur_trace_events(const struct spur_trace *trace);

/* An event type by its number from 0; NULL when there is none. */
SPUR_API struct spur_event *spur_trace_event_at(const struct spur_trace *trace, size_t number);

/* ---- cursors ---- */

/*
 * Starts to read all buffers and CPUs of the trace, merged by time. Latency traces are stored as
 * text and have no records. On failure *cursor is NULL.
 */
SPUR_API int spur_cursor_open(struct spur_trace *trace, struct spur_cursor **cursor,
			      struct spur_error *err);

/*
 * The same for several traces. If records have the same time, that of the earlier trace comes
 * first.
 */
SPUR_API int spur_cursor_open_all(struct spur_trace *const *traces, size_t nr,
				  struct spur_cursor **cursor, struct spur_error *err);

/* Closes the cursor. NULL is fine. */
SPUR_API void spur_cursor_close(struct spur_cursor *cursor);

/*
 * Adds a filter, in the language of `spur report -F`: "sched_switch: prev_pid == 1 || COMM ~ sh*".
 * The cursor returns records that pass any of its filters, and all records while it has none.
 * -EINVAL when the text is wrong or no trace of the cursor has such an event.
 */
SPUR_API int spur_cursor_filter(struct spur_cursor *cursor, const char *filter,
				struct spur_error *err);

/* Goes to a time: the next record will be the first one at or after it that passes the filters. */
SPUR_API void spur_cursor_seek(struct spur_cursor *cursor, uint64_t ts);

/* Sets the end: later records are not returned, and mostly not read. 0: no limit. */
SPUR_API void spur_cursor_until(struct spur_cursor *cursor, uint64_t ts);

/* The next record, or NULL at the end. It is valid until the next call. */
SPUR_API const struct spur_record *spur_cursor_next(struct spur_cursor *cursor);

/* The trace of the last record, for cursors over several; NULL before the first and at the end. */
SPUR_API struct spur_trace *spur_cursor_trace(const struct spur_cursor *cursor);

/* ---- records ---- */

/* The record's event type, or NULL when the trace does not describe it. */
SPUR_API struct spur_event *spur_record_event(const struct spur_trace *trace,
					      const struct spur_record *record);

/* The pid of the task that wrote the record. */
SPUR_API int spur_record_pid(const struct spur_trace *trace, const struct spur_record *record);

/*
 * The name of that task: "<idle>" for pid 0, "<...>" if it is unknown. If the trace's list lacks a
 * name, it is learned from events whose text was read by spur_record_text(). `record` is the last
 * one that the cursor returned.
 */
SPUR_API const char *spur_record_comm(struct spur_cursor *cursor, const struct spur_record *record);

/*
 * The text of the last returned record, as in a report, without a newline at its end. The cursor
 * owns it; it is valid until the next call. A function that calls no other one is shown with its
 * return; then the cursor skips the record of the return.
 */
SPUR_API const char *spur_record_text(struct spur_cursor *cursor, const struct spur_record *record);

/* ---- event types and fields ---- */

/* An event type by name, or NULL; system may be NULL for the first one of any system. */
SPUR_API struct spur_event *spur_event_find(const struct spur_trace *trace, const char *system,
					    const char *name);

/* The two parts of an event type's name: sched and sched_switch. */
SPUR_API const char *spur_event_system(const struct spur_event *event);
SPUR_API const char *spur_event_name(const struct spur_event *event);

/* How many fields the event type has; those that every event has come first. */
SPUR_API unsigned int spur_event_fields(struct spur_event *event);

/* A field of an event type by its name; NULL when there is none. */
SPUR_API const struct spur_field *spur_event_field(struct spur_event *event, const char *name);

/* A field by its number from 0; NULL when there is none. */
SPUR_API const struct spur_field *spur_event_field_at(struct spur_event *event,
						      unsigned int number);

/* The type of a field's value, which determines the function that reads it. */
enum spur_field_type {
	SPUR_FIELD_UNSIGNED, /* a number: spur_field_number() */
	SPUR_FIELD_SIGNED,   /* the same, to be cast to int64_t */
	SPUR_FIELD_TEXT,     /* a string: spur_field_text() */
	SPUR_FIELD_ARRAY,    /* several numbers, or bytes: spur_field_bytes() */
};

/* The field's name as the event's format has it. */
SPUR_API const char *spur_field_name(const struct spur_field *field);

/* What the field holds. */
SPUR_API enum spur_field_type spur_field_type(const struct spur_field *field);

/* The C type of the field as the event's format spells it, such as "pid_t" or "char[16]". */
SPUR_API const char *spur_field_declaration(const struct spur_field *field);

/* Reads a field as a number (sign-extended if it is signed). 0, or -EINVAL if it is no number. */
SPUR_API int spur_field_number(const struct spur_trace *trace, const struct spur_field *field,
			       const struct spur_record *record, uint64_t *value);

/* The field's bytes in the record (strings, arrays); NULL if the record is too short. */
SPUR_API const void *spur_field_bytes(const struct spur_trace *trace,
				      const struct spur_field *field,
				      const struct spur_record *record, size_t *size);

/*
 * The value of any field as a string, as `spur report -R` shows it. `record` is the last one that
 * the cursor returned. The cursor owns the string; it is valid until the next call.
 */
SPUR_API const char *spur_field_text(struct spur_cursor *cursor, const struct spur_field *field,
				     const struct spur_record *record);

#ifdef __cplusplus
}
#endif
#endif
