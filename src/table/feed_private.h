/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Private to src/table: the parts of a feed that feed.c and stages.c share. */
#ifndef TABLE_FEED_PRIVATE_H
#define TABLE_FEED_PRIVATE_H

#include "base/vec.h"
#include "table/feed.h"

struct client;
struct row_queue;
struct stages;

/* One analysis: a table's of a buffer. */
struct buffer_analysis {
	struct client *client;
	struct table_source source;
	void *analysis;
};

/* A table and the function that gets its rows. */
struct client {
	const struct table *table;
	struct feed *feed;
	void (*row)(void *arg, const void *row);
	void *arg;
	uint64_t since, until; /* the feed's, but not beside data that change with every record */
	struct buffer_analysis *by_buffer; /* by buffer */
	void **analyses;		   /* theirs */
	bool whole;			   /* it gets all records, in batches */
	bool done;			   /* all wanted rows have come */
	struct row_queue *rows; /* where its rows wait; NULL: they are delivered at once */
	int failed;		/* the error of an analysis of it, for other threads */
};

struct watcher {
	void (*record)(void *arg, struct event *e, const struct spur_record *r);
	void *arg;
};

/* A client that wants the records of an event, with what is needed to give it one. */
struct subscription {
	struct client *client;
	void (*record)(void *analysis, struct event *e, const struct spur_record *r);
	void *const *analyses; /* the client's, once there are */
};

/* The clients that want the records of an event. */
struct subscribers {
	vec_of(struct subscription) clients;
	vec_of(struct watcher) watchers;
};

/* Where the data of a CPU were cut off. */
struct cut {
	const struct lane *lane; /* NULL: clients have been notified */
	uint64_t from;
};

/* What clients are notified of besides records, in order with these. */
struct notice {
	enum notice_kind {
		NOTICE_LOST,
		NOTICE_LOSING,
		NOTICE_CUT,
		NOTICE_EVIDENCE,
		NOTICE_LATE, /* a record of the time `from`, after the range of rows, follows */
	} kind;
	uint32_t buffer, cpu;
	uint64_t from, to;
	struct walk_evidence evidence;
};

struct feed {
	struct spur_trace *trace;
	struct walk walk;
	uint64_t since, until; /* of rows; until 0: to the end */
	vec_of(struct client *) clients;
	struct subscribers *subscribers; /* by the event's index */
	/* Clients of all records, and a watcher, which get them in batches. */
	vec_of(struct client *) whole;
	void (*watch)(void *arg, const struct table_record *all, uint32_t n);
	void *watch_arg;
	struct table_record *batch; /* records that have not been delivered yet; NULL: no batches */
	uint32_t nr_batch;
	struct stages *stages; /* its threads; NULL: there is only the caller's */
	bool rows_apart;
	/* CPUs whose data end where the recording was cut, and the first such time to come. */
	vec_of(struct cut) cuts;
	uint64_t next_cut;
	uint64_t last;	/* time of the last record */
	bool some_done; /* clients */
	bool ended;
	int rc;			  /* the first error, a negative errno */
	struct spur_error failed; /* its message, if it has one */
};

/* ---- feed.c ---- */

/* The error of the functions that get records and rows, see feed_run_until(). */
static inline int feed_failed(const int *failed)
{
	return failed ? __atomic_load_n(failed, __ATOMIC_RELAXED) : 0;
}

/* Makes the analyses of a client. */
int feed_begin_client(struct client *c);

/* Sends a notice to a client. */
void feed_notify(struct client *c, const struct notice *n);

/*
 * Reads one record and delivers it to the clients, or to the stages. False after the last one;
 * feed_end() has been called then, unless there are stages.
 */
bool feed_read(struct feed *f);

/* After the last record: clients return the rows that are still open. */
void feed_end(struct feed *f);

/* ---- stages.c ---- */

/*
 * Makes the stages, NULL without memory; and starts threads, after the feed has its stages. by_all:
 * any thread delivers rows, not only the caller's. Ends when *failed, unless it is NULL, is
 * negative.
 */
struct stages *stages_new(struct feed *f, unsigned int threads);
void stages_start(struct stages *s, unsigned int threads, bool by_all, const int *failed);
/* Waits for the threads. NULL is fine. */
void stages_free(struct stages *s);

/* As feed_step(). */
bool stages_step(struct stages *s);

/* From feed_read(): a record, a notice; whether all clients are done. */
void stages_record(struct stages *s, struct event *e, const struct spur_record *r);
void stages_notify(struct stages *s, const struct notice *n);
bool stages_done(struct stages *s);

/* A row of a client whose rows wait. */
void stages_row(struct client *c, const void *row);

#endif
