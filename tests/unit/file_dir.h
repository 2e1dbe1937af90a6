/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory of a test's own with small traces in it (dat_file.h), and how to look at them.
 *
 *	struct file_dir d;
 *	file_dir_open(&d);
 *	file_dir_put(&d, "in.dat", &kind, &content, 0);
 *	…
 *	file_dir_close(&d);
 */
#ifndef TESTS_FILE_DIR_H
#define TESTS_FILE_DIR_H

#include <dirent.h>
#include <fcntl.h>

#include "dat_file.h"

static const struct dat_kind file_kinds[] = {
	{6, false, 8, "none"}, {6, true, 4, "none"},  {7, false, 8, "none"}, {7, true, 8, "none"},
	{7, false, 4, "zlib"}, {7, false, 8, "zstd"}, {7, true, 4, "zstd"},
};
#define FILE_NR_KINDS (sizeof(file_kinds) / sizeof(file_kinds[0]))

#define FILE_PATH 400 /* bytes of a path at most */

struct file_dir {
	char path[64];
	char name[FILE_PATH]; /* of file_in() */
};

static inline void file_dir_open(struct file_dir *d)
{
	snprintf(d->path, sizeof(d->path), "/tmp/spur-test-XXXXXX");
	assert_non_null(mkdtemp(d->path));
}

/* The path of a file; valid until the next call. */
static inline const char *file_in(struct file_dir *d, const char *name)
{
	snprintf(d->name, sizeof(d->name), "%s/%s", d->path, name);
	return d->name;
}

/* How many files there are. */
static inline unsigned int file_dir_count(const struct file_dir *d)
{
	DIR *dir = opendir(d->path);
	struct dirent *e;
	unsigned int n = 0;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
	closedir(dir);
	return n;
}

static inline void file_dir_close(struct file_dir *d)
{
	DIR *dir = opendir(d->path);
	struct dirent *e;

	assert_non_null(dir);
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlink(file_in(d, e->d_name));
	closedir(dir);
	rmdir(d->path);
}

static inline void file_dir_write(struct file_dir *d, const char *name, const void *data, size_t n)
{
	int fd = open(file_in(d, name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

/* Writes a small trace, its last `missing` bytes left out. */
static inline void file_dir_put(struct file_dir *d, const char *name, const struct dat_kind *kind,
				const struct dat_content *content, size_t missing)
{
	struct dat_file f;

	dat_file_make(&f, kind, content);
	assert_true(f.b.len > missing);
	file_dir_write(d, name, f.b.data, f.b.len - missing);
	dat_file_free(&f);
}

static inline struct dat *file_open(struct file_dir *d, const char *name)
{
	struct spur_error err = {0};
	struct dat *dat;

	if (dat_open(file_in(d, name), NULL, &dat, &err) < 0)
		fail_msg("%s", err.text);
	return dat;
}

/* The trace data of a CPU of a buffer. */
static inline void file_read_data(struct dat *d, const struct dat_buffer *b, uint32_t cpu,
				  struct buf *to)
{
	for (uint32_t i = 0; i < b->nr_cpus; i++) {
		struct dat_pages *pages;
		struct dat_page page;

		if (b->cpus[i].cpu != cpu || !b->cpus[i].size)
			continue;
		assert_int_equal(dat_pages_open(d, b, &b->cpus[i], &pages), 0);
		for (uint64_t k = 0; dat_pages_get(pages, k, &page) > 0; k++)
			buf_put(to, page.data, page.size);
		dat_pages_close(pages);
	}
}

#endif
