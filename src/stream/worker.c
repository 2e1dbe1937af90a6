// SPDX-License-Identifier: GPL-2.0-or-later
#include "stream/worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More text than any slice produces; only a runaway record could reach it. */
#define OUT_LIMIT (256u << 20)

int worker_add_lanes(void *report, struct merge *m)
{
	const struct report *rep = report;

	for (size_t i = 0; i < rep->nr_sources; i++) {
		int rc = merge_add_buffer(m, rep->sources[i].buffer);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int map_sources(struct worker *w)
{
	const struct report *rep = w->rep;

	w->source_of = calloc(w->merge.nr + 1, sizeof(*w->source_of));
	if (!w->source_of)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->merge.nr; i++)
		for (size_t k = 0; k < rep->nr_sources; k++)
			if (rep->sources[k].buffer == w->merge.lanes[i].buffer)
				w->source_of[i] = &rep->sources[k];
	return 0;
}

static int init_state(struct worker *w)
{
	uint32_t most = 0;

	if (w->rep->select.stacks == SELECT_STACKS_PLAIN)
		return 0;
	for (uint32_t i = 0; i < w->merge.nr; i++)
		if (w->merge.lanes[i].cpu->cpu >= most)
			most = w->merge.lanes[i].cpu->cpu + 1;
	w->state.shown = calloc(most + 1, sizeof(*w->state.shown));
	w->state.nr = most;
	return w->state.shown ? 0 : -ENOMEM;
}

static const struct select_filters *filters_of(const struct selection *s,
					       const struct spur_trace *t)
{
	for (size_t i = 0; i < s->nr_filters; i++)
		if (s->filters[i].trace == t)
			return &s->filters[i];
	return NULL;
}

/* Which event ids can pass the trace's filters; stacks always have to be looked at. */
static bool make_lane_filter(const struct select_filters *f, struct events *ev,
			     struct lane_filter *to)
{
	uint64_t *bits;
	int highest = 0;

	for (size_t i = 0; i < ev->nr; i++)
		if (ev->list[i]->id > highest && ev->list[i]->id < 1 << 16)
			highest = ev->list[i]->id;
	bits = calloc((size_t)highest / 64 + 1, sizeof(*bits));
	if (!bits)
		return false;
	for (size_t i = 0; i < ev->nr; i++) {
		const struct event *e = ev->list[i];

		if (e->id >= 0 && e->id <= highest &&
		    (filter_wants(f->wanted, e) || strcmp(e->name, "kernel_stack") == 0))
			bits[e->id / 64] |= 1ull << (e->id % 64);
	}
	*to = (struct lane_filter){.wanted = bits,
				   .nr_ids = (uint32_t)highest + 1,
				   .type_offset = ev->common.type.offset,
				   .type_size = ev->common.type.size,
				   .big_endian = ev->big_endian};
	return true;
}

/* A call of function_graph is shown with what follows it, whatever that is. */
static bool looks_ahead(const struct select_filters *f, struct events *ev)
{
	const struct event *entry = events_find(ev, "ftrace", "funcgraph_entry");

	return entry && filter_wants(f->wanted, entry);
}

static int init_lane_filters(struct worker *w)
{
	const struct report *rep = w->rep;

	w->lane_filters = calloc(rep->nr_traces + 1, sizeof(*w->lane_filters));
	if (!w->lane_filters)
		return -ENOMEM;
	for (size_t i = 0; i < rep->nr_traces; i++) {
		const struct select_filters *f = filters_of(&rep->select, rep->traces[i]);

		if (!f || !f->wanted || looks_ahead(f, rep->traces[i]->events))
			continue;
		if (!make_lane_filter(f, rep->traces[i]->events, &w->lane_filters[i]))
			return -ENOMEM;
		for (uint32_t k = 0; k < w->merge.nr; k++)
			if (w->merge.lanes[k].buffer->trace == rep->traces[i])
				w->merge.lanes[k].filter = &w->lane_filters[i];
	}
	return 0;
}

int worker_init(struct worker *w, const struct report *rep)
{
	int rc;

	*w = (struct worker){.rep = rep};
	merge_init(&w->merge);
	buf_init(&w->out, OUT_LIMIT);
	rc = emitter_init(&w->emitter, rep->emit, &rep->options, &w->merge, rep->traces,
			  rep->nr_traces);
	if (rc == 0)
		rc = worker_add_lanes((void *)rep, &w->merge);
	if (rc == 0)
		rc = map_sources(w);
	if (rc == 0)
		rc = init_state(w);
	if (rc == 0)
		rc = init_lane_filters(w);
	return rc;
}

void worker_done(struct worker *w)
{
	emitter_done(&w->emitter);
	merge_free(&w->merge);
	for (size_t i = 0; w->lane_filters && i < w->rep->nr_traces; i++)
		free((void *)w->lane_filters[i].wanted);
	free(w->lane_filters);
	free(w->source_of);
	free(w->state.shown);
	buf_free(&w->out);
}

void worker_prime(struct worker *w, const struct lane *l)
{
	const struct spur_trace *t = l->buffer->trace;

	if (w->rep->select.stacks == SELECT_STACKS_PLAIN)
		return;
	emitter_enter(&w->emitter, w->source_of[l->index]);
	select_prime(&w->rep->select, &w->state, t, &w->emitter.now->printer,
		     events_of_record(t->events, &l->rec), &l->rec);
}

void worker_record(struct worker *w, const struct spur_record *r)
{
	const struct report *rep = w->rep;
	const struct emit_source *source = w->source_of[w->merge.current->index];
	const struct spur_trace *t = source->buffer->trace;
	struct emitter *em = &w->emitter;
	struct event *e;

	if (rep->select.cpus && !select_cpu(&rep->select, source->first_cpu + r->cpu))
		return;
	e = events_of_record(t->events, r);
	if (w->merge.current->passed && r->cpu < w->state.nr)
		select_passed(&rep->select, &w->state, r->cpu);
	emitter_enter(em, source);
	if (!select_record(&rep->select, &w->state, t, &em->now->printer, e, r))
		return;
	em->ops->record(em, r, e, &w->out);
	w->emitted++;
	if (__builtin_expect(rep->watch != NULL, 0))
		rep->watch(rep->watch_arg, t, e, r, &w->out);
}
