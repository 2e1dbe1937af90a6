// SPDX-License-Identifier: LGPL-2.1-or-later
/* The trace.dat of an import: its metadata, and pages of the sorted records. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/vec.h"
#include "dat/dat.h"
#include "import/import.h"
#include "ring/ring.h"

#define MIN_PAGE   4096u
#define MAX_PAGE   (1u << 20)
#define TEXT_LIMIT (64u << 20)
#define STEPS	   1024 /* pages between two looks at stop and progress */

static const char header_event[] = "# compressed entry header\n"
				   "\ttype_len    :    5 bits\n"
				   "\ttime_delta  :   27 bits\n"
				   "\tarray       :   32 bits\n"
				   "\n"
				   "\tpadding     : type == 29\n"
				   "\ttime_extend : type == 30\n"
				   "\ttime_stamp : type == 31\n"
				   "\tdata max type_len  == 28\n";

/* Everything the contents point to. */
struct writing {
	struct import *im;
	struct dat_contents c;
	struct ring_layout layout;
	struct arena arena;
	struct dat_out_option options[8];
	struct buf comms;
	struct dat_out *out;
	uint64_t pages;
};

static struct dat_span span_of(struct buf *b)
{
	const char *text = buf_str(b);

	return (struct dat_span){text, b->len};
}

/* Sub-buffers large enough for the largest record. */
static void choose_layout(struct writing *w)
{
	uint32_t page = MIN_PAGE;

	w->layout = ring_layout_default(w->im->big_endian, w->im->long_size, page);
	while (page < MAX_PAGE && ring_fill_room(&w->layout) < w->im->largest) {
		page *= 2;
		w->layout = ring_layout_default(w->im->big_endian, w->im->long_size, page);
	}
	w->c.page_size = page;
	w->c.big_endian = w->im->big_endian;
	w->c.long_size = w->im->long_size;
}

static bool set_headers(struct writing *w)
{
	const struct ring_layout *l = &w->layout;
	char text[400];
	int n = snprintf(text, sizeof(text),
			 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
			 "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
			 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
			 "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:0;\n",
			 l->commit_size, l->data_offset, l->page_size - l->data_offset);
	char *copy = arena_strndup(&w->arena, text, (size_t)n);

	w->c.header_page = (struct dat_span){copy, (size_t)n};
	w->c.header_event = (struct dat_span){header_event, sizeof(header_event) - 1};
	return copy;
}

static int by_system(const void *a, const void *b)
{
	const struct import_event_format *x = a, *y = b;

	return strcmp(x->system, y->system);
}

/* ftrace's own have their place, the others stand system by system. */
static bool set_formats(struct writing *w)
{
	struct import *im = w->im;
	const size_t n = im->formats.n;
	struct dat_span *spans = arena_array(&w->arena, n + 1, sizeof(*spans));
	struct dat_out_system *systems = arena_array(&w->arena, n + 1, sizeof(*systems)), *s = NULL;

	if (!spans || !systems)
		return false;
	if (n)
		qsort(im->formats.at, n, sizeof(*im->formats.at), by_system);
	for (size_t i = 0; i < n; i++)
		spans[i] = im->formats.at[i].text;
	w->c.systems = systems;
	for (size_t i = 0; i < n; i++) {
		const char *system = im->formats.at[i].system;

		if (strcmp(system, "ftrace") == 0) {
			if (!w->c.nr_ftrace++)
				w->c.ftrace = &spans[i];
			continue;
		}
		if (!s || strcmp(s->name, system) != 0) {
			s = &systems[w->c.nr_systems++];
			*s = (struct dat_out_system){.name = system, .formats = &spans[i]};
		}
		s->nr++;
	}
	return true;
}

static void add_option(struct writing *w, uint16_t id, const char *text)
{
	if (text && *text)
		w->options[w->c.nr_options++] =
			(struct dat_out_option){id, {text, strlen(text) + 1}};
}

static void set_options(struct writing *w)
{
	struct import *im = w->im;
	char text[300];

	snprintf(text, sizeof(text), "[%s]", im->clock);
	add_option(w, DAT_OPT_TRACECLOCK, arena_strdup(&w->arena, text));
	snprintf(text, sizeof(text), "spur %s, imported: %s", SPUR_VERSION, im->from);
	add_option(w, DAT_OPT_VERSION, arena_strdup(&w->arena, text));
	add_option(w, DAT_OPT_UNAME, im->uname);
	if (im->has_date) {
		snprintf(text, sizeof(text), "%s0x%" PRIx64, im->date_us < 0 ? "-" : "",
			 im->date_us < 0 ? -(uint64_t)im->date_us : (uint64_t)im->date_us);
		add_option(w, DAT_OPT_DATE, arena_strdup(&w->arena, text));
	}
	if (im->maps.len)
		add_option(w, DAT_OPT_PROCMAPS, buf_str(&im->maps));
	w->c.options = w->options;
}

static void set_names(struct writing *w)
{
	vec_each (c, &w->im->comms)
		buf_printf(&w->comms, "%d %s\n", c->pid, c->name);
	w->c.cmdlines = span_of(&w->comms);
	w->c.kallsyms = span_of(&w->im->symbols);
	w->c.printk = span_of(&w->im->printk);
}

/* The parts of the spool are sorted by buffer and CPU; the first part of each key makes a CPU. */
static bool set_buffers(struct writing *w)
{
	const struct import *im = w->im;
	const size_t nr = im->buffers.n + 1;
	struct dat_out_buffer *buffers = arena_array(&w->arena, nr, sizeof(*buffers));
	uint32_t *cpus = arena_array(&w->arena, im->spool.parts.n + 1, sizeof(*cpus));
	uint64_t last = UINT64_MAX;
	size_t used = 0;

	if (!buffers || !cpus)
		return false;
	for (size_t i = 0; i < nr; i++)
		buffers[i] = (struct dat_out_buffer){
			.name = i ? im->buffers.at[i - 1] : "",
			.clock = im->clock,
			.page_size = w->layout.page_size,
		};
	vec_each (p, &im->spool.parts) {
		struct dat_out_buffer *b = &buffers[p->key >> 32];

		if (p->key == last)
			continue;
		last = p->key;
		if (!b->nr_cpus)
			b->cpus = &cpus[used];
		cpus[used++] = (uint32_t)p->key;
		b->nr_cpus++;
	}
	w->c.buffers = buffers;
	w->c.nr_buffers = nr;
	w->c.nr_cpus = im->nr_cpus ? im->nr_cpus : 1;
	return true;
}

/* ---- pages ---------------------------------------------------------------------------- */

/* Losses together; -1 stands for an unknown number. */
static void add_losses(int64_t a, int64_t b, int64_t *sum)
{
	if (a < 0 || b < 0 || __builtin_add_overflow(a, b, sum))
		*sum = -1;
}

static int new_page(struct writing *w, struct dat_sink *sink, struct ring_fill *fill, int64_t lost)
{
	uint8_t *page;
	int rc = 0;

	if (fill->page)
		ring_fill_end(fill);
	if (w->pages++ % STEPS == 0 && w->im->job.stop && *w->im->job.stop)
		return -EINTR;
	page = dat_sink_page(sink, &rc);
	if (!page)
		return rc;
	ring_fill_begin(fill, &w->layout, page, lost);
	return 0;
}

/* A loss begins a page: pages say how many events were lost before them. */
static int put_records(struct writing *w, struct spool_reader *reader, struct dat_sink *sink)
{
	const uint32_t room = ring_fill_room(&w->layout);
	struct ring_fill fill = {0};
	struct spool_record r;
	int64_t lost = 0;
	int rc;

	while ((rc = spool_next(reader, &r)) > 0) {
		uint32_t size = r.size < room ? r.size : room;

		add_losses(lost, r.lost, &lost);
		if (!r.size)
			continue;
		if (lost || !fill.page || !ring_fill_add(&fill, r.ts, r.data, size)) {
			rc = new_page(w, sink, &fill, lost);
			if (rc < 0)
				return rc;
			ring_fill_add(&fill, r.ts, r.data, size);
		}
		lost = 0;
	}
	/* A page without records says what was lost at the end. */
	if (rc == 0 && lost) {
		const uint64_t last = fill.last;

		rc = new_page(w, sink, &fill, lost);
		fill.first = last;
	}
	if (fill.page)
		ring_fill_end(&fill);
	return rc;
}

static int put_cpus(struct writing *w)
{
	const struct spool *s = &w->im->spool;
	uint32_t place = 0, buffer = 0;
	int rc = 0;

	for (size_t i = 0, n; rc == 0 && i < s->parts.n; i += n) {
		const uint64_t key = s->parts.at[i].key;
		struct spool_reader reader = {0};
		struct dat_sink sink;

		if (buffer != key >> 32)
			place = 0;
		buffer = (uint32_t)(key >> 32);
		for (n = 1; i + n < s->parts.n && s->parts.at[i + n].key == key; n++)
			;
		rc = dat_sink_open(&sink, w->out, buffer, place++, w->layout.page_size);
		if (rc < 0)
			break;
		rc = spool_read(s, i, n, &reader);
		if (rc == 0)
			rc = put_records(w, &reader, &sink);
		rc = dat_sink_close(&sink, rc);
		spool_read_end(&reader);
	}
	return rc;
}

static int write_all(struct writing *w, int fd, const char *name, const struct dat_out_options *opt,
		     struct spur_error *err)
{
	int rc = dat_out_create_fd(fd, name, opt, &w->c, &w->out, err);

	if (rc < 0)
		return rc;
	rc = put_cpus(w);
	if (rc < 0) {
		dat_out_abandon(w->out);
		return error_sys(err, rc, "%s cannot be written", name);
	}
	return dat_out_finish(w->out, &w->c, err);
}

int import_write(struct import *im, int fd, const char *name, const struct dat_out_options *opt,
		 struct spur_error *err)
{
	struct writing w = {.im = im};
	int rc = im->rc;

	arena_init(&w.arena, TEXT_LIMIT);
	buf_init(&w.comms, TEXT_LIMIT);
	if (rc == 0)
		rc = spool_seal(&im->spool);
	if (rc == 0) {
		choose_layout(&w);
		set_names(&w);
		set_options(&w);
		if (!set_headers(&w) || !set_formats(&w) || !set_buffers(&w) || buf_full(&w.comms))
			rc = -ENOMEM;
	}
	if (rc < 0) {
		close(fd);
		error_sys(err, rc, "%s", im->path);
	} else {
		rc = write_all(&w, fd, name, opt, err);
	}
	buf_free(&w.comms);
	arena_free(&w.arena);
	return rc;
}
