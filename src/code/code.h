/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * eBPF instructions, made from the IR.
 *
 * In a struct bpf_code maps are still numbers of the unit: an instruction that loads a map has
 * src_reg BPF_PSEUDO_MAP_FD or BPF_PSEUDO_MAP_VALUE and the map's number as imm. bpf_code_link()
 * replaces the numbers by descriptors for the kernel; the executor resolves them while it decodes.
 */
#ifndef CODE_CODE_H
#define CODE_CODE_H

#include <linux/bpf.h>

#include "code/features.h"
#include "code/ir.h"

enum {
	BPF_STACK_LIMIT = 512, /* of all functions of a chain of calls together */
};

struct bpf_code {
	struct {
		struct bpf_insn *at;
		size_t n, cap;
	} insns;
	struct {
		struct span *at; /* of every instruction: the statement it comes from */
		size_t n, cap;
	} spans;
	struct {
		uint32_t *at; /* the first instruction of every function */
		size_t n, cap;
	} funcs;
	uint32_t stack;	  /* bytes that the longest chain of functions needs */
	uint32_t ctx_end; /* no load from the context reaches beyond */
	uint32_t any_end; /* the same for loads from anywhere but the frame */
	bool ctx_leaks;	  /* its address was stored, so that ctx_end is any_end */
};

/*
 * Registers are allocated, unreachable and useless instructions left out. -E2BIG when the stack or
 * a jump is too long, -EINVAL when the IR breaks its rules, -ENOMEM; at (may be NULL) is the
 * statement.
 */
int bpf_emit(const struct ir_prog *p, struct bpf_features *f, struct bpf_code *out, struct span *at,
	     struct spur_error *err);
void bpf_code_free(struct bpf_code *c);

/* A copy for the kernel, with the descriptors of maps by number; NULL without memory. */
struct bpf_insn *bpf_code_link(const struct bpf_code *c, const int *fds);

/* "  12: r1 = *(u64 *)(r6 + 16)", a line for each instruction. */
void bpf_dump(const struct bpf_code *c, struct buf *to);
/* "probe_read_user"; NULL: of another one. */
const char *bpf_helper_name(int helper);

/*
 * Loads programs into the kernel. The verifier's log costs time and memory, so it is only requested
 * after the kernel has refused a program: then it shows the statement of the refused instruction.
 */
struct bpf_load_options {
	uint32_t type; /* BPF_PROG_TYPE_… */
	uint32_t attach_type, attach_btf_id;
	int attach_btf_fd;	    /* of the module that the id is of; 0: the kernel */
	const char *name, *license; /* NULL: "GPL" */
};

struct bpf_refusal {
	bool known; /* the log shows the instruction */
	uint32_t insn;
	struct span at;	  /* the statement it comes from */
	char reason[160]; /* the kernel's last words */
};

/*
 * A descriptor, or a negative errno. fds are those of the unit's maps. When the verifier refuses
 * the program, why (may be NULL) is filled, and the log is appended to log (may be NULL).
 */
int bpf_load(const struct bpf_code *code, const int *fds, const struct bpf_load_options *o,
	     struct bpf_refusal *why, struct buf *log, struct spur_error *err);

#endif
