// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Stretches of CPUs. A walk tells of everything that contradicts a stretch before it matters here.
 */
#include "table/sched_cpus.h"

#include <errno.h>
#include <stdlib.h>

#include "table/sched_parts.h"

int on_cpus_init(struct on_cpus *o, const struct table_source *src)
{
	o->nr = sched_nr_cpus(src->buffer);
	o->at = calloc((size_t)o->nr + 1, sizeof(*o->at));
	return o->at ? 0 : -ENOMEM;
}

void on_cpus_free(struct on_cpus *o)
{
	free(o->at);
	o->at = NULL;
}

/* Ends a stretch, not before it began: times of a stranger's file may run backwards. */
static void end(struct on_cpus *o, uint32_t cpu, uint64_t ts, bool open_end)
{
	struct stretch *s = &o->at[cpu];

	if (s->begun && (s->known || ts > s->since))
		o->ends(o->arg, cpu, s, ts > s->since ? ts : s->since, open_end);
	s->begun = false;
}

static void become_unknown(struct on_cpus *o, uint32_t cpu, uint64_t ts)
{
	o->at[cpu] = (struct stretch){.since = ts, .begun = true};
}

/* Ends what is known of a CPU; what follows is unknown. */
static void forget(struct on_cpus *o, uint32_t cpu, uint64_t ts)
{
	struct stretch *s = &o->at[cpu];
	const uint64_t at = ts > s->since ? ts : s->since;

	if (!s->begun || !s->known)
		return;
	end(o, cpu, at, true);
	become_unknown(o, cpu, at);
}

void on_cpus_evidence(struct on_cpus *o, const struct walk_evidence *e)
{
	struct stretch *s;

	if (e->cpu >= o->nr)
		return;
	s = &o->at[e->cpu];
	if (e->silent) {
		forget(o, e->cpu, e->ts);
		if (!s->begun)
			become_unknown(o, e->cpu, e->ts);
		return;
	}
	if (e->gone) {
		if (s->known && s->pid == e->pid)
			forget(o, e->cpu, e->ts);
		return;
	}
	if (s->begun && s->known && s->pid == e->pid)
		return;
	forget(o, e->cpu, e->last);
	end(o, e->cpu, e->ts, false);
	*s = (struct stretch){.since = e->ts,
			      .begun = true,
			      .known = true,
			      .pid = e->pid,
			      .open_start = true,
			      .outside = e->continues};
}

/* Without evidence, as of a trace whose records do not say who wrote them. */
static void on_cpus_contradict(struct on_cpus *o, uint32_t cpu, int32_t prev, uint64_t ts)
{
	struct stretch *s = &o->at[cpu];

	if (ts < s->since)
		forget(o, cpu, s->since);
	if (!s->begun || !s->known || s->pid != prev)
		on_cpus_evidence(o, &(struct walk_evidence){
					    .cpu = cpu, .pid = prev, .ts = ts, .last = s->since});
}

void on_cpus_switch(struct on_cpus *o, uint32_t cpu, int32_t prev, int32_t next, uint64_t ts)
{
	struct stretch *s = &o->at[cpu];

	if (__builtin_expect(!s->begun || !s->known || s->pid != prev || ts < s->since, 0)) {
		on_cpus_contradict(o, cpu, prev, ts);
		end(o, cpu, ts, false);
	} else {
		o->ends(o->arg, cpu, s, ts, false);
	}
	*s = (struct stretch){.since = ts, .begun = true, .known = true, .pid = next};
}

void on_cpus_losing(struct on_cpus *o, uint32_t cpu, uint64_t from)
{
	if (cpu < o->nr)
		forget(o, cpu, from);
}

void on_cpus_stop(struct on_cpus *o, uint32_t cpu, uint64_t ts)
{
	end(o, cpu, ts, true);
}

void on_cpus_end(struct on_cpus *o, uint64_t ts)
{
	for (uint32_t i = 0; i < o->nr; i++)
		on_cpus_stop(o, i, ts);
}

bool on_cpus_pending(const struct on_cpus *o, uint64_t ts)
{
	for (uint32_t i = 0; i < o->nr; i++)
		if (o->at[i].begun && o->at[i].since <= ts)
			return true;
	return false;
}
