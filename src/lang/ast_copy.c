// SPDX-License-Identifier: GPL-2.0-or-later
/* Copies of bodies: one for each kind of probe it is compiled for. */
#include <string.h>

#include "lang/check.h"

static struct node *copy_one(const struct node *n, struct arena *arena)
{
	struct node *c = arena_alloc(arena, sizeof(*c));

	if (!c)
		return NULL;
	*c = *n;
	c->next = NULL;
	if ((n->a && !(c->a = ast_copy(n->a, arena))) ||
	    (n->b && !(c->b = ast_copy(n->b, arena))) ||
	    (n->c && !(c->c = ast_copy(n->c, arena))) ||
	    (n->list && !(c->list = ast_copy(n->list, arena))))
		return NULL;
	return c;
}

struct node *ast_copy(const struct node *list, struct arena *arena)
{
	struct node *first = NULL, **end = &first;

	for (; list; list = list->next) {
		*end = copy_one(list, arena);
		if (!*end)
			return NULL;
		end = &(*end)->next;
	}
	return first;
}

/* ---- what a body uses ---- */

static void look_at_name(const struct node *n, struct program *p)
{
	p->uses_args |= strcmp(n->name, "args") == 0;
	p->uses_regs |= strncmp(n->name, "arg", 3) == 0 || strncmp(n->name, "sarg", 4) == 0 ||
			strcmp(n->name, "retval") == 0 || strcmp(n->name, "reg") == 0 ||
			strcmp(n->name, "ctx") == 0;
	p->uses_kstack |= strcmp(n->name, "kstack") == 0 || strcmp(n->name, "stack") == 0;
	p->uses_objects |= strcmp(n->name, "path") == 0 || strcmp(n->name, "socket_cookie") == 0 ||
			   strcmp(n->name, "skboutput") == 0;
	/* uaddr() counts from where the probe is. */
	p->uses_place |= strcmp(n->name, "uaddr") == 0;
	p->uses_name |= strcmp(n->name, "probe") == 0 || strcmp(n->name, "func") == 0;
}

/* Strings of the probe's name are made when the program is, which is then one probe's. */
static void look_at_strings(const struct node *call, struct program *p)
{
	if (strncmp(call->name, "str", 3) != 0 && strcmp(call->name, "memcmp") != 0)
		return;
	for (const struct node *a = call->list; a; a = a->next)
		if (a->kind == N_NAME || a->kind == N_CALL)
			p->uses_place |=
				strcmp(a->name, "probe") == 0 || strcmp(a->name, "func") == 0;
}

void ast_look(const struct node *list, struct program *p)
{
	for (const struct node *n = list; n; n = n->next) {
		if (n->kind == N_NAME || n->kind == N_CALL)
			look_at_name(n, p);
		if (n->kind == N_CALL)
			look_at_strings(n, p);
		p->uses_types |= n->type != NULL;
		if (n->a)
			ast_look(n->a, p);
		if (n->b)
			ast_look(n->b, p);
		if (n->c)
			ast_look(n->c, p);
		if (n->list)
			ast_look(n->list, p);
	}
}
