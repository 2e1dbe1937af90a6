// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * DWARF through libdw: functions, and where their parameters are.
 *
 * At a function's entry an optimised program says where each parameter is: in a register, mostly.
 * One that is not optimised says where the parameter will be once it has been stored in the frame,
 * which is too late for a probe; the ABI then tells.
 */
#include "symbols/dwarf.h"

#ifdef HAVE_DW

#include <stdlib.h>
#include <string.h>

#include "symbols/dwarf_parts.h"

#define DIES_MEMORY (64u << 20)

/* ---- places ---------------------------------------------------------------------------- */

/* Where the parameters of one function are looked for. */
struct spot {
	Dwarf_Die function;
	Dwarf_Addr addr;
	const struct abi *abi;
	bool is_cfa; /* offsets in the frame count from the stack pointer before the call */
	bool entry;  /* at the first instruction */
	bool by_abi; /* …and what is not said is where the ABI has it */
};

static struct place nowhere(const char *why)
{
	return (struct place){.kind = PLACE_NOWHERE, .why = why};
}

static struct place not_said(const struct spot *s)
{
	if (s->by_abi)
		return (struct place){.kind = PLACE_BY_ABI};
	return nowhere(s->entry ? "has been optimised away" : "cannot be found there");
}

static const char *register_name(const struct abi *abi, Dwarf_Word number)
{
	return number < abi->nr_dwarf && abi->dwarf[number][0] ? abi->dwarf[number] : NULL;
}

static const char *register_of(const struct abi *abi, const Dwarf_Op *op, unsigned int first,
			       unsigned int extended)
{
	if (op->atom >= first && op->atom < first + 32u)
		return register_name(abi, op->atom - first);
	return op->atom == extended ? register_name(abi, op->number) : NULL;
}

/* What is added to a register, or to where the frame is: bregx has the register's number first. */
static int64_t breg_offset(const Dwarf_Op *op)
{
	return (int64_t)(op->atom == DW_OP_bregx ? op->number2 : op->number);
}

static bool carries_params(const struct abi *abi, const char *reg)
{
	for (size_t i = 0; i < ABI_MAX_ARGS && abi->args[i]; i++)
		if (!strcmp(abi->args[i], reg))
			return true;
	return false;
}

static bool constant_of(const Dwarf_Op *op, int64_t *value)
{
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		*value = op->atom - DW_OP_lit0;
	else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts)
		*value = (int64_t)op->number;
	else
		return false;
	return true;
}

/* ---- values that are computed ---- */

/* A parameter and what says where it is. */
struct location {
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	unsigned int bits; /* of the parameter; 0: not a number of bits a register has */
};

/* To another type: one that has all bits of the parameter. */
static bool converts(struct location *l, const Dwarf_Op *op)
{
	Dwarf_Die type;
	Dwarf_Word size;

	if (op->atom != DW_OP_convert && op->atom != DW_OP_GNU_convert)
		return false;
	/* 0 is as wide as an address. */
	return !op->number ||
	       (!dwarf_getlocation_die(&l->attr, op, &type) &&
		debug_attribute(&type, DW_AT_byte_size, &size) && size >= l->bits / 8);
}

/* "& 0xff" and its like. */
static bool masks(const struct location *l, const Dwarf_Op *ops, size_t left)
{
	uint64_t all = l->bits < 64 ? (1ull << l->bits) - 1 : UINT64_MAX;
	int64_t mask;

	return left >= 2 && constant_of(&ops[0], &mask) && ops[1].atom == DW_OP_and &&
	       ((uint64_t)mask & all) == all;
}

/* "<< 24 >> 24" and its like. */
static bool shifts(const struct location *l, const Dwarf_Op *ops, size_t left, unsigned int word)
{
	int64_t up, down;

	return left >= 4 && constant_of(&ops[0], &up) && ops[1].atom == DW_OP_shl &&
	       constant_of(&ops[2], &down) &&
	       (ops[3].atom == DW_OP_shr || ops[3].atom == DW_OP_shra) && up == down && up >= 0 &&
	       up <= word && word - up >= l->bits;
}

/* Whether the lowest bits, as many as the parameter has, are what they were in the register. */
static bool only_narrows(const struct spot *s, struct location *l)
{
	size_t i = 1, end = l->n - 1;

	while (i < end && l->bits) {
		if (converts(l, &l->ops[i]))
			i++;
		else if (masks(l, &l->ops[i], end - i))
			i += 2;
		else if (shifts(l, &l->ops[i], end - i, s->abi->word * 8))
			i += 4;
		else
			return false;
	}
	return i == end;
}

/* A value that is computed: a constant, or what is in a register and then narrowed. */
static struct place computed(const struct spot *s, struct location *l)
{
	struct place p = {.kind = PLACE_REGISTER};
	const Dwarf_Op *ops = l->ops;
	size_t n = l->n;

	p.reg = register_of(s->abi, &ops[0], DW_OP_breg0, DW_OP_bregx);
	if (p.reg && !breg_offset(&ops[0]) && s->entry && carries_params(s->abi, p.reg) &&
	    only_narrows(s, l))
		return p;
	if (n == 2 && constant_of(&ops[0], &p.offset)) {
		p.kind = PLACE_CONSTANT;
		return p;
	}
	return nowhere("has been optimised away");
}

static struct place place_of_ops(const struct spot *s, struct location *l)
{
	struct place p = {.kind = PLACE_REGISTER};
	const Dwarf_Op *ops = l->ops;
	int64_t offset = breg_offset(&ops[0]);

	if (ops[l->n - 1].atom == DW_OP_stack_value)
		return computed(s, l);
	if (l->n > 1)
		return not_said(s); /* in pieces, or through a pointer in the frame */
	p.reg = register_of(s->abi, &ops[0], DW_OP_reg0, DW_OP_regx);
	if (p.reg)
		return p;
	p.kind = PLACE_MEMORY;
	p.offset = offset;
	p.reg = register_of(s->abi, &ops[0], DW_OP_breg0, DW_OP_bregx);
	if (p.reg && offset < INT32_MAX && offset > INT32_MIN &&
	    (!s->entry || carries_params(s->abi, p.reg)))
		return p;
	if (ops[0].atom == DW_OP_fbreg && s->entry) {
		/* In the caller's frame it has been from the start; in its own it is not yet. */
		if (!s->is_cfa || offset < 0 || offset > INT32_MAX)
			return not_said(s);
		p.reg = s->abi->sp;
		p.offset = offset + s->abi->entry;
		return p;
	}
	if (p.reg)
		return not_said(s);
	return nowhere("is not in an integer register");
}

static struct place param_place(const struct spot *s, Dwarf_Die *param, uint64_t size)
{
	struct location l = {.bits = size <= 8 ? (unsigned int)size * 8 : 0};

	if (!s->abi || !dwarf_attr_integrate(param, DW_AT_location, &l.attr) ||
	    dwarf_getlocation_addr(&l.attr, s->addr, &l.ops, &l.n, 1) != 1 || !l.n)
		return not_said(s);
	return place_of_ops(s, &l);
}

static bool frame_is_cfa(Dwarf_Die *function, Dwarf_Addr addr)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	return dwarf_attr_integrate(function, DW_AT_frame_base, &attr) &&
	       dwarf_getlocation_addr(&attr, addr, &ops, &n, 1) == 1 && n == 1 &&
	       ops[0].atom == DW_OP_call_frame_cfa;
}

/* ---- functions ------------------------------------------------------------------------- */

static int is_it(Dwarf_Die *die, void *arg)
{
	struct spot *s = arg;

	if (dwarf_haspc(die, s->addr) != 1)
		return DWARF_CB_OK;
	s->function = *die;
	return DWARF_CB_ABORT;
}

static bool find_function(struct debug *d, struct spot *s)
{
	Dwarf_Die unit;
	Dwarf_CU *cu = NULL;

	/* By the index of addresses, which some compilers do not write. */
	if (dwarf_addrdie(d->dw, s->addr, &unit)) {
		debug_split_unit(d, &unit);
		if (dwarf_getfuncs(&unit, is_it, s, 0) > 0)
			return true;
	}
	while (!dwarf_get_units(d->dw, cu, &cu, NULL, NULL, &unit, NULL)) {
		debug_split_unit(d, &unit);
		if (dwarf_tag(&unit) == DW_TAG_compile_unit &&
		    dwarf_getfuncs(&unit, is_it, s, 0) > 0)
			return true;
	}
	return false;
}

static bool add_params(struct debug *d, struct spot *s, struct arena *arena, struct proto *p)
{
	Dwarf_Die child;

	p->at = arena_array(arena, PROTO_MAX_PARAMS, sizeof(*p->at));
	if (!p->at)
		return false;
	if (dwarf_child(&s->function, &child))
		return true;
	do {
		struct param *param = &p->at[p->n];
		const char *name;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		name = dwarf_diename(&child);
		param->name = name ? name : "";
		param->type = debug_type(d, &child);
		param->place = param_place(s, &child, param->type.size);
		p->n++;
	} while (p->n < PROTO_MAX_PARAMS && !dwarf_siblingof(&child, &child));
	return true;
}

bool debug_function(struct debug *d, uint64_t addr, bool clone, const struct abi *abi,
		    struct arena *arena, struct proto *p)
{
	struct spot s = {.addr = addr, .abi = abi};
	Dwarf_Addr start;

	*p = (struct proto){0};
	if (!find_function(d, &s))
		return false;
	s.entry = !dwarf_entrypc(&s.function, &start) && start == addr;
	s.by_abi = s.entry && !clone;
	p->certain = !s.by_abi;
	s.is_cfa = abi && frame_is_cfa(&s.function, addr);
	p->ret = debug_type(d, &s.function);
	return add_params(d, &s, arena, p);
}

/* ---- opening --------------------------------------------------------------------------- */

struct debug *debug_open(const struct binary *b)
{
	struct debug *d;
	Dwarf *dw = dwarf_begin_elf(binary_debug_elf(b), DWARF_C_READ, NULL);

	if (!dw)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d) {
		dwarf_end(dw);
		return NULL;
	}
	d->types = debug_types;
	d->dw = dw;
	d->binary = b;
	arena_init(&d->dies, DIES_MEMORY);
	return d;
}

void debug_close(struct debug *d)
{
	if (!d)
		return;
	arena_free(&d->dies);
	dwarf_end(d->dw);
	debug_free_split(d);
	free(d);
}

const char *debug_missing(void)
{
	return "it has no debug information (compile with -g, or install it)";
}

#else /* HAVE_DW */

struct debug *debug_open(const struct binary *b)
{
	return NULL;
}

void debug_close(struct debug *d)
{
}

bool debug_function(struct debug *d, uint64_t addr, bool clone, const struct abi *abi,
		    struct arena *arena, struct proto *p)
{
	return false;
}

const char *debug_missing(void)
{
	return "this spur was built without libdw and cannot read debug information";
}

#endif
