// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * System calls, interrupts and block requests of kernels that describe them otherwise, and records
 * that are not what their format says. What the tables are in general is tested in tests/tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "table/spans.h"
#include "table_fixture.h"

#define RAW_ENTER "long id @8:8s, unsigned long args[6] @16:48"
#define RAW_EXIT  "long id @8:8s, long ret @16:8s"
#define NO_ARGS	  "8:0 8:0 8:0 8:0 8:0 8:0"

static const struct table_case cases[] = {
	{"a machine of 32 bits",
	 &syscalls_table,
	 "Linux board 6.1 armv7l",
	 {{"raw_syscalls", "sys_enter", "long id @8:4s, unsigned long args[6] @12:24"},
	  {"raw_syscalls", "sys_exit", "long id @8:4s, long ret @12:4s"}},
	 {{1000, "sys_enter", "4:3 4:1 4:2 4:0xffffffff 4:0 4:0 4:0"},
	  {1500, "sys_exit", "4:3 4:0xfffffffe"}},
	 "dur name args ret error",
	 "500 read 1, 2, ffffffff, 0, 0, 0 -2 ENOENT\n",
	 .long_size = 4},
	{"a big-endian machine",
	 &syscalls_table,
	 "Linux host 6.1 s390x",
	 {{"raw_syscalls", "sys_enter", RAW_ENTER}, {"raw_syscalls", "sys_exit", RAW_EXIT}},
	 {{1000, "sys_enter", "8:4 " NO_ARGS}, {1500, "sys_exit", "8:4 8:17"}},
	 "dur name ret",
	 "500 write 17\n",
	 .big_endian = true},
	{"the number's field as older kernels call it",
	 &syscalls_table,
	 NULL,
	 {{"syscalls", "sys_enter_close", "int nr @8:4s, unsigned int fd @16:8",
	   "\"fd: 0x%08lx\", ((unsigned long)(REC->fd))"},
	  {"syscalls", "sys_exit_close", "int nr @8:4s, long ret @16:8s"}},
	 {{1000, "sys_enter_close", "4:3 _4 8:5"}, {1500, "sys_exit_close", "4:3 _4 8:0"}},
	 "dur name nr args ret",
	 "500 close 3 fd: 0x00000005 0\n"},
	{"calls of another ABI of the same machine",
	 &syscalls_table,
	 "Linux host 6.1 x86_64",
	 {{"raw_syscalls", "sys_enter", RAW_ENTER}, {"raw_syscalls", "sys_exit", RAW_EXIT}},
	 {{1000, "sys_enter", "8:0x40000000 " NO_ARGS}, {1500, "sys_exit", "8:0x40000000 8:0"}},
	 "name nr",
	 "read 1073741824\n"},
	{"numbers that no call has",
	 &syscalls_table,
	 "Linux host 6.1 x86_64",
	 {{"raw_syscalls", "sys_enter", RAW_ENTER}, {"raw_syscalls", "sys_exit", RAW_EXIT}},
	 {{1000, "sys_enter", "8:0x7fffffffffffffff " NO_ARGS},
	  {1500, "sys_exit", "8:0x7fffffffffffffff 8:0x8000000000000000"},
	  {1600, "sys_enter", "8:1023 " NO_ARGS},
	  {1700, "sys_exit", "8:1023 8:-4096"}},
	 "dur name error",
	 "500 - -\n100 - -\n"},
	{"records that are cut off",
	 &syscalls_table,
	 "Linux host 6.1 x86_64",
	 {{"raw_syscalls", "sys_enter", RAW_ENTER}, {"raw_syscalls", "sys_exit", RAW_EXIT}},
	 {{1000, "sys_enter", "8:0 8:1 8:2"}, {1100, "sys_exit", "4:0"}, {1500, "sys_exit", "8:0"}},
	 "dur name args ret open",
	 "500 read - - -\n"},
	{"an entry without a number",
	 &syscalls_table,
	 NULL,
	 {{"syscalls", "sys_enter_close", "unsigned int fd @8:8"},
	  {"raw_syscalls", "sys_exit", RAW_EXIT}},
	 {{1000, "sys_enter_close", "8:5"},
	  {1010, "sys_exit", "8:3 8:0"},
	  {1020, "sys_exit", "8:3 8:0"}},
	 "name nr ret open",
	 "- 3 0 start\n"},
	{"a handler's name with its place in the record, and none",
	 &irqs_table,
	 NULL,
	 {{"irq", "irq_handler_entry", "int irq @8:4s, char name[8] @12:8"},
	  {"irq", "irq_handler_exit", "int irq @8:4s"}},
	 {{1000, "irq_handler_entry", "4:7 'eth0':8"},
	  {1100, "irq_handler_exit", "4:7"},
	  {1200, "irq_handler_entry", "4:8"},
	  {1300, "irq_handler_exit", "4:8"}},
	 "dur irq name handled",
	 "100 7 eth0 -\n100 8 - -\n"},
	{"softirqs are called as the format says",
	 &softirqs_table,
	 NULL,
	 {{"irq", "softirq_entry", "unsigned int vec @8:4",
	   "\"vec=%u [action=%s]\", REC->vec, __print_symbolic(REC->vec, { 5, \"BLOCK_IOPOLL\" })"},
	  {"irq", "softirq_exit", "unsigned int vec @8:4"}},
	 {{1000, "softirq_entry", "4:5"}, {1100, "softirq_exit", "4:5"}},
	 "dur name",
	 "100 BLOCK_IOPOLL\n"},
	{"interrupts nested deeper than there are levels",
	 &irqs_table,
	 NULL,
	 {{"irq", "irq_handler_entry", "int irq @8:4s"},
	  {"irq", "irq_handler_exit", "int irq @8:4s"}},
	 {{1000, "irq_handler_entry", "4:1"},
	  {1100, "irq_handler_entry", "4:1"},
	  {1200, "irq_handler_entry", "4:1"},
	  {1300, "irq_handler_exit", "4:1"}},
	 "ts dur open",
	 "1200 100 -\n1100 200 end\n1000 300 end\n"},
	{"requests of an older kernel",
	 &block_table,
	 NULL,
	 {{"block", "block_rq_issue",
	   "dev_t dev @8:4, sector_t sector @16:8, unsigned int nr_sector @24:4, char rwbs[8] "
	   "@28:8"},
	  {"block", "block_rq_complete",
	   "dev_t dev @8:4, sector_t sector @16:8, unsigned int nr_sector @24:4, int errors "
	   "@28:4s"}},
	 {{1000, "block_rq_issue", "4:0x800010 _4 8:100 4:16 'WS':8"},
	  {1500, "block_rq_complete", "4:0x800010 _4 8:100 4:16 4:-5"}},
	 "dur device sector bytes rwbs comm error",
	 "500 8,16 100 8192 WS - -5\n"},
	{"a request of which only the place is known",
	 &block_table,
	 NULL,
	 {{"block", "block_rq_issue", "dev_t dev @8:4, sector_t sector @16:8"},
	  {"block", "block_rq_complete", "dev_t dev @8:4, sector_t sector @16:8"}},
	 {{1000, "block_rq_issue", "4:1 _4 8:0xffffffffffffffff"},
	  {1100, "block_rq_issue", "4:1"},
	  {1500, "block_rq_complete", "4:1 _4 8:0xffffffffffffffff"}},
	 "dur device sector bytes rwbs error",
	 "500 0,1 -1 0 - -\n"},
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
