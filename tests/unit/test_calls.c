// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Calls and stacks of kernels that describe them otherwise, and records that are not what their
 * format says. What the tables are in general is tested in tests/tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "table/calls.h"
#include "table/stacks.h"
#include "table_fixture.h"

#define SCHEDULE "8:0xffffffff81001000 "
#define DO_WAIT	 "8:0xffffffff81002000 "

static const struct table_case cases[] = {
	{"what functions return, and depths of another size",
	 &calls_table,
	 NULL,
	 {{"ftrace", "funcgraph_entry", "unsigned long func @8:8, unsigned long depth @16:8"},
	  {"ftrace", "funcgraph_exit",
	   "unsigned long func @8:8, unsigned long retval @16:8, unsigned int depth @24:4, "
	   "unsigned int overrun @28:4, unsigned long long calltime @32:8, "
	   "unsigned long long rettime @40:8"}},
	 {{1000, "funcgraph_entry", SCHEDULE "8:0"},
	  {1100, "funcgraph_exit", SCHEDULE "8:-11 4:0 4:0 8:5000 8:5090"}},
	 "dur func depth retval",
	 "90 schedule 0 -11\n"},
	{"exits that tell no times",
	 &calls_table,
	 NULL,
	 {{"ftrace", "funcgraph_entry", "unsigned long func @8:8, int depth @16:4s"},
	  {"ftrace", "funcgraph_exit", "unsigned long func @8:8, int depth @16:4s"}},
	 {{1000, "funcgraph_entry", SCHEDULE "4:0"},
	  {1100, "funcgraph_exit", SCHEDULE "4:0"},
	  {1200, "funcgraph_exit", DO_WAIT "4:0"}},
	 "ts dur func",
	 "1000 100 schedule\n"},
	{"a machine of 32 bits with the other byte order",
	 &calls_table,
	 NULL,
	 {{"ftrace", "funcgraph_entry", "unsigned long func @8:4, int depth @12:4s"},
	  {"ftrace", "funcgraph_exit",
	   "unsigned long func @8:4, int depth @12:4s, unsigned long long calltime @16:8, "
	   "unsigned long long rettime @24:8"}},
	 {{1000, "funcgraph_entry", "4:0xc0001000 4:0"},
	  {1100, "funcgraph_exit", "4:0xc0001000 4:0 8:7 8:77"}},
	 "dur func addr",
	 "70 0xc0001000 3221229568\n",
	 .long_size = 4,
	 .big_endian = true},
	{"records that are cut off, and times that run backwards",
	 &calls_table,
	 NULL,
	 {{"ftrace", "funcgraph_entry", "unsigned long func @8:8, int depth @16:4s"},
	  {"ftrace", "funcgraph_exit",
	   "unsigned long func @8:8, int depth @16:4s, unsigned long long calltime @24:8, "
	   "unsigned long long rettime @32:8"}},
	 {{1000, "funcgraph_entry", SCHEDULE "4:0"},
	  {1010, "funcgraph_entry", DO_WAIT},
	  {1020, "funcgraph_exit", SCHEDULE},
	  {1100, "funcgraph_exit", SCHEDULE "4:0 _4 8:9"},
	  {900, "funcgraph_exit", DO_WAIT "4:0 _4 8:9 8:2000"},
	  {1200, "funcgraph_exit", DO_WAIT "4:0 _4 8:9 8:0"}},
	 "ts dur func open",
	 "1000 100 schedule -\n0 1991 do_wait -\n"},
	{"a fixed number of addresses, the rest of which is 0",
	 &stacks_table,
	 NULL,
	 {{"ftrace", "kernel_stack", "unsigned long caller[4] @8:32"}, {"x", "x", "int a @8:4s"}},
	 {{1000, "x", "4:1"},
	  {1001, "kernel_stack", SCHEDULE DO_WAIT "8:0 8:0 8:77"},
	  {1002, "x", "4:1"},
	  {1003, "kernel_stack", SCHEDULE SCHEDULE SCHEDULE SCHEDULE "8:77"}},
	 "ts depth top stack",
	 "1000 2 schedule do_wait;schedule\n"
	 "1002 4 schedule schedule;schedule;schedule;schedule\n"},
	{"addresses of 32 bits up to a mark, and ftrace's own code",
	 &stacks_table,
	 NULL,
	 {{"ftrace", "kernel_stack", "int size @8:4s, unsigned long caller[] @12:0"},
	  {"x", "x", "int a @8:4s"}},
	 {{1000, "x", "4:1"},
	  {1001, "kernel_stack", "4:9 4:0xc0001000 4:0x7fffffff 4:0xffffffff 4:5"}},
	 "depth stack",
	 "2 [FTRACE TRAMPOLINE];0xc0001000\n",
	 .long_size = 4},
	{"stacks that cannot be",
	 &samples_table,
	 NULL,
	 {{"ftrace", "kernel_stack", "int size @8:4s"},
	  {"ftrace", "user_stack", "unsigned int tgid @8:4, unsigned long caller[8] @16:64"},
	  {"x", "x", "int a @8:4s"}},
	 {{1000, "x", "4:1"},
	  {1001, "kernel_stack", "4:9 8:1 8:2"},
	  {1002, "user_stack", "4:9 _4 8:0x10 4:0x20"}},
	 "depth stack",
	 "1 0x10\n"},
};

static void test_cases(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct table_rows got;

		table_run(&cases[i], &got);
		if (strcmp(buf_str(&got.text), cases[i].rows) != 0)
			print_message("%s\n", cases[i].name);
		assert_string_equal(buf_str(&got.text), cases[i].rows);
		buf_free(&got.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
