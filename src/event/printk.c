// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * trace_printk() in its binary form: a record holds the address of a format and the arguments,
 * packed one after the other.
 *
 *	numbers   4 or 8 bytes, or the traced machine's long; each starts at a multiple of 4
 *	strings   copied, with their NUL
 *
 * As in libtraceevent the arguments are first taken from the record by one reading of the format,
 * then printed by another that understands more of it. Where the two disagree ("%-5d", "%c") later
 * conversions get the wrong argument or none.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "event/names.h"
#include "event/plan.h"

/* A record holds at most a kilobyte of arguments. */
#define MAX_ARGS 256

struct printk_arg {
	const char *text; /* NULL: a number */
	size_t len;
	uint64_t value;
};

struct printk_args {
	struct printk_arg at[MAX_ARGS];
	unsigned int n, next;
};

/* Where in the record the next argument starts. */
struct packed {
	const struct run *x;
	size_t pos;
};

static struct printk_arg *new_arg(struct printk_args *args)
{
	struct printk_arg *a = args->n < MAX_ARGS ? &args->at[args->n++] : NULL;

	if (a)
		*a = (struct printk_arg){0};
	return a;
}

static void take_number(struct packed *from, struct printk_args *args, size_t size)
{
	struct printk_arg *a = new_arg(args);
	size_t left;
	const uint8_t *p;

	from->pos = (from->pos + 3) & ~(size_t)3;
	p = run_bytes(from->x, from->pos, &left);
	if (a && size <= left)
		a->value = load_uint(p, (unsigned int)size, from->x->events->big_endian);
	from->pos += size;
}

static void take_string(struct packed *from, struct printk_args *args)
{
	struct printk_arg *a = new_arg(args);
	const char *text;
	size_t len = run_text(from->x, from->pos, &text);

	if (a) {
		a->text = text;
		a->len = len;
	}
	from->pos += len + 1;
}

/* Whether a pointer was already turned into text when it was recorded. */
static bool pointer_is_text(const struct packed *from, const char *letters)
{
	size_t left;
	const uint8_t *p = run_bytes(from->x, from->pos, &left);

	switch (letters[0]) {
	case 's':
	case 'S':
	case 'x': return false;
	case 'f':
	case 'F':
		if (letters[1] != 'w')
			return false;
		break;
	default: break;
	}
	return left && *p >= ' ' && *p <= '~';
}

static bool is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Takes the arguments of the conversion after a '%'; returns its last letter. */
static const char *take_conversion(struct packed *from, struct printk_args *args, const char *p)
{
	const unsigned int long_size = from->x->events->long_size;
	size_t longs = 0;

	for (; *p; p++) {
		if (*p == 'l')
			longs++;
		else if (*p == 'L')
			longs = 2;
		else if (*p == 'z' || *p == 'Z')
			longs = 1;
		else if (*p == '*')
			take_number(from, args, 4);
		else if (!strchr("0123456789.#+", *p))
			break;
	}
	switch (*p) {
	case 's': take_string(from, args); break;
	case 'p':
		if (!is_alnum(p[1])) {
			take_number(from, args, long_size);
		} else if (pointer_is_text(from, ++p)) {
			take_string(from, args);
		} else {
			take_number(from, args, long_size);
		}
		break;
	case 'd':
	case 'u':
	case 'i':
	case 'x':
	case 'X':
	case 'o':
		take_number(from, args,
			    longs == 0	 ? 4
			    : longs == 1 ? long_size
			    : longs == 2 ? 8
					 : longs);
		break;
	default: break;
	}
	return p;
}

static void take_arguments(const struct run *x, const char *format, uint32_t offset,
			   struct printk_args *args)
{
	struct packed from = {x, offset};

	for (const char *p = format; *p && from.pos < x->record->size; p++) {
		if (*p == '%')
			p = take_conversion(&from, args, p + 1);
		if (!*p)
			break;
	}
}

/* ---- printing ---------------------------------------------------------------------------- */

static const struct printk_arg *next_arg(struct printk_args *args)
{
	return args->next < args->n ? &args->at[args->next++] : NULL;
}

static void print_string(struct run *x, const struct spec *s, int star, const struct printk_arg *a)
{
	char digits[24];
	int n;

	if (a->text) {
		spec_string(x->out, s, star, a->text, a->len);
		return;
	}
	n = snprintf(digits, sizeof(digits), "%lld", (long long)a->value);
	spec_string(x->out, s, star, digits, (size_t)n);
}

static void print_pointer(struct run *x, const struct spec *s, int star, const struct printk_arg *a)
{
	struct expr number = {.kind = EXPR_ATOM, .atom = {.value = a->value}};

	if (a->text)
		buf_put(x->out, a->text, a->len);
	else
		pointer_print(x, &number, s, star);
}

/* Prints the conversion at p; returns where the format goes on. */
static const char *print_conversion(struct run *x, struct printk_args *args, const char *p)
{
	const struct printk_arg *star = NULL, *a;
	struct spec s;
	size_t used, letter;
	int width;

	switch (spec_read(p, x->events->compat == COMPAT_31, &s, &used, &letter)) {
	case SPEC_UNKNOWN:
		buf_putc(x->out, '>');
		buf_putc(x->out, s.text[0]);
		buf_putc(x->out, '<');
		return p + used;
	case SPEC_CUT:
	case SPEC_TOO_LONG: return p + used;
	case SPEC_CONVERSION: break;
	}
	if (s.stars)
		star = next_arg(args);
	a = next_arg(args);
	/* Without its argument only the letter of a conversion is printed. */
	if (!a || s.stars > 1)
		return p + letter;
	width = star && !star->text ? (int)star->value : -1;
	if (s.conv == CONV_STRING)
		print_string(x, &s, width, a);
	else if (s.conv == CONV_POINTER)
		print_pointer(x, &s, width, a);
	else
		spec_number(x->out, &s, width, a->text ? 0 : a->value);
	return p + used;
}

static const char *print_literal(struct run *x, const char *p)
{
	for (; *p && (*p != '%' || p[1] == '%'); p++) {
		if (*p == '\\' && p[1]) {
			buf_putc(x->out, spec_unescape(*++p));
		} else {
			p += *p == '%';
			buf_putc(x->out, *p);
		}
	}
	return p;
}

void printk_print(struct run *x, const struct event_plan *plan)
{
	struct printk_args args;
	uint64_t addr = record_uint(x->events, x->record, plan->fmt->offset, plan->fmt->size);
	uint64_t ip = record_uint(x->events, x->record, plan->ip->offset, plan->ip->size);
	const char *p = printk_format_find(x->events->printk, addr);

	pointer_print_function(x, ip, 's');
	buf_put(x->out, ": ", 2);
	if (!p) {
		buf_puts(x->out, "(NO FORMAT FOUND at ");
		buf_hex(x->out, addr);
		buf_put(x->out, ")\n", 2);
		return;
	}
	args.n = args.next = 0;
	take_arguments(x, p, plan->buf->offset, &args);
	while (*p && run_goes_on(x)) {
		if (*p != '%' || p[1] == '%')
			p = print_literal(x, p);
		else
			p = print_conversion(x, &args, p);
	}
}

/* ---- strings of the kernel ---- */

/*
 * Strings of the kernel by address, from the text of printk_formats:
 *
 *	0xffffffff8215b060 : "mt_find"
 *	0xffffffffc02a1028 : "%s: took %d us\n"
 *
 * They are the formats of trace_printk() and the constant strings that events only point to.
 * The list is sorted whenever a text was added, so that looking up never changes it. Of equal
 * addresses the later one comes first.
 */

struct printk_formats {
	vec_of(struct printk_format) list;
	vec_of(char *) texts; /* copies of the texts, which the list points into */
};

struct printk_formats *printk_formats_new(void)
{
	return calloc(1, sizeof(struct printk_formats));
}

void printk_formats_free(struct printk_formats *p)
{
	if (!p)
		return;
	vec_each (text, &p->texts)
		free(*text);
	vec_free(&p->texts);
	vec_free(&p->list);
	free(p);
}

/* Strips the quotes and a final \n from a format, in place. */
static const char *unquote(char *s)
{
	size_t n;

	if (*s == '"')
		s++;
	n = strlen(s);
	if (n && s[n - 1] == '"') {
		s[--n] = '\0';
		if (n >= 2 && s[n - 2] == '\\' && s[n - 1] == 'n')
			s[n - 2] = '\0';
	}
	return s;
}

/* Reads one NUL-terminated line. Without memory it returns false. */
static bool add_line(struct printk_formats *p, char *line)
{
	char *colon = strchr(line, ':');
	struct printk_format *f;

	if (!colon)
		return true;
	f = vec_push(&p->list);
	if (!f)
		return false;
	f->addr = strtoull(line, NULL, 16);
	/* A space stands between the colon and the quote. */
	f->text = unquote(colon[1] ? colon + 2 : colon + 1);
	return true;
}

/* Of one text's lines the later has the higher place in memory; qsort() need not be stable. */
static int by_addr(const void *a, const void *b)
{
	const struct printk_format *fa = a, *fb = b;
	uintptr_t ta = (uintptr_t)fa->text, tb = (uintptr_t)fb->text;

	if (fa->addr != fb->addr)
		return fa->addr < fb->addr ? -1 : 1;
	return ta > tb ? -1 : ta < tb;
}

int printk_formats_add(struct printk_formats *p, const char *text, size_t len)
{
	char **slot = vec_push(&p->texts), *line, *end;

	if (!slot)
		return -ENOMEM;
	len = strnlen(text, len);
	*slot = malloc(len + 1);
	if (!*slot)
		return -ENOMEM;
	memcpy(*slot, text, len);
	(*slot)[len] = '\0';

	for (line = *slot, end = line + len; line < end;) {
		char *next = memchr(line, '\n', (size_t)(end - line));

		if (!next)
			next = end;
		*next = '\0';
		if (!add_line(p, line))
			return -ENOMEM;
		line = next + 1;
	}
	if (p->list.n)
		qsort(p->list.at, p->list.n, sizeof(*p->list.at), by_addr);
	return 0;
}

const char *printk_format_find(const struct printk_formats *p, uint64_t addr)
{
	size_t low = 0, high = p ? p->list.n : 0;

	while (low < high) {
		size_t mid = (low + high) / 2;
		uint64_t at = p->list.at[mid].addr;

		if (at == addr)
			return p->list.at[mid].text;
		if (addr < at)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

const struct printk_format *printk_formats_all(const struct printk_formats *p, size_t *n)
{
	*n = p ? p->list.n : 0;
	return p ? p->list.at : NULL;
}
