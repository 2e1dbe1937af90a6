// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ring-buffer pages. A page is written as a row of things (see enum what), in every byte order and
 * size of a long, and what comes back is compared with a row of expected records.
 *
 * A new case is an entry in `cases`: what stands on the page, what is to be read from it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ring/ring.h"

#define PAGE	   4096u
#define MAX_THINGS 8
#define START	   0x1800000000000100ull /* with bits above the 59 of an absolute time */

enum what {
	END,
	PLAIN,	 /* n words of data, their count in the header */
	LONG,	 /* n bytes of data, their length in a word of its own */
	DISCARD, /* padding over n bytes */
	REST,	 /* padding without an end */
	EXTEND,	 /* the time moves by n << 27 */
	STAMP,	 /* the time becomes n << 27 */
	WORD,	 /* the bare word n */
};

struct thing {
	enum what what;
	uint64_t n;
	uint32_t delta;
};

struct want {
	uint64_t ts; /* since START; 0 ends the row */
	uint32_t size;
};

static const struct {
	const char *name;
	struct thing things[MAX_THINGS];
	struct want want[MAX_THINGS];
	int32_t commit; /* 0: what was written, else so much more or less */
	bool damaged;
} cases[] = {
	{.name = "empty"},
	{.name = "plain", .things = {{PLAIN, 1, 5}, {PLAIN, 28, 7}}, .want = {{5, 4}, {12, 112}}},
	{.name = "no delta", .things = {{PLAIN, 2, 1}, {PLAIN, 2, 0}}, .want = {{1, 8}, {1, 8}}},
	{.name = "largest delta",
	 .things = {{PLAIN, 1, (1u << 27) - 1}},
	 .want = {{(1u << 27) - 1, 4}}},
	{.name = "long", .things = {{LONG, 200, 3}, {PLAIN, 1, 1}}, .want = {{3, 200}, {4, 4}}},
	{.name = "long is padded to words",
	 .things = {{LONG, 113, 3}, {PLAIN, 1, 1}},
	 .want = {{3, 116}, {4, 4}}},
	{.name = "long of nothing",
	 .things = {{LONG, 0, 3}, {PLAIN, 1, 1}},
	 .want = {{3, 0}, {4, 4}}},
	{.name = "discarded counts its time",
	 .things = {{DISCARD, 12, 3}, {PLAIN, 1, 1}},
	 .want = {{4, 4}}},
	{.name = "discard of nothing",
	 .things = {{DISCARD, 0, 1}, {PLAIN, 1, 1}},
	 .want = {{2, 4}}},
	{.name = "rest of the page",
	 .things = {{PLAIN, 1, 1}, {REST, 0, 0}, {PLAIN, 1, 1}},
	 .want = {{1, 4}}},
	{.name = "extend",
	 .things = {{EXTEND, 2, 9}, {PLAIN, 1, 1}},
	 .want = {{(2ull << 27) + 10, 4}}},
	{.name = "extend twice",
	 .things = {{EXTEND, 1, 0}, {EXTEND, 1, 0}, {PLAIN, 1, 0}},
	 .want = {{2ull << 27, 4}}},
	{.name = "stamp keeps the upper bits",
	 .things = {{STAMP, START >> 27, 9}, {PLAIN, 1, 1}},
	 .want = {{(START >> 27 << 27) - START + 10, 4}}},
	{.name = "stamp goes back",
	 .things = {{PLAIN, 1, 500}, {STAMP, 1, 0}, {PLAIN, 1, 0}},
	 .want = {{500, 4}, {(START >> 59 << 59) + (1ull << 27) - START, 4}}},
	{.name = "record over the end",
	 .things = {{PLAIN, 1, 1}, {PLAIN, 4, 1}},
	 .want = {{1, 4}},
	 .commit = -4,
	 .damaged = true},
	{.name = "header over the end",
	 .things = {{PLAIN, 1, 1}, {PLAIN, 1, 1}},
	 .want = {{1, 4}},
	 .commit = -6,
	 .damaged = true},
	{.name = "long over the end",
	 .things = {{PLAIN, 1, 1}, {LONG, 200, 1}},
	 .want = {{1, 4}},
	 .commit = -100,
	 .damaged = true},
	{.name = "half the header of a long",
	 .things = {{PLAIN, 1, 1}, {LONG, 0, 1}},
	 .want = {{1, 4}},
	 .commit = -4,
	 .damaged = true},
	{.name = "half an extend",
	 .things = {{PLAIN, 1, 1}, {EXTEND, 1, 1}},
	 .want = {{1, 4}},
	 .commit = -4,
	 .damaged = true},
	{.name = "long of no length",
	 .things = {{WORD, 0, 0}, {WORD, 0, 0}, {PLAIN, 1, 1}},
	 .damaged = true},
	{.name = "long of huge length",
	 .things = {{WORD, 0, 0}, {WORD, UINT32_MAX, 0}, {PLAIN, 1, 1}},
	 .damaged = true},
};

static const struct {
	bool big_endian;
	unsigned int long_size;
} machines[] = {{false, 8}, {false, 4}, {true, 8}, {true, 4}};

struct page {
	struct ring_layout layout;
	uint32_t pos;
	uint8_t bytes[PAGE];
};

static void store(struct page *p, uint32_t at, uint64_t v, unsigned int size)
{
	for (unsigned int i = 0; i < size; i++)
		p->bytes[at + i] = (uint8_t)(v >> 8 * (p->layout.big_endian ? size - 1 - i : i));
}

static void put_word(struct page *p, uint64_t v)
{
	store(p, p->pos, v, 4);
	p->pos += 4;
}

static void put_header(struct page *p, uint32_t type, uint32_t delta)
{
	put_word(p, p->layout.big_endian ? type << 27 | delta : delta << 5 | type);
}

static void put_thing(struct page *p, const struct thing *t)
{
	switch (t->what) {
	case END: break;
	case PLAIN:
		put_header(p, (uint32_t)t->n, t->delta);
		p->pos += (uint32_t)t->n * 4;
		break;
	case LONG:
		put_header(p, 0, t->delta);
		put_word(p, t->n + 4);
		p->pos += (uint32_t)(t->n + 3) & ~3u;
		break;
	case DISCARD:
		put_header(p, 29, t->delta);
		put_word(p, t->n + 4);
		p->pos += (uint32_t)t->n;
		break;
	case REST: put_header(p, 29, 0); break;
	case EXTEND:
	case STAMP:
		put_header(p, t->what == EXTEND ? 30 : 31, t->delta);
		put_word(p, t->n);
		break;
	case WORD: put_word(p, t->n); break;
	}
}

static void make_page(struct page *p, bool big_endian, unsigned int long_size,
		      const struct thing *things, int32_t commit)
{
	memset(p, 0, sizeof(*p));
	p->layout = ring_layout_default(big_endian, long_size, PAGE);
	p->pos = p->layout.data_offset;
	store(p, 0, START, 8);
	for (size_t i = 0; i < MAX_THINGS; i++)
		put_thing(p, &things[i]);
	store(p, 8, (uint64_t)(int64_t)((int32_t)(p->pos - p->layout.data_offset) + commit),
	      long_size);
}

static void check_case(size_t n, bool big_endian, unsigned int long_size)
{
	struct ring_page ring;
	struct ring_event e;
	struct page p;
	size_t i = 0;

	make_page(&p, big_endian, long_size, cases[n].things, cases[n].commit);
	assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, PAGE), 0);
	assert_true(ring.page_ts == START);
	for (; ring_page_next(&ring, &e); i++) {
		const struct want *w = &cases[n].want[i];

		if (e.ts != w->ts + START || e.size != w->size)
			fail_msg("%s (%s-endian, long %u): record %zu is at %#llx, %u bytes",
				 cases[n].name, big_endian ? "big" : "little", long_size, i,
				 (unsigned long long)e.ts, e.size);
		assert_true(e.data >= p.bytes && e.data + e.size <= p.bytes + PAGE);
		assert_true(e.data > p.bytes + e.pos && e.pos >= p.layout.data_offset);
	}
	if (cases[n].want[i].ts || ring.damaged != cases[n].damaged)
		fail_msg("%s (%s-endian, long %u): %zu records, damaged %d", cases[n].name,
			 big_endian ? "big" : "little", long_size, i, ring.damaged);
	assert_false(ring_page_next(&ring, &e));
}

static void test_records(void **state)
{
	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++)
		for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++)
			check_case(n, machines[m].big_endian, machines[m].long_size);
}

/* Whatever stands on a page, walking ends and stays inside; the sanitizer watches. */
static void test_any_bytes(void **state)
{
	static const struct thing nothing[MAX_THINGS];
	uint64_t seed = 1;

	for (size_t round = 0; round < 2000; round++) {
		size_t size = round % 3 ? PAGE : (round * 37) % PAGE;
		uint8_t *copy = malloc(size ? size : 1);
		struct ring_page ring;
		struct ring_event e;
		struct ring_raw raw;
		struct page p;
		uint64_t sum = 0;

		make_page(&p, round & 1, round & 2 ? 4 : 8, nothing, 0);
		for (size_t i = 8; i < PAGE; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			p.bytes[i] = (uint8_t)(seed >> 56) & (i % 4 ? 0x0f : 0xff);
		}
		memcpy(copy, p.bytes, size);
		if (ring_page_open(&ring, &p.layout, copy, size) == 0) {
			for (uint32_t pos = ring.pos; ring_page_raw(&ring, pos, &raw);
			     pos = raw.next)
				assert_true(raw.next > pos && raw.next <= ring.end);
			while (ring_page_next(&ring, &e))
				for (uint32_t i = 0; i < e.size; i++)
					sum += e.data[i];
			assert_true(ring.pos <= ring.end && ring.end <= size);
		}
		assert_true(sum < UINT64_MAX);
		free(copy);
	}
}

static const struct {
	const char *name;
	uint64_t flags;
	uint64_t stored;
	bool has_room;
	int64_t lost;
} losses[] = {
	{"none", 0, 7, true, 0},
	{"unknown", 1ull << 31, 7, true, -1},
	{"counted", 3ull << 30, 7, true, 7},
	{"count without events", 1ull << 30, 7, true, 0},
	{"no room for the count", 3ull << 30, 7, false, -1},
	{"a count of none", 3ull << 30, 0, true, -1},
};

static void check_loss(size_t n, bool big_endian, unsigned int long_size)
{
	struct ring_page ring;
	struct page p = {.layout = ring_layout_default(big_endian, long_size, PAGE)};
	uint32_t data = losses[n].has_room ? 8 : PAGE - p.layout.data_offset - long_size + 1;

	store(&p, 8, losses[n].flags | data, long_size);
	if (losses[n].has_room)
		store(&p, p.layout.data_offset + data, losses[n].stored, long_size);
	assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, PAGE), 0);
	if (ring.lost != losses[n].lost)
		fail_msg("%s: lost %lld", losses[n].name, (long long)ring.lost);
}

static void test_lost(void **state)
{
	for (size_t n = 0; n < sizeof(losses) / sizeof(losses[0]); n++)
		for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++)
			check_loss(n, machines[m].big_endian, machines[m].long_size);
}

/* A page that is not all there gives the records that are. */
static void test_cut_page(void **state)
{
	const struct thing things[MAX_THINGS] = {{PLAIN, 1, 1}, {PLAIN, 1, 1}, {PLAIN, 1, 1}};
	struct ring_page ring;
	struct ring_event e;
	struct page p;

	make_page(&p, false, 8, things, 0);
	for (uint32_t size = 0; size <= p.pos; size++) {
		uint32_t records = 0;

		if (size < 16) {
			assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, size), -EBADMSG);
			continue;
		}
		assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, size), 0);
		while (ring_page_next(&ring, &e))
			records++;
		assert_int_equal(records, (size - 16) / 8);
		assert_int_equal(ring.damaged, size < p.pos);
	}
}

static void test_impossible_page(void **state)
{
	static const uint32_t sizes[] = {0, 1, 64, 4095, 4097, 6144, 32u << 20, UINT32_MAX};
	static const struct thing nothing[MAX_THINGS];
	struct ring_page ring;
	struct page p;

	make_page(&p, false, 8, nothing, 0);
	assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, PAGE + 1), -EBADMSG);
	store(&p, 8, PAGE - 15, 8);
	assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, PAGE), -EBADMSG);
	store(&p, 8, 0, 8);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p.layout.page_size = sizes[i];
		assert_false(ring_page_size_ok(sizes[i]));
		assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, 16), -EBADMSG);
	}
}

static void test_raw(void **state)
{
	const struct thing things[MAX_THINGS] = {{PLAIN, 2, 1},	  {EXTEND, 1, 2}, {STAMP, 1, 3},
						 {DISCARD, 8, 4}, {LONG, 40, 5},  {REST, 0, 0}};
	const struct {
		enum ring_kind kind;
		uint64_t delta;
		uint32_t length;
	} want[] = {
		{RING_DATA, 1, 8},
		{RING_TIME_EXTEND, (1ull << 27) + 2, 0},
		{RING_TIME_STAMP, 0x1800000000000000ull + (1ull << 27) + 3, 0},
		{RING_PADDING, 4, 12},
		{RING_DATA, 5, 40},
		{RING_PADDING, 0, 0},
	};
	struct ring_page ring;
	struct ring_raw raw;
	struct page p;
	size_t i = 0;

	make_page(&p, true, 4, things, 0);
	assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, PAGE), 0);
	for (uint32_t pos = ring.pos; ring_page_raw(&ring, pos, &raw); pos = raw.next, i++) {
		assert_int_equal(raw.pos, pos);
		assert_int_equal(raw.kind, want[i].kind);
		assert_true(raw.delta == want[i].delta);
		assert_int_equal(raw.length, want[i].length);
	}
	assert_int_equal(i, sizeof(want) / sizeof(want[0]));
	assert_false(ring_page_raw(&ring, 0, &raw));
	assert_false(ring_page_raw(&ring, UINT32_MAX, &raw));
}

#define TEXT(commit, data)                                                                         \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"                                 \
	"\tfield: local_t commit;\t" commit ";\tsigned:1;\n"                                       \
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"                                 \
	"\tfield: char data;\t" data ";\tsize:4080;\tsigned:1;\n"

static const struct {
	const char *text;
	bool ok;
	uint32_t commit_size, data_offset;
} texts[] = {
	{TEXT("offset:8;\tsize:8", "offset:16"), true, 8, 16},
	{TEXT("offset:8;\tsize:4", "offset:12"), true, 4, 12},
	{TEXT("offset:8;\tsize:8", "offset:24"), true, 8, 24},
	{"", false, 8, 16},
	{TEXT("offset:8;\tsize:2", "offset:16"), false, 8, 16},
	{TEXT("offset:0;\tsize:8", "offset:16"), false, 8, 16},
	{TEXT("offset:8;\tsize:8", "offset:12"), false, 8, 16},
	{TEXT("offset:8;\tsize:8", "offset:4000"), false, 8, 16},
	{TEXT("offset:8;\tsize:8", "offset:99999999999999999999"), false, 8, 16},
	{TEXT("offset:8;\tsize:8", "offset:"), false, 8, 16},
	{TEXT("offset:;\tsize:", "offset:16"), false, 8, 16},
};

static void test_layout(void **state)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct ring_layout l = ring_layout_default(false, 8, PAGE);
		size_t size = strlen(texts[i].text);
		char *exact = malloc(size + 1);

		memcpy(exact, texts[i].text, size);
		assert_int_equal(ring_layout_parse(&l, exact, size), texts[i].ok);
		assert_int_equal(l.commit_size, texts[i].commit_size);
		assert_int_equal(l.data_offset, texts[i].data_offset);
		free(exact);
	}
	assert_int_equal(ring_layout_default(false, 4, PAGE).data_offset, 12);
	assert_int_equal(ring_layout_default(false, 3, PAGE).data_offset, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records), cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_lost),	cmocka_unit_test(test_cut_page),
		cmocka_unit_test(test_raw),	cmocka_unit_test(test_impossible_page),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
