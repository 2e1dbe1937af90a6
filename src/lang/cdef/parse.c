// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Declarations of C: the types that a script, or a header it includes, defines.
 *
 *	declaration  "typedef" SPECIFIER DECLARATOR { "," DECLARATOR } ";"
 *	             SPECIFIER ";"
 *	SPECIFIER    "struct" [NAME] [ "{" members "}" ] | "union" … | "enum" … | words of a type
 *	DECLARATOR   { "*" } ( NAME | "(" DECLARATOR ")" ) { "[" N "]" | "(" … ")" }
 *
 * Functions and variables are skipped: headers have them, but scripts cannot use them. A
 * declaration of a header that is not understood is skipped, too, and remembered: it is an error
 * only if the script uses its name.
 */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "lang/cdef/cdef.h"

/* ---- bodies of structs and unions ---- */

/* The members of the struct whose body is being read. */
struct body {
	struct clayout layout;
	struct {
		struct cmember *at;
		size_t n, cap;
	} members;
	struct map names; /* of all members, also those of nameless structs inside */
};

/* Adds a name; false if it is there already, or without memory. */
static bool new_name(struct cparser *p, struct body *b, const char *name)
{
	uint64_t key = hash_bytes(&p->d->seed, name, strlen(name));

	return !map_get(&b->names, key) && map_set(&b->names, key, (void *)(uintptr_t)1);
}

/* Adds the name of a member, or the names of a nameless struct's members. */
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
	/* An array without a length, at the end of a struct, or with length 0. */
	if (n->kind == C_ARRAY)
		return !n->count || is_complete(d, n->target);
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
	if (bits >= 0 && b->layout.pack > 1 && type_align(&t) > b->layout.pack)
		return cparse_fail(p, at, "bit fields with #pragma pack(%llu) are not understood",
				   (unsigned long long)b->layout.pack);
	if (!clayout_member(&b->layout, &t, attr, bits, &m))
		return cparse_fail(p, at, "the struct becomes too large");
	/* A bit field without a name is padding. */
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

		/* The members of a nameless struct belong to the struct around it. */
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
		if (cparse_accept(p, ':') && !width_of(p, node, &bits))
			return false;
		if (!cparse_qualifiers(p, &attr) || !add_member(p, b, node, name, at, &attr, bits))
			return false;
	} while (cparse_accept(p, ','));
	/* bpftrace accepts a missing ';' here. */
	return cparse_is(p, '}') || cparse_expect(p, ';', "after the member");
}

static bool store_members(struct cparser *p, uint32_t node, struct body *b)
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
	struct body b = {.layout = {.is_union = p->d->nodes.at[node].kind == C_UNION,
				    .pack = p->pack[p->nr_packs]}};
	const struct cmark start = cparse_mark(p);
	bool ok = true;

	/* Attributes after the body change its layout. */
	if (!cparse_skip_brackets(p) || !cparse_qualifiers(p, attr))
		return false;
	b.layout.attr = *attr;
	b.layout.attr.packed |= b.layout.pack == 1;
	cparse_return(p, &start);
	cparse_next(p);
	p->d->nodes.at[node].open = true;
	while (ok && !cparse_is(p, '}') && p->tok.kind != CT_END)
		ok = cparse_accept(p, ';') || member_line(p, &b);
	p->d->nodes.at[node].open = false;
	ok = ok && cparse_expect(p, '}', "after the members") && store_members(p, node, &b);
	p->d->nodes.at[node].defined = ok;
	vec_free(&b.members);
	map_free(&b.names);
	return ok;
}

/* ---- bodies of enums ---- */

struct enum_body {
	struct {
		struct enumerator *at;
		size_t n, cap;
	} list;
	int64_t next;
	bool negative, wide;
};

static bool may_replace(const struct cparser *p, const struct cname *old)
{
	return !old || (old->of_header && !p->in_header);
}

static bool add_enumerator(struct cparser *p, struct enum_body *b, uint32_t node)
{
	struct span at = p->tok.at;
	const char *name = p->tok.kind == CT_NAME ? cparse_text(p) : NULL;
	struct enumerator *e;
	struct cattributes ignored = {0};

	if (!name)
		return cparse_fail(p, at, "the name of an enumerator is missing");
	if (!may_replace(p, cdef_name(p->d, &p->d->enumerators, name)))
		return cparse_fail(p, at, "'%s' is there already", name);
	cparse_next(p);
	if (!cparse_qualifiers(p, &ignored))
		return false;
	if (cparse_accept(p, '=') && !cparse_expr(p, &b->next))
		return false;
	e = b->list.n < CDEF_MAX_MEMBERS ? vec_push(&b->list) : NULL;
	if (!e || !cdef_set_name(p->d, &p->d->enumerators,
				 &(struct cname){name, node, b->next, p->in_header}))
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
		if (ok && !cparse_accept(p, ','))
			break;
	}
	ok = ok && cparse_expect(p, '}', "after the enumerators");
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

/* ---- specifiers ---- */

#define MAX_TEXT 1024 /* of a name */

/* The node of "struct x", which is created if it does not exist. */
static uint32_t tagged(struct cparser *p, enum cnode_kind kind, const char *name)
{
	uint32_t node = name ? cdef_tag(p->d, kind, name) : 0;

	if (node)
		return node;
	node = cdef_node(p->d, kind);
	if (node && name && !cdef_set_tag(p->d, kind, name, node))
		return 0;
	return node;
}

/* The body of a node. What a header defines, the script may define again. */
static bool tag_body(struct cparser *p, enum cnode_kind kind, uint32_t *node, const char *name,
		     struct cattributes *attr, struct span at)
{
	const struct cnode *old = &p->d->nodes.at[*node];
	bool ok;

	if (old->defined && old->of_header && !p->in_header) {
		*node = cdef_node(p->d, kind);
		if (!*node || !cdef_set_tag(p->d, kind, name, *node))
			return cparse_no_memory(p);
	} else if (old->defined || old->open) {
		return cparse_fail(p, at, "'%s' is defined twice", name ? name : "");
	}
	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, at, "the definitions are too deep inside each other");
	ok = kind == C_ENUM ? cparse_enum_body(p, *node) : cparse_struct_body(p, *node, attr);
	p->depth--;
	p->d->nodes.at[*node].of_header = p->in_header;
	p->d->nodes.at[*node].of_kernel = p->in_kernel && kind != C_ENUM;
	return ok;
}

static bool tag_specifier(struct cparser *p, enum cnode_kind kind, uint32_t *node,
			  struct cattributes *outer)
{
	struct cattributes attr = {0};
	struct span at;
	const char *name = NULL;

	cparse_next(p);
	if (!cparse_qualifiers(p, &attr))
		return false;
	at = p->tok.at;
	if (p->tok.kind == CT_NAME) {
		name = cparse_text(p);
		if (!name)
			return cparse_no_memory(p);
		cparse_next(p);
	} else if (!cparse_is(p, '{')) {
		return cparse_fail(p, at, "a name or a '{' is missing");
	}
	*node = tagged(p, kind, name);
	if (!*node)
		return cparse_no_memory(p);
	if (!cparse_is(p, '{'))
		return true;
	/* The attributes of the struct have been read already. */
	return tag_body(p, kind, node, name, &attr, at) && cparse_qualifiers(p, &attr);
}

/* A node for a type that the script does not define. */
static bool other_node(struct cparser *p, const struct type *t, uint32_t *node)
{
	*node = cdef_node(p->d, C_OTHER);
	if (!*node)
		return cparse_no_memory(p);
	p->d->nodes.at[*node].other = *t;
	return true;
}

static const char *const base_words[] = {"unsigned", "signed", "__signed__", "char",
					 "short",    "int",    "long",	     "float",
					 "double",   "void",   "bool",	     "_Bool"};

/* "long unsigned int" */
static bool base_specifier(struct cparser *p, uint32_t *node, struct cattributes *attr)
{
	struct span at = p->tok.at;
	struct type t;

	buf_reset(&p->word);
	do {
		if (p->word.len)
			buf_putc(&p->word, ' ');
		buf_put(&p->word, cparse_at(p), cparse_len(p));
		at.to = p->tok.at.to;
		cparse_next(p);
		if (!cparse_qualifiers(p, attr))
			return false;
	} while (IS_ONE_OF(p, base_words));
	if (!ctype_base(buf_str(&p->word), &t))
		return cparse_fail(p, at, "'%s' is no type", buf_str(&p->word));
	return other_node(p, &t, node);
}

/* The name of a typedef. */
static bool named_specifier(struct cparser *p, uint32_t *node)
{
	const char *name = cparse_text(p);
	const struct cname *own = name ? cdef_name(p->d, &p->d->typedefs, name) : NULL;
	struct env *e = p->d->env;
	struct span at = p->tok.at;
	struct type t;

	if (!name)
		return cparse_no_memory(p);
	cparse_next(p);
	if (own) {
		*node = own->node;
		return true;
	}
	if (ctype_base(name, &t))
		return other_node(p, &t, node);
	/* The kernel has no types of compilers, and to find that out is slow. */
	if (strncmp(name, "__builtin_", 10) != 0 && strncmp(name, "_Float", 6) != 0 && e &&
	    e->ops->type && e->ops->type(e, name, &t))
		return other_node(p, &t, node);
	return cparse_fail(p, at, "the type '%s' is not known", name);
}

/* typeof(TYPE); of an expression it is not known. */
static bool typeof_specifier(struct cparser *p, uint32_t *node)
{
	bool ok;

	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, p->tok.at, "the definitions are too deep inside each other");
	cparse_next(p);
	ok = cparse_expect(p, '(', "after typeof") && cparse_type(p, node) &&
	     cparse_expect(p, ')', "after the type");
	p->depth--;
	return ok;
}

bool cparse_specifier(struct cparser *p, uint32_t *node, struct cattributes *attr)
{
	static const struct {
		const char *word;
		enum cnode_kind kind;
	} tags[] = {{"struct", C_STRUCT}, {"union", C_UNION}, {"enum", C_ENUM}};

	if (!cparse_qualifiers(p, attr))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(tags); i++)
		if (cparse_is_word(p, tags[i].word))
			return tag_specifier(p, tags[i].kind, node, attr) &&
			       cparse_qualifiers(p, attr);
	if (p->tok.kind != CT_NAME)
		return cparse_fail(p, p->tok.at, "a type is missing here");
	if (IS_ONE_OF(p, base_words))
		return base_specifier(p, node, attr);
	if (cparse_is_word(p, "__typeof__") || cparse_is_word(p, "typeof"))
		return typeof_specifier(p, node) && cparse_qualifiers(p, attr);
	return named_specifier(p, node) && cparse_qualifiers(p, attr);
}

/* ---- declarators ---- */

static bool derived(struct cparser *p, enum cnode_kind kind, uint32_t target, uint64_t count,
		    uint32_t *node)
{
	uint64_t size = 0;

	if (kind == C_ARRAY) {
		const struct type t = cdef_view(p->d, target);

		if (__builtin_mul_overflow(type_size(&t), count, &size) || size > CDEF_MAX_SIZE)
			return cparse_fail(p, p->tok.at, "the array is too large");
	}
	*node = cdef_node(p->d, kind);
	if (!*node)
		return cparse_no_memory(p);
	p->d->nodes.at[*node].target = target;
	p->d->nodes.at[*node].count = count;
	p->d->nodes.at[*node].size = size;
	return true;
}

/* "[2][3]": the last length belongs to the innermost array. */
static bool arrays(struct cparser *p, uint32_t base, uint32_t *node)
{
	struct span at = p->tok.at;
	int64_t count = 0;
	bool ok;

	if (!cparse_accept(p, '[')) {
		*node = base;
		return true;
	}
	if (!cparse_is(p, ']') && !cparse_expr(p, &count))
		return false;
	if (!cparse_expect(p, ']', "after the length"))
		return false;
	if (count < 0)
		return cparse_fail(p, at, "an array has no negative length");
	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, at, "the array has too many dimensions");
	ok = arrays(p, base, node) && derived(p, C_ARRAY, *node, (uint64_t)count, node);
	p->depth--;
	return ok;
}

/* After a name: lengths of arrays, or the parameters of a function. */
static bool suffixes(struct cparser *p, uint32_t base, uint32_t *node)
{
	if (!cparse_is(p, '('))
		return arrays(p, base, node);
	return cparse_skip_brackets(p) && derived(p, C_FUNCTION, base, 0, node);
}

/*
 * "(*name)(…)": the text after the parentheses is read first, because it binds closer to the
 * type.
 */
static bool inner_declarator(struct cparser *p, uint32_t base, uint32_t *node, const char **name,
			     struct span *at, struct cattributes *attr)
{
	const struct cmark start = cparse_mark(p);
	struct cmark end;
	bool ok;

	if (++p->depth > CDEF_MAX_DEPTH)
		return cparse_fail(p, p->tok.at, "there are too many parentheses");
	if (!cparse_skip_brackets(p) || !suffixes(p, base, &base))
		return false;
	end = cparse_mark(p);
	cparse_return(p, &start);
	cparse_next(p);
	ok = cparse_declarator(p, base, node, name, at, attr) &&
	     cparse_expect(p, ')', "after the name");
	cparse_return(p, &end);
	p->depth--;
	return ok;
}

bool cparse_declarator(struct cparser *p, uint32_t base, uint32_t *node, const char **name,
		       struct span *at, struct cattributes *attr)
{
	if (!cparse_qualifiers(p, attr))
		return false;
	while (cparse_accept(p, '*'))
		if (!derived(p, C_POINTER, base, 0, &base) || !cparse_qualifiers(p, attr))
			return false;
	if (cparse_is(p, '('))
		return inner_declarator(p, base, node, name, at, attr) &&
		       cparse_qualifiers(p, attr);
	if (p->tok.kind == CT_NAME) {
		*at = p->tok.at;
		*name = cparse_text(p);
		if (!*name)
			return cparse_no_memory(p);
		cparse_next(p);
	}
	return suffixes(p, base, node) && cparse_qualifiers(p, attr);
}

/* ---- types without a name ---- */

bool cparse_at_type(const struct cparser *p)
{
	static const char *const words[] = {"struct", "union", "enum", "const", "volatile"};
	struct type t;
	char name[64];

	if (p->tok.kind != CT_NAME)
		return false;
	if (IS_ONE_OF(p, words) || IS_ONE_OF(p, base_words))
		return true;
	if (cparse_len(p) >= sizeof(name))
		return false;
	memcpy(name, cparse_at(p), cparse_len(p));
	name[cparse_len(p)] = '\0';
	return cdef_name(p->d, &p->d->typedefs, name) || ctype_base(name, &t);
}

bool cparse_type(struct cparser *p, uint32_t *node)
{
	struct cattributes attr = {0};
	const char *name = NULL;
	struct span at = p->tok.at;

	if (!cparse_specifier(p, node, &attr) ||
	    !cparse_declarator(p, *node, node, &name, &at, &attr))
		return false;
	return !name || cparse_fail(p, at, "'%s' is not expected here", name);
}

/* ---- declarations ---- */

static bool is_same_type(const struct cdefs *d, uint32_t a, uint32_t b)
{
	struct type x = cdef_view(d, a), y = cdef_view(d, b);

	return type_same(&x, &y);
}

/* A type like that of the node, with another alignment. */
static bool align_type(struct cparser *p, uint32_t *node, uint64_t align, struct span at)
{
	const struct type t = cdef_view(p->d, *node);
	const uint32_t from = *node;

	if (align <= type_align(&t))
		return true;
	if (!p->d->nodes.at[from].defined || t.kind != TYPE_STRUCT)
		return cparse_fail(p, at, "only a struct can have another alignment");
	*node = cdef_node(p->d, p->d->nodes.at[from].kind);
	if (!*node)
		return cparse_no_memory(p);
	p->d->nodes.at[*node] = p->d->nodes.at[from];
	p->d->nodes.at[*node].align = align;
	return true;
}

static bool add_typedef(struct cparser *p, const char *name, struct span at, uint32_t node,
			const struct cattributes *attr)
{
	const struct cname *old = cdef_name(p->d, &p->d->typedefs, name);

	if (!may_replace(p, old) && !is_same_type(p->d, old->node, node))
		return cparse_fail(p, at, "'%s' is already another type", name);
	if (p->in_header && attr->aligned && !align_type(p, &node, attr->aligned, at))
		return false;
	return cdef_set_name(p->d, &p->d->typedefs, &(struct cname){name, node, 0, p->in_header}) ||
	       cparse_no_memory(p);
}

static bool declaration(struct cparser *p)
{
	static const char *const storage[] = {"extern",	  "static",	"inline",
					      "__inline", "__inline__", "_Noreturn"};
	bool is_typedef = cparse_accept_word(p, "typedef"), passed = false;
	struct cattributes attr = {0};
	uint32_t base;

	while (IS_ONE_OF(p, storage)) {
		cparse_next(p);
		passed = true;
	}
	if (!cparse_specifier(p, &base, &attr))
		return false;
	/* As in bpftrace, the semicolon after a struct may be missing before the probes. */
	if (cparse_accept(p, ';') || (!is_typedef && p->tok.kind == CT_END))
		return true;
	do {
		const char *name = NULL;
		struct span at = p->tok.at;
		uint32_t node;

		if (!cparse_declarator(p, base, &node, &name, &at, &attr))
			return false;
		if (!name)
			return cparse_fail(p, at, "a name is missing here");
		if (is_typedef && !add_typedef(p, name, at, node, &attr))
			return false;
		if (p->d->nodes.at[node].kind == C_FUNCTION && cparse_is(p, '{'))
			return cparse_skip_brackets(p);
		if (!is_typedef && !passed && !p->in_header &&
		    p->d->nodes.at[node].kind != C_FUNCTION)
			source_warning(p->source, at,
				       "'%s' is a variable of C, which nothing can use", name);
	} while (cparse_accept(p, ','));
	return cparse_expect(p, ';', "after the definition");
}

/* ---- declarations that are skipped ---- */

/* The file that the last mark names, in the arena; that of the text if there is none. */
static const char *file_of(struct cparser *p, const struct clexer *l, const char *name)
{
	const char *from = l->text + l->mark, *end;

	if (!l->mark)
		return name;
	from += strspn(from, "# ");
	end = memchr(from, '\n', (size_t)(l->text + l->end - from));
	return end ? arena_strndup(&p->d->arena, from, (size_t)(end - from)) : name;
}

static void remember(struct cparser *p, struct span name, const char *file)
{
	struct cskipped *s =
		p->d->nr_skipped < CDEF_MAX_SKIPPED ? arena_alloc(&p->d->arena, sizeof(*s)) : NULL;

	if (!s || !file)
		return;
	p->d->nr_skipped++;
	*s = (struct cskipped){
		.next = p->d->skipped,
		.name = arena_strndup(&p->d->arena, p->lex.text + name.from, name.to - name.from),
		.file = file,
		.why = arena_strdup(&p->d->arena, p->why),
	};
	if (s->name && s->why)
		p->d->skipped = s;
}

/* A bracket that is not closed would hide everything after it: continues with the next file. */
static void next_file(struct cparser *p, const struct clexer *start)
{
	const char *from = start->text + start->pos;
	const char *mark = memmem(from, start->end - start->pos, "\n#", 2);

	if (!mark || p->nr_unclosed++ >= CDEF_MAX_UNCLOSED)
		return;
	p->lex = *start;
	p->lex.pos = (uint32_t)(mark - start->text);
	cparse_next(p);
}

/* After an error: skips to after the next ';' outside of brackets, or after a function's body. */
static void resume(struct cparser *p, const struct cmark *start, const char *part)
{
	static const char *const tags[] = {"struct", "union", "enum"};
	const char *file = p->in_header ? file_of(p, &start->lex, part) : NULL;
	bool is_typedef, is_body = false, after_tag = false;
	struct span name = {0, 0};

	cparse_return(p, start);
	is_typedef = cparse_is_word(p, "typedef");
	while (p->tok.kind != CT_END && !cparse_is(p, ';')) {
		if (cparse_is(p, '{') || cparse_is(p, '(') || cparse_is(p, '[')) {
			const bool is_block = cparse_is(p, '{');

			if (is_block && !is_body && after_tag && name.to)
				remember(p, name, file);
			is_body &= is_block;
			cparse_skip_brackets(p);
			if (is_body && p->in_header)
				return;
			is_body = !is_block;
		} else {
			if (p->tok.kind == CT_NAME && !IS_ONE_OF(p, tags) &&
			    !cparse_is_word(p, "typedef"))
				name = p->tok.at;
			after_tag |= IS_ONE_OF(p, tags);
			is_body = false;
			cparse_next(p);
		}
	}
	if (is_typedef && name.to)
		remember(p, name, file);
	if (p->tok.kind == CT_END && p->in_header)
		next_file(p, &start->lex);
	cparse_accept(p, ';');
}

/* ---- texts ---- */

static int parse_text(struct cparser *p, const struct c_text *c)
{
	const struct source_part *part = source_part_of(p->source, c->at.from);
	unsigned int errors = 0;

	p->in_header = c->origin != C_OF_SCRIPT;
	p->nr_packs = 0;
	p->pack[0] = 0;
	p->lex = (struct clexer){.text = p->source->text.data, .pos = c->at.from, .end = c->at.to};
	if (p->lex.end > p->source->text.len)
		p->lex.end = (uint32_t)p->source->text.len;
	if (p->lex.pos > p->lex.end)
		p->lex.pos = p->lex.end;
	cparse_next(p);
	while (p->tok.kind != CT_END && errors < CDEF_MAX_ERRORS) {
		const struct cmark start = cparse_mark(p);

		if (cparse_accept(p, ';'))
			continue;
		p->failed = false;
		p->depth = 0;
		p->in_kernel = p->in_header && p->lex.mark && p->lex.mark < p->lex.end &&
			       p->lex.text[p->lex.mark] == '#';
		if (cparse_is_word(p, CDEF_PRAGMA_PACK)) {
			cparse_pragma_pack(p);
		} else if (!declaration(p)) {
			errors += !p->in_header;
			resume(p, &start, part ? part->name : "");
		}
	}
	return errors ? -EINVAL : 0;
}

int cdefs_parse(const struct script_ast *ast, struct env *e, struct cdefs **out)
{
	struct cdefs *d = cdefs_new(e);
	struct cparser p = {.d = d, .source = ast->source};
	int ret = 0;

	*out = NULL;
	if (!d)
		return -ENOMEM;
	buf_init(&p.word, MAX_TEXT);
	for (const struct c_text *c = ast->c; c && !ret; c = c->next)
		ret = parse_text(&p, c);
	buf_free(&p.word);
	if (ret)
		cdefs_free(d);
	else
		*out = d;
	return ret;
}
