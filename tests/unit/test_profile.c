// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Profiles of hand-made records. A case is what happens, step by step, and the text that must come
 * out; times are nanoseconds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <errno.h>

#include "stats/profile/hook.h"
#include "stats/profile.h"
#include "event_fixture.h"

#define MAX_STEPS 24

struct step {
	uint64_t ts;
	uint32_t cpu;
	int pid;
	const char *event;
	const char *data; /* see event_fixture.h */
	uint32_t buffer;
	int64_t lost;
};

enum machine {
	LITTLE_64,
	BIG_32,
	NO_WAKEUP, /* the trace does not describe sched_wakeup */
};

struct profile_case {
	const char *name;
	struct profile_options opt;
	const char *stored_hook;
	enum machine machine;
	struct step steps[MAX_STEPS];
	const char *text;
};

#define SWITCH(ts, cpu, prev, state, next)                                                         \
	{                                                                                          \
		ts, cpu, prev, "sched_switch",                                                     \
			"'task" #prev "':16 4:" #prev " 8:" #state " 'task" #next "':16 4:" #next  \
	}
#define WAKEUP(ts, cpu, by, pid)                                                                   \
	{                                                                                          \
		ts, cpu, by, "sched_wakeup", "'task" #pid "':16 4:" #pid                           \
	}
#define STACK(ts, cpu, pid, callers)                                                               \
	{                                                                                          \
		ts, cpu, pid, "kernel_stack", "4:8 _4 " callers                                    \
	}

#define SCHEDULE " 8:0xffffffff81001010"
#define DO_WAIT	 " 8:0xffffffff81002010"
#define VFS_READ " 8:0xffffffff81003010"
#define END	 " 8:0xffffffffffffffff"

static const struct {
	const char *system, *name;
	int id;
	const char *fields;
} events[] = {
	{"ftrace", "kernel_stack", 4, "int size @8:4s, unsigned long caller[8] @16:64"},
	{"ftrace", "function", 1, "unsigned long ip @8:8, unsigned long parent_ip @16:8"},
	{"ftrace", "funcgraph_entry", 11, "unsigned long func @8:8, int depth @16:4s"},
	{"ftrace", "funcgraph_exit", 10, "unsigned long func @8:8, int depth @16:4s"},
	{"sched", "sched_switch", 100,
	 "char prev_comm[16] @8:16s, pid_t prev_pid @24:4s, long prev_state @28:8s, "
	 "char next_comm[16] @36:16s, pid_t next_pid @52:4s"},
	{"sched", "sched_wakeup", 101, "char comm[16] @8:16s, pid_t pid @24:4s"},
	{"sched", "sched_process_exec", 102, "int filename @8:4s, pid_t old_pid @12:4s"},
	{"irq", "irq_handler_entry", 110, "int irq @8:4s"},
	{"irq", "irq_handler_exit", 111, "int irq @8:4s, int ret @12:4s"},
	{"irq", "softirq_raise", 112, "unsigned int vec @8:4"},
	{"irq", "softirq_entry", 113, "unsigned int vec @8:4"},
	{"irq", "softirq_exit", 114, "unsigned int vec @8:4"},
	{"raw_syscalls", "sys_enter", 120, "long id @8:8s"},
	{"raw_syscalls", "sys_exit", 121, "long id @8:8s, long ret @16:8s"},
	{"test", "ping", 130, "int value @8:4s, int who @12:4s"},
	{"test", "pong", 131, "int value @8:4s"},
	{"test", "name", 132, "char text[16] @8:16s"},
};

static const struct profile_case cases[] = {
	{"events are counted by task and first field",
	 .steps = {{1000, 0, 7, "ping", "4:2 4:0"},
		   {2000, 0, 7, "ping", "4:-1 4:0"},
		   {3000, 1, 5, "ping", "4:2 4:0"},
		   {4000, 0, 7, "ping", "4:2 4:0"},
		   {5000, 0, 7, "name", "'text':16"}},
	 .text = "\ntask: <...>-5\n"
		 "  Event: ping:0x2 (1)\n"
		 "\ntask: <...>-7\n"
		 "  Event: ping:0x2 (2)\n"
		 "  Event: ping:0xffffffff (1)\n"
		 "  Event: name:0x0 (1)\n"},
	{"a task sleeps, is woken and runs",
	 .steps = {SWITCH(1000, 0, 5, 1, 0), WAKEUP(4000, 0, 0, 5), SWITCH(4500, 0, 0, 0, 5),
		   SWITCH(5000, 0, 5, 1, 0), WAKEUP(6000, 0, 0, 5), SWITCH(6100, 0, 0, 0, 5)},
	 .text = "\ntask: task0-0\n"
		 "  Event: sched_switch:R (1) Total: 500 Avg: 500 Max: 500(ts:0.000005) "
		 "Min:500(ts:0.000005)\n"
		 "\ntask: task5-5\n"
		 "  Event: sched_switch:S (2) Total: 4000 Avg: 2000 Max: 3000(ts:0.000004) "
		 "Min:1000(ts:0.000006)\n"
		 "  Event: sched_wakeup:0x5 (2) Total: 600 Avg: 300 Max: 500(ts:0.000005) "
		 "Min:100(ts:0.000006)\n"},
	{"a task that does not sleep cannot be woken",
	 .steps = {SWITCH(1000, 0, 5, 0, 0), WAKEUP(2000, 0, 0, 5), SWITCH(3000, 0, 0, 0, 5)},
	 .text = "\ntask: task0-0\n"
		 "\ntask: task5-5\n"
		 "  Event: sched_switch:R (1) Total: 2000 Avg: 2000 Max: 2000(ts:0.000003) "
		 "Min:2000(ts:0.000003)\n"},
	{"switches are enough without wakeups", .machine = NO_WAKEUP,
	 .steps = {SWITCH(1000, 0, 5, 2, 0), SWITCH(3000, 0, 0, 0, 5)},
	 .text = "\ntask: task0-0\n"
		 "\ntask: task5-5\n"
		 "  Event: sched_switch:D (1) Total: 2000 Avg: 2000 Max: 2000(ts:0.000003) "
		 "Min:2000(ts:0.000003)\n"},
	{"a new program gives a task a new name",
	 .steps = {SWITCH(1000, 0, 5, 1, 0),
		   {1500, 0, 5, "sched_process_exec", "4:0 4:5"},
		   {2000, 0, 0, "sched_switch", "'x':16 4:0 8:0 'newname':16 4:5"}},
	 .text = "\ntask: task0-0\n"
		 "\ntask: newname-5\n"
		 "  Event: sched_switch:S (1) Total: 1000 Avg: 1000 Max: 1000(ts:0.000002) "
		 "Min:1000(ts:0.000002)\n"},
	{"a softirq is raised and runs, of which the last time counts",
	 .steps = {{1000, 0, 5, "softirq_raise", "4:9"},
		   {2000, 0, 5, "softirq_raise", "4:9"},
		   {2500, 0, 5, "softirq_entry", "4:9"},
		   {2600, 0, 5, "softirq_exit", "4:9"},
		   {2700, 0, 5, "softirq_raise", "4:77"},
		   {2800, 0, 5, "softirq_entry", "4:77"}},
	 .text = "\ntask: <...>-5\n"
		 "  Event: softirq_raise:RCU (1) Total: 500 Avg: 500 Max: 500(ts:0.000003) "
		 "Min:500(ts:0.000003)\n"
		 "  Event: softirq_raise:77 (1) Total: 100 Avg: 100 Max: 100(ts:0.000003) "
		 "Min:100(ts:0.000003)\n"
		 "  Event: softirq_entry:RCU (1) Total: 100 Avg: 100 Max: 100(ts:0.000003) "
		 "Min:100(ts:0.000003)\n"},
	{"interrupts belong to CPUs with -G", .opt = {.global = true},
	 .steps = {{1000, 1, 5, "irq_handler_entry", "4:3"},
		   {1100, 1, 5, "irq_handler_exit", "4:3 4:1"},
		   {1000, 0, 5, "irq_handler_entry", "4:3"},
		   {1300, 1, 5, "irq_handler_exit", "4:3 4:1"},
		   {1400, 0, 6, "irq_handler_exit", "4:3 4:1"}},
	 .text = "Global CPU[0] Events\n"
		 "  Event: irq_handler_entry:0x3 (1) Total: 400 Avg: 400 Max: 400(ts:0.000001) "
		 "Min:400(ts:0.000001)\n"
		 "Global CPU[1] Events\n"
		 "  Event: irq_handler_entry:0x3 (1) Total: 100 Avg: 100 Max: 100(ts:0.000001) "
		 "Min:100(ts:0.000001)\n"
		 "\ntask: <...>-5\n"
		 "\ntask: <...>-6\n"},
	{"what is lost does not end",
	 .steps = {{1000, 0, 5, "sys_enter", "8:1"},
		   {1100, 0, 5, "irq_handler_entry", "4:3"},
		   {1200, 1, 5, "irq_handler_entry", "4:4"},
		   {2000, 0, 5, "ping", "4:1 4:0", .lost = -1},
		   {2100, 0, 5, "irq_handler_exit", "4:3 4:1"},
		   {2200, 1, 5, "irq_handler_exit", "4:4 4:1"},
		   {2300, 0, 5, "sys_exit", "8:1 8:0"}},
	 .text = "\ntask: <...>-5\n"
		 "  Event: irq_handler_entry:0x4 (1) Total: 1000 Avg: 1000 Max: 1000(ts:0.000002) "
		 "Min:1000(ts:0.000002)\n"
		 "  Event: ping:0x1 (1)\n"},
	{"functions nest, and their stack comes before them",
	 .steps = {STACK(900, 0, 5, DO_WAIT END),
		   {1000, 0, 5, "funcgraph_entry", "8:0xffffffff81003000 4:0"},
		   {1100, 0, 5, "funcgraph_entry", "8:0xffffffff81003000 4:1"},
		   {1300, 0, 5, "funcgraph_exit", "8:0xffffffff81003000 4:1"},
		   {2000, 0, 5, "funcgraph_exit", "8:0xffffffff81003000 4:0"},
		   {2100, 0, 5, "function", "8:0x10 8:0"},
		   STACK(2200, 0, 5, SCHEDULE END)},
	 .text = "\ntask: <...>-5\n"
		 "  Event: func: 0x10 (1)\n"
		 "          | \n"
		 "          + schedule (0xffffffff81001010)\n"
		 "              100% (1)\n"
		 "            \n"
		 "      \n"
		 "  Event: func: vfs_read() (2) Total: 1200 Avg: 600 Max: 1000(ts:0.000002) "
		 "Min:200(ts:0.000001)\n"
		 "          | \n"
		 "          + do_wait (0xffffffff81002010)\n"
		 "              100% (1) time:1000 max:1000(ts:0.000001) min:1000(ts:0.000001) "
		 "avg:1000\n"
		 "            \n"
		 "      \n"},
	{"callers are a tree, the costliest first",
	 .steps = {{1000, 0, 5, "sys_enter", "8:3"},
		   STACK(1001, 0, 5, SCHEDULE DO_WAIT END),
		   {1100, 0, 5, "sys_exit", "8:3 8:0"},
		   {2000, 0, 5, "sys_enter", "8:3"},
		   STACK(2001, 0, 5, SCHEDULE VFS_READ DO_WAIT),
		   {2300, 0, 5, "sys_exit", "8:3 8:0"},
		   {3000, 0, 5, "sys_enter", "8:3"},
		   STACK(3001, 0, 5, VFS_READ),
		   {3040, 0, 5, "sys_exit", "8:3 8:0"}},
	 .text = "\ntask: <...>-5\n"
		 "  Event: sys_enter:3 (3) Total: 440 Avg: 146 Max: 300(ts:0.000002) "
		 "Min:40(ts:0.000003)\n"
		 "          | \n"
		 "          + schedule (0xffffffff81001010)\n"
		 "          |   91% (2) time:400 max:300(ts:0.000002) min:100(ts:0.000001) "
		 "avg:200\n"
		 "          |     | \n"
		 "          |     + vfs_read (0xffffffff81003010)\n"
		 "          |     |   75% (1) time:300 max:300(ts:0.000002) min:300(ts:0.000002) "
		 "avg:300\n"
		 "          |     |    do_wait (0xffffffff81002010)\n"
		 "          |     | \n"
		 "          |     + do_wait (0xffffffff81002010)\n"
		 "          |         25% (1) time:100 max:100(ts:0.000001) min:100(ts:0.000001) "
		 "avg:100\n"
		 "          |       \n"
		 "          | \n"
		 "          | \n"
		 "          + vfs_read (0xffffffff81003010)\n"
		 "              9% (1) time:40 max:40(ts:0.000003) min:40(ts:0.000003) avg:40\n"
		 "            \n"
		 "      \n"},
	{"callers of another byte order and size", .machine = BIG_32,
	 .steps = {{1000, 0, 5, "ping", "4:1 4:0"},
		   {1001, 0, 5, "kernel_stack", "4:2 _4 4:0x1234 4:0xffffffff"}},
	 .text = "\ntask: <...>-5\n"
		 "  Event: ping:0x1 (1)\n"
		 "          | \n"
		 "          + 0x1234\n"
		 "              100% (1)\n"
		 "            \n"
		 "      \n"},
	{"a waker's stack belongs to the one woken",
	 .steps = {SWITCH(1000, 0, 5, 1, 0), WAKEUP(2000, 1, 6, 5), STACK(2001, 1, 6, DO_WAIT),
		   SWITCH(2500, 0, 0, 0, 5)},
	 .text = "\ntask: task0-0\n"
		 "\ntask: task5-5\n"
		 "  Event: sched_switch:S (1) Total: 1000 Avg: 1000 Max: 1000(ts:0.000002) "
		 "Min:1000(ts:0.000002)\n"
		 "  Event: sched_wakeup:0x5 (1) Total: 500 Avg: 500 Max: 500(ts:0.000003) "
		 "Min:500(ts:0.000003)\n"
		 "          | \n"
		 "          + do_wait (0xffffffff81002010)\n"
		 "              100% (1) time:500 max:500(ts:0.000002) min:500(ts:0.000002) "
		 "avg:500\n"
		 "            \n"
		 "      \n"
		 "\ntask: <...>-6\n"},
	{"tasks of one name together", .opt = {.by_comm = true},
	 .steps = {{1000, 0, 0, "sched_switch", "'idle':16 4:0 8:0 'make':16 4:5"},
		   {1100, 0, 5, "sched_switch", "'make':16 4:5 8:1 'make':16 4:6"},
		   {1200, 0, 6, "ping", "4:1 4:0"},
		   {1300, 0, 6, "sched_switch", "'make':16 4:6 8:1 'make':16 4:5"},
		   {1400, 0, 5, "ping", "4:1 4:0"},
		   {1800, 0, 5, "sched_switch", "'make':16 4:5 8:0 'make':16 4:6"},
		   {1900, 0, 7, "ping", "4:1 4:0"}},
	 .text = "\ngroup: idle\n"
		 "\ngroup: make\n"
		 "  Event: sched_switch:S (2) Total: 700 Avg: 350 Max: 500(ts:0.000002) "
		 "Min:200(ts:0.000001)\n"
		 "  Event: ping:0x1 (2)\n"
		 "\ntask: <...>-7\n"
		 "  Event: ping:0x1 (1)\n"},
	{"every buffer for itself",
	 .steps = {{1000, 0, 5, "sys_enter", "8:3"},
		   {1100, 0, 5, "sys_exit", "8:3 8:0", .buffer = 1},
		   {1200, 0, 5, "sys_exit", "8:3 8:0"}},
	 .text = "\ntask: <...>-5\n"
		 "  Event: sys_enter:3 (1) Total: 200 Avg: 200 Max: 200(ts:0.000001) "
		 "Min:200(ts:0.000001)\n"
		 "\ninstance: second\n"
		 "\ntask: <...>-5\n"},
	{"a hook by value, in the task of the first event",
	 .opt = {.hooks = (const char *const[]){"ping,value,who/pong,value"}, .nr_hooks = 1},
	 .steps = {{1000, 0, 5, "ping", "4:1 4:6"},
		   {1100, 0, 5, "ping", "4:2 4:6"},
		   {1200, 0, 6, "pong", "4:1"},
		   {1300, 0, 7, "pong", "4:2"}},
	 .text = "\ntask: <...>-5\n"
		 "\ntask: <...>-6\n"
		 "  Event: ping:0x1 (1) Total: 200 Avg: 200 Max: 200(ts:0.000001) "
		 "Min:200(ts:0.000001)\n"
		 "\ntask: <...>-7\n"},
	{"a hook that came with the trace, of no task",
	 .stored_hook = "test:ping,value/test:pong,value,g",
	 .steps = {{1000, 0, 5, "ping", "4:1 4:6"}, {1200, 1, 7, "pong", "4:1"}},
	 .text = "Global Events\n"
		 "  Event: ping:0x1 (1) Total: 200 Avg: 200 Max: 200(ts:0.000001) "
		 "Min:200(ts:0.000001)\n"
		 "\ntask: <...>-5\n"
		 "\ntask: <...>-7\n"},
	{"a hook that came with the trace and fits nothing in it",
	 .stored_hook = "ping,nothing/pong,value", .steps = {{1000, 0, 5, "pong", "4:1"}},
	 .text = "\ntask: <...>-5\n"
		 "  Event: pong:0x0 (1)\n"},
	{"records that are too short",
	 .steps = {{1000, 0, 5, "sched_switch", ""},
		   {1100, 0, 5, "kernel_stack", ""},
		   {1200, 0, 5, "ping", "x0f"},
		   {1300, 0, 5, "kernel_stack", "4:8 _4 x0102"}},
	 .text = "\ntask: <idle>-0\n"
		 "  Event: sched_switch:R (1)\n"
		 "\ntask: <...>-5\n"
		 "  Event: ping:0x0 (1)\n"},
};

/* A trace without a file. */
struct fake {
	struct dat dat;
	struct dat_option option;
	struct dat_buffer data[2];
	struct trace_buffer buffers[2];
	struct spur_trace trace, *traces[1];
};

static void fake_init(struct fake *f, enum machine machine, const char *hook)
{
	memset(f, 0, sizeof(*f));
	f->trace.events = fixture_events(machine == BIG_32, machine == BIG_32 ? 4 : 8);
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (machine != NO_WAKEUP || strcmp(events[i].name, "sched_wakeup") != 0)
			fixture_add(f->trace.events, events[i].system, events[i].name, events[i].id,
				    events[i].fields, "\"\"");
	assert_int_equal(events_seal(f->trace.events), 0);
	f->trace.dat = &f->dat;
	f->trace.buffers = f->buffers;
	f->trace.nr_buffers = 2;
	f->data[0].name = "";
	f->data[1].name = "second";
	for (uint32_t i = 0; i < 2; i++)
		f->buffers[i] =
			(struct trace_buffer){.trace = &f->trace, .data = &f->data[i], .index = i};
	f->traces[0] = &f->trace;
	if (hook) {
		f->option.id = DAT_OPT_HOOK;
		f->option.data.data = (const uint8_t *)hook;
		f->option.data.size = strlen(hook) + 1;
		f->dat.options = &f->option;
		f->dat.nr_options = 1;
	}
}

static void fake_done(struct fake *f)
{
	events_free(f->trace.events);
}

static void feed(struct fake *f, struct profile *p, const struct step *s)
{
	bool big_endian = f->trace.events->big_endian;
	struct event *e = events_find(f->trace.events, NULL, s->event);
	struct spur_record r;
	struct buf b;

	assert_non_null(e);
	buf_init(&b, 4096);
	r = fixture_record(&b, e->id, s->data, big_endian);
	for (unsigned int i = 0; i < 4; i++)
		b.data[4 + i] = (char)(s->pid >> 8 * (big_endian ? 3 - i : i));
	r.ts = s->ts;
	r.cpu = s->cpu;
	r.buffer = s->buffer;
	r.lost = s->lost;
	profile_record(p, &f->trace, e, &r);
	buf_free(&b);
}

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct profile_case *c = &cases[i];
		struct spur_error err = {0};
		struct fake f;
		struct profile *p;
		struct buf out;

		fake_init(&f, c->machine, c->stored_hook);
		p = profile_new(f.traces, 1, &c->opt, &err);
		assert_non_null(p);
		for (const struct step *s = c->steps; s->event; s++)
			feed(&f, p, s);
		buf_init(&out, 1 << 20);
		profile_print(p, &out);
		if (strcmp(buf_str(&out), c->text) != 0) {
			print_error("%s:\n%s\ninstead of\n%s\n", c->name, buf_str(&out), c->text);
			fail();
		}
		assert_int_equal(profile_dropped(p), 0);
		buf_free(&out);
		profile_free(p);
		fake_done(&f);
	}
}

/* Beginnings that never end are forgotten from the oldest on. */
static void test_many_beginnings(void **state)
{
	struct step raise = {1000, 0, 5, "softirq_raise", "4:1"};
	struct step entry = {1000000, 0, 5, "softirq_entry", "4:1"};
	struct spur_error err = {0};
	struct profile *p;
	struct fake f;
	struct buf out;

	fake_init(&f, LITTLE_64, NULL);
	p = profile_new(f.traces, 1, NULL, &err);
	for (int i = 0; i < 5000; i++, raise.ts++)
		feed(&f, p, &raise);
	for (int i = 0; i < 5000; i++)
		feed(&f, p, &entry);
	buf_init(&out, 1 << 20);
	profile_print(p, &out);
	assert_non_null(strstr(buf_str(&out), "softirq_raise:TIMER (4096) "));
	buf_free(&out);
	profile_free(p);
	fake_done(&f);
}

/* Beyond its limit a profile goes on with what it has. */
static void test_memory_limit(void **state)
{
	const struct profile_options opt = {.memory_limit = 64 << 10};
	struct spur_error err = {0};
	struct profile *p;
	struct fake f;
	struct buf out;

	fake_init(&f, LITTLE_64, NULL);
	p = profile_new(f.traces, 1, &opt, &err);
	assert_non_null(p);
	for (int i = 0; i < 3000; i++) {
		char data[64];
		struct step s[] = {
			{1000, 0, i, "ping", data},
			{1000, 0, i, "kernel_stack", data},
			{1000, 0, i, "sys_enter", data},
			{1000, 0, i, "irq_handler_entry", data},
			{1000, (uint32_t)i, i, "irq_handler_exit", data},
			{1000, 0, i, "sys_exit", data},
			SWITCH(1000, 0, 5, 1, 6),
			WAKEUP(1000, 0, 6, 5),
		};

		snprintf(data, sizeof(data), "4:%d 4:%d 8:%d", i, i, i);
		for (size_t k = 0; k < sizeof(s) / sizeof(s[0]); k++)
			feed(&f, p, &s[k]);
	}
	assert_true(profile_dropped(p) > 0);
	buf_init(&out, 1 << 20);
	profile_print(p, &out);
	assert_non_null(strstr(buf_str(&out), "  Event: ping:0x1 (1)\n"));
	buf_free(&out);
	profile_free(p);
	fake_done(&f);
}

static const struct {
	const char *text;
	const char *shown; /* NULL: it is no hook */
} hooks[] = {
	{"a,b/c,d", "start (null):a:b ((null)) end (null):c:d ((null))\n"},
	{"s:a,b,p/t:c,d,PGs", "start s:a:b (p) end t:c:d (PGs)\n"},
	{"a,b,p/c,d", "start (null):a:b (p) end (null):c:d ((null))\n"},
	{"a,b/c,d,x", "start (null):a:b ((null)) end (null):c:d (x)\n"},
	{"", NULL},
	{"a", NULL},
	{"a,b", NULL},
	{"a,b/", NULL},
	{"a,b/c", NULL},
	{"a,b/c,", NULL},
	{"a,b/c,d,", NULL},
	{",b/c,d", NULL},
	{"a,/c,d", NULL},
	{":a,b/c,d", NULL},
	{"a,b,/c,d", NULL},
	{"a,b,c,d", NULL},
};

static void test_hooks(void **state)
{
	struct hook h;
	struct buf out;

	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < sizeof(hooks) / sizeof(hooks[0]); i++) {
		struct spur_error err = {0};
		int rc = hook_parse(&h, hooks[i].text, strlen(hooks[i].text), &err);

		assert_int_equal(rc, hooks[i].shown ? 0 : -EINVAL);
		if (!hooks[i].shown)
			continue;
		buf_reset(&out);
		hook_put(&h, &out);
		assert_string_equal(buf_str(&out), hooks[i].shown);
	}
	assert_int_equal(hook_parse(&h, "a,b/c,d\0", 8, NULL), -EINVAL);
	hook_parse(&h, "a,b/c,d,gPs?", 12, NULL);
	assert_true(h.global && h.pinned);
	assert_int_equal(h.unknown_flag, '?');
	buf_free(&out);
}

static void warn(void *arg, const char *text)
{
	snprintf(arg, 100, "%s", text);
}

/* What is wrong with a user's hook stops the profile when it cannot be right for any trace. */
static void test_wrong_hooks(void **state)
{
	static const struct {
		const char *hook, *error, *warning;
	} wrong[] = {
		{"nonsense", "'nonsense' is no hook: it should be EVENT,FIELD/EVENT,FIELD", ""},
		{"ping,no/pong,value", "event ping does not have a field no", ""},
		{"ping,value/pong,no", "event pong does not have a field no", ""},
		{"ping,value,no/pong,value", "event ping does not have a field no", ""},
		{"no,value/pong,value", NULL, "Event no not found"},
		{"ping,value/ping:no,value", NULL, "Event no not found"},
		{"ping,value/pong,value,z", NULL, "unknown flag z"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct spur_error err = {0};
		char warning[100] = "";
		const struct profile_options opt = {
			.hooks = &wrong[i].hook, .nr_hooks = 1, .warn = warn, .warn_arg = warning};
		struct fake f;
		struct profile *p;

		fake_init(&f, LITTLE_64, NULL);
		p = profile_new(f.traces, 1, &opt, &err);
		assert_int_equal(p == NULL, wrong[i].error != NULL);
		if (wrong[i].error)
			assert_string_equal(err.text, wrong[i].error);
		assert_string_equal(warning, wrong[i].warning);
		profile_free(p);
		fake_done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	     cmocka_unit_test(test_many_beginnings),
		cmocka_unit_test(test_memory_limit), cmocka_unit_test(test_hooks),
		cmocka_unit_test(test_wrong_hooks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
