// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the trace data go.
 *
 *	with holes      region after region, each with as much room as the file system grants: at
 *	                most 1 TiB, and all of them within 8 TiB. The first one has room for all
 *	                that the disk can hold, so that the others can be moved into its hole.
 *	without holes   each where the one before it ends
 *
 * Data begin at a multiple of the page size, as trace-cmd wants to map them, and with holes at a
 * multiple of the file system's block too, because only whole blocks can be taken out. What a
 * version puts in front of a buffer's data (`lead`) goes with them.
 */
#include "dat/write/out.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

#define ALL_ROOM  ((uint64_t)8 << 40)
#define MAX_ROOM  ((uint64_t)1 << 40)
#define MIN_ROOM  ((uint64_t)64 << 20)
#define MAX_DISK  ((uint64_t)1 << 60)
#define MAX_BLOCK (64u << 10) /* of a file system; larger ones are a hint, not a block */
#define PROBE	  (1u << 20)
#define BALLAST	  (512u << 10)
#define OPEN_ROOM ((uint64_t)1 << 60) /* of the last region, without holes */

#ifndef EXFAT_SUPER_MAGIC
#define EXFAT_SUPER_MAGIC 0x2011BAB0
#endif

/* ---- DAT_OPT_REGIONS ------------------------------------------------------------------ */

size_t out_regions_size(const struct dat_out *o)
{
	return DAT_REGIONS_SPARE + DAT_REGIONS_HEAD + (size_t)o->table.nr * DAT_REGIONS_EACH;
}

static void put_table(const struct dat_out *o, struct buf *b)
{
	const struct dat_regions *t = &o->table;
	/* Version 6 always has a top buffer, and it is the first. */
	const uint32_t no_top = o->version == 6 && o->nr_buffers && *o->buffers[0].name;

	out_put(o, b, t->stage, 8);
	out_put(o, b, t->unit, 8);
	out_put(o, b, t->whole, 8);
	out_put(o, b, t->reserve, 8);
	out_put(o, b, t->reserve_size, 8);
	out_put(o, b, t->nr, 4);
	out_put(o, b, t->flags, 4);
	for (uint32_t i = 0; i < t->nr; i++) {
		const struct dat_region *r = &t->each[i];

		out_put(o, b, r->buffer + no_top, 4);
		out_put(o, b, r->cpu, 4);
		out_put(o, b, r->offset, 8);
		out_put(o, b, r->room, 8);
		out_put(o, b, r->size, 8);
		out_put(o, b, r->packed, 8);
		out_put(o, b, r->lead, 8);
	}
}

void out_put_regions(struct dat_out *o, struct buf *b, uint64_t offset)
{
	size_t start = b->len;
	uint64_t skip;

	o->table.at = out_align(offset + 8, 8);
	skip = o->table.at - offset - 8;
	out_put(o, b, DAT_REGIONS_VERSION, 4);
	out_put(o, b, skip, 4);
	buf_fill(b, 0, skip);
	put_table(o, b);
	buf_fill(b, 0, out_regions_size(o) - (b->len - start));
}

int out_write_regions(const struct dat_out *o)
{
	struct buf b;
	int rc;

	buf_init(&b, SIZE_MAX);
	put_table(o, &b);
	rc = buf_full(&b) ? -ENOMEM : out_write(o, b.data + 8, b.len - 8, o->table.at + 8);
	buf_free(&b);
	return rc;
}

int out_write_stage(struct dat_out *o, enum dat_stage stage)
{
	o->table.stage = stage;
	return out_write_number(o, stage, 8, o->table.at + DAT_REGIONS_AT_STAGE);
}

/* Whether the table in the file is the one of this process. */
static bool has_table(const struct dat_out *o)
{
	scoped_buf ours, there;
	int64_t got;

	buf_init(&ours, SIZE_MAX);
	buf_init(&there, SIZE_MAX);
	put_table(o, &ours);
	buf_fill(&there, 0, ours.len);
	if (buf_full(&ours) || buf_full(&there))
		return true;
	got = file_read_at(o->fd, there.data, there.len, o->table.at);
	return got < 0 || ((size_t)got == ours.len && memcmp(ours.data, there.data, ours.len) == 0);
}

/* Neither a page nor the first chunk of a region begins with so many zero bytes. */
static bool has_bytes(const struct dat_out *o, uint64_t at)
{
	static const uint8_t nothing[16];
	uint8_t there[sizeof(nothing)];
	int64_t got = file_read_at(o->fd, there, sizeof(there), at);

	return got < 0 || (got == sizeof(there) && memcmp(there, nothing, sizeof(there)) != 0);
}

bool dat_out_is_whole(const struct dat_out *o)
{
	if (!has_table(o))
		return false;
	for (uint32_t i = 0; i < o->table.nr; i++) {
		const struct out_region *r = &o->regions[i];
		const uint64_t begin = o->table.each[i].offset, size = r->size;

		if (!size || r->spill >= 0)
			continue;
		if (!has_bytes(o, begin) ||
		    (!o->codec && !has_bytes(o, begin + size - r->page_size)))
			return false;
	}
	return true;
}

uint64_t dat_out_end(const struct dat_out *o)
{
	uint64_t end = o->front;

	for (uint32_t i = 0; i < o->table.nr; i++) {
		const uint64_t at = o->table.each[i].offset + o->regions[i].size;

		end = o->table.each[i].offset && at > end ? at : end;
	}
	return end;
}

/* How long a file of this process may be (ulimit -f); UINT64_MAX: any length. */
static uint64_t size_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

/* ---- data that wait in other files ---------------------------------------------------- */

/*
 * Where a file cannot have holes (FAT, a small limit on the size of files), each region's data wait
 * in a file of their own, in the same directory and without a name, and are put one after the other
 * when the recording ends. This is the one case in which a writer that is killed leaves no data.
 *
 * Putting them together takes the space of the largest region a second time. That much is kept
 * free: pages for which it would not be there any more are refused as if the disk were full.
 */

#define SPARE ((uint64_t)1 << 20) /* bytes of the disk that are left alone */

/* The directory of the file, as the system knows it. */
static int find_directory(const struct dat_out *o, char *dir, size_t size)
{
	char link[40], *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", o->fd);
	n = readlink(link, dir, size - 1);
	if (n < 0)
		return -errno;
	dir[n] = 0;
	slash = strrchr(dir, '/');
	if (!slash)
		return -ENOENT;
	slash[slash == dir] = 0;
	return 0;
}

static int open_spill(struct dat_out *o)
{
	char dir[PATH_MAX];
	int rc = find_directory(o, dir, sizeof(dir));

	for (uint32_t i = 0; i < o->table.nr && !rc; i++) {
		int fd = file_nameless(dir);

		o->regions[i].spill = fd < 0 ? -1 : fd;
		rc = fd < 0 ? fd : 0;
	}
	o->spilling = true;
	return rc;
}

/* Whether there is space on the disk to put the data together with so many more. */
static int check_disk(struct dat_out *o, uint32_t i, size_t n)
{
	/* What all regions append between two checks must not take more than half of the spare. */
	const uint64_t look_after = SPARE / 2 / (o->table.nr + 1);
	uint64_t size = o->regions[i].size, most = size + n, block;
	struct statvfs fs;

	if (size && size / look_after == (size + n) / look_after)
		return 0;
	for (uint32_t k = 0; k < o->table.nr; k++)
		most = o->regions[k].size > most ? o->regions[k].size : most;
	if (fstatvfs(o->fd, &fs) < 0)
		return 0;
	block = fs.f_frsize ? fs.f_frsize : fs.f_bsize;
	return (uint64_t)fs.f_bavail * block < most + n + SPARE ? -ENOSPC : 0;
}

/* How many bytes of trace data a file of the greatest length has. */
static uint64_t most_data(const struct dat_out *o)
{
	const uint64_t limit = size_limit(), unit = o->table.unit;
	/* Leads of buffers; compressed data do not end at a multiple of the unit. */
	const uint64_t gaps = (o->nr_buffers + (o->codec ? o->table.nr : 0)) * unit;
	const uint64_t front = out_align(o->front, unit) + gaps;

	return limit > front ? limit - front : 0;
}

int out_spill_claim(struct dat_out *o, uint32_t i, size_t *n, size_t unit)
{
	const uint64_t most = most_data(o), want = *n;
	uint64_t before;
	int rc = check_disk(o, i, want);

	if (rc) {
		*n = 0;
		return rc;
	}
	before = atomic_fetch_add(&o->spilled, want);
	if (before + want <= most)
		return 0;
	*n = before < most ? (size_t)((most - before) / unit * unit) : 0;
	atomic_fetch_sub(&o->spilled, want - *n);
	return -EFBIG;
}

static int put_region(struct dat_out *o, uint32_t i)
{
	struct out_region *r = &o->regions[i];
	uint64_t size;
	int rc = o->codec ? out_flush_region(o, i) : 0;

	if (rc)
		return rc;
	size = r->size;
	r->size = 0;
	rc = out_begin_region(o, i);
	if (!rc)
		rc = out_copy(o, r->spill, 0, size, o->table.each[i].offset);
	r->size = size;
	if (rc)
		return rc;
	close(r->spill);
	r->spill = -1;
	return o->codec && size ? out_write_number(o, r->nr_chunks, 4, o->table.each[i].offset) : 0;
}

int out_spill_finish(struct dat_out *o)
{
	int rc = 0;

	for (uint32_t i = 0; i < o->table.nr && !rc; i++)
		if (o->regions[i].spill >= 0)
			rc = put_region(o, i);
	return rc;
}

/* ---- with holes ----------------------------------------------------------------------- */

/* File systems without holes fill what is skipped with zeros, which takes space and time. */
static bool has_holes(const struct dat_out *o, uint64_t end)
{
	struct statfs fs;
	struct stat st;
	bool holes;

	if (fstatfs(o->fd, &fs) < 0 || fs.f_type == MSDOS_SUPER_MAGIC ||
	    fs.f_type == EXFAT_SUPER_MAGIC)
		return false;
	holes = out_write(o, "", 1, end + PROBE - 1) == 0 && fstat(o->fd, &st) == 0 &&
		(uint64_t)st.st_blocks * 512 < PROBE;
	return ftruncate(o->fd, (off_t)end) == 0 && holes;
}

/* Whether the file may become that long. Exceeding the limit would raise a signal. */
static bool may_grow(const struct dat_out *o, uint64_t size)
{
	return size <= size_limit() && ftruncate(o->fd, (off_t)size) == 0;
}

static uint64_t find_unit(const struct dat_out *o)
{
	uint64_t unit = 4096;
	struct statfs fs;

	if (o->sparse && fstatfs(o->fd, &fs) == 0 && fs.f_bsize > 0)
		while (unit < (uint64_t)fs.f_bsize && unit < MAX_BLOCK)
			unit *= 2;
	for (size_t i = 0; i < o->nr_buffers; i++)
		if (!o->buffers[i].is_text && unit < o->buffers[i].page_size)
			unit = o->buffers[i].page_size;
	return unit;
}

/* The lead of a region when there are holes: that of all buffers but the first is a whole unit. */
static uint64_t lead_of(const struct dat_out *o, uint32_t i)
{
	const struct dat_region *r = &o->table.each[i];

	return i && o->format->lead && r->buffer != r[-1].buffer ? o->table.unit : 0;
}

/* The most that a region may get of what a file may have. */
static uint64_t most_room(const struct dat_out *o, uint64_t start)
{
	const uint64_t limit = size_limit(), n = o->table.nr, unit = o->table.unit;
	uint64_t room = MAX_ROOM;

	if (limit < start + n * unit)
		return 0;
	if (limit != UINT64_MAX && ((limit - start) / n - unit) < room)
		room = ((limit - start) / n - unit) & ~(unit - 1);
	return room;
}

/* The room there is for each region, 0 when it is too little, and for the first one. */
static uint64_t find_room(const struct dat_out *o, uint64_t start, uint64_t *first)
{
	const uint64_t n = o->table.nr, unit = o->table.unit;
	uint64_t room = most_room(o, start);
	struct statfs fs;
	int rc;

	while (room >= MIN_ROOM &&
	       (n * (room + unit) > ALL_ROOM || !may_grow(o, start + n * (room + unit))))
		room = room / 2 & ~(unit - 1);
	*first = 0;
	if (room >= MIN_ROOM && fstatfs(o->fd, &fs) == 0 && fs.f_blocks > 0 && fs.f_bsize > 0 &&
	    !__builtin_mul_overflow((uint64_t)fs.f_blocks, (uint64_t)fs.f_bsize, first))
		*first = out_align(*first < MAX_DISK ? *first : MAX_DISK, unit);
	if (*first <= room || !may_grow(o, start + *first + n * (room + unit)))
		*first = room;
	rc = ftruncate(o->fd, (off_t)start);
	return rc == 0 && room >= MIN_ROOM ? room : 0;
}

static int place_apart(struct dat_out *o, uint64_t end, uint64_t first, uint64_t room)
{
	uint64_t at = end;

	for (uint32_t i = 0; i < o->table.nr; i++) {
		struct dat_region *r = &o->table.each[i];
		int rc = 0;

		r->lead = lead_of(o, i);
		if (r->lead)
			rc = o->format->begin_buffer(o, &o->buffers[r->buffer], at);
		if (rc)
			return rc;
		r->offset = r->packed = at + r->lead;
		r->room = r->cpu == DAT_NO_CPU ? 0 : i ? room : first;
		at = r->offset + (i ? r->room : first);
	}
	o->table.flags |= DAT_REGIONS_SPARSE;
	return 0;
}

int out_check_room(const struct dat_out *o, struct spur_error *err)
{
	struct statfs fs;

	if (size_limit() / 2 < o->front)
		return error_sys(err, -EFBIG, "no place for the trace data");
	if (fstatfs(o->fd, &fs) == 0 && fs.f_bsize > 0 &&
	    (uint64_t)fs.f_bavail < o->front / (uint64_t)fs.f_bsize)
		return error_sys(err, -ENOSPC, "no place for the trace data");
	return 0;
}

static void fill(int fd, uint64_t size)
{
	static const uint8_t nothing[16u << 10];

	for (uint64_t at = 0; at < size; at += sizeof(nothing))
		if (file_write_at(fd, nothing, sizeof(nothing), at, NULL) < 0)
			break;
}

/*
 * Space that is given back when the recording ends: on a full disk some file systems need it even
 * to write over what is there, and data cannot be moved without any. It is a file without a name:
 * what is allocated past the end of a file is gone as soon as ext4 cannot write to that. Of a
 * small disk it is a small part, at least one unit. Without it, this succeeds less often.
 */
void out_place_ballast(struct dat_out *o)
{
	uint64_t size = BALLAST;
	struct stat file, ballast;
	char dir[PATH_MAX];
	struct statfs fs;
	int fd;

	if (!(o->table.flags & DAT_REGIONS_SPARSE) || find_directory(o, dir, sizeof(dir)) < 0)
		return;
	fd = file_nameless(dir);
	if (fd < 0)
		return;
	if (fstat(o->fd, &file) < 0 || fstat(fd, &ballast) < 0 || file.st_dev != ballast.st_dev) {
		close(fd);
		return;
	}
	o->ballast = fd;
	if (fstatfs(fd, &fs) == 0 && (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / 8 < size)
		size = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize / 8;
	size = size & ~(o->table.unit - 1);
	size = size ? size : o->table.unit;
	if (fallocate(fd, 0, 0, (off_t)size) < 0 && errno == EOPNOTSUPP)
		fill(fd, size);
}

void out_drop_ballast(struct dat_out *o)
{
	if (o->ballast >= 0)
		close(o->ballast);
	o->ballast = -1;
}

int out_place_regions(struct dat_out *o, uint64_t end, struct spur_error *err)
{
	uint64_t start, room = 0, first = 0;
	int rc;

	o->table.unit = find_unit(o);
	o->front = end;
	if (!o->sparse || !o->table.nr)
		return 0;
	start = out_align(end, o->table.unit);
	if (has_holes(o, start))
		room = find_room(o, start, &first);
	rc = room ? place_apart(o, start, first, room) : open_spill(o);
	if (rc)
		return error_sys(err, rc, "no place for the trace data");
	return 0;
}

/* ---- without holes -------------------------------------------------------------------- */

static void place_next(struct dat_out *o)
{
	const uint32_t i = o->nr_begun++;
	struct dat_region *r = &o->table.each[i];
	uint64_t begin, lead;

	begin = i ? r[-1].offset + o->regions[i - 1].size : o->front;
	lead = i && r->buffer != r[-1].buffer ? o->format->lead : 0;
	r->offset = r->packed = out_align(begin + lead, o->table.unit);
	r->lead = lead ? r->offset - begin : 0;
	r->room = r->cpu == DAT_NO_CPU ? 0 : OPEN_ROOM;
}

int out_begin_region(struct dat_out *o, uint32_t i)
{
	const uint32_t begun = o->nr_begun;
	int rc;

	if (i + 1 < begun)
		return -EINVAL;
	if (i < begun)
		return 0;
	rc = begun ? out_flush_region(o, begun - 1) : 0;
	if (rc)
		return rc;
	while (o->nr_begun <= i)
		place_next(o);
	/*
	 * Until readers know where a region begins they would take it for the end of the last
	 * one.
	 */
	rc = out_write_regions(o);
	for (uint32_t k = begun; k <= i && !rc; k++) {
		const struct dat_region *r = &o->table.each[k];

		if (r->lead)
			rc = o->format->begin_buffer(o, &o->buffers[r->buffer],
						     r->offset - r->lead);
	}
	if (rc)
		o->nr_begun = begun;
	return rc;
}

uint32_t out_region_index(const struct dat_out *o, size_t buffer, uint32_t cpu)
{
	if (buffer >= o->nr_buffers || cpu >= o->buffers[buffer].nr_cpus ||
	    o->buffers[buffer].is_text)
		return UINT32_MAX;
	return o->buffers[buffer].first + cpu;
}

uint64_t out_data_end(const struct dat_out *o)
{
	const struct dat_regions *t = &o->table;
	uint64_t end = o->front;

	for (uint32_t i = 0; i < t->nr; i++) {
		const struct dat_region *r = &t->each[i];

		/* A header stands at the beginning of its lead. */
		if (r->lead && r->packed - r->lead + o->format->lead > end)
			end = r->packed - r->lead + o->format->lead;
		if (r->size && r->packed + r->size > end)
			end = r->packed + r->size;
	}
	return end;
}
