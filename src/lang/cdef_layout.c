// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Where the members of a struct lie, as compilers for Linux lay them out: each at a multiple of its
 * alignment, bit fields one behind the other as long as they stay in one integer of their type.
 */
#include "lang/cdef_parts.h"

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static void take_align(struct clayout *l, uint64_t align)
{
	if (align > l->align)
		l->align = align;
}

/*
 * The smallest integer that holds the bits: in a packed struct one of their type may reach beyond
 * its end.
 */
static void pack_bits(struct member *m, uint64_t at, unsigned int width)
{
	m->offset = at / 8;
	m->bit = (unsigned int)(at % 8);
	m->bits = width;
	m->type.size = 1;
	while (m->bit + width > m->type.size * 8 && m->type.size < 8)
		m->type.size *= 2;
	/* Nine bytes are read by nobody. */
	if (m->bit + width > 64)
		m->bits = 64 - m->bit;
}

static bool place_bits(struct clayout *l, const struct type *t, uint64_t align, unsigned int width,
		       struct cmember *m)
{
	uint64_t container = t->size * 8, at = l->is_union ? 0 : l->bit;
	struct member place = {.type = *t};

	if (!width) {
		l->bit = round_up(l->bit, container);
		return true;
	}
	if (!l->attr.packed && at / container != (at + width - 1) / container)
		at = round_up(at, container);
	/* One without a name only makes room. */
	if (m->name[0])
		take_align(l, align);
	if (l->attr.packed)
		pack_bits(&place, at, width);
	else
		member_set_bits(&place, at, width);
	m->offset = place.offset;
	m->bit = place.bit;
	m->bits = place.bits;
	m->container = place.type.size;
	if (l->is_union) {
		if ((width + 7) / 8 > l->size)
			l->size = (width + 7) / 8;
	} else {
		l->bit = at + width;
	}
	return true;
}

bool clayout_member(struct clayout *l, const struct type *t, const struct cattributes *attr,
		    int bits, struct cmember *m)
{
	uint64_t align = l->attr.packed || attr->packed ? 1 : type_align(t), size = type_size(t);

	if (attr->aligned > align)
		align = attr->aligned;
	if (size > CDEF_MAX_SIZE || l->bit / 8 > CDEF_MAX_SIZE)
		return false;
	if (bits >= 0)
		return place_bits(l, t, align, (unsigned int)bits, m);
	take_align(l, align);
	if (l->is_union) {
		m->offset = 0;
		if (size > l->size)
			l->size = size;
		return true;
	}
	m->offset = round_up((l->bit + 7) / 8, align);
	if (m->offset + size > CDEF_MAX_SIZE)
		return false;
	l->bit = (m->offset + size) * 8;
	return true;
}

uint64_t clayout_end(struct clayout *l)
{
	uint64_t bytes = l->is_union ? l->size : (l->bit + 7) / 8;

	take_align(l, 1);
	take_align(l, l->attr.aligned);
	return round_up(bytes, l->align);
}
