// SPDX-License-Identifier: GPL-2.0-or-later
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

static bool is_ascii(const char *text, size_t len)
{
	unsigned char seen = 0;

	for (size_t i = 0; i < len; i++)
		seen |= (unsigned char)text[i];
	return seen < 0x80;
}

static void put_valid(struct buf *b, const unsigned char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		const size_t n = text[i] < 0x80 ? 1 : utf8_len(text + i, len - i);

		if (n) {
			buf_put(b, text + i, n);
		} else {
			buf_putc(b, (char)(0xc0 | text[i] >> 6));
			buf_putc(b, (char)(0x80 | (text[i] & 0x3f)));
		}
		i += n ? n : 1;
	}
}

void proto_text(struct buf *b, uint32_t field, const char *text, size_t len)
{
	size_t start;

	if (is_ascii(text, len)) {
		proto_bytes(b, field, text, len);
		return;
	}
	start = proto_begin(b, field);
	put_valid(b, (const unsigned char *)text, len);
	proto_end(b, start);
}
