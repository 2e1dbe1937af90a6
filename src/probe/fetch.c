// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arguments of probes: from the user's syntax to the kernel's. fetch.h has the grammar.
 *
 * The kernel's own syntax is only parsed as far as it may contain a name; the kernel checks the
 * rest, and knows what it supports.
 */
#include "probe/fetch.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/vec.h"
#include "symbols/names.h"

/*
 * ---- values: from a parameter's place through members and elements to the kernel's text ----
 *
 *	file->f_path.dentry    file is in %di      base "%di"
 *	  ->f_path             16 bytes into it    base "%di", memory, offset 16
 *	  .dentry              8 bytes further     base "%di", memory, offset 24
 *	                       its text            "+24(%di)"
 */

#define MAX_OFFSET (1ll << 30) /* no struct is larger; it also keeps the arithmetic in range */

/* A value that a probe can fetch: where it is, in the kernel's words, and what it is. */
struct fetch_value {
	char base[FETCH_MAX + 1]; /* a fetch argument without its type */
	const char *second;	  /* the register of the second word, if there are two */
	bool memory;		  /* it is at the address base + offset; otherwise it is base */
	bool file;		  /* it is where `offset` of the file is mapped; base is unused */
	bool user;		  /* its memory is a process's, and the probe the kernel's */
	int64_t offset;
	unsigned int word; /* bytes of a register and of a pointer */
	bool kernel;	   /* the probe is the kernel's */
	bool typed;
	struct type type;
	unsigned int bit, bits; /* of a bit field, as in struct member */
	const char *name;	/* what to call it: a parameter or member; or NULL */
	size_t name_len;
};

static bool is_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static bool fits(int written)
{
	return written >= 0 && written <= FETCH_MAX;
}

static int too_long(const struct fetch_value *v, struct spur_error *err)
{
	return error_set(err, -EINVAL, "'%.*s' becomes longer than the %d letters the kernel takes",
			 (int)v->name_len, v->name ? v->name : "", FETCH_MAX);
}

/* The fetch argument that yields it, into FETCH_MAX + 1 bytes; false when it is too long. */
static bool value_text(const struct fetch_value *v, char *text)
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

/* The value of a parameter; -EINVAL with the reason when the kernel cannot fetch it. */
static int value_of_param(const struct fetch_scope *scope, const struct param *p,
			  struct fetch_value *v, struct spur_error *err)
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

/* Follows "->NAME", ".NAME" or "[N]" at *text, which is advanced. */
static int value_step(struct fetch_value *v, const char **text, struct spur_error *err)
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

/* The same with the kernel's type after it: the given one, or the most suitable. */
static int value_with_type(const struct fetch_value *v, const char *type, char *text,
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

#define MAX_DEPTH 12 /* of dereferences: the kernel does not accept more either */

struct fetcher {
	const struct fetch_scope *scope;
	struct buf *out, *notes;
	struct spur_error *err;
	struct {
		char (*at)[FETCH_MAX_NAME + 1];
		size_t n, cap;
	} names; /* in use */
	size_t args;
};

/* ---- reading a FETCH ---- */

static int parse_fetch(struct fetcher *f, const char **text, struct fetch_value *v,
		       unsigned int depth);

static size_t run_of(const char *s, const char *more)
{
	size_t n = 0;

	while ((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
	       (s[n] >= '0' && s[n] <= '9') || (s[n] && strchr(more, s[n])))
		n++;
	return n;
}

/* Copies text unchanged. */
static int keep(struct fetcher *f, const char **text, size_t len, struct fetch_value *v)
{
	if (len > FETCH_MAX)
		return error_set(f->err, -EINVAL,
				 "'%s' is longer than the %d letters the kernel takes", *text,
				 FETCH_MAX);
	memcpy(v->base, *text, len);
	v->base[len] = '\0';
	*text += len;
	return 0;
}

static int parse_dereference(struct fetcher *f, const char **text, struct fetch_value *v,
			     unsigned int depth)
{
	const char *start = *text, *s = start + 1;
	char inner[FETCH_MAX + 1];
	char *end;
	int ret;

	if (depth >= MAX_DEPTH)
		return error_set(f->err, -EINVAL, "'%s' goes too deep", start);
	s += *s == 'u';
	errno = 0;
	strtoll(s, &end, 0);
	if (errno || end == s || *s == '-' || *s == '+' || *s == ' ' || *end != '(')
		return error_set(f->err, -EINVAL, "'%s' should be +OFFSET(…) or -OFFSET(…)", start);
	*text = end + 1;
	ret = parse_fetch(f, text, v, depth + 1);
	if (ret)
		return ret;
	if (**text != ')')
		return error_set(f->err, -EINVAL, "a ')' is missing in '%s'", start);
	++*text;
	if (!value_text(v, inner))
		inner[0] = '\0';
	*v = (struct fetch_value){0};
	if (!inner[0] || snprintf(v->base, sizeof(v->base), "%.*s(%s)", (int)(end - start), start,
				  inner) > FETCH_MAX)
		return error_set(f->err, -EINVAL,
				 "'%s' becomes longer than the %d letters the kernel takes", start,
				 FETCH_MAX);
	return 0;
}

static int parse_register(struct fetcher *f, const char **text, struct fetch_value *v)
{
	const char *name = *text + 1;
	size_t len = run_of(name, "_");
	const char *known = f->scope->abi ? abi_register(f->scope->abi, name, len) : NULL;

	if (!len)
		return error_set(f->err, -EINVAL, "the name of a register is missing at '%s'",
				 *text);
	if (!known)
		return keep(f, text, len + 1, v);
	*text += len + 1;
	if (known[0])
		snprintf(v->base, sizeof(v->base), "%%%s", known);
	else
		snprintf(v->base, sizeof(v->base), "\\0");
	return 0;
}

/* "$arg3": by what is known about the function, or by the ABI, or by the kernel itself. */
static int parse_arg(struct fetcher *f, const char **text, size_t len, struct fetch_value *v)
{
	const struct fetch_scope *sc = f->scope;
	unsigned long number = strtoul(*text + 4, NULL, 10);
	struct param p = {.name = arena_strndup(sc->arena, *text + 1, len - 1)};

	if (sc->kernel && (sc->is_return || (sc->abi && sc->abi->flags & ABI_ARG_VARIABLES)))
		return keep(f, text, len, v);
	if (!p.name)
		return error_sys(f->err, -ENOMEM, "%s", *text);
	if (sc->is_return)
		return error_set(f->err, -EINVAL, "a return probe has only $retval, not $%s",
				 p.name);
	if (!number || number > PROTO_MAX_PARAMS)
		return error_set(f->err, -EINVAL, "there is no $%s", p.name);
	*text += len;
	if (sc->proto) {
		if (number > sc->proto->n)
			return error_set(f->err, -EINVAL, "there is no $%s: %s has %zu", p.name,
					 sc->what, sc->proto->n);
		p.type = sc->proto->at[number - 1].type;
		p.place = sc->proto->at[number - 1].place;
	} else if (!sc->abi || !sc->entry) {
		return error_set(f->err, -EINVAL, "nothing tells where $%s is: name a register",
				 p.name);
	} else {
		p.place = abi_word(sc->abi, number - 1);
	}
	return value_of_param(sc, &p, v, f->err);
}

static int parse_variable(struct fetcher *f, const char **text, struct fetch_value *v)
{
	const char *s = *text + 1;
	size_t len = run_of(s, "_");

	if (!len)
		return error_set(f->err, -EINVAL, "the name of a variable is missing at '%s'",
				 *text);
	if (!f->scope->fields && len > 3 && !strncmp(s, "arg", 3) &&
	    strspn(s + 3, "0123456789") == len - 3)
		return parse_arg(f, text, len + 1, v);
	return keep(f, text, len + 1, v);
}

static int parse_memory(struct fetcher *f, const char **text, struct fetch_value *v)
{
	const struct fetch_scope *sc = f->scope;
	const char *s = *text + 1;
	size_t len = run_of(s, "_.$"), name_len = len;
	long long more = 0;
	char *name, *end;
	int ret;

	if (len && (s[len] == '+' || s[len] == '-')) {
		errno = 0;
		more = strtoll(s + len, &end, 0);
		if (errno || end == s + len)
			return error_set(f->err, -EINVAL, "'%s' has no number after its sign", s);
		len = (size_t)(end - s);
	}
	if (*s == '+')
		len = 1 + run_of(s + 1, "-");
	if (!len)
		return error_set(f->err, -EINVAL, "an address or symbol is missing at '%s'", *text);
	if (sc->kernel || !sc->symbol || *s == '+' || (*s >= '0' && *s <= '9'))
		return keep(f, text, len + 1, v);
	name = arena_strndup(sc->arena, s, name_len);
	if (!name)
		return error_sys(f->err, -ENOMEM, "%s", s);
	v->type = (struct type){.kind = TYPE_INTEGER, .hex = true};
	ret = sc->symbol(sc->arg, name, &v->offset, &v->type.size, f->err);
	if (ret)
		return ret;
	if (__builtin_add_overflow(v->offset, more, &v->offset))
		return error_set(f->err, -EINVAL, "'%s' is too far away", s);
	v->file = v->memory = true;
	v->name = name;
	v->name_len = name_len;
	v->typed = !more && is_size(v->type.size);
	*text += len + 1;
	return 0;
}

static int parse_immediate(struct fetcher *f, const char **text, struct fetch_value *v)
{
	const char *s = *text, *quote = s[1] == '"' ? strchr(s + 2, '"') : NULL;
	size_t len = quote ? (size_t)(quote - s) + 1 : 1 + run_of(s + 1, "+-");

	if (len < 2 || (s[1] == '"' && !quote))
		return error_set(f->err, -EINVAL, "'%s' is no number and no text in quotes", s);
	return keep(f, text, len, v);
}

static const char *near_field(const struct proto *p, const char *name, size_t len,
			      struct nearest *near)
{
	*near = nearest_to(name, len);
	for (size_t i = 0; i < p->n; i++)
		nearest_try(near, p->at[i].name, strlen(p->at[i].name));
	return nearest_words(near);
}

static int unknown_name(struct fetcher *f, const char *name, size_t len)
{
	const struct fetch_scope *sc = f->scope;
	struct nearest near;
	struct buf known;
	int ret;

	if (sc->is_return)
		return error_set(f->err, -EINVAL,
				 "'%.*s': when a function returns only $retval is known", (int)len,
				 name);
	if (sc->fields && sc->proto)
		return error_set(f->err, -EINVAL, "%s has no field '%.*s'%s", sc->what, (int)len,
				 name, near_field(sc->proto, name, len, &near));
	if (!sc->proto)
		return error_set(f->err, -EINVAL, "nothing tells what '%.*s' is: %s", (int)len,
				 name, sc->unknown ? sc->unknown : "there is no debug information");
	if (!sc->proto->n)
		return error_set(f->err, -EINVAL, "%s has no parameters, so no '%.*s'", sc->what,
				 (int)len, name);
	buf_init(&known, 240);
	for (size_t i = 0; i < sc->proto->n; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", sc->proto->at[i].name);
	ret = error_set(f->err, -EINVAL, "%s has no parameter '%.*s' (it has %s)", sc->what,
			(int)len, name, buf_str(&known));
	buf_free(&known);
	return ret;
}

static int parse_name(struct fetcher *f, const char **text, struct fetch_value *v)
{
	const struct proto *p = f->scope->is_return ? NULL : f->scope->proto;
	const char *name = *text;
	size_t len = identifier_len(name);
	int ret;

	for (size_t i = 0; p && i < p->n; i++) {
		if (strlen(p->at[i].name) != len || memcmp(p->at[i].name, name, len))
			continue;
		*text += len;
		ret = value_of_param(f->scope, &p->at[i], v, f->err);
		while (!ret && (**text == '.' || **text == '[' || !strncmp(*text, "->", 2)))
			ret = value_step(v, text, f->err);
		return ret;
	}
	if (f->scope->fields && !p) {
		/* The event cannot be read, so the kernel has to check this. */
		*text += len;
		v->name = name;
		v->name_len = len;
		return snprintf(v->base, sizeof(v->base), "$%.*s", (int)len, name) <= FETCH_MAX
			       ? 0
			       : error_set(f->err, -EINVAL, "'%s' is too long", name);
	}
	return unknown_name(f, name, len);
}

static int parse_fetch(struct fetcher *f, const char **text, struct fetch_value *v,
		       unsigned int depth)
{
	*v = (struct fetch_value){.word = f->scope->abi ? f->scope->abi->word : sizeof(long),
				  .kernel = f->scope->kernel};
	switch (**text) {
	case '+':
	case '-': return parse_dereference(f, text, v, depth);
	case '%': return parse_register(f, text, v);
	case '$': return parse_variable(f, text, v);
	case '@': return parse_memory(f, text, v);
	case '\\': return parse_immediate(f, text, v);
	default: break;
	}
	if (identifier_len(*text))
		return parse_name(f, text, v);
	return error_set(
		f->err, -EINVAL,
		"'%s' is no argument: %%REGISTER, $VARIABLE, +OFFSET(…), @SYMBOL or the name "
		"of a parameter",
		*text);
}

/* ---- names and writing ---- */

static const char *const reserved[] = {
	"common_type", "common_flags", "common_preempt_count", "common_pid",
	"common_tgid", "__probe_ip",   "__probe_ret_ip",       "__probe_func",
};

static bool name_taken(const struct fetcher *f, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (!strcmp(reserved[i], name))
			return true;
	vec_each (used, &f->names)
		if (!strcmp(*used, name))
			return true;
	return false;
}

static int take_name(struct fetcher *f, const char *name)
{
	char(*slot)[FETCH_MAX_NAME + 1] = vec_push(&f->names);

	if (!slot)
		return error_sys(f->err, -ENOMEM, "%s", name);
	snprintf(*slot, sizeof(*slot), "%s", name);
	return 0;
}

/* Turns a name of a program into one that the kernel accepts. */
static int derived_name(struct fetcher *f, const char *from, size_t len, char *name)
{
	char base[FETCH_MAX_NAME + 1];
	size_t keep_len = len < FETCH_MAX_NAME ? len : FETCH_MAX_NAME;

	memcpy(base, from, keep_len);
	base[keep_len] = '\0';
	if (!keep_len || identifier_len(base) != keep_len)
		snprintf(base, sizeof(base), "arg%zu", f->args + 1);
	snprintf(name, FETCH_MAX_NAME + 1, "%s", base);
	for (unsigned int i = 1; name_taken(f, name); i++)
		snprintf(name, FETCH_MAX_NAME + 1, "%.*s_%u", FETCH_MAX_NAME - 5, base, i);
	return take_name(f, name);
}

static int given_name(struct fetcher *f, const char *from, size_t len, char *name)
{
	if (identifier_len(from) != len || !len)
		return error_set(f->err, -EINVAL, "'%.*s' is no name for an argument", (int)len,
				 from);
	if (len > FETCH_MAX_NAME)
		return error_set(f->err, -EINVAL, "the name '%.*s' is longer than %d letters",
				 (int)len, from, FETCH_MAX_NAME);
	memcpy(name, from, len);
	name[len] = '\0';
	if (name_taken(f, name))
		return error_set(f->err, -EINVAL, "the name '%s' is used twice", name);
	return take_name(f, name);
}

static int write_arg(struct fetcher *f, const char *name, const char *text)
{
	if (++f->args > FETCH_MAX_ARGS)
		return error_set(f->err, -EINVAL,
				 "there are more than the %d arguments the kernel takes",
				 FETCH_MAX_ARGS);
	buf_putc(f->out, ' ');
	if (name && name[0]) {
		buf_puts(f->out, name);
		buf_putc(f->out, '=');
	}
	buf_puts(f->out, text);
	return 0;
}

/* ---- arguments ---- */

static void leave_out(struct fetcher *f, const struct spur_error *why)
{
	buf_printf(f->notes, "%s%s", f->notes->len ? "; " : "", why->text);
}

static int all_params(struct fetcher *f)
{
	const struct proto *p = f->scope->proto;
	char name[FETCH_MAX_NAME + 1], text[FETCH_MAX + 1];
	int ret = 0;

	for (size_t i = 0; p && i < p->n && !ret; i++) {
		struct spur_error why = {0};
		struct fetch_value v;

		if (value_of_param(f->scope, &p->at[i], &v, &why) ||
		    value_with_type(&v, NULL, text, &why)) {
			leave_out(f, &why);
			continue;
		}
		ret = derived_name(f, p->at[i].name, strlen(p->at[i].name), name);
		if (!ret)
			ret = write_arg(f, name, text);
	}
	return ret;
}

static int returned_value(struct fetcher *f)
{
	const struct proto *p = f->scope->proto;
	struct fetch_value v = {.base = "$retval", .typed = p, .name = "ret", .name_len = 3};
	char name[FETCH_MAX_NAME + 1], text[FETCH_MAX + 1];
	struct spur_error why = {0};
	int ret;

	v.word = f->scope->abi ? f->scope->abi->word : sizeof(long);
	v.kernel = f->scope->kernel;
	if (p)
		v.type = p->ret;
	if (p && p->ret.kind == TYPE_VOID)
		return 0;
	if (value_with_type(&v, NULL, text, &why)) {
		leave_out(f, &why);
		return 0;
	}
	ret = derived_name(f, "ret", 3, name);
	return ret ? ret : write_arg(f, name, text);
}

static int everything(struct fetcher *f)
{
	return f->scope->is_return ? returned_value(f) : all_params(f);
}

/* The end of an argument's name: an '=' outside of quotes. */
static const char *equals_sign(const char *arg)
{
	const char *eq = strchr(arg, '='), *quote = strchr(arg, '"');

	return eq && (!quote || eq < quote) ? eq : NULL;
}

static int one_arg(struct fetcher *f, const char *arg)
{
	const char *eq = equals_sign(arg), *s = eq ? eq + 1 : arg, *type = NULL;
	char name[FETCH_MAX_NAME + 1] = "", text[FETCH_MAX + 1];
	struct fetch_value v;
	int ret = 0;

	if (!strcmp(arg, "*") || (!strcmp(arg, "$arg*") && (!f->scope->kernel || f->scope->proto)))
		return everything(f);
	if (!strcmp(arg, "$arg*"))
		return write_arg(f, NULL, arg);
	ret = parse_fetch(f, &s, &v, 0);
	if (ret)
		return ret;
	if (*s == ':') {
		type = s + 1;
		s += strlen(s);
	}
	if (*s || (type && !type[0]))
		return error_set(f->err, -EINVAL,
				 "'%s' ends with something that makes no sense: '%s'", arg,
				 type ? type : s);
	if (eq)
		ret = given_name(f, arg, (size_t)(eq - arg), name);
	else if (v.name)
		ret = derived_name(f, v.name, v.name_len, name);
	if (!ret)
		ret = value_with_type(&v, type, text, f->err);
	return ret ? ret : write_arg(f, name, text);
}

int fetch_args(const struct fetch_scope *scope, char *const *args, size_t n, struct buf *out,
	       struct buf *notes, struct spur_error *err)
{
	struct fetcher f = {.scope = scope, .out = out, .notes = notes, .err = err};
	int ret = n ? 0 : everything(&f);

	for (size_t i = 0; i < n && !ret; i++)
		ret = one_arg(&f, args[i]);
	vec_free(&f.names);
	return ret;
}
