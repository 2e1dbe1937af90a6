// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What did not get through: records that the ring buffer had no room for, entries that maps had
 * none for.
 */
#include <stdio.h>
#include <string.h>

#include "code/ring.h"
#include "code/umap.h"
#include "script/run_live.h"
#include "script/unwind.h"

#define NOTE_CAP 512

#define LOST   "%llu events of %s were lost: a larger buffer (perf_rb_pages) would help"
#define STACKS "%llu stacks of %s were lost: there is no room for so many different ones"
#define CUT_OFF                                                                                    \
	"%llu hits of %s were cut off: their loops had more rounds than a program is given "       \
	"(max_loop_rounds)"
#define FULL                                                                                       \
	"Map full; can't update element: %llu updates of @%s were lost, more entries "             \
	"(max_map_keys) would help"

#define NO_MEMORY "%llu updates of @%s were lost: the kernel had no memory for them at that moment"

static int take_counts(void *arg, const void *key, const uint8_t *values, size_t nr, size_t stride)
{
	buf_put(arg, values, stride);
	return 0;
}

/* Numbers of an internal map, one for each probe or map; how many there are. */
static size_t read_counts(struct script *s, int map, struct buf *to)
{
	struct live_run *r = s->live;
	const uint32_t key = 0;

	buf_reset(to);
	if (map < 0)
		return 0;
	if (!r || !r->kernel) {
		const void *own = umap_lookup((struct umap *)s->maps[map], &key);

		if (own)
			buf_put(to, own, s->unit.maps.at[map]->value_size);
	} else if (kmap_read_one(&r->maps.at[map], &key, take_counts, to, NULL) < 0) {
		return 0;
	}
	return to->len / 8;
}

static uint64_t count_at(const struct buf *counts, size_t i)
{
	uint64_t n;

	memcpy(&n, counts->data + i * 8, 8);
	return n;
}

static void note(struct script *s, const char *fmt, uint64_t n, const char *name)
{
	char text[NOTE_CAP];

	snprintf(text, sizeof(text), fmt, (unsigned long long)n, name);
	if (s->opt.note)
		s->opt.note(s->opt.arg, text);
}

void run_losses(struct script *s)
{
	const struct live_run *r = s->live; /* NULL: a recording */
	const uint64_t packets = r && r->packets ? ring_lost(r->packets) : 0;
	uint64_t sum = r && r->ring ? ring_lost(r->ring) : 0;
	struct buf counts;
	size_t n;

	if (s->unwinder && unwind_is_full(s->unwinder))
		note(s,
		     "%llu rows are not enough for all files that dw_ustack() has met: some stacks "
		     "are short%s",
		     UNWIND_ROWS, "");
	if (s->left_out)
		note(s, "%llu commands of %s were still to be run and are left out", s->left_out,
		     "system() and cat()");
	if (packets)
		note(s, LOST, packets, "skboutput()");
	sum += packets;
	buf_init(&counts, 1u << 20);
	n = read_counts(s, s->unit.lost, &counts);
	for (size_t i = 0; i < n && i < s->unit.probes.n; i++)
		if (count_at(&counts, i)) {
			sum += count_at(&counts, i);
			note(s, LOST, count_at(&counts, i), s->unit.probes.at[i].target->name);
		}
	n = read_counts(s, s->unit.stacks_lost, &counts);
	for (size_t i = 0; i < n && i < s->unit.probes.n; i++)
		if (count_at(&counts, i))
			note(s, STACKS, count_at(&counts, i), s->unit.probes.at[i].target->name);
	n = read_counts(s, s->unit.cut_off, &counts);
	for (size_t i = 0; i < n && i < s->unit.probes.n; i++)
		if (count_at(&counts, i))
			note(s, CUT_OFF, count_at(&counts, i), s->unit.probes.at[i].target->name);
	n = read_counts(s, s->unit.full, &counts);
	for (size_t i = 0; i < n && i / FULL_REASONS < s->unit.maps.n; i++)
		if (count_at(&counts, i))
			note(s, i % FULL_REASONS == FULL_ENTRIES ? FULL : NO_MEMORY,
			     count_at(&counts, i), s->unit.maps.at[i / FULL_REASONS]->name);
	buf_free(&counts);
	if (sum)
		output_lost(&s->out, sum);
}
