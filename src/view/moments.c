// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/moments.h"

#include <string.h>

const char *moment_state(uint32_t value)
{
	static const char *const names[] = {
		[VIEW_RUNNABLE] = "runnable", [VIEW_PREEMPTED] = "preempted",
		[VIEW_SLEEPING] = "sleeping", [VIEW_BLOCKED] = "blocked",
		[VIEW_STOPPED] = "stopped",   [VIEW_DEAD] = "dead",
		[VIEW_UNKNOWN] = "unknown",
	};

	return names[STATE_OF(value) < VIEW_UNKNOWN ? STATE_OF(value) : VIEW_UNKNOWN];
}

int64_t moment_track(const struct view_row *r, enum view_track_kind kind, uint32_t depth)
{
	for (uint32_t i = 0; i < r->nr_tracks; i++)
		if (r->tracks[i].kind == kind && r->tracks[i].depth == depth)
			return i;
	return -1;
}

bool moment_row(struct view *v, uint32_t file, uint32_t row, struct moment_row *out)
{
	const struct view_file *f = view_file(v, file);

	*out = (struct moment_row){.view = v, .index = f->index, .file = file, .row = row};
	if (!f->index || !view_index_row(f->index, row, &out->info))
		return false;
	out->running = moment_track(&out->info, VIEW_RUNNING, 0);
	out->state = moment_track(&out->info, VIEW_STATE, 0);
	return true;
}

static bool covers(const struct view_interval *i, uint64_t ts)
{
	return i->start <= ts && (ts - i->start < i->dur || (!i->dur && ts == i->start));
}

bool moment_at(const struct moment_row *r, int64_t track, uint64_t ts, struct view_interval *out)
{
	if (track < 0)
		return false;
	/* One without a length may come before another one at the same time. */
	return (view_index_interval(r->index, r->row, (uint32_t)track, ts, -1, out) &&
		covers(out, ts)) ||
	       (view_index_interval(r->index, r->row, (uint32_t)track, ts, 1, out) &&
		covers(out, ts));
}

bool moment_before(const struct moment_row *r, int64_t track, uint64_t ts,
		   struct view_interval *out)
{
	return track >= 0 && ts &&
	       view_index_interval(r->index, r->row, (uint32_t)track, ts - 1, -1, out) &&
	       out->start + out->dur >= ts;
}

bool moment_is_sleep(const struct view_interval *i)
{
	const enum view_state state = STATE_OF(i->value);

	return state == VIEW_SLEEPING || state == VIEW_BLOCKED || state == VIEW_STOPPED;
}

void moment_name(const struct moment_row *r, struct buf *out)
{
	if (r->info.kind != VIEW_TASK_ROW) {
		buf_puts(out, "CPU ");
		buf_i64(out, r->info.number);
		return;
	}
	buf_puts(out, r->info.name ? r->info.name : "<...>");
	buf_putc(out, '-');
	buf_i64(out, r->info.number);
}

uint64_t moment_absolute(const struct moment_row *r, uint64_t ts)
{
	uint64_t sum;

	/* Whoever asks may ask for any time. */
	return __builtin_add_overflow(ts, view_index_origin(r->index), &sum) ? UINT64_MAX : sum;
}

int64_t moment_relative(const struct moment_row *r, uint64_t ts)
{
	return (int64_t)(moment_absolute(r, ts) - view_origin(r->view));
}

static bool find_waker(const struct moment_row *r, uint64_t ts, int64_t task,
		       const volatile int *stop, struct moment_waker *out)
{
	struct ask_wakeup w;

	*out = (struct moment_waker){.ts = ts, .row = -1, .task = task};
	if (out->task >= 0)
		out->row = view_row_number(r->view, r->file, (uint32_t)out->task);
	if (!ask_wakeup_at(r->view, r->file, r->info.buffer, r->info.number, moment_absolute(r, ts),
			   stop, &w))
		return out->row >= 0;
	out->has_record = true;
	out->cpu = w.cpu;
	out->in_interrupt = w.in_interrupt;
	if (out->task < 0)
		out->task = view_index_find_task(r->index, r->info.buffer, w.waker);
	if (out->row < 0 && out->task >= 0)
		out->row = view_row_number(r->view, r->file, (uint32_t)out->task);
	/* The idle task has no row, its CPU has. */
	if (out->row < 0)
		out->row = ask_cpu_row(r->view, r->file, r->info.buffer, w.cpu);
	return true;
}

bool moment_waker(const struct moment_row *r, const struct view_interval *sleep,
		  const volatile int *stop, struct moment_waker *out)
{
	*out = (struct moment_waker){.row = -1, .task = -1};
	return moment_is_sleep(sleep) && !(sleep->flags & VIEW_OPEN_END) &&
	       find_waker(r, sleep->start + sleep->dur, ENDER_OF(sleep->value), stop, out);
}

bool moment_first_waker(const struct moment_row *r, const struct view_interval *wait,
			const volatile int *stop, struct moment_waker *out)
{
	struct view_interval before;

	*out = (struct moment_waker){.row = -1, .task = -1};
	if (STATE_OF(wait->value) != VIEW_RUNNABLE || wait->flags & VIEW_OPEN_START)
		return false;
	if (moment_before(r, r->running, wait->start, &before) ||
	    (moment_before(r, r->state, wait->start, &before) &&
	     STATE_OF(before.value) != VIEW_UNKNOWN && STATE_OF(before.value) != VIEW_DEAD))
		return false;
	return find_waker(r, wait->start, -1, stop, out);
}

const char *moment_interrupt(const struct moment_row *r, uint32_t cpu, uint64_t ts)
{
	static const enum view_track_kind kinds[] = {VIEW_IRQ, VIEW_SOFTIRQ};
	const int64_t number = ask_cpu_row(r->view, r->file, r->info.buffer, cpu);
	struct view_interval i;
	struct view_place place;
	struct moment_row c;
	struct view_row info;

	if (number < 0 || !view_row(r->view, (uint32_t)number, &place, &info) ||
	    !moment_row(r->view, r->file, place.row, &c))
		return NULL;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		if (moment_at(&c, moment_track(&c.info, kinds[k], 0), ts, &i))
			return view_index_name(r->index, i.value);
	return NULL;
}
