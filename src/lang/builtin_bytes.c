// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that take bytes and lists of strings out of memory: buf(), join(). */
#include <errno.h>

#include "lang/lower.h"

/* ---- buf(pointer or array[, length]) ---- */

static bool is_bytes(const struct vtype *t)
{
	return t->kind == V_ARRAY || t->kind == V_STRING || t->kind == V_STRUCT;
}

static int check_memory(struct checker *c, const struct node *n, const struct node *from)
{
	const enum vspace space =
		from->vtype.kind == V_POINTER ? from->vtype.space : check_space(c);

	if (c->opt->offline)
		return check_fail(
			c, n,
			"%s() of an address cannot be had from a recording: the memory it "
			"points at was not recorded",
			n->name);
	c->at->reads_kernel |= space == SPACE_KERNEL;
	return 0;
}

/* How many bytes it may have. */
static int buffer_size(struct checker *c, struct node *n, uint32_t *size)
{
	struct node *from = n->list, *len = from->next;
	uint32_t most = c->unit->config.max_strlen;

	if (is_bytes(&from->vtype) && from->vtype.size < most)
		most = from->vtype.size;
	*size = most;
	if (!len || !len->is_const)
		return 0;
	if (len->num < 1)
		return check_fail(c, len, "buf() needs a length that is not zero or negative");
	if ((uint64_t)len->num > most && c->last)
		source_warning(c->source, len->at, "buf(): only %u bytes are read of it%s", most,
			       is_bytes(&from->vtype) ? "" : " (config max_strlen)");
	*size = (uint64_t)len->num < most ? (uint32_t)len->num : most;
	return 0;
}

static int check_buf(struct checker *c, struct node *n)
{
	struct node *from = n->list, *len = from->next;
	uint32_t size = 0;
	int rc = len ? check_number(c, n, len) : 0;

	if (rc < 0 || from->vtype.kind == V_NONE)
		return rc;
	if (!is_bytes(&from->vtype) && !vtype_is_number(&from->vtype))
		return check_fail(c, from, "buf() needs a pointer or an array");
	if (!is_bytes(&from->vtype) && !len)
		return check_fail(c, n, "buf() of a pointer needs a length");
	if (!is_bytes(&from->vtype))
		rc = check_memory(c, n, from);
	if (rc == 0)
		rc = buffer_size(c, n, &size);
	if (rc < 0)
		return rc;
	n->vtype = (struct vtype){.kind = V_BUFFER, .size = size + 4};
	return 0;
}

/* Its length as it is asked for, and not more than there is room for. */
static ir_reg buffer_length(struct lower *l, struct node *len, uint32_t most)
{
	const ir_label fits = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	if (!len || len->is_const)
		return 0;
	ir_set(l->f, r, lower_number(l, len));
	ir_branch_const(l->f, IR_ULE, r, most, fits);
	ir_set_const(l->f, r, most);
	ir_place(l->f, fits);
	return r;
}

static void lower_buf(struct lower *l, struct node *n, struct value *v)
{
	struct node *from = n->list;
	const uint32_t most = n->vtype.size - 4;
	const struct mem m = mem_take(l, n->vtype.size);
	const struct mem bytes = {m.base, m.offset + 4};
	const ir_reg length = buffer_length(l, from->next, most);
	struct value a = {0};

	lower_expr(l, from, &a);
	if (length)
		mem_zero(l, m, n->vtype.size);
	if (a.reg) {
		const enum vspace space =
			from->vtype.kind == V_POINTER ? from->vtype.space : check_space(l->c);

		IR_CALL(l->f, mem_reader(l, space, false), mem_address(l, bytes),
			length ? length : ir_const(l->f, most), a.reg);
	} else {
		/* Text that is somewhere else may have zeros in it, and no end. */
		if (a.type.c.kind == TYPE_ARRAY)
			a.type.kind = V_ARRAY;
		value_own(l, &a);
		mem_copy(l, bytes, a.mem, most);
	}
	if (length) {
		mem_store(l, m, 4, length);
		v->length = ir_binary_const(l->f, IR_ADD, length, 4);
	} else {
		mem_store_const(l, m, 4, most);
	}
	set_memory(v, m);
}

/* ---- join(array of strings[, separator]) ---- */

#define JOIN_STRINGS 64	  /* that are taken at most */
#define JOIN_BYTES   4096 /* of them, and one more string */

static uint32_t join_size(const struct checker *c)
{
	return 4 + JOIN_BYTES + c->unit->config.max_strlen;
}

static int check_join(struct checker *c, struct node *n)
{
	struct node *list = n->list, *between = list->next;
	struct vtype *t = arena_alloc(&c->unit->arena, sizeof(*t));
	struct velem *e = arena_alloc(&c->unit->arena, sizeof(*e));
	struct action *a;
	int rc = between ? check_const_text(c, n, between) : 0;

	if (rc < 0 || list->vtype.kind == V_NONE)
		return rc;
	if (!vtype_is_number(&list->vtype))
		return check_fail(c, list, "join() needs a pointer to an array of strings");
	rc = check_memory(c, n, list);
	a = rc == 0 ? check_action(c, n, ACT_JOIN, NULL) : NULL;
	if (!a || !t || !e)
		return rc < 0 ? rc : -ENOMEM;
	*t = (struct vtype){.kind = V_BUFFER, .size = join_size(c)};
	*e = (struct velem){NULL, t, 0};
	a->args = e;
	a->nr_args = 1;
	a->size = t->size;
	a->format = arena_strdup(&c->unit->arena, between ? between->text : " ");
	return a->format ? 0 : -ENOMEM;
}

/*
 * The strings one behind the other, each with its terminator. Where the next one goes to is not
 * more than JOIN_BYTES, and behind that there is room for one.
 */
static void lower_join(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t head = sizeof(struct action_record), most = l->unit->config.max_strlen;
	const enum vspace space =
		n->list->vtype.kind == V_POINTER ? n->list->vtype.space : check_space(l->c);
	const struct mem record = mem_take_scratch(l, head + join_size(l->c)),
			 word = mem_take(l, 8);
	const struct mem count = {record.base, record.offset + head};
	const ir_label again = ir_new_label(l->f), end = ir_new_label(l->f);
	const ir_reg at = ir_new(l->f), i = ir_new(l->f), list = lower_number(l, n->list);
	ir_reg string, length;

	ir_set_const(l->f, at, 0);
	ir_set_const(l->f, i, 0);
	ir_place(l->f, again);
	mem_read(l, word, 8, space,
		 ir_binary(l->f, IR_ADD, list, ir_binary_const(l->f, IR_SHL, i, 3)));
	string = mem_load(l, word, 8, false);
	ir_branch_const(l->f, IR_EQ, string, 0, end);
	length =
		IR_CALL(l->f, mem_reader(l, space, true),
			ir_binary(l->f, IR_ADD,
				  ir_binary_const(l->f, IR_ADD, record.base, count.offset + 4), at),
			ir_const(l->f, most), string);
	ir_branch_const(l->f, IR_SLE, length, 0, end);
	ir_branch_const(l->f, IR_SGT, length, most, end);
	ir_set(l->f, at, ir_binary(l->f, IR_ADD, at, length));
	ir_set(l->f, i, ir_binary_const(l->f, IR_ADD, i, 1));
	ir_branch_const(l->f, IR_UGT, at, JOIN_BYTES, end);
	ir_branch_const(l->f, IR_ULT, i, JOIN_STRINGS, again);
	ir_place(l->f, end);
	mem_store(l, count, 4, i);
	length = ir_binary_const(l->f, IR_ADD, at, head + 4);
	lower_head(l, record, n->action);
	lower_send(l, n->action, record, head + join_size(l->c), length);
}

const struct builtin builtins_bytes[] = {
	{"buf", 1, 2, 0, check_buf, lower_buf, 0},
	{"join", 1, 2, BUILTIN_STATEMENT, check_join, lower_join, 0},
	BUILTIN_END,
};
