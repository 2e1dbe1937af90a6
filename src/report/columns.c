// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of `--fields`: their names, and a record's values for JSON, CSV and text. */
#include "report/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"

static const char *const names[] = {
	[EMIT_TS] = "ts",	[EMIT_TIME] = "time",	  [EMIT_CPU] = "cpu",
	[EMIT_PID] = "pid",	[EMIT_COMM] = "comm",	  [EMIT_SYSTEM] = "system",
	[EMIT_EVENT] = "event", [EMIT_BUFFER] = "buffer", [EMIT_LOST] = "lost",
	[EMIT_INFO] = "info",
};

static enum emit_column_kind kind_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(names[i], name) == 0)
			return (enum emit_column_kind)i;
	return EMIT_FIELD;
}

int columns_parse(struct emit_columns *cols, const char *text, struct spur_error *err)
{
	while (true) {
		size_t len = strcspn(text, ",");
		struct emit_column *c;

		if (!len)
			return error_set(err, -EINVAL, "an empty name in the list of fields");
		c = vec_push(cols);
		if (!c)
			return error_set(err, -ENOMEM, "out of memory");
		c->name = strndup(text, len);
		if (!c->name)
			return error_set(err, -ENOMEM, "out of memory");
		c->kind = kind_of(c->name);
		if (!text[len])
			return 0;
		text += len + 1;
	}
}

void columns_free(struct emit_columns *cols)
{
	vec_each (c, cols)
		free(c->name);
	vec_free(cols);
}

/* A text in a table of tabs and lines, so tabs and newlines in it are replaced. */
static void put_cell(const char *s, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		buf_putc(out, s[i] == '\t' || s[i] == '\n' || s[i] == '\r' ? ' ' : s[i]);
}

static void put_text(const char *s, size_t n, enum value_style style, struct buf *out)
{
	if (style == VALUE_JSON)
		buf_json_string(out, s, n);
	else if (style == VALUE_CSV)
		buf_csv_cell(out, s, n);
	else
		put_cell(s, n, out);
}

static void put_pointer(uint64_t v, enum value_style style, struct buf *out)
{
	if (style == VALUE_JSON)
		buf_putc(out, '"');
	buf_puts(out, "0x");
	buf_hex(out, v);
	if (style == VALUE_JSON)
		buf_putc(out, '"');
}

static void put_number(const struct event_field *f, const struct events *ev,
		       const struct spur_record *r, uint32_t offset, uint32_t size, struct buf *out)
{
	if (f->flags & FIELD_SIGNED)
		buf_i64(out, record_int(ev, r, offset, size));
	else
		buf_u64(out, record_uint(ev, r, offset, size));
}

/* A list of numbers: [1, 2] in JSON, "1 2" elsewhere. */
static void put_array(const struct event_field *f, const struct events *ev,
		      const struct spur_record *r, const uint8_t *bytes, size_t size,
		      enum value_style style, struct buf *out)
{
	uint32_t each = f->elem_size;
	uint32_t offset = (uint32_t)(bytes - r->data);

	if (each != 1 && each != 2 && each != 4 && each != 8)
		each = 1;
	if (style == VALUE_JSON)
		buf_putc(out, '[');
	for (size_t i = 0; i + each <= size; i += each) {
		if (i)
			buf_putc(out, style == VALUE_JSON ? ',' : ' ');
		put_number(f, ev, r, offset + (uint32_t)i, each, out);
	}
	if (style == VALUE_JSON)
		buf_putc(out, ']');
}

void field_value(struct emitter *em, const struct event_field *f, const struct spur_record *r,
		 enum value_style style, struct buf *out)
{
	const struct events *ev = em->now->trace->events;
	uint64_t v;
	size_t size;
	const uint8_t *bytes;

	if (!(f->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC)) &&
	    field_number(ev, f, r, &v)) {
		if (f->flags & FIELD_POINTER)
			put_pointer(v, style, out);
		else
			put_number(f, ev, r, f->offset, f->size, out);
		return;
	}
	bytes = field_bytes(ev, f, r, &size);
	if (!bytes) {
		if (style == VALUE_JSON)
			buf_puts(out, "null");
		return;
	}
	if (f->flags & FIELD_STRING)
		put_text((const char *)bytes, strnlen((const char *)bytes, size), style, out);
	else
		put_array(f, ev, r, bytes, size, style, out);
}

static void put_info(struct emitter *em, const struct spur_record *r, struct event *e,
		     enum value_style style, struct buf *out)
{
	struct buf *text = &em->scratch;

	buf_reset(text);
	event_print(&em->now->printer, e, r, text);
	while (text->len && text->data[text->len - 1] == '\n')
		text->len--;
	put_text(text->data, text->len, style, out);
}

static bool put_buffer(struct emitter *em, enum value_style style, struct buf *out)
{
	const char *name = em->source->label && *em->source->label ? em->source->label
								   : em->buffer->data->name;

	if (!*name)
		return false;
	put_text(name, strlen(name), style, out);
	return true;
}

bool column_value(struct emitter *em, const struct emit_column *col, const struct spur_record *r,
		  struct event *e, enum value_style style, struct buf *out)
{
	const struct events *ev = em->now->trace->events;
	const struct event_field *f;
	const char *comm;
	size_t len;

	switch (col->kind) {
	case EMIT_TS: buf_u64(out, r->ts); return true;
	case EMIT_TIME: emit_time(em->opt, em->buffer, r->ts, out); return true;
	case EMIT_CPU: buf_u64(out, r->cpu); return true;
	case EMIT_PID: buf_i64(out, events_record_pid(ev, r)); return true;
	case EMIT_COMM:
		comm = emitter_comm(em, events_record_pid(ev, r), &len);
		put_text(comm, len, style, out);
		return true;
	case EMIT_BUFFER: return put_buffer(em, style, out);
	case EMIT_LOST:
		if (r->lost)
			buf_i64(out, r->lost);
		return r->lost != 0;
	default: break;
	}
	if (!e)
		return false;
	switch (col->kind) {
	case EMIT_SYSTEM: put_text(e->system, strlen(e->system), style, out); return true;
	case EMIT_EVENT: put_text(e->name, strlen(e->name), style, out); return true;
	case EMIT_INFO: put_info(em, r, e, style, out); return true;
	default: break;
	}
	f = event_field_find(e, col->name);
	if (!f)
		return false;
	field_value(em, f, r, style, out);
	return true;
}
