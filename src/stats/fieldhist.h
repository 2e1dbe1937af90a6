/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often values of an event's fields occur: `EVENT.field[,field…]`, by further fields.
 *
 * All fields together are a key, as in the kernel's hist triggers, whose modifiers there are, too:
 *
 *	.hex .sym .sym-offset .log2 .buckets=N .usecs .execname .syscall
 *
 * A single number may instead be counted in ranges, by powers of two or a step, with a histogram
 * for each value of the other fields.
 *
 * Memory is bounded: when it is used up, new values are counted as `rest`.
 */
#ifndef STATS_FIELDHIST_H
#define STATS_FIELDHIST_H

#include "base/vec.h"
#include "stats/bars.h"
#include "table/selector.h"

#define HIST_KEYS 8

enum hist_mode {
	HIST_AUTO,  /* values when there are few, texts or names; ranges when there are many */
	HIST_COUNT, /* every value by itself */
	HIST_LOG2,
	HIST_LINEAR,
};

enum hist_as {
	AS_IS,
	AS_HEX,
	AS_SYM,
	AS_SYM_OFFSET,
	AS_LOG2,
	AS_BUCKETS,
	AS_USECS,
	AS_EXECNAME,
	AS_SYSCALL,
};

struct fieldhist_options {
	const char *what;   /* EVENT.field[.modifier][,…] */
	const char *by;	    /* field[.modifier][,…]; NULL: nothing */
	const char *filter; /* an expression; NULL: all */
	enum hist_mode mode;
	int64_t step; /* of HIST_LINEAR */
};

/* A field of the key. */
struct hist_field {
	const char *name; /* not terminated */
	size_t len;
	enum hist_as as;
	int64_t step; /* AS_BUCKETS */
	bool is_text;
	bool is_signed;
	bool is_id; /* a number whose size has no meaning: pids, CPUs, flags, names */
};

struct hist_value {
	char *text;	/* owned; a text, or the name of the number; NULL: neither */
	int64_t number; /* the start of a range */
};

struct hist_entry {
	struct hist_entry *next; /* of the same hash */
	uint64_t hash, count;
	struct hist_value values[];
};

struct fieldhist {
	struct fieldhist_options opt;
	struct selector_text event;	     /* and the filter */
	struct hist_field fields[HIST_KEYS]; /* those of `by` first */
	unsigned int nr_by, nr;
	enum hist_mode mode; /* never HIST_AUTO after fieldhist_finish() */
	int64_t step;
	vec_of(struct hist_entry *) entries;
	uint64_t total, rest; /* records counted, and of these those without memory */
	uint64_t missing;     /* records that do not have one of the fields */
	struct fieldhist_run *run;
	int rc;
};

/* Parses the options' texts. Call fieldhist_free() in any case. */
int fieldhist_init(struct fieldhist *h, const struct fieldhist_options *opt,
		   struct spur_error *err);
void fieldhist_free(struct fieldhist *h);

/* Counts the records of a trace for which wanted() is true; it may be NULL. -EINTR after a stop. */
int fieldhist_trace(struct fieldhist *h, struct spur_trace *t, const struct walk_options *walk,
		    bool (*wanted)(void *arg, const struct spur_record *r,
				   struct comm_times *comms),
		    void *arg, struct spur_error *err);

/* To be called after counting: chooses ranges, and sorts entries by count or by value. */
int fieldhist_finish(struct fieldhist *h, bool by_value, struct spur_error *err);

/* Appends a value as it is shown. */
void fieldhist_put(const struct fieldhist *h, unsigned int field, const struct hist_value *v,
		   struct buf *to);

/* Whether entries are the ranges of a histogram; those of one then stand together. */
static inline bool fieldhist_is_ranges(const struct fieldhist *h)
{
	return h->mode == HIST_LOG2 || h->mode == HIST_LINEAR;
}

/* The histogram that begins with an entry, and where the next one begins. False without memory. */
bool fieldhist_bars(const struct fieldhist *h, size_t first, size_t *next, struct bars *bars);

/*
 * For counts that the kernel made (measure/fieldhist_live.c): forgets all entries; counts these
 * values, whose texts are then the entry's.
 */
void fieldhist_clear(struct fieldhist *h);
void fieldhist_count(struct fieldhist *h, struct hist_value *values, uint64_t count);
void fieldhist_free_values(const struct fieldhist *h, struct hist_value *values);
/* Whether it is a number whose size has no meaning, by its type and name. */
bool fieldhist_is_id(const struct event_field *f);

#endif
