// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Format files: what their lines say about fields, what makes an event unusable, and how the
 * registry finds events.
 */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "event_fixture.h"

#include "event/format.h"

/* ---- fields ------------------------------------------------------------------------------ */

static const struct {
	const char *line; /* behind "field:" */
	const char *type, *name;
	uint32_t offset, size, elem_size, array_len;
	uint32_t flags;
} fields[] = {
	{"int pid;\toffset:8;\tsize:4;\tsigned:1;", "int", "pid", 8, 4, 4, 0, FIELD_SIGNED},
	{"unsigned long addr;\toffset:8;\tsize:8;\tsigned:0;", "unsigned long", "addr", 8, 8, 8, 0,
	 FIELD_LONG},
	{"char comm[16];\toffset:8;\tsize:16;\tsigned:1;", "char[16]", "comm", 8, 16, 1, 16,
	 FIELD_ARRAY | FIELD_STRING | FIELD_SIGNED},
	{"char comm[TASK_COMM_LEN];\toffset:8;\tsize:16;\tsigned:1;", "char[TASK_COMM_LEN]", "comm",
	 8, 16, 1, 0, FIELD_ARRAY | FIELD_STRING | FIELD_SIGNED},
	{"const char * name;\toffset:8;\tsize:8;\tsigned:0;", "const char *", "name", 8, 8, 8, 0,
	 FIELD_POINTER},
	{"unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;", "unsigned long[6]", "args", 16,
	 48, 8, 6, FIELD_ARRAY | FIELD_LONG},
	{"__data_loc char[] name;\toffset:8;\tsize:4;\tsigned:1;", "__data_loc char[]", "name", 8,
	 4, 1, 0, FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC | FIELD_SIGNED},
	{"__data_loc u32[] ids;\toffset:8;\tsize:4;\tsigned:0;", "__data_loc u32[]", "ids", 8, 4, 4,
	 0, FIELD_ARRAY | FIELD_DYNAMIC},
	{"__rel_loc char[] name;\toffset:8;\tsize:4;\tsigned:1;", "__rel_loc char[]", "name", 8, 4,
	 1, 0, FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC | FIELD_RELATIVE | FIELD_SIGNED},
	{"__data_loc char name;\toffset:8;\tsize:2;\tsigned:0;", "__data_loc char", "name", 8, 2, 0,
	 0, FIELD_ARRAY | FIELD_STRING | FIELD_DYNAMIC},
	{"struct foo * x;\toffset:8;\tsize:8;\tsigned:0;", "struct foo *", "x", 8, 8, 8, 0,
	 FIELD_POINTER},
	{"char __attribute__((user)) * p;\toffset:8;\tsize:8;\tsigned:0;",
	 "char __attribute__((user)) *", "p", 8, 8, 8, 0, FIELD_POINTER},
	{"u8 mac[(2) * 3];\toffset:8;\tsize:6;\tsigned:0;", "u8[(2)*3]", "mac", 8, 6, 2, 3,
	 FIELD_ARRAY | FIELD_STRING},
	{"int old;\toffset:8;\tsize:4;", "int", "old", 8, 4, 4, 0, 0},
	{"int far;\toffset:99999999999;\tsize:4;\tsigned:0;", "int", "far", 0x7fffffff, 4, 4, 0, 0},
};

static void test_fields(void **state)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		struct events *ev = fixture_events(false, 8);
		const struct event_field *f;
		char text[512];
		int n = snprintf(text, sizeof(text),
				 "name: x\nID: 7\nformat:\n\tfield:unsigned short common_type;\t"
				 "offset:0;\tsize:2;\tsigned:0;\n\n\tfield:%s\n\nprint fmt: \"\"\n",
				 fields[i].line);

		assert_int_equal(events_add(ev, "spur", text, (size_t)n, NULL), 0);
		assert_int_equal(event_ready(ev->list[0]), EVENT_READY);
		assert_int_equal(ev->list[0]->nr_common, 1);
		assert_int_equal(ev->list[0]->nr_fields, 2);
		f = event_field_find(ev->list[0], fields[i].name);
		assert_non_null(f);
		assert_string_equal(f->type, fields[i].type);
		assert_int_equal(f->offset, fields[i].offset);
		assert_int_equal(f->size, fields[i].size);
		assert_int_equal(f->elem_size, fields[i].elem_size);
		assert_int_equal(f->array_len, fields[i].array_len);
		assert_int_equal(f->flags, fields[i].flags);
		events_free(ev);
	}
}

/* ---- whole formats ----------------------------------------------------------------------- */

#define HEAD   "name: x\nID: 7\n"
#define COMMON "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
#define OWN    "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"

static const struct {
	const char *text;
	int added; /* what events_add() says */
	enum event_state state;
} formats[] = {
	{HEAD "format:\n" COMMON "\n" OWN "\nprint fmt: \"%d\", REC->a\n", 0, EVENT_READY},
	{HEAD "format:\n" COMMON "\n" OWN "\nprint fmt: \"%d\", REC->a", 0, EVENT_READY},
	{HEAD "format:\n" COMMON "\n\nprint fmt: \"\"\n", 0, EVENT_READY},
	{HEAD "format:\n" COMMON "\n" OWN "\nprint fmt: \"%d\"\n", 0, EVENT_FIELDS_ONLY},
	{HEAD "format:\n" COMMON "\n" OWN "\n", 0, EVENT_FIELDS_ONLY},
	{HEAD "format:\n" COMMON "\n" OWN, 0, EVENT_BROKEN},
	{HEAD "format:\n" COMMON, 0, EVENT_BROKEN},
	{HEAD "format:\n" COMMON "\n\tfield:int;\toffset:8;\tsize:4;\tsigned:1;\n\n", 0,
	 EVENT_BROKEN},
	{HEAD "format:\n" COMMON "\n\tfield:int a[2][2];\toffset:8;\tsize:16;\tsigned:1;\n\n", 0,
	 EVENT_BROKEN},
	{HEAD "format:\n" COMMON "\n\tfield:int a;\tsize:4;\n\n", 0, EVENT_BROKEN},
	{HEAD, 0, EVENT_BROKEN},
	{"name: x\n", -EBADMSG, EVENT_BROKEN},
	{"ID: 7\nname: x\n", -EBADMSG, EVENT_BROKEN},
	{"", -EBADMSG, EVENT_BROKEN},
	{"name: \xff\nID: 7\n", -EBADMSG, EVENT_BROKEN},
};

static void test_formats(void **state)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct events *ev = fixture_events(false, 8);
		int rc = events_add(ev, "spur", formats[i].text, strlen(formats[i].text), NULL);

		assert_int_equal(rc, formats[i].added);
		if (!rc && event_ready(ev->list[0]) != formats[i].state)
			fail_msg("format %zu: state %d: %s", i, (int)ev->list[0]->state,
				 formats[i].text);
		events_free(ev);
	}
}

/* Every cut of a format must be survived; the text is not NUL-terminated. */
static void test_cut_formats(void **state)
{
	static const char text[] = HEAD
		"format:\n" COMMON "\n" OWN "\tfield:char __attribute__((user)) b[4];\toffset:12;"
		"\tsize:4;\tsigned:0;\n\nprint fmt: \"%d %s\" \" %lx\", (u32)REC->a[1] ? 1 : 2, "
		"__print_flags(REC->a, \"|\", { (1 << 2), \"x\" }), sizeof(long)\n";

	for (size_t len = 0; len < sizeof(text); len++) {
		struct events *ev = fixture_events(false, 8);
		char *copy = malloc(len ? len : 1);

		assert_non_null(copy);
		memcpy(copy, text, len);
		if (events_add(ev, "spur", copy, len, NULL) == 0)
			event_ready(ev->list[0]);
		events_free(ev);
		free(copy);
	}
}

/* ---- the registry ------------------------------------------------------------------------ */

static void test_registry(void **state)
{
	struct events *ev = fixture_events(false, 8);
	struct buf data;
	struct spur_record r;

	buf_init(&data, 1 << 16);
	fixture_add(ev, "sched", "switch", 300, "int a @8:4s", "\"%d\", REC->a");
	fixture_add(ev, "irq", "switch", 70000, "int a @8:4s", "\"%d\", REC->a");
	fixture_add(ev, "irq", "entry", 5, "int a @8:4s", "\"%d\", REC->a");
	assert_int_equal(events_seal(ev), 0);

	assert_ptr_equal(events_find(ev, "irq", "switch"), ev->list[1]);
	assert_ptr_equal(events_find(ev, NULL, "switch"), ev->list[0]);
	assert_null(events_find(ev, "irq", "nothing"));
	assert_ptr_equal(events_by_id(ev, 300), ev->list[0]);
	assert_ptr_equal(events_by_id(ev, 70000), ev->list[1]);
	assert_null(events_by_id(ev, 6));
	assert_null(events_by_id(ev, -1));

	r = fixture_record(&data, 5, "4:1", false);
	assert_ptr_equal(events_of_record(ev, &r), ev->list[2]);
	assert_int_equal(events_record_pid(ev, &r), FIXTURE_PID);
	r.size = 1;
	assert_null(events_of_record(ev, &r));
	buf_free(&data);
	events_free(ev);
}

static void test_values(void **state)
{
	struct events *ev = fixture_events(true, 8);
	struct event *e;
	struct spur_record r;
	struct buf data;
	uint64_t v;
	size_t size;

	buf_init(&data, 1 << 16);
	fixture_add(ev, "spur", "x", 1,
		    "s16 s @8:2s, u16 u @10:2, __data_loc char[] name @12:4s, char odd[3] @16:3s",
		    "\"\"");
	events_seal(ev);
	e = ev->list[0];
	r = fixture_record(&data, 1, "2:-2 2:-2 4:0x00040013 x616263 x64656600", true);
	assert_true(field_number(ev, event_field_find(e, "s"), &r, &v));
	assert_int_equal(v, -2);
	assert_true(field_number(ev, event_field_find(e, "u"), &r, &v));
	assert_int_equal(v, 65534);
	assert_false(field_number(ev, event_field_find(e, "odd"), &r, &v));
	assert_memory_equal(field_bytes(ev, event_field_find(e, "name"), &r, &size), "def", 4);
	assert_int_equal(size, 4);
	assert_memory_equal(field_bytes(ev, event_field_find(e, "odd"), &r, &size), "abc", 3);
	assert_int_equal(size, 3);
	r.size = 17;
	assert_non_null(field_bytes(ev, event_field_find(e, "odd"), &r, &size));
	assert_int_equal(size, 1);
	r.size = 10;
	assert_false(field_number(ev, event_field_find(e, "u"), &r, &v));
	assert_null(field_bytes(ev, event_field_find(e, "odd"), &r, &size));
	buf_free(&data);
	events_free(ev);
}

/* ---- tokens ------------------------------------------------------------------------------ */

static const struct {
	const char *text;
	const char *tokens; /* kind and text of each, separated by spaces */
} lines[] = {
	{"a->b_1", "W:a O:-> W:b_1"},
	{"x>>=1<<2", "W:x O:>>= W:1 O:<< W:2"},
	{"!a&&b||~c", "O:! W:a O:&& W:b O:|| O:~ W:c"},
	{"f(a,b)", "W:f D:( W:a D:, W:b D:)"},
	{"\"a\\\"b\"", "S:a\\\"b"},
	{"\"a\"\n \"b\"", "S:ab"},
	{"'x'", "C:x"},
	{"a\nb", "W:a N:\n W:b"},
	{"STA_PR_FMT", "S: sta:%pM"},
	{"a \x01 b", "W:a"},
	{"\"open", ""},
};

static void test_tokens(void **state)
{
	static const char kinds[] = "-NODWSC";

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct arena arena;
		struct format_lexer l = {lines[i].text, lines[i].text + strlen(lines[i].text),
					 &arena};
		struct format_token t;
		struct buf got;

		arena_init(&arena, 1 << 16);
		buf_init(&got, 1 << 16);
		for (t = lexer_next(&l); t.kind != TOKEN_END; t = lexer_next(&l))
			buf_printf(&got, "%s%c:%.*s", got.len ? " " : "", kinds[t.kind], (int)t.len,
				   t.text);
		assert_string_equal(buf_str(&got), lines[i].tokens);
		buf_free(&got);
		arena_free(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	    cmocka_unit_test(test_formats),
		cmocka_unit_test(test_cut_formats), cmocka_unit_test(test_registry),
		cmocka_unit_test(test_values),	    cmocka_unit_test(test_tokens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
