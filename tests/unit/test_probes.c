// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/script: what attach points mean, on a made-up machine and in a made-up recording; registers,
 * and arguments of USDT probes. What is really attached is in test_probes_live.c.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "event_fixture.h"
#include "fake_tracefs.h"
#include "probe/probes.h"
#include "probe/usdt.h"
#include "probe_kernel.h"
#include "scan/trace.h"
#include "symbols/abi.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char format[] = "name: sched_switch\n"
			     "ID: 1\n"
			     "format:\n"
			     "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
			     "\n"
			     "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
			     "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
			     "\n"
			     "print fmt: \"\"\n";

static const char *const events[] = {
	"sched:sched_switch",
	"sched:sched_wakeup",
	"block:block_rq_issue",
	"syscalls:sys_enter_openat",
	"syscalls:sys_exit_openat",
	"syscalls:sys_enter_newstat",
	"syscalls:sys_enter_read",
	"raw_syscalls:sys_enter",
	"net9p:thing",
	"net:thing",
};

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81001000 T vfs_read\n"
			       "ffffffff81002000 T vfs_write\n"
			       "ffffffff81003000 t vfs_secret\n"
			       "ffffffff81004000 D jiffies\n"
			       "ffffffffc0001000 t ext4_read\t[ext4]\n";

struct fixture {
	struct tracefs fs;
	struct arena arena;
	struct source source;
	struct probe_world world;
	char kallsyms[400];
	struct buf out;
};

/* ---- a machine ---- */

static void add_events(struct fixture *f)
{
	struct buf list;

	buf_init(&list, 1 << 16);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		char file[128], *colon;

		buf_printf(&list, "%s\n", events[i]);
		snprintf(file, sizeof(file), "events/%s/id", events[i]);
		colon = strchr(file, ':');
		*colon = '/';
		fake_file(&f->fs, file, "1\n");
	}
	fake_file(&f->fs, "available_events", buf_str(&list));
	fake_file(&f->fs, "events/sched/sched_switch/format", format);
	buf_free(&list);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	fake_tracefs(&f->fs);
	add_events(f);
	fake_file(&f->fs, "kallsyms", kallsyms);
	fake_file(&f->fs, "available_filter_functions", "vfs_read\nvfs_write\next4_read [ext4]\n");
	snprintf(f->kallsyms, sizeof(f->kallsyms), "%s/kallsyms", f->fs.path);
	arena_init(&f->arena, 16 << 20);
	source_init(&f->source, &f->arena);
	buf_init(&f->out, 1 << 16);
	f->world = (struct probe_world){
		.tracefs = f->fs.path,
		.arena = &f->arena,
		.kallsyms = f->kallsyms,
		.btf = "/nowhere",
	};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	probe_world_close(&f->world);
	source_free(&f->source);
	buf_free(&f->out);
	arena_free(&f->arena);
	fake_end(&f->fs);
	free(f);
	return 0;
}

/* ---- attach points ---- */

static struct attach_point point_of(struct fixture *f, const char *text)
{
	struct attach_point p = {0};
	char *part = arena_strdup(&f->arena, text), *equals = strchr(part, '=');

	if (equals) {
		*equals = '\0';
		p.name = part;
		part = equals + 1;
	}
	p.text = arena_strdup(&f->arena, part);
	p.at.to = (uint32_t)strlen(text);
	while (part && p.nr_parts < ARRAY_SIZE(p.parts)) {
		p.parts[p.nr_parts++] = part;
		part = strchr(part, ':');
		if (part)
			*part++ = '\0';
	}
	buf_reset(&f->source.text);
	buf_reset(&f->source.messages);
	f->source.parts.n = 0;
	f->source.errors = 0;
	assert_true(source_add(&f->source, "stdin", text, strlen(text), (struct span){0}));
	return p;
}

/* The names, separated by blanks. */
static int match(struct fixture *f, const char *text, bool quiet)
{
	struct attach_point p = point_of(f, text);
	struct probe_targets targets = {0};
	int ret = probes_match(&f->world, &f->source, &p, quiet, &targets);

	buf_reset(&f->out);
	for (size_t i = 0; i < targets.n; i++)
		buf_printf(&f->out, "%s%s", i ? " " : "", targets.at[i]->name);
	buf_str(&f->out);
	buf_str(&f->source.messages);
	vec_free(&targets);
	return ret;
}

/* Text, and the names of what it means; or the error and a part of the message. */
struct match_case {
	const char *text;
	int ret;
	const char *expected;
};

static void check_cases(struct fixture *f, const struct match_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct match_case *c = &cases[i];
		const int ret = match(f, c->text, false);
		const char *said = c->ret ? f->source.messages.data : f->out.data;

		if (ret != c->ret || (ret ? !strstr(said, c->expected) : strcmp(said, c->expected)))
			fail_msg("%s: %d '%s' instead of %d '%s'", c->text, ret, said, c->ret,
				 c->expected);
	}
}

static const struct match_case matches[] = {
	{"BEGIN", 0, "BEGIN"},
	{"begin", 0, "begin"},
	{"END", 0, "END"},
	{"beGiN", 0, "beGiN"},
	{"TRACEPOINT:sched:sched_switch", 0, "tracepoint:sched:sched_switch"},
	{"KProbe:vfs_read", 0, "kprobe:vfs_read"},
	{"KFUNC:vfs_read", 0, "fentry:vmlinux:vfs_read"},
	{"K:vfs_read", -EINVAL, "Invalid probe type: K"},
	{"BEGIN:x", -EINVAL, "begin probe type requires 0 arguments, found 1"},
	{"nonsense:x", -EINVAL, "Invalid probe type: nonsense"},
	{"tracepont:x:y", -EINVAL, "HINT: did you mean 'tracepoint'?"},
	{"me=BEGIN", 0, "me"},

	{"tracepoint:sched:sched_switch", 0, "tracepoint:sched:sched_switch"},
	{"t:sched:sched_switch", 0, "tracepoint:sched:sched_switch"},
	{"n=t:sched:sched_switch", 0, "n"},
	{"t:sched:sched_*", 0, "tracepoint:sched:sched_switch tracepoint:sched:sched_wakeup"},
	{"t:*:sched_switch", 0, "tracepoint:sched:sched_switch"},
	{"t:*_switch", 0, "tracepoint:sched:sched_switch"},
	{"t:net*:thing", 0, "tracepoint:net:thing tracepoint:net9p:thing"},
	{"tr*:sched:*", 0, "tracepoint:sched:sched_switch tracepoint:sched:sched_wakeup"},
	{"t:sched", -EINVAL, "tracepoint probe type requires 2 arguments, found 1"},
	{"t:a:b:c", -EINVAL, "tracepoint probe type requires 2 arguments, found 3"},
	{"t:sched:", -EINVAL, "tracepoint probe must have a target"},
	{"t:sched:sched_swich", -ENOENT, "No matches for tracepoint sched:sched_swich."},
	{"t:sched:sched_swich", -ENOENT, "HINT: did you mean 'tracepoint:sched:sched_switch'?"},
	{"t:shed:sched_switch", -ENOENT, "HINT: did you mean 'tracepoint:sched:sched_switch'?"},
	{"t:shed:sched_s", -ENOENT, "HINT: there is no system 'shed'; did you mean 'sched'?"},
	{"t:sched:none_*", -ENOENT, "No matches for tracepoint sched:none_*."},
	{"t:../../etc:passwd", -ENOENT, "No matches for tracepoint"},

	{"rt:sched_switch", 0, "rawtracepoint:sched_switch"},
	{"rawtracepoint:vmlinux:foo", 0, "rawtracepoint:vmlinux:foo"},
	{"rawtracepoint:vm*x:foo", 0, "rawtracepoint:vmlinux:foo"},
	{"rawtracepoint:nonsense:foo", -ENOENT, "there is no module 'nonsense'"},
	{"rt:sched_*", 0, "rawtracepoint:sched_switch rawtracepoint:sched_wakeup"},
	{"rt:sys_enter*", 0, "rawtracepoint:sys_enter"},

	{"interval:s:1", 0, "interval:s:1"},
	{"i:ms:10", 0, "interval:ms:10"},
	{"i:hz:99", 0, "interval:hz:99"},
	{"i:1s", 0, "interval:us:1000000"},
	{"i:250ms", 0, "interval:us:250000"},
	{"i:2000", 0, "interval:us:2"},
	{"i:10", -EINVAL, "Minimum is 1000 or 1us. Found: 10 nanoseconds"},
	{"i:1y", -EINVAL, "Invalid rate of interval probe"},
	{"i:99999999999d", -EINVAL, "Invalid rate of interval probe"},
	{"i:x:1", -EINVAL, "x is not an accepted unit of time"},
	{"i:s:a", -EINVAL, "Invalid rate of interval probe: 'a' is not a number"},
	{"i:s:0", -EINVAL, "interval frequency should be a positive integer"},
	{"i:s:99999999999999", -EINVAL, "is too large"},
	{"p:hz:0", -EINVAL, "profile frequency should be a positive integer"},
	{"profile:hz:99", 0, "profile:hz:99"},
	{"interval", -EINVAL, "interval probe type requires 1 or 2 arguments, found 0"},

	{"kprobe:vfs_read", 0, "kprobe:vfs_read"},
	{"k:ext4:ext4_read", 0, "kprobe:ext4:ext4_read"},
	{"k:vfs_read+8", 0, "kprobe:vfs_read+8"},
	{"k:vfs_read+0x10", 0, "kprobe:vfs_read+16"},
	{"k:vfs_*", 0, "kprobe:vfs_read kprobe:vfs_write"},
	{"k:ext4:*", 0, "kprobe:ext4:ext4_read"},
	{"k:ext*:*_read", 0, "kprobe:ext4:ext4_read"},
	{"k:*:*_read", 0, "kprobe:vmlinux:vfs_read kprobe:ext4:ext4_read"},
	{"k:vm*:*_read", 0, "kprobe:vmlinux:vfs_read"},
	{"k:[x-z]*:*_read", -ENOENT, "No matches for kprobe [x-z]*:*_read."},
	{"k:e*4:ext4_read", 0, "kprobe:ext4:ext4_read"},
	{"k:0xffffffff81001000", -EINVAL, "a kprobe at an address is unsafe (use --unsafe)"},
	{"k:none_*", -ENOENT, "No matches for kprobe none_*."},
	{"k:vfs_read+x", -EINVAL, "Invalid offset"},
	{"k:vfs_read+1+2", -EINVAL, "Cannot take more than one offset"},
	{"k:vfs_*+1", -EINVAL, "an offset makes sense for one function only"},
	{"kr:vfs_read+8", -EINVAL, "Offset not allowed"},
	{"kr:vfs_read", 0, "kretprobe:vfs_read"},
	{"k:a:b:c", -EINVAL, "kprobe probe type requires 1 or 2 arguments, found 3"},

	{"fentry:vfs_read", 0, "fentry:vmlinux:vfs_read"},
	{"kfunc:vfs_read", 0, "fentry:vmlinux:vfs_read"},
	{"f:vfs_*", 0, "fentry:vmlinux:vfs_read fentry:vmlinux:vfs_write"},
	{"fr:ext4:ext4_read", 0, "fexit:ext4:ext4_read"},
	{"kretfunc:vfs_read", 0, "fexit:vmlinux:vfs_read"},
	{"iter:task", -EINVAL, "iter task not available for your kernel version."},
	{"it:*", -EINVAL, "iter probe type does not support wildcards"},

	{"software:faults:100", 0, "software:faults:100"},
	{"s:cs", 0, "software:cs"},
	{"s:foo:1", -EINVAL, "foo is not a software probe"},
	{"s:page-fault:1", -EINVAL, "HINT: did you mean 'page-faults'?"},
	{"s:faults:x", -EINVAL, "Invalid count for software probe"},
	{"s:*", -EINVAL, "wildcards are not allowed for software probe type"},
	{"h:cycles:1000", 0, "hardware:cycles:1000"},
	{"hardware:cache-misses:1e6", 0, "hardware:cache-misses:1000000"},
	{"software:faults:", 0, "software:faults"},
	{"software:faults:1_000", 0, "software:faults:1000"},

	{"w:0x1000:8:rw", 0, "watchpoint:4096:8:rw"},
	{"w:0x1000:8:wr", 0, "watchpoint:4096:8:rw"},
	{"w:0:8:w", -EINVAL, "watchpoint must be attached to a non-zero address"},
	{"w:x:8:w", -EINVAL, "Invalid function/address argument"},
	{"w:1:3:w", -EINVAL, "watchpoint length must be one of (1,2,4,8)"},
	{"w:1:8:ww", -EINVAL, "watchpoint mode must be combination of (r,w,x)"},
	{"w:1:8:q", -EINVAL, "watchpoint mode must be combination of (r,w,x)"},

	{"self:signal:SIGUSR1", 0, "self:signal:SIGUSR1"},
	{"self:signal:SIGKILL", -EINVAL, "SIGKILL is not a supported signal"},
	{"self:x:y", -EINVAL, "x is not a supported trigger"},
	{"test:one", 0, "test:one"},
	{"bench:", -EINVAL, "bench probes must have a name"},

	{"u:/no/such/file:main", -ENOENT,
	 "uprobe target file '/no/such/file' does not exist or is not executable"},
	{"u:main", -EINVAL, "uprobe probe type requires 2 or 3 arguments, found 1"},
	{"u::main", -EINVAL, "uprobe should have a target"},
	{"u:/no/such/*:main", -ENOENT, "no uprobe target file matches '/no/such/*'"},
	{"usdt:*:no:such", -ENOENT, "No matches for usdt *:no:such."},
	{"ur:/bin/sh:main+4", -EINVAL, "uretprobes can not be attached to a function offset"},
	{"u:/bin/sh:java:main", -EINVAL, "unsupported language type: java"},
	{"u:/bin/*:0x10", -EINVAL, "Cannot use wildcards with absolute address"},
	{"usdt:x", -EINVAL, "usdt probe type requires 2 or 3 arguments, found 1"},
};

static void test_match(void **state)
{
	check_cases(*state, matches, ARRAY_SIZE(matches));
}

static void test_quiet(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(match(f, "t:sched:nothing", true), -ENOENT);
	assert_int_equal(f->source.messages.len, 0);
	/* What is wrong is told all the same. */
	assert_int_equal(match(f, "t:sched:", true), -EINVAL);
	assert_int_not_equal(f->source.messages.len, 0);
}

static void test_limit(void **state)
{
	struct fixture *f = *state;

	f->world.max_probes = 1;
	assert_int_equal(match(f, "t:sched:*", false), -EINVAL);
	assert_non_null(strstr(f->source.messages.data, "exceeds the current limit of 1 probes"));
	assert_string_equal(f->out.data, "");
	assert_int_equal(match(f, "t:sched:sched_s*", false), 0);
	assert_int_equal(match(f, "k:vfs_*", false), -EINVAL);
}

/* What targets carry beside their names. */
static void test_targets(void **state)
{
	struct fixture *f = *state;
	struct probe_targets to = {0};
	static const char *const texts[] = {"i:ms:10",	  "p:hz:100",	"s:faults",
					    "k:ext4:f+8", "w:0x10:4:w", "kfunc:vmlinux:g"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct attach_point p = point_of(f, texts[i]);

		assert_int_equal(probes_match(&f->world, &f->source, &p, false, &to), 0);
	}
	assert_int_equal(to.n, 6);
	assert_int_equal(to.at[0]->period_ns, 10000000);
	assert_int_equal(to.at[1]->freq, 100);
	assert_int_equal(to.at[1]->period_ns, 10000000);
	assert_string_equal(to.at[2]->event, "page-faults");
	assert_int_equal(to.at[2]->count, 100);
	assert_string_equal(to.at[3]->module, "ext4");
	assert_string_equal(to.at[3]->symbol, "f");
	assert_string_equal(to.at[3]->func, "f");
	assert_int_equal(to.at[3]->offset, 8);
	assert_false(to.at[3]->found);
	assert_int_equal(to.at[4]->address, 16);
	assert_int_equal(to.at[4]->length, 4);
	assert_string_equal(to.at[4]->mode, "w");
	assert_null(to.at[5]->module);
	vec_free(&to);
}

static void test_suggest(void **state)
{
	struct fixture *f = *state;
	struct probe_target t = {.type = PT_KPROBE, .symbol = "vfs_red"};
	struct spur_error err = {.text = "no"};

	probes_suggest(&f->world, &t, &err);
	assert_non_null(strstr(err.text, "no (did you mean 'vfs_read'"));
	t = (struct probe_target){.type = PT_RAWTRACEPOINT, .event = "sched_swtch"};
	snprintf(err.text, sizeof(err.text), "no");
	probes_suggest(&f->world, &t, &err);
	assert_non_null(strstr(err.text, "no (did you mean 'sched_switch'"));
	/* Filled to the brim it stays terminated. */
	memset(err.text, 'x', sizeof(err.text) - 1);
	probes_suggest(&f->world, &t, &err);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void test_type_names(void **state)
{
	static const struct {
		const char *name;
		enum probe_type type;
	} names[] = {
		{"t", PT_TRACEPOINT}, {"k", PT_KPROBE},		{"kr", PT_KRETPROBE},
		{"u", PT_UPROBE},     {"ur", PT_URETPROBE},	{"U", PT_USDT},
		{"i", PT_INTERVAL},   {"p", PT_PROFILE},	{"s", PT_SOFTWARE},
		{"h", PT_HARDWARE},   {"rt", PT_RAWTRACEPOINT}, {"f", PT_FENTRY},
		{"fr", PT_FEXIT},     {"it", PT_ITER},		{"w", PT_WATCHPOINT},
		{"kfunc", PT_FENTRY}, {"kretfunc", PT_FEXIT},	{"BEGIN", PT_BEGIN},
		{"end", PT_END},      {"", PT_TYPES},		{"kfunc kretfunc", PT_TYPES},
		{"x", PT_TYPES},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (probe_type_named(names[i].name) != names[i].type)
			fail_msg("%s is %d", names[i].name, probe_type_named(names[i].name));
	for (int t = 0; t < PT_TYPES; t++)
		assert_int_equal(probe_type_named(probe_type_name((enum probe_type)t)), t);
}

/* Addresses that nothing describes, without and with --unsafe. */
static void test_unsafe(void **state)
{
	struct fixture *f = *state;
	char path[500];

	snprintf(path, sizeof(path), "u:%s:0x10", f->kallsyms);
	assert_int_equal(match(f, path, false), -EINVAL);
	assert_non_null(strstr(f->source.messages.data, "a probe in it is unsafe (use --unsafe)"));
	f->world.unsafe = true;
	assert_int_equal(match(f, path, false), 0);
	snprintf(path, sizeof(path), "uprobe:%s:16", f->kallsyms);
	assert_string_equal(buf_str(&f->out), path);
	assert_int_equal(match(f, "k:0xffffffff81001000", false), 0);
	assert_string_equal(buf_str(&f->out), "kprobe:0xffffffff81001000");
}

/* A list of functions in the place of the kernel's, in either way of writing. */
static void test_traceable(void **state)
{
	struct fixture *f = *state;
	char path[400];

	fake_file(&f->fs, "mine", "vfs_secret\next4:ext4_read\n");
	snprintf(path, sizeof(path), "%s/mine", f->fs.path);
	f->world.traceable = path;
	assert_int_equal(match(f, "k:*", false), 0);
	assert_string_equal(buf_str(&f->out), "kprobe:vfs_secret kprobe:ext4_read");
}

/* ---- lists ---- */

static int list_one(void *arg, const struct probe_target *t)
{
	struct fixture *f = arg;

	buf_printf(&f->out, "%s\n", t->name);
	probe_describe(&f->world, t, &f->out);
	return 0;
}

static void test_list(void **state)
{
	static const struct {
		const char *pattern, *expected;
	} cases[] = {
		{"tracepoint:sched:sched_*", "tracepoint:sched:sched_switch\n"
					     "    char prev_comm[16]\n"
					     "    pid_t prev_pid\n"
					     "tracepoint:sched:sched_wakeup\n"},
		/* Sorted as whole names. */
		{"t:*:thing", "tracepoint:net9p:thing\ntracepoint:net:thing\n"},
		{"t:sched:none", ""},
		{"*rq_iss*", "rawtracepoint:block_rq_issue\ntracepoint:block:block_rq_issue\n"},
		{"*vfs_re*", "kprobe:vfs_read\n"},
		{"kprobe:vfs*", "kprobe:vfs_read\nkprobe:vfs_write\n"},
		{"software:cp*", "software:cpu-clock:\nsoftware:cpu-migrations:\nsoftware:cpu:\n"},
		{"h:*refer*", "hardware:cache-references:\n"},
		{"i:*", "interval:hz:\ninterval:ms:\ninterval:s:\ninterval:us:\n"},
		{"iter:*", ""},
	};
	struct fixture *f = *state;
	struct spur_error err = {0};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&f->out);
		assert_int_equal(probes_list(&f->world, cases[i].pattern, list_one, f, &err), 0);
		assert_string_equal(buf_str(&f->out), cases[i].expected);
	}
	assert_int_equal(probes_list(&f->world, "nonsense:*", list_one, f, &err), -EINVAL);
	assert_string_equal(err.text, "Invalid probe type: nonsense");
}

/* Makes up a file of /sys/kernel/btf. */
static void add_btf(struct fixture *f, const char *module, const char *one, const char *two)
{
	char path[400];
	struct buf btf;
	FILE *file;

	buf_init(&btf, 1 << 20);
	if (one)
		make_module_btf(&btf, one, two);
	else
		make_btf(&btf);
	snprintf(path, sizeof(path), "%s/btf/%s", f->fs.path, module);
	fake_file(&f->fs, path + strlen(f->fs.path) + 1, "");
	file = fopen(path, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(btf.data, 1, btf.len, file), btf.len);
	fclose(file);
	buf_free(&btf);
	if (!one)
		f->world.btf = arena_strdup(&f->arena, path);
}

#define PARAMETERS                                                                                 \
	"    struct file * file\n"                                                                 \
	"    const char * buf\n"                                                                   \
	"    size_t count\n"                                                                       \
	"    void * pos\n"

static void test_parameters(void **state)
{
	static const struct {
		const char *pattern, *expected;
	} cases[] = {
		{"fentry:vfs_read", "fentry:vmlinux:vfs_read\n" PARAMETERS},
		{"kprobe:vfs_read", "kprobe:vfs_read\n" PARAMETERS},
		{"kretprobe:vfs_read",
		 "kretprobe:vfs_read\n" PARAMETERS "    unsigned long retval\n"},
		{"kprobe:vfs_write", "kprobe:vfs_write\n"},
	};
	struct fixture *f = *state;
	struct spur_error err = {0};

	add_btf(f, "vmlinux", NULL, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&f->out);
		assert_int_equal(probes_list(&f->world, cases[i].pattern, list_one, f, &err), 0);
		assert_string_equal(buf_str(&f->out), cases[i].expected);
	}
}

/* Tracepoints of modules: those that the types of the module describe. */
static void test_modules(void **state)
{
	static const struct match_case cases[] = {
		{"rt:e*:ext4_sync", 0, "rawtracepoint:ext4:ext4_sync"},
		{"rt:e*:e*", 0,
		 "rawtracepoint:ext2:ext2_read rawtracepoint:ext4:ext4_sync "
		 "rawtracepoint:ext4:ext4_more"},
		{"rt:ext4:*sync", 0, "rawtracepoint:ext4:ext4_sync"},
		{"rt:[ev]*:*e*", 0,
		 "rawtracepoint:ext2:ext2_read rawtracepoint:ext4:ext4_sync "
		 "rawtracepoint:ext4:ext4_more "
		 "rawtracepoint:vmlinux:begin rawtracepoint:vmlinux:named"},
		{"rt:vmlinux:*", 0, "rawtracepoint:vmlinux:begin rawtracepoint:vmlinux:named"},
		{"rt:vm*:named", 0, "rawtracepoint:vmlinux:named"},
		{"rt:ext4:anything", 0, "rawtracepoint:ext4:anything"},
		{"rt:e*:named", -ENOENT, "No matches for rawtracepoint e*:named."},
		{"rt:ext4:none*", -ENOENT, "No matches for rawtracepoint ext4:none*."},
		{"rt:x*:ext4_sync", -ENOENT, "no module with types (BTF) matches 'x*'"},
		{"rt:*:sched_*", 0, "rawtracepoint:sched_switch rawtracepoint:sched_wakeup"},
	};
	struct fixture *f = *state;

	add_btf(f, "vmlinux", NULL, NULL);
	add_btf(f, "ext4", "btf_trace_ext4_sync", "btf_trace_ext4_more");
	add_btf(f, "ext2", "btf_trace_ext2_read", "ext2_trace");
	check_cases(f, cases, ARRAY_SIZE(cases));
}

/* The name of function i, long enough that comparing two of them takes a while. */
static const char *many_name(char *to, size_t cap, size_t i)
{
	snprintf(to, cap, "a_function_with_a_name_of_some_length_%06zu", i);
	return to;
}

static int next_of_many(void *arg, const struct probe_target *t)
{
	size_t *n = arg;
	char name[128];

	assert_string_equal(t->name + strlen("kprobe:"), many_name(name, sizeof(name), (*n)++));
	return 0;
}

/* More than any kernel has, in no order. Pairs of all of them are too many. */
static void test_list_many(void **state)
{
	enum { MANY = 300000, STEP = 7919 };
	struct fixture *f = *state;
	struct spur_error err = {0};
	char path[500], name[128];
	FILE *symbols = fopen(f->kallsyms, "w"), *functions;
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/available_filter_functions", f->fs.path);
	functions = fopen(path, "w");
	assert_true(symbols && functions);
	for (size_t i = 0; i < MANY; i++) {
		many_name(name, sizeof(name), i * STEP % MANY);
		fprintf(symbols, "%016zx t %s\n", 4096 + i, name);
		fprintf(functions, "%s\n", name);
	}
	fclose(symbols);
	fclose(functions);
	arena_free(&f->arena);
	arena_init(&f->arena, 512 << 20);
	assert_int_equal(probes_list(&f->world, "kprobe:*", next_of_many, &n, &err), 0);
	assert_int_equal(n, MANY);
}

/* ---- system calls ---- */

#if defined(__x86_64__)
enum { NR_READ = 0, NR_STAT = 4, NR_OPENAT = 257 };
#elif defined(__aarch64__)
enum { NR_READ = 63, NR_STAT = -1, NR_OPENAT = 56 };
#endif

static void test_syscalls(void **state)
{
#if defined(__x86_64__) || defined(__aarch64__)
	struct fixture *f = *state;
	struct attach_point p = point_of(f, "t:syscalls:sys_enter_*");
	struct probe_targets to = {0};
	struct probe_syscalls calls;

	assert_int_equal(probes_match(&f->world, &f->source, &p, false, &to), 0);
	assert_int_equal(to.n, 3);
	assert_true(probes_syscalls(&f->world, &to, &calls));
	assert_false(calls.is_exit);
	assert_string_equal(calls.at[NR_READ]->event, "sys_enter_read");
	assert_string_equal(calls.at[NR_OPENAT]->event, "sys_enter_openat");
	if (NR_STAT >= 0)
		assert_string_equal(calls.at[NR_STAT]->event, "sys_enter_newstat");
	assert_int_equal(calls.nr_left, NR_STAT >= 0 ? 0 : 1);
	assert_true(calls.n > (size_t)NR_OPENAT);
	assert_null(calls.at[NR_READ + 1]);

	/* Not all of them are entries. */
	p = point_of(f, "t:syscalls:*");
	to.n = 0;
	assert_int_equal(probes_match(&f->world, &f->source, &p, false, &to), 0);
	assert_false(probes_syscalls(&f->world, &to, &calls));
	p = point_of(f, "t:syscalls:sys_exit_*");
	to.n = 0;
	assert_int_equal(probes_match(&f->world, &f->source, &p, false, &to), 0);
	assert_true(probes_syscalls(&f->world, &to, &calls));
	assert_true(calls.is_exit);
	vec_free(&to);
#else
	skip();
#endif
}

/* ---- recordings ---- */

static void test_recorded(void **state)
{
	static const struct match_case cases[] = {
		{"t:sched:sched_switch", 0, "tracepoint:sched:sched_switch"},
		{"t:*:sched_*", 0, "tracepoint:sched:sched_switch"},
		{"t:sched:sched_wakeup", -ENOENT,
		 "No matches for tracepoint sched:sched_wakeup in the recording."},
		{"k:vfs_read", 0, "kprobe:vfs_read"},
		{"k:do_exit", 0, "kprobe:do_exit"},
		{"kr:vfs_read", 0, "kretprobe:vfs_read"},
		{"k:vfs_write", -ENOENT, "a recording cannot give 'k:vfs_write'"},
		{"k:vfs_reed", -ENOENT, "HINT: did you mean 'vfs_read'?"},
		{"u:/bin/sh:main_loop", 0, "uprobe:/bin/sh:main_loop"},
		{"i:s:1", 0, "interval:s:1"},
		{"BEGIN", 0, "BEGIN"},
		{"p:hz:99", -EINVAL, "a recording cannot give 'p:hz:99': it has no profile probes"},
		{"rt:sched_switch", -EINVAL, "it has no rawtracepoint probes"},
		{"f:vfs_read", -EINVAL, "it has no fentry probes"},
		{"s:faults:1", -EINVAL, "it has no software probes"},
		{"usdt:/bin/sh:x", -EINVAL, "it has no usdt probes"},
	};
	struct fixture *f = *state;
	struct events *ev = fixture_events(false, 8);
	struct spur_trace trace = {.events = ev};

	fixture_add(ev, "sched", "sched_switch", 1, "int prev_pid @8:4s", "\"\"");
	fixture_add(ev, "spur", "vfs_read", 2, "unsigned long __probe_ip @8:8", "\"\"");
	fixture_add(ev, "spur", "vfs_read__return", 3,
		    "unsigned long __probe_func @8:8, unsigned long __probe_ret_ip @16:8", "\"\"");
	fixture_add(ev, "kprobes", "p_do_exit_0", 4, "unsigned long __probe_ip @8:8", "\"\"");
	fixture_add(ev, "uprobes", "main_loop", 5, "unsigned long __probe_ip @8:8", "\"\"");
	assert_int_equal(events_seal(ev), 0);
	f->world.trace = &trace;
	check_cases(f, cases, ARRAY_SIZE(cases));
	probe_world_close(&f->world);
	f->world.trace = NULL;
	events_free(ev);
}

/* ---- registers ---- */

static void test_registers(void **state)
{
	const struct regs *x86 = regs_of("x86_64"), *arm = regs_of("aarch64");

	assert_non_null(x86);
	assert_non_null(arm);
	assert_null(regs_of("vax"));
	assert_int_equal(regs_named(x86, "ip"), 128);
	assert_int_equal(regs_named(x86, "di"), x86->args[0]);
	assert_int_equal(regs_named(x86, "r9"), x86->args[5]);
	assert_int_equal(x86->args[6], -1);
	assert_int_equal(regs_named(x86, "ax"), x86->retval);
	assert_int_equal(regs_named(x86, "rip"), -1);
	assert_int_equal(regs_named(arm, "x3"), arm->args[3]);
	assert_int_equal(regs_named(arm, "r30"), 240);
	assert_int_equal(regs_named(arm, "pc"), arm->ip);
}

/* ---- arguments of USDT probes ---- */

static bool find_variable(void *arg, const char *name, size_t len, int64_t *address)
{
	*address = 0x5000;
	return len == 7 && !memcmp(name, "counter", 7);
}

static void show_place(const struct usdt_place *p, struct buf *to)
{
	static const char *const where[] = {
		[USDT_NOWHERE] = "nowhere",   [USDT_CONSTANT] = "constant",
		[USDT_REGISTER] = "register", [USDT_MEMORY] = "memory",
		[USDT_INDEXED] = "indexed",
	};

	buf_printf(to, "%s%u %s", p->is_signed ? "s" : "u", p->size * 8, where[p->where]);
	if (p->where == USDT_REGISTER || p->where == USDT_MEMORY || p->where == USDT_INDEXED)
		buf_printf(to, " %d", p->base);
	if (p->where == USDT_INDEXED)
		buf_printf(to, "+%d*%u", p->index, p->scale);
	if (p->where != USDT_REGISTER && p->where != USDT_NOWHERE)
		buf_printf(to, " %lld", (long long)p->offset);
	buf_puts(to, "; ");
}

static void test_usdt_args(void **state)
{
	static const struct {
		const char *machine, *args, *expected;
	} cases[] = {
		{"x86_64", "", ""},
		{"x86_64", "-4@%edi 8@16(%rbp) -8@$5",
		 "s32 register 112; u64 memory 32 16; s64 constant 5; "},
		{"x86_64", "4@-20(%rsp) 8@(%rax) 1@%r9b",
		 "u32 memory 152 -20; u64 memory 80 0; u8 register 64; "},
		{"x86_64", "-4@counter(%rip) 4@counter+8(%rip)",
		 "s32 memory 128 16384; u32 memory 128 16392; "},
		{"x86_64", "8@-8(%rdx,%rcx,8) 1@(%rax,%rbx)",
		 "u64 indexed 96+88*8 -8; u8 indexed 80+40*1 0; "},
		{"x86_64", "8@16(,%rcx,4)", "u64 indexed -1+88*4 16; "},
		{"x86_64", "8@(%rax,%zz,8) 8@(%rax,%rbx,9) 8@(%zz,%rax,1)",
		 "u64 nowhere; u64 nowhere; u64 nowhere; "},
		{"x86_64", "8f@%xmm0 4@nothing(%rip) 8@(",
		 "u64 nowhere; u32 nowhere; u64 nowhere; "},
		{"aarch64", "-4@w3 8@[sp, 16] 8@[x1] -8@5",
		 "s32 register 24; u64 memory 248 16; u64 memory 8 0; s64 constant 5; "},
		{"aarch64", "8@[x1, x2, lsl #3] 8@[x1, x2] 8@[x1, x2, lsl #7]",
		 "u64 indexed 8+16*8 0; u64 indexed 8+16*1 0; u64 nowhere; "},
	};
	struct fixture *f = *state;
	const struct usdt_symbols symbols = {.find = find_variable};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct usdt_places places;

		buf_reset(&f->out);
		assert_int_equal(usdt_places_of(cases[i].args, abi_of_kernel(cases[i].machine),
						regs_of(cases[i].machine), &symbols, 0x1000,
						&f->arena, &places),
				 0);
		for (size_t j = 0; j < places.n; j++)
			show_place(&places.at[j], &f->out);
		assert_string_equal(buf_str(&f->out), cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_match, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quiet, setup, teardown),
		cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_targets, setup, teardown),
		cmocka_unit_test_setup_teardown(test_traceable, setup, teardown),
		cmocka_unit_test_setup_teardown(test_suggest, setup, teardown),
		cmocka_unit_test(test_type_names),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_parameters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_modules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unsafe, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list_many, setup, teardown),
		cmocka_unit_test_setup_teardown(test_syscalls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_recorded, setup, teardown),
		cmocka_unit_test(test_registers),
		cmocka_unit_test_setup_teardown(test_usdt_args, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
