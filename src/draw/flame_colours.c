// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Colours of frames. A function has the same colour in every picture: it depends on the name alone.
 * All are light enough for black letters, in front of a dark page as of a light one.
 */
#include <math.h>

#include "draw/flame_page.h"

struct rgb {
	double r, g, b;
};

/* A range of colours, and where a name lies in it (0 to 1, independently of each other). */
struct range {
	struct rgb from, along, across;
};

static const struct range warm = {{205, 60, 20}, {50, 130, 20}, {0, 45, 35}};
static const struct range kernel = {{235, 120, 40}, {15, 50, 30}, {0, 15, 20}};
static const struct range user = {{120, 190, 110}, {50, 40, 40}, {20, 10, 20}};
static const struct range plain = {{185, 185, 190}, {30, 30, 25}, {0, 0, 0}};

/* Light forms of colours that differ for every kind of sight. */
static const struct rgb distinct[] = {{230, 159, 60}, {110, 190, 235}, {240, 228, 120},
				      {90, 160, 215}, {225, 170, 200}, {200, 200, 200}};

static uint32_t pack(struct rgb c)
{
	return (uint32_t)lround(fmin(fmax(c.r, 0), 255)) << 16 |
	       (uint32_t)lround(fmin(fmax(c.g, 0), 255)) << 8 |
	       (uint32_t)lround(fmin(fmax(c.b, 0), 255));
}

static struct rgb between(struct rgb a, struct rgb b, double t)
{
	return (struct rgb){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static uint32_t in_range(const struct range *r, uint64_t hash)
{
	const double t = (double)(hash & 0xffff) / 0xffff,
		     u = (double)(hash >> 16 & 0xffff) / 0xffff;

	return pack((struct rgb){r->from.r + r->along.r * t + r->across.r * u,
				 r->from.g + r->along.g * t + r->across.g * u,
				 r->from.b + r->along.b * t + r->across.b * u});
}

/* FNV-1a, mixed: no secret is needed for a colour, and it must not differ from run to run. */
static uint64_t hash_name(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001b3ull;
	return map_mix(h);
}

static bool of_kernel(const char *name, size_t len)
{
	return len > 4 && strcmp(name + len - 4, "_[k]") == 0;
}

/* "[module]" at the name's end (but not "_[k]"), or what is in front of a backquote. */
static const char *module_of(const char *name, size_t *len)
{
	const size_t n = strlen(name);
	const char *open = strrchr(name, '['), *quote = strchr(name, '`');

	if (of_kernel(name, n)) {
		*len = 3;
		return name + n - 3;
	}
	if (open && n && name[n - 1] == ']') {
		*len = strlen(open);
		return open;
	}
	*len = quote ? (size_t)(quote - name) : 0;
	return name;
}

static uint32_t by_module(const char *name)
{
	size_t len;
	const char *module = module_of(name, &len);
	const uint64_t hash = hash_name(module, len);

	if (!len)
		return in_range(&plain, hash_name(name, strlen(name)));
	/* A hue of its own for each: a wheel of light colours. */
	return pack((struct rgb){190 + 60 * sin((double)(hash % 628) / 100),
				 190 + 60 * sin((double)(hash % 628) / 100 + 2.1),
				 190 + 60 * sin((double)(hash % 628) / 100 + 4.2)});
}

uint32_t flame_colour(enum flame_colours c, const char *name)
{
	const size_t len = strlen(name);
	const uint64_t hash = hash_name(name, len);

	switch (c) {
	case FLAME_KERNEL_USER: return in_range(of_kernel(name, len) ? &kernel : &user, hash);
	case FLAME_BY_MODULE: return by_module(name);
	case FLAME_COLOURBLIND:
		return pack(distinct[hash % (sizeof(distinct) / sizeof(distinct[0]))]);
	case FLAME_HOT:
	default: return in_range(&warm, hash);
	}
}

uint32_t flame_colour_of_change(enum flame_colours c, double change)
{
	static const struct rgb none = {238, 238, 238}, less = {70, 120, 255};
	static const struct rgb more = {255, 70, 60}, more_orange = {240, 145, 20};
	const struct rgb up = c == FLAME_COLOURBLIND ? more_orange : more;

	return pack(between(none, change > 0 ? up : less, sqrt(fmin(fabs(change), 1))));
}

uint32_t flame_colour_of_heat(enum flame_colours c, double amount)
{
	static const struct rgb stops[2][4] = {
		{{255, 245, 200}, {253, 190, 90}, {235, 80, 40}, {140, 0, 30}},
		{{253, 231, 37}, {53, 183, 121}, {49, 104, 142}, {68, 1, 84}},
	};
	const struct rgb *s = stops[c == FLAME_COLOURBLIND];
	const double at = fmin(fmax(amount, 0), 1) * 3;
	const unsigned int i = at >= 3 ? 2 : (unsigned int)at;

	return pack(between(s[i], s[i + 1], at - i));
}
