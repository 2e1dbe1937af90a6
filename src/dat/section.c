// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Version 7's sections. Each starts with a header
 *
 *	u16 id    u16 flags    u32 description    u64 size of what follows
 *
 * and they stand one behind the other, so that they can be found without the options that name
 * them, which come last in the file. If flag 1 is set the data are compressed:
 *
 *	u32 stored size    u32 full size    data
 *
 * Trace data (BUFFER, BUFFER_TEXT) are compressed in another way, see chunks.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "dat/load.h"

/* Text hardly compresses better than 50 to 1; what says so is made to fill memory. */
#define TEXT_RATIO 256
#define TEXT_SPARE 4096

static const char *const names[DAT_NR_IDS] = {
	[DAT_OPT_DONE] = "options",
	[DAT_OPT_BUFFER] = "trace data",
	[DAT_OPT_STRINGS] = "strings",
	[DAT_OPT_HEADER_INFO] = "headers",
	[DAT_OPT_FTRACE_EVENTS] = "ftrace events",
	[DAT_OPT_EVENT_FORMATS] = "event formats",
	[DAT_OPT_KALLSYMS] = "kallsyms",
	[DAT_OPT_PRINTK] = "printk formats",
	[DAT_OPT_CMDLINES] = "command lines",
	[DAT_OPT_BUFFER_TEXT] = "text",
};

const char *dat_section_name(unsigned int id)
{
	return id < DAT_NR_IDS && names[id] ? names[id] : "unknown";
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

struct dat_section *dat_section_at(struct dat_load *l, uint64_t offset)
{
	struct dat_section s, *slot;
	size_t at = 0, behind = l->sections.n;

	while (at < behind) {
		size_t middle = at + (behind - at) / 2;

		if (l->sections.at[middle].offset < offset)
			at = middle + 1;
		else
			behind = middle;
	}
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

void dat_sections_walk(struct dat_load *l, uint64_t start)
{
	struct dat *d = l->d;
	struct dat_section s, *slot;

	for (;;) {
		l->walked = start;
		if (start < d->file_size && dat_section_missing(d, start) == -ENODATA)
			dat_note_damage(d, -ENODATA, start, "cut off: half a section's header");
		if (l->sections.n >= DAT_MAX_SECTIONS || !read_header(d, start, &s))
			return;
		/* A recording that was interrupted has room behind it that is still empty. */
		if (s.id == DAT_OPT_DONE && s.size == 0)
			return;
		if (s.id >= DAT_NR_IDS) {
			dat_note_damage(d, -EBADMSG, start, "no section starts here");
			return;
		}
		slot = vec_push(&l->sections);
		if (!slot)
			return;
		*slot = s;
		if (without_end(d, &s))
			return;
		start = section_end(&s);
		if (start > d->file_size) {
			dat_note_damage(d, -ENODATA, s.offset,
					"cut off: %llu of %llu bytes of the section \"%s\" are "
					"missing",
					(unsigned long long)(start - d->file_size),
					(unsigned long long)s.size, dat_section_name(s.id));
			return;
		}
	}
}

/* Reads n bytes into the arena, with a NUL behind them; fewer when the file ends. */
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

/* Decompresses what is stored at offset; NULL when nothing comes out. */
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

bool dat_section_load(struct dat_load *l, struct dat_section *s, struct cursor *c)
{
	const bool compressed = s->flags & DAT_SECTION_COMPRESSED;
	uint64_t offset = s->offset + DAT_SECTION_HEADER, size = s->size;
	struct dat *d = l->d;
	uint8_t *data;

	data = compressed ? read_compressed(d, offset, s->size, &size)
			  : read_stored(d, offset, &size);
	if (!data) {
		dat_note_damage(d, -EBADMSG, s->offset, "the section \"%s\" cannot be read",
				dat_section_name(s->id));
		return false;
	}
	if (!compressed && size < s->size)
		dat_note_damage(d, -ENODATA, s->offset,
				"cut off: %llu of %llu bytes of the section \"%s\" are missing",
				(unsigned long long)(s->size - size), (unsigned long long)s->size,
				dat_section_name(s->id));
	l->stored = compressed ? offset : 0;
	*c = cursor_over(data, (size_t)size, d->big_endian);
	c->origin = offset;
	return true;
}
