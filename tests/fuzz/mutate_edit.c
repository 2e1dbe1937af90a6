// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The damage: a table of mutations, each of which changes an image at one place.
 *
 * Half of them break the file blindly, as a bad disk would. The others keep it consistent around
 * the change (image_splice()), so that the lie is believed until someone acts on it.
 */
#include "mutate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/cursor.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_UNPACKED  (16u << 20)
#define MAX_PAGE      65536

/* Numbers at the edges of types, of pages and of what programs take for granted. */
static const uint64_t edges[] = {
	0,	    1,		2,	    7,		0x7f,		0x80,
	0xff,	    0x100,	0xfff,	    0x1000,	0x1001,		0x7fff,
	0x8000,	    0xffff,	0x10000,    0x100000,	0x1000000,	0x40000000,
	0x7fffffff, 0x80000000, 0xfffffff0, 0xffffffff, 1ull << 32,	1ull << 40,
	1ull << 62, 1ull << 63, INT64_MAX,  UINT64_MAX, UINT64_MAX - 7,
};

static const int nudges[] = {-1, 1, -2, 2, -4, 4, -8, 8, -16, 16, 256, -256, -4096, 4096};

/* Text that means something to whoever parses formats, symbols and names of tasks. */
static const char *const tokens[] = {
	"[4294967295]",
	"[-1]",
	"[0]",
	"[",
	"]",
	"((((((((((((((((",
	"))))",
	"\"",
	"'",
	"\\",
	"{{{",
	"}",
	"%s%s%s%n",
	"%*.*s",
	"%999999999d",
	"%.999999999s",
	"%p",
	"%pS",
	"%pI6c",
	"%pUB",
	"%*pbl",
	"%ph",
	"%llx",
	"%",
	"__data_loc ",
	"__rel_loc ",
	"REC->",
	"->",
	"__print_symbolic(",
	"__print_flags(",
	"__print_array(",
	"__print_hex(",
	"__print_hex_str(",
	"__get_str(",
	"__get_dynamic_array(",
	"__get_dynamic_array_len(",
	"__get_bitmask(",
	"__builtin_expect(",
	"sizeof(",
	"(unsigned char)",
	"(char *)",
	"? : ",
	"?",
	":",
	" / 0",
	" % 0",
	" << 64",
	" >> -1",
	"-9223372036854775808 / -1",
	"!!!!!!!!",
	"~",
	"0x",
	"0xffffffffffffffff",
	"18446744073709551616",
	", ",
	";",
	"\n",
	"\t",
	"offset:4294967295;",
	"offset:-1;",
	"size:4294967295;",
	"size:0;",
	"size:3;",
	"signed:1;",
	"field:",
	"ID: 1\n",
	"ID: 4294967295\n",
	"name: ",
	"print fmt: ",
	"format:\n",
	"common_type",
	"common_pid",
	"unsigned long ",
	"char ",
	"ffffffffffffffff t ",
	"0 T ",
	"\t[",
	"0x0 : \"",
	"-1 ",
	"2147483648 ",
};

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static void store(const struct image *img, size_t at, size_t size, uint64_t v)
{
	if (at > img->len || size > img->len - at)
		return;
	for (size_t i = 0; i < size; i++)
		img->data[img->big_endian ? at + size - 1 - i : at + i] = (uint8_t)(v >> (8 * i));
}

static uint64_t load(const struct image *img, const struct place *p)
{
	if (p->at > img->len || p->size > img->len - p->at)
		return 0;
	return load_uint(img->data + p->at, (unsigned int)p->size, img->big_endian);
}

/* ---- replacing bytes by a different number of them ---- */

static void resize(struct image *img, size_t at, size_t old_len, size_t new_len)
{
	size_t len = img->len - old_len + new_len;

	if (len > img->cap) {
		img->cap = len + 4096;
		img->data = realloc(img->data, img->cap);
		if (!img->data)
			abort();
	}
	memmove(img->data + at + new_len, img->data + at + old_len, img->len - at - old_len);
	img->len = len;
}

static void move_places(struct image *img, size_t at, size_t old_len, size_t new_len)
{
	const size_t end = at + old_len, delta = new_len - old_len; /* may wrap, as intended */

	for (int kind = 0; kind < PLACE_KINDS; kind++) {
		for (size_t i = 0; i < img->places[kind].n; i++) {
			struct place *p = &img->places[kind].at[i];

			if (p->at >= end)
				p->at += delta;
			else if (p->at <= at && at < p->at + p->size && kind >= PLACE_RECORD)
				p->size += delta;
			if (p->from >= end)
				p->from += delta;
			if (p->to >= end)
				p->to += delta;
		}
	}
}

/* Corrects the numbers in the file. Places have not moved yet when this runs. */
static void correct_numbers(struct image *img, size_t at, size_t old_len, size_t new_len)
{
	const size_t end = at + old_len, delta = new_len - old_len;

	for (size_t i = 0; i < img->places[PLACE_OFFSET].n; i++) {
		struct place *p = &img->places[PLACE_OFFSET].at[i];
		uint64_t v = load(img, p);

		if (v >= end && v <= img->len)
			store(img, p->at, p->size, v + delta);
	}
	for (size_t i = 0; i < img->places[PLACE_SIZE].n; i++) {
		struct place *p = &img->places[PLACE_SIZE].at[i];

		if (p->from <= at && end <= p->to)
			store(img, p->at, p->size, load(img, p) + delta);
	}
}

static void splice(struct image *img, size_t at, size_t old_len, const void *bytes, size_t new_len)
{
	correct_numbers(img, at, old_len, new_len);
	move_places(img, at, old_len, new_len);
	resize(img, at, old_len, new_len);
	memcpy(img->data + at, bytes, new_len);
	if (img->pages >= at + old_len)
		img->pages += new_len - old_len;
}

/* Takes zeros away from, or adds some to, those in front of the pages: these stay aligned. */
static void realign_pages(struct image *img)
{
	uint8_t zeros[1 + MAX_PAGE] = {0};
	size_t off, padding = 0;

	if (!img->pages || img->pages > img->len || img->page_size > MAX_PAGE)
		return;
	off = img->pages % img->page_size;
	while (padding < off && !img->data[img->pages - 1 - padding])
		padding++;
	if (off && padding == off) {
		splice(img, img->pages - off, off, zeros, 0);
	} else if (off) {
		/* Replacing the byte in front keeps the zeros out of the first CPU's data. */
		zeros[0] = img->data[img->pages - 1];
		splice(img, img->pages - 1, 1, zeros, 1 + img->page_size - off);
	}
}

void image_splice(struct image *img, size_t at, size_t old_len, const void *bytes, size_t new_len)
{
	if (at > img->len || old_len > img->len - at)
		return;
	splice(img, at, old_len, bytes, new_len);
	if (old_len != new_len && at < img->pages)
		realign_pages(img);
}

/* ---- choosing ---- */

static struct place *pick(struct image *img, struct rng *r, enum place_kind kind)
{
	struct place *p;

	if (!img->places[kind].n)
		return NULL;
	p = &img->places[kind].at[rng_below(r, img->places[kind].n)];
	return p->at <= img->len && p->size <= img->len - p->at ? p : NULL;
}

/* Any number; those of the ring buffer are many, so the file's own get their share. */
static struct place *pick_number(struct image *img, struct rng *r)
{
	static const enum place_kind kinds[] = {PLACE_NUMBER, PLACE_OFFSET, PLACE_SIZE, PLACE_PAGE};

	return pick(img, r, kinds[rng_below(r, ARRAY_SIZE(kinds))]);
}

/* A position anywhere, with a preference for the beginning, the end and the beginnings of pages. */
static size_t pick_position(const struct image *img, struct rng *r)
{
	const size_t window = 4096;

	switch (rng_below(r, 6)) {
	case 0: return rng_below(r, img->len < window ? img->len : window);
	case 1: return img->len - 1 - rng_below(r, img->len < window ? img->len : window);
	case 2: {
		size_t at = rng_below(r, img->len) / window * window + rng_below(r, 64);

		return at < img->len ? at : img->len - 1;
	}
	default: return rng_below(r, img->len);
	}
}

static size_t pick_length(const struct image *img, struct rng *r, size_t at)
{
	static const size_t lengths[] = {1, 2, 4, 8, 16, 64, 512, 4096};
	size_t n = lengths[rng_below(r, ARRAY_SIZE(lengths))];

	return n < img->len - at ? n : img->len - at;
}

static uint64_t pick_value(struct rng *r)
{
	return rng_below(r, 4) ? edges[rng_below(r, ARRAY_SIZE(edges))] : rng_next(r);
}

/* ---- the mutations ---- */

static void flip_bit(struct image *img, struct rng *r)
{
	img->data[pick_position(img, r)] ^= (uint8_t)(1 << rng_below(r, 8));
}

static void random_byte(struct image *img, struct rng *r)
{
	img->data[pick_position(img, r)] = (uint8_t)rng_next(r);
}

static void any_word(struct image *img, struct rng *r)
{
	store(img, pick_position(img, r), (size_t)2 << rng_below(r, 3), pick_value(r));
}

static void set_number(struct image *img, struct rng *r)
{
	struct place *p = pick_number(img, r);

	if (p)
		store(img, p->at, p->size, pick_value(r));
}

static void nudge_number(struct image *img, struct rng *r)
{
	struct place *p = pick_number(img, r);

	if (p)
		store(img, p->at, p->size,
		      load(img, p) + (uint64_t)(int64_t)nudges[rng_below(r, ARRAY_SIZE(nudges))]);
}

static void copy_number(struct image *img, struct rng *r)
{
	struct place *to = pick_number(img, r), *from = pick_number(img, r);

	if (to && from)
		store(img, to->at, to->size, load(img, from));
}

/* An offset that points back at where it stands, or at what holds it. */
static void point_back(struct image *img, struct rng *r)
{
	struct place *p = pick(img, r, PLACE_OFFSET);
	size_t back = rng_below(r, 64);

	if (p)
		store(img, p->at, p->size, back < p->at ? p->at - back : 0);
}

/* A word in a record: ids, pids, and where a field's dynamic part lies. */
static void record_word(struct image *img, struct rng *r)
{
	struct place *p = pick(img, r, PLACE_RECORD);

	if (p && p->size >= 4)
		store(img, p->at + rng_below(r, p->size / 4) * 4, rng_below(r, 3) ? 4 : 2,
		      pick_value(r));
}

static void overwrite_token(struct image *img, struct rng *r)
{
	struct place *p = pick(img, r, PLACE_TEXT);
	const char *token = tokens[rng_below(r, ARRAY_SIZE(tokens))];
	size_t n = strlen(token);

	if (p && n <= p->size)
		memcpy(img->data + p->at + rng_below(r, p->size - n + 1), token, n);
}

static void insert_token(struct image *img, struct rng *r)
{
	struct place *p = pick(img, r, PLACE_TEXT);
	const char *token = tokens[rng_below(r, ARRAY_SIZE(tokens))];

	if (p)
		image_splice(img, p->at + rng_below(r, p->size), 0, token, strlen(token));
}

/* The line of the text around a position. */
static void line_around(const struct image *img, const struct place *p, size_t at, size_t *from,
			size_t *to)
{
	*from = at;
	*to = at;
	while (*from > p->at && img->data[*from - 1] != '\n')
		--*from;
	while (*to < p->at + p->size && img->data[(*to)++] != '\n')
		;
}

static void drop_or_double_line(struct image *img, struct rng *r)
{
	struct place *p = pick(img, r, PLACE_TEXT);
	size_t from, to;
	uint8_t line[1024];

	if (!p)
		return;
	line_around(img, p, p->at + rng_below(r, p->size), &from, &to);
	if (to - from > sizeof(line))
		return;
	memcpy(line, img->data + from, to - from);
	if (rng_below(r, 2))
		image_splice(img, from, to - from, line, 0);
	else
		image_splice(img, from, 0, line, to - from);
}

/* Another number in a text: offset:, size:, an array's length, an address. */
static void text_number(struct image *img, struct rng *r)
{
	static const char *const numbers[] = {
		"0",
		"1",
		"3",
		"-1",
		"9",
		"255",
		"65535",
		"65536",
		"2147483647",
		"2147483648",
		"4294967295",
		"4294967296",
		"9223372036854775807",
		"18446744073709551615",
		"99999999999999999999999999",
	};
	struct place *p = pick(img, r, PLACE_TEXT);
	const char *text = numbers[rng_below(r, ARRAY_SIZE(numbers))];
	size_t at, end;

	if (!p)
		return;
	end = p->at + p->size;
	at = p->at + rng_below(r, p->size);
	while (at < end && !isdigit(img->data[at]))
		at++;
	for (end = at; end < p->at + p->size && isdigit(img->data[end]); end++)
		;
	if (end > at)
		image_splice(img, at, end - at, text, strlen(text));
}

static void fill_range(struct image *img, struct rng *r)
{
	size_t at = pick_position(img, r);

	memset(img->data + at, rng_below(r, 2) ? 0 : 0xff, pick_length(img, r, at));
}

static void copy_range(struct image *img, struct rng *r)
{
	size_t to = pick_position(img, r), from = pick_position(img, r);
	size_t n = pick_length(img, r, to > from ? to : from);

	memmove(img->data + to, img->data + from, n);
}

static void drop_range(struct image *img, struct rng *r)
{
	size_t at = pick_position(img, r), n = pick_length(img, r, at);

	memmove(img->data + at, img->data + at + n, img->len - at - n);
	img->len -= n;
}

static void cut_off(struct image *img, struct rng *r)
{
	img->len = 1 + rng_below(r, img->len);
}

/* Unpacks a section, damages what is in it, and packs it again: the checksum is right. */
static void damage_packed(struct image *img, struct rng *r)
{
	struct place *p = img->zstd ? pick(img, r, PLACE_PACKED) : NULL;
	struct image inner = {.page_size = img->page_size, .big_endian = img->big_endian};
	uint8_t *packed = NULL;
	size_t at, bound, n;

	if (!p || p->size < 8)
		return;
	at = p->at;
	inner.len = load_uint(img->data + at + 4, 4, img->big_endian);
	if (!inner.len || inner.len > MAX_UNPACKED)
		return;
	inner.cap = inner.len;
	inner.data = malloc(inner.cap);
	if (!inner.data)
		abort();
	n = ZSTD_decompress(inner.data, inner.cap, img->data + at + 8, p->size - 8);
	if (!ZSTD_isError(n) && n == inner.len) {
		map_section(&inner, p->section);
		image_mutate(&inner, r);
		bound = ZSTD_compressBound(inner.len);
		packed = malloc(bound);
		if (!packed)
			abort();
		n = ZSTD_compress(packed, bound, inner.data, inner.len, 1);
		if (!ZSTD_isError(n)) {
			store(img, at, 4, n);
			store(img, at + 4, 4, inner.len);
			image_splice(img, at + 8, p->size - 8, packed, n);
		}
	}
	free(packed);
	image_free(&inner);
}

static const struct {
	void (*change)(struct image *img, struct rng *r);
	unsigned int weight;
} mutations[] = {
	{flip_bit, 4},	   {random_byte, 4},	     {any_word, 8},
	{set_number, 16},  {nudge_number, 10},	     {copy_number, 6},
	{point_back, 3},   {record_word, 10},	     {overwrite_token, 8},
	{insert_token, 8}, {drop_or_double_line, 4}, {text_number, 10},
	{fill_range, 5},   {copy_range, 6},	     {drop_range, 4},
	{cut_off, 2},	   {damage_packed, 40},
};

static void mutate_once(struct image *img, struct rng *r)
{
	unsigned int total = 0;
	size_t roll;

	for (size_t i = 0; i < ARRAY_SIZE(mutations); i++)
		total += mutations[i].weight;
	roll = rng_below(r, total);
	for (size_t i = 0; i < ARRAY_SIZE(mutations); i++) {
		if (roll < mutations[i].weight) {
			mutations[i].change(img, r);
			return;
		}
		roll -= mutations[i].weight;
	}
}

void image_mutate(struct image *img, struct rng *r)
{
	static const unsigned int counts[] = {1, 1, 1, 2, 2, 4, 8};
	unsigned int n = counts[rng_below(r, ARRAY_SIZE(counts))];

	for (unsigned int i = 0; i < n && img->len > 16; i++)
		mutate_once(img, r);
}
