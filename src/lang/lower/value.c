// SPDX-License-Identifier: GPL-2.0-or-later
/* Values in memory: members of structs and arrays, storing, comparing. */
#include <string.h>

#include "lang/lower/lower.h"

#define CTX_HIDDEN 8 /* bytes */

uint32_t largest_word(uint32_t size)
{
	return size >= 8 ? 8 : size >= 4 ? 4 : size >= 2 ? 2 : 1;
}

/* A number of the context; a recording may have another byte order. */
static ir_reg context_number(struct lower *l, struct mem m, uint32_t size, bool is_signed)
{
	ir_reg r;

	if (!l->c->opt->swapped || size == 1)
		return mem_load(l, m, size, is_signed);
	r = ir_unary(l->f, IR_SWAP, mem_load(l, m, size, false), size);
	return is_signed && size < 8 ? ir_unary(l->f, IR_SEXT, r, size) : r;
}

/* A field of the context whose place and length are in the record. */
static void own_dynamic(struct lower *l, struct value *v, struct mem to)
{
	ir_reg place;

	if (v->type.mode == TEXT_TO_THE_END) {
		v->length =
			mem_read_text(l, to, v->type.size, SPACE_KERNEL, mem_address(l, v->mem));
		return;
	}
	place = context_number(l, v->mem, 4, false);
	place = ir_binary_const(l->f, IR_AND, place, 0xffff);
	/* __rel_loc is relative to the end of its own word. */
	if (v->type.mode == TEXT_RELATIVE)
		place = ir_binary_const(l->f, IR_ADD, place, v->mem.offset + 4);
	v->length = mem_read_text(l, to, v->type.size, SPACE_KERNEL,
				  ir_binary(l->f, IR_ADD, v->mem.base, place));
}

/* In place of a tracepoint's common fields the kernel has a hidden pointer. */
static void own_context(struct lower *l, struct mem to, struct mem from, uint32_t size)
{
	const uint32_t hidden = l->c->opt->offline || from.offset >= CTX_HIDDEN
					? 0
					: CTX_HIDDEN - (uint32_t)from.offset;

	if (hidden >= size) {
		mem_zero(l, to, size);
		return;
	}
	mem_zero(l, to, hidden);
	mem_copy(l, mem_at(to, hidden), mem_at(from, hidden), size - hidden);
}

void value_own(struct lower *l, struct value *v)
{
	struct mem m;

	if (v->reg || v->type.space == SPACE_OWN || !v->mem.base)
		return;
	if (v->type.kind == V_STRING && v->type.c.kind == TYPE_ARRAY && v->type.space != SPACE_CTX)
		v->type.size++;
	m = mem_result(l, v, v->type.size);
	if (v->type.space == SPACE_CTX && v->type.kind == V_STRING && v->type.mode)
		own_dynamic(l, v, m);
	else if (v->type.space == SPACE_CTX && v->type.kind == V_STRING)
		mem_copy_text(l, m, v->mem, v->type.size);
	else if (v->type.space == SPACE_CTX)
		own_context(l, m, v->mem, v->type.size);
	else if (v->type.kind == V_STRING)
		v->length =
			mem_read_text(l, m, v->type.size, v->type.space, mem_address(l, v->mem));
	else
		mem_read(l, m, v->type.size, v->type.space, mem_address(l, v->mem));
	v->mem = m;
	v->type.space = SPACE_OWN;
	v->type.mode = v->type.kind == V_STRING ? 0 : v->type.mode;
}

/* Reads a number from a place; other values stay there for now. */
void place_value(struct lower *l, struct value *v, struct mem m)
{
	struct mem copy;

	if (!vtype_is_number(&v->type)) {
		set_memory(v, m);
		return;
	}
	if (v->type.space == SPACE_KERNEL || v->type.space == SPACE_USER) {
		copy = mem_alloc(l, 8);
		mem_read(l, copy, v->type.size, v->type.space, mem_address(l, m));
		m = copy;
	}
	if (v->type.space == SPACE_CTX)
		set_number(v, context_number(l, m, v->type.size,
					     v->type.kind == V_INT && v->type.is_signed));
	else
		set_number(v, mem_load_as(l, m, &v->type));
}

static void bit_field(struct lower *l, struct value *v, const struct member *m)
{
	const unsigned int left = 64 - m->bit - m->bits;
	const ir_reg r = ir_binary_const(l->f, IR_SHL, v->reg, left);

	v->reg = ir_binary_const(l->f, IR_SHR, r, 64 - m->bits);
}

/* ---- members ---- */

/* The place of a struct: the target of a pointer, or where the struct is. */
static struct mem struct_place(struct lower *l, struct node *n, enum vspace *space)
{
	struct value v = {0};

	lower_expr(l, n, &v);
	*space = n->vtype.kind == V_POINTER ? n->vtype.space : v.type.space;
	return n->vtype.kind == V_POINTER ? (struct mem){v.reg, 0} : v.mem;
}

static bool find_member(const struct node *n, struct member *m)
{
	return type_member(&n->a->vtype.c, n->name, strlen(n->name), m);
}

void member_place(struct lower *l, struct node *n, struct value *v)
{
	struct member m = {0};
	enum vspace space;

	v->type = n->vtype;
	if ((n->kind != N_FIELD && n->kind != N_ARROW) || !find_member(n, &m)) {
		lower_expr(l, n, v);
		return;
	}
	v->mem = struct_place(l, n->a, &space);
	v->mem.offset += (int64_t)m.offset;
	v->type.space = space;
}

static void tuple_element(struct lower *l, struct node *n, struct value *v)
{
	struct value a = {0};
	const struct velem *e = &n->a->vtype.elems[n->num];

	lower_expr(l, n->a, &a);
	/* A stored tuple may have larger strings, and so other offsets. */
	if (a.type.nr_elems > (uint32_t)n->num)
		e = &a.type.elems[n->num];
	v->type = *e->type;
	v->type.space = v->type.kind == V_POINTER ? v->type.space : SPACE_OWN;
	value_at(l, v, mem_at(a.mem, e->offset));
}

void lower_member(struct lower *l, struct node *n, struct value *v)
{
	struct member m = {0};
	enum vspace space;
	struct mem at;

	/* Only the parameter that is used is read, not all of them. */
	if (n->name && n->a->kind == N_NAME && strcmp(n->a->name, "args") == 0 &&
	    lower_argument(l, n, v))
		return;
	if (n->a->vtype.kind == V_TUPLE || n->a->vtype.kind == V_RECORD) {
		tuple_element(l, n, v);
		return;
	}
	if (!find_member(n, &m))
		return;
	at = struct_place(l, n->a, &space);
	at.offset += (int64_t)m.offset;
	v->type = n->vtype;
	if (!vtype_is_number(&v->type)) {
		v->type.space = space;
		set_memory(v, at);
		return;
	}
	/* The space of the struct decides how it is read, the field where a pointer points. */
	v->type.space = space;
	/* Recordings of 32-bit machines have shorter pointers. */
	if (m.bits || (m.type.kind == TYPE_POINTER && m.type.size && m.type.size < v->type.size))
		v->type.size = (uint32_t)m.type.size;
	place_value(l, v, at);
	if (m.bits)
		bit_field(l, v, &m);
	v->type = n->vtype;
}

/*
 * The element of an array at an index that is known at run time; zeros beyond the end. An array of
 * 0 elements in other memory has no end.
 */
static void lower_element(struct lower *l, struct node *n, const struct value *a, uint64_t count,
			  struct value *v)
{
	const ir_reg index = lower_number(l, n->b);
	const uint32_t size = v->type.size ? v->type.size : 1;
	const bool number = vtype_is_number(&v->type), own = a->type.space == SPACE_OWN;
	const ir_label beyond = ir_new_label(l->f), end = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	struct mem at = {0, 0}, copy = {0, 0};

	ir_set_const(l->f, r, 0);
	if (!number && own) {
		copy = mem_alloc(l, size);
		mem_zero(l, copy, size);
	}
	if (count || own)
		ir_branch_const(l->f, IR_UGE, index, (int64_t)count, beyond);
	at.base = ir_binary(l->f, IR_ADD, mem_address(l, a->mem),
			    ir_binary_const(l->f, IR_MUL, index, size));
	if (number) {
		place_value(l, v, at);
		ir_set(l->f, r, v->reg);
	} else if (own) {
		mem_copy(l, copy, at, size);
	} else {
		ir_set(l->f, r, at.base);
	}
	ir_jump(l->f, end);
	ir_place(l->f, beyond);
	if (n->action)
		lower_action(l, n->action, NULL);
	ir_place(l->f, end);
	if (number)
		v->reg = r;
	else
		/* In other memory reading at 0 fails and gives zeros. */
		set_memory(v, own ? copy : (struct mem){r, 0});
}

void lower_index(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t size = n->vtype.size ? n->vtype.size : 1;
	const uint64_t count =
		n->a->vtype.kind == V_STRING ? n->a->vtype.size : n->a->vtype.c.count;
	struct value a = {0};
	ir_reg i;

	lower_expr(l, n->a, &a);
	v->type = n->vtype;
	if (n->a->vtype.kind == V_POINTER) {
		i = ir_binary_const(l->f, IR_MUL, lower_number(l, n->b), size);
		v->type.space = n->a->vtype.space;
		place_value(l, v, (struct mem){ir_binary(l->f, IR_ADD, a.reg, i), 0});
		v->type = n->vtype;
		return;
	}
	v->type.space = a.type.space;
	if (n->b->is_const && (count || a.type.space != SPACE_OWN)) {
		a.mem.offset += n->b->num * size;
		place_value(l, v, a.mem);
		return;
	}
	if (a.type.space == SPACE_CTX)
		value_own(l, &a);
	v->type.space = a.type.space;
	lower_element(l, n, &a, count, v);
}

/* ---- storing ---- */

static void store_elems(struct lower *l, const struct value *v, const struct vtype *as,
			struct mem to)
{
	for (uint32_t i = 0; i < as->nr_elems && i < v->type.nr_elems; i++) {
		const struct velem *from = vtype_elem_like(&v->type, as, i);
		struct value e = {0};

		if (!from)
			continue;
		e.type = *from->type;
		e.type.space = vtype_is_number(&e.type) ? e.type.space : SPACE_OWN;
		e.mem = mem_at(v->mem, from->offset);
		if (vtype_is_number(&e.type))
			set_number(&e, mem_load(l, e.mem, e.type.size, e.type.is_signed));
		value_store(l, &e, as->elems[i].type, mem_at(to, as->elems[i].offset));
	}
}

void value_store(struct lower *l, const struct value *from, const struct vtype *as, struct mem to)
{
	struct value v = *from;
	uint32_t size;

	if (vtype_is_number(as)) {
		mem_store(l, to, as->size, v.reg ? v.reg : ir_const(l->f, 0));
		return;
	}
	v.want = to;
	v.capacity = as->size;
	value_own(l, &v);
	if ((as->kind == V_TUPLE || as->kind == V_RECORD) &&
	    (as->size != v.type.size || !vtype_same(as, &v.type))) {
		mem_zero(l, to, as->size);
		store_elems(l, &v, as, to);
		return;
	}
	size = v.type.size < as->size ? v.type.size : as->size;
	mem_copy(l, to, v.mem, size);
	/* A string that was cut is terminated. */
	if (size < as->size)
		mem_zero(l, mem_at(to, size), as->size - size);
	else if (as->kind == V_STRING && v.type.size > as->size)
		mem_store_const(l, mem_at(to, as->size - 1), 1, 0);
}

void lower_into(struct lower *l, struct node *n, const struct vtype *as, struct mem to,
		struct value *v)
{
	/* A tuple with another layout cannot be built in its final place. */
	if ((as->kind != V_TUPLE && as->kind != V_RECORD) || vtype_same(as, &n->vtype)) {
		v->want = to;
		v->capacity = as->size;
	}
	lower_expr(l, n, v);
	value_store(l, v, as, to);
	if (v->reg == 0)
		set_memory(v, to);
}

/* ---- comparing ---- */

static void equal_words(struct lower *l, struct mem a, struct mem b, uint32_t size, ir_label differ)
{
	for (uint32_t i = 0, step; i < size; i += step) {
		step = largest_word(size - i);
		while (step > 1 && ((a.offset + i) % step || (b.offset + i) % step))
			step /= 2;
		ir_branch(l->f, IR_NE, ir_load(l->f, a.base, a.offset + i, step, false),
			  ir_load(l->f, b.base, b.offset + i, step, false), differ);
	}
}

/* Bytes of a round: the verifier counts the branches of all rounds, and accepts a few thousand. */
static uint32_t round_of(uint32_t size)
{
	uint32_t bytes = 8;

	while (size / bytes > 2048)
		bytes *= 2;
	return bytes;
}

/* Not 0 if the bytes differ anywhere; *last is the last word of a. */
static ir_reg difference(struct lower *l, ir_reg a, ir_reg b, uint32_t bytes, ir_reg *last)
{
	ir_reg any = 0;

	for (uint32_t i = 0; i < bytes; i += 8) {
		const ir_reg x = ir_load(l->f, a, i, 8, false);
		const ir_reg one = ir_binary(l->f, IR_XOR, x, ir_load(l->f, b, i, 8, false));

		any = any ? ir_binary(l->f, IR_OR, any, one) : one;
		*last = x;
	}
	return any;
}

/* Strings are padded with NULs: the words are compared up to the first one that ends with a NUL. */
static void equal_text(struct lower *l, struct value *a, struct value *b, ir_label differ)
{
	const uint32_t size = a->type.size < b->type.size ? a->type.size : b->type.size;
	const uint64_t last_byte = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0xffull << 56 : 0xff;
	const ir_label again = ir_new_label(l->f), end = ir_new_label(l->f);
	const ir_reg at = ir_new(l->f);
	const uint32_t step = round_of(size), rounds = size / step * step;
	ir_reg x = 0, y;

	if (size <= 64 || a->mem.offset % 8 || b->mem.offset % 8) {
		equal_words(l, a->mem, b->mem, size, differ);
		return;
	}
	ir_set_const(l->f, at, 0);
	ir_place(l->f, again);
	y = difference(l, ir_binary(l->f, IR_ADD, mem_address(l, a->mem), at),
		       ir_binary(l->f, IR_ADD, mem_address(l, b->mem), at), step, &x);
	ir_branch_const(l->f, IR_NE, y, 0, differ);
	x = ir_binary(l->f, IR_AND, x, ir_const(l->f, (int64_t)last_byte));
	ir_branch_const(l->f, IR_EQ, x, 0, end);
	ir_set(l->f, at, ir_binary_const(l->f, IR_ADD, at, step));
	ir_branch_const(l->f, IR_ULT, at, rounds, again);
	equal_words(l, mem_at(a->mem, rounds), mem_at(b->mem, rounds), size - rounds, differ);
	ir_place(l->f, end);
}

/* Tuples with different strings or numbers are compared as a type that can hold both. */
static void lay_out_alike(struct lower *l, struct value *a, struct value *b)
{
	struct vtype as = a->type;
	struct value *const both[] = {a, b};

	if ((as.kind != V_TUPLE && as.kind != V_RECORD) || vtype_same(&as, &b->type) ||
	    vtype_widen(l->c, &as, &b->type) < 0)
		return;
	for (int i = 0; i < 2; i++) {
		const struct mem m = mem_alloc(l, as.size);

		value_store(l, both[i], &as, m);
		both[i]->type = as;
		both[i]->type.space = SPACE_OWN;
		set_memory(both[i], m);
	}
}

ir_reg lower_equal(struct lower *l, struct value *a, struct value *b)
{
	const ir_label differ = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	value_own(l, a);
	value_own(l, b);
	lay_out_alike(l, a, b);
	ir_set_const(l->f, r, 0);
	if (a->type.kind == V_STRING)
		equal_text(l, a, b, differ);
	else
		equal_words(l, a->mem, b->mem,
			    a->type.size < b->type.size ? a->type.size : b->type.size, differ);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, differ);
	return r;
}
