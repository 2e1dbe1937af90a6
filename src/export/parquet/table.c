// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables: their columns and row groups, and the footer that describes a file. */
#include "export/parquet/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zstd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/file.h"
#include "base/vec.h"

#define FORMAT_VERSION 2
#define BUF_LIMIT      (1u << 30)
#define FIRST_ROWS     PQ_BATCH /* of a column's arrays, which grow */
#define COUNT_ROWS     16384	/* added, and it is counted again what a table takes */

/* The words are there already. */
static void set_rc(struct pq_work *w, int rc)
{
	w->rc = rc;
	if (w->failed)
		__atomic_store_n(w->failed, rc, __ATOMIC_RELAXED);
}

void pq_fail(struct pq_work *w)
{
	if (w->rc == 0)
		set_rc(w, error_set(w->err, -ENOMEM, "out of memory"));
}

/* ---- what tables share ---------------------------------------------------------------- */

int pq_work_init(struct pq_work *w, int level, struct spur_error *err)
{
	struct buf *const bufs[] = {&w->out,	&w->pages, &w->raw,
				    &w->packed, &w->other, &w->other_packed};

	*w = (struct pq_work){.seed = hash_seed_new(), .folder = -1, .err = err};
	for (size_t i = 0; i < ARRAY_SIZE(bufs); i++)
		buf_init(bufs[i], BUF_LIMIT);
	w->compressor = ZSTD_createCCtx();
	w->values = calloc(PQ_PAGE_ROWS, sizeof(*w->values));
	w->cells = calloc(PQ_PAGE_ROWS, sizeof(uint32_t));
	w->present = calloc(PQ_PAGE_ROWS / 64, sizeof(*w->present));
	if (!w->compressor || !w->values || !w->cells || !w->present ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(w->compressor, ZSTD_c_compressionLevel, level)))
		pq_fail(w);
	return w->rc;
}

void pq_work_free(struct pq_work *w)
{
	ZSTD_freeCCtx(w->compressor);
	buf_free(&w->out);
	buf_free(&w->pages);
	buf_free(&w->raw);
	buf_free(&w->packed);
	buf_free(&w->other);
	buf_free(&w->other_packed);
	free(w->values);
	free(w->cells);
	free(w->present);
	free(w->places);
	free(w->ranks);
	free(w->order);
	free(w->keys);
}

/* ---- tables and their columns --------------------------------------------------------- */

struct pq_table *pq_table_new(struct pq_work *w, const char *name, uint32_t number, bool sorted)
{
	struct pq_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct pq_table){.work = w, .name = strdup(name), .sorted = sorted};
	t->group_rows = w->group_rows;
	if (sorted && t->group_rows > PQ_SORTED_ROWS)
		t->group_rows = PQ_SORTED_ROWS;
	t->full = t->group_rows;
	snprintf(t->file, sizeof(t->file), "%u", number);
	buf_init(&t->groups, BUF_LIMIT);
	if (!t->name) {
		pq_table_free(t);
		return NULL;
	}
	return t;
}

void pq_table_free(struct pq_table *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		struct pq_column *c = &t->columns[i];

		pq_column_reset(c, 0);
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
	c->width = type == PQ_TIME ? sizeof(uint64_t) : 1;
	if (!c->name)
		return PQ_NO_ID;
	pq_texts_init(&c->texts, &t->work->seed);
	c->dict.seed = t->work->seed;
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
	return pq_texts_id(&t->columns[i].texts, text, strlen(text)) == 0 ? i : PQ_NO_ID;
}

/* ---- memory --------------------------------------------------------------------------- */

static size_t column_memory(const struct pq_table *t, const struct pq_column *c)
{
	if (c->constant)
		return 0;
	return (size_t)t->cap * c->width + (c->missing ? t->cap / 8 : 0) +
	       (c->memo ? sizeof(*c->memo) : 0) + pq_texts_memory(&c->texts) +
	       (size_t)c->dict.cap * sizeof(*c->dict.at) +
	       (size_t)c->dict.slots.cap * sizeof(*c->dict.slots.at);
}

static void count_memory(struct pq_table *t)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < t->nr_columns; i++)
		sum += column_memory(t, &t->columns[i]);
	t->work->memory += sum - t->memory;
	t->memory = sum;
}

static bool grow_column(struct pq_column *c, uint32_t was, uint32_t cap)
{
	void *more;

	if (c->constant)
		return true;
	more = reallocarray(c->cells, cap, c->width);
	if (!more)
		return false;
	c->cells = more;
	if (!c->missing)
		return true;
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
			pq_fail(t->work);
			return false;
		}
	}
	t->cap = cap;
	count_memory(t);
	return true;
}

/* ---- rows ----------------------------------------------------------------------------- */

static void write_group(struct pq_table *t, uint32_t cap);

void pq_rows_end(struct pq_table *t, uint32_t n)
{
	const uint32_t before = t->rows / COUNT_ROWS;

	t->rows += n;
	if (t->rows >= t->full)
		write_group(t, t->cap);
	else if (t->rows / COUNT_ROWS != before)
		count_memory(t);
}

void pq_table_complete(struct pq_table *t)
{
	if (t->complete)
		t->complete(t->complete_arg);
}

void pq_table_shrink(struct pq_table *t)
{
	pq_table_complete(t);
	write_group(t, 0);
}

/* Whether the rows of the group are in the order of time. */
static bool in_order(const struct pq_table *t)
{
	const uint64_t *ts = t->columns[0].cells;
	bool ordered = true;

	for (uint32_t i = 1; i < t->rows; i++)
		ordered &= (int64_t)ts[i - 1] <= (int64_t)ts[i];
	return ordered;
}

/* ---- row groups ----------------------------------------------------------------------- */

/* Describes the group, whose chunks will lie one after the other from here on. */
static void describe_group(struct pq_table *t, uint64_t start, bool sorted)
{
	struct thrift to = {.to = &t->groups};
	uint64_t at = start, raw = 0;

	thrift_list(&to, PQ_GROUP_COLUMNS, THRIFT_STRUCT, t->nr_columns);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct pq_column *c = &t->columns[i];

		pq_column_describe(c, &to, at, t->rows);
		at += c->len;
		raw += c->raw_bytes;
	}
	thrift_i64(&to, PQ_GROUP_RAW_BYTES, (int64_t)raw);
	thrift_i64(&to, PQ_GROUP_ROWS, t->rows);
	if (sorted) {
		thrift_list(&to, PQ_GROUP_SORTED_BY, THRIFT_STRUCT, 1);
		thrift_item(&to);
		thrift_i32(&to, PQ_SORTING_COLUMN, 0);
		thrift_bool(&to, PQ_SORTING_FALLS, false);
		thrift_bool(&to, PQ_SORTING_NULLS_FIRST, false);
		thrift_end(&to);
	}
	thrift_i64(&to, PQ_GROUP_OFFSET, (int64_t)start);
	thrift_i64(&to, PQ_GROUP_BYTES, (int64_t)(at - start));
	thrift_end(&to);
	t->nr_groups++;
}

/* Appends what is in w->out to the file. */
static void write_out(struct pq_table *t)
{
	struct pq_work *w = t->work;
	int fd, rc;

	if (buf_full(&w->out))
		pq_fail(w);
	if (w->rc < 0)
		return;
	fd = openat(w->folder, t->file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	rc = fd < 0 ? -errno : file_write_fd(fd, w->out.data, w->out.len);
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc < 0)
		set_rc(w, error_sys(w->err, rc, "the table %s", t->name));
	t->size += w->out.len;
}

static void put_magic(struct pq_table *t)
{
	buf_reset(&t->work->out);
	if (!t->size)
		buf_puts(&t->work->out, PARQUET_MAGIC);
}

/* The next one has room for `cap` rows; 0: the memory is given back. */
static void write_group(struct pq_table *t, uint32_t cap)
{
	struct pq_work *w = t->work;
	const uint32_t *order = NULL;
	bool sorted = in_order(t);
	uint64_t start;

	if (t->sorted && !sorted) {
		sorted = pq_sort(w, t->columns[0].cells, t->rows);
		order = w->order;
		if (!sorted)
			pq_fail(w);
	}
	put_magic(t);
	start = t->size + w->out.len;
	for (uint32_t i = 0; i < t->nr_columns && t->rows && w->rc == 0; i++)
		pq_column_encode(w, &t->columns[i], order, t->rows);
	if (t->rows && w->rc == 0) {
		describe_group(t, start, sorted);
		write_out(t);
	}
	t->nr_rows += t->rows;
	t->rows = 0;
	t->cap = cap;
	t->full = t->group_rows;
	for (uint32_t i = 0; i < t->nr_columns; i++)
		if (!pq_column_reset(&t->columns[i], cap))
			pq_fail(w);
	count_memory(t);
}

/* ---- the footer ----------------------------------------------------------------------- */

static void describe_type(const struct pq_table *t, const struct pq_column *c, struct thrift *to)
{
	if (c->type == PQ_TEXT) {
		thrift_i32(to, PQ_SCHEMA_CONVERTED, PQ_UTF8);
		thrift_begin(to, PQ_SCHEMA_LOGICAL);
		thrift_begin(to, PQ_LOGICAL_STRING);
		thrift_end(to);
		thrift_end(to);
	} else if (c->type == PQ_UINT64) {
		thrift_i32(to, PQ_SCHEMA_CONVERTED, PQ_UINT_64);
		thrift_begin(to, PQ_SCHEMA_LOGICAL);
		thrift_begin(to, PQ_LOGICAL_INTEGER);
		thrift_byte(to, PQ_INTEGER_BITS, 64);
		thrift_bool(to, PQ_INTEGER_SIGNED, false);
		thrift_end(to);
		thrift_end(to);
	} else if (c->type == PQ_TIME && t->work->wall) {
		thrift_begin(to, PQ_SCHEMA_LOGICAL);
		thrift_begin(to, PQ_LOGICAL_TIMESTAMP);
		/* Not "adjusted to UTC", although it is: DuckDB would cut it to microseconds. */
		thrift_bool(to, PQ_TIMESTAMP_IS_UTC, false);
		thrift_begin(to, PQ_TIMESTAMP_UNIT);
		thrift_begin(to, PQ_NANOS);
		thrift_end(to);
		thrift_end(to);
		thrift_end(to);
		thrift_end(to);
	}
}

static void describe_schema(const struct pq_table *t, struct thrift *to)
{
	thrift_list(to, PQ_FILE_SCHEMA, THRIFT_STRUCT, t->nr_columns + 1);
	thrift_item(to);
	thrift_binary(to, PQ_SCHEMA_NAME, "schema", 6);
	thrift_i32(to, PQ_SCHEMA_CHILDREN, (int32_t)t->nr_columns);
	thrift_end(to);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		const struct pq_column *c = &t->columns[i];

		thrift_item(to);
		thrift_i32(to, PQ_SCHEMA_TYPE, pq_stored(c));
		thrift_i32(to, PQ_SCHEMA_REPETITION, c->nullable ? PQ_OPTIONAL : PQ_REQUIRED);
		thrift_binary(to, PQ_SCHEMA_NAME, c->name, strlen(c->name));
		describe_type(t, c, to);
		thrift_end(to);
	}
}

/* Statistics are by the order of the columns' types. */
static void describe_orders(const struct pq_table *t, struct thrift *to)
{
	thrift_list(to, PQ_FILE_COLUMN_ORDERS, THRIFT_STRUCT, t->nr_columns);
	for (uint32_t i = 0; i < t->nr_columns; i++) {
		thrift_item(to);
		thrift_begin(to, PQ_ORDER_BY_TYPE);
		thrift_end(to);
		thrift_end(to);
	}
}

static void describe_system(const struct pq_table *t, struct thrift *to)
{
	if (!t->system)
		return;
	thrift_list(to, PQ_FILE_PAIRS, THRIFT_STRUCT, 1);
	thrift_item(to);
	thrift_binary(to, PQ_PAIR_KEY, PQ_KEY_SYSTEM, strlen(PQ_KEY_SYSTEM));
	thrift_binary(to, PQ_PAIR_VALUE, t->system, strlen(t->system));
	thrift_end(to);
}

void pq_table_finish(struct pq_table *t)
{
	static const char author[] = "spur version " SPUR_VERSION;
	struct thrift to = {.to = &t->work->out};
	size_t start;
	uint32_t len;

	pq_table_shrink(t);
	put_magic(t);
	start = to.to->len;
	thrift_i32(&to, PQ_FILE_VERSION, FORMAT_VERSION);
	describe_schema(t, &to);
	thrift_i64(&to, PQ_FILE_ROWS, (int64_t)t->nr_rows);
	thrift_list(&to, PQ_FILE_GROUPS, THRIFT_STRUCT, t->nr_groups);
	buf_put(to.to, t->groups.data, t->groups.len);
	describe_system(t, &to);
	thrift_binary(&to, PQ_FILE_CREATED_BY, author, sizeof(author) - 1);
	describe_orders(t, &to);
	thrift_end(&to);
	len = (uint32_t)(to.to->len - start);
	buf_uint(to.to, len, sizeof(len), false);
	buf_puts(to.to, PARQUET_MAGIC);
	if (buf_full(&t->groups))
		pq_fail(t->work);
	write_out(t);
}
