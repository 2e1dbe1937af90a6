// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finding where a trace is to be cut.
 *
 * A piece is found first, then written. All lanes stand on the first record of the next piece. They
 * are moved on, merged or each by itself, until the piece is full. The piece is what lies between
 * the old and the new positions.
 */
#include "scan/split.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dat/copy.h"
#include "scan/split_parts.h"

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

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

bool cut_buffer(const struct cutter *c, const struct trace_buffer *b, uint32_t *place)
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
	cpu = bsearch(&l->lane->cpu->cpu, out->cpus, out->nr_cpus, sizeof(*cpu), compare_numbers);
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
