/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to src/view/answers: what is kept for a view. */
#ifndef VIEW_ANSWERS_INTERNAL_H
#define VIEW_ANSWERS_INTERNAL_H

#include <pthread.h>

#include "view/answers/answers.h"

#define ASK_FILES    64 /* as many as a view may have */
#define ASK_SEARCHES 8	/* at once; the oldest goes */

/* A name that a printer learns at a time; the text follows. */
struct ask_name {
	uint64_t ts;
	int pid;
	uint32_t len;
	char *name;
};

/* Chains of calls as they are before the records of a time. */
struct ask_chains {
	uint64_t ts;
	struct event_printer *printer; /* nothing but its stacks is used */
};

/* What printing all of a file up to some time would have taught. Guarded by the ask's lock. */
struct ask_history {
	pthread_t thread;
	bool started, done;
	uint64_t reached; /* all before this time is known */
	struct {
		struct ask_name *at;
		size_t n, cap;
	} names; /* in the order in which they are learned */
	struct {
		struct ask_chains *at;
		size_t n, cap;
	} chains; /* by time */
};

struct ask_file {
	struct ask *ask;
	uint32_t number;
	uint8_t *roles; /* by event index; NULL until needed, then never changed */
	struct ask_history history;
};

struct ask {
	struct view *view;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t news;  /* histories have got on */
	volatile int stop;
	struct ask_file *files[ASK_FILES];
	struct ask_search *searches[ASK_SEARCHES];
	uint64_t next_search;
};

/* Made when it is first asked for; NULL without memory. */
struct ask_file *ask_file(struct ask *a, uint32_t number);

/* ---- what a search looks for (match.c) ---- */

struct file_wanted;

/* It does not change while it is in use, and is shared by the search's threads. */
struct ask_wanted {
	struct view *view;
	struct file_wanted *files; /* by file */
	size_t nr_files;
	char *needle; /* in lower case; NULL: any text */
	size_t needle_len;
	bool limited;		   /* to rows */
	struct spur_error warning; /* about the filter; code 0: none */
};

/* ask_wanted_free() is due in any case. */
int ask_wanted_init(struct ask_wanted *s, struct view *v, const struct ask_search_options *o,
		    int64_t *at, struct spur_error *err);
void ask_wanted_free(struct ask_wanted *s);

/* What lanes of a file may pass over; NULL: nothing. */
const struct lane_filter *ask_wanted_lane(const struct ask_wanted *s, uint32_t file);

/* Whether the record that a cursor stands on is a hit. `line` is for its text. */
bool ask_wanted_record(const struct ask_wanted *s, struct ask_cursor *c, struct buf *line);

/* ---- hits (search.c) ---- */

/* The hits of a slice of time, coded as differences; every so many one can be found at once. */
struct ask_mark {
	uint64_t ts, offset;
	size_t at; /* in the bytes */
};

struct ask_hits {
	uint64_t n;    /* found */
	uint64_t kept; /* of these are in the bytes */
	uint64_t first, last_ts, last_offset;
	uint8_t *bytes;
	size_t len, cap;
	struct {
		struct ask_mark *at;
		size_t n, cap;
	} marks;
	bool failed; /* without memory */
};

void ask_hits_add(struct ask_hits *h, const struct ask_id *id, bool keep);
void ask_hits_free(struct ask_hits *h);
/* Keeps nothing but how many they are. */
void ask_hits_forget(struct ask_hits *h);
bool ask_hits_get(const struct ask_hits *h, uint64_t n, struct ask_id *out);
/* How many kept ones are before a time. */
uint64_t ask_hits_before(const struct ask_hits *h, uint64_t ts);
void ask_hits_bins(const struct ask_hits *h, uint64_t since, uint64_t width, uint32_t n,
		   uint64_t *bins);
size_t ask_hits_size(const struct ask_hits *h);

#endif
