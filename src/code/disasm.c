// SPDX-License-Identifier: GPL-2.0-or-later
/* eBPF as text, in the notation that the kernel's verifier and other tools use. */
#include <inttypes.h>

#include "code/code.h"

static const char *const alu_names[16] = {
	[BPF_ADD >> 4] = "+=",	[BPF_SUB >> 4] = "-=",	[BPF_MUL >> 4] = "*=",
	[BPF_DIV >> 4] = "/=",	[BPF_OR >> 4] = "|=",	[BPF_AND >> 4] = "&=",
	[BPF_LSH >> 4] = "<<=", [BPF_RSH >> 4] = ">>=", [BPF_MOD >> 4] = "%=",
	[BPF_XOR >> 4] = "^=",	[BPF_MOV >> 4] = "=",	[BPF_ARSH >> 4] = "s>>=",
};

static const char *const jump_names[16] = {
	[BPF_JEQ >> 4] = "==",	 [BPF_JNE >> 4] = "!=",	  [BPF_JLT >> 4] = "<",
	[BPF_JLE >> 4] = "<=",	 [BPF_JGT >> 4] = ">",	  [BPF_JGE >> 4] = ">=",
	[BPF_JSLT >> 4] = "s<",	 [BPF_JSLE >> 4] = "s<=", [BPF_JSGT >> 4] = "s>",
	[BPF_JSGE >> 4] = "s>=", [BPF_JSET >> 4] = "&",
};

static const struct {
	int helper;
	const char *name;
} helpers[] = {
	{BPF_FUNC_map_lookup_elem, "map_lookup_elem"},
	{BPF_FUNC_map_update_elem, "map_update_elem"},
	{BPF_FUNC_map_delete_elem, "map_delete_elem"},
	{BPF_FUNC_probe_read, "probe_read"},
	{BPF_FUNC_ktime_get_ns, "ktime_get_ns"},
	{BPF_FUNC_get_prandom_u32, "get_prandom_u32"},
	{BPF_FUNC_get_smp_processor_id, "get_smp_processor_id"},
	{BPF_FUNC_get_current_pid_tgid, "get_current_pid_tgid"},
	{BPF_FUNC_get_current_uid_gid, "get_current_uid_gid"},
	{BPF_FUNC_get_current_comm, "get_current_comm"},
	{BPF_FUNC_perf_event_output, "perf_event_output"},
	{BPF_FUNC_get_stackid, "get_stackid"},
	{BPF_FUNC_get_current_task, "get_current_task"},
	{BPF_FUNC_probe_read_str, "probe_read_str"},
	{BPF_FUNC_get_stack, "get_stack"},
	{BPF_FUNC_get_current_cgroup_id, "get_current_cgroup_id"},
	{BPF_FUNC_override_return, "override_return"},
	{BPF_FUNC_send_signal, "send_signal"},
	{BPF_FUNC_send_signal_thread, "send_signal_thread"},
	{BPF_FUNC_d_path, "d_path"},
	{BPF_FUNC_skb_output, "skb_output"},
	{BPF_FUNC_probe_write_user, "probe_write_user"},
	{BPF_FUNC_probe_read_user, "probe_read_user"},
	{BPF_FUNC_probe_read_kernel, "probe_read_kernel"},
	{BPF_FUNC_probe_read_user_str, "probe_read_user_str"},
	{BPF_FUNC_probe_read_kernel_str, "probe_read_kernel_str"},
	{BPF_FUNC_ktime_get_boot_ns, "ktime_get_boot_ns"},
	{BPF_FUNC_ringbuf_output, "ringbuf_output"},
	{BPF_FUNC_ringbuf_reserve, "ringbuf_reserve"},
	{BPF_FUNC_ringbuf_submit, "ringbuf_submit"},
	{BPF_FUNC_ringbuf_discard, "ringbuf_discard"},
	{BPF_FUNC_for_each_map_elem, "for_each_map_elem"},
	{BPF_FUNC_get_attach_cookie, "get_attach_cookie"},
	{BPF_FUNC_loop, "loop"},
	{BPF_FUNC_map_lookup_percpu_elem, "map_lookup_percpu_elem"},
};

static unsigned int bits(uint8_t code)
{
	switch (BPF_SIZE(code)) {
	case BPF_B: return 8;
	case BPF_H: return 16;
	case BPF_W: return 32;
	default: return 64;
	}
}

static void memory(const struct bpf_insn *i, int base, struct buf *to)
{
	buf_printf(to, "*(u%u *)(r%d %c %d)", bits(i->code), base, i->off < 0 ? '-' : '+',
		   i->off < 0 ? -i->off : i->off);
}

static void dump_alu(const struct bpf_insn *i, struct buf *to)
{
	const char r = BPF_CLASS(i->code) == BPF_ALU64 ? 'r' : 'w';
	const uint8_t op = BPF_OP(i->code);

	if (op == BPF_END) {
		buf_printf(to, "r%d = %s%d r%d", i->dst_reg,
			   BPF_SRC(i->code) == BPF_TO_BE ? "be" : "le", i->imm, i->dst_reg);
	} else if (op == BPF_NEG) {
		buf_printf(to, "%c%d = -%c%d", r, i->dst_reg, r, i->dst_reg);
	} else {
		buf_printf(to, "%c%d %s%s ", r, i->dst_reg, i->off ? "s" : "", alu_names[op >> 4]);
		if (BPF_SRC(i->code) == BPF_X)
			buf_printf(to, "%c%d", r, i->src_reg);
		else
			buf_i64(to, i->imm);
	}
}

const char *bpf_helper_name(int helper)
{
	for (size_t n = 0; n < sizeof(helpers) / sizeof(*helpers); n++)
		if (helpers[n].helper == helper)
			return helpers[n].name;
	return NULL;
}

static void dump_call(const struct bpf_insn *i, struct buf *to)
{
	const char *name = bpf_helper_name(i->imm);

	buf_printf(to, "call %s#%d", name ? name : "", i->imm);
}

static void dump_jump(const struct bpf_insn *i, uint32_t number, struct buf *to)
{
	const char r = BPF_CLASS(i->code) == BPF_JMP ? 'r' : 'w';
	const uint8_t op = BPF_OP(i->code);

	if (op == BPF_CALL) {
		dump_call(i, to);
		return;
	}
	if (op == BPF_EXIT) {
		buf_puts(to, "exit");
		return;
	}
	if (op != BPF_JA) {
		buf_printf(to, "if %c%d %s ", r, i->dst_reg, jump_names[op >> 4]);
		if (BPF_SRC(i->code) == BPF_X)
			buf_printf(to, "%c%d ", r, i->src_reg);
		else
			buf_printf(to, "%d ", i->imm);
	}
	buf_printf(to, "goto %" PRId64, (int64_t)number + 1 + i->off);
}

static void dump_wide(const struct bpf_insn *i, uint32_t number, struct buf *to)
{
	const int32_t high = i[1].imm;

	buf_printf(to, "r%d = ", i->dst_reg);
	switch (i->src_reg) {
	case BPF_PSEUDO_MAP_FD: buf_printf(to, "map %d", i->imm); break;
	case BPF_PSEUDO_MAP_VALUE: buf_printf(to, "value of map %d + %d", i->imm, high); break;
	case BPF_PSEUDO_FUNC:
		buf_printf(to, "function at %" PRId64, (int64_t)number + 1 + i->imm);
		break;
	default:
		buf_puts(to, "0x");
		buf_hex(to, (uint64_t)(uint32_t)high << 32 | (uint32_t)i->imm);
		buf_puts(to, " ll");
		break;
	}
}

void bpf_dump_insn(const struct bpf_insn *i, uint32_t number, struct buf *to)
{
	switch (BPF_CLASS(i->code)) {
	case BPF_ALU:
	case BPF_ALU64: dump_alu(i, to); break;
	case BPF_JMP:
	case BPF_JMP32: dump_jump(i, number, to); break;
	case BPF_LD: dump_wide(i, number, to); break;
	case BPF_LDX:
		buf_printf(to, "r%d = ", i->dst_reg);
		memory(i, i->src_reg, to);
		break;
	case BPF_ST:
		memory(i, i->dst_reg, to);
		buf_printf(to, " = %d", i->imm);
		break;
	default:
		if (BPF_MODE(i->code) == BPF_ATOMIC)
			buf_puts(to, "lock ");
		memory(i, i->dst_reg, to);
		buf_printf(to, " %s r%d", BPF_MODE(i->code) == BPF_ATOMIC ? "+=" : "=", i->src_reg);
		break;
	}
}

void bpf_dump(const struct bpf_code *c, struct buf *to)
{
	size_t func = 0;

	for (uint32_t n = 0; n < c->insns.n; n++) {
		const struct bpf_insn *i = &c->insns.at[n];

		if (func < c->funcs.n && c->funcs.at[func] == n) {
			if (c->funcs.n > 1)
				buf_printf(to, "func %zu:\n", func);
			func++;
		}
		buf_printf(to, "%4u: ", n);
		bpf_dump_insn(i, n, to);
		buf_putc(to, '\n');
		/* The second half of a constant is not an instruction of its own. */
		n += i->code == (BPF_LD | BPF_IMM | BPF_DW);
	}
}
