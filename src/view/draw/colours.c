// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Colours of pictures. The tables are those of web/colours.js and web/theme.css; tests/view
 * compares them.
 */
#include "view/draw/draw.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/array.h"

/* light, dark */
static const uint32_t state_colours[][2] = {
	[VIEW_RUNNABLE] = {0xe8a33d, 0xc98a2b}, [VIEW_PREEMPTED] = {0xdd8350, 0xcf7340},
	[VIEW_SLEEPING] = {0xc3c9d2, 0x454d5a}, [VIEW_BLOCKED] = {0xcf86a3, 0xc0718f},
	[VIEW_STOPPED] = {0x8a8f98, 0x7a808b},	[VIEW_DEAD] = {0xd9dce1, 0x2d333c},
	[VIEW_UNKNOWN] = {0xd9dce1, 0x2d333c},
};

static const uint32_t fills[] = {
	0x77aadd, 0xee8866, 0x44bb99, 0xeedd88, 0x99ddff, 0xffaabb,
	0xbbcc33, 0xaaaa4d, 0xb9a5dd, 0xf4b183, 0x8fd1c4, 0xd5c7a9,
};
#define VARIANTS 2 /* of each fill: as it is, and a little darker */
#define DARKER	 0.86

static const uint32_t class_colours[][2] = {
	{0x7d9cc9, 0x6287b8}, {0xcf8a5f, 0xb9774c}, {0x5aa88e, 0x4b957c}, {0xb5a24a, 0xa39243},
	{0xa387cc, 0x8c72b5}, {0xcc7f9d, 0xb56a88}, {0x86a85a, 0x76964d}, {0x98a1ad, 0x727d8b},
};

static const struct draw_theme themes[] = {
	{.bg = 0xeef0f3,
	 .panel = 0xffffff,
	 .row = 0xfbfcfd,
	 .line = 0xe1e5ea,
	 .text = 0x1d2530,
	 .dim = 0x616c7a,
	 .accent = 0x2f6db5,
	 .lost = 0xb0305c,
	 .ink = 0x16202b},
	{.dark = true,
	 .bg = 0x12161c,
	 .panel = 0x1a2028,
	 .row = 0x161b22,
	 .line = 0x272f3a,
	 .text = 0xdfe5ec,
	 .dim = 0x93a0b0,
	 .accent = 0x6ea8e6,
	 .lost = 0xf08bb0,
	 .ink = 0x10161d},
};

/* As Math.round() does. */
static uint32_t channel(double value)
{
	return (uint32_t)floor(value + 0.5);
}

uint32_t draw_mix(uint32_t a, uint32_t b, double part)
{
	uint32_t mixed = 0;

	for (int shift = 0; shift <= 16; shift += 8)
		mixed |= channel((a >> shift & 0xff) * part + (b >> shift & 0xff) * (1 - part))
			 << shift;
	return mixed;
}

struct draw_theme draw_theme(bool dark)
{
	struct draw_theme t = themes[dark];

	t.grid = draw_mix(t.row, t.line, 0.4);
	return t;
}

uint32_t draw_state_colour(const struct draw_theme *t, enum view_state state)
{
	return state_colours[(size_t)state < ARRAY_SIZE(state_colours) ? state : VIEW_UNKNOWN]
			    [t->dark];
}

/* Where a name's number begins, with the sign before it: "kworker/3:1" is "kworker". */
static const char *number_of(const char *name)
{
	const char *digit = name + strcspn(name, "0123456789");

	return *digit && digit > name && strchr("/:#-", digit[-1]) ? digit - 1 : digit;
}

static uint32_t hash_unit(uint32_t h, uint32_t unit)
{
	return (h ^ unit) * 0x01000193;
}

/* FNV-1a over what a script sees of the name: units of UTF-16. */
static uint32_t hash(const char *name)
{
	const char *end = number_of(name);
	uint32_t h = 0x811c9dc5;

	while (name < end) {
		uint32_t c = draw_character(&name);

		if (c > 0xffff) {
			h = hash_unit(h, 0xd800 + ((c - 0x10000) >> 10));
			c = 0xdc00 + (c & 0x3ff);
		}
		h = hash_unit(h, c);
	}
	return h ^ h >> 15;
}

uint32_t draw_name_colour(const struct draw_theme *t, const char *name)
{
	const uint32_t n = hash(name) % (ARRAY_SIZE(fills) * VARIANTS);
	uint32_t c = fills[n % ARRAY_SIZE(fills)];

	if (t->dark)
		c = draw_mix(c, 0, DARKER);
	return n < ARRAY_SIZE(fills) ? c : draw_mix(c, 0, DARKER);
}

uint32_t draw_class_colour(const struct draw_theme *t, unsigned int number, bool soft)
{
	const uint32_t c = class_colours[number % ARRAY_SIZE(class_colours)][t->dark];
	const uint32_t background = t->dark ? 0x161616 : 0xfbfbfb;

	return soft ? draw_mix(c, background, 0.5) : c;
}
