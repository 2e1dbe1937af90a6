// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins for maps and stored values: aggregations, entries, how many there are, what they are. */
#include <errno.h>
#include <string.h>

#include "lang/lower/lower.h"

/* ---- aggregations: a map is assigned one and is updated by it ---- */

#define MAX_LHIST 1000 /* buckets, as bpftrace allows */

static bool check_value(struct checker *c, struct node *n, enum vkind kind, uint32_t size)
{
	struct node *v = n->list;

	n->vtype = (struct vtype){.kind = kind, .size = size, .is_signed = true};
	if (!v)
		return true;
	n->vtype.is_signed = v->vtype.kind != V_INT || v->vtype.is_signed;
	return check_number(c, n, v);
}

static bool check_simple(struct checker *c, struct node *n)
{
	const enum vkind kind = (enum vkind)n->builtin->what;

	return check_value(c, n, kind, kind == V_COUNT || kind == V_SUM ? 8 : 16);
}

static bool check_hist(struct checker *c, struct node *n)
{
	struct node *bits = node_nth(n, 1);

	if (!check_value(c, n, V_HIST, 0) ||
	    (bits && !check_const_int(c, n, bits, &n->vtype.param[0])))
		return false;
	if (n->vtype.param[0] < 0 || n->vtype.param[0] > 5)
		return check_fail(c, bits, "hist() takes 0 to 5 bits");
	n->vtype.size = 8 * agg_hist_buckets((unsigned int)n->vtype.param[0]);
	return true;
}

static bool check_lhist(struct checker *c, struct node *n)
{
	int64_t *p = n->vtype.param;

	if (!check_value(c, n, V_LHIST, 0))
		return false;
	for (unsigned int i = 0; i < 3; i++)
		if (!check_const_int(c, n, node_nth(n, i + 1), &p[i]))
			return false;
	if (p[2] <= 0)
		return check_fail(c, node_nth(n, 3), "lhist() step must be >= 1 (%lld provided)",
				  (long long)p[2]);
	if (p[0] < 0)
		return check_fail(c, node_nth(n, 1),
				  "lhist() min must be non-negative (provided min %lld)",
				  (long long)p[0]);
	if (p[0] >= p[1])
		return check_fail(
			c, n, "lhist() min must be less than max (provided min %lld and max %lld)",
			(long long)p[0], (long long)p[1]);
	if ((p[1] - p[0]) / p[2] > MAX_LHIST)
		return check_fail(c, n, "lhist() too many buckets, must be <= %d (would need %lld)",
				  MAX_LHIST, (long long)((p[1] - p[0]) / p[2]));
	if (p[2] > p[1] - p[0])
		return check_fail(c, n, "lhist() step is larger than the range");
	n->vtype.size = 8 * agg_lhist_buckets(&n->vtype);
	return true;
}

static bool check_tseries(struct checker *c, struct node *n)
{
	static const char *const kinds[] = {"", "avg", "max", "min", "sum"};
	struct node *how = node_nth(n, 3);
	const bool fine = check_value(c, n, V_TSERIES, 0);

	if (c->unit->config.tseries == UNSTABLE_ERROR)
		return check_fail(c, n, "tseries() is refused by the setting unstable_tseries");
	if (c->unit->config.tseries == UNSTABLE_WARN && c->last)
		source_warning(c->source, n->at, "tseries() may change in later versions");
	if (!fine || !check_const_int(c, n, node_nth(n, 1), &n->vtype.param[0]) ||
	    !check_const_int(c, n, node_nth(n, 2), &n->vtype.param[1]) ||
	    (how && !check_const_text(c, n, how)))
		return false;
	if (n->vtype.param[0] <= 0)
		return check_fail(c, n, "tseries() interval must be greater than 0");
	if (n->vtype.param[1] < 1 || n->vtype.param[1] > MAX_LHIST)
		return check_fail(c, n, "tseries() takes 1 to %d buckets", MAX_LHIST);
	for (int i = 1; how && i < 5; i++)
		if (strcmp(how->text, kinds[i]) == 0)
			n->vtype.mode = i;
	if (how && !n->vtype.mode)
		return check_fail(c, how, "tseries() aggregates by avg, max, min or sum");
	n->vtype.size = 24 * (uint32_t)n->vtype.param[1];
	return true;
}

/* ---- updating ---- */

static void add(struct lower *l, ir_reg p, int64_t at, ir_reg v)
{
	ir_store(l->f, p, at, 8, ir_binary(l->f, IR_ADD, ir_load(l->f, p, at, 8, false), v));
}

static void store_extreme(struct lower *l, ir_reg p, int64_t at, ir_reg v, bool least,
			  bool is_signed)
{
	const ir_label take = ir_new_label(l->f), end = ir_new_label(l->f);
	const ir_reg now = ir_load(l->f, p, at, 8, false);

	ir_branch_const(l->f, IR_EQ, ir_load(l->f, p, at + 8, 8, false), 0, take);
	ir_branch(l->f, map_not_better(least, is_signed), v, now, end);
	ir_place(l->f, take);
	ir_store(l->f, p, at, 8, v);
	ir_store_const(l->f, p, at + 8, 8, 1);
	ir_place(l->f, end);
}

static void lower_simple(struct lower *l, struct node *n, struct value *v)
{
	const enum vkind kind = (enum vkind)n->builtin->what;
	const ir_reg x = n->list ? lower_number(l, n->list) : 0;
	const ir_label none = ir_new_label(l->f);
	const ir_reg p = map_entry(l, n->a, none);

	switch (kind) {
	case V_COUNT: add(l, p, 0, ir_const(l->f, 1)); break;
	case V_SUM: add(l, p, 0, x); break;
	case V_AVG:
	case V_STATS:
		add(l, p, 0, ir_const(l->f, 1));
		add(l, p, 8, x);
		break;
	default: store_extreme(l, p, 0, x, kind == V_MIN, n->a->map->value.is_signed);
	}
	ir_place(l->f, none);
}

/* Adds 1 to a bucket. Its number is always small enough; the branch shows this to the verifier. */
static void add_bucket(struct lower *l, struct node *n, ir_reg bucket, uint32_t buckets)
{
	const ir_label none = ir_new_label(l->f);
	ir_reg p;

	p = map_entry(l, n->a, none);
	ir_branch_const(l->f, IR_UGE, bucket, buckets, none);
	p = ir_binary(l->f, IR_ADD, p, ir_binary_const(l->f, IR_SHL, bucket, 3));
	add(l, p, 0, ir_const(l->f, 1));
	ir_place(l->f, none);
}

/* The same as agg_hist_bucket(). */
static ir_reg hist_bucket(struct lower *l, ir_reg x, unsigned int bits)
{
	const ir_label found = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), v = ir_new(l->f);
	ir_reg row;

	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_SLT, x, 0, found);
	ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, x, 1));
	ir_branch_const(l->f, IR_ULT, x, 1ll << bits, found);
	/* The number of the highest bit, by bisection. */
	ir_set(l->f, v, x);
	ir_set_const(l->f, r, 0);
	for (unsigned int half = 32; half; half /= 2) {
		const ir_label low = ir_new_label(l->f);

		ir_branch_const(l->f, IR_ULT, v, 1ll << half, low);
		ir_set(l->f, v, ir_binary_const(l->f, IR_SHR, v, half));
		ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, r, half));
		ir_place(l->f, low);
	}
	if (!bits) {
		ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, r, 2));
	} else {
		row = ir_binary_const(l->f, IR_SUB, r, bits);
		ir_set(l->f, v, ir_binary(l->f, IR_SHR, x, row));
		ir_set(l->f, v, ir_binary_const(l->f, IR_AND, v, (1ll << bits) - 1));
		row = ir_binary_const(l->f, IR_SHL, ir_binary_const(l->f, IR_ADD, row, 1), bits);
		ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, ir_binary(l->f, IR_ADD, row, v), 1));
	}
	ir_place(l->f, found);
	return r;
}

static void lower_hist(struct lower *l, struct node *n, struct value *v)
{
	const unsigned int bits = (unsigned int)n->vtype.param[0];

	add_bucket(l, n, hist_bucket(l, lower_number(l, n->list), bits), agg_hist_buckets(bits));
}

static void lower_lhist(struct lower *l, struct node *n, struct value *v)
{
	const int64_t *p = n->vtype.param;
	const uint32_t buckets = agg_lhist_buckets(&n->vtype);
	const ir_label found = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), x = lower_number(l, n->list);

	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_SLT, x, p[0], found);
	ir_set_const(l->f, r, buckets - 1);
	ir_branch_const(l->f, IR_SGE, x, p[1], found);
	ir_set(l->f, r,
	       ir_binary_const(l->f, IR_UDIV, ir_binary_const(l->f, IR_SUB, x, p[0]), p[2]));
	ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, r, 1));
	ir_place(l->f, found);
	add_bucket(l, n, r, buckets);
}

/* A bucket is an interval until a later interval needs it. */
static void lower_tseries(struct lower *l, struct node *n, struct value *v)
{
	const ir_label none = ir_new_label(l->f), same = ir_new_label(l->f);
	const int64_t buckets = n->vtype.param[1];
	const ir_reg x = lower_number(l, n->list);
	const ir_reg now = ir_call(l->f, lower_clock(l), 0, NULL);
	const ir_reg epoch = ir_binary_const(l->f, IR_UDIV, now, n->vtype.param[0]);
	ir_reg slot = ir_binary_const(l->f, IR_UMOD, epoch, buckets), p = map_entry(l, n->a, none);

	ir_branch_const(l->f, IR_UGE, slot, buckets, none);
	p = ir_binary(l->f, IR_ADD, p, ir_binary_const(l->f, IR_MUL, slot, 24));
	ir_branch(l->f, IR_EQ, ir_load(l->f, p, 0, 8, false), epoch, same);
	ir_store(l->f, p, 0, 8, epoch);
	ir_store_const(l->f, p, 8, 8, 0);
	ir_store_const(l->f, p, 16, 8, 0);
	ir_place(l->f, same);
	switch (n->vtype.mode) {
	case SERIES_AVG:
	case SERIES_SUM: add(l, p, 8, x); break;
	case SERIES_MIN:
	case SERIES_MAX:
		store_extreme(l, p, 8, x, n->vtype.mode == SERIES_MIN, n->vtype.is_signed);
		break;
	default: ir_store(l->f, p, 8, 8, x);
	}
	if (n->vtype.mode != SERIES_MIN && n->vtype.mode != SERIES_MAX)
		add(l, p, 16, ir_const(l->f, 1));
	ir_place(l->f, none);
}

/* ---- entries ---- */

/* Makes the node after a map its key; a tuple is several keys. */
static void take_key(struct node *m)
{
	struct node *key = m->next;

	m->list = key->kind == N_TUPLE ? key->list : key;
	m->has_keys = true;
	m->next = key->next;
	key->next = NULL;
}

/*
 * delete(@x[k]), or delete(@x, k) in newer scripts; the same for has_key(). The first argument
 * becomes the entry.
 */
static bool check_entry(struct checker *c, struct node *n)
{
	struct node *m = n->list, *key = m->next;

	if (m->kind != N_MAP)
		return check_fail(c, m, "%s() needs a map here", n->name);
	if (key && !m->has_keys) {
		take_key(m);
	} else if (key) {
		return check_fail(c, key, "%s() has the key already", n->name);
	}
	return check_map(c, m);
}

static bool check_delete(struct checker *c, struct node *n)
{
	struct node *m = n->list;

	if (!check_entry(c, n))
		return false;
	/* A map without keys is cleared. */
	if (!m->has_keys) {
		n->action = check_action(c, n, ACT_CLEAR, NULL);
		if (!n->action)
			return false;
		n->action->map = m->map;
	}
	n->vtype = vtype_fixed(V_BOOL);
	return true;
}

static void lower_delete(struct lower *l, struct node *n, struct value *v)
{
	const struct map_def *m = n->list->map;
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	ir_reg key, rc;

	ir_set_const(l->f, r, 0);
	if (m->flagged && m->kind == MAP_ARRAY) {
		ir_set(l->f, r, ir_load(l->f, ir_map_value(l->f, m->number, 0), 0, 8, false));
		mem_zero(l, (struct mem){ir_map_value(l->f, m->number, 0), 0}, m->value_size);
	} else if (m->flagged) {
		lower_action(l, n->action, NULL);
	} else {
		key = lower_key(l, n->list);
		rc = IR_CALL(l->f, BPF_FUNC_map_delete_elem, ir_map(l->f, m->number), key);
		lower_result(l, BPF_FUNC_map_delete_elem, rc);
		ir_branch_const(l->f, IR_NE, rc, 0, none);
		ir_set_const(l->f, r, 1);
	}
	ir_place(l->f, none);
	set_number(v, r);
}

static bool check_has_key(struct checker *c, struct node *n)
{
	n->vtype = vtype_fixed(V_BOOL);
	return check_entry(c, n) &&
	       (n->list->has_keys || check_fail(c, n->list, "has_key() needs a map with keys"));
}

static void lower_has_key(struct lower *l, struct node *n, struct value *v)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	const struct mem key = {lower_key(l, n->list), 0};

	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_EQ, map_lookup(l, n->list->map->number, key), 0, none);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, none);
	set_number(v, r);
}

/* ---- len(@map), len(kstack), len("text") ---- */

static bool is_stack(const struct vtype *t)
{
	return t->kind == V_KSTACK || t->kind == V_USTACK;
}

/* A stored stack is a number; its depth is stored when the stack is read. */
static bool check_stored(struct checker *c, struct node *n)
{
	if (c->opt->offline)
		return check_fail(c, n->list, "len() of a stack cannot be had from a recording");
	if (n->list->vtype.kind == V_USTACK && n->list->vtype.param[0])
		return check_fail(c, n->list,
				  "len() takes dw_ustack(), but not what was stored of it");
	c->stores_depths = true;
	return true;
}

static bool check_map_length(struct checker *c, struct node *n)
{
	struct node *m = n->list;

	if (!check_whole_map(c, m))
		return false;
	if (m->map->flagged && is_stack(&m->map->value)) {
		m->vtype = m->map->value;
		return check_stored(c, n);
	}
	if (m->map->flagged)
		return check_fail(c, m,
				  "call to len() expects a map with explicit keys "
				  "(non-scalar map)");
	if (!compile_has(c->opt->features, FEATURE_FOR_EACH))
		return check_fail(c, n,
				  "this kernel has no bpf_for_each_map_elem(), which len() needs");
	return true;
}

static bool is_stack_itself(const struct node *n)
{
	return n->kind == N_NAME || n->kind == N_CALL;
}

static bool check_len(struct checker *c, struct node *n)
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
		return true;
	case V_KSTACK:
	case V_USTACK:
		if (!is_stack_itself(a))
			return check_stored(c, n);
		if (c->opt->offline)
			return check_fail(c, a, "len() of a stack cannot be had from a recording");
		c->at->reads_kernel = true;
		return true;
	default:
		return check_fail(c, a,
				  "len() expects a map, a string, an array, kstack or ustack");
	}
}

/* The number of frames of the current stack. */
static ir_reg stack_length(struct lower *l, const struct vtype *t)
{
	const uint32_t room = t->depth * 8;
	const ir_label good = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);

	ir_set(l->f, r,
	       IR_CALL(l->f, BPF_FUNC_get_stack, lower_ctx(l),
		       mem_address(l, mem_alloc_scratch(l, room)), ir_const(l->f, room),
		       ir_const(l->f, t->kind == V_USTACK ? BPF_F_USER_STACK : 0)));
	ir_branch_const(l->f, IR_SGE, r, 0, good);
	ir_set_const(l->f, r, 0);
	ir_place(l->f, good);
	return ir_binary_const(l->f, IR_SHR, r, 3);
}

/* The number of a stack is only unique within its map. */
static struct mem depth_key(struct lower *l, ir_reg id, uint32_t stacks)
{
	const struct mem key = mem_alloc(l, 8);

	mem_store(l, key, 8, ir_binary_const(l->f, IR_OR, id, (int64_t)stacks << 16));
	return key;
}

#define DEPTHS 16384 /* as many as a map has stacks */

static uint32_t depths(struct lower *l)
{
	return map_internal(l, &l->unit->depths, "depths", MAP_HASH, 8, DEPTHS);
}

void lower_note_depth(struct lower *l, const struct vtype *t, ir_reg id, uint32_t stacks)
{
	struct mem value;
	ir_label none;

	if (!l->c->stores_depths)
		return;
	none = ir_new_label(l->f);
	value = mem_alloc(l, 8);
	ir_branch_const(l->f, IR_SLT, id, 0, none);
	mem_store(l, value, 8, stack_length(l, t));
	map_update(l, depths(l), depth_key(l, id, stacks), value, BPF_ANY);
	ir_place(l->f, none);
}

static ir_reg stored_length(struct lower *l, struct node *n)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), p = ir_new(l->f);
	struct value v = {0};
	struct mem key;
	ir_reg id;

	lower_expr(l, n, &v);
	id = v.reg ? v.reg : mem_load(l, v.mem, 8, false);
	ir_set_const(l->f, r, 0);
	ir_branch_const(l->f, IR_SLT, id, 0, none);
	key = depth_key(l, id, lower_stacks(l, &n->vtype, STACKS_OF_KERNEL));
	ir_set(l->f, p, map_lookup(l, depths(l), key));
	ir_branch_const(l->f, IR_EQ, p, 0, none);
	ir_set(l->f, r, ir_load(l->f, p, 0, 8, false));
	ir_place(l->f, none);
	return r;
}

static void lower_len(struct lower *l, struct node *n, struct value *v)
{
	struct node *a = n->list;

	if (a->kind == N_MAP && !a->has_keys && !a->map->flagged)
		set_number(v, lower_map_length(l, a->map));
	else if (!is_stack_itself(a))
		set_number(v, stored_length(l, a));
	else if (a->vtype.kind == V_USTACK && a->vtype.param[0])
		set_number(v, lower_unwound_length(l, a));
	else
		set_number(v, stack_length(l, &a->vtype));
}

/* ---- find(@map, key, $value) ---- */

static bool check_find(struct checker *c, struct node *n)
{
	struct node *m = n->list, *to;

	/* In the first round the key becomes part of the map node. */
	if (m->kind != N_MAP)
		return check_fail(c, m, "find() needs a map here");
	if (!m->has_keys)
		take_key(m);
	to = m->next;
	if (!to || to->next || to->kind != N_VAR)
		return check_fail(c, n, "find() needs a map, a key, and a variable for the value");
	n->vtype = vtype_fixed(V_BOOL);
	if (!check_map(c, m))
		return false;
	if (m->map->value.kind == V_NONE)
		return true;
	if (vtype_is_aggregation(&m->map->value))
		return check_fail(c, m, "find() cannot take the value of an aggregation");
	return check_widen(c, &to->var->type, &m->map->value) ||
	       check_mismatch(c, to->at, to->name, &to->var->type, &m->map->value);
}

static void lower_find(struct lower *l, struct node *n, struct value *v)
{
	const struct map_def *m = n->list->map;
	struct value found = {.type = m->value};
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), p = ir_new(l->f);
	const struct mem key = {lower_key(l, n->list), 0};

	ir_set_const(l->f, r, 0);
	ir_set(l->f, p, map_lookup(l, m->number, key));
	ir_branch_const(l->f, IR_EQ, p, 0, none);
	found.type.space = vtype_is_number(&m->value) ? m->value.space : SPACE_OWN;
	value_at(l, &found, (struct mem){p, 0});
	var_set(l, n->list->next->var, &found);
	ir_set_const(l->f, r, 1);
	ir_place(l->f, none);
	set_number(v, r);
}

/*
 * ---- typeinfo(value or type): a record; its first element, a BTF id in bpftrace, is not set ----
 */

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

static bool check_typeinfo(struct checker *c, struct node *n)
{
	static const char *const names[] = {"btf_id", "base_type", "full_type"};
	const struct vtype types[] = {vtype_int(8, false), vtype_string(KIND_SIZE),
				      vtype_string(NAME_SIZE)};
	struct node *a = n->list;

	return (a->kind == N_TYPEOF ? check_type_name(c, a->type, &a->vtype) : check_expr(c, a)) &&
	       (vtype_tuple(&n->vtype, types, names, 3, c->arena) || check_no_memory(c));
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
	mem_text(l, mem_at(m, e[1].offset), kind, strlen(kind), KIND_SIZE);
	mem_text(l, mem_at(m, e[2].offset), buf_str(&name), name.len, NAME_SIZE);
	buf_free(&name);
	set_memory(v, m);
}

/* ---- the table ---- */

#define AGG BUILTIN_AGGREGATE

const struct builtin builtins_maps[] = {
	{"count", 0, 0, AGG, check_simple, lower_simple, V_COUNT},
	{"sum", 1, 1, AGG, check_simple, lower_simple, V_SUM},
	{"avg", 1, 1, AGG, check_simple, lower_simple, V_AVG},
	{"min", 1, 1, AGG, check_simple, lower_simple, V_MIN},
	{"max", 1, 1, AGG, check_simple, lower_simple, V_MAX},
	{"stats", 1, 1, AGG, check_simple, lower_simple, V_STATS},
	{"hist", 1, 2, AGG, check_hist, lower_hist, 0},
	{"lhist", 4, 4, AGG, check_lhist, lower_lhist, 0},
	{"tseries", 3, 4, AGG, check_tseries, lower_tseries, 0},
	{"delete", 1, 2, BUILTIN_MAPS | BUILTIN_EFFECT, check_delete, lower_delete, 0},
	{"has_key", 1, 2, BUILTIN_MAPS, check_has_key, lower_has_key, 0},
	{"len", 1, 1, BUILTIN_MAPS, check_len, lower_len, 0},
	{"find", 2, 3, BUILTIN_MAPS | BUILTIN_EFFECT, check_find, lower_find, 0},
	{"typeinfo", 1, 1, BUILTIN_WORDS, check_typeinfo, lower_typeinfo, 0},
	BUILTIN_END,
};
