/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the numbers in system calls are called; event/pretty.h prints with it.
 *
 *	pretty/numbers.c	system calls by number, per architecture (generated)
 *	pretty/calls.c		system calls by name: their arguments, and what kind each one is
 *	pretty/names.h		names of flags and enumerations, one set for each kind
 *	pretty/arch.c		architectures: which of the above hold for a machine
 *	pretty/value.c		one value in words; errors
 *
 * All of it is constant data; a decoder makes the sets of its machine from their texts.
 */
#ifndef EVENT_PRETTY_TABLES_H
#define EVENT_PRETTY_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

#define PRETTY_ARGS 6

/* ---- names ------------------------------------------------------------------------------- */

/*
 * One name. It holds for a value v when (v & mask) == value. A flag's mask is its value; the names
 * of a field of bits share the field's mask; a plain enumeration has all bits in its mask.
 */
struct named {
	uint32_t value;
	uint32_t mask;
	const char *name; /* not NUL-terminated */
	uint32_t len;
};

enum name_set_flags {
	SET_WIDE = 1 << 0,   /* a long: its upper half counts, elsewhere that is garbage */
	SET_NUMBER = 1 << 1, /* what has no name is shown in decimal */
	SET_OCTAL = 1 << 2,  /* … in octal: permissions among flags */
	SET_ABI = 1 << 3,    /* numbers differ between architectures: an unknown machine has none */
};

/* All names of a kind, in the order in which they are tried; n is 0 where nothing is known. */
struct name_set {
	struct named *at;
	uint16_t n;
	uint16_t flags; /* enum name_set_flags */
};

/* ---- kinds of arguments ------------------------------------------------------------------ */

enum arg_kind {
	A_NONE,	       /* nothing known: by the type that the format says, else hexadecimal */
	A_HEX,	       /* a word */
	A_INT,	       /* decimal, 32 bits */
	A_UINT,	       /* … unsigned */
	A_LONG,	       /* decimal, a word */
	A_SIZE,	       /* … unsigned */
	A_PTR,	       /* an address, or NULL */
	A_STR,	       /* the address of a string */
	A_BUF,	       /* the address of bytes; the argument after it says how many */
	A_FD,	       /* a file descriptor */
	A_DFD,	       /* a folder's, or AT_FDCWD */
	A_ID,	       /* a user or group, or -1 */
	A_OCTAL,       /* permissions */
	A_CREATE_MODE, /* … of a file that the flags before it say to create */
	A_DEV,	       /* a device number */
	A_SIGNAL,
	A_CLOCK,     /* CLOCK_ID, or the clock of a process or file */
	A_IOCTL,     /* IOCTL_CMD, or what the number is made of */
	A_PROTOCOL,  /* of a socket; its family is two arguments before */
	A_SOCKOPT,   /* depends on the level before it */
	A_FCNTL_ARG, /* depends on the command before it */
	A_PRCTL_ARG, /* depends on the option before it */
	A_FIRST_SET,

	A_BEFORE_SETS = A_FIRST_SET - 1,
#define SET(kind, how, text) A_##kind,
#define VARIANT(kind, on, text)
#include "event/pretty/names.h"
	A_END,
};

#define PRETTY_NR_SETS (A_END - A_FIRST_SET)

/* ---- system calls ------------------------------------------------------------------------ */

enum pretty_arch_bit {
	ON_X86_64 = 1 << 0,
	ON_I386 = 1 << 1,
	ON_ARM64 = 1 << 2,
	ON_RISCV64 = 1 << 3,
	ON_LOONGARCH64 = 1 << 4,
	ON_ARM = 1 << 5,
	ON_S390X = 1 << 6,
	ON_PPC64 = 1 << 7,
};

struct call_arg {
	const char *name;
	uint8_t kind; /* enum arg_kind */
};

/*
 * The arguments of some system calls, with the names the kernel gives them. A call that differs
 * between architectures has several rows, the one for all the rest last.
 */
struct call_spec {
	const char *name;
	struct call_arg args[PRETTY_ARGS]; /* ends at the first without a name */
	uint8_t ret;			   /* enum arg_kind; A_NONE: a number */
	uint8_t on;			   /* enum pretty_arch_bit; 0: everywhere else */
	const char *also; /* words: more calls and other names, of the kernel or of old tables */
};

/* A row's arguments: pairs of a name and a kind without its A_. */
#define ARGS1(a, ka)		   .args = {{#a, A_##ka}}
#define ARGS2(a, ka, b, kb)	   .args = {{#a, A_##ka}, {#b, A_##kb}}
#define ARGS3(a, ka, b, kb, c, kc) .args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}}
#define ARGS4(a, ka, b, kb, c, kc, d, kd)                                                          \
	.args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}, {#d, A_##kd}}
#define ARGS5(a, ka, b, kb, c, kc, d, kd, e, ke)                                                   \
	.args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}, {#d, A_##kd}, {#e, A_##ke}}
#define ARGS6(a, ka, b, kb, c, kc, d, kd, e, ke, f, kf)                                            \
	.args = {{#a, A_##ka}, {#b, A_##kb}, {#c, A_##kc}, {#d, A_##kd}, {#e, A_##ke}, {#f, A_##kf}}

/* All of them; the last row has no name. */
extern const struct call_spec pretty_calls[];

/* The arguments of a call (under one of its names) on an architecture, or NULL. */
const struct call_spec *pretty_call_find(const char *name, size_t len, uint32_t arch_bit);

/* ---- architectures ----------------------------------------------------------------------- */

extern const char pretty_numbers_x86_64[];
extern const char pretty_numbers_i386[];
extern const char pretty_numbers_generic[];
extern const char pretty_numbers_arm[];
extern const char pretty_numbers_s390x[];
extern const char pretty_numbers_ppc64[];
extern const char pretty_numbers_x32[];
extern const char pretty_numbers_common[];

struct pretty_arch {
	const char *machines;	/* words; a final * stands for any rest */
	const char *numbers[3]; /* texts as in pretty/numbers.c */
	uint32_t bit;		/* enum pretty_arch_bit */
	uint32_t abi_bit;	/* of a call's number that is no part of it, or 0 */
	bool plain_ioctl;	/* ioctl numbers are put together as on x86 */
};

/* The architecture that a uname text names, or NULL. */
const struct pretty_arch *pretty_arch_find(const char *machine);

/*
 * Fills sets[kind - A_FIRST_SET] with the architecture's names, whose memory is the arena's; false
 * without memory. NULL stands for an unknown architecture.
 */
bool pretty_sets_make(const struct pretty_arch *arch, struct arena *arena,
		      struct name_set sets[PRETTY_NR_SETS]);

/*
 * Walks over the architecture's calls: false at the end, else the next name and number. The walk
 * starts as {.arch = arch}.
 */
struct arch_walk {
	const struct pretty_arch *arch;
	const char *pos;
	unsigned int text;
	uint32_t nr;
	const char *name; /* not NUL-terminated */
	size_t len;
};

bool pretty_arch_next_call(struct arch_walk *w);

/* ---- errors and signals ------------------------------------------------------------------ */

struct error_name {
	const char *name;
	const char *text;
};

/* The name of an error, or NULL. */
const struct error_name *pretty_errno(unsigned int code, bool known_arch);

/* The name of signal 1 … 31, or NULL. */
const char *pretty_signal(unsigned int sig);

/* The name of a si_code, which depends on the signal, or NULL. */
const struct named *pretty_signal_code(const struct name_set *sets, unsigned int sig, int32_t code);

/* ---- values ------------------------------------------------------------------------------ */

/* What the printers of values need to know about the call. */
struct value_context {
	const struct name_set *sets;
	const struct pretty_arch *arch;
	const uint64_t *values; /* of all arguments */
	unsigned int i;		/* the one to print */
	unsigned int size;	/* its bytes: 4 or 8 */
};

/* False when what the other arguments say makes this one meaningless. */
bool pretty_value_matters(const struct value_context *c, uint8_t kind);

void pretty_value_print(const struct value_context *c, uint8_t kind, struct buf *out);

/* What a call returned; an error with its name. */
void pretty_result_print(const struct value_context *c, uint8_t kind, struct buf *out);

/* Names for a value from a set. */
void pretty_names_print(const struct name_set *set, uint64_t v, struct buf *out);

void pretty_signal_print(uint64_t sig, bool known_arch, struct buf *out);

/* Text in quotes, and text without, with everything that is not printable escaped. */
void pretty_text_quoted(const uint8_t *p, size_t n, struct buf *out);
void pretty_text_print(const uint8_t *p, size_t n, struct buf *out);

#endif
