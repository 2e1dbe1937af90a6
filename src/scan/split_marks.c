// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The option CUT of the pieces of a recording that ended before its time.
 *
 * A piece has it if it reaches the end of a CPU's data and events are missing there, or if it
 * reaches the end of the recording. Other pieces are complete and do not have it.
 */
#include <errno.h>
#include <stdlib.h>

#include "dat/dat.h"
#include "scan/split_parts.h"

#define OPTION_LIMIT (16u << 20)

static const struct cut_lane *find_lane(const struct cutter *c, const struct dat_cut_cpu *cpu)
{
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct lane *l = c->lanes[i].lane;

		if (l->buffer->index == cpu->buffer && l->cpu->cpu == cpu->cpu)
			return &c->lanes[i];
	}
	return NULL;
}

static bool reaches_end(const struct cutter *c)
{
	for (uint32_t i = 0; i < c->nr; i++)
		if (!c->lanes[i].to_end)
			return false;
	return true;
}

/* The entry of a CPU in a piece's option; false if it has none. */
static bool mark_of(const struct cutter *c, const struct dat_cut_cpu *cpu, bool last_piece,
		    struct dat_cut_cpu *to)
{
	const struct spur_trace *t = c->s->trace;
	const struct cut_lane *l = find_lane(c, cpu);

	*to = *cpu;
	if (cpu->buffer >= t->nr_buffers || (c->s->one_cpu && cpu->cpu != c->s->cpu) ||
	    !cut_buffer(c, &t->buffers[cpu->buffer], &to->buffer))
		return false;
	if (!l || !cpu->last)
		return last_piece;
	if (!l->to_end)
		return false;
	if (!l->any) {
		/* The CPU's data ended before this piece: the missing events may lie within it. */
		to->last = to->between = 0;
		to->after = DAT_CUT_UNKNOWN;
		return cpu->after != 0;
	}
	if (!c->lost[l->lane->index])
		to->between = 0;
	return last_piece || cpu->after;
}

/*
 * Makes the options of the pieces: those of the trace without its CUT, and space for the piece's
 * own.
 */
static int copy_options(struct cutter *c)
{
	struct dat_contents *to = &c->contents;
	struct dat_out_option *list =
		arena_array(&c->s->trace->dat->arena, to->nr_options + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < to->nr_options; i++)
		if (to->options[i].id != DAT_OPT_CUT)
			list[n++] = to->options[i];
	to->options = list;
	to->nr_options = n;
	c->own_option = &list[n];
	return 0;
}

static int set_option(struct cutter *c, const struct dat_cut *cut, bool is_cut)
{
	int rc = c->own_option ? 0 : copy_options(c);

	if (rc < 0)
		return rc;
	buf_free(&c->mark);
	buf_init(&c->mark, OPTION_LIMIT);
	dat_cut_put(cut, c->contents.big_endian, &c->mark);
	*c->own_option = (struct dat_out_option){DAT_OPT_CUT, {c->mark.data, c->mark.len}};
	c->contents.nr_options = (size_t)(c->own_option - c->contents.options) + is_cut;
	return buf_full(&c->mark) ? -ENOMEM : 0;
}

int cut_mark(struct cutter *c)
{
	const struct dat_cut *whole = &c->s->trace->dat->cut;
	const bool last_piece = reaches_end(c);
	struct dat_cut cut = {.cause = whole->cause};
	int rc;

	if (!whole->is)
		return 0;
	cut.cpus = calloc((size_t)whole->nr + 1, sizeof(*cut.cpus));
	if (!cut.cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < whole->nr; i++)
		if (mark_of(c, &whole->cpus[i], last_piece, &cut.cpus[cut.nr]))
			cut.nr++;
	rc = set_option(c, &cut, last_piece || cut.nr);
	free(cut.cpus);
	return rc;
}
