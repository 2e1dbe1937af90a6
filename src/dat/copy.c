// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What a file contains, written into another one: its contents, then its trace data CPU after CPU.
 *
 * The CPUs of contents are in the order of their numbers, those of an open file in the order in
 * which it lists them. A damaged file may list a CPU twice; its data then follow each other.
 */
#include "dat/copy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/order.h"
#include "dat/load.h"
#include "dat/write.h"
#include "ring/ring.h"

/* ---- contents ------------------------------------------------------------------------- */

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

		/* A file that was cut off may claim more data than it has. */
		systems[i].name = d->systems[i].name;
		systems[i].formats = spans + at;
		systems[i].nr = n < left ? n : left;
		at += systems[i].nr;
	}
	c->systems = systems;
	c->nr_systems = d->nr_systems;
	return true;
}

/* Whether a newer TASKS option follows: a file that was updated during its writing has several. */
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

		if (!dat_is_layout(o->id) && !is_outdated(d, i))
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

	/* The length of compressed text is only known after it has been read. */
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

/* ---- contents of damaged files -------------------------------------------------------- */

#define USUAL_PAGE 4096

static int sort_cpus(struct dat *d, struct dat_out_buffer *b)
{
	uint32_t *cpus = arena_copy(&d->arena, b->cpus, b->nr_cpus, sizeof(*cpus)), kept = 0;

	if (!cpus)
		return -ENOMEM;
	qsort(cpus, b->nr_cpus, sizeof(*cpus), order_u32);
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
	buffers = arena_copy(&from->arena, c->buffers, c->nr_buffers, sizeof(*buffers));
	if (!buffers)
		return error_sys(err, -ENOMEM, "%s", from->path);
	for (size_t i = 0; rc == 0 && i < c->nr_buffers; i++)
		rc = tidy_buffer(from, &buffers[i], i);
	c->buffers = buffers;
	return rc < 0 ? error_sys(err, rc, "%s", from->path) : 0;
}

/* ---- contents of unfinished files ----------------------------------------------------- */

#define CUT_LIMIT (16u << 20)

/* The time of the last event; 0 if there is none. */
static uint64_t last_of_page(const struct ring_layout *layout, const struct dat_page *page)
{
	struct ring_page p;
	struct ring_event e;
	uint64_t last = 0;

	if (ring_page_open(&p, layout, page->data, page->size) < 0)
		return 0;
	while (ring_page_next(&p, &e))
		last = e.ts;
	return last;
}

static uint64_t last_of_cpu(struct dat *d, const struct dat_buffer *b, const struct dat_cpu *cpu)
{
	struct dat_pages *pages;
	struct dat_page page;
	uint64_t bytes = 0, last = 0;

	if (!cpu->size || dat_pages_open(d, b, cpu, &pages) < 0)
		return 0;
	dat_pages_bytes(pages, &bytes);
	for (uint64_t i = (bytes + b->page_size - 1) / b->page_size; i-- > 0 && !last;)
		if (dat_pages_get(pages, i, &page) > 0)
			last = last_of_page(&b->layout, &page);
	dat_pages_close(pages);
	return last;
}

static int list_cpus(struct dat *d, struct dat_cut *cut)
{
	size_t cap = 1;

	for (size_t i = 0; i < d->nr_buffers; i++)
		cap += d->buffers[i].nr_cpus;
	cut->cpus = arena_array(&d->arena, cap, sizeof(*cut->cpus));
	if (!cut->cpus)
		return -ENOMEM;
	for (size_t i = 0; i < d->nr_buffers; i++)
		for (uint32_t k = 0; k < d->buffers[i].nr_cpus && d->buffers[i].page_size; k++) {
			const struct dat_cpu *cpu = &d->buffers[i].cpus[k];

			cut->cpus[cut->nr++] = (struct dat_cut_cpu){
				.buffer = (uint32_t)i,
				.cpu = cpu->cpu,
				.last = last_of_cpu(d, &d->buffers[i], cpu),
				.after = DAT_CUT_UNKNOWN,
			};
		}
	return 0;
}

int dat_copy_cut(struct dat *from, struct dat_contents *c, struct spur_error *err)
{
	struct dat_cut cut = {.cause = DAT_CUT_KILLED};
	struct dat_out_option *list;
	scoped_buf text;
	void *data;

	buf_init(&text, CUT_LIMIT);
	if (!from->unfinished || from->cut.is)
		return 0;
	list = arena_array(&from->arena, c->nr_options + 1, sizeof(*list));
	if (!list || list_cpus(from, &cut) < 0)
		return error_sys(err, -ENOMEM, "%s", from->path);
	dat_cut_put(&cut, c->big_endian, &text);
	data = buf_full(&text) ? NULL : arena_copy(&from->arena, text.data, text.len, 1);
	if (!data)
		return error_sys(err, -ENOMEM, "%s", from->path);
	if (c->nr_options)
		memcpy(list, c->options, c->nr_options * sizeof(*list));
	list[c->nr_options++] = (struct dat_out_option){DAT_OPT_CUT, {data, text.len}};
	c->options = list;
	return 0;
}

/* ---- sinks ---------------------------------------------------------------------------- */

#define BATCH	       (256u << 10)
#define PROGRESS_PAGES 64 /* between two looks at the clock, which is what showing progress is */

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

/* ---- all data of a file --------------------------------------------------------------- */

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
		/* What cannot be read has been noted; there may be more after it. */
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

	/* There are no pages of an impossible size; that was noted when the file was opened. */
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

/* ---- whole files ---------------------------------------------------------------------- */

bool dat_is_file(const struct dat *d, const char *path)
{
	struct stat ours, other;

	return fstat(d->fd, &ours) == 0 && stat(path, &other) == 0 && ours.st_dev == other.st_dev &&
	       ours.st_ino == other.st_ino;
}

/* The default is the compressor of the input, but none for version 6, which has no compression. */
static struct dat_out_options out_options(const struct dat *from, const struct dat_convert *opt)
{
	struct dat_out_options o = {
		.version = opt->version ? opt->version : from->version,
		.compression = opt->compression,
	};

	if (!o.compression)
		o.compression = o.version >= 7 ? from->compression : "none";
	return o;
}

static int write_file(struct dat *from, int fd, const char *path, const struct dat_convert *opt,
		      struct spur_error *err)
{
	struct dat_out_options options = out_options(from, opt);
	struct dat_contents c = {0};
	struct dat_out *out;
	int rc = dat_copy_contents(from, &c, err);

	if (rc == 0)
		rc = dat_copy_cut(from, &c, err);
	if (rc == 0 && opt->edit)
		rc = opt->edit(opt->edit_arg, from, &c, err);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	rc = dat_out_create_fd(fd, path, &options, &c, &out, err);
	if (rc < 0)
		return rc;
	rc = dat_copy_data(from, &c, out, opt->how, &opt->job, err);
	if (rc < 0) {
		dat_out_abandon(out);
		return rc;
	}
	return dat_out_finish(out, &c, err);
}

/* Only now has all of the input been read, so its damage may not have been known before. */
static int check_replacing(const struct dat *from, const char *path, const struct dat_convert *opt,
			   struct spur_error *err)
{
	if (!from->damage.code || !dat_is_file(from, path) ||
	    (from->damage.code == -ENODATA &&
	     (opt->replace_cut_off || from->damage.offset == DAT_NOWHERE)))
		return 0;
	return error_set(err, from->damage.code,
			 "%s is not replaced, because it is damaged: %s (at offset %llu)",
			 from->path, from->damage.text, (unsigned long long)from->damage.offset);
}

int dat_convert_beside(struct dat *from, const char *path, const struct dat_convert *opt,
		       struct newfile *file, struct spur_error *err)
{
	int fd = newfile_create(file, path, err), rc;

	if (fd < 0)
		return fd;
	rc = write_file(from, fd, path, opt, err);
	if (rc == 0)
		rc = check_replacing(from, path, opt, err);
	if (rc < 0)
		newfile_drop(file);
	return rc;
}

int dat_convert(struct dat *from, const char *path, const struct dat_convert *opt,
		struct spur_error *err)
{
	struct newfile file;
	int rc = dat_convert_beside(from, path, opt, &file, err);

	return rc < 0 ? rc : newfile_keep(&file, err);
}
