// SPDX-License-Identifier: GPL-2.0-or-later
/* src/probe: calling conventions, arguments of USDT probes, names, the loader's list. */
#include <elf.h>
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
#include "probe/fetch.h"
#include "probe/loader.h"
#include "probe/usdt.h"
#include "symbols/abi.h"
#include "symbols/ksyms.h"
#include "symbols/names.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- calling conventions ---- */

/* A letter per parameter: int, long, wide (16 bytes), float, Struct of 24 bytes, pair of longs. */
static struct type type_of_letter(char letter)
{
	switch (letter) {
	case 'i': return (struct type){.kind = TYPE_INTEGER, .size = 4, .is_signed = true};
	case 'l': return (struct type){.kind = TYPE_INTEGER, .size = 8};
	case 'w': return (struct type){.kind = TYPE_INTEGER, .size = 16};
	case 'f': return (struct type){.kind = TYPE_FLOAT, .size = 8};
	case 'r': return (struct type){.kind = TYPE_STRUCT, .size = 8, .by_reference = true};
	case 'S': return (struct type){.kind = TYPE_STRUCT, .size = 24};
	case 'v': return (struct type){.kind = TYPE_VOID};
	default: return (struct type){.kind = TYPE_POINTER};
	}
}

static void show_place(const struct place *p, struct buf *to)
{
	switch (p->kind) {
	case PLACE_REGISTER:
		buf_printf(to, "%s%s%s%s", p->reference ? "*" : "", p->reg, p->reg2 ? "," : "",
			   p->reg2 ? p->reg2 : "");
		break;
	case PLACE_MEMORY: buf_printf(to, "%d(%s)", (int)p->offset, p->reg); break;
	case PLACE_CONSTANT: buf_printf(to, "$%lld", (long long)p->offset); break;
	case PLACE_FILE: buf_printf(to, "@%lld", (long long)p->offset); break;
	default: buf_puts(to, "-");
	}
}

static void test_places_by_convention(void **state)
{
	static const struct {
		unsigned int machine, bits;
		const char *kernel;
		const char *types; /* what it returns, then the parameters */
		const char *places;
	} cases[] = {
		{EM_X86_64, 64, "x86_64", "vilp", "di si dx"},
		{EM_X86_64, 64, "x86_64", "viiiiiiil", "di si dx cx r8 r9 8(sp) 16(sp)"},
		{EM_X86_64, 64, "x86_64", "vifiw", "di - si dx,cx"},
		{EM_X86_64, 64, "x86_64", "viiiiiwi", "di si dx cx r8 8(sp) r9"},
		{EM_X86_64, 64, "x86_64", "viSi", "di 8(sp) si"},
		{EM_X86_64, 64, "x86_64", "viri", "di *si dx"},
		{EM_X86_64, 64, "x86_64", "Sii", "si dx"},
		{EM_X86_64, 64, "x86_64", "rii", "si dx"},
		{EM_X86_64, 64, "x86_64", "vfffffffffi", "- - - - - - - - - -"},
		{EM_386, 32, "x86_64", "vilfp", "4(sp) 8(sp) - 24(sp)"},
		{EM_386, 32, "i686", "Sii", "8(sp) 12(sp)"},
		{EM_AARCH64, 64, "aarch64", "viwi", "x0 x2,x3 x4"},
		{EM_AARCH64, 64, "aarch64", "viSi", "x0 *x1 x2"},
		{EM_AARCH64, 64, "aarch64", "Sii", "x0 x1"},
		{EM_AARCH64, 64, "aarch64", "viiiiiiiwi", "x0 x1 x2 x3 x4 x5 x6 0(sp) 16(sp)"},
		{EM_ARM, 32, "armv7l", "vili", "r0 r2,r3 0(sp)"},
		{EM_ARM, 32, "armv7l", "vifi", "r0 - -"},
		{EM_ARM, 32, "aarch64", "vpiiii", "x0 x1 x2 x3 0(x13)"},
		{EM_RISCV, 64, "riscv64", "viwi", "a0 a1,a2 a3"},
		{EM_RISCV, 64, "riscv64", "viiiiiiiwi", "a0 a1 a2 a3 a4 a5 a6 - 8(sp)"},
		{EM_RISCV, 64, "riscv64", "SfSi", "- *a1 a2"},
		{EM_RISCV, 32, "riscv32", "vil", "a0 a1,a2"},
		{EM_S390, 64, "s390x", "vi", "-"},
	};
	struct buf out;

	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *types = cases[i].types;
		struct param params[16] = {0};
		struct proto p = {.at = params, .n = strlen(types) - 1};

		p.ret = type_of_letter(types[0]);
		for (size_t j = 0; j < p.n; j++)
			params[j].type = type_of_letter(types[j + 1]);
		abi_place(abi_of_elf(cases[i].machine, cases[i].bits == 64, cases[i].kernel), &p);
		buf_reset(&out);
		for (size_t j = 0; j < p.n; j++) {
			buf_puts(&out, j ? " " : "");
			show_place(&params[j].place, &out);
		}
		assert_string_equal(buf_str(&out), cases[i].places);
	}
	buf_free(&out);
}

static void test_registers(void **state)
{
	static const struct {
		unsigned int machine;
		const char *kernel, *name, *is; /* NULL: there is none */
	} cases[] = {
		{EM_X86_64, "x86_64", "rdi", "di"},    {EM_X86_64, "x86_64", "edi", "di"},
		{EM_X86_64, "x86_64", "dil", "di"},    {EM_X86_64, "x86_64", "di", "di"},
		{EM_X86_64, "x86_64", "r9", "r9"},     {EM_X86_64, "x86_64", "r10d", "r10"},
		{EM_X86_64, "x86_64", "r15b", "r15"},  {EM_X86_64, "x86_64", "ah", NULL},
		{EM_X86_64, "x86_64", "xmm0", NULL},   {EM_X86_64, "x86_64", "r16d", NULL},
		{EM_X86_64, "x86_64", "", NULL},       {EM_386, "x86_64", "esp", "sp"},
		{EM_AARCH64, "aarch64", "w17", "x17"}, {EM_AARCH64, "aarch64", "xzr", ""},
		{EM_AARCH64, "aarch64", "x31", NULL},  {EM_AARCH64, "aarch64", "d0", NULL},
		{EM_ARM, "armv7l", "r11", "fp"},       {EM_ARM, "armv7l", "sl", "r10"},
		{EM_ARM, "aarch64", "r4", "x4"},       {EM_ARM, "aarch64", "sp", "x13"},
		{EM_RISCV, "riscv64", "a7", "a7"},     {EM_RISCV, "riscv64", "zero", ""},
		{EM_RISCV, "riscv64", "fa0", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct abi *abi = abi_of_elf(cases[i].machine, true, cases[i].kernel);
		const char *got = abi_register(abi, cases[i].name, strlen(cases[i].name));

		if (cases[i].is)
			assert_string_equal(got ? got : "(none)", cases[i].is);
		else
			assert_null(got);
	}
}

/* ---- USDT ---- */

static bool find_symbol(void *arg, const char *name, size_t len, int64_t *offset)
{
	if (len != 7 || strncmp(name, "counter", 7))
		return false;
	*offset = 1000;
	return true;
}

static void test_usdt_arguments(void **state)
{
	static const struct {
		unsigned int machine;
		const char *args, *places;
	} cases[] = {
		{EM_X86_64, "-4@%edi 8@-16(%rbp) 4@$5", "-4:di 8:-16(bp) 4:$5"},
		{EM_X86_64, "-4@$-1 4@$-1 1@%al 2@%r9w", "-4:$-1 4:$4294967295 1:ax 2:r9"},
		{EM_X86_64, "1@$-1 2@$-2 -1@$255 -2@$65535", "1:$255 2:$65534 -1:$-1 -2:$-1"},
		{EM_X86_64, "8@(%r12) -8@0x10(%rsp)", "8:0(r12) -8:16(sp)"},
		{EM_X86_64, "-4@8(%rax,%rbx,4) -4@$7", "-4:- -4:$7"},
		{EM_X86_64, "-4@counter(%rip) 8@counter+8(%rip) 4@12+counter(%rip)",
		 "-4:@1000 8:@1008 4:@1012"},
		{EM_X86_64, "-4@other(%rip) 4@counter 8@$.LC0", "-4:- 4:@1000 8:-"},
		{EM_X86_64, "8f@%xmm0 4@%ah 8@%fs:16 %rax", "8:- 4:- 8:- 8:ax"},
		{EM_X86_64, "8@99999999999(%rax) 8@ 8@%", "8:- 8:- 8:-"},
		{EM_X86_64, "8@(%rax 8@)(", "8:-"},
		{EM_X86_64, "", ""},
		{EM_386, "-4@20(%esp) -4@%eax", "-4:20(sp) -4:ax"},
		{EM_AARCH64, "-4@[sp, 60] 8@x1 -4@w3 8@[x19] -4@5 8@xzr",
		 "-4:60(sp) 8:x1 -4:x3 8:0(x19) -4:$5 8:$0"},
		{EM_AARCH64, "8@[x0, x1] 8@[x0, w1, sxtw 2] 8@[ 8@[]", "8:- 8:- 8:-"},
		{EM_ARM, "-4@[fp, #-8] 4@r3 -4@#7", "-4:-8(fp) 4:r3 -4:$7"},
		{EM_RISCV, "-4@-24(s0) 8@a1 4@zero -4@12", "-4:-24(s0) 8:a1 4:$0 -4:$12"},
	};
	static const struct usdt_symbols symbols = {.find = find_symbol};
	struct buf out;

	buf_init(&out, 1 << 16);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const char *kernel = cases[i].machine == EM_ARM ? "armv7l" : "";
		struct arena arena;
		struct proto p;

		arena_init(&arena, 1 << 20);
		assert_int_equal(usdt_args(cases[i].args,
					   abi_of_elf(cases[i].machine, true, kernel), &symbols,
					   &arena, &p),
				 0);
		buf_reset(&out);
		for (size_t j = 0; j < p.n; j++) {
			char name[32];

			snprintf(name, sizeof(name), "arg%zu", j + 1);
			assert_string_equal(p.at[j].name, name);
			buf_printf(&out, "%s%s%d:", j ? " " : "", p.at[j].type.is_signed ? "-" : "",
				   (int)p.at[j].type.size);
			show_place(&p.at[j].place, &out);
		}
		assert_string_equal(buf_str(&out), cases[i].places);
		arena_free(&arena);
	}
	buf_free(&out);
}

/* ---- names ---- */

static void test_cxx_names(void **state)
{
	static const struct {
		const char *mangled, *name; /* NULL: cannot be told */
	} cases[] = {
		{"_Z4funci", "func"},
		{"_ZN3app4User4sizeEv", "app::User::size"},
		{"_ZNK3app4User4sizeEv", "app::User::size"},
		{"_ZN3app4UserC2Ei", "app::User::User"},
		{"_ZN3app4UserD1Ev", "app::User::~User"},
		{"_ZNSt6thread4joinEv", "std::thread::join"},
		{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
		{"_ZN3app4listIiE3addEi", NULL},
		{"_ZplRK1AS1_", NULL},
		{"_ZN3app", NULL},
		{"_ZN99999999999app1xE", NULL},
		{"_Z", NULL},
		{"main", NULL},
	};
	char name[64];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		bool fine =
			cxx_name(cases[i].mangled, strlen(cases[i].mangled), name, sizeof(name));

		if (fine != !!cases[i].name || (fine && strcmp(name, cases[i].name)))
			fail_msg("%s: %s", cases[i].mangled, fine ? name : "none");
	}
	assert_false(cxx_name("_ZN3app4User4sizeEv", 19, name, 8));
}

static void test_event_names(void **state)
{
	static const struct {
		const char *symbol, *name;
	} cases[] = {
		{"malloc", "malloc"},
		{"copy.isra.0", "copy_isra_0"},
		{"app::User::~User", "app__User___User"},
		{"1st", "_1st"},
		{"", "_"},
		{"enable", "enable_"},
		{"a2345678901234567890123456789012345678901234567890123456789012345",
		 "a23456789012345678901234567890123456789012345678901234567890123"},
	};
	char name[NAME_MAX_EVENT + 1];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		event_name(cases[i].symbol, name);
		assert_string_equal(name, cases[i].name);
	}
}

static void test_nearest_names(void **state)
{
	static const char *const names[] = {"vfs_read",	 "vfs_write", "do_vfs_read",
					    "vfs_readv", "unrelated", "vfs_read"};
	struct nearest n = nearest_to("vfs_raed", 8);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		nearest_try(&n, names[i], strlen(names[i]));
	assert_string_equal(nearest_words(&n), " (did you mean 'vfs_read' or 'vfs_readv'?)");
	n = nearest_to("zzz", 3);
	nearest_try(&n, "vfs_read", 8);
	assert_string_equal(nearest_words(&n), "");
}

/* ---- libraries ---- */

static void test_library_names(void **state)
{
	static const struct {
		const char *file, *name;
		bool is;
	} cases[] = {
		{"/lib/libc.so.6", "libc.so.6", true}, {"/lib/libc.so.6", "libc", true},
		{"/lib/libc.so.6", "c", true},	       {"/lib/libc-2.31.so", "libc", true},
		{"/lib/libcap.so.2", "libc", false},   {"/lib/libc.so.6", "libc.so", false},
		{"/lib/libpam_misc.so", "pam", false}, {"/lib/libc.so.6", "", false},
		{"/usr/bin/prog", "prog", true},       {"/lib/libc++.so.1", "c", false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (loader_is_called(cases[i].file, cases[i].name) != cases[i].is)
			fail_msg("%s as '%s'", cases[i].file, cases[i].name);
}

static int count_libraries(void *arg, const char *name, const char *file)
{
	struct buf *out = arg;

	buf_printf(out, "%s=%s ", name, file);
	return 0;
}

static void test_loaders_list(void **state)
{
	struct buf list, out;
	uint32_t head[7] = {2}, entries[2][6] = {0};
	const size_t start = 20 + sizeof(head) + sizeof(entries);

	buf_init(&list, 1 << 16);
	buf_init(&out, 1 << 16);
	buf_puts(&list, "ld.so-1.7.0 an older list");
	entries[0][1] = (uint32_t)start, entries[0][2] = (uint32_t)start + 6;
	entries[1][1] = (uint32_t)start, entries[1][2] = 1000; /* outside */
	buf_puts(&list, "glibc-ld.so.cache1.1");
	buf_put(&list, head, sizeof(head));
	buf_put(&list, entries, sizeof(entries));
	buf_put(&list, "liba\0\0/l/liba\0", 14);
	assert_int_equal(ldcache_walk(list.data, list.len, count_libraries, &out), 0);
	assert_string_equal(buf_str(&out), "liba=/l/liba ");
	/* Cut off anywhere, at its exact length so that a read behind it is seen. */
	for (size_t n = 0; n < list.len; n++) {
		char *exact = malloc(n + 1);

		assert_non_null(exact);
		memcpy(exact, list.data, n);
		exact = realloc(exact, n ? n : 1);
		ldcache_walk(exact, n, count_libraries, &out);
		free(exact);
	}
	buf_free(&list);
	buf_free(&out);
}

/* ---- functions of the kernel ---- */

/* More than any kernel has, and two that have the same name. Pairs of all of them are too many. */
static void test_many_functions(void **state)
{
	const size_t n = 400000;
	char path[] = "/tmp/test_probe_parts.XXXXXX";
	FILE *file = fdopen(mkstemp(path), "w");
	struct traceable any = {0};
	struct spur_error err = {0};
	struct ksyms found = {0};
	struct arena arena;

	assert_non_null(file);
	for (size_t i = 0; i < n; i++)
		fprintf(file, "%016zx t function_of_some_length_%zu\n", 4096 + i,
			i == n - 1 ? 5 : i);
	fclose(file);
	arena_init(&arena, 256 << 20);
	assert_int_equal(ksyms_find(path, NULL, "*", n, &any, &arena, &found, NULL, &err), 0);
	unlink(path);
	assert_int_equal(found.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(found.at[i].repeated, i == 5 || i == n - 1);
	vec_free(&found);
	arena_free(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_functions), cmocka_unit_test(test_places_by_convention),
		cmocka_unit_test(test_registers),      cmocka_unit_test(test_usdt_arguments),
		cmocka_unit_test(test_cxx_names),      cmocka_unit_test(test_event_names),
		cmocka_unit_test(test_nearest_names),  cmocka_unit_test(test_library_names),
		cmocka_unit_test(test_loaders_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
