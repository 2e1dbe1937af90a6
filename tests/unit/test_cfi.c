// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * src/symbols: call frame information. What is read from real programs is compared with what libdw
 * says about the same addresses; what compilers rarely write is made here.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/vec.h"
#include "symbols/cfi.h"

#ifdef HAVE_DW
#include <dwarf.h>
#include <elfutils/libdw.h>
#endif

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/* ---- sections made here ---- */

#define CIE(...) 0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0, __VA_ARGS__

/* sp + 8, the return address below; addresses are absolute, of 8 bytes. */
#define USUAL	      CIE(0x0c, 7, 8, 0x90, 1, 0, 0)
#define FDE(id, size) (size), 0, 0, 0, (id), 0, 0, 0
#define FROM(page)    0, (page), 0, 0, 0, 0, 0, 0
#define LONG(bytes)   (bytes), 0, 0, 0, 0, 0, 0, 0

struct made {
	const char *what;
	uint8_t bytes[120];
	const char *rows; /* "ADDR:KIND offset[ flags bp bx]", separated by ';' */
};

static const struct made made[] = {
	{"nothing", {0}, ""},
	{"a function",
	 {USUAL, FDE(28, 24), FROM(0x10), LONG(0x20), 0, 0x41, 0x0e, 16},
	 "1000:1 8;1001:1 16;1020:0 0"},
	{"an instruction that is cut off",
	 {USUAL, FDE(28, 28), FROM(0x10), LONG(0x20), 0, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d},
	 "1000:1 8;1001:1 16 1 -16 0;1004:0 0"},
	{"the frame pointer",
	 {USUAL, FDE(28, 36), FROM(0x10), LONG(0x20), 0, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6,
	  0x50, 0x0c, 7, 8},
	 "1000:1 8;1001:1 16 1 -16 0;1004:2 16 1 -16 0;1014:1 8 1 -16 0;1020:0 0"},
	{"a state that is remembered",
	 {USUAL, FDE(28, 28), FROM(0x10), LONG(0x20), 0, 0x0a, 0x44, 0x0e, 32, 0x44, 0x0b},
	 "1000:1 8;1004:1 32;1008:1 8;1020:0 0"},
	{"a state that nobody remembers",
	 {USUAL, FDE(28, 24), FROM(0x10), LONG(0x20), 0, 0x44, 0x0b, 0},
	 "1000:1 8;1004:0 0"},
	{"an instruction that nobody knows",
	 {USUAL, FDE(28, 24), FROM(0x10), LONG(0x20), 0, 0x44, 0x3f, 0},
	 "1000:1 8;1004:0 0"},
	{"the outermost frame",
	 {USUAL, FDE(28, 24), FROM(0x10), LONG(0x20), 0, 0x44, 0x07, 16},
	 "1000:1 8;1004:0 0"},
	{"an address behind the function",
	 {USUAL, FDE(28, 24), FROM(0x10), LONG(0x20), 0, 0x7f, 0x0e, 16},
	 "1000:1 8;1020:0 0"},
	{"a function of no length", {USUAL, FDE(28, 20), FROM(0x10), LONG(0)}, ""},
	{"a function that was left out", {USUAL, FDE(28, 20), FROM(0), LONG(0x20)}, ""},
	{"a stack that is aligned",
	 {USUAL, FDE(28, 32), FROM(0x10), LONG(0x20), 0, 0x41, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6,
	  2, 0x76, 0},
	 "1000:1 8;1001:4 -8 2 0 0;1020:0 0"},
	{"an expression that nobody knows",
	 {USUAL, FDE(28, 28), FROM(0x10), LONG(0x20), 0, 0x41, 0x0f, 3, 0x77, 0x78, 0x06, 0},
	 "1000:1 8;1001:0 0"},
	{"a table of procedures",
	 {USUAL, FDE(28, 36), FROM(0x10), LONG(0x20), 0, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
	  0x3b, 0x2a, 0x33, 0x24, 0x22, 0},
	 "1000:5 11;1020:0 0"},
	{"a signal's frame",
	 {0x14, 0, 0,	 0, 0, 0,    0, 0, 1,		'z',	    'R',	'S', 0, 1, 0x78, 16,
	  1,	0, 0x0c, 7, 8, 0x90, 1, 0, FDE(28, 24), FROM(0x10), LONG(0x20), 0,   0, 0, 0},
	 "1000:6 0;1020:0 0"},
	{"a CIE that is not there", {USUAL, FDE(99, 24), FROM(0x10), LONG(0x20), 0, 0, 0, 0}, ""},
	{"a CIE that is none", {USUAL, FDE(20, 24), FROM(0x10), LONG(0x20), 0, 0, 0, 0}, ""},
	{"a record that is too long", {USUAL, 0xff, 0xff, 0, 0, 28, 0, 0, 0}, ""},
	{"a length of 64 bits", {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, ""},
};

static void put_rows(const struct cfi_rows *rows, struct buf *to)
{
	for (size_t i = 0; i < rows->n; i++) {
		const struct cfi_rule *r = &rows->at[i].rule;

		buf_printf(to, "%s%llx:%u %d", i ? ";" : "", (unsigned long long)rows->at[i].addr,
			   r->kind, r->offset);
		if (r->flags)
			buf_printf(to, " %u %d %d", r->flags, r->bp, r->bx);
	}
}

static void test_made(void **state)
{
	struct buf text;

	buf_init(&text, 4096);
	for (size_t i = 0; i < ARRAY_SIZE(made); i++) {
		struct cfi_rows rows = {0};

		buf_reset(&text);
		assert_true(cfi_parse(cursor_over(made[i].bytes, sizeof(made[i].bytes), false),
				      0x400000, &rows));
		put_rows(&rows, &text);
		if (strcmp(buf_str(&text), made[i].rows) != 0)
			fail_msg("%s: %s", made[i].what, buf_str(&text));
		vec_free(&rows);
	}
	buf_free(&text);
}

/* ---- real programs ---- */

#ifdef HAVE_DW

enum { BX = 3, BP = 6, SP = 7, RA = 16 };

static unsigned int breg(const Dwarf_Op *op, int64_t *offset)
{
	if (op->atom == DW_OP_bregx) {
		*offset = (int64_t)op->number2;
		return (unsigned int)op->number;
	}
	*offset = (int64_t)op->number;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31 ? op->atom - DW_OP_breg0 : 99;
}

/* Where libdw has a register: by bp, by the CFA, the same, lost, or else. */
enum { BY_CFA = 1, BY_BP = 2, SAME, LOST, ELSE };

static int place_of(Dwarf_Frame *frame, int reg, int64_t *offset)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, memory, &ops, &n))
		return ELSE;
	if (!n)
		return ops ? LOST : SAME;
	*offset = 0;
	if (ops[0].atom == DW_OP_call_frame_cfa) {
		if (n == 2 && ops[1].atom == DW_OP_plus_uconst)
			*offset = (int64_t)ops[1].number;
		return n <= 2 ? BY_CFA : ELSE;
	}
	return n == 1 && breg(&ops[0], offset) == BP ? BY_BP : ELSE;
}

static bool same_place(Dwarf_Frame *frame, int reg, unsigned int flags, int16_t at)
{
	int64_t offset = 0;
	const int where = place_of(frame, reg, &offset);

	if (!flags)
		return where == SAME || where == LOST;
	return where == (int)flags && offset == at;
}

/* Whether a row says what libdw does. */
static bool same(Dwarf_Frame *frame, const struct cfi_rule *r)
{
	static const unsigned int regs[] = {[CFI_SP] = SP, [CFI_BP] = BP, [CFI_BX] = BX};
	int64_t offset = 0, ra = 0;
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return r->kind == CFI_END;
	if (r->kind == CFI_END)
		return place_of(frame, RA, &ra) != BY_CFA || n > 1 ||
		       (breg(ops, &offset) != SP && breg(ops, &offset) != BP &&
			breg(ops, &offset) != BX);
	if (r->kind == CFI_SIGNAL) /* glibc has all that as expressions */
		return n > 1 && breg(ops, &offset) == SP && offset == 160;
	if (r->kind == CFI_PLT) {
		if (n != 9 || breg(ops, &offset) != SP || offset != 8 ||
		    ops[4].atom != DW_OP_lit0 + (unsigned int)r->offset)
			return false;
	} else if (r->kind == CFI_DEREF) {
		if (n != 2 || breg(ops, &offset) != BP || ops[1].atom != DW_OP_deref)
			return false;
	} else if (n != 1 || breg(ops, &offset) != regs[r->kind]) {
		return false;
	}
	return (r->kind == CFI_PLT || offset == r->offset) && place_of(frame, RA, &ra) == BY_CFA &&
	       ra == -8 && same_place(frame, BP, r->flags & 3, r->bp) &&
	       same_place(frame, BX, r->flags >> 2, r->bx);
}

static void compare(const char *path)
{
	struct cfi_rows rows = {0};
	size_t known = 0, wrong = 0;
	struct binary *b;
	Dwarf_CFI *cfi;
	Elf *elf;
	int fd;

	if (binary_open(path, &b, NULL)) {
		print_message("%s is not here\n", path);
		return;
	}
	assert_int_equal(cfi_read(b, &rows, NULL), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	cfi = dwarf_getcfi_elf(elf);
	assert_non_null(cfi);
	for (size_t i = 0; i < rows.n; i++) {
		const struct cfi_row *row = &rows.at[i];
		Dwarf_Frame *frame = NULL;

		assert_true(!i || row[-1].addr < row->addr);
		if (dwarf_cfi_addrframe(cfi, row->addr, &frame)) {
			wrong += row->rule.kind != CFI_END;
			continue;
		}
		known += row->rule.kind != CFI_END;
		if (!same(frame, &row->rule) && !wrong++)
			print_message("%s: %llx: kind %u, offset %d, flags %u, bp %d, bx %d\n",
				      path, (unsigned long long)row->addr, row->rule.kind,
				      row->rule.offset, row->rule.flags, row->rule.bp,
				      row->rule.bx);
		free(frame);
	}
	print_message("%s: %zu rows, %zu known, %zu wrong\n", path, rows.n, known, wrong);
	assert_int_equal(wrong, 0);
	assert_true(known > rows.n / 2);
	vec_free(&rows);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	binary_close(b);
}

static void test_real(void **state)
{
	static const char *const paths[] = {
		"/bin/bash",
		"/bin/sh",
		"/usr/bin/python3",
		"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
		"/lib64/ld-linux-x86-64.so.2",
		"/proc/self/exe",
	};
	Dl_info libc;

#ifndef __x86_64__
	skip();
#endif
	assert_true(dladdr((void *)(uintptr_t)qsort, &libc));
	compare(libc.dli_fname);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		compare(paths[i]);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),
#ifdef HAVE_DW
		cmocka_unit_test(test_real),
#endif
	};

	return cmocka_run_group_tests_name("cfi", tests, NULL, NULL);
}
