// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random programs, run three ways: the intermediate form as it stands, the eBPF made from it by
 * spur's own executor, and the same eBPF by the kernel, which must accept every one of them. All
 * three must leave the same in the maps. The kernel's part needs root and is skipped without.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "code/code.h"
#include "code/sys.h"
#include "ir_random.h"
#include "ir_run.h"

enum { NR_PROGS = 600, NR_INPUTS = 3, NR_MAPS = 2 };

static const struct map_def defs[NR_MAPS] = {
	{.kind = MAP_ARRAY, .key_size = 4, .value_size = 8 * NR_RESULTS, .entries = 1},
	{.kind = MAP_HASH, .key_size = 8, .value_size = 8, .entries = 2 * NR_KEYS},
};

static const uint64_t inputs[NR_INPUTS][NR_CTX] = {
	{0, 1, UINT64_MAX, 3},
	{1ull << 63, INT64_MAX, 0xdeadbeefcafe, 17},
	{42, (uint64_t)-42, 7, 1ull << 31},
};

/* What a program leaves behind. */
struct outcome {
	uint32_t result;
	uint64_t values[NR_RESULTS];
	uint64_t keys[NR_KEYS]; /* the value of each, or a number that says that there is none */
};

#define NO_KEY 0xabcdef0123456789ull

static void take_outcome(struct vm_map **maps, uint64_t result, struct outcome *o)
{
	const uint32_t zero = 0;

	o->result = (uint32_t)result;
	memcpy(o->values, maps[0]->ops->lookup(maps[0], &zero), sizeof(o->values));
	for (uint64_t k = 0; k < NR_KEYS; k++) {
		const uint64_t *v = maps[1]->ops->lookup(maps[1], &k);

		o->keys[k] = v ? *v : NO_KEY;
	}
}

static void make_maps(struct vm_map **maps)
{
	for (int n = 0; n < NR_MAPS; n++) {
		struct umap *m = umap_new(&defs[n]);

		assert_non_null(m);
		maps[n] = &m->base;
	}
}

static void free_maps(struct vm_map **maps)
{
	for (int n = 0; n < NR_MAPS; n++)
		umap_free((struct umap *)maps[n]);
}

static void run_ir(const struct ir_prog *p, const uint64_t *input, struct outcome *o)
{
	struct vm_map *maps[NR_MAPS];
	struct ir_run r = {.prog = p, .maps = maps, .steps = 10000000};
	uint64_t result;

	make_maps(maps);
	result = ir_run_func(&r, 0, (uint64_t[5]){(uint64_t)(uintptr_t)input});
	take_outcome(maps, result, o);
	free_maps(maps);
}

static void run_vm(const struct bpf_code *code, const uint64_t *input, struct outcome *o)
{
	struct vm_map *maps[NR_MAPS];
	vm_helper helpers[VM_HELPERS] = {0};
	const struct vm_links links = {.helpers = helpers, .maps = maps, .nr_maps = NR_MAPS};
	struct vm_prog *p = NULL;
	struct vm *vm = malloc(sizeof(*vm));
	struct spur_error err = {0};
	uint64_t result;

	assert_non_null(vm);
	make_maps(maps);
	vm_helpers(helpers);
	vm_init(vm, NULL);
	assert_int_equal(vm_decode(code, &links, &p, NULL, &err), 0);
	assert_int_equal(vm_run(vm, p, input, NR_CTX * sizeof(*input), &result), 0);
	take_outcome(maps, result, o);
	vm_prog_free(p);
	vm_free(vm);
	free(vm);
	free_maps(maps);
}

static void run_kernel(int prog, const int *fds, const uint64_t *input, struct outcome *o)
{
	const uint64_t zeros[NR_RESULTS] = {0};
	const uint32_t zero = 0;

	assert_int_equal(sys_map_update(fds[0], &zero, zeros, BPF_ANY), 0);
	for (uint64_t k = 0; k < NR_KEYS; k++)
		sys_map_delete(fds[1], &k);
	assert_int_equal(sys_prog_test_run(prog, input, NR_CTX * sizeof(*input), &o->result), 0);
	assert_int_equal(sys_map_lookup(fds[0], &zero, o->values), 0);
	for (uint64_t k = 0; k < NR_KEYS; k++)
		if (sys_map_lookup(fds[1], &k, &o->keys[k]))
			o->keys[k] = NO_KEY;
}

/* ---- the comparison ---- */

static void show(const struct ir_prog *p, const struct bpf_code *code)
{
	struct buf b;

	buf_init(&b, 1 << 20);
	ir_dump(p, &b);
	bpf_dump(code, &b);
	fprintf(stderr, "%s\n", buf_str(&b));
	buf_free(&b);
}

static bool same(const struct outcome *a, const struct outcome *b)
{
	return a->result == b->result && !memcmp(a->values, b->values, sizeof(a->values)) &&
	       !memcmp(a->keys, b->keys, sizeof(a->keys));
}

/* What differs. */
static void tell(const struct outcome *want, const struct outcome *got)
{
	if (want->result != got->result)
		fprintf(stderr, "returned %x, not %x\n", got->result, want->result);
	for (int n = 0; n < NR_RESULTS; n++)
		if (want->values[n] != got->values[n])
			fprintf(stderr, "value %d is %llx, not %llx\n", n,
				(unsigned long long)got->values[n],
				(unsigned long long)want->values[n]);
	for (int n = 0; n < NR_KEYS; n++)
		if (want->keys[n] != got->keys[n])
			fprintf(stderr, "key %d has %llx, not %llx\n", n,
				(unsigned long long)got->keys[n],
				(unsigned long long)want->keys[n]);
}

static void compare(const struct ir_prog *p, const struct bpf_code *code, int prog, const int *fds,
		    unsigned int seed)
{
	for (int n = 0; n < NR_INPUTS; n++) {
		struct outcome want = {0}, vm = {0}, kernel = {0};

		run_ir(p, inputs[n], &want);
		run_vm(code, inputs[n], &vm);
		if (!same(&want, &vm)) {
			show(p, code);
			tell(&want, &vm);
			fail_msg("program %u, input %d: the executor differs", seed, n);
		}
		if (prog < 0)
			continue;
		run_kernel(prog, fds, inputs[n], &kernel);
		if (!same(&want, &kernel)) {
			show(p, code);
			tell(&want, &kernel);
			fail_msg("program %u, input %d: the kernel differs", seed, n);
		}
	}
}

static int load(const struct ir_prog *p, const struct bpf_code *code, const int *fds,
		unsigned int seed)
{
	const struct bpf_load_options o = {.type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	struct spur_error err = {0};
	struct buf log;
	int fd;

	buf_init(&log, 1 << 20);
	fd = bpf_load(code, fds, &o, NULL, &log, &err);
	if (fd < 0) {
		show(p, code);
		fprintf(stderr, "%s\n", buf_str(&log));
		fail_msg("program %u: %s", seed, err.text);
	}
	buf_free(&log);
	return fd;
}

static void run_all(struct bpf_features *f, const int *fds, bool callbacks)
{
	for (unsigned int seed = 1; seed <= NR_PROGS; seed++) {
		struct ir_prog p = {0};
		struct bpf_code code;
		struct spur_error err = {0};
		int fd = -1;

		/* Half of them as for kernels that have no signed division. */
		f->state[FEATURE_SDIV] = fds && seed % 2 ? FEATURE_UNKNOWN : FEATURE_NO;
		random_prog(&p, seed, callbacks);
		if (bpf_emit(&p, f, &code, NULL, &err))
			fail_msg("program %u: %s", seed, err.text);
		if (fds)
			fd = load(&p, &code, fds, seed);
		compare(&p, &code, fd, fds, seed);
		if (fd >= 0)
			close(fd);
		bpf_code_free(&code);
		ir_prog_free(&p);
	}
}

static void test_executor(void **state)
{
	struct bpf_features f;

	bpf_features_user(&f);
	run_all(&f, NULL, true);
}

static void test_kernel(void **state)
{
	struct bpf_features f;
	int fds[NR_MAPS];

	bpf_features_init(&f);
	if (geteuid() || !bpf_has(&f, FEATURE_TEST_RUN)) {
		print_message("the kernel does not let us run programs\n");
		skip();
	}
	for (int n = 0; n < NR_MAPS; n++) {
		fds[n] = sys_map_create(&(struct sys_map){
			.type = n ? BPF_MAP_TYPE_HASH : BPF_MAP_TYPE_ARRAY,
			.key_size = defs[n].key_size,
			.value_size = defs[n].value_size,
			.entries = defs[n].entries,
		});
		assert_true(fds[n] >= 0);
	}
	run_all(&f, fds, bpf_has(&f, FEATURE_LOOP));
	for (int n = 0; n < NR_MAPS; n++)
		close(fds[n]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_executor),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
