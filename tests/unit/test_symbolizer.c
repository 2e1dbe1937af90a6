// SPDX-License-Identifier: GPL-2.0-or-later
/* src/script: names of addresses, of processes that live and of those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "event/names.h"
#include "script/symbols.h"

__attribute__((noinline)) int symbolized_function(int n);
int symbolized_function(int n)
{
	return n * 3 + 1;
}

static void test_own_symbols(void **state)
{
	struct symbolizer *s = symbols_open("/proc", true);
	uint64_t here = (uint64_t)(uintptr_t)symbolized_function;
	struct symbol_at at;

	assert_non_null(s);
	if (!symbols_user(s, (uint32_t)getpid(), here + 2, &at)) {
		symbols_close(s);
		skip(); /* built without libelf, or stripped */
	}
	assert_string_equal(at.name, "symbolized_function");
	assert_int_equal(at.offset, 2);
	assert_non_null(strstr(at.module, "test_symbolizer"));
	assert_false(symbols_user(s, (uint32_t)getpid(), 16, &at));
	assert_false(symbols_kernel(s, 16, &at));
	symbols_close(s);
}

/* A process that has been noted still has names when it is gone. */
static void test_symbols_of_the_dead(void **state)
{
	struct symbolizer *s = symbols_open("/proc", true);
	uint64_t here = (uint64_t)(uintptr_t)symbolized_function;
	struct symbol_at at;
	bool known;
	int go[2];
	pid_t pid;

	assert_non_null(s);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		char c;

		close(go[1]);
		_exit(read(go[0], &c, 1) < 0);
	}
	close(go[0]);
	symbols_note_pid(s, (uint32_t)pid, false);
	close(go[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	known = symbols_user(s, (uint32_t)getpid(), here, &at);
	assert_int_equal(symbols_user(s, (uint32_t)pid, here, &at), known);
	if (known)
		assert_string_equal(at.name, "symbolized_function");
	symbols_close(s);
}

static void test_jit_symbols(void **state)
{
	char path[64];
	struct symbolizer *s = symbols_open("/proc", true);
	struct symbol_at at;
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	assert_non_null(file);
	fputs("1000 20 LazyCompile:~main app.js:1\nnonsense\n2000 10 other\n", file);
	fclose(file);
	assert_true(symbols_user(s, (uint32_t)getpid(), 0x1010, &at));
	assert_string_equal(at.name, "LazyCompile:~main app.js:1");
	assert_int_equal(at.offset, 0x10);
	assert_false(symbols_user(s, (uint32_t)getpid(), 0x1020, &at));
	unlink(path);
	symbols_close(s);
}

/* The kernel of a recording, and nobody else is asked. */
static void test_recorded_kernel(void **state)
{
	static const char text[] = "ffffffff81000000 T first\n"
				   "ffffffff81000100 T second\n"
				   "ffffffff81000100 T alias\n"
				   "ffffffff81000200 T last\n";
	struct symbolizer *s = symbols_open(NULL, true);
	struct symbols *kernel = symbols_new();
	struct symbol_at at;

	assert_non_null(s);
	assert_non_null(kernel);
	assert_false(symbols_kernel(s, 0xffffffff81000010, &at));
	assert_int_equal(symbols_add(kernel, text, sizeof(text) - 1), 0);
	symbols_use_kernel(s, kernel);
	assert_true(symbols_kernel(s, 0xffffffff81000010, &at));
	assert_string_equal(at.name, "first");
	assert_int_equal(at.offset, 16);
	assert_true(symbols_kernel(s, 0xffffffff81000101, &at));
	assert_string_equal(at.name, "alias");
	assert_false(symbols_kernel(s, 0x1000, &at));
	assert_false(symbols_user(s, (uint32_t)getpid(), 0x1000, &at));
	symbols_close(s);
	symbols_free(kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_symbols),
		cmocka_unit_test(test_symbols_of_the_dead),
		cmocka_unit_test(test_jit_symbols),
		cmocka_unit_test(test_recorded_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
