// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which process a task is of.
 *
 * Recordings of spur have the processes of their tasks. Other traces name tasks, not processes.
 * Some events help: stacks of programs have the process, a new task is a thread of its parent's
 * process or a process of its own, and a task that executes a program is a process. Perfetto
 * accepts only one process for a task, so a written process does not change. If it is unknown when
 * it has to be written, the task becomes a process of its own.
 */
#include "export/perfetto/perfetto.h"

#include <errno.h>

#include "base/vec.h"
#include "event/names.h"

#define NEW_THREAD 0x10000 /* of clone_flags */

/* ProcessTree */
enum { TREE_PROCESS = 1, TREE_THREAD = 2 };
enum { PROCESS_PID = 1, PROCESS_PARENT = 2, PROCESS_NAME = 3 };
enum { THREAD_TID = 1, THREAD_NAME = 2, THREAD_TGID = 3 };

/* Adds what the file says about the first task with that pid. */
static void take_told(struct perfetto *p, struct task_note *t)
{
	const struct dat_task *told = trace_task_at(p->trace, t->pid, 0);

	if (!told)
		return;
	t->tgid = told->tgid;
	t->ppid = told->ppid;
}

/* NULL beyond the limit: nothing is known about the task. */
static struct task_note *task_of(struct perfetto *p, int32_t pid)
{
	struct task_note *t = pid > 0 ? slots_get(&p->tasks, (uint32_t)pid) : NULL;

	if (!t || t->pid)
		return t;
	if (!vec_add(&p->all_tasks, &t)) {
		p->failed = -ENOMEM;
		return NULL;
	}
	t->pid = pid;
	take_told(p, t);
	return t;
}

static void set_tgid(struct perfetto *p, int32_t pid, int32_t tgid)
{
	struct task_note *t = task_of(p, pid);

	if (t && !t->tgid && tgid > 0)
		t->tgid = tgid;
}

/* A pid that is used again is another task, about which Perfetto learns from the same event. */
static void take_new_task(struct perfetto *p, int32_t parent, int32_t child, uint64_t flags)
{
	struct task_note *t = task_of(p, child);
	const struct task_note *from = parent > 0 ? slots_find(&p->tasks, (uint32_t)parent) : NULL;

	if (!t)
		return;
	t->born = true;
	t->ppid = parent;
	t->tgid = !(flags & NEW_THREAD) ? child : from ? from->tgid : 0;
}

void perfetto_tasks_record(struct perfetto *p, const struct event_kind *k,
			   const struct spur_record *r)
{
	const struct events *ev = p->trace->events;
	const int32_t pid = events_record_pid(ev, r);
	const int32_t target = (int32_t)number_get(ev, &k->next_pid, r);
	struct task_note *t;

	if (k->is_stack) {
		if (number_in(&k->tgid, r))
			set_tgid(p, pid, (int32_t)number_get(ev, &k->tgid, r));
	} else if (k->clone_flags.size) {
		take_new_task(p, pid, target, (uint64_t)number_get(ev, &k->clone_flags, r));
	} else if (k->prev_pid.size) {
		t = task_of(p, target);
		if (t && !t->ppid)
			t->ppid = (int32_t)number_get(ev, &k->prev_pid, r);
	} else {
		set_tgid(p, target, target);
	}
}

int32_t perfetto_tgid(struct perfetto *p, int32_t pid)
{
	struct task_note *t = task_of(p, pid);

	if (!t)
		return pid;
	if (!t->tgid)
		t->tgid = pid;
	return t->tgid;
}

/* ---- the tree ------------------------------------------------------------------------- */

static void put_name(struct buf *b, uint32_t field, const struct comms *comms, int32_t pid)
{
	size_t len;
	const char *name = comms_find(comms, pid, &len);

	if (comms_known(comms, pid))
		proto_text(b, field, name, len);
}

static void put_process(struct perfetto *p, const struct task_note *t)
{
	struct buf *b = &p->out->buf;
	const size_t start = proto_begin(b, TREE_PROCESS);

	proto_number(b, PROCESS_PID, (uint64_t)t->pid);
	if (t->ppid > 0)
		proto_number(b, PROCESS_PARENT, (uint64_t)perfetto_tgid(p, t->ppid));
	put_name(b, PROCESS_NAME, p->trace->events->comms, t->pid);
	proto_end(b, start);
}

static void put_thread(struct perfetto *p, const struct task_note *t)
{
	struct buf *b = &p->out->buf;
	const size_t start = proto_begin(b, TREE_THREAD);

	proto_number(b, THREAD_TID, (uint64_t)t->pid);
	put_name(b, THREAD_NAME, p->trace->events->comms, t->pid);
	proto_number(b, THREAD_TGID, (uint64_t)t->tgid);
	proto_end(b, start);
}

static void add_named(void *arg, int pid, const char *name)
{
	task_of(arg, pid);
}

/*
 * Written at the end, when everything is known, with the time of the start, because Perfetto sorts
 * by time. Tasks that were created within the trace are defined by the events that created them.
 */
void perfetto_process_tree(struct perfetto *p)
{
	struct buf *b = &p->out->buf;
	size_t packet, start;

	comms_each(p->trace->events->comms, add_named, p);
	packet = packet_begin(p, p->next_sequence++);
	proto_number(b, PACKET_TIME, p->first);
	start = proto_begin(b, PACKET_PROCESS_TREE);
	/* By index, because new processes may be added meanwhile. */
	for (size_t i = 0; i < p->all_tasks.n; i++) {
		const struct task_note *t = p->all_tasks.at[i];

		if (t->born)
			continue;
		if (perfetto_tgid(p, t->pid) == t->pid)
			put_process(p, t);
		else
			put_thread(p, t);
	}
	proto_end(b, start);
	packet_end(p, packet);
}
