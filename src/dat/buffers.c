// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Buffers: where the trace data of each CPU lie.
 *
 * When a buffer has been settled, [offset, offset + size) of each CPU lies inside the file, no two
 * of them overlap in the whole file (so that reading all of them reads no byte twice), and
 * page_size is usable or 0.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "dat/chunks.h"
#include "dat/load.h"

struct dat_buffer *dat_buffer_add(struct dat_load *l, const char *name, uint64_t offset)
{
	struct dat_buffer *b = l->buffers.n < DAT_MAX_BUFFERS ? vec_push(&l->buffers) : NULL;

	if (!b)
		return NULL;
	b->name = dat_text(l->d, name, strlen(name));
	b->clock = b->clock_text = "";
	b->offset = offset;
	return b;
}

bool dat_buffer_cpus(struct dat_load *l, struct dat_buffer *b, uint64_t n)
{
	if (n > DAT_MAX_CPUS || n > DAT_MAX_ALL_CPUS - l->nr_all_cpus)
		return false;
	b->cpus = arena_array(&l->d->arena, n, sizeof(*b->cpus));
	if (!b->cpus)
		return false;
	b->nr_cpus = (uint32_t)n;
	l->nr_all_cpus += n;
	return true;
}

static void settle_layout(struct dat_load *l, struct dat_buffer *b)
{
	struct dat *d = l->d;
	uint32_t size = b->page_size;

	if (d->version < 7 || b->text || b->recovered)
		size = d->page_size;
	if (!ring_page_size_ok(size) && !b->text) {
		dat_note_damage(d, -EBADMSG, b->offset, "pages of %u bytes cannot be", size);
		size = ring_page_size_ok(d->page_size) ? d->page_size : 0;
	}
	b->page_size = size;
	b->layout = ring_layout_default(d->big_endian, d->long_size, size);
	ring_layout_parse(&b->layout, (const char *)d->header_page.data, d->header_page.size);
}

/* CPUs of numbers that cannot be would cost memory wherever an array is indexed by CPU. */
static void drop_impossible(struct dat *d, struct dat_buffer *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->nr_cpus; i++) {
		if (b->cpus[i].cpu < DAT_MAX_CPUS)
			b->cpus[kept++] = b->cpus[i];
		else
			dat_note_damage(d, -EBADMSG, b->offset,
					"buffer \"%.40s\" has a CPU of number %u", b->name,
					b->cpus[i].cpu);
	}
	b->nr_cpus = kept;
}

static void clip_to_file(struct dat *d, struct dat_cpu *cpu)
{
	uint64_t have = cpu->offset < d->file_size ? d->file_size - cpu->offset : 0;

	cpu->size = cpu->claimed_size;
	if (cpu->size <= have)
		return;
	cpu->size = have;
	dat_note_damage(d, -ENODATA, cpu->offset,
			"cut off: %llu of %llu bytes of CPU %u's data are missing",
			(unsigned long long)(cpu->claimed_size - have),
			(unsigned long long)cpu->claimed_size, cpu->cpu);
}

/* A region of the file that holds trace data. */
struct region {
	struct dat_cpu *cpu;
	size_t order; /* in which they were found */
};

static int by_offset(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->cpu->offset != y->cpu->offset)
		return x->cpu->offset < y->cpu->offset ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Where regions overlap the one that starts later is right, of two at one place the first. */
static void separate(struct dat *d, struct region *r, size_t n)
{
	struct dat_cpu *before = NULL;

	qsort(r, n, sizeof(*r), by_offset);
	for (size_t i = 0; i < n; i++) {
		struct dat_cpu *cpu = r[i].cpu;

		if (before && cpu->offset - before->offset < before->size) {
			dat_note_damage(d, -EBADMSG, cpu->offset,
					"the data of CPU %u and CPU %u overlap", before->cpu,
					cpu->cpu);
			if (cpu->offset == before->offset) {
				cpu->size = 0;
				continue;
			}
			before->size = cpu->offset - before->offset;
		}
		before = cpu;
	}
}

static int separate_all(struct dat_load *l)
{
	struct region *r = calloc(l->nr_all_cpus + l->buffers.n + 1, sizeof(*r));
	size_t n = 0;

	if (!r)
		return -ENOMEM;
	vec_each (b, &l->buffers) {
		for (uint32_t i = 0; i < b->nr_cpus; i++)
			if (b->cpus[i].size) {
				r[n].cpu = &b->cpus[i];
				r[n].order = n;
				n++;
			}
		if (b->stored_text.size) {
			r[n].cpu = &b->stored_text;
			r[n].order = n;
			n++;
		}
	}
	separate(l->d, r, n);
	free(r);
	return 0;
}

static int index_chunks(struct dat *d, struct dat_buffer *b)
{
	if (!b->compressed)
		return 0;
	for (uint32_t i = 0; i < b->nr_cpus; i++) {
		b->cpus[i].chunks = dat_chunks_new(&d->arena);
		if (!b->cpus[i].chunks)
			return -ENOMEM;
	}
	b->stored_text.chunks = dat_chunks_new(&d->arena);
	return b->stored_text.chunks ? 0 : -ENOMEM;
}

static void put_top_first(struct dat_load *l)
{
	for (size_t i = 1; i < l->buffers.n; i++) {
		struct dat_buffer top = l->buffers.at[i];

		if (*top.name || !*l->buffers.at[0].name)
			continue;
		memmove(l->buffers.at + 1, l->buffers.at, i * sizeof(top));
		l->buffers.at[0] = top;
		return;
	}
}

int dat_buffers_settle(struct dat_load *l)
{
	struct dat *d = l->d;
	int rc;

	vec_each (b, &l->buffers) {
		settle_layout(l, b);
		drop_impossible(d, b);
		for (uint32_t i = 0; i < b->nr_cpus; i++) {
			clip_to_file(d, &b->cpus[i]);
			if (b->cpus[i].cpu >= d->nr_cpus)
				d->nr_cpus = b->cpus[i].cpu + 1;
		}
		clip_to_file(d, &b->stored_text);
		rc = index_chunks(d, b);
		if (rc)
			return rc;
	}
	put_top_first(l);
	return separate_all(l);
}
