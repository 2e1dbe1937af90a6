// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builtins for strings. A string is one of the language, an array of characters, or a pointer to
 * characters, which are read first.
 *
 * The helper that copies strings also finds their length: it is faster than a loop, and the
 * verifier does not have to follow it.
 */
#include <errno.h>
#include <string.h>

#include "lang/lower/lower.h"

/* ---- values that are like a string ---- */

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

/* The name of the probe as a string: the program has only one, see note_strings(). */
static void spell_name(struct checker *c, struct node *n)
{
	if (n->vtype.kind != V_PROBE || !n->is_const || n->num < 0)
		return;
	n->text = c->unit->strings.at[n->num];
	n->len = strlen(n->text);
	n->vtype = vtype_string((uint32_t)n->len + 1);
}

bool check_text(struct checker *c, const struct node *n, struct node *arg)
{
	const struct vtype *t = &arg->vtype;

	if (t->kind == V_NONE)
		return true;
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
	return true;
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
	m = mem_alloc(l, most);
	v->length = mem_read_text(l, m, most, n->vtype.space, at);
	v->type = vtype_string(most);
	set_memory(v, m);
}

/* The length of a text without the terminator; 0 if it could not be read. */
static ir_reg without_end(struct lower *l, ir_reg length, uint32_t size)
{
	const ir_label some = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set(l->f, r, ir_binary_const(l->f, IR_SUB, length, 1));
	ir_branch_const(l->f, IR_SGE, r, 0, some);
	ir_set_const(l->f, r, 0);
	ir_place(l->f, some);
	return lower_limited(l, r, size - 1);
}

static ir_reg text_length(struct lower *l, const struct value *v)
{
	/* An array may have no terminator. */
	const uint32_t size = v->type.size + (v->type.kind == V_ARRAY);
	ir_reg length = v->length;

	if (!length)
		length = IR_CALL(l->f, mem_reader(l, SPACE_KERNEL, true),
				 mem_address(l, mem_alloc(l, size)), ir_const(l->f, size),
				 mem_address(l, v->mem));
	return without_end(l, length, size);
}

uint32_t text_capacity(uint32_t size)
{
	uint32_t power = 8;

	while (power < size)
		power *= 2;
	return power;
}

/* ---- strlen(), strcap() ---- */

static bool check_strlen(struct checker *c, struct node *n)
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

/* The capacity; for a pointer, the length of the string. */
static bool check_strcap(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->list->vtype;

	n->vtype = vtype_int(8, true);
	n->is_const = t->kind == V_STRING || t->kind == V_ARRAY;
	n->num = t->size;
	return check_text(c, n, n->list);
}

static bool check_first_text(struct checker *c, struct node *n)
{
	return check_text(c, n, n->list);
}

static bool check_default_length(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, false);
	n->num = c->unit->config.max_strlen;
	n->is_const = true;
	return true;
}

/* ---- str_concat() ---- */

static uint32_t text_size(const struct checker *c, const struct vtype *t)
{
	return t->kind == V_POINTER ? c->unit->config.max_strlen : t->size;
}

/*
 * The size is a power of two: a variable that grows again and again reaches the limit in few rounds
 * of checking.
 */
static bool check_concat(struct checker *c, struct node *n)
{
	struct node *a = n->list, *b = a->next;
	const uint32_t most = c->unit->config.max_strlen;
	uint32_t size;

	if (!check_text(c, n, a) || !check_text(c, n, b))
		return false;
	if (a->vtype.kind == V_NONE || b->vtype.kind == V_NONE)
		return true;
	size = text_capacity(text_size(c, &a->vtype) + text_size(c, &b->vtype) - 1);
	n->vtype = vtype_string(size < most ? size : most);
	return true;
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
	/* Not in the place that the caller wants: one of the parts may be there. */
	room = a.type.size + b.type.size > size ? a.type.size + b.type.size : size;
	m = mem_alloc(l, room);
	mem_zero(l, m, room);
	first = IR_CALL(l->f, reader, mem_address(l, m), ir_const(l->f, a.type.size),
			mem_address(l, a.mem));
	first = without_end(l, first, a.type.size);
	second = IR_CALL(l->f, reader, ir_binary(l->f, IR_ADD, mem_address(l, m), first),
			 ir_const(l->f, b.type.size), mem_address(l, b.mem));
	second = without_end(l, second, b.type.size);
	mem_store_const(l, mem_at(m, size - 1), 1, 0);
	v->length = lower_limited(
		l, ir_binary_const(l->f, IR_ADD, ir_binary(l->f, IR_ADD, first, second), 1), size);
	set_memory(v, m);
}

/* ---- strstr(), strcontains() ---- */

/*
 * The algorithm of Knuth, Morris and Pratt: the number of steps is at most twice the length of the
 * haystack. All offsets are in the scratch area:
 *	at	u32 i, place in the haystack; u32 j, bytes of the needle that match before it;
 *		s64 result
 *	borders	u16 for each length of the beginning of the needle: how much of it is left when the
 *		next byte does not match
 *
 * Without bpf_loop() the verifier walks through all steps and remembers each branch. So there are
 * as few branches as possible: the sizes of texts are powers of two, a mask keeps offsets in them,
 * and the results of comparisons are used as numbers.
 */
struct search {
	int64_t hay, needle, at, borders;
	uint32_t hay_mask, needle_mask;
};

static ir_reg in_scratch(struct lower *l, int64_t offset, ir_reg at)
{
	return ir_binary(l->f, IR_ADD, ir_binary_const(l->f, IR_ADD, lower_scratch(l), offset), at);
}

static ir_reg byte_at(struct lower *l, int64_t text, ir_reg at)
{
	return ir_load(l->f, in_scratch(l, text, at), 0, 1, false);
}

static ir_reg border_place(struct lower *l, const struct search *s, ir_reg length)
{
	return in_scratch(l, s->borders, ir_binary_const(l->f, IR_SHL, length, 1));
}

static ir_reg place_of(struct lower *l, const struct search *s, int64_t which, uint32_t mask)
{
	return ir_binary_const(l->f, IR_AND,
			       ir_load(l->f, lower_scratch(l), s->at + which, 4, false), mask);
}

static void set_place(struct lower *l, const struct search *s, int64_t which, ir_reg v)
{
	ir_store(l->f, lower_scratch(l), s->at + which, 4, v);
}

/* 1 if it is 0, else 0; for numbers below 2^63. */
static ir_reg is_zero(struct lower *l, ir_reg r)
{
	return ir_binary_const(l->f, IR_SHR, ir_binary_const(l->f, IR_SUB, r, 1), 63);
}

/*
 * After a byte of the text was compared with one of the needle: if they are the same, both
 * positions advance. Otherwise the needle's goes back to its border, and if it was 0 already the
 * text's advances. `same` is 1 or 0.
 */
static void move_on(struct lower *l, const struct search *s, ir_reg i, ir_reg j, ir_reg same)
{
	const ir_reg on = ir_binary_const(l->f, IR_ADD, j, 1);
	const ir_reg back = ir_load(l->f, border_place(l, s, j), 0, 2, false);
	const ir_reg by = ir_binary(l->f, IR_MUL, same, ir_binary(l->f, IR_SUB, on, back));

	set_place(l, s, 0, ir_binary(l->f, IR_ADD, i, ir_binary(l->f, IR_OR, same, is_zero(l, j))));
	set_place(l, s, 4, ir_binary(l->f, IR_ADD, back, by));
}

/* Searches the needle in itself, from its second byte on: the match is the border. */
static void border_step(struct lower *l, const void *arg, ir_label done)
{
	const struct search *s = arg;
	const ir_reg i = place_of(l, s, 0, s->needle_mask), j = place_of(l, s, 4, s->needle_mask);
	const ir_reg x = byte_at(l, s->needle, i);
	ir_reg same, place;

	ir_branch_const(l->f, IR_EQ, x, 0, done);
	same = is_zero(l, ir_binary(l->f, IR_XOR, x, byte_at(l, s->needle, j)));
	/* A value that is written too early is overwritten before it is read. */
	place = border_place(l, s, ir_binary_const(l->f, IR_ADD, i, 1));
	ir_store(l->f, place, 0, 2,
		 ir_binary(l->f, IR_MUL, same, ir_binary_const(l->f, IR_ADD, j, 1)));
	move_on(l, s, i, j, same);
}

static void search_step(struct lower *l, const void *arg, ir_label done)
{
	const struct search *s = arg;
	const ir_label more = ir_new_label(l->f);
	const ir_reg i = place_of(l, s, 0, s->hay_mask), j = place_of(l, s, 4, s->needle_mask);
	const ir_reg y = byte_at(l, s->needle, j);
	ir_reg x;

	ir_branch_const(l->f, IR_NE, y, 0, more);
	ir_store(l->f, lower_scratch(l), s->at + 8, 8, ir_binary(l->f, IR_SUB, i, j));
	ir_jump(l->f, done);
	ir_place(l->f, more);
	x = byte_at(l, s->hay, i);
	ir_branch_const(l->f, IR_EQ, x, 0, done);
	move_on(l, s, i, j, is_zero(l, ir_binary(l->f, IR_XOR, x, y)));
}

/*
 * Copies a text with its terminator to the scratch area, where the steps find it: they may be in
 * another function. Returns the number of steps for all of it.
 */
static uint32_t place_text(struct lower *l, struct node *n, int64_t *offset, uint32_t *mask)
{
	struct value v = {0};
	uint32_t size, power;
	struct mem m;

	lower_text(l, n, &v);
	size = v.type.size;
	power = text_capacity(size + (v.type.kind == V_ARRAY));
	*mask = power - 1;
	*offset = v.mem.offset;
	if (v.mem.base != lower_scratch(l) || power != size) {
		m = mem_alloc_scratch(l, power);
		mem_copy(l, m, v.mem, size);
		if (v.type.kind == V_ARRAY)
			mem_store_const(l, mem_at(m, size), 1, 0);
		*offset = m.offset;
	}
	return 2 * size + 2;
}

static ir_reg find_text(struct lower *l, struct node *n)
{
	uint32_t hay_steps, needle_steps;
	struct search s;
	struct mem at;

	hay_steps = place_text(l, n->list, &s.hay, &s.hay_mask);
	needle_steps = place_text(l, n->list->next, &s.needle, &s.needle_mask);
	s.borders = mem_alloc_scratch(l, (s.needle_mask + 2) * 2).offset;
	at = mem_alloc_scratch(l, 16);
	s.at = at.offset;
	/* Prefixes of 0 and 1 bytes have no border. An empty needle is never compared. */
	mem_store_const(l, (struct mem){lower_scratch(l), s.borders}, 4, 0);
	mem_store_const(l, mem_at(at, 4), 4, 0);
	set_place(l, &s, 0,
		  ir_binary_const(l->f, IR_XOR, is_zero(l, byte_at(l, s.needle, ir_const(l->f, 0))),
				  1));
	lower_rounds(l, needle_steps, border_step, &s);
	mem_store_const(l, (struct mem){lower_scratch(l), s.at}, 8, 0);
	mem_store_const(l, (struct mem){lower_scratch(l), s.at + 8}, 8, -1);
	lower_rounds(l, hay_steps, search_step, &s);
	return ir_load(l->f, lower_scratch(l), s.at + 8, 8, false);
}

static bool check_find(struct checker *c, struct node *n)
{
	n->vtype = n->builtin->what ? vtype_fixed(V_BOOL) : vtype_int(8, true);
	return check_text(c, n, n->list) && check_text(c, n, n->list->next);
}

static void lower_find(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg at = find_text(l, n);

	set_number(v, n->builtin->what ? lower_not(l, IR_SLT, at, 0) : at);
}

/* ---- strncmp(), memcmp() ---- */

static bool check_length(struct checker *c, struct node *n, struct node *len)
{
	if (!check_number(c, n, len))
		return false;
	return !len->is_const || len->num >= 0 ||
	       check_fail(c, len, "%s() needs a length that is not negative", n->name);
}

static bool check_strncmp(struct checker *c, struct node *n)
{
	n->vtype = vtype_int(8, true);
	return check_text(c, n, n->list) && check_text(c, n, n->list->next) &&
	       check_length(c, n, node_nth(n, 2));
}

/* The number of bytes to compare, as far as it is known. */
static uint32_t compared(const struct node *len, uint32_t a, uint32_t b)
{
	const uint32_t size = a < b ? a : b;

	return len->is_const && (uint64_t)len->num < size ? (uint32_t)len->num : size;
}

/*
 * Compares bytes: 0, or the difference of the first ones that differ. Text ends at its terminator.
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
	/* Only 0 or not 0 counts. */
	ir_set(l->f, r, compare(l, &a, &b, node_nth(n, 2), true));
	ir_branch_const(l->f, IR_EQ, r, 0, same);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, same);
	set_number(v, r);
}

static bool check_memcmp(struct checker *c, struct node *n)
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

/* The bytes of a value, or of the target of a pointer. */
static void lower_bytes(struct lower *l, struct node *n, const struct node *len, struct value *v)
{
	const uint32_t most = compared(len, l->unit->config.max_strlen, UINT32_MAX);
	struct mem m;

	lower_expr(l, n, v);
	if (n->vtype.kind == V_POINTER) {
		m = mem_alloc(l, most);
		mem_read(l, m, most, n->vtype.space, v->reg);
		v->type = vtype_string(most);
		set_memory(v, m);
	} else if (vtype_is_number(&n->vtype)) {
		m = mem_alloc(l, 8);
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

/* ---- the table ---- */

const struct builtin builtins_string[] = {
	{"strlen", 1, 1, 0, check_strlen, lower_strlen, 0},
	{"strcap", 1, 1, 0, check_strcap, lower_strlen, 0},
	{"default_str_length", 0, 0, 0, check_default_length, NULL, 0},
	{"assert_str", 1, 1, BUILTIN_STATEMENT, check_first_text, NULL, 0},
	{"str_concat", 2, 2, 0, check_concat, lower_concat, 0},
	{"strstr", 2, 2, 0, check_find, lower_find, 0},
	{"strcontains", 2, 2, 0, check_find, lower_find, 1},
	{"strncmp", 3, 3, 0, check_strncmp, lower_strncmp, 0},
	{"memcmp", 3, 3, 0, check_memcmp, lower_memcmp, 0},
	BUILTIN_END,
};
