// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The processes of a recording's threads. Recordings of spur's say who their tasks are. Elsewhere
 * records have the number of the thread only; whose it is some of them tell: the stack of a
 * program (user_stack has the process's number), the beginning of a task (task_newtask says
 * whether it is a thread of who began it), an exec (which leaves one thread, the first). A thread
 * of which nothing is told counts as a process.
 *
 * The file is searched once, when a program asks for the first time; from then on the records that
 * tell are followed as they come, because numbers are used again. Until the first that is about a
 * thread, it is taken to be what that one says.
 */
#include <sched.h>
#include <stdlib.h>

#include "base/map.h"
#include "script/run_file.h"

struct groups {
	struct map of; /* thread: process */
	struct event *stack, *task, *exec;
	const struct event_field *tgid, *child, *flags, *leader;
};

/* ---- what a record tells ---- */

static uint32_t find(const struct groups *g, uint32_t tid)
{
	const uint32_t known = (uint32_t)(uintptr_t)map_get(&g->of, tid);

	return known ? known : tid;
}

/* Whose process is known by a record; false when it tells of nobody. */
static bool told(const struct groups *g, const struct events *ev, const struct event *e,
		 const struct spur_record *rec, uint32_t *tid, uint32_t *group)
{
	const uint32_t own = (uint32_t)events_record_pid(ev, rec);
	uint64_t n, flags;

	if (e == g->stack && g->tgid && field_number(ev, g->tgid, rec, &n)) {
		*tid = own;
		*group = (uint32_t)n;
	} else if (e == g->task && g->child && g->flags && field_number(ev, g->child, rec, &n) &&
		   field_number(ev, g->flags, rec, &flags)) {
		*tid = (uint32_t)n;
		*group = flags & CLONE_THREAD ? find(g, own) : *tid;
	} else if (e == g->exec && g->leader && field_number(ev, g->leader, rec, &n)) {
		*tid = *group = (uint32_t)n;
	} else {
		return false;
	}
	return *tid && *group;
}

static void set(struct groups *g, uint32_t tid, uint32_t group)
{
	map_set(&g->of, tid, (void *)(uintptr_t)group);
}

void run_groups_follow(struct file_run *r, const struct event *e, const struct spur_record *rec)
{
	uint32_t tid, group;

	if (r->groups && told(r->groups, r->trace->events, e, rec, &tid, &group))
		set(r->groups, tid, group);
}

/* ---- the search ---- */

static const struct event_field *field_of(struct event *e, const char *name)
{
	return e ? event_field_find(e, name) : NULL;
}

static void search(struct file_run *r, struct groups *g, struct merge *m,
		   const struct lane_filter *only)
{
	const struct events *ev = r->trace->events;
	const struct spur_record *rec;
	uint32_t tid, group;

	for (uint32_t i = 0; i < r->trace->nr_buffers; i++)
		if (merge_add_buffer(m, &r->trace->buffers[i]) < 0)
			return;
	for (uint32_t i = 0; i < m->nr; i++)
		lane_set_filter(&m->lanes[i], only);
	merge_start(m);
	while ((rec = merge_next(m)))
		if (told(g, ev, events_of_record(ev, rec), rec, &tid, &group) &&
		    (rec->ts <= r->s->now.ns || !map_get(&g->of, tid)))
			set(g, tid, group);
}

static struct groups *run_groups_new(struct file_run *r)
{
	struct events *ev = r->trace->events;
	struct groups *g = calloc(1, sizeof(*g));
	struct lane_filter only;
	struct merge m;

	if (!g || lane_filter_init(&only, ev) < 0)
		return g;
	g->stack = events_find(ev, "ftrace", "user_stack");
	g->task = events_find(ev, "task", "task_newtask");
	g->exec = events_find(ev, "sched", "sched_process_exec");
	g->tgid = field_of(g->stack, "tgid");
	g->child = field_of(g->task, "pid");
	g->flags = field_of(g->task, "clone_flags");
	g->leader = field_of(g->exec, "pid");
	if (g->tgid)
		lane_filter_want(&only, g->stack);
	if (g->child && g->flags)
		lane_filter_want(&only, g->task);
	if (g->leader)
		lane_filter_want(&only, g->exec);
	merge_init(&m);
	search(r, g, &m, &only);
	merge_free(&m);
	lane_filter_free(&only);
	return g;
}

uint32_t run_group(struct script *s, uint32_t tid)
{
	struct file_run *r = s->file;
	const struct dat_task *told = trace_task_at(r->trace, (int)tid, s->now.ns);

	if (told && told->tgid)
		return (uint32_t)told->tgid;
	if (!r->groups)
		r->groups = run_groups_new(r);
	return r->groups ? find(r->groups, tid) : tid;
}

void run_groups_free(struct groups *g)
{
	if (!g)
		return;
	map_free(&g->of);
	free(g);
}
