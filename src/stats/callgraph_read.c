// SPDX-License-Identifier: GPL-2.0-or-later
/* Call graphs from a trace: from durations where there are any, else from what there is. */
#include <errno.h>
#include <stdio.h>

#include "stats/callgraph.h"
#include "table/feed.h"
#include "table/stacks.h"
#include "base/error.h"
#include "event/names.h"

struct reading {
	const struct callgraph_reader *r;
	struct events *events;
	const struct event_field *ip, *parent;
	uint64_t taken;
};

/* The graph that what a task did on a CPU belongs to; NULL: to none. */
static struct callgraph *graph_of(struct reading *rd, int64_t pid, const char *comm, int64_t cpu)
{
	const struct callgraph_reader *r = rd->r;
	struct callgraph *g = NULL;

	if (walk_asks_cpu(&r->walk, cpu) && (!r->wanted || r->wanted(r->arg, pid, comm)))
		g = r->graph(r->arg, pid, comm, cpu);
	rd->taken += g != NULL;
	return g;
}

static void take_call(void *arg, const void *row)
{
	struct reading *rd = arg;
	const struct call_row *c = row;
	struct callgraph *g = graph_of(rd, c->pid, c->comm, c->cpu);

	if (g)
		callgraph_call(g, c, rd->r->on_cpu);
}

static void take_sample(void *arg, const void *row)
{
	const struct sample_row *s = row;
	struct callgraph *g = graph_of(arg, s->pid, s->comm, s->cpu);

	if (g && s->stack)
		callgraph_stack(g, s->stack, 1);
}

static const char *symbol(const struct events *ev, uint64_t addr, char *to, size_t cap)
{
	const struct symbol *s = symbols_find(ev->symbols, addr);

	snprintf(to, cap, "0x%llx", (unsigned long long)addr);
	return s ? s->name : to;
}

static void take_entry(void *arg, struct event *e, const struct spur_record *r)
{
	struct reading *rd = arg;
	const int pid = events_record_pid(rd->events, r);
	char name[32], caller[32];
	uint64_t ip, parent;
	struct callgraph *g;
	size_t len;

	if (!rd->ip || !rd->parent || !field_number(rd->events, rd->ip, r, &ip) ||
	    !field_number(rd->events, rd->parent, r, &parent))
		return;
	g = graph_of(rd, pid, comms_find(rd->events->comms, pid, &len), r->cpu);
	if (g)
		callgraph_entry(g, symbol(rd->events, ip, name, sizeof(name)),
				symbol(rd->events, parent, caller, sizeof(caller)));
}

/* ---- one walk for each kind of source ---- */

static int add_calls(struct feed *f, struct reading *rd, struct spur_error *err)
{
	return feed_add(f, &calls_table, take_call, rd, err);
}

static int add_entries(struct feed *f, struct reading *rd, struct spur_error *err)
{
	struct event *e = events_find(rd->events, "ftrace", "function");

	if (!e)
		return 0;
	rd->ip = event_field_find(e, "ip");
	rd->parent = event_field_find(e, "parent_ip");
	return feed_watch(f, "ftrace:function", take_entry, rd, err);
}

static int add_samples(struct feed *f, struct reading *rd, struct spur_error *err)
{
	return feed_add(f, &samples_table, take_sample, rd, err);
}

static const struct {
	enum callgraph_source source;
	int (*add)(struct feed *f, struct reading *rd, struct spur_error *err);
} sources[] = {
	{CG_FROM_CALLS, add_calls},
	{CG_FROM_ENTRIES, add_entries},
	{CG_FROM_SAMPLES, add_samples},
};

static int read_source(struct reading *rd, size_t i, struct spur_error *err)
{
	struct walk_options all = rd->r->walk;
	struct feed *f;
	int rc;

	/* A call belongs to the CPU it began on, and may go on and end on others. */
	all.cpus = NULL;
	f = feed_new(rd->r->trace, &all, err);
	if (!f)
		return -ENOMEM;
	rc = sources[i].add(f, rd, err);
	if (rc == 0)
		rc = feed_run(f, err);
	feed_free(f);
	return rc;
}

int callgraph_read(const struct callgraph_reader *r, struct spur_error *err)
{
	struct reading rd = {.r = r, .events = r->trace->events};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(sources) / sizeof(sources[0]); i++)
		if (r->source == sources[i].source || (r->source == CG_FROM_ANY && !rd.taken))
			rc = read_source(&rd, i, err);
	return rc;
}
