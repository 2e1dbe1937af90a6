// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checker's rules for parts of values: fields, elements of tuples and arrays, arguments by
 * name.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lang/check.h"

static int no_member(struct checker *c, const struct node *n, const struct type *t)
{
	struct buf text;

	buf_init(&text, 4096);
	env_type_name(t, &text);
	check_fail(c, n, "%s has no field named '%s'", text.len ? buf_str(&text) : "the struct",
		   n->name);
	buf_reset(&text);
	type_near_members(t, n->name, &text);
	if (text.len)
		source_hint(c->source, "its fields include: %s", buf_str(&text));
	buf_free(&text);
	return -EINVAL;
}

static int check_element(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;

	if (n->name) {
		for (uint32_t i = 0; i < t->nr_elems; i++)
			if (t->elems[i].name && strcmp(t->elems[i].name, n->name) == 0) {
				n->num = i;
				n->vtype = *t->elems[i].type;
				return 0;
			}
		return check_fail(c, n, "the record has no element named '%s'", n->name);
	}
	if (n->num < 0 || n->num >= t->nr_elems)
		return check_fail(c, n, "the tuple has %u elements, there is no %lld", t->nr_elems,
				  (long long)n->num);
	n->vtype = *t->elems[n->num].type;
	return 0;
}

/* The parameters of a function: args.NAME. */
static int check_parameter(struct checker *c, struct node *n)
{
	const struct proto *p = &c->at->proto;
	struct buf names;

	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->at[i].name, n->name) == 0) {
			n->num = (int64_t)i;
			n->vtype = vtype_of_c(&p->at[i].type, check_space(c));
			/* A struct that is passed by value is copied. */
			if (n->vtype.kind == V_STRUCT)
				n->vtype.space = SPACE_OWN;
			return 0;
		}
	if (strcmp(n->name, "retval") == 0) {
		n->num = -1;
		n->vtype = vtype_of_c(&p->ret, check_space(c));
		return 0;
	}
	buf_init(&names, 1024);
	for (size_t i = 0; i < p->n; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", p->at[i].name);
	check_fail(c, n, "the function has no parameter named '%s'", n->name);
	if (names.len)
		source_hint(c->source, "it has: %s", buf_str(&names));
	buf_free(&names);
	return -EINVAL;
}

static bool is_args(const struct node *n)
{
	return n->kind == N_NAME && strcmp(n->name, "args") == 0;
}

/* System calls are given pointers by processes. */
static enum vspace space_of_arguments(const struct checker *c)
{
	const struct probe_target *t = c->at->targets.n ? c->at->targets.at[0] : NULL;

	return t && t->system && !strcmp(t->system, "syscalls") ? SPACE_USER : check_space(c);
}

int check_field(struct checker *c, struct node *n)
{
	struct vtype t;
	struct member m;
	int rc = check_expr(c, n->a);

	if (rc < 0)
		return rc;
	t = n->a->vtype;
	if (n->name && is_args(n->a) && c->at->has_proto)
		return check_parameter(c, n);
	if (t.kind == V_NONE)
		return 0;
	if (t.kind == V_TUPLE || t.kind == V_RECORD)
		return check_element(c, n);
	if (!n->name)
		return check_fail(c, n, "only tuples have numbered elements");
	if (t.kind != V_STRUCT && t.kind != V_POINTER)
		return check_fail(c, n, "only structs have fields");
	/* A struct that was only mentioned may be defined elsewhere. */
	if (t.c.kind == TYPE_STRUCT && !t.c.size && env_complete(c->env, &t.c))
		n->a->vtype.c = t.c;
	if (t.c.kind != TYPE_STRUCT)
		return check_fail(c, n, "only structs have fields");
	if (!type_member(&t.c, n->name, strlen(n->name), &m))
		return no_member(c, n, &t.c);
	n->vtype = vtype_of_c(&m.type, t.space == SPACE_CTX ? space_of_arguments(c) : t.space);
	if (n->vtype.kind == V_STRUCT || n->vtype.kind == V_ARRAY || n->vtype.kind == V_STRING)
		n->vtype.space = t.space;
	if (n->vtype.kind == V_POINTER && m.type.user)
		n->vtype.space = SPACE_USER;
	/* bpftrace takes the bits as they are. Scripts that ask for a flag of an int:1 expect 1. */
	if (n->vtype.kind == V_INT && m.bits)
		n->vtype.is_signed = false;
	if (env_dynamic(&m) || m.type.kind == TYPE_TEXT)
		n->vtype = vtype_dynamic(c, &m);
	if (n->vtype.kind == V_NONE)
		return check_fail(c, n, "the type of '%s' is not known", n->name);
	if (t.space == SPACE_KERNEL)
		c->at->reads_kernel = true;
	return 0;
}

/* What is told when an index that is not known yet turns out to be too large. */
static int warn_of_bounds(struct checker *c, struct node *n, uint64_t count)
{
	char text[128];
	struct action *a;

	if (n->b->is_const || !count)
		return 0;
	a = check_action(c, n, ACT_WARNF, NULL);
	snprintf(text, sizeof(text),
		 "Array access out of bounds: the array has %llu elements. 0 is being used as the "
		 "result.",
		 (unsigned long long)count);
	if (a)
		a->format = arena_strdup(&c->unit->arena, text);
	return a && a->format ? 0 : -ENOMEM;
}

int check_index(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;
	struct type elem;
	int rc = check_expr(c, n->a);

	if (rc == 0)
		rc = check_expr(c, n->b);
	if (rc < 0 || t->kind == V_NONE || n->b->vtype.kind == V_NONE)
		return rc;
	if (!node_is_int(n->b))
		return check_fail(c, n->b, "an index is a number");
	if (t->kind == V_TUPLE) {
		if (!n->b->is_const)
			return check_fail(c, n->b, "the index of a tuple must be a constant");
		/* $t[1] is $t.1. */
		n->kind = N_FIELD;
		n->num = n->b->num;
		n->b = NULL;
		return check_element(c, n);
	}
	if (t->kind == V_STRING) {
		n->vtype = vtype_int(1, true);
		if (n->b->is_const && t->size && (uint64_t)n->b->num >= t->size)
			return check_fail(c, n,
					  "the index %lld is out of bounds for array of size %u",
					  (long long)n->b->num, t->size);
	} else if (t->kind == V_POINTER) {
		n->vtype = vtype_of_c(&t->c, t->space);
	} else if (t->kind == V_ARRAY && type_target(&t->c, &elem)) {
		n->vtype = vtype_of_c(&elem, t->space);
		if (n->b->is_const && t->c.count && (uint64_t)n->b->num >= t->c.count)
			return check_fail(c, n,
					  "the index %lld is out of bounds for array of size %llu",
					  (long long)n->b->num, (unsigned long long)t->c.count);
	} else {
		return check_fail(c, n, "only arrays and pointers can be indexed");
	}
	if (n->vtype.kind == V_NONE)
		return check_fail(c, n, "the type of the elements is not known");
	if (t->kind != V_POINTER)
		rc = warn_of_bounds(c, n, t->kind == V_STRING ? t->size : t->c.count);
	if (rc < 0)
		return rc;
	if (t->space == SPACE_KERNEL)
		c->at->reads_kernel = true;
	return 0;
}
