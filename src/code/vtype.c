// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The types of values: a table with the fixed properties of each kind, and a few functions for the
 * kinds that consist of others.
 *
 * The checker builds types from other types, so they cannot contain themselves. They may be as deep
 * as the script, which the parser limits.
 */
#include "code/vtype.h"

#include <string.h>

#include "base/arena.h"

#define MAX_TUPLE (1u << 20) /* bytes; more fits nowhere */

static const struct {
	const char *name; /* NULL: it depends */
	uint8_t size;	  /* 0: it depends */
	uint8_t align;	  /* 0: as large as it is */
	bool number;	  /* handled in a register */
} kinds[V_KINDS] = {
	[V_NONE] = {"none", 0, 1, false},
	[V_INT] = {NULL, 0, 0, true},
	[V_BOOL] = {"bool", 1, 0, true},
	[V_STRING] = {NULL, 0, 1, false},
	[V_BUFFER] = {NULL, 0, 4, false},
	[V_POINTER] = {NULL, 8, 0, true},
	[V_STRUCT] = {NULL, 0, 1, false},
	[V_ARRAY] = {NULL, 0, 1, false},
	[V_TUPLE] = {NULL, 0, 1, false},
	[V_RECORD] = {NULL, 0, 1, false},
	[V_KSTACK] = {"kstack_t", 8, 8, true},
	[V_USTACK] = {"ustack_t", 16, 8, false},
	[V_KSYM] = {"ksym_t", 8, 8, true},
	[V_USYM] = {"usym_t", 16, 8, false},
	[V_INET] = {"inet", 20, 4, false},
	[V_MAC] = {"mac_address", 6, 1, false},
	[V_TIME] = {"timestamp", 8, 8, true},
	[V_CGROUP] = {"cgroup_path_t", 8, 8, true},
	[V_USER] = {"username", 4, 4, true},
	[V_ERRNO] = {"strerror_t", 8, 8, true},
	[V_SIGNAL] = {"signal_name_t", 8, 8, true},
	[V_SYSCALL] = {"syscall_name_t", 8, 8, true},
	[V_PROBE] = {"probe_t", 8, 8, true},
	[V_COUNT] = {"count_t", 8, 8, false},
	[V_SUM] = {"sum_t", 8, 8, false},
	[V_AVG] = {"avg_t", 16, 8, false},
	[V_MIN] = {"min_t", 16, 8, false},
	[V_MAX] = {"max_t", 16, 8, false},
	[V_STATS] = {"stats_t", 16, 8, false},
	[V_HIST] = {"hist_t", 0, 8, false},
	[V_LHIST] = {"lhist_t", 0, 8, false},
	[V_TSERIES] = {"tseries_t", 0, 8, false},
};

/* ---- making them ---- */

struct vtype vtype_fixed(enum vkind kind)
{
	return (struct vtype){.kind = kind, .size = kinds[kind].size};
}

struct vtype vtype_int(unsigned int bytes, bool is_signed)
{
	return (struct vtype){.kind = V_INT, .size = bytes, .is_signed = is_signed};
}

/* The bytes of the smallest number of so many bits. */
static unsigned int bytes_for(unsigned int bits)
{
	unsigned int bytes = 1;

	while (bytes * 8 < bits)
		bytes *= 2;
	return bytes;
}

static unsigned int bits_of(uint64_t value)
{
	return value ? 64 - (unsigned int)__builtin_clzll(value) : 0;
}

struct vtype vtype_literal(int64_t value, bool is_signed)
{
	struct vtype t;

	if (value < 0)
		return is_signed ? vtype_int(bytes_for(bits_of(~(uint64_t)value) + 1), true)
				 : vtype_int(8, false);
	t = vtype_int(bytes_for(bits_of((uint64_t)value) + 1), true);
	t.as_unsigned = (uint8_t)bytes_for(bits_of((uint64_t)value));
	return t;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* For two numbers, only the first of which is signed. No type holds all of int64 and uint64. */
static struct vtype join_signs(const struct vtype *a, const struct vtype *b)
{
	if (a->as_unsigned)
		return vtype_int(larger(a->as_unsigned, b->size), false);
	if (b->size == 8)
		return vtype_int(8, true);
	return vtype_int(larger(a->size, 2 * b->size), true);
}

struct vtype vtype_join(const struct vtype *a, const struct vtype *b)
{
	struct vtype t;

	if (a->is_signed != b->is_signed)
		return a->is_signed ? join_signs(a, b) : join_signs(b, a);
	t = vtype_int(larger(a->size, b->size), a->is_signed);
	if (a->as_unsigned && b->as_unsigned)
		t.as_unsigned = (uint8_t)larger(a->as_unsigned, b->as_unsigned);
	return t;
}

bool vtype_cuts(const struct vtype *from, const struct vtype *to)
{
	if (from->is_signed == to->is_signed)
		return from->size > to->size;
	if (from->is_signed)
		return !from->as_unsigned || from->as_unsigned > to->size;
	return from->size >= to->size;
}

struct vtype vtype_string(uint32_t size)
{
	return (struct vtype){.kind = V_STRING, .size = size};
}

static struct vtype vtype_pointer(const struct type *to, enum vspace space)
{
	return (struct vtype){.kind = V_POINTER, .size = 8, .space = space, .c = *to};
}

static bool fits_register(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static struct vtype of_integer(const struct type *c)
{
	struct vtype t;

	if (!fits_register(c->size))
		return (struct vtype){0};
	if (c->is_bool && c->size == 1)
		return vtype_fixed(V_BOOL);
	t = vtype_int((unsigned int)c->size, c->is_signed);
	if (c->is_enum)
		t.c = *c;
	return t;
}

/* A pointer in a process's memory points into the process; the kernel marks its own that do. */
static struct vtype of_pointer(const struct type *c, enum vspace space)
{
	struct type target = {.kind = TYPE_VOID};

	type_target(c, &target);
	return vtype_pointer(&target, c->user || space == SPACE_USER ? SPACE_USER : SPACE_KERNEL);
}

static struct vtype of_memory(const struct type *c, enum vkind kind, enum vspace space)
{
	uint64_t size = type_size(c);

	/* Too large for a value; its members can still be read. */
	if (size > UINT32_MAX)
		size = 0;
	return (struct vtype){.kind = kind, .size = (uint32_t)size, .space = space, .c = *c};
}

struct vtype vtype_of_c(const struct type *c, enum vspace space)
{
	struct type element;
	struct vtype t;

	switch (c->kind) {
	case TYPE_INTEGER: return of_integer(c);
	case TYPE_POINTER: return of_pointer(c, space);
	case TYPE_STRUCT: return of_memory(c, V_STRUCT, space);
	case TYPE_TEXT:
		t = vtype_string(0);
		t.space = space;
		t.c = *c;
		return t;
	case TYPE_ARRAY:
		if (type_target(c, &element) && element.is_char && c->count)
			return of_memory(c, V_STRING, space);
		return of_memory(c, V_ARRAY, space);
	default: return (struct vtype){0};
	}
}

bool vtype_tuple(struct vtype *out, const struct vtype *types, const char *const *names, uint32_t n,
		 struct arena *arena)
{
	struct velem *elems = arena_array(arena, n ? n : 1, sizeof(*elems));
	uint32_t align = 1;
	uint64_t at = 0;

	*out = (struct vtype){.kind = names ? V_RECORD : V_TUPLE};
	if (!elems)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct vtype *copy = arena_alloc(arena, sizeof(*copy));
		uint32_t own = vtype_align(&types[i]);

		if (!copy)
			return false;
		*copy = types[i];
		if (own > align)
			align = own;
		at = (at + own - 1) / own * own;
		elems[i] = (struct velem){names ? names[i] : NULL, copy, (uint32_t)at};
		at += copy->size;
		if (at > MAX_TUPLE)
			return false;
	}
	out->elems = elems;
	out->nr_elems = n;
	out->size = (uint32_t)((at + align - 1) / align * align);
	return true;
}

/* ---- asking ---- */

bool vtype_is_number(const struct vtype *t)
{
	return kinds[t->kind].number;
}

bool vtype_is_aggregation(const struct vtype *t)
{
	return t->kind >= V_COUNT && t->kind <= V_TSERIES;
}

bool vtype_is_summed(const struct vtype *t)
{
	return t->kind >= V_COUNT && t->kind <= V_MAX;
}

bool vtype_is_chart(const struct vtype *t)
{
	return t->kind >= V_HIST && t->kind <= V_TSERIES;
}

static uint32_t elems_align(const struct vtype *t)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < t->nr_elems; i++) {
		uint32_t align = vtype_align(t->elems[i].type);

		if (align > most)
			most = align;
	}
	return most;
}

uint32_t vtype_align(const struct vtype *t)
{
	uint64_t align;

	switch (t->kind) {
	case V_TUPLE:
	case V_RECORD: return elems_align(t);
	case V_STRUCT:
	case V_ARRAY:
		/* In a value of a script nothing needs more than 8. */
		align = type_align(&t->c);
		return align < 8 ? (uint32_t)align : 8;
	default: break;
	}
	if (kinds[t->kind].align)
		return kinds[t->kind].align;
	return fits_register(t->size) ? t->size : 1;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool same_elems(const struct vtype *a, const struct vtype *b)
{
	if (a->nr_elems != b->nr_elems)
		return false;
	for (uint32_t i = 0; i < a->nr_elems; i++)
		if (!same_text(a->elems[i].name, b->elems[i].name) ||
		    !vtype_same(a->elems[i].type, b->elems[i].type))
			return false;
	return true;
}

const struct velem *vtype_elem_like(const struct vtype *t, const struct vtype *other, uint32_t i)
{
	if (t->kind != V_RECORD)
		return i < t->nr_elems ? &t->elems[i] : NULL;
	for (uint32_t k = 0; k < t->nr_elems; k++)
		if (same_text(t->elems[k].name, other->elems[i].name))
			return &t->elems[k];
	return NULL;
}

bool vtype_same(const struct vtype *a, const struct vtype *b)
{
	if (a->kind != b->kind || a->size != b->size)
		return false;
	switch (a->kind) {
	case V_INT: return a->is_signed == b->is_signed;
	case V_POINTER:
		return a->space == b->space && type_same(&a->c, &b->c) && !a->to == !b->to &&
		       (!a->to || vtype_same(a->to, b->to));
	case V_STRUCT:
	case V_ARRAY: return type_same(&a->c, &b->c);
	case V_TUPLE:
	case V_RECORD: return same_elems(a, b);
	case V_KSTACK:
	case V_USTACK:
		return a->mode == b->mode && a->depth == b->depth && a->param[0] == b->param[0];
	case V_TIME:
	case V_CGROUP: return a->mode == b->mode && same_text(a->text, b->text);
	case V_SUM:
	case V_AVG:
	case V_MIN:
	case V_MAX:
	case V_STATS: return a->is_signed == b->is_signed;
	case V_HIST:
	case V_LHIST: return !memcmp(a->param, b->param, sizeof(a->param));
	case V_TSERIES: return a->mode == b->mode && !memcmp(a->param, b->param, sizeof(a->param));
	default: return true;
	}
}

/* ---- names ---- */

static void put_elems(const struct vtype *t, struct buf *to)
{
	buf_putc(to, '(');
	for (uint32_t i = 0; i < t->nr_elems; i++) {
		buf_puts(to, i ? "," : "");
		if (t->elems[i].name)
			buf_printf(to, "%s=", t->elems[i].name);
		vtype_name(t->elems[i].type, to);
	}
	buf_putc(to, ')');
}

/* An array's elements are named as values are. */
static void put_array(const struct vtype *t, struct buf *to)
{
	struct type element;
	struct vtype of;

	if (!type_target(&t->c, &element)) {
		buf_puts(to, "array");
		return;
	}
	of = vtype_of_c(&element, t->space);
	vtype_name(&of, to);
	buf_printf(to, "[%llu]", (unsigned long long)t->c.count);
}

static void put_pointer(const struct vtype *t, struct buf *to)
{
	size_t before = to->len;

	/* Numbers are called as the language calls them; everything else is C's. */
	if (t->to) {
		vtype_name(t->to, to);
	} else if (t->c.kind == TYPE_INTEGER && !t->c.is_enum && !t->c.is_char) {
		struct vtype of = vtype_of_c(&t->c, t->space);

		vtype_name(&of, to);
	} else {
		type_name(&t->c, to);
	}
	buf_puts(to, to->len > before && to->data[to->len - 1] == '*' ? "*" : " *");
}

const char *const vtype_stack_modes[] = {"bpftrace", "perf", "raw", "build_id"};

/* Stacks that are not as usual are of another type: "ustack_t", "ustack_t(perf, 5)". */
static void put_stack(const struct vtype *t, struct buf *to)
{
	buf_printf(to, "%s%s", t->param[0] ? "dw_" : "", kinds[t->kind].name);
	if (t->depth && (t->mode || t->depth != VTYPE_STACK_DEPTH) && t->mode >= 0 &&
	    t->mode <= STACK_BUILD_ID)
		buf_printf(to, "(%s, %u)", vtype_stack_modes[t->mode], t->depth);
}

void vtype_name(const struct vtype *t, struct buf *to)
{
	switch (t->kind) {
	case V_INT:
		if (t->c.is_enum)
			type_name(&t->c, to);
		else
			buf_printf(to, "%sint%u", t->is_signed ? "" : "u", t->size * 8);
		break;
	case V_STRING: buf_printf(to, "string[%u]", t->size); break;
	case V_BUFFER: buf_printf(to, "buffer[%u]", t->size > 4 ? t->size - 4 : 0); break;
	case V_POINTER: put_pointer(t, to); break;
	case V_STRUCT: type_name(&t->c, to); break;
	case V_ARRAY: put_array(t, to); break;
	case V_TUPLE:
	case V_RECORD: put_elems(t, to); break;
	case V_KSTACK:
	case V_USTACK: put_stack(t, to); break;
	case V_SUM:
	case V_AVG:
	case V_MIN:
	case V_MAX:
	case V_STATS: buf_printf(to, "%s%s", t->is_signed ? "" : "u", kinds[t->kind].name); break;
	default: buf_puts(to, kinds[t->kind].name); break;
	}
}
