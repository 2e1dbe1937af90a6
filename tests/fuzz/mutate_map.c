// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What stands where in a trace.dat file of version 6 or 7.
 *
 * The walk follows the layout described in trace-cmd.dat(5) and notes each number and text it
 * passes. It is made for good files; when something does not fit it stops, and what has been noted
 * by then is what mutations can aim at.
 */
#include "mutate.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cursor.h"

enum {
	OPTION_DONE = 0,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_HEADER_INFO = 16,
	OPTION_FTRACE_EVENTS = 17,
	OPTION_EVENT_FORMATS = 18,
	OPTION_KALLSYMS = 19,
	OPTION_PRINTK = 20,
	OPTION_CMDLINES = 21,
	OPTION_BUFFER_TEXT = 22,

	SECTION_PACKED = 1, /* flag in a section's header */
	MAX_TABLES = 64,    /* options sections that are followed */
	MAX_CPUS = 1024,
};

static struct place *note(struct image *img, enum place_kind kind, size_t at, size_t size)
{
	struct place *p;

	if (img->places[kind].n == img->places[kind].cap) {
		size_t cap = img->places[kind].cap ? 2 * img->places[kind].cap : 64;

		p = reallocarray(img->places[kind].at, cap, sizeof(*p));
		if (!p)
			abort();
		img->places[kind].at = p;
		img->places[kind].cap = cap;
	}
	p = &img->places[kind].at[img->places[kind].n++];
	*p = (struct place){.at = at, .size = size};
	return p;
}

static struct cursor cursor_at(const struct image *img, uint64_t at)
{
	struct cursor c = cursor_over(img->data, img->len, img->big_endian);

	cursor_skip(&c, at);
	return c;
}

/* Reads a number and notes where it stood. */
static uint64_t number(struct image *img, struct cursor *c, enum place_kind kind, unsigned int size)
{
	size_t at = cursor_offset(c);
	uint64_t v = cursor_uint(c, size);

	if (!cursor_failed(c))
		note(img, kind, at, size);
	return v;
}

/* A number that says how many bytes of text follow, and the text. */
static void sized_text(struct image *img, struct cursor *c, unsigned int width)
{
	size_t at = cursor_offset(c);
	uint64_t size = cursor_uint(c, width);
	size_t text = cursor_offset(c);
	struct place *p;

	cursor_skip(c, size);
	if (cursor_failed(c))
		return;
	p = note(img, PLACE_SIZE, at, width);
	p->from = text;
	p->to = text + size;
	if (size)
		note(img, PLACE_TEXT, text, size);
}

static void string(struct image *img, struct cursor *c)
{
	size_t at = cursor_offset(c);
	const char *s = cursor_string(c);

	if (s && *s)
		note(img, PLACE_TEXT, at, strlen(s));
}

static void map_header_info(struct image *img, struct cursor *c)
{
	for (int i = 0; i < 2 && !cursor_failed(c); i++) {
		string(img, c); /* "header_page", "header_event" */
		sized_text(img, c, 8);
	}
}

static void map_ftrace(struct image *img, struct cursor *c)
{
	uint64_t n = number(img, c, PLACE_NUMBER, 4);

	while (n-- && !cursor_failed(c))
		sized_text(img, c, 8);
}

static void map_formats(struct image *img, struct cursor *c)
{
	uint64_t systems = number(img, c, PLACE_NUMBER, 4);

	while (systems-- && !cursor_failed(c)) {
		string(img, c);
		map_ftrace(img, c); /* a number of formats, as ftrace's own */
	}
}

/* The records of one page: their headers as numbers, their bytes as records. */
static void map_records(struct image *img, struct cursor *c)
{
	while (cursor_left(c) >= 4) {
		size_t at = cursor_offset(c);
		uint32_t head = cursor_u32(c);
		unsigned int type = img->big_endian ? head >> 27 : head & 31;
		uint32_t size = type * 4;

		note(img, PLACE_PAGE, at, 4);
		if (type == 29 && !(img->big_endian ? head & 0x7ffffff : head >> 5))
			return; /* padding to the page's end */
		if (type >= 30 || type == 0 || type == 29) {
			note(img, PLACE_PAGE, cursor_offset(c), 4);
			size = cursor_u32(c) - 4;
			if (type >= 30)
				continue;
		}
		at = cursor_offset(c);
		cursor_skip(c, size);
		if (!cursor_failed(c) && size)
			note(img, PLACE_RECORD, at, size);
	}
}

static void map_pages(struct image *img, struct cursor *c)
{
	const size_t head = 16; /* time and commit, with 64-bit longs */

	while (cursor_left(c) >= head) {
		size_t left = cursor_left(c);
		struct cursor page = cursor_sub(c, left < img->page_size ? left : img->page_size);
		uint64_t commit;

		number(img, &page, PLACE_PAGE, 8);
		commit = number(img, &page, PLACE_PAGE, 8) & 0xfffffff;
		if (commit <= cursor_left(&page)) {
			struct cursor records = cursor_sub(&page, commit);

			map_records(img, &records);
		}
	}
}

static void map_section_at(struct image *img, struct cursor *c, unsigned int section)
{
	switch (section) {
	case OPTION_HEADER_INFO: map_header_info(img, c); break;
	case OPTION_FTRACE_EVENTS: map_ftrace(img, c); break;
	case OPTION_EVENT_FORMATS: map_formats(img, c); break;
	case OPTION_KALLSYMS:
	case OPTION_PRINTK: sized_text(img, c, 4); break;
	case OPTION_CMDLINES: sized_text(img, c, 8); break;
	case SECTION_PAGES: map_pages(img, c); break;
	}
}

void map_section(struct image *img, unsigned int section)
{
	struct cursor c = cursor_at(img, 0);

	map_section_at(img, &c, section);
}

/* ---- version 7 ---- */

/* A packed piece: two sizes and the data. */
static void map_packed(struct image *img, struct cursor *c, unsigned int section)
{
	size_t at = cursor_offset(c);
	uint64_t packed = number(img, c, PLACE_NUMBER, 4);

	number(img, c, PLACE_NUMBER, 4);
	cursor_skip(c, packed);
	if (!cursor_failed(c))
		note(img, PLACE_PACKED, at, 8 + packed)->section = section;
}

/* A section's header; what the returned cursor reads is the section's content. */
static struct cursor map_section_header(struct image *img, uint64_t at, unsigned int *flags)
{
	struct cursor c = cursor_at(img, at);
	struct place *p;
	uint64_t size;

	number(img, &c, PLACE_NUMBER, 2);
	*flags = (unsigned int)number(img, &c, PLACE_NUMBER, 2);
	number(img, &c, PLACE_NUMBER, 4);
	size = cursor_u64(&c);
	if (!cursor_failed(&c)) {
		p = note(img, PLACE_SIZE, cursor_offset(&c) - 8, 8);
		p->from = cursor_offset(&c);
		p->to = p->from + size;
	}
	return c;
}

static void map_metadata(struct image *img, uint64_t at, unsigned int section)
{
	unsigned int flags;
	struct cursor c = map_section_header(img, at, &flags);

	if (flags & SECTION_PACKED)
		map_packed(img, &c, section);
	else
		map_section_at(img, &c, section);
}

/* The data of one CPU: chunks when they are packed, pages otherwise. */
static void map_cpu(struct image *img, uint64_t at, uint64_t size, bool packed)
{
	struct cursor whole = cursor_at(img, at);
	struct cursor c = cursor_sub(&whole, size);

	if (!size || cursor_failed(&c))
		return;
	if (!packed) {
		if (!img->pages || at < img->pages)
			img->pages = at;
		map_pages(img, &c);
		return;
	}
	for (uint64_t n = number(img, &c, PLACE_NUMBER, 4); n && !cursor_failed(&c); n--)
		map_packed(img, &c, SECTION_PAGES);
}

static void map_buffer(struct image *img, struct cursor *c)
{
	unsigned int flags;
	uint64_t cpus;

	map_section_header(img, number(img, c, PLACE_OFFSET, 8), &flags);
	string(img, c);
	string(img, c);
	number(img, c, PLACE_NUMBER, 4);
	cpus = number(img, c, PLACE_NUMBER, 4);
	for (uint64_t i = 0; i < cpus && i < MAX_CPUS && !cursor_failed(c); i++) {
		uint64_t at, size;
		struct place *p;

		number(img, c, PLACE_NUMBER, 4);
		at = number(img, c, PLACE_OFFSET, 8);
		size = cursor_u64(c);
		if (cursor_failed(c))
			return;
		p = note(img, PLACE_SIZE, cursor_offset(c) - 8, 8);
		p->from = at;
		p->to = at + size;
		map_cpu(img, at, size, flags & SECTION_PACKED);
	}
}

/* One option's content; returns the offset of the next table for the option that ends this one. */
static uint64_t map_option(struct image *img, struct cursor *c, unsigned int id)
{
	uint64_t at;

	switch (id) {
	case OPTION_DONE: return cursor_left(c) ? number(img, c, PLACE_OFFSET, 8) : 0;
	case OPTION_BUFFER: map_buffer(img, c); break;
	case OPTION_HEADER_INFO:
	case OPTION_FTRACE_EVENTS:
	case OPTION_EVENT_FORMATS:
	case OPTION_KALLSYMS:
	case OPTION_PRINTK:
	case OPTION_CMDLINES:
		at = number(img, c, PLACE_OFFSET, 8);
		map_metadata(img, at, id);
		break;
	default:
		/* Of the others it is enough to know where they are: short ones are numbers. */
		if (cursor_left(c) <= 16)
			while (cursor_left(c) >= 4)
				number(img, c, PLACE_NUMBER, 4);
		else
			note(img, PLACE_TEXT, cursor_offset(c), cursor_left(c));
	}
	return 0;
}

/* A table of options; returns what its end says about the next one. */
static uint64_t map_options(struct image *img, struct cursor *c)
{
	while (!cursor_failed(c)) {
		unsigned int id = (unsigned int)number(img, c, PLACE_NUMBER, 2);
		size_t at = cursor_offset(c);
		uint32_t size = cursor_u32(c);
		struct cursor content = cursor_sub(c, size);
		struct place *p;
		uint64_t next;

		if (cursor_failed(c))
			break;
		p = note(img, PLACE_SIZE, at, 4);
		p->from = at + 4;
		p->to = at + 4 + size;
		next = map_option(img, &content, id);
		if (id == OPTION_DONE)
			return next;
	}
	return 0;
}

static void map_v7(struct image *img, struct cursor *c)
{
	const char *compression = (const char *)c->pos;
	uint64_t at;

	string(img, c);
	string(img, c);
	at = number(img, c, PLACE_OFFSET, 8);
	if (cursor_failed(c))
		return;
	img->zstd = !strcmp(compression, "zstd");
	for (int i = 0; at && i < MAX_TABLES; i++) {
		unsigned int flags;
		struct cursor table = map_section_header(img, at, &flags);

		if (cursor_failed(&table) || (flags & SECTION_PACKED))
			break;
		at = map_options(img, &table);
	}
}

/* ---- version 6 ---- */

/* Where each CPU's pages are. */
static void map_flyrecord_v6(struct image *img, struct cursor *c, uint64_t cpus)
{
	string(img, c); /* "flyrecord" */
	for (uint64_t i = 0; i < cpus && i < MAX_CPUS && !cursor_failed(c); i++) {
		uint64_t at = number(img, c, PLACE_OFFSET, 8);
		uint64_t size = cursor_u64(c);
		struct place *p;

		if (cursor_failed(c))
			return;
		p = note(img, PLACE_SIZE, cursor_offset(c) - 8, 8);
		p->from = at;
		p->to = at + size;
		map_cpu(img, at, size, false);
	}
}

/* Options end with an id of 0 and nothing else. A further buffer has a table of its own. */
static void map_options_v6(struct image *img, struct cursor *c, uint64_t cpus)
{
	while (!cursor_failed(c)) {
		unsigned int id = (unsigned int)number(img, c, PLACE_NUMBER, 2);

		if (!id)
			return;
		if (id == OPTION_BUFFER) {
			uint64_t size = number(img, c, PLACE_NUMBER, 4);
			struct cursor content = cursor_sub(c, size);
			struct cursor table =
				cursor_at(img, number(img, &content, PLACE_OFFSET, 8));

			string(img, &content);
			map_flyrecord_v6(img, &table, cpus);
		} else {
			sized_text(img, c, 4);
		}
	}
}

static void map_v6(struct image *img, struct cursor *c)
{
	uint64_t cpus;

	map_header_info(img, c);
	map_ftrace(img, c);
	map_formats(img, c);
	sized_text(img, c, 4); /* symbols */
	sized_text(img, c, 4); /* printk formats */
	sized_text(img, c, 8); /* names of tasks */
	cpus = number(img, c, PLACE_NUMBER, 4);
	if (!cursor_failed(c) && cursor_left(c) > 10 && !memcmp(c->pos, "options  ", 10)) {
		string(img, c);
		map_options_v6(img, c, cpus);
	}
	map_flyrecord_v6(img, c, cpus);
}

static bool map_file(struct image *img)
{
	static const char magic[] = "\x17\x08\x44tracing";
	struct cursor c = cursor_at(img, 0);
	const uint8_t *start = cursor_bytes(&c, sizeof(magic) - 1);
	const char *version = cursor_string(&c);

	if (!start || memcmp(start, magic, sizeof(magic) - 1) || !version)
		return false;
	img->big_endian = cursor_u8(&c);
	c.big_endian = img->big_endian;
	note(img, PLACE_NUMBER, cursor_offset(&c) - 1, 1);
	number(img, &c, PLACE_NUMBER, 1);
	img->page_size = number(img, &c, PLACE_NUMBER, 4);
	if (!img->page_size || cursor_failed(&c))
		return false;
	if (!strcmp(version, "7"))
		map_v7(img, &c);
	else
		map_v6(img, &c);
	return true;
}

/* ---- images ---- */

bool image_load(struct image *img, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	bool fine;

	*img = (struct image){0};
	if (fd < 0)
		return false;
	fine = !fstat(fd, &st) && st.st_size > 0;
	if (fine) {
		img->len = img->cap = (size_t)st.st_size;
		img->data = malloc(img->cap);
		fine = img->data && read(fd, img->data, img->len) == (ssize_t)img->len;
	}
	close(fd);
	if (fine)
		fine = map_file(img);
	if (!fine)
		image_free(img);
	return fine;
}

void image_copy(struct image *to, const struct image *from)
{
	*to = *from;
	to->cap = from->len + 4096;
	to->data = malloc(to->cap);
	if (!to->data)
		abort();
	memcpy(to->data, from->data, from->len);
	for (int kind = 0; kind < PLACE_KINDS; kind++) {
		size_t n = from->places[kind].n;

		to->places[kind].cap = n;
		to->places[kind].at = n ? reallocarray(NULL, n, sizeof(struct place)) : NULL;
		if (n && !to->places[kind].at)
			abort();
		if (n)
			memcpy(to->places[kind].at, from->places[kind].at,
			       n * sizeof(struct place));
	}
}

void image_free(struct image *img)
{
	free(img->data);
	for (int kind = 0; kind < PLACE_KINDS; kind++)
		free(img->places[kind].at);
	*img = (struct image){0};
}
