// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Evidence from other buffers.
 *
 * A record also proves who runs to the other buffers of its file that have the same clock: all of
 * them tell of the same CPUs. Lanes of such buffers are `shared`. They show every record, and who
 * runs is followed here, in the order of time, once for each buffer that has switches: `on` and
 * `sight` are those of its lanes.
 *
 * The switches of a buffer say what happened between two proofs. So records of other buffers count
 * only where all of its switches on the CPU are there:
 * - from its first record on any CPU on: before that, it may not have been recorded yet;
 * - where it has no records of the CPU at all, or lost some, they say nothing;
 * - after its last record on any CPU, one that contradicts it shows that it was not recorded any
 *   more: what follows is unknown.
 * A record of the same time as one of the buffer's own on the CPU says nothing, either: which came
 * first is not known. What other buffers lost does not matter.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table/walk.h"
#include "dat/cut.h"

/* A record as it is seen by buffers: by its own, and by others. */
struct seen {
	const struct lane *lane; /* which stands on it */
	int32_t pid;		 /* who wrote it */
	bool own;
	bool switched; /* it is a switch of the buffer's own … */
	int32_t next;  /* … to this task; otherwise who wrote it */
};

/* ---- which lanes ---- */

/* The first buffer whose records may be compared with those of this one. */
static uint32_t family_of(const struct spur_trace *t, uint32_t buffer)
{
	const char *clock = t->buffers[buffer].data->clock;
	uint32_t i = 0;

	while (i < buffer &&
	       (t->buffers[i].data->text || strcmp(t->buffers[i].data->clock, clock) != 0))
		i++;
	return i;
}

/* Links the lanes of each CPU that are of one family to a ring. -ENOMEM. */
static int link_lanes(struct walk *w, struct walk_sight *sight)
{
	struct map last = {0};
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < w->merge.nr; i++) {
		const struct lane *l = &w->merge.lanes[i];
		const uint64_t key =
			(uint64_t)family_of(w->trace, l->buffer->index) << 32 | l->cpu->cpu;
		const uintptr_t before = (uintptr_t)map_get(&last, key);

		sight[i].next = i;
		if (before) {
			sight[i].next = sight[before - 1].next;
			sight[before - 1].next = i;
		}
		if (!map_set(&last, key, (void *)(uintptr_t)(i + 1)))
			rc = -ENOMEM;
	}
	map_free(&last);
	return rc;
}

/* Whether a buffer that has switches has the clock of another one. */
static bool any_shared(const struct walk *w)
{
	const struct spur_trace *t = w->trace;
	bool any = false;

	for (uint32_t i = 0; i < t->nr_buffers; i++)
		for (uint32_t k = 0; w->runners->switches[i] && k < t->nr_buffers; k++)
			any |= k != i && !t->buffers[k].data->text &&
			       family_of(t, i) == family_of(t, k);
	return any;
}

int walk_find_shared(struct walk *w)
{
	struct walk_runners *r = w->runners;

	if (w->trace->nr_buffers < 2 || !any_shared(w))
		return 0;
	r->sight = calloc(w->merge.nr + 1, sizeof(*r->sight));
	return r->sight ? link_lanes(w, r->sight) : -ENOMEM;
}

/* A buffer of another clock is alone: its lanes are not shared even if those of others are. */
bool walk_shares(const struct walk *w, uint32_t buffer)
{
	const struct spur_trace *t = w->trace;
	const uint32_t family = family_of(t, buffer);
	bool switches = false;
	uint32_t n = 0;

	for (uint32_t i = 0; w->runners->sight && i < t->nr_buffers; i++)
		if (!t->buffers[i].data->text && family_of(t, i) == family) {
			switches |= w->runners->switches[i];
			n++;
		}
	return switches && n > 1;
}

/* ---- what counts ---- */

/* Whether a record of another buffer shows who runs on a lane's CPU. */
static bool counts(const struct walk *w, const struct lane *of, const struct lane *l)
{
	const struct walk_runners *r = w->runners;
	const struct walk_sight *s = &r->sight[of->index];
	const uint64_t ts = l->rec.ts;

	if (of->gap || ts < r->first[of->buffer->index] || (s->any && s->own == ts))
		return false;
	if (!of->ended)
		return of->rec.ts != ts;
	/* A lane of which pages are left out has not come to its end. */
	return w->opt.last_page ||
	       (s->any && !dat_cut_lacks_end(w->trace->dat, of->buffer->data, of->cpu->cpu));
}

/* Whether no record of the buffer will come. */
static bool is_over(const struct walk *w, const struct trace_buffer *b)
{
	for (uint32_t i = 0; i < w->merge.nr; i++)
		if (w->merge.lanes[i].buffer == b && !w->merge.lanes[i].ended)
			return false;
	return !w->opt.last_page;
}

/* The rest of a buffer's switch; another buffer may have recorded the switch itself a bit later. */
static bool is_rest(const struct walk *w, const struct lane *of, const struct seen *e)
{
	const struct walk_runners *r = w->runners;
	const struct walk_sight *s = &r->sight[of->index];
	const struct spur_record *rec = &e->lane->rec;
	uint64_t type;

	if (e->switched || !s->switched || s->left != e->pid || r->on[of->index].pid == e->pid)
		return false;
	type = record_uint(w->trace->events, rec, r->watch.type_offset, r->watch.type_size);
	return type == r->watch.switch_id ||
	       lane_rest_of_switch(of->watch, type, rec->data, rec->size);
}

/* ---- looking ---- */

/* A record shows that a task runs on a lane's CPU; whether it says anything to its buffer. */
static bool see(struct walk *w, const struct lane *of, const struct seen *e)
{
	struct walk_runners *r = w->runners;
	struct walk_sight *s = &r->sight[of->index];
	struct lane_runner *on = &r->on[of->index];
	const bool hidden = of->watch->filtered && !e->switched;
	const uint64_t last = s->proof;
	bool other, known;

	if (hidden || (!e->own && !counts(w, of, e->lane)) || is_rest(w, of, e))
		return false;
	s->proof = e->lane->rec.ts;
	other = !on->known || on->pid != e->pid;
	known = !of->watch->filtered && lane_follows(of->watch, e->next);
	if (other || !r->begun[of->index])
		walk_note_seen(w, of,
			       &(struct walk_proof){.record = e->lane,
						    .pid = e->pid,
						    .last = last,
						    .other = other,
						    .after_loss = e->own && e->lane->gap});
	r->begun[of->index] = true;
	*on = (struct lane_runner){.known = known, .pid = e->next};
	s->switched = e->switched;
	s->left = e->pid;
	if (e->own || (known && !(other && is_over(w, of->buffer))))
		return true;
	on->known = false;
	walk_note_gone(w, of, e->pid, s->proof);
	return true;
}

/* The lane's own buffer. What the record says is what the lane itself would have said. */
static void see_own(struct walk *w, struct lane *l, int32_t pid)
{
	struct walk_runners *r = w->runners;
	const struct lane_watch *watch = &r->watch;
	const struct events *ev = w->trace->events;
	const uint64_t type = record_uint(ev, &l->rec, watch->type_offset, watch->type_size);
	struct walk_sight *s = &r->sight[l->index];
	struct seen e = {.lane = l, .pid = pid, .own = true, .next = pid};

	e.switched = type == watch->switch_id && l->rec.size >= watch->switch_size;
	if (e.switched) {
		e.pid = (int32_t)record_uint(ev, &l->rec, watch->prev_offset, sizeof(int32_t));
		e.next = (int32_t)record_uint(ev, &l->rec, watch->next_offset, sizeof(int32_t));
	}
	if (l->gap)
		r->on[l->index].known = s->switched = false;
	s->any = true;
	s->own = l->rec.ts;
	l->wrote = see(w, l, &e);
	l->pid = e.pid;
	l->runner = r->on[l->index];
	l->changes = l->wrote && (!l->runner.known || e.next != e.pid);
	if (l->wrote && l->runner.known && e.next != e.pid)
		walk_leave_others(w, l, e.next, l->rec.ts);
}

void walk_note_shared(struct walk *w, struct lane *l)
{
	const struct walk_runners *r = w->runners;
	const int32_t pid = (int32_t)record_uint(w->trace->events, &l->rec, r->watch.pid_offset,
						 sizeof(int32_t));
	const struct seen e = {.lane = l, .pid = pid, .next = pid};

	for (uint32_t i = r->sight[l->index].next; i != l->index; i = r->sight[i].next)
		if (r->switches[w->merge.lanes[i].buffer->index])
			see(w, &w->merge.lanes[i], &e);
	if (r->switches[l->buffer->index])
		see_own(w, l, pid);
	else
		l->wrote = l->changes = false;
}
