// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why it took so long: back from a moment of a task over what it waited for. Somebody who slept was
 * woken by another one, who may have slept himself, or waited for a CPU; it ends with somebody who
 * was running all the while, with an interrupt, or where the trace does not tell.
 */
#include "base/json.h"
#include "view/moments.h"

#define MOST_STEPS 200

struct chain {
	struct view *view;
	struct buf *out;
	const volatile int *stop;
	struct moment_row task;
	uint64_t ts;	/* so far it has been explained */
	bool follows;	/* the task is one that has woken another, … */
	uint64_t since; /* … who had slept since then */
	unsigned int steps;
	struct buf why;
};

static void put_step(struct chain *c, uint64_t start, const char *state)
{
	const int64_t row = view_row_number(c->view, c->task.file, c->task.row);
	struct buf *b = c->out;

	buf_printf(b, "%s{\"row\":%lld,\"start\":%lld,\"end\":%lld,\"state\":\"%s\",\"why\":",
		   c->steps++ ? "," : "", (long long)row,
		   (long long)moment_relative(&c->task, start),
		   (long long)moment_relative(&c->task, c->ts), state);
	if (c->why.len)
		buf_json_string(b, c->why.data, c->why.len);
	else
		buf_puts(b, "null");
	buf_putc(b, '}');
	buf_reset(&c->why);
}

/* False: it is all explained. */
static bool step_running(struct chain *c, const struct view_interval *run)
{
	const bool enough = c->follows && run->start <= c->since;

	if (enough)
		buf_puts(&c->why, "was running all the while");
	put_step(c, enough ? c->since : run->start, "running");
	c->ts = run->start;
	return !enough && !(run->flags & VIEW_OPEN_START);
}

static void put_waker(struct chain *c, const struct moment_waker *w)
{
	const char *name = NULL;
	struct moment_row waker;

	if (w->in_interrupt) {
		name = moment_interrupt(&c->task, w->cpu, w->ts);
		buf_printf(&c->why, "woken in an interrupt on CPU %u%s%s", w->cpu, name ? ": " : "",
			   name ? name : "");
	} else if (w->task >= 0 && moment_row(c->view, c->task.file, (uint32_t)w->task, &waker)) {
		buf_puts(&c->why, "woken by ");
		moment_name(&waker, &c->why);
	} else if (w->has_record) {
		buf_printf(&c->why, "woken on CPU %u", w->cpu);
	}
}

/* On to who has woken the task; false: it was an interrupt, or nobody knows. */
static bool follow(struct chain *c, const struct moment_waker *w, uint64_t since)
{
	if (w->in_interrupt || w->task < 0 || w->task == c->task.row)
		return false;
	c->follows = true;
	c->since = since;
	return moment_row(c->view, c->task.file, (uint32_t)w->task, &c->task);
}

static bool step_sleep(struct chain *c, const struct view_interval *sleep)
{
	struct moment_waker w = {.task = -1};

	if (sleep->start + sleep->dur == c->ts && moment_waker(&c->task, sleep, c->stop, &w))
		put_waker(c, &w);
	put_step(c, sleep->start, moment_state(sleep->value));
	return follow(c, &w, sleep->start);
}

static bool step_waiting(struct chain *c, const struct view_interval *wait)
{
	struct moment_waker w;
	bool first;

	if (moment_is_sleep(wait))
		return step_sleep(c, wait);
	first = moment_first_waker(&c->task, wait, c->stop, &w);
	if (STATE_OF(wait->value) == VIEW_PREEMPTED)
		buf_puts(&c->why, "preempted, waits for a CPU");
	else if (STATE_OF(wait->value) == VIEW_RUNNABLE)
		buf_puts(&c->why, "waits for a CPU");
	if (first) {
		buf_puts(&c->why, ", ");
		put_waker(c, &w);
	}
	put_step(c, wait->start, moment_state(wait->value));
	c->ts = wait->start;
	return first ? follow(c, &w, 0) : !(wait->flags & VIEW_OPEN_START);
}

static bool step(struct chain *c)
{
	struct view_interval i;

	if (moment_before(&c->task, c->task.running, c->ts, &i))
		return step_running(c, &i);
	return moment_before(&c->task, c->task.state, c->ts, &i) && step_waiting(c, &i);
}

void moment_chain(struct moment_row *from, uint64_t ts, const volatile int *stop, struct buf *out)
{
	struct chain c = {.view = from->view, .out = out, .stop = stop, .task = *from, .ts = ts};
	struct view_interval i;

	buf_init(&c.why, 4096);
	/* What is asked about is all of what happens there. */
	if (moment_at(&c.task, c.task.running, ts, &i) || moment_at(&c.task, c.task.state, ts, &i))
		c.ts = i.start + i.dur;
	buf_putc(out, '[');
	while (c.steps < MOST_STEPS && !*stop && step(&c))
		;
	buf_putc(out, ']');
	buf_free(&c.why);
}
