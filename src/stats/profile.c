// SPDX-License-Identifier: GPL-2.0-or-later
/* Making a profile and feeding it. */
#include "stats/profile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stats/profile_parts.h"
#include "base/error.h"
#include "scan/merge.h"

#define MEMORY_LIMIT (256u << 20)
#define STOP_EVERY   65536 /* records between two looks at `stop` */

/* ---- making ---- */

static int parse_hooks(struct profile *p, struct spur_error *err)
{
	p->hooks = calloc(p->opt.nr_hooks + 1, sizeof(*p->hooks));
	if (!p->hooks)
		return error_set(err, -ENOMEM, "out of memory");
	for (; p->nr_hooks < p->opt.nr_hooks; p->nr_hooks++) {
		const char *text = p->opt.hooks[p->nr_hooks];
		struct hook *h = &p->hooks[p->nr_hooks];
		int rc = hook_parse(h, text, strlen(text), err);

		if (rc < 0)
			return rc;
		if (h->unknown_flag && p->opt.warn) {
			char warning[32];

			snprintf(warning, sizeof(warning), "unknown flag %c", h->unknown_flag);
			p->opt.warn(p->opt.warn_arg, warning);
		}
	}
	return 0;
}

static int bind_trace(struct profile *p, struct binding *b, struct spur_trace *t,
		      struct spur_error *err)
{
	b->trace = t;
	b->events = t->events;
	b->nr_scopes = t->nr_buffers;
	b->scopes = arena_array(&p->arena, (size_t)b->nr_scopes + 1, sizeof(*b->scopes));
	if (!b->scopes)
		return error_set(err, -ENOMEM, "out of memory");
	for (uint32_t i = 0; i < b->nr_scopes; i++)
		b->scopes[i] = (struct scope){.profile = p, .binding = b, .buffer = i};
	return binding_init(b, p, err);
}

struct profile *profile_new(struct spur_trace *const *traces, size_t n,
			    const struct profile_options *opt, struct spur_error *err)
{
	struct profile *p = calloc(1, sizeof(*p));
	int rc;

	if (!p) {
		error_set(err, -ENOMEM, "out of memory");
		return NULL;
	}
	if (opt)
		p->opt = *opt;
	p->seed = hash_seed_new();
	arena_init(&p->arena, p->opt.memory_limit ? p->opt.memory_limit : MEMORY_LIMIT);
	p->bindings = calloc(n + 1, sizeof(*p->bindings));
	rc = p->bindings ? parse_hooks(p, err) : error_set(err, -ENOMEM, "out of memory");
	for (; rc == 0 && p->nr_bindings < n; p->nr_bindings++) {
		struct binding *b = &p->bindings[p->nr_bindings];

		b->name = p->opt.names ? p->opt.names[p->nr_bindings] : NULL;
		rc = bind_trace(p, b, traces[p->nr_bindings], err);
	}
	if (rc < 0) {
		profile_free(p);
		return NULL;
	}
	return p;
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->nr_bindings; i++)
		for (uint32_t k = 0; k < p->bindings[i].nr_scopes; k++)
			map_free(&p->bindings[i].scopes[k].by_cpu);
	map_free(&p->tasks);
	map_free(&p->entries);
	map_free(&p->starts);
	map_free(&p->stacks);
	map_free(&p->stack_uses);
	map_free(&p->groups);
	arena_free(&p->arena);
	free(p->bindings);
	free(p->hooks);
	free(p);
}

uint64_t profile_dropped(const struct profile *p)
{
	return p->dropped;
}

/* ---- feeding ---- */

static struct scope *find_scope(struct profile *p, const struct spur_trace *t, uint32_t buffer)
{
	if (p->scope && p->scope->binding->trace == t && p->scope->buffer == buffer)
		return p->scope;
	for (size_t i = 0; i < p->nr_bindings; i++) {
		struct binding *b = &p->bindings[i];

		if (b->trace == t && buffer < b->nr_scopes)
			return p->scope = &b->scopes[buffer];
	}
	return NULL;
}

void profile_record(struct profile *p, const struct spur_trace *t, struct event *e,
		    const struct spur_record *r)
{
	struct scope *s = find_scope(p, t, r->buffer);
	struct watch *w;
	struct task *task;
	uint64_t stack;

	if (!s)
		return;
	if (r->lost)
		starts_lost(s, r->cpu);
	w = e ? binding_watch(s->binding, p, e) : NULL;
	p->dropped += e && !w;
	task = w ? task_find(s, events_record_pid(s->binding->events, r)) : NULL;
	if (!task)
		return;
	stack = task->last_stack_number;
	w->handle(s, task, w, r);
	/* A stack that nothing has claimed waits for one event only. */
	if (task->last_stack_number == stack)
		task->last_stack = NULL;
}

/* ---- a whole trace ---- */

/* What reading and selecting needs. */
struct reader {
	struct profile *p;
	const struct profile_input *in;
	struct merge merge;
	const struct emit_source **source_of; /* by lane */
	struct select_stack *stacks;	      /* by lane */
	struct event_printer *printers; /* one per trace; filters ask them for names of tasks */
	size_t nr_printers;
};

static int add_sources(struct reader *rd)
{
	const struct profile_input *in = rd->in;
	size_t lanes = 0;

	for (size_t i = 0; i < in->nr_sources; i++)
		lanes += in->sources[i].buffer->data->nr_cpus;
	rd->source_of = calloc(lanes + 1, sizeof(*rd->source_of));
	rd->stacks = calloc(lanes + 1, sizeof(*rd->stacks));
	if (!rd->source_of || !rd->stacks)
		return -ENOMEM;
	for (size_t i = 0; i < in->nr_sources; i++) {
		uint32_t first = rd->merge.nr;
		int rc = merge_add_buffer(&rd->merge, in->sources[i].buffer);

		if (rc < 0)
			return rc;
		for (uint32_t k = first; k < rd->merge.nr; k++)
			rd->source_of[k] = &in->sources[i];
	}
	return 0;
}

static int add_printers(struct reader *rd)
{
	const struct profile *p = rd->p;

	if (!rd->in->select)
		return 0;
	rd->printers = calloc(p->nr_bindings + 1, sizeof(*rd->printers));
	if (!rd->printers)
		return -ENOMEM;
	for (; rd->nr_printers < p->nr_bindings; rd->nr_printers++) {
		int rc = event_printer_init(&rd->printers[rd->nr_printers],
					    p->bindings[rd->nr_printers].events);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static void reader_done(struct reader *rd)
{
	while (rd->nr_printers)
		event_printer_done(&rd->printers[--rd->nr_printers]);
	free(rd->printers);
	free(rd->stacks);
	free(rd->source_of);
	merge_free(&rd->merge);
}

static bool wanted(struct reader *rd, const struct spur_trace *t, struct event *e,
		   const struct spur_record *r)
{
	const struct selection *sel = rd->in->select;
	const uint32_t lane = rd->merge.current->index;
	size_t i = 0;

	if (!sel)
		return true;
	if (sel->has_since && r->ts < sel->since)
		return false;
	if (sel->cpus && !select_cpu(sel, rd->source_of[lane]->first_cpu + r->cpu))
		return false;
	while (i + 1 < rd->p->nr_bindings && rd->p->bindings[i].trace != t)
		i++;
	return select_record(sel, &rd->stacks[lane], t, &rd->printers[i], e, r);
}

static int feed(struct reader *rd)
{
	const struct selection *sel = rd->in->select;
	struct merge *m = &rd->merge;
	const struct spur_record *r;
	uint64_t done = 0;

	for (uint32_t i = 0; sel && sel->has_since && i < m->nr; i++)
		lane_seek_time(&m->lanes[i], sel->since, m->lanes[i].nr_pages / 2);
	merge_start(m);
	while ((r = merge_next(m)) != NULL) {
		const struct spur_trace *t = merge_buffer(m)->trace;
		struct event *e = events_of_record(t->events, r);

		if (sel && sel->has_until && r->ts > sel->until)
			break;
		if (wanted(rd, t, e, r))
			profile_record(rd->p, t, e, r);
		if (++done % STOP_EVERY == 0 && rd->in->stop && *rd->in->stop)
			return -EINTR;
	}
	return 0;
}

int profile_run(struct profile *p, const struct profile_input *in, struct spur_error *err)
{
	struct reader rd = {.p = p, .in = in};
	int rc;

	merge_init(&rd.merge);
	rc = add_sources(&rd);
	if (rc == 0)
		rc = add_printers(&rd);
	if (rc == 0)
		rc = feed(&rd);
	reader_done(&rd);
	return rc == -ENOMEM ? error_set(err, rc, "out of memory") : rc;
}
