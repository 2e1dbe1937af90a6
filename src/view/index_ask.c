// SPDX-License-Identifier: GPL-2.0-or-later
/* What others ask an index. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "event/names.h"
#include "view/index_parts.h"
#include "view/samples.h"

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
	for (unsigned int i = 0; i < NR_MAKERS; i++)
		sum += __atomic_load_n(&x->progress[i], __ATOMIC_RELAXED);
	return sum < 1000 * NR_MAKERS ? (double)sum / (1000 * NR_MAKERS) : 0.999;
}

uint64_t view_index_generation(const struct view_index *x)
{
	return __atomic_load_n(&x->generation, __ATOMIC_RELAXED) + x->store.spoilt;
}

void view_index_wait(struct view_index *x, uint64_t generation, int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000L;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&x->lock);
	while (view_index_generation(x) == generation &&
	       pthread_cond_timedwait(&x->changed, &x->lock, &until) == 0)
		;
	pthread_mutex_unlock(&x->lock);
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
	struct maker *m = (struct maker *)&x->makers[MADE_OF_RECORDS];
	const bool entered = maker_enter(m);
	const uint64_t n = types_count(&x->types, event);

	maker_leave(m, entered);
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
	uint32_t n;

	pthread_mutex_lock(&l->lock);
	n = (uint32_t)l->rows.n;
	pthread_mutex_unlock(&l->lock);
	return n;
}

/* A task without any event that names it has the name that the trace lists. */
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
	return pid > 0 ? row_find_task(rows_of(x), buffer, pid) : -1;
}

uint32_t view_index_names(const struct view_index *x)
{
	struct row_list *l = rows_of(x);
	uint32_t n;

	pthread_mutex_lock(&l->lock);
	n = (uint32_t)l->names.n;
	pthread_mutex_unlock(&l->lock);
	return n;
}

const char *view_index_name(const struct view_index *x, uint32_t name)
{
	struct row_list *l = rows_of(x);
	const char *text;

	pthread_mutex_lock(&l->lock);
	text = name < l->names.n ? l->names.at[name] : NULL;
	pthread_mutex_unlock(&l->lock);
	return text;
}

/* ---- tracks ---- */

static struct track *find_track(struct view_index *x, uint32_t row, uint32_t track)
{
	struct row_list *l = &x->rows;
	struct track *t = NULL;

	pthread_mutex_lock(&l->lock);
	if (row < l->rows.n && track < l->rows.at[row]->about.nr_tracks)
		t = l->rows.at[row]->tracks[track];
	pthread_mutex_unlock(&l->lock);
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

/* While it is not complete, samples stand in for what has not been made yet. */
static int provisional_tile(struct view_index *x, const struct track *t, uint32_t level,
			    uint64_t tile, struct view_tile *out)
{
	const struct samples *s = samples_of(x, t->row);
	const uint64_t made = t->ticks ? t->maker->until : t->end;
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
	entered = maker_enter(t->maker);
	rc = track_tile(t, &x->store, level, tile, false, out);
	if (rc == 0 && !out->complete)
		rc = provisional_tile(x, t, level, tile, out);
	maker_leave(t->maker, entered);
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
	entered = maker_enter(t->maker);
	found = track_at(t, &x->store, ts, dir, out);
	maker_leave(t->maker, entered);
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
	entered = maker_enter(t->maker);
	rc = track_each(t, &x->store, since, until, take, arg);
	maker_leave(t->maker, entered);
	return rc;
}

/* ---- records by their number ---- */

/* The last place at or before a time, or a number. */
static struct place find_place(const struct view_index *x, uint64_t ts, uint64_t n)
{
	size_t low = 0, high = x->places.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (x->places.at[middle].ts <= ts && x->places.at[middle].n <= n)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? x->places.at[low - 1] : (struct place){0, 0};
}

int view_index_seek(struct view_index *x, uint64_t n, uint64_t *first, uint64_t *ts)
{
	struct maker *m = &x->makers[MADE_OF_RECORDS];
	const bool entered = maker_enter(m);
	int rc = 0;

	if (n < x->records) {
		const struct place p = find_place(x, UINT64_MAX, n);

		*first = p.n;
		*ts = p.ts;
	} else {
		rc = entered ? -EAGAIN : -ENOENT;
	}
	maker_leave(m, entered);
	return rc;
}

int view_index_ordinal(struct view_index *x, uint64_t ts, uint64_t *n)
{
	struct maker *m = &x->makers[MADE_OF_RECORDS];
	const bool entered = maker_enter(m);
	uint64_t more = 0;
	int rc = 0;

	if (entered && ts > m->until) {
		rc = -EAGAIN;
	} else {
		const struct place p = find_place(x, ts, UINT64_MAX);

		rc = counts_between(x, p.ts, ts, &more);
		*n = p.n + more;
	}
	maker_leave(m, entered);
	return rc;
}
