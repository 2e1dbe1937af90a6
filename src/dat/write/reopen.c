// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Finishing a file that its writer left unfinished: makes a struct dat_out like that of the writer
 * from what the file says, and then finishes the file in the same way.
 *
 * The file is untrusted. Whatever it says, only the file itself is written, and no number of it is
 * used as a size of memory without a limit.
 */
#include "dat/write/out.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

#define MAX_RESERVE ((uint64_t)256 << 20)
#define DONE_SIZE   14 /* of version 7's last option */

static int contradiction(struct spur_error *err)
{
	return error_set(err, -EBADMSG, "what the file says about its regions makes no sense");
}

/* Whether the reserve is where the two versions have it: at the end of the option, or after it. */
static bool is_placed(const struct dat *d, const struct dat_option *option,
		      const struct dat_regions *t)
{
	const uint64_t end = option->data.offset + option->data.size;

	if (d->version == 6)
		return t->reserve_size <= option->data.size && t->reserve + t->reserve_size == end;
	return t->reserve == end + DONE_SIZE && t->reserve <= d->file_size &&
	       t->reserve_size <= d->file_size - t->reserve && t->reserve_size <= MAX_RESERVE;
}

static int take_table(struct dat_out *o, struct dat *d, const struct dat_option *option,
		      struct spur_error *err)
{
	struct dat_regions t;
	struct dat_region *each;

	if (!dat_regions_parse(&d->arena, option, d->big_endian, &t) || !is_placed(d, option, &t))
		return contradiction(err);
	each = calloc((size_t)t.nr + 1, sizeof(*each));
	o->regions = calloc((size_t)t.nr + 1, sizeof(*o->regions));
	if (!each || !o->regions) {
		free(each);
		return error_sys(err, -ENOMEM, "cannot be finished");
	}
	memcpy(each, t.each, t.nr * sizeof(*each));
	o->table = t;
	o->table.each = each;
	for (uint32_t i = 0; i < t.nr; i++) {
		o->regions[i].spill = -1;
		o->nr_begun += i == o->nr_begun && each[i].offset;
	}
	return 0;
}

static int take_buffer(const struct dat_buffer *from, struct out_buffer *to)
{
	to->name = strdup(from->name);
	to->clock = strdup(from->clock);
	to->page_size = from->page_size;
	to->is_text = from->text;
	to->section = from->offset;
	return to->name && to->clock ? 0 : -ENOMEM;
}

/* The CPUs of a buffer are those that have a region; version 6 lists others too. */
static int take_cpus(struct dat_out *o, struct spur_error *err)
{
	uint32_t *cpus = NULL, i = 0;

	while (i < o->table.nr) {
		const struct dat_region *r = &o->table.each[i];
		struct out_buffer *b = r->buffer < o->nr_buffers ? &o->buffers[r->buffer] : NULL;

		if (!b || b->is_text || !ring_page_size_ok(b->page_size))
			return contradiction(err);
		b->first = i;
		for (; i < o->table.nr && o->table.each[i].buffer == r->buffer; i++)
			o->regions[i].page_size = b->page_size;
		b->cpus = cpus = calloc(i - b->first, sizeof(*cpus));
		if (!cpus)
			return error_sys(err, -ENOMEM, "cannot be finished");
		for (uint32_t k = b->first; k < i; k++)
			if (o->table.each[k].cpu != DAT_NO_CPU)
				cpus[b->nr_cpus++] = o->table.each[k].cpu;
	}
	return 0;
}

static int take_buffers(struct dat_out *o, const struct dat *d, struct spur_error *err)
{
	int rc = 0;

	o->buffers = calloc(d->nr_buffers + 1, sizeof(*o->buffers));
	if (!o->buffers)
		rc = -ENOMEM;
	for (size_t i = 0; i < d->nr_buffers && !rc; i++) {
		o->nr_buffers++;
		rc = take_buffer(&d->buffers[i], &o->buffers[i]);
	}
	if (rc)
		return error_sys(err, rc, "cannot be finished");
	return take_cpus(o, err);
}

static uint32_t count_chunks(const struct dat *d, uint64_t offset)
{
	uint8_t number[4] = {0};

	dat_read(d, number, sizeof(number), offset);
	return (uint32_t)load_uint(number, sizeof(number), d->big_endian);
}

static int find_ends(struct dat_out *o, const struct dat *d, struct spur_error *err)
{
	for (uint32_t i = 0; i < o->table.nr && o->table.stage == DAT_STAGE_OPEN; i++) {
		int64_t size = dat_region_end(d, &o->table, i, o->regions[i].page_size);

		if (size < 0)
			return error_sys(err, (int)size, "cannot be read");
		o->regions[i].size = (uint64_t)size;
		if (o->codec && size)
			o->regions[i].nr_chunks = count_chunks(d, o->table.each[i].offset);
	}
	return 0;
}

static void take_places_v7(struct dat_out *o, const struct dat *d, const struct dat_option *option)
{
	/* The header as v7.c writes it: magic, version, four fields, two strings. */
	o->pointer = 10 + 2 + 1 + 1 + 4 + strlen(d->compression) + 1 +
		     strlen(d->compression_version) + 1;
	o->options = option->section;
	for (size_t i = 0; i < d->nr_options; i++) {
		const struct dat_option *p = &d->options[i];

		/* The first one: names that were written meanwhile do not stay where they are. */
		if (p->id < DAT_NR_IDS && dat_is_layout(p->id) && p->data.size >= 8 &&
		    !o->where[p->id])
			o->where[p->id] = load_uint(p->data.data, 8, d->big_endian);
		o->updated |= p->section != option->section;
	}
	if (!o->updated)
		buf_put(&o->names, d->cmdlines.data, d->cmdlines.size);
	o->front = o->table.reserve + o->table.reserve_size;
	if (o->table.nr)
		o->front += DAT_SECTION_HEADER;
}

static int take_places_v6(struct dat_out *o, const struct dat *d, struct spur_error *err)
{
	const struct dat_option *version = d->nr_options ? &d->options[0] : NULL;

	if (!version || version->id != DAT_OPT_VERSION || version->data.offset > o->table.reserve)
		return contradiction(err);
	o->options = version->data.offset - 6;
	o->cmdlines = d->cmdlines.offset;
	o->top_table = o->table.reserve + o->table.reserve_size + 2;
	buf_fill(&o->names, '\n', d->cmdlines.size);
	/* Its tables end where the data begin, or with the file when there are none. */
	o->front = o->table.nr && o->table.each[0].packed ? o->table.each[0].packed : d->file_size;
	return 0;
}

static int take_file(struct dat_out *o, struct dat *d, const struct dat_option *option,
		     struct spur_error *err)
{
	int rc;

	o->version = d->version;
	o->format = d->version == 6 ? &out_v6 : &out_v7;
	o->big_endian = d->big_endian;
	o->long_size = d->long_size;
	o->page_size = d->page_size;
	o->nr_cpus = d->nr_cpus;
	o->codec = d->codec;
	rc = take_table(o, d, option, err);
	if (rc)
		return rc;
	o->sparse = o->table.flags & DAT_REGIONS_SPARSE;
	rc = take_buffers(o, d, err);
	if (!rc)
		rc = find_ends(o, d, err);
	if (!rc && d->version == 6)
		rc = take_places_v6(o, d, err);
	else if (!rc)
		take_places_v7(o, d, option);
	if (!rc && buf_full(&o->names))
		rc = error_sys(err, -ENOMEM, "cannot be finished");
	return rc;
}

static int open_again(const char *path, struct dat_out **out, struct spur_error *err)
{
	struct dat_out *o = calloc(1, sizeof(*o));

	*out = NULL;
	if (!o)
		return error_sys(err, -ENOMEM, "%s", path);
	o->ballast = -1;
	buf_init(&o->names, SIZE_MAX);
	o->name = strdup(path);
	o->fd = open(path, O_RDWR | O_CLOEXEC);
	if (o->fd < 0 || !o->name) {
		int rc = o->fd < 0 ? -errno : -ENOMEM;

		out_free(o);
		return error_sys(err, rc, "%s", path);
	}
	*out = o;
	return 0;
}

/* Reads the file again, now that no other process can write to it. 1: it is finished. */
static int take_locked(struct dat_out *o, const char *path, struct dat **d, struct dat_contents *c,
		       struct spur_error *err)
{
	const struct dat_option *option;
	int rc = dat_open(path, NULL, d, err);

	if (rc)
		return rc;
	option = dat_option_find(*d, DAT_OPT_REGIONS);
	if (!option)
		return 1;
	rc = take_file(o, *d, option, err);
	if (rc)
		error_prefix(err, "%s", path);
	else if (dat_out_is_open(o))
		out_place_ballast(o);
	return rc ? rc : dat_contents_of(*d, c, err);
}

int dat_out_reopen(const char *path, struct dat_out **out, struct dat **d, struct dat_contents *c,
		   struct spur_error *err)
{
	bool finished;
	int rc = dat_open(path, NULL, d, err);

	*out = NULL;
	if (rc)
		return rc;
	finished = !dat_option_find(*d, DAT_OPT_REGIONS);
	dat_close(*d);
	*d = NULL;
	if (finished)
		return 1;
	rc = open_again(path, out, err);
	if (rc)
		return rc;
	rc = file_lock((*out)->fd, err);
	if (rc)
		error_prefix(err, "%s", path);
	else
		rc = take_locked(*out, path, d, c, err);
	if (rc) {
		out_free(*out);
		*out = NULL;
		dat_close(*d);
		*d = NULL;
	}
	return rc;
}

const uint32_t *dat_out_cpus(const struct dat_out *o, size_t buffer, uint32_t *nr)
{
	*nr = buffer < o->nr_buffers ? o->buffers[buffer].nr_cpus : 0;
	return *nr ? o->buffers[buffer].cpus : NULL;
}

bool dat_out_is_open(const struct dat_out *o)
{
	return o->table.stage == DAT_STAGE_OPEN;
}

int dat_finish_file(const char *path, struct spur_error *err)
{
	struct dat_contents c;
	struct dat_out *o;
	struct dat *d;
	int rc = dat_out_reopen(path, &o, &d, &c, err);

	if (rc)
		return rc < 0 ? rc : 0;
	rc = out_finish(o, &c, err);
	dat_close(d);
	return rc;
}
