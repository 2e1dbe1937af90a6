// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Tables of scheduling, from hand-made records: what a file cannot easily be made of. A case is the
 * formats of a kernel, what happens, and the rows that must come out. The usual is in tests/tables.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "event/names.h"
#include "event_fixture.h"
#include "table/overview.h"
#include "table/sched.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_STEPS     8
#define NR_CPUS	      2

/* ---- kernels ---- */

struct kernel {
	const char *switch_fields, *wakeup_fields, *print_fmt;
	bool big_endian;
};

#define COMM(name, offset) "char " name "[16] @" #offset ":16s, "

/* As they are: prev_comm 8, prev_pid 24, prev_prio 28, prev_state 32, next_comm 40, … */
#define SWITCH_FIELDS                                                                              \
	COMM("prev_comm", 8)                                                                       \
	"pid_t prev_pid @24:4s, int prev_prio @28:4s, long prev_state @32:8s, " COMM(              \
		"next_comm", 40) "pid_t next_pid @56:4s, int next_prio @60:4s"
#define WAKEUP_FIELDS COMM("comm", 8) "pid_t pid @24:4s, int prio @28:4s, int target_cpu @32:4s"

static const struct kernel usual = {SWITCH_FIELDS, WAKEUP_FIELDS, "\"\""};
static const struct kernel big = {SWITCH_FIELDS, WAKEUP_FIELDS, "\"\"", true};

/* Linux 3.10: other letters, "+" is another bit, and wakeups tell whether they were any. */
static const struct kernel old = {
	SWITCH_FIELDS,
	COMM("comm", 8) "pid_t pid @24:4s, int prio @28:4s, int success @32:4s, "
			"int target_cpu @36:4s",
	"\"%s%s\", REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & (1024-1), \"|\", "
	"{ 1, \"S\"} , { 2, \"D\" }, { 4, \"T\" }, { 8, \"t\" }, { 16, \"Z\" }, { 32, \"X\" }, "
	"{ 64, \"x\" }, { 128, \"K\" }, { 256, \"W\" }, { 512, \"P\" }) : \"R\", "
	"REC->prev_state & 1024 ? \"+\" : \"\""};

/* Names elsewhere in the record, and pids of other sizes. */
static const struct kernel strange = {
	"__data_loc char[] prev_comm @8:4, short prev_pid @12:2s, char prev_state @14:1, "
	"__data_loc char[] next_comm @16:4, s64 next_pid @24:8s",
	"__data_loc char[] comm @8:4, pid_t pid @12:4s", "\"\""};

static const struct kernel useless = {
	COMM("prev_comm", 8) "pid_t prev_pid @24:4s, char next_pid[3] @28:3s",
	COMM("comm", 8) "pid_t pid @4294967295:4s", "\"\""};

/* ---- a trace without a file ---- */

struct fixture {
	struct spur_trace trace;
	struct dat dat;
	struct dat_buffer data;
	struct trace_buffer buffer;
	struct table_source source;
	const struct table *table;
	void *analysis;
	struct buf record;
	struct buf rows;
	uint64_t nr_rows;
	int failed;
};

static void take_row(void *arg, const void *row)
{
	struct fixture *f = arg;

	f->nr_rows++;
	for (uint32_t i = 0; i < f->table->nr_columns; i++) {
		const struct column *c = &f->table->columns[i];
		const char *text = row_is_text(c) ? row_text(c, row) : NULL;

		if (row_is_text(c))
			buf_puts(&f->rows, text ? text : "-");
		else if (row_number(c, row) == ROW_NULL)
			buf_putc(&f->rows, '-');
		else
			buf_i64(&f->rows, row_number(c, row));
		buf_putc(&f->rows, i + 1 < f->table->nr_columns ? ' ' : '\n');
	}
}

static void open_fixture(struct fixture *f, const struct kernel *k, const struct table *table)
{
	*f = (struct fixture){.table = table};
	f->trace.events = fixture_events(k->big_endian, 8);
	fixture_add(f->trace.events, "sched", "sched_switch", 1, k->switch_fields, k->print_fmt);
	fixture_add(f->trace.events, "sched", "sched_wakeup", 2, k->wakeup_fields, "\"\"");
	assert_int_equal(events_seal(f->trace.events), 0);
	f->dat.nr_cpus = NR_CPUS;
	f->data.name = "";
	f->trace.dat = &f->dat;
	f->trace.buffers = &f->buffer;
	f->trace.nr_buffers = 1;
	f->buffer = (struct trace_buffer){.trace = &f->trace, .data = &f->data};
	buf_init(&f->record, 1 << 16);
	buf_init(&f->rows, 64 << 20);
	f->source = (struct table_source){.table = table,
					  .trace = &f->trace,
					  .buffer = &f->buffer,
					  .row = take_row,
					  .arg = f,
					  .failed = &f->failed};
	f->analysis = table_begin(table, &f->source);
	assert_non_null(f->analysis);
}

static void close_fixture(struct fixture *f)
{
	table_free(f->table, f->analysis);
	events_free(f->trace.events);
	buf_free(&f->rows);
	buf_free(&f->record);
}

static void give(struct fixture *f, const char *event, uint64_t ts, uint32_t cpu, const char *data)
{
	struct event *e = events_find(f->trace.events, "sched", event);
	struct spur_record r;

	event_ready(e);
	r = fixture_record(&f->record, e->id, data, f->trace.events->big_endian);
	r.ts = ts;
	r.cpu = cpu;
	f->table->record(f->analysis, e, &r);
}

/* ---- cases ---- */

struct step {
	const char *event; /* NULL: the end */
	uint64_t ts;
	const char *data;
};

#define IDLE_TO_A	 "'swapper/0':16 4:0 4:120 8:0 'a':16 4:1 4:98"
#define A_TO_IDLE(state) "'a':16 4:1 4:98 8:" #state " 'swapper/0':16 4:0 4:120"

static const struct {
	const char *name;
	const struct table *table;
	const struct kernel *kernel;
	struct step steps[MAX_STEPS];
	const char *rows;
} cases[] = {
	{"letters of today",
	 &slices_table,
	 &usual,
	 {{"sched_switch", 100, IDLE_TO_A}, {"sched_switch", 150, A_TO_IDLE(0x100)}},
	 "100 0 0 0 swapper/0 120 R start \n"
	 "100 50 0 1 a 98 R+ - \n150 0 0 0 swapper/0 120 - end \n"},
	{"the other byte order",
	 &slices_table,
	 &big,
	 {{"sched_switch", 100, IDLE_TO_A}, {"sched_switch", 150, A_TO_IDLE(2)}},
	 "100 0 0 0 swapper/0 120 R start \n"
	 "100 50 0 1 a 98 D - \n150 0 0 0 swapper/0 120 - end \n"},
	{"letters of the past",
	 &slices_table,
	 &old,
	 {{"sched_switch", 100, IDLE_TO_A}, {"sched_switch", 150, A_TO_IDLE(130)}},
	 "100 0 0 0 swapper/0 120 R start \n"
	 "100 50 0 1 a 98 D|K - \n150 0 0 0 swapper/0 120 - end \n"},
	{"one that was about to sleep when it was preempted can run",
	 &states_table,
	 &old,
	 {{"sched_switch", 100, IDLE_TO_A}, {"sched_switch", 150, A_TO_IDLE(1025)}},
	 "100 50 1 a running - 0 - - \n150 0 1 a runnable preempted 0 - end \n"},
	{"dead in the past",
	 &states_table,
	 &old,
	 {{"sched_switch", 100, IDLE_TO_A}, {"sched_switch", 150, A_TO_IDLE(64)}},
	 "100 50 1 a running - 0 - - \n150 0 1 a dead - 0 - end \n"},
	{"a wakeup that was none",
	 &wakeups_table,
	 &old,
	 {{"sched_wakeup", 100, "'a':16 4:1 4:98 4:0 4:0"},
	  {"sched_wakeup", 120, "'a':16 4:1 4:98 4:1 4:1"},
	  {"sched_switch", 150, IDLE_TO_A}},
	 "120 30 1 a 98 1234 - 0 1 0 0 0 - \n"},
	{"names behind the record, other sizes, fields that are missing",
	 &slices_table,
	 &strange,
	 {{"sched_switch", 100, "4:0x50020 2:0 1:0 _1 4:0x20025 _4 8:7 'none':5 'b':2"},
	  {"sched_switch", 150, "4:0x20025 2:7 1:1 _1 4:0x50020 _4 8:0 'none':5 'b':2"}},
	 "100 0 0 0 none - R start \n"
	 "100 50 0 7 b - S - \n150 0 0 0 none - - end \n"},
	{"a wakeup that does not tell where to",
	 &wakeups_table,
	 &strange,
	 {{"sched_wakeup", 100, "4:0x20010 4:7 'b':2"}},
	 "100 - 7 b - 1234 - 0 - - 0 0 end \n"},
	{"events without pids are none",
	 &wakeups_table,
	 &useless,
	 {{"sched_wakeup", 100, "'a':16 4:1"}, {"sched_switch", 150, "'a':16 4:1 x000000"}},
	 ""},
	{"records that are too short are none",
	 &slices_table,
	 &usual,
	 {{"sched_switch", 100, IDLE_TO_A},
	  {"sched_switch", 120, "'a':16 4:1 4:98 8:1 'b':16 4:2"},
	  {"sched_switch", 150, A_TO_IDLE(1)}},
	 "100 0 0 0 swapper/0 120 R start \n"
	 "100 50 0 1 a 98 S - \n150 0 0 0 swapper/0 120 - end \n"},
	{"CPUs that there are not",
	 &wakeups_table,
	 &usual,
	 {{"sched_wakeup", 100, "'a':16 4:1 4:98 4:-1"},
	  {"sched_wakeup", 110, "'b':16 4:2 4:98 4:70000"},
	  {"sched_switch", 150, IDLE_TO_A}},
	 "100 50 1 a 98 1234 - 0 -1 0 0 0 - \n110 - 2 b 98 1234 - 0 70000 - 0 0 end \n"},
	{"pids of any number",
	 &wakeups_table,
	 &usual,
	 {{"sched_wakeup", 100, "'a':16 4:-1 4:98 4:0"},
	  {"sched_wakeup", 110, "'a':16 4:0x7fffffff 4:98 4:0"},
	  {"sched_wakeup", 120, "'a':16 4:0 4:98 4:0"}},
	 "100 - -1 a 98 1234 - 0 0 - 0 0 end \n110 - 2147483647 a 98 1234 - 0 0 - 0 0 end \n"},
	{"the same time",
	 &states_table,
	 &usual,
	 {{"sched_wakeup", 100, "'a':16 4:1 4:98 4:0"}, {"sched_switch", 100, IDLE_TO_A}},
	 "100 0 1 a runnable woken 0 - - \n100 0 1 a running - 0 - end \n"},
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fixture f;
		uint64_t last = 0;

		open_fixture(&f, cases[i].kernel, cases[i].table);
		for (const struct step *s = cases[i].steps; s->event; s++) {
			give(&f, s->event, s->ts, 0, s->data);
			last = s->ts;
		}
		f.table->end(f.analysis, last);
		buf_putc(&f.rows, '\0');
		if (strcmp(f.rows.data, cases[i].rows) != 0)
			print_error("%s:\n%sinstead of\n%s", cases[i].name, f.rows.data,
				    cases[i].rows);
		assert_string_equal(f.rows.data, cases[i].rows);
		assert_int_equal(f.failed, 0);
		close_fixture(&f);
	}
}

/* ---- limits ---- */

/* Tasks that never die are followed up to a number, and then it is said. */
static void test_too_many_tasks(void **state)
{
	static const struct table *const each[] = {&wakeups_table, &states_table, &tasks_table};

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct fixture f;
		char data[64];

		open_fixture(&f, &usual, each[i]);
		for (int pid = 1; pid < 400000 && f.failed == 0; pid++) {
			snprintf(data, sizeof(data), "'a':16 4:%d 4:98 4:0", pid);
			give(&f, "sched_wakeup", (uint64_t)pid, 0, data);
		}
		assert_int_equal(f.failed, -E2BIG);
		close_fixture(&f);
	}
}

/* Those that die are not: any number may. */
static void test_many_deaths(void **state)
{
	static const struct table *const each[] = {&wakeups_table, &states_table, &tasks_table};
	const int lives = 400000;

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		struct fixture f;
		char data[160];

		open_fixture(&f, &usual, each[i]);
		for (int pid = 1; pid <= lives && f.failed == 0; pid++) {
			snprintf(data, sizeof(data), "'a':16 4:%d 4:98 8:16 'a':16 4:%d 4:98", pid,
				 pid + 1);
			give(&f, "sched_switch", (uint64_t)pid, 0, data);
			buf_reset(&f.rows);
		}
		assert_int_equal(f.failed, 0);
		f.table->end(f.analysis, lives + 1);
		if (each[i] != &wakeups_table)
			assert_true(f.nr_rows >= (uint64_t)lives);
		close_fixture(&f);
	}
}

/* Names that are all different are kept up to a number of bytes. */
static void test_too_many_names(void **state)
{
	struct fixture f;
	char data[64];

	open_fixture(&f, &usual, &wakeups_table);
	for (int i = 1; i < 2000000 && f.failed == 0; i++) {
		snprintf(data, sizeof(data), "'name%d':16 4:1 4:98 4:0", i);
		give(&f, "sched_wakeup", (uint64_t)i, 0, data);
		buf_reset(&f.rows);
	}
	assert_int_equal(f.failed, -E2BIG);
	close_fixture(&f);
}

/* ---- the letters ---- */

static const struct {
	const char *print_fmt;
	char first, last; /* letters of the lowest and the highest bit */
	uint32_t preempted;
} formats[] = {
	{NULL, 'S', 'I', 0x100},
	{"no flags at all", 'S', 'I', 0x100},
	{"__print_flags(REC->prev_state, \"|\", { 1, \"S\" }, { 2, \"D\" })", 'S', 'D', 0},
	{"__print_flags(REC->prev_state, \"|\", { 1, \"S\" }, { 64, \"I\" }) : \"+\"", 'S', 'I',
	 0x80},
	{"__print_flags(REC->other, \"|\", { 1, \"x\" }) "
	 "__print_flags(REC->prev_state, \"|\", { 2, \"D\" }) : \"+\"",
	 'D', 'D', 4},
	{"__print_flags(REC->prev_state, \"|\", { 0x80000000, \"Q\" }) : \"+\"", 'Q', 'Q', 0},
	{"__print_flags(REC->prev_state, \"|\", { 0, \"Q\" }, {", 'S', 'I', 0x100},
};

static void test_letters(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct task_states s;

		task_states_read(&s, formats[i].print_fmt);
		assert_true(s.bits != 0);
		assert_int_equal(s.letters[__builtin_ctz(s.bits)], formats[i].first);
		assert_int_equal(s.letters[31 - __builtin_clz(s.bits)], formats[i].last);
		assert_int_equal(s.preempted, formats[i].preempted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),	    cmocka_unit_test(test_too_many_tasks),
		cmocka_unit_test(test_many_deaths), cmocka_unit_test(test_too_many_names),
		cmocka_unit_test(test_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
