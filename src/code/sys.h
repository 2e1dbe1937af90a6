/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf(2) and perf_event_open(2), which the C library does not wrap. Everything returns a negative
 * errno when it fails; descriptors are closed on exec.
 */
#ifndef CODE_SYS_H
#define CODE_SYS_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_event_attr;

/* An instruction by its parts: code, destination, source, offset, immediate operand. */
#define INSN(c, d, s, o, i)                                                                        \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})

/* The system call, for requests without a function below. */
int sys_bpf(int cmd, const void *attr, size_t size);

struct sys_map {
	uint32_t type; /* BPF_MAP_TYPE_… */
	uint32_t key_size, value_size, entries, flags;
	const char *name; /* characters that the kernel does not accept are replaced; or NULL */
};

int sys_map_create(const struct sys_map *m);
int sys_map_lookup(int fd, const void *key, void *value);
int sys_map_update(int fd, const void *key, const void *value, uint64_t flags);
int sys_map_delete(int fd, const void *key);
/* The key after `key`, or the first one when that is NULL; -ENOENT at the end. */
int sys_map_next(int fd, const void *key, void *next);
/*
 * Many entries at once. in: where the call before left off, NULL at the beginning; out: where this
 * one did. -ENOENT: these (*count) were the last ones. -EINVAL or -ENOTSUPP: the kernel cannot.
 */
int sys_map_lookup_batch(int fd, const void *in, void *out, void *keys, void *values,
			 uint32_t *count);
/* Programs can no longer write it from user space. */
int sys_map_freeze(int fd);

struct sys_prog {
	uint32_t type; /* BPF_PROG_TYPE_… */
	uint32_t attach_type, attach_btf_id;
	int attach_btf_fd; /* of the module that the id is of; 0: the kernel */
	const struct bpf_insn *insns;
	size_t nr;
	const char *license, *name;
	int btf_fd; /* with functions, 0: none */
	const struct bpf_func_info *funcs;
	uint32_t nr_funcs;
	char *log; /* or NULL */
	uint32_t log_size;
};

int sys_prog_load(const struct sys_prog *p);
int sys_btf_load(const void *data, size_t size);
/* The kernel's BTF of a module: a descriptor. */
int sys_btf_of_module(const char *module);
int sys_raw_tracepoint_open(const char *name, int prog);
/* fentry and its relatives, iterators. */
int sys_link_create(int prog, int target, uint32_t attach_type);
int sys_iter_create(int link);
/* Runs a raw tracepoint program with these arguments; *result is its return value. */
int sys_prog_test_run(int prog, const void *ctx, uint32_t ctx_size, uint32_t *result);

/* Before kernel 5.11 maps count as locked memory: raises that limit as far as possible. */
void sys_raise_memlock(void);

/* Fills in the size of attr. */
int sys_perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
			unsigned long flags);

/* How many values a per-CPU map has for a key: all CPUs that there could ever be. At least 1. */
unsigned int sys_possible_cpus(void);

/* ---- programs in the kernel, of any process, and what describes them ---- */

/* The functions of a program: its own first, then those that it calls. */
struct prog_functions {
	uint32_t btf; /* number of the BTF that describes them; 0: nothing does */
	uint32_t *types;
	size_t n;
};

/* The program after *id, 0 for the first; -ENOENT at the end. */
int progs_next(uint32_t *id);

/* A descriptor of it. */
int progs_open(uint32_t id);

/* types is freed by the caller. */
int progs_functions(int fd, struct prog_functions *to);

/* The bytes of a BTF in the kernel; freed by the caller. */
int progs_btf(uint32_t id, void **data, size_t *size);

#endif
