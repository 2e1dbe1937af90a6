// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The checker's rules for statements, variables and functions of the script, and what its other
 * files share.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lang/check/check.h"

#define MAX_LOOPS 7

bool check_fail(struct checker *c, const struct node *n, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return !source_error(c->source, n->at, "%s", text);
}

bool check_unknown(struct checker *c, const struct node *n)
{
	return !c->last || check_fail(c, n, "this has no value");
}

bool check_no_memory(struct checker *c)
{
	c->no_memory = true;
	return false;
}

unsigned int node_count(const struct node *list)
{
	unsigned int n = 0;

	for (; list; list = list->next)
		n++;
	return n;
}

struct node *node_nth(const struct node *n, unsigned int i)
{
	struct node *e = n->list;

	while (e && i--)
		e = e->next;
	return e;
}

enum vspace check_space(const struct checker *c)
{
	const enum probe_type t = program_probe(c->at);

	return t == PT_UPROBE || t == PT_URETPROBE || t == PT_USDT ? SPACE_USER : SPACE_KERNEL;
}

enum vspace check_space_of(const struct checker *c, const struct vtype *t)
{
	return t->kind == V_POINTER ? t->space : check_space(c);
}

/* ---- statements ---- */

static struct var *find_var(const struct checker *c, const char *name)
{
	struct var *v = c->visible;

	while (v && strcmp(v->name, name) != 0)
		v = v->outer;
	return v;
}

struct var *check_find_var(struct checker *c, const char *name)
{
	struct var *v = find_var(c, name);

	if (v || !c->at->flat)
		return v;
	v = c->at->vars;
	while (v && strcmp(v->name, name) != 0)
		v = v->next;
	return v;
}

/*
 * The variable that a node declares. It is the same in every round, because the tree is always
 * walked in the same order; only the list of visible variables is rebuilt.
 */
static struct var *declare(struct checker *c, struct node *n)
{
	struct var *v = n->var;

	if (!v) {
		v = arena_alloc(c->arena, sizeof(*v));
		if (!v)
			return NULL;
		v->name = n->name;
		v->at = n->at;
		v->next = c->at->vars;
		c->at->vars = v;
		n->var = v;
		c->changed = true;
	}
	v->outer = c->visible;
	c->visible = v;
	return v;
}

static bool assign_var(struct checker *c, struct node *n, const struct vtype *t, struct span at)
{
	struct var *v = check_find_var(c, n->name);
	const struct vtype stored = vtype_stored(t);
	char name[128];

	/* The first assignment declares it; this node does so in every round. */
	if (!v)
		v = declare(c, n);
	if (!v)
		return check_no_memory(c);
	n->var = v;
	if (t->kind == V_NONE)
		return true;
	if (vtype_is_aggregation(t))
		return !source_error(c->source, at, "an aggregation can only be assigned to a map");
	if (v->declared && !v->located && v->type.kind == V_POINTER && t->kind == V_POINTER) {
		v->located = true;
		c->changed |= v->type.space != t->space;
		v->type.space = t->space;
	}
	if (!(v->declared && v->type.kind == stored.kind &&
	      (stored.kind == V_STRING || stored.kind == V_INT)) &&
	    !check_widen(c, &v->type, &stored)) {
		snprintf(name, sizeof(name), "$%.*s", VAR_NAME(n->name));
		return check_mismatch(c, at, name, &v->type, t);
	}
	n->vtype = v->type;
	return true;
}

/* Whether a constant fits the declared type of a variable. */
static bool check_fits(struct checker *c, const struct var *v, const struct node *value)
{
	if (v->declared && v->type.kind == V_INT && value->is_const && node_is_int(value) &&
	    !check_const_fits(value, &v->type))
		return check_fail(c, value, "the value does not fit into $%.*s", VAR_NAME(v->name));
	check_cut(c, value, &v->type);
	return true;
}

/* a op= b: both must be numbers. */
static bool check_compound(struct checker *c, struct node *n)
{
	struct vtype number = vtype_int(8, n->op == '-' || n->b->vtype.is_signed);

	number.as_unsigned = n->op != '-' && n->b->vtype.as_unsigned ? 8 : 0;
	if (!check_expr(c, n->a))
		return false;
	if (n->a->kind == N_MAP && n->a->map->value.kind == V_NONE)
		return check_map_value(c, n->a, &number, n->at);
	if (n->a->vtype.kind == V_NONE || n->b->vtype.kind == V_NONE)
		return true;
	if (!vtype_is_number(&n->a->vtype) || !vtype_is_number(&n->b->vtype))
		return check_fail(c, n, "the operator needs numbers");
	if (!check_counted(c, n->a))
		return false;
	if (n->a->vtype.kind == V_POINTER &&
	    ((n->op != '+' && n->op != '-') || n->b->vtype.kind == V_POINTER))
		return check_fail(c, n, "of a pointer only numbers can be added or subtracted");
	number = check_result(n);
	check_signs(c, n);
	return check_grown(c, n->a, &number) && check_divisor(c, n);
}

static bool check_body(struct checker *c, struct node *list)
{
	struct var *before = c->visible;
	const bool fine = check_statements(c, list);

	c->visible = before;
	return fine;
}

/* The aggregation at the end of a block; NULL: there is none. */
static struct node *last_aggregation(const struct node *block)
{
	struct node *end = block->kind == N_BLOCK ? node_last(block->list) : NULL;
	const struct builtin *b;

	if (!end || end->kind != N_EXPR || !end->is_value || end->a->kind != N_CALL)
		return NULL;
	b = builtin_find(end->a->name, false);
	return b && b->flags & BUILTIN_AGGREGATE ? end : NULL;
}

/* @x = { …; avg(1) } is { …; @x = avg(1) }. */
static bool check_aggregation_block(struct checker *c, struct node *n, struct node *end)
{
	end->kind = N_ASSIGN;
	end->b = end->a;
	end->a = n->a;
	end->is_value = false;
	n->kind = N_BLOCK;
	n->list = n->b->list;
	n->a = n->b = NULL;
	return check_body(c, n->list);
}

/* Reading an aggregation gives a number: its current value. */
static struct vtype value_type(const struct node *n)
{
	return n->kind == N_MAP && vtype_is_summed(&n->vtype) ? vtype_int(8, n->vtype.is_signed)
							      : n->vtype;
}

static bool check_assign(struct checker *c, struct node *n)
{
	struct node *end = n->a->kind == N_MAP && !n->op ? last_aggregation(n->b) : NULL;

	if (end)
		return check_aggregation_block(c, n, end);
	c->assigned = n->a->kind == N_MAP && !n->op ? n->b : NULL;
	if (!check_expr(c, n->b))
		return false;
	if (c->last && n->b->vtype.kind == V_NONE)
		return check_fail(c, n->b, "this has no value");
	if (n->op)
		return check_compound(c, n);
	if (n->a->kind == N_MAP && n->b->kind == N_MAP && vtype_is_summed(&n->b->vtype)) {
		const struct map_def *m = check_map_named(c, n->a->name, n->a->at);

		if (!m)
			return false;
		/* A map of numbers is assigned the current value. */
		if (m->value.kind == V_INT || (m->value.kind == V_NONE && !c->last))
			return check_map(c, n->a);
	}
	if (n->a->kind == N_MAP && n->b->kind != N_CALL && vtype_is_aggregation(&n->b->vtype)) {
		check_fail(
			c, n->b,
			"an aggregation cannot be assigned from one map to another: the function "
			"that makes it must be called directly");
		source_hint(c->source, "its value can be: (int64)@%s",
			    n->b->kind == N_MAP ? n->b->name : "x");
		return false;
	}
	if (n->a->kind == N_VAR) {
		const struct vtype t = value_type(n->b);

		return assign_var(c, n->a, &t, n->b->at) && check_fits(c, n->a->var, n->b);
	}
	if (n->a->kind != N_MAP)
		return check_fail(c, n->a, "only variables and maps can be assigned");
	if (!check_map(c, n->a) || !check_map_value(c, n->a, &n->b->vtype, n->b->at))
		return false;
	check_cut(c, n->b, &n->a->map->value);
	return true;
}

static bool check_let(struct checker *c, struct node *n)
{
	struct node *name = n->a;
	struct var *v;
	bool fine = true;

	if (n->b && !check_expr(c, n->b))
		return false;
	v = find_var(c, name->name);
	if (v && v != name->var)
		return check_fail(c, name, "variable $%.*s was already declared",
				  VAR_NAME(name->name));
	v = declare(c, name);
	if (!v)
		return check_no_memory(c);
	if (n->type && !v->declared) {
		fine = check_type_name(c, n->type, &v->type);
		v->declared = true;
		/* As for a cast: it points where its first value points, or as the probe does. */
		if (v->type.kind == V_POINTER && v->type.space == SPACE_OWN)
			v->type.space = n->b ? check_space_of(c, &n->b->vtype) : check_space(c);
	}
	if (fine && n->b) {
		const struct vtype t = value_type(n->b);

		fine = assign_var(c, name, &t, n->b->at) && check_fits(c, v, n->b);
	}
	name->vtype = v->type;
	return fine;
}

static bool check_condition(struct checker *c, struct node *n)
{
	if (!check_expr(c, n))
		return false;
	if (n->vtype.kind != V_NONE ? !vtype_is_number(&n->vtype) : c->last)
		return check_fail(c, n, "a condition must be a number");
	return true;
}

/* Whether checking an expression creates no map and no variable. */
static bool has_no_effect(const struct node *n)
{
	if (!n)
		return true;
	if (n->kind == N_MAP || n->kind == N_BLOCK || n->kind == N_STEP)
		return false;
	for (const struct node *e = n->list; e; e = e->next)
		if (!has_no_effect(e))
			return false;
	return has_no_effect(n->a) && has_no_effect(n->b) && has_no_effect(n->c);
}

/* Learns the type of a variable from assignments that never run; their errors are not reported. */
static void learn_type(struct checker *c, struct var *v, struct node *value)
{
	const size_t before = c->source->messages.len;
	const unsigned int errors = c->source->errors, warnings = c->source->warnings;

	if (has_no_effect(value) && check_expr(c, value) && value->vtype.kind != V_NONE)
		v->type = vtype_stored(&value->vtype);
	else
		v->type = vtype_int(8, true);
	c->source->messages.len = before;
	c->source->errors = errors;
	c->source->warnings = warnings;
	c->changed = true;
}

/* A declared variable may be read after a branch that never runs. */
static void check_unreached(struct checker *c, struct node *list)
{
	for (struct node *n = list; c->guess && n; n = n->next) {
		struct var *v = NULL;

		if (n->kind == N_IF) {
			check_unreached(c, n->b);
			check_unreached(c, n->c);
		} else if (n->kind == N_ASSIGN && n->a->kind == N_VAR) {
			v = find_var(c, n->a->name);
		}
		if (v && v->type.kind == V_NONE)
			learn_type(c, v, n->b);
	}
}

static bool check_if(struct checker *c, struct node *n)
{
	if (!check_condition(c, n->a))
		return false;
	if (!n->a->is_const)
		return check_body(c, n->b) && check_body(c, n->c);
	/* A branch that never runs is not checked: it may be for another kernel, or a fail(). */
	check_unreached(c, n->a->num ? n->c : n->b);
	return check_body(c, n->a->num ? n->b : n->c);
}

/* The rounds of a loop, at most those of a program if they are not known. */
static uint64_t rounds_of(const struct checker *c, const struct node *n)
{
	const uint64_t most = c->unit->config.max_loop_rounds;
	const struct node *over = n->c;

	if (n->kind == N_FOR && over->kind == N_MAP)
		return over->map->entries;
	if (n->kind != N_FOR || !over->a->is_const || !over->b->is_const)
		return most;
	return over->b->num > over->a->num ? (uint64_t)over->b->num - (uint64_t)over->a->num : 0;
}

static bool check_loop_body(struct checker *c, struct node *n)
{
	const uint64_t around = c->rounds;
	const bool unknown = c->unknown_rounds;
	const bool range =
		n->kind == N_FOR && n->c->kind == N_RANGE && n->c->a->is_const && n->c->b->is_const;
	bool fine;

	/* Each loop is a function that the outer one calls; the kernel allows 8 frames. */
	if (c->loops >= MAX_LOOPS)
		return check_fail(c, n, "loops can be %d inside each other, not more", MAX_LOOPS);
	if (__builtin_mul_overflow(around, rounds_of(c, n), &c->rounds))
		c->rounds = UINT64_MAX;
	/* Loops over maps are finite; ranges may be known to be short. */
	n->is_counted =
		n->kind == N_WHILE ||
		(n->c->kind == N_RANGE && (!range || c->rounds > c->unit->config.max_loop_rounds));
	c->unknown_rounds |= !range;
	n->is_too_long = n->is_counted && !c->unknown_rounds;
	c->at->counts_rounds |= n->is_counted;
	c->at->loops = true;
	c->loops++;
	fine = check_body(c, n->b);
	c->loops--;
	c->rounds = around;
	c->unknown_rounds = unknown;
	return fine;
}

static bool check_while(struct checker *c, struct node *n)
{
	return check_condition(c, n->a) && check_loop_body(c, n);
}

static bool check_unroll(struct checker *c, struct node *n)
{
	struct node head = *n;

	/* The message points to the head of the loop, not to its body. */
	head.at.to = n->a->at.to;
	if (!check_expr(c, n->a))
		return false;
	if (!n->a->is_const)
		return check_fail(c, n->a, "unroll needs a constant number");
	if (n->a->num < 1 || n->a->num > 100)
		return check_fail(c, &head,
				  n->a->num < 1 ? "unroll minimum value is 1"
						: "unroll maximum value is 100");
	return check_body(c, n->b);
}

/* The variable of a for: for a map a tuple of key and value, for a range a number. */
static bool element_type(struct checker *c, struct node *n, struct vtype *t)
{
	struct node *over = n->c;
	struct vtype types[2];

	if (over->kind == N_RANGE) {
		*t = vtype_int(8, true);
		if (!check_expr(c, over->a) || !check_expr(c, over->b))
			return false;
		if (over->a->vtype.kind == V_NONE || over->b->vtype.kind == V_NONE)
			return true;
		if (!node_is_int(over->a) || !node_is_int(over->b))
			return check_fail(c, over, "a range is of numbers");
		if (over->a->vtype.kind == V_INT && over->b->vtype.kind == V_INT)
			*t = vtype_join(&over->a->vtype, &over->b->vtype);
		return true;
	}
	if (over->kind != N_MAP || over->has_keys)
		return check_fail(c, over, "a for goes over a map or a range");
	if (!check_whole_map(c, over))
		return false;
	if (c->last && over->map->key.kind == V_NONE)
		return check_fail(c, over, "@%s has no keys to go over", over->name);
	if (over->map->value.kind == V_NONE || over->map->key.kind == V_NONE)
		return true;
	types[0] = over->map->key;
	types[1] = over->map->value;
	if (vtype_is_aggregation(&types[1]) && !vtype_is_summed(&types[1]))
		return check_fail(c, over, "@%s has no values that a for could give", over->name);
	/* An aggregation is read as a number. */
	if (vtype_is_aggregation(&types[1]))
		types[1] = vtype_int(8, types[1].is_signed);
	return vtype_tuple(t, types, NULL, 2, c->arena) || check_no_memory(c);
}

static bool check_for(struct checker *c, struct node *n)
{
	struct var *before = c->visible, *v;
	struct vtype t = {0};
	bool fine;

	if (!element_type(c, n, &t))
		return false;
	v = find_var(c, n->a->name);
	if (v && v != n->a->var)
		return check_fail(c, n->a, "variable $%s was already declared", n->a->name);
	v = declare(c, n->a);
	if (!v)
		return check_no_memory(c);
	/* The body may have assigned larger numbers. */
	if (v->type.kind == V_INT && t.kind == V_INT)
		vtype_widen(c, &t, &v->type);
	c->changed |= !vtype_same(&v->type, &t);
	v->type = n->a->vtype = t;
	fine = check_loop_body(c, n);
	c->visible = before;
	return fine;
}

static bool check_jump(struct checker *c, struct node *n)
{
	return c->loops != c->loops_outside ||
	       check_fail(c, n, "%s is for loops", n->kind == N_BREAK ? "break" : "continue");
}

/* What a test returns is its status, as with exit(). */
static bool check_test_status(struct checker *c, struct node *n)
{
	const struct vtype *t = &n->a->vtype;

	if (t->kind != V_NONE && !vtype_is_number(t) && !vtype_is_aggregation(t))
		return check_fail(c, n->a, "a test returns a number");
	return check_action(c, n, ACT_EXIT, n->a) != NULL;
}

static bool check_returned(struct checker *c, struct node *n);

static bool check_return(struct checker *c, struct node *n)
{
	if (c->function)
		return check_returned(c, n);
	return !n->a || (check_expr(c, n->a) &&
			 (program_probe(c->at) != PT_TEST || check_test_status(c, n)));
}

static bool check_single(struct checker *c, struct node *n)
{
	return check_expr(c, n->a);
}

static bool check_block_statement(struct checker *c, struct node *n)
{
	return check_body(c, n->list);
}

static bool (*const rules[N_KINDS])(struct checker *c, struct node *n) = {
	[N_EXPR] = check_single,    [N_ASSIGN] = check_assign, [N_LET] = check_let,
	[N_DISCARD] = check_single, [N_IF] = check_if,	       [N_WHILE] = check_while,
	[N_UNROLL] = check_unroll,  [N_FOR] = check_for,       [N_BREAK] = check_jump,
	[N_CONTINUE] = check_jump,  [N_RETURN] = check_return, [N_BLOCK] = check_block_statement,
};

bool check_leaves(const struct node *n)
{
	const struct node *last = node_last(n->kind == N_BLOCK ? n->list : n->b);
	const struct node *other = node_last(n->c);

	if (n->kind == N_RETURN || n->kind == N_BREAK || n->kind == N_CONTINUE)
		return true;
	if (n->kind == N_EXPR && n->a->kind == N_CALL && n->a->builtin)
		return strcmp(n->a->builtin->name, "exit") == 0;
	if (n->kind == N_EXPR && n->a->kind == N_BLOCK)
		return check_leaves(n->a);
	if (n->kind != N_BLOCK && n->kind != N_IF)
		return false;
	return last && check_leaves(last) && (n->kind == N_BLOCK || (other && check_leaves(other)));
}

/* Warns about a value that is not used, except for calls with an effect. */
static void warn_unused(struct checker *c, const struct node *n)
{
	const struct node *e = n->a;

	if (n->kind != N_EXPR || n->is_value || e->vtype.kind == V_NONE)
		return;
	if (e->kind == N_STEP || e->kind == N_TERNARY || e->kind == N_FUNC ||
	    (e->kind == N_CALL && e->builtin &&
	     (e->builtin->flags & (BUILTIN_STATEMENT | BUILTIN_EFFECT))))
		return;
	if (e->kind == N_BLOCK) {
		const struct node *last = node_last(e->list);

		if (!last || last->kind != N_EXPR || !last->is_value)
			return;
	}
	source_warning(c->source, e->at, "Return value discarded.");
}

bool check_statements(struct checker *c, struct node *list)
{
	bool all = true;

	for (struct node *n = list; n && !c->no_memory; n = n->next) {
		const bool fine = (rules[n->kind] ? rules[n->kind] : check_expr)(c, n);

		all &= fine;
		if (c->last && fine)
			warn_unused(c, n);
		/* "exit(); return;" is common. */
		if (c->last && n->next && n->next->kind != N_RETURN && check_leaves(n))
			source_warning(c->source, n->next->at,
				       "this can never run: what stands before it leaves");
	}
	return all;
}

/* ---- functions of the script ---- */

/*
 * A call is a copy of the function's body (parse/macro.c). Its parameters are variables that are
 * declared before the copy; its result is one more variable. A return assigns that variable and
 * jumps to the end of the copy.
 */

/* A return in a function. */
static bool check_returned(struct checker *c, struct node *n)
{
	const struct node *result = c->function->b;
	struct vtype t, stored;

	if (!n->a)
		return !result ||
		       check_fail(c, n, "function '%s' must return a value", c->function->name);
	if (!result)
		return check_fail(c, n->a, "function '%s' returns nothing", c->function->name);
	if (!check_expr(c, n->a))
		return false;
	if (n->a->vtype.kind == V_NONE)
		return check_unknown(c, n->a);
	t = result->a->var->type;
	stored = vtype_stored(&n->a->vtype);
	check_cut(c, n->a, &t);
	if (t.kind == stored.kind && (t.kind == V_STRING || t.kind == V_INT))
		return true;
	if (vtype_is_aggregation(&stored) || vtype_widen(c, &t, &stored) < 0)
		return check_fail(c, n->a, "function '%s' returns '%s', not '%s'",
				  c->function->name, check_type_text(c, &t),
				  check_type_text(c, &stored));
	return true;
}

bool check_function(struct checker *c, struct node *n)
{
	const struct node *outer = c->function;
	const unsigned int outside = c->loops_outside;
	struct var *before = c->visible;
	/* Arguments belong to the caller: so does a return in one of them. */
	bool fine = check_statements(c, n->list) && check_statements(c, n->b);

	c->function = n;
	c->loops_outside = c->loops;
	fine = fine && check_statements(c, n->a->list);
	if (fine && n->b && !check_leaves(n->a))
		fine = check_fail(c, n->a, "function '%s' can end without a return", n->name);
	c->function = outer;
	c->loops_outside = outside;
	c->visible = before;
	if (fine && n->b)
		n->vtype = n->b->a->var->type;
	return fine;
}
