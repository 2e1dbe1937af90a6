// SPDX-License-Identifier: LGPL-2.1-or-later
/* Naming the machine and the trace for tables of many traces: see identity.h. */
#include "scan/identity.h"

#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/nanoseconds.h"
#include "scan/lane.h"

/* Two fixed seeds: the number must be the same in every run. */
static const struct hash_seed seeds[2] = {{0x243f6a8885a308d3, 0x13198a2e03707344},
					  {0xa4093822299f31d0, 0x082efa98ec4e6c89}};

struct digest {
	uint64_t h[2];
};

static void digest_bytes(struct digest *d, const void *data, size_t size)
{
	for (int i = 0; i < 2; i++)
		d->h[i] = hash_add(&seeds[i], d->h[i], hash_bytes(&seeds[i], data, size));
}

static void digest_number(struct digest *d, uint64_t n, size_t size)
{
	n = htole64(n);
	digest_bytes(d, &n, size);
}

/* A page as the ring buffer wrote it: the file's compression does not matter. */
static int digest_page(struct digest *d, struct dat_pages *pages, uint64_t number)
{
	struct dat_page page;
	int rc = dat_pages_get(pages, number, &page);

	if (rc > 0)
		digest_bytes(d, page.data, page.size);
	return rc < 0 ? rc : 0;
}

static int digest_cpu(struct digest *d, struct spur_trace *t, const struct trace_buffer *b,
		      const struct dat_cpu *cpu)
{
	struct dat_pages *pages;
	uint64_t bytes = 0;
	int rc;

	if (!cpu->size)
		return 0;
	rc = dat_pages_open(t->dat, b->data, cpu, &pages);
	if (rc < 0)
		return rc;
	rc = dat_pages_bytes(pages, &bytes);
	digest_number(d, cpu->cpu, sizeof(cpu->cpu));
	digest_number(d, bytes, sizeof(bytes));
	if (rc == 0)
		rc = digest_page(d, pages, 0);
	if (rc == 0 && b->data->page_size && bytes > b->data->page_size)
		rc = digest_page(d, pages, bytes / b->data->page_size - 1);
	dat_pages_close(pages);
	return rc;
}

/* A damaged file also gets a number, made of the parts that can be read. */
static void make_number(struct identity *id, struct spur_trace *t)
{
	struct digest d = {{0, 0}};

	digest_bytes(&d, t->dat->uname, strlen(t->dat->uname));
	digest_number(&d, t->dat->trace_id, sizeof(t->dat->trace_id));
	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		digest_bytes(&d, b->data->name, strlen(b->data->name));
		for (uint32_t k = 0; !b->data->text && k < b->data->nr_cpus; k++)
			digest_cpu(&d, t, b, &b->data->cpus[k]);
	}
	snprintf(id->trace_id, sizeof(id->trace_id), "%016" PRIx64 "%016" PRIx64, d.h[0], d.h[1]);
}

const char *identity_word(const char *text, int n, size_t *len)
{
	text += strspn(text, " ");
	for (; n && *text; n--) {
		text += strcspn(text, " ");
		text += strspn(text, " ");
	}
	*len = strcspn(text, " ");
	return text;
}

static void copy_word(const char *text, int n, char *to, size_t cap)
{
	size_t len;

	text = identity_word(text, n, &len);
	snprintf(to, cap, "%.*s", (int)(len < cap ? len : cap - 1), text);
}

/* The text is like "Linux board7 6.1.0 armv7l". A machine without a name is called "(none)". */
static void name_machine(struct identity *id, const struct dat *d)
{
	copy_word(d->uname, 1, id->host, sizeof(id->host));
	copy_word(d->uname, 2, id->kernel, sizeof(id->kernel));
	if (!*id->host || strcmp(id->host, "(none)") == 0)
		snprintf(id->host, sizeof(id->host), "unknown");
}

static void add_lane_times(struct identity *id, struct lane *l)
{
	uint64_t ts, last;

	if (lane_page_time(l, 0, &ts) && ts < id->first)
		id->first = ts;
	last = l->nr_pages;
	while (last && !lane_page_time(l, last - 1, &ts))
		last--;
	if (last && ts > id->last)
		id->last = ts;
}

static int find_times(struct identity *id, const struct spur_trace *t)
{
	int rc = 0;

	id->first = UINT64_MAX;
	for (uint32_t i = 0; rc == 0 && i < t->nr_buffers; i++) {
		const struct trace_buffer *b = &t->buffers[i];

		for (uint32_t k = 0; rc == 0 && !b->data->text && k < b->data->nr_cpus; k++) {
			struct lane l;

			if (!b->data->cpus[k].size)
				continue;
			rc = lane_open(&l, b, &b->data->cpus[k]);
			if (rc == 0) {
				add_lane_times(id, &l);
				lane_close(&l);
			}
		}
	}
	if (id->first == UINT64_MAX)
		id->first = id->last = 0;
	return rc;
}

int identity_make(struct identity *id, struct spur_trace *t, struct spur_error *err)
{
	struct stat st;
	int rc;

	*id = (struct identity){.clock = t->nr_buffers ? t->buffers[0].data->clock : ""};
	id->has_wall = t->dat->has_date && !t->opt.ignore_date && !t->opt.raw_ts;
	name_machine(id, t->dat);
	make_number(id, t);
	rc = find_times(id, t);
	if (rc < 0)
		return error_sys(err, rc, "%s", t->dat->path);
	if (id->has_wall)
		id->date = id->first / NS_PER_S;
	else if (fstat(t->dat->fd, &st) == 0)
		id->date = (uint64_t)st.st_mtime;
	return 0;
}
