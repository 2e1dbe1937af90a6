// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The processes of tasks. Records only have the pid of a task. Some of them show its process: the
 * stack of a program (user_stack has the process's number), the beginning of a task (task_newtask
 * says whether it is a thread of its creator's process), an exec (which leaves one thread, the
 * first), the processes whose mappings the file has, and what it says about tasks.
 *
 * All buffers of a file are from one kernel, so data from one of them are true for all. A pid that
 * is used again belongs to its last process, like a row has the last name. If threads belong
 * together, but the process is unknown, their creator represents the process. Other tasks have no
 * process.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "table/walk.h"
#include "view/index/internal.h"

#define MOST_LINKS 64	/* from a thread to its creator, to the creator of that one, … */
#define HELP_EVERY 2048 /* records between two looks at what others wait for */

struct member {
	uint32_t pid;
	uint32_t group; /* 0: not known */
	uint32_t like;	/* it is in the same process as this thread; 0: not known */
};

struct groups {
	struct view_index *x;
	struct slots members; /* struct member, by pid */
	struct event *stack, *task, *exec;
	const struct event_field *tgid, *child, *flags, *leader;
};

/* NULL if the pid is invalid, there are too many, or no memory. */
static struct member *member_of(struct groups *g, uint32_t pid)
{
	struct member *m;

	if (!pid || pid > INT32_MAX || g->members.map.n >= MOST_ROWS)
		return NULL;
	m = slots_get(&g->members, pid);
	if (m)
		m->pid = pid;
	return m;
}

/* Notes a task that is not a thread of its creator's process. */
static void set_leader(struct groups *g, uint32_t pid)
{
	struct member *m = member_of(g, pid);

	if (m)
		*m = (struct member){.pid = pid, .group = pid};
}

static void set_group(struct groups *g, uint32_t pid, uint32_t group)
{
	struct member *m = member_of(g, pid), *leader = member_of(g, group);

	if (!m || !leader)
		return;
	leader->group = group;
	/* So are the tasks that created it as one of their threads. */
	for (int i = 0; i < MOST_LINKS && m; i++) {
		m->group = group;
		m = m->like ? slots_find(&g->members, m->like) : NULL;
		if (m && m->group)
			break;
	}
}

static void set_like(struct groups *g, uint32_t pid, uint32_t like)
{
	struct member *m = member_of(g, pid);
	const struct member *who = member_of(g, like);

	if (!m || !who || m == who)
		return;
	m->group = who->group;
	m->like = like;
}

/* ---- what records tell ---- */

static void take(struct groups *g, const struct event *e, const struct spur_record *r)
{
	const struct events *ev = g->x->trace->events;
	const uint32_t own = (uint32_t)events_record_pid(ev, r);
	uint64_t n, flags;

	if (e == g->stack && g->tgid && field_number(ev, g->tgid, r, &n)) {
		set_group(g, own, (uint32_t)n);
	} else if (e == g->task && g->child && g->flags && field_number(ev, g->child, r, &n) &&
		   field_number(ev, g->flags, r, &flags)) {
		if (flags & CLONE_THREAD)
			set_like(g, (uint32_t)n, own);
		else
			set_leader(g, (uint32_t)n);
	} else if (e == g->exec && g->leader && field_number(ev, g->leader, r, &n)) {
		set_leader(g, (uint32_t)n);
	}
}

/* An event with these fields that the trace has records of, or NULL. */
static struct event *event_with(struct view_index *x, const char *system, const char *name)
{
	struct event *e = events_find(x->trace->events, system, name);

	return e && index_has_event(x, system, name) && event_ready(e) != EVENT_BROKEN ? e : NULL;
}

static const struct event_field *field_of(struct event *e, const char *name)
{
	return e ? event_field_find(e, name) : NULL;
}

static bool find_events(struct groups *g)
{
	g->stack = event_with(g->x, "ftrace", "user_stack");
	g->task = event_with(g->x, "task", "task_newtask");
	g->exec = event_with(g->x, "sched", "sched_process_exec");
	g->tgid = field_of(g->stack, "tgid");
	g->child = field_of(g->task, "pid");
	g->flags = field_of(g->task, "clone_flags");
	g->leader = field_of(g->exec, "pid");
	return g->tgid || (g->child && g->flags) || g->leader;
}

static void read_records(struct groups *g)
{
	const struct walk_options opt = {.stop = &g->x->stop};
	const struct events *ev = g->x->trace->events;
	const struct spur_record *r;
	struct walk w;
	uint64_t n = 0;
	int rc = walk_open(&w, g->x->trace, &opt, NULL);

	if (rc < 0)
		index_fail(g->x, rc);
	if (g->tgid)
		walk_want(&w, g->stack);
	if (g->child && g->flags)
		walk_want(&w, g->task);
	if (g->leader)
		walk_want(&w, g->exec);
	while (rc == 0 && (r = walk_next(&w)) != NULL) {
		take(g, events_of_record(ev, r), r);
		if (++n % HELP_EVERY == 0)
			index_help(g->x, NULL);
	}
	walk_close(&w);
}

/* ---- the result ---- */

/* Follows the creators until the process of one is known. */
static uint32_t resolve(struct groups *g, const struct member *m)
{
	for (int i = 0; i < MOST_LINKS && !m->group && m->like; i++) {
		const struct member *next = slots_find(&g->members, m->like);

		if (!next)
			break;
		m = next;
	}
	return m->group ? m->group : m->pid;
}

static void hand_over(struct groups *g)
{
	const struct map *map = &g->members.map;

	for (size_t i = 0; i < map->cap; i++) {
		const struct member *m = map->slots[i].value;
		bool kept = true;

		if (!m || (!m->group && !m->like))
			continue;
		kept = row_group(&g->x->rows, m->pid, resolve(g, m));
		/* Their creator is of the same process, too. */
		if (kept && !m->group)
			kept = row_group(&g->x->rows, resolve(g, m), resolve(g, m));
		if (!kept) {
			index_fail(g->x, -ENOMEM);
			return;
		}
	}
	row_groups_apply(&g->x->rows);
}

void processes_find(struct view_index *x)
{
	const struct dat *dat = x->trace->dat;
	struct groups g = {.x = x};

	slots_init(&g.members, sizeof(struct member), ROWS_LIMIT);
	for (size_t i = 0; i < dat->nr_processes; i++)
		set_leader(&g, (uint32_t)dat->processes[i].pid);
	/* A later entry of the same task replaces an earlier one. */
	for (size_t i = 0; i < dat->nr_tasks; i++)
		if (dat->tasks[i].tgid)
			set_group(&g, (uint32_t)dat->tasks[i].pid, (uint32_t)dat->tasks[i].tgid);
	if (find_events(&g))
		read_records(&g);
	if (!index_stopped(x))
		hand_over(&g);
	slots_free(&g.members);
}
