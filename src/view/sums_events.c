// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many records of each type are in a range. The index knows the numbers of all of a file: when
 * the range is more than half of it, what lies outside is counted and taken off.
 *
 * Records are counted lane by lane: their order does not matter.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/sums.h"

#define STOP_RECORDS 4096 /* between two looks at whether to stop */

struct counting {
	const struct sum_range *range;
	const struct view_file *file;
	uint32_t number;
	uint64_t since, until; /* on the trace's time line */
	uint64_t *counts;      /* of the file's types */
	bool limited;
	struct ask_rows rows; /* if it is limited to some */
};

static int take_rows(struct counting *c)
{
	const struct api_rows *rows = c->range->rows;
	int rc = 0;

	c->limited = !c->range->all_rows;
	for (size_t i = 0; rc == 0 && c->limited && i < rows->n; i++) {
		struct view_place place;
		struct view_row r;

		if (view_row(c->range->view, rows->at[i], &place, &r) &&
		    place.file_number == c->number)
			rc = ask_rows_add(&c->rows, &r);
	}
	return rc;
}

static bool task_wanted(const struct counting *c, const struct spur_record *r)
{
	return ask_rows_have_task(&c->rows, r->buffer,
				  events_record_pid(c->file->trace->events, r));
}

/* Counts what a lane has in [from, to). */
static void count_lane(struct counting *c, struct lane *l, uint64_t from, uint64_t to, int64_t by)
{
	const struct events *ev = c->file->trace->events;
	const bool all = !c->limited || ask_rows_have_cpu(&c->rows, l->buffer->index, l->cpu->cpu);
	uint64_t n = 0;

	if (from >= to || (!all && !c->rows.tasks.n))
		return;
	lane_seek_time(l, from, l->nr_pages / 2);
	while (lane_next(l) && l->rec.ts < to) {
		const struct event *e;

		if (++n % STOP_RECORDS == 0 && *c->range->stop)
			return;
		if (l->rec.ts < from || (!all && !task_wanted(c, &l->rec)))
			continue;
		e = events_of_record(ev, &l->rec);
		if (e)
			c->counts[e->index] += (uint64_t)by;
	}
}

static void count_all(struct counting *c, struct merge *m, uint64_t from, uint64_t to, int64_t by)
{
	for (uint32_t i = 0; i < m->nr && !*c->range->stop; i++)
		count_lane(c, &m->lanes[i], from, to, by);
}

static int count_file(struct counting *c)
{
	const struct spur_trace *t = c->file->trace;
	const uint64_t first = view_index_origin(c->file->index);
	const uint64_t end = first + view_index_duration(c->file->index) + 1;
	const bool known = view_index_progress(c->file->index) >= 1;
	struct merge m;
	int rc = 0;

	merge_init(&m);
	for (uint32_t i = 0; rc == 0 && i < t->nr_buffers; i++)
		if (!t->buffers[i].data->text)
			rc = merge_add_buffer(&m, &t->buffers[i]);
	c->since = c->since > first ? c->since : first;
	c->until = c->until < end ? c->until : end;
	if (rc == 0 && known && !c->limited && c->since < c->until &&
	    (c->until - c->since) > (end - first) / 2) {
		for (size_t i = 0; i < t->events->nr; i++)
			c->counts[i] = view_index_count(c->file->index, (uint32_t)i);
		count_all(c, &m, first, c->since, -1);
		count_all(c, &m, c->until, end, -1);
	} else if (rc == 0) {
		count_all(c, &m, c->since, c->until, 1);
	}
	merge_free(&m);
	return rc;
}

int sum_events(const struct sum_range *range, uint64_t *counts)
{
	const uint64_t origin = view_origin(range->view);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < view_nr_files(range->view); i++) {
		const struct view_file *f = view_file(range->view, i);
		struct counting c = {.range = range,
				     .file = f,
				     .number = (uint32_t)i,
				     .since = origin + range->since,
				     .counts = counts + f->first_event};

		if (!f->trace || view_index_origin(f->index) == UINT64_MAX)
			continue;
		if (__builtin_add_overflow(origin, range->until, &c.until))
			c.until = UINT64_MAX;
		rc = take_rows(&c);
		if (rc == 0)
			rc = count_file(&c);
		ask_rows_free(&c.rows);
	}
	return rc;
}
