// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The types of C that a script can use: those that C and every system have, and those that the
 * script defines.
 *
 * A struct that is only named may be defined later, or in the environment: it is looked up when its
 * contents are needed.
 */
#include "lang/cdef/cdef.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "lang/env/types.h"

/* ---- types that need no definition ---- */

/*
 * C's own, and the few names for them that every system has: scripts use them on kernels without
 * BTF.
 */

#define MAX_WORDS 5

struct base {
	const char *name;
	uint8_t size;
	bool is_signed, is_char, is_bool;
	enum type_kind kind;
};

enum {
	B_VOID,
	B_BOOL,
	B_CHAR,
	B_SCHAR,
	B_UCHAR,
	B_SHORT,
	B_USHORT,
	B_INT,
	B_UINT,
	B_LONG,
	B_ULONG,
	B_LLONG,
	B_ULLONG,
	B_FLOAT,
	B_DOUBLE,
	B_LONG_DOUBLE,
};

#define INTEGER(name, type, is_signed)                                                             \
	{                                                                                          \
		name, sizeof(type), is_signed, false, false, TYPE_INTEGER                          \
	}

static const struct base bases[] = {
	[B_VOID] = {"void", 0, false, false, false, TYPE_VOID},
	[B_BOOL] = {"bool", 1, false, false, true, TYPE_INTEGER},
	[B_CHAR] = {"char", 1, true, true, false, TYPE_INTEGER},
	[B_SCHAR] = INTEGER("signed char", char, true),
	[B_UCHAR] = INTEGER("unsigned char", char, false),
	[B_SHORT] = INTEGER("short", short, true),
	[B_USHORT] = INTEGER("unsigned short", short, false),
	[B_INT] = INTEGER("int", int, true),
	[B_UINT] = INTEGER("unsigned int", int, false),
	[B_LONG] = INTEGER("long", long, true),
	[B_ULONG] = INTEGER("unsigned long", long, false),
	[B_LLONG] = INTEGER("long long", long long, true),
	[B_ULLONG] = INTEGER("unsigned long long", long long, false),
	[B_FLOAT] = {"float", sizeof(float), true, false, false, TYPE_FLOAT},
	[B_DOUBLE] = {"double", sizeof(double), true, false, false, TYPE_FLOAT},
	[B_LONG_DOUBLE] = {"long double", sizeof(long double), true, false, false, TYPE_FLOAT},
};

/* Other names, of a single word. */
static const struct {
	const char *name;
	uint8_t base;
} aliases[] = {
	{"_Bool", B_BOOL},	   {"u8", B_UCHAR},	  {"u16", B_USHORT},
	{"u32", B_UINT},	   {"u64", B_ULLONG},	  {"s8", B_SCHAR},
	{"s16", B_SHORT},	   {"s32", B_INT},	  {"s64", B_LLONG},
	{"__u8", B_UCHAR},	   {"__u16", B_USHORT},	  {"__u32", B_UINT},
	{"__u64", B_ULLONG},	   {"__s8", B_SCHAR},	  {"__s16", B_SHORT},
	{"__s32", B_INT},	   {"__s64", B_LLONG},	  {"__be16", B_USHORT},
	{"__be32", B_UINT},	   {"__be64", B_ULLONG},  {"__le16", B_USHORT},
	{"__le32", B_UINT},	   {"__le64", B_ULLONG},  {"uint8_t", B_UCHAR},
	{"uint16_t", B_USHORT},	   {"uint32_t", B_UINT},  {"uint64_t", B_ULLONG},
	{"int8_t", B_SCHAR},	   {"int16_t", B_SHORT},  {"int32_t", B_INT},
	{"int64_t", B_LLONG},	   {"uint8", B_UCHAR},	  {"uint16", B_USHORT},
	{"uint32", B_UINT},	   {"uint64", B_ULLONG},  {"int8", B_SCHAR},
	{"int16", B_SHORT},	   {"int32", B_INT},	  {"int64", B_LLONG},
	{"size_t", B_ULONG},	   {"ssize_t", B_LONG},	  {"uintptr_t", B_ULONG},
	{"intptr_t", B_LONG},	   {"ptrdiff_t", B_LONG}, {"pid_t", B_INT},
	{"uid_t", B_UINT},	   {"gid_t", B_UINT},	  {"loff_t", B_LLONG},
	{"uint", B_UINT},	   {"ushort", B_USHORT},  {"ulong", B_ULONG},
	{"sa_family_t", B_USHORT}, {"wchar_t", B_INT},
};

static const char *base_name(const struct types *in, const struct type *t)
{
	return t->id < ARRAY_SIZE(bases) ? bases[t->id].name : "";
}

/* They have no members and point at nothing. */
static const struct types base_types = {.name = base_name};

static struct type base_type(unsigned int number)
{
	const struct base *b = &bases[number];

	return (struct type){
		.in = &base_types,
		.id = number,
		.kind = b->kind,
		.size = b->size,
		.is_signed = b->is_signed,
		.is_char = b->is_char,
		.is_bool = b->is_bool,
	};
}

/* ---- several words in any order ---- */

struct words {
	unsigned int n_unsigned, n_signed, n_char, n_short, n_int, n_long, n_float, n_double;
	unsigned int n_bool, n_void;
};

static bool count_word(struct words *w, const char *s, size_t len)
{
	static const struct {
		const char *word;
		size_t at;
	} known[] = {
		{"unsigned", offsetof(struct words, n_unsigned)},
		{"signed", offsetof(struct words, n_signed)},
		{"__signed__", offsetof(struct words, n_signed)},
		{"char", offsetof(struct words, n_char)},
		{"short", offsetof(struct words, n_short)},
		{"int", offsetof(struct words, n_int)},
		{"long", offsetof(struct words, n_long)},
		{"float", offsetof(struct words, n_float)},
		{"double", offsetof(struct words, n_double)},
		{"bool", offsetof(struct words, n_bool)},
		{"void", offsetof(struct words, n_void)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (strlen(known[i].word) == len && !memcmp(known[i].word, s, len)) {
			++*(unsigned int *)((char *)w + known[i].at);
			return true;
		}
	}
	return false;
}

/* The integer type of these words. */
static int integer_of_words(const struct words *w)
{
	bool is_unsigned = w->n_unsigned;

	if (w->n_unsigned + w->n_signed > 1 || w->n_int > 1)
		return -1;
	if (w->n_char == 1 && !w->n_int && !w->n_short && !w->n_long)
		return is_unsigned ? B_UCHAR : w->n_signed ? B_SCHAR : B_CHAR;
	if (w->n_char)
		return -1;
	if (w->n_short)
		return w->n_short > 1 || w->n_long ? -1 : is_unsigned ? B_USHORT : B_SHORT;
	if (w->n_long > 2)
		return -1;
	if (w->n_long)
		return (w->n_long == 1 ? B_LONG : B_LLONG) + is_unsigned;
	return w->n_int || w->n_unsigned || w->n_signed ? B_INT + is_unsigned : -1;
}

static int base_of_words(const struct words *w, unsigned int n)
{
	if (n == 1 && w->n_void)
		return B_VOID;
	if (n == 1 && w->n_bool)
		return B_BOOL;
	if (n == 1 && w->n_float)
		return B_FLOAT;
	if (n == 1 && w->n_double)
		return B_DOUBLE;
	if (n == 2 && w->n_double == 1 && w->n_long == 1)
		return B_LONG_DOUBLE;
	if (w->n_void || w->n_bool || w->n_float || w->n_double)
		return -1;
	return integer_of_words(w);
}

bool ctype_base(const char *name, struct type *t)
{
	struct words w = {0};
	unsigned int n = 0;
	int found;

	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++) {
		if (!strcmp(aliases[i].name, name)) {
			*t = base_type(aliases[i].base);
			return true;
		}
	}
	for (const char *s = name; *s; n++) {
		size_t len = strcspn(s, " ");

		if (n == MAX_WORDS || !count_word(&w, s, len))
			return false;
		s += len;
		s += strspn(s, " ");
	}
	found = base_of_words(&w, n);
	if (found < 0)
		return false;
	*t = base_type((unsigned int)found);
	return true;
}

enum ctype_tag ctype_tag(const char **name)
{
	static const char *const tags[] = {
		[TAG_STRUCT] = "struct ", [TAG_UNION] = "union ", [TAG_ENUM] = "enum "};

	for (unsigned int i = TAG_STRUCT; i <= TAG_ENUM; i++) {
		size_t len = strlen(tags[i]);

		if (!strncmp(*name, tags[i], len)) {
			*name += len;
			*name += strspn(*name, " ");
			return i;
		}
	}
	return TAG_NONE;
}

/* ---- the layout of structs ---- */

/*
 * As compilers for Linux do it: each member at a multiple of its alignment; bit fields follow each
 * other as long as they stay in one integer of their type.
 */

static uint64_t round_up(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static void raise_align(struct clayout *l, uint64_t align)
{
	if (align > l->align)
		l->align = align;
}

/*
 * Uses the smallest integer that contains the bits: in a packed struct an integer of their type may
 * reach beyond the end.
 */
static void pack_bits(struct member *m, uint64_t at, unsigned int width)
{
	m->offset = at / 8;
	m->bit = (unsigned int)(at % 8);
	m->bits = width;
	m->type.size = 1;
	while (m->bit + width > m->type.size * 8 && m->type.size < 8)
		m->type.size *= 2;
	/* The bits would span nine bytes, which cannot be read. */
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
	/* One without a name is only padding. */
	if (m->name[0])
		raise_align(l, align);
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
	if (l->pack && align > l->pack)
		align = l->pack;
	if (size > CDEF_MAX_SIZE || l->bit / 8 > CDEF_MAX_SIZE)
		return false;
	if (bits >= 0)
		return place_bits(l, t, align, (unsigned int)bits, m);
	raise_align(l, align);
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

	raise_align(l, 1);
	raise_align(l, l->attr.aligned);
	return round_up(bytes, l->align);
}

/* ---- names of the script ---- */

#define MEMORY (64u << 20)

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

bool cdef_set_name(struct cdefs *d, struct map *in, const struct cname *entry)
{
	struct cname *copy = arena_alloc(&d->arena, sizeof(*copy));

	if (!copy)
		return false;
	*copy = *entry;
	return map_set(in, key_of(d, 0, copy->name), copy);
}

/* ---- nodes ---- */

uint32_t cdef_node(struct cdefs *d, enum cnode_kind kind)
{
	struct cnode *n = d->nodes.n <= CDEF_MAX_NODES ? vec_push(&d->nodes) : NULL;

	if (!n)
		return 0;
	n->kind = kind;
	n->name = "";
	return (uint32_t)(d->nodes.n - 1);
}

/* A struct that the script only names is searched in the environment. */
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

/* The type of a node, unless it is of the kernel's headers and the kernel itself describes it. */
static struct type best_view(const struct cdefs *d, uint32_t node)
{
	const struct cnode *n = &d->nodes.at[node];
	struct type other;

	return n->of_kernel && elsewhere(d, n, &other) && other.size ? other : cdef_view(d, node);
}

static bool own_target(const struct types *in, const struct type *t, struct type *to)
{
	const struct cnode *n = node_of(in, t);

	if (!n || (n->kind != C_POINTER && n->kind != C_ARRAY))
		return false;
	*to = best_view((const struct cdefs *)in, n->target);
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

/* ---- queries ---- */

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
	*t = best_view(d, node);
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

const char *cdefs_skipped(const struct cdefs *d, const char *name, const char **file)
{
	ctype_tag(&name);
	for (const struct cskipped *s = d->skipped; s; s = s->next)
		if (!strcmp(s->name, name)) {
			*file = s->file;
			return s->why;
		}
	return NULL;
}

void cdefs_near(const struct cdefs *d, const char *name, struct nearest *near)
{
	for (size_t i = 1; i < d->nodes.n; i++) {
		const struct cnode *n = &d->nodes.at[i];

		if (n->defined && n->name[0])
			nearest_try(near, n->name, strlen(n->name));
	}
}

/* ---- creating and freeing ---- */

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
