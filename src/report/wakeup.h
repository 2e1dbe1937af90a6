/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wakeup latencies while a report runs (`report -w`): the time from a task's sched_wakeup to the
 * sched_switch to it, shown at the end of the switch's line, and a summary.
 */
#ifndef REPORT_WAKEUP_H
#define REPORT_WAKEUP_H

#include "base/buf.h"
#include "scan/trace.h"

struct wakeup;

/* NULL if the trace has no scheduler events. */
struct wakeup *wakeup_new(struct spur_trace *t);
void wakeup_free(struct wakeup *w);

/* A struct report's watch(). */
void wakeup_watch(void *wakeup, const struct spur_trace *t, struct event *e,
		  const struct spur_record *r, struct buf *out);

/* Appends average, maximum and minimum; nothing when no latency was seen. */
void wakeup_summary(const struct wakeup *w, struct buf *out);

#endif
