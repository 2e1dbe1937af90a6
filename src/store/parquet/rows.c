// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reading the rows of a row group, several columns at a time.
 *
 * A lane is a column: the page that it is in, and the dictionary of its chunk. A page is read and
 * decoded when its values are needed; of other pages only the header is read. A batch ends where a
 * page of any column ends, so that its values are contiguous.
 */
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/error.h"
#include "store/parquet/parts.h"

#define BUDGET	     (512u << 20)
#define HEADER	     512	  /* bytes that are read first for a page's header */
#define HEADER_LIMIT (256u << 10) /* it may have texts in its statistics */

struct dict {
	struct pq_room packed, body, values;
	uint32_t n;
	uint64_t serial;
	uint64_t at; /* where its page is, 0: there is none */
	struct pq_header head;
	bool decoded;
};

struct lane {
	uint32_t column;
	const struct pq_chunk *chunk;
	uint64_t next; /* page, in the file */
	struct dict dict;

	/* The page. */
	struct pq_header head;
	uint64_t body_at;
	uint32_t pos; /* rows of it that were in earlier batches */
	bool decoded;
	struct parquet_values values; /* of all of it */
	struct pq_room packed, body, numbers, ids, texts, missing, heap;
};

struct parquet_rows {
	struct parquet *file;
	struct lane *lanes;
	size_t nr_lanes;
	uint64_t left;	/* rows of the group that have not been in a batch */
	uint32_t batch; /* rows of the one that is being looked at */
	uint64_t serial;
	struct pq_budget budget;
};

struct parquet_rows *parquet_rows_new(struct parquet *p, const uint32_t *columns, size_t n)
{
	struct parquet_rows *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->file = p;
	r->budget.left = BUDGET;
	r->budget.unpacker = ZSTD_createDCtx();
	r->lanes = calloc(n + 1, sizeof(*r->lanes));
	if (!r->lanes || !r->budget.unpacker) {
		parquet_rows_free(r);
		return NULL;
	}
	r->nr_lanes = n;
	for (size_t i = 0; i < n; i++)
		r->lanes[i].column = columns[i];
	return r;
}

void parquet_rows_free(struct parquet_rows *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_lanes; i++) {
		struct lane *l = &r->lanes[i];
		struct pq_room *const all[] = {
			&l->dict.packed, &l->dict.body, &l->dict.values, &l->packed,  &l->body,
			&l->numbers,	 &l->ids,	&l->texts,	 &l->missing, &l->heap};

		for (size_t k = 0; k < ARRAY_SIZE(all); k++)
			pq_room_free(all[k]);
	}
	ZSTD_freeDCtx(r->budget.unpacker);
	free(r->lanes);
	free(r);
}

static const struct parquet_column *column_of(const struct parquet_rows *r, const struct lane *l)
{
	return &r->file->columns[l->column];
}

static int damaged(const struct parquet_rows *r, const struct lane *l, uint64_t at, const char *why,
		   struct spur_error *err)
{
	return error_set(err, -EBADMSG, "the page of column '%s' at offset %llu: %s",
			 column_of(r, l)->name, (unsigned long long)at, why);
}

int parquet_rows_group(struct parquet_rows *r, uint32_t group, struct spur_error *err)
{
	const struct pq_group *g = &r->file->groups[group];

	for (size_t i = 0; i < r->nr_lanes; i++) {
		struct lane *l = &r->lanes[i];
		const struct parquet_column *c = column_of(r, l);
		const char *why = c->refused ? c->refused : g->chunks[c->leaf].refused;

		if (why)
			return error_set(err, -EBADMSG, "the column '%s': %s", c->name, why);
		l->chunk = &g->chunks[c->leaf];
		l->next = l->chunk->start;
		l->dict.at = 0;
		l->dict.n = 0;
		l->dict.decoded = l->decoded = false;
		l->head.values = l->pos = 0;
	}
	r->left = g->rows;
	r->batch = 0;
	return 0;
}

/* ---- pages ---- */

/* Reads the header of the next page, and where it ends. */
static int next_header(struct parquet_rows *r, struct lane *l, struct pq_header *h, uint64_t *body,
		       struct spur_error *err)
{
	const uint64_t left = l->chunk->end - l->next;

	for (uint64_t size = HEADER;; size = HEADER_LIMIT) {
		const uint64_t n = size < left ? size : left;
		const uint8_t *p = parquet_bytes(r->file, &r->budget, &l->packed, l->next, n);
		struct cursor c = cursor_over(p ? p : (const uint8_t *)"", p ? n : 0, false);

		if (!p)
			return damaged(r, l, l->next, "it cannot be read", err);
		if (page_header(&c, h)) {
			*body = l->next + (n - cursor_left(&c));
			break;
		}
		if (n == left || size == HEADER_LIMIT)
			return damaged(r, l, l->next, "its header is damaged", err);
	}
	if (h->packed > l->chunk->end - *body)
		return damaged(r, l, l->next, "it is longer than the column", err);
	return 0;
}

/* Goes to the next page with rows. */
static int next_page(struct parquet_rows *r, struct lane *l, struct spur_error *err)
{
	do {
		struct pq_header h;
		uint64_t body = 0;
		int rc;

		if (l->next >= l->chunk->end)
			return damaged(r, l, l->next, "the column has too few rows", err);
		rc = next_header(r, l, &h, &body, err);
		if (rc < 0)
			return rc;
		if (h.type == PQ_DICTIONARY_PAGE) {
			if (l->dict.at)
				return damaged(r, l, l->next, "a second dictionary", err);
			l->dict.at = body;
			l->dict.head = h;
		} else if (h.type == PQ_DATA_PAGE || h.type == PQ_DATA_PAGE_V2) {
			if (h.values > r->left)
				return damaged(r, l, l->next, "it has more rows than the group",
					       err);
			l->head = h;
			l->body_at = body;
			l->pos = 0;
			l->decoded = false;
		} else if (h.type != PQ_INDEX_PAGE) {
			return damaged(r, l, l->next, "its kind is not known", err);
		}
		l->next = body + h.packed;
	} while (l->pos == l->head.values);
	return 0;
}

int parquet_rows_next(struct parquet_rows *r, struct spur_error *err)
{
	uint64_t n = r->left < PARQUET_BATCH ? r->left : PARQUET_BATCH;

	for (size_t i = 0; i < r->nr_lanes && r->left; i++) {
		struct lane *l = &r->lanes[i];
		uint32_t left;
		int rc = 0;

		l->pos += r->batch;
		if (l->pos == l->head.values)
			rc = next_page(r, l, err);
		if (rc < 0)
			return rc;
		left = l->head.values - l->pos;
		n = n < left ? n : left;
	}
	r->batch = (uint32_t)n;
	r->left -= n;
	return (int)n;
}

/* ---- values ---- */

/* What numbers become of their bits: with a sign or without, reals of both sizes, nanoseconds. */
static bool finish_numbers(const struct parquet_column *c, int64_t *v, uint32_t n)
{
	bool fits = true;

	if (c->stored == PQ_STORED_INT32 && !c->is_unsigned)
		for (uint32_t i = 0; i < n; i++)
			v[i] = (int32_t)v[i];
	else if (c->stored == PQ_STORED_INT32)
		for (uint32_t i = 0; i < n; i++)
			v[i] = (uint32_t)v[i];
	if (c->stored == PQ_STORED_FLOAT)
		for (uint32_t i = 0; i < n; i++) {
			const uint32_t bits = (uint32_t)v[i];
			float narrow;
			double wide;

			memcpy(&narrow, &bits, sizeof(narrow));
			wide = (double)narrow;
			memcpy(&v[i], &wide, sizeof(wide));
		}
	if (c->scale != 1)
		for (uint32_t i = 0; i < n; i++)
			fits &= !__builtin_mul_overflow(v[i], (int64_t)c->scale, &v[i]);
	return fits;
}

/* The bytes of a page as they are, and decompressed; NULL with words in *why. */
struct loaded {
	const uint8_t *packed, *body;
};

static struct loaded load(struct parquet_rows *r, struct lane *l, const struct pq_header *h,
			  uint64_t at, struct pq_room *packed, struct pq_room *body,
			  const char **why)
{
	struct loaded p = {parquet_bytes(r->file, &r->budget, packed, at, h->packed), NULL};

	*why = "it cannot be read";
	if (p.packed)
		p.body = page_body(h, l->chunk->codec, p.packed, &r->budget, body, why);
	return p;
}

static const char *decode_dict(struct parquet_rows *r, struct lane *l)
{
	const struct parquet_column *c = column_of(r, l);
	struct dict *d = &l->dict;
	const bool texts = c->kind == PARQUET_TEXT;
	const char *why;
	struct loaded p;
	struct cursor from;
	bool good;

	if (!d->at || c->stored == PQ_STORED_BOOLEAN)
		return "there is no dictionary for it";
	p = load(r, l, &d->head, d->at, &d->packed, &d->body, &why);
	if (!p.body)
		return why;
	if (d->head.encoding != PQ_PLAIN && d->head.encoding != PQ_PLAIN_DICTIONARY)
		return "the dictionary's encoding is not known";
	/* Each value has at least a byte, so this allocation is bounded. */
	if (d->head.values > d->head.raw ||
	    !pq_room(&r->budget, &d->values,
		     (uint64_t)d->head.values *
			     (texts ? sizeof(struct parquet_text) : sizeof(int64_t))))
		return "the dictionary is too large";
	from = cursor_over(p.body, d->head.raw - d->head.levels, false);
	good = texts ? decode_texts(&from, d->head.values, d->values.at)
		     : decode_plain(&from, c->stored, d->head.values, d->values.at) &&
			       finish_numbers(c, d->values.at, d->head.values);
	d->n = good ? d->head.values : 0;
	d->serial = ++r->serial;
	d->decoded = good;
	return good ? NULL : "the dictionary is damaged";
}

static const char *decode_ids(struct parquet_rows *r, struct lane *l, struct cursor *from,
			      uint32_t n)
{
	struct dict *d = &l->dict;
	uint32_t most = 0, *ids;
	const char *why = d->decoded || !n ? NULL : decode_dict(r, l);

	/* If all values are missing, nothing is needed. */
	if (why || !n)
		return why;
	if (!pq_room(&r->budget, &l->ids, (uint64_t)l->head.values * sizeof(*ids)))
		return "it has too many values";
	ids = l->ids.at;
	if (!decode_runs(from, cursor_u8(from), n, ids))
		return "it has fewer values than it says";
	for (uint32_t i = 0; i < n; i++)
		most = ids[i] > most ? ids[i] : most;
	if (most >= d->n)
		return "it has values that the dictionary does not have";
	l->values.ids = ids;
	l->values.dict = d->serial;
	l->values.dict_size = d->n;
	if (column_of(r, l)->kind == PARQUET_TEXT)
		l->values.texts = d->values.at;
	else
		l->values.numbers = d->values.at;
	return NULL;
}

static const char *decode_text_page(struct parquet_rows *r, struct lane *l, struct cursor *from,
				    uint32_t n)
{
	const uint64_t all = l->head.values;
	struct parquet_text *to;
	bool good;

	if (!pq_room(&r->budget, &l->texts, all * sizeof(*to)) ||
	    (l->head.encoding != PQ_PLAIN &&
	     !pq_room(&r->budget, &l->numbers, 2 * all * sizeof(int64_t))))
		return "it has too many values";
	to = l->texts.at;
	l->values.texts = to;
	/* If all values are missing, the page may be empty. */
	if (!n)
		return NULL;
	switch (l->head.encoding) {
	case PQ_PLAIN: good = decode_texts(from, n, to); break;
	case PQ_DELTA_LENGTH_BYTE_ARRAY:
		good = decode_long_texts(from, n, l->numbers.at, to);
		break;
	case PQ_DELTA_BYTE_ARRAY:
		good = decode_prefixed(from, n, l->numbers.at, &r->budget, &l->heap, to);
		break;
	default: return "its encoding is not known";
	}
	return good ? NULL : "its texts are damaged";
}

/* Booleans as runs, after their length in a page of either version. */
static bool decode_bools(struct parquet_rows *r, struct lane *l, struct cursor *from, uint32_t n,
			 int64_t *to)
{
	struct cursor runs = cursor_sub(from, cursor_u32(from));
	uint32_t *ids;

	if (!pq_room(&r->budget, &l->ids, (uint64_t)l->head.values * sizeof(*ids)) ||
	    !decode_runs(&runs, 1, n, l->ids.at))
		return false;
	ids = l->ids.at;
	for (uint32_t i = 0; i < n; i++)
		to[i] = ids[i];
	return true;
}

static const char *decode_number_page(struct parquet_rows *r, struct lane *l, struct cursor *from,
				      uint32_t n)
{
	const struct parquet_column *c = column_of(r, l);
	const bool is_bool = c->stored == PQ_STORED_BOOLEAN;
	int64_t *to;
	bool good = false;

	if (!pq_room(&r->budget, &l->numbers, (uint64_t)l->head.values * sizeof(*to)))
		return "it has too many values";
	to = l->numbers.at;
	if (l->head.encoding == PQ_PLAIN)
		good = decode_plain(from, c->stored, n, to);
	else if (l->head.encoding == PQ_DELTA_BINARY_PACKED && c->kind == PARQUET_NUMBER &&
		 !is_bool)
		good = !n || decode_deltas(from, n, to);
	else if (l->head.encoding == PQ_BYTE_STREAM_SPLIT && !is_bool)
		good = decode_split(from, c->stored, n, to);
	else if (l->head.encoding == PQ_RLE && is_bool)
		good = decode_bools(r, l, from, n, to);
	else
		return "its encoding is not known";
	l->values.numbers = to;
	if (!good)
		return "it has fewer values than it says";
	return finish_numbers(c, to, n) ? NULL : "its times are too large";
}

/* ---- values that are missing ---- */

/* Moves the n values that there are to their rows. */
static void spread(struct lane *l, uint32_t n)
{
	const uint8_t *missing = l->missing.at;
	int64_t *numbers = l->values.ids ? NULL : (int64_t *)l->values.numbers;
	struct parquet_text *texts = l->values.ids ? NULL : (struct parquet_text *)l->values.texts;
	uint32_t *ids = (uint32_t *)l->values.ids;

	for (uint32_t i = l->head.values; i-- > 0;) {
		if (missing[i]) {
			if (ids)
				ids[i] = 0;
			continue;
		}
		n--;
		if (ids)
			ids[i] = ids[n];
		else if (texts)
			texts[i] = texts[n];
		else if (numbers)
			numbers[i] = numbers[n];
	}
}

/* How many values there are; negative when the levels are damaged. */
static int64_t read_levels(struct parquet_rows *r, struct lane *l, const uint8_t *packed,
			   struct cursor *from)
{
	const uint32_t n = l->head.values;
	struct cursor levels;
	int64_t there;

	l->values.missing = NULL;
	if (!column_of(r, l)->optional)
		return l->head.type == PQ_DATA_PAGE_V2 && l->head.levels ? -1 : (int64_t)n;
	levels = l->head.type == PQ_DATA_PAGE_V2 ? cursor_over(packed, l->head.levels, false)
						 : cursor_sub(from, cursor_u32(from));
	if (!pq_room(&r->budget, &l->missing, n) ||
	    !pq_room(&r->budget, &l->ids, (uint64_t)n * sizeof(uint32_t)))
		return -1;
	there = decode_levels(&levels, n, l->ids.at, l->missing.at);
	if (there >= 0 && there < n)
		l->values.missing = l->missing.at;
	return there;
}

static const char *decode_page(struct parquet_rows *r, struct lane *l)
{
	const struct pq_header *h = &l->head;
	const char *why;
	const struct loaded p = load(r, l, h, l->body_at, &l->packed, &l->body, &why);
	struct cursor from;
	int64_t n;

	if (!p.body)
		return why;
	from = cursor_over(p.body, h->raw - h->levels, false);
	l->values = (struct parquet_values){0};
	n = read_levels(r, l, p.packed, &from);
	if (n < 0)
		return "its levels are damaged";
	if (h->encoding == PQ_RLE_DICTIONARY || h->encoding == PQ_PLAIN_DICTIONARY)
		why = decode_ids(r, l, &from, (uint32_t)n);
	else if (column_of(r, l)->kind == PARQUET_TEXT)
		why = decode_text_page(r, l, &from, (uint32_t)n);
	else
		why = decode_number_page(r, l, &from, (uint32_t)n);
	if (!why && l->values.missing)
		spread(l, (uint32_t)n);
	l->decoded = !why;
	return why;
}

int parquet_rows_get(struct parquet_rows *r, size_t i, struct parquet_values *v,
		     struct spur_error *err)
{
	struct lane *l = &r->lanes[i];
	const char *why = l->decoded ? NULL : decode_page(r, l);

	if (why)
		return damaged(r, l, l->body_at, why, err);
	*v = l->values;
	if (v->missing)
		v->missing += l->pos;
	if (v->ids) {
		v->ids += l->pos;
		return 0;
	}
	if (v->texts)
		v->texts += l->pos;
	if (v->numbers)
		v->numbers += l->pos;
	return 0;
}
