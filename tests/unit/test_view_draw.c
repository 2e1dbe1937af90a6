// SPDX-License-Identifier: GPL-2.0-or-later
/* src/view/draw: columns of known intervals, texts that are cut off, and what is written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "base/vec.h"
#include "view/draw/draw.h"
#include "view/draw/internal.h"

#define MOST 8

struct span {
	uint64_t start, dur;
	uint32_t value;
};

struct tiles {
	struct tile_source source;
	struct span spans[MOST]; /* up to one without a duration */
	bool bins;
};

static void add_bins(const struct span *s, uint64_t base, uint32_t level, struct view_tile *out)
{
	for (uint32_t i = 0; i < VIEW_TILE_BINS; i++) {
		const uint64_t from = base + ((uint64_t)i << level), to = from + (1ull << level);
		const uint64_t a = s->start > from ? s->start : from;
		const uint64_t b = s->start + s->dur < to ? s->start + s->dur : to;
		struct view_bin *bin = b > a ? vec_push(&out->bins) : NULL;

		if (bin)
			*bin = (struct view_bin){.bin = i, .n = 1, .busy = b - a, .top = s->value};
	}
}

/* What an index would say; intervals that share no bin. */
static int made_up(const struct tile_source *from, uint32_t level, uint64_t tile,
		   struct view_tile *out)
{
	const struct tiles *t = (const struct tiles *)from;
	const uint64_t base = tile << (level + VIEW_TILE_SHIFT);
	const uint64_t end = base + ((uint64_t)VIEW_TILE_BINS << level);

	out->intervals.n = out->bins.n = 0;
	out->has_bins = t->bins;
	for (size_t i = 0; i < MOST && t->spans[i].dur; i++) {
		const struct span *s = &t->spans[i];
		struct view_interval *slot;

		if (s->start >= end || s->start + s->dur <= base)
			continue;
		if (t->bins) {
			add_bins(s, base, level, out);
			continue;
		}
		slot = vec_push(&out->intervals);
		if (slot)
			*slot = (struct view_interval){s->start, s->dur, s->value, 0};
	}
	return 0;
}

static void put_columns(struct buf *b, const struct draw_columns *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		buf_printf(b, "%d-%d=%u/%u%s ", c->list.at[i].x0, c->list.at[i].x1,
			   c->list.at[i].value, c->list.at[i].cover, c->list.at[i].wide ? "w" : "");
}

static void test_columns(void **state)
{
	static const struct {
		uint64_t since, until;
		int32_t width;
		bool bins;
		struct span spans[MOST];
		const char *columns; /* from-to=value/eighths, w: a slice of its own */
	} cases[] = {
		/* 10 ns a pixel */
		{0, 1000, 100, false, {{0, 1000, 7}}, "0-100=7/8w "},
		{0, 1000, 100, false, {{100, 200, 1}, {300, 50, 2}}, "10-30=1/8w 30-35=2/8w "},
		{500, 1500, 100, false, {{0, 600, 1}, {1400, 900, 2}}, "-2-10=1/8w 90-102=2/8w "},
		{0, 1000, 100, false, {{100, 5, 1}}, "10-11=1/4 "},
		{0, 1000, 100, false, {{100, 2, 1}, {103, 6, 2}}, "10-11=2/6 "},
		{0, 1000, 100, false, {{100, 1, 1}}, "10-11=1/1 "},
		{0, 1000, 100, false, {{100, 9, 1}, {110, 9, 1}}, "10-12=1/7 "},
		{0, 1000, 100, false, {{100, 9, 1}, {110, 9, 2}}, "10-11=1/7 11-12=2/7 "},
		/* What is not in the range is not there. */
		{0, 1000, 100, false, {{1000, 100, 1}}, ""},
		{1000, 2000, 100, false, {{0, 1000, 1}}, ""},
		/* One slice, however many tiles it goes through. */
		{0, 1u << 20, 4096, false, {{0, 1u << 20, 3}}, "0-4096=3/8w "},
		/* Bins: a column for each pixel, and one for neighbours that look alike. */
		{0, 1u << 20, 1024, true, {{0, 1u << 19, 3}}, "0-512=3/8 "},
		{0, 1u << 20, 1024, true, {{1024, 512, 3}}, "1-2=3/4 "},
		{1u << 18, 1u << 20, 768, true, {{0, 1u << 19, 3}}, "0-256=3/8 "},
		/* A pixel and a half of bins in each pixel: it is covered all the same. */
		{0, 3u << 18, 512, true, {{0, 3u << 17, 3}}, "0-256=3/8 "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct draw_scale s =
			draw_scale(cases[i].since, cases[i].until, cases[i].width);
		struct tiles t = {.source.tile = made_up, .bins = cases[i].bins};
		struct draw_columns c = {0};
		struct buf b;

		memcpy(t.spans, cases[i].spans, sizeof(t.spans));
		buf_init(&b, 1000);
		assert_int_equal(draw_columns_from(&t.source, &s, &c), 0);
		put_columns(&b, &c);
		if (strcmp(buf_str(&b), cases[i].columns) != 0)
			fail_msg("case %zu: %s instead of %s", i, buf_str(&b), cases[i].columns);
		buf_free(&b);
		draw_columns_free(&c);
	}
}

/* Bins are at most as wide as a pixel, and wider than half of one. */
static void test_scale(void **state)
{
	static const struct {
		uint64_t span;
		int32_t width;
		uint32_t level;
	} cases[] = {{1, 100, 0},
		     {100, 100, 0},
		     {199, 100, 0},
		     {200, 100, 1},
		     {1000, 100, 3},
		     {10000000000, 1000, 23},
		     {1ull << 62, 400, VIEW_MOST_LEVEL - VIEW_TILE_SHIFT}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(draw_scale(5, 5 + cases[i].span, cases[i].width).level,
				 cases[i].level);
}

static void test_texts(void **state)
{
	static const struct {
		const char *text, *shown; /* in as much room as "wwwwww" needs; NULL: nothing */
	} cases[] = {
		{"short", "short"},
		{"wwwwww", "wwwwww"},
		{"wwwwwwwwww", "wwwww\xe2\x80\xa6"},
		{"", NULL},
		{"a\nb\tc\x1b", "a?b?c?"},
		{"\xc3\xa9t\xc3\xa9", "\xc3\xa9t\xc3\xa9"},
		{"a\xff", "a?"},
	};
	const int32_t room = draw_text_width("wwwwww", 11);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct draw_shape how = {.x = 1, .y = 2, .h = 11};
		struct picture p;

		picture_init(&p, 100, 100, 0);
		assert_int_equal(picture_text(&p, how, room, cases[i].text) > 0,
				 cases[i].shown != NULL);
		assert_int_equal(p.shapes.n, cases[i].shown != NULL);
		if (cases[i].shown)
			assert_string_equal(p.texts.data + p.shapes.at[0].text, cases[i].shown);
		picture_free(&p);
	}
	/* Where not even two letters fit, there is nothing. */
	assert_true(draw_text_width("www", 11) > 3 * draw_text_width("i", 11));
}

/* What web/colours.js makes of these names, light and dark. */
static void test_name_colours(void **state)
{
	const struct draw_theme light = draw_theme(false), dark = draw_theme(true);
	static const char *const alike[][2] = {{"kworker/3:1", "kworker/0:2"},
					       {"ksoftirqd/0", "ksoftirqd/17"},
					       {"task1", "task2000"}};

	for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++)
		assert_int_equal(draw_name_colour(&light, alike[i][0]),
				 draw_name_colour(&light, alike[i][1]));
	assert_int_equal(draw_state_colour(&light, VIEW_RUNNABLE), 0xe8a33d);
	assert_int_equal(draw_state_colour(&dark, VIEW_RUNNABLE), 0xc98a2b);
	assert_int_equal(draw_state_colour(&light, (enum view_state)15),
			 draw_state_colour(&light, VIEW_UNKNOWN));
	assert_int_equal(draw_mix(0xff8000, 0, 0.5), 0x804000);
}

static void test_svg(void **state)
{
	const struct draw_shape how = {.x = 3, .y = 50, .h = 10, .colour = 0x123456};
	struct picture p;
	struct buf b;

	picture_init(&p, 100, 80, 0xffffff);
	picture_rect(&p, 1, 2, 3, 4, 0xff0000);
	picture_rect(&p, 10, 2, 3, 4, 0xff0000);
	picture_rect(&p, 10, 2, 0, 4, 0xff0000);
	picture_text(&p, how, 90, "<&\">");
	buf_init(&b, 10000);
	assert_int_equal(picture_svg(&p, &b), 0);
	assert_non_null(
		strstr(buf_str(&b), "<path fill=\"#ff0000\" d=\"M1 2h3v4h-3zM10 2h3v4h-3z\"/>"));
	assert_non_null(strstr(buf_str(&b), "<text x=\"3\" y=\"53.60\" font-size=\"10\" "
					    "fill=\"#123456\">&lt;&amp;&quot;&gt;</text>"));
	buf_free(&b);
	buf_init(&b, 50);
	assert_int_equal(picture_svg(&p, &b), -ENOMEM);
	buf_free(&b);
	picture_free(&p);
}

#define PNG_HEAD 33 /* signature and IHDR */
#define SIDE	 40

/* The pixels of a picture of SIDE times SIDE, unpacked. */
static void read_png(const struct buf *b, unsigned char *pixels)
{
	unsigned char lines[SIDE * (3 * SIDE + 1)];
	const unsigned char *head = (const unsigned char *)b->data + PNG_HEAD;
	const uLong size = (uLong)head[0] << 24 | head[1] << 16 | head[2] << 8 | head[3];
	uLongf len = sizeof(lines);

	assert_memory_equal(b->data, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
	assert_memory_equal(head + 4, "IDAT", 4);
	assert_int_equal(uncompress(lines, &len, head + 8, size), Z_OK);
	assert_int_equal(len, sizeof(lines));
	for (size_t y = 0; y < SIDE; y++)
		for (size_t i = 0; i < 3 * SIDE; i++) {
			const unsigned char *above = pixels + (y - 1) * 3 * SIDE + i;

			assert_int_equal(lines[y * (3 * SIDE + 1)], 2);
			pixels[y * 3 * SIDE + i] =
				(unsigned char)(lines[y * (3 * SIDE + 1) + 1 + i] +
						(y ? *above : 0));
		}
}

static uint32_t pixel(const unsigned char *pixels, int x, int y)
{
	const unsigned char *p = pixels + 3 * (y * SIDE + x);

	return (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];
}

static void test_png(void **state)
{
	const struct draw_shape how = {.x = 2, .y = 30, .h = 12};
	static unsigned char pixels[3 * SIDE * SIDE];
	uint32_t darkest = 0xffffff;
	struct picture p;
	struct buf b;

	picture_init(&p, SIDE, SIDE, 0xffffff);
	picture_rect(&p, -5, -5, 10, 10, 0x112233);
	picture_rect(&p, 35, 10, 1000, 2, 0x445566);
	picture_text(&p, how, SIDE, "HI");
	buf_init(&b, 100000);
	assert_int_equal(picture_png(&p, &b), 0);
	read_png(&b, pixels);
	assert_int_equal(pixel(pixels, 0, 0), 0x112233);
	assert_int_equal(pixel(pixels, 4, 4), 0x112233);
	assert_int_equal(pixel(pixels, 5, 4), 0xffffff);
	assert_int_equal(pixel(pixels, 39, 11), 0x445566);
	assert_int_equal(pixel(pixels, 34, 11), 0xffffff);
	assert_int_equal(pixel(pixels, 39, 12), 0xffffff);
	for (int x = 0; x < SIDE; x++)
		if (pixel(pixels, x, 30) < darkest)
			darkest = pixel(pixels, x, 30);
	assert_true(darkest < 0x404040);
	assert_int_equal(pixel(pixels, 39, 30), 0xffffff);
	buf_free(&b);
	picture_free(&p);
}

/* Every letter has lines within its width, and is a number of whole points. */
static void test_letters(void **state)
{
	for (uint32_t c = 1; c < 0x180; c++) {
		const struct draw_glyph g = draw_glyph(c);

		assert_true(g.width > 0);
		for (const char *at = g.strokes; *at;) {
			int x;

			if (*at == ' ') {
				at++;
				continue;
			}
			x = *at >= 'A' ? *at - 'A' + 10 : *at - '0';
			assert_true(x >= 0 && x <= g.width);
			assert_true(at[1] >= 'a' && at[1] <= 't');
			at += 2;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns), cmocka_unit_test(test_scale),
		cmocka_unit_test(test_texts),	cmocka_unit_test(test_name_colours),
		cmocka_unit_test(test_svg),	cmocka_unit_test(test_png),
		cmocka_unit_test(test_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
