/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoded programs; private to vm*.c. */
#ifndef CODE_VM_PARTS_H
#define CODE_VM_PARTS_H

#include "code/vm.h"

/* Operations beside those that are numbered as eBPF numbers them. */
enum {
	VM_LOAD_IMM = 256, /* dst = imm */
	VM_SDIV_K,
	VM_SDIV_X,
	VM_SMOD_K,
	VM_SMOD_X,
	VM_SWAP16,
	VM_SWAP32,
	VM_SWAP64,
	VM_LOW16, /* byte order is the host's: only the rest is cut off */
	VM_LOW32,
	VM_ADD32, /* memory += src, not atomic */
	VM_ADD64,
	VM_OPS
};

struct vm_insn {
	uint16_t op;
	uint8_t dst, src;
	int32_t off;  /* of memory, or of a jump in decoded instructions */
	uint64_t imm; /* also the helper's function */
};

struct vm_prog {
	size_t nr;
	uint32_t ctx_end;
	struct vm_insn insns[];
};

/*
 * Runs from an instruction up to the exit, with args in r1 to r5, and returns r0. Without a vm
 * nothing runs, and it returns whether the instruction is one that it knows.
 */
uint64_t vm_execute(struct vm *vm, const struct vm_insn *pc, const uint64_t args[5]);

#endif
