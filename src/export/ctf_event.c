// SPDX-License-Identifier: GPL-2.0-or-later
/* Event types as CTF has them, and the fields of records. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "event/names.h"
#include "event/plan.h"
#include "export/ctf_parts.h"

#define ARENA_LIMIT (256u << 20)
#define MAX_NAME    200
#define MAX_ARRAY   4096 /* bytes; longer ones are stored as long as they are in each record */

int ctf_trace_init(struct ctf_trace *c, struct spur_trace *t, struct spur_error *err)
{
	int rc;

	*c = (struct ctf_trace){.trace = t, .big_endian = t->events->big_endian};
	arena_init(&c->arena, ARENA_LIMIT);
	rc = identity_make(&c->id, t, err);
	if (rc < 0)
		return rc;
	/* The streams have the clock's own times unless these would be negative. */
	if (c->id.has_wall && t->dat->date_offset > 0 &&
	    c->id.first >= (uint64_t)t->dat->date_offset)
		c->clock_offset = t->dat->date_offset;
	c->numbers = calloc(t->events->nr + 1, sizeof(*c->numbers));
	return c->numbers ? 0 : error_set(err, -ENOMEM, "out of memory");
}

void ctf_trace_free(struct ctf_trace *c)
{
	free(c->numbers);
	free(c->classes);
	arena_free(&c->arena);
}

/* ---- types ---- */

/* Whether a name is that of the length of a sequence, see put_field(). */
static bool is_length_of(const char *name, const struct ctf_field *sequence, const char *of)
{
	const size_t len = strlen(of);

	return sequence->kind == CTF_SEQUENCE && strncmp(name, of, len) == 0 &&
	       strcmp(name + len, "_length") == 0;
}

/* Readers take one underscore away, or none: names that differ in these only are the same. */
static bool taken(const struct ctf_class *class, const struct ctf_field *field, const char *name)
{
	name += strspn(name, "_");
	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const char *other = class->fields[i].name + strspn(class->fields[i].name, "_");

		if (strcmp(name, other) == 0 || is_length_of(name, &class->fields[i], other) ||
		    is_length_of(other, field, name))
			return true;
	}
	return false;
}

/* Names are a stranger's: what is no letter of an identifier becomes an underscore. */
static char *name_field(struct ctf_trace *c, const struct ctf_class *class,
			const struct ctf_field *field, const char *name)
{
	char text[MAX_NAME + 16];
	size_t n = 0;

	for (; name[n] && n < MAX_NAME; n++)
		text[n] = isalnum((unsigned char)name[n]) ? name[n] : '_';
	text[n] = '\0';
	for (unsigned int i = 2; taken(class, field, text); i++)
		snprintf(text + n, sizeof(text) - n, "_%u", i);
	return arena_strdup(&c->arena, text);
}

static bool is_hex(const struct event_field *f)
{
	const struct plan_op *op = f->shown;

	if (f->flags & FIELD_POINTER)
		return true;
	return op && (op->kind == PLAN_HEX || op->kind == PLAN_POINTER ||
		      (op->kind == PLAN_NUMBER && op->spec &&
		       (op->spec->conv == CONV_HEX || op->spec->conv == CONV_HEX_UPPER)));
}

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Stacks, ftrace's own, are longer or shorter than their format says. */
static void set_type(struct ctf_field *to, const struct event_field *f, bool varies)
{
	to->field = f;
	to->is_signed = f->flags & FIELD_SIGNED && !(f->flags & FIELD_POINTER);
	to->hex = is_hex(f);
	to->each = is_number_size(f->elem_size) ? f->elem_size : 1;
	if (f->flags & FIELD_STRING) {
		to->kind = CTF_STRING;
	} else if (!(f->flags & (FIELD_ARRAY | FIELD_DYNAMIC)) && is_number_size(f->size)) {
		to->kind = CTF_NUMBER;
		to->each = f->size;
	} else if (!(f->flags & FIELD_DYNAMIC) && !varies && f->size && f->size <= MAX_ARRAY &&
		   f->size % to->each == 0) {
		to->kind = CTF_ARRAY;
		to->nr = f->size / to->each;
	} else {
		to->kind = CTF_SEQUENCE;
	}
}

/* One that is not described, or not understood, has its bytes. */
static int fill_bytes(struct ctf_trace *c, struct ctf_class *class)
{
	class->fields = arena_array(&c->arena, 1, sizeof(*class->fields));
	if (!class->fields)
		return -ENOMEM;
	class->fields[0] =
		(struct ctf_field){.name = "bytes", .kind = CTF_SEQUENCE, .each = 1, .hex = true};
	class->nr_fields = 1;
	return 0;
}

static int fill(struct ctf_trace *c, struct ctf_class *class)
{
	const struct event *e = class->event;
	uint32_t nr;

	if (!e || event_ready(class->event) == EVENT_BROKEN)
		return fill_bytes(c, class);
	nr = e->nr_fields - e->nr_common;
	class->fields = arena_array(&c->arena, nr + 1, sizeof(*class->fields));
	if (!class->fields)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++) {
		const struct event_field *f = &e->fields[e->nr_common + i];

		set_type(&class->fields[i], f, i + 1 == nr && strcmp(e->system, "ftrace") == 0);
		class->fields[i].name = name_field(c, class, &class->fields[i], f->name);
		if (!class->fields[i].name)
			return -ENOMEM;
		class->nr_fields++;
	}
	return 0;
}

static int add_class(struct ctf_trace *c, struct event *e)
{
	int rc;

	if (c->nr_classes == c->cap_classes) {
		const uint32_t cap = c->cap_classes ? c->cap_classes * 2 : 64;
		struct ctf_class *classes = realloc(c->classes, cap * sizeof(*classes));

		if (!classes)
			return -ENOMEM;
		c->classes = classes;
		c->cap_classes = cap;
	}
	c->classes[c->nr_classes] = (struct ctf_class){.event = e};
	rc = fill(c, &c->classes[c->nr_classes]);
	return rc < 0 ? rc : (int)c->nr_classes++;
}

int ctf_class_of(struct ctf_trace *c, struct event *e)
{
	int rc = 0;

	if (!c->nr_classes)
		rc = add_class(c, NULL);
	if (rc < 0 || !e)
		return rc < 0 ? rc : CTF_UNKNOWN;
	if (c->numbers[e->index])
		return (int)c->numbers[e->index] - 1;
	if (c->nr_classes >= CTF_MAX_CLASSES)
		return CTF_UNKNOWN;
	rc = add_class(c, e);
	if (rc >= 0)
		c->numbers[e->index] = (uint32_t)rc + 1;
	return rc;
}

/* ---- values ---- */

void ctf_put_uint(const struct ctf_trace *c, uint64_t v, unsigned int size, struct buf *out)
{
	for (unsigned int i = 0; i < size; i++)
		buf_putc(out, (char)(v >> 8 * (c->big_endian ? size - 1 - i : i)));
}

static void put_string(const uint8_t *bytes, size_t size, struct buf *out)
{
	if (bytes)
		buf_put(out, bytes, strnlen((const char *)bytes, size));
	buf_putc(out, '\0');
}

/* What a short record lacks of an array is 0. */
static void put_array(const struct ctf_field *f, const uint8_t *bytes, size_t size, struct buf *out)
{
	const size_t whole = (size_t)f->nr * f->each, n = size < whole ? size : whole;

	if (bytes)
		buf_put(out, bytes, n);
	buf_fill(out, 0, whole - (bytes ? n : 0));
}

static void put_sequence(const struct ctf_trace *c, const struct ctf_field *f, const uint8_t *bytes,
			 size_t size, struct buf *out)
{
	const size_t nr = bytes ? size / f->each : 0;

	ctf_put_uint(c, nr, 4, out);
	if (nr)
		buf_put(out, bytes, nr * f->each);
}

void ctf_put_fields(const struct ctf_trace *c, const struct ctf_class *class,
		    const struct spur_record *r, struct buf *out)
{
	const struct events *ev = c->trace->events;

	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const struct ctf_field *f = &class->fields[i];
		const uint8_t *bytes = r->data;
		size_t size = r->size;

		if (f->kind == CTF_NUMBER) {
			ctf_put_uint(c, record_uint(ev, r, f->field->offset, f->each), f->each,
				     out);
			continue;
		}
		if (f->field)
			bytes = field_bytes(ev, f->field, r, &size);
		if (f->kind == CTF_STRING)
			put_string(bytes, size, out);
		else if (f->kind == CTF_ARRAY)
			put_array(f, bytes, size, out);
		else
			put_sequence(c, f, bytes, size, out);
	}
}

static uint64_t common_value(const struct events *ev, const struct event_field *f, bool has,
			     const struct spur_record *r)
{
	return has ? record_uint(ev, r, f->offset, f->size) : 0;
}

void ctf_put_context(const struct ctf_trace *c, const struct spur_record *r, struct buf *out)
{
	const struct events *ev = c->trace->events;
	const struct event_common *common = &ev->common;
	const int pid = events_record_pid(ev, r);
	size_t len;
	const char *comm = comms_find(ev->comms, pid, &len);

	ctf_put_uint(c, (uint32_t)pid, 4, out);
	put_string((const uint8_t *)comm, len, out);
	ctf_put_uint(c, events_record_flags(ev, r), 1, out);
	ctf_put_uint(c, common_value(ev, &common->preempt_count, common->has_preempt_count, r), 1,
		     out);
}
