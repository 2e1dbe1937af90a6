// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Trace data that no option describes: version 7 describes them behind the data, so whatever ends
 * a recording early takes the description away and leaves the data.
 *
 * The data of the CPUs follow each other, each starting at a multiple of the page size. Which CPU
 * is which is lost; they are numbered as they come.
 *
 *	not compressed  the time stamps of a CPU's pages never decrease: where one does, or where
 *	                there is no page at all, the next CPU starts
 *	compressed      a CPU starts where a number of chunks is followed by so many chunks
 *
 * Finding this out means looking at every page's first bytes, or every chunk's: the one time that
 * opening a file takes longer the longer the file is.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "dat/load.h"

#define WINDOW (256u << 10)

struct scan {
	struct dat_load *l;
	uint64_t end;
	uint32_t page_size;
	struct ring_layout layout;
	struct {
		struct dat_cpu *at;
		size_t n, cap;
	} cpus;
	uint64_t steps; /* from chunk to chunk that may still be taken */
	/* Bytes [at, at + len) of the file. */
	uint8_t *window;
	uint64_t at;
	size_t len;
};

/* n bytes at offset, of which `span` will be looked at; NULL behind the end. */
static const uint8_t *look(struct scan *s, uint64_t offset, size_t n, size_t span)
{
	int64_t got;

	if (offset > s->end || n > s->end - offset)
		return NULL;
	if (offset >= s->at && offset - s->at + n <= s->len)
		return s->window + (offset - s->at);
	/* Between bytes that are far apart reading is dearer than asking again. */
	got = dat_read(s->l->d, s->window, span > WINDOW / 8 ? n : WINDOW, offset);
	s->at = offset;
	s->len = got > 0 ? (size_t)got : 0;
	return s->len >= n ? s->window : NULL;
}

static void add_cpu(struct scan *s, uint64_t offset, uint64_t end)
{
	struct dat_cpu *cpu;

	if (end <= offset || s->cpus.n >= DAT_MAX_CPUS)
		return;
	cpu = vec_push(&s->cpus);
	if (!cpu)
		return;
	cpu->cpu = (uint32_t)s->cpus.n - 1;
	cpu->offset = offset;
	cpu->claimed_size = end - offset;
}

/* Whether a page may start at offset, and its time. Nothing but zeros is no page. */
static bool page_at(struct scan *s, uint64_t offset, uint64_t *ts)
{
	const uint8_t *p = look(s, offset, s->layout.data_offset, s->page_size);
	struct ring_page page;

	if (!p || ring_page_open(&page, &s->layout, p, s->layout.data_offset) < 0)
		return false;
	*ts = page.page_ts;
	return page.page_ts != 0;
}

static void scan_plain(struct scan *s, uint64_t offset)
{
	uint64_t start = offset, last = 0, ts;

	for (; offset < s->end; offset += s->page_size) {
		bool page = page_at(s, offset, &ts);

		if (!page || ts < last) {
			add_cpu(s, start, offset);
			start = page ? offset : offset + s->page_size;
		}
		last = page ? ts : 0;
	}
	add_cpu(s, start, s->end);
}

/* Whether this can be the head of a chunk: all of them hold whole pages. */
static bool is_chunk(const struct scan *s, uint64_t stored, uint64_t full)
{
	return stored && full && full % s->page_size == 0 && stored / 2 <= full;
}

/*
 * Where a CPU's chunks end, or 0 when there are none at offset. Their number is stored when they
 * are complete; until then it is 0 and they go on as long as there are any.
 */
static uint64_t chunks_end(struct scan *s, uint64_t offset)
{
	const uint8_t *p = look(s, offset, 4, s->page_size);
	const bool big_endian = s->l->d->big_endian;
	uint64_t count, stored = 0;

	if (!p)
		return 0;
	count = load_uint(p, 4, big_endian);
	offset += 4;
	for (uint64_t i = 0; !count || i < count; i++) {
		p = s->steps ? look(s, offset, 8, stored > WINDOW ? WINDOW : (size_t)stored) : NULL;
		if (!p)
			return i && s->steps ? s->end : 0;
		s->steps--;
		stored = load_uint(p, 4, big_endian);
		if (!is_chunk(s, stored, load_uint(p + 4, 4, big_endian)))
			return count || !i ? 0 : offset;
		offset += 8 + stored;
	}
	return offset;
}

static void scan_compressed(struct scan *s, uint64_t offset)
{
	/* Enough for chunks that hold next to nothing; a search that needs more is led astray. */
	s->steps = (s->end - offset) / 16 + 1024;
	while (offset < s->end && s->steps) {
		uint64_t end = chunks_end(s, offset);

		if (end > s->end)
			end = s->end;
		if (end)
			add_cpu(s, offset, end);
		else
			end = offset + 1;
		offset = (end + s->page_size - 1) & ~(uint64_t)(s->page_size - 1);
	}
}

static void scan(struct scan *s, const struct dat_section *section)
{
	uint64_t start = section->offset + DAT_SECTION_HEADER;

	start = (start + s->page_size - 1) & ~(uint64_t)(s->page_size - 1);
	if (start >= s->end)
		return;
	if (section->flags & DAT_SECTION_COMPRESSED)
		scan_compressed(s, start);
	else
		scan_plain(s, start);
}

/* The name its description gives to a buffer. Without one it is the top one, if there is none. */
static struct dat_buffer *add_buffer(struct dat_load *l, const struct dat_section *section,
				     const char *word)
{
	const char *text = dat_string(l->d, section->description), *name = "";
	char made_up[40];

	if (strncmp(text, word, strlen(word)) == 0)
		name = text + strlen(word);
	vec_each (b, &l->buffers)
		if (!*name && !*b->name) {
			snprintf(made_up, sizeof(made_up), "recovered-%zu", l->buffers.n);
			name = made_up;
		}
	return dat_buffer_add(l, name, section->offset);
}

static void recover_pages(struct dat_load *l, const struct dat_section *section)
{
	struct dat *d = l->d;
	struct scan s = {.l = l, .page_size = d->page_size, .end = d->file_size};
	struct dat_buffer *b;

	if (!ring_page_size_ok(d->page_size) || section->offset > UINT64_MAX / 2)
		return;
	if (section->size && section->size < s.end - section->offset - DAT_SECTION_HEADER)
		s.end = section->offset + DAT_SECTION_HEADER + section->size;
	s.layout = ring_layout_default(d->big_endian, d->long_size, d->page_size);
	ring_layout_parse(&s.layout, (const char *)d->header_page.data, d->header_page.size);
	s.window = malloc(WINDOW);
	if (!s.window)
		return;
	scan(&s, section);
	b = s.cpus.n ? add_buffer(l, section, "buffer flyrecord ") : NULL;
	if (b && dat_buffer_cpus(l, b, s.cpus.n)) {
		memcpy(b->cpus, s.cpus.at, s.cpus.n * sizeof(*b->cpus));
		b->recovered = true;
		b->compressed = (section->flags & DAT_SECTION_COMPRESSED) && d->codec;
		dat_note_damage(
			d, -ENODATA, section->offset,
			"nothing describes these trace data: which CPU is which is a guess");
	}
	free(s.window);
	vec_free(&s.cpus);
}

static void recover_text(struct dat_load *l, const struct dat_section *section)
{
	struct dat_buffer *b = add_buffer(l, section, "buffer latency ");

	if (!b)
		return;
	b->text = b->recovered = true;
	b->compressed = section->flags & DAT_SECTION_COMPRESSED;
	b->stored_text.offset = section->offset + DAT_SECTION_HEADER;
	b->stored_text.claimed_size = section->size;
}

/* Whether a buffer is there already, or at least data of one inside the section. */
static bool is_known(struct dat_load *l, const struct dat_section *s)
{
	uint64_t size = s->size ? s->size : l->d->file_size;

	vec_each (b, &l->buffers) {
		if (b->offset == s->offset)
			return true;
		for (uint32_t i = 0; i < b->nr_cpus; i++)
			if (b->cpus[i].claimed_size && b->cpus[i].offset > s->offset &&
			    b->cpus[i].offset - s->offset <= size)
				return true;
	}
	return false;
}

void dat_recover_buffers(struct dat_load *l)
{
	for (size_t i = 0; i < l->sections.n; i++) {
		const struct dat_section section = l->sections.at[i];

		if ((section.id != DAT_OPT_BUFFER && section.id != DAT_OPT_BUFFER_TEXT) ||
		    is_known(l, &section))
			continue;
		if (section.id == DAT_OPT_BUFFER)
			recover_pages(l, &section);
		else
			recover_text(l, &section);
	}
	/* When the head of the data's section is gone too, they may be all that is left. */
	if (!l->buffers.n && l->walked < l->d->file_size) {
		const struct dat_section rest = {
			.id = DAT_OPT_BUFFER,
			.flags = l->d->codec ? DAT_SECTION_COMPRESSED : 0,
			.description = UINT32_MAX,
			.offset = l->walked,
		};

		recover_pages(l, &rest);
	}
}
