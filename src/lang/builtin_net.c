// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins about addresses of networks and the order of bytes. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "lang/lower.h"

#define INET_SIZE 20 /* u32 length, 16 bytes */

/* ---- ntop([family,] address) ---- */

static int check_ntop(struct checker *c, struct node *n)
{
	struct node *family = n->list->next ? n->list : NULL, *at = family ? family->next : n->list;

	if (at->vtype.kind == V_NONE)
		return 0;
	if (family && check_number(c, n, family) < 0)
		return -EINVAL;
	if (!vtype_is_number(&at->vtype) && at->vtype.kind != V_ARRAY &&
	    at->vtype.kind != V_STRING && at->vtype.kind != V_STRUCT)
		return check_fail(c, at, "ntop() needs a number or an array of 4 or 16 bytes");
	if (!vtype_is_number(&at->vtype) && at->vtype.size != 4 && at->vtype.size != 16)
		return check_fail(c, at, "ntop() takes addresses of 4 or 16 bytes, not of %u",
				  at->vtype.size);
	n->vtype = (struct vtype){.kind = V_INET, .size = INET_SIZE};
	return 0;
}

static void lower_ntop(struct lower *l, struct node *n, struct value *v)
{
	struct node *family = n->list->next ? n->list : NULL, *at = family ? family->next : n->list;
	const struct mem m = mem_result(l, v, INET_SIZE);
	struct mem bytes = m;
	struct value a = {0};

	bytes.offset += 4;
	lower_expr(l, at, &a);
	value_own(l, &a);
	mem_zero(l, m, INET_SIZE);
	if (a.reg)
		mem_store(l, bytes, 4, a.reg);
	else
		mem_copy(l, bytes, a.mem, at->vtype.size);
	mem_store_const(l, m, 4, a.reg ? 4 : at->vtype.size);
	set_memory(v, m);
}

/* ---- macaddr(array) ---- */

static enum vspace space_of(const struct checker *c, const struct vtype *t)
{
	return t->kind == V_POINTER ? t->space : check_space(c);
}

static int check_macaddr(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->list->vtype;

	if (t->kind == V_NONE)
		return 0;
	if (vtype_is_number(t) && !c->opt->offline)
		c->at->reads_kernel |= space_of(c, t) == SPACE_KERNEL;
	else if ((t->kind != V_ARRAY && t->kind != V_STRING) || t->size != 6)
		return check_fail(c, n->list, "macaddr() needs an array of 6 bytes");
	n->vtype = (struct vtype){.kind = V_MAC, .size = 6};
	return 0;
}

static void lower_macaddr(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, 8);
	struct value a = {0};

	lower_expr(l, n->list, &a);
	if (a.reg) {
		mem_zero(l, m, 8);
		mem_read(l, m, 6, space_of(l->c, &n->list->vtype), a.reg);
		set_memory(v, m);
		return;
	}
	/* An array of char is no text here: zeros are bytes like others. */
	a.type.kind = V_ARRAY;
	value_own(l, &a);
	mem_copy(l, m, a.mem, 6);
	set_memory(v, m);
}

/* ---- pton("1.2.3.4"): bytes that are known now ---- */

static int check_pton(struct checker *c, struct node *n)
{
	const struct type byte = {.kind = TYPE_INTEGER, .size = 1};
	uint8_t raw[16];
	size_t len;
	int rc = check_const_text(c, n, n->list);

	if (rc < 0)
		return rc;
	len = strchr(n->list->text, ':') ? 16 : 4;
	if (inet_pton(len == 16 ? AF_INET6 : AF_INET, n->list->text, raw) != 1)
		return check_fail(c, n->list, "pton(): '%s' is no address", n->list->text);
	n->vtype = (struct vtype){.kind = V_ARRAY, .size = (uint32_t)len};
	if (!type_array_of(&byte, len, c->arena, &n->vtype.c))
		return -ENOMEM;
	n->text = arena_alloc(c->arena, 16);
	if (!n->text)
		return -ENOMEM;
	memcpy((char *)n->text, raw, len);
	return 0;
}

static void lower_pton(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, n->vtype.size);

	for (uint32_t i = 0; i < n->vtype.size; i += 4) {
		struct mem at = m;
		uint32_t word;

		at.offset += i;
		memcpy(&word, n->text + i, 4);
		mem_store_const(l, at, 4, word);
	}
	set_memory(v, m);
}

/* ---- bswap ---- */

static int check_bswap(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->list->vtype;
	int rc = check_number(c, n, n->list);

	if (rc < 0 || t->kind == V_NONE)
		return rc;
	n->vtype = vtype_int(t->size, false);
	if (n->list->is_const) {
		n->num = (int64_t)(__builtin_bswap64((uint64_t)n->list->num) >>
				   (64 - n->vtype.size * 8));
		n->is_const = true;
	}
	return 0;
}

static void lower_bswap(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg r = lower_number(l, n->list);

	set_number(v, n->vtype.size > 1 ? ir_unary(l->f, IR_SWAP, r, n->vtype.size) : r);
}

const struct builtin builtins_net[] = {
	{"ntop", 1, 2, 0, check_ntop, lower_ntop, 0},
	{"pton", 1, 1, 0, check_pton, lower_pton, 0},
	{"macaddr", 1, 1, 0, check_macaddr, lower_macaddr, 0},
	{"bswap", 1, 1, 0, check_bswap, lower_bswap, 0},
	BUILTIN_END,
};
