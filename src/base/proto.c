// SPDX-License-Identifier: LGPL-2.1-or-later
/* Protobuf, the rare cases: texts that are not UTF-8, and long messages. */
#include "base/proto.h"

#include "base/utf8.h"

void proto_end_long(struct buf *b, size_t start)
{
	uint8_t length[VARINT_MOST];
	size_t size = b->len - start, more;

	if (b->full)
		return;
	more = (size_t)(varint_put(length, size) - length) - 1;
	if (!buf_room(b, more))
		return;
	memmove(b->data + start + more, b->data + start, size);
	memcpy(b->data + start - 1, length, more + 1);
	b->len += more;
}

void proto_text(struct buf *b, uint32_t field, const char *text, size_t len)
{
	size_t start;

	if (utf8_is_ascii(text, len)) {
		proto_bytes(b, field, text, len);
		return;
	}
	start = proto_begin(b, field);
	buf_utf8(b, text, len);
	proto_end(b, start);
}
