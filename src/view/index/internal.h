/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/view/index: what the parts of the index share.
 *
 *	builder		builds tracks from some tables, or from all records; one thread at a time
 *	collector	feeds a builder with rows of tables. Rows are handed on in loads, so that
 *			another thread can put them into their tracks
 *	counts		the builder of ticks: counts all records and notes where they are
 */
#ifndef VIEW_INDEX_INTERNAL_H
#define VIEW_INDEX_INTERNAL_H

#include <pthread.h>

#include "table/table.h"
#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/slots.h"
#include "base/vec.h"
#include "scan/trace.h"
#include "view/index/index.h"
#include "view/index/ticks.h"
#include "view/index/tracks.h"

#define MOST_THREADS 8
#define ROWS_LIMIT   ((size_t)1 << 30) /* bytes of what is stored for rows */
#define MOST_ROWS    (1u << 20)	       /* each takes about a kilobyte */

/* ---- rows and names ---- */

struct row {
	struct view_row about; /* events, busy, first, last: only through __atomic builtins */
	struct track **tracks; /* by the number of the track */
	uint32_t cap;
};

/* Guarded by its lock; what rows point to stays. */
struct row_list {
	pthread_mutex_t lock;
	vec_of(struct row *) rows;
	struct map
		by[VIEW_COUNTER_ROW + 1]; /* row + 1 of each kind, by a hash of buffer and number */
	struct map groups;		  /* process, by a hash of a thread's number */
	struct hash_seed seed;
	struct arena arena;
	struct intern texts;
	vec_of(const char *) names;
	struct map numbers; /* of names, + 1, by the address of their text */
};

void row_list_init(struct row_list *l);
void row_list_free(struct row_list *l);

/*
 * The number of the row of a CPU, or a pid; a buffer's counter has the number 0. It is made if it
 * does not exist; UINT32_MAX without memory.
 */
uint32_t row_of(struct row_list *l, enum view_row_kind kind, uint32_t buffer, int64_t number);
/* -1: there is none. */
int64_t row_find(struct row_list *l, enum view_row_kind kind, uint32_t buffer, int64_t number);

struct row *row_get(struct row_list *l, uint32_t row);

/* Sets the name of a task from now on, if it differs. */
void row_rename(struct row_list *l, uint32_t row, const char *name);

/*
 * Sets the process of a thread, in all buffers; false without memory. Existing rows get it by
 * row_groups_apply().
 */
bool row_group(struct row_list *l, uint32_t pid, uint32_t group);
void row_groups_apply(struct row_list *l);

/* Makes a track of a row; after builder_begin(). NULL without memory. */
struct track *row_new_track(struct row_list *l, struct builder *m, uint32_t row,
			    enum view_track_kind kind, uint32_t depth);

/* The number of a name; VIEW_NO_NAME when there is none, or without memory. */
uint32_t name_number(struct row_list *l, const char *name);

/* The key of a CPU or task of a buffer in slots (base/slots.h). */
static inline uint64_t key_of(uint32_t buffer, int64_t number)
{
	return (uint64_t)buffer << 32 | (uint32_t)number;
}

/* ---- the index ---- */

/* A number of records that lie before a time. */
struct record_place {
	uint64_t ts;
	uint64_t n;
};

struct collector;

/* What a page says about the time from it to the next sampled one. */
struct sample {
	uint64_t ts;
	uint64_t records; /* that there may be until the next one */
	uint32_t task;	  /* row of who runs most */
	uint32_t mask;	  /* classes of events */
	double busy;	  /* how much of the time any task runs */
};

/* Of a CPU; does not change any more once it can be seen. */
struct samples {
	struct sample *at; /* by increasing time; the last one is the end */
	size_t n, cap;
};

enum { BUILT_OF_RECORDS, BUILT_OF_STATES, BUILT_OF_SPANS, BUILT_OF_CALLS, NR_BUILDERS };

struct view_index {
	struct spur_trace *trace;
	char *cache; /* folder, or NULL */
	uint32_t nr_threads;
	uint64_t origin;
	uint64_t duration; /* this and the next three only through __atomic builtins */
	uint64_t records;
	uint64_t generation;
	uint64_t progress[NR_BUILDERS]; /* of 1000 */
	volatile int stop;

	struct store store;
	struct row_list rows;
	struct builder builders[NR_BUILDERS];
	struct event_types types;	    /* guarded by the builder of records, as are … */
	vec_of(struct record_place) places; /* by increasing time and number */
	struct {
		struct cpu_ticks {
			struct ticks *ticks;
			struct track *track;
		} * at; /* of every CPU's row, in the order of merging */
		size_t n, cap;
	} ticks;

	struct collector *collectors[NR_BUILDERS]; /* or NULL; through __atomic builtins, as … */
	struct samples *samples; /* … of CPUs, by their place in `ticks`; or NULL */

	pthread_mutex_t lock;	/* guards what follows */
	pthread_cond_t changed; /* the generation, or what a thread waits for */
	struct index_job {
		struct view_index *x;
		void (*run)(struct view_index *x);
		pthread_t thread;
	} jobs[MOST_THREADS];
	uint32_t nr_started, running; /* threads */
	bool sampled, counted;	      /* the first picture is there; all records are */
	uint64_t last_change;	      /* of the generation, when it was */
	struct spur_error err;
};

/* Makes an index with only the rows of CPUs. NULL with a message in err. */
struct view_index *index_new(struct spur_trace *t, const struct view_index_options *opt,
			     struct spur_error *err);

static inline bool index_stopped(const struct view_index *x)
{
	return __atomic_load_n(&x->stop, __ATOMIC_RELAXED);
}

/* The first failure counts, and ends the building. */
void index_fail(struct view_index *x, int code);

/* There are new data: increases the generation. */
void index_changed(struct view_index *x);

void index_progress(struct view_index *x, unsigned int builder, uint64_t done, uint64_t total);

/* A time of the trace in the index. */
static inline uint64_t index_time(const struct view_index *x, uint64_t ts)
{
	return ticks_time(ts, x->origin, 0);
}

/* The last record is at or after this time. */
void index_reach(struct view_index *x, uint64_t ts);

/* Does work that other threads wait for, if there is any, but none of this collector. */
bool index_help(struct view_index *x, const struct collector *but);

/* Whether a table may have rows, by the counts so far. */
bool index_has_rows(struct view_index *x, const struct table *t);
/* The same of an event. */
bool index_has_event(struct view_index *x, const char *system, const char *name);

/* ---- collect.c ---- */

/* Makes a collector that walks the trace for the tables of a builder; NULL without memory. */
struct collector *collector_new(struct view_index *x, unsigned int number);
void collector_free(struct collector *g);

/* Runs to the end of the trace. Other threads may help. */
void collector_run(struct collector *g);

/* Adds some waiting loads to their tracks; false if there are none, or another thread does it. */
bool collector_help(struct collector *g);

/* ---- counts.c ---- */

/* Counts all records. */
void counts_run(struct view_index *x);

/* Makes the rows of CPUs and finds when the first record was. 0 or a negative errno. */
int counts_prepare(struct view_index *x);

/* How many records there are between two times. */
int counts_between(struct view_index *x, uint64_t since, uint64_t until, uint64_t *n);

/* ---- samples.c: the first picture, of some pages of each CPU, before everything is read ---- */

void samples_take(struct view_index *x);

/* Adds bins from a time on, or to the last one, to those of a tile. */
int samples_fill(const struct samples *s, enum view_track_kind kind, uint64_t from, uint32_t level,
		 uint64_t tile, struct view_tile *out);

/* ---- processes.c ---- */

/* Finds which tasks are threads of the same process; to be called after records were counted. */
void processes_find(struct view_index *x);

/* ---- cache.c ---- */

/*
 * Reads a stored index into a prepared one. 1, 0 if there is none, negative if it is invalid and
 * the index must be prepared again.
 */
int cache_read(struct view_index *x);
/* Stores a finished index, if possible; a failure is not reported. */
void cache_write(struct view_index *x);
/* Removes the stored index, because its content is wrong. */
void cache_drop(const struct view_index *x);

#endif
