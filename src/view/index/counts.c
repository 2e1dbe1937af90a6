// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counting all records: the ticks of CPUs and tasks, how many there are of each type and before a
 * time, and where some were lost.
 *
 * Merging all CPUs record by record would take most of the time, and the result does not need it.
 * Records are read CPU by CPU, some of each, and then counted up to the time that all CPUs have
 * reached. Only the records of a task on several CPUs must be sorted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "table/walk.h"
#include "view/index/internal.h"

#define NO_TASK	      UINT32_MAX /* the idle task */
#define PLACE_BUCKETS 256

struct count_lane {
	struct lane lane;
	struct ticks *ticks;
	struct track *track, *lost;
	uint32_t row;
	/* Records that have been read; those before `at` have been counted, `take` are next. */
	struct tick *recs;
	uint32_t n, cap, at, take;
	bool ended;
	/* Of the last one that was read. */
	bool any, has_pid;
	uint64_t time; /* in the index */
	uint64_t raw;  /* in the trace */
	int pid;
	uint32_t task;
	uint64_t next_page; /* the next page for which a place to begin reading is noted */
	struct tick block[SEQUENCE_ITEMS];
	uint32_t in_block;
};

struct count_task {
	uint32_t number, row;
	struct track *track;
	uint32_t n, at; /* of the records that are being taken */
};

struct counts {
	struct view_index *x;
	struct builder *builder;
	struct count_lane *lanes;
	uint32_t nr_lanes;
	vec_of(struct count_task *) tasks;
	struct slots by_pid; /* struct count_task * */
	uint32_t *by_id;     /* numbers of types + 1, by the id of the event; 0: not known yet */
	uint32_t nr_ids;
	struct count_task **touched;
	uint32_t nr_touched;
	struct tick *sorted, *spare;
	size_t most;	/* records that can be read at once */
	uint64_t cut;	/* all records before it have been counted */
	uint64_t noted; /* records before the last place */
};

/* ---- the CPUs whose records are counted ---- */

/* A row for a CPU, with its ticks. */
static int add_cpu(struct view_index *x, const struct trace_buffer *b, const struct dat_cpu *cpu)
{
	struct builder *m = &x->builders[BUILT_OF_RECORDS];
	const uint32_t row = row_of(&x->rows, VIEW_CPU_ROW, b->index, cpu->cpu);
	struct cpu_ticks *slot = row != UINT32_MAX ? vec_push(&x->ticks) : NULL;

	if (!slot)
		return -ENOMEM;
	slot->ticks = ticks_new(b, cpu);
	slot->track = row_new_track(&x->rows, m, row, VIEW_EVENTS, 0);
	if (!slot->ticks || !slot->track)
		return -ENOMEM;
	slot->track->ticks = slot->ticks;
	slot->track->types = &x->types;
	slot->track->levels = levels_new(true);
	return slot->track->levels ? 0 : -ENOMEM;
}

static int prepare_cpu(struct view_index *x, const struct trace_buffer *b,
		       const struct dat_cpu *cpu)
{
	struct lane l;
	int rc;

	if (!cpu->size)
		return 0;
	rc = lane_open(&l, b, cpu);
	/* Data that cannot be read at all have been noted as damage. */
	if (rc == -EBADMSG)
		return 0;
	if (rc < 0)
		return rc;
	if (lane_next(&l) && l.rec.ts < x->origin)
		x->origin = l.rec.ts;
	lane_close(&l);
	return add_cpu(x, b, cpu);
}

int counts_prepare(struct view_index *x)
{
	int rc = 0;

	x->origin = UINT64_MAX;
	for (uint32_t i = 0; i < x->trace->nr_buffers; i++) {
		const struct trace_buffer *b = &x->trace->buffers[i];

		for (uint32_t k = 0; rc == 0 && !b->data->text && k < b->data->nr_cpus; k++)
			rc = prepare_cpu(x, b, &b->data->cpus[k]);
	}
	for (size_t i = 0; i < x->ticks.n; i++)
		if (x->ticks.at[i].ticks)
			x->ticks.at[i].ticks->origin = x->origin;
	return rc;
}

int counts_between(struct view_index *x, uint64_t since, uint64_t until, uint64_t *n)
{
	struct view_interval i;

	*n = 0;
	for (size_t k = 0; since < until && k < x->ticks.n; k++) {
		struct ticks *t = x->ticks.at[k].ticks;
		struct ticks_reader *r = ticks_open(t);

		if (!r)
			return -ENOMEM;
		ticks_seek(r, since);
		while (ticks_next(r, &i) && i.start < until)
			*n += i.start >= since;
		ticks_close(t, r);
	}
	return 0;
}

#define ALL_RECORDS   (256u << 10) /* read from all CPUs before some are counted */
#define PLACE_RECORDS 1024	   /* between two places, about */

/* ---- reading ---- */

static uint32_t task_number(struct counts *c, struct count_lane *l, int pid)
{
	const uint32_t buffer = l->ticks->buffer->index;
	struct count_task **found, **slot;

	if (pid <= 0)
		return NO_TASK;
	found = slots_get(&c->by_pid, key_of(buffer, pid));
	if (found && !*found && (slot = vec_push(&c->tasks)) != NULL) {
		*slot = *found = calloc(1, sizeof(**found));
		if (*found) {
			(*found)->number = (uint32_t)c->tasks.n - 1;
			(*found)->row = row_of(&c->x->rows, VIEW_TASK_ROW, buffer, pid);
		}
	}
	if (!found || !*found || (*found)->row == UINT32_MAX) {
		index_fail(c->x, -ENOMEM);
		return NO_TASK;
	}
	return (*found)->number;
}

static void note_place(struct counts *c, struct count_lane *l)
{
	struct ticks *t = l->ticks;

	if (t->places.n && l->lane.page_index < l->next_page)
		return;
	builder_begin(c->builder);
	if (!vec_add(&t->places, &(struct ticks_place){l->lane.page_index, l->time}))
		index_fail(c->x, -ENOMEM);
	builder_end(c->builder);
	l->next_page = l->lane.page_index + TICKS_PAGES;
}

/* Records were lost before the one the lane stands on. */
static void note_loss(struct counts *c, struct count_lane *l)
{
	const uint64_t end = index_time(c->x, l->lane.rec.ts);
	const int64_t lost = l->lane.rec.lost;
	struct view_interval i = {.start = l->any ? index_time(c->x, l->raw) : 0};

	i.dur = end > i.start ? end - i.start : 0;
	i.value = lost <= 0 ? 0 : lost > UINT32_MAX ? UINT32_MAX : (uint32_t)lost;
	i.flags = l->any ? 0 : VIEW_OPEN_START;
	builder_begin(c->builder);
	if (!l->lost)
		l->lost = row_new_track(&c->x->rows, c->builder, l->row, VIEW_LOST, 0);
	if (!l->lost || !track_add(l->lost, &c->x->store, i))
		index_fail(c->x, -ENOMEM);
	builder_end(c->builder);
}

static uint32_t find_type(struct counts *c, const struct spur_record *r, uint64_t id)
{
	struct event_types *types = &c->x->types;
	const struct event *e = events_of_record(c->x->trace->events, r);
	const uint32_t number = types_number(types, e ? e->index : types->nr);

	if (id < c->nr_ids)
		c->by_id[id] = number + 1;
	return number;
}

/* The number of a record's type. */
static inline uint32_t type_of(struct counts *c, const struct spur_record *r)
{
	const struct events *ev = c->x->trace->events;
	const struct event_field *f = &ev->common.type;
	const uint64_t id = record_uint(ev, r, f->offset, f->size);

	/* A record that is too short has no id and no type. */
	if (__builtin_expect(id && id < c->nr_ids && c->by_id[id], 1))
		return c->by_id[id] - 1;
	return find_type(c, r, id);
}

static inline int pid_of(const struct events *ev, const struct spur_record *r)
{
	const struct event_field *f = &ev->common.pid;

	return ev->common.has_pid ? (int)record_uint(ev, r, f->offset, f->size) : -1;
}

/* Reads as many records as fit. */
static void fill(struct counts *c, struct count_lane *l)
{
	const struct events *ev = c->x->trace->events;
	uint64_t page = UINT64_MAX;

	l->n = l->at = 0;
	while (l->n < l->cap) {
		uint64_t ts;
		int pid;

		if (!lane_next(&l->lane)) {
			l->ended = true;
			return;
		}
		if (__builtin_expect(l->lane.page_index != page, 0)) {
			page = l->lane.page_index;
			note_place(c, l);
		}
		ts = ticks_time(l->lane.rec.ts, c->x->origin, l->time);
		if (__builtin_expect(l->lane.gap, 0))
			note_loss(c, l);
		l->time = ts;
		l->raw = l->lane.rec.ts;
		l->any = true;
		pid = pid_of(ev, &l->lane.rec);
		if (pid != l->pid || !l->has_pid) {
			l->task = task_number(c, l, pid);
			l->pid = pid;
			l->has_pid = true;
		}
		l->recs[l->n++] =
			(struct tick){.ts = ts, .type = type_of(c, &l->lane.rec), .task = l->task};
	}
}

/* ---- taking ---- */

static void note_row(struct view_index *x, uint32_t row, uint64_t n, uint64_t first, uint64_t last)
{
	struct view_row *r = &row_get(&x->rows, row)->about;

	__atomic_store_n(&r->events, r->events + n, __ATOMIC_RELAXED);
	if (first < r->first)
		__atomic_store_n(&r->first, first, __ATOMIC_RELAXED);
	__atomic_store_n(&r->last, last, __ATOMIC_RELAXED);
}

/* Adds the records of a CPU to its levels, a block at a time. */
static void take_cpu(struct counts *c, struct count_lane *l, const struct tick *recs, uint32_t n)
{
	const struct event_types *types = &c->x->types;
	uint32_t done = 0;

	for (uint32_t i = 0; i < n; i++)
		types->counts[recs[i].type]++;
	while (done < n) {
		const uint32_t room = SEQUENCE_ITEMS - l->in_block;
		const uint32_t some = n - done < room ? n - done : room;

		memcpy(l->block + l->in_block, recs + done, some * sizeof(*recs));
		l->in_block += some;
		if (l->in_block == SEQUENCE_ITEMS) {
			levels_take_ticks(l->track->levels, &c->x->store, l->block, SEQUENCE_ITEMS,
					  types->masks);
			l->in_block = 0;
		}
		done += some;
	}
	l->track->n += n;
	l->track->end = recs[n - 1].ts;
	note_row(c->x, l->row, n, recs[0].ts, recs[n - 1].ts);
}

/* Counts how many records each task has, and lists the tasks. */
static void count_tasks(struct counts *c, const struct tick *recs, uint32_t n)
{
	for (uint32_t i = 0; i < n;) {
		const uint32_t task = recs[i].task;
		struct count_task *t;
		uint32_t k = i + 1;

		while (k < n && recs[k].task == task)
			k++;
		if (task != NO_TASK) {
			t = c->tasks.at[task];
			if (!t->n)
				c->touched[c->nr_touched++] = t;
			t->n += k - i;
		}
		i = k;
	}
}

static void sort_out(struct counts *c, const struct tick *recs, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (recs[i].task != NO_TASK) {
			struct count_task *t = c->tasks.at[recs[i].task];

			c->sorted[t->at++] = recs[i];
		}
}

/* Merges a few sorted runs; equal times stay in order. */
static void sort_runs(struct tick *at, uint32_t n, struct tick *spare)
{
	uint32_t from = 0;

	for (;;) {
		uint32_t middle = 1, end, a, b, to = 0;

		while (middle < n && at[middle - 1].ts <= at[middle].ts)
			middle++;
		if (middle >= n)
			return;
		for (end = middle + 1; end < n && at[end - 1].ts <= at[end].ts;)
			end++;
		/* Records of the first run that are not later than the second run stay. */
		for (from = 0; at[from].ts <= at[middle].ts;)
			from++;
		memcpy(spare, at + from, (middle - from) * sizeof(*at));
		for (a = 0, b = middle, to = from; a < middle - from; to++)
			at[to] = b < end && at[b].ts < spare[a].ts ? at[b++] : spare[a++];
	}
}

static bool take_task(struct counts *c, struct count_task *t)
{
	struct tick *recs = c->sorted + t->at - t->n;
	bool good;

	if (!t->track) {
		t->track = row_new_track(&c->x->rows, c->builder, t->row, VIEW_EVENTS, 0);
		if (!t->track)
			return false;
		t->track->types = &c->x->types;
	}
	sort_runs(recs, t->n, c->spare);
	good = track_add_ticks(t->track, &c->x->store, recs, t->n);
	note_row(c->x, t->row, t->n, recs[0].ts, recs[t->n - 1].ts);
	t->n = 0;
	return good;
}

static void take_tasks(struct counts *c)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < c->nr_touched; i++) {
		c->touched[i]->at = at;
		at += c->touched[i]->n;
	}
	for (uint32_t i = 0; i < c->nr_lanes; i++)
		sort_out(c, c->lanes[i].recs + c->lanes[i].at, c->lanes[i].take);
	for (uint32_t i = 0; i < c->nr_touched; i++)
		if (!take_task(c, c->touched[i]))
			index_fail(c->x, -ENOMEM);
	c->nr_touched = 0;
}

/* ---- places ---- */

/* Notes how many records lie before some times between the last cut and this one. */
static void note_places(struct counts *c, uint64_t cut)
{
	uint32_t buckets[PLACE_BUCKETS] = {0};
	uint64_t n = c->x->records, noted = c->noted;
	uint32_t shift = 0;

	while ((cut - c->cut) >> shift >= PLACE_BUCKETS)
		shift++;
	for (uint32_t i = 0; i < c->nr_lanes; i++) {
		const struct count_lane *l = &c->lanes[i];

		for (uint32_t k = l->at; k < l->at + l->take; k++)
			buckets[(l->recs[k].ts - c->cut) >> shift]++;
	}
	for (uint64_t b = 0; b <= (cut - c->cut) >> shift; b++) {
		/*
		 * More records with the time of the last cut may come, so only later times are
		 * certain.
		 */
		if (b && n - noted >= PLACE_RECORDS) {
			const struct record_place place = {c->cut + (b << shift), n};

			if (!vec_add(&c->x->places, &place)) {
				index_fail(c->x, -ENOMEM);
				return;
			}
			noted = n;
		}
		n += buckets[b];
	}
	c->noted = noted;
}

/* ---- all of it ---- */

/* The time up to which all records have been read, and how many of each CPU those are. */
static uint64_t find_cut(struct counts *c)
{
	uint64_t cut = UINT64_MAX, last = c->cut;

	for (uint32_t i = 0; i < c->nr_lanes; i++) {
		const struct count_lane *l = &c->lanes[i];

		if (!l->ended && l->recs[l->n - 1].ts < cut)
			cut = l->recs[l->n - 1].ts;
		if (l->n && l->recs[l->n - 1].ts > last)
			last = l->recs[l->n - 1].ts;
	}
	cut = cut < last ? cut : last;
	for (uint32_t i = 0; i < c->nr_lanes; i++) {
		struct count_lane *l = &c->lanes[i];

		for (l->take = 0; l->at + l->take < l->n && l->recs[l->at + l->take].ts <= cut;)
			l->take++;
	}
	return cut;
}

static void take_all(struct counts *c)
{
	const uint64_t cut = find_cut(c);
	uint64_t n = 0;

	builder_begin(c->builder);
	note_places(c, cut);
	for (uint32_t i = 0; i < c->nr_lanes; i++) {
		struct count_lane *l = &c->lanes[i];

		if (!l->take)
			continue;
		take_cpu(c, l, l->recs + l->at, l->take);
		count_tasks(c, l->recs + l->at, l->take);
		n += l->take;
	}
	take_tasks(c);
	for (uint32_t i = 0; i < c->nr_lanes; i++)
		c->lanes[i].at += c->lanes[i].take;
	c->cut = c->builder->until = cut;
	__atomic_store_n(&c->x->records, c->x->records + n, __ATOMIC_RELAXED);
	index_reach(c->x, cut);
	builder_end(c->builder);
	index_changed(c->x);
}

/* Reads CPUs without uncounted records; false if there are no more records at all. */
static bool fill_all(struct counts *c)
{
	uint64_t done = 0, total = 0;
	bool any = false;

	for (uint32_t i = 0; i < c->nr_lanes; i++) {
		struct count_lane *l = &c->lanes[i];

		if (l->at == l->n && !l->ended)
			fill(c, l);
		any |= l->at < l->n;
		done += l->ended ? l->lane.nr_pages : l->lane.page_index;
		total += l->lane.nr_pages;
	}
	index_progress(c->x, BUILT_OF_RECORDS, done, total + !total);
	return any;
}

static void finish(struct counts *c)
{
	builder_begin(c->builder);
	for (uint32_t i = 0; i < c->nr_lanes; i++) {
		struct count_lane *l = &c->lanes[i];

		levels_take_ticks(l->track->levels, &c->x->store, l->block, l->in_block,
				  c->x->types.masks);
	}
	builder_end(c->builder);
	if (!builder_finish(c->builder, &c->x->store))
		index_fail(c->x, -ENOMEM);
	index_progress(c->x, BUILT_OF_RECORDS, 1, 1);
}

static int open_lanes(struct counts *c)
{
	struct view_index *x = c->x;

	c->nr_lanes = (uint32_t)x->ticks.n;
	c->lanes = calloc(c->nr_lanes + 1, sizeof(*c->lanes));
	if (!c->lanes)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->nr_lanes; i++) {
		struct count_lane *l = &c->lanes[i];

		l->ticks = x->ticks.at[i].ticks;
		l->track = x->ticks.at[i].track;
		l->row = l->track->row;
		l->cap = ALL_RECORDS / c->nr_lanes;
		l->cap = l->cap > 16384 ? 16384 : l->cap < 256 ? 256 : l->cap;
		l->recs = malloc(l->cap * sizeof(*l->recs));
		if (!l->recs || lane_open(&l->lane, l->ticks->buffer, l->ticks->cpu) < 0)
			return -ENOMEM;
		l->lane.stop = &x->stop;
		c->most += l->cap;
	}
	c->nr_ids = (uint32_t)x->trace->events->nr_direct;
	c->by_id = calloc(c->nr_ids + 1, sizeof(*c->by_id));
	c->sorted = malloc((c->most + 1) * sizeof(*c->sorted));
	c->spare = malloc((c->most + 1) * sizeof(*c->spare));
	c->touched = malloc((c->most + 1) * sizeof(struct count_task *));
	return c->by_id && c->sorted && c->spare && c->touched ? 0 : -ENOMEM;
}

static void close_lanes(struct counts *c)
{
	for (uint32_t i = 0; c->lanes && i < c->nr_lanes; i++) {
		lane_close(&c->lanes[i].lane);
		free(c->lanes[i].recs);
	}
	for (size_t i = 0; i < c->tasks.n; i++)
		free(c->tasks.at[i]);
	vec_free(&c->tasks);
	free(c->lanes);
	free(c->by_id);
	free(c->sorted);
	free(c->spare);
	free(c->touched);
	slots_free(&c->by_pid);
}

void counts_run(struct view_index *x)
{
	struct counts c = {.x = x, .builder = &x->builders[BUILT_OF_RECORDS]};
	int rc;

	slots_init(&c.by_pid, sizeof(struct count_task *), ROWS_LIMIT);
	rc = open_lanes(&c);
	if (rc < 0)
		index_fail(x, rc);
	while (rc == 0 && !index_stopped(x) && fill_all(&c)) {
		take_all(&c);
		index_help(x, NULL);
	}
	if (rc == 0 && !index_stopped(x))
		finish(&c);
	close_lanes(&c);
}
