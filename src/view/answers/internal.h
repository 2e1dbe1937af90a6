/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/view/answers: the state of a view's answers. */
#ifndef VIEW_ANSWERS_INTERNAL_H
#define VIEW_ANSWERS_INTERNAL_H

#include <pthread.h>

#include "base/vec.h"
#include "view/answers/answers.h"

#define ANSWERS_FILES	 64 /* as many as a view may have */
#define ANSWERS_SEARCHES 8  /* at once; then the oldest is removed */

/* A name that a printer learns at a time; the text follows. */
struct history_name {
	uint64_t ts;
	int pid;
	uint32_t len;
	char *name;
};

/* Chains of calls as they are before the records of a time. */
struct history_chains {
	uint64_t ts;
	struct event_printer *printer; /* only its stacks are used */
};
void history_chains_free(struct history_chains *c);

/*
 * What a printer learns from all records of a file up to some time. Guarded by the lock of struct
 * answers.
 */
struct view_history {
	pthread_t thread;
	bool started, done;
	uint64_t reached;		      /* everything before this time is known */
	vec_of(struct history_name) names;    /* in the order in which they are learned */
	vec_of(struct history_chains) chains; /* by time */
};

struct answers_file {
	struct answers *answers;
	uint32_t number;
	uint8_t *roles; /* by event index; NULL until needed, then never changed */
	struct view_history history;
};

struct answers {
	struct view *view;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t news;  /* a history has progressed */
	volatile int stop;
	struct answers_file *files[ANSWERS_FILES];
	struct view_search *searches[ANSWERS_SEARCHES];
	uint64_t next_search;
};

/* Made when it is first needed; NULL without memory. */
struct answers_file *answers_file(struct answers *a, uint32_t number);

/* ---- what a search looks for (match.c) ---- */

struct file_match;

/* It does not change while it is in use, and is shared by the search's threads. */
struct search_match {
	struct view *view;
	struct file_match *files; /* by file */
	size_t nr_files;
	char *needle; /* in lower case; NULL: any text */
	size_t needle_len;
	bool limited;		   /* to rows */
	struct spur_error warning; /* about the filter; code 0: none */
};

/* search_match_free() is due in any case. */
int search_match_init(struct search_match *s, struct view *v, const struct view_search_options *o,
		      int64_t *at, struct spur_error *err);
void search_match_free(struct search_match *s);

/* What lanes of a file may skip; NULL: nothing. */
const struct lane_filter *search_match_lane(const struct search_match *s, uint32_t file);

/* Whether the cursor's record is a hit. `line` is used for its text. */
bool search_match_record(const struct search_match *s, struct view_cursor *c, struct buf *line);

/* ---- hits (search.c) ---- */

/*
 * The hits of a slice of time, coded as differences. Marks make it possible to start decoding at
 * every MARK-th hit.
 */
struct search_mark {
	uint64_t ts, offset;
	size_t at; /* in the bytes */
};

struct search_hits {
	uint64_t n;    /* found */
	uint64_t kept; /* of these are in the bytes */
	uint64_t first, last_ts, last_offset;
	uint8_t *bytes;
	size_t len, cap;
	vec_of(struct search_mark) marks;
	bool failed; /* without memory */
};

void search_hits_add(struct search_hits *h, const struct view_record_id *id, bool keep);
void search_hits_free(struct search_hits *h);
/* Frees the hits except for their number. */
void search_hits_forget(struct search_hits *h);
bool search_hits_get(const struct search_hits *h, uint64_t n, struct view_record_id *out);
/* How many stored ones are before a time. */
uint64_t search_hits_before(const struct search_hits *h, uint64_t ts);
void search_hits_bins(const struct search_hits *h, uint64_t since, uint64_t width, uint32_t n,
		      uint64_t *bins);

#endif
