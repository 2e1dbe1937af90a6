// SPDX-License-Identifier: GPL-2.0-or-later
/* Groups of equal rows and their sizes; the header explains how they are numbered. */
#include "query/fleet/tally.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/vec.h"

#define MANY	   (1u << 17) /* groups, or values of a column */
#define TEXT_LIMIT (256u << 20)
#define MANY_BYTES (32u << 20) /* of texts */
#define NO_CODE	   UINT32_MAX

struct values {
	struct fleet_value *at;
	size_t n, cap;
};

struct tally_column {
	struct values values; /* by number; the first is none */
	struct map numbers, texts;
	struct intern intern;
	/* Numbers of a dictionary's values. */
	uint64_t dict;
	uint32_t *codes;
	size_t nr_codes;
	/* Groups by this column and those before it, unless it is the first. */
	struct map groups;
	struct {
		struct {
			uint32_t before, code;
		} * at;
		size_t n, cap;
	} pairs;
};

struct tally {
	size_t nr, next; /* columns, and the next one in this batch */
	struct tally_column *columns;
	struct hash_seed seed;
	uint32_t *now; /* by row of the batch: its group so far */
	size_t cap;
	vec_of(uint64_t) counts;
};

/* The map stores pointers other than NULL. */
static inline void *as_pointer(uint32_t v)
{
	return (void *)((uintptr_t)v + 1);
}

static inline uint32_t as_code(const void *p)
{
	return p ? (uint32_t)((uintptr_t)p - 1) : NO_CODE;
}

static int begin_column(struct tally_column *c)
{
	intern_init(&c->intern, TEXT_LIMIT);
	if (!vec_push(&c->values))
		return -ENOMEM;
	c->values.at[0] = (struct fleet_value){.type = SQLITE_NULL};
	return 0;
}

static void end_column(struct tally_column *c)
{
	vec_free(&c->values);
	vec_free(&c->pairs);
	map_free(&c->numbers);
	map_free(&c->texts);
	map_free(&c->groups);
	intern_free(&c->intern);
	free(c->codes);
	*c = (struct tally_column){0};
}

struct tally *tally_new(size_t columns)
{
	struct tally *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->nr = columns;
	t->seed = hash_seed_new();
	t->columns = calloc(columns + 1, sizeof(*t->columns));
	if (!t->columns || tally_reset(t) < 0) {
		tally_free(t);
		return NULL;
	}
	return t;
}

int tally_reset(struct tally *t)
{
	int rc = 0;

	t->counts.n = 0;
	for (size_t i = 0; i < t->nr; i++) {
		if (t->columns[i].values.n)
			end_column(&t->columns[i]);
		if (begin_column(&t->columns[i]) < 0)
			rc = -ENOMEM;
	}
	return rc;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	for (size_t i = 0; t->columns && i < t->nr; i++)
		end_column(&t->columns[i]);
	vec_free(&t->counts);
	free(t->columns);
	free(t->now);
	free(t);
}

/* ---- numbers of values ---- */

static uint32_t add_value(struct tally_column *c, struct map *m, uint64_t key,
			  const struct fleet_value *v)
{
	const uint32_t code = (uint32_t)c->values.n;
	struct fleet_value *slot = vec_push(&c->values);

	if (!slot || !map_set(m, key, as_pointer(code)))
		return NO_CODE;
	*slot = *v;
	return code;
}

/* hash_add() of a single number maps different numbers to different hashes. */
static inline uint32_t number_code(struct tally *t, struct tally_column *c, int64_t v, bool real)
{
	const uint64_t key = hash_add(&t->seed, 0, (uint64_t)v);
	const uint32_t code = as_code(map_get(&c->numbers, key));
	struct fleet_value value = {.type = SQLITE_INTEGER, .number = v};

	if (code != NO_CODE)
		return code;
	if (real) {
		value = (struct fleet_value){.type = SQLITE_FLOAT, .real = parquet_real(v)};
		/* As in SQLite: NaN is NULL. */
		if (isnan(value.real))
			return 0;
	}
	return add_value(c, &c->numbers, key, &value);
}

static uint32_t text_code(struct tally *t, struct tally_column *c, const struct parquet_text *v)
{
	const char *text = intern_text(&c->intern, v->at, v->len);
	const uint64_t key = hash_add(&t->seed, 0, (uintptr_t)text);
	const uint32_t code = text ? as_code(map_get(&c->texts, key)) : NO_CODE;
	const struct fleet_value value = {.type = SQLITE_TEXT, .text = text, .len = v->len};

	if (!text || code != NO_CODE)
		return code;
	return add_value(c, &c->texts, key, &value);
}

static uint32_t code_of(struct tally *t, struct tally_column *c, const struct parquet_column *from,
			const struct parquet_values *v, uint32_t i)
{
	return from->kind == PARQUET_TEXT
		       ? text_code(t, c, &v->texts[i])
		       : number_code(t, c, v->numbers[i], from->kind == PARQUET_REAL);
}

/* A new dictionary: none of its values has a number yet. */
static bool take_dict(struct tally_column *c, const struct parquet_values *v)
{
	uint32_t *codes = c->codes;

	if (c->codes && c->dict == v->dict)
		return true;
	if (v->dict_size > c->nr_codes || !codes)
		codes = reallocarray(c->codes, (size_t)v->dict_size + 1, sizeof(*codes));
	if (!codes)
		return false;
	if (v->dict_size > c->nr_codes)
		c->nr_codes = v->dict_size;
	c->codes = codes;
	c->dict = v->dict;
	memset(codes, 0xff, (size_t)v->dict_size * sizeof(*codes));
	return true;
}

/* ---- groups ---- */

static inline uint32_t group_of(struct tally *t, struct tally_column *c, uint32_t before,
				uint32_t code)
{
	const uint64_t key = hash_add(&t->seed, 0, (uint64_t)before << 32 | code);
	uint32_t group = as_code(map_get(&c->groups, key));

	if (__builtin_expect(group != NO_CODE, 1))
		return group;
	group = (uint32_t)c->pairs.n;
	if (!vec_push(&c->pairs) || !map_set(&c->groups, key, as_pointer(group)))
		return NO_CODE;
	c->pairs.at[group].before = before;
	c->pairs.at[group].code = code;
	return group;
}

int tally_begin(struct tally *t, uint32_t n)
{
	uint32_t *now = t->now;

	t->next = 0;
	if (n <= t->cap)
		return 0;
	now = reallocarray(t->now, n, sizeof(*now));
	if (!now)
		return -ENOMEM;
	t->now = now;
	t->cap = n;
	return 0;
}

int tally_column(struct tally *t, const struct parquet_column *from, const struct parquet_values *v,
		 const uint32_t *rows, uint32_t n)
{
	const bool first = t->next == 0;
	struct tally_column *c = &t->columns[t->next++];

	if (v->ids && !take_dict(c, v))
		return -ENOMEM;
	for (uint32_t k = 0; k < n; k++) {
		const uint32_t i = rows[k];
		uint32_t code = 0;

		if (v->missing && v->missing[i]) {
			code = 0;
		} else if (v->ids) {
			code = c->codes[v->ids[i]];
			if (code == NO_CODE)
				c->codes[v->ids[i]] = code = code_of(t, c, from, v, v->ids[i]);
		} else {
			code = code_of(t, c, from, v, i);
		}
		if (!first && code != NO_CODE)
			code = group_of(t, c, t->now[k], code);
		if (code == NO_CODE)
			return -ENOMEM;
		t->now[k] = code;
	}
	return 0;
}

static int count_up_to(struct tally *t, size_t groups)
{
	while (t->counts.n < groups)
		if (!vec_push(&t->counts))
			return -ENOMEM;
	return 0;
}

size_t tally_size(const struct tally *t)
{
	return t->counts.n;
}

int tally_end(struct tally *t, uint64_t n)
{
	const struct tally_column *last = t->nr ? &t->columns[t->nr - 1] : NULL;

	if (count_up_to(t, !last ? 1 : t->nr == 1 ? last->values.n : last->pairs.n) < 0)
		return -ENOMEM;
	if (!last)
		t->counts.at[0] += n;
	for (uint64_t k = 0; last && k < n; k++)
		t->counts.at[t->now[k]]++;
	return 0;
}

bool tally_is_large(const struct tally *t)
{
	bool large = t->counts.n > MANY;

	for (size_t i = 0; i < t->nr; i++)
		large |= t->columns[i].values.n > MANY ||
			 t->columns[i].intern.arena.used > MANY_BYTES;
	return large;
}

uint64_t tally_count(const struct tally *t, size_t group)
{
	return t->counts.at[group];
}

struct fleet_value tally_value(const struct tally *t, size_t group, size_t column)
{
	uint32_t code = (uint32_t)group;

	for (size_t i = t->nr; i-- > 1;) {
		const uint32_t at = code;

		code = t->columns[i].pairs.at[at].code;
		if (i == column)
			break;
		code = t->columns[i].pairs.at[at].before;
	}
	return t->columns[column].values.at[code];
}
