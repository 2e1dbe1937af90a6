/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tracks: the intervals of one kind of a row, and reading them.
 *
 * Intervals are coded as a value, how long they last, and the gap to the one before: five or six
 * bytes. Ticks are records; those of a CPU are not stored but read from the trace again.
 *
 * Invariant: an interval never begins before the end of the previous one. Intervals that overlap
 * are cut.
 *
 * Private to src/view.
 */
#ifndef VIEW_INDEX_TRACKS_H
#define VIEW_INDEX_TRACKS_H

#include <pthread.h>

#include "base/vec.h"
#include "view/index/levels.h"

#define TRACK_PLAIN 1024 /* intervals of a track that needs no levels */

struct track;
struct event_types; /* of events */
struct ticks;	    /* the records of a CPU */

/*
 * Builds tracks. Other threads read them meanwhile: until the tracks are done, a thread that builds
 * or reads them holds the lock.
 */
struct builder {
	pthread_mutex_t lock;
	int waiting; /* readers, who go first */
	int done;    /* the tracks do not change any more */
	vec_of(struct track *) tracks;
	uint64_t until; /* everything before it is complete, if known */
};

struct track {
	struct builder *builder;
	uint32_t row;
	struct view_track about;
	uint64_t n;
	uint64_t end;  /* of the last one */
	uint64_t busy; /* how long all of them last; through __atomic builtins */
	struct sequence seq;
	/* The block in the making: of VIEW_EVENTS ticks, of others intervals. */
	union {
		struct view_interval *intervals;
		struct tick *ticks;
	} tail;
	uint32_t items, cap;
	struct levels *levels;		 /* NULL: there are too few to need them */
	const struct event_types *types; /* of VIEW_EVENTS */
	struct ticks *ticks;		 /* where they are read from; NULL: they are stored */
};

void builder_init(struct builder *m);
void builder_free(struct builder *m); /* with its tracks */

/* Locks for changing tracks; and for reading them, which costs nothing when they are done. */
void builder_begin(struct builder *m);
void builder_end(struct builder *m);
bool builder_enter(struct builder *m);
void builder_leave(struct builder *m, bool entered);

/* After the last interval: finishes the levels. False without memory. */
bool builder_finish(struct builder *m, struct store *store);

/* To be called after builder_begin(). NULL without memory. */
struct track *track_new(struct builder *m, uint32_t row, enum view_track_kind kind, uint32_t depth);

/* False without memory. Times may be any, and are cut. */
bool track_add(struct track *t, struct store *store, struct view_interval i);

/* Records of a task, in order. */
bool track_add_ticks(struct track *t, struct store *store, const struct tick *at, uint32_t n);

/* ---- reading ---- */

/*
 * As view_index_tile(), view_index_interval() and view_index_each(); the builder has been entered.
 * Bins may be asked for although there are few intervals.
 */
int track_tile(const struct track *t, struct store *store, uint32_t level, uint64_t tile, bool bins,
	       struct view_tile *out);
bool track_at(const struct track *t, struct store *store, uint64_t ts, int dir,
	      struct view_interval *out);
int track_each(const struct track *t, struct store *store, uint64_t since, uint64_t until,
	       bool (*take)(void *arg, const struct view_interval *i), void *arg);

#endif
