// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The columns of an event type's table, and the values of records in them.
 *
 * Columns: what every record has, then the event's own fields, then the buffer. A field that the
 * print format shows by name has a second column with that name. Fields may have any name. Names
 * that would collide get a suffix; upper and lower case count as equal, as in SQLite. A value
 * beyond the end of the record is NULL.
 */
#include "table/cells.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/vec.h"
#include "event/names.h"
#include "event/plan.h"

#define MAX_CELLS 1900 /* SQLite has a limit of 2000 */
#define MAX_NAME  200
#define MAX_DEPTH 64 /* of expressions of print formats that are searched */
#define MAX_TEXT  (4u << 20)

/* ---- columns ---- */

static const struct {
	const char *name;
	enum cell_kind kind;
	const char *about;
} usual[] =
	{
		{"ts", CELL_TS, "time in nanoseconds"},
		{"cpu", CELL_CPU, "CPU it was recorded on"},
		{"pid", CELL_PID, "task that was running"},
		{"comm", CELL_COMM, "name of that task"},
},
  of_events[] = {
	  {"system", CELL_SYSTEM, "the event's system"},
	  {"event", CELL_EVENT, "the event's name"},
	  {"text", CELL_REPORT, "its text as 'spur report' shows it"},
};

static const char buffer_about[] = "the buffer it was recorded in, '' for the top one";

static bool taken(const struct cells *cells, const char *name)
{
	/* The name of the last column is reserved. */
	if (strcasecmp(name, "buffer") == 0)
		return true;
	vec_each (c, cells)
		if (strcasecmp(c->name, name) == 0)
			return true;
	return false;
}

static int add(struct cells *cells, const char *name, const struct cell *like)
{
	struct cell *c;
	char *copy;

	copy = strdup(name);
	c = copy ? vec_push(cells) : NULL;
	if (!c) {
		free(copy);
		return -ENOMEM;
	}
	*c = *like;
	c->name = copy;
	return 0;
}

/*
 * args_NAME for a field with the name of a column that every record has, NAME_2 for other
 * duplicates.
 */
static int add_field(struct cells *cells, const char *name, const char *suffix,
		     const struct cell *like)
{
	char text[MAX_NAME + 48];

	if (cells->n >= MAX_CELLS)
		return 0;
	snprintf(text, sizeof(text), "%.*s%s", MAX_NAME, *name ? name : "field", suffix);
	if (taken(cells, text))
		snprintf(text, sizeof(text), "args_%.*s%s", MAX_NAME, name, suffix);
	for (unsigned int i = 2; taken(cells, text); i++)
		snprintf(text, sizeof(text), "%.*s%s_%u", MAX_NAME, name, suffix, i);
	return add(cells, text, like);
}

/* ---- what the print format says about a field ---- */

/* These fields of ftrace's own events and of probes are addresses, whatever their format says. */
static bool known_address(const struct event *e, const struct event_field *f)
{
	static const char *const of_ftrace[] = {"ip", "parent_ip", "func", NULL};
	static const char *const of_probes[] = {"__probe_ip", "__probe_func", "__probe_ret_ip",
						NULL};
	const char *const *list = strcmp(e->system, "ftrace") == 0 ? of_ftrace : of_probes;

	while (*list && strcmp(*list, f->name) != 0)
		list++;
	return *list;
}

static bool is_function(const struct event *e, const struct event_field *f)
{
	if (f->flags & (FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC) ||
	    (f->size != 4 && f->size != 8))
		return false;
	for (uint32_t i = 0; e->plan && !e->plan->printk && i < e->plan->nr_ops; i++) {
		const struct plan_op *op = &e->plan->ops[i];
		const struct expr *arg = op->arg;

		if (op->kind != PLAN_POINTER || !op->spec ||
		    !strchr("sSfF", op->spec->text[op->spec->pointer]) ||
		    !op->spec->text[op->spec->pointer])
			continue;
		for (int depth = 0; arg && arg->kind == EXPR_CAST && depth < MAX_DEPTH; depth++)
			arg = arg->cast.item;
		if (arg && arg->kind == EXPR_FIELD && arg->field.at == f)
			return true;
	}
	return known_address(e, f);
}

static enum cell_kind kind_of(const struct event_field *f)
{
	if (f->flags & FIELD_STRING)
		return CELL_STRING;
	if (f->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
		return CELL_ARRAY;
	return f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8 ? CELL_NUMBER
									    : CELL_ARRAY;
}

static int add_event_field(struct cells *cells, struct event *e, const struct event_field *f)
{
	struct cell like = {.kind = kind_of(f), .field = f, .about = f->type};
	int rc = add_field(cells, f->name, "", &like);

	if (like.kind == CELL_NUMBER)
		like.names = naming_find(e, f);
	if (rc == 0 && like.names.nr) {
		like.kind = CELL_NAMED;
		like.about = "the same by name";
		rc = add_field(cells, f->name, "_name", &like);
	} else if (rc == 0 && like.kind == CELL_NUMBER && is_function(e, f)) {
		like.kind = CELL_SYMBOL;
		like.about = "the function at that address";
		rc = add_field(cells, f->name, "_sym", &like);
	}
	return rc;
}

int cells_make(struct cells *cells, struct event *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(usual); i++)
		rc = add(cells, usual[i].name,
			 &(struct cell){.kind = usual[i].kind, .about = usual[i].about});
	for (size_t i = 0; !e && rc == 0 && i < ARRAY_SIZE(of_events); i++)
		rc = add(cells, of_events[i].name,
			 &(struct cell){.kind = of_events[i].kind, .about = of_events[i].about});
	if (e && event_ready(e) != EVENT_BROKEN)
		for (uint32_t i = e->nr_common; rc == 0 && i < e->nr_fields; i++)
			rc = add_event_field(cells, e, &e->fields[i]);
	return rc < 0 ? rc
		      : add(cells, "buffer",
			    &(struct cell){.kind = CELL_BUFFER, .about = buffer_about});
}

void cells_free(struct cells *cells)
{
	vec_each (c, cells)
		free(c->name);
	vec_free(cells);
}

bool cell_is_text(const struct cell *c)
{
	return c->kind != CELL_TS && c->kind != CELL_CPU && c->kind != CELL_PID &&
	       c->kind != CELL_NUMBER;
}

/* ---- values ---- */

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
		/* The indentation of a function depends on records that are not read. */
		rd->printer.opt.no_indent = true;
		rd->has_printer = true;
	}
	return &rd->printer;
}

static void set_number(struct cell_value *v, int64_t number)
{
	v->type = VALUE_NUMBER;
	v->number = number;
}

static void set_text(struct cell_value *v, const char *text, size_t len, bool stays)
{
	v->type = VALUE_TEXT;
	v->text = text;
	v->len = len;
	v->stays = stays;
}

static void set_name(struct cell_value *v, const char *name)
{
	set_text(v, name, strlen(name), true);
}

/* The task's name at that time if the file says it, else the one at the end of the recording. */
static void get_comm(struct reader *rd, const struct spur_record *r, struct cell_value *v)
{
	const int pid = events_record_pid(rd->trace->events, r);
	const struct dat_task *told = trace_task_named(rd->trace, &rd->told, pid, r->ts);
	size_t len;
	const char *name;

	if (told) {
		set_name(v, told->name);
	} else {
		name = comms_find(rd->trace->events->comms, pid, &len);
		set_text(v, name, len, true);
	}
}

static void get_number(const struct reader *rd, const struct event_field *f,
		       const struct spur_record *r, struct cell_value *v)
{
	uint64_t number;

	if (field_number(rd->trace->events, f, r, &number))
		set_number(v, (int64_t)number);
}

static void get_string(const struct reader *rd, const struct event_field *f,
		       const struct spur_record *r, struct cell_value *v)
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
		      struct cell_value *v)
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
		      struct cell_value *v)
{
	struct event_printer *p = printer(rd);

	if (!p)
		return;
	buf_reset(&rd->text);
	naming_print(&c->names, p, r, &rd->text);
	set_text(v, rd->text.data, rd->text.len, false);
}

static void get_symbol(const struct reader *rd, const struct event_field *f,
		       const struct spur_record *r, struct cell_value *v)
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
		       struct cell_value *v)
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
		const struct spur_record *r, struct cell_value *v)
{
	const struct events *ev = rd->trace->events;

	v->type = VALUE_NULL;
	switch (c->kind) {
	case CELL_TS: set_number(v, (int64_t)r->ts); break;
	case CELL_CPU: set_number(v, r->cpu); break;
	case CELL_PID: set_number(v, events_record_pid(ev, r)); break;
	case CELL_COMM: get_comm(rd, r, v); break;
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
