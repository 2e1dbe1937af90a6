// SPDX-License-Identifier: GPL-2.0-or-later
/* The picture: a list of what is painted, one over the other. */
#include "view/draw.h"

#include <stdlib.h>

#include "base/safe.h"
#include "base/utf8.h"
#include "base/vec.h"

#define MOST_TEXT  (64u << 20)
#define LONGEST	   500 /* bytes of a single text */
#define CHARACTERS 2   /* that must be left of a text that is cut off */
#define ELLIPSIS   "\xe2\x80\xa6"

void picture_init(struct picture *p, int32_t width, int32_t height, uint32_t behind)
{
	*p = (struct picture){.width = width, .height = height, .behind = behind};
	buf_init(&p->texts, MOST_TEXT);
}

void picture_free(struct picture *p)
{
	vec_free(&p->shapes);
	buf_free(&p->texts);
}

static struct draw_shape *add(struct picture *p, struct draw_shape shape)
{
	struct draw_shape *s = vec_push(&p->shapes);

	if (s)
		*s = shape;
	else
		p->failed = true;
	return s;
}

void picture_rect(struct picture *p, int32_t x, int32_t y, int32_t w, int32_t h, uint32_t colour)
{
	if (w > 0 && h > 0)
		add(p,
		    (struct draw_shape){
			    .kind = DRAW_RECT, .x = x, .y = y, .w = w, .h = h, .colour = colour});
}

void picture_hatch(struct picture *p, enum draw_kind kind, int32_t x, int32_t y, int32_t w,
		   int32_t h, uint32_t colour)
{
	if (w > 0 && h > 0)
		add(p, (struct draw_shape){
			       .kind = kind, .x = x, .y = y, .w = w, .h = h, .colour = colour});
}

/* What can be shown of a text of strangers: one line, and nothing that turns it around. */
static void put_plain(struct buf *b, const char *text)
{
	const size_t from = b->len;
	size_t len = strlen(text);

	buf_put_safe(b, text, len < LONGEST ? len : LONGEST);
	for (size_t i = from; i < b->len; i++)
		if ((unsigned char)b->data[i] < ' ')
			b->data[i] = '?';
	/* What was cut off may have ended within a character. */
	for (size_t i = from; i < b->len;) {
		const size_t n = utf8_len((const unsigned char *)b->data + i, b->len - i);

		if (!n && (unsigned char)b->data[i] >= 0x80)
			b->data[i] = '?';
		i += n ? n : 1;
	}
}

/* Takes characters off the end until it fits; false: nothing useful does. */
static bool cut(struct buf *b, size_t from, int32_t size, int32_t room)
{
	if (draw_text_width(buf_str(b) + from, size) <= room)
		return b->len > from;
	room -= draw_text_width(ELLIPSIS, size);
	for (size_t left = b->len - from; left > CHARACTERS; left--) {
		if (((unsigned char)b->data[from + left] & 0xc0) == 0x80)
			continue;
		b->len = from + left;
		if (draw_text_width(buf_str(b) + from, size) <= room) {
			buf_puts(b, ELLIPSIS);
			return true;
		}
	}
	return false;
}

int32_t picture_text(struct picture *p, struct draw_shape how, int32_t room, const char *text)
{
	const size_t from = p->texts.len;
	int32_t width;

	put_plain(&p->texts, text);
	if (!cut(&p->texts, from, how.h, room)) {
		p->texts.len = from;
		return 0;
	}
	width = draw_text_width(buf_str(&p->texts) + from, how.h);
	buf_putc(&p->texts, '\0');
	if (buf_full(&p->texts)) {
		p->failed = true;
		return 0;
	}
	how.kind = DRAW_TEXT;
	how.text = (uint32_t)from;
	how.w = width;
	add(p, how);
	return width;
}
