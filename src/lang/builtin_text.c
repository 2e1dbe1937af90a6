// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that make strings. */
#include <errno.h>

#include "lang/lower.h"

/* ---- str(pointer[, length]) ---- */

/* A length that is known: *size has room for it and an end, if there is as much. */
static int check_length(struct checker *c, struct node *n, const struct node *len, uint32_t *size)
{
	if (len->num < 0 && len->vtype.is_signed)
		return check_fail(c, n, "str() cannot use negative length (%lld)",
				  (long long)len->num);
	if ((uint64_t)len->num < *size)
		*size = (uint32_t)len->num + 1;
	else if (c->last)
		source_warning(c->source, n->at,
			       "length param (%llu) is too long and will be shortened to %u bytes "
			       "(see BPFTRACE_MAX_STRLEN)",
			       (unsigned long long)len->num, *size);
	return 0;
}

static int check_str(struct checker *c, struct node *n)
{
	struct node *from = n->list, *len = from->next;
	uint32_t size = c->unit->config.max_strlen;
	int rc;

	if (from->vtype.kind == V_NONE)
		return 0;
	/* A parameter of the command line is a string, whatever it looks like. */
	if (from->kind == N_PARAM) {
		n->text = from->text;
		n->len = from->len;
		n->vtype = vtype_string((uint32_t)n->len + 1);
		n->is_const = true;
		return 0;
	}
	rc = len ? check_number(c, n, len) : 0;
	if (rc < 0)
		return rc;
	rc = len && len->is_const ? check_length(c, n, len, &size) : 0;
	if (rc < 0)
		return rc;
	if (from->vtype.kind != V_STRING && from->vtype.kind != V_ARRAY &&
	    !vtype_is_number(&from->vtype))
		return check_fail(c, from, "str() needs a pointer or an array of characters");
	if ((from->vtype.kind == V_STRING || from->vtype.kind == V_ARRAY) &&
	    !(len && len->is_const))
		size = from->vtype.size < size ? from->vtype.size + (from->vtype.kind == V_ARRAY)
					       : size;
	n->vtype = vtype_string(size ? size : 1);
	if (vtype_is_number(&from->vtype)) {
		enum vspace space =
			from->vtype.kind == V_POINTER ? from->vtype.space : check_space(c);

		if (c->opt->offline)
			return check_fail(
				c, n,
				"str() of an address cannot be had from a recording: the memory "
				"it points at was not recorded");
		c->at->reads_kernel |= space == SPACE_KERNEL;
	}
	return 0;
}

/* Of an address of which nothing is known: the kernel's memory, or else the process's. */
static ir_reg read_somewhere(struct lower *l, struct mem to, uint32_t size, ir_reg most, ir_reg at)
{
	const ir_label good = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set(l->f, r, mem_read_some_text(l, to, size, most, SPACE_KERNEL, at));
	if (compile_has(l->features, COMPILE_READ_SPLIT)) {
		ir_branch_const(l->f, IR_NE, r, 0, good);
		ir_set(l->f, r, mem_read_some_text(l, to, size, most, SPACE_USER, at));
		ir_place(l->f, good);
	}
	return r;
}

/* How many bytes to read for a length that is known only now: not more than there is room for. */
static ir_reg most_bytes(struct lower *l, uint32_t size, struct node *len)
{
	const ir_label fits = ir_new_label(l->f);
	const ir_reg most = ir_new(l->f);

	if (!len || len->is_const)
		return ir_const(l->f, size);
	ir_set(l->f, most, lower_number(l, len));
	ir_branch_const(l->f, IR_ULE, most, size - 1, fits);
	ir_set_const(l->f, most, size - 1);
	ir_place(l->f, fits);
	return ir_binary_const(l->f, IR_ADD, most, 1);
}

/* Cuts a string at a length that is known only now. */
static void cut(struct lower *l, struct mem m, uint32_t size, ir_reg len)
{
	const ir_label end = ir_new_label(l->f), again = ir_new_label(l->f);
	const ir_reg i = ir_new(l->f);

	ir_set(l->f, i, len);
	ir_place(l->f, again);
	ir_branch_const(l->f, IR_UGE, i, size, end);
	ir_store_const(l->f, ir_binary(l->f, IR_ADD, mem_address(l, m), i), 0, 1, 0);
	ir_set(l->f, i, ir_binary_const(l->f, IR_ADD, i, 1));
	ir_jump(l->f, again);
	ir_place(l->f, end);
}

static void lower_str(struct lower *l, struct node *n, struct value *v)
{
	struct node *from = n->list, *len = from->next;
	const uint32_t size = n->vtype.size;
	const struct mem m = mem_result(l, v, size);
	struct value text = {0};
	ir_reg at, most;

	if (!vtype_is_number(&from->vtype)) {
		lower_expr(l, from, &text);
		value_store(l, &text, &n->vtype, m);
		/* Bytes of an array may go on behind the length. */
		if (len && len->is_const)
			mem_store_const(l, (struct mem){m.base, m.offset + size - 1}, 1, 0);
		else if (len)
			cut(l, m, size, lower_number(l, len));
		set_memory(v, m);
		return;
	}
	at = lower_number(l, from);
	most = most_bytes(l, size, len);
	if (from->vtype.kind == V_POINTER || check_space(l->c) == SPACE_USER)
		v->length = mem_read_some_text(
			l, m, size, most,
			from->vtype.kind == V_POINTER ? from->vtype.space : SPACE_USER, at);
	else
		v->length = read_somewhere(l, m, size, most, at);
	set_memory(v, m);
}

const struct builtin builtins_text[] = {
	{"str", 1, 2, 0, check_str, lower_str, 0},
	BUILTIN_END,
};
