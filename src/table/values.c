// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values of records, as a table shows them. What does not lie in the record is NULL. A number of 64
 * bits without a sign keeps its bits: SQLite's numbers have one.
 */
#include <string.h>

#include "table/cells.h"
#include "event/names.h"
#include "event/plan.h"

#define MAX_TEXT (4u << 20)

void reader_init(struct reader *rd, const struct spur_trace *t)
{
	*rd = (struct reader){.trace = t};
	buf_init(&rd->text, MAX_TEXT);
}

void reader_done(struct reader *rd)
{
	if (rd->has_printer)
		event_printer_done(&rd->printer);
	buf_free(&rd->text);
}

static struct event_printer *printer(struct reader *rd)
{
	if (!rd->has_printer) {
		if (event_printer_init(&rd->printer, rd->trace->events) < 0)
			return NULL;
		/* Which calls a function stands below depends on records that are not read. */
		rd->printer.opt.no_indent = true;
		rd->has_printer = true;
	}
	return &rd->printer;
}

static void set_number(struct value *v, int64_t number)
{
	v->type = VALUE_NUMBER;
	v->number = number;
}

static void set_text(struct value *v, const char *text, size_t len, bool stays)
{
	v->type = VALUE_TEXT;
	v->text = text;
	v->len = len;
	v->stays = stays;
}

static void set_name(struct value *v, const char *name)
{
	set_text(v, name, strlen(name), true);
}

static void get_number(const struct reader *rd, const struct event_field *f,
		       const struct spur_record *r, struct value *v)
{
	uint64_t number;

	if (field_number(rd->trace->events, f, r, &number))
		set_number(v, (int64_t)number);
}

static void get_string(const struct reader *rd, const struct event_field *f,
		       const struct spur_record *r, struct value *v)
{
	size_t size;
	const uint8_t *bytes;

	if (!(f->flags & FIELD_DYNAMIC) && f->size && f->offset <= r->size &&
	    f->size <= r->size - f->offset) {
		bytes = r->data + f->offset;
		size = f->size;
	} else {
		bytes = field_bytes(rd->trace->events, f, r, &size);
	}
	if (bytes)
		set_text(v, (const char *)bytes, strnlen((const char *)bytes, size), false);
}

static void get_array(struct reader *rd, const struct event_field *f, const struct spur_record *r,
		      struct value *v)
{
	const struct events *ev = rd->trace->events;
	uint32_t each = f->elem_size, offset;
	size_t size;
	const uint8_t *bytes = field_bytes(ev, f, r, &size);

	if (!bytes)
		return;
	if (each != 1 && each != 2 && each != 4 && each != 8)
		each = 1;
	offset = (uint32_t)(bytes - r->data);
	buf_reset(&rd->text);
	for (size_t i = 0; i + each <= size; i += each, offset += each) {
		if (i)
			buf_putc(&rd->text, ' ');
		if (f->flags & FIELD_SIGNED)
			buf_i64(&rd->text, record_int(ev, r, offset, each));
		else
			buf_u64(&rd->text, record_uint(ev, r, offset, each));
	}
	set_text(v, rd->text.data, rd->text.len, false);
}

static void get_named(struct reader *rd, const struct cell *c, const struct spur_record *r,
		      struct value *v)
{
	struct event_printer *p = printer(rd);

	if (!p)
		return;
	buf_reset(&rd->text);
	naming_print(&c->names, p, r, &rd->text);
	set_text(v, rd->text.data, rd->text.len, false);
}

static void get_symbol(const struct reader *rd, const struct event_field *f,
		       const struct spur_record *r, struct value *v)
{
	const struct symbol *sym;
	uint64_t addr;

	if (!field_number(rd->trace->events, f, r, &addr))
		return;
	sym = symbols_find(rd->trace->events->symbols, addr);
	if (sym)
		set_text(v, sym->name, sym->len, true);
}

static void get_report(struct reader *rd, struct event *e, const struct spur_record *r,
		       struct value *v)
{
	struct event_printer *p = e ? printer(rd) : NULL;
	size_t start = 0;

	if (!p)
		return;
	buf_reset(&rd->text);
	event_print(p, e, r, &rd->text);
	while (rd->text.len && strchr(" \n", rd->text.data[rd->text.len - 1]))
		rd->text.len--;
	while (start < rd->text.len && rd->text.data[start] == ' ')
		start++;
	set_text(v, rd->text.data + start, rd->text.len - start, false);
}

void reader_get(struct reader *rd, const struct cell *c, struct event *e,
		const struct spur_record *r, struct value *v)
{
	const struct events *ev = rd->trace->events;
	const char *name;
	size_t len;

	v->type = VALUE_NULL;
	switch (c->kind) {
	case CELL_TS: set_number(v, (int64_t)r->ts); break;
	case CELL_CPU: set_number(v, r->cpu); break;
	case CELL_PID: set_number(v, events_record_pid(ev, r)); break;
	case CELL_COMM:
		name = comms_find(ev->comms, events_record_pid(ev, r), &len);
		set_text(v, name, len, true);
		break;
	case CELL_BUFFER: set_name(v, rd->trace->buffers[r->buffer].data->name); break;
	case CELL_SYSTEM:
		if (e)
			set_name(v, e->system);
		break;
	case CELL_EVENT:
		if (e)
			set_name(v, e->name);
		break;
	case CELL_REPORT: get_report(rd, e, r, v); break;
	case CELL_NUMBER: get_number(rd, c->field, r, v); break;
	case CELL_STRING: get_string(rd, c->field, r, v); break;
	case CELL_ARRAY: get_array(rd, c->field, r, v); break;
	case CELL_NAMED: get_named(rd, c, r, v); break;
	case CELL_SYMBOL: get_symbol(rd, c->field, r, v); break;
	}
}
