// SPDX-License-Identifier: GPL-2.0-or-later
/* Maps: keys, entries, numbers that are spread over CPUs. */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "lang/lower/lower.h"

static bool per_cpu(const struct map_def *m)
{
	return m->kind == MAP_PERCPU_HASH || m->kind == MAP_PERCPU_LRU_HASH ||
	       m->kind == MAP_PERCPU_ARRAY;
}

/* A map without keys: the address of its value is known from the beginning. */
static bool is_fixed(const struct map_def *m)
{
	return m->kind == MAP_ARRAY && m->flagged;
}

uint32_t map_internal(struct lower *l, int *slot, const char *name, enum map_kind kind,
		      uint32_t value_size, uint32_t entries)
{
	struct map_def *m, **at;

	if (*slot >= 0)
		return (uint32_t)*slot;
	m = arena_alloc(&l->unit->arena, sizeof(*m));
	at = m ? vec_push(&l->unit->maps) : NULL;
	if (!at) {
		l->failed = true;
		return 0;
	}
	*at = m;
	*slot = (int)l->unit->maps.n - 1;
	m->name = name;
	m->number = (uint32_t)*slot;
	m->kind = kind;
	m->key_size = kind == MAP_RINGBUF || kind == MAP_PERF_RING ? 0 : 4;
	m->value_size = value_size;
	m->entries = entries;
	return m->number;
}

uint32_t map_keyed(struct lower *l, int *slot, const char *name, uint32_t key_size,
		   uint32_t value_size, uint32_t entries)
{
	const uint32_t map = map_internal(l, slot, name, MAP_HASH, value_size, entries);

	if (!l->failed)
		l->unit->maps.at[map]->key_size = key_size;
	return map;
}

/* ---- keys ---- */

static bool has_padding(const struct vtype *t)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < t->nr_elems; i++) {
		sum += t->elems[i].type->size;
		if (has_padding(t->elems[i].type))
			return true;
	}
	return t->nr_elems && sum != t->size;
}

ir_reg lower_key(struct lower *l, struct node *map)
{
	const struct map_def *m = map->map;
	struct node *k = map->list;
	struct value v = {0};
	struct mem to;

	if (!map->has_keys)
		return lower_zero_key(l);
	to = mem_alloc(l, m->key_size);
	if (has_padding(&m->key))
		mem_zero(l, to, m->key_size);
	if (!k->next) {
		lower_into(l, k, &m->key, to, &v);
		return mem_address(l, to);
	}
	for (uint32_t i = 0; k; k = k->next, i++) {
		const struct velem *e = &m->key.elems[i];

		v = (struct value){0};
		lower_into(l, k, e->type, mem_at(to, e->offset), &v);
	}
	return mem_address(l, to);
}

ir_reg map_lookup(struct lower *l, uint32_t map, struct mem key)
{
	const ir_reg m = ir_map(l->f, map);

	return IR_CALL(l->f, BPF_FUNC_map_lookup_elem, m, mem_address(l, key));
}

ir_reg map_update(struct lower *l, uint32_t map, struct mem key, struct mem value, int64_t flags)
{
	const ir_reg m = ir_map(l->f, map), k = mem_address(l, key), v = mem_address(l, value);

	return IR_CALL(l->f, BPF_FUNC_map_update_elem, m, k, v, ir_const(l->f, flags));
}

/* The entry of a key whose address is known. */
static ir_reg lookup(struct lower *l, const struct map_def *m, ir_reg key)
{
	return map_lookup(l, m->number, (struct mem){key, 0});
}

/* Counts an entry that did not fit, or that the kernel had no memory for. */
static void count_full(struct lower *l, const struct map_def *m, ir_reg rc)
{
	const uint32_t full = map_internal(l, &l->unit->full, "full", MAP_ARRAY, 8, 1);
	const uint32_t first = m->number * FULL_REASONS;
	const ir_label fits = ir_new_label(l->f), end = ir_new_label(l->f);
	struct map_def *def = l->unit->maps.at[full];

	if (def->value_size < (first + FULL_REASONS) * 8)
		def->value_size = (first + FULL_REASONS) * 8;
	ir_branch_const(l->f, IR_NE, rc, -E2BIG, fits);
	ir_add_atomic(l->f, ir_map_value(l->f, full, (first + FULL_ENTRIES) * 8), 0, 8,
		      ir_const(l->f, 1));
	ir_jump(l->f, end);
	ir_place(l->f, fits);
	ir_add_atomic(l->f, ir_map_value(l->f, full, (first + FULL_MEMORY) * 8), 0, 8,
		      ir_const(l->f, 1));
	ir_place(l->f, end);
}

static void update(struct lower *l, const struct map_def *m, ir_reg key, struct mem value,
		   int64_t flags)
{
	const ir_label good = ir_new_label(l->f);
	const ir_reg rc = map_update(l, m->number, (struct mem){key, 0}, value, flags);

	ir_branch_const(l->f, IR_EQ, rc, 0, good);
	/* Another CPU has just made the same entry. */
	if (flags == BPF_NOEXIST)
		ir_branch_const(l->f, IR_EQ, rc, -EEXIST, good);
	lower_result(l, BPF_FUNC_map_update_elem, rc);
	count_full(l, m, rc);
	ir_place(l->f, good);
}

ir_reg map_entry(struct lower *l, struct node *map, ir_label none)
{
	const struct map_def *m = map->map;
	const ir_label found = ir_new_label(l->f);
	const ir_reg p = ir_new(l->f);
	struct mem zero;
	ir_reg key;

	if (is_fixed(m)) {
		ir_store_const(l->f, ir_map_value(l->f, m->number, 0), 0, 8, 1);
		return ir_map_value(l->f, m->number, 8);
	}
	key = lower_key(l, map);
	ir_set(l->f, p, lookup(l, m, key));
	if (m->flagged) {
		ir_branch_const(l->f, IR_EQ, p, 0, none);
		ir_store_const(l->f, p, 0, 8, 1);
		return ir_binary_const(l->f, IR_ADD, p, 8);
	}
	ir_branch_const(l->f, IR_NE, p, 0, found);
	zero = mem_alloc(l, m->value_size);
	mem_zero(l, zero, m->value_size);
	update(l, m, key, zero, BPF_NOEXIST);
	ir_set(l->f, p, lookup(l, m, key));
	ir_branch_const(l->f, IR_EQ, p, 0, none);
	ir_place(l->f, found);
	return p;
}

/* ---- numbers over all CPUs ---- */

enum ir_cond map_not_better(bool least, bool is_signed)
{
	if (least)
		return is_signed ? IR_SGE : IR_UGE;
	return is_signed ? IR_SLE : IR_ULE;
}

/* Adds the part of one CPU: `sum` and `count` of averages, the better value of min and max. */
static void join_cpu(struct lower *l, const struct map_def *m, ir_reg p, ir_reg sum, ir_reg count)
{
	const int64_t at = m->flagged ? 8 : 0;
	const ir_label keep = ir_new_label(l->f), take = ir_new_label(l->f);
	ir_reg v;

	switch (m->value.kind) {
	case V_AVG:
	case V_STATS:
		ir_set(l->f, count, ir_binary(l->f, IR_ADD, count, ir_load(l->f, p, at, 8, false)));
		ir_set(l->f, sum, ir_binary(l->f, IR_ADD, sum, ir_load(l->f, p, at + 8, 8, false)));
		break;
	case V_MIN:
	case V_MAX:
		ir_branch_const(l->f, IR_EQ, ir_load(l->f, p, at + 8, 8, false), 0, keep);
		v = ir_load(l->f, p, at, 8, false);
		ir_branch_const(l->f, IR_EQ, count, 0, take);
		ir_branch(l->f, map_not_better(m->value.kind == V_MIN, m->value.is_signed), v, sum,
			  keep);
		ir_place(l->f, take);
		ir_set(l->f, sum, v);
		ir_set_const(l->f, count, 1);
		break;
	default: ir_set(l->f, sum, ir_binary(l->f, IR_ADD, sum, ir_load(l->f, p, at, 8, false)));
	}
	ir_place(l->f, keep);
}

ir_reg map_number(struct lower *l, const struct map_def *m, ir_reg key)
{
	const ir_label again = ir_new_label(l->f), next = ir_new_label(l->f);
	const ir_reg sum = ir_new(l->f), count = ir_new(l->f), cpu = ir_new(l->f);
	const bool by_cpu = per_cpu(m) && compile_has(l->features, FEATURE_PERCPU_ELEM);
	ir_reg p;

	ir_set_const(l->f, sum, 0);
	ir_set_const(l->f, count, 0);
	ir_set_const(l->f, cpu, 0);
	ir_place(l->f, again);
	if (by_cpu)
		p = IR_CALL(l->f, BPF_FUNC_map_lookup_percpu_elem, ir_map(l->f, m->number), key,
			    cpu);
	else
		p = lookup(l, m, key);
	ir_branch_const(l->f, IR_EQ, p, 0, next);
	join_cpu(l, m, p, sum, count);
	ir_place(l->f, next);
	if (by_cpu) {
		/* One more than there are CPUs: the last part is that of programs in user space. */
		ir_set(l->f, cpu, ir_binary_const(l->f, IR_ADD, cpu, 1));
		ir_branch_const(l->f, IR_ULE, cpu, l->c->opt->nr_cpus, again);
	}
	if (m->value.kind == V_AVG || m->value.kind == V_STATS)
		return ir_binary(l->f, m->value.is_signed ? IR_SDIV : IR_UDIV, sum, count);
	return sum;
}

/* ---- reading and writing ---- */

/* Reads a value of the map: a number, or a copy that does not change any more. */
static void read_place(struct lower *l, const struct map_def *m, struct mem at, struct value *v,
		       ir_reg r, struct mem copy)
{
	if (vtype_is_number(&m->value))
		ir_set(l->f, r, mem_load_as(l, at, &m->value));
	else
		mem_copy(l, copy, at, m->value.size);
}

void map_read(struct lower *l, struct node *n, struct value *v)
{
	const struct map_def *m = n->map;
	const bool number = vtype_is_number(&m->value);
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f);
	struct mem copy = {0, 0};
	ir_reg p;

	v->type = m->value;
	if (vtype_is_aggregation(&m->value)) {
		set_number(v, map_number(l, m, lower_key(l, n)));
		v->type = vtype_int(8, m->value.is_signed);
		return;
	}
	ir_set_const(l->f, r, 0);
	if (!number) {
		copy = mem_result(l, v, m->value.size);
		mem_zero(l, copy, m->value.size);
	}
	if (is_fixed(m)) {
		read_place(l, m, (struct mem){ir_map_value(l->f, m->number, 0), 8}, v, r, copy);
	} else {
		p = ir_new(l->f);
		ir_set(l->f, p, lookup(l, m, lower_key(l, n)));
		lower_result(l, BPF_FUNC_map_lookup_elem, p);
		ir_branch_const(l->f, IR_EQ, p, 0, none);
		read_place(l, m, (struct mem){p, m->flagged ? 8 : 0}, v, r, copy);
	}
	ir_place(l->f, none);
	if (number)
		set_number(v, r);
	else
		set_memory(v, copy);
	/* This is a copy of the struct. */
	if (v->type.kind == V_STRUCT)
		v->type.space = SPACE_OWN;
}

ir_reg map_address(struct lower *l, struct node *map)
{
	const struct map_def *m = map->map;
	const ir_label none = ir_new_label(l->f);
	const ir_reg r = ir_new(l->f), p = ir_new(l->f);

	if (is_fixed(m))
		return ir_map_value(l->f, m->number, 8);
	ir_set_const(l->f, r, 0);
	ir_set(l->f, p, lookup(l, m, lower_key(l, map)));
	ir_branch_const(l->f, IR_EQ, p, 0, none);
	ir_set(l->f, r, ir_binary_const(l->f, IR_ADD, p, m->flagged ? 8 : 0));
	ir_place(l->f, none);
	return r;
}

void map_store(struct lower *l, struct node *map, ir_reg v)
{
	const struct map_def *m = map->map;
	struct mem to;
	ir_reg key;

	if (is_fixed(m)) {
		ir_store_const(l->f, ir_map_value(l->f, m->number, 0), 0, 8, 1);
		ir_store(l->f, ir_map_value(l->f, m->number, 8), 0, m->value.size, v);
		return;
	}
	key = lower_key(l, map);
	to = mem_alloc(l, m->value_size);
	if (m->value_size != m->value.size)
		mem_zero(l, to, m->value_size);
	if (m->flagged)
		mem_store_const(l, to, 8, 1);
	mem_store(l, mem_at(to, m->flagged ? 8 : 0), m->value.size, v);
	update(l, m, key, to, BPF_ANY);
}

void map_assign(struct lower *l, struct node *map, struct node *n)
{
	const struct map_def *m = map->map;
	struct value v = {0};
	struct mem to;

	if (vtype_is_number(&m->value)) {
		map_store(l, map, lower_number(l, n));
		return;
	}
	/* The value is computed first: it may depend on the old one. */
	to = mem_alloc(l, m->value_size);
	if (m->value_size != m->value.size)
		mem_zero(l, to, m->value_size);
	lower_into(l, n, &m->value, to, &v);
	if (is_fixed(m)) {
		ir_store_const(l->f, ir_map_value(l->f, m->number, 0), 0, 8, 1);
		mem_copy(l, (struct mem){ir_map_value(l->f, m->number, 0), 8}, to, m->value.size);
	} else {
		update(l, m, lower_key(l, map), to, BPF_ANY);
	}
}

/* A new entry begins with 0: another CPU may be creating it, too. */
void map_step(struct lower *l, struct node *map, ir_reg by, struct value *before,
	      struct value *after)
{
	const ir_label none = ir_new_label(l->f);
	const ir_reg old = ir_new(l->f);
	ir_reg p;

	ir_set_const(l->f, old, 0);
	p = map_entry(l, map, none);
	ir_set(l->f, old, ir_load(l->f, p, 0, 8, false));
	ir_add_atomic(l->f, p, 0, 8, by);
	ir_place(l->f, none);
	set_number(before, old);
	set_number(after, ir_binary(l->f, IR_ADD, old, by));
}

/* ---- late maps: entries are allocated when they are needed ---- */

/*
 * Allocating an entry while interrupts are off uses the few free ones that the kernel has, and it
 * cannot get more before interrupts are on again. Whether programs always run with interrupts on:
 */
static bool is_interruptible(const struct probe_target *t)
{
	if (t->type == PT_TRACEPOINT)
		return t->system && (strcmp(t->system, "raw_syscalls") == 0 ||
				     strcmp(t->system, "syscalls") == 0);
	return t->type <= PT_INTERVAL || t->type == PT_UPROBE || t->type == PT_URETPROBE ||
	       t->type == PT_USDT || t->type == PT_ITER;
}

static void fill_before(struct unit *u, const struct unit_prog *p)
{
	for (size_t i = 0; i < p->ir.funcs.n; i++) {
		const struct ir_func *f = p->ir.funcs.at[i];

		vec_each (insn, &f->code)
			if (insn->op == IR_MAP && (size_t)insn->imm < u->maps.n)
				u->maps.at[insn->imm]->late = false;
	}
}

void lower_mark_late_maps(struct unit *u)
{
	enum {
		SMALL = 64
	}; /* for larger per-CPU values the kernel has only one or two free ones */

	vec_each (m, &u->maps)
		(*m)->late = !(*m)->declared &&
			     ((*m)->kind == MAP_HASH ||
			      ((*m)->kind == MAP_PERCPU_HASH && (*m)->value_size <= SMALL));
	vec_each (p, &u->probes)
		if (u->progs.at[p->prog].runs == RUNS_IN_KERNEL && !is_interruptible(p->target))
			fill_before(u, &u->progs.at[p->prog]);
}
