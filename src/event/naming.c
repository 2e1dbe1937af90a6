// SPDX-License-Identifier: GPL-2.0-or-later
#include "event/naming.h"

#include "event/expr.h"
#include "event/plan.h"

#define MAX_DEPTH 20

static bool is_about(const struct expr *e, const struct event_field *f, int depth)
{
	if (!e || depth > MAX_DEPTH)
		return false;
	switch (e->kind) {
	case EXPR_FIELD: return e->field.at == f;
	case EXPR_CAST: return is_about(e->cast.item, f, depth + 1);
	case EXPR_OP: return is_about(e->left, f, depth + 1) || is_about(e->right, f, depth + 1);
	default: return false;
	}
}

static bool has_names(const struct expr *e, const struct event_field *f, int depth)
{
	if (!e || depth > MAX_DEPTH)
		return false;
	switch (e->kind) {
	case EXPR_FLAGS:
	case EXPR_SYMBOL: return is_about(e->names.value, f, 0);
	case EXPR_CAST: return has_names(e->cast.item, f, depth + 1);
	case EXPR_OP: return has_names(e->left, f, depth + 1) || has_names(e->right, f, depth + 1);
	default: return false;
	}
}

/* How many print more of the same field without a word between. */
static uint32_t count_ops(const struct event_plan *plan, const struct plan_op *first,
			  const struct event_field *f)
{
	const struct plan_op *end = plan->ops + plan->nr_ops, *op = first + 1;

	while (op < end && op->kind == PLAN_STRING && !op->literal_len && is_about(op->arg, f, 0))
		op++;
	return (uint32_t)(op - first);
}

struct naming naming_find(struct event *e, const struct event_field *f)
{
	const struct event_plan *plan = event_ready(e) == EVENT_READY ? e->plan : NULL;

	if (!plan || plan->printk || !(f->flags & (FIELD_FLAG | FIELD_SYMBOLIC)))
		return (struct naming){0};
	for (const struct plan_op *op = plan->ops; op < plan->ops + plan->nr_ops; op++)
		if (op->kind == PLAN_STRING && has_names(op->arg, f, 0))
			return (struct naming){op, count_ops(plan, op, f)};
	return (struct naming){0};
}

/* Nothing but this field, numbers and words. */
static bool is_alone(const struct expr *e, const struct event_field *f, int depth)
{
	if (depth > MAX_DEPTH)
		return false;
	switch (e ? e->kind : EXPR_NULL) {
	case EXPR_NULL:
	case EXPR_ATOM: return true;
	case EXPR_FIELD: return e->field.at == f;
	case EXPR_FLAGS:
	case EXPR_SYMBOL: return is_alone(e->names.value, f, depth + 1);
	case EXPR_CAST: return is_alone(e->cast.item, f, depth + 1);
	case EXPR_OP: return is_alone(e->left, f, depth + 1) && is_alone(e->right, f, depth + 1);
	default: return false;
	}
}

bool naming_alone(const struct naming *n, const struct event_field *f)
{
	for (uint32_t i = 0; i < n->nr; i++)
		if (n->ops[i].star || !is_alone(n->ops[i].arg, f, 0))
			return false;
	return true;
}

void naming_print(const struct naming *n, struct event_printer *p, const struct spur_record *r,
		  struct buf *to)
{
	struct run x = {
		.printer = p, .events = p->events, .record = r, .out = to, .start = to->len};

	for (uint32_t i = 0; i < n->nr; i++)
		plan_run_op(&x, &n->ops[i]);
}
