// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builtins about whole strings. A string is one of the language, an array of characters, or a
 * pointer to some, which are read first.
 *
 * Lengths are found by the helper that copies strings: it counts faster than a loop would, and the
 * verifier need not follow it.
 */
#include <errno.h>
#include <string.h>

#include "lang/lower.h"

/* ---- what is like a string ---- */

static bool is_characters(const struct type *t)
{
	return t->size == 1 || t->kind == TYPE_VOID;
}

static bool is_text(const struct vtype *t)
{
	struct type elem;

	if (t->kind == V_ARRAY)
		return type_target(&t->c, &elem) && is_characters(&elem);
	return t->kind == V_STRING || (t->kind == V_POINTER && is_characters(&t->c));
}

/* The name of the probe as a string, where the program has only one: see ast_look(). */
static void spell_name(struct checker *c, struct node *n)
{
	if (n->vtype.kind != V_PROBE || !n->is_const || n->num < 0)
		return;
	n->text = c->unit->strings.at[n->num];
	n->len = strlen(n->text);
	n->vtype = vtype_string((uint32_t)n->len + 1);
}

int check_text(struct checker *c, const struct node *n, struct node *arg)
{
	const struct vtype *t = &arg->vtype;

	if (t->kind == V_NONE)
		return 0;
	spell_name(c, arg);
	if (t->kind == V_PROBE)
		return check_fail(c, arg,
				  "%s() takes the name of a probe only directly: %s(probe, ...)",
				  n->name, n->name);
	if (!is_text(t))
		return check_fail(
			c, arg,
			"%s() needs a string here, or an array of characters, or a pointer to them",
			n->name);
	if (t->kind == V_POINTER && c->opt->offline)
		return check_fail(c, arg, "%s() of an address cannot be had from a recording",
				  n->name);
	c->at->reads_kernel |= t->kind == V_POINTER && t->space == SPACE_KERNEL;
	return 0;
}

void lower_text(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t most = l->unit->config.max_strlen;
	struct mem m;
	ir_reg at;

	if (n->vtype.kind != V_POINTER) {
		lower_expr(l, n, v);
		value_own(l, v);
		return;
	}
	at = lower_number(l, n);
	m = mem_take(l, most);
	v->length = mem_read_text(l, m, most, n->vtype.space, at);
	v->type = vtype_string(most);
	set_memory(v, m);
}

/* Makes the verifier see that a number is not more than that. */
static ir_reg limited(struct lower *l, ir_reg r, uint32_t most)
{
	const ir_label fits = ir_new_label(l->f);
	const ir_reg x = ir_new(l->f);

	ir_set(l->f, x, r);
	ir_branch_const(l->f, IR_ULE, x, most, fits);
	ir_set_const(l->f, x, most);
	ir_place(l->f, fits);
	return x;
}

/* The result of a reader of text without the terminator; what could not be read is empty. */
static ir_reg without_end(struct lower *l, ir_reg length, uint32_t size)
{
	const ir_label some = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set(l->f, r, ir_binary_const(l->f, IR_SUB, length, 1));
	ir_branch_const(l->f, IR_SGE, r, 0, some);
	ir_set_const(l->f, r, 0);
	ir_place(l->f, some);
	return limited(l, r, size - 1);
}

static ir_reg text_length(struct lower *l, const struct value *v)
{
	/* An array need not have a terminator. */
	const uint32_t size = v->type.size + (v->type.kind == V_ARRAY);
	ir_reg length = v->length;

	if (!length)
		length = IR_CALL(l->f, mem_reader(l, SPACE_KERNEL, true),
				 mem_address(l, mem_take(l, size)), ir_const(l->f, size),
				 mem_address(l, v->mem));
	return without_end(l, length, size);
}

uint32_t text_room(uint32_t size)
{
	uint32_t power = 8;

	while (power < size)
		power *= 2;
	return power;
}

/* ---- strlen(), strcap() ---- */

static int check_strlen(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	if (n->list->is_const && n->list->vtype.kind == V_STRING) {
		n->num = (int64_t)strnlen(n->list->text, n->list->len);
		n->is_const = true;
	}
	return check_text(c, n, n->list);
}

static void lower_strlen(struct lower *l, struct node *n, struct value *v)
{
	struct value text = {0};

	lower_text(l, n->list, &text);
	set_number(v, text_length(l, &text));
}

/* The room that is there; of a pointer, how long the string is. */
static int check_strcap(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->list->vtype;

	n->vtype = vtype_int(8, true);
	n->is_const = t->kind == V_STRING || t->kind == V_ARRAY;
	n->num = t->size;
	return check_text(c, n, n->list);
}

static int check_default_length(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	n->num = c->unit->config.max_strlen;
	n->is_const = true;
	return 0;
}

static int check_assert_str(struct checker *c, struct node *n)
{
	return check_text(c, n, n->list);
}

/* ---- str_concat() ---- */

static uint32_t text_size(const struct checker *c, const struct vtype *t)
{
	return t->kind == V_POINTER ? c->unit->config.max_strlen : t->size;
}

/*
 * Its size is a power of two: a variable to which something is appended again and again reaches the
 * limit within few rounds of checking.
 */
static int check_concat(struct checker *c, struct node *n)
{
	struct node *a = n->list, *b = a->next;
	const uint32_t most = c->unit->config.max_strlen;
	uint32_t size;
	int rc = check_text(c, n, a);

	if (rc == 0)
		rc = check_text(c, n, b);
	if (rc < 0 || a->vtype.kind == V_NONE || b->vtype.kind == V_NONE)
		return rc;
	size = text_room(text_size(c, &a->vtype) + text_size(c, &b->vtype) - 1);
	n->vtype = vtype_string(size < most ? size : most);
	return 0;
}

static void lower_concat(struct lower *l, struct node *n, struct value *v)
{
	const int reader = mem_reader(l, SPACE_KERNEL, true);
	const uint32_t size = n->vtype.size;
	struct value a = {0}, b = {0};
	uint32_t room;
	ir_reg first, second;
	struct mem m;

	lower_text(l, n->list, &a);
	lower_text(l, n->list->next, &b);
	/* Not where it is wanted: that may be where one of its parts is. */
	room = a.type.size + b.type.size > size ? a.type.size + b.type.size : size;
	m = mem_take(l, room);
	mem_zero(l, m, room);
	first = IR_CALL(l->f, reader, mem_address(l, m), ir_const(l->f, a.type.size),
			mem_address(l, a.mem));
	first = without_end(l, first, a.type.size);
	second = IR_CALL(l->f, reader, ir_binary(l->f, IR_ADD, mem_address(l, m), first),
			 ir_const(l->f, b.type.size), mem_address(l, b.mem));
	second = without_end(l, second, b.type.size);
	mem_store_const(l, (struct mem){m.base, m.offset + size - 1}, 1, 0);
	v->length = limited(
		l, ir_binary_const(l->f, IR_ADD, ir_binary(l->f, IR_ADD, first, second), 1), size);
	set_memory(v, m);
}

const struct builtin builtins_string[] = {
	{"strlen", 1, 1, 0, check_strlen, lower_strlen, 0},
	{"strcap", 1, 1, 0, check_strcap, lower_strlen, 0},
	{"default_str_length", 0, 0, 0, check_default_length, NULL, 0},
	{"assert_str", 1, 1, BUILTIN_STATEMENT, check_assert_str, NULL, 0},
	{"str_concat", 2, 2, 0, check_concat, lower_concat, 0},
	BUILTIN_END,
};
