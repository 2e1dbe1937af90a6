// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrays of characters in the raw form: text until one of them is none, numbers from then on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "event/event.h"
#include "event_fixture.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* Records of one event, printed one after the other. */
static void test_print(void **state)
{
	static const struct {
		const char *record, *want;
	} cases[] = {
		{"x61620000 x63640000", " a=ab b=cd"},
		{"x7f000001 x00000000", " a=ARRAY[7f, 00, 00, 01] b="},
		{"x61620000 x00000000", " a=ARRAY[61, 62, 00, 00] b="},
		{"x0a0a0a0a x63640000", " a=ARRAY[0a, 0a, 0a, 0a] b=cd"},
	};
	struct events *ev = fixture_events(false, 8);
	struct event_printer p;
	struct buf data, out;

	fixture_add(ev, "net", "pair", 7, "__u8 a[4] @8:4, __u8 b[4] @12:4", "\"\"");
	assert_int_equal(events_seal(ev), 0);
	assert_int_equal(event_printer_init(&p, ev), 0);
	buf_init(&data, 1000);
	buf_init(&out, 1000);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct spur_record r = fixture_record(&data, 7, cases[i].record, false);

		buf_reset(&out);
		event_print_fields(&p, events_by_id(ev, 7), &r, &out);
		buf_putc(&out, '\0');
		assert_string_equal(out.data, cases[i].want);
	}
	buf_free(&data);
	buf_free(&out);
	event_printer_done(&p);
	events_free(ev);
}

/* Two parts of a trace are printed at once; which findings of the first spoil the second? */
static void test_stale(void **state)
{
	static const struct event_field fields[3];
	static const struct {
		int first;  /* the field that the first part found to be binary; 0: none */
		int text;   /* the field that the second showed as text; 0: none */
		int binary; /* …and as numbers, afterwards */
		bool stale;
	} cases[] = {
		{1, 0, 0, false}, {1, 1, 0, true},  {1, 2, 0, false}, {1, 0, 1, false},
		{1, 1, 1, true},  {0, 1, 1, false}, {0, 1, 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct array_forms a = {0}, b = {0};

		if (cases[i].first)
			assert_false(array_forms_text(&a, &fields[cases[i].first], false));
		if (cases[i].text)
			assert_true(array_forms_text(&b, &fields[cases[i].text], true));
		if (cases[i].binary)
			assert_false(array_forms_text(&b, &fields[cases[i].binary], false));
		assert_int_equal(array_forms_stale(&b, &a), cases[i].stale);

		/* With the first one's findings from the start it is never stale. */
		array_forms_reset(&b);
		assert_true(array_forms_adopt(&b, &a));
		assert_int_equal(array_forms_text(&b, &fields[1], true), cases[i].first != 1);
		assert_false(array_forms_stale(&b, &a));
		array_forms_free(&a);
		array_forms_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
