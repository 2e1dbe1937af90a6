// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Parts of pages. Pages of every kind of thing are cut at every two records; what is read from the
 * part has to be what was read from the page. A new kind of page is a line in `pages`.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ring/ring.h"

#define PAGE	256u
#define MAX	12
#define START	0x1800000000000100ull /* with bits above the 59 of an absolute time */
#define HIGHEST (START >> 27)

enum what {
	END,
	PLAIN,	/* n words of data */
	LONG,	/* n bytes, their length in a word of its own */
	SKIP,	/* a discarded event of n bytes */
	EXTEND, /* the time moves by n << 27 */
	STAMP,	/* the time becomes n << 27, with the upper bits it had */
};

struct thing {
	enum what what;
	uint64_t n;
	uint32_t delta;
};

static const struct thing pages[][MAX] = {
	{{PLAIN, 1, 0}},
	{{PLAIN, 1, 7}, {PLAIN, 2, 5}, {PLAIN, 3, 0}, {PLAIN, 1, 9}},
	{{LONG, 40, 7}, {PLAIN, 2, 5}, {LONG, 4, 1}, {LONG, 0, 9}},
	{{EXTEND, 3, 1},
	 {PLAIN, 1, 0},
	 {PLAIN, 1, 4},
	 {EXTEND, 1, 0},
	 {EXTEND, 2, 8},
	 {PLAIN, 1, 2}},
	{{PLAIN, 1, 3}, {SKIP, 8, 5}, {PLAIN, 1, 2}, {SKIP, 4, 1}, {SKIP, 4, 6}, {PLAIN, 1, 1}},
	{{STAMP, HIGHEST + 5, 3},
	 {PLAIN, 1, 0},
	 {PLAIN, 1, 2},
	 {STAMP, HIGHEST + 2, 0},
	 {PLAIN, 2, 0}},
	{{PLAIN, 1, (1u << 27) - 1},
	 {PLAIN, 1, (1u << 27) - 1},
	 {EXTEND, UINT32_MAX, 0},
	 {PLAIN, 1, 0}},
	{{PLAIN, 28, 1}, {PLAIN, 28, 1}},
};

static const struct {
	bool big_endian;
	unsigned int long_size;
} machines[] = {{false, 8}, {false, 4}, {true, 8}, {true, 4}};

static const int64_t losses[] = {0, -1, 1, 123456};

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

static void put_data(struct page *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++, p->pos++)
		p->bytes[p->pos] = (uint8_t)(p->pos * 7 + 1);
}

static void put_thing(struct page *p, const struct thing *t)
{
	static const uint32_t types[] = {[SKIP] = 29, [EXTEND] = 30, [STAMP] = 31};
	const uint32_t type = t->what == PLAIN ? (uint32_t)t->n : types[t->what];

	put_word(p, p->layout.big_endian ? type << 27 | t->delta : t->delta << 5 | type);
	if (t->what == LONG || t->what == SKIP)
		put_word(p, t->n + 4);
	if (t->what == EXTEND || t->what == STAMP)
		put_word(p, t->n);
	else
		put_data(p, (uint32_t)t->n * (t->what == PLAIN ? 4 : 1));
}

static void make_page(struct page *p, const struct thing *things, size_t machine)
{
	memset(p, 0, sizeof(*p));
	p->layout = ring_layout_default(machines[machine].big_endian, machines[machine].long_size,
					PAGE);
	p->pos = p->layout.data_offset;
	store(p, 0, START, 8);
	for (size_t i = 0; i < MAX && things[i].what; i++)
		put_thing(p, &things[i]);
	store(p, 8, p->pos - p->layout.data_offset, p->layout.commit_size);
}

/* All records of a page. */
static size_t read_all(struct ring_page *ring, struct ring_event *events)
{
	size_t n = 0;

	while (n < MAX && ring_page_next(ring, &events[n]))
		n++;
	assert_false(ring->damaged);
	return n;
}

static void check_part(const struct page *p, const struct ring_event *all, size_t n, size_t from,
		       size_t to, int64_t lost)
{
	struct ring_page ring, cut;
	struct ring_event got[MAX];
	struct ring_part part = {all[from].pos, all[from].ts, 0, lost};
	uint8_t bytes[PAGE];

	assert_int_equal(ring_page_open(&ring, &p->layout, p->bytes, PAGE), 0);
	part.end = to < n ? all[to].pos : ring.end;
	memset(bytes, 0xa5, sizeof(bytes));
	ring_cut(&ring, &part, bytes);
	assert_int_equal(ring_page_open(&cut, &p->layout, bytes, PAGE), 0);
	assert_true(cut.lost == lost);
	assert_int_equal(read_all(&cut, got), to - from);
	for (size_t i = from; i < to; i++) {
		assert_true(got[i - from].ts == all[i].ts);
		assert_int_equal(got[i - from].size, all[i].size);
		assert_memory_equal(got[i - from].data, all[i].data, all[i].size);
	}
}

static void test_cut(void **state)
{
	for (size_t k = 0; k < sizeof(pages) / sizeof(pages[0]); k++)
		for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
			struct ring_event all[MAX];
			struct ring_page ring;
			struct page p;
			size_t n;

			make_page(&p, pages[k], m);
			assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, PAGE), 0);
			n = read_all(&ring, all);
			assert_true(n > 0);
			for (size_t from = 0; from < n; from++)
				for (size_t to = from + 1; to <= n; to++)
					for (size_t l = 0; l < 4; l++)
						check_part(&p, all, n, from, to, losses[l]);
		}
}

/* A page without room behind its data cannot tell how much was lost, only that something was. */
static void test_no_room_for_losses(void **state)
{
	const struct thing full[MAX] = {{PLAIN, 28, 1}, {PLAIN, 28, 1}, {PLAIN, 1, 0}};
	struct ring_part part = {.ts = START + 1, .lost = 5};
	struct ring_page ring;
	uint8_t bytes[PAGE];
	struct page p;

	make_page(&p, full, 0);
	assert_int_equal(ring_page_open(&ring, &p.layout, p.bytes, PAGE), 0);
	assert_true(PAGE - ring.end < 8);
	part.first = ring.pos;
	part.end = ring.end;
	ring_cut(&ring, &part, bytes);
	assert_int_equal(ring_page_open(&ring, &p.layout, bytes, PAGE), 0);
	assert_true(ring.lost == -1);
}

/*
 * However much of a page is missing, what is left is a good page with the records that are whole.
 */
static void test_mend(void **state)
{
	for (size_t k = 0; k < sizeof(pages) / sizeof(pages[0]); k++)
		for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
			struct page p;

			make_page(&p, pages[k], m);
			for (uint32_t size = 0; size <= PAGE; size++) {
				struct ring_event before[MAX], after[MAX];
				struct ring_page cut, whole;
				uint8_t bytes[PAGE];
				size_t n = 0, left;
				int rc;

				memset(bytes, 0xa5, sizeof(bytes));
				memcpy(bytes, p.bytes, size);
				rc = ring_page_open(&cut, &p.layout, p.bytes, size);
				assert_int_equal(ring_mend(&p.layout, bytes, size), rc);
				if (rc)
					continue;
				while (ring_page_next(&cut, &before[n]))
					n++;
				assert_int_equal(ring_page_open(&whole, &p.layout, bytes, PAGE), 0);
				left = read_all(&whole, after);
				assert_int_equal(left, n);
				for (size_t i = 0; i < n; i++)
					assert_true(after[i].ts == before[i].ts);
			}
		}
}

/* A page that is all there is not touched. */
static void test_mend_nothing(void **state)
{
	struct page p, copy;

	make_page(&p, pages[4], 0);
	copy = p;
	assert_int_equal(ring_mend(&p.layout, copy.bytes, PAGE), 0);
	assert_memory_equal(p.bytes, copy.bytes, PAGE);
}

/* ---- filling ---- */

/* Records of every size that a page takes, with small and large steps of time. */
static void fill_page(bool big_endian, uint32_t step, uint64_t delta, int64_t lost)
{
	const struct ring_layout layout = ring_layout_default(big_endian, 8, 4096);
	static uint8_t page[4096], data[4096];
	struct ring_fill fill;
	struct ring_page p;
	struct ring_event e;
	uint32_t size = 4, n = 0;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	memset(page, 0xff, sizeof(page));
	ring_fill_begin(&fill, &layout, page, lost);
	while (ring_fill_add(&fill, START + n * delta, data, size)) {
		n++;
		size += step;
	}
	ring_fill_end(&fill);
	assert_true(n > 0);
	assert_int_equal(ring_page_open(&p, &layout, page, sizeof(page)), 0);
	assert_int_equal(p.lost, lost);
	for (uint32_t i = 0; i < n; i++) {
		assert_true(ring_page_next(&p, &e));
		assert_true(e.ts == START + i * delta);
		assert_true(e.size == 4 + i * step);
		assert_memory_equal(e.data, data, e.size);
	}
	assert_false(ring_page_next(&p, &e));
	assert_false(p.damaged);
}

static void test_fill(void **state)
{
	static const uint32_t steps[] = {0, 4, 40, 400};
	static const uint64_t deltas[] = {0, 1, (1u << 27) - 1, 1u << 27, 1ull << 40};
	static const int64_t lost[] = {0, -1, 17, 1ll << 40};

	for (size_t s = 0; s < 4; s++)
		for (size_t d = 0; d < 5; d++)
			for (size_t l = 0; l < 4; l++) {
				fill_page(false, steps[s], deltas[d], lost[l]);
				fill_page(true, steps[s], deltas[d], lost[l]);
			}
}

/* What cannot follow on the page is refused, and the page stays as it was. */
static void test_fill_refuses(void **state)
{
	const struct ring_layout layout = ring_layout_default(false, 8, 4096);
	const uint32_t room = ring_fill_room(&layout);
	static uint8_t page[4096], data[8192];
	struct ring_fill fill;

	ring_fill_begin(&fill, &layout, page, 0);
	assert_false(ring_fill_add(&fill, 100, data, room + 1));
	assert_false(ring_fill_add(&fill, 100, data, UINT32_MAX));
	assert_true(ring_fill_add(&fill, 100, data, 8));
	assert_false(ring_fill_add(&fill, 99, data, 8));
	assert_false(ring_fill_add(&fill, 100 + (1ull << 60), data, 8));
	assert_false(ring_fill_add(&fill, 100, data, room));
	assert_int_equal(fill.end, layout.data_offset + 12);
	ring_fill_begin(&fill, &layout, page, 5);
	assert_true(ring_fill_add(&fill, 100, data, room));
	assert_true(fill.end + 8 <= layout.page_size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),  cmocka_unit_test(test_no_room_for_losses),
		cmocka_unit_test(test_mend), cmocka_unit_test(test_mend_nothing),
		cmocka_unit_test(test_fill), cmocka_unit_test(test_fill_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
