// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Column chunks: pages are encoded as they fill, and how is decided by the first one.
 *
 * Texts are by dictionary until that has become too large. So are numbers, unless the first page
 * shows that their differences take less. Times always are differences.
 */
#include <errno.h>
#include <string.h>
#include <zstd.h>

#include "base/error.h"
#include "export/parquet_encode.h"
#include "export/parquet_parts.h"

#define DICT_TEXT_BYTES (1u << 20) /* more in a dictionary of texts, and it has ended */
#define DICT_NUMBERS	16384
#define DICT_SHARE	4    /* of its dictionary a page pays that part, in comparing */
#define MANY_ROWS	64   /* it takes as many to see that texts hardly ever come again */
#define WORTH_TRYING	1024 /* bytes of a page that could show that compressing does not help */

static void fail(struct pq_work *w, int rc)
{
	if (w->rc == 0)
		w->rc = error_set(w->err, rc, "out of memory");
}

/* ---- pages ---- */

struct page {
	bool is_dict;
	enum pq_encoding encoding;
	uint32_t values; /* rows, or entries of a dictionary */
};

static void put_header(struct buf *to, const struct page *p, size_t raw, const struct buf *body)
{
	struct thrift t = {.to = to};

	thrift_i32(&t, 1, p->is_dict ? PQ_DICTIONARY_PAGE : PQ_DATA_PAGE);
	thrift_i32(&t, 2, (int32_t)raw);
	thrift_i32(&t, 3, (int32_t)body->len);
	/* What is not compressed would show damage to nobody else. */
	thrift_i32(&t, 4, (int32_t)pq_checksum(body));
	thrift_begin(&t, p->is_dict ? 7 : 5);
	thrift_i32(&t, 1, (int32_t)p->values);
	thrift_i32(&t, 2, (int32_t)p->encoding);
	if (!p->is_dict) {
		thrift_i32(&t, 3, PQ_RLE);
		thrift_i32(&t, 4, PQ_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
}

/* Compresses into a buffer, behind what there is. */
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

/* The first page of a chunk may show that its bytes cannot be compressed: times often cannot. */
static void choose_codec(struct pq_column *c, size_t raw, size_t packed)
{
	if (!c->codec_known)
		c->compressed = raw < WORTH_TRYING || packed < raw - raw / 32;
	c->codec_known = true;
}

/* Appends a page whose bytes are in `raw`; `packed` has them compressed, if it has anything. */
static void put_page(struct pq_work *w, struct pq_column *c, struct buf *to, const struct page *p,
		     const struct buf *raw, struct buf *packed)
{
	const struct buf *body = raw;
	const size_t start = to->len;

	if (!c->constant && (c->compressed || !c->codec_known) && !packed->len &&
	    !compress(w, raw, packed))
		fail(w, -ENOMEM);
	if (!c->constant)
		choose_codec(c, raw->len, packed->len);
	if (c->compressed)
		body = packed;
	put_header(to, p, raw->len, body);
	c->raw_bytes += to->len - start + raw->len;
	c->encodings |= 1u << p->encoding;
	buf_put(to, body->data, body->len);
	if (buf_full(to) || buf_full(raw))
		fail(w, -ENOMEM);
}

/* ---- what is known about values ---- */

static void count_numbers(struct pq_column *c, const uint64_t *v, uint32_t n)
{
	int64_t least = INT64_MAX, most = INT64_MIN;
	/* Unsigned numbers are compared as signed ones with the highest bit turned round. */
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

/* One that is too long stays: shorter ones can no longer be compared with it. */
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
	const size_t common = len < b->text.len ? len : b->text.len;
	const int order = memcmp(b->text.data, text, common);

	return order ? order : (b->text.len > len) - (b->text.len < len);
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

/* ---- dictionaries ---- */

/* While a page may be on its way in the other two buffers. */
static void put_dict_page(struct pq_work *w, struct pq_column *c)
{
	struct page p = {.is_dict = true, .encoding = PQ_PLAIN};

	buf_reset(&w->other);
	buf_reset(&w->other_packed);
	if (c->type == PQ_TEXT) {
		count_texts(c);
		p.values = c->texts.n;
		buf_put(&w->other, c->texts.bytes.data, c->texts.bytes.len);
	} else {
		p.values = c->dict.n;
		pq_put_plain(&w->other, c->dict.at, c->dict.n, pq_is_narrow(c));
	}
	if (p.values)
		put_page(w, c, &c->dict_page, &p, &w->other, &w->other_packed);
}

/* Pages that follow do without. */
static void end_dict(struct pq_work *w, struct pq_column *c)
{
	if (c->mode == PQ_BY_DICT)
		put_dict_page(w, c);
	c->mode = PQ_DIRECT;
}

/* ---- numbers ---- */

static void swap(struct buf *a, struct buf *b)
{
	const struct buf was = *a;

	*a = *b;
	*b = was;
}

/* Both ways, and the shorter one counts. `raw` has the levels in it by now. */
static enum pq_encoding try_both(struct pq_work *w, struct pq_column *c, const uint64_t *v,
				 uint32_t n)
{
	const size_t dict = (size_t)c->dict.n * (pq_is_narrow(c) ? 4 : 8) / DICT_SHARE;

	buf_reset(&w->other);
	buf_reset(&w->other_packed);
	buf_put(&w->other, w->raw.data, w->raw.len);
	pq_put_indexes(&w->raw, w->ids, n, c->dict.n);
	pq_put_delta(&w->other, v, n, pq_is_narrow(c));
	if (!compress(w, &w->raw, &w->packed) || !compress(w, &w->other, &w->other_packed))
		fail(w, -ENOMEM);
	c->mode = PQ_BY_DICT;
	if (w->packed.len + dict <= w->other_packed.len)
		return PQ_RLE_DICTIONARY;
	swap(&w->raw, &w->other);
	swap(&w->packed, &w->other_packed);
	c->mode = PQ_DIRECT;
	c->prefers_direct = true;
	return PQ_DELTA_BINARY_PACKED;
}

static enum pq_encoding encode_numbers(struct pq_work *w, struct pq_column *c, const uint64_t *v,
				       uint32_t n)
{
	if (c->mode == PQ_UNDECIDED && (c->type == PQ_TIME || c->prefers_direct))
		c->mode = PQ_DIRECT;
	if (c->mode != PQ_DIRECT && !pq_numbers_ids(&c->dict, v, n, DICT_NUMBERS, w->ids)) {
		c->prefers_direct = c->mode == PQ_UNDECIDED;
		end_dict(w, c);
	}
	if (c->mode == PQ_DIRECT) {
		pq_put_delta(&w->raw, v, n, pq_is_narrow(c));
		return PQ_DELTA_BINARY_PACKED;
	}
	if (c->mode == PQ_UNDECIDED && c->dict.n > 1)
		return try_both(w, c, v, n);
	c->mode = PQ_BY_DICT;
	pq_put_indexes(&w->raw, w->ids, n, c->dict.n);
	return PQ_RLE_DICTIONARY;
}

/* ---- texts ---- */

static enum pq_encoding encode_texts(struct pq_work *w, struct pq_column *c, const uint32_t *ids,
				     uint32_t n)
{
	if (c->mode == PQ_UNDECIDED)
		c->mode = n >= MANY_ROWS && c->texts.n > n / 2 ? PQ_DIRECT : PQ_BY_DICT;
	if (c->mode == PQ_BY_DICT) {
		pq_put_indexes(&w->raw, ids, n, c->texts.n);
		return PQ_RLE_DICTIONARY;
	}
	for (uint32_t i = 0; i < n; i++)
		buf_put(&w->raw, c->texts.bytes.data + c->texts.at[ids[i]],
			c->texts.at[ids[i] + 1] - c->texts.at[ids[i]]);
	count_texts(c);
	return PQ_PLAIN;
}

/* Behind a page: texts that no dictionary will have are forgotten. */
static void forget_texts(struct pq_work *w, struct pq_column *c)
{
	if (c->mode == PQ_BY_DICT && c->texts.bytes.len <= DICT_TEXT_BYTES)
		return;
	end_dict(w, c);
	pq_texts_reset(&c->texts);
	c->epoch++;
}

/* ---- the rows of a page ---- */

static inline bool is_missing(const struct pq_column *c, uint32_t row)
{
	return c->missing[row / 64] >> row % 64 & 1;
}

static void put_levels(struct pq_work *w, const struct pq_column *c, const uint32_t *order,
		       uint32_t nr)
{
	if (!c->nr_missing) {
		pq_put_levels(&w->raw, NULL, nr);
		return;
	}
	memset(w->present, 0, (nr + 63) / 64 * sizeof(*w->present));
	for (uint32_t i = 0; i < nr; i++)
		if (!is_missing(c, order ? order[i] : i))
			w->present[i / 64] |= 1ull << i % 64;
	pq_put_levels(&w->raw, w->present, nr);
}

/* The values that there are, in order. */
static const uint64_t *gather_numbers(struct pq_work *w, const struct pq_column *c,
				      const uint32_t *order, uint32_t nr)
{
	uint32_t n = 0;

	if (!order && !c->nr_missing)
		return c->numbers;
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t row = order ? order[i] : i;

		if (!c->nr_missing || !is_missing(c, row))
			w->values[n++] = c->numbers[row];
	}
	return w->values;
}

static const uint32_t *gather_ids(struct pq_work *w, const struct pq_column *c,
				  const uint32_t *order, uint32_t nr)
{
	uint32_t n = 0;

	if (c->constant)
		memset(w->ids, 0, nr * sizeof(*w->ids));
	if (c->constant)
		return w->ids;
	if (!order && !c->nr_missing)
		return c->ids;
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t row = order ? order[i] : i;

		if (!c->nr_missing || !is_missing(c, row))
			w->ids[n++] = c->ids[row];
	}
	return w->ids;
}

void pq_column_page(struct pq_work *w, struct pq_column *c, const uint32_t *order, uint32_t nr)
{
	const uint32_t n = nr - c->nr_missing;
	struct page p = {.values = nr, .encoding = PQ_PLAIN};

	buf_reset(&w->raw);
	buf_reset(&w->packed);
	if (c->nullable)
		put_levels(w, c, order, nr);
	if (n && c->type == PQ_TEXT) {
		p.encoding = encode_texts(w, c, gather_ids(w, c, order, nr), n);
	} else if (n) {
		const uint64_t *v = gather_numbers(w, c, order, nr);

		count_numbers(c, v, n);
		p.encoding = encode_numbers(w, c, v, n);
	}
	put_page(w, c, &c->pages, &p, &w->raw, &w->packed);
	if (c->type == PQ_TEXT && n)
		forget_texts(w, c);
	c->nulls += c->nr_missing;
	if (c->nr_missing)
		memset(c->missing, 0, (nr + 63) / 64 * sizeof(*c->missing));
	c->nr_missing = 0;
}

void pq_column_end(struct pq_work *w, struct pq_column *c)
{
	end_dict(w, c);
}

void pq_column_reset(struct pq_column *c)
{
	buf_reset(&c->pages);
	buf_reset(&c->dict_page);
	pq_numbers_reset(&c->dict);
	if (!c->constant) {
		pq_texts_reset(&c->texts);
		c->epoch++;
	}
	c->mode = PQ_UNDECIDED;
	c->compressed = !c->constant;
	c->codec_known = c->has_numbers = c->least.is_set = c->most.is_set = false;
	buf_reset(&c->least.text);
	buf_reset(&c->most.text);
	c->encodings = 0;
	c->raw_bytes = c->nulls = 0;
}

/* ---- the footer's words about a chunk ---- */

static void describe_bound(const struct pq_column *c, struct thrift *to, uint16_t id,
			   const struct pq_bound *text, uint64_t number)
{
	uint8_t bytes[8];

	for (uint32_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(number >> 8 * i);
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
	thrift_begin(to, 12);
	thrift_i64(to, 3, (int64_t)c->nulls);
	if (has_bounds(c)) {
		describe_bound(c, to, 5, &c->most, c->max);
		describe_bound(c, to, 6, &c->least, c->min);
	}
	thrift_end(to);
}

static void describe_encodings(const struct pq_column *c, struct thrift *to)
{
	/* Those of levels count, too. */
	const uint32_t set = c->encodings | 1u << PQ_RLE;

	thrift_list(to, 2, THRIFT_I32, (uint32_t)__builtin_popcount(set));
	for (uint32_t i = 0; i < 32; i++)
		if (set >> i & 1)
			thrift_item_i32(to, (int32_t)i);
}

void pq_column_describe(const struct pq_column *c, struct thrift *to, uint64_t at, uint64_t rows)
{
	thrift_item(to);
	thrift_i64(to, 2, (int64_t)at);
	thrift_begin(to, 3);
	thrift_i32(to, 1, pq_stored(c));
	describe_encodings(c, to);
	thrift_list(to, 3, THRIFT_BINARY, 1);
	thrift_item_binary(to, c->name, strlen(c->name));
	thrift_i32(to, 4, c->compressed ? PQ_ZSTD : PQ_UNCOMPRESSED);
	thrift_i64(to, 5, (int64_t)rows);
	thrift_i64(to, 6, (int64_t)c->raw_bytes);
	thrift_i64(to, 7, (int64_t)(c->dict_page.len + c->pages.len));
	thrift_i64(to, 9, (int64_t)(at + c->dict_page.len));
	if (c->dict_page.len)
		thrift_i64(to, 11, (int64_t)at);
	describe_statistics(c, to);
	thrift_end(to);
	thrift_end(to);
}
