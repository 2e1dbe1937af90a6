// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report of a trace that grows. A record is emitted when no lane can still get an earlier one. If
 * its printer looks ahead, it also waits until the next record of its buffer is there.
 */
#include "report/follow.h"

#include <errno.h>
#include <stdlib.h>

#include "event/handler.h"
#include "event/names.h"
#include "report/worker.h"

#define MOST_WAITING 4 /* rounds that a record waits for the next one of its buffer */

struct follow {
	struct worker w;
	unsigned int waited; /* rounds that the earliest record has waited */
};

int follow_new(const struct report *rep, struct follow **out)
{
	struct follow *f = calloc(1, sizeof(*f));
	int rc;

	*out = NULL;
	if (!f)
		return -ENOMEM;
	rc = worker_init(&f->w, rep);
	if (rc < 0) {
		follow_free(f);
		return rc;
	}
	scan_start(&f->w.scan);
	*out = f;
	return 0;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	worker_done(&f->w);
	free(f);
}

/* ---- names ---- */

void follow_ask(struct follow *f, bool (*ask)(void *arg, int pid, char *name, size_t cap),
		void *arg)
{
	for (size_t i = 0; i < f->w.emitter.nr_traces; i++)
		overlay_ask(f->w.emitter.traces[i].printer.learned, ask, arg);
}

void follow_forget(struct follow *f)
{
	struct emitter *em = &f->w.emitter;

	for (size_t i = 0; i < em->nr_traces; i++) {
		struct comm_overlay *learned = em->traces[i].printer.learned;
		struct comms *known = em->traces[i].trace->events->comms;
		size_t n;
		const struct learned_comm *at = overlay_learned(learned, &n);

		/* Without memory for a name, it is learned again later. */
		for (size_t k = 0; k < n; k++)
			comms_learn(known, at[k].pid, at[k].name, at[k].len);
		overlay_reset(learned);
	}
	emitter_forget(em);
}

/* ---- records ---- */

static bool looks_ahead(const struct lane *l)
{
	struct event *e = events_of_record(l->buffer->trace->events, &l->rec);

	return e && event_ready(e) != EVENT_BROKEN && e->handler && e->handler->looks_ahead;
}

/* Whether the next record in the buffer of a lane's record is known for certain. */
static bool next_is_there(const struct scan *m, const struct lane *l, uint64_t until)
{
	struct lane ahead = *l;

	if (lane_next(&ahead) && ahead.rec.ts <= until)
		return true;
	for (uint32_t i = 0; i < m->nr; i++) {
		const struct lane *other = &m->lanes[i];

		if (other != l && other->buffer == l->buffer && !other->ended &&
		    other->rec.ts <= until)
			return true;
	}
	return false;
}

/* The earliest record, if it may be emitted now. */
static bool has_next(struct follow *f, uint64_t until, bool all)
{
	const struct lane *l = scan_first(&f->w.scan);

	if (!l || all)
		return l;
	if (l->rec.ts > until)
		return false;
	return !looks_ahead(l) || next_is_there(&f->w.scan, l, until) ||
	       f->waited++ >= MOST_WAITING;
}

static int emit(struct follow *f, uint64_t until, bool all)
{
	struct worker *w = &f->w;
	const uint64_t head = w->rep->head;
	int rc = 0;

	for (uint32_t i = 0; i < w->scan.nr; i++)
		lane_resume(&w->scan.lanes[i]);
	scan_restart(&w->scan);
	while (rc == 0 && (!head || w->emitted < head) && has_next(f, until, all)) {
		worker_record(w, scan_next(&w->scan));
		f->waited = 0;
		if (w->out.len >= WORKER_FLUSH)
			rc = worker_flush(w);
	}
	if (rc == 0)
		rc = worker_flush(w);
	return rc ? rc : head && w->emitted >= head;
}

int follow_emit(struct follow *f, uint64_t until)
{
	return emit(f, until, false);
}

int follow_end(struct follow *f)
{
	return emit(f, 0, true);
}
