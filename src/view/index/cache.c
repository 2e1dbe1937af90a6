// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Storing finished indexes in a folder; see cache.h for the layout.
 *
 * A stored index is untrusted. Its times and values may be wrong, but all indexes and offsets are
 * checked: numbers of rows, tracks and types when the tables are read, offsets in the store when a
 * block is read.
 */
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
#include "base/scoped.h"
#include "base/vec.h"
#include "view/index/cache.h"

/* ---- tables as bytes ---- */

static void put_u8(struct buf *to, uint8_t v)
{
	buf_putc(to, (char)v);
}

static void put_u32(struct buf *to, uint32_t v)
{
	buf_uint(to, v, 4, false);
}

static void put_u64(struct buf *to, uint64_t v)
{
	buf_uint(to, v, 8, false);
}

static void put_text(struct buf *to, const char *text)
{
	buf_put(to, text, strlen(text) + 1);
}

static void put_types(const struct event_types *t, struct buf *to)
{
	put_u32(to, t->nr);
	put_u32(to, t->n);
	for (uint32_t i = 0; i < t->n; i++) {
		put_u32(to, t->events[i]);
		put_u64(to, t->counts[i]);
	}
}

static void put_places(const struct view_index *x, struct buf *to)
{
	put_u32(to, (uint32_t)x->places.n);
	vec_each (p, &x->places) {
		put_u64(to, p->ts);
		put_u64(to, p->n);
	}
	put_u32(to, (uint32_t)x->ticks.n);
	vec_each (t, &x->ticks) {
		put_u32(to, (uint32_t)t->ticks->places.n);
		vec_each (p, &t->ticks->places) {
			put_u64(to, p->page);
			put_u64(to, p->before);
		}
	}
}

static void put_row(const struct row *r, struct buf *to)
{
	const struct view_row *a = &r->about;

	put_u8(to, (uint8_t)a->kind);
	put_u32(to, a->buffer);
	put_u64(to, (uint64_t)a->number);
	put_u64(to, (uint64_t)a->tgid);
	put_u64(to, a->events);
	put_u64(to, a->first);
	put_u64(to, a->last);
	/* Names are in the order in which they were learned, the last one last. */
	put_u8(to, (uint8_t)(a->name ? a->nr_older + 1 : 0));
	for (uint32_t i = a->nr_older; a->name && i-- > 0;)
		put_text(to, a->older[i]);
	if (a->name)
		put_text(to, a->name);
}

static void put_seq(const struct sequence *s, struct buf *to)
{
	put_u32(to, s->n);
	put_u32(to, s->last);
	for (uint32_t i = 0; i < s->n; i++) {
		put_u64(to, s->blocks[i].start);
		put_u64(to, s->blocks[i].at);
	}
}

static void put_levels(const struct levels *l, struct buf *to)
{
	put_u8(to, (uint8_t)l->top);
	for (uint32_t k = 0; k < LEVELS; k++) {
		if (!l->at[k] || !l->at[k]->stored.n)
			continue;
		put_u8(to, (uint8_t)k);
		put_seq(&l->at[k]->stored, to);
	}
	put_u8(to, LEVELS);
}

/* The CPU whose ticks the track uses, + 1; 0: they are stored. */
static uint32_t ticks_number(const struct view_index *x, const struct track *t)
{
	uint32_t i = 0;

	if (!t->ticks)
		return 0;
	while (x->ticks.at[i].ticks != t->ticks)
		i++;
	return i + 1;
}

static void put_track(const struct view_index *x, const struct track *t, struct buf *to)
{
	put_u8(to, (uint8_t)t->about.kind);
	put_u32(to, t->about.depth);
	put_u32(to, ticks_number(x, t));
	put_u64(to, t->n);
	put_u64(to, t->busy);
	put_seq(&t->seq, to);
	put_u8(to, t->levels != NULL);
	if (t->levels)
		put_levels(t->levels, to);
}

bool cache_put_tables(struct view_index *x, struct buf *to)
{
	const struct row_list *l = &x->rows;

	put_u64(to, x->origin);
	put_u64(to, x->duration);
	put_u64(to, x->records);
	put_types(&x->types, to);
	put_places(x, to);
	put_u32(to, (uint32_t)l->names.n);
	for (size_t i = 0; i < l->names.n; i++)
		put_text(to, l->names.at[i]);
	put_u32(to, (uint32_t)l->rows.n);
	for (size_t i = 0; i < l->rows.n; i++)
		put_row(l->rows.at[i], to);
	vec_each (r, &l->rows) {
		put_u32(to, (*r)->about.nr_tracks);
		for (uint32_t k = 0; k < (*r)->about.nr_tracks; k++)
			put_track(x, (*r)->tracks[k], to);
	}
	return !buf_full(to);
}

/* ---- tables from bytes ---- */

static bool get_types(struct view_index *x, struct cursor *c)
{
	struct event_types *t = &x->types;
	uint32_t n;

	if (cursor_u32(c) != t->nr)
		return false;
	n = cursor_u32(c);
	for (uint32_t i = 0; i < n && !cursor_failed(c); i++) {
		const uint32_t event = cursor_u32(c);
		const uint64_t count = cursor_u64(c);

		if (event > t->nr || t->number[event])
			return false;
		t->counts[types_number(t, event)] = count;
	}
	return !cursor_failed(c);
}

static bool get_places(struct view_index *x, struct cursor *c)
{
	for (uint32_t n = cursor_u32(c); n > 0 && !cursor_failed(c); n--) {
		struct record_place *p = vec_push(&x->places);

		if (!p)
			return false;
		p->ts = cursor_u64(c);
		p->n = cursor_u64(c);
		if (p->ts > MOST_TIME || p->n > x->records)
			return false;
	}
	if (cursor_u32(c) != x->ticks.n)
		return false;
	vec_each (t, &x->ticks) {
		for (uint32_t n = cursor_u32(c); n > 0 && !cursor_failed(c); n--) {
			struct ticks_place *p = vec_push(&t->ticks->places);

			if (!p)
				return false;
			p->page = cursor_u64(c);
			p->before = cursor_u64(c);
			if (p->before > MOST_TIME)
				return false;
		}
	}
	return !cursor_failed(c);
}

static bool get_names(struct view_index *x, struct cursor *c)
{
	const uint32_t n = cursor_u32(c);

	for (uint32_t i = 0; i < n; i++) {
		const char *name = cursor_string(c);

		/* Equal names would get the same number. */
		if (!name || name_number(&x->rows, name) != i)
			return false;
	}
	return !cursor_failed(c);
}

static bool get_row(struct view_index *x, uint32_t expected, struct cursor *c)
{
	const uint8_t kind = cursor_u8(c);
	const uint32_t buffer = cursor_u32(c);
	const int64_t number = (int64_t)cursor_u64(c);
	struct view_row *r;

	/* Rows of CPUs exist already, but for those without records. */
	if (cursor_failed(c) || buffer >= x->trace->nr_buffers || kind > VIEW_COUNTER_ROW ||
	    (kind == VIEW_CPU_ROW && (number < 0 || number > INT32_MAX)) ||
	    row_of(&x->rows, (enum view_row_kind)kind, buffer, number) != expected)
		return false;
	r = &row_get(&x->rows, expected)->about;
	r->tgid = (int64_t)cursor_u64(c);
	r->events = cursor_u64(c);
	r->first = cursor_u64(c);
	r->last = cursor_u64(c);
	for (uint8_t names = cursor_u8(c); names > 0; names--) {
		const char *name = cursor_string(c);

		if (!name)
			return false;
		row_rename(&x->rows, expected, name);
	}
	return !cursor_failed(c);
}

static bool get_seq(struct sequence *s, struct cursor *c)
{
	const uint32_t n = cursor_u32(c);

	s->last = cursor_u32(c);
	if (s->last > SEQUENCE_ITEMS || n > cursor_left(c) / 16)
		return false;
	s->blocks = calloc(n + 1, sizeof(*s->blocks));
	if (!s->blocks)
		return false;
	for (s->n = 0; s->n < n; s->n++) {
		s->blocks[s->n].start = cursor_u64(c);
		s->blocks[s->n].at = cursor_u64(c);
	}
	s->cap = n + 1;
	return !cursor_failed(c);
}

static bool get_levels(struct levels *l, struct cursor *c)
{
	uint8_t k;

	l->top = cursor_u8(c);
	while ((k = cursor_u8(c)) < LEVELS && !cursor_failed(c)) {
		if (l->at[k])
			return false;
		l->at[k] = calloc(1, sizeof(*l->at[k]));
		if (!l->at[k] || !get_seq(&l->at[k]->stored, c))
			return false;
	}
	return !cursor_failed(c) && l->top < LEVELS;
}

/* Makes a track of a row, except that of a CPU's records, which exists already. */
static struct track *make_track(struct view_index *x, uint32_t row, uint8_t kind, uint32_t depth,
				uint32_t ticks)
{
	struct track *t;

	if (ticks) {
		if (ticks > x->ticks.n || x->ticks.at[ticks - 1].track->row != row ||
		    kind != VIEW_EVENTS)
			return NULL;
		t = x->ticks.at[ticks - 1].track;
		levels_free(t->levels);
		t->levels = NULL;
		return t;
	}
	if (kind > VIEW_COUNTER)
		return NULL;
	t = row_new_track(&x->rows, &x->builders[BUILT_OF_RECORDS], row, (enum view_track_kind)kind,
			  depth);
	if (t && kind == VIEW_EVENTS)
		t->types = &x->types;
	return t;
}

static bool get_track(struct view_index *x, uint32_t row, struct cursor *c)
{
	const uint8_t kind = cursor_u8(c);
	const uint32_t depth = cursor_u32(c), ticks = cursor_u32(c);
	struct track *t;

	if (cursor_failed(c))
		return false;
	t = make_track(x, row, kind, depth, ticks);
	if (!t || t->n || t->seq.blocks)
		return false;
	t->n = cursor_u64(c);
	t->busy = cursor_u64(c);
	if (!get_seq(&t->seq, c))
		return false;
	if (!cursor_u8(c))
		return !cursor_failed(c) && !ticks;
	t->levels = levels_new(kind == VIEW_EVENTS);
	return t->levels && get_levels(t->levels, c);
}

bool cache_get_tables(struct view_index *x, struct cursor *c)
{
	uint32_t rows;
	bool good;

	if (cursor_u64(c) != x->origin)
		return false;
	x->duration = cursor_u64(c);
	x->records = cursor_u64(c);
	good = x->duration <= MOST_TIME && get_types(x, c) && get_places(x, c) && get_names(x, c);
	rows = cursor_u32(c);
	for (uint32_t i = 0; good && i < rows; i++)
		good = get_row(x, i, c);
	for (uint32_t i = 0; good && i < rows; i++)
		for (uint32_t n = cursor_u32(c); good && n > 0; n--)
			good = get_track(x, i, c);
	return good && rows == view_index_rows(x) && !cursor_failed(c) && !cursor_left(c);
}

static bool check_seq(struct view_index *x, const struct sequence *s)
{
	uint8_t bytes[SEQUENCE_BYTES];

	for (uint32_t i = 0; i < s->n; i++)
		if (!sequence_load(s, &x->store, i, bytes))
			return false;
	return true;
}

static bool check_track(struct view_index *x, const struct track *t)
{
	bool good = check_seq(x, &t->seq);

	for (uint32_t k = 0; good && t->levels && k < LEVELS; k++)
		good = !t->levels->at[k] || check_seq(x, &t->levels->at[k]->stored);
	return good;
}

/* Checks the sums of all blocks, and so reads the whole store. */
static bool check_store(struct view_index *x)
{
	vec_each (r, &x->rows.rows)
		for (uint32_t k = 0; k < (*r)->about.nr_tracks; k++)
			if (!check_track(x, (*r)->tracks[k]))
				return false;
	return true;
}

#define ENDS	  (64u << 10) /* bytes at both ends of the trace that are compared */
#define MOST_KEPT 64	      /* files in the folder */
#define SUFFIX	  ".view"

/* ---- which trace it is of ---- */

static bool sum_ends(const struct dat *d, uint64_t size, uint64_t *sum)
{
	uint8_t *bytes = malloc(ENDS);
	const uint64_t tail = size > ENDS ? size - ENDS : 0;
	ssize_t a = -1, b = -1;

	if (bytes) {
		a = pread(d->fd, bytes, ENDS, 0);
		*sum = a > 0 ? store_sum(*sum, bytes, (size_t)a) : 0;
		b = pread(d->fd, bytes, ENDS, (off_t)tail);
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

/* False if the trace is no regular file, or still changes. */
static bool identify(const struct spur_trace *t, struct cache_identity *id)
{
	struct stat st;

	if (!t->dat || t->dat->unfinished || fstat(t->dat->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	*id = (struct cache_identity){.size = (uint64_t)st.st_size,
				      .inode = st.st_ino,
				      .seconds = (uint64_t)st.st_mtim.tv_sec,
				      .nanoseconds = (uint64_t)st.st_mtim.tv_nsec,
				      .options = sum_options(t)};
	return sum_ends(t->dat, id->size, &id->ends);
}

/*
 * "FOLDER/NUMBER.view", which the caller frees; NULL if indexes are not stored, or without memory.
 */
static char *kept_path(const struct view_index *x, struct cache_identity *id)
{
	char *path;

	if (!x->cache || !identify(x->trace, id) ||
	    asprintf(&path, "%s/%016llx" SUFFIX, x->cache,
		     (unsigned long long)store_sum(0, id, sizeof(*id))) < 0)
		return NULL;
	return path;
}

/* ---- header ---- */

/* The numbers of a header after that of the format, in order. */
#define HEADER_NUMBERS 9
_Static_assert(sizeof(struct cache_header) == HEADER_NUMBERS * sizeof(uint64_t),
	       "a header is nothing but these numbers");

void cache_put_header(const struct cache_header *h, struct buf *to)
{
	uint64_t numbers[HEADER_NUMBERS];

	memcpy(numbers, h, sizeof(numbers));
	buf_puts(to, CACHE_MAGIC);
	put_u64(to, CACHE_FORMAT);
	for (size_t i = 0; i < HEADER_NUMBERS; i++)
		put_u64(to, numbers[i]);
	buf_fill(to, 0, CACHE_HEADER - to->len);
}

bool cache_get_header(struct cursor *c, struct cache_header *h)
{
	const uint8_t *magic = cursor_bytes(c, strlen(CACHE_MAGIC));
	uint64_t format, numbers[HEADER_NUMBERS];

	if (!magic || memcmp(magic, CACHE_MAGIC, strlen(CACHE_MAGIC)) != 0)
		return false;
	format = cursor_u64(c);
	for (size_t i = 0; i < HEADER_NUMBERS; i++)
		numbers[i] = cursor_u64(c);
	memcpy(h, numbers, sizeof(numbers));
	return !cursor_failed(c) && format == CACHE_FORMAT && h->tables <= CACHE_LIMIT &&
	       h->store <= MOST_TIME;
}

/* The offset of the store in the file. */
static uint64_t store_at(const struct cache_header *h)
{
	return (CACHE_HEADER + h->tables + 4095) & ~4095ull;
}

/* ---- keeping ---- */

/* If there are too many files, removes the least recently used one. */
static void tidy(const char *folder)
{
	scoped_dir d = opendir(folder);
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
}

static bool fill_file(struct view_index *x, int fd, const struct cache_identity *id, uint64_t *base)
{
	scoped_buf body = buf_new(CACHE_LIMIT);
	scoped_buf header = buf_new(CACHE_HEADER);
	struct cache_header h = {.trace = *id, .store = x->store.size};

	if (!cache_put_tables(x, &body))
		return false;
	h.tables = body.len;
	h.sum = store_sum(0, body.data, body.len);
	cache_put_header(&h, &header);
	*base = store_at(&h);
	/* In the end it has this size, even if the last bytes are unused. */
	return file_write_at(fd, header.data, header.len, 0, NULL) >= 0 &&
	       file_write_at(fd, body.data, body.len, CACHE_HEADER, NULL) >= 0 &&
	       store_copy(&x->store, fd, *base) >= 0 &&
	       ftruncate(fd, (off_t)(*base + h.store)) == 0;
}

void cache_write(struct view_index *x)
{
	struct newfile file;
	struct cache_identity id;
	uint64_t base;
	char *path = kept_path(x, &id);
	int fd = path ? newfile_create(&file, path, NULL) : -1;

	free(path);
	if (fd < 0)
		return;
	if (fchmod(fd, 0600) < 0 || !fill_file(x, fd, &id, &base) ||
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
	struct cache_identity id;
	char *path = kept_path(x, &id);

	if (path)
		unlink(path);
	free(path);
}

/* ---- reading ---- */

static bool read_bytes(int fd, uint8_t *to, size_t len, uint64_t at)
{
	return file_read_at(fd, to, len, at) == (int64_t)len;
}

/* Reads and checks the tables, which the caller frees; NULL if the file does not match. */
static uint8_t *read_tables(int fd, const struct cache_identity *id, struct cache_header *h)
{
	uint8_t head[CACHE_HEADER], *bytes;
	struct cursor c = cursor_over(head, sizeof(head), false);
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !read_bytes(fd, head, sizeof(head), 0) ||
	    !cache_get_header(&c, h) || memcmp(&h->trace, id, sizeof(*id)) != 0 ||
	    (uint64_t)st.st_size < CACHE_HEADER + h->tables ||
	    (uint64_t)st.st_size < store_at(h) + h->store)
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
	struct cache_identity id;
	uint8_t *bytes;
	struct cursor c;
	char *path = kept_path(x, &id);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1, rc = 0;

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
		store_over(&x->store, fd, store_at(&h), h.store);
		/* Notes the use: the least recently used file is removed first. */
		(void)!futimens(fd, NULL);
		if (h.store <= CACHE_SMALL && !check_store(x))
			rc = -EBADMSG;
	} else {
		close(fd);
	}
	return rc;
}
