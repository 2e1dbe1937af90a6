// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Resolves the names of a query. Afterwards every field has its event and its type, and matches
 * have the first event's field first.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/suggest.h"
#include "tracefs/sqlhist/tree.h"

/* ---- events ---- */

static void suggest_event(void *to, const char *name)
{
	suggest_try(to, name);
}

static int no_event(struct sql_statement *q, const struct sql_event *e,
		    const struct sql_schema *schema)
{
	struct suggest near = suggest_for(e->event, strlen(e->event));
	struct event *other;
	const char *best = NULL;
	char known[128];

	if (e->system && schema->find(schema->arg, NULL, e->event, &other, NULL) > 0) {
		snprintf(known, sizeof(known), "%s.%s", other->system, e->event);
		best = known;
	} else {
		schema->each(schema->arg, suggest_event, &near);
		best = suggest_best(&near);
	}
	return sql_error(q, e->pos, e->len, "there is no event '%.80s'%s%.80s%s", e->name,
			 best ? "; did you mean '" : "", best ? best : "", best ? "'?" : "");
}

static int find_event(struct sql_statement *q, struct sql_event *e, const struct sql_schema *schema)
{
	const char *dot = strchr(e->name, '.');
	int n;

	e->system = dot ? sql_copy(q, e->name, (size_t)(dot - e->name)) : NULL;
	e->event = dot ? dot + 1 : e->name;
	if (q->rc < 0)
		return q->rc;
	if (!sql_is_word(e->event) || (dot && !sql_is_word(e->system)))
		return sql_error(q, e->pos, e->len, "an event is written EVENT or SYSTEM.EVENT");
	if (!schema)
		return dot ? 0
			   : sql_error(q, e->pos, e->len,
				       "the events are not known: write SYSTEM.%.80s", e->event);
	n = schema->find(schema->arg, e->system, e->event, &e->type, q->err);
	if (n < 0)
		return q->rc = n;
	if (n == 0)
		return no_event(q, e, schema);
	if (n > 1 && !dot)
		return sql_error(
			q, e->pos, e->len,
			"there are %d events of this name: write SYSTEM.%.80s, for example "
			"%.80s.%.80s",
			n, e->event, e->type->system, e->event);
	e->system = e->type->system;
	return 0;
}

static int check_events(struct sql_statement *q, const struct sql_schema *schema)
{
	struct sql_event *from = &q->event[SIDE_FROM], *join = &q->event[SIDE_JOIN];

	if (find_event(q, from, schema) < 0 || !q->joined)
		return q->rc;
	if (find_event(q, join, schema) < 0)
		return q->rc;
	if (from->alias && join->alias && strcmp(from->alias, join->alias) == 0)
		return sql_error(q, join->pos, join->len, "both events are called '%.80s'",
				 join->alias);
	if (strcmp(from->system, join->system) == 0 && strcmp(from->event, join->event) == 0 &&
	    (!from->alias || !join->alias))
		return sql_error(
			q, join->pos, join->len,
			"the same event twice: give them names with AS to tell them apart");
	return 0;
}

/* ---- fields ---- */

static const struct {
	const char *name;
	enum sql_pseudo pseudo;
	enum sql_type type;
	bool ordinary; /* a name that a field may have, too */
} pseudos[] = {
	{"TIMESTAMP", PSEUDO_TIMESTAMP, SQL_TYPE_NUMBER},
	{"common_timestamp", PSEUDO_TIMESTAMP, SQL_TYPE_NUMBER},
	{"TIMESTAMP_USECS", PSEUDO_TIMESTAMP_USECS, SQL_TYPE_NUMBER},
	{"STACKTRACE", PSEUDO_STACKTRACE, SQL_TYPE_STACK},
	{"common_stacktrace", PSEUDO_STACKTRACE, SQL_TYPE_STACK},
	{"stacktrace", PSEUDO_STACKTRACE, SQL_TYPE_STACK, true},
	{"COMM", PSEUDO_COMM, SQL_TYPE_TEXT},
	{"comm", PSEUDO_COMM, SQL_TYPE_TEXT, true},
	{"common_comm", PSEUDO_COMM, SQL_TYPE_TEXT},
	{"CPU", PSEUDO_CPU, SQL_TYPE_NUMBER},
	{"cpu", PSEUDO_CPU, SQL_TYPE_NUMBER, true},
	{"common_cpu", PSEUDO_CPU, SQL_TYPE_NUMBER},
};

#define NR_PSEUDOS ARRAY_SIZE(pseudos)

/* As in the kernel: every array whose type contains "char" is text. */
static enum sql_type type_of(const struct event_field *f)
{
	const bool chars = strstr(f->type, "char") != NULL;

	if (f->flags & (FIELD_ARRAY | FIELD_DYNAMIC))
		return chars ? SQL_TYPE_TEXT : SQL_TYPE_ARRAY;
	return f->flags & FIELD_POINTER && chars ? SQL_TYPE_EITHER : SQL_TYPE_NUMBER;
}

/* Fills in the event's field with the name f->plain; false if there is none. */
static bool sql_look_up(const struct sql_event *e, struct sql_field *f)
{
	f->field = e->type ? event_field_find(e->type, f->plain) : NULL;
	if (f->field) {
		f->type = type_of(f->field);
		return true;
	}
	for (size_t i = 0; i < NR_PSEUDOS; i++) {
		if ((e->type || !pseudos[i].ordinary) && strcmp(f->plain, pseudos[i].name) == 0) {
			f->pseudo = pseudos[i].pseudo;
			f->type = pseudos[i].type;
			return true;
		}
	}
	f->type = SQL_TYPE_EITHER;
	return !e->type && sql_is_word(f->plain);
}

static const char *after_prefix(const char *name, const char *prefix)
{
	size_t n = prefix ? strlen(prefix) : 0;

	return n && strncmp(name, prefix, n) == 0 && name[n] == '.' ? name + n + 1 : NULL;
}

/* The part after the event in a field's name: alias.field, system.event.field, event.field. */
static const char *field_of(const struct sql_event *e, const char *name)
{
	const char *rest = after_prefix(name, e->alias);

	if (!rest && after_prefix(name, e->system))
		rest = after_prefix(after_prefix(name, e->system), e->event);
	return rest ? rest : after_prefix(name, e->event);
}

static int no_field(struct sql_statement *q, const struct sql_field *f)
{
	struct event *type = q->event[f->side].type;
	struct suggest near = suggest_for(f->plain, strlen(f->plain));
	const char *best, *dot = strchr(f->plain, '.');

	if (dot)
		return sql_error(q, f->pos, f->len,
				 "'%.80s' is no field; a field is converted by CAST(%.*s AS %.40s)",
				 f->plain, (int)(dot - f->plain < 80 ? dot - f->plain : 80),
				 f->plain, dot + 1);
	for (uint32_t i = 0; type && i < type->nr_fields; i++)
		suggest_try(&near, type->fields[i].name);
	for (size_t i = 0; i < NR_PSEUDOS; i++)
		suggest_try(&near, pseudos[i].name);
	best = suggest_best(&near);
	return sql_error(q, f->pos, f->len, "%.80s has no field '%.80s'%s%.80s%s",
			 q->event[f->side].event, f->plain, best ? "; did you mean '" : "",
			 best ? best : "", best ? "'?" : "");
}

static int no_such_event(struct sql_statement *q, const struct sql_field *f)
{
	const struct sql_event *from = &q->event[SIDE_FROM], *join = &q->event[SIDE_JOIN];
	const int len = (int)strcspn(f->name, ".");

	return sql_error(q, f->pos, f->len,
			 "'%.*s' is no event of this query, which has '%.60s'%s%.60s%s",
			 len < 80 ? len : 80, f->name, from->alias ? from->alias : from->event,
			 q->joined ? " and '" : "",
			 !q->joined    ? ""
			 : join->alias ? join->alias
				       : join->event,
			 q->joined ? "'" : "");
}

/* Finds the event that has a field, for a name without an event. */
static int find_owner(struct sql_statement *q, struct sql_field *f)
{
	struct sql_field other = *f;
	bool in_from, in_join;

	other.side = SIDE_JOIN;
	in_from = sql_look_up(&q->event[SIDE_FROM], f);
	in_join = q->joined && sql_look_up(&q->event[SIDE_JOIN], &other);
	if (in_from && in_join)
		return sql_error(q, f->pos, f->len,
				 "both events have '%.80s': write %.60s.%.80s or %.60s.%.80s",
				 f->plain,
				 q->event[SIDE_FROM].alias ? q->event[SIDE_FROM].alias
							   : q->event[SIDE_FROM].event,
				 f->plain,
				 q->event[SIDE_JOIN].alias ? q->event[SIDE_JOIN].alias
							   : q->event[SIDE_JOIN].event,
				 f->plain);
	if (in_join)
		*f = other;
	return in_from || in_join ? 0 : no_field(q, f);
}

/* Finds the event and the type of a field, by its name as it is written. */
static int sql_check_field(struct sql_statement *q, struct sql_field *f)
{
	const char *rest[NR_SIDES];

	/* TIMESTAMP_DELTA is two fields that only the parser knows. */
	if (f->pseudo)
		return q->joined
			       ? 0
			       : sql_error(
					 q, f->pos, f->len,
					 "'%.40s' is the time between two events: JOIN is missing",
					 f->name);
	rest[SIDE_FROM] = field_of(&q->event[SIDE_FROM], f->name);
	rest[SIDE_JOIN] = q->joined ? field_of(&q->event[SIDE_JOIN], f->name) : NULL;
	/* An alias takes precedence over an event's name. */
	for (int i = 0; i < NR_SIDES; i++)
		if (rest[i] && rest[!i] && after_prefix(f->name, q->event[i].alias) == rest[i])
			rest[!i] = NULL;
	if (rest[SIDE_FROM] && rest[SIDE_JOIN])
		return sql_error(q, f->pos, f->len,
				 "'%.80s' may be of either event: use their names", f->name);
	if (!rest[SIDE_FROM] && !rest[SIDE_JOIN]) {
		f->plain = f->name;
		/* A name with a dot may also be a conversion; no_field() has a hint for that. */
		if (strchr(f->name, '.') && (q->joined || !q->event[SIDE_FROM].type ||
					     strchr(strchr(f->name, '.') + 1, '.')))
			return no_such_event(q, f);
		return find_owner(q, f);
	}
	f->side = rest[SIDE_JOIN] ? SIDE_JOIN : SIDE_FROM;
	f->plain = rest[f->side];
	return sql_look_up(&q->event[f->side], f) ? 0 : no_field(q, f);
}

/* ---- columns ---- */

const struct sql_field *sql_column_field(const struct sql_column *c)
{
	return c->expr->kind == SQL_EXPR_FIELD ? &c->expr->field : NULL;
}

bool sql_expr_has(const struct sql_expr *e, enum sql_side side)
{
	if (e->kind == SQL_EXPR_FIELD)
		return e->field.side == side;
	return e->kind != SQL_EXPR_NUMBER &&
	       (sql_expr_has(e->left, side) || sql_expr_has(e->right, side));
}

static int check_expr(struct sql_statement *q, struct sql_expr *e, bool calculated)
{
	if (e->kind == SQL_EXPR_NUMBER)
		return 0;
	if (e->kind != SQL_EXPR_FIELD)
		return check_expr(q, e->left, true) < 0 ? q->rc : check_expr(q, e->right, true);
	if (sql_check_field(q, &e->field) < 0)
		return q->rc;
	if (calculated && e->field.type != SQL_TYPE_NUMBER && e->field.type != SQL_TYPE_EITHER)
		return sql_error(q, e->pos, e->len, "'%.80s' is no number to calculate with",
				 e->field.name);
	if (e->field.type == SQL_TYPE_ARRAY)
		return sql_error(q, e->pos, e->len, "'%.80s' is an array, which cannot be a column",
				 e->field.name);
	return 0;
}

/* Counts the operands of a calculation: all, and those in microseconds. */
static void count_operands(const struct sql_expr *e, unsigned int *n, unsigned int *usecs)
{
	if (e->kind == SQL_EXPR_SUM || e->kind == SQL_EXPR_PRODUCT) {
		count_operands(e->left, n, usecs);
		count_operands(e->right, n, usecs);
		return;
	}
	++*n;
	*usecs += e->kind == SQL_EXPR_FIELD && e->field.pseudo == PSEUDO_TIMESTAMP_USECS;
}

/* The kernel accepts microseconds only alone or in one operation with microseconds. */
static int check_units(struct sql_statement *q, const struct sql_expr *e)
{
	unsigned int n = 0, usecs = 0;

	count_operands(e, &n, &usecs);
	if (!usecs || n == 1 || (n == 2 && usecs == 2))
		return 0;
	return sql_error(q, e->pos, e->len,
			 "TIMESTAMP_USECS can only be calculated with that of the other event");
}

static int check_cast(struct sql_statement *q, const struct sql_column *c)
{
	const struct sql_field *f = &c->expr->field;

	if (c->cast == CAST_EXECNAME && strcmp(f->plain, "common_pid") != 0)
		return sql_error(q, c->cast_pos, c->cast_len,
				 "only common_pid can be shown as the name of a task");
	if (f->type != SQL_TYPE_NUMBER && f->type != SQL_TYPE_EITHER)
		return sql_error(q, f->pos, f->len, "'%.80s' is no number and cannot be cast",
				 f->name);
	if (f->pseudo == PSEUDO_TIMESTAMP_USECS)
		return sql_error(q, f->pos, f->len, "'%.80s' cannot be cast", f->name);
	return 0;
}

static bool same_field(const struct sql_field *a, const struct sql_field *b)
{
	return a->side == b->side && a->field == b->field && a->pseudo == b->pseudo &&
	       (a->field || a->pseudo || strcmp(a->plain, b->plain) == 0);
}

static int check_keys(struct sql_statement *q)
{
	bool keys = false;

	for (const struct sql_column *c = q->columns; c; c = c->next) {
		const struct sql_expr *e = c->expr;

		if (e->kind != SQL_EXPR_FIELD)
			return sql_error(
				q, e->pos, e->len,
				"a histogram shows fields as they are; calculations need JOIN");
		for (const struct sql_column *o = q->columns; o != c; o = o->next)
			if (same_field(&o->expr->field, &e->field))
				return sql_error(q, e->pos, e->len, "'%.80s' is selected twice",
						 e->field.name);
		if (c->cast && check_cast(q, c) < 0)
			return q->rc;
		keys |= c->cast != CAST_COUNTER;
	}
	if (!keys)
		return sql_error(
			q, q->columns->cast_pos, q->columns->cast_len,
			"all columns are counters: a histogram needs something to count by");
	return 0;
}

/* The name of a synthetic event's column that is no field and has no alias. */
static const char *default_name(const struct sql_field *f)
{
	static const char *const names[] = {
		[PSEUDO_TIMESTAMP] = "common_timestamp",
		[PSEUDO_TIMESTAMP_USECS] = "common_timestamp_usecs",
		[PSEUDO_STACKTRACE] = "stacktrace",
		[PSEUDO_COMM] = "common_comm",
		[PSEUDO_CPU] = "common_cpu",
	};

	return f->pseudo ? names[f->pseudo] : f->plain;
}

static int check_parts(struct sql_statement *q)
{
	for (struct sql_column *c = q->columns; c; c = c->next) {
		const struct sql_expr *e = c->expr;
		const struct sql_field *f = sql_column_field(c);

		if (c->cast)
			return sql_error(
				q, c->cast_pos, c->cast_len,
				"CAST is for histograms; an event of a JOIN has plain fields");
		if (!sql_expr_has(e, SIDE_FROM) && !sql_expr_has(e, SIDE_JOIN))
			return sql_error(q, e->pos, e->len, "a column needs a field");
		if (!c->name && !f)
			return sql_error(q, e->pos, e->len,
					 "what is calculated needs a name: AS name");
		if (!c->name) {
			c->name = default_name(f);
			c->name_pos = e->pos;
			c->name_len = e->len;
		}
		for (const struct sql_column *o = q->columns; o != c; o = o->next)
			if (strcmp(o->name, c->name) == 0)
				return sql_error(q, c->name_pos, c->name_len,
						 "there already is a column '%.80s': give this one "
						 "another name with AS",
						 c->name);
	}
	return 0;
}

static int check_columns(struct sql_statement *q)
{
	for (struct sql_column *c = q->columns; c; c = c->next)
		if (check_expr(q, c->expr, c->expr->kind != SQL_EXPR_FIELD) < 0 ||
		    check_units(q, c->expr) < 0)
			return q->rc;
	return q->joined ? check_parts(q) : check_keys(q);
}

/* ---- matches ---- */

static int check_match(struct sql_statement *q, struct sql_match *m)
{
	struct sql_field *a = &m->side[0], *b = &m->side[1];

	if (sql_check_field(q, a) < 0 || sql_check_field(q, b) < 0)
		return q->rc;
	if (a->side == b->side)
		return sql_error(
			q, b->pos, b->len,
			"'%.80s' and '%.80s' are of the same event: one of each must match",
			a->name, b->name);
	for (int i = 0; i < NR_SIDES; i++) {
		const struct sql_field *f = &m->side[i];

		if (f->type == SQL_TYPE_ARRAY || f->type == SQL_TYPE_STACK ||
		    f->pseudo == PSEUDO_COMM)
			return sql_error(q, f->pos, f->len, "'%.80s' cannot be matched", f->name);
	}
	if (a->type != b->type && a->type != SQL_TYPE_EITHER && b->type != SQL_TYPE_EITHER)
		return sql_error(q, b->pos, b->len,
				 "'%.80s' is a %s and '%.80s' a %s: they never match", a->name,
				 a->type == SQL_TYPE_TEXT ? "text" : "number", b->name,
				 b->type == SQL_TYPE_TEXT ? "text" : "number");
	if (a->side != SIDE_FROM) {
		struct sql_field tmp = *a;

		*a = *b;
		*b = tmp;
	}
	return 0;
}

/* ---- conditions ---- */

/* Whether one of the events has a field of that name. */
static bool is_field(const struct sql_statement *q, const char *name)
{
	for (int i = 0; i <= q->joined; i++) {
		struct sql_field f = {.plain = name};

		if (sql_look_up(&q->event[i], &f) && (f.field || f.pseudo))
			return true;
	}
	return false;
}

/* A column's name means its field, unless a field has this name. */
static int check_where_field(struct sql_statement *q, struct sql_field *f)
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

static int check_compare(struct sql_statement *q, struct sql_cond *c)
{
	const struct sql_field *f = &c->field;
	const struct sql_token *v = &c->value;
	const bool text = v->word == WORD_TEXT;

	if (check_where_field(q, &c->field) < 0)
		return q->rc;
	if (f->type == SQL_TYPE_ARRAY || f->type == SQL_TYPE_STACK ||
	    f->pseudo == PSEUDO_TIMESTAMP || f->pseudo == PSEUDO_TIMESTAMP_USECS)
		return sql_error(q, f->pos, f->len, "'%.80s' cannot be part of a condition",
				 f->name);
	if (text && f->type == SQL_TYPE_NUMBER)
		return sql_error(q, v->pos, v->len, "'%.80s' is a number, and this a text",
				 f->name);
	if (!text && f->type == SQL_TYPE_TEXT)
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

static int check_cond(struct sql_statement *q, struct sql_cond *c)
{
	if (c->kind == COND_COMPARE)
		return check_compare(q, c);
	if (check_cond(q, c->left) < 0)
		return q->rc;
	return c->right ? check_cond(q, c->right) : 0;
}

/* The first comparison with a field of an event, or NULL. */
static const struct sql_cond *compare_of(const struct sql_cond *c, enum sql_side side)
{
	const struct sql_cond *found;

	if (c->kind == COND_COMPARE)
		return c->field.side == side ? c : NULL;
	found = compare_of(c->left, side);
	return found || !c->right ? found : compare_of(c->right, side);
}

/* Splits conditions joined by AND: each must be about one event. */
static int split_cond(struct sql_statement *q, struct sql_cond *c)
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

/*
 * Afterwards the condition is split into one per event: conditions that must all be true can be
 * checked by either event, any other one must be about one event.
 */
static int sql_check_where(struct sql_statement *q)
{
	return check_cond(q, q->where) < 0 ? q->rc : split_cond(q, q->where);
}

int sql_check(struct sql_statement *q, const struct sql_schema *schema)
{
	if (check_events(q, schema) < 0 || check_columns(q) < 0)
		return q->rc;
	for (struct sql_match *m = q->matches; m; m = m->next)
		if (check_match(q, m) < 0)
			return q->rc;
	return q->where ? sql_check_where(q) : 0;
}
