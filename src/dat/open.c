// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Opening and closing. The first bytes of a file, the same in all versions:
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
 * What follows is read by v6.c and v7.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "dat/chunks.h"
#include "dat/load.h"

#define DEFAULT_LIMIT ((size_t)1 << 30)
#define HEAD_MAX      256 /* the fields above with room for long names */

static const uint8_t magic[] = {0x17, 0x08, 0x44, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

static int cut_off(struct dat *d, struct spur_error *err)
{
	return error_set(err, -ENODATA,
			 "cut off: the file ends after %llu bytes, inside its header",
			 (unsigned long long)d->file_size);
}

static int check_magic(struct dat *d, struct cursor *c, struct spur_error *err)
{
	size_t have = cursor_left(c) < sizeof(magic) ? cursor_left(c) : sizeof(magic);

	if (!have)
		return error_set(err, -EBADMSG, "not a trace file: it is empty");
	if (memcmp(c->pos, magic, have) != 0)
		return error_set(err, -EBADMSG,
				 "not a trace file: it does not start as a trace.dat does");
	if (have < sizeof(magic))
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
		rc = dat_load_finish(&l);
	dat_load_free(&l);
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
	/* The NUL behind the strings ends the last one, whatever it contains. */
	return id < d->strings.size ? (const char *)d->strings.data + id : "";
}
