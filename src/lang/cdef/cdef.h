/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to src/lang: definitions in C. Other files use lang/env.h.
 *
 * Every defined type, and every pointer and array of one, is a node. A node's number is the id of
 * its type. Nodes only refer to older nodes, except through pointers to structs.
 */
#ifndef LANG_CDEF_H
#define LANG_CDEF_H

#include "base/array.h"
#include "base/hash.h"
#include "base/map.h"
#include "lang/env/types.h"

enum {
	CDEF_MAX_NODES = 200000,
	CDEF_MAX_MEMBERS = 20000, /* of one struct, or enumerators of one enum */
	CDEF_MAX_DEPTH = 32,	  /* of nested structs, declarators and expressions */
	CDEF_MAX_SIZE = 1 << 30,  /* bytes of one type */
	CDEF_MAX_ERRORS = 10,
	CDEF_MAX_PACKS = 16,
	CDEF_MAX_UNCLOSED = 16,	 /* brackets of headers that are not closed */
	CDEF_MAX_SKIPPED = 1000, /* that are remembered for messages */
};

enum cnode_kind {
	C_OTHER, /* a type that is not defined in the script: `other` */
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
	uint64_t container; /* of a bit field: the size of its integer */
};

/* __attribute__ of a struct or of a member. */
struct cattributes {
	bool packed;
	uint64_t aligned; /* 0: not given */
};

struct cnode {
	enum cnode_kind kind;
	struct type other;
	uint32_t target; /* of a pointer or array */
	uint64_t count;
	const char *name; /* of a struct, union or enum; "" if it has none */
	bool defined;	  /* its body has been read */
	bool open;	  /* its body is being read */
	bool of_header;	  /* a definition of the script may replace it */
	bool of_kernel;	  /* it is of the kernel's own headers: what the kernel says comes first */
	struct cmember *members;
	struct enumerator *enumerators;
	size_t n; /* members or enumerators */
	uint64_t size, align;
	bool is_signed;
};

/* The name of a typedef (node) or of an enumerator (node and value). */
struct cname {
	const char *name;
	uint32_t node;
	int64_t value;
	bool of_header; /* a definition of the script may replace it */
};

/* A type that a header defines in a way that was not understood. */
struct cskipped {
	struct cskipped *next;
	const char *name; /* without "struct" */
	const char *file, *why;
};

struct cdefs {
	struct types types; /* first: its address is that of the whole struct */
	struct env *env;
	struct arena arena;
	struct hash_seed seed;
	struct {
		struct cnode *at; /* 0 is not used */
		size_t n, cap;
	} nodes;
	struct map tags;	/* "struct x": the number of its node */
	struct map typedefs;	/* struct cname */
	struct map enumerators; /* struct cname */
	struct cskipped *skipped;
	unsigned int nr_skipped;
};

/* ---- nodes and names: types.c ---- */

struct cdefs *cdefs_new(struct env *e);

/* A new node; 0: there are too many. Pointers to nodes are invalid after it. */
uint32_t cdef_node(struct cdefs *d, enum cnode_kind kind);

/* The type of a node. */
struct type cdef_view(const struct cdefs *d, uint32_t node);

/* Names; tags are looked up by kind, too. NULL or 0: there is none. */
uint32_t cdef_tag(const struct cdefs *d, enum cnode_kind kind, const char *name);
bool cdef_set_tag(struct cdefs *d, enum cnode_kind kind, const char *name, uint32_t node);
const struct cname *cdef_name(const struct cdefs *d, const struct map *in, const char *name);
bool cdef_set_name(struct cdefs *d, struct map *in, const struct cname *entry);

/* ---- layout: types.c ---- */

struct clayout {
	bool is_union;
	struct cattributes attr;
	uint64_t pack; /* the largest alignment of a member; 0: any */
	uint64_t bit;  /* where the next member may begin */
	uint64_t size; /* of the largest member of a union, in bytes */
	uint64_t align;
};

/* Places a member. bits is -1, or the width of a bit field. False: it is too large. */
bool clayout_member(struct clayout *l, const struct type *t, const struct cattributes *attr,
		    int bits, struct cmember *m);

/* The size of the whole. */
uint64_t clayout_end(struct clayout *l);

/* ---- words: expr.c ---- */

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
	uint32_t mark; /* after the '#' of the last line that begins with it; 0: there was none */
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
	bool failed;		       /* an error of the current declaration was reported */
	bool in_header;		       /* errors are not reported: the declaration is skipped */
	bool in_kernel;		       /* … of the kernel's own headers */
	bool in_condition;	       /* of an #if: names are 0, and so is a division by 0 */
	uint64_t pack[CDEF_MAX_PACKS]; /* #pragma pack: the last one holds, 0 is none */
	unsigned int nr_packs, nr_unclosed;
	char why[300]; /* the error, in a header */
};

/* A place in the text, to read it again from there on. */
struct cmark {
	struct clexer lex;
	struct ctoken tok;
};

static inline struct cmark cparse_mark(const struct cparser *p)
{
	return (struct cmark){p->lex, p->tok};
}

static inline void cparse_return(struct cparser *p, const struct cmark *to)
{
	p->lex = to->lex;
	p->tok = to->tok;
}

/* ---- steps of the parser: expr.c ---- */

/* The text of the current word. */
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
#define IS_ONE_OF(p, words) cparse_is_one_of(p, words, ARRAY_SIZE(words))
bool cparse_accept(struct cparser *p, int op);
bool cparse_accept_word(struct cparser *p, const char *word);
bool cparse_expect(struct cparser *p, int op, const char *where);

/* The current name, in the arena; NULL without memory. */
const char *cparse_text(struct cparser *p);

/* Reports the first error of each declaration; always false. */
bool cparse_fail(struct cparser *p, struct span at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

bool cparse_no_memory(struct cparser *p);

/* A "#pragma pack", which pp_copy_c() has made a declaration. */
void cparse_pragma_pack(struct cparser *p);

/* Skips to after the bracket that closes the current one. */
bool cparse_skip_brackets(struct cparser *p);

/* Reads qualifiers and attributes: words of a type that only change its layout. */
bool cparse_qualifiers(struct cparser *p, struct cattributes *attr);

/* A constant expression. */
bool cparse_expr(struct cparser *p, int64_t *value);

/* The condition of an #if, with all definitions replaced; false if it is not understood. */
bool cparse_condition(const char *text, size_t len, bool *holds);

/* ---- declarations: parse.c ---- */

/* From the opening brace to the attributes after the closing one. */
bool cparse_struct_body(struct cparser *p, uint32_t node, struct cattributes *attr);
bool cparse_enum_body(struct cparser *p, uint32_t node);

bool cparse_specifier(struct cparser *p, uint32_t *node, struct cattributes *attr);
bool cparse_declarator(struct cparser *p, uint32_t base, uint32_t *node, const char **name,
		       struct span *at, struct cattributes *attr);

/* A type without a name: "struct x *", "int"; false with an error. */
bool cparse_type(struct cparser *p, uint32_t *node);

/* Whether the current word begins a type. */
bool cparse_at_type(const struct cparser *p);

#endif
