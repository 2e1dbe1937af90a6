// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading bytes, and the end of opening: lists become arrays of the arena. */
#include "dat/load.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"

/* How many of n bytes lie in one piece, and where. */
static size_t find_piece(const struct dat_moved *m, size_t n, uint64_t *offset)
{
	uint64_t piece = n;

	if (*offset < m->at) {
		piece = m->at - *offset;
	} else if (*offset - m->at < m->size) {
		piece = m->size - (*offset - m->at);
		*offset = m->from + (*offset - m->at);
	}
	return piece < n ? (size_t)piece : n;
}

int64_t dat_read(const struct dat *d, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	if (!d->moved.size)
		return file_read_at(d->fd, to, n, offset);
	while (done < n) {
		uint64_t at = offset + done;
		const size_t piece = find_piece(&d->moved, n - done, &at);
		const int64_t got = file_read_at(d->fd, (char *)to + done, piece, at);

		if (got < 0)
			return got;
		done += (size_t)got;
		if ((size_t)got < piece)
			break;
	}
	return (int64_t)done;
}

const char *dat_text(struct dat *d, const void *text, size_t n)
{
	const char *copy = arena_strndup(&d->arena, text, strnlen(text, n));

	return copy ? copy : "";
}

/* The byte behind a blob is in the same block and has been parsed, see load.h. */
static void end_blob(struct dat_blob *b)
{
	if (b->offset)
		((uint8_t *)b->data)[b->size] = 0;
}

static void end_blobs(struct dat *d)
{
	struct dat_blob *const single[] = {&d->header_page, &d->header_event, &d->kallsyms,
					   &d->printk,	    &d->cmdlines,     &d->strings};

	for (size_t i = 0; i < sizeof(single) / sizeof(single[0]); i++)
		end_blob(single[i]);
	for (size_t i = 0; i < d->nr_formats; i++)
		end_blob(&d->formats[i].text);
	for (size_t i = 0; i < d->nr_options; i++)
		end_blob(&d->options[i].data);
}

static bool move(struct dat *d, const void *from, size_t n, size_t size, void *to)
{
	void *copy = arena_array(&d->arena, n, size);

	if (!copy)
		return false;
	if (n)
		memcpy(copy, from, n * size);
	memcpy(to, &copy, sizeof(copy));
	return true;
}

#define MOVE(list, array, count)                                                                   \
	(d->count = l->list.n,                                                                     \
	 move(d, l->list.at, l->list.n, sizeof(*l->list.at), &d->array) || (d->count = 0, false))

int dat_load_finish(struct dat_load *l)
{
	struct dat *d = l->d;
	int rc = dat_buffers_settle(l);

	if (rc)
		return rc;
	dat_sort_tasks(l);
	if (!MOVE(options, options, nr_options) || !MOVE(sections, sections, nr_sections) ||
	    !MOVE(formats, formats, nr_formats) || !MOVE(systems, systems, nr_systems) ||
	    !MOVE(buffers, buffers, nr_buffers) || !MOVE(shifts, time_shifts, nr_time_shifts) ||
	    !MOVE(guests, guests, nr_guests) || !MOVE(processes, processes, nr_processes) ||
	    !MOVE(tasks, tasks, nr_tasks))
		return -ENOMEM;
	dat_find_followed(l);
	end_blobs(d);
	dat_note_cut(d);
	return 0;
}

void dat_load_free(struct dat_load *l)
{
	vec_free(&l->options);
	vec_free(&l->sections);
	vec_free(&l->formats);
	vec_free(&l->systems);
	vec_free(&l->buffers);
	vec_free(&l->shifts);
	vec_free(&l->guests);
	vec_free(&l->processes);
	vec_free(&l->tasks);
}
