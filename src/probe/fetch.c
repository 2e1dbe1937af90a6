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

#include "base/error.h"
#include "base/vec.h"
#include "symbols/names.h"
#include "symbols/nearest.h"
#include "probe/value.h"

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

static bool is_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
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
		/* The event cannot be read: the kernel will check it. */
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
	for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
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
