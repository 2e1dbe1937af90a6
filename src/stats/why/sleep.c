// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How a sleep ended: where the task slept, what woke it, and which tasks had to run before that.
 *
 * The wakeup is a record of the moment at which the sleep ends. It has the task that ran on its
 * CPU, and whether that was interrupted. Then this reads what ran there at that moment: the
 * innermost handler, softirq, timer or work that has begun and not ended.
 */
#include <errno.h>

#include "stats/renames.h"
#include "stats/why/reader.h"
#include "base/array.h"
#include "base/vec.h"
#include "event/names.h"
#include "event/pretty_tables.h"
#include "table/analysis.h"
#include "table/sched.h"
#include "table/spans.h"
#include "table/stacks.h"

#define STACK_DELAY  50000u	 /* ns: a stack is written by then */
#define LOCK_SPAN    10000000u	 /* ns */
#define LOCK_MOST    8000000000u /* outside of system calls, locks are not looked for earlier */
#define HANDLER_SPAN 10000000u	 /* ns: handlers do not take longer */
#define ISSUE_BEFORE 2000000000u /* ns: a task sleeps so soon after it issued a request */
#define MAX_NESTED   8
#define NR_VECTORS   16 /* softirqs have numbers below */

/* common_flags */
#define IN_HARDIRQ	 (1 << 3)
#define IN_SOFTIRQ	 (1 << 4)
#define IN_NMI		 (1 << 6)
#define NR_INNER	 ARRAY_SIZE(inner_kinds)
#define SIGNAL_DELIVERED 0
#define SIGNAL_IGNORED	 1
#define CONTINUE	 18 /* SIGCONT */

/* The waking of a task adds so much to the preemption count of its caller. */
#define WAKING_ADDS 2
#define LINK_SPAN   20000000u  /* ns */
#define LINK_BEFORE 100000000u /* so long before the wait, at least */

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
	bool seen; /* it has waited for a lock, or got one: earlier ones do not matter */
};

static void take_slept_stack(void *arg, const void *row)
{
	const struct stack_row *s = row;
	const struct sleeper *a = arg;
	struct why *w = a->r->why;

	if (s->ts == w->from && s->pid == w->asked.pid && why_is_here(a->r, s->buffer) &&
	    s->kind == STACK_KERNEL && s->event && strcmp(s->event, "sched_switch") == 0)
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
	a->seen = true;
	a->lock = "lock";
	a->addr = (uint64_t)number_get(ev, &addr, r);
	bits = (uint64_t)number_get(ev, &flags, r);
	for (size_t i = 0; i < ARRAY_SIZE(locks); i++)
		if (bits & locks[i].flag) {
			a->lock = locks[i].name;
			return;
		}
}

static void take_contended(void *arg, struct event *e, const struct spur_record *r)
{
	struct sleeper *a = arg;

	if (!is_its(a, r))
		return;
	a->seen = true;
	a->lock = NULL;
}

static int read_sleeper(struct sleeper *a, uint64_t since)
{
	struct feed *f = why_feed(a->r);

	if (table_possible(&stacks_table, a->r->trace))
		feed_add(f, &stacks_table, take_slept_stack, a);
	feed_watch(f, "lock:contention_begin", take_contention, a);
	feed_watch(f, "lock:contention_end", take_contended, a);
	return why_run(a->r, f, since, u64_add(a->r->why->from, STACK_DELAY), NULL);
}

/* How long ago the task can have begun to wait for a lock: a system call ends without any. */
static uint64_t lock_bound(const struct why *w)
{
	if (w->call.known == WHY_FOUND)
		return w->call.ts;
	return w->from > LOCK_MOST ? w->from - LOCK_MOST : 0;
}

/* In the reader's buffer. */
static int find_lock(const struct why_reader *r, bool *seen)
{
	struct sleeper a = {.r = r};
	struct why *w = r->why;
	const bool locks_known = events_find(r->trace->events, "lock", "contention_begin");
	struct why_window window = why_window(r, w->from, LOCK_SPAN, lock_bound(w));
	int rc;

	do {
		rc = read_sleeper(&a, window.since);
	} while (rc == 0 && locks_known && !a.seen && why_window_grow(r, &window));
	w->lock = a.lock;
	w->lock_addr = a.addr;
	*seen = a.seen;
	return rc;
}

int why_slept_in(const struct why_reader *r)
{
	struct why *w = r->why;
	struct why_reader other;
	bool seen = false, is;
	int rc = why_call_at(r, w->asked.pid, w->from, false, &w->call);

	if (rc == 0)
		rc = find_lock(r, &seen);
	for (uint32_t i = 0; rc == 0 && !seen && i < r->trace->nr_buffers; i++) {
		rc = why_other(r, i, w->from, &other, &is);
		if (rc == 0 && is)
			rc = find_lock(&other, &seen);
	}
	return rc;
}

/* ---- the wakeup ---- */

struct wakeup {
	const struct why_reader *r;
	int64_t pid;
	uint64_t ts;
	struct why_wake *to;
	unsigned int preempt_count;
	bool done;
};

static enum why_context context_of(unsigned int flags)
{
	if (flags & IN_NMI)
		return WHY_IN_NMI;
	if (flags & IN_HARDIRQ)
		return WHY_IN_IRQ;
	return flags & IN_SOFTIRQ ? WHY_IN_SOFTIRQ : WHY_IN_TASK;
}

static unsigned int preempt_count_of(const struct events *ev, const struct spur_record *r)
{
	const struct event_field *f = &ev->common.preempt_count;

	/* The other half counts how often migration was disabled. */
	return ev->common.has_preempt_count ? record_uint(ev, r, f->offset, f->size) & 0xf : 0;
}

static void take_wakeup(void *arg, struct event *e, const struct spur_record *r)
{
	struct wakeup *w = arg;
	const struct events *ev = w->r->trace->events;
	const struct number pid = number_of(e, "pid"), success = number_of(e, "success");
	int64_t by;

	if (w->to->found || r->ts != w->ts || r->buffer != w->r->buffer->index ||
	    !number_in(&pid, r) || number_get(ev, &pid, r) != w->pid ||
	    (number_in(&success, r) && !number_get(ev, &success, r)))
		return;
	by = events_record_pid(ev, r);
	*w->to = (struct why_wake){.found = true,
				   .ts = r->ts,
				   .cpu = r->cpu,
				   .pid = by,
				   .comm = why_keep(w->r->why, why_name(w->r, by, r->ts)),
				   .context = context_of(events_record_flags(ev, r)),
				   .is_new = strcmp(e->name, "sched_wakeup_new") == 0,
				   .irq = ROW_NULL};
	w->preempt_count = preempt_count_of(ev, r);
	w->done = true;
}

static int find_wakeup(const struct why_reader *r, int64_t pid, uint64_t ts, struct why_wake *to,
		       unsigned int *preempt_count)
{
	struct wakeup w = {.r = r, .pid = pid, .ts = ts, .to = to};
	struct feed *f = why_feed(r);
	int rc;

	*to = (struct why_wake){.cpu = ROW_NULL, .pid = ROW_NULL, .irq = ROW_NULL};
	feed_watch(f, "sched:sched_wak*", take_wakeup, &w);
	rc = why_run(r, f, ts, ts, &w.done);
	*preempt_count = w.preempt_count;
	return rc;
}

/* ---- what goes on at its moment ---- */

/* What begins with one event and ends with another on a CPU. */
static const struct inner_kind {
	const char *begin, *end;
	const char *name;
	bool in_task;
} inner_kinds[] = {
	{"timer:hrtimer_expire_entry", "timer:hrtimer_expire_exit", "hrtimer", false},
	{"timer:timer_expire_entry", "timer:timer_expire_exit", "timer", false},
	{"irq:tasklet_entry", "irq:tasklet_exit", "tasklet", false},
	{"irq_vectors:*_entry", "irq_vectors:*_exit", "vector", false},
	{"workqueue:workqueue_execute_start", "workqueue:workqueue_execute_end", "work", true},
};

struct inner {
	const struct inner_kind *kind;
	const char *function;
};

/* What made a softirq due, since it ran last. */
struct raises {
	bool any, by_task; /* all of them were outside of interrupts, by this task: */
	int64_t pid;
};

struct around {
	const struct why_reader *r;
	struct why_wake *to;
	uint64_t irq_ts, softirq_ts;
	bool in_irq, in_softirq;
	bool whole; /* earlier records would not help */
	struct inner stack[MAX_NESTED];
	size_t depth;
	int64_t woken;
	unsigned int preempt_count; /* at the wakeup */
	bool left;		    /* the waker has done something else meanwhile */
	bool named;		    /* the waker's name at that time is known */
	/* The last request that was done on the CPU: */
	bool done;
	uint64_t done_ts, dev, sector;
	uint64_t issued;
	bool by_task;			  /* it was issued outside of interrupts */
	struct raises raises[NR_VECTORS]; /* by softirq: since it began last, … */
	struct raises before[NR_VECTORS]; /* … and before that */
	int64_t softirq;
};

static bool is_around(const struct around *a, uint64_t ts, int64_t dur, int64_t cpu,
		      const char *buffer)
{
	return cpu == a->to->cpu && why_is_here(a->r, buffer) && ts <= a->to->ts &&
	       row_end_of(ts, dur) >= a->to->ts;
}

static void take_irq(void *arg, const void *row)
{
	const struct irq_row *i = row;
	struct around *a = arg;

	/* The innermost one is the one that began last. */
	if (!is_around(a, i->ts, i->dur, i->cpu, i->buffer) || (a->in_irq && i->ts < a->irq_ts))
		return;
	a->in_irq = true;
	a->irq_ts = i->ts;
	a->to->irq = i->irq;
	a->to->irq_name = why_keep(a->r->why, i->name);
}

static void take_softirq(void *arg, const void *row)
{
	const struct softirq_row *s = row;
	struct around *a = arg;

	if (!is_around(a, s->ts, s->dur, s->cpu, s->buffer) ||
	    (a->in_softirq && s->ts < a->softirq_ts))
		return;
	a->in_softirq = true;
	a->softirq_ts = s->ts;
	a->softirq = s->vec;
	a->to->softirq = why_keep(a->r->why, s->name);
}

static void take_waker_stack(void *arg, const void *row)
{
	const struct stack_row *s = row;
	struct around *a = arg;

	if (s->ts == a->to->ts && s->cpu == a->to->cpu && why_is_here(a->r, s->buffer) &&
	    s->kind == STACK_KERNEL && s->event && strncmp(s->event, "sched_wak", 9) == 0 &&
	    !a->to->stack)
		a->to->stack = why_keep(a->r->why, s->stack);
}

static bool is_here(const struct around *a, const struct spur_record *r)
{
	return r->buffer == a->r->buffer->index && r->cpu == a->to->cpu && r->ts <= a->to->ts;
}

static void take_raise(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;
	const struct events *ev = a->r->trace->events;
	const struct number number = number_of(e, "vec");
	const int64_t vec = number_in(&number, r) ? number_get(ev, &number, r) : -1;
	const int64_t pid = events_record_pid(ev, r);
	struct raises *all;

	if (!is_here(a, r) || vec < 0 || vec >= NR_VECTORS)
		return;
	all = &a->raises[vec];
	if (strcmp(e->name, "softirq_entry") == 0) {
		a->before[vec] = *all;
		*all = (struct raises){0};
		return;
	}
	if (!all->any)
		*all = (struct raises){.any = true, .by_task = true, .pid = pid};
	all->by_task &= pid == all->pid && context_of(events_record_flags(ev, r)) == WHY_IN_TASK;
}

/* The function that a record names, or what its event is called for a vector. */
static const char *function_of(const struct around *a, const struct inner_kind *k, struct event *e,
			       const struct spur_record *r)
{
	const struct number n = number_of(e, "function");
	const struct events *ev = a->r->trace->events;
	const struct symbol *sym;

	if (strcmp(k->name, "vector") == 0)
		return intern_text(&a->r->why->texts, e->name, strlen(e->name) - strlen("_entry"));
	sym = number_in(&n, r) ? symbols_find(ev->symbols, (uint64_t)number_get(ev, &n, r)) : NULL;
	return sym ? why_keep(a->r->why, sym->name) : NULL;
}

static void take_inner(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;

	if (!is_here(a, r))
		return;
	for (const struct inner_kind *k = inner_kinds; k < inner_kinds + NR_INNER; k++) {
		size_t n = a->depth;

		if (event_named(e, k->begin) && a->depth < MAX_NESTED) {
			a->stack[a->depth++] = (struct inner){k, function_of(a, k, e, r)};
			return;
		}
		if (!event_named(e, k->end))
			continue;
		/* The ends of those inside it were lost. */
		while (n && a->stack[n - 1].kind != k)
			n--;
		a->depth = n ? n - 1 : a->depth;
		return;
	}
}

/* What the waker was called by then; the file's own list has a later name, or none. */
static void take_switch(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;
	const struct events *ev = a->r->trace->events;
	const bool before = r->ts <= a->to->ts;
	const struct number pid = number_of(e, before ? "next_pid" : "prev_pid");
	const char *text;
	size_t len;

	if (r->buffer == a->r->buffer->index && r->cpu == a->to->cpu)
		a->left |= !before;
	if (r->buffer != a->r->buffer->index || r->cpu != a->to->cpu || !number_in(&pid, r) ||
	    number_get(ev, &pid, r) != a->to->pid || (a->named && !before))
		return;
	text = record_text(ev, event_field_find(e, before ? "next_comm" : "prev_comm"), r, &len);
	if (!text || !len)
		return;
	a->to->comm = intern_text(&a->r->why->texts, text, len);
	a->named = true;
}

/* The waker may have got another name since it was switched to, or after the wakeup. */
static void take_rename(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;
	const bool before = r->ts <= a->to->ts;
	const struct event_field *old = before ? NULL : event_field_find(e, "oldcomm");
	int64_t pid;
	const char *name = why_new_name(a->r, e, r, &pid), *text;
	size_t len = 0;

	if (!name || pid != a->to->pid || (a->named && !before))
		return;
	text = old ? record_text(a->r->trace->events, old, r, &len) : NULL;
	if (before || len)
		a->to->comm = before ? name : intern_text(&a->r->why->texts, text, len);
	a->named = true;
}

/* ---- a signal that was sent there ---- */

/* Whether two tasks are threads of one process, as far as the file knows. */
static bool same_process(const struct why_reader *r, int64_t a, int64_t b, uint64_t ts)
{
	const struct dat_task *one = trace_task_at(r->trace, (int)a, ts),
			      *other = trace_task_at(r->trace, (int)b, ts);

	return one && other && one->tgid && one->tgid == other->tgid;
}

/* A signal that continues a stopped task does so even when the task ignores it. */
static bool signal_wakes(const struct around *a, int64_t sig, int64_t result)
{
	const struct why *w = a->r->why;

	if (result == SIGNAL_IGNORED)
		return sig == CONTINUE && a->woken == w->asked.pid && w->state == RUN_STOPPED;
	return result == SIGNAL_DELIVERED;
}

/*
 * The wakeup and the signal's record are written under the same locks, the wakeup a little deeper.
 * A kernel that counts locks shows that. A task that exits may close a pipe, which wakes its
 * parent, and then send SIGCHLD.
 */
static bool same_locks(const struct around *a, const struct spur_record *r)
{
	const unsigned int count = preempt_count_of(a->r->trace->events, r);

	return !count || a->preempt_count >= count + WAKING_ADDS;
}

/*
 * The kernel wakes the receiver while it sends a signal, and writes signal_generate right after
 * that. A signal whose record comes before the wakeup has not caused it: a parent that waits for
 * its child gets SIGCHLD first and is woken then, whether it ignores the signal or not.
 */
static void take_signal(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;
	const struct events *ev = a->r->trace->events;
	const struct number sig = number_of(e, "sig"), pid = number_of(e, "pid"),
			    group = number_of(e, "group"), result = number_of(e, "result");
	int64_t to, number;

	if (a->left || a->to->signal || r->buffer != a->r->buffer->index || r->cpu != a->to->cpu ||
	    r->ts < a->to->ts || events_record_pid(ev, r) != a->to->pid ||
	    context_of(events_record_flags(ev, r)) != a->to->context || !number_in(&sig, r) ||
	    !number_in(&pid, r) || !number_in(&result, r))
		return;
	if (!same_locks(a, r))
		return;
	to = number_get(ev, &pid, r);
	number = number_get(ev, &sig, r);
	if (!signal_wakes(a, number, number_get(ev, &result, r)) ||
	    (to != a->woken && !(number_in(&group, r) && number_get(ev, &group, r) &&
				 same_process(a->r, to, a->woken, r->ts))))
		return;
	a->to->signal = number;
	/* Machines whose numbers are not known may have others. */
	if (number > 0 && pretty_arch_find(a->r->trace->dat->uname))
		a->to->signal_name = pretty_signal((unsigned int)number);
}

/* The end of a system call: later records do not belong to the wakeup. */
static void take_return(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;

	if (r->buffer == a->r->buffer->index && r->cpu == a->to->cpu && r->ts > a->to->ts)
		a->left = true;
}

/* ---- a request that was done there ---- */

static void take_complete(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;
	const struct events *ev = a->r->trace->events;
	const struct number dev = number_of(e, "dev"), sector = number_of(e, "sector");

	if (!is_here(a, r) || !number_in(&dev, r) || !number_in(&sector, r))
		return;
	a->done = true;
	a->done_ts = r->ts;
	a->dev = (uint64_t)number_get(ev, &dev, r);
	a->sector = (uint64_t)number_get(ev, &sector, r);
}

/* Rows come as requests are done: of the last one on the CPU, before the wakeup. */
static void take_request(void *arg, const void *row)
{
	const struct block_row *b = row;
	struct around *a = arg;
	struct why *w = a->r->why;

	if (!a->done || a->done_ts != row_end_of(b->ts, b->dur) || !why_is_here(a->r, b->buffer) ||
	    (b->open && (b->open != ROW_OPEN_START || !a->whole)))
		return;
	a->to->request = (struct why_request){.found = true,
					      .device = why_keep(w, b->device),
					      .rwbs = why_keep(w, b->rwbs),
					      .sector = b->sector,
					      .bytes = b->bytes,
					      .dur = b->open ? ROW_NULL : b->dur,
					      .pid = b->pid,
					      .comm = why_keep(w, b->comm)};
}

/*
 * Whether the request has to do with the wakeup: it was done by the handler that woke the task, or
 * it was the task's own, done while it slept.
 */
static bool request_counts(const struct around *a, int64_t woken)
{
	const struct why_wake *w = a->to;

	if (!w->request.found)
		return false;
	if (a->in_irq && w->context == WHY_IN_IRQ && a->done_ts >= a->irq_ts)
		return true;
	if (a->in_softirq && w->context == WHY_IN_SOFTIRQ && a->done_ts >= a->softirq_ts)
		return true;
	return w->request.pid == woken && a->done_ts >= a->r->why->from;
}

/* ---- all of it ---- */

static int read_around(struct around *a, uint64_t since)
{
	static const struct feed_table sources[] = {{&irqs_table, take_irq},
						    {&softirqs_table, take_softirq},
						    {&stacks_table, take_waker_stack},
						    {&block_table, take_request}};
	static const struct {
		const char *events;
		void (*take)(void *arg, struct event *e, const struct spur_record *r);
	} watched[] = {
		{"sched:sched_switch", take_switch},	 {"irq:softirq_raise", take_raise},
		{"irq:softirq_entry", take_raise},	 {"block:block_rq_complete", take_complete},
		{"signal:signal_generate", take_signal}, {"raw_syscalls:sys_exit", take_return},
		{"syscalls:sys_exit_*", take_return}};
	struct feed *f = why_feed(a->r);

	feed_add_possible(f, sources, ARRAY_SIZE(sources), a);
	for (size_t i = 0; i < NR_INNER; i++) {
		feed_watch(f, inner_kinds[i].begin, take_inner, a);
		feed_watch(f, inner_kinds[i].end, take_inner, a);
	}
	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		feed_watch(f, watched[i].events, watched[i].take, a);
	watch_renames(f, take_rename, a);
	return why_run(a->r, f, since, u64_add(a->to->ts, STACK_DELAY), NULL);
}

static void set_inner(const struct around *a)
{
	const bool in_task = a->to->context == WHY_IN_TASK;

	for (size_t n = a->depth; n; n--) {
		const struct inner *i = &a->stack[n - 1];

		if (i->kind->in_task != in_task)
			continue;
		a->to->inner = i->kind->name;
		a->to->function = i->function;
		return;
	}
}

static void take_issue(void *arg, struct event *e, const struct spur_record *r)
{
	struct around *a = arg;
	const struct events *ev = a->r->trace->events;
	const struct number dev = number_of(e, "dev"), sector = number_of(e, "sector");

	if (r->buffer == a->r->buffer->index && r->ts == a->issued &&
	    number_get(ev, &dev, r) == (int64_t)a->dev &&
	    number_get(ev, &sector, r) == a->to->request.sector)
		a->by_task = context_of(events_record_flags(ev, r)) == WHY_IN_TASK;
}

/* Who issued the request, if it was another task; an interrupted one has nothing to do with it. */
static int find_issuer(struct around *a)
{
	struct why_request *q = &a->to->request;
	struct feed *f;
	int rc;

	if (q->dur == ROW_NULL || q->pid == ROW_NULL || !q->pid || q->pid == a->woken)
		return 0;
	a->issued = a->done_ts - (uint64_t)q->dur;
	f = why_feed(a->r);
	feed_watch(f, "block:block_rq_issue", take_issue, a);
	rc = why_run(a->r, f, a->issued, a->issued, NULL);
	q->other = rc == 0 && a->by_task;
	if (q->other && (!q->comm || !*q->comm))
		q->comm = why_keep(a->r->why, why_name(a->r, q->pid, a->issued));
	return rc;
}

/*
 * A request may have been issued before the sleep began, but not long before; rows need its issue.
 */
static int read_request(const struct why_reader *r, int64_t pid, struct around *a)
{
	const uint64_t begin = r->why->from;
	struct why_window w = why_window(r, a->to->ts, HANDLER_SPAN,
					 begin > ISSUE_BEFORE ? begin - ISSUE_BEFORE : 0);
	int rc;

	do {
		*a = (struct around){.r = r,
				     .to = a->to,
				     .woken = pid,
				     .preempt_count = a->preempt_count,
				     .whole = w.whole};
		rc = read_around(a, w.since);
	} while (rc == 0 && a->done && !a->to->request.found && a->to->context != WHY_IN_TASK &&
		 why_window_grow(r, &w));
	if (rc == 0 && !request_counts(a, pid))
		a->to->request = (struct why_request){0};
	return rc < 0 || !a->to->request.found ? rc : find_issuer(a);
}

/*
 * A softirq that only a task has raised usually runs in that task, soon after: then the wakeup
 * follows from what the task did, as if it had woken the other one itself. ksoftirqd is a task that
 * was woken and waited for a CPU like others.
 */
static void set_raiser(const struct around *a)
{
	static const char ksoftirqd[] = "ksoftirqd/";
	struct why_wake *w = a->to;
	const struct raises *all;

	w->ksoftirqd = w->comm && strncmp(w->comm, ksoftirqd, strlen(ksoftirqd)) == 0;
	if (w->ksoftirqd || !w->softirq || a->softirq < 0 || a->softirq >= NR_VECTORS)
		return;
	all = &a->before[a->softirq];
	w->raised = all->any && all->by_task && all->pid == w->pid && w->pid;
}

/* Whether anything was found around the wakeup. */
static bool has_context(const struct around *a)
{
	return a->in_irq || a->in_softirq || a->depth || a->to->signal || a->to->request.found;
}

int why_wake_at(const struct why_reader *r, int64_t pid, uint64_t ts, struct why_wake *to)
{
	struct around a = {.r = r, .to = to};
	struct why_reader other;
	bool is;
	int rc = find_wakeup(r, pid, ts, to, &a.preempt_count);

	if (rc < 0 || !to->found)
		return rc;
	rc = read_request(r, pid, &a);
	for (uint32_t i = 0; rc == 0 && !has_context(&a) && i < r->trace->nr_buffers; i++) {
		rc = why_other(r, i, ts, &other, &is);
		if (rc == 0 && is)
			rc = read_request(&other, pid, &a);
	}
	if (rc < 0)
		return rc;
	if (to->context != WHY_IN_IRQ && to->context != WHY_IN_NMI)
		to->irq = ROW_NULL;
	if (to->context != WHY_IN_SOFTIRQ)
		to->softirq = NULL;
	set_inner(&a);
	if (to->context == WHY_IN_SOFTIRQ)
		set_raiser(&a);
	if (to->context != WHY_IN_TASK && !to->raised)
		return 0;
	return why_call_at(r, to->pid, ts, true, &to->call);
}

/* ---- the chain back from a wakeup ---- */

/*
 * The waker had to run to wake the task. If it slept itself when the wait began, a third task woke
 * it later, without which the wait would have been longer; and so on, until a task has not slept
 * since the wait began, or an interrupt woke it. Each link begins before the one it explains, so
 * the chain cannot go in circles.
 */

/* What one task did before a moment, since it slept last. */
struct history {
	const struct why_reader *r;
	const struct why_window *window;
	struct why_link *to;
	size_t seen;
	bool awake; /* it has done something since `from`, … */
	bool sure;  /* … which is what woke it, or where reading started in earnest */
	bool woken; /* what it did first was to wake up: it slept before */
	bool done;
};

static void sleeps_until(struct history *h, uint64_t ts)
{
	struct why_link *l = h->to;

	l->from = ts;
	l->ran = l->waited = l->waits = 0;
	h->awake = false;
	h->sure = true;
}

/* Adds what a task did; times after the moment do not count. */
static void add_state(struct history *h, const struct state_row *s, uint64_t end)
{
	struct why_link *l = h->to;
	/*
	 * One that was on a CPU when reading started has been there since before, but where reading
	 * started at the trace's begin.
	 */
	const bool goes_on = !h->seen && h->window->since && (s->open & ROW_OPEN_START);
	const uint64_t ts = goes_on ? h->window->since : s->ts;
	const uint64_t begin = ts > h->r->why->from ? ts : h->r->why->from;
	uint64_t ns;

	end = end < l->to ? end : l->to;
	ns = end > begin ? end - begin : 0;
	h->woken |= !h->seen && s->reason &&
		    (strcmp(s->reason, "woken") == 0 || strcmp(s->reason, "new") == 0);
	if (!h->awake)
		l->from = ts;
	h->awake = true;
	if (s->comm)
		l->comm = why_keep(h->r->why, s->comm);
	if (s->state == RUN_RUNNING) {
		l->ran += ns;
	} else {
		l->waited += ns;
		l->waits += ns > 0;
	}
}

/* If the state is unknown, this is false, because the task may have slept. */
static bool is_awake(const struct state_row *s)
{
	return s->state == RUN_RUNNING || s->state == RUN_RUNNABLE;
}

static void take_state(void *arg, const void *row)
{
	struct history *h = arg;
	const struct state_row *s = row;

	if (s->pid != h->to->pid || !why_is_here(h->r, s->buffer) || h->done)
		return;
	if (s->phase == STATE_BEGINS) {
		/* The current state has ended, so everything is known. */
		h->done = s->ts >= h->to->to && h->seen;
		return;
	}
	if (s->ts >= h->to->to)
		return;
	if (is_awake(s))
		add_state(h, s, row_end_of(s->ts, s->dur));
	else
		sleeps_until(h, row_end_of(s->ts, s->dur));
	h->seen++;
}

/*
 * Whether earlier records may change a link: what the task did first in the range may have begun
 * before the range, unless it was woken then. A wakeup of a task that is awake looks the same, so
 * that counts only in a range that begins long enough before the wait.
 */
static bool is_short(const struct history *h, uint64_t begin)
{
	return !h->sure && h->to->from > begin &&
	       !(h->woken && u64_add(h->window->since, LINK_BEFORE) <= begin);
}

/* Fills a link whose task and end are known. */
static int make_link(const struct why_reader *r, struct why_link *l)
{
	const uint64_t begin = r->why->from;
	struct why_window w = why_window(r, l->to, LINK_SPAN, 0);
	const struct why_link start = *l;
	struct history h;
	int rc;

	do {
		*l = start;
		l->from = l->to;
		h = (struct history){.r = r, .window = &w, .to = l};
		rc = why_run_table(r, &states_both_table, take_state, &h, w.since,
				   u64_add(l->to, WALK_REACH), &h.done);
	} while (rc == 0 && is_short(&h, begin) && why_window_grow(r, &w));
	l->earlier = rc == 0 && l->from <= begin;
	if (l->earlier)
		l->from = begin;
	return rc;
}

/* Whether there is another link; its task and end are set then. */
static bool next_link(const struct why_reader *r, const struct why_wake *w, struct why_link *next)
{
	struct why *why = r->why;

	if (!w->found)
		why->end = WHY_END_UNKNOWN;
	else if (w->context != WHY_IN_TASK && !w->raised && !w->ksoftirqd)
		why->end = WHY_END_INTERRUPT;
	else if (w->pid == 0)
		why->end = WHY_END_IDLE;
	else if (w->pid == why->asked.pid)
		why->end = WHY_END_SELF;
	else if (why->links.n == WHY_LINKS)
		why->end = WHY_END_DEPTH;
	else
		why->end = WHY_END_NONE;
	*next = (struct why_link){.pid = w->pid, .comm = w->comm, .to = w->ts};
	return why->end == WHY_END_NONE;
}

int why_chain(const struct why_reader *r)
{
	struct why *w = r->why;
	const struct why_wake *wake = &w->wake;
	struct why_link link;
	int rc = 0;

	while (next_link(r, wake, &link)) {
		rc = make_link(r, &link);
		if (rc == 0 && !link.earlier)
			rc = why_wake_at(r, link.pid, link.from, &link.wake);
		if (rc < 0 || !vec_add(&w->links, &link))
			return rc < 0 ? rc : -ENOMEM;
		if (link.earlier) {
			w->end = WHY_END_BEGIN;
			return 0;
		}
		wake = &w->links.at[w->links.n - 1].wake;
	}
	return 0;
}
