/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What umap*.c share. */
#ifndef CODE_UMAP_PARTS_H
#define CODE_UMAP_PARTS_H

#include "code/umap.h"

/* False when its entries are too large. */
bool umap_hash_init(struct umap *m, const struct map_def *def);
void umap_hash_free(struct umap *m);
void umap_hash_clear(struct umap *m);

#endif
