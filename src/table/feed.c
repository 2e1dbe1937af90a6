// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Feeding analyses: one walk over a trace for any number of tables.
 *
 * Each table has one analysis per buffer. Losses and evidence are reported in order of time with
 * the records: the batch is delivered before anything else is reported.
 */
#include "table/feed_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "scan/run.h"
#include "table/evidence.h"

struct feed *feed_new(struct spur_trace *t, const struct walk_options *opt)
{
	struct walk_options reading = *opt;
	struct feed *f = calloc(1, sizeof(*f));

	if (f)
		f->subscribers = calloc(t->events->nr + 1, sizeof(*f->subscribers));
	if (!f || !f->subscribers) {
		free(f);
		return NULL;
	}
	f->trace = t;
	f->next_cut = UINT64_MAX;
	f->since = opt->since;
	f->until = opt->until;
	reading.until = 0;
	f->rc = walk_open(&f->walk, t, &reading, &f->failed);
	if (f->rc < 0)
		return f;
	/*
	 * The result of take() for a stack depends on the event before it, which may be wanted by
	 * no table.
	 */
	if (opt->take)
		walk_want_all(&f->walk);
	/* The place of a loss must not depend on which records are wanted. */
	f->walk.borders = true;
	return f;
}

static void free_client(struct client *c, uint32_t buffers)
{
	for (uint32_t i = 0; c->by_buffer && i < buffers; i++)
		table_free(c->table, c->by_buffer[i].analysis);
	free(c->by_buffer);
	free(c->analyses);
	free(c);
}

void feed_free(struct feed *f)
{
	if (!f)
		return;
	stages_free(f->stages);
	for (size_t i = 0; i < f->trace->events->nr; i++) {
		vec_free(&f->subscribers[i].clients);
		vec_free(&f->subscribers[i].watchers);
	}
	for (size_t i = 0; i < f->clients.n; i++)
		free_client(f->clients.at[i], f->trace->nr_buffers);
	vec_free(&f->clients);
	vec_free(&f->whole);
	vec_free(&f->cuts);
	free(f->batch);
	free(f->subscribers);
	walk_close(&f->walk);
	free(f);
}

/* Whether a row that began then is in the range. */
static bool in_range(const struct client *c, uint64_t ts)
{
	return ts >= c->since && (!c->until || ts <= c->until);
}

static void pass_row(void *analysis, const void *row)
{
	struct client *c = ((struct buffer_analysis *)analysis)->client;
	const struct column *first = &c->table->columns[0];

	if ((c->since || c->until) && first->type == COLUMN_TIME &&
	    !in_range(c, (uint64_t)row_number(first, row)))
		return;
	if (__builtin_expect(c->rows != NULL, 0))
		stages_row(c, row);
	else
		c->row(c->arg, row);
}

static void want_event(struct feed *f, struct event *e)
{
	event_ready(e);
	walk_want(&f->walk, e);
}

static void want_all(struct feed *f)
{
	for (size_t i = 0; i < f->trace->events->nr; i++)
		want_event(f, f->trace->events->list[i]);
}

static int want_events(struct feed *f, struct client *c)
{
	struct events *ev = f->trace->events;

	if (f->batch && c->table->records) {
		if (!vec_add(&f->whole, &c))
			return -ENOMEM;
		c->whole = true;
		want_all(f);
		return 0;
	}
	for (size_t i = 0; i < ev->nr; i++) {
		size_t k = 0;

		while (c->table->events[k] && !event_named(ev->list[i], c->table->events[k]))
			k++;
		if (!c->table->events[k] && !(c->table->wants && c->table->wants(ev->list[i])))
			continue;
		if (!vec_add(&f->subscribers[i].clients,
			     &((struct subscription){.client = c, .record = c->table->record})))
			return -ENOMEM;
		want_event(f, ev->list[i]);
	}
	return 0;
}

int feed_begin_client(struct client *c)
{
	const struct feed *f = c->feed;

	c->by_buffer = calloc(f->trace->nr_buffers + 1, sizeof(*c->by_buffer));
	c->analyses = calloc(f->trace->nr_buffers + 1, sizeof(*c->analyses));
	if (!c->by_buffer || !c->analyses)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->trace->nr_buffers; i++) {
		struct buffer_analysis *w = &c->by_buffer[i];

		w->client = c;
		w->source = (struct table_source){.table = c->table,
						  .trace = f->trace,
						  .buffer = &f->trace->buffers[i],
						  .since = f->walk.opt.since,
						  .brief = f->walk.opt.brief,
						  .nameless = f->walk.opt.nameless,
						  .stop = f->walk.opt.stop,
						  .row = pass_row,
						  .arg = w,
						  .failed = f->stages ? &c->failed : &c->feed->rc};
		w->analysis = c->analyses[i] = table_begin(c->table, &w->source);
		if (!w->analysis)
			return -ENOMEM;
	}
	return 0;
}

static bool has_failed(const struct feed *f)
{
	return !f || f->rc < 0;
}

static void begin_by(struct walk_options *o, uint64_t since)
{
	o->since = since < o->since ? since : o->since;
}

void feed_add(struct feed *f, const struct table *t, void (*row)(void *arg, const void *row),
	      void *arg)
{
	struct client *c;

	if (has_failed(f))
		return;
	c = calloc(1, sizeof(*c));
	if (!c || !vec_add(&f->clients, &c)) {
		free(c);
		f->rc = -ENOMEM;
		return;
	}
	*c = (struct client){.table = t,
			     .feed = f,
			     .row = row,
			     .arg = arg,
			     .since = f->since,
			     .until = f->until};
	begin_by(&f->walk.opt,
		 t->starts_anywhere && f->since > t->looks_back ? f->since - t->looks_back : 0);
	f->rc = want_events(f, c);
	if (f->rc == 0 && t->evidence)
		f->rc = walk_want_evidence(&f->walk, &f->failed);
}

void feed_add_possible(struct feed *f, const struct feed_table *list, size_t n, void *arg)
{
	for (size_t i = 0; i < n; i++)
		if (!has_failed(f) && table_possible(list[i].table, f->trace))
			feed_add(f, list[i].table, list[i].row, arg);
}

void feed_watch(struct feed *f, const char *pattern,
		void (*record)(void *arg, struct event *e, const struct spur_record *r), void *arg)
{
	for (size_t i = 0; !has_failed(f) && i < f->trace->events->nr; i++) {
		struct event *e = f->trace->events->list[i];

		if (!event_named(e, pattern))
			continue;
		if (!vec_add(&f->subscribers[i].watchers, &((struct watcher){record, arg}))) {
			f->rc = -ENOMEM;
			return;
		}
		want_event(f, e);
	}
}

void feed_in_batches(struct feed *f)
{
	if (has_failed(f))
		return;
	f->batch = calloc(TABLE_BATCH, sizeof(*f->batch));
	f->rc = f->batch ? 0 : -ENOMEM;
}

void feed_rows_apart(struct feed *f)
{
	if (!has_failed(f))
		f->rows_apart = true;
}

void feed_watch_batches(struct feed *f,
			void (*records)(void *arg, const struct table_record *all, uint32_t n),
			void *arg)
{
	if (has_failed(f))
		return;
	f->watch = records;
	f->watch_arg = arg;
	want_all(f);
}

/* ---- running ---- */

static inline void deliver(const struct feed *f, struct event *e, const struct spur_record *r)
{
	const struct subscribers *t = &f->subscribers[e->index];

	for (size_t i = 0; i < t->watchers.n; i++)
		t->watchers.at[i].record(t->watchers.at[i].arg, e, r);
	for (size_t i = 0; i < t->clients.n; i++) {
		const struct subscription *c = &t->clients.at[i];

		if (__builtin_expect(!f->some_done, 1) || !c->client->done)
			c->record(c->analyses[r->buffer], e, r);
	}
}

/* Delivers the batch. */
static void deliver_batch(struct feed *f)
{
	const uint32_t n = f->nr_batch;

	if (!n)
		return;
	f->nr_batch = 0;
	if (f->watch)
		f->watch(f->watch_arg, f->batch, n);
	vec_each (c, &f->whole)
		if (!(*c)->done)
			(*c)->table->records((*c)->analyses[f->batch[0].record.buffer], f->batch,
					     n);
	for (uint32_t i = 0; i < n; i++)
		deliver(f, f->batch[i].event, &f->batch[i].record);
}

static void page_goes(void *feed)
{
	deliver_batch(feed);
}

/* A batch is of one buffer. */
static void add_to_batch(struct feed *f, struct event *e, const struct spur_record *r)
{
	struct table_record *to;

	if (f->nr_batch && f->batch[0].record.buffer != r->buffer)
		deliver_batch(f);
	to = &f->batch[f->nr_batch++];
	to->event = e;
	to->record = *r;
	if (f->nr_batch == TABLE_BATCH)
		deliver_batch(f);
}

static int begin(struct feed *f)
{
	int rc = 0;

	/* Clients that need earlier records have moved the range's start back by now. */
	for (size_t i = 0; rc == 0 && i < f->clients.n; i++)
		if (!f->clients.at[i]->by_buffer)
			rc = feed_begin_client(f->clients.at[i]);
	for (size_t i = 0; i < f->trace->events->nr; i++)
		vec_each (t, &f->subscribers[i].clients)
			t->analyses = t->client->analyses;
	for (uint32_t i = 0; f->batch && i < f->walk.scan.nr; i++) {
		f->walk.scan.lanes[i].leaving = page_goes;
		f->walk.scan.lanes[i].leaving_arg = f;
	}
	return rc;
}

/* The time of a lane's first record after the current loss, wanted or not. */
static uint64_t loss_end(const struct lane *l)
{
	return l->ended || l->gap_end < l->rec.ts ? l->gap_end : l->rec.ts;
}

static bool may_come(const struct client *c, uint64_t now)
{
	const struct feed *f = c->feed;

	/* Evidence of the next record may be about earlier times. */
	if (c->table->evidence && f->walk.runners && now - f->until <= WALK_REACH)
		return true;
	for (uint32_t i = 0; i < f->trace->nr_buffers; i++)
		if (!c->table->pending || c->table->pending(c->by_buffer[i].analysis, f->until))
			return true;
	return false;
}

void feed_notify(struct client *c, const struct notice *n)
{
	const struct table *t = c->table;
	void *analysis = c->analyses[n->buffer];

	switch (n->kind) {
	case NOTICE_LOST:
		if (t->lost)
			t->lost(analysis, n->cpu, n->from, n->to);
		break;
	case NOTICE_LOSING:
		if (t->losing)
			t->losing(analysis, n->cpu, n->from, n->to);
		break;
	case NOTICE_CUT:
		if (t->cut && !c->done)
			t->cut(analysis, n->cpu, n->from);
		break;
	case NOTICE_EVIDENCE:
		if (t->evidence && !c->done)
			t->evidence(analysis, &n->evidence);
		break;
	case NOTICE_LATE: c->done = c->done || !may_come(c, n->from); break;
	}
}

static void notify(struct feed *f, const struct notice *n)
{
	if (f->stages) {
		stages_notify(f->stages, n);
		return;
	}
	for (size_t i = 0; i < f->clients.n; i++)
		feed_notify(f->clients.at[i], n);
}

static void report_lost(struct feed *f, const struct spur_record *r)
{
	notify(f, &(struct notice){.kind = NOTICE_LOST,
				   .buffer = r->buffer,
				   .cpu = r->cpu,
				   .from = f->walk.scan.current->gap_from,
				   .to = loss_end(f->walk.scan.current)});
}

/* Before the record that the walk has returned: a lane will continue after a loss. */
static void report_losing(struct feed *f, const struct lane *l, uint64_t from)
{
	notify(f, &(struct notice){.kind = NOTICE_LOSING,
				   .buffer = l->buffer->index,
				   .cpu = l->cpu->cpu,
				   .from = from,
				   .to = loss_end(l)});
}

/* Reports losses before the first record of a CPU. */
static void report_first_losses(struct feed *f)
{
	for (uint32_t i = 0; i < f->walk.scan.nr; i++) {
		const struct lane *l = &f->walk.scan.lanes[i];

		if (l->gap)
			report_losing(f, l, 0);
	}
}

/* Reports that a CPU is unknown from now on. */
static void report_cut(struct feed *f, uint32_t buffer, uint32_t cpu, uint64_t from)
{
	notify(f, &(struct notice){.kind = NOTICE_CUT, .buffer = buffer, .cpu = cpu, .from = from});
}

static void report_evidence(void *feed, const struct walk_evidence *e)
{
	notify(feed,
	       &(struct notice){.kind = NOTICE_EVIDENCE, .buffer = e->buffer, .evidence = *e});
}

/* A lane ends with the last wanted record; its CPU is known up to the last record of any kind. */
static bool note_cut(struct feed *f, const struct lane *l)
{
	const struct cut c = {.lane = l, .from = lane_end(l)};

	f->next_cut = c.from < f->next_cut ? c.from : f->next_cut;
	return vec_add(&f->cuts, &c);
}

/* The earliest cut that has not been reported, or NULL. */
static struct cut *first_cut(struct feed *f)
{
	struct cut *first = NULL;

	vec_each (c, &f->cuts)
		if (c->lane && (!first || c->from < first->from))
			first = c;
	return first;
}

/* Reports the cuts before a time, in order. */
static void report_due_cuts(struct feed *f, uint64_t ts)
{
	struct cut *c;

	deliver_batch(f);
	while ((c = first_cut(f)) != NULL && c->from < ts) {
		report_cut(f, c->lane->buffer->index, c->lane->cpu->cpu, c->from);
		c->lane = NULL;
	}
	f->next_cut = c ? c->from : UINT64_MAX;
}

/* Called at the start. If the recording was cut, a CPU without records is unknown to the end. */
static void report_silent(void *feed, const struct walk_evidence *e)
{
	struct feed *f = feed;

	report_evidence(feed, e);
	if (e->absent &&
	    dat_cut_lacks_end(f->trace->dat, f->trace->buffers[e->buffer].data, e->cpu))
		report_cut(f, e->buffer, e->cpu, e->ts);
}

/* After a switch to a task that was not recorded, the CPU is unknown. */
static void report_unfollowed(struct feed *f, const struct lane *l)
{
	const struct walk_evidence e = {.buffer = l->buffer->index,
					.cpu = l->cpu->cpu,
					.pid = l->runner.pid,
					.ts = l->rec.ts,
					.gone = true};

	deliver_batch(f);
	report_evidence(f, &e);
}

/* A record that was filtered out still says who runs afterwards. */
static void report_hidden_switch(struct feed *f, const struct lane *l)
{
	struct walk_evidence e = {.buffer = l->buffer->index,
				  .cpu = l->cpu->cpu,
				  .pid = l->pid,
				  .ts = l->rec.ts,
				  .last = l->rec.ts,
				  .gone = true};

	if (!l->wrote || (l->runner.known && l->runner.pid == l->pid))
		return;
	report_evidence(f, &e);
	e.gone = false;
	e.pid = l->runner.pid;
	if (l->runner.known)
		report_evidence(f, &e);
}

/* Called after the range: whether all rows that began in it are complete. */
static bool complete(struct feed *f, uint64_t now)
{
	bool all = true;

	notify(f, &(struct notice){.kind = NOTICE_LATE, .from = now});
	if (f->stages)
		return stages_done(f->stages);
	for (size_t i = 0; i < f->clients.n; i++) {
		f->some_done |= f->clients.at[i]->done;
		all &= f->clients.at[i]->done;
	}
	return all;
}

static uint64_t trace_end(const struct feed *f)
{
	uint64_t last = f->last;

	for (uint32_t i = 0; i < f->walk.scan.nr; i++) {
		const uint64_t ts = lane_end(&f->walk.scan.lanes[i]);

		last = ts > last ? ts : last;
	}
	return last;
}

/* The recording was cut: after the last record of a CPU anything may have run there. */
static void report_cuts(struct feed *f)
{
	for (uint32_t i = 0; f->walk.runners && i < f->walk.scan.nr; i++) {
		const struct lane *l = &f->walk.scan.lanes[i];
		const uint64_t ts = lane_end(l);

		if (ts && f->walk.runners->switches[l->buffer->index] &&
		    dat_cut_lacks_end(f->trace->dat, l->buffer->data, l->cpu->cpu))
			report_evidence(f, &(struct walk_evidence){.buffer = l->buffer->index,
								   .cpu = l->cpu->cpu,
								   .ts = ts,
								   .silent = true,
								   .continues = true});
	}
}

void feed_end(struct feed *f)
{
	const uint64_t last = trace_end(f);

	f->ended = true;
	report_cuts(f);
	vec_each (c, &f->clients)
		for (uint32_t k = 0; (*c)->table->end && k < f->trace->nr_buffers; k++)
			(*c)->table->end((*c)->by_buffer[k].analysis, last);
}

/* Whether reading is over: there is no record, or it comes after all wanted rows. */
static bool is_over(struct feed *f, const struct spur_record *r)
{
	if (r && (!f->until || r->ts <= f->until))
		return false;
	deliver_batch(f);
	return !r || complete(f, r->ts);
}

/* Reports losses before the record, after delivering the batch. */
static void report_losses(struct feed *f, const struct spur_record *r, bool first)
{
	deliver_batch(f);
	if (r && first) {
		walk_tell_silent(&f->walk, report_silent, f);
		report_first_losses(f);
	} else if (f->walk.losing) {
		report_losing(f, f->walk.losing, f->walk.losing->gap_from);
	}
	if (f->walk.cut && !note_cut(f, f->walk.cut))
		f->rc = -ENOMEM;
}

bool feed_read(struct feed *f)
{
	const struct walk_options *o = &f->walk.opt;
	const bool first = !f->walk.started;
	const struct spur_record *r = walk_next(&f->walk);
	struct event *e;

	if (__builtin_expect(f->walk.missing || f->walk.lost || first, 0))
		report_losses(f, r, first);
	if (__builtin_expect((r ? r->ts : UINT64_MAX) > f->next_cut, 0))
		report_due_cuts(f, r ? r->ts : UINT64_MAX);
	if (is_over(f, r)) {
		if (f->walk.stopped && f->rc == 0)
			f->rc = -EINTR;
		if (!f->stages)
			feed_end(f);
		return false;
	}
	f->last = r->ts > f->last ? r->ts : f->last;
	if (__builtin_expect(f->walk.lost, 0))
		report_lost(f, r);
	if (__builtin_expect(f->walk.nr_evidence, 0)) {
		deliver_batch(f);
		for (uint32_t i = 0; i < f->walk.nr_evidence; i++)
			report_evidence(f, &f->walk.evidence[i]);
	}
	e = f->walk.scan.current->border ? NULL : events_of_record(f->trace->events, r);
	if (e && o->take && !o->take(o->take_arg, e, r)) {
		if (f->walk.scan.current->changes) {
			deliver_batch(f);
			report_hidden_switch(f, f->walk.scan.current);
		}
		return true;
	}
	if (e && __builtin_expect(f->stages != NULL, 0))
		stages_record(f->stages, e, r);
	else if (e && f->batch)
		add_to_batch(f, e, r);
	else if (e)
		deliver(f, e, r);
	if (f->walk.scan.current->changes && !f->walk.scan.current->runner.known)
		report_unfollowed(f, f->walk.scan.current);
	return true;
}

/*
 * Called before the first step, after everything has been added: starts as many threads as the
 * options say. They read records and make rows. With by_all, any of them calls watchers and the
 * functions that get rows. Otherwise the caller's thread does, in its steps, which are some hundred
 * records each.
 */
static void start_threads(struct feed *f, bool by_all, const int *failed)
{
	unsigned int n;

	if (has_failed(f) || f->walk.started || f->stages)
		return;
	n = scan_threads(f->trace, f->walk.opt.threads);
	if (n < 2)
		return;
	f->stages = stages_new(f, n);
	if (f->stages)
		stages_start(f->stages, n, by_all, failed);
}

static bool first_step(struct feed *f)
{
	f->rc = begin(f);
	return f->rc == 0 && feed_read(f);
}

bool feed_step(struct feed *f)
{
	if (__builtin_expect(f && f->stages, 0))
		return stages_step(f->stages);
	if (has_failed(f) || f->ended)
		return false;
	return __builtin_expect(f->walk.started, 1) ? feed_read(f) : first_step(f);
}

void feed_read_range(struct feed *f, uint64_t since, uint64_t until)
{
	if (has_failed(f))
		return;
	f->walk.opt.since = since;
	f->walk.opt.last_page = until;
}

uint64_t feed_now(const struct feed *f)
{
	return f ? f->last : 0;
}

void feed_cut(struct feed *f)
{
	if (has_failed(f) || f->ended || !f->walk.started)
		return;
	deliver_batch(f);
	feed_end(f);
}

int feed_error(const struct feed *f, struct spur_error *err)
{
	if (!f)
		return error_set(err, -ENOMEM, "out of memory");
	if (f->failed.code)
		return error_set(err, f->failed.code, "%s", f->failed.text);
	if (f->rc == -EINTR)
		return error_set(err, f->rc, "stopped");
	if (f->rc == -E2BIG)
		return error_set(err, f->rc, "%s: more tasks or names at a time than can be kept",
				 f->trace->dat->path);
	return f->rc < 0 ? error_set(err, f->rc, "out of memory") : 0;
}

int feed_run_until(struct feed *f, const int *failed, struct spur_error *err)
{
	int rc = 0;

	start_threads(f, true, failed);
	while ((rc = feed_failed(failed)) >= 0 && feed_step(f))
		;
	return rc < 0 ? rc : feed_error(f, err);
}

int feed_run(struct feed *f, struct spur_error *err)
{
	return feed_run_until(f, NULL, err);
}

/* ---- the rows of one table ---- */

struct rows {
	struct feed *feed;
	size_t size; /* of a row */
	unsigned char *queue;
	size_t cap, n, next; /* in rows */
	int rc;
};

static void queue_row(void *rows, const void *row)
{
	struct rows *r = rows;

	if (r->n == r->cap) {
		const size_t cap = r->cap ? r->cap * 2 : 16;
		unsigned char *more = reallocarray(r->queue, cap, r->size);

		if (!more) {
			r->rc = -ENOMEM;
			return;
		}
		r->queue = more;
		r->cap = cap;
	}
	memcpy(r->queue + r->n++ * r->size, row, r->size);
}

struct rows *rows_open(struct spur_trace *t, const struct table *table,
		       const struct walk_options *opt, struct spur_error *err)
{
	struct rows *r = calloc(1, sizeof(*r));

	if (!r) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	r->size = table->row_size;
	r->feed = feed_new(t, opt);
	feed_add(r->feed, table, queue_row, r);
	if (feed_error(r->feed, err) < 0) {
		rows_close(r);
		return NULL;
	}
	/* With several threads a step is many records: texts of its first rows would be gone. */
	if (!table->passing)
		start_threads(r->feed, false, NULL);
	return r;
}

const void *rows_next(struct rows *r)
{
	if (r->next == r->n) {
		r->next = r->n = 0;
		while (r->n == 0 && feed_step(r->feed))
			;
	}
	return r->next < r->n && r->rc == 0 ? r->queue + r->next++ * r->size : NULL;
}

int rows_error(const struct rows *r, struct spur_error *err)
{
	return r->rc < 0 ? error_set(err, r->rc, "out of memory") : feed_error(r->feed, err);
}

void rows_close(struct rows *r)
{
	if (!r)
		return;
	feed_free(r->feed);
	free(r->queue);
	free(r);
}
