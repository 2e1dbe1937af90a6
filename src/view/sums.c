// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "view/moments.h"

/* ---- by name ---- */

void named_sums_free(struct named_sums *s)
{
	vec_free(&s->sums);
	free(s->places);
	s->places = NULL;
	s->nr_places = 0;
}

static bool make_places(struct named_sums *s, size_t name)
{
	const size_t nr = name + 1 > s->nr_places * 2 ? name + 64 : s->nr_places * 2;
	uint32_t *places;

	if (name < s->nr_places)
		return true;
	places = realloc(s->places, nr * sizeof(*places));
	if (!places)
		return false;
	memset(places + s->nr_places, 0, (nr - s->nr_places) * sizeof(*places));
	s->places = places;
	s->nr_places = nr;
	return true;
}

static struct named_sum *sum_of(struct named_sums *s, int64_t name)
{
	const size_t at = name < 0 ? 0 : (size_t)name + 1;
	struct named_sum *sum;

	if (!make_places(s, at))
		return NULL;
	if (s->places[at])
		return &s->sums.at[s->places[at] - 1];
	sum = vec_push(&s->sums);
	if (!sum)
		return NULL;
	sum->name = name;
	s->places[at] = (uint32_t)s->sums.n;
	return sum;
}

static void leave(void *arg, struct ask_frame *f)
{
	struct named_sums *s = arg;
	struct named_sum *sum = sum_of(s, view_name_number(s->view, s->file, f->name));
	const uint64_t dur = f->end - f->start;

	if (!sum) {
		s->failed = true;
		return;
	}
	sum->count += f->counted;
	sum->total += f->recursive ? 0 : dur;
	sum->self += dur > f->inner ? dur - f->inner : 0;
	sum->max = f->whole > sum->max ? f->whole : sum->max;
}

int named_sums_add(struct named_sums *s, const struct sum_range *range, uint32_t row,
		   enum view_track_kind kind)
{
	const struct ask_nested n = {.leave = leave, .arg = s, .stop = range->stop};
	struct view_place place;
	struct view_row info;
	int rc;

	if (!view_row(range->view, row, &place, &info))
		return 0;
	s->view = range->view;
	s->file = place.file_number;
	rc = ask_nested(range->view, row, kind, range->since, range->until, &n);
	return rc < 0 ? rc : s->failed ? -ENOMEM : 0;
}

static int by_total(const void *a, const void *b)
{
	const struct named_sum *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

void named_sums_sort(struct named_sums *s)
{
	if (s->sums.n)
		qsort(s->sums.at, s->sums.n, sizeof(*s->sums.at), by_total);
}

/* ---- by row ---- */

struct taking {
	uint64_t since, until;
	struct row_sum *sum;
	const volatile int *stop;
	bool states;
};

static bool take(void *arg, const struct view_interval *i)
{
	struct taking *t = arg;
	const uint64_t end = i->start + i->dur;
	const uint64_t from = i->start > t->since ? i->start : t->since;
	const uint64_t to = end < t->until ? end : t->until;
	const uint64_t time = to > from ? to - from : 0;

	if (t->states) {
		const enum view_state state = STATE_OF(i->value);

		t->sum->state[state < VIEW_UNKNOWN ? state : VIEW_UNKNOWN] += time;
	} else {
		t->sum->running += time;
		t->sum->switches += i->start >= t->since && i->start < t->until &&
				    !(i->flags & VIEW_OPEN_START);
	}
	return !*t->stop;
}

int row_sum(const struct sum_range *range, uint32_t row, struct row_sum *out)
{
	struct view_place place;
	struct view_row info;
	struct taking t = {.sum = out, .stop = range->stop};
	int rc = 0;

	*out = (struct row_sum){0};
	if (!view_row(range->view, row, &place, &info) || range->until <= place.shift)
		return 0;
	t.since = range->since > place.shift ? range->since - place.shift : 0;
	t.until = range->until - place.shift;
	for (uint32_t i = 0; rc == 0 && i < info.nr_tracks; i++) {
		if (info.tracks[i].kind != VIEW_RUNNING && info.tracks[i].kind != VIEW_STATE)
			continue;
		t.states = info.tracks[i].kind == VIEW_STATE;
		rc = view_index_each(place.file->index, place.row, i, t.since, t.until, take, &t);
	}
	return rc;
}
