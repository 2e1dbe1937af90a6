// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From IR to eBPF: what comes out, instruction by instruction, for programs that scripts are made
 * of; values for every operation; and what is refused. A new case is a function that builds a
 * program and a line in a table. Whether the code does what the IR says is tested at random in
 * test_bpf_diff.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/vec.h"
#include "ir_frame.h"
#include "ir_run.h"

/* ---- programs and the code that they become ---- */

static void build_nothing(struct ir_prog *p)
{
	ir_add_func(p, 1);
}

/* @ = count(), in an array for each CPU. */
static void build_count(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const uint32_t key = ir_frame_room(f, 4, 4);
	const ir_label none = ir_new_label(f);
	ir_reg v;

	ir_store_const(f, ir_frame(f, key), 0, 4, 0);
	v = IR_CALL(f, BPF_FUNC_map_lookup_elem, ir_map(f, 3), ir_frame(f, key));
	ir_branch_const(f, IR_EQ, v, 0, none);
	ir_store_const(f, v, 0, 8, 1);
	ir_store(f, v, 8, 8, ir_binary_const(f, IR_ADD, ir_load(f, v, 8, 8, false), 1));
	ir_place(f, none);
	ir_return_const(f, 0);
}

/* @ = sum(args.x), in one value for all. */
static void build_sum(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const ir_reg x = ir_load(f, ir_arg(f, 0), 16, 4, true);

	ir_add_atomic(f, ir_map_value(f, 1, 8), 0, 8, x);
	ir_return_const(f, 0);
}

/* The context is needed after a call; a result goes straight to where the next call wants it. */
static void build_calls(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const ir_reg id = IR_CALL(f, BPF_FUNC_get_current_pid_tgid, ir_arg(f, 0));
	const ir_reg pid = ir_binary_const(f, IR_SHR, id, 32);
	const ir_reg x = ir_load(f, ir_arg(f, 0), 8, 8, false);

	IR_CALL(f, 100, pid, x);
	ir_return(f, x);
}

/* Arguments that stand where others want to be. */
static void build_circle(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 3);

	IR_CALL(f, 100, ir_arg(f, 1), ir_arg(f, 2), ir_arg(f, 0));
	ir_return_const(f, 0);
}

static void build_offsets(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const uint32_t at = ir_frame_room(f, 64, 8);
	const ir_reg a = ir_binary_const(f, IR_ADD, ir_frame(f, at), 16);
	const ir_reg b = ir_binary_const(f, IR_ADD, ir_arg(f, 0), 24);

	ir_store(f, a, 8, 8, ir_load(f, b, 8, 8, false));
	IR_CALL(f, 100, a);
	ir_return_const(f, 0);
}

/* Too far for the instruction. */
static void build_far(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const ir_reg v = ir_map_value(f, 0, 8);

	ir_store(f, v, 40000, 8, ir_load(f, v, 32767, 1, false));
	ir_return_const(f, 0);
}

/* if (a) { } else { store }: one branch is enough. */
static void build_branches(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const ir_label yes = ir_new_label(f), no = ir_new_label(f), end = ir_new_label(f);
	const ir_reg x = ir_load(f, ir_arg(f, 0), 8, 8, false);

	ir_branch_const(f, IR_SGT, x, 5, yes);
	ir_jump(f, no);
	ir_place(f, yes);
	ir_store_const(f, ir_map_value(f, 0, 0), 0, 1, 7);
	ir_jump(f, end);
	ir_place(f, no);
	ir_jump(f, end);
	ir_place(f, end);
	ir_return_const(f, 0);
	ir_store_const(f, ir_map_value(f, 0, 0), 0, 1, 8);
}

static void build_unused(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const ir_reg x = ir_load(f, ir_arg(f, 0), 8, 8, false);

	ir_binary(f, IR_MUL, x, ir_const(f, 1ll << 40));
	ir_return_const(f, -1);
	ir_return_const(ir_add_func(p, 2), 0);
}

static const struct {
	const char *name;
	void (*build)(struct ir_prog *p);
	const char *code;
} listings[] = {
	{"nothing", build_nothing,
	 "   0: r0 = 0\n"
	 "   1: exit\n"},
	{"count", build_count,
	 "   0: *(u32 *)(r10 - 8) = 0\n"
	 "   1: r1 = map 3\n"
	 "   3: r2 = r10\n"
	 "   4: r2 += -8\n"
	 "   5: call map_lookup_elem#1\n"
	 "   6: if r0 == 0 goto 11\n"
	 "   7: *(u64 *)(r0 + 0) = 1\n"
	 "   8: r5 = *(u64 *)(r0 + 8)\n"
	 "   9: r5 += 1\n"
	 "  10: *(u64 *)(r0 + 8) = r5\n"
	 "  11: r0 = 0\n"
	 "  12: exit\n"},
	{"sum", build_sum,
	 "   0: r0 = *(u32 *)(r1 + 16)\n"
	 "   1: r0 <<= 32\n"
	 "   2: r0 s>>= 32\n"
	 "   3: r5 = value of map 1 + 8\n"
	 "   5: lock *(u64 *)(r5 + 0) += r0\n"
	 "   6: r0 = 0\n"
	 "   7: exit\n"},
	{"calls", build_calls,
	 "   0: r6 = r1\n"
	 "   1: call get_current_pid_tgid#14\n"
	 "   2: r0 >>= 32\n"
	 "   3: r6 = *(u64 *)(r6 + 8)\n"
	 "   4: r1 = r0\n"
	 "   5: r2 = r6\n"
	 "   6: call #100\n"
	 "   7: r0 = r6\n"
	 "   8: exit\n"},
	{"circle", build_circle,
	 "   0: r0 = r2\n"
	 "   1: r2 = r3\n"
	 "   2: r3 = r1\n"
	 "   3: r1 = r0\n"
	 "   4: call #100\n"
	 "   5: r0 = 0\n"
	 "   6: exit\n"},
	{"offsets", build_offsets,
	 "   0: r0 = *(u64 *)(r1 + 32)\n"
	 "   1: *(u64 *)(r10 - 40) = r0\n"
	 "   2: r1 = r10\n"
	 "   3: r1 += -48\n"
	 "   4: call #100\n"
	 "   5: r0 = 0\n"
	 "   6: exit\n"},
	{"far", build_far,
	 "   0: r0 = value of map 0 + 8\n"
	 "   2: r5 = *(u8 *)(r0 + 32767)\n"
	 "   3: r0 += 40000\n"
	 "   4: *(u64 *)(r0 + 0) = r5\n"
	 "   5: r0 = 0\n"
	 "   6: exit\n"},
	{"branches", build_branches,
	 "   0: r0 = *(u64 *)(r1 + 8)\n"
	 "   1: if r0 s<= 5 goto 5\n"
	 "   2: r0 = value of map 0 + 0\n"
	 "   4: *(u8 *)(r0 + 0) = 7\n"
	 "   5: r0 = 0\n"
	 "   6: exit\n"},
	{"what is not used", build_unused,
	 "   0: r0 = -1\n"
	 "   1: exit\n"},
};

static void test_listings(void **state)
{
	struct bpf_features f;
	struct buf b;

	bpf_features_user(&f);
	buf_init(&b, 1 << 16);
	for (size_t n = 0; n < sizeof(listings) / sizeof(*listings); n++) {
		struct ir_prog p = {0};
		struct bpf_code code;
		struct spur_error err = {0};

		buf_reset(&b);
		listings[n].build(&p);
		assert_int_equal(bpf_emit(&p, &f, &code, NULL, &err), 0);
		bpf_dump(&code, &b);
		if (strcmp(buf_str(&b), listings[n].code))
			fail_msg("%s:\n%s", listings[n].name, buf_str(&b));
		bpf_code_free(&code);
		ir_prog_free(&p);
	}
	buf_free(&b);
}

/* ---- every operation on values at the edges ---- */

static const int64_t edges[] = {0,
				1,
				-1,
				2,
				3,
				7,
				63,
				64,
				255,
				-128,
				0x7fff,
				INT32_MAX,
				INT32_MIN,
				UINT32_MAX,
				INT64_MAX,
				INT64_MIN,
				INT64_MAX - 1,
				INT64_MIN + 1,
				0x0123456789abcdef};
#define NR_EDGES (sizeof(edges) / sizeof(*edges))

static uint64_t run_code(const struct ir_prog *p, struct bpf_features *f, const void *ctx,
			 size_t size)
{
	vm_helper helpers[VM_HELPERS] = {0};
	const struct vm_links links = {.helpers = helpers};
	struct vm_prog *prog = NULL;
	struct vm *vm = malloc(sizeof(*vm));
	struct bpf_code code;
	struct spur_error err = {0};
	uint64_t result = 0;

	assert_non_null(vm);
	vm_init(vm, NULL);
	vm_helpers(helpers);
	assert_int_equal(bpf_emit(p, f, &code, NULL, &err), 0);
	assert_int_equal(vm_decode(&code, &links, &prog, NULL, &err), 0);
	assert_int_equal(vm_run(vm, prog, ctx, size, &result), 0);
	vm_prog_free(prog);
	bpf_code_free(&code);
	vm_free(vm);
	free(vm);
	return result;
}

static void check_binary(struct bpf_features *f, enum ir_op op, bool immediate, int64_t b)
{
	struct ir_prog p = {0};
	struct ir_func *func = ir_add_func(&p, 1);
	const ir_reg ctx = ir_arg(func, 0), a = ir_load(func, ctx, 0, 8, false);

	ir_return(func, immediate ? ir_binary_const(func, op, a, b)
				  : ir_binary(func, op, a, ir_load(func, ctx, 8, 8, false)));
	for (size_t n = 0; n < NR_EDGES; n++) {
		const int64_t input[2] = {edges[n], b};
		const uint64_t got = run_code(&p, f, input, sizeof(input));

		if (got != ir_alu(op, (uint64_t)edges[n], (uint64_t)b))
			fail_msg("operation %d of %lld and %lld: %llx", op, (long long)edges[n],
				 (long long)b, (unsigned long long)got);
	}
	ir_prog_free(&p);
}

static void test_binary(void **state)
{
	for (int sdiv = FEATURE_NO; sdiv <= FEATURE_YES; sdiv++) {
		struct bpf_features f;

		bpf_features_user(&f);
		f.state[FEATURE_SDIV] = (uint8_t)sdiv;
		for (enum ir_op op = IR_ADD; op <= IR_SAR; op++)
			for (size_t n = 0; n < NR_EDGES; n++) {
				check_binary(&f, op, false, edges[n]);
				check_binary(&f, op, true, edges[n]);
			}
	}
}

static void test_unary(void **state)
{
	static const uint32_t sizes[] = {1, 2, 4, 8};
	struct bpf_features f;

	bpf_features_user(&f);
	for (enum ir_op op = IR_NEG; op <= IR_SWAP; op++)
		for (size_t s = 0; s < 4; s++)
			for (size_t n = 0; n < NR_EDGES; n++) {
				struct ir_prog p = {0};
				struct ir_func *func = ir_add_func(&p, 1);
				const ir_reg a = ir_load(func, ir_arg(func, 0), 0, 8, false);

				ir_return(func, ir_unary(func, op, a, sizes[s]));
				assert_int_equal(run_code(&p, &f, &edges[n], 8),
						 ir_one(op, (uint64_t)edges[n], sizes[s]));
				ir_prog_free(&p);
			}
}

/* ---- refusals ---- */

static void build_deep(struct ir_prog *p)
{
	ir_frame_room(ir_add_func(p, 1), 520, 8);
}

/* Two functions that are too much together. */
static void build_deep_chain(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1), *g = ir_add_func(p, 2);

	ir_frame_room(f, 300, 8);
	ir_frame_room(g, 200, 8);
	IR_CALL(f, BPF_FUNC_loop, ir_const(f, 3), ir_func_address(f, 1), ir_arg(f, 0),
		ir_const(f, 0));
}

static void build_nowhere(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);

	ir_jump(f, ir_new_label(f));
}

static void build_unwritten(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);

	ir_return(f, ir_new(f));
}

static void build_half_written(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const ir_label l = ir_new_label(f);
	const ir_reg x = ir_new(f);

	ir_branch_const(f, IR_EQ, ir_load(f, ir_arg(f, 0), 0, 8, false), 0, l);
	ir_set_const(f, x, 1);
	ir_set_const(f, x, 2);
	ir_place(f, l);
	ir_return(f, x);
}

static void build_strange_size(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);

	ir_return(f, ir_load(f, ir_arg(f, 0), 0, 3, false));
}

static void build_no_argument(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);

	ir_return(f, ir_arg(f, 1));
}

static void build_no_function(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);

	ir_return(f, ir_func_address(f, 1));
}

static void build_long_jump(struct ir_prog *p)
{
	struct ir_func *f = ir_add_func(p, 1);
	const ir_label end = ir_new_label(f);

	ir_branch_const(f, IR_EQ, ir_load(f, ir_arg(f, 0), 0, 8, false), 0, end);
	for (int n = 0; n < 40000; n++)
		ir_store_const(f, ir_arg(f, 0), 0, 8, n);
	ir_place(f, end);
	ir_return_const(f, 0);
}

static const struct {
	void (*build)(struct ir_prog *p);
	int code;
	const char *says;
} refusals[] = {
	{build_deep, -E2BIG, "needs 520 bytes of stack, of which the kernel has 512"},
	{build_deep_chain, -E2BIG, "needs 544 bytes of stack"},
	{build_nowhere, -EINVAL, "jumps to nowhere"},
	{build_unwritten, -EINVAL, "reads what it has not written"},
	{build_half_written, -EINVAL, "reads what it has not written"},
	{build_strange_size, -EINVAL, "a strange access to memory"},
	{build_no_argument, -EINVAL, "an argument that does not exist"},
	{build_no_function, -EINVAL, "a function that does not exist"},
	{build_long_jump, -E2BIG, "a jump over 40000 instructions"},
};

static void test_refusals(void **state)
{
	struct bpf_features f;

	bpf_features_user(&f);
	for (size_t n = 0; n < sizeof(refusals) / sizeof(*refusals); n++) {
		struct ir_prog p = {0};
		struct bpf_code code;
		struct spur_error err = {0};

		refusals[n].build(&p);
		assert_int_equal(bpf_emit(&p, &f, &code, NULL, &err), refusals[n].code);
		if (!strstr(err.text, refusals[n].says))
			fail_msg("%s", err.text);
		ir_prog_free(&p);
	}
}

/* Each instruction knows the statement it was made for. */
static void test_spans(void **state)
{
	struct ir_prog p = {0};
	struct ir_func *f = ir_add_func(&p, 1);
	struct bpf_features features;
	struct bpf_code code;
	struct spur_error err = {0};

	bpf_features_user(&features);
	f->at = (struct span){3, 9};
	ir_store_const(f, ir_map_value(f, 0, 0), 0, 8, 1ll << 40);
	f->at = (struct span){10, 20};
	ir_return_const(f, 0);
	assert_int_equal(bpf_emit(&p, &features, &code, NULL, &err), 0);
	assert_int_equal(code.spans.n, code.insns.n);
	assert_int_equal(code.spans.at[0].from, 3);
	assert_int_equal(code.spans.at[code.spans.n - 3].to, 9);
	assert_int_equal(code.spans.at[code.spans.n - 1].from, 10);
	bpf_code_free(&code);
	ir_prog_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listings), cmocka_unit_test(test_binary),
		cmocka_unit_test(test_unary),	 cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
