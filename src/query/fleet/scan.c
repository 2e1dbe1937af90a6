// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the rows of many files: each thread reads a file and puts its rows into batches, which
 * the statement's thread uses in the order of files. So answers do not depend on the number of
 * threads.
 *
 * A part has the rows of a file. A thread waits if its part has MAX_BATCHES that have not been
 * used, and begins no part that is AHEAD or more after the current one. So memory is bounded,
 * whatever the size of the files. Unless the current part is complete, some thread always works on
 * it.
 *
 *	row:	u64 count	only if rows are counted
 *		i64 rowid	only if they are not
 *		values:		a byte of type, then i64, double, u32 length and text, or nothing
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/vec.h"
#include "query/fleet/private.h"

#define BATCH_BYTES (128u << 10) /* a larger batch is queued */
#define BATCH_LIMIT (2u * QUERY_VALUE_BYTES)
#define MAX_BATCHES 8
#define AHEAD	    64
#define LOOK_NS	    100000000l /* between two checks for a stop */

struct batch {
	struct batch *next;
	struct buf data;
};

struct part {
	size_t file;
	struct batch *first, **last; /* protected by the lock, as everything below */
	size_t nr;
	bool ended;
	int rc;
	uint64_t groups, groups_read; /* of Parquet */
	char *why;		      /* why it ended early */
};

struct fleet_scan {
	struct fleet *fleet;
	struct fleet_question q;
	struct part *parts;
	size_t nr_parts;
	size_t next;	   /* part to be begun */
	size_t taking;	   /* the current part, whose rows are being used */
	volatile int stop; /* threads end */
	pthread_mutex_t lock;
	pthread_cond_t filled, taken;
	pthread_t *crew;
	size_t nr_crew;

	struct batch *batch; /* the current batch, and the position in it */
	size_t pos;
	struct fleet_value *values;
};

/* ---- writing rows ---- */

struct row_out {
	struct fleet_scan *scan;
	struct part *part;
	struct batch *batch;
	bool too_long; /* a value of the row is */
};

void row_put_head(struct row_out *r, int64_t head)
{
	buf_put(&r->batch->data, &head, sizeof(head));
}

void row_put_number(struct row_out *r, int64_t number)
{
	buf_putc(&r->batch->data, SQLITE_INTEGER);
	buf_put(&r->batch->data, &number, sizeof(number));
}

void row_put_text(struct row_out *r, const char *text, size_t len)
{
	const uint32_t size = (uint32_t)len;

	if (len > QUERY_VALUE_BYTES) {
		r->too_long = true;
		return;
	}
	buf_putc(&r->batch->data, SQLITE_TEXT);
	buf_put(&r->batch->data, &size, sizeof(size));
	buf_put(&r->batch->data, text, size);
}

void row_put_real(struct row_out *r, double number)
{
	buf_putc(&r->batch->data, SQLITE_FLOAT);
	buf_put(&r->batch->data, &number, sizeof(number));
}

void row_put_null(struct row_out *r)
{
	buf_putc(&r->batch->data, SQLITE_NULL);
}

static bool new_batch(struct row_out *r)
{
	r->batch = calloc(1, sizeof(*r->batch));
	if (r->batch)
		buf_init(&r->batch->data, BATCH_LIMIT);
	return r->batch;
}

static void free_batch(struct batch *b)
{
	if (b)
		buf_free(&b->data);
	free(b);
}

/* Queues the batch, after waiting for space. False if the scan is over. */
static bool hand_over(struct row_out *r)
{
	struct fleet_scan *s = r->scan;
	struct part *p = r->part;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && p->nr >= MAX_BATCHES)
		pthread_cond_wait(&s->taken, &s->lock);
	*p->last = r->batch;
	p->last = &r->batch->next;
	p->nr++;
	pthread_cond_signal(&s->filled);
	pthread_mutex_unlock(&s->lock);
	r->batch = NULL;
	return !s->stop;
}

int row_end(struct row_out *r)
{
	/* The incomplete row must not be read. */
	if (r->too_long) {
		r->batch->data.full = true;
		return -EMSGSIZE;
	}
	if (r->batch->data.full)
		return -ENOMEM;
	if (r->batch->data.len < BATCH_BYTES)
		return 0;
	if (!hand_over(r))
		return -EINTR;
	return new_batch(r) ? 0 : -ENOMEM;
}

/* ---- asking a file ---- */

static int ask(struct row_out *r, struct spur_error *err)
{
	struct fleet_scan *s = r->scan;
	struct fleet_file *file = &s->fleet->files.at[r->part->file];
	struct fleet_asking asking = {
		.fleet = s->fleet, .q = &s->q, .file = file, .stop = &s->stop, .out = r};
	struct fleet_input in;
	int rc;

	if (!fleet_open(file, &in, err))
		return -EIO;
	rc = in.parquet ? fleet_ask_parquet(&asking, in.parquet, err)
			: fleet_ask_trace(&asking, in.trace, err);
	if (rc == -EMSGSIZE)
		error_set(err, rc, "a value is longer than %d MB", QUERY_VALUE_BYTES >> 20);
	fleet_close(&in);
	r->part->groups = asking.groups;
	r->part->groups_read = asking.groups_read;
	return rc;
}

static void ask_part(struct fleet_scan *s, struct part *p)
{
	struct row_out r = {.scan = s, .part = p};
	struct spur_error err = {0};
	int rc = new_batch(&r) ? ask(&r, &err) : -ENOMEM;

	if (r.batch && r.batch->data.len && !r.batch->data.full)
		hand_over(&r);
	free_batch(r.batch);
	pthread_mutex_lock(&s->lock);
	p->ended = true;
	p->rc = rc == -ENOMEM || rc == -EINTR ? rc : 0;
	if (err.code && err.code != -EINTR)
		p->why = strdup(err.text);
	pthread_cond_broadcast(&s->filled);
	pthread_mutex_unlock(&s->lock);
}

static void *asker(void *arg)
{
	struct fleet_scan *s = arg;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && s->next < s->nr_parts) {
		struct part *p;

		if (s->next >= s->taking + AHEAD) {
			pthread_cond_wait(&s->taken, &s->lock);
			continue;
		}
		p = &s->parts[s->next++];
		pthread_mutex_unlock(&s->lock);
		ask_part(s, p);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* ---- scans ---- */

static bool begin(struct fleet_scan *s, const struct file_list *list)
{
	const size_t want = s->fleet->threads < list->n ? s->fleet->threads : list->n;

	s->parts = calloc(list->n + 1, sizeof(*s->parts));
	s->values = calloc(s->q.nr + 1, sizeof(*s->values));
	s->crew = calloc(want + 1, sizeof(*s->crew));
	if (!s->parts || !s->values || !s->crew)
		return false;
	s->nr_parts = list->n;
	for (size_t i = 0; i < list->n; i++) {
		s->parts[i].file = list->at[i];
		s->parts[i].last = &s->parts[i].first;
	}
	while (s->nr_crew < want && pthread_create(&s->crew[s->nr_crew], NULL, asker, s) == 0)
		s->nr_crew++;
	return s->nr_crew || !want;
}

static void question_free(struct fleet_question *q)
{
	buf_free(&q->where);
	limit_list_free(&q->excluded);
	free(q->columns);
}

struct fleet_scan *fleet_scan_new(struct fleet *f, struct file_list *list, struct fleet_question *q)
{
	struct fleet_scan *s = calloc(1, sizeof(*s));
	pthread_condattr_t attr;

	if (!s) {
		question_free(q);
		vec_free(list);
		return NULL;
	}
	s->fleet = f;
	s->q = *q;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->filled, &attr);
	pthread_cond_init(&s->taken, &attr);
	pthread_condattr_destroy(&attr);
	if (!begin(s, list)) {
		fleet_scan_free(s);
		s = NULL;
	}
	vec_free(list);
	return s;
}

void fleet_scan_free(struct fleet_scan *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->stop = 1;
	pthread_cond_broadcast(&s->taken);
	pthread_mutex_unlock(&s->lock);
	while (s->nr_crew)
		pthread_join(s->crew[--s->nr_crew], NULL);
	for (size_t i = 0; i < s->nr_parts; i++) {
		for (struct batch *b = s->parts[i].first, *next; b; b = next) {
			next = b->next;
			free_batch(b);
		}
		free(s->parts[i].why);
	}
	free_batch(s->batch);
	pthread_cond_destroy(&s->filled);
	pthread_cond_destroy(&s->taken);
	pthread_mutex_destroy(&s->lock);
	question_free(&s->q);
	free(s->parts);
	free(s->crew);
	free(s->values);
	free(s);
}

/* ---- reading rows ---- */

/* With the lock held: waits until the part has a batch, or has ended. */
static int wait_for(struct fleet_scan *s, const struct part *p)
{
	const struct query_options *o = &s->fleet->query->opt;

	while (!p->first && !p->ended) {
		struct timespec until;

		if (o->stop && *o->stop)
			return -EINTR;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000l;
		until.tv_nsec %= 1000000000l;
		pthread_cond_timedwait(&s->filled, &s->lock, &until);
	}
	return p->first ? 0 : p->rc;
}

static void count_file(struct fleet_scan *s, const struct part *p)
{
	struct fleet_file *file = &s->fleet->files.at[p->file];

	if (file->statement != s->fleet->query->statement)
		s->fleet->read++;
	file->statement = s->fleet->query->statement;
}

/* Updates the data about a file after its rows have been used. */
static void end_part(struct fleet_scan *s, const struct part *p)
{
	const struct query_options *o = &s->fleet->query->opt;
	struct fleet_file *file = &s->fleet->files.at[p->file];

	s->fleet->groups += p->groups;
	s->fleet->groups_read += p->groups_read;
	if (p->why)
		fleet_tell(s->fleet, file, p->why);
	if (o->progress)
		o->progress(o->arg, s->taking, s->nr_parts);
}

/* Gets the next batch with rows: 1, 0 if there is none, or a negative errno. */
static int next_batch(struct fleet_scan *s)
{
	int rc = 0;

	free_batch(s->batch);
	s->batch = NULL;
	s->pos = 0;
	while (rc == 0 && !s->batch && s->taking < s->nr_parts) {
		struct part *p = &s->parts[s->taking];

		pthread_mutex_lock(&s->lock);
		rc = wait_for(s, p);
		if (rc == 0 && p->first) {
			s->batch = p->first;
			p->first = s->batch->next;
			if (!p->first)
				p->last = &p->first;
			p->nr--;
		} else if (rc == 0) {
			s->taking++;
		}
		pthread_cond_broadcast(&s->taken);
		pthread_mutex_unlock(&s->lock);
		if (rc == 0)
			count_file(s, p);
		if (rc == 0 && !s->batch)
			end_part(s, p);
	}
	return rc < 0 ? rc : s->batch != NULL;
}

static void read_bytes(struct fleet_scan *s, void *to, size_t n)
{
	memcpy(to, s->batch->data.data + s->pos, n);
	s->pos += n;
}

static void read_value(struct fleet_scan *s, struct fleet_value *v)
{
	uint32_t len;

	v->type = s->batch->data.data[s->pos++];
	if (v->type == SQLITE_INTEGER) {
		read_bytes(s, &v->number, sizeof(v->number));
	} else if (v->type == SQLITE_FLOAT) {
		read_bytes(s, &v->real, sizeof(v->real));
	} else if (v->type == SQLITE_TEXT) {
		read_bytes(s, &len, sizeof(len));
		v->len = len;
		v->text = s->batch->data.data + s->pos;
		s->pos += len;
	}
}

int fleet_scan_next(struct fleet_scan *s, struct fleet_row *row)
{
	static const struct hash_seed seed = {0x9216d5d98979fb1b, 0xd1310ba698dfb5ac};
	int64_t head;

	if (!s->batch || s->pos >= s->batch->data.len) {
		int rc = next_batch(s);

		if (rc <= 0)
			return rc;
	}
	read_bytes(s, &head, sizeof(head));
	row->file = s->parts[s->taking].file;
	row->count = s->q.counted ? (uint64_t)head : 1;
	/*
	 * Hashed one after the other: combined directly, small numbers would be equal for many
	 * rows.
	 */
	row->id = (int64_t)hash_add(&seed, hash_add(&seed, 0, row->file), (uint64_t)head);
	for (size_t i = 0; i < s->q.nr; i++)
		read_value(s, &s->values[i]);
	row->values = s->values;
	return 1;
}
