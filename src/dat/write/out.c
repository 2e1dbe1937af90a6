// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing trace.dat files: the interface, write.h.
 *
 * Threads: everything here belongs to one thread, except that each region's data may be appended by
 * a thread of its own. These share the descriptor, in which no thread seeks, and the sizes of the
 * regions, which are atomic.
 */
#include "dat/write/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

/*
 * A hole can only be collapsed after the data that follow it have reached the disk. So the kernel
 * is asked to write them out whenever this much has been added; otherwise the end of a recording
 * would wait for all of it.
 */
#define WRITE_OUT_MOST	((uint64_t)4 << 20) /* of a region */
#define WRITE_OUT_LEAST ((uint64_t)256 << 10)
#define WRITE_OUT_ALL	((uint64_t)64 << 20) /* of all of them */

#define PAGE_HEAD 16 /* bytes that are zero in pages not written yet: unfinished.c */

/* ---- bytes ---------------------------------------------------------------------------- */

int out_write(const struct dat_out *o, const void *data, size_t n, uint64_t offset)
{
	return file_write_at(o->fd, data, n, offset, NULL);
}

int out_write_number(const struct dat_out *o, uint64_t v, unsigned int size, uint64_t offset)
{
	uint8_t bytes[8];

	out_store(o, bytes, v, size);
	return out_write(o, bytes, size, offset);
}

/* ---- creation ------------------------------------------------------------------------- */

void out_free(struct dat_out *o)
{
	if (!o)
		return;
	for (uint32_t i = 0; o->regions && i < o->table.nr; i++) {
		struct out_region *r = &o->regions[i];

		if (r->encoder)
			o->codec->close_encoder(r->encoder);
		free(r->waiting);
		free(r->chunk);
		if (r->spill >= 0)
			close(r->spill);
	}
	for (size_t i = 0; o->buffers && i < o->nr_buffers; i++) {
		free(o->buffers[i].name);
		free(o->buffers[i].clock);
		free(o->buffers[i].cpus);
	}
	if (o->fd >= 0)
		close(o->fd);
	out_drop_ballast(o);
	buf_free(&o->names);
	free(o->buffers);
	free(o->regions);
	free(o->table.each);
	free(o->name);
	free(o);
}

static int check_buffer(const struct dat_out *o, const struct dat_contents *c, size_t i,
			struct spur_error *err)
{
	const struct dat_out_buffer *b = &c->buffers[i];

	if (b->is_text && i)
		return error_set(err, -EINVAL, "only the first buffer can be text");
	if (b->is_text && o->version == 6 && c->nr_buffers > 1)
		return error_set(err, -EINVAL,
				 "version 6 has no room for other buffers next to text");
	if (b->is_text)
		return 0;
	if (!ring_page_size_ok(b->page_size))
		return error_set(err, -EINVAL, "pages of %u bytes cannot be", b->page_size);
	if (o->version == 6 && b->page_size != c->buffers[0].page_size)
		return error_set(err, -EINVAL,
				 "version 6 cannot have pages of %u bytes next to ones of %u",
				 b->page_size, c->buffers[0].page_size);
	if (i && !*b->name)
		return error_set(err, -EINVAL, "the top buffer does not come first");
	for (uint32_t k = 0; k < b->nr_cpus; k++)
		if (b->cpus[k] >= DAT_MAX_CPUS || (k && b->cpus[k] <= b->cpus[k - 1]))
			return error_set(err, -EINVAL, "the CPUs of a buffer are not in order");
	return 0;
}

static int copy_buffer(struct out_buffer *to, const struct dat_out_buffer *from)
{
	to->name = strdup(from->name);
	to->clock = strdup(from->clock ? from->clock : "");
	to->page_size = from->page_size;
	to->is_text = from->is_text;
	to->nr_cpus = from->is_text ? 0 : from->nr_cpus;
	to->cpus = calloc((size_t)to->nr_cpus + 1, sizeof(*to->cpus));
	if (!to->name || !to->clock || !to->cpus)
		return -ENOMEM;
	if (to->nr_cpus)
		memcpy(to->cpus, from->cpus, to->nr_cpus * sizeof(*to->cpus));
	return 0;
}

/* A region for each CPU, and one for a buffer without any, which still has a place in the file. */
static void add_regions(struct dat_out *o, uint32_t buffer)
{
	struct out_buffer *b = &o->buffers[buffer];

	b->first = o->table.nr;
	for (uint32_t k = 0; !b->is_text && (k < b->nr_cpus || !k); k++) {
		struct dat_region *r = &o->table.each[o->table.nr];

		r->buffer = buffer;
		r->cpu = k < b->nr_cpus ? b->cpus[k] : DAT_NO_CPU;
		o->regions[o->table.nr].page_size = b->page_size;
		o->regions[o->table.nr].spill = -1;
		o->table.nr++;
	}
}

static int take_buffers(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	size_t n = c->nr_buffers + 1;
	int rc = 0;

	for (size_t i = 0; i < c->nr_buffers && !rc; i++) {
		rc = check_buffer(o, c, i, err);
		n += c->buffers[i].nr_cpus;
	}
	if (rc)
		return rc;
	if (c->nr_buffers > DAT_MAX_BUFFERS || n > DAT_MAX_ALL_CPUS)
		return error_set(err, -EINVAL, "too many buffers or CPUs");
	o->buffers = calloc(c->nr_buffers + 1, sizeof(*o->buffers));
	o->table.each = calloc(n, sizeof(*o->table.each));
	o->regions = calloc(n, sizeof(*o->regions));
	if (!o->buffers || !o->table.each || !o->regions)
		return error_sys(err, -ENOMEM, "cannot be written");
	for (size_t i = 0; i < c->nr_buffers && !rc; i++) {
		o->nr_buffers++;
		rc = copy_buffer(&o->buffers[i], &c->buffers[i]);
		add_regions(o, (uint32_t)i);
	}
	return rc ? error_sys(err, rc, "cannot be written") : 0;
}

static int take_options(struct dat_out *o, const struct dat_out_options *opt,
			struct spur_error *err)
{
	const char *codec = opt->compression ? opt->compression : "none";

	o->version = opt->version ? opt->version : 7;
	o->sparse = opt->sparse;
	o->cmdlines_room = opt->cmdlines_room;
	o->options_room = opt->options_room;
	if (o->version != 6 && o->version != 7)
		return error_set(err, -EINVAL,
				 "trace.dat version %u cannot be written: only 6 and 7 can",
				 o->version);
	o->format = o->version == 6 ? &out_v6 : &out_v7;
	if (strcmp(codec, "any") == 0)
		codec = o->version == 6 ? "none" : "zstd";
	if (strcmp(codec, "none") == 0)
		return 0;
	o->codec = dat_codec_find(codec);
	if (!o->codec)
		return error_set(err, -EINVAL, "there is no compression \"%.40s\"", codec);
	if (o->version == 6)
		return error_set(err, -EINVAL, "version 6 cannot be compressed");
	return 0;
}

static int take_contents(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	o->big_endian = c->big_endian;
	o->long_size = c->long_size;
	o->page_size = c->page_size;
	o->nr_cpus = c->nr_cpus;
	for (size_t i = 0; i < c->nr_buffers; i++) {
		const struct dat_out_buffer *b = &c->buffers[i];

		if (b->nr_cpus && b->cpus[b->nr_cpus - 1] >= o->nr_cpus)
			o->nr_cpus = b->cpus[b->nr_cpus - 1] + 1;
	}
	return take_buffers(o, c, err);
}

static int prepare_file(struct dat_out *o, struct spur_error *err)
{
	struct stat st;
	int rc;

	if (fstat(o->fd, &st) < 0)
		return error_sys(err, -errno, "cannot be written");
	if (!S_ISREG(st.st_mode))
		return error_set(err, -EINVAL, "is not a file that can be written at any place");
	rc = file_lock(o->fd, err);
	if (!rc && ftruncate(o->fd, 0) < 0)
		return error_sys(err, -errno, "cannot be written");
	return rc;
}

int dat_out_try_fd(int fd, const char *name, const struct dat_out_options *opt,
		   const struct dat_contents *c, struct dat_out **out, struct spur_error *err)
{
	struct dat_out *o = calloc(1, sizeof(*o));
	int rc;

	*out = NULL;
	if (!o)
		return error_sys(err, -ENOMEM, "%s", name);
	o->fd = fd;
	o->ballast = -1;
	o->name = strdup(name);
	buf_init(&o->names, SIZE_MAX);
	rc = o->name ? take_options(o, opt, err) : error_sys(err, -ENOMEM, "cannot be written");
	if (!rc)
		rc = take_contents(o, c, err);
	if (!rc)
		rc = prepare_file(o, err);
	if (!rc)
		rc = o->format->create(o, c, err);
	if (!rc && opt->roomy)
		rc = out_check_room(o, err);
	if (!rc)
		out_place_ballast(o);
	if (rc) {
		error_prefix(err, "%s", name);
		o->fd = -1;
		out_free(o);
		return rc;
	}
	*out = o;
	return 0;
}

int dat_out_create_fd(int fd, const char *name, const struct dat_out_options *opt,
		      const struct dat_contents *c, struct dat_out **out, struct spur_error *err)
{
	int rc = dat_out_try_fd(fd, name, opt, c, out, err);

	if (rc)
		close(fd);
	return rc;
}

/* ---- trace data ----------------------------------------------------------------------- */

static void write_out(struct dat_out *o, uint32_t i)
{
	struct out_region *r = &o->regions[i];
	uint64_t size = r->size, n = size - r->started, enough = WRITE_OUT_ALL / o->table.nr;

	enough = enough > WRITE_OUT_MOST ? WRITE_OUT_MOST : enough;
	enough = enough < WRITE_OUT_LEAST ? WRITE_OUT_LEAST : enough;
	if (n < enough || !o->sparse || r->spill >= 0)
		return;
	/* This is only a hint: what is not written out now will be at the end. */
	if (sync_file_range(o->fd, (off64_t)(o->table.each[i].offset + r->started), (off64_t)n,
			    SYNC_FILE_RANGE_WRITE) == 0)
		r->started = size;
}

int out_append(struct dat_out *o, uint32_t i, const void *data, size_t n, size_t unit)
{
	static const uint8_t nothing[PAGE_HEAD];
	struct out_region *r = &o->regions[i];
	const bool spill = r->spill >= 0;
	uint64_t at = spill ? 0 : o->table.each[i].offset, size = r->size;
	size_t done;
	int full = 0, rc;

	/* What fits is written all the same. */
	if (spill) {
		full = out_spill_claim(o, i, &n, unit);
	} else if (n > o->table.each[i].room - size) {
		n = (size_t)((o->table.each[i].room - size) / unit * unit);
		full = -EFBIG;
	}
	rc = file_write_at(spill ? r->spill : o->fd, data, n, at + size, &done);
	if (rc && done % unit) {
		/* Readers of an unfinished file must not take half a page for a page. */
		done -= done % unit;
		if (!spill)
			out_write(o, nothing, sizeof(nothing), at + size + done);
	}
	r->size = size + done;
	write_out(o, i);
	return rc ? rc : full;
}

int dat_out_pages(struct dat_out *o, size_t buffer, uint32_t cpu, const void *pages, size_t n)
{
	uint32_t i = out_region_index(o, buffer, cpu);
	size_t bytes;
	int rc = 0;

	if (i == UINT32_MAX || __builtin_mul_overflow(n, o->regions[i].page_size, &bytes))
		return -EINVAL;
	if (!o->sparse)
		rc = out_begin_region(o, i);
	if (rc || !n)
		return rc;
	if (o->codec)
		return out_compress_pages(o, i, pages, n);
	return out_append(o, i, pages, bytes, o->regions[i].page_size);
}

int dat_out_fd(const struct dat_out *o)
{
	return o->fd;
}

uint64_t dat_out_place(const struct dat_out *o, size_t buffer, uint32_t cpu, uint64_t *room)
{
	uint32_t i = out_region_index(o, buffer, cpu);
	const struct dat_region *r;

	*room = 0;
	if (i == UINT32_MAX || o->codec || !(o->table.flags & DAT_REGIONS_SPARSE))
		return 0;
	r = &o->table.each[i];
	*room = r->room - o->regions[i].size;
	return r->offset + o->regions[i].size;
}

void dat_out_advance(struct dat_out *o, size_t buffer, uint32_t cpu, uint64_t bytes)
{
	uint32_t i = out_region_index(o, buffer, cpu);

	if (i == UINT32_MAX || bytes > o->table.each[i].room - o->regions[i].size)
		return;
	o->regions[i].size += bytes;
	write_out(o, i);
}

/* ---- the end -------------------------------------------------------------------------- */

/* Cuts off what lies after the data, which is not needed: it has been copied. */
static int cut(struct dat_out *o)
{
	const uint64_t end = out_data_end(o);
	off_t size = lseek(o->fd, 0, SEEK_END);

	/* A file that is shorter was cut off, and must not look complete. */
	if (size < 0 || ((uint64_t)size > end && ftruncate(o->fd, (off_t)end) < 0))
		return -errno;
	return 0;
}

int dat_out_gather(struct dat_out *o)
{
	return o->spilling ? out_spill_finish(o) : 0;
}

int out_finish(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	int rc = 0;

	for (uint32_t i = 0; i < o->table.nr && !rc && o->sparse && !o->spilling; i++)
		rc = out_flush_region(o, i);
	if (!rc)
		rc = dat_out_gather(o);
	if (!rc)
		rc = out_pack(o);
	if (!rc)
		rc = cut(o);
	if (rc)
		error_sys(err, rc, "cannot be finished");
	else
		rc = o->format->finish(o, c, err);
	if (rc)
		error_prefix(err, "%s", o->name);
	out_free(o);
	return rc;
}

int dat_out_update(struct dat_out *o, const struct dat_contents *c)
{
	return o->format->update(o, c);
}

void dat_out_watch(struct dat_out *o, void (*progress)(void *arg, uint64_t done, uint64_t total),
		   void *arg)
{
	o->progress = progress;
	o->progress_arg = arg;
}

int dat_out_finish(struct dat_out *o, const struct dat_contents *c, struct spur_error *err)
{
	return out_finish(o, c, err);
}

void dat_out_abandon(struct dat_out *o)
{
	for (uint32_t i = 0; o && o->codec && i < o->table.nr; i++)
		if (o->regions[i].spill < 0)
			out_flush_region(o, i);
	out_free(o);
}

/* ---- a second file -------------------------------------------------------------------- */

/*
 * Copying a file that is being written into another one that will take its place.
 *
 * Regions only grow, so what has been appended can be copied while more is. The new file is an
 * unfinished file with fewer data at every moment.
 */

#define WINDOW ((size_t)1 << 20)

/* Appends what region i of the new file lacks; the number of bytes, or a negative errno. */
static int64_t follow_region(struct dat_out *to, const struct dat_out *from, uint32_t i,
			     uint8_t *window)
{
	const struct out_region *r = &from->regions[i];
	const bool spill = r->spill >= 0;
	const uint64_t begin = spill ? 0 : from->table.each[i].offset, all = r->size;
	const size_t unit = from->codec ? 1 : r->page_size;
	uint64_t at = to->regions[i].size, first = at;

	while (at < all) {
		const size_t n = all - at < WINDOW ? (size_t)(all - at) : WINDOW;
		const int64_t got =
			file_read_at(spill ? r->spill : from->fd, window, n, begin + at);
		int rc = got < 0 ? (int)got : (size_t)got < n ? -EIO : 0;

		if (!rc)
			rc = out_append(to, i, window, n, unit);
		if (rc)
			return rc;
		at += n;
	}
	return (int64_t)(at - first);
}

/* The number of chunks before them was copied when it was smaller. */
static int end_region(struct dat_out *to, const struct dat_out *from, uint32_t i)
{
	struct out_region *r = &to->regions[i];

	r->nr_chunks = from->regions[i].nr_chunks;
	if (!to->codec || !r->size || r->spill >= 0)
		return 0;
	return out_write_number(to, r->nr_chunks, 4, to->table.each[i].offset);
}

int64_t dat_out_follow(struct dat_out *to, const struct dat_out *from, bool last)
{
	uint8_t *window = malloc(WINDOW);
	int64_t sum = window ? 0 : -ENOMEM;

	if (to->table.nr != from->table.nr || to->codec != from->codec || !to->sparse)
		sum = -EINVAL;
	for (uint32_t i = 0; i < to->table.nr && sum >= 0; i++) {
		int64_t n = follow_region(to, from, i, window);

		if (n >= 0 && last) {
			const int rc = end_region(to, from, i);

			n = rc ? rc : n;
		}
		sum = n < 0 ? n : sum + n;
	}
	free(window);
	return sum;
}
