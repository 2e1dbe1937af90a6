// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a script may refer to: tracepoints from formats, types from BTF made by hand and from the
 * running kernel's, programs compiled here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "dat/dat.h"
#include "event/event.h"
#include "event/names.h"
#include "fake_tracefs.h"
#include "lang/env.h"
#include "code/vtype.h"
#include "probe_kernel.h"
#include "scan/trace.h"
#include "symbols/btf.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

struct fixture {
	struct tracefs fs; /* the BTF is there, too */
	char btf[300];
	struct arena arena;
	struct env *env;
};

static const char format_head[] =
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

static const char call_format[] =
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:int dfd;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:const char * filename;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:const char *const * argv;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:umode_t mode;\toffset:40;\tsize:8;\tsigned:0;\n";

static const char all_format[] =
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:bool on;\toffset:28;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned long args[6];\toffset:32;\tsize:48;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:80;\tsize:4;\tsigned:0;\n"
	"\tfield:__rel_loc char[] place;\toffset:84;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc u64[] list;\toffset:88;\tsize:4;\tsigned:0;\n"
	"\tfield:enum mood mood;\toffset:92;\tsize:4;\tsigned:0;\n"
	"\tfield:struct file * file;\toffset:96;\tsize:8;\tsigned:0;\n"
	"\tfield:const void * where;\toffset:104;\tsize:8;\tsigned:0;\n"
	"\tfield:struct pair both;\toffset:112;\tsize:16;\tsigned:0;\n"
	"\tfield:__u8 mac[6];\toffset:128;\tsize:6;\tsigned:0;\n"
	"\tfield:s8 few[COUNT];\toffset:134;\tsize:3;\tsigned:1;\n"
	"\tfield:char * __attribute__((user)) theirs;\toffset:144;\tsize:8;\tsigned:0;\n"
	"\tfield:struct box * box;\toffset:152;\tsize:8;\tsigned:0;\n"
	"\tfield:char rest[];\toffset:160;\tsize:0;\tsigned:0;\n";

static void add_event(struct fixture *f, const char *system, const char *name, const char *fields)
{
	char file[200], text[8000];

	snprintf(file, sizeof(file), "events/%s/%s/format", system, name);
	snprintf(text, sizeof(text), "name: %s\nID: 7\n%s%s\nprint fmt: \"none\"\n", name,
		 format_head, fields);
	fake_file(&f->fs, file, text);
}

/*
 * A module on top of the kernel's BTF: struct gadget { struct path at; }, which has its string in
 * the module, and union file, whose name is among the kernel's strings.
 */
static void write_module(struct fixture *f, const struct buf *kernel)
{
	uint32_t strings_len = (uint32_t)load_uint((const uint8_t *)kernel->data + 20, 4, false);
	const char *strings = kernel->data + kernel->len - strings_len;
	const char *file = memmem(strings, strings_len, "\0file", 6);
	char path[400];
	struct buf types, all;
	FILE *out;

	assert_non_null(file);
	buf_init(&types, 1000);
	put32(&types, strings_len + 1), put32(&types, KIND_STRUCT << 24 | 1), put32(&types, 16);
	put32(&types, strings_len + 8), put32(&types, 11), put32(&types, 0);
	put32(&types, (uint32_t)(file + 1 - strings));
	put32(&types, KIND_UNION << 24), put32(&types, 3);
	buf_init(&all, 1000);
	buf_put(&all, kernel->data, 8);
	put32(&all, 0), put32(&all, (uint32_t)types.len), put32(&all, (uint32_t)types.len);
	put32(&all, 11);
	buf_put(&all, types.data, types.len);
	buf_put(&all, "\0gadget\0at", 11);
	snprintf(path, sizeof(path), "%s/gadgets", f->fs.path);
	out = fopen(path, "w");
	assert_non_null(out);
	fwrite(all.data, 1, all.len, out);
	fclose(out);
	buf_free(&types);
	buf_free(&all);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct buf btf;
	FILE *out;

	assert_non_null(f);
	fake_tracefs(&f->fs);
	add_event(f, "syscalls", "sys_enter_openat", call_format);
	add_event(f, "test", "all", all_format);
	fake_file(&f->fs, "events/test/broken/format",
		  "name: broken\nID: 8\nformat:\n\tnonsense\n");
	snprintf(f->btf, sizeof(f->btf), "%s/vmlinux", f->fs.path);
	buf_init(&btf, 1 << 20);
	make_btf(&btf);
	out = fopen(f->btf, "w");
	assert_non_null(out);
	fwrite(btf.data, 1, btf.len, out);
	fclose(out);
	write_module(f, &btf);
	buf_free(&btf);
	arena_init(&f->arena, 64 << 20);
	f->env = env_live(f->fs.path, f->btf, &f->arena);
	assert_non_null(f->env);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	env_free(f->env);
	arena_free(&f->arena);
	fake_end(&f->fs);
	free(f);
	return 0;
}

static void assert_name(const struct type *t, const char *name)
{
	struct buf text;

	buf_init(&text, 1000);
	type_name(t, &text);
	assert_string_equal(buf_str(&text), name);
	buf_free(&text);
}

/* ---- tracepoints ---- */

static const struct {
	const char *system, *event, *member;
	uint64_t offset, size;
	int dynamic;
	const char *c;	   /* its type as C writes it */
	const char *value; /* … and what it is in a script */
	enum vspace space;
} fields[] = {
	{"syscalls", "sys_enter_openat", "__syscall_nr", 8, 4, 0, "int", "int32", 0},
	{"syscalls", "sys_enter_openat", "dfd", 16, 8, 0, "int", "int64", 0},
	{"syscalls", "sys_enter_openat", "filename", 24, 8, 0, "char *", "char *", SPACE_USER},
	{"syscalls", "sys_enter_openat", "argv", 32, 8, 0, "char **", "char **", SPACE_USER},
	{"syscalls", "sys_enter_openat", "mode", 40, 8, 0, "umode_t", "uint64", 0},
	{"test", "all", "comm", 8, 16, 0, "char[16]", "string[16]", SPACE_CTX},
	{"test", "all", "pid", 24, 4, 0, "pid_t", "int32", 0},
	{"test", "all", "on", 28, 1, 0, "bool", "bool", 0},
	{"test", "all", "args", 32, 48, 0, "unsigned long[6]", "uint64[6]", SPACE_CTX},
	{"test", "all", "name", 80, 0, 1, "char[]", "string[0]", SPACE_CTX},
	{"test", "all", "place", 84, 0, 2, "char[]", "string[0]", SPACE_CTX},
	{"test", "all", "list", 88, 0, 1, "u64[0]", "uint64[0]", SPACE_CTX},
	{"test", "all", "mood", 92, 4, 0, "enum mood", "enum mood", 0},
	{"test", "all", "file", 96, 8, 0, "struct file *", "struct file *", SPACE_KERNEL},
	{"test", "all", "where", 104, 8, 0, "void *", "void *", SPACE_KERNEL},
	{"test", "all", "both", 112, 16, 0, "struct pair", "struct pair", SPACE_CTX},
	{"test", "all", "mac", 128, 6, 0, "__u8[6]", "uint8[6]", SPACE_CTX},
	{"test", "all", "few", 134, 3, 0, "s8[3]", "int8[3]", SPACE_CTX},
	{"test", "all", "theirs", 144, 8, 0, "char *", "char *", SPACE_USER},
	{"test", "all", "rest", 160, 0, 0, "char[]", "string[0]", SPACE_CTX},
};

static void assert_fields(struct env *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct vtype v;
		struct member m;
		struct type t;
		struct buf text;

		assert_true(e->ops->tracepoint(e, fields[i].system, fields[i].event, &t));
		assert_true(type_member(&t, fields[i].member, strlen(fields[i].member), &m));
		assert_int_equal(m.offset, fields[i].offset);
		assert_int_equal(type_size(&m.type), fields[i].size);
		assert_int_equal(env_dynamic(&m), fields[i].dynamic);
		assert_name(&m.type, fields[i].c);
		v = vtype_of_c(&m.type, SPACE_CTX);
		assert_int_equal(v.space, fields[i].space);
		buf_init(&text, 100);
		vtype_name(&v, &text);
		assert_string_equal(buf_str(&text), fields[i].value);
		buf_free(&text);
	}
}

static void test_fields(void **state)
{
	struct fixture *f = *state;

	assert_fields(f->env);
}

static void test_no_tracepoint(void **state)
{
	static const struct {
		const char *system, *event;
	} none[] = {{"test", "nothing"},
		    {"nothing", "all"},
		    {"test", "broken"},
		    {"..", "test"},
		    {"test", ".."},
		    {"test", "x/../all"},
		    {"", ""}};
	struct fixture *f = *state;
	struct member m;
	struct type t;

	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		assert_false(f->env->ops->tracepoint(f->env, none[i].system, none[i].event, &t));
	/* Programs cannot read what all tracepoints have in common. */
	assert_true(f->env->ops->tracepoint(f->env, "test", "all", &t));
	assert_false(type_member(&t, "common_pid", 10, &m));
}

/* What stands behind the names of types comes from BTF. */
static void test_behind_fields(void **state)
{
	struct fixture *f = *state;
	struct type t, target;
	struct member m, inner;

	assert_true(f->env->ops->tracepoint(f->env, "test", "all", &t));
	assert_true(type_member(&t, "mood", 4, &m));
	assert_string_equal(type_enumerator_name(&m.type, 7), "BUSY");
	assert_string_equal(type_enumerator_name(&m.type, 0xffffffff), "GONE");
	assert_null(type_enumerator_name(&m.type, 8));

	assert_true(type_member(&t, "file", 4, &m) && type_target(&m.type, &target));
	assert_true(type_member(&target, "f_path", 6, &inner));
	assert_int_equal(inner.offset, 16);

	assert_true(type_member(&t, "both", 4, &m) && type_member(&m.type, "second", 6, &inner));
	assert_int_equal(inner.offset, 8);

	assert_true(type_member(&t, "args", 4, &m) && type_target(&m.type, &target));
	assert_int_equal(target.size, 8);
	assert_false(target.is_signed);
}

static void test_file(void **state)
{
	struct fixture *f = *state;
	struct dat dat = {.uname = "Linux box 2.6.39 #1 riscv64"};
	struct spur_trace trace = {.dat = &dat, .events = events_new()};
	const char *names[][2] = {{"syscalls", "sys_enter_openat"}, {"test", "all"}};
	struct buf texts[2];
	struct env *e;
	struct type t;

	for (size_t i = 0; i < 2; i++) {
		char path[400];

		buf_init(&texts[i], 1 << 20);
		snprintf(path, sizeof(path), "%s/events/%s/%s/format", f->fs.path, names[i][0],
			 names[i][1]);
		assert_int_equal(file_read(path, &texts[i], NULL), 0);
		assert_int_equal(
			events_add(trace.events, names[i][0], texts[i].data, texts[i].len, NULL),
			0);
	}
	symbols_add(trace.events->symbols, "1000 T one\n2000 T two\n", 22);
	e = env_file(&trace, &f->arena);
	assert_non_null(e);
	assert_true(e->offline);
	assert_fields(e);
	assert_int_equal(e->ops->symbol(e, "two"), 0x2000);
	assert_int_equal(e->ops->symbol(e, "three"), 0);
	/* The types of another kernel are not this one's. */
	assert_false(env_type(e, "struct task_struct", &t));
	assert_non_null(e->ops->no_types(e));
	env_free(e);
	events_free(trace.events);
	buf_free(&texts[0]);
	buf_free(&texts[1]);
}

/* ---- types ---- */

static const struct {
	const char *asked;
	enum type_kind kind;
	uint64_t size;
	const char *name;
} types[] = {
	{"struct file", TYPE_STRUCT, 64, "struct file"},
	{"struct box", TYPE_STRUCT, 48, "struct box"},
	{"enum mood", TYPE_INTEGER, 4, "enum mood"},
	{"enum limits", TYPE_INTEGER, 8, "enum limits"},
	{"size_t", TYPE_INTEGER, 8, "unsigned long"},
	{"unsigned int", TYPE_INTEGER, 4, "unsigned int"},
	{"u8", TYPE_INTEGER, 1, "unsigned char"},
	{"char", TYPE_INTEGER, 1, "char"},
	{"btf_trace_begin", TYPE_POINTER, 8, "void (*)()"},
	{"struct gadget", TYPE_STRUCT, 16, "struct gadget"}, /* the module's */
	{"union file", TYPE_STRUCT, 3, "union file"},
	{"union dentry", TYPE_UNKNOWN, 0, NULL},
	{"struct mood", TYPE_UNKNOWN, 0, NULL},
	{"struct later", TYPE_UNKNOWN, 0, NULL}, /* only its name is there */
	{"file", TYPE_UNKNOWN, 0, NULL},
	{"ile", TYPE_UNKNOWN, 0, NULL},
	{"struct ", TYPE_UNKNOWN, 0, NULL},
	{"", TYPE_UNKNOWN, 0, NULL},
	{"unsigned float", TYPE_UNKNOWN, 0, NULL},
};

static void test_types(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct type t;

		if (!types[i].name) {
			if (env_type(f->env, types[i].asked, &t))
				fail_msg("'%s' was found", types[i].asked);
			continue;
		}
		if (!env_type(f->env, types[i].asked, &t))
			fail_msg("'%s' was not found", types[i].asked);
		assert_int_equal(t.kind, types[i].kind);
		assert_int_equal(type_size(&t), types[i].size);
		assert_name(&t, types[i].name);
	}
}

static void test_members(void **state)
{
	static const struct {
		const char *type, *member;
		uint64_t offset, size, align;
		const char *name;
	} members[] = {
		{"struct box", "grid", 0, 24, 4, "int[2][3]"},
		{"struct box", "mood", 24, 4, 4, "enum mood"},
		{"struct box", "open", 28, 1, 1, "_Bool"},
		{"struct box", "later", 32, 8, 8, "struct later *"},
		{"struct file", "f_count", 48, 8, 8, "unsigned long"},
		{"struct file", "f_path", 16, 16, 8, "struct path"},
		{"struct gadget", "at", 0, 16, 8, "struct path"},
		{"struct dentry", "d_iname", 56, 40, 1, "char[40]"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		struct member m;
		struct type t;

		assert_true(env_type(f->env, members[i].type, &t));
		assert_true(type_member(&t, members[i].member, strlen(members[i].member), &m));
		assert_int_equal(m.offset, members[i].offset);
		assert_int_equal(type_size(&m.type), members[i].size);
		assert_int_equal(type_align(&m.type), members[i].align);
		assert_name(&m.type, members[i].name);
	}
}

static void test_enumerators(void **state)
{
	struct fixture *f = *state;
	struct type in;
	int64_t v;

	assert_true(env_enumerator(f->env, "GONE", &v, &in));
	assert_int_equal(v, -1);
	assert_name(&in, "enum mood");
	assert_string_equal(type_enumerator_name(&in, 0), "CALM");
	assert_true(env_enumerator(f->env, "FAR", &v, &in));
	assert_int_equal(v, 0x100000005);
	assert_false(env_enumerator(f->env, "FA", &v, &in));
	assert_false(env_enumerator(f->env, "mood", &v, &in));
	assert_false(env_enumerator(f->env, "", &v, &in));
}

static void test_same(void **state)
{
	struct fixture *f = *state;
	struct type a, b, pa, pb;
	struct member m;

	assert_true(env_type(f->env, "struct dentry", &a));
	assert_true(env_type(f->env, "struct path", &b));
	assert_true(type_same(&a, &a));
	assert_false(type_same(&a, &b));
	assert_true(type_member(&b, "dentry", 6, &m));
	assert_true(type_pointer_to(&a, &f->arena, &pa));
	assert_true(type_same(&pa, &m.type));
	assert_true(type_pointer_to(&b, &f->arena, &pb));
	assert_false(type_same(&pa, &pb));
	assert_true(type_array_of(&a, 3, &f->arena, &pa));
	assert_int_equal(pa.size, 3 * 192);
	assert_name(&pa, "struct dentry[3]");
	assert_true(type_array_of(&a, UINT64_MAX, &f->arena, &pa));
	assert_int_equal(type_size(&pa), 0);
}

/* ---- functions ---- */

static void assert_params(const struct proto *p, const char *const *names, const char *const *kinds,
			  size_t n)
{
	assert_int_equal(p->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(p->at[i].name, names[i]);
		assert_name(&p->at[i].type, kinds[i]);
	}
}

static void test_functions(void **state)
{
	static const char *const names[] = {"file", "buf", "count", "pos"};
	static const char *const kinds[] = {"struct file *", "char *", "unsigned long", "void *"};
	static const char *const raw_kinds[] = {"_Bool", "struct file *"};
	static const char *const raw_names[] = {"preempt", "file"};
	static const char *const no_names[] = {"", ""};
	struct fixture *f = *state;
	struct env *e = f->env;
	struct proto p;

	/* So often that the index is built on the way. */
	for (unsigned int i = 0; i < 40; i++) {
		assert_true(e->ops->function(e, i % 2 ? NULL : "vmlinux", "vfs_read", &p));
		assert_params(&p, names, kinds, 4);
		assert_true(p.at[1].type.user);
		assert_false(e->ops->function(e, NULL, "vfs_rea", &p));
		assert_false(e->ops->function(e, NULL, "dentry", &p));
	}
	/* A module's functions are its own or, when it has no such, the kernel's. */
	assert_true(e->ops->function(e, "gadgets", "do_open", &p));
	assert_false(e->ops->function(e, "nobody", "do_open", &p));
	assert_false(e->ops->function(e, "../vmlinux", "do_open", &p));

	assert_true(e->ops->raw_tracepoint(e, "named", &p));
	assert_params(&p, raw_names, raw_kinds, 2);
	assert_true(e->ops->raw_tracepoint(e, "begin", &p));
	assert_params(&p, no_names, raw_kinds, 2);
	assert_false(e->ops->raw_tracepoint(e, "nothing", &p));
}

static void test_near(void **state)
{
	struct fixture *f = *state;
	struct type t;
	struct buf text;

	buf_init(&text, 1000);
	env_near_type(f->env, "struct dentyr", &text);
	assert_string_equal(buf_str(&text), " (did you mean 'dentry'?)");
	assert_true(env_type(f->env, "struct file", &t));
	buf_reset(&text);
	type_near_members(&t, "f_coutn", &text);
	assert_string_equal(buf_str(&text), "f_count");
	buf_free(&text);
}

static void test_missing(void **state)
{
	struct fixture *f = *state;
	struct env *e = env_live(NULL, "/nowhere/vmlinux", &f->arena);
	struct proto p;
	struct type t;
	int64_t v;

	assert_non_null(e);
	assert_false(env_type(e, "struct file", &t));
	assert_true(env_type(e, "u32", &t));
	assert_false(env_enumerator(e, "BUSY", &v, &t));
	assert_false(e->ops->function(e, NULL, "vfs_read", &p));
	assert_false(e->ops->tracepoint(e, "test", "all", &t));
	assert_non_null(strstr(e->ops->no_types(e), "/nowhere/vmlinux"));
	env_free(e);
}

/* ---- the running kernel ---- */

static void test_running(void **state)
{
	struct env *e;
	struct arena arena;
	struct type t, target;
	struct member m;
	struct proto p;
	int64_t v;

	if (access("/sys/kernel/btf/vmlinux", R_OK))
		skip();
	arena_init(&arena, 64 << 20);
	e = env_live("/sys/kernel/tracing", NULL, &arena);
	assert_true(env_type(e, "struct task_struct", &t));
	assert_in_range(t.size, 500, 20000);
	assert_true(type_member(&t, "comm", 4, &m));
	assert_int_equal(type_size(&m.type), 16);
	assert_true(type_member(&t, "real_parent", 11, &m) && type_target(&m.type, &target));
	assert_name(&target, "struct task_struct");
	assert_true(type_same(&t, &target));
	assert_int_equal(type_align(&t) % 8, 0);
	assert_true(env_type(e, "sector_t", &t));
	assert_int_equal(t.size, 8);
	assert_true(env_enumerator(e, "TCP_ESTABLISHED", &v, &t));
	assert_int_equal(v, 1);
	assert_true(e->ops->function(e, NULL, "vfs_read", &p));
	assert_int_equal(p.n, 4);
	assert_string_equal(p.at[0].name, "file");
	assert_true(e->ops->raw_tracepoint(e, "sched_switch", &p));
	assert_true(p.n >= 3);
	assert_name(&p.at[1].type, "struct task_struct *");
	assert_false(env_type(e, "struct no_such_struct_anywhere", &t));
	env_free(e);
	arena_free(&arena);
}

/* ---- programs ---- */

static const char program[] =
	"struct point { int x, y; };\n"
	"enum shape { ROUND = 3, SQUARE = -4 };\n"
	"typedef struct { struct point at; enum shape shape; } thing_t;\n"
	"union both { int i; char c[6]; };\n"
	"__attribute__((noinline)) int area(thing_t *t, long scale, union both b)\n"
	"{ return t->at.x * (int)scale + b.i; }\n"
	"int main(void) { thing_t t = {{1, 2}, ROUND}; union both b = {0};\n"
	"return area(&t, 3, b); }\n";

static bool compile(struct fixture *f, char *path, size_t cap)
{
	char command[900];

	fake_file(&f->fs, "program.c", program);
	snprintf(path, cap, "%s/program", f->fs.path);
	snprintf(command, sizeof(command), "cc -g -O1 -o %s %s/program.c 2>/dev/null", path,
		 f->fs.path);
	return system(command) == 0;
}

static void test_programs(void **state)
{
	struct fixture *f = *state;
	struct env *e = f->env;
	char path[400];
	struct member m;
	struct type t;

	assert_non_null(strstr(env_no_user_types(e, "/nowhere/program"), "/nowhere/program"));
	assert_false(env_user_type(e, "/nowhere/program", "struct point", &t));
	if (!compile(f, path, sizeof(path)))
		skip();
	if (env_no_user_types(e, path)[0])
		skip(); /* built without what reads it */
	assert_true(env_user_type(e, path, "struct point", &t));
	assert_int_equal(t.size, 8);
	assert_name(&t, "struct point");
	assert_true(env_user_type(e, path, "thing_t", &t));
	assert_true(type_member(&t, "shape", 5, &m));
	assert_string_equal(type_enumerator_name(&m.type, 3), "ROUND");
	assert_string_equal(type_enumerator_name(&m.type, -4), "SQUARE");
	assert_true(env_user_type(e, path, "union both", &t));
	assert_true(t.is_union);
	assert_true(type_member(&t, "c", 1, &m));
	assert_int_equal(type_size(&m.type), 6);
	assert_true(env_user_type(e, path, "enum shape", &t));
	assert_false(env_user_type(e, path, "struct both", &t));
	assert_false(env_user_type(e, path, "area", &t));
	assert_true(env_user_type(e, path, "unsigned int", &t));
}

/* Where a function is, as nm tells it. */
static uint64_t address_of(const char *path, const char *symbol)
{
	unsigned long long address = 0;
	char command[600];
	FILE *nm;

	snprintf(command, sizeof(command), "nm %s 2>/dev/null | grep ' %s$'", path, symbol);
	nm = popen(command, "r");
	if (!nm)
		return 0;
	if (fscanf(nm, "%llx", &address) != 1)
		address = 0;
	pclose(nm);
	return address;
}

static void test_program_function(void **state)
{
	static const char *const names[] = {"t", "scale", "b"};
	struct fixture *f = *state;
	struct type target;
	uint64_t address = 0;
	char path[400];
	struct proto p;

	if (!compile(f, path, sizeof(path)) || !(address = address_of(path, "area")) ||
	    env_no_user_types(f->env, path)[0])
		skip();
	assert_true(env_user_function(f->env, path, "area", address, &p));
	assert_int_equal(p.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(p.at[i].name, names[i]);
	assert_true(type_target(&p.at[0].type, &target));
	assert_int_equal(target.size, 12);
	assert_int_equal(p.ret.size, 4);
#ifdef __x86_64__
	assert_int_equal(p.at[1].place.kind, PLACE_REGISTER);
	assert_string_equal(p.at[1].place.reg, "si");
#endif
	assert_false(env_user_function(f->env, path, NULL, 1, &p));
}

/* ---- bytes that are not what they should be ---- */

static void ask_all(const struct btf *b)
{
	static const char *const names[] = {"file", "box", "mood", "BUSY", "begin", "size_t"};
	struct arena arena;
	struct proto p;
	struct type t;
	int64_t v;
	struct buf text;

	arena_init(&arena, 1 << 20);
	buf_init(&text, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		for (int want = BTF_WANT_STRUCT; want <= BTF_WANT_TYPEDEF; want++) {
			if (!btf_type(b, (enum btf_want)want, names[i], &t))
				continue;
			type_name(&t, &text);
			type_near_members(&t, "grud", &text);
			type_enumerator_name(&t, 5);
			type_size(&t);
			type_align(&t);
			type_same(&t, &t);
		}
		if (btf_enumerator(b, names[i], &v, &t))
			type_name(&t, &text);
		if (btf_raw_tracepoint(b, names[i], &arena, &p) && p.n)
			type_name(&p.at[0].type, &text);
	}
	buf_free(&text);
	arena_free(&arena);
}

static void test_damaged(void **state)
{
	struct buf good;

	buf_init(&good, 1 << 20);
	make_btf(&good);
	for (size_t at = 0; at < good.len; at++) {
		for (unsigned int bit = 0; bit < 8; bit += 3) {
			struct btf *b;

			good.data[at] ^= (char)(1u << bit);
			if (!btf_parse(good.data, good.len, NULL, &b, NULL)) {
				ask_all(b);
				btf_free(b);
			}
			good.data[at] ^= (char)(1u << bit);
		}
	}
	buf_free(&good);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fields),
		TEST(test_no_tracepoint),
		TEST(test_behind_fields),
		TEST(test_file),
		TEST(test_types),
		TEST(test_members),
		TEST(test_enumerators),
		TEST(test_same),
		TEST(test_functions),
		TEST(test_near),
		TEST(test_missing),
		TEST(test_programs),
		TEST(test_program_function),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
