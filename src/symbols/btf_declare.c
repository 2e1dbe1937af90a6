// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions as C declares them. */
#include <string.h>

#include "symbols/btf_parts.h"

#define MAX_DECLARATION 4096

/* "struct", "union" or "enum" in front of a name that needs it. */
static const char *tag_of(const struct btf_record *r)
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
	struct btf_record r = {.kind = BTF_INT};
	bool pointer = false, constant = false, done = false;
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
	buf_printf(to, "%s%s%s", constant ? "const " : "", done ? tag_of(&r) : "",
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
