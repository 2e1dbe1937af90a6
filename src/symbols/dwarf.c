// SPDX-License-Identifier: GPL-2.0-or-later
/* DWARF through libdw: types, functions, and where the parameters of these are. */
#include "symbols/dwarf.h"

#ifdef HAVE_DW

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/debug.h"

/* ---- types ---- */

/* A type's id is the address of a copy of its entry (Dwarf_Die), in `dies`. */

#define MAX_STEPS   32 /* typedefs and qualifiers in front of a type */
#define MAX_CLASSES 8  /* depth of bases and members */
#define MAX_LOOKS   10000

bool debug_attribute(Dwarf_Die *die, unsigned int name, Dwarf_Word *value)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, value);
}

/* A reference to a type in a unit of its own (-fdebug-types-section) is followed. */
static bool type_die(Dwarf_Die *of, Dwarf_Die *type)
{
	Dwarf_Attribute attr;
	Dwarf_Die whole;

	if (!dwarf_attr_integrate(of, DW_AT_type, &attr) || !dwarf_formref_die(&attr, type))
		return false;
	if (dwarf_attr(type, DW_AT_signature, &attr) && dwarf_formref_die(&attr, &whole))
		*type = whole;
	return true;
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type;
}

static bool is_class(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type;
}

/* The type without qualifiers and other names; false for void, or when there are too many. */
static bool plain_die(Dwarf_Die *of, Dwarf_Die *type)
{
	Dwarf_Die next = *of;

	for (unsigned int i = 0; i < MAX_STEPS; i++) {
		if (!type_die(&next, type))
			return false;
		if (!is_qualifier(dwarf_tag(type)))
			return true;
		next = *type;
	}
	return false;
}

static void base_type(Dwarf_Die *die, struct type *t)
{
	const char *name = dwarf_diename(die);
	Dwarf_Word encoding = 0;

	debug_attribute(die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_float: t->kind = TYPE_FLOAT; return;
	case DW_ATE_signed:
	case DW_ATE_signed_char: t->is_signed = true; break;
	case DW_ATE_boolean: t->is_bool = true; break;
	case DW_ATE_unsigned:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF: break;
	default: return;
	}
	t->kind = TYPE_INTEGER;
	t->is_char = t->size == 1 && name && !strcmp(name, "char");
}

/* Whether an enum may be negative: by the type below it, which C has only sometimes. */
static bool enum_is_signed(Dwarf_Die *die)
{
	Dwarf_Die below;
	Dwarf_Word encoding;

	return type_die(die, &below) && debug_attribute(&below, DW_AT_encoding, &encoding) &&
	       (encoding == DW_ATE_signed || encoding == DW_ATE_signed_char);
}

static uint64_t array_count(Dwarf_Die *die)
{
	uint64_t count = 1;
	bool any = false;
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return 0;
	for (unsigned int i = 0; i < MAX_STEPS; i++) {
		Dwarf_Word n = 0;

		if (dwarf_tag(&child) == DW_TAG_subrange_type) {
			if (debug_attribute(&child, DW_AT_upper_bound, &n))
				n++;
			else
				debug_attribute(&child, DW_AT_count, &n);
			any = true;
			if (__builtin_mul_overflow(count, n, &count))
				return 0;
		}
		if (dwarf_siblingof(&child, &child))
			break;
	}
	return any ? count : 0;
}

/* ~T(), T(const T &) or T(T &&), unless it is the compiler's default. */
static bool manages_copies(Dwarf_Die *method, const char *class_name)
{
	const char *name = dwarf_diename(method);
	Dwarf_Die param, type, target;
	Dwarf_Word defaulted = 0;

	if (!name || (debug_attribute(method, DW_AT_defaulted, &defaulted) &&
		      defaulted == DW_DEFAULTED_in_class))
		return false;
	if (*name == '~')
		return true;
	/* The second parameter; the first one is the object. */
	return class_name && !strcmp(name, class_name) && !dwarf_child(method, &param) &&
	       !dwarf_siblingof(&param, &param) && type_die(&param, &type) &&
	       (dwarf_tag(&type) == DW_TAG_reference_type ||
		dwarf_tag(&type) == DW_TAG_rvalue_reference_type) &&
	       plain_die(&type, &target) && dwarf_diename(&target) &&
	       !strcmp(dwarf_diename(&target), class_name);
}

/*
 * Objects of C++ that cannot simply be copied are passed as a pointer. Some compilers mark them;
 * for others the methods of the class, of its bases and of its members show it.
 */
static bool is_by_reference(Dwarf_Die *class, unsigned int depth, unsigned int *budget)
{
	const char *name = dwarf_diename(class);
	Dwarf_Word convention;
	Dwarf_Die child, type;

	if (debug_attribute(class, DW_AT_calling_convention, &convention))
		return convention == DW_CC_pass_by_reference;
	if (depth > MAX_CLASSES || dwarf_child(class, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (!*budget)
			return false;
		--*budget;
		if (tag == DW_TAG_subprogram && manages_copies(&child, name))
			return true;
		if ((tag == DW_TAG_member || tag == DW_TAG_inheritance) &&
		    plain_die(&child, &type) && is_class(dwarf_tag(&type)) &&
		    is_by_reference(&type, depth + 1, budget))
			return true;
	} while (!dwarf_siblingof(&child, &child));
	return false;
}

static void set_kind(Dwarf_Die *die, struct type *t)
{
	unsigned int budget = MAX_LOOKS;

	switch (dwarf_tag(die)) {
	case DW_TAG_base_type: base_type(die, t); break;
	case DW_TAG_enumeration_type:
		t->kind = TYPE_INTEGER;
		t->is_signed = enum_is_signed(die);
		t->is_enum = true;
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type: t->kind = TYPE_POINTER; break;
	case DW_TAG_array_type:
		t->kind = TYPE_ARRAY;
		t->count = array_count(die);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		t->kind = TYPE_STRUCT;
		t->is_union = dwarf_tag(die) == DW_TAG_union_type;
		t->by_reference = is_by_reference(die, 0, &budget);
		break;
	case DW_TAG_subroutine_type: t->kind = TYPE_FUNCTION; break;
	default: break;
	}
}

/* The view of a type that is neither a qualifier nor another name. */
static struct type type_view(struct debug *d, Dwarf_Die *die)
{
	struct type t = {.in = &d->types};
	Dwarf_Die *kept;
	Dwarf_Word size;

	if (debug_attribute(die, DW_AT_byte_size, &size))
		t.size = size;
	kept = arena_alloc(&d->dies, sizeof(*kept));
	if (!kept)
		return t;
	*kept = *die;
	t.id = (uint64_t)(uintptr_t)kept;
	set_kind(die, &t);
	return t;
}

/* The type of a parameter, member, pointer or function; void if there is none. */
static struct type debug_type(struct debug *d, Dwarf_Die *of)
{
	Dwarf_Die die;

	if (!plain_die(of, &die))
		return (struct type){.in = &d->types, .kind = TYPE_VOID};
	return type_view(d, &die);
}

static bool debug_target(const struct types *in, const struct type *t, struct type *to)
{
	struct debug *d = (struct debug *)in;

	if (!t->id)
		return false;
	*to = debug_type(d, (Dwarf_Die *)(uintptr_t)t->id);
	return true;
}

static void set_member(struct debug *d, Dwarf_Die *die, struct member *m)
{
	const char *name = dwarf_diename(die);
	Dwarf_Word bits = 0, at = 0, high, end;

	*m = (struct member){.name = name ? name : "", .type = debug_type(d, die)};
	debug_attribute(die, DW_AT_data_member_location, &at);
	m->offset = at;
	if (!debug_attribute(die, DW_AT_bit_size, &bits) || !bits || bits > 64)
		return;
	/* As of DWARF 4, or counted from the highest bit of the container before. */
	if (debug_attribute(die, DW_AT_data_bit_offset, &high)) {
		member_set_bits(m, high, (unsigned int)bits);
	} else if (debug_attribute(die, DW_AT_bit_offset, &high) && m->type.size <= 8 &&
		   !__builtin_add_overflow(high, bits, &end) && end <= m->type.size * 8) {
		m->bit = (unsigned int)(m->type.size * 8 - end);
		m->bits = (unsigned int)bits;
	}
}

/* A base class is a nameless member, as far as the layout is concerned. */
static bool is_member(Dwarf_Die *die)
{
	return dwarf_tag(die) == DW_TAG_member || dwarf_tag(die) == DW_TAG_inheritance;
}

static bool debug_member(const struct types *in, const struct type *t, size_t number,
			 struct member *m)
{
	struct debug *d = (struct debug *)in;
	size_t at = 0;
	Dwarf_Die die;

	if (!t->id)
		return false;
	if (d->last.type == t->id && d->last.number < number) {
		at = d->last.number + 1;
		if (dwarf_siblingof(&d->last.die, &die))
			return false;
	} else if (dwarf_child((Dwarf_Die *)(uintptr_t)t->id, &die)) {
		return false;
	}
	for (;;) {
		if (is_member(&die) && at++ == number)
			break;
		if (dwarf_siblingof(&die, &die))
			return false;
	}
	d->last.type = t->id;
	d->last.number = number;
	d->last.die = die;
	set_member(d, &die, m);
	return true;
}

static const char *debug_name(const struct types *in, const struct type *t)
{
	const char *name = t->id ? dwarf_diename((Dwarf_Die *)(uintptr_t)t->id) : NULL;

	return name ? name : "";
}

static bool debug_enumerator(const struct types *in, const struct type *t, size_t number,
			     struct enumerator *e)
{
	Dwarf_Attribute attr;
	Dwarf_Sword value;
	Dwarf_Die die;

	if (!t->id || dwarf_child((Dwarf_Die *)(uintptr_t)t->id, &die))
		return false;
	for (;;) {
		if (dwarf_tag(&die) == DW_TAG_enumerator && !number--)
			break;
		if (dwarf_siblingof(&die, &die))
			return false;
	}
	e->name = dwarf_diename(&die);
	if (!e->name || !dwarf_attr(&die, DW_AT_const_value, &attr) ||
	    dwarf_formsdata(&attr, &value))
		return false;
	e->value = value;
	return true;
}

static const struct types debug_types = {
	.target = debug_target,
	.member = debug_member,
	.name = debug_name,
	.enumerator = debug_enumerator,
};

/* ---- types by name ---- */

/* The tags that "struct x", "union x", "enum x" and "x" may have. */
static bool tag_fits(int tag, const char *prefix)
{
	switch (prefix[0]) {
	case 's': return is_class(tag);
	case 'u': return tag == DW_TAG_union_type;
	case 'e': return tag == DW_TAG_enumeration_type;
	default: return tag == DW_TAG_typedef || tag == DW_TAG_base_type || is_class(tag);
	}
}

/* "struct ", "union ", "enum " or "" at the beginning of a name. */
static const char *prefix_of(const char *name)
{
	static const char *const prefixes[] = {"struct ", "union ", "enum "};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return prefixes[i];
	return "";
}

static bool is_type_named(Dwarf_Die *die, const char *prefix, const char *name)
{
	const char *own;
	Dwarf_Word declaration = 0;

	if (!tag_fits(dwarf_tag(die), prefix))
		return false;
	own = dwarf_diename(die);
	return own && !strcmp(own, name) &&
	       !(debug_attribute(die, DW_AT_declaration, &declaration) && declaration);
}

static bool type_in_unit(struct debug *d, Dwarf_Die *unit, const char *prefix, const char *name,
			 struct type *t)
{
	Dwarf_Die die;

	if (dwarf_child(unit, &die))
		return false;
	do {
		if (!is_type_named(&die, prefix, name))
			continue;
		*t = dwarf_tag(&die) == DW_TAG_typedef ? debug_type(d, &die) : type_view(d, &die);
		return true;
	} while (!dwarf_siblingof(&die, &die));
	return false;
}

bool debug_type_named(struct debug *d, const char *name, struct type *t)
{
	const char *prefix = prefix_of(name);
	Dwarf_Die unit, within;
	Dwarf_CU *cu = NULL, *other;

	name += strlen(prefix);
	while (!dwarf_get_units(d->dw, cu, &cu, NULL, NULL, &unit, NULL)) {
		debug_split_unit(d, &unit);
		if (type_in_unit(d, &unit, prefix, name, t))
			return true;
		/* A file of its own has its types, too. */
		other = NULL;
		while (dwarf_cu_getdwarf(unit.cu) != d->dw &&
		       !dwarf_get_units(dwarf_cu_getdwarf(unit.cu), other, &other, NULL, NULL,
					&within, NULL))
			if (dwarf_tag(&within) == DW_TAG_type_unit &&
			    type_in_unit(d, &within, prefix, name, t))
				return true;
	}
	return false;
}

/* ---- functions and parameters ---- */

/*
 * At the entry of a function the debug information of an optimised program has the place of each
 * parameter, mostly a register. Without optimisation it has the place in the frame where the
 * parameter will be stored, which is too late for a probe; then the ABI is used.
 */

#define DIES_MEMORY (64u << 20)

/* ---- places ---- */

/* A place at which parameters of a function are wanted. */
struct spot {
	Dwarf_Die function;
	Dwarf_Addr addr;
	const struct abi *abi;
	bool is_cfa; /* offsets in the frame count from the stack pointer before the call */
	bool entry;  /* at the first instruction */
	bool by_abi; /* …and unknown places are those of the ABI */
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

/* The offset from a register or the frame; bregx has the register's number first. */
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

/* A parameter and the attribute with its place. */
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
		/* At the entry the caller's frame is complete, the function's own is not. */
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

/* ---- functions ---- */

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

/* ---- opening ---- */

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

bool debug_type_named(struct debug *d, const char *name, struct type *t)
{
	return false;
}

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
