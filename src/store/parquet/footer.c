// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The footer: columns, and where the chunks of each row group lie.
 *
 * A schema is a tree whose leaves are the columns that are stored, in order. Children of the root
 * with at most one value a row are the columns that can be read; for others the reason is stored
 * why they cannot.
 */
#include <errno.h>
#include <stdio.h>

#include "base/array.h"
#include "base/error.h"
#include "store/parquet/parts.h"

#define MAX_NESTING  32
#define MAX_COLUMNS  32768
#define LEAST_HEADER 8 /* bytes of a page's */

#define NS_PER_US 1000u
#define NS_PER_MS 1000000u

/* ---- types ---- */

struct element {
	const uint8_t *name;
	uint32_t name_len;
	int64_t stored, repetition, children, converted;
	bool has_stored;
	int64_t scale; /* of a decimal number */
	/* What the logical type says: */
	uint32_t logical;
	uint32_t unit;
	bool is_unsigned;
};

static void read_unit(struct cursor *c, const struct compact_field *in, struct element *e)
{
	for (struct compact_field f = compact_struct(c, in); compact_next(c, &f);) {
		e->unit = f.id;
		compact_skip(c, &f);
	}
}

/* What is in the struct that one member of the union LogicalType is. */
static void read_parameters(struct cursor *c, const struct compact_field *in, struct element *e)
{
	for (struct compact_field f = compact_struct(c, in); compact_next(c, &f);) {
		if (e->logical == PQ_LOGICAL_TIMESTAMP && f.id == 2)
			read_unit(c, &f, e);
		else if (e->logical == PQ_LOGICAL_INTEGER && f.id == 2)
			e->is_unsigned = !compact_bool(c, &f);
		else if (e->logical == PQ_LOGICAL_DECIMAL && f.id == 1)
			e->scale = compact_int(c, &f);
		else
			compact_skip(c, &f);
	}
}

static void read_logical(struct cursor *c, const struct compact_field *in, struct element *e)
{
	for (struct compact_field f = compact_struct(c, in); compact_next(c, &f);) {
		e->logical = f.id;
		read_parameters(c, &f, e);
	}
}

static void read_element(struct cursor *c, struct element *e)
{
	*e = (struct element){.converted = -1};
	for (struct compact_field f = {0}; compact_next(c, &f);) {
		switch (f.id) {
		case 1:
			e->stored = compact_int(c, &f);
			e->has_stored = true;
			break;
		case 3: e->repetition = compact_int(c, &f); break;
		case 4: e->name = compact_binary(c, &f, &e->name_len); break;
		case 5: e->children = compact_int(c, &f); break;
		case 6: e->converted = compact_int(c, &f); break;
		case 7: e->scale = compact_int(c, &f); break;
		case 10: read_logical(c, &f, e); break;
		default: compact_skip(c, &f);
		}
	}
}

static const char *refusal(const struct element *e, bool nested)
{
	if (nested || e->children || !e->has_stored)
		return "it has others in it, and only flat columns are read";
	if (e->repetition != PQ_REQUIRED && e->repetition != PQ_OPTIONAL)
		return "it has several values in a row, and only flat columns are read";
	if (e->stored == PQ_STORED_INT96)
		return "times of 96 bits are not read";
	if (e->stored == PQ_STORED_FIXED)
		return "values of a fixed length are not read";
	if (e->stored < 0 || e->stored > PQ_STORED_FIXED)
		return "its type is not known";
	if ((e->logical == PQ_LOGICAL_DECIMAL || e->converted == PQ_DECIMAL) && e->scale != 0)
		return "decimal numbers are not read";
	return NULL;
}

static bool is_integer(const struct parquet_column *to)
{
	return to->stored == PQ_STORED_INT32 || to->stored == PQ_STORED_INT64;
}

static uint32_t scale_of(const struct element *e)
{
	if (e->logical == PQ_LOGICAL_TIMESTAMP)
		return e->unit == PQ_MILLIS ? NS_PER_MS : e->unit == PQ_MICROS ? NS_PER_US : 1;
	return e->converted == PQ_TIMESTAMP_MILLIS   ? NS_PER_MS
	       : e->converted == PQ_TIMESTAMP_MICROS ? NS_PER_US
						     : 1;
}

static void describe(const struct element *e, struct parquet_column *to)
{
	to->stored = (enum pq_physical)e->stored;
	to->optional = e->repetition == PQ_OPTIONAL;
	to->kind = to->stored == PQ_STORED_BYTES ? PARQUET_TEXT
		   : to->stored == PQ_STORED_FLOAT || to->stored == PQ_STORED_DOUBLE
			   ? PARQUET_REAL
			   : PARQUET_NUMBER;
	to->scale = is_integer(to) ? scale_of(e) : 1;
	to->is_unsigned =
		is_integer(to) &&
		((e->logical == PQ_LOGICAL_INTEGER && e->is_unsigned) ||
		 (e->logical == 0 && e->converted >= PQ_UINT_8 && e->converted <= PQ_UINT_64));
	to->is_date = to->stored == PQ_STORED_INT32 &&
		      (e->logical == PQ_LOGICAL_DATE || e->converted == PQ_DATE);
}

/* ---- the schema ---- */

/* The number of children that are still expected, by depth; 0 is the root. */
struct nesting {
	int64_t left[MAX_NESTING];
	uint32_t depth;
};

static bool add_column(struct parquet *p, const struct element *e, bool nested)
{
	struct parquet_column *to = &p->columns[p->nr_columns++];

	to->name = arena_strndup(&p->arena, (const char *)e->name, e->name_len);
	to->leaf = p->nr_leaves;
	to->refused = refusal(e, nested);
	if (!to->refused)
		describe(e, to);
	return to->name;
}

/* One element below the root. False: the tree is none. */
static bool take_element(struct parquet *p, struct nesting *n, const struct element *e)
{
	while (n->depth && !n->left[n->depth])
		n->depth--;
	if (n->left[n->depth]-- <= 0 || !e->name)
		return false;
	if (n->depth == 0 && !add_column(p, e, false))
		return false;
	if (e->children < 0 || e->children > MAX_COLUMNS)
		return false;
	if (!e->children) {
		p->nr_leaves++;
		return true;
	}
	if (n->depth + 1 >= MAX_NESTING)
		return false;
	n->left[++n->depth] = e->children;
	return true;
}

static int read_schema(struct parquet *p, struct cursor *c, const struct compact_field *f)
{
	const uint32_t n = compact_list(c, f, THRIFT_STRUCT);
	struct nesting nesting = {0};
	struct element e;

	if (p->columns || n < 1 || n > MAX_COLUMNS)
		return -EBADMSG;
	p->columns = arena_array(&p->arena, n, sizeof(*p->columns));
	if (!p->columns)
		return -ENOMEM;
	read_element(c, &e);
	nesting.left[0] = e.children;
	for (uint32_t i = 1; i < n; i++) {
		read_element(c, &e);
		if (cursor_failed(c) || !take_element(p, &nesting, &e))
			return -EBADMSG;
	}
	while (nesting.depth && !nesting.left[nesting.depth])
		nesting.depth--;
	return nesting.depth || nesting.left[0] ? -EBADMSG : 0;
}

/* ---- row groups ---- */

static void read_statistics(struct cursor *c, const struct compact_field *in, struct pq_chunk *k,
			    bool *old)
{
	const uint8_t *was_min = NULL, *was_max = NULL;
	uint32_t was_min_len = 0, was_max_len = 0;

	for (struct compact_field f = compact_struct(c, in); compact_next(c, &f);) {
		switch (f.id) {
		case 1: was_max = compact_binary(c, &f, &was_max_len); break;
		case 2: was_min = compact_binary(c, &f, &was_min_len); break;
		case 3: k->nulls = (uint64_t)compact_int(c, &f); break;
		case 5: k->max = compact_binary(c, &f, &k->max_len); break;
		case 6: k->min = compact_binary(c, &f, &k->min_len); break;
		default: compact_skip(c, &f);
		}
	}
	/* The older pair of fields is ordered like signed numbers. */
	*old = !k->min && !k->max;
	if (*old) {
		k->min = was_min;
		k->max = was_max;
		k->min_len = was_min_len;
		k->max_len = was_max_len;
	}
}

struct chunk_words {
	int64_t stored, codec, size, data, dict;
	bool old_statistics;
};

static void read_meta(struct cursor *c, const struct compact_field *in, struct pq_chunk *k,
		      struct chunk_words *w)
{
	for (struct compact_field f = compact_struct(c, in); compact_next(c, &f);) {
		switch (f.id) {
		case 1: w->stored = compact_int(c, &f); break;
		case 4: w->codec = compact_int(c, &f); break;
		case 5: k->values = compact_int(c, &f); break;
		case 7: w->size = compact_int(c, &f); break;
		case 9: w->data = compact_int(c, &f); break;
		case 11: w->dict = compact_int(c, &f); break;
		case 12: read_statistics(c, &f, k, &w->old_statistics); break;
		default: compact_skip(c, &f);
		}
	}
}

static const char *codec_refusal(int64_t codec)
{
	static const char *const names[] = {
		[2] = "it is compressed with gzip, which is not read",
		[3] = "it is compressed with LZO, which is not read",
		[4] = "it is compressed with Brotli, which is not read",
		[5] = "it is compressed with LZ4, which is not read",
		[7] = "it is compressed with LZ4, which is not read",
	};

	if (codec == PQ_UNCOMPRESSED || codec == PQ_SNAPPY || codec == PQ_ZSTD)
		return NULL;
	if (codec >= 0 && codec < (int64_t)ARRAY_SIZE(names) && names[codec])
		return names[codec];
	return "what it is compressed with is not known";
}

/* Checks the place of a chunk's pages; NULL or what is wrong. */
static const char *place(const struct parquet *p, struct pq_chunk *k, const struct chunk_words *w)
{
	const int64_t start = w->dict > 0 && w->dict < w->data ? w->dict : w->data;

	if (start < PARQUET_MAGIC_SIZE || w->size < 0 || (uint64_t)start > p->data_end ||
	    (uint64_t)w->size > p->data_end - (uint64_t)start)
		return "its pages lie outside of the file";
	k->start = (uint64_t)start;
	k->end = k->start + (uint64_t)w->size;
	return NULL;
}

static void read_chunk(const struct parquet *p, struct cursor *c, struct pq_chunk *k,
		       const struct parquet_column *column)
{
	struct chunk_words w = {.stored = -1, .codec = -1, .data = -1, .size = -1};
	bool elsewhere = false, hidden = false;

	k->nulls = UINT64_MAX;
	for (struct compact_field f = {0}; compact_next(c, &f);) {
		if (f.id == 3) {
			read_meta(c, &f, k, &w);
			continue;
		}
		elsewhere |= f.id == 1;
		hidden |= f.id == 8;
		compact_skip(c, &f);
	}
	k->codec = (enum pq_codec)w.codec;
	if (elsewhere)
		k->refused = "it lies in another file";
	else if (hidden)
		k->refused = "it is encrypted, which is not read";
	else if (column && !column->refused && w.stored != (int64_t)column->stored)
		k->refused = "it is not of the type that the schema says";
	else
		k->refused = codec_refusal(w.codec);
	if (!k->refused)
		k->refused = place(p, k, &w);
	if (w.old_statistics && (!column || column->kind == PARQUET_TEXT || column->is_unsigned))
		k->min = k->max = NULL;
}

static const struct parquet_column **by_leaf(struct parquet *p)
{
	const struct parquet_column **list =
		arena_array(&p->arena, p->nr_leaves + 1, sizeof(*list));

	for (uint32_t i = 0; list && i < p->nr_columns; i++)
		if (!p->columns[i].refused)
			list[p->columns[i].leaf] = &p->columns[i];
	return list;
}

/* If only the number of rows is needed, this is the only check that it is not damaged. */
static bool same_rows(const struct parquet *p, const struct pq_group *g,
		      const struct parquet_column *const *leaves)
{
	for (uint32_t i = 0; i < p->nr_leaves; i++) {
		const struct pq_chunk *k = &g->chunks[i];

		if (!leaves[i] || k->refused)
			continue;
		/* A page has two billion values at most, and some bytes of a header. */
		if ((uint64_t)k->values != g->rows ||
		    g->rows / INT32_MAX > (k->end - k->start) / LEAST_HEADER)
			return false;
	}
	return true;
}

static int read_group(struct parquet *p, struct cursor *c, struct pq_group *g,
		      const struct parquet_column *const *leaves)
{
	int64_t rows = -1;

	for (struct compact_field f = {0}; compact_next(c, &f);) {
		uint32_t n;

		if (f.id == 3)
			rows = compact_int(c, &f);
		else if (f.id != 1)
			compact_skip(c, &f);
		if (f.id != 1)
			continue;
		n = compact_list(c, &f, THRIFT_STRUCT);
		if (n != p->nr_leaves || g->chunks)
			return -EBADMSG;
		g->chunks = arena_array(&p->arena, n + 1, sizeof(*g->chunks));
		if (!g->chunks)
			return -ENOMEM;
		for (uint32_t i = 0; i < n && !cursor_failed(c); i++)
			read_chunk(p, c, &g->chunks[i], leaves[i]);
	}
	g->rows = (uint64_t)rows;
	if (rows < 0 || !g->chunks || !same_rows(p, g, leaves) ||
	    __builtin_add_overflow(p->rows, g->rows, &p->rows))
		return -EBADMSG;
	return 0;
}

static int read_groups(struct parquet *p, struct cursor *c, const struct compact_field *f)
{
	const uint32_t n = compact_list(c, f, THRIFT_STRUCT);
	const struct parquet_column **leaves = by_leaf(p);
	int rc = 0;

	if (!p->columns || p->groups)
		return -EBADMSG;
	p->groups = arena_array(&p->arena, (size_t)n + 1, sizeof(*p->groups));
	if (!p->groups || !leaves)
		return -ENOMEM;
	for (; rc == 0 && p->nr_groups < n && !cursor_failed(c); p->nr_groups++)
		rc = read_group(p, c, &p->groups[p->nr_groups], leaves);
	return rc;
}

/* ---- pairs ---- */

static int read_pair(struct parquet *p, struct cursor *c, struct pq_pair *pair)
{
	pair->key = pair->value = "";
	for (struct compact_field f = {0}; compact_next(c, &f);) {
		const uint8_t *text;
		uint32_t len;
		char *copy;

		if (f.id != 1 && f.id != 2) {
			compact_skip(c, &f);
			continue;
		}
		text = compact_binary(c, &f, &len);
		copy = text ? arena_strndup(&p->arena, (const char *)text, len) : NULL;
		if (!copy)
			return text ? -ENOMEM : -EBADMSG;
		*(f.id == 1 ? &pair->key : &pair->value) = copy;
	}
	return 0;
}

static int read_pairs(struct parquet *p, struct cursor *c, const struct compact_field *f)
{
	const uint32_t n = compact_list(c, f, THRIFT_STRUCT);
	int rc = 0;

	if (p->pairs)
		return -EBADMSG;
	p->pairs = arena_array(&p->arena, (size_t)n + 1, sizeof(*p->pairs));
	if (!p->pairs)
		return -ENOMEM;
	for (; rc == 0 && p->nr_pairs < n && !cursor_failed(c); p->nr_pairs++)
		rc = read_pair(p, c, &p->pairs[p->nr_pairs]);
	return rc;
}

int footer_read(struct parquet *p, struct cursor c, struct spur_error *err)
{
	int64_t rows = -1;
	int rc = 0;

	for (struct compact_field f = {0}; rc == 0 && compact_next(&c, &f);) {
		switch (f.id) {
		case 2: rc = read_schema(p, &c, &f); break;
		case 3: rows = compact_int(&c, &f); break;
		case 4: rc = read_groups(p, &c, &f); break;
		case 5: rc = read_pairs(p, &c, &f); break;
		default: compact_skip(&c, &f);
		}
	}
	if (rc == -ENOMEM)
		return error_set(err, rc, "the footer takes more memory than it may");
	if (rc < 0 || cursor_failed(&c) || !p->columns || !p->groups || (uint64_t)rows != p->rows)
		return error_set(err, -EBADMSG, "the footer is damaged (at offset %llu)",
				 (unsigned long long)cursor_offset(&c));
	return 0;
}
