// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Building an index, and reading it. The threads:
 *
 *	1 thread	counts the records, then walks over the trace for one table after the other
 *	2 threads	one walks for the scheduler's states, which is most of the work; the other
 *			counts, walks for the rest, finds the processes of tasks, and adds the
 *			facts of the first one to tracks
 *	3 threads	as with two; function calls are the third one's
 *	more		help to add facts to tracks
 *
 * The walks for tables other than states wait until records have been counted, because a trace has
 * rows of few tables. Which tables share a walk does not depend on the number of threads, because
 * the losses depend on the records that a walk reads.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/mutex.h"
#include "base/nanoseconds.h"
#include "base/vec.h"
#include "event/names.h"
#include "table/sched.h"
#include "table/walk.h"
#include "view/index/internal.h"

#define DEFAULT_MEMORY (32u << 20)
#define CHANGE_EVERY   (50 * NS_PER_MS) /* between two changes of the generation */

/* ---- what the parts report ---- */

static void tell(struct view_index *x)
{
	__atomic_add_fetch(&x->generation, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&x->changed);
}

void index_fail(struct view_index *x, int code)
{
	mutex_hold(&x->lock);
	if (!x->err.code)
		error_sys(&x->err, code, "the index cannot be made");
	__atomic_store_n(&x->stop, 1, __ATOMIC_RELAXED);
	tell(x);
}

void index_changed(struct view_index *x)
{
	const uint64_t ts = clock_now_ns(CLOCK_MONOTONIC);

	mutex_hold(&x->lock);
	if (ts - x->last_change >= CHANGE_EVERY) {
		x->last_change = ts;
		tell(x);
	}
}

void index_progress(struct view_index *x, unsigned int builder, uint64_t done, uint64_t total)
{
	const double part = total ? (double)done / (double)total : 0;

	__atomic_store_n(&x->progress[builder], (uint64_t)(part * 1000), __ATOMIC_RELAXED);
}

void index_reach(struct view_index *x, uint64_t ts)
{
	uint64_t known = __atomic_load_n(&x->duration, __ATOMIC_RELAXED);

	while (ts > known && !__atomic_compare_exchange_n(&x->duration, &known, ts, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

bool index_help(struct view_index *x, const struct collector *but)
{
	bool any = false;

	for (unsigned int i = 0; i < NR_BUILDERS; i++) {
		struct collector *g = __atomic_load_n(&x->collectors[i], __ATOMIC_ACQUIRE);

		if (g && g != but)
			any |= collector_help(g);
	}
	return any;
}

/* ---- what there is ---- */

static bool is_counted(struct view_index *x)
{
	mutex_hold(&x->lock);
	return x->counted;
}

bool index_has_event(struct view_index *x, const char *system, const char *name)
{
	const struct event *e = events_find(x->trace->events, system, name);

	return e && (!is_counted(x) || types_count(&x->types, e->index));
}

bool index_has_rows(struct view_index *x, const struct table *t)
{
	const struct events *ev = x->trace->events;

	/* The result for states must not depend on which thread is faster. */
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
	mutex_hold(&x->lock);
	*what = true;
	tell(x);
}

static void count(struct view_index *x)
{
	samples_take(x);
	reached(x, &x->sampled);
	counts_run(x);
	reached(x, &x->counted);
}

static void collect(struct view_index *x, unsigned int number)
{
	struct collector *g;

	if (index_stopped(x))
		return;
	g = collector_new(x, number);
	__atomic_store_n(&x->collectors[number], g, __ATOMIC_RELEASE);
	if (g)
		collector_run(g);
	else
		index_fail(x, -ENOMEM);
}

static bool is_done(const struct view_index *x, unsigned int builder)
{
	return __atomic_load_n(&x->builders[builder].done, __ATOMIC_ACQUIRE);
}

static bool all_done(const struct view_index *x)
{
	for (unsigned int i = 0; i < NR_BUILDERS; i++)
		if (!is_done(x, i))
			return false;
	return true;
}

/* Helps other threads until there is no more work. */
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
	collect(x, BUILT_OF_STATES);
	collect(x, BUILT_OF_SPANS);
	collect(x, BUILT_OF_CALLS);
	processes_find(x);
}

/* Waits until the first picture is there, or records have been counted. */
static void wait_for(struct view_index *x, const bool *what)
{
	mutex_hold(&x->lock);
	while (!*what)
		pthread_cond_wait(&x->changed, &x->lock);
}

static void do_states(struct view_index *x)
{
	wait_for(x, &x->sampled);
	collect(x, BUILT_OF_STATES);
}

static void do_rest(struct view_index *x)
{
	count(x);
	collect(x, BUILT_OF_SPANS);
	if (x->nr_threads < 3)
		collect(x, BUILT_OF_CALLS);
	processes_find(x);
	help(x);
}

static void do_calls(struct view_index *x)
{
	wait_for(x, &x->counted);
	collect(x, BUILT_OF_CALLS);
}

static void finish(struct view_index *x)
{
	for (unsigned int i = 0; i < NR_BUILDERS; i++) {
		collector_free(x->collectors[i]);
		x->collectors[i] = NULL;
	}
	pthread_mutex_lock(&x->lock);
	tell(x);
	pthread_mutex_unlock(&x->lock);
	/* Stored even if the index is being closed, because it is finished. */
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

static void *run_thread(void *job)
{
	const struct index_job *j = job;

	j->run(j->x);
	end_thread(j->x);
	return NULL;
}

static int start_thread(struct view_index *x, void (*run)(struct view_index *x))
{
	struct index_job *j = &x->jobs[x->nr_started];
	int rc;

	*j = (struct index_job){x, run};
	rc = -pthread_create(&j->thread, NULL, run_thread, j);
	x->nr_started += rc == 0;
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
	/* Threads must not wait for one that was not started. */
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
	for (unsigned int i = 0; i < NR_BUILDERS; i++)
		builder_init(&x->builders[i]);
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

/* Uses a stored index instead of building one. */
static void take_kept(struct view_index *x)
{
	for (unsigned int i = 0; i < NR_BUILDERS; i++)
		__atomic_store_n(&x->builders[i].done, 1, __ATOMIC_RELEASE);
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
		pthread_join(x->jobs[i].thread, NULL);
	if (x->store.spoilt)
		cache_drop(x);
	for (unsigned int i = 0; i < NR_BUILDERS; i++) {
		collector_free(x->collectors[i]);
		builder_free(&x->builders[i]);
	}
	for (size_t i = 0; i < x->ticks.n; i++) {
		ticks_free(x->ticks.at[i].ticks);
		if (x->samples)
			vec_free(&x->samples[i]);
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

/* ---- how far it is ---- */

double view_index_progress(const struct view_index *x)
{
	struct view_index *locked = (struct view_index *)x;
	uint64_t sum = 0;
	bool building;

	pthread_mutex_lock(&locked->lock);
	building = x->running > 0;
	pthread_mutex_unlock(&locked->lock);
	if (!building)
		return 1;
	for (unsigned int i = 0; i < NR_BUILDERS; i++)
		sum += __atomic_load_n(&x->progress[i], __ATOMIC_RELAXED);
	return sum < 1000 * NR_BUILDERS ? (double)sum / (1000 * NR_BUILDERS) : 0.999;
}

uint64_t view_index_generation(const struct view_index *x)
{
	return __atomic_load_n(&x->generation, __ATOMIC_RELAXED) + x->store.spoilt;
}

void view_index_wait(struct view_index *x, uint64_t generation, int ms)
{
	const struct timespec until =
		ns_to_timespec(clock_now_ns(CLOCK_MONOTONIC) + (uint64_t)ms * NS_PER_MS);

	mutex_hold(&x->lock);
	while (view_index_generation(x) == generation &&
	       pthread_cond_timedwait(&x->changed, &x->lock, &until) == 0)
		;
}

int view_index_error(struct view_index *x, struct spur_error *err)
{
	int code;

	pthread_mutex_lock(&x->lock);
	code = x->err.code;
	if (code && err)
		*err = x->err;
	pthread_mutex_unlock(&x->lock);
	if (!code && x->store.spoilt)
		code = error_set(err, -EBADMSG,
				 "the index that was kept of it is damaged: start again, and it is "
				 "made anew");
	return code;
}

uint64_t view_index_origin(const struct view_index *x)
{
	return x->origin;
}

uint64_t view_index_duration(const struct view_index *x)
{
	return __atomic_load_n(&x->duration, __ATOMIC_RELAXED);
}

uint64_t view_index_records(const struct view_index *x)
{
	return __atomic_load_n(&x->records, __ATOMIC_RELAXED);
}

uint64_t view_index_count(const struct view_index *x, uint32_t event)
{
	struct builder *m = (struct builder *)&x->builders[BUILT_OF_RECORDS];
	const bool entered = builder_enter(m);
	const uint64_t n = types_count(&x->types, event);

	builder_leave(m, entered);
	return n;
}

/* ---- rows and names ---- */

static struct row_list *rows_of(const struct view_index *x)
{
	return (struct row_list *)&x->rows;
}

uint32_t view_index_rows(const struct view_index *x)
{
	struct row_list *l = rows_of(x);

	mutex_hold(&l->lock);
	return (uint32_t)l->rows.n;
}

/* If no event names a task, its name comes from the trace's list. */
static const char *listed_name(const struct view_index *x, const struct view_row *r)
{
	const struct comms *c = x->trace->events->comms;
	size_t len;

	if (r->kind != VIEW_TASK_ROW || !comms_known(c, (int)r->number))
		return NULL;
	return comms_find(c, (int)r->number, &len);
}

/* The name of a task of the same buffer. */
static const char *name_of_task(const struct view_index *x, uint32_t buffer, int64_t pid)
{
	const int64_t row = view_index_find_task(x, buffer, pid);
	struct view_row task;

	if (row >= 0) {
		const struct row *r = row_get(rows_of(x), (uint32_t)row);
		const char *name;

		pthread_mutex_lock(&rows_of(x)->lock);
		name = r->about.name;
		pthread_mutex_unlock(&rows_of(x)->lock);
		if (name)
			return name;
	}
	task = (struct view_row){.kind = VIEW_TASK_ROW, .number = pid};
	return listed_name(x, &task);
}

static uint64_t busy_of(const struct row *r)
{
	for (uint32_t i = 0; i < r->about.nr_tracks; i++)
		if (r->tracks[i]->about.kind == VIEW_RUNNING)
			return __atomic_load_n(&r->tracks[i]->busy, __ATOMIC_RELAXED);
	return 0;
}

bool view_index_row(const struct view_index *x, uint32_t row, struct view_row *out)
{
	struct row_list *l = rows_of(x);
	const struct row *r;

	pthread_mutex_lock(&l->lock);
	r = row < l->rows.n ? l->rows.at[row] : NULL;
	if (r) {
		const struct view_row *a = &r->about;

		*out = (struct view_row){
			.kind = a->kind,
			.buffer = a->buffer,
			.number = a->number,
			.tgid = a->tgid,
			.name = a->name,
			.older = a->older,
			.nr_older = a->nr_older,
			.events = __atomic_load_n(&a->events, __ATOMIC_RELAXED),
			.busy = busy_of(r),
			.first = __atomic_load_n(&a->first, __ATOMIC_RELAXED),
			.last = __atomic_load_n(&a->last, __ATOMIC_RELAXED),
			.tracks = a->tracks,
			.nr_tracks = a->nr_tracks,
		};
	}
	pthread_mutex_unlock(&l->lock);
	if (r && !out->name)
		out->name = listed_name(x, out);
	if (r && out->tgid >= 0)
		out->process = name_of_task(x, out->buffer, out->tgid);
	return r != NULL;
}

int64_t view_index_find_task(const struct view_index *x, uint32_t buffer, int64_t pid)
{
	return pid > 0 ? row_find(rows_of(x), VIEW_TASK_ROW, buffer, pid) : -1;
}

uint32_t view_index_names(const struct view_index *x)
{
	struct row_list *l = rows_of(x);

	mutex_hold(&l->lock);
	return (uint32_t)l->names.n;
}

const char *view_index_name(const struct view_index *x, uint32_t name)
{
	struct row_list *l = rows_of(x);

	mutex_hold(&l->lock);
	return name < l->names.n ? l->names.at[name] : NULL;
}

/* ---- tracks ---- */

int64_t view_row_track(const struct view_row *r, enum view_track_kind kind, uint32_t depth)
{
	for (uint32_t i = 0; i < r->nr_tracks; i++)
		if (r->tracks[i].kind == kind && r->tracks[i].depth == depth)
			return i;
	return -1;
}

static struct track *find_track(struct view_index *x, uint32_t row, uint32_t track)
{
	struct row_list *l = &x->rows;
	struct track *t = NULL;

	mutex_hold(&l->lock);
	if (row < l->rows.n && track < l->rows.at[row]->about.nr_tracks)
		t = l->rows.at[row]->tracks[track];
	return t;
}

/* The samples of a CPU's row; NULL: there are none. */
static const struct samples *samples_of(struct view_index *x, uint32_t row)
{
	const struct samples *all = __atomic_load_n(&x->samples, __ATOMIC_ACQUIRE);

	for (size_t i = 0; all && i < x->ticks.n; i++)
		if (x->ticks.at[i].track->row == row)
			return &all[i];
	return NULL;
}

/* While a track is not complete, samples replace the missing part. */
static int provisional_tile(struct view_index *x, const struct track *t, uint32_t level,
			    uint64_t tile, struct view_tile *out)
{
	const struct samples *s = samples_of(x, t->row);
	const uint64_t made = t->ticks ? t->builder->until : t->end;
	int rc;

	if (!s || (t->about.kind != VIEW_RUNNING && t->about.kind != VIEW_EVENTS))
		return 0;
	rc = track_tile(t, &x->store, level, tile, true, out);
	return rc < 0 ? rc : samples_fill(s, t->about.kind, made, level, tile, out);
}

int view_index_tile(struct view_index *x, uint32_t row, uint32_t track, uint32_t level,
		    uint64_t tile, struct view_tile *out)
{
	const struct track *t = find_track(x, row, track);
	bool entered;
	int rc;

	if (!t)
		return -ENOENT;
	entered = builder_enter(t->builder);
	rc = track_tile(t, &x->store, level, tile, false, out);
	if (rc == 0 && !out->complete)
		rc = provisional_tile(x, t, level, tile, out);
	builder_leave(t->builder, entered);
	return rc;
}

void view_tile_free(struct view_tile *t)
{
	free(t->intervals.at);
	free(t->bins.at);
	*t = (struct view_tile){0};
}

bool view_index_interval(struct view_index *x, uint32_t row, uint32_t track, uint64_t ts, int dir,
			 struct view_interval *out)
{
	const struct track *t = find_track(x, row, track);
	bool entered, found;

	if (!t)
		return false;
	entered = builder_enter(t->builder);
	found = track_at(t, &x->store, ts, dir, out);
	builder_leave(t->builder, entered);
	return found;
}

int view_index_each(struct view_index *x, uint32_t row, uint32_t track, uint64_t since,
		    uint64_t until, bool (*take)(void *arg, const struct view_interval *i),
		    void *arg)
{
	const struct track *t = find_track(x, row, track);
	bool entered;
	int rc;

	if (!t)
		return -ENOENT;
	entered = builder_enter(t->builder);
	rc = track_each(t, &x->store, since, until, take, arg);
	builder_leave(t->builder, entered);
	return rc;
}

/* ---- records by their number ---- */

/* The last place at or before a time, or a number. */
static struct record_place find_place(const struct view_index *x, uint64_t ts, uint64_t n)
{
	size_t i;

	binary_search(i, 0, x->places.n, x->places.at[i].ts <= ts && x->places.at[i].n <= n);
	return i ? x->places.at[i - 1] : (struct record_place){0, 0};
}

int view_index_seek(struct view_index *x, uint64_t n, uint64_t *first, uint64_t *ts)
{
	struct builder *m = &x->builders[BUILT_OF_RECORDS];
	const bool entered = builder_enter(m);
	int rc = 0;

	if (n < x->records) {
		const struct record_place p = find_place(x, UINT64_MAX, n);

		*first = p.n;
		*ts = p.ts;
	} else {
		rc = entered ? -EAGAIN : -ENOENT;
	}
	builder_leave(m, entered);
	return rc;
}

int view_index_ordinal(struct view_index *x, uint64_t ts, uint64_t *n)
{
	struct builder *m = &x->builders[BUILT_OF_RECORDS];
	const bool entered = builder_enter(m);
	uint64_t more = 0;
	int rc = 0;

	if (entered && ts > m->until) {
		rc = -EAGAIN;
	} else {
		const struct record_place p = find_place(x, ts, UINT64_MAX);

		rc = counts_between(x, p.ts, ts, &more);
		*n = p.n + more;
	}
	builder_leave(m, entered);
	return rc;
}
