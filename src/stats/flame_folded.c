// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded text, as stackcollapse programs write and flamegraph programs read it: a line per stack,
 * its functions from the outermost to the innermost between semicolons, a space, a number. Empty
 * lines and those that begin with '#' are passed over. Fractions are rounded.
 */
#include <string.h>

#include "stats/flame.h"

#define LINE_BYTES (1u << 20) /* of a line; what is longer is no stack */

void flame_folded_begin(struct flame_folded *r, struct flame *f, unsigned int side)
{
	*r = (struct flame_folded){.flame = f, .side = side};
	buf_init(&r->rest, LINE_BYTES);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* All of the text as a number that is rounded; false when it is none or does not fit. */
static bool parse_value(const char *s, size_t len, uint64_t *value)
{
	size_t i = 0;

	*value = 0;
	for (; i < len && is_digit(s[i]); i++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(s[i] - '0'), value))
			return false;
	if (!i || i == len)
		return i != 0;
	if (s[i++] != '.')
		return false;
	if (i < len && s[i] >= '5' && s[i] <= '9' && *value < UINT64_MAX)
		++*value;
	while (i < len && is_digit(s[i]))
		i++;
	return i == len;
}

static bool take_stack(struct flame_folded *r, const char *line, size_t len)
{
	size_t number = len;
	uint64_t value;

	while (number && line[number - 1] != ' ' && line[number - 1] != '\t')
		number--;
	if (number < 2 || !parse_value(line + number, len - number, &value))
		return false;
	while (number && (line[number - 1] == ' ' || line[number - 1] == '\t'))
		number--;
	if (!number)
		return false;
	flame_add(r->flame, r->side, flame_stack(r->flame, r->flame->root, line, number), value);
	return true;
}

static void take_line(struct flame_folded *r, const char *line, size_t len)
{
	r->lines++;
	while (len && (line[len - 1] == '\r' || line[len - 1] == ' '))
		len--;
	if (!len || *line == '#' || take_stack(r, line, len))
		return;
	if (!r->bad++)
		r->first_bad = r->lines;
}

/* The line that earlier parts of the text began. */
static void take_rest(struct flame_folded *r)
{
	take_line(r, r->rest.data, buf_full(&r->rest) ? 0 : r->rest.len);
	if (buf_full(&r->rest) && !r->bad++)
		r->first_bad = r->lines;
	buf_reset(&r->rest);
}

void flame_folded_take(struct flame_folded *r, const char *text, size_t len)
{
	while (len) {
		const char *end = memchr(text, '\n', len);
		const size_t n = end ? (size_t)(end - text) : len;

		if (!end || r->rest.len || buf_full(&r->rest))
			buf_put(&r->rest, text, n);
		else
			take_line(r, text, n);
		if (end && (r->rest.len || buf_full(&r->rest)))
			take_rest(r);
		text += n + (end != NULL);
		len -= n + (end != NULL);
	}
}

void flame_folded_end(struct flame_folded *r)
{
	if (r->rest.len || buf_full(&r->rest))
		take_rest(r);
	buf_free(&r->rest);
}

/* A name must not look like two frames, or two lines. */
static void put_name(struct buf *out, const char *name)
{
	const size_t start = out->len;

	buf_puts(out, name);
	for (size_t i = start; i < out->len; i++) {
		if (out->data[i] == ';')
			out->data[i] = ':';
		else if ((unsigned char)out->data[i] < ' ')
			out->data[i] = '?';
	}
}

/* The functions from the outermost to n; of a stack that is too deep the outer ones. */
static void put_stack(struct buf *out, const struct flame_node *n)
{
	const struct flame_node *path[FLAME_DEPTH];
	size_t depth = 0;

	for (const struct flame_node *up = n; up->name; up = up->parent)
		path[depth++ % FLAME_DEPTH] = up;
	if (!depth)
		buf_puts(out, flame_name(n));
	for (size_t left = depth < FLAME_DEPTH ? depth : FLAME_DEPTH; left; left--) {
		put_name(out, path[--depth % FLAME_DEPTH]->name);
		if (left > 1)
			buf_putc(out, ';');
	}
}

void flame_folded_put(const struct flame *f, bool both, struct buf *out)
{
	for (const struct flame_node *n = f->root; n; n = flame_next(n)) {
		if (!n->self[0] && !(both && n->self[1]))
			continue;
		put_stack(out, n);
		buf_putc(out, ' ');
		buf_u64(out, n->self[0]);
		if (both) {
			buf_putc(out, ' ');
			buf_u64(out, n->self[1]);
		}
		buf_putc(out, '\n');
	}
}
