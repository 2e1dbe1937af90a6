// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * eBPF code: its text, and loading it into the kernel.
 *
 * A program with functions that helpers call back must describe them in BTF. The minimum that the
 * kernel accepts is used: one type of number, and each function as a static one with such
 * parameters and result.
 */
#include "code/code.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "code/sys.h"

/* ---- text ---- */

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
	for (size_t n = 0; n < ARRAY_SIZE(helpers); n++)
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

static void bpf_dump_insn(const struct bpf_insn *i, uint32_t number, struct buf *to)
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

/* ---- loading ---- */

enum { LOG_SIZE = 1 << 20, BIG_LOG_SIZE = 16 << 20 };

/* ---- descriptions of functions ---- */

static const char strings[] = "\0u64\0a\0f";
enum { STR_U64 = 1, STR_A = 5, STR_F = 7, TYPE_U64 = 1 };

static void put_type(struct buf *b, uint32_t name, uint32_t kind, uint32_t vlen, uint32_t size)
{
	const struct btf_type t = {.name_off = name, .info = kind << 24 | vlen, .size = size};

	buf_put(b, &t, sizeof(t));
}

static void put_types(struct buf *b, size_t nr_funcs)
{
	const struct btf_param param = {.name_off = STR_A, .type = TYPE_U64};
	const uint32_t bits = 64;
	/* Callbacks are not checked against their description. */
	enum { NR_PARAMS = 4, TYPE_PROTO = 2 };

	put_type(b, STR_U64, BTF_KIND_INT, 0, 8);
	buf_put(b, &bits, sizeof(bits));
	put_type(b, 0, BTF_KIND_FUNC_PROTO, NR_PARAMS, TYPE_U64);
	for (int n = 0; n < NR_PARAMS; n++)
		buf_put(b, &param, sizeof(param));
	for (size_t n = 0; n < nr_funcs; n++)
		put_type(b, STR_F, BTF_KIND_FUNC, BTF_FUNC_STATIC, TYPE_PROTO);
}

static int describe(size_t nr_funcs)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = BTF_VERSION, .hdr_len = sizeof(h)};
	struct buf b;
	int fd;

	buf_init(&b, 1 << 20);
	buf_put(&b, &h, sizeof(h));
	put_types(&b, nr_funcs);
	h.type_len = h.str_off = (uint32_t)(b.len - sizeof(h));
	h.str_len = sizeof(strings);
	buf_put(&b, strings, sizeof(strings));
	memcpy(b.data, &h, sizeof(h));
	fd = buf_full(&b) ? -E2BIG : sys_btf_load(b.data, b.len);
	buf_free(&b);
	return fd;
}

static int add_functions(const struct bpf_code *code, struct sys_prog *p,
			 struct bpf_func_info **funcs)
{
	enum { FIRST_FUNC_TYPE = 3 };

	if (code->funcs.n <= 1)
		return 0;
	*funcs = calloc(code->funcs.n, sizeof(**funcs));
	if (!*funcs)
		return -ENOMEM;
	for (uint32_t n = 0; n < code->funcs.n; n++)
		(*funcs)[n] = (struct bpf_func_info){.insn_off = code->funcs.at[n],
						     .type_id = FIRST_FUNC_TYPE + n};
	p->btf_fd = describe(code->funcs.n);
	p->funcs = *funcs;
	p->nr_funcs = (uint32_t)code->funcs.n;
	return p->btf_fd < 0 ? p->btf_fd : 0;
}

/* ---- refusals ---- */

/* "12: (79) r1 = …" begins the log of instruction 12. */
static bool insn_of_line(const char *line, uint32_t *insn)
{
	char *end;
	const unsigned long n = strtoul(line, &end, 10);

	if (end == line || strncmp(end, ": (", 3))
		return false;
	*insn = (uint32_t)n;
	return true;
}

static bool is_reason(const char *line)
{
	return line[0] && strncmp(line, "processed ", 10) &&
	       strncmp(line, "verification time", 17) && strncmp(line, "stack depth", 11) &&
	       strncmp(line, "mark_precise", 12);
}

/* Finds the last instruction that was checked, and the last line with a message. */
static void read_log(char *log, const struct bpf_code *code, struct bpf_refusal *why)
{
	char *line;

	while ((line = strsep(&log, "\n"))) {
		uint32_t insn;

		if (insn_of_line(line, &insn) && insn < code->spans.n) {
			why->known = true;
			why->insn = insn;
			why->at = code->spans.at[insn];
		} else if (is_reason(line) && !isdigit((unsigned char)line[0])) {
			size_t n = strnlen(line, sizeof(why->reason) - 1);

			memcpy(why->reason, line, n);
			why->reason[n] = '\0';
		}
	}
}

/*
 * Loads it again, with a log. Older kernels stop when the log is full, before they report the
 * error.
 */
static int load_with_log(struct sys_prog *p)
{
	static const uint32_t sizes[] = {LOG_SIZE, BIG_LOG_SIZE};
	int rc = -ENOSPC;

	for (size_t n = 0; n < ARRAY_SIZE(sizes) && rc == -ENOSPC; n++) {
		free(p->log);
		p->log_size = sizes[n];
		p->log = calloc(1, p->log_size);
		if (!p->log)
			return -ENOMEM;
		rc = sys_prog_load(p);
		p->log[p->log_size - 1] = '\0';
	}
	return rc;
}

static int refused(struct sys_prog *p, const struct bpf_code *code, int rc, struct bpf_refusal *why,
		   struct buf *log, struct spur_error *err)
{
	struct bpf_refusal own;
	const int fd = load_with_log(p);

	why = why ? why : &own;
	*why = (struct bpf_refusal){0};
	if (p->log && fd < 0) {
		if (log)
			buf_puts(log, p->log);
		read_log(p->log, code, why);
	}
	free(p->log);
	if (fd >= 0)
		return fd;
	if (rc == -EPERM && !why->known)
		return error_set(err, rc, "the kernel does not permit to load BPF programs");
	if (why->known)
		return error_set(err, rc, "the kernel refuses the program at instruction %u: %s",
				 why->insn, why->reason);
	return error_set(err, rc, "the kernel refuses the program: %s",
			 why->reason[0] ? why->reason : strerror(-rc));
}

int bpf_load(const struct bpf_code *code, const int *fds, const struct bpf_load_options *o,
	     struct bpf_refusal *why, struct buf *log, struct spur_error *err)
{
	struct bpf_insn *insns = bpf_code_link(code, fds);
	struct bpf_func_info *funcs = NULL;
	struct sys_prog p = {
		.type = o->type,
		.attach_type = o->attach_type,
		.attach_btf_id = o->attach_btf_id,
		.attach_btf_fd = o->attach_btf_fd,
		.insns = insns,
		.nr = code->insns.n,
		.name = o->name,
		.license = o->license ? o->license : "GPL",
	};
	int rc = insns ? add_functions(code, &p, &funcs) : -ENOMEM;

	if (rc < 0) {
		error_set(err, rc, "cannot describe the program's functions to the kernel: %s",
			  strerror(-rc));
	} else {
		rc = sys_prog_load(&p);
		if (rc == -EPERM) {
			sys_raise_memlock();
			rc = sys_prog_load(&p);
		}
		if (rc < 0)
			rc = refused(&p, code, rc, why, log, err);
	}
	if (p.btf_fd > 0)
		close(p.btf_fd);
	free(insns);
	free(funcs);
	return rc;
}
