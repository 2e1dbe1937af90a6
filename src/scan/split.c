// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A piece is found first, then written. All lanes stand on the first record of the next piece. They
 * are moved on, merged or each by itself, until the piece is full. The piece is what lies between
 * the old and the new positions.
 */
#include "scan/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/newfile.h"
#include "base/order.h"
#include "dat/copy.h"
#include "dat/dat.h"
#include "dat/write.h"
#include "import/sources.h"
#include "ring/ring.h"
#include "scan/scan.h"

/* A lane, and the part of it in the current piece: all records from `from` up to `to`. */
struct cut_lane {
	struct lane *lane;	 /* of the scan; finds the places */
	struct dat_pages *pages; /* the same data; used for copying */
	uint32_t buffer;	 /* in the pieces */
	uint32_t place;		 /* of the CPU in that buffer's list */
	struct lane_pos from, to;
	bool any;    /* there is something between the two */
	bool to_end; /* up to the end of the data, whatever `to` says */
	bool over;   /* the range asked for ends before the record the lane stands on */
};

struct cutter {
	const struct split *s;
	struct scan scan;
	struct cut_lane *lanes; /* in the order in which files are written */
	uint32_t nr;
	struct dat_contents contents;	   /* of all pieces, but for the option CUT */
	struct dat_out_option *own_option; /* among them: CUT of the piece; NULL: none had it yet */
	struct buf mark;		   /* its bytes */
	bool *lost; /* by lane of the scan: the piece has a record after a loss */
	struct dat_out_options options;
	uint64_t events, first, last; /* of the current piece */
	uint64_t copied, total;	      /* pages, for the progress */
	uint32_t ticks;
};

/* ---- what the pieces consist of -------------------------------------------------------- */

static const struct trace_buffer *find_buffer(const struct spur_trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->nr_buffers; i++)
		if (strcmp(t->buffers[i].data->name, name) == 0)
			return &t->buffers[i];
	return NULL;
}

static int check_buffers(const struct split *s, struct spur_error *err)
{
	for (size_t i = 0; i < s->nr_buffers; i++) {
		const struct split_buffer *b = &s->buffers[i];

		if (!find_buffer(s->trace, b->name))
			return error_set(err, -EINVAL, "%s has no buffer \"%s\"",
					 s->trace->dat->path, b->name);
		for (size_t k = 0; k < i; k++)
			if (strcmp(s->buffers[k].as, b->as) == 0)
				return error_set(err, -EINVAL, "two buffers cannot both be %s",
						 *b->as ? b->as : "the top one");
	}
	for (uint32_t i = 0; i < s->trace->nr_buffers; i++)
		if (s->trace->buffers[i].data->text)
			return error_set(err, -EINVAL,
					 "%s is a latency trace: text, which cannot be split",
					 s->trace->dat->path);
	return 0;
}

/* A buffer of the pieces: one of the trace's, under a new name. */
static int keep_buffer(struct cutter *c, struct dat_out_buffer *to, const struct split_buffer *want)
{
	const struct trace_buffer *b = find_buffer(c->s->trace, want->name);

	if (!b || b->index >= c->contents.nr_buffers)
		return -EINVAL;
	*to = c->contents.buffers[b->index];
	to->name = want->as;
	return 0;
}

/* A file must have a top buffer, even if it is empty. */
static void empty_top(const struct cutter *c, struct dat_out_buffer *to)
{
	*to = c->contents.buffers[0];
	to->name = "";
	to->nr_cpus = 0;
}

static int keep_buffers(struct cutter *c)
{
	const struct split *s = c->s;
	struct dat_out_buffer *list;
	size_t n = 0, top = s->nr_buffers;
	int rc = 0;

	if (!s->nr_buffers)
		return 0;
	list = arena_array(&s->trace->dat->arena, s->nr_buffers + 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < s->nr_buffers; i++)
		if (!*s->buffers[i].as)
			top = i;
	if (top < s->nr_buffers)
		rc = keep_buffer(c, &list[n++], &s->buffers[top]);
	else
		empty_top(c, &list[n++]);
	for (size_t i = 0; rc == 0 && i < s->nr_buffers; i++)
		if (i != top)
			rc = keep_buffer(c, &list[n++], &s->buffers[i]);
	c->contents.buffers = list;
	c->contents.nr_buffers = n;
	return rc;
}

/* ---- lanes ----------------------------------------------------------------------------- */

/* The name of a buffer in the pieces, or NULL if they do not have it. */
static const char *new_name(const struct split *s, const struct trace_buffer *b)
{
	if (!s->nr_buffers)
		return b->data->name;
	for (size_t i = 0; i < s->nr_buffers; i++)
		if (find_buffer(s->trace, s->buffers[i].name) == b)
			return s->buffers[i].as;
	return NULL;
}

/* The buffer of the pieces that has the records of one of the trace; false if there is none. */
static bool cut_buffer(const struct cutter *c, const struct trace_buffer *b, uint32_t *place)
{
	const char *name = new_name(c->s, b);

	*place = b->index;
	for (uint32_t i = 0; name && c->s->nr_buffers && i < c->contents.nr_buffers; i++)
		if (strcmp(c->contents.buffers[i].name, name) == 0)
			*place = i;
	return name && *place < c->contents.nr_buffers;
}

static int place_lane(struct cutter *c, struct cut_lane *l)
{
	const struct trace_buffer *b = l->lane->buffer;
	const struct dat_out_buffer *out;
	const uint32_t *cpu;

	if (!cut_buffer(c, b, &l->buffer))
		return -EINVAL;
	out = &c->contents.buffers[l->buffer];
	cpu = bsearch(&l->lane->cpu->cpu, out->cpus, out->nr_cpus, sizeof(*cpu), order_u32);
	if (!cpu)
		return -EINVAL;
	l->place = (uint32_t)(cpu - out->cpus);
	return dat_pages_open(c->s->trace->dat, b->data, l->lane->cpu, &l->pages);
}

static int by_place(const void *a, const void *b)
{
	const struct cut_lane *x = a, *y = b;

	if (x->buffer != y->buffer)
		return x->buffer < y->buffer ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->lane->index < y->lane->index ? -1 : x->lane->index > y->lane->index;
}

static int open_lanes(struct cutter *c)
{
	const struct spur_trace *t = c->s->trace;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < t->nr_buffers; i++)
		if (new_name(c->s, &t->buffers[i]))
			rc = scan_add_buffer(&c->scan, &t->buffers[i]);
	if (rc == 0)
		c->lanes = calloc((size_t)c->scan.nr + 1, sizeof(*c->lanes));
	c->lost = calloc((size_t)c->scan.nr + 1, sizeof(*c->lost));
	if (rc < 0 || !c->lanes || !c->lost)
		return rc < 0 ? rc : -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < c->scan.nr; i++) {
		struct lane *l = &c->scan.lanes[i];

		l->stop = c->s->job.stop;
		/* A lane that is not wanted counts as ended. */
		l->ended = c->s->one_cpu && l->cpu->cpu != c->s->cpu;
		if (l->ended)
			continue;
		c->total += 2 * l->nr_pages;
		c->lanes[c->nr] = (struct cut_lane){.lane = l};
		rc = place_lane(c, &c->lanes[c->nr++]);
	}
	qsort(c->lanes, c->nr, sizeof(*c->lanes), by_place);
	return rc;
}

/* ---- the option CUT -------------------------------------------------------------------- */

/*
 * A piece of a recording that ended before its time has the option if it reaches the end of a CPU's
 * data and events are missing there, or if it reaches the end of the recording. Other pieces are
 * complete and do not have it.
 */

#define OPTION_LIMIT (16u << 20)

static const struct cut_lane *find_lane(const struct cutter *c, const struct dat_cut_cpu *cpu)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct lane *l = c->lanes[i].lane;

		if (l->buffer->index == cpu->buffer && l->cpu->cpu == cpu->cpu)
			return &c->lanes[i];
	}
	return NULL;
}

static bool reaches_end(const struct cutter *c)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (!c->lanes[i].to_end)
			return false;
	return true;
}

/* The entry of a CPU in a piece's option; false if it has none. */
static bool mark_of(const struct cutter *c, const struct dat_cut_cpu *cpu, bool last_piece,
		    struct dat_cut_cpu *to)
{
	const struct spur_trace *t = c->s->trace;
	const struct cut_lane *l = find_lane(c, cpu);

	*to = *cpu;
	if (cpu->buffer >= t->nr_buffers || (c->s->one_cpu && cpu->cpu != c->s->cpu) ||
	    !cut_buffer(c, &t->buffers[cpu->buffer], &to->buffer))
		return false;
	if (!l || !cpu->last)
		return last_piece;
	if (!l->to_end)
		return false;
	if (!l->any) {
		/* The CPU's data ended before this piece: the missing events may lie within it. */
		to->last = to->between = 0;
		to->after = DAT_CUT_UNKNOWN;
		return cpu->after != 0;
	}
	if (!c->lost[l->lane->index])
		to->between = 0;
	return last_piece || cpu->after;
}

/*
 * Makes the options of the pieces: those of the trace without its CUT, and space for the piece's
 * own.
 */
static int copy_options(struct cutter *c)
{
	struct dat_contents *to = &c->contents;
	struct dat_out_option *list =
		arena_array(&c->s->trace->dat->arena, to->nr_options + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < to->nr_options; i++)
		if (to->options[i].id != DAT_OPT_CUT)
			list[n++] = to->options[i];
	to->options = list;
	to->nr_options = n;
	c->own_option = &list[n];
	return 0;
}

static int set_option(struct cutter *c, const struct dat_cut *cut, bool is_cut)
{
	int rc = c->own_option ? 0 : copy_options(c);

	if (rc < 0)
		return rc;
	buf_free(&c->mark);
	buf_init(&c->mark, OPTION_LIMIT);
	dat_cut_put(cut, c->contents.big_endian, &c->mark);
	*c->own_option = (struct dat_out_option){DAT_OPT_CUT, {c->mark.data, c->mark.len}};
	c->contents.nr_options = (size_t)(c->own_option - c->contents.options) + is_cut;
	return buf_full(&c->mark) ? -ENOMEM : 0;
}

/* Sets the option of the piece, if it needs one. */
static int cut_mark(struct cutter *c)
{
	const struct dat_cut *whole = &c->s->trace->dat->cut;
	const bool last_piece = reaches_end(c);
	struct dat_cut cut = {.cause = whole->cause};
	int rc;

	if (!whole->is)
		return 0;
	cut.cpus = calloc((size_t)whole->nr + 1, sizeof(*cut.cpus));
	if (!cut.cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < whole->nr; i++)
		if (mark_of(c, &whole->cpus[i], last_piece, &cut.cpus[cut.nr]))
			cut.nr++;
	rc = set_option(c, &cut, last_piece || cut.nr);
	free(cut.cpus);
	return rc;
}

/* ---- writing a piece ------------------------------------------------------------------- */

/*
 * Of every lane the pages between two places are written. Pages that belong to a piece completely
 * are copied as they are. Only those at its borders are made again, from the records that belong to
 * the piece (ring/ring.h).
 */

#define TICKS 4096 /* records or pages between two calls of cut_watch() */

/* Note where a piece begins and ends: where its lanes stand now. */
static void cut_begin(struct cutter *c)
{
	c->events = c->first = c->last = 0;
	memset(c->lost, 0, c->scan.nr * sizeof(*c->lost));
	for (uint32_t i = 0; i < c->nr; i++) {
		struct cut_lane *l = &c->lanes[i];

		l->any = !l->lane->ended && !l->over;
		l->from = lane_tell(l->lane);
	}
}

static void cut_end(struct cutter *c)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		struct cut_lane *l = &c->lanes[i];

		l->to_end = l->lane->ended;
		l->to = lane_tell(l->lane);
		if (!l->to_end && l->to.page == l->from.page && l->to.pos == l->from.pos)
			l->any = false;
	}
}

/* Reports progress and checks for a stop, now and then: 0 or -EINTR. */
static int cut_watch(struct cutter *c)
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

static int cut_write(struct cutter *c, const char *path, struct spur_error *err)
{
	struct newfile file;
	const char *how = c->s->repeat ? "--force replaces it" : SOURCE_FORCE;
	int rc = c->s->spare ? source_spare(path, how, err) : 0, fd;

	fd = rc < 0 ? rc : newfile_create(&file, path, err);
	if (fd < 0)
		return fd;
	return newfile_end(&file, write_piece(c, fd, path, err), err);
}

/* ---- walking --------------------------------------------------------------------------- */

static void count(struct cutter *c, const struct lane *l)
{
	const uint64_t ts = l->rec.ts;

	c->lost[l->index] |= l->rec.lost != 0;
	if (!c->events++ || ts < c->first)
		c->first = ts;
	if (ts > c->last)
		c->last = ts;
}

/* The size so far of a piece, or of one CPU's part of it. */
struct taken {
	uint64_t events, pages;
	uint64_t since; /* the time its duration is counted from */
	uint64_t page;	/* the last one */
};

static struct taken begin(const struct split *s, const struct lane *l, bool first_piece)
{
	struct taken t = {.page = UINT64_MAX};

	t.since = first_piece && s->has_start ? s->start : l->rec.ts;
	return t;
}

/* Whether the piece is full without the lane's current record. */
static bool is_full(const struct split *s, const struct taken *t, const struct lane *l)
{
	switch (s->unit) {
	case SPLIT_ALL: return false;
	case SPLIT_TIME: return l->rec.ts > t->since && l->rec.ts - t->since > s->amount;
	case SPLIT_EVENTS: return t->events >= s->amount;
	case SPLIT_PAGES: return l->page_index != t->page && t->pages >= s->amount;
	}
	return false;
}

static void take(struct taken *t, const struct lane *l)
{
	t->events++;
	if (l->page_index != t->page)
		t->pages++;
	t->page = l->page_index;
}

static bool behind_end(const struct split *s, const struct lane *l)
{
	return s->has_end && l->rec.ts > s->end;
}

/* Moves all lanes over one piece, in order of time. 1 if there may be more, 0 at the end. */
static int walk_merged(struct cutter *c, bool first_piece)
{
	const struct split *s = c->s;
	const struct lane *l = scan_first(&c->scan);
	struct taken t;

	if (!l)
		return 0;
	t = begin(s, l, first_piece);
	for (; l; l = scan_first(&c->scan)) {
		int rc = cut_watch(c);

		if (rc < 0)
			return rc;
		if (behind_end(s, l))
			return 0;
		if (is_full(s, &t, l))
			return 1;
		take(&t, l);
		count(c, l);
		scan_next(&c->scan);
	}
	return 0;
}

/* The same for each lane by itself. */
static int walk_lanes(struct cutter *c, bool first_piece)
{
	const struct split *s = c->s;
	int more = 0;

	for (uint32_t i = 0; i < c->nr; i++) {
		struct lane *l = c->lanes[i].lane;
		struct taken t;

		if (l->ended || c->lanes[i].over)
			continue;
		t = begin(s, l, first_piece);
		for (; !l->ended && !is_full(s, &t, l); lane_next(l)) {
			int rc = cut_watch(c);

			if (rc < 0)
				return rc;
			c->lanes[i].over = behind_end(s, l);
			if (c->lanes[i].over)
				break;
			take(&t, l);
			count(c, l);
		}
		if (!l->ended && !c->lanes[i].over && !behind_end(s, l))
			more = 1;
	}
	return more;
}

/* Moves every lane to the first record of the range. */
static void go_to_start(struct cutter *c)
{
	const struct split *s = c->s;
	const struct lane *l;

	for (uint32_t i = 0; i < c->nr; i++) {
		struct lane *lane = c->lanes[i].lane;

		if (s->has_start)
			lane_seek_time(lane, s->start, lane->nr_pages / 2);
		lane_next(lane);
	}
	scan_restart(&c->scan);
	while (s->has_start && !s->per_cpu && (l = scan_first(&c->scan)) && l->rec.ts < s->start)
		scan_next(&c->scan);
	for (uint32_t i = 0; s->has_start && s->per_cpu && i < c->nr; i++)
		while (!c->lanes[i].lane->ended && c->lanes[i].lane->rec.ts < s->start)
			lane_next(c->lanes[i].lane);
}

/* ---- pieces ---------------------------------------------------------------------------- */

static int finish_piece(struct cutter *c, uint32_t number, struct spur_error *err)
{
	const struct split *s = c->s;
	struct split_piece piece = {.events = c->events, .first = c->first, .last = c->last};
	char *path = NULL;
	int rc;

	if (s->repeat && asprintf(&path, "%s.%04u", s->output, number) < 0)
		return -ENOMEM;
	piece.path = path ? path : s->output;
	if (dat_is_file(s->trace->dat, piece.path))
		rc = error_set(err, -EINVAL, "%s is the file that is to be split", piece.path);
	else
		rc = cut_write(c, piece.path, err);
	if (rc == 0 && s->wrote)
		s->wrote(s->wrote_arg, &piece);
	free(path);
	return rc;
}

static int write_pieces(struct cutter *c, struct spur_error *err)
{
	const struct split *s = c->s;
	uint32_t number = 1;
	int more, rc;

	go_to_start(c);
	do {
		cut_begin(c);
		more = s->per_cpu ? walk_lanes(c, number == 1) : walk_merged(c, number == 1);
		if (s->job.stop && *s->job.stop)
			more = -EINTR;
		if (more < 0)
			return more;
		cut_end(c);
		if (!c->events && (s->has_start || s->has_end))
			return error_set(err, -EINVAL, "%s has no events in this range",
					 s->trace->dat->path);
		rc = cut_mark(c);
		if (rc == 0)
			rc = finish_piece(c, number++, err);
		if (rc < 0)
			return rc;
	} while (s->repeat && more);
	return 0;
}

static void free_cutter(struct cutter *c)
{
	for (uint32_t i = 0; i < c->nr; i++)
		dat_pages_close(c->lanes[i].pages);
	free(c->lanes);
	free(c->lost);
	buf_free(&c->mark);
	scan_free(&c->scan);
}

static int check_cpu(const struct split *s, struct spur_error *err)
{
	for (uint32_t i = 0; s->one_cpu && i < s->trace->nr_buffers; i++)
		if (s->cpu < trace_buffer_cpus(&s->trace->buffers[i]))
			return 0;
	return s->one_cpu ? error_set(err, -EINVAL, "%s has no CPU %u", s->trace->dat->path, s->cpu)
			  : 0;
}

int split_run(const struct split *s, struct spur_error *err)
{
	struct dat *d = s->trace->dat;
	struct cutter c = {.s = s,
			   .options = {.version = d->version, .compression = d->compression}};
	int rc = check_buffers(s, err);

	if (rc == 0)
		rc = check_cpu(s, err);
	if (rc < 0)
		return rc;
	scan_init(&c.scan, NULL);
	buf_init(&c.mark, 1);
	rc = dat_copy_contents(d, &c.contents, err);
	if (rc == 0)
		rc = keep_buffers(&c);
	if (rc == 0)
		rc = open_lanes(&c);
	if (rc == 0)
		rc = write_pieces(&c, err);
	free_cutter(&c);
	return rc < 0 ? error_sys(err, rc, "%s", d->path) : 0;
}
