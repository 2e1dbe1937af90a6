// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event filters: which records match which filter, and what is said about a wrong one.
 * The records are those of filter_events.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "base/pattern.h"
#include "base/suggest.h"
#include "event/filter.h"
#include "event/names.h"
#include "filter_events.h"
#include "filter_words.h"

struct fixture {
	struct events *events;
	struct filter_bytes bytes[NR_FILTER_RECORDS];
};

static int setup(void **state)
{
	struct fixture *x = calloc(1, sizeof(*x));
	struct spur_error err = {0};

	if (!x)
		return -1;
	x->events = events_new();
	for (size_t i = 0; i < NR_FILTER_FORMATS; i++)
		if (events_add(x->events, filter_formats[i].system, filter_formats[i].format,
			       strlen(filter_formats[i].format), &err))
			return -1;
	if (events_seal(x->events) ||
	    symbols_add(x->events->symbols, filter_kallsyms, strlen(filter_kallsyms)) ||
	    comms_add(x->events->comms, filter_comms, strlen(filter_comms)))
		return -1;
	filter_records(x->bytes);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *x = *state;

	events_free(x->events);
	free(x);
	return 0;
}

static enum filter_result match(struct fixture *x, const struct filter *f, enum filter_record which)
{
	struct spur_record r = filter_record_of(&x->bytes[which]);
	struct event *e = events_of_record(x->events, &r);

	assert_non_null(e);
	return filter_match(f, NULL, e, &r);
}

/* ---- verdicts -------------------------------------------------------------------------- */

#define YES  FILTER_MATCH
#define NO   FILTER_MISS
#define NONE FILTER_NOEXIST

static const struct verdict {
	enum filter_record record;
	const char *text;
	enum filter_result want;
} verdicts[] = {
	/* events */
	{R_SWITCH, "sched_switch", YES},
	{R_SWITCH, "sched", YES},
	{R_SWITCH, "SCHED/Sched_Switch", YES},
	{R_SWITCH, " sched / sched_switch ", YES},
	{R_SWITCH, "sched/", YES},
	{R_SWITCH, "/sched_switch", YES},
	{R_SWITCH, "sched//sched_switch", YES},
	{R_SWITCH, "sched_.*", YES},
	{R_SWITCH, "sched/.*wakeup", NONE},
	{R_SWITCH, "sched/.*", YES},
	{R_SWITCH, ".*/sched_switch", YES},
	{R_SWITCH, "numbers,sched_switch", YES},
	{R_SWITCH, "numbers , sched_switch : prev_pid == 42", YES},
	{R_SWITCH, "function", NONE},
	{R_SWITCH, "sched_switc[gh]", YES},
	{R_SWITCH, ".*", YES},
	{R_SWITCH, "function\\|sched_switch", YES},

	/* numbers */
	{R_SWITCH, "sched_switch:prev_pid==42", YES},
	{R_SWITCH, "sched_switch: prev_pid == 0x2a", YES},
	{R_SWITCH, "sched_switch: prev_pid == 052", YES},
	{R_SWITCH, "sched_switch: prev_pid == 42UL", YES},
	{R_SWITCH, "sched_switch: prev_pid != 42", NO},
	{R_SWITCH, "sched_switch: prev_pid > 41", YES},
	{R_SWITCH, "sched_switch: prev_pid >= 43", NO},
	{R_SWITCH, "sched_switch: prev_pid < 42", NO},
	{R_SWITCH, "sched_switch: prev_pid <= 42", YES},
	{R_SWITCH, "sched_switch: prev_prio == 'x'", YES},
	{R_SWITCH, "sched_switch: common_pid == 42", YES},
	{R_SWITCH, "sched_switch: CPU == 1", YES},
	{R_SWITCH, "sched_switch: CPU > 1", NO},
	{R_SWITCH, "sched_switch: CPU", YES},
	{R_SWITCH_IDLE, "sched_switch: CPU", NO},
	{R_NUMBERS, "numbers: a8 == 200", YES},
	{R_NUMBERS, "numbers: a16 == 60000", YES},
	{R_NUMBERS, "numbers: a32 == 0xfffffff0", YES},
	{R_NUMBERS, "numbers: a64 == 0x8000000000000001", YES},
	{R_NUMBERS, "numbers: a64 > 5", YES},

	/* signs */
	{R_NUMBERS, "numbers: b8 == -2", YES},
	{R_NUMBERS, "numbers: b16 == -300", YES},
	{R_NUMBERS, "numbers: b32 == -100 && b64 == -1", YES},
	{R_NUMBERS, "numbers: b32 != -100", NO},
	{R_NUMBERS, "numbers: b32 < 0", YES},
	{R_NUMBERS, "numbers: b32 >= 0", NO},
	{R_NUMBERS, "numbers: b32 < -99", YES},
	{R_NUMBERS, "numbers: b32 > -100", NO},
	{R_NUMBERS, "numbers: b32 >= - 100", YES},
	{R_NUMBERS, "numbers: b32 > 5", YES}, /* as trace-cmd: unsigned */
	{R_NUMBERS, "numbers: b64 == 0xffffffffffffffff", YES},
	{R_NUMBERS, "numbers: a32 == -16", YES},
	{R_NUMBERS, "numbers: a32 > -16", YES},
	{R_NUMBERS, "numbers: a64 < 0", NO},
	{R_NUMBERS, "numbers: b32 < a32", YES},
	{R_NUMBERS, "numbers: b64 < b32", NO},
	{R_NUMBERS, "numbers: b8 > b16", YES},

	/* calculating */
	{R_NUMBERS, "numbers: flags & 0x4", YES},
	{R_NUMBERS, "numbers: flags & 0x8", NO},
	{R_NUMBERS, "numbers: (flags & 6) == 6", YES},
	{R_NUMBERS, "numbers: flags & 6 == 4", NO},
	{R_NUMBERS, "numbers: flags & ~0x16", NO},
	{R_NUMBERS, "numbers: flags | 1", YES},
	{R_NUMBERS, "numbers: flags ^ 0x16", NO},
	{R_NUMBERS, "numbers: flags ^ 0x16 || zero ^ 1", YES},
	{R_NUMBERS, "numbers: a8 - 200", NO},
	{R_NUMBERS, "numbers: a8 + 56 == 256", YES},
	{R_NUMBERS, "numbers: a8 * 2 == 400 && a8 / 7 == 28 && a8 % 7 == 4", YES},
	{R_NUMBERS, "numbers: 1 << 4 == 16 && flags >> 1 == 11", YES},
	{R_NUMBERS, "numbers: 2 + 3 * 4 == 14 && (2 + 3) * 4 == 20", YES},
	{R_NUMBERS, "numbers: 10 - 3 - 2 == 5", YES},
	{R_NUMBERS, "numbers: a8 / zero", NO},
	{R_NUMBERS, "numbers: a8 / zero == 0 && a8 % zero == 0", YES},
	{R_NUMBERS, "numbers: flags << 64 || flags >> 64 || 1 << a64", NO},
	{R_NUMBERS, "numbers: a8 == 400 / 2", YES},
	{R_NUMBERS, "numbers: 200 == a8", YES},
	{R_NUMBERS, "numbers: -b32 == 100", YES},
	{R_NUMBERS, "numbers: b32 - b8 < 0", YES},
	{R_NUMBERS, "numbers: ~zero == ~0", YES},
	{R_NUMBERS, "numbers: a8", YES},
	{R_NUMBERS, "numbers: !a8", NO},
	{R_NUMBERS, "numbers: zero", NO},
	{R_NUMBERS, "numbers: 0", NO},
	{R_NUMBERS, "numbers: 1", YES},
	{R_SWITCH, "sched_switch: prev_pid < next_pid", NO},
	{R_SWITCH, "sched_switch: prev_prio - next_prio == 20", YES},

	/* conditions */
	{R_SWITCH, "sched_switch: prev_pid == 42 && next_pid == 7", YES},
	{R_SWITCH, "sched_switch: prev_pid == 1 || next_pid == 7", YES},
	{R_SWITCH, "sched_switch: prev_pid == 1 && next_pid == 7", NO},
	{R_SWITCH, "sched_switch: !prev_pid == 1", YES},
	{R_SWITCH, "sched_switch: !!prev_pid == 1", NO},
	{R_SWITCH, "sched_switch: !(prev_pid == 1 || next_pid == 7)", NO},
	{R_SWITCH, "sched_switch: !prev_pid == 42 && next_pid == 7", NO},
	/* from left to right: (true || x) && false */
	{R_SWITCH, "sched_switch: prev_pid == 42 || prev_pid == 42 && prev_pid == 1", NO},
	{R_SWITCH, "sched_switch: prev_pid == 42 || (prev_pid == 42 && prev_pid == 1)", YES},
	{R_SWITCH, "sched_switch: prev_pid == 1 && prev_pid == 1 || next_pid == 7", YES},
	{R_SWITCH, "sched_switch: ((((prev_pid == 42))))", YES},

	/* texts */
	{R_SWITCH, "sched_switch: prev_comm == \"bash\"", YES},
	{R_SWITCH, "sched_switch: prev_comm == 'bash'", YES},
	{R_SWITCH, "sched_switch: prev_comm == \"ba\" \"sh\"", YES},
	{R_SWITCH, "sched_switch: prev_comm == \"Bash\"", NO},
	{R_SWITCH, "sched_switch: prev_comm == \"bas\"", NO},
	{R_SWITCH, "sched_switch: prev_comm != \"bash\"", NO},
	{R_SWITCH, "sched_switch: prev_comm == bash", YES},
	{R_SWITCH, "sched_switch: prev_comm != next_comm", YES},
	{R_SWITCH, "sched_switch: prev_comm == COMM", YES},
	{R_SWITCH, "sched_switch: prev_comm == \"b,a:s\"", NO},
	{R_SWITCH, "sched_switch: prev_comm", YES},
	{R_SWITCH, "sched_switch: prev_comm == 'b'", NO},
	{R_SWITCH_IDLE, "sched_switch: next_comm == \"sixteen letters!\"", YES},
	{R_SWITCH_IDLE, "sched_switch: next_comm =~ \"letters!$\"", YES},
	{R_WORDS, "words: name == \"hello\"", YES},
	{R_WORDS, "words: path == \"/bin/sh\"", YES},
	{R_WORDS, "words: path =~ \"^/BIN/\"", YES},
	{R_WORDS, "words: raw == \"abcd\"", YES},
	{R_WORDS, "words: raw == \"abc\"", NO},

	/* patterns */
	{R_SWITCH, "sched_switch: prev_comm =~ \"^ba\"", YES},
	{R_SWITCH, "sched_switch: prev_comm =~ \"^BA\"", YES},
	{R_SWITCH, "sched_switch: prev_comm =~ \"as\"", YES},
	{R_SWITCH, "sched_switch: prev_comm =~ \"^as\"", NO},
	{R_SWITCH, "sched_switch: prev_comm =~ \"h$\"", YES},
	{R_SWITCH, "sched_switch: prev_comm =~ '^b.*h$'", YES},
	{R_SWITCH, "sched_switch: prev_comm =~ \"b[aeiou]s\"", YES},
	{R_SWITCH, "sched_switch: prev_comm =~ 'zsh\\|bash'", YES},
	{R_SWITCH, "sched_switch: prev_comm !~ \"^ba\"", NO},
	{R_SWITCH, "sched_switch: prev_comm !~ \"zsh\"", YES},
	{R_SWITCH, "sched_switch: prev_comm =~ 'b'", YES},
	{R_SWITCH, "sched_switch: prev_comm ~ \"ba*\"", YES},
	{R_SWITCH, "sched_switch: prev_comm ~ \"*sh\"", YES},
	{R_SWITCH, "sched_switch: prev_comm ~ \"*as*\"", YES},
	{R_SWITCH, "sched_switch: prev_comm ~ \"bash\"", YES},
	{R_SWITCH, "sched_switch: prev_comm ~ \"ba\"", NO},
	{R_SWITCH, "sched_switch: prev_comm ~ \"BA*\"", NO},
	{R_SWITCH, "sched_switch: prev_comm ~ \"b?s[gh]\"", YES},
	{R_SWITCH, "sched_switch: prev_comm ~ \"b*h\"", YES},
	{R_SWITCH, "sched_switch: prev_comm ~ \"!ba*\"", NO},
	{R_SWITCH, "sched_switch: prev_comm ~ \"*\"", YES},
	{R_SWITCH, "sched_switch: next_comm ~ \"kworker/*:1\"", YES},

	/* tasks */
	{R_SWITCH, ".*: COMM == \"bash\"", YES},
	{R_SWITCH_IDLE, ".*: COMM == \"<idle>\"", YES},
	{R_NUMBERS, ".*: COMM == \"<...>\"", YES},
	{R_FUNCTION, ".*: COMM ~ \"kworker/*\"", YES},
	{R_FUNCTION, "function: comm == \"kworker/0:1\"", YES},
	{R_FUNCTION, "function: cpu == 3", YES},
	{R_WAKEUP, "sched_wakeup: comm == \"Xorg\"", YES},
	{R_WAKEUP, "sched_wakeup: COMM == \"Xorg\"", NO},
	{R_WORDS, "words: cpu == 77 && CPU == 5", YES},
	/* sched_wakeup has a field comm, so the word means that field, which sched_switch lacks */
	{R_SWITCH, "sched: comm == \"bash\"", NO},

	/* functions */
	{R_FUNCTION, "function: ip == \"schedule\"", YES},
	{R_FUNCTION, "function: ip =~ \"^sched\"", YES},
	{R_FUNCTION, "function: parent_ip == \"schedule\"", NO},
	{R_FUNCTION, "function: parent_ip ~ \"do_*\"", YES},
	{R_FUNCTION, "function: ip.function == schedule", YES},
	{R_FUNCTION, "function: ip.function == \"do_idle\"", NO},
	{R_FUNCTION, "function: ip == 0xffffffff81000110", YES},
	{R_NUMBERS, "numbers: func == \"do_idle\"", YES},
	{R_NUMBERS, "numbers: flags == \"0x16\"", YES}, /* no function is there */
	{R_NUMBERS, "numbers: a8 == \"0xc8\"", YES},
	{R_NUMBERS, "numbers: b32 == \"0xffffffffffffff9c\"", YES},

	/* fields that are not there */
	{R_SWITCH, "sched_switch: nofield == 1", NO},
	{R_SWITCH, "sched_switch: nofield != 1", NO},
	{R_SWITCH, "sched_switch: !nofield == 1", YES},
	{R_SWITCH, "sched_switch: nofield == 1 || prev_pid == 42", YES},
	{R_SWITCH, "sched_switch: prev_pid == 42 && nofield == 1", NO},
	{R_SWITCH, "sched_switch: prev_pid == 42 || nofield == 1 && nofield == 2", NO},
	{R_SWITCH, "sched_switch: nofield == \"x\" || prev_pid == 42", YES},
	{R_SWITCH, "sched_switch: nofield =~ \"x\"", NO},
	{R_SWITCH, "sched_switch: nofield & 1", NO},
	{R_SWITCH, "sched_switch: 1 + nofield", NO},
	{R_SWITCH, ".*:(common_pid==99)||(pid==99)||(next_pid==99)", NO},
	{R_WAKEUP, ".*:(common_pid==99)||(pid==99)||(next_pid==99)", YES},
	{R_SWITCH_IDLE, ".*:(common_pid==99)||(pid==99)||(next_pid==99)", YES},

	/* what lies outside the record */
	{R_SHORT, "sched_switch: prev_pid == 0", YES},
	{R_SHORT, "sched_switch: prev_pid > 0", NO},
	{R_SHORT, "sched_switch: prev_comm == \"bash\"", YES},
	{R_SHORT, "sched_switch: next_comm == \"\"", YES},
	{R_SHORT, "sched_switch: next_comm =~ \"x\"", NO},
};

static void test_verdicts(void **state)
{
	struct fixture *x = *state;
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		const struct verdict *v = &verdicts[i];
		struct filter *f = filter_new(x->events);
		struct spur_error err = {0};
		enum filter_result got;

		assert_non_null(f);
		if (filter_add(f, v->text, &err)) {
			print_error("'%s' is refused: %s\n", v->text, err.text);
			wrong++;
		} else {
			/* The second time the program is there. */
			got = match(x, f, v->record);
			assert_int_equal(got, match(x, f, v->record));
			if (got != v->want)
				print_error("'%s' on record %d: %d\n", v->text, (int)v->record,
					    (int)got);
			wrong += got != v->want;
		}
		assert_false(filter_failed(f));
		filter_free(f);
	}
	assert_int_equal(wrong, 0);
}

/* A big-endian trace: the same bytes mean other numbers. */
static void test_big_endian(void **state)
{
	struct fixture *x = *state;
	struct filter *f = filter_new(x->events);
	struct spur_error err = {0};
	struct spur_record r = filter_record_of(&x->bytes[R_SWITCH]);
	struct event *e = events_of_record(x->events, &r);

	x->events->big_endian = true;
	assert_int_equal(filter_add(f, "sched_switch: prev_pid == 0x2a000000", &err), 0);
	assert_int_equal(filter_match(f, NULL, e, &r), FILTER_MATCH);
	x->events->big_endian = false;
	filter_free(f);
}

static void test_several(void **state)
{
	struct fixture *x = *state;
	struct filter *f = filter_new(x->events);
	struct spur_error err = {0};

	assert_int_equal(match(x, f, R_SWITCH), FILTER_NONE);
	assert_int_equal(filter_add(f, "sched_switch: prev_pid == 1", &err), 0);
	assert_int_equal(match(x, f, R_SWITCH), FILTER_MISS);
	assert_int_equal(match(x, f, R_FUNCTION), FILTER_NOEXIST);
	/* A later filter adds to what an earlier one shows, also to what has been bound already. */
	assert_int_equal(filter_add(f, "sched: CPU == 1", &err), 0);
	assert_int_equal(match(x, f, R_SWITCH), FILTER_MATCH);
	assert_int_equal(match(x, f, R_SWITCH_IDLE), FILTER_MISS);
	assert_int_equal(match(x, f, R_WAKEUP), FILTER_MATCH);
	/* A refused one changes nothing. */
	assert_int_equal(filter_add(f, "function: (", &err), -EINVAL);
	assert_int_equal(match(x, f, R_FUNCTION), FILTER_NOEXIST);
	filter_free(f);
}

static void test_wants(void **state)
{
	struct fixture *x = *state;
	struct filter *f = filter_new(x->events);
	struct spur_error err = {0};

	assert_false(filter_wants(f, events_find(x->events, "sched", "sched_switch")));
	assert_int_equal(filter_add(f, "sched", &err), 0);
	assert_true(filter_wants(f, events_find(x->events, "sched", "sched_switch")));
	assert_false(filter_wants(f, events_find(x->events, "test", "words")));
	filter_free(f);
}

/* COMM is what the caller has learned, when it says so. */
static void test_learned(void **state)
{
	struct fixture *x = *state;
	struct filter *f = filter_new(x->events);
	struct comm_overlay *learned = overlay_new(x->events->comms);
	struct spur_record r = filter_record_of(&x->bytes[R_NUMBERS]);
	struct event *e = events_of_record(x->events, &r);
	struct spur_error err = {0};

	assert_int_equal(filter_add(f, ".*: COMM == \"late\"", &err), 0);
	assert_int_equal(filter_match(f, learned, e, &r), FILTER_MISS);
	overlay_learn(learned, 1234, "late", 4);
	assert_int_equal(filter_match(f, learned, e, &r), FILTER_MATCH);
	assert_int_equal(filter_match(f, NULL, e, &r), FILTER_MISS);
	overlay_free(learned);
	filter_free(f);
}

/* ---- mistakes -------------------------------------------------------------------------- */

static const struct mistake_case {
	const char *text;
	size_t offset;
	enum filter_reason reason;
	const char *says; /* a part of the message */
} mistakes[] = {
	{"", 0, FILTER_NO_NAME, "missing"},
	{"sched_switch,", 13, FILTER_NO_NAME, "missing"},
	{"sched_switch,: prev_pid == 1", 13, FILTER_NO_NAME, "missing"},
	{"nosuch: a == 1", 0, FILTER_NO_EVENT, "no event is named 'nosuch'"},
	{"sched_swich: prev_pid == 1", 0, FILTER_NO_EVENT, "did you mean 'sched_switch'?"},
	{"schde", 0, FILTER_NO_EVENT, "did you mean 'sched'?"},
	{"numbers, sched/words", 9, FILTER_NO_EVENT, "'sched/words'"},
	{"prev_pid == 1", 0, FILTER_NO_EVENT, "a filter starts with its events"},
	{"sched[: a == 1", 0, FILTER_BAD_EVENT_NAME, "regular expression"},
	{"a/b/c", 4, FILTER_BAD_EVENT_NAME, "SYSTEM/EVENT"},
	{"sched_switch:", 13, FILTER_SYNTAX, "the filter ends"},
	{"sched_switch: prev_pid = 1", 23, FILTER_UNKNOWN_TOKEN, "'=='"},
	{"sched_switch: prev_pid ==", 25, FILTER_SYNTAX, "the filter ends"},
	{"sched_switch: prev_pid == 1 &&", 30, FILTER_SYNTAX, "the filter ends"},
	{"sched_switch: && prev_pid == 1", 14, FILTER_SYNTAX, "found '&&'"},
	{"sched_switch: prev_pid == 1 next_pid == 2", 28, FILTER_SYNTAX, "expected '&&' or '||'"},
	{"sched_switch: prev_pid == 1 == 2", 28, FILTER_SYNTAX, "expected '&&' or '||'"},
	{"sched_switch: (prev_pid == 1", 14, FILTER_UNBALANCED, "never closed"},
	{"sched_switch: prev_pid == 1)", 27, FILTER_UNBALANCED, "closes nothing"},
	{"sched_switch: ()", 15, FILTER_SYNTAX, "found ')'"},
	{"sched_switch: prev_pid (prev_pid == 1)", 23, FILTER_BAD_PAREN, "found '('"},
	{"sched_switch: prev_pid == 1, next_pid == 2", 27, FILTER_BAD_TOKEN, "found ','"},
	{"sched_switch: prev_pid == 12x", 26, FILTER_SYNTAX, "neither a number"},
	{"sched_switch: prev_pid == 08", 26, FILTER_SYNTAX, "neither a number"},
	{"sched_switch: prev_pid == 0x", 26, FILTER_SYNTAX, "neither a number"},
	{"sched_switch: prev_pid == 99999999999999999999", 26, FILTER_SYNTAX, "64 bits"},
	{"sched_switch: prev_comm == \"ba", 27, FILTER_SYNTAX, "no closing quote"},
	{"sched_switch: prev_comm == \"ba\\\"", 27, FILTER_SYNTAX, "no closing quote"},
	{"sched_switch: prev_comm < \"ba\"", 24, FILTER_BAD_TEXT_COMPARE, "only =="},
	{"sched_switch: prev_comm =~ 5", 27, FILTER_BAD_NUMBER_COMPARE, "in quotes"},
	{"sched_switch: prev_comm =~ next_comm", 27, FILTER_BAD_RIGHT, "in quotes"},
	{"sched_switch: prev_comm =~ \"a[\"", 27, FILTER_BAD_REGEX, "not valid"},
	{"sched_switch: prev_comm =~ \"\\(a\\)\\1\"", 27, FILTER_BAD_REGEX, "back-ref"},
	{"sched_switch: prev_comm =~ \"\\(a\\{200\\}\\)\\{200\\}\"", 27, FILTER_BAD_REGEX, "often"},
	{"sched_switch: \"bash\" == prev_comm", 14, FILTER_BAD_LEFT, "to the left"},
	{"sched_switch: \"bash\"", 14, FILTER_SYNTAX, "a text is no number"},
	{"sched_switch: prev_pid + \"1\"", 25, FILTER_SYNTAX, "a text is no number"},
	{"sched_switch: prev_pid + 1 == \"1\"", 14, FILTER_BAD_LEFT, "only a field"},
	{"sched_switch: (prev_pid == 1) == 1", 15, FILTER_SYNTAX, "condition"},
	{"sched_switch: (prev_pid == 1) + 1", 15, FILTER_SYNTAX, "condition"},
	{"sched_switch: prev_pid == (prev_pid == 1)", 27, FILTER_BAD_RIGHT, "condition"},
	{"sched_switch: prev_pid == nofield", 26, FILTER_BAD_RIGHT, "'nofield' is no field"},
	{"sched_switch: prev_pid < bash", 25, FILTER_BAD_RIGHT, "'bash' is no field"},
	{"sched_switch: COMM == 5", 14, FILTER_SYNTAX, "COMM is a text"},
	{"sched_switch: CPU == \"5\"", 14, FILTER_BAD_LEFT, "CPU is a number"},
	{"sched_switch: prev_pid ; 5", 23, FILTER_UNKNOWN_TOKEN, "means nothing"},
	{"sched_switch: prev_pid == \x01", 26, FILTER_SYNTAX, "into quotes"},
	{"sched_switch: prev_pid.name == 1", 23, FILTER_SYNTAX, "'function'"},
};

static void test_mistakes(void **state)
{
	struct fixture *x = *state;
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake_case *m = &mistakes[i];
		struct filter *f = filter_new(x->events);
		struct spur_error err = {0};
		int ret = filter_add(f, m->text, &err);
		struct filter_mistake got = filter_mistake(f);

		if (ret != -EINVAL || err.code != -EINVAL || got.offset != m->offset ||
		    got.reason != m->reason || !strstr(err.text, m->says) || !got.len) {
			print_error("'%s': %d, at %zu, reason %d: %s\n", m->text, ret, got.offset,
				    (int)got.reason, err.text);
			wrong++;
		}
		filter_free(f);
	}
	assert_int_equal(wrong, 0);
}

static void test_reasons(void **state)
{
	assert_string_equal(filter_reason_text(FILTER_SYNTAX), "syntax error");
	assert_string_equal(filter_reason_text(FILTER_UNKNOWN_TOKEN), "unknown token");
	assert_string_equal(filter_reason_text((enum filter_reason)1000), "");
}

/* Deep and long texts end in a message, not in the stack. */
static void test_limits(void **state)
{
	struct fixture *x = *state;
	struct filter *f = filter_new(x->events);
	static const char *const parts[] = {"(", "!", "-", "~", "(!", "-(", "1 + ", "1 + (", "!~"};
	size_t size = FILTER_MAX_TEXT + 100;
	char *text = malloc(size);

	assert_non_null(text);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct spur_error err = {0};
		size_t n = (size_t)snprintf(text, size, "sched_switch: ");

		while (n + 10 < 100000)
			n += (size_t)snprintf(text + n, size - n, "%s", parts[i]);
		assert_int_equal(filter_add(f, text, &err), -EINVAL);
	}
	memset(text, 'a', size);
	text[size - 1] = '\0';
	assert_int_equal(filter_add(f, text, NULL), -EINVAL);
	free(text);
	filter_free(f);
}

/* What --pid with thousands of tasks makes: a long chain is neither deep nor slow. */
static void test_long_chain(void **state)
{
	struct fixture *x = *state;
	struct filter *f = filter_new(x->events);
	struct spur_error err = {0};
	struct buf b;

	buf_init(&b, FILTER_MAX_TEXT);
	buf_puts(&b, ".*:(common_pid==100000)");
	for (int pid = 100001; pid < 105000; pid++)
		buf_printf(&b, "||(common_pid==%d)||(pid==%d)||(next_pid==%d)", pid, pid, pid);
	assert_int_equal(filter_add(f, buf_str(&b), &err), 0);
	assert_int_equal(match(x, f, R_SWITCH), FILTER_MISS);
	assert_int_equal(match(x, f, R_WAKEUP), FILTER_MISS);
	filter_free(f);

	f = filter_new(x->events);
	buf_puts(&b, "||next_pid==7");
	assert_int_equal(filter_add(f, buf_str(&b), &err), 0);
	assert_int_equal(match(x, f, R_SWITCH), FILTER_MATCH);
	filter_free(f);
	buf_free(&b);
}

/* ---- what is said about filters -------------------------------------------------------- */

static const struct {
	const char *text;
	size_t unknown;
	const char *says;
} checks[] = {
	{"sched_switch: prev_pid == 1", 0, NULL},
	{"sched_switch: prev_pdi == 1", 1, "did you mean 'prev_pid'?"},
	{"sched_switch: pid == 1 || foo == 2", 2, "no field 'pid'"},
	{"sched: pid == 1 && next_pid == 2", 0, NULL},
	{".*: CPU == 1 && cpu == 2 && COMM == \"x\"", 0, NULL},
	{"function: cpu == 1 && comm == \"x\"", 0, NULL},
	{"numbers", 0, NULL},
};

static void test_check(void **state)
{
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct filter *f = filter_new(x->events);
		struct spur_error err = {0};

		assert_int_equal(filter_add(f, checks[i].text, &err), 0);
		assert_int_equal(filter_check(f, &err), checks[i].unknown);
		if (checks[i].says && !strstr(err.text, checks[i].says))
			fail_msg("'%s' says: %s", checks[i].text, err.text);
		filter_free(f);
	}
}

static const struct {
	const char *text;
	const char *shows;
} shown[] = {
	{"sched_switch", " 'sched_switch: TRUE'\n"},
	{"sched_switch: nofield == 1", " 'sched_switch: FALSE'\n"},
	{"sched_switch: prev_pid==0x10", " 'sched_switch: prev_pid == 16'\n"},
	{"sched_switch: prev_pid == -1", " 'sched_switch: prev_pid == -1'\n"},
	{"sched_switch: prev_comm =~ 'x'", " 'sched_switch: prev_comm =~ \"x\"'\n"},
	{"sched_switch: prev_pid & 4", " 'sched_switch: prev_pid & 4'\n"},
	{"sched_switch: (prev_pid & 4) == 4", " 'sched_switch: (prev_pid & 4) == 4'\n"},
	{"sched_switch: !prev_pid == 1 && CPU == 2 || COMM != \"a\"",
	 " 'sched_switch: ((!(prev_pid == 1)) && (CPU == 2)) || (COMM != \"a\")'\n"},
	{"sched_wakeup,sched: pid == 1 || next_pid == 2",
	 " 'sched_wakeup: pid == 1'\n 'sched_switch: next_pid == 2'\n 'sched_wakeup: pid == 1'\n"},
};

static void test_show(void **state)
{
	struct fixture *x = *state;

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		struct filter *f = filter_new(x->events);
		struct spur_error err = {0};
		struct buf b;

		buf_init(&b, 4096);
		assert_int_equal(filter_add(f, shown[i].text, &err), 0);
		filter_show(f, &b);
		assert_string_equal(buf_str(&b), shown[i].shows);
		buf_free(&b);
		filter_free(f);
	}
}

/* ---- threads --------------------------------------------------------------------------- */

struct worker {
	struct fixture *x;
	struct filter *f;
	size_t matches;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	for (size_t i = 0; i < 1000; i++)
		for (int which = 0; which < NR_FILTER_RECORDS; which++) {
			struct spur_record r = filter_record_of(&w->x->bytes[which]);
			struct event *e = events_of_record(w->x->events, &r);

			w->matches += e && filter_match(w->f, NULL, e, &r) == FILTER_MATCH;
		}
	return NULL;
}

static void test_threads(void **state)
{
	struct fixture *x = *state;
	struct filter *f = filter_new(x->events);
	struct spur_error err = {0};
	struct worker w[4];
	pthread_t threads[4];

	assert_int_equal(filter_add(f, ".*: COMM =~ 'b.*h' || cpu == 77", &err), 0);
	for (size_t i = 0; i < 4; i++) {
		w[i] = (struct worker){.x = x, .f = f};
		assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(w[i].matches, 4 * 1000); /* switch, wakeup, words, short */
	}
	filter_free(f);
}

/* ---- patterns and suggestions ---------------------------------------------------------- */

static const struct {
	const char *glob;
	const char *text;
	bool want;
} globs[] = {
	{"", "", true},
	{"", "a", false},
	{"*", "", true},
	{"**", "abc", true},
	{"a*", "abc", true},
	{"*c", "abc", true},
	{"*b*", "abc", true},
	{"*d*", "abc", false},
	{"?", "a", true},
	{"?", "", false},
	{"a?c", "abc", true},
	{"[a-c]b", "bb", true},
	{"[!a-c]b", "bb", false},
	{"[!a-c]b", "xb", true},
	{"[]]", "]", true},
	{"[a", "[a", true},
	{"\\*", "*", true},
	{"\\*", "a", false},
	{"a*b*c", "a-b-b-c", true},
	{"a*b*c", "a-c-b", false},
	{"!abc", "abc", false},
	{"!abc", "abd", true},
	{"[a-]", "-", true},
	{"a\\", "a\\", true},
};

static void test_globs(void **state)
{
	for (size_t i = 0; i < sizeof(globs) / sizeof(globs[0]); i++) {
		struct pattern p;
		struct spur_error err = {0};

		assert_int_equal(pattern_glob(&p, globs[i].glob, strlen(globs[i].glob), &err), 0);
		if (pattern_match(&p, globs[i].text, strlen(globs[i].text)) != globs[i].want)
			fail_msg("'%s' on '%s'", globs[i].glob, globs[i].text);
		pattern_free(&p);
	}
}

/* The short cuts for plain words say what regexec() says. */
static void test_regex_shortcuts(void **state)
{
	static const char *const patterns[] = {
		"",    "^",    "$",    "^$",	"a",	"^a",	"a$",	 "^a$",	     ".*", "^.*$",
		".*a", "a.*",  "^.*a", "^a.*$", "^ab$", "ab",	"AB",	 "a.*b",     "a+", "(a)",
		"a|b", "\\.*", "a\\$", "..*",	"a.*$", ".*a$", "^.*a$", "^.*ab.*$",
	};
	static const char *const texts[] = {"",	  "a",	"b",   "ab",  "xab", "abx",
					    "Ab", "a+", "(a)", "a|b", "$",   "."};

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		struct pattern p;
		struct spur_error err = {0};
		regex_t re;

		assert_int_equal(pattern_regex(&p, patterns[i], strlen(patterns[i]), &err), 0);
		assert_int_equal(regcomp(&re, patterns[i], REG_ICASE | REG_NOSUB), 0);
		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
			if (pattern_match(&p, texts[j], strlen(texts[j])) !=
			    !regexec(&re, texts[j], 0, NULL, 0))
				fail_msg("'%s' on '%s'", patterns[i], texts[j]);
		regfree(&re);
		pattern_free(&p);
	}
}

static void test_suggest(void **state)
{
	struct suggest s = suggest_for("prve_pid", 8);

	suggest_try(&s, "next_pid");
	suggest_try(&s, "prev_pid");
	suggest_try(&s, "prev_prio");
	assert_string_equal(suggest_best(&s), "prev_pid");
	assert_string_equal(suggest_hint(&s), "; did you mean 'prev_pid'?");
	s = suggest_for("zebra", 5);
	suggest_try(&s, "prev_pid");
	assert_null(suggest_best(&s));
	assert_string_equal(suggest_hint(&s), "");
	s = suggest_for("IRQ", 3);
	suggest_try(&s, "arq");
	suggest_try(&s, "irq");
	assert_string_equal(suggest_best(&s), "irq");
	assert_int_equal(edit_distance("abcd", 4, "acbd", 4), 1);
	assert_int_equal(edit_distance("kitten", 6, "sitting", 7), 3);
	assert_int_equal(edit_distance("", 0, "abc", 3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),   cmocka_unit_test(test_big_endian),
		cmocka_unit_test(test_several),	   cmocka_unit_test(test_wants),
		cmocka_unit_test(test_learned),	   cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_reasons),	   cmocka_unit_test(test_limits),
		cmocka_unit_test(test_long_chain), cmocka_unit_test(test_check),
		cmocka_unit_test(test_show),	   cmocka_unit_test(test_threads),
		cmocka_unit_test(test_globs),	   cmocka_unit_test(test_regex_shortcuts),
		cmocka_unit_test(test_suggest),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
