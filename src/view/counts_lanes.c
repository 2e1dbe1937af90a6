// SPDX-License-Identifier: GPL-2.0-or-later
/* The CPUs whose records are counted. */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "view/counts.h"

/* A row for a CPU, with its ticks. */
static int add_cpu(struct view_index *x, const struct trace_buffer *b, const struct dat_cpu *cpu)
{
	struct maker *m = &x->makers[MADE_OF_RECORDS];
	const uint32_t row = row_of_cpu(&x->rows, b->index, cpu->cpu);
	struct cpu_ticks *slot = row != UINT32_MAX ? vec_push(&x->ticks) : NULL;

	if (!slot)
		return -ENOMEM;
	slot->ticks = ticks_new(b, cpu);
	slot->track = track_new(m, row, VIEW_EVENTS, 0);
	if (!slot->ticks || !slot->track || !row_add_track(&x->rows, slot->track))
		return -ENOMEM;
	slot->track->ticks = slot->ticks;
	slot->track->types = &x->types;
	slot->track->levels = levels_new(true);
	return slot->track->levels ? 0 : -ENOMEM;
}

static int prepare_cpu(struct view_index *x, const struct trace_buffer *b,
		       const struct dat_cpu *cpu)
{
	struct lane l;
	int rc;

	if (!cpu->size)
		return 0;
	rc = lane_open(&l, b, cpu);
	/* Data that cannot be read at all have been noted as damage. */
	if (rc == -EBADMSG)
		return 0;
	if (rc < 0)
		return rc;
	if (lane_next(&l) && l.rec.ts < x->origin)
		x->origin = l.rec.ts;
	lane_close(&l);
	return add_cpu(x, b, cpu);
}

int counts_prepare(struct view_index *x)
{
	int rc = 0;

	x->origin = UINT64_MAX;
	for (uint32_t i = 0; i < x->trace->nr_buffers; i++) {
		const struct trace_buffer *b = &x->trace->buffers[i];

		for (uint32_t k = 0; rc == 0 && !b->data->text && k < b->data->nr_cpus; k++)
			rc = prepare_cpu(x, b, &b->data->cpus[k]);
	}
	for (size_t i = 0; i < x->ticks.n; i++)
		if (x->ticks.at[i].ticks)
			x->ticks.at[i].ticks->origin = x->origin;
	return rc;
}

int counts_between(struct view_index *x, uint64_t since, uint64_t until, uint64_t *n)
{
	struct view_interval i;

	*n = 0;
	for (size_t k = 0; since < until && k < x->ticks.n; k++) {
		struct ticks *t = x->ticks.at[k].ticks;
		struct ticks_reader *r = ticks_open(t);

		if (!r)
			return -ENOMEM;
		ticks_seek(r, since);
		while (ticks_next(r, &i) && i.start < until)
			*n += i.start >= since;
		ticks_close(t, r);
	}
	return 0;
}
