// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Version 7, as it lies in the file:
 *
 *	header                 its last 8 bytes say where the options are
 *	tables                 a section each; names ("command lines") as they are at the beginning
 *	strings                of all sections there will ever be
 *	text                   when the first buffer is text
 *	preliminary options    with DAT_OPT_REGIONS; their section covers the reserve after them
 *	    reserve            here go the names of the end and the final options; until then
 *	                       names and tasks of the last dat_out_update(), if there was one
 *	trace data             a section for each buffer
 *	                       names and final options that did not fit into the reserve
 *
 * The reserve is there so that a recording that filled the disk can be finished, and so that a
 * finished file that loses its end keeps its options.
 */
#include "dat/write/out.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"

#define DONE_SIZE  14 /* of the option that ends the others */
#define MOST_NAMES (64u << 10)

/* ---- strings -------------------------------------------------------------------------- */

static const char options_name[] = "options", strings_name[] = "strings";

static const char *buffer_prefix(const struct out_buffer *b)
{
	return b->is_text ? "buffer latency " : "buffer flyrecord ";
}

static void put_strings(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	for (size_t i = 0; i < DAT_NR_TABLES; i++)
		out_put_string(b, out_tables[i].name);
	out_put_string(b, options_name);
	out_put_string(b, strings_name);
	for (size_t i = 0; i < o->nr_buffers; i++) {
		buf_puts(b, buffer_prefix(&o->buffers[i]));
		out_put_string(b, o->buffers[i].name);
	}
}

/* Where string i stands among the others: the tables, options, strings, the buffers. */
static uint32_t string_id(const struct dat_out *o, size_t i)
{
	size_t at = 0;

	for (size_t k = 0; k < i && k < DAT_NR_TABLES; k++)
		at += strlen(out_tables[k].name) + 1;
	if (i > DAT_NR_TABLES)
		at += sizeof(options_name);
	if (i > DAT_NR_TABLES + 1)
		at += sizeof(strings_name);
	for (size_t k = DAT_NR_TABLES + 2; k < i; k++) {
		const struct out_buffer *b = &o->buffers[k - DAT_NR_TABLES - 2];

		at += strlen(buffer_prefix(b)) + strlen(b->name) + 1;
	}
	return (uint32_t)at;
}
#define OPTIONS_STRING DAT_NR_TABLES
#define STRINGS_STRING (DAT_NR_TABLES + 1)
#define BUFFER_STRING  (DAT_NR_TABLES + 2)

/* ---- sections ------------------------------------------------------------------------- */

static void put_section_head(const struct dat_out *o, struct buf *b, unsigned int id,
			     bool compressed, size_t string, uint64_t size)
{
	out_put(o, b, id, 2);
	out_put(o, b, compressed ? DAT_SECTION_COMPRESSED : 0, 2);
	out_put(o, b, string_id(o, string), 4);
	out_put(o, b, size, 8);
}

static void end_section(const struct dat_out *o, struct buf *b, size_t head)
{
	if (!buf_full(b))
		out_store(o, b->data + head + 8, b->len - head - DAT_SECTION_HEADER, 8);
}

static int put_section(const struct dat_out *o, struct buf *b, unsigned int id, size_t string,
		       void (*put)(const struct dat_out *o, struct buf *b,
				   const struct dat_contents *c),
		       const struct dat_contents *c)
{
	size_t head = b->len;
	struct buf data;
	int rc;

	buf_init(&data, SIZE_MAX);
	put(o, &data, c);
	rc = buf_full(&data) ? -ENOMEM : 0;
	put_section_head(o, b, id, o->codec, string, 0);
	if (!rc && o->codec)
		rc = out_put_compressed(o, b, data.data, data.len);
	else if (!rc)
		buf_put(b, data.data, data.len);
	end_section(o, b, head);
	buf_free(&data);
	return rc;
}

static int put_table(struct dat_out *o, struct buf *b, size_t i, const struct dat_contents *c,
		     uint64_t offset)
{
	o->where[out_tables[i].id] = offset;
	return put_section(o, b, out_tables[i].id, i, out_tables[i].put, c);
}

static int put_text(struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	const struct dat_span *text;
	size_t head = b->len;
	int rc = 0;

	if (!o->nr_buffers || !o->buffers[0].is_text)
		return 0;
	text = &c->buffers[0].text;
	o->buffers[0].section = head;
	put_section_head(o, b, DAT_OPT_BUFFER_TEXT, o->codec, BUFFER_STRING, 0);
	if (o->codec)
		rc = out_put_text_chunks(o, b, text->data, text->size);
	else if (text->size)
		buf_put(b, text->data, text->size);
	end_section(o, b, head);
	return rc;
}

static void put_buffer_head(const struct dat_out *o, struct buf *b, const struct out_buffer *buffer,
			    uint64_t size)
{
	put_section_head(o, b, DAT_OPT_BUFFER, o->codec,
			 BUFFER_STRING + (size_t)(buffer - o->buffers), size);
}

static int write_buffer_head(const struct dat_out *o, const struct out_buffer *buffer,
			     uint64_t offset, uint64_t size)
{
	struct buf b;
	int rc;

	buf_init(&b, SIZE_MAX);
	put_buffer_head(o, &b, buffer, size);
	rc = buf_full(&b) ? -ENOMEM : out_write(o, b.data, b.len, offset);
	buf_free(&b);
	return rc;
}

static int begin_buffer(struct dat_out *o, struct out_buffer *buffer, uint64_t offset)
{
	buffer->section = offset;
	return write_buffer_head(o, buffer, offset, 0);
}

/* ---- options -------------------------------------------------------------------------- */

static void put_place(const struct dat_out *o, struct buf *b, unsigned int id)
{
	uint8_t place[8];

	if (!o->where[id])
		return;
	out_store(o, place, o->where[id], 8);
	out_put_option(o, b, id, place, sizeof(place));
}

static void put_buffer(const struct dat_out *o, struct buf *b, const struct out_buffer *buffer)
{
	struct buf data;

	buf_init(&data, SIZE_MAX);
	out_put(o, &data, buffer->section, 8);
	out_put_string(&data, buffer->name);
	out_put_string(&data, buffer->clock);
	if (!buffer->is_text) {
		out_put(o, &data, buffer->page_size, 4);
		out_put(o, &data, buffer->nr_cpus, 4);
	}
	for (uint32_t i = 0; i < buffer->nr_cpus; i++) {
		const struct dat_region *r = &o->table.each[buffer->first + i];

		out_put(o, &data, r->cpu, 4);
		out_put(o, &data, r->packed, 8);
		out_put(o, &data, r->size, 8);
	}
	out_put_option(o, b, buffer->is_text ? DAT_OPT_BUFFER_TEXT : DAT_OPT_BUFFER, data.data,
		       data.len);
	buf_free(&data);
}

/* All options that both kinds have, and their end. */
static void put_options(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	uint8_t number[8];

	for (size_t i = 0; i < DAT_NR_TABLES; i++)
		if (out_tables[i].id != DAT_OPT_CMDLINES)
			put_place(o, b, out_tables[i].id);
	out_put_options(o, b, c, o->left_out);
	put_place(o, b, DAT_OPT_CMDLINES);
	out_store(o, number, o->nr_cpus, 4);
	out_put_option(o, b, DAT_OPT_CPUCOUNT, number, 4);
	for (size_t i = 0; i < o->nr_buffers; i++)
		put_buffer(o, b, &o->buffers[i]);
}

static void put_done(const struct dat_out *o, struct buf *b, uint64_t next)
{
	uint8_t number[8];

	out_store(o, number, next, 8);
	out_put_option(o, b, DAT_OPT_DONE, number, 8);
}

static size_t reserve_size(const struct dat_out *o, size_t options)
{
	size_t names = o->cmdlines_room ? o->cmdlines_room : o->sparse ? OUT_SPARE_NAMES : 0;

	/* What does not fit can go after the data, unless the disk is full. */
	if (names > MOST_NAMES)
		names = MOST_NAMES;
	if (names)
		names += DAT_SECTION_HEADER + 16;
	return names + DAT_SECTION_HEADER + out_options_room(o, options) + DONE_SIZE;
}

static const struct out_buffer *first_with_pages(const struct dat_out *o)
{
	for (size_t i = 0; i < o->nr_buffers; i++)
		if (!o->buffers[i].is_text)
			return &o->buffers[i];
	return NULL;
}

/*
 * The preliminary options, their reserve and the header of the first buffer. They contain the
 * places of the regions, which begin where they end; so what is put together first is only
 * measured.
 */
static int put_preliminary(struct dat_out *o, struct buf *b, const struct dat_contents *c,
			   struct spur_error *err)
{
	struct out_buffer *first = (struct out_buffer *)first_with_pages(o);
	size_t start = b->len, options, own;
	int rc;

	o->options = start;
	put_options(o, b, c);
	options = b->len - start;
	own = options + 6 + out_regions_size(o) + DONE_SIZE;
	o->table.reserve = start + DAT_SECTION_HEADER + own;
	o->table.reserve_size = reserve_size(o, options);
	b->len = start;
	if (first)
		first->section = o->table.reserve + o->table.reserve_size;
	rc = out_place_regions(
		o, o->table.reserve + o->table.reserve_size + (first ? DAT_SECTION_HEADER : 0),
		err);
	if (rc)
		return rc;
	put_section_head(o, b, DAT_OPT_DONE, false, OPTIONS_STRING, own + o->table.reserve_size);
	put_options(o, b, c);
	out_put(o, b, DAT_OPT_REGIONS, 2);
	out_put(o, b, out_regions_size(o), 4);
	out_put_regions(o, b, b->len);
	put_done(o, b, 0);
	buf_fill(b, 0, o->table.reserve_size);
	if (first)
		put_buffer_head(o, b, first, 0);
	return 0;
}

static int create(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	struct buf b;
	int rc = 0;

	buf_init(&b, SIZE_MAX);
	out_put_head(o, &b, o->page_size);
	out_put_string(&b, o->codec ? o->codec->name : "none");
	out_put_string(&b, o->codec ? o->codec->version() : "");
	o->pointer = b.len;
	out_put(o, &b, 0, 8);
	for (size_t i = 0; i < DAT_NR_TABLES && !rc; i++)
		rc = put_table(o, &b, i, c, b.len);
	if (!rc)
		rc = put_section(o, &b, DAT_OPT_STRINGS, STRINGS_STRING, put_strings, c);
	if (!rc)
		rc = put_text(o, &b, c);
	if (!rc && buf_full(&b))
		rc = -ENOMEM;
	if (!rc)
		rc = put_preliminary(o, &b, c, err);
	if (!rc && c->cmdlines.size)
		buf_put(&o->names, c->cmdlines.data, c->cmdlines.size);
	if (!rc && (buf_full(&b) || buf_full(&o->names)))
		rc = -ENOMEM;
	if (!rc) {
		out_store(o, b.data + o->pointer, o->options, 8);
		rc = out_write(o, b.data, b.len, 0);
	}
	buf_free(&b);
	return rc ? error_sys(err, rc, "cannot be written") : 0;
}

/* ---- the end -------------------------------------------------------------------------- */

/* The sections of the trace data follow each other without a gap. */
static int write_sections(struct dat_out *o)
{
	uint64_t end = out_data_end(o);
	int rc = 0;

	for (size_t i = o->nr_buffers; i-- > 0 && !rc;) {
		struct out_buffer *b = &o->buffers[i];
		const struct dat_region *r = &o->table.each[b->first];

		if (b->is_text)
			continue;
		if (r->lead)
			b->section = r->packed - r->lead;
		/* All of it: a writer that died may have left none there. */
		rc = write_buffer_head(o, b, b->section, end - b->section - DAT_SECTION_HEADER);
		end = b->section;
	}
	return rc;
}

static bool same_names(const struct dat_out *o, const struct dat_contents *c)
{
	return c->cmdlines.size == o->names.len &&
	       (!o->names.len || memcmp(c->cmdlines.data, o->names.data, o->names.len) == 0);
}

/* Names and options as they are to stand at offset; options is where these begin. */
static int put_final(struct dat_out *o, struct buf *b, const struct dat_contents *c, uint64_t at,
		     size_t *options)
{
	int rc = same_names(o, c) ? 0 : put_table(o, b, DAT_NR_TABLES - 1, c, at);

	*options = b->len;
	put_section_head(o, b, DAT_OPT_DONE, false, OPTIONS_STRING, 0);
	put_options(o, b, c);
	put_done(o, b, 0);
	end_section(o, b, *options);
	return rc ? rc : buf_full(b) ? -ENOMEM : 0;
}

/* Where the preliminary options say where the next options are. */
static uint64_t next_options(const struct dat_out *o)
{
	return o->table.reserve - 8;
}

/*
 * Writes names and options into the reserve. The section of the options takes the rest of it along,
 * so that the next section can be found after it.
 */
static int write_into_reserve(struct dat_out *o, struct buf *b, size_t options)
{
	int rc = o->updated ? out_write_number(o, 0, 8, next_options(o)) : 0;

	out_store(o, b->data + options + 8, o->table.reserve_size - options - DAT_SECTION_HEADER,
		  8);
	if (!rc)
		rc = out_write(o, b->data, b->len, o->table.reserve);
	return rc ? rc : out_write_number(o, o->table.reserve + options, 8, o->pointer);
}

static int write_after_data(struct dat_out *o, struct buf *b, size_t options)
{
	const uint64_t end = out_data_end(o);
	int rc = out_write(o, b->data, b->len, end);

	return rc ? rc : out_write_number(o, end + options, 8, o->pointer);
}

/* Readers that walk over sections must not find the preliminary options any more. */
static int retire(struct dat_out *o, bool reserve_used)
{
	const uint64_t size = o->table.reserve - o->options - DAT_SECTION_HEADER;
	struct buf b;
	int rc;

	buf_init(&b, 64);
	put_done(o, &b, 0);
	rc = out_write(o, b.data, b.len, o->options + DAT_SECTION_HEADER);
	buf_free(&b);
	if (!rc && reserve_used)
		rc = out_write_number(o, size, 8, o->options + 8);
	return rc;
}

static int write_with(struct dat_out *o, const struct dat_contents *c, bool *reserve_used)
{
	const uint64_t names = o->where[DAT_OPT_CMDLINES];
	size_t options;
	struct buf b;
	int rc;

	buf_init(&b, SIZE_MAX);
	rc = put_final(o, &b, c, o->table.reserve, &options);
	*reserve_used = b.len <= o->table.reserve_size;
	if (!rc && !*reserve_used) {
		buf_reset(&b);
		o->where[DAT_OPT_CMDLINES] = names;
		rc = put_final(o, &b, c, out_data_end(o), &options);
	}
	if (!rc)
		rc = *reserve_used ? write_into_reserve(o, &b, options)
				   : write_after_data(o, &b, options);
	if (rc)
		o->where[DAT_OPT_CMDLINES] = names;
	buf_free(&b);
	return rc;
}

static int write_final(struct dat_out *o, const struct dat_contents *c)
{
	struct dat_contents less = *c;
	bool reserve_used;
	int rc = write_with(o, c, &reserve_used);

	/*
	 * On a full disk the reserve is all there is: better the names of the beginning than
	 * none, and better no details of tasks than no options.
	 */
	if (rc && !reserve_used) {
		o->left_out = DAT_OPT_TASKS;
		less.cmdlines = (struct dat_span){o->names.data, o->names.len};
		rc = write_with(o, &less, &reserve_used);
	}
	return rc ? rc : retire(o, reserve_used);
}

static int finish(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	int rc = write_sections(o);

	if (!rc)
		rc = write_final(o, c);
	return rc ? error_sys(err, rc, "cannot be finished") : 0;
}

/* ---- meanwhile ------------------------------------------------------------------------ */

/* Names, and options that say where they are and who the tasks are. */
static int put_update(struct dat_out *o, struct buf *b, const struct dat_contents *c, bool tasks,
		      size_t *options)
{
	const uint64_t names = o->where[DAT_OPT_CMDLINES];
	int rc = put_table(o, b, DAT_NR_TABLES - 1, c, o->table.reserve);

	*options = b->len;
	put_section_head(o, b, DAT_OPT_DONE, false, OPTIONS_STRING, 0);
	put_place(o, b, DAT_OPT_CMDLINES);
	for (size_t i = 0; i < c->nr_options && tasks; i++)
		if (c->options[i].id == DAT_OPT_TASKS)
			out_put_option(o, b, DAT_OPT_TASKS, c->options[i].data.data,
				       c->options[i].data.size);
	put_done(o, b, 0);
	end_section(o, b, *options);
	o->where[DAT_OPT_CMDLINES] = names;
	if (!rc && b->len > o->table.reserve_size)
		rc = -ENOSPC;
	return rc ? rc : buf_full(b) ? -ENOMEM : 0;
}

static int update(struct dat_out *o, const struct dat_contents *c)
{
	size_t options;
	struct buf b;
	int rc;

	buf_init(&b, SIZE_MAX);
	rc = put_update(o, &b, c, true, &options);
	if (rc == -ENOSPC) {
		buf_reset(&b);
		rc = put_update(o, &b, c, false, &options);
	}
	/* A writer that dies in between leaves a file with what was known at its beginning. */
	if (!rc)
		rc = out_write_number(o, 0, 8, next_options(o));
	if (!rc)
		rc = out_write(o, b.data, b.len, o->table.reserve);
	if (!rc)
		rc = out_write_number(o, o->table.reserve + options, 8, next_options(o));
	o->updated |= !rc;
	buf_free(&b);
	return rc;
}

const struct out_format out_v7 = {
	.version = 7,
	.lead = DAT_SECTION_HEADER,
	.create = create,
	.begin_buffer = begin_buffer,
	.update = update,
	.finish = finish,
};
