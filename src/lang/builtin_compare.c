// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that compare bytes: strncmp(), memcmp(). */
#include "lang/lower.h"

static int check_length(struct checker *c, struct node *n, struct node *len)
{
	int rc = check_number(c, n, len);

	if (rc == 0 && len->is_const && len->num < 0)
		return check_fail(c, len, "%s() needs a length that is not negative", n->name);
	return rc;
}

static int check_strncmp(struct checker *c, struct node *n)
{
	int rc = check_text(c, n, n->list);

	if (rc == 0)
		rc = check_text(c, n, n->list->next);
	n->vtype = vtype_int(8, true);
	return rc < 0 ? rc : check_length(c, n, node_nth(n, 2));
}

/* How many bytes there are to compare, as far as that is known. */
static uint32_t compared(const struct node *len, uint32_t a, uint32_t b)
{
	const uint32_t size = a < b ? a : b;

	return len->is_const && (uint64_t)len->num < size ? (uint32_t)len->num : size;
}

/*
 * Compares bytes: 0, or how the first ones that differ do. Text ends at its terminator.
 */
static ir_reg compare(struct lower *l, const struct value *a, const struct value *b,
		      struct node *len, bool text)
{
	const uint32_t size = compared(len, a->type.size, b->type.size);
	const ir_label again = ir_new_label(l->f), end = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), i = ir_new(l->f);
	const ir_reg most = len->is_const ? 0 : lower_number(l, len);
	ir_reg x, y;

	ir_set_const(l->f, r, 0);
	ir_set_const(l->f, i, 0);
	ir_place(l->f, again);
	ir_branch_const(l->f, IR_UGE, i, size, end);
	if (most)
		ir_branch(l->f, IR_UGE, i, most, end);
	x = ir_load(l->f, ir_binary(l->f, IR_ADD, mem_address(l, a->mem), i), 0, 1, false);
	y = ir_load(l->f, ir_binary(l->f, IR_ADD, mem_address(l, b->mem), i), 0, 1, false);
	ir_set(l->f, r, ir_binary(l->f, IR_SUB, x, y));
	ir_branch(l->f, IR_NE, x, y, end);
	ir_set_const(l->f, r, 0);
	if (text)
		ir_branch_const(l->f, IR_EQ, x, 0, end);
	ir_set(l->f, i, ir_binary_const(l->f, IR_ADD, i, 1));
	ir_jump(l->f, again);
	ir_place(l->f, end);
	return r;
}

static void lower_strncmp(struct lower *l, struct node *n, struct value *v)
{
	const ir_label same = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	struct value a = {0}, b = {0};

	lower_text(l, n->list, &a);
	lower_text(l, n->list->next, &b);
	/* Only whether they differ is told. */
	ir_set(l->f, r, compare(l, &a, &b, node_nth(n, 2), true));
	ir_branch_const(l->f, IR_EQ, r, 0, same);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, same);
	set_number(v, r);
}

static int check_memcmp(struct checker *c, struct node *n)
{
	for (struct node *a = n->list; a->next; a = a->next) {
		if (vtype_is_aggregation(&a->vtype))
			return check_fail(c, a, "memcmp() cannot compare this");
		if (a->vtype.kind == V_POINTER && c->opt->offline)
			return check_fail(c, a,
					  "memcmp() of an address cannot be had from a recording");
		c->at->reads_kernel |= a->vtype.kind == V_POINTER && a->vtype.space == SPACE_KERNEL;
	}
	n->vtype = vtype_int(8, true);
	return check_length(c, n, node_nth(n, 2));
}

/* The bytes of a value; of a pointer those that it points at. */
static void lower_bytes(struct lower *l, struct node *n, const struct node *len, struct value *v)
{
	const uint32_t most = compared(len, l->unit->config.max_strlen, UINT32_MAX);
	struct mem m;

	lower_expr(l, n, v);
	if (n->vtype.kind == V_POINTER) {
		m = mem_take(l, most);
		mem_read(l, m, most, n->vtype.space, v->reg);
		v->type = vtype_string(most);
		set_memory(v, m);
	} else if (vtype_is_number(&n->vtype)) {
		m = mem_take(l, 8);
		mem_store(l, m, n->vtype.size, v->reg);
		set_memory(v, m);
	} else {
		value_own(l, v);
	}
}

static void lower_memcmp(struct lower *l, struct node *n, struct value *v)
{
	struct node *len = node_nth(n, 2);
	struct value a = {0}, b = {0};

	lower_bytes(l, n->list, len, &a);
	lower_bytes(l, n->list->next, len, &b);
	set_number(v, compare(l, &a, &b, len, false));
}

const struct builtin builtins_compare[] = {
	{"strncmp", 3, 3, 0, check_strncmp, lower_strncmp, 0},
	{"memcmp", 3, 3, 0, check_memcmp, lower_memcmp, 0},
	BUILTIN_END,
};
