// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/probe/attach: programs of a few instructions at real probes of this machine and of this
 * very program. A program counts how often it was run by this process. Skipped where BPF is not
 * allowed or the kernel has no such probes.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/bpf.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "probe/attach.h"
#include "probe/usdt.h"
#include "tracefs/tracefs.h"

#define CALLS 10
#define KEEP  __attribute__((noinline, used))

enum { HELPER_PID = 14, HELPER_COOKIE = 174 };

/* What a program leaves in its map. */
struct seen {
	uint64_t count, cookie;
};

struct fixture {
	struct tracefs fs;
	struct arena arena;
	struct source source;
	struct probe_world world;
	struct probe_targets targets;
	struct attached attached;
	int map, prog;
};

/* ---- what is probed ---- */

KEEP int live_target(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

KEEP int live_target_two(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 2;
}

/* The kernel counts it up while somebody is at the probe. */
__attribute__((section(".probes"), used)) volatile unsigned short live_semaphore;

/* As <sys/sdt.h> does it: a nop, and a note about it. */
KEEP void live_usdt(int x)
{
	__asm__ volatile("990: nop\n"
			 ".pushsection .note.stapsdt,\"\",\"note\"\n"
			 ".balign 4\n"
			 ".4byte 992f-991f, 994f-993f, 3\n"
			 "991: .asciz \"stapsdt\"\n"
			 "992: .balign 4\n"
			 "993: .8byte 990b\n"
			 ".8byte 0\n"
			 ".8byte live_semaphore\n"
			 ".asciz \"spur\"\n"
			 ".asciz \"live\"\n"
			 ".asciz \"-4@%0\"\n"
			 "994: .balign 4\n"
			 ".popsection\n"
			 :
			 : "r"(x));
}

/* ---- BPF ---- */

static int sys_bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int new_map(void)
{
	union bpf_attr attr = {0};

	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = sizeof(struct seen);
	attr.max_entries = 1;
	return sys_bpf(BPF_MAP_CREATE, &attr);
}

static struct seen seen(const struct fixture *f)
{
	union bpf_attr attr = {0};
	struct seen v = {0};
	uint32_t key = 0;

	attr.map_fd = (uint32_t)f->map;
	attr.key = (uint64_t)(uintptr_t)&key;
	attr.value = (uint64_t)(uintptr_t)&v;
	assert_int_equal(sys_bpf(BPF_MAP_LOOKUP_ELEM, &attr), 0);
	return v;
}

#define INSN(c, d, s, o, i)                                                                        \
	(struct bpf_insn)                                                                          \
	{                                                                                          \
		.code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)                \
	}

/* if (pid == ours) { seen.count++; seen.cookie = … } */
static int load(const struct fixture *f, const struct probe_target *t, bool multi, bool cookie)
{
	struct bpf_insn code[32];
	struct attach_needs needs;
	union bpf_attr attr = {0};
	size_t n = 0;
	int prog;

	assert_true(attach_needs(t, multi, &needs));
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 6, 1, 0, 0);
	code[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, HELPER_PID);
	code[n++] = INSN(BPF_ALU64 | BPF_RSH | BPF_K, 0, 0, 0, 32);
	code[n++] = INSN(BPF_JMP | BPF_JNE | BPF_K, 0, 0, (short)(cookie ? 7 : 4), getpid());
	code[n++] = INSN(BPF_LD | BPF_IMM | BPF_DW, 7, BPF_PSEUDO_MAP_VALUE, 0, f->map);
	code[n++] = INSN(0, 0, 0, 0, 0);
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 2, 0, 0, 1);
	code[n++] = INSN(BPF_STX | BPF_XADD | BPF_DW, 7, 2, 0, 0);
	if (cookie) {
		code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_X, 1, 6, 0, 0);
		code[n++] = INSN(BPF_JMP | BPF_CALL, 0, 0, 0, HELPER_COOKIE);
		code[n++] = INSN(BPF_STX | BPF_MEM | BPF_DW, 7, 0, 8, 0);
	}
	code[n++] = INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0);
	code[n++] = INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	attr.prog_type = needs.prog_type;
	attr.expected_attach_type = needs.expected_type;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = (uint32_t)n;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	prog = sys_bpf(BPF_PROG_LOAD, &attr);
	if (prog < 0 && errno != EPERM && !multi && !cookie)
		fail_msg("the kernel does not take the program for %s: %s", t->name,
			 strerror(errno));
	return prog;
}

/* ---- fixture ---- */

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct spur_error err = {0};

	assert_non_null(f);
	arena_init(&f->arena, 64 << 20);
	source_init(&f->source, &f->arena);
	f->prog = f->map = -1;
	if (!tracefs_look(&f->fs, &err))
		f->map = new_map();
	f->world = (struct probe_world){.tracefs = f->fs.path, .arena = &f->arena};
	f->attached.tracefs = f->fs.path;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	attach_end(&f->attached);
	if (f->prog >= 0)
		close(f->prog);
	if (f->map >= 0)
		close(f->map);
	vec_free(&f->targets);
	probe_world_close(&f->world);
	source_free(&f->source);
	arena_free(&f->arena);
	free(f);
	return 0;
}

static void find(struct fixture *f, const char *text)
{
	struct attach_point p = {.text = text};
	char *part = arena_strdup(&f->arena, text);

	if (f->map < 0)
		skip();
	while (part) {
		p.parts[p.nr_parts++] = part;
		part = strchr(part, ':');
		if (part)
			*part++ = '\0';
	}
	if (probes_match(&f->world, &f->source, &p, false, &f->targets))
		fail_msg("%s: %s", text, buf_str(&f->source.messages));
}

/* Attaches a program to the first target; skips when the kernel has no such probes. */
static void attach(struct fixture *f, uint64_t cookie)
{
	const struct probe_target *t = f->targets.at[0];
	struct spur_error err = {0};
	int ret;

	f->prog = load(f, t, false, cookie != 0);
	if (f->prog < 0)
		skip();
	ret = attach_probe(t, f->prog, cookie, &f->attached, &err);
	if (ret == -ENODEV || ret == -EPERM || ret == -EACCES || ret == -EOPNOTSUPP)
		skip();
	if (ret)
		fail_msg("%s", err.text);
}

static void path_of_this(char *text, size_t cap, const char *kind, const char *rest)
{
	char path[1024];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(n > 0);
	path[n] = '\0';
	snprintf(text, cap, "%s:%s:%s", kind, path, rest);
}

/* ---- tests ---- */

static void test_tracepoint(void **state)
{
	struct fixture *f = *state;

	find(f, "t:syscalls:sys_enter_getppid");
	attach(f, 0);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	assert_int_equal(seen(f).count, CALLS);
}

static void test_raw_tracepoint(void **state)
{
	struct fixture *f = *state;

	find(f, "rt:sys_enter");
	attach(f, 0);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	assert_true(seen(f).count >= CALLS);
}

static void test_missing(void **state)
{
	struct fixture *f = *state;
	struct spur_error err = {0};
	int ret;

	find(f, "rt:there_is_no_such_tracepoint");
	f->prog = load(f, f->targets.at[0], false, false);
	if (f->prog < 0)
		skip();
	ret = attach_probe(f->targets.at[0], f->prog, 0, &f->attached, &err);
	assert_int_equal(ret, -ENOENT);
	assert_int_equal(f->attached.fds.n, 0);
}

static void test_uprobe(void **state)
{
	struct fixture *f = *state;
	char text[1200];

	path_of_this(text, sizeof(text), "uprobe", "live_target");
	find(f, text);
	assert_int_equal(f->targets.n, 1);
	attach(f, 0);
	for (int i = 0; i < CALLS; i++)
		live_target(i);
	live_target_two(1);
	assert_int_equal(seen(f).count, CALLS);
}

static void test_uretprobe(void **state)
{
	struct fixture *f = *state;
	char text[1200];

	path_of_this(text, sizeof(text), "uretprobe", "live_target");
	find(f, text);
	f->targets.at[0]->pid = getpid();
	attach(f, 0);
	for (int i = 0; i < CALLS; i++)
		live_target(i);
	assert_int_equal(seen(f).count, CALLS);
}

/* Another process' probe is not ours. */
static void test_uprobe_pid(void **state)
{
	struct fixture *f = *state;
	char text[1200];

	path_of_this(text, sizeof(text), "uprobe", "live_target");
	find(f, text);
	f->targets.at[0]->pid = getppid();
	attach(f, 0);
	live_target(1);
	assert_int_equal(seen(f).count, 0);
}

static void test_cookie(void **state)
{
	struct fixture *f = *state;

	find(f, "t:syscalls:sys_enter_getppid");
	attach(f, 1234567);
	syscall(SYS_getppid);
	assert_int_equal(seen(f).count, 1);
	assert_int_equal(seen(f).cookie, 1234567);
}

static void test_multi(void **state)
{
	struct fixture *f = *state;
	struct spur_error err = {0};
	char text[1200];
	int ret;

	path_of_this(text, sizeof(text), "uprobe", "live_target*");
	find(f, text);
	assert_int_equal(f->targets.n, 2);
	f->prog = load(f, f->targets.at[0], true, false);
	if (f->prog < 0)
		skip();
	ret = attach_multi((const struct probe_target *const *)f->targets.at, f->targets.n, NULL,
			   f->prog, &f->attached, &err);
	if (ret == -EOPNOTSUPP)
		skip();
	assert_int_equal(ret, 0);
	live_target(1);
	live_target_two(1);
	assert_int_equal(seen(f).count, 2);
}

static void test_usdt(void **state)
{
	struct fixture *f = *state;
	struct usdt_places places;
	struct spur_error err = {0};
	char text[1200];

	path_of_this(text, sizeof(text), "usdt", "spur:live");
	find(f, text);
	assert_int_equal(f->targets.n, 1);
	assert_int_not_equal(f->targets.at[0]->semaphore, 0);
	assert_int_equal(usdt_places(f->targets.at[0], &f->arena, &places, &err), 0);
	assert_int_equal(places.n, 1);
	assert_int_equal(places.at[0].size, 4);
	assert_true(places.at[0].is_signed);
	assert_int_equal(places.at[0].where, USDT_REGISTER);
	attach(f, 0);
	assert_int_equal(live_semaphore, 1);
	for (int i = 0; i < CALLS; i++)
		live_usdt(i);
	assert_int_equal(seen(f).count, CALLS);
	/* That it is 0 again shows that somebody has closed the probe. */
	attach_end(&f->attached);
	for (int i = 0; i < 1000 && live_semaphore; i++)
		usleep(10000);
	assert_int_equal(live_semaphore, 0);
}

static void test_profile(void **state)
{
	struct fixture *f = *state;
	const clock_t from = clock();

	find(f, "profile:hz:999");
	attach(f, 0);
	while (!seen(f).count && clock() - from < 20 * CLOCKS_PER_SEC)
		;
	assert_true(seen(f).count > 0);
}

static void test_software(void **state)
{
	const size_t size = 64 * 4096;
	struct fixture *f = *state;
	volatile char *pages;

	find(f, "software:page-faults:1");
	attach(f, 0);
	pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(pages, MAP_FAILED);
	madvise((void *)pages, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < size; i += 4096)
		pages[i] = 1;
	munmap((void *)pages, size);
	assert_true(seen(f).count >= 64);
}

static void test_watchpoint(void **state)
{
	static volatile uint64_t watched;
	struct fixture *f = *state;
	struct spur_error err = {0};
	char text[100];
	int ret;

	snprintf(text, sizeof(text), "watchpoint:%#lx:8:w", (unsigned long)&watched);
	find(f, text);
	f->targets.at[0]->pid = getpid();
	f->prog = load(f, f->targets.at[0], false, false);
	if (f->prog < 0)
		skip();
	ret = attach_probe(f->targets.at[0], f->prog, 0, &f->attached, &err);
	/* Virtual machines may have no debug registers to give away. */
	if (ret)
		skip();
	for (int i = 0; i < CALLS; i++)
		watched++;
	assert_int_equal(seen(f).count, CALLS);
}

/* ---- the end ---- */

static size_t open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void test_end(void **state)
{
	struct fixture *f = *state;
	struct spur_error err = {0};
	struct pollfd p = {.events = POLLIN};
	size_t before;
	int ends[2];

	find(f, "t:syscalls:sys_enter_getp*");
	f->prog = load(f, f->targets.at[0], false, false);
	if (f->prog < 0)
		skip();
	assert_int_equal(pipe(ends), 0);
	before = open_files();
	for (size_t i = 0; i < f->targets.n; i++)
		if (attach_probe(f->targets.at[i], f->prog, 0, &f->attached, &err))
			skip();
	assert_int_equal(open_files(), before + f->targets.n);
	attach_end(&f->attached);
	assert_int_equal(f->attached.fds.n, 0);
	assert_int_equal(open_files(), before);
	/* There is no child, and nobody who holds what is not theirs. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	close(ends[1]);
	p.fd = ends[0];
	assert_int_equal(poll(&p, 1, 60000), 1);
	assert_true(p.revents & POLLHUP);
	close(ends[0]);
	/* A second time there is nothing to do. */
	attach_end(&f->attached);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_tracepoint), TEST(test_raw_tracepoint),
		TEST(test_missing),    TEST(test_cookie),
		TEST(test_profile),    TEST(test_software),
		TEST(test_watchpoint), TEST(test_end),
#ifdef HAVE_ELF
		TEST(test_uprobe),     TEST(test_uretprobe),
		TEST(test_uprobe_pid), TEST(test_multi),
		TEST(test_usdt),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
