// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Opening and closing a file. Its first bytes are the same in all versions:
 *
 *	17 08 44 "tracing"
 *	string    version: "6", "7"
 *	u8        byte order of all numbers from here on: 0 little, 1 big endian
 *	u8        size of a long in the traced machine's user space
 *	u32       page size
 *	          … and from version 7 on:
 *	string    compressor, "none" without one
 *	string    its version
 *	u64       offset of the first options
 *
 * v6.c and v7.c read what follows. Then the buffers are settled, and the lists become arrays of the
 * arena.
 */
#include "dat/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"

/* ---- reading -------------------------------------------------------------------------- */

/* How many of n bytes lie in one piece, and where. */
static size_t find_piece(const struct dat_moved *m, size_t n, uint64_t *offset)
{
	uint64_t piece = n;

	if (*offset < m->at) {
		piece = m->at - *offset;
	} else if (*offset - m->at < m->size) {
		piece = m->size - (*offset - m->at);
		*offset = m->from + (*offset - m->at);
	}
	return piece < n ? (size_t)piece : n;
}

int64_t dat_read(const struct dat *d, void *to, size_t n, uint64_t offset)
{
	size_t done = 0;

	if (!d->moved.size)
		return file_read_at(d->fd, to, n, offset);
	while (done < n) {
		uint64_t at = offset + done;
		const size_t piece = find_piece(&d->moved, n - done, &at);
		const int64_t got = file_read_at(d->fd, (char *)to + done, piece, at);

		if (got < 0)
			return got;
		done += (size_t)got;
		if ((size_t)got < piece)
			break;
	}
	return (int64_t)done;
}

const char *dat_text(struct dat *d, const void *text, size_t n)
{
	const char *copy = arena_strndup(&d->arena, text, strnlen(text, n));

	return copy ? copy : "";
}

/* ---- buffers -------------------------------------------------------------------------- */

/*
 * Buffers: where the trace data of each CPU lie.
 *
 * When a buffer has been settled, [offset, offset + size) of each CPU lies inside the file, no two
 * of them overlap in the whole file (so that reading all of them reads no byte twice), and
 * page_size is usable or 0.
 */

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

/* CPUs with impossible numbers would cost memory wherever an array is indexed by CPU. */
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

/* If regions overlap, the one that starts later is right; of two that start together, the first. */
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
		b->cpus[i].chunks = dat_chunks_new(d);
		if (!b->cpus[i].chunks)
			return -ENOMEM;
	}
	b->stored_text.chunks = dat_chunks_new(d);
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

static int settle_buffers(struct dat_load *l)
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

/* ---- lists become arrays -------------------------------------------------------------- */

/* The byte after a blob is in the same block and has been parsed, see load.h. */
static void end_blob(struct dat_blob *b)
{
	if (b->offset)
		((uint8_t *)b->data)[b->size] = 0;
}

static void end_blobs(struct dat *d)
{
	struct dat_blob *const single[] = {&d->header_page, &d->header_event, &d->kallsyms,
					   &d->printk,	    &d->cmdlines,     &d->strings};

	for (size_t i = 0; i < ARRAY_SIZE(single); i++)
		end_blob(single[i]);
	for (size_t i = 0; i < d->nr_formats; i++)
		end_blob(&d->formats[i].text);
	for (size_t i = 0; i < d->nr_options; i++)
		end_blob(&d->options[i].data);
}

#define MOVE(list, array, count)                                                                   \
	((d->array = arena_copy(&d->arena, l->list.at, l->list.n, sizeof(*l->list.at))) != NULL && \
	 ((d->count = l->list.n), true))

/* Moves the lists into the arena; the struct dat is complete then. */
static int finish_load(struct dat_load *l)
{
	struct dat *d = l->d;
	int rc = settle_buffers(l);

	if (rc)
		return rc;
	dat_sort_tasks(l);
	if (!MOVE(options, options, nr_options) || !MOVE(sections, sections, nr_sections) ||
	    !MOVE(formats, formats, nr_formats) || !MOVE(systems, systems, nr_systems) ||
	    !MOVE(buffers, buffers, nr_buffers) || !MOVE(shifts, time_shifts, nr_time_shifts) ||
	    !MOVE(guests, guests, nr_guests) || !MOVE(processes, processes, nr_processes) ||
	    !MOVE(tasks, tasks, nr_tasks))
		return -ENOMEM;
	dat_find_followed(l);
	end_blobs(d);
	dat_note_cut(d);
	return 0;
}

static void free_load(struct dat_load *l)
{
	vec_free(&l->options);
	vec_free(&l->sections);
	vec_free(&l->formats);
	vec_free(&l->systems);
	vec_free(&l->buffers);
	vec_free(&l->shifts);
	vec_free(&l->guests);
	vec_free(&l->processes);
	vec_free(&l->tasks);
}

/* ---- opening -------------------------------------------------------------------------- */

#define DEFAULT_LIMIT ((size_t)1 << 30)
#define HEAD_MAX      256 /* the fields above with room for long names */

static int cut_off(struct dat *d, struct spur_error *err)
{
	return error_set(err, -ENODATA,
			 "cut off: the file ends after %llu bytes, inside its header",
			 (unsigned long long)d->file_size);
}

static int check_magic(struct dat *d, struct cursor *c, struct spur_error *err)
{
	size_t have = cursor_left(c) < DAT_MAGIC_SIZE ? cursor_left(c) : DAT_MAGIC_SIZE;

	if (!have)
		return error_set(err, -EBADMSG, "not a trace file: it is empty");
	if (memcmp(c->pos, DAT_MAGIC, have) != 0)
		return error_set(err, -EBADMSG,
				 "not a trace file: it does not start as a trace.dat does");
	if (have < DAT_MAGIC_SIZE)
		return cut_off(d, err);
	cursor_skip(c, have);
	return 0;
}

static int read_version(struct dat *d, struct cursor *c, struct spur_error *err)
{
	const char *version = cursor_string(c);

	if (!version && (size_t)(c->end - c->base) < HEAD_MAX)
		return cut_off(d, err);
	if (!version)
		return error_set(err, -EBADMSG, "the file's version has no end");
	if (strcmp(version, "6") == 0)
		d->version = 6;
	else if (strcmp(version, "7") == 0)
		d->version = 7;
	else if (strlen(version) < 4 && strspn(version, "0123456789") == strlen(version))
		return error_set(err, -EBADMSG,
				 "trace.dat version %s is not supported: only 6 and 7 are",
				 version);
	else
		return error_set(err, -EBADMSG, "the file's version is no number");
	return 0;
}

static int read_compressor(struct dat *d, struct cursor *c, struct spur_error *err)
{
	const char *name = cursor_string(c), *version = cursor_string(c);

	if (!name || !version)
		return 0;
	d->compression = dat_text(d, name, strlen(name));
	d->compression_version = dat_text(d, version, strlen(version));
	d->options_offset = cursor_u64(c);
	if (strcmp(name, "none") == 0)
		return 0;
	d->codec = dat_codec_find(name);
	if (!d->codec)
		return error_set(err, -EBADMSG, "compressed with \"%.40s\", which is not supported",
				 d->compression);
	return 0;
}

/* Reads the file's first fields; start is where the rest begins. */
static int read_head(struct dat *d, uint64_t *start, struct spur_error *err)
{
	uint8_t head[HEAD_MAX];
	int64_t n = dat_read(d, head, sizeof(head), 0);
	struct cursor c;
	uint8_t endian;
	int rc;

	if (n < 0)
		return error_sys(err, (int)n, "cannot be read");
	c = cursor_over(head, (size_t)n, false);
	rc = check_magic(d, &c, err);
	if (!rc)
		rc = read_version(d, &c, err);
	if (rc)
		return rc;
	endian = cursor_u8(&c);
	c.big_endian = d->big_endian = endian == 1;
	d->long_size = cursor_u8(&c);
	d->page_size = cursor_u32(&c);
	if (d->version == 7)
		rc = read_compressor(d, &c, err);
	if (rc)
		return rc;
	if (cursor_failed(&c))
		return n < HEAD_MAX
			       ? cut_off(d, err)
			       : error_set(err, -EBADMSG, "the name of its compressor has no end");
	if (endian > 1)
		dat_note_damage(d, -EBADMSG, cursor_offset(&c), "byte order %u", endian);
	if (d->long_size != 4 && d->long_size != 8) {
		dat_note_damage(d, -EBADMSG, cursor_offset(&c), "a long of %u bytes", d->long_size);
		d->long_size = 8;
	}
	*start = cursor_offset(&c);
	return 0;
}

static int find_size(struct dat *d, struct spur_error *err)
{
	struct stat st;
	off_t end;

	if (fstat(d->fd, &st) < 0)
		return error_sys(err, -errno, "cannot be read");
	if (S_ISDIR(st.st_mode))
		return error_set(err, -EISDIR, "is a directory, not a trace file");
	end = lseek(d->fd, 0, SEEK_END);
	if (end < 0)
		return error_set(err, -ESPIPE, "is not a file that can be read at any place");
	d->file_size = (uint64_t)end;
	return 0;
}

static struct dat *new_dat(int fd, const char *name, const struct dat_options *opt)
{
	struct dat *d = calloc(1, sizeof(*d));
	const struct dat_blob nothing = {.data = (const uint8_t *)""};

	if (!d)
		return NULL;
	arena_init(&d->arena, opt && opt->metadata_limit ? opt->metadata_limit : DEFAULT_LIMIT);
	pthread_mutex_init(&d->lock, NULL);
	d->fd = fd;
	d->path = dat_text(d, name, strlen(name));
	d->compression = "none";
	d->compression_version = "";
	d->header_page = d->header_event = d->kallsyms = d->printk = d->cmdlines = nothing;
	d->strings = nothing;
	d->uname = d->trace_version = d->clock = d->clocks = "";
	return d;
}

static int load(struct dat *d, struct spur_error *err)
{
	struct dat_load l = {.d = d};
	uint64_t start = 0;
	int rc = find_size(d, err);

	if (!rc)
		rc = read_head(d, &start, err);
	if (rc)
		return rc;
	rc = d->version == 6 ? dat_load_v6(&l, start) : dat_load_v7(&l, start);
	if (!rc)
		rc = finish_load(&l);
	free_load(&l);
	if (rc == -ENOMEM)
		return error_set(err, rc, "its metadata need more than %zu bytes of memory",
				 d->arena.limit);
	return rc ? error_sys(err, rc, "cannot be read") : 0;
}

int dat_open_fd(int fd, const char *name, const struct dat_options *opt, struct dat **out,
		struct spur_error *err)
{
	struct dat *d = new_dat(fd, name, opt);
	int rc;

	*out = NULL;
	if (!d) {
		close(fd);
		return error_sys(err, -ENOMEM, "%s", name);
	}
	rc = load(d, err);
	if (rc) {
		error_prefix(err, "%s", name);
		dat_close(d);
		return rc;
	}
	*out = d;
	return 0;
}

int dat_open(const char *path, const struct dat_options *opt, struct dat **out,
	     struct spur_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*out = NULL;
	if (fd < 0)
		return error_sys(err, -errno, "%s", path);
	return dat_open_fd(fd, path, opt, out, err);
}

void dat_close(struct dat *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->nr_buffers; i++) {
		for (uint32_t k = 0; k < d->buffers[i].nr_cpus; k++)
			dat_chunks_free(d->buffers[i].cpus[k].chunks);
		dat_chunks_free(d->buffers[i].stored_text.chunks);
	}
	pthread_mutex_destroy(&d->lock);
	arena_free(&d->arena);
	free(d->prefix);
	close(d->fd);
	free(d);
}

void dat_note_damage(struct dat *d, int code, uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&d->lock);
	if (!d->damage.code || d->damage.offset == DAT_NOWHERE) {
		d->damage.code = code;
		d->damage.offset = offset;
		va_start(ap, fmt);
		vsnprintf(d->damage.text, sizeof(d->damage.text), fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&d->lock);
}

const struct dat_option *dat_option_find(const struct dat *d, unsigned int id)
{
	for (size_t i = 0; i < d->nr_options; i++)
		if (d->options[i].id == id)
			return &d->options[i];
	return NULL;
}

const char *dat_string(const struct dat *d, uint32_t id)
{
	/* The NUL after the strings ends the last one, whatever it contains. */
	return id < d->strings.size ? (const char *)d->strings.data + id : "";
}
