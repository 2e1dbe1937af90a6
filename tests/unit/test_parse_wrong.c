// SPDX-License-Identifier: GPL-2.0-or-later
/* Scripts that are wrong, or too much: a case is a text and the messages it leads to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "parse_fixture.h"

static const struct {
	const char *text, *messages;
} wrong[] = {
	{"", "stdin:1:1-1: ERROR: there is no probe in this script\n"},
	{"BEGIN { $x = ; }", "stdin:1:14-15: ERROR: expected an expression, not ';'\n"
			     "BEGIN { $x = ; }\n"
			     "             ~\n"},
	{"BEGIN {\n\tprintf(\"a\" }\n",
	 "stdin:2:13-14: ERROR: expected ',' or ')' after an argument, "
	 "not '}'\n"
	 "\tprintf(\"a\" }\n"
	 "\t           ~\n"},
	{"BEGIN { @a = 1 +; @b = 2\nprint(@b); $c = ) }\nEND { @d = 09; }",
	 "stdin:1:17-18: ERROR: expected an expression, not ';'\n"
	 "BEGIN { @a = 1 +; @b = 2\n"
	 "                ~\n"
	 "stdin:2:1-6: ERROR: expected ';', not 'print'\n"
	 "print(@b); $c = ) }\n"
	 "~~~~~\n"
	 "stdin:2:17-18: ERROR: expected an expression, not ')'\n"
	 "print(@b); $c = ) }\n"
	 "                ~\n"
	 "stdin:3:12-14: ERROR: '09' is not a number\n"
	 "END { @d = 09; }\n"
	 "           ~~\n"},
	{"BEGIN { exit()", "stdin:1:15-15: ERROR: expected '}', but the script ends here\n"
			   "BEGIN { exit()\n"
			   "              ~\n"
			   "HINT: the block begins in line 1\n"},
	{"BEGIN",
	 "stdin:1:6-6: ERROR: expected '{', '/' or ',' after the probe, but the script ends "
	 "here\n"
	 "BEGIN\n"
	 "     ~\n"},
	{"BEGIN /1/", "stdin:1:10-10: ERROR: expected '{' after the predicate, but the script ends "
		      "here\n"
		      "BEGIN /1/\n"
		      "         ~\n"},
	{"kprobe:f /1 { }",
	 "stdin:1:13-14: ERROR: expected '/' at the end of the predicate, not '{'\n"
	 "kprobe:f /1 { }\n"
	 "            ~\n"},
	{"{ } } BEGIN { }", "stdin:1:1-2: ERROR: expected a probe, not '{'\n"
			    "{ } } BEGIN { }\n"
			    "~\n"
			    "stdin:1:5-6: ERROR: expected a probe, not '}'\n"
			    "{ } } BEGIN { }\n"
			    "    ~\n"},
	{"u:/a:\"f { }", "stdin:1:6-12: ERROR: this string has no end\n"
			 "u:/a:\"f { }\n"
			 "     ~~~~~~\n"},
	{"a:b:c:d:e:f:g:h:i { }", "stdin:1:1-18: ERROR: a probe has no more than 8 parts\n"
				  "a:b:c:d:e:f:g:h:i { }\n"
				  "~~~~~~~~~~~~~~~~~\n"},
	{"BEGIN { if (1) f(); }", "stdin:1:16-17: ERROR: expected '{', not 'f'\n"
				  "BEGIN { if (1) f(); }\n"
				  "               ~\n"},
	{"BEGIN { for (x : @y) { } for ($x : 3) { } }",
	 "stdin:1:14-15: ERROR: expected a variable after 'for': for ($x : ...), not 'x'\n"
	 "BEGIN { for (x : @y) { } for ($x : 3) { } }\n"
	 "             ~\n"
	 "stdin:1:36-37: ERROR: expected a map or a range after ':'\n"
	 "BEGIN { for (x : @y) { } for ($x : 3) { } }\n"
	 "                                   ~\n"
	 "HINT: for ($kv : @map) or for ($i : 0..10)\n"},
	{"BEGIN { 1 = 2; $x.0 = 1; f()++; }",
	 "stdin:1:9-10: ERROR: only variables ($x) and maps (@x) can be assigned\n"
	 "BEGIN { 1 = 2; $x.0 = 1; f()++; }\n"
	 "        ~\n"
	 "stdin:1:16-20: ERROR: a part of a value cannot be assigned\n"
	 "BEGIN { 1 = 2; $x.0 = 1; f()++; }\n"
	 "               ~~~~\n"
	 "HINT: variables ($x) and maps (@x, @x[key]) can be, as a whole\n"
	 "stdin:1:29-31: ERROR: '++' and '--' are for variables ($x) and maps (@x)\n"
	 "BEGIN { 1 = 2; $x.0 = 1; f()++; }\n"
	 "                            ~~\n"},
	{"BEGIN { $a = 5zz; $b = 99999999999999999999; }",
	 "stdin:1:15-17: ERROR: invalid suffix 'zz' of a number\n"
	 "BEGIN { $a = 5zz; $b = 99999999999999999999; }\n"
	 "              ~~\n"
	 "HINT: known are ns, us, ms, s, m, h, d, and u, l, ul, ll, ull\n"
	 "stdin:1:24-44: ERROR: this number does not fit into 64 bits\n"
	 "BEGIN { $a = 5zz; $b = 99999999999999999999; }\n"
	 "                       ~~~~~~~~~~~~~~~~~~~~\n"},
	{"BEGIN { \"a\\qb\"; 'x'; \"abc\n}",
	 "stdin:1:11-13: ERROR: invalid escape '\\q' in a string\n"
	 "BEGIN { \"a\\qb\"; 'x'; \"abc\n"
	 "          ~~\n"
	 "stdin:1:17-20: ERROR: characters in single quotes are "
	 "not part of the language\n"
	 "BEGIN { \"a\\qb\"; 'x'; \"abc\n"
	 "                ~~~\n"
	 "HINT: use the number of the character: 65 is 'A'\n"
	 "stdin:1:22-26: ERROR: this string has no end\n"
	 "BEGIN { \"a\\qb\"; 'x'; \"abc\n"
	 "                     ~~~~\n"},
	{"BEGIN { @x[] = 1 }", "stdin:1:12-13: ERROR: expected a key between '[' and ']'\n"
			       "BEGIN { @x[] = 1 }\n"
			       "           ~\n"},
	{"BEGIN { $ = 1; ` }", "stdin:1:9-10: ERROR: expected the name of a variable after '$'\n"
			       "BEGIN { $ = 1; ` }\n"
			       "        ~\n"
			       "stdin:1:16-17: ERROR: unexpected character '`'\n"
			       "BEGIN { $ = 1; ` }\n"
			       "               ~\n"},
	{"BEGIN { \033[31m }", "stdin:1:9-10: ERROR: unexpected character 0x1b\n"
			       "BEGIN { ?[31m }\n"
			       "        ~\n"},
	{"BEGIN { } /* abc", "stdin:1:11-13: ERROR: this comment has no end\n"
			     "BEGIN { } /* abc\n"
			     "          ~~\n"},
	{"BEGIN { while = 1; }", "stdin:1:15-16: ERROR: expected an expression, not '='\n"
				 "BEGIN { while = 1; }\n"
				 "              ~\n"},
	{"BEGIN { $x = if (1) { 2 }; }",
	 "stdin:1:14-20: ERROR: an 'if' whose value is used needs one in each branch\n"
	 "BEGIN { $x = if (1) { 2 }; }\n"
	 "             ~~~~~~\n"},
	{"let $x = 1; fn f() { } struct X { int a; ",
	 "stdin:1:5-7: ERROR: expected a map after 'let' outside of probes: let @name = hash(100), "
	 "not "
	 "'$x'\n"
	 "let $x = 1; fn f() { } struct X { int a; \n"
	 "    ~~\n"
	 "stdin:1:42-42: ERROR: expected '}' at the end of the definition, but the script ends "
	 "here\n"
	 "let $x = 1; fn f() { } struct X { int a; \n"
	 "                                         ~\n"},
	{"fn f($a) { }\nfn while() { }\nfn g(x : int64) { }\nBEGIN { }",
	 "stdin:1:8-9: ERROR: expected ':' and the type of the parameter, not ')'\n"
	 "fn f($a) { }\n"
	 "       ~\n"
	 "stdin:2:4-9: ERROR: 'while' is a word of the language, not a name\n"
	 "fn while() { }\n"
	 "   ~~~~~\n"
	 "stdin:3:6-7: ERROR: expected a parameter: $name : type, not 'x'\n"
	 "fn g(x : int64) { }\n"
	 "     ~\n"},
	{"config = { a }\nBEGIN { }", "stdin:1:14-15: ERROR: expected '=', not '}'\n"
				      "config = { a }\n"
				      "             ~\n"},

	/* the preprocessor */
	{"#if 1\nBEGIN { }", "stdin:1:1-6: ERROR: there is no #endif for this\n#if 1\n~~~~~\n"},
	{"#endif\n#else\n#foo\nBEGIN { # }",
	 "stdin:1:1-7: ERROR: #endif without an #if\n"
	 "#endif\n"
	 "~~~~~~\n"
	 "stdin:2:1-6: ERROR: #else without an #if\n"
	 "#else\n"
	 "~~~~~\n"
	 "stdin:3:1-5: ERROR: unknown directive #foo\n"
	 "#foo\n"
	 "~~~~\n"
	 "stdin:4:9-10: ERROR: a directive has to begin its line\n"
	 "BEGIN { # }\n"
	 "        ~\n"},
	{"#if 1 +\n#endif\n#error no way\nBEGIN { }",
	 "stdin:1:1-8: ERROR: this condition cannot be understood\n"
	 "#if 1 +\n"
	 "~~~~~~~\n"
	 "stdin:3:1-14: ERROR: #error no way\n"
	 "#error no way\n"
	 "~~~~~~~~~~~~~\n"},
	{"#define BAD 1 )\nBEGIN { $x = BAD; }", "stdin:2:14-17: ERROR: expected ';', not ')'\n"
						 "BEGIN { $x = BAD; }\n"
						 "             ~~~\n"
						 "NOTE: in the expansion of BAD, defined at "
						 "stdin:1:9\n"},
	{"#define F(a) a\nBEGIN { F(1, 2) }",
	 "stdin:2:9-16: ERROR: F is used with the wrong number of arguments\n"
	 "BEGIN { F(1, 2) }\n"
	 "        ~~~~~~~\n"},
	{"#include \"x.h\"\nBEGIN { }", "stdin:1:1-15: ERROR: files cannot be read from here\n"
					"#include \"x.h\"\n"
					"~~~~~~~~~~~~~~\n"},

	/* macros */
	{"macro m(@a) { @b = 1 } BEGIN { }",
	 "stdin:1:15-17: ERROR: @b is not a parameter of this macro\n"
	 "macro m(@a) { @b = 1 } BEGIN { }\n"
	 "              ~~\n"
	 "HINT: a macro can use the maps that are passed to it: macro m(@b)\n"},
	{"macro m($a) { $a + 1 } BEGIN { m(1) }",
	 "stdin:1:34-35: ERROR: macro 'm' needs a variable as argument 1, its $a\n"
	 "macro m($a) { $a + 1 } BEGIN { m(1) }\n"
	 "                                 ~\n"},
	{"macro m(a) { a } BEGIN { m() }",
	 "stdin:1:26-29: ERROR: macro 'm' takes 1 argument, not 0\n"
	 "macro m(a) { a } BEGIN { m() }\n"
	 "                         ~~~\n"},
	{"macro a() { b() }\nmacro b() { a() }\nBEGIN { a() }",
	 "stdin:3:9-12: ERROR: macro 'a' uses itself\n"
	 "BEGIN { a() }\n"
	 "        ~~~\n"
	 "NOTE: in the expansion of b, defined at stdin:2:7\n"
	 "NOTE: in the expansion of a, defined at stdin:1:7\n"},
	{"macro a() { 1 } macro a() { 2 } macro if() { } BEGIN { }",
	 "stdin:1:23-24: ERROR: there is a macro 'a' already\n"
	 "macro a() { 1 } macro a() { 2 } macro if() { } BEGIN { }\n"
	 "                      ~\n"
	 "stdin:1:39-41: ERROR: 'if' is a word of the language, not a name\n"
	 "macro a() { 1 } macro a() { 2 } macro if() { } BEGIN { }\n"
	 "                                      ~~\n"},
};

static void test_wrong(void **state)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct parsed p;

		parse(&p, wrong[i].text);
		assert_int_not_equal(p.result, 0);
		compare(wrong[i].text, buf_str(&p.source.messages), wrong[i].messages);
		parsed_free(&p);
	}
}

/* ---- limits ---- */

/* before, and then as often as it takes: an error in the end, and never more than ten. */
static const struct {
	const char *before, *again, *after;
	unsigned int times;
	const char *message; /* that is among them; NULL: there is nothing wrong */
} large[] = {
	{"BEGIN { $x = ", "(", "", 100000, "nested too deeply"},
	{"BEGIN { ", "{", "", 100000, "nested too deeply"},
	{"BEGIN { $x = 1", "+1", "; }", 100000, "nested too deeply"},
	{"BEGIN { $x = ", "-", "1; }", 100000, "nested too deeply"},
	{"BEGIN { $x = ", "(u8)", "1; }", 100000, "nested too deeply"},
	{"BEGIN { $x = ", "1?1:", "1; }", 100000, "nested too deeply"},
	{"BEGIN { $x", ".a", "; }", 100000, "nested too deeply"},
	{"BEGIN { if (1) { } ", "else if (1) { } ", "}", 100000, "nested too deeply"},
	{"BEGIN { $x = 1", "+1", "; }", 900, NULL},
	{"BEGIN { $x = 1; if (1) { } ", "else if ($x) { } ", "}", 500, NULL},
	{"\xef\xbb\xbf", "", "BEGIN { }", 1, NULL},
	{"BEGIN { ", "$x = 1;", " }", 50000, NULL},
	{"", "kprobe:f { }\n", "", 20000, NULL},
	{"BEGIN { ", "@x = ; ", "}", 1000, "expected an expression"},
	{"", "#if 1\n", "", 1000, "nested too deeply"},
	{"#define F(x) x\nBEGIN { ", "F(", "", 100000, "becomes too much"},
	{"#define A B B B B B B B B\n#define B C C C C C C C C\n#define C D D D D D D D D\n"
	 "#define D E E E E E E E E\n#define E 1 1 1 1 1 1 1 1\n#define X ",
	 "A ", "\nBEGIN { X }", 40, "becomes too much"},
	{"macro m(a) { a + a }\nBEGIN { ", "m(", "1))))))))))))))))))))))))) }", 25,
	 "become too much"},
};

static void test_large(void **state)
{
	for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++) {
		struct parsed p;
		struct buf b;

		buf_init(&b, SOURCE_LIMIT);
		buf_puts(&b, large[i].before);
		for (unsigned int n = 0; n < large[i].times; n++)
			buf_puts(&b, large[i].again);
		buf_puts(&b, large[i].after);
		parse(&p, buf_str(&b));
		if (!large[i].message)
			compare(large[i].again, buf_str(&p.source.messages), "");
		else if (!strstr(buf_str(&p.source.messages), large[i].message))
			fail_msg("%s: %s", large[i].again, buf_str(&p.source.messages));
		assert_true(p.source.errors <= SOURCE_MAX_ERRORS);
		parsed_free(&p);
		buf_free(&b);
	}
}

static void test_no_memory(void **state)
{
	const char *text =
		"#define A 1\nmacro m(a) { let $t: (u8[a], u8); a + 1 }\n"
		"config = { a = 1 } struct X { int a; } let @m = hash(2);\n"
		"kprobe:f /pid/ { $x = (u8)m(A) + 2; for ($i : 0..2) { f(\"a\", @m[1]) } }";
	int result = -1;

	/* Whatever cannot be had, it ends with a message. */
	for (size_t limit = 0; result < 0; limit += 16) {
		struct script_ast ast;
		struct source source;
		struct arena arena;

		arena_init(&arena, limit);
		source_init(&source, &arena);
		if (source_add(&source, "stdin", text, strlen(text), (struct span){0, 0})) {
			result = parse_bpftrace(&source, NULL, &ast);
			assert_true((result < 0) == (source.errors > 0));
		}
		source_free(&source);
		arena_free(&arena);
		assert_true(limit < 1 << 20);
	}
}

/* ---- places ---- */

static void test_places(void **state)
{
	struct parsed p;
	const char *name;
	uint32_t line, column;

	parse(&p, "#define X 12\nmacro m(a) { a + 3 }\nBEGIN {\n  m(X);\n}");
	assert_int_equal(p.result, 0);
	/* What became of m(X) is 12 + 3, all of it in line 4. */
	const struct node *sum = p.ast.probes->body->a;

	assert_int_equal(sum->kind, N_BINARY);
	source_place(&p.source, sum->at.from, &name, &line, &column);
	assert_string_equal(name, "stdin");
	assert_int_equal(line, 4);
	assert_int_equal(column, 3);
	source_place(&p.source, sum->a->at.from, &name, &line, &column);
	assert_int_equal(line, 4);
	assert_int_equal(column, 5);
	source_warning(&p.source, sum->b->at, "%s", "odd");
	source_hint(&p.source, "do not");
	assert_string_equal(buf_str(&p.source.messages),
			    "stdin:4:3-7: WARNING: odd\n"
			    "  m(X);\n"
			    "  ~~~~\n"
			    "NOTE: in the expansion of m, defined at stdin:2:7\n"
			    "HINT: do not\n");
	parsed_free(&p);
}

static void test_long_line(void **state)
{
	char text[600];
	struct parsed p;

	memset(text, ' ', sizeof(text));
	memcpy(text, "BEGIN {", 7);
	memcpy(text + 300, "$x = )", 6);
	text[sizeof(text) - 1] = '\0';
	parse(&p, text);
	/* The line is cut to what is around the mistake. */
	assert_non_null(strstr(buf_str(&p.source.messages), "stdin:1:306-307: ERROR"));
	assert_null(strstr(buf_str(&p.source.messages), "BEGIN"));
	assert_true(p.source.messages.len < 600);
	parsed_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong),	  cmocka_unit_test(test_large),
		cmocka_unit_test(test_no_memory), cmocka_unit_test(test_places),
		cmocka_unit_test(test_long_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
