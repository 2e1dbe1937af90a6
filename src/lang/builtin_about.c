// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins about values themselves: how many there are, whether they are there, what they are. */
#include <errno.h>
#include <string.h>

#include "lang/lower.h"

/* ---- len(@map), len(kstack), len("text") ---- */

static bool is_stack(const struct vtype *t)
{
	return t->kind == V_KSTACK || t->kind == V_USTACK;
}

/* What is stored of a stack is a number; how many frames it has is noted when it is taken. */
static int check_stored(struct checker *c, struct node *n)
{
	if (c->opt->offline)
		return check_fail(c, n->list, "len() of a stack cannot be had from a recording");
	if (n->list->vtype.kind == V_USTACK && n->list->vtype.param[0])
		return check_fail(c, n->list,
				  "len() takes dw_ustack(), but not what was stored of it");
	c->keeps_depths = true;
	return 0;
}

static int check_map_length(struct checker *c, struct node *n)
{
	struct node *m = n->list;

	m->map = check_map_named(c, m->name, m->at);
	if (!m->map)
		return -ENOMEM;
	if (c->last && m->map->value.kind == V_NONE)
		return check_fail(c, m, "undefined map: @%s", m->name);
	if (m->map->flagged && is_stack(&m->map->value)) {
		m->vtype = m->map->value;
		return check_stored(c, n);
	}
	if (m->map->flagged)
		return check_fail(c, m,
				  "call to len() expects a map with explicit keys "
				  "(non-scalar map)");
	if (!compile_has(&c->opt->features, COMPILE_FOR_EACH))
		return check_fail(c, n,
				  "this kernel has no bpf_for_each_map_elem(), which len() needs");
	return 0;
}

static bool is_stack_itself(const struct node *n)
{
	return n->kind == N_NAME || n->kind == N_CALL;
}

static int check_len(struct checker *c, struct node *n)
{
	struct node *a = n->list;
	const struct vtype *t = &a->vtype;

	n->vtype = vtype_int(8, true);
	if (a->kind == N_MAP && !a->has_keys)
		return check_map_length(c, n);
	switch (t->kind) {
	case V_NONE: return 0;
	case V_STRING: n->builtin = builtin_find("strlen", false); return n->builtin->check(c, n);
	case V_ARRAY:
		n->num = (int64_t)t->c.count;
		n->is_const = true;
		return 0;
	case V_KSTACK:
	case V_USTACK:
		if (!is_stack_itself(a))
			return check_stored(c, n);
		if (c->opt->offline)
			return check_fail(c, a, "len() of a stack cannot be had from a recording");
		c->at->reads_kernel = true;
		return 0;
	default:
		return check_fail(c, a,
				  "len() expects a map, a string, an array, kstack or ustack");
	}
}

/* Frames of the stack as it is now. */
static ir_reg stack_length(struct lower *l, const struct vtype *t)
{
	const uint32_t room = t->depth * 8;
	const ir_label good = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set(l->f, r,
	       IR_CALL(l->f, BPF_FUNC_get_stack, lower_ctx(l),
		       mem_address(l, mem_take_scratch(l, room)), ir_const(l->f, room),
		       ir_const(l->f, t->kind == V_USTACK ? BPF_F_USER_STACK : 0)));
	ir_branch_const(l->f, IR_SGE, r, 0, good);
	ir_set_const(l->f, r, 0);
	ir_place(l->f, good);
	return ir_binary_const(l->f, IR_SHR, r, 3);
}

/* The numbers of stacks are counted by each map of them. */
static ir_reg depth_key(struct lower *l, ir_reg id, uint32_t stacks)
{
	const struct mem key = mem_take(l, 8);

	mem_store(l, key, 8, ir_binary_const(l->f, IR_OR, id, (int64_t)stacks << 16));
	return mem_address(l, key);
}

static uint32_t depths(struct lower *l)
{
	return map_internal(l, &l->unit->depths, "depths", MAP_HASH, 8, LOWER_STACKS);
}

void lower_note_depth(struct lower *l, const struct vtype *t, ir_reg id, uint32_t stacks)
{
	struct mem value;
	ir_label none;

	if (!l->c->keeps_depths)
		return;
	none = ir_new_label(l->f);
	value = mem_take(l, 8);
	ir_branch_const(l->f, IR_SLT, id, 0, none);
	mem_store(l, value, 8, stack_length(l, t));
	IR_CALL(l->f, BPF_FUNC_map_update_elem, ir_map(l->f, depths(l)), depth_key(l, id, stacks),
		mem_address(l, value), ir_const(l->f, BPF_ANY));
	ir_place(l->f, none);
}

static ir_reg stored_length(struct lower *l, struct node *n)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), p = ir_new(l->f);
	struct value v = {0};
	ir_reg id;

	lower_expr(l, n, &v);
	id = v.reg ? v.reg : mem_load(l, v.mem, 8, false);
	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_SLT, id, 0, none);
	ir_set(l->f, p,
	       IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, depths(l)),
		       depth_key(l, id, lower_stacks(l, &n->vtype))));
	ir_branch_const(l->f, IR_EQ, p, 0, none);
	ir_set(l->f, r, ir_load(l->f, p, 0, 8, false));
	ir_place(l->f, none);
	return r;
}

static void lower_len(struct lower *l, struct node *n, struct value *v)
{
	const struct vtype *t = &n->list->vtype;

	if (n->list->kind == N_MAP && !n->list->has_keys && !n->list->map->flagged) {
		set_number(v, lower_map_length(l, n->list->map));
		return;
	}
	if (!is_stack_itself(n->list)) {
		set_number(v, stored_length(l, n->list));
		return;
	}
	if (t->kind == V_USTACK && t->param[0]) {
		set_number(v, lower_unwound_length(l, n->list));
		return;
	}
	set_number(v, stack_length(l, t));
}

/* ---- find(@map, key, $value) ---- */

static int check_find(struct checker *c, struct node *n)
{
	struct node *m = n->list, *key = m->next, *to;
	int rc;

	/* In the first round the key becomes the map's. */
	if (m->kind != N_MAP)
		return check_fail(c, m, "find() needs a map here");
	if (!m->has_keys) {
		m->list = key->kind == N_TUPLE ? key->list : key;
		m->has_keys = true;
		m->next = key->next;
		key->next = NULL;
	}
	to = m->next;
	if (!to || to->next || to->kind != N_VAR)
		return check_fail(c, n, "find() needs a map, a key, and a variable for the value");
	rc = check_map(c, m);
	n->vtype = (struct vtype){.kind = V_BOOL, .size = 1};
	if (rc < 0 || m->map->value.kind == V_NONE)
		return rc;
	if (vtype_is_aggregation(&m->map->value))
		return check_fail(c, m, "find() cannot take the value of an aggregation");
	rc = vtype_widen(c, &to->var->type, &m->map->value);
	if (rc < 0)
		return check_mismatch(c, to->at, to->name, &to->var->type, &m->map->value);
	c->changed |= rc > 0;
	return 0;
}

static void lower_find(struct lower *l, struct node *n, struct value *v)
{
	const struct map_def *m = n->list->map;
	struct value found = {.type = m->value};
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), p = ir_new(l->f), key = lower_key(l, n->list);

	ir_set_const(l->f, r, 0);
	ir_set(l->f, p, IR_CALL(l->f, BPF_FUNC_map_lookup_elem, ir_map(l->f, m->number), key));
	ir_branch_const(l->f, IR_EQ, p, 0, none);
	found.type.space = vtype_is_number(&m->value) ? m->value.space : SPACE_OWN;
	if (vtype_is_number(&m->value))
		set_number(&found, mem_load(l, (struct mem){p, 0}, m->value.size,
					    m->value.kind == V_INT && m->value.is_signed));
	else
		set_memory(&found, (struct mem){p, 0});
	var_set(l, n->list->next->var, &found);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, none);
	set_number(v, r);
}

/* ---- typeinfo(value or type): a record; no BTF is looked at for its first element ---- */

#define KIND_SIZE 16
#define NAME_SIZE 64

static const char *kind_name(const struct vtype *t)
{
	static const char *const names[V_KINDS] = {
		[V_NONE] = "none",     [V_INT] = "int",	       [V_BOOL] = "bool",
		[V_STRING] = "string", [V_BUFFER] = "buffer",  [V_POINTER] = "pointer",
		[V_STRUCT] = "record", [V_ARRAY] = "array",    [V_TUPLE] = "tuple",
		[V_RECORD] = "record", [V_KSTACK] = "kstack",  [V_USTACK] = "ustack",
		[V_KSYM] = "ksym",     [V_USYM] = "usym",      [V_INET] = "inet",
		[V_MAC] = "mac",       [V_TIME] = "timestamp",
	};

	return names[t->kind] ? names[t->kind] : "other";
}

static int check_typeinfo(struct checker *c, struct node *n)
{
	static const char *const names[] = {"btf_id", "base_type", "full_type"};
	const struct vtype number = vtype_int(8, false), kind = vtype_string(KIND_SIZE),
			   name = vtype_string(NAME_SIZE);
	const struct vtype *types[] = {vtype_keep(c, &number), vtype_keep(c, &kind),
				       vtype_keep(c, &name)};
	struct node *a = n->list;
	int rc = a->kind == N_TYPEOF ? check_type_name(c, a->type, &a->vtype) : check_expr(c, a);

	if (rc < 0)
		return rc;
	return types[0] && types[1] && types[2] && vtype_tuple(&n->vtype, types, names, 3, c->arena)
		       ? 0
		       : -ENOMEM;
}

static void lower_typeinfo(struct lower *l, struct node *n, struct value *v)
{
	const struct mem m = mem_result(l, v, n->vtype.size);
	const struct velem *e = n->vtype.elems;
	const struct vtype *t = &n->list->vtype;
	const char *kind = kind_name(t);
	struct buf name;

	buf_init(&name, 4096);
	vtype_name(t, &name);
	mem_store_const(l, m, 8, 0);
	mem_text(l, (struct mem){m.base, m.offset + e[1].offset}, kind, strlen(kind), KIND_SIZE);
	mem_text(l, (struct mem){m.base, m.offset + e[2].offset}, buf_str(&name), name.len,
		 NAME_SIZE);
	buf_free(&name);
	set_memory(v, m);
}

const struct builtin builtins_about[] = {
	{"len", 1, 1, BUILTIN_MAPS, check_len, lower_len, 0},
	{"find", 2, 3, BUILTIN_MAPS | BUILTIN_EFFECT, check_find, lower_find, 0},
	{"typeinfo", 1, 1, BUILTIN_WORDS, check_typeinfo, lower_typeinfo, 0},
	BUILTIN_END,
};
