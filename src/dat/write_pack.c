// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The end of the trace data: their sizes become known and the holes between them go.
 *
 * Whoever dies in the middle of this leaves a file whose data can all be found (unfinished.h): the
 * sizes are in the file before the first hole goes, collapsing one changes the size of the file and
 * thereby tells that it is gone, and data that are copied stay where they were until the copy is
 * complete and its place is written down.
 *
 * A hole that cannot be taken out stays: the file is as good with it, only longer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "dat/write_parts.h"

#define COPY_WINDOW ((size_t)1 << 20)

/* ---- copying --------------------------------------------------------------------------- */

static int copy_bytes(const struct dat_out *o, int from, uint64_t at, uint64_t n, uint64_t to)
{
	char *window = malloc(COPY_WINDOW);
	int rc = window ? 0 : -ENOMEM;

	while (n && !rc) {
		size_t want = n < COPY_WINDOW ? (size_t)n : COPY_WINDOW;
		ssize_t got = pread(from, window, want, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			rc = got < 0 ? -errno : -EIO;
		else
			rc = out_write(o, window, (size_t)got, to);
		at += (uint64_t)(got > 0 ? got : 0);
		to += (uint64_t)(got > 0 ? got : 0);
		n -= (uint64_t)(got > 0 ? got : 0);
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
		/* Not every kernel and file system can; they say so in many ways. */
		if (got <= 0)
			return copy_bytes(o, from, (uint64_t)in, n, (uint64_t)out);
		n -= (uint64_t)got;
	}
	return 0;
}

/* ---- sizes ----------------------------------------------------------------------------- */

static void take_sizes(struct dat_out *o)
{
	for (uint32_t i = 0; i < o->table.nr; i++) {
		uint64_t size = o->regions[i].size;

		/* Somebody else's writing may have ended inside a page. */
		if (!o->codec && o->regions[i].page_size)
			size -= size % o->regions[i].page_size;
		o->table.each[i].size = size;
	}
}

/* Regions at the end that have nothing in them move for free; returns where the data end. */
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
	if (ftruncate(o->fd, (off_t)o->table.whole) < 0)
		return -errno;
	rc = out_write_regions(o);
	return rc ? rc : out_write_stage(o, DAT_STAGE_ENDED);
}

/* ---- holes ----------------------------------------------------------------------------- */

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

/* Gives space back; where that fails there is only less of it. */
static void punch(const struct dat_out *o, uint64_t offset, uint64_t n)
{
	fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)n);
}

/* Data have no holes; what has is a lie of the file's, and copying it might take for ever. */
static bool is_dense(const struct dat_out *o, uint64_t offset, uint64_t n)
{
	off_t hole = n ? lseek(o->fd, (off_t)offset, SEEK_HOLE) : -1;

	return !n || (hole < 0 ? errno == EINVAL : (uint64_t)hole - offset >= n);
}

/* Copies a region down to `to`, where the one before it ends. */
static int move_region(struct dat_out *o, uint32_t i, uint64_t to)
{
	struct dat_region *r = &o->table.each[i];
	uint64_t from = r->offset - r->lead, n = r->lead + r->size;
	int rc = 0;

	if (to >= from)
		return 0;
	/* A copy that would reach into what it is made of could not be taken back. */
	if (n > from - to || !is_dense(o, r->offset, r->size))
		return 0;
	/* Of what goes with the data only the beginning has something in it. */
	if (r->lead)
		rc = out_copy(o, o->fd, from, o->format->lead, to);
	if (r->size && !rc)
		rc = out_copy(o, o->fd, r->offset, r->size, to + r->lead);
	if (rc) {
		punch(o, to, n);
		return rc;
	}
	rc = out_write_number(o, to + r->lead, 8,
			      o->table.at + DAT_REGIONS_HEAD + (uint64_t)i * DAT_REGIONS_EACH +
				      DAT_REGION_AT_OFFSET);
	if (rc)
		return rc;
	r->offset = to + r->lead;
	if (n)
		punch(o, from, n);
	return 0;
}

/* Where no hole can be collapsed; `offset` is where the regions are. */
static void move(struct dat_out *o)
{
	const struct dat_regions *t = &o->table;

	for (uint32_t i = 1; i < t->nr; i++)
		if (move_region(o, i,
				out_align(t->each[i - 1].offset + t->each[i - 1].size, t->unit)))
			return;
}

static int settle(struct dat_out *o)
{
	int rc = out_write_regions(o);

	return rc ? rc : out_write_stage(o, DAT_STAGE_PACKED);
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
	else
		gone = dat_regions_gone(t, (uint64_t)lseek(o->fd, 0, SEEK_END));
	if (rc || gone == UINT32_MAX)
		return rc ? rc : -EBADMSG;
	gone = collapse(o, gone);
	dat_regions_place(t, gone);
	if (t->each[t->nr - 1].packed == t->each[t->nr - 1].offset) {
		move(o);
		dat_regions_place(t, t->nr - 1);
	}
	return settle(o);
}
