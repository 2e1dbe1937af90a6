// SPDX-License-Identifier: GPL-2.0-or-later
/* Wakeups by their records: the index knows who ended a sleep, records know how. */
#include <errno.h>
#include <string.h>

#include "view/ask.h"

#define IN_INTERRUPT 0x58 /* hard and soft interrupts, NMIs, in common_flags */

static const char *const names[] = {"sched_waking", "sched_wakeup", "sched_wakeup_new"};

#define NR_NAMES (sizeof(names) / sizeof(names[0]))

/* Finds the events' pids; false when the trace has none of them. */
struct wake_events {
	struct event *event[NR_NAMES];
	const struct event_field *pid[NR_NAMES];
	const struct event_field *success[NR_NAMES]; /* of old kernels; NULL: none */
};

static bool find_events(struct wake_events *w, const struct spur_trace *t)
{
	bool any = false;

	for (size_t i = 0; i < NR_NAMES; i++) {
		struct event *e = events_find(t->events, "sched", names[i]);

		w->event[i] = e;
		w->pid[i] = e && event_ready(e) != EVENT_BROKEN ? event_field_find(e, "pid") : NULL;
		w->success[i] = w->pid[i] ? event_field_find(e, "success") : NULL;
		any |= w->pid[i] != NULL;
	}
	return any;
}

static bool woken_pid(const struct wake_events *w, const struct ask_cursor *c, int64_t *pid)
{
	uint64_t v;

	for (size_t i = 0; i < NR_NAMES; i++) {
		if (c->event != w->event[i] || !w->pid[i])
			continue;
		if (w->success[i] && field_number(c->event->events, w->success[i], c->rec, &v) &&
		    !v)
			return false;
		if (!field_number(c->event->events, w->pid[i], c->rec, &v))
			return false;
		*pid = (int32_t)v;
		return true;
	}
	return false;
}

/* Only these events are looked at, and all others are passed over. */
static int set_filter(struct ask_cursor *c, const struct wake_events *w, struct events *ev,
		      struct lane_filter *filter)
{
	if (lane_filter_init(filter, ev) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < NR_NAMES; i++)
		if (w->pid[i])
			lane_filter_want(filter, w->event[i]);
	for (uint32_t i = 0; i < c->merge.nr; i++)
		c->merge.lanes[i].filter = filter;
	return 0;
}

static void read_wakeups(struct ask_cursor *c, const struct wake_events *w, int64_t waker,
			 uint64_t until, bool (*take)(void *arg, const struct ask_wakeup *w),
			 void *arg)
{
	while (ask_cursor_next(c) && c->rec->ts < until) {
		struct ask_wakeup it = {.ts = c->rec->ts,
					.cpu = c->rec->cpu,
					.file = c->from->file,
					.buffer = c->rec->buffer,
					.waker = ask_cursor_pid(c)};

		if (!woken_pid(w, c, &it.pid) || (waker >= 0 && it.waker != waker))
			continue;
		it.in_interrupt = events_record_flags(c->event->events, c->rec) & IN_INTERRUPT;
		if (!take(arg, &it))
			return;
	}
}

int ask_wakeups(struct view *v, uint32_t file, uint32_t buffer, int64_t cpu, int64_t waker,
		uint64_t since, uint64_t until, const volatile int *stop,
		bool (*take)(void *arg, const struct ask_wakeup *w), void *arg)
{
	const struct spur_trace *t = view_file(v, file)->trace;
	struct lane_filter filter = {0};
	struct wake_events w;
	struct ask_cursor c;
	int rc;

	if (!t || !find_events(&w, t))
		return 0;
	rc = ask_cursor_open(&c, v, NULL, stop, NULL);
	if (rc == 0) {
		ask_cursor_only(&c, file, buffer, cpu);
		rc = set_filter(&c, &w, t->events, &filter);
	}
	if (rc == 0)
		rc = ask_cursor_to_time(&c, since, false, NULL);
	if (rc == 0)
		read_wakeups(&c, &w, waker, until, take, arg);
	ask_cursor_close(&c);
	lane_filter_free(&filter);
	return rc;
}

struct wanted {
	int64_t pid;
	struct ask_wakeup *out;
	bool found;
};

static bool take_wanted(void *arg, const struct ask_wakeup *w)
{
	struct wanted *want = arg;

	if (w->pid != want->pid)
		return true;
	*want->out = *w;
	want->found = true;
	return false;
}

bool ask_wakeup_at(struct view *v, uint32_t file, uint32_t buffer, int64_t pid, uint64_t ts,
		   const volatile int *stop, struct ask_wakeup *out)
{
	struct wanted want = {.pid = pid, .out = out};

	ask_wakeups(v, file, buffer, -1, -1, ts, ts + 1, stop, take_wanted, &want);
	return want.found;
}
