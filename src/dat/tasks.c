// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DAT_OPT_TASKS: names, processes and parents of tasks, and when they changed. It is text:
 *
 *	1 LOST\n				the version; how many changes were lost
 *	KIND PID TGID PPID TIME NAME\n		any number of them
 *
 *	KIND	s   it existed before the first change that is listed; its time means nothing
 *		n   it was created
 *		c   its name or its process changed
 *	TGID	its process; 0: not known
 *	PPID	the process that created it, or its parent when the recording began; 0: not known
 *	TIME	of the clock of the first buffer that has pages, as the ring buffer has it
 *	NAME	the rest of the line; it may be empty and may contain blanks
 *
 * An entry holds until the next one of the same PID. Tools that do not know the option skip it.
 * Of several options the last one holds: it was written later.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "dat/load.h"

#define TASKS_VERSION 1
#define MAX_TASKS     (1u << 22)

uint64_t dat_text_number(struct cursor *c, uint64_t most, char end)
{
	uint64_t v = 0;
	bool any = false;

	for (;;) {
		const uint8_t byte = cursor_u8(c);

		if (any && byte == (uint8_t)end && !cursor_failed(c))
			return v;
		if (byte < '0' || byte > '9' || __builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(byte - '0'), &v) || v > most)
			c->failed = true;
		if (cursor_failed(c))
			return 0;
		any = true;
	}
}

static bool take_kind(struct cursor *c, enum dat_task_kind *kind)
{
	static const char letters[] = {
		[DAT_TASK_THERE] = 's', [DAT_TASK_NEW] = 'n', [DAT_TASK_CHANGED] = 'c'};
	const uint8_t letter = cursor_u8(c);

	for (size_t i = 0; i < sizeof(letters); i++)
		if (letter == (uint8_t)letters[i] && cursor_u8(c) == ' ') {
			*kind = (enum dat_task_kind)i;
			return !cursor_failed(c);
		}
	return false;
}

static bool take_task(struct dat_load *l, struct cursor *c, struct dat_task *t)
{
	const uint8_t *end;

	if (!take_kind(c, &t->kind))
		return false;
	t->pid = (int32_t)dat_text_number(c, INT32_MAX, ' ');
	t->tgid = (int32_t)dat_text_number(c, INT32_MAX, ' ');
	t->ppid = (int32_t)dat_text_number(c, INT32_MAX, ' ');
	t->ts = dat_text_number(c, UINT64_MAX, ' ');
	end = cursor_failed(c) ? NULL : memchr(c->pos, '\n', cursor_left(c));
	if (!end || !t->pid)
		return false;
	t->name = dat_text(l->d, c->pos, (size_t)(end - c->pos));
	cursor_skip(c, (uint64_t)(end - c->pos) + 1);
	return true;
}

bool dat_decode_tasks(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	l->tasks.n = 0;
	if (dat_text_number(c, UINT64_MAX, ' ') != TASKS_VERSION)
		return cursor_left(c) > 0; /* of a later version: nothing is known of it */
	l->d->tasks_lost = dat_text_number(c, UINT64_MAX, '\n');
	while (cursor_left(c)) {
		struct dat_task t = {0}, *slot;

		if (!take_task(l, c, &t) || l->tasks.n >= MAX_TASKS)
			return false;
		slot = vec_push(&l->tasks);
		if (!slot)
			return false;
		*slot = t;
		slot->order = (uint32_t)l->tasks.n;
	}
	return !cursor_failed(c);
}

static int by_pid(const void *a, const void *b)
{
	const struct dat_task *x = a, *y = b;
	const bool x_later = x->kind != DAT_TASK_THERE, y_later = y->kind != DAT_TASK_THERE;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x_later != y_later)
		return x_later - y_later;
	if (x_later && x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

void dat_sort_tasks(struct dat_load *l)
{
	if (l->tasks.n)
		qsort(l->tasks.at, l->tasks.n, sizeof(*l->tasks.at), by_pid);
}

const struct dat_task *dat_task_find(const struct dat *d, int32_t pid, size_t *n)
{
	size_t low = 0, high = d->nr_tasks, first;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (d->tasks[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	for (first = low; low < d->nr_tasks && d->tasks[low].pid == pid; low++)
		;
	*n = low - first;
	return low > first ? &d->tasks[first] : NULL;
}
