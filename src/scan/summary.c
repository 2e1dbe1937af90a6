// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Counting a trace's records. Threads take one CPU after the other and count into tables of their
 * own, which are added up in the end.
 */
#include "scan/summary.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/vec.h"

struct counter {
	struct spur_trace *trace;
	struct summary *sum;
	_Atomic size_t *next; /* lane to count next, shared */
	const volatile int *stop;
	uint64_t *by_event;
	struct map by_pid; /* to 1 + index in tasks */
	struct {
		struct summary_task *at;
		size_t n, cap;
	} tasks;
	int rc;
	pthread_t thread;
};

static struct summary_task *task_of(struct counter *c, int pid)
{
	uintptr_t index = (uintptr_t)map_get(&c->by_pid, (uint32_t)pid);
	struct summary_task *t;

	if (index)
		return &c->tasks.at[index - 1];
	t = vec_push(&c->tasks);
	if (!t || !map_set(&c->by_pid, (uint32_t)pid, (void *)(uintptr_t)c->tasks.n)) {
		c->rc = -ENOMEM;
		return NULL;
	}
	t->pid = pid;
	return t;
}

static void count_lane(struct counter *c, struct summary_lane *s)
{
	const struct events *ev = c->trace->events;
	struct summary_task *task = NULL;
	int pid = -1;
	struct lane l;

	c->rc = lane_open(&l, s->buffer, s->cpu);
	if (c->rc < 0) {
		/* Data that cannot be read at all have been noted as damage; the rest can. */
		c->rc = c->rc == -EBADMSG ? 0 : c->rc;
		return;
	}
	while (c->rc == 0 && lane_next(&l)) {
		const struct event *e = events_of_record(ev, &l.rec);
		int now = events_record_pid(ev, &l.rec);

		if (!s->events++)
			s->first = l.rec.ts;
		s->last = l.rec.ts;
		if (l.rec.lost > 0)
			s->lost += (uint64_t)l.rec.lost;
		else if (l.rec.lost < 0)
			s->gaps++;
		if (e)
			c->by_event[e->index]++;
		else
			s->unknown++;
		/* Many consecutive events of a CPU are of the same task. */
		if (!task || now != pid)
			task = task_of(c, pid = now);
		if (task)
			task->events++;
		if ((s->events & 0xffff) == 0 && c->stop && *c->stop)
			c->rc = -EINTR;
	}
	lane_close(&l);
}

static void *count_lanes(void *arg)
{
	struct counter *c = arg;
	size_t i;

	while (c->rc == 0 && (i = atomic_fetch_add(c->next, 1)) < c->sum->nr_lanes)
		count_lane(c, &c->sum->lanes[i]);
	return NULL;
}

static int list_lanes(struct spur_trace *t, struct summary *out)
{
	size_t n = 0;

	for (uint32_t i = 0; i < t->nr_buffers; i++)
		n += t->buffers[i].data->nr_cpus;
	out->lanes = calloc(n + 1, sizeof(*out->lanes));
	if (!out->lanes)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct dat_buffer *b = t->buffers[i].data;

		for (uint32_t k = 0; !b->text && k < b->nr_cpus; k++)
			if (b->cpus[k].size)
				out->lanes[out->nr_lanes++] = (struct summary_lane){
					.buffer = &t->buffers[i], .cpu = &b->cpus[k]};
	}
	return 0;
}

static int busiest_first(const void *a, const void *b)
{
	const struct summary_task *x = a, *y = b;

	if (x->events != y->events)
		return x->events < y->events ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

/* Adds a thread's tasks to those of the first one. */
static void join(struct counter *into, struct counter *c, size_t nr_events)
{
	for (size_t i = 0; i < nr_events; i++)
		into->by_event[i] += c->by_event[i];
	vec_each (t, &c->tasks) {
		struct summary_task *mine = task_of(into, t->pid);

		if (mine)
			mine->events += t->events;
	}
	if (!into->rc)
		into->rc = c->rc;
}

static void add_missing(uint64_t *lost, uint64_t *gaps, uint64_t n)
{
	if (n > INT64_MAX)
		++*gaps;
	else
		*lost += n;
}

/* Adds the events that a cut recording lacks after the last ones of its CPUs. */
static void add_cut(const struct spur_trace *t, struct summary *out)
{
	for (uint32_t i = 0; i < t->dat->cut.nr; i++) {
		const struct dat_cut_cpu *c = &t->dat->cut.cpus[i];
		uint64_t *lost = &out->lost, *gaps = &out->gaps;
		/* No record has a mark of what was lost when the file was overwritten. */
		const uint64_t before = t->dat->cut.cause == DAT_CUT_OVERWRITTEN ? c->between : 0;

		for (size_t k = 0; (c->after || before) && k < out->nr_lanes; k++)
			if (out->lanes[k].cpu->cpu == c->cpu &&
			    out->lanes[k].buffer->index == c->buffer) {
				lost = &out->lanes[k].lost;
				gaps = &out->lanes[k].gaps;
			}
		add_missing(lost, gaps, before);
		add_missing(lost, gaps, c->after);
	}
}

static void add_up(struct summary *out)
{
	out->first = UINT64_MAX;
	for (size_t i = 0; i < out->nr_lanes; i++) {
		const struct summary_lane *l = &out->lanes[i];

		out->events += l->events;
		out->lost += l->lost;
		out->gaps += l->gaps;
		out->unknown += l->unknown;
		if (l->events && l->first < out->first)
			out->first = l->first;
		if (l->events && l->last > out->last)
			out->last = l->last;
	}
	if (!out->events)
		out->first = 0;
}

static struct counter *crew_new(struct spur_trace *t, unsigned int threads,
				const volatile int *stop, _Atomic size_t *next, struct summary *out)
{
	struct counter *crew = calloc(threads, sizeof(*crew));

	for (unsigned int i = 0; crew && i < threads; i++) {
		crew[i] = (struct counter){.trace = t, .sum = out, .next = next, .stop = stop};
		crew[i].by_event = calloc(t->events->nr + 1, sizeof(*crew[i].by_event));
		if (!crew[i].by_event)
			crew[0].rc = -ENOMEM;
	}
	return crew;
}

static void crew_run(struct counter *crew, unsigned int threads)
{
	unsigned int running = 1;

	/*
	 * The calling thread is the first. If fewer threads than wished can be started, that is
	 * fine.
	 */
	while (running < threads &&
	       pthread_create(&crew[running].thread, NULL, count_lanes, &crew[running]) == 0)
		running++;
	count_lanes(&crew[0]);
	while (running > 1)
		pthread_join(crew[--running].thread, NULL);
}

int summary_make(struct spur_trace *t, unsigned int threads, const volatile int *stop,
		 struct summary *out)
{
	_Atomic size_t next = 0;
	struct counter *crew;
	int rc;

	*out = (struct summary){0};
	rc = list_lanes(t, out);
	if (rc < 0)
		return rc;
	if (threads > out->nr_lanes)
		threads = out->nr_lanes ? (unsigned int)out->nr_lanes : 1;
	crew = crew_new(t, threads, stop, &next, out);
	if (!crew)
		return -ENOMEM;
	if (crew[0].rc == 0)
		crew_run(crew, threads);
	for (unsigned int i = 1; i < threads; i++) {
		if (crew[0].rc == 0)
			join(&crew[0], &crew[i], t->events->nr);
		map_free(&crew[i].by_pid);
		vec_free(&crew[i].tasks);
		free(crew[i].by_event);
	}
	rc = crew[0].rc;
	out->by_event = crew[0].by_event;
	out->tasks = crew[0].tasks.at;
	out->nr_tasks = crew[0].tasks.n;
	map_free(&crew[0].by_pid);
	free(crew);
	if (out->nr_tasks)
		qsort(out->tasks, out->nr_tasks, sizeof(*out->tasks), busiest_first);
	add_cut(t, out);
	add_up(out);
	return rc;
}

void summary_free(struct summary *s)
{
	free(s->lanes);
	free(s->by_event);
	free(s->tasks);
}
