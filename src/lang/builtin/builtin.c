// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of all builtins, the rules for all calls, and the builtins that the compiler evaluates.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/num.h"
#include "base/suggest.h"
#include "lang/check/check.h"
#include "lang/lower/lower.h"
#include "lang/parse/lexer.h"
#include "probe/attach.h"

/* ---- all builtins ---- */

static const struct builtin *const tables[] = {
	builtins_task,	builtins_probe,	  builtins_text,   builtins_maps,   builtins_output,
	builtins_const, builtins_symbols, builtins_string, builtins_kernel, builtins_unwind,
};

#define NR_TABLES (ARRAY_SIZE(tables))

const struct builtin *builtin_find(const char *name, bool variable)
{
	/*
	 * bpftrace defines macros with these names; the builtins are the same without the prefix.
	 */
	if (strncmp(name, "__builtin_", 10) == 0)
		name += 10;
	for (size_t i = 0; i < NR_TABLES; i++)
		for (const struct builtin *b = tables[i]; b->name; b++)
			if ((b->flags & BUILTIN_BOTH ||
			     !(b->flags & BUILTIN_VARIABLE) == !variable) &&
			    strcmp(b->name, name) == 0)
				return b;
	return NULL;
}

const char *builtin_nearest(const char *name)
{
	struct suggest s = suggest_for(name, strlen(name));

	for (size_t i = 0; i < NR_TABLES; i++)
		for (const struct builtin *b = tables[i]; b->name; b++)
			suggest_try(&s, b->name);
	return suggest_best(&s);
}

bool check_const_int(struct checker *c, const struct node *call, const struct node *arg, int64_t *v)
{
	if (!arg->is_const || !node_is_int(arg))
		return check_fail(c, arg, "%s() needs a constant number here", call->name);
	*v = arg->num;
	return true;
}

bool check_const_text(struct checker *c, const struct node *call, const struct node *arg)
{
	if (!arg->is_const || arg->vtype.kind != V_STRING)
		return check_fail(c, arg, "%s() needs a string literal here", call->name);
	return true;
}

bool check_number(struct checker *c, const struct node *call, const struct node *arg)
{
	if (arg->vtype.kind == V_NONE)
		return true;
	if (!vtype_is_number(&arg->vtype) && !vtype_is_aggregation(&arg->vtype))
		return check_fail(c, arg, "%s() needs a number here", call->name);
	return true;
}

static uint32_t bpf_type(const struct program *p)
{
	struct attach_needs needs = {0};

	/* Programs that user space starts itself are raw tracepoints. */
	if (p->raw || !program_target(p) || !attach_needs(program_target(p), false, &needs))
		return BPF_PROG_TYPE_RAW_TRACEPOINT;
	return needs.prog_type;
}

bool check_helper(struct checker *c, const struct node *n, int helper)
{
	const uint32_t type = bpf_type(c->at);

	/*
	 * Which helpers fentry programs may call depends on the function: the kernel checks it. A
	 * function that nothing calls could be for any probe.
	 */
	if (!program_target(c->at) || type == BPF_PROG_TYPE_TRACING ||
	    compile_has_helper(c->opt->features, type, helper))
		return true;
	return check_fail(c, n, "this kernel does not offer what %s needs to programs of %s probes",
			  n->name, probe_type_name(program_probe(c->at)));
}

static bool wrong_count(struct checker *c, const struct node *n, const struct builtin *b,
			unsigned int given)
{
	if (b->min == b->max)
		return check_fail(c, n, "%s() requires %u argument%s (%u provided)", b->name,
				  b->min, b->min == 1 ? "" : "s", given);
	if (given < b->min)
		return check_fail(c, n, "%s() requires at least %u argument%s (%u provided)",
				  b->name, b->min, b->min == 1 ? "" : "s", given);
	return check_fail(c, n, "%s() takes up to %u arguments (%u provided)", b->name, b->max,
			  given);
}

static bool no_function(struct checker *c, struct node *n)
{
	const char *nearest = builtin_nearest(n->name);

	check_fail(c, n, "unknown function: '%s'", n->name);
	if (nearest)
		source_hint(c->source, "did you mean '%s'?", nearest);
	return false;
}

bool check_permitted(struct checker *c, const struct node *n)
{
	const struct builtin *b = n->builtin;
	const char *call = n->kind == N_CALL ? "()" : "";

	if (b->flags & BUILTIN_UNSAFE && !c->opt->unsafe)
		return check_fail(
			c, n, "%s%s is an unsafe function being used in safe mode (use --unsafe)",
			n->name, call);
	if (b->flags & BUILTIN_LIVE && c->opt->offline)
		return check_fail(c, n, "%s%s cannot be had from a recording", n->name, call);
	c->at->reads_kernel |= !!(b->flags & BUILTIN_KERNEL);
	return true;
}

bool check_call(struct checker *c, struct node *n)
{
	const unsigned int given = node_count(n->list);
	const struct builtin *b = builtin_find(n->name, false);

	/* retval() is retval. */
	if (!b && !given)
		b = builtin_find(n->name, true);
	n->builtin = b;
	if (!b)
		return no_function(c, n);
	if (given < b->min || given > b->max)
		return wrong_count(c, n, b, given);
	if (b->flags & BUILTIN_AGGREGATE && n != c->assigned)
		return check_fail(c, n, "%s() must be assigned to a map", n->name);
	if (!check_permitted(c, n))
		return false;
	for (struct node *a = n->list; a; a = a->next) {
		/* Whole maps and special words are checked by the builtin. */
		bool apart =
			(b->flags & BUILTIN_MAPS && a->kind == N_MAP && !a->has_keys) ||
			(b->flags & BUILTIN_WORDS && (a->kind == N_NAME || a->kind == N_TYPEOF));

		if (!apart && !check_expr(c, a))
			return false;
	}
	return !b->check || b->check(c, n);
}

/* ---- builtins that the compiler evaluates ---- */

static bool check_kaddr(struct checker *c, struct node *n)
{
	if (!check_const_text(c, n, n->list))
		return false;
	n->num = (int64_t)c->env->ops->symbol(c->env, n->list->text);
	if (!n->num)
		return check_fail(c, n->list,
				  "the kernel has no symbol '%s', or does not show its address",
				  n->list->text);
	n->vtype = vtype_int(8, false);
	n->is_const = true;
	return true;
}

static bool check_cgroupid(struct checker *c, struct node *n)
{
	struct stat st;

	if (!check_const_text(c, n, n->list))
		return false;
	/* The id of a cgroup is the inode number of its directory. */
	if (stat(n->list->text, &st) != 0)
		return check_fail(c, n->list, "%s: %s", n->list->text, strerror(errno));
	n->num = (int64_t)st.st_ino;
	n->vtype = vtype_int(8, false);
	n->is_const = true;
	return true;
}

/* ---- is_integer() and the like ---- */

enum {
	IS_INTEGER,
	IS_UNSIGNED,
	IS_POINTER,
	IS_STRING,
	IS_ARRAY,
	IS_LITERAL,
	IS_SCALAR,
};

/* Numbers and pointers, as in C. */
static bool is_scalar(const struct vtype *t)
{
	return t->kind == V_INT || t->kind == V_BOOL || t->kind == V_POINTER;
}

static bool check_is(struct checker *c, struct node *n)
{
	const struct node *a = n->list;

	n->vtype = vtype_fixed(V_BOOL);
	if (a->vtype.kind == V_NONE)
		return true;
	switch (n->builtin->what) {
	case IS_INTEGER: n->num = a->vtype.kind == V_INT; break;
	case IS_UNSIGNED: n->num = a->vtype.kind == V_INT && !a->vtype.is_signed; break;
	case IS_POINTER: n->num = a->vtype.kind == V_POINTER; break;
	case IS_STRING: n->num = a->vtype.kind == V_STRING; break;
	case IS_SCALAR: n->num = is_scalar(&a->vtype); break;
	case IS_ARRAY: n->num = a->vtype.kind == V_ARRAY; break;
	default: n->num = a->kind == N_INT || a->kind == N_STRING || a->kind == N_BOOL;
	}
	n->is_const = true;
	return true;
}

/* is_scalar(@x): whether the map has no keys. */
static bool check_is_scalar(struct checker *c, struct node *n)
{
	struct node *m = n->list;

	if (m->kind != N_MAP || m->has_keys)
		return check_is(c, n);
	n->vtype = vtype_fixed(V_BOOL);
	if (!check_whole_map(c, m))
		return false;
	if (m->map->value.kind == V_NONE)
		return true;
	n->num = m->map->key.kind == V_NONE;
	n->is_const = true;
	return true;
}

static bool check_static_assert(struct checker *c, struct node *n)
{
	struct node *text = node_nth(n, 1);

	if (!n->list->is_const && !c->last)
		return true;
	if (!n->list->is_const)
		return check_fail(c, n->list,
				  "%s() needs what is known when the script is compiled", n->name);
	if (!n->list->num && c->last)
		return check_fail(c, n, "%s",
				  text && text->is_const && text->text ? text->text
								       : "the assertion failed");
	return true;
}

/* One conversion of fail(): writes a literal for %d, %s and the like. */
static bool put_literal(struct checker *c, const struct node *n, char letter,
			const struct node *arg, struct buf *to)
{
	if (!arg || !arg->is_const)
		return check_fail(c, n, "fail() needs a literal for each conversion of its format");
	if (arg->vtype.kind == V_STRING)
		buf_puts(to, arg->text);
	else if (letter == 'x')
		buf_printf(to, "%llx", (unsigned long long)arg->num);
	else
		buf_printf(to, "%lld", (long long)arg->num);
	return true;
}

/* fail("…", literals): an error, unless the checker knows that it is never reached. */
static bool check_fail_call(struct checker *c, struct node *n)
{
	const struct node *arg = n->list->next;
	struct buf text;
	bool fine = true;

	if (!check_const_text(c, n, n->list))
		return false;
	if (!c->last)
		return true;
	buf_init(&text, 4096);
	for (const char *f = n->list->text; *f && fine; f++) {
		if (*f != '%') {
			buf_putc(&text, *f);
		} else if (*++f == '%' || !*f) {
			buf_putc(&text, '%');
			f -= !*f;
		} else {
			f += strspn(f, "hlzjt");
			fine = put_literal(c, n, *f, arg, &text);
			f -= !*f;
			arg = arg ? arg->next : NULL;
		}
	}
	if (fine)
		check_fail(c, n, "%s", buf_str(&text));
	buf_free(&text);
	return false;
}

/* ---- getopt("name"[, default[, help]]): --name=value of the command line ---- */

static const char *option_value(struct checker *c, const char *name, bool *given)
{
	const size_t len = strlen(name);

	*given = false;
	for (const char *const *n = c->opt->named; n && *n; n++) {
		const char *p = *n;

		if (strncmp(p, "--", 2) != 0 || strncmp(p + 2, name, len) != 0)
			continue;
		if (p[2 + len] == '=' || !p[2 + len]) {
			*given = true;
			if (n - c->opt->named < 64)
				c->named |= 1ull << (n - c->opt->named);
			return p[2 + len] ? p + 3 + len : NULL;
		}
	}
	return NULL;
}

/* Whether two calls have the same default; no default is false. */
static bool same_default(const struct node *a, const struct node *b)
{
	const bool text = a && a->vtype.kind == V_STRING;

	if (!a || !b)
		return (!a || (a->vtype.kind == V_BOOL && !a->num)) &&
		       (!b || (b->vtype.kind == V_BOOL && !b->num));
	if (text != (b->vtype.kind == V_STRING) ||
	    (a->vtype.kind == V_BOOL) != (b->vtype.kind == V_BOOL))
		return false;
	return text ? strcmp(a->text, b->text) == 0 : a->num == b->num;
}

static bool other_default(struct checker *c, const struct node *n, const struct node *usual)
{
	struct buf text;

	buf_init(&text, 4096);
	if (!usual || usual->vtype.kind == V_BOOL)
		buf_puts(&text, usual && usual->num ? "true" : "false");
	else if (usual->vtype.kind == V_STRING)
		buf_puts(&text, usual->text);
	else
		buf_i64(&text, usual->num);
	check_fail(c, n,
		   "Command line option '%s' needs to have the same default value in all "
		   "places it is used. Previous default value: %s",
		   n->list->text, buf_str(&text));
	buf_free(&text);
	return false;
}

static bool know_option(struct checker *c, const struct node *n, const struct node *usual)
{
	const struct node *help = node_nth(n, 2);
	struct known_option *o = c->options;

	while (o && strcmp(o->name, n->list->text) != 0)
		o = o->next;
	if (o)
		return same_default(o->usual, usual) || other_default(c, n, o->usual);
	o = arena_alloc(c->arena, sizeof(*o));
	if (!o)
		return check_no_memory(c);
	*o = (struct known_option){c->options, n->list->text, help && help->text ? help->text : "",
				   usual};
	c->options = o;
	return true;
}

static bool option_wrong(struct checker *c, struct node *n, const char *what, const char *value)
{
	return check_fail(c, n, "program command line option --%s %s (value: %s)", n->list->text,
			  what, value);
}

static bool option_switch(struct checker *c, struct node *n, const char *value)
{
	n->num = !value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
	if (n->num || strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
		return true;
	return option_wrong(c, n, "expects a boolean (e.g. 'true')", value);
}

static bool option_number(struct checker *c, struct node *n, const char *value)
{
	const bool negative = *value == '-';
	const char *digits = value + negative;
	uint64_t v, factor = 1;
	char *end;

	if (*digits < '0' || *digits > '9')
		return option_wrong(c, n, "invalid integer", value);
	errno = 0;
	v = strtoull(digits, &end, num_base(digits));
	if (!lex_suffix(end, strlen(end), &factor))
		return option_wrong(c, n, "invalid trailing bytes", value);
	if (errno || __builtin_mul_overflow(v, factor, &v) ||
	    (negative && v > (uint64_t)INT64_MAX + 1))
		return option_wrong(c, n, "value is out of range", value);
	n->num = (int64_t)(negative ? 0 - v : v);
	n->vtype = vtype_int(8, negative || v <= INT64_MAX);
	return true;
}

static bool check_getopt(struct checker *c, struct node *n)
{
	struct node *usual = node_nth(n, 1);
	const char *value;
	bool given;

	if (!n->list->is_const || n->list->vtype.kind != V_STRING)
		return check_fail(c, n->list,
				  "First argument to 'getopt' must be a string literal.");
	if (usual && !usual->is_const)
		return check_fail(c, usual,
				  "Second argument to 'getopt' must be a string literal, integer "
				  "literal, or a boolean literal.");
	if (!know_option(c, n, usual))
		return false;
	value = option_value(c, n->list->text, &given);
	n->is_const = true;
	if (!usual || usual->vtype.kind == V_BOOL) {
		n->vtype = vtype_fixed(V_BOOL);
		n->num = usual && usual->num;
		return !given || option_switch(c, n, value);
	}
	n->vtype = usual->vtype.kind == V_STRING ? usual->vtype : vtype_int(8, true);
	n->num = usual->num;
	n->text = usual->text;
	n->len = usual->len;
	if (!given)
		return true;
	if (!value)
		return option_wrong(c, n,
				    usual->vtype.kind == V_STRING ? "expects a string"
								  : "expects an integer",
				    "true");
	if (usual->vtype.kind != V_STRING)
		return option_number(c, n, value);
	n->text = value;
	n->len = strlen(value);
	n->vtype = vtype_string((uint32_t)n->len + 1);
	return true;
}

/* ---- kptr(), uptr() ---- */

static bool check_space_call(struct checker *c, struct node *n)
{
	n->vtype = n->list->vtype;
	if (n->vtype.kind == V_INT) {
		n->vtype = (struct vtype){.kind = V_POINTER, .size = 8};
		n->vtype.c.kind = TYPE_VOID;
	}
	n->vtype.space = (enum vspace)n->builtin->what;
	return check_number(c, n, n->list);
}

const struct builtin builtins_const[] = {
	{"kaddr", 1, 1, BUILTIN_LIVE, check_kaddr, NULL, 0},
	{"cgroupid", 1, 1, BUILTIN_LIVE, check_cgroupid, NULL, 0},
	{"is_integer", 1, 1, 0, check_is, NULL, IS_INTEGER},
	{"is_unsigned_integer", 1, 1, 0, check_is, NULL, IS_UNSIGNED},
	{"is_ptr", 1, 1, 0, check_is, NULL, IS_POINTER},
	{"is_str", 1, 1, 0, check_is, NULL, IS_STRING},
	{"is_array", 1, 1, 0, check_is, NULL, IS_ARRAY},
	{"is_literal", 1, 1, 0, check_is, NULL, IS_LITERAL},
	{"is_scalar", 1, 1, BUILTIN_MAPS, check_is_scalar, NULL, IS_SCALAR},
	{"static_assert", 1, 2, BUILTIN_STATEMENT, check_static_assert, NULL, 0},
	{"fail", 1, 16, BUILTIN_STATEMENT, check_fail_call, NULL, 0},
	{"getopt", 1, 3, 0, check_getopt, NULL, 0},
	{"kptr", 1, 1, 0, check_space_call, lower_first, SPACE_KERNEL},
	{"uptr", 1, 1, 0, check_space_call, lower_first, SPACE_USER},
	BUILTIN_END,
};
