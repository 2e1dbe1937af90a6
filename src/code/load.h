/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads programs into the kernel. The verifier's log costs time and memory, so it is only requested
 * after the kernel has refused a program: then it shows the statement of the refused instruction.
 */
#ifndef CODE_LOAD_H
#define CODE_LOAD_H

#include "code/code.h"

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
