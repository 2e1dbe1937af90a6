// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CTF 1.8, which babeltrace2 and Trace Compass read: a folder with a stream for every CPU.
 *
 *	FOLDER/metadata         what is in the streams, as text
 *	FOLDER/channel_0_CPU    the events of a CPU of the top buffer
 *	FOLDER/channel_1_CPU    the same of the next buffer
 *
 * Nothing in a stream is aligned to more than a byte, and its numbers have the traced machine's
 * byte order: a field's bytes are copied as they are.
 *
 * A stream is made of packets:
 *
 *	u32 magic, u32 stream           0
 *	u64 begin, u64 end              8   times of the first and the last event
 *	u64 content size, packet size   24  in bits
 *	u64 number of the packet        40
 *	u64 events discarded            48  since the stream began, up to the packet's first event
 *	u32 CPU                         56
 *	events                          60
 *
 * Events are discarded between packets only: where some were lost a new one begins. CPUs are
 * written one after the other, so that one file is open at a time.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/nanoseconds.h"
#include "base/newfile.h"
#include "base/vec.h"
#include "event/names.h"
#include "event/plan.h"
#include "scan/lane.h"
#include "export/export.h"
#include "scan/identity.h"
#include "base/arena.h"

enum ctf_kind {
	CTF_NUMBER,
	CTF_STRING,
	CTF_ARRAY,    /* of a fixed number of numbers */
	CTF_SEQUENCE, /* of numbers, how many stands before it */
};

struct ctf_field {
	const struct event_field *field; /* NULL: the record's own bytes */
	const char *name;		 /* an identifier, unique in the event */
	enum ctf_kind kind;
	uint32_t each; /* bytes of a number */
	uint32_t nr;   /* of numbers in an array */
	bool is_signed, hex;
};

/* An event type that has records. */
struct ctf_class {
	struct event *event; /* NULL: the trace does not describe it */
	struct ctf_field *fields;
	uint32_t nr_fields;
	uint32_t buffers; /* a bit for each buffer below 32 in which it is met; others: all */
};

#define CTF_MAX_CLASSES 65535 /* their numbers have two bytes */
#define CTF_UNKNOWN	0     /* the class of records that the trace does not describe */

struct ctf_trace {
	struct spur_trace *trace;
	struct identity id;
	const char *tracer; /* the tracer, as the trace names it */
	bool big_endian;
	bool absolute;	      /* its times can be compared with other traces' */
	int64_t clock_offset; /* nanoseconds from 1970 to the streams' 0 */
	struct arena arena;
	vec_of(struct ctf_class) classes; /* by their number in the streams */
	uint32_t *numbers; /* of classes, plus one, by event->index; 0: not met yet */
	struct task_places told;
};

/* ---- event types and their fields ----------------------------------------------------- */

#define ARENA_LIMIT (256u << 20)
#define MAX_NAME    200
#define MAX_ARRAY   4096 /* bytes; longer ones are stored with their length in each record */

static int trace_init(struct ctf_trace *c, struct spur_trace *t, struct spur_error *err)
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

static void trace_free(struct ctf_trace *c)
{
	free(c->numbers);
	vec_free(&c->classes);
	arena_free(&c->arena);
}

/* ---- types ---------------------------------------------------------------------------- */

/* Whether a name is that of the length of a sequence, see put_field(). */
static bool is_length_of(const char *name, const struct ctf_field *sequence, const char *of)
{
	const size_t len = strlen(of);

	return sequence->kind == CTF_SEQUENCE && strncmp(name, of, len) == 0 &&
	       strcmp(name + len, "_length") == 0;
}

/* Readers may remove one underscore, so names that differ only in it count as equal. */
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

/* Names are untrusted: characters that are not allowed in identifiers become underscores. */
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

/* ftrace's own stacks are longer or shorter than their format says. */
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

/* An event that is not described, or not understood, has only its bytes. */
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
	struct ctf_class *class = vec_push(&c->classes);
	int rc;

	if (!class)
		return -ENOMEM;
	class->event = e;
	rc = fill(c, class);
	if (rc < 0) {
		c->classes.n--;
		return rc;
	}
	return (int)c->classes.n - 1;
}

/* The number of an event's class, which is made when it is new; negative: -ENOMEM. */
static int class_of(struct ctf_trace *c, struct event *e)
{
	int rc = 0;

	if (!c->classes.n)
		rc = add_class(c, NULL);
	if (rc < 0 || !e)
		return rc < 0 ? rc : CTF_UNKNOWN;
	if (c->numbers[e->index])
		return (int)c->numbers[e->index] - 1;
	if (c->classes.n >= CTF_MAX_CLASSES)
		return CTF_UNKNOWN;
	rc = add_class(c, e);
	if (rc >= 0)
		c->numbers[e->index] = (uint32_t)rc + 1;
	return rc;
}

/* ---- values --------------------------------------------------------------------------- */

static void put_string(const uint8_t *bytes, size_t size, struct buf *out)
{
	if (bytes)
		buf_put(out, bytes, strnlen((const char *)bytes, size));
	buf_putc(out, '\0');
}

/* Elements of an array beyond the end of a record are 0. */
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

	buf_uint(out, nr, 4, c->big_endian);
	if (nr)
		buf_put(out, bytes, nr * f->each);
}

/* Appends the fields of a record. */
static void put_fields(const struct ctf_trace *c, const struct ctf_class *class,
		       const struct spur_record *r, struct buf *out)
{
	const struct events *ev = c->trace->events;

	for (uint32_t i = 0; i < class->nr_fields; i++) {
		const struct ctf_field *f = &class->fields[i];
		const uint8_t *bytes = r->data;
		size_t size = r->size;

		if (f->kind == CTF_NUMBER) {
			buf_uint(out, record_uint(ev, r, f->field->offset, f->each), f->each,
				 c->big_endian);
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

/* Appends what every event has: task, flags. */
static void put_context(struct ctf_trace *c, const struct spur_record *r, struct buf *out)
{
	const struct events *ev = c->trace->events;
	const struct event_common *common = &ev->common;
	const int pid = events_record_pid(ev, r);
	const struct dat_task *told = trace_task_named(c->trace, &c->told, pid, r->ts);
	size_t len = told ? strlen(told->name) : 0;
	const char *comm = told ? told->name : comms_find(ev->comms, pid, &len);

	buf_uint(out, (uint32_t)pid, 4, c->big_endian);
	put_string((const uint8_t *)comm, len, out);
	buf_uint(out, events_record_flags(ev, r), 1, c->big_endian);
	buf_uint(out, common_value(ev, &common->preempt_count, common->has_preempt_count, r), 1,
		 c->big_endian);
}

/* ---- metadata ------------------------------------------------------------------------- */

/*
 * The description of the streams, in CTF 1.8's own language.
 *
 * All names of fields begin with an underscore, which readers remove. So a field may have the name
 * of a keyword.
 */

static const char types[] =
	"typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
	"typealias integer { size = 16; align = 8; signed = false; } := uint16_t;\n"
	"typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
	"typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
	"typealias integer { size = 64; align = 8; signed = false; map = clock.trace.value; } := "
	"trace_time_t;\n\n";

static const char stream_parts[] =
	"\tpacket.context := struct {\n"
	"\t\ttrace_time_t timestamp_begin;\n"
	"\t\ttrace_time_t timestamp_end;\n"
	"\t\tuint64_t content_size;\n"
	"\t\tuint64_t packet_size;\n"
	"\t\tuint64_t packet_seq_num;\n"
	"\t\tuint64_t events_discarded;\n"
	"\t\tuint32_t cpu_id;\n"
	"\t};\n"
	"\tevent.header := struct {\n"
	"\t\tuint16_t id;\n"
	"\t\ttrace_time_t timestamp;\n"
	"\t};\n"
	"\tevent.context := struct {\n"
	"\t\tint32_t _pid;\n"
	"\t\tstring { encoding = UTF8; } _comm;\n"
	"\t\tinteger { size = 8; align = 8; signed = false; base = 16; } "
	"_flags;\n"
	"\t\tuint8_t _preempt_count;\n"
	"\t};\n";

/* A text in quotes, without characters that would end it or are not printable. */
static void put_quoted(const char *text, struct buf *out)
{
	buf_putc(out, '"');
	for (; *text; text++)
		if (isprint((unsigned char)*text) && *text != '"' && *text != '\\')
			buf_putc(out, *text);
	buf_putc(out, '"');
}

static void put_variable(const char *name, const char *value, struct buf *out)
{
	if (!*value)
		return;
	buf_printf(out, "\t%s = ", name);
	put_quoted(value, out);
	buf_puts(out, ";\n");
}

static void put_environment(const struct ctf_trace *c, struct buf *out)
{
	const struct spur_trace *t = c->trace;
	char name[32];

	buf_puts(out, "env {\n");
	put_variable("domain", "kernel", out);
	put_variable("sysname", *t->dat->uname ? "Linux" : "", out);
	put_variable("hostname", strcmp(c->id.host, "unknown") ? c->id.host : "", out);
	put_variable("kernel_release", c->id.kernel, out);
	put_variable("uname", t->dat->uname, out);
	put_variable("tracer_name", c->tracer, out);
	put_variable("tracer_version", SPUR_VERSION, out);
	put_variable("trace_id", c->id.trace_id, out);
	put_variable("trace_clock", c->id.clock, out);
	buf_printf(out, "\tnr_cpus = %" PRIu32 ";\n", t->dat->nr_cpus);
	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		snprintf(name, sizeof(name), "buffer_%" PRIu32, i);
		put_variable(name, t->buffers[i].data->name, out);
	}
	buf_puts(out, "};\n\n");
}

static void put_clock(const struct ctf_trace *c, struct buf *out)
{
	buf_puts(out, "clock {\n\tname = trace;\n\tdescription = ");
	put_quoted(*c->id.clock ? c->id.clock : "local", out);
	buf_printf(out,
		   ";\n\tfreq = %llu;\n\tprecision = 1;\n\toffset_s = %" PRId64
		   ";\n\toffset = %" PRId64 ";\n\tabsolute = %s;\n};\n\n",
		   NS_PER_S, c->clock_offset / (int64_t)NS_PER_S,
		   c->clock_offset % (int64_t)NS_PER_S, c->absolute ? "true" : "false");
}

static void put_integer(const struct ctf_field *f, struct buf *out)
{
	buf_printf(out, "integer { size = %u; align = 8; signed = %s;", f->each * 8,
		   f->is_signed ? "true" : "false");
	if (f->hex)
		buf_puts(out, " base = 16;");
	buf_puts(out, " }");
}

static void put_field_type(const struct ctf_field *f, struct buf *out)
{
	if (f->kind == CTF_SEQUENCE)
		buf_printf(out, "\t\tuint32_t __%s_length;\n", f->name);
	buf_puts(out, "\t\t");
	if (f->kind == CTF_STRING)
		buf_puts(out, "string { encoding = UTF8; }");
	else
		put_integer(f, out);
	buf_printf(out, " _%s", f->name);
	if (f->kind == CTF_ARRAY)
		buf_printf(out, "[%u]", f->nr);
	else if (f->kind == CTF_SEQUENCE)
		buf_printf(out, "[__%s_length]", f->name);
	buf_puts(out, ";\n");
}

static void put_event_class(const struct ctf_class *class, uint32_t id, uint32_t stream,
			    struct buf *out)
{
	const struct event *e = class->event;
	scoped_buf name = buf_new(4096);

	if (e)
		buf_printf(&name, "%s:%s", e->system, e->name);
	buf_puts(out, "event {\n\tname = ");
	put_quoted(e ? buf_str(&name) : "unknown", out);
	buf_printf(out, ";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n", id, stream);
	for (uint32_t i = 0; i < class->nr_fields; i++)
		put_field_type(&class->fields[i], out);
	buf_puts(out, "\t};\n};\n\n");
}

static void put_stream_class(const struct ctf_trace *c, uint32_t stream, struct buf *out)
{
	buf_printf(out, "stream {\n\tid = %u;\n%s};\n\n", stream, stream_parts);
	for (uint32_t i = 0; i < c->classes.n; i++)
		if (stream >= 32 || c->classes.at[i].buffers >> stream & 1)
			put_event_class(&c->classes.at[i], i, stream, out);
}

/* Appends the text that describes the streams. */
static void put_metadata_text(const struct ctf_trace *c, struct buf *out)
{
	buf_puts(out, "/* CTF 1.8 */\n\n");
	buf_puts(out, types);
	buf_printf(out,
		   "trace {\n\tmajor = 1;\n\tminor = 8;\n\tbyte_order = %s;\n"
		   "\tpacket.header := struct {\n\t\tuint32_t magic;\n\t\tuint32_t stream_id;\n"
		   "\t};\n};\n\n",
		   c->big_endian ? "be" : "le");
	put_environment(c, out);
	put_clock(c, out);
	for (uint32_t i = 0; i < c->trace->nr_buffers; i++)
		if (!c->trace->buffers[i].data->text)
			put_stream_class(c, i, out);
}

/* ---- streams -------------------------------------------------------------------------- */

#define MAGIC	    0xc1fc1fc1u
#define PACKET_HEAD 60
#define PACKET_SIZE (128u << 10) /* a packet is closed when it has become larger */
#define STEPS	    4096	 /* records between two checks of stop and progress */
#define META_LIMIT  (512u << 20)
#define PATH_ROOM   4096

struct stream {
	struct ctf_trace *ctf;
	uint32_t buffer, cpu;
	struct export_stream out;
	size_t packet; /* offset of the open packet in the buffer */
	bool open;
	uint64_t begin, end; /* times of the open packet */
	uint64_t number;     /* of packets */
	uint64_t discarded;
	struct select_stack stack;
};

/* What all files of an export have in common. */
struct writing {
	const struct export_job *job;
	struct ctf_trace *ctf;
	struct event_printer printer; /* filters ask it for names of tasks */
	const char *folder;
	uint64_t done, total; /* pages */
	bool unknown_losses;
	uint64_t backwards; /* events that seem to be earlier than the previous one */
};

/* ---- packets -------------------------------------------------------------------------- */

static void open_packet(struct stream *s, uint64_t ts)
{
	s->packet = s->out.buf.len;
	s->begin = s->end = ts;
	s->open = true;
	buf_fill(&s->out.buf, 0, PACKET_HEAD);
}

/* Writes its header, all of which is known now. */
static void close_packet(struct stream *s)
{
	const uint64_t bits = (s->out.buf.len - s->packet) * 8;
	char head[PACKET_HEAD];
	struct buf to = {.data = head, .cap = sizeof(head), .limit = sizeof(head)};

	if (!s->open)
		return;
	s->open = false;
	buf_uint(&to, MAGIC, 4, s->ctf->big_endian);
	buf_uint(&to, s->buffer, 4, s->ctf->big_endian);
	buf_uint(&to, s->begin, 8, s->ctf->big_endian);
	buf_uint(&to, s->end, 8, s->ctf->big_endian);
	buf_uint(&to, bits, 8, s->ctf->big_endian);
	buf_uint(&to, bits, 8, s->ctf->big_endian);
	buf_uint(&to, s->number++, 8, s->ctf->big_endian);
	buf_uint(&to, s->discarded, 8, s->ctf->big_endian);
	buf_uint(&to, s->cpu, 4, s->ctf->big_endian);
	if (s->out.buf.len - s->packet >= PACKET_HEAD)
		memcpy(s->out.buf.data + s->packet, head, PACKET_HEAD);
	export_stream_flush_full(&s->out);
}

/* A reader sees the number grow from one packet to the next, so there must be one before. */
static void lose(struct writing *w, struct stream *s, int64_t lost, uint64_t ts)
{
	if (!lost)
		return;
	if (!s->open && !s->number)
		open_packet(s, ts);
	close_packet(s);
	if (lost < 0)
		w->unknown_losses = true;
	s->discarded += lost > 0 ? (uint64_t)lost : 1;
}

/* ---- events --------------------------------------------------------------------------- */

static bool wanted(struct writing *w, struct stream *s, struct event *e,
		   const struct spur_record *r)
{
	const struct selection *sel = w->job->select;
	struct spur_trace *t = w->ctf->trace;

	if (!sel || !select_refuses(sel, t))
		return true;
	return (e || !sel->nr_filters) && select_record(sel, &s->stack, t, &w->printer, e, r);
}

static int put_event(struct writing *w, struct stream *s, struct event *e,
		     const struct spur_record *r)
{
	struct ctf_trace *c = w->ctf;
	uint64_t ts = r->ts - (uint64_t)c->clock_offset;
	const int number = class_of(c, e);
	struct buf *out = &s->out.buf;

	if (number < 0)
		return number;
	if (s->number + s->open && ts < s->end) {
		ts = s->end;
		w->backwards++;
	}
	if (!s->open)
		open_packet(s, ts);
	s->end = ts;
	if (s->buffer < 32)
		c->classes.at[number].buffers |= 1u << s->buffer;
	buf_uint(out, (uint64_t)number, 2, c->big_endian);
	buf_uint(out, ts, 8, c->big_endian);
	put_context(c, r, out);
	put_fields(c, &c->classes.at[number], r, out);
	if (out->len - s->packet >= PACKET_SIZE)
		close_packet(s);
	return s->out.rc;
}

static int watch(struct writing *w, const struct lane *l)
{
	const struct walk_options *o = &w->job->walk;

	if (o->stop && *o->stop)
		return -EINTR;
	if (o->progress)
		o->progress(o->progress_arg, w->done + l->page_index, w->total);
	return 0;
}

static int put_lane(struct writing *w, struct stream *s, struct lane *l)
{
	const struct walk_options *o = &w->job->walk;
	int64_t lost = 0;
	int rc = 0;

	if (o->since)
		lane_seek_time(l, o->since, l->nr_pages / 2);
	for (uint64_t i = 0; rc == 0 && lane_next(l); i++) {
		const struct spur_record *r = &l->rec;
		struct event *e;

		if (i % STEPS == 0)
			rc = watch(w, l);
		if (r->ts < o->since)
			continue;
		if (o->until && r->ts > o->until)
			break;
		/* A loss before an event that is left out still counts. */
		lost = lost > 0 && r->lost > 0 ? lost + r->lost : r->lost ? r->lost : lost;
		e = events_of_record(w->ctf->trace->events, r);
		if (rc < 0 || !wanted(w, s, e, r))
			continue;
		lose(w, s, lost, r->ts - (uint64_t)w->ctf->clock_offset);
		lost = 0;
		rc = put_event(w, s, e, r);
	}
	if (rc == 0 && l->ended && l->pending) {
		lose(w, s, l->pending, s->end);
		open_packet(s, s->end);
	}
	close_packet(s);
	w->done += l->nr_pages;
	return rc;
}

/* ---- files ---------------------------------------------------------------------------- */

static int create_file(const struct writing *w, const char *name, char *path,
		       struct spur_error *err)
{
	int fd;

	if (snprintf(path, PATH_ROOM, "%s/%s", w->folder, name) >= PATH_ROOM)
		return error_sys(err, -ENAMETOOLONG, "%s", w->folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return fd < 0 ? error_sys(err, -errno, "%s", path) : fd;
}

static int close_file(int fd, int rc, const char *path, struct spur_error *err)
{
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc < 0 && rc != -EINTR ? error_sys(err, rc, "%s", path) : rc;
}

static int put_cpu(struct writing *w, const struct trace_buffer *b, const struct dat_cpu *cpu,
		   struct spur_error *err)
{
	struct stream s = {.ctf = w->ctf, .buffer = b->index, .cpu = cpu->cpu};
	char name[64], path[PATH_ROOM];
	struct lane lane;
	int fd, rc = lane_open(&lane, b, cpu);

	/* Unreadable data have been noted as damage; other CPUs can be read. */
	if (rc < 0)
		return rc == -EBADMSG ? 0 : error_sys(err, rc, "%s", w->ctf->trace->dat->path);
	snprintf(name, sizeof(name), "channel_%u_%u", b->index, cpu->cpu);
	fd = create_file(w, name, path, err);
	if (fd >= 0) {
		export_stream_init(&s.out, fd);
		rc = put_lane(w, &s, &lane);
		export_stream_flush(&s.out);
		rc = close_file(fd, rc < 0 ? rc : s.out.rc, path, err);
		buf_free(&s.out.buf);
		/* A CPU without events has no stream. */
		if (rc == 0 && !s.number)
			unlink(path);
	}
	lane_close(&lane);
	return fd < 0 ? fd : rc;
}

static int put_metadata(const struct writing *w, struct spur_error *err)
{
	char path[PATH_ROOM];
	scoped_buf text = buf_new(META_LIMIT);
	int fd, rc;

	fd = create_file(w, "metadata", path, err);
	if (fd < 0)
		return fd;
	put_metadata_text(w->ctf, &text);
	rc = buf_full(&text) ? -ENOMEM : file_write_fd(fd, text.data, text.len);
	return close_file(fd, rc, path, err);
}

static void count_pages(struct writing *w)
{
	for (size_t i = 0; i < w->job->nr_traces; i++) {
		const struct spur_trace *t = w->job->traces[i];

		for (uint32_t k = 0; k < t->nr_buffers; k++) {
			const struct dat_buffer *b = t->buffers[k].data;

			for (uint32_t n = 0; !b->text && b->page_size && n < b->nr_cpus; n++)
				w->total += b->cpus[n].size / b->page_size;
		}
	}
}

static int put_buffers(struct writing *w, struct spur_error *err)
{
	const struct spur_trace *t = w->ctf->trace;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		if (b->data->text)
			export_note(w->job,
				    "%s: what a latency tracer left is text and has no "
				    "events: it is left out",
				    t->dat->path);
		for (uint32_t k = 0; rc == 0 && !b->data->text && k < b->data->nr_cpus; k++)
			if (b->data->cpus[k].size &&
			    walk_asks_cpu(&w->job->walk, b->data->cpus[k].cpu))
				rc = put_cpu(w, b, &b->data->cpus[k], err);
	}
	return rc;
}

static int put_trace(struct writing *w, struct spur_trace *t, struct spur_error *err)
{
	const char *tracer = export_setting(w->job, "tracer");
	struct ctf_trace ctf;
	int rc = trace_init(&ctf, t, err);

	/* Readers refuse to merge traces of which only some have such times. */
	ctf.absolute = ctf.id.has_wall || w->job->nr_traces > 1;
	ctf.tracer = tracer ? tracer : "spur";
	w->ctf = &ctf;
	if (rc == 0 && event_printer_init(&w->printer, t->events) < 0)
		rc = error_set(err, -ENOMEM, "out of memory");
	if (rc == 0) {
		rc = put_buffers(w, err);
		event_printer_done(&w->printer);
	}
	if (rc == 0)
		rc = put_metadata(w, err);
	trace_free(&ctf);
	return rc;
}

/* Several traces have a folder each, which readers find below the one they are given. */
static int put_traces(struct writing *w, const char *top, struct spur_error *err)
{
	int rc = 0;

	w->folder = top;
	for (size_t i = 0; rc == 0 && i < w->job->nr_traces; i++) {
		char folder[PATH_ROOM];

		if (w->job->nr_traces > 1) {
			if (snprintf(folder, sizeof(folder), "%s/trace_%zu", top, i) >= PATH_ROOM)
				return error_sys(err, -ENAMETOOLONG, "%s", top);
			if (mkdir(folder, 0777) < 0)
				return error_sys(err, -errno, "%s", folder);
			w->folder = folder;
		}
		rc = put_trace(w, w->job->traces[i], err);
	}
	return rc;
}

static void tell(const struct writing *w)
{
	if (w->unknown_losses)
		export_note(w->job, "how many events were lost is not known of all losses: those "
				    "count as one");
	if (w->backwards)
		export_note(w->job,
			    "%llu events are earlier than the one before them on their CPU: they "
			    "have that one's time",
			    (unsigned long long)w->backwards);
}

static int run(const struct export_job *job, struct spur_error *err)
{
	struct writing w = {.job = job};
	struct newfile folder;
	int rc = newfolder_create(&folder, job->target, err);

	if (rc < 0)
		return rc;
	count_pages(&w);
	rc = put_traces(&w, folder.temp, err);
	if (rc < 0) {
		newfile_drop(&folder);
		return rc;
	}
	tell(&w);
	return newfile_keep(&folder, err);
}

static const struct export_setting_info settings[] = {
	{"tracer", "the tracer's name in the environment; perf: Trace Compass reads it as perf's"},
	{0},
};

const struct export_format export_ctf = {
	.name = "ctf",
	.about = "CTF 1.8, for babeltrace2 and Trace Compass",
	.suffix = ".ctf",
	.kind = EXPORT_FOLDER,
	.settings = settings,
	.run = run,
};
