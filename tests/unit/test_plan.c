// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What print formats print, one row a record: the print format, the record (see event_fixture.h)
 * and the text, which is libtraceevent 1.8.4's. Where 1.7.1 prints something else the row says so.
 * With libtraceevent at hand every row is put to it, too.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "event_fixture.h"

#include "event/plan.h"
#include "event/spec.h"
#include "event/tep.h"

struct row {
	const char *fmt; /* the print format and its arguments */
	const char *record;
	const char *text;
	const char *old; /* what 1.7.1 prints; NULL: the same */
	bool raw;	 /* the raw form is meant */
	bool no_judge;	 /* the peer's text depends on memory behind the record, or it crashes */
};

struct table {
	const char *fields;
	bool big_endian;
	unsigned int long_size;
	const struct row *rows;
	size_t nr;
};

#define NUMBERS                                                                                    \
	"u8 b @8:1, s8 c @9:1s, short s @10:2s, int i @12:4s, unsigned int u @16:4, "              \
	"long l @24:8s, unsigned long ul @32:8, void * p @40:8"

/* Widths, precisions, lengths: as printf(), which sees a value of the conversion's size. */
static const struct row numbers[] = {
	{"\"%d %i %u\", REC->i, REC->i, REC->u", "_4 4:-5 4:7", "-5 -5 7"},
	{"\"%d\", REC->b", "1:255", "255"},
	{"\"%d %d\", REC->c, REC->s", "1:0 1:-1 2:-2", "255 65534"},
	{"\"%hhd %hd\", REC->c, REC->s", "1:0 1:-1 2:-2", "-1 -2"},
	{"\"%ld %lld\", REC->i, REC->i", "_4 4:-1", "4294967295 4294967295"},
	{"\"%ld %lu\", REC->l, REC->l", "_16 8:-3", "-3 18446744073709551613"},
	{"\"%d %u\", REC->l, REC->l", "_16 8:0x1ffffffff", "-1 4294967295"},
	{"\"%zd %Ld %Zu\", REC->l, REC->l, REC->l", "_16 8:-3", "-3 -3 18446744073709551613"},
	{"\"%x %X %#x %o %#o\", REC->u, REC->u, REC->u, REC->u, REC->u", "_8 4:0xbeef",
	 "beef BEEF 0xbeef 137357 0137357"},
	{"\"[%5d|%-5d|%05d]\", REC->i, REC->i, REC->i", "_4 4:-42", "[  -42|-42  |-0042]"},
	{"\"[%.3d|%8.3d|%-8.3d]\", REC->i, REC->i, REC->i", "_4 4:7", "[007|     007|007     ]"},
	{"\"[%08lx|%016lx]\", REC->ul, REC->ul", "_24 8:0xabc", "[00000abc|0000000000000abc]"},
	{"\"[%+d]\", REC->i", "_4 4:7", "[+7]", "[>+<d]"},
	{"\"[%*d|%-*d]\", 6, REC->i, REC->b, REC->i", "1:4 _3 4:7", "[     7|7   ]"},
	{"\"%c%c\", REC->b, 66", "1:65", "AB", ">c<>c<"},
	{"\"a%cb\", REC->b", "1:0", "a", "a>c<b"},
	{"\"%td % d %jd\", REC->i", "_4 4:7", ">t<d > <d >j<d"},
	{"\"100%% \\\\ \\n\\t.\"", "", "100% \\ \n\t."},
	{"\"%08#x\", REC->u", "_8 4:1", "%08#x"},
	{"\"%p %p\", REC->p, REC->l", "_32 8:0xffff888000001000", "0xffff888000001000 (nil)"},
	{"\"%5", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%5\", REC->i", "", ""},
};

/* All arithmetic is unsigned, in 64 bits, and groups in ways of its own. */
static const struct row operators[] = {
	{"\"%d\", 7 - 2 - 1", "", "6"},
	{"\"%d\", REC->i - 2 - 1", "_4 4:7", "6"},
	{"\"%d\", 2 * (3 + REC->i)", "_4 4:7", "13"},
	{"\"%d\", REC->i + 2 * 3", "_4 4:7", "13"},
	{"\"%d\", REC->i * 2 + 3", "_4 4:7", "17"},
	{"\"%d %d\", REC->i < 0, REC->i > 0", "_4 4:-1", "0 1"},
	{"\"%d %d\", !REC->i, ~REC->i", "_4 4:1", "0 -2"},
	{"\"%d %d\", -REC->i, +REC->i", "_4 4:5", "-5 5"},
	{"\"%d\", REC->i && REC->u || 0", "_4 4:1 4:2", "1"},
	{"\"%d\", REC->u >> 4 & 0xf", "_8 4:0x123", "2"},
	{"\"%llu\", 1 << 40", "", "1099511627776"},
	{"\"%d\", REC->i ? 10 : 20", "_4 4:1", "10"},
	{"\"%d\", REC->i ? 10 : 20 + 1", "_4 4:1", "11"},
	{"\"%d\", 6 ^ 3", "", "5"},
	{"\"%d\", REC->i ^ 3", "_4 4:6", "0"},
	{"\"%d\", REC->i / REC->u", "_4 4:6 4:0", "0", .no_judge = true},
	{"\"%d\", REC->i % 4", "_4 4:6", "2"},
	{"\"%x %x\", (u8)REC->u, (unsigned short)REC->u", "_8 4:0x12345678", "78 5678"},
	{"\"%llx\", (int)REC->l", "_16 8:-1", "ffffffff"},
	{"\"%llx\", (unsigned long)REC->l", "_16 8:-1", "ffffffffffffffff"},
	{"\"%d %d\", sizeof(int), sizeof(long)", "", "4 8"},
	{"\"%d\", sizeof(u64)", "", "8", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%d\", sizeof(REC->s)", "", "2"},
	{"\"%d\", __builtin_expect(!!(REC->i), 0)", "_4 4:6", "1"},
	{"\"%d\", REC->nothing", "", "0"},
	{"\"%llx\", schedule", "", "ffffffff81001000"},
	{"\"%d\", 'A'", "", "65", "0"},
	{"\"%d %d\", 010, 0x10", "", "8 16"},
};

static const struct row failures[] = {
	{"\"%d\", unknown(REC->i)", "_4 4:6",
	 "[FAILED TO PARSE] b=0 c=0 s= 0 i=6 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%d %d\", REC->i", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%d\", *REC->i", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%d\", REC->", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%d\", (REC->i", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%llld\", REC->i", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"%*.*d\", 1, 2, 3", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"\"tab:\t%d\", REC->i", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
	{"nothing", "", "[FAILED TO PARSE] b=0 c=0 s= 0 i=0 u=0 l=0 ul=0x0 p=0x0"},
};

/* The raw form takes a field's conversion from the print format where it has one. */
static const struct row raw[] = {
	{"\"\"", "1:1 1:-1 2:3 4:-4 4:5 _4 8:-6 8:7 8:8",
	 " b=1 c=-1 s= 3 i=-4 u=5 l=-6 ul=0x7 p=0x8", .raw = true},
	{"\"%x %08x 0x%lx\", REC->b, REC->i, REC->ul", "1:17 _3 4:-4 _16 8:7",
	 " b=11 c=0 s= 0 i=fffffffc u=0 l=0 ul=0x7 p=0x0", .raw = true},
	/* What the print format shows last ends the search for the fields behind it. */
	{"\"%x %x\", REC->u, REC->b", "1:17 _7 4:18", " b=11 c=0 s= 0 i=0 u=18 l=0 ul=0x0 p=0x0",
	 .raw = true},
	{"\"%ps.\", (void *)REC->ul", "_24 8:0xffffffff81001004",
	 " b=0 c=0 s= 0 i=0 u=0 l=0 ul=schedule (0xffffffff81001004) p=0x0",
	 " b=0 c=0 s= 0 i=0 u=0 l=0 ul=schedule p=0x0", .raw = true},
};

/* Numbers that are not in the record count as 0. */
static const struct row short_records[] = {
	{"\"%d %d %d\", REC->b, REC->i, REC->u", "1:1 _3 x0100", "1 0 0"},
	{"\"%d\", REC->b", "", "0"},
};

#define TEXTS                                                                                      \
	"char comm[8] @8:8s, char rest[] @16:0s, unsigned long ul @16:8, const char * kernel "     \
	"@24:8, "                                                                                  \
	"__data_loc char[] name @32:4s, __data_loc u8[] bytes @36:4, __rel_loc char[] rel "        \
	"@40:4s, "                                                                                 \
	"int i @44:4s"
#define TEXT_TAIL "4:0x00050030 4:0x00040038 4:0x00060014 4:3 'eth0':8 x01020aff _4 'later':8"

static const struct row texts[] = {
	{"\"%s\", REC->comm", "'bash':8", "bash"},
	{"\"%s\", REC->comm", "'12345678':8 'x':8", "12345678"},
	{"\"[%10s|%-10s|%.2s]\", REC->comm, REC->comm, REC->comm", "'bash':8",
	 "[      bash|bash      |ba]"},
	{"\"[%*s|%.*s]\", 6, REC->comm, REC->i, REC->comm", "'bash':8 _16 " TEXT_TAIL,
	 "[  bash|bas]"},
	{"\"%s\", REC->rest", "'bash':8 'to the end':12", "to the end"},
	{"\"%s %s\", __get_str(name), __get_rel_str(rel)", "_24 " TEXT_TAIL, "eth0 later"},
	{"\"<%s>\", __get_str(nothing)", "_24 " TEXT_TAIL, "<>"},
	{"\"<%s>\", __get_str(name)", "_24 4:0x00050039 _8", "<>"},
	{"\"<%s>\", (char *)REC->comm", "'bash':8", "<>"},
	{"\"%s\", REC->kernel", "_16 8:0xffffffff82000000", "a string"},
	{"\"%s\", REC->kernel", "_16 8:0xffffffff82000001", "ffffffff82000001"},
	{"\"%s\", \"liter\" \"al\"", "", "literal"},
	{"\"%s\", REC->i ? \"yes\" : \"no\"", "_24 " TEXT_TAIL, "yes"},
	{"\"a\" \"b%d\", REC->i", "_24 " TEXT_TAIL, "ab3"},
	{"\"%d\", __get_dynamic_array_len(name)", "_24 " TEXT_TAIL, "5"},
	{"\"%x\", ((u8 *)__get_dynamic_array(bytes))[3]", "_24 " TEXT_TAIL, "ff"},
	{"\"%c\", REC->comm[1]", "'bash':8", "a", ">c<"},
	{"\"%s\", __print_hex(__get_dynamic_array(bytes), 2)", "_24 " TEXT_TAIL, "01 02"},
	{"\"%s %s\", __print_hex(REC->comm, 3), __print_hex_str(REC->comm, 2)", "'bash':8",
	 "62 61 73 6261"},
	{"\"%s\", __print_array(REC->comm, 4, 2)", "'abcdefg':8", "{0x6261,0x6463,0x6665,0x67}",
	 "25185 25699 26213 103"},
	{"\"%s\", __print_array(REC->comm, 2, 3)", "'abcdefg':8", "{BAD SIZE:3 0x61,0x62}",
	 "BAD SIZE:3 0x61 98"},
	{"\"%s\", __get_bitmask(bytes)", "_28 4:0x00080030 _8 xff01000080000000",
	 "00000080,000001ff"},
	{"\"[%-20s]\", __get_cpumask(bytes)", "_28 4:0x00080030 _8 xff01000080000000",
	 "[0-8,39              ]"},
	{"\"%s\", REC->comm", "'ba':2", "ba"},
};

static const struct row names[] = {
	{"\"%s\", __print_symbolic(REC->i, { 1, \"one\" }, { (1 << 1), \"two\" })", "_36 4:2",
	 "two"},
	{"\"%s\", __print_symbolic(REC->i, { 1, \"one\" })", "_36 4:7", "0x7"},
	{"\"%s\", __print_symbolic(REC->i, { TIMER_SOFTIRQ, \"TIMER\" })", "_36 4:1", "TIMER"},
	{"\"%s\", __print_flags(REC->i, \"|\", { 1, \"A\" }, { 4, \"C\" })", "_36 4:5", "A|C"},
	{"\"%s\", __print_flags(REC->i, \"|\", { 1, \"A\" })", "_36 4:9", "A|0x8"},
	{"\"%s\", __print_flags(REC->i, \"\", { 1, \"A\" }, { 2, \"B\" })", "_36 4:3", "AB"},
	{"\"<%s>\", __print_flags(REC->i, \"|\", { 1, \"A\" })", "_36 4:0", "<>"},
	{"\"%s\", __print_flags(REC->i, \"|\", { 3, \"AB\" }, { 1, \"A\" })", "_36 4:1", "A"},
	{"\"%s\", REC->i ? __print_flags(REC->i, \"|\", { 1, \"A\" }) : \"none\"", "_36 4:0",
	 "none"},
	{"\"[%4s]\", __print_flags(REC->i, \"|\", { 1, \"A\" }, { 2, \"B\" })", "_36 4:3",
	 "[   A|   B]"},
};

#define POINTERS                                                                                   \
	"unsigned long ip @8:8, u8 mac[6] @16:6, u8 v4[4] @24:4, u8 v6[16] @32:16, "               \
	"__data_loc u8[] addr @48:4, u16 port @52:2"

static const struct row pointers[] = {
	{"\"%pS %ps %pF %pf\", REC->ip, (void *)REC->ip, REC->ip, REC->ip", "8:0xffffffff81001010",
	 "schedule+0x10 schedule schedule+0x10 schedule"},
	{"\"%pS\", REC->ip", "8:0x10", "0x10"},
	{"\"%pK %px %pB\", REC->ip, REC->ip, REC->ip", "8:0x10", "0x10K 0x10x 0x10B"},
	{"\"%pM %pm %pMF %pMR\", REC->mac, REC->mac, REC->mac, REC->mac", "_8 x010203040a0b",
	 "01:02:03:04:0a:0b 010203040a0b 01-02-03-04-0a-0b 0b:0a:04:03:02:01"},
	{"\"%pM\", REC->v4", "", "INVALIDMAC"},
	{"\"%pM\", 1 + 2", "", "ARG TYPE NOT FIELD BUT 1"},
	{"\"%pI4 %pi4 %pI4h\", REC->v4, REC->v4, REC->v4", "_16 xc0000201",
	 "192.0.2.1 192.000.002.001 1.2.0.192"},
	{"\"%pI6 %pi6\", REC->v6, REC->v6", "_24 x20010db8000000000000000000000001",
	 "2001:0db8:0000:0000:0000:0000:0000:0001 20010db8000000000000000000000001"},
	{"\"%pI6c\", REC->v6", "_24 x20010db8000000000000000000000001", "2001:db8::1"},
	{"\"%pI6c\", REC->v6", "_24 x00000000000000000000ffffc0000201", "::ffff:192.0.2.1"},
	{"\"%pI6c\", REC->v6", "_40", "::"},
	{"\"%pU %pUL\", REC->v6, REC->v6", "_24 x000102030405060708090a0b0c0d0e0f",
	 "00010203-0405-0607-0809-0a0b0c0d0e0f 03020100-0504-0706-0809-0A0B0C0D0E0F"},
	{"\"%pISpc\", __get_sockaddr(addr)", "_40 4:0x00100038 _4 x02000050c0000201 _8",
	 "192.0.2.1:80"},
	{"\"%pISpc\", __get_sockaddr(addr)",
	 "_40 4:0x001c0038 _4 x0a000050 _4 x20010db8000000000000000000000001 _4",
	 "[2001:db8::1]:80"},
	{"\"%pIS\", __get_sockaddr(addr)", "_40 4:0x00040038 _4 x02000050", "INVALIDIPv4"},
	{"\"%*ph %*phN\", 3, __get_dynamic_array(addr), 9, __get_dynamic_array(addr)",
	 "_40 4:0x00040038 _4 x0a0b0c0d", "0a 0b 0c 0a0b0c0d"},
};

static const struct row big_endian[] = {
	{"\"%d %u %x %llx\", REC->i, REC->u, (u8)REC->u, REC->ul",
	 "_4 4:-5 4:0x11223344 _12 8:0x1122334455667788", "-5 287454020 44 1122334455667788"},
	{"\"%hd %hhx\", REC->i, REC->i", "_4 4:0x1234abcd", "-21555 cd"},
};

static const struct row long_of_4[] = {
	{"\"%ld %lu %lx\", REC->l, REC->l, REC->l", "4:-1", "4294967295 4294967295 ffffffff"},
	{"\"%d\", REC->l", "4:-1", "-1"},
	{"\"%d\", sizeof(long)", "", "4"},
	{"\"%s\", REC->s", "_4 4:0x82000000", "short string"},
	{"\"%lx\", REC->a[1]", "_8 4:1 4:2", "2"},
	{"\"\"", "4:-1 4:1 4:2 4:3", " l=0xffffffff s=0x1 a=ARRAY[02, 00, 00, 00, 03, 00, 00, 00]",
	 .raw = true},
};

#define TABLE(f, r, ...)                                                                           \
	{                                                                                          \
		.fields = f, .rows = r, .nr = sizeof(r) / sizeof(r[0]), __VA_ARGS__                \
	}

static const struct table tables[] = {
	TABLE(NUMBERS, numbers),
	TABLE(NUMBERS, operators),
	TABLE(NUMBERS, failures),
	TABLE(NUMBERS, raw),
	TABLE(NUMBERS, short_records),
	TABLE(TEXTS, texts),
	TABLE(TEXTS, names),
	TABLE(POINTERS, pointers),
	TABLE(NUMBERS, big_endian, .big_endian = true),
	TABLE("long l @8:4s, const char * s @12:4, long a[2] @16:8s", long_of_4, .long_size = 4),
};

static const char printk_text[] = "0xffffffff82000000 : \"a string\"\n"
				  "0x82000000 : \"short string\"\n";

static struct events *events_of_row(const struct table *t, const struct row *row,
				    enum event_compat compat)
{
	struct events *ev = fixture_events(t->big_endian, t->long_size ? t->long_size : 8);

	ev->compat = compat;
	printk_formats_add(ev->printk, printk_text, sizeof(printk_text) - 1);
	fixture_add(ev, "spur", "row", 1, t->fields, row->fmt);
	assert_int_equal(events_seal(ev), 0);
	return ev;
}

/* All wrong rows are shown before the test fails. */
static unsigned int mistakes;

static void check_text(const struct row *row, const char *who, struct buf *out, const char *want)
{
	if (!strcmp(buf_str(out), want))
		return;
	print_error("%s: %s <- %s\n  got:  '%s'\n  want: '%s'\n", who, row->fmt, row->record,
		    buf_str(out), want);
	mistakes++;
}

/* libtraceevent's own use of freed memory would end a sanitized test. */
#ifdef __SANITIZE_ADDRESS__
#define JUDGE false
#else
#define JUDGE true
#endif

static void judge(struct events *ev, const struct row *row, const char *printk,
		  const struct spur_record *r, const char *want)
{
	struct tep_options opt = {
		.kallsyms = fixture_kallsyms,
		.kallsyms_len = sizeof(fixture_kallsyms) - 1,
		.printk = printk,
		.printk_len = strlen(printk),
		.refused = true,
	};
	struct tep_bridge *b;
	struct buf out;

	if (tep_bridge_new(ev, &opt, &b, NULL) < 0)
		return;
	buf_init(&out, 1 << 20);
	tep_bridge_print(b, ev->list[0], r, row->raw, &out);
	check_text(row, "libtraceevent", &out, want);
	buf_free(&out);
	tep_bridge_free(b);
}

static void check_row(const struct table *t, const struct row *row, enum event_compat compat)
{
	const char *want = compat == COMPAT_31 && row->old ? row->old : row->text;
	struct events *ev = events_of_row(t, row, compat);
	struct event_printer printer;
	struct spur_record r;
	struct buf data, out;

	buf_init(&data, 1 << 16);
	buf_init(&out, 1 << 20);
	assert_int_equal(event_printer_init(&printer, ev), 0);
	printer.raw = row->raw;
	r = fixture_record(&data, 1, row->record, t->big_endian);
	event_print(&printer, ev->list[0], &r, &out);
	check_text(row, "spur", &out, want);
	if (JUDGE && compat == tep_compat() && !row->no_judge)
		judge(ev, row, printk_text, &r, want);
	event_printer_done(&printer);
	buf_free(&data);
	buf_free(&out);
	events_free(ev);
}

static void test_rows(void **state)
{
	mistakes = 0;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (size_t k = 0; k < tables[i].nr; k++) {
			check_row(&tables[i], &tables[i].rows[k], COMPAT_34);
			check_row(&tables[i], &tables[i].rows[k], COMPAT_31);
		}
	assert_int_equal(mistakes, 0);
}

/* ---- trace_printk() ---------------------------------------------------------------------- */

#define PRINTK_FIELDS "unsigned long ip @8:8, const char * fmt @16:8, u32 buf[] @24:0"

static const struct {
	const char *fmt;  /* as printk_formats has it */
	const char *args; /* the words behind the address of the format */
	const char *text;
} printks[] = {
	{"no arguments\\n", "", "no arguments"},
	{"x=%d y=%u", "4:-1 4:2", "x=-1 y=2"},
	{"%ld %lx %lld", "8:-1 8:255 8:7", "-1 ff 7"},
	{"%s and %s", "x666f6f00 x62617200", "foo and bar"},
	{"%s %d", "x666f6f6f00 _3 4:5", "fooo 5"},
	{"%*d|", "4:4 4:7", "   7|"},
	{"%08x %#lx", "4:255 8:16", "000000ff 0x10"},
	{"%pS %ps", "8:0xffffffff81001004 8:0xffffffff81002004", "schedule+0x4 do_wait"},
	{"%p", "8:0", "(nil)"},
	{"%pI4 %d", "x312e322e332e3400 4:5", "1.2.3.4 5"},
	{"50%% \\\\ \\t.", "4:0", "50% \\ \t."},
	/* The reading that collects the arguments does not know these. */
	{"%-5d|", "4:7", "d|"},
	{"%hd|", "4:7", "d|"},
	{"%d|%d", "4:7", "7|d"},
	{"%-5d|%d|", "4:7 4:8", "7    |d|"},
	{"%*d|", "4:5", "    0|"},
};

static void check_printk(const char *fmt, const char *args, const char *text)
{
	struct row row = {.fmt = fmt, .record = args, .text = text};
	struct events *ev = fixture_events(false, 8);
	struct event_printer printer;
	struct spur_record r;
	struct buf formats, data, line, out, want;

	buf_init(&formats, 1 << 16);
	buf_init(&data, 1 << 16);
	buf_init(&line, 1 << 16);
	buf_init(&out, 1 << 16);
	buf_init(&want, 1 << 16);
	buf_printf(&formats, "0xffffffff82000000 : \"%s\"\n", fmt);
	printk_formats_add(ev->printk, formats.data, formats.len);
	fixture_add(ev, "ftrace", "bprint", 1, PRINTK_FIELDS,
		    "\"%ps: %s\", (void *)REC->ip, REC->fmt");
	assert_int_equal(events_seal(ev), 0);
	buf_printf(&want, "vfs_read: %s", text);
	buf_printf(&line, "8:0xffffffff81003000 8:0xffffffff82000000 %s", args);
	assert_int_equal(event_printer_init(&printer, ev), 0);
	r = fixture_record(&data, 1, buf_str(&line), false);
	event_print(&printer, ev->list[0], &r, &out);
	check_text(&row, "spur", &out, buf_str(&want));
	if (JUDGE)
		judge(ev, &row, buf_str(&formats), &r, buf_str(&want));
	event_printer_done(&printer);
	buf_free(&formats);
	buf_free(&data);
	buf_free(&line);
	buf_free(&out);
	buf_free(&want);
	events_free(ev);
}

static void test_printk(void **state)
{
	mistakes = 0;
	for (size_t i = 0; i < sizeof(printks) / sizeof(printks[0]); i++)
		check_printk(printks[i].fmt, printks[i].args, printks[i].text);
	assert_int_equal(mistakes, 0);
}

/* ---- conversions against the C library --------------------------------------------------- */

static void compare_conversion(const char *format, uint64_t value)
{
	size_t used, letter;
	struct spec s;
	struct buf out;
	char want[256];

	buf_init(&out, 1 << 16);
	assert_int_equal(spec_read(format, false, &s, &used, &letter), SPEC_CONVERSION);
	assert_int_equal(used, strlen(format));
	spec_number(&out, &s, -1, value);
	snprintf(want, sizeof(want), format, (unsigned long long)value);
	if (strcmp(buf_str(&out), want) != 0)
		fail_msg("%s of %#llx: '%s', want '%s'", format, (unsigned long long)value,
			 buf_str(&out), want);
	buf_free(&out);
}

static void test_conversions(void **state)
{
	static const char *const flags[] = {"", "-", "0", "#", "+", "-0", "#0", "+0", "-#", "-+#0"};
	static const char *const widths[] = {"", "1", "5", "12", "24"};
	static const char *const precisions[] = {"", ".", ".0", ".1", ".7", ".20"};
	static const char *const lengths[] = {"hh", "h", "", "l", "ll", "z"};
	static const uint64_t values[] = {
		0,
		1,
		7,
		9,
		10,
		99,
		100,
		255,
		0x7f,
		0x80,
		0x8000,
		0xffff,
		12345,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x123456789abcdef0,
		INT64_MAX,
		1ull << 63,
		UINT64_MAX,
	};
	char format[32];

	for (const char *conv = "duxXoi"; *conv; conv++)
		for (size_t f = 0; f < 10; f++)
			for (size_t w = 0; w < 5; w++)
				for (size_t p = 0; p < 6; p++)
					for (size_t l = 0; l < 6; l++) {
						snprintf(format, sizeof(format), "%%%s%s%s%s%c",
							 flags[f], widths[w], precisions[p],
							 lengths[l], *conv);
						for (size_t v = 0; v < 20; v++)
							compare_conversion(format, values[v]);
					}
}

/* ---- limits ------------------------------------------------------------------------------ */

static size_t printed_size(const char *fields, const char *fmt, const char *record)
{
	struct events *ev = fixture_events(false, 8);
	struct event_printer printer;
	struct spur_record r;
	struct buf data, out;
	size_t len;

	buf_init(&data, 1 << 16);
	buf_init(&out, 1 << 28);
	fixture_add(ev, "spur", "row", 1, fields, fmt);
	assert_int_equal(events_seal(ev), 0);
	assert_int_equal(event_printer_init(&printer, ev), 0);
	r = fixture_record(&data, 1, record, false);
	event_print(&printer, ev->list[0], &r, &out);
	len = out.len;
	event_printer_done(&printer);
	buf_free(&data);
	buf_free(&out);
	events_free(ev);
	return len;
}

static void test_widths_are_bounded(void **state)
{
	assert_int_equal(printed_size(NUMBERS, "\"%999999999d\", REC->i", ""), SPEC_MAX_WIDTH);
	assert_int_equal(printed_size(NUMBERS, "\"%.999999999d\", REC->i", ""), SPEC_MAX_WIDTH);
	assert_int_equal(printed_size(NUMBERS, "\"%*d\", 2147483647, REC->i", ""), SPEC_MAX_WIDTH);
	assert_int_equal(printed_size(TEXTS, "\"%-100000s\", REC->comm", ""), SPEC_MAX_WIDTH);
}

static void test_text_is_bounded(void **state)
{
	struct buf fmt;

	buf_init(&fmt, 1 << 20);
	buf_puts(&fmt, "\"");
	for (int i = 0; i < 1000; i++)
		buf_puts(&fmt, "%60000d");
	buf_puts(&fmt, "\"");
	for (int i = 0; i < 1000; i++)
		buf_puts(&fmt, ", REC->i");
	assert_in_range(printed_size(NUMBERS, buf_str(&fmt), ""), PLAN_MAX_TEXT,
			PLAN_MAX_TEXT + 65536);
	buf_free(&fmt);
}

/* Names padded one by one must not escape the limit either. */
static void test_flags_are_bounded(void **state)
{
	struct buf fmt;

	buf_init(&fmt, 1 << 20);
	buf_puts(&fmt, "\"%60000s\", __print_flags(REC->ul, \"|\"");
	for (int i = 0; i < 63; i++)
		buf_printf(&fmt, ", { 1ULL << %d, \"x\" }", i);
	buf_puts(&fmt, ")");
	assert_in_range(printed_size(NUMBERS, buf_str(&fmt), "_24 8:-1"), PLAN_MAX_TEXT,
			PLAN_MAX_TEXT + 65536);
	buf_free(&fmt);
}

static void test_depth_is_bounded(void **state)
{
	static const char failed[] = "[FAILED TO PARSE]";
	struct buf fmt;

	buf_init(&fmt, 1 << 20);
	buf_puts(&fmt, "\"%d\", ");
	buf_fill(&fmt, '(', 10000);
	buf_puts(&fmt, "1");
	buf_fill(&fmt, ')', 10000);
	assert_true(printed_size(NUMBERS, buf_str(&fmt), "") > strlen(failed));
	buf_free(&fmt);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_printk),
		cmocka_unit_test(test_conversions),
		cmocka_unit_test(test_widths_are_bounded),
		cmocka_unit_test(test_text_is_bounded),
		cmocka_unit_test(test_flags_are_bounded),
		cmocka_unit_test(test_depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
