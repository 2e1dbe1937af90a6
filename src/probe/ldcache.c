// SPDX-License-Identifier: GPL-2.0-or-later
#include "probe/ldcache.h"

#include <string.h>

#include "base/cursor.h"
#include "base/file.h"

#define MAX_CACHE   (64u << 20)
#define HEADER_TAIL 20 /* what follows the two counts and is not needed */

static const char magic[] = "glibc-ld.so.cache1.1";

static const char *string_at(struct cursor list, uint32_t offset)
{
	cursor_skip(&list, offset);
	return cursor_string(&list);
}

int ldcache_walk(const void *data, size_t size,
		 int (*fn)(void *arg, const char *name, const char *file), void *arg)
{
	const uint8_t *start = memmem(data, size, magic, sizeof(magic) - 1);
	struct cursor list, c;
	uint32_t n;
	int ret = 0;

	if (!start)
		return 0;
	/* The list is written by and for this machine. */
	list = cursor_over(start, size - (size_t)(start - (const uint8_t *)data),
			   __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	c = list;
	cursor_skip(&c, sizeof(magic) - 1);
	n = cursor_u32(&c);
	cursor_skip(&c, 4 + HEADER_TAIL);
	for (uint32_t i = 0; i < n && !ret; i++) {
		const char *name, *file;

		cursor_skip(&c, 4);
		name = string_at(list, cursor_u32(&c));
		file = string_at(list, cursor_u32(&c));
		cursor_skip(&c, 12);
		if (cursor_failed(&c))
			break;
		if (name && file)
			ret = fn(arg, name, file);
	}
	return ret;
}

int ldcache_each(const char *path, int (*fn)(void *arg, const char *name, const char *file),
		 void *arg)
{
	struct buf text;
	int ret = 0;

	buf_init(&text, MAX_CACHE);
	if (!file_read(path, &text, NULL))
		ret = ldcache_walk(text.data, text.len, fn, arg);
	buf_free(&text);
	return ret;
}
