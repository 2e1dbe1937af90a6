// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/parquet_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"
#include "export/parquet_parts.h"

#define BUF_LIMIT  (1u << 30)
#define FIRST_ROWS 64	      /* of a page's arrays, which grow */
#define PAGE_TEXT  (4u << 20) /* bytes of a column's texts: a page with more ends */
#define WORK_ROWS  (PQ_SORTED_ROWS > PQ_PAGE_ROWS ? PQ_SORTED_ROWS : PQ_PAGE_ROWS)

static void fail(struct pq_work *w)
{
	if (w->rc == 0)
		w->rc = error_set(w->err, -ENOMEM, "out of memory");
}

/* ---- what tables share ---- */

int pq_work_init(struct pq_work *w, int level, struct spur_error *err)
{
	*w = (struct pq_work){.seed = hash_seed_new(), .folder = -1, .err = err};
	buf_init(&w->raw, BUF_LIMIT);
	buf_init(&w->packed, BUF_LIMIT);
	buf_init(&w->other, BUF_LIMIT);
	buf_init(&w->other_packed, BUF_LIMIT);
	w->compressor = ZSTD_createCCtx();
	w->values = calloc(WORK_ROWS, sizeof(*w->values));
	w->ids = calloc(WORK_ROWS, sizeof(*w->ids));
	w->order = calloc(WORK_ROWS, sizeof(*w->order));
	w->present = calloc(WORK_ROWS / 64, sizeof(*w->present));
	if (!w->compressor || !w->values || !w->ids || !w->order || !w->present ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->compressor, ZSTD_c_compressionLevel, level)))
		fail(w);
	return w->rc;
}

void pq_work_free(struct pq_work *w)
{
	ZSTD_freeCCtx(w->compressor);
	buf_free(&w->raw);
	buf_free(&w->packed);
	buf_free(&w->other);
	buf_free(&w->other_packed);
	free(w->values);
	free(w->ids);
	free(w->order);
	free(w->present);
	free(w->keys);
}

/* ---- tables and their columns ---- */

struct pq_table *pq_table_new(struct pq_work *w, const char *name, uint32_t number, bool sorted)
{
	struct pq_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct pq_table){.work = w, .name = strdup(name), .sorted = sorted, .in_order = true};
	t->page_rows = sorted ? PQ_SORTED_ROWS : PQ_PAGE_ROWS;
	if (t->page_rows > w->group_rows)
		t->page_rows = w->group_rows;
	t->full = t->page_rows;
	snprintf(t->file, sizeof(t->file), "%u", number);
	buf_init(&t->groups, BUF_LIMIT);
	if (!t->name) {
		pq_table_free(t);
		return NULL;
	}
	return t;
}

static void free_page(struct pq_column *c)
{
	free(c->numbers);
	free(c->ids);
	free(c->missing);
	c->numbers = NULL;
	c->ids = NULL;
	c->missing = NULL;
}

/* Everything but what is needed to go on. */
static void free_chunk(struct pq_column *c)
{
	buf_free(&c->pages);
	buf_free(&c->dict_page);
	pq_numbers_free(&c->dict);
	if (!c->constant)
		pq_texts_free(&c->texts);
	c->epoch++;
}

void pq_table_free(struct pq_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		struct pq_column *c = &t->columns[i];

		free_page(c);
		free_chunk(c);
		pq_texts_free(&c->texts);
		buf_free(&c->least.text);
		buf_free(&c->most.text);
		free(c->name);
	}
	free(t->columns);
	buf_free(&t->groups);
	free(t->name);
	free(t);
}

uint32_t pq_table_add(struct pq_table *t, const char *name, enum pq_type type, bool nullable)
{
	const size_t n = t->nr_columns + 1;
	struct pq_column *more = reallocarray(t->columns, n, sizeof(*more)), *c;

	if (!more)
		return PQ_NO_ID;
	t->columns = more;
	c = &more[t->nr_columns];
	*c = (struct pq_column){.name = strdup(name), .type = type, .nullable = nullable};
	c->compressed = true;
	if (!c->name)
		return PQ_NO_ID;
	pq_texts_init(&c->texts, &t->work->seed);
	c->dict.seed = t->work->seed;
	buf_init(&c->pages, BUF_LIMIT);
	buf_init(&c->dict_page, BUF_LIMIT);
	buf_init(&c->least.text, PQ_BOUND_MAX);
	buf_init(&c->most.text, PQ_BOUND_MAX);
	return t->nr_columns++;
}

uint32_t pq_table_add_constant(struct pq_table *t, const char *name, const char *text)
{
	const uint32_t i = pq_table_add(t, name, PQ_TEXT, false);

	if (i == PQ_NO_ID)
		return i;
	t->columns[i].constant = true;
	t->columns[i].compressed = false;
	return pq_texts_id(&t->columns[i].texts, text, strlen(text)) == 0 ? i : PQ_NO_ID;
}

/* ---- memory ---- */

static size_t page_memory(const struct pq_table *t)
{
	size_t each = 0;

	for (uint32_t i = 0; i < t->nr_columns; i++)
		each += t->columns[i].type == PQ_TEXT ? sizeof(uint32_t) : sizeof(uint64_t);
	return each * t->cap;
}

static void count_memory(struct pq_table *t)
{
	size_t sum = page_memory(t);

	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct pq_column *c = &t->columns[i];

		if (!c->constant)
			sum += pq_texts_memory(&c->texts);
		sum += c->pages.cap + c->dict_page.cap + (size_t)c->dict.cap * sizeof(*c->dict.at) +
		       (size_t)c->dict.slots.cap * sizeof(*c->dict.slots.at);
	}
	t->work->memory += sum - t->memory;
	t->memory = sum;
}

static bool grow_column(struct pq_column *c, uint32_t was, uint32_t cap)
{
	void *more;

	if (c->constant)
		return true;
	if (c->type == PQ_TEXT) {
		more = reallocarray(c->ids, cap, sizeof(*c->ids));
		c->ids = more ? more : c->ids;
	} else {
		more = reallocarray(c->numbers, cap, sizeof(*c->numbers));
		c->numbers = more ? more : c->numbers;
	}
	if (!more || !c->missing)
		return more;
	more = reallocarray(c->missing, cap / 64, sizeof(*c->missing));
	if (!more)
		return false;
	c->missing = more;
	memset(c->missing + was / 64, 0, (cap - was) / 64 * sizeof(*c->missing));
	return true;
}

bool pq_table_room(struct pq_table *t)
{
	const uint32_t cap = t->cap ? t->cap * 2 : FIRST_ROWS;

	for (uint32_t i = 0; i < t->nr_columns; i++) {
		if (!grow_column(&t->columns[i], t->cap, cap)) {
			fail(t->work);
			return false;
		}
	}
	t->cap = cap;
	count_memory(t);
	return true;
}

void pq_table_shrink(struct pq_table *t)
{
	const bool write = t->sorted || page_memory(t) < t->memory / 2;

	if (write)
		pq_table_flush(t);
	else if (t->rows)
		pq_table_page(t);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		free_page(&t->columns[i]);
		if (write)
			free_chunk(&t->columns[i]);
	}
	t->cap = 0;
	count_memory(t);
}

/* ---- rows ---- */

void pq_set_null(struct pq_table *t, struct pq_column *c, uint32_t row)
{
	if (!c->missing)
		c->missing = calloc(t->cap / 64, sizeof(*c->missing));
	if (!c->missing) {
		fail(t->work);
		return;
	}
	c->missing[row / 64] |= 1ull << row % 64;
	c->nr_missing++;
}

uint32_t pq_set_text(struct pq_table *t, struct pq_column *c, uint32_t row, const char *text,
		     size_t len)
{
	const uint32_t id = pq_texts_id(&c->texts, text, len);

	if (id == PQ_NO_ID) {
		fail(t->work);
		pq_set_null(t, c, row);
		return id;
	}
	c->ids[row] = id;
	if (c->texts.bytes.len > PAGE_TEXT)
		t->full = 0;
	return id;
}

/* Whether the rows of the page go on in the order of time. */
static void check_order(struct pq_table *t)
{
	const uint64_t *ts = t->columns[0].numbers;
	int64_t last = t->group_rows ? (int64_t)t->last_ts : INT64_MIN;

	for (uint32_t i = 0; i < t->rows; i++) {
		t->in_order &= last <= (int64_t)ts[i];
		last = (int64_t)ts[i];
	}
	t->last_ts = (uint64_t)last;
}

void pq_table_page(struct pq_table *t)
{
	struct pq_work *w = t->work;
	const uint32_t *order = NULL;

	check_order(t);
	if (t->sorted && !t->in_order) {
		order = w->order;
		t->in_order = pq_sort(w, t->columns[0].numbers, t->rows);
		if (!t->in_order)
			fail(w);
	}
	for (uint32_t i = 0; i < t->nr_columns && w->rc == 0; i++)
		pq_column_page(w, &t->columns[i], order, t->rows);
	t->group_rows += t->rows;
	t->rows = 0;
	t->full = t->page_rows;
	if (t->sorted || t->group_rows >= w->group_rows)
		pq_table_flush(t);
	else
		count_memory(t);
}

/* ---- row groups ---- */

/* Describes the group, whose chunks are complete and will lie behind each other from here on. */
static void describe_group(struct pq_table *t)
{
	struct thrift to = {.to = &t->groups};
	uint64_t at = t->size, raw = 0;

	thrift_list(&to, 1, THRIFT_STRUCT, t->nr_columns);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct pq_column *c = &t->columns[i];

		pq_column_describe(c, &to, at, t->group_rows);
		at += c->dict_page.len + c->pages.len;
		raw += c->raw_bytes;
	}
	thrift_i64(&to, 2, (int64_t)raw);
	thrift_i64(&to, 3, (int64_t)t->group_rows);
	if (t->in_order) {
		thrift_list(&to, 4, THRIFT_STRUCT, 1);
		thrift_item(&to);
		thrift_i32(&to, 1, 0);
		thrift_bool(&to, 2, false);
		thrift_bool(&to, 3, false);
		thrift_end(&to);
	}
	thrift_i64(&to, 5, (int64_t)t->size);
	thrift_i64(&to, 6, (int64_t)(at - t->size));
	thrift_end(&to);
	t->nr_groups++;
}

/* Appends what is in w->raw to the file. */
static void write_raw(struct pq_table *t)
{
	struct pq_work *w = t->work;
	int fd, rc;

	if (buf_full(&w->raw))
		fail(w);
	if (w->rc < 0)
		return;
	fd = openat(w->folder, t->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	rc = fd < 0 ? -errno : file_write_fd(fd, w->raw.data, w->raw.len);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		w->rc = error_sys(w->err, rc, "the table %s", t->name);
	t->size += w->raw.len;
}

static void put_magic(struct pq_table *t)
{
	buf_reset(&t->work->raw);
	if (!t->size)
		buf_puts(&t->work->raw, PARQUET_MAGIC);
}

static void write_group(struct pq_table *t)
{
	struct pq_work *w = t->work;

	for (uint32_t i = 0; i < t->nr_columns; i++)
		pq_column_end(w, &t->columns[i]);
	put_magic(t);
	t->size += w->raw.len;
	describe_group(t);
	t->size -= w->raw.len;
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct pq_column *c = &t->columns[i];

		buf_put(&w->raw, c->dict_page.data, c->dict_page.len);
		buf_put(&w->raw, c->pages.data, c->pages.len);
	}
	write_raw(t);
	t->nr_rows += t->group_rows;
	t->group_rows = 0;
	t->in_order = true;
	for (uint32_t i = 0; i < t->nr_columns; i++)
		pq_column_reset(&t->columns[i]);
	count_memory(t);
}

void pq_table_flush(struct pq_table *t)
{
	if (t->rows)
		pq_table_page(t);
	if (t->group_rows && t->work->rc == 0)
		write_group(t);
}

/* ---- the footer ---- */

static void describe_type(const struct pq_table *t, const struct pq_column *c, struct thrift *to)
{
	if (c->type == PQ_TEXT) {
		thrift_i32(to, 6, 0); /* the older way to say it: UTF8 */
		thrift_begin(to, 10);
		thrift_begin(to, 1);
		thrift_end(to);
		thrift_end(to);
	} else if (c->type == PQ_UINT64) {
		thrift_i32(to, 6, 14);
		thrift_begin(to, 10);
		thrift_begin(to, 10);
		thrift_byte(to, 1, 64);
		thrift_bool(to, 2, false);
		thrift_end(to);
		thrift_end(to);
	} else if (c->type == PQ_TIME && t->work->wall) {
		thrift_begin(to, 10);
		thrift_begin(to, 8);
		/* Not "adjusted to UTC", although it is: DuckDB would cut it to microseconds. */
		thrift_bool(to, 1, false);
		thrift_begin(to, 2);
		thrift_begin(to, 3); /* nanoseconds */
		thrift_end(to);
		thrift_end(to);
		thrift_end(to);
		thrift_end(to);
	}
}

static void describe_schema(const struct pq_table *t, struct thrift *to)
{
	thrift_list(to, 2, THRIFT_STRUCT, t->nr_columns + 1);
	thrift_item(to);
	thrift_binary(to, 4, "schema", 6);
	thrift_i32(to, 5, (int32_t)t->nr_columns);
	thrift_end(to);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct pq_column *c = &t->columns[i];

		thrift_item(to);
		thrift_i32(to, 1, pq_stored(c));
		thrift_i32(to, 3, c->nullable ? PQ_OPTIONAL : PQ_REQUIRED);
		thrift_binary(to, 4, c->name, strlen(c->name));
		describe_type(t, c, to);
		thrift_end(to);
	}
}

/* Statistics are by the order of the columns' types. */
static void describe_orders(const struct pq_table *t, struct thrift *to)
{
	thrift_list(to, 7, THRIFT_STRUCT, t->nr_columns);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		thrift_item(to);
		thrift_begin(to, 1);
		thrift_end(to);
		thrift_end(to);
	}
}

static void describe_system(const struct pq_table *t, struct thrift *to)
{
	if (!t->system)
		return;
	thrift_list(to, 5, THRIFT_STRUCT, 1);
	thrift_item(to);
	thrift_binary(to, 1, PQ_KEY_SYSTEM, strlen(PQ_KEY_SYSTEM));
	thrift_binary(to, 2, t->system, strlen(t->system));
	thrift_end(to);
}

void pq_table_finish(struct pq_table *t)
{
	static const char author[] = "spur version " SPUR_VERSION;
	struct thrift to = {.to = &t->work->raw};
	size_t start;
	uint32_t len;

	pq_table_flush(t);
	put_magic(t);
	start = to.to->len;
	thrift_i32(&to, 1, 2);
	describe_schema(t, &to);
	thrift_i64(&to, 3, (int64_t)t->nr_rows);
	thrift_list(&to, 4, THRIFT_STRUCT, t->nr_groups);
	buf_put(to.to, t->groups.data, t->groups.len);
	describe_system(t, &to);
	thrift_binary(&to, 6, author, sizeof(author) - 1);
	describe_orders(t, &to);
	thrift_end(&to);
	len = (uint32_t)(to.to->len - start);
	buf_put(to.to,
		(uint8_t[]){(uint8_t)len, (uint8_t)(len >> 8), (uint8_t)(len >> 16),
			    (uint8_t)(len >> 24)},
		4);
	buf_puts(to.to, PARQUET_MAGIC);
	if (buf_full(&t->groups))
		fail(t->work);
	write_raw(t);
}
