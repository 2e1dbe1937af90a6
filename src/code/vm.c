// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The executor of eBPF programs in spur's own memory: decodes and runs programs, and has the
 * helpers that only need maps.
 */
#include "code/vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Operations besides those that have eBPF's own numbers. */
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

/* ---- executing ---- */

/*
 * Each operation has a label, and jumps directly to the label of the next one.
 *
 * Only backward jumps use the budget, one unit for each instruction: forward code ends by itself.
 */

/* Records are not aligned. */
#define LOAD(T, address)                                                                           \
	({                                                                                         \
		T got_;                                                                            \
		memcpy(&got_, (const void *)(uintptr_t)(address), sizeof(got_));                   \
		got_;                                                                              \
	})
#define STORE(T, address, value)                                                                   \
	do {                                                                                       \
		const T v_ = (T)(value);                                                           \
		memcpy((void *)(uintptr_t)(address), &v_, sizeof(v_));                             \
	} while (0)

static uint64_t signed_div(uint64_t a, uint64_t b)
{
	if (!b)
		return 0;
	return b == UINT64_MAX ? -a : (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t signed_mod(uint64_t a, uint64_t b)
{
	if (!b)
		return a;
	return b == UINT64_MAX ? 0 : (uint64_t)((int64_t)a % (int64_t)b);
}

static uint32_t swap_order32(uint64_t v)
{
	return __builtin_bswap32((uint32_t)v);
}

#define DST	      r[pc->dst]
#define SRC	      r[pc->src]
#define IMM	      pc->imm
#define NEXT	      goto *labels[(++pc)->op]
#define ADDRESS(base) ((base) + (uint64_t)(int64_t)pc->off)

/* Both forms of an operation, of 64 and of 32 bits. a is the destination, b the operand. */
#define ALU_FORMS(name, op, expr64, expr32)                                                        \
	name##_64k:                                                                                \
	{                                                                                          \
		const uint64_t a = DST, b = IMM;                                                   \
		DST = (expr64);                                                                    \
		NEXT;                                                                              \
	}                                                                                          \
	name##_64x:                                                                                \
	{                                                                                          \
		const uint64_t a = DST, b = SRC;                                                   \
		DST = (expr64);                                                                    \
		NEXT;                                                                              \
	}                                                                                          \
	name##_32k:                                                                                \
	{                                                                                          \
		const uint32_t a = (uint32_t)DST, b = (uint32_t)IMM;                               \
		DST = (uint32_t)(expr32);                                                          \
		NEXT;                                                                              \
	}                                                                                          \
	name##_32x:                                                                                \
	{                                                                                          \
		const uint32_t a = (uint32_t)DST, b = (uint32_t)SRC;                               \
		DST = (uint32_t)(expr32);                                                          \
		NEXT;                                                                              \
	}

#define JUMP_FORM(label, T, operand, expr)                                                         \
	label : {                                                                                  \
		const T a = (T)DST, b = (T)(operand);                                              \
		if (expr)                                                                          \
			goto jump;                                                                 \
		NEXT;                                                                              \
	}
#define JUMP_FORMS(name, op, T64, T32, expr)                                                       \
	JUMP_FORM(name##_64k, T64, IMM, expr)                                                      \
	JUMP_FORM(name##_64x, T64, SRC, expr)                                                      \
	JUMP_FORM(name##_32k, T32, IMM, expr)                                                      \
	JUMP_FORM(name##_32x, T32, SRC, expr)

#define MEMORY_FORMS(name, size, T)                                                                \
	load_##name:                                                                               \
	{                                                                                          \
		DST = LOAD(T, ADDRESS(SRC));                                                       \
		NEXT;                                                                              \
	}                                                                                          \
	store_##name##_x:                                                                          \
	{                                                                                          \
		STORE(T, ADDRESS(DST), SRC);                                                       \
		NEXT;                                                                              \
	}                                                                                          \
	store_##name##_k:                                                                          \
	{                                                                                          \
		STORE(T, ADDRESS(DST), IMM);                                                       \
		NEXT;                                                                              \
	}

/* Their places in the table of labels. */
#define ALU_LABELS(name, op, expr64, expr32)                                                       \
	[BPF_ALU64 | (op) | BPF_K] = &&name##_64k, [BPF_ALU64 | (op) | BPF_X] = &&name##_64x,      \
			    [BPF_ALU | (op) | BPF_K] = &&name##_32k,                               \
			    [BPF_ALU | (op) | BPF_X] = &&name##_32x,
#define JUMP_LABELS(name, op, T64, T32, expr)                                                      \
	[BPF_JMP | (op) | BPF_K] = &&name##_64k, [BPF_JMP | (op) | BPF_X] = &&name##_64x,          \
			  [BPF_JMP32 | (op) | BPF_K] = &&name##_32k,                               \
			  [BPF_JMP32 | (op) | BPF_X] = &&name##_32x,
#define MEMORY_LABELS(name, size, T)                                                               \
	[BPF_LDX | BPF_MEM | (size)] = &&load_##name,                                              \
			     [BPF_STX | BPF_MEM | (size)] = &&store_##name##_x,                    \
			     [BPF_ST | BPF_MEM | (size)] = &&store_##name##_k,

#define SIMPLE_FORM(name, op, act)                                                                 \
	name:                                                                                      \
	act;                                                                                       \
	NEXT;
#define SIMPLE_LABEL(name, op, act) [op] = &&name,

/*
 * The operations. The address of a label is only known in its function, so one list has the
 * operations, and vm_execute() makes both the labels and their table from it.
 */
#define ALU_OPS(EACH)                                                                              \
	EACH(add, BPF_ADD, a + b, a + b)                                                           \
	EACH(sub, BPF_SUB, a - b, a - b)                                                           \
	EACH(mul, BPF_MUL, (a * b), (a * b))                                                       \
	EACH(div, BPF_DIV, b ? a / b : 0, b ? a / b : 0)                                           \
	EACH(mod, BPF_MOD, b ? a % b : a, b ? a % b : a)                                           \
	EACH(and, BPF_AND, (a & b), (a & b))                                                       \
	EACH(or, BPF_OR, a | b, a | b)                                                             \
	EACH(xor, BPF_XOR, a ^ b, a ^ b)                                                           \
	EACH(lsh, BPF_LSH, a << (b & 63), a << (b & 31))                                           \
	EACH(rsh, BPF_RSH, a >> (b & 63), a >> (b & 31))                                           \
	EACH(arsh, BPF_ARSH, (uint64_t)((int64_t)a >> (b & 63)),                                   \
	     (uint32_t)((int32_t)a >> (b & 31)))                                                   \
	EACH(mov, BPF_MOV, ((void)a, b), ((void)a, b))

#define JUMP_OPS(EACH)                                                                             \
	EACH(jeq, BPF_JEQ, uint64_t, uint32_t, a == b)                                             \
	EACH(jne, BPF_JNE, uint64_t, uint32_t, a != b)                                             \
	EACH(jlt, BPF_JLT, uint64_t, uint32_t, a < b)                                              \
	EACH(jle, BPF_JLE, uint64_t, uint32_t, a <= b)                                             \
	EACH(jgt, BPF_JGT, uint64_t, uint32_t, a > b)                                              \
	EACH(jge, BPF_JGE, uint64_t, uint32_t, a >= b)                                             \
	EACH(jslt, BPF_JSLT, int64_t, int32_t, a < b)                                              \
	EACH(jsle, BPF_JSLE, int64_t, int32_t, a <= b)                                             \
	EACH(jsgt, BPF_JSGT, int64_t, int32_t, a > b)                                              \
	EACH(jsge, BPF_JSGE, int64_t, int32_t, a >= b)                                             \
	EACH(jset, BPF_JSET, uint64_t, uint32_t, (a & b))

#define MEMORY_OPS(EACH)                                                                           \
	EACH(u8, BPF_B, uint8_t)                                                                   \
	EACH(u16, BPF_H, uint16_t)                                                                 \
	EACH(u32, BPF_W, uint32_t)                                                                 \
	EACH(u64, BPF_DW, uint64_t)

#define SIMPLE_OPS(EACH)                                                                           \
	EACH(load_imm, VM_LOAD_IMM, DST = IMM)                                                     \
	EACH(neg_64, BPF_ALU64 | BPF_NEG, DST = -DST)                                              \
	EACH(neg_32, BPF_ALU | BPF_NEG, DST = (uint32_t)-DST)                                      \
	EACH(sdiv_k, VM_SDIV_K, DST = signed_div(DST, IMM))                                        \
	EACH(sdiv_x, VM_SDIV_X, DST = signed_div(DST, SRC))                                        \
	EACH(smod_k, VM_SMOD_K, DST = signed_mod(DST, IMM))                                        \
	EACH(smod_x, VM_SMOD_X, DST = signed_mod(DST, SRC))                                        \
	EACH(swap16, VM_SWAP16, DST = __builtin_bswap16((uint16_t)DST))                            \
	EACH(swap32, VM_SWAP32, DST = swap_order32(DST))                                           \
	EACH(swap64, VM_SWAP64, DST = __builtin_bswap64(DST))                                      \
	EACH(low16, VM_LOW16, DST = (uint16_t)DST)                                                 \
	EACH(low32, VM_LOW32, DST = (uint32_t)DST)                                                 \
	EACH(add32, VM_ADD32, STORE(uint32_t, ADDRESS(DST), LOAD(uint32_t, ADDRESS(DST)) + SRC))   \
	EACH(add64, VM_ADD64, STORE(uint64_t, ADDRESS(DST), LOAD(uint64_t, ADDRESS(DST)) + SRC))   \
	EACH(atomic_32, BPF_STX | BPF_ATOMIC | BPF_W,                                              \
	     __atomic_fetch_add((uint32_t *)(uintptr_t)ADDRESS(DST), (uint32_t)SRC,                \
				__ATOMIC_RELAXED))                                                 \
	EACH(atomic_64, BPF_STX | BPF_ATOMIC | BPF_DW,                                             \
	     __atomic_fetch_add((uint64_t *)(uintptr_t)ADDRESS(DST), SRC, __ATOMIC_RELAXED))

#define ROUND_COST 16

/* Once the budget is used up: whether there is more. */
static bool spend_more(struct vm *vm, uint64_t cost)
{
	if (!vm->go_on || vm->budget < cost || !vm->go_on(vm->env)) {
		vm->rc = -ELOOP;
		return false;
	}
	vm->left = vm->budget;
	return true;
}

/*
 * Runs from an instruction to the exit, with args in r1 to r5, and returns r0. If vm is NULL,
 * nothing runs, and it returns whether it knows the instruction.
 */
static uint64_t vm_execute(struct vm *vm, const struct vm_insn *pc, const uint64_t args[5])
{
	/* clang-format off */
	static const void *const labels[VM_OPS] = {
		ALU_OPS(ALU_LABELS)
		JUMP_OPS(JUMP_LABELS)
		MEMORY_OPS(MEMORY_LABELS)
		SIMPLE_OPS(SIMPLE_LABEL)
		[BPF_JMP | BPF_JA] = &&jump,
		[BPF_JMP | BPF_CALL] = &&call,
		[BPF_JMP | BPF_EXIT] = &&leave,
	};
	/* clang-format on */
	uint64_t r[11];

	if (!vm)
		return labels[pc->op] != NULL;
	/* Registers that were not written are 0, so that no mistake depends on what was there. */
	memset(r, 0, sizeof(r));
	memcpy(r + 1, args, 5 * sizeof(*args));
	if (vm->depth >= VM_DEPTH) {
		vm->rc = -EOVERFLOW;
		return 0;
	}
	r[10] = (uint64_t)(uintptr_t)(vm->stack[vm->depth++] + BPF_STACK_LIMIT);
	goto *labels[pc->op];

	ALU_OPS(ALU_FORMS)
	JUMP_OPS(JUMP_FORMS)
	MEMORY_OPS(MEMORY_FORMS)
	SIMPLE_OPS(SIMPLE_FORM)
call:
	r[0] = ((vm_helper)(uintptr_t)IMM)(vm, r[1], r[2], r[3], r[4], r[5]);
	if (__builtin_expect(vm->rc, 0))
		goto leave;
	NEXT;
jump:
	if (pc->off < 0) {
		const uint64_t back = (uint64_t) - (int64_t)pc->off;

		if (vm->left < back && !spend_more(vm, back))
			goto leave;
		vm->left -= back;
	}
	pc += pc->off;
	NEXT;
leave:
	vm->depth--;
	return r[0];
}

/* ---- around it ---- */

void vm_init(struct vm *vm, void *env)
{
	memset(vm, 0, sizeof(*vm));
	vm->env = env;
	vm->budget = VM_BUDGET;
}

void vm_free(struct vm *vm)
{
	free(vm->pad);
	vm->pad = NULL;
	vm->pad_size = 0;
}

/* The context followed by zeros, up to where the program reads. */
static const void *padded(struct vm *vm, const void *ctx, size_t size, size_t wanted)
{
	if (vm->pad_size < wanted) {
		uint8_t *bigger = realloc(vm->pad, wanted);

		if (!bigger)
			return NULL;
		vm->pad = bigger;
		vm->pad_size = wanted;
	}
	if (size)
		memcpy(vm->pad, ctx, size);
	memset(vm->pad + size, 0, wanted - size);
	return vm->pad;
}

int vm_run(struct vm *vm, const struct vm_prog *p, const void *ctx, size_t ctx_size,
	   uint64_t *result)
{
	uint64_t args[5] = {0}, value;

	if (ctx_size < p->ctx_end)
		ctx = padded(vm, ctx, ctx_size, p->ctx_end);
	if (!ctx && p->ctx_end)
		return -ENOMEM;
	vm->ctx = ctx;
	vm->ctx_size = ctx_size;
	vm->rc = 0;
	vm->depth = 0;
	vm->left = vm->budget;
	args[0] = (uint64_t)(uintptr_t)ctx;
	value = vm_execute(vm, p->insns, args);
	if (result)
		*result = value;
	return vm->rc;
}

uint64_t vm_call(struct vm *vm, uint64_t func, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		 uint64_t e)
{
	const uint64_t args[5] = {a, b, c, d, e};

	if (vm->rc)
		return 0;
	/* Each round uses a little of the budget, so that empty rounds end, too. */
	if (vm->left < ROUND_COST && !spend_more(vm, ROUND_COST))
		return 0;
	vm->left -= ROUND_COST;
	return vm_execute(vm, (const struct vm_insn *)(uintptr_t)func, args);
}

static bool inside(uint64_t address, size_t n, const void *base, size_t size)
{
	const uint64_t off = address - (uint64_t)(uintptr_t)base;

	return off <= size && n <= size - off;
}

bool vm_own(const struct vm *vm, uint64_t address, size_t n)
{
	return inside(address, n, vm->ctx, vm->ctx ? vm->ctx_size : 0) ||
	       inside(address, n, vm->stack, sizeof(vm->stack));
}

/* ---- decoding ---- */

/*
 * Decodes instructions into the form that the executor runs: one entry for each (64-bit constants
 * have two in eBPF), maps, functions and helpers as addresses, jumps as numbers of entries.
 */

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

static void note_place(const struct decode *d, size_t n)
{
	if (d->at && n < d->code->spans.n)
		*d->at = d->code->spans.at[n];
}

static int refuse(const struct decode *d, size_t n, const char *why)
{
	note_place(d, n);
	return error_set(d->err, -EINVAL, "instruction %zu: %s", n, why);
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
	default: return refuse(d, n, "not an address that the executor knows");
	}
	if (map >= d->links->nr_maps || !d->links->maps[map])
		return refuse(d, n, "a map that does not exist");
	v->imm = (uint64_t)(uintptr_t)d->links->maps[map];
	if (i->src_reg == BPF_PSEUDO_MAP_VALUE) {
		const struct vm_map *m = d->links->maps[map];
		void *value = m->ops->value ? m->ops->value(d->links->maps[map]) : NULL;

		if (!value)
			return refuse(d, n, "a map whose values have no address");
		v->imm = (uint64_t)(uintptr_t)value + high;
	}
	return 0;
}

static int decode_call(struct decode *d, size_t n, struct vm_insn *v)
{
	const struct bpf_insn *i = &d->code->insns.at[n];

	if (i->src_reg || i->imm < 0 || i->imm >= VM_HELPERS || !d->links->helpers[i->imm]) {
		note_place(d, n);
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
		return refuse(d, n, "a register that does not exist");
	if (is_wide(i))
		return decode_wide(d, n, v);
	if (i->code == (BPF_JMP | BPF_CALL))
		return decode_call(d, n, v);
	if (class == BPF_ALU || class == BPF_ALU64) {
		decode_alu(i, v);
	} else if ((class == BPF_JMP || class == BPF_JMP32) && BPF_OP(i->code) != BPF_EXIT) {
		const int64_t to = (int64_t)n + 1 + i->off;

		if (to < 0 || (uint64_t)to >= d->code->insns.n)
			return refuse(d, n, "a jump to nowhere");
		v->off = (int32_t)((int64_t)d->entry[to] - d->entry[n] - 1);
	} else if (class == BPF_STX && BPF_MODE(i->code) == BPF_ATOMIC) {
		if (i->imm != BPF_ADD)
			return refuse(d, n, "an atomic operation that the executor has not");
		if (!d->links->shared)
			v->op = BPF_SIZE(i->code) == BPF_DW ? VM_ADD64 : VM_ADD32;
	}
	if (!vm_execute(NULL, v, NULL))
		return refuse(d, n, "not an instruction that the executor knows");
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
				return refuse(d, n, "half a constant");
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

/* ---- helpers ---- */

/*
 * Helpers that only need maps and the executor itself. The caller supplies those for the system:
 * time, pid, other memory.
 */

static struct vm_map *map_of(uint64_t v)
{
	return (struct vm_map *)(uintptr_t)v;
}

static void *pointer(uint64_t v)
{
	return (void *)(uintptr_t)v;
}

static uint64_t number(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

int vm_store_value(const struct vm_map *m, void *to, const void *value, uint64_t flags)
{
	if (!to)
		return -E2BIG;
	if (flags == BPF_NOEXIST)
		return -EEXIST;
	memcpy(to, value, m->value_size);
	return 0;
}

int vm_refuse_removal(struct vm_map *m, const void *key)
{
	return -EINVAL;
}

static uint64_t help_lookup(struct vm *vm, uint64_t map, uint64_t key, uint64_t c, uint64_t d,
			    uint64_t e)
{
	return number(map_of(map)->ops->lookup(map_of(map), pointer(key)));
}

static uint64_t help_update(struct vm *vm, uint64_t map, uint64_t key, uint64_t value,
			    uint64_t flags, uint64_t e)
{
	return (uint64_t)map_of(map)->ops->update(map_of(map), pointer(key), pointer(value), flags);
}

static uint64_t help_delete(struct vm *vm, uint64_t map, uint64_t key, uint64_t c, uint64_t d,
			    uint64_t e)
{
	return (uint64_t)map_of(map)->ops->remove(map_of(map), pointer(key));
}

/* Maps of the executor have a single value, as CPU 0. */
static uint64_t help_lookup_percpu(struct vm *vm, uint64_t map, uint64_t key, uint64_t cpu,
				   uint64_t d, uint64_t e)
{
	struct vm_map *m = map_of(map);

	if (m->ops->lookup_cpu)
		return number(m->ops->lookup_cpu(m, pointer(key), (uint32_t)cpu));
	return (uint32_t)cpu ? 0 : number(m->ops->lookup(m, pointer(key)));
}

/* The kernel's helper allows 8 million rounds. Here the budget of a run ends endless loops. */
static uint64_t help_loop(struct vm *vm, uint64_t nr, uint64_t func, uint64_t ctx, uint64_t flags,
			  uint64_t e)
{
	uint64_t n = 0;

	if (flags)
		return (uint64_t)-EINVAL;
	while (n < nr && !vm->rc)
		if (vm_call(vm, func, n++, ctx, 0, 0, 0))
			break;
	return n;
}

static uint64_t help_for_each(struct vm *vm, uint64_t map, uint64_t func, uint64_t ctx,
			      uint64_t flags, uint64_t e)
{
	struct vm_map *m = map_of(map);
	uint64_t at = 0, n = 0;
	const void *key;
	void *value;

	if (flags || !m->ops->next)
		return (uint64_t)-EINVAL;
	while (!vm->rc && m->ops->next(m, &at, &key, &value)) {
		n++;
		if (vm_call(vm, func, map, number(key), number(value), ctx, 0))
			break;
	}
	return n;
}

void vm_helpers(vm_helper *helpers)
{
	helpers[BPF_FUNC_map_lookup_elem] = help_lookup;
	helpers[BPF_FUNC_map_update_elem] = help_update;
	helpers[BPF_FUNC_map_delete_elem] = help_delete;
	helpers[BPF_FUNC_map_lookup_percpu_elem] = help_lookup_percpu;
	helpers[BPF_FUNC_loop] = help_loop;
	helpers[BPF_FUNC_for_each_map_elem] = help_for_each;
}
