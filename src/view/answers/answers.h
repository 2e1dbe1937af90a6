/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the answers of a view share: reading the records of all its files as one sequence, what has
 * been learned on the way, searches, and calls within calls.
 *
 * Records are numbered through in the order in which `spur report` shows them: by time, those of
 * equal times by file and CPU. Times here are on the trace's time line; answers make them relative
 * to the view's origin.
 *
 * What is kept for a view is shared by all threads; a cursor belongs to one.
 */
#ifndef VIEW_ANSWERS_ANSWERS_H
#define VIEW_ANSWERS_ANSWERS_H

#include "base/map.h"
#include "report/emit.h"
#include "view/view.h"

struct answers;

/* NULL without memory. answers_free() stops searches and all else that still runs. */
struct answers *answers_new(struct view *v);
void answers_free(struct answers *a);

/* ---- texts of answers ---- */

/* A text in a buffer that all texts of an answer share. It ends with a NUL, and may have others. */
struct view_text {
	uint32_t at, len;
};

/* An empty text when the buffer is full. */
struct view_text view_text_add(struct buf *texts, const char *text, size_t len);

static inline const char *view_text(const struct buf *texts, struct view_text t)
{
	return t.len ? texts->data + t.at : "";
}

/* ---- numbers of records ---- */

/* How many records all files have, as far as they are indexed. */
uint64_t view_record_count(struct view *v);

/*
 * A time at which the record number n, or one shortly before it, is the first; that one's number.
 * -EAGAIN: it is not known yet; err says so.
 */
int view_record_seek(struct view *v, uint64_t n, uint64_t *first, uint64_t *ts,
		     struct spur_error *err);

/* The number of the first record at or after a time. */
int view_record_ordinal(struct view *v, uint64_t ts, uint64_t *n, struct spur_error *err);

/* The view's row of a task, -1: it has none. */
int64_t view_task_row(struct view *v, uint32_t file, uint32_t buffer, int64_t pid);

/* The row of a CPU, -1: none. */
int64_t view_cpu_row(struct view *v, uint32_t file, uint32_t buffer, uint32_t cpu);

/* Rows of one file, to be asked whether a record is in one: the values of the maps say nothing. */
struct row_set {
	struct map cpus, tasks; /* (buffer, number) */
};

/* 0 or -ENOMEM. Rows of counters have no records. */
int row_set_add(struct row_set *s, const struct view_row *r);
void row_set_free(struct row_set *s);
bool row_set_have_cpu(const struct row_set *s, uint32_t buffer, uint32_t cpu);
bool row_set_have_task(const struct row_set *s, uint32_t buffer, int64_t pid);

/* ---- all records, merged ---- */

/* Where a lane comes from. */
struct view_lane {
	const struct emit_source *source;
	uint32_t file;
};

/* The buffers of all files in the order in which they are merged. */
struct view_sources {
	struct view *view;
	struct emit_source *at;
	uint32_t *files; /* by source */
	size_t n;
	struct spur_trace **traces;
	size_t nr_traces;
};

int view_sources_init(struct view_sources *s, struct view *v);
void view_sources_free(struct view_sources *s);
/* For slicer_init(), too: adds the lanes of all sources. */
int view_sources_lanes(const void *sources, struct scan *m);
/* Where each lane of such a merge comes from; NULL without memory. */
struct view_lane *view_sources_map(const struct view_sources *s, const struct scan *m);

/* Which record one is: what stays the same however it is read. */
struct view_record_id {
	uint64_t ts;
	uint64_t offset; /* as of struct spur_record */
	uint32_t lane;
};

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
	struct view_lane *lanes;       /* by lane */
	struct view_fold *folds;       /* by source: a record that the one before it has shown */
	struct view_fold peeked;       /* the one a printer has looked at last */
	uint64_t start;		       /* time from which on it reads */
	uint64_t next;		       /* number of the record that comes next, … */
	bool numbered;		       /* … if that is known */
	const struct spur_record *rec; /* the record it stands on, … */
	struct event *event;	       /* … its type, NULL: not known, … */
	const struct view_lane *from;  /* … where it comes from, … */
	struct view_record_id id;      /* … which one it is … */
	uint64_t n;		       /* … and its number */
	bool folded;		       /* it is shown with the one before it */
	bool informed;		       /* its printers know all that came before the start */
	bool doubtful;		       /* some text may be another one, as they did not */
	struct buf scratch;
};

/* `sources` NULL: those the view has now. view_cursor_close() is due in any case. */
int view_cursor_open(struct view_cursor *c, struct view *v, const struct view_sources *sources,
		     const volatile int *stop, struct spur_error *err);
void view_cursor_close(struct view_cursor *c);

/* Only lanes of this buffer, and of this CPU unless it is -1; before anything is read. */
void view_cursor_only(struct view_cursor *c, uint32_t file, uint32_t buffer, int64_t cpu);

/* Before the first record at or after a time; numbered when asked to be. */
int view_cursor_to_time(struct view_cursor *c, uint64_t ts, bool numbered, struct spur_error *err);

/* Before a record by its number, or after the last one; text depends on what came before it. */
int view_cursor_to(struct view_cursor *c, uint64_t n, struct spur_error *err);

/* The next record; false at the end or after a stop. */
bool view_cursor_next(struct view_cursor *c);

/* Onto one record; false: it is not there. Short ways forward are read, far ones sought. */
bool view_cursor_find(struct view_cursor *c, const struct view_record_id *id);

/* Whether text that it gave since it was opened depends on records that have not been read yet. */
bool view_cursor_doubtful(const struct view_cursor *c);

/* Appends the text of the record it stands on, as the report shows it: nothing if it is folded. */
void view_cursor_text(struct view_cursor *c, struct buf *out);

/* The record's printer and pid, and the name of a task as the report knows it at this place. */
struct event_printer *view_cursor_printer(struct view_cursor *c);
int view_cursor_pid(const struct view_cursor *c);
const char *view_cursor_comm(struct view_cursor *c, int pid, size_t *len);

/* ---- what was learned before a place (history.c) ---- */

/* What a printer does with an event besides printing it. */
enum view_role {
	ROLE_NAMES = 1,	 /* learns names of tasks */
	ROLE_CHAINS = 2, /* follows calls, by which lines are indented */
	ROLE_GRAPH = 4,	 /* looks at the record that follows */
};

/* By the event's index; NULL without memory. */
const uint8_t *view_roles(struct view *v, uint32_t file);

/*
 * Gives a cursor that stands at its start, with nothing read yet, what its printers would know had
 * they printed all before. False: that is not known yet.
 */
bool view_history_give(struct view_cursor *c);

/* Whether what was printed so far depends on what came before. */
bool view_history_matters(const struct view_cursor *c);

/* Starts to find out, and waits for at most so long; whether it is known up to a time. */
bool view_history_wait(struct view_cursor *c, uint64_t ts, int ms);

/* All names that are learned anywhere; waits for them. False after a stop. */
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
	uint64_t start, end;  /* cut to the range */
	uint64_t inner;	      /* time in what it contains, … */
	uint64_t inner_until; /* … counted up to this time */
	uint64_t whole;	      /* how long it was, not cut; 0 unless this is where it is counted */
	uint32_t name;	      /* in the file's index */
	bool counted;	      /* it has not been counted before */
	bool recursive;	      /* it is within another of the same name */
	struct nested_frame *parent; /* NULL: none */
	void *data;		     /* the user's: set by enter(), NULL without */
};

struct view_nested {
	/* Called for each interval, for inner ones between the outer one's. enter may be NULL. */
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
	uint64_t kept;	     /* of these can be shown */
	bool truncated;	     /* there were more than are kept */
	const char *warning; /* about its filter, NULL: none; stays as long as the search */
};

/*
 * Starts a search; the oldest one ends when there are too many. Its number, or a negative errno;
 * *at is where the filter is wrong, -1: nowhere.
 */
int64_t view_search_start(struct view *v, const struct view_search_options *o, int64_t *at,
			  struct spur_error *err);
/* Ends and forgets it; false: there is none. */
bool view_search_drop(struct view *v, uint64_t id);

/* A search by its number, to be put back; NULL: there is none (any more). */
struct view_search *view_search_get(struct view *v, uint64_t id);
void view_search_put(struct view_search *s);

void view_search_state(struct view_search *s, struct view_search_state *out);
const struct view_sources *view_search_sources(const struct view_search *s);
/* The hit of that number. */
bool view_search_hit(struct view_search *s, uint64_t hit, struct view_record_id *out);
/* The number of the first hit at or after a time; how many there are when none is. */
uint64_t view_search_at(struct view_search *s, uint64_t ts);
/* How many hits are in each of n bins of a width from a time on. */
void view_search_bins(struct view_search *s, uint64_t since, uint64_t width, uint32_t n,
		      uint64_t *bins);

#endif
