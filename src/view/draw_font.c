// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The letters of pictures that are made of pixels, as lines, and how wide texts are.
 *
 * A point is two letters: x as 0…9 and A… for 10 on, y as a letter, of which 'e' is the baseline,
 * 'o' the height of small letters and 's' that of capitals:
 *
 *	a -4   e 0   j 5   o 10   s 14   t 15
 *
 * SVG is shown in whatever font there is; letters are about as wide as those of the usual ones.
 */
#include <math.h>
#include <string.h>

#include "base/utf8.h"
#include "view/draw.h"

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
	if (character >= FIRST && character - FIRST < sizeof(ascii) / sizeof(ascii[0]))
		return ascii[character - FIRST];
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (others[i].character == character)
			return others[i].glyph;
	return unknown;
}

/* Bytes that are no UTF-8 count as the characters of the same number. */
uint32_t draw_character(const char **text)
{
	const unsigned char *p = (const unsigned char *)*text;
	const size_t n = *p < 0x80 ? 0 : utf8_len(p, strnlen(*text, 4));
	uint32_t c = n ? *p & (0x7fu >> n) : *p;

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	*text += n ? n : *p != '\0';
	return c;
}

int32_t draw_text_width(const char *text, int32_t size)
{
	uint32_t c, units = 0;

	while ((c = draw_character(&text)))
		units += draw_glyph(c).width + DRAW_APART;
	return (int32_t)ceil(units * (double)size / DRAW_UNITS_PER_SIZE);
}
