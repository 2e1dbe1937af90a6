// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DAT_OPT_HIDDEN: whose events were not recorded, such as those of the recorder itself. It is text:
 *
 *	1\n			the version
 *	BUFFER\tPID\n		any number of them, those of a buffer in a row
 *
 * The kernel leaves out a switch only if both tasks are hidden (set_event_notrace_pid). So a task
 * that is the only hidden one of its buffer has all of its switches there: it is not listed.
 */
#include <stdlib.h>
#include <string.h>

#include "dat/load.h"

#define HIDDEN_VERSION 1
#define MAX_HIDDEN     (1u << 16)

static int by_pid(const void *a, const void *b)
{
	const int32_t x = ((const struct dat_hidden_task *)a)->pid;
	const int32_t y = ((const struct dat_hidden_task *)b)->pid;

	return (x > y) - (x < y);
}

/* The tasks of a buffer begin at `from`. One alone is none. */
static void end_buffer(struct dat_hidden *h, size_t from)
{
	if (h->nr - from == 1)
		h->nr = from;
}

bool dat_decode_hidden(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_hidden *h = &l->d->hidden;
	const size_t most = cursor_left(c) / 3 + 1;
	size_t from = 0;

	*h = (struct dat_hidden){0};
	/* Of a later version nothing is known. */
	if (dat_text_number(c, UINT64_MAX, '\n') != HIDDEN_VERSION)
		return cursor_left(c) > 0;
	h->at = arena_array(&l->d->arena, most < MAX_HIDDEN ? most : MAX_HIDDEN, sizeof(*h->at));
	while (h->at && cursor_left(c) > 1 && h->nr < most && h->nr < MAX_HIDDEN) {
		const char *buffer = dat_text_until(l, c, '\t');
		const int32_t pid = (int32_t)dat_text_number(c, INT32_MAX, '\n');

		if (!buffer || cursor_failed(c)) {
			h->nr = 0;
			return false;
		}
		if (h->nr > from && strcmp(h->at[from].buffer, buffer) != 0) {
			end_buffer(h, from);
			from = h->nr;
		}
		h->at[h->nr++] = (struct dat_hidden_task){buffer, pid};
	}
	end_buffer(h, from);
	if (h->nr)
		qsort(h->at, h->nr, sizeof(*h->at), by_pid);
	for (size_t i = 0; i < h->nr; i++)
		h->bits |= dat_pid_bit(h->at[i].pid);
	return h->at != NULL;
}

bool dat_hides_slow(const struct dat *d, const char *buffer, int32_t pid)
{
	const struct dat_hidden *h = &d->hidden;
	size_t lo = 0, hi = h->nr;

	while (lo < hi) {
		const size_t mid = lo + (hi - lo) / 2;

		if (h->at[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < h->nr && h->at[lo].pid == pid; lo++)
		if (strcmp(h->at[lo].buffer, buffer) == 0)
			return true;
	return false;
}
