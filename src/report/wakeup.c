// SPDX-License-Identifier: GPL-2.0-or-later
/* The wakeup latencies of `spur report -w`: a text after each line, then a summary. */
#include "report/wakeup.h"

#include <stdlib.h>

#include "base/slots.h"

#define WOKEN_LIMIT   (256u << 20)
#define RT_PRIO_LIMIT 99 /* priorities up to this one are real-time */

struct stats {
	uint64_t count, total;
	uint64_t max, max_at, min, min_at;
};

struct source {
	const struct event *event;
	const struct event_field *pid, *success;
};

struct wakeup {
	const struct spur_trace *trace;
	struct source wake, wake_new;
	const struct event *switched;
	const struct event_field *next_pid, *next_prio;
	struct slots woken; /* by pid: when the task was woken; 0: it has run since */
	struct stats all, rt;
};

static bool find_source(struct spur_trace *t, const char *name, struct source *s)
{
	struct event *e = events_find(t->events, "sched", name);

	if (!e)
		return false;
	s->event = e;
	s->pid = event_field_find(e, "pid");
	s->success = event_field_find(e, "success");
	return s->pid != NULL;
}

struct wakeup *wakeup_new(struct spur_trace *t)
{
	struct wakeup *w = calloc(1, sizeof(*w));
	struct event *sw = events_find(t->events, "sched", "sched_switch");

	if (!w)
		return NULL;
	w->trace = t;
	slots_init(&w->woken, sizeof(uint64_t), WOKEN_LIMIT);
	w->all.min = w->rt.min = UINT64_MAX;
	w->switched = sw;
	if (sw) {
		w->next_pid = event_field_find(sw, "next_pid");
		w->next_prio = event_field_find(sw, "next_prio");
	}
	if (!w->next_pid || !w->next_prio || !find_source(t, "sched_wakeup", &w->wake) ||
	    (events_find(t->events, "sched", "sched_wakeup_new") &&
	     !find_source(t, "sched_wakeup_new", &w->wake_new))) {
		wakeup_free(w);
		return NULL;
	}
	return w;
}

void wakeup_free(struct wakeup *w)
{
	if (!w)
		return;
	slots_free(&w->woken);
	free(w);
}

static void woken(struct wakeup *w, const struct source *s, const struct spur_record *r)
{
	const struct events *ev = w->trace->events;
	uint64_t pid, success, *since;

	if (s->success && field_number(ev, s->success, r, &success) && !success)
		return;
	if (!field_number(ev, s->pid, r, &pid))
		return;
	since = slots_get(&w->woken, (uint32_t)pid);
	if (since)
		*since = r->ts;
}

static void count(struct stats *s, uint64_t latency, uint64_t at)
{
	s->count++;
	s->total += latency;
	if (latency > s->max) {
		s->max = latency;
		s->max_at = at;
	}
	if (latency < s->min) {
		s->min = latency;
		s->min_at = at;
	}
}

static void put_usecs(struct buf *out, uint64_t ns)
{
	buf_printf(out, "%llu.%03llu usecs", (unsigned long long)(ns / 1000),
		   (unsigned long long)(ns % 1000));
}

static void ran(struct wakeup *w, const struct spur_record *r, struct buf *out)
{
	const struct events *ev = w->trace->events;
	uint64_t pid, prio, latency, *since;

	if (!field_number(ev, w->next_prio, r, &prio) || !field_number(ev, w->next_pid, r, &pid))
		return;
	since = slots_find(&w->woken, (uint32_t)pid);
	if (!since || !*since)
		return;
	latency = r->ts - *since;
	*since = 0;
	count(&w->all, latency, r->ts);
	if (prio <= RT_PRIO_LIMIT)
		count(&w->rt, latency, r->ts);
	/* The line is complete already, so the text is inserted before its newline. */
	if (out->len && out->data[out->len - 1] == '\n')
		out->len--;
	buf_puts(out, " Latency: ");
	put_usecs(out, latency);
	buf_putc(out, '\n');
}

void wakeup_watch(void *wakeup, const struct spur_trace *t, struct event *e,
		  const struct spur_record *r, struct buf *out)
{
	struct wakeup *w = wakeup;

	if (!e || t != w->trace)
		return;
	if (e == w->wake.event)
		woken(w, &w->wake, r);
	else if (e == w->wake_new.event)
		woken(w, &w->wake_new, r);
	else if (e == w->switched)
		ran(w, r, out);
}

static void put_time(struct buf *out, const char *what, uint64_t latency, uint64_t at)
{
	buf_printf(out, "%s Latency: ", what);
	put_usecs(out, latency);
	buf_printf(out, " at timestamp: %llu.%06llu\n", (unsigned long long)(at / 1000000000),
		   (unsigned long long)((at + 500) % 1000000000 / 1000));
}

static void put_stats(const struct stats *s, struct buf *out)
{
	buf_puts(out, "\nAverage wakeup latency: ");
	put_usecs(out, s->total / s->count);
	buf_putc(out, '\n');
	put_time(out, "Maximum", s->max, s->max_at);
	put_time(out, "Minimum", s->min, s->min_at);
	buf_putc(out, '\n');
}

void wakeup_summary(const struct wakeup *w, struct buf *out)
{
	if (!w->all.count)
		return;
	put_stats(&w->all, out);
	if (w->rt.count) {
		buf_puts(out, "RT task timings:\n");
		put_stats(&w->rt, out);
	}
}
