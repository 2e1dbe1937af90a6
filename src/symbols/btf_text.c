// SPDX-License-Identifier: GPL-2.0-or-later
/* Writes types of BTF as declarations and definitions in C. */
#include <inttypes.h>
#include <string.h>

#include "symbols/btf_record.h"

/* The tag before a name that needs one, or "". */
static const char *tag_of(const struct btf_record *r)
{
	switch (r->kind) {
	case BTF_STRUCT: return "struct";
	case BTF_UNION: return "union";
	case BTF_FWD: return r->flag ? "union" : "struct";
	case BTF_ENUM:
	case BTF_ENUM64: return "enum";
	default: return "";
	}
}

/* ---- functions ---- */

#define MAX_DECLARATION 4096

/* Adds something before and after a text. */
static void wrap(struct buf *text, const char *front, const char *end)
{
	buf_put_front(text, front);
	buf_puts(text, end);
}

/*
 * Appends the declaration of something of a type, from its name outwards: pointers are added before
 * the text, arrays and parameters after it.
 */
static void put_declaration(const struct btf *b, uint32_t id, const char *name, struct buf *to)
{
	struct btf_record r = {.kind = BTF_INT};
	bool pointer = false, constant = false, done = false;
	const char *tag;
	struct buf inner;

	buf_init(&inner, MAX_DECLARATION);
	buf_puts(&inner, name);
	for (unsigned int i = 0; !done && id && i < BTF_MAX_STEPS && btf_read(b, id, &r); i++) {
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
	tag = done ? tag_of(&r) : "";
	buf_printf(to, "%s%s%s%s", constant ? "const " : "", tag, *tag ? " " : "",
		   done ? btf_string(b, r.name) : "void");
	if (inner.len)
		buf_putc(to, ' ');
	buf_put(to, inner.data, inner.len);
	buf_free(&inner);
}

bool btf_prototype(const struct btf *b, const char *name, struct buf *to)
{
	struct btf_record r, proto;

	if (!btf_function_record(b, name, &b, &r) || !btf_read(b, r.size, &proto) ||
	    proto.kind != BTF_FUNC_PROTO)
		return false;
	put_declaration(b, proto.size, name, to);
	buf_puts(to, proto.count ? "(" : "(void");
	for (uint32_t i = 0; i < proto.count && i < PROTO_MAX_PARAMS; i++) {
		uint32_t word = cursor_u32(&proto.tail), id = cursor_u32(&proto.tail);

		buf_puts(to, i ? ", " : "");
		if (word || id)
			put_declaration(b, id, btf_string(b, word), to);
		else
			buf_puts(to, "...");
	}
	buf_puts(to, ");");
	return true;
}

/* ---- structs, unions and enums ---- */

/*
 * One member a line, indented by tabs. Nameless types are written out in place, down to a depth;
 * padding is not shown.
 */

#define MAX_MEMBER     65536
#define MAX_DEPTH      12
#define FUNCTION_DEPTH 4 /* that a function's parameters count for: these multiply */

struct indent {
	unsigned int tabs;  /* in front of a member */
	unsigned int depth; /* of nested types and parameters */
};

static void put_definition(const struct btf *b, const struct btf_record *r, struct indent at,
			   struct buf *to);
static void put_declared(const struct btf *b, uint32_t id, const char *name, struct indent at,
			 struct buf *to);

static void put_base(const struct btf *b, const struct btf_record *r, struct indent at,
		     struct buf *to)
{
	const char *name = btf_string(b, r->name), *tag = tag_of(r);

	if (*tag && !*name && r->kind != BTF_FWD && at.depth < MAX_DEPTH) {
		at.depth++;
		put_definition(b, r, at, to);
	} else {
		buf_printf(to, "%s%s%s", tag, *tag ? " " : "", *name || !*tag ? name : "{…}");
	}
}

static void put_parameters(const struct btf *b, struct btf_record *proto, struct indent at,
			   struct buf *to)
{
	buf_putc(to, '(');
	if (!proto->count)
		buf_puts(to, "void");
	for (uint32_t i = 0; i < proto->count && i < PROTO_MAX_PARAMS && !to->full; i++) {
		uint32_t name = cursor_u32(&proto->tail), id = cursor_u32(&proto->tail);

		buf_puts(to, i ? ", " : "");
		if (name || id)
			put_declared(b, id, "", at, to);
		else
			buf_puts(to, "...");
	}
	buf_putc(to, ')');
}

/* One step outwards from the name; the id of the next type. */
static uint32_t step(const struct btf *b, struct btf_record *r, struct indent at, bool *constant,
		     struct buf *inner)
{
	uint32_t next = r->size;

	switch (r->kind) {
	case BTF_PTR:
		buf_put_front(inner, *constant && inner->len ? "* const "
				     : *constant	     ? "* const"
							     : "*");
		*constant = false;
		break;
	case BTF_CONST: *constant = true; break;
	case BTF_ARRAY:
		next = cursor_u32(&r->tail);
		cursor_u32(&r->tail);
		buf_printf(inner, "[%u]", cursor_u32(&r->tail));
		break;
	case BTF_FUNC_PROTO:
		at.depth += FUNCTION_DEPTH;
		if (at.depth < MAX_DEPTH)
			put_parameters(b, r, at, inner);
		else
			buf_puts(inner, "(...)");
		break;
	default: break;
	}
	return next;
}

static bool is_step(enum btf_kind kind)
{
	return BTF_KIND_BIT(kind) &
	       (BTF_KIND_BIT(BTF_PTR) | BTF_KIND_BIT(BTF_CONST) | BTF_KIND_BIT(BTF_VOLATILE) |
		BTF_KIND_BIT(BTF_RESTRICT) | BTF_KIND_BIT(BTF_TYPE_TAG) | BTF_KIND_BIT(BTF_ARRAY) |
		BTF_KIND_BIT(BTF_FUNC_PROTO));
}

/* Pointers are added before the text, arrays and parameters after it. */
static void put_declared(const struct btf *b, uint32_t id, const char *name, struct indent at,
			 struct buf *to)
{
	struct btf_record r = {.kind = BTF_INT};
	bool pointer = false, constant = false, known = false;
	struct buf inner;

	buf_init(&inner, MAX_MEMBER);
	buf_puts(&inner, name);
	for (unsigned int i = 0; id && i < BTF_MAX_STEPS; i++) {
		known = btf_read(b, id, &r) && !is_step(r.kind);
		if (!is_step(r.kind))
			break;
		if ((r.kind == BTF_ARRAY || r.kind == BTF_FUNC_PROTO) && pointer) {
			buf_put_front(&inner, "(");
			buf_putc(&inner, ')');
		}
		pointer = r.kind == BTF_PTR;
		id = step(b, &r, at, &constant, &inner);
	}
	buf_puts(to, constant ? "const " : "");
	if (known && id)
		put_base(b, &r, at, to);
	else
		buf_puts(to, "void");
	if (inner.len)
		buf_putc(to, ' ');
	buf_put(to, inner.data, inner.len);
	buf_free(&inner);
}

static void put_members(const struct btf *b, struct btf_record *r, struct indent at, struct buf *to)
{
	at.tabs++;
	for (uint32_t i = 0; i < r->count && !cursor_failed(&r->tail) && !to->full; i++) {
		const char *name = btf_string(b, cursor_u32(&r->tail));
		uint32_t id = cursor_u32(&r->tail), bits = cursor_u32(&r->tail) >> 24;

		buf_fill(to, '\t', at.tabs);
		put_declared(b, id, name, at, to);
		if (r->flag && bits)
			buf_printf(to, ": %u", bits);
		buf_puts(to, ";\n");
	}
}

static void put_enumerators(const struct btf *b, struct btf_record *r, struct indent at,
			    struct buf *to)
{
	for (uint32_t i = 0; i < r->count && !cursor_failed(&r->tail) && !to->full; i++) {
		const char *name = btf_string(b, cursor_u32(&r->tail));
		uint64_t value = cursor_u32(&r->tail);

		if (r->kind == BTF_ENUM64)
			value |= (uint64_t)cursor_u32(&r->tail) << 32;
		else if (r->flag)
			value = (uint64_t)(int64_t)(int32_t)value;
		buf_fill(to, '\t', at.tabs + 1);
		buf_printf(to, r->flag ? "%s = %" PRId64 ",\n" : "%s = %" PRIu64 ",\n", name,
			   value);
	}
}

static void put_definition(const struct btf *b, const struct btf_record *record, struct indent at,
			   struct buf *to)
{
	const char *name = btf_string(b, record->name);
	struct btf_record r = *record;

	buf_printf(to, "%s%s%s {", tag_of(&r), *name ? " " : "", name);
	if (!r.count) {
		buf_putc(to, '}');
		return;
	}
	buf_putc(to, '\n');
	if (r.kind == BTF_ENUM || r.kind == BTF_ENUM64)
		put_enumerators(b, &r, at, to);
	else
		put_members(b, &r, at, to);
	buf_fill(to, '\t', at.tabs);
	buf_putc(to, '}');
}

bool btf_define(const struct btf *b, enum btf_want want, const char *name, struct buf *to)
{
	static const uint32_t kinds[] = {
		[BTF_WANT_STRUCT] = BTF_KIND_BIT(BTF_STRUCT),
		[BTF_WANT_UNION] = BTF_KIND_BIT(BTF_UNION),
		[BTF_WANT_ENUM] = BTF_KIND_BIT(BTF_ENUM) | BTF_KIND_BIT(BTF_ENUM64),
		[BTF_WANT_TYPEDEF] = 0,
	};
	struct btf_record r;

	for (; b; b = b->base) {
		uint32_t id = btf_find(b, name, kinds[want]);

		if (!id || !btf_read(b, id, &r))
			continue;
		put_definition(b, &r, (struct indent){0, 0}, to);
		buf_puts(to, ";\n");
		return true;
	}
	return false;
}
