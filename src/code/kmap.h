/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maps of a unit in the kernel, and how programs in spur's own executor see them while the
 * kernel runs other programs.
 *
 * Arrays of one value are mapped, if the kernel can: both sides use the same memory. Values of
 * other arrays and of hashes are copied when a program looks them up; what it has added to them is
 * added to the kernel's when it ends. In a per-CPU map the executor has a value of its own, as if
 * it were one more CPU, so that neither side overwrites the counts of the other; a reader of the
 * map gets it as the last value.
 */
#ifndef CODE_KMAP_H
#define CODE_KMAP_H

#include "code/features.h"
#include "code/vm.h"
#include "code/unit.h"

struct kview;

struct kmap {
	const struct map_def *def;
	int fd;
	void *mapped; /* the value, when both sides see the same memory; or NULL */
	size_t mapped_size;
	size_t stride;	   /* of values of one key */
	unsigned int cpus; /* values of a key in the kernel; 1 when it is no per-CPU map */
	struct kview *view;
};

struct kmaps {
	struct kmap *at; /* by number */
	size_t n;
	int *fds;	       /* the same, for bpf_load() */
	bool perf_ring;	       /* MAP_RINGBUF is a BPF_MAP_TYPE_PERF_EVENT_ARRAY */
	struct vm_map **views; /* for vm_decode() */
};

/* Makes all maps of a unit. What it returns is to be closed, also after a failure. */
int kmaps_create(struct kmaps *k, const struct unit *u, struct bpf_features *f,
		 struct spur_error *err);
void kmaps_close(struct kmaps *k);

/*
 * Calls back for every entry, with nr values that are stride bytes apart: one, or one for each CPU
 * and, as the last one, the executor's. What each returns, if it is not 0, ends it.
 */
typedef int (*kmap_each)(void *arg, const void *key, const uint8_t *values, size_t nr,
			 size_t stride);
int kmap_read(struct kmap *m, kmap_each each, void *arg, struct spur_error *err);

/* One entry in the same way; -ENOENT when there is none. */
int kmap_read_one(struct kmap *m, const void *key, kmap_each each, void *arg,
		  struct spur_error *err);

int kmap_update(struct kmap *m, const void *key, const void *value, uint64_t flags);
int kmap_delete(struct kmap *m, const void *key);
/*
 * All entries are removed (of an array: as it was before anything was assigned), or all values
 * become 0.
 */
int kmap_clear(struct kmap *m, struct spur_error *err);
int kmap_zero(struct kmap *m, struct spur_error *err);

/*
 * The words of a stack's frames, 0 of one that is not there; each has so many words: one, or with
 * build IDs those of a struct bpf_stack_build_id.
 */
#define KMAP_BUILD_ID_WORDS 4
size_t kmap_stack(struct kmap *m, int64_t id, size_t words, uint64_t *frames, size_t max);

/* After each program that the executor ran: brings what it changed to the kernel. */
void kmaps_flush(struct kmaps *k);

#endif
