// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls as the kernel's text shows them, without a name of an event:
 *
 *	sys_read(fd: 3, buf: 7f001000, count: 10)
 *	sys_read -> 0x10
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "import/text_parts.h"

#define MAX_CALLS 1000 /* kinds of system calls */

/* A kind of system call: how it is entered and left. */
struct text_call {
	struct import_type enter, leave;
	struct import_field enter_fields[TEXT_MAX_ARGS + 1], leave_fields[2];
	bool has_enter, has_leave;
	int32_t number; /* is not told: one that no system call has ties its two ends together */
};

void text_calls_free(struct text_calls *k)
{
	vec_each (it, &k->all)
		free(*it);
	vec_free(&k->all);
	map_free(&k->by_name);
}

static struct text_call *call_of(struct text_calls *k, struct piece name)
{
	const char *known = import_name(k->im, name.at, name.len);
	struct text_call *c = map_get(&k->by_name, (uintptr_t)known), **slot;

	if (c || !known || k->all.n >= MAX_CALLS)
		return c;
	c = calloc(1, sizeof(*c));
	slot = c ? vec_push(&k->all) : NULL;
	if (!slot || !map_set(&k->by_name, (uintptr_t)known, c)) {
		if (slot)
			k->all.n--;
		free(c);
		import_fail(k->im, -ENOMEM);
		return NULL;
	}
	*slot = c;
	c->number = -1 - (int32_t)k->all.n;
	return c;
}

/* As the kernel's own formats of system calls print them. */
static void put_call_print(const struct import_type *t, bool leaves, struct buf *out)
{
	if (leaves) {
		buf_puts(out, "\"0x%lx\", REC->ret");
		return;
	}
	buf_putc(out, '"');
	for (uint32_t i = 1; i < t->nr_fields; i++)
		buf_printf(out, "%s%s: 0x%%08lx", i > 1 ? ", " : "", t->fields[i].name);
	buf_putc(out, '"');
	for (uint32_t i = 1; i < t->nr_fields; i++)
		buf_printf(out, ", ((unsigned long)(REC->%s))", t->fields[i].name);
}

static bool make_call(struct text_calls *k, struct import_type *t, struct import_field *fields,
		      const char *prefix, struct piece name)
{
	struct buf text;
	bool ok;

	buf_init(&text, 4096);
	buf_puts(&text, prefix);
	buf_put(&text, name.at, name.len);
	t->system = "syscalls";
	t->name = import_identifier(k->im, text.data, text.len);
	t->fields = fields;
	fields[0] = (struct import_field){.name = "__syscall_nr", .size = 4, .is_signed = true};
	buf_reset(&text);
	put_call_print(t, strcmp(prefix, "sys_exit_") == 0, &text);
	ok = t->name && import_type(k->im, t, buf_str(&text));
	buf_free(&text);
	return ok;
}

struct argument {
	struct piece name;
	uint64_t value;
};

/* "fd: 0x3, buf: 0x7f…, count: 0x10)"; what else is told about an argument is left out. */
static bool take_argument(struct piece *p, struct argument *a)
{
	const char *colon = memchr(p->at, ':', p->len);

	if (!colon)
		return false;
	a->name = (struct piece){p->at, (size_t)(colon - p->at)};
	p->len -= a->name.len;
	p->at = colon;
	if (!take_text(p, ": "))
		return false;
	take_text(p, "0x");
	if (!take_hexadecimal(p, &a->value))
		return false;
	while (p->len && *p->at != ',' && *p->at != ')') {
		p->at++;
		p->len--;
	}
	return true;
}

static size_t take_arguments(struct piece p, struct argument *args)
{
	size_t n = 0;

	while (p.len && *p.at != ')' && n < TEXT_MAX_ARGS && take_argument(&p, &args[n])) {
		n++;
		if (!take_text(&p, ", "))
			break;
	}
	return n;
}

static void enter(struct text_calls *k, const struct import_context *x, struct piece name,
		  struct piece rest)
{
	struct text_call *c = call_of(k, name);
	struct argument args[TEXT_MAX_ARGS];
	const size_t n = take_arguments(rest, args);

	if (!c)
		return;
	if (!c->has_enter) {
		for (size_t i = 0; i < n; i++)
			c->enter_fields[i + 1] = (struct import_field){
				.name = import_identifier(k->im, args[i].name.at, args[i].name.len),
				.size = 8,
				.is_long = true,
			};
		c->enter.nr_fields = (uint32_t)n + 1;
		c->has_enter = make_call(k, &c->enter, c->enter_fields, "sys_enter_", name);
	}
	if (!c->has_enter || !x)
		return;
	import_begin(k->im, &c->enter);
	import_set(k->im, &c->enter_fields[0], (uint64_t)(int64_t)c->number);
	for (size_t i = 0; i < n && i + 1 < c->enter.nr_fields; i++)
		import_set(k->im, &c->enter_fields[i + 1], args[i].value);
	import_end(k->im, x);
}

static void leave(struct text_calls *k, const struct import_context *x, struct piece name,
		  struct piece rest)
{
	struct text_call *c = call_of(k, name);
	uint64_t ret = 0;

	if (!c)
		return;
	if (!c->has_leave) {
		c->leave_fields[1] =
			(struct import_field){.name = "ret", .size = 8, .is_signed = true};
		c->leave.nr_fields = 2;
		c->has_leave = make_call(k, &c->leave, c->leave_fields, "sys_exit_", name);
	}
	if (!c->has_leave || !x)
		return;
	take_text(&rest, "0x");
	take_hexadecimal(&rest, &ret);
	import_begin(k->im, &c->leave);
	import_set(k->im, &c->leave_fields[0], (uint64_t)(int64_t)c->number);
	import_set(k->im, &c->leave_fields[1], ret);
	import_end(k->im, x);
}

bool text_calls_put(struct text_calls *k, const struct import_context *x, struct piece text)
{
	struct piece name;
	size_t n = 0;

	if (!take_text(&text, "sys_"))
		return false;
	while (n < text.len && (isalnum((unsigned char)text.at[n]) || text.at[n] == '_'))
		n++;
	name = (struct piece){text.at, n};
	text.at += n;
	text.len -= n;
	if (!n)
		return false;
	if (take_text(&text, "("))
		enter(k, x, name, text);
	else if (take_text(&text, " -> "))
		leave(k, x, name, text);
	else
		return false;
	return true;
}
