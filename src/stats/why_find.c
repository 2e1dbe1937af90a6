// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state that a task was in at a moment.
 *
 * Where reading starts in the middle of a trace, what a task is first seen in may have begun
 * earlier, and otherwise than it seems. All states after that are as they would be if everything
 * had been read: each begins with the event that ends the one before.
 */
#include "table/sched.h"
#include "stats/why_parts.h"

#define FIRST_SPAN 50000000u /* ns */

struct found {
	bool is;
	struct state_row row;
	bool sure; /* when it began, and how, does not depend on where reading started */
};

struct finder {
	const struct why_reader *r;
	const struct why_window *window;
	uint64_t low, high; /* the moment, as exactly as it is known */
	struct found best, before, last;
	int rank; /* of the best one */
	size_t seen;
	bool begun, has_next;
	struct state_row begin, next;
	bool hopeless; /* the task was in something then that began before what is read */
	bool done;
};

static bool is_wait(const struct state_row *s)
{
	return strcmp(s->state, "running") != 0;
}

/*
 * Whether a state is what is meant: the higher the better, 0: it is elsewhere. The moment at which
 * a task gets a CPU is the end of its wait.
 */
static int rank_of(const struct finder *f, const struct state_row *s)
{
	const uint64_t at = f->r->why->asked.moment, end = why_end_of(s->ts, s->dur);
	const bool covers = s->ts <= at && at < end;

	if (s->ts > f->high || end < f->low)
		return 0;
	/* States without a length between two others explain nothing. */
	if (end == s->ts)
		return 1;
	if (!is_wait(s))
		return covers ? 3 : 2;
	if (covers)
		return 6;
	return s->ts >= f->low ? 5 : 4;
}

/* Rows' texts live only as long as the analysis. */
static struct state_row keep_row(struct why *w, const struct state_row *s)
{
	struct state_row copy = *s;

	copy.comm = why_keep(w, s->comm);
	copy.reason = why_keep(w, s->reason);
	return copy;
}

static void follow(struct finder *f)
{
	const struct state_row *best = &f->best.row;

	if (!f->best.is || f->has_next || !f->begun ||
	    f->begin.ts < why_end_of(best->ts, best->dur))
		return;
	f->has_next = true;
	f->next = f->begin;
}

static void take_end(struct finder *f, const struct state_row *s)
{
	struct why *w = f->r->why;
	const int rank = rank_of(f, s);
	const struct found now = {true, keep_row(w, s), f->seen > 0 || !f->window->since};

	if (!w->exists || s->ts < w->first)
		w->first = s->ts;
	w->last = !w->exists || why_end_of(s->ts, s->dur) > w->last ? why_end_of(s->ts, s->dur)
								    : w->last;
	w->exists = true;
	f->seen++;
	if (rank > f->rank) {
		f->rank = rank;
		f->before = f->last;
		f->best = now;
		f->has_next = false;
	}
	f->last = now;
}

/* As soon as all is known, or it is clear that this range will not tell. */
static void check_done(struct finder *f, uint64_t now)
{
	if (now <= f->high)
		return;
	f->hopeless = !f->seen && !(f->begun && f->begin.ts > f->low) && f->window->since;
	f->done = (f->has_next && f->next.ts > f->high) || f->hopeless;
}

static void take_state(void *arg, const void *row)
{
	struct finder *f = arg;
	const struct state_row *s = row;

	if (s->pid == f->r->why->asked.pid && why_is_here(f->r, s->buffer)) {
		if (s->phase == STATE_ENDS) {
			take_end(f, s);
		} else {
			f->begun = true;
			f->begin = keep_row(f->r->why, s);
		}
		follow(f);
	}
	if (!f->done)
		check_done(f, s->ts);
}

static int read_window(struct finder *f, const struct why_window *w)
{
	return why_run_table(f->r, &states_both_table, take_state, f, w->since, UINT64_MAX,
			     &f->done);
}

/* Whether a longer range may say something else. */
static bool is_sure(const struct finder *f)
{
	return f->best.is && f->best.sure && !f->hopeless &&
	       (is_wait(&f->best.row) || (f->before.is && f->before.sure));
}

static void set_wait(struct why *w, const struct state_row *s)
{
	w->waits = true;
	w->comm = s->comm;
	w->state = s->state;
	w->reason = s->reason;
	w->from = s->ts;
	w->to = why_end_of(s->ts, s->dur);
	w->cpu = s->cpu;
	w->open = s->open;
	w->buffer = s->buffer;
}

static void set_next(struct why *w, const struct state_row *s)
{
	w->next = s->state;
	w->next_cpu = s->cpu;
}

static void answer(const struct finder *f)
{
	struct why *w = f->r->why;
	const struct state_row *best = &f->best.row;

	w->next_cpu = w->run_cpu = ROW_NULL;
	w->found = f->best.is;
	if (!w->found)
		return;
	if (is_wait(best)) {
		set_wait(w, best);
		if (f->has_next)
			set_next(w, &f->next);
		return;
	}
	w->running = true;
	w->comm = best->comm;
	w->run_from = best->ts;
	w->run_to = why_end_of(best->ts, best->dur);
	w->run_cpu = best->cpu;
	w->open = best->open;
	if (f->before.is && is_wait(&f->before.row)) {
		set_wait(w, &f->before.row);
		set_next(w, best);
	}
}

int why_find(const struct why_reader *r)
{
	const uint64_t at = r->why->asked.moment, by = r->why->asked.tolerance;
	struct why_window window = why_window(r, at > by ? at - by : 0, FIRST_SPAN, 0);
	struct finder f;
	int rc;

	do {
		f = (struct finder){.r = r,
				    .window = &window,
				    .low = at > by ? at - by : 0,
				    .high = why_plus(at, by)};
		rc = read_window(&f, &window);
	} while (rc == 0 && !is_sure(&f) && why_window_grow(r, &window));
	if (rc == 0)
		answer(&f);
	return rc;
}
