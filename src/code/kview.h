/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/code: how the executor sees a map of the kernel, and what kmap.c does for that. */
#ifndef CODE_KVIEW_H
#define CODE_KVIEW_H

#include "code/kmap.h"
#include "code/umap.h"

/* The executor's side of a map. */
struct kview {
	struct vm_map base;
	struct kmap *map;
	/*
	 * Of per-CPU maps: the executor's own values. Of others: copies, followed by the original
	 * values.
	 */
	struct umap *own;
	struct {
		struct keys {
			uint8_t *at;
			size_t n;
		} * at;
		size_t n, cap;
	} snapshots;	 /* keys that loops go through */
	uint8_t *values; /* of all CPUs, of one key */
	struct {
		bool tried;
		int prog, step; /* descriptors */
	} adder;		/* adds to numbers */
};

bool kmap_is_percpu(const struct kmap *m);
bool kmap_is_array(const struct kmap *m);

struct kview *kview_new(struct kmap *m);
void kview_free(struct kview *v);
void kview_flush(struct kview *v);

/* All keys in the kernel, one after the other; NULL without memory. */
uint8_t *kmap_keys(struct kmap *m, size_t *n);

#endif
