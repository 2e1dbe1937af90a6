// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What --fields selects of a record, and the outputs that consist of such columns: JSON, CSV,
 * tables.
 */
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

/* ---- values ---- */

/* How a value is written. */
enum value_style { VALUE_JSON, VALUE_CSV, VALUE_PLAIN };

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

/* Appends a field's value with its type: number, text, or a list of numbers. */
static void field_value(struct emitter *em, const struct event_field *f,
			const struct spur_record *r, enum value_style style, struct buf *out)
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

/* The task's name at that time if the file says it, else the one that lines have. */
static void put_comm(struct emitter *em, const struct spur_record *r, enum value_style style,
		     struct buf *out)
{
	const int pid = events_record_pid(em->now->trace->events, r);
	const struct dat_task *told = trace_task_named(em->now->trace, &em->now->told, pid, r->ts);
	size_t len = told ? strlen(told->name) : 0;
	const char *comm = told ? told->name : emitter_comm(em, pid, &len);

	put_text(comm, len, style, out);
}

/* Appends a column's value; false, and nothing appended, when the record does not have it. */
static bool column_value(struct emitter *em, const struct emit_column *col,
			 const struct spur_record *r, struct event *e, enum value_style style,
			 struct buf *out)
{
	const struct events *ev = em->now->trace->events;
	const struct event_field *f;

	switch (col->kind) {
	case EMIT_TS: buf_u64(out, r->ts); return true;
	case EMIT_TIME: emit_time(em->opt, em->buffer, r->ts, out); return true;
	case EMIT_CPU: buf_u64(out, r->cpu); return true;
	case EMIT_PID: buf_i64(out, events_record_pid(ev, r)); return true;
	case EMIT_COMM: put_comm(em, r, style, out); return true;
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

/* ---- JSON ---- */

/*
 * JSON, one object a line:
 *
 *	{"ts":44776459089,"cpu":0,"pid":232,"comm":"wl","system":"raw_syscalls",
 *	 "event":"sys_exit","fields":{"id":1,"ret":1}}
 *
 * "buffer" (or the file's name) and "lost" appear only if needed. With --fields the object is flat
 * and has the given columns.
 */

static const struct emit_column usual_json[] = {
	{EMIT_TS, "ts"},	 {EMIT_CPU, "cpu"},	  {EMIT_PID, "pid"},
	{EMIT_COMM, "comm"},	 {EMIT_BUFFER, "buffer"}, {EMIT_LOST, "lost"},
	{EMIT_SYSTEM, "system"}, {EMIT_EVENT, "event"},
};

/* Appends `"name":value` with a comma in front where one is due; nothing when there is no value. */
static void put_member(struct emitter *em, const struct emit_column *c, const struct spur_record *r,
		       struct event *e, struct buf *out)
{
	size_t before = out->len;

	if (out->len && out->data[out->len - 1] != '{')
		buf_putc(out, ',');
	buf_json_string(out, c->name, strlen(c->name));
	buf_putc(out, ':');
	if (!column_value(em, c, r, e, VALUE_JSON, out))
		out->len = before;
}

static void put_fields(struct emitter *em, const struct spur_record *r, struct event *e,
		       struct buf *out)
{
	buf_puts(out, ",\"fields\":{");
	event_ready(e);
	for (uint32_t i = e->nr_common; i < e->nr_fields; i++) {
		const struct event_field *f = &e->fields[i];

		if (i > e->nr_common)
			buf_putc(out, ',');
		buf_json_string(out, f->name, strlen(f->name));
		buf_putc(out, ':');
		field_value(em, f, r, VALUE_JSON, out);
	}
	buf_putc(out, '}');
}

static void json_record(struct emitter *em, const struct spur_record *r, struct event *e,
			struct buf *out)
{
	const struct emit_columns *cols = em->opt->columns;

	buf_putc(out, '{');
	if (cols) {
		for (size_t i = 0; i < cols->n; i++)
			put_member(em, &cols->at[i], r, e, out);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(usual_json); i++)
			put_member(em, &usual_json[i], r, e, out);
		if (e)
			put_fields(em, r, e, out);
	}
	buf_puts(out, "}\n");
	if (e)
		event_learn(&em->now->printer, e, r);
}

const struct emit_ops emit_json = {
	.record = json_record,
};

/* ---- tables ---- */

/*
 * Tables: CSV (RFC 4180, with a line of names first), and plain columns separated by tabs, which is
 * what --fields gives without --csv or --json.
 */

static const struct emit_column usual_csv[] = {
	{EMIT_TS, "ts"},	 {EMIT_CPU, "cpu"},	{EMIT_PID, "pid"},   {EMIT_COMM, "comm"},
	{EMIT_SYSTEM, "system"}, {EMIT_EVENT, "event"}, {EMIT_INFO, "info"},
};

static const struct emit_column *columns_of(const struct emit_options *opt, size_t *n)
{
	if (opt->columns) {
		*n = opt->columns->n;
		return opt->columns->at;
	}
	*n = ARRAY_SIZE(usual_csv);
	return usual_csv;
}

static void csv_begin(const struct emit_options *opt, struct buf *out)
{
	size_t n;
	const struct emit_column *cols = columns_of(opt, &n);

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(out, ',');
		buf_csv_cell(out, cols[i].name, strlen(cols[i].name));
	}
	buf_putc(out, '\n');
}

static void put_row(struct emitter *em, const struct spur_record *r, struct event *e,
		    enum value_style style, char separator, struct buf *out)
{
	size_t n;
	const struct emit_column *cols = columns_of(em->opt, &n);

	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_putc(out, separator);
		if (!column_value(em, &cols[i], r, e, style, out) && style == VALUE_PLAIN)
			buf_putc(out, '-');
	}
	buf_putc(out, '\n');
	if (e)
		event_learn(&em->now->printer, e, r);
}

static void csv_record(struct emitter *em, const struct spur_record *r, struct event *e,
		       struct buf *out)
{
	put_row(em, r, e, VALUE_CSV, ',', out);
}

static void table_record(struct emitter *em, const struct spur_record *r, struct event *e,
			 struct buf *out)
{
	put_row(em, r, e, VALUE_PLAIN, '\t', out);
}

const struct emit_ops emit_csv = {
	.begin = csv_begin,
	.record = csv_record,
};

const struct emit_ops emit_table = {
	.record = table_record,
};
