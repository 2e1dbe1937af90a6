/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps in spur's own memory, for programs in the executor. They behave as the kernel's, except that
 * per-CPU maps have one value: there is one executor.
 *
 * The address of a value stays the same until its entry is removed. A map never has more entries
 * than it was created with.
 */
#ifndef CODE_UMAP_H
#define CODE_UMAP_H

#include "base/hash.h"
#include "code/vm.h"
#include "code/unit.h"

struct umap_entry;

struct umap {
	struct vm_map base; /* its address is what programs get */
	enum map_kind kind;
	bool flagged; /* as in its definition */
	size_t nr;    /* entries; of an array all of them */

	/* ---- private ---- */
	struct hash_seed seed;
	uint64_t *slots;	 /* hash << 32 | entry; 0: free */
	size_t nr_slots;	 /* a power of two, or 0 */
	uint8_t **chunks;	 /* of CHUNK entries each */
	uint32_t top;		 /* entries ever used: 1 to top */
	uint32_t free_one;	 /* the first removed one, they are chained */
	uint32_t newest, oldest; /* of an LRU map */
	uint32_t value_at, entry_size;
	uint8_t *array;
};

/* NULL without memory. A ring buffer has no entries: only its helpers use it. */
struct umap *umap_new(const struct map_def *def);
void umap_free(struct umap *m);

void *umap_lookup(struct umap *m, const void *key);
int umap_update(struct umap *m, const void *key, const void *value, uint64_t flags);
int umap_delete(struct umap *m, const void *key);
/*
 * Iterates over entries in the order of their creation, unless some were removed; *at is 0 before
 * the first.
 */
bool umap_next(struct umap *m, uint64_t *at, const void **key, void **value);
/* All entries are removed (of an array: as it was before anything was assigned) … */
void umap_clear(struct umap *m);
/* … or all values become 0. */
void umap_zero(struct umap *m);

/* For maps of stacks: the number of a stack, equal for equal frames; negative: the map is full. */
int64_t umap_add_stack(struct umap *m, const uint64_t *frames, size_t n);
size_t umap_stack(struct umap *m, int64_t number, uint64_t *frames, size_t max);

/* Maps for all of a unit; NULL without memory. */
struct vm_map **umaps_new(const struct unit *u);
void umaps_free(struct vm_map **maps, size_t n);

#endif
