// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A small reader of BTF; see btf.h for the layout.
 *
 * Invariants: at[i] is where type first + i begins, and its twelve bytes and whatever its kind says
 * follows them lie inside the types; strings end with a zero byte. Names and numbers of other types
 * are checked where they are used: they may point anywhere, in circles too.
 */
#include "user/btf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/vec.h"

#define BTF_MAGIC	0xeb9f
#define BTF_MAX_SIZE	(256u << 20)
#define MAX_DECLARATION 4096
#define MAX_STEPS	32 /* typedefs and qualifiers in front of a type */
#define BTF_KIND_FLAG	(1u << 31)

enum btf_kind {
	BTF_INT = 1,
	BTF_PTR,
	BTF_ARRAY,
	BTF_STRUCT,
	BTF_UNION,
	BTF_ENUM,
	BTF_FWD,
	BTF_TYPEDEF,
	BTF_VOLATILE,
	BTF_CONST,
	BTF_RESTRICT,
	BTF_FUNC,
	BTF_FUNC_PROTO,
	BTF_VAR,
	BTF_DATASEC,
	BTF_FLOAT,
	BTF_DECL_TAG,
	BTF_TYPE_TAG,
	BTF_ENUM64,
	BTF_KINDS
};

/* Bytes behind the twelve that every type has: so many, and so many per element. */
static const struct {
	uint8_t fixed, each;
} tails[BTF_KINDS] = {
	[BTF_INT] = {4, 0},	[BTF_ARRAY] = {12, 0},	 [BTF_STRUCT] = {0, 12},
	[BTF_UNION] = {0, 12},	[BTF_ENUM] = {0, 8},	 [BTF_FUNC_PROTO] = {0, 8},
	[BTF_VAR] = {4, 0},	[BTF_DATASEC] = {0, 12}, [BTF_DECL_TAG] = {4, 0},
	[BTF_ENUM64] = {0, 12},
};

struct btf {
	struct types types; /* first: a pointer to it is one to the whole */
	const struct btf *base;
	bool big_endian;
	uint8_t *data;		/* owned */
	const uint8_t *section; /* the types */
	size_t section_len;
	const char *strings;
	size_t strings_len;
	uint32_t first;	       /* the number of at[0] */
	uint32_t first_string; /* the offset of strings[0] */
	struct {
		uint32_t *at;
		size_t n, cap;
	} where;
	struct hash_seed seed;
	struct map functions; /* by the hash of their names; the value is the number of the type */
};

struct record {
	uint32_t name, count, size; /* `size` is the number of a type for most kinds */
	enum btf_kind kind;
	bool flag;
	struct cursor tail;
};

/* ---- types by number ------------------------------------------------------------------- */

static bool read_record(const struct btf *b, uint32_t id, struct record *r)
{
	struct cursor c;
	uint32_t info;

	if (id < b->first)
		return b->base && read_record(b->base, id, r);
	if (id - b->first >= b->where.n)
		return false;
	c = cursor_over(b->section, b->section_len, b->big_endian);
	cursor_skip(&c, b->where.at[id - b->first]);
	r->name = cursor_u32(&c);
	info = cursor_u32(&c);
	r->size = cursor_u32(&c);
	r->count = info & 0xffff;
	r->kind = info >> 24 & 0x1f;
	r->flag = info & BTF_KIND_FLAG;
	r->tail = c;
	return !cursor_failed(&c);
}

static const char *string_at(const struct btf *b, uint32_t offset)
{
	if (offset < b->first_string)
		return b->base ? string_at(b->base, offset) : "";
	offset -= b->first_string;
	return offset < b->strings_len ? b->strings + offset : "";
}

/* Looks through typedefs and qualifiers; false when there are too many or they lead nowhere. */
static bool plain_record(const struct btf *b, uint32_t *id, struct record *r, bool *user)
{
	for (unsigned int i = 0; i < MAX_STEPS; i++) {
		if (!*id || !read_record(b, *id, r))
			return false;
		switch (r->kind) {
		case BTF_TYPE_TAG:
			if (user && !strcmp(string_at(b, r->name), "user"))
				*user = true;
			break;
		case BTF_TYPEDEF:
		case BTF_VOLATILE:
		case BTF_CONST:
		case BTF_RESTRICT: break;
		default: return true;
		}
		*id = r->size;
	}
	return false;
}

static void integer_of(const struct btf *b, struct record *r, struct type *t)
{
	uint32_t encoding = cursor_u32(&r->tail);

	t->kind = TYPE_INTEGER;
	t->is_signed = encoding >> 24 & 1;
	t->is_char = r->size == 1 && !strcmp(string_at(b, r->name), "char");
}

static struct type type_of(const struct btf *b, uint32_t id)
{
	struct type t = {.in = &b->types, .kind = id ? TYPE_UNKNOWN : TYPE_VOID};
	struct record r, pointee;

	if (!plain_record(b, &id, &r, NULL)) {
		if (!id)
			t.kind = TYPE_VOID; /* const void */
		return t;
	}
	t.id = id;
	t.size = r.size;
	switch (r.kind) {
	case BTF_INT: integer_of(b, &r, &t); break;
	case BTF_ENUM:
	case BTF_ENUM64:
		t.kind = TYPE_INTEGER;
		t.is_signed = r.flag;
		break;
	case BTF_FLOAT: t.kind = TYPE_FLOAT; break;
	case BTF_STRUCT:
	case BTF_UNION: t.kind = TYPE_STRUCT; break;
	case BTF_PTR:
		t.kind = TYPE_POINTER;
		t.size = 0; /* a word, whatever that is there */
		id = r.size;
		plain_record(b, &id, &pointee, &t.user);
		break;
	case BTF_ARRAY:
		t.kind = TYPE_ARRAY;
		t.size = 0;
		cursor_skip(&r.tail, 8);
		t.count = cursor_u32(&r.tail);
		break;
	case BTF_FUNC_PROTO: t.kind = TYPE_FUNCTION; break;
	default: t.size = 0;
	}
	return t;
}

static bool btf_target(const struct types *in, const struct type *t, struct type *to)
{
	const struct btf *b = (const struct btf *)in;
	struct record r;

	if (!read_record(b, (uint32_t)t->id, &r))
		return false;
	if (r.kind == BTF_PTR)
		*to = type_of(b, r.size);
	else if (r.kind == BTF_ARRAY)
		*to = type_of(b, cursor_u32(&r.tail));
	else
		return false;
	return true;
}

static bool btf_member(const struct types *in, const struct type *t, size_t number,
		       struct member *m)
{
	const struct btf *b = (const struct btf *)in;
	uint32_t offset, bits = 0;
	struct record r;

	if (!read_record(b, (uint32_t)t->id, &r) || number >= r.count ||
	    (r.kind != BTF_STRUCT && r.kind != BTF_UNION))
		return false;
	cursor_skip(&r.tail, number * 12);
	*m = (struct member){.name = string_at(b, cursor_u32(&r.tail))};
	m->type = type_of(b, cursor_u32(&r.tail));
	offset = cursor_u32(&r.tail);
	if (r.flag) {
		bits = offset >> 24;
		offset &= 0xffffff;
	}
	if (bits)
		member_set_bits(m, offset, bits);
	else
		m->offset = offset / 8;
	return !cursor_failed(&r.tail);
}

/* ---- functions ------------------------------------------------------------------------- */

static bool function_record(const struct btf *b, const char *name, struct record *r)
{
	uint64_t key = hash_bytes(&b->seed, name, strlen(name));
	uint32_t id = (uint32_t)(uintptr_t)map_get(&b->functions, key);

	if (!id)
		return b->base && function_record(b->base, name, r);
	/* Two names of the same hash: one of them is then not found. */
	return read_record(b, id, r) && !strcmp(string_at(b, r->name), name);
}

bool btf_function(const struct btf *b, const char *name, struct arena *arena, struct proto *p)
{
	struct record r, proto;
	uint32_t n;

	if (!function_record(b, name, &r) || !read_record(b, r.size, &proto) ||
	    proto.kind != BTF_FUNC_PROTO)
		return false;
	n = proto.count < PROTO_MAX_PARAMS ? proto.count : PROTO_MAX_PARAMS;
	*p = (struct proto){.ret = type_of(b, proto.size)};
	p->at = arena_array(arena, n ? n : 1, sizeof(*p->at));
	if (!p->at)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t word = cursor_u32(&proto.tail), id = cursor_u32(&proto.tail);

		if (!word && !id)
			break; /* "…" */
		p->at[p->n].name = string_at(b, word);
		p->at[p->n++].type = type_of(b, id);
	}
	return !cursor_failed(&proto.tail);
}

/* ---- functions as C declares them ------------------------------------------------------- */

/* "struct", "union" or "enum" in front of a name that needs it. */
static const char *tag_of(const struct record *r)
{
	switch (r->kind) {
	case BTF_STRUCT: return "struct ";
	case BTF_UNION: return "union ";
	case BTF_FWD: return r->flag ? "union " : "struct ";
	case BTF_ENUM:
	case BTF_ENUM64: return "enum ";
	default: return "";
	}
}

/* Puts something in front of a text and something behind it. */
static void wrap(struct buf *text, const char *front, const char *behind)
{
	size_t n = strlen(front);

	if (buf_room(text, n)) {
		memmove(text->data + n, text->data, text->len);
		memcpy(text->data, front, n);
		text->len += n;
	}
	buf_puts(text, behind);
}

/*
 * Appends the declaration of something of a type, from its name outwards: pointers come in front of
 * what is there already, arrays and parameters behind it.
 */
static void put_declaration(const struct btf *b, uint32_t id, const char *name, struct buf *to)
{
	struct record r = {.kind = BTF_INT};
	bool pointer = false, constant = false, done = false;
	struct buf inner;

	buf_init(&inner, MAX_DECLARATION);
	buf_puts(&inner, name);
	for (unsigned int i = 0; !done && id && i < MAX_STEPS && read_record(b, id, &r); i++) {
		if ((r.kind == BTF_ARRAY || r.kind == BTF_FUNC_PROTO) && pointer)
			wrap(&inner, "(", ")");
		switch (r.kind) {
		case BTF_PTR:
			wrap(&inner, constant ? "*const " : "*", "");
			constant = false;
			break;
		case BTF_CONST: constant = true; break;
		case BTF_FUNC_PROTO: buf_puts(&inner, "(...)"); break;
		case BTF_ARRAY: buf_puts(&inner, "[]"); break;
		case BTF_VOLATILE:
		case BTF_RESTRICT:
		case BTF_TYPE_TAG: break;
		default: done = true; break;
		}
		pointer = r.kind == BTF_PTR;
		if (!done)
			id = r.kind == BTF_ARRAY ? cursor_u32(&r.tail) : r.size;
	}
	buf_printf(to, "%s%s%s", constant ? "const " : "", done ? tag_of(&r) : "",
		   done ? string_at(b, r.name) : "void");
	if (inner.len)
		buf_putc(to, ' ');
	buf_put(to, inner.data, inner.len);
	buf_free(&inner);
}

bool btf_prototype(const struct btf *b, const char *name, struct buf *to)
{
	struct record r, proto;

	if (!function_record(b, name, &r) || !read_record(b, r.size, &proto) ||
	    proto.kind != BTF_FUNC_PROTO)
		return false;
	put_declaration(b, proto.size, name, to);
	buf_puts(to, proto.count ? "(" : "(void");
	for (uint32_t i = 0; i < proto.count && i < PROTO_MAX_PARAMS; i++) {
		uint32_t word = cursor_u32(&proto.tail), id = cursor_u32(&proto.tail);

		buf_puts(to, i ? ", " : "");
		if (word || id)
			put_declaration(b, id, string_at(b, word), to);
		else
			buf_puts(to, "...");
	}
	buf_puts(to, ");");
	return true;
}

/* ---- loading --------------------------------------------------------------------------- */

static int index_types(struct btf *b, struct spur_error *err)
{
	struct cursor c = cursor_over(b->section, b->section_len, b->big_endian);

	while (cursor_left(&c)) {
		uint32_t at = (uint32_t)(c.pos - c.base);
		uint32_t name = cursor_u32(&c), info = cursor_u32(&c);
		uint32_t kind = info >> 24 & 0x1f, *where = vec_push(&b->where);
		const char *text;

		if (!where)
			return -ENOMEM;
		*where = at;
		cursor_skip(&c, 4);
		/*
		 * A kind that came later: nothing behind it can be found, what stands before can.
		 */
		if (!kind || kind >= BTF_KINDS) {
			b->where.n--;
			break;
		}
		cursor_skip(&c, tails[kind].fixed + (uint64_t)tails[kind].each * (info & 0xffff));
		if (cursor_failed(&c))
			return error_set(err, -EBADMSG, "a type of the BTF is cut off");
		text = string_at(b, name);
		if (kind == BTF_FUNC && text[0] &&
		    !map_set(&b->functions, hash_bytes(&b->seed, text, strlen(text)),
			     (void *)(uintptr_t)(b->first + b->where.n - 1)))
			return -ENOMEM;
	}
	return 0;
}

/* A part of the data behind the header, by offset and length. */
static const uint8_t *part(const struct btf *b, size_t size, uint32_t head, uint32_t offset,
			   uint32_t len)
{
	uint64_t start = (uint64_t)head + offset;

	return start <= size && len <= size - start ? b->data + start : NULL;
}

static int read_header(struct btf *b, size_t size, struct spur_error *err)
{
	struct cursor c;
	uint32_t head, types, types_len, strings, strings_len;

	if (size >= 2)
		b->big_endian = load_uint(b->data, 2, true) == BTF_MAGIC;
	c = cursor_over(b->data, size, b->big_endian);
	if (cursor_u16(&c) != BTF_MAGIC)
		return error_set(err, -EBADMSG, "it is no BTF");
	cursor_skip(&c, 2);
	head = cursor_u32(&c);
	types = cursor_u32(&c);
	types_len = cursor_u32(&c);
	strings = cursor_u32(&c);
	strings_len = cursor_u32(&c);
	b->section = part(b, size, head, types, types_len);
	b->strings = (const char *)part(b, size, head, strings, strings_len);
	b->section_len = types_len;
	b->strings_len = strings_len;
	if (cursor_failed(&c) || !b->section || !b->strings ||
	    (strings_len && b->strings[strings_len - 1]))
		return error_set(err, -EBADMSG, "the header of the BTF makes no sense");
	return 0;
}

static int follow_base(struct btf *b, struct spur_error *err)
{
	uint32_t types = 0, strings = 0;

	b->first = 1;
	if (!b->base)
		return 0;
	if (b->base->big_endian != b->big_endian)
		return error_set(err, -EBADMSG, "the module's BTF is of another machine");
	if (__builtin_add_overflow(b->base->first, b->base->where.n, &types) ||
	    __builtin_add_overflow(b->base->first_string, b->base->strings_len, &strings))
		return error_set(err, -EBADMSG, "the BTF has too many types");
	b->first = types;
	b->first_string = strings;
	return 0;
}

int btf_parse(const void *data, size_t size, const struct btf *base, struct btf **out,
	      struct spur_error *err)
{
	struct btf *b = calloc(1, sizeof(*b));
	int ret = -ENOMEM;

	*out = NULL;
	if (!b)
		return error_sys(err, ret, "BTF");
	b->types = (struct types){.target = btf_target, .member = btf_member};
	b->base = base;
	b->seed = hash_seed_new();
	b->data = malloc(size ? size : 1);
	if (!b->data)
		goto out;
	memcpy(b->data, data, size);
	ret = size > BTF_MAX_SIZE ? error_set(err, -EBADMSG, "the BTF is too large")
				  : read_header(b, size, err);
	if (!ret)
		ret = follow_base(b, err);
	if (!ret)
		ret = index_types(b, err);
out:
	if (ret) {
		btf_free(b);
		return error_sys(err, ret, "BTF");
	}
	*out = b;
	return 0;
}

int btf_open(const char *path, const struct btf *base, struct btf **out, struct spur_error *err)
{
	struct buf text;
	int ret;

	*out = NULL;
	buf_init(&text, BTF_MAX_SIZE);
	ret = file_read(path, &text, err);
	if (!ret) {
		ret = btf_parse(text.data, text.len, base, out, err);
		if (ret)
			error_prefix(err, "%s", path);
	}
	buf_free(&text);
	return ret;
}

void btf_free(struct btf *b)
{
	if (!b)
		return;
	map_free(&b->functions);
	vec_free(&b->where);
	free(b->data);
	free(b);
}
