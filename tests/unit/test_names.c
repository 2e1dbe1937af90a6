// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions, printk formats and command names: what their texts mean and what is found in them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "event/names.h"

/* ---- functions ---- */

static const char kallsyms[] = "0000000000000000 A per_cpu_start\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "\n"
			       "ffffffff81000100 t do_one\n"
			       "ffffffff81000100 t $a\n"
			       "ffffffff81000200 T same_1\n"
			       "ffffffff81000200 T same_2\n"
			       "ffffffff81000200 T same_3\n"
			       "ffffffff81000300 T after\n"
			       "ffffffffc0201000 t mod_open\t[nfs]\n"
			       "ffffffffc0100000 t mod_low\t[ext4]\n"
			       "ffffffffc0100010 t mod_low_two\t[ext4]\n"
			       "ffffffffc0300000 t space_separated [nfs]\n";

static void test_symbols_find(void **state)
{
	/* Which of several names an address has is what libtraceevent's search comes to. */
	static const struct {
		uint64_t addr;
		const char *name;   /* NULL: none */
		const char *module; /* NULL: none */
	} cases[] = {
		{0, NULL, NULL},
		{0xffffffff80ffffff, NULL, NULL},
		{0xffffffff81000000, "_stext", NULL},
		{0xffffffff81000001, "_stext", NULL},
		{0xffffffff810000ff, "_stext", NULL},
		{0xffffffff81000100, "do_one", NULL},
		{0xffffffff81000150, "do_one", NULL},
		{0xffffffff81000200, "same_1", NULL},
		{0xffffffff81000201, "same_1", NULL},
		{0xffffffff81000300, "after", NULL},
		{0xffffffffc00fffff, "after", NULL},
		{0xffffffffc0100000, "mod_low", "ext4"},
		{0xffffffffc0100020, "mod_low_two", "ext4"},
		{0xffffffffc0201fff, "mod_open", "nfs"},
		{0xffffffffc0300000, "space_separated", NULL},
		{0xffffffffc0300001, NULL, NULL},
		{UINT64_MAX, NULL, NULL},
	};
	struct symbols *s = symbols_new();

	assert_null(symbols_find(s, 0xffffffff81000000));
	assert_int_equal(symbols_add(s, kallsyms, sizeof(kallsyms) - 1), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct symbol *sym = symbols_find(s, cases[i].addr);

		if (!cases[i].name) {
			assert_null(sym);
			continue;
		}
		assert_non_null(sym);
		assert_string_equal(sym->name, cases[i].name);
		assert_int_equal(sym->len, strlen(cases[i].name));
		if (cases[i].module)
			assert_string_equal(sym->module, cases[i].module);
		else
			assert_null(sym->module);
	}
	assert_int_equal(symbols_add(s, kallsyms, sizeof(kallsyms) - 1), -EBUSY);
	assert_int_equal(symbols_find_name(s, "after")->addr, 0xffffffff81000300);
	assert_null(symbols_find_name(s, "afte"));
	symbols_free(s);
}

static void test_symbols_order(void **state)
{
	static const char *const order[] = {
		"_text", "_stext",  "do_one",	   "same_3",   "same_2",	  "same_1",
		"after", "mod_low", "mod_low_two", "mod_open", "space_separated",
	};
	struct symbols *s = symbols_new();
	const struct symbol *all;
	const char *split;
	size_t n;

	/* In two pieces: a text may come in several. */
	split = strstr(kallsyms, "ffffffff81000200");
	assert_int_equal(symbols_add_ref(s, kallsyms, (size_t)(split - kallsyms)), 0);
	assert_int_equal(symbols_add_ref(s, split, strlen(split)), 0);
	all = symbols_all(s, &n);
	assert_int_equal(n, sizeof(order) / sizeof(order[0]));
	for (size_t i = 0; i < n; i++)
		assert_string_equal(all[i].name, order[i]);
	symbols_free(s);
}

static void test_symbols_damaged(void **state)
{
	/* The text counts up to its first line that is no symbol. */
	static const struct {
		const char *text;
		size_t n;
	} cases[] = {
		{"", 0},
		{"\n\n\n", 0},
		{"zz T a\n", 0},
		{"10 T\n", 0},
		{"10\n", 0},
		{"10 T ", 0},
		{"10 T a", 1},
		{"10 T a\n20 T b\ngarbage\n30 T c\n", 2},
		{"  10   T   a  \n", 1},
		{"10 T a\t[\n20 T b\t[]\n30 T c\t[ x\n", 3},
		{"12345678901234567890 T a\n", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct symbols *s = symbols_new();
		size_t n;

		assert_int_equal(symbols_add(s, cases[i].text, strlen(cases[i].text)), 0);
		symbols_all(s, &n);
		assert_int_equal(n, cases[i].n);
		symbols_free(s);
	}
	assert_null(symbols_find(NULL, 5));
}

/* Sorted runs of all sorts of lengths come out in order, and every symbol is found. */
static void test_symbols_many(void **state)
{
	struct symbols *s = symbols_new();
	const struct symbol *all;
	uint32_t seed = 1;
	struct buf b;
	size_t n;

	buf_init(&b, 1 << 20);
	for (unsigned int i = 0; i < 5000; i++) {
		seed = seed * 1103515245u + 12345u;
		buf_printf(&b, "%x t f%u\n", i < 3000 ? i * 16 : seed >> 12, i);
	}
	assert_int_equal(symbols_add(s, b.data, b.len), 0);
	buf_free(&b);
	all = symbols_all(s, &n);
	assert_int_equal(n, 5000);
	for (size_t i = 0; i < n; i++) {
		assert_true(!i || all[i - 1].addr <= all[i].addr);
		assert_int_equal(symbols_find(s, all[i].addr)->addr, all[i].addr);
	}
	symbols_free(s);
}

static void *find_thread(void *arg)
{
	const struct symbol *sym = symbols_find(arg, 0x1010);

	return (void *)(sym ? sym->name : "none");
}

static void test_symbols_threads(void **state)
{
	struct symbols *s = symbols_new();
	pthread_t threads[4];

	symbols_add(s, "1000 T one\n2000 T two\n", 22);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, find_thread, s), 0);
	for (size_t i = 0; i < 4; i++) {
		void *name;

		pthread_join(threads[i], &name);
		assert_string_equal(name, "one");
	}
	symbols_free(s);
}

/* ---- printk formats ---- */

static void test_printk_formats(void **state)
{
	static const char text[] = "0xffffffff82000020 : \"second\"\n"
				   "0xffffffff82000010 : \"%s: took %d us\\n\"\n"
				   "0xffffffff82000030 : \"tab\\there: \\\"x\\\"\"\n"
				   "0xffffffff82000040 : unquoted\\n\n"
				   "0xffffffff82000050 : \"\"\n"
				   "0xffffffff82000060 : \"\\n\"\n"
				   "0xffffffff82000070 :\n"
				   "no colon\n"
				   "0xffffffff82000080 : \"end\"";
	static const struct {
		uint64_t addr;
		const char *text;
	} expect[] = {
		{0xffffffff82000010, "%s: took %d us"},
		{0xffffffff82000020, "second"},
		{0xffffffff82000030, "tab\\there: \\\"x\\\""},
		{0xffffffff82000040, "unquoted\\n"},
		{0xffffffff82000050, ""},
		{0xffffffff82000060, ""},
		{0xffffffff82000070, ""},
		{0xffffffff82000080, "end"},
	};
	struct printk_formats *p = printk_formats_new();
	const struct printk_format *all;
	size_t n;

	assert_int_equal(printk_formats_add(p, text, sizeof(text) - 1), 0);
	all = printk_formats_all(p, &n);
	assert_int_equal(n, sizeof(expect) / sizeof(expect[0]));
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(all[i].addr, expect[i].addr);
		assert_string_equal(all[i].text, expect[i].text);
		assert_string_equal(printk_format_find(p, expect[i].addr), expect[i].text);
	}
	assert_null(printk_format_find(p, 5));
	assert_int_equal(printk_formats_add(p, "", 0), 0);
	printk_formats_free(p);
	assert_null(printk_format_find(NULL, 5));
}

/* ---- tasks ---- */

static const char *find(const struct comms *c, int pid)
{
	size_t len;
	const char *name = comms_find(c, pid, &len);

	assert_int_equal(len, strlen(name));
	return name;
}

static void collect(void *arg, int pid, const char *name)
{
	buf_printf(arg, "%d=%s ", pid, name);
}

static void test_comms(void **state)
{
	static const char text[] = "300 kworker/0:1\n1 init\n\n 22   two words \n1 again\n0 zero\n"
				   "-5 negative\nno number\n7 never\n";
	struct comms *c = comms_new();
	struct buf b;

	assert_int_equal(comms_add(c, text, sizeof(text) - 1), 0);
	assert_string_equal(find(c, 0), "<idle>");
	assert_string_equal(find(c, 1), "init");
	assert_string_equal(find(c, 22), "two words ");
	assert_string_equal(find(c, 300), "kworker/0:1");
	assert_string_equal(find(c, -5), "negative");
	assert_string_equal(find(c, 7), "<...>");
	assert_true(comms_known(c, 0));
	assert_true(comms_known(c, 22));
	assert_false(comms_known(c, 7));

	assert_int_equal(comms_learn(c, 7, "seven", 5), 1);
	assert_int_equal(comms_learn(c, 7, "other", 5), 0);
	assert_int_equal(comms_learn(c, 0, "other", 5), 0);
	assert_string_equal(find(c, 7), "seven");

	buf_init(&b, 4096);
	comms_each(c, collect, &b);
	assert_string_equal(buf_str(&b),
			    "-5=negative 1=init 7=seven 22=two words  300=kworker/0:1 ");
	buf_free(&b);
	comms_free(c);
}

static const char *ask(struct comm_overlay *o, int pid)
{
	size_t len;
	const char *name = overlay_find(o, pid, &len);

	assert_int_equal(len, strlen(name));
	return name;
}

static void test_overlay(void **state)
{
	struct comms *c = comms_new();
	struct comm_overlay *o;
	const struct learned_comm *learned;
	const int *unknown;
	size_t n;

	comms_add(c, "1 init\n", 7);
	o = overlay_new(c);
	assert_string_equal(ask(o, 0), "<idle>");
	assert_string_equal(ask(o, 1), "init");
	assert_string_equal(ask(o, 5), "<...>");
	assert_string_equal(ask(o, 5), "<...>");
	/* Asked for, then pushed out of the recent ones, then asked for again. */
	assert_string_equal(ask(o, 5 + 4096), "<...>");
	assert_string_equal(ask(o, 5), "<...>");
	assert_true(overlay_learn(o, 5, "five!!", 4));
	assert_false(overlay_learn(o, 5, "other", 5));
	assert_false(overlay_learn(o, 1, "other", 5));
	assert_false(overlay_learn(o, 0, "swapper", 7));
	assert_true(overlay_learn(o, 6, "six", 3));
	assert_string_equal(ask(o, 5), "five");
	assert_string_equal(ask(o, 6), "six");
	assert_string_equal(ask(o, 1), "init");
	assert_string_equal(find(c, 5), "<...>");

	unknown = overlay_unknown(o, &n);
	assert_int_equal(n, 2);
	assert_int_equal(unknown[0], 5);
	assert_int_equal(unknown[1], 5 + 4096);
	learned = overlay_learned(o, &n);
	assert_int_equal(n, 2);
	assert_int_equal(learned[0].pid, 5);
	assert_string_equal(learned[0].name, "five");
	assert_int_equal(learned[1].pid, 6);

	overlay_reset(o);
	overlay_unknown(o, &n);
	assert_int_equal(n, 0);
	assert_string_equal(ask(o, 5), "<...>");
	assert_string_equal(ask(o, 1), "init");
	overlay_free(o);
	comms_free(c);

	o = overlay_new(NULL);
	assert_string_equal(ask(o, 1), "<...>");
	assert_true(overlay_learn(o, 1, "init", 4));
	assert_string_equal(ask(o, 1), "init");
	overlay_free(o);
}

/* Two parts of a trace are printed at once; which findings of the first spoil the second? */
static void test_overlay_stale(void **state)
{
	static const struct {
		int first;	   /* what the first part learned, as "name" */
		int asked;	   /* what the second asked for; 0: nothing */
		int second;	   /* what the second learned; 0: nothing */
		const char *other; /* … with which name */
		bool stale;
	} cases[] = {
		{5, 0, 0, "", false},	  {5, 5, 0, "", true},	  {5, 6, 0, "", false},
		{5, 0, 5, "name", false}, {5, 0, 5, "nam", true}, {5, 0, 6, "x", false},
		{5, 5, 5, "name", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct comm_overlay *a = overlay_new(NULL), *b = overlay_new(NULL);

		overlay_learn(a, cases[i].first, "name", 4);
		if (cases[i].asked)
			ask(b, cases[i].asked);
		if (cases[i].second)
			overlay_learn(b, cases[i].second, cases[i].other, strlen(cases[i].other));
		assert_int_equal(overlay_stale(b, a), cases[i].stale);

		/* With the first one's findings from the start it is never stale. */
		overlay_reset(b);
		assert_true(overlay_adopt(b, a));
		assert_string_equal(ask(b, 5), "name");
		assert_false(overlay_stale(b, a));
		overlay_free(a);
		overlay_free(b);
	}
}

/* The list of a later moment: what a task is called then. */
static void test_comms_update(void **state)
{
	static const struct {
		const char *before, *after;
		const char *name; /* of task 5 then */
	} cases[] = {
		{"5 sh\n", "5 ls\n", "ls"},
		{"5 sh\n", "5 a-long-name-of15\n", "sh"}, /* longer than any task's */
		{"5 sh\n", "5 a-name-of-15-by\n", "a-name-of-15-by"},
		{"5 a-name-of-15-by\n", "5 x\n", "x"},
		{"5 sh\n", "5 <...>\n", "sh"},
		{"5 sh\n", "6 ls\n", "sh"},
		{"6 sh\n", "5 ls\n", "ls"},
		{"5 sh\n", "", "sh"},
		{"5 sh\n", "rubbish\n5 ls\n", "sh"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct comms *c = comms_new();

		assert_int_equal(comms_add(c, cases[i].before, strlen(cases[i].before)), 0);
		assert_int_equal(comms_update(c, cases[i].after, strlen(cases[i].after)), 0);
		assert_string_equal(find(c, 5), cases[i].name);
		comms_free(c);
	}
}

static bool even_only(void *asked, int pid, char *name, size_t cap)
{
	++*(int *)asked;
	snprintf(name, cap, "task-%d", pid);
	return pid % 2 == 0;
}

/* Somebody who knows the names that are in no table. */
static void test_overlay_ask(void **state)
{
	struct comms *c = comms_new();
	struct comm_overlay *o;
	int asked = 0;
	size_t n;

	comms_add(c, "1 init\n", 7);
	o = overlay_new(c);
	overlay_ask(o, even_only, &asked);
	assert_string_equal(ask(o, 1), "init");
	assert_int_equal(asked, 0);
	assert_string_equal(ask(o, 4), "task-4");
	assert_string_equal(ask(o, 4), "task-4");
	assert_int_equal(asked, 1);
	assert_string_equal(ask(o, 5), "<...>");
	assert_int_equal(overlay_unknown(o, &n)[0], 5);
	assert_int_equal(n, 1);
	overlay_learned(o, &n);
	assert_int_equal(n, 1);

	/* Who is asked stays; what was said does not. */
	overlay_reset(o);
	asked = 0;
	assert_string_equal(ask(o, 4), "task-4");
	assert_int_equal(asked, 1);
	overlay_free(o);
	comms_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_find),	cmocka_unit_test(test_symbols_order),
		cmocka_unit_test(test_symbols_damaged), cmocka_unit_test(test_symbols_many),
		cmocka_unit_test(test_symbols_threads), cmocka_unit_test(test_printk_formats),
		cmocka_unit_test(test_comms),		cmocka_unit_test(test_overlay),
		cmocka_unit_test(test_overlay_stale),	cmocka_unit_test(test_comms_update),
		cmocka_unit_test(test_overlay_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
