// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a record means to a profile: something begins, something ends, or it is only counted.
 *
 * A stack follows the event it was taken at, as a record of its own. Handlers therefore leave
 * behind what the next stack of the task belongs to: the beginning (last_start), the entry
 * (last_entry), or another task's (proxy). Function graph entries are the exception: their stack
 * comes before them.
 */
#include <string.h>

#include "stats/profile_parts.h"

#define REAL_STATES 0x3ffu /* bits of prev_state that are a task's state */

/* As trace-cmd reads fields: without a sign; 0 for what is no number or not in the record. */
static uint64_t number(const struct watch *w, const struct event_field *f,
		       const struct spur_record *r)
{
	return f ? record_uint(w->event->events, r, f->offset, f->size) : 0;
}

static void learn_comm(struct task *t, const struct watch *w, const struct event_field *f,
		       const struct spur_record *r)
{
	size_t size;
	const uint8_t *name;

	if (t->named || !f)
		return;
	name = field_bytes(w->event->events, f, r, &size);
	if (name)
		task_name(t, (const char *)name, size);
}

static void count_stack(struct entry *e, const struct stack *stack, uint64_t duration, uint64_t ts)
{
	struct stack_use *u = stack_use_find(e, stack);

	if (u)
		figures_add(&u->f, duration, ts);
}

/* Ends what has begun last at that watch with that value; the entry it was counted in, or NULL. */
static struct entry *finish(struct task *t, struct watch *begun, uint64_t search, uint64_t ts)
{
	struct start *st = begun ? start_find(t, begun, search) : NULL;
	struct entry *e = st ? entry_find(t, begun, search, st->value) : NULL;

	if (e) {
		/* Clocks of different CPUs may disagree a little. */
		int64_t delta = (int64_t)(ts - st->ts);

		e->last = delta > 0 ? (uint64_t)delta : 0;
		figures_add(&e->f, e->last, ts);
		if (st->stack)
			count_stack(e, st->stack, e->last, st->stack_ts);
	}
	if (st)
		start_drop(st);
	return e;
}

/* The task that a pair's record is about. */
static struct task *task_of(struct scope *s, struct task *current, const struct watch *w,
			    const struct spur_record *r)
{
	if (w->global)
		return w->pinned ? task_of_cpu(s, r->cpu) : task_of_all(s);
	return w->pid ? task_find(s, (int)number(w, w->pid, r)) : current;
}

static struct task *end(struct scope *s, struct task *current, struct watch *w,
			const struct spur_record *r)
{
	struct task *t = task_of(s, current, w, r);

	if (t) {
		t->last_entry = finish(t, w->start, number(w, w->start_match, r), r->ts);
		t->last_start = NULL;
	}
	return t;
}

static struct task *begin(struct scope *s, struct task *current, struct watch *w,
			  const struct spur_record *r)
{
	struct task *t = task_of(s, current, w, r);
	uint64_t value = number(w, w->end_match, r);

	if (t) {
		t->last_start = start_add(t, w, r, value, value);
		t->last_entry = NULL;
	}
	return t;
}

void handle_pair(struct scope *s, struct task *current, struct watch *w,
		 const struct spur_record *r)
{
	uint64_t value;

	if (w->start)
		end(s, current, w, r);
	if (w->end)
		begin(s, current, w, r);
	if (w->start || w->end)
		return;
	value = number(w, w->data, r);
	current->proxy = NULL;
	current->last_start = NULL;
	current->last_entry = entry_find(current, w, value, value);
	if (current->last_entry)
		current->last_entry->f.count++;
}

void handle_switch(struct scope *s, struct task *current, struct watch *w,
		   const struct spur_record *r)
{
	int prev_pid = (int)number(w, w->pid, r), next_pid = (int)number(w, w->end_match, r);
	uint64_t state = number(w, w->data, r) & REAL_STATES;
	struct task *prev = task_find(s, prev_pid), *next;

	if (prev) {
		learn_comm(prev, w, w->comm, r);
		prev->sleeping = state != 0;
		prev->last_start = start_add(prev, w, r, (uint32_t)prev_pid, state);
		prev->last_entry = NULL;
	}
	next = task_find(s, next_pid);
	if (!next)
		return;
	learn_comm(next, w, w->next_comm, r);
	/* It was either woken or preempted; nothing has begun of what it was not. */
	finish(next, w->start, (uint32_t)next_pid, r->ts);
	finish(next, w, (uint32_t)next_pid, r->ts);
}

void handle_wakeup(struct scope *s, struct task *current, struct watch *w,
		   const struct spur_record *r)
{
	int pid = (int)number(w, w->pid, r);
	struct task *t;

	if (w->data && !number(w, w->data, r))
		return;
	t = task_find(s, pid);
	if (!t)
		return;
	learn_comm(t, w, w->comm, r);
	if (!t->sleeping) {
		current->proxy = NULL;
		current->last_start = NULL;
		current->last_entry = NULL;
		return;
	}
	t->sleeping = false;
	/* The stack that follows shows who woke it, and belongs to the one woken. */
	current->proxy = t;
	finish(t, w->start, (uint32_t)pid, r->ts);
	t->last_start = start_add(t, w, r, (uint32_t)pid, (uint32_t)pid);
	t->last_entry = NULL;
}

void handle_stack(struct scope *s, struct task *current, struct watch *w,
		  const struct spur_record *r)
{
	struct profile *p = s->profile;
	struct task *t = current->proxy ? current->proxy : current;
	uint32_t offset = w->data->offset;
	const struct stack *stack = NULL;

	if (r->size > offset && r->size - offset >= w->event->events->long_size)
		stack = stack_keep(p, r->data + offset, r->size - offset);
	current->proxy = NULL;
	current->last_stack = NULL;
	if (t->last_start) {
		/* It is counted when what has begun ends. */
		t->last_start->stack = stack;
		t->last_start->stack_ts = r->ts;
	} else if (t->last_entry) {
		if (stack)
			count_stack(t->last_entry, stack, t->last_entry->last, r->ts);
	} else {
		current->last_stack = stack;
		current->last_stack_ts = r->ts;
		current->last_stack_number = ++p->stack_number;
	}
	t->last_start = NULL;
	t->last_entry = NULL;
}

void handle_graph_entry(struct scope *s, struct task *current, struct watch *w,
			const struct spur_record *r)
{
	struct task *t = begin(s, current, w, r);

	if (!t)
		return;
	if (t->last_start && t->last_stack) {
		t->last_start->stack = t->last_stack;
		t->last_start->stack_ts = t->last_stack_ts;
	}
	t->last_stack = NULL;
	/* A stack that follows is not this function's. */
	t->last_start = NULL;
}

void handle_graph_exit(struct scope *s, struct task *current, struct watch *w,
		       const struct spur_record *r)
{
	struct task *t = end(s, current, w, r);

	if (t)
		t->last_entry = NULL;
}

void handle_exec(struct scope *s, struct task *current, struct watch *w,
		 const struct spur_record *r)
{
	struct task *t = w->data ? task_find(s, (int)number(w, w->data, r)) : current;

	/* Its new name comes with the next scheduler event. */
	if (t)
		t->named = false;
}
