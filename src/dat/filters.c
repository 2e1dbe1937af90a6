// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DAT_OPT_FILTERS: which of the scheduler's events went through a filter. It is text:
 *
 *	1\n				the version
 *	BUFFER\tSYSTEM:EVENT\tFILTER\n	any number of them; the top buffer has no name
 *
 * That such an event is not in the file does not mean that it did not happen.
 */
#include <string.h>

#include "dat/load.h"

#define FILTERS_VERSION 1
#define MAX_FILTERS	4096

const char *dat_text_until(struct dat_load *l, struct cursor *c, char end)
{
	const uint8_t *at = cursor_failed(c) ? NULL : memchr(c->pos, end, cursor_left(c));
	const char *text = at ? dat_text(l->d, c->pos, (size_t)(at - c->pos)) : NULL;

	if (at)
		cursor_skip(c, (uint64_t)(at - c->pos) + 1);
	return text;
}

bool dat_decode_filters(struct dat_load *l, const struct dat_option *o, struct cursor *c)
{
	struct dat_filters *f = &l->d->filters;

	f->nr = 0;
	/* Of a later version nothing is known. */
	if (dat_text_number(c, UINT64_MAX, '\n') != FILTERS_VERSION)
		return cursor_left(c) > 0;
	f->at = arena_array(&l->d->arena, MAX_FILTERS, sizeof(*f->at));
	while (f->at && cursor_left(c) > 1) {
		struct dat_filter *to = &f->at[f->nr];

		to->buffer = dat_text_until(l, c, '\t');
		to->event = dat_text_until(l, c, '\t');
		to->text = dat_text_until(l, c, '\n');
		if (!to->buffer || !to->event || !to->text || ++f->nr == MAX_FILTERS)
			return false;
	}
	return f->at != NULL;
}

bool dat_filtered(const struct dat *d, const char *buffer, const char *event)
{
	for (size_t i = 0; i < d->filters.nr; i++)
		if (strcmp(d->filters.at[i].buffer, buffer) == 0 &&
		    strcmp(d->filters.at[i].event, event) == 0)
			return true;
	return false;
}
