// SPDX-License-Identifier: GPL-2.0-or-later
/* What a recording's metadata do without where there is little space; which tasks it followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "record/meta.h"
#include "fake_tracefs.h"

#define FUNCTIONS                                                                                  \
	"ffffffff81000000 T _text\n"                                                               \
	"ffffffff81000100 t local\n"                                                               \
	"ffffffff81000200 W weak\n"                                                                \
	"ffffffffc0000000 t in_module\t[loop]\n"
#define ALL                                                                                        \
	"0000000000000000 A absolute\n"                                                            \
	"ffffffff81000000 T _text\n"                                                               \
	"ffffffff81000100 t local\n"                                                               \
	"ffffffff81000180 d t T\n"                                                                 \
	"ffffffff81000200 W weak\n"                                                                \
	"ffffffff82000000 D data\n"                                                                \
	"ffffffffc0000000 t in_module\t[loop]\n"                                                   \
	"ffffffffc0001000 r strings\t[loop]\n"

/* Shrinks until that is no more possible; the symbols that it has after each step. */
static void check_steps(enum meta_symbols least, const char *const *expected)
{
	struct meta m = {.which = META_ALL, .least = least};

	buf_init(&m.symbols, 1 << 20);
	buf_puts(&m.symbols, ALL);
	for (; *expected; expected++) {
		assert_true(meta_can_shrink(&m));
		assert_true(meta_shrink(&m));
		assert_int_equal(m.contents.kallsyms.size, strlen(*expected));
		assert_memory_equal(m.contents.kallsyms.data, *expected, strlen(*expected));
	}
	assert_int_equal(m.which, least);
	assert_false(meta_can_shrink(&m));
	assert_false(meta_shrink(&m));
	buf_free(&m.symbols);
}

static void test_optional(void **state)
{
	check_steps(META_NONE, (const char *const[]){FUNCTIONS, "", NULL});
}

static void test_needed(void **state)
{
	check_steps(META_FUNCTIONS, (const char *const[]){FUNCTIONS, NULL});
}

/* A recording that has none to begin with. */
static void test_none(void **state)
{
	struct meta m = {.which = META_NONE, .least = META_FUNCTIONS};

	assert_false(meta_can_shrink(&m));
	assert_false(meta_shrink(&m));
}

/*
 * What the file says of two buffers, from their set_event_pid and event-fork. A buffer without such
 * a filter has the switches of all tasks.
 */
static void test_followed(void **state)
{
	static const struct {
		const char *top, *top_fork; /* of the top buffer; NULL: it is not in the file */
		const char *pids, *fork;    /* of the instance */
		const char *expected;	    /* NULL: no option */
	} cases[] = {
		{"", "0\n", "", "1\n", NULL},
		{NULL, NULL, "", "1\n", NULL},
		{NULL, NULL, "7\n", "0\n", "1 0\n7\n"},
		{NULL, NULL, "7\n100\n", "1\n", "1 1\n7\n100\n"},
		{"", "0\n", "7\n", "1\n", "1 1\n7\n"},
		{"7\n", "1\n", "", "0\n", "1 1\n7\n"},
		{"7\n9\n100\n", "1\n", "9\n20\n100\n", "1\n", "1 1\n9\n100\n"},
		{"9\n20\n100\n", "1\n", "7\n9\n100\n", "0\n", "1 0\n9\n100\n"},
		{"7\n", "0\n", "8\n", "0\n", "1 0\n"},
		{"9\n", "0\n", "8\n", "0\n", "1 0\n"},
	};
	struct tracefs fs;

	fake_tracefs(&fs);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct setup_buffer buffers[] = {{.name = "", .instance = cases[i].top ? "" : NULL},
						 {.name = "one", .instance = "one"}};
		const struct setup setup = {.buffers = buffers, .nr_buffers = ARRAY_SIZE(buffers)};
		const struct meta m = {.fs = &fs, .setup = &setup};
		scoped_buf text = buf_new(1 << 20);

		/* A buffer that is not in the file has no say. */
		fake_file(&fs, "set_event_pid", cases[i].top ? cases[i].top : "5\n");
		fake_file(&fs, "options/event-fork", cases[i].top ? cases[i].top_fork : "0\n");
		fake_file(&fs, "instances/one/set_event_pid", cases[i].pids);
		fake_file(&fs, "instances/one/options/event-fork", cases[i].fork);
		assert_int_equal(meta_followed(&m, &text), cases[i].expected != NULL);
		assert_string_equal(buf_str(&text), cases[i].expected ? cases[i].expected : "");
	}
	fake_end(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_optional),
		cmocka_unit_test(test_needed),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
