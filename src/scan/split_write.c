// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Writing a piece: of every lane, the pages between two places.
 *
 * Pages that belong to a piece completely are copied as they are. Only those at its borders are
 * made again, from the records that belong to the piece (ring/ring.h).
 */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/newfile.h"
#include "import/sources.h"
#include "ring/ring.h"
#include "scan/split_parts.h"

#define TICKS 4096 /* records or pages between two calls of cut_watch() */

void cut_begin(struct cutter *c)
{
	c->events = c->first = c->last = 0;
	memset(c->lost, 0, c->scan.nr * sizeof(*c->lost));
	for (uint32_t i = 0; i < c->nr; i++) {
		struct cut_lane *l = &c->lanes[i];

		l->any = !l->lane->ended && !l->over;
		l->from = lane_tell(l->lane);
	}
}

void cut_end(struct cutter *c)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		struct cut_lane *l = &c->lanes[i];

		l->to_end = l->lane->ended;
		l->to = lane_tell(l->lane);
		if (!l->to_end && l->to.page == l->from.page && l->to.pos == l->from.pos)
			l->any = false;
	}
}

int cut_watch(struct cutter *c)
{
	const struct dat_job *job = &c->s->job;
	uint64_t done = c->copied;

	if (job->stop && *job->stop)
		return -EINTR;
	if (!job->progress || c->ticks++ % TICKS)
		return 0;
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct lane *l = c->lanes[i].lane;

		done += l->ended ? l->nr_pages : l->page_index;
	}
	job->progress(job->arg, done < c->total ? done : c->total, c->total);
	return 0;
}

/* Where a record is in relation to the piece. */
enum side { BEFORE, INSIDE, AFTER };

static enum side side_of(const struct cut_lane *l, uint64_t index, uint32_t pos)
{
	if (index == l->from.page && pos < l->from.pos)
		return BEFORE;
	return !l->to_end && index == l->to.page && pos >= l->to.pos ? AFTER : INSIDE;
}

/*
 * The records of a page that belong to the piece; false when there are none. `whole` is set if the
 * page can be copied as it is.
 */
static bool find_part(const struct cut_lane *l, uint64_t index, const struct ring_page *page,
		      struct ring_part *part, bool *whole)
{
	struct ring_page walk = *page;
	struct ring_event e;
	bool any = false;

	/* Earlier pages, of which no record is used, may have reported losses. */
	part->lost = index == l->from.page ? l->from.lost : page->lost;
	*whole = part->lost == page->lost;
	while (ring_page_next(&walk, &e)) {
		enum side side = side_of(l, index, e.pos);

		if (side != INSIDE)
			*whole = false;
		if (side == AFTER) {
			part->end = e.pos;
			return any;
		}
		if (side == INSIDE && !any) {
			part->first = e.pos;
			part->ts = e.ts;
			any = true;
		}
	}
	part->end = walk.end;
	if (walk.damaged)
		*whole = false;
	return any;
}

static int put_page(const struct cut_lane *l, uint64_t index, const struct dat_page *data,
		    struct dat_sink *sink)
{
	const struct ring_layout *layout = &l->lane->buffer->data->layout;
	struct ring_page page;
	struct ring_part part;
	bool whole, any;
	uint8_t *to;
	int rc;

	if (ring_page_open(&page, layout, data->data, data->size) < 0)
		return 0;
	any = find_part(l, index, &page, &part, &whole);
	if (!any && !whole)
		return 0;
	to = dat_sink_page(sink, &rc);
	if (!to)
		return rc;
	if (whole && data->size == layout->page_size)
		memcpy(to, data->data, data->size);
	else if (any)
		ring_cut(&page, &part, to);
	else
		dat_sink_unpage(sink);
	return 0;
}

static int put_lane(struct cutter *c, const struct cut_lane *l, struct dat_sink *sink)
{
	uint64_t last = l->to_end ? UINT64_MAX : l->to.page;

	for (uint64_t i = l->from.page; i <= last; i++) {
		struct dat_page page;
		int rc = cut_watch(c), got;

		if (rc < 0)
			return rc;
		got = dat_pages_get(l->pages, i, &page);
		if (got < 0 && i < l->lane->nr_pages)
			continue;
		if (got <= 0)
			break;
		rc = put_page(l, i, &page, sink);
		if (rc < 0)
			return rc;
		c->copied++;
	}
	return 0;
}

static int put_lanes(struct cutter *c, struct dat_out *out)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < c->nr; i++) {
		const struct cut_lane *l = &c->lanes[i];
		struct dat_sink sink;

		if (!l->any)
			continue;
		rc = dat_sink_open(&sink, out, l->buffer, l->place,
				   l->lane->buffer->data->page_size);
		if (rc == 0)
			rc = put_lane(c, l, &sink);
		rc = dat_sink_close(&sink, rc);
	}
	return rc;
}

static int write_piece(struct cutter *c, int fd, const char *path, struct spur_error *err)
{
	struct dat_out *out;
	int rc = dat_out_create_fd(fd, path, &c->options, &c->contents, &out, err);

	if (rc < 0)
		return rc;
	rc = put_lanes(c, out);
	if (rc < 0) {
		dat_out_abandon(out);
		return error_sys(err, rc, "%s: the trace data cannot be written", path);
	}
	return dat_out_finish(out, &c->contents, err);
}

int cut_write(struct cutter *c, const char *path, struct spur_error *err)
{
	struct newfile file;
	int rc = c->s->spare ? source_spare(path, SOURCE_FORCE, err) : 0, fd;

	fd = rc < 0 ? rc : newfile_create(&file, path, err);
	if (fd < 0)
		return fd;
	rc = write_piece(c, fd, path, err);
	if (rc < 0) {
		newfile_drop(&file);
		return rc;
	}
	return newfile_keep(&file, err);
}
