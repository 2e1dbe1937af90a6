/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Walking a trace for an analysis: the records of the wanted event types, merged by time, within a
 * range of time, of some CPUs; and where records have been lost. Pages outside the range and CPUs
 * that are not wanted are not read.
 */
#ifndef TABLE_WALK_H
#define TABLE_WALK_H

#include "scan/scan.h"

struct walk_options {
	uint64_t since; /* 0: from the start */
	uint64_t until; /* inclusive; 0: to the end */
	/*
	 * Pages that begin after this time are not read. Without this limit, a walk that wants no
	 * record of them would read all of them to find none. 0: all are read.
	 */
	uint64_t last_page;
	const uint64_t *cpus;	  /* a bit per CPU, NULL: all */
	uint32_t nr_cpus;	  /* bits in it */
	const volatile int *stop; /* the walk ends when it becomes non-zero; may be NULL */
	unsigned int threads;	  /* of feed_run() and rows_open(), as in scan_threads() */
	bool brief;    /* names of tasks and arguments are not read: as table_source.brief */
	bool nameless; /* names of tasks are not read: as table_source.nameless */

	/*
	 * In feeds: if this returns false, the record is skipped as if it had not been recorded;
	 * losses are still reported. NULL: all are read.
	 */
	bool (*take)(void *arg, struct event *e, const struct spur_record *r);
	void *take_arg;

	/* Called now and then with how much has been read; may be NULL. */
	void (*progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

/* Whether a CPU is to be read. An unknown one (negative) is read only if all are. */
bool walk_asks_cpu(const struct walk_options *o, int64_t cpu);

/*
 * What a record shows about who runs, if that does not follow from the records before it: a switch
 * was not recorded, or it is the first record of the CPU or after a loss.
 */
struct walk_evidence {
	uint32_t buffer, cpu;
	int32_t pid;
	uint64_t ts;   /* since when the task is known to run on the CPU */
	uint64_t last; /* the CPU's record before that, of any type; 0: there is none */
	/*
	 * The task has run there since before the range that is read; earlier records are not read.
	 * For a silent CPU: only the range in which it is known ends.
	 */
	bool continues;
	/* The task has left the CPU, because it runs elsewhere: ts is its last record there. */
	bool gone;
	/*
	 * The CPU is unknown from ts on, until its next record if there is one. ts is the begin of
	 * the trace, or the place where the CPU's data were cut off. There is no task.
	 */
	bool silent;
	/* Silent, and the file has no record of the CPU at all. */
	bool absent;
};

#define WALK_REACH 20000000u /* evidence is at most so long before its record (ns) */

struct walk_runners; /* who runs where: evidence.h */

struct walk {
	struct spur_trace *trace;
	struct walk_options opt;
	struct scan scan;
	struct lane_filter filter; /* wants nothing at first */
	uint64_t records;	   /* looked at so far */
	bool lost;    /* there was a loss before the record returned last, on its CPU */
	bool missing; /* losing or cut is set */
	const struct lane *losing; /* has just moved on to a record after a loss; NULL: none has */
	const struct lane *cut;	   /* has just ended where the recording was cut; NULL: none has */
	bool all;		   /* every record is wanted */
	bool borders; /* so are those next to losses (lane.h); set before the first record */
	bool started, stopped;
	struct walk_runners *runners;	/* NULL: no evidence is wanted */
	struct walk_evidence *evidence; /* before the record returned last, in order */
	uint32_t nr_evidence, max_evidence;
};

int walk_open(struct walk *w, struct spur_trace *t, const struct walk_options *opt,
	      struct spur_error *err);
void walk_close(struct walk *w);

/* To be called before the first record: records of this type, or all records, are wanted. */
void walk_want(struct walk *w, const struct event *e);
void walk_want_all(struct walk *w);

/*
 * To be called before the first record: evidence of who runs is wanted, from records of any type.
 */
int walk_want_evidence(struct walk *w, struct spur_error *err);

/*
 * To be called after the first walk_next(): reports the CPUs that are silent when the trace begins.
 * The file does not say what they did: the CPU has no records at all, some were lost before its
 * first one, or not all switches were recorded.
 */
void walk_tell_silent(const struct walk *w, void (*tell)(void *arg, const struct walk_evidence *e),
		      void *arg);

/* The next record, or NULL at the end or after a stop (w->stopped). Valid until the next call. */
const struct spur_record *walk_next(struct walk *w);

/* Whether "system:event", of which both may be globs, names this type. */
bool event_named(const struct event *e, const char *pattern);

#endif
