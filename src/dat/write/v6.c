// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Version 6, as it lies in the file:
 *
 *	header, tables         all but the names
 *	names                  with newlines after them, space for more
 *	u32 number of CPUs
 *	"options  \0"
 *	    VERSION            comes first
 *	    other options      as they are at the beginning
 *	    DAT_OPT_REGIONS    its table, and after it the reserve
 *	    0
 *	"flyrecord\0"          a table and a clock for each buffer, the top one's first; or
 *	"latency  \0" text
 *	trace data
 *
 * At the end the tables get their numbers, the final options are put at the very end of the
 * reserve, and then the size of VERSION, whose text ends at its first NUL, is changed so that it
 * reaches up to them: these four bytes make the file a finished one. What does not fit into the
 * available space is left out: names and options, never data.
 */
#include "dat/write/out.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"

#define TAG_SIZE    10
#define PAGE	    4096u /* of the page cache: a write inside one is never seen half done */
#define OPTION_HEAD 6

static const struct dat_out_option *find_version(const struct dat_contents *c)
{
	for (size_t i = 0; i < c->nr_options; i++)
		if (c->options[i].id == DAT_OPT_VERSION)
			return &c->options[i];
	return NULL;
}

static bool has_top(const struct dat_out *o)
{
	return o->nr_buffers && !*o->buffers[0].name;
}

/* ---- names ---------------------------------------------------------------------------- */

static void put_names(struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	size_t room = c->cmdlines.size, options;

	if (room < o->cmdlines_room)
		room = o->cmdlines_room;
	else if (o->sparse && !o->cmdlines_room)
		room += OUT_SPARE_NAMES;
	/* The size of the first option must not lie across two pages. */
	options = b->len + 8 + room + 4 + TAG_SIZE;
	if ((options + 2) % PAGE > PAGE - 4)
		room += 4;
	out_put(o, b, room, 8);
	o->cmdlines = b->len;
	if (c->cmdlines.size)
		buf_put(b, c->cmdlines.data, c->cmdlines.size);
	buf_fill(b, '\n', room - c->cmdlines.size);
	buf_fill(&o->names, '\n', room);
}

/* Whole lines, as many as there is room for. */
static int write_names(struct dat_out *o, const struct dat_contents *c)
{
	const char *text = c->cmdlines.data;
	size_t n = c->cmdlines.size;

	if (n > o->names.len)
		for (n = o->names.len; n && text[n - 1] != '\n'; n--)
			;
	if (n)
		memcpy(o->names.data, text, n);
	memset(o->names.data + n, '\n', o->names.len - n);
	return out_write(o, o->names.data, o->names.len, o->cmdlines);
}

/* ---- options -------------------------------------------------------------------------- */

static void put_version(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	const struct dat_out_option *version = find_version(c);
	const char *text = version ? version->data.data : "";
	size_t n = version ? strnlen(text, version->data.size) : 0;

	out_put(o, b, DAT_OPT_VERSION, 2);
	out_put(o, b, n + 1, 4);
	buf_put(b, text, n);
	buf_putc(b, 0);
}

static void put_buffer_options(const struct dat_out *o, struct buf *b)
{
	for (size_t i = has_top(o); i < o->nr_buffers; i++) {
		const struct out_buffer *buffer = &o->buffers[i];

		out_put(o, b, DAT_OPT_BUFFER, 2);
		out_put(o, b, 8 + strlen(buffer->name) + 1, 4);
		out_put(o, b, buffer->section, 8);
		out_put_string(b, buffer->name);
	}
}

/* ---- tables of CPUs ------------------------------------------------------------------- */

static void put_places(const struct dat_out *o, struct buf *b, const struct out_buffer *buffer)
{
	uint32_t k = 0;

	for (uint32_t cpu = 0; cpu < o->nr_cpus; cpu++) {
		const struct dat_region *r = NULL;

		if (buffer && k < buffer->nr_cpus && buffer->cpus[k] == cpu)
			r = &o->table.each[buffer->first + k++];
		out_put(o, b, r ? r->packed : 0, 8);
		out_put(o, b, r ? r->size : 0, 8);
	}
}

/* `buffer` is NULL for a top one that is not there. */
static void put_flyrecord(const struct dat_out *o, struct buf *b, const struct out_buffer *buffer)
{
	const char *clock = buffer ? buffer->clock : "";

	buf_put(b, "flyrecord", TAG_SIZE);
	put_places(o, b, buffer);
	out_put(o, b, *clock ? strlen(clock) + 2 : 0, 8);
	if (*clock)
		buf_printf(b, "[%s]", clock);
}

static size_t flyrecord_size(const struct dat_out *o, const struct out_buffer *b)
{
	size_t n = TAG_SIZE + (size_t)o->nr_cpus * 16 + 8;

	return b && *b->clock ? n + strlen(b->clock) + 2 : n;
}

/* Where the tables go when the first one stands at `at`. The others do not follow directly. */
static uint64_t place_tables(struct dat_out *o, uint64_t at)
{
	const bool top = has_top(o);

	at += flyrecord_size(o, top ? &o->buffers[0] : NULL);
	for (size_t i = top; i < o->nr_buffers; i++) {
		o->buffers[i].section = out_align(at + TAG_SIZE, 16);
		at = o->buffers[i].section + flyrecord_size(o, &o->buffers[i]);
	}
	return at;
}

static void put_tables(const struct dat_out *o, struct buf *b)
{
	const bool top = has_top(o);

	put_flyrecord(o, b, top ? &o->buffers[0] : NULL);
	for (size_t i = top; i < o->nr_buffers; i++) {
		buf_fill(b, 0, o->buffers[i].section - b->len);
		put_flyrecord(o, b, &o->buffers[i]);
	}
}

/* The numbers of all tables again. */
static int write_tables(const struct dat_out *o)
{
	const bool top = has_top(o);
	struct buf b;
	int rc = 0;

	buf_init(&b, SIZE_MAX);
	for (size_t i = 0; i < o->nr_buffers && !rc; i++) {
		uint64_t at = i || !top ? o->buffers[i].section : o->top_table;

		buf_reset(&b);
		put_places(o, &b, &o->buffers[i]);
		rc = buf_full(&b) ? -ENOMEM : out_write(o, b.data, b.len, at + TAG_SIZE);
	}
	buf_free(&b);
	return rc;
}

/* ---- creation ------------------------------------------------------------------------- */

static bool is_text(const struct dat_out *o)
{
	return o->nr_buffers && o->buffers[0].is_text;
}

/*
 * From the options on. They contain the places of the regions, which begin where all of this ends;
 * so what is put together first is only measured.
 */
static int put_rest(struct dat_out *o, struct buf *b, const struct dat_contents *c,
		    struct spur_error *err)
{
	const size_t start = b->len;
	size_t others, size;
	uint64_t end;
	int rc;

	o->options = start;
	put_version(o, b, c);
	others = b->len;
	out_put_options(o, b, c, DAT_OPT_VERSION);
	put_buffer_options(o, b);
	size = out_regions_size(o);
	o->table.reserve = b->len + OPTION_HEAD + size;
	o->table.reserve_size = out_options_room(o, b->len - others);
	b->len = start;
	o->top_table = o->table.reserve + o->table.reserve_size + 2;
	end = is_text(o) ? o->top_table : place_tables(o, o->top_table);
	rc = out_place_regions(o, end, err);
	if (rc)
		return rc;
	put_version(o, b, c);
	out_put_options(o, b, c, DAT_OPT_VERSION);
	put_buffer_options(o, b);
	out_put(o, b, DAT_OPT_REGIONS, 2);
	out_put(o, b, size + o->table.reserve_size, 4);
	out_put_regions(o, b, b->len);
	buf_fill(b, 0, o->table.reserve_size);
	out_put(o, b, DAT_OPT_DONE, 2);
	if (!is_text(o)) {
		put_tables(o, b);
		return 0;
	}
	buf_put(b, "latency  ", TAG_SIZE);
	if (c->buffers[0].text.size)
		buf_put(b, c->buffers[0].text.data, c->buffers[0].text.size);
	o->front = b->len;
	return 0;
}

static int create(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	struct buf b;
	int rc;

	buf_init(&b, SIZE_MAX);
	/* The page size of this version's header is that of the trace data. */
	out_put_head(o, &b, o->nr_buffers && !is_text(o) ? o->buffers[0].page_size : o->page_size);
	for (size_t i = 0; i < DAT_NR_TABLES - 1; i++)
		out_tables[i].put(o, &b, c);
	put_names(o, &b, c);
	out_put(o, &b, o->nr_cpus, 4);
	buf_put(&b, "options  ", TAG_SIZE);
	rc = buf_full(&b) ? -ENOMEM : put_rest(o, &b, c, err);
	if (!rc && (buf_full(&b) || buf_full(&o->names)))
		rc = -ENOMEM;
	if (!rc)
		rc = out_write(o, b.data, b.len, 0);
	buf_free(&b);
	return rc ? error_sys(err, rc, "cannot be written") : 0;
}

/* ---- the end -------------------------------------------------------------------------- */

/* The final options: those of the buffers always, of the others what fits. */
static void put_final(const struct dat_out *o, struct buf *b, const struct dat_contents *c)
{
	struct buf buffers;

	buf_init(&buffers, SIZE_MAX);
	put_buffer_options(o, &buffers);
	for (size_t i = 0; i < c->nr_options; i++) {
		const struct dat_out_option *option = &c->options[i];
		size_t n = OPTION_HEAD + option->data.size;

		if (dat_is_layout(option->id) || option->id == DAT_OPT_VERSION ||
		    n > o->table.reserve_size - b->len - buffers.len)
			continue;
		out_put_option(o, b, option->id, option->data.data, option->data.size);
	}
	buf_put(b, buffers.data, buffers.len);
	buf_free(&buffers);
}

/* Clears what VERSION now covers. */
static int clear(const struct dat_out *o, uint64_t from, uint64_t to)
{
	struct buf zeros;
	int rc;

	buf_init(&zeros, SIZE_MAX);
	buf_fill(&zeros, 0, to - from);
	rc = buf_full(&zeros) ? 0 : out_write(o, zeros.data, zeros.len, from);
	buf_free(&zeros);
	return rc;
}

static int write_final(struct dat_out *o, const struct dat_contents *c)
{
	const struct dat_out_option *version = find_version(c);
	uint64_t text = o->options + OPTION_HEAD, final;
	struct buf b;
	int rc;

	buf_init(&b, SIZE_MAX);
	put_final(o, &b, c);
	final = o->table.reserve + o->table.reserve_size - b.len;
	rc = buf_full(&b) ? -ENOMEM : out_write(o, b.data, b.len, final);
	if (!rc)
		rc = out_write_number(o, final - text, 4, o->options + 2);
	if (!rc)
		rc = clear(o,
			   text + (version ? strnlen(version->data.data, version->data.size) : 0),
			   final);
	buf_free(&b);
	return rc;
}

static int finish(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	int rc = write_names(o, c);

	if (!rc && !is_text(o))
		rc = write_tables(o);
	if (!rc)
		rc = write_final(o, c);
	return rc ? error_sys(err, rc, "cannot be finished") : 0;
}

const struct out_format out_v6 = {
	.version = 6,
	.create = create,
	.update = write_names,
	.finish = finish,
};
