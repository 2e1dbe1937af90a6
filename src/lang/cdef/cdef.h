/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files that read definitions of C share. Others use env.h.
 *
 * Everything that is defined, and every pointer and array that is made of it, is a node. A node's
 * number is the id of its type. Nodes only refer to nodes that were there before them, except
 * through pointers to structs.
 */
#ifndef LANG_CDEF_H
#define LANG_CDEF_H

#include "base/hash.h"
#include "base/map.h"
#include "lang/env/types.h"

enum {
	CDEF_MAX_NODES = 200000,
	CDEF_MAX_MEMBERS = 20000, /* of one struct, or enumerators of one enum */
	CDEF_MAX_DEPTH = 32,	  /* of anything inside something of the same kind */
	CDEF_MAX_SIZE = 1 << 30,  /* bytes of one type */
	CDEF_MAX_ERRORS = 10,
};

enum cnode_kind {
	C_OTHER, /* a type that somebody else describes: `other` */
	C_POINTER,
	C_ARRAY,
	C_FUNCTION,
	C_STRUCT,
	C_UNION,
	C_ENUM,
};

struct cmember {
	const char *name; /* "" for a struct or union without a name */
	uint32_t node;
	uint64_t offset;
	unsigned int bit, bits;
	uint64_t container; /* of bits: the size of the integer that holds them */
};

/* What __attribute__ says, of a struct or of a member. */
struct cattributes {
	bool packed;
	uint64_t aligned; /* 0: not said */
};

struct cnode {
	enum cnode_kind kind;
	struct type other;
	uint32_t target; /* of a pointer or array */
	uint64_t count;
	const char *name; /* of a struct, union or enum; "" when it has none */
	bool defined;	  /* its body has been read */
	bool open;	  /* its body is being read */
	struct cmember *members;
	struct enumerator *enumerators;
	size_t n; /* members or enumerators */
	uint64_t size, align;
	bool is_signed;
};

/* A name: of a typedef (node), or of an enumerator (node and value). */
struct cname {
	const char *name;
	uint32_t node;
	int64_t value;
};

struct cdefs {
	struct types types; /* first: a pointer to it is one to the whole */
	struct env *env;
	struct arena arena;
	struct hash_seed seed;
	struct {
		struct cnode *at; /* 0 stays unused */
		size_t n, cap;
	} nodes;
	struct map tags;	/* "struct x": the number of its node */
	struct map typedefs;	/* struct cname */
	struct map enumerators; /* struct cname */
};

/* ---- types.c ---- */

struct cdefs *cdefs_new(struct env *e);

/* A new node, 0 when there are too many. Pointers to nodes are not valid after it. */
uint32_t cdef_node(struct cdefs *d, enum cnode_kind kind);

/* The view of a node's type. */
struct type cdef_view(const struct cdefs *d, uint32_t node);

/* Names; tags are looked up by kind too. What is not there is NULL or 0. */
uint32_t cdef_tag(const struct cdefs *d, enum cnode_kind kind, const char *name);
bool cdef_set_tag(struct cdefs *d, enum cnode_kind kind, const char *name, uint32_t node);
const struct cname *cdef_name(const struct cdefs *d, const struct map *in, const char *name);
bool cdef_set_name(struct cdefs *d, struct map *in, const char *name, uint32_t node, int64_t value);

/* ---- types.c ---- */

struct clayout {
	bool is_union;
	struct cattributes attr;
	uint64_t bit;  /* where the next member may begin */
	uint64_t size; /* of the largest one of a union, in bytes */
	uint64_t align;
};

/* Places a member of that type: bits is -1, or the width of a bit field. False: too large. */
bool clayout_member(struct clayout *l, const struct type *t, const struct cattributes *attr,
		    int bits, struct cmember *m);

/* The size of the whole. */
uint64_t clayout_end(struct clayout *l);

/* ---- words ---- */

enum ctoken_kind {
	CT_END,
	CT_NAME,
	CT_NUMBER, /* value */
	CT_MARK,   /* op: the character, or one of enum node_op */
	CT_STRING,
	CT_BAD,
};

struct ctoken {
	enum ctoken_kind kind;
	int op;
	int64_t value;
	struct span at;
};

struct clexer {
	const char *text; /* of the whole source */
	uint32_t pos, end;
};

struct ctoken clex_next(struct clexer *l);

/* ---- the parser ---- */

struct cparser {
	struct cdefs *d;
	struct source *source;
	struct clexer lex;
	struct ctoken tok;
	struct buf word; /* scratch for the text of a name */
	unsigned int depth;
	bool failed; /* of the declaration that is being read */
};

/* ---- expr.c ---- */

/* The text of the word that the parser stands at. */
static inline size_t cparse_len(const struct cparser *p)
{
	return p->tok.at.to - p->tok.at.from;
}

static inline const char *cparse_at(const struct cparser *p)
{
	return p->lex.text + p->tok.at.from;
}

void cparse_next(struct cparser *p);
bool cparse_is(const struct cparser *p, int op);
bool cparse_is_word(const struct cparser *p, const char *word);
bool cparse_is_one_of(const struct cparser *p, const char *const *words, size_t n);
#define IS_ONE_OF(p, words) cparse_is_one_of(p, words, sizeof(words) / sizeof((words)[0]))
bool cparse_accept(struct cparser *p, int op);
bool cparse_accept_word(struct cparser *p, const char *word);
bool cparse_expect(struct cparser *p, int op, const char *where);

/* The text of the name that the parser stands at, in the arena; NULL without memory. */
const char *cparse_text(struct cparser *p);

/* Tells an error once for each declaration; always false. */
bool cparse_fail(struct cparser *p, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool cparse_no_memory(struct cparser *p);

/* Goes behind the bracket that belongs to the one it stands at. */
bool cparse_skip_brackets(struct cparser *p);

/* Words that may stand between those of a type and change nothing but how it is laid out. */
bool cparse_qualifiers(struct cparser *p, struct cattributes *attr);

/* ---- expr.c ---- */

/* A constant expression. */
bool cparse_expr(struct cparser *p, int64_t *value);

/* ---- parse.c: from the opening brace to what stands behind the closing one ---- */

bool cparse_struct_body(struct cparser *p, uint32_t node, struct cattributes *attr);
bool cparse_enum_body(struct cparser *p, uint32_t node);

/* ---- parse.c ---- */

bool cparse_specifier(struct cparser *p, uint32_t *node, struct cattributes *attr);
bool cparse_declarator(struct cparser *p, uint32_t base, uint32_t *node, const char **name,
		       struct span *at, struct cattributes *attr);

/* A type without a name: "struct x *", "int"; false with an error told. */
bool cparse_type(struct cparser *p, uint32_t *node);

/* Whether a type begins here. */
bool cparse_at_type(const struct cparser *p);

#endif
