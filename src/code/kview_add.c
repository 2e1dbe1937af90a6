// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adding to a number in a map of the kernel's, which programs there may be changing at the same
 * moment: user space can only read and write whole values. So a program of a few instructions does
 * it, which is run when needed. What it is to add, and to which key, lies in a map of its own.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "code/kmap_parts.h"
#include "code/sys.h"

#define INSN(c, d, s, o, i)                                                                        \
	((struct bpf_insn){.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})
#define KEY_AT 8 /* behind what is to be added */

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
						.nr = sizeof(insns) / sizeof(insns[0]),
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

void kview_add(struct kview *v, const void *key, uint64_t by)
{
	uint64_t now;

	/* Kernels that cannot run it on demand: what others add in between is lost. */
	if (!add_in_kernel(v, key, by) && !sys_map_lookup(v->map->fd, key, &now)) {
		now += by;
		sys_map_update(v->map->fd, key, &now, BPF_EXIST);
	}
}

void kview_close_adder(struct kview *v)
{
	if (!v->adder.tried)
		return;
	if (v->adder.prog >= 0)
		close(v->adder.prog);
	if (v->adder.step >= 0)
		close(v->adder.step);
}
