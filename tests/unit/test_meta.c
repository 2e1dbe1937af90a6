// SPDX-License-Identifier: GPL-2.0-or-later
/* What a recording's metadata do without where there is little space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/meta.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_optional),
		cmocka_unit_test(test_needed),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
