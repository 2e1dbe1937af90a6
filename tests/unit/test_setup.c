// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From options to what is written to which file of tracefs: the options of a case, and the lines
 * of the dry run without "echo" and with the directory left out. Instances are called after the
 * process; here they are called spur-PID.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/tracing_opts.h"
#include "fake_tracefs.h"
#include "record/session.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_ARGS      24

static char complaint[600];

void cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(complaint, sizeof(complaint), fmt, ap);
	va_end(ap);
}

int cli_fail(const struct spur_error *err)
{
	cli_error("%s", err->text);
	return SPUR_ENVIRONMENT;
}

/* Lines that stand at the beginning and at the end of all recordings into a private buffer. */
#define BEGIN "mkdir i/spur-PID\n0 > i/spur-PID/tracing_on\n"
#define SIZE  "4096 > i/spur-PID/buffer_size_kb\n"
#define END   "1 > i/spur-PID/tracing_on\n"
#define P     "i/spur-PID/"

static const struct {
	const char *name;
	const char *args[MAX_ARGS];
	const char *lines; /* or what it complains about */
	int rc;
} cases[] = {
	{"an event",
	 {"-b", "4096", "-e", "sched_switch"},
	 BEGIN SIZE "1 > " P "events/sched/sched_switch/enable\n" END,
	 0},
	{"a system in one write",
	 {"-b", "4096", "-e", "sched"},
	 BEGIN SIZE "1 > " P "events/sched/enable\n" END,
	 0},
	{"a system but for an event",
	 {"-b", "4096", "-e", "sched", "-v", "-e", "*waking"},
	 BEGIN SIZE "1 > " P "events/sched/sched_switch/enable\n" END,
	 0},
	{"a filter, in either language",
	 {"-b", "4096", "-e", "sched_switch", "-f", "a =~ \"x=~y\""},
	 BEGIN SIZE "'a ~ \"x=~y\"' > " P "events/sched/sched_switch/filter\n"
		    "1 > " P "events/sched/sched_switch/enable\n" END,
	 0},
	{"two filters of an event",
	 {"-b", "4096", "-e", "sched_switch", "-f", "a == 1", "-f", "b || c"},
	 BEGIN SIZE "'(a == 1) && (b || c)' > " P "events/sched/sched_switch/filter\n"
		    "1 > " P "events/sched/sched_switch/enable\n" END,
	 0},
	{"a filter of all events of a preset",
	 {"-b", "4096", "--preset", "irq", "-f", "a"},
	 BEGIN SIZE "a > " P "events/irq/irq_handler_entry/filter\n"
		    "a > " P "events/irq/irq_handler_exit/filter\n"
		    "1 > " P "events/irq/enable\n" END,
	 0},
	{"a trigger",
	 {"-b", "4096", "-e", "sched_switch", "-R", "stacktrace"},
	 BEGIN SIZE "stacktrace >> " P "events/sched/sched_switch/trigger\n"
		    "1 > " P "events/sched/sched_switch/enable\n" END,
	 0},
	{"a trigger on an event that stays off",
	 {"-b", "4096", "-e", "irq", "-v", "-e", "sched_switch", "-R", "traceoff"},
	 BEGIN SIZE "traceoff >> " P "events/sched/sched_switch/trigger\n"
		    "1 > " P "events/irq/enable\n" END,
	 0},
	{"a system call by name",
	 {"-b", "4096", "-e", "syscall:openat"},
	 BEGIN SIZE "1 > " P "events/syscalls/sys_enter_openat/enable\n"
		    "1 > " P "events/syscalls/sys_exit_openat/enable\n" END,
	 0},
	{"an unknown event",
	 {"-e", "sched_swich"},
	 "this kernel has no event 'sched_swich'; did you mean 'sched_switch'?",
	 -ENOENT},
	{"an unknown event that does not matter",
	 {"-b", "4096", "-i", "-e", "nosuch", "-e", "irq"},
	 BEGIN SIZE "1 > " P "events/irq/enable\n" END,
	 0},
	{"clock, pages, CPUs",
	 {"-b", "4096", "-C", "mono", "--subbuf-size", "16", "-M", "3", "-e", "irq"},
	 BEGIN "mono > " P "trace_clock\n16 > " P "buffer_subbuf_size_kb\n" SIZE "3 > " P
	       "tracing_cpumask\n1 > " P "events/irq/enable\n" END,
	 0},
	{"stacks, and an option that is turned off",
	 {"-b", "4096", "-T", "-O", "nooverwrite", "-e", "irq"},
	 BEGIN SIZE "1 > " P "options/stacktrace\n0 > " P "options/overwrite\n"
		    "1 > " P "events/irq/enable\n" END,
	 0},
	{"an unknown option",
	 {"-O", "nosuch", "-e", "irq"},
	 "there is no option 'nosuch'",
	 -EINVAL},
	{"two instances",
	 {"-B", "one", "-e", "irq", "-b", "8", "-B", "two", "-b", "9", "-e", "sched"},
	 "mkdir i/one\n0 > i/one/tracing_on\n8 > i/one/buffer_size_kb\n1 > "
	 "i/one/events/irq/enable\n"
	 "mkdir i/two\n0 > i/two/tracing_on\n9 > i/two/buffer_size_kb\n1 > "
	 "i/two/events/sched/enable\n"
	 "1 > i/one/tracing_on\n1 > i/two/tracing_on\n",
	 0},
	{"only the command, with its children",
	 {"-b", "4096", "-F", "-c", "-e", "irq"},
	 BEGIN SIZE "'PID\n' > " P "set_event_pid\n1 > " P "options/event-fork\n"
		    "1 > " P "events/irq/enable\n" END,
	 0},
	{"a process that is not there",
	 {"-P", "1073741824", "-e", "irq"},
	 "there is no process 1073741824",
	 -ESRCH},
	{"functions before the tracer",
	 {"-b", "4096", "-p", "function", "-l", "vfs_*", "-n", "vfs_read", "--func-stack"},
	 BEGIN SIZE "'vfs_*\n' > " P "set_ftrace_filter\n'vfs_read\n' > " P "set_ftrace_notrace\n"
		    "function > " P "current_tracer\n1 > " P "options/func_stack_trace\n" END,
	 0},
	{"functions by a regular expression",
	 {"-b", "4096", "-p", "function", "-l", "^vfs_.*e$"},
	 BEGIN SIZE "'vfs_write\n' > " P "set_ftrace_filter\nfunction > " P "current_tracer\n" END,
	 0},
	{"a module",
	 {"-b", "4096", "-p", "function", "--module", "snd", "-l", "*jack*"},
	 BEGIN SIZE "'*jack*:mod:snd\n' > " P "set_ftrace_filter\nfunction > " P
		    "current_tracer\n" END,
	 0},
	{"the graph needs the top level",
	 {"-p", "function_graph", "-g", "vfs_read", "--max-graph-depth", "2", "--thresh", "100us"},
	 "0 > tracing_on\n'' > trace\n'vfs_read\n' > set_graph_function\n2 > max_graph_depth\n"
	 "100 > tracing_thresh\nfunction_graph > current_tracer\n1 > tracing_on\n",
	 0},
	{"a tracer that there is not",
	 {"-p", "nosuch"},
	 "this kernel has no tracer 'nosuch'",
	 -ENODEV},
	{"each event by itself at the top level",
	 {"--top", "-e", "irq"},
	 "0 > tracing_on\n'' > trace\n1 > events/irq/irq_handler_entry/enable\n"
	 "1 > events/irq/irq_handler_exit/enable\n1 > tracing_on\n",
	 0},
	{"a synthetic event and what feeds it",
	 {"-b", "4096", "--synth", "lat u64 lat", "-e", "sched_switch", "-R", "hist:keys=next_pid"},
	 BEGIN SIZE "'lat u64 lat' >> synthetic_events\n1 > " P "events/synthetic/lat/enable\n"
		    "hist:keys=next_pid >> " P "events/sched/sched_switch/trigger\n"
		    "1 > " P "events/sched/sched_switch/enable\n" END,
	 0},
};

static void make_tracefs(struct tracefs *fs)
{
	static const char *const empty[] = {
		"options/stacktrace",	    "options/overwrite", "options/event-fork",
		"options/func_stack_trace", "set_ftrace_filter", "set_graph_function",
		"max_graph_depth",	    "tracing_thresh",	 "set_event",
		"synthetic_events",
	};

	fake_tracefs(fs);
	fake_file(fs, "available_events",
		  "sched:sched_switch\nsched:sched_waking\n"
		  "irq:irq_handler_entry\nirq:irq_handler_exit\n"
		  "syscalls:sys_enter_openat\nsyscalls:sys_exit_openat\n"
		  "syscalls:sys_enter_close\n");
	fake_file(fs, "available_tracers", "function_graph function nop\n");
	fake_file(fs, "available_filter_functions", "vfs_read\nvfs_write\nsnd_jack [snd]\n");
	fake_file(fs, "current_tracer", "nop\n");
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++)
		fake_file(fs, empty[i], "");
}

/* Leaves out what is the same in every line. */
static void shorten(char *text, const char *path)
{
	static const struct {
		const char *long_form, *short_form;
	} words[] = {{"echo ", ""}, {"instances/", "i/"}};
	char with_slash[300];

	snprintf(with_slash, sizeof(with_slash), "%s/", path);
	for (size_t i = 0; i < ARRAY_SIZE(words) + 1; i++) {
		const char *from = i ? words[i - 1].long_form : with_slash;
		const char *to = i ? words[i - 1].short_form : "";

		for (char *at = text; (at = strstr(at, from)); at += strlen(to)) {
			memmove(at + strlen(to), at + strlen(from), strlen(at + strlen(from)) + 1);
			memcpy(at, to, strlen(to));
		}
	}
}

static int run_case(const struct tracefs *fs, const char *const *args, char *text, size_t cap)
{
	const struct command cmd = {
		.name = "test", .shared = tracing_opts, .nr_shared = NR_TRACING_OPTS};
	char *argv[MAX_ARGS + 2] = {(char *)"test"};
	struct tracing_options w = {0};
	struct session_options opt = {0};
	struct spur_error err = {0};
	struct buf out;
	int argc = 1, rc;

	for (; args[argc - 1]; argc++)
		argv[argc] = (char *)args[argc - 1];
	rc = opts_parse(&cmd, &w, argc, argv);
	assert_int_equal(rc, 0);
	assert_int_equal(tracing_check(&w), SPUR_OK);
	buf_init(&out, 1u << 20);
	rc = session_show(fs, &w.request, &opt, &out, &err);
	snprintf(text, cap, "%s", rc < 0 ? err.text : buf_str(&out));
	buf_free(&out);
	tracing_free(&w);
	return rc;
}

#define TASKS_MADE "mkdir i/spur-PID-names\n"
#define TASKS_REST                                                                                 \
	" > i/spur-PID-names/trace_clock\n"                                                        \
	"256 > i/spur-PID-names/buffer_size_kb\n"                                                  \
	"1 > i/spur-PID-names/events/task/task_newtask/enable\n"                                   \
	"1 > i/spur-PID-names/events/task/task_rename/enable\n"                                    \
	"1 > i/spur-PID-names/events/sched/sched_process_exec/enable\n"                            \
	"1 > i/spur-PID-names/events/sched/sched_process_exit/enable\n"

/* All recordings have these lines, with their own clock, before the first buffer is turned on. */
static void cut_tasks(const char *name, const char *const *args, char *text)
{
	char *made = strstr(text, TASKS_MADE), *rest;
	const char *clock = "local";

	for (; *args; args++)
		if (strcmp(*args, "-C") == 0)
			clock = args[1];
	if (!made || strncmp(made + strlen(TASKS_MADE), clock, strlen(clock)) != 0)
		fail_msg("%s: nothing tells of tasks\n%s", name, text);
	rest = made + strlen(TASKS_MADE) + strlen(clock);
	if (strncmp(rest, TASKS_REST, strlen(TASKS_REST)) != 0)
		fail_msg("%s: something else tells of tasks\n%s", name, text);
	rest += strlen(TASKS_REST);
	memmove(made, rest, strlen(rest) + 1);
}

static void test_cases(void **state)
{
	struct tracefs fs;

	make_tracefs(&fs);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char text[8192];
		int rc = run_case(&fs, cases[i].args, text, sizeof(text));

		shorten(text, fs.path);
		if (rc == 0)
			cut_tasks(cases[i].name, cases[i].args, text);
		if (rc != cases[i].rc ||
		    (rc < 0 ? !strstr(text, cases[i].lines) : strcmp(text, cases[i].lines) != 0))
			fail_msg("%s: %d\n%s\ninstead of\n%s", cases[i].name, rc, text,
				 cases[i].lines);
	}
	fake_end(&fs);
}

/* Somebody who uses the top-level buffer is not disturbed, unless that is wanted. */
static void test_top_in_use(void **state)
{
	static const char *const args[] = {"--top", "-e", "irq_handler_entry", NULL};
	struct tracefs fs;
	char text[8192];

	make_tracefs(&fs);
	fake_file(&fs, "set_event", "sched:sched_switch\n");
	assert_int_equal(run_case(&fs, args, text, sizeof(text)), -EBUSY);
	assert_non_null(strstr(text, "in use (event sched:sched_switch)"));
	fake_file(&fs, "set_event", "");
	fake_file(&fs, "current_tracer", "function\n");
	assert_int_equal(run_case(&fs, args, text, sizeof(text)), -EBUSY);
	assert_non_null(strstr(text, "in use (tracer function)"));
	fake_end(&fs);
}

/* Options that make no sense are refused before anything is looked at. */
static void test_wrong_usage(void **state)
{
	static const struct {
		const char *args[MAX_ARGS];
		const char *complaint;
	} wrong[] = {
		{{"-f", "pid == 1"}, "-f: belongs to an event"},
		{{"-R", "traceoff"}, "-R: belongs to an event"},
		{{"-B", "a/b"}, "is no name for an instance"},
		{{"-b", "0"}, "-b: '0' is no number of kilobytes"},
		{{"-M", "xyz"}, "is no mask of CPUs"},
		{{"-P", "1,x"}, "is no list of process numbers"},
		{{"--preset", "nosuch"}, "is none of: sched irq"},
		{{"--thresh", "1ns"}, "is not a time of a microsecond"},
		{{"-c", "-e", "irq"}, "-c: needs -F or -P"},
		{{"-B", "a", "-B", "a"}, "there is a buffer 'a' already"},
	};
	const struct command cmd = {
		.name = "test", .shared = tracing_opts, .nr_shared = NR_TRACING_OPTS};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		char *argv[MAX_ARGS + 2] = {(char *)"test"};
		struct tracing_options w = {0};
		int argc = 1;

		for (; wrong[i].args[argc - 1]; argc++)
			argv[argc] = (char *)wrong[i].args[argc - 1];
		complaint[0] = '\0';
		if (opts_parse(&cmd, &w, argc, argv) >= 0)
			assert_int_not_equal(tracing_check(&w), SPUR_OK);
		if (!strstr(complaint, wrong[i].complaint))
			fail_msg("'%s' instead of '%s'", complaint, wrong[i].complaint);
		tracing_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_top_in_use),
		cmocka_unit_test(test_wrong_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
