// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * <spur/writer.h>: makes a trace.dat of a program's own records and of copies of others. The import
 * (src/import) sorts and writes them; here event types get their numbers.
 *
 * The first error is stored in `why`. After it, every function does nothing and returns its errno.
 */
#include <spur/writer.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/error.h"
#include "base/newfile.h"
#include "base/vec.h"
#include "event/names.h"
#include "import/import.h"
#include "scan/trace.h"

#define MAX_FIELDS 256

/* A trace that records have been copied from. */
struct origin {
	const struct spur_trace *trace;
	uint32_t *ids; /* by the event's index: its number in the new file; 0: none yet */
};

struct spur_writer {
	char *path;
	struct import import;
	struct spur_error why;
	bool any_type; /* the byte order cannot change any more */
	struct {
		struct import_type **at;
		size_t n, cap;
	} types;
	struct {
		struct origin *at;
		size_t n, cap;
	} origins;
	const struct import_type *type; /* of the record that was begun, or NULL */
	struct import_context context;
	struct buf copy;
};

/* The first error, also one of the import. */
static int state(struct spur_writer *w)
{
	if (!w->why.code && w->import.rc < 0)
		error_sys(&w->why, w->import.rc, "%s", w->path);
	return w->why.code;
}

int spur_writer_open(const char *path, struct spur_writer **writer, struct spur_error *err)
{
	struct spur_writer *w = calloc(1, sizeof(*w));
	char *name = strdup(path);

	*writer = NULL;
	if (!w || !name) {
		free(name);
		free(w);
		return error_set(err, -ENOMEM, "out of memory");
	}
	w->path = name;
	buf_init(&w->copy, IMPORT_MAX_RECORD);
	if (import_init(&w->import, name) < 0) {
		spur_writer_discard(w);
		return error_set(err, -ENOMEM, "out of memory");
	}
	w->import.from = "libspur";
	*writer = w;
	return 0;
}

void spur_writer_discard(struct spur_writer *writer)
{
	if (!writer)
		return;
	vec_each (o, &writer->origins)
		free(o->ids);
	vec_free(&writer->origins);
	vec_free(&writer->types);
	buf_free(&writer->copy);
	import_free(&writer->import);
	free(writer->path);
	free(writer);
}

/* ---- event types ---- */

static bool set_field(struct spur_writer *w, struct import_field *to,
		      const struct spur_field_spec *from)
{
	const bool is_text = from->type == SPUR_FIELD_TEXT;
	unsigned int size = from->size;

	if (from->type == SPUR_FIELD_ARRAY ||
	    (!is_text && size != 1 && size != 2 && size != 4 && size != 8)) {
		error_set(&w->why, -EINVAL, "field %s: a number has 1, 2, 4 or 8 bytes",
			  from->name);
		return false;
	}
	/* Tools that print a signed number do not extend the sign of less than 4 bytes. */
	if (from->type == SPUR_FIELD_SIGNED && size < 4)
		size = 4;
	*to = (struct import_field){
		.name = import_identifier(&w->import, from->name, strlen(from->name)),
		.kind = is_text ? IMPORT_TEXT : IMPORT_NUMBER,
		.size = is_text ? 1 : (uint8_t)size,
		.is_signed = from->type == SPUR_FIELD_SIGNED,
		.shown = from->type == SPUR_FIELD_SIGNED && size == 4 ? "%d" : NULL,
	};
	return to->name;
}

int spur_writer_event(struct spur_writer *writer, const char *system, const char *name,
		      const struct spur_field_spec *fields, unsigned int nr)
{
	struct import *im = &writer->import;
	struct import_type *t, **slot;

	if (state(writer) < 0)
		return writer->why.code;
	if (nr > MAX_FIELDS)
		return error_set(&writer->why, -EINVAL, "%s: more than %d fields", name,
				 MAX_FIELDS);
	t = arena_alloc(&im->arena, sizeof(*t));
	slot = t ? vec_push(&writer->types) : NULL;
	if (!slot)
		return error_set(&writer->why, -ENOMEM, "out of memory");
	*slot = t;
	*t = (struct import_type){
		.system = import_identifier(im, system, strlen(system)),
		.name = import_identifier(im, name, strlen(name)),
		.fields = arena_array(&im->arena, nr + 1, sizeof(*t->fields)),
		.nr_fields = nr,
	};
	if (!t->system || !t->name || !t->fields)
		return error_set(&writer->why, -ENOMEM, "out of memory");
	for (unsigned int i = 0; i < nr; i++)
		if (!set_field(writer, &t->fields[i], &fields[i]))
			return state(writer);
	writer->any_type = true;
	return import_type(im, t, NULL) ? (int)writer->types.n - 1 : state(writer);
}

int spur_writer_comm(struct spur_writer *writer, int pid, const char *name)
{
	import_comm(&writer->import, pid, name, strlen(name));
	return state(writer);
}

/* ---- records ---- */

int spur_writer_begin(struct spur_writer *writer, int event, uint64_t ts, uint32_t cpu, int pid)
{
	if (state(writer) < 0)
		return writer->why.code;
	if (event < 0 || (size_t)event >= writer->types.n)
		return error_set(&writer->why, -EINVAL, "there is no event type %d", event);
	writer->type = writer->types.at[event];
	writer->context = (struct import_context){.ts = ts, .cpu = cpu, .pid = pid};
	import_begin(&writer->import, writer->type);
	return 0;
}

/* The field of the record that was begun, if it is of that kind. */
static const struct import_field *field_of(struct spur_writer *w, unsigned int field,
					   enum import_kind kind)
{
	const struct import_type *t = w->type;

	if (state(w) < 0)
		return NULL;
	if (!t)
		error_set(&w->why, -EINVAL, "no record has been begun");
	else if (field >= t->nr_fields)
		error_set(&w->why, -EINVAL, "%s has no field %u", t->name, field);
	else if (t->fields[field].kind != kind)
		error_set(&w->why, -EINVAL, "%s: %s is no %s", t->name, t->fields[field].name,
			  kind == IMPORT_NUMBER ? "number" : "text");
	return w->why.code ? NULL : &t->fields[field];
}

int spur_writer_number(struct spur_writer *writer, unsigned int field, uint64_t value)
{
	const struct import_field *f = field_of(writer, field, IMPORT_NUMBER);

	if (f)
		import_set(&writer->import, f, value);
	return state(writer);
}

int spur_writer_text(struct spur_writer *writer, unsigned int field, const char *text)
{
	const struct import_field *f = field_of(writer, field, IMPORT_TEXT);

	if (f)
		import_set_text(&writer->import, f, text, strlen(text));
	return state(writer);
}

int spur_writer_end(struct spur_writer *writer)
{
	if (state(writer) < 0)
		return writer->why.code;
	if (!writer->type)
		return error_set(&writer->why, -EINVAL, "no record has been begun");
	import_end(&writer->import, &writer->context);
	writer->type = NULL;
	return state(writer);
}

int spur_writer_lost(struct spur_writer *writer, uint32_t cpu, uint64_t ts, int64_t lost)
{
	import_lost(&writer->import, 0, cpu, ts, lost);
	return state(writer);
}

/* ---- copies of other traces' records ---- */

/* The first copy decides how numbers are stored, unless an event type has done so. */
static bool take_byte_order(struct spur_writer *w, const struct spur_trace *t)
{
	struct import *im = &w->import;
	const struct events *ev = t->events;

	if (!w->any_type) {
		im->big_endian = ev->big_endian;
		im->long_size = ev->long_size;
		w->any_type = true;
	}
	if (im->big_endian == ev->big_endian && im->long_size == ev->long_size)
		return true;
	error_set(&w->why, -EINVAL, "%s: recorded on a machine whose numbers are stored otherwise",
		  t->dat->path);
	return false;
}

static struct origin *add_origin(struct spur_writer *w, const struct spur_trace *t)
{
	struct import *im = &w->import;
	struct origin *o;

	if (!take_byte_order(w, t))
		return NULL;
	o = vec_push(&w->origins);
	if (o)
		o->ids = calloc(t->events->nr + 1, sizeof(*o->ids));
	if (!o || !o->ids) {
		w->origins.n -= o ? 1 : 0;
		error_set(&w->why, -ENOMEM, "out of memory");
		return NULL;
	}
	o->trace = t;
	/* A clock that counts something else has to be named; all others are nanoseconds. */
	if (t->nr_buffers && !t->buffers[0].nanoseconds && *t->dat->clock)
		im->clock = import_name(im, t->dat->clock, strlen(t->dat->clock));
	if (!*im->uname)
		im->uname = import_name(im, t->dat->uname, strlen(t->dat->uname));
	buf_put(&im->symbols, t->dat->kallsyms.data, t->dat->kallsyms.size);
	buf_put(&im->printk, t->dat->printk.data, t->dat->printk.size);
	if (!im->clock || !im->uname || buf_full(&im->symbols) || buf_full(&im->printk))
		import_fail(im, -ENOMEM);
	return o;
}

static struct origin *origin_of(struct spur_writer *w, const struct spur_trace *t)
{
	vec_each (o, &w->origins)
		if (o->trace == t)
			return o;
	return add_origin(w, t);
}

/* The format's text with another number in its line "ID: N". */
static bool put_format(struct spur_writer *w, const struct event *e, uint32_t id)
{
	struct import *im = &w->import;
	const char *text = e->format, *line = memmem(text, e->format_len, "\nID:", 4), *rest,
		   *stays;
	const char *system = import_name(im, e->system, strlen(e->system));
	const size_t left = line ? e->format_len - (size_t)(line + 1 - text) : 0;
	struct buf out;

	rest = line ? memchr(line + 1, '\n', left) : NULL;
	if (!rest) {
		import_fail(im, -EBADMSG);
		return false;
	}
	buf_init(&out, e->format_len + 32);
	buf_put(&out, text, (size_t)(line - text));
	buf_printf(&out, "\nID: %u", id);
	buf_put(&out, rest, e->format_len - (size_t)(rest - text));
	stays = buf_full(&out) ? NULL : arena_strndup(&im->arena, out.data, out.len);
	if (!stays || !system)
		import_fail(im, -ENOMEM);
	else
		import_format(im, system, stays, out.len, (int)id);
	buf_free(&out);
	return im->rc == 0;
}

/* The number of an event type of another trace: its own one if that is free. 0: it failed. */
static uint32_t id_of(struct spur_writer *w, struct origin *o, const struct event *e)
{
	struct import *im = &w->import;
	uint32_t id;

	if (o->ids[e->index])
		return o->ids[e->index];
	id = import_id(im, (uint32_t)e->id);
	if (!id || !put_format(w, e, id))
		return 0;
	return o->ids[e->index] = id;
}

static void copy_record(struct spur_writer *w, const struct spur_trace *t, struct event *e,
			uint32_t id, const struct spur_record *r)
{
	const struct event_field *type = &t->events->common.type;
	struct import *im = &w->import;
	const int pid = events_record_pid(t->events, r);
	struct import_context c = {.ts = r->ts, .cpu = r->cpu, .pid = pid};
	const char *name;
	size_t len;

	c.buffer = import_buffer(im, spur_trace_buffer_name(t, r->buffer));
	if (comms_known(t->events->comms, pid)) {
		name = comms_find(t->events->comms, pid, &len);
		import_comm(im, pid, name, len);
	}
	buf_reset(&w->copy);
	buf_put(&w->copy, r->data, r->size);
	if (id != (uint32_t)e->id && type->size == 2 && type->offset + 2 <= w->copy.len) {
		uint8_t *at = (uint8_t *)w->copy.data + type->offset;

		at[im->big_endian ? 1 : 0] = (uint8_t)id;
		at[im->big_endian ? 0 : 1] = (uint8_t)(id >> 8);
	}
	if (r->lost)
		import_lost(im, c.buffer, c.cpu, c.ts, r->lost);
	import_raw(im, &c, w->copy.data, w->copy.len);
}

int spur_writer_copy(struct spur_writer *writer, const struct spur_trace *trace,
		     const struct spur_record *record)
{
	struct event *e = events_of_record(trace->events, record);
	struct origin *o;
	uint32_t id;

	if (state(writer) < 0)
		return writer->why.code;
	if (!e)
		return error_set(&writer->why, -EINVAL, "%s: a record that nothing describes",
				 trace->dat->path);
	o = origin_of(writer, trace);
	id = o ? id_of(writer, o, e) : 0;
	if (id)
		copy_record(writer, trace, e, id, record);
	return state(writer);
}

/* ---- the file ---- */

int spur_writer_finish(struct spur_writer *writer, struct spur_error *err)
{
	const struct dat_out_options opt = {.version = 7, .compression = "any"};
	struct newfile file;
	int rc = state(writer), fd;

	if (rc < 0) {
		error_set(err, rc, "%s", writer->why.text);
		goto out;
	}
	fd = rc = newfile_create(&file, writer->path, err);
	if (rc < 0)
		goto out;
	rc = import_write(&writer->import, fd, writer->path, &opt, err);
	if (rc < 0)
		newfile_drop(&file);
	else
		rc = newfile_keep(&file, err);
out:
	spur_writer_discard(writer);
	return rc;
}
