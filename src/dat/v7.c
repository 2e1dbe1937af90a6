// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Version 7: sections (section.c) in any order. The file's header names the first section of
 * options, each ends with the place of the next, and they say what is where.
 *
 * The options that describe the trace data come last in a file. When the way to them is broken, all
 * sections that can be found by walking take the place of what the options would have said.
 */
#include <errno.h>

#include "base/map.h"
#include "base/vec.h"
#include "dat/unfinished.h"

/* Loads a section of options; next is where it says the following one is. */
static bool load_options(struct dat_load *l, struct dat_section *s, uint64_t *next)
{
	uint64_t offset = s->offset;
	struct cursor c;

	*next = 0;
	if (!dat_section_load(l, s, &c))
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

		if (dat_section_missing(d, offset) == -ENODATA) {
			dat_note_damage(d, -ENODATA, d->file_size,
					"cut off: the options at offset %llu are missing",
					(unsigned long long)offset);
			return false;
		}
		s = dat_section_at(l, offset);
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
	struct dat_section *s = l->where[id] ? dat_section_at(l, l->where[id]) : NULL;

	if (s && s->id == id)
		return s;
	if (l->where[id])
		dat_note_damage(l->d, dat_section_missing(l->d, l->where[id]), l->where[id],
				"the section \"%s\" is not where it should be",
				dat_section_name(id));
	vec_each (other, &l->sections)
		if (other->id == id)
			return other;
	return NULL;
}

static void load_tables(struct dat_load *l)
{
	static const struct {
		unsigned int id;
		bool (*parse)(struct dat_load *l, struct cursor *c);
	} tables[] = {
		{DAT_OPT_HEADER_INFO, dat_parse_headers},
		{DAT_OPT_FTRACE_EVENTS, dat_parse_ftrace},
		{DAT_OPT_EVENT_FORMATS, dat_parse_events},
		{DAT_OPT_KALLSYMS, dat_parse_kallsyms},
		{DAT_OPT_PRINTK, dat_parse_printk},
		{DAT_OPT_CMDLINES, dat_parse_cmdlines},
	};

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct dat_section *s = section_of(l, tables[i].id);
		struct cursor c;

		if (s && dat_section_load(l, s, &c) && !tables[i].parse(l, &c))
			dat_note_damage(l->d, -EBADMSG, s->offset,
					"the section \"%s\" makes no sense",
					dat_section_name(s->id));
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

		if (s->id != DAT_OPT_STRINGS || !dat_section_load(l, s, &c) ||
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
	struct dat_section *s = dat_section_at(l, b->offset);

	if (!s || s->id != id) {
		dat_note_damage(l->d, dat_section_missing(l->d, b->offset), b->offset,
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

	dat_sections_walk(l, start);
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
