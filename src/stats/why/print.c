// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a task waited, in words and as JSON. What is not known is null in JSON. */
#include <stdio.h>

#include "stats/why/reader.h"
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
		buf_puts(t->to, ", entered ");
		put_span(t, w->from - w->call.ts);
		buf_puts(t->to, " before\n");
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
	if (w->links.n && w->end < sizeof(ends) / sizeof(ends[0]) && ends[w->end]) {
		begin_line(t, 2);
		buf_printf(t->to, "%s\n", ends[w->end]);
	}
}

static void put_slept(const struct words *t)
{
	const struct why *w = t->w;

	put_slept_in(t);
	if (!w->wake.found && (w->open & ROW_OPEN_END))
		return;
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

static void put_open(const struct words *t, enum row_open open)
{
	if (open & ROW_OPEN_START)
		buf_puts(t->to, "; it may have begun earlier");
	if (open & ROW_OPEN_END)
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
	put_open(t, w->open);
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

struct object {
	struct buf *to;
	bool some; /* members so far */
};

static struct object open_object(struct buf *to)
{
	buf_putc(to, '{');
	return (struct object){to, false};
}

static void member(struct object *o, const char *text)
{
	buf_puts(o->to, o->some ? ", " : "");
	buf_json_string(o->to, text, strlen(text));
	buf_puts(o->to, ": ");
	o->some = true;
}

static void member_text(struct object *o, const char *key, const char *value)
{
	member(o, key);
	if (value)
		buf_json_string(o->to, value, strlen(value));
	else
		buf_puts(o->to, "null");
}

static void member_number(struct object *o, const char *key, int64_t value)
{
	member(o, key);
	if (value == ROW_NULL)
		buf_puts(o->to, "null");
	else
		buf_i64(o->to, value);
}

static void member_amount(struct object *o, const char *key, uint64_t value)
{
	member(o, key);
	buf_u64(o->to, value);
}

static void member_bool(struct object *o, const char *key, bool value)
{
	member(o, key);
	buf_puts(o->to, value ? "true" : "false");
}

static void member_frames(struct object *o, const char *key, const char *stack)
{
	size_t left = stack ? strlen(stack) : 0, len;

	if (!stack)
		return;
	member(o, key);
	buf_putc(o->to, '[');
	while (left) {
		const char *frame = why_frame(stack, &left, &len);

		buf_json_string(o->to, frame, len);
		buf_puts(o->to, left ? ", " : "");
	}
	buf_putc(o->to, ']');
}

static void json_call(struct object *o, const struct why_call *c)
{
	static const char *const known[] = {
		[WHY_NONE] = "none", [WHY_UNKNOWN] = "unknown", [WHY_UNRECORDED] = "not recorded"};
	struct object in;

	if (c->known != WHY_FOUND) {
		member_text(o, "call", known[c->known]);
		return;
	}
	member(o, "call");
	in = open_object(o->to);
	member_text(&in, "name", c->name);
	member_number(&in, "nr", c->nr);
	member_text(&in, "args", c->args);
	member_amount(&in, "entered", c->ts);
	buf_putc(o->to, '}');
}

static void json_request(struct object *o, const struct why_request *r)
{
	struct object in;

	if (!r->found)
		return;
	member(o, "request");
	in = open_object(o->to);
	member_text(&in, "device", r->device);
	member_text(&in, "rwbs", r->rwbs);
	member_number(&in, "sector", r->sector);
	member_number(&in, "bytes", r->bytes);
	member_number(&in, "dur", r->dur);
	member_number(&in, "pid", r->pid);
	buf_putc(o->to, '}');
}

static void json_wake(struct object *o, const struct why_wake *w)
{
	static const char *const contexts[] = {[WHY_IN_TASK] = "task",
					       [WHY_IN_SOFTIRQ] = "softirq",
					       [WHY_IN_IRQ] = "irq",
					       [WHY_IN_NMI] = "nmi"};
	struct object in;

	member(o, "wakeup");
	if (!w->found) {
		buf_puts(o->to, "null");
		return;
	}
	in = open_object(o->to);
	member_amount(&in, "ts", w->ts);
	member_number(&in, "cpu", w->cpu);
	member_text(&in, "context", contexts[w->context]);
	member_number(&in, "pid", w->pid);
	member_text(&in, "comm", w->pid ? w->comm : "<idle>");
	member_bool(&in, "new", w->is_new);
	if (w->context == WHY_IN_TASK) {
		json_call(&in, &w->call);
	} else {
		member_number(&in, "irq", w->irq);
		member_text(&in, "irq_name", w->irq_name);
		member_text(&in, "softirq", w->softirq);
	}
	if (w->signal) {
		member_number(&in, "signal", w->signal);
		member_text(&in, "signal_name", w->signal_name);
	}
	if (w->inner) {
		member_text(&in, "in", w->inner);
		member_text(&in, "function", w->function);
	}
	json_request(&in, &w->request);
	member_frames(&in, "stack", w->stack);
	buf_putc(o->to, '}');
}

static void json_shares(struct object *o, const struct why *w)
{
	static const char *const of[] = {[WHY_TASK] = "task",
					 [WHY_IDLE] = "idle",
					 [WHY_UNKNOWN_TASK] = "unknown",
					 [WHY_OTHERS] = "others"};

	member(o, "cpus");
	buf_putc(o->to, '[');
	vec_each (p, &w->pieces) {
		struct object in;

		buf_puts(o->to, p == w->pieces.at ? "" : ", ");
		in = open_object(o->to);
		member_number(&in, "cpu", p->cpu);
		member_amount(&in, "from", p->from);
		member_amount(&in, "to", p->to);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
	member(o, "meanwhile");
	buf_putc(o->to, '[');
	vec_each (s, &w->shares) {
		struct object in;

		buf_puts(o->to, s == w->shares.at ? "" : ", ");
		in = open_object(o->to);
		member_text(&in, "of", of[s->of]);
		member_number(&in, "cpu", s->cpu);
		member_number(&in, "pid", s->pid);
		member_text(&in, "comm", s->comm);
		member_number(&in, "prio", s->prio);
		member_amount(&in, "dur", s->ns);
		member_amount(&in, "times", s->times);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
}

static void json_interrupts(struct object *o, const struct why *w)
{
	member(o, "interrupts");
	buf_putc(o->to, '[');
	vec_each (i, &w->interrupts) {
		struct object in;

		buf_puts(o->to, i == w->interrupts.at ? "" : ", ");
		in = open_object(o->to);
		member_text(&in, "kind", i->soft ? "softirq" : "irq");
		member_number(&in, "number", i->number);
		member_text(&in, "name", i->name);
		member_amount(&in, "dur", i->ns);
		member_amount(&in, "times", i->times);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
}

static void json_chain(struct object *o, const struct why *w)
{
	static const char *const ends[] = {
		[WHY_END_NONE] = NULL,	   [WHY_END_INTERRUPT] = "interrupt",
		[WHY_END_BEGIN] = "begin", [WHY_END_IDLE] = "idle",
		[WHY_END_SELF] = "self",   [WHY_END_UNKNOWN] = "unknown",
		[WHY_END_DEPTH] = "depth"};

	member(o, "chain");
	buf_putc(o->to, '[');
	vec_each (l, &w->links) {
		struct object in;

		buf_puts(o->to, l == w->links.at ? "" : ", ");
		in = open_object(o->to);
		member_number(&in, "pid", l->pid);
		member_text(&in, "comm", l->comm);
		member_amount(&in, "from", l->from);
		member_amount(&in, "to", l->to);
		member_amount(&in, "running", l->ran);
		member_amount(&in, "runnable", l->waited);
		member_bool(&in, "earlier", l->earlier);
		json_wake(&in, &l->wake);
		buf_putc(o->to, '}');
	}
	buf_putc(o->to, ']');
	member_text(o, "chain_end", ends[w->end]);
}

static void json_wait(struct object *o, const struct why *w)
{
	member_text(o, "state", run_state_names[w->state]);
	member_text(o, "reason", w->reason);
	member_amount(o, "from", w->from);
	member_amount(o, "to", w->to);
	member_amount(o, "dur", w->to - w->from);
	member_text(o, "open", row_open_names[w->open]);
	member_number(o, "cpu", w->cpu);
	member_text(o, "next", w->has_next ? run_state_names[w->next] : NULL);
	member_number(o, "next_cpu", w->next_cpu);
	json_wake(o, &w->wake);
	if (w->state == RUN_RUNNABLE) {
		member_number(o, "by", w->by);
		json_shares(o, w);
		json_interrupts(o, w);
		return;
	}
	json_call(o, &w->call);
	if (w->same_futex)
		member_bool(o, "same_futex", true);
	if (w->lock) {
		member_text(o, "lock", w->lock);
		member_amount(o, "lock_addr", w->lock_addr);
	}
	member_frames(o, "stack", w->stack);
	json_chain(o, w);
}

static void json_running(struct object *o, const struct why *w)
{
	struct object in;

	member(o, "running");
	if (!w->running) {
		buf_puts(o->to, "null");
		return;
	}
	in = open_object(o->to);
	member_amount(&in, "from", w->run_from);
	member_amount(&in, "to", w->run_to);
	member_number(&in, "cpu", w->run_cpu);
	buf_putc(o->to, '}');
}

static void json_lines(struct object *o, const struct why *w)
{
	struct buf words;

	buf_init(&words, WHY_WORDS);
	why_text(w, 0, &words);
	member(o, "words");
	buf_json_string(o->to, words.data, words.len);
	buf_free(&words);
}

void why_json(const struct why *w, struct buf *to)
{
	struct object o = open_object(to);

	member_number(&o, "pid", w->asked.pid);
	member_text(&o, "comm", w->comm);
	member_amount(&o, "at", w->asked.moment);
	member_text(&o, "unit", w->ticks ? "ticks" : "ns");
	member_bool(&o, "known", w->found);
	json_running(&o, w);
	if (w->waits)
		json_wait(&o, w);
	member(&o, "notes");
	buf_putc(to, '[');
	vec_each (note, &w->notes) {
		buf_puts(to, note == w->notes.at ? "" : ", ");
		buf_json_string(to, *note, strlen(*note));
	}
	buf_putc(to, ']');
	json_lines(&o, w);
	buf_putc(to, '}');
}
