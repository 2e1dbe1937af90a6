// SPDX-License-Identifier: GPL-2.0-or-later
/* What an open file contains, in the form in which it can be written again. */
#include <errno.h>

#include "base/error.h"
#include "dat/write_parts.h"

static struct dat_span span_of(const struct dat_blob *b)
{
	return (struct dat_span){b->data, b->size};
}

static bool take_formats(struct dat *d, struct dat_contents *c)
{
	struct dat_span *spans = arena_array(&d->arena, d->nr_formats + 1, sizeof(*spans));
	struct dat_out_system *systems =
		arena_array(&d->arena, d->nr_systems + 1, sizeof(*systems));
	size_t at = d->nr_ftrace_formats;

	if (!spans || !systems)
		return false;
	for (size_t i = 0; i < d->nr_formats; i++)
		spans[i] = span_of(&d->formats[i].text);
	c->ftrace = spans;
	c->nr_ftrace = d->nr_ftrace_formats;
	for (size_t i = 0; i < d->nr_systems; i++) {
		size_t n = d->systems[i].nr_formats, left = d->nr_formats - at;

		/* A file that was cut off says more than it has. */
		systems[i].name = d->systems[i].name;
		systems[i].formats = spans + at;
		systems[i].nr = n < left ? n : left;
		at += systems[i].nr;
	}
	c->systems = systems;
	c->nr_systems = d->nr_systems;
	return true;
}

/* A file that was updated while it was written says twice who its tasks are. */
static bool is_outdated(const struct dat *d, size_t option)
{
	const uint16_t id = d->options[option].id;

	while (id == DAT_OPT_TASKS && ++option < d->nr_options)
		if (d->options[option].id == id)
			return true;
	return false;
}

static bool take_options(struct dat *d, struct dat_contents *c)
{
	struct dat_out_option *options =
		arena_array(&d->arena, d->nr_options + 1, sizeof(*options));

	if (!options)
		return false;
	for (size_t i = 0; i < d->nr_options; i++) {
		const struct dat_option *o = &d->options[i];

		if (!out_is_layout(o->id) && !is_outdated(d, i))
			options[c->nr_options++] =
				(struct dat_out_option){o->id, span_of(&o->data)};
	}
	c->options = options;
	return true;
}

static int take_text(struct dat *d, const struct dat_buffer *b, struct dat_span *text)
{
	size_t size = 0;
	char *all;

	/* Compressed text says how long it is only when it has been read. */
	for (;;) {
		char window[4096];
		int64_t got = dat_text_read(d, b, size, window, sizeof(window));

		if (got < 0)
			return (int)got;
		if (!got)
			break;
		size += (size_t)got;
	}
	all = arena_alloc(&d->arena, size + 1);
	if (!all)
		return -ENOMEM;
	for (size_t done = 0; done < size;) {
		int64_t got = dat_text_read(d, b, done, all + done, size - done);

		if (got <= 0)
			return got < 0 ? (int)got : -EIO;
		done += (size_t)got;
	}
	*text = (struct dat_span){all, size};
	return 0;
}

static int take_buffer(struct dat *d, const struct dat_buffer *b, struct dat_out_buffer *to)
{
	uint32_t *cpus = arena_array(&d->arena, b->nr_cpus + 1, sizeof(*cpus));

	if (!cpus)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->nr_cpus; i++)
		cpus[i] = b->cpus[i].cpu;
	*to = (struct dat_out_buffer){
		.name = b->name,
		.clock = b->clock,
		.page_size = b->page_size,
		.cpus = cpus,
		.nr_cpus = b->nr_cpus,
		.is_text = b->text,
	};
	return b->text ? take_text(d, b, &to->text) : 0;
}

static int take_buffers(struct dat *d, struct dat_contents *c)
{
	struct dat_out_buffer *buffers =
		arena_array(&d->arena, d->nr_buffers + 1, sizeof(*buffers));
	int rc = buffers ? 0 : -ENOMEM;

	for (size_t i = 0; i < d->nr_buffers && !rc; i++)
		rc = take_buffer(d, &d->buffers[i], &buffers[i]);
	c->buffers = buffers;
	c->nr_buffers = d->nr_buffers;
	return rc;
}

int dat_contents_of(struct dat *d, struct dat_contents *c, struct spur_error *err)
{
	int rc;

	*c = (struct dat_contents){
		.big_endian = d->big_endian,
		.long_size = d->long_size,
		.page_size = d->page_size,
		.nr_cpus = d->nr_cpus,
		.header_page = span_of(&d->header_page),
		.header_event = span_of(&d->header_event),
		.kallsyms = span_of(&d->kallsyms),
		.printk = span_of(&d->printk),
		.cmdlines = span_of(&d->cmdlines),
	};
	if (!take_formats(d, c) || !take_options(d, c))
		return error_sys(err, -ENOMEM, "%s", d->path);
	rc = take_buffers(d, c);
	return rc ? error_sys(err, rc, "%s", d->path) : 0;
}
