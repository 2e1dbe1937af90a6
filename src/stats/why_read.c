// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the records around a moment.
 *
 * Tables are read from shortly before it. What is wanted may have begun earlier: then the range is
 * made eight times as long and read again, at most until it is the whole trace. So reading costs
 * little more than the shortest range that would have done.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "stats/why_parts.h"
#include "base/vec.h"
#include "event/names.h"

#define GROWS	  8
#define NOTE_SIZE 512

static void set_since(const struct why_reader *r, struct why_window *w)
{
	w->since = w->at > w->span ? w->at - w->span : 0;
	if (w->since < w->lowest)
		w->since = w->lowest;
	w->whole = w->since <= r->start || w->since == w->lowest;
	if (w->since <= r->start)
		w->since = 0;
}

struct why_window why_window(const struct why_reader *r, uint64_t at, uint64_t span,
			     uint64_t lowest)
{
	struct why_window w = {.at = at, .span = span, .lowest = lowest};

	set_since(r, &w);
	return w;
}

bool why_window_grow(const struct why_reader *r, struct why_window *w)
{
	if (w->whole)
		return false;
	w->span = w->span > UINT64_MAX / GROWS ? UINT64_MAX : w->span * GROWS;
	set_since(r, w);
	return true;
}

struct feed *why_feed(const struct why_reader *r)
{
	const struct walk_options opt = {.stop = r->stop, .nameless = true};

	return feed_new(r->trace, &opt, r->err);
}

int why_run(const struct why_reader *r, struct feed *f, uint64_t since, uint64_t until,
	    const bool *done)
{
	int rc;

	feed_read_range(f, since, until == UINT64_MAX ? 0 : until);
	while (feed_now(f) <= until && !(done && *done) && feed_step(f))
		;
	feed_cut(f);
	rc = feed_error(f, r->err);
	feed_free(f);
	return rc;
}

int why_run_table(const struct why_reader *r, const struct table *t,
		  void (*take)(void *arg, const void *row), void *arg, uint64_t since,
		  uint64_t until, const bool *done)
{
	struct feed *f = why_feed(r);
	int rc;

	if (!f)
		return r->err->code;
	rc = feed_add(f, t, take, arg, r->err);
	if (rc < 0) {
		feed_free(f);
		return rc;
	}
	return why_run(r, f, since, until, done);
}

/* ---- losses ---- */

static void *losses_begin(const struct table_source *src)
{
	return (void *)src;
}

static void losses_record(void *analysis, struct event *e, const struct spur_record *r)
{
}

static void losses_losing(void *analysis, uint32_t cpu, uint64_t from, uint64_t to)
{
	const struct table_source *src = analysis;
	const struct why_loss row = {.ts = from,
				     .dur = to > from ? (int64_t)(to - from) : 0,
				     .cpu = cpu,
				     .buffer = src->buffer->data->name};

	src->row(src->arg, &row);
}

static void losses_end(void *analysis, uint64_t ts)
{
}

static void losses_free(void *analysis)
{
}

static const char *const no_events[] = {NULL};
static const struct column losses_columns[] = {
	{"ts", COLUMN_TIME, offsetof(struct why_loss, ts), "the last record before it"},
};

const struct table why_losses_table = {
	.name = "losses",
	.columns = losses_columns,
	.nr_columns = 1,
	.row_size = sizeof(struct why_loss),
	.events = no_events,
	.starts_anywhere = true,
	.begin = losses_begin,
	.record = losses_record,
	.losing = losses_losing,
	.end = losses_end,
	.free = losses_free,
};

/* ---- texts ---- */

const char *why_keep(struct why *w, const char *text)
{
	return text ? intern_text(&w->texts, text, strlen(text)) : NULL;
}

void why_note(struct why *w, const char *fmt, ...)
{
	char text[NOTE_SIZE];
	const char **slot, *kept;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	kept = why_keep(w, text);
	/* One text is one pointer: what has been said is not said again. */
	vec_each (note, &w->notes)
		if (*note == kept)
			return;
	slot = kept ? vec_push(&w->notes) : NULL;
	if (slot)
		*slot = kept;
}

const char *why_frame(const char *stack, size_t *left, size_t *len)
{
	size_t at = *left;

	while (at && stack[at - 1] != ';')
		at--;
	*len = *left - at;
	*left = at ? at - 1 : 0;
	return stack + at;
}

const char *why_name(const struct why_reader *r, int64_t pid, uint64_t ts)
{
	const struct dat_task *task = trace_task_at(r->trace, (int)pid, ts);
	const struct comms *comms = r->trace->events->comms;
	size_t len;

	if (task && task->name)
		return task->name;
	return comms_known(comms, (int)pid) ? comms_find(comms, (int)pid, &len) : NULL;
}

bool why_is_kthread(const struct why_reader *r, int64_t pid, uint64_t ts)
{
	const struct dat_task *task = trace_task_at(r->trace, (int)pid, ts);

	/* Of pid 2 are all others. */
	return pid == 0 || (task && (task->ppid == 2 || (pid == 2 && !task->ppid)));
}
