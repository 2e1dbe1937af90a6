// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The end of the trace data: their sizes become known and the holes between them go.
 *
 * If the process dies in the middle of this, all data can still be found (unfinished.h): the
 * sizes are in the file before the first hole goes, and each step ends with a change of the size
 * of the file, which says how far the work has come.
 *
 * Where holes cannot be collapsed (tmpfs, NFS, btrfs, ext3) the data are moved down piece by piece,
 * the last piece first: a piece is copied to its final place, then the file is cut off in front of
 * its old one. Cutting gives the space back, so this needs no more space than one piece, and a
 * piece is as small as the disk demands. The first region has so much room that the final places
 * of all others lie in its hole (regions.c).
 *
 * Otherwise, or if what the file says about its data is not true, the holes stay: the file is valid
 * with them, only longer.
 */
#include "dat/write/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/file.h"

#define COPY_WINDOW ((size_t)1 << 20)
#define PIECE	    ((uint64_t)64 << 20) /* moved at once, if the disk has space for it */

/* ---- copying -------------------------------------------------------------------------- */

static int copy_bytes(const struct dat_out *o, int from, uint64_t at, uint64_t n, uint64_t to)
{
	char *window = malloc(COPY_WINDOW);
	int rc = window ? 0 : -ENOMEM;

	while (n && window) {
		size_t want = n < COPY_WINDOW ? (size_t)n : COPY_WINDOW;
		int64_t got = file_read_at(from, window, want, at);

		if (got <= 0)
			rc = got < 0 ? (int)got : -EIO;
		else
			rc = out_write(o, window, (size_t)got, to);
		if (rc)
			break;
		at += (uint64_t)got;
		to += (uint64_t)got;
		n -= (uint64_t)got;
	}
	free(window);
	return rc;
}

int out_copy(const struct dat_out *o, int from, uint64_t at, uint64_t n, uint64_t to)
{
	off_t in = (off_t)at, out = (off_t)to;

	while (n) {
		ssize_t got = copy_file_range(from, &in, o->fd, &out, n, 0);

		if (got < 0 && errno == EINTR)
			continue;
		/* Not every kernel and file system can do this; they return different errors. */
		if (got <= 0)
			return copy_bytes(o, from, (uint64_t)in, n, (uint64_t)out);
		n -= (uint64_t)got;
	}
	return 0;
}

/* ---- sizes ---------------------------------------------------------------------------- */

static void take_sizes(struct dat_out *o)
{
	for (uint32_t i = 0; i < o->table.nr; i++) {
		uint64_t size = o->regions[i].size;

		/* Another writer may have stopped inside a page. */
		if (!o->codec && o->regions[i].page_size)
			size -= size % o->regions[i].page_size;
		o->table.each[i].size = size;
	}
}

/* Empty regions at the end need not be moved; returns where the data end. */
static uint64_t trim(struct dat_out *o)
{
	struct dat_regions *t = &o->table;
	uint32_t used = t->nr;

	while (used && !t->each[used - 1].size && !t->each[used - 1].lead)
		used--;
	for (uint32_t i = used ? used : 1; i < t->nr; i++) {
		struct dat_region *r = &t->each[i];

		r->offset = out_align(r[-1].offset + r[-1].size, t->unit);
	}
	return used ? t->each[used - 1].offset + t->each[used - 1].size : o->front;
}

/* From here on the table says how much data there are. */
static int end_data(struct dat_out *o)
{
	int rc;

	take_sizes(o);
	o->table.whole = trim(o);
	out_drop_ballast(o);
	if (ftruncate(o->fd, (off_t)o->table.whole) < 0)
		return -errno;
	rc = out_write_regions(o);
	return rc ? rc : out_write_stage(o, DAT_STAGE_ENDED);
}

/* ---- holes ---------------------------------------------------------------------------- */

/* Collapses holes, the last one first, from `gone` down; returns the first one that is gone. */
static uint32_t collapse(struct dat_out *o, uint32_t gone)
{
	const struct dat_regions *t = &o->table;

	while (gone) {
		const struct dat_region *r = &t->each[gone - 1];
		uint64_t hole = dat_regions_hole(t, gone - 1);

		if (hole &&
		    fallocate(o->fd, FALLOC_FL_COLLAPSE_RANGE,
			      (off_t)out_align(r->offset + r->size, t->unit), (off_t)hole) < 0)
			break;
		gone--;
	}
	return gone;
}

static int settle(struct dat_out *o)
{
	int rc = out_write_regions(o);

	return rc ? rc : out_write_stage(o, DAT_STAGE_PACKED);
}

/* Data have no holes. A file that says otherwise is damaged; copying a hole might take for ever. */
static bool is_dense(const struct dat_out *o, uint64_t offset, uint64_t n)
{
	off_t hole = n ? lseek(o->fd, (off_t)offset, SEEK_HOLE) : -1;

	return !n || (hole < 0 ? errno == EINVAL : (uint64_t)hole - offset >= n);
}

/* The final places of all regions, one after the other. Whether these are not in use yet. */
static bool place_finally(struct dat_out *o)
{
	const struct dat_regions *t = &o->table;
	uint64_t end = t->each[0].offset + t->each[0].size, used = UINT64_MAX;

	t->each[0].packed = t->each[0].offset;
	for (uint32_t i = 1; i < t->nr; i++) {
		struct dat_region *r = &t->each[i];
		const uint64_t n = r->lead + r->size, to = out_align(end, t->unit);

		if (!is_dense(o, r->offset, r->size) || to > r->offset - r->lead)
			return false;
		r->packed = to + r->lead;
		if (n && to < r->offset - r->lead && used == UINT64_MAX)
			used = r->offset - r->lead;
		end = n ? to + n : end;
	}
	return end <= used;
}

/* Copies the end of a region, from byte `at` of it on, and cuts it off. */
static int move_piece(struct dat_out *o, const struct dat_region *r, uint64_t at, uint64_t n)
{
	const uint64_t from = r->offset - r->lead + at, to = r->packed - r->lead + at;
	int rc = out_copy(o, o->fd, from, n, to);

	/* Half a copy would take the space that a smaller piece needs. */
	if (rc)
		fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)to, (off_t)n);
	/* A crash of the machine must not leave the file shorter and the copy unwritten. */
	if (!rc && fdatasync(o->fd) < 0 && errno != EINVAL)
		rc = -errno;
	if (!rc && ftruncate(o->fd, (off_t)from) < 0)
		rc = -errno;
	return rc;
}

/* Moves what of a region lies in front of `size`, where the file ends. */
static int move_region(struct dat_out *o, const struct dat_region *r, uint64_t size,
		       uint64_t *piece)
{
	uint64_t left = dat_region_unmoved(r, size);
	int rc = 0;

	if (left > r->lead && !is_dense(o, r->offset, left - r->lead))
		return -EBADMSG;
	while (left && !rc) {
		const uint64_t at = (left - 1) / *piece * *piece;

		rc = move_piece(o, r, at, left - at);
		if (rc == -ENOSPC && *piece > o->table.unit) {
			*piece /= 2;
			rc = 0;
			continue;
		}
		if (rc)
			break;
		o->moved += left - at;
		if (o->progress)
			o->progress(o->progress_arg, o->moved, o->to_move);
		left = at;
	}
	return rc;
}

/* What is moved at once: less than there is space for. */
static uint64_t first_piece(const struct dat_out *o)
{
	uint64_t piece = PIECE;
	struct statvfs fs;

	if (fstatvfs(o->fd, &fs) == 0)
		while (piece > o->table.unit &&
		       piece / (fs.f_frsize ? fs.f_frsize : fs.f_bsize + 1) > fs.f_bavail / 2)
			piece /= 2;
	return piece;
}

static int move(struct dat_out *o)
{
	const struct dat_regions *t = &o->table;
	const off_t size = lseek(o->fd, 0, SEEK_END);
	uint64_t piece = first_piece(o);
	int rc = size < 0 ? -errno : 0;

	for (uint32_t i = 1; i < t->nr && !rc; i++)
		o->to_move += dat_region_unmoved(&t->each[i], (uint64_t)size);
	for (uint32_t i = t->nr; i-- > 1 && !rc;)
		rc = move_region(o, &t->each[i], (uint64_t)size, &piece);
	return rc;
}

/*
 * Where holes cannot be collapsed. After some of them could, the table first says where the data
 * are now; no stage uses what is written meanwhile.
 */
static int begin_move(struct dat_out *o, uint32_t gone)
{
	struct dat_regions *t = &o->table;
	int rc = 0;

	dat_regions_place(t, gone);
	if (t->each[t->nr - 1].packed != t->each[t->nr - 1].offset) {
		rc = settle(o);
		for (uint32_t i = 0; i < t->nr; i++)
			t->each[i].offset = t->each[i].packed;
		t->whole = (uint64_t)lseek(o->fd, 0, SEEK_END);
		if (!rc)
			rc = out_write_regions(o);
		if (!rc)
			rc = out_write_stage(o, DAT_STAGE_ENDED);
	}
	if (rc)
		return rc;
	if (!place_finally(o)) {
		dat_regions_place(t, t->nr - 1);
		return 0;
	}
	rc = out_write_regions(o);
	return rc ? rc : out_write_stage(o, DAT_STAGE_MOVING);
}

/* Data without holes between them are where they stay as soon as the last one has ended. */
static int pack_row(struct dat_out *o)
{
	int rc = o->table.nr ? out_begin_region(o, o->table.nr - 1) : 0;

	if (!rc && o->table.nr)
		rc = out_flush_region(o, o->table.nr - 1);
	take_sizes(o);
	return rc ? rc : settle(o);
}

int out_pack(struct dat_out *o)
{
	struct dat_regions *t = &o->table;
	uint32_t gone = t->nr - 1;
	int rc = 0;

	if (t->stage == DAT_STAGE_PACKED)
		return 0;
	if (!t->nr || !(t->flags & DAT_REGIONS_SPARSE))
		return pack_row(o);
	if (t->stage == DAT_STAGE_OPEN)
		rc = end_data(o);
	else if (t->stage == DAT_STAGE_ENDED)
		gone = dat_regions_gone(t, (uint64_t)lseek(o->fd, 0, SEEK_END));
	if (rc || gone == UINT32_MAX)
		return rc ? rc : -EBADMSG;
	if (t->stage == DAT_STAGE_ENDED) {
		gone = collapse(o, gone);
		if (gone)
			rc = begin_move(o, gone);
		else
			dat_regions_place(t, gone);
	}
	if (!rc && t->stage == DAT_STAGE_MOVING)
		rc = move(o);
	return rc ? rc : settle(o);
}
