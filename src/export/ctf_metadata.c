// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The description of the streams, in CTF 1.8's own language.
 *
 * All names of fields begin with an underscore, which readers take away: a field may then be called
 * as a word of the language.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/ctf_parts.h"

#define NS_PER_S 1000000000

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

/* A text in quotes; what would end it, or is not printable, is left out. */
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
		   ";\n\tfreq = %d;\n\tprecision = 1;\n\toffset_s = %" PRId64
		   ";\n\toffset = %" PRId64 ";\n\tabsolute = %s;\n};\n\n",
		   NS_PER_S, c->clock_offset / NS_PER_S, c->clock_offset % NS_PER_S,
		   c->absolute ? "true" : "false");
}

static void put_integer(const struct ctf_field *f, struct buf *out)
{
	buf_printf(out, "integer { size = %u; align = 8; signed = %s;", f->each * 8,
		   f->is_signed ? "true" : "false");
	if (f->hex)
		buf_puts(out, " base = 16;");
	buf_puts(out, " }");
}

static void put_field(const struct ctf_field *f, struct buf *out)
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

static void put_event(const struct ctf_class *class, uint32_t id, uint32_t stream, struct buf *out)
{
	const struct event *e = class->event;
	struct buf name;

	buf_init(&name, 4096);
	if (e)
		buf_printf(&name, "%s:%s", e->system, e->name);
	buf_puts(out, "event {\n\tname = ");
	put_quoted(e ? buf_str(&name) : "unknown", out);
	buf_printf(out, ";\n\tid = %u;\n\tstream_id = %u;\n\tfields := struct {\n", id, stream);
	for (uint32_t i = 0; i < class->nr_fields; i++)
		put_field(&class->fields[i], out);
	buf_puts(out, "\t};\n};\n\n");
	buf_free(&name);
}

static void put_stream(const struct ctf_trace *c, uint32_t stream, struct buf *out)
{
	buf_printf(out, "stream {\n\tid = %u;\n%s};\n\n", stream, stream_parts);
	for (uint32_t i = 0; i < c->nr_classes; i++)
		if (stream >= 32 || c->classes[i].buffers >> stream & 1)
			put_event(&c->classes[i], i, stream, out);
}

void ctf_put_metadata(const struct ctf_trace *c, struct buf *out)
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
			put_stream(c, i, out);
}
