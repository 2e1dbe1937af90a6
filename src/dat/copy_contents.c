// SPDX-License-Identifier: GPL-2.0-or-later
/* Contents of files that are not what they should be. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dat/copy.h"
#include "dat/dat.h"
#include "dat/write.h"

#define USUAL_PAGE 4096

static int by_number(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int sort_cpus(struct dat *d, struct dat_out_buffer *b)
{
	uint32_t *cpus = arena_array(&d->arena, (size_t)b->nr_cpus + 1, sizeof(*cpus)), kept = 0;

	if (!cpus)
		return -ENOMEM;
	if (b->nr_cpus)
		memcpy(cpus, b->cpus, b->nr_cpus * sizeof(*cpus));
	qsort(cpus, b->nr_cpus, sizeof(*cpus), by_number);
	for (uint32_t i = 0; i < b->nr_cpus; i++)
		if (!kept || cpus[i] != cpus[kept - 1])
			cpus[kept++] = cpus[i];
	b->cpus = cpus;
	b->nr_cpus = kept;
	return 0;
}

/* Only the first buffer can be text, and only one can be the top one. */
static int tidy_buffer(struct dat *d, struct dat_out_buffer *b, size_t index)
{
	if (b->is_text && index) {
		dat_note_damage(d, -EBADMSG, d->buffers[index].offset,
				"the text of buffer \"%.40s\" is left out", b->name);
		b->is_text = false;
		b->nr_cpus = 0;
	}
	if (!ring_page_size_ok(b->page_size))
		b->page_size = ring_page_size_ok(d->page_size) ? d->page_size : USUAL_PAGE;
	if (index && !*b->name) {
		char name[32];

		snprintf(name, sizeof(name), "buffer-%zu", index);
		b->name = arena_strdup(&d->arena, name);
	}
	return b->name ? sort_cpus(d, b) : -ENOMEM;
}

int dat_copy_contents(struct dat *from, struct dat_contents *c, struct spur_error *err)
{
	struct dat_out_buffer *buffers;
	int rc = dat_contents_of(from, c, err);

	if (rc < 0)
		return rc;
	buffers = arena_array(&from->arena, c->nr_buffers + 1, sizeof(*buffers));
	if (!buffers)
		return error_sys(err, -ENOMEM, "%s", from->path);
	for (size_t i = 0; rc == 0 && i < c->nr_buffers; i++) {
		buffers[i] = c->buffers[i];
		rc = tidy_buffer(from, &buffers[i], i);
	}
	c->buffers = buffers;
	return rc < 0 ? error_sys(err, rc, "%s", from->path) : 0;
}
