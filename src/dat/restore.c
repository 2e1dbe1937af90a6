// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Restoring a file that was cut off, and what trace-cmd leaves when it is killed: raw pages, a file
 * per CPU.
 *
 * Only the name says what such a file of pages contains. Pages that make no sense are left out and
 * counted; the last one is often incomplete.
 */
#include "dat/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/newfile.h"
#include "base/scoped.h"
#include "dat/dat.h"
#include "dat/load.h"
#include "dat/write.h"
#include "ring/ring.h"

/* ---- a file --------------------------------------------------------------------------- */

bool dat_restore_is_trace(const char *path)
{
	char head[DAT_MAGIC_SIZE];
	scoped_fd fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	return n == (ssize_t)sizeof(head) && memcmp(head, DAT_MAGIC, sizeof(head)) == 0;
}

static void note(struct dat_restore *r, const struct dat *d)
{
	r->damage = d->damage.code;
	if (r->damage)
		snprintf(r->damage_text, sizeof(r->damage_text), "%s (at offset %llu)",
			 d->damage.text, (unsigned long long)d->damage.offset);
}

/* Everything that can be read, written again as a file of the same kind. */
static int rewrite(struct dat *d, const char *path, struct dat_restore *r, struct spur_error *err)
{
	const struct dat_convert how = {
		.how = DAT_COPY_MEND, .replace_cut_off = true, .job = r->job};
	int rc = dat_convert(d, r->output ? r->output : path, &how, err);

	note(r, d);
	r->done = DAT_RESTORED_WRITTEN;
	return rc;
}

/* What is missing was lost with its recorder, so the finished file says that it is cut. */
static int finish(const char *path, struct spur_error *err)
{
	struct dat_contents c;
	struct dat_out *out;
	struct dat *d;
	int rc = dat_out_reopen(path, &out, &d, &c, err);

	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = dat_copy_cut(d, &c, err);
	if (rc < 0)
		dat_out_abandon(out);
	else
		rc = dat_out_finish(out, &c, err);
	dat_close(d);
	return rc;
}

int dat_restore_file(const char *path, struct dat_restore *r, struct spur_error *err)
{
	struct dat *d;
	int rc = dat_open(path, NULL, &d, err);
	bool unfinished;

	if (rc < 0)
		return rc;
	note(r, d);
	r->done = DAT_RESTORED_NOTHING;
	unfinished = d->unfinished;
	if (unfinished && !r->output) {
		dat_close(d);
		r->done = DAT_RESTORED_FINISHED;
		return finish(path, err);
	}
	if (r->damage == -EBADMSG && !r->output)
		rc = error_set(err, -EBADMSG,
			       "%s is not cut off but damaged, and stays as it is; -o writes "
			       "another file with what can be read: %s",
			       path, r->damage_text);
	else if (r->damage || unfinished || r->output)
		rc = rewrite(d, path, r, err);
	dat_close(d);
	return rc;
}

/* ---- names of files of pages ---------------------------------------------------------- */

/* "PREFIX.cpuN": the length of the prefix and the number; false when it is called otherwise. */
static bool parse_name(const char *path, size_t *prefix, uint32_t *cpu)
{
	const char *dot = strrchr(path, '.'), *digits = dot ? dot + 4 : NULL;
	uint32_t n = 0;

	if (!dot || strncmp(dot, ".cpu", 4) != 0 || !*digits)
		return false;
	for (; *digits; digits++) {
		if (*digits < '0' || *digits > '9')
			return false;
		n = n * 10 + (uint32_t)(*digits - '0');
		if (n >= DAT_MAX_CPUS)
			return false;
	}
	*prefix = (size_t)(dot - path);
	*cpu = n;
	return true;
}

bool dat_leftover_is_called(const char *path)
{
	size_t prefix;
	uint32_t cpu;

	return parse_name(path, &prefix, &cpu);
}

/* What the files of the top buffer begin with: the shortest prefix. */
static size_t common_prefix(const struct dat_leftover *files, size_t n, const char **at)
{
	size_t shortest = SIZE_MAX, prefix;
	uint32_t cpu;

	for (size_t i = 0; i < n; i++) {
		if (!parse_name(files[i].path, &prefix, &cpu))
			return SIZE_MAX;
		if (prefix < shortest) {
			shortest = prefix;
			*at = files[i].path;
		}
	}
	return shortest;
}

/* "trace.dat.NAME.cpu3" beside "trace.dat.cpu0" is of the instance NAME. */
static bool find_instance(struct dat_leftover *f, const char *top, size_t top_len, struct arena *a)
{
	size_t prefix = 0;

	parse_name(f->path, &prefix, &f->cpu);
	f->instance = "";
	if (prefix == top_len)
		return strncmp(f->path, top, top_len) == 0;
	if (strncmp(f->path, top, top_len) != 0 || f->path[top_len] != '.')
		return false;
	f->instance = arena_strndup(a, f->path + top_len + 1, prefix - top_len - 1);
	return f->instance && !strchr(f->instance, '/');
}

static int by_cpu(const void *a, const void *b)
{
	const struct dat_leftover *x = a, *y = b;
	int order = strcmp(x->instance, y->instance);

	return order ? order : (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

int dat_leftovers_sort(struct dat_leftover *files, size_t n, struct arena *a,
		       struct spur_error *err)
{
	const char *top = "";
	size_t prefix = common_prefix(files, n, &top);
	bool named = prefix != SIZE_MAX;

	for (size_t i = 0; i < n && named; i++)
		named = find_instance(&files[i], top, prefix, a);
	for (size_t i = 0; i < n && !named; i++) {
		files[i].instance = "";
		files[i].cpu = (uint32_t)i;
	}
	qsort(files, n, sizeof(*files), by_cpu);
	for (size_t i = 1; i < n; i++)
		if (by_cpu(&files[i - 1], &files[i]) == 0)
			return error_set(err, -EINVAL, "%s and %s are both of CPU %u",
					 files[i - 1].path, files[i].path, files[i].cpu);
	return 0;
}

/* ---- buffers -------------------------------------------------------------------------- */

struct restore {
	struct arena arena;
	struct dat_contents contents;
	struct ring_layout layout;
	const struct dat_job *job;
	uint64_t done, total; /* bytes */
};

/* Options that are about another recording than this one. */
static bool is_foreign(unsigned int id)
{
	return id == DAT_OPT_CPUSTAT || id == DAT_OPT_TRACEID || id == DAT_OPT_TIME_SHIFT ||
	       id == DAT_OPT_GUEST;
}

static int take_options(struct restore *r)
{
	struct dat_contents *c = &r->contents;
	struct dat_out_option *list = arena_array(&r->arena, c->nr_options + 1, sizeof(*list));
	size_t n = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_options; i++)
		if (!is_foreign(c->options[i].id))
			list[n++] = c->options[i];
	c->options = list;
	c->nr_options = n;
	return 0;
}

/* The clock that the contents name. */
static const char *clock_of(const struct dat_contents *c)
{
	if (c->nr_buffers && c->buffers[0].clock && *c->buffers[0].clock)
		return c->buffers[0].clock;
	return "local";
}

/* Files of one instance become a buffer; returns how many there were. */
static size_t make_buffer(struct restore *r, struct dat_out_buffer *b,
			  const struct dat_leftover *files, size_t n)
{
	uint32_t *cpus = arena_array(&r->arena, n + 1, sizeof(*cpus));
	size_t used = 0;

	if (!cpus)
		return 0;
	while (used < n && strcmp(files[used].instance, files[0].instance) == 0) {
		cpus[used] = files[used].cpu;
		used++;
	}
	b->name = n ? files[0].instance : "";
	b->cpus = cpus;
	b->nr_cpus = (uint32_t)used;
	return used;
}

static int make_buffers(struct restore *r, const struct dat_leftover *files, size_t n)
{
	struct dat_contents *c = &r->contents;
	struct dat_out_buffer *list = arena_array(&r->arena, n + 1, sizeof(*list));
	const char *clock = clock_of(c);
	size_t at = 0, nr = 0;

	if (!list)
		return -ENOMEM;
	/* There is a top buffer, if only an empty one. */
	if (!n || *files[0].instance)
		list[nr++].name = "";
	while (at < n) {
		size_t used = make_buffer(r, &list[nr++], files + at, n - at);

		if (!used)
			return -ENOMEM;
		at += used;
	}
	for (size_t i = 0; i < nr; i++) {
		list[i].clock = clock;
		list[i].page_size = r->layout.page_size;
		for (uint32_t k = 0; k < list[i].nr_cpus; k++)
			if (list[i].cpus[k] >= c->nr_cpus)
				c->nr_cpus = list[i].cpus[k] + 1;
	}
	c->buffers = list;
	c->nr_buffers = nr;
	return 0;
}

/* ---- data ----------------------------------------------------------------------------- */

/* Fills a page, or less of it at the end of the file; negative errno. */
static int64_t read_page(int fd, uint8_t *page, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(fd, page + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (int64_t)done;
}

/* An unused page: it has no time and no data. */
static bool is_blank(const struct ring_layout *l, const uint8_t *page, size_t size)
{
	for (uint32_t i = 0; i < l->data_offset && i < size; i++)
		if (page[i])
			return false;
	return true;
}

static int restore_cpu(struct restore *r, struct dat_leftover *f, int fd, struct dat_sink *sink)
{
	const struct ring_layout *l = &r->layout;

	for (;;) {
		int rc;
		uint8_t *page = dat_sink_page(sink, &rc);
		int64_t got = page ? read_page(fd, page, l->page_size) : rc;

		if (r->job->stop && *r->job->stop)
			return -EINTR;
		if (page && got <= 0)
			dat_sink_unpage(sink);
		if (got <= 0)
			return (int)got;
		if (is_blank(l, page, (size_t)got)) {
			dat_sink_unpage(sink);
		} else if (ring_mend(l, page, (size_t)got) < 0) {
			dat_sink_unpage(sink);
			f->bad++;
		} else {
			f->pages++;
		}
		r->done += (uint64_t)got;
		if (r->job->progress)
			r->job->progress(r->job->arg, r->done, r->total);
	}
}

static int restore_file(struct restore *r, struct dat_leftover *f, struct dat_sink *sink,
			struct spur_error *err)
{
	int fd = open(f->path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return error_sys(err, -errno, "%s", f->path);
	rc = restore_cpu(r, f, fd, sink);
	close(fd);
	return rc < 0 ? error_sys(err, rc, "%s", f->path) : 0;
}

static int restore_data(struct restore *r, struct dat_out *out, struct dat_leftover *files,
			struct spur_error *err)
{
	const struct dat_contents *c = &r->contents;
	int rc = 0;

	for (size_t b = 0; b < c->nr_buffers; b++)
		for (uint32_t i = 0; rc == 0 && i < c->buffers[b].nr_cpus; i++, files++) {
			struct dat_sink sink;

			rc = dat_sink_open(&sink, out, b, i, r->layout.page_size);
			if (rc == 0)
				rc = restore_file(r, files, &sink, err);
			rc = dat_sink_close(&sink, rc);
		}
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------ */

static uint64_t total_size(const struct dat_leftover *files, size_t n)
{
	uint64_t sum = 0;
	struct stat st;

	for (size_t i = 0; i < n; i++)
		if (stat(files[i].path, &st) == 0)
			sum += (uint64_t)st.st_size;
	return sum;
}

static int prepare(struct restore *r, const struct dat_contents *contents,
		   const struct dat_leftover *files, size_t n, struct spur_error *err)
{
	struct dat_contents *c = &r->contents;
	uint32_t size = contents->page_size;

	*c = *contents;
	if (c->nr_buffers && c->buffers[0].page_size)
		size = c->buffers[0].page_size;
	if (!ring_page_size_ok(size))
		return error_set(err, -EBADMSG, "pages of %u bytes cannot be", size);
	r->layout = ring_layout_default(c->big_endian, c->long_size, size);
	ring_layout_parse(&r->layout, c->header_page.data ? c->header_page.data : "",
			  c->header_page.size);
	r->total = total_size(files, n);
	/* Contents that only describe a machine do not belong to a recording yet. */
	if (n && take_options(r) < 0)
		return -ENOMEM;
	return make_buffers(r, files, n);
}

static int write_file(struct restore *r, const char *path, int fd,
		      const struct dat_out_options *opt, struct dat_leftover *files,
		      struct spur_error *err)
{
	struct dat_out *out;
	int rc = dat_out_create_fd(fd, path, opt, &r->contents, &out, err);

	if (rc < 0)
		return rc;
	rc = restore_data(r, out, files, err);
	if (rc < 0) {
		dat_out_abandon(out);
		return error_sys(err, rc, "%s", path);
	}
	return dat_out_finish(out, &r->contents, err);
}

/* A file that would have nothing in it is not written. */
static int check_pages(const struct dat_leftover *files, size_t n, struct spur_error *err)
{
	uint64_t bad = 0;

	for (size_t i = 0; i < n; i++) {
		if (files[i].pages)
			return 0;
		bad += files[i].bad;
	}
	return bad ? error_set(err, -EBADMSG, "%s%s: none of it is a page of trace data",
			       files[0].path, n > 1 ? " and the others" : "")
		   : 0;
}

int dat_restore_pages(const char *path, const struct dat_out_options *opt,
		      const struct dat_contents *contents, struct dat_leftover *files, size_t n,
		      const struct dat_job *job, struct spur_error *err)
{
	const struct dat_job alone = {0};
	struct restore r = {.job = job ? job : &alone};
	struct newfile file;
	int rc, fd;

	arena_init(&r.arena, 64u << 20);
	rc = prepare(&r, contents, files, n, err);
	fd = rc < 0 ? rc : newfile_create(&file, path, err);
	rc = fd < 0 ? fd : write_file(&r, path, fd, opt, files, err);
	if (rc == 0)
		rc = check_pages(files, n, err);
	if (fd >= 0)
		rc = newfile_end(&file, rc, err);
	arena_free(&r.arena);
	return rc < 0 ? error_sys(err, rc, "%s", path) : 0;
}
