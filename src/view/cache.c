// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/newfile.h"

#define ENDS	  (64u << 10) /* bytes of the trace that are compared, of either end */
#define MOST_KEPT 64	      /* files in the folder */
#define SUFFIX	  ".view"

/* ---- which trace it is of ---- */

static bool sum_ends(const struct dat *d, uint64_t size, uint64_t *sum)
{
	uint8_t *bytes = malloc(ENDS);
	const uint64_t behind = size > ENDS ? size - ENDS : 0;
	ssize_t a = -1, b = -1;

	if (bytes) {
		a = pread(d->fd, bytes, ENDS, 0);
		*sum = a > 0 ? store_sum(*sum, bytes, (size_t)a) : 0;
		b = pread(d->fd, bytes, ENDS, (off_t)behind);
		*sum = b > 0 ? store_sum(*sum, bytes, (size_t)b) : 0;
	}
	free(bytes);
	return a > 0 && b > 0;
}

static uint64_t sum_options(const struct spur_trace *t)
{
	static const char version[] = SPUR_VERSION;
	uint64_t sum = store_sum(CACHE_FORMAT, version, sizeof(version));

	for (uint32_t i = 0; i < t->nr_buffers; i++) {
		const struct trace_time *time = &t->buffers[i].time;

		sum = store_sum(sum, &time->ts2nsec, sizeof(time->ts2nsec));
		sum = store_sum(sum, &time->mult, sizeof(time->mult));
		sum = store_sum(sum, &time->shift_bits, sizeof(time->shift_bits));
		sum = store_sum(sum, &time->offset, sizeof(time->offset));
	}
	return store_sum(sum, &t->opt.raw_ts, sizeof(t->opt.raw_ts));
}

bool cache_identify(const struct spur_trace *t, struct identity *id)
{
	struct stat st;

	if (!t->dat || t->dat->unfinished || fstat(t->dat->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*id = (struct identity){.size = (uint64_t)st.st_size,
				.inode = st.st_ino,
				.seconds = (uint64_t)st.st_mtim.tv_sec,
				.nanoseconds = (uint64_t)st.st_mtim.tv_nsec,
				.options = sum_options(t)};
	return sum_ends(t->dat, id->size, &id->ends);
}

char *cache_path(const char *folder, const struct identity *id)
{
	char *path;

	return asprintf(&path, "%s/%016llx" SUFFIX, folder,
			(unsigned long long)store_sum(0, id, sizeof(*id))) < 0
		       ? NULL
		       : path;
}

/* ---- header ---- */

static void put_number(struct buf *to, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		buf_putc(to, (char)(v >> 8 * i));
}

void cache_put_header(const struct cache_header *h, struct buf *to)
{
	const uint64_t numbers[] = {CACHE_FORMAT,
				    h->trace.size,
				    h->trace.inode,
				    h->trace.seconds,
				    h->trace.nanoseconds,
				    h->trace.ends,
				    h->trace.options,
				    h->tables,
				    h->sum,
				    h->store};

	buf_puts(to, CACHE_MAGIC);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		put_number(to, numbers[i]);
	buf_fill(to, 0, CACHE_HEADER - to->len);
}

bool cache_get_header(struct cursor *c, struct cache_header *h)
{
	const uint8_t *magic = cursor_bytes(c, strlen(CACHE_MAGIC));
	uint64_t format;

	if (!magic || memcmp(magic, CACHE_MAGIC, strlen(CACHE_MAGIC)) != 0)
		return false;
	format = cursor_u64(c);
	h->trace.size = cursor_u64(c);
	h->trace.inode = cursor_u64(c);
	h->trace.seconds = cursor_u64(c);
	h->trace.nanoseconds = cursor_u64(c);
	h->trace.ends = cursor_u64(c);
	h->trace.options = cursor_u64(c);
	h->tables = cursor_u64(c);
	h->sum = cursor_u64(c);
	h->store = cursor_u64(c);
	return !cursor_failed(c) && format == CACHE_FORMAT && h->tables <= CACHE_LIMIT &&
	       h->store <= MOST_TIME;
}

/* ---- keeping ---- */

/* Too many files: the one that was used longest ago goes. */
static void tidy(const char *folder)
{
	DIR *d = opendir(folder);
	const struct dirent *e;
	char oldest[NAME_MAX + 1] = "";
	struct timespec when = {0};
	size_t n = 0;

	while (d && (e = readdir(d)) != NULL) {
		const size_t len = strlen(e->d_name);
		struct stat st;

		if (len <= strlen(SUFFIX) || e->d_name[0] == '.' ||
		    strcmp(e->d_name + len - strlen(SUFFIX), SUFFIX) != 0 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		n++;
		if (!oldest[0] || st.st_mtim.tv_sec < when.tv_sec) {
			memcpy(oldest, e->d_name, len + 1);
			when = st.st_mtim;
		}
	}
	if (d && n > MOST_KEPT)
		unlinkat(dirfd(d), oldest, 0);
	if (d)
		closedir(d);
}

static int fill_file(struct view_index *x, int fd, const struct identity *id, uint64_t *base)
{
	struct buf body, header;
	int rc = -ENOMEM;

	buf_init(&body, CACHE_LIMIT);
	buf_init(&header, CACHE_HEADER);
	if (cache_put_tables(x, &body)) {
		const struct cache_header h = {.trace = *id,
					       .tables = body.len,
					       .sum = store_sum(0, body.data, body.len),
					       .store = x->store.size};

		cache_put_header(&h, &header);
		*base = cache_store_at(&h);
		rc = file_write_at(fd, header.data, header.len, 0, NULL);
		rc = rc < 0 ? rc : file_write_at(fd, body.data, body.len, CACHE_HEADER, NULL);
		rc = rc < 0 ? rc : store_copy(&x->store, fd, *base);
		/* So much is promised, also when nothing is in the last bytes of it. */
		if (rc == 0 && ftruncate(fd, (off_t)(*base + h.store)) < 0)
			rc = -errno;
	}
	buf_free(&body);
	buf_free(&header);
	return rc;
}

void cache_write(struct view_index *x)
{
	struct newfile file;
	struct identity id;
	uint64_t base;
	char *path;
	int fd = -1;

	if (!x->cache || !cache_identify(x->trace, &id))
		return;
	path = cache_path(x->cache, &id);
	if (path)
		fd = newfile_create(&file, path, NULL);
	free(path);
	if (fd < 0)
		return;
	if (fchmod(fd, 0600) < 0 || fill_file(x, fd, &id, &base) < 0 ||
	    newfile_keep(&file, NULL) < 0) {
		newfile_drop(&file);
		close(fd);
		return;
	}
	store_move(&x->store, fd, base);
	tidy(x->cache);
}

void cache_drop(const struct view_index *x)
{
	struct identity id;
	char *path;

	if (!x->cache || !cache_identify(x->trace, &id))
		return;
	path = cache_path(x->cache, &id);
	if (path)
		unlink(path);
	free(path);
}

/* ---- reading ---- */

static bool read_bytes(int fd, uint8_t *to, size_t len, uint64_t at)
{
	return file_read_at(fd, to, len, at) == (int64_t)len;
}

static bool same_trace(const struct identity *a, const struct identity *b)
{
	return a->size == b->size && a->inode == b->inode && a->seconds == b->seconds &&
	       a->nanoseconds == b->nanoseconds && a->ends == b->ends && a->options == b->options;
}

/* Its tables, checked, which the caller frees; NULL: it is not what is looked for. */
static uint8_t *read_tables(int fd, const struct identity *id, struct cache_header *h)
{
	uint8_t head[CACHE_HEADER], *bytes;
	struct cursor c = cursor_over(head, sizeof(head), false);
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !read_bytes(fd, head, sizeof(head), 0) ||
	    !cache_get_header(&c, h) || !same_trace(&h->trace, id) ||
	    (uint64_t)st.st_size < CACHE_HEADER + h->tables ||
	    (uint64_t)st.st_size < cache_store_at(h) + h->store)
		return NULL;
	bytes = malloc(h->tables + 1);
	if (bytes && (!read_bytes(fd, bytes, h->tables, CACHE_HEADER) ||
		      store_sum(0, bytes, h->tables) != h->sum)) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

int cache_read(struct view_index *x)
{
	struct cache_header h;
	struct identity id;
	uint8_t *bytes;
	struct cursor c;
	char *path;
	int fd = -1, rc = 0;

	if (!x->cache || !cache_identify(x->trace, &id))
		return 0;
	path = cache_path(x->cache, &id);
	if (path)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	free(path);
	if (fd < 0)
		return 0;
	bytes = read_tables(fd, &id, &h);
	if (bytes) {
		c = cursor_over(bytes, h.tables, false);
		rc = cache_get_tables(x, &c) ? 1 : -EBADMSG;
		free(bytes);
	}
	if (rc == 1) {
		store_free(&x->store);
		store_over(&x->store, fd, cache_store_at(&h), h.store);
		/* The one that is not used for long goes first. */
		(void)!futimens(fd, NULL);
		if (h.store <= CACHE_SMALL && !cache_check_store(x))
			rc = -EBADMSG;
	} else {
		close(fd);
	}
	return rc;
}
