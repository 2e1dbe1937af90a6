/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The compressors that a file may name. One table each; codec.c has the list. */
#ifndef DAT_CODEC_H
#define DAT_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dat_codec {
	const char *name; /* as it stands in files */
	const char *(*version)(void);

	/* A context is used by one thread at a time and for any number of blocks. */
	void *(*open)(void);
	void (*close)(void *context);

	/* Decompresses a whole block into at most cap bytes: how many it were, or -EBADMSG. */
	int64_t (*decode)(void *context, const void *in, size_t n, void *out, size_t cap);

	/* The same for a block whose end is missing: decompresses as much as possible. */
	size_t (*salvage)(void *context, const void *in, size_t n, void *out, size_t cap);

	/* Compressing has contexts of its own. */
	void *(*open_encoder)(void);
	void (*close_encoder)(void *context);

	/* The largest size that n bytes can have when they are compressed. */
	size_t (*bound)(size_t n);

	/* Compresses into at most cap bytes: how many it were, or a negative errno. */
	int64_t (*encode)(void *context, const void *in, size_t n, void *out, size_t cap);
};

/* The compressor of that name, or NULL. */
const struct dat_codec *dat_codec_find(const char *name);

/*
 * Whether n stored bytes can expand to `full` ones at this ratio; if not, the block is an attack.
 * Small blocks of zeros compress extremely well, so `spare` bytes are always allowed.
 */
static inline bool dat_codec_plausible(uint64_t n, uint64_t full, uint64_t spare, uint64_t ratio)
{
	return full <= spare || (full - spare) / ratio <= n;
}

#endif
