// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copying trace data, CPU after CPU.
 *
 * The CPUs of contents are in the order of their numbers, those of an open file in the order in
 * which it lists them; a damaged one may list a CPU twice, whose data then follow each other.
 */
#include "dat/copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dat/dat.h"
#include "dat/write.h"
#include "ring/encode.h"

#define BATCH	       (256u << 10)
#define PROGRESS_PAGES 64 /* between two looks at the clock, which is what showing progress is */

/* ---- sinks ----------------------------------------------------------------------------- */

int dat_sink_open(struct dat_sink *s, struct dat_out *out, size_t buffer, uint32_t cpu,
		  uint32_t page_size)
{
	size_t cap = page_size > BATCH ? page_size : BATCH / page_size * page_size;

	*s = (struct dat_sink){
		.out = out, .buffer = buffer, .cpu = cpu, .page_size = page_size, .cap = cap};
	s->pages = malloc(cap);
	return s->pages ? 0 : -ENOMEM;
}

static int flush(struct dat_sink *s)
{
	const size_t n = s->len / s->page_size;
	int rc = n ? dat_out_pages(s->out, s->buffer, s->cpu, s->pages, n) : 0;

	s->len = 0;
	return rc;
}

uint8_t *dat_sink_page(struct dat_sink *s, int *rc)
{
	*rc = s->len == s->cap ? flush(s) : 0;
	if (*rc < 0)
		return NULL;
	s->len += s->page_size;
	return s->pages + s->len - s->page_size;
}

void dat_sink_unpage(struct dat_sink *s)
{
	s->len -= s->page_size;
}

int dat_sink_close(struct dat_sink *s, int rc)
{
	if (rc >= 0)
		rc = flush(s);
	free(s->pages);
	s->pages = NULL;
	return rc;
}

/* ---- all data of a file ---------------------------------------------------------------- */

struct copy {
	struct dat *from;
	struct dat_out *to;
	enum dat_copy_how how;
	const struct dat_job *job;
	uint64_t done, total; /* pages */
};

/* A CPU's data in the order they are to be written. */
struct part {
	const struct dat_cpu *cpu;
	uint32_t order;
};

static int by_number(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->cpu->cpu != y->cpu->cpu)
		return x->cpu->cpu < y->cpu->cpu ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int watch(struct copy *c)
{
	const struct dat_job *job = c->job;

	if (job->stop && *job->stop)
		return -EINTR;
	if (job->progress && c->done % PROGRESS_PAGES == 0)
		job->progress(job->arg, c->done, c->total);
	c->done++;
	return 0;
}

static int copy_page(struct copy *c, const struct dat_buffer *b, const struct dat_page *page,
		     struct dat_sink *sink)
{
	int rc;
	uint8_t *to = dat_sink_page(sink, &rc);

	if (!to)
		return rc;
	memcpy(to, page->data, page->size);
	if (c->how == DAT_COPY_EXACT && page->size == b->page_size)
		return 0;
	if (ring_mend(&b->layout, to, page->size) < 0)
		dat_sink_unpage(sink);
	return 0;
}

static int copy_pages(struct copy *c, const struct dat_buffer *b, struct dat_pages *pages,
		      struct dat_sink *sink)
{
	const uint64_t most = dat_pages_estimate(pages), before = c->done;
	struct dat_page page;

	for (uint64_t i = 0;; i++) {
		int rc = watch(c), got;

		if (rc < 0)
			return rc;
		got = dat_pages_get(pages, i, &page);
		/* What cannot be read has been noted; there may be more behind it. */
		if (got < 0 && i < most)
			continue;
		if (got <= 0)
			break;
		rc = copy_page(c, b, &page, sink);
		if (rc < 0)
			return rc;
	}
	c->done = before + most;
	return 0;
}

static int copy_cpu(struct copy *c, const struct dat_buffer *b, const struct dat_cpu *cpu,
		    struct dat_sink *sink)
{
	struct dat_pages *pages;
	int rc = cpu->size ? dat_pages_open(c->from, b, cpu, &pages) : -EBADMSG;

	/* Data that cannot be read at all have been noted as damage. */
	if (rc == -EBADMSG)
		return 0;
	if (rc < 0)
		return rc;
	rc = copy_pages(c, b, pages, sink);
	dat_pages_close(pages);
	return rc;
}

static int copy_buffer(struct copy *c, const struct dat_out_buffer *out, size_t index)
{
	const struct dat_buffer *b = &c->from->buffers[index];
	struct part *parts;
	uint32_t at = 0;
	int rc;

	/* Pages of a size that cannot be are none; that has been noted when the file was opened. */
	if (!b->page_size)
		return 0;
	parts = calloc((size_t)b->nr_cpus + 1, sizeof(*parts));
	rc = parts ? 0 : -ENOMEM;
	for (uint32_t i = 0; rc == 0 && i < b->nr_cpus; i++)
		parts[i] = (struct part){&b->cpus[i], i};
	if (rc == 0)
		qsort(parts, b->nr_cpus, sizeof(*parts), by_number);
	for (uint32_t i = 0; rc == 0 && i < out->nr_cpus; i++) {
		struct dat_sink sink;

		rc = dat_sink_open(&sink, c->to, index, i, b->page_size);
		for (; rc == 0 && at < b->nr_cpus && parts[at].cpu->cpu <= out->cpus[i]; at++)
			if (parts[at].cpu->cpu == out->cpus[i])
				rc = copy_cpu(c, b, parts[at].cpu, &sink);
		rc = dat_sink_close(&sink, rc);
	}
	free(parts);
	return rc;
}

/* How many pages there are, roughly. */
static uint64_t count_pages(struct dat *d)
{
	uint64_t total = 0;

	for (size_t i = 0; i < d->nr_buffers; i++)
		for (uint32_t k = 0; k < d->buffers[i].nr_cpus; k++) {
			const struct dat_cpu *cpu = &d->buffers[i].cpus[k];
			struct dat_pages *pages;

			if (!cpu->size || dat_pages_open(d, &d->buffers[i], cpu, &pages) < 0)
				continue;
			total += dat_pages_estimate(pages);
			dat_pages_close(pages);
		}
	return total;
}

int dat_copy_data(struct dat *from, const struct dat_contents *contents, struct dat_out *to,
		  enum dat_copy_how how, const struct dat_job *job, struct spur_error *err)
{
	const struct dat_job alone = {0};
	struct copy c = {.from = from, .to = to, .how = how, .job = job ? job : &alone};
	int rc = 0;

	if (c.job->progress)
		c.total = count_pages(from);
	for (size_t i = 0; rc == 0 && i < contents->nr_buffers && i < from->nr_buffers; i++)
		if (!contents->buffers[i].is_text)
			rc = copy_buffer(&c, &contents->buffers[i], i);
	return rc < 0 ? error_sys(err, rc, "the trace data cannot be written") : 0;
}
