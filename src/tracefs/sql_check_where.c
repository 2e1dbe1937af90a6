// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a query's condition means. Afterwards it is split into one per event: conditions that must
 * all be true can be looked at by either, all else must be about one.
 */
#include "tracefs/sql_parts.h"

#include <string.h>

/* Whether one of the events has a field of that name. */
static bool is_field(const struct sql *q, const char *name)
{
	for (int i = 0; i <= q->joined; i++) {
		struct sql_field f = {.plain = name};

		if (sql_look_up(&q->event[i], &f) && (f.field || f.pseudo))
			return true;
	}
	return false;
}

/* A column's name stands for its field, unless it is a field's own. */
static int check_where_field(struct sql *q, struct sql_field *f)
{
	if (is_field(q, f->name))
		return sql_check_field(q, f);
	for (const struct sql_column *c = q->columns; c; c = c->next) {
		const struct sql_field *column = sql_column_field(c);

		if (!c->name_len || !c->name || strcmp(c->name, f->name) != 0)
			continue;
		if (!column)
			return sql_error(
				q, f->pos, f->len,
				"'%.80s' is calculated after the conditions have been looked at",
				f->name);
		f->side = column->side;
		f->pseudo = column->pseudo;
		f->field = column->field;
		f->plain = column->plain;
		f->type = column->type;
		return 0;
	}
	return sql_check_field(q, f);
}

static int check_compare(struct sql *q, struct sql_cond *c)
{
	const struct sql_field *f = &c->field;
	const struct sql_token *v = &c->value;
	const bool text = v->word == WORD_TEXT;

	if (check_where_field(q, &c->field) < 0)
		return q->rc;
	if (f->type == TYPE_ARRAY || f->type == TYPE_STACK || f->pseudo == PSEUDO_TIMESTAMP ||
	    f->pseudo == PSEUDO_TIMESTAMP_USECS)
		return sql_error(q, f->pos, f->len, "'%.80s' cannot be part of a condition",
				 f->name);
	if (text && f->type == TYPE_NUMBER)
		return sql_error(q, v->pos, v->len, "'%.80s' is a number, and this a text",
				 f->name);
	if (!text && f->type == TYPE_TEXT)
		return sql_error(q, v->pos, v->len,
				 "'%.80s' is a text, which is compared with a text in quotes",
				 f->name);
	if (text && c->op != WORD_EQ && c->op != WORD_NE && c->op != WORD_GLOB)
		return sql_error(q, f->pos, v->pos + v->len - f->pos,
				 "texts are compared with ==, != and ~");
	if (!text && c->op == WORD_GLOB)
		return sql_error(q, v->pos, v->len, "~ compares with a text: \"abc*\"");
	if (text && strchr(v->text, '"') && strchr(v->text, '\''))
		return sql_error(q, v->pos, v->len,
				 "the kernel takes no text with both quotes in it");
	return 0;
}

static int check_cond(struct sql *q, struct sql_cond *c)
{
	if (c->kind == COND_COMPARE)
		return check_compare(q, c);
	if (check_cond(q, c->left) < 0)
		return q->rc;
	return c->right ? check_cond(q, c->right) : 0;
}

/* The first comparison about an event, or NULL. */
static const struct sql_cond *compare_of(const struct sql_cond *c, enum sql_side side)
{
	const struct sql_cond *found;

	if (c->kind == COND_COMPARE)
		return c->field.side == side ? c : NULL;
	found = compare_of(c->left, side);
	return found || !c->right ? found : compare_of(c->right, side);
}

/* Conditions that must all be true belong to one event each. */
static int split_cond(struct sql *q, struct sql_cond *c)
{
	const struct sql_cond *from, *join;
	struct sql_cond **all, *both;

	if (c->kind == COND_AND)
		return split_cond(q, c->left) < 0 ? q->rc : split_cond(q, c->right);
	from = compare_of(c, SIDE_FROM);
	join = compare_of(c, SIDE_JOIN);
	if (from && join)
		return sql_error(
			q, join->field.pos, join->field.len,
			"'%.80s' and '%.80s' are of different events: only AND can join them",
			from->field.name, join->field.name);
	all = &q->where_of[join ? SIDE_JOIN : SIDE_FROM];
	if (!*all) {
		*all = c;
		return 0;
	}
	both = sql_alloc(q, sizeof(*both));
	if (!both)
		return q->rc;
	*both = (struct sql_cond){.kind = COND_AND, .left = *all, .right = c};
	*all = both;
	return 0;
}

int sql_check_where(struct sql *q)
{
	return check_cond(q, q->where) < 0 ? q->rc : split_cond(q, q->where);
}
