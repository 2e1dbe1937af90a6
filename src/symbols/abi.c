// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tables of registers, and the rules that assign parameters to them.
 *
 * The rules are those of the psABI documents as far as the kernel can fetch the result: integer
 * registers and the stack. A parameter in a floating point register has no place. If a rule is not
 * implemented, the parameter and all that follow have no place either, rather than a wrong one.
 */
#include "symbols/abi.h"

#include <elf.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/array.h"

/* Not in every elf.h. */
#ifndef EM_RISCV
#define EM_RISCV 243
#endif

static const char *const x86_64_dwarf[] = {"ax", "dx", "cx",  "bx",  "si",  "di",  "bp",  "sp",
					   "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const i386_dwarf[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
static const char *const aarch64_dwarf[] = {"x0",  "x1",  "x2",	 "x3",	"x4",  "x5",  "x6",  "x7",
					    "x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
					    "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
					    "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};
static const char *const arm_dwarf[] = {"r0", "r1", "r2",  "r3", "r4", "r5", "r6", "r7",
					"r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc"};
static const char *const arm_compat_dwarf[] = {"x0", "x1", "x2",  "x3",	 "x4",	"x5",  "x6",  "x7",
					       "x8", "x9", "x10", "x11", "x12", "x13", "x14", "pc"};
static const char *const riscv_dwarf[] = {"",	"ra", "sp",  "gp",  "tp", "t0", "t1", "t2",
					  "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
					  "a6", "a7", "s2",  "s3",  "s4", "s5", "s6", "s7",
					  "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};

/* r8 to r15 have their names with a letter after them: see numbered(). */
static const struct abi_name x86_names[] = {
	{"rax", "ax"}, {"eax", "ax"}, {"al", "ax"},  {"rbx", "bx"}, {"ebx", "bx"}, {"bl", "bx"},
	{"rcx", "cx"}, {"ecx", "cx"}, {"cl", "cx"},  {"rdx", "dx"}, {"edx", "dx"}, {"dl", "dx"},
	{"rsi", "si"}, {"esi", "si"}, {"sil", "si"}, {"rdi", "di"}, {"edi", "di"}, {"dil", "di"},
	{"rbp", "bp"}, {"ebp", "bp"}, {"bpl", "bp"}, {"rsp", "sp"}, {"esp", "sp"}, {"spl", "sp"},
	{"rip", "ip"}, {"eip", "ip"}, {"ip", "ip"},  {NULL, NULL},
};
static const struct abi_name aarch64_names[] = {
	{"wsp", "sp"}, {"fp", "x29"}, {"lr", "x30"}, {"pc", "pc"},
	{"xzr", ""},   {"wzr", ""},   {NULL, NULL},
};
static const struct abi_name arm_names[] = {
	{"sb", "r9"},  {"sl", "r10"}, {"r11", "fp"}, {"r12", "ip"},
	{"r13", "sp"}, {"r14", "lr"}, {"r15", "pc"}, {NULL, NULL},
};
static const struct abi_name arm_compat_names[] = {
	{"sb", "x9"},  {"sl", "x10"}, {"fp", "x11"}, {"ip", "x12"},
	{"sp", "x13"}, {"lr", "x14"}, {NULL, NULL},
};
static const struct abi_name riscv_names[] = {{"fp", "s0"}, {"zero", ""}, {NULL, NULL}};

#define REGISTERS(table) .dwarf = (table), .nr_dwarf = ARRAY_SIZE(table)

static const struct abi x86_64 = {
	.machine = "x86_64",
	.word = 8,
	.entry = 8,
	.flags = ABI_RESULT_FIRST | ABI_ARG_VARIABLES,
	.sp = "sp",
	.args = {"di", "si", "dx", "cx", "r8", "r9"},
	REGISTERS(x86_64_dwarf),
	.names = x86_names,
};
static const struct abi i386 = {
	.machine = "i386",
	.word = 4,
	.entry = 4,
	.flags = ABI_RESULT_FIRST | ABI_SMALL_RESULTS | ABI_FLOATS_ON_STACK,
	.sp = "sp",
	REGISTERS(i386_dwarf),
	.names = x86_names,
};
/* The kernel itself is compiled with three parameters in registers. */
static const struct abi i386_kernel = {
	.machine = "i386",
	.word = 4,
	.entry = 4,
	.flags = ABI_NO_WIDE | ABI_ARG_VARIABLES,
	.sp = "sp",
	.args = {"ax", "dx", "cx"},
	REGISTERS(i386_dwarf),
	.names = x86_names,
};
static const struct abi aarch64 = {
	.machine = "aarch64",
	.word = 8,
	.entry = 0,
	.flags = ABI_EVEN_PAIRS | ABI_BIG_BY_REFERENCE | ABI_NO_BACKFILL | ABI_ARG_VARIABLES,
	.sp = "sp",
	.args = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"},
	REGISTERS(aarch64_dwarf),
	.names = aarch64_names,
};
#define ARM_FLAGS                                                                                  \
	(ABI_EVEN_PAIRS | ABI_SPLITS | ABI_RESULT_FIRST | ABI_SMALL_RESULTS | ABI_NO_BACKFILL |    \
	 ABI_UNSURE_FLOATS)
static const struct abi arm = {
	.machine = "arm",
	.word = 4,
	.entry = 0,
	.flags = ARM_FLAGS,
	.sp = "sp",
	.args = {"r0", "r1", "r2", "r3"},
	REGISTERS(arm_dwarf),
	.names = arm_names,
};
static const struct abi arm_compat = {
	.machine = "arm",
	.word = 4,
	.entry = 0,
	.flags = ARM_FLAGS,
	.sp = "x13",
	.args = {"x0", "x1", "x2", "x3"},
	REGISTERS(arm_compat_dwarf),
	.names = arm_compat_names,
};
#define RISCV(name, bytes)                                                                         \
	{                                                                                          \
		.machine = (name), .word = (bytes), .entry = 0,                                    \
		.flags = ABI_BIG_BY_REFERENCE | ABI_SPLITS | ABI_RESULT_FIRST | ABI_ARG_VARIABLES, \
		.sp = "sp", .args = {"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7"},              \
		REGISTERS(riscv_dwarf), .names = riscv_names                                       \
	}
static const struct abi riscv64 = RISCV("riscv64", 8), riscv32 = RISCV("riscv32", 4);

static const struct {
	const char *pattern; /* of uname's machine: the start of it */
	const struct abi *kernel;
} kernels[] = {
	{"x86_64", &x86_64},	{"i386", &i386_kernel}, {"i486", &i386_kernel},
	{"i586", &i386_kernel}, {"i686", &i386_kernel}, {"aarch64", &aarch64},
	{"arm", &arm},		{"riscv64", &riscv64},	{"riscv32", &riscv32},
};

static const struct {
	unsigned int machine;
	unsigned int bits;  /* 0: does not matter */
	const char *kernel; /* "": does not matter */
	const struct abi *abi;
} elves[] = {
	{EM_X86_64, 0, "", &x86_64},	     {EM_386, 0, "", &i386}, {EM_AARCH64, 64, "", &aarch64},
	{EM_ARM, 0, "aarch64", &arm_compat}, {EM_ARM, 0, "", &arm},  {EM_RISCV, 64, "", &riscv64},
	{EM_RISCV, 32, "", &riscv32},
};

const struct abi *abi_of_kernel(const char *machine)
{
	for (size_t i = 0; i < ARRAY_SIZE(kernels); i++)
		if (!strncmp(machine, kernels[i].pattern, strlen(kernels[i].pattern)))
			return kernels[i].kernel;
	return NULL;
}

const struct abi *abi_of_elf(unsigned int elf_machine, bool is_64, const char *kernel)
{
	for (size_t i = 0; i < ARRAY_SIZE(elves); i++) {
		if (elves[i].machine != elf_machine)
			continue;
		if (elves[i].bits && elves[i].bits != (is_64 ? 64u : 32u))
			continue;
		if (elves[i].kernel[0] && strcmp(elves[i].kernel, kernel))
			continue;
		return elves[i].abi;
	}
	return NULL;
}

/* ---- names ---- */

static bool same(const char *word, const char *name, size_t len)
{
	return strlen(word) == len && !memcmp(word, name, len);
}

/*
 * Registers that are a letter and a number, under other letters: r9d and r9b are r9, w3 is x3, a
 * 32-bit ARM program's r5 is x5.
 */
static size_t numbered(const struct abi *abi, const char *name, size_t len, char *to, size_t cap)
{
	const char *sp = abi->sp;

	if (len < 2 || len >= cap)
		return 0;
	memcpy(to, name, len);
	if (abi->names == x86_names) {
		if (name[0] != 'r' || !strchr("dwb", name[len - 1]))
			return 0;
		return len - 1;
	}
	if (name[0] == 'w' && abi->names == aarch64_names)
		to[0] = 'x';
	else if (name[0] == 'r' && !strcmp(sp, "x13"))
		to[0] = 'x';
	else
		return 0;
	return len;
}

static const char *kernel_register(const struct abi *abi, const char *name, size_t len)
{
	for (size_t i = 0; i < abi->nr_dwarf; i++)
		if (same(abi->dwarf[i], name, len))
			return abi->dwarf[i];
	return NULL;
}

const char *abi_register(const struct abi *abi, const char *name, size_t len)
{
	char other[8];
	const char *found;
	size_t n;

	for (const struct abi_name *a = abi->names; a->name; a++)
		if (same(a->name, name, len))
			return a->kernel;
	found = len ? kernel_register(abi, name, len) : NULL;
	if (found)
		return found;
	n = numbered(abi, name, len, other, sizeof(other));
	return n ? kernel_register(abi, other, n) : NULL;
}

/* ---- handing out ---- */

struct handout {
	const struct abi *abi;
	size_t regs, used;
	uint64_t stack;	     /* bytes of parameters on the stack */
	unsigned int floats; /* parameters in floating point registers */
	const char *lost;    /* why further parameters have no place */
};

#define FLOAT_REGISTERS 8
/* No parameter is larger; a hostile description may say otherwise. */
#define MAX_PARAM_SIZE (1u << 20)

static struct place nowhere(const char *why)
{
	return (struct place){.kind = PLACE_NOWHERE, .why = why};
}

static struct place on_stack(struct handout *h, size_t words, bool wide)
{
	const struct abi *abi = h->abi;
	struct place p = {.kind = PLACE_MEMORY, .reg = abi->sp};

	if (wide && abi->flags & ABI_EVEN_PAIRS)
		h->stack = (h->stack + 2 * abi->word - 1) / (2 * abi->word) * (2 * abi->word);
	p.offset = (int64_t)(abi->entry + h->stack);
	h->stack += words * abi->word;
	if (abi->flags & ABI_NO_BACKFILL)
		h->used = h->regs;
	return p;
}

/* Words that stay together: registers if there are enough, or else the stack. */
static struct place take(struct handout *h, size_t words, bool wide)
{
	const struct abi *abi = h->abi;
	struct place p = {.kind = PLACE_REGISTER};
	size_t left;

	if (wide && words > 1 && abi->flags & ABI_EVEN_PAIRS && h->used < h->regs)
		h->used += h->used % 2;
	left = h->used < h->regs ? h->regs - h->used : 0;
	if (left && words > left && abi->flags & ABI_SPLITS) {
		h->used = h->regs;
		h->stack += (words - left) * abi->word;
		return nowhere("is half in a register and half on the stack");
	}
	if (words > left)
		return on_stack(h, words, wide);
	p.reg = abi->args[h->used];
	if (words > 1)
		p.reg2 = abi->args[h->used + 1];
	h->used += words;
	if (words > 2)
		return nowhere("takes more than two registers");
	return p;
}

/* The kernel cannot fetch floating point registers, but they decide which others are used. */
static struct place take_float(struct handout *h, const struct type *t)
{
	const char *why = "is a floating point number";

	if (h->abi->flags & ABI_FLOATS_ON_STACK)
		on_stack(h, (t->size + h->abi->word - 1) / h->abi->word, false);
	else if (h->abi->flags & ABI_UNSURE_FLOATS || t->size > 8 || ++h->floats > FLOAT_REGISTERS)
		h->lost = "follows floating point numbers";
	return nowhere(why);
}

static struct place take_reference(struct handout *h)
{
	struct place p = take(h, 1, false);

	p.reference = true;
	return p;
}

static struct place take_struct(struct handout *h, const struct type *t)
{
	const struct abi *abi = h->abi;
	size_t words = (t->size + abi->word - 1) / abi->word;
	bool big = words > 2;
	uint64_t largest;
	enum type_words kind = type_words(t, &largest);

	if (t->by_reference)
		return take_reference(h);
	/*
	 * Without a rule to split it or to pass a pointer, a big parameter is copied to the stack.
	 */
	if (!h->regs || (big && !(abi->flags & (ABI_SPLITS | ABI_BIG_BY_REFERENCE))))
		return on_stack(h, words, largest > abi->word);
	if (kind == WORDS_FLOAT) {
		/* A few of the same kind travel in floating point registers, on some machines. */
		h->lost = "follows a struct of floating point numbers";
		return nowhere("is a struct of floating point numbers");
	}
	if (big && abi->flags & ABI_BIG_BY_REFERENCE)
		return take_reference(h);
	if (kind != WORDS_INTEGER) {
		h->lost = "follows a struct";
		return nowhere("is a struct of mixed or unknown members");
	}
	return take(h, words, largest > abi->word);
}

static struct place place_one(struct handout *h, const struct type *t)
{
	const struct abi *abi = h->abi;
	size_t words = t->size ? (t->size + abi->word - 1) / abi->word : 1;

	if (h->lost)
		return nowhere(h->lost);
	if (t->size > MAX_PARAM_SIZE || (words > 1 && abi->flags & ABI_NO_WIDE)) {
		h->lost = "follows a parameter that is wider than a register";
		return nowhere("is wider than a register");
	}
	switch (t->kind) {
	case TYPE_FLOAT: return take_float(h, t);
	case TYPE_STRUCT: return take_struct(h, t);
	case TYPE_ARRAY: return take_reference(h);
	default: return take(h, words, words > 1);
	}
}

static struct handout handout_new(const struct abi *abi)
{
	struct handout h = {.abi = abi};

	while (h.regs < ABI_MAX_ARGS && abi->args[h.regs])
		h.regs++;
	return h;
}

static bool returned_in_memory(const struct abi *abi, const struct type *ret)
{
	uint64_t most = abi->flags & ABI_SMALL_RESULTS ? abi->word : 2 * abi->word;

	if (ret->kind != TYPE_STRUCT)
		return false;
	return ret->by_reference || ret->size > most || !abi->args[0];
}

struct place abi_word(const struct abi *abi, size_t number)
{
	struct handout h = handout_new(abi);

	if (number < h.regs)
		return (struct place){.kind = PLACE_REGISTER, .reg = abi->args[number]};
	h.stack = (number - h.regs) * abi->word;
	return on_stack(&h, 1, false);
}

/*
 * Some compilers say of a parameter on the stack that it is in the register they load it into, from
 * the function's first instruction on, when that has not yet been done.
 */
static bool loaded_later(const struct abi *abi, const struct place *said, const struct place *at)
{
	return abi && abi->args[0] && said->kind == PLACE_REGISTER && at->kind == PLACE_MEMORY;
}

void abi_place(const struct abi *abi, struct proto *p)
{
	struct handout h;

	if (abi) {
		h = handout_new(abi);
		if (abi->flags & ABI_RESULT_FIRST && returned_in_memory(abi, &p->ret))
			take(&h, 1, false);
	}
	for (size_t i = 0; i < p->n; i++) {
		struct place at = abi ? place_one(&h, &p->at[i].type)
				      : nowhere("is passed in a way not known for this machine");

		if (p->at[i].place.kind == PLACE_BY_ABI ||
		    (!p->certain && loaded_later(abi, &p->at[i].place, &at)))
			p->at[i].place = at;
	}
}

/* ---- registers in the context of a program ---- */

/* x86-64: struct pt_regs. */
static const struct reg_name x86_64_context[] = {
	{"r15", 0},	{"r14", 8},  {"r13", 16}, {"r12", 24},	    {"bp", 32},	 {"bx", 40},
	{"r11", 48},	{"r10", 56}, {"r9", 64},  {"r8", 72},	    {"ax", 80},	 {"cx", 88},
	{"dx", 96},	{"si", 104}, {"di", 112}, {"orig_ax", 120}, {"ip", 128}, {"cs", 136},
	{"flags", 144}, {"sp", 152}, {"ss", 160}, {NULL, 0},
};

static const struct regs x86_64_regs = {
	.machine = "x86_64",
	.args = {112, 104, 96, 88, 72, 64, -1, -1},
	.retval = 80,
	.syscall = 120,
	.mode = 136, /* cs is 0x23 or 0x33 */
	.mode_bit = 0x10,
	.sp = 152,
	.ip = 128,
	.stack_args = 8,
	.names = x86_64_context,
};

/* arm64: struct user_pt_regs. */
#define X(n)                                                                                       \
	{                                                                                          \
		"x" #n, 8 * (n)                                                                    \
	}

static const struct reg_name aarch64_context[] = {
	X(0),	     X(1),
	X(2),	     X(3),
	X(4),	     X(5),
	X(6),	     X(7),
	X(8),	     X(9),
	X(10),	     X(11),
	X(12),	     X(13),
	X(14),	     X(15),
	X(16),	     X(17),
	X(18),	     X(19),
	X(20),	     X(21),
	X(22),	     X(23),
	X(24),	     X(25),
	X(26),	     X(27),
	X(28),	     X(29),
	X(30),	     {"sp", 248},
	{"pc", 256}, {"pstate", 264},
	{NULL, 0},
};

static const struct regs aarch64_regs = {
	.machine = "aarch64",
	.args = {0, 8, 16, 24, 32, 40, 48, 56},
	.retval = 0,
	.syscall = 280,
	.mode = 264, /* pstate */
	.mode_bit = 0x10,
	.mode_set = true,
	.sp = 248,
	.ip = 256,
	.stack_args = 0,
	.names = aarch64_context,
};

static const struct regs *const contexts[] = {&x86_64_regs, &aarch64_regs};

const struct regs *regs_of(const char *machine)
{
	struct utsname u = {0};

	if (!machine && !uname(&u))
		machine = u.machine;
	for (size_t i = 0; machine && i < ARRAY_SIZE(contexts); i++)
		if (!strcmp(contexts[i]->machine, machine))
			return contexts[i];
	return NULL;
}

int regs_named(const struct regs *r, const char *name)
{
	for (const struct reg_name *n = r->names; n->name; n++) {
		if (!strcmp(n->name, name))
			return n->offset;
		/* bpftrace calls those of arm64 r0 to r30. */
		if (n->name[0] == 'x' && name[0] == 'r' && !strcmp(n->name + 1, name + 1))
			return n->offset;
	}
	return -1;
}
