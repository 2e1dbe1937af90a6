// SPDX-License-Identifier: GPL-2.0-or-later
/* What there is to know about an interval, as labels and texts for people. */
#include <string.h>

#include "base/json.h"
#include "view/moments_slice.h"

#define TEXT_LIMIT (64u << 10)

static void put_detail(struct slice *s, const char *label, const char *text, size_t len)
{
	buf_printf(s->out, "%s{\"label\":\"%s\",\"text\":", s->details++ ? "," : "", label);
	buf_json_string(s->out, text, len);
	buf_putc(s->out, '}');
}

static void detail_text(struct slice *s, const char *label, const char *text)
{
	if (text)
		put_detail(s, label, text, strlen(text));
}

static void detail_row(struct slice *s, const char *label, const struct moment_row *row)
{
	struct buf text;

	buf_init(&text, TEXT_LIMIT);
	moment_name(row, &text);
	put_detail(s, label, text.data, text.len);
	buf_free(&text);
}

static void detail_time(struct slice *s, const char *label, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}};
	struct buf text;
	size_t i = 0;

	buf_init(&text, 64);
	while (i < 3 && ns < units[i].ns)
		i++;
	if (i < 3)
		buf_printf(&text, "%.6g %s", (double)ns / (double)units[i].ns, units[i].unit);
	else
		buf_printf(&text, "%llu ns", (unsigned long long)ns);
	put_detail(s, label, text.data, text.len);
	buf_free(&text);
}

/* What the task did next. */
static void detail_then(struct slice *s)
{
	const uint64_t end = s->at.start + s->at.dur;
	struct view_interval i;

	if (s->at.flags & VIEW_OPEN_END || !s->has_task)
		return;
	if (s->kind == VIEW_RUNNING && moment_at(&s->task, s->task.state, end, &i))
		detail_text(s, "then", moment_state(i.value));
	else if (s->kind == VIEW_STATE && moment_at(&s->task, s->task.running, end, &i))
		detail_text(s, "then", "running");
	else if (s->kind == VIEW_STATE && moment_at(&s->task, s->task.state, end, &i))
		detail_text(s, "then", moment_state(i.value));
}

/* The task that was on the CPU when the interrupt came. */
static void detail_interrupted(struct slice *s)
{
	struct view_interval run;
	struct moment_row task;

	if (s->row.info.kind != VIEW_CPU_ROW)
		return;
	if (moment_at(&s->row, s->row.running, s->at.start, &run) &&
	    moment_row(s->view, s->row.file, run.value, &task))
		detail_row(s, "interrupted", &task);
}

static bool add_time(void *sum, const struct view_interval *i)
{
	*(uint64_t *)sum += i->dur;
	return true;
}

static void detail_call(struct slice *s)
{
	const uint32_t depth = s->row.info.tracks[s->track].depth;
	const int64_t inner = moment_track(&s->row.info, VIEW_CALL, depth + 1);
	struct view_interval caller;
	uint64_t sum = 0;

	if (depth && moment_at(&s->row, moment_track(&s->row.info, VIEW_CALL, depth - 1),
			       s->at.start, &caller))
		detail_text(s, "caller", view_index_name(s->row.index, caller.value));
	if (inner >= 0)
		view_index_each(s->row.index, s->row.row, (uint32_t)inner, s->at.start,
				s->at.start + s->at.dur, add_time, &sum);
	detail_time(s, "self", s->at.dur > sum ? s->at.dur - sum : 0);
}

/* The text of a record of the task at a time, whose name begins so. */
static void detail_record(struct slice *s, const char *label, const char *event, uint64_t ts)
{
	const uint64_t at = moment_absolute(&s->row, ts);
	struct ask_cursor c;
	struct buf text;

	buf_init(&text, TEXT_LIMIT);
	if (ask_cursor_open(&c, s->view, NULL, s->q->stop, NULL) == 0) {
		ask_cursor_only(&c, s->row.file, s->row.info.buffer, -1);
		ask_cursor_to_time(&c, at, false, NULL);
		while (ask_cursor_next(&c) && c.rec->ts == at) {
			if (!c.event || strncmp(c.event->name, event, strlen(event)) != 0 ||
			    ask_cursor_pid(&c) != s->row.info.number)
				continue;
			ask_cursor_text(&c, &text);
			put_detail(s, label, text.data, text.len);
			break;
		}
	}
	ask_cursor_close(&c);
	buf_free(&text);
}

static void detail_syscall(struct slice *s)
{
	if (!(s->at.flags & VIEW_OPEN_START))
		detail_record(s, "arguments", "sys_enter", s->at.start);
	if (!(s->at.flags & VIEW_OPEN_END))
		detail_record(s, "returned", "sys_exit", s->at.start + s->at.dur);
}

static bool is_filtered(const struct slice *s)
{
	const struct spur_trace *t = view_file(s->view, s->row.file)->trace;

	return dat_filtered(t->dat, t->buffers[s->row.info.buffer].data->name,
			    "sched:sched_switch");
}

/* Why it is not known what a CPU or a task did. */
static void detail_unknown(struct slice *s)
{
	const bool cpu = s->row.info.kind == VIEW_CPU_ROW;
	const struct dat *d = view_file(s->view, s->row.file)->trace->dat;
	const int64_t lost = moment_track(&s->row.info, VIEW_LOST, 0);
	struct view_interval i;

	if (cpu && !s->row.info.events)
		detail_text(s, "unknown", "the trace has no events of this CPU");
	else if (cpu && s->at.start >= s->row.info.last && d->cut.is)
		detail_text(s, "unknown", "the recorder was killed: what comes then is missing");
	else if (cpu && moment_at(&s->row, lost, s->at.start + s->at.dur / 2, &i))
		detail_text(s, "unknown", "events of this CPU were lost");
	else if (is_filtered(s))
		detail_text(s, "unknown", "switches were recorded through a filter");
	else if (d->followed.is)
		detail_text(s, "unknown", "the trace has only events of some tasks");
	else
		detail_text(s, "unknown",
			    cpu ? "no event says who had the CPU: a switch is missing"
				: "events were lost, or a switch or wakeup is missing");
}

void slice_details(struct slice *s)
{
	buf_puts(s->out, ",\"details\":[");
	if (s->has_task)
		detail_row(s, "task", &s->task);
	if (s->kind == VIEW_RUNNING && s->row.info.kind == VIEW_TASK_ROW &&
	    slice_cpu(&s->at) >= 0) {
		struct buf cpu;

		buf_init(&cpu, 32);
		buf_printf(&cpu, "%u", s->at.value);
		put_detail(s, "CPU", cpu.data, cpu.len);
		buf_free(&cpu);
	} else if (s->row.info.kind == VIEW_CPU_ROW) {
		detail_row(s, "on", &s->row);
	}
	detail_time(s, "duration", s->at.dur);
	detail_then(s);
	if (s->kind == VIEW_IRQ || s->kind == VIEW_SOFTIRQ)
		detail_interrupted(s);
	else if (s->kind == VIEW_CALL)
		detail_call(s);
	else if (s->kind == VIEW_SYSCALL)
		detail_syscall(s);
	else if (s->kind == VIEW_STATE && STATE_OF(s->at.value) == VIEW_UNKNOWN)
		detail_unknown(s);
	buf_putc(s->out, ']');
}
