/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the answers of a view share: reading the records of all its files as one sequence, what
 * earlier records say about later ones, searches, and nested calls.
 *
 * Records are numbered in the order in which `spur report` shows them: by time, those of equal
 * times by file and CPU. Times here are on the trace's time line; answers make them relative to the
 * view's origin.
 *
 * All threads share the state of a view; a cursor belongs to one thread.
 *
 * Private to src/view.
 */
#ifndef VIEW_ANSWERS_ANSWERS_H
#define VIEW_ANSWERS_ANSWERS_H

#include "base/map.h"
#include "report/emit.h"
#include "view/view.h"

struct answers;

/* NULL without memory. answers_free() stops searches and other threads. */
struct answers *answers_new(struct view *v);
void answers_free(struct answers *a);

/* ---- texts of answers ---- */

/*
 * A text in a buffer that all texts of an answer share. It is NUL-terminated, and may contain NULs.
 */
struct view_text {
	uint32_t at, len;
};

/* An empty text if the buffer is full. */
struct view_text view_text_add(struct buf *texts, const char *text, size_t len);

/* The same for what was printed into the buffer since it had that length. */
struct view_text view_text_since(struct buf *texts, size_t from);

static inline const char *view_text(const struct buf *texts, struct view_text t)
{
	return t.len ? texts->data + t.at : "";
}

/* ---- numbers of records ---- */

/* How many records all files have, as far as they are indexed. */
uint64_t view_record_count(struct view *v);

/*
 * Finds a time at which the first record is number n or one shortly before it, and the number of
 * that record. -EAGAIN, with a message, if that is not indexed yet.
 */
int view_record_seek(struct view *v, uint64_t n, uint64_t *first, uint64_t *ts,
		     struct spur_error *err);

/* The number of the first record at or after a time. */
int view_record_ordinal(struct view *v, uint64_t ts, uint64_t *n, struct spur_error *err);

/* The view's row of a task, -1: it has none. */
int64_t view_task_row(struct view *v, uint32_t file, uint32_t buffer, int64_t pid);

/* The row of a CPU, -1: none. */
int64_t view_cpu_row(struct view *v, uint32_t file, uint32_t buffer, uint32_t cpu);

/*
 * A set of rows of one file, to check whether a record is in one. The values in the maps have no
 * meaning.
 */
struct row_set {
	struct map cpus, tasks; /* (buffer, number) */
};

/* 0 or -ENOMEM. Rows of counters have no records. */
int row_set_add(struct row_set *s, const struct view_row *r);
void row_set_free(struct row_set *s);
bool row_set_have_cpu(const struct row_set *s, uint32_t buffer, uint32_t cpu);
bool row_set_have_task(const struct row_set *s, uint32_t buffer, int64_t pid);

/* ---- all records, merged ---- */

/* A buffer of a file. */
struct view_source {
	struct emit_source emit;
	uint32_t file;
};

/* The buffers of all files in the order in which they are merged. */
struct view_sources {
	struct view *view;
	struct view_source *at;
	size_t n, cap;
	struct spur_trace **traces;
	size_t nr_traces;
};

int view_sources_init(struct view_sources *s, struct view *v);
void view_sources_free(struct view_sources *s);
/* For slicer_init(), too: adds the lanes of all sources. */
int view_sources_lanes(const void *sources, struct scan *m);

/* The identity of a record, which does not depend on how it is read. */
struct view_record_id {
	uint64_t ts;
	uint64_t offset; /* as of struct spur_record */
	uint32_t lane;
};

/* Whether both are the same record. */
static inline bool view_record_is(const struct view_record_id *a, const struct view_record_id *b)
{
	return a->ts == b->ts && a->lane == b->lane && a->offset == b->offset;
}

struct view_fold {
	const struct trace_buffer *buffer;
	uint64_t offset;
	uint32_t cpu;
	bool valid;
};

struct view_cursor {
	struct view *view;
	const struct view_sources *sources;
	struct view_sources own;
	const volatile int *stop;
	struct scan scan;
	struct emit_options options;
	struct emitter emitter;
	const struct view_source **lanes; /* where each comes from */
	struct view_fold *folds;       /* by source: a record that is shown with the previous one */
	struct view_fold peeked;       /* the last one that a printer has looked at */
	uint64_t start;		       /* it reads from this time on */
	uint64_t next;		       /* number of the next record, … */
	bool numbered;		       /* … if that is known */
	const struct spur_record *rec; /* the current record, … */
	struct event *event;	       /* … its type, NULL: not known, … */
	const struct view_source *from; /* … its source, … */
	struct view_record_id id;	/* … its identity … */
	uint64_t n;			/* … and its number */
	bool folded;			/* it is shown with the previous record */
	bool informed;			/* its printers have the state of all earlier records */
	bool doubtful;			/* some text may be wrong, because they did not have it */
	struct buf scratch;
};

/* `sources` NULL: those that the view has now. Call view_cursor_close() in any case. */
int view_cursor_open(struct view_cursor *c, struct view *v, const struct view_sources *sources,
		     const volatile int *stop, struct spur_error *err);
void view_cursor_close(struct view_cursor *c);

/* Only lanes of this buffer, and of this CPU unless it is -1; before anything is read. */
void view_cursor_only(struct view_cursor *c, uint32_t file, uint32_t buffer, int64_t cpu);

/* Moves before the first record at or after a time; counts numbers if `numbered`. */
int view_cursor_to_time(struct view_cursor *c, uint64_t ts, bool numbered, struct spur_error *err);

/* Moves before a record, by its number, or after the last one. */
int view_cursor_to(struct view_cursor *c, uint64_t n, struct spur_error *err);

/* The next record; false at the end or after a stop. */
bool view_cursor_next(struct view_cursor *c);

/*
 * Moves to one record; false if it does not exist. Reads on over short distances, and seeks over
 * long ones.
 */
bool view_cursor_find(struct view_cursor *c, const struct view_record_id *id);

/* Whether text since it was opened depends on earlier records that have not been read yet. */
bool view_cursor_doubtful(const struct view_cursor *c);

/* Appends the text of the record it stands on, as the report shows it: nothing if it is folded. */
void view_cursor_text(struct view_cursor *c, struct buf *out);

/* The record's printer and pid, and the name of a task as the report shows it here. */
struct event_printer *view_cursor_printer(struct view_cursor *c);
int view_cursor_pid(const struct view_cursor *c);
const char *view_cursor_comm(struct view_cursor *c, int pid, size_t *len);

/* ---- what was learned before a place (history.c) ---- */

/* What a printer learns from an event. */
enum view_role {
	ROLE_NAMES = 1,	 /* learns names of tasks */
	ROLE_CHAINS = 2, /* follows calls, to indent lines */
	ROLE_GRAPH = 4,	 /* looks at the next record */
};

/* By the event's index; NULL without memory. */
const uint8_t *view_roles(struct view *v, uint32_t file);

/*
 * Gives the printers of a cursor, before it has read anything, the state that they would have after
 * printing all earlier records. False if it is not known yet.
 */
bool view_history_give(struct view_cursor *c);

/* Whether the text so far depends on earlier records. */
bool view_history_matters(const struct view_cursor *c);
/* Whether it depends on names of tasks in earlier records. */
bool view_history_names_matter(const struct view_cursor *c);

/*
 * Starts reading, and waits for at most so many milliseconds. Returns whether the state up to a
 * time is known.
 */
bool view_history_wait(struct view_cursor *c, uint64_t ts, int ms);

/* Waits for all names of the trace and gives them to the cursor. False after a stop. */
bool view_history_names(struct view_cursor *c);

/* ---- wakeups ---- */

struct view_wakeup {
	uint64_t ts;
	int64_t pid;   /* woken */
	int64_t waker; /* pid */
	uint32_t cpu;  /* it happened on */
	uint32_t file, buffer;
	bool in_interrupt; /* not by the task that ran */
};

/* The wakeup of a task at exactly this time; false: there is no record of it. */
bool view_wakeup_at(struct view *v, uint32_t file, uint32_t buffer, int64_t pid, uint64_t ts,
		    const volatile int *stop, struct view_wakeup *out);

/*
 * All wakeups in [since, until) on a CPU (-1: all) by a task (-1: any). take() returns false to
 * stop.
 */
int view_wakeups(struct view *v, uint32_t file, uint32_t buffer, int64_t cpu, int64_t waker,
		 uint64_t since, uint64_t until, const volatile int *stop,
		 bool (*take)(void *arg, const struct view_wakeup *w), void *arg);

/* ---- intervals within intervals (nested.c) ---- */

struct nested_frame {
	uint64_t start, end;	     /* cut to the range */
	uint64_t inner;		     /* time in what it contains, … */
	uint64_t inner_until;	     /* … counted up to this time */
	uint64_t whole;		     /* its whole duration; 0 unless it is counted here */
	uint32_t name;		     /* in the file's index */
	bool counted;		     /* it is counted here, for the first time */
	bool recursive;		     /* it is within another of the same name */
	struct nested_frame *parent; /* NULL: none */
	void *data;		     /* the user's: set by enter(), NULL without */
};

struct view_nested {
	/*
	 * Called for each interval; those of inner intervals come between those of the outer one.
	 * enter may be NULL.
	 */
	void (*enter)(void *arg, struct nested_frame *f);
	void (*leave)(void *arg, struct nested_frame *f);
	void *arg;
	const volatile int *stop;
};

/* The intervals of all tracks of a kind of a row of the view in [since, until), relative times. */
int view_nested(struct view *v, uint32_t row, enum view_track_kind kind, uint64_t since,
		uint64_t until, const struct view_nested *n);

/* ---- searches (search.c) ---- */

struct view_search;

struct view_search_options {
	const char *filter;   /* as of `report -F`; NULL or "": every record */
	const char *text;     /* that must be in the line, case ignored; NULL or "": any */
	const uint32_t *rows; /* of the view, sorted; of which records are wanted */
	size_t nr_rows;	      /* 0: all */
};

struct view_search_state {
	double done;	     /* 0…1 */
	uint64_t hits;	     /* found */
	uint64_t kept;	     /* of these, how many can be shown */
	bool truncated;	     /* there were more than can be stored */
	const char *warning; /* about its filter, NULL: none; stays as long as the search */
};

/*
 * Starts a search; if there are too many, the oldest one ends. Returns its number, or a negative
 * errno; *at is the position of an error in the filter, or -1.
 */
int64_t view_search_start(struct view *v, const struct view_search_options *o, int64_t *at,
			  struct spur_error *err);
/* Ends and removes it; false if it does not exist. */
bool view_search_drop(struct view *v, uint64_t id);

/*
 * A search by its number, to be released by view_search_put(); NULL if it does not exist (any
 * more).
 */
struct view_search *view_search_get(struct view *v, uint64_t id);
void view_search_put(struct view_search *s);

void view_search_state(struct view_search *s, struct view_search_state *out);
const struct view_sources *view_search_sources(const struct view_search *s);
/* The hit with that number. */
bool view_search_hit(struct view_search *s, uint64_t hit, struct view_record_id *out);
/* The number of one of its records among all records; false: that is not known yet. */
bool view_search_number(struct view_search *s, const struct view_record_id *id,
			const volatile int *stop, uint64_t *n);
/* The number of the first hit at or after a time, or the number of hits if there is none. */
uint64_t view_search_at(struct view_search *s, uint64_t ts);
/* How many hits are in each of n bins of a width from a time on. */
void view_search_bins(struct view_search *s, uint64_t since, uint64_t width, uint32_t n,
		      uint64_t *bins);

#endif
