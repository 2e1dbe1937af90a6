// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The system call that a task was in at a time.
 *
 * It is the last one that the task entered, if that had not returned by then. That there was none
 * is only known if no entry can be missing: if raw_syscalls was recorded without a filter, and no
 * events were lost since the last call returned.
 */
#include "stats/why/reader.h"
#include "table/analysis.h"
#include "table/spans.h"

#define CALL_SPAN 1000000u    /* ns */
#define MOST_SPAN 8000000000u /* a waker's call that has lasted longer by then is not found */
#define RAW_ENTER "raw_syscalls:sys_enter"

struct caller {
	const struct why_reader *r;
	int64_t pid;
	uint64_t ts;
	struct why_call *to;
	bool others;   /* there are calls, of any task */
	bool seen;     /* also of the task: earlier ones do not matter */
	bool entered;  /* raw_syscalls has an entry of the task */
	bool outside;  /* its last call had ended before, … */
	uint64_t left; /* … at this time */
	uint64_t lost; /* until when events were lost, 0: none were */
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
	c->seen = true;
	/* One that never returns has no duration. */
	if (row_end_of(s->ts, s->dur) < c->ts && s->dur != ROW_NULL) {
		c->outside = !s->open;
		c->left = row_end_of(s->ts, s->dur);
		return;
	}
	*c->to = (struct why_call){.known = WHY_FOUND,
				   .name = why_keep(w, s->name),
				   .args = why_keep(w, s->args),
				   .nr = s->nr,
				   .ts = s->ts,
				   .open_start = s->open & ROW_OPEN_START};
}

static void take_entry(void *arg, struct event *e, const struct spur_record *r)
{
	struct caller *c = arg;

	c->entered |= r->buffer == c->r->buffer->index && r->ts <= c->ts &&
		      events_record_pid(c->r->trace->events, r) == c->pid;
}

/* The task may have been on any CPU meanwhile. */
static void take_loss(void *arg, const void *row)
{
	const struct why_loss *l = row;
	struct caller *c = arg;
	const uint64_t end = row_end_of(l->ts, l->dur);

	if (why_is_here(c->r, l->buffer) && l->ts < c->ts && end > c->lost)
		c->lost = end;
}

static int read_calls(struct caller *c, uint64_t since)
{
	struct feed *f = why_feed(c->r);

	feed_add(f, &syscalls_table, take_call, c);
	feed_add(f, &why_losses_table, take_loss, c);
	feed_watch(f, RAW_ENTER, take_entry, c);
	return why_run(c->r, f, since, c->ts, NULL);
}

/* Whether the task was in no call, if none was found. */
static bool is_outside(const struct caller *c)
{
	return c->outside && c->entered && c->lost <= c->left &&
	       !dat_filtered(c->r->trace->dat, c->r->buffer->data->name, RAW_ENTER);
}

/* Of the reader's buffer. */
static int find_call(const struct why_reader *r, int64_t pid, uint64_t ts, bool waker,
		     struct why_call *to)
{
	const uint64_t bit = r->buffer->index < 64 ? 1ull << r->buffer->index : 0;
	struct caller c = {.r = r, .pid = pid, .ts = ts, .to = to};
	struct why_window w = why_window(r, ts, CALL_SPAN, 0);
	int rc;

	*to = (struct why_call){.known = WHY_UNRECORDED};
	if (r->why->callless & bit)
		return 0;
	do {
		rc = read_calls(&c, w.since);
	} while (rc == 0 && !c.seen && !(waker && c.others && w.span >= MOST_SPAN) &&
		 why_window_grow(r, &w));
	if (rc == 0 && !c.others)
		rc = why_has_records(r, syscalls_table.events, ts, UINT64_MAX, &c.others);
	if (rc < 0 || to->known == WHY_FOUND)
		return rc;
	if (c.others)
		to->known = is_outside(&c) ? WHY_NONE : WHY_UNKNOWN;
	else
		r->why->callless |= bit;
	return 0;
}

int why_call_at(const struct why_reader *r, int64_t pid, uint64_t ts, bool waker,
		struct why_call *to)
{
	struct why_reader other;
	struct why_call call;
	bool is;
	int rc;

	*to = (struct why_call){.known = WHY_UNRECORDED};
	if (why_is_kthread(r, pid, ts)) {
		to->known = WHY_KERNEL;
		return 0;
	}
	if (!table_possible(&syscalls_table, r->trace))
		return 0;
	rc = find_call(r, pid, ts, waker, to);
	for (uint32_t i = 0; rc == 0 && i < r->trace->nr_buffers; i++) {
		if (to->known == WHY_FOUND || to->known == WHY_NONE)
			break;
		rc = why_other(r, i, ts, &other, &is);
		if (rc < 0 || !is)
			continue;
		rc = find_call(&other, pid, ts, waker, &call);
		if (rc == 0 && call.known != WHY_UNRECORDED)
			*to = call;
	}
	return rc;
}
