// SPDX-License-Identifier: GPL-2.0-or-later
/* Files of tracefs, the undo log, its guardian and plans, on a directory of plain files. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "fake_tracefs.h"
#include "tracefs/plan.h"
#include "tracefs/owner.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static void test_event_matches(void **state)
{
	static const struct {
		const char *system, *name, *wanted;
		bool matches;
	} cases[] = {
		{"sched", "sched_switch", "all", true},
		{"sched", "sched_switch", "sched", true},
		{"sched", "sched_switch", "sched:", true},
		{"sched", "sched_switch", "sched:sched_switch", true},
		{"sched", "sched_switch", "sched/sched_switch", true},
		{"sched", "sched_switch", "sched_switch", true},
		{"sched", "sched_switch", "*switch", true},
		{"sched", "sched_switch", "sc*:*_s*", true},
		{"sched", "sched_switch", "*:sched_switch", true},
		{"sched", "sched_switch", "switch", false},
		{"sched", "sched_switch", "irq:sched_switch", false},
		{"sched", "sched_switch", "sched:sched_wakeup", false},
		{"syscalls", "sys_enter_openat", "syscall:openat", true},
		{"syscalls", "sys_exit_openat", "syscall:openat", true},
		{"syscalls", "sys_exit_openat", "syscall:open*", true},
		{"syscalls", "sys_exit_openat2", "syscall:openat", false},
		{"syscalls", "sys_enter_openat", "syscalls:openat", false},
		{"raw_syscalls", "sys_enter", "syscall:openat", false},
		{"sched", "sched_switch", "", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct tracefs_event e = {cases[i].system, cases[i].name};

		if (tracefs_event_matches(&e, cases[i].wanted) != cases[i].matches)
			fail_msg("%s:%s and '%s'", e.system, e.name, cases[i].wanted);
	}
}

static void test_read(void **state)
{
	char word[64];
	struct tracefs fs;
	int64_t number;

	fake_tracefs(&fs);
	fake_file(&fs, "trace_clock", "local [global] counter\n");
	fake_file(&fs, "current_tracer", "nop\n");
	fake_file(&fs, "buffer_size_kb", "7 (expanded: 1408)\n");
	assert_int_equal(tracefs_read_choice(&fs, "", "trace_clock", word, sizeof(word), NULL), 0);
	assert_string_equal(word, "global");
	assert_int_equal(tracefs_read_choice(&fs, NULL, "current_tracer", word, sizeof(word), NULL),
			 0);
	assert_string_equal(word, "nop");
	assert_int_equal(tracefs_read_number(&fs, "", "buffer_size_kb", &number, NULL), 0);
	assert_int_equal(number, 7);
	assert_int_equal(tracefs_read_number(&fs, "", "current_tracer", &number, NULL), -EBADMSG);
	assert_int_equal(tracefs_read_number(&fs, "", "nothing", &number, NULL), -ENOENT);
	assert_true(tracefs_lists(&fs, "", "trace_clock", "counter"));
	assert_false(tracefs_lists(&fs, "", "trace_clock", "count"));
	fake_end(&fs);
}

/* What a file says before, what is written, and what is written to have it say the same again. */
static const struct {
	const char *file, *before, *text, *after;
} settings[] = {
	{"tracing_on", "1\n", "0", "1"},
	{"trace_clock", "local [global] counter\n", "mono", "global"},
	{"events/sched/sched_switch/filter", "none\n", "prev_pid == 1", "0"},
	{"events/sched/sched_waking/filter", "pid > 1\n", "pid == 1", "pid > 1"},
	{"events/sched/sched_switch/enable", "0*\n", "1", "0"},
	{"buffer_size_kb", "7 (expanded: 1408)\n", "4096", "7"},
	{"set_ftrace_filter", "#### all functions enabled ####\n", "vfs_read\n", ""},
	{"set_ftrace_notrace", "a\nb\nschedule:traceoff:unlimited\nc\n", "d\n", "a\nb\nc\n"},
	{"set_event_pid", "no pid\n", "12\n", ""},
	{"set_ftrace_pid", "12\n13\n", "14\n", "12\n13\n"},
	{"tracing_cpumask", "3\n", "1", "3"},
};

static void make_settings(struct tracefs *fs)
{
	fake_tracefs(fs);
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		fake_file(fs, settings[i].file, settings[i].before);
	fake_file(fs, "uprobe_events", "");
}

static void write_settings(struct undo *u)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		assert_int_equal(undo_write(u, "", settings[i].file, TRACEFS_REPLACE,
					    settings[i].text, NULL),
				 0);
	assert_int_equal(undo_line(u, "", "uprobe_events", "p:a/b x:1\n", "-:a/b\n", NULL), 0);
	assert_int_equal(undo_make_instance(u, "own", NULL), 0);
}

static void check_settings(const struct tracefs *fs, bool changed)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const char *want = changed ? settings[i].text : settings[i].after;

		if (strcmp(fake_text(fs, settings[i].file), want) != 0)
			fail_msg("%s: '%s' instead of '%s'", settings[i].file,
				 fake_text(fs, settings[i].file), want);
	}
	assert_string_equal(fake_text(fs, "uprobe_events"),
			    changed ? "p:a/b x:1\n" : "p:a/b x:1\n-:a/b\n");
	assert_int_equal(tracefs_has(fs, "", "instances/own"), changed);
}

static void test_undo(void **state)
{
	struct undo_options guard = {.guarded = true};
	struct tracefs fs;
	struct undo *u;

	make_settings(&fs);
	assert_int_equal(undo_new(&fs, &guard, &u, NULL), 0);
	write_settings(u);
	check_settings(&fs, true);
	assert_int_equal(undo_all(u, NULL), 0);
	check_settings(&fs, false);
	undo_free(u);
	check_settings(&fs, false);
	fake_end(&fs);
}

static void test_keep(void **state)
{
	struct undo_options guard = {.guarded = true};
	struct tracefs fs;
	struct undo *u;

	make_settings(&fs);
	assert_int_equal(undo_new(&fs, &guard, &u, NULL), 0);
	write_settings(u);
	undo_keep(u);
	undo_free(u);
	check_settings(&fs, true);
	fake_end(&fs);
}

/* These run in the guardian. */
struct told {
	struct tracefs fs;
	char note[64];
};

static void *say_begin(const struct tracefs *fs, const char *note)
{
	struct told *told = calloc(1, sizeof(*told));

	if (told) {
		told->fs = *fs;
		/* Nothing has been taken back yet. */
		snprintf(told->note, sizeof(told->note), "%s, tracing_on was %s", note,
			 fake_text(fs, "tracing_on"));
	}
	return told;
}

static void say_done(void *arg)
{
	struct told *told = arg;

	fake_file(&told->fs, "done", told->note);
	free(told);
}

/* A process that is killed is tidied up after. */
static void test_guardian(void **state)
{
	struct tracefs fs;
	pid_t pid;

	make_settings(&fs);
	pid = fork();
	if (pid == 0) {
		struct undo_options guard = {
			.guarded = true, .before = say_begin, .after = say_done};
		struct undo *u;

		if (undo_new(&fs, &guard, &u, NULL) == 0) {
			write_settings(u);
			undo_note(u, "first", NULL);
			undo_note(u, "second", NULL);
		}
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 1000 && strncmp(fake_text(&fs, "done"), "second", 6) != 0; i++)
		usleep(10000);
	assert_string_equal(fake_text(&fs, "done"), "second, tracing_on was 0");
	check_settings(&fs, false);
	fake_end(&fs);
}

/* A change that cannot be made does not keep the others from being taken back. */
static void test_undo_failure(void **state)
{
	struct undo_options plain = {0};
	struct spur_error err = {0};
	struct tracefs fs;
	struct undo *u;

	make_settings(&fs);
	assert_int_equal(undo_new(&fs, &plain, &u, NULL), 0);
	assert_int_equal(undo_write(u, "", "tracing_on", TRACEFS_REPLACE, "0", NULL), 0);
	assert_int_equal(undo_write(u, "", "nothing", TRACEFS_REPLACE, "0", &err), -ENOENT);
	assert_non_null(strstr(err.text, "nothing"));
	assert_int_equal(undo_all(u, NULL), 0);
	assert_string_equal(fake_text(&fs, "tracing_on"), "1");
	undo_free(u);
	fake_end(&fs);
}

static bool is_same_owner(const struct owner *a, const struct owner *b)
{
	return a->pid == b->pid && a->start == b->start && a->pidns == b->pidns &&
	       a->timens == b->timens;
}

/* Whose something is, by its name. */
static void test_owner(void **state)
{
	static const struct {
		const char *tag;
		pid_t pid; /* 0: it is none */
		enum owner_state state;
	} cases[] = {
		{"", 0, 0},
		{"12", 0, 0},
		{"12-1", 0, 0},
		{"0.1", 0, 0},
		{"12.", 0, 0},
		{"12.x", 0, 0},
		{"12.1f.2", 0, 0},
		{"12.1fx", 0, 0},
		{"99999999999.1", 0, 0},
		{"1.fffffff", 1, OWNER_DEAD}, /* another one of that number */
		{"1.fffffff-watch", 1, OWNER_DEAD},
		{"2147483647.1", 2147483647, OWNER_DEAD},
		{"1.1.2.3", 1, OWNER_DEAD},	      /* of a namespace without processes */
		{"1.1.effffffc.3", 1, OWNER_UNKNOWN}, /* of another time namespace */
	};
	char tag[OWNER_TAG_CAP], group[OWNER_TAG_CAP];
	struct owner self, o;

	owner_self(&self);
	owner_tag(&self, tag, sizeof(tag));
	assert_true(owner_parse(tag, &o));
	assert_true(is_same_owner(&o, &self));
	assert_int_equal(owner_state(&o), OWNER_ALIVE);
	o.start++;
	assert_int_equal(owner_state(&o), OWNER_DEAD);
	owner_group(group, sizeof(group));
	assert_true(owner_of_group(group, &o));
	assert_true(is_same_owner(&o, &self));
	assert_false(owner_of_group("spur", &o));
	assert_false(owner_of_group("sched", &o));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is = owner_parse(cases[i].tag, &o);

		assert_int_equal(is ? o.pid : 0, cases[i].pid);
		/* Elsewhere than in the first namespaces nothing can be said about these. */
		if (is && self.pidns == 0xEFFFFFFC && self.timens == 0xEFFFFFFA)
			assert_int_equal(owner_state(&o), cases[i].state);
	}
}

static void test_plan(void **state)
{
	struct tracefs fs;
	struct plan p;
	struct buf text;
	char want[2000];

	fake_tracefs(&fs);
	fake_file(&fs, "kprobe_events", "");
	plan_init(&p);
	assert_non_null(plan_add(&p, PLAN_WRITE, "", "tracing_on", "0"));
	assert_non_null(plan_add(&p, PLAN_WRITE, "", "not_here", "0"));
	p.at[1].optional = true;
	assert_non_null(plan_add(&p, PLAN_INSTANCE, "i", "", ""));
	assert_non_null(plan_add_line(&p, "", "kprobe_events", "p:x/y f a='$arg1'", "-:x/y"));
	buf_init(&text, 1u << 20);
	plan_show(&p, &fs, &text);
	snprintf(want, sizeof(want),
		 "echo 0 > %s/tracing_on\nmkdir %s/instances/i\n"
		 "echo 'p:x/y f a='\\''$arg1'\\''' >> %s/kprobe_events\n",
		 fs.path, fs.path, fs.path);
	assert_string_equal(buf_str(&text), want);
	buf_free(&text);
	assert_int_equal(plan_apply(&p, &fs, NULL, NULL), 0);
	assert_string_equal(fake_text(&fs, "tracing_on"), "0");
	assert_true(tracefs_has(&fs, "", "instances/i"));
	assert_string_equal(fake_text(&fs, "kprobe_events"), "p:x/y f a='$arg1'");
	plan_free(&p);
	fake_end(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_matches), cmocka_unit_test(test_read),
		cmocka_unit_test(test_undo),	      cmocka_unit_test(test_keep),
		cmocka_unit_test(test_guardian),      cmocka_unit_test(test_undo_failure),
		cmocka_unit_test(test_plan),	      cmocka_unit_test(test_owner),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
