// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Instructions into the form that the executor runs: one entry for each (64-bit constants take two
 * in eBPF), maps, functions and helpers as addresses, jumps as distances of entries.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "code/vm_parts.h"

struct decode {
	const struct bpf_code *code;
	const struct vm_links *links;
	struct vm_prog *p;
	uint32_t *entry; /* by instruction of eBPF: the decoded one */
	struct span *at;
	struct spur_error *err;
};

static bool is_wide(const struct bpf_insn *i)
{
	return i->code == (BPF_LD | BPF_IMM | BPF_DW);
}

static int refuse(const struct decode *d, size_t n, int code, const char *why)
{
	if (d->at && n < d->code->spans.n)
		*d->at = d->code->spans.at[n];
	return error_set(d->err, code, "instruction %zu: %s", n, why);
}

static int decode_wide(struct decode *d, size_t n, struct vm_insn *v)
{
	const struct bpf_insn *i = &d->code->insns.at[n];
	const uint64_t high = (uint64_t)(uint32_t)i[1].imm;
	const size_t map = (uint32_t)i->imm;

	v->op = VM_LOAD_IMM;
	switch (i->src_reg) {
	case 0: v->imm = high << 32 | (uint32_t)i->imm; return 0;
	case BPF_PSEUDO_MAP_FD:
	case BPF_PSEUDO_MAP_VALUE: break;
	case BPF_PSEUDO_FUNC:
		v->imm = (uint64_t)(uintptr_t)&d->p->insns[d->entry[n + 1 + (size_t)i->imm]];
		return 0;
	default: return refuse(d, n, -EINVAL, "not an address that the executor knows");
	}
	if (map >= d->links->nr_maps || !d->links->maps[map])
		return refuse(d, n, -EINVAL, "a map that does not exist");
	v->imm = (uint64_t)(uintptr_t)d->links->maps[map];
	if (i->src_reg == BPF_PSEUDO_MAP_VALUE) {
		const struct vm_map *m = d->links->maps[map];
		void *value = m->ops->value ? m->ops->value(d->links->maps[map]) : NULL;

		if (!value)
			return refuse(d, n, -EINVAL, "a map whose values have no address");
		v->imm = (uint64_t)(uintptr_t)value + high;
	}
	return 0;
}

static int decode_call(struct decode *d, size_t n, struct vm_insn *v)
{
	const struct bpf_insn *i = &d->code->insns.at[n];

	if (i->src_reg || i->imm < 0 || i->imm >= VM_HELPERS || !d->links->helpers[i->imm]) {
		if (d->at && n < d->code->spans.n)
			*d->at = d->code->spans.at[n];
		return error_set(d->err, -ENOSYS, "spur's own executor has no helper %d", i->imm);
	}
	v->imm = (uint64_t)(uintptr_t)d->links->helpers[i->imm];
	return 0;
}

static void decode_alu(const struct bpf_insn *i, struct vm_insn *v)
{
	const bool host =
		(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) == ((i->code & 8) == BPF_TO_LE);
	const uint8_t op = BPF_OP(i->code);

	if (BPF_CLASS(i->code) == BPF_ALU && op == BPF_END) {
		v->op = i->imm == 16 ? VM_SWAP16 : i->imm == 32 ? VM_SWAP32 : VM_SWAP64;
		if (host) {
			v->op = i->imm == 16 ? VM_LOW16 : VM_LOW32;
			if (i->imm == 64)
				v->op = BPF_ALU64 | BPF_MOV | BPF_X;
			v->src = v->dst;
		}
	} else if (BPF_CLASS(i->code) == BPF_ALU64 && i->off == 1 && op == BPF_DIV) {
		v->op = BPF_SRC(i->code) == BPF_X ? VM_SDIV_X : VM_SDIV_K;
	} else if (BPF_CLASS(i->code) == BPF_ALU64 && i->off == 1 && op == BPF_MOD) {
		v->op = BPF_SRC(i->code) == BPF_X ? VM_SMOD_X : VM_SMOD_K;
	}
}

static int decode_one(struct decode *d, size_t n, struct vm_insn *v)
{
	const struct bpf_insn *i = &d->code->insns.at[n];
	const uint8_t class = BPF_CLASS(i->code);

	*v = (struct vm_insn){
		.op = i->code,
		.dst = i->dst_reg,
		.src = i->src_reg,
		.off = i->off,
		.imm = (uint64_t)(int64_t)i->imm,
	};
	if (i->dst_reg > 10 || i->src_reg > 10)
		return refuse(d, n, -EINVAL, "a register that does not exist");
	if (is_wide(i))
		return decode_wide(d, n, v);
	if (i->code == (BPF_JMP | BPF_CALL))
		return decode_call(d, n, v);
	if (class == BPF_ALU || class == BPF_ALU64) {
		decode_alu(i, v);
	} else if ((class == BPF_JMP || class == BPF_JMP32) && BPF_OP(i->code) != BPF_EXIT) {
		const int64_t to = (int64_t)n + 1 + i->off;

		if (to < 0 || (uint64_t)to >= d->code->insns.n)
			return refuse(d, n, -EINVAL, "a jump to nowhere");
		v->off = (int32_t)((int64_t)d->entry[to] - d->entry[n] - 1);
	} else if (class == BPF_STX && BPF_MODE(i->code) == BPF_ATOMIC) {
		if (i->imm != BPF_ADD)
			return refuse(d, n, -EINVAL,
				      "an atomic operation that the executor has not");
		if (!d->links->shared)
			v->op = BPF_SIZE(i->code) == BPF_DW ? VM_ADD64 : VM_ADD32;
	}
	if (!vm_execute(NULL, v, NULL))
		return refuse(d, n, -EINVAL, "not an instruction that the executor knows");
	return 0;
}

static int decode_all(struct decode *d)
{
	const size_t nr = d->code->insns.n;
	size_t to = 0;
	int rc = 0;

	for (size_t n = 0; n < nr; n++) {
		d->entry[n] = (uint32_t)to++;
		if (is_wide(&d->code->insns.at[n])) {
			if (n + 1 >= nr)
				return refuse(d, n, -EINVAL, "half a constant");
			d->entry[++n] = (uint32_t)to;
		}
	}
	d->p->nr = to;
	for (size_t n = 0; n < nr && !rc; n++) {
		rc = decode_one(d, n, &d->p->insns[d->entry[n]]);
		n += is_wide(&d->code->insns.at[n]);
	}
	/* Whatever runs past the end leaves. */
	d->p->insns[to] = (struct vm_insn){.op = BPF_JMP | BPF_EXIT};
	return rc;
}

int vm_decode(const struct bpf_code *code, const struct vm_links *links, struct vm_prog **out,
	      struct span *at, struct spur_error *err)
{
	struct decode d = {.code = code, .links = links, .at = at, .err = err};
	int rc = -ENOMEM;

	d.p = calloc(1, sizeof(*d.p) + (code->insns.n + 1) * sizeof(d.p->insns[0]));
	d.entry = calloc(code->insns.n + 1, sizeof(*d.entry));
	if (d.p && d.entry) {
		d.p->ctx_end = code->ctx_end;
		rc = decode_all(&d);
	} else {
		error_set(err, rc, "not enough memory to run the script");
	}
	free(d.entry);
	if (rc) {
		free(d.p);
		return rc;
	}
	*out = d.p;
	return 0;
}

void vm_prog_free(struct vm_prog *p)
{
	free(p);
}
