// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * User-space maps. A long random sequence of operations is compared with a list that is searched
 * from the beginning, for every kind of map and for keys of all sizes that have a path of their
 * own.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "code/umap.h"

enum { ENTRIES = 40, NR_KEYS = 60, MAX_KEY = 1024, STEPS = 20000 };

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static void make_key(uint8_t *key, uint32_t size, uint32_t number)
{
	memset(key, 0, size);
	memcpy(key, &number, size < 4 ? size : 4);
	/* Keys that differ at the end only, too. */
	if (size > 4)
		key[size - 1] = (uint8_t)(number * 7);
}

/* ---- hashes ---- */

struct model {
	bool there[NR_KEYS];
	uint64_t value[NR_KEYS];
	uint64_t used[NR_KEYS]; /* when it was last used */
	void *at[NR_KEYS];
	size_t n;
};

static void forget_oldest(struct model *m)
{
	size_t oldest = NR_KEYS;

	for (size_t k = 0; k < NR_KEYS; k++)
		if (m->there[k] && (oldest == NR_KEYS || m->used[k] < m->used[oldest]))
			oldest = k;
	m->there[oldest] = false;
	m->n--;
}

static int model_update(struct model *m, uint32_t k, uint64_t v, uint64_t flags, bool lru,
			uint64_t now)
{
	if (m->there[k] && flags == BPF_NOEXIST)
		return -EEXIST;
	if (!m->there[k] && flags == BPF_EXIST)
		return -ENOENT;
	if (!m->there[k] && m->n == ENTRIES && lru)
		forget_oldest(m);
	if (!m->there[k] && m->n == ENTRIES)
		return -E2BIG;
	if (!m->there[k]) {
		m->n++;
		m->at[k] = NULL;
	}
	m->there[k] = true;
	m->value[k] = v;
	m->used[k] = now;
	return 0;
}

/* All entries, each once, with their values. */
static void check_entries(struct umap *u, const struct model *m, uint32_t key_size)
{
	uint8_t key[MAX_KEY];
	const void *k;
	void *v;
	uint64_t at = 0;
	size_t n = 0;

	while (umap_next(u, &at, &k, &v)) {
		uint32_t number = 0;

		memcpy(&number, k, key_size < 4 ? key_size : 4);
		assert_true(number < NR_KEYS && m->there[number]);
		make_key(key, key_size, number);
		assert_memory_equal(k, key, key_size);
		assert_int_equal(*(uint64_t *)v, m->value[number]);
		n++;
	}
	assert_int_equal(n, m->n);
	assert_int_equal(u->nr, m->n);
}

static void compare(enum map_kind kind, uint32_t key_size)
{
	const struct map_def def = {
		.kind = kind, .key_size = key_size, .value_size = 8, .entries = ENTRIES};
	const bool lru = kind == MAP_LRU_HASH || kind == MAP_PERCPU_LRU_HASH;
	struct umap *u = umap_new(&def);
	struct model m = {0};
	uint64_t refused = 0;
	uint8_t key[MAX_KEY];
	uint32_t state = key_size;

	assert_non_null(u);
	for (uint64_t now = 1; now <= STEPS; now++) {
		const uint32_t k = next_random(&state) % NR_KEYS, what = next_random(&state) % 100;
		const uint64_t v = next_random(&state), flags = next_random(&state) % 3;
		uint64_t *got;
		int rc;

		make_key(key, key_size, k);
		if (what < 45) {
			got = umap_lookup(u, key);
			assert_int_equal(got != NULL, m.there[k]);
			if (!got)
				continue;
			assert_int_equal(*got, m.value[k]);
			/* Values stay where they are. */
			assert_true(!m.at[k] || m.at[k] == got);
			m.at[k] = got;
			m.used[k] = now;
		} else if (what < 85) {
			rc = model_update(&m, k, v, flags, lru, now);
			refused += rc == -E2BIG;
			assert_int_equal(umap_update(u, key, &v, flags), rc);
		} else {
			assert_int_equal(umap_delete(u, key), m.there[k] ? 0 : -ENOENT);
			m.n -= m.there[k];
			m.there[k] = false;
		}
		if (now % 500 == 0)
			check_entries(u, &m, key_size);
		if (now % 7000 == 0) {
			umap_clear(u);
			m = (struct model){0};
			check_entries(u, &m, key_size);
		}
	}
	assert_true(lru || refused > 0);
	umap_free(u);
}

static void test_hashes(void **state)
{
	static const uint32_t key_sizes[] = {1, 4, 6, 8, 12, 16, 24, 100, 1024};

	for (size_t n = 0; n < sizeof(key_sizes) / sizeof(*key_sizes); n++)
		for (enum map_kind kind = MAP_HASH; kind <= MAP_PERCPU_LRU_HASH; kind++)
			compare(kind, key_sizes[n]);
}

/* ---- arrays ---- */

static void test_arrays(void **state)
{
	const uint64_t content[2] = {1, 42}, other[2] = {9, 9};
	const struct map_def def = {.kind = MAP_ARRAY,
				    .key_size = 4,
				    .value_size = 16,
				    .entries = 3,
				    .flagged = true,
				    .content = content};
	struct umap *u = umap_new(&def);
	const uint32_t keys[] = {0, 1, 3};
	uint64_t *v, at = 0;
	const void *key;
	void *value;
	uint32_t n = 0;

	assert_non_null(u);
	v = umap_lookup(u, &keys[0]);
	assert_memory_equal(v, content, sizeof(content));
	assert_ptr_equal(v, u->base.ops->value(&u->base));
	assert_null(umap_lookup(u, &keys[2]));
	assert_int_equal(umap_update(u, &keys[1], other, BPF_ANY), 0);
	assert_int_equal(umap_update(u, &keys[1], other, BPF_NOEXIST), -EEXIST);
	assert_int_equal(umap_update(u, &keys[2], other, BPF_ANY), -E2BIG);
	assert_int_equal(umap_delete(u, &keys[0]), -EINVAL);
	while (umap_next(u, &at, &key, &value))
		assert_int_equal(*(const uint32_t *)key, n++);
	assert_int_equal(n, 3);
	umap_zero(u);
	assert_int_equal(v[0], 1);
	assert_int_equal(v[1], 0);
	umap_clear(u);
	assert_int_equal(v[0], 0);
	umap_free(u);
}

/* ---- stacks ---- */

static void test_stacks(void **state)
{
	const struct map_def def = {.kind = MAP_STACK_TRACE, .value_size = 4 * 8, .entries = 2};
	const uint64_t a[] = {1, 2, 3}, b[] = {1, 2}, c[] = {5, 6, 7, 8, 9};
	struct umap *u = umap_new(&def);
	uint64_t frames[8];
	int64_t id;

	assert_non_null(u);
	id = umap_add_stack(u, a, 3);
	assert_true(id > 0);
	assert_int_equal(umap_add_stack(u, a, 3), id);
	assert_int_equal(umap_stack(u, id, frames, 8), 3);
	assert_memory_equal(frames, a, sizeof(a));
	assert_int_equal(umap_stack(u, id, frames, 2), 2);
	assert_int_not_equal(umap_add_stack(u, b, 2), id);
	/* Full; and what is longer than the map's stacks would be cut. */
	assert_int_equal(umap_add_stack(u, c, 5), -ENOMEM);
	umap_clear(u);
	id = umap_add_stack(u, c, 5);
	assert_int_equal(umap_stack(u, id, frames, 8), 4);
	assert_int_equal(umap_stack(u, 99, frames, 8), 0);
	assert_int_equal(umap_stack(u, -1, frames, 8), 0);
	umap_free(u);
}

/* ---- how histograms are laid out ---- */

static void test_histograms(void **state)
{
	static const int64_t values[] = {INT64_MIN, -1, 0,  1,	2,  3,	  4,	   7,
					 8,	    9,	31, 32, 33, 1000, 1 << 20, INT64_MAX - 1,
					 INT64_MAX};

	for (unsigned int bits = 0; bits <= 5; bits++) {
		const uint32_t nr = agg_hist_buckets(bits);
		int64_t from, to, last = INT64_MIN;

		for (size_t n = 0; n < sizeof(values) / sizeof(*values); n++) {
			const uint32_t bucket = agg_hist_bucket(values[n], bits);

			assert_true(bucket < nr);
			agg_hist_range(bucket, bits, &from, &to);
			assert_true(values[n] >= from);
			assert_true(values[n] < to || to == INT64_MAX);
		}
		/* Each begins where the one before ends. */
		for (uint32_t b = 0; b < nr; b++) {
			agg_hist_range(b, bits, &from, &to);
			assert_int_equal(from, last);
			assert_true(to > from);
			last = to;
		}
		assert_int_equal(last, INT64_MAX);
	}
	assert_int_equal(agg_lhist_buckets(&(struct vtype){.param = {0, 100, 10}}), 12);
	assert_int_equal(agg_lhist_buckets(&(struct vtype){.param = {-5, 5, 3}}), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashes),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_histograms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
