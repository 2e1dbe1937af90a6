// SPDX-License-Identifier: GPL-2.0-or-later
/* Builtins that ask user space to do something: show, clear, run, end. */
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "lang/lower.h"

#define BIG 64 /* bytes from which on a value stands behind the smaller ones */

/* ---- actions ---- */

/* The type of an argument as it is sent. */
static struct vtype sent_type(const struct node *n)
{
	struct vtype t;

	if (vtype_is_aggregation(&n->vtype))
		return vtype_int(8, n->vtype.is_signed);
	t = vtype_stored(&n->vtype);
	/* Conversions of printf() are of whole numbers. */
	if (t.kind == V_INT)
		t.size = 8;
	return t;
}

/* Small values first, so that a long string at the end can be cut off behind what it holds. */
static int lay_out(struct checker *c, struct action *a, struct node *args)
{
	struct velem *elems = arena_array(&c->unit->arena, a->nr_args + 1, sizeof(*elems));
	uint32_t offset = 0;

	if (!elems)
		return -ENOMEM;
	for (int big = 0; big < 2; big++) {
		uint32_t i = 0;

		for (struct node *n = args; n && i < a->nr_args; n = n->next, i++) {
			struct vtype t = sent_type(n), *copy;
			const uint32_t align = vtype_align(&t) ? vtype_align(&t) : 1;

			if ((t.size > BIG) != big)
				continue;
			if (t.kind == V_STRUCT)
				t.space = SPACE_OWN;
			copy = arena_alloc(&c->unit->arena, sizeof(*copy));
			if (!copy)
				return -ENOMEM;
			*copy = t;
			offset = (offset + align - 1) / align * align;
			elems[i] = (struct velem){NULL, copy, offset};
			offset += t.size;
		}
	}
	a->args = elems;
	a->size = (offset + 7) & ~7u;
	/* The last one ends where the record does. */
	for (uint32_t i = 0; i < a->nr_args; i++)
		if (elems[i].type->size > BIG && elems[i].offset + elems[i].type->size == offset)
			a->size = offset;
	return 0;
}

struct action *check_action(struct checker *c, struct node *n, enum action_kind kind,
			    struct node *args)
{
	struct action *a = n->action ? n->action : unit_add_action(c->unit, kind);

	if (!a)
		return NULL;
	n->action = a;
	a->kind = kind;
	a->at = n->at;
	a->nr_args = node_count(args);
	return lay_out(c, a, args) < 0 ? NULL : a;
}

static int with_format(struct checker *c, struct node *n, enum action_kind kind, const char *format,
		       size_t len, struct node *args)
{
	struct action *a = check_action(c, n, kind, args);

	if (!a)
		return -ENOMEM;
	a->format = arena_strndup(&c->unit->arena, format, len);
	return a->format ? 0 : -ENOMEM;
}

/* ---- printf and its relatives ---- */

static bool shows_as_number(const struct vtype *t)
{
	return vtype_is_number(t) || vtype_is_aggregation(t);
}

static int wrong_argument(struct checker *c, const struct node *n, const struct node *arg,
			  char spec)
{
	struct buf name;
	int rc;

	buf_init(&name, 256);
	vtype_name(&arg->vtype, &name);
	rc = check_fail(c, arg, "%s: %%%c specifier expects a value of another type (%s supplied)",
			n->name, spec, buf_str(&name));
	buf_free(&name);
	return rc;
}

/* One conversion behind its '%': the letter that says what is shown, NULL at a wrong one. */
static const char *conversion(const char *f)
{
	f += strspn(f, "-+ #0");
	f += strspn(f, "0123456789");
	if (*f == '.')
		f += 1 + strspn(f + 1, "0123456789");
	f += strspn(f, "hlLjztq");
	if (*f == 'g' && f[1] == 'r')
		return f + 1;
	return *f && strchr("diouxXcspr", *f) ? f : NULL;
}

/* %s shows whatever it is given, as print() would. */
static int check_format(struct checker *c, struct node *n, const char *f, struct node *args)
{
	struct node *arg = args;
	unsigned int wanted = 0;

	for (; (f = strchr(f, '%')); f++) {
		const char *letter;

		if (*++f == '%')
			continue;
		letter = conversion(f);
		if (!letter)
			return check_fail(
				c, n,
				"%s: unknown or unsupported conversion in the format: '%%%.4s'",
				n->name, f);
		wanted++;
		if (arg && arg->vtype.kind != V_NONE) {
			if (strchr("diouxXcp", *letter) && !shows_as_number(&arg->vtype))
				return wrong_argument(c, n, arg, *letter);
			if (*letter == 'r' && arg->vtype.kind != V_BUFFER && letter[-1] != 'g')
				return wrong_argument(c, n, arg, 'r');
		}
		if (arg)
			arg = arg->next;
		f = letter;
		if (*letter == 'r' && (letter[1] == 'x' || letter[1] == 'h'))
			f++;
	}
	if (wanted > node_count(args))
		return check_fail(
			c, n,
			"%s: Not enough arguments for format string (%u supplied, %u expected)",
			n->name, node_count(args), wanted);
	if (wanted < node_count(args))
		return check_fail(
			c, n, "%s: Too many arguments for format string (%u supplied, %u expected)",
			n->name, node_count(args), wanted);
	return 0;
}

static int check_printf(struct checker *c, struct node *n)
{
	int rc = check_const_text(c, n, n->list);

	for (struct node *a = n->list->next; a && rc == 0; a = a->next)
		if (a->vtype.kind == V_NONE)
			return c->last ? check_fail(c, a, "this has no value") : 0;
	if (rc == 0)
		rc = check_format(c, n, n->list->text, n->list->next);
	return rc < 0 ? rc
		      : with_format(c, n, (enum action_kind)n->builtin->what, n->list->text,
				    n->list->len, n->list->next);
}

static void lower_printf(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, n->list->next);
}

static void lower_plain(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, NULL);
}

static int check_time(struct checker *c, struct node *n)
{
	static const char usual[] = "%H:%M:%S\n";
	int rc = n->list ? check_const_text(c, n, n->list) : 0;

	if (rc < 0)
		return rc;
	return n->list ? with_format(c, n, ACT_TIME, n->list->text, n->list->len, NULL)
		       : with_format(c, n, ACT_TIME, usual, sizeof(usual) - 1, NULL);
}

/* ---- maps ---- */

static int check_whole_map(struct checker *c, struct node *n, enum action_kind kind)
{
	struct node *m = n->list;
	struct action *a;

	if (m->kind != N_MAP || m->has_keys)
		return check_fail(c, m, "%s() needs a map here", n->name);
	m->map = check_map_named(c, m->name, m->at);
	if (!m->map)
		return -ENOMEM;
	if (c->last && m->map->value.kind == V_NONE)
		return check_fail(c, m, "undefined map: @%s", m->name);
	a = check_action(c, n, kind, NULL);
	if (!a)
		return -ENOMEM;
	a->map = m->map;
	return 0;
}

static int check_clear(struct checker *c, struct node *n)
{
	return check_whole_map(c, n, (enum action_kind)n->builtin->what);
}

static int check_print_map(struct checker *c, struct node *n)
{
	struct node *top = node_nth(n, 1), *div = node_nth(n, 2);
	int rc = check_whole_map(c, n, ACT_PRINT_MAP);

	if (rc == 0 && top)
		rc = check_const_int(c, n, top, &n->action->top);
	if (rc == 0 && div)
		rc = check_const_int(c, n, div, &n->action->div);
	return rc;
}

/* print(@x[1]) shows the key as well; anything else its value. */
static int check_print(struct checker *c, struct node *n)
{
	struct node *v = n->list;

	if (v->kind == N_MAP && !v->has_keys)
		return check_print_map(c, n);
	if (v->next)
		return check_fail(c, v->next, "only maps can be printed with a number of entries");
	if (v->vtype.kind == V_NONE)
		return c->last ? check_fail(c, v, "this has no value") : 0;
	return check_action(c, n, ACT_PRINT, v) ? 0 : -ENOMEM;
}

static void lower_print(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, n->action->kind == ACT_PRINT_MAP ? NULL : n->list);
}

/* ---- the end ---- */

static int check_exit(struct checker *c, struct node *n)
{
	int rc = n->list ? check_number(c, n, n->list) : 0;

	if (rc < 0)
		return rc;
	return check_action(c, n, ACT_EXIT, n->list) ? 0 : -ENOMEM;
}

static void lower_exit(struct lower *l, struct node *n, struct value *v)
{
	lower_action(l, n->action, n->list);
	/* Nothing of the body runs after it. */
	if (l->in.is_callback)
		ir_store_const(l->f, l->in.vars, l->return_at, 8, RETURN_PROGRAM);
	ir_jump(l->f, l->in.end);
}

#define STATEMENT BUILTIN_STATEMENT
#define UNSAFE	  BUILTIN_UNSAFE
#define MANY	  64 /* arguments of a format */

const struct builtin builtins_out[] = {
	{"printf", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_PRINTF},
	{"errorf", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_ERRORF},
	{"warnf", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_WARNF},
	{"cat", 1, MANY, STATEMENT, check_printf, lower_printf, ACT_CAT},
	{"system", 1, MANY, STATEMENT | UNSAFE, check_printf, lower_printf, ACT_SYSTEM},
	{"time", 0, 1, STATEMENT, check_time, lower_plain, 0},
	{"print", 1, 3, STATEMENT | BUILTIN_MAPS, check_print, lower_print, 0},
	{"clear", 1, 1, STATEMENT | BUILTIN_MAPS, check_clear, lower_plain, ACT_CLEAR},
	{"zero", 1, 1, STATEMENT | BUILTIN_MAPS, check_clear, lower_plain, ACT_ZERO},
	{"exit", 0, 1, STATEMENT, check_exit, lower_exit, 0},
	BUILTIN_END,
};
