// SPDX-License-Identifier: GPL-2.0-or-later
#include "stats/why.h"

#include <errno.h>

#include "table/analysis.h"
#include "table/sched.h"
#include "stats/why_parts.h"
#include "base/error.h"
#include "base/map.h"
#include "base/vec.h"
#include "event/names.h"

#define TEXTS_LIMIT (4u << 20)

static uint64_t trace_start(const struct spur_trace *t)
{
	uint64_t first = UINT64_MAX;

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];
		const uint64_t start = b->data->text ? UINT64_MAX : buffer_start(b);

		first = start < first ? start : first;
	}
	return first == UINT64_MAX ? 0 : first;
}

static bool slept(const struct why *w)
{
	return strcmp(w->state, "sleeping") == 0 || strcmp(w->state, "blocked") == 0 ||
	       strcmp(w->state, "stopped") == 0;
}

static bool is_open(const struct why *w, const char *end)
{
	return w->open == end || w->open == row_open_both;
}

/* The first argument of a call: "7f53add4e6f4" of "7f53add4e6f4, 81, 1". */
static size_t first_argument(const struct why_call *c)
{
	return c->known == WHY_FOUND && c->name && c->args && strncmp(c->name, "futex", 5) == 0
		       ? strcspn(c->args, ",")
		       : 0;
}

/* Whether the task slept in a futex, and was woken by one who called it for the same address. */
static bool is_same_futex(const struct why *w)
{
	const struct why_call *a = &w->call, *b = &w->wake.call;
	const size_t len = first_argument(a);

	return len && len == first_argument(b) && memcmp(a->args, b->args, len) == 0;
}

/* Which system calls were looked for, and whether any was found. */
struct looked_for {
	bool missing, found;
};

static void look(struct looked_for *l, const struct why_call *c)
{
	l->missing |= c->known == WHY_UNRECORDED;
	l->found |= c->known == WHY_FOUND;
}

/* What is missing everywhere is said once. */
static void note_calls(struct why *w)
{
	struct looked_for calls = {0};

	look(&calls, &w->call);
	look(&calls, &w->wake.call);
	vec_each (link, &w->links)
		look(&calls, &link->wake.call);
	if (calls.missing && !calls.found)
		why_note(w, "system calls were not recorded");
	if (w->call.known == WHY_UNKNOWN)
		why_note(w, "in which system call it slept is not known");
}

static int explain_sleep(const struct why_reader *r)
{
	struct why *w = r->why;
	int rc = is_open(w, row_open_start) ? 0 : why_slept_in(r);

	if (rc < 0)
		return rc;
	if (is_open(w, row_open_end)) {
		why_note(w,
			 "what woke it is not known: the trace, or what is known of the task, ends "
			 "before");
		return 0;
	}
	rc = why_wake_at(r, w->asked.pid, w->to, &w->wake);
	w->same_futex = rc == 0 && is_same_futex(w);
	return rc < 0 ? rc : why_chain(r);
}

static int explain_runnable(const struct why_reader *r)
{
	struct why *w = r->why;
	const bool woken =
		w->reason && (strcmp(w->reason, "woken") == 0 || strcmp(w->reason, "new") == 0);
	int rc = woken ? why_wake_at(r, w->asked.pid, w->from, &w->wake) : 0;

	if (rc == 0)
		rc = why_cpus(r);
	if (woken)
		w->by = ROW_NULL;
	return rc;
}

/* ---- what is unknown ---- */

struct unknown {
	const struct why_reader *r;
};

static void take_loss(void *arg, const void *row)
{
	const struct unknown *u = arg;
	const struct why_loss *l = row;
	struct why *w = u->r->why;

	if (why_is_here(u->r, l->buffer) && l->ts <= w->to && why_end_of(l->ts, l->dur) >= w->from)
		why_note(w, "events of CPU %lld were lost then", (long long)l->cpu);
}

/* Records are read only for their times: reading ends after the wait. */
static void pass_by(void *arg, struct event *e, const struct spur_record *r)
{
}

static int explain_unknown(const struct why_reader *r)
{
	struct why *w = r->why;
	struct unknown u = {r};
	struct feed *f = why_feed(r);
	int rc;

	if (!f)
		return r->err->code;
	rc = feed_add(f, &why_losses_table, take_loss, &u, r->err);
	if (rc == 0)
		rc = feed_watch(f, "sched:*", pass_by, NULL, r->err);
	if (rc < 0) {
		feed_free(f);
		return rc;
	}
	rc = why_run(r, f, w->from, w->to, NULL);
	if (rc == 0 && r->trace->dat->followed.is)
		why_note(w, "only the events of some tasks were recorded");
	if (rc == 0 && !w->notes.n)
		why_note(w, "an event that would tell was not recorded");
	return rc;
}

static int explain(const struct why_reader *r)
{
	struct why *w = r->why;

	if (!w->waits)
		return 0;
	if (strcmp(w->state, "runnable") == 0)
		return explain_runnable(r);
	if (slept(w))
		return explain_sleep(r);
	return strcmp(w->state, "unknown") == 0 ? explain_unknown(r) : 0;
}

/* ---- which buffer ---- */

static bool is_meant(const struct why_options *o, const struct trace_buffer *b)
{
	return !b->data->text && (!o->buffer || strcmp(o->buffer, b->data->name) == 0);
}

static bool knows(const struct why *w)
{
	return w->found && (w->running || strcmp(w->state, "unknown") != 0);
}

static void forget(struct why *w)
{
	w->found = w->running = w->waits = false;
	w->next = w->open = w->state = NULL;
}

/* A task may be in several buffers, of which one at least has seen what it did. */
static int find(struct why_reader *r)
{
	const struct trace_buffer *some = NULL;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < r->trace->nr_buffers; i++) {
		r->buffer = &r->trace->buffers[i];
		if (!is_meant(&r->why->asked, r->buffer))
			continue;
		forget(r->why);
		rc = why_find(r);
		if (rc == 0 && knows(r->why))
			return 0;
		if (rc == 0 && r->why->found)
			some = r->buffer;
	}
	if (rc < 0 || !some || some == r->buffer)
		return rc;
	r->buffer = some;
	forget(r->why);
	return why_find(r);
}

int why_make(struct why *w, struct spur_trace *t, const struct why_options *opt,
	     struct spur_error *err)
{
	struct spur_error own = {0};
	struct why_reader r = {.trace = t,
			       .stop = opt->stop,
			       .start = trace_start(t),
			       .why = w,
			       .err = err ? err : &own};
	int rc;

	*w = (struct why){.asked = *opt, .cpu = ROW_NULL, .by = ROW_NULL};
	w->wake.cpu = w->wake.pid = w->wake.irq = ROW_NULL;
	intern_init(&w->texts, TEXTS_LIMIT);
	rc = find(&r);
	if (r.buffer)
		w->ticks = !r.buffer->nanoseconds;
	if (rc == 0 && w->found)
		rc = explain(&r);
	note_calls(w);
	return rc < 0 ? error_set(r.err, rc, "out of memory") : 0;
}

void why_free(struct why *w)
{
	vec_free(&w->pieces);
	vec_free(&w->shares);
	vec_free(&w->interrupts);
	vec_free(&w->links);
	vec_free(&w->notes);
	intern_free(&w->texts);
}
