// SPDX-License-Identifier: GPL-2.0-or-later
/* src/symbols: lines of source files, of a program that is compiled here, in several ways. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/vec.h"
#include "symbols/lines.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char program[] = "#include \"sub/inline.h\"\n"
			      "int other(int n);\n"
			      "__attribute__((noinline)) int add(int a, int b)\n"
			      "{\n"
			      "	a = twice(a);\n"
			      "\n"
			      "	return a + other(b);\n"
			      "}\n"
			      "__attribute__((noinline)) int sub(int a) { return twice(a) - 1; }\n"
			      "int main(int argc, char **argv)\n"
			      "{\n"
			      "	return add(argc, 1) + sub(argc);\n"
			      "}\n";

static const char inlined[] = "static inline __attribute__((always_inline)) int twice(int n)\n"
			      "{\n"
			      "	__asm__ volatile(\"nop\");\n"
			      "	return n * 2;\n"
			      "}\n";

/* Two files of one name. */
static const char other[] = "int other(int n);\n"
			    "int other(int n)\n"
			    "{\n"
			    "	return n + 7;\n"
			    "}\n";
static const char another[] = "int unused(int n);\nint unused(int n) { return n; }\n";

struct fixture {
	char dir[64], was[4096];
};

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_non_null(getcwd(f->was, sizeof(f->was)));
	snprintf(f->dir, sizeof(f->dir), "/tmp/test_lines.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(chdir(f->dir), 0);
	assert_int_equal(mkdir("sub", 0700), 0);
	assert_int_equal(mkdir("more", 0700), 0);
	write_text("main.c", program);
	write_text("sub/inline.h", inlined);
	write_text("sub/other.c", other);
	write_text("more/other.c", another);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[100];

	assert_int_equal(chdir(f->was), 0);
	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static const struct wanted {
	struct line_wanted line;
	const char *found; /* the function, or how many places; or what is said */
} wanted[] = {
	{{"main.c", 5, 0}, "add"},
	{{"main.c", 7, 0}, "add"},
	{{"./sub/../main.c", 7, 0}, "add"},
	{{"main.c", 9, 0}, "sub"},
	{{"main.c", 12, 0}, "main"},
	{{"inline.h", 3, 0}, "2 places"},
	{{"sub/inline.h", 3, 0}, "2 places"},
	{{"sub/other.c", 4, 0}, "other"},
	{{"other.c", 4, 0}, "several source files are called 'other.c': "},
	{{"inline.h", 3, 2}, "2 places"},
	{{"main.c", 7, 1}, "no statement begins at column 1 of line 7 of main.c (some do at "},
	{{"main.c", 6, 0},
	 "there is no code on line 6 of main.c: the nearest lines with code are 5 and 7"},
	{{"main.c", 1, 0}, "there is no code on line 1 of main.c: the first line with code is "},
	{{"main.c", 99, 0}, "there is no code on line 99 of main.c: the last line with code is 1"},
	{{"mian.c", 5, 0},
	 "its debug information has no code of a source file 'mian.c' (did you mean 'main.c'?)"},
	{{"ain.c", 5, 0}, "its debug information has no code of a source file 'ain.c'"},
	{{"nowhere/main.c", 5, 0},
	 "its debug information has no code of a source file 'nowhere/main.c'"},
	{{"", 5, 0}, "its debug information has no code of a source file ''"},
};

static void find(struct debug *d, const struct line_wanted *line, struct buf *to)
{
	struct line_places found = {0};
	struct spur_error err = {0};
	struct arena arena;

	arena_init(&arena, 1 << 20);
	if (lines_find(d, line, &arena, &found, &err))
		buf_puts(to, err.text);
	else if (found.n == 1)
		buf_puts(to, found.at[0].function);
	else
		buf_printf(to, "%zu places", found.n);
	vec_free(&found);
	arena_free(&arena);
}

/* Whether there was a program to look at. */
static bool try_program(const char *options)
{
	struct debug *d = NULL;
	struct binary *b;
	char command[300];
	struct buf text;

	snprintf(command, sizeof(command), "cc -o app %s main.c sub/other.c more/other.c", options);
	if (system(command) != 0 || binary_open("app", &b, NULL))
		return false;
	buf_init(&text, 8192);
	d = debug_open(b);
	for (size_t i = 0; d && i < ARRAY_SIZE(wanted); i++) {
		const char *should = wanted[i].found;

		buf_reset(&text);
		find(d, &wanted[i].line, &text);
		if (strncmp(buf_str(&text), should, strlen(should)) != 0)
			fail_msg("%s: %s:%llu: %s", options, wanted[i].line.file,
				 (unsigned long long)wanted[i].line.line, buf_str(&text));
	}
	buf_free(&text);
	debug_close(d);
	binary_close(b);
	return d != NULL;
}

static void test_lines(void **state)
{
	static const char *const ways[] = {
		"-g -O0",
		"-g -O2 -fomit-frame-pointer",
		"-g -O2 -gdwarf-4",
		"-g -O1 -gdwarf-5 -static",
	};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++)
		any |= try_program(ways[i]);
	if (!any)
		skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, setup, teardown),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
