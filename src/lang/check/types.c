// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Types as scripts write them, the types that values have once they are stored, and the types of
 * maps, which are learned from their uses.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/vec.h"
#include "lang/check/check.h"

/* ---- types ---- */

const struct vtype *vtype_copy(struct checker *c, const struct vtype *t)
{
	struct vtype *copy = arena_alloc(c->arena, sizeof(*copy));

	if (copy)
		*copy = *t;
	return copy;
}

struct vtype vtype_dynamic(const struct checker *c, const struct member *m)
{
	struct vtype t = vtype_string(c->unit->config.max_strlen);

	if (m->type.kind != TYPE_TEXT)
		return vtype_int(4, false);
	t.space = SPACE_CTX;
	t.mode = env_dynamic(m) ? env_dynamic(m) : TEXT_TO_THE_END;
	return t;
}

struct vtype vtype_stored(const struct vtype *t)
{
	struct vtype s = *t;

	/* An array may be full: the stored string has one more byte, for the terminator. */
	if (s.kind == V_STRING && s.c.kind == TYPE_ARRAY &&
	    (s.space == SPACE_KERNEL || s.space == SPACE_USER)) {
		s.size++;
		s.c = (struct type){0};
	}
	if (s.kind == V_STRING || s.kind == V_STRUCT || s.kind == V_ARRAY) {
		s.space = s.kind == V_STRUCT && s.space != SPACE_CTX ? s.space : SPACE_OWN;
		s.mode = 0;
	}
	return s;
}

static int widen_elems(struct checker *c, struct vtype *to, const struct vtype *t)
{
	struct vtype *types;
	const char **names;
	bool changed = false;

	if (to->nr_elems != t->nr_elems)
		return -EINVAL;
	types = arena_array(c->arena, to->nr_elems + 1, sizeof(*types));
	names = arena_array(c->arena, to->nr_elems + 1, sizeof(*names));
	if (!types || !names)
		return -ENOMEM;
	for (uint32_t i = 0; i < to->nr_elems; i++) {
		const struct velem *from = vtype_elem_like(t, to, i);
		int rc;

		types[i] = *to->elems[i].type;
		names[i] = to->elems[i].name;
		rc = from ? vtype_widen(c, &types[i], from->type) : -EINVAL;
		if (rc < 0)
			return rc;
		changed |= rc > 0;
	}
	if (!changed)
		return 0;
	return vtype_tuple(to, types, to->kind == V_RECORD ? names : NULL, to->nr_elems, c->arena)
		       ? 1
		       : -ENOMEM;
}

/* Pointers to strings and the like: the target grows with the variable. */
static int widen_target(struct checker *c, struct vtype *to, const struct vtype *t)
{
	struct vtype target;
	int rc;

	if (!to->to || !t->to)
		return -EINVAL;
	target = *to->to;
	rc = vtype_widen(c, &target, t->to);
	if (rc > 0)
		to->to = vtype_copy(c, &target);
	return rc > 0 && !to->to ? -ENOMEM : rc;
}

static int widen_number(struct vtype *to, const struct vtype *t)
{
	const struct vtype both = vtype_join(to, t);

	if (both.size == to->size && both.is_signed == to->is_signed &&
	    both.as_unsigned == to->as_unsigned)
		return 0;
	to->size = both.size;
	to->is_signed = both.is_signed;
	to->as_unsigned = both.as_unsigned;
	return 1;
}

/* Both types are of the same kind, and not numbers. */
static int widen_same_kind(struct checker *c, struct vtype *to, const struct vtype *t)
{
	switch (to->kind) {
	case V_STRING:
	case V_BUFFER:
		if (t->size <= to->size)
			return 0;
		to->size = t->size;
		return 1;
	case V_TUPLE:
	case V_RECORD: return widen_elems(c, to, t);
	case V_STRUCT:
	case V_ARRAY: return to->size == t->size && type_same(&to->c, &t->c) ? 0 : -EINVAL;
	/* Stacks of each depth have a map of their own. */
	case V_KSTACK:
	case V_USTACK: return vtype_same(to, t) ? 0 : -EINVAL;
	case V_POINTER:
		if (to->to || t->to)
			return widen_target(c, to, t);
		return to->c.kind == TYPE_STRUCT && t->c.kind == TYPE_STRUCT &&
				       !type_same(&to->c, &t->c)
			       ? -EINVAL
			       : 0;
	case V_HIST:
	case V_LHIST:
	case V_TSERIES:
		return memcmp(to->param, t->param, sizeof(to->param)) == 0 && to->mode == t->mode
			       ? 0
			       : -EINVAL;
	/* Once signed, it stays signed. */
	case V_SUM:
	case V_AVG:
	case V_MIN:
	case V_MAX:
	case V_STATS:
		if (to->is_signed || !t->is_signed)
			return 0;
		to->is_signed = true;
		return 1;
	default: return 0;
	}
}

int vtype_widen(struct checker *c, struct vtype *to, const struct vtype *t)
{
	const bool numbers = (to->kind == V_INT || to->kind == V_BOOL) &&
			     (t->kind == V_INT || t->kind == V_BOOL);

	if (to->kind == V_NONE) {
		*to = *t;
		return t->kind != V_NONE;
	}
	if (t->kind == V_NONE)
		return 0;
	if (numbers && to->kind == V_BOOL && t->kind == V_INT) {
		*to = *t;
		return 1;
	}
	/* Enumerators and other numbers together are a number. */
	if (numbers && to->c.kind && !t->c.kind) {
		to->c = (struct type){0};
		return 1;
	}
	if (numbers)
		return t->kind == V_INT ? widen_number(to, t) : 0;
	if (to->kind != t->kind) {
		/* A pointer may be set to 0, and a number may contain a pointer. */
		if ((to->kind == V_POINTER && t->kind == V_INT) ||
		    (to->kind == V_INT && t->kind == V_POINTER))
			return 0;
		/* `func` becomes a symbol of the kernel if other values are. */
		if (to->kind == V_PROBE && t->kind == V_KSYM) {
			*to = *t;
			return 1;
		}
		return -EINVAL;
	}
	return widen_same_kind(c, to, t);
}

bool check_widen(struct checker *c, struct vtype *to, const struct vtype *t)
{
	const int rc = vtype_widen(c, to, t);

	c->changed |= rc > 0;
	return rc >= 0;
}

const char *check_type_text(struct checker *c, const struct vtype *t)
{
	const char *text;
	struct buf name;

	buf_init(&name, 1024);
	vtype_name(t, &name);
	text = arena_strdup(c->arena, buf_str(&name));
	buf_free(&name);
	return text ? text : "";
}

bool check_mismatch(struct checker *c, struct span at, const char *name, const struct vtype *has,
		    const struct vtype *t)
{
	return !source_error(
		c->source, at,
		"type mismatch for %s: trying to assign value of type '%s' when it already "
		"contains a value of type '%s'",
		name, check_type_text(c, t), check_type_text(c, has));
}

bool check_const_fits(const struct node *value, const struct vtype *t)
{
	const unsigned int bits = t->size * 8 - (t->is_signed ? 1 : 0);
	const int64_t n = value->num;

	if (n < 0 && value->vtype.is_signed)
		return t->is_signed && (bits >= 63 || n >= -((int64_t)1 << bits));
	return bits >= 64 || (uint64_t)n >> bits == 0;
}

static void warn_cut(struct checker *c, struct span at, const struct vtype *from,
		     const struct vtype *to)
{
	if (from->kind != to->kind)
		return;
	for (uint32_t i = 0; i < to->nr_elems; i++) {
		const struct velem *e = vtype_elem_like(from, to, i);

		if (e)
			warn_cut(c, at, e->type, to->elems[i].type);
	}
	if (to->kind == V_INT && vtype_cuts(from, to))
		source_warning(c->source, at,
			       "Expression of type: %s being cast to type: %s. This may cause "
			       "unexpected results. Use an explicit cast to suppress this warning.",
			       check_type_text(c, from), check_type_text(c, to));
}

void check_cut(struct checker *c, const struct node *value, const struct vtype *to)
{
	if (c->last && !(fold_is_untyped(value) && check_const_fits(value, to)))
		warn_cut(c, value->at, &value->vtype, to);
}

/* ---- names of types ---- */

static const struct {
	const char *name;
	unsigned int bytes;
	bool is_signed;
} numbers[] = {
	{"int8", 1, true},   {"int16", 2, true},   {"int32", 4, true},	 {"int64", 8, true},
	{"uint8", 1, false}, {"uint16", 2, false}, {"uint32", 4, false}, {"uint64", 8, false},
};

static bool number_named(const char *name, struct vtype *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strcmp(numbers[i].name, name) == 0) {
			*out = vtype_int(numbers[i].bytes, numbers[i].is_signed);
			return true;
		}
	return false;
}

/* The user program of the probe, or NULL. */
static const char *program_of(const struct checker *c)
{
	return check_space(c) == SPACE_USER && !c->opt->offline ? c->at->targets.at[0]->path : NULL;
}

/* The type of C of that name, for pointers and arrays. */
static bool c_type_named(struct checker *c, const char *name, struct type *t)
{
	struct vtype number;

	if (strcmp(name, "void") == 0) {
		*t = (struct type){.kind = TYPE_VOID};
		return true;
	}
	if (number_named(name, &number)) {
		*t = (struct type){
			.kind = TYPE_INTEGER, .size = number.size, .is_signed = number.is_signed};
		return true;
	}
	return env_type_in(c->env, program_of(c), name, t);
}

void check_hint_headers(struct checker *c, const char *name)
{
	const char *file, *why = env_skipped_type(c->env, name, &file);
	struct buf names, absent;

	if (why)
		source_hint(c->source, "%s defines it, but %s", file, why);
	if (why || !c->ast->included)
		return;
	buf_init(&names, 2048);
	buf_init(&absent, 2048);
	for (const struct included *i = c->ast->included; i; i = i->next) {
		struct buf *to = i->absent ? &absent : &names;

		buf_printf(to, "%s%s", to->len ? ", " : "", i->name);
	}
	if (names.len)
		source_hint(c->source, "it is not in %s or what is included there",
			    buf_str(&names));
	if (absent.len)
		source_hint(c->source, "these headers are not installed: %s", buf_str(&absent));
	buf_free(&names);
	buf_free(&absent);
}

static bool no_type(struct checker *c, const struct type_name *t)
{
	struct buf near;

	buf_init(&near, 1024);
	env_near_type(c->env, t->name, &near);
	source_error(c->source, t->at, "cannot resolve unknown type '%s'%s", t->name,
		     buf_str(&near));
	buf_free(&near);
	check_hint_headers(c, t->name);
	return false;
}

static bool constant(struct checker *c, const struct type_name *t, int64_t least, int64_t most,
		     int64_t *v)
{
	if (!t->count)
		return true;
	if (!check_expr(c, t->count))
		return false;
	if (!t->count->is_const || t->count->num < least || t->count->num > most)
		return check_fail(c, t->count, "a constant between %lld and %lld is needed here",
				  (long long)least, (long long)most);
	*v = t->count->num;
	return true;
}

static bool tuple_type(struct checker *c, const struct type_name *t, struct vtype *out)
{
	struct vtype *types;
	uint32_t n = 0;

	for (const struct type_name *e = t->elems; e; e = e->next)
		n++;
	types = arena_array(c->arena, n + 1, sizeof(*types));
	if (!types)
		return check_no_memory(c);
	n = 0;
	for (const struct type_name *e = t->elems; e; e = e->next)
		if (!check_type_name(c, e, &types[n++]))
			return false;
	return vtype_tuple(out, types, NULL, n, c->arena) || check_no_memory(c);
}

static bool array_type(struct checker *c, const struct type_name *t, const struct type *elem,
		       struct vtype *out)
{
	struct type elem_array;
	int64_t count = 0;

	if (!constant(c, t, 1, 1 << 16, &count))
		return false;
	if (!type_array_of(elem, (uint64_t)count, c->arena, &elem_array) ||
	    elem_array.size > UINT32_MAX)
		return !source_error(c->source, t->at, "the array is too large");
	*out = (struct vtype){.kind = V_ARRAY, .size = (uint32_t)elem_array.size, .c = elem_array};
	return true;
}

static bool pointer_to_array(struct checker *c, const struct type_name *t, struct vtype *out)
{
	struct type to = out->c;

	for (unsigned int i = 1; i < t->outer; i++) {
		const struct type inner = to;

		if (!type_pointer_to(&inner, c->arena, &to))
			return check_no_memory(c);
	}
	*out = (struct vtype){.kind = V_POINTER, .size = 8, .c = to};
	return true;
}

bool check_type_name(struct checker *c, const struct type_name *t, struct vtype *out)
{
	int64_t size = c->unit->config.max_strlen;
	struct type elem;
	bool fine;

	memset(out, 0, sizeof(*out));
	if (t->elems)
		return tuple_type(c, t, out);
	if (t->of) {
		fine = check_expr(c, t->of);
		*out = vtype_stored(&t->of->vtype);
		return fine;
	}
	if (!t->pointers && (strcmp(t->name, "string") == 0 || strcmp(t->name, "buffer") == 0)) {
		fine = constant(c, t, 1, 1 << 14, &size);
		*out = vtype_string((uint32_t)size);
		if (t->name[0] == 'b') {
			out->kind = V_BUFFER;
			out->size += 4;
		}
		return fine;
	}
	if (!t->pointers && strcmp(t->name, "bool") == 0 && !t->is_array) {
		*out = vtype_fixed(V_BOOL);
		return true;
	}
	if (!t->pointers && !t->is_array && number_named(t->name, out))
		return true;
	if (!c_type_named(c, t->name, &elem))
		return no_type(c, t);
	/* The target of the last star; elements of arrays have all stars. */
	for (unsigned int i = t->is_array ? 0 : 1; i < t->pointers; i++) {
		const struct type to = elem;

		if (!type_pointer_to(&to, c->arena, &elem))
			return check_no_memory(c);
	}
	if (t->is_array)
		return array_type(c, t, &elem, out) && (!t->outer || pointer_to_array(c, t, out));
	if (t->pointers) {
		*out = (struct vtype){.kind = V_POINTER, .size = 8, .c = elem};
		return true;
	}
	*out = vtype_of_c(&elem, SPACE_OWN);
	return out->kind != V_NONE || no_type(c, t);
}

bool check_operand_type(struct checker *c, const struct node *n, struct vtype *out)
{
	const bool fine = n->type ? check_type_name(c, n->type, out) : check_expr(c, n->a);

	if (!n->type)
		*out = n->a->vtype;
	return fine;
}

/* ---- offsetof(struct x, a.b) ---- */

bool check_offsetof(struct checker *c, struct node *n)
{
	struct vtype t = {0};
	struct member m = {0};
	const char *path = n->name;
	int64_t offset = 0;

	if (!check_operand_type(c, n, &t))
		return false;
	m.type = t.c;
	while (*path) {
		const size_t len = strcspn(path, ".[");
		const struct type in = m.type; /* m is overwritten below */

		if (in.kind != TYPE_STRUCT || !type_member(&in, path, len, &m))
			return check_fail(c, n, "there is no field '%s'", n->name);
		offset += (int64_t)m.offset;
		path += len;
		path += *path == '.';
	}
	n->num = offset;
	n->vtype = vtype_literal(offset, false);
	n->is_const = true;
	return true;
}

/* ---- maps ---- */

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

static bool declared_kind(const char *name, enum map_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(declared_kinds); i++)
		if (strcmp(declared_kinds[i].name, name) == 0) {
			*kind = declared_kinds[i].kind;
			return true;
		}
	return false;
}

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
		declared_kind(d->type, &m->kind);
	}
	return m->name ? m : NULL;
}

bool check_map_declarations(struct checker *c)
{
	for (const struct map_decl *d = c->ast->maps; d; d = d->next) {
		enum map_kind kind;

		if (!declared_kind(d->type, &kind))
			return !source_error(c->source, d->at, "'%s' is no type of map", d->type);
		if (d->entries < 1 || d->entries > UINT32_MAX / 2)
			return !source_error(c->source, d->at, "a map has at least one entry");
	}
	return true;
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
	struct map_def *m;

	for (size_t i = 0; i < c->unit->maps.n; i++)
		if (c->unit->maps.at[i]->own && strcmp(c->unit->maps.at[i]->name, name) == 0)
			return c->unit->maps.at[i];
	m = add_map(c, name, at);
	c->no_memory |= !m;
	return m;
}

bool check_whole_map(struct checker *c, struct node *map)
{
	map->map = check_map_named(c, map->name, map->at);
	if (!map->map)
		return false;
	if (c->last && map->map->value.kind == V_NONE)
		return check_fail(c, map, "undefined map: @%s", map->name);
	return true;
}

/* The type of key i so far. */
static const struct vtype *known_key(const struct map_def *m, unsigned int i, unsigned int count)
{
	if (count == 1)
		return &m->key;
	return m->key.kind == V_TUPLE && i < m->key.nr_elems ? m->key.elems[i].type : NULL;
}

static void check_cut_keys(struct checker *c, const struct node *n)
{
	const unsigned int count = node_count(n->list);
	unsigned int i = 0;

	for (const struct node *k = n->list; k; k = k->next, i++) {
		const struct vtype *to = known_key(n->map, i, count);

		if (to)
			check_cut(c, k, to);
	}
}

/* The type of the key as it is stored; several keys are a tuple. */
static bool key_type(struct checker *c, struct node *n, struct vtype *t)
{
	const unsigned int count = node_count(n->list);
	struct vtype *types = arena_array(c->arena, count + 1, sizeof(*types));
	unsigned int i = 0;

	if (!types)
		return check_no_memory(c);
	for (struct node *k = n->list; k; k = k->next, i++) {
		if (!check_expr(c, k))
			return false;
		if (k->vtype.kind == V_NONE)
			return !c->last ||
			       check_fail(c, k, "this has no value and cannot be a key");
		if (k->vtype.kind == V_PROBE && (k->kind == N_NAME || k->kind == N_CALL)) {
			const struct vtype *known = known_key(n->map, i, count);

			if (known && known->kind == V_KSYM)
				check_func_symbol(c, k);
		}
		if (vtype_is_aggregation(&k->vtype) && !vtype_is_summed(&k->vtype))
			return check_fail(c, k, "this is no number, and cannot be a key");
		if (vtype_is_aggregation(&k->vtype))
			types[i] = vtype_int(8, true);
		else
			types[i] = vtype_stored(&k->vtype);
		/* A struct as a key is copied. */
		if (types[i].kind == V_STRUCT)
			types[i].space = SPACE_OWN;
	}
	if (count == 1)
		*t = types[0];
	return count == 1 || vtype_tuple(t, types, NULL, count, c->arena) || check_no_memory(c);
}

static bool wrong_keys(struct checker *c, struct node *n, const struct vtype *has,
		       const struct vtype *t)
{
	return check_fail(
		c, n,
		"argument mismatch for @%s: trying to access with arguments: '%s' when map expects "
		"arguments: '%s'",
		n->name, check_type_text(c, t), check_type_text(c, has));
}

bool check_map(struct checker *c, struct node *n)
{
	struct map_def *m = check_map_named(c, n->name, n->at);
	struct vtype key = {0};

	if (!m)
		return false;
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
		if (!key_type(c, n, &key))
			return false;
		if (!check_widen(c, &m->key, &key))
			return wrong_keys(c, n, &m->key, &key);
		check_cut_keys(c, n);
	}
	if (c->last && m->value.kind == V_NONE)
		return check_fail(c, n, "undefined map: @%s", n->name);
	return true;
}

bool check_map_value(struct checker *c, struct node *n, const struct vtype *t, struct span at)
{
	struct map_def *m = n->map;
	struct vtype stored = vtype_stored(t);
	char name[128];
	bool fine;

	/* Other maps are assigned the value of an aggregation as a number. */
	if (t->kind == V_NONE)
		return true;
	fine = check_widen(c, &m->value, &stored);
	n->vtype = m->value;
	if (fine)
		return true;
	snprintf(name, sizeof(name), "@%s", n->name);
	return check_mismatch(c, at, name, &m->value, t);
}
