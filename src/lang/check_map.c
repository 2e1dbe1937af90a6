// SPDX-License-Identifier: GPL-2.0-or-later
/* The checker's rules for maps: what their keys and values are is learned from their uses. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "lang/check.h"

static const struct {
	const char *name;
	enum map_kind kind;
} declared_kinds[] = {
	{"hash", MAP_HASH},
	{"lruhash", MAP_LRU_HASH},
	{"percpuhash", MAP_PERCPU_HASH},
	{"percpulruhash", MAP_PERCPU_LRU_HASH},
	{"array", MAP_ARRAY},
	{"percpuarray", MAP_PERCPU_ARRAY},
};

static struct map_def *add_map(struct checker *c, const char *name, struct span at)
{
	struct map_def *m = arena_alloc(&c->unit->arena, sizeof(*m));
	struct map_def **slot = m ? vec_push(&c->unit->maps) : NULL;

	if (!slot)
		return NULL;
	*slot = m;
	m->name = arena_strdup(&c->unit->arena, name);
	m->number = (uint32_t)c->unit->maps.n - 1;
	m->kind = MAP_HASH;
	m->entries = c->unit->config.max_map_keys;
	m->own = true;
	m->at = at;
	for (const struct map_decl *d = c->ast->maps; d; d = d->next) {
		if (strcmp(d->name, name) != 0)
			continue;
		m->entries = (uint32_t)d->entries;
		m->declared = true;
		for (size_t i = 0; i < sizeof(declared_kinds) / sizeof(declared_kinds[0]); i++)
			if (strcmp(declared_kinds[i].name, d->type) == 0)
				m->kind = declared_kinds[i].kind;
	}
	return m->name ? m : NULL;
}

int check_map_declarations(struct checker *c)
{
	for (const struct map_decl *d = c->ast->maps; d; d = d->next) {
		bool known = false;

		for (size_t i = 0; i < sizeof(declared_kinds) / sizeof(declared_kinds[0]); i++)
			known |= strcmp(declared_kinds[i].name, d->type) == 0;
		if (!known)
			return source_error(c->source, d->at, "'%s' is no type of map", d->type);
		if (d->entries < 1 || d->entries > UINT32_MAX / 2)
			return source_error(c->source, d->at, "a map has at least one entry");
	}
	return 0;
}

void check_map_unused(struct checker *c)
{
	for (const struct map_decl *d = c->ast->maps; d; d = d->next) {
		size_t i = 0;

		while (i < c->unit->maps.n && (!c->unit->maps.at[i]->own ||
					       strcmp(c->unit->maps.at[i]->name, d->name) != 0))
			i++;
		if (i == c->unit->maps.n)
			source_warning(c->source, d->at, "Unused map: @%s", d->name);
	}
}

struct map_def *check_map_named(struct checker *c, const char *name, struct span at)
{
	for (size_t i = 0; i < c->unit->maps.n; i++)
		if (c->unit->maps.at[i]->own && strcmp(c->unit->maps.at[i]->name, name) == 0)
			return c->unit->maps.at[i];
	return add_map(c, name, at);
}

/* What is known so far of key i of several. */
static const struct vtype *known_key(const struct map_def *m, unsigned int i, unsigned int count)
{
	if (count == 1)
		return &m->key;
	return m->key.kind == V_TUPLE && i < m->key.nr_elems ? m->key.elems[i].type : NULL;
}

/* A key's type as it lies in the map; several are a tuple. */
static int key_type(struct checker *c, struct node *n, struct vtype *t)
{
	const unsigned int count = node_count(n->list);
	const struct vtype **types = arena_array(c->arena, count + 1, sizeof(*types));
	unsigned int i = 0;

	if (!types)
		return -ENOMEM;
	for (struct node *k = n->list; k; k = k->next) {
		struct vtype stored;
		int rc = check_expr(c, k);

		if (rc < 0)
			return rc;
		if (k->vtype.kind == V_NONE)
			return c->last ? check_fail(c, k, "this has no value and cannot be a key")
				       : 0;
		if (k->vtype.kind == V_PROBE && (k->kind == N_NAME || k->kind == N_CALL)) {
			const struct vtype *known = known_key(n->map, i, count);

			if (known && known->kind == V_KSYM)
				check_func_symbol(c, k);
		}
		if (vtype_is_aggregation(&k->vtype) && !vtype_is_summed(&k->vtype))
			return check_fail(c, k, "this is no number, and cannot be a key");
		if (vtype_is_aggregation(&k->vtype))
			stored = vtype_int(8, true);
		else
			stored = vtype_stored(&k->vtype);
		/* A struct as a key is its bytes. */
		stored.space = stored.kind == V_STRUCT ? SPACE_OWN : stored.space;
		types[i] = vtype_keep(c, &stored);
		if (!types[i++])
			return -ENOMEM;
	}
	if (count == 1)
		*t = *types[0];
	else if (!vtype_tuple(t, types, NULL, count, c->arena))
		return -ENOMEM;
	return 0;
}

static int wrong_keys(struct checker *c, struct node *n, const struct vtype *has,
		      const struct vtype *t)
{
	struct buf a, b;
	int rc;

	buf_init(&a, 1024);
	buf_init(&b, 1024);
	vtype_name(has, &a);
	vtype_name(t, &b);
	rc = check_fail(
		c, n,
		"argument mismatch for @%s: trying to access with arguments: '%s' when map expects "
		"arguments: '%s'",
		n->name, buf_str(&b), buf_str(&a));
	buf_free(&a);
	buf_free(&b);
	return rc;
}

int check_map(struct checker *c, struct node *n)
{
	struct map_def *m = check_map_named(c, n->name, n->at);
	struct vtype key = {0};
	int rc;

	if (!m)
		return -ENOMEM;
	n->map = m;
	n->vtype = m->value;
	if (!n->has_keys) {
		if (m->key.kind != V_NONE)
			return check_fail(c, n, "@%s is used with keys elsewhere: @%s[...]",
					  n->name, n->name);
		m->flagged = true;
	} else {
		if (m->flagged)
			return check_fail(c, n, "@%s is used without keys elsewhere", n->name);
		rc = key_type(c, n, &key);
		if (rc < 0)
			return rc;
		rc = vtype_widen(c, &m->key, &key);
		if (rc < 0)
			return wrong_keys(c, n, &m->key, &key);
		c->changed |= rc > 0;
	}
	if (c->last && m->value.kind == V_NONE)
		return check_fail(c, n, "undefined map: @%s", n->name);
	return 0;
}

int check_map_value(struct checker *c, struct node *n, const struct vtype *t, struct span at)
{
	struct map_def *m = n->map;
	struct vtype stored = vtype_stored(t);
	char name[128];
	int rc;

	/* A number that aggregates is taken as a number by other maps. */
	if (t->kind == V_NONE)
		return 0;
	rc = vtype_widen(c, &m->value, &stored);
	n->vtype = m->value;
	if (rc >= 0) {
		c->changed |= rc > 0;
		return 0;
	}
	snprintf(name, sizeof(name), "@%s", n->name);
	return check_mismatch(c, at, name, &m->value, t);
}
