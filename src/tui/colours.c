// SPDX-License-Identifier: GPL-2.0-or-later
#include "tui/colours.h"

#include "view/draw_colours.h"

#define CUBE   16  /* the first of 6 x 6 x 6 colours */
#define GREYS  232 /* the first of 24 */
#define INK    16
#define HITS   0xe6c200
#define EVENTS 0x7d9cc9

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

int16_t colour_of_hits(void)
{
	return colour_256(HITS);
}

int16_t colour_of_events(void)
{
	return colour_256(EVENTS);
}

int16_t colour_of_ink(void)
{
	return INK;
}
