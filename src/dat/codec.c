// SPDX-License-Identifier: LGPL-2.1-or-later
/* The compressors: zlib and zstd, one table each. */
#include "dat/codec.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "base/array.h"

/* An untrusted block may request any window; this is what the strongest usual level needs. */
#define ZSTD_WINDOW_LOG 23

static void *deflate_open(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && inflateInit(z) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static void deflate_close(void *context)
{
	inflateEnd(context);
	free(context);
}

/* False when zlib cannot count the bytes. */
static bool set_buffers(z_stream *z, const void *in, size_t n, void *out, size_t cap)
{
	z->next_in = (Bytef *)in;
	z->avail_in = (uInt)n;
	z->next_out = out;
	z->avail_out = (uInt)cap;
	return n <= UINT_MAX && cap <= UINT_MAX;
}

static int deflate_run(z_stream *z, const void *in, size_t n, void *out, size_t cap, int flush)
{
	if (inflateReset(z) != Z_OK || !set_buffers(z, in, n, out, cap))
		return Z_STREAM_ERROR;
	return inflate(z, flush);
}

static int64_t deflate_decode(void *context, const void *in, size_t n, void *out, size_t cap)
{
	z_stream *z = context;

	if (deflate_run(z, in, n, out, cap, Z_FINISH) != Z_STREAM_END)
		return -EBADMSG;
	return (int64_t)z->total_out;
}

static size_t deflate_salvage(void *context, const void *in, size_t n, void *out, size_t cap)
{
	z_stream *z = context;
	int rc = deflate_run(z, in, n, out, cap, Z_SYNC_FLUSH);

	return rc == Z_STREAM_ERROR ? 0 : z->total_out;
}

static void *zstd_open(void)
{
	return ZSTD_createDCtx();
}

static void zstd_close(void *context)
{
	ZSTD_freeDCtx(context);
}

static int64_t zstd_decode(void *context, const void *in, size_t n, void *out, size_t cap)
{
	unsigned long long full = ZSTD_getFrameContentSize(in, n);
	size_t got;

	/* The frame's header is read first, to avoid decompressing what will not fit. */
	if (full == ZSTD_CONTENTSIZE_ERROR || (full != ZSTD_CONTENTSIZE_UNKNOWN && full > cap))
		return -EBADMSG;
	got = ZSTD_decompressDCtx(context, out, cap, in, n);
	return ZSTD_isError(got) ? -EBADMSG : (int64_t)got;
}

static size_t zstd_salvage(void *context, const void *in, size_t n, void *out, size_t cap)
{
	ZSTD_inBuffer from = {in, n, 0};
	ZSTD_outBuffer to = {out, cap, 0};

	ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
	for (;;) {
		size_t in_was = from.pos, out_was = to.pos;
		size_t rc = ZSTD_decompressStream(context, &to, &from);

		if (ZSTD_isError(rc) || rc == 0 || (from.pos == in_was && to.pos == out_was))
			break;
	}
	ZSTD_DCtx_reset(context, ZSTD_reset_session_and_parameters);
	return to.pos;
}

static void *deflate_open_encoder(void)
{
	z_stream *z = calloc(1, sizeof(*z));

	if (z && deflateInit(z, Z_DEFAULT_COMPRESSION) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static void deflate_close_encoder(void *context)
{
	deflateEnd(context);
	free(context);
}

static size_t deflate_bound(size_t n)
{
	return compressBound(n);
}

static int64_t deflate_encode(void *context, const void *in, size_t n, void *out, size_t cap)
{
	z_stream *z = context;

	if (deflateReset(z) != Z_OK || !set_buffers(z, in, n, out, cap))
		return -EINVAL;
	return deflate(z, Z_FINISH) == Z_STREAM_END ? (int64_t)z->total_out : -ENOBUFS;
}

static void *zstd_open_encoder(void)
{
	return ZSTD_createCCtx();
}

static void zstd_close_encoder(void *context)
{
	ZSTD_freeCCtx(context);
}

static int64_t zstd_encode(void *context, const void *in, size_t n, void *out, size_t cap)
{
	size_t got = ZSTD_compress2(context, out, cap, in, n);

	return ZSTD_isError(got) ? -ENOBUFS : (int64_t)got;
}

static const struct dat_codec codecs[] = {
	{
		.name = "zlib",
		.version = zlibVersion,
		.open = deflate_open,
		.close = deflate_close,
		.decode = deflate_decode,
		.salvage = deflate_salvage,
		.open_encoder = deflate_open_encoder,
		.close_encoder = deflate_close_encoder,
		.bound = deflate_bound,
		.encode = deflate_encode,
	},
	{
		.name = "zstd",
		.version = ZSTD_versionString,
		.open = zstd_open,
		.close = zstd_close,
		.decode = zstd_decode,
		.salvage = zstd_salvage,
		.open_encoder = zstd_open_encoder,
		.close_encoder = zstd_close_encoder,
		.bound = ZSTD_compressBound,
		.encode = zstd_encode,
	},
};

const struct dat_codec *dat_codec_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(codecs); i++)
		if (strcmp(codecs[i].name, name) == 0)
			return &codecs[i];
	return NULL;
}
