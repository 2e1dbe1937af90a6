/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes that a program was built with: notes of type 3 and name "stapsdt".
 *
 *	content   address of the probe, address of .stapsdt.base when it was linked, address of its
 *	          semaphore or 0; provider, name and arguments as texts that end with a zero byte
 *
 * Addresses are as wide as the file's. When .stapsdt.base is elsewhere than the note says (the file
 * has been prelinked), the others have moved by as much. A probe with a semaphore only runs while
 * the semaphore is not 0; the kernel counts it up and down.
 */
#ifndef PROBE_USDT_H
#define PROBE_USDT_H

#include "base/cursor.h"
#include "probe/probes.h"
#include "symbols/abi.h"
#include "symbols/elf.h"

struct usdt_probe {
	const char *provider, *name, *args; /* in the file's memory */
	uint64_t addr;
	uint64_t semaphore; /* an address; 0: none */
};

/* Calls fn() for each probe of a program until it returns something else than 0. */
int usdt_each(const struct binary *b, int (*fn)(void *arg, const struct usdt_probe *p), void *arg);

/* Finds the address of a variable that an argument names. */
struct usdt_symbols {
	bool (*find)(void *arg, const char *name, size_t len, int64_t *offset);
	void *arg;
};

/*
 * The places of a probe's arguments, named arg1 …: "-4@%edi 8@-16(%rbp) 4@$5". What the kernel
 * cannot fetch is PLACE_NOWHERE. -ENOMEM.
 */
int usdt_args(const char *args, const struct abi *abi, const struct usdt_symbols *symbols,
	      struct arena *arena, struct proto *p);

/*
 * Where the arguments of a USDT probe are in the context of a BPF program: as usdt_args()
 * reads them, and also elements of arrays, which a program can read and the kernel's own probes
 * cannot.
 */

enum usdt_where {
	USDT_NOWHERE,  /* `why` */
	USDT_CONSTANT, /* it is `offset` */
	USDT_REGISTER, /* the low bytes of the register */
	USDT_MEMORY,   /* in the process, at base + offset */
	USDT_INDEXED,  /* in the process, at base + index * scale + offset; base may be -1: none */
};

struct usdt_place {
	enum usdt_where where;
	int base, index; /* offsets of registers in the context, as of struct regs */
	unsigned int scale;
	int64_t offset;
	unsigned int size; /* 1, 2, 4 or 8 bytes */
	bool is_signed;
	const char *why;
};

struct usdt_places {
	struct usdt_place *at; /* in the arena */
	size_t n;
};

/* The places of a target's arguments. -ENOENT and the like when its binary is gone. */
int usdt_places(const struct probe_target *t, struct arena *arena, struct usdt_places *out,
		struct spur_error *err);

/* The same of a text. address is the probe's, and what symbols find is an address. */
int usdt_places_of(const char *args, const struct abi *abi, const struct regs *regs,
		   const struct usdt_symbols *symbols, uint64_t address, struct arena *arena,
		   struct usdt_places *out);

#endif
