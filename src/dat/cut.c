// SPDX-License-Identifier: LGPL-2.1-or-later
/* DAT_OPT_CUT: writing and reading it, and what it says in words. */
#include "dat/cut.h"

#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "base/nanoseconds.h"
#include "dat/load.h"

#define CUT_VERSION 1
#define CUT_EACH    32 /* bytes of a stream */

void dat_cut_put(const struct dat_cut *cut, bool big_endian, struct buf *to)
{
	buf_uint(to, CUT_VERSION, 4, big_endian);
	buf_uint(to, cut->nr, 4, big_endian);
	for (uint32_t i = 0; i < cut->nr; i++) {
		const struct dat_cut_cpu *c = &cut->cpus[i];

		buf_uint(to, c->buffer, 4, big_endian);
		buf_uint(to, c->cpu, 4, big_endian);
		buf_uint(to, c->last, 8, big_endian);
		buf_uint(to, c->between, 8, big_endian);
		buf_uint(to, c->after, 8, big_endian);
	}
	buf_uint(to, cut->cause, 4, big_endian);
}

const char *dat_cut_why(const struct dat_cut *cut)
{
	return cut->cause == DAT_CUT_UNWRITTEN ? "the file could not be written further"
					       : "the recorder was killed";
}

bool dat_decode_cut(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_cut *cut = &l->d->cut;
	uint32_t version = cursor_u32(c), nr = cursor_u32(c);

	if (cursor_failed(c) || version != CUT_VERSION || nr > cursor_left(c) / CUT_EACH)
		return false;
	cut->cpus = arena_array(&l->d->arena, (size_t)nr + 1, sizeof(*cut->cpus));
	if (!cut->cpus)
		return false;
	cut->is = true;
	cut->nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		cut->cpus[i] = (struct dat_cut_cpu){
			.buffer = cursor_u32(c),
			.cpu = cursor_u32(c),
			.last = cursor_u64(c),
			.between = cursor_u64(c),
			.after = cursor_u64(c),
		};
	if (cursor_left(c) >= sizeof(uint32_t) && cursor_u32(c) == DAT_CUT_UNWRITTEN)
		cut->cause = DAT_CUT_UNWRITTEN;
	return true;
}

uint64_t dat_cut_end(const struct dat_cut *cut)
{
	uint64_t end = 0;

	for (uint32_t i = 0; i < cut->nr; i++)
		end = cut->cpus[i].last > end ? cut->cpus[i].last : end;
	return end;
}

bool dat_cut_missing(const struct dat_cut *cut, uint64_t *missing)
{
	bool known = true;

	*missing = 0;
	for (uint32_t i = 0; i < cut->nr; i++) {
		const uint64_t parts[] = {cut->cpus[i].between, cut->cpus[i].after};

		for (int k = 0; k < 2; k++)
			if (parts[k] == DAT_CUT_UNKNOWN ||
			    __builtin_add_overflow(*missing, parts[k], missing))
				known = false;
	}
	return known;
}

bool dat_cut_lacks_end(const struct dat *d, const struct dat_buffer *b, uint32_t cpu)
{
	for (uint32_t i = 0; i < d->cut.nr; i++) {
		const struct dat_cut_cpu *c = &d->cut.cpus[i];

		if (c->cpu == cpu && c->buffer < d->nr_buffers && &d->buffers[c->buffer] == b)
			return c->after != 0;
	}
	return false;
}

static bool counts_nanoseconds(const struct dat *d)
{
	static const char *const others[] = {"counter", "uptime", "x86-tsc", "ppc-tb"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (strcmp(d->clock, others[i]) == 0)
			return d->tsc2nsec.valid;
	return true;
}

const char *dat_cut_time(const struct dat *d, uint64_t ts, char *text, size_t cap)
{
	if (!counts_nanoseconds(d)) {
		snprintf(text, cap, "%llu", (unsigned long long)ts);
		return text;
	}
	if (d->tsc2nsec.valid)
		ts = (uint64_t)(((unsigned __int128)ts * d->tsc2nsec.mult) >> d->tsc2nsec.shift) +
		     d->tsc2nsec.offset;
	ts += (uint64_t)d->date_offset + (uint64_t)d->ts_offset;
	snprintf(text, cap, "%llu.%06llu", ts / NS_PER_S, ts % NS_PER_S / NS_PER_US);
	return text;
}

void dat_note_cut(struct dat *d)
{
	char when[48], what[64];
	uint64_t missing;
	bool known;

	if (!d->cut.is)
		return;
	known = dat_cut_missing(&d->cut, &missing);
	if (known && missing)
		snprintf(what, sizeof(what), "%llu events are missing",
			 (unsigned long long)missing);
	else
		snprintf(what, sizeof(what), "%s",
			 known ? "no events are missing" : "events may be missing");
	if (dat_cut_end(&d->cut))
		dat_note_damage(d, -ENODATA, DAT_NOWHERE, "%s: the recording ends at %s, %s",
				dat_cut_why(&d->cut),
				dat_cut_time(d, dat_cut_end(&d->cut), when, sizeof(when)), what);
	else
		dat_note_damage(d, -ENODATA, DAT_NOWHERE, "%s: %s, %s", dat_cut_why(&d->cut),
				known ? "the recording has no events"
				      : "the recording ends before its time",
				what);
}
