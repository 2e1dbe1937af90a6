// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where a file cannot have holes (FAT, a small limit on the size of files), each region's data wait
 * in a file of their own, in the same directory and without a name, and are put behind each other
 * when the recording ends. This is the one case in which a writer that is killed leaves no data.
 *
 * Putting them together takes the space of the largest region a second time. That much is kept
 * free: pages for which it would not be there any more are refused as if the disk were full.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"
#include "dat/write_parts.h"

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

int out_spill_open(struct dat_out *o)
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
	/* What all regions append between two looks must not take more than half of the spare. */
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
	const uint64_t limit = out_size_limit(), unit = o->table.unit;
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
	uint8_t number[4];
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
	out_store(o, number, r->nr_chunks, 4);
	return o->codec && size ? out_write(o, number, 4, o->table.each[i].offset) : 0;
}

int out_spill_finish(struct dat_out *o)
{
	int rc = 0;

	for (uint32_t i = 0; i < o->table.nr && !rc; i++)
		if (o->regions[i].spill >= 0)
			rc = put_region(o, i);
	return rc;
}
