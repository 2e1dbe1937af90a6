/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/store: a file that is open, the pages that are being decoded, and the protocol of
 * headers and footers.
 */
#ifndef STORE_PARQUET_PARTS_H
#define STORE_PARQUET_PARTS_H

#include "base/arena.h"
#include "base/cursor.h"
#include "store/parquet/format.h"
#include "store/parquet/parquet.h"

#define PARQUET_PAD 16 /* readable bytes after whatever is decoded */

/* A column of a row group. */
struct pq_chunk {
	const char *refused; /* why it cannot be read */
	uint64_t start, end; /* in the file: its pages */
	enum pq_codec codec;
	uint64_t nulls; /* UINT64_MAX: not known */
	int64_t values; /* missing ones, too */
	const uint8_t *min, *max;
	uint32_t min_len, max_len;
};

struct pq_group {
	uint64_t rows;
	struct pq_chunk *chunks; /* by leaf */
};

struct pq_pair {
	const char *key, *value;
};

struct parquet {
	int fd;
	uint64_t size;
	uint64_t data_end; /* where the footer begins */
	uint8_t *tail;	   /* the file from here on, with PARQUET_PAD bytes after it: */
	uint64_t tail_at;

	struct arena arena; /* of what the footer says: */
	struct parquet_column *columns;
	uint32_t nr_columns, nr_leaves;
	struct pq_group *groups;
	uint32_t nr_groups;
	uint64_t rows;
	struct pq_pair *pairs;
	uint32_t nr_pairs;
};

/* Understands the footer. -EBADMSG, -ENOMEM. */
int footer_read(struct parquet *p, struct cursor c, struct spur_error *err);

/* ---- memory with a budget ---- */

struct pq_room {
	void *at;
	size_t cap;
};

struct pq_budget {
	size_t left;
	void *unpacker; /* zstd's, which is memory, too */
};

/*
 * Makes the memory that large, plus PARQUET_PAD. Its content is lost. False if the budget is too
 * small.
 */
bool pq_room(struct pq_budget *b, struct pq_room *r, uint64_t size);
void pq_room_free(struct pq_room *r);

/* Bytes of the file, with PARQUET_PAD readable ones after them. NULL: they could not be read. */
const uint8_t *parquet_bytes(struct parquet *p, struct pq_budget *b, struct pq_room *r, uint64_t at,
			     uint64_t size);

/* ---- pages, page.c ---- */

struct pq_header {
	enum pq_page type;
	enum pq_encoding encoding;
	uint32_t values;
	uint32_t raw, packed;	 /* bytes of what follows the header, decompressed and as it is */
	bool is_packed;		 /* V2: it is compressed at all */
	uint32_t levels, others; /* V2: bytes of definition and of repetition levels */
	bool has_crc;
	uint32_t crc;
};

/* False: it is no header, or is not complete. */
bool page_header(struct cursor *c, struct pq_header *h);

/* Decompresses what a page has after its levels of V2. NULL with words in *why. */
const uint8_t *page_body(const struct pq_header *h, enum pq_codec codec, const uint8_t *packed,
			 struct pq_budget *b, struct pq_room *to, const char **why);

/* ---- encodings ---- */

/* All of them are false when the bytes do not have n values. */
bool decode_runs(struct cursor *c, unsigned int width, uint32_t n, uint32_t *out);
bool decode_deltas(struct cursor *c, uint32_t n, int64_t *out);
/* Numbers and reals, as their bits. */
bool decode_plain(struct cursor *c, enum pq_physical stored, uint32_t n, int64_t *out);
bool decode_split(struct cursor *c, enum pq_physical stored, uint32_t n, int64_t *out);
/* Levels of a column that may be missing: `missing` by row. Returns how many are there, or -1. */
int64_t decode_levels(struct cursor *c, uint32_t n, uint32_t *scratch, uint8_t *missing);
bool decode_texts(struct cursor *c, uint32_t n, struct parquet_text *out);
/* `lengths` is room for n numbers. */
bool decode_long_texts(struct cursor *c, uint32_t n, int64_t *lengths, struct parquet_text *out);
/* The same for 2 n; texts are put together in `heap`. */
bool decode_prefixed(struct cursor *c, uint32_t n, int64_t *lengths, struct pq_budget *b,
		     struct pq_room *heap, struct parquet_text *out);

/*
 * ---- compact.c ----
 *
 * Reading Thrift's compact protocol, in which Parquet's headers and footers are.
 *
 * A struct is read field by field:
 *
 *	for (struct compact_field f = {0}; compact_next(c, &f);)
 *		switch (f.id) {
 *		case 1: x = compact_int(c, &f); break;
 *		default: compact_skip(c, &f);
 *		}
 *
 * Invalid data make the cursor fail, and with it everything after them. A list never has more
 * elements than there are bytes left.
 */

struct compact_field {
	uint32_t id;
	uint8_t type; /* enum thrift_type */
};

/* Before the first field of a struct that is a field itself. */
static inline struct compact_field compact_struct(struct cursor *c, const struct compact_field *f)
{
	if (f->type != THRIFT_STRUCT)
		c->failed = true;
	return (struct compact_field){0};
}

/* The next field of the struct; false at its end. The field must be read or skipped. */
bool compact_next(struct cursor *c, struct compact_field *f);
void compact_skip(struct cursor *c, const struct compact_field *f);

int64_t compact_int(struct cursor *c, const struct compact_field *f);
bool compact_bool(struct cursor *c, const struct compact_field *f);
/* NULL when it failed. */
const uint8_t *compact_binary(struct cursor *c, const struct compact_field *f, uint32_t *len);

/* How many elements follow, which are of that type. */
uint32_t compact_list(struct cursor *c, const struct compact_field *f, enum thrift_type of);

uint64_t compact_varint(struct cursor *c);

#endif
