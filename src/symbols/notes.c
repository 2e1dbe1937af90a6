// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/notes.h"

#include <string.h>

#define HEAD	 12
#define BUILD_ID 3 /* NT_GNU_BUILD_ID */

bool note_next(struct cursor *notes, struct note *n)
{
	uint32_t len, padding;

	if (cursor_left(notes) < HEAD)
		return false;
	n->name_len = cursor_u32(notes);
	len = cursor_u32(notes);
	n->type = cursor_u32(notes);
	n->name = (const char *)cursor_bytes(notes, ((uint64_t)n->name_len + 3) & ~3ull);
	n->content = cursor_sub(notes, len);
	if (cursor_failed(notes))
		return false;
	/* The last one's padding may be missing. */
	padding = -len & 3;
	cursor_skip(notes, cursor_left(notes) < padding ? cursor_left(notes) : padding);
	return true;
}

bool note_is(const struct note *n, const char *owner, uint32_t type)
{
	size_t len = strlen(owner) + 1;

	return n->type == type && n->name_len == len && memcmp(n->name, owner, len) == 0;
}

bool note_build_id(struct cursor notes, struct build_id *id)
{
	struct note n;

	while (note_next(&notes, &n)) {
		size_t len = cursor_left(&n.content);

		if (!note_is(&n, "GNU", BUILD_ID) || len < 2 || len > sizeof(id->bytes))
			continue;
		memcpy(id->bytes, cursor_bytes(&n.content, len), len);
		id->len = len;
		return true;
	}
	return false;
}
