// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Helpers that need nothing but maps and the executor itself. What programs get from the system
 * (time, pid, memory of others) is supplied by whoever runs them.
 */
#include <errno.h>
#include <string.h>

#include "code/vm.h"

static struct vm_map *map_of(uint64_t v)
{
	return (struct vm_map *)(uintptr_t)v;
}

static void *pointer(uint64_t v)
{
	return (void *)(uintptr_t)v;
}

static uint64_t number(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int vm_store_value(const struct vm_map *m, void *to, const void *value, uint64_t flags)
{
	if (!to)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	memcpy(to, value, m->value_size);
	return 0;
}

static uint64_t help_lookup(struct vm *vm, uint64_t map, uint64_t key, uint64_t c, uint64_t d,
			    uint64_t e)
{
	return number(map_of(map)->ops->lookup(map_of(map), pointer(key)));
}

static uint64_t help_update(struct vm *vm, uint64_t map, uint64_t key, uint64_t value,
			    uint64_t flags, uint64_t e)
{
	return (uint64_t)map_of(map)->ops->update(map_of(map), pointer(key), pointer(value), flags);
}

static uint64_t help_delete(struct vm *vm, uint64_t map, uint64_t key, uint64_t c, uint64_t d,
			    uint64_t e)
{
	return (uint64_t)map_of(map)->ops->remove(map_of(map), pointer(key));
}

/* Maps of the executor have one value, that of CPU 0, which holds what all have. */
static uint64_t help_lookup_percpu(struct vm *vm, uint64_t map, uint64_t key, uint64_t cpu,
				   uint64_t d, uint64_t e)
{
	struct vm_map *m = map_of(map);

	if (m->ops->lookup_cpu)
		return number(m->ops->lookup_cpu(m, pointer(key), (uint32_t)cpu));
	return (uint32_t)cpu ? 0 : number(m->ops->lookup(m, pointer(key)));
}

/* The kernel's takes 8 million rounds at most. Here a run's budget ends what would not end. */
static uint64_t help_loop(struct vm *vm, uint64_t nr, uint64_t func, uint64_t ctx, uint64_t flags,
			  uint64_t e)
{
	uint64_t n = 0;

	if (flags)
		return (uint64_t)-EINVAL;
	while (n < nr && !vm->rc)
		if (vm_call(vm, func, n++, ctx, 0, 0, 0))
			break;
	return n;
}

static uint64_t help_for_each(struct vm *vm, uint64_t map, uint64_t func, uint64_t ctx,
			      uint64_t flags, uint64_t e)
{
	struct vm_map *m = map_of(map);
	uint64_t at = 0, n = 0;
	const void *key;
	void *value;

	if (flags || !m->ops->next)
		return (uint64_t)-EINVAL;
	while (!vm->rc && m->ops->next(m, &at, &key, &value)) {
		n++;
		if (vm_call(vm, func, map, number(key), number(value), ctx, 0))
			break;
	}
	return n;
}

void vm_helpers(vm_helper *helpers)
{
	helpers[BPF_FUNC_map_lookup_elem] = help_lookup;
	helpers[BPF_FUNC_map_update_elem] = help_update;
	helpers[BPF_FUNC_map_delete_elem] = help_delete;
	helpers[BPF_FUNC_map_lookup_percpu_elem] = help_lookup_percpu;
	helpers[BPF_FUNC_loop] = help_loop;
	helpers[BPF_FUNC_for_each_map_elem] = help_for_each;
}
