// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The types that a script defines, as others see them.
 *
 * A struct of which only the name is said may be defined later, or in the environment: it is looked
 * up when somebody asks what is in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "lang/cdef_parts.h"

#define MEMORY (64u << 20)

/* ---- names ------------------------------------------------------------------------------ */

static uint64_t key_of(const struct cdefs *d, unsigned int kind, const char *name)
{
	return hash_add(&d->seed, kind, hash_bytes(&d->seed, name, strlen(name)));
}

uint32_t cdef_tag(const struct cdefs *d, enum cnode_kind kind, const char *name)
{
	uint32_t node = (uint32_t)(uintptr_t)map_get(&d->tags, key_of(d, kind, name));

	return node && !strcmp(d->nodes.at[node].name, name) ? node : 0;
}

bool cdef_set_tag(struct cdefs *d, enum cnode_kind kind, const char *name, uint32_t node)
{
	d->nodes.at[node].name = name;
	return map_set(&d->tags, key_of(d, kind, name), (void *)(uintptr_t)node);
}

const struct cname *cdef_name(const struct cdefs *d, const struct map *in, const char *name)
{
	const struct cname *found = map_get(in, key_of(d, 0, name));

	return found && !strcmp(found->name, name) ? found : NULL;
}

bool cdef_set_name(struct cdefs *d, struct map *in, const char *name, uint32_t node, int64_t value)
{
	struct cname *entry = arena_alloc(&d->arena, sizeof(*entry));

	if (!entry)
		return false;
	*entry = (struct cname){name, node, value};
	return map_set(in, key_of(d, 0, name), entry);
}

/* ---- nodes ------------------------------------------------------------------------------ */

uint32_t cdef_node(struct cdefs *d, enum cnode_kind kind)
{
	struct cnode *n = d->nodes.n <= CDEF_MAX_NODES ? vec_push(&d->nodes) : NULL;

	if (!n)
		return 0;
	n->kind = kind;
	n->name = "";
	return (uint32_t)(d->nodes.n - 1);
}

/* A struct that the script only mentions is the environment's. */
static bool elsewhere(const struct cdefs *d, const struct cnode *n, struct type *t)
{
	static const char *const tags[] = {
		[C_STRUCT] = "struct", [C_UNION] = "union", [C_ENUM] = "enum"};
	struct buf name;
	bool found;

	if (!d->env || !d->env->ops->type || !n->name[0])
		return false;
	buf_init(&name, 1024);
	buf_printf(&name, "%s %s", tags[n->kind], n->name);
	found = !buf_full(&name) && d->env->ops->type(d->env, buf_str(&name), t);
	buf_free(&name);
	return found;
}

struct type cdef_view(const struct cdefs *d, uint32_t node)
{
	const struct cnode *n = &d->nodes.at[node];
	struct type t = {.in = &d->types, .id = node}, other;

	switch (n->kind) {
	case C_OTHER: return n->other;
	case C_POINTER:
		t.kind = TYPE_POINTER;
		t.size = sizeof(long);
		break;
	case C_ARRAY:
		t.kind = TYPE_ARRAY;
		t.count = n->count;
		t.size = n->size;
		break;
	case C_FUNCTION: t.kind = TYPE_FUNCTION; break;
	case C_STRUCT:
	case C_UNION:
		if (!n->defined && !n->open && elsewhere(d, n, &other))
			return other;
		t.kind = TYPE_STRUCT;
		t.size = n->size;
		t.is_union = n->kind == C_UNION;
		break;
	case C_ENUM:
		if (!n->defined && !n->open && elsewhere(d, n, &other))
			return other;
		t.kind = TYPE_INTEGER;
		t.is_enum = true;
		t.size = n->size ? n->size : sizeof(int);
		t.is_signed = n->is_signed;
		break;
	}
	return t;
}

static const struct cnode *node_of(const struct types *in, const struct type *t)
{
	const struct cdefs *d = (const struct cdefs *)in;

	return t->id && t->id < d->nodes.n ? &d->nodes.at[t->id] : NULL;
}

static bool own_target(const struct types *in, const struct type *t, struct type *to)
{
	const struct cnode *n = node_of(in, t);

	if (!n || (n->kind != C_POINTER && n->kind != C_ARRAY))
		return false;
	*to = cdef_view((const struct cdefs *)in, n->target);
	return true;
}

static bool own_member(const struct types *in, const struct type *t, size_t number,
		       struct member *m)
{
	const struct cnode *n = node_of(in, t);
	const struct cmember *c;

	if (!n || (n->kind != C_STRUCT && n->kind != C_UNION) || number >= n->n)
		return false;
	c = &n->members[number];
	*m = (struct member){
		.name = c->name,
		.offset = c->offset,
		.bit = c->bit,
		.bits = c->bits,
		.type = cdef_view((const struct cdefs *)in, c->node),
	};
	if (c->bits)
		m->type.size = c->container;
	return true;
}

static const char *own_name(const struct types *in, const struct type *t)
{
	const struct cnode *n = node_of(in, t);

	return n ? n->name : "";
}

static bool own_enumerator(const struct types *in, const struct type *t, size_t number,
			   struct enumerator *e)
{
	const struct cnode *n = node_of(in, t);

	if (!n || n->kind != C_ENUM || number >= n->n)
		return false;
	*e = n->enumerators[number];
	return true;
}

static uint64_t own_align(const struct types *in, const struct type *t)
{
	const struct cnode *n = node_of(in, t);

	return n && (n->kind == C_STRUCT || n->kind == C_UNION) ? n->align : 0;
}

/* ---- questions -------------------------------------------------------------------------- */

bool cdefs_type(const struct cdefs *d, const char *name, struct type *t)
{
	static const enum cnode_kind kinds[] = {
		[TAG_STRUCT] = C_STRUCT, [TAG_UNION] = C_UNION, [TAG_ENUM] = C_ENUM};
	enum ctype_tag tag = ctype_tag(&name);
	const struct cname *alias;
	uint32_t node;

	if (tag == TAG_NONE) {
		alias = cdef_name(d, &d->typedefs, name);
		node = alias ? alias->node : 0;
	} else {
		node = cdef_tag(d, kinds[tag], name);
		if (node && !d->nodes.at[node].defined)
			node = 0;
	}
	if (!node)
		return false;
	*t = cdef_view(d, node);
	return true;
}

bool cdefs_enumerator(const struct cdefs *d, const char *name, int64_t *value, struct type *in)
{
	const struct cname *found = cdef_name(d, &d->enumerators, name);

	if (!found)
		return false;
	*value = found->value;
	*in = cdef_view(d, found->node);
	return true;
}

void cdefs_near(const struct cdefs *d, const char *name, struct nearest *near)
{
	for (size_t i = 1; i < d->nodes.n; i++) {
		const struct cnode *n = &d->nodes.at[i];

		if (n->defined && n->name[0])
			nearest_try(near, n->name, strlen(n->name));
	}
}

/* ---- making ----------------------------------------------------------------------------- */

struct cdefs *cdefs_new(struct env *e)
{
	struct cdefs *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->types = (struct types){
		.target = own_target,
		.member = own_member,
		.name = own_name,
		.enumerator = own_enumerator,
		.align = own_align,
	};
	d->env = e;
	d->seed = hash_seed_new();
	arena_init(&d->arena, MEMORY);
	if (!vec_push(&d->nodes)) {
		cdefs_free(d);
		return NULL;
	}
	return d;
}

void cdefs_free(struct cdefs *d)
{
	if (!d)
		return;
	map_free(&d->tags);
	map_free(&d->typedefs);
	map_free(&d->enumerators);
	vec_free(&d->nodes);
	arena_free(&d->arena);
	free(d);
}
