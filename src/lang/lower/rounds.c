// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How many rounds a loop has at most, if constants say it: those of a range, of the size of a map,
 * and of a variable that starts with a constant, is counted in every round, and is compared with a
 * constant.
 */
#include "lang/lower/lower.h"

#define FAR (INT64_MAX / 4) /* larger constants are no bounds, so sums cannot overflow */

/* A variable that counts the rounds of a loop. */
struct counter {
	const struct var *var;
	bool up;
	bool unknown; /* it is set to something else than a constant, or counted the other way */
	bool started;
	int64_t start; /* of the constants it is set to, the one with the most rounds */
};

static bool constant(const struct node *e, int64_t *value)
{
	if (!e || !e->is_const || !vtype_is_number(&e->vtype) || e->num > FAR || e->num < -FAR)
		return false;
	*value = e->num;
	return true;
}

static bool is_var(const struct node *e, const struct var *v)
{
	return e && e->kind == N_VAR && e->var == v;
}

/* By how much a statement or an expression changes the variable; 0: unknown, or not at all. */
static int64_t step_of(const struct node *n, const struct var *v)
{
	const struct node *by = n->b;
	int op = n->op;
	int64_t value;

	if (!is_var(n->a, v))
		return 0;
	if (n->kind == N_STEP)
		return op == '+' ? 1 : -1;
	if (n->kind != N_ASSIGN)
		return 0;
	/* $x = $x + 1 */
	if (!op && by->kind == N_BINARY && is_var(by->a, v)) {
		op = by->op;
		by = by->b;
	}
	if ((op != '+' && op != '-') || !constant(by, &value))
		return 0;
	return op == '+' ? value : -value;
}

static void note_start(struct counter *c, const struct node *value)
{
	int64_t start = 0;

	if (value && !constant(value, &start))
		c->unknown = true;
	else if (!c->started || (c->up ? start < c->start : start > c->start))
		c->start = start;
	c->started = true;
}

/* Looks at all that a program does with the variable. */
static void look_at(struct counter *c, const struct node *list)
{
	for (const struct node *n = list; n; n = n->next) {
		const int64_t step = step_of(n, c->var);

		if (step)
			c->unknown |= (step > 0) != c->up;
		else if (is_var(n->a, c->var) &&
			 (n->kind == N_LET || (n->kind == N_ASSIGN && !n->op)))
			note_start(c, n->b);
		else if (is_var(n->a, c->var) && (n->kind == N_ASSIGN || n->kind == N_FOR))
			c->unknown = true;
		look_at(c, n->a);
		look_at(c, n->b);
		look_at(c, n->c);
		look_at(c, n->list);
	}
}

/* The least or the largest number that an expression can be, as constants say. */
static bool limit(const struct program *p, const struct node *e, bool least, int64_t *value)
{
	struct counter c = {.up = least};

	if (!e || e->kind != N_VAR || !e->var || e->var->addressed)
		return constant(e, value);
	c.var = e->var;
	look_at(&c, p->body);
	*value = c.start;
	return c.started && !c.unknown;
}

/* Whether statements can skip the rest of a round; `inner`: they are in an inner loop. */
static bool can_skip(const struct node *n, bool inner)
{
	const bool deeper = inner || n->kind == N_WHILE || n->kind == N_FOR;
	const struct node *const below[] = {n->a, n->b, n->c, n->list};

	if (n->kind == N_CONTINUE && !inner)
		return true;
	for (size_t i = 0; i < 4; i++)
		for (const struct node *e = below[i]; e; e = e->next)
			if (can_skip(e, deeper))
				return true;
	return false;
}

/* The step that every round does; 0: there is none. */
static int64_t step_in(const struct node *body, const struct var *v)
{
	for (const struct node *n = body; n; n = n->next) {
		int64_t step = step_of(n->kind == N_EXPR ? n->a : n, v);

		if (!step && n->kind == N_BLOCK)
			step = step_in(n->list, v);
		if (step || can_skip(n, false))
			return step;
	}
	return 0;
}

static int mirrored(int op)
{
	switch (op) {
	case '<': return '>';
	case '>': return '<';
	case NODE_OP_LE: return NODE_OP_GE;
	case NODE_OP_GE: return NODE_OP_LE;
	default: return op;
	}
}

/* The rounds of while (VAR OP end) { body }; the variable may be counted by the condition. */
static uint64_t count(const struct program *p, const struct node *body, const struct node *var,
		      int op, int64_t end)
{
	const bool steps = var->kind == N_STEP;
	struct counter c = {.var = steps ? var->a->var : var->var};
	const int64_t step = steps ? step_of(var, c.var) : step_in(body, c.var);
	int64_t way;

	c.up = step > 0;
	if (!step || !c.var || c.var->addressed ||
	    (op == NODE_OP_NE ? step != 1 && step != -1 : c.up != (op == '<' || op == NODE_OP_LE)))
		return LOWER_UNKNOWN;
	look_at(&c, p->body);
	if (c.unknown || !c.started)
		return LOWER_UNKNOWN;
	way = c.up ? end - c.start : c.start - end;
	way += op == NODE_OP_LE || op == NODE_OP_GE;
	if (way < 0)
		return op == NODE_OP_NE ? LOWER_UNKNOWN : 0;
	return ((uint64_t)way + (uint64_t)(c.up ? step : -step) - 1) /
	       (uint64_t)(c.up ? step : -step);
}

/* What a variable is compared with, if it is counted towards that. */
static bool end_of(const struct program *p, const struct node *e, int op, int64_t *end)
{
	return op == NODE_OP_NE ? constant(e, end)
				: limit(p, e, op == '>' || op == NODE_OP_GE, end);
}

static bool counts(const struct node *e)
{
	return e->kind == N_VAR || (e->kind == N_STEP && e->a->kind == N_VAR);
}

static uint64_t rounds_of_while(const struct program *p, const struct node *e,
				const struct node *body)
{
	uint64_t one, other;
	int64_t end;

	if (counts(e))
		return count(p, body, e, NODE_OP_NE, 0);
	if (e->kind == N_BOOL || e->kind == N_INT)
		return constant(e, &end) && !end ? 0 : LOWER_UNKNOWN;
	if (e->kind != N_BINARY)
		return LOWER_UNKNOWN;
	if (e->op == NODE_OP_AND) {
		one = rounds_of_while(p, e->a, body);
		other = rounds_of_while(p, e->b, body);
		return one < other ? one : other;
	}
	if (e->op != '<' && e->op != '>' && e->op != NODE_OP_LE && e->op != NODE_OP_GE &&
	    e->op != NODE_OP_NE)
		return LOWER_UNKNOWN;
	one = other = LOWER_UNKNOWN;
	if (counts(e->a) && end_of(p, e->b, e->op, &end))
		one = count(p, body, e->a, e->op, end);
	if (counts(e->b) && end_of(p, e->a, mirrored(e->op), &end))
		other = count(p, body, e->b, mirrored(e->op), end);
	return one < other ? one : other;
}

uint64_t lower_rounds_of(const struct program *p, const struct node *n)
{
	int64_t first, end;

	if (n->kind == N_WHILE)
		return rounds_of_while(p, n->a, n->b);
	if (n->c->kind == N_MAP)
		return n->c->map->entries;
	if (!limit(p, n->c->a, true, &first) || !limit(p, n->c->b, false, &end))
		return LOWER_UNKNOWN;
	return end > first ? (uint64_t)(end - first) : 0;
}

bool lower_nests_map_loops(const struct node *list, bool inside)
{
	for (const struct node *n = list; n; n = n->next) {
		const bool loop = n->kind == N_WHILE || n->kind == N_FOR;

		if (inside && n->kind == N_FOR && n->c->kind == N_MAP)
			return true;
		if (lower_nests_map_loops(n->a, inside) ||
		    lower_nests_map_loops(n->b, inside || loop) ||
		    lower_nests_map_loops(n->c, inside) || lower_nests_map_loops(n->list, inside))
			return true;
	}
	return false;
}
