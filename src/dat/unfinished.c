// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding the trace data of files that are still being written, or whose writer died: by the option
 * DAT_OPT_REGIONS of spur's own files (unfinished.h), or by looking at the data themselves.
 *
 * Nothing of this is trusted: the regions found here are cut to the file and separated from each
 * other like those of any file (open.c).
 */
#include "dat/unfinished.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/vec.h"

/* ---- DAT_OPT_REGIONS ------------------------------------------------------------------ */

#define PAGE_HEAD 16 /* bytes of a page that tell whether it has been written */
#define WINDOW	  (64u << 10)

/* Numbers of the file that are larger would overflow when they are added. */
#define MAX_PLACE (UINT64_MAX / 4)

static void take_region(struct cursor *c, struct dat_region *r)
{
	r->buffer = cursor_u32(c);
	r->cpu = cursor_u32(c);
	r->offset = cursor_u64(c);
	r->room = cursor_u64(c);
	r->size = cursor_u64(c);
	r->packed = cursor_u64(c);
	r->lead = cursor_u64(c);
}

static bool is_sane(const struct dat_region *r, uint64_t stage)
{
	return r->offset < MAX_PLACE && r->room < MAX_PLACE && r->size <= r->room &&
	       r->packed < MAX_PLACE && r->lead <= r->offset &&
	       (stage != DAT_STAGE_MOVING || (r->lead <= r->packed && r->packed <= r->offset));
}

static bool take_regions(struct arena *a, struct cursor *c, struct dat_regions *r)
{
	uint64_t last = 0;

	if (cursor_failed(c) || r->stage > DAT_STAGE_MOVING || !r->unit ||
	    r->unit > RING_MAX_PAGE || (r->unit & (r->unit - 1)) ||
	    r->nr > DAT_MAX_ALL_CPUS + DAT_MAX_BUFFERS ||
	    r->nr > cursor_left(c) / DAT_REGIONS_EACH || r->reserve > MAX_PLACE ||
	    r->reserve_size > MAX_PLACE)
		return false;
	r->each = arena_array(a, r->nr + 1, sizeof(*r->each));
	if (!r->each)
		return false;
	for (uint32_t i = 0; i < r->nr; i++) {
		struct dat_region *this = &r->each[i];

		take_region(c, this);
		if (!is_sane(this, r->stage) || this->lead > 2 * r->unit ||
		    (i && this->buffer < this[-1].buffer))
			return false;
		/* In order, so that the search for all ends reads no byte twice. */
		if (this->offset && this->offset - this->lead < last)
			return false;
		last = this->offset ? this->offset : last;
	}
	return true;
}

bool dat_regions_parse(struct arena *a, const struct dat_option *o, bool big_endian,
		       struct dat_regions *r)
{
	struct cursor c = cursor_over(o->data.data, o->data.size, big_endian);

	*r = (struct dat_regions){0};
	c.origin = o->data.offset;
	if (cursor_u32(&c) != DAT_REGIONS_VERSION)
		return false;
	cursor_skip(&c, cursor_u32(&c));
	r->at = cursor_offset(&c);
	r->stage = cursor_u64(&c);
	r->unit = cursor_u64(&c);
	r->whole = cursor_u64(&c);
	r->reserve = cursor_u64(&c);
	r->reserve_size = cursor_u64(&c);
	r->nr = cursor_u32(&c);
	r->flags = cursor_u32(&c);
	return take_regions(a, &c, r);
}

/* ---- holes ---------------------------------------------------------------------------- */

uint64_t dat_regions_hole(const struct dat_regions *r, uint32_t i)
{
	const struct dat_region *this = &r->each[i], *next = this + 1;
	uint64_t end, begin;

	if (i + 1 >= r->nr)
		return 0;
	end = (this->offset + this->size + r->unit - 1) & ~(r->unit - 1);
	begin = next->offset - next->lead;
	return begin > end ? (begin - end) & ~(r->unit - 1) : 0;
}

uint32_t dat_regions_gone(const struct dat_regions *r, uint64_t file_size)
{
	uint32_t gone = r->nr ? r->nr - 1 : 0;
	uint64_t size = r->whole;

	while (size > file_size && gone) {
		uint64_t hole = dat_regions_hole(r, --gone);

		if (hole > size)
			return UINT32_MAX;
		size -= hole;
	}
	return size == file_size ? gone : UINT32_MAX;
}

void dat_regions_place(struct dat_regions *r, uint32_t gone)
{
	uint64_t moved = 0;

	for (uint32_t i = 0; i < r->nr; i++) {
		uint64_t offset = r->each[i].offset;

		r->each[i].packed = moved < offset ? offset - moved : 0;
		if (i >= gone)
			moved += dat_regions_hole(r, i);
	}
}

uint64_t dat_region_unmoved(const struct dat_region *r, uint64_t file_size)
{
	const uint64_t from = r->offset - r->lead, n = r->lead + r->size;

	if (r->packed == r->offset || file_size <= from)
		return 0;
	return file_size - from < n ? file_size - from : n;
}

/* Puts the current places of the regions into `packed`; d->moved says which bytes are elsewhere. */
static void place_moving(struct dat *d, struct dat_regions *r)
{
	for (uint32_t i = 0; i < r->nr; i++) {
		struct dat_region *this = &r->each[i];
		const uint64_t left = dat_region_unmoved(this, d->file_size);

		if (left == this->lead + this->size)
			this->packed = this->offset;
		else if (left)
			d->moved = (struct dat_moved){
				.at = this->packed - this->lead,
				.size = left,
				.from = this->offset - this->lead,
			};
	}
}

/* ---- ends ----------------------------------------------------------------------------- */

/* Whether a page has been written; negative errno. */
static int is_page(const struct dat *d, uint64_t offset)
{
	static const uint8_t zeros[PAGE_HEAD];
	uint8_t head[PAGE_HEAD] = {0};
	int64_t got = dat_read(d, head, sizeof(head), offset);

	return got < 0 ? (int)got : memcmp(head, zeros, sizeof(head)) != 0;
}

static int64_t find_pages_end(const struct dat *d, uint64_t offset, uint64_t room,
			      uint32_t page_size)
{
	uint64_t lo = 0, hi;

	if (offset >= d->file_size)
		return 0;
	if (room > d->file_size - offset)
		room = d->file_size - offset;
	hi = room / page_size;
	while (lo < hi) {
		uint64_t middle = lo + (hi - lo) / 2;
		int is = is_page(d, offset + middle * page_size);

		if (is < 0)
			return is;
		if (is)
			lo = middle + 1;
		else
			hi = middle;
	}
	return (int64_t)(lo * page_size);
}

/* Bytes [at, at + len) of the file. */
struct window {
	const struct dat *d;
	uint8_t *bytes;
	uint64_t at;
	size_t len;
};

/* n bytes at offset; if they are not in the window, `want` bytes are read into it. Or NULL. */
static const uint8_t *look(struct window *w, uint64_t offset, size_t n, size_t want)
{
	int64_t got;

	if (offset >= w->at && offset - w->at <= w->len && n <= w->len - (offset - w->at))
		return w->bytes + (offset - w->at);
	got = dat_read(w->d, w->bytes, want, offset);
	w->at = offset;
	w->len = got > 0 ? (size_t)got : 0;
	return w->len >= n ? w->bytes : NULL;
}

static int64_t find_chunks_end(const struct dat *d, uint64_t offset, uint64_t room)
{
	struct window w = {.d = d, .bytes = malloc(WINDOW)};
	const uint8_t *p = w.bytes && room >= 4 ? look(&w, offset, 4, WINDOW) : NULL;
	uint64_t count = p ? load_uint(p, 4, d->big_endian) : 0, end = 4;

	if (!w.bytes)
		return -ENOMEM;
	for (uint64_t i = 0; i < count && room - end >= 8; i++) {
		uint64_t stored;

		p = look(&w, offset + end, 8, WINDOW);
		stored = p ? load_uint(p, 4, d->big_endian) : 0;
		if (!stored || stored > room - end - 8)
			break;
		end += 8 + stored;
	}
	free(w.bytes);
	return count ? (int64_t)end : 0;
}

/* The room of a region ends at the latest where the next one begins. */
static uint64_t real_room(const struct dat_regions *r, uint32_t i)
{
	const struct dat_region *this = &r->each[i], *next = this + 1;

	for (; next < r->each + r->nr; next++) {
		if (!next->offset)
			continue;
		if (next->offset - next->lead < this->offset)
			return 0;
		return next->offset - next->lead - this->offset < this->room
			       ? next->offset - next->lead - this->offset
			       : this->room;
	}
	return this->room;
}

int64_t dat_region_end(const struct dat *d, const struct dat_regions *r, uint32_t i,
		       uint32_t page_size)
{
	uint64_t offset = r->each[i].offset, room = offset ? real_room(r, i) : 0;

	if (!room)
		return 0;
	if (d->codec)
		return find_chunks_end(d, offset, room);
	return ring_page_size_ok(page_size) ? find_pages_end(d, offset, room, page_size) : 0;
}

/* ---- loading -------------------------------------------------------------------------- */

/* What a reader takes for the size of chunks: their number ends them in time. */
static uint64_t stored_chunks(const struct dat *d, uint64_t offset, uint64_t room)
{
	off_t hole = lseek(d->fd, (off_t)offset, SEEK_HOLE);

	if (hole >= 0 && (uint64_t)hole > offset && (uint64_t)hole - offset < room)
		return (uint64_t)hole - offset;
	return offset < d->file_size && room > d->file_size - offset ? d->file_size - offset : room;
}

static uint64_t open_size(struct dat_load *l, const struct dat_buffer *b,
			  const struct dat_regions *r, uint32_t i)
{
	uint64_t offset = r->each[i].offset;
	int64_t size;

	/* Heads of chunks are looked at when they are needed. */
	if (l->d->codec)
		return offset && is_page(l->d, offset) > 0
			       ? stored_chunks(l->d, offset, real_room(r, i))
			       : 0;
	size = dat_region_end(l->d, r, i, l->d->version < 7 ? l->d->page_size : b->page_size);
	if (size < 0)
		dat_note_damage(l->d, (int)size, offset, "cannot be read");
	return size < 0 ? 0 : (uint64_t)size;
}

static struct dat_buffer *buffer_of(struct dat_load *l, uint32_t index)
{
	/* In version 6 the top buffer has no option and comes last so far. */
	if (l->d->version < 7)
		index = index ? index - 1 : (uint32_t)l->buffers.n - 1;
	return index < l->buffers.n ? &l->buffers.at[index] : NULL;
}

/* Finds out where the regions are now. */
static void place(struct dat_load *l, struct dat_regions *r)
{
	uint32_t none = r->nr ? r->nr - 1 : 0, gone = none;

	if (r->stage == DAT_STAGE_PACKED)
		return;
	if (r->stage == DAT_STAGE_MOVING) {
		place_moving(l->d, r);
		return;
	}
	if (r->stage == DAT_STAGE_ENDED)
		gone = dat_regions_gone(r, l->d->file_size);
	if (gone == UINT32_MAX)
		dat_note_damage(l->d, -EBADMSG, r->at, "the file is not as long as it should be");
	dat_regions_place(r, gone == UINT32_MAX ? none : gone);
}

static void apply(struct dat_load *l, const struct dat_regions *r)
{
	uint32_t k = 0; /* the CPU of a buffer that is next in turn */

	for (uint32_t i = 0; i < r->nr; i++) {
		const struct dat_region *region = &r->each[i];
		struct dat_buffer *b = buffer_of(l, region->buffer);

		if (i && region->buffer != r->each[i - 1].buffer)
			k = 0;
		if (b && region->lead && region->packed > region->lead)
			b->offset = region->packed - region->lead;
		while (b && k < b->nr_cpus && b->cpus[k].cpu != region->cpu)
			k++;
		if (!b || k >= b->nr_cpus)
			continue;
		b->cpus[k].offset = region->packed;
		b->cpus[k].claimed_size =
			r->stage == DAT_STAGE_OPEN ? open_size(l, b, r, i) : region->size;
	}
}

void dat_load_unfinished(struct dat_load *l)
{
	struct dat *d = l->d;
	struct dat_regions r;

	for (size_t i = 0; i < l->options.n; i++) {
		const struct dat_option *o = &l->options.at[i];

		if (o->id != DAT_OPT_REGIONS)
			continue;
		d->unfinished = true;
		dat_note_damage(d, -ENODATA, o->data.offset, "the recording was not finished");
		if (!dat_regions_parse(&d->arena, o, d->big_endian, &r))
			return;
		place(l, &r);
		apply(l, &r);
		return;
	}
}

/* ---- data that nothing describes ------------------------------------------------------ */

/*
 * Version 7 describes trace data after the data, so whatever ends a recording early leaves the data
 * without their description.
 *
 * The data of the CPUs follow each other, each starting at a multiple of the page size. Which CPU
 * is which is lost; they are numbered as they come.
 *
 *	not compressed  the time stamps of a CPU's pages never decrease: where one does, or where
 *	                there is no page at all, the next CPU starts
 *	compressed      a CPU starts where a number of chunks is followed by so many chunks
 *
 * To find this out, the first bytes of every page or chunk must be read: only in this case does the
 * time to open a file depend on its size.
 */

#define SCAN_WINDOW (256u << 10)

struct scan {
	struct dat_load *l;
	uint64_t end;
	uint32_t page_size;
	struct ring_layout layout;
	vec_of(struct dat_cpu) cpus;
	uint64_t steps; /* from chunk to chunk that are still allowed */
	struct window window;
};

/* n bytes at offset, after which the next ones lie `span` bytes further on; NULL after the end. */
static const uint8_t *look_at(struct scan *s, uint64_t offset, size_t n, size_t span)
{
	if (offset > s->end || n > s->end - offset)
		return NULL;
	/* If the bytes are far apart, reading what lies between costs more than a second read. */
	return look(&s->window, offset, n, span > SCAN_WINDOW / 8 ? n : SCAN_WINDOW);
}

static void add_cpu(struct scan *s, uint64_t offset, uint64_t end)
{
	const struct dat_cpu cpu = {
		.cpu = (uint32_t)s->cpus.n, .offset = offset, .claimed_size = end - offset};

	if (end > offset && s->cpus.n < DAT_MAX_CPUS)
		vec_add(&s->cpus, &cpu);
}

/* Whether a page may start at offset, and its time. Bytes that are all zero are not a page. */
static bool page_at(struct scan *s, uint64_t offset, uint64_t *ts)
{
	const uint8_t *p = look_at(s, offset, s->layout.data_offset, s->page_size);
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
	const uint8_t *p = look_at(s, offset, 4, s->page_size);
	const bool big_endian = s->l->d->big_endian;
	uint64_t count, stored = 0;

	if (!p)
		return 0;
	count = load_uint(p, 4, big_endian);
	offset += 4;
	for (uint64_t i = 0; !count || i < count; i++) {
		p = s->steps ? look_at(s, offset, 8,
				       stored > SCAN_WINDOW ? SCAN_WINDOW : (size_t)stored)
			     : NULL;
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
	/* Enough for very small chunks; a search that needs more does not follow real ones. */
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
	s.window = (struct window){.d = d, .bytes = malloc(SCAN_WINDOW)};
	if (!s.window.bytes)
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
	free(s.window.bytes);
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
