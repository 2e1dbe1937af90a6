// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The picture: a list of shapes in the order in which they are painted; and the picture as SVG,
 * which needs no script, no style sheet and no other file.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/safe.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "view/draw/draw.h"

/* ---- shapes ---- */

#define MOST_TEXT  (64u << 20)
#define LONGEST	   500 /* bytes of a single text */
#define CHARACTERS 2   /* that must be left of a text that is cut off */
#define ELLIPSIS   "\xe2\x80\xa6"

void picture_init(struct picture *p, int32_t width, int32_t height, uint32_t background)
{
	*p = (struct picture){.width = width, .height = height, .background = background};
	buf_init(&p->texts, MOST_TEXT);
}

void picture_free(struct picture *p)
{
	vec_free(&p->shapes);
	buf_free(&p->texts);
}

/* What has no area is left out. */
static void add(struct picture *p, struct draw_shape shape)
{
	if (shape.w > 0 && shape.h > 0 && !vec_add(&p->shapes, &shape))
		p->failed = true;
}

void picture_rect(struct picture *p, int32_t x, int32_t y, int32_t w, int32_t h, uint32_t colour)
{
	picture_hatch(p, DRAW_RECT, x, y, w, h, colour);
}

void picture_hatch(struct picture *p, enum draw_kind kind, int32_t x, int32_t y, int32_t w,
		   int32_t h, uint32_t colour)
{
	add(p, (struct draw_shape){.kind = kind, .x = x, .y = y, .w = w, .h = h, .colour = colour});
}

/* What can be shown of a text of strangers: one line without control characters. */
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

/* ---- SVG ---- */

/* Rectangles of one colour that follow each other are one path. */

#define MIDDLE 36 /* percent of a text's size, from the baseline up */

/* What is no character of XML was taken out when the text was added, but for two. */
static void put_escaped(struct buf *b, const char *s)
{
	for (; *s; s++) {
		switch (*s) {
		case '<': buf_puts(b, "&lt;"); break;
		case '>': buf_puts(b, "&gt;"); break;
		case '&': buf_puts(b, "&amp;"); break;
		case '"': buf_puts(b, "&quot;"); break;
		case '\xef':
			if (s[1] == '\xbf' && (s[2] == '\xbe' || s[2] == '\xbf')) {
				buf_putc(b, '?');
				s += 2;
				break;
			}
			/* fallthrough */
		default: buf_putc(b, *s);
		}
	}
}

static void put_head(struct buf *b, const struct picture *p)
{
	buf_printf(b,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		   "viewBox=\"0 0 %d %d\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" "
		   "shape-rendering=\"crispEdges\">\n",
		   p->width, p->height, p->width, p->height);
	buf_puts(b, "<defs>\n"
		    "<pattern id=\"hatch\" width=\"5\" height=\"5\" "
		    "patternUnits=\"userSpaceOnUse\"><path d=\"M-1 6L6-1M-1 1L1-1M4 6L6 4\" "
		    "stroke=\"#000\" stroke-opacity=\"0.28\" stroke-width=\"1.2\" "
		    "shape-rendering=\"auto\"/></pattern>\n");
	buf_printf(b, "</defs>\n<rect width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", p->width,
		   p->height, p->background);
}

/* A path of all rectangles of a colour from the i-th on; where the next shape is. */
static size_t put_rects(struct buf *b, const struct picture *p, size_t i)
{
	const uint32_t colour = p->shapes.at[i].colour;

	buf_printf(b, "<path fill=\"#%06x\" d=\"", colour);
	for (; i < p->shapes.n; i++) {
		const struct draw_shape *s = &p->shapes.at[i];

		if (s->kind != DRAW_RECT || s->colour != colour)
			break;
		buf_printf(b, "M%d %dh%dv%dh-%dz", s->x, s->y, s->w, s->h, s->w);
	}
	buf_puts(b, "\"/>\n");
	return i;
}

/* Wide slanted lines, cut off at the sides of the area. */
static void put_lost(struct buf *b, const struct draw_shape *s)
{
	buf_printf(b,
		   "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><path stroke=\"#%06x\" "
		   "stroke-width=\"2\" shape-rendering=\"auto\" d=\"",
		   s->x, s->y, s->w, s->h, s->colour);
	for (int32_t x = 0; x < s->w + s->h; x += 8)
		buf_printf(b, "M%d 0L%d %d", x, x - s->h, s->h);
	buf_puts(b, "\"/></svg>\n");
}

static void put_text(struct buf *b, const struct picture *p, const struct draw_shape *s)
{
	const int32_t y = s->y * 100 + MIDDLE * s->h;

	buf_printf(b, "<text x=\"%d\" y=\"%d.%02d\" font-size=\"%d\" fill=\"#%06x\"%s%s>", s->x,
		   y / 100, y % 100, s->h, s->colour, s->bold ? " font-weight=\"600\"" : "",
		   s->align == DRAW_RIGHT ? " text-anchor=\"end\"" : "");
	put_escaped(b, p->texts.data + s->text);
	buf_puts(b, "</text>\n");
}

int picture_svg(const struct picture *p, struct buf *out)
{
	put_head(out, p);
	for (size_t i = 0; i < p->shapes.n && !buf_full(out);) {
		const struct draw_shape *s = &p->shapes.at[i++];

		switch (s->kind) {
		case DRAW_RECT: i = put_rects(out, p, i - 1); break;
		case DRAW_HATCH:
			buf_printf(out,
				   "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
				   "fill=\"url(#hatch)\"/>\n",
				   s->x, s->y, s->w, s->h);
			break;
		case DRAW_LOST: put_lost(out, s); break;
		case DRAW_TEXT: put_text(out, p, s); break;
		}
	}
	buf_puts(out, "</svg>\n");
	return buf_full(out) ? -ENOMEM : 0;
}
