// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Builtins that read strings and bytes from memory, and those for network addresses and byte order.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "lang/lower/lower.h"

/* ---- str(pointer[, length]) ---- */

/* For a constant length, *size becomes that length and a terminator, up to the limit. */
static bool check_length(struct checker *c, struct node *n, const struct node *len, uint32_t *size)
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
	return true;
}

/* An address whose target is read. */
static bool check_memory(struct checker *c, const struct node *n, const struct node *from)
{
	if (c->opt->offline)
		return check_fail(
			c, n,
			"%s() of an address cannot be had from a recording: the memory it "
			"points at was not recorded",
			n->name);
	c->at->reads_kernel |= check_space_of(c, &from->vtype) == SPACE_KERNEL;
	return true;
}

static bool check_str(struct checker *c, struct node *n)
{
	struct node *from = n->list, *len = from->next;
	uint32_t size = c->unit->config.max_strlen;

	if (from->vtype.kind == V_NONE)
		return true;
	/* A parameter of the command line is a string, even if it looks like a number. */
	if (from->kind == N_PARAM) {
		n->text = from->text;
		n->len = from->len;
		n->vtype = vtype_string((uint32_t)n->len + 1);
		n->is_const = true;
		return true;
	}
	if (len && (!check_number(c, n, len) || (len->is_const && !check_length(c, n, len, &size))))
		return false;
	if (from->vtype.kind != V_STRING && from->vtype.kind != V_ARRAY &&
	    !vtype_is_number(&from->vtype))
		return check_fail(c, from, "str() needs a pointer or an array of characters");
	if ((from->vtype.kind == V_STRING || from->vtype.kind == V_ARRAY) &&
	    !(len && len->is_const))
		size = from->vtype.size < size ? from->vtype.size + (from->vtype.kind == V_ARRAY)
					       : size;
	n->vtype = vtype_string(size ? size : 1);
	return !vtype_is_number(&from->vtype) || check_memory(c, n, from);
}

/* Reads from an unknown address: from the kernel, or else from the process. */
static ir_reg read_somewhere(struct lower *l, struct mem to, uint32_t size, ir_reg most, ir_reg at)
{
	const ir_label good = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set(l->f, r, mem_read_some_text(l, to, size, most, SPACE_KERNEL, at));
	if (compile_has(l->features, FEATURE_PROBE_READ)) {
		ir_branch_const(l->f, IR_NE, r, 0, good);
		ir_set(l->f, r, mem_read_some_text(l, to, size, most, SPACE_USER, at));
		ir_place(l->f, good);
	}
	return r;
}

/* The number of bytes to read for a length at run time, limited to the size. */
static ir_reg most_bytes(struct lower *l, uint32_t size, struct node *len)
{
	if (!len || len->is_const)
		return ir_const(l->f, size);
	return ir_binary_const(l->f, IR_ADD, lower_limited(l, lower_number(l, len), size - 1), 1);
}

/* Cuts a string at a length that is known at run time. */
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
		/* The array may have more bytes than the length. */
		if (len && len->is_const)
			mem_store_const(l, mem_at(m, size - 1), 1, 0);
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

/* ---- buf(pointer or array[, length]) ---- */

static bool is_bytes(const struct vtype *t)
{
	return t->kind == V_ARRAY || t->kind == V_STRING || t->kind == V_STRUCT;
}

/* The largest number of bytes of the buffer. */
static bool buffer_size(struct checker *c, struct node *n, uint32_t *size)
{
	struct node *from = n->list, *len = from->next;
	uint32_t most = c->unit->config.max_strlen;

	if (is_bytes(&from->vtype) && from->vtype.size < most)
		most = from->vtype.size;
	*size = most;
	if (!len || !len->is_const)
		return true;
	if (len->num < 1)
		return check_fail(c, len, "buf() needs a length that is not zero or negative");
	if ((uint64_t)len->num > most && c->last)
		source_warning(c->source, len->at, "buf(): only %u bytes are read of it%s", most,
			       is_bytes(&from->vtype) ? "" : " (config max_strlen)");
	*size = (uint64_t)len->num < most ? (uint32_t)len->num : most;
	return true;
}

static bool check_buf(struct checker *c, struct node *n)
{
	struct node *from = n->list, *len = from->next;
	uint32_t size = 0;

	if (len && !check_number(c, n, len))
		return false;
	if (from->vtype.kind == V_NONE)
		return true;
	if (!is_bytes(&from->vtype) && !vtype_is_number(&from->vtype))
		return check_fail(c, from, "buf() needs a pointer or an array");
	if (!is_bytes(&from->vtype) && !len)
		return check_fail(c, n, "buf() of a pointer needs a length");
	if ((!is_bytes(&from->vtype) && !check_memory(c, n, from)) || !buffer_size(c, n, &size))
		return false;
	n->vtype = (struct vtype){.kind = V_BUFFER, .size = size + 4};
	return true;
}

/* The requested length, limited to the size. */
static ir_reg buffer_length(struct lower *l, struct node *len, uint32_t most)
{
	return !len || len->is_const ? 0 : lower_limited(l, lower_number(l, len), most);
}

static void lower_buf(struct lower *l, struct node *n, struct value *v)
{
	struct node *from = n->list;
	const uint32_t most = n->vtype.size - 4;
	const struct mem m = mem_alloc(l, n->vtype.size);
	const struct mem bytes = mem_at(m, 4);
	const ir_reg length = buffer_length(l, from->next, most);
	struct value a = {0};

	lower_expr(l, from, &a);
	if (length)
		mem_zero(l, m, n->vtype.size);
	if (a.reg) {
		const enum vspace space = check_space_of(l->c, &from->vtype);

		IR_CALL(l->f, mem_reader(l, space, false), mem_address(l, bytes),
			length ? length : ir_const(l->f, most), a.reg);
	} else {
		/* An array of characters may contain zeros, and have no terminator. */
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

#define JOIN_STRINGS 64	  /* at most */
#define JOIN_BYTES   4096 /* of strings before the last one */

static uint32_t join_size(const struct checker *c)
{
	return 4 + JOIN_BYTES + c->unit->config.max_strlen;
}

static bool check_join(struct checker *c, struct node *n)
{
	struct node *list = n->list, *between = list->next;
	struct vtype *t = arena_alloc(&c->unit->arena, sizeof(*t));
	struct velem *e = arena_alloc(&c->unit->arena, sizeof(*e));
	struct action *a;

	if (between && !check_const_text(c, n, between))
		return false;
	if (list->vtype.kind == V_NONE)
		return true;
	if (!vtype_is_number(&list->vtype))
		return check_fail(c, list, "join() needs a pointer to an array of strings");
	if (!check_memory(c, n, list))
		return false;
	a = check_action(c, n, ACT_JOIN, NULL);
	if (!a || !t || !e)
		return check_no_memory(c);
	*t = (struct vtype){.kind = V_BUFFER, .size = join_size(c)};
	*e = (struct velem){NULL, t, 0};
	a->args = e;
	a->nr_args = 1;
	a->size = t->size;
	a->format = arena_strdup(&c->unit->arena, between ? between->text : " ");
	return a->format || check_no_memory(c);
}

/*
 * Stores the strings one after the other, each with its terminator. The offset of the next one is
 * at most JOIN_BYTES, and one string fits after that.
 */
static void lower_join(struct lower *l, struct node *n, struct value *v)
{
	const uint32_t head = sizeof(struct action_record), most = l->unit->config.max_strlen;
	const enum vspace space = check_space_of(l->c, &n->list->vtype);
	const struct mem record = mem_alloc_scratch(l, head + join_size(l->c)),
			 word = mem_alloc(l, 8);
	const struct mem count = mem_at(record, head);
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

/* ---- ntop([family,] address) ---- */

#define INET_SIZE 20 /* u32 length, 16 bytes */

static bool check_ntop(struct checker *c, struct node *n)
{
	struct node *family = n->list->next ? n->list : NULL, *at = family ? family->next : n->list;

	if (at->vtype.kind == V_NONE)
		return true;
	if (family && !check_number(c, n, family))
		return false;
	if (!vtype_is_number(&at->vtype) && at->vtype.kind != V_ARRAY &&
	    at->vtype.kind != V_STRING && at->vtype.kind != V_STRUCT)
		return check_fail(c, at, "ntop() needs a number or an array of 4 or 16 bytes");
	if (!vtype_is_number(&at->vtype) && at->vtype.size != 4 && at->vtype.size != 16)
		return check_fail(c, at, "ntop() takes addresses of 4 or 16 bytes, not of %u",
				  at->vtype.size);
	n->vtype = (struct vtype){.kind = V_INET, .size = INET_SIZE};
	return true;
}

static void lower_ntop(struct lower *l, struct node *n, struct value *v)
{
	struct node *family = n->list->next ? n->list : NULL, *at = family ? family->next : n->list;
	const struct mem m = mem_result(l, v, INET_SIZE);
	const struct mem bytes = mem_at(m, 4);
	struct value a = {0};

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

static bool check_macaddr(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->list->vtype;

	if (t->kind == V_NONE)
		return true;
	if (vtype_is_number(t) && !c->opt->offline)
		c->at->reads_kernel |= check_space_of(c, t) == SPACE_KERNEL;
	else if ((t->kind != V_ARRAY && t->kind != V_STRING) || t->size != 6)
		return check_fail(c, n->list, "macaddr() needs an array of 6 bytes");
	n->vtype = (struct vtype){.kind = V_MAC, .size = 6};
	return true;
}

static void lower_macaddr(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, 8);
	struct value a = {0};

	lower_expr(l, n->list, &a);
	if (a.reg) {
		mem_zero(l, m, 8);
		mem_read(l, m, 6, check_space_of(l->c, &n->list->vtype), a.reg);
		set_memory(v, m);
		return;
	}
	/* An array of char is not text here: zeros are ordinary bytes. */
	a.type.kind = V_ARRAY;
	value_own(l, &a);
	mem_copy(l, m, a.mem, 6);
	set_memory(v, m);
}

/* ---- pton("1.2.3.4"): constant bytes ---- */

static bool check_pton(struct checker *c, struct node *n)
{
	const struct type byte = {.kind = TYPE_INTEGER, .size = 1};
	uint8_t raw[16];
	size_t len;

	if (!check_const_text(c, n, n->list))
		return false;
	len = strchr(n->list->text, ':') ? 16 : 4;
	if (inet_pton(len == 16 ? AF_INET6 : AF_INET, n->list->text, raw) != 1)
		return check_fail(c, n->list, "pton(): '%s' is no address", n->list->text);
	n->vtype = (struct vtype){.kind = V_ARRAY, .size = (uint32_t)len};
	if (!type_array_of(&byte, len, c->arena, &n->vtype.c))
		return check_no_memory(c);
	n->text = arena_alloc(c->arena, 16);
	if (!n->text)
		return check_no_memory(c);
	memcpy((char *)n->text, raw, len);
	return true;
}

static void lower_pton(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, n->vtype.size);

	for (uint32_t i = 0; i < n->vtype.size; i += 4) {
		uint32_t word;

		memcpy(&word, n->text + i, 4);
		mem_store_const(l, mem_at(m, i), 4, word);
	}
	set_memory(v, m);
}

/* ---- bswap() ---- */

static bool check_bswap(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->list->vtype;

	if (!check_number(c, n, n->list))
		return false;
	if (t->kind == V_NONE)
		return true;
	n->vtype = vtype_int(t->size, false);
	if (n->list->is_const) {
		n->num = (int64_t)(__builtin_bswap64((uint64_t)n->list->num) >>
				   (64 - n->vtype.size * 8));
		n->is_const = true;
	}
	return true;
}

static void lower_bswap(struct lower *l, struct node *n, struct value *v)
{
	const ir_reg r = lower_number(l, n->list);

	set_number(v, n->vtype.size > 1 ? ir_unary(l->f, IR_SWAP, r, n->vtype.size) : r);
}

/* ---- the table ---- */

const struct builtin builtins_text[] = {
	{"str", 1, 2, 0, check_str, lower_str, 0},
	{"ntop", 1, 2, 0, check_ntop, lower_ntop, 0},
	{"pton", 1, 1, 0, check_pton, lower_pton, 0},
	{"macaddr", 1, 1, 0, check_macaddr, lower_macaddr, 0},
	{"bswap", 1, 1, 0, check_bswap, lower_bswap, 0},
	{"buf", 1, 2, 0, check_buf, lower_buf, 0},
	{"join", 1, 2, BUILTIN_STATEMENT, check_join, lower_join, 0},
	BUILTIN_END,
};
