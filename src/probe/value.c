// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values: from a parameter's place through members and elements to the kernel's text.
 *
 *	file->f_path.dentry    file is in %di      base "%di"
 *	  ->f_path             16 bytes into it    base "%di", memory, offset 16
 *	  .dentry              8 bytes further     base "%di", memory, offset 24
 *	                       its text            "+24(%di)"
 */
#include "probe/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "symbols/names.h"

#define MAX_OFFSET (1ll << 30) /* no struct is larger; it also keeps the arithmetic in range */

static bool fits(int written)
{
	return written >= 0 && written <= FETCH_MAX;
}

static int too_long(const struct fetch_value *v, struct spur_error *err)
{
	return error_set(err, -EINVAL, "'%.*s' becomes longer than the %d letters the kernel takes",
			 (int)v->name_len, v->name ? v->name : "", FETCH_MAX);
}

bool value_text(const struct fetch_value *v, char *text)
{
	bool before = v->offset < 0;
	/* The lowest number has no positive counterpart of its own type. */
	unsigned long long at =
		before ? -(unsigned long long)v->offset : (unsigned long long)v->offset;

	if (v->file)
		return fits(snprintf(text, FETCH_MAX + 1, "@+%s0x%llx", before ? "-" : "", at));
	if (v->memory)
		return fits(snprintf(text, FETCH_MAX + 1, "%c%s%llu(%s)", before ? '-' : '+',
				     v->user ? "u" : "", at, v->base));
	return fits(snprintf(text, FETCH_MAX + 1, "%s", v->base));
}

int value_of_param(const struct fetch_scope *scope, const struct param *p, struct fetch_value *v,
		   struct spur_error *err)
{
	const struct place *at = &p->place;

	*v = (struct fetch_value){.typed = true, .type = p->type, .name = p->name};
	v->word = scope->abi ? scope->abi->word : sizeof(long);
	v->kernel = scope->kernel;
	v->name_len = strlen(p->name);
	v->offset = at->offset;
	switch (at->kind) {
	case PLACE_REGISTER:
		if (at->reg2 && p->type.kind != TYPE_STRUCT)
			return error_set(err, -EINVAL,
					 "'%s' takes two registers and cannot be fetched", p->name);
		snprintf(v->base, sizeof(v->base), "%%%s", at->reg);
		v->second = at->reg2;
		break;
	case PLACE_MEMORY:
		v->memory = true;
		snprintf(v->base, sizeof(v->base), "%%%s", at->reg);
		break;
	case PLACE_FILE: v->file = v->memory = true; break;
	case PLACE_CONSTANT:
		v->offset = 0;
		snprintf(v->base, sizeof(v->base), "\\%lld", (long long)at->offset);
		break;
	case PLACE_FIELD:
		if (!fits(snprintf(v->base, sizeof(v->base), "$%s", p->name)))
			return too_long(v, err);
		break;
	default:
		return error_set(err, -EINVAL, "'%s' %s and cannot be fetched", p->name,
				 at->why ? at->why : "is nowhere");
	}
	if (at->reference) {
		/* The word is an address, and the value is there. */
		char text[FETCH_MAX + 1];

		if (v->memory) {
			if (!value_text(v, text))
				return too_long(v, err);
			memcpy(v->base, text, sizeof(text));
		}
		v->memory = true;
		v->offset = 0;
	}
	return 0;
}

/* ---- steps ---- */

/* From a pointer to what it points at. */
static int dereference(struct fetch_value *v, struct spur_error *err)
{
	char text[FETCH_MAX + 1];
	bool user = v->type.user;

	if (v->bits || !value_text(v, text))
		return too_long(v, err);
	memcpy(v->base, text, sizeof(text));
	v->memory = true;
	v->file = false;
	v->second = NULL;
	v->offset = 0;
	v->user = user;
	return 0;
}

static int move(struct fetch_value *v, int64_t by, struct spur_error *err)
{
	if (by > MAX_OFFSET || by < -MAX_OFFSET ||
	    __builtin_add_overflow(v->offset, by, &v->offset) ||
	    (!v->file && (v->offset > MAX_OFFSET || v->offset < -MAX_OFFSET)))
		return error_set(err, -EINVAL, "'%.*s' is too far away", (int)v->name_len, v->name);
	return 0;
}

/* A member of a struct in one or two registers: some bits of a register. */
static int member_in_register(struct fetch_value *v, struct member *m, struct spur_error *err)
{
	uint64_t at = m->offset;

	if (v->second && at >= v->word) {
		snprintf(v->base, sizeof(v->base), "%%%s", v->second);
		at -= v->word;
	}
	if (m->type.kind == TYPE_STRUCT || at >= v->word || m->type.size > v->word - at)
		return error_set(err, -EINVAL, "'%s' cannot be taken out of a register", m->name);
	v->second = NULL;
	if (at && !m->bits) {
		m->bits = (unsigned int)(m->type.size ? m->type.size : v->word) * 8;
		m->bit = 0;
	}
	m->bit += (unsigned int)at * 8;
	if (m->bits)
		m->type.size = v->word;
	return 0;
}

static int member_step(struct fetch_value *v, const char *name, size_t len, struct spur_error *err)
{
	struct member m;
	struct buf known;
	int ret;

	if (v->type.kind != TYPE_STRUCT)
		return error_set(err, -EINVAL, "'%.*s' is no struct, it has no '%.*s'",
				 (int)v->name_len, v->name, (int)len, name);
	if (!type_member(&v->type, name, len, &m)) {
		buf_init(&known, 300);
		type_list_members(&v->type, &known);
		ret = error_set(err, -EINVAL, "'%.*s' has no member '%.*s' (it has %s)",
				(int)v->name_len, v->name, (int)len, name, buf_str(&known));
		buf_free(&known);
		return ret;
	}
	v->name = name;
	v->name_len = len;
	ret = v->memory ? move(v, m.offset > MAX_OFFSET ? MAX_OFFSET + 1 : (int64_t)m.offset, err)
			: member_in_register(v, &m, err);
	v->type = m.type;
	v->bit = m.bit;
	v->bits = m.bits;
	return ret;
}

static int element_step(struct fetch_value *v, int64_t number, struct spur_error *err)
{
	struct type element;
	int64_t by;
	int ret = 0;

	if (!type_target(&v->type, &element))
		return error_set(err, -EINVAL, "'%.*s' is no array", (int)v->name_len, v->name);
	if (v->type.kind == TYPE_POINTER)
		ret = dereference(v, err);
	else if (!v->memory)
		return error_set(err, -EINVAL, "'%.*s' is not in memory", (int)v->name_len,
				 v->name);
	if (ret)
		return ret;
	if (element.kind == TYPE_POINTER && !element.size)
		element.size = v->word;
	if (!element.size || element.size > MAX_OFFSET ||
	    __builtin_mul_overflow(number, (int64_t)element.size, &by))
		return error_set(err, -EINVAL, "nothing tells the size of an element of '%.*s'",
				 (int)v->name_len, v->name);
	v->type = element;
	return move(v, by, err);
}

int value_step(struct fetch_value *v, const char **text, struct spur_error *err)
{
	const char *s = *text;
	struct type target;
	size_t len;
	char *end;
	int ret;

	if (*s == '[') {
		long long number;

		errno = 0;
		number = strtoll(s + 1, &end, 0);
		if (errno || end == s + 1 || *end != ']')
			return error_set(err, -EINVAL, "'%s' is no number in brackets", s);
		*text = end + 1;
		return element_step(v, number, err);
	}
	s += *s == '.' ? 1 : 2;
	len = identifier_len(s);
	if (!len)
		return error_set(err, -EINVAL, "the name of a member is missing at '%s'", *text);
	if (**text == '-') {
		if (v->type.kind != TYPE_POINTER || !type_target(&v->type, &target))
			return error_set(err, -EINVAL, "'%.*s' is no pointer that is known",
					 (int)v->name_len, v->name);
		ret = dereference(v, err);
		if (ret)
			return ret;
		v->type = target;
	}
	*text = s + len;
	return member_step(v, s, len, err);
}

/* ---- types ---- */

static bool is_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

/* The kernel's type of a number, "" when it has none. */
static void number_type(const struct type *t, unsigned int word, char *to, size_t cap)
{
	unsigned int size = (unsigned int)t->size;
	char letter = t->hex ? 'x' : t->is_signed ? 's' : 'u';

	to[0] = '\0';
	if (t->kind == TYPE_POINTER || t->kind == TYPE_FUNCTION) {
		letter = 'x';
		size = word;
	} else if (t->kind == TYPE_STRUCT) {
		letter = 'x'; /* a small one in a register */
	} else if (t->kind != TYPE_INTEGER) {
		return;
	}
	if (is_size(size))
		snprintf(to, cap, "%c%u", letter, size * 8);
}

static int no_type(const struct fetch_value *v, const char *why, struct spur_error *err)
{
	return error_set(err, -EINVAL, "'%.*s' %s", (int)v->name_len, v->name ? v->name : "", why);
}

/* An array in memory: text, or as many elements as the kernel accepts. */
static int array_type(const struct fetch_value *v, char *to, size_t cap, struct spur_error *err)
{
	char each[16];
	struct type element;
	uint64_t count = v->type.count;

	if (!v->memory || !type_target(&v->type, &element))
		return no_type(v, "is an array of an unknown type", err);
	if (element.is_char) {
		snprintf(to, cap, "%s", v->user ? "ustring" : "string");
		return 0;
	}
	if (element.kind == TYPE_STRUCT)
		return no_type(v, "is an array of structs: name an element", err);
	number_type(&element, v->word, each, sizeof(each));
	if (!each[0])
		return no_type(v, "is an array of something the kernel cannot show", err);
	if (count > FETCH_MAX_ARRAY)
		count = FETCH_MAX_ARRAY;
	if (count)
		snprintf(to, cap, "%s[%u]", each, (unsigned int)count);
	else
		snprintf(to, cap, "%s", each);
	return 0;
}

/* Finds the type; *text: the target of v is shown, not v. */
static int best_type(const struct fetch_value *v, char *to, size_t cap, bool *text,
		     struct spur_error *err)
{
	struct type target = {0};

	to[0] = '\0';
	if (v->bits) {
		snprintf(to, cap, "b%u@%u/%u", v->bits, v->bit, (unsigned int)v->type.size * 8);
		return 0;
	}
	switch (v->type.kind) {
	case TYPE_TEXT: snprintf(to, cap, "string"); return 0;
	case TYPE_ARRAY: return array_type(v, to, cap, err);
	case TYPE_FLOAT:
		return no_type(v, "is a floating point number, which the kernel cannot show", err);
	case TYPE_VOID:
	case TYPE_UNKNOWN: return 0;
	case TYPE_STRUCT:
		if (v->memory || v->second || !is_size(v->type.size))
			return no_type(v, "is a struct: name a member of it", err);
		break;
	case TYPE_POINTER:
		if (!type_target(&v->type, &target))
			break;
		if (target.kind == TYPE_FUNCTION && v->kernel) {
			snprintf(to, cap, "symbol");
			return 0;
		}
		if (target.is_char) {
			*text = true;
			snprintf(to, cap, "%s", v->type.user ? "ustring" : "string");
			return 0;
		}
		break;
	default: break;
	}
	number_type(&v->type, v->word, to, cap);
	return to[0] ? 0 : no_type(v, "has a size the kernel cannot show", err);
}

static bool is_text_type(const char *type)
{
	return !strcmp(type, "string") || !strcmp(type, "ustring");
}

int value_with_type(const struct fetch_value *v, const char *type, char *text,
		    struct spur_error *err)
{
	char best[24], body[FETCH_MAX + 1];
	bool points = false;
	int ret;

	if (type) {
		/* The text of an array is at its address, that of other values where they point. */
		points = v->typed && is_text_type(type) && v->type.kind != TYPE_ARRAY &&
			 v->type.kind != TYPE_TEXT;
	} else if (v->typed) {
		ret = best_type(v, best, sizeof(best), &points, err);
		if (ret)
			return ret;
		type = best;
	}
	if (!value_text(v, body))
		return too_long(v, err);
	if (!fits(snprintf(text, FETCH_MAX + 1, "%s%s%s%s%s", points ? "+0(" : "", body,
			   points ? ")" : "", type && type[0] ? ":" : "", type ? type : "")))
		return too_long(v, err);
	return 0;
}
