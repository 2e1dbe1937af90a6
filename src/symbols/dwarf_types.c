// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types as DWARF describes them. A type's id is the address of its entry (Dwarf_Die), copied to
 * `dies`.
 */
#include "symbols/dwarf.h"

#ifdef HAVE_DW

#include <string.h>

#include "symbols/dwarf_parts.h"

#define MAX_STEPS   32 /* typedefs and qualifiers in front of a type */
#define MAX_CLASSES 8  /* of bases and members inside each other */
#define MAX_LOOKS   10000

bool debug_attribute(Dwarf_Die *die, unsigned int name, Dwarf_Word *value)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, value);
}

/* What stands for a type in a unit of its own (-fdebug-types-section) is replaced by that. */
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

/* ~T(), T(const T &) or T(T &&), unless the compiler would have made the same. */
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
 * Objects of C++ that cannot simply be copied are passed as a pointer. Some compilers say so, of
 * others only the methods tell, of the class, of its bases and of its members.
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

struct type debug_type(struct debug *d, Dwarf_Die *of)
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

/* A base class is a nameless member, as far as what lies where is concerned. */
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

const struct types debug_types = {
	.target = debug_target,
	.member = debug_member,
	.name = debug_name,
	.enumerator = debug_enumerator,
};

/* ---- types by name --------------------------------------------------------------------- */

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

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
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

#else /* HAVE_DW */

bool debug_type_named(struct debug *d, const char *name, struct type *t)
{
	return false;
}

#endif
