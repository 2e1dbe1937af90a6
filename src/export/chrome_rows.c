// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of the analyses as slices, and wakeups as arrows from one to another. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table/calls.h"
#include "table/overview.h"
#include "table/sched.h"
#include "table/spans.h"
#include "table/stacks.h"
#include "base/json.h"
#include "export/chrome_parts.h"
#include "export/pass.h"

static void slice(struct chrome *c, const char *name, uint64_t ts, int64_t dur, uint64_t pid,
		  uint64_t tid, const char *category)
{
	chrome_begin(c, name, strlen(name), 'X', ts, pid, tid);
	chrome_duration(c, dur);
	chrome_member(&c->out->buf, "cat");
	buf_json_string(&c->out->buf, category, strlen(category));
	chrome_member(&c->out->buf, "args");
	buf_putc(&c->out->buf, '{');
}

/* Members of the arguments; the first one decides about the comma. */
static void separate(struct buf *b)
{
	if (b->len && b->data[b->len - 1] != '{')
		buf_putc(b, ',');
}

static void arg_number(struct chrome *c, const char *name, int64_t v)
{
	struct buf *b = &c->out->buf;

	if (v == ROW_NULL)
		return;
	separate(b);
	buf_json_string(b, name, strlen(name));
	buf_putc(b, ':');
	chrome_number(b, v, true);
}

static void arg_text(struct chrome *c, const char *name, const char *text)
{
	struct buf *b = &c->out->buf;

	if (!text || !*text)
		return;
	separate(b);
	buf_json_string(b, name, strlen(name));
	buf_putc(b, ':');
	buf_json_string(b, text, strlen(text));
}

static void finish(struct chrome *c, const char *open, const char *buffer)
{
	arg_text(c, "open", open);
	arg_text(c, "buffer", buffer);
	buf_putc(&c->out->buf, '}');
	chrome_end(c);
}

static void take_slice(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct slice_row *s = row;
	char name[96];

	/* The idle task is a gap. */
	if (!s->pid)
		return;
	if (s->pid == ROW_NULL)
		snprintf(name, sizeof(name), "unknown");
	else
		snprintf(name, sizeof(name), "%s %" PRId64, s->comm ? s->comm : "", s->pid);
	slice(c, name, s->ts, s->dur, chrome_place(c, PLACE_CPUS, s->buffer, (uint32_t)s->cpu),
	      (uint64_t)s->cpu, "sched");
	arg_number(c, "pid", s->pid);
	arg_text(c, "comm", s->comm);
	arg_number(c, "prio", s->prio);
	arg_text(c, "end_state", s->end_state);
	finish(c, s->open, s->buffer);
}

static void take_state(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct state_row *s = row;
	uint64_t tid, pid;

	if (!s->pid)
		return;
	pid = chrome_task(c, s->pid, s->comm, TASK_STATES, s->buffer, -1, &tid);
	slice(c, s->state, s->ts, s->dur, pid, tid, "state");
	arg_text(c, "reason", s->reason);
	arg_number(c, "cpu", s->cpu);
	arg_number(c, "waker", s->waker);
	finish(c, s->open, s->buffer);
}

static void take_irq(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct irq_row *i = row;
	char name[32];

	snprintf(name, sizeof(name), "irq %" PRId64, i->irq);
	slice(c, i->name ? i->name : name, i->ts, i->dur,
	      chrome_place(c, PLACE_INTERRUPTS, i->buffer, (uint32_t)i->cpu), (uint64_t)i->cpu,
	      "irq");
	arg_number(c, "irq", i->irq);
	arg_number(c, "handled", i->handled);
	arg_number(c, "pid", i->pid);
	finish(c, i->open, i->buffer);
}

static void take_softirq(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct softirq_row *s = row;

	slice(c, s->name ? s->name : "softirq", s->ts, s->dur,
	      chrome_place(c, PLACE_SOFTIRQS, s->buffer, (uint32_t)s->cpu), (uint64_t)s->cpu,
	      "softirq");
	arg_number(c, "vec", s->vec);
	arg_number(c, "latency", s->latency);
	arg_number(c, "pid", s->pid);
	finish(c, s->open, s->buffer);
}

static void take_syscall(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct syscall_row *s = row;
	char name[32];
	uint64_t tid, pid = chrome_task(c, s->pid, s->comm, TASK_SYSCALLS, s->buffer, s->cpu, &tid);

	snprintf(name, sizeof(name), "system call %" PRId64, s->nr);
	slice(c, s->name ? s->name : name, s->ts, s->dur, pid, tid, "syscall");
	arg_number(c, "nr", s->nr);
	arg_text(c, "args", s->args);
	arg_number(c, "ret", s->ret);
	arg_text(c, "error", s->error);
	arg_number(c, "cpu", s->cpu);
	finish(c, s->open, s->buffer);
}

/* An arrow from the waker's running to that of the task that was woken. */
static void take_wakeup(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct wakeup_row *w = row;
	uint64_t pid, tid;

	if (w->latency == ROW_NULL || w->latency < 0 || !w->pid || !w->waker_pid)
		return;
	++*c->flows;
	pid = chrome_task(c, w->waker_pid, w->waker_comm, TASK_STATES, w->buffer, -1, &tid);
	chrome_begin(c, "wakeup", strlen("wakeup"), 's', w->ts, pid, tid);
	buf_printf(&c->out->buf, ",\"cat\":\"wakeup\",\"id\":%" PRIu64, *c->flows);
	chrome_end(c);
	pid = chrome_task(c, w->pid, w->comm, TASK_STATES, w->buffer, -1, &tid);
	chrome_begin(c, "wakeup", strlen("wakeup"), 'f', w->ts + (uint64_t)w->latency, pid, tid);
	buf_printf(&c->out->buf, ",\"cat\":\"wakeup\",\"bp\":\"e\",\"id\":%" PRIu64, *c->flows);
	chrome_end(c);
}

static void take_sample(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct sample_row *s = row;
	uint64_t tid, pid = chrome_task(c, s->pid, s->comm, TASK_EVENTS, s->buffer, s->cpu, &tid);

	chrome_begin(c, "stack", strlen("stack"), 'i', s->ts, pid, tid);
	buf_puts(&c->out->buf, ",\"s\":\"t\",\"cat\":\"stack\",\"args\":{");
	arg_number(c, "cpu", s->cpu);
	arg_text(c, "event", s->event);
	arg_text(c, "stack", s->stack);
	finish(c, NULL, s->buffer);
}

static void take_loss(void *arg, const void *row)
{
	struct chrome *c = arg;
	const struct lost_row *l = row;

	chrome_begin(c, "lost events", strlen("lost events"), 'i', l->ts,
		     chrome_place(c, PLACE_CPUS, l->buffer, (uint32_t)l->cpu), (uint64_t)l->cpu);
	buf_puts(&c->out->buf, ",\"s\":\"t\",\"cat\":\"lost\",\"args\":{");
	arg_number(c, "events", l->events);
	finish(c, NULL, l->buffer);
}

const struct pass_table chrome_tables[] = {
	{&slices_table, take_slice},	 {&states_table, take_state},
	{&irqs_table, take_irq},	 {&softirqs_table, take_softirq},
	{&syscalls_table, take_syscall}, {&calls_both_table, chrome_call},
	{&wakeups_table, take_wakeup},	 {&samples_table, take_sample},
	{&lost_table, take_loss},
};
const size_t chrome_nr_tables = sizeof(chrome_tables) / sizeof(chrome_tables[0]);
