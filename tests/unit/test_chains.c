// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chains of calls from hand-made records. A case is what one CPU sees, step by step, and the text
 * that must come out; what trace-cmd would print has been tried with real recordings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "stats/chains.h"
#include "event_fixture.h"

#define MAX_STEPS 12

static const struct {
	const char *system, *name;
	int id;
	const char *fields;
} events[] = {
	{"ftrace", "function", 1, "unsigned long ip @8:8, unsigned long parent_ip @16:8"},
	{"ftrace", "kernel_stack", 4, "int size @8:4s, unsigned long caller[8] @16:64"},
	{"ftrace", "funcgraph_exit", 10, "unsigned long func @8:8, int depth @16:4s"},
	{"ftrace", "funcgraph_entry", 11, "unsigned long func @8:8, int depth @16:4s"},
	{"sched", "sched_switch", 100,
	 "char prev_comm[16] @8:16s, pid_t prev_pid @24:4s, char next_comm[16] @28:16s, "
	 "pid_t next_pid @44:4s"},
	{"sched", "sched_wakeup", 101, "char comm[16] @8:16s, pid_t pid @24:4s"},
	{"test", "ping", 130, "int value @8:4s"},
};

struct step {
	int pid;
	const char *event;
	const char *data;
	int64_t lost;
};

#define SCHEDULE "8:0xffffffff81001010 "
#define DO_WAIT	 "8:0xffffffff81002010 "
#define VFS_READ "8:0xffffffff81003010 "
#define VERIFY	 "8:0xffffffff81004010 "
#define NOWHERE	 "8:0x1010 "
#define END	 "8:0xffffffffffffffff "

#define CALL(pid, func, parent)                                                                    \
	{                                                                                          \
		pid, "function", func parent                                                       \
	}
#define ENTER(pid, func, depth)                                                                    \
	{                                                                                          \
		pid, "funcgraph_entry", func "4:" #depth                                           \
	}
#define LEAVE(pid, func, depth)                                                                    \
	{                                                                                          \
		pid, "funcgraph_exit", func "4:" #depth                                            \
	}
#define STACK(pid, callers)                                                                        \
	{                                                                                          \
		pid, "kernel_stack", "4:0 _4 " callers                                             \
	}
#define PING(pid)                                                                                  \
	{                                                                                          \
		pid, "ping", "4:1"                                                                 \
	}

static const struct chain_case {
	const char *name;
	bool all_tasks;
	struct step steps[MAX_STEPS];
	const char *text;
} cases[] = {
	{"functions are put on top of their callers",
	 .steps = {CALL(5, VFS_READ, DO_WAIT), CALL(5, VERIFY, VFS_READ),
		   CALL(5, SCHEDULE, VFS_READ)},
	 .text = "  %50.00  (5) <...>                       schedule #1\n"
		 "         |\n"
		 "         --- schedule\n"
		 "          vfs_read\n"
		 "          do_wait\n"
		 "\n"
		 "  %50.00  (5) <...>                 rw_verify_area #1\n"
		 "         |\n"
		 "         --- rw_verify_area\n"
		 "          vfs_read\n"
		 "          do_wait\n"},
	{"tasks have stacks of their own",
	 .steps = {CALL(5, VFS_READ, DO_WAIT), CALL(6, SCHEDULE, DO_WAIT),
		   CALL(5, VERIFY, VFS_READ)},
	 .text = "  %50.00  (6) <...>                       schedule #1\n"
		 "         |\n"
		 "         --- schedule\n"
		 "          do_wait\n"
		 "\n"
		 "  %50.00  (5) <...>                 rw_verify_area #1\n"
		 "         |\n"
		 "         --- rw_verify_area\n"
		 "          vfs_read\n"
		 "          do_wait\n"},
	{"callers that differ, tasks that do not", .all_tasks = true,
	 .steps = {CALL(5, SCHEDULE, DO_WAIT), CALL(5, SCHEDULE, VFS_READ),
		   CALL(6, SCHEDULE, VFS_READ)},
	 .text = "  %100.00 <all pids>                       schedule #3\n"
		 "         |\n"
		 "         --- schedule\n"
		 "            |\n"
		 "            |--%66.67-- vfs_read  # 2\n"
		 "            |\n"
		 "            |--%33.33-- do_wait  # 1\n"},
	{"the graph tracer tells depths",
	 .steps = {ENTER(5, VFS_READ, 0), ENTER(5, VERIFY, 1), LEAVE(5, VERIFY, 1),
		   ENTER(5, VERIFY, 1), LEAVE(5, VERIFY, 1), LEAVE(5, VFS_READ, 0)},
	 .text = "  %50.00  (5) <...>                 rw_verify_area #2\n"
		 "         |\n"
		 "         --- rw_verify_area\n"
		 "          vfs_read\n"
		 "\n"
		 "  %25.00  (5) <...>                       vfs_read #1\n"
		 "         |\n"
		 "         --- vfs_read\n"},
	{"events are called by the functions they happen in",
	 .steps = {ENTER(5, VFS_READ, 0), PING(5), LEAVE(5, VFS_READ, 0)},
	 .text = "  %33.33  (5) <...>                           ping #1\n"
		 "         |\n"
		 "         --- *ping*\n"
		 "          vfs_read\n"
		 "\n"
		 "  %33.33  (5) <...>                       vfs_read #1\n"
		 "         |\n"
		 "         --- vfs_read\n"},
	{"or by the stack that follows, up to its end",
	 .steps = {PING(5), STACK(5, VFS_READ DO_WAIT END SCHEDULE), PING(5), STACK(6, SCHEDULE)},
	 .text = "  %100.00  (5) <...>                           ping #2\n"
		 "         |\n"
		 "         --- *ping*\n"
		 "          vfs_read\n"
		 "          do_wait\n"},
	{"a stack of a function", .steps = {CALL(5, VERIFY, VFS_READ), STACK(5, VFS_READ DO_WAIT)},
	 .text = "  %100.00  (5) <...>                 rw_verify_area #2\n"
		 "         |\n"
		 "         --- *rw_verify_area*\n"
		 "          vfs_read\n"
		 "          do_wait\n"},
	{"what is lost ends the chain",
	 .steps = {CALL(5, VFS_READ, DO_WAIT), {5, "function", VERIFY VFS_READ, .lost = -1}},
	 .text = "  %50.00  (5) <...>                 rw_verify_area #1\n"
		 "         |\n"
		 "         --- rw_verify_area\n"
		 "          vfs_read\n"
		 "\n"
		 "  %50.00  (5) <...>                       vfs_read #1\n"
		 "         |\n"
		 "         --- vfs_read\n"
		 "          do_wait\n"},
	{"functions without a name", .steps = {CALL(5, NOWHERE, DO_WAIT)},
	 .text = "  %50.00  (5) <...>                        do_wait #1\n"
		 "         |\n"
		 "         --- do_wait\n"
		 "\n"
		 "  %50.00  (5) <...>                         (null) #1\n"
		 "         |\n"
		 "         --- (null)\n"
		 "          do_wait\n"},
	{"names come from scheduler events",
	 .steps = {{0, "sched_wakeup", "'woken':16 4:7"},
		   {7, "sched_switch", "'woken':16 4:7 'other':16 4:9"},
		   PING(9)},
	 .text = "  %33.33  (9) other                           ping #1\n"
		 "         |\n"
		 "         --- *ping*\n"
		 "\n"
		 "  %33.33  (7) woken                   sched_switch #1\n"
		 "         |\n"
		 "         --- *sched_switch*\n"
		 "\n"
		 "  %33.33  (0) <idle>                   sched_wakeup #1\n"
		 "         |\n"
		 "         --- *sched_wakeup*\n"},
	{"of several names bisection finds one",
	 .steps = {{7, "sched_switch", "'first':16 4:7 'x':16 4:3"},
		   {3, "sched_switch", "'x':16 4:3 'second':16 4:7"}},
	 .text = "  %50.00  (3) x                   sched_switch #1\n"
		 "         |\n"
		 "         --- *sched_switch*\n"
		 "\n"
		 "  %50.00  (7) second                   sched_switch #1\n"
		 "         |\n"
		 "         --- *sched_switch*\n"},
	{"records that are cut off",
	 .steps = {{5, "function", ""}, {5, "kernel_stack", ""}, {5, "funcgraph_exit", "4:1"}},
	 .text = NULL},
};

static void fake_init(struct spur_trace *t)
{
	memset(t, 0, sizeof(*t));
	t->events = fixture_events(false, 8);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		fixture_add(t->events, events[i].system, events[i].name, events[i].id,
			    events[i].fields, "\"\"");
	assert_int_equal(events_seal(t->events), 0);
}

static void feed(struct spur_trace *t, struct call_chains *c, const struct step *s)
{
	struct event *e = events_find(t->events, NULL, s->event);
	struct spur_record r;
	struct buf b;

	assert_non_null(e);
	buf_init(&b, 4096);
	r = fixture_record(&b, e->id, s->data, false);
	for (unsigned int i = 0; i < 4; i++)
		b.data[4 + i] = (char)(s->pid >> 8 * i);
	r.lost = s->lost;
	assert_int_equal(call_chains_record(c, e, &r), 0);
	buf_free(&b);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct call_chains_options opt = {.all_tasks = cases[i].all_tasks};
		struct spur_error err = {0};
		struct spur_trace t;
		struct call_chains *c;
		struct buf out;

		fake_init(&t);
		c = call_chains_new(&t, &opt, &err);
		assert_non_null(c);
		for (const struct step *s = cases[i].steps; s->event; s++)
			feed(&t, c, s);
		assert_int_equal(call_chains_end(c), 0);
		buf_init(&out, 1 << 20);
		call_chains_print(c, &out);
		if (cases[i].text && strcmp(buf_str(&out), cases[i].text) != 0) {
			print_error("%s:\n%s\ninstead of\n%s\n", cases[i].name, buf_str(&out),
				    cases[i].text);
			fail();
		}
		assert_false(buf_full(&out));
		buf_free(&out);
		call_chains_free(c);
		events_free(t.events);
	}
}

/* A function that calls itself for ever, and callers that differ at every depth. */
static void test_deep(void **state)
{
	const struct call_chains_options opt = {0};
	const struct step again = CALL(5, VFS_READ, VFS_READ), other = CALL(5, SCHEDULE, DO_WAIT);
	struct spur_error err = {0};
	struct spur_trace t;
	struct call_chains *c;
	struct buf out;

	fake_init(&t);
	c = call_chains_new(&t, &opt, &err);
	assert_non_null(c);
	for (int i = 0; i < 12000; i++)
		feed(&t, c, &again);
	feed(&t, c, &other);
	for (int i = 0; i < 2000; i++) {
		char data[64];
		const struct step enter = {6, "funcgraph_entry", data};

		snprintf(data, sizeof(data), "%s4:%d", i % 2 ? VFS_READ : DO_WAIT, i);
		feed(&t, c, &enter);
		if (i % 2)
			feed(&t, c, &(struct step){6, "ping", "4:1"});
	}
	assert_int_equal(call_chains_end(c), 0);
	buf_init(&out, 64 << 20);
	call_chains_print(c, &out);
	assert_true(out.len > 0);
	assert_false(buf_full(&out));
	assert_int_equal(call_chains_dropped(c), 0);
	buf_free(&out);
	call_chains_free(c);
	events_free(t.events);
}

static void test_memory_limit(void **state)
{
	const struct call_chains_options opt = {.memory_limit = 16 << 10};
	struct spur_error err = {0};
	struct spur_trace t;
	struct call_chains *c;

	fake_init(&t);
	c = call_chains_new(&t, &opt, &err);
	assert_non_null(c);
	for (int i = 0; i < 3000; i++)
		feed(&t, c, &(struct step)PING(i));
	assert_int_equal(call_chains_end(c), 0);
	assert_int_equal(call_chains_seen(c), 3000);
	assert_true(call_chains_dropped(c) > 0);
	call_chains_free(c);
	events_free(t.events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_memory_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
