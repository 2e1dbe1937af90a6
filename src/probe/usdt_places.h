/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the arguments of a USDT probe are in the context of a BPF program: as usdt_args() of usdt.h
 * reads them, and also elements of arrays, which a program can read and the kernel's own probes
 * cannot.
 */
#ifndef PROBE_USDT_PLACES_H
#define PROBE_USDT_PLACES_H

#include "probe/probes.h"
#include "probe/regs.h"
#include "probe/usdt.h"

enum usdt_where {
	USDT_NOWHERE,  /* `why` */
	USDT_CONSTANT, /* it is `offset` */
	USDT_REGISTER, /* the low bytes of the register */
	USDT_MEMORY,   /* in the process, at base + offset */
	USDT_INDEXED,  /* in the process, at base + index * scale + offset; base may be -1: none */
};

struct usdt_place {
	enum usdt_where where;
	int base, index; /* offsets of registers in the context, as of regs.h */
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
