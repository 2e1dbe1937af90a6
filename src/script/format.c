// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * printf(): a format is compiled once into a list of steps (text, then one argument), which run for
 * every record. The usual conversions have steps of their own, from the bytes of the record
 * directly to digits; flags, widths and precisions use C's printf.
 *
 * %x, %o and %c without a length are of an int, as in C. %d, %i and %u show the whole value, as in
 * bpftrace 0.26; in the style of 0.17 they are of an int, too. %s shows any value as print() does.
 */
#include "script/show.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/num.h"
#include "base/safe.h"
#include "base/vec.h"

enum step_kind {
	STEP_NONE,     /* only text */
	STEP_SIGNED,   /* %d of a plain number, no flags */
	STEP_UNSIGNED, /* %u */
	STEP_HEX,      /* %x */
	STEP_STRING,   /* %s of a string, flags or not */
	STEP_NUMBER,   /* any number with flags */
	STEP_VALUE,    /* any value with flags */
	STEP_BYTES,    /* %r, %rx, %rh */
	STEP_GFP,      /* %gr */
};

enum { MAX_FIELD = 4096 }; /* width and precision */

struct step {
	enum step_kind kind;
	const char *text; /* in front of it, in the format */
	uint32_t text_len;
	const struct vtype *type;
	uint32_t offset; /* of the argument */
	uint8_t size;	 /* that it has in the record */
	uint8_t keep;	 /* bytes of it that count */
	bool is_signed;	 /* in the record */
	char conversion; /* d u o x X c p s, and r x h of %r, %rx, %rh */
	bool left, plus, space, alternate, zero;
	uint32_t width;
	int32_t precision; /* -1: none */
};

struct format {
	struct {
		struct step *at;
		size_t n, cap;
	} steps;
};

/* ---- making it ready ---- */

static const char *parse_number(const char *p, uint32_t *n)
{
	for (*n = 0; *p >= '0' && *p <= '9'; p++)
		if (*n < MAX_FIELD)
			*n = *n * 10 + (uint32_t)(*p - '0');
	return p;
}

static const char *parse_flags(const char *p, struct step *s)
{
	for (;; p++) {
		switch (*p) {
		case '-': s->left = true; continue;
		case '+': s->plus = true; continue;
		case ' ': s->space = true; continue;
		case '#': s->alternate = true; continue;
		case '0': s->zero = true; continue;
		default: return p;
		}
	}
}

/* hh, h, l, ll, j, z, t, q, L; the number of bytes, 0 when there is none. */
static const char *parse_length(const char *p, uint8_t *bytes)
{
	*bytes = 0;
	for (; *p && strchr("hlLjztq", *p); p++)
		*bytes = *p != 'h' ? 8 : *bytes == 2 ? 1 : 2;
	return p;
}

/* Parses the text after the percent sign; NULL if it is not a conversion. */
static const char *parse_spec(const char *p, struct step *s, uint8_t *bytes)
{
	uint32_t n;

	p = parse_flags(p, s);
	p = parse_number(p, &s->width);
	s->precision = -1;
	if (*p == '.') {
		p = parse_number(p + 1, &n);
		s->precision = (int32_t)n;
	}
	p = parse_length(p, bytes);
	if (p[0] == 'g' && p[1] == 'r') {
		s->kind = STEP_GFP;
		return p + 2;
	}
	if (*p == 'r') {
		s->kind = STEP_BYTES;
		s->conversion = p[1] == 'x' || p[1] == 'h' ? p[1] : 'r';
		return p + (s->conversion == 'r' ? 1 : 2);
	}
	if (!*p || !strchr("diouxXcps", *p))
		return NULL;
	s->conversion = *p == 'i' ? 'd' : *p;
	return p + 1;
}

static bool is_bare(const struct step *s)
{
	return !s->left && !s->plus && !s->space && !s->alternate && !s->zero && !s->width &&
	       s->precision < 0;
}

/* How many bytes of a number are shown. */
static uint8_t bytes_kept(const struct output *o, const struct step *s, uint8_t length)
{
	if (s->conversion == 'p')
		return 8;
	if (length)
		return length;
	/* Decimals show the whole value; the others are of an int, as in C. */
	return strchr("cxXo", s->conversion) || o->style == OUTPUT_0_17 ? 4 : 8;
}

static void choose_kind(const struct output *o, struct step *s, uint8_t length)
{
	const struct vtype *t = s->type;
	uint64_t n;

	s->keep = bytes_kept(o, s, length);
	s->size = (uint8_t)(t->size <= 8 ? t->size : 8);
	s->is_signed = t->is_signed && t->kind == V_INT;
	if (s->kind == STEP_BYTES || s->kind == STEP_GFP)
		return;
	if (s->conversion == 's') {
		s->kind = t->kind == V_STRING ? STEP_STRING : STEP_VALUE;
		return;
	}
	/* A number is wanted; a value without one is shown as it is. */
	if (!value_number(t, (const uint8_t *)"", 0, &n)) {
		s->kind = STEP_VALUE;
		return;
	}
	s->kind = STEP_NUMBER;
	if (!is_bare(s) || (t->kind != V_INT && t->kind != V_POINTER))
		return;
	if (s->size != 1 && s->size != 2 && s->size != 4 && s->size != 8)
		return;
	switch (s->conversion) {
	case 'd': s->kind = STEP_SIGNED; break;
	case 'u': s->kind = STEP_UNSIGNED; break;
	case 'x': s->kind = STEP_HEX; break;
	default: break;
	}
}

void format_free(struct format *f)
{
	if (f)
		vec_free(&f->steps);
	free(f);
}

static struct step *new_step(struct format *f, const char *text, size_t len)
{
	struct step *s = vec_push(&f->steps);

	if (s) {
		s->text = text;
		s->text_len = (uint32_t)len;
	}
	return s;
}

static bool compile(const struct output *o, const struct action *a, struct format *f)
{
	const char *text = a->format ? a->format : "", *p = text;
	uint32_t arg = 0;

	while ((p = strchr(p, '%'))) {
		struct step spec = {0}, *s;
		uint8_t length = 0;
		const char *end = p[1] == '%' ? NULL : parse_spec(p + 1, &spec, &length);

		if (!end || arg >= a->nr_args) {
			/* The first of two percent signs is shown, or the only one. */
			if (!new_step(f, text, (size_t)(p + 1 - text)))
				return false;
			p += p[1] == '%' ? 2 : 1;
			text = p;
			continue;
		}
		s = new_step(f, text, (size_t)(p - text));
		if (!s)
			return false;
		spec.text = s->text;
		spec.text_len = s->text_len;
		spec.type = a->args[arg].type;
		spec.offset = a->args[arg].offset;
		arg++;
		choose_kind(o, &spec, length);
		*s = spec;
		text = p = end;
	}
	return new_step(f, text, strlen(text)) != NULL;
}

static struct format *format_of(struct output *o, const struct action *a)
{
	struct output_state *state = o->state;
	struct format *f;

	if (a->number >= o->unit->actions.n && a->number > 1 << 20)
		return NULL;
	while (state->formats.n <= a->number)
		if (!vec_push(&state->formats))
			return NULL;
	f = state->formats.at[a->number];
	if (f)
		return f;
	f = calloc(1, sizeof(*f));
	if (!f || !compile(o, a, f)) {
		format_free(f);
		return NULL;
	}
	state->formats.at[a->number] = f;
	return f;
}

/* ---- running it ---- */

/* Only the lowest bytes count; as C has it for an argument of that size. */
static uint64_t narrow(uint64_t n, unsigned int bytes, bool is_signed)
{
	unsigned int shift = 64 - 8 * bytes;

	if (bytes >= 8)
		return n;
	return is_signed ? (uint64_t)((int64_t)(n << shift) >> shift) : n << shift >> shift;
}

/* A plain number of the record; 0 when it is not there. */
static inline uint64_t load_arg(const struct step *s, const uint8_t *args, size_t len)
{
	uint64_t n;

	if (len < s->size || len - s->size < s->offset)
		return 0;
	n = load_uint(args + s->offset, s->size, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return s->is_signed ? narrow(n, s->size, true) : n;
}

static void put_padded(struct buf *to, const struct step *s, const char *text, size_t n)
{
	if (s->left)
		buf_put_left(to, text, n, s->width);
	else
		buf_put_right(to, text, n, s->width);
}

static size_t digits_of(char *out, uint64_t n, char conversion)
{
	size_t len = 0;

	switch (conversion) {
	case 'o':
		for (int shift = 63; shift >= 0; shift -= 3)
			if (len || n >> shift || !shift)
				out[len++] = (char)('0' + (n >> shift & 7));
		return len;
	case 'x':
	case 'p': return num_hex(out, n);
	case 'X':
		len = num_hex(out, n);
		for (size_t i = 0; i < len; i++)
			if (out[i] >= 'a')
				out[i] = (char)(out[i] - 'a' + 'A');
		return len;
	default: return num_dec(out, n);
	}
}

/* Sign or base in front of the digits. */
static const char *prefix_of(const struct step *s, uint64_t n, bool negative)
{
	if (s->conversion == 'd')
		return negative ? "-" : s->plus ? "+" : s->space ? " " : "";
	if (s->conversion == 'p')
		return "0x";
	if (!s->alternate || !n)
		return "";
	return s->conversion == 'x' ? "0x" : s->conversion == 'X' ? "0X" : "";
}

static void put_char(struct buf *to, const struct step *s, char c)
{
	put_padded(to, s, &c, c ? 1 : 0);
}

static void put_number(struct buf *to, const struct step *s, uint64_t n)
{
	bool negative = s->conversion == 'd' && (int64_t)n < 0;
	char digits[32];
	size_t len, zeros = 0, all;
	const char *prefix = prefix_of(s, n, negative);

	if (s->conversion == 'p' && !n) {
		put_padded(to, s, "(nil)", 5);
		return;
	}
	len = digits_of(digits, negative ? 0 - n : n, s->conversion);
	if (!s->precision && !n)
		len = 0;
	if (s->precision > 0 && (size_t)s->precision > len)
		zeros = (size_t)s->precision - len;
	if (s->conversion == 'o' && s->alternate && !zeros && (!len || digits[0] != '0'))
		zeros = 1;
	all = strlen(prefix) + zeros + len;
	if (s->zero && !s->left && s->precision < 0 && all < s->width) {
		zeros += s->width - all;
		all = s->width;
	}
	if (!s->left && all < s->width)
		buf_fill(to, ' ', s->width - all);
	buf_puts(to, prefix);
	buf_fill(to, '0', zeros);
	buf_put(to, digits, len);
	if (s->left && all < s->width)
		buf_fill(to, ' ', s->width - all);
}

/* Text that a precision may cut and a width may pad. */
static void put_text(struct buf *to, const struct step *s, const struct buf *text)
{
	size_t n = text->len;

	if (s->precision >= 0 && (size_t)s->precision < n)
		n = (size_t)s->precision;
	put_padded(to, s, text->data, n);
}

static void run_value(struct output *o, const struct step *s, const uint8_t *v, size_t len,
		      struct buf *to)
{
	struct show show = {.o = o, .to = to, .div = 1};
	size_t n;
	const uint8_t *p;

	if (!is_bare(s)) {
		show.to = &o->state->text;
		buf_reset(show.to);
	}
	if (s->kind == STEP_BYTES && s->type->kind == V_BUFFER) {
		p = buffer_bytes(s->type, v, len, &n);
		show_bytes(show.to, p, n,
			   s->conversion == 'x'	  ? BYTES_ESCAPED
			   : s->conversion == 'h' ? BYTES_SPACED
						  : BYTES_ASCII);
	} else {
		show_value(&show, s->type, v, len);
	}
	if (show.to != to)
		put_text(to, s, show.to);
}

static void run_number(struct output *o, const struct step *s, const uint8_t *v, size_t len,
		       struct buf *to)
{
	uint64_t n = 0;

	value_number(s->type, v, len, &n);
	if (s->kind == STEP_GFP) {
		buf_reset(&o->state->text);
		show_gfp(&o->state->text, n);
		put_text(to, s, &o->state->text);
		return;
	}
	if (s->conversion == 'c')
		put_char(to, s, (char)n);
	else
		put_number(to, s, narrow(n, s->keep, s->conversion == 'd'));
}

static void run_string(struct output *o, const struct step *s, const uint8_t *v, size_t len,
		       struct buf *to)
{
	size_t n = string_len(s->type, v, len);

	/* A string that may have been cut off is rare: the general function shows it. */
	if (n + 1 >= o->unit->config.max_strlen)
		run_value(o, s, v, len, to);
	else if (s->precision >= 0 && (size_t)s->precision < n)
		put_padded(to, s, (const char *)v, (size_t)s->precision);
	else if (s->width)
		put_padded(to, s, (const char *)v, n);
	else
		buf_put(to, v, n);
}

static void run_slow(struct output *o, const struct step *s, const uint8_t *args, size_t len,
		     bool clean, struct buf *to)
{
	const size_t start = to->len, at = s->offset < len ? s->offset : len;

	switch (s->kind) {
	case STEP_STRING: run_string(o, s, args + at, len - at, to); break;
	case STEP_NUMBER:
	case STEP_GFP: run_number(o, s, args + at, len - at, to); break;
	case STEP_VALUE:
	case STEP_BYTES: run_value(o, s, args + at, len - at, to); break;
	default: break;
	}
	if (clean)
		buf_clean(to, start);
}

static void run(struct output *o, const struct format *f, const uint8_t *args, size_t len,
		bool clean, struct buf *to)
{
	vec_each (s, &f->steps) {
		buf_put(to, s->text, s->text_len);
		switch (s->kind) {
		case STEP_NONE: break;
		case STEP_SIGNED:
			buf_i64(to, (int64_t)narrow(load_arg(s, args, len), s->keep, true));
			break;
		case STEP_UNSIGNED:
			buf_u64(to, narrow(load_arg(s, args, len), s->keep, false));
			break;
		case STEP_HEX: buf_hex(to, narrow(load_arg(s, args, len), s->keep, false)); break;
		default: run_slow(o, s, args, len, clean, to); break;
		}
	}
}

void output_format(struct output *o, const struct action *a, const void *args, size_t len,
		   bool clean, struct buf *to)
{
	struct format *f = format_of(o, a);

	if (f)
		run(o, f, args, len, clean, to);
}
