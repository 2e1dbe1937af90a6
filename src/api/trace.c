// SPDX-License-Identifier: LGPL-2.1-or-later
/* Traces, event types and fields of <spur/trace.h>, on top of src/scan and src/event. */
#include <spur/trace.h>

#include <errno.h>

#include "api/api.h"
#include "base/error.h"
#include "scan/trace.h"

const char *spur_version(void)
{
	return SPUR_VERSION;
}

/* ---- traces ---- */

int spur_trace_open(const char *path, struct spur_trace **trace, struct spur_error *err)
{
	return trace_open(path, NULL, trace, err);
}

int spur_traces_open(const char *const *paths, size_t nr, struct spur_trace **traces,
		     struct spur_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < nr; i++)
		traces[i] = NULL;
	for (size_t i = 0; rc == 0 && i < nr; i++)
		rc = trace_open(paths[i], NULL, &traces[i], err);
	if (rc == 0 && nr)
		rc = trace_map_guests(traces, nr);
	if (rc < 0) {
		error_sys(err, rc, "%s", paths[0]);
		spur_traces_close(traces, nr);
	}
	return rc;
}

void spur_trace_close(struct spur_trace *trace)
{
	trace_close(trace);
}

/* In order: the first trace may use the names of functions of the others. */
void spur_traces_close(struct spur_trace **traces, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		trace_close(traces[i]);
		traces[i] = NULL;
	}
}

int spur_trace_damage(const struct spur_trace *trace, struct spur_error *err)
{
	const struct dat_damage *d = &trace->dat->damage;

	return d->code ? error_set(err, d->code, "%s: %s (at offset %llu)", trace->dat->path,
				   d->text, (unsigned long long)d->offset)
		       : 0;
}

const char *spur_trace_path(const struct spur_trace *trace)
{
	return trace->dat->path;
}

const char *spur_trace_uname(const struct spur_trace *trace)
{
	return trace->dat->uname;
}

uint32_t spur_trace_buffers(const struct spur_trace *trace)
{
	return trace->nr_buffers;
}

const char *spur_trace_buffer_name(const struct spur_trace *trace, uint32_t buffer)
{
	return buffer < trace->nr_buffers ? trace->buffers[buffer].data->name : "";
}

size_t spur_trace_events(const struct spur_trace *trace)
{
	return trace->events->nr;
}

struct spur_event *spur_trace_event_at(const struct spur_trace *trace, size_t number)
{
	return number < trace->events->nr ? event_out(trace->events->list[number]) : NULL;
}

/* ---- records ---- */

struct spur_event *spur_record_event(const struct spur_trace *trace,
				     const struct spur_record *record)
{
	return event_out(events_of_record(trace->events, record));
}

int spur_record_pid(const struct spur_trace *trace, const struct spur_record *record)
{
	return events_record_pid(trace->events, record);
}

/* ---- event types and fields ---- */

struct spur_event *spur_event_find(const struct spur_trace *trace, const char *system,
				   const char *name)
{
	return event_out(events_find(trace->events, system, name));
}

const char *spur_event_system(const struct spur_event *event)
{
	return ((const struct event *)event)->system;
}

const char *spur_event_name(const struct spur_event *event)
{
	return ((const struct event *)event)->name;
}

unsigned int spur_event_fields(struct spur_event *event)
{
	event_ready(event_in(event));
	return event_in(event)->nr_fields;
}

const struct spur_field *spur_event_field(struct spur_event *event, const char *name)
{
	return field_out(event_field_find(event_in(event), name));
}

const struct spur_field *spur_event_field_at(struct spur_event *event, unsigned int number)
{
	return number < spur_event_fields(event) ? field_out(&event_in(event)->fields[number])
						 : NULL;
}

const char *spur_field_name(const struct spur_field *field)
{
	return field_in(field)->name;
}

enum spur_field_type spur_field_type(const struct spur_field *field)
{
	const struct event_field *f = field_in(field);

	if (f->flags & FIELD_STRING)
		return SPUR_FIELD_TEXT;
	if (f->flags & (FIELD_ARRAY | FIELD_DYNAMIC) ||
	    (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8))
		return SPUR_FIELD_ARRAY;
	return f->flags & FIELD_SIGNED ? SPUR_FIELD_SIGNED : SPUR_FIELD_UNSIGNED;
}

const char *spur_field_declaration(const struct spur_field *field)
{
	return field_in(field)->type;
}

int spur_field_number(const struct spur_trace *trace, const struct spur_field *field,
		      const struct spur_record *record, uint64_t *value)
{
	return field_number(trace->events, field_in(field), record, value) ? 0 : -EINVAL;
}

const void *spur_field_bytes(const struct spur_trace *trace, const struct spur_field *field,
			     const struct spur_record *record, size_t *size)
{
	return field_bytes(trace->events, field_in(field), record, size);
}
