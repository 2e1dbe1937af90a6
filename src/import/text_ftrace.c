// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ftrace's own events: functions, calls and returns, markers, stacks. Their fields are addresses of
 * functions of which the text has the names; these get addresses that were made up, and symbols.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "import/text_parts.h"

enum { FUNCTION, PRINT, KERNEL_STACK, USER_STACK, CALL, RETURN, NR_OWN };

#define ADDRESS(n)                                                                                 \
	{                                                                                          \
		.name = (n), .size = 8, .is_long = true                                            \
	}
#define MAX_FIELDS 5

static const struct own {
	const char *name;
	uint16_t id;
	struct import_field fields[MAX_FIELDS];
	const char *print;
} owns[NR_OWN] = {
	[FUNCTION] = {"function",
		      1,
		      {ADDRESS("ip"), ADDRESS("parent_ip")},
		      "\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip"},
	[PRINT] = {"print",
		   5,
		   {ADDRESS("ip"), {.name = "buf", .kind = IMPORT_LINE}},
		   "\"%ps: %s\", (void *)REC->ip, REC->buf"},
	[KERNEL_STACK] = {"kernel_stack",
			  4,
			  {{.name = "size", .size = 4, .is_signed = true},
			   {.name = "caller", .kind = IMPORT_REST, .size = 8, .is_long = true}},
			  "\"\\t=> %ps\\n\", (void *)REC->caller[0]"},
	[USER_STACK] = {"user_stack",
			12,
			{{.name = "tgid", .size = 4},
			 {.name = "caller", .kind = IMPORT_REST, .size = 8, .is_long = true}},
			"\"\\t=> %ps\\n\", (void *)REC->caller[0]"},
	[CALL] = {"funcgraph_entry",
		  11,
		  {ADDRESS("func"), {.name = "depth", .size = 4, .is_signed = true}},
		  "\"--> %ps (%d)\", (void *)REC->func, REC->depth"},
	[RETURN] = {"funcgraph_exit",
		    10,
		    {ADDRESS("func"),
		     {.name = "depth", .size = 4, .is_signed = true},
		     {.name = "overrun", .size = 4},
		     {.name = "calltime", .size = 8},
		     {.name = "rettime", .size = 8}},
		    "\"<-- %ps (%d) (start: %llx  end: %llx) over: %d\", (void *)REC->func, "
		    "REC->depth, REC->calltime, REC->rettime, REC->depth"},
};

struct text_ftrace {
	struct import *im;
	struct import_type types[NR_OWN];
	struct import_field fields[NR_OWN][MAX_FIELDS];
};

struct text_ftrace *text_ftrace_new(struct import *im)
{
	struct text_ftrace *f = calloc(1, sizeof(*f));

	if (f)
		f->im = im;
	else
		import_fail(im, -ENOMEM);
	return f;
}

void text_ftrace_free(struct text_ftrace *f)
{
	free(f);
}

/* Begins a record; the types are those that are needed. */
static struct import_field *begin(struct text_ftrace *f, int which)
{
	struct import_type *t = &f->types[which];

	if (!t->id) {
		memcpy(f->fields[which], owns[which].fields, sizeof(owns[which].fields));
		*t = (struct import_type){
			.system = "ftrace", .name = owns[which].name, .fields = f->fields[which]};
		while (t->nr_fields < MAX_FIELDS && t->fields[t->nr_fields].name)
			t->nr_fields++;
		if (!import_type_id(f->im, t, owns[which].id, owns[which].print))
			return NULL;
	}
	import_begin(f->im, t);
	return t->fields;
}

void text_function(struct text_ftrace *f, const struct import_context *x, uint64_t ip,
		   uint64_t parent)
{
	struct import_field *to = begin(f, FUNCTION);

	if (!to)
		return;
	import_set(f->im, &to[0], ip);
	import_set(f->im, &to[1], parent);
	import_end(f->im, x);
}

void text_print(struct text_ftrace *f, const struct import_context *x, uint64_t ip,
		struct piece text)
{
	struct import_field *to = begin(f, PRINT);

	if (!to)
		return;
	import_set(f->im, &to[0], ip);
	import_set_text(f->im, &to[1], text.at, text.len);
	import_end(f->im, x);
}

void text_stack(struct text_ftrace *f, const struct import_context *x, bool user,
		const uint64_t *addresses, size_t n)
{
	struct import_field *to = begin(f, user ? USER_STACK : KERNEL_STACK);

	if (!to)
		return;
	import_set(f->im, &to[0], user ? (uint64_t)x->pid : n);
	import_set_numbers(f->im, &to[1], addresses, n);
	import_end(f->im, x);
}

void text_call(struct text_ftrace *f, const struct import_context *x, uint64_t func, int depth)
{
	struct import_field *to = begin(f, CALL);

	if (!to)
		return;
	import_set(f->im, &to[0], func);
	import_set(f->im, &to[1], (uint64_t)depth);
	import_end(f->im, x);
}

void text_return(struct text_ftrace *f, const struct import_context *x, uint64_t func, int depth,
		 uint64_t called)
{
	struct import_field *to = begin(f, RETURN);

	if (!to)
		return;
	import_set(f->im, &to[0], func);
	import_set(f->im, &to[1], (uint64_t)depth);
	import_set(f->im, &to[3], called);
	import_set(f->im, &to[4], x->ts);
	import_end(f->im, x);
}

uint64_t text_symbol(struct import *im, struct piece name)
{
	const char *plus = memchr(name.at, '+', name.len);
	const char *space = memchr(name.at, ' ', name.len);
	const char *end = name.at + name.len;
	size_t len = plus ? (size_t)(plus - name.at) : space ? (size_t)(space - name.at) : name.len;
	char text[256];

	if (len > 127)
		len = 127;
	memcpy(text, name.at, len);
	/* Symbols of modules have the module behind them, and a tab between. */
	if (space && end - space > 3 && space[1] == '[' && end[-1] == ']' && end - space < 100) {
		text[len++] = '\t';
		memcpy(text + len, space + 1, (size_t)(end - space - 1));
		len += (size_t)(end - space - 1);
	}
	return import_symbol(im, text, len);
}
