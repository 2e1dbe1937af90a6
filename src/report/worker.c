// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A report's worker. Events that no filter wants are skipped by the lanes, unless the printer of a
 * wanted event looks ahead at the records that follow it.
 */
#include "report/worker.h"

#include <errno.h>
#include <stdlib.h>

#include "event/handler.h"

/* More text than any slice produces, unless a record is broken. */
#define OUT_LIMIT (256u << 20)

int worker_add_lanes(const void *report, struct scan *m)
{
	const struct report *rep = report;

	for (size_t i = 0; i < rep->nr_sources; i++) {
		int rc = scan_add_buffer(m, rep->sources[i].buffer);

		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Initializes the data about each lane. */
static int init_lanes(struct worker *w)
{
	const struct emit_source *source = w->rep->sources;

	w->source_of = calloc(w->scan.nr + 1, sizeof(*w->source_of));
	w->stacks = calloc(w->scan.nr + 1, sizeof(*w->stacks));
	if (!w->source_of || !w->stacks)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->scan.nr; i++) {
		/* Lanes were added in the order of the sources. */
		while (source->buffer != w->scan.lanes[i].buffer)
			source++;
		w->source_of[i] = source;
	}
	return 0;
}

/* Which event ids can pass the trace's filters; stacks always have to be looked at. */
static int make_lane_filter(const struct select_filters *f, const struct events *ev,
			    struct lane_filter *to)
{
	if (lane_filter_init(to, ev) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < ev->nr; i++)
		if (filter_wants(f->wanted, ev->list[i]) || select_is_stack(ev->list[i]))
			lane_filter_want(to, ev->list[i]);
	return 0;
}

/* Whether the text of a wanted event depends on the next record. */
static bool looks_ahead(const struct select_filters *f, const struct events *ev)
{
	for (size_t i = 0; i < ev->nr; i++) {
		const struct event *e = ev->list[i];
		const struct event_handler *h =
			filter_wants(f->wanted, e) ? handler_find(e->system, e->name) : NULL;

		if (h && h->looks_ahead)
			return true;
	}
	return false;
}

static int init_lane_filters(struct worker *w)
{
	const struct report *rep = w->rep;

	w->lane_filters = calloc(rep->nr_traces + 1, sizeof(*w->lane_filters));
	if (!w->lane_filters)
		return -ENOMEM;
	for (size_t i = 0; i < rep->nr_traces; i++) {
		const struct select_filters *f = select_filters_of(&rep->select, rep->traces[i]);

		if (!f || !f->wanted || looks_ahead(f, rep->traces[i]->events))
			continue;
		if (make_lane_filter(f, rep->traces[i]->events, &w->lane_filters[i]) < 0)
			return -ENOMEM;
		for (uint32_t k = 0; k < w->scan.nr; k++)
			if (w->scan.lanes[k].buffer->trace == rep->traces[i])
				w->scan.lanes[k].filter = &w->lane_filters[i];
	}
	return 0;
}

int worker_init(struct worker *w, const struct report *rep)
{
	int rc;

	*w = (struct worker){.rep = rep};
	scan_init(&w->scan, &(struct scan_options){.stop = rep->stop});
	buf_init(&w->out, OUT_LIMIT);
	rc = emitter_init(&w->emitter, rep->emit, &rep->options, &w->scan, rep->traces,
			  rep->nr_traces);
	if (rc == 0)
		rc = worker_add_lanes(rep, &w->scan);
	if (rc == 0)
		rc = init_lanes(w);
	if (rc == 0)
		rc = init_lane_filters(w);
	return rc;
}

void worker_done(struct worker *w)
{
	emitter_done(&w->emitter);
	scan_free(&w->scan);
	for (size_t i = 0; w->lane_filters && i < w->rep->nr_traces; i++)
		lane_filter_free(&w->lane_filters[i]);
	free(w->lane_filters);
	free(w->source_of);
	free(w->stacks);
	buf_free(&w->out);
}

/* Decides about a record of a lane and prepares the emitter for it. */
static bool selected(struct worker *w, const struct lane *l, struct event *e,
		     const struct spur_record *r)
{
	const struct selection *sel = &w->rep->select;
	const struct emit_source *source = w->source_of[l->index];

	if (sel->has_since && r->ts < sel->since)
		return false;
	if (sel->cpus && !select_cpu(sel, source->first_cpu + r->cpu))
		return false;
	emitter_enter(&w->emitter, source);
	return select_record(sel, &w->stacks[l->index], source->buffer->trace,
			     &w->emitter.now->printer, e, r);
}

void worker_prime(struct worker *w, const struct lane *l)
{
	selected(w, l, events_of_record(l->buffer->trace->events, &l->rec), &l->rec);
}

void worker_record(struct worker *w, const struct spur_record *r)
{
	const struct report *rep = w->rep;
	const struct lane *lane = w->scan.current;
	const struct spur_trace *t = lane->buffer->trace;
	struct event *e = events_of_record(t->events, r);

	if (!selected(w, lane, e, r))
		return;
	w->emitter.ops->record(&w->emitter, r, e, &w->out);
	w->emitted++;
	if (__builtin_expect(rep->watch != NULL, 0))
		rep->watch(rep->watch_arg, t, e, r, &w->out);
}

int worker_flush(struct worker *w)
{
	int rc = w->out.len ? w->rep->write(w->rep->arg, w->out.data, w->out.len) : 0;

	buf_reset(&w->out);
	return rc;
}
