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
	const struct name_set *sets[PRETTY_NR_SETS];
	struct buf out;

	buf_init(&out, 1 << 12);
	for (size_t m = 0; m < sizeof(machines) / sizeof(machines[0]); m++) {
		pretty_arch_sets(pretty_arch_find(machines[m]), sets);
		for (size_t s = 0; s < PRETTY_NR_SETS; s++) {
			for (size_t i = 0; sets[s] && i < sets[s]->n; i++) {
				const struct named *n = &sets[s]->at[i];

				assert_int_equal(n->len, strlen(n->name));
				assert_int_equal(n->value & ~n->mask, 0);
				buf_reset(&out);
				pretty_names_print(sets[s], n->value, &out);
				if (!strstr(buf_str(&out), n->name))
					fail_msg("%s is hidden by %s", n->name, out.data);
			}
		}
	}
	buf_free(&out);
}

static void test_unknown_machine_has_no_abi(void **state)
{
	const struct name_set *sets[PRETTY_NR_SETS];

	pretty_arch_sets(NULL, sets);
	assert_null(sets[A_OPEN_FLAGS - A_FIRST_SET]);
	assert_null(sets[A_SOCK_OPT - A_FIRST_SET]);
	assert_ptr_equal(sets[A_FUTEX_OP - A_FIRST_SET], &pretty_futex_op);
}

/* Every row is found under its own name on the architectures it is for. */
static void test_call_rows(void **state)
{
	for (const struct call_spec *s = pretty_calls; s->name; s++) {
		uint32_t bit = s->on ? s->on & -s->on : 0;
		bool ended = false;

		if (pretty_call_find(s->name, strlen(s->name), bit) != s)
			fail_msg("%s is listed twice", s->name);
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
		cmocka_unit_test(test_call_rows),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_numbers_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
