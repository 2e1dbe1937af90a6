// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/script: values, printf() and messages. The texts are bpftrace 0.17's, byte for byte, unless a
 * case says that they are 0.26's.
 */
#include "output_fixture.h"

/* struct { int x; char c[4]; struct { short z; }; unsigned low:3; int high:5; int y[2]; } */
static bool fake_member(const struct types *in, const struct type *t, size_t n, struct member *m);
static bool fake_target(const struct types *in, const struct type *t, struct type *to);
static const struct types fake = {.target = fake_target, .member = fake_member};
static const struct type c_int = {.in = &fake, .kind = TYPE_INTEGER, .size = 4, .is_signed = true};
static const struct type c_char = {
	.in = &fake, .kind = TYPE_INTEGER, .size = 1, .is_signed = true, .is_char = true};
static const struct type c_chars = {
	.in = &fake, .id = 2, .kind = TYPE_ARRAY, .size = 4, .count = 4};
static const struct type c_ints = {.in = &fake, .id = 3, .kind = TYPE_ARRAY, .size = 8, .count = 2};
static const struct type c_inner = {.in = &fake, .id = 4, .kind = TYPE_STRUCT, .size = 4};
static const struct type c_struct = {.in = &fake, .id = 1, .kind = TYPE_STRUCT, .size = 24};

static bool fake_target(const struct types *in, const struct type *t, struct type *to)
{
	*to = t->id == 2 ? c_char : c_int;
	return t->kind == TYPE_ARRAY;
}

static bool fake_member(const struct types *in, const struct type *t, size_t n, struct member *m)
{
	const struct member outer[] = {
		{.name = "x", .offset = 0, .type = c_int},
		{.name = "c", .offset = 4, .type = c_chars},
		{.name = "", .offset = 8, .type = c_inner},
		{.name = "low", .offset = 12, .bits = 3, .type = {.kind = TYPE_INTEGER, .size = 4}},
		{.name = "high", .offset = 12, .bit = 3, .bits = 5, .type = c_int},
		{.name = "y", .offset = 16, .type = c_ints},
	};
	const struct member inner = {
		.name = "z",
		.type = {.in = &fake, .kind = TYPE_INTEGER, .size = 2, .is_signed = true},
	};

	if (t->id == 4 && !n)
		*m = inner;
	else if (t->id == 1 && n < ARRAY_SIZE(outer))
		*m = outer[n];
	else
		return false;
	return true;
}

/* ---- values ---- */

static const struct {
	const struct vtype *type;
	const uint8_t *bytes;
	size_t len;
	const char *text, *json;
} values[] = {
	{&s64, BYTES("\x05\0\0\0\0\0\0\0"), "5", "5"},
	{&s64, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"), "-1", "-1"},
	{&s64, BYTES("\0\0\0\0\0\0\0\x80"), "-9223372036854775808", "-9223372036854775808"},
	{&u64, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff"), "18446744073709551615",
	 "18446744073709551615"},
	{&u8, BYTES("\xc8"), "200", "200"},
	{&s8, BYTES("\xc8"), "-56", "-56"},
	{&s16, BYTES("\xfe\xff"), "-2", "-2"},
	{&s32, BYTES("\xfe\xff\xff\xff"), "-2", "-2"},
	{&boolean, BYTES("\x01"), "true", "true"},
	{&boolean, BYTES("\0"), "false", "false"},
	{&none, BYTES(""), "null", "null"},
	{&pointer, BYTES("\x32\0\0\0\0\0\0\0"), "0x32", "50"},
	{&str16, BYTES("abc\0xxxxxxxxxxxx"), "abc", "\"abc\""},
	{&str16, BYTES("a \"b\"\n\\\x01\0xxxxxxx"), "a \"b\"\n\\\x01",
	 "\"a \\\"b\\\"\\n\\\\\\u0001\""},
	{&str8, BYTES("12345678"), "12345678", "\"12345678\""},
	{&buffer, BYTES("\x05\0\0\0ab\x01\\\x7f"), "ab\\x01\\\\x7f", "\"ab\\\\x01\\\\\\\\x7f\""},
	{&buffer,
	 BYTES("\xff\xff\xff\xff"
	       "12345678"),
	 "12345678", "\"12345678\""},
	{&inet, BYTES("\x04\0\0\0\x7f\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0"), "127.0.0.1",
	 "\"127.0.0.1\""},
	{&inet, BYTES("\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"), "::1", "\"::1\""},
	{&mac, BYTES("\x18\xc0\x4d\x08\x2e\xbb"), "18:C0:4D:08:2E:BB", "\"18:C0:4D:08:2E:BB\""},
	{&ksym, BYTES("\0\0\0\0\0\0\0\0"), "0", "\"0\""},
	{&usym, BYTES("\x05\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"), "0x5", "\"0x5\""},
	{&user, BYTES("\0\0\0\0"), "root", "\"root\""},
	{&user, BYTES("\xfe\xff\xff\x7f"), "", "\"\""},
	{&probe, BYTES("\x01\0\0\0\0\0\0\0"), "kprobe:vfs_read", "\"kprobe:vfs_read\""},
	{&probe, BYTES("\xff\0\0\0\0\0\0\0"), "", "\"\""},
	{&error, BYTES("\x02\0\0\0\0\0\0\0"), "No such file or directory",
	 "\"No such file or directory\""},
	{&error, BYTES("\xd2\x04\0\0\0\0\0\0"), "Unknown error 1234", "\"Unknown error 1234\""},
	{&signal_name, BYTES("\x09\0\0\0\0\0\0\0"), "Killed", "\"Killed\""},
	{&year, BYTES("\x00\xca\x9a\x3b\0\0\0\0"), "1970-01-01 00:00:01.000000",
	 "\"1970-01-01 00:00:01.000000\""},
	{&year, BYTES("\x78\xaa\x9c\x3b\0\0\0\0"), "1970-01-01 00:00:01.000123",
	 "\"1970-01-01 00:00:01.000123\""},
	{&percent, BYTES("\x78\xaa\x9c\x3b\0\0\0\0"), "%f|000123", "\"%f|000123\""},
	{&pair,
	 BYTES("\x01\0\0\0\0\0\0\0"
	       "abc\0\0\0\0\0"),
	 "(1, abc)", "[1,\"abc\"]"},
	{&nest,
	 BYTES("\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"
	       "abc\0\0\0\0\0"),
	 "(2, (1, abc))", "[2,[1,\"abc\"]]"},
	{&record,
	 BYTES("\x01\0\0\0\0\0\0\0"
	       "abc\0\0\0\0\0"),
	 "{ .a = 1, .b = abc }", "{\"a\": 1, \"b\": \"abc\"}"},
	{&kstack, BYTES("\x01\0\0\0\0\0\0\0"), "\n        0xffffffff81000010\n        0x1234\n",
	 "\"\\n        0xffffffff81000010\\n        0x1234\\n\""},
	{&kstack1, BYTES("\x01\0\0\0\0\0\0\0"), "\n        0xffffffff81000010\n",
	 "\"\\n        0xffffffff81000010\\n\""},
	{&kperf, BYTES("\x01\0\0\0\0\0\0\0"),
	 "\n\tffffffff81000010 0xffffffff81000010\n\t1234 0x1234\n",
	 "\"\\n\\tffffffff81000010 0xffffffff81000010\\n\\t1234 0x1234\\n\""},
	{&kraw, BYTES("\x01\0\0\0\0\0\0\0"), "\nffffffff81000010\n1234\n",
	 "\"\\nffffffff81000010\\n1234\\n\""},
	{&kstack, BYTES("\xf2\xff\xff\xff\xff\xff\xff\xff"), "", "\"\""},
	{&kstack, BYTES("\x09\0\0\0\0\0\0\0"), "", "\"\""},
	{&ustack, BYTES("\x01\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0"),
	 "\n        0xffffffff81000010\n        0x1234\n",
	 "\"\\n        0xffffffff81000010\\n        0x1234\\n\""},
	{&uperf, BYTES("\x01\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0"),
	 "\n\tffffffff81000010 0xffffffff81000010 ([unknown])\n\t1234 0x1234 ([unknown])\n",
	 "\"\\n\\tffffffff81000010 0xffffffff81000010 ([unknown])\\n\\t1234 0x1234 "
	 "([unknown])\\n\""},
	{&with_stack, BYTES("\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0"),
	 "(1, \n        0xffffffff81000010\n        0x1234\n)",
	 "[1,\"\\n        0xffffffff81000010\\n        0x1234\\n\"]"},
	{&count, BYTES("\x03\0\0\0\0\0\0\0"), "3", "3"},
	{&stats, BYTES("\x03\0\0\0\0\0\0\0\xfa\xff\xff\xff\xff\xff\xff\xff"),
	 "count 3, average -2, total -6", "{\"count\": 3, \"average\": -2, \"total\": -6}"},
};

static void print_value(struct fixture *f, const struct vtype *t, const uint8_t *bytes, size_t len)
{
	const struct velem arg = {NULL, t, 0};
	const struct action a = {.kind = ACT_PRINT, .args = &arg, .nr_args = 1, .size = t->size};
	uint8_t *copy = exactly(bytes, len);

	assert_true(output_action(&f->o, &a, copy, len));
	free(copy);
}

static void test_values(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		for (int json = 0; json < 2; json++) {
			struct fixture f;
			char want[512];

			setup(&f, json, OUTPUT_0_17);
			print_value(&f, values[i].type, values[i].bytes, values[i].len);
			snprintf(want, sizeof(want),
				 json ? "{\"type\": \"value\", \"data\": %s}\n" : "%s\n",
				 json ? values[i].json : values[i].text);
			expect(&f, want);
			/* A record that ends anywhere is no reason to read beyond it. */
			for (size_t len = 0; len < values[i].len; len++)
				print_value(&f, values[i].type, values[i].bytes, len);
			teardown(&f);
		}
	}
}

static void test_structs(void **state)
{
	static const char bytes[] = "\x07\0\0\0ab\0\0\xfe\xff\0\0\x85\0\0\0\x01\0\0\0\x02\0\0\0";
	const struct vtype t = {.kind = V_STRUCT, .size = 24, .c = c_struct};
	const struct vtype empty = {.kind = V_STRUCT, .c = {.kind = TYPE_STRUCT}};
	const struct vtype ints = {.kind = V_ARRAY, .size = 8, .c = c_ints};
	struct fixture f;

	setup(&f, false, OUTPUT_0_17);
	print_value(&f, &t, BYTES(bytes));
	expect(&f, "{ .x = 7, .c = ab, .z = -2, .low = 5, .high = 16, .y = [1,2] }\n");
	print_value(&f, &empty, BYTES(bytes));
	expect(&f, "{}\n");
	print_value(&f, &ints, BYTES("\x01\0\0\0\xff\xff\xff\xff"));
	expect(&f, "[1,-1]\n");
	for (size_t len = 0; len < sizeof(bytes) - 1; len++)
		print_value(&f, &t, (const uint8_t *)bytes, len);
	teardown(&f);

	setup(&f, true, OUTPUT_0_17);
	print_value(&f, &t, BYTES(bytes));
	expect(&f,
	       "{\"type\": \"value\", \"data\": {\"x\": 7, \"c\": \"ab\", \"z\": -2, \"low\": 5, "
	       "\"high\": 16, \"y\": [1,2]}}\n");
	teardown(&f);
}

/* ---- printf ---- */

struct arg {
	const struct vtype *type;
	uint64_t n;	  /* of a number … */
	const char *text; /* … or the bytes */
};

enum { MAX_ARGS = 8, ARG_ROOM = 32 };

static void run_printf(struct fixture *f, uint32_t number, const char *format,
		       const struct arg *args, size_t cut)
{
	struct velem elems[MAX_ARGS] = {0};
	struct action a = {.kind = ACT_PRINTF, .number = number, .format = format, .args = elems};
	uint8_t bytes[MAX_ARGS * ARG_ROOM] = {0}, *copy;
	size_t len;

	for (; a.nr_args < MAX_ARGS && args[a.nr_args].type; a.nr_args++) {
		const struct arg *arg = &args[a.nr_args];
		uint32_t at = a.nr_args * ARG_ROOM;

		elems[a.nr_args] = (struct velem){NULL, arg->type, at};
		if (arg->text)
			memcpy(bytes + at, arg->text, strlen(arg->text));
		else
			memcpy(bytes + at, &arg->n, sizeof(arg->n));
	}
	len = a.nr_args * ARG_ROOM;
	if (cut < len)
		len = cut;
	copy = exactly(bytes, len);
	assert_true(output_action(&f->o, &a, copy, len));
	free(copy);
}

static const struct {
	const char *format;
	struct arg args[MAX_ARGS];
	const char *text;
	const char *recent; /* in 0.26, where it differs */
} formats[] = {
	{"hi!\n", {{0}}, "hi!\n"},
	{"100%% %d\n", {{&s64, 5}}, "100% 5\n"},
	{"%d %s %d\n", {{&s32, 1}, {&str16, 0, "abc"}, {&s64, (uint64_t)-2}}, "1 abc -2\n"},
	{"%5d|%-5d|%05d|", {{&s64, 5}, {&s64, 5}, {&s64, 5}}, "    5|5    |00005|"},
	{"%x|%X|%o|%u|",
	 {{&s64, 255}, {&s64, 255}, {&s64, 8}, {&s64, (uint64_t)-1}},
	 "ff|FF|10|4294967295|",
	 "ff|FF|10|18446744073709551615|"},
	{"%c|%3c|%-3c|%c|", {{&s64, 65}, {&s64, 66}, {&s64, 67}, {&s64, 0}}, "A|  B|C  ||"},
	{"%p|%p|", {{&s64, 4096}, {&s64, 0}}, "0x1000|(nil)|"},
	{"%s|%10s|%-10s|%.2s|%5.1s|",
	 {{&str16, 0, "abc"},
	  {&str16, 0, "abc"},
	  {&str16, 0, "abc"},
	  {&str16, 0, "abc"},
	  {&str16, 0, "abc"}},
	 "abc|       abc|abc       |ab|    a|"},
	{"%lld %llu %hd %hhd %hhx %ld %zd %jd",
	 {{&s64, (uint64_t)-1},
	  {&s64, (uint64_t)-1},
	  {&s64, 70000},
	  {&s64, 300},
	  {&s64, 300},
	  {&s64, 1ull << 40},
	  {&s64, 4},
	  {&s64, 4}},
	 "-1 18446744073709551615 4464 44 2c 1099511627776 4 4"},
	{"%d|%d|%u|%x|",
	 {{&s64, (uint64_t)-1}, {&s64, 1ull << 40}, {&s64, (uint64_t)-1}, {&s64, (uint64_t)-1}},
	 "-1|0|4294967295|ffffffff|",
	 "-1|1099511627776|18446744073709551615|ffffffff|"},
	{"%x|%u|%d|%ld", {{&u8, 0xff}, {&u8, 0xff}, {&s8, 0xff}, {&s8, 0xff}}, "ff|255|-1|-1"},
	{"%08x|%016lx|%-8lx|%5.3d|%.5d|",
	 {{&s64, 255}, {&s64, 255}, {&s64, 255}, {&s64, 5}, {&s64, 5}},
	 "000000ff|00000000000000ff|ff      |  005|00005|"},
	{"%r|%rx|%rh|%8r|",
	 {{&buffer, 0, "\x04"}, {&buffer, 0, "\x02"}, {&buffer, 0, "\x03"}, {&buffer, 0, "\x01"}},
	 "\\x00\\x00\\x00\\x00|\\x00\\x00|00 00 00|    \\x00|"},
	{"%s %s %s %s",
	 {{&s64, 5}, {&boolean, 1}, {&pointer, 0x32}, {&mac, 0, "\1\2\3\4\5\6"}},
	 "5 true 0x32 01:02:03:04:05:06"},
	{"%d %d %x", {{&boolean, 1}, {&error, 7}, {&pointer, 0xabc}}, "1 7 abc"},
	{"%s|%d", {{&error, 2}, {&str16, 0, "word"}}, "No such file or directory|word"},
	{"[%s]\n", {{&kstack, 1}}, "[\n        0xffffffff81000010\n        0x1234\n]\n"},
	{"[%30s]\n", {{&kstack1, 1}}, "[  \n        0xffffffff81000010\n]\n"},
	{"%gr|%gr|%gr|%gr",
	 {{&u32, 0}, {&u32, 0xcc0}, {&u32, 0xdc0}, {&u32, 0x80000001}},
	 "none|GFP_KERNEL|GFP_KERNEL|__GFP_ZERO|GFP_DMA|0x80000000"},
	/* What is no conversion, or has no argument, is text. */
	{"50%, %d, %y, %", {{&s64, 3}}, "50%, 3, %y, %"},
	{"%d %d\n", {{&s64, 3}}, "3 %d\n"},
};

static void test_printf(void **state)
{
	for (int style = OUTPUT_0_17; style <= OUTPUT_0_26; style++) {
		struct fixture f;

		setup(&f, false, style);
		for (uint32_t i = 0; i < ARRAY_SIZE(formats); i++) {
			const char *want = style == OUTPUT_0_26 && formats[i].recent
						   ? formats[i].recent
						   : formats[i].text;

			run_printf(&f, i, formats[i].format, formats[i].args, SIZE_MAX);
			expect(&f, want);
			for (size_t cut = 0; cut < 100; cut++)
				run_printf(&f, i, formats[i].format, formats[i].args, cut);
			buf_reset(&f.text);
			/* The same again, now that the format is ready. */
			run_printf(&f, i, formats[i].format, formats[i].args, SIZE_MAX);
			expect(&f, want);
		}
		teardown(&f);
	}
}

/* All flags, widths and precisions of numbers: the C library knows. */
static void test_printf_like_c(void **state)
{
	static const char *const flags[] = {"",	  "-",	"+",  " ",  "#", "0",
					    "-+", "0+", "#0", "-#", "0 "};
	static const char *const fields[] = {"", "1", "7", "25", ".0", ".1", ".9", "12.4", "4.12"};
	static const char conversions[] = "diouxX";
	static const uint64_t numbers[] = {
		0,	    1,		8,	    255,       (uint64_t)-1,
		1ull << 31, 1ull << 32, 1ull << 63, 123456789, UINT64_MAX / 3};
	uint32_t number = 0;
	struct fixture f;

	setup(&f, false, OUTPUT_0_17);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(fields); j++) {
			for (const char *c = conversions; *c; c++) {
				char format[32], want[64];

				snprintf(format, sizeof(format), "%%%s%sll%c", flags[i], fields[j],
					 *c);
				for (size_t k = 0; k < ARRAY_SIZE(numbers); k++) {
					struct arg args[MAX_ARGS] = {{&s64, numbers[k]}};

					run_printf(&f, number, format, args, SIZE_MAX);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
					snprintf(want, sizeof(want), format,
						 (unsigned long long)numbers[k]);
#pragma GCC diagnostic pop
					expect(&f, want);
				}
				number++;
			}
		}
	}
	teardown(&f);
}

static void test_truncated(void **state)
{
	const struct vtype whole = {.kind = V_STRING, .size = 8};
	struct arg args[MAX_ARGS] = {{&whole, 0, "1234567"}};
	struct fixture f;

	setup(&f, false, OUTPUT_0_17);
	f.unit.config.max_strlen = 8;
	run_printf(&f, 0, "%s|", args, SIZE_MAX);
	args[0].text = "123456";
	run_printf(&f, 0, "%s|", args, SIZE_MAX);
	print_value(&f, &whole, BYTES("1234567\0"));
	f.unit.config.str_trunc_trailer = "_xxx";
	print_value(&f, &whole, BYTES("1234567\0"));
	/* A shorter kind of string that is full is just that. */
	print_value(&f, &(struct vtype){.kind = V_STRING, .size = 4}, BYTES("123\0"));
	expect(&f, "1234567..|123456|1234567..\n1234567_xxx\n123\n");
	teardown(&f);
}

/* ---- everything else that is told ---- */

static void test_messages(void **state)
{
	static const char words[] = "\x03\0\0\0/bin/echo\0a b\0c\0";
	const struct vtype bytes = {.kind = V_BUFFER, .size = 64};
	const struct velem arg = {NULL, &bytes, 0};
	const struct action join = {.kind = ACT_JOIN, .args = &arg, .nr_args = 1},
			    join_with = {.kind = ACT_JOIN,
					 .args = &arg,
					 .nr_args = 1,
					 .format = ","},
			    now = {.kind = ACT_TIME, .format = "%H:%M:%S %%|\n"},
			    other = {.kind = ACT_EXIT};
	struct fixture f;
	struct buf errors;

	setup(&f, false, OUTPUT_0_17);
	f.o.wall_ns = 3661ll * 1000000000;
	output_attached(&f.o, 1);
	output_attached(&f.o, 2);
	output_lost(&f.o, 7);
	assert_true(output_action(&f.o, &now, "", 0));
	assert_true(output_action(&f.o, &join, words, sizeof(words) - 1));
	assert_true(output_action(&f.o, &join_with, words, sizeof(words) - 1));
	assert_false(output_action(&f.o, &other, "", 0));
	output_end(&f.o);
	expect(&f, "Attaching 1 probe...\nAttaching 2 probes...\nLost 7 events\n01:01:01 %|\n"
		   "/bin/echo a b c\n/bin/echo,a b,c\n\n\n");
	for (size_t len = 0; len < sizeof(words) - 1; len++) {
		uint8_t *copy = exactly((const uint8_t *)words, len);

		assert_true(output_action(&f.o, &join, copy, len));
		free(copy);
	}
	teardown(&f);

	setup(&f, true, OUTPUT_0_17);
	f.o.wall_ns = 3661ll * 1000000000;
	output_attached(&f.o, 1);
	output_lost(&f.o, 7);
	assert_true(output_action(&f.o, &now, "", 0));
	assert_true(output_action(&f.o, &join, words, sizeof(words) - 1));
	output_text(&f.o, "syscall", "a b\n", 4);
	run_printf(&f, 0, "x \"%d\"\t\n", (struct arg[MAX_ARGS]){{&s64, 5}}, SIZE_MAX);
	output_end(&f.o);
	expect(&f, "{\"type\": \"attached_probes\", \"data\": {\"probes\": 1}}\n"
		   "{\"type\": \"lost_events\", \"data\": {\"events\": 7}}\n"
		   "{\"type\": \"time\", \"data\": \"01:01:01 %|\\n\"}\n"
		   "{\"type\": \"join\", \"data\": \"/bin/echo a b c\"}\n"
		   "{\"type\": \"syscall\", \"data\": \"a b\\n\"}\n"
		   "{\"type\": \"printf\", \"data\": \"x \\\"5\\\"\\t\\n\"}\n");
	teardown(&f);

	setup(&f, false, OUTPUT_0_26);
	output_attached(&f.o, 1);
	output_attached(&f.o, 0);
	output_lost(&f.o, 7);
	expect(&f, "Attached 1 probe\nAttached 0 probes\nLost 7 events\n");
	f.o.errors = &errors;
	buf_init(&errors, 1024);
	output_lost(&f.o, 8);
	expect(&f, "");
	assert_string_equal(buf_str(&errors), "Lost 8 events\n");
	buf_free(&errors);
	teardown(&f);

	setup(&f, true, OUTPUT_0_26);
	output_lost(&f.o, 7);
	expect(&f, "{\"type\": \"lost_events\", \"count\": 7, \"data\": {\"events\": 7}}\n");
	teardown(&f);
}

static void test_errorf(void **state)
{
	struct fixture f;
	struct buf errors;
	struct source source;
	static const char script[] = "BEGIN { errorf(\"bad %d\", 10); }";
	const struct velem arg = {NULL, &s64, 0};
	const struct action a = {
		.kind = ACT_ERRORF, .format = "bad %d", .args = &arg, .nr_args = 1, .at = {8, 28}};
	const int64_t ten = 10;

	setup(&f, false, OUTPUT_0_17);
	buf_init(&errors, 4096);
	source_init(&source, &f.unit.arena);
	assert_true(source_add(&source, "stdin", script, strlen(script), (struct span){0, 0}));
	f.o.errors = &errors;
	assert_true(output_action(&f.o, &a, &ten, sizeof(ten)));
	assert_string_equal(buf_str(&errors), "ERROR: bad 10\n");
	buf_reset(&errors);
	f.o.source = &source;
	assert_true(output_action(&f.o, &a, &ten, sizeof(ten)));
	assert_memory_equal(buf_str(&errors), "stdin:1:9-29: ERROR: bad 10\nBEGIN ", 34);
	assert_int_equal(source.errors, 0);
	assert_int_equal(source.messages.len, 0);
	f.o.json = true;
	assert_true(output_action(&f.o, &a, &ten, sizeof(ten)));
	expect(&f, "{\"type\": \"print_error\", \"msg\": \"bad 10\", \"filename\": \"stdin\", "
		   "\"line\": 1, \"col\": 9}\n");
	source_free(&source);
	buf_free(&errors);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),	  cmocka_unit_test(test_structs),
		cmocka_unit_test(test_printf),	  cmocka_unit_test(test_printf_like_c),
		cmocka_unit_test(test_truncated), cmocka_unit_test(test_messages),
		cmocka_unit_test(test_errorf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
