// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The function tracers' texts depend on the records around: each test here is a short trace, one
 * line a record, and the lines that must come out. Records are written as in event_fixture.h.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "event_fixture.h"

#include "event/handler.h"

enum { EXIT = 10, ENTRY = 11, RETADDR = 12, FUNCTION = 1 };

/* Addresses of the fixture's symbols. */
#define SCHEDULE  "0xffffffff81001000"
#define DO_WAIT	  "0xffffffff81002000"
#define VFS_READ  "0xffffffff81003000"
#define RW_VERIFY "0xffffffff81004000"
#define TICK	  "0xffffffff81005000"
#define LAST	  "0xffffffff81006000"

struct row {
	int id;
	uint32_t cpu;
	const char *record;
};

struct stream {
	const struct row *rows;
	size_t pos;
	struct buf data, next_data;
	struct spur_record next;
};

static const struct spur_record *peek_next(void *arg)
{
	struct stream *s = arg;
	const struct row *row = &s->rows[s->pos + 1];

	if (!row->record)
		return NULL;
	s->next = fixture_record(&s->next_data, row->id, row->record, false);
	s->next.cpu = row->cpu;
	return &s->next;
}

static void take_next(void *arg)
{
	struct stream *s = arg;

	s->pos++;
}

/* Prints all rows, each text on a line, the way a report asks for them. */
static void print_rows(struct event_printer *p, const struct row *rows, struct buf *out)
{
	struct stream s = {.rows = rows};

	buf_init(&s.data, 4096);
	buf_init(&s.next_data, 4096);
	p->peek_next = peek_next;
	p->take_next = take_next;
	p->stream = &s;
	for (; rows[s.pos].record; s.pos++) {
		struct spur_record r =
			fixture_record(&s.data, rows[s.pos].id, rows[s.pos].record, false);

		r.cpu = rows[s.pos].cpu;
		event_print(p, events_of_record(p->events, &r), &r, out);
		buf_putc(out, '\n');
	}
	buf_free(&s.data);
	buf_free(&s.next_data);
}

/* ---- function ---- */

static struct events *function_events(void)
{
	struct events *ev = fixture_events(false, 8);

	fixture_add(ev, "ftrace", "function", FUNCTION,
		    "unsigned long ip @8:8, unsigned long parent_ip @16:8",
		    "\" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip");
	assert_int_equal(events_seal(ev), 0);
	return ev;
}

static const struct row calls[] = {
	{FUNCTION, 0, "8:" SCHEDULE " 8:" DO_WAIT},
	{FUNCTION, 0, "8:0xffffffff81003004 8:0xffffffff81001010"},
	{FUNCTION, 0, "8:" RW_VERIFY " 8:0xffffffff81003010"},
	{FUNCTION, 0, "8:" TICK " 8:0xffffffff81004004"},
	{FUNCTION, 0, "8:" RW_VERIFY " 8:0xffffffff81003010"},
	{FUNCTION, 0, "8:" TICK " 8:0xffffffff81005010"},
	{FUNCTION, 0, "8:0x1000 8:0xffffffff81003004"},
	{FUNCTION, 1, "8:" RW_VERIFY " 8:0xffffffff81003010"},
	{FUNCTION, 0, "8:" DO_WAIT " 8:0x1000"},
	{FUNCTION, 0, "8:0xffffffff81009000 8:" SCHEDULE},
	{FUNCTION, 0, "8:" LAST " 8:" VFS_READ},
	{FUNCTION, 0, "8:0xffffffff81006001 8:" DO_WAIT},
	{0, 0, NULL},
};

static void test_function(void **state)
{
	static const struct {
		bool parent, no_indent, offset;
		const char *text;
	} cases[] = {
		{false, false, false,
		 "schedule\n"
		 "   vfs_read\n"
		 "      rw_verify_area\n"
		 "         tick_sched_timer\n"
		 "      rw_verify_area\n"
		 "            tick_sched_timer\n"
		 "      0x1000\n"
		 "rw_verify_area\n"
		 "do_wait\n"
		 "   0xffffffff81009000\n"
		 "      last_func\n"
		 "0xffffffff81006001\n"},
		{true, true, false,
		 "schedule <-- do_wait\n"
		 "vfs_read <-- schedule\n"
		 "rw_verify_area <-- vfs_read\n"
		 "tick_sched_timer <-- rw_verify_area\n"
		 "rw_verify_area <-- vfs_read\n"
		 "tick_sched_timer <-- tick_sched_timer\n"
		 "0x1000 <-- vfs_read\n"
		 "rw_verify_area <-- vfs_read\n"
		 "do_wait <-- 0x1000\n"
		 "0xffffffff81009000 <-- schedule\n"
		 "last_func <-- vfs_read\n"
		 "0xffffffff81006001 <-- do_wait\n"},
		{true, false, true,
		 "schedule+0x0  <-- do_wait+0x0 \n"
		 "   vfs_read+0x4  <-- schedule+0x10 \n"
		 "      rw_verify_area+0x0  <-- vfs_read+0x10 \n"
		 "         tick_sched_timer+0x0  <-- rw_verify_area+0x4 \n"
		 "      rw_verify_area+0x0  <-- vfs_read+0x10 \n"
		 "            tick_sched_timer+0x0  <-- tick_sched_timer+0x10 \n"
		 "      0x1000 <-- vfs_read+0x4 \n"
		 "rw_verify_area+0x0  <-- vfs_read+0x10 \n"
		 "do_wait+0x0  <-- 0x1000\n"
		 "   0xffffffff81009000 <-- schedule+0x0 \n"
		 "      last_func+0x0  <-- vfs_read+0x0 \n"
		 "0xffffffff81006001 <-- do_wait+0x0 \n"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct events *ev = function_events();
		struct event_printer p;
		struct buf out;

		buf_init(&out, 1 << 16);
		assert_int_equal(event_printer_init(&p, ev), 0);
		p.opt.parent = cases[i].parent;
		p.opt.no_indent = cases[i].no_indent;
		p.opt.offset = cases[i].offset;
		print_rows(&p, calls, &out);
		assert_string_equal(buf_str(&out), cases[i].text);
		event_printer_done(&p);
		events_free(ev);
		buf_free(&out);
	}
}

/* A printer that only watched the first records prints the rest as one that printed them. */
static void test_function_track(void **state)
{
	struct events *ev = function_events();
	struct event_printer whole, watcher, copy;
	struct buf expect, got, data;
	const size_t half = 4;

	buf_init(&expect, 1 << 16);
	buf_init(&got, 1 << 16);
	buf_init(&data, 4096);
	assert_int_equal(event_printer_init(&whole, ev), 0);
	assert_int_equal(event_printer_init(&watcher, ev), 0);
	assert_int_equal(event_printer_init(&copy, ev), 0);
	print_rows(&whole, calls, &expect);
	for (size_t i = 0; i < half; i++) {
		struct spur_record r = fixture_record(&data, FUNCTION, calls[i].record, false);

		r.cpu = calls[i].cpu;
		function_stacks_track(&watcher, events_of_record(ev, &r), &r);
	}
	assert_true(function_stacks_copy(&copy, &watcher));
	print_rows(&copy, calls + half, &got);
	assert_true(got.len > 0 && got.len < expect.len);
	assert_string_equal(buf_str(&got), buf_str(&expect) + expect.len - got.len);

	event_printer_done(&whole);
	event_printer_done(&watcher);
	event_printer_done(&copy);
	buf_free(&expect);
	buf_free(&got);
	buf_free(&data);
	events_free(ev);
}

/* A chain of calls that never ends, and a CPU that cannot be, cost a bounded indentation. */
static void test_function_hostile(void **state)
{
	struct events *ev = events_new();
	struct event_printer p;
	struct buf kallsyms, out, data;
	char line[64];

	buf_init(&kallsyms, 1 << 20);
	buf_init(&out, 1 << 20);
	buf_init(&data, 4096);
	for (unsigned int i = 1; i <= 5000; i++)
		buf_printf(&kallsyms, "%x t f%u\n", i << 4, i);
	ev->long_size = 8;
	if (!ev->symbols)
		ev->symbols = symbols_new();
	symbols_add(ev->symbols, kallsyms.data, kallsyms.len);
	fixture_add(ev, "ftrace", "function", FUNCTION,
		    "unsigned long ip @8:8, unsigned long parent_ip @16:8", "\"x\"");
	assert_int_equal(events_seal(ev), 0);
	assert_int_equal(event_printer_init(&p, ev), 0);
	for (unsigned int i = 1; i < 4999; i++) {
		struct spur_record r;

		snprintf(line, sizeof(line), "8:%u 8:%u", (i + 1) << 4, i << 4);
		r = fixture_record(&data, FUNCTION, line, false);
		r.cpu = i % 7 ? 0 : UINT32_MAX;
		buf_reset(&out);
		event_print(&p, events_of_record(ev, &r), &r, &out);
		assert_true(out.len < 3000);
	}
	event_printer_done(&p);
	events_free(ev);
	buf_free(&kallsyms);
	buf_free(&out);
	buf_free(&data);
}

/* ---- function_graph ---- */

#define ENTRY_FIELDS "unsigned long func @8:8, int depth @16:4s"
#define EXIT_FIELDS                                                                                \
	"unsigned long func @8:8, int depth @16:4s, unsigned int overrun @20:4, "                  \
	"unsigned long long calltime @24:8, unsigned long long rettime @32:8"
#define RETVAL_FIELDS                                                                              \
	"unsigned long func @8:8, unsigned long retval @16:8, int depth @24:4s, "                  \
	"unsigned int overrun @28:4, unsigned long long calltime @32:8, "                          \
	"unsigned long long rettime @40:8"
#define ARGS_FIELDS                                                                                \
	"unsigned long func @8:8, unsigned long depth @16:8, "                                     \
	"unsigned long args[] @24:0"
#define RETADDR_FIELDS "unsigned long func @8:8, int depth @16:4s, unsigned long retaddr @24:8"

static const struct row plain[] = {
	{ENTRY, 1, "8:" VFS_READ " 4:0"},
	{ENTRY, 1, "8:" RW_VERIFY " 4:1"},
	{EXIT, 1, "8:" RW_VERIFY " 4:1 4:0 8:1000 8:3423"},
	/* The return is on another CPU, then of another function. */
	{ENTRY, 1, "8:" SCHEDULE " 4:1"},
	{EXIT, 0, "8:" SCHEDULE " 4:1 4:0 8:1000 8:13000"},
	{ENTRY, 1, "8:" DO_WAIT " 4:1"},
	{EXIT, 1, "8:" SCHEDULE " 4:1 4:0 8:1000 8:1005"},
	/* Functions without a name. */
	{ENTRY, 1, "8:0x99 4:1"},
	{EXIT, 1, "8:" DO_WAIT " 4:1 4:0 8:1000 8:1005"},
	{ENTRY, 1, "8:0x99 4:1"},
	{EXIT, 1, "8:0x99 4:1 4:0 8:1000 8:1005"},
	/* Longer and longer. */
	{EXIT, 1, "8:" VFS_READ " 4:0 4:0 8:0 8:100001"},
	{EXIT, 1, "8:" VFS_READ " 4:0 4:0 8:0 8:1000001"},
	{EXIT, 1, "8:" VFS_READ " 4:0 4:0 8:0 8:1000000001"},
	{EXIT, 1, "8:" VFS_READ " 4:0 4:0 8:0 8:12345678901234"},
	{EXIT, 1, "8:0x99 4:3 4:0 8:0 8:999999999"},
	{EXIT, 1, "8:" VFS_READ " 4:-1 4:0 8:1 8:0"},
	{0, 0, NULL},
};

static const struct row retvals[] = {
	{ENTRY, 1, "8:" VFS_READ " 4:0"},
	{ENTRY, 1, "8:" RW_VERIFY " 4:1"},
	{EXIT, 1, "8:" RW_VERIFY " 8:-22 4:1 4:0 8:1000 8:3423"},
	{EXIT, 1, "8:" VFS_READ " 8:0xffffffff 4:0 4:0 8:1000 8:3423"},
	{EXIT, 1, "8:" VFS_READ " 8:-4096 4:0 4:0 8:1000 8:3423"},
	{0, 0, NULL},
};

static const struct row args[] = {
	{ENTRY, 1, "8:" VFS_READ " 8:0 8:1 8:2 8:0xff"},
	{ENTRY, 1, "8:" RW_VERIFY " 8:1 8:7"},
	{EXIT, 1, "8:" RW_VERIFY " 8:1 4:1 4:0 8:1000 8:3423"},
	{ENTRY, 1, "8:" RW_VERIFY " 8:1"},
	{0, 0, NULL},
};

static const struct row callers[] = {
	{RETADDR, 1, "8:" VFS_READ " 4:0 _4 8:0xffffffff81001010"},
	{RETADDR, 1, "8:" RW_VERIFY " 4:1 _4 8:0xffffffff81003010"},
	{EXIT, 1, "8:" RW_VERIFY " 8:1 4:1 4:0 8:1000 8:3423"},
	{RETADDR, 1, "8:" RW_VERIFY " 4:1 _4 8:0x55"},
	{RETADDR, 1, "8:0x99 4:1 _4 8:0xffffffff81003010"},
	{0, 0, NULL},
};

static const struct {
	const char *entry, *exit;
	const struct row *rows;
	enum event_compat compat;
	bool tail, depth, retval_skip, retval_dec, retval_hex;
	const char *text;
} graphs[] = {
	{.entry = ENTRY_FIELDS,
	 .exit = EXIT_FIELDS,
	 .rows = plain,
	 .text = "             |  vfs_read() {\n"
		 "  2.423 us   |    rw_verify_area();\n"
		 "             |    schedule() {\n"
		 "+ 12.000 us  |    }\n"
		 "             |    do_wait() {\n"
		 "  0.005 us   |    }\n"
		 "             |    ) {\n"
		 "  0.005 us   |    }\n"
		 "  0.005 us   |    99();\n"
		 "! 100.001 us |  }\n"
		 "# 1000.001 us |  }\n"
		 "$ 1000000 us |  }\n"
		 "$ 12345678901 us |  }\n"
		 "# 999999.999 us |        }\n"
		 "  18446744073709551 us |  }\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = EXIT_FIELDS,
	 .rows = plain,
	 .tail = true,
	 .depth = true,
	 .text = "             |  vfs_read() { (0)\n"
		 "  2.423 us   |    rw_verify_area(); (1)\n"
		 "             |    schedule() { (1)\n"
		 "+ 12.000 us  |    } /* schedule */ (1)\n"
		 "             |    do_wait() { (1)\n"
		 "  0.005 us   |    } /* schedule */ (1)\n"
		 "             |    ) { (1)\n"
		 "  0.005 us   |    } /* do_wait */ (1)\n"
		 "  0.005 us   |    99(); (1)\n"
		 "! 100.001 us |  } /* vfs_read */ (0)\n"
		 "# 1000.001 us |  } /* vfs_read */ (0)\n"
		 "$ 1000000 us |  } /* vfs_read */ (0)\n"
		 "$ 12345678901 us |  } /* vfs_read */ (0)\n"
		 "# 999999.999 us |        }\n"
		 "  18446744073709551 us |  } /* vfs_read */ (4294967295)\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = EXIT_FIELDS,
	 .rows = plain,
	 .compat = COMPAT_31,
	 .text = "             |  vfs_read() {\n"
		 "  2.423 us   |    rw_verify_area();\n"
		 "+ 12.000 us  |    schedule();\n"
		 "             |    do_wait() {\n"
		 "  0.005 us   |    }\n"
		 "             |    99() {\n"
		 "  0.005 us   |    }\n"
		 "  0.005 us   |    99();\n"
		 "! 100.001 us |  }\n"
		 "# 1000.001 us |  }\n"
		 "$ 1000000 us |  }\n"
		 "$ 12345678901 us |  }\n"
		 "# 999999.999 us |        }\n"
		 "  18446744073709551 us |  }\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = RETVAL_FIELDS,
	 .rows = retvals,
	 .text = "             |  vfs_read() {\n"
		 "  2.423 us   |    rw_verify_area(); (ret=-22)\n"
		 "  2.423 us   |  } (ret=0xffffffff)\n"
		 "  2.423 us   |  } (ret=0xfffffffffffff000)\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = RETVAL_FIELDS,
	 .rows = retvals,
	 .retval_dec = true,
	 .retval_hex = true,
	 .text = "             |  vfs_read() {\n"
		 "  2.423 us   |    rw_verify_area(); (ret=-22)\n"
		 "  2.423 us   |  } (ret=4294967295)\n"
		 "  2.423 us   |  } (ret=-4096)\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = RETVAL_FIELDS,
	 .rows = retvals,
	 .depth = true,
	 .retval_hex = true,
	 .text = "             |  vfs_read() { (0)\n"
		 "  2.423 us   |    rw_verify_area(); (1) (ret=0xffffffffffffffea)\n"
		 "  2.423 us   |  } (0) (ret=0xffffffff)\n"
		 "  2.423 us   |  } (0) (ret=0xfffffffffffff000)\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = RETVAL_FIELDS,
	 .rows = retvals,
	 .retval_skip = true,
	 .text = "             |  vfs_read() {\n"
		 "  2.423 us   |    rw_verify_area();\n"
		 "  2.423 us   |  }\n"
		 "  2.423 us   |  }\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = RETVAL_FIELDS,
	 .rows = retvals,
	 .compat = COMPAT_31,
	 .text = "             |  vfs_read() {\n"
		 "  2.423 us   |    rw_verify_area();\n"
		 "  2.423 us   |  }\n"
		 "  2.423 us   |  }\n"},
	{.entry = ARGS_FIELDS,
	 .exit = RETVAL_FIELDS,
	 .rows = args,
	 .text = "             |  vfs_read(1, 2, ff) {\n"
		 "  2.423 us   |    rw_verify_area(7); (ret=0x1)\n"
		 "             |    rw_verify_area() {\n"},
	{.entry = ENTRY_FIELDS,
	 .exit = RETVAL_FIELDS,
	 .rows = callers,
	 .depth = true,
	 .text = "             |  vfs_read() /* <-schedule */ { (0)\n"
		 "  2.423 us   |    rw_verify_area(); (1) /* <-vfs_read */ (ret=0x1)\n"
		 "             |    rw_verify_area() { (1)\n"
		 "             |    99() /* <-vfs_read */ { (1)\n"},
};

static void test_fgraph(void **state)
{
	for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]); i++) {
		struct events *ev = fixture_events(false, 8);
		struct event_printer p;
		struct buf out;

		buf_init(&out, 1 << 16);
		ev->compat = graphs[i].compat;
		fixture_add(ev, "ftrace", "funcgraph_entry", ENTRY, graphs[i].entry, "\"x\"");
		fixture_add(ev, "ftrace", "fgraph_retaddr_entry", RETADDR, RETADDR_FIELDS, "\"x\"");
		fixture_add(ev, "ftrace", "funcgraph_exit", EXIT, graphs[i].exit, "\"x\"");
		assert_int_equal(events_seal(ev), 0);
		assert_int_equal(event_printer_init(&p, ev), 0);
		p.opt.fgraph_tail = graphs[i].tail;
		p.opt.fgraph_depth = graphs[i].depth;
		p.opt.retval_skip = graphs[i].retval_skip;
		p.opt.retval_dec = graphs[i].retval_dec;
		p.opt.retval_hex = graphs[i].retval_hex;
		print_rows(&p, graphs[i].rows, &out);
		assert_string_equal(buf_str(&out), graphs[i].text);
		event_printer_done(&p);
		events_free(ev);
		buf_free(&out);
	}
}

/* ---- blk tracer ---- */

static void test_blktrace(void **state)
{
	struct events *ev = fixture_events(false, 8);
	struct event_printer p;
	struct spur_record r;
	struct buf data, out;

	buf_init(&data, 4096);
	buf_init(&out, 4096);
	fixture_add(ev, "ftrace", "user_stack", 12, "unsigned int tgid @8:4", "\"x\"");
	assert_int_equal(handler_add_events(ev, NULL), 0);
	assert_int_equal(events_seal(ev), 0);
	assert_non_null(events_find(ev, "ftrace", "blktrace"));
	assert_int_equal(event_printer_init(&p, ev), 0);
	r = fixture_record(&data, 13, "_8 8:2048 4:4096 4:1 4:249 4:8 4:1 2:0 2:0", false);
	assert_non_null(events_of_record(ev, &r));
	event_print(&p, events_of_record(ev, &r), &r, &out);
	assert_string_equal(buf_str(&out), "249");
	event_printer_done(&p);
	events_free(ev);
	buf_free(&data);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_function),	 cmocka_unit_test(test_function_track),
		cmocka_unit_test(test_function_hostile), cmocka_unit_test(test_fgraph),
		cmocka_unit_test(test_blktrace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
