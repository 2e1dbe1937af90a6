// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which buffer's records Perfetto draws.
 *
 * Perfetto has one timeline for each CPU and task, whichever buffer its events come from. Where
 * several buffers have records of one type, those of one buffer are drawn and the others' become
 * generic events. Types of one group belong together, as the entry and the exit of a call do: a
 * type is drawn from that of its buffers which has most of the group's types. In a trace of several
 * buffers this is found out before the first record is written.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "export/pass.h"
#include "export/perfetto_parts.h"

#define WAKEUPS_TRIED 256 /* before the trace is one without sched_waking */

/* For each type, whether each buffer has records of it. */
struct seen {
	const struct spur_trace *trace;
	bool *at;
};

static bool *seen_at(const struct seen *s, uint32_t event, uint32_t buffer)
{
	return &s->at[(size_t)event * s->trace->nr_buffers + buffer];
}

static bool seen_anywhere(const struct seen *s, const struct event *e)
{
	for (uint32_t b = 0; e && b < s->trace->nr_buffers; b++)
		if (*seen_at(s, e->index, b))
			return true;
	return false;
}

/* How many types of a group a buffer has records of. */
static uint32_t types_in(struct perfetto *p, const struct seen *s, enum group group, uint32_t b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->trace->events->nr; i++)
		n += *seen_at(s, i, b) && p->kinds[i] && p->kinds[i]->group == group;
	return n;
}

/* Gives a group's types to buffers, from the buffer that has most of them on. */
static void settle(struct perfetto *p, const struct seen *s, enum group group, uint32_t *types)
{
	const uint32_t nr = p->trace->nr_buffers;

	for (uint32_t b = 0; b < nr; b++)
		types[b] = types_in(p, s, group, b);
	for (uint32_t i = 0; i < p->trace->events->nr; i++) {
		struct event_kind *k = p->kinds[i];

		if (!k || k->group != group)
			continue;
		for (uint32_t b = 0; b < nr; b++)
			if (*seen_at(s, i, b) && (k->owner < 0 || types[b] > types[k->owner]))
				k->owner = b;
	}
}

static int settle_all(struct perfetto *p, const struct seen *s, struct spur_error *err)
{
	const struct events *ev = p->trace->events;
	uint32_t *types = calloc(p->trace->nr_buffers, sizeof(*types));

	for (size_t i = 0; i < ev->nr; i++)
		if (seen_anywhere(s, ev->list[i]) && !perfetto_kind(p, ev->list[i]))
			break;
	if (!types || p->failed < 0) {
		free(types);
		return error_set(err, -ENOMEM, "out of memory");
	}
	for (int g = NO_GROUP + 1; g < NR_GROUPS; g++)
		settle(p, s, (enum group)g, types);
	p->has_waking = seen_anywhere(s, events_find(ev, "sched", "sched_waking"));
	if (seen_anywhere(s, events_find(ev, "raw_syscalls", "sys_enter")) ||
	    seen_anywhere(s, events_find(ev, "raw_syscalls", "sys_exit")))
		p->calls_from = CALLS_RAW;
	free(types);
	return 0;
}

/* Gives `record` the records of some types, or of all, until it returns false. */
static int read_ahead(struct perfetto *p, struct event *const *wanted, size_t nr,
		      bool (*record)(struct perfetto *p, void *arg, const struct event *e,
				     const struct spur_record *r),
		      void *arg, struct spur_error *err)
{
	const struct spur_record *r;
	struct pass_filter filter;
	struct walk_options opt;
	struct walk w;
	int rc = pass_options(p->job, p->trace, &filter, &opt, err);

	opt.progress = NULL;
	if (rc == 0)
		rc = walk_open(&w, p->trace, &opt, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < nr; i++)
		if (wanted[i])
			walk_want(&w, wanted[i]);
	if (!nr)
		walk_want_all(&w);
	while ((r = walk_next(&w)) != NULL) {
		struct event *e = events_of_record(p->trace->events, r);

		if (e && (!opt.take || opt.take(opt.take_arg, e, r)) && !record(p, arg, e, r))
			break;
	}
	walk_close(&w);
	pass_filter_done(&filter);
	return 0;
}

static bool note_buffer(struct perfetto *p, void *arg, const struct event *e,
			const struct spur_record *r)
{
	*seen_at(arg, e->index, r->buffer) = true;
	return true;
}

struct tries {
	const struct event *waking;
	int left;
};

static bool note_waking(struct perfetto *p, void *arg, const struct event *e,
			const struct spur_record *r)
{
	struct tries *tries = arg;

	p->has_waking = e == tries->waking;
	return !p->has_waking && --tries->left > 0;
}

int perfetto_owners(struct perfetto *p, struct spur_error *err)
{
	struct events *ev = p->trace->events;
	struct event *const wakeups[] = {events_find(ev, "sched", "sched_waking"),
					 events_find(ev, "sched", "sched_wakeup")};
	struct tries tries = {wakeups[0], WAKEUPS_TRIED};
	struct seen seen = {.trace = p->trace};
	int rc;

	if (p->trace->nr_buffers < 2)
		return wakeups[0] || wakeups[1]
			       ? read_ahead(p, wakeups, 2, note_waking, &tries, err)
			       : 0;
	seen.at = calloc(ev->nr + 1, p->trace->nr_buffers);
	if (!seen.at)
		return error_set(err, -ENOMEM, "out of memory");
	rc = read_ahead(p, NULL, 0, note_buffer, &seen, err);
	if (rc == 0)
		rc = settle_all(p, &seen, err);
	free(seen.at);
	return rc;
}

bool perfetto_owns(struct perfetto *p, struct event_kind *k, uint32_t buffer)
{
	if (k->group == NO_GROUP)
		return true;
	if (k->group == SYSCALLS && p->calls_from == CALLS_UNKNOWN)
		p->calls_from = k->named_call ? CALLS_NAMED : CALLS_RAW;
	if (k->group == SYSCALLS && k->named_call != (p->calls_from == CALLS_NAMED))
		return false;
	if (k->owner < 0)
		k->owner = buffer;
	return k->owner == buffer;
}
