// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The executor: instructions that only it and the kernel know (those that bpf_emit() makes are
 * tested at random in test_bpf_diff.c), contexts that are too short, loops without end, and what it
 * refuses.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/vec.h"
#include "code/umap.h"

#define I(c, d, s, o, i)                                                                           \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}
#define EXIT I(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

static vm_helper helpers[VM_HELPERS];

static int decode(const struct bpf_insn *insns, size_t n, struct vm_prog **p,
		  struct spur_error *err)
{
	const struct vm_links links = {.helpers = helpers};
	struct bpf_code code = {.ctx_end = 64};
	int rc;

	for (size_t i = 0; i < n; i++)
		*vec_push(&code.insns) = insns[i];
	rc = vm_decode(&code, &links, p, NULL, err);
	bpf_code_free(&code);
	return rc;
}

static int run(struct vm_prog *p, const void *ctx, size_t size, uint64_t budget, uint64_t *result)
{
	struct vm *vm = malloc(sizeof(*vm));
	int rc;

	assert_non_null(vm);
	vm_init(vm, NULL);
	vm->budget = budget;
	rc = vm_run(vm, p, ctx, size, result);
	vm_free(vm);
	free(vm);
	return rc;
}

/* ---- r0 = a op b, of 64 and of 32 bits; b as a register and as a number ---- */

static const struct {
	uint8_t op;
	uint64_t a;
	int32_t b;
	uint64_t want64, want32;
} alu[] = {
	{BPF_ADD, 0xffffffff, 1, 0x100000000, 0},
	{BPF_SUB, 0, 1, UINT64_MAX, UINT32_MAX},
	{BPF_MUL, 0x100000001, -1, 0xfffffffeffffffff, 0xffffffff},
	{BPF_DIV, 0x100000064, 10, 0x199999a3, 10},
	{BPF_DIV, 5, 0, 0, 0},
	{BPF_MOD, 0x100000064, 7, 0x100000064 % 7, 2},
	{BPF_MOD, 0x100000005, 0, 0x100000005, 5},
	{BPF_AND, 0xffff0000ffff, -256, 0xffff0000ff00, 0xff00},
	{BPF_OR, 0x100000000, -2, 0xfffffffffffffffe, 0xfffffffe},
	{BPF_XOR, 1, -1, 0xfffffffffffffffe, 0xfffffffe},
	{BPF_LSH, 0x80000001, 1, 0x100000002, 2},
	{BPF_LSH, 1, 65, 2, 2},
	{BPF_RSH, 0x8000000000000000, 4, 0x800000000000000, 0},
	{BPF_ARSH, 0x8000000080000000, 4, 0xf800000008000000, 0xf8000000},
	{BPF_MOV, 1, -1, UINT64_MAX, UINT32_MAX},
};

static void test_alu(void **state)
{
	for (size_t n = 0; n < sizeof(alu) / sizeof(*alu); n++) {
		for (int form = 0; form < 4; form++) {
			const uint8_t class = form & 1 ? BPF_ALU : BPF_ALU64;
			const uint8_t from = form & 2 ? BPF_X : BPF_K;
			const struct bpf_insn insns[] = {
				I(BPF_LD | BPF_IMM | BPF_DW, 0, 0, 0, (int32_t)alu[n].a),
				I(0, 0, 0, 0, (int32_t)(alu[n].a >> 32)),
				I(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, alu[n].b),
				I(class | alu[n].op | from, 0, from ? 2 : 0, 0,
				  from ? 0 : alu[n].b),
				EXIT,
			};
			struct spur_error err = {0};
			struct vm_prog *p = NULL;
			uint64_t result;

			assert_int_equal(decode(insns, 5, &p, &err), 0);
			assert_int_equal(run(p, NULL, 0, 0, &result), 0);
			if (result != (form & 1 ? alu[n].want32 : alu[n].want64))
				fail_msg("line %zu, form %d: %llx", n, form,
					 (unsigned long long)result);
			vm_prog_free(p);
		}
	}
}

/* ---- comparisons ---- */

static const struct {
	uint8_t op;
	uint64_t a;
	int32_t b;
	bool jumps64, jumps32;
} jumps[] = {
	{BPF_JEQ, 0x100000001, 1, false, true}, {BPF_JNE, 0x100000001, 1, true, false},
	{BPF_JGT, 0x100000000, 1, true, false}, {BPF_JGE, 0x100000000, 1, true, false},
	{BPF_JLT, 0x100000000, 1, false, true}, {BPF_JLE, 1, 1, true, true},
	{BPF_JGT, 1, -1, false, false},		{BPF_JSGT, 1, -1, true, true},
	{BPF_JSGE, 0x80000000, 0, true, false}, {BPF_JSLT, 0x80000000, 0, false, true},
	{BPF_JSLE, 0, 0, true, true},		{BPF_JSET, 0x100000000, -2, true, false},
};

static void test_jumps(void **state)
{
	for (size_t n = 0; n < sizeof(jumps) / sizeof(*jumps); n++) {
		for (int form = 0; form < 4; form++) {
			const uint8_t class = form & 1 ? BPF_JMP32 : BPF_JMP;
			const uint8_t from = form & 2 ? BPF_X : BPF_K;
			const struct bpf_insn insns[] = {
				I(BPF_LD | BPF_IMM | BPF_DW, 1, 0, 0, (int32_t)jumps[n].a),
				I(0, 0, 0, 0, (int32_t)(jumps[n].a >> 32)),
				I(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, jumps[n].b),
				I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 1),
				I(class | jumps[n].op | from, 1, from ? 2 : 0, 1,
				  from ? 0 : jumps[n].b),
				I(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0),
				EXIT,
			};
			struct spur_error err = {0};
			struct vm_prog *p = NULL;
			uint64_t result;

			assert_int_equal(decode(insns, 7, &p, &err), 0);
			assert_int_equal(run(p, NULL, 0, 0, &result), 0);
			if (result != (form & 1 ? jumps[n].jumps32 : jumps[n].jumps64))
				fail_msg("line %zu, form %d", n, form);
			vm_prog_free(p);
		}
	}
}

/* ---- a context that ends early reads as 0 ---- */

static void test_short_context(void **state)
{
	const struct bpf_insn insns[] = {I(BPF_LDX | BPF_MEM | BPF_DW, 0, 1, 56, 0), EXIT};
	struct spur_error err = {0};
	struct vm_prog *p = NULL;

	assert_int_equal(decode(insns, 2, &p, &err), 0);
	for (size_t size = 0; size <= 64; size++) {
		uint8_t *ctx = malloc(size + 1);
		uint64_t want = 0, got;

		assert_non_null(ctx);
		memset(ctx, 0xaa, size + 1);
		if (size > 56)
			memset(&want, 0xaa, size - 56);
		/* Exactly as long as it is, for the sanitizer. */
		ctx = realloc(ctx, size ? size : 1);
		assert_int_equal(run(p, size ? ctx : NULL, size, 0, &got), 0);
		assert_int_equal(got, want);
		free(ctx);
	}
	vm_prog_free(p);
}

/* ---- what never ends ---- */

static void test_budget(void **state)
{
	const struct bpf_insn forever[] = {I(BPF_JMP | BPF_JA, 0, 0, -1, 0), EXIT};
	const struct bpf_insn ten[] = {
		I(BPF_ALU64 | BPF_ADD | BPF_K, 0, 0, 0, 1),
		I(BPF_JMP | BPF_JLT | BPF_K, 0, 0, -2, 10),
		EXIT,
	};
	struct spur_error err = {0};
	struct vm_prog *p = NULL;
	uint64_t result;

	assert_int_equal(decode(forever, 2, &p, &err), 0);
	assert_int_equal(run(p, NULL, 0, 1000000, &result), -ELOOP);
	vm_prog_free(p);
	assert_int_equal(decode(ten, 3, &p, &err), 0);
	assert_int_equal(run(p, NULL, 0, 18, &result), 0);
	assert_int_equal(result, 10);
	assert_int_equal(run(p, NULL, 0, 17, &result), -ELOOP);
	vm_prog_free(p);
}

/* A callback that calls itself back, deeper and deeper. */
static uint64_t help_again(struct vm *vm, uint64_t func, uint64_t b, uint64_t c, uint64_t d,
			   uint64_t e)
{
	return vm_call(vm, func, func, 0, 0, 0, 0) + 1;
}

static uint64_t help_fail(struct vm *vm, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
	vm->rc = -EFAULT;
	return 0;
}

static void test_calls(void **state)
{
	const struct bpf_insn deep[] = {
		I(BPF_LD | BPF_IMM | BPF_DW, 1, BPF_PSEUDO_FUNC, 0, 3),
		I(0, 0, 0, 0, 0),
		I(BPF_JMP | BPF_CALL, 0, 0, 0, 200),
		EXIT,
		I(BPF_JMP | BPF_CALL, 0, 0, 0, 200),
		EXIT,
	};
	const struct bpf_insn fails[] = {
		I(BPF_JMP | BPF_CALL, 0, 0, 0, 201),
		I(BPF_ST | BPF_MEM | BPF_DW, 0, 0, 0, 1), /* would crash */
		EXIT,
	};
	struct spur_error err = {0};
	struct vm_prog *p = NULL;

	helpers[200] = help_again;
	helpers[201] = help_fail;
	assert_int_equal(decode(deep, 6, &p, &err), 0);
	assert_int_equal(run(p, NULL, 0, VM_BUDGET, NULL), -EOVERFLOW);
	vm_prog_free(p);
	assert_int_equal(decode(fails, 3, &p, &err), 0);
	assert_int_equal(run(p, NULL, 0, VM_BUDGET, NULL), -EFAULT);
	vm_prog_free(p);
}

/* ---- what is no program ---- */

static const struct {
	struct bpf_insn insn;
	int code;
	const char *says;
} refusals[] = {
	{I(BPF_JMP | BPF_CALL, 0, 0, 0, 250), -ENOSYS, "has no helper 250"},
	{I(BPF_JMP | BPF_CALL, 0, 0, 0, -1), -ENOSYS, "has no helper -1"},
	{I(BPF_JMP | BPF_JA, 0, 0, 5, 0), -EINVAL, "a jump to nowhere"},
	{I(BPF_JMP | BPF_JA, 0, 0, -5, 0), -EINVAL, "a jump to nowhere"},
	{I(BPF_ALU64 | BPF_MOV | BPF_K, 11, 0, 0, 0), -EINVAL, "a register that does not exist"},
	{I(BPF_LD | BPF_ABS | BPF_W, 0, 0, 0, 0), -EINVAL,
	 "not an instruction that the executor knows"},
	{I(BPF_STX | BPF_ATOMIC | BPF_DW, 0, 0, 0, BPF_XCHG), -EINVAL, "an atomic operation"},
};

static void test_refusals(void **state)
{
	for (size_t n = 0; n < sizeof(refusals) / sizeof(*refusals); n++) {
		const struct bpf_insn insns[] = {refusals[n].insn, EXIT};
		struct spur_error err = {0};
		struct vm_prog *p = NULL;

		assert_int_equal(decode(insns, 2, &p, &err), refusals[n].code);
		if (!strstr(err.text, refusals[n].says))
			fail_msg("%s", err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alu),	      cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_short_context), cmocka_unit_test(test_budget),
		cmocka_unit_test(test_calls),	      cmocka_unit_test(test_refusals),
	};

	vm_helpers(helpers);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
