// SPDX-License-Identifier: GPL-2.0-or-later
/* What events of tasks make of a table of them: a line of the table below for each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sched.h>

#include "record/taskinfo.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Before: 10 is a process of parent 1, 11 a thread of it. */
static void fill(struct task_table *t)
{
	static const struct task tasks[] = {{10, 10, 1, false, "shell"},
					    {11, 10, 1, false, "helper"}};

	*t = (struct task_table){0};
	for (size_t i = 0; i < ARRAY_SIZE(tasks); i++) {
		struct task *task = task_table_get(t, tasks[i].pid);

		assert_non_null(task);
		*task = tasks[i];
	}
}

#define NEW(pid, by, flags, name)                                                                  \
	{                                                                                          \
		0, 0, TASK_IS_NEW, pid, by, flags, name                                            \
	}
#define RENAMED(pid, name)                                                                         \
	{                                                                                          \
		0, 0, TASK_IS_RENAMED, pid, pid, 0, name                                           \
	}
#define EXECUTES(pid, thread)                                                                      \
	{                                                                                          \
		0, 0, TASK_EXECUTES, pid, thread, 0, ""                                            \
	}
#define EXITS(pid)                                                                                 \
	{                                                                                          \
		0, 0, TASK_EXITS, pid, pid, 0, ""                                                  \
	}

static const struct {
	struct task_change change;
	bool told;
	struct task after; /* of a pid; pid 0: nothing is known of the change's */
} cases[] = {
	{NEW(12, 10, 0, "child"), true, {12, 12, 10, false, "child"}},
	{NEW(12, 11, 0, "child"), true, {12, 12, 10, false, "child"}},
	{NEW(12, 10, CLONE_THREAD, "thread"), true, {12, 10, 1, false, "thread"}},
	{NEW(12, 10, CLONE_PARENT, "sibling"), true, {12, 12, 1, false, "sibling"}},
	{NEW(12, 99, 0, "stranger"), true, {12, 12, 0, false, "stranger"}},
	{NEW(12, 99, CLONE_THREAD, "stranger"), true, {12, 0, 0, false, "stranger"}},
	{NEW(11, 10, 0, "again"), true, {11, 11, 10, false, "again"}},
	{NEW(12, 10, 0, "a\nb\x7f"), true, {12, 12, 10, false, "a?b?"}},
	{RENAMED(11, "worker"), true, {11, 10, 1, false, "worker"}},
	{RENAMED(11, "helper"), false, {11, 10, 1, false, "helper"}},
	{RENAMED(99, "seen"), true, {99, 0, 0, false, "seen"}},
	{EXECUTES(10, 10), false, {10, 10, 1, false, "shell"}},
	{EXECUTES(10, 11), false, {11, 10, 1, true, "helper"}},
	{EXECUTES(99, 99), true, {99, 99, 0, false, ""}},
	{EXITS(11), false, {11, 10, 1, true, "helper"}},
	{EXITS(99), false, {0}},
};

static void test_apply(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct task *want = &cases[i].after, *got;
		struct task_table t;
		bool told;

		fill(&t);
		told = task_table_apply(&t, &cases[i].change);
		got = task_table_find(&t, want->pid ? want->pid : cases[i].change.pid);
		if (told != cases[i].told || !got != !want->pid ||
		    (got && (got->tgid != want->tgid || got->ppid != want->ppid ||
			     got->dead != want->dead || strcmp(got->name, want->name) != 0)))
			fail_msg("case %zu: told %d, tgid %d, ppid %d, dead %d, name '%s'", i, told,
				 got ? got->tgid : -1, got ? got->ppid : -1, got ? got->dead : -1,
				 got ? got->name : "");
		task_table_free(&t);
	}
}

static void test_drop_dead(void **state)
{
	const struct task_change ends = EXITS(10);
	struct task_table t;

	fill(&t);
	task_table_apply(&t, &ends);
	assert_non_null(task_table_find(&t, 10));
	task_table_drop_dead(&t);
	assert_null(task_table_find(&t, 10));
	assert_int_equal(t.n, 1);
	assert_string_equal(task_table_find(&t, 11)->name, "helper");
	task_table_free(&t);
}

static void test_long_name(void **state)
{
	static const char name[] = "a-name-of-more-than-fits";
	struct task t = {.name = "before"};

	task_set_name(&t, name, strlen(name));
	assert_string_equal(t.name, "a-name-of-more-");
	task_set_name(&t, "", 0);
	assert_string_equal(t.name, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_apply),
		cmocka_unit_test(test_drop_dead),
		cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
