// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whole maps from the kernel: hundreds of entries with one system call where the kernel can, else
 * one by one. The executor's own values of a per-CPU map come along, and so do entries that only it
 * has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/kmap_parts.h"
#include "code/sys.h"

enum { FIRST_BATCH = 256, BATCH_BYTES = 4 << 20, KERNEL_ENOTSUPP = 524 };

struct reading {
	struct kmap *m;
	kmap_each each;
	void *arg;
	size_t key_size;
	uint8_t *values; /* of all CPUs and the executor */
};

/* Entries that the kernel has: its values, then the executor's, zeros when it has none. */
static int give(struct reading *r, const void *key, const uint8_t *values)
{
	struct kmap *m = r->m;
	const void *own;

	if (!kmap_is_percpu(m)) {
		/*
		 * Batches do not pad single values; whoever is called may count on them being
		 * aligned.
		 */
		memcpy(r->values, values, m->def->value_size);
		return r->each(r->arg, key, r->values, 1, m->stride);
	}
	memcpy(r->values, values, m->cpus * m->stride);
	memset(r->values + m->cpus * m->stride, 0, m->stride);
	own = umap_lookup(m->view->own, key);
	if (own)
		memcpy(r->values + m->cpus * m->stride, own, m->def->value_size);
	return r->each(r->arg, key, r->values, m->cpus + 1, m->stride);
}

/* Entries that only the executor has. */
static int give_own(struct reading *r)
{
	struct kmap *m = r->m;
	const void *key;
	void *value;
	uint64_t at = 0;
	int rc = 0;

	if (!kmap_is_percpu(m) || kmap_is_array(m))
		return 0;
	while (!rc && umap_next(m->view->own, &at, &key, &value)) {
		if (!sys_map_lookup(m->fd, key, r->values))
			continue;
		memset(r->values, 0, m->cpus * m->stride);
		memcpy(r->values + m->cpus * m->stride, value, m->def->value_size);
		rc = r->each(r->arg, key, r->values, m->cpus + 1, m->stride);
	}
	return rc;
}

/* ---- one by one ---- */

static int read_slowly(struct reading *r)
{
	struct kmap *m = r->m;
	uint8_t *key = calloc(2, r->key_size), *next = key + r->key_size;
	uint8_t *values = calloc(m->cpus, m->stride);
	/* Entries that come and go may make the kernel begin anew; there is an end to that. */
	uint64_t left = 4ull * m->def->entries + 16;
	int rc = key && values ? 0 : -ENOMEM;
	const uint8_t *from = NULL;

	while (!rc && left-- && !sys_map_next(m->fd, from, next)) {
		memcpy(key, next, r->key_size);
		from = key;
		if (!sys_map_lookup(m->fd, key, values))
			rc = give(r, key, values);
	}
	free(key);
	free(values);
	return rc;
}

/* ---- many at once ---- */

struct batch {
	uint8_t *keys, *values, *at;
	uint32_t size;
};

static bool make_batch(const struct reading *r, struct batch *b, uint32_t size)
{
	const size_t each = r->key_size + r->m->cpus * r->m->stride;

	free(b->keys);
	if (size > r->m->def->entries)
		size = r->m->def->entries;
	if (size > FIRST_BATCH && size * each > BATCH_BYTES)
		size = (uint32_t)(BATCH_BYTES / each) + FIRST_BATCH;
	b->size = size;
	b->keys = calloc(size, each);
	b->values = b->keys + size * r->key_size;
	return b->keys != NULL;
}

static bool cannot(int rc)
{
	return rc == -EINVAL || rc == -EOPNOTSUPP || rc == -KERNEL_ENOTSUPP || rc == -EPERM;
}

/* -EOPNOTSUPP when the kernel cannot, and nothing has been read. */
static int read_batches(struct reading *r)
{
	const size_t values =
		kmap_is_percpu(r->m) ? r->m->cpus * r->m->stride : r->m->def->value_size;
	const size_t token = r->key_size + 8;
	struct batch b = {.at = calloc(2, token)};
	bool first = true, last = false;
	int rc = b.at && make_batch(r, &b, FIRST_BATCH) ? 0 : -ENOMEM;

	while (!rc && !last) {
		uint32_t n = b.size;
		const int got = sys_map_lookup_batch(r->m->fd, first ? NULL : b.at, b.at + token,
						     b.keys, b.values, &n);

		if (got == -ENOSPC && b.size < r->m->def->entries) {
			rc = make_batch(r, &b, b.size * 2) ? 0 : -ENOMEM;
			continue;
		}
		if (got && got != -ENOENT) {
			rc = first && (cannot(got) || got == -ENOSPC) ? -EOPNOTSUPP : got;
			break;
		}
		last = got == -ENOENT;
		first = false;
		memcpy(b.at, b.at + token, token);
		for (uint32_t i = 0; i < n && !rc; i++)
			rc = give(r, b.keys + i * r->key_size, b.values + i * values);
	}
	free(b.keys);
	free(b.at);
	return rc;
}

static bool is_hash(const struct kmap *m)
{
	return m->def->kind <= MAP_PERCPU_LRU_HASH;
}

int kmap_read(struct kmap *m, kmap_each each, void *arg, struct spur_error *err)
{
	struct reading r = {.m = m, .each = each, .arg = arg, .key_size = m->view->base.key_size};
	int rc = -EOPNOTSUPP;

	r.values = calloc(m->cpus + 1, m->stride);
	if (!r.values)
		return error_set(err, -ENOMEM, "not enough memory to read map @%s", m->def->name);
	if (is_hash(m))
		rc = read_batches(&r);
	if (rc == -EOPNOTSUPP)
		rc = read_slowly(&r);
	if (!rc)
		rc = give_own(&r);
	free(r.values);
	if (rc < 0)
		error_set(err, rc, "cannot read map @%s: %s", m->def->name, strerror(-rc));
	return rc;
}

int kmap_read_one(struct kmap *m, const void *key, kmap_each each, void *arg,
		  struct spur_error *err)
{
	struct reading r = {.m = m, .each = each, .arg = arg, .key_size = m->view->base.key_size};
	uint8_t *values = calloc(m->cpus, m->stride);
	int rc;

	r.values = calloc(m->cpus + 1, m->stride);
	if (!r.values || !values)
		rc = error_set(err, -ENOMEM, "not enough memory to read map @%s", m->def->name);
	else {
		rc = sys_map_lookup(m->fd, key, values);
		if (rc == -ENOENT && kmap_is_percpu(m) && umap_lookup(m->view->own, key))
			rc = 0;
		if (!rc)
			rc = give(&r, key, values);
		else if (rc != -ENOENT)
			error_set(err, rc, "cannot read map @%s: %s", m->def->name, strerror(-rc));
	}
	free(r.values);
	free(values);
	return rc;
}

/* ---- keys only ---- */

struct collect {
	struct buf keys;
	size_t key_size, n;
};

static int collect_key(void *arg, const void *key, const uint8_t *values, size_t nr, size_t stride)
{
	struct collect *c = arg;

	buf_put(&c->keys, key, c->key_size);
	c->n++;
	return buf_full(&c->keys) ? -ENOMEM : 0;
}

uint8_t *kmap_keys(struct kmap *m, size_t *n)
{
	struct collect c = {.key_size = m->view->base.key_size};
	uint8_t *keys = NULL;

	buf_init(&c.keys, (size_t)1 << 30);
	if (!kmap_read(m, collect_key, &c, NULL)) {
		keys = malloc(c.keys.len + 1);
		if (keys)
			memcpy(keys, c.keys.data, c.keys.len);
	}
	*n = c.n;
	buf_free(&c.keys);
	return keys;
}
