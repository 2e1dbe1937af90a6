// SPDX-License-Identifier: GPL-2.0-or-later
/* The grid of cells, and the colours that a terminal has for those of the page. */
#include "tui/screen.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/utf8.h"
#include "view/draw/draw.h"

#define MOST_CELLS (1 << 22)
#define LINE_LIMIT 4096

const struct screen_style screen_usual = {SCREEN_USUAL, SCREEN_USUAL, 0};
const struct screen_style screen_dim = {SCREEN_USUAL, SCREEN_USUAL, SCREEN_DIM};
const struct screen_style screen_bold = {SCREEN_USUAL, SCREEN_USUAL, SCREEN_BOLD};

static const struct {
	uint32_t usual;
	char ascii;
} glyphs[GLYPH_LAST] = {
	[GLYPH_BLOCK] = {0x2581, '.'},	   [GLYPH_BLOCK + 1] = {0x2582, ':'},
	[GLYPH_BLOCK + 2] = {0x2583, '-'}, [GLYPH_BLOCK + 3] = {0x2584, '='},
	[GLYPH_BLOCK + 4] = {0x2585, '+'}, [GLYPH_BLOCK + 5] = {0x2586, '*'},
	[GLYPH_BLOCK + 6] = {0x2587, '%'}, [GLYPH_BLOCK_LAST] = {0x2588, '#'},
	[GLYPH_LINE] = {0x2500, '-'},	   [GLYPH_COLUMN] = {0x2502, '|'},
	[GLYPH_MARK] = {0x2506, ':'},	   [GLYPH_DOT] = {0xb7, '\''},
	[GLYPH_POINTER] = {0x25bc, 'v'},   [GLYPH_RUNNABLE] = {0x2592, 'r'},
	[GLYPH_BLOCKED] = {0x259a, 'D'},   [GLYPH_SLEEPING] = {0x2500, '_'},
	[GLYPH_STOPPED] = {0x2550, 'T'},   [GLYPH_UNKNOWN] = {0x2591, '?'},
	[GLYPH_LOST] = {0x2573, 'X'},	   [GLYPH_HIT] = {0x25c6, '*'},
	[GLYPH_OPEN] = {0x25be, '-'},	   [GLYPH_CUT] = {0x2026, '~'},
};

static const struct screen_cell blank = {' ', {SCREEN_USUAL, SCREEN_USUAL, 0}};

int screen_resize(struct screen *s, int32_t width, int32_t height)
{
	struct screen_cell *at;

	if (width < 1 || height < 1 || width > MOST_CELLS / height)
		return -EINVAL;
	at = calloc((size_t)width * (size_t)height, sizeof(*at));
	if (!at)
		return -ENOMEM;
	free(s->at);
	s->at = at;
	s->width = width;
	s->height = height;
	screen_clear(s);
	return 0;
}

void screen_free(struct screen *s)
{
	free(s->at);
	s->at = NULL;
	s->width = s->height = 0;
}

void screen_clear(struct screen *s)
{
	for (int64_t i = 0; i < (int64_t)s->width * s->height; i++)
		s->at[i] = blank;
}

struct screen_cell *screen_cell(const struct screen *s, int32_t x, int32_t y)
{
	if (x < 0 || y < 0 || x >= s->width || y >= s->height)
		return NULL;
	return &s->at[(int64_t)y * s->width + x];
}

uint32_t screen_glyph(const struct screen *s, enum glyph g)
{
	return s->ascii ? (uint32_t)glyphs[g].ascii : glyphs[g].usual;
}

static void set(struct screen *s, int32_t x, int32_t y, uint32_t character,
		struct screen_style style)
{
	struct screen_cell *c = screen_cell(s, x, y);

	if (c)
		*c = (struct screen_cell){character, style};
}

void screen_put(struct screen *s, int32_t x, int32_t y, enum glyph g, struct screen_style style)
{
	set(s, x, y, screen_glyph(s, g), style);
}

void screen_fill(struct screen *s, int32_t x, int32_t y, int32_t width, uint32_t character,
		 struct screen_style style)
{
	for (int32_t i = 0; i < width && x + i < s->width; i++)
		set(s, x + i, y, character, style);
}

/* ---- text ---- */

/*
 * The character at *text, which is advanced; 0 at the end. A character that is not one column wide
 * becomes '?': control characters, marks that turn the direction of writing, pieces of UTF-8.
 */
static uint32_t next_character(const struct screen *s, const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	size_t len;
	uint32_t code;

	if (!*p)
		return 0;
	if (*p < 0x80) {
		(*text)++;
		return *p == '\t' || *p == '\n' ? ' ' : *p < 0x20 || *p == 0x7f ? '?' : *p;
	}
	code = utf8_decode(p, strnlen(*text, UTF8_MOST), &len);
	*text += len ? len : 1;
	if (!len || s->ascii)
		return '?';
	return code < 0xa0 || wcwidth((wchar_t)code) != 1 ? '?' : code;
}

int32_t screen_columns(const struct screen *s, const char *text)
{
	int32_t n = 0;

	while (n < INT16_MAX && next_character(s, &text))
		n++;
	return n;
}

int32_t screen_text(struct screen *s, int32_t x, int32_t y, int32_t room, const char *text,
		    struct screen_style style)
{
	uint32_t c;

	for (; room > 0 && (c = next_character(s, &text)) != 0; room--, x++)
		set(s, x, y, room == 1 && *text ? screen_glyph(s, GLYPH_CUT) : c, style);
	return x;
}

int32_t screen_printf(struct screen *s, int32_t x, int32_t y, int32_t room,
		      struct screen_style style, const char *fmt, ...)
{
	scoped_buf line = buf_new(LINE_LIMIT);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&line, fmt, ap);
	va_end(ap);
	x = screen_text(s, x, y, room, buf_str(&line), style);
	return x;
}

/* ---- for tests ---- */

void screen_dump(const struct screen *s, struct buf *out)
{
	for (int32_t y = 0; y < s->height; y++) {
		size_t end = out->len;
		char bytes[UTF8_MOST];

		for (int32_t x = 0; x < s->width; x++) {
			const uint32_t c = screen_cell(s, x, y)->character;

			buf_put(out, bytes, utf8_encode(c, bytes));
			if (c != ' ')
				end = out->len;
		}
		out->len = end;
		buf_putc(out, '\n');
	}
}

#define CUBE  16  /* the first of 6 x 6 x 6 colours */
#define GREYS 232 /* the first of 24 */

static const uint8_t steps[] = {0, 95, 135, 175, 215, 255};

static uint32_t nearest_step(uint32_t channel)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < sizeof(steps); i++)
		if ((int)channel - (steps[i - 1] + steps[i]) / 2 > 0)
			best = i;
	return best;
}

static uint32_t rgb_of(int16_t colour)
{
	const uint32_t n = (uint32_t)colour;

	if (n >= GREYS)
		return (8 + (n - GREYS) * 10) * 0x010101;
	if (n < CUBE)
		return 0;
	return (uint32_t)steps[(n - CUBE) / 36] << 16 | (uint32_t)steps[(n - CUBE) / 6 % 6] << 8 |
	       steps[(n - CUBE) % 6];
}

static uint32_t distance(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (int shift = 0; shift <= 16; shift += 8) {
		const int d = (int)(a >> shift & 0xff) - (int)(b >> shift & 0xff);

		sum += (uint32_t)(d * d);
	}
	return sum;
}

int16_t colour_256(uint32_t rgb)
{
	const uint32_t r = rgb >> 16 & 0xff, g = rgb >> 8 & 0xff, b = rgb & 0xff;
	const uint32_t light = (r + g + b) / 3;
	const int16_t cube =
		(int16_t)(CUBE + 36 * nearest_step(r) + 6 * nearest_step(g) + nearest_step(b));
	const int16_t grey = (int16_t)(GREYS + (light < 8     ? 0
						: light > 238 ? 23
							      : (light - 3) / 10));

	return distance(rgb_of(grey), rgb) < distance(rgb_of(cube), rgb) ? grey : cube;
}

int16_t colour_8(int16_t colour)
{
	const uint32_t rgb = rgb_of(colour);
	const uint32_t c[3] = {rgb >> 16 & 0xff, rgb >> 8 & 0xff, rgb & 0xff};
	uint32_t least = 255, most = 0;
	int16_t bits = 0;

	for (int i = 0; i < 3; i++) {
		least = c[i] < least ? c[i] : least;
		most = c[i] > most ? c[i] : most;
	}
	if (colour < CUBE)
		return (int16_t)(colour & 7);
	if (most - least < 30)
		return most < 64 ? 0 : 7;
	/* What is more than half way up from the weakest part to the strongest. */
	for (int i = 0; i < 3; i++)
		if (c[i] - least > (most - least) / 2)
			bits |= (int16_t)(1 << i);
	return bits;
}

int16_t colour_of_name(const char *name)
{
	const struct draw_theme theme = draw_theme(false);

	return colour_256(draw_name_colour(&theme, name && *name ? name : "? "));
}

int16_t colour_of_state(enum view_state state)
{
	const struct draw_theme theme = draw_theme(false);

	return colour_256(draw_state_colour(&theme, state));
}

int16_t colour_of_lost(void)
{
	const struct draw_theme theme = draw_theme(true);

	return colour_256(theme.lost);
}
