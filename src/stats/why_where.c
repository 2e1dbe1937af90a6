// SPDX-License-Identifier: GPL-2.0-or-later
/* Where in the program or the kernel a task was at a moment: its system call, lock and stack. */
#include "table/analysis.h"
#include "table/sched.h"
#include "table/spans.h"
#include "table/stacks.h"
#include "stats/why_parts.h"

#define FIRST_SPAN 1000000u    /* ns */
#define MOST_SPAN  8000000000u /* a call that has lasted longer by then is not found */
#define BEHIND	   50000u      /* ns: a stack is written by then */
#define LOCK_SPAN  10000000u

/* ---- system calls ---- */

struct caller {
	const struct why_reader *r;
	int64_t pid;
	uint64_t ts;
	struct why_call *to;
	bool others;  /* there are calls, of whomever */
	bool outside; /* a call of the task had ended before */
};

static void take_call(void *arg, const void *row)
{
	const struct syscall_row *s = row;
	struct caller *c = arg;
	struct why *w = c->r->why;

	if (!why_is_here(c->r, s->buffer))
		return;
	c->others = true;
	if (s->pid != c->pid || s->ts > c->ts)
		return;
	/* One that never returns has no duration. */
	if (why_end_of(s->ts, s->dur) < c->ts && s->dur != ROW_NULL) {
		c->outside |= !s->open;
		return;
	}
	*c->to = (struct why_call){.known = WHY_FOUND,
				   .name = why_keep(w, s->name),
				   .args = why_keep(w, s->args),
				   .nr = s->nr,
				   .ts = s->ts};
}

static int read_call(struct caller *c, uint64_t since)
{
	return why_run_table(c->r, &syscalls_table, take_call, c, since, c->ts, NULL);
}

int why_call_at(const struct why_reader *r, int64_t pid, uint64_t ts, struct why_call *to)
{
	struct why_window w = why_window(r, ts, FIRST_SPAN, ts > MOST_SPAN ? ts - MOST_SPAN : 0);
	struct caller c = {.r = r, .pid = pid, .ts = ts, .to = to};
	int rc;

	*to = (struct why_call){.known = WHY_UNRECORDED};
	if (why_is_kthread(r, pid, ts)) {
		to->known = WHY_KERNEL;
		return 0;
	}
	if (!table_possible(&syscalls_table, r->trace))
		return 0;
	do {
		rc = read_call(&c, w.since);
	} while (rc == 0 && to->known != WHY_FOUND && !c.outside && why_window_grow(r, &w));
	if (rc == 0 && to->known != WHY_FOUND)
		to->known = c.outside ? WHY_NONE : c.others ? WHY_UNKNOWN : WHY_UNRECORDED;
	return rc;
}

/* ---- where a task went to sleep ---- */

/* lock:contention_begin's flags; the first that is set names the lock. */
static const struct {
	uint64_t flag;
	const char *name;
} locks[] = {{32, "mutex"},
	     {1, "spinlock"},
	     {16, "percpu-rwsem"},
	     {2, "lock, for reading"},
	     {4, "lock, for writing"},
	     {8, "real-time mutex"}};

struct sleeper {
	const struct why_reader *r;
	const char *lock;
	uint64_t addr;
};

static void take_stack(void *arg, const void *row)
{
	const struct stack_row *s = row;
	const struct sleeper *a = arg;
	struct why *w = a->r->why;

	if (s->ts == w->from && s->pid == w->asked.pid && why_is_here(a->r, s->buffer) &&
	    strcmp(s->kind, "kernel") == 0 && s->event && strcmp(s->event, "sched_switch") == 0)
		w->stack = why_keep(w, s->stack);
}

static bool is_its(const struct sleeper *a, const struct spur_record *r)
{
	return r->buffer == a->r->buffer->index && r->ts <= a->r->why->from &&
	       events_record_pid(a->r->trace->events, r) == a->r->why->asked.pid;
}

static void take_contention(void *arg, struct event *e, const struct spur_record *r)
{
	struct sleeper *a = arg;
	const struct events *ev = a->r->trace->events;
	const struct number addr = number_of(e, "lock_addr"), flags = number_of(e, "flags");
	uint64_t bits;

	if (!is_its(a, r))
		return;
	a->lock = "lock";
	a->addr = (uint64_t)number_get(ev, &addr, r);
	bits = (uint64_t)number_get(ev, &flags, r);
	for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++)
		if (bits & locks[i].flag) {
			a->lock = locks[i].name;
			return;
		}
}

static void take_contended(void *arg, struct event *e, const struct spur_record *r)
{
	struct sleeper *a = arg;

	if (is_its(a, r))
		a->lock = NULL;
}

static int read_sleeper(struct sleeper *a)
{
	const struct why_window w = why_window(a->r, a->r->why->from, LOCK_SPAN, 0);
	struct spur_error *err = a->r->err;
	struct feed *f = why_feed(a->r);
	int rc = 0;

	if (!f)
		return err->code;
	if (table_possible(&stacks_table, a->r->trace))
		rc = feed_add(f, &stacks_table, take_stack, a, err);
	if (rc == 0)
		rc = feed_watch(f, "lock:contention_begin", take_contention, a, err);
	if (rc == 0)
		rc = feed_watch(f, "lock:contention_end", take_contended, a, err);
	if (rc < 0) {
		feed_free(f);
		return rc;
	}
	return why_run(a->r, f, w.since, why_plus(a->r->why->from, BEHIND), NULL);
}

int why_slept_in(const struct why_reader *r)
{
	struct sleeper a = {.r = r};
	struct why *w = r->why;
	int rc = read_sleeper(&a);

	if (rc < 0)
		return rc;
	w->lock = a.lock;
	w->lock_addr = a.addr;
	return why_call_at(r, w->asked.pid, w->from, &w->call);
}
