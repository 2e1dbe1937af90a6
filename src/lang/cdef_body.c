// SPDX-License-Identifier: GPL-2.0-or-later
/* What stands between the braces of a struct, a union and an enum. */
#include <string.h>

#include "base/vec.h"
#include "lang/cdef_parts.h"

/* ---- structs and unions ----------------------------------------------------------------- */

/* The members of the struct whose body is being read. */
struct body {
	struct clayout layout;
	struct {
		struct cmember *at;
		size_t n, cap;
	} members;
	struct map names; /* of the members, those of nameless structs inside among them */
};

/* Remembers a name; false when it is there already, or without memory. */
static bool new_name(struct cparser *p, struct body *b, const char *name)
{
	uint64_t key = hash_bytes(&p->d->seed, name, strlen(name));

	return !map_get(&b->names, key) && map_set(&b->names, key, (void *)(uintptr_t)1);
}

/* The names of a member: its own, or those of the struct it is. */
static bool new_names(struct cparser *p, struct body *b, const struct cmember *m, struct span at)
{
	const struct cnode *n = &p->d->nodes.at[m->node];

	if (m->name[0])
		return new_name(p, b, m->name) ||
		       cparse_fail(p, at, "'%s' is there already", m->name);
	for (size_t i = 0; i < n->n; i++)
		if (!new_names(p, b, &n->members[i], at))
			return false;
	return true;
}

static bool is_complete(const struct cdefs *d, uint32_t node)
{
	const struct cnode *n = &d->nodes.at[node];
	struct type t = cdef_view(d, node);

	if (n->kind == C_STRUCT || n->kind == C_UNION)
		return n->defined || (!n->open && t.size);
	/* An array without a length, at the end of a struct; or one of nothing. */
	if (n->kind == C_ARRAY && !n->count)
		return true;
	return type_size(&t) > 0;
}

static bool width_of(struct cparser *p, uint32_t node, int *bits)
{
	struct span at = p->tok.at;
	struct type t = cdef_view(p->d, node);
	int64_t n;

	if (!cparse_expr(p, &n))
		return false;
	if (t.kind != TYPE_INTEGER)
		return cparse_fail(p, at, "only integers have a number of bits");
	if (n < 0 || (uint64_t)n > t.size * 8)
		return cparse_fail(p, at, "there are no %lld bits in that type", (long long)n);
	*bits = (int)n;
	return true;
}

static bool add_member(struct cparser *p, struct body *b, uint32_t node, const char *name,
		       struct span at, const struct cattributes *attr, int bits)
{
	struct cmember m = {.name = name ? name : "", .node = node}, *kept;
	struct type t = cdef_view(p->d, node);

	if (t.kind == TYPE_FUNCTION || !is_complete(p->d, node))
		return cparse_fail(p, at, "nothing is known about the size of '%s'", m.name);
	if (name && bits == 0)
		return cparse_fail(p, at, "'%s' has no bits", name);
	if (!clayout_member(&b->layout, &t, attr, bits, &m))
		return cparse_fail(p, at, "the struct becomes too large");
	/* Bits without a name are room that nobody uses. */
	if (!name && bits >= 0)
		return true;
	if (!new_names(p, b, &m, at))
		return false;
	if (b->members.n >= CDEF_MAX_MEMBERS)
		return cparse_fail(p, at, "there are too many members");
	kept = vec_push(&b->members);
	if (!kept)
		return cparse_no_memory(p);
	*kept = m;
	return true;
}

/* One line of a struct's body. */
static bool member_line(struct cparser *p, struct body *b)
{
	struct cattributes common = {0};
	struct span at = p->tok.at;
	uint32_t base;

	if (!cparse_specifier(p, &base, &common))
		return false;
	if (cparse_is(p, ';')) {
		enum cnode_kind kind = p->d->nodes.at[base].kind;

		/* Without a name its members are those of the struct around it. */
		if ((kind == C_STRUCT || kind == C_UNION) && p->d->nodes.at[base].defined &&
		    !p->d->nodes.at[base].name[0] && !add_member(p, b, base, NULL, at, &common, -1))
			return false;
		cparse_next(p);
		return true;
	}
	do {
		struct cattributes attr = common;
		const char *name = NULL;
		uint32_t node = base;
		int bits = -1;

		at = p->tok.at;
		if (!cparse_is(p, ':') && !cparse_declarator(p, base, &node, &name, &at, &attr))
			return false;
		if (cparse_take(p, ':') && !width_of(p, node, &bits))
			return false;
		if (!cparse_qualifiers(p, &attr) || !add_member(p, b, node, name, at, &attr, bits))
			return false;
	} while (cparse_take(p, ','));
	/* bpftrace's C parser complains about a missing one only to itself. */
	return cparse_is(p, '}') || cparse_expect(p, ';', "behind the member");
}

static bool keep_members(struct cparser *p, uint32_t node, struct body *b)
{
	struct cnode *n = &p->d->nodes.at[node];
	size_t bytes = b->members.n * sizeof(*n->members);

	n->size = clayout_end(&b->layout);
	n->align = b->layout.align;
	n->n = b->members.n;
	n->members = arena_alloc(&p->d->arena, bytes ? bytes : 1);
	if (!n->members) {
		n->n = 0;
		return cparse_no_memory(p);
	}
	if (bytes)
		memcpy(n->members, b->members.at, bytes);
	return true;
}

bool cparse_struct_body(struct cparser *p, uint32_t node, struct cattributes *attr)
{
	struct body b = {.layout.is_union = p->d->nodes.at[node].kind == C_UNION};
	struct clexer start = p->lex;
	struct ctoken first = p->tok;
	bool ok = true;

	/* What stands behind the body says how it is laid out. */
	if (!cparse_skip_brackets(p) || !cparse_qualifiers(p, attr))
		return false;
	b.layout.attr = *attr;
	p->lex = start;
	p->tok = first;
	cparse_next(p);
	p->d->nodes.at[node].open = true;
	while (ok && !cparse_is(p, '}') && p->tok.kind != CT_END)
		ok = cparse_take(p, ';') || member_line(p, &b);
	p->d->nodes.at[node].open = false;
	ok = ok && cparse_expect(p, '}', "behind the members") && keep_members(p, node, &b);
	p->d->nodes.at[node].defined = ok;
	vec_free(&b.members);
	map_free(&b.names);
	return ok;
}

/* ---- enums ------------------------------------------------------------------------------ */

struct enum_body {
	struct {
		struct enumerator *at;
		size_t n, cap;
	} list;
	int64_t next;
	bool negative, wide;
};

static bool add_enumerator(struct cparser *p, struct enum_body *b, uint32_t node)
{
	struct span at = p->tok.at;
	const char *name = p->tok.kind == CT_NAME ? cparse_text(p) : NULL;
	struct enumerator *e;
	struct cattributes ignored = {0};

	if (!name)
		return cparse_fail(p, at, "the name of an enumerator is missing");
	if (cdef_name(p->d, &p->d->enumerators, name))
		return cparse_fail(p, at, "'%s' is there already", name);
	cparse_next(p);
	if (!cparse_qualifiers(p, &ignored))
		return false;
	if (cparse_take(p, '=') && !cparse_expr(p, &b->next))
		return false;
	e = b->list.n < CDEF_MAX_MEMBERS ? vec_push(&b->list) : NULL;
	if (!e || !cdef_set_name(p->d, &p->d->enumerators, name, node, b->next))
		return cparse_no_memory(p);
	*e = (struct enumerator){name, b->next};
	b->negative |= b->next < 0;
	b->wide |= b->next < INT32_MIN || b->next > UINT32_MAX;
	b->next = (int64_t)((uint64_t)b->next + 1);
	return true;
}

bool cparse_enum_body(struct cparser *p, uint32_t node)
{
	struct enum_body b = {0};
	struct enumerator *kept = NULL;
	bool ok = true;

	cparse_next(p);
	while (ok && !cparse_is(p, '}')) {
		ok = add_enumerator(p, &b, node);
		if (ok && !cparse_take(p, ','))
			break;
	}
	ok = ok && cparse_expect(p, '}', "behind the enumerators");
	if (ok) {
		struct cnode *n = &p->d->nodes.at[node];

		kept = arena_alloc(&p->d->arena, b.list.n * sizeof(*kept) + 1);
		n->enumerators = kept;
		n->n = kept ? b.list.n : 0;
		n->size = b.wide ? 8 : 4;
		n->is_signed = b.negative;
		n->defined = true;
		if (kept && b.list.n)
			memcpy(kept, b.list.at, b.list.n * sizeof(*kept));
	}
	vec_free(&b.list);
	return ok && (kept || cparse_no_memory(p));
}
