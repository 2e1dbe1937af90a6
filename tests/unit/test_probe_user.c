// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/probe: probes in programs. The programs are compiled here, in several ways; where a function
 * is in the file they tell themselves, by showing its first bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/vec.h"
#include "symbols/dwarf.h"
#include "symbols/elf.h"
#include "probe/probe.h"
#include "probe/usdt.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
	char dir[64];
	char was[4096]; /* the directory the test was started in */
	struct buf out;
};

static const char program[] =
	"#include <stdio.h>\n"
	"#include <string.h>\n"
	"#define KEEP __attribute__((noinline, noclone, used))\n"
	"struct point { int x, y; };\n"
	"struct node { struct node *next; const char *name; struct point at; unsigned a : 3, b : "
	"5; };\n"
	"int counter_of_us = 7; static volatile short hidden_of_us = 9;\n"
	"KEEP int add(int a, long b, const char *s, unsigned char c, short d, void *p, int g, char "
	"h)\n"
	"{ __asm__ volatile(\"\"); return a + (int)b + c + d + g + h + hidden_of_us; }\n"
	"KEEP double half(double d, int i) { __asm__ volatile(\"\"); return d / 2 + i; }\n"
	"KEEP const char *name_of(struct node *n) { __asm__ volatile(\"\"); return n->name; }\n"
	"KEEP int sum(struct point a, struct point b) { __asm__ volatile(\"\"); return a.x + b.y; "
	"}\n"
	"KEEP void step_one(void) { __asm__ volatile(\"\"); }\n"
	"KEEP void step_two(void) { __asm__ volatile(\"\"); }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	struct node n = {0, \"node\", {1, 2}, 3, 4};\n"
	"	const unsigned char *code = (const unsigned char *)add;\n"
	"	for (int i = 0; i < 16; i++) printf(\"%02x\", code[i]);\n"
	"	step_one(), step_two();\n"
	"	return add(1, 2, \"\", 3, 4, &n, 5, 6) + (int)half(1, 2) + !name_of(&n) + "
	"sum(n.at, n.at) < 0;\n"
	"}\n";

/* ---- helpers ---- */

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* False when it fails: a compiler or what it needs is not there. */
__attribute__((format(printf, 1, 2))) static bool shell(const char *format, ...)
{
	char command[2000];
	va_list ap;

	va_start(ap, format);
	vsnprintf(command, sizeof(command), format, ap);
	va_end(ap);
	return !system(command);
}

#ifdef HAVE_ELF
static const bool have_elf = true;
#else
static const bool have_elf = false;
#endif

static void needs(bool there)
{
	if (!there || !have_elf)
		skip();
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_non_null(getcwd(f->was, sizeof(f->was)));
	snprintf(f->dir, sizeof(f->dir), "/tmp/test_probe_user.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	assert_int_equal(chdir(f->dir), 0);
	write_text("program.c", program);
	buf_init(&f->out, 1 << 20);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(chdir(f->was), 0);
	assert_true(shell("rm -rf %s", f->dir));
	buf_free(&f->out);
	free(f);
	return 0;
}

/* The lines with "FILE:@" for the place, where FILE is the name without its directory. */
static int resolve_with(struct fixture *f, enum probe_kind kind, const char *expression,
			const struct probe_options *opt, uint64_t *offset)
{
	struct probe_lines lines = {0};
	struct spur_error err = {0};
	struct arena arena;
	int ret;

	arena_init(&arena, 64 << 20);
	ret = probe_resolve(kind, expression, opt, &arena, &lines, &err);
	buf_reset(&f->out);
	if (ret)
		buf_puts(&f->out, err.text);
	vec_each (line, &lines) {
		const char *path = strchr(line->text, ' ') + 1, *colon = strstr(path, ":0x"),
			   *slash;
		char *end;

		assert_string_equal(line->file, "uprobe_events");
		assert_non_null(colon);
		for (slash = colon; *slash != '/'; slash--)
			;
		assert_int_equal(*path, '/');
		buf_printf(&f->out, "%s%.*s%.*s:@", f->out.len ? "\n" : "",
			   (int)(path - line->text), line->text, (int)(colon - slash - 1),
			   slash + 1);
		*offset = strtoull(colon + 1, &end, 16);
		buf_puts(&f->out, end);
		if (line->note)
			buf_printf(&f->out, "\n# %s", line->note);
	}
	buf_str(&f->out);
	vec_free(&lines);
	arena_free(&arena);
	return ret;
}

static int resolve(struct fixture *f, enum probe_kind kind, const char *expression)
{
	static const struct probe_options opt = {0};
	uint64_t ignored;

	return resolve_with(f, kind, expression, &opt, &ignored);
}

static void expect(struct fixture *f, enum probe_kind kind, const char *expression,
		   const char *lines)
{
	resolve(f, kind, expression);
	assert_string_equal(f->out.data, lines);
}

static void expect_error(struct fixture *f, enum probe_kind kind, const char *expression, int ret,
			 const char *says)
{
	assert_int_equal(resolve(f, kind, expression), ret);
	if (!strstr(f->out.data, says))
		fail_msg("'%s': %s", expression, f->out.data);
}

/* ---- functions ---- */

/* What the program says is at the start of add(), and what the file has at the offset. */
static void check_offset(const char *file, uint64_t offset)
{
	char shown[64] = "", there[64];
	uint8_t bytes[16];
	FILE *f;
	int fd;

	snprintf(there, sizeof(there), "./%s", file);
	f = popen(there, "re");
	assert_non_null(f);
	assert_int_equal(fread(shown, 1, 32, f), 32);
	pclose(f);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	assert_int_equal(pread(fd, bytes, sizeof(bytes), (off_t)offset), sizeof(bytes));
	close(fd);
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(there + 2 * i, 3, "%02x", bytes[i]);
	assert_string_equal(shown, there);
}

static void test_programs_of_all_kinds(void **state)
{
	static const char *const flags[] = {
		"-g -O0",
		"-g -O2",
		"-g -O2 -no-pie",
		"-g -O1 -static",
		"-g -O2 -gdwarf-4",
		"-g -O2 -Wl,-z,separate-code",
		"-g -O2 -Wl,-z,noseparate-code -no-pie",
	};
	static const struct probe_options opt = {0};
	struct fixture *f = *state;
	size_t built = 0;

	needs(have_elf);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		uint64_t offset = 0;

		if (!shell("${CC:-cc} %s -o prog program.c 2>/dev/null", flags[i]))
			continue;
		built++;
#if defined(__x86_64__) && defined(HAVE_DW)
		expect(f, PROBE_UPROBE, "./prog:add",
		       "p:spur/add prog:@ a=%di:s32 b=%si:s64 s=+0(%dx):string c=%cx:u8 d=%r8:s16 "
		       "p=%r9:x64 g=+8(%sp):s32 h=+16(%sp):s8");
		expect(f, PROBE_URETPROBE, "./prog:add",
		       "r:spur/add__return prog:@ ret=$retval:s32");
		expect(f, PROBE_UPROBE, "./prog:name_of n->name n->at.y n->b",
		       "p:spur/name_of prog:@ name=+0(+8(%di)):string y=+20(%di):s32 "
		       "b=+24(%di):b5@3/32");
		expect(f, PROBE_URETPROBE, "./prog:name_of",
		       "r:spur/name_of__return prog:@ ret=+0($retval):string");
		expect(f, PROBE_UPROBE, "./prog:sum a.x b.y",
		       "p:spur/sum prog:@ x=%di:s32 y=%si:b32@32/64");
		resolve(f, PROBE_UPROBE, "./prog:half");
		assert_non_null(strstr(f->out.data, "p:spur/half prog:@ i=%di:s32\n# 'd' is "));
		resolve(f, PROBE_UPROBE, "./prog:add @counter_of_us @hidden_of_us");
		assert_non_null(strstr(f->out.data, "prog:@ counter_of_us=@+0x"));
		assert_non_null(strstr(f->out.data, ":x32 hidden_of_us=@+0x"));
		assert_non_null(strstr(f->out.data, ":x16"));
#endif
		assert_int_equal(resolve_with(f, PROBE_UPROBE, "./prog:add", &opt, &offset), 0);
		check_offset("prog", offset);
		expect(f, PROBE_UPROBE, "g/=./prog:step_* $comm",
		       "p:g/step_one prog:@ $comm\np:g/step_two prog:@ $comm");
		expect_error(f, PROBE_UPROBE, "./prog:ad", -ENOENT, "did you mean 'add'");
	}
	needs(built);
}

static void test_without_debug_information(void **state)
{
	struct fixture *f = *state;

	needs(shell("${CC:-cc} -O2 -o prog program.c 2>/dev/null"));
#ifdef __x86_64__
	expect(f, PROBE_UPROBE, "./prog:add", "p:spur/add prog:@");
	expect(f, PROBE_UPROBE, "./prog:add s=$arg3:string $arg7:s32 %esi",
	       "p:spur/add prog:@ s=+0(%dx):string arg7=+8(%sp):s32 %si");
	expect(f, PROBE_UPROBE, "p=prog:0x1000 %rdi", "p:spur/p prog:@ %di");
	expect(f, PROBE_URETPROBE, "./prog:add", "r:spur/add__return prog:@ ret=$retval");
#endif
	expect(f, PROBE_UPROBE, "./prog:add+4 $comm", "p:spur/add_4 prog:@ $comm");
	expect_error(f, PROBE_UPROBE, "./prog:add a", -EINVAL, "nothing tells what 'a' is");
	expect_error(f, PROBE_UPROBE, "./prog:0x1000 $arg1", -EINVAL, "name a register");
	expect_error(f, PROBE_UPROBE, "./prog:0x99999999", -EINVAL, "ends before offset");
	expect_error(f, PROBE_UPROBE, "./prog:add @none", -ENOENT, "has no variable 'none'");
	needs(shell("strip prog"));
	expect_error(f, PROBE_UPROBE, "./prog:add", -ENOENT, "it is stripped");
}

static void test_separate_debug_information(void **state)
{
	struct fixture *f = *state;

	needs(shell("${CC:-cc} -g -O2 -Wl,--build-id=none -o prog program.c 2>/dev/null && "
		    "objcopy --only-keep-debug prog prog.debug && strip prog && "
		    "objcopy --add-gnu-debuglink=prog.debug prog"));
	expect(f, PROBE_UPROBE, "./prog:step_one", "p:spur/step_one prog:@");
	resolve(f, PROBE_UPROBE, "./prog:add");
#ifdef HAVE_DW
	assert_non_null(strstr(f->out.data, "a="));
#endif
	assert_true(shell("mkdir .debug && mv prog.debug .debug"));
	expect(f, PROBE_UPROBE, "./prog:step_one", "p:spur/step_one prog:@");
	/* One that does not belong to it. */
	assert_true(shell("echo >> .debug/prog.debug"));
	expect_error(f, PROBE_UPROBE, "./prog:step_one", -ENOENT, "it is stripped");
	assert_true(shell("rm -r .debug"));
}

static int count_step(void *count, const struct binary_symbol *s)
{
	*(int *)count += s->name_len == 8 && !strncmp(s->name, "step_one", 8);
	return 0;
}

/* Whether a symbol that only the debug file has is found when it is looked for there. */
static bool found_in(const char *places)
{
	const char *const list[] = {"/nonexistent", places, NULL};
	struct binary *b = NULL;
	int count = 0;

	assert_int_equal(binary_open_debug("./prog", list, &b, NULL), 0);
	binary_each_symbol(b, count_step, &count);
	binary_close(b);
	return count > 0;
}

static void test_places_of_debug_information(void **state)
{
	static const char *const here[] = {"dbg", "none:dbg", "+dbg:dbg", "dbg/prog.debug",
					   "./dbg/"};
	char path[200];

	needs(shell("${CC:-cc} -g -O2 -Wl,--build-id -o prog program.c 2>/dev/null && mkdir dbg && "
		    "objcopy --only-keep-debug prog dbg/prog.debug && strip prog"));
	assert_false(found_in(""));
	for (size_t i = 0; i < ARRAY_SIZE(here); i++)
		assert_true(found_in(here[i]));
	snprintf(path, sizeof(path), "%s/dbg", ((struct fixture *)*state)->dir);
	assert_true(found_in(path));
	/* Without a link there is no checksum that could be right; the program itself is none. */
	assert_false(found_in("+dbg"));
	assert_false(found_in("."));
	assert_false(found_in("prog"));
	/* By the name in the program, with and without its folder; by its build id. */
	assert_true(shell("mv dbg/prog.debug dbg/else && (cd dbg && objcopy "
			  "--add-gnu-debuglink=else ../prog)"));
	assert_true(found_in("dbg") && found_in("+dbg"));
	assert_true(shell("mkdir -p tree$PWD && mv dbg/else tree$PWD"));
	assert_false(found_in("dbg"));
	assert_true(found_in("tree"));
	assert_true(shell("id=$(readelf -n prog | sed -n 's/.*Build ID: //p'); mkdir -p "
			  "ids/.build-id/${id%%${id#??}} && mv tree$PWD/else "
			  "ids/.build-id/${id%%${id#??}}/${id#??}.debug"));
	assert_true(found_in("ids"));
	/* One that was changed has the id, but not the checksum. */
	assert_true(shell("for f in ids/.build-id/*/*.debug; do echo >> $f; done"));
	assert_true(found_in("ids"));
	assert_false(found_in("+ids"));
	assert_true(shell("rm -r dbg tree ids"));
}

static void test_cxx(void **state)
{
	struct fixture *f = *state;

	write_text(
		"class.cc",
		"namespace app {\n"
		"struct Big { Big(int i) : v(i) {} Big(const Big &o) : v(o.v) {} ~Big() {} int v; "
		"};\n"
		"struct User { int id; int size(int a); int size(long b); Big grow(Big g, int k); "
		"};\n"
		"int User::size(int a) { return id + a; }\n"
		"int User::size(long b) { return id - (int)b; }\n"
		"Big User::grow(Big g, int k) { return Big(g.v + k); }\n"
		"}\n"
		"int main() { app::User u{1}; return u.size(1) + u.size(2l) + u.grow(1, 2).v; }\n");
	needs(shell("${CXX:-c++} -g -O0 -fno-inline -o prog class.cc 2>/dev/null"));
#if defined(__x86_64__) && defined(HAVE_DW)
	expect(f, PROBE_UPROBE, "./prog:app::User::size",
	       "p:spur/app__User__size prog:@ this=%di:x64 a=%si:s32\n"
	       "p:spur/app__User__size_1 prog:@ this=%di:x64 b=%si:s64");
	/* Where the result goes, the object, a pointer to a copy. */
	expect(f, PROBE_UPROBE, "./prog:app::User::grow this->id g.v k",
	       "p:spur/app__User__grow prog:@ id=+0(%si):s32 v=+0(%dx):s32 k=%cx:s32");
#endif
	expect(f, PROBE_UPROBE, "./prog:_ZN3app4User4sizeEl $comm",
	       "p:spur/app__User__size prog:@ $comm");
	expect(f, PROBE_UPROBE, "./prog:*4User4gr* $comm", "p:spur/app__User__grow prog:@ $comm");
	expect_error(f, PROBE_UPROBE, "./prog:app::User::none", -ENOENT, "has no function");
}

static void test_versions(void **state)
{
	struct fixture *f = *state;
	uint64_t old = 0, new = 0, plain = 0;
	static const struct probe_options opt = {0};

	write_text("lib.c", "__asm__(\".symver fn_old, fn@V1\");\n"
			    "__asm__(\".symver fn_new, fn@@V2\");\n"
			    "int fn_old(void) { return 1; }\n"
			    "int fn_new(void) { return 2; }\n"
			    "static int chosen(void) { return 3; }\n"
			    "static void *choose(void) { return chosen; }\n"
			    "int indirect(void) __attribute__((ifunc(\"choose\")));\n");
	write_text("lib.map", "V1 { global: *; }; V2 { } V1;\n");
	needs(shell("${CC:-cc} -O1 -shared -fPIC -Wl,--version-script=lib.map -o libfix.so.1 lib.c "
		    "2>/dev/null && strip libfix.so.1"));
	assert_int_equal(resolve_with(f, PROBE_UPROBE, "./libfix.so.1:fn@V1", &opt, &old), 0);
	assert_int_equal(resolve_with(f, PROBE_UPROBE, "./libfix.so.1:fn@@V2", &opt, &new), 0);
	assert_int_equal(resolve_with(f, PROBE_UPROBE, "./libfix.so.1:fn", &opt, &plain), 0);
	assert_int_not_equal(old, new);
	assert_int_equal(plain, new);
	expect_error(f, PROBE_UPROBE, "./libfix.so.1:fn@V3", -ENOENT, "of version 'V3'");
	resolve(f, PROBE_UPROBE, "./libfix.so.1:indirect");
	assert_non_null(strstr(f->out.data, "# 'indirect' only chooses"));
}

/* ---- which file ---- */

static void test_files_by_name(void **state)
{
	static const char *const libc[] = {"c:malloc", "libc:malloc", "libc.so.6:malloc"};
	struct fixture *f = *state;
	struct probe_options opt = {.command = "./prog"};
	uint64_t offset;

	write_text("lib.c", "int in_library(void) { return 1; }\n");
	write_text("main.c", "int in_library(void); int main(void) { return in_library(); }\n");
	needs(shell("mkdir -p sub && ${CC:-cc} -shared -fPIC -o sub/libsub.so lib.c 2>/dev/null && "
		    "${CC:-cc} -o prog main.c sub/libsub.so -Wl,-rpath,'$ORIGIN/sub' 2>/dev/null"));
	/* A library of the command, which nobody else would find. */
	resolve_with(f, PROBE_UPROBE, "sub:in_library $comm", &opt, &offset);
	assert_string_equal(f->out.data, "p:spur/in_library libsub.so:@ $comm");
	resolve_with(f, PROBE_UPROBE, "main $comm", &opt, &offset);
	assert_string_equal(f->out.data, "p:spur/main prog:@ $comm");
	resolve_with(f, PROBE_UPROBE, ":main $comm", &opt, &offset);
	assert_string_equal(f->out.data, "p:spur/main prog:@ $comm");
	for (size_t i = 0; i < ARRAY_SIZE(libc); i++) {
		expect(f, PROBE_UPROBE, "x=prog:main $comm", "p:spur/x prog:@ $comm");
		assert_int_equal(resolve(f, PROBE_UPROBE, libc[i]), 0);
	}
	expect_error(f, PROBE_UPROBE, "sub:in_library", -ENOENT, "no program or library 'sub'");
	expect_error(f, PROBE_UPROBE, "./main.c:main", -EBADMSG, "it is no ELF file");
	assert_true(shell("${CC:-cc} -c -o main.o main.c && cp prog 'a b'"));
	expect_error(f, PROBE_UPROBE, "./main.o:main", -EBADMSG, "neither a program nor");
	assert_true(shell("ln -sf 'a b' link"));
	expect_error(f, PROBE_UPROBE, "./link:main", -EINVAL, "with a blank");
	assert_true(shell("cp prog p:q=r"));
	expect(f, PROBE_UPROBE, "./p:q=r:main $comm", "p:spur/main p:q=r:@ $comm");
}

__attribute__((noinline, used)) int probe_me_here(int number);
int probe_me_here(int number)
{
	__asm__ volatile("");
	return number + 1;
}

/* Where this very program is mapped tells which offset in the file an address is. */
static void test_running_process(void **state)
{
	struct fixture *f = *state;
	struct probe_options opt = {.pid = getpid()};
	uint64_t wanted = (uint64_t)(uintptr_t)probe_me_here, offset = 0;
	char line[4500];
	FILE *maps;

	needs(have_elf);
	maps = fopen("/proc/self/maps", "re");
	assert_non_null(maps);
	assert_int_equal(resolve_with(f, PROBE_UPROBE, ":probe_me_here", &opt, &offset), 0);
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, at;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &at) == 3 &&
		    wanted >= start && wanted < end)
			assert_int_equal(offset, wanted - start + at);
	}
	fclose(maps);
	assert_int_equal(resolve_with(f, PROBE_UPROBE, "c:malloc", &opt, &offset), 0);
	opt.pid = 0x7fffffff;
	assert_int_not_equal(resolve_with(f, PROBE_UPROBE, ":main", &opt, &offset), 0);
}

/* A program of a process with a root of its own, whose path means another file here. */
static void test_other_root(void **state)
{
	struct fixture *f = *state;
	int ready[2], end[2];
	char expression[64], byte;
	pid_t pid;

	write_text("main.c", "int main(void) { return 0; }\n");
	needs(geteuid() == 0 &&
	      shell("mkdir -p other/bin && ${CC:-cc} -o other/bin/prog main.c 2>/dev/null"));
	assert_int_equal(pipe(ready) | pipe(end), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(end[1]);
		_exit(chroot("other") || write(ready[1], "", 1) != 1 || read(end[0], &byte, 1));
	}
	close(ready[1]);
	close(end[0]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	snprintf(expression, sizeof(expression), "/proc/%d/root/bin/prog:main $comm", (int)pid);
	expect(f, PROBE_UPROBE, expression, "p:spur/main prog:@ $comm");
	close(end[1]);
	close(ready[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* ---- values that are computed ---- */

#define NOWHERE "prog:@\n# 'a' has been optimised away"

/* Rows: what a program says instead of "in register 5" (rdi), and what becomes of it. */
static const struct {
	const char *type;
	const char *ops; /* as bytes of assembler, without DW_OP_stack_value */
	const char *line;
} computed[] = {
	{"int", "0x75, 0", "a=%di:s32"},			    /* breg5 0 */
	{"int", "0x75, 1", NOWHERE},				    /* breg5 1 */
	{"int", "0x75, 0, 0x31, 0x22", NOWHERE},		    /* … lit1 plus */
	{"int", "0x75, 0, 0x1f", NOWHERE},			    /* … neg */
	{"unsigned char", "0x75, 0, 0x08, 0xff, 0x1a", "a=%di:u8"}, /* … const1u 255 and */
	{"int", "0x75, 0, 0x08, 0xff, 0x1a", NOWHERE},
	{"short", "0x75, 0, 0x08, 48, 0x24, 0x08, 48, 0x26", "a=%di:s16"}, /* … shl shra */
	{"int", "0x75, 0, 0x08, 48, 0x24, 0x08, 48, 0x26", NOWHERE},
	{"short", "0x75, 0, 0x08, 48, 0x24", NOWHERE},
	{"short", "0x75, 0, 0x08, 48, 0x24, 0x08, 47, 0x26", NOWHERE},
	{"int", "0x33", "a=\\3:s32"}, /* lit3 */
};

static void test_computed_places(void **state)
{
	struct fixture *f = *state;

#if !defined(__x86_64__) || !defined(HAVE_DW)
	skip();
#endif
	for (size_t i = 0; i < ARRAY_SIZE(computed); i++) {
		char text[300];
		size_t n = 2;

		for (const char *s = computed[i].ops; *s; s++)
			n += *s == ',';
		snprintf(text, sizeof(text),
			 "%1$s first; int f(%1$s a) { __asm__ volatile(\"\" : : \"r\"(a)); return "
			 "0; }\nint main(void) { return 0; }\n",
			 computed[i].type);
		write_text("computed.c", text);
		/*
		 * The location of `a` is the one expression of one byte that says 0x55: reg5. What
		 * other entries refer to stands in front of it, and is not moved.
		 */
		snprintf(text, sizeof(text),
			 "/^.Ldebug_info0:/{n;s/.*/\t.long .Lend-.Lstart\\n.Lstart:/}\n"
			 "s/^\t.section\t.debug_abbrev.*/.Lend:\\n&/\n"
			 "/^\t.uleb128 0x1$/{N;s/.*\\n\t.byte\t0x55$/\t.uleb128 %zu\\n"
			 "\t.byte %s, 0x9f/}\n",
			 n, computed[i].ops);
		write_text("computed.sed", text);
		needs(shell("${CC:-cc} -g -O2 -S -o computed.s computed.c 2>/dev/null && "
			    "sed -i -f computed.sed computed.s && grep -q 0x9f computed.s && "
			    "${CC:-cc} -o prog computed.s 2>/dev/null"));
		resolve(f, PROBE_UPROBE, "./prog:f");
		if (!strstr(f->out.data, computed[i].line))
			fail_msg("%s: %s", computed[i].ops, f->out.data);
	}
}

/* ---- a program that is not there any more ---- */

/* Until the process has become that program. */
static void wait_for_program(pid_t pid, const char *name)
{
	char link[64], exe[4096] = "";

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	for (int i = 0; i < 10000 && !strstr(exe, name); i++) {
		ssize_t n = readlink(link, exe, sizeof(exe) - 1);

		exe[n > 0 ? n : 0] = '\0';
		usleep(1000);
	}
	assert_non_null(strstr(exe, name));
}

/* It goes on running, under its name there is nothing, or something else. */
static void test_deleted_program(void **state)
{
	static const char *const after[] = {"rm gone", "cp prog new && mv new gone"};
	struct fixture *f = *state;
	uint64_t offset;

	needs(shell("printf 'int only_here(void) { return 0; }\\n#include <unistd.h>\\n"
		    "int main(void) { return pause(); }\\n' >gone.c && ${CC:-cc} -o prog "
		    "program.c 2>/dev/null"));
	for (size_t i = 0; i < ARRAY_SIZE(after); i++) {
		struct probe_options opt = {0};

		assert_true(shell("${CC:-cc} -o gone gone.c"));
		opt.pid = fork();
		if (opt.pid == 0) {
			execl("./gone", "gone", (char *)NULL);
			_exit(1);
		}
		wait_for_program(opt.pid, "gone");
		assert_true(shell("%s", after[i]));
		resolve_with(f, PROBE_UPROBE, ":only_here $comm", &opt, &offset);
		assert_string_equal(f->out.data, "p:spur/only_here exe:@ $comm");
		kill(opt.pid, SIGKILL);
		waitpid(opt.pid, NULL, 0);
	}
}

/* ---- USDT ---- */

static const char usdt_program[] =
	"#define _SDT_HAS_SEMAPHORES 1\n"
	"#define STAP_SDT_V2 1\n"
	"#include <sys/sdt.h>\n"
	"#include <stdlib.h>\n"
	"unsigned short app_one_semaphore __attribute__((section(\".probes\"))) = 0;\n"
	"unsigned short app_two__half_semaphore __attribute__((section(\".probes\"))) = 0;\n"
	"int counter;\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	DTRACE_PROBE3(app, one, argc, argv[0], 5);\n"
	"	DTRACE_PROBE1(app, two__half, (short)argc);\n"
	"	if (argc > 1) DTRACE_PROBE1(app, two__half, (short)(argc + 1));\n"
	"	return 0;\n"
	"}\n";

static void test_usdt(void **state)
{
	struct fixture *f = *state;
	struct probe_options opt = {.command = "./prog"};
	uint64_t offset;

	write_text("usdt.c", usdt_program);
	needs(shell("${CC:-cc} -O2 -o prog usdt.c 2>/dev/null"));
	resolve(f, PROBE_USDT, "./prog:app:one");
	assert_non_null(strstr(f->out.data, "p:spur/app_one prog:@(0x"));
	assert_non_null(strstr(f->out.data, ") arg1="));
	assert_non_null(strstr(f->out.data, " arg3=\\5:s32"));
	resolve(f, PROBE_USDT, "g/n=./prog:app:one text=$arg2:string");
	assert_non_null(strstr(f->out.data, "p:g/n prog:@(0x"));
	assert_non_null(strstr(f->out.data, ") text=+0("));
	/* In two places, and found without the name of the program, and under DTrace's name. */
	assert_int_equal(resolve_with(f, PROBE_USDT, "app:two-half $comm", &opt, &offset), 0);
	assert_non_null(strstr(f->out.data, "p:spur/app_two__half prog:@(0x"));
	assert_non_null(strstr(f->out.data, "p:spur/app_two__half_1 prog:@(0x"));
	expect_error(f, PROBE_USDT, "./prog:app:on", -ENOENT, "did you mean 'app:one'");
	expect_error(f, PROBE_USDT, "./prog:app:one $arg4", -EINVAL, "there is no $arg4");
	assert_true(shell("${CC:-cc} -O2 -o prog program.c"));
	expect_error(f, PROBE_USDT, "./prog:app:one", -ENOENT, "has no probes built in");
}

/* ---- damaged programs ---- */

static int see_symbol(void *arg, const struct binary_symbol *s)
{
	uint64_t offset;

	binary_offset(arg, s->addr, &offset);
	return 0;
}

static int see_probe(void *arg, const struct usdt_probe *p)
{
	return !p->provider || !p->name || !p->args;
}

/* Everything that is read of a file; true when it is one at all. */
static bool read_all(const void *bytes, size_t size)
{
	int fd = open("damaged", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct binary *b;

	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	if (binary_open("damaged", &b, NULL))
		return false;
	assert_int_equal(binary_each_symbol(b, see_symbol, b), 0);
	assert_int_equal(usdt_each(b, see_probe, NULL), 0);
	binary_close(b);
	return true;
}

static void test_damaged_programs(void **state)
{
	struct buf file;
	uint32_t random = 1;
	uint8_t *bytes;

	write_text("usdt.c", usdt_program);
	needs(shell("${CC:-cc} -O2 -o prog usdt.c 2>/dev/null"));
	buf_init(&file, 16 << 20);
	assert_int_equal(file_read("prog", &file, NULL), 0);
	bytes = malloc(file.len);
	assert_non_null(bytes);
	memcpy(bytes, file.data, file.len);
	assert_true(read_all(bytes, file.len));
	for (unsigned int i = 0; i < 3000; i++) {
		size_t size = file.len;
		uint8_t *exact;

		random = random * 1103515245 + 12345;
		if (i % 4 == 0)
			size = random % file.len;
		exact = malloc(size ? size : 1);
		assert_non_null(exact);
		memcpy(exact, file.data, size);
		/* Headers at the start, sections at the end: there it hurts most. */
		for (unsigned int j = 0; j < 8 && size > 4096; j++) {
			random = random * 1103515245 + 12345;
			exact[(random >> 8) % 2 ? (random >> 9) % 1024
						: size - 1 - (random >> 9) % 4096] =
				(uint8_t)(random >> 4);
		}
		read_all(exact, size);
		free(exact);
	}
	free(bytes);
	buf_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs_of_all_kinds),
		cmocka_unit_test(test_without_debug_information),
		cmocka_unit_test(test_separate_debug_information),
		cmocka_unit_test(test_places_of_debug_information),
		cmocka_unit_test(test_cxx),
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_files_by_name),
		cmocka_unit_test(test_running_process),
		cmocka_unit_test(test_other_root),
		cmocka_unit_test(test_deleted_program),
		cmocka_unit_test(test_computed_places),
		cmocka_unit_test(test_usdt),
		cmocka_unit_test(test_damaged_programs),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
