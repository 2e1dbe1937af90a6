// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The same filters over the same records in spur and in libtraceevent: both accept or refuse a
 * text, make the same expression of it for each event, and let the same records through.
 *
 * Texts that libtraceevent crashes on, or that are known to mean something else (see filter.h), are
 * not here but in test_filter.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include <stdio.h>

#include "event/filter.h"
#include "event/names.h"
#include "filter_events.h"
#include "filter_words.h"

#ifdef HAVE_TRACEEVENT

/* Before libtraceevent's header takes the names. */
static const enum filter_result spur_noexist = FILTER_NOEXIST, spur_match = FILTER_MATCH,
				spur_miss = FILTER_MISS;

#include <event-parse.h>

static const char *const texts[] = {
	/* events */
	"sched_switch",
	"sched",
	"SCHED",
	"Sched/sched_SWITCH",
	"sched/.*",
	"sched/",
	"/sched",
	"//sched//sched_switch",
	" sched / sched_switch ",
	".*",
	".*/.*",
	"s.*",
	"sched_[sw].*",
	"sched_switch\\|sched_wakeup",
	"function,numbers",
	"function , sched/sched_wakeup",
	"sched,sched_switch",
	"t[a-f]st",
	"nosuch",
	"sched/nosuch",
	"nosuch/sched_switch",
	"sched_switc",
	"ched_switch",
	"sched_switch,nosuch",
	"",
	",",
	"sched_switch,",
	"/",
	"sched[",
	" ",

	/* numbers */
	"sched_switch:prev_pid==42",
	"sched_switch : prev_pid == 42 ",
	"sched_switch:\tprev_pid\n==\n42",
	"sched_switch: prev_pid != 42",
	"sched_switch: prev_pid > 42",
	"sched_switch: prev_pid >= 42",
	"sched_switch: prev_pid < 42",
	"sched_switch: prev_pid <= 42",
	"sched_switch: prev_pid == 0x2A",
	"sched_switch: prev_pid == 052",
	"sched_switch: prev_pid > 0",
	"sched_switch: prev_state == 0",
	"sched_switch: prev_state != 0",
	"sched_switch: common_pid == 42",
	"sched_switch: common_type == 300",
	".*: common_flags == 1",
	".*: common_preempt_count == 0",
	".*: common_pid > 41",
	".*: CPU == 1",
	".*: CPU != 1",
	".*: CPU >= 2",
	"numbers: a8 == 200",
	"numbers: a8 > 127",
	"numbers: b8 == 254",
	"numbers: b8 == 0xfffffffffffffffe",
	"numbers: b8 > 5",
	"numbers: b8 < 5",
	"numbers: a16 == 60000",
	"numbers: b16 == 0xfffffffffffffed4",
	"numbers: b16 >= 100",
	"numbers: a32 == 0xfffffff0",
	"numbers: a32 == 4294967280",
	"numbers: a32 <= 4294967279",
	"numbers: b32 == 0xffffff9c",
	"numbers: b32 == 0xffffffffffffff9c",
	"numbers: b32 > 1",
	"numbers: a64 == 0x8000000000000001",
	"numbers: a64 == 9223372036854775809",
	"numbers: a64 > 9223372036854775807",
	"numbers: b64 == 18446744073709551615",
	"numbers: zero == 0",
	"numbers: zero > 0",
	"numbers: func == 0xffffffff81000234",

	/* calculating */
	"numbers: flags & 0x4",
	"numbers: flags & 0x8",
	"numbers: flags & 0x8 || flags & 2",
	"numbers: flags | 1",
	"numbers: zero | 0",
	"numbers: flags ^ 0x16",
	"numbers: flags ^ 0x17",
	"numbers: a8 + 1",
	"numbers: a8 - 200",
	"numbers: a8 - 199",
	"numbers: zero * 5",
	"numbers: a8 * 5",
	"numbers: a8 / 201",
	"numbers: a8 / 3",
	"numbers: a8 % 100",
	"numbers: a8 % 3",
	"numbers: a8 >> 8",
	"numbers: a8 >> 3",
	"numbers: flags << 3",
	"numbers: 4 & flags",
	"numbers: a8 & flags",
	"numbers: a8 - a8",
	"numbers: !flags & 8",
	"numbers: (flags & 4) && (flags & 2)",
	"numbers: & flags",

	/* conditions */
	"sched_switch: prev_pid == 42 && next_pid == 7",
	"sched_switch: prev_pid == 42 && next_pid == 8",
	"sched_switch: prev_pid == 41 || next_pid == 7",
	"sched_switch: prev_pid == 42 || prev_pid == 42 && prev_pid == 1",
	"sched_switch: prev_pid == 1 && prev_pid == 1 || next_pid == 7",
	"sched_switch: prev_pid == 1 && prev_pid == 1 || next_pid == 7 && prev_prio == 120",
	"sched_switch: prev_pid == 42 || (prev_pid == 42 && prev_pid == 1)",
	"sched_switch: (prev_pid == 42 || prev_pid == 1) && next_pid == 7",
	"sched_switch: ((prev_pid == 42))",
	"sched_switch: !prev_pid == 42",
	"sched_switch: !(prev_pid == 42)",
	"sched_switch: !prev_pid == 42 || next_pid == 7",
	"sched_switch: next_pid == 7 && !prev_pid == 42",
	"sched_switch: next_pid == 7 && !(prev_pid == 42 || prev_pid == 1)",
	"sched_switch: !(!(prev_pid == 42))",
	"sched_switch: !!prev_pid == 42",
	"sched_switch: (prev_pid == 42) && (next_pid == 7) && (CPU == 1)",
	"sched_switch: (prev_pid == 42) || (next_pid == 7) || (CPU == 1)",
	"sched_switch: prev_pid == 42 || (next_pid == 7 && (CPU == 1 || CPU == 2))",

	/* texts */
	"sched_switch: prev_comm == \"bash\"",
	"sched_switch: prev_comm == 'bash'",
	"sched_switch: prev_comm == \"ba\" \"sh\"",
	"sched_switch: prev_comm == \"Bash\"",
	"sched_switch: prev_comm == \"\"",
	"sched_switch: prev_comm != \"bash\"",
	"sched_switch: prev_comm != \"\"",
	"sched_switch: next_comm == \"sixteen letters!\"",
	"sched_switch: next_comm == \"sixteen letters\"",
	"sched_switch: next_comm == \"kworker/0:1\"",
	"words: name == \"hello\"",
	"words: name != \"hello\"",
	"words: path == \"/bin/sh\"",
	"words: raw == \"abcd\"",
	"words: raw == \"abc\"",
	"sched_switch: prev_comm =~ \"^ba\"",
	"sched_switch: prev_comm =~ \"BASH\"",
	"sched_switch: prev_comm =~ \"^as\"",
	"sched_switch: prev_comm =~ \"\"",
	"sched_switch: prev_comm =~ \"s[gh]$\"",
	"sched_switch: prev_comm =~ \".*\"",
	"sched_switch: prev_comm =~ \"swap\\|bash\"",
	"sched_switch: prev_comm =~ \"a\\{1\\}s\"",
	"sched_switch: next_comm =~ \"letters!$\"",
	"sched_switch: next_comm =~ \"r/0:[0-9]\"",
	"sched_switch: prev_comm !~ \"^ba\"",
	"sched_switch: prev_comm !~ 'x'",
	"sched_switch: prev_comm =~ 'b'",
	"words: name =~ \"l*o$\"",
	"words: path =~ \"^/BIN\"",
	"words: path !~ \"sh\"",
	"words: raw =~ \"cd$\"",

	/* tasks and functions */
	".*: COMM == \"bash\"",
	".*: COMM != \"bash\"",
	".*: COMM == \"<idle>\"",
	".*: COMM == \"<...>\"",
	".*: COMM =~ \"^k\"",
	".*: COMM !~ \"^k\"",
	".*:COMM != \"trace-cmd\"",
	"function: ip == \"schedule\"",
	"function: ip != \"schedule\"",
	"function: ip =~ \"^SCHED\"",
	"function: parent_ip == \"do_idle\"",
	"function: ip == \"0xffffffff81000110\"",
	"numbers: func == \"do_idle\"",
	"numbers: flags == \"0x16\"",
	"numbers: a8 == \"0xc8\"",
	"numbers: b32 == \"0xffffffffffffff9c\"",
	"numbers: zero == \"0x0\"",

	/* fields that are not there */
	"sched_switch: nofield == 1",
	"sched_switch: nofield != 1",
	"sched_switch: !nofield == 1",
	"sched_switch: !(nofield == 1)",
	"sched_switch: nofield == 1 || prev_pid == 42",
	"sched_switch: prev_pid == 42 || nofield == 1",
	"sched_switch: nofield == 1 && prev_pid == 42",
	"sched_switch: prev_pid == 42 && nofield == 1",
	"sched_switch: prev_pid == 42 || nofield == 1 && nofield == 2",
	"sched_switch: (prev_pid == 42 || nofield == 1) && next_pid == 7",
	"sched_switch: !(prev_pid == 42 || nofield == 1)",
	"sched_switch: !nofield == 1 && next_pid == 7",
	"sched_switch: !nofield == 1 || next_pid == 9",
	"sched_switch: nofield == \"x\"",
	"sched_switch: nofield =~ \"x\" || prev_pid == 42",
	"sched_switch: nofield & 1",
	"sched_switch: prev_pid & nofield",
	"sched: pid == 99 || next_pid == 99",
	".*:(common_pid==99)||(pid==99)||(next_pid==99)",
	".*:(common_pid==42)||(pid==42)||(next_pid==42)||(common_pid==7)||(pid==7)||(next_pid==7)",
	"sched : bogus == 1 || common_pid == 42",

	/* refused */
	"sched_switch:",
	"sched_switch: ",
	"sched_switch: prev_pid = 42",
	"sched_switch: prev_pid === 42",
	"sched_switch: prev_pid -> 42",
	"sched_switch: == 42",
	"sched_switch: (prev_pid == 42",
	"sched_switch: prev_pid == 42)",
	"sched_switch: ()",
	"sched_switch: prev_pid (prev_pid == 42)",
	"sched_switch: && prev_pid == 42",
	"sched_switch: prev_comm =~ 5",
	"sched_switch: prev_comm < \"bash\"",
	"sched_switch: prev_comm =~ \"a[\"",
	"sched_switch: prev_pid == nofield",
	"sched_switch: prev_pid @ 5",
	"sched_switch: [prev_pid == 5]",
};

/*
 * libtraceevent loses memory when it refuses a filter, partly through functions of the C library
 * whose names a stripped one does not show. Leaks of our own are found by test_filter.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

struct both {
	struct events *events;
	struct tep_handle *tep;
	struct filter_bytes bytes[NR_FILTER_RECORDS];
};

static int setup(void **state)
{
	struct both *x = calloc(1, sizeof(*x));
	struct spur_error err = {0};

	if (!x)
		return -1;
	tep_set_loglevel(TEP_LOG_NONE);
	x->events = events_new();
	x->tep = tep_alloc();
	tep_set_long_size(x->tep, 8);
	tep_set_file_bigendian(x->tep, TEP_LITTLE_ENDIAN);
	for (size_t i = 0; i < NR_FILTER_FORMATS; i++) {
		const char *format = filter_formats[i].format, *system = filter_formats[i].system;

		if (events_add(x->events, system, format, strlen(format), &err) ||
		    tep_parse_event(x->tep, format, strlen(format), system))
			return -1;
	}
	if (events_seal(x->events) ||
	    symbols_add(x->events->symbols, filter_kallsyms, strlen(filter_kallsyms)) ||
	    comms_add(x->events->comms, filter_comms, strlen(filter_comms)))
		return -1;
	tep_parse_kallsyms(x->tep, filter_kallsyms);
	tep_register_comm(x->tep, "bash", 42);
	tep_register_comm(x->tep, "kworker/0:1", 7);
	tep_register_comm(x->tep, "Xorg", 99);
	filter_records(x->bytes);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct both *x = *state;

	tep_free(x->tep);
	events_free(x->events);
	free(x);
	return 0;
}

static enum filter_result peer_match(struct both *x, struct tep_event_filter *f,
				     const struct filter_bytes *b)
{
	struct filter_bytes copy = *b;
	struct tep_record r = {.data = copy.bytes, .size = (int)copy.size, .cpu = (int)copy.cpu};
	enum tep_errno ret = tep_filter_match(f, &r);

	if (ret == TEP_ERRNO__FILTER_MATCH)
		return spur_match;
	return ret == TEP_ERRNO__FILTER_NOT_FOUND ? spur_noexist : spur_miss;
}

static size_t compare_records(struct both *x, const char *text, struct filter *f,
			      struct tep_event_filter *peer)
{
	size_t wrong = 0;

	/* The short record is left out: libtraceevent reads behind its end. */
	for (int i = 0; i < R_SHORT; i++) {
		struct spur_record r = filter_record_of(&x->bytes[i]);
		enum filter_result want = peer_match(x, peer, &x->bytes[i]);
		enum filter_result got = filter_match(f, NULL, events_of_record(x->events, &r), &r);

		if (got != want)
			print_error("'%s' on record %d: %d, libtraceevent %d\n", text, i, (int)got,
				    (int)want);
		wrong += got != want;
	}
	return wrong;
}

/* Every line of filter_show() says what libtraceevent makes of the filter. */
static size_t compare_shown(struct both *x, const char *text, struct filter *f,
			    struct tep_event_filter *peer)
{
	size_t wrong = 0;
	struct buf out, want;

	buf_init(&out, 1 << 20);
	buf_init(&want, 1 << 20);
	filter_show(f, &out);
	buf_str(&out);
	for (const char *line = out.data; *line; line = strchr(line, '\n') + 1) {
		char name[64];
		struct tep_event *event;
		char *expression;

		assert_int_equal(sscanf(line, " '%63[^:]: ", name), 1);
		event = tep_find_event_by_name(x->tep, NULL, name);
		assert_non_null(event);
		expression = tep_filter_make_string(peer, event->id);
		buf_reset(&want);
		buf_printf(&want, " '%s: %s'\n", name, expression ? expression : "?");
		free(expression);
		if (memcmp(line, buf_str(&want), want.len)) {
			print_error("'%s': %.*s, libtraceevent%s", text, (int)strcspn(line, "\n"),
				    line, want.data);
			wrong++;
		}
	}
	buf_free(&out);
	buf_free(&want);
	return wrong;
}

/* Both get the text; returns in how many ways they differ. */
static size_t compare_text(struct both *x, const char *text)
{
	struct filter *f = filter_new(x->events);
	struct tep_event_filter *peer = tep_filter_alloc(x->tep);
	struct spur_error err = {0};
	int got = filter_add(f, text, &err), want = tep_filter_add_filter_str(peer, text);
	size_t wrong = 0;

	if (!got != !want) {
		print_error("'%s': %d (%s), libtraceevent %d\n", text, got, err.text, want);
		wrong++;
	} else if (!got) {
		wrong += compare_records(x, text, f, peer);
		wrong += compare_shown(x, text, f, peer);
	}
	tep_filter_free(peer);
	filter_free(f);
	return wrong;
}

static void test_same(void **state)
{
	size_t wrong = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		wrong += compare_text(*state, texts[i]);
	assert_int_equal(wrong, 0);
}

/* ---- made-up filters ------------------------------------------------------------------- */

struct dice {
	uint64_t seed;
};

static size_t roll(struct dice *d, size_t sides)
{
	d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(d->seed >> 33) % sides;
}

#define PICK(d, list) ((list)[roll(d, sizeof(list) / sizeof((list)[0]))])

static void make_term(struct dice *d, struct buf *out)
{
	static const char *const numbers[] = {
		"prev_pid", "next_pid", "pid", "common_pid", "CPU",	"prio", "a8", "b8",
		"a16",	    "b32",	"a64", "flags",	     "nofield", "zero", "ip"};
	static const char *const compares[] = {
		"==", "!=", "<", "<=", ">", ">=", "&", "|", "^", "+", "-", "*"};
	static const char *const values[] = {"42", "7", "99", "1", "2", "0x16", "200", "0xfff0"};
	static const char *const words[] = {"prev_comm", "next_comm", "raw",  "COMM",
					    "name",	 "ip",	      "func", "nofield"};
	static const char *const matches[] = {"==", "!=", "=~", "!~"};
	static const char *const texts_to_find[] = {"bash",  "^b",	"k", "Xorg",
						    "hello", "do_idle", "x$"};

	if (roll(d, 2))
		buf_printf(out, "%s %s %s", PICK(d, numbers), PICK(d, compares), PICK(d, values));
	else
		buf_printf(out, "%s %s \"%s\"", PICK(d, words), PICK(d, matches),
			   PICK(d, texts_to_find));
}

static void make_expression(struct dice *d, struct buf *out, size_t depth)
{
	size_t n = 1 + roll(d, 4);

	for (size_t i = 0; i < n; i++) {
		buf_puts(out, i ? PICK(d, ((const char *const[]){" && ", " || "})) : "");
		buf_puts(out, roll(d, 4) ? "" : "!");
		if (depth && !roll(d, 3)) {
			buf_putc(out, '(');
			make_expression(d, out, depth - 1);
			buf_putc(out, ')');
		} else {
			make_term(d, out);
		}
	}
}

static void test_made_up(void **state)
{
	static const char *const events[] = {".*", "sched", "sched_switch", "numbers", "s.*,words"};
	struct dice d = {.seed = 1};
	size_t wrong = 0;
	struct buf text;

	buf_init(&text, 1 << 16);
	for (int i = 0; i < 2000; i++) {
		buf_reset(&text);
		buf_printf(&text, "%s: ", PICK(&d, events));
		make_expression(&d, &text, 3);
		wrong += compare_text(*state, buf_str(&text));
	}
	buf_free(&text);
	assert_int_equal(wrong, 0);
}

/* The few words for a mistake are libtraceevent's. */
static void test_reasons(void **state)
{
	static const struct {
		enum tep_errno code;
		enum filter_reason reason;
	} same[] = {
		{TEP_ERRNO__MEM_ALLOC_FAILED, FILTER_NO_MEMORY},
		{TEP_ERRNO__INVALID_EVENT_NAME, FILTER_BAD_EVENT_NAME},
		{TEP_ERRNO__EVENT_NOT_FOUND, FILTER_NO_EVENT},
		{TEP_ERRNO__FILTER_NOT_FOUND, FILTER_NO_NAME},
		{TEP_ERRNO__SYNTAX_ERROR, FILTER_SYNTAX},
		{TEP_ERRNO__ILLEGAL_RVALUE, FILTER_BAD_RIGHT},
		{TEP_ERRNO__ILLEGAL_LVALUE, FILTER_BAD_LEFT},
		{TEP_ERRNO__INVALID_REGEX, FILTER_BAD_REGEX},
		{TEP_ERRNO__ILLEGAL_STRING_CMP, FILTER_BAD_TEXT_COMPARE},
		{TEP_ERRNO__ILLEGAL_INTEGER_CMP, FILTER_BAD_NUMBER_COMPARE},
		{TEP_ERRNO__ILLEGAL_TOKEN, FILTER_BAD_TOKEN},
		{TEP_ERRNO__INVALID_PAREN, FILTER_BAD_PAREN},
		{TEP_ERRNO__UNBALANCED_PAREN, FILTER_UNBALANCED},
		{TEP_ERRNO__UNKNOWN_TOKEN, FILTER_UNKNOWN_TOKEN},
	};
	struct both *x = *state;
	char text[200];

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		tep_strerror(x->tep, same[i].code, text, sizeof(text));
		assert_string_equal(filter_reason_text(same[i].reason), text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_made_up),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

#else

static void test_same(void **state)
{
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
