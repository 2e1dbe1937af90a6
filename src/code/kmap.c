// SPDX-License-Identifier: GPL-2.0-or-later
/* Making, changing, reading and closing maps of the kernel; kview.c shows them to the executor. */
#include "code/kmap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "code/kview.h"
#include "code/sys.h"

static const uint32_t types[] = {
	[MAP_HASH] = BPF_MAP_TYPE_HASH,
	[MAP_LRU_HASH] = BPF_MAP_TYPE_LRU_HASH,
	[MAP_PERCPU_HASH] = BPF_MAP_TYPE_PERCPU_HASH,
	[MAP_PERCPU_LRU_HASH] = BPF_MAP_TYPE_LRU_PERCPU_HASH,
	[MAP_ARRAY] = BPF_MAP_TYPE_ARRAY,
	[MAP_PERCPU_ARRAY] = BPF_MAP_TYPE_PERCPU_ARRAY,
	[MAP_RINGBUF] = BPF_MAP_TYPE_RINGBUF,
	[MAP_PERF_RING] = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
	[MAP_STACK_TRACE] = BPF_MAP_TYPE_STACK_TRACE,
	[MAP_BUILD_IDS] = BPF_MAP_TYPE_STACK_TRACE,
};

bool kmap_is_percpu(const struct kmap *m)
{
	return m->def->kind == MAP_PERCPU_HASH || m->def->kind == MAP_PERCPU_LRU_HASH ||
	       m->def->kind == MAP_PERCPU_ARRAY;
}

bool kmap_is_array(const struct kmap *m)
{
	return m->def->kind == MAP_ARRAY || m->def->kind == MAP_PERCPU_ARRAY;
}

/* ---- making ---- */

/*
 * Allocating the entries of per-CPU hashes in advance is slow (3 ms for 4096), and most are never
 * used; for other hashes only many entries are slow. They are allocated when they are needed,
 * unless entries could be lost by that.
 */
static uint32_t flags_for(const struct map_def *d, struct bpf_features *f)
{
	enum { MUCH = 1 << 20 };
	const uint64_t bytes = (uint64_t)d->entries * (d->key_size + (uint64_t)d->value_size);

	if (d->late && (d->kind == MAP_PERCPU_HASH || bytes > MUCH) &&
	    bpf_has(f, FEATURE_LATE_ALLOC))
		return BPF_F_NO_PREALLOC;
	if (d->kind == MAP_BUILD_IDS)
		return BPF_F_STACK_BUILD_ID;
	if (d->kind != MAP_ARRAY)
		return 0;
	if (d->read_only)
		return BPF_F_RDONLY_PROG;
	return d->entries == 1 && bpf_has(f, FEATURE_MMAPABLE) ? BPF_F_MMAPABLE : 0;
}

static int create(struct kmaps *k, struct kmap *m, struct bpf_features *f)
{
	const struct map_def *d = m->def;
	struct sys_map s = {
		.type = types[d->kind],
		.key_size = d->key_size,
		.value_size = d->value_size,
		.entries = d->entries,
		.flags = flags_for(d, f),
		.name = d->name,
	};

	if (kmap_is_array(m) || d->kind == MAP_STACK_TRACE || d->kind == MAP_BUILD_IDS)
		s.key_size = sizeof(uint32_t);
	if (d->kind == MAP_RINGBUF)
		s.key_size = s.value_size = 0;
	if (d->kind == MAP_PERF_RING || (d->kind == MAP_RINGBUF && k->perf_ring))
		s = (struct sys_map){.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
				     .key_size = sizeof(uint32_t),
				     .value_size = sizeof(uint32_t),
				     .entries = sys_possible_cpus(),
				     .name = d->name};
	m->fd = sys_map_create(&s);
	if (m->fd == -EPERM) {
		sys_raise_memlock();
		m->fd = sys_map_create(&s);
	}
	if (m->fd < 0 && s.flags) {
		s.flags &= (uint32_t) ~(BPF_F_NO_PREALLOC | BPF_F_MMAPABLE);
		m->fd = sys_map_create(&s);
	}
	if (m->fd >= 0 && s.flags & BPF_F_MMAPABLE) {
		m->mapped_size = (d->value_size + 4095) & ~(size_t)4095;
		m->mapped =
			mmap(NULL, m->mapped_size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
		if (m->mapped == MAP_FAILED)
			m->mapped = NULL;
	}
	return m->fd;
}

static int fill(struct kmap *m)
{
	const uint32_t first = 0;
	int rc = 0;

	if (m->def->content && m->def->kind == MAP_ARRAY)
		rc = sys_map_update(m->fd, &first, m->def->content, BPF_ANY);
	/*
	 * The verifier knows the values of a frozen map. Kernels that cannot freeze maps do
	 * without.
	 */
	if (!rc && m->def->kind == MAP_ARRAY && m->def->read_only)
		sys_map_freeze(m->fd);
	return rc;
}

static int make(struct kmaps *k, struct kmap *m, struct bpf_features *f, struct spur_error *err)
{
	int rc;

	m->stride = ((size_t)m->def->value_size + 7) & ~(size_t)7;
	m->cpus = kmap_is_percpu(m) ? sys_possible_cpus() : 1;
	rc = create(k, m, f);
	if (rc >= 0)
		rc = fill(m);
	if (rc < 0)
		return error_set(
			err, rc, "cannot create map %s%s (%u entries of %u + %u bytes): %s",
			m->def->own ? "@" : "", m->def->name ? m->def->name : "?", m->def->entries,
			m->def->key_size, m->def->value_size, strerror(-rc));
	m->view = kview_new(m);
	return m->view ? 0 : error_set(err, -ENOMEM, "not enough memory for the script's maps");
}

int kmaps_create(struct kmaps *k, const struct unit *u, struct bpf_features *f,
		 struct spur_error *err)
{
	int rc = 0;

	*k = (struct kmaps){
		.at = calloc(u->maps.n + 1, sizeof(*k->at)),
		.fds = calloc(u->maps.n + 1, sizeof(*k->fds)),
		.views = calloc(u->maps.n + 1, sizeof(*k->views)),
	};
	if (!k->at || !k->fds || !k->views)
		return error_set(err, -ENOMEM, "not enough memory for the script's maps");
	for (size_t n = 0; n < u->maps.n; n++)
		if (u->maps.at[n]->kind == MAP_RINGBUF)
			k->perf_ring = !bpf_has(f, FEATURE_RINGBUF);
	for (; k->n < u->maps.n && !rc; k->n++) {
		struct kmap *m = &k->at[k->n];

		m->def = u->maps.at[k->n];
		m->fd = -1;
		rc = make(k, m, f, err);
		k->fds[k->n] = m->fd;
		k->views[k->n] = (struct vm_map *)m->view;
	}
	return rc;
}

void kmaps_close(struct kmaps *k)
{
	for (size_t n = 0; k->at && n < k->n; n++) {
		struct kmap *m = &k->at[n];

		kview_free(m->view);
		if (m->mapped)
			munmap(m->mapped, m->mapped_size);
		if (m->fd >= 0)
			close(m->fd);
	}
	free(k->at);
	free(k->fds);
	free(k->views);
	*k = (struct kmaps){0};
}

void kmaps_flush(struct kmaps *k)
{
	for (size_t n = 0; n < k->n; n++)
		if (k->at[n].view)
			kview_flush(k->at[n].view);
}

/* ---- changing ---- */

/* Sets the same value for all CPUs; value NULL: zeros. */
int kmap_update(struct kmap *m, const void *key, const void *value, uint64_t flags)
{
	uint8_t *all;
	int rc;

	if (m->cpus == 1 && value && !kmap_is_percpu(m))
		return sys_map_update(m->fd, key, value, flags);
	all = calloc(m->cpus, m->stride);
	if (!all)
		return -ENOMEM;
	for (unsigned int n = 0; value && n < m->cpus; n++)
		memcpy(all + n * m->stride, value, m->def->value_size);
	rc = sys_map_update(m->fd, key, all, flags);
	free(all);
	return rc;
}

int kmap_delete(struct kmap *m, const void *key)
{
	int rc;

	if (kmap_is_array(m))
		return kmap_update(m, key, NULL, BPF_ANY);
	rc = sys_map_delete(m->fd, key);
	if (kmap_is_percpu(m) && !umap_delete(m->view->own, key))
		rc = 0;
	return rc;
}

/* Does something with every entry that the kernel has, by its key. */
static int for_each_key(struct kmap *m, int (*change)(struct kmap *m, const void *key),
			struct spur_error *err)
{
	size_t n;
	uint8_t *keys = kmap_keys(m, &n);

	if (!keys)
		return error_set(err, -ENOMEM, "not enough memory to change map @%s", m->def->name);
	for (size_t i = 0; i < n; i++)
		change(m, keys + i * m->view->base.key_size);
	free(keys);
	return 0;
}

int kmap_clear(struct kmap *m, struct spur_error *err)
{
	const int rc = for_each_key(m, kmap_delete, err);

	if (!rc && kmap_is_percpu(m))
		umap_clear(m->view->own);
	return rc;
}

/* Zeroes the value after the flag, which stays as it is. */
static int zero_one(struct kmap *m, const void *key)
{
	const size_t flag = m->def->flagged && m->def->value_size >= 8 ? 8 : 0;
	uint8_t *all = calloc(m->cpus, m->stride);
	int rc = all ? 0 : -ENOMEM;

	if (!rc && flag) {
		rc = sys_map_lookup(m->fd, key, all);
		for (unsigned int n = 0; n < m->cpus; n++)
			memset(all + n * m->stride + flag, 0, m->stride - flag);
	}
	if (!rc)
		rc = sys_map_update(m->fd, key, all, kmap_is_array(m) ? BPF_ANY : BPF_EXIST);
	free(all);
	return rc;
}

int kmap_zero(struct kmap *m, struct spur_error *err)
{
	const int rc = for_each_key(m, zero_one, err);

	if (!rc && kmap_is_percpu(m))
		umap_zero(m->view->own);
	return rc;
}

size_t kmap_stack(struct kmap *m, int64_t id, size_t words, uint64_t *frames, size_t max)
{
	const uint32_t small = (uint32_t)id;
	const void *key = m->def->key_size == sizeof(id) ? (const void *)&id : &small;
	const size_t room = m->def->value_size / sizeof(*frames);
	uint64_t *all = calloc(room + 1, sizeof(*all));
	size_t n = 0;

	if (all && id >= 0 && !sys_map_lookup(m->fd, key, all))
		/* A frame that is not there begins with a word of 0. */
		for (; n + words <= room && n + words <= max && all[n]; n += words)
			memcpy(&frames[n], &all[n], words * sizeof(*frames));
	free(all);
	return n;
}

/* ---- reading whole maps ---- */

/*
 * Reads whole maps from the kernel: hundreds of entries with one system call if the kernel can,
 * else one by one. The executor's own values of a per-CPU map are included, and so are entries that
 * only it has.
 */

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
		 * Batches do not pad single values; the callback may count on them being
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
	/* If entries come and go, the kernel may restart; this limits the number of restarts. */
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

/* -EOPNOTSUPP if the kernel cannot; nothing has been read then. */
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
