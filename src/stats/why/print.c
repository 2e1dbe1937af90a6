// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a task waited, in words and as JSON. What is not known is null in JSON. */
#include <stdio.h>

#include "stats/why/reader.h"
#include "base/array.h"
#include "base/json.h"
#include "base/vec.h"

/* ---- words ---- */

struct words {
	const struct why *w;
	struct buf *to;
	unsigned int indent;
};

static void begin_line(const struct words *t, unsigned int level)
{
	buf_fill(t->to, ' ', t->indent + 2 * level);
}

static void put_time(const struct words *t, uint64_t ts)
{
	if (t->w->ticks)
		buf_u64(t->to, ts);
	else
		buf_printf(t->to, "%llu.%09llu", (unsigned long long)(ts / 1000000000),
			   (unsigned long long)(ts % 1000000000));
}

static void put_span(const struct words *t, uint64_t ns)
{
	if (t->w->ticks)
		buf_u64(t->to, ns);
	else
		buf_span(t->to, ns);
}

static void put_task(const struct words *t, const char *comm, int64_t pid)
{
	if (pid == 0)
		buf_puts(t->to, "the idle task");
	else
		buf_printf(t->to, "%s-%lld", comm ? comm : "<...>", (long long)pid);
}

static void put_times(const struct words *t, uint64_t times)
{
	if (times != 1)
		buf_printf(t->to, ", %llu times", (unsigned long long)times);
}

static void put_range(const struct words *t, uint64_t from, uint64_t to)
{
	buf_puts(t->to, "from ");
	put_time(t, from);
	buf_puts(t->to, " to ");
	put_time(t, to);
}

/* ---- what woke a task ---- */

static void put_call(const struct words *t, const struct why_call *c)
{
	if (c->name)
		buf_puts(t->to, c->name);
	else
		buf_printf(t->to, "system call %lld", (long long)c->nr);
	buf_printf(t->to, "(%s)", c->args ? c->args : "");
}

static void put_where_in_task(const struct words *t, const struct why_wake *w)
{
	static const char *const missing[] = {
		[WHY_NOT_ASKED] = "",
		[WHY_UNKNOWN] = ", in which system call is not known",
		[WHY_UNRECORDED] = "", /* a note says so */
		[WHY_NONE] = ", outside of system calls",
		[WHY_KERNEL] = "",
	};

	if (w->inner)
		buf_printf(t->to, ", in the work %s", w->function ? w->function : "of a workqueue");
	if (w->call.known == WHY_FOUND) {
		buf_puts(t->to, ", in ");
		put_call(t, &w->call);
	} else if (!w->inner && w->pid) {
		buf_puts(t->to, missing[w->call.known]);
	}
}

static void put_inner(const struct words *t, const struct why_wake *w)
{
	if (!w->inner)
		return;
	if (strcmp(w->inner, "vector") == 0)
		buf_printf(t->to, ", the vector %s", w->function);
	else
		buf_printf(t->to, ", by a%s %s", strcmp(w->inner, "hrtimer") == 0 ? "n" : "",
			   w->inner);
	if (strcmp(w->inner, "vector") != 0 && w->function)
		buf_printf(t->to, " that calls %s", w->function);
}

static void put_where_in_interrupt(const struct words *t, const struct why_wake *w)
{
	static const char *const contexts[] = {[WHY_IN_SOFTIRQ] = "a softirq",
					       [WHY_IN_IRQ] = "an interrupt",
					       [WHY_IN_NMI] = "an NMI"};

	if (w->irq != ROW_NULL) {
		buf_printf(t->to, "interrupt %lld", (long long)w->irq);
		if (w->irq_name)
			buf_printf(t->to, " (%s)", w->irq_name);
	} else if (w->softirq) {
		buf_printf(t->to, "the softirq %s", w->softirq);
	} else {
		buf_puts(t->to, contexts[w->context]);
	}
	buf_printf(t->to, " on CPU %lld", (long long)w->cpu);
	put_inner(t, w);
	if (w->raised || w->ksoftirqd) {
		buf_puts(t->to, w->raised ? ", raised by " : ", in ");
		put_task(t, w->comm, w->pid);
	}
	if (w->call.known == WHY_FOUND) {
		buf_puts(t->to, ", in ");
		put_call(t, &w->call);
	}
	if (w->irq == ROW_NULL && !w->softirq && !w->inner)
		buf_puts(t->to, "; which one was not recorded");
}

static void put_request(const struct words *t, const struct why_request *r)
{
	const char *what = r->rwbs && strchr(r->rwbs, 'R')   ? "a read"
			   : r->rwbs && strchr(r->rwbs, 'W') ? "a write"
							     : "a request";

	if (!r->found)
		return;
	buf_printf(t->to, "; %s of %lld bytes at sector %lld of device %s was done", what,
		   (long long)r->bytes, (long long)r->sector, r->device ? r->device : "?");
	if (r->dur != ROW_NULL) {
		buf_puts(t->to, ", issued ");
		put_span(t, (uint64_t)r->dur);
		buf_puts(t->to, " before");
	}
	if (r->other) {
		buf_puts(t->to, " by ");
		put_task(t, r->comm, r->pid);
	}
}

static void put_signal(const struct words *t, const struct why_wake *w)
{
	buf_printf(t->to, "signal %lld ", (long long)w->signal);
	if (w->signal_name)
		buf_printf(t->to, "(%s) ", w->signal_name);
	buf_puts(t->to, "from ");
}

/* "woken by a-1 on CPU 0, in write(…)" */
static void put_wake(const struct words *t, const struct why_wake *w)
{
	if (!w->found) {
		buf_puts(t->to, "what woke it is not known");
		return;
	}
	buf_puts(t->to, w->is_new ? "created by " : "woken by ");
	if (w->signal)
		put_signal(t, w);
	if (w->context == WHY_IN_TASK) {
		put_task(t, w->comm, w->pid);
		buf_printf(t->to, " on CPU %lld", (long long)w->cpu);
		put_where_in_task(t, w);
	} else {
		put_where_in_interrupt(t, w);
	}
	put_request(t, &w->request);
}

/* "outer;…;inner" from the inside out. */
static void put_stack(const struct words *t, unsigned int level, const char *stack)
{
	size_t left = stack ? strlen(stack) : 0, len;

	if (!left)
		return;
	begin_line(t, level);
	buf_puts(t->to, "stack: ");
	while (left) {
		const char *frame = why_frame(stack, &left, &len);

		buf_put(t->to, frame, len);
		buf_puts(t->to, left ? " < " : "");
	}
	buf_putc(t->to, '\n');
}

/* ---- a task that could run ---- */

/* The kernel's number and what people call it. */
static void put_prio(const struct words *t, int64_t prio)
{
	buf_printf(t->to, ", prio %lld", (long long)prio);
	if (prio < 0)
		buf_puts(t->to, " (deadline)");
	else if (prio < 100)
		buf_printf(t->to, " (real time %lld)", (long long)(99 - prio));
	else if (prio < 140)
		buf_printf(t->to, " (nice %lld)", (long long)(prio - 120));
}

static void put_share(const struct words *t, const struct why_share *s)
{
	const struct why *w = t->w;
	const uint64_t all = w->to - w->from;

	begin_line(t, 2);
	buf_printf(t->to, "%5.1f %%  ", all ? 100.0 * (double)s->ns / (double)all : 0);
	put_span(t, s->ns);
	buf_puts(t->to, "  ");
	switch (s->of) {
	case WHY_TASK: put_task(t, s->comm, s->pid); break;
	case WHY_IDLE: buf_puts(t->to, "idle"); break;
	case WHY_UNKNOWN_TASK: buf_puts(t->to, "unknown"); break;
	case WHY_OTHERS: buf_puts(t->to, "others"); break;
	}
	if (s->prio != ROW_NULL)
		put_prio(t, s->prio);
	if (w->pieces.n > 1 && s->cpu != ROW_NULL)
		buf_printf(t->to, ", CPU %lld", (long long)s->cpu);
	put_times(t, s->times);
	buf_putc(t->to, '\n');
}

static void put_pieces(const struct words *t)
{
	const struct why *w = t->w;
	const int64_t last = w->pieces.n ? w->pieces.at[w->pieces.n - 1].cpu : ROW_NULL;

	if (w->pieces.n > 1) {
		begin_line(t, 1);
		buf_puts(t->to, "it waited for ");
		vec_each (p, &w->pieces) {
			buf_printf(t->to, "%sCPU %lld for ", p == w->pieces.at ? "" : ", then for ",
				   (long long)p->cpu);
			put_span(t, p->to - p->from);
		}
		buf_putc(t->to, '\n');
	}
	if (w->has_next && w->next == RUN_RUNNING && last != ROW_NULL && w->next_cpu != ROW_NULL &&
	    w->next_cpu != last) {
		begin_line(t, 1);
		buf_printf(t->to,
			   "then it ran on CPU %lld; when it was moved there was not "
			   "recorded\n",
			   (long long)w->next_cpu);
	}
}

static void put_interrupts(const struct words *t)
{
	const struct why *w = t->w;

	if (!w->interrupts.n)
		return;
	begin_line(t, 1);
	buf_puts(t->to, "of that, in interrupts:\n");
	vec_each (i, &w->interrupts) {
		begin_line(t, 2);
		put_span(t, i->ns);
		buf_puts(t->to, i->soft ? "  softirq " : "  interrupt ");
		if (!i->soft || !i->name)
			buf_i64(t->to, i->number);
		if (i->name)
			buf_printf(t->to, i->soft ? "%s" : " (%s)", i->name);
		put_times(t, i->times);
		buf_putc(t->to, '\n');
	}
}

static void put_left(const struct words *t, const char *how, const char *to, const char *rest)
{
	buf_puts(t->to, how);
	if (t->w->by != ROW_NULL) {
		buf_puts(t->to, to);
		put_task(t, t->w->by_comm, t->w->by);
	}
	buf_puts(t->to, rest);
}

static void put_runnable(const struct words *t)
{
	const struct why *w = t->w;

	begin_line(t, 1);
	if (w->reason && strcmp(w->reason, "preempted") == 0)
		put_left(t, "it was preempted", " by ", "");
	else if (w->reason && strcmp(w->reason, "yielded") == 0)
		put_left(t, "it left the CPU", " to ", " while it could run");
	else if (w->reason)
		put_wake(t, &w->wake);
	else
		buf_puts(t->to, "how it came to wait is not known");
	buf_putc(t->to, '\n');
	put_stack(t, 2, w->wake.stack);
	put_pieces(t);
	begin_line(t, 1);
	if (w->pieces.n == 1 && w->pieces.at[0].cpu != ROW_NULL)
		buf_printf(t->to, "meanwhile CPU %lld had:\n", (long long)w->pieces.at[0].cpu);
	else
		buf_puts(t->to, "meanwhile the CPUs had:\n");
	vec_each (s, &w->shares)
		put_share(t, s);
	put_interrupts(t);
}

/* ---- one that slept ---- */

static void put_slept_in(const struct words *t)
{
	const struct why *w = t->w;

	if (w->call.known == WHY_FOUND) {
		begin_line(t, 1);
		buf_puts(t->to, "in ");
		put_call(t, &w->call);
		if (!w->call.open_start) {
			buf_puts(t->to, ", entered ");
			put_span(t, w->from - w->call.ts);
			buf_puts(t->to, " before");
		}
		buf_putc(t->to, '\n');
	} else if (w->call.known == WHY_NONE) {
		begin_line(t, 1);
		buf_puts(t->to, "outside of system calls\n");
	}
	if (w->reason) {
		begin_line(t, 1);
		if (strcmp(w->reason, "iowait") == 0)
			buf_puts(t->to, "it waited for I/O\n");
		else
			buf_printf(t->to, "in the kernel's function %s\n", w->reason);
	}
	if (w->lock) {
		begin_line(t, 1);
		buf_printf(t->to, "it waited for a %s at %llx\n", w->lock,
			   (unsigned long long)w->lock_addr);
	}
	put_stack(t, 1, w->stack);
}

static void put_link(const struct words *t, const struct why_link *l)
{
	begin_line(t, 2);
	put_task(t, l->comm, l->pid);
	buf_puts(t->to, " ran for ");
	put_span(t, l->ran);
	if (l->waits) {
		buf_puts(t->to, " and waited for a CPU for ");
		put_span(t, l->waited);
		put_times(t, l->waits);
		buf_puts(t->to, l->waits != 1 ? "," : "");
	}
	if (l->earlier) {
		buf_puts(t->to, " since the wait began: it did not sleep meanwhile\n");
		return;
	}
	buf_puts(t->to, " since ");
	put_time(t, l->from);
	buf_puts(t->to, ", ");
	put_wake(t, &l->wake);
	buf_putc(t->to, '\n');
	put_stack(t, 3, l->wake.stack);
}

static void put_chain(const struct words *t)
{
	static const char *const ends[] = {
		[WHY_END_IDLE] = "there it ends: the idle task is nothing that waits",
		[WHY_END_SELF] = "there it ends: it leads back to the task itself",
		[WHY_END_DEPTH] = "there is more, which is not followed",
	};
	const struct why *w = t->w;

	if (w->links.n) {
		begin_line(t, 1);
		buf_puts(t->to, "before that:\n");
	}
	vec_each (l, &w->links)
		put_link(t, l);
	if (w->links.n && w->end < ARRAY_SIZE(ends) && ends[w->end]) {
		begin_line(t, 2);
		buf_printf(t->to, "%s\n", ends[w->end]);
	}
}

/* What is known of a sleep whose wakeup is not known. */
static void put_run(const struct words *t)
{
	const struct why *w = t->w;

	if (!w->has_next || w->next != RUN_RUNNING)
		return;
	begin_line(t, 1);
	buf_puts(t->to, "it ran from ");
	put_time(t, w->next_from);
	if (w->next_cpu != ROW_NULL)
		buf_printf(t->to, " on CPU %lld", (long long)w->next_cpu);
	buf_putc(t->to, '\n');
}

static void put_slept(const struct words *t)
{
	const struct why *w = t->w;

	put_slept_in(t);
	if (!w->wake.found && (w->open & ROW_OPEN_END)) {
		put_run(t);
		return;
	}
	begin_line(t, 1);
	put_wake(t, &w->wake);
	buf_puts(t->to, w->same_futex ? ", of the same futex\n" : "\n");
	put_stack(t, 2, w->wake.stack);
	put_chain(t);
}

/* ---- all of it ---- */

static const struct {
	const char *words; /* after the task's name */
	void (*put)(const struct words *t);
} states[] = {
	[RUN_UNKNOWN] = {"did something unknown", NULL},
	[RUN_RUNNABLE] = {"could run but had no CPU", put_runnable},
	[RUN_SLEEPING] = {"slept", put_slept},
	[RUN_BLOCKED] = {"was blocked", put_slept},
	[RUN_STOPPED] = {"was stopped", put_slept},
	[RUN_DEAD] = {"had ended", NULL},
};

static void put_open(const struct words *t)
{
	const struct why *w = t->w;

	if (w->open & ROW_OPEN_START)
		buf_puts(t->to, "; it may have begun earlier");
	if (!(w->open & ROW_OPEN_END))
		return;
	/* A sleep that ends with a run has a wakeup, and a wait for the CPU, before that. */
	if (why_is_sleep(w->state) && w->has_next && w->next == RUN_RUNNING)
		buf_puts(t->to, "; it may have been woken earlier");
	else
		buf_puts(t->to, "; it may have lasted longer");
}

static void put_wait(const struct words *t)
{
	const struct why *w = t->w;

	begin_line(t, 0);
	put_task(t, w->comm, w->asked.pid);
	buf_printf(t->to, " %s", states[w->state].words);
	if (w->state != RUN_DEAD) {
		buf_puts(t->to, " for ");
		put_span(t, w->to - w->from);
	}
	buf_puts(t->to, ", ");
	put_range(t, w->from, w->to);
	put_open(t);
	buf_putc(t->to, '\n');
	if (states[w->state].put)
		states[w->state].put(t);
}

static void put_running(const struct words *t)
{
	const struct why *w = t->w;

	begin_line(t, 0);
	put_task(t, w->comm, w->asked.pid);
	buf_puts(t->to, " was running at ");
	put_time(t, w->asked.moment);
	if (w->run_cpu != ROW_NULL)
		buf_printf(t->to, " on CPU %lld", (long long)w->run_cpu);
	buf_puts(t->to, ", ");
	put_range(t, w->run_from, w->run_to);
	buf_puts(t->to, w->waits ? "; before that:\n" : "; what it did before is not known\n");
}

static void put_not_found(const struct words *t)
{
	const struct why *w = t->w;

	begin_line(t, 0);
	buf_printf(t->to, "what task %lld did at ", (long long)w->asked.pid);
	put_time(t, w->asked.moment);
	buf_puts(t->to, " is not known");
	if (w->exists) {
		buf_puts(t->to, ": it is seen ");
		put_range(t, w->first, w->last);
	}
	buf_putc(t->to, '\n');
}

void why_text(const struct why *w, unsigned int indent, struct buf *to)
{
	const struct words t = {w, to, indent};

	if (!w->found)
		put_not_found(&t);
	else if (w->running)
		put_running(&t);
	if (w->waits)
		put_wait(&t);
	vec_each (note, &w->notes) {
		begin_line(&t, 1);
		buf_printf(to, "%s\n", *note);
	}
}

/* ---- JSON ---- */

static void put_number(struct json_writer *j, const char *key, int64_t value)
{
	json_key(j, key);
	if (value == ROW_NULL)
		json_put_raw(j, "null");
	else
		json_put_i64(j, value);
}

static void put_frames(struct json_writer *j, const char *stack)
{
	size_t left = stack ? strlen(stack) : 0, len;

	if (!stack)
		return;
	json_array(json_key(j, "stack"));
	while (left) {
		const char *frame = why_frame(stack, &left, &len);

		json_put_bytes(j, frame, len);
	}
	json_end_array(j);
}

static void json_call(struct json_writer *j, const struct why_call *c)
{
	static const char *const known[] = {
		[WHY_NONE] = "none", [WHY_UNKNOWN] = "unknown", [WHY_UNRECORDED] = "not recorded"};

	json_key(j, "call");
	if (c->known != WHY_FOUND) {
		json_put_text(j, known[c->known]);
		return;
	}
	json_object(j);
	json_put_text(json_key(j, "name"), c->name);
	put_number(j, "nr", c->nr);
	json_put_text(json_key(j, "args"), c->args);
	json_key(j, "entered");
	if (c->open_start)
		json_put_raw(j, "null");
	else
		json_put_u64(j, c->ts);
	json_end_object(j);
}

static void json_request(struct json_writer *j, const struct why_request *r)
{
	if (!r->found)
		return;
	json_object(json_key(j, "request"));
	json_put_text(json_key(j, "device"), r->device);
	json_put_text(json_key(j, "rwbs"), r->rwbs);
	put_number(j, "sector", r->sector);
	put_number(j, "bytes", r->bytes);
	put_number(j, "dur", r->dur);
	put_number(j, "pid", r->pid);
	json_end_object(j);
}

static void json_wake(struct json_writer *j, const struct why_wake *w)
{
	static const char *const contexts[] = {[WHY_IN_TASK] = "task",
					       [WHY_IN_SOFTIRQ] = "softirq",
					       [WHY_IN_IRQ] = "irq",
					       [WHY_IN_NMI] = "nmi"};

	json_key(j, "wakeup");
	if (!w->found) {
		json_put_raw(j, "null");
		return;
	}
	json_object(j);
	json_put_u64(json_key(j, "ts"), w->ts);
	put_number(j, "cpu", w->cpu);
	json_put_text(json_key(j, "context"), contexts[w->context]);
	put_number(j, "pid", w->pid);
	json_put_text(json_key(j, "comm"), w->pid ? w->comm : "<idle>");
	json_put_bool(json_key(j, "new"), w->is_new);
	if (w->context == WHY_IN_TASK) {
		json_call(j, &w->call);
	} else {
		put_number(j, "irq", w->irq);
		json_put_text(json_key(j, "irq_name"), w->irq_name);
		json_put_text(json_key(j, "softirq"), w->softirq);
		if (w->raised) {
			json_put_bool(json_key(j, "raised"), true);
			json_call(j, &w->call);
		}
	}
	if (w->signal) {
		put_number(j, "signal", w->signal);
		json_put_text(json_key(j, "signal_name"), w->signal_name);
	}
	if (w->inner) {
		json_put_text(json_key(j, "in"), w->inner);
		json_put_text(json_key(j, "function"), w->function);
	}
	json_request(j, &w->request);
	put_frames(j, w->stack);
	json_end_object(j);
}

static void json_shares(struct json_writer *j, const struct why *w)
{
	static const char *const of[] = {[WHY_TASK] = "task",
					 [WHY_IDLE] = "idle",
					 [WHY_UNKNOWN_TASK] = "unknown",
					 [WHY_OTHERS] = "others"};

	json_array(json_key(j, "cpus"));
	vec_each (p, &w->pieces) {
		json_object(j);
		put_number(j, "cpu", p->cpu);
		json_put_u64(json_key(j, "from"), p->from);
		json_put_u64(json_key(j, "to"), p->to);
		json_end_object(j);
	}
	json_end_array(j);
	json_array(json_key(j, "meanwhile"));
	vec_each (s, &w->shares) {
		json_object(j);
		json_put_text(json_key(j, "of"), of[s->of]);
		put_number(j, "cpu", s->cpu);
		put_number(j, "pid", s->pid);
		json_put_text(json_key(j, "comm"), s->comm);
		put_number(j, "prio", s->prio);
		json_put_u64(json_key(j, "dur"), s->ns);
		json_put_u64(json_key(j, "times"), s->times);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_interrupts(struct json_writer *j, const struct why *w)
{
	json_array(json_key(j, "interrupts"));
	vec_each (i, &w->interrupts) {
		json_object(j);
		json_put_text(json_key(j, "kind"), i->soft ? "softirq" : "irq");
		put_number(j, "number", i->number);
		json_put_text(json_key(j, "name"), i->name);
		json_put_u64(json_key(j, "dur"), i->ns);
		json_put_u64(json_key(j, "times"), i->times);
		json_end_object(j);
	}
	json_end_array(j);
}

static void json_chain(struct json_writer *j, const struct why *w)
{
	static const char *const ends[] = {
		[WHY_END_NONE] = NULL,	   [WHY_END_INTERRUPT] = "interrupt",
		[WHY_END_BEGIN] = "begin", [WHY_END_IDLE] = "idle",
		[WHY_END_SELF] = "self",   [WHY_END_UNKNOWN] = "unknown",
		[WHY_END_DEPTH] = "depth"};

	json_array(json_key(j, "chain"));
	vec_each (l, &w->links) {
		json_object(j);
		put_number(j, "pid", l->pid);
		json_put_text(json_key(j, "comm"), l->comm);
		json_put_u64(json_key(j, "from"), l->from);
		json_put_u64(json_key(j, "to"), l->to);
		json_put_u64(json_key(j, "running"), l->ran);
		json_put_u64(json_key(j, "runnable"), l->waited);
		json_put_bool(json_key(j, "earlier"), l->earlier);
		json_wake(j, &l->wake);
		json_end_object(j);
	}
	json_end_array(j);
	json_put_text(json_key(j, "chain_end"), ends[w->end]);
}

static void json_wait(struct json_writer *j, const struct why *w)
{
	json_put_text(json_key(j, "state"), run_state_names[w->state]);
	json_put_text(json_key(j, "reason"), w->reason);
	json_put_u64(json_key(j, "from"), w->from);
	json_put_u64(json_key(j, "to"), w->to);
	json_put_u64(json_key(j, "dur"), w->to - w->from);
	json_put_text(json_key(j, "open"), row_open_names[w->open]);
	put_number(j, "cpu", w->cpu);
	json_put_text(json_key(j, "next"), w->has_next ? run_state_names[w->next] : NULL);
	put_number(j, "next_cpu", w->next_cpu);
	json_wake(j, &w->wake);
	if (w->state == RUN_RUNNABLE) {
		put_number(j, "by", w->by);
		json_shares(j, w);
		json_interrupts(j, w);
		return;
	}
	json_call(j, &w->call);
	if (w->same_futex)
		json_put_bool(json_key(j, "same_futex"), true);
	if (w->lock) {
		json_put_text(json_key(j, "lock"), w->lock);
		json_put_u64(json_key(j, "lock_addr"), w->lock_addr);
	}
	put_frames(j, w->stack);
	json_chain(j, w);
}

static void json_running(struct json_writer *j, const struct why *w)
{
	json_key(j, "running");
	if (!w->running) {
		json_put_raw(j, "null");
		return;
	}
	json_object(j);
	json_put_u64(json_key(j, "from"), w->run_from);
	json_put_u64(json_key(j, "to"), w->run_to);
	put_number(j, "cpu", w->run_cpu);
	json_end_object(j);
}

void why_json(const struct why *w, struct buf *to)
{
	struct json_writer j = {.out = to, .spaced = true};
	struct buf words;

	json_object(&j);
	put_number(&j, "pid", w->asked.pid);
	json_put_text(json_key(&j, "comm"), w->comm);
	json_put_u64(json_key(&j, "at"), w->asked.moment);
	json_put_text(json_key(&j, "unit"), w->ticks ? "ticks" : "ns");
	json_put_bool(json_key(&j, "known"), w->found);
	json_running(&j, w);
	if (w->waits)
		json_wait(&j, w);
	json_array(json_key(&j, "notes"));
	vec_each (note, &w->notes)
		json_put_text(&j, *note);
	json_end_array(&j);
	buf_init(&words, WHY_WORDS);
	why_text(w, 0, &words);
	json_put_bytes(json_key(&j, "words"), words.data, words.len);
	buf_free(&words);
	json_end_object(&j);
}
