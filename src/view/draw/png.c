// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A picture as PNG: painted into pixels of three bytes, and packed.
 *
 *	89 "PNG" 0d 0a 1a 0a, then chunks: u32 length, type, data, u32 crc of type and data
 *	IHDR	u32 width, u32 height, depth 8, colour type 2 (RGB), 0, 0, 0
 *	IDAT	zlib: for every line a filter (2: the difference to the line above) and its pixels
 *	IEND
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "view/draw/draw.h"

/* ---- letters ---- */

/*
 * Letters are lines. A point is two characters: x as 0…9 and A… for 10 on, y as a letter: 'e' is
 * the baseline, 'o' the height of small letters and 's' that of capitals:
 *
 *	a -4   e 0   j 5   o 10   s 14   t 15
 *
 * SVG is shown in the reader's font; these letters are about as wide as those of usual fonts.
 */

#define FIRST ' '

static const struct draw_glyph ascii[] = {
	{"", 3},					   /* space */
	{"1s1j 1f1e", 2},				   /* ! */
	{"0s0o 3s3o", 3},				   /* " */
	{"3s1e 8s6e 0n9n 0i8i", 9},			   /* # */
	{"8p6q2q0o0m2l6l8j8h6f2f0h 4s4d", 8},		   /* $ */
	{"0p1s3s4p3m1m0p Bs1e 8i9lBlCiBf9f8i", 12},	   /* % */
	{"9e2n2q4s6q6n0i0g2e5e9j", 9},			   /* & */
	{"0s0o", 1},					   /* ' */
	{"3t0p0g3b", 3},				   /* ( */
	{"0t3p3g0b", 3},				   /* ) */
	{"3s3k 0q6m 6q0m", 6},				   /* * */
	{"6n6f 2jAj", 12},				   /* + */
	{"1f1e0b", 2},					   /* , */
	{"0j4j", 4},					   /* - */
	{"1f1e", 2},					   /* . */
	{"5s0c", 5},					   /* / */
	{"2e0h0p2s6s8p8h6e2e", 8},			   /* 0 */
	{"1p4s4e 1e7e", 8},				   /* 1 */
	{"0q2s6s8q8n0e8e", 8},				   /* 2 */
	{"0q2s6s8q8n6l3l 6l8j8g6e2e0g", 8},		   /* 3 */
	{"6e6s0i8i", 8},				   /* 4 */
	{"7s1s0l3n6n8k8h6e2e0g", 8},			   /* 5 */
	{"7s4s0n0h2e6e8h8j6m2m0j", 8},			   /* 6 */
	{"0s8s3e", 8},					   /* 7 */
	{"3l0n0q2s6s8q8n5l3l0j0g2e6e8g8j5l", 8},	   /* 8 */
	{"1e4e8j8p6s2s0p0n2k6k8n", 8},			   /* 9 */
	{"1n1m 1f1e", 2},				   /* : */
	{"1n1m 1f1e0b", 2},				   /* ; */
	{"Ao2jAe", 12},					   /* < */
	{"2lAl 2hAh", 12},				   /* = */
	{"2oAj2e", 12},					   /* > */
	{"0q2s5s7q7n4l4i 4f4e", 7},			   /* ? */
	{"9n6n4l4j6h9h 9n9iBiDkDoBr8s5s2q0n0h2e5d9d", 13}, /* @ */
	{"0e5sAe 2j8j", 10},				   /* A */
	{"0e0s7s9q9n7l0l 7lAjAg8e0e", 10},		   /* B */
	{"Aq8s3s0p0h3e8eAg", 10},			   /* C */
	{"0e0s6sAoAi6e0e", 10},				   /* D */
	{"9s0s0e9e 0l7l", 9},				   /* E */
	{"9s0s0e 0l7l", 9},				   /* F */
	{"Aq8s3s0p0h3e8eAgAk6k", 10},			   /* G */
	{"0s0e AsAe 0lAl", 10},				   /* H */
	{"1s1e", 2},					   /* I */
	{"5s5g3e1e0g", 5},				   /* J */
	{"0s0e 9s0k 3nAe", 10},				   /* K */
	{"0s0e8e", 8},					   /* L */
	{"0e0s6jCsCe", 12},				   /* M */
	{"0e0sAeAs", 10},				   /* N */
	{"3e0h0p3s7sApAh7e3e", 10},			   /* O */
	{"0e0s7s9q9m7k0k", 9},				   /* P */
	{"3e0h0p3s7sApAh7e3e 6hBc", 11},		   /* Q */
	{"0e0s7s9q9m7k0k 5k9e", 9},			   /* R */
	{"9q7s2s0q0n2l7l9j9g7e2e0g", 9},		   /* S */
	{"0sAs 5s5e", 10},				   /* T */
	{"0s0h3e7eAhAs", 10},				   /* U */
	{"0s5eAs", 10},					   /* V */
	{"0s3e7sBeEs", 14},				   /* W */
	{"0sAe As0e", 10},				   /* X */
	{"0s5lAs 5l5e", 10},				   /* Y */
	{"0sAs0eAe", 10},				   /* Z */
	{"3t0t0b3b", 3},				   /* [ */
	{"0s5c", 5},					   /* \ */
	{"0t3t3b0b", 3},				   /* ] */
	{"0n4s8n", 8},					   /* ^ */
	{"0b8b", 8},					   /* _ */
	{"0s2p", 2},					   /* ` */
	{"0m2o6o8m8e 8k2k0i0g2e6e8g", 8},		   /* a */
	{"0s0e 0m2o6o8m8g6e2e0g", 8},			   /* b */
	{"8m6o2o0m0g2e6e8g", 8},			   /* c */
	{"8s8e 8m6o2o0m0g2e6e8g", 8},			   /* d */
	{"0j8j8m6o2o0m0g2e6e8g", 8},			   /* e */
	{"6s4s2q2e 0o5o", 6},				   /* f */
	{"8o8c6a2a0c 8m6o2o0m0g2e6e8g", 8},		   /* g */
	{"0s0e 0m2o6o8m8e", 8},				   /* h */
	{"1o1e 1r1s", 2},				   /* i */
	{"3o3c1a0a 3r3s", 3},				   /* j */
	{"0s0e 7o0i 3k8e", 8},				   /* k */
	{"1s1e", 2},					   /* l */
	{"0o0e 0m2o4o6m6e 6m8oAoCmCe", 12},		   /* m */
	{"0o0e 0m2o6o8m8e", 8},				   /* n */
	{"2e0g0m2o6o8m8g6e2e", 8},			   /* o */
	{"0o0a 0m2o6o8m8g6e2e0g", 8},			   /* p */
	{"8o8a 8m6o2o0m0g2e6e8g", 8},			   /* q */
	{"0o0e 0l3o5o", 5},				   /* r */
	{"7m5o2o0m0k2j5j7h7g5e2e0g", 7},		   /* s */
	{"2r2g4e5e 0o5o", 5},				   /* t */
	{"0o0g2e6e8g 8o8e", 8},				   /* u */
	{"0o4e8o", 8},					   /* v */
	{"0o3e6o9eCo", 12},				   /* w */
	{"0o8e 8o0e", 8},				   /* x */
	{"0o4e 8o3b1a0a", 8},				   /* y */
	{"0o8o0e8e", 8},				   /* z */
	{"4t2s2l0j2h2c4b", 4},				   /* { */
	{"1t1b", 2},					   /* | */
	{"0t2s2l4j2h2c0b", 4},				   /* } */
	{"0i2k6i8k", 8},				   /* ~ */
};

static const struct {
	uint32_t character;
	struct draw_glyph glyph;
} others[] = {
	{0xb5, {"0o0a 0g2e6e8g 8o8e", 8}}, /* micro */
	{0xb7, {"1k1j", 2}},
	{0x2013, {"0j7j", 7}},		 /* en dash */
	{0x2026, {"0f0e 4f4e 8f8e", 8}}, /* … */
};

/* A box for what is not here. */
static const struct draw_glyph unknown = {"0e0s8s8e0e", 8};

struct draw_glyph draw_glyph(uint32_t character)
{
	if (character >= FIRST && character - FIRST < ARRAY_SIZE(ascii))
		return ascii[character - FIRST];
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (others[i].character == character)
			return others[i].glyph;
	return unknown;
}

/* Bytes that are no UTF-8 count as the characters of the same number. */
uint32_t draw_character(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	size_t n;
	const uint32_t c = utf8_decode(p, strnlen(*text, UTF8_MOST), &n);

	*text += n ? n : *p != '\0';
	return n ? c : *p;
}

int32_t draw_text_width(const char *text, int32_t size)
{
	uint32_t c, units = 0;

	while ((c = draw_character(&text)))
		units += draw_glyph(c).width + DRAW_APART;
	return (int32_t)ceil(units * (double)size / DRAW_UNITS_PER_SIZE);
}

/* ---- PNG ---- */

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
		.w = p->width, .h = p->height, .colour = p->background, .kind = DRAW_RECT};

	paint_rect(c, &all);
	vec_each (s, &p->shapes) {
		switch (s->kind) {
		case DRAW_RECT: paint_rect(c, s); break;
		case DRAW_HATCH:
		case DRAW_LOST: paint_hatch(c, s); break;
		case DRAW_TEXT: paint_text(c, s, p->texts.data + s->text); break;
		}
	}
}

/* ---- the file ---- */

static void put_chunk(struct buf *out, const char *type, const void *data, size_t len)
{
	const size_t from = out->len + 4;

	buf_uint(out, len, 4, true);
	buf_put(out, type, 4);
	buf_put(out, data, len);
	if (!buf_full(out))
		buf_uint(out, crc32_z(0, (const Bytef *)out->data + from, len + 4), 4, true);
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
		buf_uint(&head, (uint32_t)c->width, 4, true);
		buf_uint(&head, (uint32_t)c->height, 4, true);
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
