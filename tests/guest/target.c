// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Loads a BPF program for others to look into, and lets it run until it is killed: spur_target, at
 * the beginning of each system call, calls spur_helper with 7, which returns 8. "target NUMBER"
 * loads it so often. Its types are described to the kernel. When all is loaded it says "ready".
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAMES "\0u64\0int\0ctx\0n\0spur_target\0spur_helper"
enum { NAME_U64 = 1, NAME_INT = 5, NAME_CTX = 9, NAME_N = 13, NAME_TARGET = 15, NAME_HELPER = 27 };
enum { U64 = 1, INT, POINTER, PROTO_TARGET, TARGET, PROTO_HELPER, HELPER };

#define INFO(kind, n) ((uint32_t)(kind) << 24 | (n))

static const struct {
	struct btf_header head;
	struct btf_type u64;
	uint32_t u64_bits;
	struct btf_type integer;
	uint32_t int_bits;
	struct btf_type pointer;
	struct btf_type proto_target;
	struct btf_param ctx;
	struct btf_type target;
	struct btf_type proto_helper;
	struct btf_param n;
	struct btf_type helper;
	char names[sizeof(NAMES)];
} __attribute__((packed)) types = {
	.head = {.magic = BTF_MAGIC,
		 .version = BTF_VERSION,
		 .hdr_len = sizeof(struct btf_header),
		 .type_len = 7 * sizeof(struct btf_type) + 2 * sizeof(uint32_t) +
			     2 * sizeof(struct btf_param),
		 .str_off = 7 * sizeof(struct btf_type) + 2 * sizeof(uint32_t) +
			    2 * sizeof(struct btf_param),
		 .str_len = sizeof(NAMES)},
	.u64 = {NAME_U64, INFO(BTF_KIND_INT, 0), {8}},
	.u64_bits = 64,
	.integer = {NAME_INT, INFO(BTF_KIND_INT, 0), {4}},
	.int_bits = BTF_INT_SIGNED << 24 | 32,
	.pointer = {0, INFO(BTF_KIND_PTR, 0), {0}},
	.proto_target = {0, INFO(BTF_KIND_FUNC_PROTO, 1), {INT}},
	.ctx = {NAME_CTX, POINTER},
	.target = {NAME_TARGET, INFO(BTF_KIND_FUNC, BTF_FUNC_GLOBAL), {PROTO_TARGET}},
	.proto_helper = {0, INFO(BTF_KIND_FUNC_PROTO, 1), {U64}},
	.n = {NAME_N, U64},
	.helper = {NAME_HELPER, INFO(BTF_KIND_FUNC, BTF_FUNC_STATIC), {PROTO_HELPER}},
	.names = NAMES,
};

static const struct bpf_insn code[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 7},
	{.code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = 2},
	{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 0},
	{.code = BPF_JMP | BPF_EXIT},
	{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 0, .src_reg = 1},
	{.code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 0, .imm = 1},
	{.code = BPF_JMP | BPF_EXIT},
};

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int run_one(void)
{
	const struct bpf_func_info functions[] = {{0, TARGET}, {4, HELPER}};
	union bpf_attr attr = {.btf = (uint64_t)(uintptr_t)&types, .btf_size = sizeof(types)};
	const int btf = bpf(BPF_BTF_LOAD, &attr);
	int prog;

	if (btf < 0)
		return btf;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = sizeof(code) / sizeof(code[0]);
	attr.license = (uint64_t)(uintptr_t) "GPL";
	memcpy(attr.prog_name, "spur_target", sizeof("spur_target"));
	attr.prog_btf_fd = (uint32_t)btf;
	attr.func_info = (uint64_t)(uintptr_t)functions;
	attr.func_info_cnt = 2;
	attr.func_info_rec_size = sizeof(functions[0]);
	prog = bpf(BPF_PROG_LOAD, &attr);
	if (prog < 0)
		return prog;
	memset(&attr, 0, sizeof(attr));
	attr.raw_tracepoint.name = (uint64_t)(uintptr_t) "sys_enter";
	attr.raw_tracepoint.prog_fd = (uint32_t)prog;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? strtol(argv[1], NULL, 10) : 1;

	for (long i = 0; i < n; i++) {
		if (run_one() < 0) {
			fprintf(stderr, "target: %s\n", strerror(errno));
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		usleep(10000);
}
