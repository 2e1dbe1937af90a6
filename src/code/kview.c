// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps of the kernel as the executor's programs see them; kmap.h describes what is shared and what
 * is copied.
 *
 * A copy stays where it is until the program has ended (kview_flush()): looking a key up twice
 * gives the same memory, as it would in the kernel.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/vec.h"
#include "code/kview.h"
#include "code/sys.h"

/* ---- adding to a number ---- */

/*
 * Adds to a number in a map of the kernel that programs there may change at the same time: user
 * space can only read and write whole values. So a program of a few instructions in the kernel does
 * it, on demand. Its key and the number to add are in a map of its own.
 */

#define KEY_AT 8 /* after what is to be added */

static int load_adder(int map, int step)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_6, BPF_PSEUDO_MAP_VALUE, 0, step),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_6, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, KEY_AT),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_6, 0, 0),
		INSN(BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0, BPF_ADD),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return sys_prog_load(&(struct sys_prog){.type = BPF_PROG_TYPE_RAW_TRACEPOINT,
						.insns = insns,
						.nr = ARRAY_SIZE(insns),
						.license = "GPL",
						.name = "add"});
}

static void open_adder(struct kview *v)
{
	v->adder.tried = true;
	v->adder.step = sys_map_create(&(struct sys_map){.type = BPF_MAP_TYPE_ARRAY,
							 .key_size = sizeof(uint32_t),
							 .value_size = KEY_AT + v->base.key_size,
							 .entries = 1,
							 .name = "add"});
	v->adder.prog = v->adder.step < 0 ? -1 : load_adder(v->map->fd, v->adder.step);
}

static bool add_in_kernel(struct kview *v, const void *key, uint64_t by)
{
	const uint32_t first = 0;
	uint8_t *step;
	uint32_t result;
	bool done;

	if (!v->adder.tried)
		open_adder(v);
	step = v->adder.prog < 0 ? NULL : malloc(KEY_AT + (size_t)v->base.key_size);
	if (!step)
		return false;
	memcpy(step, &by, sizeof(by));
	memcpy(step + KEY_AT, key, v->base.key_size);
	done = !sys_map_update(v->adder.step, &first, step, BPF_ANY) &&
	       !sys_prog_test_run(v->adder.prog, NULL, 0, &result);
	free(step);
	return done;
}

/* Adds to the number of an entry, if that is there. */
static void add_to_number(struct kview *v, const void *key, uint64_t by)
{
	uint64_t now;

	/* Kernels that cannot run it on demand: concurrent additions are lost. */
	if (!add_in_kernel(v, key, by) && !sys_map_lookup(v->map->fd, key, &now)) {
		now += by;
		sys_map_update(v->map->fd, key, &now, BPF_EXIST);
	}
}

static void close_adder(struct kview *v)
{
	if (!v->adder.tried)
		return;
	if (v->adder.prog >= 0)
		close(v->adder.prog);
	if (v->adder.step >= 0)
		close(v->adder.step);
}

/* ---- values ---- */

static struct kview *view_of(struct vm_map *m)
{
	return (struct kview *)m;
}

/* ---- maps with one value: copies ---- */

/* The copy of a value; after it is what it was when it was copied. */
static void *copied_lookup(struct vm_map *map, const void *key)
{
	struct kview *v = view_of(map);
	uint8_t *copy = umap_lookup(v->own, key);

	if (copy)
		return copy;
	memset(v->values, 0, 2 * v->map->stride);
	if (sys_map_lookup(v->map->fd, key, v->values))
		return NULL;
	memcpy(v->values + v->map->stride, v->values, v->map->stride);
	if (umap_update(v->own, key, v->values, BPF_ANY))
		return NULL;
	return umap_lookup(v->own, key);
}

static int copied_update(struct vm_map *map, const void *key, const void *value, uint64_t flags)
{
	struct kview *v = view_of(map);
	const int rc = sys_map_update(v->map->fd, key, value, flags);
	uint8_t *copy = rc ? NULL : umap_lookup(v->own, key);

	if (copy) {
		memcpy(copy, value, map->value_size);
		memcpy(copy + v->map->stride, value, map->value_size);
	}
	return rc;
}

static int copied_delete(struct vm_map *map, const void *key)
{
	struct kview *v = view_of(map);

	if (!kmap_is_array(v->map))
		umap_delete(v->own, key);
	return sys_map_delete(v->map->fd, key);
}

/* ---- loops ---- */

/*
 * *at: the snapshot's number from 1 on in the upper half, the number of the key in the lower one.
 */
static bool view_next(struct vm_map *map, uint64_t *at, const void **key, void **value)
{
	struct kview *v = view_of(map);
	struct keys *s;

	if (!*at) {
		s = vec_push(&v->snapshots);
		if (s)
			s->at = kmap_keys(v->map, &s->n);
		if (!s || !s->at)
			return false;
		*at = (uint64_t)v->snapshots.n << 32;
	}
	s = &v->snapshots.at[(*at >> 32) - 1];
	while ((uint32_t)*at < s->n) {
		*key = s->at + (size_t)(uint32_t)*at * map->key_size;
		++*at;
		*value = map->ops->lookup(map, *key);
		if (*value)
			return true;
	}
	return false;
}

static void *mapped_value(struct vm_map *map)
{
	return view_of(map)->map->mapped;
}

static const struct vm_map_ops copied_ops = {
	.lookup = copied_lookup,
	.update = copied_update,
	.remove = copied_delete,
	.next = view_next,
	.value = mapped_value,
};

/* ---- mapped arrays ---- */

static void *mapped_lookup(struct vm_map *map, const void *key)
{
	uint32_t index;

	memcpy(&index, key, sizeof(index));
	return index ? NULL : view_of(map)->map->mapped;
}

static int mapped_update(struct vm_map *map, const void *key, const void *value, uint64_t flags)
{
	return vm_store_value(map, mapped_lookup(map, key), value, flags);
}

static const struct vm_map_ops mapped_ops = {
	.lookup = mapped_lookup,
	.update = mapped_update,
	.remove = vm_refuse_removal,
	.next = view_next,
	.value = mapped_value,
};

/* ---- per-CPU maps: a value of our own ---- */

static void *own_lookup(struct vm_map *map, const void *key)
{
	struct kview *v = view_of(map);
	void *own = umap_lookup(v->own, key);

	if (own || sys_map_lookup(v->map->fd, key, v->values))
		return own;
	/* The kernel has the entry, so it exists; our part of it begins with zeros. */
	memset(v->values, 0, v->map->stride);
	return umap_update(v->own, key, v->values, BPF_ANY) ? NULL : umap_lookup(v->own, key);
}

static int own_update(struct vm_map *map, const void *key, const void *value, uint64_t flags)
{
	const bool there = flags != BPF_ANY && own_lookup(map, key);

	if (flags == BPF_NOEXIST && there && !kmap_is_array(view_of(map)->map))
		return -EEXIST;
	if (flags == BPF_EXIST && !there)
		return -ENOENT;
	return umap_update(view_of(map)->own, key, value, BPF_ANY);
}

static int own_delete(struct vm_map *map, const void *key)
{
	return kmap_is_array(view_of(map)->map) ? -EINVAL : kmap_delete(view_of(map)->map, key);
}

/* CPUs of the kernel first; the one after the last is the executor. */
static void *own_lookup_cpu(struct vm_map *map, const void *key, uint32_t cpu)
{
	struct kview *v = view_of(map);

	if (cpu == v->map->cpus)
		return umap_lookup(v->own, key);
	if (cpu > v->map->cpus)
		return NULL;
	/* An entry that only we have is one of zeros in the kernel. */
	if (sys_map_lookup(v->map->fd, key, v->values)) {
		if (!umap_lookup(v->own, key))
			return NULL;
		memset(v->values, 0, v->map->cpus * v->map->stride);
	}
	return v->values + cpu * v->map->stride;
}

static const struct vm_map_ops own_ops = {
	.lookup = own_lookup,
	.update = own_update,
	.remove = own_delete,
	.next = view_next,
	.lookup_cpu = own_lookup_cpu,
};

/* ---- stack traces and ring buffers: only their helpers use them ---- */

static void *no_lookup(struct vm_map *map, const void *key)
{
	return NULL;
}

static int no_update(struct vm_map *map, const void *key, const void *value, uint64_t flags)
{
	return -EINVAL;
}

static const struct vm_map_ops no_ops = {
	.lookup = no_lookup,
	.update = no_update,
	.remove = vm_refuse_removal,
};

/* ---- making ---- */

static const struct vm_map_ops *ops_for(const struct kmap *m)
{
	if (m->def->kind == MAP_RINGBUF || m->def->kind == MAP_PERF_RING ||
	    m->def->kind == MAP_STACK_TRACE || m->def->kind == MAP_BUILD_IDS)
		return &no_ops;
	if (kmap_is_percpu(m))
		return &own_ops;
	return m->mapped ? &mapped_ops : &copied_ops;
}

struct kview *kview_new(struct kmap *m)
{
	struct map_def own = *m->def;
	struct kview *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->map = m;
	v->base = (struct vm_map){
		.ops = ops_for(m),
		.key_size = kmap_is_array(m) ? sizeof(uint32_t) : m->def->key_size,
		.value_size = m->def->value_size,
		.entries = m->def->entries,
		.number = m->def->number,
	};
	if (v->base.ops == &own_ops || v->base.ops == &copied_ops) {
		if (v->base.ops == &copied_ops) {
			/* Room for the copy and what it was; also arrays are copied by key. */
			own.kind = MAP_HASH;
			own.key_size = v->base.key_size;
			own.value_size = (uint32_t)(2 * m->stride);
			own.flagged = false;
		}
		own.content = NULL;
		v->own = umap_new(&own);
		v->values = calloc(m->cpus + 2, m->stride);
		if (!v->own || !v->values) {
			kview_free(v);
			return NULL;
		}
	}
	return v;
}

void kview_free(struct kview *v)
{
	if (!v)
		return;
	vec_each (s, &v->snapshots)
		free(s->at);
	vec_free(&v->snapshots);
	close_adder(v);
	umap_free(v->own);
	free(v->values);
	free(v);
}

/*
 * Programs write whole values by updates, which are in the kernel already. In place they only add
 * to numbers: so only the difference is added.
 */
static void bring_back(struct kview *v, const void *key, const uint8_t *value)
{
	uint64_t now, before;

	if (v->base.value_size != sizeof(now) || v->map->def->flagged) {
		sys_map_update(v->map->fd, key, value, BPF_EXIST);
		return;
	}
	memcpy(&now, value, sizeof(now));
	memcpy(&before, value + v->map->stride, sizeof(before));
	add_to_number(v, key, now - before);
}

void kview_flush(struct kview *v)
{
	const size_t size = v->base.value_size;
	const void *key;
	void *value;
	uint64_t at = 0;

	vec_each (s, &v->snapshots)
		free(s->at);
	v->snapshots.n = 0;
	if (v->base.ops != &copied_ops || !v->own->nr)
		return;
	while (umap_next(v->own, &at, &key, &value))
		if (memcmp(value, (uint8_t *)value + v->map->stride, size))
			bring_back(v, key, value);
	umap_clear(v->own);
}
