// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/gather.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_LOADS   24	  /* that wait, before the walking thread does the work itself */
#define HELP_EVERY   2048 /* records between two looks at what others wait for */
#define CHANGE_EVERY 16	  /* loads between two changes that others are told of */

/* ---- loads ---- */

static void put_load(struct gather *g, const struct load *l)
{
	maker_begin(g->maker);
	for (uint32_t i = 0; i < l->n; i++)
		gather_take(g, &l->at[i]);
	maker_end(g->maker);
}

static struct load *next_ready(struct gather *g)
{
	struct load *l;

	pthread_mutex_lock(&g->lock);
	l = g->ready;
	if (l) {
		g->ready = l->next;
		if (!g->ready)
			g->ready_end = &g->ready;
	}
	pthread_mutex_unlock(&g->lock);
	return l;
}

static void give_back(struct gather *g, struct load *l)
{
	pthread_mutex_lock(&g->lock);
	l->n = 0;
	l->next = g->spare;
	g->spare = l;
	pthread_mutex_unlock(&g->lock);
}

static bool put_loads(struct gather *g, uint32_t most)
{
	struct load *l;
	uint32_t n = 0;

	while (n < most && (l = next_ready(g)) != NULL) {
		put_load(g, l);
		give_back(g, l);
		n++;
	}
	return n > 0;
}

bool gather_help(struct gather *g)
{
	bool any = false;

	if (!__atomic_load_n(&g->done, __ATOMIC_ACQUIRE) &&
	    pthread_mutex_trylock(&g->putting) == 0) {
		any = put_loads(g, CHANGE_EVERY);
		pthread_mutex_unlock(&g->putting);
		if (any)
			index_changed(g->x);
	}
	return any;
}

static struct load *new_load(struct gather *g)
{
	struct load *l;

	pthread_mutex_lock(&g->lock);
	l = g->spare;
	if (l)
		g->spare = l->next;
	else if (g->nr_loads < MOST_LOADS && (l = malloc(sizeof(*l))) != NULL)
		g->nr_loads++;
	pthread_mutex_unlock(&g->lock);
	if (l)
		l->n = 0;
	return l;
}

static void hand_on(struct gather *g)
{
	struct load *l = g->filling;

	g->filling = NULL;
	if (!l)
		return;
	pthread_mutex_lock(&g->lock);
	l->next = NULL;
	*g->ready_end = l;
	g->ready_end = &l->next;
	pthread_mutex_unlock(&g->lock);
}

/* An empty load: a new one, or one that this thread has put into the tracks itself. */
static bool start_load(struct gather *g)
{
	g->filling = new_load(g);
	if (g->filling)
		return true;
	pthread_mutex_lock(&g->putting);
	put_loads(g, CHANGE_EVERY);
	pthread_mutex_unlock(&g->putting);
	index_changed(g->x);
	/* Somebody else may have put them all, and have given them back by now. */
	g->filling = new_load(g);
	if (!g->filling)
		index_fail(g->x, -ENOMEM);
	return g->filling != NULL;
}

struct fact *gather_fact(struct gather *g)
{
	if (g->filling && g->filling->n == LOAD_FACTS)
		hand_on(g);
	if (!g->filling && !start_load(g))
		return NULL;
	return &g->filling->at[g->filling->n++];
}

struct fact *gather_last_fact(struct gather *g)
{
	return g->filling && g->filling->n ? &g->filling->at[g->filling->n - 1] : NULL;
}

/* ---- tracks ---- */

static struct track *new_track(struct gather *g, uint32_t row, enum view_track_kind kind,
			       uint32_t depth)
{
	struct track *t = track_new(g->maker, row, kind, depth);

	if (!t || !row_add_track(&g->x->rows, t)) {
		index_fail(g->x, -ENOMEM);
		return NULL;
	}
	return t;
}

void gather_put(struct gather *g, struct track **track, uint32_t row, enum view_track_kind kind,
		struct view_interval i)
{
	if (!*track)
		*track = new_track(g, row, kind, 0);
	if (*track && !track_add(*track, &g->x->store, i))
		index_fail(g->x, -ENOMEM);
}

/*
 * One that begins before the last of its depth was known too late: it goes where it does not come
 * too late.
 */
void gather_put_nested(struct gather *g, struct nest *n, uint32_t row, enum view_track_kind kind,
		       uint32_t depth, struct view_interval i)
{
	while (depth < n->n && n->at[depth].start > i.start)
		depth++;
	if (depth >= MOST_DEPTH)
		return;
	while (n->n <= depth) {
		void *more = reallocarray(n->at, n->n + 1, sizeof(*n->at));

		if (!more) {
			index_fail(g->x, -ENOMEM);
			return;
		}
		n->at = more;
		memset(&n->at[n->n], 0, sizeof(*n->at));
		n->n++;
	}
	if (!n->at[depth].track)
		n->at[depth].track = new_track(g, row, kind, depth);
	if (n->at[depth].track && !track_add(n->at[depth].track, &g->x->store, i))
		index_fail(g->x, -ENOMEM);
	n->at[depth].start = i.start;
}

/* ---- running ---- */

static void tell_progress(void *gather, uint64_t done, uint64_t total)
{
	const struct gather *g = gather;

	index_progress(g->x, g->number, done, total);
}

struct gather *gather_new(struct view_index *x, unsigned int number)
{
	const struct walk_options opt = {
		.stop = &x->stop, .brief = true, .progress = tell_progress};
	struct gather *g = calloc(1, sizeof(*g));
	struct walk_options walk = opt;
	struct spur_error err = {0};

	if (!g)
		return NULL;
	g->x = x;
	g->number = number;
	g->maker = &x->makers[number];
	g->ready_end = &g->ready;
	keyed_init(&g->tasks, sizeof(struct task_tracks));
	keyed_init(&g->cpus, sizeof(struct cpu_tracks));
	keyed_init(&g->names, sizeof(uint32_t));
	pthread_mutex_init(&g->putting, NULL);
	pthread_mutex_init(&g->lock, NULL);
	walk.progress_arg = g;
	g->feed = feed_new(x->trace, &walk, &err);
	if (!g->feed || gather_tables(g, &err) < 0) {
		gather_free(g);
		return NULL;
	}
	return g;
}

static void free_loads(struct load *l)
{
	while (l) {
		struct load *next = l->next;

		free(l);
		l = next;
	}
}

void gather_free(struct gather *g)
{
	if (!g)
		return;
	gather_free_tracks(g);
	feed_free(g->feed);
	free(g->filling);
	free_loads(g->ready);
	free_loads(g->spare);
	keyed_free(&g->tasks);
	keyed_free(&g->cpus);
	keyed_free(&g->names);
	pthread_mutex_destroy(&g->putting);
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void gather_run(struct gather *g)
{
	uint64_t n = 0;
	int rc;

	while (g->any && feed_step(g->feed))
		if (++n % HELP_EVERY == 0)
			index_help(g->x, g);
	rc = feed_error(g->feed, NULL);
	if (rc < 0 && rc != -EINTR)
		index_fail(g->x, rc);
	hand_on(g);
	pthread_mutex_lock(&g->putting);
	put_loads(g, UINT32_MAX);
	maker_begin(g->maker);
	gather_rest(g);
	maker_end(g->maker);
	__atomic_store_n(&g->done, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&g->putting);
	if (!index_stopped(g->x) && !maker_finish(g->maker, &g->x->store))
		index_fail(g->x, -ENOMEM);
	index_progress(g->x, g->number, 1, 1);
}
