// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/probe: expressions to lines, with the kernel of probe_kernel.h. Programs are
 * test_probe_user's.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "probe_kernel.h"
#include "symbols/btf.h"
#include "probe/probe.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define MANY	      "0123456789012345678901234567890123456789012345678901234567890123"

struct fixture {
	char dir[64];
	char btf[128], kallsyms[128], tracefs[128];
	struct probe_options opt;
};

/* ---- files ---- */

static void write_file(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, len, f), len);
	fclose(f);
}

static void write_event(const char *tracefs, const char *group, const char *name,
			const char *fields)
{
	char path[300], text[2000];

	snprintf(path, sizeof(path), "mkdir -p %s/events/%s/%s", tracefs, group, name);
	assert_int_equal(system(path), 0);
	snprintf(path, sizeof(path), "%s/events/%s/%s/format", tracefs, group, name);
	snprintf(text, sizeof(text),
		 "name: %s\nID: 7\nformat:\n"
		 "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
		 "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n%s\n"
		 "print fmt: \"none\"\n",
		 name, fields);
	write_file(path, text, strlen(text));
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct buf btf;

	assert_non_null(f);
	snprintf(f->dir, sizeof(f->dir), "/tmp/test_probe.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->btf, sizeof(f->btf), "%s/vmlinux", f->dir);
	snprintf(f->kallsyms, sizeof(f->kallsyms), "%s/kallsyms", f->dir);
	snprintf(f->tracefs, sizeof(f->tracefs), "%s/tracing", f->dir);
	buf_init(&btf, 1 << 20);
	make_btf(&btf);
	write_file(f->btf, btf.data, btf.len);
	buf_free(&btf);
	write_file(f->kallsyms, kernel_symbols, strlen(kernel_symbols));
	write_event(f->tracefs, "sched", "sched_switch",
		    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		    "\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
		    "\tfield:__data_loc char[] name;\toffset:80;\tsize:4;\tsigned:0;\n");
	write_event(f->tracefs, "syscalls", "sys_enter_openat",
		    "\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;\n");
	f->opt = (struct probe_options){.machine = "x86_64",
					.btf = f->btf,
					.kallsyms = f->kallsyms,
					.tracefs = f->tracefs,
					.dynamic_events = true};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", f->dir);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

/* ---- one expression ---- */

/* What becomes of it: its lines, or its error, as one text. */
static int resolve(enum probe_kind kind, const char *expression, const struct probe_options *opt,
		   struct buf *out)
{
	struct probe_lines lines = {0};
	struct spur_error err = {0};
	struct arena arena;
	int ret;

	arena_init(&arena, 16 << 20);
	ret = probe_resolve(kind, expression, opt, &arena, &lines, &err);
	buf_reset(out);
	if (ret) {
		assert_int_equal(ret, err.code);
		assert_int_equal(lines.n, 0);
		buf_puts(out, err.text);
	}
	vec_each (line, &lines) {
		char start[200], back[200];

		/* What the parts of a line say about each other always holds. */
		snprintf(start, sizeof(start), ":%s/%s ", line->group, line->event);
		snprintf(back, sizeof(back), "-:%s/%s", line->group, line->event);
		assert_non_null(strstr(line->text, start));
		assert_string_equal(line->back, back);
		assert_true(strlen(line->event) <= 63);
		buf_printf(out, "%s%s", out->len ? "\n" : "", line->text);
		if (line->note)
			buf_printf(out, "\n# %s", line->note);
	}
	vec_free(&lines);
	arena_free(&arena);
	buf_str(out);
	return ret;
}

struct expected {
	enum probe_kind kind;
	const char *expression, *lines;
};

static void check_lines(const struct expected *cases, size_t n, const struct probe_options *opt)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < n; i++) {
		resolve(cases[i].kind, cases[i].expression, opt, &out);
		assert_string_equal(out.data, cases[i].lines);
	}
	buf_free(&out);
}

/* ---- what becomes of expressions ---- */

static void test_kernel_functions(void **state)
{
	static const struct expected cases[] = {
		{PROBE_KPROBE, "do_open", "p:spur/do_open do_open dfd=%di:s32 name=+0(%si):string"},
		{PROBE_KPROBE, "  do_open\t dfd \n", "p:spur/do_open do_open dfd=%di:s32"},
		{PROBE_KPROBE, "my/open=do_open dfd=%di path=+0(%si):ustring",
		 "p:my/open do_open dfd=%di path=+0(%si):ustring"},
		{PROBE_KPROBE, "my/do_open x=%rdi", "p:my/do_open do_open x=%di"},
		{PROBE_KPROBE, "o=do_open $arg1 $comm $stack2 @jiffies @jiffies+8:u32",
		 "p:spur/o do_open $arg1 $comm $stack2 @jiffies @jiffies+8:u32"},
		{PROBE_KPROBE, "do_open \\5 a=\\\"text\" b=\\-1:s32",
		 "p:spur/do_open do_open \\5 a=\\\"text\" b=\\-1:s32"},
		{PROBE_KPROBE, "do_open+0x10 +u8(+0(%r8d)):x16",
		 "p:spur/do_open_16 do_open+16 +u8(+0(%r8)):x16"},
		{PROBE_KPROBE, "0xffffffff81001000 %ax",
		 "p:spur/p_0xffffffff81001000 0xffffffff81001000 %ax"},
		{PROBE_KRETPROBE, "do_open", "r:spur/do_open__return do_open ret=$retval:s32"},
		{PROBE_KRETPROBE, "vfs_read", "r:spur/vfs_read__return vfs_read ret=$retval:u64"},
		{PROBE_KRETPROBE, "by_value",
		 "r:spur/by_value__return by_value ret=+0($retval):string"},
		{PROBE_KRETPROBE, "nothing", "r:spur/nothing__return nothing"},
		{PROBE_KRETPROBE, "once", "r:spur/once__return once ret=$retval"},
		{PROBE_KRETPROBE, "e=do_open $retval:x32 $arg1",
		 "r:spur/e do_open $retval:x32 $arg1"},
		{PROBE_KPROBE, "do_open $arg*",
		 "p:spur/do_open do_open dfd=%di:s32 name=+0(%si):string"},
		/* Nothing is known about it. */
		{PROBE_KPROBE, "once", "p:spur/once once"},
		/* A module's, and one of a module that is not there. */
		{PROBE_KPROBE, "tun_open", "p:spur/tun_open tun:tun_open"},
		{PROBE_KPROBE, "tun:tun_open %di", "p:spur/tun_open tun:tun_open %di"},
		{PROBE_KPROBE, "later:fn",
		 "p:spur/fn later:fn\n# the module is not loaded yet: the kernel waits for it"},
		/* Two functions of the same name. */
		{PROBE_KPROBE, "twice", "p:spur/twice _stext+0x3000\np:spur/twice_1 _stext+0x4000"},
		{PROBE_KPROBE, "tcp_*", "p:spur/tcp_one tcp_one\np:spur/tcp_two tcp_two"},
		{PROBE_KPROBE, "t=tcp_*", "p:spur/t tcp_one\np:spur/t_1 tcp_two"},
		{PROBE_KPROBE, "copy.isra.0", "p:spur/copy_isra_0 copy.isra.0"},
		/* A group's directory has a file of that name. */
		{PROBE_KPROBE, "enable", "p:spur/enable_ enable"},
	};
	struct fixture *f = *state;

	check_lines(cases, ARRAY_SIZE(cases), &f->opt);
}

static void test_parameters(void **state)
{
	static const struct expected cases[] = {
		{PROBE_KPROBE, "vfs_read *",
		 "p:spur/vfs_read vfs_read file=%di:x64 buf=+0(%si):ustring count=%dx:u64 "
		 "pos=%cx:x64"},
		{PROBE_KPROBE, "vfs_read n=count buf:x64 +16(file):x32 file:u32",
		 "p:spur/vfs_read vfs_read n=%dx:u64 buf=%si:x64 +16(%di):x32 file=%di:u32"},
		{PROBE_KPROBE, "vfs_read file->f_path.dentry->d_name",
		 "p:spur/vfs_read vfs_read d_name=+0(+32(+24(%di))):string"},
		{PROBE_KPROBE,
		 "vfs_read file->f_path.dentry->d_iname file->f_path.dentry->d_parent->d_seen",
		 "p:spur/vfs_read vfs_read d_iname=+56(+24(%di)):string "
		 "d_seen=+96(+24(+24(%di))):s32[3]"},
		{PROBE_KPROBE, "vfs_read file->f_path.dentry->d_seen[2] file->f_count",
		 "p:spur/vfs_read vfs_read d_seen=+104(+24(%di)):s32 f_count=+48(%di):u64"},
		{PROBE_KPROBE, "vfs_read file->f_mode file->f_more x=file->f_path.mnt:string",
		 "p:spur/vfs_read vfs_read f_mode=+40(%di):b3@0/32 f_more=+40(%di):b5@3/32 "
		 "x=+0(+16(%di)):string"},
		{PROBE_KPROBE, "vfs_read file->f_path.dentry file->f_path.dentry buf[4]",
		 "p:spur/vfs_read vfs_read dentry=+24(%di):x64 dentry_1=+24(%di):x64 "
		 "buf=+u4(%si):s8"},
		/* The third is in no integer register, the eighth and later are on the stack. */
		{PROBE_KPROBE, "many",
		 "p:spur/many many a=%di:s32 b=%si:s32 d=%dx:s32 e=%cx:s32 f=%r8:s32 g=%r9:s32 "
		 "h=+8(%sp):s32 i=+16(%sp):s32 j=+24(%sp):s32\n"
		 "# 'c' is a floating point number and cannot be fetched"},
		/* A pair in two registers, a big struct on the stack. */
		{PROBE_KPROBE, "by_value one pair.first pair.second big.all last",
		 "p:spur/by_value by_value one=%di:s32 first=%si:u64 second=%dx:s32 "
		 "all=+8(%sp):s32[3] last=%cx:s32"},
		{PROBE_KPROBE, "by_value",
		 "p:spur/by_value by_value one=%di:s32 last=%cx:s32\n"
		 "# 'pair' is a struct: name a member of it; 'big' is a struct: name a member of "
		 "it"},
		/* Names that the kernel keeps for itself. */
		{PROBE_KPROBE, "call_me",
		 "p:spur/call_me call_me fn=%di:symbol common_pid_1=%si:s32"},
	};
	struct fixture *f = *state;

	check_lines(cases, ARRAY_SIZE(cases), &f->opt);
}

static void test_machines(void **state)
{
	static const struct {
		const char *machine, *expression, *lines;
	} cases[] = {
		{"aarch64", "do_open", "p:spur/do_open do_open dfd=%x0:s32 name=+0(%x1):string"},
		{"aarch64", "do_open %w3 %lr", "p:spur/do_open do_open %x3 %x30"},
		{"aarch64", "by_value pair.second big.all last",
		 "p:spur/by_value by_value second=%x2:s32 all=+0(%x3):s32[3] last=%x4:s32"},
		{"aarch64", "many i j", "p:spur/many many i=%x7:s32 j=+0(%sp):s32"},
		{"armv7l", "do_open", "p:spur/do_open do_open dfd=%r0:s32 name=+0(%r1):string"},
		{"armv7l", "do_open $arg2", "p:spur/do_open do_open arg2=+0(%r1):string"},
		{"armv7l", "once $arg2 $arg6:u8", "p:spur/once once arg2=%r1 arg6=+4(%sp):u8"},
		{"armv7l", "do_open $arg3",
		 "kprobe 'do_open $arg3': there is no $arg3: do_open has 2"},
		{"riscv64", "do_open", "p:spur/do_open do_open dfd=%a0:s32 name=+0(%a1):string"},
		{"riscv64", "by_value big.all last",
		 "p:spur/by_value by_value all=+0(%a3):s32[3] last=%a4:s32"},
		{"i686", "do_open", "p:spur/do_open do_open dfd=%ax:s32 name=+0(%dx):string"},
		{"alpha", "do_open",
		 "p:spur/do_open do_open\n"
		 "# 'dfd' is passed in a way not known for this machine and cannot be fetched; "
		 "'name' is passed in a way not known for this machine and cannot be fetched"},
	};
	struct fixture *f = *state;
	struct buf out;

	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_options opt = f->opt;

		opt.machine = cases[i].machine;
		resolve(PROBE_KPROBE, cases[i].expression, &opt, &out);
		assert_string_equal(out.data, cases[i].lines);
	}
	buf_free(&out);
}

static void test_events(void **state)
{
	static const struct expected cases[] = {
		{PROBE_EPROBE, "sched.sched_switch prev_pid who=prev_comm $name:string",
		 "e:spur/sched_switch sched.sched_switch prev_pid=$prev_pid:s32 "
		 "who=$prev_comm:string $name:string"},
		{PROBE_EPROBE, "g/n=sched:sched_switch",
		 "e:g/n sched.sched_switch prev_comm=$prev_comm:string prev_pid=$prev_pid:s32 "
		 "name=$name:string\n# 'args' is an array and cannot be fetched"},
		{PROBE_EPROBE, "sched.sched_switch prev_pid if prev_pid > 5 && prev_pid < 9",
		 "e:spur/sched_switch sched.sched_switch prev_pid=$prev_pid:s32 "
		 "if prev_pid > 5 && prev_pid < 9"},
		{PROBE_EPROBE, "syscalls.sys_enter_openat",
		 "e:spur/sys_enter_openat syscalls.sys_enter_openat "
		 "filename=+0($filename):ustring"},
	};
	struct fixture *f = *state;

	check_lines(cases, ARRAY_SIZE(cases), &f->opt);
}

static void test_unreadable_kernel(void **state)
{
	struct fixture *f = *state;
	struct probe_options opt = f->opt;
	struct buf out;

	buf_init(&out, 1 << 20);
	opt.btf = "/nowhere/vmlinux";
	resolve(PROBE_KPROBE, "do_open %di", &opt, &out);
	assert_string_equal(out.data, "p:spur/do_open do_open %di");
	resolve(PROBE_KPROBE, "do_open dfd", &opt, &out);
	assert_non_null(
		strstr(out.data, "nothing tells what 'dfd' is: the kernel does not describe"));
	opt.tracefs = "/nowhere";
	resolve(PROBE_EPROBE, "sched.sched_switch prev_pid", &opt, &out);
	assert_string_equal(out.data, "e:spur/sched_switch sched.sched_switch prev_pid=$prev_pid");
	opt.kallsyms = "/nowhere/kallsyms";
	assert_int_equal(resolve(PROBE_KPROBE, "do_open", &opt, &out), -ENOENT);
	opt.group = "their";
	opt.kallsyms = f->kallsyms;
	resolve(PROBE_KPROBE, "do_open", &opt, &out);
	assert_string_equal(out.data, "p:their/do_open do_open");
	buf_free(&out);
}

/* Functions that the tracer does not list are not what a pattern means. */
static void test_patterns_mean_what_can_be_probed(void **state)
{
	struct fixture *f = *state;
	char path[200];
	struct buf out;

	buf_init(&out, 1 << 20);
	snprintf(path, sizeof(path), "%s/available_filter_functions", f->tracefs);
	write_file(path, "tcp_two\nother [tun]\n", 20);
	resolve(PROBE_KPROBE, "tcp_*", &f->opt, &out);
	assert_string_equal(out.data, "p:spur/tcp_two tcp_two");
	resolve(PROBE_KPROBE, "tcp_one", &f->opt, &out);
	assert_string_equal(out.data, "p:spur/tcp_one tcp_one");
	assert_int_equal(unlink(path), 0);
	buf_free(&out);
}

/* ---- mistakes ---- */

static const struct {
	enum probe_kind kind;
	const char *expression;
	int ret;
	const char *says;
} mistakes[] = {
	{PROBE_KPROBE, "", -EINVAL, "it is empty"},
	{PROBE_KPROBE, " \t", -EINVAL, "it is empty"},
	{PROBE_KPROBE, "do_opne", -ENOENT, "no function 'do_opne' (did you mean 'do_open'?)"},
	{PROBE_KPROBE, "copy", -ENOENT, "did you mean 'copy.isra.0'"},
	{PROBE_KPROBE, "jiffies", -ENOENT, "no function 'jiffies'"},
	{PROBE_KPROBE, "bpf_prog_x", -ENOENT, "no function"},
	{PROBE_KPROBE, "tun:tun_opn", -ENOENT, "did you mean 'tun_open'"},
	{PROBE_KPROBE, "none:tun_*", -ENOENT, "there is no module 'none'"},
	{PROBE_KPROBE, "nomatch*", -ENOENT, "no function 'nomatch*'"},
	{PROBE_KPROBE, "do_open+x", -EINVAL, "'x' is no offset"},
	{PROBE_KPROBE, "do_open+-4", -EINVAL, "is no offset"},
	{PROBE_KPROBE, "tcp_*+4", -EINVAL, "one function only"},
	{PROBE_KPROBE, "+4", -EINVAL, "a symbol is missing"},
	{PROBE_KPROBE, ":do_open", -EINVAL, "a function is missing"},
	{PROBE_KPROBE, "a-b=do_open", -EINVAL, "'a-b' is no name"},
	{PROBE_KPROBE, "g/=do_open x", -EINVAL, "no parameter 'x' (it has dfd, name)"},
	{PROBE_KPROBE, "a.b/do_open", -EINVAL, "the group 'a.b' must consist of"},
	{PROBE_KPROBE, "filter=do_open", -EINVAL, "no event can be called 'filter'"},
	{PROBE_KPROBE, "a" MANY "=do_open", -EINVAL, "longer than 63 letters"},
	{PROBE_KPROBE, "name=", -EINVAL, "what to probe is missing"},
	{PROBE_KPROBE, "do_open # comment", -EINVAL, "comment"},
	{PROBE_KPROBE, "0x81zz", -EINVAL, "is no address"},
	{PROBE_KPROBE, "0x8100 dfd", -EINVAL, "parameters are known by the function's name"},
	{PROBE_KPROBE, "do_open+4 dfd", -EINVAL, "at the start of the function only"},
	{PROBE_KPROBE, "once x", -EINVAL, "does not describe the function"},
	{PROBE_KPROBE, "nothing x", -EINVAL, "nothing has no parameters"},
	{PROBE_KPROBE, "many c", -EINVAL, "'c' is a floating point number and cannot be"},
	{PROBE_KPROBE, "by_value big", -EINVAL, "'big' is a struct: name a member"},
	{PROBE_KPROBE, "by_value pair", -EINVAL, "'pair' is a struct: name a member"},
	{PROBE_KPROBE, "vfs_read file->x", -EINVAL, "has no member 'x' (it has f_path, f_mode"},
	{PROBE_KPROBE, "vfs_read count->x", -EINVAL, "'count' is no pointer"},
	{PROBE_KPROBE, "vfs_read file.f_path", -EINVAL, "'file' is no struct"},
	{PROBE_KPROBE, "vfs_read pos->x", -EINVAL, "is no struct, it has no 'x'"},
	{PROBE_KPROBE, "vfs_read file->", -EINVAL, "the name of a member is missing"},
	{PROBE_KPROBE, "vfs_read count[1]", -EINVAL, "'count' is no array"},
	{PROBE_KPROBE, "vfs_read buf[x]", -EINVAL, "no number in brackets"},
	{PROBE_KPROBE, "vfs_read file->f_path.dentry->d_seen[99999999999]", -EINVAL, "far away"},
	{PROBE_KPROBE, "do_open x=%di x=%si", -EINVAL, "the name 'x' is used twice"},
	{PROBE_KPROBE, "do_open common_pid=%di", -EINVAL, "used twice"},
	{PROBE_KPROBE, "do_open 1x=%di", -EINVAL, "'1x' is no name for an argument"},
	{PROBE_KPROBE, "do_open =%di", -EINVAL, "'' is no name for an argument"},
	{PROBE_KPROBE, "do_open %", -EINVAL, "the name of a register is missing"},
	{PROBE_KPROBE, "do_open $", -EINVAL, "the name of a variable is missing"},
	{PROBE_KPROBE, "do_open @", -EINVAL, "an address or symbol is missing"},
	{PROBE_KPROBE, "do_open \\", -EINVAL, "is no number and no text in quotes"},
	{PROBE_KPROBE, "do_open \\\"open", -EINVAL, "is no number and no text in quotes"},
	{PROBE_KPROBE, "do_open +8", -EINVAL, "should be +OFFSET(…)"},
	{PROBE_KPROBE, "do_open +(%di)", -EINVAL, "should be +OFFSET(…)"},
	{PROBE_KPROBE, "do_open +8(%di", -EINVAL, "a ')' is missing"},
	{PROBE_KPROBE, "do_open %di:", -EINVAL, "makes no sense"},
	{PROBE_KPROBE, "do_open %di)x", -EINVAL, "makes no sense: ')x'"},
	{PROBE_KPROBE, "do_open 5", -EINVAL, "'5' is no argument"},
	{PROBE_KPROBE, "do_open +0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(+0(%di)))))))))))))", -EINVAL,
	 "goes too deep"},
	{PROBE_KPROBE,
	 "do_open +1000000000(+1000000000(+1000000000(+1000000000(+1000000000(%di)))))", -EINVAL,
	 "longer than the 63 letters"},
	{PROBE_KRETPROBE, "do_open+4", -EINVAL, "a function returns as a whole"},
	{PROBE_KRETPROBE, "do_open dfd", -EINVAL, "only $retval is known"},
	{PROBE_EPROBE, "sched", -EINVAL, "it should be SYSTEM.EVENT"},
	{PROBE_EPROBE, "sched.", -EINVAL, "it should be SYSTEM.EVENT"},
	{PROBE_EPROBE, "sched.sched_swich", -ENOENT, "did you mean 'sched_switch'"},
	{PROBE_EPROBE, "shed.x", -ENOENT, "no system of events 'shed' (did you mean 'sched'?)"},
	{PROBE_EPROBE, "sched.sched_switch prevpid", -EINVAL, "did you mean 'prev_pid'"},
	{PROBE_EPROBE, "sched.sched_switch args", -EINVAL, "is an array and cannot be fetched"},
	{PROBE_EPROBE, "sched.sched_switch prev_pid if", -EINVAL, "the condition behind 'if'"},
	{PROBE_UPROBE, "main", -EINVAL, "say which program"},
	{PROBE_UPROBE, "/nowhere:main", -ENOENT, "/nowhere: No such file"},
	{PROBE_UPROBE, "/tmp:main", -ENOENT, "is no file"},
	{PROBE_UPROBE, "/tmp", -EINVAL, "PROGRAM:FUNCTION"},
	{PROBE_UPROBE, "nosuchprogram:main", -ENOENT, "no program or library 'nosuchprogram'"},
	{PROBE_USDT, "probe", -EINVAL, "PROVIDER:PROBE"},
	{PROBE_USDT, "a:b", -EINVAL, "say which program"},
	{PROBE_USDT, ":b", -EINVAL, "PROVIDER:PROBE"},
};

static void test_mistakes(void **state)
{
	struct fixture *f = *state;
	struct buf out;

	buf_init(&out, 1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		int ret = resolve(mistakes[i].kind, mistakes[i].expression, &f->opt, &out);

		if (ret != mistakes[i].ret || !strstr(out.data, mistakes[i].says))
			fail_msg("'%s': %d %s", mistakes[i].expression, ret, out.data);
	}
	f->opt.dynamic_events = false;
	assert_int_equal(resolve(PROBE_EPROBE, "sched.sched_switch", &f->opt, &out), -EOPNOTSUPP);
	f->opt.dynamic_events = true;
	buf_free(&out);
}

/* Lines of several expressions in one list. */
static void test_names_are_numbered(void **state)
{
	static const char *const events[] = {"do_open", "do_open_1", "do_open__return",
					     "do_open_2"};
	struct fixture *f = *state;
	struct probe_lines lines = {0};
	struct spur_error err = {0};
	struct arena arena;

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(probe_resolve(i == 2 ? PROBE_KRETPROBE : PROBE_KPROBE, "do_open",
					       &f->opt, &arena, &lines, &err),
				 0);
	/* A mistake leaves the list as it is. */
	assert_int_not_equal(
		probe_resolve(PROBE_KPROBE, "do_open %", &f->opt, &arena, &lines, &err), 0);
	assert_int_equal(lines.n, ARRAY_SIZE(events));
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		assert_string_equal(lines.at[i].event, events[i]);
		assert_string_equal(lines.at[i].file, "kprobe_events");
	}
	vec_free(&lines);
	arena_free(&arena);
}

/* ---- damaged BTF ---- */

/* Every byte of it changed, and every length cut off: nothing may come of it but an answer. */
static void test_damaged_btf(void **state)
{
	static const uint8_t values[] = {0, 1, 0x7f, 0xff};
	struct buf good;
	uint8_t *bytes;

	buf_init(&good, 1 << 20);
	make_btf(&good);
	bytes = malloc(good.len);
	assert_non_null(bytes);
	for (size_t i = 0; i < 2 * good.len; i++) {
		size_t size = i < good.len ? i : good.len, at = i % good.len;

		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			struct btf *b;
			struct proto p;
			struct arena arena;

			memcpy(bytes, good.data, good.len);
			if (size == good.len)
				bytes[at] = values[v];
			if (btf_parse(bytes, size, NULL, &b, NULL))
				continue;
			arena_init(&arena, 1 << 20);
			if (btf_function(b, "vfs_read", &arena, &p) && p.n) {
				struct member m;
				struct type t;

				if (type_target(&p.at[0].type, &t))
					type_member(&t, "f_count", 7, &m);
			}
			arena_free(&arena);
			btf_free(b);
		}
	}
	free(bytes);
	buf_free(&good);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_functions),
		cmocka_unit_test(test_parameters),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_unreadable_kernel),
		cmocka_unit_test(test_patterns_mean_what_can_be_probed),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_names_are_numbered),
		cmocka_unit_test(test_damaged_btf),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
