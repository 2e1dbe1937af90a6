// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Requests to block devices, identified by their device and first sector.
 *
 * Merges before the issue change a request's size, not its first sector. Requests to the same
 * sector at the same time (reads of two programs, flushes) cannot be distinguished, so the end of
 * none of them is known.
 */
#include "table/spans.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/analysis.h"
#include "base/array.h"
#include "base/list.h"

#define NR_BUCKETS   4096
#define MAX_REQUESTS (1 << 17) /* under way or waiting; then the oldest is dropped */
#define TEXTS_LIMIT  (8u << 20)
#define SECTOR	     512
#define MINOR_BITS   20

enum what { INSERT, ISSUE, REQUEUE, COMPLETE, NR_KINDS };

static const char *const names[NR_KINDS] = {
	[INSERT] = "block_rq_insert",
	[ISSUE] = "block_rq_issue",
	[REQUEUE] = "block_rq_requeue",
	[COMPLETE] = "block_rq_complete",
};

struct kind {
	struct event *event; /* NULL: the trace has no such event */
	struct number dev, sector, nr_sector, bytes, error;
	const struct event_field *rwbs, *comm;
};

struct request {
	struct list bucket, order; /* by place; by age */
	uint64_t ts;		   /* when it was issued, or inserted if it still waits */
	uint64_t sector;	   /* the first one */
	uint64_t next;		   /* the first one that is not done; identifies the request */
	uint64_t left;		   /* sectors that are not done */
	int64_t bytes, queued;
	const char *rwbs, *comm;
	uint64_t dev;
	uint32_t cpu;
	int pid;
	bool waits, requeued;
	bool unclear; /* there was, or may have been, another request to the same sector */
};

struct block {
	const struct table_source *src;
	struct events *events;
	struct comm_times *comms;
	struct intern texts;
	struct kind kinds[NR_KINDS];
	struct hash_seed seed;
	struct list buckets[NR_BUCKETS];
	struct list order;
	size_t nr;
	struct losses losses;
	uint64_t border; /* the trace's start, or the end of the last loss */
};

/* ---- requests ---- */

static struct list *bucket_of(struct block *a, uint64_t dev, uint64_t sector)
{
	return &a->buckets[hash_add(&a->seed, hash_add(&a->seed, 0, dev), sector) % NR_BUCKETS];
}

/* The oldest request to a sector that waits, or that is under way. */
static struct request *find(struct block *a, uint64_t dev, uint64_t sector, bool waits)
{
	struct list *bucket = bucket_of(a, dev, sector);

	for (struct list *l = bucket->next; l != bucket; l = l->next) {
		struct request *q = list_entry(l, struct request, bucket);

		if (q->dev == dev && q->next == sector && q->waits == waits)
			return q;
	}
	return NULL;
}

static void drop(struct block *a, struct request *q)
{
	list_remove(&q->bucket);
	list_remove(&q->order);
	free(q);
	a->nr--;
}

static const char *device(struct block *a, uint64_t dev)
{
	const char *name;
	struct buf text;

	buf_init(&text, 64);
	buf_u64(&text, dev >> MINOR_BITS);
	buf_putc(&text, ',');
	buf_u64(&text, dev & ((1u << MINOR_BITS) - 1));
	name = intern_text(&a->texts, text.data, text.len);
	buf_free(&text);
	return name;
}

/* ---- rows ---- */

static void hand_out(struct block *a, const struct request *q, int64_t dur, int64_t error,
		     enum row_open open)
{
	a->src->row(a->src->arg, &(struct block_row){.ts = q->ts,
						     .dur = dur,
						     .queued = q->queued,
						     .cpu = q->cpu,
						     .pid = q->pid,
						     .comm = q->comm,
						     .device = device(a, q->dev),
						     .sector = (int64_t)q->sector,
						     .bytes = q->bytes,
						     .rwbs = q->rwbs,
						     .error = error,
						     .open = open,
						     .buffer = a->src->buffer->data->name});
}

static void leave_open(struct block *a, struct request *q, uint64_t ts)
{
	if (!q->waits)
		hand_out(a, q, q->unclear ? ROW_NULL : ns_span(q->ts, ts), ROW_NULL, ROW_OPEN_END);
	drop(a, q);
}

static void leave_all_open(struct block *a, uint64_t ts)
{
	while (!list_empty(&a->order))
		leave_open(a, list_entry(a->order.next, struct request, order), ts);
}

/* ---- records ---- */

/*
 *	insert	  it waits in the queue of a scheduler; a device without one has no such event
 *	issue	  the driver has it
 *	requeue	  the driver has given it back; it will be issued again and is still the same
 *	complete  a part of it, from its begin on, or all of it is done
 *
 * A completion without an issue belongs to a request that was under way at the trace's start, or
 * during a loss. After a loss on any CPU all requests stay open, because the completion may have
 * been on that CPU.
 */

static uint64_t get(const struct block *a, const struct number *n, const struct spur_record *r)
{
	return (uint64_t)number_get(a->events, n, r);
}

static const char *text_of(struct block *a, const struct event_field *f,
			   const struct spur_record *r)
{
	size_t len = 0;
	const char *text = record_text(a->events, f, r, &len);

	return text ? intern_text(&a->texts, text, len) : NULL;
}

static int64_t bytes_of(const struct block *a, const struct kind *k, const struct spur_record *r)
{
	const uint64_t bytes = number_in(&k->bytes, r) ? get(a, &k->bytes, r) : 0;

	/* Only requests that are no transfers of sectors count bytes in some kernels. */
	return (int64_t)(bytes ? bytes : (get(a, &k->nr_sector, r) & UINT32_MAX) * SECTOR);
}

static struct request *add(struct block *a, uint64_t dev, uint64_t sector, uint64_t ts)
{
	struct request *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	if (a->nr == MAX_REQUESTS)
		leave_open(a, list_entry(a->order.next, struct request, order), ts);
	q->dev = dev;
	q->next = sector;
	q->queued = ROW_NULL;
	list_init(&q->order);
	list_init(&q->bucket);
	list_move_last(&q->bucket, bucket_of(a, dev, sector));
	a->nr++;
	return q;
}

static void insert(struct block *a, uint64_t dev, uint64_t sector, const struct spur_record *r)
{
	struct request *q = find(a, dev, sector, true);

	if (q) /* the earlier one was merged into another */
		drop(a, q);
	q = add(a, dev, sector, r->ts);
	if (!q)
		return;
	q->waits = true;
	q->ts = r->ts;
	list_move_last(&q->order, &a->order);
}

static void issue(struct block *a, const struct kind *k, uint64_t dev, uint64_t sector,
		  const struct spur_record *r)
{
	struct request *other = find(a, dev, sector, false), *q = find(a, dev, sector, true);

	if (other && other->requeued) {
		other->requeued = false;
		if (q) /* its waiting time includes the second wait */
			drop(a, q);
		return;
	}
	if (q)
		q->queued = ns_span(q->ts, r->ts);
	else
		q = add(a, dev, sector, r->ts);
	if (!q)
		return;
	q->waits = false;
	q->ts = r->ts;
	q->sector = sector;
	q->left = get(a, &k->nr_sector, r);
	q->bytes = bytes_of(a, k, r);
	q->cpu = r->cpu;
	q->pid = events_record_pid(a->events, r);
	q->rwbs = text_of(a, k->rwbs, r);
	q->comm = text_of(a, k->comm, r);
	if (!q->comm)
		q->comm = comm_at(a->comms, q->pid, r->ts);
	q->unclear = other || losses_since(&a->losses, r->ts, a->losses.n);
	if (other)
		other->unclear = true;
	list_move_last(&q->bucket, bucket_of(a, dev, sector));
	list_move_last(&q->order, &a->order);
}

/* A request that was issued before the trace, or whose issue was lost. */
static void complete_unknown(struct block *a, const struct kind *k, uint64_t dev, uint64_t sector,
			     const struct spur_record *r, int64_t error)
{
	struct block_row row = {.ts = a->border,
				.dur = ns_span(a->border, r->ts),
				.queued = ROW_NULL,
				.cpu = ROW_NULL,
				.pid = ROW_NULL,
				.device = device(a, dev),
				.sector = (int64_t)sector,
				.bytes = bytes_of(a, k, r),
				.rwbs = text_of(a, k->rwbs, r),
				.error = error,
				.open = ROW_OPEN_START,
				.buffer = a->src->buffer->data->name};

	/* A request for a flush may complete without an issue. */
	if (a->kinds[ISSUE].event && get(a, &k->nr_sector, r))
		a->src->row(a->src->arg, &row);
}

static void complete(struct block *a, const struct kind *k, uint64_t dev, uint64_t sector,
		     const struct spur_record *r)
{
	const uint64_t done = get(a, &k->nr_sector, r);
	const int64_t error =
		number_in(&k->error, r) ? number_get(a->events, &k->error, r) : ROW_NULL;
	struct request *q = find(a, dev, sector, false);

	if (!q) {
		complete_unknown(a, k, dev, sector, r, error);
	} else if (done && done < q->left) {
		q->left -= done;
		q->next += done;
		list_move_last(&q->bucket, bucket_of(a, dev, q->next));
	} else if (q->unclear) {
		leave_open(a, q, r->ts);
	} else {
		hand_out(a, q, ns_span(q->ts, r->ts), error, ROW_WHOLE);
		drop(a, q);
	}
}

static void block_record(void *analysis, struct event *e, const struct spur_record *r)
{
	struct block *a = analysis;
	const struct kind *k = a->kinds;
	struct request *q;
	uint64_t dev, sector;

	while (k < a->kinds + NR_KINDS && k->event != e)
		k++;
	if (k == a->kinds + NR_KINDS || !number_in(&k->dev, r) || !number_in(&k->sector, r))
		return;
	dev = get(a, &k->dev, r);
	sector = get(a, &k->sector, r);
	switch ((enum what)(k - a->kinds)) {
	case INSERT: insert(a, dev, sector, r); break;
	case ISSUE: issue(a, k, dev, sector, r); break;
	case COMPLETE: complete(a, k, dev, sector, r); break;
	default:
		q = find(a, dev, sector, false);
		if (q)
			q->requeued = true;
	}
}

static void block_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	struct block *a = analysis;

	losses_add(&a->losses, to);
	if (!from)
		return;
	leave_all_open(a, from);
	a->border = from;
}

static void block_end(void *analysis, uint64_t ts)
{
	leave_all_open(analysis, ts);
}

/* ---- making ---- */

static void block_free(void *analysis)
{
	struct block *a = analysis;

	while (!list_empty(&a->order))
		drop(a, list_entry(a->order.next, struct request, order));
	intern_free(&a->texts);
	comm_times_free(a->comms);
}

static void bind(struct kind *k, struct event *e)
{
	static const char *const errors[] = {"error", "errors", NULL};

	*k = (struct kind){.event = e,
			   .dev = number_of(e, "dev"),
			   .sector = number_of(e, "sector"),
			   .nr_sector = number_of(e, "nr_sector"),
			   .bytes = number_of(e, "bytes"),
			   .error = number_find(e, errors),
			   .rwbs = event_field_find(e, "rwbs"),
			   .comm = event_field_find(e, "comm")};
}

static int block_begin(void *analysis, const struct table_source *src)
{
	struct block *a = analysis;

	a->src = src;
	a->events = src->trace->events;
	a->seed = hash_seed_new();
	list_init(&a->order);
	for (size_t i = 0; i < NR_BUCKETS; i++)
		list_init(&a->buckets[i]);
	intern_init(&a->texts, TEXTS_LIMIT);
	for (size_t i = 0; i < NR_KINDS; i++) {
		struct event *e = events_find(a->events, "block", names[i]);

		if (e && event_ready(e) != EVENT_BROKEN)
			bind(&a->kinds[i], e);
	}
	a->border = buffer_start(src->buffer);
	a->comms = src->nameless ? NULL : comm_times_new(src->trace, src->stop);
	return a->comms || src->nameless ? 0 : -ENOMEM;
}

#define COLUMN(kind, member, about) ROW_COLUMN(block_row, kind, member, about)

static const struct column columns[] = {
	COLUMN(TIME, ts, "when the driver got it"),
	COLUMN(DURATION, dur, "until it was complete"),
	COLUMN(DURATION, queued, "it waited before that"),
	COLUMN(NUMBER, cpu, "it was issued on"),
	COLUMN(NUMBER, pid, "the task that issued it"),
	COLUMN(TEXT, comm, "the task's name"),
	COLUMN(TEXT, device, "major and minor number: 8,0"),
	COLUMN(NUMBER, sector, "it begins at"),
	COLUMN(NUMBER, bytes, "it transfers"),
	COLUMN(TEXT, rwbs, "what it does: R, W, D (discard), F (flush), …"),
	COLUMN(NUMBER, error, "0, or why it failed"),
	ROW_NAMES(block_row, open, row_open_names, "the end that is not known: start, end"),
	COLUMN(TEXT, buffer, "it was recorded in"),
};

static const char *const events[] = {
	"block:block_rq_insert",
	"block:block_rq_issue",
	"block:block_rq_requeue",
	"block:block_rq_complete",
	NULL,
};
static const char *const needs[] = {"block:block_rq_issue", NULL};

/* Not starts_anywhere: a request was queued before its issue. */
const struct table block_table = {
	.name = "block",
	.about = "requests to block devices",
	.columns = columns,
	.nr_columns = ARRAY_SIZE(columns),
	.row_size = sizeof(struct block_row),
	.events = events,
	.needs = needs,
	.analysis_size = sizeof(struct block),
	.begin = block_begin,
	.record = block_record,
	.losing = block_losing,
	.end = block_end,
	.free = block_free,
};
