/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spur's own executor of eBPF: the programs of a script that do not run in the kernel, and all of
 * them over a recorded file.
 *
 * Instructions are decoded once. The executor trusts what bpf_emit() makes, which reads and writes
 * only its frame, values of maps and the context; it guards against what data can cause: a context
 * that is shorter than the program expects reads as 0, a loop without end runs out of its budget,
 * calls back have a depth. Helpers check addresses that come from data with vm_own().
 */
#ifndef CODE_VM_H
#define CODE_VM_H

#include <stddef.h>

#include "code/code.h"

struct vm;

typedef uint64_t (*vm_helper)(struct vm *vm, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
			      uint64_t e);

/* ---- maps: umap.h, kview.h ---- */

struct vm_map;

struct vm_map_ops {
	/*
	 * The value, in the map itself or in memory that stays until the program ends; NULL: none.
	 */
	void *(*lookup)(struct vm_map *m, const void *key);
	/* Flags are the kernel's: BPF_ANY, BPF_NOEXIST, BPF_EXIST. 0 or a negative errno. */
	int (*update)(struct vm_map *m, const void *key, const void *value, uint64_t flags);
	int (*remove)(struct vm_map *m, const void *key);
	/*
	 * Iterates over entries; *at is 0 before the first. Entries that are removed meanwhile are
	 * not visited.
	 */
	bool (*next)(struct vm_map *m, uint64_t *at, const void **key, void **value);
	/*
	 * The value of one CPU of a per-CPU map; NULL: no such CPU, or no such entry. May be
	 * missing.
	 */
	void *(*lookup_cpu)(struct vm_map *m, const void *key, uint32_t cpu);
	/* The value of an array's entry 0, where it stays; NULL when that cannot be. */
	void *(*value)(struct vm_map *m);
};

struct vm_map {
	const struct vm_map_ops *ops;
	uint32_t key_size, value_size, entries;
	uint32_t number; /* of the unit's map */
};

/* Writes an array's value (NULL: there is none), as the kernel does with these flags. */
int vm_store_value(const struct vm_map *m, void *to, const void *value, uint64_t flags);

/* Of maps whose entries cannot be removed: -EINVAL. */
int vm_refuse_removal(struct vm_map *m, const void *key);

/* ---- programs ---- */

/* The kernel permits 8 nested functions; some of spur's helpers need one more. */
enum { VM_HELPERS = 256, VM_DEPTH = 10 };

/*
 * Helpers that only this executor has, numbered from the end: the kernel's own are from 1 on.
 * VM_HELPER_COMM: the name of the task of number c, in b bytes at a. VM_HELPER_TASK: a fact about
 * the current task from the recording, by enum ir_task_fact; a name is written to the 16 bytes at
 * b.
 */
enum { VM_HELPER_COMM = VM_HELPERS - 1, VM_HELPER_TASK = VM_HELPERS - 2 };

/* The objects that instructions refer to. */
struct vm_links {
	const vm_helper *helpers; /* VM_HELPERS entries, NULL: there is none */
	struct vm_map **maps;	  /* by number */
	size_t nr_maps;
	bool shared; /* the kernel writes the maps, too: additions must be atomic */
};

struct vm_prog;

/* -ENOSYS when a helper is missing; *at (may be NULL) is then the statement. */
int vm_decode(const struct bpf_code *code, const struct vm_links *links, struct vm_prog **out,
	      struct span *at, struct spur_error *err);
void vm_prog_free(struct vm_prog *p);

/* ---- running ---- */

struct vm {
	void *env;	 /* of the supplier of the helpers */
	const void *ctx; /* as the program sees it, and how much of it there is */
	size_t ctx_size;
	uint64_t budget;	  /* instructions in loops that a run may execute … */
	bool (*go_on)(void *env); /* … before this decides whether it may continue; or NULL */
	int rc;			  /* not 0: the program ends as soon as the helper has returned */

	/* ---- private ---- */
	uint64_t left;
	unsigned int depth;
	uint8_t *pad;
	size_t pad_size;
	_Alignas(16) uint8_t stack[VM_DEPTH][BPF_STACK_LIMIT];
};

#define VM_BUDGET 100000000ull

void vm_init(struct vm *vm, void *env);
void vm_free(struct vm *vm);

/*
 * Runs a program. 0 with its result, or a negative errno: -ELOOP if it runs too long, -EOVERFLOW if
 * calls are nested too deeply, or the error that a helper has set in vm->rc.
 */
int vm_run(struct vm *vm, const struct vm_prog *p, const void *ctx, size_t ctx_size,
	   uint64_t *result);

/* For helpers that call back: func is what the program gave them. Returns 0 once vm->rc is set. */
uint64_t vm_call(struct vm *vm, uint64_t func, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		 uint64_t e);

/* Whether n bytes at an address are in the context or on the program's stack. */
bool vm_own(const struct vm *vm, uint64_t address, size_t n);

/* Fills in the helpers that only need maps and the executor: map_*, loop, for_each_map_elem. */
void vm_helpers(vm_helper *helpers);

#endif
