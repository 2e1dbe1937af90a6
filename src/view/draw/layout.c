// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which rows a picture has, in which order, and where: as in web/layout.js, but everything is in
 * sight and nothing can be unfolded. Rows have all their lanes when there is space for that. When
 * there is not enough for all tasks, those that ran most in the range are shown.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/pattern.h"
#include "base/vec.h"
#include "view/draw/draw.h"
#include "view/draw/internal.h"

/* ---- rows by name ---- */

/* "cpu0-3", "1234", "postgres*". */

struct wish {
	enum view_row_kind kind;
	int64_t first, last; /* numbers, or … */
	struct pattern name; /* … the name of a task, when it is compiled */
};

/* "12" or "12-15" up to the end; false: it is something else. */
static bool read_numbers(const char *s, size_t len, int64_t *first, int64_t *last)
{
	char text[32], *end;

	if (!len || len >= sizeof(text) || s[0] < '0' || s[0] > '9')
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	*first = *last = strtoll(text, &end, 10);
	if (*end == '-' && end[1] >= '0' && end[1] <= '9')
		*last = strtoll(end + 1, &end, 10);
	return !*end && *first <= *last;
}

static int read_wish(const char *word, size_t len, struct wish *w, struct spur_error *err)
{
	*w = (struct wish){.kind = VIEW_TASK_ROW};
	if (read_numbers(word, len, &w->first, &w->last))
		return 0;
	if (len >= 3 && strncasecmp(word, "cpu", 3) == 0) {
		w->kind = VIEW_CPU_ROW;
		if (len == 3 || (len == 4 && word[3] == '*')) {
			w->last = INT64_MAX;
			return 0;
		}
		if (read_numbers(word + 3, len - 3, &w->first, &w->last))
			return 0;
		w->kind = VIEW_TASK_ROW;
	}
	return pattern_glob(&w->name, word, len, err);
}

static bool is_wished(const struct wish *w, const struct view_row *r)
{
	if (r->kind != w->kind)
		return false;
	if (w->name.kind == PATTERN_NONE)
		return r->number >= w->first && r->number <= w->last;
	if (r->name && pattern_match(&w->name, r->name, strlen(r->name)))
		return true;
	for (uint32_t i = 0; i < r->nr_older; i++)
		if (pattern_match(&w->name, r->older[i], strlen(r->older[i])))
			return true;
	return false;
}

struct found {
	uint32_t row;
	int64_t number;
};

static int by_number(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

static bool contains(const struct draw_rows *rows, uint32_t row)
{
	for (size_t i = 0; i < rows->n; i++)
		if (rows->at[i] == row)
			return true;
	return false;
}

/* The rows of one word, by their numbers. */
static int add_wished(struct view *v, const struct wish *w, struct draw_rows *out, size_t *nr)
{
	const uint32_t rows = view_rows(v);
	vec_of(struct found) found = {0};
	int rc = 0;

	for (uint32_t i = 0; i < rows && rc == 0; i++) {
		struct view_row r;

		if (view_row(v, i, NULL, &r) && is_wished(w, &r) &&
		    !vec_add(&found, &(struct found){i, r.number}))
			rc = -ENOMEM;
	}
	*nr = found.n;
	if (found.n)
		qsort(found.at, found.n, sizeof(*found.at), by_number);
	vec_each (f, &found)
		if (rc == 0 && !contains(out, f->row) && !vec_add(out, &f->row))
			rc = -ENOMEM;
	vec_free(&found);
	return rc;
}

int draw_choose(struct view *v, const char *words, struct draw_rows *out, struct spur_error *err)
{
	while (*words) {
		const size_t len = strcspn(words, ",");
		struct wish w;
		size_t nr = 0;
		int rc = len ? read_wish(words, len, &w, err) : 0;

		if (rc < 0)
			return rc;
		if (len) {
			rc = add_wished(v, &w, out, &nr);
			pattern_free(&w.name);
		}
		if (rc < 0)
			return error_set(err, rc, "out of memory");
		if (len && !nr)
			return error_set(err, -EINVAL, "no row is '%.*s'", (int)len, words);
		words += len + (words[len] == ',');
	}
	return out->n ? 0 : error_set(err, -EINVAL, "no rows are named");
}

/* ---- the layout ---- */

#define GROUP_H	      22
#define GAP	      3 /* below each row */
#define MAIN_H	      20
#define NESTED_H      14
#define TICKS_H	      6
#define COUNTER_H     16
#define COUNTER_ALONE 26
#define FEW_CPUS      4	 /* are always unfolded */
#define MANY_TASKS    60 /* are never */
#define LEAST_TASKS   8	 /* when no height is given */
#define MOST_NESTED   32
#define ALONE	      SIZE_MAX

struct candidate {
	uint32_t row;
	struct view_place at;
	struct view_row info;
	uint64_t ran;
	size_t rank;  /* among tasks: how busy */
	size_t group; /* rank of the busiest of its process, or ALONE */
};

struct candidates {
	struct candidate *at;
	size_t n, cap;
	size_t cpus, tasks;
};

static bool is_task(const struct candidate *c)
{
	return c->info.kind == VIEW_TASK_ROW;
}

/* How much of it is shown. */
struct folding {
	bool cpus, tasks;
	size_t most; /* tasks */
};

void draw_layout_free(struct draw_layout *l)
{
	vec_free(&l->items);
	vec_free(&l->lanes);
}

/* ---- lanes ---- */

static void add_lane(struct draw_frame *f, struct draw_item *item, enum draw_lane_kind kind,
		     int32_t h, int64_t track)
{
	struct draw_lane *lane = track >= 0 ? vec_push(&f->layout.lanes) : NULL;

	if (!lane) {
		f->rc = track >= 0 ? -ENOMEM : f->rc;
		return;
	}
	*lane = (struct draw_lane){
		.kind = kind, .y = item->h, .h = h, .tracks = {(uint32_t)track}, .nr = 1};
	item->nr_lanes++;
	item->h += h + 1;
}

/* What ran or its state; states lie below what runs. */
static bool add_main(struct draw_frame *f, struct draw_item *item)
{
	const int64_t state = view_row_track(&item->info, VIEW_STATE, 0);
	const int64_t running = view_row_track(&item->info, VIEW_RUNNING, 0);

	add_lane(f, item, DRAW_MAIN, MAIN_H, state >= 0 ? state : running);
	if (state >= 0 && running >= 0 && item->nr_lanes) {
		struct draw_lane *lane = &f->layout.lanes.at[item->lane];

		lane->tracks[lane->nr++] = (uint32_t)running;
	}
	return state >= 0 || running >= 0;
}

static void add_nested(struct draw_frame *f, struct draw_item *item)
{
	static const enum view_track_kind kinds[] = {VIEW_IRQ, VIEW_SOFTIRQ, VIEW_SYSCALL,
						     VIEW_CALL};

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
		for (uint32_t depth = 0; depth < MOST_NESTED; depth++) {
			const int64_t track = view_row_track(&item->info, kinds[k], depth);

			if (track >= 0 && draw_read_columns(f, item->row, (uint32_t)track))
				add_lane(f, item, DRAW_NESTED, NESTED_H, track);
		}
}

static void add_lanes(struct draw_frame *f, struct draw_item *item, bool folded)
{
	const int64_t ticks = view_row_track(&item->info, VIEW_EVENTS, 0);
	const int64_t counter = view_row_track(&item->info, VIEW_COUNTER, 0);

	item->h = 1;
	item->lane = f->layout.lanes.n;
	if (!add_main(f, item) || !folded)
		add_nested(f, item);
	add_lane(f, item, DRAW_TICKS, item->nr_lanes ? TICKS_H : MAIN_H, ticks);
	if (counter >= 0 && (!folded || !item->nr_lanes) &&
	    draw_read_columns(f, item->row, (uint32_t)counter))
		add_lane(f, item, DRAW_COUNTER, item->nr_lanes ? COUNTER_H : COUNTER_ALONE,
			 counter);
	item->h += GAP;
}

/* ---- items ---- */

static struct draw_item *add_item(struct draw_frame *f)
{
	struct draw_item *item = vec_push(&f->layout.items);

	if (!item)
		f->rc = -ENOMEM;
	return item;
}

static void add_row(struct draw_frame *f, const struct candidate *c, bool folded)
{
	struct draw_item *item = add_item(f);

	if (!item)
		return;
	item->is_row = true;
	item->row = c->row;
	item->info = c->info;
	add_lanes(f, item, folded);
}

static void add_heading(struct draw_frame *f, const char *title, size_t shown, size_t all)
{
	struct draw_item *item = add_item(f);

	if (!item)
		return;
	item->h = GROUP_H;
	snprintf(item->title, sizeof(item->title), "%s", title);
	if (shown < all)
		snprintf(item->note, sizeof(item->note), "the busiest %zu of %zu", shown, all);
	else if (all)
		snprintf(item->note, sizeof(item->note), "%zu", all);
}

/* ---- who is a candidate ---- */

static bool whole(const struct draw_frame *f)
{
	return f->o->since == 0 && f->o->until > view_duration(f->view);
}

/* A task that did nothing in the range: at most it slept. */
static bool is_away(const struct draw_frame *f, const struct candidate *c)
{
	return is_task(c) && !c->ran &&
	       (c->info.first > c->info.last || c->info.first + c->at.shift >= f->o->until ||
		c->info.last + c->at.shift < f->o->since);
}

static int add_candidate(struct draw_frame *f, struct candidates *all, uint32_t row)
{
	struct candidate c = {.row = row, .group = ALONE};
	int64_t track;
	int rc = 0;

	if (!view_row(f->view, row, &c.at, &c.info))
		return 0;
	c.ran = c.info.busy;
	track = view_row_track(&c.info, VIEW_RUNNING, 0);
	if (!whole(f) && is_task(&c) && track >= 0)
		rc = draw_covered(f->view, row, (uint32_t)track, f->o->since, f->o->until,
				  &f->columns.tile, &c.ran);
	if (rc == 0 && is_away(f, &c))
		return 0;
	if (rc < 0 || !vec_add(all, &c))
		return rc < 0 ? rc : -ENOMEM;
	all->cpus += c.info.kind == VIEW_CPU_ROW;
	all->tasks += is_task(&c);
	return 0;
}

/* By the first of n numbers that differs. */
static int order(const uint64_t *a, const uint64_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* Tasks last, the busiest first. */
static int by_busy(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	const uint64_t x[] = {is_task(a), b->ran, b->info.events, (uint64_t)a->info.number};
	const uint64_t y[] = {is_task(b), a->ran, a->info.events, (uint64_t)b->info.number};

	return order(x, y, ARRAY_SIZE(x));
}

/* Files and buffers one after the other; in each CPUs, counters, tasks. */
static int by_place(const void *pa, const void *pb)
{
	static const unsigned char kinds[] = {
		[VIEW_CPU_ROW] = 0, [VIEW_COUNTER_ROW] = 1, [VIEW_TASK_ROW] = 2};
	const struct candidate *a = pa, *b = pb;
	const uint64_t x[] = {a->at.file_number, a->info.buffer, kinds[a->info.kind], a->group,
			      is_task(a) ? a->rank : (uint64_t)a->info.number};
	const uint64_t y[] = {b->at.file_number, b->info.buffer, kinds[b->info.kind], b->group,
			      is_task(b) ? b->rank : (uint64_t)b->info.number};

	return order(x, y, ARRAY_SIZE(x));
}

static int64_t process_of(const struct candidate *c)
{
	return !is_task(c) ? -1 : c->info.tgid >= 0 ? c->info.tgid : c->info.number;
}

static bool same_process(const struct candidate *a, const struct candidate *b)
{
	return a->at.file == b->at.file && a->info.buffer == b->info.buffer &&
	       process_of(a) == process_of(b);
}

static int by_process(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;
	const uint64_t x[] = {a->at.file_number, a->info.buffer, (uint64_t)process_of(a), a->rank};
	const uint64_t y[] = {b->at.file_number, b->info.buffer, (uint64_t)process_of(b), b->rank};

	return order(x, y, ARRAY_SIZE(x));
}

/* Tasks of processes that have several, or of which the first one is not there. */
static void find_groups(struct candidates *all)
{
	qsort(all->at, all->n, sizeof(*all->at), by_process);
	for (size_t i = 0, end; i < all->n; i = end) {
		bool threads = false;

		for (end = i; end < all->n && same_process(&all->at[i], &all->at[end]); end++)
			threads |= process_of(&all->at[end]) != all->at[end].info.number;
		for (size_t k = i; k < end; k++)
			if (threads && is_task(&all->at[k]))
				all->at[k].group = all->at[i].rank;
	}
}

static int find_candidates(struct draw_frame *f, struct candidates *all)
{
	const uint32_t nr = view_rows(f->view);
	size_t first;

	for (uint32_t i = 0; i < nr; i++) {
		int rc = add_candidate(f, all, i);

		if (rc < 0)
			return rc;
	}
	if (!all->n)
		return 0;
	qsort(all->at, all->n, sizeof(*all->at), by_busy);
	first = all->n - all->tasks;
	for (size_t i = first; i < all->n; i++)
		all->at[i].rank = i - first;
	if (f->o->processes)
		find_groups(all);
	qsort(all->at, all->n, sizeof(*all->at), by_place);
	return 0;
}

/* ---- the whole ---- */

static bool same_place(const struct candidate *a, const struct candidate *b)
{
	return a->at.file == b->at.file && a->info.buffer == b->info.buffer;
}

static void add_place_heading(struct draw_frame *f, const struct candidate *c)
{
	const struct dat_buffer *b = c->at.file->trace->buffers[c->info.buffer].data;
	char title[128];

	snprintf(title, sizeof(title), "%.80s%s%.40s", file_name_of(c->at.file->path),
		 *b->name ? ", " : "", b->name);
	add_heading(f, title, 0, 0);
}

static bool same_part(const struct candidate *a, const struct candidate *b)
{
	return is_task(a) == is_task(b) && a->group == b->group;
}

/* How many of the candidates of this place and part there are, and how many are shown. */
static void count(const struct candidates *all, size_t from, const struct folding *how, size_t *n,
		  size_t *shown)
{
	const bool tasks = is_task(&all->at[from]);

	*n = *shown = 0;
	for (size_t i = from; i < all->n; i++) {
		const struct candidate *c = &all->at[i];

		if (!same_place(&all->at[from], c) || !same_part(&all->at[from], c))
			break;
		if (c->info.kind == VIEW_COUNTER_ROW)
			continue;
		++*n;
		*shown += !tasks || c->rank < how->most;
	}
}

/* "name 1234" of the process that a task belongs to, or what the others are called. */
static void add_tasks_heading(struct draw_frame *f, const struct candidates *all, size_t i,
			      size_t shown, size_t n)
{
	const struct candidate *c = &all->at[i];
	const bool after_others = i && same_place(c, c - 1) && (c - 1)->group != ALONE;
	char title[128];

	if (c->group == ALONE) {
		add_heading(f, after_others ? "Other tasks" : "Tasks", shown, n);
		return;
	}
	snprintf(title, sizeof(title), "%.80s %lld", c->info.process ? c->info.process : "process",
		 (long long)process_of(c));
	add_heading(f, title, shown, n);
}

static void begin_part(struct draw_frame *f, const struct candidates *all, size_t i,
		       const struct folding *how)
{
	const struct candidate *c = &all->at[i], *last = i ? c - 1 : NULL;
	const bool many = !same_place(&all->at[0], &all->at[all->n - 1]);
	const bool new_place = !last || !same_place(c, last);
	size_t n, shown;

	if (new_place && many)
		add_place_heading(f, c);
	if (!new_place && same_part(last, c))
		return;
	count(all, i, how, &n, &shown);
	if (shown && is_task(c))
		add_tasks_heading(f, all, i, shown, n);
	else if (shown)
		add_heading(f, "CPUs", shown, n);
}

static int32_t place(struct draw_layout *l)
{
	l->height = 0;
	vec_each (item, &l->items) {
		item->y = l->height;
		l->height += item->h;
	}
	return l->height;
}

static int32_t build(struct draw_frame *f, const struct candidates *all, const struct folding *how)
{
	f->layout.items.n = f->layout.lanes.n = 0;
	for (size_t i = 0; i < all->n; i++) {
		const struct candidate *c = &all->at[i];

		begin_part(f, all, i, how);
		if (!is_task(c) || c->rank < how->most)
			add_row(f, c, is_task(c) ? how->tasks : how->cpus);
	}
	return place(&f->layout);
}

/* Rows that were asked for have all their lanes. */
static int build_chosen(struct draw_frame *f)
{
	for (size_t i = 0; i < f->o->nr_rows; i++) {
		struct candidate c = {.row = f->o->rows[i]};

		if (view_row(f->view, c.row, &c.at, &c.info))
			add_row(f, &c, false);
	}
	place(&f->layout);
	return f->rc;
}

/* Folds tasks, then CPUs, and leaves out tasks, until there is room. */
static void fit(struct draw_frame *f, const struct candidates *all, int32_t room, bool exact)
{
	struct folding how = {.most = all->tasks};
	size_t low = exact ? 0 : LEAST_TASKS, high = all->tasks;

	how.tasks = all->tasks > MANY_TASKS;
	if (how.tasks || build(f, all, &how) > room) {
		how.tasks = true;
		if (build(f, all, &how) > room) {
			how.cpus = all->cpus > FEW_CPUS;
			/* The most tasks that fit. */
			while (low < high) {
				how.most = (low + high + 1) / 2;
				if (build(f, all, &how) <= room)
					low = how.most;
				else
					high = how.most - 1;
			}
			how.most = low < all->tasks ? low : all->tasks;
			build(f, all, &how);
		}
	}
}

int draw_lay_out(struct draw_frame *f, int32_t room, bool exact)
{
	struct candidates all = {0};
	int rc;

	if (f->o->rows)
		return build_chosen(f);
	rc = find_candidates(f, &all);
	if (rc == 0)
		fit(f, &all, room, exact);
	vec_free(&all);
	return rc < 0 ? rc : f->rc;
}
