// SPDX-License-Identifier: LGPL-2.1-or-later
/* perf.data: walking over its parts, also over compressed records. */
#include "import/perf/perf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <zstd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"

static struct cursor cursor_of(const struct perf *p, const void *data, size_t size)
{
	return cursor_over(data, size, p->big_endian);
}

/* ---- compressed records --------------------------------------------------------------- */

/* Each holds a piece of one stream of zstd, in which other records lie, not always whole ones. */

#define RECORD_HEAD 8
#define MAX_OUT	    (64u << 20) /* bytes of one record, unpacked: what perf makes is 512 kB */

struct perf_unpack {
	ZSTD_DStream *stream;
	struct buf out; /* what has been unpacked and is not a whole record yet */
};

static void unpack_free(struct perf_unpack *u)
{
	if (!u)
		return;
	ZSTD_freeDStream(u->stream);
	buf_free(&u->out);
	free(u);
}

static struct perf_unpack *unpack_new(void)
{
	struct perf_unpack *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	buf_init(&u->out, MAX_OUT);
	u->stream = ZSTD_createDStream();
	if (!u->stream || ZSTD_isError(ZSTD_initDStream(u->stream))) {
		unpack_free(u);
		return NULL;
	}
	return u;
}

/* Whole records go on; what is left of one waits for the next piece. */
static int take_records(struct perf *p, struct buf *out)
{
	size_t at = 0;

	while (out->len - at >= RECORD_HEAD && p->im->rc == 0) {
		struct cursor c = cursor_of(p, out->data + at, out->len - at);
		struct perf_record r = {.type = cursor_u32(&c)};
		uint32_t size;

		r.misc = cursor_u16(&c);
		size = cursor_u16(&c);
		if (size < RECORD_HEAD)
			return -EBADMSG;
		if (size - RECORD_HEAD > cursor_left(&c))
			break;
		r.body = cursor_sub(&c, size - RECORD_HEAD);
		at += size;
		perf_record(p, &r);
	}
	memmove(out->data, out->data + at, out->len - at);
	out->len -= at;
	return 0;
}

static int unpack(struct perf *p, struct perf_unpack *u, const void *data, size_t size)
{
	ZSTD_inBuffer in = {data, size, 0};

	for (;;) {
		ZSTD_outBuffer out;
		const size_t before = in.pos;
		size_t left;
		int rc;

		if (!buf_room(&u->out, ZSTD_DStreamOutSize()))
			return -EBADMSG;
		out = (ZSTD_outBuffer){u->out.data + u->out.len, ZSTD_DStreamOutSize(), 0};
		left = ZSTD_decompressStream(u->stream, &out, &in);
		if (ZSTD_isError(left))
			return -EBADMSG;
		u->out.len += out.pos;
		rc = take_records(p, &u->out);
		if (rc < 0)
			return rc;
		/* All input has been used, and all output was written. */
		if (in.pos == in.size && out.pos < out.size)
			return 0;
		if (in.pos == before && !out.pos)
			return -EBADMSG;
	}
}

/* The bytes of one compressed record; what comes out of it goes to perf_record(). */
static int unpack_record(struct perf *p, const void *data, size_t size)
{
	int rc;

	/* perf does not compress compressed records again. */
	if (p->depth)
		return -EBADMSG;
	if (!p->unpack)
		p->unpack = unpack_new();
	if (!p->unpack)
		return -ENOMEM;
	p->depth++;
	rc = unpack(p, p->unpack, data, size);
	p->depth--;
	return rc;
}

/* ---- the file ------------------------------------------------------------------------- */

#define FILE_HEAD     104
#define PIPE_HEAD     16
#define MAX_FEATURES  256
#define MAX_ATTRS     65536
#define MAX_IDS	      (1u << 20)
#define MAX_SECTION   (256u << 20) /* bytes of a feature */
#define WINDOW	      (1u << 20)
#define MAX_RECORD    65535
#define STEPS	      4096 /* records between two looks at stop and progress */
#define LEAST_ATTR    64
#define FEATURE_FIRST 1

enum {
	RECORD_MMAP = 1,
	RECORD_LOST = 2,
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_MMAP2 = 10,
	RECORD_LOST_SAMPLES = 13,
	RECORD_HEADER_ATTR = 64,
	RECORD_TRACING_DATA = 66,
	RECORD_AUXTRACE = 71,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
};

static const char magic[] = "PERFILE2", swapped[] = "2ELIFREP";

struct place {
	uint64_t offset, size;
};

struct head {
	uint64_t size, attr_size;
	struct place attrs, data;
	uint8_t features[MAX_FEATURES / 8];
};

/* "perf record --threads" makes a folder; so that this can be said. */
static bool is_folder_of_perf(const struct source_input *in)
{
	struct stat st;

	return in->folder && fstatat(in->fd, "data", &st, 0) == 0 && S_ISREG(st.st_mode) &&
	       fstatat(in->fd, "data.0", &st, 0) == 0;
}

static bool recognise(const struct source_input *in)
{
	if (in->folder)
		return is_folder_of_perf(in);
	return in->head_size >= PIPE_HEAD &&
	       (memcmp(in->head, magic, 8) == 0 || memcmp(in->head, swapped, 8) == 0);
}

static struct place take_place(struct cursor *c)
{
	struct place at;

	at.offset = cursor_u64(c);
	at.size = cursor_u64(c);
	return at;
}

static bool read_head(struct perf *p, struct head *h)
{
	struct cursor c = cursor_over(p->in->head, p->in->head_size, false);
	const bool little = memcmp(p->in->head, magic, 8) == 0;
	const uint8_t *bits;

	if (!recognise(p->in))
		return false;
	/* The letters lie in the order of a little-endian number. */
	p->big_endian = c.big_endian = !little;
	p->im->big_endian = p->big_endian;
	cursor_skip(&c, 8);
	h->size = cursor_u64(&c);
	if (h->size == PIPE_HEAD)
		return !cursor_failed(&c);
	h->attr_size = cursor_u64(&c);
	h->attrs = take_place(&c);
	h->data = take_place(&c);
	take_place(&c);
	bits = cursor_bytes(&c, sizeof(h->features));
	if (!bits || h->size < FILE_HEAD)
		return false;
	/* Bits of words of 64. */
	for (size_t i = 0; i < MAX_FEATURES; i++) {
		const uint64_t word = load_uint(bits + i / 64 * 8, 8, p->big_endian);

		if (word >> i % 64 & 1)
			h->features[i / 8] |= (uint8_t)(1u << i % 8);
	}
	return true;
}

/* ---- attributes and features ---------------------------------------------------------- */

/* NULL when it is cut, when there are too many, or without memory. */
static struct perf_attr *add_attr(struct perf *p, struct cursor c)
{
	struct perf_attr *a;
	struct perf_attr read = {.type = cursor_u32(&c)};

	cursor_u32(&c); /* its size */
	read.config = cursor_u64(&c);
	cursor_u64(&c); /* period or frequency */
	read.sample_type = cursor_u64(&c);
	read.read_format = cursor_u64(&c);
	read.flags = cursor_u64(&c);
	if (cursor_failed(&c) || p->attrs.n >= MAX_ATTRS)
		return NULL;
	cursor_skip(&c, 44);
	read.clock = (int32_t)cursor_u32(&c);
	if (cursor_failed(&c))
		read.flags &= ~ATTR_USE_CLOCK;
	a = import_alloc(p->im, sizeof(*a));
	if (!a)
		return NULL;
	*a = read;
	if (vec_add(&p->attrs, &a))
		return a;
	import_fail(p->im, -ENOMEM);
	return NULL;
}

/* Samples with that id are of this attribute. */
static void add_attr_id(struct perf *p, struct perf_attr *a, uint64_t id)
{
	if (p->by_id.n < MAX_IDS && !map_set(&p->by_id, id, a))
		import_fail(p->im, -ENOMEM);
}

/* Bytes of the file, in the import's arena; NULL when they are not there. */
static const uint8_t *load(struct perf *p, struct place at)
{
	uint8_t *data;

	if (at.size > MAX_SECTION || at.offset > p->in->size || at.size > p->in->size - at.offset)
		return NULL;
	data = import_alloc(p->im, (size_t)at.size + 1);
	if (!data)
		return NULL;
	if (file_read_at(p->in->fd, data, (size_t)at.size, at.offset) != (int64_t)at.size)
		return NULL;
	return data;
}

static bool read_attrs(struct perf *p, const struct head *h)
{
	const uint8_t *data = load(p, h->attrs);

	if (!data || h->attr_size < LEAST_ATTR + 16)
		return false;
	for (uint64_t at = 0; h->attrs.size - at >= h->attr_size; at += h->attr_size) {
		struct cursor c = cursor_of(p, data + at, (size_t)h->attr_size);
		struct cursor attr = cursor_sub(&c, h->attr_size - 16);
		const struct place ids = take_place(&c);
		const uint8_t *list = ids.size ? load(p, ids) : NULL;
		struct perf_attr *a = add_attr(p, attr);

		if (!a)
			return false;
		for (uint64_t i = 0; list && i < ids.size / 8; i++)
			add_attr_id(p, a, load_uint(list + i * 8, 8, p->big_endian));
	}
	return true;
}

static void read_features(struct perf *p, const struct head *h)
{
	uint64_t at;

	if (__builtin_add_overflow(h->data.offset, h->data.size, &at))
		return;
	for (uint32_t i = FEATURE_FIRST; i < MAX_FEATURES; i++) {
		const uint8_t *data;
		struct place where;
		struct cursor c;

		if (!(h->features[i / 8] >> i % 8 & 1))
			continue;
		data = load(p, (struct place){at, 16});
		if (!data)
			return;
		at += 16;
		c = cursor_of(p, data, 16);
		where = take_place(&c);
		data = load(p, where);
		if (data)
			perf_feature(p, i, cursor_of(p, data, (size_t)where.size));
	}
}

/* ---- records -------------------------------------------------------------------------- */

/* In the form for pipes what else files have comes as records. */
static void take_header_attr(struct perf *p, struct cursor body)
{
	struct cursor size = body;
	struct perf_attr *a;
	uint32_t bytes;

	cursor_u32(&size);
	bytes = cursor_u32(&size);
	if (bytes < LEAST_ATTR || bytes > cursor_left(&body))
		return;
	a = add_attr(p, cursor_sub(&body, bytes));
	while (a && cursor_left(&body) >= 8)
		add_attr_id(p, a, cursor_u64(&body));
}

void perf_record(struct perf *p, const struct perf_record *r)
{
	struct perf_sample s;
	struct perf_attr *attr;
	struct cursor c = r->body;

	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2: perf_mmap(p, r, r->type == RECORD_MMAP2); break;
	case RECORD_COMM: perf_comm(p, r); break;
	case RECORD_EXIT:
	case RECORD_FORK: perf_fork(p, r, r->type == RECORD_EXIT); break;
	case RECORD_LOST:
	case RECORD_LOST_SAMPLES:
		s = (struct perf_sample){0};
		perf_sample_id(p, c, &s);
		if (r->type == RECORD_LOST)
			cursor_u64(&c);
		import_lost(p->im, 0, s.cpu, s.has_time ? s.time : p->fallback_ts,
			    (int64_t)(cursor_u64(&c) & INT64_MAX));
		break;
	case RECORD_SAMPLE:
		if (perf_sample_read(p, c, &s, &attr))
			perf_sample_put(p, &s, attr, r->misc);
		break;
	case RECORD_HEADER_ATTR: take_header_attr(p, c); break;
	case RECORD_HEADER_FEATURE: {
		const uint64_t number = cursor_u64(&c);

		if (!cursor_failed(&c) && number < MAX_FEATURES)
			perf_feature(p, (uint32_t)number, c);
		break;
	}
	case RECORD_COMPRESSED: {
		const int rc = unpack_record(p, c.pos, cursor_left(&c));

		if (rc < 0)
			import_fail(p->im, rc);
		break;
	}
	default: break;
	}
}

/* Some records are followed by data whose size they say. */
static uint64_t size_after(struct perf *p, const struct perf_record *r, uint64_t at)
{
	struct cursor c = r->body;
	struct place where = {.offset = at};

	if (r->type == RECORD_TRACING_DATA) {
		const uint8_t *data;

		where.size = cursor_u32(&c);
		data = load(p, where);
		if (data)
			perf_tracing_data(p, cursor_of(p, data, (size_t)where.size));
		return (where.size + 7) & ~7ull;
	}
	return r->type == RECORD_AUXTRACE ? cursor_u64(&c) : 0;
}

static void remark_cut(struct perf *p, uint64_t at)
{
	import_remark(p->im, -ENODATA, "the records end too early, at offset %" PRIu64, at);
}

static void read_records(struct perf *p, struct place data)
{
	uint8_t *window = malloc(WINDOW);
	uint64_t at = data.offset, start = at, end = p->in->size;
	size_t have = 0;

	if (!window) {
		import_fail(p->im, -ENOMEM);
		return;
	}
	/* One that was cut off while it was recorded does not say how much there is. */
	if (data.size && data.size <= end - (at < end ? at : end))
		end = at + data.size;
	else if (data.size)
		remark_cut(p, end);
	for (uint64_t i = 0; at < end && p->im->rc == 0; i++) {
		struct perf_record r;
		struct cursor c;
		uint32_t size;
		uint64_t after;

		if (at - start > have || (have - (at - start) < MAX_RECORD && start + have < end)) {
			const int64_t n = file_read_at(p->in->fd, window, WINDOW, at);

			if (n < 0)
				import_fail(p->im, (int)n);
			start = at;
			have = n < 0 ? 0 : (size_t)n;
		}
		if (have - (at - start) > end - at)
			have = (size_t)(end - start);
		c = cursor_of(p, window + (at - start), have - (size_t)(at - start));
		r.type = cursor_u32(&c);
		r.misc = cursor_u16(&c);
		size = cursor_u16(&c);
		if (size < RECORD_HEAD || size - RECORD_HEAD > cursor_left(&c)) {
			remark_cut(p, at);
			break;
		}
		r.body = cursor_sub(&c, size - RECORD_HEAD);
		at += size;
		after = size_after(p, &r, at);
		perf_record(p, &r);
		if (after > end - at)
			break;
		at += after;
		if (i % STEPS == 0)
			import_goes_on(p->im, at, p->in->size);
	}
	free(window);
}

/* ---- all of it ------------------------------------------------------------------------ */

static void perf_free(struct perf *p)
{
	vec_free(&p->attrs);
	map_free(&p->by_id);
	perf_tasks_free(p);
	unpack_free(p->unpack);
	free(p);
}

static int read_file(struct perf *p, struct spur_error *err)
{
	struct head h = {0};

	if (!read_head(p, &h))
		return error_set(err, -EBADMSG, "%s: the head of perf.data makes no sense",
				 p->in->path);
	if (h.size == PIPE_HEAD) {
		read_records(p, (struct place){.offset = PIPE_HEAD});
	} else {
		if (!read_attrs(p, &h))
			return error_set(err, -EBADMSG,
					 "%s: perf.data does not say what its samples have",
					 p->in->path);
		read_features(p, &h);
		read_records(p, h.data);
	}
	perf_put_machine(p);
	perf_put_maps(p);
	perf_put_symbols(p);
	if (p->no_cpus)
		import_remark(p->im, 0, "samples do not say their CPU: they are all on CPU 0");
	return p->im->rc;
}

static int read_perf(const struct source_input *in, struct import *im, struct spur_error *err)
{
	struct perf *p;
	int rc;

	if (in->folder)
		return error_set(err, -ENOTSUP,
				 "%s is a folder of 'perf record --threads', which is not read; "
				 "without that option perf writes one file",
				 in->path);
	p = calloc(1, sizeof(*p));
	if (!p)
		return error_set(err, -ENOMEM, "out of memory");
	p->im = im;
	p->in = in;
	p->host = p->release = p->machine = "";
	im->clock = "perf";
	rc = read_file(p, err);
	perf_free(p);
	return rc;
}

const struct import_source source_perf = {
	.name = "perf",
	.about = "perf.data of perf record",
	.recognise = recognise,
	.read = read_perf,
};
