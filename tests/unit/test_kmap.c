// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Maps and buffers of the kernel, as spur reads them and as its own executor sees them. Needs root;
 * without, everything is skipped.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "code/code.h"
#include "code/kmap.h"
#include "code/ring.h"
#include "code/sys.h"
#include "ir_frame.h"

static struct bpf_features features;

static void need_kernel(void)
{
	if (geteuid() || !bpf_has(&features, FEATURE_TEST_RUN)) {
		print_message("the kernel does not let us run programs\n");
		skip();
	}
}

/* ---- a program that adds 1 to the value of key 7, in the kernel and in the executor ---- */

static void build_add(struct ir_prog *p, uint64_t key, uint32_t key_size)
{
	struct ir_func *f = ir_add_func(p, 1);
	const uint32_t k = ir_frame_room(f, 8, 8), v = ir_frame_room(f, 16, 8);
	const ir_label none = ir_new_label(f), end = ir_new_label(f);
	ir_reg at;

	ir_store_const(f, ir_frame(f, k), 0, key_size, (int64_t)key);
	at = IR_CALL(f, BPF_FUNC_map_lookup_elem, ir_map(f, 0), ir_frame(f, k));
	ir_branch_const(f, IR_EQ, at, 0, none);
	ir_store(f, at, 8, 8, ir_binary_const(f, IR_ADD, ir_load(f, at, 8, 8, false), 1));
	ir_jump(f, end);
	ir_place(f, none);
	ir_store_const(f, ir_frame(f, v), 0, 8, 1);
	ir_store_const(f, ir_frame(f, v), 8, 8, 1);
	IR_CALL(f, BPF_FUNC_map_update_elem, ir_map(f, 0), ir_frame(f, k), ir_frame(f, v),
		ir_const(f, BPF_NOEXIST));
	ir_place(f, end);
	ir_return_const(f, 0);
}

struct total {
	uint64_t sum;
	size_t entries, values;
};

static int add_up(void *arg, const void *key, const uint8_t *values, size_t nr, size_t stride)
{
	struct total *t = arg;

	t->entries++;
	t->values = nr;
	for (size_t n = 0; n < nr; n++)
		t->sum += ((const uint64_t *)(values + n * stride))[1];
	return 0;
}

static struct total read_all(struct kmap *m)
{
	struct spur_error err = {0};
	struct total t = {0};

	if (kmap_read(m, add_up, &t, &err))
		fail_msg("%s", err.text);
	return t;
}

static const struct {
	const char *name;
	enum map_kind kind;
	uint32_t key_size;
	uint64_t key;
} kinds[] = {
	{"hash", MAP_HASH, 8, 7},
	{"LRU hash", MAP_LRU_HASH, 8, 7},
	{"per-CPU hash", MAP_PERCPU_HASH, 4, 7},
	{"per-CPU LRU hash", MAP_PERCPU_LRU_HASH, 8, 7},
	{"array", MAP_ARRAY, 4, 0},
	{"per-CPU array", MAP_PERCPU_ARRAY, 4, 0},
	{"array of several", MAP_ARRAY, 4, 3},
};

static void run_both(struct kmaps *k, uint64_t key, uint32_t key_size, int in_kernel, int in_user)
{
	static vm_helper helpers[VM_HELPERS];
	const struct vm_links links = {
		.helpers = helpers, .maps = k->views, .nr_maps = k->n, .shared = true};
	const struct bpf_load_options o = {.type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	struct ir_prog p = {0};
	struct bpf_code code;
	struct spur_error err = {0};
	struct vm_prog *prog = NULL;
	struct vm *vm = malloc(sizeof(*vm));
	int fd;

	assert_non_null(vm);
	build_add(&p, key, key_size);
	assert_int_equal(bpf_emit(&p, &features, &code, NULL, &err), 0);
	fd = bpf_load(&code, k->fds, &o, NULL, NULL, &err);
	if (fd < 0)
		fail_msg("%s", err.text);
	vm_helpers(helpers);
	vm_init(vm, NULL);
	assert_int_equal(vm_decode(&code, &links, &prog, NULL, &err), 0);
	while (in_kernel > 0 || in_user > 0) {
		if (in_kernel-- > 0)
			assert_int_equal(sys_prog_test_run(fd, NULL, 0, NULL), 0);
		if (in_user-- > 0) {
			assert_int_equal(vm_run(vm, prog, NULL, 0, NULL), 0);
			kmaps_flush(k);
		}
	}
	close(fd);
	vm_prog_free(prog);
	vm_free(vm);
	free(vm);
	bpf_code_free(&code);
	ir_prog_free(&p);
}

static void check_kind(size_t n)
{
	struct map_def def = {
		.name = "test map",
		.kind = kinds[n].kind,
		.key_size = kinds[n].key_size,
		.value_size = 16,
		.entries = kinds[n].kind >= MAP_ARRAY ? (uint32_t)kinds[n].key + 1 : 1000,
		.flagged = kinds[n].kind >= MAP_ARRAY,
	};
	struct spur_error err = {0};
	struct unit u;
	struct kmaps k;
	struct total t;
	uint64_t key = kinds[n].key;

	unit_init(&u);
	*vec_push(&u.maps) = &def;
	if (kmaps_create(&k, &u, &features, &err))
		fail_msg("%s", err.text);
	run_both(&k, key, def.key_size, 5, 3);
	t = read_all(&k.at[0]);
	if (t.sum != 8)
		fail_msg("%s: %llu", kinds[n].name, (unsigned long long)t.sum);
	/* The other one first: nothing may get lost either. */
	assert_int_equal(kmap_zero(&k.at[0], &err), 0);
	assert_int_equal(read_all(&k.at[0]).sum, 0);
	assert_int_equal(read_all(&k.at[0]).entries, t.entries);
	run_both(&k, key, def.key_size, 0, 2);
	run_both(&k, key, def.key_size, 4, 0);
	assert_int_equal(read_all(&k.at[0]).sum, 6);
	assert_int_equal(kmap_clear(&k.at[0], &err), 0);
	t = read_all(&k.at[0]);
	assert_int_equal(t.sum, 0);
	assert_int_equal(t.entries, def.kind >= MAP_ARRAY ? def.entries : 0);
	/* What only the executor has is read, too. */
	run_both(&k, key, def.key_size, 0, 2);
	assert_int_equal(read_all(&k.at[0]).sum, 2);
	assert_int_equal(kmap_read_one(&k.at[0], &key, add_up, &t, &err), 0);
	assert_int_equal(t.sum, 2);
	kmaps_close(&k);
	unit_free(&u);
}

static void test_kinds(void **state)
{
	need_kernel();
	for (size_t n = 0; n < sizeof(kinds) / sizeof(*kinds); n++)
		check_kind(n);
}

/* Many entries, by batches and one by one. */
static void test_many(void **state)
{
	struct map_def def = {.name = "many", .key_size = 12, .value_size = 16, .entries = 3000};
	struct spur_error err = {0};

	need_kernel();
	for (int kind = MAP_HASH; kind <= MAP_PERCPU_HASH; kind += 2) {
		struct unit u;
		struct kmaps k;

		def.kind = (enum map_kind)kind;
		unit_init(&u);
		*vec_push(&u.maps) = &def;
		assert_int_equal(kmaps_create(&k, &u, &features, &err), 0);
		for (uint32_t n = 0; n < def.entries; n++) {
			const uint32_t key[3] = {n, 1, n};
			const uint64_t value[2] = {0, n};

			assert_int_equal(kmap_update(&k.at[0], key, value, BPF_ANY), 0);
		}
		assert_int_equal(read_all(&k.at[0]).entries, def.entries);
		assert_int_equal(read_all(&k.at[0]).sum,
				 (uint64_t)def.entries * (def.entries - 1) / 2 * k.at[0].cpus);
		assert_int_equal(kmap_clear(&k.at[0], &err), 0);
		assert_int_equal(read_all(&k.at[0]).entries, 0);
		kmaps_close(&k);
		unit_free(&u);
	}
}

/* ---- the executor goes through a map of the kernel, and deletes from it meanwhile ---- */

static void test_loop(void **state)
{
	struct map_def def = {
		.name = "loop", .kind = MAP_HASH, .key_size = 8, .value_size = 8, .entries = 100};
	struct spur_error err = {0};
	struct vm_map *view;
	struct unit u;
	struct kmaps k;
	uint64_t at = 0, sum = 0;
	const void *key;
	void *value;

	need_kernel();
	unit_init(&u);
	*vec_push(&u.maps) = &def;
	assert_int_equal(kmaps_create(&k, &u, &features, &err), 0);
	view = k.views[0];
	for (uint64_t n = 1; n <= 50; n++)
		assert_int_equal(view->ops->update(view, &n, &n, BPF_NOEXIST), 0);
	while (view->ops->next(view, &at, &key, &value)) {
		const uint64_t n = *(const uint64_t *)key;

		sum += *(uint64_t *)value;
		*(uint64_t *)value = 1000;
		if (n % 2)
			assert_int_equal(view->ops->remove(view, key), 0);
	}
	assert_int_equal(sum, 50 * 51 / 2);
	kmaps_flush(&k);
	/* The even ones are left, and were changed. */
	for (uint64_t n = 1; n <= 50; n++) {
		uint64_t v = 0;

		assert_int_equal(sys_map_lookup(k.fds[0], &n, &v), n % 2 ? -ENOENT : 0);
		assert_int_equal(v, n % 2 ? 0 : 1000);
	}
	kmaps_close(&k);
	unit_free(&u);
}

/* ---- buffers ---- */

enum { RECORDS = 20000, RING_SIZE = 256 << 10 };

/* Sends the number that the context begins with. */
static void build_send(struct ir_prog *p, bool perf, uint64_t flags)
{
	struct ir_func *f = ir_add_func(p, 1);
	const uint32_t at = ir_frame_room(f, 24, 8);
	const ir_reg ctx = ir_arg(f, 0), n = ir_load(f, ctx, 0, 8, false);

	for (uint32_t i = 0; i < 24; i += 8)
		ir_store(f, ir_frame(f, at), i, 8, n);
	if (perf)
		IR_CALL(f, BPF_FUNC_perf_event_output, ctx, ir_map(f, 0),
			ir_const(f, BPF_F_CURRENT_CPU), ir_frame(f, at), ir_const(f, 24));
	else
		IR_CALL(f, BPF_FUNC_ringbuf_output, ir_map(f, 0), ir_frame(f, at), ir_const(f, 24),
			ir_const(f, (int64_t)flags));
	ir_return_const(f, 0);
}

struct received {
	uint64_t next;
	bool wrong;
};

static int receive(void *arg, const void *data, size_t size)
{
	struct received *r = arg;
	const uint64_t *words = data;

	r->wrong |= size < 24 || words[0] != r->next || words[2] != r->next;
	r->next++;
	return 0;
}

static void check_ring(bool perf)
{
	struct map_def def = {.name = "ring", .kind = MAP_RINGBUF, .entries = RING_SIZE};
	const struct bpf_load_options o = {.type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	struct bpf_features f = features;
	struct received r = {0};
	struct spur_error err = {0};
	struct ring *ring = NULL;
	struct ir_prog p = {0};
	struct bpf_code code;
	struct unit u;
	struct kmaps k;
	int fd;

	if (perf)
		f.state[FEATURE_RINGBUF] = FEATURE_NO;
	unit_init(&u);
	*vec_push(&u.maps) = &def;
	assert_int_equal(kmaps_create(&k, &u, &f, &err), 0);
	assert_int_equal(k.perf_ring, perf);
	build_send(&p, perf, BPF_RB_NO_WAKEUP);
	assert_int_equal(bpf_emit(&p, &f, &code, NULL, &err), 0);
	fd = bpf_load(&code, k.fds, &o, NULL, NULL, &err);
	if (fd < 0 || ring_open(k.fds[0], RING_SIZE, perf, &ring, &err))
		fail_msg("%s", err.text);
	for (uint64_t n = 0; n < RECORDS; n++) {
		const uint64_t ctx[2] = {n};

		assert_int_equal(sys_prog_test_run(fd, ctx, sizeof(ctx), NULL), 0);
		/* At times after few, at times after many, so that records lie across the end. */
		if (n % 1500 == 0 || n % 13 == 0)
			assert_true(ring_read(ring, receive, &r) >= 0);
	}
	ring_read(ring, receive, &r);
	assert_int_equal(r.next, RECORDS);
	assert_false(r.wrong);
	assert_int_equal(ring_lost(ring), 0);
	assert_int_equal(ring_read(ring, receive, &r), 0);
	ring_close(ring);
	close(fd);
	bpf_code_free(&code);
	ir_prog_free(&p);
	kmaps_close(&k);
	unit_free(&u);
}

static int readable(const struct ring *r, int ms)
{
	struct pollfd p = {.fd = ring_fd(r), .events = POLLIN};

	return poll(&p, 1, ms);
}

/* The first record wakes; while there are some, none does; after there were none, the next one. */
static void test_wakeups(void **state)
{
	struct map_def def = {.name = "ring", .kind = MAP_RINGBUF, .entries = RING_SIZE};
	const struct bpf_load_options o = {.type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	struct spur_error err = {0};
	struct ring *ring = NULL;
	struct ir_prog p = {0};
	struct bpf_code code;
	struct unit u;
	struct kmaps k;
	int fd;

	need_kernel();
	if (!bpf_has(&features, FEATURE_RINGBUF))
		skip();
	unit_init(&u);
	*vec_push(&u.maps) = &def;
	assert_int_equal(kmaps_create(&k, &u, &features, &err), 0);
	build_send(&p, false, 0);
	assert_int_equal(bpf_emit(&p, &features, &code, NULL, &err), 0);
	fd = bpf_load(&code, k.fds, &o, NULL, NULL, &err);
	assert_true(fd >= 0);
	assert_int_equal(ring_open(k.fds[0], RING_SIZE, false, &ring, &err), 0);
	for (uint64_t round = 0; round < 3; round++) {
		const uint64_t ctx[2] = {2 * round}, next[2] = {2 * round + 1};
		struct received r = {.next = 2 * round};

		assert_int_equal(readable(ring, 0), 0);
		assert_int_equal(sys_prog_test_run(fd, ctx, sizeof(ctx), NULL), 0);
		assert_int_equal(readable(ring, 5000), 1);
		assert_int_equal(ring_read(ring, receive, &r), 1);
		assert_true(ring_delay(ring) >= 0);
		assert_int_equal(sys_prog_test_run(fd, next, sizeof(next), NULL), 0);
		assert_int_equal(readable(ring, 0), 0);
		assert_int_equal(ring_read(ring, receive, &r), 1);
		assert_int_equal(ring_read(ring, receive, &r), 0);
		assert_false(r.wrong);
	}
	ring_close(ring);
	close(fd);
	bpf_code_free(&code);
	ir_prog_free(&p);
	kmaps_close(&k);
	unit_free(&u);
}

static void test_rings(void **state)
{
	cpu_set_t before, one;

	need_kernel();
	/* Perf buffers are in order on one CPU only. */
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	check_ring(false);
	check_ring(true);
	sched_setaffinity(0, sizeof(before), &before);
}

/* ---- refusals name the statement ---- */

static void test_refusal(void **state)
{
	const struct bpf_load_options o = {.type = BPF_PROG_TYPE_RAW_TRACEPOINT};
	struct ir_prog p = {0};
	struct ir_func *f = ir_add_func(&p, 1);
	struct bpf_refusal why;
	struct bpf_code code;
	struct spur_error err = {0};
	struct buf log;

	need_kernel();
	buf_init(&log, 1 << 20);
	f->at = (struct span){1, 2};
	ir_frame_room(f, 8, 8);
	f->at = (struct span){10, 20};
	/* Not a value of a map: nobody has looked whether it is there. */
	ir_store_const(f, ir_load(f, ir_arg(f, 0), 0, 8, false), 0, 8, 1);
	f->at = (struct span){30, 40};
	ir_return_const(f, 0);
	assert_int_equal(bpf_emit(&p, &features, &code, NULL, &err), 0);
	assert_true(bpf_load(&code, NULL, &o, &why, &log, &err) < 0);
	assert_true(why.known);
	assert_int_equal(why.at.from, 10);
	assert_non_null(strstr(why.reason, "invalid mem access"));
	assert_non_null(strstr(buf_str(&log), "invalid mem access"));
	buf_free(&log);
	bpf_code_free(&code);
	ir_prog_free(&p);
}

/* ---- features ---- */

static void test_features(void **state)
{
	static const uint32_t types[] = {BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_PROG_TYPE_TRACEPOINT,
					 BPF_PROG_TYPE_KPROBE, BPF_PROG_TYPE_PERF_EVENT};
	struct bpf_features f;

	for (int n = 0; n < FEATURES; n++)
		assert_non_null(bpf_feature_name((enum bpf_feature)n));
	need_kernel();
	bpf_features_init(&f);
	for (size_t n = 0; n < sizeof(types) / sizeof(*types); n++) {
		assert_true(bpf_has_helper(&f, types[n], BPF_FUNC_map_lookup_elem));
		assert_true(bpf_has_helper(&f, types[n], BPF_FUNC_ktime_get_ns));
		/* For network packets only; and none at all. */
		assert_false(bpf_has_helper(&f, types[n], BPF_FUNC_skb_store_bytes));
		assert_false(bpf_has_helper(&f, types[n], 255));
	}
	/* What was set beforehand stays. */
	f.state[FEATURE_TEST_RUN] = FEATURE_NO;
	assert_false(bpf_has(&f, FEATURE_TEST_RUN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),	 cmocka_unit_test(test_many),
		cmocka_unit_test(test_loop),	 cmocka_unit_test(test_rings),
		cmocka_unit_test(test_wakeups),	 cmocka_unit_test(test_refusal),
		cmocka_unit_test(test_features),
	};

	bpf_features_init(&features);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
