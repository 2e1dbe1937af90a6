// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables behind pretty printing: whether they contradict themselves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "event/pretty_tables.h"

static const char *const machines[] = {NULL,	  "x86_64",	 "i686",  "aarch64", "armv7l",
				       "riscv64", "loongarch64", "s390x", "ppc64"};

/* A name that earlier ones always hide would never be seen. */
static void test_names_are_reachable(void **state)
{
	struct name_set sets[PRETTY_NR_SETS];
	struct arena arena;
	struct buf out;

	buf_init(&out, 1 << 12);
	arena_init(&arena, 1 << 20);
	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		assert_true(pretty_sets_make(pretty_arch_find(machines[m]), &arena, sets));
		for (size_t s = 0; s < PRETTY_NR_SETS; s++) {
			for (size_t i = 0; i < sets[s].n; i++) {
				const struct named *n = &sets[s].at[i];

				assert_true(n->len > 0);
				assert_int_equal(n->value & ~n->mask, 0);
				buf_reset(&out);
				pretty_names_print(&sets[s], n->value, &out);
				if (!memmem(out.data, out.len, n->name, n->len))
					fail_msg("%.*s is hidden by %s", (int)n->len, n->name,
						 buf_str(&out));
			}
		}
	}
	arena_free(&arena);
	buf_free(&out);
}

static void test_unknown_machine_has_no_abi(void **state)
{
	struct name_set sets[PRETTY_NR_SETS];
	struct arena arena;

	arena_init(&arena, 1 << 20);
	assert_true(pretty_sets_make(NULL, &arena, sets));
	assert_int_equal(sets[A_OPEN_FLAGS - A_FIRST_SET].n, 0);
	assert_int_equal(sets[A_SOCK_OPT - A_FIRST_SET].n, 0);
	assert_true(sets[A_FUTEX_OP - A_FIRST_SET].n > 0);
	arena_free(&arena);
}

/* The values that names count from and the kinds of names in one text. */
static void test_texts_of_names(void **state)
{
	static const struct {
		const char *machine;
		uint8_t kind;
		uint64_t value;
		const char *text;
	} values[] = {
		{"x86_64", A_OPEN_FLAGS, 0x241, "O_WRONLY|O_CREAT|O_TRUNC"},
		{"x86_64", A_OPEN_FLAGS, 0x10000, "O_RDONLY|O_DIRECTORY"},
		{"aarch64", A_OPEN_FLAGS, 0x10000, "O_RDONLY|O_DIRECT"},
		{"x86_64", A_MMAP_FLAGS, 0x54000022, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGE_2MB"},
		{"x86_64", A_KEY_SERIAL, UINT32_MAX, "KEY_SPEC_THREAD_KEYRING"},
		{"x86_64", A_RUSAGE_WHO, UINT32_MAX, "RUSAGE_CHILDREN"},
		{"x86_64", A_IPC_FLAGS, 01666, "IPC_CREAT|0666"},
		{"ppc64", A_PTRACE_REQUEST, 12, "PTRACE_GETREGS"},
		{"riscv64", A_PTRACE_REQUEST, 12, "0xc"},
		{"s390x", A_FADVISE, 6, "POSIX_FADV_DONTNEED"},
		{"ppc64le", A_IOCTL_CMD, 0x402c7413, "TCGETS"},
	};
	struct name_set sets[PRETTY_NR_SETS];
	struct arena arena;
	struct buf out;

	buf_init(&out, 1 << 12);
	arena_init(&arena, 1 << 24);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		assert_true(pretty_sets_make(pretty_arch_find(values[i].machine), &arena, sets));
		buf_reset(&out);
		pretty_names_print(&sets[values[i].kind - A_FIRST_SET], values[i].value, &out);
		assert_string_equal(buf_str(&out), values[i].text);
	}
	arena_free(&arena);
	buf_free(&out);
}

/* Every row is found under its own name on the architectures it is for. */
static void test_call_rows(void **state)
{
	for (const struct call_spec *s = pretty_calls; s->name; s++) {
		uint32_t bit = s->on ? s->on & -s->on : 0;
		bool ended = false;

		if (pretty_call_find(s->name, strlen(s->name), bit) != s)
			fail_msg("%s is listed twice", s->name);
		for (const char *name = s->also; name && *name; name += strspn(name, " ")) {
			size_t len = strcspn(name, " ");

			if (pretty_call_find(name, len, bit) != s)
				fail_msg("%.*s is listed twice", (int)len, name);
			name += len;
		}
		for (unsigned int a = 0; a < PRETTY_ARGS; a++) {
			ended |= !s->args[a].name;
			assert_true(ended == !s->args[a].name);
			assert_true(s->args[a].kind < A_END);
			assert_true(ended || s->args[a].kind != A_NONE);
		}
	}
}

static const struct {
	const char *machine, *name;
	uint32_t nr;
} numbers[] = {
	{"x86_64", "read", 0},
	{"x86_64", "execve", 59},
	{"x86_64", "rseq", 334},
	{"x86_64", "clone3", 435},
	{"x86_64", "pwritev2", 547},
	{"x86_64", "file_setattr", 469},
	{"i386", "restart_syscall", 0},
	{"i386", "futex_time64", 422},
	{"i386", "statx", 383},
	{"aarch64", "io_setup", 0},
	{"aarch64", "newfstatat", 79},
	{"aarch64", "execve", 221},
	{"riscv64", "riscv_hwprobe", 258},
	{"arm", "get_tls", 0xf0006},
	{"arm", "openat", 322},
	{"s390x", "exit", 1},
	{"s390x", "msgctl", 402},
	{"ppc64", "openat", 286},
};

static void test_numbers(void **state)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct arch_walk w = {.arch = pretty_arch_find(numbers[i].machine)};
		bool found = false;

		assert_non_null(w.arch);
		while (!found && pretty_arch_next_call(&w))
			found = w.nr == numbers[i].nr;
		if (!found || w.len != strlen(numbers[i].name) ||
		    memcmp(w.name, numbers[i].name, w.len))
			fail_msg("%s %u is not %s", numbers[i].machine, numbers[i].nr,
				 numbers[i].name);
	}
}

/* A number stands for one call. */
static void test_numbers_are_unique(void **state)
{
	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		struct arch_walk w = {.arch = pretty_arch_find(machines[m])};
		bool seen[1024] = {false};

		while (w.arch && pretty_arch_next_call(&w)) {
			assert_true(w.len > 0);
			if (w.nr >= sizeof(seen))
				continue;
			if (seen[w.nr])
				fail_msg("%s has two calls %u", machines[m], w.nr);
			seen[w.nr] = true;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_reachable),
		cmocka_unit_test(test_unknown_machine_has_no_abi),
		cmocka_unit_test(test_texts_of_names),
		cmocka_unit_test(test_call_rows),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_numbers_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
