// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Version 7: sections in any order. The file's header names the first section of options, each ends
 * with the place of the next, and they say what is where.
 *
 * The options that describe the trace data come last in a file. If the chain to them is broken, all
 * sections that can be found by walking are used instead.
 *
 * A section starts with a header
 *
 *	u16 id    u16 flags    u32 description    u64 size of what follows
 *
 * and they stand one after the other, so that they can be found without the options that name them.
 * If flag 1 is set the data are compressed:
 *
 *	u32 stored size    u32 full size    data
 *
 * Trace data (BUFFER, BUFFER_TEXT) are compressed in another way, see pages.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/map.h"
#include "base/vec.h"
#include "dat/unfinished.h"

/* ---- sections ------------------------------------------------------------------------- */

/* Text hardly compresses better than 50 to 1; a section that claims more is an attack. */
#define TEXT_RATIO 256
#define TEXT_SPARE 4096

static const char *section_name(unsigned int id)
{
	for (size_t i = 0; i < DAT_NR_TABLES; i++)
		if (dat_tables[i].id == id)
			return dat_tables[i].name;
	switch (id) {
	case DAT_OPT_DONE: return "options";
	case DAT_OPT_BUFFER: return "trace data";
	case DAT_OPT_STRINGS: return "strings";
	case DAT_OPT_BUFFER_TEXT: return "text";
	default: return "unknown";
	}
}

/* What it means when no section is at offset: the file ends too early, or it is wrong. */
static int missing_section(const struct dat *d, uint64_t offset)
{
	return offset > d->file_size || d->file_size - offset < DAT_SECTION_HEADER ? -ENODATA
										   : -EBADMSG;
}

static bool read_header(struct dat *d, uint64_t offset, struct dat_section *s)
{
	uint8_t head[DAT_SECTION_HEADER + 8];
	struct cursor c;
	int64_t n;

	if (offset >= d->file_size)
		return false;
	n = dat_read(d, head, sizeof(head), offset);
	if (n < DAT_SECTION_HEADER)
		return false;
	c = cursor_over(head, (size_t)n, d->big_endian);
	*s = (struct dat_section){.id = cursor_u16(&c), .flags = cursor_u16(&c)};
	s->description = cursor_u32(&c);
	s->size = cursor_u64(&c);
	s->offset = offset;
	if ((s->flags & DAT_SECTION_COMPRESSED) && s->id != DAT_OPT_BUFFER &&
	    s->id != DAT_OPT_BUFFER_TEXT) {
		cursor_skip(&c, 4);
		s->full_size = cursor_u32(&c);
	}
	return true;
}

static uint64_t section_end(const struct dat_section *s)
{
	uint64_t end;

	if (__builtin_add_overflow(s->offset + DAT_SECTION_HEADER, s->size, &end))
		return UINT64_MAX;
	return end;
}

/* The section whose header is at offset; NULL when there is none. Valid until the next call. */
static struct dat_section *section_at(struct dat_load *l, uint64_t offset)
{
	struct dat_section s, *slot;
	size_t at;

	binary_search(at, 0, l->sections.n, l->sections.at[at].offset < offset);
	if (at < l->sections.n && l->sections.at[at].offset == offset)
		return &l->sections.at[at];
	if (l->sections.n >= DAT_MAX_SECTIONS || !read_header(l->d, offset, &s) ||
	    s.id >= DAT_NR_IDS || !vec_push(&l->sections))
		return NULL;
	slot = l->sections.at + at;
	memmove(slot + 1, slot, (l->sections.n - 1 - at) * sizeof(*slot));
	*slot = s;
	return slot;
}

/*
 * The size of trace data is filled in when they are complete: without one they may still be
 * written to, or there are none, and then the options that describe them follow at once.
 */
static bool without_end(struct dat *d, const struct dat_section *s)
{
	struct dat_section next;

	if (s->id != DAT_OPT_BUFFER || s->size)
		return false;
	return !read_header(d, section_end(s), &next) || next.id != DAT_OPT_DONE ||
	       next.flags & ~DAT_SECTION_COMPRESSED || !next.size ||
	       section_end(&next) > d->file_size;
}

/* Finds the sections by walking from header to header. */
static void walk_sections(struct dat_load *l, uint64_t start)
{
	struct dat *d = l->d;
	struct dat_section s;

	for (;;) {
		l->walked = start;
		if (start < d->file_size && missing_section(d, start) == -ENODATA)
			dat_note_damage(d, -ENODATA, start, "cut off: half a section's header");
		if (l->sections.n >= DAT_MAX_SECTIONS || !read_header(d, start, &s))
			return;
		/* A recording that was interrupted ends with space that is still empty. */
		if (s.id == DAT_OPT_DONE && s.size == 0)
			return;
		if (s.id >= DAT_NR_IDS) {
			dat_note_damage(d, -EBADMSG, start, "no section starts here");
			return;
		}
		if (!vec_add(&l->sections, &s) || without_end(d, &s))
			return;
		start = section_end(&s);
		if (start > d->file_size) {
			dat_note_damage(d, -ENODATA, s.offset,
					"cut off: %llu of %llu bytes of the section \"%s\" are "
					"missing",
					(unsigned long long)(start - d->file_size),
					(unsigned long long)s.size, section_name(s.id));
			return;
		}
	}
}

/* Reads n bytes into the arena, with a NUL after them; fewer when the file ends. */
static uint8_t *read_stored(struct dat *d, uint64_t offset, uint64_t *n)
{
	uint8_t *data;
	int64_t got;

	if (offset >= d->file_size)
		return NULL;
	if (*n > d->file_size - offset)
		*n = d->file_size - offset;
	data = *n < SIZE_MAX ? arena_alloc(&d->arena, *n + 1) : NULL;
	if (!data) {
		dat_note_damage(d, -EBADMSG, offset, "a section of %llu bytes is too large",
				(unsigned long long)*n);
		return NULL;
	}
	got = dat_read(d, data, *n, offset);
	if (got < 0) {
		dat_note_damage(d, (int)got, offset, "cannot be read");
		return NULL;
	}
	*n = (uint64_t)got;
	return data;
}

static int64_t expand(const struct dat_codec *codec, const uint8_t *in, size_t n, bool whole,
		      uint8_t *out, size_t size)
{
	void *context = codec->open();
	int64_t got = -ENOMEM;

	if (!context)
		return got;
	got = whole ? codec->decode(context, in, n, out, size) : -EBADMSG;
	if (got < 0)
		got = (int64_t)codec->salvage(context, in, n, out, size);
	codec->close(context);
	return got;
}

/* Decompresses what is stored at offset; NULL if that is impossible. */
static uint8_t *read_compressed(struct dat *d, uint64_t offset, uint64_t room, uint64_t *size)
{
	uint8_t head[8], *in, *out;
	uint64_t stored, n, full;
	int64_t got;

	if (!d->codec || dat_read(d, head, 8, offset) != 8)
		return NULL;
	n = stored = load_uint(head, 4, d->big_endian);
	full = load_uint(head + 4, 4, d->big_endian);
	if (!dat_codec_plausible(stored, full, TEXT_SPARE, TEXT_RATIO) ||
	    full > d->arena.limit - d->arena.used)
		return NULL;
	if (room < 8 || stored > room - 8)
		dat_note_damage(d, -EBADMSG, offset, "compressed data reach over their section");
	if (n > d->file_size - (offset + 8))
		n = d->file_size - (offset + 8);
	in = malloc(n + 1);
	out = in ? arena_alloc(&d->arena, full + 1) : NULL;
	got = out ? dat_read(d, in, n, offset + 8) : -ENOMEM;
	if (got >= 0)
		got = expand(d->codec, in, (size_t)got, (uint64_t)got == stored, out, full);
	free(in);
	if (got < 0)
		return NULL;
	if ((uint64_t)got < full)
		dat_note_damage(d, n < stored ? -ENODATA : -EBADMSG, offset,
				"%llu of %llu bytes cannot be decompressed",
				(unsigned long long)(full - (uint64_t)got),
				(unsigned long long)full);
	*size = (uint64_t)got;
	return out;
}

/*
 * Loads and decompresses a section's data, as much as there is; notes as damage what is missing.
 * False when there is nothing at all.
 */
static bool load_section(struct dat_load *l, struct dat_section *s, struct cursor *c)
{
	const bool compressed = s->flags & DAT_SECTION_COMPRESSED;
	uint64_t offset = s->offset + DAT_SECTION_HEADER, size = s->size;
	struct dat *d = l->d;
	uint8_t *data;

	data = compressed ? read_compressed(d, offset, s->size, &size)
			  : read_stored(d, offset, &size);
	if (!data) {
		dat_note_damage(d, -EBADMSG, s->offset, "the section \"%s\" cannot be read",
				section_name(s->id));
		return false;
	}
	if (!compressed && size < s->size)
		dat_note_damage(d, -ENODATA, s->offset,
				"cut off: %llu of %llu bytes of the section \"%s\" are missing",
				(unsigned long long)(s->size - size), (unsigned long long)s->size,
				section_name(s->id));
	l->stored = compressed ? offset : 0;
	*c = cursor_over(data, (size_t)size, d->big_endian);
	c->origin = offset;
	return true;
}

/* ---- options, tables, buffers --------------------------------------------------------- */

/* Loads a section of options; next is where it says the following one is. */
static bool load_options(struct dat_load *l, struct dat_section *s, uint64_t *next)
{
	uint64_t offset = s->offset;
	struct cursor c;

	*next = 0;
	if (!load_section(l, s, &c))
		return false;
	l->section = offset;
	if (!dat_parse_options(l, &c, next)) {
		dat_note_damage(l->d, -EBADMSG, cursor_offset(&c), "options without an end");
		return false;
	}
	s->next = *next;
	s->ended = true;
	return true;
}

/* Follows the chain of options. False when it breaks off. */
static bool follow_options(struct dat_load *l, struct map *seen)
{
	struct dat *d = l->d;
	uint64_t offset = d->options_offset, total = 0;

	while (offset) {
		struct dat_section *s;

		if (missing_section(d, offset) == -ENODATA) {
			dat_note_damage(d, -ENODATA, d->file_size,
					"cut off: the options at offset %llu are missing",
					(unsigned long long)offset);
			return false;
		}
		s = section_at(l, offset);
		if (!s || s->id != DAT_OPT_DONE || map_get(seen, offset)) {
			dat_note_damage(d, -EBADMSG, offset, "%s",
					s && s->id == DAT_OPT_DONE
						? "the options point back at themselves"
						: "there are no options here");
			return false;
		}
		if (!map_set(seen, offset, l))
			return false;
		/* Options that overlap could fill memory without end. */
		total += s->size < d->file_size ? s->size : d->file_size - offset;
		if (total > d->file_size) {
			dat_note_damage(d, -EBADMSG, offset, "options overlap");
			return false;
		}
		if (!load_options(l, s, &offset))
			return false;
	}
	return d->options_offset != 0;
}

/* The options the chain did not lead to. */
static void load_lost_options(struct dat_load *l, const struct map *seen)
{
	for (size_t i = 0; i < l->sections.n; i++) {
		struct dat_section *s = &l->sections.at[i];
		uint64_t next;

		if (s->id == DAT_OPT_DONE && !map_get(seen, s->offset))
			load_options(l, s, &next);
	}
}

static struct dat_section *section_of(struct dat_load *l, unsigned int id)
{
	struct dat_section *s = l->where[id] ? section_at(l, l->where[id]) : NULL;

	if (s && s->id == id)
		return s;
	if (l->where[id])
		dat_note_damage(l->d, missing_section(l->d, l->where[id]), l->where[id],
				"the section \"%s\" is not where it should be", section_name(id));
	vec_each (other, &l->sections)
		if (other->id == id)
			return other;
	return NULL;
}

static void load_tables(struct dat_load *l)
{
	for (size_t i = 0; i < DAT_NR_TABLES; i++) {
		struct dat_section *s = section_of(l, dat_tables[i].id);
		struct cursor c;

		if (s && load_section(l, s, &c) && !dat_tables[i].parse(l, &c))
			dat_note_damage(l->d, -EBADMSG, s->offset,
					"the section \"%s\" makes no sense", section_name(s->id));
	}
}

/* Several sections of strings count as one. */
static void load_strings(struct dat_load *l)
{
	struct dat *d = l->d;

	for (size_t i = 0; i < l->sections.n; i++) {
		struct dat_section *s = &l->sections.at[i];
		struct dat_blob more;
		struct cursor c;
		uint8_t *both;

		if (s->id != DAT_OPT_STRINGS || !load_section(l, s, &c) ||
		    !dat_take_blob(l, &c, cursor_left(&c), &more))
			continue;
		if (!d->strings.offset) {
			d->strings = more;
			continue;
		}
		both = arena_alloc(&d->arena, d->strings.size + more.size + 1);
		if (!both)
			return;
		memcpy(both, d->strings.data, d->strings.size);
		memcpy(both + d->strings.size, more.data, more.size);
		d->strings.data = both;
		d->strings.size += more.size;
	}
}

/* What the section of a buffer adds to its option. */
static void find_data(struct dat_load *l, struct dat_buffer *b)
{
	unsigned int id = b->text ? DAT_OPT_BUFFER_TEXT : DAT_OPT_BUFFER;
	struct dat_section *s = section_at(l, b->offset);

	if (!s || s->id != id) {
		dat_note_damage(l->d, missing_section(l->d, b->offset), b->offset,
				"the data of buffer \"%.40s\" are not where they should be",
				b->name);
		b->compressed = l->d->codec;
		return;
	}
	b->compressed = s->flags & DAT_SECTION_COMPRESSED;
	if (b->compressed && !l->d->codec)
		dat_note_damage(l->d, -EBADMSG, b->offset,
				"compressed data in a file without a compressor");
	if (b->text) {
		b->stored_text.offset = b->offset + DAT_SECTION_HEADER;
		b->stored_text.claimed_size = s->size;
	}
}

int dat_load_v7(struct dat_load *l, uint64_t start)
{
	struct dat *d = l->d;
	struct map seen = {0};

	walk_sections(l, start);
	if (!d->options_offset)
		dat_note_damage(d, -ENODATA, start, "the recording was not finished");
	if (!follow_options(l, &seen))
		load_lost_options(l, &seen);
	map_free(&seen);
	dat_decode_options(l);
	load_strings(l);
	load_tables(l);
	dat_load_unfinished(l);
	vec_each (b, &l->buffers)
		find_data(l, b);
	dat_recover_buffers(l);
	d->nr_cpus = l->cpu_count;
	vec_each (b, &l->buffers) {
		if (!*b->name && !*d->clock)
			d->clock = b->clock;
		if (!*b->clock)
			b->clock = d->clock;
	}
	return 0;
}
