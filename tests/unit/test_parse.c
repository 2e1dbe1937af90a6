// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From text to tree. A case is a piece of a script and what ast_dump() makes of it: expressions
 * with all their brackets, statements one a line.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "parse_fixture.h"

/* ---- expressions ---- */

static const struct {
	const char *text, *dump;
} expressions[] = {
	/* numbers */
	{"0", "0"},
	{"017", "15"},
	{"0x1F", "31"},
	{"0XfF", "255"},
	{"0b101", "5"},
	{"1e6", "1000000"},
	{"2E3", "2000"},
	{"0e99", "0"},
	{"1_000_123", "1000123"},
	{"1_0e1_0", "100000000000"},
	{"123UL", "123"},
	{"1u + 2l + 3ll + 4ULL + 5llu", "((((1 + 2) + 3) + 4) + 5)"},
	{"9223372036854775807", "9223372036854775807"},
	{"9223372036854775808", "9223372036854775808"},
	{"0xffffffffffffffff", "18446744073709551615"},
	{"3ns", "3"},
	{"5us", "5000"},
	{"10ms", "10000000"},
	{"1s", "1000000000"},
	{"1m", "60000000000"},
	{"2h", "7200000000000"},
	{"1d", "86400000000000"},
	{"true", "true"},
	{"false", "false"},

	/* strings */
	{"\"\"", "\"\""},
	{"\"a\\tb\\n\"", "\"a\\tb\\n\""},
	{"\"\\\"\\\\\"", "\"\\\"\\\\\""},
	{"\"\\x41\\X4a\\101\\0\"", "\"AJA\\x00\""},
	{"\"\\033[31m\\e\\r\\xg\"", NULL},
	{"\"\\033[31m\\e\\r\"", "\"\\x1b[31m\\x1b\\x0d\""},
	{"\"// no /* comment\"", "\"// no /* comment\""},
	{"\"\xc3\xa4\"", "\"\\xc3\\xa4\""},

	/* names */
	{"pid", "pid"},
	{"$x", "$x"},
	{"@", "@"},
	{"@x", "@x"},
	{"@x[1]", "@x[1]"},
	{"@[pid, comm, (1, 2)]", "@[pid, comm, tuple(1, 2)]"},
	{"@x [1]", "@x[1]"},
	{"$1 + $0 + $# + $12", "((($1 + $0) + $#) + $12)"},
	{"f()", "f()"},
	{"f (1, g(2), \"a\")", "f(1, g(2), \"a\")"},
	{"kstack(perf, 3)", "kstack(perf, 3)"},
	{"container_of($p, struct foo, a.b)", "container_of($p, type(struct foo), a.b)"},
	{"typeinfo(uint8 *)", "typeinfo(type(uint8 *))"},
	{"typeinfo($x)", "typeinfo($x)"},
	{"comptime (1 + 2)", "(1 + 2)"},

	/* precedence */
	{"1 + 2 * 3", "(1 + (2 * 3))"},
	{"(1 + 2) * 3", "((1 + 2) * 3)"},
	{"1 - 2 - 3", "((1 - 2) - 3)"},
	{"8 / 4 / 2 % 3", "(((8 / 4) / 2) % 3)"},
	{"1 << 2 + 3 >> 4", "((1 << (2 + 3)) >> 4)"},
	{"1 < 2 == 3 > 4", "((1 < 2) == (3 > 4))"},
	{"1 <= 2 != 3 >= 4", "((1 <= 2) != (3 >= 4))"},
	{"1 & 2 == 3", "(1 & (2 == 3))"},
	{"1 | 2 ^ 3 & 4", "(1 | (2 ^ (3 & 4)))"},
	{"1 || 2 && 3 | 4", "(1 || (2 && (3 | 4)))"},
	{"a && b || c && d", "((a && b) || (c && d))"},
	{"!a == b", "((!a) == b)"},
	{"-1 - -2", "((-1) - (-2))"},
	{"~0 & !1", "((~0) & (!1))"},
	{"*@x + 1", "((*@x) + 1)"},
	{"*@x**@y", "((*@x) * (*@y))"},
	{"*$x.y", "(*$x.y)"},
	{"&$x", "(&$x)"},
	{"&@m", "(&@m)"},
	{"a ? b : c", "(a ? b : c)"},
	{"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
	{"a ? b ? 1 : 2 : 3", "(a ? (b ? 1 : 2) : 3)"},
	{"a < b ? c + 1 : d", "((a < b) ? (c + 1) : d)"},
	{"a ?: b", "(a ? : b)"},

	/* ++ and -- */
	{"$x++", "$x++"},
	{"--@x[1]", "--@x[1]"},
	{"++$x + $y--", "(++$x + $y--)"},
	{"@++", "@++"},

	/* fields and elements */
	{"args.x", "args.x"},
	{"args->x.y->z", "args->x.y->z"},
	{"$x.0.1", "$x.0.1"},
	{"@x.field", "@x.field"},
	{"@x[1].2", "@x[1].2"},
	{"args.if", "args.if"},
	{"$x[1][2].a", "$x[1][2].a"},
	{"f(1).x", "f(1).x"},
	{"(1, 2)[0]", "tuple(1, 2)[0]"},

	/* tuples and records */
	{"(1)", "1"},
	{"(1,)", "tuple(1)"},
	{"()", "tuple()"},
	{"(1, \"a\", (2, 3))", "tuple(1, \"a\", tuple(2, 3))"},
	{"(1, 2,)", "tuple(1, 2)"},
	{"(a=1, b=\"x\")", "record(a=1, b=\"x\")"},
	{"(a=(b=1))", "record(a=record(b=1))"},
	{"(a == 1)", "(a == 1)"},

	/* casts */
	{"(uint32)x", "((uint32)x)"},
	{"(uint32)x + 1", "(((uint32)x) + 1)"},
	{"(uint64)-1", "((uint64)(-1))"},
	{"(int8)*$p", "((int8)(*$p))"},
	{"(struct T *)arg0", "((struct T *)arg0)"},
	{"(struct T *)arg0->x", "((struct T *)arg0->x)"},
	{"((struct T *)arg0)->x", "((struct T *)arg0)->x"},
	{"(struct T **)arg0", "((struct T **)arg0)"},
	{"(union U)x", "((union U)x)"},
	{"(enum E)1", "((enum E)1)"},
	{"(int8[8])12345", "((int8[8])12345)"},
	{"(uint8[])x", "((uint8[])x)"},
	{"(string[64])$x", "((string[64])$x)"},
	{"(buffer[16])x", "((buffer[16])x)"},
	{"(unsigned long long)x", "((unsigned long long)x)"},
	{"(const char *)x", "((char *)x)"},
	{"(my_t)-1", "((my_t)(-1))"},
	{"(mytype)arg0", "((mytype)arg0)"},
	{"(mytype *)arg0", "((mytype *)arg0)"},
	{"(typeof($x) *)1", "((typeof($x) *)1)"},
	{"(typeof(uint8))1", "((uint8)1)"},
	{"*(uint64 *)arg0", "(*((uint64 *)arg0))"},
	{"(pid) - 1", "(pid - 1)"},
	{"(arg1)*arg0", "(arg1 * arg0)"},
	{"(x[1]) + 2", "(x[1] + 2)"},
	{"(a * b)", "(a * b)"},
	{"(x)", "x"},
	{"(uint8)(uint16)(1)", "((uint8)((uint16)1))"},

	/* types */
	{"sizeof(struct T)", "sizeof(struct T)"},
	{"sizeof(uint8[4])", "sizeof(uint8[4])"},
	{"sizeof(foo *)", "sizeof(foo *)"},
	{"sizeof($x + 1)", "sizeof(($x + 1))"},
	{"sizeof(args.x)", "sizeof(args.x)"},
	{"offsetof(struct T, a)", "offsetof(struct T, a)"},
	{"offsetof(struct T, a.b[1].c)", "offsetof(struct T, a.b[1].c)"},
	{"offsetof(*$x, a)", "offsetof((*$x), a)"},

	/* values of blocks */
	{"f({ 1 })", "f(1)"},
	{"f(if (a) { 1 } else { 2 })", "f((a ? 1 : 2))"},
	{"f(if a { 1 } else if b { 2 } else { 3 })", "f((a ? 1 : (b ? 2 : 3)))"},
	{"f({ $a = 1; $a })", "f({\n\t\t$a = 1\n\t\tvalue $a\n\t})"},

	/* comments */
	{"1 /* + 2 */ + 3 // + 4\n", "(1 + 3)"},
	{"/*** ***/0", "0"},
	{"1 \\\n + 2", "(1 + 2)"},
};

static void test_expressions(void **state)
{
	for (size_t i = 0; i < sizeof(expressions) / sizeof(*expressions); i++) {
		char text[512], wanted[512];
		struct parsed p;

		snprintf(text, sizeof(text), "BEGIN { %s }", expressions[i].text);
		snprintf(wanted, sizeof(wanted), "probe BEGIN {\n\t%s\n}\n",
			 expressions[i].dump ? expressions[i].dump : "");
		parse(&p, text);
		if (expressions[i].dump)
			compare(text, p.result ? buf_str(&p.source.messages) : buf_str(&p.dump),
				wanted);
		else
			assert_int_not_equal(p.result, 0);
		parsed_free(&p);
	}
}

/* ---- statements ---- */

static const struct {
	const char *text, *dump;
} statements[] = {
	{"", ""},
	{";;", ""},
	{"1", "\t1\n"},
	{"1;", "\t1\n"},
	{"$x = 1; @y = 2", "\t$x = 1\n\t@y = 2\n"},
	{"@x[1, 2] = count();", "\t@x[1, 2] = count()\n"},
	{"$x += 1; $x -= 1; $x *= 1; $x /= 1; $x %= 1;",
	 "\t$x += 1\n\t$x -= 1\n\t$x *= 1\n\t$x /= 1\n\t$x %= 1\n"},
	{"@x <<= 1; @x >>= 1; @x &= 1; @x |= 1; @x ^= 1;",
	 "\t@x <<= 1\n\t@x >>= 1\n\t@x &= 1\n\t@x |= 1\n\t@x ^= 1\n"},
	{"_ = f();", "\t_ = f()\n"},
	{"let $x;", "\tlet $x\n"},
	{"let $x = 1;", "\tlet $x = 1\n"},
	{"let $x: uint8 = 1;", "\tlet $x as uint8 = 1\n"},
	{"let $x : struct T *;", "\tlet $x as struct T *\n"},
	{"let $x: string[8]; let $y: (uint8, string[4]); let $z: typeof($x);",
	 "\tlet $x as string[8]\n\tlet $y as (uint8, string[4])\n\tlet $z as typeof($x)\n"},
	{"if (a) { f() }", "\tif a {\n\t\tf()\n\t}\n"},
	{"if (a) { f(); } g()", "\tif a {\n\t\tf()\n\t}\n\tg()\n"},
	{"if (a) { } else { g(); };", "\tif a {\n\t} else {\n\t\tg()\n\t}\n"},
	{"if (a) { 1 } else if (b) { 2 } else { 3 }",
	 "\tif a {\n\t\t1\n\t} else {\n\t\tif b {\n\t\t\t2\n\t\t} else {\n\t\t\t3\n\t\t}\n\t}\n"},
	{"if pid { }", "\tif pid {\n\t}\n"},
	{"if !$x { }", "\tif (!$x) {\n\t}\n"},
	{"while ($i < 3) { $i++; continue; break }",
	 "\twhile ($i < 3) {\n\t\t$i++\n\t\tcontinue\n\t\tbreak\n\t}\n"},
	{"unroll (3) { f(); } unroll($1) { }", "\tunroll 3 {\n\t\tf()\n\t}\n\tunroll $1 {\n\t}\n"},
	{"for ($kv : @m) { f($kv.0); }", "\tfor $kv in @m {\n\t\tf($kv.0)\n\t}\n"},
	{"for ($i : 0..10) { }", "\tfor $i in 0..10 {\n\t}\n"},
	{"for ($i : $a..$b + 1) { }", "\tfor $i in $a..($b + 1) {\n\t}\n"},
	{"for $i : 0..ncpus { }", "\tfor $i in 0..ncpus {\n\t}\n"},
	{"return; ", "\treturn\n"},
	{"return 1", "\treturn 1\n"},
	{"{ f(); } { g() }", "\t{\n\t\tf()\n\t}\n\tg()\n"},
	{"{ $a = 1; } *$x", "\t{\n\t\t$a = 1\n\t}\n\t(*$x)\n"},
	{"$a = { let $b = 1; $b };", "\t$a = {\n\t\tlet $b = 1\n\t\tvalue $b\n\t}\n"},
	{"$a = if (b) { f(); 1 } else { 2 };", "\t$a = (b ? {\n\t\tf()\n\t\tvalue 1\n\t} : 2)\n"},
	{"$a = { if (b) { 1 } else { 2 } };", "\t$a = (b ? 1 : 2)\n"},
	{"a ? f() : g();", "\t(a ? f() : g())\n"},
	{"import \"stdlib/x\"; 1", "\t1\n"},
};

static void test_statements(void **state)
{
	for (size_t i = 0; i < sizeof(statements) / sizeof(*statements); i++) {
		char text[512], wanted[512];

		snprintf(text, sizeof(text), "BEGIN { %s }", statements[i].text);
		snprintf(wanted, sizeof(wanted), "probe BEGIN {\n%s}\n", statements[i].dump);
		check(text, wanted);
	}
}

/* ---- scripts ---- */

static const struct {
	const char *text, *dump;
} scripts[] = {
	/* attach points; colons between parts are shown with blanks */
	{"BEGIN{}END{}", "probe BEGIN {\n}\nprobe END {\n}\n"},
	{"begin { };", "probe begin {\n}\n"},
	{"kprobe:f,kretprobe:g , t:a:b\n,\nh:cache-misses:1e6 {}",
	 "probe kprobe : f, kretprobe : g, t : a : b, h : cache-misses : 1e6 {\n}\n"},
	{"kprobe:f, // one\n kprobe:g, /* last */ { }", "probe kprobe : f, kprobe : g {\n}\n"},
	{"kprobe : f { } t:a: b{ } s:faults: { } s:faults: /1/ { }",
	 "probe kprobe : f {\n}\nprobe t : a : b {\n}\nprobe s : faults :  {\n}\n"
	 "probe s : faults :  if 1 {\n}\n"},
	{"interval:1s {} i:s:1 {} profile:hz:99 {}",
	 "probe interval : 1s {\n}\nprobe i : s : 1 {\n}\nprobe profile : hz : 99 {\n}\n"},
	{"kprobe:*_[Ss]y?:x+0x10 {}", "probe kprobe : *_[Ss]y? : x+0x10 {\n}\n"},
	{"uprobe:/bin/a*b/../c=d:f {}", "probe uprobe : /bin/a*b/../c=d : f {\n}\n"},
	{"uprobe:./a/b:f, ur:libc.so.6:g {}",
	 "probe uprobe : ./a/b : f, ur : libc.so.6 : g {\n}\n"},
	{"u:/a:\"f\" {}", "probe u : /a : f {\n}\n"},
	{"u:/a:cpp:\"std::f<int, a>(char)\" {}",
	 "probe u : /a : cpp : std::f<int, a>(char) {\n}\n"},
	{"u:\"/a b/{x}\":f\\ g {}", "probe u : /a b/{x} : f g {\n}\n"},
	{"usdt:/a:ns:p {} usdt:*:p {}", "probe usdt : /a : ns : p {\n}\nprobe usdt : * : p {\n}\n"},
	{"w:0x10000:8:rw {} it:task:/sys/x {}",
	 "probe w : 0x10000 : 8 : rw {\n}\nprobe it : task : /sys/x {\n}\n"},
	{"name=kprobe:f {} n = kprobe:g {}",
	 "probe name=kprobe : f {\n}\nprobe n=kprobe : g {\n}\n"},
	{"kprobe:$1 {} software:faults: {}",
	 "probe kprobe : $1 {\n}\nprobe software : faults :  {\n}\n"},

	/* predicates */
	{"kprobe:f /pid/ {}", "probe kprobe : f if pid {\n}\n"},
	{"kprobe:f/pid/{}", "probe kprobe : f if pid {\n}\n"},
	{"BEGIN/1/{}", "probe BEGIN if 1 {\n}\n"},
	{"kprobe:f\n/ @x /\n// comment\n{}", "probe kprobe : f if @x {\n}\n"},
	{"kprobe:f /100/25/ {}", "probe kprobe : f if (100 / 25) {\n}\n"},
	{"kprobe:f /(a / {2}) == 1/ {}", "probe kprobe : f if ((a / 2) == 1) {\n}\n"},
	{"kprobe:f /@x[tid / 2] / 2 == \"/\"/ {}",
	 "probe kprobe : f if ((@x[(tid / 2)] / 2) == \"/\") {\n}\n"},
	{"u:/a/b:f /comm == \"a\" && 1/ {}", "probe u : /a/b : f if ((comm == \"a\") && 1) {\n}\n"},

	/* what stands in front of probes */
	{"#!/usr/bin/env bpftrace\nBEGIN { }", "probe BEGIN {\n}\n"},
	{"config = { stack_mode=perf; max_map_keys = 1_000; a = \"b c\"; d=true }\nBEGIN { }",
	 "config stack_mode = perf\nconfig max_map_keys = 1000\nconfig a = b c\nconfig d = true\n"
	 "probe BEGIN {\n}\n"},
	{"config = { }; BEGIN { }", "probe BEGIN {\n}\n"},
	{"let @a = hash(100); let @b=percpulruhash(0x10)\nBEGIN { }",
	 "map @a = hash(100)\nmap @b = percpulruhash(16)\nprobe BEGIN {\n}\n"},
	{"struct A { int a; struct { char b[4]; } c; } BEGIN { }",
	 "c struct A { int a; struct { char b[4]; } c; }\nprobe BEGIN {\n}\n"},
	{"struct A { int a; } __attribute__((packed)); union B { int x; }; struct F;\nBEGIN { }",
	 "c struct A { int a; } __attribute__((packed));\nc union B { int x; };\nc struct F;\n"
	 "probe BEGIN {\n}\n"},
	{"enum { A, B = 2 }; typedef struct { int x; } foo; typedef int bar;\nBEGIN { (bar)*$x }",
	 "c enum { A, B = 2 };\nc typedef struct { int x; } foo;\nc typedef int bar;\n"
	 "probe BEGIN {\n\t((bar)(*$x))\n}\n"},
	{"struct A {\n#ifdef X\nint a;\n#else\nint b; // }\n#endif\n};\nBEGIN { }",
	 "c struct A { int b ; } ;\nprobe BEGIN {\n}\n"},
	{"#define N 4\nstruct A { int a[N]; };\nBEGIN { }",
	 "c struct A { int a [ 4 ] ; } ;\nprobe BEGIN {\n}\n"},

	/* the preprocessor */
	{"#include <linux/sched.h>\n  # include <x>\nBEGIN { }", "probe BEGIN {\n}\n"},
	{"#define A 1 // one\n#define B (A + \\\n 2) /* two */\nBEGIN { A; B }",
	 "probe BEGIN {\n\t1\n\t(1 + 2)\n}\n"},
	{"#define NONE\nBEGIN { NONE 1 NONE }", "probe BEGIN {\n\t1\n}\n"},
	{"#define A A\n#define B C\n#define C B\nBEGIN { A; B }", "probe BEGIN {\n\tA\n\tB\n}\n"},
	{"#define MS(x) ((x) / 1000000)\nBEGIN { MS(nsecs - @s[tid]); MS }",
	 "probe BEGIN {\n\t((nsecs - @s[tid]) / 1000000)\n\tMS\n}\n"},
	{"#define MAX(a, b) ((a) > (b) ? (a) : (b))\nBEGIN { MAX(MAX(1, 2), f(3, 4)) }",
	 "probe BEGIN {\n\t((((1 > 2) ? 1 : 2) > f(3, 4)) ? ((1 > 2) ? 1 : 2) : f(3, 4))\n}\n"},
	{"#define F() 1\n#define G(x) $x + @x + \"x\"\nBEGIN { F(); G(1) }",
	 "probe BEGIN {\n\t1\n\t(($x + @x) + \"x\")\n}\n"},
	{"#define S(x) #x\n#define P(a, b) a##b\nBEGIN { S(a \"b\"); P(ab, c) }",
	 "probe BEGIN {\n\t\"a \\\"b\\\"\"\n\tabc\n}\n"},
	{"#ifndef BPFTRACE_HAVE_BTF\n#include <x>\nwrong {\n#else\n#define X 1\n#endif\nBEGIN { X "
	 "}",
	 "probe BEGIN {\n\t1\n}\n"},
	{"#if 0\n#if 1\nwrong\n#else\nwrong\n#endif\n/*\n#endif\n*/\n#elif defined(X) || !defined "
	 "Y\n"
	 "#define Z 5\n#else\nwrong\n#endif\nBEGIN { Z }",
	 "probe BEGIN {\n\t5\n}\n"},
	{"#define V 0x060100\n#if V >= 0x050400 && (V & 1) == 0 && UNKNOWN == 0\nBEGIN { 1 "
	 "}\n#endif",
	 "probe BEGIN {\n\t1\n}\n"},
	{"#define X 1\n#undef X\nBEGIN { X\n#ifdef X\n+ 1\n#endif\n}", "probe BEGIN {\n\tX\n}\n"},
	{"#define p q\nkprobe:p { p }", "probe kprobe : p {\n\tq\n}\n"},

	/* macros */
	{"macro one() { 1 } macro add_one(x) { x + 1 }\nBEGIN { one(); one; add_one(2 * 3); one + "
	 "1 }",
	 "probe BEGIN {\n\t1\n\t1\n\t((2 * 3) + 1)\n\t(1 + 1)\n}\n"},
	{"BEGIN { b($x, @m) } macro b($a, @b) { $a += 1; @b[1] += $a; delete(@b) }",
	 "probe BEGIN {\n\t{\n\t\t$x += 1\n\t\t@m[1] += $x\n\t\tvalue delete(@m)\n\t}\n}\n"},
	{"macro inc($x) { $y = $x + 1; $y } BEGIN { $y = 2; $z = inc($y); inc($y) }",
	 "probe BEGIN {\n\t$y = 2\n\t$z = {\n\t\t$y~1 = ($y + 1)\n\t\tvalue $y~1\n\t}\n"
	 "\t{\n\t\t$y~2 = ($y + 1)\n\t\tvalue $y~2\n\t}\n}\n"},
	{"macro add(x) { let $x = x; $x + 1 } BEGIN { add(add(1)) }",
	 "probe BEGIN {\n\t{\n\t\tlet $x~2 = {\n\t\t\tlet $x~1 = 1\n\t\t\tvalue ($x~1 + 1)\n\t\t}\n"
	 "\t\tvalue ($x~2 + 1)\n\t}\n}\n"},
	{"macro a2(x) { a1(x) + 1 } macro a1(x) { x + 1 } BEGIN { a2(a1(3)) }",
	 "probe BEGIN {\n\t(((3 + 1) + 1) + 1)\n}\n"},
	{"macro m(a) { 1 } macro m(a, b) { 2 } macro m(@c) { 3 } BEGIN { m(1); m(1, 2); }",
	 "probe BEGIN {\n\t1\n\t2\n}\n"},
	{"macro c($p) { 2 } macro c() { 1 } macro c(e) { let $p = e; c($p) } BEGIN { c; c(3); d }",
	 "probe BEGIN {\n\t1\n\t{\n\t\tlet $p~2 = 3\n\t\tvalue 2\n\t}\n\td\n}\n"},
	{"macro c($p) { 2 } BEGIN { c }", "probe BEGIN {\n\tc\n}\n"},
	{"macro l(@a) { for ($kv : @a) { $kv.0 } } kprobe:f /one/ { l(@x) } macro one() { 1 }",
	 "probe kprobe : f if 1 {\n\t{\n\t\tfor $kv~2 in @x {\n\t\t\t$kv~2.0\n\t\t}\n\t}\n}\n"},
	{"macro c(x) { if (x) { 1 } else { 2 } } BEGIN { $a = c(pid) }",
	 "probe BEGIN {\n\t$a = (pid ? 1 : 2)\n}\n"},
	{"macro s(x) { sizeof(x) + (uint8[2])x } BEGIN { s($a) }",
	 "probe BEGIN {\n\t(sizeof($a) + ((uint8[2])$a))\n}\n"},
};

static void test_scripts(void **state)
{
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		check(scripts[i].text, scripts[i].dump);
}

/* ---- parameters of the command line ---- */

static void test_params(void **state)
{
	static const char *const params[] = {"i:ms:1", "IN", NULL};
	const struct parse_options opt = {.params = params};
	struct parsed p;

	parse_named(&p, "stdin", "$1 { $1 } BEG$2,$3k:$2$9x:\"$1\" { }", &opt);
	compare("parameters", buf_str(&p.dump),
		"probe i : ms : 1 {\n\t$1\n}\nprobe BEGIN, k : INx : $1 {\n}\n");
	assert_string_equal(p.ast.probes->points->text, "i:ms:1");
	parsed_free(&p);
}

/* ---- files ---- */

static void put_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static const struct {
	const char *name, *text;
} files[] = {
	{"a.bt", "import \"b.bt\";\nbegin { a }\n"},
	{"b.bt", "import \"a.bt\"; macro b() { 7 } begin { b }"},
	{"c.h", "#ifndef C_H\n#define C_H 3\nstruct c { int x; };\n#endif\n"},
	{"bad.bt", "begin { $x = ; }\n"},
	{"sub/d.h", "#define D 4\n"},
	{"e.h", "static inline int e(int x) { return 'x' + 1.5f; } // a comment\n"
		"#include \"c.h\"\n"
		"typedef struct c e_type[C_H];\n"},
	{"dir/1.bt", "begin { d1 }"},
	{"dir/2.bt", "begin { d2 }"},
};

static const struct {
	const char *text, *result; /* DIR stands for the directory */
} imports[] = {
	{"import \"a.bt\"; begin { main; b() }",
	 "probe begin {\n\t7\n}\nprobe begin {\n\ta\n}\nprobe begin {\n\tmain\n\t7\n}\n"},
	{"begin { import \"b.bt\"; b() }",
	 "probe begin {\n\t7\n}\nprobe begin {\n\ta\n}\nprobe begin {\n\t7\n}\n"},
	{"#include \"c.h\"\n#include \"c.h\"\nbegin { C_H }",
	 "c struct c { int x; };\nprobe begin {\n\t3\n}\n"},
	{"#include \"d.h\"\nbegin { D }", "probe begin {\n\t4\n}\n"},
	{"import \"DIR/dir\"; begin { main }",
	 "probe begin {\n\td1\n}\nprobe begin {\n\td2\n}\nprobe begin {\n\tmain\n}\n"},
	{"import \"bad.bt\"; begin { }",
	 "DIR/bad.bt:1:14-15: ERROR: expected an expression, not ';'\n"
	 "begin { $x = ; }\n"
	 "             ~\n"},
	{"import \"nowhere.bt\"; begin { }",
	 "DIR/script.bt:1:1-20: ERROR: nowhere.bt: there is no such file\n"
	 "import \"nowhere.bt\"; begin { }\n"
	 "~~~~~~~~~~~~~~~~~~~\n"},
	{"import \"x.bpf.c\"; begin { }",
	 "DIR/script.bt:1:1-17: ERROR: x.bpf.c: programs in C cannot be imported\n"
	 "import \"x.bpf.c\"; begin { }\n"
	 "~~~~~~~~~~~~~~~~\n"},
	/* The text of a header is C: it has no tokens of the language, and names become types. */
	{"#include \"e.h\"\nbegin { (e_type)-1 }",
	 "c static inline int e(int x) { return 'x' + 1.5f; }  \n"
	 "\n# DIR/c.h\n"
	 "\n\nstruct c { int x; };\n\n"
	 "\n# DIR/e.h\n"
	 "\ntypedef struct c e_type[ 3 ];\n"
	 "probe begin {\n\t((e_type)(-1))\n}\n"},
};

/* Appends a text with the directory's name for each DIR. */
static void put_with_dir(struct buf *to, const char *text, const char *dir)
{
	const char *at;

	buf_reset(to);
	while ((at = strstr(text, "DIR"))) {
		buf_put(to, text, (size_t)(at - text));
		buf_puts(to, dir);
		text = at + 3;
	}
	buf_puts(to, text);
}

static void test_files(void **state)
{
	static const char *const folders[] = {"", "/sub", "/dir"};
	char dir[] = "/tmp/spur-test-XXXXXX", path[256], sub[64];
	struct buf text, wanted;

	assert_non_null(mkdtemp(dir));
	for (size_t i = 1; i < sizeof(folders) / sizeof(*folders); i++) {
		snprintf(path, sizeof(path), "%s%s", dir, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		put_file(dir, files[i].name, files[i].text);
	snprintf(sub, sizeof(sub), "%s/sub", dir);
	buf_init(&text, 4096);
	buf_init(&wanted, 4096);
	for (size_t i = 0; i < sizeof(imports) / sizeof(*imports); i++) {
		const char *const dirs[] = {sub, NULL};
		const struct parse_options opt = {.include_dirs = dirs};
		struct parsed p;

		put_with_dir(&text, imports[i].text, dir);
		put_with_dir(&wanted, imports[i].result, dir);
		snprintf(path, sizeof(path), "%s/script.bt", dir);
		parse_named(&p, path, buf_str(&text), &opt);
		compare(imports[i].text, p.result ? buf_str(&p.source.messages) : buf_str(&p.dump),
			buf_str(&wanted));
		parsed_free(&p);
	}
	buf_free(&text);
	buf_free(&wanted);
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i].name);
		assert_int_equal(unlink(path), 0);
	}
	for (size_t i = sizeof(folders) / sizeof(*folders); i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", dir, folders[i]);
		assert_int_equal(rmdir(path), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expressions), cmocka_unit_test(test_statements),
		cmocka_unit_test(test_scripts),	    cmocka_unit_test(test_params),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
