// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Flame graphs: the tree of frames and what comes of it as text and as a picture. Cases of folded
 * text are what goes in and what comes out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/xml.h"
#include "draw/svg.h"

#define TEXT_LIMIT (16u << 20)

static void start(struct flame *f, size_t max)
{
	struct spur_error err = {0};

	assert_int_equal(flame_init(f, max, &err), 0);
}

/* In parts of that many bytes. */
static uint64_t read_folded(struct flame *f, unsigned int side, const char *text, size_t part)
{
	struct flame_folded r;
	size_t len = strlen(text);

	flame_folded_begin(&r, f, side);
	for (size_t i = 0; i < len; i += part)
		flame_folded_take(&r, text + i, part < len - i ? part : len - i);
	flame_folded_end(&r);
	return r.bad;
}

static void assert_folded(struct flame *f, bool both, const char *expected)
{
	struct buf out;

	flame_finish(f);
	buf_init(&out, TEXT_LIMIT);
	flame_folded_put(f, both, &out);
	assert_string_equal(buf_str(&out), expected);
	buf_free(&out);
}

/* ---- folded text ---- */

static const struct {
	const char *name;
	const char *in;
	const char *out;
	uint64_t bad;
} cases[] = {
	{"stacks are merged and sorted", "b 1\na;c 2\na;b 3\na;c 4\n", "a;b 3\na;c 6\nb 1\n", 0},
	{"a frame may have a value and callees", "a;b 1\na 2\n", "a 2\na;b 1\n", 0},
	{"the last line needs no newline", "a 1\nb 2", "a 1\nb 2\n", 0},
	{"comments, empty lines, carriage returns", "# x 1\n\r\na 1\r\n", "a 1\n", 0},
	{"names may have spaces", "foo bar;std::map<int, int> 7\n",
	 "foo bar;std::map<int, int> 7\n", 0},
	{"several spaces, a tab", "a;b   3\na\t4\n", "a 4\na;b 3\n", 0},
	{"fractions are rounded", "a 1.4\nb 1.5\nc 2.\n", "a 1\nb 2\nc 2\n", 0},
	{"empty frames are none", ";a;;b; 1\na;b 2\n", "a;b 3\n", 0},
	{"a frame that begins as another", "ab;c 1\na;c 2\nabc 3\nab 4\n",
	 "a;c 2\nab 4\nab;c 1\nabc 3\n", 0},
	{"no number", "a;b\nc 1\n", "c 1\n", 1},
	{"a negative number, words, nothing but a number", "a -1\nb x\n 3\n5\nc 1\n", "c 1\n", 4},
	{"a number that 64 bits do not hold", "a 18446744073709551616\nb 1\n", "b 1\n", 1},
	{"sums end at the largest number", "a 18446744073709551615\na 2\n",
	 "a 18446744073709551615\n", 0},
	{"zero counts nothing", "a;b 0\nc 1\n", "c 1\n", 0},
};

static void test_folded(void **state)
{
	static const size_t parts[] = {1, 2, 3, 7, 1000};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
			struct flame f;

			print_message("%s, %zu\n", cases[i].name, parts[k]);
			start(&f, 0);
			assert_int_equal(read_folded(&f, 0, cases[i].in, parts[k]), cases[i].bad);
			assert_folded(&f, false, cases[i].out);
			flame_free(&f);
		}
	}
}

static void test_names_stay_one_frame(void **state)
{
	struct flame f;

	start(&f, 0);
	flame_add(&f, 0, flame_child(&f, f.root, "a;b\nc", 5), 3);
	assert_folded(&f, false, "a:b?c 3\n");
	flame_free(&f);
}

static void test_two_sides(void **state)
{
	struct flame f;

	start(&f, 0);
	read_folded(&f, 0, "a;b 10\na;c 5\n", 100);
	read_folded(&f, 1, "a;b 20\nd 1\n", 100);
	assert_folded(&f, true, "a;b 10 20\na;c 5 0\nd 0 1\n");
	assert_int_equal(f.root->total[0], 15);
	assert_int_equal(f.root->total[1], 21);
	flame_free(&f);
}

static void test_reverse(void **state)
{
	struct flame f, r;

	start(&f, 0);
	start(&r, 0);
	read_folded(&f, 0, "main;a;x 1\nmain;b;x 2\nmain 4\n", 100);
	flame_finish(&f);
	flame_reverse(&f, &r);
	assert_folded(&r, false, "main 4\nx;a;main 1\nx;b;main 2\n");
	assert_int_equal(r.root->child->sibling->total[0], 3);
	flame_free(&f);
	flame_free(&r);
}

/* ---- the tree ---- */

static void test_many_children(void **state)
{
	struct flame f;
	char name[32];
	uint64_t n = 0;

	start(&f, 0);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 1000; i++) {
			int len = snprintf(name, sizeof(name), "f%d", i);

			flame_add(&f, 0, flame_child(&f, f.root, name, (size_t)len), 1);
		}
	flame_finish(&f);
	for (const struct flame_node *c = f.root->child; c; c = c->sibling, n++) {
		assert_int_equal(c->total[0], 3);
		assert_true(!c->sibling || strcmp(c->name, c->sibling->name) < 0);
	}
	assert_int_equal(n, 1000);
	flame_free(&f);
}

static void test_limit(void **state)
{
	struct flame f;
	char stack[64];
	uint64_t other = 0;

	start(&f, 100);
	for (int i = 0; i < 5000; i++) {
		int len = snprintf(stack, sizeof(stack), "a;b%d;c%d", i % 150, i % 7);

		flame_add(&f, 0, flame_stack(&f, f.root, stack, (size_t)len), 1);
	}
	flame_finish(&f);
	assert_true(f.nr <= 200);
	assert_int_equal(f.root->total[0], 5000);
	for (const struct flame_node *n = f.root; n; n = flame_next(n))
		other += strcmp(flame_name(n), "(other)") == 0 ? n->total[0] : 0;
	assert_true(other > 0);
	assert_int_equal(other, f.crowded[0]);
	flame_free(&f);
}

static void test_deep(void **state)
{
	struct flame f;
	struct buf stack, out;

	start(&f, 0);
	buf_init(&stack, TEXT_LIMIT);
	buf_init(&out, TEXT_LIMIT);
	for (int i = 0; i < 3 * FLAME_DEPTH; i++)
		buf_printf(&stack, "f%d;", i);
	flame_add(&f, 0, flame_stack(&f, f.root, "f0;b;c", 6), 1);
	flame_add(&f, 0, flame_stack(&f, f.root, stack.data, stack.len), 1);
	flame_add(&f, 0, flame_stack(&f, f.root, "f0;b;c", 6), 1);
	flame_add(&f, 0, flame_stack(&f, f.root, stack.data, stack.len), 1);
	flame_finish(&f);
	assert_int_equal(f.root->total[0], 4);
	flame_folded_put(&f, false, &out);
	assert_non_null(strstr(buf_str(&out), "f1022;f1023"));
	/* What comes behind one that is too deep is not taken for it. */
	assert_non_null(strstr(buf_str(&out), "f0;b;c 2\n"));
	flame_svg(&f, &(struct flame_look){.min_width = -1}, &out);
	assert_false(buf_full(&out));
	buf_free(&stack);
	buf_free(&out);
	flame_free(&f);
}

static struct flame_node *detached(struct flame *f, const char *child, uint64_t value)
{
	struct flame_node *n = flame_detached(f);

	assert_non_null(n);
	flame_add(f, 0, flame_child(f, n, child, strlen(child)), value);
	return n;
}

/* Calls end before their callers. */
static void test_attach(void **state)
{
	struct flame f;
	struct flame_node *outer;
	size_t before;

	start(&f, 0);
	outer = flame_detached(&f);
	flame_attach(&f, outer, "b", 1, detached(&f, "c", 1));
	flame_attach(&f, outer, "b", 1, detached(&f, "c", 2));
	flame_attach(&f, outer, "b", 1, detached(&f, "d", 4));
	flame_attach(&f, f.root, "a", 1, outer);
	before = f.nr;
	for (int i = 0; i < 100; i++) {
		outer = flame_detached(&f);
		flame_attach(&f, outer, "b", 1, detached(&f, "c", 1));
		flame_attach(&f, f.root, "a", 1, outer);
	}
	/* What is merged takes no room. */
	assert_int_equal(f.nr, before);
	flame_merge(&f, detached(&f, "e", 8), f.root);
	assert_folded(&f, false, "a;b;c 103\na;b;d 4\ne 8\n");
	flame_free(&f);
}

static void test_attach_many(void **state)
{
	struct flame f;
	char name[32];

	start(&f, 0);
	for (int round = 0; round < 3; round++) {
		struct flame_node *outer = flame_detached(&f);

		for (int i = 0; i < 50; i++) {
			int len = snprintf(name, sizeof(name), "f%d", (i * 7 + round) % 60);

			flame_add(&f, 0, flame_child(&f, outer, name, (size_t)len), 1);
		}
		flame_attach(&f, f.root, "a", 1, outer);
	}
	flame_finish(&f);
	assert_int_equal(f.root->child->total[0], 150);
	assert_int_equal(f.root->child->nr_children, 60);
	flame_free(&f);
}

/* ---- pictures ---- */

/* strstr() measures all of the text each time when sanitizers watch it, which takes forever. */
static size_t count(const char *text, const char *what)
{
	const size_t len = strlen(what);
	size_t n = 0;

	for (const char *p = text; (p = strchrnul(p, *what)) && *p; p++)
		n += strncmp(p, what, len) == 0;
	return n;
}

static void test_svg(void **state)
{
	static const struct {
		const char *in;
		double min_width;
		size_t frames; /* the root is one */
		const char *there;
	} pictures[] = {
		{"a;b 1\na;c 3\n", -1, 4, "<title>c (3 samples, 75.00%)</title>"},
		{"a;b 1\na;c 1\n", -1, 4, "<title>b (1 sample, 50.00%)</title>"},
		{"a 1000000\nb 1\n", -1, 2, "1 frames narrower than 0.10 px left out, 0.00%"},
		{"a 1000000\nb 1\n", 0, 3, "<title>b (1 sample, 0.00%)</title>"},
		{"<a>\"&' 1\n", -1, 2, "<title>&lt;a&gt;&quot;&amp;&#39; (1 sample, 100.00%)"},
		{"]]></svg><script>x 1\n", -1, 2, "]]&gt;&lt;/svg&gt;&lt;script&gt;x"},
		{"a\x01\xff 1\n", -1, 2, "<title>a\xef\xbf\xbd\xef\xbf\xbd (1 sample"},
		{"", -1, 0, "Flame Graph"},
	};

	for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
		const struct flame_look look = {.min_width = pictures[i].min_width};
		struct flame f;
		struct buf out;

		print_message("%s\n", pictures[i].in);
		start(&f, 0);
		buf_init(&out, TEXT_LIMIT);
		read_folded(&f, 0, pictures[i].in, 1000);
		flame_finish(&f);
		flame_svg(&f, &look, &out);
		assert_int_equal(count(buf_str(&out), "<g class=\"f\">"), pictures[i].frames);
		assert_non_null(strstr(buf_str(&out), pictures[i].there));
		assert_int_equal(count(buf_str(&out), "<script>"), 1);
		buf_free(&out);
		flame_free(&f);
	}
}

/* Shares are compared, not numbers: the second file has twice as many of everything. */
static void test_diff(void **state)
{
	const struct flame_look look = {.min_width = -1, .both = true};
	struct flame f;
	struct buf out;

	start(&f, 0);
	buf_init(&out, TEXT_LIMIT);
	read_folded(&f, 0, "same 5\nmore 1\nless 3\ngone 1\n", 1000);
	read_folded(&f, 1, "same 10\nmore 8\nless 2\n", 1000);
	flame_finish(&f);
	flame_svg(&f, &look, &out);
	assert_non_null(strstr(buf_str(&out),
			       "more (8 samples, 40.00%; before 1 sample, 10.00%; +30.00%)"));
	assert_non_null(strstr(buf_str(&out),
			       "less (2 samples, 10.00%; before 3 samples, 30.00%; -20.00%)"));
	assert_non_null(strstr(buf_str(&out), "+0.00%"));
	assert_non_null(strstr(buf_str(&out), "10.00% of the first is gone"));
	assert_null(strstr(buf_str(&out), "<title>gone"));
	buf_free(&out);
	flame_free(&f);
}

static void test_chart(void **state)
{
	const struct flame_look look = {.min_width = -1};
	struct spur_error err = {0};
	struct flame_chart *c = flame_chart_new(&err);
	struct buf out;

	assert_non_null(c);
	buf_init(&out, TEXT_LIMIT);
	flame_chart_call(c, 100, "<b>", "inner", 1000200, 300, 1, false);
	flame_chart_call(c, 100, "<b>", "outer", 1000000, 1000, 0, false);
	flame_chart_call(c, 200, NULL, "other", UINT64_MAX - 5, 100, -7, true);
	flame_chart_svg(c, &look, &out);
	assert_int_equal(count(buf_str(&out), "<g class=\"f\">"), 3);
	assert_non_null(strstr(buf_str(&out), "inner (300 ns at 0.001000 s)"));
	assert_non_null(strstr(buf_str(&out), "other (at least 100 ns at "));
	assert_non_null(strstr(buf_str(&out), "&lt;b&gt;-100"));
	buf_free(&out);
	flame_chart_free(c);
}

/* The longest calls of many are those that are shown. */
static void test_chart_of_many(void **state)
{
	const struct flame_look look = {.min_width = -1};
	struct spur_error err = {0};
	struct flame_chart *c = flame_chart_new(&err);
	struct buf out;

	buf_init(&out, 64u << 20);
	for (uint64_t i = 0; i < 300000; i++)
		flame_chart_call(c, 1, "t", i % 1000 ? "short" : "long", i * 100,
				 i % 1000 ? 50 : 90, 0, false);
	assert_int_equal(flame_chart_calls(c), 300000);
	flame_chart_svg(c, &look, &out);
	assert_false(buf_full(&out));
	assert_int_equal(count(buf_str(&out), "<title>long ("), 300);
	assert_int_equal(count(buf_str(&out), "<g class=\"f\">"), 40000);
	assert_non_null(strstr(buf_str(&out), "260000 shorter calls left out"));
	buf_free(&out);
	flame_chart_free(c);
}

static void test_heat(void **state)
{
	const struct flame_look look = {.min_width = -1};
	struct spur_error err = {0};
	struct flame_heat *h = flame_heat_new(0, &err);
	struct buf out;

	assert_non_null(h);
	buf_init(&out, TEXT_LIMIT);
	flame_heat_add(h, 7020000000ull);
	flame_heat_add(h, 7039999999ull);
	flame_heat_add(h, 5999999999ull);
	flame_heat_svg(h, &look, &out);
	assert_int_equal(count(buf_str(&out), "<g class=\"f\">"), 2);
	assert_non_null(strstr(buf_str(&out), "7.02 s to 7.04 s (2 events)"));
	assert_non_null(strstr(buf_str(&out), "5.98 s to 6 s (1 event)"));
	/* A time far away makes columns wider, not more. */
	flame_heat_add(h, UINT64_MAX);
	flame_heat_add(h, 0);
	buf_reset(&out);
	flame_heat_svg(h, &look, &out);
	assert_int_equal(flame_heat_events(h), 5);
	assert_int_equal(count(buf_str(&out), "<g class=\"f\">"), 4);
	buf_free(&out);
	flame_heat_free(h);
}

/* ---- escaping ---- */

static void test_xml(void **state)
{
	static const struct {
		const char *in, *out;
	} texts[] = {
		{"plain", "plain"},
		{"<&>\"'", "&lt;&amp;&gt;&quot;&#39;"},
		{"a\tb\nc", "a b c"},
		{"\x1b[31m\x7f", "\xef\xbf\xbd[31m\xef\xbf\xbd"},
		{"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
		{"\xc3", "\xef\xbf\xbd"},
		{"\xed\xa0\x80x", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx"},
		{"\xef\xbf\xbf", "\xef\xbf\xbd"},
		{"\xe2\x80\xae"
		 "evil",
		 "\xef\xbf\xbd"
		 "evil"},
		{"\xc2\x85", "\xef\xbf\xbd"},
		{"\xf0\x9f\x94\xa5", "\xf0\x9f\x94\xa5"},
	};
	struct buf out;

	buf_init(&out, 1000);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		buf_reset(&out);
		buf_put_xml(&out, texts[i].in, strlen(texts[i].in));
		assert_string_equal(buf_str(&out), texts[i].out);
	}
	buf_reset(&out);
	assert_int_equal(buf_put_xml_chars(&out, "\xc3\xbc<x", 4, 2), 3);
	assert_string_equal(buf_str(&out), "\xc3\xbc&lt;");
	assert_int_equal(xml_chars("\xc3\xbc<x", 4), 3);
	buf_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded),	      cmocka_unit_test(test_names_stay_one_frame),
		cmocka_unit_test(test_two_sides),     cmocka_unit_test(test_reverse),
		cmocka_unit_test(test_many_children), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_deep),	      cmocka_unit_test(test_attach),
		cmocka_unit_test(test_attach_many),   cmocka_unit_test(test_svg),
		cmocka_unit_test(test_diff),	      cmocka_unit_test(test_chart),
		cmocka_unit_test(test_chart_of_many), cmocka_unit_test(test_heat),
		cmocka_unit_test(test_xml),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
