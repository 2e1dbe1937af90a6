// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/meta.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/meta_parts.h"

#define META_LIMIT (512u << 20)
#define PATH_CAP   512

int meta_no_memory(struct spur_error *err)
{
	return error_set(err, -ENOMEM, "out of memory for what describes the trace");
}

int meta_read(struct meta *m, const char *instance, const char *file, struct dat_span *to,
	      struct spur_error *err)
{
	char path[PATH_CAP];

	if (!tracefs_path(m->fs, instance, file, path, sizeof(path)))
		return error_sys(err, -ENAMETOOLONG, "%s", file);
	return dat_tracing_path(m->into, path, to, err);
}

/* ---- CPUs and buffers ---- */

static int find_cpus(struct meta *m, const struct dat_tracing *t, struct spur_error *err)
{
	int rc = dat_tracing_cpus(t, &m->cpus, &m->nr_cpus, err);

	if (rc == 0 && !m->nr_cpus)
		rc = error_set(err, -ENODEV, "the kernel has no ring buffer of any CPU");
	return rc;
}

static int describe_buffer(struct meta *m, const struct setup_buffer *sb, struct dat_out_buffer *b,
			   struct spur_error *err)
{
	const char *instance = sb->instance ? sb->instance : "";
	char clock[64];
	int64_t kb;
	int rc = tracefs_read_choice(m->fs, instance, "trace_clock", clock, sizeof(clock), err);

	if (rc < 0)
		return rc;
	b->name = sb->name;
	b->clock = arena_strdup(&m->arena, clock);
	b->cpus = m->cpus;
	b->nr_cpus = m->nr_cpus;
	b->page_size = m->contents.page_size;
	if (tracefs_read_number(m->fs, instance, "buffer_subbuf_size_kb", &kb, NULL) == 0 &&
	    kb > 0 && kb <= 1 << 20)
		b->page_size = (uint32_t)kb << 10;
	return b->clock ? 0 : meta_no_memory(err);
}

static int describe_buffers(struct meta *m, struct spur_error *err)
{
	struct dat_out_buffer *buffers =
		arena_array(&m->arena, m->setup->nr_buffers, sizeof(*buffers));

	if (!buffers)
		return meta_no_memory(err);
	for (size_t i = 0; i < m->setup->nr_buffers; i++) {
		int rc = describe_buffer(m, &m->setup->buffers[i], &buffers[i], err);

		if (rc < 0)
			return rc;
	}
	m->contents.buffers = buffers;
	m->contents.nr_buffers = m->setup->nr_buffers;
	/* The page size of the file is that of its first buffer: other programs go by it. */
	m->contents.page_size = buffers[0].page_size;
	return 0;
}

/* ---- all of it ---- */

int meta_option(struct meta *m, uint16_t id, const void *data, size_t size, struct spur_error *err)
{
	struct dat_out_option *o = vec_push(&m->options);
	void *copy = arena_alloc(m->into, size ? size : 1);

	if (!o || !copy)
		return meta_no_memory(err);
	memcpy(copy, data, size);
	*o = (struct dat_out_option){id, {copy, size}};
	m->contents.options = m->options.at;
	m->contents.nr_options = m->options.n;
	return 0;
}

static int gather(struct meta *m, struct spur_error *err)
{
	struct dat_contents *c = &m->contents;
	const struct dat_tracing t = {.path = m->fs->path, .arena = &m->arena};
	int rc = find_cpus(m, &t, err);

	c->nr_cpus = m->nr_cpus ? m->cpus[m->nr_cpus - 1] + 1 : 0;
	if (rc == 0)
		rc = dat_tracing_headers(&t, c, err);
	if (rc == 0)
		rc = meta_formats(m, err);
	if (rc == 0)
		rc = meta_symbols(m, err);
	if (rc == 0)
		rc = dat_tracing_optional(&t, "printk_formats", &c->printk, err);
	if (rc == 0)
		rc = describe_buffers(m, err);
	if (rc == 0)
		rc = meta_first_options(m, err);
	return rc;
}

int meta_begin(struct meta *m, const struct tracefs *fs, const struct setup *setup,
	       struct undo *undo, const struct meta_options *opt, struct spur_error *err)
{
	int rc;

	memset(m, 0, sizeof(*m));
	m->fs = fs;
	m->setup = setup;
	m->undo = undo;
	m->opt = *opt;
	arena_init(&m->arena, META_LIMIT);
	arena_init(&m->last, META_LIMIT);
	m->into = &m->arena;
	buf_init(&m->symbols, META_LIMIT);
	rc = gather(m, err);
	m->nr_lasting = m->options.n;
	return rc;
}

int meta_end(struct meta *m, struct spur_error *err)
{
	int rc;

	/* Of several files each has its own end. */
	arena_free(&m->last);
	arena_init(&m->last, META_LIMIT);
	m->into = &m->last;
	m->options.n = m->nr_lasting;
	rc = meta_last_options(m, err);
	m->contents.options = m->options.at;
	m->contents.nr_options = m->options.n;
	return rc;
}

void meta_free(struct meta *m)
{
	vec_free(&m->options);
	buf_free(&m->symbols);
	arena_free(&m->arena);
	arena_free(&m->last);
}
