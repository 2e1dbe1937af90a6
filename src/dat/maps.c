// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PROCMAPS: where the libraries of traced processes lay. It is text, one paragraph a process:
 *
 *	PID COUNT NAME\n		both numbers in hexadecimal
 *	START END PATH\n		COUNT lines
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "dat/load.h"

#define MAX_MAPS 65536u /* of one process */

/* A hexadecimal number and the space behind it. */
static uint64_t take_hex(struct cursor *c)
{
	uint64_t v = 0;
	bool any = false;

	for (;;) {
		const uint8_t byte = cursor_u8(c);
		const uint8_t low = byte | 0x20;

		if (byte >= '0' && byte <= '9')
			v = v << 4 | (uint64_t)(byte - '0');
		else if (low >= 'a' && low <= 'f')
			v = v << 4 | (uint64_t)(low - 'a' + 10);
		else if (byte == ' ' && any)
			return v;
		else
			c->failed = true;
		if (cursor_failed(c))
			return 0;
		any = true;
	}
}

/* The rest of the line as a string of the file's arena; NULL and failed when it has no end. */
static const char *take_rest(struct dat *d, struct cursor *c)
{
	const uint8_t *start = c->pos, *end = memchr(start, '\n', cursor_left(c));

	if (cursor_failed(c) || !end) {
		c->failed = true;
		return NULL;
	}
	cursor_skip(c, (uint64_t)(end - start) + 1);
	return dat_text(d, start, (size_t)(end - start));
}

static int by_start(const void *a, const void *b)
{
	const struct dat_map *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool take_process(struct dat_load *l, struct cursor *c, struct dat_process *p)
{
	uint64_t count;

	p->pid = (int32_t)take_hex(c);
	count = take_hex(c);
	p->name = take_rest(l->d, c);
	if (!p->name || count > MAX_MAPS || count > cursor_left(c))
		return false;
	p->maps = arena_array(&l->d->arena, count + 1, sizeof(*p->maps));
	if (!p->maps)
		return false;
	for (; p->nr < count; p->nr++) {
		struct dat_map *m = &p->maps[p->nr];

		m->start = take_hex(c);
		m->end = take_hex(c);
		m->path = take_rest(l->d, c);
		if (!m->path)
			return false;
	}
	qsort(p->maps, p->nr, sizeof(*p->maps), by_start);
	return true;
}

bool dat_decode_maps(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	while (cursor_left(c) && *c->pos) {
		struct dat_process p = {0}, *slot;

		if (!take_process(l, c, &p))
			return false;
		slot = vec_push(&l->processes);
		if (!slot)
			return false;
		*slot = p;
	}
	return true;
}

/* Where the file that a map belongs to begins: its segments follow each other. */
static uint64_t file_start(const struct dat_process *p, uint32_t at)
{
	while (at && strcmp(p->maps[at - 1].path, p->maps[at].path) == 0)
		at--;
	return p->maps[at].start;
}

const char *dat_map_find(const struct dat *d, int32_t pid, uint64_t addr, uint64_t *start)
{
	for (size_t i = 0; i < d->nr_processes; i++) {
		const struct dat_process *p = &d->processes[i];

		for (uint32_t k = 0; p->pid == pid && k < p->nr; k++) {
			if (addr < p->maps[k].start || addr >= p->maps[k].end)
				continue;
			*start = file_start(p, k);
			return p->maps[k].path;
		}
	}
	return NULL;
}
