// SPDX-License-Identifier: GPL-2.0-or-later
/* src/script: names of addresses, of processes that live and of those that do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static void jit_path(char *path, size_t cap)
{
	snprintf(path, cap, "/tmp/perf-%d.map", (int)getpid());
	unlink(path);
}

/* Whether the function at 0x1000 has a name for a new symbolizer. */
static bool jit_knows(const char *name)
{
	struct symbolizer *s = symbols_open("/proc", true);
	struct symbol_at at;
	bool known;

	assert_non_null(s);
	known = symbols_user(s, (uint32_t)getpid(), 0x1004, &at);
	if (known)
		assert_string_equal(at.name, name);
	symbols_close(s);
	return known;
}

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* A line is what it is up to its end, whatever is missing in it. */
static void test_jit_lines(void **state)
{
	char path[64];

	jit_path(path, sizeof(path));
	write_text(path, "1000\n10 f\n1000 10\nf\n");
	assert_false(jit_knows(""));
	write_text(path, "1\n1\n1\n1000 10 f\n1\n");
	assert_true(jit_knows("f"));
	unlink(path);
}

/* Who may write to /tmp can put anything there: a pipe that nobody writes to, another's file. */
static void test_jit_is_hostile(void **state)
{
	char path[64], other[96];

	jit_path(path, sizeof(path));
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(jit_knows(""));
	unlink(path);
	snprintf(other, sizeof(other), "%s.other", path);
	write_text(other, "1000 10 f\n");
	assert_int_equal(symlink(other, path), 0);
	assert_false(jit_knows(""));
	unlink(path);
	assert_int_equal(rename(other, path), 0);
	assert_true(jit_knows("f"));
	if (geteuid() == 0) {
		assert_int_equal(chown(path, 65534, 65534), 0);
		assert_false(jit_knows(""));
	}
	unlink(path);
}

/* What a process was before an exec still has names. */
static void test_exec(void **state)
{
	const uint64_t here = (uint64_t)(uintptr_t)symbolized_function;
	struct symbolizer *s = symbols_open("/proc", true);
	struct symbol_at at;
	int go[2], said[2];
	char c;
	pid_t pid;

	assert_non_null(s);
	assert_int_equal(pipe(go), 0);
	assert_int_equal(pipe(said), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(go[0], 0);
		dup2(said[1], 1);
		close(go[1]);
		if (read(0, &c, 1) != 1)
			_exit(126);
		execl("/bin/sh", "sh", "-c", "echo; read x", (char *)NULL);
		_exit(127);
	}
	close(go[0]);
	symbols_note_pid(s, (uint32_t)pid, false);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(said[0], &c, 1), 1);
	symbols_note_pid(s, (uint32_t)pid, true);
	symbols_user(s, (uint32_t)pid, here, &at);
	assert_non_null(at.module);
	assert_non_null(strstr(at.module, "test_symbolizer"));
	close(go[1]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(said[0]);
	close(said[1]);
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
		cmocka_unit_test(test_own_symbols),	cmocka_unit_test(test_symbols_of_the_dead),
		cmocka_unit_test(test_jit_symbols),	cmocka_unit_test(test_jit_lines),
		cmocka_unit_test(test_jit_is_hostile),	cmocka_unit_test(test_exec),
		cmocka_unit_test(test_recorded_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
