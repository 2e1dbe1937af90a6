// SPDX-License-Identifier: GPL-2.0-or-later
/* Driving tracing: dynamic events, instances, masks, resetting, capabilities. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "fake_tracefs.h"
#include "tracefs/caps.h"
#include "tracefs/leftovers.h"
#include "tracefs/owner.h"
#include "tracefs/state.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- texts ---- */

static void test_dynamic_lines(void **state)
{
	static const struct {
		const char *line, *group, *name;
		enum dynamic_kind kind;
	} cases[] = {
		{"p:kprobes/open do_sys_open", "kprobes", "open", DYNAMIC_KPROBE},
		{"p:kprobes/at module:func+0x10 dfd=%di", "kprobes", "at", DYNAMIC_KPROBE},
		{"r:kprobes/back do_sys_open $retval", "kprobes", "back", DYNAMIC_KRETPROBE},
		{"r16:kprobes/back do_sys_open", "kprobes", "back", DYNAMIC_KRETPROBE},
		{"p:uprobes/main /bin/true:0x0000000000001234", "uprobes", "main", DYNAMIC_UPROBE},
		{"r:spur/main /bin/true:0x1234 arg1=$retval", "spur", "main", DYNAMIC_URETPROBE},
		{"e:eprobes/e sched.sched_switch a=$prev_pid", "eprobes", "e", DYNAMIC_EPROBE},
		{"s:synthetic/lat\tu64 delta; pid_t pid;", "synthetic", "lat", DYNAMIC_SYNTH},
		{"f:fprobes/f vfs_read", "fprobes", "f", DYNAMIC_FPROBE},
		{"t:tracepoints/t sched_switch", "tracepoints", "t", DYNAMIC_FPROBE},
		{"u:user_events/x int a", "user_events", "x", DYNAMIC_FOREIGN},
		{"p:kprobes/bare", "kprobes", "bare", DYNAMIC_KPROBE},
		{"", NULL},
		{"p:noslash do_sys_open", NULL},
		{"p kprobes/nocolon", NULL},
		{"p:/nogroup x", NULL},
		{"p:noname/ x", NULL},
		{"p:noname/", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char line[100];
		struct dynamic_event e = {0};
		bool good;

		snprintf(line, sizeof(line), "%s", cases[i].line);
		good = dynamic_parse(line, &e);
		if (good != (cases[i].group != NULL))
			fail_msg("'%s': %d", cases[i].line, good);
		if (!good)
			continue;
		assert_string_equal(e.group, cases[i].group);
		assert_string_equal(e.name, cases[i].name);
		assert_int_equal(e.kind, cases[i].kind);
	}
}

static void test_owners(void **state)
{
	static const struct {
		const char *name;
		pid_t owner;
	} cases[] = {
		{"spur-1234", 1234},
		{"spur-1234-2", 1234},
		{"spur-1234-watch", 1234},
		{"spur-", 0},
		{"spur-x", 0},
		{"spur-12x", 0},
		{"spur-0", 0},
		{"spur--5", 0},
		{"spur", 0},
		{"foo", 0},
		{"", 0},
		{"spur-99999999999", 0},
		{"spur- 12", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (instance_owner(cases[i].name) != cases[i].owner)
			fail_msg("'%s' is of %d", cases[i].name,
				 (int)instance_owner(cases[i].name));
}

static void test_masks(void **state)
{
	static const struct {
		const char *mask;
		unsigned int cpus;
		bool all;
	} cases[] = {
		{"3", 2, true},
		{"1", 2, false},
		{"2", 2, false},
		{"f", 4, true},
		{"f", 5, false},
		{"1f", 5, true},
		{"0f", 5, false},
		{"ff", 6, true},
		{"3f", 6, true},
		{"ffffffff,ffffffff", 64, true},
		{"fffffffe,ffffffff", 64, false},
		{"ffffffff,fffffffe", 64, false},
		{"", 1, false},
		{"", 0, true},
		{"1,ffffffff", 33, true},
		{"0,ffffffff", 33, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (state_mask_has_all(cases[i].mask, cases[i].cpus) != cases[i].all)
			fail_msg("'%s' of %u", cases[i].mask, cases[i].cpus);
}

static void test_mask_of_all(void **state)
{
	static const struct {
		unsigned int cpus;
		const char *mask;
	} cases[] = {
		{1, "1"},
		{2, "3"},
		{4, "f"},
		{5, "1f"},
		{32, "ffffffff"},
		{33, "1,ffffffff"},
		{64, "ffffffff,ffffffff"},
		{70, "3f,ffffffff,ffffffff"},
	};
	struct buf mask;

	buf_init(&mask, 1024);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&mask);
		state_mask_of_all(cases[i].cpus, &mask);
		assert_string_equal(buf_str(&mask), cases[i].mask);
		assert_true(state_mask_has_all(buf_str(&mask), cases[i].cpus));
	}
	buf_free(&mask);
}

/* ---- resetting ---- */

/* Somebody has been tracing. */
static void fake_settings(const struct tracefs *fs)
{
	fake_file(fs, "available_events",
		  "sched:sched_switch\nsched:sched_wakeup\nirq:irq_handler\n");
	fake_file(fs, "current_tracer", "function\n");
	fake_file(fs, "events/enable", "X\n");
	fake_file(fs, "events/sched/filter", "prev_pid == 1\n");
	fake_file(fs, "events/irq/filter", "### global filter ###\n");
	fake_file(fs, "events/sched/sched_switch/filter", "prev_pid == 1\n");
	fake_file(fs, "events/sched/sched_wakeup/filter", "none\n");
	fake_file(fs, "events/irq/irq_handler/filter", "none\n");
	fake_file(fs, "events/sched/sched_switch/trigger", "# Available triggers:\n# traceon\n");
	fake_file(fs, "events/sched/sched_wakeup/trigger",
		  "hist:keys=pid:vals=hitcount:size=2048 [active]\n");
	fake_file(fs, "events/irq/irq_handler/trigger", "# Available triggers:\n");
	fake_file(fs, "set_ftrace_filter", "#### all functions enabled ####\n");
	fake_file(fs, "set_ftrace_notrace", "schedule\n");
	fake_file(fs, "set_ftrace_pid", "no pid\n");
	fake_file(fs, "set_event_pid", "12\n13\n");
	fake_file(fs, "trace", "events\n");
	fake_file(fs, "trace_clock", "local [mono] tai\n");
	fake_file(fs, "tracing_cpumask", "1\n");
	fake_file(fs, "per_cpu/cpu0/trace", "");
	fake_file(fs, "per_cpu/cpu1/trace", "");
	fake_file(fs, "tracing_on", "0\n");
}

static void test_reset(void **state)
{
	static const struct {
		const char *file, *text;
	} after[] = {
		{"current_tracer", "nop"},
		{"events/enable", "0"},
		{"events/sched/filter", "0"},
		{"events/irq/filter", "### global filter ###\n"},
		{"events/sched/sched_switch/filter", "0"},
		{"events/sched/sched_wakeup/filter", "none\n"},
		{"events/sched/sched_switch/trigger", "# Available triggers:\n# traceon\n"},
		{"set_ftrace_filter", "#### all functions enabled ####\n"},
		{"set_ftrace_notrace", ""},
		{"set_ftrace_pid", "no pid\n"},
		{"set_event_pid", ""},
		{"trace", ""},
		{"trace_clock", "local"},
		{"tracing_cpumask", "3"},
		{"tracing_on", "1"},
	};
	struct spur_error err = {0};
	struct tracefs fs;

	fake_tracefs(&fs);
	fake_settings(&fs);
	assert_int_equal(reset_buffer(&fs, NULL, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(after); i++)
		if (strcmp(fake_text(&fs, after[i].file), after[i].text) != 0)
			fail_msg("%s says '%s'", after[i].file, fake_text(&fs, after[i].file));
	/* The line that removes it; a plain file keeps both, and is asked again some times. */
	assert_non_null(strstr(fake_text(&fs, "events/sched/sched_wakeup/trigger"),
			       "\n!hist:keys=pid:vals=hitcount:size=2048\n"));
	fake_end(&fs);
}

static void note_name(void *arg, const char *name)
{
	char *names = arg;

	strncat(names, name, 200);
	strncat(names, " ", 2);
}

/* A process that has been and is no longer. */
static pid_t dead_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void make_instance(const struct tracefs *fs, const char *form, pid_t pid)
{
	char name[100];

	snprintf(name, sizeof(name), form, (int)pid);
	assert_int_equal(tracefs_make_instance(fs, name, NULL), 0);
}

static void test_leftovers(void **state)
{
	char path[100], names[500] = "", want[500];
	pid_t dead = dead_process();
	struct spur_error err = {0};
	struct tracefs fs;

	fake_tracefs(&fs);
	make_instance(&fs, "spur-%d", dead);
	make_instance(&fs, "spur-%d-1", dead);
	make_instance(&fs, "spur-%d", getpid());
	make_instance(&fs, "other-%d", dead);
	assert_int_equal(leftovers_instances(&fs, note_name, names, &err), 0);
	snprintf(want, sizeof(want), "spur-%d spur-%d-1 ", (int)dead, (int)dead);
	assert_string_equal(names, want);
	snprintf(path, sizeof(path), "instances/spur-%d", (int)getpid());
	assert_true(tracefs_has(&fs, NULL, path));
	snprintf(path, sizeof(path), "instances/other-%d", (int)dead);
	assert_true(tracefs_has(&fs, NULL, path));
	fake_end(&fs);
}

static void count_left(void *arg, const struct dynamic_event *e, const struct spur_error *why)
{
	assert_true(why->code < 0 && *why->text);
	++*(int *)arg;
}

static void test_dynamic_removal(void **state)
{
	struct spur_error err = {0};
	struct tracefs fs;
	int left = 0;

	fake_tracefs(&fs);
	/* Without the file there is nothing to remove. */
	assert_int_equal(dynamic_remove_all(&fs, 0, count_left, &left, &err), 0);
	fake_file(&fs, "dynamic_events", "p:kprobes/a x\np:uprobes/b /bin/true:0x1\nu:u/c int x\n");
	assert_int_equal(dynamic_remove_all(&fs, 1u << DYNAMIC_KPROBE, count_left, &left, &err), 1);
	assert_string_equal(fake_text(&fs, "dynamic_events"),
			    "p:kprobes/a x\np:uprobes/b /bin/true:0x1\nu:u/c int x\n-:uprobes/b\n");
	fake_file(&fs, "dynamic_events", "p:kprobes/a x\np:uprobes/b /bin/true:0x1\n");
	assert_int_equal(dynamic_remove_all(&fs, 0, count_left, &left, &err), 2);
	assert_non_null(strstr(fake_text(&fs, "dynamic_events"), "-:uprobes/b\n-:kprobes/a\n"));
	assert_int_equal(left, 0);
	fake_end(&fs);
}

/* What cannot be removed is told with its reason, and does not count as removed. */
static void test_dynamic_stays(void **state)
{
	struct spur_error err = {0};
	char text[1000];
	struct tracefs fs;
	int left = 0;

	fake_tracefs(&fs);
	snprintf(text, sizeof(text), "p:kprobes/a x\np:kprobes/%0600d x\n", 0);
	fake_file(&fs, "dynamic_events", text);
	assert_int_equal(dynamic_remove_all(&fs, 0, count_left, &left, &err), 1);
	assert_int_equal(left, 1);
	fake_end(&fs);
}

/* ---- events and options ---- */

static int note_option(void *arg, const char *option)
{
	note_name(arg, option);
	return 0;
}

static int note_event(void *arg, const struct tracefs_event *e, const char *text)
{
	note_name(arg, e->name);
	note_name(arg, text);
	return 0;
}

static void test_walks(void **state)
{
	char names[500] = "";
	struct tracefs fs;

	fake_tracefs(&fs);
	fake_settings(&fs);
	fake_file(&fs, "options/stacktrace", "1\n");
	fake_file(&fs, "options/overwrite", "0\n");
	fake_file(&fs, "events/header_page", "");
	assert_int_equal(state_each_option(&fs, NULL, note_option, names, NULL), 0);
	assert_string_equal(names, "nooverwrite stacktrace ");
	names[0] = '\0';
	assert_int_equal(state_each_system(&fs, NULL, note_option, names, NULL), 0);
	assert_string_equal(names, "irq sched ");
	names[0] = '\0';
	assert_int_equal(state_each_event(&fs, NULL, "filter", note_event, names, NULL), 0);
	assert_string_equal(names, "sched_switch prev_pid == 1 ");
	assert_int_equal(state_enabled(&fs, NULL, "events"), 'X');
	assert_int_equal(state_enabled(&fs, NULL, "events/sched"), '?');
	assert_int_equal(state_nr_cpus(&fs, NULL), 2);
	fake_end(&fs);
}

/* ---- capabilities ---- */

static void test_capabilities(void **state)
{
	static const struct {
		const char *name;
		enum cap_state state;
		const char *what, *advice; /* parts of them */
	} cases[] = {
		{"tracefs", CAP_YES, "spur-fake", ""},
		{"events", CAP_YES, "3 events of 2 systems", ""},
		{"instances", CAP_YES, "a buffer of its own", ""},
		{"kprobes", CAP_NO, "built without it", "CONFIG_KPROBE_EVENTS"},
		{"uprobes", CAP_YES, "uprobe_events", ""},
		{"function", CAP_YES, "", ""},
		{"function_graph", CAP_NO, "", "CONFIG_FUNCTION_GRAPH_TRACER"},
		{"function_graph-instance", CAP_NO, "no function_graph at all", ""},
		{"latency", CAP_YES, "wakeup wakeup_rt", ""},
		{"osnoise", CAP_NO, "", "CONFIG_OSNOISE_TRACER"},
		{"subbuf", CAP_NO, "too old", "Linux 6.8"},
		{"hist", CAP_NO, "", "CONFIG_HIST_TRIGGERS"},
		{"filters", CAP_YES, "", ""},
		{"eprobes", CAP_YES, "", ""},
		{"fprobes", CAP_NO, "", "CONFIG_FPROBE_EVENTS"},
		{"unused", CAP_PARTLY, "events are on", "spur stat"},
		{"clocks", CAP_YES, "local [mono] tai", ""},
	};
	struct spur_error err = {0};
	struct cap_answer a;
	struct tracefs fs;
	struct caps *c;

	fake_tracefs(&fs);
	fake_settings(&fs);
	fake_file(&fs, "current_tracer", "nop\n");
	fake_file(&fs, "available_tracers", "wakeup_rt wakeup function nop\n");
	fake_file(&fs, "uprobe_events", "");
	fake_file(&fs, "README", "\t           e[:[<group>/][<event>]] <system>.<event>\n");
	assert_int_equal(caps_new(&fs, NULL, &c, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct cap *cap = cap_find(cases[i].name);

		assert_non_null(cap);
		cap_probe(c, cap, &a);
		if (a.state != cases[i].state || !strstr(a.what, cases[i].what) ||
		    !strstr(a.advice, cases[i].advice) || !cases[i].advice[0] != !a.advice[0])
			fail_msg("%s: %d, '%s', '%s'", cap->name, a.state, a.what, a.advice);
	}
	caps_free(c);
	/* What it has made to try things in is gone. */
	snprintf(a.what, sizeof(a.what), "instances/spur-%d", (int)getpid());
	assert_false(tracefs_has(&fs, NULL, a.what));
	fake_end(&fs);
}

static void test_every_capability(void **state)
{
	struct spur_error why = {.code = -ENOENT, .text = "not mounted"}, err = {0};
	struct cap_answer a;
	struct caps *c;

	assert_int_equal(caps_new(NULL, &why, &c, &err), 0);
	for (const struct cap *cap = caps_table; cap->name; cap++) {
		assert_ptr_equal(cap_find(cap->name), cap);
		cap_probe(c, cap, &a);
		assert_true(a.what[0]);
		if (!cap->elsewhere)
			assert_int_equal(a.state, CAP_NO);
	}
	caps_free(c);
	assert_null(cap_find("nosuch"));
}

static void test_require(void **state)
{
	struct spur_error err = {0};
	struct tracefs fs;

	fake_tracefs(&fs);
	fake_file(&fs, "snapshot", "");
	assert_int_equal(cap_require(&fs, "snapshot", &err), 0);
	assert_int_equal(cap_require(&fs, "kprobes", &err), -ENOTSUP);
	assert_string_equal(err.text, "kprobes: this kernel is built without it; "
				      "use a kernel with CONFIG_KPROBE_EVENTS");
	fake_end(&fs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic_lines),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_mask_of_all),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_dynamic_removal),
		cmocka_unit_test(test_dynamic_stays),
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_every_capability),
		cmocka_unit_test(test_require),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
