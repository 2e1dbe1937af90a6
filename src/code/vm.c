// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The executor: one label for each operation, each of which goes straight to the next one's.
 *
 * Only jumps back cost budget, as many units as instructions they go back: what goes forward ends
 * by itself.
 */
#include "code/vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code/vm_parts.h"

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
 * The operations. The address of a label is known in its function only, so what they do and where
 * they are is one list, of which vm_execute() makes both the labels and their table.
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

uint64_t vm_execute(struct vm *vm, const struct vm_insn *pc, const uint64_t args[5])
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
	/* Registers that nobody has written are 0, so that no mistake depends on what was there. */
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
	/* Each round costs a little, so that rounds without loops inside come to an end, too. */
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
