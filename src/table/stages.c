// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A feed by several threads.
 *
 * Most analyses cannot begin in the middle of a trace. So the work is split, not the time. Reading,
 * each client's analyses, and delivering rows are stages, and batches of records pass them in
 * order. One thread takes a batch through all stages, because the records are in its cache. Another
 * thread follows with the next batch. So the order of rows does not depend on threads.
 *
 * A thread that has to wait reads ahead (scan/ahead.h). A batch has copies of its records.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "scan/ahead.h"
#include "table/feed_private.h"

#define NR_BATCHES    4
#define MOST_RECORDS  8192	 /* of a batch, … */
#define LEAST_RECORDS 16	 /* … and the minimum */
#define BATCH_BYTES   512	 /* a batch has one record for so many bytes a thread */
#define MOST_BYTES    (1u << 20) /* of the records of a batch; a larger page still fits */
#define NO_PLACE      UINT32_MAX
#define NOT_KNOWN     UINT32_MAX
#define NOT_BEGUN     UINT64_MAX
#define TEXTS_LIMIT   (64u << 20)

/* Rows of a client in a batch. */
struct row_queue {
	uint32_t passing; /* offset in a row of a text that is soon invalid; 0: there is none */
	size_t row_size;
	unsigned char *at;
	uint32_t *places; /* of the record that each row was made from: see struct batch */
	size_t n, cap, next;
	uint32_t place;	  /* of the record that the client works on */
	struct buf texts; /* copies of those texts; a row has the offset in it, plus one */
};

struct told {
	uint32_t at; /* before this record */
	struct notice notice;
};

/* Records and notices, which have places from 0 on in one order. */
struct batch {
	struct table_record *records; /* MOST_RECORDS */
	uint32_t nr_records;
	vec_of(struct told) notices;
	unsigned char *bytes; /* of the records */
	size_t used;
	struct row_queue *rows; /* by client */
	uint32_t *next;		/* by client: the place of its next row */
	uint64_t done, total;	/* how far the walk is */
};

struct client_stage {
	uint64_t nr; /* batches it has worked on; NOT_BEGUN: it is still being made */
	bool done;
};

struct stages {
	struct feed *feed;
	struct ahead *ahead;		  /* reads for the lanes; NULL: they read themselves */
	struct batch batches[NR_BATCHES]; /* number n is in place n % NR_BATCHES */
	struct batch *filling;		  /* the batch that is being read */
	uint32_t *reach;		  /* by event: see end_of_fields(), or NOT_KNOWN */
	size_t page_size, most_bytes;	  /* of the largest page; of a batch's records */
	uint32_t most_records;		  /* of a batch */
	bool **wants;			  /* by client and event: its records */
	bool watched;			  /* some events have watchers */
	const int *failed; /* an error of the functions that get rows; NULL: there is no such */
	bool by_all;	   /* any thread delivers rows, one at a time */

	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;

	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t changed;
	uint64_t nr_changes;
	uint64_t nr_read;  /* batches that have been read */
	uint64_t nr_given; /* batches whose rows have been delivered */
	bool reading;	   /* a thread is reading */
	bool all_read;
	struct client_stage *clients;
	size_t nr_begun; /* clients that a thread has begun to make */
	bool quit;
	int rc;
	pthread_t *threads; /* helpers of the caller's */
	unsigned int nr_threads;
};

/* ---- reading ---- */

/*
 * The end of an event's fields: printing a record may read that far, whatever the record's size is.
 */
static uint32_t end_of_fields(const struct event *e)
{
	uint32_t end = 0;

	for (uint32_t i = 0; i < e->nr_fields; i++) {
		uint32_t at;

		if (__builtin_add_overflow(e->fields[i].offset, e->fields[i].size, &at))
			at = UINT32_MAX;
		end = at > end ? at : end;
	}
	return end;
}

/* Copies a record, with all bytes that its receivers may read. */
static void copy_bytes(struct stages *s, const struct event *e, struct spur_record *r)
{
	struct batch *b = s->filling;
	uint32_t *reach = &s->reach[e->index], n;

	if (*reach == NOT_KNOWN)
		*reach = end_of_fields(e);
	n = *reach < r->room ? *reach : r->room;
	n = n > r->size ? n : r->size;
	memcpy(b->bytes + b->used, r->data, n);
	r->data = b->bytes + b->used;
	r->room = n;
	b->used += n;
}

static void begin_batch(struct stages *s)
{
	struct batch *b = s->filling = &s->batches[s->nr_read % NR_BATCHES];

	b->nr_records = 0;
	b->notices.n = 0;
	b->used = 0;
	b->total = 0;
}

void stages_record(struct stages *s, struct event *e, const struct spur_record *r)
{
	struct batch *b = s->filling;
	struct table_record *to = &b->records[b->nr_records];

	to->event = e;
	to->record = *r;
	copy_bytes(s, e, &to->record);
	b->nr_records++;
}

void stages_notify(struct stages *s, const struct notice *n)
{
	if (!vec_add(&s->filling->notices, &((struct told){s->filling->nr_records, *n})))
		s->feed->rc = -ENOMEM;
}

bool stages_done(struct stages *s)
{
	bool all = true;

	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < s->feed->clients.n; i++)
		all &= s->clients[i].done;
	pthread_mutex_unlock(&s->lock);
	return all;
}

static void note_progress(void *stages, uint64_t done, uint64_t total)
{
	struct stages *s = stages;

	s->filling->done = done;
	s->filling->total = total;
}

/* Whether another record, which may be as large as a page, fits into a batch. */
static bool has_room(const struct stages *s, const struct batch *b)
{
	return b->nr_records < s->most_records && b->notices.n < s->most_records &&
	       s->most_bytes - b->used >= s->page_size;
}

/* Fills a batch; false when there are no more records. */
static bool read_batch(struct stages *s)
{
	bool more = true;

	begin_batch(s);
	while (more && s->feed->rc == 0 && has_room(s, s->filling))
		more = feed_read(s->feed);
	return more && s->feed->rc == 0;
}

/* ---- analyses ---- */

static bool make_room(struct row_queue *q)
{
	const size_t cap = q->cap ? q->cap * 2 : 64;
	unsigned char *at = reallocarray(q->at, cap, q->row_size);
	uint32_t *places;

	if (!at)
		return false;
	q->at = at;
	places = reallocarray(q->places, cap, sizeof(*places));
	if (!places)
		return false;
	q->places = places;
	q->cap = cap;
	return true;
}

/* Copies a text that is only valid for a while; the row gets its offset, plus one. */
static void keep_text(struct row_queue *q, unsigned char *row)
{
	const uintptr_t place = q->texts.len + 1;
	const char *text;

	memcpy(&text, row + q->passing, sizeof(text));
	if (!text)
		return;
	buf_put(&q->texts, text, strlen(text) + 1);
	memcpy(row + q->passing, &place, sizeof(place));
}

void stages_row(struct client *c, const void *row)
{
	struct row_queue *q = c->rows;

	if (q->n == q->cap && !make_room(q)) {
		c->failed = -ENOMEM;
		return;
	}
	memcpy(q->at + q->n * q->row_size, row, q->row_size);
	if (q->passing)
		keep_text(q, q->at + q->n * q->row_size);
	q->places[q->n++] = q->place;
}

/* How many records from `i` on are of one buffer, with no notice between them. */
static uint32_t run_length(const struct batch *b, uint32_t i, size_t notice)
{
	const uint32_t end = notice < b->notices.n ? b->notices.at[notice].at : b->nr_records;
	uint32_t n = 1;

	while (n < TABLE_BATCH && i + n < end &&
	       b->records[i + n].record.buffer == b->records[i].record.buffer)
		n++;
	return n;
}

static void work_on(struct client *c, struct row_queue *q, const bool *wants, const struct batch *b)
{
	uint32_t i = 0, n;
	size_t k = 0;

	for (;; i += n) {
		const struct table_record *r = &b->records[i];

		for (; k < b->notices.n && b->notices.at[k].at == i; k++) {
			q->place = i + (uint32_t)k;
			feed_notify(c, &b->notices.at[k].notice);
		}
		if (i == b->nr_records)
			return;
		n = c->whole ? run_length(b, i, k) : 1;
		q->place = i + (uint32_t)k;
		if (c->done)
			continue;
		if (c->whole)
			c->table->records(c->analyses[r->record.buffer], r, n);
		else if (wants[r->event->index])
			c->table->record(c->analyses[r->record.buffer], r->event, &r->record);
	}
}

/* A client's step: 0 or a negative errno. */
static int analyse(struct stages *s, size_t client, struct batch *b)
{
	struct client *c = s->feed->clients.at[client];
	struct row_queue *q = &b->rows[client];

	/* If there is only one client, its rows need not wait either. */
	c->rows = s->feed->rows_apart || (s->by_all && s->feed->clients.n == 1 && !s->watched)
			  ? NULL
			  : q;
	q->n = q->next = 0;
	buf_reset(&q->texts);
	work_on(c, q, s->wants[client], b);
	c->rows = NULL;
	return c->failed;
}

/* ---- rows ---- */

static void give_row(const struct client *c, struct row_queue *q)
{
	unsigned char *row = q->at + q->next++ * q->row_size;
	const char *text;
	uintptr_t place;

	if (q->passing) {
		memcpy(&place, row + q->passing, sizeof(place));
		text = place ? q->texts.data + place - 1 : NULL;
		memcpy(row + q->passing, &text, sizeof(text));
	}
	c->row(c->arg, row);
}

/* The place of a client's next row; NO_PLACE: it has none. */
static uint32_t next_place(const struct row_queue *q)
{
	return q->next < q->n ? q->places[q->next] : NO_PLACE;
}

/* Delivers, in order, the rows that were made from records before this place. */
static void give_rows(const struct stages *s, struct batch *b, uint32_t before)
{
	const struct feed *f = s->feed;
	uint32_t *next = b->next;

	for (;;) {
		size_t first = 0;

		for (size_t i = 1; i < f->clients.n; i++)
			first = next[i] < next[first] ? i : first;
		if (!f->clients.n || next[first] >= before)
			return;
		give_row(f->clients.at[first], &b->rows[first]);
		next[first] = next_place(&b->rows[first]);
	}
}

static void give_records(const struct stages *s, struct batch *b)
{
	size_t k = 0;

	for (uint32_t i = 0; i < b->nr_records; i++) {
		const struct table_record *r = &b->records[i];
		const struct subscribers *to = &s->feed->subscribers[r->event->index];

		while (k < b->notices.n && b->notices.at[k].at <= i)
			k++;
		if (!to->watchers.n)
			continue;
		give_rows(s, b, i + (uint32_t)k);
		vec_each (w, &to->watchers)
			w->record(w->arg, r->event, &r->record);
	}
}

static void give(const struct stages *s, struct batch *b)
{
	const struct feed *f = s->feed;

	for (uint32_t i = 0, n; f->watch && i < b->nr_records; i += n) {
		n = run_length(b, i, b->notices.n);
		f->watch(f->watch_arg, &b->records[i], n);
	}
	for (size_t i = 0; i < f->clients.n; i++)
		b->next[i] = next_place(&b->rows[i]);
	if (s->watched)
		give_records(s, b);
	give_rows(s, b, NO_PLACE);
	if (b->total && s->progress)
		s->progress(s->progress_arg, b->done, b->total);
}

/* ---- threads ---- */

/* Needs the lock. */
static void announce(struct stages *s)
{
	s->nr_changes++;
	pthread_cond_broadcast(&s->changed);
}

/* From the lanes: there is something to load for threads that wait. */
static void wake(void *stages)
{
	struct stages *s = stages;

	pthread_mutex_lock(&s->lock);
	announce(s);
	pthread_mutex_unlock(&s->lock);
}

static void set_rc(struct stages *s, int rc)
{
	s->rc = s->rc ? s->rc : rc;
	announce(s);
}

/* Reads ahead, or waits for a change. Needs the lock, which is released meanwhile. */
static void wait(struct stages *s)
{
	const uint64_t seen = s->nr_changes;
	bool loaded = false;

	if (s->ahead) {
		pthread_mutex_unlock(&s->lock);
		loaded = ahead_load(s->ahead);
		pthread_mutex_lock(&s->lock);
	}
	if (!loaded && s->nr_changes == seen)
		pthread_cond_wait(&s->changed, &s->lock);
}

/* Waits until a stage has reached a batch; false if it never will. Needs the lock. */
static bool wait_for(struct stages *s, const uint64_t *stage, uint64_t batch)
{
	while (*stage != batch && !s->rc && !s->quit)
		wait(s);
	return !s->rc && !s->quit;
}

static bool may_read(const struct stages *s)
{
	return !s->reading && !s->all_read && !s->rc && s->nr_read - s->nr_given < NR_BATCHES;
}

static uint64_t do_read(struct stages *s)
{
	bool more;

	s->reading = true;
	pthread_mutex_unlock(&s->lock);
	more = read_batch(s);
	pthread_mutex_lock(&s->lock);
	s->reading = false;
	s->all_read = !more;
	announce(s);
	return s->nr_read++;
}

/* Some analyses read the trace before they begin. */
static void do_begin(struct stages *s)
{
	const size_t client = s->nr_begun++;
	int rc;

	pthread_mutex_unlock(&s->lock);
	rc = feed_begin_client(s->feed->clients.at[client]);
	pthread_mutex_lock(&s->lock);
	s->clients[client].nr = 0;
	set_rc(s, rc);
}

static void do_analyse(struct stages *s, size_t client, uint64_t batch)
{
	int rc;

	pthread_mutex_unlock(&s->lock);
	rc = analyse(s, client, &s->batches[batch % NR_BATCHES]);
	pthread_mutex_lock(&s->lock);
	s->clients[client].nr++;
	s->clients[client].done = s->feed->clients.at[client]->done;
	set_rc(s, rc);
}

static void do_give(struct stages *s, uint64_t batch)
{
	int rc;

	pthread_mutex_unlock(&s->lock);
	give(s, &s->batches[batch % NR_BATCHES]);
	rc = feed_failed(s->failed);
	pthread_mutex_lock(&s->lock);
	s->nr_given++;
	set_rc(s, rc < 0 ? rc : 0);
}

/*
 * Takes a batch through all stages, because its records are in this thread's caches. Needs the
 * lock, which is released meanwhile.
 */
static void take_through(struct stages *s)
{
	const uint64_t batch = do_read(s);

	for (size_t i = 0; i < s->feed->clients.n; i++) {
		if (!wait_for(s, &s->clients[i].nr, batch))
			return;
		do_analyse(s, i, batch);
	}
	if (s->by_all && wait_for(s, &s->nr_given, batch))
		do_give(s, batch);
}

/* Does the next piece of work; false if there is none now. */
static bool do_something(struct stages *s)
{
	if (s->nr_begun < s->feed->clients.n && !s->rc)
		do_begin(s);
	else if (may_read(s))
		take_through(s);
	else
		return false;
	return true;
}

static void *helper(void *stages)
{
	struct stages *s = stages;

	pthread_mutex_lock(&s->lock);
	while (!s->quit)
		if (!do_something(s))
			wait(s);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void stop_threads(struct stages *s)
{
	pthread_mutex_lock(&s->lock);
	s->quit = true;
	announce(s);
	pthread_mutex_unlock(&s->lock);
	while (s->nr_threads)
		pthread_join(s->threads[--s->nr_threads], NULL);
}

/* The caller's thread does the rest alone. */
static void finish(struct stages *s)
{
	struct feed *f = s->feed;
	int rc;

	stop_threads(s);
	f->stages = NULL;
	f->rc = s->rc ? s->rc : f->rc;
	stages_free(s);
	if (f->rc < 0 && f->rc != -EINTR)
		return;
	feed_end(f);
	for (size_t i = 0; i < f->clients.n; i++) {
		rc = f->clients.at[i]->failed;
		f->rc = f->rc ? f->rc : rc;
	}
}

/* Whether all clients have worked on the batch whose rows come next. */
static bool is_ready(const struct stages *s)
{
	bool ready = s->nr_given < s->nr_read;

	for (size_t i = 0; i < s->feed->clients.n; i++)
		ready &= s->clients[i].nr != NOT_BEGUN && s->clients[i].nr > s->nr_given;
	return ready;
}

static bool is_over(const struct stages *s)
{
	return s->rc || (s->all_read && s->nr_given == s->nr_read);
}

bool stages_step(struct stages *s)
{
	const uint64_t given = s->by_all ? 0 : s->nr_given;
	bool over;

	pthread_mutex_lock(&s->lock);
	do {
		if (!s->by_all && is_ready(s) && !s->rc)
			do_give(s, s->nr_given);
		else if (!do_something(s) && !is_over(s))
			wait(s);
		over = is_over(s);
	} while (!over && (s->by_all || s->nr_given == given));
	pthread_mutex_unlock(&s->lock);
	if (over)
		finish(s);
	return !over;
}

/* ---- memory ---- */

static uint32_t passing_text(const struct table *t)
{
	for (uint32_t i = 0; t->passing && i < t->nr_columns; i++)
		if (strcmp(t->columns[i].name, t->passing) == 0)
			return t->columns[i].offset;
	return 0;
}

static bool init_batch(const struct stages *s, struct batch *b)
{
	const struct feed *f = s->feed;

	b->records = calloc(MOST_RECORDS, sizeof(*b->records));
	b->bytes = malloc(s->most_bytes);
	b->rows = calloc(f->clients.n + 1, sizeof(*b->rows));
	for (size_t i = 0; b->rows && i < f->clients.n; i++) {
		b->rows[i].row_size = f->clients.at[i]->table->row_size;
		b->rows[i].passing = passing_text(f->clients.at[i]->table);
		buf_init(&b->rows[i].texts, TEXTS_LIMIT);
	}
	b->next = calloc(f->clients.n + 1, sizeof(*b->next));
	return b->records && b->bytes && b->rows && b->next;
}

static void free_batch(const struct stages *s, struct batch *b)
{
	for (size_t i = 0; b->rows && i < s->feed->clients.n; i++) {
		free(b->rows[i].at);
		free(b->rows[i].places);
		buf_free(&b->rows[i].texts);
	}
	free(b->rows);
	free(b->next);
	free(b->bytes);
	free(b->records);
	vec_free(&b->notices);
}

/* Which client wants the records of which event. */
static bool init_wants(struct stages *s)
{
	const struct feed *f = s->feed;
	const size_t nr = f->trace->events->nr;

	s->wants = calloc(f->clients.n + 1, sizeof(*s->wants));
	for (size_t i = 0; s->wants && i < f->clients.n; i++) {
		s->wants[i] = calloc(nr + 1, sizeof(**s->wants));
		if (!s->wants[i])
			return false;
		for (size_t e = 0; e < nr; e++)
			vec_each (to, &f->subscribers[e].clients)
				s->wants[i][e] |= to->client == f->clients.at[i];
	}
	for (size_t e = 0; e < nr; e++)
		s->watched |= f->subscribers[e].watchers.n > 0;
	return s->wants;
}

/* A small trace has small batches, so that all threads get some. */
static void choose_sizes(struct stages *s, unsigned int threads)
{
	const struct feed *f = s->feed;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < f->walk.scan.nr; i++) {
		const size_t size = f->walk.scan.lanes[i].buffer->data->page_size;

		s->page_size = size > s->page_size ? size : s->page_size;
		bytes += f->walk.scan.lanes[i].nr_pages * size;
	}
	bytes /= BATCH_BYTES * (uint64_t)threads;
	s->most_records = bytes < LEAST_RECORDS	 ? LEAST_RECORDS
			  : bytes < MOST_RECORDS ? (uint32_t)bytes
						 : MOST_RECORDS;
	s->most_bytes = s->page_size > MOST_BYTES ? s->page_size : MOST_BYTES;
}

static bool init_memory(struct stages *s)
{
	const struct feed *f = s->feed;
	bool ok;

	s->reach = malloc((f->trace->events->nr + 1) * sizeof(*s->reach));
	if (s->reach)
		memset(s->reach, 0xff, (f->trace->events->nr + 1) * sizeof(*s->reach));
	s->clients = calloc(f->clients.n + 1, sizeof(*s->clients));
	for (size_t i = 0; s->clients && i < f->clients.n; i++)
		s->clients[i].nr = NOT_BEGUN;
	ok = init_wants(s) && s->reach && s->clients;
	for (size_t i = 0; ok && i < NR_BATCHES; i++)
		ok = init_batch(s, &s->batches[i]);
	return ok;
}

void stages_free(struct stages *s)
{
	if (!s)
		return;
	stop_threads(s);
	for (size_t i = 0; i < NR_BATCHES; i++)
		free_batch(s, &s->batches[i]);
	for (size_t i = 0; s->wants && i < s->feed->clients.n; i++)
		free(s->wants[i]);
	free(s->wants);
	ahead_free(s->ahead);
	free(s->reach);
	free(s->clients);
	free(s->threads);
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

struct stages *stages_new(struct feed *f, unsigned int threads)
{
	struct scan_options *o = &f->walk.scan.opt;
	struct stages *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->feed = f;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	s->threads = calloc(threads, sizeof(*s->threads));
	choose_sizes(s, threads);
	if (!s->threads || !init_memory(s)) {
		stages_free(s);
		return NULL;
	}
	/* Without reading ahead, the lanes would not have read past the end of the range. */
	if (!f->until && !f->walk.opt.last_page)
		s->ahead = ahead_new(&f->walk.scan, wake, s);
	s->progress = o->progress;
	s->progress_arg = o->progress_arg;
	o->progress = note_progress;
	o->progress_arg = s;
	return s;
}

void stages_start(struct stages *s, unsigned int threads, bool by_all, const int *failed)
{
	s->by_all = by_all;
	s->failed = failed;
	/*
	 * The caller's thread is the first. If fewer threads than wished can be started, that is
	 * fine.
	 */
	while (s->nr_threads + 1 < threads &&
	       pthread_create(&s->threads[s->nr_threads], NULL, helper, s) == 0)
		s->nr_threads++;
}
