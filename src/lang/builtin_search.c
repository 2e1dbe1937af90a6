// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that look for a string in another one: strstr(), strcontains(). */
#include "lang/lower.h"

/*
 * The way of Knuth, Morris and Pratt: the number of steps is at most twice the length of the
 * haystack. All offsets are in the scratch area:
 *	at	u32 i, place in the haystack; u32 j, bytes of the needle that match before it;
 *		s64 result
 *	borders	u16 for each length of the beginning of the needle: how much of it is left when the
 *		next byte does not match
 *
 * Where there is no bpf_loop() the verifier walks through all steps, and remembers each branch. So
 * there are as few as can be: texts lie in areas whose sizes are powers of two, which a mask keeps
 * places in, and what depends on a comparison is computed.
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

/* 1 when it is 0, else 0; of numbers below 2^63. */
static ir_reg is_zero(struct lower *l, ir_reg r)
{
	return ir_binary_const(l->f, IR_SHR, ir_binary_const(l->f, IR_SUB, r, 1), 63);
}

/*
 * After a byte of the text was compared with one of the needle: when they are the same, both places
 * go on; else the needle's goes back to its border, and the text's goes on if that was its
 * beginning. `same` is 1 or 0.
 */
static void move_on(struct lower *l, const struct search *s, ir_reg i, ir_reg j, ir_reg same)
{
	const ir_reg on = ir_binary_const(l->f, IR_ADD, j, 1);
	const ir_reg back = ir_load(l->f, border_place(l, s, j), 0, 2, false);
	const ir_reg by = ir_binary(l->f, IR_MUL, same, ir_binary(l->f, IR_SUB, on, back));

	set_place(l, s, 0, ir_binary(l->f, IR_ADD, i, ir_binary(l->f, IR_OR, same, is_zero(l, j))));
	set_place(l, s, 4, ir_binary(l->f, IR_ADD, back, by));
}

/* The needle is searched in itself, one byte behind: what matches is the border. */
static void border_step(struct lower *l, const void *arg, ir_label done)
{
	const struct search *s = arg;
	const ir_reg i = place_of(l, s, 0, s->needle_mask), j = place_of(l, s, 4, s->needle_mask);
	const ir_reg x = byte_at(l, s->needle, i);
	ir_reg same, place;

	ir_branch_const(l->f, IR_EQ, x, 0, done);
	same = is_zero(l, ir_binary(l->f, IR_XOR, x, byte_at(l, s->needle, j)));
	/* What is written too early is written again before it is read. */
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
 * A text with its terminator where steps find it, which may be code of another function; the number
 * of steps that look at all of it.
 */
static uint32_t place_text(struct lower *l, struct node *n, int64_t *offset, uint32_t *mask)
{
	struct value v = {0};
	uint32_t size, power;
	struct mem m;

	lower_text(l, n, &v);
	size = v.type.size;
	power = text_room(size + (v.type.kind == V_ARRAY));
	*mask = power - 1;
	*offset = v.mem.offset;
	if (v.mem.base != lower_scratch(l) || power != size) {
		m = mem_take_scratch(l, power);
		mem_copy(l, m, v.mem, size);
		if (v.type.kind == V_ARRAY)
			mem_store_const(l, (struct mem){m.base, m.offset + size}, 1, 0);
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
	s.borders = mem_take_scratch(l, (s.needle_mask + 2) * 2).offset;
	at = mem_take_scratch(l, 16);
	s.at = at.offset;
	/* Nothing and one byte have no border. An empty needle is not looked into. */
	mem_store_const(l, (struct mem){lower_scratch(l), s.borders}, 4, 0);
	mem_store_const(l, (struct mem){at.base, at.offset + 4}, 4, 0);
	set_place(l, &s, 0,
		  ir_binary_const(l->f, IR_XOR, is_zero(l, byte_at(l, s.needle, ir_const(l->f, 0))),
				  1));
	lower_rounds(l, needle_steps, border_step, &s);
	mem_store_const(l, (struct mem){lower_scratch(l), s.at}, 8, 0);
	mem_store_const(l, (struct mem){lower_scratch(l), s.at + 8}, 8, -1);
	lower_rounds(l, hay_steps, search_step, &s);
	return ir_load(l->f, lower_scratch(l), s.at + 8, 8, false);
}

static int check_find(struct checker *c, struct node *n)
{
	int rc = check_text(c, n, n->list);

	if (n->builtin->what)
		n->vtype = (struct vtype){.kind = V_BOOL, .size = 1};
	else
		n->vtype = vtype_int(8, true);
	return rc < 0 ? rc : check_text(c, n, n->list->next);
}

static void lower_find(struct lower *l, struct node *n, struct value *v)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg at = find_text(l, n);
	ir_reg r;

	if (!n->builtin->what) {
		set_number(v, at);
		return;
	}
	r = ir_new(l->f);
	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_SLT, at, 0, none);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, none);
	set_number(v, r);
}

const struct builtin builtins_search[] = {
	{"strstr", 2, 2, 0, check_find, lower_find, 0},
	{"strcontains", 2, 2, 0, check_find, lower_find, 1},
	BUILTIN_END,
};
