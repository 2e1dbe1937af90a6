// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Moments: the interval at a place with all that belongs to it, the way back over what it waited
 * for, and why it waited, in words.
 */
#include <errno.h>
#include <string.h>

#include "stats/why.h"
#include "base/error.h"
#include "base/json.h"
#include "view/api/api.h"
#include "view/answers/interval.h"

#define MOST_TICKS 100000 /* records that are looked at for one of a row */
#define TEXT_LIMIT (64u << 10)

static void put_json(struct buf *b, const char *name, const char *text)
{
	buf_printf(b, ",\"%s\":", name);
	buf_json_string(b, text, strlen(text));
}

static void put_number(struct buf *b, const char *name, int64_t v)
{
	buf_printf(b, ",\"%s\":%lld", name, (long long)v);
}

/* ---- what it is called ---- */

static void put_value(struct slice *s)
{
	const uint32_t value = s->at.value;
	int64_t number = value;

	switch (s->kind) {
	case VIEW_RUNNING:
		if (s->row.info.kind == VIEW_CPU_ROW)
			number = view_row_number(s->view, s->row.file, value);
		break;
	case VIEW_STATE: number = STATE_OF(value); break;
	case VIEW_IRQ:
	case VIEW_SOFTIRQ:
	case VIEW_SYSCALL:
	case VIEW_CALL: number = view_name_number(s->view, s->row.file, value); break;
	default: break;
	}
	put_number(s->out, "value", number);
}

static void slice_name(const struct slice *s, struct buf *to)
{
	const char *name;

	switch (s->kind) {
	case VIEW_RUNNING:
		if (s->row.info.kind == VIEW_CPU_ROW && s->has_task)
			interval_name(&s->task, to);
		else if (slice_cpu(&s->at) < 0)
			buf_puts(to, "running");
		else
			buf_printf(to, "CPU %u", s->at.value);
		break;
	case VIEW_STATE: buf_puts(to, interval_state(s->at.value)); break;
	case VIEW_LOST:
		if (s->at.value)
			buf_printf(to, "%u events lost", s->at.value);
		else
			buf_puts(to, "events lost");
		break;
	case VIEW_COUNTER: buf_printf(to, "%u", s->at.value); break;
	default: name = view_index_name(s->row.index, s->at.value); buf_puts(to, name ? name : "?");
	}
}

/* ---- before and after ---- */

static void put_neighbour(struct slice *s, const char *name, const struct interval_row *row,
			  int64_t track, uint64_t ts, int dir)
{
	struct view_interval i;
	int64_t number = view_row_number(s->view, row->file, row->row), shown = track;
	struct view_place place;
	struct view_row info;

	if (track < 0 || !view_index_interval(row->index, row->row, (uint32_t)track, ts, dir, &i) ||
	    i.start == s->at.start)
		return;
	/* A task's other runs are shown where they were: on a CPU. */
	if (s->row.info.kind == VIEW_CPU_ROW && s->kind == VIEW_RUNNING) {
		number = view_cpu_row(s->view, row->file, row->info.buffer, i.value);
		if (number < 0 || !view_row(s->view, (uint32_t)number, &place, &info))
			return;
		shown = interval_track(&info, VIEW_RUNNING, 0);
	}
	buf_printf(s->out, ",\"%s\":{\"start\":%lld,\"duration\":%llu,\"row\":%lld,\"track\":%lld}",
		   name, (long long)interval_relative(row, i.start), (unsigned long long)i.dur,
		   (long long)number, (long long)shown);
}

static void put_neighbours(struct slice *s)
{
	const bool of_task = s->kind == VIEW_RUNNING && s->has_task;
	const struct interval_row *row = of_task ? &s->task : &s->row;
	const int64_t track = of_task ? s->task.running : (int64_t)s->track;

	if (s->at.start)
		put_neighbour(s, "previous", row, track, s->at.start - 1, -1);
	put_neighbour(s, "next", row, track, s->at.start + (s->at.dur ? s->at.dur : 1), 1);
}

/* ---- the record it begins with ---- */

static bool is_its_record(const struct slice *s, const struct view_cursor *c)
{
	if (c->from->file != s->row.file || c->rec->buffer != s->row.info.buffer)
		return false;
	if (s->row.info.kind == VIEW_CPU_ROW)
		return c->rec->cpu == s->row.info.number;
	if (s->kind == VIEW_RUNNING)
		return c->rec->cpu == s->at.value;
	return view_cursor_pid(c) == s->row.info.number;
}

static void put_first_record(struct slice *s)
{
	const uint64_t ts = interval_absolute(&s->row, s->at.start);
	struct view_cursor c;
	uint64_t first = 0;
	bool any = false, found = false;

	if (!(s->at.flags & VIEW_OPEN_START) &&
	    view_cursor_open(&c, s->view, NULL, s->q->stop, NULL) == 0) {
		if (view_cursor_to_time(&c, ts, true, NULL) == 0)
			while (!found && view_cursor_next(&c) && c.rec->ts == ts) {
				found = is_its_record(s, &c);
				if (found || !any)
					first = c.n;
				any = true;
			}
		view_cursor_close(&c);
	}
	buf_puts(s->out, ",\"event\":");
	if (any)
		buf_u64(s->out, first);
	else
		buf_puts(s->out, "null");
}

/* ---- slice ---- */

static const char *open_word(uint32_t flags)
{
	static const char *const words[] = {"null", "\"start\"", "\"end\"", "\"both\""};

	return words[(flags & VIEW_OPEN_START ? 1 : 0) + (flags & VIEW_OPEN_END ? 2 : 0)];
}

static void put_slice(struct slice *s)
{
	struct buf name;

	buf_init(&name, TEXT_LIMIT);
	slice_name(s, &name);
	buf_printf(s->out, "{\"start\":%lld,\"duration\":%llu,\"open\":%s",
		   (long long)interval_relative(&s->row, s->at.start),
		   (unsigned long long)s->at.dur, open_word(s->at.flags));
	put_value(s);
	buf_puts(s->out, ",\"name\":");
	buf_json_string(s->out, name.data, name.len);
	buf_free(&name);
	if (s->has_task)
		put_number(s->out, "task", view_row_number(s->view, s->task.file, s->task.row));
	if (s->kind == VIEW_STATE)
		put_json(s->out, "state", interval_state(s->at.value));
	slice_details(s);
	put_first_record(s);
	slice_waker(s);
	slice_woken(s);
	put_neighbours(s);
	buf_putc(s->out, '}');
}

static void find_task(struct slice *s)
{
	if (s->row.info.kind == VIEW_TASK_ROW) {
		s->task = s->row;
		s->has_task = true;
	} else if (s->row.info.kind == VIEW_CPU_ROW && s->kind == VIEW_RUNNING) {
		s->has_task = interval_row(s->view, s->row.file, s->at.value, &s->task);
	}
}

static bool tick_is_wanted(const struct slice *s, const struct view_cursor *c)
{
	if (c->from->file != s->row.file || c->rec->buffer != s->row.info.buffer)
		return false;
	return s->row.info.kind == VIEW_CPU_ROW ? c->rec->cpu == s->row.info.number
						: view_cursor_pid(c) == s->row.info.number;
}

/* A tick: the record of the row at the time, or the first one behind it. */
static int put_tick(struct slice *s, uint64_t ts, struct spur_error *err)
{
	struct view_cursor c;
	bool found = false;
	int rc = view_cursor_open(&c, s->view, NULL, s->q->stop, err);

	if (rc == 0)
		rc = view_cursor_to_time(&c, interval_absolute(&s->row, ts), true, err);
	for (int i = 0; rc == 0 && !found && i < MOST_TICKS && view_cursor_next(&c); i++)
		found = tick_is_wanted(s, &c);
	if (rc == 0 && !found)
		rc = error_set(err, -ENOENT, "there is no event");
	if (rc == 0) {
		buf_printf(s->out, "{\"start\":%lld,\"duration\":0,\"open\":null,\"value\":%lld",
			   (long long)(int64_t)(c.rec->ts - view_origin(s->view)),
			   c.event ? (long long)view_file(s->view, c.from->file)->first_event +
					     c.event->index
				   : -1);
		put_json(s->out, "name", c.event ? c.event->name : "");
		put_number(s->out, "event", (int64_t)c.n);
		buf_puts(s->out, ",\"details\":[]}");
	}
	view_cursor_close(&c);
	return rc;
}

/* Which row and time are meant; `ts` becomes one of the index. */
static int read_place(struct view *v, const struct api_request *q, struct interval_row *row,
		      uint32_t *number, uint64_t *ts, struct spur_error *err)
{
	struct view_place place;
	struct view_row info;
	uint64_t r;
	int rc = api_number(q, "row", &r, err);

	if (rc == 0)
		rc = api_number(q, "ts", ts, err);
	if (rc < 0)
		return error_set(err, -EINVAL, "row=ROW and ts=TIME are missing");
	if (r > UINT32_MAX || !view_row(v, (uint32_t)r, &place, &info) ||
	    !interval_row(v, place.file_number, place.row, row))
		return error_set(err, -ENOENT, "there is no row %llu", (unsigned long long)r);
	*ts = *ts > place.shift ? *ts - place.shift : 0;
	*number = (uint32_t)r;
	return 0;
}

static int answer_slice(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct slice s = {.view = v, .q = q, .out = &a->body};
	uint64_t track, ts;
	int rc = read_place(v, q, &s.row, &s.number, &ts, err);

	if (rc == 0)
		rc = api_number(q, "track", &track, err);
	if (rc < 0)
		return error_set(err, rc == -ENOENT && !err->code ? -EINVAL : rc,
				 "slice?row=ROW&track=TRACK&ts=TIME");
	if (track >= s.row.info.nr_tracks)
		return error_set(err, -ENOENT, "the row has no such track");
	s.track = (uint32_t)track;
	s.kind = s.row.info.tracks[track].kind;
	if (s.kind == VIEW_EVENTS)
		return put_tick(&s, ts, err);
	if (!interval_at(&s.row, s.track, ts, &s.at))
		return error_set(err, -ENOENT, "nothing is there");
	find_task(&s);
	put_slice(&s);
	return 0;
}

/* ---- chain ---- */

/* Which task is meant: that of the row, or the one that runs there. */
static int read_task(struct view *v, const struct api_request *q, struct interval_row *task,
		     uint64_t *ts, struct spur_error *err)
{
	struct interval_row row;
	struct view_interval run;
	uint32_t number;
	int rc = read_place(v, q, &row, &number, ts, err);

	if (rc < 0)
		return rc;
	*task = row;
	if (row.info.kind != VIEW_TASK_ROW && (!interval_at(&row, row.running, *ts, &run) ||
					       !interval_row(v, row.file, run.value, task)))
		return error_set(err, -ENOENT, "no task runs there");
	return 0;
}

static int answer_chain(struct view *v, const struct api_request *q, struct api_answer *a,
			struct spur_error *err)
{
	struct interval_row task;
	uint64_t ts;
	int rc = read_task(v, q, &task, &ts, err);

	if (rc == 0)
		interval_chain(&task, ts, q->stop, &a->body);
	return rc;
}

/* ---- why ---- */

static int answer_why(struct view *v, const struct api_request *q, struct api_answer *a,
		      struct spur_error *err)
{
	struct interval_row task;
	uint64_t ts;
	int rc = read_task(v, q, &task, &ts, err);
	struct why_options opt = {.stop = q->stop};
	struct spur_trace *trace;
	struct why why;

	if (rc < 0)
		return rc;
	trace = view_file(v, task.file)->trace;
	opt.pid = task.info.number;
	opt.moment = interval_absolute(&task, ts);
	if (task.info.buffer < trace->nr_buffers)
		opt.buffer = trace->buffers[task.info.buffer].data->name;
	rc = why_make(&why, trace, &opt, err);
	if (rc == 0 && !why.found)
		rc = error_set(err, -ENOENT, "what the task did then is not known");
	if (rc == 0)
		why_json(&why, &a->body);
	why_free(&why);
	return rc;
}

const struct api_question api_moments[] = {
	{"slice", false, answer_slice},
	{"chain", false, answer_chain},
	{"why", false, answer_why},
	{NULL},
};
