// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocations by function, from hand-made records. A case is what happens, step by step, and the
 * rows of the table that must come out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "stats/mem.h"
#include "event_fixture.h"

#define MAX_STEPS 8

#define ALLOC_FIELDS                                                                               \
	"unsigned long call_site @8:8, const void * ptr @16:8, size_t bytes_req @24:8, "           \
	"size_t bytes_alloc @32:8"

static const struct {
	const char *name;
	int id;
	const char *fields;
} events[] = {
	{"kmalloc", 100, ALLOC_FIELDS},
	{"kmem_cache_alloc_node", 101, ALLOC_FIELDS},
	{"kfree", 102, "unsigned long call_site @8:8, const void * ptr @16:8"},
	{"kmem_cache_free", 103, "unsigned long call_site @8:8, const void * ptr @16:8"},
	{"mm_page_free", 104, "unsigned long pfn @8:8"},
};

struct step {
	const char *event;
	const char *data;
};

#define SCHEDULE "8:0xffffffff81001010 "
#define DO_WAIT	 "8:0xffffffff81002010 "
#define VFS_READ "8:0xffffffff81003010 "
#define NOWHERE	 "8:0x1010 "

static const struct {
	const char *name;
	struct step steps[MAX_STEPS];
	const char *rows;
} cases[] = {
	{"what is held, was asked for and was held at most",
	 {{"kmalloc", SCHEDULE "8:0x10 8:100 8:128"},
	  {"kmalloc", SCHEDULE "8:0x20 8:60 8:64"},
	  {"kfree", DO_WAIT "8:0x20"},
	  {"kmalloc", SCHEDULE "8:0x30 8:10 8:16"}},
	 "                        schedule\t34\t144\t110\t\t     208        170\t\t"
	 "     192        160\t32\n"},
	{"the most wasteful function comes first",
	 {{"kmalloc", SCHEDULE "8:0x10 8:32 8:32"},
	  {"kmem_cache_alloc_node", VFS_READ "8:0x20 8:30 8:32"},
	  {"mm_page_free", "8:0x20"}},
	 "                        vfs_read\t2\t32\t30\t\t      32         30\t\t"
	 "      32         30\t2\n"
	 "                        schedule\t0\t32\t32\t\t      32         32\t\t"
	 "      32         32\t0\n"},
	{"a block that is allocated twice was freed in between",
	 {{"kmalloc", SCHEDULE "8:0x10 8:8 8:8"},
	  {"kmem_cache_alloc_node", DO_WAIT "8:0x10 8:16 8:16"},
	  {"kmem_cache_free", VFS_READ "8:0x10"},
	  {"kmem_cache_free", VFS_READ "8:0x10"}},
	 "                        schedule\t0\t8\t8\t\t       8          8\t\t"
	 "       8          8\t0\n"
	 "                         do_wait\t0\t0\t0\t\t      16         16\t\t"
	 "      16         16\t0\n"},
	{"an address that is no function",
	 {{"kmalloc", NOWHERE "8:0x10 8:8 8:16"}, {"kmalloc", NOWHERE "8:0x20 8:8 8:16"}},
	 "                          0x1010\t16\t32\t16\t\t      32         16\t\t"
	 "      32         16\t16\n"},
	{"frees of what was there before", {{"kfree", SCHEDULE "8:0x10"}}, ""},
	{"a record that is cut off",
	 {{"kmalloc", SCHEDULE "8:0x10"}, {"kfree", "4:1"}},
	 "                        schedule\t0\t0\t0\t\t       0          0\t\t"
	 "       0          0\t0\n"},
};

/* A trace without a file. */
struct fake {
	struct spur_trace trace;
};

static void fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->trace.events = fixture_events(false, 8);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		fixture_add(f->trace.events, "kmem", events[i].name, events[i].id, events[i].fields,
			    "\"\"");
	assert_int_equal(events_seal(f->trace.events), 0);
}

static void feed(struct fake *f, struct mem *m, const struct step *s)
{
	struct event *e = events_find(f->trace.events, "kmem", s->event);
	struct spur_record r;
	struct buf b;

	assert_non_null(e);
	buf_init(&b, 4096);
	r = fixture_record(&b, e->id, s->data, false);
	mem_record(m, e, &r);
	buf_free(&b);
}

/* The text behind the two lines of the table's head. */
static const char *rows_of(struct buf *out)
{
	const char *text = buf_str(out);

	for (int i = 0; i < 2; i++) {
		text = strchr(text, '\n');
		assert_non_null(text);
		text++;
	}
	return text;
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct spur_error err = {0};
		struct fake f;
		struct mem *m;
		struct buf out;

		fake_init(&f);
		m = mem_new(&f.trace, 0, &err);
		assert_non_null(m);
		for (const struct step *s = cases[i].steps; s->event; s++)
			feed(&f, m, s);
		buf_init(&out, 1 << 20);
		mem_print(m, &out);
		if (strcmp(rows_of(&out), cases[i].rows) != 0) {
			print_error("%s:\n%s\ninstead of\n%s\n", cases[i].name, rows_of(&out),
				    cases[i].rows);
			fail();
		}
		assert_int_equal(mem_dropped(m), 0);
		buf_free(&out);
		mem_free(m);
		events_free(f.trace.events);
	}
}

static void test_memory_limit(void **state)
{
	struct spur_error err = {0};
	struct fake f;
	struct mem *m;

	fake_init(&f);
	m = mem_new(&f.trace, 16 << 10, &err);
	assert_non_null(m);
	for (int i = 0; i < 5000; i++) {
		char data[64];
		const struct step s = {"kmalloc", data};

		snprintf(data, sizeof(data), SCHEDULE "8:%d 8:8 8:8", i);
		feed(&f, m, &s);
	}
	assert_int_equal(mem_seen(m), 5000);
	assert_true(mem_dropped(m) > 0);
	mem_free(m);
	events_free(f.trace.events);
}

static void test_nothing_known(void **state)
{
	struct spur_trace t = {.events = fixture_events(false, 8)};
	struct spur_record r = {.size = 0};
	struct spur_error err = {0};
	struct mem *m;

	/* One of the events has another name for its pointer, the others are not there at all. */
	fixture_add(t.events, "kmem", "kfree", 102, "const void * address @8:8", "\"\"");
	assert_int_equal(events_seal(t.events), 0);
	m = mem_new(&t, 0, &err);
	assert_non_null(m);
	mem_record(m, events_find(t.events, "kmem", "kfree"), &r);
	mem_record(m, NULL, &r);
	assert_int_equal(mem_seen(m), 0);
	mem_free(m);
	events_free(t.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_nothing_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
