// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Building an index: which thread does what.
 *
 *	1 thread	counts the records, then walks the trace for one table after the other
 *	2 threads	one walks it for the scheduler's states, which is most of the work; the
 *			other counts, walks it for the rest, finds out whose threads tasks are, and
 *			puts into tracks what the first one has found
 *	3 threads	as with two; function calls are the third one's
 *	more		help with putting things into tracks
 *
 * The walks for tables other than states wait until records have been counted: of most tables there
 * is nothing in a trace. Which tables share a walk does not depend on the threads: what is told of
 * losses is about the records that are read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "table/sched.h"
#include "table/walk.h"
#include "base/error.h"
#include "base/vec.h"
#include "view/index_parts.h"
#include "view/samples.h"

#define DEFAULT_MEMORY (32u << 20)
#define TELL_EVERY     50000000ull /* ns between two changes that others are told of */

/* ---- what the parts tell ---- */

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void tell(struct view_index *x)
{
	__atomic_add_fetch(&x->generation, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&x->changed);
}

void index_fail(struct view_index *x, int code)
{
	pthread_mutex_lock(&x->lock);
	if (!x->err.code)
		error_sys(&x->err, code, "the index cannot be made");
	__atomic_store_n(&x->stop, 1, __ATOMIC_RELAXED);
	tell(x);
	pthread_mutex_unlock(&x->lock);
}

void index_changed(struct view_index *x)
{
	const uint64_t ts = now();

	pthread_mutex_lock(&x->lock);
	if (ts - x->told >= TELL_EVERY) {
		x->told = ts;
		tell(x);
	}
	pthread_mutex_unlock(&x->lock);
}

void index_progress(struct view_index *x, unsigned int maker, uint64_t done, uint64_t total)
{
	const double part = total ? (double)done / (double)total : 0;

	__atomic_store_n(&x->progress[maker], (uint64_t)(part * 1000), __ATOMIC_RELAXED);
}

void index_reach(struct view_index *x, uint64_t ts)
{
	uint64_t known = __atomic_load_n(&x->duration, __ATOMIC_RELAXED);

	while (ts > known && !__atomic_compare_exchange_n(&x->duration, &known, ts, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

bool index_help(struct view_index *x, const struct gather *but)
{
	bool any = false;

	for (unsigned int i = 0; i < NR_MAKERS; i++) {
		struct gather *g = __atomic_load_n(&x->gathers[i], __ATOMIC_ACQUIRE);

		if (g && g != but)
			any |= gather_help(g);
	}
	return any;
}

/* ---- what there is ---- */

static bool is_counted(struct view_index *x)
{
	bool counted;

	pthread_mutex_lock(&x->lock);
	counted = x->counted;
	pthread_mutex_unlock(&x->lock);
	return counted;
}

bool index_has_event(struct view_index *x, const char *system, const char *name)
{
	const struct event *e = events_find(x->trace->events, system, name);

	return e && (!is_counted(x) || types_count(&x->types, e->index));
}

bool index_has_rows(struct view_index *x, const struct table *t)
{
	const struct events *ev = x->trace->events;

	/* Whether there are states must not depend on which thread was faster. */
	if (t == &states_both_table || !is_counted(x))
		return table_possible(t, x->trace);
	for (size_t i = 0; i < ev->nr; i++) {
		/* The scheduler's events only help with other tables. */
		if (!types_count(&x->types, (uint32_t)i) ||
		    strcmp(ev->list[i]->system, "sched") == 0)
			continue;
		for (const char *const *want = t->events; *want; want++)
			if (event_named(ev->list[i], *want))
				return true;
		if (t->wants && t->wants(ev->list[i]))
			return true;
	}
	return false;
}

/* ---- threads ---- */

static void reached(struct view_index *x, bool *what)
{
	pthread_mutex_lock(&x->lock);
	*what = true;
	tell(x);
	pthread_mutex_unlock(&x->lock);
}

static void count(struct view_index *x)
{
	samples_take(x);
	reached(x, &x->sampled);
	counts_run(x);
	reached(x, &x->counted);
}

static void gather(struct view_index *x, unsigned int number)
{
	struct gather *g;

	if (index_stopped(x))
		return;
	g = gather_new(x, number);
	__atomic_store_n(&x->gathers[number], g, __ATOMIC_RELEASE);
	if (g)
		gather_run(g);
	else
		index_fail(x, -ENOMEM);
}

static bool is_done(const struct view_index *x, unsigned int maker)
{
	return __atomic_load_n(&x->makers[maker].done, __ATOMIC_ACQUIRE);
}

static bool all_done(const struct view_index *x)
{
	for (unsigned int i = 0; i < NR_MAKERS; i++)
		if (!is_done(x, i))
			return false;
	return true;
}

/* Helps until there is nothing more to do. */
static void help(struct view_index *x)
{
	const struct timespec moment = {.tv_nsec = 300000};

	while (!index_stopped(x) && !all_done(x))
		if (!index_help(x, NULL))
			nanosleep(&moment, NULL);
}

static void do_all(struct view_index *x)
{
	count(x);
	gather(x, MADE_OF_STATES);
	gather(x, MADE_OF_SPANS);
	gather(x, MADE_OF_CALLS);
	groups_find(x);
}

/* Waits until the first picture is there, or records have been counted. */
static void wait_for(struct view_index *x, const bool *what)
{
	pthread_mutex_lock(&x->lock);
	while (!*what)
		pthread_cond_wait(&x->changed, &x->lock);
	pthread_mutex_unlock(&x->lock);
}

static void do_states(struct view_index *x)
{
	wait_for(x, &x->sampled);
	gather(x, MADE_OF_STATES);
}

static void do_rest(struct view_index *x)
{
	count(x);
	gather(x, MADE_OF_SPANS);
	if (x->nr_threads < 3)
		gather(x, MADE_OF_CALLS);
	groups_find(x);
	help(x);
}

static void do_calls(struct view_index *x)
{
	wait_for(x, &x->counted);
	gather(x, MADE_OF_CALLS);
}

static void finish(struct view_index *x)
{
	for (unsigned int i = 0; i < NR_MAKERS; i++) {
		gather_free(x->gathers[i]);
		x->gathers[i] = NULL;
	}
	pthread_mutex_lock(&x->lock);
	tell(x);
	pthread_mutex_unlock(&x->lock);
	/* Also when it is closed meanwhile: it was not made for nothing. */
	if (all_done(x))
		cache_write(x);
}

/* The last one to end finishes the index. */
static void end_thread(struct view_index *x)
{
	bool last;

	pthread_mutex_lock(&x->lock);
	last = --x->running == 0;
	pthread_mutex_unlock(&x->lock);
	if (last)
		finish(x);
}

struct job {
	struct view_index *x;
	void (*run)(struct view_index *x);
};

static void *run_thread(void *job)
{
	const struct job j = *(struct job *)job;

	free(job);
	j.run(j.x);
	end_thread(j.x);
	return NULL;
}

static int start_thread(struct view_index *x, void (*run)(struct view_index *x))
{
	struct job *j = malloc(sizeof(*j));
	int rc = -ENOMEM;

	if (j) {
		*j = (struct job){x, run};
		rc = -pthread_create(&x->threads[x->nr_started], NULL, run_thread, j);
	}
	if (rc < 0)
		free(j);
	else
		x->nr_started++;
	return rc;
}

static int start(struct view_index *x, struct spur_error *err)
{
	void (*const jobs[])(struct view_index * x) = {do_states, do_rest, do_calls, help};
	int rc = 0;

	x->running = x->nr_threads;
	for (uint32_t i = 0; rc == 0 && i < x->nr_threads; i++)
		rc = start_thread(x, x->nr_threads == 1 ? do_all : jobs[i < 3 ? i : 3]);
	if (rc == 0)
		return 0;
	/* Nobody waits for one that has not been started. */
	__atomic_store_n(&x->stop, 1, __ATOMIC_RELAXED);
	reached(x, &x->sampled);
	reached(x, &x->counted);
	return error_sys(err, rc, "cannot start a thread");
}

/* ---- opening ---- */

static uint32_t threads_wanted(const struct view_index_options *opt)
{
	long n = opt->threads;

	if (!n)
		n = sysconf(_SC_NPROCESSORS_ONLN);
	return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (uint32_t)n;
}

static int prepare(struct view_index *x, const struct view_index_options *opt)
{
	const char *folder = opt->cache ? opt->cache : secure_getenv("SQLITE_TMPDIR");
	int rc;

	store_init(&x->store, opt->memory ? opt->memory : DEFAULT_MEMORY, folder);
	row_list_init(&x->rows);
	for (unsigned int i = 0; i < NR_MAKERS; i++)
		maker_init(&x->makers[i]);
	x->cache = opt->cache ? strdup(opt->cache) : NULL;
	rc = types_init(&x->types, x->trace->events);
	return rc < 0 || (opt->cache && !x->cache) ? -ENOMEM : counts_prepare(x);
}

struct view_index *index_new(struct spur_trace *t, const struct view_index_options *opt,
			     struct spur_error *err)
{
	struct view_index *x = calloc(1, sizeof(*x));
	pthread_condattr_t monotonic;
	int rc = -ENOMEM;

	if (x) {
		x->trace = t;
		x->nr_threads = threads_wanted(opt);
		pthread_mutex_init(&x->lock, NULL);
		pthread_condattr_init(&monotonic);
		pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
		pthread_cond_init(&x->changed, &monotonic);
		pthread_condattr_destroy(&monotonic);
		rc = prepare(x, opt);
	}
	if (rc < 0) {
		error_sys(err, rc, "the index cannot be made");
		view_index_close(x);
		return NULL;
	}
	return x;
}

/* A kept index is as good as one that has been made. */
static void take_kept(struct view_index *x)
{
	for (unsigned int i = 0; i < NR_MAKERS; i++)
		__atomic_store_n(&x->makers[i].done, 1, __ATOMIC_RELEASE);
}

struct view_index *view_index_open(const char *path, struct spur_trace *t,
				   const struct view_index_options *opt, struct spur_error *err)
{
	struct view_index *x = index_new(t, opt, err);
	int rc = x ? cache_read(x) : -ENOMEM;

	if (x && rc == 1) {
		take_kept(x);
		return x;
	}
	if (x && rc < 0) {
		view_index_close(x);
		x = index_new(t, opt, err);
	}
	if (x && start(x, err) < 0) {
		view_index_close(x);
		x = NULL;
	}
	if (!x)
		error_prefix(err, "%s", path);
	return x;
}

void view_index_close(struct view_index *x)
{
	if (!x)
		return;
	__atomic_store_n(&x->stop, 1, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < x->nr_started; i++)
		pthread_join(x->threads[i], NULL);
	if (x->store.spoilt)
		cache_drop(x);
	for (unsigned int i = 0; i < NR_MAKERS; i++) {
		gather_free(x->gathers[i]);
		maker_free(&x->makers[i]);
	}
	for (size_t i = 0; i < x->ticks.n; i++) {
		ticks_free(x->ticks.at[i].ticks);
		if (x->samples)
			samples_free(&x->samples[i]);
	}
	free(x->samples);
	vec_free(&x->ticks);
	vec_free(&x->places);
	types_free(&x->types);
	row_list_free(&x->rows);
	store_free(&x->store);
	pthread_cond_destroy(&x->changed);
	pthread_mutex_destroy(&x->lock);
	free(x->cache);
	free(x);
}
