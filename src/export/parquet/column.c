// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Column chunks: a row group's cells of a column as pages.
 *
 * Texts use a dictionary, unless that would be too large, or hardly any text occurs twice. So do
 * numbers, unless the first page shows that differences are smaller. Times are always stored as
 * differences.
 */
#include "export/parquet/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <zstd.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/order.h"
#include "export/parquet/encode.h"

/* ---- the rows of a page --------------------------------------------------------------- */

/* The values of a page that are there, in the order of its rows. */
struct page_rows {
	const uint32_t *order; /* of the group's rows; NULL: as they came */
	uint32_t from, nr;     /* rows of the group */
	uint32_t n;	       /* values that are there */
	const void *cells;     /* as wide as the column's */
	bool missing;	       /* some are: w->present has a bit for each one that is not */
};

/* ---- cells that are numbers of a dictionary ------------------------------------------- */

/*
 * Copies cells in order, with one function per width. If no cell is missing and all are in order,
 * they are not copied. Loops use local variables, because a byte that is written could otherwise
 * alias anything.
 */
#define GATHER(type)                                                                               \
	static const type *gather_##type(struct pq_work *w, const type *cells,                     \
					 const struct page_rows *p)                                \
	{                                                                                          \
		const uint32_t *restrict order = p->order;                                         \
		const uint32_t from = p->from, nr = p->nr;                                         \
		type *restrict to = w->cells;                                                      \
                                                                                                   \
		if (!order)                                                                        \
			return cells + from;                                                       \
		_Pragma("GCC unroll 8") for (uint32_t i = 0; i < nr; i++) to[i] =                  \
			cells[order[from + i]];                                                    \
		return w->cells;                                                                   \
	}                                                                                          \
                                                                                                   \
	/* In place if need be: what is written has been read. */                                  \
	static uint32_t drop_missing_##type(struct pq_work *w, const type *cells, uint32_t nr)     \
	{                                                                                          \
		uint64_t *present = w->present;                                                    \
		type *to = w->cells;                                                               \
		uint32_t n = 0;                                                                    \
                                                                                                   \
		for (uint32_t i = 0; i < nr; i += 64) {                                            \
			const uint32_t left = nr - i < 64 ? nr - i : 64;                           \
			uint64_t there = 0;                                                        \
			type any = 0;                                                              \
                                                                                                   \
			for (uint32_t k = 0; left == 64 && k < 64; k++)                            \
				any |= cells[i + k];                                               \
			if (left == 64 && !any) {                                                  \
				present[i / 64] = 0;                                               \
				continue;                                                          \
			}                                                                          \
			for (uint32_t k = 0; k < left; k++) {                                      \
				const type cell = cells[i + k];                                    \
                                                                                                   \
				there |= (uint64_t)(cell != 0) << k;                               \
				to[n] = cell;                                                      \
				n += cell != 0;                                                    \
			}                                                                          \
			present[i / 64] = there;                                                   \
		}                                                                                  \
		return n;                                                                          \
	}                                                                                          \
                                                                                                   \
	static void take_##type(struct pq_work *w, const struct pq_column *c, struct page_rows *p) \
	{                                                                                          \
		p->cells = gather_##type(w, c->cells, p);                                          \
		if (!c->has_nulls)                                                                 \
			return;                                                                    \
		p->n = drop_missing_##type(w, p->cells, p->nr);                                    \
		p->missing = p->n < p->nr;                                                         \
		p->cells = w->cells;                                                               \
	}

GATHER(uint8_t)
GATHER(uint16_t)
GATHER(uint32_t)

/* ---- numbers -------------------------------------------------------------------------- */

static inline bool is_missing(const struct pq_column *c, uint32_t row)
{
	return c->missing[row / 64] >> row % 64 & 1;
}

static void take_numbers(struct pq_work *w, const struct pq_column *c, struct page_rows *p)
{
	const uint64_t *numbers = c->cells;

	if (!p->order && !c->has_nulls) {
		p->cells = numbers + p->from;
		return;
	}
	p->cells = w->values;
	if (!c->has_nulls) {
		const uint32_t *order = p->order + p->from;
		const uint32_t nr = p->nr;
		uint64_t *values = w->values;

		for (uint32_t i = 0; i < nr; i++)
			values[i] = numbers[order[i]];
		return;
	}
	p->n = 0;
	memset(w->present, 0, (p->nr + 63) / 64 * sizeof(*w->present));
	for (uint32_t i = 0; i < p->nr; i++) {
		const uint32_t row = p->order ? p->order[p->from + i] : p->from + i;

		if (is_missing(c, row))
			continue;
		w->present[i / 64] |= 1ull << i % 64;
		w->values[p->n++] = numbers[row];
	}
	p->missing = p->n < p->nr;
}

/* The fast cases: one value in all rows, or no values at all. */
static bool take_uniform(struct pq_work *w, const struct pq_column *c, struct page_rows *p)
{
	const uint32_t values = c->type == PQ_TEXT ? c->texts.n : c->dict.n;

	if (c->width != 1 || values > 1 || (values && c->has_nulls))
		return false;
	p->cells = w->cells;
	if (values) {
		memset(w->cells, 1, p->nr);
	} else {
		memset(w->present, 0, (p->nr + 63) / 64 * sizeof(*w->present));
		p->n = 0;
		p->missing = true;
	}
	return true;
}

/* The cells of a page's rows, in their order and without those that are missing. */
static void gather(struct pq_work *w, const struct pq_column *c, struct page_rows *p)
{
	p->n = p->nr;
	p->missing = false;
	if (take_uniform(w, c, p))
		return;
	switch (c->width) {
	case 1: take_uint8_t(w, c, p); break;
	case 2: take_uint16_t(w, c, p); break;
	case 4: take_uint32_t(w, c, p); break;
	default: take_numbers(w, c, p); break;
	}
}

/* ---- chunks --------------------------------------------------------------------------- */

#define DICT_TEXT_BYTES (1u << 20) /* larger dictionaries of texts are of no use */
#define DICT_SHARE	4	   /* that part of a dictionary is left of it when compressed */
#define SMALL_DICT	256	   /* of this many numbers takes the least in any case … */
#define FEW_TIMES	4	   /* … if they come as often as this, on average */
#define MANY_ROWS	64	   /* rows needed to see that texts hardly ever repeat */
#define WORTH_TRYING	1024 /* a page of so many bytes can show that compressing is useless */
#define SURE_GROUPS	15   /* after one for which a dictionary was better */

/* A chunk on its way. */
struct chunk {
	struct pq_work *w;
	struct pq_column *c;
	bool by_dict;
	uint32_t limit;		/* entries of the dictionary */
	const uint16_t *places; /* of them; NULL: in their order */
	bool codec_known;
	uint32_t pages; /* that there will be */
};

/* ---- pages ---------------------------------------------------------------------------- */

struct page {
	bool is_dict;
	enum pq_encoding encoding;
	uint32_t values; /* rows, or entries of a dictionary */
};

static void put_header(struct buf *to, const struct page *p, size_t raw, const struct buf *body)
{
	struct thrift t = {.to = to};

	thrift_i32(&t, PQ_PAGE_TYPE, p->is_dict ? PQ_DICTIONARY_PAGE : PQ_DATA_PAGE);
	thrift_i32(&t, PQ_PAGE_RAW_BYTES, (int32_t)raw);
	thrift_i32(&t, PQ_PAGE_BYTES, (int32_t)body->len);
	/* Without it, damage to a page that is not compressed would not be noticed. */
	thrift_i32(&t, PQ_PAGE_CHECKSUM, (int32_t)pq_checksum(body));
	thrift_begin(&t, p->is_dict ? PQ_PAGE_DICT_HEAD : PQ_PAGE_DATA_HEAD);
	thrift_i32(&t, PQ_HEAD_VALUES, (int32_t)p->values);
	thrift_i32(&t, PQ_HEAD_ENCODING, (int32_t)p->encoding);
	if (!p->is_dict) {
		thrift_i32(&t, PQ_HEAD_DEFINITION_LEVELS, PQ_RLE);
		thrift_i32(&t, PQ_HEAD_REPETITION_LEVELS, PQ_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
}

/* Appends the compressed bytes to a buffer. */
static bool compress(struct pq_work *w, const struct buf *raw, struct buf *to)
{
	const size_t most = ZSTD_compressBound(raw->len);
	size_t n;

	if (buf_full(raw) || !buf_room(to, most))
		return false;
	n = ZSTD_compress2(w->compressor, to->data + to->len, most, raw->data, raw->len);
	if (ZSTD_isError(n))
		return false;
	to->len += n;
	return true;
}

/*
 * The first page of a chunk may show that its bytes cannot be compressed, as is often true for
 * times.
 */
static void choose_codec(struct chunk *k, size_t raw, size_t packed)
{
	if (!k->codec_known)
		k->c->compressed = raw < WORTH_TRYING || packed < raw - raw / 32;
	k->codec_known = true;
}

/* Appends a page whose bytes are in `raw`; `packed` has them compressed, if it has anything. */
static void put_page(struct chunk *k, struct buf *to, const struct page *p, const struct buf *raw,
		     struct buf *packed)
{
	struct pq_column *c = k->c;
	const struct buf *body = raw;
	const size_t start = to->len;

	if (!c->constant) {
		if ((c->compressed || !k->codec_known) && !packed->len &&
		    !compress(k->w, raw, packed))
			pq_fail(k->w);
		choose_codec(k, raw->len, packed->len);
	}
	if (c->compressed)
		body = packed;
	put_header(to, p, raw->len, body);
	c->raw_bytes += to->len - start + raw->len;
	c->encodings |= 1u << p->encoding;
	buf_put(to, body->data, body->len);
	if (buf_full(to) || buf_full(raw))
		pq_fail(k->w);
}

/* ---- what is known about values ------------------------------------------------------- */

static void count_numbers(struct pq_column *c, const uint64_t *v, uint32_t n)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	/* Unsigned numbers are compared as signed ones with an inverted highest bit. */
	const uint64_t turn = c->type == PQ_UINT64 ? 1ull << 63 : 0;

	for (uint32_t i = 0; i < n; i++) {
		const int64_t x = (int64_t)(v[i] ^ turn);

		least = x < least ? x : least;
		most = x > most ? x : most;
	}
	if (!n)
		return;
	if (!c->has_numbers || least < (int64_t)(c->min ^ turn))
		c->min = (uint64_t)least ^ turn;
	if (!c->has_numbers || most > (int64_t)(c->max ^ turn))
		c->max = (uint64_t)most ^ turn;
	c->has_numbers = true;
}

/* A bound that is too long stays, because its text is not stored for comparisons. */
static void take_bound(struct pq_bound *b, const char *text, size_t len)
{
	if (buf_full(&b->text))
		return;
	buf_reset(&b->text);
	buf_put(&b->text, text, len);
	b->is_set = true;
}

/* As Parquet compares texts: by their bytes. */
static int compare(const struct pq_bound *b, const char *text, size_t len)
{
	return order_texts(b->text.data, b->text.len, text, len);
}

static void count_texts(struct pq_column *c)
{
	for (uint32_t i = 0; i < c->texts.n; i++) {
		size_t len;
		const char *text = pq_text(&c->texts, i, &len);

		if (!c->least.is_set || compare(&c->least, text, len) > 0)
			take_bound(&c->least, text, len);
		if (!c->most.is_set || compare(&c->most, text, len) < 0)
			take_bound(&c->most, text, len);
	}
}

/* ---- dictionaries --------------------------------------------------------------------- */

/* Unused places also get a value. */
static void put_numbers(const struct chunk *k, struct buf *to)
{
	const struct pq_numbers *d = &k->c->dict;
	uint64_t *v = k->w->values;

	if (!k->places) {
		pq_put_plain(to, d->at, d->n, pq_is_narrow(k->c));
		return;
	}
	for (uint32_t i = 0; i < k->limit; i++)
		v[i] = d->at[0];
	for (uint32_t i = 0; i < d->n; i++)
		v[k->places[i]] = d->at[i];
	pq_put_plain(to, v, k->limit, pq_is_narrow(k->c));
}

static void put_dict_page(struct chunk *k)
{
	struct pq_work *w = k->w;
	const struct page p = {.is_dict = true, .encoding = PQ_PLAIN, .values = k->limit};
	const size_t start = w->out.len;

	buf_reset(&w->other);
	buf_reset(&w->other_packed);
	if (k->c->type == PQ_TEXT)
		buf_put(&w->other, k->c->texts.bytes.data, k->c->texts.bytes.len);
	else
		put_numbers(k, &w->other);
	if (k->limit)
		put_page(k, &w->out, &p, &w->other, &w->other_packed);
	k->c->dict_len = w->out.len - start;
}

/* ---- numbers -------------------------------------------------------------------------- */

/* The page's numbers themselves. */
static const uint64_t *numbers_of(struct chunk *k, const struct page_rows *p)
{
	const uint64_t *dict = k->c->dict.at;

	switch (k->c->width) {
	case 1:
		for (uint32_t i = 0; i < p->n; i++)
			k->w->values[i] = dict[((const uint8_t *)p->cells)[i] - 1];
		return k->w->values;
	case 2:
		for (uint32_t i = 0; i < p->n; i++)
			k->w->values[i] = dict[((const uint16_t *)p->cells)[i] - 1];
		return k->w->values;
	default: return p->cells;
	}
}

static void swap(struct buf *a, struct buf *b)
{
	const struct buf was = *a;

	*a = *b;
	*b = was;
}

/*
 * Encodes the first page both ways and chooses the shorter one for the chunk. `raw` has the levels
 * already.
 */
static void try_both(struct chunk *k, const struct page_rows *p)
{
	struct pq_work *w = k->w;
	const size_t dict = (size_t)k->c->dict.n * (pq_is_narrow(k->c) ? 4 : 8) / DICT_SHARE;

	buf_reset(&w->other);
	buf_reset(&w->other_packed);
	buf_put(&w->other, w->raw.data, w->raw.len);
	pq_put_indexes(&w->raw, p->cells, k->c->width, p->n, k->limit, k->places);
	pq_put_delta(&w->other, numbers_of(k, p), p->n, pq_is_narrow(k->c));
	if (!compress(w, &w->raw, &w->packed) || !compress(w, &w->other, &w->other_packed))
		pq_fail(w);
	if (w->packed.len * k->pages + dict <= w->other_packed.len * k->pages) {
		k->c->sure = SURE_GROUPS + 1;
		return;
	}
	swap(&w->raw, &w->other);
	swap(&w->packed, &w->other_packed);
	k->by_dict = false;
	k->c->prefers_direct = true;
}

static bool in_doubt(const struct chunk *k, const struct page_rows *p)
{
	return k->c->type != PQ_TEXT && !k->c->sure && !p->from && p->n && k->limit > 1 &&
	       (k->limit > SMALL_DICT || k->limit > p->n / FEW_TIMES);
}

static enum pq_encoding encode_values(struct chunk *k, const struct page_rows *p)
{
	struct pq_work *w = k->w;
	const uint64_t *v;

	if (k->by_dict) {
		if (in_doubt(k, p))
			try_both(k, p);
		else
			pq_put_indexes(&w->raw, p->cells, k->c->width, p->n, k->limit, k->places);
		if (k->by_dict)
			return PQ_RLE_DICTIONARY;
		return PQ_DELTA_BINARY_PACKED;
	}
	v = numbers_of(k, p);
	if (k->c->width == sizeof(*v))
		count_numbers(k->c, v, p->n);
	pq_put_delta(&w->raw, v, p->n, pq_is_narrow(k->c));
	return PQ_DELTA_BINARY_PACKED;
}

/* ---- texts ---------------------------------------------------------------------------- */

static void put_texts(struct chunk *k, const struct page_rows *p)
{
	const struct pq_texts *d = &k->c->texts;

	for (uint32_t i = 0; i < p->n; i++) {
		const uint32_t id = k->c->width == 1   ? ((const uint8_t *)p->cells)[i] - 1u
				    : k->c->width == 2 ? ((const uint16_t *)p->cells)[i] - 1u
						       : ((const uint32_t *)p->cells)[i] - 1;

		buf_put(&k->w->raw, d->bytes.data + d->at[id], d->at[id + 1] - d->at[id]);
	}
}

/* ---- chunks --------------------------------------------------------------------------- */

static void put_rows(struct chunk *k, struct page_rows *rows)
{
	struct pq_work *w = k->w;
	struct page p = {.values = rows->nr, .encoding = PQ_PLAIN};

	buf_reset(&w->raw);
	buf_reset(&w->packed);
	gather(w, k->c, rows);
	if (k->c->nullable)
		pq_put_levels(&w->raw, rows->missing ? w->present : NULL, rows->nr);
	if (rows->n && (k->by_dict || k->c->type != PQ_TEXT))
		p.encoding = encode_values(k, rows);
	else if (rows->n)
		put_texts(k, rows);
	/* If all are missing, nothing follows the levels. */
	put_page(k, &w->pages, &p, &w->raw, &w->packed);
	k->c->nulls += rows->nr - rows->n;
}

/* One cell in all rows. */
static void put_constant(struct chunk *k, uint32_t from, uint32_t nr)
{
	const struct page p = {.values = nr, .encoding = PQ_RLE_DICTIONARY};
	struct pq_work *w = k->w;

	memset(w->cells, 1, nr);
	buf_reset(&w->raw);
	buf_reset(&w->packed);
	pq_put_indexes(&w->raw, w->cells, 1, nr, 1, NULL);
	put_page(k, &w->pages, &p, &w->raw, &w->packed);
}

static void plan(struct chunk *k, uint32_t nr)
{
	struct pq_column *c = k->c;

	if (c->type == PQ_TEXT) {
		k->limit = c->texts.n;
		k->by_dict = c->texts.bytes.len <= DICT_TEXT_BYTES &&
			     !(nr >= MANY_ROWS && c->texts.n > nr / 2);
		count_texts(c);
		return;
	}
	k->by_dict = c->width != sizeof(uint64_t);
	if (!k->by_dict)
		return;
	k->limit = c->dict.n;
	count_numbers(c, c->dict.at, c->dict.n);
	if (c->dict.n > SMALL_DICT) {
		const uint32_t length = pq_choose_places(k->w, c, nr);

		k->limit = length ? length : c->dict.n;
		k->places = length ? k->w->places : NULL;
	}
}

void pq_column_encode(struct pq_work *w, struct pq_column *c, const uint32_t *order, uint32_t nr)
{
	struct chunk k = {.w = w, .c = c, .pages = (nr + PQ_PAGE_ROWS - 1) / PQ_PAGE_ROWS};
	const size_t start = w->out.len;

	c->compressed = !c->constant;
	c->dict_len = c->raw_bytes = c->nulls = 0;
	c->encodings = 0;
	c->has_numbers = c->least.is_set = c->most.is_set = false;
	buf_reset(&c->least.text);
	buf_reset(&c->most.text);
	buf_reset(&w->pages);
	plan(&k, nr);
	for (uint32_t from = 0; from < nr; from += PQ_PAGE_ROWS) {
		struct page_rows rows = {.order = order, .from = from};

		rows.nr = nr - from < PQ_PAGE_ROWS ? nr - from : PQ_PAGE_ROWS;
		if (c->constant)
			put_constant(&k, from, rows.nr);
		else
			put_rows(&k, &rows);
	}
	if (k.by_dict)
		put_dict_page(&k);
	buf_put(&w->out, w->pages.data, w->pages.len);
	c->len = w->out.len - start;
	c->sure -= c->sure > 0;
	if (buf_full(&w->out))
		pq_fail(w);
}

static void forget(struct pq_column *c)
{
	pq_numbers_free(&c->dict);
	pq_texts_free(&c->texts);
	free(c->memo);
	c->memo = NULL;
}

/* If a dictionary has turned out to be useless for numbers, later groups have none. */
static uint32_t width_of(const struct pq_column *c)
{
	if (c->type == PQ_TIME || c->prefers_direct)
		return sizeof(uint64_t);
	return c->width ? c->width : 1;
}

bool pq_column_reset(struct pq_column *c, uint32_t cap)
{
	const uint32_t was = c->width;

	c->last_known = c->has_nulls = false;
	c->epoch++;
	free(c->missing);
	c->missing = NULL;
	if (c->memo)
		pq_memo_clear(c->memo);
	if (c->constant)
		return true;
	pq_numbers_reset(&c->dict);
	pq_texts_reset(&c->texts);
	c->width = cap ? c->width : 0;
	c->width = width_of(c);
	if (cap && c->width == was)
		return true;
	free(c->cells);
	c->cells = cap ? calloc(cap, c->width) : NULL;
	if (!cap)
		forget(c);
	return !cap || c->cells;
}

/* ---- the footer's words about a chunk ------------------------------------------------- */

static void describe_bound(const struct pq_column *c, struct thrift *to, uint16_t id,
			   const struct pq_bound *text, uint64_t number)
{
	uint8_t bytes[8];

	store_uint(bytes, number, sizeof(bytes), false);
	if (c->type == PQ_TEXT)
		thrift_binary(to, id, text->text.data, text->text.len);
	else
		thrift_binary(to, id, bytes, pq_is_narrow(c) ? 4 : 8);
}

static bool has_bounds(const struct pq_column *c)
{
	if (c->type != PQ_TEXT)
		return c->has_numbers;
	return c->least.is_set && !buf_full(&c->least.text) && !buf_full(&c->most.text);
}

static void describe_statistics(const struct pq_column *c, struct thrift *to)
{
	thrift_begin(to, PQ_COLUMN_STATISTICS);
	thrift_i64(to, PQ_STATISTICS_NULLS, (int64_t)c->nulls);
	if (has_bounds(c)) {
		describe_bound(c, to, PQ_STATISTICS_MAX, &c->most, c->max);
		describe_bound(c, to, PQ_STATISTICS_MIN, &c->least, c->min);
	}
	thrift_end(to);
}

static void describe_encodings(const struct pq_column *c, struct thrift *to)
{
	/* The encoding of levels counts, too. */
	const uint32_t set = c->encodings | 1u << PQ_RLE;

	thrift_list(to, PQ_COLUMN_ENCODINGS, THRIFT_I32, (uint32_t)__builtin_popcount(set));
	for (uint32_t i = 0; i < 32; i++)
		if (set >> i & 1)
			thrift_item_i32(to, (int32_t)i);
}

void pq_column_describe(const struct pq_column *c, struct thrift *to, uint64_t at, uint64_t rows)
{
	thrift_item(to);
	thrift_i64(to, PQ_CHUNK_OFFSET, (int64_t)at);
	thrift_begin(to, PQ_CHUNK_METADATA);
	thrift_i32(to, PQ_COLUMN_TYPE, pq_stored(c));
	describe_encodings(c, to);
	thrift_list(to, PQ_COLUMN_PATH, THRIFT_BINARY, 1);
	thrift_item_binary(to, c->name, strlen(c->name));
	thrift_i32(to, PQ_COLUMN_CODEC, c->compressed ? PQ_ZSTD : PQ_UNCOMPRESSED);
	thrift_i64(to, PQ_COLUMN_VALUES, (int64_t)rows);
	thrift_i64(to, PQ_COLUMN_RAW_BYTES, (int64_t)c->raw_bytes);
	thrift_i64(to, PQ_COLUMN_BYTES, (int64_t)c->len);
	thrift_i64(to, PQ_COLUMN_DATA_OFFSET, (int64_t)(at + c->dict_len));
	if (c->dict_len)
		thrift_i64(to, PQ_COLUMN_DICT_OFFSET, (int64_t)at);
	describe_statistics(c, to);
	thrift_end(to);
	thrift_end(to);
}
