/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The conversions of print formats: "%-16s", "%08lx", "%*pbl", … read once, applied often.
 *
 * What they print is what printf() prints, with two limits so that a hostile format cannot ask for
 * gigabytes: width and precision count only up to SPEC_MAX_WIDTH.
 *
 * Private to src/event.
 */
#ifndef EVENT_SPEC_H
#define EVENT_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define SPEC_MAX_WIDTH 65536
#define SPEC_MAX_TEXT  31

enum spec_conv {
	CONV_CHAR,
	CONV_SIGNED,
	CONV_UNSIGNED,
	CONV_HEX,
	CONV_HEX_UPPER,
	CONV_OCTAL,
	CONV_STRING,
	CONV_POINTER,
};

enum spec_flags {
	SPEC_LEFT = 1 << 0,
	SPEC_ZERO = 1 << 1,
	SPEC_ALTERNATE = 1 << 2,
	SPEC_PLUS = 1 << 3,
	SPEC_PRECISION = 1 << 4,      /* one is given */
	SPEC_STAR_WIDTH = 1 << 5,     /* the width is an argument */
	SPEC_STAR_PRECISION = 1 << 6, /* the precision is one */
	SPEC_ODD = 1 << 7,	      /* not in the order C wants: left to the C library */
};

struct spec {
	uint8_t conv;	 /* enum spec_conv */
	uint8_t flags;	 /* enum spec_flags */
	int8_t length;	 /* hh -2, h -1, none 0, l or z 1, ll 2; anything else makes no sense */
	uint8_t stars;	 /* arguments it takes before its value */
	uint8_t bits;	 /* of the value that are looked at: 8, 16, 32 or 64 */
	uint8_t pointer; /* where in text the letters after the p are, when it is one */
	uint32_t width;
	uint32_t precision;
	char text[SPEC_MAX_TEXT + 1]; /* as written */
};

enum spec_result {
	SPEC_CONVERSION,
	SPEC_UNKNOWN, /* text holds the one letter that is not known */
	SPEC_CUT,     /* the format ends inside */
	SPEC_TOO_LONG,
};

/*
 * Reads the conversion at `format`, which starts with '%' and is NUL-terminated. *used is how far
 * it reaches; *letter where its last letter stands. %c and %+ are unknown to
 * libtraceevent 1.7.1, which is `old`.
 */
enum spec_result spec_read(const char *format, bool old, struct spec *s, size_t *used,
			   size_t *letter);

/* The character that an escape like "\\n" stands for, by the letter after the backslash. */
char spec_unescape(char letter);

/* No width, precision or flags: what most conversions look like. */
bool spec_is_plain(const struct spec *s);

/* Append a value. `star` is the value of the argument a '*' stands for, negative without one. */
void spec_number(struct buf *out, const struct spec *s, int star, uint64_t value);
void spec_string(struct buf *out, const struct spec *s, int star, const char *text, size_t len);

/* Two digits. */
void spec_hex_byte(struct buf *out, uint8_t v, bool upper);

/* "0x…" or "(nil)", as %p prints it. */
void spec_address(struct buf *out, uint64_t value);

#endif
