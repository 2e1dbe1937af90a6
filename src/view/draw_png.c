// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture as PNG: painted into pixels, three bytes each, and packed.
 *
 *	89 "PNG" 0d 0a 1a 0a, then chunks: u32 length, type, data, u32 crc of type and data
 *	IHDR	u32 width, u32 height, depth 8, colour type 2 (RGB), 0, 0, 0
 *	IDAT	zlib: for every line a filter (2: the difference to the line above) and its pixels
 *	IEND
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <zlib.h>

#include "view/draw.h"

#define FILTER_UP  2
#define PEN	   0.055 /* half as wide as lines of letters, of their size */
#define PEN_BOLD   0.085
#define MIDDLE	   0.36 /* of a text's size, from the baseline up */
#define HATCH_STEP 5
#define HATCH_DARK 0.28
#define LOST_STEP  8
#define LOST_WIDE  3

struct canvas {
	int32_t width, height;
	unsigned char *pixels;
};

/* ---- painting ---- */

static void dot(struct canvas *c, int32_t x, int32_t y, uint32_t colour, double part)
{
	unsigned char *p;

	if (x < 0 || y < 0 || x >= c->width || y >= c->height || part <= 0)
		return;
	p = c->pixels + 3 * ((size_t)y * (size_t)c->width + (size_t)x);
	for (int i = 0; i < 3; i++) {
		const double to = colour >> (16 - 8 * i) & 0xff;

		p[i] = (unsigned char)(p[i] + (to - p[i]) * (part < 1 ? part : 1) + 0.5);
	}
}

static void paint_rect(struct canvas *c, const struct draw_shape *s)
{
	const int32_t x0 = s->x > 0 ? s->x : 0, y0 = s->y > 0 ? s->y : 0;
	const int32_t x1 = s->x + s->w < c->width ? s->x + s->w : c->width;
	const int32_t y1 = s->y + s->h < c->height ? s->y + s->h : c->height;

	for (int32_t y = y0; y < y1; y++) {
		unsigned char *p = c->pixels + 3 * ((size_t)y * (size_t)c->width + (size_t)x0);

		for (int32_t x = x0; x < x1; x++, p += 3) {
			p[0] = (unsigned char)(s->colour >> 16);
			p[1] = (unsigned char)(s->colour >> 8);
			p[2] = (unsigned char)s->colour;
		}
	}
}

static void paint_hatch(struct canvas *c, const struct draw_shape *s)
{
	const bool lost = s->kind == DRAW_LOST;
	const int32_t step = lost ? LOST_STEP : HATCH_STEP, wide = lost ? LOST_WIDE : 1;

	for (int32_t y = s->y; y < s->y + s->h; y++)
		for (int32_t x = s->x; x < s->x + s->w; x++)
			if ((x + y) % step < wide)
				dot(c, x, y, s->colour, lost ? 1 : HATCH_DARK);
}

struct point {
	double x, y;
};

static double distance(struct point p, struct point a, struct point b)
{
	const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
	double t = length > 0 ? ((p.x - a.x) * dx + (p.y - a.y) * dy) / length : 0;

	t = t < 0 ? 0 : t > 1 ? 1 : t;
	return hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
}

/* A point of a glyph; false: a line ends here. */
static bool read_point(const char *at, struct point *out)
{
	if (!at[0] || at[0] == ' ')
		return false;
	out->x = at[0] >= 'A' ? at[0] - 'A' + 10 : at[0] - '0';
	out->y = at[1] - 'e';
	return true;
}

/* How far a point is from the nearest line of a glyph. */
static double nearest(const char *strokes, struct point p)
{
	double least = INFINITY;

	for (const char *at = strokes; *at;) {
		struct point a, b;

		if (!read_point(at, &a)) {
			at++;
			continue;
		}
		at += 2;
		if (read_point(at, &b))
			least = fmin(least, distance(p, a, b));
	}
	return least;
}

static void paint_glyph(struct canvas *c, struct draw_glyph g, double left, double base,
			double unit, double pen, uint32_t colour)
{
	const int32_t x0 = (int32_t)floor(left - 2), x1 = (int32_t)ceil(left + g.width * unit + 2);
	const int32_t y0 = (int32_t)floor(base - 17 * unit), y1 = (int32_t)ceil(base + 6 * unit);

	for (int32_t y = y0; y < y1; y++)
		for (int32_t x = x0; x < x1; x++) {
			const struct point p = {(x + 0.5 - left) / unit, (base - y - 0.5) / unit};

			dot(c, x, y, colour, 0.5 + pen - nearest(g.strokes, p) * unit);
		}
}

static void paint_text(struct canvas *c, const struct draw_shape *s, const char *text)
{
	const double unit = s->h / DRAW_UNITS_PER_SIZE;
	const double pen = s->h * (s->bold ? PEN_BOLD : PEN);
	/* Lines that lie on the baseline fill a whole pixel. */
	const double base = floor(s->y + MIDDLE * s->h) + 0.5;
	double x = (s->align == DRAW_RIGHT ? s->x - s->w : s->x) + 0.5;
	uint32_t character;

	while ((character = draw_character(&text))) {
		const struct draw_glyph g = draw_glyph(character);

		paint_glyph(c, g, x, base, unit, pen, s->colour);
		x += (g.width + DRAW_APART) * unit;
	}
}

static void paint(struct canvas *c, const struct picture *p)
{
	const struct draw_shape all = {
		.w = p->width, .h = p->height, .colour = p->behind, .kind = DRAW_RECT};

	paint_rect(c, &all);
	for (size_t i = 0; i < p->shapes.n; i++) {
		const struct draw_shape *s = &p->shapes.at[i];

		switch (s->kind) {
		case DRAW_RECT: paint_rect(c, s); break;
		case DRAW_HATCH:
		case DRAW_LOST: paint_hatch(c, s); break;
		case DRAW_TEXT: paint_text(c, s, p->texts.data + s->text); break;
		}
	}
}

/* ---- the file ---- */

static void put_be32(struct buf *b, uint32_t v)
{
	const unsigned char bytes[] = {v >> 24, v >> 16 & 0xff, v >> 8 & 0xff, v & 0xff};

	buf_put(b, bytes, sizeof(bytes));
}

static void put_chunk(struct buf *out, const char *type, const void *data, size_t len)
{
	const size_t from = out->len + 4;

	put_be32(out, (uint32_t)len);
	buf_put(out, type, 4);
	buf_put(out, data, len);
	if (!buf_full(out))
		put_be32(out, (uint32_t)crc32_z(0, (const Bytef *)out->data + from, len + 4));
}

/* Every line begins with how it was made. */
static void filter(const struct canvas *c, unsigned char *out)
{
	const size_t line = 3 * (size_t)c->width;

	for (int32_t y = 0; y < c->height; y++) {
		const unsigned char *here = c->pixels + (size_t)y * line;

		*out++ = FILTER_UP;
		for (size_t i = 0; i < line; i++)
			*out++ = (unsigned char)(here[i] - (y ? here[i - line] : 0));
	}
}

static int write_png(const struct canvas *c, struct buf *out)
{
	const size_t size = (3 * (size_t)c->width + 1) * (size_t)c->height;
	uLongf packed = compressBound(size);
	unsigned char *lines = malloc(size), *data = malloc(packed);
	int rc = -ENOMEM;

	if (lines && data) {
		struct buf head;

		filter(c, lines);
		if (compress2(data, &packed, lines, size, Z_DEFAULT_COMPRESSION) == Z_OK)
			rc = 0;
		buf_init(&head, 64);
		put_be32(&head, (uint32_t)c->width);
		put_be32(&head, (uint32_t)c->height);
		buf_put(&head, "\x08\x02\0\0\0", 5);
		buf_put(out, "\x89PNG\r\n\x1a\n", 8);
		put_chunk(out, "IHDR", head.data, head.len);
		put_chunk(out, "IDAT", data, packed);
		put_chunk(out, "IEND", "", 0);
		buf_free(&head);
	}
	free(lines);
	free(data);
	return buf_full(out) ? -ENOMEM : rc;
}

int picture_png(const struct picture *p, struct buf *out)
{
	struct canvas c = {.width = p->width, .height = p->height};
	int rc;

	c.pixels = malloc(3 * (size_t)p->width * (size_t)p->height);
	if (!c.pixels)
		return -ENOMEM;
	paint(&c, p);
	rc = write_png(&c, out);
	free(c.pixels);
	return rc;
}
