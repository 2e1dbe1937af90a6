// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/tally.h"

#include "record/meta_parts.h"
#include "ring/ring.h"

void tally_page(struct tally *t, const struct ring_layout *layout, const void *data, size_t size)
{
	struct ring_page p;
	struct ring_event e;

	if (ring_page_open(&p, layout, data, size) < 0)
		return;
	while (ring_page_next(&p, &e)) {
		t->events++;
		t->last = e.ts;
	}
}

int tally_file(struct tally *t, struct dat *d, size_t buffer, uint32_t cpu)
{
	const struct dat_buffer *b = &d->buffers[buffer];
	struct dat_pages *pages;
	struct dat_page page;
	uint32_t k = 0;
	int rc;

	while (k < b->nr_cpus && b->cpus[k].cpu != cpu)
		k++;
	if (k == b->nr_cpus || !b->cpus[k].size)
		return 0;
	rc = dat_pages_open(d, b, &b->cpus[k], &pages);
	if (rc < 0)
		return rc;
	for (uint64_t i = 0; (rc = dat_pages_get(pages, i, &page)) > 0; i++)
		tally_page(t, &b->layout, page.data, page.size);
	dat_pages_close(pages);
	return rc;
}

bool tally_kernel(const struct tracefs *fs, const char *instance, uint32_t cpu, uint64_t *taken,
		  uint64_t *left)
{
	return meta_stat(fs, instance, cpu, "\nread events: ", taken) &&
	       meta_stat(fs, instance, cpu, "entries: ", left);
}
