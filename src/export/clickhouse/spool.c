// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The spool: blocks that could not be delivered, in one file each. Files appear only when they are
 * complete.
 *
 *	"spurblk1"	host, trace_id, table, plan (texts)
 *	u8 has_wall	u8 has_plan	u16 date	u32 number	u64 rows
 *	u32 columns	name and type (texts) of each
 *	u64 bytes	u64 packed	the rows as RowBinary, packed by zstd
 *	u64		a hash of all before it
 *
 * A text is a u32 length and its bytes; numbers are little-endian. Files are numbered in the order
 * in which they will be delivered. If a crash leaves a delivered file, it is delivered again, and
 * its rows are found on the server.
 *
 * The traces that a process works on are locked in the file "lock", a byte each: exports of
 * different traces do not wait for each other, and no process delivers blocks of a trace that
 * another one is loading.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zstd.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/order.h"
#include "base/vec.h"
#include "export/clickhouse/private.h"

#define MAGIC	     "spurblk1"
#define MAGIC_LEN    8
#define SUFFIX	     ".block"
#define FILE_LIMIT   (256u << 20)
#define DATA_LIMIT   (512u << 20)
#define MAX_COLUMNS  4096
#define MAX_TEXT     (1u << 20)
#define MAX_NUMBERS  1000000 /* names that are tried for a new file */
#define PACK_LEVEL   1
#define HASH_BYTES   8
#define NUMBER_WIDTH 16

static const struct hash_seed fixed = {0x9216d5d98979fb1b, 0xd1310ba698dfb5ac};

/* ---- the folder ---- */

/* "0000000000000012.block" */
static bool file_number(const char *name, uint64_t *out)
{
	uint64_t n = 0;

	for (int i = 0; i < NUMBER_WIDTH; i++, name++) {
		if (!isdigit((unsigned char)*name))
			return false;
		n = n * 10 + (uint64_t)(*name - '0');
	}
	*out = n;
	return strcmp(name, SUFFIX) == 0;
}

struct numbers {
	uint64_t *at;
	size_t n, cap;
};

static void path_of(const struct ch_spool *s, uint64_t number, struct buf *to)
{
	buf_reset(to);
	buf_printf(to, "%s/%0*" PRIu64 SUFFIX, s->opt->spool, NUMBER_WIDTH, number);
	buf_str(to);
}

static int list(struct ch_spool *s, struct numbers *out, struct spur_error *err)
{
	DIR *dir = opendir(s->opt->spool);
	const struct dirent *d;
	int rc = 0;

	if (!dir)
		return error_sys(err, -errno, "%s", s->opt->spool);
	s->bytes = 0;
	while (rc == 0 && (d = readdir(dir))) {
		uint64_t number;
		struct stat st;

		if (fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode))
			s->bytes += (uint64_t)st.st_size;
		if (!file_number(d->d_name, &number))
			continue;
		if (!vec_add(out, &number))
			rc = error_set(err, -ENOMEM, "out of memory");
		if (number >= s->next)
			s->next = number + 1;
	}
	closedir(dir);
	if (out->n)
		qsort(out->at, out->n, sizeof(*out->at), order_i64);
	return rc;
}

/* Its files are sent to the server with our credentials, so nobody else may write there. */
static int make_folder(const char *path, struct spur_error *err)
{
	struct stat st;

	file_make_parents(path, 0700);
	if ((mkdir(path, 0700) != 0 && errno != EEXIST) || lstat(path, &st) != 0)
		return error_sys(err, -errno, "%s", path);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return error_set(err, -EACCES,
				 "%s: a spool is a folder of the user's own that nobody else "
				 "may write to; spool=FOLDER names another",
				 path);
	return 0;
}

int ch_spool_open(struct ch_spool *s, const struct ch_options *opt, struct spur_error *err)
{
	struct numbers numbers = {0};
	char *lock = NULL;
	int rc;

	*s = (struct ch_spool){.opt = opt, .lock = -1};
	rc = make_folder(opt->spool, err);
	if (rc < 0)
		return rc;
	if (asprintf(&lock, "%s/lock", opt->spool) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	s->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	rc = s->lock < 0 ? error_sys(err, -errno, "%s", lock) : list(s, &numbers, err);
	vec_free(&numbers);
	free(lock);
	return rc;
}

void ch_spool_close(struct ch_spool *s)
{
	if (s->opt && s->lock >= 0)
		close(s->lock);
	s->lock = -1;
}

static int set_lock(struct ch_spool *s, uint64_t hash, short type)
{
	struct flock l = {.l_type = type,
			  .l_whence = SEEK_SET,
			  .l_start = (off_t)(hash & INT64_MAX >> 1),
			  .l_len = 1};

	if (fcntl(s->lock, F_OFD_SETLK, &l) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
}

int ch_spool_hold(struct ch_spool *s, uint64_t trace_hash)
{
	return set_lock(s, trace_hash, F_WRLCK);
}

void ch_spool_let_go(struct ch_spool *s, uint64_t trace_hash)
{
	set_lock(s, trace_hash, F_UNLCK);
}

/* ---- writing ---- */

static void put_number(struct buf *to, uint64_t v, unsigned int bytes)
{
	buf_uint(to, v, bytes, false);
}

static void put_text(struct buf *to, const char *text)
{
	put_number(to, strlen(text), 4);
	buf_puts(to, text);
}

static int encode(const struct ch_block *b, struct buf *to, struct spur_error *err)
{
	const size_t bound = ZSTD_compressBound(b->data.len);
	size_t packed, at;

	buf_put(to, MAGIC, MAGIC_LEN);
	put_text(to, b->host);
	put_text(to, b->trace_id);
	put_text(to, b->table);
	put_text(to, b->plan ? b->plan : "");
	put_number(to, b->has_wall, 1);
	put_number(to, b->plan != NULL, 1);
	put_number(to, b->date, 2);
	put_number(to, b->number, 4);
	put_number(to, b->rows, 8);
	put_number(to, b->columns->n, 4);
	vec_each (c, b->columns) {
		put_text(to, c->name);
		put_text(to, c->type);
	}
	put_number(to, b->data.len, 8);
	at = to->len;
	put_number(to, 0, 8);
	if (!buf_room(to, bound))
		return error_set(err, -ENOMEM, "out of memory");
	packed = ZSTD_compress(to->data + to->len, bound, b->data.data, b->data.len, PACK_LEVEL);
	if (ZSTD_isError(packed))
		return error_set(err, -EIO, "zstd: %s", ZSTD_getErrorName(packed));
	to->len += packed;
	store_uint(to->data + at, packed, 8, false);
	put_number(to, hash_bytes(&fixed, to->data, to->len), HASH_BYTES);
	return buf_full(to) ? error_set(err, -ENOMEM, "out of memory") : 0;
}

/* Renames it to the next free number; another process may do the same at that time. */
static int give_number(struct ch_spool *s, const char *temp, struct buf *path)
{
	for (int i = 0; i < MAX_NUMBERS; i++) {
		path_of(s, s->next++, path);
		if (link(temp, path->data) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

static int write_file(struct ch_spool *s, const struct buf *data, struct spur_error *err)
{
	scoped_buf path = buf_new(1 << 16);
	char *temp = NULL;
	int fd, rc;

	if (asprintf(&temp, "%s/.new-XXXXXX", s->opt->spool) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0) {
		rc = error_sys(err, -errno, "%s", s->opt->spool);
		free(temp);
		return rc;
	}
	rc = file_write_fd(fd, data->data, data->len);
	if (rc == 0 && fsync(fd) != 0)
		rc = -errno;
	if (close(fd) != 0 && rc == 0)
		rc = -errno;
	if (rc == 0)
		rc = give_number(s, temp, &path);
	unlink(temp);
	if (rc < 0)
		error_sys(err, rc, "%s", s->opt->spool);
	free(temp);
	return rc;
}

int ch_spool_add(struct ch_spool *s, const struct ch_block *b, struct spur_error *err)
{
	scoped_buf file = buf_new(FILE_LIMIT);
	int rc = encode(b, &file, err);

	if (rc == 0 && s->bytes + file.len > s->opt->spool_max)
		rc = error_set(err, -ENOSPC, "%s holds as much as it may (spool_max=%" PRIu64 ")",
			       s->opt->spool, s->opt->spool_max);
	if (rc == 0)
		rc = write_file(s, &file, err);
	if (rc < 0)
		return rc;
	s->bytes += file.len;
	s->blocks++;
	s->rows += b->rows;
	return 0;
}

/* ---- reading ---- */

/* A block that was read, with the memory that its pointers point to. */
struct stored {
	struct ch_block block;
	struct ch_columns columns;
	char *table, *plan;
};

static void stored_free(struct stored *st)
{
	ch_block_free(&st->block);
	ch_columns_free(&st->columns);
	free(st->table);
	free(st->plan);
}

static char *read_text(struct cursor *c)
{
	const uint32_t len = cursor_u32(c);
	const uint8_t *bytes = len <= MAX_TEXT ? cursor_bytes(c, len) : NULL;

	if (!bytes || memchr(bytes, 0, len)) {
		c->failed = true;
		return NULL;
	}
	return strndup((const char *)bytes, len);
}

static bool read_fixed(struct cursor *c, char *to, size_t cap)
{
	char *text = read_text(c);
	const bool fits = text && strlen(text) < cap;

	if (fits)
		memcpy(to, text, strlen(text) + 1);
	free(text);
	return fits;
}

static bool read_columns(struct cursor *c, struct ch_columns *out)
{
	const uint32_t n = cursor_u32(c);

	if (n > MAX_COLUMNS)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		char *name = read_text(c), *type = read_text(c);
		const char *known = type ? ch_type_find(type) : NULL;

		free(type);
		if (!name || !known || !vec_add(out, &(struct ch_column){name, known})) {
			free(name);
			return false;
		}
	}
	return true;
}

static bool read_data(struct cursor *c, struct buf *to)
{
	const uint64_t len = cursor_u64(c), packed = cursor_u64(c);
	const uint8_t *bytes = cursor_bytes(c, packed);

	buf_init(to, DATA_LIMIT);
	if (!bytes || len > DATA_LIMIT || !buf_room(to, (size_t)len))
		return false;
	to->len = (size_t)len;
	return ZSTD_decompress(to->data, (size_t)len, bytes, (size_t)packed) == len;
}

static bool decode(const struct buf *file, struct stored *st)
{
	struct ch_block *b = &st->block;
	struct cursor c;
	bool has_plan;

	if (file->len < MAGIC_LEN + HASH_BYTES || memcmp(file->data, MAGIC, MAGIC_LEN) != 0)
		return false;
	if (load_uint((const uint8_t *)file->data + file->len - HASH_BYTES, HASH_BYTES, false) !=
	    hash_bytes(&fixed, file->data, file->len - HASH_BYTES))
		return false;
	c = cursor_over(file->data + MAGIC_LEN, file->len - MAGIC_LEN - HASH_BYTES, false);
	if (!read_fixed(&c, b->host, sizeof(b->host)) ||
	    !read_fixed(&c, b->trace_id, sizeof(b->trace_id)))
		return false;
	st->table = read_text(&c);
	st->plan = read_text(&c);
	b->has_wall = cursor_u8(&c);
	has_plan = cursor_u8(&c);
	b->date = cursor_u16(&c);
	b->number = cursor_u32(&c);
	b->rows = cursor_u64(&c);
	if (!st->table || !st->plan || !read_columns(&c, &st->columns) || !read_data(&c, &b->data))
		return false;
	b->table = st->table;
	b->columns = &st->columns;
	b->plan = has_plan ? st->plan : NULL;
	b->waited = true;
	return !cursor_failed(&c);
}

static int deliver_stored(struct ch_spool *s, struct ch_store *store, struct stored *st,
			  struct spur_error *err)
{
	const uint64_t hash = ch_trace_hash(st->block.host, st->block.trace_id);
	int rc = ch_spool_hold(s, hash);

	if (rc < 0)
		return error_set(err, rc, "another export works on the same trace");
	rc = ch_store_deliver(store, &st->block, err);
	ch_spool_let_go(s, hash);
	return rc;
}

static void set_aside(struct ch_spool *s, const char *path)
{
	char *other = NULL;

	if (asprintf(&other, "%s.damaged", path) >= 0)
		rename(path, other);
	free(other);
}

/* Delivers one file. It is no error if another process has delivered it meanwhile. */
static int deliver_file(struct ch_spool *s, struct ch_store *store, const char *path,
			struct ch_spool_report *report, struct spur_error *err)
{
	struct stored st = {0};
	scoped_buf file = buf_new(FILE_LIMIT);
	int rc;

	rc = file_read(path, &file, err);
	if (rc == -ENOENT) {
		*err = (struct spur_error){0};
		rc = 0;
	} else if (rc == 0 && !decode(&file, &st)) {
		set_aside(s, path);
		report->damaged++;
	} else if (rc == 0) {
		rc = deliver_stored(s, store, &st, err);
		if (rc == 0) {
			unlink(path);
			report->delivered++;
		} else if (rc == -EREMOTEIO) {
			error_prefix(err, "%s", path);
		}
	}
	stored_free(&st);
	return rc;
}

int ch_spool_deliver(struct ch_spool *s, struct ch_store *store, struct ch_spool_report *report,
		     struct spur_error *err)
{
	struct numbers numbers = {0};
	scoped_buf path = buf_new(1 << 16);
	int rc;

	*report = (struct ch_spool_report){0};
	rc = list(s, &numbers, err);
	for (size_t i = 0; rc == 0 && i < numbers.n; i++) {
		struct spur_error why = {0};

		path_of(s, numbers.at[i], &path);
		rc = deliver_file(s, store, path.data, report, &why);
		if (rc == -EHOSTDOWN || rc == -EBUSY) {
			/* Other files may be for a shard that is reachable. */
			if (!report->left++)
				report->why = why;
			rc = 0;
			if (store->front.away) {
				report->left += numbers.n - i - 1;
				break;
			}
		} else {
			ch_pass_on(rc, &why, err);
		}
	}
	vec_free(&numbers);
	return rc;
}
