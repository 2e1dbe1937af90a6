// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Running a scan on several threads.
 *
 * Each thread reads a slice before its turn. Its turn comes when all earlier slices have been
 * joined. Then every lane must have begun where the previous slice ended. If a lane has not,
 * because its times run backwards, the slice is read again from there. So no record is counted
 * twice or left out, and there are never more results than threads.
 */
#include "scan/run.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "scan/slices.h"

#define SLICES 8	  /* that a thread reads, at least, if they have a page */
#define SMALL  (1u << 20) /* bytes of a trace that is not worth a second thread */
#define MOST   64	  /* threads, unless more are asked for */

/* What the threads share. */
struct crew {
	const struct scan_run *run;
	struct slicer slicer;
	pthread_mutex_t lock; /* guards all that follows */
	pthread_cond_t turn;
	uint64_t front;		/* number of the slice that is joined next */
	struct lane_pos *ended; /* per lane: where the slice before `front` has ended */
	bool over;		/* the rest is not needed */
	int rc;
};

struct member {
	struct crew *crew;
	struct scan scan;
	struct slice slice;
	struct lane_pos *started; /* per lane */
	void *part;
	bool found; /* the lanes' first records were found */
	bool over;  /* the range ends in the slice */
	int rc;	    /* of reading it */
	pthread_t thread;
};

static uint64_t data_bytes(const struct spur_trace *t)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < t->nr_buffers; i++)
		for (uint32_t k = 0; k < t->buffers[i].data->nr_cpus; k++)
			bytes += t->buffers[i].data->cpus[k].size;
	return bytes;
}

unsigned int scan_threads(const struct spur_trace *t, unsigned int wanted)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (wanted != SCAN_ALL_CPUS)
		return wanted ? wanted : 1;
	return cpus < 2 || data_bytes(t) < SMALL ? 1 : cpus < MOST ? (unsigned int)cpus : MOST;
}

static int add_lanes(const void *run, struct scan *s)
{
	const struct scan_run *r = run;

	s->opt = r->opt;
	return scan_add_trace(s, r->trace);
}

/* ---- one slice ---- */

/* The first slice begins like a scan of one thread. */
static void enter_first(struct member *m)
{
	const uint64_t since = m->crew->run->opt.since;

	for (uint32_t i = 0; since && i < m->scan.nr; i++)
		lane_seek_before(&m->scan.lanes[i], since, m->scan.lanes[i].nr_pages / 2);
	scan_start(&m->scan);
	m->found = true;
}

static void enter(struct member *m)
{
	m->found = true;
	for (uint32_t i = 0; m->found && i < m->scan.nr; i++) {
		m->found = slice_enter(&m->slice, &m->scan.lanes[i], NULL, NULL);
		m->started[i] = slice_place(&m->scan.lanes[i]);
	}
	scan_restart(&m->scan);
}

/* The same, from where the previous slice has really ended. Needs the lock. */
static void enter_again(struct member *m)
{
	for (uint32_t i = 0; i < m->scan.nr; i++)
		lane_seek(&m->scan.lanes[i], m->crew->ended[i]);
	scan_start(&m->scan);
}

/* Reads from where the lanes stand to the slice's end. */
static int read_slice(struct member *m)
{
	const struct scan_run *run = m->crew->run;
	const struct scan_sink *sink = run->sink;
	const struct lane *l;
	int rc = 0;

	sink->free(m->part);
	m->part = sink->begin(run->arg);
	m->over = false;
	if (!m->part)
		return -ENOMEM;
	while (rc == 0 && (l = scan_step(&m->scan)) != NULL) {
		if (!m->slice.last && l->rec.ts >= m->slice.end)
			break;
		m->over = run->opt.has_until && l->rec.ts > run->opt.until;
		if (m->over)
			break;
		if (l->rec.ts >= run->opt.since)
			rc = sink->record(m->part, l);
	}
	return rc == 0 && scan_stopped(&m->scan) ? -EINTR : rc;
}

/* ---- turns ---- */

static bool began_right(const struct member *m)
{
	bool same = m->found;

	for (uint32_t i = 0; m->slice.number && same && i < m->scan.nr; i++)
		same = slice_same_place(m->started[i], m->crew->ended[i]);
	return same;
}

/* Waits until all earlier slices have been joined; false if the rest is not needed. */
static bool wait_for_turn(struct member *m)
{
	struct crew *c = m->crew;
	bool wanted;

	pthread_mutex_lock(&c->lock);
	while (c->front != m->slice.number && !c->rc && !c->over)
		pthread_cond_wait(&c->turn, &c->lock);
	wanted = !c->rc && !c->over;
	pthread_mutex_unlock(&c->lock);
	return wanted;
}

/* Joins the slice whose turn it is. Then it is the next one's turn. */
static void leave(struct member *m)
{
	const struct scan_run *run = m->crew->run;
	struct crew *c = m->crew;

	if (m->rc == 0)
		m->rc = run->sink->join(run->arg, m->part);
	scan_progress(&m->scan);
	pthread_mutex_lock(&c->lock);
	for (uint32_t i = 0; i < m->scan.nr; i++)
		c->ended[i] = slice_place(&m->scan.lanes[i]);
	c->front++;
	c->over = m->over;
	c->rc = m->rc;
	pthread_cond_broadcast(&c->turn);
	pthread_mutex_unlock(&c->lock);
}

static void *member_main(void *arg)
{
	struct member *m = arg;

	while (slicer_next(&m->crew->slicer, &m->slice)) {
		if (m->slice.number)
			enter(m);
		else
			enter_first(m);
		m->rc = m->found ? read_slice(m) : 0;
		if (!wait_for_turn(m))
			break;
		/* It is this thread's turn, so no other thread changes the shared state. */
		if (!began_right(m)) {
			enter_again(m);
			m->rc = read_slice(m);
		}
		leave(m);
		if (m->rc < 0 || m->over)
			break;
	}
	return NULL;
}

/* ---- all of it ---- */

static int member_init(struct member *m, struct crew *c)
{
	int rc;

	*m = (struct member){.crew = c};
	scan_init(&m->scan, NULL);
	rc = add_lanes(c->run, &m->scan);
	if (rc == 0)
		rc = slice_init(&m->slice, &c->slicer);
	m->started = calloc(m->scan.nr + 1, sizeof(*m->started));
	return rc < 0 ? rc : m->started ? 0 : -ENOMEM;
}

static void member_done(struct member *m)
{
	m->crew->run->sink->free(m->part);
	slice_free(&m->slice);
	free(m->started);
	scan_free(&m->scan);
}

static size_t slice_bytes(const struct scan_run *run)
{
	const uint64_t bytes = data_bytes(run->trace) / run->threads / SLICES;

	return bytes < SLICE_BYTES ? (size_t)bytes : SLICE_BYTES;
}

static int crew_init(struct crew *c, const struct scan_run *run)
{
	int rc;

	*c = (struct crew){.run = run};
	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->turn, NULL);
	rc = slicer_init(&c->slicer, add_lanes, run, run->opt.since,
			 run->opt.has_until ? run->opt.until : UINT64_MAX, slice_bytes(run));
	c->ended = calloc(c->slicer.scouts.nr + 1, sizeof(*c->ended));
	return rc < 0 ? rc : c->ended ? 0 : -ENOMEM;
}

static void crew_done(struct crew *c)
{
	slicer_free(&c->slicer);
	free(c->ended);
	pthread_cond_destroy(&c->turn);
	pthread_mutex_destroy(&c->lock);
}

int scan_run(const struct scan_run *run)
{
	struct member *members = calloc(run->threads, sizeof(*members));
	unsigned int ready = 0, running = 1;
	struct crew c;
	int rc;

	if (!members)
		return -ENOMEM;
	rc = crew_init(&c, run);
	while (rc == 0 && ready < run->threads)
		rc = member_init(&members[ready++], &c);
	/*
	 * The calling thread is the first member. If fewer threads than wished can be started, that
	 * is fine.
	 */
	while (rc == 0 && running < run->threads &&
	       pthread_create(&members[running].thread, NULL, member_main, &members[running]) == 0)
		running++;
	if (rc == 0)
		member_main(&members[0]);
	while (running > 1)
		pthread_join(members[--running].thread, NULL);
	while (ready > 0)
		member_done(&members[--ready]);
	free(members);
	rc = rc ? rc : c.rc;
	crew_done(&c);
	return rc;
}
