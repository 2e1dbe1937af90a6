// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The lines of the time line: CPUs by number, then tasks, the busiest first, and the tracks
 * of rows that are unfolded below them.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/vec.h"
#include "tui/internal.h"
#include "view/answers/interval.h"

#define MOST_DEPTH 32 /* of nested calls that are shown */

/* ---- tracks ---- */

int64_t tui_main_track(const struct view_row *r)
{
	static const enum view_track_kind kinds[] = {VIEW_RUNNING, VIEW_COUNTER, VIEW_CALL,
						     VIEW_SYSCALL, VIEW_IRQ,	 VIEW_SOFTIRQ};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const int64_t track = view_row_track(r, kinds[i], 0);

		/* A frequency says nothing about what a CPU did. */
		if (track >= 0 && (kinds[i] != VIEW_COUNTER || r->kind == VIEW_COUNTER_ROW))
			return track;
	}
	return view_row_track(r, VIEW_STATE, 0);
}

const char *tui_kind_name(enum view_track_kind kind)
{
	static const char *const names[] = {
		[VIEW_RUNNING] = "running", [VIEW_STATE] = "state",	[VIEW_IRQ] = "interrupt",
		[VIEW_SOFTIRQ] = "softirq", [VIEW_SYSCALL] = "syscall", [VIEW_CALL] = "function",
		[VIEW_LOST] = "lost",	    [VIEW_EVENTS] = "events",	[VIEW_COUNTER] = "kHz",
	};

	return names[kind];
}

/* ---- items ---- */

bool tui_cpu_wanted(const struct tui *t, int64_t cpu)
{
	if (!t->opt.cpus)
		return true;
	return cpu >= 0 && cpu < t->opt.nr_cpus && t->opt.cpus[cpu / 64] >> (cpu % 64) & 1;
}

static bool is_wanted(const struct tui *t, const struct view_row *r)
{
	switch (r->kind) {
	case VIEW_CPU_ROW: return t->which != TUI_TASK_ROWS && tui_cpu_wanted(t, r->number);
	case VIEW_TASK_ROW: return t->which != TUI_CPU_ROWS;
	default: return t->which != TUI_TASK_ROWS && !t->opt.cpus && r->nr_tracks;
	}
}

/* Where a row is in the list of those that are unfolded; its length: it is not. */
static size_t find_unfolded(const struct tui *t, uint32_t row)
{
	size_t i = 0;

	while (i < t->unfolded.n && t->unfolded.at[i] != row)
		i++;
	return i;
}

static struct tui_item *add_item(struct tui *t, uint32_t row, int32_t track,
				 const struct view_row *info)
{
	struct tui_item *item = vec_push(&t->items);

	if (item)
		*item = (struct tui_item){.row = row, .track = track, .info = *info};
	return item;
}

static int by_order(const void *a, const void *b)
{
	static const int rank[] = {[VIEW_CPU_ROW] = 0, [VIEW_COUNTER_ROW] = 1, [VIEW_TASK_ROW] = 2};
	const struct tui_item *x = a, *y = b;

	if (rank[x->info.kind] != rank[y->info.kind])
		return rank[x->info.kind] - rank[y->info.kind];
	if (x->info.kind == VIEW_TASK_ROW && x->info.busy != y->info.busy)
		return x->info.busy < y->info.busy ? 1 : -1;
	if (x->info.kind == VIEW_TASK_ROW && x->info.events != y->info.events)
		return x->info.events < y->info.events ? 1 : -1;
	if (x->info.number != y->info.number)
		return x->info.number < y->info.number ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

/* The tracks of an unfolded row besides the one that the row itself shows. */
static int add_tracks(struct tui *t, const struct tui_item *of)
{
	static const enum view_track_kind kinds[] = {VIEW_IRQ,	VIEW_SOFTIRQ, VIEW_SYSCALL,
						     VIEW_CALL, VIEW_COUNTER, VIEW_EVENTS};
	const int64_t shown = tui_main_track(&of->info);
	const struct view_row info = of->info;
	const uint32_t row = of->row;

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (uint32_t depth = 0; depth < MOST_DEPTH; depth++) {
			const int64_t track = view_row_track(&info, kinds[k], depth);

			if (track >= 0 && track != shown &&
			    !add_item(t, row, (int32_t)track, &info))
				return -ENOMEM;
		}
	return 0;
}

static int unfold(struct tui *t)
{
	struct tui_item *rows = t->items.at;
	const size_t n = t->items.n;
	int rc = 0;

	t->items.at = NULL;
	t->items.n = t->items.cap = 0;
	for (size_t i = 0; rc == 0 && i < n; i++) {
		struct tui_item *item = add_item(t, rows[i].row, -1, &rows[i].info);

		if (!item)
			rc = -ENOMEM;
		else if (find_unfolded(t, rows[i].row) < t->unfolded.n) {
			item->unfolded = true;
			rc = add_tracks(t, &rows[i]);
		}
	}
	free(rows);
	return rc;
}

int tui_rows(struct tui *t)
{
	const bool any = t->selected < t->items.n;
	const struct tui_item before = any ? t->items.at[t->selected] : (struct tui_item){0};
	const uint32_t nr = view_rows(t->view);
	int rc;

	t->items.n = 0;
	for (uint32_t i = 0; i < nr; i++) {
		struct view_row info;

		if (view_row(t->view, i, NULL, &info) && is_wanted(t, &info) &&
		    !add_item(t, i, -1, &info))
			return -ENOMEM;
	}
	if (t->items.n)
		qsort(t->items.at, t->items.n, sizeof(t->items.at[0]), by_order);
	rc = t->unfolded.n ? unfold(t) : 0;
	if (any && !tui_select_row(t, before.row))
		tui_select(t, (int64_t)t->selected);
	for (size_t i = t->selected; any && before.track >= 0 && i < t->items.n; i++)
		if (t->items.at[i].row == before.row && t->items.at[i].track == before.track)
			tui_select(t, (int64_t)i);
	return rc;
}

void tui_select(struct tui *t, int64_t item)
{
	const int64_t last = (int64_t)t->items.n - 1;

	item = item > last ? last : item;
	t->selected = item > 0 ? (size_t)item : 0;
}

bool tui_select_row(struct tui *t, uint32_t row)
{
	for (size_t i = 0; i < t->items.n; i++)
		if (t->items.at[i].row == row) {
			t->selected = i;
			return true;
		}
	return false;
}

void tui_fold(struct tui *t, int32_t how)
{
	uint32_t row;
	size_t i;

	if (t->selected >= t->items.n)
		return;
	row = t->items.at[t->selected].row;
	tui_select_row(t, row);
	i = find_unfolded(t, row);
	if (i < t->unfolded.n)
		t->unfolded.at[i] = t->unfolded.at[--t->unfolded.n];
	else
		vec_add(&t->unfolded, &row);
	tui_rows(t);
}

/* ---- names ---- */

void tui_row_name(const struct tui *t, const struct view_row *r, struct buf *out)
{
	if (r->kind == VIEW_CPU_ROW)
		buf_printf(out, "CPU %lld", (long long)r->number);
	else if (r->kind == VIEW_COUNTER_ROW)
		buf_puts(out, "runnable");
	else
		buf_printf(out, "%s-%lld", r->name && *r->name ? r->name : "<...>",
			   (long long)r->number);
}

void tui_value_name(struct tui *t, const struct view_row *r, enum view_track_kind kind,
		    uint32_t value, struct buf *out)
{
	struct view_row task;
	const char *name;

	switch (kind) {
	case VIEW_RUNNING:
		if (r->kind == VIEW_CPU_ROW && view_row(t->view, value, NULL, &task))
			tui_row_name(t, &task, out);
		else if (r->kind == VIEW_TASK_ROW && value != UINT32_MAX)
			buf_printf(out, "CPU %u", value);
		break;
	case VIEW_STATE: buf_puts(out, interval_state(value)); break;
	case VIEW_COUNTER: buf_printf(out, "%u", value); break;
	case VIEW_LOST:
	case VIEW_EVENTS: break;
	default: name = view_name(t->view, value); buf_puts(out, name ? name : "?");
	}
}

/* Rows and names in values of a file's index as the view numbers them. */
static uint32_t of_view(struct tui *t, const struct view_place *place, const struct view_row *r,
			enum view_track_kind kind, uint32_t value)
{
	int64_t number = value;

	if (kind == VIEW_RUNNING && r->kind == VIEW_CPU_ROW)
		number = view_row_number(t->view, place->file_number, value);
	else if (kind == VIEW_IRQ || kind == VIEW_SOFTIRQ || kind == VIEW_SYSCALL ||
		 kind == VIEW_CALL)
		number = view_name_number(t->view, place->file_number, value);
	return number < 0 ? UINT32_MAX : (uint32_t)number;
}

bool tui_slice_at(struct tui *t, const struct tui_item *item, uint64_t ts,
		  struct view_interval *out, uint32_t *track)
{
	const int64_t tracks[] = {
		item->track >= 0 ? item->track : tui_main_track(&item->info),
		item->track >= 0 ? -1 : view_row_track(&item->info, VIEW_STATE, 0),
		item->track >= 0 ? -1 : view_row_track(&item->info, VIEW_LOST, 0),
	};
	struct view_place place;

	if (!view_row(t->view, item->row, &place, NULL) || ts < place.shift)
		return false;
	ts -= place.shift;
	for (size_t i = 0; i < ARRAY_SIZE(tracks); i++) {
		if (tracks[i] < 0 || item->info.tracks[tracks[i]].kind == VIEW_EVENTS)
			continue;
		*track = (uint32_t)tracks[i];
		if (view_index_interval(place.file->index, place.row, *track, ts, -1, out) &&
		    out->start <= ts && ts < out->start + (out->dur ? out->dur : 1)) {
			out->value = of_view(t, &place, &item->info, item->info.tracks[*track].kind,
					     out->value);
			out->start += place.shift;
			return true;
		}
	}
	return false;
}
