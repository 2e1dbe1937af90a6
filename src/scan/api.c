// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The public face of the reader: include/spur/trace.h in terms of what the folders offer each
 * other. struct spur_event and struct spur_field are struct event and struct event_field under
 * names of their own, so that the public headers do not show their members.
 */
#include <spur/trace.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "event/names.h"
#include "scan/merge.h"
#include "scan/trace.h"

#define TEXT_LIMIT (16u << 20)

struct spur_cursor {
	struct spur_trace *trace;
	struct merge merge;
	struct event_printer printer;
	struct buf text;
	uint64_t since; /* records before this time are passed over */
};

static struct event *event_in(struct spur_event *e)
{
	return (struct event *)e;
}

static const struct event_field *field_in(const struct spur_field *f)
{
	return (const struct event_field *)f;
}

int spur_trace_open(const char *path, struct spur_trace **trace, struct spur_error *err)
{
	return trace_open(path, NULL, trace, err);
}

void spur_trace_close(struct spur_trace *trace)
{
	trace_close(trace);
}

int spur_trace_damage(const struct spur_trace *trace, struct spur_error *err)
{
	const struct dat_damage *d = &trace->dat->damage;

	return d->code ? error_set(err, d->code, "%s: %s (at offset %llu)", trace->dat->path,
				   d->text, (unsigned long long)d->offset)
		       : 0;
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

int spur_cursor_open(struct spur_trace *trace, struct spur_cursor **cursor, struct spur_error *err)
{
	struct spur_cursor *c = calloc(1, sizeof(*c));
	int rc = c ? 0 : -ENOMEM;

	*cursor = NULL;
	if (!c)
		return error_set(err, rc, "out of memory");
	c->trace = trace;
	merge_init(&c->merge);
	buf_init(&c->text, TEXT_LIMIT);
	rc = event_printer_init(&c->printer, trace->events);
	merge_feed(&c->merge, &c->printer);
	for (uint32_t i = 0; rc == 0 && i < trace->nr_buffers; i++)
		if (!trace->buffers[i].data->text)
			rc = merge_add_buffer(&c->merge, &trace->buffers[i]);
	if (rc < 0) {
		spur_cursor_close(c);
		return error_sys(err, rc, "%s", trace->dat->path);
	}
	merge_start(&c->merge);
	*cursor = c;
	return 0;
}

void spur_cursor_close(struct spur_cursor *cursor)
{
	if (!cursor)
		return;
	event_printer_done(&cursor->printer);
	merge_free(&cursor->merge);
	buf_free(&cursor->text);
	free(cursor);
}

const struct spur_record *spur_cursor_next(struct spur_cursor *cursor)
{
	const struct spur_record *r;

	do {
		r = merge_next(&cursor->merge);
	} while (r && r->ts < cursor->since);
	return r;
}

void spur_cursor_seek(struct spur_cursor *cursor, uint64_t ts)
{
	cursor->since = ts;
	for (uint32_t i = 0; i < cursor->merge.nr; i++) {
		struct lane *l = &cursor->merge.lanes[i];

		lane_seek_time(l, ts, l->nr_pages / 2);
	}
	merge_start(&cursor->merge);
}

struct spur_event *spur_record_event(const struct spur_trace *trace,
				     const struct spur_record *record)
{
	return (struct spur_event *)events_of_record(trace->events, record);
}

int spur_record_pid(const struct spur_trace *trace, const struct spur_record *record)
{
	return events_record_pid(trace->events, record);
}

const char *spur_record_comm(struct spur_cursor *cursor, const struct spur_record *record)
{
	size_t len;

	return overlay_find(cursor->printer.learned,
			    events_record_pid(cursor->trace->events, record), &len);
}

const char *spur_record_text(struct spur_cursor *cursor, const struct spur_record *record)
{
	struct event *e = events_of_record(cursor->trace->events, record);
	struct buf *text = &cursor->text;

	buf_reset(text);
	if (e)
		event_print(&cursor->printer, e, record, text);
	if (text->len && text->data[text->len - 1] == '\n')
		text->len--;
	return buf_str(text);
}

struct spur_event *spur_event_find(const struct spur_trace *trace, const char *system,
				   const char *name)
{
	return (struct spur_event *)events_find(trace->events, system, name);
}

const char *spur_event_system(const struct spur_event *event)
{
	return ((const struct event *)event)->system;
}

const char *spur_event_name(const struct spur_event *event)
{
	return ((const struct event *)event)->name;
}

const struct spur_field *spur_event_field(struct spur_event *event, const char *name)
{
	return (const struct spur_field *)event_field_find(event_in(event), name);
}

const struct spur_field *spur_event_field_at(struct spur_event *event, unsigned int number)
{
	struct event *e = event_in(event);

	event_ready(e);
	return number < e->nr_fields ? (const struct spur_field *)&e->fields[number] : NULL;
}

const char *spur_field_name(const struct spur_field *field)
{
	return field_in(field)->name;
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
