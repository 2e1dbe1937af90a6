// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A file that could not be written to the end says so itself: where it ends, and how many events
 * the kernel had that are not in it. Files have room for that on a full disk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "dat/cut.h"
#include "record/meta_parts.h"
#include "record/session_parts.h"
#include "record/tally.h"

#define OPTION_LIMIT (16u << 20)

static struct dat_cut_cpu cut_of(const struct session *s, struct dat *d, size_t buffer,
				 uint32_t cpu, size_t stream)
{
	const struct rescue_file *file = &s->trail[0];
	struct dat_cut_cpu cut = {.buffer = (uint32_t)buffer, .cpu = cpu, .after = DAT_CUT_UNKNOWN};
	struct tally had = {0};
	uint64_t taken, left, saved;

	if (buffer >= d->nr_buffers || tally_file(&had, d, buffer, cpu) < 0)
		return cut;
	cut.last = had.last;
	if (stream >= file->nr_base ||
	    !tally_kernel(s->fs, s->setup.buffers[buffer].instance, cpu, &taken, &left))
		return cut;
	saved = had.events + file->base[stream];
	cut.after = taken + left > saved ? taken + left - saved : 0;
	return cut;
}

static int count(const struct session *s, struct dat *d, struct dat_cut *cut)
{
	const size_t cap = s->setup.nr_buffers * s->meta.nr_cpus;

	cut->cpus = calloc(cap + 1, sizeof(*cut->cpus));
	if (!cut->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < s->setup.nr_buffers; i++)
		for (uint32_t k = 0; k < s->meta.nr_cpus && s->setup.buffers[i].instance; k++) {
			cut->cpus[cut->nr] = cut_of(s, d, i, s->meta.cpus[k], cut->nr);
			cut->nr++;
		}
	return 0;
}

void session_mark_cut(struct session *s)
{
	struct dat_cut cut = {.cause = DAT_CUT_UNWRITTEN};
	struct buf text;
	char path[64];
	struct dat *d;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", dat_out_fd(s->out));
	/* Data that wait in other files cannot be counted. */
	if (dat_out_gather(s->out) < 0 || dat_open(path, NULL, &d, NULL) < 0)
		return;
	buf_init(&text, OPTION_LIMIT);
	if (count(s, d, &cut) == 0)
		dat_cut_put(&cut, d->big_endian, &text);
	if (text.len && !buf_full(&text))
		meta_option(&s->meta, DAT_OPT_CUT, text.data, text.len, NULL);
	buf_free(&text);
	free(cut.cpus);
	dat_close(d);
}
