// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * How the traced kernel lays out a page, from the text it gives about it (events/header_page):
 *
 *	field: u64 timestamp;	offset:0;	size:8;	signed:0;
 *	field: local_t commit;	offset:8;	size:8;	signed:1;
 *	field: int overwrite;	offset:8;	size:1;	signed:1;
 *	field: char data;	offset:16;	size:4080;	signed:0;
 *
 * The size of commit is the only place where a trace tells how long a kernel's long is: a 32-bit
 * user space may have recorded a 64-bit kernel.
 */
#include "ring/ring.h"

#define MAX_NUMBER 65536u /* no offset or size in a page's header is larger */

struct field {
	uint32_t offset, size;
};

/* The number after key, between at and end. */
static bool number_after(const char *at, const char *end, const char *key, uint32_t *out)
{
	size_t len = strlen(key);
	const char *p = memmem(at, (size_t)(end - at), key, len);
	uint32_t n = 0;

	if (!p || p + len == end || p[len] < '0' || p[len] > '9')
		return false;
	for (p += len; p < end && *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (uint32_t)(*p - '0');
		if (n > MAX_NUMBER)
			return false;
	}
	*out = n;
	return true;
}

/* The field declared as "… NAME;" on a line of its own. */
static bool find_field(const char *text, size_t size, const char *name, struct field *f)
{
	const char *end = text + size, *at = memmem(text, size, name, strlen(name)), *line_end;

	if (!at)
		return false;
	line_end = memchr(at, '\n', (size_t)(end - at));
	if (!line_end)
		line_end = end;
	return number_after(at, line_end, "offset:", &f->offset) &&
	       number_after(at, line_end, "size:", &f->size);
}

struct ring_layout ring_layout_default(bool big_endian, unsigned int long_size, uint32_t page_size)
{
	uint32_t size = long_size == 4 ? 4 : 8;

	return (struct ring_layout){
		.big_endian = big_endian,
		.page_size = page_size,
		.commit_offset = 8,
		.commit_size = size,
		.data_offset = 8 + size,
	};
}

bool ring_layout_parse(struct ring_layout *layout, const char *text, size_t size)
{
	struct field time, commit, data;

	if (!find_field(text, size, " timestamp;", &time) ||
	    !find_field(text, size, " commit;", &commit) ||
	    !find_field(text, size, " data;", &data))
		return false;
	if (time.offset != 0 || time.size != 8 || (commit.size != 4 && commit.size != 8) ||
	    commit.offset < 8 || data.offset < commit.offset + commit.size ||
	    data.offset > RING_MIN_PAGE / 2)
		return false;
	layout->commit_offset = commit.offset;
	layout->commit_size = commit.size;
	layout->data_offset = data.offset;
	return true;
}
